/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - the log of a study: one transaction per batch, appending, snapshots. Reading it: find.c.
 * Ring: open. Each event's hash is BLAKE2b-128 over the hash before it and all its fields; the first follows a hash
 * of the study's name and definition. What a batch changes of the study's own row is written once, with its commit.
 * Cost: one to three rows per event. */
#include "service/open/store/internal.h"

#include "core/fail.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t tacet__place(uint64_t number, uint64_t seq) {
    return (int64_t)(number << TACET__SEQ_BITS | seq);
}

static void put_u64(unsigned char *out, uint64_t value) {
    for (size_t i = 0; i < 8; i++) {
        out[i] = (unsigned char)(value >> (8 * i));
    }
}

void tacet__chain_start(unsigned char out[TACET__EVENT_HASH_BYTES], const tacet__study *study) {
    crypto_generichash_state state;
    unsigned char length[8];
    put_u64(length, strlen(study->name));
    (void)crypto_generichash_init(&state, NULL, 0, TACET__EVENT_HASH_BYTES);
    (void)crypto_generichash_update(&state, length, sizeof length);
    (void)crypto_generichash_update(&state, (const unsigned char *)study->name, strlen(study->name));
    (void)crypto_generichash_update(&state, study->definition.data, study->definition.size);
    (void)crypto_generichash_final(&state, out, TACET__EVENT_HASH_BYTES);
}

/* hash: the one before, then this event's. */
void tacet__chain(unsigned char hash[TACET__EVENT_HASH_BYTES], const tacet__event *event) {
    enum { FIELDS = 8 };
    crypto_generichash_state state;
    unsigned char head[TACET__EVENT_HASH_BYTES + FIELDS * 8];
    const uint64_t fields[FIELDS] = {event->seq,
                                     (uint64_t)event->kind,
                                     event->time,
                                     event->of,
                                     event->number,
                                     event->index,
                                     (uint64_t)tacet__bits_of(event->value),
                                     event->key == NULL ? UINT64_MAX : event->key_size};
    memcpy(head, hash, TACET__EVENT_HASH_BYTES);
    for (size_t i = 0; i < FIELDS; i++) {
        put_u64(head + TACET__EVENT_HASH_BYTES + 8 * i, fields[i]);
    }
    (void)crypto_generichash_init(&state, NULL, 0, TACET__EVENT_HASH_BYTES);
    (void)crypto_generichash_update(&state, head, sizeof head);
    if (event->key != NULL) {
        (void)crypto_generichash_update(&state, event->key, event->key_size);
    }
    if (event->body_size > 0) {
        (void)crypto_generichash_update(&state, event->body, event->body_size);
    }
    if (event->null || (event->kind == TACET__EVENT_SUGGEST && (event->has_owner || event->has_person))) {
        unsigned char whose[3 + 2 * TACET__HOLDER_BYTES] = {event->has_owner, event->has_person, event->null};
        const bool suggest = event->kind == TACET__EVENT_SUGGEST;
        if (suggest && event->has_owner) {
            memcpy(whose + 3, event->owner, TACET__HOLDER_BYTES);
        }
        if (suggest && event->has_person) {
            memcpy(whose + 3 + TACET__HOLDER_BYTES, event->person, TACET__HOLDER_BYTES);
        }
        whose[0] = suggest && event->has_owner;
        whose[1] = suggest && event->has_person;
        (void)crypto_generichash_update(&state, whose, sizeof whose);
    }
    (void)crypto_generichash_final(&state, hash, TACET__EVENT_HASH_BYTES);
}

/* A key is stored by its hash under the study's secret: no key of one study can be found by that of another. */
void tacet__hash_key(unsigned char out[TACET__KEY_HASH_BYTES], const tacet__study *study, const void *key,
                     size_t size) {
    (void)crypto_generichash(out, TACET__KEY_HASH_BYTES, key, size, study->secret, sizeof study->secret);
}

void tacet__take_text(char *out, size_t size, tacet__query *query, int column) {
    size_t length = 0;
    const unsigned char *text = tacet__query_bytes(query, column, &length);
    length = length < size ? length : size - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

tacet_status tacet__read_head(tacet__half *half, tacet__study *out, uint64_t number, bool lock, tacet_error *err) {
    tacet__query *query = half->queries[lock ? TACET__Q_STUDY_LOCK : TACET__Q_STUDY_LOOK];
    bool row = false;
    size_t size = 0;
    tacet__query_bind_int(query, 1, (int64_t)number);
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && !row) {
        status = tacet__fail(err, TACET_CORRUPT, "a study has vanished from the store");
    }
    if (status == TACET_OK) {
        out->fence = (uint64_t)tacet__query_int(query, 8);
        const unsigned char *hash = tacet__query_bytes(query, 2, &size);
        out->state = (tacet__study_state)tacet__query_int(query, 0);
        out->head = (uint64_t)tacet__query_int(query, 1);
        out->snapshot = (uint64_t)tacet__query_int(query, 3);
        out->suggested = (uint64_t)tacet__query_int(query, 4);
        out->observed = (uint64_t)tacet__query_int(query, 5);
        out->released = (uint64_t)tacet__query_int(query, 6);
        out->rounds = (uint64_t)tacet__query_int(query, 7);
        if (size == TACET__EVENT_HASH_BYTES) {
            memcpy(out->hash, hash, size);
        } else if (tacet__query_no_memory(query)) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study");
        } else {
            status = tacet__fail(err, TACET_CORRUPT, "a study in the store has no hash of its log");
        }
    }
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__write_head(tacet__half *half, const tacet__study *study, uint64_t number, tacet_error *err) {
    tacet__query *query = half->queries[TACET__Q_STUDY_SET];
    tacet__query_bind_int(query, 1, (int64_t)number);
    tacet__query_bind_int(query, 2, study->state);
    tacet__query_bind_int(query, 3, (int64_t)study->head);
    tacet__query_bind_bytes(query, 4, study->hash, sizeof study->hash);
    tacet__query_bind_int(query, 5, (int64_t)study->snapshot);
    tacet__query_bind_int(query, 6, (int64_t)study->suggested);
    tacet__query_bind_int(query, 7, (int64_t)study->observed);
    tacet__query_bind_int(query, 8, (int64_t)study->released);
    tacet__query_bind_int(query, 9, (int64_t)study->fence);
    return tacet__query_send(query, err);
}

tacet_status tacet__studies_begin(tacet__studies *studies, tacet__study *study, tacet_error *err) {
    tacet__half *half = tacet__log_half(studies, study);
    if (studies->writing != NULL) {
        return tacet__fail(err, TACET_STATE, "a transaction is open already");
    }
    if (half == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    TACET_OR_RETURN(tacet__part_begin(studies, half, err));
    tacet__query_bind_int(half->queries[TACET__Q_STUDY_LOCK], 1, (int64_t)study->number);
    tacet_status status =
        studies->wish_count > 0 ? tacet__query_ahead(half->queries[TACET__Q_STUDY_LOCK], err) : TACET_OK;
    TACET_THEN(status, tacet__ask_wishes(studies, half, study->number, err));
    TACET_THEN(status, tacet__read_head(half, study, study->number, true, err));
    if (status == TACET_OK && !study->checked) {
        status = tacet__check_shown(studies, study, err);
    }
    if (status != TACET_OK) {
        tacet__part_rollback(studies, half);
        studies->wish_count = 0;
        return status;
    }
    study->checked = true;
    studies->writing = half;
    studies->number = study->number;
    studies->study = study;
    studies->changed = false;
    studies->looked_count = 0;
    studies->held_count = 0;
    status = tacet__take_wishes(studies, half, err);
    studies->wish_count = 0;
    if (status != TACET_OK) {
        tacet__studies_rollback(studies);
    }
    return status;
}

/* That a transaction of this very study is open. */
static tacet_status writing(const tacet__studies *studies, const tacet__study *study, tacet_error *err) {
    return studies->writing != NULL && studies->study == study
               ? TACET_OK
               : tacet__fail(err, TACET_STATE, "no transaction of this study is open");
}

static bool good_fields(const tacet__event *event) {
    const bool suggest = event->kind == TACET__EVENT_SUGGEST;
    const bool observe = event->kind == TACET__EVENT_OBSERVE || event->kind == TACET__EVENT_EXPIRE;
    return (suggest || observe || event->kind == TACET__EVENT_RELEASE) && event->body_size <= TACET__EVENT_BODY_MOST &&
           (event->body != NULL || event->body_size == 0) &&
           (event->key == NULL || (suggest && event->key_size >= 1 && event->key_size <= TACET__EVENT_KEY_MOST)) &&
           (observe ? event->of != 0 && event->body_size == 0 : event->of == 0) &&
           (suggest || event->index == TACET__NO_INDEX) &&
           (event->kind != TACET__EVENT_EXPIRE || tacet__bits_of(event->value) == 0) &&
           (!event->null || suggest || event->kind == TACET__EVENT_OBSERVE) &&
           (event->index <= INT64_MAX || event->index == TACET__NO_INDEX) && event->number <= INT64_MAX;
}

/* What can be refused without writing. */
static tacet_status check_append(tacet__studies *studies, const tacet__study *study, const tacet__event *event,
                                 const unsigned char key[TACET__KEY_HASH_BYTES], tacet_error *err) {
    tacet__suggestion there;
    tacet_status status = writing(studies, study, err);
    if (status != TACET_OK) {
        return status;
    }
    if (study->state != TACET__STUDY_ACTIVE) {
        return tacet__fail(err, TACET_STATE, "the study is archived");
    }
    if (study->head + 1 >= (uint64_t)1 << TACET__SEQ_BITS) {
        return tacet__fail(err, TACET_OVERFLOW, "the study's log is full");
    }
    if (event->kind == TACET__EVENT_OBSERVE || event->kind == TACET__EVENT_EXPIRE) {
        status = tacet__find(studies, studies->writing, study->number, &there, event->of, NULL, err);
        if (status == TACET_NOT_FOUND) {
            return tacet__fail(err, status, "there is no such suggestion");
        }
        if (status == TACET_OK && (there.observed || there.expired)) {
            return tacet__fail(err, TACET_CONFLICT, "the suggestion was observed already, or has expired");
        }
    } else if (event->key != NULL) {
        status = tacet__find(studies, studies->writing, study->number, &there, 0, key, err);
        if (status == TACET_OK) {
            return tacet__fail(err, TACET_CONFLICT, "the key was used before");
        }
        status = status == TACET_NOT_FOUND ? TACET_OK : status;
    }
    return status;
}

static void bind_event(tacet__query *query, uint64_t number, const tacet__event *event) {
    tacet__query_bind_int(query, 1, tacet__place(number, event->seq));
    tacet__query_bind_int(query, 2, event->kind);
    tacet__query_bind_int(query, 3, (int64_t)event->time);
    tacet__query_bind_int(query, 4, (int64_t)event->of);
    tacet__query_bind_int(query, 5, (int64_t)event->number);
    tacet__query_bind_int(query, 6, (int64_t)event->index);
    tacet__query_bind_int(query, 7, tacet__bits_of(event->value));
    if (event->key != NULL) {
        tacet__query_bind_bytes(query, 8, event->key, event->key_size);
    }
    tacet__query_bind_bytes(query, 9, event->body, event->body_size);
    tacet__query_bind_bytes(query, 10, event->hash, sizeof event->hash);
    tacet__query_bind_int(query, 13, event->null);
}

static tacet_status insert_event(tacet__studies *studies, const tacet__event *event, tacet_error *err) {
    tacet__query *query = studies->writing->queries[TACET__Q_EVENT_ADD];
    bind_event(query, studies->number, event);
    if (event->kind == TACET__EVENT_SUGGEST && event->has_owner) {
        tacet__query_bind_bytes(query, 11, event->owner, TACET__HOLDER_BYTES);
    }
    if (event->kind == TACET__EVENT_SUGGEST && event->has_person) {
        tacet__query_bind_bytes(query, 12, event->person, TACET__HOLDER_BYTES);
    }
    return tacet__query_send(query, err);
}

/* The rows by which an event is found again. */
static tacet_status insert_finders(tacet__studies *studies, const tacet__event *event,
                                   const unsigned char key[TACET__KEY_HASH_BYTES], tacet_error *err) {
    tacet__query *const *queries = studies->writing->queries;
    if (event->kind == TACET__EVENT_OBSERVE || event->kind == TACET__EVENT_EXPIRE) {
        const int64_t seq = (int64_t)event->seq;
        tacet__forget_looked(studies, event->of, NULL);
        tacet__query_bind_int(queries[TACET__Q_OBSERVED_ADD], 1, tacet__place(studies->number, event->of));
        tacet__query_bind_int(queries[TACET__Q_OBSERVED_ADD], 2, event->kind == TACET__EVENT_EXPIRE ? -seq : seq);
        tacet__query_bind_int(queries[TACET__Q_OBSERVED_ADD], 3, tacet__bits_of(event->value));
        return tacet__query_send(queries[TACET__Q_OBSERVED_ADD], err);
    }
    if (event->kind == TACET__EVENT_RELEASE) {
        tacet__query_bind_int(queries[TACET__Q_RELEASE_ADD], 1, tacet__place(studies->number, event->number));
        tacet__query_bind_bytes(queries[TACET__Q_RELEASE_ADD], 2, event->body, event->body_size);
        return tacet__query_send(queries[TACET__Q_RELEASE_ADD], err);
    }
    if (event->key == NULL) {
        return TACET_OK;
    }
    tacet__forget_looked(studies, 0, key);
    tacet__query_bind_bytes(queries[TACET__Q_KEY_ADD], 1, key, TACET__KEY_HASH_BYTES);
    tacet__query_bind_int(queries[TACET__Q_KEY_ADD], 2, tacet__place(studies->number, event->seq));
    return tacet__query_send(queries[TACET__Q_KEY_ADD], err);
}

tacet_status tacet__studies_append(tacet__studies *studies, tacet__study *study, tacet__event *event,
                                   tacet_error *err) {
    unsigned char key[TACET__KEY_HASH_BYTES] = {0};
    if (!good_fields(event)) {
        return tacet__fail(err, TACET_INVALID, "the fields of an event do not fit its kind, or are too large");
    }
    if (event->key != NULL) {
        tacet__hash_key(key, study, event->key, event->key_size);
    }
    TACET_OR_RETURN(check_append(studies, study, event, key, err));
    event->seq = study->head + 1;
    event->time = (uint64_t)time(NULL);
    if (event->kind == TACET__EVENT_RELEASE) {
        event->number = study->released + 1;
    }
    /* Set before the first row is written: a part of a gathered transaction that fails from here on cannot be taken
     * back by itself (gather.c). All that may refuse the event was looked at above. */
    studies->touched = true;
    memcpy(event->hash, study->hash, sizeof event->hash);
    tacet__chain(event->hash, event);
    tacet_status status = insert_event(studies, event, err);
    TACET_THEN(status, insert_finders(studies, event, key, err));
    TACET_THEN(status, tacet__count_held(studies, event, err));
    if (status != TACET_OK) {
        return status;
    }
    studies->changed = true;
    study->head = event->seq;
    memcpy(study->hash, event->hash, sizeof study->hash);
    study->suggested += event->kind == TACET__EVENT_SUGGEST;
    study->observed += event->kind == TACET__EVENT_OBSERVE;
    study->released += event->kind == TACET__EVENT_RELEASE;
    return TACET_OK;
}

tacet_status tacet__studies_put_snapshot(tacet__studies *studies, tacet__study *study, const void *bytes, size_t size,
                                         tacet_error *err) {
    TACET_OR_RETURN(writing(studies, study, err));
    studies->touched = true;
    tacet__query *add = studies->writing->queries[TACET__Q_SNAPSHOT_ADD];
    tacet__query *drop = studies->writing->queries[TACET__Q_SNAPSHOT_DROP];
    tacet__query_bind_int(add, 1, tacet__place(study->number, study->head));
    tacet__query_bind_bytes(add, 2, bytes, size);
    tacet_status status = tacet__query_send(add, err);
    if (status == TACET_OK) {
        tacet__query_bind_int(drop, 1, tacet__place(study->number, 0));
        tacet__query_bind_int(drop, 2, tacet__place(study->number, study->snapshot));
        status = tacet__query_send(drop, err);
    }
    if (status == TACET_OK) {
        study->snapshot = study->head;
        studies->changed = true;
    }
    return status;
}

tacet_status tacet__studies_take(tacet__studies *studies, tacet__study *study, tacet_error *err) {
    const tacet_status status = writing(studies, study, err);
    if (status == TACET_OK) {
        study->fence++;
        studies->changed = true;
    }
    return status;
}

static void forget_transaction(tacet__studies *studies) {
    studies->writing = NULL;
    studies->study = NULL;
    studies->looked_count = 0;
    studies->held_count = 0;
}

tacet_status tacet__studies_commit(tacet__studies *studies, tacet_error *err) {
    tacet__half *half = studies->writing;
    if (half == NULL) {
        return tacet__fail(err, TACET_STATE, "no transaction is open");
    }
    tacet_status status = TACET_OK;
    if (studies->changed) { /* the study's own row, once a batch */
        studies->touched = true;
        status = tacet__write_head(half, studies->study, studies->number, err);
        TACET_THEN(status, tacet__write_held(studies, err));
    }
    TACET_THEN(status, tacet__part_commit(studies, half, err));
    if (status == TACET_OK) {
        forget_transaction(studies);
    } else {
        tacet__studies_rollback(studies);
    }
    return status;
}

tacet_status tacet__studies_settle(tacet__studies *studies, const tacet__study *study, tacet_error *err) {
    tacet__half *half = tacet__log_half(studies, study);
    if (studies->writing != NULL) {
        return tacet__fail(err, TACET_STATE, "a transaction is open");
    }
    return half != NULL ? tacet__db_settle(half->db, err) : TACET_OK;
}

void tacet__studies_rollback(tacet__studies *studies) {
    if (studies->writing == NULL) {
        return;
    }
    tacet__part_rollback(studies, studies->writing);
    forget_transaction(studies);
}
