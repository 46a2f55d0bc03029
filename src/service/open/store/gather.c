/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c - one transaction for several studies of the open store. Ring: open. What a part has written cannot be
 * taken back by itself (a savepoint would copy each page it touches), so a part that fails ends the whole: that is a
 * disk that is full or broken, or memory that is short. Cost: one sync for all parts, where each would have cost one
 * commit and a turn of its own. */
#include "service/open/store/internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <stdatomic.h>

bool tacet__studies_can_gather(const tacet__studies_settings *settings) {
    return !tacet__db_is_url(settings->open_store != NULL ? settings->open_store : settings->store);
}

static void begin_era(tacet__studies *studies) {
    static atomic_uint_fast64_t eras;
    studies->era = 1 + atomic_fetch_add(&eras, 1);
    tacet__recent_forget(studies);
}

static size_t kept_slot(const unsigned char *hash) {
    uint64_t word = 0;
    memcpy(&word, hash, sizeof word);
    return (size_t)(word % TACET__KEPT_MOST);
}

const tacet__held *tacet__kept_find(const tacet__studies *studies, const unsigned char hash[TACET__HOLDER_BYTES]) {
    const tacet__kept_row *row = studies->kept != NULL ? &studies->kept[kept_slot(hash)] : NULL;
    return studies->gathering && studies->writing == &studies->open && row != NULL && row->era == studies->era &&
                   memcmp(row->hash, hash, TACET__HOLDER_BYTES) == 0
               ? &row->held
               : NULL;
}

void tacet__kept_set(tacet__studies *studies, const unsigned char hash[TACET__HOLDER_BYTES], const tacet__held *held) {
    if (!studies->gathering || studies->writing != &studies->open) {
        return;
    }
    if (studies->kept == NULL) {
        studies->kept = TACET__ZALLOC(tacet__kept_row, TACET__KEPT_MOST); /* NULL: they are read each time */
    }
    if (studies->kept != NULL) {
        tacet__kept_row *row = &studies->kept[kept_slot(hash)];
        memcpy(row->hash, hash, TACET__HOLDER_BYTES);
        row->held = *held;
        row->era = studies->era;
    }
}

static bool is_part(const tacet__studies *studies, const tacet__half *half) {
    return studies->gathering && half == &studies->open;
}

static tacet_status begin_rows(tacet__studies *studies, tacet__half *half, bool gathers, tacet_error *err) {
    bool sorted = false;
    tacet_status status = tacet__half_relax(half, false, err);
    status = status != TACET_OK ? status : tacet__db_begin_rows(half->db, err);
    if (status != TACET_OK || gathers) {
        return status;
    }
    /* Whatever becomes of this transaction, it stays sorted. */
    status = tacet__recent_begun(studies, half, &sorted, err);
    if (status == TACET_OK && sorted) {
        status = tacet__db_commit(half->db, err);
        status = status != TACET_OK ? status : tacet__db_begin_rows(half->db, err);
    }
    if (status != TACET_OK) {
        tacet__db_rollback(half->db);
    }
    return status;
}

tacet_status tacet__part_begin(tacet__studies *studies, tacet__half *half, tacet_error *err) {
    studies->touched = false;
    if (is_part(studies, half)) {
        return studies->gathered_lost ? tacet__fail(err, TACET_IO, "the transaction of several studies was lost")
                                      : TACET_OK;
    }
    return begin_rows(studies, half, false, err);
}

tacet_status tacet__part_commit(tacet__studies *studies, tacet__half *half, tacet_error *err) {
    if (!is_part(studies, half)) {
        return tacet__db_commit(half->db, err);
    }
    studies->gathered_changes = studies->gathered_changes || studies->touched;
    return TACET_OK;
}

void tacet__part_rollback(tacet__studies *studies, tacet__half *half) {
    if (is_part(studies, half)) {
        studies->gathered_lost = studies->gathered_lost || studies->touched;
    } else {
        tacet__db_rollback(half->db);
    }
}

tacet_status tacet__studies_gather(tacet__studies *studies, tacet_error *err) {
    tacet__half *half = &studies->open;
    if (studies->writing != NULL || studies->gathering) {
        return tacet__fail(err, TACET_STATE, "a transaction is open already");
    }
    if (tacet__db_shared(half->db)) {
        return tacet__fail(err, TACET_DENIED, "studies in PostgreSQL have a lock each");
    }
    bool sorted = false;
    tacet_status status = begin_rows(studies, half, true, err);
    studies->touched = false;
    studies->gathering = status == TACET_OK;
    studies->gathered_changes = studies->gathered_unsettled = studies->gathered_lost = false;
    const uint64_t version = status == TACET_OK ? tacet__db_version(half->db) : 0;
    studies->puts_off = version != 0 && version == studies->version;
    studies->version = 0; /* until this one has ended well */
    if (status == TACET_OK && !studies->puts_off) {
        begin_era(studies);
        status = tacet__recent_begun(studies, half, &sorted, err);
    } else if (status == TACET_OK) {
        status = tacet__recent_due(studies, err);
    }
    if (status != TACET_OK && studies->gathering) {
        tacet__db_rollback(half->db);
        studies->gathering = false;
    }
    return status;
}

tacet_status tacet__studies_gathered(tacet__studies *studies, tacet_error *err) {
    tacet__half *half = &studies->open;
    if (!studies->gathering) {
        return tacet__fail(err, TACET_STATE, "no transaction of several studies is open");
    }
    tacet__studies_rollback(studies);
    studies->gathering = false;
    if (studies->gathered_lost) {
        tacet__db_rollback(half->db);
        begin_era(studies);
        return tacet__fail(err, TACET_IO, "the transaction of several studies was lost");
    }
    if (studies->gathered_changes) {
        const tacet_status status = tacet__db_commit(half->db, err);
        if (status == TACET_OK) {
            studies->version = tacet__db_version(half->db);
        }
        return status;
    }
    tacet__db_rollback(half->db);
    studies->version = tacet__db_version(half->db);
    return studies->gathered_unsettled ? tacet__db_settle(half->db, err) : TACET_OK;
}
