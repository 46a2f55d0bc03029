/* SPDX-License-Identifier: Apache-2.0 */
/* bench_gp_ucb.c - `tacet-lab bench gp-ucb`: the incremental GP against the bandwidth of memory.
 * Ring: programs; made-up data. Round t must read the t - 1 columns of V there are, 8 n (t - 1) bytes; the yardstick is
 * one dgemv over as many columns, T times; the line says which processor's dgemv, since OpenBLAS takes a slow one where
 * it does not know the processor (bench/run names one that fits). */
#include "commands.h"

#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <tacet/core/simrng.h>
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
    const double start = cli_seconds();
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
    *seconds = cli_seconds() - start;
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
        const double start = cli_seconds();
        for (size_t t = 0; t < p->queries; t++) {
            tacet__gemv(false, p->n, t, -1, V, p->n, c, 1, w);
        }
        *seconds = cli_seconds() - start;
    }
    free(V);
    free(c);
    free(w);
    return ok;
}

static int print(const problem *p, double seconds, double of_system, double streaming, double peak) {
    const double cells = (double)p->n * (double)p->queries;
    const double allowed = 1.2 * 8 * cells + 8 * (double)p->n * (double)(p->d + 1);
    const double read = 8 * (double)p->n * (double)p->queries * (double)(p->queries - 1) / 2;
    return cli_tell(
        cli_object("n d queries repeats seconds system_seconds stream_seconds stream_core ratio streamed_bytes "
                   "peak_bytes allowed_bytes _rate _peak _allowed",
                   J(p->n), J(p->d), J(p->queries), J(p->repeats), J(seconds), J(of_system), J(streaming),
                   J(tacet__blas_core()), J(seconds / streaming), J(read), J(peak), J(allowed),
                   J(1e-9 * read / streaming), J(1e-6 * peak), J(1e-6 * allowed)),
        "n {n}, d {d}, {queries} queries: {seconds:.3f} s, streaming alone {stream_seconds:.3f} s ({_rate:.1f} GB/s, "
        "dgemv for {stream_core}), ratio {ratio:.2f}\n"
        "of it {system_seconds:.3f} s by the system, which clears fresh pages of V; the yardstick's were made before\n"
        "peak {_peak:.1f} MB, allowed {_allowed:.1f} MB\n");
}

int lab_bench_gp_ucb(int argc, char **argv, const cli_command *self) {
    problem p = {.n = 100000, .d = 5, .queries = 200, .repeats = 3, .seed = 1, .kernel = "se"};
    const cli_option options[] = {
        CLI_OPT("n", &p.n, "N", "candidates; default 100000"),
        CLI_OPT("d", &p.d, "D", "coordinates; default 5"),
        CLI_OPT("queries", &p.queries, "T", "rounds; default 200"),
        CLI_OPT("repeats", &p.repeats, "K", "times each is measured, in turn; default 3"),
        {0},
    };
    int code = CLI_EXIT_OK;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (p.n == 0 || p.d == 0 || p.queries < 2 || p.queries > p.n || p.repeats == 0) {
        return cli_usage(self, "--n, --d and --repeats must be at least 1, --queries at least 2 and at most --n");
    }
    tacet_error err;
    tacet_error_clear(&err);
    double best = (double)INFINITY;
    double best_system = 0;
    double best_stream = (double)INFINITY;
    double peak = 0;
    bool room = make(&p);
    tacet_status status = TACET_OK;
    for (size_t k = 0; k < p.repeats && room && status == TACET_OK; k++) {
        double seconds = 0;
        double of_system = 0;
        cli_progress((double)k / (double)p.repeats, "measuring");
        status = optimise(&p, &seconds, &of_system, &err);
        best_system = seconds < best ? of_system : best_system;
        best = fmin(best, seconds);
        peak = k == 0 ? peak_bytes() : peak; /* before the yardstick's own matrix */
        room = status != TACET_OK || stream(&p, &seconds);
        best_stream = fmin(best_stream, seconds);
    }
    cli_progress_end();
    if (status != TACET_OK || !room) {
        code = CLI_EXIT_FAILED;
        if (room) {
            code = cli_fail(self, &err);
        } else {
            cli_say(self, "out of memory for %zu candidates and %zu queries", p.n, p.queries);
        }
    } else {
        code = print(&p, best, best_system, best_stream, peak);
    }
    free(p.X);
    free(p.y);
    return code;
}
