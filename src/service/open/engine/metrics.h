/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - counts of what the service did, as Prometheus text. Ring: open.
 *
 * Counts requests by route and by status, batches, failures and times; never anything that a value, a decision
 * set or a clipped reward could move. Times are those of whole requests, over all studies. Any thread. */
#pragma once

#include "io/http/server.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { TACET__METRICS_ROUTES = 48, TACET__METRICS_CODES = 16, TACET__METRICS_BUCKETS = 14 };

typedef struct tacet__times {
    _Atomic uint64_t buckets[TACET__METRICS_BUCKETS]; /* not cumulative */
    _Atomic uint64_t us;                              /* their sum */
} tacet__times;

typedef struct tacet__metrics {
    _Atomic uint64_t requests[TACET__METRICS_ROUTES][TACET__METRICS_CODES]; /* by route and status (metrics.c) */
    tacet__times answers, commits;
    _Atomic uint64_t batches, batched; /* commits, and the requests in them */
    _Atomic uint64_t failures;         /* of the store */
    _Atomic uint64_t rebuilds;         /* policies made again from the store */
    _Atomic uint64_t snapshots;
    _Atomic uint64_t moved_ms; /* when the store last did what it was asked, by the monotonic clock */
    _Atomic uint64_t queued;   /* requests that wait for their study now */
    _Atomic uint64_t waiting;  /* long polls now */
    _Atomic uint64_t studies;  /* in memory now */
} tacet__metrics;

void tacet__metrics_answered(tacet__metrics *metrics, unsigned route, unsigned status, double seconds);
void tacet__metrics_moved(tacet__metrics *metrics);         /* the store did what it was asked */
double tacet__metrics_still(const tacet__metrics *metrics); /* for so many seconds it did not */
void tacet__metrics_add(_Atomic uint64_t *what, uint64_t count);
void tacet__metrics_committed(tacet__metrics *metrics, double seconds);
/* The text, from malloc; NULL when out of memory. names[route] for each of `routes` routes; what the wire refused by
 * itself; when the certificate ends (seconds since 1970; 0: not known, and left out); `more` adds what is of studies.
 */
char *tacet__metrics_text(tacet__metrics *metrics, const char *const *names, unsigned routes,
                          const tacet__server_counts *wire, int64_t certificate_expires,
                          void (*more)(FILE *out, void *user), void *user);
