/* SPDX-License-Identifier: Apache-2.0 */
/* fusion.c - what a noisy, clipped sum says about the weights of a function: one step of a Kalman filter whose
 * matrices are known before any data is seen.
 * Ring: shared. Source: src/contextual/README.md, section 7. A stage of n records releases b~ = sum omega r phi +
 * noise, whose mean is n rho H (theta* - theta) with H = E omega phi phi', and whose covariance is close to n q2 S +
 * sg^2 Z0 with S = E omega^2 phi phi'; rho and q2 are what clipping leaves of a residual (Bussgang 1952). Expectations
 * are over the quadrature nodes. They decide only how well the model fits, never what is revealed. Cost: O(q m^2) for a
 * clipping, O(m^3) for a gain. */
#include "contextual/shared/internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tacet_status tacet__contextual_fusion_init(tacet__contextual_fusion *f, const tacet_contextual_basis *basis, size_t m,
                                           double prior_var, double decay, tacet_error *err) {
    tacet__contextual_view view;
    *f = (tacet__contextual_fusion){.m = m,
                                    .nodes = basis->features->blocks[0].count,
                                    .weights = basis->weights,
                                    .lam = basis->features->eigenvalues};
    f->P = TACET__ZALLOC(double, m *m);
    f->H = TACET__ALIGNED(double, m *m);
    f->S = TACET__ALIGNED(double, m *m);
    f->gain = TACET__ALIGNED(double, m *m);
    f->work = TACET__ALIGNED(double, m *(2 * m + f->nodes));
    f->phi = TACET__ALIGNED(double, m * f->nodes);
    f->root = TACET__ZALLOC(double, f->nodes);
    if (f->P == NULL || f->H == NULL || f->S == NULL || f->gain == NULL || f->work == NULL || f->phi == NULL ||
        f->root == NULL) {
        tacet__contextual_fusion_clear(f);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu features at %zu nodes", m,
                           basis->features->blocks[0].count);
    }
    const size_t most = basis->features->m;
    double all = basis->tail * pow(f->lam[most - 1], decay); /* of what no feature has: at most so much */
    double kept = 0;
    for (size_t j = 0; j < most; j++) {
        all += pow(f->lam[j], 1 + decay);
    }
    for (size_t j = 0; j < m; j++) {
        const double weight = pow(f->lam[j], decay) / all;
        f->P[j * m + j] = prior_var * weight;
        kept += f->lam[j] * weight;
    }
    f->tail_var = prior_var * fmax(1 - kept, 0);
    tacet__contextual_view_init(&view, basis, m);
    tacet_features_eval(&view.features, f->phi, view.block.Z, basis->d, f->nodes);
    return TACET_OK;
}

void tacet__contextual_fusion_clear(tacet__contextual_fusion *f) {
    free(f->P);
    free(f->H);
    free(f->S);
    free(f->gain);
    free(f->work);
    free(f->phi);
    free(f->root);
    memset(f, 0, sizeof *f);
}

/* out = sum over nodes of weights[k] factor[k] phi_k phi_k'. */
static void weighted(const tacet__contextual_fusion *f, double *out, const double *factor, int power) {
    for (size_t k = 0; k < f->nodes; k++) {
        const double root = sqrt(f->weights[k] * (power == 1 ? factor[k] : factor[k] * factor[k]));
        for (size_t i = 0; i < f->m; i++) {
            f->work[k * f->m + i] = root * f->phi[k * f->m + i];
        }
    }
    tacet__syrk(false, f->m, f->nodes, 1, f->work, f->m, 0, out, f->m);
    tacet__symmetrize(out, f->m, f->m);
}

void tacet__contextual_fusion_clip(tacet__contextual_fusion *f, double ratio, double slack, double *clip) {
    double d_eff = 0;
    for (size_t j = 0; j < f->m; j++) {
        d_eff += f->lam[j] / (f->lam[j] + ratio);
    }
    *clip = slack * sqrt(d_eff);
    for (size_t k = 0; k < f->nodes; k++) {
        double sum = 0;
        for (size_t j = 0; j < f->m; j++) {
            const double phi = f->phi[k * f->m + j];
            sum += phi * phi / (f->lam[j] + ratio);
        }
        f->root[k] = fmin(1, *clip / sqrt(sum));
    }
    weighted(f, f->H, f->root, 1);
    weighted(f, f->S, f->root, 2);
}

double tacet__contextual_fusion_risk(const tacet__contextual_fusion *f, const double *P) {
    double risk = f->tail_var;
    for (size_t j = 0; j < f->m; j++) {
        risk += f->lam[j] * P[j * f->m + j];
    }
    return risk;
}

void tacet__contextual_fusion_clipped(double *response, double *left, double var, double bound) {
    const double b = fmin(bound / sqrt(var), 40); /* beyond that nothing is clipped */
    const double inside = erf(b / sqrt(2));
    const double density = exp(-b * b / 2) / sqrt(2 * 3.14159265358979323846);
    *response = inside;
    *left = var * (inside - 2 * b * density + b * b * (1 - inside));
}

tacet_status tacet__contextual_fusion_gain(tacet__contextual_fusion *f, double *P, double *risk, double n, double ratio,
                                           double residual_var, double bound, double noise_sd, tacet_error *err) {
    const size_t m = f->m;
    double response = 1;
    double left = residual_var;
    tacet__contextual_fusion_clipped(&response, &left, residual_var, bound);
    const double n_signal = n * response * response;
    double *HP = f->work;
    double *C = f->work + m * m;
    tacet__gemm(false, false, m, m, m, 1, f->H, m, f->P, m, 0, HP, m);
    for (size_t i = 0; i < m * m; i++) {
        C[i] = left * f->S[i];
    }
    for (size_t j = 0; j < m; j++) {
        C[j * m + j] += noise_sd * noise_sd * (f->lam[j] + ratio);
    }
    tacet__gemm(false, false, m, m, m, n_signal, HP, m, f->H, m, 1, C, m);
    tacet_status status = tacet__cholesky(C, m, m, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__trsm(false, m, m, C, m, HP, m);
    if (P != f->P) {
        memcpy(P, f->P, m * m * sizeof *P);
    }
    tacet__syrk(true, m, m, -n_signal, HP, m, 1, P, m);
    tacet__symmetrize(P, m, m);
    if (P == f->P) {
        /* gain' = response C^-1 H P */
        for (size_t i = 0; i < m * m; i++) {
            f->gain[i] = response * HP[i];
        }
        tacet__trsm(true, m, m, C, m, f->gain, m);
    }
    *risk = tacet__contextual_fusion_risk(f, P);
    return TACET_OK;
}
