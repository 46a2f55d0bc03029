/* SPDX-License-Identifier: Apache-2.0 */
/* factor.h - factorisations of the prefix-sum matrix, A = B C, both lower triangular.
 *
 * A stream releases y = C x + noise and estimates the sums as B y. A factor knows the numbers of C and B; the streams
 * know the data. Ring: gate. */
#ifndef TACET_SRC_DP_STREAMS_FACTOR_H
#define TACET_SRC_DP_STREAMS_FACTOR_H

#include <stddef.h>
#include <tacet/dp/stream.h>

enum { TACET__BLT_MOST = 6 };
#define TACET__STREAM_MOST ((size_t)1 << 24)

/* BLT: row k of the first column of C is c_0 = 1, c_k = sum_i omega_i theta_i^(k-1); that of C^-1 the same with the
 * inverse's numbers. */
typedef struct tacet__factor {
    tacet_factorization kind;
    size_t most;    /* order of the matrices */
    size_t buffers; /* BLT */
    double theta[TACET__BLT_MOST], omega[TACET__BLT_MOST];
    double theta_inv[TACET__BLT_MOST], omega_inv[TACET__BLT_MOST];
} tacet__factor;

/* Fits BLT (milliseconds, deterministic). INVALID: most, kind. */
tacet_status tacet__factor_init(tacet__factor *factor, tacet_factorization kind, size_t most, tacet_error *err);
/* CORRUPT: not the numbers of a factor: outside their ranges, NaN included. */
tacet_status tacet__factor_check(const tacet__factor *factor, tacet_error *err);
/* Largest L2 norm of a column of C, rounded up. */
double tacet__factor_column(const tacet__factor *factor);
/* Largest sum of the absolute values of a row of C, rounded up. */
double tacet__factor_row_sum(const tacet__factor *factor);
/* Squared L2 norm of row t of B, 1 <= t <= most. O(t) for Toeplitz. */
double tacet__factor_error_sq(const tacet__factor *factor, size_t t);
/* Toeplitz: f_0 … f_(count-1) in reverse order: out[count-1-k] = f_k. */
void tacet__toeplitz_reversed(double *out, size_t count);
/* Fits `buffers` buffers for `most` steps: fills theta, omega and the inverse's. */
void tacet__blt_fit(tacet__factor *factor);
/* Fills the factor from the coordinates of the search (ln of the first gap 1 - theta_1, then ln of the growth from each
 * gap to the next, poles and zeros in turn, 2 buffers numbers) and gives ln of the largest variance at mu = 1; 1e6
 * where that is no factor. */
double tacet__blt_cost(tacet__factor *factor, const double *at);
/* Sums of squares over k < count of c_k and of the partial sums b_k of the inverse's. */
double tacet__blt_column_sq(const tacet__factor *factor, size_t count);
double tacet__blt_error_sq(const tacet__factor *factor, size_t count);

#endif
