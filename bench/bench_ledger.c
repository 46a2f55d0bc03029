/* SPDX-License-Identifier: Apache-2.0 */
/* bench_ledger.c - durable ledger entries a second (reserve, then commit) from one writer, from 8 threads of one
 * process and from 8 processes, and their ratios. Usage: bench_ledger [--seconds S] [--folder DIR] | bench_ledger
 * --ledger FILE --entries N --charge E (writes a ledger with a budget of eps 1 and keeps it; exit code 3 when the
 * budget refuses). */
#include "bench.h"

#include <tacet/dp/ledger.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 8 };

static char path[4096];

static tacet_ledger *open_ledger(double eps) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings settings;
    tacet_error err = {TACET_OK, ""};
    tacet_ledger_settings_defaults(&settings);
    settings.accounting = TACET_ACCOUNTING_BASIC;
    settings.eps = eps;
    if (tacet_ledger_open(&ledger, path, &settings, &err) != TACET_OK) {
        fprintf(stderr, "bench_ledger: %s\n", err.message);
        exit(1);
    }
    return ledger;
}

/* One entry: reserved, answered. */
static tacet_status write_entry(tacet_ledger *ledger, const char *ticket, double eps, tacet_error *err) {
    tacet_charge charge;
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob_init(&memo);
    tacet_charge_init(&charge);
    charge.what = "one number";
    charge.to_whom = "the modeler";
    charge.mechanism = "laplace";
    charge.parameters = "{\"scale\":2,\"grid\":-20}";
    charge.covered_fields = "y";
    charge.covered_records = "one round";
    tacet_charge_pure(&charge, eps);
    tacet_status status = tacet_ledger_reserve(ledger, &entry, &memo, ticket, &charge, err);
    if (status == TACET_OK && !entry.answered) {
        status = tacet_ledger_commit(ledger, &entry, "01234567", 8, NULL, err);
    }
    tacet_blob_clear(&memo);
    return status;
}

typedef struct writer {
    tacet_ledger *ledger;
    int number;
    double until;
    long done;
} writer;

static void *write_on(void *argument) {
    writer *w = argument;
    char ticket[64];
    while (bench_seconds(CLOCK_MONOTONIC) < w->until) {
        (void)snprintf(ticket, sizeof ticket, "%d-%ld", w->number, w->done);
        if (write_entry(w->ledger, ticket, 1e-9, NULL) != TACET_OK) {
            w->done = -1;
            break;
        }
        w->done++;
    }
    return NULL;
}

static double from_threads(int count, double seconds) {
    writer writers[WRITERS];
    pthread_t threads[WRITERS];
    long done = 0;
    tacet_ledger *ledger = open_ledger(1);
    const double start = bench_seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < count; i++) {
        writers[i] = (writer){ledger, i, start + seconds, 0};
        (void)pthread_create(&threads[i], NULL, write_on, &writers[i]);
    }
    for (int i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
        done += writers[i].done;
    }
    const double rate = (double)done / (bench_seconds(CLOCK_MONOTONIC) - start);
    tacet_ledger_close(ledger);
    (void)unlink(path);
    return rate;
}

static double from_processes(int count, double seconds) {
    int ends[2];
    long done = 0;
    tacet_ledger_close(open_ledger(1));
    if (pipe(ends) != 0) {
        return -1;
    }
    const double start = bench_seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < count; i++) {
        if (fork() == 0) {
            writer w = {open_ledger(1), i, start + seconds, 0};
            (void)write_on(&w);
            tacet_ledger_close(w.ledger);
            _exit(write(ends[1], &w.done, sizeof w.done) == (ssize_t)sizeof w.done ? 0 : 1);
        }
    }
    for (int i = 0; i < count; i++) {
        long one = 0;
        if (read(ends[0], &one, sizeof one) == (ssize_t)sizeof one) {
            done += one;
        }
        (void)wait(NULL);
    }
    const double rate = (double)done / (bench_seconds(CLOCK_MONOTONIC) - start);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)unlink(path);
    return rate;
}

static int keep_ledger(long entries, double eps) {
    tacet_ledger *ledger = open_ledger(1);
    tacet_error err = {TACET_OK, ""};
    tacet_status status = TACET_OK;
    for (long i = 0; i < entries && status == TACET_OK; i++) {
        char ticket[32];
        (void)snprintf(ticket, sizeof ticket, "t%ld", i);
        status = write_entry(ledger, ticket, eps, &err);
    }
    tacet_ledger_close(ledger);
    if (status != TACET_OK) {
        fprintf(stderr, "bench_ledger: %s\n", err.message);
    }
    return status == TACET_OK ? 0 : status == TACET_BUDGET ? 3 : 1;
}

int main(int argc, char **argv) {
    double seconds = 1;
    const char *folder = "/tmp";
    const char *keep = NULL;
    long entries = 10;
    double eps = 0.01;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0) {
            seconds = strtod(argv[i + 1], NULL);
        } else if (strcmp(argv[i], "--folder") == 0) {
            folder = argv[i + 1];
        } else if (strcmp(argv[i], "--ledger") == 0) {
            keep = argv[i + 1];
        } else if (strcmp(argv[i], "--entries") == 0) {
            entries = strtol(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--charge") == 0) {
            eps = strtod(argv[i + 1], NULL);
        }
    }
    if (keep != NULL) {
        (void)snprintf(path, sizeof path, "%s", keep);
        return keep_ledger(entries, eps);
    }
    (void)snprintf(path, sizeof path, "%s/bench-ledger-%ld", folder, (long)getpid());
    const double one = from_threads(1, seconds);
    const double threads = from_threads(WRITERS, seconds);
    const double processes = from_processes(WRITERS, seconds);
    printf("1 writer             %8.0f durable entries a second (two transactions each)\n", one);
    printf("8 threads            %8.0f durable entries a second, %.2f times one writer\n", threads, threads / one);
    printf("8 processes          %8.0f durable entries a second, %.2f times one writer\n", processes, processes / one);
    return 0;
}
