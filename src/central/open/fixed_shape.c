/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_shape.c - the most telling release of a batch.
 * Ring: open. In coordinates in which the belief is N(0, I) the batch's second moment has eigenvalues s_j. A release of
 * direction j with a share a_j of the allowed length carries log(1 + n^2 s_j a_j / (noise_var + reward_var n a_j)) / 2
 * nats; the shares, which add up to 1, are filled like water (Gallager 1968, section 7.5, for reward_var = 0).
 * README.md, (g), has the derivation. Cost: O(m^3). */
#include "central/open/fixed_shape.h"

#include <math.h>
#include <string.h>

#include "gp/linalg.h"

enum { HALVINGS = 60 };
static const double LEAST_NOISE = 0.01; /* variance: with less, directions that say nothing would be blown up */

/* The share of a direction at which one more unit of length adds `price` nats (times 2). */
static double share_at(double s, double n, double reward_var, double noise_var, double price) {
    const double b = reward_var * n, c = b + n * n * s, q = n * n * s * noise_var / price;
    const double rest = q - noise_var * noise_var, linear = (b + c) * noise_var;
    if (!(rest > 0)) {
        return 0;
    }
    return 2 * rest / (linear + sqrt(linear * linear + 4 * b * c * rest));
}

static void fill_shares(double *a, const double *s, size_t m, double n, double reward_var, double noise_var) {
    double low = -700, high = log(n * n * fmax(s[m - 1], 1e-300) / noise_var); /* of log price; at high all are 0 */
    low = fmax(low, high - 200);
    for (int i = 0; i < HALVINGS; i++) {
        const double price = exp((low + high) / 2);
        double total = 0;
        for (size_t j = 0; j < m; j++) {
            a[j] = share_at(s[j], n, reward_var, noise_var, price);
            total += a[j];
        }
        if (total > 1) {
            low = (low + high) / 2;
        } else {
            high = (low + high) / 2;
        }
    }
}

tacet_status tacet__fixed_shape(double *A, const double *S, double *P, size_t m, size_t n, double reward_var,
                                double noise_var, double *scratch, tacet_error *err) {
    double *T = scratch, *V = scratch + m * m, *work = V + m * m, *s = work + m * m, *a = s + m;
    noise_var = fmax(noise_var, LEAST_NOISE);
    tacet_status status = tacet__cholesky(P, m, m, work, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__gemm(false, false, m, m, m, 1, S, m, P, m, 0, T, m);
    tacet__gemm(true, false, m, m, m, 1, P, m, T, m, 0, V, m);
    status = tacet__eigh(V, m, m, s, err);
    if (status != TACET_OK) {
        return status;
    }
    for (size_t j = 0; j < m; j++) {
        s[j] = fmax(s[j], 0);
    }
    fill_shares(a, s, m, (double)n, reward_var, noise_var);
    /* A'A = R V diag(a/s) V'R', a function of S and P whichever eigenvectors were taken, and A its symmetric root: a
     * batch planned again elsewhere is the same but for rounding. */
    tacet__gemm(false, false, m, m, m, 1, P, m, V, m, 0, T, m);
    for (size_t j = 0; j < m; j++) {
        const double root = a[j] > 0 ? sqrt(a[j] / s[j]) : 0;
        for (size_t i = 0; i < m; i++) {
            T[i + j * m] *= root;
        }
    }
    tacet__syrk(false, m, m, 1, T, m, 0, V, m);
    status = tacet__eigh(V, m, m, s, err);
    if (status != TACET_OK) {
        return status;
    }
    for (size_t j = 0; j < m; j++) {
        const double root = sqrt(sqrt(fmax(s[j], 0)));
        for (size_t i = 0; i < m; i++) {
            T[i + j * m] = root * V[i + j * m];
        }
    }
    tacet__gemm(false, true, m, m, m, 1, T, m, T, m, 0, A, m);
    return TACET_OK;
}
