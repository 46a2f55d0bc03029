/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_policy.c - the collector's half of a local study of decision sets, as a policy.
 * Ring: open. A suggestion names a round and nothing else: which arm is played is the device's secret. Saved: the
 * model, and which rounds wait for their report. Cost: that of the model. */
#include "local/open/statistics.h"
#include "local/open/statistics_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"
#include "core/tickets.h"

#include <stdlib.h>

enum { ROUNDS_MOST = 1 << 22 };
static const char NAME[] = "statistics";

typedef struct statistics {
    tacet_statistics_model *model; /* owned */
    tacet__tickets tickets;
    uint64_t own_ticket, own_round; /* the last round that a device named by itself, until it is reported */
} statistics;

static void free_policy(void *self) {
    statistics *s = self;
    if (s != NULL) {
        tacet_statistics_model_free(s->model);
        tacet__tickets_clear(&s->tickets);
        free(s);
    }
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    statistics *s = self;
    if (round->points != NULL || round->context != NULL) {
        return tacet__fail(err, TACET_INVALID, "decision sets of this study stay on their devices");
    }
    const tacet_status status = tacet__tickets_left(&s->tickets, err);
    if (status == TACET_OK) {
        const uint64_t ticket = tacet__tickets_give(&s->tickets, 0);
        *out = (tacet_suggestion){.index = (size_t)ticket, .ticket = ticket};
    }
    return status;
}

/* A device without a ticket names the directions of its round by itself: a number no ticket has. Its report follows at
 * once, so that one such round is remembered, and no state is saved between the two. */
static tacet_status repeat(void *self, const tacet_suggestion *made, const tacet_round *round, tacet_error *err) {
    statistics *s = self;
    tacet_suggestion again = {0};
    (void)round;
    const tacet_round none = {0};
    TACET_OR_RETURN(suggest(self, &again, &none, err));
    if (again.ticket != made->ticket || (made->index != again.index && made->index < TACET_STATISTICS_OWN_ROUNDS)) {
        return tacet__fail(err, TACET_CORRUPT, "the stored suggestion is none that this policy makes");
    }
    s->own_ticket = made->index != again.index ? made->ticket : 0;
    s->own_round = made->index;
    return TACET_OK;
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    statistics *s = self;
    size_t about = 0;
    tacet_status status = tacet__tickets_find(&s->tickets, &about, ticket, err);
    const double report = s->model->spec.minimize ? -value : value;
    const uint64_t round = ticket == s->own_ticket ? s->own_round : ticket;
    TACET_THEN(status, tacet_statistics_model_take(s->model, round, report + 0.0, err));
    if (status == TACET_OK) {
        tacet__tickets_close(&s->tickets, ticket, true);
    }
    return status;
}

/* Nothing was learnt in that round. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    statistics *s = self;
    size_t about = 0;
    const tacet_status status = tacet__tickets_find(&s->tickets, &about, ticket, err);
    if (status == TACET_OK) {
        tacet__tickets_close(&s->tickets, ticket, false);
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

/* The model that a state has takes the place of this one's, if it is of the same study: its features may have been made
 * on another machine. */
static void take_model(statistics *s, const tacet_blob *bytes, tacet__state *state) {
    tacet_statistics_model *model = NULL;
    tacet__state_check(state, "model", tacet_statistics_model_open(&model, bytes->data, bytes->size, state->err));
    if (tacet__state_taking(state)) {
        tacet__state_require(state, "model",
                             tacet_central_map_print(model->map) == tacet_central_map_print(s->model->map) &&
                                 model->spec.eps == s->model->spec.eps &&
                                 model->spec.minimize == s->model->spec.minimize &&
                                 tacet_statistics_model_count(model) == s->tickets.reported);
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
    tacet__state_same(state, "horizon", &s->tickets.horizon, sizeof s->tickets.horizon);
    tacet__tickets_state(&s->tickets, state, 1, false);
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
    const tacet_status status = tacet__tickets_init(&s->tickets, (size_t)rounds, err);
    if (status != TACET_OK) {
        free_policy(s);
        return status;
    }
    return tacet__policy_wrap(out, &OPS, s, err);
}
