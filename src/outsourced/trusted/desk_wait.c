/* SPDX-License-Identifier: Apache-2.0 */
/* desk_wait.c - those who wait for a command, or for anything to change, without a thread each.
 * Ring: trusted. One thread, the teller, knows until when each is willing to wait, and tells them when their query is
 * settled, or the desk has changed, or time is up. Nothing here decides or stores anything: what is told is what the
 * query has come to. Cost: a look at every waiter whenever something changes; while somebody watches the whole desk,
 * one at the ledger a second for every question that a person may answer. */
#include "outsourced/trusted/desk_internal.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"

static const double REFRESH_SECONDS = 1;

static bool is_before(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A state that a query does not leave by itself counts twice, so that to get there is a change. */
static uint64_t version_of(const tacet_desk *desk) {
    uint64_t version = 0;
    for (size_t i = 0; i < desk->count; i++) {
        version += desk->queries[i]->state == DONE || desk->queries[i]->state == FAILED ? 2 : 1;
    }
    return version;
}

uint64_t tacet_desk_version(tacet_desk *desk) {
    (void)pthread_mutex_lock(&desk->lock);
    const uint64_t version = version_of(desk);
    (void)pthread_mutex_unlock(&desk->lock);
    return version;
}

/* What other processes answered meanwhile, where somebody watches; *next is then the next look. */
static void look_around(tacet_desk *desk, struct timespec *next) {
    bool watched = false;
    for (size_t i = 0; i < desk->waiting; i++) {
        watched = watched || desk->waiters[i].query == NULL;
    }
    if (watched && tacet__now() - desk->refreshed >= REFRESH_SECONDS) {
        for (size_t i = 0; i < desk->count; i++) {
            if (desk->queries[i]->state == WAITING) {
                (void)tacet__desk_refresh(desk, desk->queries[i], NULL);
            }
        }
        desk->refreshed = tacet__now();
    }
    *next = tacet__until(watched ? REFRESH_SECONDS : 1e9);
}

/* The first who is to be told now, else how many wait; *next is then the earliest end of patience, if before. */
static size_t first_due(const tacet_desk *desk, struct timespec *next) {
    const struct timespec now = tacet__until(0);
    const uint64_t version = version_of(desk);
    for (size_t i = 0; i < desk->waiting; i++) {
        const waiter *w = &desk->waiters[i];
        const bool news = w->query != NULL ? !tacet__desk_busy(w->query) : w->seen != version;
        if (desk->hushed || news || !is_before(&now, &w->until)) {
            return i;
        }
        *next = is_before(&w->until, next) ? w->until : *next;
    }
    return desk->waiting;
}

void *tacet__desk_tell(void *argument) {
    tacet_desk *desk = argument;
    (void)pthread_mutex_lock(&desk->lock);
    while (!desk->stopping || desk->waiting > 0) {
        struct timespec next;
        look_around(desk, &next);
        const size_t i = first_due(desk, &next);
        if (i < desk->waiting) {
            tacet_error err = {0};
            tacet_desk_reply reply = {0};
            const waiter w = desk->waiters[i];
            desk->waiters[i] = desk->waiters[--desk->waiting];
            const tacet_status status = w.query != NULL ? tacet__desk_say(w.query, &reply, &err) : TACET_OK;
            desk->telling = true;
            (void)pthread_mutex_unlock(&desk->lock);
            w.told(w.user, status, &reply, &err);
            (void)pthread_mutex_lock(&desk->lock);
            desk->telling = false;
            (void)pthread_cond_broadcast(&desk->changed);
        } else {
            (void)pthread_cond_timedwait(&desk->changed, &desk->lock, &next);
        }
    }
    (void)pthread_mutex_unlock(&desk->lock);
    return NULL;
}

/* Under the lock. */
static tacet_status note(tacet_desk *desk, const waiter *w, tacet_error *err) {
    if (!tacet__grow((void **)&desk->waiters, &desk->waiters_capacity, desk->waiting + 1, sizeof *desk->waiters)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for one who waits");
    }
    desk->waiters[desk->waiting++] = *w;
    (void)pthread_cond_broadcast(&desk->changed);
    return TACET_OK;
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
    } else {
        const waiter w = {.query = q, .told = told, .user = user, .until = tacet__until(desk->patience)};
        status = note(desk, &w, err);
    }
    (void)pthread_mutex_unlock(&desk->lock);
    if (now) {
        told(user, said, &reply, &why);
    }
    return status;
}

tacet_status tacet_desk_watch(tacet_desk *desk, uint64_t seen, double seconds, tacet_desk_told told, void *user,
                              tacet_error *err) {
    const waiter w = {.seen = seen, .told = told, .user = user, .until = tacet__until(seconds)};
    (void)pthread_mutex_lock(&desk->lock);
    const bool now = desk->hushed;
    const tacet_status status = now ? TACET_OK : note(desk, &w, err);
    (void)pthread_mutex_unlock(&desk->lock);
    if (now) {
        told(user, TACET_OK, &(tacet_desk_reply){0}, &(tacet_error){0});
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
