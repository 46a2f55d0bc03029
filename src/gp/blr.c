/* blr.c - Bayesian linear regression by rank-one updates of a Cholesky factor.
 * Ring: pure. Source: Rasmussen and Williams 2006, section 2.1; the update by Givens rotations, Golub and Van Loan,
 * section 6.5.4, which is backward stable, so the factor needs no rebuilding.
 * Cost: O(m^2) an observation, O(m^2) a prediction (in blocks of 64, as one triangular solve), m^2 doubles. */
#include "gp/blr_internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 };

struct tacet_blr {
    size_t m;
    double prior_precision;
    double noise_var;
    double *L; /* m x m: L L' = A */
    double *b;
    double *w; /* A^-1 b */
    uint64_t count;
    double squares;  /* sum y^2/noise */
    double log_norm; /* sum ln(2 pi noise) */
    /* scratch */
    double *matrix; /* m x m */
    double *panel;  /* m x BLOCK */
};

void tacet_blr_free(tacet_blr *blr) {
    if (blr != NULL) {
        free(blr->L);
        free(blr->b);
        free(blr->w);
        free(blr->matrix);
        free(blr->panel);
        free(blr);
    }
}

tacet_status tacet_blr_create(tacet_blr **out, size_t m, double prior_precision, double noise_var, tacet_error *err) {
    *out = NULL;
    if (m == 0 || !(prior_precision > 0 && isfinite(prior_precision)) || !(noise_var > 0 && isfinite(noise_var))) {
        return tacet__fail(err, TACET_INVALID,
                           "a linear model needs a feature, and precision and noise finite and greater than 0");
    }
    tacet_status status = TACET_OK;
    size_t square = 0;
    size_t panel = 0;
    tacet_blr *blr = TACET__ZALLOC(tacet_blr, 1);
    if (blr != NULL && tacet__size_mul(&square, m, m) && tacet__size_mul(&panel, m, BLOCK)) {
        blr->L = TACET__ALIGNED(double, square);
        blr->matrix = TACET__ALIGNED(double, square);
        blr->panel = TACET__ALIGNED(double, panel);
        blr->b = TACET__ZALLOC(double, m);
        blr->w = TACET__ZALLOC(double, m);
    }
    if (blr == NULL || blr->L == NULL || blr->matrix == NULL || blr->panel == NULL || blr->b == NULL ||
        blr->w == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a linear model of %zu features", m);
        goto done;
    }
    blr->m = m;
    blr->prior_precision = prior_precision;
    blr->noise_var = noise_var;
    tacet_blr_reset(blr);
    *out = blr;
    blr = NULL;
done:
    tacet_blr_free(blr);
    return status;
}

void tacet_blr_reset(tacet_blr *blr) {
    memset(blr->L, 0, blr->m * blr->m * sizeof *blr->L);
    for (size_t i = 0; i < blr->m; i++) {
        blr->L[i * blr->m + i] = sqrt(blr->prior_precision);
        blr->b[i] = 0;
        blr->w[i] = 0;
    }
    blr->count = 0;
    blr->squares = 0;
    blr->log_norm = 0;
}

static void refresh(tacet_blr *blr) {
    memcpy(blr->w, blr->b, blr->m * sizeof *blr->w);
    tacet__chol_solve(blr->m, blr->L, blr->m, blr->w);
}

tacet_status tacet_blr_observe_noisy(tacet_blr *blr, const double *phi, double y, double noise_var, tacet_error *err) {
    if (!isfinite(y) || !(noise_var > 0 && isfinite(noise_var))) {
        return tacet__fail(err, TACET_INVALID, "the value is not finite, or the noise variance not finite and > 0");
    }
    for (size_t i = 0; i < blr->m; i++) {
        if (!isfinite(phi[i])) {
            return tacet__fail(err, TACET_INVALID, "feature %zu is not finite", i);
        }
    }
    const double root = sqrt(noise_var);
    for (size_t i = 0; i < blr->m; i++) {
        blr->panel[i] = phi[i] / root;
        blr->b[i] += phi[i] * y / noise_var;
    }
    tacet__chol_update(blr->m, blr->L, blr->m, blr->panel);
    refresh(blr);
    const double two_pi = 6.283185307179586476925;
    blr->count++;
    blr->squares += y * y / noise_var;
    blr->log_norm += log(two_pi * noise_var);
    return TACET_OK;
}

tacet_status tacet_blr_observe(tacet_blr *blr, const double *phi, double y, tacet_error *err) {
    return tacet_blr_observe_noisy(blr, phi, y, blr->noise_var, err);
}

tacet_status tacet_blr_add(tacet_blr *blr, const double *S, size_t lds, const double *u, tacet_error *err) {
    const size_t m = blr->m;
    for (size_t j = 0; j < m; j++) {
        if (!isfinite(u[j])) {
            return tacet__fail(err, TACET_INVALID, "statistic %zu is not finite", j);
        }
    }
    tacet__gemm(false, true, m, m, m, 1, blr->L, m, blr->L, m, 0, blr->matrix, m);
    for (size_t j = 0; j < m; j++) {
        for (size_t i = j; i < m; i++) {
            if (!isfinite(S[j * lds + i])) {
                return tacet__fail(err, TACET_INVALID, "statistic (%zu, %zu) is not finite", i, j);
            }
            blr->matrix[j * m + i] += S[j * lds + i];
        }
    }
    const tacet_status status = tacet__cholesky(blr->matrix, m, m, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    double *swap = blr->L;
    blr->L = blr->matrix;
    blr->matrix = swap;
    for (size_t j = 0; j < m; j++) {
        blr->b[j] += u[j];
    }
    blr->squares = NAN;
    refresh(blr);
    return TACET_OK;
}

void tacet_blr_predict(const tacet_blr *blr, double *mean, double *sd, const double *Phi, size_t ld, size_t count) {
    const size_t m = blr->m;
    for (size_t at = 0; at < count; at += BLOCK) {
        const size_t k = count - at < BLOCK ? count - at : BLOCK;
        tacet__gemv(true, m, k, 1, Phi + at * ld, ld, blr->w, 0, mean + at);
        if (sd == NULL) {
            continue;
        }
        for (size_t j = 0; j < k; j++) {
            memcpy(blr->panel + j * m, Phi + (at + j) * ld, m * sizeof *Phi);
        }
        tacet__trsm(false, m, k, blr->L, m, blr->panel, m);
        for (size_t j = 0; j < k; j++) {
            sd[at + j] = sqrt(tacet__dot(blr->panel + j * m, blr->panel + j * m, m));
        }
    }
}

size_t tacet_blr_dim(const tacet_blr *blr) {
    return blr->m;
}

uint64_t tacet_blr_count(const tacet_blr *blr) {
    return blr->count;
}

const double *tacet_blr_weights(const tacet_blr *blr) {
    return blr->w;
}

double tacet_blr_information(const tacet_blr *blr) {
    return 0.5 * (tacet__chol_logdet(blr->m, blr->L, blr->m) - (double)blr->m * log(blr->prior_precision));
}

double tacet_blr_log_likelihood(const tacet_blr *blr) {
    return -0.5 * (blr->squares - tacet__dot(blr->b, blr->w, blr->m) + blr->log_norm) - tacet_blr_information(blr);
}

void tacet__blr_write(const tacet_blr *blr, tacet__writer *w) {
    tacet__write_size(w, blr->m);
    for (size_t j = 0; j < blr->m; j++) {
        tacet__write_f64s(w, blr->L + j * blr->m + j, blr->m - j);
    }
    tacet__write_f64s(w, blr->b, blr->m);
    tacet__write_u64(w, blr->count);
    tacet__write_f64(w, blr->squares);
    tacet__write_f64(w, blr->log_norm);
}

void tacet__blr_read(tacet_blr *blr, tacet__reader *r) {
    if (tacet__read_size(r, blr->m) != blr->m) {
        r->failed = true;
    }
    for (size_t j = 0; j < blr->m; j++) {
        memset(blr->L + j * blr->m, 0, j * sizeof *blr->L);
        tacet__read_f64s(r, blr->L + j * blr->m + j, blr->m - j);
        if (!(blr->L[j * blr->m + j] > 0)) {
            r->failed = true;
        }
    }
    tacet__read_f64s(r, blr->b, blr->m);
    blr->count = tacet__read_u64(r);
    blr->squares = tacet__read_f64(r);
    blr->log_norm = tacet__read_f64(r);
    if (!r->failed) {
        refresh(blr); /* a function of L and b: the same bits */
    }
}
