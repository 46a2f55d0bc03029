/* SPDX-License-Identifier: Apache-2.0 */
/* decoded.c - from released sums to a posterior: decode a measure, regress with known noise.
 * Ring: open; post-processing of what was released. Source: Dubey (AISTATS 2021), Algorithm 1, whose server adds the
 * noisy matrix to lambda I and takes its noise for data. Differs: no matrix is released; the empirical measure of plays
 * and rewards is decoded by maximum entropy around the law of play that the public scores imply, Sigma and u come from
 * it, and the noise enters the likelihood. README.md derives each step. Cost: a fit O(points r^2) some ten times, a
 * point O(m^2). */
#include "central/open/decoded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "central/open/measure.h"
#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

/* With much noise the guess must yield (its term grows with the rounds, the other with their square over the noise),
 * and optimism must too (all arms look uncertain for long). Fitted on other seeds than any that is reported. */
static const double GUESS_SCALE = 8, WIDTH_SCALE = 25;

struct tacet__decoded {
    const double *Phi; /* borrowed */
    size_t ld, m, r, n;
    tacet__decoded_settings set;
    tacet__measure *measure;
    /* state */
    double width;
    double *mass;  /* n x 2: rewarded and not */
    double *theta; /* m */
    double *cov;   /* m x m, both triangles */
    /* scratch */
    double *guess, *fit;         /* n x 2 */
    double *plays;               /* n */
    double *weighted;            /* m x n */
    double *Se, *Sg, *u;         /* r x r, r x m, r */
    double *new_theta, *new_cov; /* m, m x m */
    double *half;                /* m x BATCH */
    double new_width;
};

static bool allocate(tacet__decoded *d) {
    const size_t m = d->m, r = d->r, n = d->n;
    const tacet__array arrays[] = {{&d->mass, n, 2},
                                   {&d->theta, m, 1},
                                   {&d->cov, m, m},
                                   {&d->guess, n, 2},
                                   {&d->fit, n, 2},
                                   {&d->plays, n, 1},
                                   {&d->weighted, m, n},
                                   {&d->Se, r, r},
                                   {&d->Sg, r, m},
                                   {&d->u, r, 1},
                                   {&d->new_theta, m, 1},
                                   {&d->new_cov, m, m},
                                   {&d->half, m, TACET__DECODED_BATCH}};
    return tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0]);
}

tacet_status tacet__decoded_create(tacet__decoded **out, const double *Phi, size_t ld, size_t features, size_t released,
                                   size_t points, const tacet__decoded_settings *settings, tacet_error *err) {
    *out = NULL;
    tacet__decoded *d = TACET__ZALLOC(tacet__decoded, 1);
    if (d == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    d->Phi = Phi;
    d->ld = ld;
    d->m = features;
    d->r = released;
    d->n = points;
    d->set = *settings;
    d->width = settings->width;
    tacet_status status = allocate(d)
                              ? tacet__measure_create(&d->measure, Phi, ld, released, points, 2, err)
                              : tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner of %zu features", features);
    if (status != TACET_OK) {
        tacet__decoded_free(d);
        return status;
    }
    for (size_t i = 0; i < d->m; i++) {
        d->cov[i * (d->m + 1)] = settings->prior_var;
    }
    *out = d;
    return TACET_OK;
}

void tacet__decoded_free(tacet__decoded *d) {
    if (d == NULL) {
        return;
    }
    tacet__measure_free(d->measure);
    double *arrays[] = {d->mass, d->theta, d->cov, d->guess,     d->fit,     d->plays, d->weighted,
                        d->Se,   d->Sg,    d->u,   d->new_theta, d->new_cov, d->half};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(d);
}

/* Sigma (released x released, released x all) and u of the measure in d->fit. */
static void moments(tacet__decoded *d) {
    const size_t m = d->m, r = d->r, n = d->n;
    for (size_t j = 0; j < n; j++) {
        d->plays[j] = d->fit[j] + d->fit[n + j];
        for (size_t i = 0; i < m; i++) {
            d->weighted[i + j * m] = d->plays[j] * d->Phi[i + j * d->ld];
        }
    }
    tacet__gemm(false, true, r, m, n, 1, d->Phi, d->ld, d->weighted, m, 0, d->Sg, r);
    for (size_t j = 0; j < r; j++) {
        memcpy(d->Se + j * r, d->Sg + j * r, r * sizeof(double));
    }
    tacet__gemv(false, r, n, 1, d->Phi, d->ld, d->fit, 0, d->u);
}

/* theta ~ N(0, prior I), u = Sigma theta + N(0, reward_var Sigma + noise I). */
static tacet_status regress(tacet__decoded *d, double noise, tacet_error *err) {
    const size_t m = d->m, r = d->r;
    for (size_t i = 0; i < r * r; i++) {
        d->Se[i] *= d->set.reward_var;
    }
    for (size_t i = 0; i < r; i++) {
        d->Se[i * (r + 1)] += noise;
    }
    tacet_status status = tacet__cholesky(d->Se, r, r, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__trsm(false, r, m, d->Se, r, d->Sg, r);
    tacet__trsv(false, r, d->Se, r, d->u);
    tacet__syrk(true, m, r, 1, d->Sg, r, 0, d->new_cov, m);
    for (size_t i = 0; i < m; i++) {
        d->new_cov[i * (m + 1)] += 1 / d->set.prior_var;
    }
    status = tacet__cholesky(d->new_cov, m, m, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__gemv(true, r, m, 1, d->Sg, r, d->u, 0, d->new_theta);
    tacet__chol_solve(m, d->new_cov, m, d->new_theta);
    return tacet__chol_inverse(m, d->new_cov, m, err);
}

tacet_status tacet__decoded_fit(tacet__decoded *d, const double *sums, const double *guess, double total,
                                double noise_var, double drift, tacet_error *err) {
    const size_t n = d->n;
    for (size_t j = 0; j < n; j++) {
        d->guess[j] = guess[j] * d->set.typical_reward;
        d->guess[n + j] = guess[j] * (1 - d->set.typical_reward);
    }
    const double noise = d->set.noise_factor * noise_var, sd = sqrt(noise_var);
    const double tau = d->set.guess_weight / (1 + sd / GUESS_SCALE);
    tacet_status status = tacet__measure_fit(d->measure, d->fit, sums, d->guess, total, noise, tau, err);
    if (status != TACET_OK) {
        return status;
    }
    moments(d);
    status = regress(d, noise + drift * drift * total * total, err);
    if (status == TACET_OK) {
        d->new_width = d->set.width / (1 + sd * sd / (WIDTH_SCALE * WIDTH_SCALE));
        tacet__decoded_take(d);
    }
    return status;
}

void tacet__decoded_reward(tacet__decoded *d, double *mean, double *var, const double *phi, size_t ld, size_t n) {
    const size_t m = d->m;
    tacet__gemv(true, m, n, 1, phi, ld, d->theta, 0, mean);
    tacet__gemm(false, false, m, n, m, 1, d->cov, m, phi, ld, 0, d->half, m);
    for (size_t j = 0; j < n; j++) {
        var[j] = fmax(0, tacet__dot(d->half + j * m, phi + j * ld, m));
    }
}

double tacet__decoded_width(const tacet__decoded *d) {
    return d->width;
}

const double *tacet__decoded_theta(const tacet__decoded *d) {
    return d->theta;
}

void tacet__decoded_write(const tacet__decoded *d, tacet__writer *w) {
    tacet__write_f64(w, d->width);
    tacet__write_f64s(w, d->mass, 2 * d->n);
    tacet__write_f64s(w, d->theta, d->m);
    tacet__write_f64s(w, d->cov, d->m * d->m);
}

static void check_finite(tacet__reader *r, const double *x, size_t n) {
    for (size_t i = 0; i < n && !r->failed; i++) {
        r->failed = !isfinite(x[i]);
    }
}

void tacet__decoded_read(tacet__decoded *d, tacet__reader *r) {
    d->new_width = tacet__read_f64(r);
    tacet__read_f64s(r, d->fit, 2 * d->n);
    tacet__read_f64s(r, d->new_theta, d->m);
    tacet__read_f64s(r, d->new_cov, d->m * d->m);
    check_finite(r, d->fit, 2 * d->n);
    check_finite(r, d->new_theta, d->m);
    check_finite(r, d->new_cov, d->m * d->m);
    r->failed = r->failed || !(d->new_width >= 0 && d->new_width <= d->set.width);
}

void tacet__decoded_take(tacet__decoded *d) {
    d->width = d->new_width;
    memcpy(d->mass, d->fit, 2 * d->n * sizeof(double));
    memcpy(d->theta, d->new_theta, d->m * sizeof(double));
    memcpy(d->cov, d->new_cov, d->m * d->m * sizeof(double));
}
