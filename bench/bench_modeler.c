/* SPDX-License-Identifier: Apache-2.0 */
/* bench_modeler.c - one round of the modeler (suggest and observe) over 40,000 released rows, up to 100 measurements,
 * for every method: the mean and the longest round, in processor time. The same rounds are run three times and the
 * shortest time of each is taken: a neighbour on the machine is not the modeler's cost. Ring: programs. */
#include "bench.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tacet/core/simrng.h>
#include <tacet/outsourced/open/modeler.h>

enum { N = 40000, T = 100, MOST_D = 5, REPEATS = 3 };

static double truth(const double *x, size_t d) {
    double y = 0;
    for (size_t i = 0; i < d; i++) {
        y += cos(x[i] / 2 + (double)i);
    }
    return y / sqrt((double)d);
}

static int run(bool known, size_t d, const char *name) {
    static double positions[N * MOST_D], rows[N * MOST_D];
    double low[MOST_D], high[MOST_D];
    const double sigma = 1.5;
    const double lengthscale = 1.25;
    tacet_simrng rng;
    tacet_simrng_init(&rng, 2, 0);
    for (size_t k = 0; k < N * d; k++) {
        positions[k] = 7 * tacet_simrng_uniform(&rng);
        rows[k] = positions[k] + sigma * tacet_simrng_normal(&rng);
    }
    for (size_t i = 0; i < d; i++) {
        low[i] = 0;
        high[i] = 7;
    }
    tacet_kernel_spec kernel;
    tacet_kernel_spec_defaults(&kernel);
    kernel.d = d;
    kernel.lengthscales = &lengthscale;
    kernel.lengthscale_count = 1;
    tacet_modeler_settings s;
    tacet_modeler_settings_defaults(&s);
    s.rows = rows;
    s.ld = d;
    s.d = d;
    s.n = N;
    s.low = low;
    s.high = high;
    s.law = tacet_law_find("gaussian");
    s.scale = sigma;
    s.kernel = known ? &kernel : NULL;
    s.noise_var = 1e-4;
    s.horizon = T;
    double spent[T];
    tacet_error err = {0};
    tacet_status status = TACET_OK;
    for (size_t r = 0; r < REPEATS && status == TACET_OK; r++) {
        tacet_policy *policy = NULL;
        status = tacet_modeler_create(&policy, &s, &err);
        for (size_t t = 0; t < T && status == TACET_OK; t++) {
            tacet_suggestion next;
            const double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
            status = tacet_policy_suggest(policy, &next, NULL, &err);
            if (status == TACET_OK) {
                status = tacet_policy_observe(policy, next.ticket, truth(positions + next.index * d, d), &err);
            }
            const double took = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
            spent[t] = r == 0 ? took : fmin(spent[t], took);
        }
        tacet_policy_free(policy);
    }
    if (status != TACET_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    double total = 0;
    double longest = 0;
    double last = 0; /* of the last ten: what a round costs at t = 100 */
    for (size_t t = 0; t < T; t++) {
        total += spent[t];
        longest = fmax(longest, spent[t]);
        last += t + 10 >= T ? spent[t] / 10 : 0;
    }
    printf("%-6s d = %zu, n = %d, t <= %d: a round takes %.2f ms, the last ten %.2f ms, the longest %.2f ms\n", name, d,
           N, T, 1e3 * total / T, 1e3 * last, 1e3 * longest);
    return 0;
}

int main(void) {
    return run(true, 2, "eiv") | run(true, MOST_D, "eiv") | run(false, 2, "averaging") |
           run(false, MOST_D, "averaging");
}
