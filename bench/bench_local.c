/* SPDX-License-Identifier: Apache-2.0 */
/* bench_local.c - learners of the local model: microseconds of processor time a round over the first 10^4, up to 10^5
 * and up to 10^6 rounds of one run, and the growth from the first to the last; then the saved states at these rounds,
 * reports not remembered: bytes, and milliseconds to save and to load. 100 arms, Matérn 5/2, reports through the
 * randomiser included. Usage: bench_local [--rounds T] */
#include "bench.h"

#include <tacet/dp/randomizer.h>
#include "local/open/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARMS = 100, STEPS = 3 };

typedef struct saved_state {
    double kilobytes, save_ms, load_ms;
} saved_state;

static saved_state measure_state(const tacet_policy *policy, tacet_policy *fresh) {
    saved_state out = {0};
    tacet_error err = {TACET_OK, ""};
    tacet_blob blob;
    tacet_blob_init(&blob);
    const double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    bench_must(tacet_policy_save(policy, &blob, &err), &err);
    const double middle = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    bench_must(tacet_policy_load(fresh, blob.data, blob.size, &err), &err);
    out.load_ms = 1e3 * (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - middle);
    out.save_ms = 1e3 * (middle - begin);
    out.kilobytes = (double)blob.size / 1e3;
    tacet_blob_clear(&blob);
    return out;
}

static void measure(tacet_local_algorithm algorithm, tacet_local_parameters parameters, size_t rounds) {
    const double lengthscale = 0.2;
    double X[ARMS];
    tacet_error err = {TACET_OK, ""};
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    tacet_ldp ldp;
    tacet_local_settings s;
    tacet_policy *policy = NULL;
    tacet_policy *fresh = NULL;
    tacet_noise *noise = NULL;
    for (size_t i = 0; i < ARMS; i++) {
        X[i] = (double)i / (ARMS - 1);
    }
    tacet_kernel_spec_defaults(&spec);
    bench_must(tacet_kernel_parse(&spec, "matern52", &err), &err);
    spec.lengthscales = &lengthscale;
    bench_must(tacet_kernel_create(&kernel, &spec, &err), &err);
    const tacet_ldp_kind kind = algorithm == TACET_LOCAL_UCB ? TACET_LDP_HYBRID : TACET_LDP_LAPLACE;
    bench_must(tacet_ldp_init(&ldp, kind, 1, -2, 2, &err), &err);
    tacet_local_settings_defaults(&s);
    s.algorithm = algorithm;
    s.parameters = parameters;
    s.ldp = &ldp;
    s.bound = 1;
    s.noise_bound = 1;
    s.horizon = rounds;
    const tacet_cov_spec cov = {.kernel = kernel};
    bench_must(tacet_local_create(&policy, &s, &cov, X, 1, ARMS, &err), &err);
    bench_must(tacet_local_create(&fresh, &s, &cov, X, 1, ARMS, &err), &err);
    bench_must(tacet_noise_open_seeded(&noise, 1, 0, &err), &err);
    double each[STEPS] = {0};
    saved_state states[STEPS] = {{0}};
    size_t t = 0;
    for (size_t step = 0; step < STEPS; step++) {
        const size_t end = step == 0 ? rounds / 100 : step == 1 ? rounds / 10 : rounds;
        const size_t first = t;
        const double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (; t < end; t++) {
            tacet_suggestion suggestion;
            double report = 0;
            bench_must(tacet_policy_suggest(policy, &suggestion, NULL, &err), &err);
            bench_must(tacet_randomize(noise, &report, &ldp, sin(6 * X[suggestion.index]), &err), &err);
            bench_must(tacet_policy_observe(policy, suggestion.ticket, report, &err), &err);
        }
        each[step] = 1e6 * (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)(end - first);
        states[step] = measure_state(policy, fresh);
    }
    printf("%-4s %-9s us a round: %.2f to %zu rounds, %.2f to %zu, %.2f to %zu; growth %.2f\n",
           tacet_local_algorithm_name(algorithm), tacet_local_parameters_name(parameters), each[0], rounds / 100,
           each[1], rounds / 10, each[2], rounds, each[2] / each[0]);
    printf("               saved: %.0f, %.0f, %.0f kB; save %.2f, %.2f, %.2f ms; load %.2f, %.2f, %.2f ms\n",
           states[0].kilobytes, states[1].kilobytes, states[2].kilobytes, states[0].save_ms, states[1].save_ms,
           states[2].save_ms, states[0].load_ms, states[1].load_ms, states[2].load_ms);
    tacet_noise_close(noise);
    tacet_policy_free(policy);
    tacet_policy_free(fresh);
    tacet_kernel_free(kernel);
}

int main(int argc, char **argv) {
    size_t rounds = 1000000;
    if (argc == 3 && strcmp(argv[1], "--rounds") == 0) {
        rounds = (size_t)strtoull(argv[2], NULL, 10);
    } else if (argc != 1) {
        fprintf(stderr, "usage: bench_local [--rounds T]\n");
        return 2;
    }
    measure(TACET_LOCAL_UCB, TACET_LOCAL_TIGHT, rounds);
    measure(TACET_LOCAL_TGP, TACET_LOCAL_LITERAL, rounds);
    measure(TACET_LOCAL_ATA, TACET_LOCAL_ORDERWISE, rounds);
    measure(TACET_LOCAL_MOMA, TACET_LOCAL_LITERAL, rounds);
    measure(TACET_LOCAL_MOMA, TACET_LOCAL_ORDERWISE, rounds);
    return 0;
}
