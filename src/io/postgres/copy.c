/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - COPY … TO STDOUT (FORMAT binary) through libpq.
 * Ring: io. Source: PostgreSQL's documentation of COPY, "Binary Format": a signature and a header, then for each row
 * the number of its cells and of each its length and bytes, in network order; -1 ends it. Numbers are cast to double
 * precision by the server, which rounds to the nearest. It makes an allocation and several calls for each cell it
 * sends, which took longer than all else; so up to four numbers come as one cell, a pair as a point and four as a line
 * segment, whose bytes are those of their coordinates. One that is missing makes such a cell missing: to tell which it
 * was, the rows are read again in the same snapshot, a cell each. A server makes one statement with one processor, so
 * a table is also read in ranges of pages, over connections that take part in the snapshot of the first one. Cost: one
 * message a row; constant memory. */
#include "io/db/copy.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/postgres/postgres_wait.h"

#include <endian.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECT_MS = 5000,
    WAIT_MS = 600000, /* for a row: a server that sorts a large table first takes its time */
    NAME_MOST = 200,
    HEAD = 19, /* signature of 11 bytes, flags, length of the extension */
    SNAPSHOT_MOST = 64,
    RANGES_SINCE = 140000, /* the server that scans a range of places in a table, and not all of it */
};

struct tacet__copy {
    PGconn *connection;
    const tacet__copy_wanted *wanted; /* the caller's */
    char *table;                      /* for messages */
    size_t count;
    size_t pages;                 /* 0: read as a whole */
    char snapshot[SNAPSHOT_MOST]; /* its name; "": none */
    size_t first, end;            /* the pages that are being read */
    size_t rows;                  /* of them, read so far */
    bool text, ended, begun;
    bool packed;   /* several numbers in a cell */
    char *message; /* of libpq; rows are read from it */
    size_t at, size;
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
    char sql[400];
    /* All rows, or a refusal: row security that hides some is an error. A scan that begins where another one is would
     * number the rows anew. */
    (void)snprintf(sql, sizeof sql,
                   "SET client_min_messages=error; SET row_security=off; SET synchronize_seqscans=off;"
                   "SET extra_float_digits=1; SET datestyle='ISO, YMD'; SET statement_timeout=0;"
                   "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY%s%s%s",
                   c->snapshot[0] != '\0' ? "; SET TRANSACTION SNAPSHOT '" : "", c->snapshot,
                   c->snapshot[0] != '\0' ? "'" : "");
    return run(c, sql, PGRES_COMMAND_OK, NULL, "connecting", err);
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

/* Of numbers the server's cast is the nearest double; what is text there might hold anything, and a message of the
 * server about it would show it. */
static tacet_status check_types(tacet__copy *c, const tacet__copy_wanted *w, const char *table, tacet_error *err) {
    static const Oid NUMBERS[] = {20, 21, 23, 700, 701, 1700}; /* int8, int2, int4, float4, float8, numeric */
    text sql = {0};
    PGresult *found = NULL;
    add(&sql, "SELECT ");
    for (size_t i = 0; i < w->count; i++) {
        add(&sql, i > 0 ? "," : "");
        add_name(&sql, c->connection, w->columns[i], strlen(w->columns[i]));
    }
    add(&sql, " FROM ");
    add(&sql, table);
    add(&sql, " LIMIT 0");
    tacet_status status = sql.lacking ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", c->table)
                                      : run(c, sql.bytes, PGRES_TUPLES_OK, &found, "looking at its columns", err);
    for (size_t i = 0; i < w->count && status == TACET_OK && !w->text; i++) {
        bool number = false;
        for (size_t k = 0; k < sizeof NUMBERS / sizeof NUMBERS[0]; k++) {
            number = number || PQftype(found, (int)i) == NUMBERS[k];
        }
        if (!number) {
            status = tacet__fail(err, TACET_INVALID,
                                 "%s: column '%s' is no number in the database; a --space says what else it may be",
                                 c->table, w->columns[i]);
        }
    }
    PQclear(found);
    free(sql.bytes);
    return status;
}

/* Numbers in the cell that begins with column i. */
static size_t packed_at(const tacet__copy *c, size_t i) {
    const size_t left = c->count - i;
    return !c->packed || left == 1 ? 1 : left < 4 ? 2 : 4;
}

static void add_numbers(text *sql, const tacet__copy *c, size_t i, size_t together) {
    static const char *const OPEN[] = {"", "", "pg_catalog.point(", "", "pg_catalog.lseg("};
    add(sql, OPEN[together]);
    for (size_t k = 0; k < together; k++) {
        add(sql, k > 0 ? "," : "");
        add(sql, together == 4 && k % 2 == 0 ? OPEN[2] : "");
        add_name(sql, c->connection, c->wanted->columns[i + k], strlen(c->wanted->columns[i + k]));
        add(sql, c->text ? "::pg_catalog.text" : "::pg_catalog.float8");
        add(sql, together == 4 && k % 2 == 1 ? ")" : "");
    }
    add(sql, together > 1 ? ")" : "");
}

/* How many pages the table has, and the name of the snapshot, where it can be read in ranges: rows are stored in its
 * own pages and in no other table's. */
static tacet_status find_pages(tacet__copy *c, const char *table, tacet_error *err) {
    if (c->wanted->order != NULL || PQserverVersion(c->connection) < RANGES_SINCE) {
        return TACET_OK;
    }
    text sql = {0};
    PGresult *found = NULL;
    char *literal = PQescapeLiteral(c->connection, table, strlen(table));
    add(&sql, "SELECT pg_catalog.pg_relation_size(oid) / pg_catalog.current_setting('block_size')::int8,"
              " pg_catalog.pg_export_snapshot() FROM pg_catalog.pg_class WHERE relkind = 'r' AND NOT relhassubclass"
              " AND relam = (SELECT oid FROM pg_catalog.pg_am WHERE amname = 'heap')"
              " AND NOT pg_catalog.pg_is_in_recovery() AND oid = ");
    add(&sql, literal != NULL ? literal : "");
    add(&sql, "::pg_catalog.regclass");
    tacet_status status = sql.lacking || literal == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", c->table)
                              : run(c, sql.bytes, PGRES_TUPLES_OK, &found, "looking at its pages", err);
    if (status == TACET_OK && PQntuples(found) == 1 && strlen(PQgetvalue(found, 0, 1)) < sizeof c->snapshot) {
        c->pages = (size_t)strtoull(PQgetvalue(found, 0, 0), NULL, 10);
        (void)snprintf(c->snapshot, sizeof c->snapshot, "%s", PQgetvalue(found, 0, 1));
    }
    PQclear(found);
    PQfreemem(literal);
    free(sql.bytes);
    return status;
}

static tacet_status look_at_table(tacet__copy *c, tacet_error *err) {
    text table = {0};
    add_table(&table, c->connection, c->wanted->table);
    tacet_status status = table.lacking ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", c->table)
                                        : check_types(c, c->wanted, table.bytes, err);
    status = status != TACET_OK ? status : find_pages(c, table.bytes, err);
    free(table.bytes);
    return status;
}

static void add_range(text *sql, const tacet__copy *c) {
    char limits[120];
    if (c->first > 0 || c->end != SIZE_MAX) {
        (void)snprintf(limits, sizeof limits, " WHERE ctid >= '(%zu,0)'", c->first);
        add(sql, limits);
    }
    if (c->end != SIZE_MAX) {
        (void)snprintf(limits, sizeof limits, " AND ctid < '(%zu,0)'", c->end);
        add(sql, limits);
    }
}

static tacet_status begin(tacet__copy *c, tacet_error *err) {
    const tacet__copy_wanted *w = c->wanted;
    text sql = {0};
    add(&sql, "COPY (SELECT ");
    for (size_t i = 0; i < w->count; i += packed_at(c, i)) {
        add(&sql, i > 0 ? "," : "");
        add_numbers(&sql, c, i, packed_at(c, i));
    }
    add(&sql, " FROM ");
    add_table(&sql, c->connection, w->table);
    add_range(&sql, c);
    if (w->order != NULL) {
        add(&sql, " ORDER BY ");
        add_name(&sql, c->connection, w->order, strlen(w->order));
    }
    add(&sql, ") TO STDOUT (FORMAT binary)");
    PGresult *result = NULL;
    const tacet_status status = sql.lacking ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", c->table)
                                            : run(c, sql.bytes, PGRES_COPY_OUT, &result, "reading it", err);
    c->ended = c->begun = false;
    c->at = c->size = c->rows = 0;
    PQclear(result);
    free(sql.bytes);
    return status;
}

/* A connection, in the snapshot of that name or in one of its own. */
static tacet_status open_copy(tacet__copy **out, const tacet__copy_wanted *wanted, const char *snapshot,
                              tacet_error *err) {
    *out = NULL;
    tacet__copy *c = TACET__ZALLOC(tacet__copy, 1);
    char *table = strdup(wanted->table);
    if (c == NULL || table == NULL) {
        free(c);
        free(table);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", wanted->table);
    }
    c->wanted = wanted;
    c->table = table;
    c->count = wanted->count;
    c->text = wanted->text;
    c->packed = !wanted->text;
    (void)snprintf(c->snapshot, sizeof c->snapshot, "%s", snapshot);
    const tacet_status status = connect_to(c, wanted->url, err);
    if (status != TACET_OK) {
        tacet__copy_close(c);
        return status;
    }
    *out = c;
    return TACET_OK;
}

tacet_status tacet__copy_open(tacet__copy **out, const tacet__copy_wanted *wanted, tacet_error *err) {
    *out = NULL;
    const char *dot = strchr(wanted->table, '.');
    if (wanted->table[0] == '\0' || strlen(wanted->table) > NAME_MOST ||
        (dot != NULL && strchr(dot + 1, '.') != NULL)) {
        return tacet__fail(err, TACET_INVALID, "a table is called NAME or SCHEMA.NAME");
    }
    tacet_status status = open_copy(out, wanted, "", err);
    status = status != TACET_OK ? status : look_at_table(*out, err);
    if (status != TACET_OK) {
        tacet__copy_close(*out);
        *out = NULL;
    }
    return status;
}

size_t tacet__copy_pages(const tacet__copy *c) {
    return c->pages;
}

tacet_status tacet__copy_join(tacet__copy **out, const tacet__copy *c, tacet_error *err) {
    return open_copy(out, c->wanted, c->snapshot, err);
}

tacet_status tacet__copy_begin(tacet__copy *c, size_t first, size_t end, tacet_error *err) {
    c->first = first;
    c->end = end;
    return begin(c, err);
}

/* The next message, or the end of the statement, which so is known to have succeeded. */
static tacet_status next_message(tacet__copy *c, bool *end, tacet_error *err) {
    *end = false;
    PQfreemem(c->message);
    c->message = NULL;
    for (uint64_t until = 0;;) { /* most messages are here already: the clock is asked when one is waited for */
        const int size = PQgetCopyData(c->connection, &c->message, 1);
        if (size > 0) {
            c->at = 0;
            c->size = (size_t)size;
            return TACET_OK;
        }
        until = until != 0 ? until : tacet__pg_now() + WAIT_MS;
        if (size == -1) {
            bool late = false;
            PGresult *result = tacet__pg_take(c->connection, 1, until, &late);
            *end = PQresultStatus(result) == PGRES_COMMAND_OK;
            const tacet_status status = *end ? TACET_OK : refused(c, result, "reading it", err);
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

static bool take(tacet__copy *c, size_t size, const char **out) {
    if (c->size - c->at < size) {
        return false;
    }
    *out = c->message + c->at;
    c->at += size;
    return true;
}

static uint32_t number32(const char *bytes) {
    uint32_t x = 0;
    memcpy(&x, bytes, sizeof x);
    return be32toh(x);
}

static bool take_head(tacet__copy *c) {
    static const char SIGNATURE[11] = "PGCOPY\n\377\r\n"; /* and a zero */
    const char *head = NULL;
    const char *extension = NULL;
    return take(c, HEAD, &head) && memcmp(head, SIGNATURE, sizeof SIGNATURE) == 0 &&
           take(c, number32(head + HEAD - 4), &extension);
}

static void take_numbers(tacet__copy_cell *cells, const char *bytes, size_t count) {
    for (size_t k = 0; k < count; k++) {
        uint64_t bits = 0;
        memcpy(&bits, bytes + k * sizeof bits, sizeof bits);
        bits = be64toh(bits);
        cells[k].missing = false;
        memcpy(&cells[k].number, &bits, sizeof bits);
    }
}

/* The cells of one cell of the server. */
static bool take_cells(tacet__copy *c, tacet__copy_cell *cells, size_t together) {
    const char *bytes = NULL;
    if (!take(c, 4, &bytes)) {
        return false;
    }
    const uint32_t length = number32(bytes);
    if (length == UINT32_MAX) {
        for (size_t k = 0; k < together; k++) {
            cells[k] = (tacet__copy_cell){.missing = true};
        }
        return true;
    }
    if (!take(c, length, &bytes) || (!c->text && length != together * sizeof(double))) {
        return false;
    }
    if (c->text) {
        cells[0] = (tacet__copy_cell){.text = bytes, .length = length};
    } else {
        take_numbers(cells, bytes, together);
    }
    return true;
}

static tacet_status next_row(tacet__copy *c, tacet__copy_cell *cells, bool *found, bool *torn, tacet_error *err);

/* Reads what is left, then all from the start, a cell each, up to the row before this one: the transaction's snapshot
 * is the same. */
static tacet_status unpack(tacet__copy *c, tacet__copy_cell *cells, tacet_error *err) {
    const size_t rows = c->rows;
    bool found = true;
    bool torn = false;
    tacet_status status = TACET_OK;
    while (status == TACET_OK && found) {
        status = next_row(c, cells, &found, &torn, err);
    }
    c->packed = false;
    status = status != TACET_OK ? status : begin(c, err);
    found = true;
    while (status == TACET_OK && found && c->rows < rows) {
        status = next_row(c, cells, &found, &torn, err);
    }
    return status;
}

/* The next row; *torn: a cell of several numbers is missing. */
static tacet_status next_row(tacet__copy *c, tacet__copy_cell *cells, bool *found, bool *torn, tacet_error *err) {
    bool end = false;
    *found = *torn = false;
    while (!c->ended && c->at == c->size) { /* the head may come alone */
        const tacet_status status = next_message(c, &end, err);
        if (status != TACET_OK || end) {
            return status != TACET_OK ? status : tacet__fail(err, TACET_IO, "%s: the rows have no end", c->table);
        }
        if (!c->begun && !take_head(c)) {
            return tacet__fail(err, TACET_IO, "%s: the server's answer is not that of COPY", c->table);
        }
        c->begun = true;
    }
    if (c->ended) {
        return TACET_OK;
    }
    const char *bytes = NULL;
    bool good = take(c, 2, &bytes);
    const unsigned count = good ? (unsigned)(unsigned char)bytes[0] << 8 | (unsigned char)bytes[1] : 0;
    if (good && count == UINT16_MAX) {
        const tacet_status status = next_message(c, &end, err);
        c->ended = status == TACET_OK && end;
        return status != TACET_OK || end ? status : tacet__fail(err, TACET_IO, "%s: rows behind the end", c->table);
    }
    size_t taken = 0;
    for (size_t i = 0; i < c->count && good; taken++) {
        const size_t together = packed_at(c, i);
        good = take_cells(c, cells + i, together);
        *torn = *torn || (good && together > 1 && cells[i].missing);
        i += together;
    }
    *found = good && count == taken;
    c->rows += *found;
    return *found ? TACET_OK : tacet__fail(err, TACET_IO, "%s: the server's answer is not that of COPY", c->table);
}

tacet_status tacet__copy_next(tacet__copy *c, tacet__copy_cell *cells, bool *found, tacet_error *err) {
    bool torn = false;
    tacet_status status = next_row(c, cells, found, &torn, err);
    if (status == TACET_OK && torn) {
        *found = false;
        c->rows--;
        status = unpack(c, cells, err);
        status = status != TACET_OK ? status : next_row(c, cells, found, &torn, err);
    }
    return status;
}

void tacet__copy_close(tacet__copy *c) {
    if (c == NULL) {
        return;
    }
    PQfreemem(c->message);
    PQfinish(c->connection);
    free(c->table);
    free(c);
}
