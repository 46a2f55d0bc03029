/* SPDX-License-Identifier: Apache-2.0 */
/* way_models.c - a model learnt from a log, and a study of the service, as they ship.
 * Ring: audit. Neighbours: one row's reward, or one round's, at one end of the range or at the other. The bound is of a
 * release of one number, which an audit can see nearly all of; the law of one of many. What is looked at are the bytes
 * that the ledger stores as the answer: those that left. Cost: 5 to 20 ms a release. */
#include "audit/way.h"

#include "core/fail.h"
#include "service/open/engine.h"
#include "service/trusted/kinds.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/trusted/log.h>
#include <tacet/core/simrng.h>
#include <tacet/dp/open/release.h>

enum { LEARN_NUMBERS = 8 /* the plan wants ten */, STUDY_NUMBERS = 16 };

tacet_status tacet__shipment_stored(tacet__shipment *s, const char *ticket, tacet_error *err) {
    tacet_ledger_settings l;
    tacet_ledger *ledger = NULL;
    tacet_release *release = NULL;
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob_init(&memo);
    tacet_ledger_settings_defaults(&l);
    l.create = false;
    l.use_stored = true;
    tacet_status status = tacet_ledger_open(&ledger, s->ledger, &l, err);
    status = status != TACET_OK ? status : tacet_ledger_lookup(ledger, &entry, &memo, ticket, err);
    status = status != TACET_OK ? status : tacet_release_decode(&release, memo.data, memo.size, err);
    if (status == TACET_OK && tacet_release_count(release) != s->numbers) {
        status = tacet__fail(err, TACET_CORRUPT, "a release of %zu numbers, not of %zu", tacet_release_count(release),
                             s->numbers);
    }
    if (status == TACET_OK) {
        const double sd = tacet_release_receipt(release)->error_sd;
        memcpy(s->values, tacet_release_values(release), s->numbers * sizeof *s->values);
        s->variance = sd * sd;
    }
    tacet_release_free(release);
    tacet_blob_clear(&memo);
    tacet_ledger_close(ledger);
    return status;
}

/* --- a log ------------------------------------------------------------------------------------------------------- */

enum { LOG_ROWS = 400 /* fewer are refused */, LOG_VICTIM = 17 };

static tacet_status choose_learn(tacet__shipment *s, const char *mechanism, tacet_error *err) {
    s->gaussian = strcmp(mechanism, "gaussian") == 0;
    s->pure = !s->gaussian;
    return s->gaussian || strcmp(mechanism, "k-norm") == 0
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "a model is learnt with k-norm or gaussian noise");
}

static tacet_status write_log(tacet__shipment *s, tacet_error *err) {
    tacet_simrng rng;
    FILE *file = fopen(s->data, "we");
    bool good = file != NULL && fprintf(file, "a,c,y\n") > 0;
    tacet_simrng_init(&rng, 77, 0);
    for (size_t i = 0; i < LOG_ROWS && good; i++) {
        const double a = floor(6 * tacet_simrng_uniform(&rng));
        const double c = floor(4 * tacet_simrng_uniform(&rng));
        const double y = 2 * tacet_simrng_uniform(&rng) - 1;
        const double end = s->worlds[0] == 1 ? 1e9 : -1e9; /* far out of range: it is clipped */
        good = fprintf(file, "a%g,c%g,%.6f\n", a, c, i == LOG_VICTIM ? end : y) > 0;
    }
    good = file != NULL && fclose(file) == 0 && good;
    return good ? TACET_OK : tacet__fail(err, TACET_IO, "%.150s: cannot be written", s->data);
}

static tacet_status ask_learn(tacet__shipment *s, tacet_error *err) {
    static const tacet_space_options LEVELS = {.levels = "a=a0|a1|a2|a3|a4|a5,c=c0|c1|c2|c3"};
    tacet_space space;
    tacet_contextual_question question = {
        .space = &space, .action_columns = 1, .reward = "y", .kind = TACET_KERNEL_SE, .lengthscale_count = 0};
    const tacet_contextual_entry entry = {.ledger = s->ledger, .ticket = "audit", .to_whom = "an auditor"};
    tacet_contextual_log *log = NULL;
    tacet_contextual_model *model = NULL;
    tacet_contextual_settings_defaults(&question.settings);
    question.settings.method = TACET_CONTEXTUAL_STAGED;
    question.settings.gaussian = s->gaussian;
    question.settings.eps = s->settings->eps;
    question.settings.delta = s->settings->delta;
    question.settings.stages_most = 1;
    question.settings.features_most = s->numbers;
    question.settings.prior_sd = 1; /* much to be learnt, so that few rows are enough */
    tacet_status status = tacet_space_short(&space, &LEVELS, err);
    status = status != TACET_OK ? status : tacet_contextual_log_open(&log, s->data, &question, err);
    status = status != TACET_OK ? status : tacet_contextual_log_release(log, &model, &entry, err);
    tacet_contextual_model_free(model);
    tacet_contextual_log_free(log);
    tacet_space_clear(&space);
    return status != TACET_OK ? status : tacet__shipment_stored(s, "audit/stage 1", err);
}

/* --- a study ----------------------------------------------------------------------------------------------------- */

enum {
    BATCH = 30 /* the first of the policy's, of as many rounds as leave others after it */,
    STUDY_VICTIM = 7,
    POINTS = 2 * STUDY_NUMBERS
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
    tacet__job *jobs[BATCH] = {0};
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
    status = status != TACET_OK ? status : do_jobs(engine, jobs, count, err);
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

static tacet_status add_study(const tacet__shipment *s, const tacet__engine_settings *settings, tacet_error *err) {
    json_t *points = json_array();
    for (size_t i = 0; i < POINTS; i++) {
        (void)json_array_append_new(points, json_pack("[f]", (double)i / POINTS));
    }
    /* Of one number: all points look alike, so that it has nearly all of what a record can move. Of many: none do. */
    const double lengthscale = s->numbers == 1 ? 10 : 0.05;
    json_t *study = json_pack("{ss ss ss s{sf sf} si s{so} s{sf s[ff]} s{si}}", "name", STUDY, "trust", "central",
                              "policy", "fixed", "budget", "eps", s->settings->eps, "delta", s->settings->delta,
                              "rounds", 3 * BATCH, "domain", "points", points, "prior", "lengthscale", lengthscale,
                              "reward", 0.0, 1.0, "options", "features", (int)s->numbers);
    char *text = study != NULL ? json_dumps(study, 0) : NULL;
    json_decref(study);
    const tacet_status status = text != NULL ? tacet__engine_add(settings, NULL, text, strlen(text), err)
                                             : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    free(text);
    return status;
}

static tacet_status prepare_study(tacet__shipment *s, tacet_error *err) {
    char tickets[BATCH][TACET__TICKET_TEXT];
    double rewards[BATCH];
    tacet__metrics metrics = {0};
    tacet__engine *engine = NULL;
    const tacet__engine_settings settings = engine_settings(s, &metrics);
    for (size_t i = 0; i < BATCH; i++) {
        rewards[i] = i != STUDY_VICTIM ? 0.5 : s->worlds[0] == 1 ? 1e9 : -1e9; /* it is clipped */
    }
    tacet_status status = add_study(s, &settings, err);
    status = status != TACET_OK ? status : tacet__engine_open(&engine, &settings, err);
    status = status != TACET_OK ? status : do_many(engine, TACET__JOB_SUGGEST, tickets, NULL, BATCH, err);
    status = status != TACET_OK ? status : do_many(engine, TACET__JOB_OBSERVE, tickets, rewards, BATCH, err);
    tacet__engine_close(engine);
    return status;
}

static tacet_status ask_study(tacet__shipment *s, tacet_error *err) {
    char tickets[1][TACET__TICKET_TEXT];
    tacet__metrics metrics = {0};
    tacet__engine *engine = NULL;
    const tacet__engine_settings settings = engine_settings(s, &metrics);
    tacet_status status = tacet__engine_open(&engine, &settings, err);
    status = status != TACET_OK ? status : do_many(engine, TACET__JOB_SUGGEST, tickets, NULL, 1, err); /* releases */
    tacet__engine_close(engine);
    return status != TACET_OK ? status : tacet__shipment_stored(s, "study/1", err);
}

enum { RELEASES = 2000, INTERRUPTED = 2000 };

const tacet__way tacet__way_learn = {
    .name = "learn",
    .summary = "a log through tacet learn, one row's reward replaced; bound on eps, and tests of the noise's law",
    .mechanism = "k-norm",
    .most = 1,
    .law_numbers = LEARN_NUMBERS,
    .middle = (double)NAN,
    .rows = RELEASES,
    .runs = INTERRUPTED,
    .choose = choose_learn,
    .prepare = write_log,
    .ask = ask_learn,
};
const tacet__way tacet__way_study = {
    .name = "study",
    .summary = "rounds of a study in a store, one reward replaced; bound on eps, and tests of the noise's law",
    .mechanism = "gaussian",
    .most = 1,
    .law_numbers = STUDY_NUMBERS,
    .middle = (double)NAN,
    .rows = RELEASES,
    .runs = INTERRUPTED,
    .choose = choose_study,
    .prepare = prepare_study,
    .ask = ask_study,
};
