/* SPDX-License-Identifier: Apache-2.0 */
/* holder.c - who holds what of a study: open tickets and rounds, by token and by person.
 * Ring: open. A holder is known by a hash under the study's secret, so that the store has no names, and no holder of
 * one study can be found in another. Counts are kept beside the log and change in its transactions, so that they are as
 * durable as what they count. Cost: one lookup and one write for each holder in a batch. */
#include "service/open/store/internal.h"

#include "core/fail.h"
#include "service/open/study/ticket.h"

#include <string.h>

void tacet__holder_hash(unsigned char out[TACET__HOLDER_BYTES], const tacet__study *study, tacet__holder_kind kind,
                        const void *name, size_t size) {
    tacet__purpose_hash(out, TACET__HOLDER_BYTES,
                        kind == TACET__HOLDER_TOKEN ? "tacet holder token" : "tacet holder person", name, size,
                        study->secret);
}

tacet__query *tacet__bind_holder(tacet__half *half, const unsigned char *hash) {
    tacet__query *query = half->queries[TACET__Q_HOLDER_GET];
    tacet__query_bind_bytes(query, 1, hash, TACET__HOLDER_BYTES);
    return query;
}

static tacet_status read_holder(tacet__half *half, tacet__held *out, const unsigned char *hash, tacet_error *err) {
    tacet__query *query = tacet__bind_holder(half, hash);
    bool row = false;
    *out = (tacet__held){0};
    const tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && row) {
        const int64_t open = tacet__query_int(query, 0);
        out->open = open > 0 ? (uint64_t)open : 0;
        out->rounds = (uint64_t)tacet__query_int(query, 1);
    }
    tacet__query_reset(query);
    return status;
}

/* What changes is added to what the store has, so that nothing need be read for it. */
tacet_status tacet__write_held(tacet__studies *studies, tacet_error *err) {
    tacet__query *query = studies->writing->queries[TACET__Q_HOLDER_ADD];
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < studies->held_count; i++) {
        const tacet__held_row *row = &studies->held[i];
        if (row->open != 0 || row->rounds != 0) {
            tacet__query_bind_bytes(query, 1, row->hash, TACET__HOLDER_BYTES);
            tacet__query_bind_int(query, 2, (int64_t)studies->number);
            tacet__query_bind_int(query, 3, row->open);
            tacet__query_bind_int(query, 4, row->rounds);
            status = tacet__query_send(query, err);
        }
    }
    studies->held_count = 0;
    return status;
}

/* The row in this transaction's memory. */
static tacet_status row_of(tacet__studies *studies, tacet__held_row **out, const unsigned char *hash,
                           tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < studies->held_count; i++) {
        if (memcmp(studies->held[i].hash, hash, TACET__HOLDER_BYTES) == 0) {
            *out = &studies->held[i];
            return TACET_OK;
        }
    }
    if (studies->held_count == TACET__HELD_MOST) {
        status = tacet__write_held(studies, err);
    }
    *out = &studies->held[studies->held_count++];
    **out = (tacet__held_row){0};
    memcpy((*out)->hash, hash, TACET__HOLDER_BYTES);
    return status;
}

tacet_status tacet__studies_held(tacet__studies *studies, const tacet__study *study, tacet__held *out,
                                 const unsigned char hash[TACET__HOLDER_BYTES], tacet_error *err) {
    tacet__half *half = tacet__log_half(studies, study);
    if (half == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    if (studies->writing != half || studies->study != study) {
        return read_holder(half, out, hash, err);
    }
    tacet__held_row *row = NULL;
    tacet_status status = row_of(studies, &row, hash, err);
    if (status == TACET_OK && !row->read) {
        status = read_holder(half, &row->held, hash, err);
        row->read = status == TACET_OK;
    }
    if (status == TACET_OK) {
        const int64_t open = (int64_t)row->held.open + row->open;
        *out = (tacet__held){.open = open > 0 ? (uint64_t)open : 0, .rounds = row->held.rounds + (uint64_t)row->rounds};
    }
    return status;
}

static tacet_status change(tacet__studies *studies, const unsigned char *hash, bool present, int open, int rounds,
                           tacet_error *err) {
    tacet__held_row *row = NULL;
    const tacet_status status = present ? row_of(studies, &row, hash, err) : TACET_OK;
    if (status == TACET_OK && row != NULL) {
        row->open += open;
        row->rounds += rounds;
    }
    return status;
}

tacet_status tacet__count_held(tacet__studies *studies, const tacet__event *event, tacet_error *err) {
    const bool suggests = event->kind == TACET__EVENT_SUGGEST;
    if (!suggests && event->kind != TACET__EVENT_OBSERVE && event->kind != TACET__EVENT_EXPIRE) {
        return TACET_OK;
    }
    const tacet_status status =
        change(studies, event->owner, event->has_owner, suggests ? 1 : -1, suggests ? 1 : 0, err);
    return status == TACET_OK
               ? change(studies, event->person, event->has_person, suggests ? 1 : -1, suggests ? 1 : 0, err)
               : status;
}
