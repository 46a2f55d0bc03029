/* SPDX-License-Identifier: Apache-2.0 */
/* restore.c - a store that was put back from a copy: new tickets under another salt, and the open store shown anew.
 * Ring: open. What was drawn after the copy was seen: a central study goes on only where nothing is missing.
 * Cost: O(events) of the study, all of which are shown again. */
#include "service/open/store/care.h"

#include "core/fail.h"
#include "service/open/store/internal.h"

#include <sodium.h>
#include <string.h>

static tacet_status salt_in(tacet__half *half, tacet__study *study, uint64_t number, tacet__study_state state,
                            tacet_error *err) {
    unsigned char bytes[TACET__SALTS_MOST * (8 + TACET__SALT_BYTES)];
    tacet__query *query = half->queries[TACET__Q_STUDY_SALT];
    size_t size = 0;
    for (size_t i = 0; i < study->salt_count; i++) {
        for (size_t k = 0; k < 8; k++) {
            bytes[size++] = (unsigned char)(study->salts[i].after >> (8 * k));
        }
        memcpy(bytes + size, study->salts[i].bytes, TACET__SALT_BYTES);
        size += TACET__SALT_BYTES;
    }
    TACET_OR_RETURN(tacet__half_begin(half, true, err));
    tacet__query_bind_int(query, 1, (int64_t)number);
    tacet__query_bind_bytes(query, 2, bytes, size);
    tacet__query_bind_int(query, 3, state);
    return tacet__half_end(half, tacet__query_run(query, err), err);
}

/* As if the open store had seen nothing of the study yet. */
static tacet_status unshow(tacet__studies *studies, const tacet__study *study, tacet_error *err) {
    unsigned char start[TACET__EVENT_HASH_BYTES];
    tacet__query *drop = studies->open.queries[TACET__Q_SHOWN_DROP];
    tacet__query *set = studies->open.queries[TACET__Q_STUDY_UNSHOW];
    tacet__chain_start(start, study);
    TACET_OR_RETURN(tacet__half_begin(&studies->open, true, err));
    tacet__query_bind_int(drop, 1, tacet__place(study->open_number, 0));
    tacet__query_bind_int(drop, 2, tacet__place(study->open_number + 1, 0));
    tacet_status status = tacet__query_run(drop, err);
    if (status == TACET_OK) {
        tacet__query_bind_int(set, 1, (int64_t)study->open_number);
        tacet__query_bind_bytes(set, 2, start, sizeof start);
        status = tacet__query_run(set, err);
    }
    return tacet__half_end(&studies->open, status, err);
}

tacet_status tacet__studies_restore(tacet__studies *studies, const char *name, bool whole, tacet__study_state *state,
                                    tacet_error *err) {
    tacet__study study;
    tacet__study shown;
    tacet__study_init(&study);
    tacet__study_init(&shown);
    tacet_status status =
        studies->trusted.db != NULL ? tacet__find_study(&studies->trusted, &study, name, err) : TACET_NOT_FOUND;
    const bool central = status == TACET_OK;
    if (status == TACET_NOT_FOUND) {
        status = tacet__find_study(&studies->open, &study, name, err);
        study.open_number = study.number;
    } else if (status == TACET_OK) {
        status = tacet__find_study(&studies->open, &shown, name, err);
        if (status == TACET_NOT_FOUND) { /* the open store was lost */
            tacet__study copy = study;
            tacet_blob_init(&copy.definition);
            status = tacet_blob_append(&copy.definition, study.definition.data, study.definition.size, err);
            TACET_THEN(status, tacet__add_study(&studies->open, &copy, false, err));
            study.open_number = copy.number;
            tacet__study_clear(&copy);
        } else {
            study.open_number = shown.number;
        }
    }
    *state = study.state;
    if (status == TACET_OK && study.state == TACET__STUDY_ACTIVE) {
        /* Noise that was drawn after the copy was seen, and another history would draw other noise. */
        *state = central && !whole && study.head > 0 ? TACET__STUDY_ARCHIVED : TACET__STUDY_ACTIVE;
        if (study.salt_count == TACET__SALTS_MOST) {
            memmove(study.salts, study.salts + 1, (TACET__SALTS_MOST - 1) * sizeof study.salts[0]);
            study.salt_count--;
        }
        study.salts[study.salt_count].after = study.head;
        randombytes_buf(study.salts[study.salt_count].bytes, TACET__SALT_BYTES);
        study.salt_count++;
        status = salt_in(central ? &studies->trusted : &studies->open, &study, study.number, *state, err);
    }
    if (status == TACET_OK && central) {
        status = unshow(studies, &study, err);
        study.checked = true; /* what it had seen is of another history, and forgotten */
        TACET_THEN(status, tacet__studies_project(studies, &study, err));
    }
    tacet__study_clear(&study);
    tacet__study_clear(&shown);
    return status == TACET_NOT_FOUND ? tacet__fail(err, status, "there is no study of this name") : status;
}
