/* SPDX-License-Identifier: Apache-2.0 */
/* shipped.h - audits what ships: neighbours through each way out as it is, and tests of the law of the noise.
 *
 * The other audits (audit.h) attack a sampler or a mechanism. Here files are written and answers taken by the code that
 * the programs run, with its threads, blocks, ledger, registry and files:
 *     curate   tables through tacet_curate_run, read back as text; every row is in one of two worlds one unit apart
 *     desk     measured values through the curator's desk, a ticket a row, private outputs
 *     device   rewards through a device with its ledger, a ticket a report
 *     learn    logs through tacet_contextual_log_release, in stages; what the ledger stores as the answer
 *     learn-robust   the same by the default method, of a log of levels: the table
 *     study    rounds of a central study (policy fixed) through the engine and its store; likewise
 * Worlds are chosen by fair coins. Answers to one question are tested, besides, for what no bound on eps sees: too
 * little variance, noise that repeats, rows or columns that are not independent. src/audit/README.md has the tests and
 * their power. */
#ifndef TACET_AUDIT_SHIPPED_H
#define TACET_AUDIT_SHIPPED_H

#include <tacet/audit/audit.h>
#include <tacet/outsourced/trusted/curate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_audit_shipped_settings {
    const char *way;       /* "curate", …; tacet_audit_ways has them */
    const char *mechanism; /* by its name; NULL: the way's usual one */
    double eps, delta;     /* claimed, and asked for; delta is 0 where the mechanism has none */
    size_t columns;        /* curate: of the table that eps is bounded with; 1 to 64 */
    size_t rows;           /* answers, for the bound and for the law; >= 1000, 0: as many as the way can take soon */
    size_t threads;        /* curate: of a release; 0: as it chooses */
    bool interrupted;      /* every release is killed on its way and repeated; one answer a run for the bound, and the
                              worst case of a redraw: curate dies when the row is printed long, of the others the first
                              answer is seen, and the second taken where it is disliked */
    size_t runs;           /* interrupted: for the bound; >= 25, 0: as above */
    double confidence;     /* of the bound */
    const char *control;   /* NULL, or how what was released is spoilt before it is tested: see tacet_audit_spoils */
    void (*progress)(double fraction, void *user);
    void *user;
} tacet_audit_shipped_settings;

typedef struct tacet_audit_shipped_result {
    tacet_audit_result bound;
    double variance_ratio; /* measured over claimed; NaN: not measured */
    size_t repeats;        /* rows whose noise is that of another row, of any ticket */
    size_t redrawn;        /* interrupted, but for curate: answers that came out differently when asked for again */
    bool violated;
    char reason[160]; /* what failed; "nothing was found" */
} tacet_audit_shipped_result;

/* "curate", one column, confidence 0.98, eps 1, delta 1e-5; rows and runs 0: of curate 10^6 and 10^4, of reports 10^5
 * and 2000, of models and studies 2000 each. */
TACET_API void tacet_audit_shipped_defaults(tacet_audit_shipped_settings *settings);
/* Works in a temporary folder, with a registry of its own there (TACET_STATE is set to it). INVALID: settings.
 * Otherwise as the way's own functions, and IO. */
TACET_API tacet_status tacet_audit_shipped(tacet_audit_shipped_result *out,
                                           const tacet_audit_shipped_settings *settings, tacet_error *err);
/* The names of the ways, and of the controls: "same-key-blocks", "same-key-threads", "short-variance-5", "row-repeats",
 * "redraws" (interrupted: the reservation is forgotten, and what is repeated draws anew); NULL past the last. */
TACET_API const char *tacet_audit_ways(size_t index, const char **summary);
TACET_API const char *tacet_audit_spoils(size_t index, const char **summary);

#ifdef __cplusplus
}
#endif
#endif
