/* SPDX-License-Identifier: Apache-2.0 */
/* direct_learner.c - what to try next over a space, from rewards that were released one by one with known noise.
 * Ring: open; post-processing of what was released. Source: a Gaussian process with expected improvement (Jones,
 * Schonlau, Welch 1998) where noise is small, Thompson draws (Thompson 1933) where it is not. Differs: the kernel has
 * parts for each column, (1 - b) prod_c k_c + b mean_c k_c (after Duvenaud and others 2011), so that one column is
 * learnt whatever the others are; shape, spread and noise of rewards are those of the largest evidence among a few;
 * candidates are drawn anew for each plan, half anywhere and half around the best points known; several points are
 * planned together, each as if those before it had returned what is expected (Ginsbourger and others 2010). README.md,
 * (f). Cost: a plan O(n^3 + c n^2 + c^2 n), n different points tried, at most DISTINCT, c candidates. */
#include "central/open/direct_learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

enum {
    DISTINCT = 800, /* points in the posterior; what is tried beyond counts for the nearest of them */
    ANYWHERE = 300, /* candidates drawn evenly */
    AROUND = 300,   /* and near the best points */
    BEST = 3,       /* of which there are so many */
    WAITING = 64,   /* open points that are taken into account */
    CANDIDATES = ANYWHERE + AROUND + WAITING,
    JUDGED = 150,    /* points by which the models are judged */
    PLANS = 40,      /* of a study, about */
    PLANS_FEW = 400, /* where there are few points, and a plan costs little */
    FEW_POINTS = 100,
    EARLIER = 256, /* of more an even sample counts */
    FIRST_MOST = 30,
    FIRST_SLOW = 5, /* for each column and one more, where a visit is long */
    LOOKS = 6
};
static const double SLOW_EACH = 4;
static const double WIDTH = 2; /* standard deviations of an upper bound, by which one in LOOKS points is chosen */
static const double LEVEL = 0.5, LEVEL_VAR = 0.1; /* of the mean reward */
static const double SMALL_NOISE = 0.02;           /* variance below which improvement is worth expecting */
static const double DRAWN = 0.7;                  /* spread of Thompson draws, in standard deviations */
/* The models: lengthscale as a share of a column's range, weight of the columns' own parts; variance; of rewards. */
static const double SHAPES[][2] = {{0.3, 0}, {1, 0}, {1, 0.5}};
static const double SPREADS[] = {0.01, 0.04, 0.15};
static const double REWARD_VARS[] = {0.0025, 0.03, 0.2};

typedef struct model {
    double scale, own, spread, reward_var;
} model;

struct tacet__direct_learner {
    tacet__arms arms;
    tacet__direct_settings set;
    bool every; /* there are so few points that all are candidates */
    size_t earlier;
    uint64_t earlier_codes[EARLIER];
    double earlier_value[EARLIER], earlier_var[EARLIER];
    /* what is known, gathered from the releases */
    size_t n;
    uint64_t *codes; /* DISTINCT */
    double *X;       /* dims x DISTINCT */
    double *value;   /* DISTINCT: means */
    double *count;   /* DISTINCT */
    model best;
    /* scratch */
    double *K, *weights;  /* DISTINCT^2, DISTINCT */
    double *C, *V, *cov;  /* dims x CANDIDATES, DISTINCT x CANDIDATES, CANDIDATES^2 */
    double *spare;        /* CANDIDATES^2 */
    double *mean, *draw;  /* CANDIDATES */
    uint64_t *candidates; /* CANDIDATES */
};

static double matern52(double r) {
    const double s = sqrt(5) * r;
    return (1 + s + s * s / 3) * exp(-s);
}

/* Of two points in the learner's coordinates. */
static double kernel(const tacet__arms *arms, const double *a, const double *b, double scale, double own) {
    double product = 1, sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < arms->columns; i++) {
        double d2 = 0;
        for (size_t k = arms->width[i]; k > 0; k--, at++) {
            d2 += (a[at] - b[at]) * (a[at] - b[at]);
        }
        const double k = matern52(sqrt(d2) / 2 / scale);
        product *= k;
        sum += k;
    }
    return (1 - own) * product + own * sum / (double)arms->columns;
}

static double covariance(const tacet__direct_learner *l, const double *a, const double *b) {
    return LEVEL_VAR + l->best.spread * kernel(&l->arms, a, b, l->best.scale, l->best.own);
}

/* Of a released value around what is true of its point. */
static double value_var(const tacet__direct_learner *l) {
    return l->best.reward_var / l->set.each + l->set.noise_var;
}

static void clear_room(tacet__direct_learner *l) {
    double **arrays[] = {&l->X, &l->value, &l->count, &l->K,    &l->weights, &l->C,
                         &l->V, &l->cov,   &l->spare, &l->mean, &l->draw};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(*arrays[i]);
        *arrays[i] = NULL;
    }
    free(l->codes);
    free(l->candidates);
    l->codes = l->candidates = NULL;
}

/* Earlier values are rows of their own in the posterior, with the noise they are said to have. */
static tacet_status take_earlier(tacet__direct_learner *l, const tacet__direct_settings *s, tacet_error *err) {
    l->earlier = s->earlier_count < EARLIER ? s->earlier_count : EARLIER;
    for (size_t i = 0; i < s->earlier_count; i++) {
        const tacet_central_earlier *e = &s->earlier[i];
        if (e->index >= l->arms.count || !isfinite(e->value) || !(e->sd > 0 && isfinite(e->sd))) {
            return tacet__fail(err, TACET_INVALID, "earlier value %zu: no such point, or no value and deviation", i);
        }
    }
    for (size_t i = 0; i < l->earlier; i++) {
        const tacet_central_earlier *e = &s->earlier[i * s->earlier_count / l->earlier];
        l->earlier_codes[i] = e->index;
        l->earlier_value[i] = (e->value - s->lo) / s->range;
        l->earlier_var[i] = e->sd * e->sd / (s->range * s->range);
    }
    return TACET_OK;
}

tacet_status tacet__direct_learner_create(tacet__direct_learner **out, const tacet_central_arms *arms,
                                          const tacet__direct_settings *settings, tacet_error *err) {
    *out = NULL;
    tacet__direct_learner *l = TACET__ZALLOC(tacet__direct_learner, 1);
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    l->set = *settings;
    tacet_status status = tacet__arms_init(&l->arms, arms, err);
    TACET_THEN(status, take_earlier(l, settings, err));
    if (status != TACET_OK) {
        tacet__direct_learner_free(l);
        return status;
    }
    l->every = (l->arms.levels || l->arms.points != NULL) && l->arms.count <= ANYWHERE + AROUND;
    *out = l;
    return TACET_OK;
}

/* Room for a posterior, when one is first asked for. */
static tacet_status reserve(tacet__direct_learner *l, tacet_error *err) {
    const size_t d = l->arms.dims;
    if (l->candidates != NULL) {
        return TACET_OK;
    }
    const tacet__array arrays[] = {
        {&l->X, d, DISTINCT},          {&l->value, DISTINCT, 1},          {&l->count, DISTINCT, 1},
        {&l->K, DISTINCT, DISTINCT},   {&l->weights, DISTINCT, 1},        {&l->C, d, CANDIDATES},
        {&l->V, DISTINCT, CANDIDATES}, {&l->cov, CANDIDATES, CANDIDATES}, {&l->spare, CANDIDATES, CANDIDATES},
        {&l->mean, CANDIDATES, 1},     {&l->draw, CANDIDATES, 1}};
    l->codes = TACET__ZALLOC(uint64_t, DISTINCT);
    l->candidates = TACET__ZALLOC(uint64_t, CANDIDATES);
    if (l->codes != NULL && l->candidates != NULL && tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0])) {
        return TACET_OK;
    }
    clear_room(l);
    return tacet__fail(err, TACET_NO_MEMORY, "no memory for a posterior");
}

void tacet__direct_learner_free(tacet__direct_learner *l) {
    if (l != NULL) {
        clear_room(l);
        tacet__arms_clear(&l->arms);
        free(l);
    }
}

const tacet__arms *tacet__direct_learner_arms(const tacet__direct_learner *l) {
    return &l->arms;
}

size_t tacet__direct_learner_ahead(const tacet__direct_learner *l) {
    const size_t each = (size_t)(l->set.visits / PLANS);
    return each > FIRST_MOST ? each : FIRST_MOST;
}

/* The place of a code among those known; a new one, or where there is no room the nearest. */
static size_t place_of(tacet__direct_learner *l, uint64_t code) {
    const size_t d = l->arms.dims;
    double x[TACET__LATTICE_DIMS], least = INFINITY;
    size_t nearest = 0;
    for (size_t i = l->earlier; i < l->n; i++) {
        if (l->codes[i] == code) {
            return i;
        }
    }
    tacet__arms_place(&l->arms, x, code);
    if (l->n < DISTINCT) {
        l->codes[l->n] = code;
        l->value[l->n] = l->count[l->n] = 0;
        memcpy(l->X + l->n * d, x, d * sizeof(double));
        return l->n++;
    }
    for (size_t i = l->earlier; i < l->n; i++) {
        double d2 = 0;
        for (size_t c = 0; c < d; c++) {
            d2 += (x[c] - l->X[i * d + c]) * (x[c] - l->X[i * d + c]);
        }
        if (d2 < least) {
            least = d2;
            nearest = i;
        }
    }
    return nearest;
}

static void gather(tacet__direct_learner *l, const uint64_t *codes, const double *values, size_t released) {
    l->n = l->earlier;
    for (size_t i = 0; i < l->earlier; i++) {
        l->codes[i] = l->earlier_codes[i];
        l->value[i] = l->earlier_value[i];
        tacet__arms_place(&l->arms, l->X + i * l->arms.dims, l->codes[i]);
    }
    for (size_t i = 0; i < released; i++) {
        const size_t at = place_of(l, codes[i]);
        l->count[at]++;
        l->value[at] += (values[i] - l->value[at]) / l->count[at];
    }
}

/* The lower triangle of what the values of points `at` vary by under the model in hand. */
static void fill_covariance(tacet__direct_learner *l, const size_t *at, size_t n) {
    const size_t d = l->arms.dims;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            l->K[i + j * n] = covariance(l, l->X + at[i] * d, l->X + at[j] * d);
        }
        l->K[j + j * n] += at[j] < l->earlier ? l->earlier_var[at[j]] : value_var(l) / l->count[at[j]];
    }
}

/* Log evidence of the model in hand, by at most JUDGED points: the first and the last. */
static double evidence(tacet__direct_learner *l) {
    size_t at[JUDGED];
    const size_t n = l->n < JUDGED ? l->n : JUDGED;
    for (size_t i = 0; i < n; i++) {
        at[i] = i < n / 2 ? i : l->n - n + i;
        l->weights[i] = l->value[at[i]] - LEVEL;
    }
    fill_covariance(l, at, n);
    if (tacet__cholesky(l->K, n, n, NULL, NULL, NULL) != TACET_OK) {
        return -INFINITY;
    }
    tacet__trsv(false, n, l->K, n, l->weights);
    return -0.5 * (tacet__dot(l->weights, l->weights, n) + tacet__chol_logdet(n, l->K, n));
}

/* The model of the largest evidence, and its posterior: K becomes the factor, weights K^-1 (value - level). */
static tacet_status fit(tacet__direct_learner *l, tacet_error *err) {
    model best = {0};
    double most = -INFINITY;
    /* Levels of a list need not be alike: that they hardly differ is not believed of few noisy numbers. */
    for (size_t i = 0; i < 27; i++) {
        if (l->arms.levels && l->every && i / 3 % 3 == 0) {
            continue;
        }
        l->best = (model){.scale = SHAPES[i % 3][0],
                          .own = SHAPES[i % 3][1],
                          .spread = SPREADS[i / 3 % 3],
                          .reward_var = REWARD_VARS[i / 9]};
        const double e = evidence(l);
        if (e > most || best.spread == 0) {
            most = e;
            best = l->best;
        }
    }
    l->best = best;
    size_t at[DISTINCT];
    for (size_t i = 0; i < l->n; i++) {
        at[i] = i;
        l->weights[i] = l->value[i] - LEVEL;
    }
    fill_covariance(l, at, l->n);
    const tacet_status status = tacet__cholesky(l->K, l->n, l->n, NULL, NULL, err);
    if (status == TACET_OK) {
        tacet__chol_solve(l->n, l->K, l->n, l->weights);
    }
    return status;
}

/* Posterior means of n places (columns of C) into mean; V becomes L^-1 k. */
static void predict(tacet__direct_learner *l, const double *C, double *mean, size_t n) {
    const size_t d = l->arms.dims;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < l->n; i++) {
            l->V[i + j * l->n] = covariance(l, l->X + i * d, C + j * d);
        }
        mean[j] = LEVEL + tacet__dot(l->V + j * l->n, l->weights, l->n);
    }
    tacet__trsm(false, l->n, n, l->K, l->n, l->V, l->n);
}

/* Candidates: even ones, neighbours of the best points known, the best themselves; then the open ones. How many. */
static size_t draw_candidates(tacet__direct_learner *l, const uint64_t *open, size_t open_count, tacet_simrng *coin) {
    static const double REACH[] = {0.25, 0.1, 0.03, 0.01};
    size_t top[BEST] = {0}, found = 0, n = 0;
    for (size_t j = 0; j < l->n; j += CANDIDATES) { /* posterior means of the points known, into the draw's room */
        const size_t some = l->n - j < CANDIDATES ? l->n - j : CANDIDATES;
        predict(l, l->X + j * l->arms.dims, l->mean, some);
        for (size_t i = 0; i < some; i++) {
            l->value[j + i] = l->mean[i]; /* from here on what is believed of a point */
        }
    }
    for (uint64_t code = 0; l->every && code < l->arms.count; code++) {
        l->candidates[n++] = code;
    }
    for (; !l->every && found < BEST && found < l->n; found++) {
        bool any = false;
        for (size_t i = 0; i < l->n; i++) {
            bool taken = false;
            for (size_t k = 0; k < found; k++) {
                taken = taken || top[k] == i;
            }
            if (!taken && (!any || l->value[i] > l->value[top[found]])) {
                top[found] = i;
                any = true;
            }
        }
        l->candidates[n++] = l->codes[top[found]];
    }
    for (size_t i = 0; found > 0 && i < AROUND - BEST; i++) {
        l->candidates[n++] = tacet__arms_neighbour(&l->arms, l->codes[top[i % found]], REACH[i / BEST % 4], coin);
    }
    while (!l->every && n < ANYWHERE + AROUND) {
        l->candidates[n++] = tacet__arms_anywhere(&l->arms, coin);
    }
    for (size_t i = 0; i < open_count && i < WAITING; i++) {
        l->candidates[n++] = open[i];
    }
    for (size_t i = 0; i < n; i++) {
        tacet__arms_place(&l->arms, l->C + i * l->arms.dims, l->candidates[i]);
    }
    return n;
}

/* Posterior covariance of the candidates, both triangles, ld n. */
static void fill_posterior(tacet__direct_learner *l, size_t n) {
    const size_t d = l->arms.dims;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            l->cov[i + j * n] = covariance(l, l->C + i * d, l->C + j * d);
        }
    }
    tacet__syrk(true, n, l->n, -1, l->V, l->n, 1, l->cov, n);
    tacet__symmetrize(l->cov, n, n);
}

/* As if candidate j had been tried once more, and had returned what is expected. */
static void pretend(tacet__direct_learner *l, size_t j, size_t n) {
    const double of = fmax(l->cov[j + j * n], 0) + value_var(l);
    memcpy(l->draw, l->cov + j * n, n * sizeof(double));
    for (size_t c = 0; c < n; c++) {
        tacet__axpy(l->cov + c * n, -l->draw[c] / of, l->draw, n);
    }
}

static size_t most_improving(const tacet__direct_learner *l, double known, size_t eligible, size_t n) {
    size_t best = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < eligible; i++) {
        const double sd = sqrt(fmax(l->cov[i + i * n], 1e-18)), gain = l->mean[i] - known, z = gain / sd;
        const double ei = gain * 0.5 * erfc(-z / sqrt(2)) + sd * exp(-0.5 * z * z) / sqrt(2 * 3.14159265358979323846);
        if (ei > most) {
            most = ei;
            best = i;
        }
    }
    return best;
}

/* The largest upper bound: what improvement is expected of may be the top of the wrong hill. */
static size_t highest_bound(const tacet__direct_learner *l, size_t eligible, size_t n) {
    size_t best = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < eligible; i++) {
        const double bound = l->mean[i] + WIDTH * sqrt(fmax(l->cov[i + i * n], 0));
        best = bound > most ? i : best;
        most = fmax(bound, most);
    }
    return best;
}

/* The largest of a draw of the function at the candidates; `factor` is the covariance's. */
static size_t largest_drawn(tacet__direct_learner *l, const double *factor, size_t eligible, size_t n,
                            tacet_simrng *coin) {
    double *z = l->weights; /* of no use any more: DISTINCT is more than there are candidates */
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        z[i] = DRAWN * tacet_simrng_normal(coin);
    }
    memcpy(l->draw, l->mean, n * sizeof(double));
    tacet__gemv(false, n, n, 1, factor, n, z, 1, l->draw);
    for (size_t i = 1; i < eligible; i++) {
        best = l->draw[i] > l->draw[best] ? i : best;
    }
    return best;
}

static tacet_status choose(tacet__direct_learner *l, uint64_t *next, size_t count, const uint64_t *open,
                           size_t open_count, uint64_t given, tacet_simrng *coin, tacet_error *err) {
    tacet_status status = fit(l, err);
    if (status != TACET_OK) {
        return status;
    }
    const size_t n = draw_candidates(l, open, open_count, coin);
    const size_t eligible = l->every ? (size_t)l->arms.count : ANYWHERE + AROUND;
    double known = -INFINITY;
    for (size_t i = 0; i < l->n; i++) {
        known = fmax(known, l->value[i]);
    }
    predict(l, l->C, l->mean, n);
    fill_posterior(l, n);
    for (size_t j = eligible; j < n; j++) {
        pretend(l, j, n);
    }
    const bool improving = value_var(l) < SMALL_NOISE;
    if (!improving) {
        status = tacet__cholesky(l->cov, n, n, l->spare, NULL, err);
    }
    for (size_t i = 0; status == TACET_OK && i < count; i++) {
        const size_t at = !improving                 ? largest_drawn(l, l->cov, eligible, n, coin)
                          : (given + i) % LOOKS == 0 ? highest_bound(l, eligible, n)
                                                     : most_improving(l, known, eligible, n);
        next[i] = l->candidates[at];
        if (improving) {
            pretend(l, at, n);
        }
    }
    return status;
}

/* Long visits: what is spread out first costs many rounds, and so do visits that were planned together. */
static bool is_slow(const tacet__direct_learner *l) {
    return l->set.each >= SLOW_EACH && l->arms.count > FEW_POINTS;
}

size_t tacet__direct_learner_first(const tacet__direct_learner *l) {
    const double most = is_slow(l) ? fmin(FIRST_SLOW * ((double)l->arms.columns + 1), FIRST_MOST) : FIRST_MOST;
    const double part = floor((double)l->set.visits / (is_slow(l) ? 10 : 3));
    const double first = fmin(fmax(fmin(part, most), TACET__DIRECT_FEW), (double)l->arms.count);
    return l->earlier > 0 ? 0 : (size_t)first;
}

tacet_status tacet__direct_learner_plan(tacet__direct_learner *l, uint64_t *next, size_t *count, const uint64_t *codes,
                                        const double *values, size_t released, const uint64_t *open, size_t open_count,
                                        uint64_t given, tacet_error *err) {
    const uint64_t plans = l->arms.count <= FEW_POINTS ? PLANS_FEW : PLANS;
    const uint64_t each = is_slow(l) ? given / 10 : l->set.visits / plans;
    const size_t most = tacet__direct_learner_ahead(l);
    tacet_simrng coin;
    tacet_simrng_init(&coin, l->set.coin_seed, given);
    if (given == 0 && l->earlier == 0) {
        *count = tacet__direct_learner_first(l);
        return tacet__arms_spread(&l->arms, next, count, err);
    }
    *count = each < 1 ? 1 : each < most ? (size_t)each : most;
    if (released + l->earlier == 0) { /* nothing is known yet */
        for (size_t i = 0; i < *count; i++) {
            next[i] = tacet__arms_anywhere(&l->arms, &coin);
        }
        return TACET_OK;
    }
    TACET_OR_RETURN(reserve(l, err));
    gather(l, codes, values, released);
    return choose(l, next, *count, open, open_count, given, &coin, err);
}

tacet_status tacet__direct_learner_best(tacet__direct_learner *l, uint64_t *code, double *mean, double *sd,
                                        const uint64_t *codes, const double *values, size_t released,
                                        tacet_error *err) {
    tacet_simrng coin;
    tacet_simrng_init(&coin, l->set.coin_seed, UINT64_MAX);
    TACET_OR_RETURN(reserve(l, err));
    gather(l, codes, values, released);
    TACET_OR_RETURN(fit(l, err));
    size_t n = draw_candidates(l, NULL, 0, &coin), best = 0;
    if (l->set.visits <= TACET__DIRECT_FEW && !l->every) {
        /* too few to tell of any point but themselves: the best of them, shrunk */
        n = l->n < BEST ? l->n : BEST;
    }
    predict(l, l->C, l->mean, n);
    for (size_t i = 1; i < n; i++) {
        best = l->mean[i] > l->mean[best] ? i : best;
    }
    const double *x = l->C + best * l->arms.dims, *half = l->V + best * l->n;
    *code = l->candidates[best];
    *mean = l->mean[best];
    *sd = sqrt(fmax(covariance(l, x, x) - tacet__dot(half, half, l->n), 0));
    return TACET_OK;
}

tacet_status tacet__direct_learner_means(tacet__direct_learner *l, double *mean, double *error, const double *X,
                                         size_t count, const uint64_t *codes, const double *values, size_t released,
                                         tacet_error *err) {
    const size_t d = l->arms.dims;
    double sum = 0;
    TACET_OR_RETURN(reserve(l, err));
    gather(l, codes, values, released);
    tacet_status status = fit(l, err);
    for (size_t j = 0; status == TACET_OK && j < count; j += CANDIDATES) {
        const size_t some = count - j < CANDIDATES ? count - j : CANDIDATES;
        predict(l, X + j * d, mean + j, some);
        for (size_t i = 0; i < some; i++) {
            const double *x = X + (j + i) * d, *half = l->V + i * l->n;
            sum += fmax(covariance(l, x, x) - tacet__dot(half, half, l->n), 0);
        }
    }
    *error = sqrt(sum / (double)count);
    return status;
}
