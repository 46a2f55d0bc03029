/* SPDX-License-Identifier: Apache-2.0 */
/* likelihood.c - log marginal likelihood of a Gaussian process and its gradient in the logarithms of its parameters.
 * Ring: pure. Source: Rasmussen and Williams 2006, eqs 5.8, 5.9; the constant mean in closed form (generalised least
 * squares), which leaves the gradient's formula as it is, since the likelihood is stationary in the mean there.
 * Differs: points may be known up to Gaussian noise (eiv.h). Cost: O(n^3 + n^2 d), no allocation per evaluation but the
 * kernel itself; 4 n^2 doubles. */
#include "likelihood.h"

#include "gp/eiv.h"
#include "core/fail.h"
#include "gp/kernel_internal.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lab_likelihood {
    lab_fit_settings settings; /* borrowed pointers */
    const double *X;
    size_t ldx;
    size_t n;
    const double *y;
    size_t lengthscales; /* parameters that are lengthscales */
    double *scales;      /* current lengthscales */
    double *K;           /* n x n: covariance, then its factor, then W */
    double *L;
    double *retry;
    double *alpha;
    double *ones;
};

tacet_status lab_likelihood_create(lab_likelihood **out, const lab_fit_settings *settings, const double *X, size_t ldx,
                                   size_t n, const double *y, tacet_error *err) {
    *out = NULL;
    size_t square = 0;
    lab_likelihood *l = TACET__ZALLOC(lab_likelihood, 1);
    if (l != NULL && tacet__size_mul(&square, n, n)) {
        l->scales = TACET__ZALLOC(double, settings->kernel.lengthscale_count);
        l->K = TACET__ALIGNED(double, square);
        l->L = TACET__ALIGNED(double, square);
        l->retry = TACET__ALIGNED(double, square);
        l->alpha = TACET__ALIGNED(double, n);
        l->ones = TACET__ALIGNED(double, n);
    }
    if (l == NULL || l->scales == NULL || l->K == NULL || l->L == NULL || l->retry == NULL || l->alpha == NULL ||
        l->ones == NULL) {
        lab_likelihood_free(l);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the likelihood of %zu values", n);
    }
    l->settings = *settings;
    l->X = X;
    l->ldx = ldx;
    l->n = n;
    l->y = y;
    l->lengthscales = settings->kernel.kind == TACET_KERNEL_PRECOMPUTED ? 0 : settings->kernel.lengthscale_count;
    *out = l;
    return TACET_OK;
}

void lab_likelihood_free(lab_likelihood *l) {
    if (l != NULL) {
        free(l->scales);
        free(l->K);
        free(l->L);
        free(l->retry);
        free(l->alpha);
        free(l->ones);
        free(l);
    }
}

size_t lab_likelihood_params(const lab_likelihood *l) {
    return l->lengthscales + 2;
}

/* The kernel at the parameters; with input noise also its mixture. */
static tacet_status model(const lab_likelihood *l, tacet_kernel **kernel, tacet__eiv **eiv, const double *params,
                          tacet_error *err) {
    tacet_kernel_spec spec = l->settings.kernel;
    *eiv = NULL;
    for (size_t c = 0; c < l->lengthscales; c++) {
        l->scales[c] = exp(params[c]);
    }
    if (l->lengthscales > 0) {
        spec.lengthscales = l->scales;
    }
    spec.signal_var = exp(params[l->lengthscales]);
    tacet_status status = tacet_kernel_create(kernel, &spec, err);
    if (status == TACET_OK && l->settings.input_sd != NULL) {
        status = tacet__eiv_create(eiv, &spec, l->settings.input_sd, l->settings.input_sd_count, err);
    }
    return status;
}

/* K without noise, both triangles. */
static void covariance(const lab_likelihood *l, const tacet_kernel *kernel, const tacet__eiv *eiv) {
    const size_t n = l->n;
    if (eiv == NULL) {
        tacet_kernel_matrix(kernel, l->K, n, l->X, l->ldx, n, l->X, l->ldx, n);
        return;
    }
    for (size_t j = 0; j < n; j++) {
        const double *x = l->X + j * l->ldx;
        l->K[j * n + j] = tacet_kernel_eval(kernel, x, x);
        for (size_t i = j + 1; i < n; i++) {
            l->K[j * n + i] = tacet__eiv_eval(eiv, x, l->X + i * l->ldx);
            l->K[i * n + j] = l->K[j * n + i];
        }
    }
}

/* Mean, alpha = (K + noise I)^-1 (y - mean), and the log-likelihood; L holds the factor. */
static double solve(const lab_likelihood *l, double *mean) {
    const size_t n = l->n;
    *mean = l->settings.mean;
    if (!l->settings.fix_mean) {
        for (size_t i = 0; i < n; i++) {
            l->ones[i] = 1;
        }
        tacet__chol_solve(n, l->L, n, l->ones);
        double total = 0;
        for (size_t i = 0; i < n; i++) {
            total += l->ones[i];
        }
        *mean = tacet__dot(l->ones, l->y, n) / total;
    }
    double quadratic = 0;
    for (size_t i = 0; i < n; i++) {
        l->alpha[i] = l->y[i] - *mean;
    }
    tacet__chol_solve(n, l->L, n, l->alpha);
    for (size_t i = 0; i < n; i++) {
        quadratic += (l->y[i] - *mean) * l->alpha[i];
    }
    const double log_two_pi = 1.8378770664093454836;
    return -0.5 * (quadratic + tacet__chol_logdet(n, l->L, n) + (double)n * log_two_pi);
}

/* W = (alpha alpha' - (K + noise I)^-1)/2 in place of K; d loglik/d theta = sum W_ij dK_ij/d theta. */
static tacet_status gradient(const lab_likelihood *l, double *grad, const tacet_kernel *kernel, const tacet__eiv *eiv,
                             double noise_var, tacet_error *err) {
    const size_t n = l->n;
    const tacet_status status = tacet__chol_inverse(n, l->L, n, err);
    if (status != TACET_OK) {
        return status;
    }
    double trace = 0;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            l->K[j * n + i] = 0.5 * (l->alpha[i] * l->alpha[j] - l->L[j * n + i]);
        }
        trace += l->K[j * n + j];
    }
    const size_t kernel_params = l->lengthscales + 1;
    for (size_t p = 0; p < kernel_params; p++) {
        grad[p] = 0;
    }
    if (eiv == NULL) {
        tacet__kernel_grad_trace(kernel, grad, l->X, l->ldx, n, l->K, n);
    } else {
        const double signal_var = tacet_kernel_describe(kernel)->signal_var;
        for (size_t j = 0; j < n; j++) {
            grad[l->lengthscales] += l->K[j * n + j] * signal_var;
            for (size_t i = j + 1; i < n; i++) {
                (void)tacet__eiv_add_grad(eiv, grad, 2 * l->K[j * n + i], l->X + j * l->ldx, l->X + i * l->ldx);
            }
        }
    }
    grad[kernel_params] = noise_var * trace;
    return TACET_OK;
}

tacet_status lab_likelihood_eval(lab_likelihood *l, lab_likelihood_value *out, double *grad, const double *params,
                                 tacet_error *err) {
    const size_t n = l->n;
    const double noise_var = exp(params[l->lengthscales + 1]);
    tacet_kernel *kernel = NULL;
    tacet__eiv *eiv = NULL;
    tacet__chol_report report = {0};
    tacet_status status = model(l, &kernel, &eiv, params, err);
    if (status != TACET_OK) {
        goto done;
    }
    covariance(l, kernel, eiv);
    memcpy(l->L, l->K, n * n * sizeof *l->L);
    for (size_t i = 0; i < n; i++) {
        l->L[i * n + i] += noise_var;
    }
    status = tacet__cholesky(l->L, n, n, l->retry, &report, err);
    if (status != TACET_OK) {
        goto done;
    }
    out->jitter = report.jitter;
    out->log_likelihood = solve(l, &out->mean);
    if (!isfinite(out->log_likelihood)) {
        status = tacet__fail(err, TACET_NUMERIC, "the likelihood is not finite");
        goto done;
    }
    if (grad != NULL) {
        status = gradient(l, grad, kernel, eiv, noise_var, err);
    }
done:
    tacet__eiv_free(eiv);
    tacet_kernel_free(kernel);
    return status;
}
