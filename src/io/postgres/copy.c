/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - COPY … TO STDOUT (FORMAT csv) through libpq.
 * Ring: io. Source: PostgreSQL's documentation of COPY. Names are quoted by libpq; besides names only numbers that are
 * printed here come into a statement, because COPY takes no parameters. Numbers are cast to double precision by the
 * server, which rounds to the nearest, and printed with the digits that give the same double back. Cost: one message a
 * row; constant memory. */
#include "io/db/copy.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/postgres/postgres_wait.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECT_MS = 5000,
    WAIT_MS = 600000, /* for a row: a server that sorts a large table first takes its time */
    NAME_MOST = 200,
};

struct tacet__copy {
    PGconn *connection;
    char *table;   /* for messages */
    Oid *types;    /* of the columns, then of a value */
    char *message; /* of libpq: a line */
};

/* libpq's message without its line ends. */
static tacet_status lost(const tacet__copy *c, const char *doing, tacet_error *err) {
    char line[160];
    (void)snprintf(line, sizeof line, "%s", PQerrorMessage(c->connection));
    line[strcspn(line, "\n")] = '\0';
    return tacet__fail(err, TACET_IO, "%s: %s: the database went away: %s", c->table, doing, line);
}

/* The server's primary message names what is wrong; its detail, which could show values, is left out. So is the whole
 * of a message about data (class 22). */
static tacet_status refused(const tacet__copy *c, const PGresult *result, const char *doing, tacet_error *err) {
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (code == NULL || PQstatus(c->connection) != CONNECTION_OK || strncmp(code, "57P", 3) == 0) {
        return lost(c, doing, err);
    }
    const bool data = strncmp(code, "22", 2) == 0;
    const tacet_status status = strcmp(code, "42P01") == 0 || strcmp(code, "42703") == 0 || strncmp(code, "3", 1) == 0
                                    ? TACET_NOT_FOUND
                                : strcmp(code, "42501") == 0 || strncmp(code, "28", 2) == 0 ? TACET_DENIED
                                : data                                                      ? TACET_PARSE
                                                                                            : TACET_IO;
    return tacet__fail(err, status, "%s: %s: %.200s", c->table, doing,
                       data           ? "a value cannot be converted"
                       : text != NULL ? text
                                      : code);
}

static tacet_status run(tacet__copy *c, const char *sql, ExecStatusType wanted, PGresult **out, const char *doing,
                        tacet_error *err) {
    bool late = false;
    const int sent = PQsendQuery(c->connection, sql);
    PGresult *result = wanted == PGRES_COPY_OUT && sent == 1
                           ? tacet__pg_next(c->connection, tacet__pg_now() + WAIT_MS, &late)
                           : tacet__pg_take(c->connection, sent, tacet__pg_now() + WAIT_MS, &late);
    const tacet_status status = PQresultStatus(result) == wanted ? TACET_OK : refused(c, result, doing, err);
    if (out != NULL && status == TACET_OK) {
        *out = result;
    } else {
        PQclear(result);
    }
    return status;
}

static tacet_status connect_to(tacet__copy *c, const char *url, tacet_error *err) {
    const char *const keys[] = {"connect_timeout", "tcp_user_timeout", "fallback_application_name", "dbname", NULL};
    char *plain = strndup(url, strcspn(url, "#"));
    if (plain == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory connecting to a database");
    }
    const char *const values[] = {"5", "30000", "tacet", plain, NULL};
    c->connection = tacet__pg_connect(keys, values, CONNECT_MS);
    free(plain);
    if (PQstatus(c->connection) != CONNECTION_OK) {
        char line[160];
        (void)snprintf(line, sizeof line, "%s",
                       PQstatus(c->connection) == CONNECTION_BAD ? PQerrorMessage(c->connection)
                                                                 : "the server does not answer");
        line[strcspn(line, "\n")] = '\0';
        return tacet__fail(err, TACET_IO, "cannot connect to the database of %s: %s", c->table, line);
    }
    (void)PQsetnonblocking(c->connection, 1);
    /* All rows, or a refusal: row security that hides some is an error. A scan that begins where another one is would
     * number the rows anew. */
    return run(c,
               "SET client_min_messages=error; SET row_security=off; SET synchronize_seqscans=off;"
               "SET extra_float_digits=1; SET datestyle='ISO, YMD'; SET statement_timeout=0;"
               "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
               PGRES_COMMAND_OK, NULL, "connecting", err);
}

/* A growing text. */
typedef struct text {
    char *bytes;
    size_t length, capacity;
    bool lacking;
} text;

static void add(text *t, const char *bytes) {
    const size_t length = strlen(bytes);
    t->lacking = t->lacking || !tacet__grow((void **)&t->bytes, &t->capacity, t->length + length + 1, 1);
    if (!t->lacking) {
        memcpy(t->bytes + t->length, bytes, length + 1);
        t->length += length;
    }
}

static void add_name(text *t, PGconn *connection, const char *name, size_t length) {
    char *quoted = PQescapeIdentifier(connection, name, length);
    t->lacking = t->lacking || quoted == NULL;
    add(t, quoted != NULL ? quoted : "");
    PQfreemem(quoted);
}

static void add_table(text *t, PGconn *connection, const char *table) {
    const char *dot = strchr(table, '.');
    if (dot != NULL) {
        add_name(t, connection, table, (size_t)(dot - table));
        add(t, ".");
    }
    add_name(t, connection, dot != NULL ? dot + 1 : table, strlen(dot != NULL ? dot + 1 : table));
}

/* SELECT columns FROM table, each with its cast. */
static void add_select(text *sql, const tacet__copy *c, const tacet__copy_wanted *w) {
    add(sql, "SELECT ");
    for (size_t i = 0; i < w->count; i++) {
        add(sql, i > 0 ? "," : "");
        add_name(sql, c->connection, w->columns[i], strlen(w->columns[i]));
        add(sql, i < w->numbers ? "::pg_catalog.float8 AS " : "::pg_catalog.text AS ");
        add_name(sql, c->connection, w->columns[i], strlen(w->columns[i]));
    }
    add(sql, " FROM ");
    add_table(sql, c->connection, w->table);
}

enum { FLOAT4 = 700 };

static bool is_number(Oid type) {
    static const Oid NUMBERS[] = {20, 21, 23, FLOAT4, 701, 1700}; /* int8, int2, int4, float4, float8, numeric */
    bool number = false;
    for (size_t k = 0; k < sizeof NUMBERS / sizeof NUMBERS[0]; k++) {
        number = number || type == NUMBERS[k];
    }
    return number;
}

/* Of numbers the server's cast is the nearest double; what is text there might hold anything, and a message of the
 * server about it would show it. */
static tacet_status check_types(tacet__copy *c, const tacet__copy_wanted *w, tacet_error *err) {
    text sql = {0};
    PGresult *found = NULL;
    add(&sql, "SELECT ");
    for (size_t i = 0; i < w->count; i++) {
        add(&sql, i > 0 ? "," : "");
        add_name(&sql, c->connection, w->columns[i], strlen(w->columns[i]));
    }
    if (w->groups != NULL) {
        add(&sql, w->count > 0 ? "," : "");
        add_name(&sql, c->connection, w->groups->value, strlen(w->groups->value));
    }
    add(&sql, " FROM ");
    add_table(&sql, c->connection, w->table);
    add(&sql, " LIMIT 0");
    c->types = TACET__ZALLOC(Oid, w->count + 1);
    tacet_status status = sql.lacking || c->types == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", c->table)
                              : run(c, sql.bytes, PGRES_TUPLES_OK, &found, "looking at its columns", err);
    for (size_t i = 0; i < w->count + (w->groups != NULL ? 1 : 0) && status == TACET_OK; i++) {
        c->types[i] = PQftype(found, (int)i);
        if ((i < w->numbers || i == w->count) && !is_number(c->types[i])) {
            status = tacet__fail(err, TACET_INVALID,
                                 "%s: column '%s' is no number in the database; a --space says what else it may be",
                                 c->table, i < w->count ? w->columns[i] : w->groups->value);
        }
    }
    PQclear(found);
    free(sql.bytes);
    return status;
}

/* --- counted by the server --- */

static void add_number(text *t, double x) {
    char digits[64];
    (void)snprintf(digits, sizeof digits, "'%.17g'", x);
    add(t, digits);
}

/* A column as a double: the one that its text is read as. */
static void add_double(text *t, const tacet__copy *c, const char *column, Oid type) {
    add_name(t, c->connection, column, strlen(column));
    add(t, type == FLOAT4 ? "::pg_catalog.text::pg_catalog.float8" : "::pg_catalog.float8");
}

/* Column i as a text that stands for its group. */
static void add_axis(text *t, const tacet__copy *c, const tacet__copy_wanted *w, size_t i) {
    const tacet__copy_axis *axis = &w->groups->axes[i];
    const char *name = w->columns[i];
    if (axis->edges == NULL || !is_number(c->types[i])) {
        add_name(t, c->connection, name, strlen(name));
        add(t, "::pg_catalog.text");
        return;
    }
    add(t, "CASE WHEN ");
    add_double(t, c, name, c->types[i]);
    add(t, " IN ('NaN','Infinity','-Infinity') THEN ");
    add_double(t, c, name, c->types[i]);
    add(t, "::pg_catalog.text ");
    if (axis->whole) {
        add(t, "WHEN ");
        add_double(t, c, name, c->types[i]);
        add(t, " <> pg_catalog.floor(");
        add_double(t, c, name, c->types[i]);
        add(t, ") THEN '0.5' ");
    }
    add(t, "ELSE (ARRAY[");
    add_number(t, axis->whole ? axis->edges[0] - 1 : nextafter(axis->edges[0], -INFINITY));
    for (size_t k = 0; k < axis->count; k++) {
        add(t, ",");
        add_number(t, axis->edges[k]);
    }
    add(t, "]::pg_catalog.text[])[1 + pg_catalog.width_bucket(");
    add_double(t, c, name, c->types[i]);
    add(t, ",ARRAY[");
    for (size_t k = 0; k < axis->count; k++) {
        add(t, k > 0 ? "," : "");
        add_number(t, axis->edges[k]);
    }
    add(t, "]::pg_catalog.float8[])] END");
}

/* The value v in whole steps, by the operations of tacet_tally_steps: the server's are those of the same doubles, and
 * its round() is the nearest, even where two are. */
static void add_steps(text *t, const tacet__copy_groups *g) {
    char ends[512];
    (void)snprintf(ends, sizeof ends,
                   "CASE WHEN NOT v > '%.17g' THEN 0 WHEN v >= '%.17g' THEN %" PRId64
                   " ELSE pg_catalog.round((v - '%.17g') / ('%.17g'::pg_catalog.float8 - '%.17g') * %" PRId64
                   ")::pg_catalog.int8 END AS s",
                   g->lo, g->top, g->one, g->lo, g->top, g->lo, g->one);
    add(t, ends);
}

static void add_grouped(text *t, const tacet__copy *c, const tacet__copy_wanted *w) {
    const tacet__copy_groups *g = w->groups;
    char sums[200], alias[32];
    add(t, "SELECT ");
    for (size_t i = 0; i < w->count; i++) {
        (void)snprintf(alias, sizeof alias, "a%zu AS ", i);
        add(t, alias);
        add_name(t, c->connection, w->columns[i], strlen(w->columns[i]));
        add(t, ",");
    }
    add(t, "pg_catalog.count(*) AS rows");
    if (w->count == 0) {
        add(t, " FROM ");
        add_table(t, c->connection, w->table);
        return;
    }
    (void)snprintf(sums, sizeof sums,
                   ",pg_catalog.sum(s) AS steps,pg_catalog.sum(s * (%" PRId64 " - s) / %" PRId64
                   ") AS parts,pg_catalog.count(*) FILTER (WHERE v IS NULL OR v IN ('NaN','Infinity','-Infinity')) AS "
                   "none FROM (SELECT *,",
                   g->one, g->part);
    add(t, sums);
    add_steps(t, g);
    add(t, " FROM (SELECT ");
    for (size_t i = 0; i < w->count; i++) {
        add_axis(t, c, w, i);
        (void)snprintf(alias, sizeof alias, " AS a%zu,", i);
        add(t, alias);
    }
    add_double(t, c, g->value, c->types[w->count]);
    add(t, " AS v FROM ");
    add_table(t, c->connection, w->table);
    add(t, ") AS each) AS counted GROUP BY ");
    for (size_t i = 0; i < w->count; i++) {
        (void)snprintf(alias, sizeof alias, "%sa%zu", i > 0 ? "," : "", i);
        add(t, alias);
    }
}

static tacet_status begin(tacet__copy *c, const tacet__copy_wanted *w, tacet_error *err) {
    text sql = {0};
    add(&sql, "COPY (");
    if (w->groups != NULL) {
        add_grouped(&sql, c, w);
    } else {
        add_select(&sql, c, w);
    }
    if (w->order != NULL) {
        add(&sql, " ORDER BY ");
        add_table(&sql, c->connection, w->table); /* the table's column, not the one of the same name that was cast */
        add(&sql, ".");
        add_name(&sql, c->connection, w->order, strlen(w->order));
    }
    add(&sql, ") TO STDOUT (FORMAT csv, HEADER)");
    PGresult *result = NULL;
    const tacet_status status = sql.lacking ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", c->table)
                                            : run(c, sql.bytes, PGRES_COPY_OUT, &result, "reading it", err);
    PQclear(result);
    free(sql.bytes);
    return status;
}

tacet_status tacet__copy_open(tacet__copy **out, const tacet__copy_wanted *wanted, tacet_error *err) {
    *out = NULL;
    const char *dot = strchr(wanted->table, '.');
    if (wanted->table[0] == '\0' || strlen(wanted->table) > NAME_MOST ||
        (dot != NULL && strchr(dot + 1, '.') != NULL)) {
        return tacet__fail(err, TACET_INVALID, "a table is called NAME or SCHEMA.NAME");
    }
    tacet__copy *c = TACET__ZALLOC(tacet__copy, 1);
    char *table = strdup(wanted->table);
    if (c == NULL || table == NULL) {
        free(c);
        free(table);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", wanted->table);
    }
    c->table = table;
    tacet_status status = connect_to(c, wanted->url, err);
    TACET_THEN(status, check_types(c, wanted, err));
    TACET_THEN(status, begin(c, wanted, err));
    if (status != TACET_OK) {
        tacet__copy_close(c);
        return status;
    }
    *out = c;
    return TACET_OK;
}

tacet_status tacet__copy_read(tacet__copy *c, const char **bytes, size_t *count, tacet_error *err) {
    *count = 0;
    PQfreemem(c->message);
    c->message = NULL;
    for (uint64_t until = 0;;) { /* most messages are here already: the clock is asked when one is waited for */
        const int size = PQgetCopyData(c->connection, &c->message, 1);
        if (size > 0) {
            *bytes = c->message;
            *count = (size_t)size;
            return TACET_OK;
        }
        until = until != 0 ? until : tacet__pg_now() + WAIT_MS;
        if (size == -1) { /* the end, which counts when the statement is known to have succeeded */
            bool late = false;
            PGresult *result = tacet__pg_take(c->connection, 1, until, &late);
            const tacet_status status =
                PQresultStatus(result) == PGRES_COMMAND_OK ? TACET_OK : refused(c, result, "reading it", err);
            PQclear(result);
            return status;
        }
        struct pollfd fd = {.fd = PQsocket(c->connection), .events = POLLIN};
        if (size < 0 || fd.fd < 0 || tacet__pg_now() >= until || poll(&fd, 1, 1000) < 0 ||
            (fd.revents != 0 && PQconsumeInput(c->connection) != 1)) {
            return lost(c, "reading it", err);
        }
    }
}

void tacet__copy_close(tacet__copy *c) {
    if (c == NULL) {
        return;
    }
    PQfreemem(c->message);
    PQfinish(c->connection);
    free(c->types);
    free(c->table);
    free(c);
}
