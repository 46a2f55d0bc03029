/* SPDX-License-Identifier: Apache-2.0 */
/* targets_choice.c - private choice among candidates by their scores.
 * Ring: audit. Worst case for the exponential mechanism: one candidate's score moves up by the sensitivity while all
 * the others move down by it, and the probability of that one candidate is observed among many. */
#include "audit/targets.h"

#include "dp/noise/sampler.h"

enum { CANDIDATES = 40, SENSITIVITY = 1000 }; /* scores in units of a thousandth of the sensitivity */
enum { EXPONENTIAL, PERMUTE_AND_FLIP };       /* which */

typedef struct choice {
    double eps;
    int64_t scores[2][CANDIDATES];
    size_t scratch[CANDIDATES];
} choice;

static tacet_status create(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                           tacet_error *err) {
    choice *c = state;
    (void)self;
    (void)err;
    c->eps = claim->eps;
    for (size_t i = 0; i < CANDIDATES; i++) {
        c->scores[1][i] = i == 0 ? SENSITIVITY : -SENSITIVITY;
    }
    return TACET_OK;
}

static tacet_status run(void *state, const tacet_audit_target *self, tacet_noise *noise, int world, double *statistic,
                        tacet_error *err) {
    choice *c = state;
    size_t chosen = 0;
    const tacet_status status =
        self->which == EXPONENTIAL
            ? tacet__exponential_mechanism(noise, &chosen, c->scores[world], CANDIDATES, c->eps, SENSITIVITY, err)
            : tacet__permute_and_flip(noise, &chosen, c->scratch, c->scores[world], CANDIDATES, c->eps, SENSITIVITY,
                                      err);
    *statistic = chosen == 0;
    return status;
}

#define WORDS(mechanism) mechanism " over 40 candidates; one score rises, the others fall, by the sensitivity"
TARGET(exponential, .name = "exponential", .summary = WORDS("exponential mechanism"), .pure = true,
       .which = EXPONENTIAL, .size = sizeof(choice), .create = create, .run = run);
TARGET(permute_and_flip, .name = "permute-and-flip", .summary = WORDS("permute-and-flip"), .pure = true,
       .which = PERMUTE_AND_FLIP, .size = sizeof(choice), .create = create, .run = run);
