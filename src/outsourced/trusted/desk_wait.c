/* SPDX-License-Identifier: Apache-2.0 */
/* desk_wait.c - those who wait for a command, without a thread each.
 * Ring: trusted. One thread, the teller, knows until when each is willing to wait, and tells them when their query is
 * settled, or time is up. Nothing here decides or stores anything: what is told is what the query has come to. Cost: a
 * look at every waiter whenever something changes. */
#include "outsourced/trusted/desk_internal.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"

static bool before(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* The first who is to be told now, else how many wait; *next is then the earliest end of patience. */
static size_t first_due(const tacet_desk *desk, struct timespec *next) {
    const struct timespec now = tacet__until(0);
    for (size_t i = 0; i < desk->waiting; i++) {
        const waiter *w = &desk->waiters[i];
        if (desk->hushed || !tacet__desk_busy(w->query) || !before(&now, &w->until)) {
            return i;
        }
        *next = i == 0 || before(&w->until, next) ? w->until : *next;
    }
    return desk->waiting;
}

void *tacet__desk_tell(void *argument) {
    tacet_desk *desk = argument;
    (void)pthread_mutex_lock(&desk->lock);
    while (!desk->stopping || desk->waiting > 0) {
        struct timespec next = {0};
        const size_t i = first_due(desk, &next);
        if (i < desk->waiting) {
            tacet_error err = {0};
            tacet_desk_reply reply;
            const waiter w = desk->waiters[i];
            desk->waiters[i] = desk->waiters[--desk->waiting];
            const tacet_status status = tacet__desk_say(w.query, &reply, &err);
            desk->telling = true;
            (void)pthread_mutex_unlock(&desk->lock);
            w.told(w.user, status, &reply, &err);
            (void)pthread_mutex_lock(&desk->lock);
            desk->telling = false;
            (void)pthread_cond_broadcast(&desk->changed);
        } else if (desk->waiting > 0) {
            (void)pthread_cond_timedwait(&desk->changed, &desk->lock, &next);
        } else {
            (void)pthread_cond_wait(&desk->changed, &desk->lock);
        }
    }
    (void)pthread_mutex_unlock(&desk->lock);
    return NULL;
}

tacet_status tacet_desk_wait(tacet_desk *desk, const char *ticket, tacet_desk_told told, void *user, tacet_error *err) {
    tacet_desk_reply reply = {0};
    tacet_error why = {0};
    tacet_status said = TACET_OK;
    tacet_status status = TACET_OK;
    bool now = false;
    (void)pthread_mutex_lock(&desk->lock);
    const query *q = tacet__desk_find(desk, ticket);
    if (q == NULL) {
        status = tacet__fail(err, TACET_NOT_FOUND, "no query has this ticket");
    } else if (!tacet__desk_busy(q) || desk->hushed) {
        said = tacet__desk_say(q, &reply, &why);
        now = true;
    } else if (!tacet__grow((void **)&desk->waiters, &desk->waiters_capacity, desk->waiting + 1,
                            sizeof *desk->waiters)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for one who waits");
    } else {
        desk->waiters[desk->waiting++] =
            (waiter){.query = q, .told = told, .user = user, .until = tacet__until(desk->patience)};
        (void)pthread_cond_broadcast(&desk->changed);
    }
    (void)pthread_mutex_unlock(&desk->lock);
    if (now) {
        told(user, said, &reply, &why);
    }
    return status;
}

void tacet_desk_hush(tacet_desk *desk) {
    (void)pthread_mutex_lock(&desk->lock);
    desk->hushed = true;
    (void)pthread_cond_broadcast(&desk->changed);
    while (desk->waiting > 0 || desk->telling) {
        (void)pthread_cond_wait(&desk->changed, &desk->lock);
    }
    (void)pthread_mutex_unlock(&desk->lock);
}
