/* SPDX-License-Identifier: Apache-2.0 */
/* policies.c - the registry, and the local policies: a fixed public domain, reports that devices randomised.
 * Ring: open. The policies are those of tacet/local/open/local.h. Cost: see there. */
#include "service/open/study/policies.h"

#include "core/fail.h"
#include "core/memory.h"
#include "service/open/study/space_domain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "local/open/internal.h"
#include "local/open/weights.h"

const tacet__policy_kind *tacet__policy_find(const tacet__policy_kind *const *kinds, const tacet__definition *def) {
    for (size_t i = 0; kinds[i] != NULL; i++) {
        if (kinds[i]->trust == def->trust && strcmp(kinds[i]->name, def->policy) == 0) {
            return kinds[i];
        }
    }
    return NULL;
}

tacet_status tacet__policy_check(const tacet__policy_kind *const *kinds, const tacet__definition *def,
                                 tacet_error *err) {
    const tacet__policy_kind *kind = tacet__policy_find(kinds, def);
    if (kind == NULL) {
        char names[120] = "";
        size_t used = 0;
        for (size_t i = 0; kinds[i] != NULL; i++) {
            const size_t length = strlen(kinds[i]->name);
            if (kinds[i]->trust == def->trust && used + length + 3 < sizeof names) {
                used +=
                    (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", kinds[i]->name);
            }
        }
        return tacet__fail(err, TACET_INVALID, "no policy '%s' for this trust model here; there are: %s", def->policy,
                           names[0] != '\0' ? names : "none");
    }
    if (kind->own_sets && def->count > 0) {
        return tacet__fail(err, TACET_INVALID,
                           "policy '%s' leaves decision sets with the devices: its domain is lower and upper bounds",
                           kind->name);
    }
    if (kind->sets && def->count > 0) {
        return tacet__fail(err, TACET_INVALID,
                           "policy '%s' takes a decision set each round: its domain is lower and upper bounds",
                           kind->name);
    }
    if (kind->contextual != (def->context_dim > 0)) {
        return tacet__fail(err, TACET_INVALID,
                           kind->contextual ? "policy '%s' needs domain.context (--contexts)"
                           : def->trust == TACET_TRUST_CENTRAL
                               ? "policy '%s' takes no context (--contexts): policy 'contextual' does, and 'ab'"
                               : "policy '%s' takes no context (--contexts), nor does another one of local trust",
                           kind->name);
    }
    if (def->earlier_count > 0 && (kind->sets || kind->own_sets || kind->contextual)) {
        return tacet__fail(err, TACET_INVALID, "policy '%s' takes no earlier values", kind->name);
    }
    if (!kind->sets && !kind->own_sets && def->count == 0) {
        return tacet__fail(err, TACET_INVALID, "policy '%s' has a fixed domain: it needs domain.points", kind->name);
    }
    return kind->check(def, err);
}

void tacet__learner_free(const tacet__policy_kind *kind, tacet__learner *learner) {
    tacet_policy_free(learner->policy);
    if (kind != NULL && kind->free != NULL) {
        kind->free(learner->self);
    }
    *learner = (tacet__learner){0};
}

static tacet_status make(const tacet__policy_kind *kind, tacet__learner *out, const tacet__definition *def,
                         const char *ledger, const void *snapshot, size_t size, tacet_error *err) {
    *out = (tacet__learner){0};
    tacet_status status = kind->create(out, def, ledger, snapshot, size, err);
    if (status == TACET_OK && snapshot != NULL && !kind->restores) {
        status = tacet_policy_load(out->policy, snapshot, size, err);
    }
    if (status != TACET_OK) {
        tacet__learner_free(kind, out);
    }
    return status;
}

tacet_status tacet__policy_try(const tacet__policy_kind *kind, const tacet__definition *def, tacet_error *err) {
    tacet__learner learner = {0};
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    tacet_status status = make(kind, &learner, def, NULL, NULL, 0, err);
    TACET_THEN(status, tacet_policy_save(learner.policy, &bytes, err));
    if (status == TACET_OK && def->ticket_seconds > 0 &&
        tacet_policy_drop(learner.policy, 0, NULL) == TACET_UNSUPPORTED) {
        status = tacet__fail(err, TACET_INVALID, "policy '%s' takes no ticket_seconds", kind->name);
    }
    tacet_blob_clear(&bytes);
    tacet__learner_free(kind, &learner);
    return status;
}

tacet_status tacet__policy_create(const tacet__policy_kind *kind, tacet__learner *out, const tacet__definition *def,
                                  const char *ledger, const void *snapshot, size_t size, tacet_error *err) {
    const bool central = def->trust == TACET_TRUST_CENTRAL;
    if (central && ledger == NULL) {
        *out = (tacet__learner){0};
        return tacet__fail(err, TACET_CORRUPT, "a central study without a ledger is a trial, and not served");
    }
    const tacet_status status = make(kind, out, def, ledger, snapshot, size, err);
    tacet_guarantee g = {.proven = true};
    if (status == TACET_OK && central) {
        tacet_policy_guarantee(out->policy, &g);
    }
    if (!g.proven) {
        tacet__learner_free(kind, out);
        return tacet__fail(err, TACET_CORRUPT, "the policy does not prove what it protects, and is not served");
    }
    return status;
}

/* --- local -------------------------------------------------------------------------------------------------------- */

tacet_status tacet__definition_kernel(tacet_kernel **out, const tacet__definition *def, size_t d, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    *out = NULL;
    if (def->covariance != NULL) {
        spec.kind = TACET_KERNEL_PRECOMPUTED;
        spec.matrix = def->covariance;
        spec.order = spec.ld_matrix = def->count;
        return tacet_kernel_create(out, &spec, err);
    }
    TACET_OR_RETURN(tacet_kernel_parse(&spec, def->kernel, err));
    for (size_t c = 0; def->groups != NULL && c < d; c++) {
        spec.groups = def->groups;
        spec.group_count = def->groups[c] + 1 > spec.group_count ? def->groups[c] + 1 : spec.group_count;
    }
    spec.d = d;
    spec.lengthscales = def->lengthscales;
    spec.lengthscale_count = def->lengthscale_count;
    return tacet_kernel_create(out, &spec, err);
}

static tacet_status local_settings(tacet_local_settings *s, tacet_ldp *ldp, const tacet__definition *def,
                                   tacet_error *err) {
    tacet_ldp_kind kind;
    double lo = 0;
    double hi = 0;
    tacet__definition_range(def, &lo, &hi);
    tacet_local_settings_defaults(s);
    tacet_status status = tacet_local_algorithm_parse(&s->algorithm, def->policy, err);
    TACET_THEN(status, tacet_local_parameters_parse(&s->parameters, def->parameters, err));
    TACET_THEN(status, tacet_ldp_parse(&kind, def->randomizer, err));
    TACET_THEN(status, tacet_ldp_init(ldp, kind, def->eps, lo, hi, err));
    s->ldp = ldp;
    s->bound = def->bound;
    s->noise_bound = def->noise;
    s->mean = tacet__definition_towards(def, def->mean);
    s->horizon = (size_t)def->rounds;
    return status;
}

/* Earlier values as the policy sees them; NULL: none, or no memory. */
static tacet_local_earlier *local_earlier(const tacet__definition *def) {
    tacet_local_earlier *known = def->earlier_count > 0 ? TACET__ZALLOC(tacet_local_earlier, def->earlier_count) : NULL;
    for (size_t i = 0; known != NULL && i < def->earlier_count; i++) {
        const double *e = def->earlier + 3 * i;
        known[i] = (tacet_local_earlier){(size_t)e[0], tacet__definition_towards(def, e[1])};
    }
    return known;
}

static tacet_status local_check(const tacet__definition *def, tacet_error *err) {
    tacet_local_settings s;
    tacet_ldp ldp;
    tacet_status status = local_settings(&s, &ldp, def, err);
    if (status == TACET_OK && s.algorithm == TACET_LOCAL_UCB && isinf(tacet_ldp_proxy(&ldp)) &&
        (s.parameters == TACET_LOCAL_LITERAL || s.parameters == TACET_LOCAL_TIGHT)) {
        status = tacet__fail(err, TACET_INVALID, "policy 'ucb' needs a bounded randomizer: hybrid");
    }
    tacet_kernel *kernel = NULL;
    TACET_THEN(status, tacet__definition_kernel(&kernel, def, def->d, err));
    tacet_kernel_free(kernel);
    return status;
}

static tacet_status local_create(tacet__learner *out, const tacet__definition *def, const char *ledger,
                                 const void *snapshot, size_t size, tacet_error *err) {
    tacet_local_settings s;
    tacet_ldp ldp;
    tacet_kernel *kernel = NULL;
    (void)ledger; /* the devices keep theirs */
    (void)snapshot;
    (void)size;
    tacet_status status = local_settings(&s, &ldp, def, err);
    TACET_THEN(status, tacet__definition_kernel(&kernel, def, def->d, err));
    tacet_local_earlier *known = local_earlier(def);
    s.earlier = known;
    s.earlier_count = def->earlier_count;
    if (status == TACET_OK && (known != NULL) != (def->earlier_count > 0)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy");
    }
    double *numbers = def->covariance != NULL ? TACET__ZALLOC(double, def->count) : NULL;
    for (size_t i = 0; i < def->count && numbers != NULL; i++) {
        numbers[i] = (double)i; /* a precomputed kernel knows points by their numbers */
    }
    if (status == TACET_OK && (numbers != NULL) != (def->covariance != NULL)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy");
    }
    if (status == TACET_OK) {
        const tacet_cov_spec cov = {.kernel = kernel}; /* read once, so it need not outlive this */
        status = tacet_local_create(&out->policy, &s, &cov, numbers != NULL ? numbers : def->points,
                                    numbers != NULL ? 1 : def->d, def->count, err);
    }
    free(numbers);
    free(known);
    tacet_kernel_free(kernel);
    return status;
}

tacet_status tacet__study_best(const tacet__policy_kind *kind, const tacet__learner *learner,
                               const tacet__definition *def, json_t **out, tacet_error *err) {
    static const char *const NAMES[] = {"spent_eps", "spent_delta", "eps_per_report", "delta_per_report"};
    json_t *account = NULL;
    *out = NULL;
    if (kind->best == NULL) {
        return kind->sets || kind->contextual
                   ? tacet__fail(
                         err, TACET_STATE,
                         "the best action depends on the %s of a round: release the model, and ask 'tacet predict'",
                         kind->contextual ? "context" : "decision set")
                   : tacet__fail(err, TACET_STATE, "policy '%s' names no best point: see its release", kind->name);
    }
    tacet_status status = kind->best(learner, def, out, err);
    TACET_THEN(status, kind->spent(learner, def, &account, err));
    for (size_t i = 0; status == TACET_OK && i < sizeof NAMES / sizeof *NAMES; i++) {
        json_t *value = json_object_get(account, NAMES[i]);
        if (value != NULL && json_object_set(*out, NAMES[i], value) != 0) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for the best point");
        }
    }
    json_decref(account);
    if (status != TACET_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

tacet_status tacet__best_point(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                               tacet_error *err) {
    tacet_recommendation best;
    TACET_OR_RETURN(tacet_policy_recommend(learner->policy, &best, err));
    double action[TACET__DEFINITION_DIMS] = {0};
    (void)tacet__domain_point(def, action, NULL, best.index);
    *out = json_pack("{ss sI so sf sf}", "kind", "best", "index", (json_int_t)best.index, "action",
                     tacet__reals_json(action, def->d), "mean", tacet__definition_back(def, best.mean), "sd", best.sd);
    double least = 0;
    if (*out != NULL && def->bound > 0 && tacet_local_norm_least(learner->policy, &least, NULL) == TACET_OK) {
        (void)json_object_set_new(*out, "bound", json_real(def->bound));
        (void)json_object_set_new(*out, "norm_least", json_real(least));
    }
    if (*out != NULL && def->space.count > 0) {
        (void)json_object_set_new(*out, "point", tacet__space_domain_point(def, best.index));
    }
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory making a release");
}

tacet_status tacet__local_spent(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                tacet_error *err) {
    (void)learner;
    *out = json_pack("{ss sf sf s{ss sf sf sf}}", "kept_by", "each device", "eps_per_report", def->eps,
                     "delta_per_report", 0.0, "randomizer", "name", def->randomizer, "eps", def->eps, "lower",
                     def->reward_lo, "upper", def->reward_hi);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory reading the account");
}

/* How often each arm should be played by what was reported so far: devices that have it choose by themselves. */
static tacet_status local_weights(const tacet__learner *learner, json_t **out, tacet_error *err) {
    uint32_t weights[TACET__DEFINITION_ARMS];
    size_t count = 0;
    const tacet_status status = tacet_local_weights(learner->policy, weights, &count, err);
    json_t *list = status == TACET_OK ? json_array() : NULL;
    for (size_t i = 0; list != NULL && i < count; i++) {
        (void)json_array_append_new(list, json_integer((json_int_t)weights[i]));
    }
    *out = list;
    return status == TACET_OK && list == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for weights") : status;
}

/* An epoch of moma has a length that follows from the rounds there are: it cannot have more. */
#define LOCAL_KIND(word, more, sampled)                                                                                \
    const tacet__policy_kind tacet__policy_##word = {.name = #word,                                                    \
                                                     .trust = TACET_TRUST_LOCAL,                                       \
                                                     .extends = (more),                                                \
                                                     .weights = (sampled),                                             \
                                                     .index_public = true,                                             \
                                                     .check = local_check,                                             \
                                                     .create = local_create,                                           \
                                                     .release = tacet__best_point,                                     \
                                                     .best = tacet__best_point,                                        \
                                                     .spent = tacet__local_spent}
LOCAL_KIND(ucb, true, local_weights);
LOCAL_KIND(tgp, true, NULL);
LOCAL_KIND(ata, true, NULL);
LOCAL_KIND(moma, false, NULL);

const tacet__policy_kind *const tacet__policy_kinds_local[] = {
    &tacet__policy_ucb, &tacet__policy_tgp, &tacet__policy_ata, &tacet__policy_moma, &tacet__policy_statistics, NULL};
