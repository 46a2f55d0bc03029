/* SPDX-License-Identifier: Apache-2.0 */
/* clients.c - sixteen clients, each with its connection: a suggestion, then its observation, again and again. A request
 * without an answer, or answered 503, is sent again with the same key or the same value until it is acknowledged. What
 * was acknowledged is written into the client's journal. */
#include "soak.h"

#include "io/http/client.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "local/shared/ldp.h"
#include <tacet/core/simrng.h>

enum { SET_SIZE = 8, REPEAT_ONE_IN = 40 };
static const double PAUSE = 0.01;
static const double LONGEST_PAUSE = 0.2;

typedef struct client {
    soak *s;
    size_t number, study;
    soak_journal *journal;
    tacet__client *wire;
    size_t server;
    unsigned generation, gathered;
    tacet_simrng rng;
    tacet_ldp ldp;
    char paths[2][128]; /* suggestions, observations */
} client;

static void wrong(client *c, const char *what, long status, const char *body) {
    if (c->journal->wrong++ == 0) {
        (void)snprintf(c->journal->first, sizeof c->journal->first, "%s: %ld %.120s", what, status,
                       body != NULL ? body : "");
    }
}

/* A connection to the server in turn; false: it is down. */
static bool connect_wire(client *c) {
    char url[128];
    char authority[SOAK_PATH + 16];
    (void)pthread_mutex_lock(&c->s->lock);
    const soak_server *server = &c->s->servers[c->server];
    const unsigned generation = server->generation;
    memcpy(url, server->url, sizeof url);
    (void)pthread_mutex_unlock(&c->s->lock);
    if (c->wire != NULL && generation == c->generation) {
        return true;
    }
    tacet__client_close(c->wire);
    c->wire = NULL;
    (void)snprintf(authority, sizeof authority, "%s/ca.pem", c->s->keys);
    tacet__client_settings settings;
    tacet__client_defaults(&settings);
    settings.url = url;
    settings.authority = authority;
    settings.token = c->s->token;
    settings.seconds = 3; /* one that is stopped is not waited for long: a balancer would not ask it either */
    c->generation = generation;
    return tacet__client_open(&c->wire, &settings, NULL) == TACET_OK;
}

/* The connection goes, too: connect_wire would keep it where both servers were started as often. */
static void turn_to(client *c, size_t server) {
    tacet__client_close(c->wire);
    c->wire = NULL;
    c->server = server;
}

static void turn_to_next(client *c) {
    turn_to(c, (c->server + 1) % c->s->server_count);
}

/* One request, and the answer's object: NULL when it was not acknowledged. */
static json_t *ask_once(client *c, long *status, const char *path, const char *body) {
    tacet__answer answer = {0};
    const unsigned gathered = atomic_load(&c->s->gathered);
    if (c->gathered != gathered) {
        c->gathered = gathered;
        turn_to(c, 0);
    }
    *status = 0;
    if (!connect_wire(c) || tacet__client_request(c->wire, &answer, "POST", path, body, NULL) != TACET_OK) {
        turn_to_next(c);
        return NULL;
    }
    *status = answer.status;
    if (answer.status == 503 || answer.status == 507) {
        atomic_fetch_add(&c->s->refusals, 1);
        turn_to_next(c);
        return NULL;
    }
    json_t *object = json_loadb(answer.body, answer.size, 0, NULL);
    if (answer.status >= 300 && answer.status != 409) {
        wrong(c, path, answer.status, answer.body);
        json_decref(object);
        object = NULL;
    }
    return object;
}

/* Until it is acknowledged, or the time is over. */
static json_t *ask(client *c, long *status, bool *again, const char *path, const char *body) {
    double pause = PAUSE;
    for (;;) {
        json_t *object = ask_once(c, status, path, body);
        if (object != NULL || (*status != 0 && *status != 503 && *status != 507)) {
            return object;
        }
        *again = true;
        if (!atomic_load(&c->s->running)) {
            return NULL;
        }
        c->journal->retries++;
        soak_sleep(pause);
        pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE;
    }
}

static soak_pair *next_pair(client *c) {
    soak_journal *j = c->journal;
    if (j->count == j->capacity) {
        j->capacity = j->capacity > 0 ? 2 * j->capacity : 4096;
        j->pairs = realloc(j->pairs, j->capacity * sizeof *j->pairs);
        if (j->pairs == NULL) {
            soak_die("out of memory for a journal");
        }
    }
    soak_pair *p = &j->pairs[j->count];
    memset(p, 0, sizeof *p);
    (void)snprintf(p->key, sizeof p->key, "c%zu-%zu", c->number, j->count);
    j->count++;
    return p;
}

static void note_seconds(soak_journal *j, double seconds) {
    if (j->timed == j->timed_capacity) {
        j->timed_capacity = j->timed_capacity > 0 ? 2 * j->timed_capacity : 4096;
        j->seconds = realloc(j->seconds, j->timed_capacity * sizeof *j->seconds);
        if (j->seconds == NULL) {
            soak_die("out of memory for a journal");
        }
    }
    j->seconds[j->timed++] = seconds;
}

/* The body of the question; a central study's round brings its own decision set, made from the key. */
static void question(const client *c, char *out, size_t size, const soak_pair *p, size_t count) {
    int at = snprintf(out, size, "{\"key\":\"%s\"", p->key);
    if (c->study == 1) {
        tacet_simrng rng;
        tacet_simrng_init(&rng, c->number, count);
        for (size_t i = 0; i < SET_SIZE; i++) {
            at += snprintf(out + at, size - (size_t)at, "%s[%.17g]", i == 0 ? ",\"decision_set\":[" : ",",
                           tacet_simrng_uniform(&rng));
        }
        at += snprintf(out + at, size - (size_t)at, "]");
    }
    (void)snprintf(out + at, size - (size_t)at, "}");
}

static bool suggest(client *c, soak_pair *p, size_t count, bool *again) {
    char body[1024];
    long status = 0;
    question(c, body, sizeof body, p, count);
    json_t *answer = ask(c, &status, again, c->paths[0], body);
    const char *ticket = json_string_value(json_object_get(answer, "ticket"));
    const json_t *index = json_object_get(answer, "index");
    if (answer == NULL) {
        return false;
    }
    if (status >= 300 || ticket == NULL || strlen(ticket) >= sizeof p->ticket || !json_is_integer(index)) {
        wrong(c, "suggest", status, json_string_value(json_object_get(answer, "detail")));
        json_decref(answer);
        return false;
    }
    const uint64_t found = (uint64_t)json_integer_value(index);
    if (p->suggested && (strcmp(p->ticket, ticket) != 0 || p->index != found)) {
        wrong(c, "the same key got another answer", status, ticket);
    }
    (void)snprintf(p->ticket, sizeof p->ticket, "%s", ticket);
    p->index = found;
    p->suggested = true;
    json_decref(answer);
    return true;
}

static bool observe(client *c, soak_pair *p, double value, long expected, bool *again) {
    char body[256];
    long status = 0;
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":%.17g}", p->ticket, value);
    json_t *answer = ask(c, &status, again, c->paths[1], body);
    if (answer == NULL) {
        return false;
    }
    if (status != expected) {
        wrong(c, "observe", status, json_string_value(json_object_get(answer, "detail")));
    }
    json_decref(answer);
    return status == expected;
}

static double draw_value(client *c) {
    return c->study == 0 ? tacet_ldp_bit(&c->ldp, tacet_simrng_uniform(&c->rng) < 0.5) : tacet_simrng_uniform(&c->rng);
}

static void play_pair(client *c) {
    bool again = false;
    const size_t count = c->journal->count;
    soak_pair *p = next_pair(c);
    const double begin = soak_now();
    if (!suggest(c, p, count, &again)) {
        return;
    }
    p->value = draw_value(c);
    p->observed = observe(c, p, p->value, 200, &again);
    if (!p->observed) {
        return;
    }
    if (!again) {
        note_seconds(c->journal, soak_now() - begin);
    }
    /* As a client that lost the answers would: the same again, and now and then something else under the same ticket.
     */
    if (tacet_simrng_below(&c->rng, REPEAT_ONE_IN) == 0) {
        c->journal->repeats++;
        (void)(suggest(c, p, count, &again) && observe(c, p, p->value, 200, &again));
        const double other = c->study == 0 ? -p->value : p->value / 2 + 0.1;
        if (other != p->value) {
            (void)observe(c, p, other, 409, &again);
        }
    }
}

static void *work(void *user) {
    client *c = user;
    while (atomic_load(&c->s->running)) {
        play_pair(c);
    }
    tacet__client_close(c->wire);
    return NULL;
}

void soak_drive(soak *s, double seconds, void (*meanwhile)(soak *s, double until)) {
    static client clients[SOAK_CLIENTS];
    pthread_t threads[SOAK_CLIENTS];
    tacet_error err = {0};
    atomic_store(&s->running, true);
    for (size_t i = 0; i < SOAK_CLIENTS; i++) {
        client *c = &clients[i];
        const size_t study = s->only >= 0 ? (size_t)s->only : i % SOAK_STUDIES;
        *c = (client){.s = s, .number = i, .study = study, .journal = &s->journals[study][i]};
        c->server = i % s->server_count;
        c->gathered = atomic_load(&s->gathered);
        tacet_simrng_init(&c->rng, 100 + i, c->journal->count);
        soak_must(tacet_ldp_init(&c->ldp, TACET_LDP_DUCHI, 1, -2, 2, &err), &err, "the randomiser");
        (void)snprintf(c->paths[0], sizeof c->paths[0], "/v1/studies/%s/suggestions", soak_study_names[study]);
        (void)snprintf(c->paths[1], sizeof c->paths[1], "/v1/studies/%s/observations", soak_study_names[study]);
        if (pthread_create(&threads[i], NULL, work, c) != 0) {
            soak_die("no thread for a client");
        }
    }
    const double until = soak_now() + seconds;
    if (meanwhile != NULL) {
        meanwhile(s, until);
    }
    while (soak_now() < until) {
        soak_sleep(0.02);
    }
    atomic_store(&s->running, false);
    for (size_t i = 0; i < SOAK_CLIENTS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}
