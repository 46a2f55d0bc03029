/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the tables of the two stores, their versions, and who may do what with them.
 * Ring: open. Each side has a list of steps; a store that is older than this program is brought up by the steps it
 * lacks, in one transaction under the store's write lock; a newer one is refused. A step, once published, never
 * changes. The log's tables are the same on both sides: a central study's rows are in the trusted one, a local study's
 * in the open one. Cost: a few statements to open; O(rows) only where a step says so. */
#include "service/open/store/internal.h"

#include "core/fail.h"

#include <string.h>

/* INT, BYTES: the store's types; TABLE, KEYED: what ends a table, and one that is found by its key alone. */
#define LOG_TABLES(INT, BYTES, TABLE, KEYED)                                                                           \
    "CREATE TABLE study(number " INT " PRIMARY KEY, name TEXT NOT NULL UNIQUE, model " INT " NOT NULL, state " INT     \
    " NOT NULL, index_public " INT " NOT NULL, created " INT " NOT NULL, head " INT " NOT NULL, hash " BYTES           \
    " NOT NULL, snapshot " INT " NOT NULL, suggested " INT " NOT NULL, observed " INT " NOT NULL, released " INT       \
    " NOT NULL, secret " BYTES " NOT NULL, definition " BYTES " NOT NULL)" TABLE ";"                                   \
    "CREATE TABLE event(place " INT " PRIMARY KEY, kind " INT " NOT NULL, time " INT " NOT NULL, of_seq " INT          \
    " NOT NULL, number " INT " NOT NULL, idx " INT " NOT NULL, value " INT " NOT NULL, client_key " BYTES              \
    ", body " BYTES " NOT NULL, hash " BYTES " NOT NULL)" TABLE ";"                                                    \
    "CREATE TABLE observed(place " INT " PRIMARY KEY, seq " INT " NOT NULL, value " INT " NOT NULL)" TABLE ";"         \
    "CREATE TABLE client_key(hash " BYTES " PRIMARY KEY, place " INT " NOT NULL)" KEYED ";"                            \
    "CREATE TABLE snapshot(place " INT " PRIMARY KEY, bytes " BYTES " NOT NULL)" TABLE ";"                             \
    "CREATE TABLE release(place " INT " PRIMARY KEY, bytes " BYTES " NOT NULL)" TABLE ";"
#define SHOWN_TABLES(INT, BYTES, TABLE)                                                                                \
    "CREATE TABLE shown(place " INT " PRIMARY KEY, idx " INT " NOT NULL, observed " INT " NOT NULL)" TABLE ";"         \
    "CREATE TABLE token(id " INT " PRIMARY KEY, hash " BYTES " NOT NULL UNIQUE, role " INT                             \
    " NOT NULL, study TEXT NOT NULL, created " INT " NOT NULL)" TABLE ";"
/* 2: labels, so that one token among many can be told and dropped. */
#define TOKEN_LABELS "ALTER TABLE token ADD COLUMN label TEXT NOT NULL DEFAULT '';"
/* 3: tokens that end. */
#define TOKEN_EXPIRES(INT) "ALTER TABLE token ADD COLUMN expires " INT " NOT NULL DEFAULT 0;"

/* Whose tokens and which persons hold what; rounds beyond a person's cap. */
#define HOLDERS(INT, BYTES, KEYED)                                                                                     \
    "ALTER TABLE event ADD COLUMN owner " BYTES "; ALTER TABLE event ADD COLUMN person " BYTES                         \
    "; ALTER TABLE event ADD COLUMN is_null " INT " NOT NULL DEFAULT 0;"                                               \
    "CREATE TABLE holder(hash " BYTES " PRIMARY KEY, study " INT " NOT NULL, open_tickets " INT                        \
    " NOT NULL, rounds " INT " NOT NULL)" KEYED ";"
#define TOKEN_QUOTAS(INT)                                                                                              \
    "ALTER TABLE token ADD COLUMN open_most " INT " NOT NULL DEFAULT 0;"                                               \
    "ALTER TABLE token ADD COLUMN rounds_most " INT " NOT NULL DEFAULT 0;"

#define SQLITE_LOG LOG_TABLES("INTEGER", "BLOB", " STRICT", " STRICT, WITHOUT ROWID")
#define POSTGRES_LOG LOG_TABLES("BIGINT", "BYTEA", "", "")

typedef struct migration {
    const char *sqlite;
    const char *postgres;
} migration;

#define SQLITE_HOLDERS HOLDERS("INTEGER", "BLOB", " STRICT, WITHOUT ROWID")
#define POSTGRES_HOLDERS HOLDERS("BIGINT", "BYTEA", "")

/* Salts of tickets: a store that was put back makes other tickets than the one it is a copy of. */
#define SALTS_SQLITE "ALTER TABLE study ADD COLUMN salts BLOB NOT NULL DEFAULT x'';"
#define SALTS_POSTGRES "ALTER TABLE study ADD COLUMN salts BYTEA NOT NULL DEFAULT '';"

/* More rounds than the definition says; 0: as it says. */
#define ROUNDS(INT) "ALTER TABLE study ADD COLUMN rounds " INT " NOT NULL DEFAULT 0;"
/* How often another process began to write to a study. */
#define FENCE(INT) "ALTER TABLE study ADD COLUMN fence " INT " NOT NULL DEFAULT 0;"

/* Definitions leave the rows that every commit changes: those get small, so that many of them share a page. */
#define DEFINITIONS(INT, BYTES, TABLE)                                                                                 \
    "CREATE TABLE definition(number " INT " PRIMARY KEY, bytes " BYTES " NOT NULL)" TABLE ";"                          \
    "INSERT INTO definition(number, bytes) SELECT number, definition FROM study;"                                      \
    "ALTER TABLE study DROP COLUMN definition;"

/* What is not sorted into its tables yet (recent.c). With PostgreSQL there is nothing of the kind. */
#define RECENT                                                                                                         \
    "CREATE TABLE recent(n INTEGER PRIMARY KEY, place INTEGER NOT NULL, kind INTEGER NOT NULL, time INTEGER NOT "      \
    "NULL, of_seq INTEGER NOT NULL, number INTEGER NOT NULL, idx INTEGER NOT NULL, value INTEGER NOT NULL, "           \
    "client_key BLOB, body BLOB NOT NULL, hash BLOB NOT NULL, owner BLOB, person BLOB, is_null INTEGER NOT NULL, "     \
    "key_hash BLOB) STRICT;"
#define NOTHING "DO $$ BEGIN END $$;"

static const migration TRUSTED_STEPS[] = {
    {SQLITE_LOG, POSTGRES_LOG},
    {SQLITE_HOLDERS, POSTGRES_HOLDERS},
    {SALTS_SQLITE, SALTS_POSTGRES},
    {ROUNDS("INTEGER"), ROUNDS("BIGINT")},
    {FENCE("INTEGER"), FENCE("BIGINT")},
    {DEFINITIONS("INTEGER", "BLOB", " STRICT"), DEFINITIONS("BIGINT", "BYTEA", "")}};
static const migration OPEN_STEPS[] = {
    {SQLITE_LOG SHOWN_TABLES("INTEGER", "BLOB", " STRICT"), POSTGRES_LOG SHOWN_TABLES("BIGINT", "BYTEA", "")},
    {TOKEN_LABELS, TOKEN_LABELS},
    {TOKEN_EXPIRES("INTEGER"), TOKEN_EXPIRES("BIGINT")},
    {SQLITE_HOLDERS TOKEN_QUOTAS("INTEGER"), POSTGRES_HOLDERS TOKEN_QUOTAS("BIGINT")},
    {SALTS_SQLITE, SALTS_POSTGRES},
    {ROUNDS("INTEGER"), ROUNDS("BIGINT")},
    {FENCE("INTEGER"), FENCE("BIGINT")},
    {DEFINITIONS("INTEGER", "BLOB", " STRICT"), DEFINITIONS("BIGINT", "BYTEA", "")},
    {RECENT, NOTHING},
};

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
    [TACET__Q_STUDY_LIST] = STUDY_QUERY " WHERE s.model >= ?1 AND s.model <= ?2 ORDER BY s.number",
    [TACET__Q_STUDY_NEXT] = "SELECT coalesce(max(number), 0) + 1 FROM study",
    [TACET__Q_STUDY_ADD] =
        "INSERT INTO study(number, name, model, state, index_public, created, head, hash, snapshot, suggested, "
        "observed, released, secret) VALUES(?1, ?2, ?3, 1, ?4, ?5, 0, ?6, 0, 0, 0, 0, ?7)",
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
    [TACET__Q_HOLDER_SET] =
        "INSERT INTO holder(hash, study, open_tickets, rounds) VALUES(?1, ?2, ?3, ?4) "
        "ON CONFLICT(hash) DO UPDATE SET open_tickets = excluded.open_tickets, rounds = excluded.rounds",
    [TACET__Q_SHOWN_ADD] = "INSERT INTO shown(place, idx, observed) VALUES(?1, ?2, 0) ON CONFLICT(place) DO NOTHING",
    [TACET__Q_SHOWN_DROP] = "DELETE FROM shown WHERE place > ?1 AND place < ?2",
    [TACET__Q_SHOWN_OBSERVED] = "UPDATE shown SET observed = ?2 WHERE place = ?1",
    [TACET__Q_SHOWN_GET] = "SELECT idx, observed FROM shown WHERE place = ?1",
    [TACET__Q_TOKEN_ADD] = "INSERT INTO token(id, hash, role, study, created, label, expires, open_most, rounds_most) "
                           "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [TACET__Q_TOKEN_NEXT] = "SELECT coalesce(max(id), 0) + 1 FROM token",
    [TACET__Q_TOKEN_FIND] = "SELECT id, hash, role, study, created, label, expires, open_most, rounds_most FROM token "
                            "WHERE hash = ?1",
    [TACET__Q_TOKEN_LIST] = "SELECT id, hash, role, study, created, label, expires, open_most, rounds_most FROM token "
                            "ORDER BY id",
    [TACET__Q_TOKEN_DROP] = "DELETE FROM token WHERE id = ?1",
    [TACET__Q_RECENT_ADD] =
        "INSERT INTO recent(place, kind, time, of_seq, number, idx, value, client_key, body, hash, owner, person, "
        "is_null, key_hash) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    [TACET__Q_RECENT_ANY] = "SELECT 1 FROM recent LIMIT 1",
    [TACET__Q_RECENT_EVENTS] =
        "INSERT INTO event(place, kind, time, of_seq, number, idx, value, client_key, body, hash, owner, person, "
        "is_null) SELECT place, kind, time, of_seq, number, idx, value, client_key, body, hash, "
        "CASE kind WHEN 1 THEN owner END, CASE kind WHEN 1 THEN person END, is_null FROM recent",
    [TACET__Q_RECENT_OBSERVED] =
        "INSERT INTO observed(place, seq, value) SELECT (place >> 40 << 40) | of_seq, "
        "CASE kind WHEN 2 THEN place & 0xFFFFFFFFFF ELSE -(place & 0xFFFFFFFFFF) END, value FROM recent "
        "WHERE kind <> 1",
    [TACET__Q_RECENT_KEYS] = "INSERT INTO client_key(hash, place) SELECT key_hash, place FROM recent "
                             "WHERE key_hash IS NOT NULL",
    [TACET__Q_RECENT_HOLDERS] =
        "INSERT INTO holder(hash, study, open_tickets, rounds) "
        "SELECT r.hash, r.study, max(0, coalesce(h.open_tickets, 0) + r.open), coalesce(h.rounds, 0) + r.rounds FROM "
        "(SELECT hash, study, sum(iif(kind = 1, 1, -1)) AS open, sum(kind = 1) AS rounds FROM "
        "(SELECT owner AS hash, place >> 40 AS study, kind FROM recent WHERE owner IS NOT NULL UNION ALL "
        "SELECT person, place >> 40, kind FROM recent WHERE person IS NOT NULL) GROUP BY hash) r "
        "LEFT JOIN holder h ON h.hash = r.hash WHERE true "
        "ON CONFLICT(hash) DO UPDATE SET open_tickets = excluded.open_tickets, rounds = excluded.rounds",
    [TACET__Q_RECENT_STUDIES] =
        "UPDATE study SET head = r.head, hash = r.hash, suggested = study.suggested + r.suggested, "
        "observed = study.observed + r.observed FROM (SELECT place >> 40 AS number, max(place) & 0xFFFFFFFFFF AS head, "
        "hash, "
        "sum(kind = 1) AS suggested, sum(kind = 2) AS observed FROM recent GROUP BY place >> 40) r "
        "WHERE study.number = r.number",
    [TACET__Q_RECENT_DROP] = "DELETE FROM recent",
};

static tacet_status read_number(tacet__db *db, int64_t *out, const char *sql, tacet_error *err) {
    tacet__query *query = NULL;
    bool row = false;
    *out = 0;
    tacet_status status = tacet__db_prepare(db, &query, sql, err);
    if (status == TACET_OK) {
        status = tacet__query_step(query, &row, err);
    }
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
    if (status == TACET_OK) {
        status = read_number(db, &stored_side, "SELECT side FROM store_version", err);
    }
    if (status == TACET_OK && stored_side != (int64_t)side) {
        status = tacet__fail(err, TACET_CORRUPT, "the store is not the %s one",
                             side == TACET__SIDE_TRUSTED ? "trusted" : "open");
    }
    return status;
}

static tacet_status make_version(tacet__db *db, tacet__side side, tacet_error *err) {
    static const char *const TABLES[2][2] = {
        {"CREATE TABLE store_version(version INTEGER NOT NULL, side INTEGER NOT NULL) STRICT;"
         "INSERT INTO store_version VALUES(0, 1)",
         "CREATE TABLE store_version(version INTEGER NOT NULL, side INTEGER NOT NULL) STRICT;"
         "INSERT INTO store_version VALUES(0, 2)"},
        {"CREATE TABLE store_version(version BIGINT NOT NULL, side BIGINT NOT NULL);"
         "INSERT INTO store_version VALUES(0, 1)",
         "CREATE TABLE store_version(version BIGINT NOT NULL, side BIGINT NOT NULL);"
         "INSERT INTO store_version VALUES(0, 2)"}};
    return tacet__db_exec(db, TABLES[tacet__db_shared(db)][side == TACET__SIDE_OPEN], err);
}

/* The version is read again under the lock: another process may have been faster. */
static tacet_status migrate(tacet__db *db, tacet__side side, const migration *steps, int64_t count, tacet_error *err) {
    int64_t version = 0;
    tacet_status status = tacet__db_begin(db, true, err);
    if (status != TACET_OK) {
        return status;
    }
    status = read_version(db, side, &version, err);
    if (status == TACET_OK && version == 0) {
        status = make_version(db, side, err);
    }
    for (; status == TACET_OK && version < count; version++) {
        status = tacet__db_exec(db, tacet__db_shared(db) ? steps[version].postgres : steps[version].sqlite, err);
        if (status == TACET_OK) {
            status = tacet__db_exec(db, "UPDATE store_version SET version = version + 1", err);
        }
    }
    if (status == TACET_OK) {
        return tacet__db_commit(db, err);
    }
    tacet__db_rollback(db);
    return status;
}

static tacet_status check_version(tacet__db *db, tacet__side side, bool create, tacet_error *err) {
    const bool open = side == TACET__SIDE_OPEN;
    const migration *steps = open ? OPEN_STEPS : TRUSTED_STEPS;
    const int64_t count = open ? (int64_t)(sizeof OPEN_STEPS / sizeof OPEN_STEPS[0])
                               : (int64_t)(sizeof TRUSTED_STEPS / sizeof TRUSTED_STEPS[0]);
    int64_t version = 0;
    const tacet_status status = read_version(db, side, &version, err);
    if (status != TACET_OK || version == count) {
        return status;
    }
    if (version > count) {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "the %s store has schema version %lld, this program knows %lld: use a newer one",
                           open ? "open" : "trusted", (long long)version, (long long)count);
    }
    if (!create) {
        return version == 0
                   ? tacet__fail(err, TACET_NOT_FOUND, "there is no %s store", open ? "open" : "trusted")
                   : tacet__fail(err, TACET_STATE, "the %s store has schema version %lld, not %lld: migrate it",
                                 open ? "open" : "trusted", (long long)version, (long long)count);
    }
    return migrate(db, side, steps, count, err);
}

static tacet_status prepare(tacet__half *half, tacet__side side, tacet_error *err) {
    const size_t open = tacet__db_shared(half->db) ? TACET__Q_RECENT_ADD : TACET__Q_COUNT;
    const size_t count = side == TACET__SIDE_OPEN ? open : TACET__Q_TRUSTED_COUNT;
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < count; i++) {
        const bool lock = i == TACET__Q_STUDY_LOCK && tacet__db_shared(half->db);
        tacet_error detail = {TACET_OK, ""};
        status = tacet__db_prepare(half->db, &half->queries[i], lock ? HEAD_QUERY " FOR UPDATE" : SQL[i], &detail);
        if (status == TACET_STATE) {
            return tacet__fail(err, TACET_CORRUPT, "the tables of the store are missing or changed: %s",
                               detail.message);
        }
        if (status != TACET_OK) {
            return tacet__fail(err, status, "%s", detail.message);
        }
    }
    return status;
}

tacet_status tacet__half_open(tacet__half *half, tacet__side side, const char *path,
                              const tacet__studies_settings *settings, tacet_error *err) {
    const tacet__db_settings db_settings = {.create = settings->create,
                                            .busy_ms = settings->busy_ms == 0 ? 10000 : settings->busy_ms,
                                            .grouped = true,
                                            .vfs = settings->vfs};
    tacet_status status = tacet__db_open(&half->db, path, &db_settings, err);
    if (status == TACET_OK) {
        status = check_version(half->db, side, settings->create, err);
    }
    if (status == TACET_OK) {
        status = prepare(half, side, err);
    }
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
        "GRANT UPDATE ON study, snapshot, holder TO tacet_trusted; GRANT DELETE ON snapshot TO tacet_trusted;";
    static const char OPEN[] =
        "REVOKE ALL ON SCHEMA tacet_open FROM PUBLIC;"
        "GRANT USAGE ON SCHEMA tacet_open TO tacet_open, tacet_trusted;"
        "REVOKE ALL ON ALL TABLES IN SCHEMA tacet_open FROM PUBLIC;"
        "GRANT SELECT ON ALL TABLES IN SCHEMA tacet_open TO tacet_open, tacet_trusted;"
        "GRANT INSERT ON study, definition, event, observed, client_key, snapshot, release, holder, shown, token TO "
        "tacet_open, tacet_trusted;"
        "GRANT UPDATE ON study, snapshot, holder, shown TO tacet_open, tacet_trusted;"
        "GRANT DELETE ON snapshot, token TO tacet_open, tacet_trusted;";
    const bool open = side == TACET__SIDE_OPEN;
    tacet_status status = tacet__db_begin(half->db, true, err);
    if (status == TACET_OK) {
        status = open ? TACET_OK : tacet__db_exec(half->db, ROLES, err);
    }
    if (status == TACET_OK) {
        status = tacet__db_exec(half->db, open ? OPEN : TRUSTED, err);
    }
    if (status == TACET_OK) {
        return tacet__db_commit(half->db, err);
    }
    tacet__db_rollback(half->db);
    return status;
}
