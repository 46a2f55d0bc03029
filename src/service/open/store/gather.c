/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c - one transaction for several studies of the open store. Ring: open. What a part has written cannot be
 * taken back by itself (a savepoint would copy each page it touches), so a part that fails ends the whole: that is a
 * disk that is full or broken, or memory that is short. Cost: one sync for all parts, where each would have cost one
 * commit and a turn of its own. */
#include "service/open/store/internal.h"

#include "core/fail.h"

bool tacet__studies_can_gather(const tacet__studies_settings *settings) {
    return !tacet__db_is_url(settings->open_store != NULL ? settings->open_store : settings->store);
}

static bool is_part(const tacet__studies *studies, const tacet__half *half) {
    return studies->gathering && half == &studies->open;
}

tacet_status tacet__part_begin(tacet__studies *studies, tacet__half *half, tacet_error *err) {
    studies->touched = false;
    if (is_part(studies, half)) {
        return studies->gathered_lost ? tacet__fail(err, TACET_IO, "the transaction of several studies was lost")
                                      : TACET_OK;
    }
    return tacet__half_begin(half, true, err);
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
    const tacet_status status = tacet__half_begin(half, true, err);
    studies->touched = false;
    studies->gathering = status == TACET_OK;
    studies->gathered_changes = studies->gathered_lost = false;
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
        return tacet__fail(err, TACET_IO, "the transaction of several studies was lost");
    }
    if (studies->gathered_changes) {
        return tacet__db_commit(half->db, err);
    }
    tacet__db_rollback(half->db);
    return TACET_OK;
}
