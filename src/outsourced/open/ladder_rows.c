/* SPDX-License-Identifier: Apache-2.0 */
/* ladder_rows.c - what the few best rungs say of every row.
 * Ring: open. u_i = L^-1 k_i for all rows i of a rung lies on a shelf, in blocks, and grows by one row a value, so that
 * a round costs O(6 n t): one pass over the shelves, in which the new row of U and the mean are made together. A rung
 * that enters the best six, or has no shelf because memory is short, is solved from the start: O(n t^2 / 2). U is kept
 * in single precision and summed in double: the nugget is 1e-4 at least. */
#include "outsourced/open/ladder_state.h"

#include "outsourced/open/ladder_kernel.h"

#include <math.h>
#include <string.h>

enum { BLOCK = TACET__LADDER_BLOCK, MANY = 4 };

/* k[i] = kernel of value j's row and rows from..from+m. */
TACET__CLONES
static void kernel_block(const double *restrict x, size_t n, size_t d, const double *restrict inverse, size_t at,
                         size_t from, size_t m, double *restrict k) {
    for (size_t i = 0; i < m; i++) {
        k[i] = 0;
    }
    for (size_t a = 0; a < d; a++) {
        const double *restrict column = x + a * n + from;
        const double here = x[a * n + at];
        const double scale = inverse[a];
        for (size_t i = 0; i < m; i++) {
            const double u = (column[i] - here) * scale;
            k[i] += u * u;
        }
    }
    for (size_t i = 0; i < m; i++) {
        k[i] = tacet__matern52(k[i]);
    }
}

/* sum[i] += c[l] U[l][i], rows l < count. */
TACET__CLONES
static void add_rows(const float *restrict U, size_t count, const double *restrict c, double *restrict sum) {
    size_t l = 0;
    for (; l + 4 <= count; l += 4) {
        const float *restrict u = U + l * BLOCK;
        const double c0 = c[l];
        const double c1 = c[l + 1];
        const double c2 = c[l + 2];
        const double c3 = c[l + 3];
        for (size_t i = 0; i < BLOCK; i++) {
            sum[i] += (c0 * (double)u[i] + c1 * (double)u[BLOCK + i]) +
                      (c2 * (double)u[2 * BLOCK + i] + c3 * (double)u[3 * BLOCK + i]);
        }
    }
    for (; l < count; l++) {
        const float *restrict u = U + l * BLOCK;
        const double c0 = c[l];
        for (size_t i = 0; i < BLOCK; i++) {
            sum[i] += c0 * (double)u[i];
        }
    }
}

/* sum[r][i] += c[r][l] U[l][i] for MANY r, rows l < count, a multiple of 4: each row of U is read once for all of
 * them. The same numbers in the same order as add_rows, so that the bits do not tell which of the two was used. */
TACET__CLONES
static void add_rows_to_many(const float *restrict U, size_t count, const double **c, double (*restrict sum)[BLOCK]) {
    for (size_t l = 0; l < count; l += 4) {
        const float *restrict u = U + l * BLOCK;
        double at[MANY][4];
        for (size_t r = 0; r < MANY; r++) {
            memcpy(at[r], c[r] + l, sizeof at[r]);
        }
        for (size_t i = 0; i < BLOCK; i++) {
            const double u0 = (double)u[i];
            const double u1 = (double)u[BLOCK + i];
            const double u2 = (double)u[2 * BLOCK + i];
            const double u3 = (double)u[3 * BLOCK + i];
            for (size_t r = 0; r < MANY; r++) {
                sum[r][i] += (at[r][0] * u0 + at[r][1] * u1) + (at[r][2] * u2 + at[r][3] * u3);
            }
        }
    }
}

typedef struct sums {
    double squares[BLOCK], ones[BLOCK], mean[BLOCK];
} sums;

/* Row j of U for one block, and what it adds to the sums; done: what rows before `from_row` take off it. */
static void solve_row(const tacet__ladder *l, const tacet__rung *r, float *U, size_t j, size_t from_row, double *done,
                      size_t from, size_t m, sums *s) {
    double k[BLOCK];
    const double *row = r->L + j * (j + 1) / 2;
    kernel_block(l->x, l->n, l->d, r->inverse, l->rows[j], from, m, k);
    add_rows(U + from_row * BLOCK, j - from_row, row + from_row, done);
    const double inverse = 1 / row[j];
    float *out = U + j * BLOCK;
    for (size_t i = 0; i < m; i++) {
        out[i] = (float)((k[i] - done[i]) * inverse);
        const double u = (double)out[i];
        s->squares[i] += u * u;
        s->ones[i] += u * r->ones[j];
    }
    memset(out + m, 0, (BLOCK - m) * sizeof *out);
}

/* Rows have..count of U for one block, then the mean: s->squares and s->ones are brought up to date. */
static void solve_block(const tacet__ladder *l, const tacet__rung *r, float *U, size_t have, size_t from, size_t m,
                        const double *weights, sums *s) {
    double done[MANY][BLOCK];
    for (size_t j = have; j < l->count;) {
        const bool many = j % MANY == 0 && j + MANY <= l->count;
        const size_t before = many ? j : 0;
        memset(done, 0, sizeof done);
        if (many) {
            const double *c[MANY];
            for (size_t k = 0; k < MANY; k++) {
                c[k] = r->L + (j + k) * (j + k + 1) / 2;
            }
            add_rows_to_many(U, before, c, done);
        }
        for (size_t k = 0; k < (many ? MANY : 1); k++) {
            solve_row(l, r, U, j + k, before, done[k], from, m, s);
        }
        j += many ? MANY : 1;
    }
    memset(s->mean, 0, sizeof s->mean);
    add_rows(U, l->count, weights, s->mean);
}

/* Expected improvement of N(mean, sd^2) over best. */
static double improvement(double mean, double sd, double best) {
    const double z = (mean - best) / sd;
    return sd * (z * 0.5 * erfc(-z * M_SQRT1_2) + 0.39894228040143267794 * exp(-0.5 * z * z));
}

static tacet__shelf *shelf_of(tacet__ladder *l, size_t rung) {
    tacet__shelf *oldest = NULL;
    for (size_t s = 0; s < l->shelf_count; s++) {
        tacet__shelf *at = &l->shelves[s];
        if (at->rung == rung) {
            at->used = l->round;
            return at;
        }
        if (at->used < l->round && (oldest == NULL || at->rung == SIZE_MAX || at->used < oldest->used)) {
            oldest = at;
        }
    }
    if (oldest != NULL) {
        oldest->rung = rung;
        oldest->have = 0;
        oldest->used = l->round;
    }
    return oldest;
}

static void score_block(tacet__ladder *l, const tacet__rung *r, double weight, const sums *s, size_t from, size_t m,
                        double best) {
    for (size_t i = 0; i < m; i++) {
        const double gap = 1 - s->ones[i];
        const double mean = r->mean + s->mean[i];
        const double v = r->s2 * fmax(0, 1 - s->squares[i] + gap * gap / r->oo);
        const double value_var = v + r->s2 * r->nugget;
        l->score[from + i] += weight * improvement(mean, sqrt(l->of_value ? value_var : v + 1e-12), best);
        l->moment[from + i] += weight * mean;
        l->second[from + i] += weight * (mean * mean + value_var);
    }
}

static void sweep_rung(tacet__ladder *l, size_t number, double weight, double best) {
    const tacet__rung *r = &l->rungs[number];
    tacet__shelf *shelf = shelf_of(l, number);
    double *weights = l->work;
    sums s;
    for (size_t j = 0; j < l->count; j++) {
        weights[j] = r->solved[j] - r->mean * r->ones[j];
    }
    for (size_t from = 0; from < l->n; from += BLOCK) {
        const size_t m = l->n - from < BLOCK ? l->n - from : BLOCK;
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
        score_block(l, r, weight, &s, from, m, best);
    }
    if (shelf != NULL) {
        shelf->have = l->count;
    }
}

void tacet__ladder_sweep(tacet__ladder *l, double best) {
    l->round++;
    memset(l->score, 0, l->n * sizeof *l->score);
    memset(l->moment, 0, l->n * sizeof *l->moment);
    memset(l->second, 0, l->n * sizeof *l->second);
    /* Shelves that hold one of the best are not given away to another of them. */
    for (size_t b = 0; b < l->best_count; b++) {
        for (size_t s = 0; s < l->shelf_count; s++) {
            if (l->shelves[s].rung == l->best[b]) {
                l->shelves[s].used = l->round;
            }
        }
    }
    for (size_t b = 0; b < l->best_count; b++) {
        sweep_rung(l, l->best[b], l->weight[b], best);
    }
}

double tacet__ladder_bound(tacet__ladder *l, size_t row, double width) {
    double *u = l->work;
    double bound = 0;
    for (size_t b = 0; b < l->best_count; b++) {
        const tacet__rung *r = &l->rungs[l->best[b]];
        double mean = r->mean;
        double squares = 0;
        double ones = 0;
        for (size_t j = 0; j < l->count; j++) {
            const double *L = r->L + j * (j + 1) / 2;
            double k = 0;
            kernel_block(l->x, l->n, l->d, r->inverse, l->rows[j], row, 1, &k);
            for (size_t i = 0; i < j; i++) {
                k -= L[i] * u[i];
            }
            u[j] = k / L[j];
            squares += u[j] * u[j];
            ones += u[j] * r->ones[j];
            mean += u[j] * (r->solved[j] - r->mean * r->ones[j]);
        }
        const double gap = 1 - ones;
        bound += l->weight[b] * (mean + width * sqrt(r->s2 * fmax(0, 1 - squares + gap * gap / r->oo)));
    }
    return bound;
}
