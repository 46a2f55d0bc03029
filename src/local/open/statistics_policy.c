/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_policy.c - the collector's half of a local study of decision sets, as a policy.
 * Ring: open. A suggestion names a round and nothing else: which arm is played is the device's secret. Saved: the
 * model, and which rounds wait for their report, a bit each. Cost: that of the model. */
#include "local/open/statistics.h"
#include "local/open/statistics_internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MOST = 1 << 22 };
static const char NAME[] = "statistics";

typedef struct statistics {
    tacet_statistics_model *model; /* owned */
    uint64_t horizon, rounds;      /* at the most; given out */
    unsigned char *waiting;        /* a bit a round */
    size_t bytes;
    uint64_t own_ticket, own_round; /* the last round that a device named by itself, until it is reported */
} statistics;

static void free_policy(void *self) {
    statistics *s = self;
    if (s != NULL) {
        tacet_statistics_model_free(s->model);
        free(s->waiting);
        free(s);
    }
}

static unsigned char bit_of(uint64_t round) {
    return (unsigned char)(1U << round % CHAR_BIT);
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    statistics *s = self;
    if (round->points != NULL || round->context != NULL) {
        return tacet__fail(err, TACET_INVALID, "decision sets of this study stay on their devices");
    }
    if (s->rounds == s->horizon) {
        return tacet__fail(err, TACET_STATE, "the study has given out its %llu rounds", (unsigned long long)s->horizon);
    }
    s->rounds++;
    s->waiting[s->rounds / CHAR_BIT] |= bit_of(s->rounds);
    *out = (tacet_suggestion){.index = (size_t)s->rounds, .ticket = s->rounds};
    return TACET_OK;
}

/* A device without a ticket names the directions of its round by itself: a number no ticket has. Its report follows at
 * once, so that one such round is remembered, and no state is saved between the two. */
static tacet_status repeat(void *self, const tacet_suggestion *made, const tacet_round *round, tacet_error *err) {
    statistics *s = self;
    tacet_suggestion again = {0};
    (void)round;
    const tacet_round none = {0};
    const tacet_status status = suggest(self, &again, &none, err);
    if (status != TACET_OK) {
        return status;
    }
    if (again.ticket != made->ticket || (made->index != again.index && made->index < TACET_STATISTICS_OWN_ROUNDS)) {
        return tacet__fail(err, TACET_CORRUPT, "the stored suggestion is none that this policy makes");
    }
    s->own_ticket = made->index != again.index ? made->ticket : 0;
    s->own_round = made->index;
    return TACET_OK;
}

static tacet_status find(const statistics *s, uint64_t ticket, tacet_error *err) {
    if (ticket == 0 || ticket > s->rounds) {
        return tacet__fail(err, TACET_NOT_FOUND, "no such ticket");
    }
    return (s->waiting[ticket / CHAR_BIT] & bit_of(ticket)) != 0
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT, "the ticket was reported before");
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    statistics *s = self;
    tacet_status status = find(s, ticket, err);
    const double report = s->model->spec.minimize ? -value : value;
    const uint64_t round = ticket == s->own_ticket ? s->own_round : ticket;
    TACET_THEN(status, tacet_statistics_model_take(s->model, round, report + 0.0, err));
    if (status == TACET_OK) {
        s->waiting[ticket / CHAR_BIT] &= (unsigned char)~bit_of(ticket);
    }
    return status;
}

/* Nothing was learnt in that round. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    statistics *s = self;
    const tacet_status status = find(s, ticket, err);
    if (status == TACET_OK) {
        s->waiting[ticket / CHAR_BIT] &= (unsigned char)~bit_of(ticket);
    }
    return status;
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    statistics *s = self;
    double x[TACET_STATISTICS_DIMS_MOST];
    *out = (tacet_recommendation){.index = SIZE_MAX, .measured = SIZE_MAX};
    return tacet_statistics_model_best(s->model, x, &out->mean, &out->sd, err);
}

static void guarantee(const void *self, tacet_guarantee *out) {
    *out = (tacet_guarantee){.trust = TACET_TRUST_LOCAL,
                             .proven = true,
                             .eps = ((const statistics *)self)->model->spec.eps,
                             .delta = 0,
                             .protects = "decision set, action and reward of one round",
                             .statement = "Each report is drawn on its device with pure eps; decision set, action and "
                                          "reward never leave it. " TACET_LOCAL_NEW_DEVICE,
                             .proof = "src/dp/mechanisms/sphere.md"};
}

/* How many rounds wait; SIZE_MAX: one that was never given out does. */
static uint64_t waiting_in(const unsigned char *bits, size_t bytes, uint64_t rounds) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < bytes * CHAR_BIT; i++) {
        const bool waits = (bits[i / CHAR_BIT] & bit_of(i)) != 0;
        if (waits && (i == 0 || i > rounds)) {
            return UINT64_MAX;
        }
        count += waits;
    }
    return count;
}

/* The model that a state has takes the place of this one's, if it is of the same study: its features may have been made
 * on another machine. */
static void take_model(statistics *s, const tacet_blob *bytes, tacet__state *state) {
    const uint64_t waits = waiting_in(s->waiting, s->bytes, s->rounds);
    tacet_statistics_model *model = NULL;
    tacet__state_require(state, "waiting", waits <= s->rounds);
    tacet__state_check(state, "model", tacet_statistics_model_open(&model, bytes->data, bytes->size, state->err));
    if (tacet__state_taking(state)) {
        tacet__state_require(state, "model",
                             tacet_central_map_print(model->map) == tacet_central_map_print(s->model->map) &&
                                 model->spec.eps == s->model->spec.eps &&
                                 model->spec.minimize == s->model->spec.minimize &&
                                 tacet_statistics_model_count(model) <= s->rounds - waits);
    }
    if (tacet__state_taking(state)) {
        const tacet_statistics_model old = *s->model;
        *s->model = *model;
        *model = old;
        s->model->spec.kernel = s->model->kernel_name; /* the one that lies within */
    }
    tacet_statistics_model_free(model);
}

static void state(void *self, tacet__state *state) {
    statistics *s = self;
    tacet_blob model;
    tacet_blob_init(&model);
    tacet__state_same(state, "horizon", &s->horizon, sizeof s->horizon);
    tacet__state_u64(state, "rounds", &s->rounds, s->horizon);
    tacet__state_bytes(state, "waiting", s->waiting, s->bytes);
    if (state->to != NULL) {
        tacet__state_check(state, "model", tacet_statistics_model_save(s->model, &model, state->err));
    }
    tacet__state_blob(state, "model", &model, SIZE_MAX);
    if (tacet__state_taking(state)) {
        take_model(s, &model, state);
    }
    tacet_blob_clear(&model);
}

static const tacet__policy_ops OPS = {.name = NAME,
                                      .suggest = suggest,
                                      .observe = observe,
                                      .recommend = recommend,
                                      .guarantee = guarantee,
                                      .state = state,
                                      .free = free_policy,
                                      .drop = drop,
                                      .repeat = repeat};

tacet_status tacet_statistics_policy_create(tacet_policy **out, tacet_statistics_model *model, uint64_t rounds,
                                            tacet_error *err) {
    *out = NULL;
    statistics *s = TACET__ZALLOC(statistics, 1);
    if (s == NULL || rounds == 0 || rounds > ROUNDS_MOST) {
        tacet_statistics_model_free(model);
        free(s);
        return s == NULL
                   ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a policy")
                   : tacet__fail(err, TACET_INVALID, "a study of decision sets on devices takes 1 to 2^22 rounds");
    }
    s->model = model;
    s->horizon = rounds;
    s->bytes = (size_t)rounds / CHAR_BIT + 1;
    s->waiting = TACET__ZALLOC(unsigned char, s->bytes);
    if (s->waiting == NULL) {
        free_policy(s);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for %llu rounds", (unsigned long long)rounds);
    }
    return tacet__policy_wrap(out, &OPS, s, err);
}
