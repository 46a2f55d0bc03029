/* SPDX-License-Identifier: Apache-2.0 */
/* local_hard.c - the hard instances behind the local paper's lower bound, as a problem of `simulate local`.
 * Ring: programs. Source: Zhou and Tan 2021, Appendix A. f_j is one bump g of height 2 Delta and width w, centred in
 * the j-th of M = floor(1/w) cells of [0, 1]; g = 2 Delta h(2 c x/w)/h(0), h the inverse Fourier transform of exp(-1/(1
 * - z^2)) on [-1, 1] and c where h falls to a half. Rewards are (11): sgn f (v/(2 Delta))^(1/alpha) with probability (2
 * Delta/v)^(1/alpha) |f|, otherwise 0. Differs: the paper's w holds for small Delta/B up to an absolute constant; here
 * w is the least one with |g| <= B, the norm taken from the two spectra; C of (17) is 1. Cost: some thousand cosines an
 * arm. */
#include "local_problem.h"

#include "core/fail.h"

#include <math.h>
#include <stdlib.h>
#include "gp/kernel_internal.h"

enum { NODES = 400, HALVINGS = 60 };
static const double PI = 3.14159265358979323846;

/* H(z), by which everything below is weighted, at the middle of interval i of [-1, 1]. */
static double bump(size_t i, double *z) {
    *z = (2 * (double)i + 1) / NODES - 1;
    return exp(-1 / (1 - *z * *z)) * 2 / NODES;
}

/* h(x) = integral of H(z) cos(2 pi z x). */
static double shape(double x) {
    double sum = 0, z = 0;
    for (size_t i = 0; i < NODES; i++) {
        const double weight = bump(i, &z);
        sum += weight * cos(2 * PI * z * x);
    }
    return sum;
}

/* Where h falls to a half of h(0); beyond it stays below. */
static double half_width(void) {
    double low = 0, high = 1;
    for (size_t i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (shape(middle) > shape(0) / 2) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

/* Spectral density of the kernel at frequency u, so that k(x) = integral S(u) cos(2 pi u x) du. */
static double density(const tacet_kernel_spec *k, double u) {
    const double l = k->lengthscales[0];
    if (k->kind == TACET_KERNEL_SE) {
        return sqrt(2 * PI) * l * exp(-2 * PI * PI * l * l * u * u);
    }
    const double nu = k->matern_p + 0.5;
    const double log_scale = log(2) + 0.5 * log(PI) + lgamma(nu + 0.5) + nu * log(2 * nu / (l * l)) - lgamma(nu);
    return exp(log_scale - (nu + 0.5) * log(2 * nu / (l * l) + 4 * PI * PI * u * u));
}

/* |g|_H for height 2 delta and width w: the Fourier transform of a h(b x) is (a/b) H(u/b). */
static double norm_of(const tacet_kernel_spec *k, double delta, double w, double c) {
    const double a = 2 * delta / shape(0), b = 2 * c / w;
    double sum = 0, z = 0;
    for (size_t i = 0; i < NODES; i++) {
        const double weight = bump(i, &z) * NODES / 2; /* H(z) itself */
        sum += weight * weight / density(k, b * z) * 2 / NODES;
    }
    return a * sqrt(sum / b);
}

/* The least width with norm at most B. */
static double width_of(const tacet_kernel_spec *k, double delta, double B, double c) {
    double low = 1e-4, high = 1;
    for (size_t i = 0; i < HALVINGS; i++) {
        const double middle = sqrt(low * high);
        if (norm_of(k, delta, middle, c) > B) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

tacet_status local_problem_hard(local_problem *p, double B, double v, double eps, size_t rounds, tacet_error *err) {
    const tacet_kernel_spec *k = tacet_kernel_describe(p->kernel);
    const double power = p->alpha / (1 + p->alpha), c = half_width(), zeta = expm1(eps);
    double low = 0, high = 0.5 * pow(0.5, power) * pow(v, 1 / (1 + p->alpha));
    /* Delta is half of (M/(4 zeta^2 T))^power v^(1/(1 + alpha)), and M falls as Delta grows: they meet once. */
    for (size_t i = 0; i < HALVINGS; i++) {
        const double delta = (low + high) / 2, M = floor(1 / width_of(k, delta, B, c));
        const double wanted =
            0.5 * pow(fmin(0.5, M / (4 * zeta * zeta * (double)rounds)), power) * pow(v, 1 / (1 + p->alpha));
        if (delta < wanted) {
            low = delta;
        } else {
            high = delta;
        }
    }
    p->hard_delta = low;
    p->hard_width = width_of(k, low, B, c);
    p->hard_scale = 2 * c / p->hard_width;
    p->hard_cells = (size_t)floor(1 / p->hard_width);
    p->hard_payout = pow(v / (2 * low), 1 / p->alpha);
    p->hard_moment = v;
    return p->hard_cells >= 2 ? TACET_OK
                              : tacet__fail(err, TACET_INVALID,
                                            "Appendix A needs two cells at least: more rounds, a larger eps or a "
                                            "shorter lengthscale (width %.3g)",
                                            p->hard_width);
}

void local_hard_function(local_function *out, const local_problem *p, tacet_simrng *rng) {
    const double centre = ((double)tacet_simrng_below(rng, p->hard_cells) + 0.5) * p->hard_width, top = shape(0);
    for (size_t i = 0; i < p->n; i++) {
        out->f[i] = 2 * p->hard_delta * shape(p->hard_scale * (p->X[i] - centre)) / top;
    }
    out->norm =
        norm_of(tacet_kernel_describe(p->kernel), p->hard_delta, p->hard_width, p->hard_scale * p->hard_width / 2);
    out->noise_bound = p->hard_payout;
    out->noise_var = p->hard_moment;
}

double local_hard_reward(const local_problem *p, double f, tacet_simrng *rng) {
    return tacet_simrng_uniform(rng) < fabs(f) / p->hard_payout ? (f < 0 ? -1 : 1) * p->hard_payout : 0;
}
