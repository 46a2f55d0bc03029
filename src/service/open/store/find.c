/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - reading the log of a study, and finding things in it: suggestions, snapshots, releases.
 * Ring: open. Cost: reading is one pass in chunks, finding one lookup by a key. */
#include "service/open/store/internal.h"

#include "core/fail.h"

#include <string.h>

enum { CHUNK = 1024 /* events in memory at a time, where a store hands them out together */ };

/* An expired suggestion has the number of the event that says so, negated, in place of its observation's. */
static void take_outcome(tacet__suggestion *out, int64_t seq) {
    out->observed_seq = (uint64_t)(seq < 0 ? -seq : seq); /* 0 for NULL */
    out->observed = seq > 0;
    out->expired = seq < 0;
}

static bool take_holder(tacet__query *query, int column, unsigned char out[TACET__HOLDER_BYTES]) {
    size_t size = 0;
    const unsigned char *bytes = tacet__query_bytes(query, column, &size);
    if (size == TACET__HOLDER_BYTES) {
        memcpy(out, bytes, size);
    }
    return size == TACET__HOLDER_BYTES;
}

/* Three columns: owner, person, is_null. */
static void take_holders(tacet__query *query, int column, tacet__event *event) {
    event->has_owner = take_holder(query, column, event->owner);
    event->has_person = take_holder(query, column + 1, event->person);
    event->null = tacet__query_int(query, column + 2) != 0;
}

/* The columns SUGGESTION_COLUMNS of the current row. */
static void take_suggestion(tacet__query *query, tacet__suggestion *out) {
    size_t size = 0;
    memset(out, 0, sizeof *out);
    out->event.seq = tacet__seq_of(tacet__query_int(query, 0));
    out->event.kind = TACET__EVENT_SUGGEST;
    out->event.time = (uint64_t)tacet__query_int(query, 2);
    out->event.number = (uint64_t)tacet__query_int(query, 3);
    out->event.index = (uint64_t)tacet__query_int(query, 4);
    const unsigned char *hash = tacet__query_bytes(query, 5, &size);
    memcpy(out->event.hash, hash, size < sizeof out->event.hash ? size : sizeof out->event.hash);
    take_outcome(out, tacet__query_int(query, 6));
    out->value = tacet__double_of(tacet__query_int(query, 7));
    take_holders(query, 8, &out->event);
}

/* The query that finds it, with what it asks bound. */
static tacet__query *bind_find(tacet__half *half, uint64_t number, uint64_t seq, const unsigned char *key) {
    tacet__query *query = half->queries[seq != 0 ? TACET__Q_SUGGESTION : TACET__Q_KEY_FIND];
    if (seq != 0) {
        tacet__query_bind_int(query, 1, tacet__place(number, seq));
    } else {
        tacet__query_bind_bytes(query, 1, key, TACET__KEY_HASH_BYTES);
    }
    return query;
}

/* The row of TACET__Q_SUGGESTION or _KEY_FIND. NOT_FOUND without a message. */
static tacet_status step_find(tacet__query *query, tacet__suggestion *out, tacet_error *err) {
    bool row = false;
    memset(out, 0, sizeof *out);
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && (!row || tacet__query_int(query, 1) != TACET__EVENT_SUGGEST)) {
        status = TACET_NOT_FOUND;
    }
    if (status == TACET_OK) {
        take_suggestion(query, out);
    }
    tacet__query_reset(query);
    return status;
}

static bool is_of(const tacet__looked *l, uint64_t seq, const unsigned char *key) {
    return seq != 0 ? l->seq == seq : l->seq == 0 && memcmp(l->key, key, sizeof l->key) == 0;
}

/* Found or not: what the answer was. */
static void note_looked(tacet__studies *studies, const tacet__suggestion *found, bool there, uint64_t seq,
                        const unsigned char *key) {
    if (studies->looked_count < TACET__LOOKED_MOST) {
        tacet__looked *l = &studies->looked[studies->looked_count++];
        *l = (tacet__looked){.seq = seq, .there = there, .found = *found};
        if (seq == 0) {
            memcpy(l->key, key, sizeof l->key);
        }
    }
}

tacet_status tacet__find(tacet__studies *studies, tacet__half *half, uint64_t number, tacet__suggestion *out,
                         uint64_t seq, const unsigned char *key, tacet_error *err) {
    const bool inside = studies->writing == half && studies->number == number;
    if (seq >> TACET__SEQ_BITS != 0) {
        return TACET_NOT_FOUND;
    }
    for (size_t i = 0; inside && i < studies->looked_count; i++) {
        if (is_of(&studies->looked[i], seq, key)) {
            *out = studies->looked[i].found;
            return studies->looked[i].there ? TACET_OK : TACET_NOT_FOUND;
        }
    }
    const tacet_status status = step_find(bind_find(half, number, seq, key), out, err);
    if (inside && (status == TACET_OK || status == TACET_NOT_FOUND)) {
        note_looked(studies, out, status == TACET_OK, seq, key);
    }
    return status;
}

void tacet__forget_looked(tacet__studies *studies, uint64_t seq, const unsigned char *key) {
    for (size_t i = studies->looked_count; i-- > 0;) {
        const tacet__looked *l = &studies->looked[i];
        if (is_of(l, seq, key) || (seq != 0 && l->there && l->found.event.seq == seq)) {
            studies->looked[i] = studies->looked[--studies->looked_count];
        }
    }
}

static void wish(tacet__studies *studies, const tacet__study *study, const tacet__wish *what) {
    const tacet__half *half = tacet__log_half(studies, study);
    bool there = half == NULL || !tacet__db_shared(half->db) || studies->wish_count == TACET__LOOKED_MOST;
    for (size_t i = 0; !there && i < studies->wish_count; i++) { /* padding and all: each began as zeros */
        there = memcmp(&studies->wishes[i], what, sizeof *what) == 0;
    }
    if (!there) {
        memcpy(&studies->wishes[studies->wish_count++], what, sizeof *what);
    }
}

void tacet__studies_want_key(tacet__studies *studies, const tacet__study *study, const void *key, size_t size) {
    tacet__wish what;
    memset(&what, 0, sizeof what);
    tacet__hash_key(what.hash, study, key, size);
    wish(studies, study, &what);
}

void tacet__studies_want_suggestion(tacet__studies *studies, const tacet__study *study, uint64_t seq) {
    tacet__wish what;
    memset(&what, 0, sizeof what);
    what.seq = seq;
    if (seq != 0 && seq >> TACET__SEQ_BITS == 0) {
        wish(studies, study, &what);
    }
}

void tacet__studies_want_held(tacet__studies *studies, const tacet__study *study,
                              const unsigned char hash[TACET__HOLDER_BYTES]) {
    tacet__wish what;
    memset(&what, 0, sizeof what);
    what.holder = true;
    memcpy(what.hash, hash, sizeof what.hash);
    wish(studies, study, &what);
}

tacet_status tacet__ask_wishes(tacet__studies *studies, tacet__half *half, uint64_t number, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < studies->wish_count; i++) {
        const tacet__wish *w = &studies->wishes[i];
        tacet__query *query = w->holder ? tacet__bind_holder(half, w->hash) : bind_find(half, number, w->seq, w->hash);
        status = tacet__query_ahead(query, err);
    }
    return status;
}

tacet_status tacet__take_wishes(tacet__studies *studies, tacet__half *half, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < studies->wish_count; i++) {
        const tacet__wish *w = &studies->wishes[i];
        tacet__held held;
        if (w->holder) {
            status = tacet__studies_held(studies, studies->study, &held, w->hash, err);
        } else {
            tacet__suggestion found;
            status = tacet__find(studies, half, studies->number, &found, w->seq, w->hash, err);
            status = status == TACET_NOT_FOUND ? TACET_OK : status;
        }
    }
    return status;
}

/* One row of TACET__Q_EVENT_READ, checked against the hash before it. */
static tacet_status take_event(tacet__query *query, tacet__event *event, uint64_t seq,
                               unsigned char hash[TACET__EVENT_HASH_BYTES], tacet_error *err) {
    size_t hash_size = 0;
    memset(event, 0, sizeof *event);
    event->seq = tacet__seq_of(tacet__query_int(query, 0));
    event->kind = (tacet__event_kind)tacet__query_int(query, 1);
    event->time = (uint64_t)tacet__query_int(query, 2);
    event->of = (uint64_t)tacet__query_int(query, 3);
    event->number = (uint64_t)tacet__query_int(query, 4);
    event->index = (uint64_t)tacet__query_int(query, 5);
    event->value = tacet__double_of(tacet__query_int(query, 6));
    event->key = tacet__query_bytes(query, 7, &event->key_size);
    if (event->key_size == 0) {
        event->key = NULL;
    }
    event->body = tacet__query_bytes(query, 8, &event->body_size);
    const unsigned char *stored = tacet__query_bytes(query, 9, &hash_size);
    take_holders(query, 10, event);
    if (tacet__query_no_memory(query)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading the log");
    }
    if (event->seq != seq) {
        return tacet__fail(err, TACET_CORRUPT, "event %llu of the log is missing", (unsigned long long)seq);
    }
    tacet__chain(hash, event);
    if (hash_size != TACET__EVENT_HASH_BYTES || memcmp(hash, stored, TACET__EVENT_HASH_BYTES) != 0) {
        return tacet__fail(err, TACET_CORRUPT, "event %llu of the log does not match its hash or the one before",
                           (unsigned long long)seq);
    }
    memcpy(event->hash, hash, TACET__EVENT_HASH_BYTES);
    return TACET_OK;
}

tacet_status tacet__read_events(tacet__half *half, uint64_t number, uint64_t from, uint64_t to,
                                unsigned char hash[TACET__EVENT_HASH_BYTES], tacet__event_fn *fn, void *user,
                                tacet_error *err) {
    tacet__query *query = half->queries[TACET__Q_EVENT_READ];
    tacet_status status = TACET_OK;
    uint64_t seq = from;
    while (status == TACET_OK && seq <= to) {
        const uint64_t first = seq;
        bool row = false;
        tacet__query_bind_int(query, 1, tacet__place(number, seq));
        tacet__query_bind_int(query, 2, tacet__place(number, to));
        tacet__query_bind_int(query, 3, CHUNK);
        status = tacet__query_step(query, &row, err);
        for (; status == TACET_OK && row; seq++) {
            tacet__event event;
            status = take_event(query, &event, seq, hash, err);
            TACET_THEN(status, fn(&event, user, err));
            TACET_THEN(status, tacet__query_step(query, &row, err));
        }
        tacet__query_reset(query);
        if (status == TACET_OK && seq == first) {
            status = tacet__fail(err, TACET_CORRUPT, "event %llu of the log is missing", (unsigned long long)seq);
        }
    }
    return status;
}

static tacet_status hash_at(tacet__half *half, const tacet__study *study, uint64_t seq,
                            unsigned char hash[TACET__EVENT_HASH_BYTES], tacet_error *err) {
    tacet__query *query = half->queries[TACET__Q_EVENT_HASH];
    bool row = false;
    size_t size = 0;
    if (seq == 0) {
        tacet__chain_start(hash, study);
        return TACET_OK;
    }
    tacet__query_bind_int(query, 1, tacet__place(study->number, seq));
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK) {
        const unsigned char *bytes = tacet__query_bytes(query, 0, &size);
        if (row && size == TACET__EVENT_HASH_BYTES) {
            memcpy(hash, bytes, size);
        } else {
            status = tacet__fail(err, TACET_CORRUPT, "event %llu of the log is missing", (unsigned long long)seq);
        }
    }
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__studies_read(tacet__studies *studies, const tacet__study *study, uint64_t from, tacet__event_fn *fn,
                                 void *user, tacet_error *err) {
    tacet__half *half = tacet__log_half(studies, study);
    unsigned char hash[TACET__EVENT_HASH_BYTES];
    tacet__study head = {.head = study->head}; /* in a transaction of it, with what was just appended */
    if (from == 0) {
        return tacet__fail(err, TACET_INVALID, "the first event is 1");
    }
    if (half == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    tacet_status status = TACET_OK;
    memcpy(head.hash, study->hash, sizeof head.hash);
    if (studies->writing != half || studies->study != study) {
        status = tacet__read_head(half, &head, study->number, false, err);
    }
    if (status == TACET_OK && from > head.head + 1) {
        return tacet__fail(err, TACET_CORRUPT, "the log ends at event %llu, before %llu: it was cut off",
                           (unsigned long long)head.head, (unsigned long long)from);
    }
    TACET_THEN(status, hash_at(half, study, from - 1, hash, err));
    TACET_THEN(status, tacet__read_events(half, study->number, from, head.head, hash, fn, user, err));
    if (status == TACET_OK && memcmp(hash, head.hash, sizeof hash) != 0) {
        status = tacet__fail(err, TACET_CORRUPT, "the log does not end in the event its study names");
    }
    return status;
}

tacet_status tacet__studies_get_snapshot(tacet__studies *studies, const tacet__study *study, tacet_blob *out,
                                         uint64_t *seq, tacet_error *err) {
    tacet__half *half = tacet__log_half(studies, study);
    bool row = false;
    *seq = 0;
    if (half == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    tacet__query *query = half->queries[TACET__Q_SNAPSHOT_GET];
    tacet__query_bind_int(query, 1, tacet__place(study->number, 0));
    tacet__query_bind_int(query, 2, tacet__place(study->number + 1, 0) - 1);
    tacet_status status = tacet__query_step(query, &row, err);
    if (status == TACET_OK && !row) {
        status = tacet__fail(err, TACET_NOT_FOUND, "the study has no snapshot yet");
    }
    if (status == TACET_OK) {
        size_t size = 0;
        const unsigned char *bytes = tacet__query_bytes(query, 1, &size);
        out->size = 0;
        status = tacet__query_no_memory(query) ? tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a snapshot")
                                               : tacet_blob_append(out, bytes, size, err);
        *seq = tacet__seq_of(tacet__query_int(query, 0));
    }
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__studies_suggestion(tacet__studies *studies, const tacet__study *study, tacet__suggestion *out,
                                       uint64_t seq, tacet_error *err) {
    tacet__half *half = tacet__log_half(studies, study);
    if (half == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    const tacet_status status =
        seq != 0 ? tacet__find(studies, half, study->number, out, seq, NULL, err) : TACET_NOT_FOUND;
    return status == TACET_NOT_FOUND ? tacet__fail(err, status, "there is no such suggestion") : status;
}

tacet_status tacet__studies_waiting(tacet__studies *studies, const tacet__study *study, tacet__suggestion *out,
                                    size_t *count, uint64_t after, tacet_error *err) {
    const size_t most = *count;
    tacet__half *half = tacet__log_half(studies, study);
    bool row = false;
    *count = 0;
    if (half == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    tacet__query *query = half->queries[TACET__Q_WAITING];
    tacet__query_bind_int(query, 1, tacet__place(study->number, after));
    tacet__query_bind_int(query, 2, tacet__place(study->number + 1, 0) - 1);
    tacet__query_bind_int(query, 3, (int64_t)most);
    tacet_status status = tacet__query_step(query, &row, err);
    while (status == TACET_OK && row && *count < most) {
        take_suggestion(query, &out[(*count)++]);
        status = tacet__query_step(query, &row, err);
    }
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__studies_by_key(tacet__studies *studies, const tacet__study *study, tacet__suggestion *out,
                                   const void *key, size_t key_size, tacet_error *err) {
    unsigned char hash[TACET__KEY_HASH_BYTES];
    tacet__half *half = tacet__log_half(studies, study);
    if (half == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    tacet__hash_key(hash, study, key, key_size);
    const tacet_status status = tacet__find(studies, half, study->number, out, 0, hash, err);
    return status == TACET_NOT_FOUND ? tacet__fail(err, status, "no suggestion has this key") : status;
}

tacet_status tacet__studies_get_release(tacet__studies *studies, const tacet__study *study, tacet_blob *out,
                                        uint64_t number, tacet_error *err) {
    tacet__half *half = tacet__log_half(studies, study);
    bool row = false;
    tacet_status status = TACET_NOT_FOUND;
    if (half == NULL) {
        return tacet__fail(err, TACET_DENIED, "a central study needs the trusted store");
    }
    if (number >= 1 && number >> TACET__SEQ_BITS == 0) {
        tacet__query *query = half->queries[TACET__Q_RELEASE_GET];
        tacet__query_bind_int(query, 1, tacet__place(study->number, number));
        status = tacet__query_step(query, &row, err);
        if (status == TACET_OK && row) {
            size_t size = 0;
            const unsigned char *bytes = tacet__query_bytes(query, 0, &size);
            out->size = 0;
            status = tacet_blob_append(out, bytes, size, err);
        }
        tacet__query_reset(query);
        if (status == TACET_OK && !row) {
            status = TACET_NOT_FOUND;
        }
    }
    return status == TACET_NOT_FOUND ? tacet__fail(err, status, "there is no such release") : status;
}
