/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - one study at work: batches, long polls. Its thread and its queue: thread.c.
 * Ring: open. The order of a batch is fixed (engine.h); no answer leaves before the commit it rests on.
 * Cost: one transaction a batch, or one for a batch of each of several studies. */
#include "service/open/engine/anchor.h"
#include "service/open/engine/internal.h"
#include "service/open/engine/waiting.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SNAPSHOT_BYTES = 64, /* of snapshots an event, on average: a policy of 256 KiB costs that at
                            TACET__SNAPSHOT_EVENTS, a larger one is saved less often */
    PROJECT_BATCHES = 32 /* the open store may lag by that many batches while there is work */
};
static const double DAMAGED_SECONDS = 5; /* between two looks at a history that did not hold together */
void tacet__job_fail(tacet__job *job, tacet_status status, const char *message) {
    tacet_error_clear(&job->err);
    job->status = tacet__fail(&job->err, status, "%s", message);
    job->done(job);
}

/* What befell a study, for the log and the metrics. */
static void log_failure(tacet__worker *w, const char *what, const tacet_error *err) {
    char line[sizeof err->message + TACET__STUDY_NAME_MOST + 64];
    tacet__metrics_add(&w->r.settings->metrics->failures, 1);
    tacet__metrics_add(&w->failures, 1);
    if (w->r.settings->log != NULL) {
        (void)snprintf(line, sizeof line, "study %s: %s: %s", w->r.name, what, err->message);
        w->r.settings->log(w->r.settings->log_user, line);
    }
}

/* A history that does not hold together does not heal; what was taken for one (memory that was short, a disk that read
 * badly once) may. So it is read once more now and then. */
static void note_damage(tacet__worker *w, tacet_status status) {
    if (status == TACET_CORRUPT && !w->damaged) {
        w->damaged = true;
        w->damaged_until = tacet__service_now() + DAMAGED_SECONDS;
    }
}

static void look_again(tacet__worker *w) {
    if (w->damaged && tacet__service_now() >= w->damaged_until) {
        w->damaged = false;
        tacet__replica_unload(&w->r);
    }
}

/* --- batches ------------------------------------------------------------------------------------------------------ */

/* So that a replay is short and writing snapshots costs O(1) an event, whatever the size of the policy; and that what
 * took long to learn is not learnt again by each process that loads it. */
static bool snapshot_due(const tacet__worker *w) {
    const tacet__replica *r = &w->r;
    const uint64_t last = r->study.snapshot > r->saved ? r->study.snapshot : r->saved; /* another process's, too */
    const uint64_t due = r->saved_size / SNAPSHOT_BYTES;
    return tacet__policy_learnt(r->learner.policy) > r->saved_learnt ||
           r->study.head - last >= (due > TACET__SNAPSHOT_EVENTS ? due : TACET__SNAPSHOT_EVENTS);
}

static void snapshot(tacet__worker *w, tacet__batch *b) {
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    tacet_status status = tacet_policy_save(w->r.learner.policy, &bytes, &b->err);
    TACET_THEN(status, tacet__studies_put_snapshot(w->r.store, &w->r.study, bytes.data, bytes.size, &b->err));
    w->r.saved_size = bytes.size;
    w->r.saved_learnt = tacet__policy_learnt(w->r.learner.policy);
    tacet_blob_clear(&bytes);
    b->broken = status != TACET_OK;
    if (status == TACET_OK) {
        w->r.saved = w->r.study.head;
        tacet__metrics_add(&w->r.settings->metrics->snapshots, 1);
    }
}

static void settle(tacet__worker *w, tacet__job *job, const tacet_error *failure) {
    if (failure != NULL) {
        /* Also what was refused: the refusal may rest on an event of this batch. */
        json_decref(job->body);
        job->body = NULL;
        tacet_error_clear(&job->err);
        job->status = tacet__fail(&job->err, failure->status, "%s", failure->message);
    }
    /* These three take the study's lock by themselves, so they cannot be part of the batch's transaction. What they
     * rest on was looked at in it; a deletion names the newest event that was seen, and is refused where there is
     * another by now. */
    if (job->kind == TACET__JOB_ARCHIVE && job->status == TACET_OK) {
        job->status = tacet__studies_archive(w->r.store, w->r.name, &job->err);
    }
    if (job->kind == TACET__JOB_EXTEND && job->status == TACET_OK) {
        job->status = tacet__studies_extend(w->r.store, w->r.name, job->number, &job->err);
    }
    if (job->kind == TACET__JOB_DELETE && job->status == TACET_OK) {
        job->status = tacet__studies_delete(w->r.store, w->r.name, w->r.study.head, &job->err);
        if (job->status == TACET_OK) {
            w->unprojected = 0;
            tacet__replica_unload(&w->r);
        }
    }
    job->done(job);
}

/* Whether it was stored or not, the store knows; what is in memory may be ahead of it. */
static void give_up(tacet__worker *w, const tacet_error *err, tacet_error *failure) {
    tacet__replica_unload(&w->r);
    log_failure(w, "a batch was not stored", err);
    *failure = *err;
    if (failure->status == TACET_OK || failure->status == TACET_CONFLICT || failure->status == TACET_STATE ||
        failure->status == TACET_INVALID || failure->status == TACET_NOT_FOUND) {
        failure->status = TACET_IO; /* no fault of the client's */
    }
}

/* Behind the store until the next batch where it cannot be written: it says less then, and nothing false. */
static void note_anchor(tacet__worker *w) {
    tacet_error err = {0};
    if (tacet__study_anchor_note(w->r.anchor, &w->r.study, &err) != TACET_OK) {
        log_failure(w, "how far the study came was not noted", &err);
    }
}

/* Commits when something was written. *failure is what befell the whole batch. */
static bool finish(tacet__worker *w, tacet__batch *b, tacet_error *failure) {
    tacet__metrics *metrics = w->r.settings->metrics;
    if (!b->broken && b->wrote && snapshot_due(w)) {
        snapshot(w, b);
    }
    if (!b->broken && b->wrote) {
        const double begin = tacet__service_now();
        b->broken = tacet__studies_commit(w->r.store, &b->err) != TACET_OK;
        if (!b->broken && !w->r.study.reports_private && !w->r.borrows) {
            tacet__metrics_committed(metrics, tacet__service_now() - begin);
        }
    } else {
        tacet__studies_rollback(w->r.store);
        /* A batch that wrote nothing may have read what another process committed a moment ago: an answer that tells
         * of it must not leave before that is durable, or a crash could take it back. */
        if (!b->broken && w->r.unsettled) {
            b->broken = tacet__studies_settle(w->r.store, &w->r.study, &b->err) != TACET_OK;
        }
    }
    if (!b->broken) {
        tacet__metrics_moved(metrics);
        atomic_store_explicit(&w->issued, w->r.study.suggested, memory_order_relaxed);
        w->r.unsettled = false;
        w->r.applied = b->wrote ? w->r.study.head : w->r.applied;
        if (b->wrote) {
            note_anchor(w);
            tacet__metrics_add(&metrics->batches, w->r.study.reports_private ? 0 : 1);
            w->unprojected++;
            w->alone = false;
        }
        return true;
    }
    tacet__studies_rollback(w->r.store);
    w->alone = true;
    give_up(w, &b->err, failure);
    return false;
}

/* What is left of the budget, where a ledger knows. */
static void note_budget(tacet__worker *w) {
    json_t *account = NULL;
    if (w->r.kind->spent(&w->r.learner, &w->r.def, &account, NULL) == TACET_OK) {
        const double eps = json_number_value(json_object_get(account, "budget_eps"));
        atomic_store(&w->left_eps, eps - json_number_value(json_object_get(account, "spent_eps")));
        atomic_store(&w->budget_eps, eps);
    }
    json_decref(account);
}

void tacet__worker_project(tacet__worker *w, bool idle) {
    tacet_error err = {0};
    if (w->unprojected == 0 || !w->r.loaded || (!idle && w->unprojected < PROJECT_BATCHES)) {
        return;
    }
    w->unprojected = 0;
    if (w->r.def.trust == TACET_TRUST_CENTRAL) {
        note_budget(w);
    }
    if (w->r.def.trust == TACET_TRUST_CENTRAL && tacet__studies_project(w->r.store, &w->r.study, &err) != TACET_OK) {
        log_failure(w, "the open store lags", &err);
        note_damage(w, err.status);
    }
}

void tacet__worker_fail(tacet__worker *w, tacet__job *jobs, const tacet_error *err) {
    const tacet_status status = w->damaged ? TACET_CORRUPT : err->status != TACET_OK ? err->status : TACET_IO;
    while (jobs != NULL) {
        tacet__job *next = jobs->next;
        tacet__job_fail(jobs, status,
                        w->damaged ? "the study's stored history does not hold together; it is not served"
                                   : err->message);
        jobs = next;
    }
}

/* Whose client was told to try again: not done, so that what nobody waits for does not pile up behind a store that was
 * away. */
tacet__job *tacet__worker_leave_out_late(tacet__job *jobs) {
    tacet__job *kept = NULL;
    tacet__job **end = &kept;
    while (jobs != NULL) {
        tacet__job *next = jobs->next;
        if (atomic_load(&jobs->late)) {
            tacet__job_fail(jobs, TACET_BUSY, "the client was told to try again");
        } else {
            *end = jobs;
            end = &jobs->next;
        }
        jobs = next;
    }
    *end = NULL;
    return kept;
}

/* What the client did not cause, and is told as "try again": said here, or nobody knows why. */
static void note_failure(tacet__worker *w, const tacet__job *job) {
    switch (job->status) {
    case TACET_OK:
    case TACET_INVALID:
    case TACET_PARSE:
    case TACET_NOT_FOUND:
    case TACET_CONFLICT:
    case TACET_STATE:
    case TACET_BUDGET:
        return;
    default:
        log_failure(w, "a request was not answered", &job->err);
    }
}

/* Tickets expire when the next suggestion is asked for: not before anyone could want that, and in a transaction of
 * their own, so that a release that rests on it rests on what was committed. */
static bool any_suggests(const tacet__job *jobs) {
    while (jobs != NULL && jobs->kind != TACET__JOB_SUGGEST) {
        jobs = jobs->next;
    }
    return jobs != NULL;
}

/* False: nothing was done, because it cannot be; the jobs were answered. */
static bool act(tacet__turn *t) {
    tacet__worker *w = t->worker;
    tacet__batch *b = &t->batch;
    look_again(w);
    tacet_status status = w->damaged ? TACET_CORRUPT : TACET_OK;
    if (status == TACET_OK && any_suggests(t->jobs)) {
        const uint64_t applied = w->r.applied;
        status = tacet__replica_expire(
            &w->r, w->r.settings->clock != NULL ? w->r.settings->clock() : (uint64_t)time(NULL), &b->err);
        w->unprojected += w->r.applied > applied;
    }
    if (status == TACET_OK) {
        tacet__replica_foresee(&w->r, t->jobs);
        status = tacet__replica_begin(&w->r, &b->err);
    }
    if (status != TACET_OK) {
        if (status != TACET_NOT_FOUND && status != TACET_STATE && !w->damaged) {
            log_failure(w, "cannot begin", &b->err);
        }
        note_damage(w, status);
        tacet__worker_fail(w, t->jobs, &b->err);
        t->jobs = NULL;
        return false;
    }
    /* The first job that breaks the batch is the last: memory and store no longer agree, and what came before it is
     * answered with the same failure. */
    for (unsigned pass = 0; pass < TACET__JOB_PASSES; pass++) {
        for (tacet__job *job = t->jobs; job != NULL && !b->broken; job = job->next) {
            if (tacet__job_kinds[job->kind].pass == pass) {
                job->status = tacet__replica_act(&w->r, b, job);
                t->done += job->status == TACET_OK;
                if (!b->broken) { /* that is said once, for all of them */
                    note_failure(w, job);
                }
            }
        }
    }
    t->kept = finish(w, b, &t->failure);
    return true;
}

/* Once what was done is durable, or known not to be. */
static void answer(tacet__turn *t) {
    tacet__worker *w = t->worker;
    if (t->kept && t->batch.wrote && !w->r.study.reports_private) {
        atomic_fetch_add_explicit(&w->r.settings->metrics->batched, t->done, memory_order_relaxed);
    }
    while (t->jobs != NULL) {
        tacet__job *job = t->jobs;
        t->jobs = job->next;
        if (!t->kept || !tacet__waiting_add(&w->r, job)) {
            settle(w, job, t->kept ? NULL : &t->failure);
        }
    }
}

/* Someone waits, so look what this and other processes appended. */
void tacet__worker_poll(tacet__worker *w) {
    tacet_error err = {0};
    if (w->r.waiting != NULL && !w->damaged) {
        tacet_status status = tacet__replica_begin(&w->r, &err);
        if (status == TACET_OK) {
            if (!w->r.unsettled) { /* otherwise at the next look */
                tacet__waiting_tell(&w->r);
            }
            tacet__studies_rollback(w->r.store);
            if (w->r.unsettled && tacet__studies_settle(w->r.store, &w->r.study, &err) != TACET_OK) {
                return; /* another time: what was noticed is told once it is durable */
            }
            w->r.unsettled = false;
        }
        note_damage(w, status);
    }
    tacet__waiting_answer(&w->r, w->damaged);
}

static void answer_waiting(tacet__worker *w) {
    if (tacet__waiting_behind(&w->r)) {
        tacet__worker_poll(w);
    } else {
        tacet__waiting_answer(&w->r, false);
    }
}

void tacet__worker_run(tacet__worker *w, tacet__job *jobs) {
    tacet__turn t = {.worker = w, .jobs = jobs};
    if (act(&t)) {
        answer(&t);
    }
    answer_waiting(w);
}

/* Those that are not in memory yet are loaded in a transaction of their own, and one that was the end of such a common
 * transaction is not let in again before it has shown that it can be stored: so no study is the end of the others more
 * than once. */
void tacet__worker_run_together(tacet__turn *turns, size_t count, tacet__studies *store) {
    tacet_error err = {0};
    size_t ready = 0;
    for (size_t i = 0; i < count; i++) {
        if (!turns[i].worker->r.loaded || turns[i].worker->alone) {
            tacet__worker_run(turns[i].worker, turns[i].jobs);
            turns[i].jobs = NULL;
        } else {
            ready++;
        }
    }
    if (ready == 0) {
        return;
    }
    tacet_status status = tacet__studies_gather(store, &err);
    const bool begun = status == TACET_OK;
    for (size_t i = 0; i < count; i++) {
        tacet__turn *t = &turns[i];
        if (t->jobs != NULL && !begun) {
            log_failure(t->worker, "cannot begin", &err);
            tacet__worker_fail(t->worker, t->jobs, &err);
            t->jobs = NULL;
        } else if (t->jobs != NULL && !act(t)) {
            t->jobs = NULL;
        }
    }
    const double begin = tacet__service_now();
    status = begun ? tacet__studies_gathered(store, &err) : status;
    if (begun && status == TACET_OK) {
        tacet__metrics_committed(turns[0].worker->r.settings->metrics, tacet__service_now() - begin);
    }
    for (size_t i = 0; i < count; i++) {
        tacet__turn *t = &turns[i];
        if (t->jobs != NULL && t->kept && status != TACET_OK) {
            t->kept = false;
            give_up(t->worker, &err, &t->failure);
        }
        answer(t);
        answer_waiting(t->worker);
    }
}

/* --- beside batches ----------------------------------------------------------------------------------------------- */

/* Saves the policy as of the newest event, unless that was done. */
static tacet_status save_now(tacet__worker *w, tacet_error *err) {
    tacet__batch b = {0};
    tacet_status status = tacet__replica_begin(&w->r, err);
    if (status != TACET_OK) {
        return status;
    }
    if (w->r.study.head > w->r.study.snapshot) {
        snapshot(w, &b);
        status =
            b.broken ? tacet__fail(err, b.err.status, "%s", b.err.message) : tacet__studies_commit(w->r.store, err);
    }
    tacet__studies_rollback(w->r.store);
    return status;
}

/* So that the next start replays nothing: it may be of another build, whose arithmetic rounds otherwise. */
static void save_at_end(tacet__worker *w) {
    tacet_error err = {0};
    const uint64_t last = w->r.study.snapshot > w->r.saved ? w->r.study.snapshot : w->r.saved;
    const bool wanted = w->r.study.head - last >= w->r.settings->save_least;
    if (w->r.loaded && !w->damaged && wanted && save_now(w, &err) != TACET_OK) {
        log_failure(w, "no snapshot at the end", &err);
    }
}

tacet__worker *tacet__worker_create(const tacet__engine_settings *settings, const char *name) {
    tacet__worker *w = TACET__ZALLOC(tacet__worker, 1);
    if (w != NULL) {
        w->r.settings = settings;
        (void)snprintf(w->r.name, sizeof w->r.name, "%s", name);
        tacet__study_init(&w->r.study);
    }
    return w;
}

static void forget(tacet__worker *w) {
    tacet__replica_leave(&w->r);
    tacet__study_clear(&w->r.study);
}

void tacet__worker_free(tacet__worker *w) {
    if (w != NULL) {
        forget(w);
        free(w);
    }
}

void tacet__worker_rest(tacet__worker *w) {
    save_at_end(w);
    tacet__worker_project(w, true);
    forget(w);
}

void tacet__worker_end(tacet__worker *w) {
    tacet__waiting_answer(&w->r, true);
    tacet__worker_rest(w);
}

tacet_status tacet__engine_save(const tacet__engine_settings *settings, uint64_t *replayed, uint64_t *events,
                                const char *name, tacet_error *err) {
    tacet__worker *w = tacet__worker_create(settings, name);
    *replayed = *events = 0;
    if (w == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    tacet_status status = tacet__replica_begin(&w->r, err);
    if (status == TACET_OK) {
        *events = w->r.study.head;
        *replayed = w->r.study.head - w->r.saved;
        tacet__studies_rollback(w->r.store);
        status = save_now(w, err);
    }
    tacet__worker_free(w);
    return status;
}

tacet_status tacet__engine_try(const tacet__engine_settings *settings, const char *name, tacet_error *err) {
    tacet__worker *w = tacet__worker_create(settings, name);
    if (w == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    const tacet_status status = tacet__replica_begin(&w->r, err);
    if (w->r.store != NULL) {
        tacet__studies_rollback(w->r.store);
    }
    tacet__worker_free(w);
    return status;
}
