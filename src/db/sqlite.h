/* sqlite.h - a thin door to an embedded SQL store: connections, transactions, prepared statements, statuses. Knows no
 * schema. The verbs are what any SQL store can do, so that a shared store can stand behind the same names later.
 *
 * Writers use the write-ahead log with synchronous=FULL: a transaction is durable when its COMMIT returns, at the price
 * of one sync, where the rollback journal needs three or more; readers neither block writers nor wait for them; and a
 * commit becomes visible to other connections only after its sync. The price: the log's index lives in shared memory,
 * so the file must be on a local disk, and the newest transactions are in FILE-wal until a checkpoint moves them.
 *
 * A connection and its statements belong to one thread at a time, and not to a forked child. Ring: db. */
#ifndef TACET_SRC_DB_SQLITE_H
#define TACET_SRC_DB_SQLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/base/status.h>

typedef struct tacet__db tacet__db;
typedef struct tacet__query tacet__query;

typedef struct tacet__db_settings {
    bool read_only;   /* never writes, works without permission to write (see tacet__db_open) */
    bool create;      /* a missing file is created, mode 0600; otherwise NOT_FOUND */
    uint64_t busy_ms; /* how long to wait for a lock; then BUSY */
    const char *vfs;  /* NULL, or the name of a registered VFS */
} tacet__db_settings;

/* NOT_FOUND: no such file (or folder). DENIED: no permission, or a read-only file although writing was asked for.
 * CORRUPT: not a database. BUSY, IO, NO_MEMORY.
 * Read-only, in a folder where the index of the log cannot be made: opened as an immutable file when there is no log
 * left to read, otherwise DENIED, because the log holds transactions that would be overlooked. */
tacet_status tacet__db_open(tacet__db **out, const char *path, const tacet__db_settings *settings, tacet_error *err);
/* Its queries must be freed before. NULL is allowed. */
void tacet__db_close(tacet__db *db);

/* One or more statements without parameters; rows are thrown away. */
tacet_status tacet__db_exec(tacet__db *db, const char *sql, tacet_error *err);

/* `write` takes the store's one write lock at once (BEGIN IMMEDIATE), so that what is read then stays true until the
 * commit; otherwise a snapshot is read. */
tacet_status tacet__db_begin(tacet__db *db, bool write, tacet_error *err);
/* OK: durable. Otherwise rolled back, and whether it became durable is unknown until it is looked at again. */
tacet_status tacet__db_commit(tacet__db *db, tacet_error *err);
/* Nothing when there is no transaction. */
void tacet__db_rollback(tacet__db *db);

tacet_status tacet__db_prepare(tacet__db *db, tacet__query **out, const char *sql, tacet_error *err);
void tacet__query_free(tacet__query *query); /* NULL is allowed */
/* Parameters are numbered from 1. What is bound is borrowed until tacet__query_reset; a failure is kept and reported by
 * the next step. */
void tacet__query_bind_int(tacet__query *query, int index, int64_t value);
void tacet__query_bind_bytes(tacet__query *query, int index, const void *bytes, size_t size);
/* OK with *row telling whether there is a row. After anything else, and when done with it: reset. */
tacet_status tacet__query_step(tacet__query *query, bool *row, tacet_error *err);
/* For statements without rows: step, then reset. */
tacet_status tacet__query_run(tacet__query *query, tacet_error *err);
/* Columns are numbered from 0. The bytes live until the next step or reset; a column of another type gives 0 or an
 * empty run of bytes. */
int64_t tacet__query_int(tacet__query *query, int column);
const unsigned char *tacet__query_bytes(tacet__query *query, int column, size_t *size);
void tacet__query_reset(tacet__query *query);

/* NOT_FOUND, DENIED or IO for an errno. */
tacet_status tacet__db_errno(int number);

#endif
