/* SPDX-License-Identifier: Apache-2.0 */
/* averaging_rows.c - what the few best draws say of every row.
 * Ring: open. u_i = L^-1 k_i for all rows i of a draw lies on a shelf, in blocks, and grows by one row a value, so that
 * a round costs O(6 m t) for m listed rows: one pass over the shelves, in which the new row of U and the mean are made
 * together. A draw that enters the best six, or has no shelf because memory is short, is solved from the start: O(m t^2
 * / 2). U is kept in single precision and summed in double: the nugget is 1e-4 at least. */
#include "outsourced/open/averaging_state.h"

#include "outsourced/open/averaging_kernel.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = TACET__AVERAGING_BLOCK,
    MANY = 4,
    /* Degrees of freedom of a value about its prediction: one-step-ahead errors on 19 tables have a kurtosis of 3.7 to
     * 3.9 (README.md, "Intervals"), that of Student's law with 11. Even, so that the law is a short sum. */
    TAIL = 10
};
static const double NEGLIGIBLE = 1e-4; /* of the best draw's likelihood */

/* k[i] = kernel of `here` and rows from..from+m. */
TACET__CLONES
static void kernel_block(const double *restrict x, size_t stride, size_t d, const double *restrict inverse,
                         const double *restrict here, size_t step, size_t from, size_t m, double *restrict k) {
    for (size_t i = 0; i < m; i++) {
        k[i] = 0;
    }
    for (size_t a = 0; a < d; a++) {
        const double *restrict column = x + a * stride + from;
        const double at = here[a * step];
        const double scale = inverse[a];
        for (size_t i = 0; i < m; i++) {
            const double u = (column[i] - at) * scale;
            k[i] += u * u;
        }
    }
    for (size_t i = 0; i < m; i++) {
        k[i] = tacet__matern52(k[i]);
    }
}

void tacet__averaging_kernel(const tacet__averaging *l, const tacet__draw *r, size_t row, const double *x,
                             size_t stride, size_t from, size_t m, double *k) {
    kernel_block(x + r->first * stride, stride, l->d, r->inverse, l->x + r->first * l->n + row, l->n, from, m, k);
}

/* sum[r][i] += c[r][l] U[l][i] for r < many, rows l < count: each row of U is read once for all of them. Same numbers
 * in the same order whatever `many` is, so that the bits do not tell how many were taken together. */
TACET__INLINE void add_rows(const float *restrict U, size_t count, const double *const *c, size_t many,
                            double (*restrict sum)[BLOCK]) {
    size_t l = 0;
    for (; l + 4 <= count; l += 4) {
        const float *restrict u = U + l * BLOCK;
        double at[MANY][4];
        for (size_t r = 0; r < many; r++) {
            memcpy(at[r], c[r] + l, sizeof at[r]);
        }
        for (size_t i = 0; i < BLOCK; i++) {
            const double u0 = (double)u[i];
            const double u1 = (double)u[BLOCK + i];
            const double u2 = (double)u[2 * BLOCK + i];
            const double u3 = (double)u[3 * BLOCK + i];
            for (size_t r = 0; r < many; r++) {
                sum[r][i] += (at[r][0] * u0 + at[r][1] * u1) + (at[r][2] * u2 + at[r][3] * u3);
            }
        }
    }
    for (; l < count; l++) {
        const float *restrict u = U + l * BLOCK;
        for (size_t r = 0; r < many; r++) {
            const double at = c[r][l];
            for (size_t i = 0; i < BLOCK; i++) {
                sum[r][i] += at * (double)u[i];
            }
        }
    }
}

TACET__CLONES
static void add_to_one(const float *restrict U, size_t count, const double *const *c, double (*restrict sum)[BLOCK]) {
    add_rows(U, count, c, 1, sum);
}

TACET__CLONES
static void add_to_two(const float *restrict U, size_t count, const double *const *c, double (*restrict sum)[BLOCK]) {
    add_rows(U, count, c, 2, sum);
}

TACET__CLONES
static void add_to_many(const float *restrict U, size_t count, const double *const *c, double (*restrict sum)[BLOCK]) {
    add_rows(U, count, c, MANY, sum);
}

typedef struct sums {
    double squares[BLOCK], ones[BLOCK], mean[BLOCK];
} sums;

/* Row j of U for one block, and what it adds to the sums; done: what the rows before it take off it. */
static void solve_row(const tacet__averaging *l, const tacet__draw *r, float *U, size_t j, const double *done,
                      size_t from, size_t m, sums *s) {
    double k[BLOCK];
    tacet__averaging_kernel(l, r, l->rows[j], l->near, l->listed, from, m, k);
    const double inverse = 1 / r->L[j * (j + 1) / 2 + j];
    float *out = U + j * BLOCK;
    for (size_t i = 0; i < m; i++) {
        out[i] = (float)((k[i] - done[i]) * inverse);
        const double u = (double)out[i];
        s->squares[i] += u * u;
        s->ones[i] += u * r->ones[j];
    }
    memset(out + m, 0, (BLOCK - m) * sizeof *out);
}

/* Rows have..count of U for one block, then the mean: s->squares and s->ones are brought up to date. The last row is
 * always taken by itself, together with the mean of those before it: the usual round reads U once. */
static void solve_block(const tacet__averaging *l, const tacet__draw *r, float *U, size_t have, size_t from, size_t m,
                        const double *weights, sums *s) {
    const size_t last = l->count - 1;
    double done[MANY][BLOCK];
    const double *c[MANY] = {weights};
    memset(done, 0, sizeof done);
    for (size_t j = have; j < last;) {
        const bool many = j % MANY == 0 && j + MANY <= last;
        const size_t rows = many ? MANY : 1;
        for (size_t k = 0; k < rows; k++) {
            c[k] = r->L + (j + k) * (j + k + 1) / 2;
        }
        if (many) {
            add_to_many(U, j, c, done);
        }
        for (size_t k = 0; k < rows; k++) {
            const size_t before = many ? j : 0;
            const double *rest = c[k] + before;
            add_to_one(U + before * BLOCK, j + k - before, &rest, done + k);
            solve_row(l, r, U, j + k, done[k], from, m, s);
        }
        memset(done, 0, sizeof done);
        j += rows;
    }
    c[0] = weights;
    c[1] = r->L + last * (last + 1) / 2;
    if (have <= last) {
        add_to_two(U, last, c, done);
        solve_row(l, r, U, last, done[1], from, m, s);
    } else {
        add_to_one(U, last, c, done);
    }
    for (size_t i = 0; i < m; i++) {
        s->mean[i] = done[0][i] + weights[last] * (double)U[last * BLOCK + i];
    }
}

static tacet__shelf *shelf_of(tacet__averaging *l, size_t draw) {
    tacet__shelf *oldest = NULL;
    for (size_t s = 0; s < l->shelf_count; s++) {
        tacet__shelf *at = &l->shelves[s];
        if (at->draw == draw) {
            at->used = l->round;
            return at;
        }
        if (at->used < l->round && (oldest == NULL || at->draw == SIZE_MAX || at->used < oldest->used)) {
            oldest = at;
        }
    }
    if (oldest != NULL) {
        oldest->draw = draw;
        oldest->have = 0;
        oldest->used = l->round;
    }
    return oldest;
}

TACET__CLONES
static void score_block(const tacet__draw *r, double weight, const sums *restrict s, size_t m, double best,
                        bool of_value, double *restrict score, double *restrict moment, double *restrict second) {
    const double level = r->mean;
    const double s2 = r->s2;
    const double oo = r->oo;
    const double own = s2 * r->nugget;
    const double added = of_value ? own : 1e-12;
    for (size_t i = 0; i < m; i++) {
        const double gap = 1 - s->ones[i];
        const double mean = level + s->mean[i];
        const double left = 1 - s->squares[i] + gap * gap / oo;
        const double v = s2 * (left > 0 ? left : 0);
        score[i] += weight * tacet__improvement(mean - best, sqrt(v + added));
        moment[i] += weight * mean;
        second[i] += weight * (mean * mean + (v + own));
    }
}

static void sweep_draw(tacet__averaging *l, size_t number, double weight, double best) {
    const tacet__draw *r = &l->draws[number];
    tacet__shelf *shelf = shelf_of(l, number);
    double *weights = l->work;
    sums s;
    for (size_t j = 0; j < l->count; j++) {
        weights[j] = r->solved[j] - r->mean * r->ones[j];
    }
    for (size_t from = 0; from < l->listed; from += BLOCK) {
        const size_t m = l->listed - from < BLOCK ? l->listed - from : BLOCK;
        float *U = shelf != NULL ? shelf->U + from * l->horizon : l->scratch;
        const size_t have = shelf != NULL ? shelf->have : 0;
        memset(&s, 0, sizeof s);
        if (have > 0) {
            memcpy(s.squares, shelf->squares + from, m * sizeof *s.squares);
            memcpy(s.ones, shelf->ones + from, m * sizeof *s.ones);
        }
        solve_block(l, r, U, have, from, m, weights, &s);
        if (shelf != NULL) {
            memcpy(shelf->squares + from, s.squares, m * sizeof *s.squares);
            memcpy(shelf->ones + from, s.ones, m * sizeof *s.ones);
        }
        score_block(r, weight, &s, m, best, l->of_value, l->score + from, l->moment + from, l->second + from);
    }
    if (shelf != NULL) {
        shelf->have = l->count;
    }
}

void tacet__averaging_sweep(tacet__averaging *l, double best) {
    l->round++;
    memset(l->score, 0, l->listed * sizeof *l->score);
    memset(l->moment, 0, l->listed * sizeof *l->moment);
    memset(l->second, 0, l->listed * sizeof *l->second);
    /* Shelves that hold one of the best are not given away to another of them. */
    for (size_t b = 0; b < l->best_count; b++) {
        for (size_t s = 0; s < l->shelf_count; s++) {
            if (l->shelves[s].draw == l->best[b]) {
                l->shelves[s].used = l->round;
            }
        }
    }
    for (size_t b = 0; b < l->best_count; b++) {
        sweep_draw(l, l->best[b], l->weight[b], best);
    }
}

/* Mean and variance of the function at one row, by one draw: with u = L^-1 k they are mean + u'L^-1 (y - mean) and
 * s2 (1 - u'u + (1 - 1'K^-1 k)^2 / 1'K^-1 1). The last term is what it costs that the constant mean is estimated from
 * the same values (universal kriging): without it rows far from all others would look surer than they are. */
static void predict(const tacet__averaging *l, const tacet__draw *r, size_t row, double *mean, double *variance) {
    double *u = l->work;
    double squares = 0;
    double ones = 0;
    *mean = r->mean;
    for (size_t j = 0; j < l->count; j++) {
        const double *L = r->L + j * (j + 1) / 2;
        double k = 0;
        tacet__averaging_kernel(l, r, l->rows[j], l->x, l->n, row, 1, &k);
        for (size_t i = 0; i < j; i++) {
            k -= L[i] * u[i];
        }
        u[j] = k / L[j];
        squares += u[j] * u[j];
        ones += u[j] * r->ones[j];
        *mean += u[j] * (r->solved[j] - r->mean * r->ones[j]);
    }
    const double gap = 1 - ones;
    *variance = r->s2 * fmax(0, 1 - squares + gap * gap / r->oo);
}

double tacet__averaging_bound(tacet__averaging *l, size_t row, double width) {
    double bound = 0;
    for (size_t b = 0; b < l->best_count; b++) {
        double mean = 0;
        double variance = 0;
        predict(l, &l->draws[l->best[b]], row, &mean, &variance);
        bound += l->weight[b] * (mean + width * sqrt(variance));
    }
    return bound;
}

double tacet__averaging_variance(tacet__averaging *l, size_t row) {
    double first = 0;
    double second = 0;
    for (size_t b = 0; b < l->best_count; b++) {
        const tacet__draw *r = &l->draws[l->best[b]];
        double mean = 0;
        double variance = 0;
        predict(l, r, row, &mean, &variance);
        first += l->weight[b] * mean;
        second += l->weight[b] * (mean * mean + variance + r->s2 * r->nugget);
    }
    return second - first * first;
}

/* --- intervals ---------------------------------------------------------------------------------------------------- */

/* One part of a law: Student's, with TAIL degrees of freedom. */
typedef struct part {
    double weight, mean, sd;
} part;

/* Distribution function of Student's law for an even number of degrees of freedom (Abramowitz, Stegun 26.7.4). */
static double student(double x) {
    const double root = x / sqrt(TAIL + x * x);
    const double square = 1 - root * root;
    double term = 1;
    double sum = 1;
    for (int k = 2; k < TAIL; k += 2) {
        term *= square * (double)(k - 1) / (double)k;
        sum += term;
    }
    return 0.5 * (1 + root * sum);
}

static double below(const part *parts, size_t count, double y) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += parts[i].weight * student((y - parts[i].mean) / parts[i].sd);
    }
    return sum;
}

/* The quantile, between ends that are far outside. */
static double quantile(const part *parts, size_t count, double share) {
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, parts[i].mean - 100 * parts[i].sd);
        high = fmax(high, parts[i].mean + 100 * parts[i].sd);
    }
    for (int step = 0; step < 60; step++) {
        const double middle = 0.5 * (low + high);
        if (below(parts, count, middle) < share) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

void tacet__averaging_interval(const tacet__averaging *l, size_t row, double share, double *low, double *high) {
    part parts[TACET__AVERAGING_DRAWS + 1];
    size_t count = 0;
    double sum = 0;
    const double t = (double)l->count;
    const double top = l->draws[l->best[0]].fit;
    for (size_t m = 0; m < l->draw_count; m++) {
        const tacet__draw *r = &l->draws[m];
        part *p = &parts[count];
        double variance = 0;
        p->weight = r->out ? 0 : exp(r->fit - top);
        if (p->weight > NEGLIGIBLE) {
            predict(l, r, row, &p->mean, &variance);
            p->sd = sqrt(variance + r->s2 * r->nugget);
            sum += p->weight;
            count++;
        }
    }
    /* Even odds before the first value: the probability of a relation is the Bayes factor over itself plus one. */
    const double related = 1 / (1 + exp(-l->evidence));
    for (size_t i = 0; i < count; i++) {
        parts[i].weight *= related / sum;
    }
    parts[count++] = (part){1 - related, 0, sqrt((t + 1) / fmax(1, t - 1))}; /* y has mean 0, variance 1 */
    *low = tacet__averaging_back(l, quantile(parts, count, 0.5 * (1 - share)));
    *high = tacet__averaging_back(l, quantile(parts, count, 0.5 * (1 + share)));
}
