/* SPDX-License-Identifier: Apache-2.0 */
/* averaging_fit.c - the posterior over the averaging modeler: every draw's Gaussian process on the values so far.
 * Ring: open. K = R + g I with R Matérn 5/2, constant mean and signal variance integrated out (flat, and inverse gamma
 * of shape and rate 1), so that a draw's log marginal likelihood is, up to a constant,
 * -sum log diag(L) - log(1'K^-1 1)/2 - nu log(1 + rss/2), nu = 1 + (t-1)/2. Factors are kept and grow by a row a value.
 * Written without BLAS: the same bits on every processor. Cost: O(M t^2) a value, M draws. */
#include "outsourced/open/averaging_state.h"

#include "outsourced/open/averaging_kernel.h"
#include "core/numbers.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double WORTH = 0.01;        /* of the best draw's likelihood: what is less is left out */
static const double BEHIND = 15;         /* in log likelihood: a draw that was so at a check is left out for good */
static const double CHECK_GROWTH = 1.25; /* of the count, between two checks */
static const double TAIL_LEAST = 0.1;    /* of the values' variance is never taken for noise */

static double *row_of(const tacet__draw *r, size_t j) {
    return r->L + j * (j + 1) / 2;
}

static double dot(const double *a, const double *b, size_t n) {
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            sum[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += a[i] * b[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* One more row of L, for value number r->have. */
static void grow(const tacet__averaging *l, tacet__draw *r) {
    const size_t j = r->have;
    double *row = row_of(r, j);
    const size_t at = l->rows[j];
    for (size_t k = 0; k < j; k++) {
        double square = 0;
        for (size_t a = 0; a < l->d; a++) {
            const double u =
                (l->x[(r->first + a) * l->n + at] - l->x[(r->first + a) * l->n + l->rows[k]]) * r->inverse[a];
            square += u * u;
        }
        row[k] = tacet__matern52(square);
    }
    const double nugget = r->nugget + l->shares[j];
    double left = 1 + nugget;
    for (size_t k = 0; k < j; k++) {
        row[k] = (row[k] - dot(row, row_of(r, k), k)) / row_of(r, k)[k];
        left -= row[k] * row[k];
    }
    /* At least the nugget is left, but for rounding. */
    row[j] = sqrt(fmax(left, 0.5 * nugget));
    r->ones[j] = (1 - dot(row, r->ones, j)) / row[j];
    r->log_det += log(row[j]);
    r->have = j + 1;
}

static void fit_draw(const tacet__averaging *l, tacet__draw *r) {
    const size_t t = l->count;
    while (r->have < t) {
        grow(l, r);
    }
    for (size_t j = 0; j < t; j++) {
        const double *row = row_of(r, j);
        r->solved[j] = (l->y[j] - dot(row, r->solved, j)) / row[j];
    }
    const double ae = dot(r->solved, r->ones, t);
    const double nu = 1 + 0.5 * (double)(t - 1);
    r->oo = dot(r->ones, r->ones, t);
    r->mean = ae / r->oo;
    const double rss = fmax(0, dot(r->solved, r->solved, t) - ae * ae / r->oo);
    r->s2 = (1 + 0.5 * rss) / nu;
    r->fit = -r->log_det - 0.5 * log(r->oo) - nu * log(1 + 0.5 * rss);
}

/* Likelihood without a relation: K is diagonal. y has mean 0 and mean square 1. */
static void fit_blank(const tacet__averaging *l, tacet__draw *r) {
    const double t = (double)l->count;
    double sum = 0;
    double squares = t / (1 + r->nugget);
    double ones = squares;
    double log_det = t * log(1 + r->nugget);
    if (l->rest > 0) {
        squares = ones = log_det = 0;
        for (size_t j = 0; j < l->count; j++) {
            const double whole = 1 + r->nugget + l->shares[j];
            sum += l->y[j] / whole;
            squares += l->y[j] * l->y[j] / whole;
            ones += 1 / whole;
            log_det += log(whole);
        }
    }
    const double rss = fmax(0, squares - sum * sum / ones);
    r->blank = -0.5 * log_det - 0.5 * log(ones) - (1 + 0.5 * (t - 1)) * log(1 + 0.5 * rss);
}

/* Middle of the values and the spread of what lies above it; far below, the logarithm takes over: the lower tail is of
 * no interest and would decide the lengthscales. Then mean 0, variance 1. */
static void transform(tacet__averaging *l) {
    const size_t t = l->count;
    double *sorted = l->work;
    memcpy(sorted, l->values, t * sizeof *sorted);
    tacet__sort(sorted, t);
    l->median = 0.5 * (sorted[(t - 1) / 2] + sorted[t / 2]);
    double upper = 0;
    double both = 0;
    size_t above = 0;
    for (size_t i = 0; i < t; i++) {
        const double e = l->values[i] - l->median;
        both += e * e;
        upper += e >= 0 ? e * e : 0;
        above += e >= 0 ? 1 : 0;
    }
    l->spread = sqrt(l->squash && upper > 0 ? upper / (double)above : both / (double)t);
    l->level = !(l->spread > 0) || !(sorted[t - 1] > sorted[0]);
    l->spread = l->level ? 1 : l->spread;
    double mean = 0;
    for (size_t i = 0; i < t; i++) {
        const double s = (l->values[i] - l->median) / l->spread;
        l->y[i] = l->squash && s < -1 ? -1 - log(-s) : s;
        mean += l->y[i] / (double)t;
    }
    double square = 0;
    for (size_t i = 0; i < t; i++) {
        square += (l->y[i] - mean) * (l->y[i] - mean) / (double)t;
    }
    l->shift = mean;
    l->scale = square > 0 ? sqrt(square) : 1;
    for (size_t i = 0; i < t; i++) {
        l->y[i] = (l->y[i] - mean) / l->scale;
    }
}

double tacet__averaging_back(const tacet__averaging *l, double y) {
    const double s = l->shift + l->scale * y;
    return l->median + l->spread * (l->squash && s < -1 ? -exp(-s - 1) : s);
}

/* What is left of the first values' variance without the noise of their measurements; every factor is made anew. */
static void look_at_noise(tacet__averaging *l) {
    size_t t = l->refit_at;
    while (2 * t <= l->count) {
        t *= 2;
    }
    double mean = 0;
    double square = 0;
    double noise = 0;
    for (size_t i = 0; i < t; i++) {
        mean += l->values[i] / (double)t;
        noise += l->noise_var[tacet__averaging_holder(l, l->rows[i])] / (double)t;
    }
    for (size_t i = 0; i < t; i++) {
        square += (l->values[i] - mean) * (l->values[i] - mean) / (double)t;
    }
    l->rest = fmax(square - noise, TAIL_LEAST * square);
    l->refit_at = 2 * t;
    for (size_t m = 0; m < l->draw_count; m++) {
        l->draws[m].have = 0;
        l->draws[m].log_det = 0;
    }
    for (size_t s = 0; s < l->shelf_count; s++) {
        l->shelves[s].draw = SIZE_MAX;
    }
}

/* Known measurement noise adds to every draw's nugget what it is of the rest of the variance. Looked at again whenever
 * the count has doubled, from the values reported by then. */
static void share_noise(tacet__averaging *l) {
    bool known = false;
    for (size_t h = 0; h < l->holders; h++) {
        known = known || l->noise_var[h] > 0;
    }
    if (known && l->count >= l->refit_at) {
        look_at_noise(l);
    }
    for (size_t j = 0; l->rest > 0 && j < l->count; j++) {
        l->shares[j] = l->noise_var[tacet__averaging_holder(l, l->rows[j])] / l->rest;
    }
}

/* The few draws worth averaging over, best first; ties to the lower number. */
static void choose_best(tacet__averaging *l) {
    l->best_count = 0;
    for (size_t m = 0; m < l->draw_count; m++) {
        size_t at = l->draws[m].out ? l->most : l->best_count;
        while (!l->draws[m].out && at > 0 && l->draws[m].fit > l->draws[l->best[at - 1]].fit) {
            at--;
        }
        if (at < l->most) {
            l->best_count += l->best_count < l->most ? 1 : 0;
            memmove(l->best + at + 1, l->best + at, (l->best_count - at - 1) * sizeof *l->best);
            l->best[at] = m;
        }
    }
    const double top = l->draws[l->best[0]].fit;
    double sum = 0;
    size_t kept = 0;
    for (; kept < l->best_count && exp(l->draws[l->best[kept]].fit - top) >= WORTH; kept++) {
        l->weight[kept] = exp(l->draws[l->best[kept]].fit - top);
        sum += l->weight[kept];
    }
    l->best_count = kept;
    for (size_t k = 0; k < kept; k++) {
        l->weight[k] /= sum;
    }
}

static void weigh_evidence(tacet__averaging *l) {
    double top = -DBL_MAX;
    double blank_top = -DBL_MAX;
    for (size_t m = 0; m < l->draw_count; m++) {
        top = l->draws[m].out ? top : fmax(top, l->draws[m].fit);
        blank_top = fmax(blank_top, l->draws[m].blank);
    }
    double sum = 0;
    double blank = 0;
    for (size_t m = 0; m < l->draw_count; m++) {
        sum += l->draws[m].out ? 0 : exp(l->draws[m].fit - top);
        blank += exp(l->draws[m].blank - blank_top);
    }
    /* cppcheck-suppress invalidFunctionArg ; there is always a draw, and the best one adds 1 to either sum */
    l->evidence = top - blank_top + log(sum) - log(blank);
}

static void fit_all(tacet__averaging *l) {
    transform(l);
    l->best_count = 0;
    l->evidence = 0;
    if (l->level) {
        return;
    }
    share_noise(l);
    for (size_t m = 0; m < l->draw_count; m++) {
        if (!l->draws[m].out) {
            fit_draw(l, &l->draws[m]);
        }
        fit_blank(l, &l->draws[m]);
    }
    choose_best(l);
    weigh_evidence(l);
}

/* Draws that are out cost nothing from here on. */
static void leave_out(tacet__averaging *l) {
    const double top = l->best_count > 0 ? l->draws[l->best[0]].fit : -INFINITY;
    for (size_t m = 0; m < l->draw_count && l->best_count > 0; m++) {
        l->draws[m].out = l->draws[m].out || l->draws[m].fit < top - BEHIND;
    }
}

static size_t next_check(size_t count) {
    const size_t next = (size_t)ceil(CHECK_GROWTH * (double)count);
    return next > count ? next : count + 1;
}

void tacet__averaging_fit(tacet__averaging *l) {
    const size_t count = l->count;
    while (next_check(l->checked) <= count) {
        l->count = l->checked = next_check(l->checked);
        fit_all(l);
        leave_out(l);
        if (next_check(l->checked) > count) {
            tacet__averaging_relist(l);
        }
    }
    if (l->count < count || l->best_count == 0 || l->checked < count) {
        l->count = count;
        fit_all(l);
    }
}

void tacet__averaging_solve(const tacet__averaging *l, const tacet__draw *r, double *v, size_t from) {
    for (size_t j = l->count; j-- > from;) {
        double sum = r->solved[j] - r->mean * r->ones[j];
        for (size_t i = j + 1; i < l->count; i++) {
            sum -= row_of(r, i)[j] * v[i];
        }
        v[j] = sum / row_of(r, j)[j];
    }
}

double tacet__averaging_smooth(const tacet__averaging *l, size_t k) {
    double mean = 0;
    for (size_t b = 0; b < l->best_count; b++) {
        tacet__averaging_solve(l, &l->draws[l->best[b]], l->work, k);
        mean += l->weight[b] * (l->y[k] - l->shares[k] * l->work[k]);
    }
    return mean;
}
