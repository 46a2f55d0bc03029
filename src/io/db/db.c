/* SPDX-License-Identifier: Apache-2.0 */
/* db.c - the verbs of db.h, handed to the store that a path or a URL names.
 * Ring: io. Cost: one indirect call each. */
#include "io/db/db.h"

#include "core/fail.h"
#include "io/db/backend.h"

#include <errno.h>
#include <string.h>

tacet_status tacet__db_errno(int number) {
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return TACET_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return TACET_DENIED;
    default:
        return TACET_IO;
    }
}

bool tacet__db_is_url(const char *path) {
    return strncmp(path, "postgresql://", 13) == 0 || strncmp(path, "postgres://", 11) == 0;
}

bool tacet__db_url_has_password(const char *url) {
    if (!tacet__db_is_url(url)) {
        return false;
    }
    const char *begin = strstr(url, "://") + 3;
    const char *end = begin + strcspn(begin, "/?#");
    const char *at = memchr(begin, '@', (size_t)(end - begin));
    return (at != NULL && memchr(begin, ':', (size_t)(at - begin)) != NULL) || strstr(url, "?password=") != NULL ||
           strstr(url, "&password=") != NULL;
}

tacet_status tacet__db_open(tacet__db **out, const char *path, const tacet__db_settings *settings, tacet_error *err) {
    if (!tacet__db_is_url(path)) {
        return tacet__sqlite_open(out, path, settings, err);
    }
    if (tacet__postgres_open == NULL) {
        *out = NULL;
        return tacet__fail(err, TACET_INVALID, "this library was built without PostgreSQL; libtacet-trusted has it");
    }
    return tacet__postgres_open(out, path, settings, err);
}

void tacet__db_close(tacet__db *db) {
    if (db != NULL) {
        db->backend->close(db);
    }
}

bool tacet__db_shared(const tacet__db *db) {
    return db->backend->shared;
}

bool tacet__db_creating(const tacet__db *db) {
    return db->backend->creating != NULL && db->backend->creating(db);
}

tacet_status tacet__db_exec(tacet__db *db, const char *sql, tacet_error *err) {
    return db->backend->exec(db, sql, err);
}

tacet_status tacet__db_begin(tacet__db *db, bool write, tacet_error *err) {
    return db->backend->begin(db, write ? TACET__BEGIN_WRITE : TACET__BEGIN_READ, err);
}

tacet_status tacet__db_begin_rows(tacet__db *db, tacet_error *err) {
    return db->backend->begin(db, TACET__BEGIN_ROWS, err);
}

tacet_status tacet__db_commit(tacet__db *db, tacet_error *err) {
    return db->backend->commit(db, err);
}

void tacet__db_rollback(tacet__db *db) {
    db->backend->rollback(db);
}

tacet_status tacet__db_settle(tacet__db *db, tacet_error *err) {
    return db->backend->settle != NULL ? db->backend->settle(db, err) : TACET_OK;
}

tacet_status tacet__db_probe(tacet__db *db, tacet_error *err) {
    TACET_OR_RETURN(tacet__db_begin_rows(db, err));
    tacet_status status = db->backend->touch(db, err);
    if (status == TACET_OK) {
        return tacet__db_commit(db, err);
    }
    tacet__db_rollback(db);
    return status;
}

tacet_status tacet__db_erase(tacet__db *db, tacet_error *err) {
    return db->backend->erase != NULL ? db->backend->erase(db, err) : TACET_OK;
}

tacet_status tacet__db_forget(tacet__db *db) {
    return db->backend->forget != NULL ? db->backend->forget(db) : TACET_OK;
}

tacet_status tacet__db_relax(tacet__db *db, bool relaxed, tacet_error *err) {
    return db->backend->relax(db, relaxed, err);
}

tacet_status tacet__db_prepare(tacet__db *db, tacet__query **out, const char *sql, tacet_error *err) {
    return tacet__db_prepare_all(db, out, &sql, 1, err);
}

tacet_status tacet__db_prepare_all(tacet__db *db, tacet__query **out, const char *const *sql, size_t count,
                                   tacet_error *err) {
    for (size_t i = 0; i < count; i++) {
        out[i] = NULL;
    }
    return db->backend->prepare(db, out, sql, count, err);
}

void tacet__query_free(tacet__query *query) {
    if (query != NULL) {
        query->db->backend->free_query(query);
    }
}

void tacet__query_bind_int(tacet__query *query, int index, int64_t value) {
    query->db->backend->bind_int(query, index, value);
}

void tacet__query_bind_bytes(tacet__query *query, int index, const void *bytes, size_t size) {
    query->db->backend->bind_bytes(query, index, bytes, size);
}

void tacet__query_bind_text(tacet__query *query, int index, const char *text, size_t size) {
    query->db->backend->bind_text(query, index, text, size);
}

tacet_status tacet__query_step(tacet__query *query, bool *row, tacet_error *err) {
    *row = false;
    return query->db->backend->step(query, row, err);
}

tacet_status tacet__query_run(tacet__query *query, tacet_error *err) {
    bool row = false;
    const tacet_status status = tacet__query_step(query, &row, err);
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__query_send(tacet__query *query, tacet_error *err) {
    const tacet_status status = query->db->backend->send(query, err);
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__query_ahead(tacet__query *query, tacet_error *err) {
    const tacet_status status = query->db->backend->ahead != NULL ? query->db->backend->ahead(query, err) : TACET_OK;
    tacet__query_reset(query);
    return status;
}

int64_t tacet__query_int(tacet__query *query, int column) {
    return query->db->backend->column_int(query, column);
}

const unsigned char *tacet__query_bytes(tacet__query *query, int column, size_t *size) {
    return query->db->backend->column_bytes(query, column, size);
}

bool tacet__query_no_memory(const tacet__query *query) {
    return query->db->backend->no_memory != NULL && query->db->backend->no_memory(query);
}

void tacet__query_reset(tacet__query *query) {
    query->db->backend->reset(query);
}
