/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - a thread, and the studies that it works on: one, or several that share a transaction.
 * Ring: open. Studies in PostgreSQL, and those with a ledger, have a thread each, up to some number of them, then share
 * these. The local studies of a folder share one: SQLite lets one write at a time anyway, and what a pair costs there
 * is the change of threads, of transactions and of page caches, not the rows. Cost: one wake and one transaction a
 * turn, whatever the number of studies in it. */
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

struct tacet__thread {
    const tacet__engine_settings *settings;
    bool gathers;
    tacet__thread *next;
    pthread_t id;
    bool joined;
    tacet__studies *store; /* of all its studies, where it gathers; the thread's own, as are … */
    tacet__turn turns[TURNS_MOST];
    size_t count;
    uint64_t turn;             /* the number of this one */
    size_t loaded, rest_above; /* studies in memory, and how many may be */

    pthread_mutex_t lock; /* of the rest, and of its workers' queues */
    pthread_cond_t wake;
    tacet__worker *workers;
    tacet__worker *first, *last; /* that have jobs */
    bool stop;
};

static size_t bytes_of(const tacet__job *job) {
    return sizeof *job + (job->d * job->count + job->context_dim) * sizeof(double);
}

/* How much of a batch a job takes. Those that list or draw something take as long as dozens of others, and the other
 * studies of the thread wait meanwhile: a reader of one study must not slow them all. */
static size_t share_of(const tacet__job *job, size_t most) {
    return tacet__job_kinds[job->kind].is_long ? (most + LONG_MOST - 1) / LONG_MOST : 1;
}

/* Up to a batch of jobs of a study, in the order they came. */
static tacet__job *take_jobs(tacet__worker *w, size_t most) {
    tacet__job *jobs = w->first;
    tacet__job *end = NULL;
    size_t taken = 0;
    size_t share = 0;
    for (tacet__job *job = jobs; job != NULL && share < most; job = job->next) {
        end = job;
        taken++;
        share += share_of(job, most);
        w->in_hand += bytes_of(job);
    }
    if (end != NULL) {
        w->first = end->next;
        w->last = w->first != NULL ? w->last : NULL;
        end->next = NULL;
    }
    w->queued -= taken;
    atomic_fetch_sub_explicit(&w->r.settings->metrics->queued, taken, memory_order_relaxed);
    return jobs;
}

static void ask_turn(tacet__thread *l, tacet__worker *w) {
    w->asked = true;
    w->behind = NULL;
    *(l->last != NULL ? &l->last->behind : &l->first) = w;
    l->last = w;
}

/* There is work to do when nothing comes in. */
static bool anyone_waits(const tacet__thread *l) {
    const tacet__worker *w = l->workers;
    while (w != NULL && w->r.waiting == NULL) {
        w = w->beside;
    }
    return w != NULL;
}

/* The studies that have jobs, in the order they asked, with a batch of each. None: the time is up, or the thread stops.
 */
static bool take_turns(tacet__thread *l) {
    const size_t most = l->settings->batch_most > 0 ? l->settings->batch_most : BATCH_MOST;
    const struct timespec until = tacet__until(POLL_SECONDS);
    (void)pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->count; i++) { /* these were answered */
        l->turns[i].worker->bytes -= l->turns[i].worker->in_hand;
        l->turns[i].worker->in_hand = 0;
    }
    int code = 0;
    while (l->first == NULL && !l->stop && code == 0) {
        code = anyone_waits(l) ? pthread_cond_timedwait(&l->wake, &l->lock, &until)
                               : pthread_cond_wait(&l->wake, &l->lock);
    }
    /* A study that still has jobs goes behind the others again: `end`, the last one that stood there before, is where
     * this turn ends, so that none is in it twice and none waits for a second batch of another. */
    const tacet__worker *end = l->last;
    tacet__worker *w = l->first;
    for (l->count = 0; w != NULL && l->count < TURNS_MOST;) {
        l->first = w->behind;
        l->last = l->first != NULL ? l->last : NULL;
        w->asked = false;
        l->turns[l->count++] = (tacet__turn){.worker = w, .jobs = take_jobs(w, most), .idle = w->first == NULL};
        if (w->first != NULL) {
            ask_turn(l, w);
        }
        w = w != end ? l->first : NULL;
    }
    const bool stop = l->stop;
    (void)pthread_mutex_unlock(&l->lock);
    return stop;
}

/* The connection that the studies of the thread share. */
static bool connect_all(tacet__thread *l) {
    tacet_error err = {0};
    tacet__studies_settings s = l->settings->store;
    s.create = false;
    if (l->gathers && l->store == NULL && tacet__studies_open(&l->store, &s, &err) != TACET_OK) {
        for (size_t i = 0; i < l->count; i++) {
            tacet__worker_fail(l->turns[i].worker, l->turns[i].jobs, &err);
        }
        return false;
    }
    for (size_t i = 0; l->gathers && i < l->count; i++) {
        l->turns[i].worker->r.store = l->store;
    }
    return true;
}

static void run_turns(tacet__thread *l) {
    size_t busy = 0;
    for (size_t i = 0; i < l->count; i++) {
        l->turns[i].jobs = tacet__worker_leave_out_late(l->turns[i].jobs);
        busy += l->turns[i].jobs != NULL;
    }
    if (busy == 0 || !connect_all(l)) {
        return;
    }
    const bool together = l->gathers && busy > 1;
    if (together) {
        tacet__worker_run_together(l->turns, l->count, l->store);
    }
    for (size_t i = 0; i < l->count; i++) {
        if (!together && l->turns[i].jobs != NULL) {
            tacet__worker_run(l->turns[i].worker, l->turns[i].jobs);
        }
        tacet__worker_project(l->turns[i].worker, l->turns[i].idle);
    }
}

/* Takes studies out of memory that were not asked for longest, down to as many as may be there. The next request loads
 * its study again. */
static void rest_idle(tacet__thread *l) {
    l->turn++;
    for (size_t i = 0; i < l->count; i++) {
        tacet__worker *w = l->turns[i].worker;
        l->loaded += (size_t)(w->r.loaded && !w->counted);
        l->loaded -= (size_t)(!w->r.loaded && w->counted);
        w->counted = w->r.loaded;
        w->used = l->turn;
    }
    while (l->loaded > l->rest_above) {
        tacet__worker *oldest = NULL;
        (void)pthread_mutex_lock(&l->lock);
        for (tacet__worker *w = l->workers; w != NULL; w = w->beside) {
            if (w->counted && w->r.waiting == NULL && (oldest == NULL || w->used < oldest->used)) {
                oldest = w;
            }
        }
        (void)pthread_mutex_unlock(&l->lock);
        if (oldest == NULL) {
            return;
        }
        oldest->counted = false;
        l->loaded--;
        tacet__worker_rest(oldest);
    }
}

/* Nothing came in: look what other processes appended for those who wait. */
static void poll_all(tacet__thread *l) {
    (void)pthread_mutex_lock(&l->lock);
    tacet__worker *w = l->workers;
    (void)pthread_mutex_unlock(&l->lock);
    for (; w != NULL; w = w->beside) {
        tacet__worker_poll(w);
    }
}

static void *work(void *user) {
    tacet__thread *l = user;
    const tacet_error stopping = {.status = TACET_BUSY, .message = "the server is stopping"};
    bool stop = false;
    while (!stop) {
        stop = take_turns(l);
        if (!stop && l->count > 0) {
            run_turns(l);
            rest_idle(l);
        } else if (!stop) {
            poll_all(l);
        }
    }
    for (; l->count > 0; (void)take_turns(l)) {
        for (size_t i = 0; i < l->count; i++) {
            tacet__worker_fail(l->turns[i].worker, l->turns[i].jobs, &stopping);
        }
    }
    for (tacet__worker *w = l->workers; w != NULL; w = w->beside) { /* nothing is added to a thread that stops */
        tacet__worker_end(w);
    }
    tacet__studies_close(l->store);
    l->store = NULL;
    return NULL;
}

tacet_status tacet__thread_start(tacet__thread **out, const tacet__engine_settings *settings, bool gathers,
                                 size_t rest_above, tacet_error *err) {
    tacet__thread *l = TACET__ZALLOC(tacet__thread, 1);
    *out = NULL;
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    l->settings = settings;
    l->gathers = gathers;
    l->rest_above = rest_above;
    (void)pthread_mutex_init(&l->lock, NULL);
    tacet__cond_init(&l->wake);
    if (pthread_create(&l->id, NULL, work, l) != 0) {
        l->joined = true;
        tacet__thread_free(l);
        return tacet__fail(err, TACET_BUSY, "no thread can be started for the study");
    }
    *out = l;
    return TACET_OK;
}

tacet_status tacet__thread_add(tacet__thread *l, tacet__worker **out, const char *name, tacet_error *err) {
    *out = tacet__worker_create(l->settings, name);
    if (*out == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a study");
    }
    (*out)->thread = l;
    (*out)->r.borrows = l->gathers;
    (void)pthread_mutex_lock(&l->lock);
    (*out)->beside = l->workers;
    l->workers = *out;
    (void)pthread_mutex_unlock(&l->lock);
    return TACET_OK;
}

void tacet__worker_submit(tacet__worker *w, tacet__job *job) {
    tacet__thread *l = w->thread;
    const size_t bytes = bytes_of(job);
    job->next = NULL;
    (void)pthread_mutex_lock(&l->lock);
    const bool refused = l->stop || w->queued >= QUEUE_MOST || bytes > BYTES_MOST - w->bytes;
    if (!refused) {
        *(w->last != NULL ? &w->last->next : &w->first) = job;
        w->last = job;
        w->queued++;
        tacet__metrics_add(&w->r.settings->metrics->queued, 1);
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

void tacet__thread_stop(tacet__thread *l) {
    (void)pthread_mutex_lock(&l->lock);
    l->stop = true;
    (void)pthread_cond_signal(&l->wake);
    (void)pthread_mutex_unlock(&l->lock);
}

void tacet__thread_join(tacet__thread *l) {
    if (!l->joined) {
        (void)pthread_join(l->id, NULL);
        l->joined = true;
    }
}

void tacet__thread_free(tacet__thread *l) {
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

tacet__thread **tacet__thread_next(tacet__thread *l) {
    return &l->next;
}
