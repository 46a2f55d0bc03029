/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c - the most telling release of a batch.
 * Ring: open. In coordinates in which the belief is N(0, I) the batch's second moment has eigenvalues s_j. A release of
 * direction j with a share a_j of the allowed length carries log(1 + n^2 s_j a_j / (noise_var + reward_var n a_j)) / 2
 * nats; the shares, which add up to 1, are filled like water (Gallager 1968, section 7.5, for reward_var = 0). How many
 * directions: as long as one more tells more, although l2 noise grows with their number. README.md, (c), has the
 * derivation. Cost: O(m^3). */
#include "central/open/shape.h"
#include "core/fail.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "gp/linalg.h"

enum { HALVINGS = 60 };
static const double LEAST_NOISE = 0.01; /* variance: with less, directions that say nothing would be blown up */
static const double LEAST_SHARE = 1e-4; /* of the length: what has less is left out */
/* Numbers that are tried: few, because each size that is used is calibrated once. */
static const size_t SIZES[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 26, 32, 40, 50, 64};

/* Between the two laws' variances: (k + 1) unit^2 is that of pure eps, which a delta lowers towards the Gaussian's. */
double tacet__batch_noise_var(const tacet__batch_noise *noise, size_t k) {
    const double pure = ((double)k * (1 + noise->beside) + 1) * noise->unit * noise->unit;
    if (isinf(noise->gaussian_var)) {
        return pure;
    }
    const bool few = noise->unit > 0 && (double)k * (1 + noise->beside) <= TACET__FEW_MOST;
    return !few ? noise->gaussian_var : 1 / sqrt(1 / (pure * pure) + pow(noise->gaussian_var, -2));
}

/* The share of a direction at which one more unit of length adds `price` nats (times 2). */
static double share_at(double s, double n, double reward_var, double noise_var, double price) {
    const double b = reward_var * n, c = b + n * n * s, q = n * n * s * noise_var / price;
    const double rest = q - noise_var * noise_var, linear = (b + c) * noise_var;
    if (!(rest > 0)) {
        return 0;
    }
    return 2 * rest / (linear + sqrt(linear * linear + 4 * b * c * rest));
}

/* Shares of the k largest of s (ascending, m); returns twice the nats. */
static double fill_shares(double *a, const double *s, size_t m, size_t k, double n, double reward_var,
                          double noise_var) {
    double low = -700, high = log(n * n * fmax(s[m - 1], 1e-300) / noise_var); /* of log price; at high all are 0 */
    low = fmax(low, high - 200);
    memset(a, 0, m * sizeof(double));
    for (int i = 0; i < HALVINGS; i++) {
        const double price = exp((low + high) / 2);
        double total = 0;
        for (size_t j = m - k; j < m; j++) {
            a[j] = share_at(s[j], n, reward_var, noise_var, price);
            total += a[j];
        }
        if (total > 1) {
            low = (low + high) / 2;
        } else {
            high = (low + high) / 2;
        }
    }
    double nats = 0;
    for (size_t j = m - k; j < m; j++) {
        nats += log1p(n * n * s[j] * a[j] / (noise_var + reward_var * n * a[j]));
    }
    return nats;
}

/* The shares of as many directions as tell most; returns twice the nats. */
static double best_shares(double *a, double *trial, const double *s, size_t m, size_t most_numbers, double n,
                          double reward_var, const tacet__batch_noise *noise) {
    double most = -1;
    if (!(noise->unit > 0)) { /* one variance: all directions compete */
        return fill_shares(a, s, m, most_numbers, n, reward_var, fmax(noise->gaussian_var, LEAST_NOISE));
    }
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        const size_t k = SIZES[i] < most_numbers ? SIZES[i] : most_numbers;
        const double var = fmax(tacet__batch_noise_var(noise, k), LEAST_NOISE);
        const double nats = fill_shares(trial, s, m, k, n, reward_var, var);
        if (!(nats > most * (1 + 1e-4))) {
            return most;
        }
        most = nats;
        memcpy(a, trial, m * sizeof(double));
        if (k == most_numbers) {
            return most;
        }
    }
    return most;
}

tacet_status tacet__batch_shape(double *A, size_t *numbers, const double *S, double *P, size_t m, size_t n,
                                double reward_var, const tacet__batch_noise *noise, size_t most, double *scratch,
                                tacet_error *err) {
    double *T = scratch, *V = scratch + m * m, *work = V + m * m, *s = work + m * m, *a = s + m, *trial = a + m;
    TACET_OR_RETURN(tacet__cholesky(P, m, m, work, NULL, err));
    tacet__gemm(false, false, m, m, m, 1, S, m, P, m, 0, T, m);
    tacet__gemm(true, false, m, m, m, 1, P, m, T, m, 0, V, m);
    TACET_OR_RETURN(tacet__eigh(V, m, m, s, err));
    for (size_t j = 0; j < m; j++) {
        s[j] = fmax(s[j], 0);
    }
    (void)best_shares(a, trial, s, m, most < m ? most : m, (double)n, reward_var, noise);
    double total = 0;
    for (size_t j = 0; j < m; j++) {
        a[j] = a[j] >= LEAST_SHARE ? a[j] : 0;
        total += a[j];
    }
    /* A'A = R V diag(a/s) V'R' is a function of S and P whichever eigenvectors were taken, and so is its triangle: a
     * batch planned again elsewhere is the same but for rounding. */
    tacet__gemm(false, false, m, m, m, 1, P, m, V, m, 0, T, m);
    size_t k = 0;
    memset(A, 0, m * m * sizeof(double));
    for (size_t j = m; j-- > 0;) {
        if (a[j] > 0) {
            const double root = sqrt(a[j] / (total * s[j]));
            for (size_t i = 0; i < m; i++) {
                A[k + i * m] = root * T[i + j * m];
            }
            k++;
        }
    }
    *numbers = k;
    return k > 0 ? tacet__triangle(A, m, k, m, err) : TACET_OK;
}
