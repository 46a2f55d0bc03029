/* SPDX-License-Identifier: Apache-2.0 */
/* eiv.c - a kernel between points known up to Gaussian noise (errors in variables).
 * Ring: pure. Source: the expectation of a squared exponential under Gaussian inputs (Girard et al. 2003; Dallaire et
 * al. 2011); Matérn as a mixture of squared exponentials over its inverse-gamma scale (Rasmussen and Williams 2006,
 * section 4.2: the spectral density is a multivariate t). Differs: the mixture integral
 *     k(r) = E exp(-tau r^2/2), tau = nu/g, g ~ Gamma(nu, 1)
 * is taken by the trapezoidal rule in ln g, which converges geometrically (the integrand is analytic in a strip of
 * half-width pi/2), and then every term has the closed form of the squared exponential:
 *     E exp(-tau (delta + u - u')^2/(2 l^2)) = (1 + 2 sd^2 tau/l^2)^(-1/2) exp(-tau delta^2/(2 (l^2 + 2 sd^2 tau))).
 * Cost: nodes exponentials per covariance: 1 for SE, at most 200 for Matérn (fewer the larger nu and the noise). */
#include "gp/eiv.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { BLOCK = 512 };
static const double NEGLIGIBLE = 1e-17; /* nodes that can contribute no more than this are left out */

struct tacet__eiv {
    size_t d;
    size_t nodes;
    size_t groups;
    double signal_var;
    bool isotropic; /* one lengthscale and one sd: distances are shared by all nodes */
    size_t *group;  /* d: group of a coordinate */
    double *tau;    /* nodes */
    double *weight; /* nodes x groups: weight[g*nodes + q], signal variance included */
    double *rate;   /* d x nodes: rate[q*d + c] = tau/(2 (l^2 + 2 sd^2 tau)) */
    double *l2;     /* d squared lengthscales */
    double *noise2; /* d: 2 sd^2 */
};

/* Step of the trapezoidal rule. Its error is about min over theta of exp(-2 pi theta/h) cos(theta)^-nu (the integrand
 * at imaginary part theta), below 1e-14 with this for nu <= 21/2. */
static double step_for(double nu) {
    return 0.32 / sqrt(sqrt(1 + nu));
}

static double log_gamma_density(double nu, double u) {
    return nu * u - exp(u) - lgamma(nu); /* of ln g: g^nu e^-g / Gamma(nu) */
}

/* Largest weight a node has over the groups, before the signal variance. */
static double shrink(const tacet__eiv *eiv, double tau, size_t g) {
    double log_factor = 0;
    for (size_t c = 0; c < eiv->d; c++) {
        if (eiv->group[c] == g) {
            log_factor -= 0.5 * log1p(eiv->noise2[c] * tau / eiv->l2[c]);
        }
    }
    return exp(log_factor);
}

static bool matters(const tacet__eiv *eiv, double mass, double tau) {
    for (size_t g = 0; g < eiv->groups; g++) {
        if (mass * shrink(eiv, tau, g) > NEGLIGIBLE) {
            return true;
        }
    }
    return false;
}

/* Calls itself twice in effect: first to count (tau and mass NULL), then to fill. */
static size_t quadrature(const tacet__eiv *eiv, const tacet_kernel_spec *spec, double *tau, double *mass) {
    if (spec->kind == TACET_KERNEL_SE) {
        if (tau != NULL) {
            tau[0] = 1;
            mass[0] = 1;
        }
        return 1;
    }
    const double nu = (double)spec->matern_p + 0.5;
    const double step = step_for(nu);
    const int first = (int)ceil(log(60 + 3 * nu) / step); /* above it the density of ln g is below e^-60 */
    const int last = (int)floor(-100 / nu / step);        /* below it the mass is below e^-100 */
    size_t count = 0;
    for (int k = first; k >= last; k--) {
        const double u = k * step;
        const double m = step * exp(log_gamma_density(nu, u));
        const double t = nu * exp(-u);
        if (m > 0 && matters(eiv, m, t)) {
            if (tau != NULL) {
                tau[count] = t;
                mass[count] = m;
            }
            count++;
        }
    }
    return count;
}

static tacet_status tabulate_expectations(tacet__eiv *eiv, const tacet_kernel_spec *spec, tacet_error *err) {
    const size_t d = eiv->d;
    eiv->nodes = quadrature(eiv, spec, NULL, NULL);
    double *mass = TACET__ZALLOC(double, eiv->nodes);
    eiv->tau = TACET__ZALLOC(double, eiv->nodes);
    size_t cells = 0;
    if (tacet__size_mul(&cells, eiv->nodes, eiv->groups)) {
        eiv->weight = TACET__ZALLOC(double, cells);
    }
    if (tacet__size_mul(&cells, eiv->nodes, d)) {
        eiv->rate = TACET__ZALLOC(double, cells);
    }
    if (mass == NULL || eiv->tau == NULL || eiv->weight == NULL || eiv->rate == NULL) {
        free(mass);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an errors-in-variables kernel");
    }
    (void)quadrature(eiv, spec, eiv->tau, mass);
    for (size_t q = 0; q < eiv->nodes; q++) {
        for (size_t g = 0; g < eiv->groups; g++) {
            eiv->weight[g * eiv->nodes + q] =
                eiv->signal_var * mass[q] * shrink(eiv, eiv->tau[q], g) / (double)eiv->groups;
        }
        for (size_t c = 0; c < d; c++) {
            eiv->rate[q * d + c] = 0.5 * eiv->tau[q] / (eiv->l2[c] + eiv->noise2[c] * eiv->tau[q]);
        }
    }
    free(mass);
    return TACET_OK;
}

tacet_status tacet__eiv_create(tacet__eiv **out, const tacet_kernel_spec *spec, const double *sd, size_t sd_count,
                               tacet_error *err) {
    *out = NULL;
    if (spec->kind != TACET_KERNEL_SE && spec->kind != TACET_KERNEL_MATERN) {
        return tacet__fail(err, TACET_UNSUPPORTED, "input noise is known for SE and Matérn kernels only");
    }
    if (sd_count != 1 && sd_count != spec->d) {
        return tacet__fail(err, TACET_INVALID, "%zu input noises for %zu coordinates: give one, or one each", sd_count,
                           spec->d);
    }
    for (size_t c = 0; c < sd_count; c++) {
        if (!(sd[c] >= 0 && isfinite(sd[c]))) {
            return tacet__fail(err, TACET_INVALID, "input noise %zu must be finite and not negative", c);
        }
    }
    tacet_status status = TACET_OK;
    tacet__eiv *eiv = TACET__ZALLOC(tacet__eiv, 1);
    if (eiv != NULL) {
        eiv->group = TACET__ZALLOC(size_t, spec->d);
        eiv->l2 = TACET__ZALLOC(double, spec->d);
        eiv->noise2 = TACET__ZALLOC(double, spec->d);
    }
    if (eiv == NULL || eiv->group == NULL || eiv->l2 == NULL || eiv->noise2 == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an errors-in-variables kernel");
        goto done;
    }
    eiv->d = spec->d;
    eiv->groups = spec->groups != NULL ? spec->group_count : 1;
    eiv->signal_var = spec->signal_var;
    eiv->isotropic = spec->lengthscale_count == 1 && sd_count == 1;
    for (size_t c = 0; c < spec->d; c++) {
        const double l = spec->lengthscales[spec->lengthscale_count == 1 ? 0 : c];
        const double s = sd[sd_count == 1 ? 0 : c];
        eiv->group[c] = spec->groups != NULL ? spec->groups[c] : 0;
        eiv->l2[c] = l * l;
        eiv->noise2[c] = 2 * s * s;
    }
    status = tabulate_expectations(eiv, spec, err);
    if (status == TACET_OK) {
        *out = eiv;
        eiv = NULL;
    }
done:
    tacet__eiv_free(eiv);
    return status;
}

void tacet__eiv_free(tacet__eiv *eiv) {
    if (eiv != NULL) {
        free(eiv->group);
        free(eiv->tau);
        free(eiv->weight);
        free(eiv->rate);
        free(eiv->l2);
        free(eiv->noise2);
        free(eiv);
    }
}

TACET__CLONES static void add_exponentials(double *restrict out, const double *restrict e, double weight, double rate,
                                           size_t n) {
    for (size_t j = 0; j < n; j++) {
        out[j] += weight * tacet__vexp(-(rate * e[j]));
    }
}

TACET__CLONES static void add_squares(double *restrict e, const double *restrict column, double x, double rate,
                                      size_t n) {
    for (size_t j = 0; j < n; j++) {
        const double delta = x - column[j];
        e[j] += rate * (delta * delta);
    }
}

/* e = sum over the coordinates of group g of rate_c (x_c - X_cj)^2; rates NULL: all 1. */
static void exponent(const tacet__eiv *eiv, double *e, size_t g, const double *rates, const double *Xt, size_t ldt,
                     size_t n, const double *x) {
    for (size_t j = 0; j < n; j++) {
        e[j] = 0;
    }
    for (size_t c = 0; c < eiv->d; c++) {
        if (eiv->group[c] == g) {
            add_squares(e, Xt + c * ldt, x[c], rates != NULL ? rates[c] : 1, n);
        }
    }
}

void tacet__eiv_row_soa(const tacet__eiv *eiv, double *out, const double *Xt, size_t ldt, size_t n, const double *x) {
    double e[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t m = n - at < BLOCK ? n - at : BLOCK;
        for (size_t j = 0; j < m; j++) {
            out[at + j] = 0;
        }
        for (size_t g = 0; g < eiv->groups; g++) {
            if (eiv->isotropic) {
                exponent(eiv, e, g, NULL, Xt + at, ldt, m, x);
            }
            for (size_t q = 0; q < eiv->nodes; q++) {
                if (!eiv->isotropic) {
                    exponent(eiv, e, g, eiv->rate + q * eiv->d, Xt + at, ldt, m, x);
                }
                add_exponentials(out + at, e, eiv->weight[g * eiv->nodes + q],
                                 eiv->isotropic ? eiv->rate[q * eiv->d] : 1, m);
            }
        }
    }
}
