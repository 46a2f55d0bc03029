/* SPDX-License-Identifier: Apache-2.0 */
/* way_studies.c - studies of the service as they ship, through the engine and its store: the policy fixed.
 * Ring: audit. Neighbours: one round's reward at one end of the range or at the other. Looked at is what leaves with
 * the suggestion after a batch: the answer in the ledger, of one number. Batches of the policy central go through the
 * same gate (central/trusted/gate.c). Cost: 20 ms a release. */
#include "audit/way.h"

#include "core/fail.h"
#include "service/open/study/definition.h"
#include "service/open/engine/engine.h"
#include "service/open/store/store.h"
#include "service/trusted/kinds.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "central/trusted/policy.h"
#include <tacet/dp/open/calibrate.h>

enum {
    BATCH = 30 /* the first of the policy's, of as many rounds as leave others after it */,
    ROUNDS_MOST = 64,
    STUDY_VICTIM = 0,
    POINTS = 32
};
static const char STUDY[] = "audit";

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

static tacet_status do_many(tacet__engine *engine, tacet__job_kind kind, char tickets[][TACET__TICKET_TEXT],
                            const double *rewards, size_t count, tacet_error *err) {
    tacet__job *jobs[ROUNDS_MOST] = {0};
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        jobs[i] = tacet__job_create(kind);
        if (jobs[i] == NULL) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a job");
        } else if (kind == TACET__JOB_OBSERVE) {
            (void)snprintf(jobs[i]->ticket, sizeof jobs[i]->ticket, "%s", tickets[i]);
            jobs[i]->value = rewards[i];
        }
    }
    TACET_THEN(status, do_jobs(engine, jobs, count, err));
    for (size_t i = 0; i < count; i++) {
        if (status == TACET_OK && kind == TACET__JOB_SUGGEST) {
            (void)snprintf(tickets[i], TACET__TICKET_TEXT, "%s", jobs[i]->ticket);
        }
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

/* Of one number: all points look alike, so that it has nearly all of what a record can move. Of many: none do. */
static json_t *define(const tacet__shipment *s) {
    const double lengthscale = s->numbers == 1 ? 10 : 0.05;
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
static tacet_status rounds_of(const tacet__shipment *s, size_t *out, tacet_error *err) {
    const double length = s->numbers == 1 ? BATCH : fmax(BATCH, 2 * (double)s->numbers);
    *out = length <= ROUNDS_MOST ? (size_t)length : 0;
    return *out <= STUDY_VICTIM
               ? tacet__fail(err, TACET_INVALID, "a study's first batch has %g rounds at this eps: not %d to %d",
                             length, STUDY_VICTIM + 1, ROUNDS_MOST)
               : TACET_OK;
}

static tacet_status prepare_study(tacet__shipment *s, tacet_error *err) {
    char tickets[ROUNDS_MOST][TACET__TICKET_TEXT];
    double rewards[ROUNDS_MOST];
    size_t rounds = 0;
    tacet__metrics metrics = {0};
    tacet__engine *engine = NULL;
    const tacet__engine_settings settings = engine_settings(s, &metrics);
    for (size_t i = 0; i < ROUNDS_MOST; i++) {
        rewards[i] = i != STUDY_VICTIM ? 0.5 : s->worlds[0] == 1 ? 1e9 : -1e9; /* it is clipped */
    }
    tacet_status status = rounds_of(s, &rounds, err);
    TACET_THEN(status, add_study(s, &settings, err));
    TACET_THEN(status, tacet__engine_open(&engine, &settings, err));
    TACET_THEN(status, do_many(engine, TACET__JOB_SUGGEST, tickets, NULL, rounds, err));
    TACET_THEN(status, do_many(engine, TACET__JOB_OBSERVE, tickets, rewards, rounds, err));
    tacet__engine_close(engine);
    return status;
}

static tacet_status suggest_one(tacet__shipment *s, tacet_error *err) {
    char tickets[1][TACET__TICKET_TEXT];
    tacet__metrics metrics = {0};
    tacet__engine *engine = NULL;
    const tacet__engine_settings settings = engine_settings(s, &metrics);
    tacet_status status = tacet__engine_open(&engine, &settings, err);
    TACET_THEN(status, do_many(engine, TACET__JOB_SUGGEST, tickets, NULL, 1, err)); /* releases */
    tacet__engine_close(engine);
    return status;
}

static tacet_status ask_study(tacet__shipment *s, tacet_error *err) {
    const tacet_status status = suggest_one(s, err);
    return status != TACET_OK ? status : tacet__shipment_stored(s, "study/1", err);
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
    .choose = choose_study,
    .prepare = prepare_study,
    .ask = ask_study,
};
