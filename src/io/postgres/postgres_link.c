/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_link.c - one connection to PostgreSQL: what is sent, what is queued, what the answers mean, and connecting
 * again.
 * Ring: io. Durability is the server's: synchronous_commit=on, set here, whatever the server's default. Messages carry
 * the server's primary message and never its detail, which could show values.
 * Cost: one round trip for a statement, none for one that is queued, one for the queue. */
#include "io/postgres/postgres_link.h"

#include "core/fail.h"
#include "io/postgres/postgres_wait.h"

#include <stdio.h>
#include <string.h>

enum {
    CONNECT_MS = 3000,  /* for a connection, whatever the URL says */
    PATIENCE_MS = 5000, /* for an answer, beyond the time that a lock may take */
    UNSYNCED_BYTES = 4096
};

typedef struct code_status {
    char code[6]; /* an SQLSTATE, or the two characters of its class */
    tacet_status status;
} code_status;

/* The first that fits. https://www.postgresql.org/docs/15/errcodes-appendix.html */
static const code_status CODES[] = {
    {"55P03", TACET_BUSY}, /* lock_timeout */
    {"40", TACET_BUSY},    /* serialisation, deadlock: try again */
    {"53300", TACET_BUSY}, /* too many connections */
    {"57P03", TACET_BUSY}, /* starting up */
    {"53200", TACET_IO},   /* the server's memory, not ours */
    {"53", TACET_IO},      /* disk full and the like */
    {"57", TACET_IO},      /* shut down, crashed */
    {"58", TACET_IO},        {"08", TACET_IO},          {"25006", TACET_DENIED}, /* read-only transaction */
    {"25P03", TACET_IO}, /* idle for too long, connection ended */
    {"42501", TACET_DENIED}, {"28", TACET_DENIED},      {"3D", TACET_NOT_FOUND},
    {"23", TACET_CONFLICT},  {"P0001", TACET_CONFLICT}, /* RAISE EXCEPTION of a trigger */
    {"54", TACET_OVERFLOW},  {"XX", TACET_CORRUPT},
};

static tacet_status from_code(const char *code) {
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++) {
        if (strncmp(code, CODES[i].code, strlen(CODES[i].code)) == 0) {
            return CODES[i].status;
        }
    }
    return TACET_STATE; /* wrong SQL: an error of the caller */
}

static uint64_t patience(const tacet__pg_store *db) {
    return tacet__pg_now() + db->busy_ms + PATIENCE_MS;
}

PGresult *tacet__pg_result(tacet__pg_store *db, int sent) {
    return tacet__pg_take(db->connection, sent, patience(db), &db->late);
}

/* libpq's message without its line ends. */
static void one_line(char *out, size_t size, const char *text) {
    (void)snprintf(out, size, "%s", text);
    for (char *c = out; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\r' || *c == '\t') {
            *c = c[1] == '\0' ? '\0' : ' ';
        }
    }
}

tacet_status tacet__pg_fail(const tacet__pg_store *db, const PGresult *result, const char *doing, tacet_error *err) {
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (db->late) {
        return tacet__fail(err, TACET_IO, "store: %s: the server does not answer", doing);
    }
    if (code == NULL || PQstatus(db->connection) != CONNECTION_OK) {
        char line[160];
        one_line(line, sizeof line, PQerrorMessage(db->connection));
        return tacet__fail(err, TACET_IO, "store: %s: connection lost: %s", doing, line);
    }
    return tacet__fail(err, from_code(code), "store: %s: %s", doing, text == NULL ? code : text);
}

bool tacet__pg_good(const PGresult *result) {
    const ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

tacet_status tacet__pg_run(tacet__pg_store *db, const char *sql, const char *doing, tacet_error *err) {
    PGresult *result = tacet__pg_result(db, PQsendQuery(db->connection, sql));
    const tacet_status status = tacet__pg_good(result) ? TACET_OK : tacet__pg_fail(db, result, doing, err);
    PQclear(result);
    return status;
}

/* The answers up to the next sync, each to its place. The first failure is the outcome. */
static tacet_status take_answers(tacet__pg_store *db, uint64_t until, const char *doing, tacet_error *err) {
    tacet_status status = TACET_OK;
    bool synced = false;
    while (!synced && !db->late && PQstatus(db->connection) == CONNECTION_OK) {
        PGresult *result = tacet__pg_next(db->connection, until, &db->late); /* NULL between two answers */
        const ExecStatusType kind = PQresultStatus(result);
        synced = result != NULL && kind == PGRES_PIPELINE_SYNC;
        if (result != NULL && !synced) {
            PGresult **place = db->taken < db->queued ? db->places[db->taken] : NULL;
            db->taken++;
            if (status == TACET_OK && kind != PGRES_PIPELINE_ABORTED && !tacet__pg_good(result)) {
                status = tacet__pg_fail(db, result, doing, err);
            }
            if (place != NULL && status == TACET_OK) {
                *place = result;
                continue;
            }
        }
        PQclear(result);
    }
    return status == TACET_OK && !synced ? tacet__pg_fail(db, NULL, "receive", err) : status;
}

static tacet_status leave_pipeline(tacet__pg_store *db, tacet_status status, tacet_error *err) {
    db->queued = db->syncs = db->taken = db->unsynced_bytes = 0;
    return PQexitPipelineMode(db->connection) != 1 && status == TACET_OK
               ? tacet__fail(err, TACET_STATE, "store: the pipeline does not end")
               : status;
}

/* A server that waits for the rest of a statement, or for the sync behind it, is not idle in its transaction: whatever
 * it holds it would hold for as long as the rest does not come, if this process stood still or was cut off then. libpq
 * sends what it has by itself from 8 KiB on, so there is a sync before that. */
static tacet_status sync_queue(tacet__pg_store *db, tacet_error *err) {
    db->unsynced_bytes = 0;
    if (PQpipelineSync(db->connection) != 1) {
        return tacet__pg_fail(db, NULL, "send", err);
    }
    db->syncs++;
    return TACET_OK;
}

tacet_status tacet__pg_empty_queue(tacet__pg_store *db, tacet_error *err) {
    if (db->queued == 0) {
        return TACET_OK;
    }
    const uint64_t until = patience(db);
    tacet_status status = sync_queue(db, err);
    for (size_t i = 0; i < db->syncs && !db->late && PQstatus(db->connection) == CONNECTION_OK; i++) {
        tacet_error failure = {0};
        const tacet_status one = take_answers(db, until, "statement", &failure);
        status = status == TACET_OK && one != TACET_OK ? tacet__fail(err, one, "%s", failure.message) : status;
    }
    return leave_pipeline(db, status, err);
}

void tacet__pg_forget_asked(tacet__pg_store *db) {
    for (size_t i = 0; i < db->asked_count; i++) {
        PQclear(db->asked[i].result);
    }
    db->asked_count = 0;
}

tacet_status tacet__pg_enqueue(tacet__pg_store *db, const tacet__pg_statement *query, const char *sql, PGresult **place,
                               tacet_error *err) {
    size_t bytes = 256;
    for (int i = 0; query != NULL && i < query->params; i++) {
        bytes += (size_t)query->lengths[i];
    }
    TACET_OR_RETURN(db->queued < TACET__PG_QUEUE_MOST ? TACET_OK : tacet__pg_empty_queue(db, err));
    if (db->unsynced_bytes > 0 && db->unsynced_bytes + bytes >= UNSYNCED_BYTES) {
        TACET_OR_RETURN(sync_queue(db, err)); /* what is before a large one does not wait for all of it */
    }
    if (db->queued == 0 && PQenterPipelineMode(db->connection) != 1) {
        return tacet__pg_fail(db, NULL, "pipeline", err);
    }
    int formats[TACET__PG_PARAMS_MOST];
    int sent = 0;
    if (query != NULL) {
        for (size_t i = 0; i < TACET__PG_PARAMS_MOST; i++) {
            formats[i] = 1;
        }
        sent =
            PQsendQueryPrepared(db->connection, query->name, query->params, query->values, query->lengths, formats, 1);
    } else {
        sent = PQsendQueryParams(db->connection, sql, 0, NULL, NULL, NULL, NULL, 1);
    }
    if (sent != 1) {
        if (db->queued == 0) {
            (void)PQexitPipelineMode(db->connection);
        }
        return tacet__pg_fail(db, NULL, "send", err);
    }
    db->places[db->queued++] = place;
    db->unsynced_bytes += bytes;
    return db->unsynced_bytes >= UNSYNCED_BYTES ? sync_queue(db, err) : TACET_OK;
}

/* Each with a sync of its own, so that one that fails is not the end of those behind it. */
tacet_status tacet__pg_prepare(tacet__pg_store *db, tacet_error *err) {
    const uint64_t until = patience(db);
    if (PQenterPipelineMode(db->connection) != 1) {
        return tacet__pg_fail(db, NULL, "pipeline", err);
    }
    bool sent = true;
    for (tacet__pg_statement *q = db->statements; sent && q != NULL; q = q->next) {
        sent = q->prepared ||
               (PQsendPrepare(db->connection, q->name, q->sql, 0, NULL) == 1 && PQpipelineSync(db->connection) == 1);
    }
    tacet_status status = sent ? TACET_OK : tacet__pg_fail(db, NULL, "prepare", err);
    for (tacet__pg_statement *q = db->statements; sent && q != NULL; q = q->next) {
        if (!q->prepared) {
            tacet_error failure = {0};
            const tacet_status one = take_answers(db, until, "prepare", &failure);
            q->prepared = one == TACET_OK;
            status = status == TACET_OK && one != TACET_OK ? tacet__fail(err, one, "%s", failure.message) : status;
        }
    }
    return leave_pipeline(db, status, err);
}

/* The library never prints. A warning beside a commit matters: the wait for a synchronous standby was cancelled, so
 * that the commit is on one machine alone and may be forgotten by a failover (SyncRepWaitForLSN in the server's
 * syncrep.c). Its words are the server's language, so any warning counts; nothing else here gives one. */
static void on_notice(void *user, const PGresult *result) {
    tacet__pg_store *db = user;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    db->unsynced = db->unsynced || (severity != NULL && strcmp(severity, "WARNING") == 0);
}

/* To what the URL names, or to this host of it. The URL comes before the host and after the rest: what it says of those
 * wins. */
static tacet_status connect_to(tacet__pg_store *db, const char *host, const char *port, tacet_error *err) {
    const char *const keys[] = {
        "connect_timeout", "tcp_user_timeout", "fallback_application_name", "dbname", "host", "port", NULL};
    const char *const values[] = {"2", "5000", "tacet", db->url, host, port, NULL};
    char line[160];
    PQfinish(db->connection);
    tacet__pg_forget_asked(db);
    db->queued = db->syncs = db->taken = db->unsynced_bytes = 0;
    db->in_transaction = false;
    db->late = db->unsynced = false;
    db->connection = tacet__pg_connect(keys, values, CONNECT_MS);
    if (db->connection == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory connecting to the store");
    }
    (void)PQsetNoticeReceiver(db->connection, on_notice, db);
    if (PQstatus(db->connection) != CONNECTION_OK) {
        one_line(line, sizeof line,
                 PQstatus(db->connection) == CONNECTION_BAD ? PQerrorMessage(db->connection)
                                                            : "the server does not answer");
        const bool password =
            PQconnectionNeedsPassword(db->connection) == 1 || PQconnectionUsedPassword(db->connection);
        return tacet__fail(err, password ? TACET_DENIED : TACET_IO, "cannot connect to the store: %s", line);
    }
    (void)PQsetnonblocking(db->connection, 1);
    return TACET_OK;
}

/* The i-th of a list with commas, the only one of a list of one, or "" (the default). False: there are not so many. */
static bool listed(char *out, size_t size, const char *list, size_t i) {
    const char *at = list != NULL ? list : "";
    for (const char *comma = strchr(at, ','); i > 0; i--, comma = strchr(at, ',')) {
        if (comma == NULL) {
            return false;
        }
        at = comma + 1;
    }
    const size_t length = strcspn(at, ",");
    if (length >= size) {
        return false;
    }
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

/* libpq takes the first host that answers. One that was replaced answers, too: then the others are tried. */
static tacet_status connect_to_primary(tacet__pg_store *db, tacet_error *err) {
    char hosts[2048] = "", ports[256] = "", host[512], port[32];
    tacet_status status = connect_to(db, NULL, NULL, err);
    TACET_THEN(status, tacet__pg_primary(db, err));
    const bool replaced = status == TACET_REPLACED;
    PQconninfoOption *options = replaced ? PQconninfo(db->connection) : NULL;
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        if (strcmp(o->keyword, "host") == 0 || strcmp(o->keyword, "port") == 0) {
            const bool is_host = o->keyword[0] == 'h';
            (void)snprintf(is_host ? hosts : ports, is_host ? sizeof hosts : sizeof ports, "%s",
                           o->val != NULL ? o->val : "");
        }
    }
    PQconninfoFree(options);
    for (size_t i = 0; replaced && strchr(hosts, ',') != NULL && listed(host, sizeof host, hosts, i); i++) {
        tacet_error other = {0};
        const bool own_port = listed(port, sizeof port, ports, strchr(ports, ',') != NULL ? i : 0);
        if (connect_to(db, host, own_port ? port : NULL, &other) == TACET_OK &&
            tacet__pg_primary(db, &other) == TACET_OK) {
            tacet_error_clear(err);
            return TACET_OK;
        }
    }
    return status;
}

tacet_status tacet__pg_open(tacet__pg_store *db, tacet_error *err) {
    char settings[768];
    TACET_OR_RETURN(connect_to_primary(db, err));
    /* A server that waits for a client which is gone must not hold its lock for long: a process that was stopped in the
     * middle of a batch would keep a study from everybody. Nor one that is in the middle of an answer, or was not sent
     * the end of what it began, when the network between them goes: that is for TCP to find out, in about 5 s. */
    const unsigned long long statement_ms = db->busy_ms + PATIENCE_MS;
    (void)snprintf(settings, sizeof settings,
                   "SET client_min_messages=warning; SET lock_timeout=%llu; SET synchronous_commit=%s;"
                   "SET idle_in_transaction_session_timeout='5s'; SET statement_timeout=%llu;"
                   "SET tcp_user_timeout=5000; SET tcp_keepalives_idle=3; SET tcp_keepalives_interval=1;"
                   "SET default_transaction_read_only=%s;"
                   "SET search_path=\"%s\"",
                   (unsigned long long)(db->busy_ms == 0 ? 1 : db->busy_ms), db->relaxed ? "off" : "on", statement_ms,
                   db->read_only ? "on" : "off", db->schema);
    tacet_status status = tacet__pg_run(db, settings, "connect", err);
    for (tacet__pg_statement *query = db->statements; query != NULL; query = query->next) {
        query->prepared = false;
    }
    if (status == TACET_OK && db->statements != NULL) {
        /* One that the tables do not fit fails when it is used. */
        const tacet_status prepared = tacet__pg_prepare(db, err);
        if (prepared == TACET_IO || prepared == TACET_BUSY || prepared == TACET_NO_MEMORY) {
            db->late = true; /* the next use connects anew */
            return prepared;
        }
        tacet_error_clear(err);
    }
    return status;
}

/* The first look may find its parting words only, the second the end. */
tacet_status tacet__pg_revive(tacet__pg_store *db, tacet_error *err) {
    if (!db->late && PQstatus(db->connection) == CONNECTION_OK && PQconsumeInput(db->connection) == 1 &&
        PQconsumeInput(db->connection) == 1 && PQstatus(db->connection) == CONNECTION_OK) {
        return TACET_OK;
    }
    return tacet__pg_open(db, err);
}
