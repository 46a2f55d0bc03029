/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_policy.c - joint DP over a fixed public domain, behind the interface of all policies.
 * Ring: trusted. Source: fixed.c; here indices instead of choices, and features of a plain list of points.
 * Cost: that of fixed.c; creating from points O(q^3 + n q m), q at most 512 nodes. */
#include <tacet/central/trusted/fixed.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sodium.h>
#include <tacet/gp/features.h>

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/policy_internal.h"
#include "gp/features_internal.h"
#include "gp/linalg.h"

enum { NODES_MOST = 512 };

typedef struct fixed {
    tacet_blob basis; /* of the features; empty: given by the caller */
    tacet_central_fixed *study;
    size_t G;
    size_t *sizes, *choices; /* G each */
    double lo, hi, eps, delta;
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
        return tacet__fail(err, TACET_INVALID, "this policy has a fixed domain and no context: a round is empty");
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

static tacet_status nothing_yet(const fixed *f, tacet_error *err) {
    const size_t lacking = tacet_central_fixed_lacking(f->study);
    return lacking > 0
               ? tacet__fail(err, TACET_STATE, "nothing was released yet: the first batch lacks %zu reports", lacking)
               : tacet__fail(err, TACET_STATE, "nothing was released yet: ask for a suggestion first");
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    fixed *f = self;
    if (!tacet_central_fixed_informed(f->study)) {
        return nothing_yet(f, err);
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

static tacet_status repeat(void *self, const tacet_suggestion *made, const tacet_round *round, tacet_error *err) {
    fixed *f = self;
    size_t rest = made->index;
    if (round->points != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "a fixed domain has no decision set and no context");
    }
    for (size_t g = 0; g < f->G; g++) {
        f->choices[g] = rest % f->sizes[g];
        rest /= f->sizes[g];
    }
    return rest == 0 ? tacet_central_fixed_repeat(f->study, f->choices, made->ticket, err)
                     : tacet__fail(err, TACET_CORRUPT, "there is no arm %zu", made->index);
}

static const char STATE_NAME[] = "fixed-policy";
enum { STATE_VERSION = 1 };

static tacet_status save(const void *self, tacet_blob *out, tacet_error *err) {
    const fixed *f = self;
    tacet_blob study;
    tacet_blob_init(&study);
    tacet_status status = tacet_central_fixed_save(f->study, &study, err);
    if (status == TACET_OK) {
        tacet__writer w;
        tacet__write_begin(&w, out, STATE_NAME, STATE_VERSION);
        tacet__write_bytes(&w, f->basis.data, f->basis.size);
        tacet__write_bytes(&w, study.data, study.size);
        status = tacet__write_end(&w, err);
    }
    tacet_blob_clear(&study);
    return status;
}

/* The two parts of a state: point into the bytes. */
static tacet_status parts_of(const unsigned char **basis, size_t *basis_size, const unsigned char **study,
                             size_t *study_size, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    const tacet_status status = tacet__read_begin(&r, bytes, size, STATE_NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    *basis_size = tacet__read_bytes(&r, basis);
    *study_size = tacet__read_bytes(&r, study);
    return tacet__read_end(&r, err);
}

static tacet_status load(void *self, const void *bytes, size_t size, tacet_error *err) {
    fixed *f = self;
    const unsigned char *basis = NULL, *study = NULL;
    size_t basis_size = 0, study_size = 0;
    const tacet_status status = parts_of(&basis, &basis_size, &study, &study_size, bytes, size, err);
    if (status != TACET_OK) {
        return status;
    }
    if (basis_size != f->basis.size || (basis_size > 0 && memcmp(basis, f->basis.data, basis_size) != 0)) {
        return tacet__fail(err, TACET_CORRUPT, "the state is in other features: restore the policy from it");
    }
    return tacet_central_fixed_load(f->study, study, study_size, err);
}

static void release(void *self) {
    fixed *f = self;
    tacet_central_fixed_free(f->study);
    tacet_blob_clear(&f->basis);
    free(f->sizes);
    free(f->choices);
    free(f);
}

static const tacet_policy_ops OPS = {.name = "fixed",
                                     .suggest = suggest,
                                     .observe = observe,
                                     .recommend = recommend,
                                     .guarantee = guarantee,
                                     .save = save,
                                     .load = load,
                                     .free = release,
                                     .drop = drop,
                                     .repeat = repeat};

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
    tacet_blob_init(&f->basis);
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
    f->lo = settings->reward_lo;
    f->hi = settings->reward_hi;
    f->eps = settings->eps;
    f->delta = settings->delta;
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

/* What was asked for, in 64 bits: computed features differ in their last bits between machines. Never 0. */
static uint64_t name_of(const tacet_kernel *kernel, const double *points, size_t ld, size_t count, size_t features) {
    const tacet_kernel_spec *k = tacet_kernel_describe(kernel);
    const uint64_t counts[] = {k->d, count, features, (uint64_t)k->kind, k->matern_p, k->lengthscale_count};
    crypto_generichash_state hash;
    uint64_t digest[2] = {0};
    (void)crypto_generichash_init(&hash, NULL, 0, sizeof digest);
    (void)crypto_generichash_update(&hash, (const unsigned char *)counts, sizeof counts);
    (void)crypto_generichash_update(&hash, (const unsigned char *)k->lengthscales,
                                    k->lengthscale_count * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        (void)crypto_generichash_update(&hash, (const unsigned char *)(points + i * ld), k->d * sizeof(double));
    }
    (void)crypto_generichash_final(&hash, (unsigned char *)digest, sizeof digest);
    return digest[0] | 1;
}

static tacet_status check_points(const tacet_kernel *kernel, const double *points, size_t ld, size_t count,
                                 size_t features, tacet_error *err) {
    if (kernel == NULL || points == NULL || count == 0 || features == 0 || ld < tacet_kernel_dim(kernel)) {
        return tacet__fail(err, TACET_INVALID, "a fixed domain needs a kernel, points and features");
    }
    return tacet__check_points(points, ld, tacet_kernel_dim(kernel), count, "point", err);
}

/* The policy over these points in these features, which are copied into its state. */
static tacet_status from_features(tacet_policy **out, const tacet_features *phi, const double *points, size_t ld,
                                  size_t count, const tacet_central_fixed_settings *settings, const tacet_ask *ask,
                                  tacet_error *err) {
    size_t numbers = 0;
    const size_t m = tacet_features_dim(phi);
    double *values = tacet__size_mul(&numbers, m, count) ? TACET__ZALLOC(double, numbers) : NULL;
    if (values == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for %zu features of %zu points", m, count);
    }
    tacet_features_eval(phi, values, points, ld, count);
    const tacet_fixed_group group = {.Phi = values, .features = m, .choices = count};
    tacet_status status = tacet_central_fixed_policy(out, &group, 1, settings, ask, err);
    free(values);
    if (status == TACET_OK) {
        fixed *f = tacet__policy_self(*out, &OPS);
        status = tacet__features_save(phi, &f->basis, err);
        if (status == TACET_UNSUPPORTED) { /* a precomputed kernel has one point a landmark: nothing to rotate away */
            tacet_error_clear(err);
            status = TACET_OK;
        }
        if (status != TACET_OK) {
            tacet_policy_free(*out);
            *out = NULL;
        }
    }
    return status;
}

tacet_status tacet_central_fixed_policy_points(tacet_policy **out, const tacet_kernel *kernel, const double *points,
                                               size_t ld, size_t count, size_t features,
                                               const tacet_central_fixed_settings *settings, const tacet_ask *ask,
                                               tacet_error *err) {
    if (out == NULL || settings == NULL) {
        return tacet__fail(err, TACET_INVALID, "a policy needs settings, and a place");
    }
    *out = NULL;
    tacet_features *phi = NULL;
    tacet_central_fixed_settings own = *settings;
    tacet_status status = check_points(kernel, points, ld, count, features, err);
    status = status != TACET_OK ? status : features_of(&phi, kernel, points, ld, count, features, err);
    if (status == TACET_OK) {
        own.problem = name_of(kernel, points, ld, count, features);
        status = from_features(out, phi, points, ld, count, &own, ask, err);
    }
    tacet_features_free(phi);
    return status;
}

tacet_status tacet_central_fixed_policy_restore(tacet_policy **out, const tacet_kernel *kernel, const double *points,
                                                size_t ld, size_t count, size_t features,
                                                const tacet_central_fixed_settings *settings, const tacet_ask *ask,
                                                const void *bytes, size_t size, tacet_error *err) {
    if (out == NULL || settings == NULL) {
        return tacet__fail(err, TACET_INVALID, "a policy needs settings, and a place");
    }
    *out = NULL;
    const unsigned char *basis = NULL, *study = NULL;
    size_t basis_size = 0, study_size = 0;
    tacet_features *phi = NULL;
    tacet_central_fixed_settings own = *settings;
    tacet_status status = check_points(kernel, points, ld, count, features, err);
    status = status != TACET_OK ? status : parts_of(&basis, &basis_size, &study, &study_size, bytes, size, err);
    if (status == TACET_OK) {
        status = basis_size > 0 ? tacet__features_load(&phi, kernel, basis, basis_size, err)
                                : features_of(&phi, kernel, points, ld, count, features, err);
    }
    if (status == TACET_OK) {
        own.problem = name_of(kernel, points, ld, count, features);
        status = from_features(out, phi, points, ld, count, &own, ask, err);
    }
    if (status == TACET_OK) {
        status = tacet_policy_load(*out, bytes, size, err);
        if (status != TACET_OK) {
            tacet_policy_free(*out);
            *out = NULL;
        }
    }
    tacet_features_free(phi);
    return status;
}

/* Nodes into the unit box, coefficients of features into weights of nodes. */
static tacet_status expand(tacet_contextual_model **out, const fixed *f, const tacet_features *phi,
                           const tacet_contextual_parts *about, double error, tacet_error *err) {
    const tacet__feature_block *block = &phi->blocks[0];
    const tacet_kernel_spec *kernel = tacet_kernel_describe(phi->kernel);
    const double range = f->hi - f->lo;
    const double *lower = about->lower, *upper = about->upper;
    double scales[TACET_CONTEXTUAL_COORDINATES_MOST];
    tacet_guarantee g;
    size_t numbers = 0;
    double *nodes = tacet__size_mul(&numbers, block->count, block->d) ? TACET__ZALLOC(double, numbers) : NULL;
    double *weights = TACET__ZALLOC(double, block->count);
    tacet_status status = nodes != NULL && weights != NULL
                              ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "no memory for a model of %zu nodes", block->count);
    for (size_t c = 0; status == TACET_OK && c < block->d; c++) {
        scales[c] = kernel->lengthscales[kernel->lengthscale_count == 1 ? 0 : c];
        for (size_t j = 0; j < block->count; j++) {
            nodes[j * block->d + c] = (block->Z[j * block->d + c] - lower[c]) / (upper[c] - lower[c]);
        }
    }
    if (status == TACET_OK) {
        tacet_central_fixed_guarantee(f->study, &g);
        tacet__gemv(false, block->count, block->m, range, block->A, block->count, tacet_central_fixed_theta(f->study),
                    0, weights);
        const tacet_contextual_parts parts = {
            .action_dim = block->d,
            .lower = lower,
            .upper = upper,
            .kind = kernel->kind,
            .matern_p = kernel->matern_p,
            .lengthscales = scales,
            .nodes = nodes,
            .weights = weights,
            .count = block->count,
            .offset = f->lo + 0.5 * range,
            .minimize = about->minimize,
            .space = about->space,
            .action_columns = about->space != NULL ? about->space->count : 0,
            .listed = about->listed,
            .listed_count = about->listed_count,
            .is_private = g.proven,
            .eps = f->eps,
            .delta = f->delta,
            .rounds = tacet_central_fixed_ended(f->study),
            .range = {about->minimize ? -f->hi : f->lo, about->minimize ? -f->lo : f->hi},
            .predicted_error = error};
        status = tacet_contextual_model_create(out, &parts, err);
    }
    free(nodes);
    free(weights);
    return status;
}

tacet_status tacet_central_fixed_model(tacet_contextual_model **out, const tacet_policy *policy,
                                       const tacet_kernel *kernel, const tacet_contextual_parts *about,
                                       tacet_error *err) {
    fixed *f = policy != NULL ? tacet__policy_self(policy, &OPS) : NULL;
    tacet_features *phi = NULL;
    if (out == NULL || f == NULL || kernel == NULL || about == NULL || about->lower == NULL || about->upper == NULL) {
        return tacet__fail(err, TACET_INVALID,
                           "a model needs a policy over points, their kernel and bounds, and a place");
    }
    *out = NULL;
    if (!tacet_central_fixed_informed(f->study)) {
        return nothing_yet(f, err);
    }
    const tacet_kernel_spec *k = tacet_kernel_describe(kernel);
    const bool named =
        k->kind == TACET_KERNEL_SE || (k->kind == TACET_KERNEL_MATERN && k->matern_p >= 1 && k->matern_p <= 2);
    if (!named || k->d > TACET_CONTEXTUAL_COORDINATES_MOST || f->basis.size == 0 || f->G != 1) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "a model is of points of at most %d coordinates, se, matern32 or matern52",
                           (int)TACET_CONTEXTUAL_COORDINATES_MOST);
    }
    double sum = 0;
    for (size_t i = 0; i < f->sizes[0]; i++) {
        double mean = 0, sd = 0;
        tacet_central_fixed_posterior(f->study, &mean, &sd, &i);
        sum += sd * sd / (double)f->sizes[0];
    }
    tacet_status status = tacet__features_load(&phi, kernel, f->basis.data, f->basis.size, err);
    status = status != TACET_OK ? status : expand(out, f, phi, about, sqrt(sum), err);
    tacet_features_free(phi);
    return status;
}
