/* SPDX-License-Identifier: Apache-2.0 */
/* epochs_state.c - what the policy with epochs remembers.
 * Ring: trusted. Private numbers: the rounds of the current epoch. What was released is kept as numbers, so a study
 * goes on wherever it is taken. Source: none. Cost: O(rounds of the epoch + M^2). */
#include "contextual/trusted/epochs_internal.h"

#include <math.h>
#include <string.h>

/* Where the epoch must have begun at the latest: one before it was shorter if it was the last for a time. */
static size_t begin_of(const tacet__epochs *u, size_t epoch) {
    size_t begin = 0;
    for (size_t e = 0; e < epoch && begin <= u->settings.rounds; e++) {
        begin += tacet__epochs_size(u, e);
    }
    return begin;
}

/* Room for the rounds of the epoch, without those that were there. */
static void make_room(tacet__epochs *u, tacet__state *s) {
    const size_t most = tacet__epochs_size(u, u->epoch) + u->settings.late;
    tacet__state_require(s, "begin", u->begin <= begin_of(u, u->epoch) && u->suggested - u->begin <= most);
    if (tacet__state_taking(s)) {
        tacet__epochs_forget(u);
        memset(u->reported + u->suggested, 0, u->settings.rounds - u->suggested);
        tacet__state_check(s, "begin", tacet__epochs_reserve(u, most, s->err));
    }
}

static void visit_rounds(tacet__epochs *u, tacet__state *s) {
    const size_t rounds = u->suggested - u->begin;
    tacet__state_f64s(s, "contexts", u->context, rounds * u->contexts);
    tacet__state_u32s(s, "actions", u->action, rounds, (uint32_t)(u->n - 1));
    tacet__state_any_f64s(s, "rewards", u->rewards, rounds);
    for (size_t k = 0; k < rounds && tacet__state_taking(s); k++) {
        /* A report that came while its release was due has no reward here. */
        tacet__state_require(s, "rewards",
                             !isinf(u->rewards[k]) && (u->reported[u->begin + k] || isnan(u->rewards[k])));
    }
}

void tacet__epochs_state(void *self, tacet__state *s) {
    tacet__epochs *u = self;
    tacet__belief *b = &u->robust.belief;
    tacet__state_same(s, "problem", u->problem, sizeof u->problem);
    tacet__state_size(s, "suggested", &u->suggested, u->settings.rounds);
    tacet__state_bools(s, "reported", u->reported, u->suggested);
    tacet__state_size(s, "epoch", &u->epoch, 64);
    tacet__state_size(s, "begin", &u->begin, u->suggested);
    if (tacet__state_taking(s)) {
        make_room(u, s);
    }
    visit_rounds(u, s);
    tacet__state_f64(s, "sketch variance", &u->sketch_var, 0, INFINITY);
    tacet__state_f64(s, "sketch records", &u->sketch_n, 0, INFINITY);
    tacet__state_f64s(s, "sketch", u->V, tacet__contextual_law_size(&u->robust.law));
    tacet__state_f64s(s, "mean", b->theta, b->M);
    tacet__state_f64s(s, "covariance", b->P, b->M * b->M);
    tacet__state_f64(s, "tail", &b->tail, 0, 1e300);
    tacet__state_f64s(s, "draws", u->draws, b->M * TACET__EPOCHS_DRAWS);
    tacet__state_f64s(s, "even", u->robust.even, b->N);
    tacet__state_f64s(s, "before", u->before, u->settings.late > 0 ? b->N : 0);
    if (tacet__state_taking(s)) {
        tacet_status status = tacet__epochs_plan(u, s->err);
        status = status == TACET_OK && u->epoch > 0 ? tacet__epochs_refresh(u, s->err) : status;
        tacet__state_check(s, "begin", status);
    }
}
