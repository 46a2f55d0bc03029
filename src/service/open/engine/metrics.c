/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - Prometheus text (exposition format 0.0.4). Ring: open. */
#include "service/open/engine/metrics.h"

#include "core/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <tacet/core/status.h>
#include <unistd.h>

/* Upper ends of the buckets, in seconds; the last is +Inf. */
static const double ENDS[TACET__METRICS_BUCKETS - 1] = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                                        0.1,    0.2,   0.5,   1,     2,    5};

/* The statuses that there are; the last one stands for any other. */
static const unsigned CODES[TACET__METRICS_CODES] = {200, 201, 204, 304, 400, 401, 403, 404,
                                                     405, 409, 410, 413, 429, 500, 503, 0};

static void add_time(tacet__times *t, double seconds) {
    unsigned bucket = 0;
    while (bucket < TACET__METRICS_BUCKETS - 1 && !(seconds <= ENDS[bucket])) {
        bucket++;
    }
    tacet__metrics_add(&t->buckets[bucket], 1);
    tacet__metrics_add(&t->us, (uint64_t)(seconds > 0 ? 1e6 * seconds : 0));
}

void tacet__metrics_committed(tacet__metrics *m, double seconds) {
    add_time(&m->commits, seconds);
}

void tacet__metrics_answered(tacet__metrics *m, unsigned route, unsigned status, double seconds) {
    unsigned code = 0;
    while (code < TACET__METRICS_CODES - 1 && CODES[code] != status) {
        code++;
    }
    if (route < TACET__METRICS_ROUTES) {
        atomic_fetch_add_explicit(&m->requests[route][code], 1, memory_order_relaxed);
    }
    add_time(&m->answers, seconds);
}

void tacet__metrics_add(_Atomic uint64_t *what, uint64_t count) {
    atomic_fetch_add_explicit(what, count, memory_order_relaxed);
}

void tacet__metrics_moved(tacet__metrics *m) {
    atomic_store_explicit(&m->moved_ms, (uint64_t)(1e3 * tacet__now()), memory_order_relaxed);
}

double tacet__metrics_still(const tacet__metrics *m) {
    return tacet__now() - 1e-3 * (double)atomic_load_explicit(&m->moved_ms, memory_order_relaxed);
}

static void number(FILE *out, const char *name, const char *kind, const char *help, const _Atomic uint64_t *value) {
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, kind, name,
                  (unsigned long long)atomic_load_explicit(value, memory_order_relaxed));
}

static void times(FILE *out, const char *name, const char *help, const tacet__times *t) {
    uint64_t sum = 0;
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name);
    for (unsigned b = 0; b < TACET__METRICS_BUCKETS; b++) {
        sum += atomic_load_explicit(&t->buckets[b], memory_order_relaxed);
        if (b < TACET__METRICS_BUCKETS - 1) {
            (void)fprintf(out, "%s_bucket{le=\"%g\"} %llu\n", name, ENDS[b], (unsigned long long)sum);
        }
    }
    (void)fprintf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.6f\n%s_count %llu\n", name, (unsigned long long)sum, name,
                  1e-6 * (double)atomic_load_explicit(&t->us, memory_order_relaxed), name, (unsigned long long)sum);
}

/* Under the names that every exporter has for them. */
static void process_text(FILE *out) {
    struct rlimit most = {0};
    struct rusage use = {0};
    unsigned long long pages = 0, open_now = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm != NULL) {
        pages = fscanf(statm, "%*u %llu", &pages) == 1 ? pages : 0;
        (void)fclose(statm);
    }
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL) {
        open_now++;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)getrlimit(RLIMIT_NOFILE, &most);
    (void)getrusage(RUSAGE_SELF, &use);
    (void)fprintf(out,
                  "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes %llu\n"
                  "# TYPE process_open_fds gauge\nprocess_open_fds %llu\n"
                  "# TYPE process_max_fds gauge\nprocess_max_fds %llu\n"
                  "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total %.2f\n"
                  "# HELP tacet_build_info The build that answers.\n# TYPE tacet_build_info gauge\n"
                  "tacet_build_info{version=\"%s\"} 1\n",
                  pages * (unsigned long long)sysconf(_SC_PAGESIZE), open_now > 3 ? open_now - 3 : 0,
                  (unsigned long long)most.rlim_cur,
                  (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                      1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec),
                  tacet_version());
}

static void wire_text(FILE *out, const tacet__server_counts *w, int64_t certificate_expires) {
    (void)fprintf(out,
                  "# HELP tacet_refused_total Requests that were refused before they reached the service, by status.\n"
                  "# TYPE tacet_refused_total counter\n"
                  "tacet_refused_total{status=\"400\"} %llu\ntacet_refused_total{status=\"413\"} %llu\n"
                  "tacet_refused_total{status=\"429\"} %llu\ntacet_refused_total{status=\"503\"} %llu\n",
                  (unsigned long long)w->malformed, (unsigned long long)w->too_large, (unsigned long long)w->too_many,
                  (unsigned long long)w->overloaded);
    (void)fprintf(out,
                  "# HELP tacet_connections Connections now.\n# TYPE tacet_connections gauge\ntacet_connections %llu\n"
                  "# HELP tacet_connections_closed_total Connections that were closed for others, at a deadline, or "
                  "never let in.\n# TYPE tacet_connections_closed_total counter\n"
                  "tacet_connections_closed_total{reason=\"full\"} %llu\n"
                  "tacet_connections_closed_total{reason=\"deadline\"} %llu\n"
                  "tacet_connections_closed_total{reason=\"turned away\"} %llu\n",
                  (unsigned long long)w->connections, (unsigned long long)w->evicted, (unsigned long long)w->late,
                  (unsigned long long)w->turned_away);
    if (certificate_expires != 0) {
        (void)fprintf(out,
                      "# HELP tacet_certificate_expires_seconds When the server's certificate ends, since 1970.\n"
                      "# TYPE tacet_certificate_expires_seconds gauge\ntacet_certificate_expires_seconds %lld\n",
                      (long long)certificate_expires);
    }
}

char *tacet__metrics_text(tacet__metrics *m, const char *const *names, unsigned routes,
                          const tacet__server_counts *wire, int64_t certificate_expires,
                          void (*more)(FILE *out, void *user), void *user) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    (void)fprintf(out, "# HELP tacet_requests_total Requests answered, by route and status.\n"
                       "# TYPE tacet_requests_total counter\n");
    for (unsigned r = 0; r < routes && r < TACET__METRICS_ROUTES; r++) {
        for (unsigned c = 0; c < TACET__METRICS_CODES; c++) {
            const uint64_t count = atomic_load_explicit(&m->requests[r][c], memory_order_relaxed);
            if (count > 0 || CODES[c] == 200 || CODES[c] == 503) { /* these are there from the start, at 0 */
                (void)fprintf(out, "tacet_requests_total{route=\"%s\",status=\"%u\"} %llu\n", names[r], CODES[c],
                              (unsigned long long)count);
            }
        }
    }
    times(out, "tacet_request_seconds", "From a complete request to its answer.", &m->answers);
    times(out, "tacet_commit_seconds", "From a commit's begin to when it is durable.", &m->commits);
    number(out, "tacet_batches_total", "counter", "Durable commits.", &m->batches);
    number(out, "tacet_batched_requests_total", "counter", "Requests made durable by them.", &m->batched);
    number(out, "tacet_store_failures_total", "counter", "Transactions that the store failed or left unknown.",
           &m->failures);
    number(out, "tacet_rebuilds_total", "counter", "Policies made again from the store.", &m->rebuilds);
    number(out, "tacet_snapshots_total", "counter", "Snapshots of policies written.", &m->snapshots);
    number(out, "tacet_queued", "gauge", "Requests that wait for their study now.", &m->queued);
    number(out, "tacet_waiting", "gauge", "Long polls that wait now.", &m->waiting);
    number(out, "tacet_studies", "gauge", "Studies in memory now.", &m->studies);
    wire_text(out, wire, certificate_expires);
    process_text(out);
    more(out, user);
    const int broken = ferror(out);
    if (fclose(out) != 0 || broken) {
        free(text);
        return NULL;
    }
    return text;
}
