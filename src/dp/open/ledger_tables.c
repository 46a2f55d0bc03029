/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_tables.c - the tables of a ledger, in a file (SQLite) or in a schema (PostgreSQL).
 * Ring: shared. Five tables: record (the chain), answer (bytes of the answers, whose hashes are in the chain), head
 * (how long the chain is and where it ends, so that a lost tail shows), fence (how often it was taken over), and mint
 * (of entries that are not answered yet: the sealed key of their noise, which is to be erased, and so is no part of the
 * chain). Triggers refuse every change of the
 * first three but appending; the chain shows what was changed in spite of them. A schema has no number to say what it
 * is, so it has one more, format.
 * Cost: constant. */
#include "dp/open/ledger_tables.h"

#include "dp/open/entry.h"
#include "core/fail.h"

#include <stdio.h>

/* The head last: its page is never empty, so that a file that was cut off by a page shows. */
static const char FILE_TABLES[] =
    "CREATE TABLE record(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT;"
    "CREATE TABLE answer(seq INTEGER PRIMARY KEY REFERENCES record(seq), bytes BLOB NOT NULL) STRICT;"
    "CREATE TABLE mint(seq INTEGER PRIMARY KEY REFERENCES record(seq), sealed BLOB NOT NULL, digest BLOB NOT NULL,"
    " sampler INTEGER NOT NULL) STRICT;"
    "CREATE TABLE fence(id INTEGER PRIMARY KEY CHECK(id = 0), number INTEGER NOT NULL) STRICT;"
    "INSERT INTO fence(id, number) VALUES(0, 0);"
    "CREATE TABLE head(id INTEGER PRIMARY KEY CHECK(id = 0), records INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;"
    "CREATE TRIGGER record_append BEFORE INSERT ON record"
    " WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), -1) + 1 FROM record)"
    " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER record_update BEFORE UPDATE ON record BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER record_delete BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER answer_append BEFORE INSERT ON answer"
    " WHEN NEW.seq IN (SELECT seq FROM answer) OR NEW.seq IS NOT (SELECT max(seq) FROM record)"
    " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER answer_update BEFORE UPDATE ON answer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER answer_delete BEFORE DELETE ON answer BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER head_insert BEFORE INSERT ON head WHEN EXISTS (SELECT 1 FROM head)"
    " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER head_update BEFORE UPDATE ON head WHEN NEW.records <= OLD.records"
    " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER head_delete BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "INSERT INTO head(id, records, hash) VALUES(0, 0, x'');";

/* Each index is written to the disk by itself as it is made, those of the tables for what is too long for a row
 * (TOAST), too: they are most of what a new ledger costs. So head and fence, of one row, have none, and what is short
 * stays in its row (PLAIN, in the statement that adds the column: before there is such a table). That an answer has its
 * record is what answer_append asks. SET search_path: the functions mean this schema's tables, whoever calls them. */
static const char SCHEMA_TABLES[] =
    "CREATE TABLE format(application BIGINT NOT NULL, version BIGINT NOT NULL);"
    "CREATE TABLE record(seq BIGINT PRIMARY KEY, body BYTEA NOT NULL, hash BYTEA NOT NULL);"
    "CREATE TABLE answer(seq BIGINT PRIMARY KEY, bytes BYTEA NOT NULL);"
    "CREATE TABLE head(id BIGINT NOT NULL CHECK(id = 0), records BIGINT NOT NULL);"
    "ALTER TABLE head ADD COLUMN hash BYTEA NOT NULL, ALTER COLUMN hash SET STORAGE PLAIN;"
    "CREATE TABLE fence(id BIGINT NOT NULL CHECK(id = 0), number BIGINT NOT NULL);"
    "INSERT INTO fence(id, number) VALUES(0, 0);"
    "CREATE TABLE mint(seq BIGINT PRIMARY KEY, sampler BIGINT NOT NULL);"
    "ALTER TABLE mint ADD COLUMN sealed BYTEA NOT NULL, ALTER COLUMN sealed SET STORAGE PLAIN,"
    " ADD COLUMN digest BYTEA NOT NULL, ALTER COLUMN digest SET STORAGE PLAIN;"
    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS"
    " $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;"
    "CREATE FUNCTION record_append() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS"
    " $$ BEGIN IF NEW.seq IS DISTINCT FROM (SELECT coalesce(max(seq), -1) + 1 FROM record) THEN"
    " RAISE EXCEPTION 'the ledger is append-only'; END IF; RETURN NEW; END $$;"
    "CREATE FUNCTION answer_append() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS"
    " $$ BEGIN IF NEW.seq IS DISTINCT FROM (SELECT max(seq) FROM record) THEN"
    " RAISE EXCEPTION 'the ledger is append-only'; END IF; RETURN NEW; END $$;"
    "CREATE FUNCTION head_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS"
    " $$ BEGIN IF NEW.records <= OLD.records THEN"
    " RAISE EXCEPTION 'the ledger is append-only'; END IF; RETURN NEW; END $$;"
    "INSERT INTO head(id, records, hash) VALUES(0, 0, ''::bytea);"
    "CREATE TRIGGER record_append BEFORE INSERT ON record FOR EACH ROW EXECUTE FUNCTION record_append();"
    "CREATE TRIGGER record_update BEFORE UPDATE OR DELETE ON record FOR EACH ROW EXECUTE FUNCTION refuse();"
    "CREATE TRIGGER record_truncate BEFORE TRUNCATE ON record EXECUTE FUNCTION refuse();"
    "CREATE TRIGGER answer_append BEFORE INSERT ON answer FOR EACH ROW EXECUTE FUNCTION answer_append();"
    "CREATE TRIGGER answer_update BEFORE UPDATE OR DELETE ON answer FOR EACH ROW EXECUTE FUNCTION refuse();"
    "CREATE TRIGGER answer_truncate BEFORE TRUNCATE ON answer EXECUTE FUNCTION refuse();"
    "CREATE TRIGGER head_insert BEFORE INSERT OR DELETE ON head FOR EACH ROW EXECUTE FUNCTION refuse();"
    "CREATE TRIGGER head_update BEFORE UPDATE ON head FOR EACH ROW EXECUTE FUNCTION head_update();"
    "CREATE TRIGGER head_truncate BEFORE TRUNCATE ON head EXECUTE FUNCTION refuse();";

tacet_status tacet__ledger_make_tables(tacet__db *db, tacet_error *err) {
    const bool shared = tacet__db_shared(db);
    char mark[192];
    (void)snprintf(mark, sizeof mark,
                   shared
                       ? "INSERT INTO format VALUES(%d, %d); CREATE TRIGGER format_update BEFORE INSERT OR UPDATE OR "
                         "DELETE OR TRUNCATE ON format EXECUTE FUNCTION refuse()"
                       : "PRAGMA application_id=%d; PRAGMA user_version=%d",
                   TACET__LEDGER_APPLICATION, TACET__LEDGER_VERSION);
    const tacet_status status = tacet__db_exec(db, shared ? SCHEMA_TABLES : FILE_TABLES, err);
    return status == TACET_OK ? tacet__db_exec(db, mark, err) : status;
}

tacet_status tacet__ledger_number(tacet__db *db, int64_t *out, const char *sql, tacet_error *err) {
    tacet__query *query = NULL;
    tacet_error detail = {TACET_OK, ""};
    bool row = false;
    *out = 0;
    tacet_status status = tacet__db_prepare(db, &query, sql, &detail);
    TACET_THEN(status, tacet__query_step(query, &row, &detail));
    if (status == TACET_OK) {
        *out = tacet__query_int(query, 0);
    }
    tacet__query_free(query);
    if (status == TACET_STATE) { /* a table that is missing */
        return tacet__fail(err, TACET_CORRUPT, "the tables of a ledger are missing or changed, or were emptied");
    }
    return status == TACET_OK ? status : tacet__fail(err, status, "%s", detail.message);
}

tacet_status tacet__ledger_check_tables(tacet__db *db, const char *path, tacet_error *err) {
    const bool shared = tacet__db_shared(db);
    /* A URL may have a password: it is named in no message. */
    const char *name = shared ? "the schema" : path;
    int64_t application = 0, version = 0, triggers = 0, open = 0;
    tacet_status status = tacet__ledger_number(db, &application, TACET__LEDGER_SQL_APPLICATION(shared), err);
    TACET_THEN(status, tacet__ledger_number(db, &version, TACET__LEDGER_SQL_VERSION(shared), err));
    TACET_THEN(status, tacet__ledger_number(db, &triggers, TACET__LEDGER_SQL_TRIGGERS(shared), err));
    if (status != TACET_OK) {
        return status;
    }
    if (application != TACET__LEDGER_APPLICATION || version != TACET__LEDGER_VERSION) {
        return tacet__fail(err, TACET_CORRUPT, "%s is no ledger of version %d, or was emptied", name,
                           TACET__LEDGER_VERSION);
    }
    if (triggers != (shared ? TACET__LEDGER_SHARED_TRIGGERS : TACET__LEDGER_TRIGGERS)) {
        return tacet__fail(err, TACET_CORRUPT, "%s has lost the triggers that keep it append-only", name);
    }
    return tacet__ledger_number(db, &open, "SELECT count(*) FROM mint", err); /* that it can be read */
}
