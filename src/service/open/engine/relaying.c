/* SPDX-License-Identifier: Apache-2.0 */
/* relaying.c - hands jobs to the server that keeps the study, and takes the study over when that server is away.
 * Ring: open. Nothing here decides whether a write is right: that is the study's row lock, the fence in the row, and
 * the fence in the ledger. So no clock is trusted: a study is taken over as soon as its keeper cannot be reached, and a
 * keeper that was only out of sight finds a fence that is not its own. Cost: one request a batch. */
#include "service/open/engine/relaying.h"

#include "service/open/engine/internal.h"
#include "service/open/engine/office.h"
#include "service/open/engine/waiting.h"

#include <stdio.h>
#include <string.h>

static const double PATIENCE_SECONDS = 1; /* with a keeper that answers, and cannot */

static bool is_other(const tacet__replica *r) {
    return r->study.keeper[0] != '\0' && strcmp(r->study.keeper, r->settings->self) != 0;
}

void tacet__relaying_found(tacet__relaying *y, tacet__replica *r) {
    y->known = true;
    r->elsewhere = false;
    tacet__replica_leave(r); /* its memory, and a connection that others may need */
}

static void say(const tacet__replica *r, const char *what, const tacet_error *err) {
    char line[sizeof err->message + TACET__STUDY_NAME_MOST + TACET__KEEPER_MOST + 120];
    if (r->settings->log != NULL) {
        (void)snprintf(line, sizeof line, "study %s: %s, kept by %s: %s", r->name, what, r->study.keeper, err->message);
        r->settings->log(r->settings->log_user, line);
    }
}

bool tacet__relaying_away(tacet__relaying *y, tacet__replica *r) {
    if (r->settings->self == NULL || r->take || (r->loaded && r->fence != 0)) {
        return false;
    }
    if (!y->known) {
        if (tacet__replica_find(r, NULL) != TACET_OK) {
            return false;
        }
        if (is_other(r) && strcmp(r->study.keeper, y->gone) == 0) {
            say(r, "taking over what cannot be reached", &y->why);
            tacet__metrics_add(&r->settings->metrics->taken, 1);
            r->take = true;
        } else if (is_other(r)) {
            tacet__relaying_found(y, r);
        }
        y->known = true;
        y->gone[0] = '\0';
        y->failing = r->take ? 0 : y->failing;
    }
    return is_other(r) && !r->take;
}

/* Answers a job, or lets it wait on. */
static void settle(tacet__replica *r, tacet__job *job) {
    if (!tacet__waiting_add(r, job)) {
        job->done(job);
    }
}

static void fail_rest(tacet__job *jobs, const tacet_error *err) {
    while (jobs != NULL) {
        tacet__job *next = jobs->next;
        tacet__job_fail(jobs, TACET_BUSY, err->message);
        jobs = next;
    }
}

/* The keeper is there, and one of the two has the wrong certificate: a mistake of whoever set them up. Taking over
 * would hide it, and have the servers take studies from each other for ever. The fault is this server's as likely as
 * not, so it is not ready (engine.c). */
static void distrust(const tacet__replica *r, const tacet_error *err) {
    tacet__metrics *metrics = r->settings->metrics;
    tacet__metrics_add(&metrics->distrusted, 1);
    if (atomic_exchange(&metrics->distrust, (uint64_t)(1e3 * tacet__service_now()) + 1) == 0) {
        say(r, "the servers do not trust each other's certificates, so it is not taken over", err);
    }
}

/* What a failure to reach the keeper means: who keeps the study is looked up once more, and if that is the same one, it
 * is taken over from. */
static void judge(tacet__relaying *y, const tacet__replica *r, tacet_status status, const tacet_error *err) {
    const double now = tacet__service_now();
    y->known = false;
    if (status == TACET_DENIED) {
        distrust(r, err);
        return;
    }
    const bool answers = status == TACET_BUSY || status == TACET_NO_MEMORY;
    y->failing = y->failing > 0 ? y->failing : now;
    if (!answers || now - y->failing >= PATIENCE_SECONDS) {
        memcpy(y->gone, r->study.keeper, sizeof y->gone);
        y->why = *err;
    }
}

/* Relayed jobs are not relayed again: whoever sent them looks who keeps the study. */
static tacet__job *turn_back(tacet__job *jobs) {
    tacet__job *kept = NULL;
    tacet__job **end = &kept;
    while (jobs != NULL) {
        tacet__job *next = jobs->next;
        if (jobs->relayed) {
            jobs->elsewhere = true;
            tacet__job_fail(jobs, TACET_BUSY, "another server keeps the study");
        } else {
            *end = jobs;
            end = &jobs->next;
        }
        jobs = next;
    }
    *end = NULL;
    return kept;
}

tacet__job *tacet__relaying_run(tacet__relaying *y, tacet__replica *r, tacet__job *jobs) {
    tacet__job *again = NULL;
    tacet__job **end = &again;
    jobs = turn_back(jobs);
    while (jobs != NULL) {
        size_t count = 0;
        tacet_error err = {0};
        const tacet_status status =
            tacet__relay_send(&y->link, &count, r->settings, r->study.keeper, r->name, jobs, &err);
        if (status != TACET_OK) {
            judge(y, r, status, &err);
            if (y->gone[0] == '\0') {
                fail_rest(jobs, &err);
            } else {
                *end = jobs;
            }
            return again;
        }
        y->failing = 0;
        atomic_store(&r->settings->metrics->distrust, 0);
        tacet__metrics_add(&r->settings->metrics->relayed, count);
        for (size_t i = 0; i < count; i++) {
            tacet__job *job = jobs;
            jobs = job->next;
            if (job->elsewhere) {
                job->elsewhere = false;
                job->next = NULL;
                *end = job;
                end = &job->next;
                y->known = false;
            } else {
                settle(r, job);
            }
        }
    }
    return again;
}

void tacet__relaying_poll(tacet__relaying *y, tacet__replica *r) {
    for (tacet__job *job = r->waiting; job != NULL;) {
        size_t count = 0;
        tacet_error err = {0};
        if (tacet__relay_send(&y->link, &count, r->settings, r->study.keeper, r->name, job, &err) != TACET_OK) {
            y->known =
                false; /* those who wait go on waiting: the next poll finds the keeper, or a request takes over */
            return;
        }
        for (size_t i = 0; i < count; i++, job = job->next) {
            if (job->elsewhere && job->kind == TACET__JOB_LOOK) {
                job->elsewhere = false;
                job->status = TACET_OK;
                y->known = false;
            } else if (job->status != TACET_OK) {
                job->deadline = 0; /* answered now */
            }
        }
    }
}
