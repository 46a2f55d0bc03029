/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_link.h - a connection to PostgreSQL, its statements and its queue. Ring: io, internal. */
#pragma once

#include "io/db/backend.h"

#include <libpq-fe.h>

enum {
    TACET__PG_PARAMS_MOST = 16,
    TACET__PG_QUEUE_MOST = 128, /* answers to as many fit every socket's buffer, so neither side waits for the other */
    TACET__PG_ASKED_MOST = 256,
    TACET__PG_SCHEMA_MOST = 63 /* PostgreSQL's limit of a name */
};

typedef struct tacet__pg_statement tacet__pg_statement;

typedef struct tacet__pg_store {
    tacet__db base;
    PGconn *connection;
    char *url; /* without the schema */
    char schema[TACET__PG_SCHEMA_MOST + 1];
    uint64_t busy_ms;
    bool read_only;
    bool relaxed;
    bool in_transaction;
    bool unsynced;                       /* the server said that the commit was not replicated as it should */
    bool late;                           /* it did not answer in time: the connection is given up */
    bool missing;                        /* the schema was not there when looked for, and may be made */
    bool creating;                       /* the open transaction makes it */
    size_t queued;                       /* statements sent whose answers were not taken; > 0: in pipeline mode */
    size_t syncs, taken, unsynced_bytes; /* sent in the pipeline; answers that were taken; sent since the last sync */
    PGresult **places[TACET__PG_QUEUE_MOST]; /* where each of these answers goes; NULL: nowhere */
    struct {                                 /* asked ahead of their steps, in this transaction */
        const tacet__pg_statement *query;    /* NULL: its step came */
        PGresult *result;
    } asked[TACET__PG_ASKED_MOST];
    size_t asked_count;
    unsigned names;
    tacet__pg_statement *statements; /* all of them, to be prepared again */
} tacet__pg_store;

struct tacet__pg_statement {
    tacet__query base;
    tacet__pg_statement *next;
    char name[24];
    char *sql;
    bool prepared;
    int params;
    bool bind_error;
    unsigned char numbers[TACET__PG_PARAMS_MOST][8];
    const char *values[TACET__PG_PARAMS_MOST];
    int lengths[TACET__PG_PARAMS_MOST];
    PGresult *result; /* after the first step */
    int row;          /* the current one; -1 before the first */
};

/* Closes the connection there was, connects, and prepares all statements again. */
TACET_MUST_CHECK tacet_status tacet__pg_open(tacet__pg_store *db, tacet_error *err);
/* REPLACED: the connection is to a primary that another has replaced (postgres_primary.c). */
tacet_status tacet__pg_primary(tacet__pg_store *db, tacet_error *err);
/* Connects again when the server hung up. */
TACET_MUST_CHECK tacet_status tacet__pg_revive(tacet__pg_store *db, tacet_error *err);

/* The last result of what was sent outside the pipeline (`sent` is what the PQsend... call returned); as PQexec, but
 * not for ever. The caller clears it. */
PGresult *tacet__pg_result(tacet__pg_store *db, int sent);
bool tacet__pg_good(const PGresult *result);
/* What a result that is not good means; result NULL: the connection failed. */
tacet_status tacet__pg_fail(const tacet__pg_store *db, const PGresult *result, const char *doing, tacet_error *err);

/* Outside the pipeline. */
tacet_status tacet__pg_run(tacet__pg_store *db, const char *sql, const char *doing, tacet_error *err);
/* All statements that are not, in one round trip. The first failure is the outcome. */
tacet_status tacet__pg_prepare(tacet__pg_store *db, tacet_error *err);

/* One more statement into the queue: a prepared one, or a plain text. Its answer, when the queue is emptied, goes to
 * `place`; NULL: it is thrown away. */
TACET_MUST_CHECK tacet_status tacet__pg_enqueue(tacet__pg_store *db, const tacet__pg_statement *query, const char *sql,
                                                PGresult **place, tacet_error *err);
/* Takes the answers to all that is queued, and leaves the pipeline. The first failure is the outcome. */
tacet_status tacet__pg_empty_queue(tacet__pg_store *db, tacet_error *err);
/* The queue and what was asked ahead are of no use any more. */
void tacet__pg_forget_asked(tacet__pg_store *db);
