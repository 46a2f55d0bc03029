/* SPDX-License-Identifier: Apache-2.0 */
/* engine_fixture.h - an engine over a fresh store, jobs that are waited for, and a toy policy of the central model.
 *
 * The toy plays, of each decision set, the arm whose first coordinate is nearest to the mean of what was observed so
 * far: a function of the whole history, so that a replay that loses or swaps anything shows. */
#pragma once

#include "store_fixture.h"
#include "core/policy_internal.h"

#include "core/codec.h"
#include "core/fail.h"
#include "service/open/engine/engine.h"

#include <pthread.h>
#include <time.h>

#define OWN_ENGINE __attribute__((cleanup(test_own_engine)))
#define OWN_JOB __attribute__((cleanup(test_own_job)))
TEST_OWNS(engine, tacet__engine *, tacet__engine_close)
TEST_OWNS(job, tacet__job *, tacet__job_free)

typedef struct toy {
    uint64_t given, seen;
    double sum;
} toy;

static pthread_mutex_t toy_gate = PTHREAD_MUTEX_INITIALIZER; /* who holds it stops the toys */
static bool toy_forgets; /* a policy that does not follow its history: replays must notice */

static inline tacet_status toy_suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    toy *t = self;
    if (round == NULL || round->points == NULL || round->d != 2) {
        return tacet__fail(err, TACET_INVALID, "two coordinates are needed");
    }
    (void)pthread_mutex_lock(&toy_gate);
    (void)pthread_mutex_unlock(&toy_gate);
    const double goal = t->seen > 0 && !toy_forgets ? t->sum / (double)t->seen : 0;
    size_t best = 0;
    for (size_t i = 1; i < round->count; i++) {
        if (fabs(round->points[i * round->ld] - goal) < fabs(round->points[best * round->ld] - goal)) {
            best = i;
        }
    }
    *out = (tacet_suggestion){.index = best, .ticket = ++t->given};
    return TACET_OK;
}

static inline tacet_status toy_observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    toy *t = self;
    if (ticket == 0 || ticket > t->given) {
        return tacet__fail(err, TACET_NOT_FOUND, "no such ticket");
    }
    t->sum += fmin(fmax(value, 0), 1);
    t->seen++;
    return TACET_OK;
}

static inline tacet_status toy_drop(void *self, uint64_t ticket, tacet_error *err) {
    toy *t = self;
    if (ticket == 0 || ticket > t->given) {
        return tacet__fail(err, TACET_NOT_FOUND, "no such ticket");
    }
    t->seen++; /* a reward of 0: a trace that a replay must leave, too */
    return TACET_OK;
}

static inline tacet_status toy_recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    const toy *t = self;
    *out = (tacet_recommendation){.index = SIZE_MAX, .mean = t->sum, .measured = SIZE_MAX};
    return t->seen > 0 ? TACET_OK : tacet__fail(err, TACET_STATE, "nothing yet");
}

/* Set while the toy's noise is one that everybody knows. */
static bool toy_known __attribute__((unused));

static inline void toy_guarantee(const void *self, tacet_guarantee *out) {
    (void)self;
    *out = (tacet_guarantee){.trust = TACET_TRUST_CENTRAL,
                             .proven = !toy_known,
                             .eps = toy_known ? (double)INFINITY : 1,
                             .delta = toy_known ? 1 : 0,
                             .protects = "nothing",
                             .statement = "A toy.",
                             .proof = ""};
}

static inline void toy_state(void *self, tacet__state *s) {
    toy *t = self;
    tacet__state_u64(s, "given", &t->given, UINT64_MAX);
    tacet__state_u64(s, "seen", &t->seen, UINT64_MAX);
    tacet__state_any_f64s(s, "sum", &t->sum, 1);
}

static inline tacet_status toy_check(const tacet__definition *def, tacet_error *err) {
    return def->d == 2 ? TACET_OK : tacet__fail(err, TACET_INVALID, "the toy has two coordinates");
}

static inline tacet_status toy_create(tacet__learner *out, const tacet__definition *def, const char *ledger,
                                      const void *snapshot, size_t size, tacet_error *err) {
    static const tacet__policy_ops OPS = {.name = "toy",
                                          .suggest = toy_suggest,
                                          .observe = toy_observe,
                                          .recommend = toy_recommend,
                                          .guarantee = toy_guarantee,
                                          .state = toy_state,
                                          .free = free,
                                          .drop = toy_drop};
    (void)def;
    (void)ledger;
    (void)snapshot;
    (void)size;
    toy *t = calloc(1, sizeof *t);
    return t != NULL ? tacet__policy_wrap(&out->policy, &OPS, t, err) : TACET_NO_MEMORY;
}

static inline tacet_status toy_release(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                       tacet_error *err) {
    tacet_recommendation best;
    (void)def;
    const tacet_status status = tacet_policy_recommend(learner->policy, &best, err);
    *out = status == TACET_OK ? json_pack("{sf}", "sum", best.mean) : NULL;
    return status;
}

static inline tacet_status toy_spent(const tacet__learner *learner, const tacet__definition *def, json_t **out,
                                     tacet_error *err) {
    (void)learner;
    (void)def;
    (void)err;
    *out = json_pack("{ss}", "kept_by", "nobody");
    return TACET_OK;
}

static const tacet__policy_kind TOY = {.name = "toy",
                                       .trust = TACET_TRUST_CENTRAL,
                                       .sets = true,
                                       .check = toy_check,
                                       .create = toy_create,
                                       .release = toy_release,
                                       .spent = toy_spent};
static const tacet__policy_kind *const KINDS[] = {&TOY, &tacet__policy_ucb, &tacet__policy_moma,
                                                  &tacet__policy_statistics, NULL};

#define TOYS_WITH(options)                                                                                             \
    "{\"name\":\"toys\",\"trust\":\"central\",\"policy\":\"toy\",\"budget\":{\"eps\":1,\"delta\":1e-6},"               \
    "\"domain\":{\"lower\":[0,0],\"upper\":[1,1]},\"prior\":{\"lengthscale\":0.2,\"reward\":[0,1]},"                   \
    "\"options\":{\"set_most\":8" options "}}"
static const char TOY_STUDY[] = TOYS_WITH("");
static const char LOCAL_STUDY[] =
    "{\"name\":\"slides\",\"trust\":\"local\",\"budget\":{\"eps\":1},\"rounds\":5000,"
    "\"domain\":{\"points\":[[0],[0.25],[0.5],[0.75],[1]]},\"prior\":{\"lengthscale\":0.3,\"reward\":[0,1]},"
    "\"options\":{\"randomizer\":\"hybrid\",\"parameters\":\"tuned\"}}";

static tacet__metrics engine_metrics;

static inline tacet__engine_settings engine_settings(void) {
    return (tacet__engine_settings){
        .store = {.store = store_place, .create = true, .busy_ms = 2000}, .kinds = KINDS, .metrics = &engine_metrics};
}

static inline void add_study(const char *definition) {
    const tacet__engine_settings settings = engine_settings();
    tacet_error err = {0};
    assert_done(tacet__engine_add(&settings, NULL, definition, strlen(definition), &err));
}

static inline tacet__engine *open_engine(void) {
    const tacet__engine_settings settings = engine_settings();
    tacet__engine *engine = NULL;
    assert_ok(tacet__engine_open(&engine, &settings, NULL));
    return engine;
}

static _Atomic uint64_t ahead __attribute__((unused)); /* of the system's clock */

static inline uint64_t fast_clock(void) {
    return (uint64_t)time(NULL) + ahead;
}

static inline tacet__engine *open_at(uint64_t seconds) {
    tacet__engine_settings settings = engine_settings();
    tacet__engine *engine = NULL;
    ahead = seconds;
    settings.clock = fast_clock;
    assert_ok(tacet__engine_open(&engine, &settings, NULL));
    return engine;
}

static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_wake = PTHREAD_COND_INITIALIZER;

static inline void job_done(tacet__job *job) {
    (void)pthread_mutex_lock(&done_lock);
    *(bool *)job->user = true;
    (void)pthread_cond_broadcast(&done_wake);
    (void)pthread_mutex_unlock(&done_lock);
}

static inline void job_wait(const bool *done) {
    (void)pthread_mutex_lock(&done_lock);
    while (!*done) {
        (void)pthread_cond_wait(&done_wake, &done_lock);
    }
    (void)pthread_mutex_unlock(&done_lock);
}

/* Submits, waits, returns the job's status; the job stays the caller's. */
static inline tacet_status run_job(tacet__engine *engine, const char *study, tacet__job *job) {
    bool done = false;
    job->user = &done;
    job->done = job_done;
    tacet__engine_submit(engine, study, job);
    job_wait(&done);
    return job->status;
}

/* A job that needs nothing but the study, answered well; the caller's to free. */
static inline tacet__job *answered(tacet__engine *engine, const char *study, tacet__job_kind kind) {
    tacet__job *job = tacet__job_create(kind);
    assert_int_equal(run_job(engine, study, job), TACET_OK);
    return job;
}

/* A number of such an answer. */
static inline double answered_number(tacet__engine *engine, const char *study, tacet__job_kind kind,
                                     const char *field) {
    tacet__job *job = answered(engine, study, kind);
    const double number = json_number_value(json_object_get(job->body, field));
    tacet__job_free(job);
    return number;
}

typedef struct answer {
    tacet_status status;
    char ticket[TACET__TICKET_TEXT];
    uint64_t index;
    bool repeated, clipped, observed, expired;
} answer;

static inline answer take_answer(tacet__job *job) {
    answer a = {.status = job->status,
                .index = job->index,
                .repeated = job->repeated,
                .clipped = job->clipped,
                .observed = job->observed,
                .expired = job->expired};
    (void)snprintf(a.ticket, sizeof a.ticket, "%s", job->ticket);
    tacet__job_free(job);
    return a;
}

/* A suggestion; points NULL: a fixed domain. */
static inline answer ask_suggestion(tacet__engine *engine, const char *study, const char *key, const double *points,
                                    size_t count) {
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    (void)snprintf(job->key, sizeof job->key, "%s", key != NULL ? key : "");
    if (points != NULL) {
        job->points = malloc(2 * count * sizeof(double));
        memcpy(job->points, points, 2 * count * sizeof(double));
        job->d = 2;
        job->count = count;
    }
    (void)run_job(engine, study, job);
    return take_answer(job);
}

static inline answer send_observation(tacet__engine *engine, const char *study, const char *ticket, double value) {
    tacet__job *job = tacet__job_create(TACET__JOB_OBSERVE);
    (void)snprintf(job->ticket, sizeof job->ticket, "%s", ticket);
    job->value = value;
    (void)run_job(engine, study, job);
    return take_answer(job);
}

static inline answer look_at(tacet__engine *engine, const char *study, const char *ticket, double wait) {
    tacet__job *job = tacet__job_create(TACET__JOB_LOOK);
    (void)snprintf(job->ticket, sizeof job->ticket, "%s", ticket);
    job->wait = wait;
    (void)run_job(engine, study, job);
    return take_answer(job);
}
