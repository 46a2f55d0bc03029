/* SPDX-License-Identifier: Apache-2.0 */
/* study.c - one study for a program in this process: jobs for its engine, waited for.
 * Ring: trusted. Cost: that of the engine, and a thread's being woken. */
#include <tacet/service/trusted/study.h>

#include "core/fail.h"
#include "core/json_numbers.h"
#include "core/memory.h"
#include "core/number.h"
#include "core/numbers.h"
#include "service/open/engine/engine.h"
#include "service/open/study/space_domain.h"
#include "service/trusted/kinds.h"
#include "service/trusted/place.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>

enum { SAVE_EVENTS = 64, SET_BYTES = 1 << 22 };

struct tacet_study {
    tacet__metrics metrics;
    tacet__engine *engine;
    char *store, *open_store, *anchors;
    char name[TACET__STUDY_NAME_MOST + 1];
};

static tacet__engine_settings settings_for(tacet__metrics *metrics, const tacet_store_place *place) {
    return (tacet__engine_settings){.store = tacet__place_settings(place),
                                    .kinds = tacet__service_kinds,
                                    .metrics = metrics,
                                    .save_least = SAVE_EVENTS};
}

tacet_status tacet_study_add(char **canonical, const tacet_store_place *place, const char *definition, size_t size,
                             tacet_error *err) {
    tacet__metrics metrics = {0};
    tacet__engine_settings settings = settings_for(&metrics, place);
    settings.store.create = true;
    *canonical = NULL;
    return tacet__engine_add(&settings, canonical, definition, size, err);
}

tacet_status tacet_study_outlook(char **out, const char *definition, size_t size, tacet_error *err) {
    tacet__definition def;
    json_t *body = NULL;
    *out = NULL;
    TACET_OR_RETURN(tacet__definition_decode(&def, definition, size, err));
    const tacet__policy_kind *kind = tacet__policy_find(tacet__service_kinds, &def);
    tacet_status status = kind != NULL && kind->outlook != NULL ? kind->outlook(&def, &body, err) : TACET_OK;
    if (status == TACET_OK && body == NULL) {
        status = tacet__fail(err, TACET_UNSUPPORTED, "an outlook is of a central study without contexts");
    }
    tacet__definition_clear(&def);
    return tacet__place_text(out, status, body, err);
}

tacet_status tacet_study_create(char **name, const char *store, const char *definition, size_t size, tacet_error *err) {
    const tacet_store_place place = {.store = store};
    tacet__definition def;
    char *canonical = NULL;
    *name = NULL;
    TACET_OR_RETURN(tacet__definition_decode(&def, definition, size, err));
    char *called = strdup(def.name);
    tacet__definition_clear(&def);
    tacet_status status = called != NULL ? tacet_study_add(&canonical, &place, definition, size, err)
                                         : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    free(canonical);
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

/* The texts live as long as the study. */
static bool copy_place(tacet_study *study, const tacet_store_place *place) {
    study->store = place->store != NULL ? strdup(place->store) : NULL;
    study->open_store = place->open_store != NULL ? strdup(place->open_store) : NULL;
    study->anchors = place->anchors != NULL ? strdup(place->anchors) : NULL;
    return (study->store != NULL) == (place->store != NULL) &&
           (study->open_store != NULL) == (place->open_store != NULL) &&
           (study->anchors != NULL) == (place->anchors != NULL);
}

tacet_status tacet_study_open(tacet_study **out, const char *store, const char *name, tacet_error *err) {
    const tacet_store_place place = {.store = store};
    return tacet_study_open_at(out, &place, name, err);
}

tacet_status tacet_study_open_at(tacet_study **out, const tacet_store_place *place, const char *name,
                                 tacet_error *err) {
    tacet__job *job = NULL;
    *out = NULL;
    if (strlen(name) > TACET__STUDY_NAME_MOST) {
        return tacet__fail(err, TACET_NOT_FOUND, "no study has such a name");
    }
    tacet_study *study = TACET__ZALLOC(tacet_study, 1);
    tacet_status status = study != NULL && copy_place(study, place)
                              ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    if (status == TACET_OK) {
        tacet_store_place kept = *place;
        kept.store = study->store;
        kept.open_store = study->open_store;
        kept.anchors = study->anchors;
        const tacet__engine_settings settings = settings_for(&study->metrics, &kept);
        (void)snprintf(study->name, sizeof study->name, "%s", name);
        status = tacet__engine_open(&study->engine, &settings, err);
    }
    TACET_THEN(status, make_job(&job, TACET__JOB_STATUS, err));
    TACET_THEN(status, ask(study, job, err)); /* that there is such a study */
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
        free(study->open_store);
        free(study->anchors);
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

static tacet_status put_round(tacet__job *job, const tacet_study_round *round, tacet_error *err) {
    const char *person = round->person != NULL ? round->person : "";
    const char *key = round->key != NULL ? round->key : "";
    size_t numbers = 0;
    if (strlen(person) >= sizeof job->person || strlen(key) >= sizeof job->key) {
        return tacet__fail(err, TACET_INVALID, "a person's name has at most %zu bytes, a key at most %zu",
                           sizeof job->person - 1, sizeof job->key - 1);
    }
    if (!tacet__size_mul(&numbers, round->d, round->count) || !tacet__all_finite(round->points, numbers) ||
        !tacet__all_finite(round->context, round->context_dim)) {
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

/* The object (taken over) as text, with numbers as short as they can be. */
static tacet_status as_text(char **out, json_t *object, tacet_error *err) {
    *out = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    if (*out == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study's text");
    }
    tacet__json_shorten(*out);
    return TACET_OK;
}

tacet_status tacet_study_suggest_text(tacet_study *study, char **out, const tacet_study_round *round, size_t many,
                                      tacet_error *err) {
    tacet__job *job = NULL;
    *out = NULL;
    if (many > TACET__SUGGEST_MOST) {
        return tacet__fail(err, TACET_INVALID, "1 to %d suggestions at once", (int)TACET__SUGGEST_MOST);
    }
    tacet_status status = make_job(&job, TACET__JOB_SUGGEST, err);
    TACET_THEN(status, put_round(job, round, err));
    if (status == TACET_OK) {
        job->many = many;
        status = ask(study, job, err);
    }
    if (status == TACET_OK) {
        status = as_text(out, many > 0 ? json_pack("{sO}", "suggestions", job->body) : tacet__job_suggestion(job), err);
    }
    tacet__job_free(job);
    return status;
}

static tacet_status report_outcome(tacet_study *study, tacet_study_taken *taken, const char *ticket, double value,
                                   bool failed, tacet_error *err) {
    tacet__job *job = NULL;
    tacet_status status = make_job(&job, TACET__JOB_OBSERVE, err);
    if (status == TACET_OK && strlen(ticket) >= sizeof job->ticket) {
        status = tacet__fail(err, TACET_NOT_FOUND, "'%.60s' is no ticket of a study", ticket);
    }
    if (status == TACET_OK) {
        (void)snprintf(job->ticket, sizeof job->ticket, "%s", ticket);
        job->value = failed ? 0 : value;
        job->failed = failed;
        status = ask(study, job, err);
    }
    if (taken != NULL && status == TACET_OK) {
        *taken = (tacet_study_taken){.clipped = job->clipped, .repeated = job->repeated};
    }
    tacet__job_free(job);
    return status;
}

tacet_status tacet_study_observe(tacet_study *study, tacet_study_taken *taken, const char *ticket, double value,
                                 tacet_error *err) {
    if (taken != NULL) {
        *taken = (tacet_study_taken){0};
    }
    return isfinite(value) ? report_outcome(study, taken, ticket, value, false, err)
                           : tacet__fail(err, TACET_INVALID, "a value must be finite");
}

tacet_status tacet_study_fail(tacet_study *study, tacet_study_taken *taken, const char *ticket, tacet_error *err) {
    if (taken != NULL) {
        *taken = (tacet_study_taken){0};
    }
    return report_outcome(study, taken, ticket, 0, true, err);
}

tacet_status tacet_study_extend(tacet_study *study, uint64_t rounds, tacet_error *err) {
    tacet__job *job = NULL;
    tacet_status status = make_job(&job, TACET__JOB_EXTEND, err);
    if (status == TACET_OK) {
        job->number = rounds;
        status = ask(study, job, err);
    }
    tacet__job_free(job);
    return status;
}

/* `after` goes with the question, `number` (may be NULL) comes back with the answer. */
static tacet_status ask_text(tacet_study *study, char **out, uint64_t *number, tacet__job_kind kind, uint64_t after,
                             tacet_error *err) {
    tacet__job *job = NULL;
    *out = NULL;
    tacet_status status = make_job(&job, kind, err);
    if (status == TACET_OK) {
        job->number = after;
        status = ask(study, job, err);
    }
    TACET_THEN(status, as_text(out, json_incref(job->body), err));
    if (number != NULL) {
        *number = status == TACET_OK ? job->number : 0;
    }
    tacet__job_free(job);
    return status;
}

tacet_status tacet_study_release(tacet_study *study, char **out, uint64_t *number, tacet_error *err) {
    return ask_text(study, out, number, TACET__JOB_RELEASE, 0, err);
}

tacet_status tacet_study_text(tacet_study *study, char **out, tacet_study_text_kind kind, tacet_error *err) {
    static const tacet__job_kind KINDS[] = {TACET__JOB_STATUS, TACET__JOB_RELEASE, TACET__JOB_LEDGER, TACET__JOB_MODEL,
                                            TACET__JOB_BEST};
    *out = NULL;
    return (size_t)kind < sizeof KINDS / sizeof *KINDS ? ask_text(study, out, NULL, KINDS[kind], 0, err)
                                                       : tacet__fail(err, TACET_INVALID, "no such text of a study");
}

tacet_status tacet_study_events(tacet_study *study, char **out, uint64_t after, tacet_error *err) {
    return ask_text(study, out, NULL, TACET__JOB_EVENTS, after, err);
}

/* What was read is private, and wiped. */
tacet_status tacet_study_set_read(double **points, tacet_study_round *round, const char *path, tacet_error *err) {
    char *text = NULL;
    size_t size = 0, field = 0, line = 1;
    round->points = NULL;
    round->d = round->count = 0;
    tacet_status status = tacet_file_read(&text, &size, path, SET_BYTES, err);
    *points = status == TACET_OK ? TACET__ZALLOC(double, size / 2 + 1) : NULL; /* a digit and a separator each */
    if (status == TACET_OK && *points == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a decision set");
    }
    for (const char *at = text; status == TACET_OK && at[strspn(at, "\r\n")] != '\0';) {
        const size_t length = strcspn(at, ",\r\n");
        const char *end = at + length + (at[length] == '\r');
        const char after = *end;
        if (tacet__number_parse(&(*points)[round->count * round->d + field++], at, length) != TACET__NUMBER_OK) {
            status = tacet__fail(err, TACET_INVALID, "%s: line %zu: field %zu is not a number (no header is taken)",
                                 path, line, field);
        } else if (after != ',') { /* the end of a line */
            round->d = round->count == 0 ? field : round->d;
            if (field != round->d) {
                status = tacet__fail(err, TACET_INVALID,
                                     "%s: line %zu: needs as many numbers as the first, with commas", path, line);
            }
            round->count++;
            field = 0;
            line++;
        }
        at = end + (after != '\0');
    }
    if (status == TACET_OK && round->count == 0) {
        status = tacet__fail(err, TACET_INVALID, "%s: no arms", path);
    }
    if (text != NULL) {
        sodium_memzero(text, size);
        free(text);
    }
    round->points = *points;
    return status;
}

void tacet_study_set_free(double *points, tacet_study_round *round) {
    if (points != NULL) {
        sodium_memzero(points, round->d * round->count * sizeof *points);
        free(points);
    }
    round->points = NULL;
}
