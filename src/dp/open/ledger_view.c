/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_view.c - a read-only snapshot of a ledger, record by record.
 * Ring: shared. Cost: one pass over the file. */
#include "dp/open/ledger_view.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/db/db.h"
#include "dp/open/ledger_internal.h"

#include <stdlib.h>
#include <string.h>

enum { BUSY_MS = 10000 };

tacet_status tacet__ledger_number(tacet__ledger_view *view, int64_t *out, const char *sql, tacet_error *err) {
    tacet__query *query = NULL;
    tacet_error detail = {TACET_OK, ""};
    bool row = false;
    *out = 0;
    tacet_status status = tacet__db_prepare(view->db, &query, sql, &detail);
    TACET_THEN(status, tacet__query_step(query, &row, &detail));
    if (status == TACET_OK) {
        *out = tacet__query_int(query, 0);
    }
    tacet__query_free(query);
    if (status == TACET_STATE) { /* a table that is missing */
        return tacet__fail(err, TACET_CORRUPT, "the tables of a ledger are missing or changed");
    }
    return status == TACET_OK ? status : tacet__fail(err, status, "%s", detail.message);
}

static tacet_status check_format(tacet__ledger_view *view, const char *path, tacet_error *err) {
    int64_t application = 0;
    int64_t version = 0;
    const bool shared = tacet__db_shared(view->db);
    tacet_status status = tacet__ledger_number(view, &application, TACET__LEDGER_SQL_APPLICATION(shared), err);
    TACET_THEN(status, tacet__ledger_number(view, &version, TACET__LEDGER_SQL_VERSION(shared), err));
    if (status == TACET_OK && (application != TACET__LEDGER_APPLICATION || version != TACET__LEDGER_VERSION)) {
        status = tacet__fail(err, TACET_CORRUPT, "%s is no ledger of version %d, or was emptied", path,
                             TACET__LEDGER_VERSION);
    }
    return status;
}

tacet_status tacet__ledger_view_open(tacet__ledger_view **out, const char *path, tacet_error *err) {
    const tacet__db_settings settings = {.read_only = true, .busy_ms = BUSY_MS};
    *out = NULL;
    tacet__ledger_view *view = TACET__ZALLOC(tacet__ledger_view, 1);
    if (view == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening the ledger");
    }
    tacet_status status = tacet__db_open(&view->db, path, &settings, err);
    TACET_THEN(status, tacet__db_begin(view->db, false, err));
    if (status == TACET_OK) {
        /* A URL may have a password: it is named in no message. */
        status = check_format(view, tacet__db_is_url(path) ? "the schema" : path, err);
    }
    if (status != TACET_OK) {
        tacet__ledger_view_close(view);
        return status;
    }
    *out = view;
    return TACET_OK;
}

void tacet__ledger_view_close(tacet__ledger_view *view) {
    if (view == NULL) {
        return;
    }
    if (view->db != NULL) {
        tacet__db_rollback(view->db);
    }
    tacet__db_close(view->db);
    free(view->answers);
    free(view);
}

static tacet_status corrupt(uint64_t seq, const char *why, tacet_error *err) {
    return tacet__fail(err, TACET_CORRUPT, "ledger record %llu %s", (unsigned long long)seq, why);
}

tacet_status tacet__ledger_each(tacet__ledger_view *view,
                                tacet_status (*visit)(void *user, const tacet__ledger_row *row, tacet_error *err),
                                void *user, tacet_error *err) {
    unsigned char hash[TACET_HASH_BYTES];
    unsigned char previous[TACET_HASH_BYTES] = {0};
    tacet__record record;
    tacet__query *query = NULL;
    tacet_error detail = {TACET_OK, ""};
    bool more = false;
    tacet_status status =
        tacet__db_prepare(view->db, &query, "SELECT seq, body, hash FROM record ORDER BY seq", &detail);
    if (status != TACET_OK) {
        return tacet__fail(err, status == TACET_STATE ? TACET_CORRUPT : status, "%s", detail.message);
    }
    status = tacet__query_step(query, &more, err);
    for (uint64_t seq = 0; status == TACET_OK && more; seq++) {
        size_t hash_size = 0;
        tacet__ledger_row row = {.record = &record, .previous = previous, .hash = hash};
        row.body = tacet__query_bytes(query, 1, &row.body_size);
        const unsigned char *stored = tacet__query_bytes(query, 2, &hash_size);
        tacet__record_hash(hash, previous, row.body, row.body_size);
        if ((uint64_t)tacet__query_int(query, 0) != seq) {
            status = corrupt(seq, "is missing", err);
        } else if (hash_size != TACET_HASH_BYTES || memcmp(hash, stored, TACET_HASH_BYTES) != 0) {
            status = corrupt(seq, "does not match its hash: changed, or the order was", err);
        } else {
            status = tacet__record_decode(&record, row.body, row.body_size, err);
        }
        if (status == TACET_OK && record.seq != seq) {
            status = corrupt(seq, "carries another number", err);
        }
        if (status == TACET_OK) {
            row.answer = seq < view->answers_count ? view->answers[seq] : 0;
            status = visit(user, &row, err);
        }
        if (status == TACET_OK) {
            memcpy(previous, hash, TACET_HASH_BYTES);
            status = tacet__query_step(query, &more, err);
        }
    }
    tacet__query_free(query);
    return status;
}
