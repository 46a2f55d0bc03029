/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.c - SQLite behind the verbs of db.h.
 * Ring: io. Cost: that of SQLite; one small allocation per connection and per prepared statement. */
#include "io/db/backend.h"

#include "core/fail.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the log of a service, before they are moved into the file: 32 MiB. A page that many commits change is moved once
 * for all of them; a thousand, as SQLite has it, is a few dozen commits of many studies. */
#define CHECKPOINT_PAGES "8000"

enum {
    BUSY_STEP_US = 500, /* between two looks at a lock: a fraction of a sync */
};

typedef struct store {
    tacet__db base;
    sqlite3 *handle;
    uint64_t busy_ms;
} store;

typedef struct statement {
    tacet__query base;
    sqlite3_stmt *handle;
    int bind_error; /* SQLITE_OK, or the first failure of a bind */
    bool no_memory; /* a column could not be had */
} statement;

static tacet_status from_sqlite(int code, int system_errno) {
    if (code == SQLITE_IOERR_NOMEM) {
        return TACET_NO_MEMORY;
    }
    if (code == SQLITE_IOERR_CORRUPTFS) {
        return TACET_CORRUPT;
    }
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return TACET_NO_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: /* gave up a race for the locks of the log */
        return TACET_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
        return TACET_CORRUPT;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return TACET_DENIED;
    case SQLITE_CANTOPEN:
        return tacet__db_errno(system_errno);
    case SQLITE_CONSTRAINT:
        return TACET_CONFLICT;
    case SQLITE_TOOBIG:
        return TACET_OVERFLOW;
    case SQLITE_FULL:
    case SQLITE_IOERR:
        return TACET_IO;
    default: /* wrong SQL, misuse: an error of the caller, not of the file */
        return TACET_STATE;
    }
}

static tacet_status fail(const store *db, int code, const char *doing, tacet_error *err) {
    const int system_errno = sqlite3_system_errno(db->handle);
    const tacet_status status = from_sqlite(code, system_errno);
    const char *text = (code & 0xff) == SQLITE_FULL ? "disk full; make room and run it again" : sqlite3_errstr(code);
    if (status == TACET_STATE || status == TACET_CONFLICT) {
        text = sqlite3_errmsg(db->handle); /* names the statement or the rule; never a stored value */
    }
    if (status == TACET_IO && system_errno != 0) {
        return tacet__fail(err, status, "store: %s: %s (%s)", doing, text, strerror(system_errno));
    }
    return tacet__fail(err, status, "store: %s: %s", doing, text);
}

/* SQLite's own back-off waits up to 100 ms between two looks; a lock here is held for about one sync. */
static int on_busy(void *user, int count) {
    const store *db = user;
    if ((uint64_t)count >= db->busy_ms * (1000 / BUSY_STEP_US)) {
        return 0;
    }
    (void)usleep(BUSY_STEP_US);
    return 1;
}

/* An empty file of mode 0600, unless there is one. Made beside its place and linked into it, because closing any
 * descriptor of the real file would drop the locks that another connection of this process holds on it. */
static tacet_status make_file(const char *path, tacet_error *err) {
    if (access(path, F_OK) == 0) {
        return TACET_OK;
    }
    const size_t length = strlen(path);
    char *beside = TACET__ZALLOC(char, length + 12);
    if (beside == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating %s", path);
    }
    memcpy(beside, path, length);
    memcpy(beside + length, ".new-XXXXXX", 12);
    tacet_status status = TACET_OK;
    const int fd = mkostemp(beside, O_CLOEXEC); /* mode 0600 */
    if (fd < 0) {
        status = tacet__fail(err, tacet__db_errno(errno), "cannot create %s: %s", path, strerror(errno));
    } else {
        if (link(beside, path) != 0 && errno != EEXIST) {
            status = tacet__fail(err, tacet__db_errno(errno), "cannot create %s: %s", path, strerror(errno));
        }
        (void)unlink(beside);
        (void)close(fd);
    }
    free(beside);
    return status;
}

/* True when FILE-wal holds nothing that a reader of FILE alone would overlook. */
static bool log_is_empty(const char *path) {
    char name[4096];
    struct stat st;
    const int length = snprintf(name, sizeof name, "%s-wal", path);
    if (length < 0 || (size_t)length >= sizeof name) {
        return false;
    }
    return stat(name, &st) != 0 ? errno == ENOENT : st.st_size == 0;
}

/* "file:…?immutable=1" with what a URI reserves escaped. */
static char *immutable_uri(const char *path) {
    static const char HEX[] = "0123456789abcdef";
    static const char HEAD[] = "file:";
    static const char TAIL[] = "?immutable=1";
    const size_t length = strlen(path);
    size_t room = 0;
    if (!tacet__size_mul(&room, length, 3) || !tacet__size_add(&room, room, sizeof HEAD + sizeof TAIL)) {
        return NULL;
    }
    char *uri = TACET__ZALLOC(char, room);
    if (uri == NULL) {
        return NULL;
    }
    memcpy(uri, HEAD, sizeof HEAD - 1);
    char *at = uri + sizeof HEAD - 1;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)path[i];
        if (c == '%' || c == '?' || c == '#') {
            *at++ = '%';
            *at++ = HEX[c >> 4];
            *at++ = HEX[c & 15];
        } else {
            *at++ = (char)c;
        }
    }
    memcpy(at, TAIL, sizeof TAIL);
    return uri;
}

static int connect_to(store *db, const char *name, int flags, const char *vfs) {
    const int code = sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
    if (code != SQLITE_OK) {
        return code;
    }
    (void)sqlite3_busy_handler(db->handle, on_busy, db);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* The first look at the file: finds what is no database, and whether the log can be read. */
    return sqlite3_exec(db->handle, "PRAGMA schema_version", NULL, NULL, NULL);
}

static tacet_status open_reader(store *db, const char *path, const char *vfs, tacet_error *err) {
    const int code = connect_to(db, path, SQLITE_OPEN_READONLY, vfs);
    const int kind = code & 0xff;
    if (code == SQLITE_OK) {
        return TACET_OK;
    }
    if (db->handle == NULL || (kind != SQLITE_CANTOPEN && kind != SQLITE_READONLY) || access(path, R_OK) != 0) {
        return db->handle == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory opening %s", path)
                                  : fail(db, code, path, err);
    }
    if (!log_is_empty(path)) {
        return tacet__fail(err, TACET_DENIED,
                           "%s has a log of recent transactions (-wal) that cannot be read here: copy both to a folder "
                           "where you may write",
                           path);
    }
    (void)sqlite3_close(db->handle);
    db->handle = NULL;
    char *uri = immutable_uri(path);
    const int again = uri == NULL ? SQLITE_NOMEM : connect_to(db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, vfs);
    free(uri);
    if (again != SQLITE_OK) {
        return db->handle == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory opening %s", path)
                                  : fail(db, again, path, err);
    }
    return TACET_OK;
}

/* A change of the log needs the file for itself, and SQLite gives up at once where two begin one together, lest each
 * waits for the other: the first opening of a new store by several. */
static tacet_status step_patiently(store *db, tacet__query *query, bool *row, tacet_error *err) {
    tacet_error inner = {0};
    tacet_status status = tacet__query_step(query, row, &inner);
    for (int count = 0; status == TACET_BUSY && on_busy(db, count) != 0; count++) {
        tacet__query_reset(query);
        tacet_error_clear(&inner);
        status = tacet__query_step(query, row, &inner);
    }
    return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", inner.message);
}

/* Sets the log and its syncing, and looks whether they took: a store that silently was less durable would be worse than
 * none. */
static tacet_status make_durable(store *db, const char *path, const tacet__db_settings *settings, tacet_error *err) {
    tacet__query *query = NULL;
    bool row = false;
    tacet_status status = tacet__db_exec(
        &db->base,
        "PRAGMA synchronous=FULL; PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1; PRAGMA cell_size_check=1", err);
    if (status == TACET_OK && settings->unsynced) {
        status = tacet__db_exec(&db->base, "PRAGMA synchronous=OFF", err);
    }
    if (status == TACET_OK && settings->serves) {
        status =
            tacet__db_exec(&db->base, "PRAGMA cache_size=-16384; PRAGMA wal_autocheckpoint=" CHECKPOINT_PAGES, err);
    }
    TACET_THEN(status, tacet__db_prepare(&db->base, &query, "PRAGMA journal_mode=WAL", err));
    TACET_THEN(status, step_patiently(db, query, &row, err));
    if (status == TACET_OK) {
        size_t size = 0;
        const unsigned char *mode = tacet__query_bytes(query, 0, &size);
        if (size != 3 || memcmp(mode, "wal", 3) != 0) {
            status = tacet__fail(err, TACET_UNSUPPORTED, "%s: no write-ahead log possible on this file system", path);
        }
    }
    tacet__query_free(query);
    return status;
}

static tacet_status open_writer(store *db, const char *path, const tacet__db_settings *settings, tacet_error *err) {
    if (settings->create) {
        TACET_OR_RETURN(make_file(path, err));
    }
    const int code = connect_to(db, path, SQLITE_OPEN_READWRITE, settings->vfs);
    if (db->handle == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening %s", path);
    }
    if (sqlite3_db_readonly(db->handle, "main") == 1) {
        return tacet__fail(err, TACET_DENIED, "%s is read-only", path);
    }
    if (code != SQLITE_OK) {
        return fail(db, code, path, err);
    }
    return make_durable(db, path, settings, err);
}

static void close_store(tacet__db *base) {
    store *db = (store *)base;
    (void)sqlite3_close(db->handle);
    free(db);
}

static tacet_status exec(tacet__db *base, const char *sql, tacet_error *err) {
    const store *db = (const store *)base;
    const int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TACET_OK : fail(db, code, "statement", err);
}

static tacet_status begin(tacet__db *base, tacet__begin how, tacet_error *err) {
    store *db = (store *)base;
    const bool write = how != TACET__BEGIN_READ;
    const int code = sqlite3_exec(db->handle, write ? "BEGIN IMMEDIATE" : "BEGIN", NULL, NULL, NULL);
    return code == SQLITE_OK ? TACET_OK : fail(db, code, "begin", err);
}

static void rollback(tacet__db *base) {
    store *db = (store *)base;
    if (sqlite3_get_autocommit(db->handle) == 0) {
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    }
}

static tacet_status commit(tacet__db *base, tacet_error *err) {
    store *db = (store *)base;
    const int code = sqlite3_exec(db->handle, "COMMIT", NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        const tacet_status status = fail(db, code, "commit", err);
        rollback(base);
        return status;
    }
    return TACET_OK;
}

/* The number is the application's own, and nobody uses it; set to what it is, it is written all the same. */
static tacet_status touch(tacet__db *base, tacet_error *err) {
    char sql[48];
    bool row = false;
    tacet__query *query = NULL;
    TACET_OR_RETURN(tacet__db_prepare(base, &query, "PRAGMA user_version", err));
    tacet_status status = tacet__query_step(query, &row, err);
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %lld",
                   (long long)(status == TACET_OK && row ? tacet__query_int(query, 0) : 0));
    tacet__query_free(query);
    return status == TACET_OK ? exec(base, sql, err) : status;
}

static tacet_status erase(tacet__db *base, tacet_error *err) {
    return exec(base, "PRAGMA secure_delete=ON", err);
}

static tacet_status forget(tacet__db *base) {
    store *db = (store *)base;
    const uint64_t busy_ms = db->busy_ms;
    int left = 0;
    db->busy_ms = 0; /* on_busy gives up at once */
    const int code = sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, &left, NULL);
    db->busy_ms = busy_ms;
    return code == SQLITE_OK && left == 0 ? TACET_OK : TACET_BUSY;
}

static tacet_status relax(tacet__db *base, bool relaxed, tacet_error *err) {
    return exec(base, relaxed ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL", err);
}

static tacet_status prepare_one(store *db, tacet__query **out, const char *sql, tacet_error *err) {
    statement *query = TACET__ZALLOC(statement, 1);
    if (query == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory preparing a statement");
    }
    query->base.db = &db->base;
    const int code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &query->handle, NULL);
    if (code != SQLITE_OK) {
        const tacet_status status = fail(db, code, "prepare", err);
        free(query);
        return status;
    }
    *out = &query->base;
    return TACET_OK;
}

static void free_query(tacet__query *base) {
    statement *query = (statement *)base;
    (void)sqlite3_finalize(query->handle);
    free(query);
}

static tacet_status prepare(tacet__db *base, tacet__query **out, const char *const *sql, size_t count,
                            tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < count; i++) {
        status = prepare_one((store *)base, &out[i], sql[i], err);
    }
    for (size_t i = 0; status != TACET_OK && i < count; i++) {
        tacet__query_free(out[i]);
        out[i] = NULL;
    }
    return status;
}

static void bound(statement *query, int code) {
    if (query->bind_error == SQLITE_OK) {
        query->bind_error = code;
    }
}

static void bind_int(tacet__query *base, int index, int64_t value) {
    statement *query = (statement *)base;
    bound(query, sqlite3_bind_int64(query->handle, index, value));
}

static void bind_bytes(tacet__query *base, int index, const void *bytes, size_t size) {
    statement *query = (statement *)base;
    /* A NULL pointer would bind an SQL NULL. */
    bound(query, sqlite3_bind_blob64(query->handle, index, size == 0 ? "" : bytes, size, SQLITE_STATIC));
}

static void bind_text(tacet__query *base, int index, const char *text, size_t size) {
    statement *query = (statement *)base;
    bound(query, sqlite3_bind_text64(query->handle, index, text, size, SQLITE_STATIC, SQLITE_UTF8));
}

static tacet_status step(tacet__query *base, bool *row, tacet_error *err) {
    const statement *query = (const statement *)base;
    const store *db = (const store *)base->db;
    if (query->bind_error != SQLITE_OK) { /* NOLINT(clang-analyzer-core.NullDereference): prepare gave it or failed */
        return fail(db, query->bind_error, "parameter", err);
    }
    const int code = sqlite3_step(query->handle);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? TACET_OK : fail(db, code, "step", err);
}

static tacet_status send(tacet__query *base, tacet_error *err) {
    bool row = false;
    return step(base, &row, err);
}

static int64_t column_int(tacet__query *base, int column) {
    sqlite3_stmt *handle = ((statement *)base)->handle;
    return sqlite3_column_type(handle, column) == SQLITE_INTEGER ? sqlite3_column_int64(handle, column) : 0;
}

static const unsigned char *column_bytes(tacet__query *base, int column, size_t *size) {
    static const unsigned char NONE[1] = {0};
    sqlite3_stmt *handle = ((statement *)base)->handle;
    const int type = sqlite3_column_type(handle, column);
    const unsigned char *bytes =
        type == SQLITE_BLOB || type == SQLITE_TEXT ? sqlite3_column_blob(handle, column) : NULL;
    *size = bytes == NULL ? 0 : (size_t)sqlite3_column_bytes(handle, column);
    if (bytes == NULL && (type == SQLITE_BLOB || type == SQLITE_TEXT) &&
        (sqlite3_errcode(sqlite3_db_handle(handle)) & 0xff) == SQLITE_NOMEM) {
        ((statement *)base)->no_memory = true;
    }
    return bytes == NULL ? NONE : bytes;
}

static void reset(tacet__query *base) {
    statement *query = (statement *)base;
    (void)sqlite3_reset(query->handle);
    (void)sqlite3_clear_bindings(query->handle);
    query->bind_error = SQLITE_OK;
    query->no_memory = false;
}

static bool no_memory(const tacet__query *base) {
    return ((const statement *)base)->no_memory;
}

static const tacet__backend SQLITE = {
    .close = close_store,
    .exec = exec,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .touch = touch,
    .erase = erase,
    .forget = forget,
    .relax = relax,
    .prepare = prepare,
    .free_query = free_query,
    .bind_int = bind_int,
    .bind_bytes = bind_bytes,
    .bind_text = bind_text,
    .step = step,
    .send = send,
    .column_int = column_int,
    .column_bytes = column_bytes,
    .no_memory = no_memory,
    .reset = reset,
};

tacet_status tacet__sqlite_open(tacet__db **out, const char *path, const tacet__db_settings *settings,
                                tacet_error *err) {
    *out = NULL;
    struct stat st;
    if (!settings->create && stat(path, &st) != 0) {
        return tacet__fail(err, tacet__db_errno(errno), "cannot open %s: %s", path, strerror(errno));
    }
    store *db = TACET__ZALLOC(store, 1);
    if (db == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening %s", path);
    }
    db->base.backend = &SQLITE;
    db->busy_ms = settings->busy_ms;
    const tacet_status status =
        settings->read_only ? open_reader(db, path, settings->vfs, err) : open_writer(db, path, settings, err);
    if (status != TACET_OK) {
        close_store(&db->base);
        return status;
    }
    *out = &db->base;
    return TACET_OK;
}
