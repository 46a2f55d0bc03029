/* SPDX-License-Identifier: Apache-2.0 */
/* db.h - a thin door to an SQL store: connections, transactions, prepared statements, statuses. Knows no schema. Two
 * stores stand behind it: SQLite (a path) and PostgreSQL (a URL "postgresql://…#schema"; see postgres.c).
 *
 * Writers of SQLite use the write-ahead log with synchronous=FULL: a transaction is durable when its COMMIT returns, at
 * the price of one sync, where the rollback journal needs three or more; readers neither block writers nor wait for
 * them; and a commit becomes visible to other connections only after its sync. The price: the log's index lives in
 * shared memory, so the file must be on a local disk, and the newest transactions are in FILE-wal until a checkpoint
 * moves them. PostgreSQL commits with synchronous_commit=on.
 *
 * SQL that both understand: parameters are ?1, ?2, …; integers are BIGINT (INTEGER in SQLite), bytes BYTEA (BLOB),
 * texts TEXT, bound and read as bytes. Where the two differ there are two texts, chosen by tacet__db_shared().
 *
 * A lost connection is IO, wherever it shows; the next begin (or SELECT outside a transaction) connects anew and
 * prepares the statements again.
 *
 * A connection and its statements belong to one thread at a time, and not to a forked child. Ring: io. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef struct tacet__db tacet__db;
typedef struct tacet__query tacet__query;

typedef struct tacet__db_settings {
    bool read_only;   /* never writes, works without permission to write (see tacet__db_open) */
    bool create;      /* a missing file is created, mode 0600; a missing schema with the first begin that writes, so
                         that it comes into being with its tables or not at all; otherwise NOT_FOUND */
    uint64_t busy_ms; /* how long to wait for a lock; then BUSY */
    bool serves;      /* SQLite: many small transactions: a larger cache, and the log moved into the file less often */
    bool unsynced;    /* SQLite: a file that nobody sees yet; the caller syncs it whole */
    const char *vfs;  /* NULL, or the name of a registered VFS of SQLite */
} tacet__db_settings;

/* True when a path is the URL of a shared store. */
bool tacet__db_is_url(const char *path);

/* True when a URL has a password in it, which everybody on the machine then reads from the list of processes. */
bool tacet__db_url_has_password(const char *url);

/* NOT_FOUND: no such file (or folder), database or schema. DENIED: no permission, or a read-only file although writing
 * was asked for. CORRUPT: not a database. INVALID: a malformed URL. BUSY, IO, NO_MEMORY.
 * Read-only, in a folder where the index of the log cannot be made: opened as an immutable file when there is no log
 * left to read, otherwise DENIED, because the log holds transactions that would be overlooked. */
tacet_status tacet__db_open(tacet__db **out, const char *path, const tacet__db_settings *settings, tacet_error *err);
/* Its queries must be freed before. NULL is allowed. */
void tacet__db_close(tacet__db *db);
/* True for PostgreSQL. */
bool tacet__db_shared(const tacet__db *db);

/* One or more statements without parameters; rows are thrown away. */
tacet_status tacet__db_exec(tacet__db *db, const char *sql, tacet_error *err);

/* True when the open transaction is making the schema. Never for a file. */
bool tacet__db_creating(const tacet__db *db);

/* `write` takes the store's one write lock at once (SQLite: BEGIN IMMEDIATE; PostgreSQL: an advisory lock named after
 * the schema), so that what is read then stays true until the commit; otherwise a snapshot is read. */
tacet_status tacet__db_begin(tacet__db *db, bool write, tacet_error *err);
/* A transaction that writes rows the caller locks itself (SELECT … FOR UPDATE, at READ COMMITTED). SQLite has one lock
 * only, and takes it. With PostgreSQL nothing is sent before the first step. */
tacet_status tacet__db_begin_rows(tacet__db *db, tacet_error *err);
/* OK: durable. Otherwise rolled back, and whether it became durable is unknown until it is looked at again. */
tacet_status tacet__db_commit(tacet__db *db, tacet_error *err);
/* Nothing when there is no transaction. */
void tacet__db_rollback(tacet__db *db);
/* OK: whatever was committed before is durable, also by other connections (PostgreSQL shows a commit whose replication
 * was cancelled; SQLite shows none before its sync). Not inside a transaction. */
tacet_status tacet__db_settle(tacet__db *db, tacet_error *err);
/* Writes something durably, and changes nothing: OK says that a transaction could be written now. Needs no table, and
 * no right but that to connect. Not inside a transaction. */
tacet_status tacet__db_probe(tacet__db *db, tacet_error *err);
/* For what can be made again: following transactions, until it is taken back, are atomic but not synced when they
 * return. Not inside a transaction. */
tacet_status tacet__db_relax(tacet__db *db, bool relaxed, tacet_error *err);

/* For what is to be forgotten. `erase`: from now on this connection overwrites what it deletes. `forget`: what was
 * deleted leaves the log as well, by moving the log into the file and cutting it off; BUSY, at once, while another
 * connection reads. PostgreSQL keeps its logs, whoever asks: nothing is done there, so what must not be kept must not
 * be stored in the clear. */
tacet_status tacet__db_erase(tacet__db *db, tacet_error *err);
tacet_status tacet__db_forget(tacet__db *db);

tacet_status tacet__db_prepare(tacet__db *db, tacet__query **out, const char *sql, tacet_error *err);
/* Several, in one round trip where that costs one; all of them or none. */
tacet_status tacet__db_prepare_all(tacet__db *db, tacet__query **out, const char *const *sql, size_t count,
                                   tacet_error *err);
void tacet__query_free(tacet__query *query); /* NULL is allowed */
/* Parameters are numbered from 1; those not bound are NULL. What is bound is borrowed until tacet__query_reset; a
 * failure is kept and reported by the next step. */
void tacet__query_bind_int(tacet__query *query, int index, int64_t value);
void tacet__query_bind_bytes(tacet__query *query, int index, const void *bytes, size_t size);
void tacet__query_bind_text(tacet__query *query, int index, const char *text, size_t size);
/* OK with *row telling whether there is a row. After anything else, and when done with it: reset. */
tacet_status tacet__query_step(tacet__query *query, bool *row, tacet_error *err);
/* For statements without rows: step, then reset. */
tacet_status tacet__query_run(tacet__query *query, tacet_error *err);
/* The same, inside a transaction, without waiting for the answer where that costs a round trip: a failure may be
 * reported by the next step or by the commit instead. What was bound is no longer needed when it returns. */
tacet_status tacet__query_send(tacet__query *query, tacet_error *err);
/* Inside a transaction: the next steps of this query that begin anew get the answers to what was asked ahead, in this
 * order, whatever is bound then. Where a step costs a round trip the question goes with whatever is sent next;
 * elsewhere nothing is done, so the same must be bound again. */
tacet_status tacet__query_ahead(tacet__query *query, tacet_error *err);
/* Columns are numbered from 0. The bytes live until the next step or reset; a column of another type gives 0 or an
 * empty run of bytes. */
int64_t tacet__query_int(tacet__query *query, int column);
const unsigned char *tacet__query_bytes(tacet__query *query, int column, size_t *size);
/* True when a column since the last reset was empty for want of memory: what looks damaged is not known to be. */
bool tacet__query_no_memory(const tacet__query *query);
void tacet__query_reset(tacet__query *query);

/* NOT_FOUND, DENIED or IO for an errno. */
tacet_status tacet__db_errno(int number);
