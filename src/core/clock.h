/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the clock that only goes forward, and waiting by it. Ring: pure. */
#pragma once

#include <pthread.h>
#include <time.h>

/* Seconds since some moment. */
double tacet__now(void);
void tacet__pause(double seconds);

/* A condition that waits by this clock, and the moment so many seconds from now (at most 10^9) to wait until. */
void tacet__cond_init(pthread_cond_t *condition);
struct timespec tacet__until(double seconds);
