/* SPDX-License-Identifier: Apache-2.0 */
/* averaging_prior.c - what the averaging modeler knows before the first value: positions and hyper-parameters.
 * Ring: open. In: released rows. A row z = x + noise of known covariance N is moved to the best linear predictor of x,
 * m + B (z - m) with B = P (P + N)^-1, P = cov(z) - N with its eigenvalues kept above a fiftieth of the mean variance:
 * a Gaussian process on predicted positions loses nothing to one with errors in variables once its lengthscales are
 * averaged over, since the noise that remains only lengthens them and adds to the nugget.
 * Rows of several holders have one P, from all of them and their average noise, and a B each, by their own.
 * A fifth of the draws see ranks in place of positions: which scale a column wants is not known, and a table whose good
 * rows crowd into a corner is searched by nobody who keeps to its own. Cost: O(n d^2 + n d log n + d^3), once. */
#include "outsourced/open/averaging_state.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

static const double LEAST_SHARE = 0.02;  /* of the mean variance, for an eigenvalue of P */
static const double LEAST_SPREAD = 0.04; /* of a coordinate's variance, for what its noise leaves */
static const double LENGTH_MEDIAN = 2;   /* times sqrt(d), in standard deviations of a coordinate */
static const double LENGTH_AXIS = 0.7;   /* spread of the logarithm of one axis against the others */
static const double NUGGET_MEDIAN = 0.05;
static const double NUGGET_SPREAD = 2;
static const double NUGGET_LEAST = 1e-4;
static const uint64_t AVERAGING_SEED = 20; /* of the one set of draws there is */

/* Mean and covariance of the rows in box coordinates: lower triangle of S. */
static void moments(const tacet__averaging *l, double *mean, double *S) {
    const size_t d = l->d;
    for (size_t a = 0; a < d; a++) {
        double sum = 0;
        for (size_t i = 0; i < l->n; i++) {
            sum += l->x[a * l->n + i];
        }
        mean[a] = sum / (double)l->n;
    }
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t i = 0; i < l->n; i++) {
                sum += (l->x[a * l->n + i] - mean[a]) * (l->x[b * l->n + i] - mean[b]);
            }
            S[b * d + a] = S[a * d + b] = sum / (double)l->n;
        }
    }
}

/* P in place of S: what the noise, on average over all rows, leaves of their covariance. V: d x d of room; w: d. */
static tacet_status clear_covariance(double *S, double *V, double *w, const double *noise_var, size_t d,
                                     tacet_error *err) {
    double trace = 0;
    for (size_t a = 0; a < d; a++) {
        trace += S[a * d + a];
        for (size_t b = 0; b < d; b++) {
            V[a * d + b] = S[a * d + b] - (a == b ? noise_var[a] : 0);
        }
    }
    const double least = fmax(LEAST_SHARE * trace / (double)d, 1e-300);
    const tacet_status status = tacet__eigh(V, d, d, w, err);
    for (size_t a = 0; status == TACET_OK && a < d; a++) {
        for (size_t b = 0; b < d; b++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++) {
                sum += V[k * d + a] * V[k * d + b] * fmax(w[k], least);
            }
            S[b * d + a] = sum;
        }
    }
    return status;
}

/* B = P (P + N)^-1 for one holder's noise. A: d x d of room. */
static tacet_status shrinkage(double *B, double *A, const double *P, const double *noise, size_t d, tacet_error *err) {
    memcpy(A, P, d * d * sizeof *A);
    memcpy(B, P, d * d * sizeof *B);
    for (size_t a = 0; a < d; a++) {
        A[a * d + a] += noise[a] * noise[a];
    }
    const tacet_status status = tacet__cholesky(A, d, d, NULL, NULL, err);
    for (size_t a = 0; status == TACET_OK && a < d; a++) {
        tacet__chol_solve(d, A, d, B + a * d); /* column a of A^-1 P: row a of B */
    }
    return status;
}

/* Rows from..to, one at a time: predicted, then kept in the box. */
static void predict_positions(const tacet__averaging *l, size_t from, size_t to, const double *mean, const double *B,
                              bool clip, double *at) {
    const size_t d = l->d;
    for (size_t i = from; i < to; i++) {
        for (size_t a = 0; a < d; a++) {
            double sum = mean[a];
            for (size_t b = 0; b < d; b++) {
                sum += B[a * d + b] * (l->x[b * l->n + i] - mean[b]);
            }
            at[a] = clip ? fmin(fmax(sum, 0), 1) : sum;
        }
        for (size_t a = 0; a < d; a++) {
            l->x[a * l->n + i] = at[a];
        }
    }
}

/* Coordinates of the box [0, 1]^d: the public one, else that of the rows themselves. */
static void into_box(tacet__averaging *l, double *noise, const double *rows, size_t ld, const double *sd,
                     const double *low, const double *high) {
    for (size_t a = 0; a < l->d; a++) {
        double least = low != NULL ? low[a] : INFINITY;
        double most = high != NULL ? high[a] : -INFINITY;
        for (size_t i = 0; i < l->n && (low == NULL || high == NULL); i++) {
            least = fmin(least, rows[i * ld + a]);
            most = fmax(most, rows[i * ld + a]);
        }
        const double width = most > least ? most - least : 1;
        for (size_t i = 0; i < l->n; i++) {
            l->x[a * l->n + i] = (rows[i * ld + a] - least) / width;
        }
        for (size_t h = 0; h < l->holders; h++) {
            noise[h * l->d + a] = sd[h * l->d + a] / width;
        }
    }
}

typedef struct ranked {
    double at;
    size_t row;
} ranked;

static int by_place(const void *a, const void *b) {
    const ranked *p = a;
    const ranked *q = b;
    return p->at != q->at ? (p->at > q->at) - (p->at < q->at) : (p->row > q->row) - (p->row < q->row);
}

/* Axes d to 2 d - 1: the rank of a row on each axis, equal places sharing the middle one, with the axis' own variance.
 * On them no row lies apart, so that a search cannot spend itself on the few rows of a long tail. */
static tacet_status add_ranks(tacet__averaging *l, tacet_error *err) {
    if (l->axes == l->d) {
        return TACET_OK;
    }
    ranked *order = TACET__ZALLOC(ranked, l->n);
    if (order == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory ranking %zu rows", l->n);
    }
    for (size_t a = 0; a < l->d; a++) {
        const double *x = l->x + a * l->n;
        double *rank = l->x + (l->d + a) * l->n;
        double mean = 0;
        double square = 0;
        double ranks = 0;
        for (size_t i = 0; i < l->n; i++) {
            order[i] = (ranked){x[i], i};
            mean += x[i] / (double)l->n;
        }
        qsort(order, l->n, sizeof *order, by_place);
        for (size_t i = 0, end = 0; i < l->n; i = end) {
            while (end < l->n && order[end].at == order[i].at) {
                end++;
            }
            const double middle = 0.5 * (double)(i + end) - 0.5 * (double)l->n;
            for (size_t k = i; k < end; k++) {
                rank[order[k].row] = middle;
                ranks += middle * middle;
                square += (x[order[k].row] - mean) * (x[order[k].row] - mean);
            }
        }
        for (size_t i = 0; i < l->n; i++) {
            rank[i] *= ranks > 0 ? sqrt(square / ranks) : 0;
        }
    }
    free(order);
    return TACET_OK;
}

tacet_status tacet__averaging_place(tacet__averaging *l, const double *rows, size_t ld, const double *sd,
                                    const double *low, const double *high, bool shrink, tacet_error *err) {
    const size_t d = l->d;
    double *room = TACET__ZALLOC(double, 3 * d * d + (5 + l->holders) * d);
    if (room == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory placing %zu rows", l->n);
    }
    double *S = room;
    double *V = S + d * d;
    double *A = V + d * d;
    double *mean = A + d * d;
    double *w = mean + d;
    double *noise_var = w + d;
    double *spread = noise_var + d;
    double *at = spread + d;
    double *noise = at + d; /* d x holders */
    into_box(l, noise, rows, ld, sd, low, high);
    moments(l, mean, S);
    for (size_t a = 0; a < d; a++) {
        const double variance = S[a * d + a];
        for (size_t h = 0; h < l->holders; h++) {
            const double share = (double)(l->ends[h] - (h > 0 ? l->ends[h - 1] : 0)) / (double)l->n;
            noise_var[a] += share * noise[h * d + a] * noise[h * d + a];
        }
        const double left = fmax(variance - noise_var[a], LEAST_SPREAD * variance);
        spread[a] = left > 0 ? sqrt(left) : 1;
    }
    tacet_status status = TACET_OK;
    if (shrink) {
        status = clear_covariance(S, V, w, noise_var, d, err);
        for (size_t h = 0; status == TACET_OK && h < l->holders; h++) {
            status = shrinkage(V, A, S, noise + h * d, d, err);
            if (status == TACET_OK) {
                predict_positions(l, h > 0 ? l->ends[h - 1] : 0, l->ends[h], mean, V, low != NULL && high != NULL, at);
            }
        }
    }
    for (size_t a = 0; a < d; a++) {
        for (size_t i = 0; i < l->n; i++) {
            l->x[a * l->n + i] /= spread[a];
        }
    }
    free(room);
    return status == TACET_OK ? add_ranks(l, err) : status;
}

/* A rational start (Abramowitz, Stegun 26.2.23, error below 5e-4), then Halley's method on the distribution function:
 * two steps reach the precision of erfc. */
double tacet__averaging_quantile(double p) {
    const double tail = p < 0.5 ? p : 1 - p;
    const double t = sqrt(-2 * log(tail));
    double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
               t; /* of the lower tail */
    for (int step = 0; step < 3; step++) {
        const double off = 0.5 * erfc(-x * M_SQRT1_2) - tail;
        const double u = off * sqrt(2 * M_PI) * exp(0.5 * x * x);
        x -= u / (1 + 0.5 * x * u);
    }
    return p < 0.5 ? x : -x;
}

/* A Latin hypercube in d + 2 coordinates: each has its own order of the same strata, so that every marginal is the
 * prior's, whatever the dimension. */
static void draw_some(const tacet__averaging *l, tacet__draw *draws, size_t m, size_t first) {
    tacet_simrng rng;
    size_t order[TACET__AVERAGING_DRAWS];
    for (size_t c = 0; c < l->d + 2; c++) {
        tacet_simrng_init(&rng, AVERAGING_SEED, c);
        for (size_t i = 0; i < m; i++) {
            const size_t j = tacet_simrng_below(&rng, i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (size_t i = 0; i < m; i++) {
            const double q = tacet__averaging_quantile(((double)order[i] + 0.5) / (double)m);
            tacet__draw *r = &draws[i];
            r->first = first;
            if (c == 0) {
                for (size_t a = 0; a < l->d; a++) {
                    r->inverse[a] = exp(-q) / (LENGTH_MEDIAN * sqrt((double)l->d));
                }
            } else if (c == 1) {
                r->nugget = fmax(NUGGET_LEAST, NUGGET_MEDIAN * exp(NUGGET_SPREAD * q));
            } else {
                r->inverse[c - 2] *= exp(-LENGTH_AXIS * q);
            }
        }
    }
}

void tacet__averaging_draw(tacet__averaging *l) {
    const size_t ranks = l->axes > l->d ? l->draw_count / 5 : 0;
    draw_some(l, l->draws, l->draw_count - ranks, 0);
    draw_some(l, l->draws + (l->draw_count - ranks), ranks, l->d);
}
