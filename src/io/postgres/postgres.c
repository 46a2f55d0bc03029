/* SPDX-License-Identifier: Apache-2.0 */
/* postgres.c - PostgreSQL behind the verbs of db.h, through libpq.
 * Ring: io. A store is one schema of a database, named behind the URL's '#' ("public" without one); the connection sees
 * nothing else by an unqualified name, so the same SQL serves a file and a schema. Parameters and columns travel in
 * binary. What tacet__query_send and tacet__query_ahead get is queued (libpq's pipeline mode) and goes to the server
 * together with the next step or the commit, so that a batch costs few round trips.
 * The connection itself: postgres_link.c.
 * Cost: one round trip for begin (none for begin_rows), each step, and commit; all rows of a step are held in memory.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "io/postgres/postgres_link.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OID_BOOL = 16, /* from the server's catalogue, which never changes them */
    OID_BYTEA = 17,
    OID_NAME = 19,
    OID_INT8 = 20,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_VARCHAR = 1043,
};

static void close_store(tacet__db *base) {
    tacet__pg_store *db = (tacet__pg_store *)base;
    tacet__pg_forget_asked(db);
    PQfinish(db->connection);
    free(db->url);
    free(db);
}

static tacet_status exec(tacet__db *base, const char *sql, tacet_error *err) {
    tacet__pg_store *db = (tacet__pg_store *)base;
    tacet_status status = db->in_transaction ? tacet__pg_empty_queue(db, err) : tacet__pg_revive(db, err);
    TACET_THEN(status, tacet__pg_run(db, sql, "statement", err));
    return status;
}

static void rollback(tacet__db *base) {
    tacet__pg_store *db = (tacet__pg_store *)base;
    if (!db->in_transaction) {
        return;
    }
    (void)tacet__pg_empty_queue(db, NULL);
    tacet__pg_forget_asked(db);
    db->in_transaction = false;
    if (!db->late && PQstatus(db->connection) == CONNECTION_OK && PQtransactionStatus(db->connection) != PQTRANS_IDLE) {
        (void)tacet__pg_run(db, "ROLLBACK", "rollback", NULL);
    }
}

static tacet_status find_schema(tacet__pg_store *db, bool *there, tacet_error *err) {
    static const char SQL[] = "SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = $1";
    const char *const values[] = {db->schema};
    PGresult *result = tacet__pg_result(db, PQsendQueryParams(db->connection, SQL, 1, NULL, values, NULL, NULL, 0));
    tacet_status status = tacet__pg_good(result) ? TACET_OK : tacet__pg_fail(db, result, "look for the schema", err);
    *there = status == TACET_OK && PQntuples(result) == 1;
    if (*there && PQgetvalue(result, 0, 0)[0] != 't') {
        status = tacet__fail(err, TACET_DENIED, "the store's schema %s is not for this role", db->schema);
    }
    PQclear(result);
    return status;
}

/* Under the store's write lock, so that two cannot both make it. */
static tacet_status make_schema(tacet__pg_store *db, tacet_error *err) {
    char sql[TACET__PG_SCHEMA_MOST + 32];
    bool there = false;
    tacet_status status = find_schema(db, &there, err);
    if (status == TACET_OK && !there) {
        (void)snprintf(sql, sizeof sql, "CREATE SCHEMA \"%s\"", db->schema);
        status = tacet__pg_run(db, sql, "create the schema", err);
        db->creating = status == TACET_OK;
    }
    return status;
}

static tacet_status run_begin(tacet__pg_store *db, tacet__begin how, tacet_error *err) {
    static const char READ[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    char sql[TACET__PG_SCHEMA_MOST + 160];
    (void)snprintf(sql, sizeof sql,
                   "BEGIN ISOLATION LEVEL READ COMMITTED;"
                   "SELECT pg_advisory_xact_lock(hashtextextended('tacet:%s', 0))",
                   db->schema);
    tacet_status status = tacet__pg_run(db, how == TACET__BEGIN_READ ? READ : sql, "begin", err);
    if (status == TACET_OK && how == TACET__BEGIN_WRITE && db->missing) {
        status = make_schema(db, err);
    }
    return status;
}

static tacet_status begin(tacet__db *base, tacet__begin how, tacet_error *err) {
    tacet__pg_store *db = (tacet__pg_store *)base;
    if (db->in_transaction) {
        return tacet__fail(err, TACET_STATE, "store: begin: there is a transaction already");
    }
    db->creating = false;
    tacet_status status = tacet__pg_revive(db, err);
    if (status != TACET_OK) {
        return status;
    }
    if (how == TACET__BEGIN_ROWS) {
        status = tacet__pg_enqueue(db, NULL, "BEGIN ISOLATION LEVEL READ COMMITTED", NULL, err);
        db->in_transaction = status == TACET_OK;
        return status;
    }
    tacet_error first = {TACET_OK, ""};
    status = run_begin(db, how, &first);
    if (status == TACET_IO && PQstatus(db->connection) != CONNECTION_OK) {
        /* The connection had died unnoticed; nothing has happened yet, so once more is safe. */
        tacet_error_clear(&first);
        status = tacet__pg_open(db, &first);
        TACET_THEN(status, run_begin(db, how, &first));
    }
    db->in_transaction = true;
    if (status != TACET_OK) {
        rollback(base);
        return tacet__fail(err, status, "%s", first.message);
    }
    return TACET_OK;
}

static tacet_status commit(tacet__db *base, tacet_error *err) {
    tacet__pg_store *db = (tacet__pg_store *)base;
    PGresult *result = NULL;
    tacet_status status = TACET_OK;
    if (!db->in_transaction) {
        return tacet__fail(err, TACET_STATE, "store: commit: there is no transaction");
    }
    db->unsynced = false;
    if (db->queued > 0) {
        status = tacet__pg_enqueue(db, NULL, "COMMIT", &result, err);
        TACET_THEN(status, tacet__pg_empty_queue(db, err));
    } else {
        result = tacet__pg_result(db, PQsendQuery(db->connection, "COMMIT"));
        status = tacet__pg_good(result) ? TACET_OK : tacet__pg_fail(db, result, "commit", err);
    }
    /* A transaction in which something failed answers COMMIT with "ROLLBACK", and calls it a success. */
    if (status == TACET_OK && strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        status = tacet__fail(err, TACET_STATE, "store: commit: a statement before had failed");
    }
    PQclear(result);
    if (status == TACET_OK && db->unsynced && !db->relaxed) {
        /* It is visible, and may yet be forgotten: nothing may rest on it. */
        status = tacet__fail(err, TACET_IO, "store: commit: not replicated: the wait for the standby was cancelled");
    }
    if (status != TACET_OK) {
        rollback(base);
    } else if (db->creating) {
        db->missing = false;
    }
    tacet__pg_forget_asked(db);
    db->in_transaction = false;
    return status;
}

static bool creating(const tacet__db *base) {
    return ((const tacet__pg_store *)base)->creating;
}

/* What can be seen may not be replicated: the wait of its commit was cancelled, or the server restarted meanwhile. The
 * log of changes is one sequence, so a commit that was replicated says that all before it were. */
static tacet_status settle(tacet__db *base, tacet_error *err) {
    return tacet__db_probe(base, err);
}

/* A message in the server's own log of changes: as durable as any commit, and any role may write one. */
static tacet_status touch(tacet__db *base, tacet_error *err) {
    return exec(base, "SELECT pg_logical_emit_message(true, 'tacet', 'probe')", err);
}

static tacet_status relax(tacet__db *base, bool relaxed, tacet_error *err) {
    tacet__pg_store *db = (tacet__pg_store *)base;
    const tacet_status status = exec(base, relaxed ? "SET synchronous_commit=off" : "SET synchronous_commit=on", err);
    if (status == TACET_OK) {
        db->relaxed = relaxed;
    }
    return status;
}

/* ?1 becomes $1. Counts the parameters; false when there are too many. */
static bool translate(char *sql, int *params) {
    *params = 0;
    for (char *c = sql; *c != '\0'; c++) {
        if (*c == '?' && c[1] >= '1' && c[1] <= '9') {
            *c = '$';
            const int number = (int)strtol(c + 1, NULL, 10);
            *params = number > *params ? number : *params;
        }
    }
    return *params <= TACET__PG_PARAMS_MOST;
}

static void free_query(tacet__query *base) {
    tacet__pg_statement *query = (tacet__pg_statement *)base;
    tacet__pg_store *db = (tacet__pg_store *)base->db;
    for (tacet__pg_statement **at = &db->statements; *at != NULL; at = &(*at)->next) {
        if (*at == query) {
            *at = query->next;
            break;
        }
    }
    PQclear(query->result);
    free(query->sql);
    free(query); /* the server forgets it with the connection: not worth a round trip */
}

static tacet_status new_query(tacet__pg_store *db, tacet__query **out, const char *sql, tacet_error *err) {
    tacet__pg_statement *query = TACET__ZALLOC(tacet__pg_statement, 1);
    const size_t size = strlen(sql) + 1;
    char *copy = TACET__ZALLOC(char, size);
    if (query == NULL || copy == NULL) {
        free(query);
        free(copy);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory preparing a statement");
    }
    memcpy(copy, sql, size);
    *query = (tacet__pg_statement){.base = {.db = &db->base}, .next = db->statements, .sql = copy, .row = -1};
    (void)snprintf(query->name, sizeof query->name, "q%u", db->names++);
    db->statements = query;
    *out = &query->base;
    return translate(copy, &query->params) ? TACET_OK
                                           : tacet__fail(err, TACET_STATE, "store: prepare: too many parameters");
}

static tacet_status prepare(tacet__db *base, tacet__query **out, const char *const *sql, size_t count,
                            tacet_error *err) {
    tacet__pg_store *db = (tacet__pg_store *)base;
    tacet_status status = db->in_transaction ? tacet__pg_empty_queue(db, err) : tacet__pg_revive(db, err);
    for (size_t i = 0; status == TACET_OK && i < count; i++) {
        status = new_query(db, &out[i], sql[i], err);
    }
    TACET_THEN(status, tacet__pg_prepare(db, err));
    for (size_t i = 0; status != TACET_OK && i < count; i++) {
        tacet__query_free(out[i]);
        out[i] = NULL;
    }
    return status;
}

static bool in_range(tacet__pg_statement *query, int index) {
    const bool good = index >= 1 && index <= query->params;
    query->bind_error = query->bind_error || !good;
    return good;
}

static void bind_int(tacet__query *base, int index, int64_t value) {
    tacet__pg_statement *query = (tacet__pg_statement *)base;
    if (!in_range(query, index)) {
        return;
    }
    const uint64_t bits = (uint64_t)value;
    unsigned char *number = query->numbers[index - 1];
    for (size_t i = 0; i < 8; i++) {
        number[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    query->values[index - 1] = (const char *)number;
    query->lengths[index - 1] = 8;
}

static void bind_bytes(tacet__query *base, int index, const void *bytes, size_t size) {
    tacet__pg_statement *query = (tacet__pg_statement *)base;
    if (!in_range(query, index) || size > INT32_MAX) {
        query->bind_error = true;
        return;
    }
    query->values[index - 1] = size == 0 ? "" : bytes; /* a NULL pointer would be an SQL NULL */
    query->lengths[index - 1] = (int)size;
}

static void bind_text(tacet__query *base, int index, const char *text, size_t size) {
    bind_bytes(base, index, text, size); /* the binary form of a text is its bytes */
}

static tacet_status check_bound(const tacet__pg_statement *query, tacet_error *err) {
    if (query->bind_error) {
        return tacet__fail(err, TACET_STATE, "store: parameter: there is no such one, or it is too large");
    }
    return query->prepared ? TACET_OK : tacet__fail(err, TACET_IO, "store: step: the tables have changed");
}

static tacet_status ask(tacet__pg_store *db, tacet__pg_statement *query, tacet_error *err) {
    int formats[TACET__PG_PARAMS_MOST];
    tacet_status status = check_bound(query, err);
    if (status != TACET_OK) {
        return status;
    }
    if (db->queued > 0) {
        status = tacet__pg_enqueue(db, query, NULL, &query->result, err);
        return status == TACET_OK ? tacet__pg_empty_queue(db, err) : status;
    }
    for (size_t i = 0; i < TACET__PG_PARAMS_MOST; i++) {
        formats[i] = 1;
    }
    query->result = tacet__pg_result(
        db, PQsendQueryPrepared(db->connection, query->name, query->params, query->values, query->lengths, formats, 1));
    return tacet__pg_good(query->result) ? TACET_OK : tacet__pg_fail(db, query->result, "step", err);
}

static tacet_status first_step(tacet__pg_store *db, tacet__pg_statement *query, tacet_error *err) {
    if (db->in_transaction) {
        return ask(db, query, err);
    }
    tacet_error first = {TACET_OK, ""};
    tacet_status status = tacet__pg_revive(db, &first);
    TACET_THEN(status, ask(db, query, &first));
    if (status == TACET_IO && PQstatus(db->connection) != CONNECTION_OK && strncmp(query->sql, "SELECT", 6) == 0) {
        /* The connection had died unnoticed; asking again changes nothing. */
        tacet_error_clear(&first);
        PQclear(query->result);
        query->result = NULL;
        status = tacet__pg_open(db, &first);
        TACET_THEN(status, ask(db, query, &first));
    }
    return status == TACET_OK ? TACET_OK : tacet__fail(err, status, "%s", first.message);
}

static tacet_status ahead(tacet__query *base, tacet_error *err) {
    tacet__pg_statement *query = (tacet__pg_statement *)base;
    tacet__pg_store *db = (tacet__pg_store *)base->db;
    tacet_status status = check_bound(query, err);
    if (status != TACET_OK || !db->in_transaction || db->asked_count == TACET__PG_ASKED_MOST) {
        return status;
    }
    db->asked[db->asked_count].query = query;
    db->asked[db->asked_count].result = NULL;
    status = tacet__pg_enqueue(db, query, NULL, &db->asked[db->asked_count].result, err);
    db->asked_count += status == TACET_OK;
    return status;
}

/* The answer to what was asked first of what this query asked ahead; *out stays NULL where that is nothing. */
static tacet_status take_asked(tacet__pg_store *db, PGresult **out, const tacet__pg_statement *query,
                               tacet_error *err) {
    size_t i = 0;
    while (i < db->asked_count && db->asked[i].query != query) {
        i++;
    }
    const tacet_status status = i < db->asked_count ? tacet__pg_empty_queue(db, err) : TACET_OK;
    if (status == TACET_OK && i < db->asked_count) {
        *out = db->asked[i].result;
        db->asked[i].query = NULL;
        db->asked[i].result = NULL;
    }
    return status;
}

static tacet_status step(tacet__query *base, bool *row, tacet_error *err) {
    tacet__pg_statement *query = (tacet__pg_statement *)base;
    if (query->result == NULL) {
        tacet_status status = take_asked((tacet__pg_store *)base->db, &query->result, query, err);
        if (status == TACET_OK && query->result == NULL) {
            status = first_step((tacet__pg_store *)base->db, query, err);
        }
        if (status != TACET_OK) {
            return status;
        }
        query->row = -1;
    }
    query->row++;
    *row = query->row < PQntuples(query->result);
    return TACET_OK;
}

static tacet_status send(tacet__query *base, tacet_error *err) {
    tacet__pg_statement *query = (tacet__pg_statement *)base;
    tacet__pg_store *db = (tacet__pg_store *)base->db;
    if (!db->in_transaction) {
        bool row = false;
        return step(base, &row, err);
    }
    const tacet_status status = check_bound(query, err);
    return status == TACET_OK ? tacet__pg_enqueue(db, query, NULL, NULL, err) : status;
}

static bool has_value(const tacet__pg_statement *query, int column) {
    return query->result != NULL && query->row >= 0 && query->row < PQntuples(query->result) && column >= 0 &&
           column < PQnfields(query->result) && PQgetisnull(query->result, query->row, column) == 0;
}

static int64_t column_int(tacet__query *base, int column) {
    const tacet__pg_statement *query = (const tacet__pg_statement *)base;
    if (!has_value(query, column)) {
        return 0;
    }
    const Oid type = PQftype(query->result, column);
    const int length = PQgetlength(query->result, query->row, column);
    if ((type != OID_INT8 || length != 8) && (type != OID_INT4 || length != 4) && (type != OID_BOOL || length != 1)) {
        return 0;
    }
    const unsigned char *bytes = (const unsigned char *)PQgetvalue(query->result, query->row, column);
    uint64_t bits = type == OID_INT4 && bytes[0] >= 0x80 ? UINT64_MAX : 0; /* the sign */
    for (int i = 0; i < length; i++) {
        bits = bits << 8 | bytes[i];
    }
    return (int64_t)bits;
}

static const unsigned char *column_bytes(tacet__query *base, int column, size_t *size) {
    static const unsigned char NONE[1] = {0};
    const tacet__pg_statement *query = (const tacet__pg_statement *)base;
    *size = 0;
    if (!has_value(query, column)) {
        return NONE;
    }
    const Oid type = PQftype(query->result, column);
    if (type != OID_BYTEA && type != OID_TEXT && type != OID_NAME && type != OID_VARCHAR) {
        return NONE;
    }
    *size = (size_t)PQgetlength(query->result, query->row, column);
    return (const unsigned char *)PQgetvalue(query->result, query->row, column);
}

static void reset(tacet__query *base) {
    tacet__pg_statement *query = (tacet__pg_statement *)base;
    PQclear(query->result);
    query->result = NULL;
    query->row = -1;
    query->bind_error = false;
    memset(query->values, 0, sizeof query->values);
    memset(query->lengths, 0, sizeof query->lengths);
}

static const tacet__backend POSTGRES = {
    .shared = true,
    .close = close_store,
    .creating = creating,
    .exec = exec,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .settle = settle,
    .touch = touch,
    .relax = relax,
    .prepare = prepare,
    .free_query = free_query,
    .bind_int = bind_int,
    .bind_bytes = bind_bytes,
    .bind_text = bind_text,
    .step = step,
    .send = send,
    .ahead = ahead,
    .column_int = column_int,
    .column_bytes = column_bytes,
    .reset = reset,
};

/* "url#schema" into its parts. A schema's name is of a-z 0-9 _ -, so it needs no quoting inside quotes. */
static tacet_status take_url(tacet__pg_store *db, const char *url, tacet_error *err) {
    const char *hash = strrchr(url, '#');
    const char *schema = hash == NULL ? "public" : hash + 1;
    const size_t length = hash == NULL ? strlen(url) : (size_t)(hash - url);
    const size_t name = strlen(schema);
    if (name == 0 || name > TACET__PG_SCHEMA_MOST || strspn(schema, "abcdefghijklmnopqrstuvwxyz0123456789_-") != name) {
        return tacet__fail(err, TACET_INVALID, "the URL of the store names no schema behind its '#'");
    }
    memcpy(db->schema, schema, name + 1);
    db->url = TACET__ZALLOC(char, length + 1);
    if (db->url == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory connecting to the store");
    }
    memcpy(db->url, url, length);
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(db->url, &why);
    const bool good = options != NULL;
    const bool no_memory = !good && (why == NULL || strstr(why, "out of memory") != NULL);
    PQconninfoFree(options);
    PQfreemem(why); /* could show the password */
    if (no_memory) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory connecting to the store");
    }
    return good ? TACET_OK : tacet__fail(err, TACET_INVALID, "the URL of the store is malformed");
}

tacet_status tacet__postgres_open(tacet__db **out, const char *url, const tacet__db_settings *settings,
                                  tacet_error *err) {
    *out = NULL;
    tacet__pg_store *db = TACET__ZALLOC(tacet__pg_store, 1);
    if (db == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory connecting to the store");
    }
    db->base.backend = &POSTGRES;
    db->busy_ms = settings->busy_ms;
    db->read_only = settings->read_only;
    tacet_status status = take_url(db, url, err);
    TACET_THEN(status, tacet__pg_open(db, err));
    if (status == TACET_OK) {
        bool there = false;
        status = find_schema(db, &there, err);
        db->missing = !there;
    }
    if (status == TACET_OK && db->missing && (!settings->create || settings->read_only)) {
        status = tacet__fail(err, TACET_NOT_FOUND, "the database has no schema %s", db->schema);
    }
    if (status != TACET_OK) {
        close_store(&db->base);
        return status;
    }
    *out = &db->base;
    return TACET_OK;
}
