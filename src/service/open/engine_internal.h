/* SPDX-License-Identifier: Apache-2.0 */
/* engine_internal.h - between engine.c and worker.c. Ring: open. */
#ifndef TACET_SRC_SERVICE_OPEN_ENGINE_INTERNAL_H
#define TACET_SRC_SERVICE_OPEN_ENGINE_INTERNAL_H

#include "service/open/engine.h"

#include <pthread.h>

typedef struct tacet__worker tacet__worker;

/* Starts the thread of a study. */
tacet_status tacet__worker_start(tacet__worker **out, const tacet__engine_settings *settings, const char *name,
                                 tacet_error *err);
/* Queues the job; BUSY answers when too many wait or the worker stops. */
void tacet__worker_submit(tacet__worker *worker, tacet__job *job);
void tacet__worker_stop(tacet__worker *worker); /* jobs are answered BUSY from now on */
void tacet__worker_join(tacet__worker *worker); /* once stopped; again is harmless */
void tacet__worker_free(tacet__worker *worker); /* once joined */
const char *tacet__worker_name(const tacet__worker *worker);
tacet__worker **tacet__worker_next(tacet__worker *worker); /* link of the engine's list */

/* Ends a job with a failure. */
void tacet__job_fail(tacet__job *job, tacet_status status, const char *message);

#endif
