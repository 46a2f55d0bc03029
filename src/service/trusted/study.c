/* SPDX-License-Identifier: Apache-2.0 */
/* study.c - one study for a program in this process: jobs for its engine, waited for.
 * Ring: trusted. Cost: that of the engine, and a thread's being woken. */
#include <tacet/service/trusted/study.h>

#include "core/fail.h"
#include "core/json_numbers.h"
#include "core/memory.h"
#include "service/open/engine.h"
#include "service/trusted/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVENTS = 64 };

_Static_assert((int)TACET_STUDY_TICKET == (int)TACET__TICKET_TEXT, "room for a ticket");
_Static_assert((int)TACET_STUDY_DIMS == (int)TACET__DEFINITION_DIMS, "room for an action");

struct tacet_study {
    tacet__metrics metrics;
    tacet__engine *engine;
    char *store;
    char name[TACET__STUDY_NAME_MOST + 1];
};

static tacet__engine_settings settings_for(tacet__metrics *metrics, const char *place) {
    tacet__engine_settings settings = {.kinds = tacet__service_kinds, .metrics = metrics, .save_least = SAVE_EVENTS};
    settings.store.store = place;
    return settings;
}

tacet_status tacet_study_create(char **name, const char *store, const char *definition, size_t size, tacet_error *err) {
    tacet__metrics metrics = {0};
    tacet__engine_settings settings = settings_for(&metrics, store);
    tacet__definition def;
    *name = NULL;
    tacet_status status = tacet__definition_decode(&def, definition, size, err);
    if (status != TACET_OK) {
        return status;
    }
    settings.store.create = true;
    char *called = strdup(def.name);
    tacet__definition_clear(&def);
    status = called != NULL ? tacet__engine_add(&settings, NULL, definition, size, err)
                            : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    if (status != TACET_OK) {
        free(called);
        return status;
    }
    *name = called;
    return TACET_OK;
}

/* Does the job and gives its status; the message is in err. */
static tacet_status ask(tacet_study *study, tacet__job *job, tacet_error *err) {
    return tacet__engine_ask(study->engine, study->name, job, err);
}

static tacet_status make_job(tacet__job **out, tacet__job_kind kind, tacet_error *err) {
    *out = tacet__job_create(kind);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a question to a study");
}

tacet_status tacet_study_open(tacet_study **out, const char *store, const char *name, tacet_error *err) {
    tacet__job *job = NULL;
    *out = NULL;
    if (strlen(name) > TACET__STUDY_NAME_MOST) {
        return tacet__fail(err, TACET_NOT_FOUND, "no study has such a name");
    }
    tacet_study *study = TACET__ZALLOC(tacet_study, 1);
    tacet_status status = study != NULL && (study->store = strdup(store)) != NULL
                              ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    if (status == TACET_OK) {
        const tacet__engine_settings settings = settings_for(&study->metrics, study->store);
        (void)snprintf(study->name, sizeof study->name, "%s", name);
        status = tacet__engine_open(&study->engine, &settings, err);
    }
    status = status != TACET_OK ? status : make_job(&job, TACET__JOB_STATUS, err);
    status = status != TACET_OK ? status : ask(study, job, err); /* that there is such a study */
    tacet__job_free(job);
    if (status != TACET_OK) {
        tacet_study_close(study);
        return status;
    }
    *out = study;
    return TACET_OK;
}

void tacet_study_close(tacet_study *study) {
    if (study != NULL) {
        tacet__engine_close(study->engine);
        free(study->store);
        free(study);
    }
}

static bool copy_numbers(double **out, const double *numbers, size_t count) {
    *out = TACET__ZALLOC(double, count);
    if (*out != NULL) {
        memcpy(*out, numbers, count * sizeof *numbers);
    }
    return *out != NULL;
}

static bool all_finite(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i])) {
            return false;
        }
    }
    return true;
}

static tacet_status put_round(tacet__job *job, const tacet_study_round *round, tacet_error *err) {
    const char *person = round->person != NULL ? round->person : "";
    const char *key = round->key != NULL ? round->key : "";
    size_t numbers = 0;
    if (strlen(person) >= sizeof job->person || strlen(key) >= sizeof job->key) {
        return tacet__fail(err, TACET_INVALID, "a person's name has at most %zu bytes, a key at most %zu",
                           sizeof job->person - 1, sizeof job->key - 1);
    }
    if (!tacet__size_mul(&numbers, round->d, round->count) || !all_finite(round->points, numbers) ||
        !all_finite(round->context, round->context_dim)) {
        return tacet__fail(err, TACET_INVALID, "the numbers of a decision set or a context must be finite");
    }
    (void)snprintf(job->person, sizeof job->person, "%s", person);
    (void)snprintf(job->key, sizeof job->key, "%s", key);
    if ((numbers > 0 && !copy_numbers(&job->points, round->points, numbers)) ||
        (round->context_dim > 0 && !copy_numbers(&job->context, round->context, round->context_dim))) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a round");
    }
    job->d = job->points != NULL ? round->d : 0;
    job->count = job->points != NULL ? round->count : 0;
    job->context_dim = job->context != NULL ? round->context_dim : 0;
    if (round->named != NULL) {
        job->named = json_loads(round->named, JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(job->named)) {
            return tacet__fail(err, TACET_INVALID, "a named context is a JSON object");
        }
    }
    return TACET_OK;
}

tacet_status tacet_study_suggest(tacet_study *study, tacet_study_suggestion *out, const tacet_study_round *round,
                                 tacet_error *err) {
    tacet__job *job = NULL;
    *out = (tacet_study_suggestion){.index = 0};
    tacet_status status = make_job(&job, TACET__JOB_SUGGEST, err);
    status = status != TACET_OK ? status : put_round(job, round, err);
    status = status != TACET_OK ? status : ask(study, job, err);
    if (status == TACET_OK) {
        memcpy(out->ticket, job->ticket, sizeof out->ticket);
        out->index = job->index;
        out->action_size = job->action_size;
        memcpy(out->action, job->action, job->action_size * sizeof *job->action);
        out->repeated = job->repeated;
        /* Taken already: a caller that cannot have the text has the coordinates. */
        out->point = job->point != NULL ? json_dumps(job->point, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
        if (out->point != NULL) {
            tacet__json_shorten(out->point);
        }
    }
    tacet__job_free(job);
    return status;
}

static tacet_status tell(tacet_study *study, bool *clipped, const char *ticket, double value, bool failed,
                         tacet_error *err) {
    tacet__job *job = NULL;
    tacet_status status = make_job(&job, TACET__JOB_OBSERVE, err);
    if (status == TACET_OK && strlen(ticket) >= sizeof job->ticket) {
        status = tacet__fail(err, TACET_NOT_FOUND, "no such ticket");
    }
    if (status == TACET_OK) {
        (void)snprintf(job->ticket, sizeof job->ticket, "%s", ticket);
        job->value = failed ? 0 : value;
        job->failed = failed;
        status = ask(study, job, err);
    }
    if (clipped != NULL) {
        *clipped = status == TACET_OK && job->clipped;
    }
    tacet__job_free(job);
    return status;
}

tacet_status tacet_study_observe(tacet_study *study, bool *clipped, const char *ticket, double value,
                                 tacet_error *err) {
    if (clipped != NULL) {
        *clipped = false;
    }
    return isfinite(value) ? tell(study, clipped, ticket, value, false, err)
                           : tacet__fail(err, TACET_INVALID, "a value must be finite");
}

tacet_status tacet_study_fail(tacet_study *study, const char *ticket, tacet_error *err) {
    return tell(study, NULL, ticket, 0, true, err);
}

tacet_status tacet_study_text(tacet_study *study, char **out, tacet_study_text_kind kind, tacet_error *err) {
    static const tacet__job_kind KINDS[] = {TACET__JOB_STATUS, TACET__JOB_RELEASE, TACET__JOB_LEDGER};
    tacet__job *job = NULL;
    *out = NULL;
    if ((size_t)kind >= sizeof KINDS / sizeof *KINDS) {
        return tacet__fail(err, TACET_INVALID, "no such text of a study");
    }
    tacet_status status = make_job(&job, KINDS[kind], err);
    status = status != TACET_OK ? status : ask(study, job, err);
    if (status == TACET_OK) {
        *out = json_dumps(job->body, JSON_COMPACT | JSON_REAL_PRECISION(17));
        status = *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study's text");
    }
    tacet__job_free(job);
    return status;
}
