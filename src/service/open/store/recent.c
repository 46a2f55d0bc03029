/* SPDX-License-Identifier: Apache-2.0 */
/* recent.c - events of gathered transactions, in the order they came, until they are sorted into their tables.
 * Ring: open. Each study has its own last pages of events and of observations, its row and its holders' rows. Were
 * these changed in each transaction of a hundred studies, a pair would write five pages where a pair of one study
 * writes one. So such a transaction appends its events to one small table, `recent`, from which all else follows; some
 * hundred turns later they are sorted in, a page for all its rows at once. What is true is the tables and `recent`
 * together:
 *  - the handle that gathers knows what is in `recent`, while nobody else commits (the era, gather.c);
 *  - whoever else begins a transaction, or reads, sorts it in first. So does the next opening after a crash.
 * Not on PostgreSQL, where nothing is gathered. Cost: a row an event, and O(log rows) more when it is sorted in. */
#include "service/open/store/internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <string.h>

enum {
    ROWS_MOST = 8192,
    ROWS_DUE = 6144,   /* sorted in by the next turn: some milliseconds, for which it waits */
    HEADS_MOST = 1024, /* studies with something in it */
    HOLDERS_MOST = 2 * ROWS_MOST + TACET__HELD_MOST,
    SLOT_BITS = 16,
    SLOTS = 1 << SLOT_BITS
};

/* A suggestion that is in `recent`; or an older one, of which only what became of it is. */
typedef struct known {
    int64_t place;
    unsigned char key[TACET__KEY_HASH_BYTES];
    bool whole;
    tacet__suggestion s;
} known;

typedef struct holder {
    unsigned char hash[TACET__HOLDER_BYTES];
    uint64_t number; /* of the study */
    tacet__held held;
} holder;

typedef struct part {
    uint64_t number;
    tacet__head head;
} part;

struct tacet__recent {
    size_t rows;
    size_t known_count, holder_count, part_count;
    part parts[HEADS_MOST];
    known known[ROWS_MOST];
    holder holders[HOLDERS_MOST];
    uint16_t by_place[SLOTS], by_key[SLOTS], by_holder[SLOTS], by_number[SLOTS]; /* one more than the index; 0: none */
};

/* Where `bytes` is, or would be: `first` is the field of entry 0, `stride` the size of an entry. */
static uint16_t *slot_of(uint16_t *slots, const void *bytes, size_t size, const void *first, size_t stride) {
    uint64_t word = 0;
    memcpy(&word, bytes, sizeof word);
    size_t at = (size_t)((word * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - SLOT_BITS));
    while (slots[at] != 0 && memcmp((const char *)first + (slots[at] - 1U) * stride, bytes, size) != 0) {
        at = (at + 1) % SLOTS;
    }
    return &slots[at];
}

static uint16_t *place_slot(tacet__recent *t, int64_t place) {
    return slot_of(t->by_place, &place, sizeof place, &t->known[0].place, sizeof t->known[0]);
}

static uint16_t *key_slot(tacet__recent *t, const unsigned char *hash) {
    return slot_of(t->by_key, hash, TACET__KEY_HASH_BYTES, t->known[0].key, sizeof t->known[0]);
}

static uint16_t *holder_slot(tacet__recent *t, const unsigned char *hash) {
    return slot_of(t->by_holder, hash, TACET__HOLDER_BYTES, t->holders[0].hash, sizeof t->holders[0]);
}

void tacet__recent_forget(tacet__studies *studies) {
    tacet__recent *t = studies->recent;
    if (t != NULL && t->known_count + t->holder_count + t->part_count + t->rows > 0) {
        t->rows = t->known_count = t->holder_count = t->part_count = 0;
        memset(t->by_place, 0, sizeof t->by_place);
        memset(t->by_key, 0, sizeof t->by_key);
        memset(t->by_holder, 0, sizeof t->by_holder);
        memset(t->by_number, 0, sizeof t->by_number);
    }
}

bool tacet__recent_on(const tacet__studies *studies) {
    return studies->gathering && studies->puts_off && studies->writing == &studies->open;
}

static bool knows(const tacet__studies *studies) {
    return studies->gathering && studies->recent != NULL && studies->recent->rows > 0;
}

bool tacet__studies_unsorted(const tacet__studies *studies) {
    return studies != NULL && studies->recent != NULL && studies->recent->rows > 0;
}

/* --- what is known ------------------------------------------------------------------------------------------------ */

static const known *known_at(tacet__studies *studies, const tacet__half *half, int64_t place) {
    const uint16_t at = knows(studies) && half == &studies->open ? *place_slot(studies->recent, place) : 0;
    return at != 0 ? &studies->recent->known[at - 1] : NULL;
}

void tacet__recent_outcome(tacet__studies *studies, const tacet__half *half, uint64_t number, tacet__suggestion *s) {
    const known *k = known_at(studies, half, tacet__place(number, s->event.seq));
    if (k != NULL) {
        s->observed = k->s.observed;
        s->expired = k->s.expired;
        s->observed_seq = k->s.observed_seq;
        s->value = k->s.value;
    }
}

tacet_status tacet__recent_suggestion(tacet__studies *studies, tacet__half *half, uint64_t number,
                                      tacet__suggestion *out, uint64_t seq, tacet_error *err) {
    const known *k = known_at(studies, half, tacet__place(number, seq));
    if (k != NULL && k->whole) {
        *out = k->s;
        return TACET_OK;
    }
    const tacet_status status = tacet__find_seq(half, number, out, seq, err);
    if (status == TACET_OK) {
        tacet__recent_outcome(studies, half, number, out);
    }
    return status;
}

bool tacet__recent_key(tacet__studies *studies, const tacet__half *half, tacet__suggestion *out,
                       const unsigned char hash[TACET__KEY_HASH_BYTES]) {
    if (!knows(studies) || half != &studies->open) {
        return false;
    }
    const uint16_t at = *key_slot(studies->recent, hash);
    if (at != 0) {
        *out = studies->recent->known[at - 1].s;
    }
    return at != 0;
}

const tacet__held *tacet__recent_held(tacet__studies *studies, const unsigned char hash[TACET__HOLDER_BYTES]) {
    const uint16_t at = knows(studies) && studies->writing == &studies->open ? *holder_slot(studies->recent, hash) : 0;
    return at != 0 ? &studies->recent->holders[at - 1].held : NULL;
}

tacet_status tacet__recent_hold(tacet__studies *studies, const unsigned char hash[TACET__HOLDER_BYTES],
                                const tacet__held *held, tacet_error *err) {
    tacet__recent *t = studies->recent;
    uint16_t *slot = holder_slot(t, hash);
    if (*slot == 0 && t->holder_count == HOLDERS_MOST) {
        return tacet__recent_sort(studies, err); /* from now on it is in its table */
    }
    if (*slot == 0) {
        *slot = (uint16_t)++t->holder_count;
        memcpy(t->holders[*slot - 1U].hash, hash, TACET__HOLDER_BYTES);
    }
    t->holders[*slot - 1U].number = studies->number;
    t->holders[*slot - 1U].held = *held;
    return TACET_OK;
}

tacet_status tacet__recent_head(tacet__studies *studies, const tacet__head *head, tacet_error *err) {
    tacet__recent *t = studies->recent;
    uint16_t *slot =
        slot_of(t->by_number, &studies->number, sizeof studies->number, &t->parts[0].number, sizeof t->parts[0]);
    if (*slot == 0 && t->part_count == HEADS_MOST) {
        return tacet__recent_sort(studies, err);
    }
    if (*slot == 0) {
        *slot = (uint16_t)++t->part_count;
    }
    t->parts[*slot - 1U] = (part){.number = studies->number, .head = *head};
    return TACET_OK;
}

static known *know(tacet__recent *t, int64_t place) {
    uint16_t *slot = place_slot(t, place);
    if (*slot == 0) {
        *slot = (uint16_t)++t->known_count;
        t->known[*slot - 1U] = (known){.place = place};
    }
    return &t->known[*slot - 1U];
}

static void note(tacet__recent *t, uint64_t number, const tacet__event *event, const unsigned char *key) {
    const bool suggests = event->kind == TACET__EVENT_SUGGEST;
    known *k = know(t, tacet__place(number, suggests ? event->seq : event->of));
    if (suggests) {
        k->whole = true;
        k->s = (tacet__suggestion){.event = *event};
        k->s.event.key = k->s.event.body = NULL;
        k->s.event.key_size = k->s.event.body_size = 0;
        if (event->key != NULL) {
            memcpy(k->key, key, sizeof k->key);
            *key_slot(t, key) = (uint16_t)(1 + (k - t->known));
        }
    } else {
        k->s.observed = event->kind == TACET__EVENT_OBSERVE;
        k->s.expired = !k->s.observed;
        k->s.observed_seq = event->seq;
        k->s.value = event->value;
    }
}

/* --- what is written ---------------------------------------------------------------------------------------------- */

tacet_status tacet__recent_append(tacet__studies *studies, const tacet__event *event,
                                  const unsigned char key[TACET__KEY_HASH_BYTES], tacet_error *err) {
    if (studies->recent == NULL && (studies->recent = TACET__ZALLOC(tacet__recent, 1)) == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory appending an event");
    }
    tacet_status status = studies->recent->rows < ROWS_MOST ? TACET_OK : tacet__recent_sort(studies, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__query *query = studies->open.queries[TACET__Q_RECENT_ADD];
    tacet__bind_event(query, studies->number, event);
    if (event->has_owner) {
        tacet__query_bind_bytes(query, 11, event->owner, TACET__HOLDER_BYTES);
    }
    if (event->has_person) {
        tacet__query_bind_bytes(query, 12, event->person, TACET__HOLDER_BYTES);
    }
    if (event->key != NULL) {
        tacet__query_bind_bytes(query, 14, key, TACET__KEY_HASH_BYTES);
    }
    status = tacet__query_send(query, err);
    if (status == TACET_OK) {
        studies->recent->rows++;
        note(studies->recent, studies->number, event, key);
    }
    return status;
}

/* By the whole of `recent`, or, between parts, by what is known of it. */
static tacet_status sort_rows(tacet__studies *studies, tacet_error *err) {
    tacet__half *half = &studies->open;
    const tacet__recent *t = studies->recent;
    tacet_status status = TACET_OK;
    if (!knows(studies) || studies->writing != NULL) {
        status = tacet__query_run(half->queries[TACET__Q_RECENT_HOLDERS], err);
        return status != TACET_OK ? status : tacet__query_run(half->queries[TACET__Q_RECENT_STUDIES], err);
    }
    for (size_t i = 0; status == TACET_OK && i < t->part_count; i++) {
        status = tacet__write_head(half, &t->parts[i].head, t->parts[i].number, err);
    }
    for (size_t i = 0; status == TACET_OK && i < t->holder_count; i++) {
        status = tacet__write_holder(half, t->holders[i].number, t->holders[i].hash, &t->holders[i].held, err);
    }
    return status;
}

tacet_status tacet__recent_sort(tacet__studies *studies, tacet_error *err) {
    static const int EVENTS[] = {TACET__Q_RECENT_EVENTS, TACET__Q_RECENT_OBSERVED, TACET__Q_RECENT_KEYS};
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < sizeof EVENTS / sizeof EVENTS[0]; i++) {
        status = tacet__query_run(studies->open.queries[EVENTS[i]], err);
    }
    status = status != TACET_OK ? status : sort_rows(studies, err);
    status = status != TACET_OK ? status : tacet__query_run(studies->open.queries[TACET__Q_RECENT_DROP], err);
    studies->gathered_changes = studies->gathered_changes || studies->gathering;
    studies->gathered_lost = studies->gathered_lost || (studies->gathering && status != TACET_OK);
    studies->version = 0; /* should it be rolled back, what is forgotten here is still there: the era is over */
    tacet__recent_forget(studies);
    return status;
}

tacet_status tacet__recent_due(tacet__studies *studies, tacet_error *err) {
    return knows(studies) && studies->recent->rows >= ROWS_DUE ? tacet__recent_sort(studies, err) : TACET_OK;
}

static bool is_shared(const tacet__half *half) {
    return tacet__db_shared(half->db);
}

tacet_status tacet__recent_any(tacet__studies *studies, bool *rows, tacet_error *err) {
    tacet__query *query = studies->open.queries[TACET__Q_RECENT_ANY];
    *rows = false;
    if (is_shared(&studies->open)) {
        return TACET_OK;
    }
    const tacet_status status = tacet__query_step(query, rows, err);
    tacet__query_reset(query);
    return status;
}

tacet_status tacet__recent_begun(tacet__studies *studies, tacet__half *half, bool *sorted, tacet_error *err) {
    bool rows = false;
    *sorted = false;
    if (half != &studies->open) {
        return TACET_OK;
    }
    const tacet_status status = tacet__recent_any(studies, &rows, err);
    *sorted = status == TACET_OK && rows;
    return *sorted ? tacet__recent_sort(studies, err) : status;
}

tacet_status tacet__recent_settle(tacet__studies *studies, tacet_error *err) {
    bool rows = false;
    if (is_shared(&studies->open) || (studies->writing != NULL && !studies->gathering)) {
        return TACET_OK; /* the transaction began by it */
    }
    if (studies->gathering) {
        return knows(studies) ? tacet__recent_sort(studies, err) : TACET_OK;
    }
    tacet_status status = tacet__recent_any(studies, &rows, err);
    if (status != TACET_OK || !rows) {
        return status;
    }
    status = tacet__half_relax(&studies->open, false, err);
    status = status != TACET_OK ? status : tacet__db_begin_rows(studies->open.db, err);
    if (status != TACET_OK) {
        return status;
    }
    status = tacet__recent_sort(studies, err);
    if (status == TACET_OK) {
        return tacet__db_commit(studies->open.db, err);
    }
    tacet__db_rollback(studies->open.db);
    return status;
}

tacet_status tacet__studies_sort(tacet__studies *studies, tacet_error *err) {
    return tacet__studies_unsorted(studies) && studies->writing == NULL && !studies->gathering
               ? tacet__recent_settle(studies, err)
               : TACET_OK;
}
