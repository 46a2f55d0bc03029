/* SPDX-License-Identifier: Apache-2.0 */
/* sphere_gain.c - what a reported direction says of the record on average: for collectors, which divide by it.
 * Ring: shared. Proof: src/dp/mechanisms/sphere.md. Cost: O(nodes window), once. */
#include <tacet/local/shared/sphere.h>

#include "core/fail.h"

#include <math.h>
#include <string.h>

enum { NODES = 2000, DIM_MOST = 1 << 16 };

/* P(at most `most` of n coins of probability p fall). */
static double binomial_below(double n, double p, uint32_t most) {
    if (p <= 0) {
        return 1;
    }
    if (p >= 1) {
        return n <= most ? 1 : 0;
    }
    double sum = 0;
    for (uint32_t j = 0; j <= most; j++) {
        sum += exp(lgamma(n + 1) - lgamma(j + 1.0) - lgamma(n - j + 1) + j * log(p) + (n - j) * log1p(-p));
    }
    return fmin(sum, 1);
}

/* The mean, along the record, of the sum of the `window` nearest of K directions: K E x 1{fewer than window of the
 * other K - 1 are nearer}, x = sin t of density cos^(n - 2) t on the sphere of n coordinates. Midpoints in t. */
static double nearest_sum(uint32_t K, uint32_t window, size_t n) {
    const double h = M_PI / NODES;
    double total = 0, below = 0, sum = 0;
    for (int i = 0; i < NODES; i++) {
        total += pow(cos(-M_PI / 2 + (i + 0.5) * h), (double)n - 2);
    }
    for (int i = 0; i < NODES; i++) {
        const double t = -M_PI / 2 + (i + 0.5) * h;
        const double mass = pow(cos(t), (double)n - 2) / total;
        const double nearer = fmax(0, 1 - below - mass / 2);
        if (mass > 1e-18) {
            sum += mass * sin(t) * binomial_below(K - 1.0, nearer, window - 1);
        }
        below += mass;
    }
    return K * sum;
}

tacet_status tacet_sphere_init(tacet_sphere *out, const tacet_ldp *ldp, size_t dim, uint64_t seed, tacet_error *err) {
    memset(out, 0, sizeof *out);
    if (ldp->kind != TACET_LDP_SPHERE || dim == 0 || dim > DIM_MOST) {
        return tacet__fail(err, TACET_INVALID, "a sphere needs its own randomiser and 1 to %d numbers", (int)DIM_MOST);
    }
    const double a = (double)ldp->ratio_num, b = (double)ldp->ratio_den;
    *out = (tacet_sphere){.ldp = *ldp, .dim = dim, .seed = seed};
    /* All directions sum to 0 in the mean, so what the likely ones have more than the others is all there is. */
    out->gain =
        nearest_sum(ldp->cells, ldp->window, dim + 1) * (a - b) / (ldp->window * a + (ldp->cells - ldp->window) * b);
    out->noise_var = 1 / (out->gain * out->gain * (double)(dim + 1));
    return TACET_OK;
}
