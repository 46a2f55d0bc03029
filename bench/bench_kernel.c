/* SPDX-License-Identifier: Apache-2.0 */
/* bench_kernel.c - kernel rows and feature maps, as ratios to work that cannot be avoided, within one run.
 * The row: n = 100,000 points of d = 5. Its floors: copying the points, and libm's exp over as many numbers. */
#include "bench.h"

#include "gp/kernel_internal.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gp/features.h"
#include <tacet/core/simrng.h>
#include <time.h>

enum { N = 100000, D = 5, REPEATS = 30, POINTS = 2000 };

typedef struct arrays {
    double *X, *Xt, *out, *copy;
    const tacet_kernel *kernel;
    const tacet_features *features;
    double *phi, *A, *K;
    size_t m, q;
} arrays;

static void do_copy(arrays *a) {
    memcpy(a->copy, a->X, (size_t)N * D * sizeof *a->X);
}
static void do_exp(arrays *a) {
    for (size_t i = 0; i < N; i++) {
        a->out[i] = exp(-a->X[i]);
    }
}
static void do_row(arrays *a) {
    tacet_kernel_row(a->kernel, a->out, a->X, D, N, a->X);
}
static void do_soa(arrays *a) {
    tacet__kernel_row_soa(a->kernel, a->out, a->Xt, N, N, a->X);
}
static void do_features(arrays *a) {
    tacet_features_eval(a->features, a->phi, a->X, D, POINTS);
}
static void do_trigonometry(arrays *a) {
    for (size_t i = 0; i < a->m * POINTS / 2; i++) {
        a->phi[2 * i] = cos(a->X[i % N]);
        a->phi[2 * i + 1] = sin(a->X[i % N]);
    }
}
static void do_gemm(arrays *a) {
    tacet__gemm(true, false, a->m, POINTS, a->q, 1, a->A, a->q, a->K, a->q, 0, a->phi, a->m);
}

/* The least of several times. */
static double seconds(void (*work)(arrays *), arrays *a) {
    double best = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        const double start = bench_seconds(CLOCK_MONOTONIC);
        work(a);
        best = fmin(best, bench_seconds(CLOCK_MONOTONIC) - start);
    }
    return best;
}

static int rows(arrays *a) {
    static const char *const names[] = {"se", "matern12", "matern52", "linear"};
    const double copy = seconds(do_copy, a);
    const double libm = seconds(do_exp, a);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        tacet_kernel_spec spec;
        tacet_kernel *kernel = NULL;
        tacet_kernel_spec_defaults(&spec);
        spec.d = D;
        if (tacet_kernel_parse(&spec, names[k], NULL) != TACET_OK ||
            tacet_kernel_create(&kernel, &spec, NULL) != TACET_OK) {
            return 1;
        }
        a->kernel = kernel;
        const double row = seconds(do_row, a);
        const double soa = seconds(do_soa, a);
        printf("row %-9s by point: %5.2f x copying the points, %5.2f x libm exp; by coordinate: %5.2f, %5.2f\n",
               names[k], row / copy, row / libm, soa / copy, soa / libm);
        tacet_kernel_free(kernel);
    }
    return 0;
}

static int maps(arrays *a) {
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    tacet_features *features = NULL;
    const size_t order = 12;
    const tacet_domain ball = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};
    tacet_kernel_spec_defaults(&spec);
    spec.d = 2;
    if (tacet_kernel_create(&kernel, &spec, NULL) != TACET_OK ||
        tacet_features_create_qff(&features, kernel, order, NULL) != TACET_OK) {
        tacet_kernel_free(kernel);
        return 1;
    }
    a->features = features;
    a->m = tacet_features_dim(features);
    printf("fourier m = %zu: %.2f x one sine and cosine a pair\n", a->m,
           seconds(do_features, a) / seconds(do_trigonometry, a));
    tacet_features_free(features);
    features = NULL;
    if (tacet_features_create_mercer(&features, kernel, &ball, 20, 25, NULL) != TACET_OK) {
        tacet_kernel_free(kernel);
        return 1;
    }
    a->features = features;
    a->m = tacet_features_dim(features);
    a->q = 400;
    printf("mercer m = %zu, 400 nodes: %.2f x its gemm alone\n", a->m, seconds(do_features, a) / seconds(do_gemm, a));
    tacet_features_free(features);
    tacet_kernel_free(kernel);
    return 0;
}

int main(void) {
    tacet_simrng rng;
    arrays a = {.X = malloc((size_t)N * D * sizeof(double)),
                .Xt = malloc((size_t)N * D * sizeof(double)),
                .out = malloc(N * sizeof(double)),
                .copy = malloc((size_t)N * D * sizeof(double)),
                .phi = malloc((size_t)POINTS * 400 * sizeof(double)),
                .A = calloc((size_t)400 * 400, sizeof(double)),
                .K = calloc((size_t)400 * POINTS, sizeof(double))};
    int failed =
        a.X == NULL || a.Xt == NULL || a.out == NULL || a.copy == NULL || a.phi == NULL || a.A == NULL || a.K == NULL;
    if (!failed) {
        tacet_simrng_init(&rng, 1, 0);
        for (size_t i = 0; i < (size_t)N * D; i++) {
            a.X[i] = tacet_simrng_uniform(&rng);
            a.Xt[i % D * N + i / D] = a.X[i];
        }
        failed = rows(&a) || maps(&a);
    }
    free(a.X);
    free(a.Xt);
    free(a.out);
    free(a.copy);
    free(a.phi);
    free(a.A);
    free(a.K);
    return failed;
}
