/* SPDX-License-Identifier: Apache-2.0 */
/* targets_choice.c - private choice among candidates by their scores.
 * Ring: audit. Worst case for the exponential mechanism: one candidate's score moves up by the sensitivity while all
 * the others move down by it, and the probability of that one candidate is observed among many. */
#include "audit/targets.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/noise/sampler.h"

#include <stdlib.h>

enum { CANDIDATES = 40, SENSITIVITY = 1000 }; /* scores in units of a thousandth of the sensitivity */

typedef struct choice {
    double eps;
    int64_t scores[2][CANDIDATES];
    size_t scratch[CANDIDATES];
} choice;

static tacet_status create(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    choice *c = TACET__ZALLOC(choice, 1);
    *state = c;
    if (c == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    c->eps = claim->eps;
    for (size_t i = 0; i < CANDIDATES; i++) {
        c->scores[0][i] = 0;
        c->scores[1][i] = i == 0 ? SENSITIVITY : -SENSITIVITY;
    }
    return TACET_OK;
}

static tacet_status run_exponential(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    choice *c = state;
    size_t chosen = 0;
    const tacet_status status =
        tacet__exponential_mechanism(noise, &chosen, c->scores[world], CANDIDATES, c->eps, SENSITIVITY, err);
    *statistic = chosen == 0;
    return status;
}

static tacet_status run_permute(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    choice *c = state;
    size_t chosen = 0;
    const tacet_status status =
        tacet__permute_and_flip(noise, &chosen, c->scratch, c->scores[world], CANDIDATES, c->eps, SENSITIVITY, err);
    *statistic = chosen == 0;
    return status;
}

const tacet_audit_target tacet__audit_exponential = {
    .name = "exponential",
    .summary = "exponential mechanism over 40 candidates; one score rises, the others fall, by the sensitivity",
    .pure = true,
    .create = create,
    .run = run_exponential,
    .free = free,
};
const tacet_audit_target tacet__audit_permute_and_flip = {
    .name = "permute-and-flip",
    .summary = "permute-and-flip over 40 candidates; one score rises, the others fall, by the sensitivity",
    .pure = true,
    .create = create,
    .run = run_permute,
    .free = free,
};
