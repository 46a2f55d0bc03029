/* SPDX-License-Identifier: Apache-2.0 */
/* errands.c - an errand queue with one thread, and a watchdog with another. Ring: service.
 * Cost: a lock an errand or watch; the watchdog looks at every watch ten times a second. */
#include "service/open/engine/errands.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { WAITING_MOST = 4096 };                      /* errands of clients; as many as there may be connections */
static const size_t BYTES_MOST = (size_t)64 << 20; /* that these hold */
static const double LOOK_SECONDS = 0.1;

double tacet__service_now(void) {
    return tacet__now();
}

struct tacet__errands {
    pthread_t thread;
    bool joined;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    tacet__errand *first, *last;
    size_t count, bytes; /* of clients' errands, waiting or in hand */
    bool stop;
};

static void leave_queue(tacet__errands *o, size_t bytes) {
    o->count -= bytes > 0;
    o->bytes -= bytes;
}

static void *work(void *user) {
    tacet__errands *o = user;
    (void)pthread_mutex_lock(&o->lock);
    for (;;) {
        while (o->first == NULL && !o->stop) {
            (void)pthread_cond_wait(&o->wake, &o->lock);
        }
        tacet__errand *errand = o->first;
        const bool stopping = o->stop;
        if (errand == NULL) {
            break;
        }
        o->first = errand->next;
        o->last = o->first != NULL ? o->last : NULL;
        const size_t bytes = errand->bytes;
        (void)pthread_mutex_unlock(&o->lock);
        errand->run(errand, stopping);
        (void)pthread_mutex_lock(&o->lock);
        leave_queue(o, bytes);
    }
    (void)pthread_mutex_unlock(&o->lock);
    return NULL;
}

tacet_status tacet__errands_open(tacet__errands **out, tacet_error *err) {
    *out = NULL;
    tacet__errands *o = TACET__ZALLOC(tacet__errands, 1);
    if (o == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the service");
    }
    (void)pthread_mutex_init(&o->lock, NULL);
    (void)pthread_cond_init(&o->wake, NULL);
    if (pthread_create(&o->thread, NULL, work, o) != 0) {
        (void)pthread_cond_destroy(&o->wake);
        (void)pthread_mutex_destroy(&o->lock);
        free(o);
        return tacet__fail(err, TACET_BUSY, "no thread can be started for the service");
    }
    *out = o;
    return TACET_OK;
}

void tacet__errands_send(tacet__errands *o, tacet__errand *errand) {
    errand->next = NULL;
    (void)pthread_mutex_lock(&o->lock);
    const size_t bytes = errand->bytes;
    const bool refuse =
        o->stop || (bytes > 0 && (o->count >= WAITING_MOST || bytes > BYTES_MOST || o->bytes > BYTES_MOST - bytes));
    if (!refuse) {
        o->count += bytes > 0;
        o->bytes += bytes;
        *(o->last != NULL ? &o->last->next : &o->first) = errand;
        o->last = errand;
        (void)pthread_cond_signal(&o->wake);
    }
    (void)pthread_mutex_unlock(&o->lock);
    if (refuse) {
        errand->run(errand, true);
    }
}

void tacet__errands_stop(tacet__errands *o) {
    (void)pthread_mutex_lock(&o->lock);
    o->stop = true;
    tacet__errand *errand = o->first;
    for (const tacet__errand *at = errand; at != NULL; at = at->next) {
        leave_queue(o, at->bytes);
    }
    o->first = o->last = NULL;
    (void)pthread_cond_signal(&o->wake);
    (void)pthread_mutex_unlock(&o->lock);
    while (errand != NULL) {
        tacet__errand *next = errand->next;
        errand->run(errand, true);
        errand = next;
    }
}

void tacet__errands_join(tacet__errands *o) {
    tacet__errands_stop(o);
    if (!o->joined) {
        (void)pthread_join(o->thread, NULL);
        o->joined = true;
    }
}

void tacet__errands_close(tacet__errands *o) {
    if (o != NULL) {
        tacet__errands_join(o);
        (void)pthread_cond_destroy(&o->wake);
        (void)pthread_mutex_destroy(&o->lock);
        free(o);
    }
}

/* --- the watchdog ------------------------------------------------------------------------------------------------- */

struct tacet__watchdog {
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    tacet__watch *first;
    bool stop;
};

static void unlink_watch(tacet__watchdog *dog, tacet__watch *w) {
    *(w->before != NULL ? &w->before->next : &dog->first) = w->next;
    if (w->next != NULL) {
        w->next->before = w->before;
    }
    w->on = false;
}

static void *keep_watch(void *user) {
    tacet__watchdog *dog = user;
    (void)pthread_mutex_lock(&dog->lock);
    while (!dog->stop) {
        const struct timespec until = tacet__until(LOOK_SECONDS);
        (void)pthread_cond_timedwait(&dog->wake, &dog->lock, &until);
        const double now = tacet__service_now();
        for (tacet__watch *w = dog->first, *next = NULL; w != NULL; w = next) {
            next = w->next;
            const double more = now >= w->until ? w->late(w) : 1;
            if (now >= w->until && more > 0) {
                w->until = now + more;
            } else if (now >= w->until) {
                unlink_watch(dog, w);
            }
        }
    }
    (void)pthread_mutex_unlock(&dog->lock);
    return NULL;
}

tacet_status tacet__watchdog_open(tacet__watchdog **out, tacet_error *err) {
    *out = NULL;
    tacet__watchdog *dog = TACET__ZALLOC(tacet__watchdog, 1);
    if (dog == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the service");
    }
    (void)pthread_mutex_init(&dog->lock, NULL);
    tacet__cond_init(&dog->wake);
    if (pthread_create(&dog->thread, NULL, keep_watch, dog) != 0) {
        (void)pthread_cond_destroy(&dog->wake);
        (void)pthread_mutex_destroy(&dog->lock);
        free(dog);
        return tacet__fail(err, TACET_BUSY, "no thread can be started for the service");
    }
    *out = dog;
    return TACET_OK;
}

void tacet__watchdog_close(tacet__watchdog *dog) {
    if (dog != NULL) {
        (void)pthread_mutex_lock(&dog->lock);
        dog->stop = true;
        (void)pthread_cond_signal(&dog->wake);
        (void)pthread_mutex_unlock(&dog->lock);
        (void)pthread_join(dog->thread, NULL);
        (void)pthread_cond_destroy(&dog->wake);
        (void)pthread_mutex_destroy(&dog->lock);
        free(dog);
    }
}

void tacet__watch_begin(tacet__watchdog *dog, tacet__watch *w, double seconds, double (*late)(tacet__watch *self)) {
    w->until = tacet__service_now() + seconds;
    w->late = late;
    w->before = NULL;
    (void)pthread_mutex_lock(&dog->lock);
    w->next = dog->first;
    if (w->next != NULL) {
        w->next->before = w;
    }
    dog->first = w;
    w->on = true;
    (void)pthread_mutex_unlock(&dog->lock);
}

bool tacet__watch_end(tacet__watchdog *dog, tacet__watch *w) {
    (void)pthread_mutex_lock(&dog->lock);
    const bool on = w->on;
    if (on) {
        unlink_watch(dog, w);
    }
    (void)pthread_mutex_unlock(&dog->lock);
    return on;
}

bool tacet__watch_on(tacet__watchdog *dog, const tacet__watch *w) {
    (void)pthread_mutex_lock(&dog->lock);
    const bool on = w->on;
    (void)pthread_mutex_unlock(&dog->lock);
    return on;
}
