/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - what a store behind db.h owes. The contract of each verb is that of its namesake there. Ring: io,
 * internal. */
#pragma once

#include "io/db/db.h"

typedef enum tacet__begin { TACET__BEGIN_READ, TACET__BEGIN_WRITE, TACET__BEGIN_ROWS } tacet__begin;

typedef struct tacet__backend {
    bool shared; /* several machines may use it at once */
    void (*close)(tacet__db *db);
    bool (*creating)(const tacet__db *db); /* NULL: never */
    tacet_status (*exec)(tacet__db *db, const char *sql, tacet_error *err);
    tacet_status (*begin)(tacet__db *db, tacet__begin how, tacet_error *err);
    tacet_status (*commit)(tacet__db *db, tacet_error *err);
    void (*rollback)(tacet__db *db);
    tacet_status (*settle)(tacet__db *db, tacet_error *err); /* NULL: a commit that can be seen is durable */
    tacet_status (*touch)(tacet__db *db, tacet_error *err);  /* a write without effect, in a transaction */
    tacet_status (*erase)(tacet__db *db, tacet_error *err);  /* NULL: nothing is done */
    tacet_status (*forget)(tacet__db *db);                   /* likewise */
    tacet_status (*relax)(tacet__db *db, bool relaxed, tacet_error *err);
    tacet_status (*prepare)(tacet__db *db, tacet__query **out, const char *const *sql, size_t count, tacet_error *err);
    void (*free_query)(tacet__query *query);
    void (*bind_int)(tacet__query *query, int index, int64_t value);
    void (*bind_bytes)(tacet__query *query, int index, const void *bytes, size_t size);
    void (*bind_text)(tacet__query *query, int index, const char *text, size_t size);
    tacet_status (*step)(tacet__query *query, bool *row, tacet_error *err);
    tacet_status (*send)(tacet__query *query, tacet_error *err);
    tacet_status (*ahead)(tacet__query *query, tacet_error *err); /* NULL: a step costs no round trip */
    int64_t (*column_int)(tacet__query *query, int column);
    const unsigned char *(*column_bytes)(tacet__query *query, int column, size_t *size);
    bool (*no_memory)(const tacet__query *query); /* NULL: never */
    void (*reset)(tacet__query *query);
} tacet__backend;

/* The first members of a backend's own structs. */
struct tacet__db {
    const tacet__backend *backend;
};
struct tacet__query {
    tacet__db *db;
};

tacet_status tacet__sqlite_open(tacet__db **out, const char *path, const tacet__db_settings *settings,
                                tacet_error *err);
/* In src/io/postgres, which the open library is built without: a null pointer there. */
tacet_status tacet__postgres_open(tacet__db **out, const char *url, const tacet__db_settings *settings,
                                  tacet_error *err) __attribute__((weak));
