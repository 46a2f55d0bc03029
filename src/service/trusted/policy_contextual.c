/* SPDX-License-Identifier: Apache-2.0 */
/* policy_contextual.c - the central policy `contextual` for the service: public actions, private contexts and rewards.
 * Ring: trusted. It learns in epochs with a release each (contextual/trusted/epochs.h). Cost: that of the policy.
 */
#include "service/trusted/central.h"
#include "service/trusted/kinds.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/open/model.h>
#include "contextual/trusted/epochs.h"

typedef struct contextual {
    central c;
    tacet_contextual_space space;
    tacet_contextual_epochs_settings settings;
    double lower[TACET_CONTEXTUAL_COORDINATES_MOST], upper[TACET_CONTEXTUAL_COORDINATES_MOST];
} contextual;

/* The bounds of the actions are those of the list, which is public. */
static tacet_status describe(contextual *u, const tacet__definition *def, tacet_error *err) {
    tacet_kernel_spec spec;
    const size_t a = def->d;
    const size_t most = def->groups != NULL ? TACET_CONTEXTUAL_COORDINATES_MOST : TACET_CONTEXTUAL_DIM_MOST;
    if (a + def->context_dim > most) {
        return tacet__fail(err, TACET_INVALID,
                           "policy 'contextual' takes at most %zu dimensions, actions and contexts together%s", most,
                           def->groups == NULL ? "; more with prior.groups" : "");
    }
    tacet_kernel_spec_defaults(&spec);
    tacet_status status = tacet_kernel_parse(&spec, def->kernel, err);
    if (status != TACET_OK) {
        return status;
    }
    if (spec.kind != TACET_KERNEL_SE &&
        !(spec.kind == TACET_KERNEL_MATERN && (spec.matern_p == 1 || spec.matern_p == 2))) {
        return tacet__fail(err, TACET_INVALID, "policy 'contextual' takes the kernels se, matern32 and matern52");
    }
    for (size_t c = 0; c < a; c++) {
        u->lower[c] = (double)INFINITY;
        u->upper[c] = -(double)INFINITY;
        for (size_t i = 0; i < def->count; i++) {
            u->lower[c] = fmin(u->lower[c], def->points[i * a + c]);
            u->upper[c] = fmax(u->upper[c], def->points[i * a + c]);
        }
        if (!(u->lower[c] < u->upper[c])) {
            return tacet__fail(err, TACET_INVALID, "coordinate %zu of domain.points is the same everywhere", c);
        }
    }
    memcpy(u->lower + a, def->context_lower, def->context_dim * sizeof(double));
    memcpy(u->upper + a, def->context_upper, def->context_dim * sizeof(double));
    tacet_contextual_space_defaults(&u->space);
    u->space.action_dim = a;
    u->space.context_dim = def->context_dim;
    u->space.lower = u->lower;
    u->space.upper = u->upper;
    u->space.kind = spec.kind;
    u->space.matern_p = spec.matern_p;
    u->space.groups = def->groups;
    u->space.lengthscales = def->lengthscales;
    u->space.lengthscale_count = def->lengthscale_count;
    tacet_contextual_epochs_settings_defaults(&u->settings);
    tacet__definition_range(def, &u->settings.learner.reward_lower, &u->settings.learner.reward_upper);
    u->settings.learner.eps = def->round_eps;
    u->settings.learner.delta = def->delta;
    u->settings.learner.gaussian = def->delta > 0;
    u->settings.rounds = (size_t)def->rounds;
    u->settings.late = (size_t)def->late;
    u->settings.coin_seed = def->coin_seed;
    return TACET_OK;
}

static tacet_status contextual_check(const tacet__definition *def, tacet_error *err) {
    contextual u = {0};
    tacet_contextual_basis *basis = NULL;
    tacet_status status = describe(&u, def, err);
    if (status == TACET_OK && def->rounds > (1U << 22)) {
        status = tacet__fail(err, TACET_INVALID, "policy 'contextual' takes at most 2^22 rounds");
    }
    TACET_THEN(status, tacet_contextual_basis_create(&basis, &u.space, 0, err));
    tacet_contextual_basis_free(basis);
    return status;
}

static void contextual_free(void *self) {
    contextual *u = self;
    if (u != NULL) {
        tacet__central_close(&u->c);
        free(u);
    }
}

static tacet_status contextual_create(tacet__learner *out, const tacet__definition *def, const char *ledger,
                                      const void *snapshot, size_t size, tacet_error *err) {
    *out = (tacet__learner){0};
    contextual *u = TACET__ZALLOC(contextual, 1);
    if (u == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy");
    }
    tacet_status status = describe(u, def, err);
    TACET_THEN(status, tacet__central_open(&u->c, def, ledger, snapshot == NULL, err));
    if (status == TACET_OK) {
        const tacet_ask ask = tacet__central_ask(&u->c, "model of a contextual study", "context,reward");
        status =
            tacet_contextual_epochs_create(&out->policy, &u->space, def->points, def->count, &u->settings, &ask, err);
    }
    if (status == TACET_OK && snapshot != NULL) {
        status = tacet_policy_load(out->policy, snapshot, size, err);
    }
    if (status != TACET_OK) {
        tacet_policy_free(out->policy);
        out->policy = NULL;
        contextual_free(u);
        return status;
    }
    out->self = u;
    return TACET_OK;
}

/* The model that `tacet predict` reads; of the negated reward where the study minimizes. */
static tacet_status contextual_release(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                       tacet_error *err) {
    const tacet_contextual_model *model = tacet_contextual_epochs_model(learner->policy);
    if (model == NULL) {
        return tacet__fail(err, TACET_STATE, "nothing has been released yet: the study is still learning");
    }
    const tacet_status status = tacet__central_model_json(out, model, def, err);
    if (status == TACET_OK && def->minimize) { /* the policy learns the negated reward */
        (void)json_object_set_new(json_object_get(*out, "model"), "direction", json_string("minimize"));
    }
    if (status == TACET_OK) { /* nothing else is ever recommended */
        (void)json_object_set_new(json_object_get(*out, "model"), "actions",
                                  tacet__reals_json(def->points, def->d * def->count));
    }
    return status;
}

const tacet__policy_kind tacet__kind_contextual = {.name = "contextual",
                                                   TACET__KIND_WITH_LEDGER,
                                                   .contextual = true,
                                                   .extends = true, /* in epochs: each release is of its own rounds */
                                                   .index_public = false,   /* it depends on the client's context */
                                                   .reports_private = true, /* a round without one is a null record */
                                                   .check = contextual_check,
                                                   .create = contextual_create,
                                                   .free = contextual_free,
                                                   .release = contextual_release};
