/* SPDX-License-Identifier: Apache-2.0 */
/* policy_fixed.c - the central policy `fixed` for the service: the domain, a space or a list, is public, rewards are
 * private and released at once (central/trusted/direct.h). Ring: trusted. Points follow from releases and public
 * coins, so which one was suggested is public. Cost: that of the policy. */
#include "space/internal.h"
#include "central/open/outlook.h"
#include "central/trusted/direct.h"
#include "service/trusted/central.h"
#include "service/trusted/kinds.h"

#include "core/fail.h"
#include "core/memory.h"
#include "service/open/study/space_domain.h"
#include "space/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Refused here, before the study has its name: what creating refuses leaves a name that nothing can be done with. */
static tacet_status fixed_check(const tacet__definition *def, tacet_error *err) {
    tacet_kernel *kernel = NULL;
    if (def->groups != NULL) {
        return tacet__fail(err, TACET_INVALID, "policy 'fixed' takes no prior.groups: it learns which effects add up");
    }
    const tacet_status status = tacet__definition_kernel(&kernel, def, def->d, err);
    tacet_kernel_free(kernel);
    return status;
}

/* Earlier values by the names of their arms, in the rewards' direction. NULL: none, or no memory. */
static tacet_central_earlier *earlier_of(const tacet__definition *def, const tacet_central_arms *arms) {
    tacet_central_earlier *known =
        def->earlier_count > 0 ? TACET__ZALLOC(tacet_central_earlier, def->earlier_count) : NULL;
    tacet__lattice l;
    const bool codes = arms->space != NULL && tacet__lattice_init(&l, arms->space);
    for (size_t i = 0; known != NULL && i < def->earlier_count; i++) {
        const double *e = def->earlier + 3 * i;
        const size_t at = (size_t)e[0];
        known[i] = (tacet_central_earlier){codes ? tacet__lattice_code(&l, def->records + at * def->space.count) : at,
                                           tacet__definition_towards(def, e[1]), e[2]};
    }
    return known;
}

static tacet_status fixed_create(tacet__learner *out, const tacet__definition *def, const char *ledger,
                                 const void *snapshot, size_t size, tacet_error *err) {
    tacet_central_direct_settings s;
    (void)size;
    const tacet_central_arms arms = tacet__definition_arms(def);
    tacet_central_earlier *known = earlier_of(def, &arms);
    if (known == NULL && def->earlier_count > 0) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy");
    }
    tacet_central_direct_settings_defaults(&s);
    s.eps = def->round_eps;
    s.rounds = def->rounds;
    s.open_most = def->open_most;
    s.each = def->each;
    s.coin_seed = def->coin_seed;
    s.earlier = known;
    s.earlier_count = def->earlier_count;
    tacet__definition_range(def, &s.reward_lo, &s.reward_hi);
    tacet_status status = tacet__central_start(out, def, ledger, snapshot == NULL, err);
    if (status == TACET_OK) {
        const tacet_ask ask = tacet__central_ask(out->self, "rewards of a central study", "reward");
        status = tacet_central_direct_policy(&out->policy, &arms, &s, &ask, err);
    }
    free(known);
    return status;
}

/* The box the points lie in: of the space, or of the list. False: a coordinate that does not vary. */
static bool box_of(const tacet__definition *def, double *lower, double *upper) {
    bool box = true;
    if (def->space.count > 0) {
        tacet_space_box(&def->space, lower, upper);
        return true;
    }
    for (size_t c = 0; box && c < def->d; c++) {
        lower[c] = (double)INFINITY;
        upper[c] = -(double)INFINITY;
        for (size_t i = 0; i < def->count; i++) {
            lower[c] = fmin(lower[c], def->points[i * def->d + c]);
            upper[c] = fmax(upper[c], def->points[i * def->d + c]);
        }
        box = lower[c] < upper[c];
    }
    return box;
}

/* The best point, and beside it the model that `tacet predict` reads, where there can be one: it recommends records of
 * the space, or listed points, and nothing between them. */
static tacet_status fixed_release(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                  tacet_error *err) {
    double lower[TACET_CONTEXTUAL_COORDINATES_MOST], upper[TACET_CONTEXTUAL_COORDINATES_MOST];
    const bool space = def->space.count > 0;
    const tacet_contextual_parts about = {.lower = lower,
                                          .upper = upper,
                                          .minimize = def->minimize,
                                          .space = space ? &def->space : NULL,
                                          .listed = space ? NULL : def->points,
                                          .listed_count = space ? 0 : def->count};
    tacet_contextual_model *model = NULL;
    tacet_kernel *kernel = NULL;
    json_t *with = NULL;
    tacet_status status = tacet__best_point(learner, def, out, err);
    if (status != TACET_OK || def->d > TACET_CONTEXTUAL_COORDINATES_MOST || !box_of(def, lower, upper)) {
        return status;
    }
    status = tacet__definition_kernel(&kernel, def, def->d, err);
    TACET_THEN(status,
               tacet_central_direct_model(&model, learner->policy, kernel, &about, def->points, def->count, err));
    tacet_kernel_free(kernel);
    if (status == TACET_UNSUPPORTED) {
        tacet_error_clear(err);
        return TACET_OK;
    }
    TACET_THEN(status, tacet__central_model_json(&with, model, def, err));
    tacet_contextual_model_free(model);
    if (status == TACET_OK && json_object_update(*out, with) != 0) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory making a release");
    }
    json_decref(with);
    if (status != TACET_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

static tacet_status fixed_tell(const tacet__learner *learner, const tacet__definition *def, json_t *status,
                               tacet_error *err) {
    json_t *search = json_pack("{sI sI}", "each", (json_int_t)def->each, "tickets_left",
                               (json_int_t)tacet_central_direct_tickets_left(learner->policy));
    return json_object_set_new(status, "search", search) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory making an answer");
}

static tacet_status fixed_outlook(const tacet__definition *def, json_t **out, tacet_error *err) {
    tacet_central_outlook o;
    if (!tacet__definition_direct(def)) {
        return TACET_OK;
    }
    const tacet_central_arms arms = tacet__definition_arms(def);
    TACET_OR_RETURN(tacet_central_direct_outlook(&o, &arms, def->rounds, def->round_eps, err));
    *out = json_pack("{sI sI sb sf}", "each", (json_int_t)def->each, "points", (json_int_t)(def->rounds / def->each),
                     "even", o.even ? 1 : 0, "gain", o.gain * (def->reward_hi - def->reward_lo));
    if (*out != NULL && o.even && o.rounds_needed > 0) {
        (void)json_object_set_new(*out, "rounds_needed", json_integer((json_int_t)o.rounds_needed));
    }
    if (*out != NULL && o.even && isfinite(o.eps_needed)) { /* a definition's eps is of a person */
        (void)json_object_set_new(*out, "eps_needed", json_real(o.eps_needed * (double)def->person_rounds));
    }
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for an outlook");
}

const tacet__policy_kind tacet__kind_fixed = {.name = "fixed",
                                              TACET__KIND_WITH_LEDGER,
                                              .index_public = true,
                                              .check = fixed_check,
                                              .create = fixed_create,
                                              .free = tacet__central_free,
                                              .release = fixed_release,
                                              .best = tacet__best_point,
                                              .tell = fixed_tell,
                                              .outlook = fixed_outlook};
