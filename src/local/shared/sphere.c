/* SPDX-License-Identifier: Apache-2.0 */
/* sphere.c - public directions on a sphere, and what a report among them says of a vector.
 * Ring: shared. Sources: Duchi, Jordan, Wainwright 2018 (two opposite directions); Bhowmick, Duchi, Freudiger, Kapoor,
 * Rogers 2018 (PrivUnit: a cap of the sphere more likely than the rest); Ye, Barg 2018 (subset selection). Differs: the
 * sphere is replaced by K directions of public coins, so that the report is a small whole number, drawn exactly, and no
 * floating-point operation of the device matters to eps. Proof: src/dp/mechanisms/sphere.md.
 * Cost: gain once, O(nodes window); a direction O(dim); an order O(K dim). */
#include <tacet/local/shared/sphere.h>

#include "core/fail.h"

#include <math.h>
#include <sodium.h>
#include <string.h>
#include <tacet/core/simrng.h>

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

/* Direction k of a round: dim + 1 numbers of norm 1. */
static void direction_of(const tacet_sphere *sphere, double *out, uint64_t round, uint32_t k) {
    tacet_simrng coins;
    double norm = 0;
    tacet_simrng_init(&coins, sphere->seed, round * sphere->ldp.cells + k);
    for (size_t i = 0; i <= sphere->dim; i++) {
        out[i] = tacet_simrng_normal(&coins);
        norm += out[i] * out[i];
    }
    for (size_t i = 0; i <= sphere->dim; i++) {
        out[i] /= sqrt(norm);
    }
}

tacet_status tacet_sphere_estimate(const tacet_sphere *sphere, double *out, double *work, uint64_t round, double report,
                                   tacet_error *err) {
    if (!tacet_ldp_possible(&sphere->ldp, report)) {
        return tacet__fail(err, TACET_INVALID, "a report is a whole number from 0 to %u", sphere->ldp.cells - 1);
    }
    direction_of(sphere, work, round, (uint32_t)report);
    for (size_t i = 0; i < sphere->dim; i++) {
        out[i] = work[i] / sphere->gain;
    }
    return TACET_OK;
}

void tacet_sphere_order(const tacet_sphere *sphere, uint32_t *order, double *work, uint64_t round,
                        const double *record) {
    const size_t dim = sphere->dim;
    double *lifted = work, *direction = work + dim + 1, *along = work + 2 * (dim + 1);
    double norm2 = 0;
    for (size_t i = 0; i < dim; i++) {
        norm2 += record[i] * record[i];
    }
    const double scale = norm2 >= 0 && isfinite(norm2) ? 1 / sqrt(fmax(norm2, 1)) : 0;
    for (size_t i = 0; i < dim; i++) {
        lifted[i] = scale == 0 ? 0 : scale * record[i];
    }
    lifted[dim] = sqrt(fmax(0, scale == 0 ? 1 : 1 - norm2));
    for (uint32_t k = 0; k < sphere->ldp.cells; k++) {
        direction_of(sphere, direction, round, k);
        along[k] = 0;
        for (size_t i = 0; i <= dim; i++) {
            along[k] += lifted[i] * direction[i];
        }
        order[k] = k;
    }
    /* Insertion by the distances beside it: 256 numbers, and nothing to allocate. */
    for (uint32_t i = 1; i < sphere->ldp.cells; i++) {
        const uint32_t k = order[i];
        uint32_t j = i;
        for (; j > 0 && along[order[j - 1]] < along[k]; j--) {
            order[j] = order[j - 1];
        }
        order[j] = k;
    }
    sodium_memzero(work, (2 * (dim + 1) + sphere->ldp.cells) * sizeof(double));
}
