/* SPDX-License-Identifier: Apache-2.0 */
/* relay.c - jobs and their answers as bytes, between the servers of one store.
 * Ring: open. What comes from another server is checked as strictly as what comes from a client: sizes before anything
 * is allocated, texts without a NUL, numbers finite. Cost: one pass, and a hash (src/core/codec.h). */
#include "service/open/engine/relay.h"

#include "core/codec.h"
#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char ASK[] = "tacet relayed jobs";
static const char ANSWER[] = "tacet relayed answers";
enum { VERSION = 1, ONE_BYTES = 1024 }; /* of a job without its numbers, at the most */

static void write_text(tacet__writer *w, const char *text) {
    tacet__write_bytes(w, text, strlen(text));
}

/* A text that fits, or the reader has failed. */
static void read_text(tacet__reader *r, char *out, size_t size) {
    const unsigned char *bytes = NULL;
    const size_t length = tacet__read_bytes(r, &bytes);
    out[0] = '\0';
    if (r->failed || length >= size || (length > 0 && memchr(bytes, '\0', length) != NULL)) {
        r->failed = true;
        return;
    }
    if (length > 0) {
        memcpy(out, bytes, length);
    }
    out[length] = '\0';
}

static bool read_bool(tacet__reader *r) {
    return tacet__read_size(r, 1) == 1;
}

static void write_json(tacet__writer *w, const json_t *value) {
    char *text = value != NULL ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    w->failed = w->failed || (value != NULL && text == NULL);
    tacet__write_bytes(w, text, text != NULL ? strlen(text) : 0);
    free(text);
}

static json_t *read_json(tacet__reader *r, bool *no_memory) {
    json_error_t where = {.line = 0};
    const unsigned char *text = NULL;
    const size_t size = tacet__read_bytes(r, &text);
    json_t *value = !r->failed && size > 0 ? json_loadb((const char *)text, size, 0, &where) : NULL;
    if (!r->failed && size > 0 && value == NULL) {
        r->failed = true;
        *no_memory = tacet__json_no_memory(&where);
    }
    return value;
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

static void write_job(tacet__writer *w, const tacet__job *job) {
    const size_t numbers = job->points != NULL ? job->d * job->count : 0;
    tacet__write_u64(w, (uint64_t)job->kind);
    write_text(w, job->key);
    tacet__write_size(w, numbers > 0 ? job->d : 0);
    tacet__write_size(w, numbers > 0 ? job->count : 0);
    tacet__write_f64s(w, job->points, numbers);
    tacet__write_size(w, job->context != NULL ? job->context_dim : 0);
    tacet__write_f64s(w, job->context, job->context != NULL ? job->context_dim : 0);
    write_json(w, job->named);
    tacet__write_u64(w, job->owned);
    tacet__write_bytes(w, job->owner, sizeof job->owner);
    tacet__write_u64(w, job->open_most);
    tacet__write_u64(w, job->rounds_most);
    write_text(w, job->person);
    write_text(w, job->ticket);
    tacet__write_f64(w, job->value);
    tacet__write_u64(w, job->failed);
    tacet__write_u64(w, job->number);
    tacet__write_size(w, job->many);
    tacet__write_u64(w, job->x);
    tacet__write_u64(w, job->y);
}

static size_t numbers_of(const tacet__job *job) {
    return (job->points != NULL ? job->d * job->count : 0) + (job->context != NULL ? job->context_dim : 0);
}

tacet_status tacet__relay_ask(tacet_blob *out, size_t *count, const char *study, const tacet__job *jobs,
                              tacet_error *err) {
    tacet__writer w;
    size_t bytes = 0;
    *count = 0;
    for (const tacet__job *job = jobs; job != NULL && *count < TACET__RELAY_MOST; job = job->next) {
        bytes += ONE_BYTES + numbers_of(job) * sizeof(double);
        if (bytes > TACET__RELAY_BYTES && *count > 0) {
            break;
        }
        (*count)++;
    }
    tacet__write_begin(&w, out, ASK, VERSION);
    write_text(&w, study);
    tacet__write_size(&w, *count);
    for (size_t i = 0; i < *count; i++, jobs = jobs->next) {
        write_job(&w, jobs);
    }
    return tacet__write_end(&w, err);
}

static double *read_numbers(tacet__reader *r, size_t count, bool *no_memory) {
    if (r->failed || count == 0 || (size_t)(r->end - r->at) / sizeof(double) < count) {
        r->failed = r->failed || count > 0;
        return NULL;
    }
    double *numbers = TACET__ZALLOC(double, count);
    if (numbers == NULL) {
        r->failed = *no_memory = true;
        return NULL;
    }
    tacet__read_f64s(r, numbers, count);
    for (size_t i = 0; i < count; i++) {
        r->failed = r->failed || !isfinite(numbers[i]);
    }
    return numbers;
}

static void read_job(tacet__reader *r, tacet__job *job, bool *no_memory) {
    const unsigned char *owner = NULL;
    job->kind = (tacet__job_kind)tacet__read_size(r, TACET__JOB_POSTERIOR);
    read_text(r, job->key, sizeof job->key);
    job->d = tacet__read_size(r, TACET__DEFINITION_DIMS);
    job->count = tacet__read_size(r, TACET__DEFINITION_ARMS);
    job->points = read_numbers(r, job->d * job->count, no_memory);
    job->context_dim = tacet__read_size(r, TACET__DEFINITION_DIMS);
    job->context = read_numbers(r, job->context_dim, no_memory);
    job->named = read_json(r, no_memory);
    r->failed = r->failed || (job->named != NULL && !json_is_object(job->named));
    job->owned = read_bool(r);
    if (tacet__read_bytes(r, &owner) == sizeof job->owner) {
        memcpy(job->owner, owner, sizeof job->owner);
    } else {
        r->failed = true;
    }
    job->open_most = tacet__read_u64(r);
    job->rounds_most = tacet__read_u64(r);
    read_text(r, job->person, sizeof job->person);
    read_text(r, job->ticket, sizeof job->ticket);
    job->value = tacet__read_f64(r);
    job->failed = read_bool(r);
    job->number = tacet__read_u64(r);
    job->many = tacet__read_size(r, TACET__SUGGEST_MOST);
    job->x = tacet__read_u64(r);
    job->y = tacet__read_u64(r);
    job->relayed = true;
    r->failed = r->failed || !isfinite(job->value);
}

static void free_list(tacet__job *jobs) {
    while (jobs != NULL) {
        tacet__job *next = jobs->next;
        tacet__job_free(jobs);
        jobs = next;
    }
}

tacet_status tacet__relay_asked(tacet__job **out, char study[TACET__STUDY_NAME_MOST + 1], const void *bytes,
                                size_t size, tacet_error *err) {
    tacet__reader r;
    tacet__job *first = NULL;
    tacet__job **end = &first;
    bool no_memory = false;
    *out = NULL;
    study[0] = '\0';
    if (tacet__read_begin(&r, bytes, size, ASK, VERSION, err) != TACET_OK) {
        return TACET_PARSE;
    }
    read_text(&r, study, TACET__STUDY_NAME_MOST + 1);
    const size_t count = tacet__read_size(&r, TACET__RELAY_MOST);
    for (size_t i = 0; i < count && !r.failed; i++) {
        tacet__job *job = tacet__job_create(TACET__JOB_STATUS);
        no_memory = job == NULL;
        r.failed = r.failed || no_memory;
        if (job != NULL) {
            read_job(&r, job, &no_memory);
            *end = job;
            end = &job->next;
        }
    }
    if (tacet__read_end(&r, NULL) != TACET_OK || first == NULL) {
        free_list(first);
        return no_memory ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for relayed jobs")
                         : tacet__fail(err, TACET_PARSE, "relayed jobs cannot be read");
    }
    *out = first;
    return TACET_OK;
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

tacet_status tacet__relay_answer(tacet_blob *out, tacet__job *const *jobs, size_t count, tacet_error *err) {
    tacet__writer w;
    tacet__write_begin(&w, out, ANSWER, VERSION);
    tacet__write_size(&w, count);
    for (size_t i = 0; i < count; i++) {
        const tacet__job *job = jobs[i];
        tacet__write_u64(&w, (uint64_t)job->status);
        write_text(&w, job->status == TACET_OK ? "" : job->err.message);
        tacet__write_u64(&w, job->elsewhere);
        tacet__write_u64(&w, job->repeated);
        tacet__write_u64(&w, job->clipped);
        tacet__write_u64(&w, job->observed);
        tacet__write_u64(&w, job->uncounted);
        tacet__write_u64(&w, job->expired);
        tacet__write_u64(&w, job->last);
        tacet__write_u64(&w, job->index);
        tacet__write_u64(&w, job->number);
        write_text(&w, job->ticket);
        tacet__write_size(&w, job->action_size);
        tacet__write_f64s(&w, job->action, job->action_size);
        write_json(&w, job->body);
        write_json(&w, job->point);
    }
    return tacet__write_end(&w, err);
}

static void read_answer(tacet__reader *r, tacet__job *job, bool *no_memory) {
    char message[sizeof job->err.message];
    tacet_error_clear(&job->err);
    job->status = (tacet_status)tacet__read_size(r, TACET_UNSUPPORTED);
    read_text(r, message, sizeof message);
    if (job->status != TACET_OK) {
        (void)tacet__fail(&job->err, job->status, "%s", message);
    }
    job->elsewhere = read_bool(r);
    job->repeated = read_bool(r);
    job->clipped = read_bool(r);
    job->observed = read_bool(r);
    job->uncounted = read_bool(r);
    job->expired = read_bool(r);
    job->last = read_bool(r);
    job->index = tacet__read_u64(r);
    job->number = tacet__read_u64(r);
    read_text(r, job->ticket, sizeof job->ticket);
    job->action_size = tacet__read_size(r, TACET__DEFINITION_DIMS);
    tacet__read_f64s(r, job->action, job->action_size);
    json_decref(job->body);
    job->body = read_json(r, no_memory);
    json_decref(job->point);
    job->point = read_json(r, no_memory);
}

tacet_status tacet__relay_answered(tacet__job *jobs, size_t count, const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    bool no_memory = false;
    if (tacet__read_begin(&r, bytes, size, ANSWER, VERSION, err) != TACET_OK) {
        return TACET_PARSE;
    }
    r.failed = r.failed || tacet__read_size(&r, TACET__RELAY_MOST) != count;
    for (size_t i = 0; i < count && !r.failed; i++, jobs = jobs->next) {
        read_answer(&r, jobs, &no_memory);
    }
    if (tacet__read_end(&r, NULL) == TACET_OK) {
        return TACET_OK;
    }
    return no_memory ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for relayed answers")
                     : tacet__fail(err, TACET_PARSE, "relayed answers cannot be read");
}
