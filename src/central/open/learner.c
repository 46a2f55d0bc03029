/* joint_learner.c - from released sums to scores of arms: decode a measure, regress with known noise.
 * Ring: open. In: noisy prefix sums of (v phi, (1 - v) phi). Out: scores.
 * Source: Dubey (AISTATS 2021), Algorithm 1, whose server adds the noisy matrix to lambda I and takes its noise for
 * data. Differs: no matrix is released; the empirical measure of plays and rewards is decoded by maximum entropy around
 * the law of play that the public scores imply, Sigma and u come from it, and the noise enters the likelihood.
 * src/central/README.md derives each step. Cost: an update O(grid r^2) some ten times, a score O(m^2) an arm. */
#include <tacet/central/open/learner.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/codec.h"
#include "gp/domain.h"
#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "central/open/measure.h"

enum { BATCH = 64 }; /* arms scored at a time */
static const char STATE_NAME[] = "joint-learner";
enum { STATE_VERSION = 1 };

/* With much noise the guess must yield (its term grows with the rounds, the other with their square over the noise),
 * and optimism must too (all arms look uncertain for long). Fitted on other seeds than any that is reported. */
static const double GUESS_SCALE = 8, WIDTH_SCALE = 25;

typedef struct ranked {
    double score;
    size_t index;
} ranked;

struct tacet_central_learner {
    const tacet_central_map *map; /* borrowed */
    tacet_central_learner_settings set;
    size_t d, m, r, grid;
    tacet__measure *measure;
    double *points; /* d x grid */
    double *Phi;    /* m x grid: all features of the grid; the leading r rows are the released ones */
    /* state */
    bool informed;
    double width;     /* of the scores, by the noise of the last release */
    double *intended; /* grid: how often each point was meant to be played, all rounds so far */
    double *law;      /* grid: the law of play under the current scores */
    double *mass;     /* grid x 2: the decoded measure, rewarded and not */
    double *theta;    /* m */
    double *cov;      /* m x m, both triangles */
    /* scratch */
    double *guess;                /* grid x 2 */
    double *fit;                  /* grid x 2 */
    double *plays;                /* grid */
    double *weighted;             /* m x grid */
    double *Se, *Sg, *u;          /* r x r, r x m, r */
    double *new_theta, *new_cov;  /* m, m x m */
    ranked *order;                /* grid */
    double *X, *phi, *half, *out; /* d x BATCH, m x BATCH, m x BATCH, BATCH x 2 */
};

void tacet_central_learner_settings_defaults(tacet_central_learner_settings *settings) {
    *settings = (tacet_central_learner_settings){.grid = 160,
                                                 .set_size = 25,
                                                 .typical_reward = 0.15,
                                                 .guess_weight = 0.6,
                                                 .anywhere = 0.3,
                                                 .width = 0.55,
                                                 .prior_var = 0.5,
                                                 .noise_factor = 1,
                                                 .drift = 0.035,
                                                 .reward_var = 0.25};
}

static tacet_status check(const tacet_central_learner_settings *s, tacet_error *err) {
    if (!(s->grid >= 2 && s->grid <= 100000)) {
        return tacet__fail(err, TACET_INVALID, "grid must be between 2 and 100000 points");
    }
    if (!(s->set_size >= 1)) {
        return tacet__fail(err, TACET_INVALID, "set_size must be at least 1");
    }
    if (!(s->typical_reward > 0 && s->typical_reward < 1)) {
        return tacet__fail(err, TACET_INVALID, "typical_reward must be between 0 and 1");
    }
    if (!(s->anywhere > 0 && s->anywhere <= 1)) {
        return tacet__fail(err, TACET_INVALID, "anywhere must be above 0 and at most 1");
    }
    const struct {
        const char *name;
        double value;
        bool zero_allowed;
    } positive[] = {
        {"guess_weight", s->guess_weight, false}, {"width", s->width, true}, {"prior_var", s->prior_var, false},
        {"noise_factor", s->noise_factor, false}, {"drift", s->drift, true}, {"reward_var", s->reward_var, false}};
    for (size_t i = 0; i < sizeof positive / sizeof positive[0]; i++) {
        if (!(isfinite(positive[i].value) &&
              (positive[i].value > 0 || (positive[i].zero_allowed && positive[i].value == 0)))) {
            return tacet__fail(err, TACET_INVALID, "%s must be finite and above 0", positive[i].name);
        }
    }
    return TACET_OK;
}

static bool allocate(tacet_central_learner *l) {
    const size_t d = l->d, m = l->m, r = l->r, n = l->grid;
    const struct {
        double **place;
        size_t rows, columns;
    } arrays[] = {{&l->points, d, n}, {&l->Phi, m, n},     {&l->intended, n, 1},  {&l->law, n, 1},
                  {&l->mass, n, 2},   {&l->theta, m, 1},   {&l->cov, m, m},       {&l->guess, n, 2},
                  {&l->fit, n, 2},    {&l->plays, n, 1},   {&l->weighted, m, n},  {&l->Se, r, r},
                  {&l->Sg, r, m},     {&l->u, r, 1},       {&l->new_theta, m, 1}, {&l->new_cov, m, m},
                  {&l->X, d, BATCH},  {&l->phi, m, BATCH}, {&l->half, m, BATCH},  {&l->out, BATCH, 2}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        size_t count = 0;
        if (!tacet__size_mul(&count, arrays[i].rows, arrays[i].columns)) {
            return false;
        }
        *arrays[i].place = TACET__ZALLOC(double, count);
        if (*arrays[i].place == NULL) {
            return false;
        }
    }
    l->order = TACET__ZALLOC(ranked, n);
    return l->order != NULL;
}

static void prior(tacet_central_learner *l) {
    l->width = l->set.width;
    for (size_t i = 0; i < l->m; i++) {
        l->cov[i * (l->m + 1)] = l->set.prior_var;
    }
    for (size_t j = 0; j < l->grid; j++) {
        l->law[j] = 1 / (double)l->grid;
    }
}

tacet_status tacet_central_learner_create(tacet_central_learner **out, const tacet_central_map *map,
                                          const tacet_central_learner_settings *settings, tacet_error *err) {
    if (out == NULL || map == NULL || settings == NULL) {
        return tacet__fail(err, TACET_INVALID, "a learner needs a map and settings");
    }
    *out = NULL;
    tacet_status status = check(settings, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_central_learner *l = TACET__ZALLOC(tacet_central_learner, 1);
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    l->map = map;
    l->set = *settings;
    l->d = tacet_central_map_domain(map)->d;
    l->m = tacet_features_dim(tacet_central_map_features(map));
    l->r = tacet_central_map_released(map);
    l->grid = settings->grid;
    if (!allocate(l)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner of %zu features", l->m);
        goto done;
    }
    tacet__domain_spread(tacet_central_map_domain(map), l->points, l->grid);
    tacet_features_eval(tacet_central_map_features(map), l->Phi, l->points, l->d, l->grid);
    status = tacet__measure_create(&l->measure, l->Phi, l->m, l->r, l->grid, 2, err);
    if (status == TACET_OK) {
        prior(l);
        *out = l;
    }
done:
    if (status != TACET_OK) {
        tacet_central_learner_free(l);
    }
    return status;
}

void tacet_central_learner_free(tacet_central_learner *l) {
    if (l == NULL) {
        return;
    }
    tacet__measure_free(l->measure);
    double *arrays[] = {l->points,    l->Phi,     l->intended, l->law,      l->mass, l->theta, l->cov,
                        l->guess,     l->fit,     l->plays,    l->weighted, l->Se,   l->Sg,    l->u,
                        l->new_theta, l->new_cov, l->X,        l->phi,      l->half, l->out};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(l->order);
    free(l);
}

void tacet_central_learner_played(tacet_central_learner *l) {
    tacet__axpy(l->intended, 1, l->law, l->grid);
}

bool tacet_central_learner_informed(const tacet_central_learner *l) {
    return l->informed;
}

/* mean and variance of <theta, phi> for the n <= BATCH columns of phi. */
static void posterior(tacet_central_learner *l, double *mean, double *var, const double *phi, size_t n) {
    const size_t m = l->m;
    tacet__gemv(true, m, n, 1, phi, m, l->theta, 0, mean);
    tacet__gemm(false, false, m, n, m, 1, l->cov, m, phi, m, 0, l->half, m);
    for (size_t j = 0; j < n; j++) {
        var[j] = fmax(0, tacet__dot(l->half + j * m, phi + j * m, m));
    }
}

static int by_score(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->score != y->score) {
        return x->score < y->score ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

/* The law of the best of set_size points of the grid under the current scores: F^n has the increments of a maximum. */
static void law_of_play(tacet_central_learner *l) {
    for (size_t first = 0; first < l->grid; first += BATCH) {
        const size_t n = l->grid - first < BATCH ? l->grid - first : BATCH;
        posterior(l, l->out, l->out + BATCH, l->Phi + first * l->m, n);
        for (size_t j = 0; j < n; j++) {
            l->order[first + j].score = l->out[j] + l->width * sqrt(l->out[BATCH + j]);
            l->order[first + j].index = first + j;
        }
    }
    qsort(l->order, l->grid, sizeof l->order[0], by_score);
    double before = 0;
    for (size_t k = 0; k < l->grid; k++) {
        const double upto = pow((double)(k + 1) / (double)l->grid, (double)l->set.set_size);
        l->law[l->order[k].index] = (1 - l->set.anywhere) * (upto - before) + l->set.anywhere / (double)l->grid;
        before = upto;
    }
}

/* Sigma (released x released, released x all) and u of the measure in l->fit. */
static void moments(tacet_central_learner *l) {
    const size_t m = l->m, r = l->r, n = l->grid;
    for (size_t j = 0; j < n; j++) {
        l->plays[j] = l->fit[j] + l->fit[n + j];
        for (size_t i = 0; i < m; i++) {
            l->weighted[i + j * m] = l->plays[j] * l->Phi[i + j * m];
        }
    }
    tacet__gemm(false, true, r, m, n, 1, l->Phi, m, l->weighted, m, 0, l->Sg, r);
    for (size_t j = 0; j < r; j++) {
        memcpy(l->Se + j * r, l->Sg + j * r, r * sizeof(double));
    }
    tacet__gemv(false, r, n, 1, l->Phi, m, l->fit, 0, l->u);
}

/* theta ~ N(0, prior I), u = Sigma theta + N(0, reward_var Sigma + noise I). */
static tacet_status regress(tacet_central_learner *l, double noise, tacet_error *err) {
    const size_t m = l->m, r = l->r;
    for (size_t i = 0; i < r * r; i++) {
        l->Se[i] *= l->set.reward_var;
    }
    for (size_t i = 0; i < r; i++) {
        l->Se[i * (r + 1)] += noise;
    }
    tacet_status status = tacet__cholesky(l->Se, r, r, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__trsm(false, r, m, l->Se, r, l->Sg, r);
    tacet__trsv(false, r, l->Se, r, l->u);
    tacet__syrk(true, m, r, 1, l->Sg, r, 0, l->new_cov, m);
    for (size_t i = 0; i < m; i++) {
        l->new_cov[i * (m + 1)] += 1 / l->set.prior_var;
    }
    status = tacet__cholesky(l->new_cov, m, m, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__gemv(true, r, m, 1, l->Sg, r, l->u, 0, l->new_theta);
    tacet__chol_solve(m, l->new_cov, m, l->new_theta);
    return tacet__chol_inverse(m, l->new_cov, m, err);
}

tacet_status tacet_central_learner_update(tacet_central_learner *l, const double *sums, double noise_var,
                                          uint64_t count, tacet_error *err) {
    const size_t n = l->grid;
    if (!(noise_var > 0 && isfinite(noise_var)) || count == 0) {
        return tacet__fail(err, TACET_INVALID, "a release needs a count and a noise variance above 0");
    }
    for (size_t i = 0; i < 2 * l->r; i++) {
        if (!isfinite(sums[i])) {
            return tacet__fail(err, TACET_INVALID, "number %zu of the release is not finite", i);
        }
    }
    double meant = 0;
    for (size_t j = 0; j < n; j++) {
        meant += l->intended[j];
    }
    for (size_t j = 0; j < n; j++) {
        const double share = meant > 0 ? l->intended[j] : l->law[j];
        l->guess[j] = share * l->set.typical_reward;
        l->guess[n + j] = share * (1 - l->set.typical_reward);
    }
    const double T = (double)count, noise = l->set.noise_factor * noise_var, sd = sqrt(noise_var);
    const double tau = l->set.guess_weight / (1 + sd / GUESS_SCALE);
    tacet_status status = tacet__measure_fit(l->measure, l->fit, sums, l->guess, T, noise, tau, err);
    if (status != TACET_OK) {
        return status;
    }
    moments(l);
    status = regress(l, noise + l->set.drift * l->set.drift * T * T, err);
    if (status != TACET_OK) {
        return status;
    }
    memcpy(l->mass, l->fit, 2 * n * sizeof(double));
    memcpy(l->theta, l->new_theta, l->m * sizeof(double));
    memcpy(l->cov, l->new_cov, l->m * l->m * sizeof(double));
    l->informed = true;
    l->width = l->set.width / (1 + sd * sd / (WIDTH_SCALE * WIDTH_SCALE));
    law_of_play(l);
    return TACET_OK;
}

/* Features of n <= BATCH points, clipped to the domain, into l->phi. */
static void features_of(tacet_central_learner *l, const double *X, size_t ldx, size_t n) {
    for (size_t j = 0; j < n; j++) {
        memcpy(l->X + j * l->d, X + j * ldx, l->d * sizeof(double));
        tacet__domain_clip(tacet_central_map_domain(l->map), l->X + j * l->d);
    }
    tacet_features_eval(tacet_central_map_features(l->map), l->phi, l->X, l->d, n);
}

void tacet_central_learner_predict(tacet_central_learner *l, double *mean, double *sd, const double *X, size_t ldx,
                                   size_t n) {
    const double lo = tacet_central_map_lo(l->map), scale = tacet_central_map_hi(l->map) - lo;
    for (size_t first = 0; first < n; first += BATCH) {
        const size_t count = n - first < BATCH ? n - first : BATCH;
        features_of(l, X + first * ldx, ldx, count);
        posterior(l, l->out, l->out + BATCH, l->phi, count);
        for (size_t j = 0; j < count; j++) {
            mean[first + j] = lo + scale * l->out[j];
            if (sd != NULL) {
                sd[first + j] = scale * sqrt(l->out[BATCH + j]);
            }
        }
    }
}

size_t tacet_central_learner_choose(tacet_central_learner *l, double *score, const double *X, size_t ldx, size_t n) {
    const double lo = tacet_central_map_lo(l->map), scale = tacet_central_map_hi(l->map) - lo;
    size_t best = 0;
    double top = -INFINITY;
    for (size_t first = 0; first < n; first += BATCH) {
        const size_t count = n - first < BATCH ? n - first : BATCH;
        features_of(l, X + first * ldx, ldx, count);
        posterior(l, l->out, l->out + BATCH, l->phi, count);
        for (size_t j = 0; j < count; j++) {
            const double value = l->out[j] + l->width * sqrt(l->out[BATCH + j]);
            if (value > top) {
                top = value;
                best = first + j;
            }
        }
    }
    if (score != NULL) {
        *score = lo + scale * top;
    }
    return best;
}

void tacet_central_learner_best(tacet_central_learner *l, double *x, double *mean, double *sd) {
    const double lo = tacet_central_map_lo(l->map), scale = tacet_central_map_hi(l->map) - lo;
    double top = -INFINITY;
    for (size_t first = 0; first < l->grid; first += BATCH) {
        const size_t n = l->grid - first < BATCH ? l->grid - first : BATCH;
        posterior(l, l->out, l->out + BATCH, l->Phi + first * l->m, n);
        for (size_t j = 0; j < n; j++) {
            if (l->out[j] > top) {
                top = l->out[j];
                *mean = lo + scale * top;
                *sd = scale * sqrt(l->out[BATCH + j]);
                if (x != NULL) {
                    memcpy(x, l->points + (first + j) * l->d, l->d * sizeof(double));
                }
            }
        }
    }
}

const double *tacet_central_learner_theta(const tacet_central_learner *l) {
    return l->theta;
}

size_t tacet_central_learner_measure(const tacet_central_learner *l, const double **points, const double **plays,
                                     const double **rewards) {
    *points = l->points;
    *plays = l->plays;
    *rewards = l->mass;
    return l->grid;
}

/* What a state must agree on with the learner it is loaded into. */
static void identity(const tacet_central_learner *l, double numbers[10]) {
    const tacet_central_learner_settings *s = &l->set;
    const double all[10] = {(double)s->grid, (double)s->set_size, s->typical_reward, s->guess_weight, s->anywhere,
                            s->width,        s->prior_var,        s->noise_factor,   s->drift,        s->reward_var};
    memcpy(numbers, all, sizeof all);
}

tacet_status tacet_central_learner_save(const tacet_central_learner *l, tacet_blob *out, tacet_error *err) {
    tacet__writer w;
    double numbers[10];
    identity(l, numbers);
    tacet__write_begin(&w, out, STATE_NAME, STATE_VERSION);
    tacet__write_u64(&w, tacet_central_map_print(l->map));
    tacet__write_f64s(&w, numbers, 10);
    tacet__write_u64(&w, l->informed ? 1 : 0);
    tacet__write_f64(&w, l->width);
    tacet__write_f64s(&w, l->intended, l->grid);
    tacet__write_f64s(&w, l->law, l->grid);
    tacet__write_f64s(&w, l->mass, 2 * l->grid);
    tacet__write_f64s(&w, l->theta, l->m);
    tacet__write_f64s(&w, l->cov, l->m * l->m);
    return tacet__write_end(&w, err);
}

static bool all_finite(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

tacet_status tacet_central_learner_load(tacet_central_learner *l, const void *bytes, size_t size, tacet_error *err) {
    const size_t n = l->grid, m = l->m;
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, STATE_NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    double numbers[10], own[10];
    identity(l, own);
    if (tacet__read_u64(&r) != tacet_central_map_print(l->map)) {
        return tacet__fail(err, TACET_CORRUPT, "the learner's state is of another problem");
    }
    tacet__read_f64s(&r, numbers, 10);
    if (memcmp(numbers, own, sizeof own) != 0) {
        return tacet__fail(err, TACET_CORRUPT, "the learner's state was made with other settings");
    }
    /* into scratch first: the learner keeps its state when the bytes turn out bad */
    const uint64_t informed = tacet__read_u64(&r);
    const double width = tacet__read_f64(&r);
    tacet__read_f64s(&r, l->guess, n);
    tacet__read_f64s(&r, l->guess + n, n);
    tacet__read_f64s(&r, l->fit, 2 * n);
    tacet__read_f64s(&r, l->new_theta, m);
    tacet__read_f64s(&r, l->new_cov, m * m);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        return status;
    }
    if (informed > 1 || !(width >= 0 && width <= l->set.width) || !all_finite(l->guess, 2 * n) ||
        !all_finite(l->fit, 2 * n) || !all_finite(l->new_theta, m) || !all_finite(l->new_cov, m * m)) {
        return tacet__fail(err, TACET_CORRUPT, "the learner's state holds impossible numbers");
    }
    l->informed = informed == 1;
    l->width = width;
    memcpy(l->intended, l->guess, n * sizeof(double));
    memcpy(l->law, l->guess + n, n * sizeof(double));
    memcpy(l->mass, l->fit, 2 * n * sizeof(double));
    memcpy(l->theta, l->new_theta, m * sizeof(double));
    memcpy(l->cov, l->new_cov, m * m * sizeof(double));
    return TACET_OK;
}
