/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.h - what a release says of itself: mechanism, guarantee, noise, scaling, and what is protected, in words.
 *
 * Public on both sides: the curator writes it, the modeler reads it. docs/PROTOCOL.md lists the fields. */
#ifndef TACET_OUTSOURCED_SHARED_MANIFEST_H
#define TACET_OUTSOURCED_SHARED_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/local/shared/ldp.h>
#include <tacet/core/status.h>
#include <tacet/dp/open/law.h>
#include <tacet/space/space.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TACET_MANIFEST_OTHERS = 4,
    TACET_MANIFEST_DISTANCES = 4,
    TACET_MANIFEST_NAME = 64,
    TACET_MANIFEST_COLUMNS = 256,
    TACET_MANIFEST_HASH = 65,
    TACET_MANIFEST_REASON = 256
};

typedef struct tacet_manifest_column {
    char name[TACET_MANIFEST_NAME];
    double lo, hi; /* public bounds; values outside are clipped */
    double unit;   /* this much counts as distance 1 */
} tacet_manifest_column;

/* A mechanism that was considered and not taken. */
typedef struct tacet_manifest_other {
    char mechanism[TACET_MANIFEST_NAME];
    double sigma;
} tacet_manifest_other;

typedef struct tacet_manifest {
    char mechanism[TACET_MANIFEST_NAME]; /* "gaussian", "laplace", "l2", "published" */
    bool is_private;                     /* false: stamped NOT DIFFERENTIALLY PRIVATE */
    double eps, delta;
    double eps_at[TACET_MANIFEST_DISTANCES]; /* eps of records at distance 1, 2, 3, and of any two; NaN: not said */
    double sigma; /* standard deviation of the noise on each released coordinate; 0 for published */
    double
        scale;   /* laplace: its density is proportional to exp(-|v|_2 / scale), sigma = scale sqrt(dims + 1); else 0 */
    double grid; /* noise is drawn exactly, on whole multiples of it; 0 for published */
    tacet_manifest_other others[TACET_MANIFEST_OTHERS]; /* where the one with the least noise was asked for */
    size_t other_count;
    size_t rows;
    size_t dims;                    /* released coordinates */
    tacet_manifest_column *columns; /* the numeric ones of the space, on the scale of their distances; owned */
    size_t column_count;
    tacet_space space;                      /* the columns of the table; owned */
    bool outputs_private;                   /* measured values pass a randomiser */
    tacet_ldp outputs;                      /* then: which, with its eps and range */
    size_t queries;                         /* how many the curator answers */
    uint64_t entry;                         /* of the ledger */
    char entry_hash[TACET_MANIFEST_HASH];   /* hex */
    char new_budget[TACET_MANIFEST_REASON]; /* why rows that were released before got another budget; empty: they did
                                               not */
    /* Where the claim is about persons: */
    char person[TACET_MANIFEST_NAME]; /* the column that says whose row it is; empty: it has no name */
    size_t person_rows;               /* at most so many rows of each are here; 0: rows count by themselves */
    double person_eps, person_delta;  /* of all of them together */
} tacet_manifest;

/* Everything zero; nothing owned. */
TACET_API void tacet_manifest_init(tacet_manifest *manifest);
TACET_API void tacet_manifest_clear(tacet_manifest *manifest); /* NULL is allowed */
/* PARSE names the field that is missing, of the wrong type or impossible. *out is cleared on failure. */
TACET_API tacet_status tacet_manifest_decode(tacet_manifest *out, const char *text, size_t length, tacet_error *err);

/* The eps that holds with delta = 0, rounded up: m->eps for a pure law, what the scale of a Euclidean one has; INFINITY
 * where there is none. */
TACET_API double tacet_manifest_pure_eps(const tacet_manifest *m);

/* The guarantee in one sentence with both of its numbers: eps of a move by one unit, and of any change. Whoever tells
 * the eps of a release tells it in these words. From malloc, NULL when out of memory. */
TACET_API char *tacet_manifest_claim(const tacet_manifest *manifest);
/* The same, and what lies between the two; what is not protected. From malloc, NULL when out of memory. */
TACET_API char *tacet_manifest_protects(const tacet_manifest *manifest);
/* How large the noise is, in the columns' own units: "age 7, income a factor of 1.9; sex is kept with probability
 * 0.88".
 */
TACET_API char *tacet_manifest_noise(const tacet_manifest *manifest);
TACET_API char *tacet_manifest_uncovered(const tacet_manifest *manifest);
/* Tells what these settings make of the noise, a sentence at a time, before it is spent: an eps or delta that hides
 * little, noise as wide as a column. Nothing of a release that is not private. */
TACET_API void tacet_manifest_warn(const tacet_manifest *manifest, void (*hear)(const char *words, void *user),
                                   void *user);
#define TACET_MANIFEST_STAMP "NOT DIFFERENTIALLY PRIVATE"

#ifdef __cplusplus
}
#endif
#endif
