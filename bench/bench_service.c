/* SPDX-License-Identifier: Apache-2.0 */
/* bench_service.c - suggest+observe pairs a second over keep-alive TLS, with their latencies, for services.py.
 *
 *   bench_service --url URL --ca FILE --token TEXT --study NAME [--clients N] [--seconds S] [--set K --dim D]
 *                                 drives a server; --set K: decision sets of K arms in [0, 1]^D
 * Prints one JSON object. Rewards of a local study are reported as one of the two ends of Duchi's bit: any report that
 * the randomiser can give does. Exit code 1 when a request failed. */
#include "bench.h"

#include "io/http/client.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "local/shared/ldp.h"
#include <tacet/core/simrng.h>
#include <time.h>

enum { CLIENTS_MOST = 512, SAMPLES_MOST = 1 << 20, BODY_BYTES = 1 << 16 };

typedef struct plan {
    const char *url, *ca, *token, *study;
    size_t clients, set, dim;
    size_t studies;            /* named STUDY-0, STUDY-1, …, one a client in turn; 0: STUDY alone */
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
    char number[24] = "";
    if (p->studies > 0) {
        (void)snprintf(number, sizeof number, "-%zu", c->number % p->studies);
    }
    (void)snprintf(suggestions, sizeof suggestions, "/v1/studies/%s%s/suggestions", p->study, number);
    (void)snprintf(observations, sizeof observations, "/v1/studies/%s%s/observations", p->study, number);
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
    static client clients[CLIENTS_MOST];
    static pthread_t threads[CLIENTS_MOST];
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

int main(int argc, char **argv) {
    plan p = {.clients = 16, .seconds = 5, .dim = 2, .low = 0, .high = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *const value = argv[i + 1];
        p.url = strcmp(argv[i], "--url") == 0 ? value : p.url;
        p.ca = strcmp(argv[i], "--ca") == 0 ? value : p.ca;
        p.token = strcmp(argv[i], "--token") == 0 ? value : p.token;
        p.study = strcmp(argv[i], "--study") == 0 ? value : p.study;
        p.clients = strcmp(argv[i], "--clients") == 0 ? strtoul(value, NULL, 10) : p.clients;
        p.seconds = strcmp(argv[i], "--seconds") == 0 ? strtod(value, NULL) : p.seconds;
        p.studies = strcmp(argv[i], "--studies") == 0 ? strtoul(value, NULL, 10) : p.studies;
        p.set = strcmp(argv[i], "--set") == 0 ? strtoul(value, NULL, 10) : p.set;
        p.dim = strcmp(argv[i], "--dim") == 0 ? strtoul(value, NULL, 10) : p.dim;
    }
    if (p.url == NULL || p.ca == NULL || p.token == NULL || p.study == NULL || p.clients < 1 ||
        p.clients > CLIENTS_MOST || !(p.seconds > 0) || p.set > 256 || p.dim > 16) {
        fprintf(stderr,
                "usage: bench_service --url URL --ca FILE --token TEXT --study NAME [--clients N] [--seconds S] "
                "[--studies N] [--set K --dim D]\n");
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
    return measure(&p);
}
