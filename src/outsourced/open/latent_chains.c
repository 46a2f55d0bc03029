/* SPDX-License-Identifier: Apache-2.0 */
/* latent_chains.c - Markov chains over the unknown positions of the measured rows, with f integrated out.
 * Ring: open.
 * Method: given the positions, y is Gaussian with covariance K(X, X) + nu I. A Gibbs move of one position draws
 * candidates from p(x_j | z_j), keeps the current one among them, and picks by the predictive density of y_j given the
 * other rows at each candidate: the picked position is again a draw from the posterior (iterated sampling importance
 * resampling, Andrieu, Lee, Vihola 2018, with the prior as proposal). The inverse covariance follows by rank-one
 * changes and is computed afresh from the positions for every measurement, so that a saved state continues bit for bit.
 * nu exceeds the noise of a measurement by a slack, which lets positions pass each other while little is known and is
 * taken back as measurements come: with it, f looks uncertain where it was measured many times.
 * Cost: O(candidates t^2) per move, O(t^3) per chain and measurement. */
#include "outsourced/open/latent_state.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Measurements up to which the slack stays whole; it then falls with the square of their number. */
static const double WHOLE_SLACK = 20;

void tacet__chains_settle(tacet__chains *chains, size_t t) {
    const double share = t > 0 ? fmin(1, WHOLE_SLACK / (double)t) : 1;
    chains->nugget = chains->noise_var + chains->slack * share * share;
}

tacet_status tacet__chains_init(tacet__chains *chains, const tacet_modeler_settings *s, double nugget,
                                tacet_error *err) {
    memset(chains, 0, sizeof *chains);
    const size_t t = s->horizon;
    const size_t q = s->candidates + 1;
    size_t square = 0;
    size_t block = 0;
    size_t positions = 0;
    if (!tacet__size_mul(&square, t, t) || !tacet__size_mul(&block, t, q) ||
        !tacet__size_mul(&positions, t * s->d, s->chains)) {
        return tacet__fail(err, TACET_OVERFLOW, "%zu measurements in %zu chains are too many", t, s->chains);
    }
    chains->d = s->d;
    chains->capacity = t;
    chains->count = s->chains;
    chains->candidates = s->candidates;
    chains->moves = s->moves;
    chains->signal_var = s->kernel->signal_var;
    chains->noise_var = fmin(nugget, s->noise_var);
    chains->slack = nugget - chains->noise_var;
    tacet__chains_settle(chains, 0);
    chains->row = TACET__ZALLOC(size_t, t);
    chains->y = TACET__ZALLOC(double, t);
    chains->x = TACET__ZALLOC(double, positions);
    chains->inverse = TACET__ALIGNED(double, square);
    chains->cut = TACET__ALIGNED(double, square);
    chains->tried = TACET__ALIGNED(double, q * s->d);
    chains->cov = TACET__ALIGNED(double, block);
    chains->solved = TACET__ALIGNED(double, block);
    chains->column = TACET__ALIGNED(double, t);
    chains->logweight = TACET__ALIGNED(double, q);
    if (chains->row == NULL || chains->y == NULL || chains->x == NULL || chains->inverse == NULL ||
        chains->cut == NULL || chains->tried == NULL || chains->cov == NULL || chains->solved == NULL ||
        chains->column == NULL || chains->logweight == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the position chains");
    }
    tacet_simrng_init(&chains->rng, s->seed, 0);
    return TACET_OK;
}

void tacet__chains_clear(tacet__chains *chains) {
    free(chains->row);
    free(chains->y);
    free(chains->x);
    free(chains->inverse);
    free(chains->cut);
    free(chains->tried);
    free(chains->cov);
    free(chains->solved);
    free(chains->column);
    free(chains->logweight);
    memset(chains, 0, sizeof *chains);
}

TACET__CLONES static void se_row(double *restrict k, const double *restrict X, size_t ld, size_t d, const double *x,
                                 size_t t, double var) {
    const double x0 = x[0];
    for (size_t j = 0; j < t; j++) {
        const double u = X[j] - x0;
        k[j] = u * u;
    }
    for (size_t a = 1; a < d; a++) {
        const double *restrict Xa = X + a * ld;
        const double xa = x[a];
        for (size_t j = 0; j < t; j++) {
            const double u = Xa[j] - xa;
            k[j] += u * u;
        }
    }
    for (size_t j = 0; j < t; j++) {
        k[j] = var * tacet__vexp(-0.5 * k[j]);
    }
}

/* out (t) = k(x, X_p). */
static void chain_cov(const tacet__chains *chains, double *out, size_t p, const double *x, size_t t) {
    const size_t d = chains->d;
    se_row(out, chains->x + p * d * chains->capacity, chains->capacity, d, x, t, chains->signal_var);
}

void tacet__chains_where(const tacet__chains *chains, double *x, size_t p, size_t j) {
    for (size_t a = 0; a < chains->d; a++) {
        x[a] = chains->x[(p * chains->d + a) * chains->capacity + j];
    }
}

static void put(tacet__chains *chains, size_t p, size_t j, const double *x) {
    for (size_t a = 0; a < chains->d; a++) {
        chains->x[(p * chains->d + a) * chains->capacity + j] = x[a];
    }
}

void tacet__chains_gram(const tacet__chains *chains, double *K, size_t p, size_t t) {
    for (size_t j = 0; j < t; j++) {
        double x[TACET__AXES];
        tacet__chains_where(chains, x, p, j);
        chain_cov(chains, K + j * t, p, x, t);
        K[j * t + j] += chains->nugget;
    }
}

tacet_status tacet__chains_invert(tacet__chains *chains, size_t p, size_t t, tacet_error *err) {
    double *K = chains->inverse;
    tacet__chains_gram(chains, K, p, t);
    const tacet_status status = tacet__cholesky(K, t, t, chains->cut, NULL, err);
    return status != TACET_OK ? status : tacet__chol_inverse(t, K, t, err);
}

/* Index with probability proportional to exp(logweight). */
static size_t pick(tacet_simrng *rng, double *logweight, size_t count) {
    double top = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        top = fmax(top, logweight[i]);
    }
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        logweight[i] = exp(logweight[i] - top);
        total += logweight[i];
    }
    double u = total * tacet_simrng_uniform(rng);
    size_t c = 0;
    while (c + 1 < count && u >= logweight[c]) {
        u -= logweight[c++];
    }
    return c;
}

/* Weighs `count` tried positions of row j by the predictive density of its value. P: t x t inverse covariance of the
 * others, zero in row and column j where j < t. */
static void weigh(tacet__chains *chains, const double *P, size_t p, size_t j, size_t t, size_t count) {
    for (size_t c = 0; c < count; c++) {
        chain_cov(chains, chains->cov + c * t, p, chains->tried + c * chains->d, t);
    }
    tacet__gemm(false, false, t, count, t, 1.0, P, t, chains->cov, t, 0.0, chains->solved, t);
    const double least = chains->nugget + 1e-12 * chains->signal_var;
    for (size_t c = 0; c < count; c++) {
        const double mean = tacet__dot(chains->solved + c * t, chains->y, t);
        const double var = fmax(least, chains->signal_var + chains->nugget -
                                           tacet__dot(chains->solved + c * t, chains->cov + c * t, t));
        const double e = chains->y[j] - mean;
        chains->logweight[c] = -0.5 * (e * e / var + log(var));
    }
}

void tacet__chains_move(tacet__chains *chains, const tacet__rows *rows, size_t p, size_t j) {
    const size_t t = chains->t;
    const size_t d = chains->d;
    double *P = chains->inverse;
    double *B = chains->cut;
    tacet__chains_where(chains, chains->tried, p, j);
    for (size_t c = 1; c <= chains->candidates; c++) {
        tacet__rows_draw(rows, &chains->rng, chains->row[j], chains->tried + c * d);
    }
    memcpy(B, P, t * t * sizeof *B);
    const double *Pj = P + j * t;
    for (size_t i = 0; i < t; i++) {
        tacet__axpy(B + i * t, -Pj[i] / Pj[j], Pj, t);
    }
    for (size_t i = 0; i < t; i++) {
        B[i * t + j] = 0;
        B[j * t + i] = 0;
    }
    weigh(chains, B, p, j, t, chains->candidates + 1);
    const size_t c = pick(&chains->rng, chains->logweight, chains->candidates + 1);
    if (c == 0) {
        return;
    }
    put(chains, p, j, chains->tried + c * d);
    /* Put row j back at its new place: P = B + (e_j - h)(e_j - h)'/s, h = B k, s = k(x,x) + nu - k'h. */
    double *h = chains->column;
    memcpy(h, chains->solved + c * t, t * sizeof *h);
    double *k = chains->cov + c * t;
    k[j] = 0;
    const double s =
        fmax(chains->nugget + 1e-12 * chains->signal_var, chains->signal_var + chains->nugget - tacet__dot(k, h, t));
    h[j] = -1;
    memcpy(P, B, t * t * sizeof *P);
    for (size_t i = 0; i < t; i++) {
        tacet__axpy(P + i * t, h[i] / s, h, t);
    }
}

/* The new row t at tried position c: inverse becomes that of t + 1 rows, by bordering. */
static void border(tacet__chains *chains, size_t t, size_t c) {
    const size_t wide = t + 1;
    const double *h = chains->solved + c * t;
    const double total = chains->signal_var + chains->nugget;
    const double least = chains->nugget + 1e-12 * chains->signal_var;
    const double s = t > 0 ? fmax(least, total - tacet__dot(chains->cov + c * t, h, t)) : total;
    double *B = chains->cut;
    for (size_t i = 0; i < t; i++) {
        memcpy(B + i * wide, chains->inverse + i * t, t * sizeof *B);
        tacet__axpy(B + i * wide, h[i] / s, h, t);
        B[i * wide + t] = -h[i] / s;
        B[t * wide + i] = -h[i] / s;
    }
    B[t * wide + t] = 1 / s;
    chains->cut = chains->inverse;
    chains->inverse = B;
}

static tacet_status observe_in(tacet__chains *chains, const tacet__rows *rows, size_t p, tacet_error *err) {
    const size_t t = chains->t;
    const tacet_status status = t > 0 ? tacet__chains_invert(chains, p, t, err) : TACET_OK;
    if (status != TACET_OK) {
        return status;
    }
    for (size_t c = 0; c < chains->candidates; c++) {
        tacet__rows_draw(rows, &chains->rng, chains->row[t], chains->tried + c * chains->d);
    }
    size_t c = 0;
    if (t > 0) {
        weigh(chains, chains->inverse, p, t, t, chains->candidates);
        c = pick(&chains->rng, chains->logweight, chains->candidates);
    }
    put(chains, p, t, chains->tried + c * chains->d);
    border(chains, t, c);
    chains->t = t + 1;
    for (size_t m = 0; m < chains->moves; m++) {
        tacet__chains_move(chains, rows, p, tacet_simrng_below(&chains->rng, t + 1));
    }
    chains->t = t;
    return TACET_OK;
}

tacet_status tacet__chains_observe(tacet__chains *chains, const tacet__rows *rows, size_t row, double y,
                                   tacet_error *err) {
    const size_t t = chains->t;
    chains->row[t] = row;
    chains->y[t] = y;
    tacet__chains_settle(chains, t + 1);
    for (size_t p = 0; p < chains->count; p++) {
        const tacet_status status = observe_in(chains, rows, p, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    chains->t = t + 1;
    return TACET_OK;
}
