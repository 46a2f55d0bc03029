/* SPDX-License-Identifier: Apache-2.0 */
/* shipped_studies.c - studies of the service as they ship, through the engine and its store: the policies fixed,
 * contextual and ab.
 * Ring: audit. Neighbours: one round's reward at one end of the range or at the other. Looked at is what leaves with
 * the suggestion after a batch or an epoch: the answer in the ledger, of one number. Batches of the policy central go
 * through the same gate as fixed (central/trusted/gate.c). An epoch's answer is a table of four cells; looked at are
 * the two numbers that the round can move. That of an A/B test is a sum an arm. Cost: 20 ms a release, others 100. */
#include "ab/trusted/earning.h"
#include "audit/shipped_way.h"

#include "core/fail.h"
#include "core/memory.h"
#include "service/open/study/definition.h"
#include "service/open/engine/engine.h"
#include "service/open/store/store.h"
#include "service/trusted/kinds.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "central/trusted/policy.h"
#include <tacet/core/simrng.h>
#include <tacet/dp/open/calibrate.h>

enum {
    BATCH = 30 /* the first of the policy's, of as many rounds as leave others after it */,
    ROUNDS_MOST = 1000,
    POINTS = 32,
    ACTIONS = 2,
    CELLS = 4,
    EPOCH = 500 /* 250 tickets an arm */,
    COIN_SEED = 1 /* of a definition that says none */
};
static const char STUDY[] = "audit", BATCH_TICKET[] = "study/1", EPOCH_TICKET[] = "study/epoch 0";

static bool has_contexts(const tacet__shipment *s) {
    return s->way == &tacet__way_contexts;
}

static bool has_arms(const tacet__shipment *s) {
    return s->way == &tacet__way_arms;
}

static bool in_epochs(const tacet__shipment *s) {
    return has_contexts(s) || has_arms(s);
}

static tacet_status choose_pure(tacet__shipment *s, const char *mechanism, tacet_error *err) {
    s->pure = true;
    return strcmp(mechanism, "laplace") == 0 ? TACET_OK
                                             : tacet__fail(err, TACET_INVALID, "a study in epochs has laplace noise");
}

static tacet_status choose_study(tacet__shipment *s, const char *mechanism, tacet_error *err) {
    (void)s;
    return strcmp(mechanism, "gaussian") == 0 ? TACET_OK
                                              : tacet__fail(err, TACET_INVALID, "a study has gaussian noise");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

static void job_done(tacet__job *job) {
    (void)pthread_mutex_lock(&lock);
    --*(size_t *)job->user;
    (void)pthread_cond_signal(&wake);
    (void)pthread_mutex_unlock(&lock);
}

/* All at once, and waits for all. */
static tacet_status do_jobs(tacet__engine *engine, tacet__job **jobs, size_t count, tacet_error *err) {
    size_t left = count;
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < count; i++) {
        jobs[i]->user = &left;
        jobs[i]->done = job_done;
    }
    for (size_t i = 0; i < count; i++) {
        tacet__engine_submit(engine, STUDY, jobs[i]);
    }
    (void)pthread_mutex_lock(&lock);
    while (left > 0) {
        (void)pthread_cond_wait(&wake, &lock);
    }
    (void)pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        status = jobs[i]->status == TACET_OK ? TACET_OK : tacet__fail(err, jobs[i]->status, "%s", jobs[i]->err.message);
    }
    return status;
}

/* So many rounds in their order: which part of an epoch reads a round goes by its number. */
static tacet_status suggest(const tacet__shipment *s, tacet__engine *engine, char tickets[][TACET__TICKET_TEXT],
                            size_t count, tacet_error *err) {
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    if (job == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a job");
    }
    job->named = has_contexts(s) ? json_pack("{ss}", "c", "c0") : NULL;
    job->many = count;
    const tacet_status status = tacet__engine_ask(engine, STUDY, job, err);
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        const char *ticket = json_string_value(json_object_get(json_array_get(job->body, i), "ticket"));
        (void)snprintf(tickets[i], TACET__TICKET_TEXT, "%.32s", ticket != NULL ? ticket : "");
    }
    tacet__job_free(job);
    return status;
}

static tacet_status observe(tacet__engine *engine, char tickets[][TACET__TICKET_TEXT], const double *rewards,
                            size_t count, tacet_error *err) {
    tacet__job *jobs[ROUNDS_MOST] = {0};
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        jobs[i] = tacet__job_create(TACET__JOB_OBSERVE);
        if (jobs[i] == NULL) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a job");
        } else {
            (void)snprintf(jobs[i]->ticket, sizeof jobs[i]->ticket, "%.32s", tickets[i]);
            jobs[i]->value = rewards[i];
        }
    }
    TACET_THEN(status, do_jobs(engine, jobs, count, err));
    for (size_t i = 0; i < count; i++) {
        tacet__job_free(jobs[i]);
    }
    return status;
}

static tacet__engine_settings engine_settings(const tacet__shipment *s, tacet__metrics *metrics) {
    return (tacet__engine_settings){.store = {.store = s->folder, .create = true},
                                    .kinds = tacet__service_kinds,
                                    .metrics = metrics,
                                    .save_least = 1};
}

/* All points look alike, so that the one number has nearly all of what a record can move. */
static json_t *define(const tacet__shipment *s) {
    const double lengthscale = 10;
    if (has_contexts(s)) { /* four cells, all rounds in one context */
        return json_pack("{ss ss ss s{sf sf} si s{s{s[{ss ss s[ss]}]} s{s{s[{ss ss s[ss]}]}}} s{s[ff]}}", "name", STUDY,
                         "trust", "central", "policy", "contextual", "budget", "eps", s->settings->eps, "delta", 0.0,
                         "rounds", 4 * ROUNDS_MOST, "domain", "space", "columns", "name", "a", "kind", "category",
                         "levels", "a0", "a1", "context", "space", "columns", "name", "c", "kind", "category", "levels",
                         "c0", "c1", "prior", "reward", -1.0, 1.0);
    }
    if (has_arms(s)) {
        return json_pack("{ss ss ss s{sf sf} si s{s{s[{ss ss s[ss]}]}} s{sf s[ff]}}", "name", STUDY, "trust", "central",
                         "policy", "ab", "budget", "eps", s->settings->eps, "delta", 0.0, "rounds", 4 * ROUNDS_MOST,
                         "domain", "space", "columns", "name", "a", "kind", "category", "levels", "a0", "a1", "prior",
                         "typical_reward", 0.0, "reward", -1.0, 1.0);
    }
    json_t *points = json_array();
    for (size_t i = 0; i < POINTS; i++) {
        (void)json_array_append_new(points, json_pack("[f]", (double)i / POINTS));
    }
    json_t *domain = json_pack("{so}", "points", points);
    /* the law that is tested is the Gaussian, which persons of several rounds get */
    json_t *options = json_pack("{si si}", "features", 1, "person_rounds", s->worlds[0] == TACET__WORLD_LAW ? 2 : 1);
    return json_pack("{ss ss ss s{sf sf} si so s{sf s[ff]} so}", "name", STUDY, "trust", "central", "policy", "fixed",
                     "budget", "eps", s->settings->eps, "delta", s->settings->delta, "rounds", 3 * BATCH, "domain",
                     domain, "prior", "lengthscale", lengthscale, "reward", 0.0, 1.0, "options", options);
}

static tacet_status add_study(const tacet__shipment *s, const tacet__engine_settings *settings, tacet_error *err) {
    json_t *study = define(s);
    char *text = study != NULL ? json_dumps(study, 0) : NULL;
    json_decref(study);
    const tacet_status status = text != NULL ? tacet__engine_add(settings, NULL, text, strlen(text), err)
                                             : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    free(text);
    return status;
}

/* Rounds after which the next suggestion releases. */
static size_t rounds_of(const tacet__shipment *s) {
    return has_contexts(s) ? tacet__ab_earning_first(s->settings->eps) : has_arms(s) ? EPOCH : BATCH;
}

static tacet_status prepare_study(tacet__shipment *s, tacet_error *err) {
    char tickets[ROUNDS_MOST][TACET__TICKET_TEXT];
    double rewards[ROUNDS_MOST];
    const size_t rounds = rounds_of(s);
    tacet__metrics metrics = {0};
    tacet__engine *engine = NULL;
    const tacet__engine_settings settings = engine_settings(s, &metrics);
    for (size_t i = 0; i < rounds; i++) {
        rewards[i] = has_contexts(s) ? 0 : has_arms(s) ? -1 : 0.5; /* of an arm: nothing is added */
    }
    if (s->worlds[0] != TACET__WORLD_LAW || !in_epochs(s)) {
        rewards[0] = s->worlds[0] == 1 ? 1e9 : -1e9; /* it is clipped */
    }
    tacet_status status = add_study(s, &settings, err);
    TACET_THEN(status, tacet__engine_open(&engine, &settings, err));
    TACET_THEN(status, suggest(s, engine, tickets, rounds, err));
    TACET_THEN(status, observe(engine, tickets, rewards, rounds, err));
    if (in_epochs(s)) { /* one suggestion lies between the last report that counts and the release */
        TACET_THEN(status, suggest(s, engine, tickets, 1, err));
    }
    tacet__engine_close(engine);
    return status;
}

static tacet_status suggest_one(tacet__shipment *s, tacet_error *err) {
    char tickets[1][TACET__TICKET_TEXT];
    tacet__metrics metrics = {0};
    tacet__engine *engine = NULL;
    const tacet__engine_settings settings = engine_settings(s, &metrics);
    tacet_status status = tacet__engine_open(&engine, &settings, err);
    TACET_THEN(status, suggest(s, engine, tickets, 1, err)); /* releases */
    tacet__engine_close(engine);
    return status;
}

static tacet_status ask_study(tacet__shipment *s, tacet_error *err) {
    const tacet_status status = suggest_one(s, err);
    return status != TACET_OK ? status : tacet__shipment_stored(s, s->way->ticket, err);
}

/* A reward moves both numbers of its cell, one up and one down: their difference, with the variance of one. The cell is
 * that of the first round's action, by its coin. */
static double difference(const double *values) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, COIN_SEED, 1);
    const size_t cell = (size_t)(tacet_simrng_uniform(&rng) * ACTIONS);
    return (values[cell] - values[CELLS + cell]) / sqrt(2);
}

/* Whichever arm the first ticket had, and nobody else earned: both sums, with the variance of one. */
static double both(const double *values) {
    return (values[0] + values[1]) / sqrt(2);
}

enum { RELEASES = 2000, INTERRUPTED = 2000 };

const tacet__way tacet__way_study = {
    .name = "study",
    .summary = "rounds of a study in a store, one reward replaced; bound on eps, and tests of the noise's law",
    .mechanism = "gaussian",
    .most = 1,
    .law_numbers = 1,
    .middle = (double)NAN,
    .rows = RELEASES,
    .runs = INTERRUPTED,
    .ticket = BATCH_TICKET,
    .choose = choose_study,
    .prepare = prepare_study,
    .ask = ask_study,
};

#define IN_EPOCHS                                                                                                      \
    .mechanism = "laplace", .most = 1, .law_numbers = 1, .rows = RELEASES / 4, .runs = INTERRUPTED / 4,                \
    .ticket = EPOCH_TICKET, .in_deviations = true, .choose = choose_pure, .prepare = prepare_study, .ask = ask_study

const tacet__way tacet__way_contexts = {
    .name = "contextual-study",
    .summary =
        "an epoch of a study with contexts in a store, one reward replaced; bound on eps, tests of the noise's law",
    .fold = difference,
    IN_EPOCHS,
};

const tacet__way tacet__way_arms = {
    .name = "ab-study",
    .summary = "an epoch of an A/B test in a store, one reward replaced; bound on eps, and tests of the noise's law",
    .fold = both,
    IN_EPOCHS,
};
