/* fixed_policy.c - joint DP over a fixed public domain, behind the interface of all policies.
 * Ring: trusted. Source: fixed.c; here indices instead of choices, and features of a plain list of points.
 * Cost: that of fixed.c; creating from points O(q^3 + n q m), q at most 512 nodes. */
#include <tacet/central/trusted/fixed.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/gp/features.h>

#include "core/fail.h"
#include "core/memory.h"

enum { NODES_MOST = 512 };

typedef struct fixed {
    tacet_central_fixed *study;
    size_t G;
    size_t *sizes, *choices; /* G each */
    double lo, hi;
} fixed;

static size_t index_of(const fixed *f) {
    size_t index = 0;
    for (size_t g = f->G; g-- > 0;) {
        index = index * f->sizes[g] + f->choices[g];
    }
    return index;
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    fixed *f = self;
    if (round->points != NULL || round->context != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "joint-fixed has a fixed domain and no context: a round is empty");
    }
    tacet_suggestion s = {0};
    tacet_status status = tacet_central_fixed_suggest(f->study, f->choices, &s.ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    double sd = 0;
    tacet_central_fixed_posterior(f->study, &s.score, &sd, f->choices);
    s.index = index_of(f);
    *out = s;
    return TACET_OK;
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    return tacet_central_fixed_observe(((fixed *)self)->study, ticket, value, err);
}

static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    return tacet_central_fixed_drop(((fixed *)self)->study, ticket, err);
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    fixed *f = self;
    if (!tacet_central_fixed_informed(f->study)) {
        return tacet__fail(err, TACET_STATE, "nothing was released yet: the first batch is still running");
    }
    tacet_recommendation best = {.measured = SIZE_MAX};
    (void)tacet_central_fixed_best(f->study, f->choices);
    tacet_central_fixed_posterior(f->study, &best.mean, &best.sd, f->choices);
    best.index = index_of(f);
    *out = best;
    return TACET_OK;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    tacet_central_fixed_guarantee(((const fixed *)self)->study, out);
}

static tacet_status save(const void *self, tacet_blob *out, tacet_error *err) {
    return tacet_central_fixed_save(((const fixed *)self)->study, out, err);
}

static tacet_status load(void *self, const void *bytes, size_t size, tacet_error *err) {
    return tacet_central_fixed_load(((fixed *)self)->study, bytes, size, err);
}

static void release(void *self) {
    fixed *f = self;
    tacet_central_fixed_free(f->study);
    free(f->sizes);
    free(f->choices);
    free(f);
}

static const tacet_policy_ops OPS = {.name = "joint-fixed",
                                     .suggest = suggest,
                                     .observe = observe,
                                     .recommend = recommend,
                                     .guarantee = guarantee,
                                     .save = save,
                                     .load = load,
                                     .free = release,
                                     .drop = drop};

tacet_status tacet_central_fixed_policy(tacet_policy **out, const tacet_fixed_group *groups, size_t group_count,
                                        const tacet_central_fixed_settings *settings, const tacet_ask *ask,
                                        tacet_error *err) {
    if (out == NULL || groups == NULL || group_count == 0) {
        return tacet__fail(err, TACET_INVALID, "a fixed domain needs at least one group, and the policy a place");
    }
    *out = NULL;
    size_t arms = 1;
    for (size_t g = 0; g < group_count; g++) {
        if (!tacet__size_mul(&arms, arms, groups[g].choices)) {
            return tacet__fail(err, TACET_INVALID, "the domain has more arms than an index can name");
        }
    }
    fixed *f = TACET__ZALLOC(fixed, 1);
    if (f == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a policy");
    }
    f->G = group_count;
    f->sizes = TACET__ZALLOC(size_t, group_count);
    f->choices = TACET__ZALLOC(size_t, group_count);
    tacet_status status = f->sizes == NULL || f->choices == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a policy")
                              : tacet_central_fixed_create(&f->study, groups, group_count, settings, ask, err);
    if (status != TACET_OK) {
        release(f);
        return status;
    }
    for (size_t g = 0; g < group_count; g++) {
        f->sizes[g] = groups[g].choices;
    }
    return tacet_policy_wrap(out, &OPS, f, err);
}

/* Mercer features of the points, or of an even sample of them. */
static tacet_status features_of(tacet_features **out, const tacet_kernel *kernel, const double *points, size_t ld,
                                size_t count, size_t most, tacet_error *err) {
    if (count <= NODES_MOST) {
        return tacet_features_create_mercer_points(out, kernel, points, ld, NULL, count, most, err);
    }
    const size_t d = tacet_kernel_dim(kernel);
    double *sample = TACET__ZALLOC(double, d *NODES_MOST);
    if (sample == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a policy");
    }
    for (size_t i = 0; i < NODES_MOST; i++) {
        const size_t at = (size_t)((double)i * (double)(count - 1) / (NODES_MOST - 1));
        memcpy(sample + i * d, points + at * ld, d * sizeof(double));
    }
    const tacet_status status =
        tacet_features_create_mercer_points(out, kernel, sample, d, NULL, NODES_MOST, most, err);
    free(sample);
    return status;
}

tacet_status tacet_central_fixed_policy_points(tacet_policy **out, const tacet_kernel *kernel, const double *points,
                                               size_t ld, size_t count, size_t features,
                                               const tacet_central_fixed_settings *settings, const tacet_ask *ask,
                                               tacet_error *err) {
    if (out == NULL || kernel == NULL || points == NULL || count == 0 || features == 0 ||
        ld < tacet_kernel_dim(kernel)) {
        return tacet__fail(err, TACET_INVALID, "a fixed domain needs a kernel, points and features");
    }
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < tacet_kernel_dim(kernel); c++) {
            if (!isfinite(points[i * ld + c])) {
                return tacet__fail(err, TACET_INVALID, "coordinate %zu of point %zu is not finite", c, i);
            }
        }
    }
    tacet_features *phi = NULL;
    tacet_status status = features_of(&phi, kernel, points, ld, count, features, err);
    if (status != TACET_OK) {
        return status;
    }
    size_t numbers = 0;
    const size_t m = tacet_features_dim(phi);
    double *values = tacet__size_mul(&numbers, m, count) ? TACET__ZALLOC(double, numbers) : NULL;
    if (values == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory for %zu features of %zu points", m, count);
    } else {
        tacet_features_eval(phi, values, points, ld, count);
        const tacet_fixed_group group = {.Phi = values, .features = m, .choices = count};
        status = tacet_central_fixed_policy(out, &group, 1, settings, ask, err);
    }
    free(values);
    tacet_features_free(phi);
    return status;
}
