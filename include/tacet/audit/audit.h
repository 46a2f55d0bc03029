/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - attacks a mechanism and says, with confidence, how much it leaks at least.
 *
 * A target runs a mechanism on one of two worst-case neighbouring inputs and boils the output down to one number,
 * larger where the output speaks for world 1. The auditor tosses a fair coin for the world of each run, chooses an
 * event on one part of the runs ("guess 1 when the number is at least hi, guess 0 when it is at most lo, else
 * abstain"), measures it on the rest, and turns the two frequencies into a lower bound on epsilon by Clopper–Pearson
 * intervals. The bound holds for any target and any event; the event's quality decides only how close it comes.
 * src/audit/README.md has the proof. */
#ifndef TACET_AUDIT_AUDIT_H
#define TACET_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/dp/noise.h>
#include <tacet/outsourced/shared/manifest.h>
#include <tacet/outsourced/trusted/curate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_audit_claim {
    double eps;   /* > 0, finite */
    double delta; /* 0 <= delta < 1 */
} tacet_audit_claim;

/* One mechanism under attack. A state is used by one thread; every thread has its own. */
typedef struct tacet_audit_target tacet_audit_target;
struct tacet_audit_target {
    const char *name;    /* as typed: "gaussian", "control:half-noise" */
    const char *summary; /* what is run, and what differs between the two worlds */
    bool control;        /* a mechanism known to be broken: the audit must find it out */
    bool pure;           /* the mechanism has delta = 0, whatever was claimed */
    int which;           /* tells targets apart that have the same functions */
    size_t size;         /* of a state, which begins as zeros */
    /* Fills a state; NULL: zeros will do. */
    tacet_status (*create)(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                           tacet_error *err);
    /* One draw in a world, boiled down to a number. */
    tacet_status (*run)(void *state, const tacet_audit_target *self, tacet_noise *noise, int world, double *statistic,
                        tacet_error *err);
    void (*clear)(void *state); /* of what create made, also where it failed half-way; NULL: it holds nothing */
};

typedef struct tacet_audit_settings {
    size_t runs;       /* measured per world and direction of the guess; half as many more choose the event; >= 1000 */
    size_t threads;    /* 0: as many as there are processors */
    double confidence; /* of the lower bound, in (0, 1) */
    bool seeded;       /* noise from the seed instead of the operating system: reproducible, for tests */
    uint64_t seed;
    void (*progress)(double fraction, void *user); /* may be NULL; called from the calling thread */
    void *user;
    const volatile bool *stop; /* may be NULL; once another thread sets it tacet_audit_run ends with STATE */
} tacet_audit_settings;

typedef struct tacet_audit_result {
    double claimed_eps, claimed_delta;
    double eps_lower; /* 0 when nothing was found */
    double confidence;
    double guess_hi;       /* guess world 1 at or above; infinity: never */
    double guess_lo;       /* guess world 0 at or below; -infinity: never */
    size_t measured;       /* runs the event was measured on */
    size_t correct, wrong; /* guesses among them */
    bool violated;         /* eps_lower > claimed_eps */
} tacet_audit_result;

/* 1e6 runs, all processors, confidence 0.98 (0.99 for each of the two frequencies), operating-system noise. */
TACET_API void tacet_audit_defaults(tacet_audit_settings *settings);
/* INVALID: settings or claim out of range. Otherwise what the target's functions fail with. */
TACET_API tacet_status tacet_audit_run(tacet_audit_result *out, const tacet_audit_target *target,
                                       const tacet_audit_claim *claim, const tacet_audit_settings *settings,
                                       tacet_error *err);
/* NULL when there is no such target. tacet_audit_target_at gives them all, NULL past the last. */
TACET_API const tacet_audit_target *tacet_audit_find(const char *name);
TACET_API const tacet_audit_target *tacet_audit_target_at(size_t index);

/* all audits at once, as a folder to hand over: audit.html, one page for people, and audit.json. */

/* Runs every target with these settings (progress has the target's name for its user pointer). *unexpected counts the
 * verdicts that are not as they should be: a claim violated, or a control missed. `date` is printed as it is. Errors of
 * tacet_audit_run; DENIED, IO of the folder. */
TACET_API tacet_status tacet_audit_bundle(size_t *unexpected, const char *folder, const tacet_audit_claim *claim,
                                          const tacet_audit_settings *settings, const char *date, tacet_error *err);

/* the attack on a release of records: whoever knows a few of them tries to read all the others.
 *
 * The attacker has the release (row by row) and the true records of a few rows, and fits the affine map from released
 * to true coordinates by least squares. Against a linear mechanism d + 1 known rows give every record to rounding
 * error; against independent noise in every row the error stays of the size of the noise. */

typedef struct tacet_rebuild {
    double rms;       /* root mean square distance between guess and truth, over the rows that were not known */
    double largest;   /* the largest such distance */
    double blind;     /* the same root mean square for an attacker who answers the mean of the known rows */
    double recovered; /* fraction of unknown rows found to within 1e-6 of the data's spread */
    bool succeeded;   /* every unknown row was */
} tacet_rebuild;

/* Guesses (d x n, may be NULL) from the release Z (r x n) and the records of the rows in `known` (k distinct row
 * numbers; their coordinates are read from X, d x n). X's other columns are used only to measure. INVALID: k = 0 or k
 * >= n, a row number out of range. NO_MEMORY, NUMERIC. */
TACET_API tacet_status tacet_rebuild_records(tacet_rebuild *out, double *guesses, const double *Z, size_t ldz, size_t r,
                                             const double *X, size_t ldx, size_t d, size_t n, const size_t *known,
                                             size_t k, tacet_error *err);
/* The same on a release in a folder, of the CSV file `data`, by an attacker who knows `known` records, which the seed
 * chooses. *manifest is the caller's to clear. INVALID: known, the path. NOT_FOUND, PARSE, IO: a file. UNSUPPORTED: too
 * many coordinates. NO_MEMORY, NUMERIC. */
TACET_API tacet_status tacet_rebuild_release(tacet_rebuild *out, tacet_manifest *manifest, const char *folder,
                                             const char *data, size_t known, uint64_t seed, tacet_error *err);

/* audits what ships: neighbours through each way out as it is, and tests of the law of the noise.
 *
 * The other audits (audit.h) attack a sampler or a mechanism. Here files are written and answers taken by the code that
 * the programs run, with its threads, blocks, ledger, registry and files:
 *     curate   tables through tacet_curate_run, read back as text; every row is in one of two worlds one unit apart
 *     desk     measured values through the curator's desk, a ticket a row, private outputs
 *     device   rewards through a device with its ledger, a ticket a report
 *     learn-table   logs of levels through tacet learn as it is by default; what the ledger stores as the answer
 *     study    rounds of a central study (policy fixed) through the engine and its store; likewise
 * Worlds are chosen by fair coins. Answers to one question are tested, besides, for what no bound on eps sees: too
 * little variance, noise that repeats, rows or columns that are not independent. src/audit/README.md has the tests and
 * their power. */

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
