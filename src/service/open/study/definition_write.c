/* SPDX-License-Identifier: Apache-2.0 */
/* definition_write.c - definitions of studies: canonical JSON out.
 * Ring: open. Identity and hashes are of this text, so it says every field that applies, in one way only.
 * Cost: O(bytes). */
#include "service/open/study/definition.h"

#include "core/fail.h"
#include "service/open/study/space_domain.h"

#include <jansson.h>

json_t *tacet__reals_json(const double *values, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count && array != NULL; i++) {
        if (json_array_append_new(array, json_real(values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* Lists of d numbers each. */
static json_t *rows_json(const double *values, size_t d, size_t count) {
    json_t *rows = json_array();
    for (size_t i = 0; i < count && rows != NULL; i++) {
        if (json_array_append_new(rows, tacet__reals_json(values + i * d, d)) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

/* Whole numbers under a name of the object, where there are any. */
static void set_wholes(json_t *object, const char *name, const size_t *values, size_t count) {
    json_t *list = object != NULL && values != NULL ? json_array() : NULL;
    for (size_t i = 0; i < count && list != NULL; i++) {
        (void)json_array_append_new(list, json_integer((json_int_t)values[i]));
    }
    if (list != NULL) {
        (void)json_object_set_new(object, name, list);
    }
}

static json_t *domain_json(const tacet__definition *s) {
    json_t *domain = s->space.count > 0 ? tacet__space_domain_json(s)
                     : s->count > 0     ? json_pack("{so}", "points", rows_json(s->points, s->d, s->count))
                                        : json_pack("{so so}", "lower", tacet__reals_json(s->lower, s->d), "upper",
                                                    tacet__reals_json(s->upper, s->d));
    set_wholes(domain, "levels", s->levels, s->d);
    if (domain != NULL && s->context_dim > 0 &&
        json_object_set_new(domain, "context",
                            s->context_space.count > 0
                                ? tacet__space_context_json(s)
                                : json_pack("{so so}", "lower", tacet__reals_json(s->context_lower, s->context_dim),
                                            "upper", tacet__reals_json(s->context_upper, s->context_dim))) != 0) {
        json_decref(domain);
        return NULL;
    }
    return domain;
}

static json_t *prior_json(const tacet__definition *s) {
    json_t *prior =
        json_pack("{ss so s[ff]}", "kernel", s->kernel, "lengthscale",
                  tacet__reals_json(s->lengthscales, s->lengthscale_count), "reward", s->reward_lo, s->reward_hi);
    if (prior != NULL && s->earlier_count > 0) {
        (void)json_object_set_new(prior, "earlier", rows_json(s->earlier, 3, s->earlier_count));
    }
    if (prior != NULL && (strcmp(s->policy, "central") == 0 || strcmp(s->policy, "ab") == 0)) {
        (void)json_object_set_new(prior, "typical_reward", json_real(s->typical_reward));
    }
    set_wholes(prior, "groups", s->groups, s->d + s->context_dim);
    if (prior != NULL && s->covariance != NULL) {
        (void)json_object_set_new(prior, "covariance", tacet__reals_json(s->covariance, s->count * s->count));
    }
    if (prior != NULL && s->trust == TACET_TRUST_LOCAL &&
        (json_object_set_new(prior, "mean", json_real(s->mean)) != 0 ||
         (s->bound_given && json_object_set_new(prior, "bound", json_real(s->bound)) != 0) ||
         json_object_set_new(prior, "noise", json_real(s->noise)) != 0)) {
        json_decref(prior);
        return NULL;
    }
    return prior;
}

tacet_status tacet__definition_encode(const tacet__definition *s, char **out, tacet_error *err) {
    const bool local = s->trust == TACET_TRUST_LOCAL;
    json_t *budget = local ? json_pack("{sf}", "eps", s->eps) : json_pack("{sf sf}", "eps", s->eps, "delta", s->delta);
    json_t *options = tacet__definition_device_sets(s)
                          ? json_pack("{ss sI sI sI}", "randomizer", s->randomizer, "features", (json_int_t)s->features,
                                      "released", (json_int_t)s->released, "set_size", (json_int_t)s->set_size)
                      : local ? json_pack("{ss ss}", "randomizer", s->randomizer, "parameters", s->parameters)
                              : json_pack("{sI sI sI sI sI}", "open_most", (json_int_t)s->open_most, "set_most",
                                          (json_int_t)s->set_most, "set_size", (json_int_t)s->set_size, "features",
                                          (json_int_t)s->features, "coin_seed", (json_int_t)s->coin_seed);
    if (options != NULL && !local && tacet__definition_direct(s)) {
        (void)json_object_set_new(options, "each", json_integer((json_int_t)s->each));
    }
    if (options != NULL && s->late > 0) {
        (void)json_object_set_new(options, "late", json_integer((json_int_t)s->late));
    }
    if (options != NULL) {
        (void)json_object_set_new(options, "ticket_seconds", json_integer((json_int_t)s->ticket_seconds));
        (void)json_object_set_new(options, "person_rounds", json_integer((json_int_t)s->person_rounds));
    }
    json_t *root = json_pack("{ss ss ss ss ss ss sI so so so so}", "format", TACET__DEFINITION_FORMAT, "name", s->name,
                             "description", s->description != NULL ? s->description : "", "trust",
                             local ? "local" : "central", "policy", s->policy, "direction",
                             s->minimize ? "minimize" : "maximize", "rounds", (json_int_t)s->rounds, "budget", budget,
                             "options", options, "domain", domain_json(s), "prior", prior_json(s));
    *out = root != NULL ? json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory writing a study");
}
