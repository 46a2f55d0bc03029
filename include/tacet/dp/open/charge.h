/* SPDX-License-Identifier: Apache-2.0 */
/* charge.h - what one release costs, and how a ledger adds costs up: the words that gate, reader and receipts share.
 *
 * Plain data, no functions that spend: only the gate can write a charge into a ledger (tacet/dp/ledger.h); anyone may
 * read one there. A bound that is not claimed is infinite (delta: 1), which is always true. */
#ifndef TACET_DP_OPEN_CHARGE_H
#define TACET_DP_OPEN_CHARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TACET_HASH_BYTES = 32,           /* BLAKE2b-256, everywhere in a ledger */
    TACET_TICKET_MOST = 200,         /* bytes of a ticket, without the terminating zero */
    TACET_CHARGE_TEXT_MOST = 4096,   /* bytes of any one text of a charge, except: */
    TACET_CHARGE_PARAMS_MOST = 65536 /* bytes of its parameters */
};

/* How a ledger composes. Stored: the numbers are stable. */
typedef enum tacet_accounting {
    TACET_ACCOUNTING_BASIC = 1,   /* eps and delta add */
    TACET_ACCOUNTING_ZCDP = 2,    /* rho adds */
    TACET_ACCOUNTING_GAUSSIAN = 3 /* mu^2 adds */
} tacet_accounting;

/* What was proven of the mechanism of a charge. Stored: the numbers are stable. */
typedef enum tacet_claim {
    TACET_CLAIM_UNCOVERED = 0, /* nothing: disclosed without protection, shown as such, never summed */
    TACET_CLAIM_PURE = 1,      /* eps-DP: eps > 0, delta = 0 */
    TACET_CLAIM_APPROX = 2,    /* (eps, delta)-DP: eps > 0, 0 < delta < 1 */
    TACET_CLAIM_ZCDP = 3,      /* rho-zCDP: rho > 0 */
    TACET_CLAIM_GAUSSIAN = 4   /* mu-Gaussian DP: mu > 0 */
} tacet_claim;

/* One charge. All texts are UTF-8 without control characters, borrowed for the call; NULL means empty. Everything here
 * is read by whoever may read the ledger, so nothing here may depend on private data: no values, no hashes of them.
 * Everything here is also the *question*: asking again under the same ticket must give the same charge byte for byte,
 * so parameters hold no clock times and no counters of attempts. */
typedef struct tacet_charge {
    const char *what;       /* what is released: "release of 2000 rows"; required */
    const char *to_whom;    /* who receives it; required */
    const char *mechanism;  /* "gaussian", "duchi", … or "none" when uncovered; required */
    const char *parameters; /* JSON text: scale, grid, sensitivity …; "" or NULL: {} */
    tacet_claim claim;
    double eps;   /* infinity: not claimed */
    double delta; /* 1: not claimed */
    double rho;   /* infinity: not claimed */
    double mu;    /* infinity: not claimed */
    /* Parallel composition. Entries of one group whose parts differ concern disjoint records; the group costs what its
     * dearest part costs. Which part a record is in must be public (its row number, its round), never its content:
     * otherwise a record that changes moves from one part to another and is charged in neither alone. NULL: no group,
     * the entry concerns all records. */
    const char *group;
    const char *part;             /* required with a group, and only then */
    const char *covered_fields;   /* what the noise protects, as a list with commas: "age,weight" */
    const char *uncovered_fields; /* what leaves in the clear beside it: "row number" */
    const char *covered_records;  /* whom it protects, in words: "each of 2000 rows, a move by up to 1.5 kg" */
    bool seeded; /* drawn from a seeded source: NOT PRIVATE, for tests and simulations; shown as such */
} tacet_charge;

/* Uncovered, mechanism "none", nothing claimed. */
TACET_API void tacet_charge_init(tacet_charge *charge);
/* Fills claim and all numbers that follow from it: rho = eps^2/2 and mu = 2 Phi^-1(e^eps/(1+e^eps)), rounded up. */
TACET_API void tacet_charge_pure(tacet_charge *charge, double eps);
/* Fills claim, mu, rho = mu^2/2; eps and delta are as given by the caller's calibration (infinity and 1: unknown). */
TACET_API void tacet_charge_gaussian(tacet_charge *charge, double mu, double eps, double delta);
/* Fills claim, rho; eps and delta as above. */
TACET_API void tacet_charge_zcdp(tacet_charge *charge, double rho, double eps, double delta);
TACET_API void tacet_charge_approx(tacet_charge *charge, double eps, double delta);
/* INVALID names the field: a missing text, a control character or bad UTF-8, a text too long, a number that is NaN,
 * negative, or does not fit the claim, a group without a part. */
TACET_API tacet_status tacet_charge_check(const tacet_charge *charge, tacet_error *err);

TACET_API const char *tacet_accounting_name(tacet_accounting accounting); /* "basic", "zcdp", "gaussian"; "?" */
TACET_API const char *tacet_claim_name(tacet_claim claim); /* "uncovered", "pure", "approx", "zcdp", "gaussian"; "?" */

#ifdef __cplusplus
}
#endif
#endif
