/* SPDX-License-Identifier: Apache-2.0 */
/* study_state.c - what a running A/B test remembers.
 * Ring: trusted. Private numbers: the sums of the current epoch. What was released is kept as numbers, and the test is
 * made again from them. Source: none. Cost: O(rounds). */
#include "ab/trusted/study_internal.h"

#include <math.h>

/* Tickets of an epoch: as many as were given, and no reward above 1. */
static void visit_counts(tacet__state *s, const char *name, tacet__ab_counts *c, size_t arms, uint64_t tickets) {
    uint64_t sum = 0;
    tacet__state_u64s(s, name, c->steps, arms, UINT64_MAX);
    tacet__state_u64s(s, "tickets", c->tickets, arms, tickets);
    for (size_t i = 0; i < arms && tacet__state_taking(s); i++) {
        tacet__state_require(s, name, c->steps[i] <= c->tickets[i] * (uint64_t)TACET_TALLY_ONE);
        sum += c->tickets[i];
    }
    tacet__state_require(s, name, sum == tickets);
}

static void take_released(tacet__ab_study *u, tacet__state *s) {
    tacet_ab_test *test = NULL;
    tacet_status status = tacet__ab_study_test(&test, u, u->released, u->e.epoch, s->err);
    if (status == TACET_OK && tacet__ab_epochs_open(&u->e)) {
        status = tacet__ab_study_plan(u, s->err);
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
    size_t now = 0, next = 0;
    tacet__state_same(s, "problem", u->problem, sizeof u->problem);
    tacet__ab_epochs_state(&u->e, s, TACET__AB_STUDY_EPOCHS, 1, &now, &next);
    visit_counts(s, "now", &u->now, arms, now);
    visit_counts(s, "next", &u->next, arms, next);
    for (size_t e = 0; e < u->e.epoch; e++) {
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
