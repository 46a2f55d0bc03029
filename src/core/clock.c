/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - see clock.h. Ring: pure. */
#include "core/clock.h"

#include <math.h>

enum { SECOND = 1000000000 /* in ns */ };

double tacet__now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tacet__pause(double seconds) {
    const struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * SECOND)};
    (void)nanosleep(&t, NULL);
}

void tacet__cond_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

struct timespec tacet__until(double seconds) {
    struct timespec t;
    const double span = fmin(seconds, 1e9);
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)span;
    t.tv_nsec += (long)((span - floor(span)) * SECOND);
    t.tv_sec += t.tv_nsec / SECOND;
    t.tv_nsec %= SECOND;
    return t;
}
