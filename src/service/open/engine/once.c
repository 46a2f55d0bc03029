/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - one job for one study, done in this process: what a person at a shell asks of a store without a server.
 * Ring: service. The same engine, log and locks as a server's, so both may be at work on one store.
 * Cost: loading the policy and replaying what its newest snapshot does not have. */
#include "service/open/engine/engine.h"
#include "core/fail.h"

#include <pthread.h>

typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool answered;
} waiter;

static void wake_waiter(tacet__job *job) {
    waiter *w = job->user;
    (void)pthread_mutex_lock(&w->lock);
    w->answered = true;
    (void)pthread_cond_signal(&w->done);
    (void)pthread_mutex_unlock(&w->lock);
}

tacet_status tacet__engine_ask(tacet__engine *engine, const char *study, tacet__job *job, tacet_error *err) {
    waiter w = {.answered = false};
    (void)pthread_mutex_init(&w.lock, NULL);
    (void)pthread_cond_init(&w.done, NULL);
    job->done = wake_waiter;
    job->user = &w; /* cppcheck-suppress autoVariables ; it is answered before this returns */
    tacet__engine_submit(engine, study, job);
    (void)pthread_mutex_lock(&w.lock);
    while (!w.answered) {
        (void)pthread_cond_wait(&w.done, &w.lock);
    }
    (void)pthread_mutex_unlock(&w.lock);
    (void)pthread_cond_destroy(&w.done);
    (void)pthread_mutex_destroy(&w.lock);
    if (job->status != TACET_OK && err != NULL) {
        *err = job->err;
        err->status = job->status;
    }
    return job->status;
}

tacet_status tacet__engine_once(const tacet__engine_settings *settings, const char *study, tacet__job *job,
                                tacet_error *err) {
    tacet__engine *engine = NULL;
    TACET_OR_RETURN(tacet__engine_open(&engine, settings, err));
    tacet_status status = tacet__engine_ask(engine, study, job, err);
    tacet__engine_close(engine);
    return status;
}
