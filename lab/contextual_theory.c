/* SPDX-License-Identifier: Apache-2.0 */
/* contextual_theory.c - Lemma 6.3 (the sup-error of Lemma 4.3) and Theorem 8.2 of Pavlovic, Salgia and Zhao 2025 with
 * their constants, beside which `tacet-lab simulate contextual --algorithm published` and `tacet-lab repro bounds` put
 * what is measured. Ring: programs. Readings: F is the largest absolute value of an eigenfunction that the data can
 * resolve (T lambda_j >= tau), measured on a grid, since no F bounds all of them on a box; sqrt(162 B^3/13 F^2) is
 * sqrt(162 B^3 F^2/13), the larger for F >= 1; that T exceeds the two thresholds is not checked. Cost: a grid of
 * features. */
#include "gp/kernel_internal.h"
#include "contextual_trial.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const double DELTA = 0.1;

/* sup |phi_j|/sqrt(lambda_j) over a grid of the unit box with its corners. */
static tacet_status eigenfunctions(double *out, const contextual_simulation *s, double tau, tacet_error *err) {
    const size_t side = s->d == 1 ? 257 : s->d == 2 ? 65 : s->d == 3 ? 17 : 9;
    const size_t m = tacet_contextual_basis_dim(s->basis);
    const double *lam = tacet_contextual_basis_eigenvalues(s->basis);
    tacet__contextual_view view;
    tacet__contextual_view_init(&view, s->basis, m);
    double *phi = TACET__ALIGNED(double, m);
    size_t count = 1;
    *out = 1; /* they have mean square 1 */
    for (size_t c = 0; c < s->d; c++) {
        count *= side;
    }
    for (size_t i = 0; i < count && phi != NULL; i++) {
        double w[TACET_CONTEXTUAL_DIM_MOST] = {0};
        for (size_t c = 0, rest = i; c < s->d; c++, rest /= side) {
            w[c] = (double)(rest % side) / (double)(side - 1);
        }
        tacet_features_eval(&view.features, phi, w, s->d, 1);
        for (size_t j = 0; j < m; j++) {
            if ((double)s->rounds * lam[j] >= tau) {
                *out = fmax(*out, fabs(phi[j]) / sqrt(lam[j]));
            }
        }
    }
    free(phi);
    return phi != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features", m);
}

static double beta(double R, double F2, double tau, double delta) {
    return 2 * R / tau * sqrt(108 * F2 / 13) * log(1 / delta);
}

static double beta_1(double B, double R, double F2, double tau, double delta) {
    return (sqrt(162 * B * B * B * F2 / 13) + 81 * F2 / 52) * log(8 / delta) + 28.0 / 17 * sqrt(log(4 / delta) / tau) +
           2 * B * sqrt(108 * F2 * tau / 13) + 4 * R * log(4 / delta) * sqrt(243 * F2 / 26);
}

tacet_status contextual_theory_of(contextual_theory *out, const contextual_simulation *s, tacet_error *err) {
    const double tau = s->used_tau > 0 ? s->used_tau : 1;
    const double T = (double)s->rounds, B = 1, R = s->noise;
    const tacet_kernel_spec *kernel = tacet_kernel_describe(s->truth);
    const bool matern = kernel->kind == TACET_KERNEL_MATERN;
    /* |f(w) - f(w')| <= |f| sqrt(2 - 2 k) <= |f| steep |w - w'| */
    const double steep = (!matern ? 1 : kernel->matern_p == 1 ? sqrt(3) : sqrt(5.0 / 3)) / s->lengthscale;
    TACET_OR_RETURN(eigenfunctions(&out->F, s, tau, err));
    const double F2 = out->F * out->F;
    const double gamma = out->gamma = tacet__contextual_gain(s->basis, T, tau);
    const double grid = pow(ceil(T * steep * sqrt((double)s->d) / 2), (double)s->d); /* within |f|/T of each point */
    const double rate = out->rate = sqrt(gamma / T);
    const double each = DELTA / (4 * grid), own = DELTA / (12 * grid);
    out->sup = (11 * B / 3 + 3 * R * sqrt(gamma * 81 * F2 / 13 * log(2 / DELTA))) / T +
               (beta(R, F2, tau, each) + beta_1(B, R, F2, tau, each)) * rate;
    const double inside = 2592 * B * F2 * T * steep * B * sqrt((double)s->dim_action) / (13 * gamma) * s->settings.eps;
    out->error =
        10 * ((11 * B / 3 + 3 * R * sqrt(gamma * 81 * F2 / 13 * log(6 / DELTA))) / T +
              (beta(R, F2, tau, own) + beta_1(B, R, F2, tau, own)) * rate) +
        gamma / T / s->settings.eps * 648 * B * F2 / 13 * ((double)s->dim_action * log(inside) + log(3 / DELTA));
    return TACET_OK;
}
