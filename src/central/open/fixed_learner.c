/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_learner.c - the learner of joint DP over a fixed public domain.
 * Ring: open. Source: Dubey (AISTATS 2021) keeps the features' sum private although, on a fixed domain, it is a
 * function of what was released; here it is public and exact, and only rewards pay. Thompson sampling (Russo, Van Roy
 * 2014) a batch at a time; what is believed is in fixed_models.c, how a batch's sum is shaped in shape.c. Derivation:
 * src/central/README.md, (f). Cost: O(m^3 + count m^2) a batch, O(m^2) a sample. */
#include <tacet/central/open/fixed_learner.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

#include "central/open/fixed_models.h"
#include "central/open/shape.h"
#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

static const double LEAST_VAR = 1e-12; /* of noise: so that numbers that are not released have some */

struct tacet_fixed_learner {
    tacet_fixed_settings set;
    size_t G, m;
    tacet_fixed_group *groups; /* Phi owned */
    size_t *offset;            /* of each group's features */
    uint64_t batches;
    bool informed;
    tacet__fixed_models *models;
    /* the batch */
    size_t count, capacity;
    size_t *arms;    /* G x capacity */
    double *weights; /* capacity */
    size_t numbers;  /* of its release */
    double *A;       /* m x m: `numbers` rows, the others 0 */
    /* scratch */
    double *phi, *sample;           /* m each */
    double *S1, *S2, *T1, *shaping; /* m x m each; what tacet__batch_shape needs */
};

void tacet_fixed_settings_defaults(tacet_fixed_settings *settings) {
    *settings =
        (tacet_fixed_settings){.ladder = true, .prior_var = 1, .reward_var = 0.01, .distinct = 48, .coin_seed = 1};
}

static tacet_status check(const tacet_fixed_group *groups, size_t count, const tacet_fixed_settings *s,
                          tacet_error *err) {
    if (groups == NULL || count == 0 || s == NULL) {
        return tacet__fail(err, TACET_INVALID, "a fixed domain needs at least one group");
    }
    for (size_t g = 0; g < count; g++) {
        if (groups[g].Phi == NULL || groups[g].features == 0 || groups[g].choices == 0) {
            return tacet__fail(err, TACET_INVALID, "group %zu has no choices or no features", g);
        }
        for (size_t i = 0; i < groups[g].features * groups[g].choices; i++) {
            if (!(fabs(groups[g].Phi[i]) < 1e6)) {
                return tacet__fail(err, TACET_INVALID, "a feature of group %zu is not finite, or too large", g);
            }
        }
    }
    for (size_t i = 0; i < s->earlier_count; i++) {
        const tacet_fixed_earlier *e = &s->earlier[i];
        if (count != 1 || e->arm >= groups[0].choices || !isfinite(e->value) || !(e->sd > 0 && isfinite(e->sd))) {
            return tacet__fail(err, TACET_INVALID,
                               "earlier value %zu: of one group's arm, finite, with a standard deviation above 0", i);
        }
    }
    if (!(s->prior_var >= 0 && isfinite(s->prior_var)) || !(s->reward_var > 0 && isfinite(s->reward_var)) ||
        !(s->sampling >= 0 && isfinite(s->sampling)) || !(s->noise >= 0) || !(s->few >= 0 && isfinite(s->few)) ||
        (isinf(s->noise) && s->few == 0) || s->distinct == 0) {
        return tacet__fail(err, TACET_INVALID,
                           "reward_var and distinct must be above 0, prior_var, sampling, noise and few 0 or more");
    }
    return TACET_OK;
}

static bool allocate(tacet_fixed_learner *l, const tacet_fixed_group *groups) {
    l->groups = TACET__ZALLOC(tacet_fixed_group, l->G);
    l->offset = TACET__ZALLOC(size_t, l->G);
    if (l->groups == NULL || l->offset == NULL) {
        return false;
    }
    for (size_t g = 0; g < l->G; g++) {
        const size_t n = groups[g].features * groups[g].choices;
        double *copy = TACET__ZALLOC(double, n);
        if (copy == NULL) {
            return false;
        }
        memcpy(copy, groups[g].Phi, n * sizeof(double));
        l->groups[g] = (tacet_fixed_group){copy, groups[g].features, groups[g].choices};
        l->offset[g] = l->m;
        l->m += groups[g].features;
    }
    size_t square = 0, shaping = 0;
    if (!tacet__size_mul(&square, l->m, l->m) || !tacet__size_mul(&shaping, square, 4)) {
        return false;
    }
    double **arrays[] = {&l->A, &l->S1, &l->S2, &l->T1};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if ((*arrays[i] = TACET__ZALLOC(double, square)) == NULL) {
            return false;
        }
    }
    l->shaping = TACET__ZALLOC(double, shaping + 3 * l->m);
    l->phi = TACET__ZALLOC(double, l->m);
    l->sample = TACET__ZALLOC(double, l->m);
    return l->shaping != NULL && l->phi != NULL && l->sample != NULL;
}

tacet_status tacet_fixed_learner_create(tacet_fixed_learner **out, const tacet_fixed_group *groups, size_t group_count,
                                        const tacet_fixed_settings *settings, tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the learner");
    }
    *out = NULL;
    tacet_status status = check(groups, group_count, settings, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_fixed_learner *l = TACET__ZALLOC(tacet_fixed_learner, 1);
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    l->set = *settings;
    l->set.sampling = settings->sampling > 0 ? settings->sampling : 0.5;
    l->set.prior_var = settings->prior_var > 0 ? settings->prior_var : 1;
    l->G = group_count;
    if (!allocate(l, groups)) {
        tacet_fixed_learner_free(l);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    status = tacet__fixed_models_create(&l->models, l->groups, l->G, &l->set, err);
    l->informed = settings->earlier_count > 0;
    l->set.earlier = NULL;
    l->set.earlier_count = 0;
    if (status != TACET_OK) {
        tacet_fixed_learner_free(l);
        return status;
    }
    *out = l;
    return TACET_OK;
}

void tacet_fixed_learner_free(tacet_fixed_learner *l) {
    if (l == NULL) {
        return;
    }
    for (size_t g = 0; l->groups != NULL && g < l->G; g++) {
        free((double *)(uintptr_t)l->groups[g].Phi);
    }
    tacet__fixed_models_free(l->models);
    double *arrays[] = {l->A, l->S1, l->S2, l->T1, l->shaping, l->phi, l->sample, l->weights};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(l->groups);
    free(l->offset);
    free(l->arms);
    free(l);
}

size_t tacet_fixed_learner_dim(const tacet_fixed_learner *l) {
    return l->m;
}

static void features_of(const tacet_fixed_learner *l, double *phi, const size_t *arm) {
    for (size_t g = 0; g < l->G; g++) {
        const tacet_fixed_group *group = &l->groups[g];
        memcpy(phi + l->offset[g], group->Phi + arm[g] * group->features, group->features * sizeof(double));
    }
}

/* The best choice of each group under coefficients theta; returns the sum of their values. */
static double maximize(const tacet_fixed_learner *l, size_t *arm, const double *theta) {
    double total = 0;
    for (size_t g = 0; g < l->G; g++) {
        const tacet_fixed_group *group = &l->groups[g];
        double top = -INFINITY;
        for (size_t c = 0; c < group->choices; c++) {
            const double value = tacet__dot(theta + l->offset[g], group->Phi + c * group->features, group->features);
            if (value > top) {
                top = value;
                arm[g] = c;
            }
        }
        total += top;
    }
    return total;
}

static void draw_arm(tacet_fixed_learner *l, size_t *arm, tacet_simrng *coin) {
    if (!l->informed) {
        for (size_t g = 0; g < l->G; g++) {
            arm[g] = tacet_simrng_below(coin, l->groups[g].choices);
        }
        return;
    }
    tacet__fixed_models_draw(l->models, l->sample, l->set.sampling, coin);
    (void)maximize(l, arm, l->sample);
}

/* The most telling A for this batch. Vectors are shortened to length 1, and lengthened to it if they are at least
 * SHORT times as long as most: each may take all of the sensitivity. */
static const double SHORT = 0.3;

static tacet_status shape(tacet_fixed_learner *l, tacet_error *err) {
    const size_t m = l->m, n = l->count;
    memset(l->S1, 0, m * m * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        features_of(l, l->phi, l->arms + i * l->G);
        tacet__syrk(false, m, 1, 1 / (double)n, l->phi, m, 1, l->S1, m);
    }
    tacet__symmetrize(l->S1, m, m);
    double reward_var = 0;
    tacet_status status = tacet__fixed_models_spread(l->models, l->T1, &reward_var, err);
    if (status == TACET_OK) {
        const tacet__batch_noise noise = {.gaussian_var = l->set.noise * l->set.noise, .unit = l->set.few};
        status = tacet__batch_shape(l->A, &l->numbers, l->S1, l->T1, m, n, reward_var, &noise, m, l->shaping, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        features_of(l, l->phi, l->arms + i * l->G);
        tacet__gemv(false, m, m, 1, l->A, m, l->phi, 0, l->sample);
        l->weights[i] = tacet__norm2(l->sample, m);
        mean += l->weights[i] / (double)n;
    }
    const double unit = fmax(SHORT * mean, 1e-300);
    for (size_t i = 0; i < m * m; i++) {
        l->A[i] /= unit;
    }
    for (size_t i = 0; i < n; i++) {
        l->weights[i] = l->weights[i] > unit ? unit / l->weights[i] : 1;
    }
    return TACET_OK;
}

tacet_status tacet_fixed_learner_plan(tacet_fixed_learner *l, size_t count, tacet_error *err) {
    if (count == 0 || count > TACET_FIXED_BATCH_MOST) {
        return tacet__fail(err, TACET_INVALID, "a batch has between 1 and %d rounds", (int)TACET_FIXED_BATCH_MOST);
    }
    if (count > l->capacity) {
        size_t total = 0;
        size_t *arms = tacet__size_mul(&total, count, l->G) ? TACET__ZALLOC(size_t, total) : NULL;
        double *weights = TACET__ZALLOC(double, count);
        if (arms == NULL || weights == NULL) {
            free(arms);
            free(weights);
            return tacet__fail(err, TACET_NO_MEMORY, "no memory for a batch of %zu rounds", count);
        }
        free(l->arms);
        free(l->weights);
        l->arms = arms;
        l->weights = weights;
        l->capacity = count;
    }
    l->count = count;
    tacet_simrng coin;
    tacet_simrng_init(&coin, l->set.coin_seed, ++l->batches);
    const size_t distinct = count < l->set.distinct ? count : l->set.distinct;
    for (size_t i = 0; i < count; i++) {
        if (i < distinct) {
            draw_arm(l, l->arms + i * l->G, &coin);
        } else { /* in turn, so that every arm is played equally often but for one */
            memcpy(l->arms + i * l->G, l->arms + (i - distinct) * l->G, l->G * sizeof(size_t));
        }
    }
    const tacet_status status = shape(l, err);
    if (status != TACET_OK) { /* as if it had not been asked for; a batch planned before is given up */
        l->batches--;
        l->count = 0;
    }
    return status;
}

size_t tacet_fixed_learner_numbers(const tacet_fixed_learner *l) {
    return l->count > 0 ? l->numbers : 0;
}

size_t tacet_fixed_learner_planned(const tacet_fixed_learner *l) {
    return l->count;
}

const size_t *tacet_fixed_learner_arm(const tacet_fixed_learner *l, size_t i) {
    return l->arms + i * l->G;
}

void tacet_fixed_learner_vector(const tacet_fixed_learner *l, double *out, size_t i) {
    features_of(l, l->phi, l->arms + i * l->G);
    tacet__gemv(false, l->m, l->m, l->weights[i], l->A, l->m, l->phi, 0, out);
    const double norm = tacet__norm2(out, l->m);
    for (size_t k = 0; norm > 1 && k < l->m; k++) {
        out[k] /= norm; /* by rounding only */
    }
}

tacet_status tacet_fixed_learner_update(tacet_fixed_learner *l, const double *u, double noise_var, tacet_error *err) {
    const size_t m = l->m;
    if (!(noise_var >= 0 && isfinite(noise_var)) || l->count == 0) {
        return tacet__fail(err, TACET_INVALID, "an update needs a planned batch and a noise variance of 0 or more");
    }
    for (size_t i = 0; i < m; i++) {
        if (!(fabs(u[i]) < 1e100)) {
            return tacet__fail(err, TACET_INVALID, "number %zu of the release is not finite, or too large", i);
        }
    }
    memset(l->T1, 0, m * m * sizeof(double));
    memset(l->S2, 0, m * m * sizeof(double));
    for (size_t i = 0; i < l->count; i++) {
        features_of(l, l->phi, l->arms + i * l->G);
        const double c = l->weights[i];
        tacet__syrk(false, m, 1, c, l->phi, m, 1, l->T1, m);
        tacet__syrk(false, m, 1, c * c, l->phi, m, 1, l->S2, m);
    }
    tacet__symmetrize(l->T1, m, m);
    tacet__symmetrize(l->S2, m, m);
    /* u = S1 theta + N(0, reward_var V + noise_var I), V = A sum c^2 phi phi' A'. Rows of A that are 0 say 0 = 0 +
     * noise, the same to all models. */
    double *V = l->shaping;
    tacet__gemm(false, false, m, m, m, 1, l->A, m, l->T1, m, 0, l->S1, m);
    tacet__gemm(false, false, m, m, m, 1, l->A, m, l->S2, m, 0, l->T1, m);
    tacet__gemm(false, true, m, m, m, 1, l->T1, m, l->A, m, 0, V, m);
    const tacet_status status = tacet__fixed_models_update(l->models, u, l->S1, V, fmax(noise_var, LEAST_VAR), err);
    if (status != TACET_OK) {
        return status;
    }
    l->informed = true;
    l->count = 0;
    return TACET_OK;
}

bool tacet_fixed_learner_informed(const tacet_fixed_learner *l) {
    return l->informed;
}

void tacet_fixed_learner_posterior(tacet_fixed_learner *l, double *mean, double *sd, const size_t *choices) {
    double first = 0, variance = 0;
    features_of(l, l->phi, choices);
    tacet__fixed_models_at(l->models, &first, &variance, l->phi);
    *mean = 0.5 + first;
    *sd = sqrt(variance);
}

const double *tacet_fixed_learner_theta(const tacet_fixed_learner *l) {
    return tacet__fixed_models_mean(l->models);
}

void tacet_fixed_learner_replace(tacet_fixed_learner *l, size_t i, const size_t *choices) {
    memcpy(l->arms + i * l->G, choices, l->G * sizeof(size_t));
}

double tacet_fixed_learner_best(const tacet_fixed_learner *l, size_t *choices) {
    return 0.5 + maximize(l, choices, tacet__fixed_models_mean(l->models));
}

static const char STATE_NAME[] = "fixed-learner";
enum { STATE_VERSION = 1 };

tacet_status tacet_fixed_learner_save(const tacet_fixed_learner *l, tacet_blob *out, tacet_error *err) {
    tacet__writer w;
    tacet__write_begin(&w, out, STATE_NAME, STATE_VERSION);
    tacet__write_size(&w, l->m);
    tacet__write_size(&w, l->G);
    tacet__write_u64(&w, l->set.coin_seed);
    tacet__write_u64(&w, l->batches);
    tacet__write_u64(&w, l->informed ? 1 : 0);
    tacet__write_size(&w, l->count);
    tacet__fixed_models_write(l->models, &w);
    /* Arms of the batch that were replaced stay so. */
    for (size_t i = 0; i < l->count * l->G; i++) {
        tacet__write_size(&w, l->arms[i]);
    }
    return tacet__write_end(&w, err);
}

tacet_status tacet_fixed_learner_load(tacet_fixed_learner *l, const void *bytes, size_t size, tacet_error *err) {
    const size_t m = l->m;
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, STATE_NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    if (tacet__read_u64(&r) != m || tacet__read_u64(&r) != l->G || tacet__read_u64(&r) != l->set.coin_seed) {
        return tacet__fail(err, TACET_CORRUPT, "the learner's state is of another problem");
    }
    const uint64_t batches = tacet__read_u64(&r), informed = tacet__read_u64(&r);
    const size_t count = tacet__read_size(&r, TACET_FIXED_BATCH_MOST);
    const bool good = tacet__fixed_models_read(l->models, &r);
    size_t *arms = TACET__ZALLOC(size_t, count * l->G);
    if (arms == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory to load a learner");
    }
    for (size_t i = 0; i < count * l->G; i++) {
        arms[i] = tacet__read_size(&r, l->groups[i % l->G].choices - 1);
    }
    status = tacet__read_end(&r, err);
    if (status == TACET_OK && (informed > 1 || (count > 0 && batches == 0) || !good)) {
        status = tacet__fail(err, TACET_CORRUPT, "the learner's state holds impossible numbers");
    }
    if (status != TACET_OK) {
        free(arms);
        return status;
    }
    tacet__fixed_models_take(l->models);
    l->informed = informed == 1;
    l->batches = batches;
    l->count = 0;
    if (count > 0) { /* the batch is a function of the posterior and the coins: plan it again, then as it was */
        l->batches--;
        status = tacet_fixed_learner_plan(l, count, err);
        if (status == TACET_OK) {
            memcpy(l->arms, arms, count * l->G * sizeof(size_t));
            status = shape(l, err);
        }
    }
    free(arms);
    return status;
}
