/* SPDX-License-Identifier: Apache-2.0 */
/* bench_service.c - durable suggest+observe pairs a second over keep-alive TLS, with their latencies.
 *
 *   bench_service                 serves a local study of its own from a new folder, 16 clients, 5 seconds
 *   bench_service --clients N --seconds S --arms K --folder DIR
 *   bench_service --url URL --ca FILE --token TEXT --study NAME [--set K --dim D] …
 *                                 drives a server that runs elsewhere; --set K: decision sets of K arms in [0, 1]^D
 * Prints one JSON object. Rewards of a local study are reported as one of the two ends of Duchi's bit: any report that
 * the randomiser can give does. Exit code 1 when a request failed. */
#include "bench.h"

#include "io/http/client.h"
#include "service/open/engine/engine.h"
#include "service/open/wire/host.h"

#include <curl/curl.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "local/shared/ldp.h"
#include <tacet/core/simrng.h>
#include <tacet/service/open/keys.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MOST = 256, SAMPLES_MOST = 1 << 20, BODY_BYTES = 1 << 16 };

typedef struct plan {
    const char *url, *ca, *token, *study, *folder;
    size_t clients, set, dim, arms;
    double seconds, low, high; /* values that are reported */
} plan;

typedef struct client {
    const plan *p;
    unsigned number;
    double *suggest, *observe; /* seconds */
    size_t pairs;
    size_t failed;
    double until;
} client;

static void write_round(char *body, const plan *p, tacet_simrng *rng) {
    size_t at = (size_t)snprintf(body, BODY_BYTES, "{\"decision_set\":[");
    for (size_t a = 0; a < p->set; a++) {
        for (size_t c = 0; c < p->dim; c++) {
            at += (size_t)snprintf(body + at, BODY_BYTES - at, "%s%.4f", c == 0 ? (a == 0 ? "[" : ",[") : ",",
                                   tacet_simrng_uniform(rng));
        }
        at += (size_t)snprintf(body + at, BODY_BYTES - at, "]");
    }
    (void)snprintf(body + at, BODY_BYTES - at, "]}");
}

static bool ask(tacet__client *wire, tacet__answer *answer, const char *path, const char *body, long wanted,
                double *seconds) {
    tacet_error err = {0};
    const double since = bench_seconds(CLOCK_MONOTONIC);
    const bool ok =
        tacet__client_request(wire, answer, "POST", path, body, &err) == TACET_OK && answer->status == wanted;
    *seconds = bench_seconds(CLOCK_MONOTONIC) - since;
    if (!ok) {
        fprintf(stderr, "bench_service: %s: %ld %s %s\n", path, answer->status,
                answer->body != NULL ? answer->body : "", err.message);
    }
    return ok;
}

static void *drive(void *user) {
    client *c = user;
    const plan *p = c->p;
    char suggestions[128];
    char observations[128];
    char ticket[64];
    char *body = malloc(BODY_BYTES);
    tacet_simrng rng;
    tacet__client *wire = NULL;
    tacet__client_settings s;
    tacet_error err = {0};
    tacet__client_defaults(&s);
    s.url = p->url;
    s.authority = p->ca;
    s.token = p->token;
    tacet_simrng_init(&rng, 1, c->number);
    (void)snprintf(suggestions, sizeof suggestions, "/v1/studies/%s/suggestions", p->study);
    (void)snprintf(observations, sizeof observations, "/v1/studies/%s/observations", p->study);
    if (body == NULL || tacet__client_open(&wire, &s, &err) != TACET_OK) {
        c->failed = 1;
    }
    while (c->failed == 0 && bench_seconds(CLOCK_MONOTONIC) < c->until && c->pairs < SAMPLES_MOST) {
        tacet__answer answer = {0};
        if (p->set > 0) {
            write_round(body, p, &rng);
        } else {
            (void)snprintf(body, BODY_BYTES, "{}");
        }
        if (!ask(wire, &answer, suggestions, body, 201, &c->suggest[c->pairs]) ||
            sscanf(strstr(answer.body, "\"ticket\":\"") + 10, "%63[^\"]", ticket) != 1) {
            c->failed++;
            break;
        }
        (void)snprintf(body, BODY_BYTES, "{\"ticket\":\"%s\",\"value\":%.17g}", ticket,
                       tacet_simrng_uniform(&rng) < 0.5 ? p->low : p->high);
        c->failed += !ask(wire, &answer, observations, body, 200, &c->observe[c->pairs]);
        c->pairs++;
    }
    tacet__client_close(wire);
    free(body);
    return NULL;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int measure(const plan *p) {
    client clients[CLIENTS_MOST];
    pthread_t threads[CLIENTS_MOST];
    size_t pairs = 0;
    size_t failed = 0;
    const double since = bench_seconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < p->clients; i++) {
        clients[i] = (client){.p = p,
                              .number = (unsigned)i,
                              .suggest = malloc(SAMPLES_MOST * sizeof(double)), /* touched as far as it is used */
                              .observe = malloc(SAMPLES_MOST * sizeof(double)),
                              .until = since + p->seconds};
        if (clients[i].suggest == NULL || clients[i].observe == NULL ||
            pthread_create(&threads[i], NULL, drive, &clients[i]) != 0) {
            fprintf(stderr, "bench_service: no client %zu\n", i);
            exit(1);
        }
    }
    for (size_t i = 0; i < p->clients; i++) {
        (void)pthread_join(threads[i], NULL);
        pairs += clients[i].pairs;
        failed += clients[i].failed;
    }
    const double took = bench_seconds(CLOCK_MONOTONIC) - since;
    double *all = malloc((2 * pairs + 1) * sizeof(double));
    size_t n = 0;
    for (size_t i = 0; i < p->clients; i++) {
        for (size_t k = 0; all != NULL && k < clients[i].pairs; k++) {
            all[n++] = clients[i].suggest[k];
            all[n++] = clients[i].observe[k];
        }
        free(clients[i].suggest);
        free(clients[i].observe);
    }
    if (all == NULL || n == 0) {
        free(all);
        return 1;
    }
    qsort(all, n, sizeof(double), by_size);
    printf("{\"clients\":%zu,\"seconds\":%.2f,\"pairs\":%zu,\"pairs_per_second\":%.0f,\"p50_ms\":%.2f,\"p99_ms\":%.2f,"
           "\"max_ms\":%.2f,\"failed\":%zu}\n",
           p->clients, took, pairs, (double)pairs / took, 1e3 * all[n / 2], 1e3 * all[(size_t)((double)n * 0.99)],
           1e3 * all[n - 1], failed);
    free(all);
    return failed == 0 ? 0 : 1;
}

/* --- a server of its own ------------------------------------------------------------------------------------------ */

static int drop(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static char *definition(size_t arms) {
    const size_t room = 512 + 32 * arms;
    char *text = malloc(room);
    if (text == NULL) {
        exit(1);
    }
    size_t at =
        (size_t)snprintf(text, room,
                         "{\"name\":\"bench\",\"trust\":\"local\",\"rounds\":10000000,\"budget\":{\"eps\":1},"
                         "\"prior\":{\"lengthscale\":0.2,\"reward\":[0,1]},\"options\":{\"randomizer\":\"hybrid\"},"
                         "\"domain\":{\"points\":[");
    for (size_t i = 0; i < arms; i++) {
        at += (size_t)snprintf(text + at, room - at, "%s[%.6f]", i > 0 ? "," : "", (double)i / (double)arms);
    }
    (void)snprintf(text + at, room - at, "]}}");
    return text;
}

static int alone(const plan *asked) {
    plan p = *asked;
    char folder[256] = "/tmp/bench_service.XXXXXX";
    char store[300];
    char ca[300];
    char url[64];
    char token[TACET__STUDIES_TOKEN_TEXT];
    const char *const hosts[] = {"127.0.0.1"};
    tacet_error err = {0};
    tacet_server *host = NULL;
    tacet__studies *studies = NULL;
    tacet__metrics metrics = {0};
    tacet_server_settings settings;
    if (p.folder != NULL) {
        (void)snprintf(folder, sizeof folder, "%s/bench_service.XXXXXX", p.folder);
    }
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "bench_service: no temporary folder\n");
        return 1;
    }
    (void)snprintf(store, sizeof store, "%s/store", folder);
    (void)snprintf(ca, sizeof ca, "%s/ca.pem", folder);
    const tacet_keys_request keys = {
        .folder = folder, .hosts = hosts, .host_count = 1, .days = 1, .authority = "bench"};
    bench_must(tacet_keys_server(&keys, &err), &err);
    tacet_server_defaults(&settings);
    settings.store.store = store;
    settings.store.create = true;
    settings.keys = folder;
    settings.listen = "127.0.0.1:0";
    const tacet__engine_settings engine = {.store = {.store = settings.store.store, .create = true},
                                           .kinds = tacet__policy_kinds_local,
                                           .metrics = &metrics};
    char *text = definition(p.arms);
    bench_must(tacet__engine_add(&engine, NULL, text, strlen(text), &err), &err);
    free(text);
    bench_must(tacet__studies_open(&studies, &engine.store, &err), &err);
    bench_must(tacet__studies_add_token(studies, token, TACET__TOKEN_DEVICE, "bench", "", &err), &err);
    tacet__studies_close(studies);
    bench_must(tacet__host_start(&host, &settings, tacet__policy_kinds_local, &err), &err);
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%u", tacet_server_port(host));
    p.url = url;
    p.ca = ca;
    p.token = token;
    p.study = "bench";
    const int code = measure(&p);
    tacet_server_stop(host);
    (void)nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS);
    return code;
}

int main(int argc, char **argv) {
    plan p = {.clients = 16, .seconds = 5, .arms = 100, .dim = 2, .low = 0, .high = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *const value = argv[i + 1];
        p.url = strcmp(argv[i], "--url") == 0 ? value : p.url;
        p.ca = strcmp(argv[i], "--ca") == 0 ? value : p.ca;
        p.token = strcmp(argv[i], "--token") == 0 ? value : p.token;
        p.study = strcmp(argv[i], "--study") == 0 ? value : p.study;
        p.folder = strcmp(argv[i], "--folder") == 0 ? value : p.folder;
        p.clients = strcmp(argv[i], "--clients") == 0 ? strtoul(value, NULL, 10) : p.clients;
        p.seconds = strcmp(argv[i], "--seconds") == 0 ? strtod(value, NULL) : p.seconds;
        p.arms = strcmp(argv[i], "--arms") == 0 ? strtoul(value, NULL, 10) : p.arms;
        p.set = strcmp(argv[i], "--set") == 0 ? strtoul(value, NULL, 10) : p.set;
        p.dim = strcmp(argv[i], "--dim") == 0 ? strtoul(value, NULL, 10) : p.dim;
    }
    if (p.clients < 1 || p.clients > CLIENTS_MOST || !(p.seconds > 0) || p.set > 256 || p.dim > 16 || p.arms < 2) {
        fprintf(stderr, "usage: bench_service [--clients N] [--seconds S] [--arms K] [--url URL --ca FILE --token TEXT "
                        "--study NAME [--set K --dim D]]\n");
        return 2;
    }
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    if (p.set == 0) {
        tacet_ldp ldp;
        tacet_error err = {0};
        bench_must(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 0, 1, &err), &err);
        p.low = tacet_ldp_bit(&ldp, false);
        p.high = tacet_ldp_bit(&ldp, true);
    }
    return p.url != NULL ? measure(&p) : alone(&p);
}
