/* SPDX-License-Identifier: Apache-2.0 */
/* delete.c - takes a study out of the store. Ring: open. Its rows go; its number stays taken, under a name that nobody
 * can ask for, so that a server which still has it in memory finds that it is gone, and never another study in its
 * place. A central study is deleted where its log is first; whoever finds it shown still then does the rest.
 * Cost: O(events). */
#include "service/open/store/internal.h"

#include "core/fail.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* "NAME#N", N its number where it is shown. */
static void name_of_grave(char out[TACET__GRAVE], const char *name, uint64_t open_number) {
    (void)snprintf(out, TACET__GRAVE, "%s#%llu", name, (unsigned long long)open_number);
}

/* In one transaction. `head`: the events that there may be; NULL: any. */
static tacet_status bury(tacet__half *half, uint64_t number, const char *name, uint64_t open_number,
                         const uint64_t *head, bool open, tacet_error *err) {
    static const char *const BY_PLACE[] = {"event", "observed", "client_key", "snapshot", "release", "shown"};
    char sql[512];
    char grave[TACET__GRAVE];
    tacet__study there;
    name_of_grave(grave, name, open_number);
    TACET_OR_RETURN(tacet__half_begin(half, true, err));
    tacet_status status = tacet__read_head(half, &there, number, true, err);
    if (status == TACET_OK && head != NULL && there.head != *head) {
        status = tacet__fail(err, TACET_BUSY, "the study went on meanwhile");
    }
    for (size_t i = 0; status == TACET_OK && i < sizeof BY_PLACE / sizeof BY_PLACE[0] - !open; i++) {
        (void)snprintf(sql, sizeof sql, "DELETE FROM %s WHERE place >= %lld AND place < %lld", BY_PLACE[i],
                       (long long)tacet__place(number, 0), (long long)tacet__place(number + 1, 0));
        status = tacet__db_exec(half->db, sql, err);
    }
    (void)snprintf(sql, sizeof sql, "DELETE FROM holder WHERE study = %llu; DELETE FROM definition WHERE number = %llu",
                   (unsigned long long)number, (unsigned long long)number);
    TACET_THEN(status, tacet__db_exec(half->db, sql, err));
    (void)snprintf(sql, sizeof sql, "DELETE FROM token WHERE study = '%s'", name);
    if (open) {
        TACET_THEN(status, tacet__db_exec(half->db, sql, err));
    }
    (void)snprintf(sql, sizeof sql, "UPDATE study SET name = '%s', state = %d, secret = %s WHERE number = %llu", grave,
                   (int)TACET__STUDY_DELETED, tacet__db_shared(half->db) ? "''::bytea" : "x''",
                   (unsigned long long)number);
    TACET_THEN(status, tacet__db_exec(half->db, sql, err));
    status = tacet__half_end(half, status, err);
    return status == TACET_CONFLICT || status == TACET_STATE ? TACET_IO : status; /* no fault of the client's */
}

/* Of a central study that released nothing: another one of its name begins anew. */
static tacet_status drop_ledger(tacet__studies *studies, const char *name, tacet_error *err) {
    static const char *const TAILS[] = {"", "-wal", "-shm", ".key"};
    char text[TACET__STUDY_NAME_MOST + 80];
    tacet_blob ledger;
    tacet_blob_init(&ledger);
    tacet_status status = TACET_OK;
    if (tacet__db_shared(studies->trusted.db)) {
        (void)snprintf(text, sizeof text, "DROP SCHEMA IF EXISTS \"tacet_ledger_%s\" CASCADE", name);
        status = tacet__db_exec(studies->trusted.db, text, err);
    } else {
        status = tacet__studies_ledger(studies, &ledger, name, err);
        for (size_t i = 0; status == TACET_OK && i < sizeof TAILS / sizeof TAILS[0]; i++) {
            const size_t size = ledger.size + strlen(TAILS[i]);
            char *path = malloc(size);
            if (path == NULL) {
                status = tacet__fail(err, TACET_NO_MEMORY, "out of memory deleting a study");
            } else {
                (void)snprintf(path, size, "%s%s", (const char *)ledger.data, TAILS[i]);
                (void)unlink(path);
            }
            free(path);
        }
    }
    tacet_blob_clear(&ledger);
    return status;
}

/* The rest of a deletion: again is harmless. */
static tacet_status unshow_deleted(tacet__studies *studies, const char *name, uint64_t open_number, tacet_error *err) {
    const tacet_status status = drop_ledger(studies, name, err);
    return status != TACET_OK ? status : bury(&studies->open, open_number, name, open_number, NULL, true, err);
}

tacet_status tacet__studies_delete(tacet__studies *studies, const char *name, uint64_t head, tacet_error *err) {
    tacet__study study;
    if (studies->writing != NULL) {
        return tacet__fail(err, TACET_STATE, "a transaction is open");
    }
    tacet__study_init(&study);
    tacet_status status = tacet__studies_get(studies, &study, name, err);
    const bool central = status == TACET_OK && study.model == TACET__STUDY_CENTRAL;
    if (central && studies->trusted.db == NULL) {
        status = tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    tacet__half *half = central ? &studies->trusted : &studies->open;
    TACET_THEN(status, bury(half, study.number, name, study.open_number, &head, !central, err));
    if (central) {
        TACET_THEN(status, unshow_deleted(studies, name, study.open_number, err));
    }
    tacet__study_clear(&study);
    return status;
}

bool tacet__finish_deletion(tacet__studies *studies, const char *name, uint64_t open_number) {
    tacet__query *query = NULL;
    bool deleted = false;
    char grave[TACET__GRAVE];
    name_of_grave(grave, name, open_number);
    if (tacet__db_prepare(studies->trusted.db, &query, "SELECT 1 FROM study WHERE name = ?1", NULL) == TACET_OK) {
        tacet__query_bind_text(query, 1, grave, strlen(grave));
        deleted = tacet__query_step(query, &deleted, NULL) == TACET_OK && deleted;
    }
    tacet__query_free(query);
    return deleted && studies->writing == NULL && unshow_deleted(studies, name, open_number, NULL) == TACET_OK;
}
