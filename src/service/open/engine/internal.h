/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - between engine.c, thread.c and worker.c. Ring: open. */
#pragma once

#include "service/open/engine/replica.h"

#include <pthread.h>

typedef struct tacet__thread tacet__thread;

/* A study in use. */
typedef struct tacet__worker {
    tacet__replica r; /* the thread's own, as are … */
    bool damaged;     /* CORRUPT was seen: nothing is served until the store was read once more, some seconds later */
    double damaged_until;
    bool alone; /* its last batch ended those of others with it: until one succeeds it has a transaction of its own */
    unsigned unprojected;
    bool counted;  /* among the thread's studies in memory */
    uint64_t used; /* the thread's turn that it was last in */

    /* For whoever reads the metrics, on any thread. */
    _Atomic uint64_t issued, failures;   /* tickets ever given; requests and batches that failed here */
    _Atomic double budget_eps, left_eps; /* as of the last look; budget 0: not known, or nobody's here */

    tacet__thread *thread;
    struct tacet__worker *next;   /* the engine's link */
    struct tacet__worker *beside; /* the thread's */
    /* Under the thread's lock. */
    struct tacet__worker *behind; /* among those that have jobs */
    bool asked;                   /* it is among them */
    tacet__job *first, *last;
    size_t queued;
    size_t bytes;   /* of what is queued, and … */
    size_t in_hand; /* of the jobs that were taken last */
} tacet__worker;

/* A batch of one study, from its jobs to their answers. */
typedef struct tacet__turn {
    tacet__worker *worker;
    tacet__job *jobs; /* NULL: they were answered */
    bool idle;        /* no more wait */
    bool kept;        /* it was stored, or nothing was to be */
    uint64_t done;
    tacet__batch batch;
    tacet_error failure; /* when not kept */
} tacet__turn;

/* create.c: that central studies could draw here, with the key that the store was served with before. */
tacet_status tacet__engine_keys(const tacet__engine_settings *settings, tacet__studies *store, tacet_error *err);
/* A new study, or what it would be; *kept: the store, opened when it is needed. */
tacet_status tacet__study_make(tacet__studies **kept, const tacet__engine_settings *settings, json_t **out, bool dry,
                               const char *definition, size_t size, tacet_error *err);
/* Works out on this queue what releases of the study will need. */
void tacet__study_ahead(tacet__errands *queue, const tacet__engine_settings *settings, const char *definition,
                        size_t size);

/* thread.c: a thread, and the studies it works on, of which `rest_above` stay in memory. `gathers`: several local
 * studies of a folder, which share a connection and, where they have jobs at the same time, a transaction. */
tacet_status tacet__thread_start(tacet__thread **out, const tacet__engine_settings *settings, bool gathers,
                                 size_t rest_above, tacet_error *err);
void tacet__thread_stop(tacet__thread *thread);            /* jobs are answered BUSY from now on */
void tacet__thread_join(tacet__thread *thread);            /* once stopped; again is harmless */
void tacet__thread_free(tacet__thread *thread);            /* once joined; its workers, too. NULL is allowed */
tacet__thread **tacet__thread_next(tacet__thread *thread); /* link of the engine's list */
tacet_status tacet__thread_add(tacet__thread *thread, tacet__worker **out, const char *name, tacet_error *err);
/* Queues the job; BUSY answers when too many wait or the thread stops. */
void tacet__worker_submit(tacet__worker *worker, tacet__job *job);

/* worker.c, on the thread's thread. */
tacet__worker *tacet__worker_create(const tacet__engine_settings *settings, const char *name); /* NULL: no memory */
void tacet__worker_free(tacet__worker *worker);
void tacet__worker_run(tacet__worker *worker, tacet__job *jobs); /* each is answered, or waits */
/* The same for several that share `store`, in one transaction. */
void tacet__worker_run_together(tacet__turn *turns, size_t count, tacet__studies *store);
void tacet__worker_fail(tacet__worker *worker, tacet__job *jobs, const tacet_error *err);
/* Jobs whose client waits no more are answered; the others. */
tacet__job *tacet__worker_leave_out_late(tacet__job *jobs);
void tacet__worker_project(tacet__worker *worker, bool idle);
void tacet__worker_poll(tacet__worker *worker); /* for those who wait */
void tacet__worker_rest(tacet__worker *worker); /* leaves memory until the next job; nobody waits */
void tacet__worker_end(tacet__worker *worker);  /* no job comes any more */

/* Ends a job with a failure. */
void tacet__job_fail(tacet__job *job, tacet_status status, const char *message);
