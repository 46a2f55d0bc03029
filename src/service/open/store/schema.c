/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the tables of the two stores, their version, and who may do what with them.
 * Ring: open. A store of another version is refused. The log's tables are the same on both sides: a central study's
 * rows are in the trusted one, a local study's in the open one. Cost: a few statements to open. */
#include "service/open/store/internal.h"

#include "core/fail.h"

#include <string.h>

enum { VERSION = 1 };
#define VERSION_TEXT "1"

/* INT, BYTES: the store's types; TABLE, KEYED: what ends a table, and one that is found by its key alone. Definitions
 * have a table of their own, so that the rows that every commit changes are small, and many of them share a page.
 * study: `salts`, of tickets (a store that was put back makes other tickets than the one it is a copy of); `rounds`,
 * where it has more than its definition says; `fence`, how often another process began to write to it. holder: what
 * tokens and persons hold of a study. */
#define LOG_TABLES(INT, BYTES, TABLE, KEYED)                                                                           \
    "CREATE TABLE study(number " INT " PRIMARY KEY, name TEXT NOT NULL UNIQUE, model " INT " NOT NULL, state " INT     \
    " NOT NULL, index_public " INT " NOT NULL, created " INT " NOT NULL, head " INT " NOT NULL, hash " BYTES           \
    " NOT NULL, snapshot " INT " NOT NULL, suggested " INT " NOT NULL, observed " INT " NOT NULL, released " INT       \
    " NOT NULL, secret " BYTES " NOT NULL, salts " BYTES " NOT NULL, rounds " INT " NOT NULL DEFAULT 0, fence " INT    \
    " NOT NULL DEFAULT 0)" TABLE ";"                                                                                   \
    "CREATE TABLE definition(number " INT " PRIMARY KEY, bytes " BYTES " NOT NULL)" TABLE ";"                          \
    "CREATE TABLE event(place " INT " PRIMARY KEY, kind " INT " NOT NULL, time " INT " NOT NULL, of_seq " INT          \
    " NOT NULL, number " INT " NOT NULL, idx " INT " NOT NULL, value " INT " NOT NULL, client_key " BYTES              \
    ", body " BYTES " NOT NULL, hash " BYTES " NOT NULL, owner " BYTES ", person " BYTES ", is_null " INT              \
    " NOT NULL)" TABLE ";"                                                                                             \
    "CREATE TABLE observed(place " INT " PRIMARY KEY, seq " INT " NOT NULL, value " INT " NOT NULL)" TABLE ";"         \
    "CREATE TABLE client_key(hash " BYTES " PRIMARY KEY, place " INT " NOT NULL)" KEYED ";"                            \
    "CREATE TABLE snapshot(place " INT " PRIMARY KEY, bytes " BYTES " NOT NULL)" TABLE ";"                             \
    "CREATE TABLE release(place " INT " PRIMARY KEY, bytes " BYTES " NOT NULL)" TABLE ";"                              \
    "CREATE TABLE holder(hash " BYTES " PRIMARY KEY, study " INT " NOT NULL, open_tickets " INT                        \
    " NOT NULL, rounds " INT " NOT NULL)" KEYED ";"
#define SHOWN_TABLES(INT, BYTES, TABLE)                                                                                \
    "CREATE TABLE shown(place " INT " PRIMARY KEY, idx " INT " NOT NULL, observed " INT " NOT NULL)" TABLE ";"         \
    "CREATE TABLE token(id " INT " PRIMARY KEY, hash " BYTES " NOT NULL UNIQUE, role " INT                             \
    " NOT NULL, study TEXT NOT NULL, created " INT " NOT NULL, label TEXT NOT NULL, expires " INT                      \
    " NOT NULL, open_most " INT " NOT NULL, rounds_most " INT " NOT NULL)" TABLE ";"
#define AUDIT_TABLE(INT, BYTES, TABLE)                                                                                 \
    "CREATE TABLE audit(number " INT " PRIMARY KEY, time " INT " NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, "    \
    "hash " BYTES " NOT NULL)" TABLE ";"
#define VERSION_TABLE(INT, TABLE, SIDE)                                                                                \
    "CREATE TABLE store_version(version " INT " NOT NULL, side " INT " NOT NULL, key_mark TEXT NOT NULL)" TABLE ";"    \
    "INSERT INTO store_version VALUES(" VERSION_TEXT ", " SIDE ", '');"

#define SQLITE_LOG LOG_TABLES("INTEGER", "BLOB", " STRICT", " STRICT, WITHOUT ROWID")
#define POSTGRES_LOG LOG_TABLES("BIGINT", "BYTEA", "", "")

/* By side, then by store. */
static const char *const TABLES[2][2] = {
    {VERSION_TABLE("INTEGER", " STRICT", "1") SQLITE_LOG, VERSION_TABLE("BIGINT", "", "1") POSTGRES_LOG},
    {VERSION_TABLE("INTEGER", " STRICT", "2") SQLITE_LOG SHOWN_TABLES("INTEGER", "BLOB", " STRICT")
         AUDIT_TABLE("INTEGER", "BLOB", " STRICT"),
     VERSION_TABLE("BIGINT", "", "2") POSTGRES_LOG SHOWN_TABLES("BIGINT", "BYTEA", "")
         AUDIT_TABLE("BIGINT", "BYTEA", "")}};

#define STUDY_QUERY                                                                                                    \
    "SELECT s.number, s.name, s.model, s.state, s.index_public, s.created, s.head, s.snapshot, s.suggested, "          \
    "s.observed, s.released, s.secret, d.bytes, s.salts, s.rounds, s.fence FROM study s LEFT JOIN "                    \
    "definition d "                                                                                                    \
    "ON d.number = s.number"
#define HEAD_QUERY                                                                                                     \
    "SELECT state, head, hash, snapshot, suggested, observed, released, rounds, fence FROM study "                     \
    "WHERE number = ?1"
#define SUGGESTION_COLUMNS                                                                                             \
    "e.place, e.kind, e.time, e.number, e.idx, e.hash, o.seq, o.value, e.owner, e.person, e.is_null"

static const char *const SQL[TACET__Q_COUNT] = {
    [TACET__Q_STUDY_BY_NAME] = STUDY_QUERY " WHERE s.name = ?1",
    [TACET__Q_STUDY_LIST] = STUDY_QUERY " WHERE s.model >= ?1 AND s.model <= ?2 AND s.state < 3 ORDER BY s.number",
    [TACET__Q_STUDY_NEXT] = "SELECT coalesce(max(number), 0) + 1 FROM study",
    [TACET__Q_STUDY_ADD] =
        "INSERT INTO study(number, name, model, state, index_public, created, head, hash, snapshot, suggested, "
        "observed, released, secret, salts) VALUES(?1, ?2, ?3, 1, ?4, ?5, 0, ?6, 0, 0, 0, 0, ?7, ?8)",
    [TACET__Q_KEY_MARK] = "SELECT key_mark FROM store_version",
    [TACET__Q_KEY_MARK_SET] = "UPDATE store_version SET key_mark = ?1",
    [TACET__Q_DEFINITION_ADD] = "INSERT INTO definition(number, bytes) VALUES(?1, ?2)",
    [TACET__Q_STUDY_LOCK] = HEAD_QUERY, /* FOR UPDATE, where there are row locks */
    [TACET__Q_STUDY_LOOK] = HEAD_QUERY,
    [TACET__Q_STUDY_SET] = "UPDATE study SET state = ?2, head = ?3, hash = ?4, snapshot = ?5, suggested = ?6, "
                           "observed = ?7, released = ?8, fence = ?9 WHERE number = ?1",
    [TACET__Q_STUDY_SALT] = "UPDATE study SET salts = ?2, state = ?3 WHERE number = ?1",
    [TACET__Q_STUDY_UNSHOW] = "UPDATE study SET head = 0, hash = ?2, suggested = 0, observed = 0, released = 0 "
                              "WHERE number = ?1",
    [TACET__Q_STUDY_STATE] = "UPDATE study SET state = ?2 WHERE number = ?1",
    [TACET__Q_STUDY_ROUNDS] = "UPDATE study SET rounds = ?2 WHERE number = ?1 AND rounds < ?2",
    [TACET__Q_EVENT_ADD] = "INSERT INTO event(place, kind, time, of_seq, number, idx, value, client_key, body, hash, "
                           "owner, person, is_null) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    [TACET__Q_EVENT_READ] = "SELECT place, kind, time, of_seq, number, idx, value, client_key, body, hash, "
                            "owner, person, is_null FROM event "
                            "WHERE place >= ?1 AND place <= ?2 ORDER BY place LIMIT ?3",
    [TACET__Q_EVENT_HASH] = "SELECT hash FROM event WHERE place = ?1",
    [TACET__Q_OBSERVED_ADD] = "INSERT INTO observed(place, seq, value) VALUES(?1, ?2, ?3)",
    [TACET__Q_KEY_ADD] = "INSERT INTO client_key(hash, place) VALUES(?1, ?2)",
    [TACET__Q_KEY_FIND] = "SELECT " SUGGESTION_COLUMNS " FROM client_key k JOIN event e ON e.place = k.place "
                          "LEFT JOIN observed o ON o.place = e.place WHERE k.hash = ?1",
    [TACET__Q_WAITING] = "SELECT " SUGGESTION_COLUMNS " FROM event e LEFT JOIN observed o ON o.place = e.place WHERE "
                         "e.place > ?1 AND e.place <= ?2 AND e.kind = 1 AND o.place IS NULL ORDER BY e.place LIMIT ?3",
    [TACET__Q_SUGGESTION] =
        "SELECT " SUGGESTION_COLUMNS " FROM event e LEFT JOIN observed o ON o.place = e.place WHERE e.place = ?1",
    [TACET__Q_SNAPSHOT_ADD] = "INSERT INTO snapshot(place, bytes) VALUES(?1, ?2) "
                              "ON CONFLICT(place) DO UPDATE SET bytes = excluded.bytes",
    [TACET__Q_SNAPSHOT_DROP] = "DELETE FROM snapshot WHERE place >= ?1 AND place < ?2",
    [TACET__Q_SNAPSHOT_GET] = "SELECT place, bytes FROM snapshot WHERE place >= ?1 AND place <= ?2 "
                              "ORDER BY place DESC LIMIT 1",
    [TACET__Q_RELEASE_ADD] = "INSERT INTO release(place, bytes) VALUES(?1, ?2) ON CONFLICT(place) DO NOTHING",
    [TACET__Q_RELEASE_GET] = "SELECT bytes FROM release WHERE place = ?1",
    [TACET__Q_HOLDER_GET] = "SELECT open_tickets, rounds FROM holder WHERE hash = ?1",
    [TACET__Q_HOLDER_ADD] = "INSERT INTO holder(hash, study, open_tickets, rounds) VALUES(?1, ?2, ?3, ?4) "
                            "ON CONFLICT(hash) DO UPDATE SET open_tickets = holder.open_tickets + "
                            "excluded.open_tickets, rounds = holder.rounds + excluded.rounds",
    [TACET__Q_HOLDER_WRONG] =
        "SELECT count(*) FROM (SELECT hash, count(*) AS n FROM (SELECT owner AS hash FROM event WHERE place >= ?1 AND "
        "place < ?2 AND kind = 1 AND owner IS NOT NULL UNION ALL SELECT person FROM event WHERE place >= ?1 AND place "
        "< ?2 AND kind = 1 AND person IS NOT NULL) AS named GROUP BY hash) AS taken LEFT JOIN holder h ON h.hash = "
        "taken.hash WHERE coalesce(h.rounds, 0) <> taken.n",
    [TACET__Q_SHOWN_ADD] = "INSERT INTO shown(place, idx, observed) VALUES(?1, ?2, 0) ON CONFLICT(place) DO NOTHING",
    [TACET__Q_SHOWN_DROP] = "DELETE FROM shown WHERE place > ?1 AND place < ?2",
    [TACET__Q_SHOWN_OBSERVED] = "UPDATE shown SET observed = ?2 WHERE place = ?1",
    [TACET__Q_TOKEN_ADD] = "INSERT INTO token(id, hash, role, study, created, label, expires, open_most, rounds_most) "
                           "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [TACET__Q_TOKEN_NEXT] = "SELECT coalesce(max(id), 0) + 1 FROM token",
    [TACET__Q_TOKEN_FIND] = "SELECT id, hash, role, study, created, label, expires, open_most, rounds_most FROM token "
                            "WHERE hash = ?1",
    [TACET__Q_TOKEN_LIST] = "SELECT id, hash, role, study, created, label, expires, open_most, rounds_most FROM token "
                            "ORDER BY id",
    [TACET__Q_AUDIT_LAST] = "SELECT number, time, who, what, hash FROM audit ORDER BY number DESC LIMIT 1",
    [TACET__Q_AUDIT_ADD] = "INSERT INTO audit(number, time, who, what, hash) VALUES(?1, ?2, ?3, ?4, ?5)",
    [TACET__Q_AUDIT_READ] = "SELECT number, time, who, what, hash FROM audit ORDER BY number",
    [TACET__Q_TOKEN_DROP] = "DELETE FROM token WHERE id = ?1",
};

static tacet_status read_number(tacet__db *db, int64_t *out, const char *sql, tacet_error *err) {
    tacet__query *query = NULL;
    bool row = false;
    *out = 0;
    tacet_status status = tacet__db_prepare(db, &query, sql, err);
    TACET_THEN(status, tacet__query_step(query, &row, err));
    if (status == TACET_OK && row) {
        *out = tacet__query_int(query, 0);
    }
    tacet__query_free(query);
    return status;
}

/* Version 0: there are no tables yet. */
static tacet_status read_version(tacet__db *db, tacet__side side, int64_t *version, tacet_error *err) {
    static const char *const THERE[] = {
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'store_version'",
        "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'store_version'"};
    int64_t there = 0;
    int64_t stored_side = 0;
    *version = 0;
    tacet_status status = read_number(db, &there, THERE[tacet__db_shared(db)], err);
    if (status != TACET_OK || there == 0) {
        return status;
    }
    status = read_number(db, version, "SELECT version FROM store_version", err);
    TACET_THEN(status, read_number(db, &stored_side, "SELECT side FROM store_version", err));
    if (status == TACET_OK && stored_side != (int64_t)side) {
        status = tacet__fail(err, TACET_CORRUPT, "the store is not the %s one",
                             side == TACET__SIDE_TRUSTED ? "trusted" : "open");
    }
    return status;
}

/* The version is read again under the lock: another process may have been faster. */
static tacet_status make_tables(tacet__half *half, tacet__side side, tacet_error *err) {
    int64_t version = 0;
    tacet__db *db = half->db;
    TACET_OR_RETURN(tacet__half_begin(half, false, err));
    tacet_status status = read_version(db, side, &version, err);
    if (status == TACET_OK && version == 0) {
        status = tacet__db_exec(db, TABLES[side == TACET__SIDE_OPEN][tacet__db_shared(db)], err);
    }
    return tacet__half_end(half, status, err);
}

static tacet_status check_version(tacet__half *half, tacet__side side, bool create, tacet_error *err) {
    const char *name = side == TACET__SIDE_OPEN ? "open" : "trusted";
    int64_t version = 0;
    const tacet_status status = read_version(half->db, side, &version, err);
    if (status != TACET_OK || version == VERSION) {
        return status;
    }
    if (version != 0) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "the %s store has schema version %lld, this program knows %d alone: use the program that "
                           "made it, or begin a new store",
                           name, (long long)version, VERSION);
    }
    return create ? make_tables(half, side, err) : tacet__fail(err, TACET_NOT_FOUND, "there is no %s store", name);
}

static tacet_status prepare(tacet__half *half, tacet__side side, tacet_error *err) {
    const char *sql[TACET__Q_COUNT];
    tacet_error detail = {TACET_OK, ""};
    memcpy(sql, SQL, sizeof sql);
    if (tacet__db_shared(half->db)) {
        sql[TACET__Q_STUDY_LOCK] = HEAD_QUERY " FOR UPDATE";
    }
    const tacet_status status = tacet__db_prepare_all(
        half->db, half->queries, sql, side == TACET__SIDE_OPEN ? TACET__Q_COUNT : TACET__Q_TRUSTED_COUNT, &detail);
    return status == TACET_STATE
               ? tacet__fail(err, TACET_CORRUPT, "the tables of the store are missing or changed: %s", detail.message)
           : status != TACET_OK ? tacet__fail(err, status, "%s", detail.message)
                                : TACET_OK;
}

tacet_status tacet__half_open(tacet__half *half, tacet__side side, const char *path,
                              const tacet__studies_settings *settings, tacet_error *err) {
    const tacet__db_settings db_settings = {.create = settings->create,
                                            .busy_ms = settings->busy_ms == 0 ? 10000 : settings->busy_ms,
                                            .serves = true,
                                            .vfs = settings->vfs};
    tacet_status status = tacet__db_open(&half->db, path, &db_settings, err);
    TACET_THEN(status, check_version(half, side, settings->create, err));
    TACET_THEN(status, prepare(half, side, err));
    if (status != TACET_OK) {
        tacet__half_close(half);
    }
    return status;
}

void tacet__half_close(tacet__half *half) {
    if (half->db == NULL) {
        return;
    }
    tacet__db_rollback(half->db);
    for (size_t i = 0; i < TACET__Q_COUNT; i++) {
        tacet__query_free(half->queries[i]);
    }
    tacet__db_close(half->db);
    memset(half, 0, sizeof *half);
}

tacet_status tacet__half_relax(tacet__half *half, bool relaxed, tacet_error *err) {
    if (half->relaxed == relaxed) {
        return TACET_OK;
    }
    const tacet_status status = tacet__db_relax(half->db, relaxed, err);
    if (status == TACET_OK) {
        half->relaxed = relaxed;
    }
    return status;
}

tacet_status tacet__half_begin(tacet__half *half, bool rows, tacet_error *err) {
    const tacet_status status = tacet__half_relax(half, false, err);
    return status != TACET_OK ? status
           : rows             ? tacet__db_begin_rows(half->db, err)
                              : tacet__db_begin(half->db, true, err);
}

tacet_status tacet__half_end(tacet__half *half, tacet_status status, tacet_error *err) {
    if (status == TACET_OK) {
        return tacet__db_commit(half->db, err);
    }
    tacet__db_rollback(half->db);
    return status;
}

/* The log may be appended to and read, not changed, by the roles that servers run as. A role that is made here cannot
 * log in before an administrator lets it. The trusted role makes a schema for each study's ledger. */
tacet_status tacet__half_grant(tacet__half *half, tacet__side side, tacet_error *err) {
    static const char ROLES[] =
        "DO $$ BEGIN"
        " IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'tacet_trusted') THEN CREATE ROLE tacet_trusted "
        "NOLOGIN;"
        " END IF;"
        " IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'tacet_open') THEN CREATE ROLE tacet_open NOLOGIN;"
        " END IF;"
        " EXECUTE format('GRANT CONNECT, CREATE ON DATABASE %I TO tacet_trusted', current_database());"
        " EXECUTE format('GRANT CONNECT ON DATABASE %I TO tacet_open', current_database());"
        " END $$;";
    static const char TRUSTED[] =
        "REVOKE ALL ON SCHEMA tacet_trusted FROM PUBLIC; GRANT USAGE ON SCHEMA tacet_trusted TO tacet_trusted;"
        "REVOKE ALL ON ALL TABLES IN SCHEMA tacet_trusted FROM PUBLIC;"
        "GRANT SELECT ON ALL TABLES IN SCHEMA tacet_trusted TO tacet_trusted;"
        "GRANT INSERT ON study, definition, event, observed, client_key, snapshot, release, holder TO tacet_trusted;"
        "GRANT UPDATE ON study, snapshot, holder TO tacet_trusted; GRANT UPDATE (key_mark) ON store_version TO "
        "tacet_trusted; GRANT DELETE ON snapshot TO "
        "tacet_trusted;";
    static const char OPEN[] = "REVOKE ALL ON SCHEMA tacet_open FROM PUBLIC;"
                               "GRANT USAGE ON SCHEMA tacet_open TO tacet_open, tacet_trusted;"
                               "REVOKE ALL ON ALL TABLES IN SCHEMA tacet_open FROM PUBLIC;"
                               "GRANT SELECT ON ALL TABLES IN SCHEMA tacet_open TO tacet_open, tacet_trusted;"
                               "GRANT INSERT ON study, definition, event, observed, client_key, snapshot, release, "
                               "holder, shown, token, audit TO "
                               "tacet_open, tacet_trusted;"
                               "GRANT UPDATE ON study, snapshot, holder, shown TO tacet_open, tacet_trusted;"
                               "GRANT DELETE ON snapshot, token TO tacet_open, tacet_trusted;";
    const bool open = side == TACET__SIDE_OPEN;
    TACET_OR_RETURN(tacet__half_begin(half, false, err));
    tacet_status status = open ? TACET_OK : tacet__db_exec(half->db, ROLES, err);
    TACET_THEN(status, tacet__db_exec(half->db, open ? OPEN : TRUSTED, err));
    return tacet__half_end(half, status, err);
}
