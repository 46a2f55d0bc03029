/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - what the benchmarks share: clocks, and an end with a message. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <tacet/core/status.h>
#include <time.h>

/* Seconds of CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID or CLOCK_THREAD_CPUTIME_ID. */
static inline double bench_seconds(clockid_t clock) {
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends the program when a call failed. */
static inline void bench_must(tacet_status status, const tacet_error *err) {
    if (status != TACET_OK) {
        (void)fprintf(stderr, "bench: %s\n", err->message);
        exit(1);
    }
}
