/* SPDX-License-Identifier: Apache-2.0 */
/* relay_wire.c - what one server answers another. Ring: service. The wire's thread reads the jobs and hands them to
 * their study; the answer leaves when the last of them is done, or after the time a client would wait, saying so; jobs
 * that were not begun by then are not done. Cost: that of the jobs. */
#include "service/open/engine/relay.h"

#include "core/memory.h"
#include "io/http/wipe.h"
#include "service/open/wire/call.h"
#include "service/open/engine/office.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const double ANSWER_SECONDS = 1.6;

typedef struct visit {
    tacet__watch watch;
    tacet__service *service;
    tacet__exchange *exchange;
    tacet__job *jobs[TACET__RELAY_MOST];
    size_t count;
    _Atomic size_t left; /* jobs that are not done, and one while they are handed over */
} visit;

static void answer_visit(visit *v) {
    tacet__response response = {.file = -1};
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    if (tacet__relay_answer(&bytes, v->jobs, v->count, NULL) == TACET_OK) {
        response.status = 200;
        response.content_type = "application/octet-stream";
        response.body = (char *)bytes.data; /* the wire frees it */
        response.body_size = bytes.size;
    } else {
        tacet_blob_clear(&bytes);
        tacet__refuse_failure(&response, TACET_NO_MEMORY, "");
    }
    v->exchange->answer(v->exchange, &response);
}

static void one_less(visit *v) {
    if (atomic_fetch_sub(&v->left, 1) != 1) {
        return;
    }
    if (tacet__watch_end(tacet__engine_watchdog(v->service->engine), &v->watch)) {
        answer_visit(v);
    }
    for (size_t i = 0; i < v->count; i++) {
        tacet__job_free(v->jobs[i]);
    }
    free(v);
}

static void done(tacet__job *job) {
    one_less(job->user);
}

/* Under the watchdog's lock. */
static void tell_late(tacet__watch *watch) {
    visit *v = (visit *)(void *)((char *)watch - offsetof(visit, watch));
    tacet__response response = {.file = -1};
    for (size_t i = 0; i < v->count; i++) {
        atomic_store(&v->jobs[i]->late, true);
    }
    tacet__refuse_failure(&response, TACET_BUSY, "");
    v->exchange->answer(v->exchange, &response);
}

static void hand_over(tacet__service *service, tacet__exchange *exchange, tacet__job *jobs, const char *study,
                      visit *v) {
    *v = (visit){.service = service, .exchange = exchange};
    for (; jobs != NULL; jobs = jobs->next) {
        jobs->user = v;
        jobs->done = done;
        v->jobs[v->count++] = jobs;
    }
    atomic_store(&v->left, v->count + 1);
    exchange->suspend(exchange);
    tacet__watch_begin(tacet__engine_watchdog(service->engine), &v->watch, ANSWER_SECONDS, tell_late);
    const size_t count = v->count;
    for (size_t i = 0; i < count; i++) {
        tacet__engine_submit(service->engine, study, v->jobs[i]);
    }
    one_less(v);
}

void tacet__relay_handle(void *user, const tacet__request *request, tacet__response *response) {
    tacet__job *jobs = NULL;
    tacet_error err = {0};
    char study[TACET__STUDY_NAME_MOST + 1];
    response->file = -1;
    if (!atomic_load(&((tacet__service *)user)->serving)) {
        tacet__refuse_failure(response, TACET_BUSY, "");
        return;
    }
    if (request->certificate == NULL || strcmp(request->certificate, TACET__RELAY_NAME) != 0) {
        tacet__refuse(response, 403, "forbidden", "a certificate of a server of this store is needed");
        return;
    }
    request->exchange->known = true;
    if (strcmp(request->path, TACET__RELAY_PATH) != 0 || strcmp(request->method, "POST") != 0) {
        tacet__refuse(response, 404, NULL, "no such path");
        return;
    }
    const tacet_status status = tacet__relay_asked(&jobs, study, request->body, request->body_size, &err);
    if (status != TACET_OK) {
        tacet__refuse_failure(response, status, err.message);
        return;
    }
    visit *v = TACET__ZALLOC(visit, 1);
    if (v == NULL) {
        while (jobs != NULL) {
            tacet__job *next = jobs->next;
            tacet__job_free(jobs);
            jobs = next;
        }
        tacet__refuse_failure(response, TACET_NO_MEMORY, "");
        return;
    }
    hand_over(user, request->exchange, jobs, study, v);
}
