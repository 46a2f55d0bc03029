/* SPDX-License-Identifier: Apache-2.0 */
/* one_gp_ucb.c - one_gp_ucb N D QUERIES TRIALS: the incremental GP against the bandwidth of memory, for gp.py. Each
 * is done so often, in turn, and the best time counts, so that a busy machine disturbs both alike. Prints JSON: seconds
 * (all of GP-UCB), stream_seconds, ratio, peak_bytes (of GP-UCB alone), allowed_bytes (1.2 x 8 n T and the data). Ring:
 * programs; made-up data. Round t must read the t - 1 columns of V there are, 8 n (t - 1) bytes; the yardstick is one
 * dgemv over as many columns, T times; the line says which processor's dgemv, since OpenBLAS takes a slow one where it
 * does not know the processor (bench/run names one that fits). */
#include "gp/linalg.h"
#include "core/memory.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <tacet/core/simrng.h>
#include <time.h>
#include "gp/gp_ucb.h"

typedef struct problem {
    size_t n;
    size_t d;
    size_t queries;
    size_t repeats;
    uint64_t seed;
    const char *kernel;
    double *X; /* d x n */
    double *y; /* n */
} problem;

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (double)usage.ru_maxrss : NAN;
}

static bool make(problem *p) {
    size_t cells = 0;
    if (!tacet__size_mul(&cells, p->n, p->d)) {
        return false;
    }
    p->X = TACET__ALIGNED(double, cells);
    p->y = TACET__ALIGNED(double, p->n);
    if (p->X == NULL || p->y == NULL) {
        return false;
    }
    tacet_simrng rng;
    tacet_simrng_init(&rng, p->seed, 0);
    for (size_t j = 0; j < p->n; j++) {
        p->y[j] = 0;
        for (size_t c = 0; c < p->d; c++) {
            const double x = tacet_simrng_uniform(&rng);
            p->X[j * p->d + c] = x;
            p->y[j] += sin(6 * x + (double)c);
        }
    }
    return true;
}

/* Processor time the system took on our behalf: nearly all of it clearing fresh pages of V. */
static double system_seconds(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec
                                               : NAN;
}

/* Everything a user waits for once the table is read; and what of it was the system's. */
static tacet_status optimise(const problem *p, double *seconds, double *of_system, tacet_error *err) {
    const double lengthscale = 0.3;
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = p->d;
    spec.signal_var = (double)p->d;
    spec.lengthscales = &lengthscale;
    tacet_gp_ucb_settings settings;
    tacet_gp_ucb_settings_defaults(&settings);
    settings.noise_var = 1e-4;
    settings.horizon = p->queries;
    tacet_kernel *kernel = NULL;
    tacet_policy *policy = NULL;
    const double before = system_seconds();
    const double start = now();
    tacet_status status = tacet_kernel_parse(&spec, p->kernel, err);
    if (status == TACET_OK) {
        status = tacet_kernel_create(&kernel, &spec, err);
    }
    if (status == TACET_OK) {
        const tacet_cov_spec cov = {.kernel = kernel};
        status = tacet_gp_ucb_create(&policy, &settings, &cov, p->X, p->d, p->n, err);
    }
    for (size_t t = 0; t < p->queries && status == TACET_OK; t++) {
        tacet_suggestion s;
        status = tacet_policy_suggest(policy, &s, NULL, err);
        if (status == TACET_OK) {
            status = tacet_policy_observe(policy, s.ticket, p->y[s.index], err);
        }
    }
    *seconds = now() - start;
    *of_system = system_seconds() - before;
    tacet_policy_free(policy);
    tacet_kernel_free(kernel);
    return status;
}

/* The same bytes, by dgemv. The matrix is filled before the clock starts. */
static bool stream(const problem *p, double *seconds) {
    size_t cells = 0;
    double *V = NULL;
    double *c = TACET__ALIGNED(double, p->queries);
    double *w = TACET__ALIGNED(double, p->n);
    if (tacet__size_mul(&cells, p->n, p->queries)) {
        V = TACET__ALIGNED(double, cells);
    }
    const bool ok = V != NULL && c != NULL && w != NULL;
    if (ok) {
        for (size_t i = 0; i < cells; i++) {
            V[i] = 1e-3 * (double)(i % 1000);
        }
        for (size_t t = 0; t < p->queries; t++) {
            c[t] = 1e-3 * (double)t;
        }
        for (size_t j = 0; j < p->n; j++) {
            w[j] = 0;
        }
        const double start = now();
        for (size_t t = 0; t < p->queries; t++) {
            tacet__gemv(false, p->n, t, -1, V, p->n, c, 1, w);
        }
        *seconds = now() - start;
    }
    free(V);
    free(c);
    free(w);
    return ok;
}

static void print(const problem *p, double seconds, double of_system, double streaming, double peak) {
    const double allowed = 1.2 * 8 * (double)p->n * (double)p->queries + 8 * (double)p->n * (double)(p->d + 1);
    json_t *object = json_pack("{sf sf sf ss sf sf sf}", "seconds", seconds, "system_seconds", of_system,
                               "stream_seconds", streaming, "stream_core", tacet__blas_core(), "ratio",
                               seconds / streaming, "peak_bytes", peak, "allowed_bytes", allowed);
    (void)json_dumpf(object, stdout, JSON_COMPACT);
    (void)putchar('\n');
    json_decref(object);
}

int main(int argc, char **argv) {
    problem p = {.seed = 1, .kernel = "se"};
    size_t *const numbers[] = {&p.n, &p.d, &p.queries, &p.repeats};
    for (int i = 0; i < 4 && i + 1 < argc; i++) {
        *numbers[i] = strtoul(argv[i + 1], NULL, 10);
    }
    if (p.n == 0 || p.d == 0 || p.queries < 2 || p.queries > p.n || p.repeats == 0) {
        fprintf(stderr, "usage: one_gp_ucb N D QUERIES TRIALS; queries are 2 to N\n");
        return 2;
    }
    tacet_error err = {0};
    double best = (double)INFINITY, best_system = 0, best_stream = (double)INFINITY, peak = 0;
    bool room = make(&p);
    tacet_status status = TACET_OK;
    for (size_t k = 0; k < p.repeats && room && status == TACET_OK; k++) {
        double seconds = 0, of_system = 0;
        status = optimise(&p, &seconds, &of_system, &err);
        best_system = seconds < best ? of_system : best_system;
        best = fmin(best, seconds);
        peak = k == 0 ? peak_bytes() : peak; /* before the yardstick's own matrix */
        room = status != TACET_OK || stream(&p, &seconds);
        best_stream = fmin(best_stream, seconds);
    }
    if (status != TACET_OK || !room) {
        fprintf(stderr, "one_gp_ucb: %s\n", room ? err.message : "out of memory");
        return 1;
    }
    print(&p, best, best_system, best_stream, peak);
    free(p.X);
    free(p.y);
    return 0;
}
