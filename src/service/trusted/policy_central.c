/* SPDX-License-Identifier: Apache-2.0 */
/* policy_central.c - the central policy `central` for the service: decision sets and rewards are private
 * (central/trusted/policy.h). Ring: trusted. Batches are charged when they end. A record is durable in the log,
 * in the same transaction as whatever rests on it, before anything leaves; docs/service.md has the argument. Cost: that
 * of the policy. */
#include "service/trusted/central.h"
#include "service/trusted/kinds.h"

#include "central/shared/features.h"
#include "central/trusted/gate.h"
#include "dp/open/entry.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "central/trusted/policy.h"

enum { DIMS_MOST = 16 };

typedef struct bandit {
    central c;
    tacet_domain domain; /* borrows the definition's bounds: copies below */
    double *bounds;
    tacet_features *features;
    tacet_central_map *map;
} bandit;

static tacet_ask ask_of(const bandit *j) {
    return tacet__central_ask(&j->c, "suggestions of a central study", "decision set,reward");
}

static void settings_of(tacet_central_settings *s, const tacet__definition *def) {
    tacet_central_settings_defaults(s);
    s->eps = def->round_eps;
    s->delta = def->delta;
    s->rounds = def->rounds;
    s->open_most = def->open_most;
    s->coin_seed = def->coin_seed;
    s->learner.set_size = def->set_size;
    s->minimize = def->minimize;
    s->gaussian = def->person_rounds > 1; /* the round's eps was found for Gaussian noise */
    double lo = 0;
    double hi = 0;
    tacet__definition_range(def, &lo, &hi);
    s->learner.typical_reward = (tacet__definition_towards(def, def->typical_reward) - lo) / (hi - lo);
}

static void bandit_free(void *self) {
    bandit *j = self;
    if (j != NULL) {
        tacet_central_map_free(j->map);
        tacet_features_free(j->features);
        tacet__central_close(&j->c);
        free(j->bounds);
        free(j);
    }
}

/* snapshot NULL: the features are made; otherwise they are those that the study sums in. */
static tacet_status make_map(bandit *j, const tacet__definition *def, const void *snapshot, size_t size,
                             tacet_error *err) {
    tacet_kernel *kernel = NULL;
    double lo = 0;
    double hi = 0;
    j->bounds = TACET__ZALLOC(double, 2 * def->d);
    if (j->bounds == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a domain");
    }
    for (size_t i = 0; i < def->d; i++) {
        j->bounds[i] = def->lower[i];
        j->bounds[def->d + i] = def->upper[i];
    }
    j->domain = (tacet_domain){
        .kind = TACET_DOMAIN_BOX, .d = def->d, .lower = j->bounds, .upper = j->bounds + def->d, .levels = def->levels};
    tacet__definition_range(def, &lo, &hi);
    tacet_status status = tacet__definition_kernel(&kernel, def, def->d, err);
    TACET_THEN(status, snapshot == NULL ? tacet__central_features(&j->features, kernel, &j->domain, def->features, err)
                                        : tacet_central_state_features(&j->features, kernel, snapshot, size, err));
    tacet_kernel_free(kernel);
    TACET_THEN(status, tacet_central_map_create(&j->map, j->features, &j->domain, tacet_features_dim(j->features), lo,
                                                hi, err));
    return status;
}

static tacet_status bandit_check(const tacet__definition *def, tacet_error *err) {
    if (def->d > DIMS_MOST) {
        return tacet__fail(err, TACET_INVALID, "policy 'central' takes at most %d dimensions", DIMS_MOST);
    }
    if (!(def->delta > 0) && def->person_rounds > 1) {
        return tacet__fail(err, TACET_INVALID,
                           "a delta above 0 is needed: noise of persons of several rounds is Gaussian");
    }
    return TACET_OK; /* its features are made, and may be refused, when the policy is tried */
}

static tacet_status bandit_create(tacet__learner *out, const tacet__definition *def, const char *ledger,
                                  const void *snapshot, size_t size, tacet_error *err) {
    tacet_central_settings s;
    bandit *j = TACET__ZALLOC(bandit, 1);
    if (j == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy");
    }
    out->self = j;
    settings_of(&s, def);
    tacet_status status = make_map(j, def, snapshot, size, err);
    TACET_THEN(status, tacet__central_open(&j->c, def, ledger, snapshot == NULL, err));
    if (status == TACET_OK) {
        const tacet_ask ask = ask_of(j);
        status = snapshot == NULL ? tacet_central_create(&out->policy, j->map, &s, &ask, err)
                                  : tacet_central_restore(&out->policy, j->map, &s, &ask, snapshot, size, err);
    }
    return status;
}

/* The model that `tacet predict` reads. */
static tacet_status bandit_release(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                   tacet_error *err) {
    const bandit *j = learner->self;
    tacet_central_settings s;
    tacet_contextual_model *model = NULL;
    tacet_blob bytes;
    const tacet_ask ask = ask_of(j);
    tacet_blob_init(&bytes);
    settings_of(&s, def);
    tacet_status status = tacet_policy_save(learner->policy, &bytes, err);
    TACET_THEN(status, tacet_central_model(&model, j->map, &s, &ask, bytes.data, bytes.size, err));
    TACET_THEN(status, tacet__central_model_json(out, model, def, err));
    tacet_blob_clear(&bytes);
    tacet_contextual_model_free(model);
    return status;
}

static tacet_status bandit_tell(const tacet__learner *learner, const tacet__definition *def, json_t *status,
                                tacet_error *err) {
    uint64_t rounds = 0;
    uint64_t left = 0;
    (void)def;
    const tacet_status got = tacet_central_batch(learner->policy, &rounds, &left, err);
    if (got != TACET_OK) {
        return got;
    }
    json_t *batch = json_pack("{sI sI}", "rounds", (json_int_t)rounds, "reports_left", (json_int_t)left);
    return json_object_set_new(status, "batch", batch) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory making an answer");
}

static bool bandit_ahead(const tacet__definition *def, size_t piece) {
    return def->person_rounds == 1 && tacet__batch_gate_ahead(def->round_eps, def->delta, piece);
}

const tacet__policy_kind tacet__kind_central = {.name = "central",
                                                TACET__KIND_WITH_LEDGER,
                                                .sets = true,
                                                .restores = true,      /* with the features it was summed in */
                                                .index_public = false, /* it depends on the client's decision set */
                                                .check = bandit_check,
                                                .create = bandit_create,
                                                .free = bandit_free,
                                                .release = bandit_release,
                                                .ahead = bandit_ahead,
                                                .tell = bandit_tell};
