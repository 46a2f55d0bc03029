/* SPDX-License-Identifier: Apache-2.0 */
/* desk_internal.h - the inside of a desk, for its files. Ring: trusted. */
#pragma once

#include <pthread.h>
#include <tacet/outsourced/trusted/desk.h>
#include <time.h>

typedef enum query_state { WAITING, QUEUED, RUNNING, FAILED, DONE } query_state;

typedef struct query {
    char ticket[TACET_DESK_TICKET];
    size_t row;
    uint64_t since; /* when it was asked: seconds since 1970 */
    tacet_entry entry;
    query_state state;
    double value; /* DONE */
    bool failed;  /* DONE: cannot be measured */
    bool offered; /* a commit was tried: a retry must offer the same bytes */
    double offer;
    char reason[160]; /* FAILED; DONE: why a stand-in was randomised in place of a value, "" otherwise */
} query;

/* Somebody who is to be told what became of a query, or that anything changed. */
typedef struct waiter {
    const query *query; /* NULL: anything that makes the version another than: */
    uint64_t seen;
    tacet_desk_told told;
    void *user;
    struct timespec until; /* monotonic */
} waiter;

struct tacet_desk {
    tacet_manifest manifest;
    tacet_ledger *ledger;
    char *data, *evaluate;
    tacet_status (*measure)(void *user, double *value, size_t row, tacet_error *err);
    void *user;
    void (*missed)(void *user, size_t row, const char *why);
    void *missed_user;
    double seconds, patience;
    double *values;  /* one per record; NULL: not from a column */
    char doubt[240]; /* of the table's order; empty: none */
    /* Under the lock: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    query **queries; /* in the order asked */
    size_t count, capacity;
    uint64_t others; /* ledger entries that are no queries, as of opening */
    bool released;   /* the ledger has the entry that the manifest names */
    bool stopping;
    bool worker_started, teller_started;
    pthread_t worker; /* runs commands */
    pthread_t teller; /* tells those who wait */
    waiter *waiters;
    size_t waiting, waiters_capacity;
    double refreshed; /* when other processes' answers were looked for */
    bool telling;     /* one is being told, without the lock */
    bool hushed;      /* nobody waits any more */
};

/* A command is to run for it, or runs. */
static inline bool tacet__desk_busy(const query *q) {
    return q->state == QUEUED || q->state == RUNNING;
}

/* Values come by the worker's thread. */
static inline bool tacet__desk_works(const tacet_desk *desk) {
    return desk->evaluate != NULL || desk->measure != NULL;
}

/* Under the lock, all five. */
query *tacet__desk_find(const tacet_desk *desk, const char *ticket);
tacet_status tacet__desk_say(const query *q, tacet_desk_reply *out, tacet_error *err);
/* Takes over what another process answered. */
tacet_status tacet__desk_refresh(tacet_desk *desk, query *q, tacet_error *err);
/* Stores the value (randomised when outputs are private; NaN: it cannot be measured) and takes over whatever was stored
 * first. */
tacet_status tacet__desk_settle(tacet_desk *desk, query *q, double value, tacet_error *err);

/* Reads the table through, measured values from that column (NULL: none). */
tacet_status tacet__desk_read(tacet_desk *desk, const char *values, tacet_error *err);

/* The teller's thread and the worker's; the argument is the desk. */
void *tacet__desk_tell(void *desk);
void *tacet__desk_work(void *desk);

/* The same without patience: pending, and running, while the command is at work. */
tacet_status tacet_desk_ask_now(tacet_desk *desk, tacet_desk_reply *out, const char *ticket, size_t row,
                                tacet_error *err);
/* Waits for the ticket's command without holding a thread: `told` is called once, from a thread of the desk's, when the
 * command is done, or patience ends; at once, from this thread, when there is nothing to wait for. NOT_FOUND: never
 * asked. NO_MEMORY. On failure nobody is told. */
TACET_MUST_CHECK tacet_status tacet_desk_wait(tacet_desk *desk, const char *ticket, tacet_desk_told told, void *user,
                                              tacet_error *err);
/* Grows with every question and every answer. */
uint64_t tacet_desk_version(tacet_desk *desk);
/* The same as tacet_desk_wait for whoever has seen that version: `told`, with nothing in its reply, once there is
 * another one, or so many seconds are over. What another process answers counts, a second late. NO_MEMORY. */
TACET_MUST_CHECK tacet_status tacet_desk_watch(tacet_desk *desk, uint64_t seen, double seconds, tacet_desk_told told,
                                               void *user, tacet_error *err);
/* From now on nobody waits: whoever does has been told, that the query is pending at the worst, when this returns. */
void tacet_desk_hush(tacet_desk *desk);
/* Queries made so far. */
size_t tacet_desk_made(tacet_desk *desk);
tacet_status tacet_desk_total(tacet_desk *desk, tacet_ledger_totals *out, tacet_error *err);
