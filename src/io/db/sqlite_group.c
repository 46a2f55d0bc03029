/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_group.c - turns and shared syncs. Ring: io. Cost: a lock and at most one wait for a turn and for a sync. */
#include "io/db/sqlite_group.h"

#include "core/clock.h"
#include "core/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* Who waits for a turn; on its own stack. */
typedef struct waiter {
    pthread_cond_t wake;
    bool mine;
    struct waiter *next;
} waiter;

struct tacet__sqlite_group {
    dev_t device;
    ino_t inode;
    unsigned users;
    bool writing;
    waiter *first, *last;
    uint64_t written, synced, failed; /* numbers of commits; those up to `failed` may be lost */
    bool syncing, suspect;
    pthread_cond_t done;
    tacet__sqlite_group *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all groups */
static tacet__sqlite_group *groups;

tacet__sqlite_group *tacet__sqlite_group_join(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) {
        return NULL;
    }
    (void)pthread_mutex_lock(&lock);
    tacet__sqlite_group *g = groups;
    while (g != NULL && (g->device != st.st_dev || g->inode != st.st_ino)) {
        g = g->next;
    }
    if (g == NULL && (g = TACET__ZALLOC(tacet__sqlite_group, 1)) != NULL) {
        tacet__cond_init(&g->done);
        g->device = st.st_dev;
        g->inode = st.st_ino;
        g->next = groups;
        groups = g;
    }
    if (g != NULL) {
        g->users++;
    }
    (void)pthread_mutex_unlock(&lock);
    return g;
}

void tacet__sqlite_group_leave(tacet__sqlite_group *g) {
    if (g == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&lock);
    if (--g->users == 0) {
        tacet__sqlite_group **at = &groups;
        while (*at != g) {
            at = &(*at)->next;
        }
        *at = g->next;
        (void)pthread_cond_destroy(&g->done);
        free(g);
    }
    (void)pthread_mutex_unlock(&lock);
}

static void unlink_waiter(tacet__sqlite_group *g, const waiter *w) {
    waiter *before = NULL;
    for (waiter *at = g->first; at != w; at = at->next) {
        before = at;
    }
    *(before != NULL ? &before->next : &g->first) = w->next;
    g->last = g->last == w ? before : g->last;
}

bool tacet__sqlite_group_enter(tacet__sqlite_group *g, uint64_t ms) {
    const struct timespec until = tacet__until((double)ms / 1000);
    (void)pthread_mutex_lock(&lock);
    bool mine = !g->writing;
    if (mine) {
        g->writing = true;
    } else {
        waiter w = {.mine = false};
        tacet__cond_init(&w.wake);
        *(g->last != NULL ? &g->last->next : &g->first) = &w;
        /* cppcheck-suppress autoVariables ; it is taken out of the list before this returns */
        g->last = &w;
        while (!w.mine && pthread_cond_timedwait(&w.wake, &lock, &until) == 0) {
        }
        mine = w.mine;
        if (!mine) {
            unlink_waiter(g, &w);
        }
        (void)pthread_cond_destroy(&w.wake);
    }
    (void)pthread_mutex_unlock(&lock);
    return mine;
}

/* To the one who waits longest. */
static void pass_on(tacet__sqlite_group *g) {
    waiter *w = g->first;
    g->writing = w != NULL;
    if (w != NULL) {
        unlink_waiter(g, w);
        w->mine = true;
        (void)pthread_cond_signal(&w->wake);
    }
}

uint64_t tacet__sqlite_group_exit(tacet__sqlite_group *g, bool wrote) {
    (void)pthread_mutex_lock(&lock);
    const uint64_t number = wrote ? ++g->written : g->written;
    pass_on(g);
    (void)pthread_mutex_unlock(&lock);
    return number;
}

bool tacet__sqlite_group_sync(tacet__sqlite_group *g, uint64_t number, bool (*sync)(void *user),
                              bool (*repair)(void *user), void *user) {
    (void)pthread_mutex_lock(&lock);
    while (g->synced < number && g->failed < number) {
        if (g->syncing) {
            (void)pthread_cond_wait(&g->done, &lock);
            continue;
        }
        const uint64_t target = g->written;
        const bool suspect = g->suspect;
        g->syncing = true;
        (void)pthread_mutex_unlock(&lock);
        const bool good = suspect ? repair(user) : sync(user);
        (void)pthread_mutex_lock(&lock);
        g->syncing = false;
        g->suspect = !good;
        if (good) {
            g->synced = target > g->synced ? target : g->synced;
        } else {
            /* The system may have thrown away what it could not write: all that waits for it has failed. */
            g->failed = target > g->failed ? target : g->failed;
        }
        (void)pthread_cond_broadcast(&g->done);
    }
    const bool durable = number > g->failed || g->synced >= number;
    (void)pthread_mutex_unlock(&lock);
    return durable;
}
