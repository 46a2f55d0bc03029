/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - a thread, and the studies that it works on: one, or several that share a transaction. What several did is
 * synced and answered by a second thread, while the first one writes what came meanwhile.
 * Ring: open. A study in PostgreSQL, and one with a ledger, has a lane of its own. The local studies of a folder share
 * a few: SQLite lets one write at a time anyway, and what a pair costs there is the change of threads, of transactions
 * and of page caches, not the rows. Cost: two wakes and one transaction a turn, whatever the number of studies in it.
 */
#include "service/open/engine/internal.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"

#include <stdlib.h>
#include <time.h>

enum {
    BATCH_MOST = 64,
    LONG_MOST = 4, /* jobs of a batch that list or draw something */
    QUEUE_MOST = 4096,
    TURNS_MOST = 64 /* studies in a transaction */
};
static const size_t BYTES_MOST = (size_t)64 << 20; /* of the jobs of a study, waiting or in hand: one may be 2 MiB */
static const double POLL_SECONDS = 0.25; /* how often the log is read for others' observations while someone waits */

/* Turns that share a transaction. */
typedef struct flight {
    tacet__errand errand;
    tacet__lane *lane;
    tacet__turn turns[TURNS_MOST];
    size_t count;
    uint64_t commit; /* what they rest on; synced before they are answered */
    bool flies;      /* under the lane's lock: it is the syncer's */
} flight;

struct tacet__lane {
    const tacet__engine_settings *settings;
    bool gathers;
    tacet__lane *next;
    pthread_t thread;
    bool joined;
    tacet__studies *store; /* of all its studies, where it gathers; the thread's own, as are … */
    uint64_t commit;       /* its last one that may not be synced */
    flight flights[2];     /* one flies while the other is filled */
    flight *now;
    tacet__office *syncer; /* NULL: does not gather */
    tacet__studies *syncs; /* the syncer's connection */

    pthread_mutex_t lock; /* of the rest, and of its workers' queues */
    pthread_cond_t wake;
    bool lost; /* a sync failed: what is in memory may not be in the store */
    tacet__worker *workers;
    tacet__worker *first, *last; /* that have jobs */
    bool stop;
};

static size_t bytes_of(const tacet__job *job) {
    return sizeof *job + (job->d * job->count + job->context_dim) * sizeof(double);
}

/* How much of a batch a job takes. Those that list or draw something take as long as dozens of others, and the other
 * studies of the lane wait meanwhile: a reader of one study must not slow them all. */
static size_t share_of(const tacet__job *job, size_t most) {
    const bool long_one = job->kind == TACET__JOB_EVENTS || job->kind == TACET__JOB_TICKETS ||
                          job->kind == TACET__JOB_POSTERIOR || job->kind == TACET__JOB_MODEL;
    return long_one ? (most + LONG_MOST - 1) / LONG_MOST : 1;
}

/* Up to a batch of jobs of a study, in the order they came. */
static tacet__turn take_jobs(tacet__worker *w, size_t most) {
    tacet__turn turn = {.worker = w, .jobs = w->first};
    tacet__job *end = NULL;
    size_t taken = 0;
    size_t share = 0;
    for (tacet__job *job = turn.jobs; job != NULL && share < most; job = job->next) {
        end = job;
        taken++;
        share += share_of(job, most);
        turn.bytes += bytes_of(job);
    }
    if (end != NULL) {
        w->first = end->next;
        w->last = w->first != NULL ? w->last : NULL;
        end->next = NULL;
    }
    w->queued -= taken;
    turn.idle = w->first == NULL;
    return turn;
}

static void ask_turn(tacet__lane *l, tacet__worker *w) {
    w->asked = true;
    w->behind = NULL;
    *(l->last != NULL ? &l->last->behind : &l->first) = w;
    l->last = w;
}

static bool anyone_waits(const tacet__lane *l) {
    const tacet__worker *w = l->workers;
    while (w != NULL && w->r.waiting == NULL) {
        w = w->beside;
    }
    return w != NULL;
}

/* Under the lock, once all of it was answered. */
static void clear_flight(flight *f) {
    for (size_t i = 0; i < f->count; i++) {
        f->turns[i].worker->bytes -= f->turns[i].bytes;
    }
    f->count = 0;
    f->flies = false;
}

/* Under the lock, after a sync that failed: all of it is read again, and nothing rests on that commit any more. */
static void unload_all(tacet__lane *l) {
    l->commit = 0;
    for (tacet__worker *w = l->workers; w != NULL; w = w->beside) {
        tacet__replica_unload(&w->r);
    }
}

/* The studies that have jobs, in the order they asked, with a batch of each. None: the time is up, or the lane stops.
 */
static bool take_turns(tacet__lane *l, size_t *count) {
    const size_t most = l->settings->batch_most > 0 ? l->settings->batch_most : BATCH_MOST;
    const struct timespec until = tacet__until(POLL_SECONDS);
    flight *f = l->now;
    (void)pthread_mutex_lock(&l->lock);
    if (!f->flies) {
        clear_flight(f);
    }
    int code = 0;
    while ((l->first == NULL || f->flies) && !l->stop && code == 0) {
        code = anyone_waits(l) ? pthread_cond_timedwait(&l->wake, &l->lock, &until)
                               : pthread_cond_wait(&l->wake, &l->lock);
    }
    const tacet__worker *end = l->last;
    tacet__worker *w = f->flies ? NULL : l->first;
    while (w != NULL && f->count < TURNS_MOST) {
        l->first = w->behind;
        l->last = l->first != NULL ? l->last : NULL;
        w->asked = false;
        f->turns[f->count++] = take_jobs(w, most);
        if (w->first != NULL) {
            ask_turn(l, w);
        }
        w = w != end ? l->first : NULL;
    }
    *count = f->flies ? 0 : f->count;
    if (l->lost) {
        l->lost = false;
        unload_all(l);
    }
    const bool stop = l->stop;
    (void)pthread_mutex_unlock(&l->lock);
    return stop;
}

/* --- what is written, and what was synced ------------------------------------------------------------------------- */

/* The connections that the studies of the lane share. */
static tacet_status connect_all(tacet__lane *l, tacet_error *err) {
    tacet__studies_settings s = l->settings->store;
    s.create = false;
    tacet_status status = l->store != NULL ? TACET_OK : tacet__studies_open(&l->store, &s, err);
    status = status != TACET_OK || l->syncs != NULL ? status : tacet__studies_open(&l->syncs, &s, err);
    for (size_t i = 0; i < l->now->count; i++) {
        l->now->turns[i].worker->r.store = l->store;
    }
    return status;
}

/* On the syncer's thread. */
static void sync_flight(tacet__errand *errand, bool stopping) {
    flight *f = (flight *)errand;
    tacet__lane *l = f->lane;
    tacet_error err = {0};
    (void)stopping; /* it was committed: its answers are known in a moment */
    const bool durable = tacet__studies_sync(l->syncs, f->commit, &err) == TACET_OK;
    (void)pthread_mutex_lock(&l->lock);
    l->lost = l->lost || !durable; /* before anyone asks again */
    (void)pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < f->count; i++) {
        tacet__worker_answer(&f->turns[i], durable ? NULL : &err);
    }
    (void)pthread_mutex_lock(&l->lock);
    clear_flight(f);
    (void)pthread_cond_signal(&l->wake);
    (void)pthread_mutex_unlock(&l->lock);
}

/* Nothing that rests on a commit in flight may leave before that is durable: what is done now on this thread waits. */
static bool sync_here(tacet__lane *l, tacet_error *err) {
    if (!l->gathers || l->store == NULL || tacet__studies_sync(l->store, l->commit, err) == TACET_OK) {
        return true;
    }
    (void)pthread_mutex_lock(&l->lock);
    unload_all(l);
    (void)pthread_mutex_unlock(&l->lock);
    return false;
}

static void run_together(tacet__lane *l) {
    flight *f = l->now;
    tacet_error err = {0};
    bool anywhere = true;
    tacet__worker_run_together(f->turns, f->count, l->store, &l->commit);
    for (size_t i = 0; i < f->count; i++) {
        anywhere = anywhere && tacet__worker_answers_anywhere(&f->turns[i]);
    }
    if (anywhere) {
        (void)pthread_mutex_lock(&l->lock);
        f->flies = true;
        (void)pthread_mutex_unlock(&l->lock);
        f->commit = l->commit;
        l->now = f == &l->flights[0] ? &l->flights[1] : &l->flights[0];
        tacet__office_send(l->syncer, &f->errand);
        return;
    }
    const bool durable = sync_here(l, &err);
    for (size_t i = 0; i < f->count; i++) {
        tacet__worker_answer(&f->turns[i], durable ? NULL : &err);
        tacet__worker_answer_waiting(f->turns[i].worker);
    }
}

static void run_turns(tacet__lane *l) {
    flight *f = l->now;
    tacet_error err = {0};
    size_t busy = 0;
    bool shares = l->gathers;
    for (size_t i = 0; i < f->count; i++) {
        f->turns[i].jobs = tacet__worker_leave_out_late(f->turns[i].jobs);
        busy += f->turns[i].jobs != NULL;
        shares = shares && (f->turns[i].jobs == NULL || tacet__worker_can_share(f->turns[i].worker));
    }
    if (busy == 0) {
        return;
    }
    const bool good = !l->gathers || (connect_all(l, &err) == TACET_OK && (shares || sync_here(l, &err)));
    if (good && shares && busy > 1) {
        run_together(l);
        return;
    }
    for (size_t i = 0; i < f->count; i++) {
        if (f->turns[i].jobs != NULL && good) {
            tacet__worker_run(f->turns[i].worker, f->turns[i].jobs);
        } else if (f->turns[i].jobs != NULL) {
            tacet__worker_fail(f->turns[i].worker, f->turns[i].jobs, &err);
        }
        tacet__worker_project(f->turns[i].worker, f->turns[i].idle);
    }
}

/* Nothing came in: some wait, so look what other processes appended. */
static void poll_all(tacet__lane *l) {
    tacet_error err = {0};
    (void)pthread_mutex_lock(&l->lock);
    tacet__worker *w = l->workers;
    (void)pthread_mutex_unlock(&l->lock);
    if (!sync_here(l, &err)) {
        return; /* another time: what was noticed is told once it is durable */
    }
    for (; w != NULL; w = w->beside) {
        tacet__worker_poll(w);
    }
}

static void *work(void *user) {
    tacet__lane *l = user;
    const tacet_error stopping = {.status = TACET_BUSY, .message = "the server is stopping"};
    bool stop = false;
    size_t count = 0;
    while (!stop) {
        stop = take_turns(l, &count);
        if (!stop && count > 0) {
            run_turns(l);
        } else if (!stop) {
            poll_all(l);
        }
    }
    tacet__office_close(l->syncer); /* once all that flies was answered */
    do {
        for (size_t i = 0; i < count; i++) {
            tacet__worker_fail(l->now->turns[i].worker, l->now->turns[i].jobs, &stopping);
        }
        (void)take_turns(l, &count);
    } while (count > 0);
    for (tacet__worker *w = l->workers; w != NULL; w = w->beside) { /* nothing is added to a lane that stops */
        tacet__worker_end(w);
    }
    tacet__studies_close(l->store);
    tacet__studies_close(l->syncs);
    l->store = l->syncs = NULL;
    return NULL;
}

tacet_status tacet__lane_start(tacet__lane **out, const tacet__engine_settings *settings, bool gathers,
                               tacet_error *err) {
    tacet__lane *l = TACET__ZALLOC(tacet__lane, 1);
    *out = NULL;
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    l->settings = settings;
    l->gathers = gathers;
    l->now = &l->flights[0];
    for (size_t i = 0; i < 2; i++) {
        l->flights[i].lane = l;
        l->flights[i].errand.run = sync_flight;
    }
    (void)pthread_mutex_init(&l->lock, NULL);
    tacet__cond_init(&l->wake);
    const tacet_status status = gathers ? tacet__office_open(&l->syncer, err) : TACET_OK;
    if (status != TACET_OK || pthread_create(&l->thread, NULL, work, l) != 0) {
        tacet__office_close(l->syncer);
        l->joined = true;
        tacet__lane_free(l);
        return status != TACET_OK ? status : tacet__fail(err, TACET_BUSY, "no thread can be started for the study");
    }
    *out = l;
    return TACET_OK;
}

tacet_status tacet__lane_add(tacet__lane *l, tacet__worker **out, const char *name, tacet_error *err) {
    *out = tacet__worker_create(l->settings, name);
    if (*out == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    (*out)->lane = l;
    (*out)->r.borrows = l->gathers;
    (void)pthread_mutex_lock(&l->lock);
    (*out)->beside = l->workers;
    l->workers = *out;
    (void)pthread_mutex_unlock(&l->lock);
    return TACET_OK;
}

void tacet__worker_submit(tacet__worker *w, tacet__job *job) {
    tacet__lane *l = w->lane;
    const size_t bytes = bytes_of(job);
    job->next = NULL;
    (void)pthread_mutex_lock(&l->lock);
    const bool refused = l->stop || w->queued >= QUEUE_MOST || bytes > BYTES_MOST - w->bytes;
    if (!refused) {
        *(w->last != NULL ? &w->last->next : &w->first) = job;
        w->last = job;
        w->queued++;
        w->bytes += bytes;
        if (!w->asked) {
            ask_turn(l, w);
        }
        (void)pthread_cond_signal(&l->wake);
    }
    (void)pthread_mutex_unlock(&l->lock);
    if (refused) {
        tacet__job_fail(job, TACET_BUSY, "too many requests wait, or the server is stopping");
    }
}

void tacet__lane_stop(tacet__lane *l) {
    (void)pthread_mutex_lock(&l->lock);
    l->stop = true;
    (void)pthread_cond_signal(&l->wake);
    (void)pthread_mutex_unlock(&l->lock);
}

void tacet__lane_join(tacet__lane *l) {
    if (!l->joined) {
        (void)pthread_join(l->thread, NULL);
        l->joined = true;
    }
}

void tacet__lane_free(tacet__lane *l) {
    if (l == NULL) {
        return;
    }
    while (l->workers != NULL) {
        tacet__worker *w = l->workers;
        l->workers = w->beside;
        tacet__worker_free(w);
    }
    (void)pthread_cond_destroy(&l->wake);
    (void)pthread_mutex_destroy(&l->lock);
    free(l);
}

tacet__lane **tacet__lane_next(tacet__lane *l) {
    return &l->next;
}
