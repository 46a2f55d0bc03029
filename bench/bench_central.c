/* SPDX-License-Identifier: Apache-2.0 */
/* bench_central.c - joint-DP bandits: a suggestion against the bare features it must evaluate; growth in T and m. Times
 * are of the processor, so that other work on the machine does not count. Ring: programs. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tacet/core/simrng.h>
#include "central/open/published_ucb.h"
#include "central/trusted/policy.h"

enum { ARMS = 25 };
static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};
static double arms[2 * ARMS];

static tacet_features *mercer(size_t m) {
    tacet_error err;
    tacet_error_clear(&err);
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.d = 2;
    tacet_kernel *kernel = NULL;
    tacet_features *features = NULL;
    bench_must(tacet_kernel_create(&kernel, &spec, &err), &err);
    bench_must(tacet_features_create_mercer(&features, kernel, &BALL, 14, m, &err), &err);
    tacet_kernel_free(kernel);
    return features;
}

/* A whole run: seconds in all, and the mean time of a suggestion over the rounds after the first release. */
static double run(size_t m, uint64_t rounds, double *suggest, size_t *state) {
    tacet_error err;
    tacet_error_clear(&err);
    tacet_features *features = mercer(m);
    tacet_central_map *map = NULL;
    tacet_noise *noise = NULL;
    tacet_policy *policy = NULL;
    bench_must(tacet_central_map_create(&map, features, &BALL, 15, 0, 1, &err), &err);
    bench_must(tacet_noise_open_seeded(&noise, 1, 0, &err), &err);
    tacet_central_settings settings;
    tacet_central_settings_defaults(&settings);
    settings.eps = 1;
    settings.delta = 1e-5;
    settings.rounds = rounds;
    const tacet_ask ask = {.noise = noise, .ticket = "bench", .what = "bench", .to_whom = "nobody"};
    const double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    bench_must(tacet_central_create(&policy, map, &settings, &ask, &err), &err);
    const tacet_round round = {.points = arms, .ld = 2, .d = 2, .count = ARMS};
    double spent = 0;
    for (uint64_t t = 0; t < rounds; t++) {
        tacet_suggestion s;
        const double before = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        bench_must(tacet_policy_suggest(policy, &s, &round, &err), &err);
        spent += bench_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
        bench_must(tacet_policy_observe(policy, s.ticket, (double)(t % 3) / 2, &err), &err);
    }
    const double total = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    tacet_blob blob;
    tacet_blob_init(&blob);
    bench_must(tacet_policy_save(policy, &blob, &err), &err);
    *state = blob.size;
    *suggest = spent / (double)rounds;
    tacet_blob_clear(&blob);
    tacet_policy_free(policy);
    tacet_noise_close(noise);
    tacet_central_map_free(map);
    tacet_features_free(features);
    return total;
}

/* The features of the arms alone: what any suggestion must pay. */
static double bare(size_t m) {
    tacet_features *features = mercer(m);
    double *phi = malloc(m * ARMS * sizeof(double));
    const double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    enum { TIMES = 2000 };
    for (int k = 0; k < TIMES; k++) {
        tacet_features_eval(features, phi, arms, 2, ARMS);
    }
    const double each = (bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / TIMES;
    free(phi);
    tacet_features_free(features);
    return each;
}

int main(void) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 1, 0);
    for (size_t i = 0; i < 2 * ARMS; i++) {
        arms[i] = 2.8 * tacet_simrng_uniform(&rng) - 1.4;
    }
    double suggest = 0, first = 0;
    size_t state = 0, first_state = 0;
    static const size_t FEATURES[] = {20, 25, 50};
    for (size_t i = 0; i < 3; i++) {
        (void)run(FEATURES[i], 5000, &suggest, &state);
        const double floor = bare(FEATURES[i]);
        printf("suggest, 25 arms, %zu features: %.1f us (releases included), %.2f times the features alone (%.1f us)\n",
               FEATURES[i], 1e6 * suggest, suggest / floor, 1e6 * floor);
    }
    static const uint64_t ROUNDS[] = {1000, 10000, 100000};
    for (size_t i = 0; i < 3; i++) {
        const double total = run(25, ROUNDS[i], &suggest, &state);
        first = i == 0 ? total : first;
        first_state = i == 0 ? state : first_state;
        printf("T = %llu: %.2f s, %.1f times the time and %.2f times the state of T = 1000\n",
               (unsigned long long)ROUNDS[i], total, total / first, (double)state / (double)first_state);
    }
    return 0;
}
