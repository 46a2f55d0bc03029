/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - one study at work: a queue, a thread, batches, long polls.
 * Ring: open. The order of a batch is fixed (engine.h); no answer leaves before the commit it rests on.
 * Cost: one transaction a batch. */
#include "service/open/engine_internal.h"
#include "service/open/relaying.h"
#include "service/open/waiting.h"

#include "core/fail.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH_MOST = 64,
    QUEUE_MOST = 4096,
    SNAPSHOT_BYTES = 64, /* of snapshots an event, on average: a policy of 256 KiB costs that at
                            TACET__SNAPSHOT_EVENTS, a larger one is saved less often */
    PROJECT_BATCHES = 32 /* the open store may lag by that many batches while there is work */
};
static const size_t BYTES_MOST = (size_t)64 << 20; /* of the jobs of a study, waiting or in hand: one may be 2 MiB */
static const double DAMAGED_SECONDS = 5;           /* between two looks at a history that did not hold together */
static const double POLL_SECONDS = 0.25; /* how often the log is read for others' observations while someone waits */

struct tacet__worker {
    tacet__replica r; /* the thread's own, as are … */
    tacet__relaying relaying;
    bool damaged; /* CORRUPT was seen: nothing is served until the store was read once more, some seconds later */
    double damaged_until;
    unsigned unprojected;
    size_t in_hand; /* bytes of the jobs that were taken last */

    pthread_t thread;
    tacet__worker *next;
    bool joined;

    pthread_mutex_t lock; /* of the next five */
    pthread_cond_t wake;
    tacet__job *first, *last;
    size_t queued;
    size_t bytes; /* of what is queued, and in_hand */
    bool stop;
};

void tacet__job_fail(tacet__job *job, tacet_status status, const char *message) {
    tacet_error_clear(&job->err);
    job->status = tacet__fail(&job->err, status, "%s", message);
    job->done(job);
}

static void log_failure(const tacet__worker *w, const char *what, const tacet_error *err) {
    char line[sizeof err->message + TACET__STUDY_NAME_MOST + 64];
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

/* So that a replay is short and writing snapshots costs O(1) an event, whatever the size of the policy. */
static bool snapshot_due(const tacet__worker *w) {
    const tacet__replica *r = &w->r;
    const uint64_t last = r->study.snapshot > r->saved ? r->study.snapshot : r->saved; /* another process's, too */
    const uint64_t due = r->saved_size / SNAPSHOT_BYTES;
    return r->study.head - last >= (due > TACET__SNAPSHOT_EVENTS ? due : TACET__SNAPSHOT_EVENTS);
}

static void snapshot(tacet__worker *w, tacet__batch *b) {
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    tacet_status status = tacet_policy_save(w->r.learner.policy, &bytes, &b->err);
    status = status != TACET_OK ? status
                                : tacet__studies_put_snapshot(w->r.store, &w->r.study, bytes.data, bytes.size, &b->err);
    w->r.saved_size = bytes.size;
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
    if (job->kind == TACET__JOB_ARCHIVE && job->status == TACET_OK) {
        job->status = tacet__studies_archive(w->r.store, w->r.name, &job->err);
    }
    if (job->kind == TACET__JOB_EXTEND && job->status == TACET_OK) {
        job->status = tacet__studies_extend(w->r.store, w->r.name, job->number, &job->err);
    }
    job->done(job);
}

/* Commits when something was written. *failure is what befell the whole batch. */
static bool finish(tacet__worker *w, tacet__batch *b, tacet_error *failure) {
    tacet__metrics *metrics = w->r.settings->metrics;
    if (!b->broken && b->wrote && snapshot_due(w)) {
        snapshot(w, b);
    }
    if (!b->broken && b->wrote) {
        b->broken = tacet__studies_commit(w->r.store, &b->err) != TACET_OK;
    } else {
        tacet__studies_rollback(w->r.store);
        if (!b->broken && w->r.unsettled) {
            b->broken = tacet__studies_settle(w->r.store, &w->r.study, &b->err) != TACET_OK;
        }
    }
    if (!b->broken) {
        w->r.unsettled = false;
        w->r.applied = b->wrote ? w->r.study.head : w->r.applied;
        if (b->wrote) {
            tacet__metrics_add(&metrics->batches, 1);
            w->unprojected++;
        }
        return true;
    }
    /* Whether it was stored or not, the store knows; what is in memory may be ahead of it. */
    tacet__studies_rollback(w->r.store);
    tacet__replica_unload(&w->r);
    tacet__metrics_add(&metrics->failures, 1);
    log_failure(w, "a batch was not stored", &b->err);
    *failure = b->err;
    if (failure->status == TACET_OK || failure->status == TACET_CONFLICT || failure->status == TACET_STATE ||
        failure->status == TACET_INVALID || failure->status == TACET_NOT_FOUND) {
        failure->status = TACET_IO; /* no fault of the client's */
    }
    return false;
}

static void project(tacet__worker *w, bool idle) {
    tacet_error err = {0};
    if (w->unprojected == 0 || !w->r.loaded || (!idle && w->unprojected < PROJECT_BATCHES)) {
        return;
    }
    w->unprojected = 0;
    if (w->r.def.trust == TACET_TRUST_CENTRAL && tacet__studies_project(w->r.store, &w->r.study, &err) != TACET_OK) {
        tacet__metrics_add(&w->r.settings->metrics->failures, 1);
        log_failure(w, "the open store lags", &err);
        note_damage(w, err.status);
    }
}

static void fail_all(tacet__worker *w, tacet__job *jobs, const tacet_error *err) {
    const tacet_status status = w->damaged ? TACET_CORRUPT : err->status != TACET_OK ? err->status : TACET_IO;
    while (jobs != NULL) {
        tacet__job *next = jobs->next;
        tacet__job_fail(jobs, status,
                        w->damaged ? "the study's stored history does not hold together; it is not served"
                                   : err->message);
        jobs = next;
    }
}

/* The jobs of a batch came from clients that waited at the same time, so any order is right, and this one is needed:
 * suggestions and releases first, so that all they rest on was committed before, in an earlier transaction (a release
 * of a central study enters its step in the ledger at once, and must not be of an observation that is then rolled
 * back); looks last, so that none waits for an observation of its own batch. */
enum { PASSES = 3 };
static unsigned pass_of(const tacet__job *job) {
    switch (job->kind) {
    case TACET__JOB_OBSERVE:
    case TACET__JOB_EXPIRE:
        return 1;
    case TACET__JOB_LOOK:
    case TACET__JOB_STATUS:
    case TACET__JOB_MODEL:
    case TACET__JOB_EVENTS:
    case TACET__JOB_TICKETS:
    case TACET__JOB_POSTERIOR:
        return 2;
    default:
        return 0;
    }
}

/* Whose client was told to try again: not done, so that what nobody waits for does not pile up behind a store that was
 * away. */
static tacet__job *leave_out_late(tacet__job *jobs) {
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

/* Tickets expire when the next suggestion is asked for: not before anyone could want that, and in a transaction of
 * their own, so that a release that rests on it rests on what was committed. */
static bool any_suggests(const tacet__job *jobs) {
    while (jobs != NULL && jobs->kind != TACET__JOB_SUGGEST) {
        jobs = jobs->next;
    }
    return jobs != NULL;
}

/* NULL: they were answered, or wait. Otherwise another server keeps the study, and nothing was done. */
static tacet__job *run_here(tacet__worker *w, tacet__job *jobs) {
    tacet__batch b = {0};
    tacet_error failure = {0};
    look_again(w);
    tacet_status status = w->damaged ? TACET_CORRUPT : TACET_OK;
    if (status == TACET_OK && any_suggests(jobs)) {
        const uint64_t applied = w->r.applied;
        status = tacet__replica_expire(
            &w->r, w->r.settings->clock != NULL ? w->r.settings->clock() : (uint64_t)time(NULL), &b.err);
        w->unprojected += w->r.applied > applied;
    }
    status = status != TACET_OK ? status : tacet__replica_begin(&w->r, &b.err);
    if (status == TACET_BUSY && w->r.elsewhere) {
        tacet__relaying_found(&w->relaying, &w->r);
        return jobs;
    }
    if (status != TACET_OK) {
        if (status != TACET_NOT_FOUND && status != TACET_STATE && !w->damaged) {
            tacet__metrics_add(&w->r.settings->metrics->failures, 1);
            log_failure(w, "cannot begin", &b.err);
        }
        note_damage(w, status);
        fail_all(w, jobs, &b.err);
        return NULL;
    }
    uint64_t done = 0;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        for (tacet__job *job = jobs; job != NULL && !b.broken; job = job->next) {
            if (pass_of(job) == pass) {
                job->status = tacet__replica_act(&w->r, &b, job);
                done += job->status == TACET_OK;
            }
        }
    }
    const bool kept = finish(w, &b, &failure);
    if (kept && b.wrote) {
        atomic_fetch_add_explicit(&w->r.settings->metrics->batched, done, memory_order_relaxed);
    }
    while (jobs != NULL) {
        tacet__job *job = jobs;
        jobs = job->next;
        if (!kept || !tacet__waiting_add(&w->r, job)) {
            settle(w, job, kept ? NULL : &failure);
        }
    }
    return NULL;
}

/* Someone waits, so look what this and other processes appended. */
static void poll_log(tacet__worker *w) {
    tacet_error err = {0};
    if (w->r.waiting != NULL && !w->damaged && tacet__relaying_away(&w->relaying, &w->r)) {
        tacet__relaying_poll(&w->relaying, &w->r);
    } else if (w->r.waiting != NULL && !w->damaged) {
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

/* Here, or where the study is kept; it may change hands meanwhile, so more than once. */
static void run(tacet__worker *w, tacet__job *jobs) {
    enum { TRIES = 4 };
    const tacet_error moving = {.status = TACET_BUSY, .message = "the study is changing hands"};
    for (unsigned i = 0; i < TRIES && jobs != NULL; i++) {
        jobs = tacet__relaying_away(&w->relaying, &w->r)
                   ? leave_out_late(tacet__relaying_run(&w->relaying, &w->r, jobs))
                   : run_here(w, jobs);
    }
    fail_all(w, jobs, &moving);
    if (tacet__waiting_behind(&w->r)) {
        poll_log(w);
    } else {
        tacet__waiting_answer(&w->r, false);
    }
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

static size_t bytes_of(const tacet__job *job) {
    return sizeof *job + (job->d * job->count + job->context_dim) * sizeof(double);
}

/* Up to a batch of jobs, in the order they came; NULL: the time is up, or the worker stops. */
static tacet__job *take(tacet__worker *w, bool *stop, bool *idle) {
    const size_t most = w->r.settings->batch_most > 0 ? w->r.settings->batch_most : BATCH_MOST;
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(POLL_SECONDS * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&w->lock);
    w->bytes -= w->in_hand; /* these were answered */
    int code = 0;
    while (w->first == NULL && !w->stop && code == 0) {
        code = w->r.waiting != NULL ? pthread_cond_timedwait(&w->wake, &w->lock, &until)
                                    : pthread_cond_wait(&w->wake, &w->lock);
    }
    tacet__job *jobs = w->first;
    tacet__job *end = NULL;
    size_t taken = 0;
    w->in_hand = 0;
    for (tacet__job *job = jobs; job != NULL && taken < most; job = job->next) {
        end = job;
        taken++;
        w->in_hand += bytes_of(job);
    }
    if (end != NULL) {
        w->first = end->next;
        w->last = w->first != NULL ? w->last : NULL;
        end->next = NULL;
    }
    w->queued -= taken;
    *stop = w->stop;
    *idle = w->first == NULL;
    (void)pthread_mutex_unlock(&w->lock);
    return jobs;
}

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

/* So that the next server to be asked has the study at once. */
static void yield_at_end(tacet__worker *w) {
    tacet_error err = {0};
    if (tacet__replica_yield(&w->r, &err) != TACET_OK) {
        log_failure(w, "not handed over at the end", &err);
    }
}

static void forget(tacet__worker *w) {
    tacet__relay_hang_up(&w->relaying.link);
    tacet__replica_unload(&w->r);
    tacet__study_clear(&w->r.study);
    tacet__studies_close(w->r.store);
}

tacet_status tacet__engine_save(const tacet__engine_settings *settings, uint64_t *replayed, uint64_t *events,
                                const char *name, tacet_error *err) {
    tacet__worker *w = TACET__ZALLOC(tacet__worker, 1);
    *replayed = *events = 0;
    if (w == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    w->r.settings = settings;
    (void)snprintf(w->r.name, sizeof w->r.name, "%s", name);
    tacet__study_init(&w->r.study);
    tacet_status status = tacet__replica_begin(&w->r, err);
    if (status == TACET_OK) {
        *events = w->r.study.head;
        *replayed = w->r.study.head - w->r.saved;
        tacet__studies_rollback(w->r.store);
        status = save_now(w, err);
    }
    forget(w);
    free(w);
    return status;
}

tacet_status tacet__engine_try(const tacet__engine_settings *settings, const char *name, tacet_error *err) {
    tacet__worker *w = TACET__ZALLOC(tacet__worker, 1);
    if (w == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    w->r.settings = settings;
    (void)snprintf(w->r.name, sizeof w->r.name, "%s", name);
    tacet__study_init(&w->r.study);
    const tacet_status status = tacet__replica_begin(&w->r, err);
    if (w->r.store != NULL) {
        tacet__studies_rollback(w->r.store);
    }
    forget(w);
    free(w);
    return status;
}

static void *work(void *user) {
    tacet__worker *w = user;
    const tacet_error stopping = {.status = TACET_BUSY, .message = "the server is stopping"};
    bool stop = false;
    bool idle = false;
    while (!stop) {
        tacet__job *jobs = take(w, &stop, &idle);
        if (stop) {
            fail_all(w, jobs, &stopping);
        } else if (jobs != NULL) {
            jobs = leave_out_late(jobs);
            if (jobs != NULL) {
                run(w, jobs);
            }
            project(w, idle);
        } else {
            poll_log(w);
        }
    }
    for (tacet__job *jobs = take(w, &stop, &idle); jobs != NULL; jobs = take(w, &stop, &idle)) {
        fail_all(w, jobs, &stopping);
    }
    tacet__waiting_answer(&w->r, true);
    save_at_end(w);
    project(w, true);
    yield_at_end(w);
    forget(w);
    return NULL;
}

tacet_status tacet__worker_start(tacet__worker **out, const tacet__engine_settings *settings, const char *name,
                                 tacet_error *err) {
    tacet__worker *w = TACET__ZALLOC(tacet__worker, 1);
    pthread_condattr_t attributes;
    *out = NULL;
    if (w == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    w->r.settings = settings;
    (void)snprintf(w->r.name, sizeof w->r.name, "%s", name);
    tacet__study_init(&w->r.study);
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&w->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        (void)pthread_cond_destroy(&w->wake);
        (void)pthread_mutex_destroy(&w->lock);
        free(w);
        return tacet__fail(err, TACET_BUSY, "no thread can be started for the study");
    }
    *out = w;
    return TACET_OK;
}

void tacet__worker_submit(tacet__worker *w, tacet__job *job) {
    const size_t bytes = bytes_of(job);
    job->next = NULL;
    (void)pthread_mutex_lock(&w->lock);
    const bool refused = w->stop || w->queued >= QUEUE_MOST || bytes > BYTES_MOST - w->bytes;
    if (!refused) {
        *(w->last != NULL ? &w->last->next : &w->first) = job;
        w->last = job;
        w->queued++;
        w->bytes += bytes;
        (void)pthread_cond_signal(&w->wake);
    }
    (void)pthread_mutex_unlock(&w->lock);
    if (refused) {
        tacet__job_fail(job, TACET_BUSY, "too many requests wait, or the server is stopping");
    }
}

void tacet__worker_stop(tacet__worker *w) {
    (void)pthread_mutex_lock(&w->lock);
    w->stop = true;
    (void)pthread_cond_signal(&w->wake);
    (void)pthread_mutex_unlock(&w->lock);
}

void tacet__worker_join(tacet__worker *w) {
    if (!w->joined) {
        (void)pthread_join(w->thread, NULL);
        w->joined = true;
    }
}

void tacet__worker_free(tacet__worker *w) {
    (void)pthread_cond_destroy(&w->wake);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

const char *tacet__worker_name(const tacet__worker *w) {
    return w->r.name;
}

tacet__worker **tacet__worker_next(tacet__worker *w) {
    return &w->next;
}
