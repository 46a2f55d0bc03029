/* SPDX-License-Identifier: Apache-2.0 */
/* learner.c - from released sums to scores of arms: the grid, the guessed law of play, and what the model says.
 * Ring: open. In: noisy sums of batches, shaped for it or not (stepwise.c). Out: scores. The law of play is README.md's
 * "The guess". Cost: an update that of the model; a score O(m^2) an arm. */
#include "gp/kernel_internal.h"
#include "central/open/learner.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "central/open/counts.h"
#include "central/open/learner_batches.h"
#include "central/open/stepwise.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/domain.h"
#include "gp/features_internal.h"
#include "gp/linalg.h"

enum { BATCH = TACET__STEPWISE_POINTS }; /* arms scored at a time */
enum { GRID = 640, GRID_LEVELS_MOST = 512, TILTED_MOST = 20 };

/* README.md, (d): judgements, tuned on other seeds. */
static const double ANYWHERE = 0.03;   /* share of the guessed law of play that is spread evenly */
static const double LOGIT_WIDTH = 1.5; /* arms are scored logit + width sd; less under much noise */
static const double WIDTH_NOISE = 3;   /* noise of this sd halves the width */
static const double UNRELATED = 0.2;   /* correlation of the nearest arms up to which they are counted one by one */
static const double FLAT = 1e-8;       /* ridge of the regression that makes a model of counts */
static const double SURE = 0.005;      /* how near to 0 or 1 a model of counts goes */

typedef struct ranked {
    double score;
    size_t index;
} ranked;

struct tacet_central_learner {
    const tacet_central_map *map; /* borrowed */
    tacet_central_learner_settings set;
    size_t d, m, r, grid;
    tacet__stepwise *steps; /* the model; NULL: arms are counted */
    tacet__counts *counts;  /* of arms that tell nothing of each other, each a point of the grid; or NULL */
    double *theta;          /* with counts: m, and m * m of scratch */
    double *points;         /* d x grid */
    double *Phi;            /* m x grid: all features of the grid; the leading r rows are the released ones */
    /* state */
    bool informed;
    double noise_sd;  /* of the last release */
    double *intended; /* grid: how often each point was meant to be played since the last release */
    double *law;      /* grid: the law of play under the current scores */
    /* scratch */
    double *guess;         /* grid */
    double *halves;        /* 2 r */
    ranked *order;         /* grid */
    double *X, *phi, *out; /* d x BATCH, m x BATCH, BATCH x 4 */
};

void tacet_central_learner_settings_defaults(tacet_central_learner_settings *settings) {
    *settings = (tacet_central_learner_settings){.set_size = 25, .typical_reward = 0.5};
}

static tacet_status check(const tacet_central_learner_settings *s, tacet_error *err) {
    if (!(s->typical_reward > 0 && s->typical_reward < 1)) {
        return tacet__fail(err, TACET_INVALID, "typical_reward must lie between 0 and 1");
    }
    if (s->grid == 1 || s->grid > 100000 || s->set_size == 0 || s->set_size > 1000000) {
        return tacet__fail(err, TACET_INVALID,
                           "grid must be between 2 and 100000 points, set_size between 1 and a million");
    }
    return TACET_OK;
}

static bool allocate(tacet_central_learner *l, size_t most) {
    const size_t d = l->d, m = l->m;
    const tacet__array arrays[] = {{&l->points, d, most}, {&l->Phi, m, most},   {&l->intended, most, 1},
                                   {&l->law, most, 1},    {&l->guess, most, 1}, {&l->X, d, BATCH},
                                   {&l->phi, m, BATCH},   {&l->out, BATCH, 4},  {&l->halves, l->r, 2}};
    if (!tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0])) {
        return false;
    }
    l->order = TACET__ZALLOC(ranked, most);
    return l->order != NULL;
}

size_t tacet__central_countable(const tacet_central_map *map) {
    const tacet_domain *domain = tacet_central_map_domain(map);
    const size_t d = domain->d, arms = tacet__domain_levels(domain);
    double X[TACET__COUNTS_MOST * TACET__COUNTS_MOST]; /* a failure here would change what is released */
    bool unrelated = arms >= 2 && arms <= TACET__COUNTS_MOST && d <= TACET__COUNTS_MOST;
    if (unrelated) {
        tacet__domain_spread(domain, X, arms);
    }
    for (size_t j = 1; unrelated && j < arms; j++) {
        for (size_t i = 0; i < j; i++) {
            const tacet_kernel *kernel = tacet_central_map_features(map)->kernel;
            unrelated = unrelated && tacet_kernel_eval(kernel, X + i * d, X + j * d) <= UNRELATED;
        }
    }
    return unrelated ? arms : 0;
}

static tacet_status open_counts(tacet_central_learner *l, tacet_error *err) {
    size_t room = 0;
    l->theta = tacet__size_mul(&room, l->m, l->m + 1) ? TACET__ZALLOC(double, room) : NULL;
    return l->theta != NULL ? tacet__counts_create(&l->counts, l->grid, l->set.set_size, l->set.typical_reward, err)
                            : tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
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
    const tacet_domain *domain = tacet_central_map_domain(map);
    const size_t corners = tacet__domain_levels(domain);
    l->map = map;
    l->set = *settings;
    l->d = domain->d;
    l->m = tacet_features_dim(tacet_central_map_features(map));
    l->r = tacet_central_map_released(map);
    l->grid = settings->counted                            ? tacet__central_countable(map)
              : settings->grid > 0                         ? settings->grid
              : corners > 0 && corners <= GRID_LEVELS_MOST ? corners
                                                           : GRID;
    if (l->grid == 0) {
        status = tacet__fail(err, TACET_INVALID, "arms can be counted where there are few, and unrelated");
        goto done;
    }
    if (!allocate(l, l->grid)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner of %zu features", l->m);
        goto done;
    }
    tacet__domain_spread(domain, l->points, l->grid);
    tacet_features_eval(tacet_central_map_features(map), l->Phi, l->points, l->d, l->grid);
    if (settings->counted) {
        status = open_counts(l, err);
        goto done;
    }
    const double typical = settings->typical_reward;
    const size_t tilted = l->r < TILTED_MOST ? l->r : TILTED_MOST;
    status = tacet__stepwise_create(&l->steps, l->Phi, l->m, l->m, tilted, l->grid, log(typical / (1 - typical)), err);
    for (size_t j = 0; j < l->grid; j++) {
        l->law[j] = 1 / (double)l->grid;
    }
done:
    if (status != TACET_OK) {
        tacet_central_learner_free(l);
        return status;
    }
    *out = l;
    return TACET_OK;
}

void tacet_central_learner_free(tacet_central_learner *l) {
    if (l == NULL) {
        return;
    }
    tacet__stepwise_free(l->steps);
    tacet__counts_free(l->counts);
    free(l->theta);
    double *arrays[] = {l->points, l->Phi, l->intended, l->law, l->guess, l->X, l->phi, l->out, l->halves};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(l->order);
    free(l);
}

void tacet_central_learner_played(tacet_central_learner *l) {
    for (size_t j = 0; j < l->grid; j++) {
        l->intended[j] += l->law[j];
    }
}

bool tacet_central_learner_informed(const tacet_central_learner *l) {
    return l->informed;
}

static double logistic(double x) {
    return 1 / (1 + exp(-x));
}

static double width_of(const tacet_central_learner *l) {
    return LOGIT_WIDTH / (1 + l->noise_sd / WIDTH_NOISE);
}

void tacet__central_learner_scoring(const tacet_central_learner *l, double *theta, double *cov, double *width) {
    memcpy(theta, tacet__stepwise_theta(l->steps), (l->m + 1) * sizeof(double));
    tacet__stepwise_cov(l->steps, cov);
    *width = width_of(l);
}

/* The point of the grid that is nearest to x, which was clipped to the domain. */
static size_t arm_at(const tacet_central_learner *l, const double *x) {
    double least = INFINITY;
    size_t arm = 0;
    for (size_t j = 0; j < l->grid; j++) {
        double d2 = 0;
        for (size_t c = 0; c < l->d; c++) {
            d2 += (x[c] - l->points[j * l->d + c]) * (x[c] - l->points[j * l->d + c]);
        }
        arm = d2 < least ? j : arm;
        least = fmin(d2, least);
    }
    return arm;
}

/* Scores of n <= BATCH points, in [0, 1]: what ranks them. */
static void score(tacet_central_learner *l, double *out, const double *phi, size_t n) {
    const double width = width_of(l);
    double *mean = l->out + BATCH, *var = l->out + 2 * BATCH;
    tacet__stepwise_logit(l->steps, mean, var, phi, l->m, n);
    for (size_t j = 0; j < n; j++) {
        out[j] = logistic(mean[j] + width * sqrt(var[j]));
    }
}

/* Mean and sd of the reward in [0, 1] at n <= BATCH points. */
static void posterior(tacet_central_learner *l, double *mean, double *sd, const double *phi, size_t n) {
    tacet__stepwise_logit(l->steps, mean, sd, phi, l->m, n);
    for (size_t j = 0; j < n; j++) {
        mean[j] = logistic(mean[j]);
        sd[j] = sqrt(sd[j]) * mean[j] * (1 - mean[j]); /* the logistic's slope */
    }
}

/* The same at points of the grid, from `first` on. */
static void posterior_of_grid(tacet_central_learner *l, double *mean, double *sd, size_t first, size_t n) {
    if (l->counts == NULL) {
        posterior(l, mean, sd, l->Phi + first * l->m, n);
        return;
    }
    for (size_t j = 0; j < n; j++) {
        mean[j] = tacet__counts_mean(l->counts, first + j, &sd[j]);
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
        score(l, l->out, l->Phi + first * l->m, n);
        for (size_t j = 0; j < n; j++) {
            l->order[first + j] = (ranked){l->out[j], first + j};
        }
    }
    qsort(l->order, l->grid, sizeof l->order[0], by_score);
    double before = 0;
    for (size_t k = 0; k < l->grid; k++) {
        const double upto = pow((double)(k + 1) / (double)l->grid, (double)l->set.set_size);
        l->law[l->order[k].index] = (1 - ANYWHERE) * (upto - before) + ANYWHERE / (double)l->grid;
        before = upto;
    }
}

static tacet_status check_release(const double *sums, size_t k, double noise_var, uint64_t count, tacet_error *err) {
    if (!(noise_var > 0 && isfinite(noise_var)) || count == 0) {
        return tacet__fail(err, TACET_INVALID, "a release needs a count and a noise variance above 0");
    }
    for (size_t i = 0; i < k; i++) {
        if (!isfinite(sums[i])) {
            return tacet__fail(err, TACET_INVALID, "number %zu of the release is not finite", i);
        }
    }
    return TACET_OK;
}

/* Where the rounds of a release were meant to be played, into l->guess. */
static void guess_play(tacet_central_learner *l) {
    double meant = 0;
    for (size_t j = 0; j < l->grid; j++) {
        meant += l->intended[j];
    }
    memcpy(l->guess, meant > 0 ? l->intended : l->law, l->grid * sizeof(double));
}

static void now_informed(tacet_central_learner *l, double noise_var) {
    l->informed = true;
    l->noise_sd = sqrt(noise_var);
    law_of_play(l);
}

/* What a release of the planned shape tells, which is over then. */
static tacet_status learn(tacet_central_learner *l, const double *sums, double noise_var, uint64_t count,
                          tacet_error *err) {
    guess_play(l);
    const tacet_status status = tacet__stepwise_update(l->steps, sums, (size_t)count, l->guess, noise_var, err);
    memset(l->intended, 0, l->grid * sizeof(double));
    tacet__stepwise_end(l->steps);
    if (status == TACET_OK) {
        now_informed(l, noise_var);
    }
    return status;
}

tacet_status tacet_central_learner_update(tacet_central_learner *l, const double *sums, double noise_var,
                                          uint64_t count, tacet_error *err) {
    const size_t r = l->r;
    TACET_OR_RETURN(check_release(sums, 2 * r, noise_var, count, err));
    for (size_t i = 0; i < r; i++) { /* the sums of (v - 1/2) phi and of phi/2: noise of half the variance in each */
        l->halves[i] = (sums[i] - sums[r + i]) / 2;
        l->halves[r + i] = (sums[i] + sums[r + i]) / 2;
    }
    tacet__stepwise_plan_whole(l->steps, r);
    return learn(l, l->halves, noise_var / 2, count, err);
}

tacet_status tacet__central_learner_plan(tacet_central_learner *l, size_t *k, size_t n, double play,
                                         const tacet__batch_noise *noise, tacet_error *err) {
    if (l->counts != NULL) {
        *k = 2 * l->grid;
        return TACET_OK;
    }
    return tacet__stepwise_plan(l->steps, k, n, l->law, play, noise, err);
}

void tacet__central_learner_record(const tacet_central_learner *l, double *out, double *work, const double *x,
                                   double y) {
    const double lo = tacet_central_map_lo(l->map), hi = tacet_central_map_hi(l->map), v = (y - lo) / (hi - lo);
    double *clipped = work + l->m;
    memcpy(clipped, x, l->d * sizeof(double));
    tacet__domain_clip(tacet_central_map_domain(l->map), clipped);
    /* The one clip that the lemmas of README.md, (c) and (g), rest on; NaN is 0. Outside the range is clipped, not
     * refused: a refused record would be missing, and every later one would move by one place, some into another batch.
     */
    const double within = fmin(fmax(v, 0), 1);
    if (l->counts != NULL) {
        tacet__counts_record(l->counts, out, arm_at(l, clipped), within);
    } else { /* the same bits on every machine */
        tacet__features_eval_exact(tacet_central_map_features(l->map), work, clipped);
        tacet__stepwise_record(l->steps, out, work, within);
    }
    sodium_memzero(work, (l->m + l->d) * sizeof(double));
}

tacet_status tacet__central_learner_take(tacet_central_learner *l, const double *sums, double noise_var, uint64_t count,
                                         tacet_error *err) {
    const size_t k = l->counts != NULL ? 2 * l->grid : tacet__stepwise_numbers(l->steps);
    const tacet_status status = k > 0 ? check_release(sums, k, noise_var, count, err) : TACET_OK;
    if (l->counts == NULL && (status != TACET_OK || k == 0)) { /* 0: a batch that could tell nothing */
        memset(l->intended, 0, l->grid * sizeof(double));
        tacet__stepwise_end(l->steps);
    }
    if (status != TACET_OK || k == 0) {
        return status;
    }
    if (l->counts != NULL) {
        tacet__counts_take(l->counts, sums, noise_var, count);
        l->informed = true;
        return TACET_OK;
    }
    return learn(l, sums, noise_var, count, err);
}

/* Features of n <= BATCH points, clipped to the domain, into l->phi. */
static void features_of(tacet_central_learner *l, const double *X, size_t ldx, size_t n) {
    for (size_t j = 0; j < n; j++) {
        memcpy(l->X + j * l->d, X + j * ldx, l->d * sizeof(double));
        tacet__domain_clip(tacet_central_map_domain(l->map), l->X + j * l->d);
    }
    tacet_features_eval(tacet_central_map_features(l->map), l->phi, l->X, l->d, n);
}

static double in_units(const tacet_central_learner *l, double value) {
    const double lo = tacet_central_map_lo(l->map);
    return lo + (tacet_central_map_hi(l->map) - lo) * value;
}

void tacet_central_learner_predict(tacet_central_learner *l, double *mean, double *sd, const double *X, size_t ldx,
                                   size_t n) {
    const double scale = tacet_central_map_hi(l->map) - tacet_central_map_lo(l->map);
    for (size_t first = 0; first < n; first += BATCH) {
        const size_t count = n - first < BATCH ? n - first : BATCH;
        features_of(l, X + first * ldx, ldx, count);
        if (l->counts == NULL) {
            posterior(l, l->out, l->out + BATCH, l->phi, count);
        }
        for (size_t j = 0; j < count && l->counts != NULL; j++) {
            l->out[j] = tacet__counts_mean(l->counts, arm_at(l, l->X + j * l->d), &l->out[BATCH + j]);
        }
        for (size_t j = 0; j < count; j++) {
            mean[first + j] = in_units(l, l->out[j]);
            if (sd != NULL) {
                sd[first + j] = scale * l->out[BATCH + j];
            }
        }
    }
}

size_t tacet_central_learner_choose(tacet_central_learner *l, double *value, const double *X, size_t ldx, size_t n,
                                    tacet_simrng *coin) {
    size_t best = 0;
    double top = -INFINITY, draws[TACET__COUNTS_MOST];
    if (l->counts != NULL) {
        tacet__counts_draw(l->counts, draws, coin);
    }
    for (size_t first = 0; first < n; first += BATCH) {
        const size_t count = n - first < BATCH ? n - first : BATCH;
        features_of(l, X + first * ldx, ldx, count);
        if (l->counts == NULL) {
            score(l, l->out, l->phi, count);
        }
        for (size_t j = 0; j < count; j++) {
            l->out[j] = l->counts != NULL ? draws[arm_at(l, l->X + j * l->d)] : l->out[j];
            if (l->out[j] > top) {
                top = l->out[j];
                best = first + j;
            }
        }
    }
    if (value != NULL) {
        *value = in_units(l, top);
    }
    return best;
}

void tacet_central_learner_best(tacet_central_learner *l, double *x, double *mean, double *sd) {
    const double scale = tacet_central_map_hi(l->map) - tacet_central_map_lo(l->map);
    double top = -INFINITY;
    for (size_t first = 0; first < l->grid; first += BATCH) {
        const size_t n = l->grid - first < BATCH ? l->grid - first : BATCH;
        posterior_of_grid(l, l->out, l->out + BATCH, first, n);
        for (size_t j = 0; j < n; j++) {
            if (l->out[j] > top) {
                top = l->out[j];
                *mean = in_units(l, top);
                *sd = scale * l->out[BATCH + j];
                if (x != NULL) {
                    memcpy(x, l->points + (first + j) * l->d, l->d * sizeof(double));
                }
            }
        }
    }
}

double tacet_central_learner_error(tacet_central_learner *l) {
    double sum = 0;
    for (size_t first = 0; first < l->grid; first += BATCH) {
        const size_t n = l->grid - first < BATCH ? l->grid - first : BATCH;
        posterior_of_grid(l, l->out, l->out + BATCH, first, n);
        for (size_t j = 0; j < n; j++) {
            sum += l->out[BATCH + j] * l->out[BATCH + j];
        }
    }
    return (tacet_central_map_hi(l->map) - tacet_central_map_lo(l->map)) * sqrt(sum / (double)l->grid);
}

/* Counts as coefficients of the features: least squares on the logits of the arms' means. */
static const double *theta_of_counts(const tacet_central_learner *l, double *level) {
    const size_t m = l->m;
    double *theta = l->theta, *gram = theta + m, sd = 0;
    const double typical = l->set.typical_reward;
    *level = log(typical / (1 - typical));
    memset(theta, 0, m * sizeof(double));
    tacet__gemm(false, true, m, m, l->grid, 1, l->Phi, m, l->Phi, m, 0, gram, m);
    for (size_t j = 0; j < l->grid; j++) {
        const double mean = fmin(fmax(tacet__counts_mean(l->counts, j, &sd), SURE), 1 - SURE);
        for (size_t i = 0; i < m; i++) {
            theta[i] += l->Phi[i + j * m] * (log(mean / (1 - mean)) - *level);
        }
    }
    for (size_t i = 0; i < m; i++) {
        gram[i * (m + 1)] += FLAT;
    }
    if (tacet__cholesky(gram, m, m, NULL, NULL, NULL) == TACET_OK) {
        tacet__chol_solve(m, gram, m, theta);
    }
    return theta;
}

const double *tacet_central_learner_theta(const tacet_central_learner *l, double *level) {
    if (l->counts != NULL) {
        return theta_of_counts(l, level);
    }
    const double *theta = tacet__stepwise_theta(l->steps);
    *level = theta[0];
    return theta + 1;
}

/* What a state must agree on with the learner it is loaded into. */
enum { IDENTITY = 4 };
static void identity(const tacet_central_learner *l, double numbers[IDENTITY]) {
    const tacet_central_learner_settings *s = &l->set;
    const double all[IDENTITY] = {(double)l->grid, (double)s->set_size, s->typical_reward, s->counted ? 1 : 0};
    memcpy(numbers, all, sizeof all);
}

void tacet__central_learner_state(void *learner, tacet__state *s) {
    tacet_central_learner *l = learner;
    const uint64_t print = tacet_central_map_print(l->map);
    double numbers[IDENTITY];
    identity(l, numbers);
    tacet__state_same(s, "map", &print, sizeof print);
    tacet__state_same(s, "settings", numbers, sizeof numbers);
    tacet__state_bool(s, "informed", &l->informed);
    tacet__state_f64(s, "noise", &l->noise_sd, 0, 1e300);
    tacet__state_f64s(s, "intended", l->intended, l->grid);
    tacet__state_f64s(s, "law", l->law, l->grid);
    for (size_t j = 0; j < l->grid && tacet__state_taking(s); j++) {
        tacet__state_require(s, "law", l->intended[j] >= 0 && l->law[j] >= 0);
    }
    if (l->counts != NULL) {
        tacet__counts_state(l->counts, s);
    } else {
        tacet__stepwise_state(l->steps, s);
    }
}
