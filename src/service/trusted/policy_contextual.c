/* SPDX-License-Identifier: Apache-2.0 */
/* policy_contextual.c - the central policy `contextual` for the service: public actions, private contexts and rewards.
 * Ring: trusted. It learns in epochs, with a table each (ab/trusted/earning.h). Cost: that of the policy. */
#include "service/trusted/central.h"
#include "service/trusted/kinds.h"

#include "core/fail.h"
#include "core/memory.h"
#include "space/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ab/trusted/earning.h"

/* A column of plain numbers. */
static tacet_status add_numbers(tacet_space *space, const char *name, size_t i, double lo, double hi,
                                tacet_error *err) {
    tacet_space_column column;
    tacet_space_column_init(&column);
    (void)snprintf(column.name, sizeof column.name, "%s%zu", name, i + 1);
    column.kind = TACET_SPACE_REAL;
    column.lo = lo;
    column.hi = hi;
    return tacet_space_add(space, &column, err);
}

/* The columns of the list of actions, whose bounds are its own, then those of contexts. */
static tacet_status make_space(tacet_space *space, const tacet__definition *def, tacet_error *err) {
    tacet_status status = TACET_OK;
    tacet_space_init(space);
    for (size_t i = 0; i < def->space.count && status == TACET_OK; i++) {
        status = tacet_space_add(space, &def->space.columns[i], err);
    }
    for (size_t c = 0; c < def->d && def->space.count == 0 && status == TACET_OK; c++) {
        double lo = INFINITY, hi = -INFINITY;
        for (size_t i = 0; i < def->count; i++) {
            lo = fmin(lo, def->points[i * def->d + c]);
            hi = fmax(hi, def->points[i * def->d + c]);
        }
        status = lo < hi ? add_numbers(space, "action", c, lo, hi, err)
                         : tacet__fail(err, TACET_INVALID, "coordinate %zu of domain.points is the same everywhere", c);
    }
    for (size_t i = 0; i < def->context_space.count && status == TACET_OK; i++) {
        status = tacet_space_add(space, &def->context_space.columns[i], err);
    }
    for (size_t c = 0; c < def->context_dim && def->context_space.count == 0 && status == TACET_OK; c++) {
        status = add_numbers(space, "context", c, def->context_lower[c], def->context_upper[c], err);
    }
    return status;
}

/* `space` is filled, and cleared by the caller. */
static tacet_status describe(tacet_ab_earning_settings *s, tacet_space *space, const tacet__definition *def,
                             tacet_error *err) {
    *s = (tacet_ab_earning_settings){.space = space,
                                     .action_columns = def->space.count > 0 ? def->space.count : def->d,
                                     .actions = def->space.count > 0 ? def->records : def->points,
                                     .count = def->count,
                                     .embedded = def->context_space.count > 0,
                                     .minimize = def->minimize,
                                     .eps = def->round_eps,
                                     .rounds = (size_t)def->rounds,
                                     .late = (size_t)def->late,
                                     .coin_seed = def->coin_seed};
    tacet__definition_range(def, &s->lower, &s->upper);
    return make_space(space, def, err);
}

static tacet_status contextual_check(const tacet__definition *def, tacet_error *err) {
    tacet_ab_earning_settings s;
    tacet_ab_plan plan;
    tacet_space space;
    if (def->delta > 0) {
        return tacet__fail(err, TACET_INVALID, "policy 'contextual' has pure eps: it takes no delta");
    }
    if (def->groups != NULL) {
        return tacet__fail(err, TACET_INVALID,
                           "policy 'contextual' takes no prior.groups: it learns which effects add up");
    }
    if (def->rounds > (1U << 22)) {
        return tacet__fail(err, TACET_INVALID, "policy 'contextual' takes at most 2^22 rounds");
    }
    tacet_status status = describe(&s, &space, def, err);
    TACET_THEN(status, tacet_ab_plan_study(&plan, &space, s.action_columns, s.lower, s.upper, s.eps, s.rounds, err));
    tacet_space_clear(&space);
    return status == TACET_UNSUPPORTED ? TACET_INVALID : status;
}

static tacet_status contextual_create(tacet__learner *out, const tacet__definition *def, const char *ledger,
                                      const void *snapshot, size_t size, tacet_error *err) {
    tacet_ab_earning_settings s;
    tacet_space space;
    (void)size;
    tacet_status status = describe(&s, &space, def, err);
    TACET_THEN(status, tacet__central_start(out, def, ledger, snapshot == NULL, err));
    if (status == TACET_OK) {
        const tacet_ask ask = tacet__central_ask(out->self, "table of rewards of a contextual study", "context,reward");
        status = tacet_ab_earning_create(&out->policy, &s, &ask, err);
    }
    tacet_space_clear(&space);
    return status;
}

/* The model that `tacet predict` reads. */
static tacet_status contextual_release(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                       tacet_error *err) {
    tacet_ab_model *model = NULL;
    char *text = NULL;
    (void)def;
    *out = NULL;
    tacet_status status = tacet_ab_earning_model(learner->policy, &model, err);
    TACET_THEN(status, tacet_ab_model_encode(model, &text, err));
    json_t *value = text != NULL ? json_loads(text, 0, NULL) : NULL;
    if (status == TACET_OK) {
        *out = json_pack("{ss so}", "kind", "model", "model", value);
        status = *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory making a release");
    }
    free(text);
    tacet_ab_model_free(model);
    return status;
}

static tacet_status contextual_choose(const tacet__learner *learner, size_t *index, const double *context, size_t count,
                                      tacet_error *err) {
    return tacet_ab_earning_best(learner->policy, index, context, count, err);
}

const tacet__policy_kind tacet__kind_contextual = {.name = "contextual",
                                                   TACET__KIND_WITH_LEDGER,
                                                   .contextual = true,
                                                   .extends = true, /* in epochs: each release is of its own rounds */
                                                   .index_public = false,   /* it depends on the client's context */
                                                   .reports_private = true, /* a round without one adds nothing */
                                                   .check = contextual_check,
                                                   .create = contextual_create,
                                                   .free = tacet__central_free,
                                                   .release = contextual_release,
                                                   .choose = contextual_choose};
