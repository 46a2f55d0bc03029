/* shipped.h - audits what ships: neighbouring tables through the release itself, many rows a run, and tests of the law.
 *
 * The other audits (audit.h) attack a sampler or a mechanism. Here tables are written, released by tacet_curate_run with
 * its threads, blocks, ledger and files, and read back as text. Every row is in one of two worlds one unit apart, by a
 * fair coin, so a release of N rows is N runs of the same audit. A second release, of eight columns and under two
 * tickets, is tested for what no bound on eps sees: too little variance, noise that repeats, rows or columns that are
 * not independent. src/audit/README.md has the tests and their power. */
#ifndef TACET_AUDIT_SHIPPED_H
#define TACET_AUDIT_SHIPPED_H

#include <tacet/audit/audit.h>
#include <tacet/outsourced/trusted/curate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_audit_shipped_settings {
    tacet_curate_mechanism mechanism; /* GAUSSIAN or LAPLACE */
    double eps, delta;                /* claimed, and asked for; laplace: delta 0 */
    size_t columns;                   /* of the table that eps is bounded with; 1 to 64 */
    size_t rows;                      /* >= 1000 */
    size_t threads;                   /* of a release; 0: as it chooses */
    bool interrupted;  /* every release is killed on its way and repeated; a row a run for the bound, where the kill
                          comes when the row is printed long: the worst case of a redraw */
    size_t runs;       /* interrupted: of one row; >= 1000 */
    double confidence; /* of the bound */
    const char *control; /* NULL, or how what was released is spoilt before it is tested: see tacet_audit_spoils */
    void (*progress)(double fraction, void *user);
    void *user;
} tacet_audit_shipped_settings;

typedef struct tacet_audit_shipped_result {
    tacet_audit_result bound;
    double variance_ratio; /* measured over claimed */
    size_t repeats;        /* rows whose noise is that of another row, of either ticket */
    bool violated;
    char reason[160]; /* what failed; "nothing was found" */
} tacet_audit_shipped_result;

/* 10^6 rows, one column, 10^4 runs when interrupted, confidence 0.98, eps 1, delta 1e-5. */
TACET_API void tacet_audit_shipped_defaults(tacet_audit_shipped_settings *settings);
/* Works in a temporary folder, with a registry of its own there (TACET_STATE is set to it). INVALID: settings. Otherwise
 * as tacet_curate_run, and IO. */
TACET_API tacet_status tacet_audit_shipped(tacet_audit_shipped_result *out,
                                           const tacet_audit_shipped_settings *settings, tacet_error *err);
/* The names of the controls: "same-key-blocks", "same-key-threads", "short-variance-5", "row-repeats"; NULL past the
 * last. */
TACET_API const char *tacet_audit_spoils(size_t index, const char **summary);

#ifdef __cplusplus
}
#endif
#endif
