/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - pairs a second and the time of a pair, by number of connections, studies and servers; and how many syncs a
 * second the disk makes in the same run. */
#include "soak.h"

#include "io/http/client.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "local/shared/ldp.h"
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MOST = 512 };

typedef struct driver {
    const soak *s;
    size_t number, studies, run;
    atomic_bool *running;
    tacet_ldp ldp;
    double *seconds;
    size_t count, capacity, refused;
} driver;

static json_t *post(tacet__client *wire, const char *path, const char *body) {
    tacet__answer answer = {0};
    if (tacet__client_request(wire, &answer, "POST", path, body, NULL) != TACET_OK || answer.status >= 300) {
        return NULL;
    }
    return json_loadb(answer.body, answer.size, 0, NULL);
}

static bool play(const driver *d, tacet__client *wire, size_t study, size_t turn) {
    char path[128];
    char body[256];
    (void)snprintf(path, sizeof path, "/v1/studies/load-%zu/suggestions", study);
    (void)snprintf(body, sizeof body, "{\"key\":\"r%zu-d%zu-%zu\"}", d->run, d->number, turn);
    json_t *answer = post(wire, path, body);
    const char *ticket = json_string_value(json_object_get(answer, "ticket"));
    if (ticket == NULL) {
        json_decref(answer);
        return false;
    }
    (void)snprintf(path, sizeof path, "/v1/studies/load-%zu/observations", study);
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":%.17g}", ticket,
                   tacet_ldp_bit(&d->ldp, turn % 2 == 0));
    json_decref(answer);
    answer = post(wire, path, body);
    json_decref(answer);
    return answer != NULL;
}

static void *drive(void *user) {
    driver *d = user;
    char authority[SOAK_PATH + 16];
    tacet__client_settings settings;
    tacet__client *wire = NULL;
    (void)snprintf(authority, sizeof authority, "%s/ca.pem", d->s->keys);
    tacet__client_defaults(&settings);
    settings.url = d->s->servers[d->number % d->s->server_count].url;
    settings.authority = authority;
    settings.token = d->s->token;
    if (tacet__client_open(&wire, &settings, NULL) != TACET_OK) {
        return NULL;
    }
    for (size_t turn = 0; atomic_load(d->running); turn++) {
        const double begin = soak_now();
        const size_t study = (d->number + turn * CONNECTIONS_MOST + turn) % d->studies;
        if (!play(d, wire, study, turn)) {
            d->refused++;
            soak_sleep(0.01);
        } else if (d->count < d->capacity) {
            d->seconds[d->count++] = soak_now() - begin;
        }
    }
    tacet__client_close(wire);
    return NULL;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double soak_fsyncs(const char *folder) {
    char path[SOAK_PATH + 16];
    char block[4096] = {0};
    size_t count = 0;
    (void)snprintf(path, sizeof path, "%s/syncs", folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const double begin = soak_now();
    while (fd >= 0 && soak_now() - begin < 1) {
        if (pwrite(fd, block, sizeof block, (off_t)(count * sizeof block)) < 0 || fdatasync(fd) != 0) {
            break;
        }
        count++;
    }
    const double took = soak_now() - begin;
    if (fd >= 0) {
        (void)close(fd);
    }
    (void)unlink(path);
    return (double)count / took;
}

static double own_cpu(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

soak_figures soak_load(soak *s, size_t connections, size_t studies, double seconds) {
    static driver drivers[CONNECTIONS_MOST];
    static pthread_t threads[CONNECTIONS_MOST];
    static double all[1 << 20];
    static size_t runs;
    runs++; /* keys are not used twice: a repeated question costs no commit */
    atomic_bool running = true;
    soak_figures f = {0};
    tacet_error err = {0};
    for (size_t i = 0; i < connections; i++) {
        drivers[i] =
            (driver){.s = s, .number = i, .studies = studies, .run = runs, .running = &running, .capacity = 1 << 16};
        drivers[i].seconds = malloc(drivers[i].capacity * sizeof(double));
        soak_must(tacet_ldp_init(&drivers[i].ldp, TACET_LDP_DUCHI, 1, -2, 2, &err), &err, "the randomiser");
        if (drivers[i].seconds == NULL || pthread_create(&threads[i], NULL, drive, &drivers[i]) != 0) {
            soak_die("no thread for a connection");
        }
    }
    const double server = soak_servers_cpu(s);
    const double database = soak_database_cpu(s);
    const double own = own_cpu();
    soak_sleep(seconds);
    f.server_us = soak_servers_cpu(s) - server;
    f.database_us = soak_database_cpu(s) - database;
    f.client_us = own_cpu() - own;
    atomic_store(&running, false);
    size_t total = 0;
    for (size_t i = 0; i < connections; i++) {
        (void)pthread_join(threads[i], NULL);
        for (size_t k = 0; k < drivers[i].count && total < sizeof all / sizeof all[0]; k++) {
            all[total++] = drivers[i].seconds[k];
        }
        f.refused += drivers[i].refused;
        free(drivers[i].seconds);
    }
    qsort(all, total, sizeof *all, ascending);
    f.pairs = (double)total / seconds;
    const double each = total > 0 ? 1e6 / (double)total : 0;
    f.server_us *= each;
    f.database_us *= each;
    f.client_us *= each;
    f.p50 = total > 0 ? 1e3 * all[total / 2] : 0;
    f.p99 = total > 0 ? 1e3 * all[total * 99 / 100] : 0;
    return f;
}

void soak_load_studies(soak *s, size_t studies) {
    char name[32];
    for (size_t i = 0; i < studies; i++) {
        (void)snprintf(name, sizeof name, "load-%zu", i);
        soak_add_local(s, name, 4000000);
    }
}
