/* SPDX-License-Identifier: Apache-2.0 */
/* study_state.c - what a running A/B test remembers.
 * Ring: trusted. Private numbers: the sums of the current epoch. What was released is kept as numbers, and the test is
 * made again from them. Source: none. Cost: O(rounds). */
#include "ab/trusted/study_internal.h"

#include <math.h>
#include <string.h>

/* Tickets of an epoch: as many as were given, and no reward above 1. */
static void visit_counts(tacet__state *s, const char *name, tacet__ab_counts *c, size_t arms, uint64_t tickets) {
    uint64_t sum = 0;
    tacet__state_u64s(s, name, c->steps, arms, UINT64_MAX);
    tacet__state_u64s(s, "tickets", c->tickets, arms, tickets);
    for (size_t i = 0; i < arms && tacet__state_taking(s); i++) {
        tacet__state_require(s, name, c->steps[i] <= c->tickets[i] * TACET__AB_STUDY_ONE);
        sum += c->tickets[i];
    }
    tacet__state_require(s, name, sum == tickets);
}

static void take_released(tacet__ab_study *u, tacet__state *s) {
    tacet_ab_test *test = NULL;
    memset(u->reported + u->suggested, 0, u->settings.rounds - u->suggested);
    tacet_status status = tacet__ab_study_test(&test, u, u->released, u->epoch, s->err);
    if (status == TACET_OK && u->suggested <= u->begin + u->size) {
        status =
            tacet__ab_study_plan(u, s->err); /* the horizon may have grown; an epoch that has ended stays as it is */
    }
    tacet__state_check(s, "released", status);
    if (status == TACET_OK) {
        tacet_ab_test *before = u->test;
        u->test = test;
        test = before;
    }
    tacet_ab_test_free(test);
}

void tacet__ab_study_state(void *self, tacet__state *s) {
    tacet__ab_study *u = self;
    const size_t arms = u->settings.arms;
    tacet__state_same(s, "problem", u->problem, sizeof u->problem);
    tacet__state_size(s, "suggested", &u->suggested, u->settings.rounds);
    tacet__state_bools(s, "reported", u->reported, u->suggested);
    tacet__state_size(s, "epoch", &u->epoch, TACET__AB_STUDY_EPOCHS);
    tacet__state_size(s, "begin", &u->begin, u->suggested);
    tacet__state_size(s, "size", &u->size, SIZE_MAX / 4);
    const size_t open = u->suggested - u->begin;
    tacet__state_require(s, "size", open <= u->size + u->settings.late);
    visit_counts(s, "now", &u->now, arms, open < u->size ? open : u->size);
    visit_counts(s, "next", &u->next, arms, open < u->size ? 0 : open - u->size);
    for (size_t e = 0; e < u->epoch; e++) {
        tacet__ab_released *at = &u->released[e];
        tacet__state_f64s(s, "released sums", at->sums, arms);
        tacet__state_f64s(s, "released tickets", at->tickets, arms);
        tacet__state_f64(s, "scale", &at->scale, -INFINITY, INFINITY);
        tacet__state_f64(s, "grid", &at->grid, -INFINITY, INFINITY);
    }
    if (tacet__state_taking(s)) {
        take_released(u, s);
    }
}
