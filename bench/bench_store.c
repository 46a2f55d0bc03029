/* SPDX-License-Identifier: Apache-2.0 */
/* bench_store.c - the store of studies: durable suggest+observe pairs a second in batches of 1, 16 and 64, against the
 * syncs a second of the same disk; and what a start costs: reading and checking all events of a log, against stepping
 * through the same rows, and opening at a snapshot. Usage: bench_store [--pairs N] [--store FOLDER|URL]; N is half the
 * number of events that are read (default 500000: a million events). */
#include "bench.h"

#include <tacet/core/status.h>

#include "io/db/db.h"
#include "service/open/store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUND = 400 /* bytes of a decision set: 25 arms of two numbers */ };

static tacet_error err;

static void need(tacet_status status) {
    if (status != TACET_OK) {
        fprintf(stderr, "bench_store: %s\n", err.message[0] != '\0' ? err.message : tacet_status_text(status));
        exit(1);
    }
}

static void append_pairs(tacet__studies *s, tacet__study *study, size_t count, bool keys) {
    static unsigned char round[ROUND];
    need(tacet__studies_begin(s, study, &err));
    for (size_t i = 0; i < count; i++) {
        char key[32];
        const int size = snprintf(key, sizeof key, "%llu", (unsigned long long)study->head * 2654435761U);
        tacet__suggestion found;
        tacet__event suggest = {.kind = TACET__EVENT_SUGGEST,
                                .number = study->suggested + 1,
                                .index = 3,
                                .body = round,
                                .body_size = sizeof round};
        if (keys) {
            suggest.key = key;
            suggest.key_size = (size_t)size;
            if (tacet__studies_by_key(s, study, &found, key, (size_t)size, NULL) != TACET_NOT_FOUND) {
                need(TACET_CONFLICT);
            }
        }
        need(tacet__studies_append(s, study, &suggest, &err));
        tacet__event observe = {.kind = TACET__EVENT_OBSERVE,
                                .of = suggest.seq,
                                .number = suggest.number,
                                .index = TACET__NO_INDEX,
                                .value = 0.5};
        need(tacet__studies_append(s, study, &observe, &err));
    }
    need(tacet__studies_commit(s, &err));
}

static double pair_rate(tacet__studies *s, tacet__study *study, size_t batch) {
    const double start = bench_seconds(CLOCK_MONOTONIC);
    size_t done = 0;
    while (bench_seconds(CLOCK_MONOTONIC) < start + 1.0) {
        append_pairs(s, study, batch, true);
        done += batch;
    }
    return (double)done / (bench_seconds(CLOCK_MONOTONIC) - start);
}

static double sync_rate(const char *folder) {
    static unsigned char page[4096];
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/bench-sync", folder);
    const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    const double start = bench_seconds(CLOCK_MONOTONIC);
    size_t done = 0;
    while (fd >= 0 && bench_seconds(CLOCK_MONOTONIC) < start + 0.5) {
        if (write(fd, page, sizeof page) != (ssize_t)sizeof page || fdatasync(fd) != 0) {
            break;
        }
        done++;
    }
    (void)close(fd);
    (void)unlink(path);
    return (double)done / (bench_seconds(CLOCK_MONOTONIC) - start);
}

static tacet_status count_event(const tacet__event *event, void *user, tacet_error *e) {
    uint64_t *bytes = user;
    (void)e;
    *bytes += event->body_size;
    return TACET_OK;
}

/* The same rows without checking anything, in the chunks that the store reads. */
static double plain_read(const char *place, uint64_t events) {
    char path[4300];
    tacet__db *db = NULL;
    tacet__query *query = NULL;
    const tacet__db_settings settings = {.read_only = true, .busy_ms = 1000};
    uint64_t bytes = 0;
    int64_t next = 0;
    uint64_t seen = 0;
    (void)snprintf(path, sizeof path, tacet__db_is_url(place) ? "%s#tacet_trusted" : "%s/trusted.db", place);
    need(tacet__db_open(&db, path, &settings, &err));
    need(tacet__db_prepare(db, &query,
                           "SELECT place, kind, time, of_seq, number, idx, value, client_key, body, hash FROM event "
                           "WHERE place >= ?1 ORDER BY place LIMIT 1024",
                           &err));
    const double start = bench_seconds(CLOCK_MONOTONIC);
    while (seen < events) {
        bool row = false;
        tacet__query_bind_int(query, 1, next);
        need(tacet__query_step(query, &row, &err));
        while (row) {
            size_t size = 0;
            next = tacet__query_int(query, 0) + 1;
            (void)tacet__query_bytes(query, 8, &size);
            bytes += size;
            seen++;
            need(tacet__query_step(query, &row, &err));
        }
        tacet__query_reset(query);
    }
    const double taken = bench_seconds(CLOCK_MONOTONIC) - start;
    tacet__query_free(query);
    tacet__db_close(db);
    return bytes > 0 ? taken : -1;
}

static void bench_start(const char *place, size_t pairs) {
    const tacet__studies_settings settings = {.store = place, .create = true};
    tacet__studies *s = NULL;
    tacet__study study;
    tacet_blob blob;
    uint64_t bytes = 0;
    uint64_t seq = 0;
    tacet__study_init(&study);
    tacet_blob_init(&blob);
    need(tacet__studies_open(&s, &settings, &err));
    need(tacet__studies_add(s, &study, "start", TACET__STUDY_CENTRAL, false, "{}", 2, &err));
    for (size_t done = 0; done < pairs; done += 1000) {
        append_pairs(s, &study, 1000, false);
    }
    need(tacet__studies_begin(s, &study, &err));
    need(tacet__studies_put_snapshot(s, &study, "a state", 7, &err));
    need(tacet__studies_commit(s, &err));
    append_pairs(s, &study, 1000, false); /* behind the snapshot */
    tacet__studies_close(s);

    const double plain = plain_read(place, study.head);
    double start = bench_seconds(CLOCK_MONOTONIC);
    need(tacet__studies_open(&s, &settings, &err));
    need(tacet__studies_get(s, &study, "start", &err));
    need(tacet__studies_read(s, &study, 1, count_event, &bytes, &err));
    const double all = bench_seconds(CLOCK_MONOTONIC) - start;
    tacet__studies_close(s);
    start = bench_seconds(CLOCK_MONOTONIC);
    need(tacet__studies_open(&s, &settings, &err));
    need(tacet__studies_get(s, &study, "start", &err));
    need(tacet__studies_get_snapshot(s, &study, &blob, &seq, &err));
    need(tacet__studies_read(s, &study, seq + 1, count_event, &bytes, &err));
    const double snapshot = bench_seconds(CLOCK_MONOTONIC) - start;
    tacet__studies_close(s);
    printf("reading %llu events, chain checked %7.2f s, %.2f times stepping through their rows\n",
           (unsigned long long)study.head, all, all / plain);
    printf("opening at a snapshot, 2000 events on %5.3f s, %.4f of reading them all\n", snapshot, snapshot / all);
    tacet_blob_clear(&blob);
    tacet__study_clear(&study);
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/bench-store-XXXXXX";
    const char *place = NULL;
    size_t pairs = 500000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--pairs") == 0) {
            pairs = strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--store") == 0) {
            place = argv[i + 1];
        }
    }
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    const double syncs = sync_rate(folder);
    place = place == NULL ? folder : place;
    const tacet__studies_settings settings = {.store = place, .create = true};
    tacet__studies *s = NULL;
    tacet__study study;
    tacet__study_init(&study);
    need(tacet__studies_open(&s, &settings, &err));
    need(tacet__studies_add(s, &study, "batches", TACET__STUDY_CENTRAL, false, "{}", 2, &err));
    const size_t batches[] = {1, 16, 64};
    for (size_t i = 0; i < 3; i++) {
        const double rate = pair_rate(s, &study, batches[i]);
        printf("batches of %2zu %9.0f durable pairs a second, %6.2f for each sync the disk could do\n", batches[i],
               rate, rate / syncs);
    }
    tacet__study_clear(&study);
    tacet__studies_close(s);
    bench_start(place, pairs);
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1; /* NOLINT(cert-env33-c): a name that mkdtemp made */
}
