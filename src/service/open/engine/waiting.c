/* SPDX-License-Identifier: Apache-2.0 */
/* waiting.c - long polls of a study. Ring: open. Cost: a walk over those who wait, a batch. */
#include "service/open/engine/waiting.h"

#include "service/open/engine/errands.h"

#include <string.h>

enum { EVENTS_MOST = 8 }; /* who wait for events, of one token and study; the next one is answered at once */

/* There is nothing to tell yet. */
static bool is_open(const tacet__job *job) {
    return job->status == TACET_OK &&
           ((job->kind == TACET__JOB_LOOK && !job->observed && !job->expired) ||
            (job->kind == TACET__JOB_EVENTS && json_array_size(json_object_get(job->body, "events")) == 0));
}

static bool is_one_too_many(const tacet__replica *r, const tacet__job *job) {
    size_t same = 0;
    for (const tacet__job *other = r->waiting; other != NULL; other = other->next) {
        same += other->kind == TACET__JOB_EVENTS && memcmp(other->owner, job->owner, sizeof job->owner) == 0;
    }
    return job->kind == TACET__JOB_EVENTS && same >= EVENTS_MOST;
}

bool tacet__waiting_add(tacet__replica *r, tacet__job *job) {
    if (!(job->wait > 0) || !is_open(job) || is_one_too_many(r, job)) {
        return false;
    }
    job->deadline = tacet__service_now() + job->wait;
    job->next = r->waiting;
    r->waiting = job;
    atomic_fetch_add_explicit(&r->settings->metrics->waiting, 1, memory_order_relaxed);
    return true;
}

void tacet__waiting_notice(tacet__replica *r, uint64_t suggestion, bool expired) {
    for (tacet__job *job = r->waiting; job != NULL; job = job->next) {
        if (job->kind == TACET__JOB_LOOK && job->seq == suggestion) {
            job->observed = !expired;
            job->expired = expired;
        }
    }
}

static bool is_behind(const tacet__replica *r, const tacet__job *job) {
    return job->kind == TACET__JOB_EVENTS && job->number < tacet__replica_events(r) && is_open(job);
}

bool tacet__waiting_behind(const tacet__replica *r) {
    const tacet__job *job = r->waiting;
    while (job != NULL && !is_behind(r, job)) {
        job = job->next;
    }
    return r->loaded && job != NULL;
}

void tacet__waiting_tell(tacet__replica *r) {
    for (tacet__job *job = r->waiting; job != NULL; job = job->next) {
        if (is_behind(r, job)) {
            json_decref(job->body);
            job->body = NULL;
            job->status = tacet__replica_view(r, job);
        }
    }
}

void tacet__waiting_answer(tacet__replica *r, bool end) {
    const double now = tacet__service_now();
    tacet__job *keep = NULL;
    tacet__job *job = r->waiting;
    while (job != NULL) {
        tacet__job *next = job->next;
        if (!is_open(job) || end || now >= job->deadline) {
            atomic_fetch_sub_explicit(&r->settings->metrics->waiting, 1, memory_order_relaxed);
            job->done(job);
        } else {
            job->next = keep;
            keep = job;
        }
        job = next;
    }
    r->waiting = keep;
}
