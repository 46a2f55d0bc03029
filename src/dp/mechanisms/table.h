/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - what a mechanism owes the gate. One constant of this type for each, in a file of its own; table.c lists
 * them, and everything else goes through the list: there is no kind that gets another one's noise or price.
 * Ring: gate. docs/extending.md. */
#pragma once

#include "dp/mechanisms/mechanism_internal.h"

#include <tacet/dp/open/law.h>

typedef struct tacet__kind {
    tacet_mechanism_kind kind;
    const tacet_law *law;
    const char *proof; /* the file with its proof, below src/ */
    bool by_l1;        /* its sensitivity is in the L1 norm; otherwise L2 */
    /* The scale of the noise for `count` numbers of this sensitivity, rounded to the private side. NULL: chooses. */
    tacet_status (*scale)(double *out, double eps, double delta, double sensitivity, size_t count, tacet_error *err);
    /* Noise for `rows` vectors of the bound's length, one after the other: the same numbers as by so many calls. NULL:
     * chooses. */
    tacet_status (*noise)(const tacet_mechanism *m, tacet_noise *noise, double *out, size_t rows, tacet_error *err);
    /* The number of a candidate by its score in steps of the grid; scratch has the bound's count. NULL: adds noise. */
    tacet_status (*choose)(const tacet_mechanism *m, tacet_noise *noise, size_t *out, size_t *scratch,
                           const int64_t *scores, tacet_error *err);
    /* Fills claim and numbers of a charge that is as tacet_charge_init left it. */
    void (*charge)(const tacet_mechanism *m, tacet_charge *charge);
} tacet__kind;

#define TACET__KIND_DECLARED(kind, name) extern const tacet__kind tacet__kind_##name;
TACET_MECHANISMS(TACET__KIND_DECLARED)

/* NULL: no such mechanism. */
const tacet__kind *tacet__kind_of(tacet_mechanism_kind kind);
/* The i-th of them, from 0; NULL past the last. */
const tacet__kind *tacet__kind_at(size_t i);
