/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - between the files store_*.c. Ring: open, internal. */
#pragma once

#include <string.h>

#include "io/db/db.h"
#include "service/open/store/store.h"

enum {
    TACET__SEQ_BITS = 40, /* a place is (number of the study << 40) + seq: one key, so that a log is one run of rows */
    TACET__KEY_HASH_BYTES = 16,
    TACET__LOOKED_MOST = 128, /* about a batch */
};

typedef enum tacet__side { TACET__SIDE_TRUSTED = 1, TACET__SIDE_OPEN = 2 } tacet__side;

/* Statements of both sides, then those of the open one. */
enum {
    TACET__Q_STUDY_BY_NAME,
    TACET__Q_STUDY_LIST,
    TACET__Q_STUDY_NEXT,
    TACET__Q_STUDY_ADD,
    TACET__Q_KEY_MARK,
    TACET__Q_KEY_MARK_SET,
    TACET__Q_DEFINITION_ADD,
    TACET__Q_STUDY_LOCK,
    TACET__Q_STUDY_LOOK,
    TACET__Q_STUDY_SET,
    TACET__Q_STUDY_STATE,
    TACET__Q_STUDY_SALT,
    TACET__Q_STUDY_UNSHOW,
    TACET__Q_STUDY_ROUNDS,
    TACET__Q_EVENT_ADD,
    TACET__Q_EVENT_READ,
    TACET__Q_EVENT_HASH,
    TACET__Q_OBSERVED_ADD,
    TACET__Q_KEY_ADD,
    TACET__Q_KEY_FIND,
    TACET__Q_WAITING,
    TACET__Q_SUGGESTION,
    TACET__Q_SNAPSHOT_ADD,
    TACET__Q_SNAPSHOT_DROP,
    TACET__Q_SNAPSHOT_GET,
    TACET__Q_RELEASE_ADD,
    TACET__Q_RELEASE_GET,
    TACET__Q_HOLDER_GET,
    TACET__Q_HOLDER_ADD,
    TACET__Q_HOLDER_WRONG,
    TACET__Q_TRUSTED_COUNT,
    TACET__Q_SHOWN_ADD = TACET__Q_TRUSTED_COUNT,
    TACET__Q_SHOWN_OBSERVED,
    TACET__Q_SHOWN_DROP,
    TACET__Q_TOKEN_ADD,
    TACET__Q_TOKEN_NEXT,
    TACET__Q_TOKEN_FIND,
    TACET__Q_TOKEN_LIST,
    TACET__Q_TOKEN_DROP,
    TACET__Q_AUDIT_LAST,
    TACET__Q_AUDIT_ADD,
    TACET__Q_AUDIT_READ,
    TACET__Q_COUNT
};

enum { TACET__HELD_MOST = 64 };
typedef struct tacet__held_row {
    unsigned char hash[TACET__HOLDER_BYTES];
    bool read;
    tacet__held held;     /* as the store has it, once it was read */
    int64_t open, rounds; /* what this transaction adds to it */
} tacet__held_row;

/* A suggestion that was looked for in this transaction, and found or not: asking again would cost a round trip. */
typedef struct tacet__looked {
    uint64_t seq; /* 0: by its key */
    unsigned char key[TACET__KEY_HASH_BYTES];
    bool there;
    tacet__suggestion found;
} tacet__looked;

/* A suggestion by its seq or (seq 0) by the hash of its key, or a holder. */
typedef struct tacet__wish {
    bool holder;
    uint64_t seq;
    unsigned char hash[TACET__KEY_HASH_BYTES];
} tacet__wish;

/* One of the two stores. */
typedef struct tacet__half {
    tacet__db *db; /* NULL: the trusted one, when open_only */
    tacet__query *queries[TACET__Q_COUNT];
    bool relaxed;
} tacet__half;

struct tacet__studies {
    tacet__half trusted;
    tacet__half open;
    char *place; /* the folder or the URL that was opened */
    /* The open transaction. */
    tacet__half *writing; /* NULL: none */
    uint64_t number;      /* its study */
    bool changed;
    bool touched;        /* something was written, perhaps in part */
    tacet__study *study; /* borrowed from begin to commit; its head and hash are those of what was appended */
    tacet__looked looked[TACET__LOOKED_MOST];
    size_t looked_count;
    tacet__held_row held[TACET__HELD_MOST];
    size_t held_count;
    tacet__wish wishes[TACET__LOOKED_MOST]; /* what the next transaction will look for, asked together with its lock */
    size_t wish_count;
    /* A transaction of several studies (gather.c). */
    bool gathering;
    bool gathered_changes; /* a part of it changed something */
    bool gathered_lost;    /* a part failed that had written */
};

/* Opens one side, and makes its tables. */
tacet_status tacet__half_open(tacet__half *half, tacet__side side, const char *path,
                              const tacet__studies_settings *settings, tacet_error *err);
void tacet__half_close(tacet__half *half);
/* Whether its transactions must be on the disk when they return. */
tacet_status tacet__half_relax(tacet__half *half, bool relaxed, tacet_error *err);
/* A synced transaction of this side by itself: of the whole store, or (`rows`) of rows that the caller locks. */
tacet_status tacet__half_begin(tacet__half *half, bool rows, tacet_error *err);
/* Its end, given how it went so far: committed, or rolled back. */
tacet_status tacet__half_end(tacet__half *half, tacet_status status, tacet_error *err);
/* Roles and rights, on PostgreSQL. */
tacet_status tacet__half_grant(tacet__half *half, tacet__side side, tacet_error *err);

/* Where the log of a study is. NULL: out of reach. */
tacet__half *tacet__log_half(tacet__studies *studies, const tacet__study *study);
/* NOT_FOUND without a message. */
tacet_status tacet__find_study(tacet__half *half, tacet__study *out, const char *name, tacet_error *err);
/* Adds it to one store unless it is there; CONFLICT when something else is. study becomes what is there. */
tacet_status tacet__add_study(tacet__half *half, tacet__study *study, bool secret, tacet_error *err);
/* The hash before the first event: over name and definition. */
void tacet__chain_start(unsigned char out[TACET__EVENT_HASH_BYTES], const tacet__study *study);
/* hash: that of the event before, then this event's. */
void tacet__chain(unsigned char hash[TACET__EVENT_HASH_BYTES], const tacet__event *event);
int64_t tacet__place(uint64_t number, uint64_t seq);
static inline uint64_t tacet__seq_of(int64_t place) {
    return (uint64_t)place & (((uint64_t)1 << TACET__SEQ_BITS) - 1);
}
/* A double is stored as its bits. */
static inline int64_t tacet__bits_of(double value) {
    int64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double tacet__double_of(int64_t bits) {
    double value = 0.0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A suggestion of study `number` by its seq, or (seq 0) by the hash of its key. NOT_FOUND without a message. */
tacet_status tacet__find(tacet__studies *studies, tacet__half *half, uint64_t number, tacet__suggestion *out,
                         uint64_t seq, const unsigned char *key, tacet_error *err);
/* It is not as it was found any more; `key` as above. */
void tacet__forget_looked(tacet__studies *studies, uint64_t seq, const unsigned char *key);
/* Asks for what was wished, behind the lock that was asked for. */
tacet_status tacet__ask_wishes(tacet__studies *studies, tacet__half *half, uint64_t number, tacet_error *err);
/* Once the lock is had: what was asked for, into this transaction's memory. */
tacet_status tacet__take_wishes(tacet__studies *studies, tacet__half *half, tacet_error *err);
tacet__query *tacet__bind_holder(tacet__half *half, const unsigned char *hash); /* the query for a holder's row */
/* What an event changes of its holders' counts; written by tacet__write_held, at the latest before the commit. */
tacet_status tacet__count_held(tacet__studies *studies, const tacet__event *event, tacet_error *err);
tacet_status tacet__write_held(tacet__studies *studies, tacet_error *err);
void tacet__hash_key(unsigned char out[TACET__KEY_HASH_BYTES], const tacet__study *study, const void *key, size_t size);

/* The transaction of one study, or its part of a gathered one. */
tacet_status tacet__part_begin(tacet__studies *studies, tacet__half *half, tacet_error *err);
tacet_status tacet__part_commit(tacet__studies *studies, tacet__half *half, tacet_error *err);
void tacet__part_rollback(tacet__studies *studies, tacet__half *half);

/* A text column into an array; what does not fit is cut off. */
void tacet__take_text(char *out, size_t size, tacet__query *query, int column);
/* What changes of a study with its log, and nothing else of it: state, counts, fence, the hash of the newest event.
 * `number` is the study's on this side; `lock`: nobody else writes to it before the end of the transaction. */
tacet_status tacet__read_head(tacet__half *half, tacet__study *out, uint64_t number, bool lock, tacet_error *err);
tacet_status tacet__write_head(tacet__half *half, const tacet__study *study, uint64_t number, tacet_error *err);
/* Events from … to of a study, chained to `hash`, the one before; it ends as that of the last one. */
tacet_status tacet__read_events(tacet__half *half, uint64_t number, uint64_t from, uint64_t to,
                                unsigned char hash[TACET__EVENT_HASH_BYTES], tacet__event_fn *fn, void *user,
                                tacet_error *err);
/* The place in the log of the last event that the open store was told of; 0: of none. */
uint64_t tacet__shown_seq(const tacet__study *study, const tacet__study *shown);
/* CORRUPT when the open store is ahead of, or beside, the log of the study, whose head was just read. */
tacet_status tacet__check_shown(tacet__studies *studies, const tacet__study *study, tacet_error *err);

/* delete.c: whether a study that is shown was deleted where its log was, and a crash left the rest, which is done then.
 */
enum { TACET__GRAVE = TACET__STUDY_NAME_MOST + 24 };
bool tacet__finish_deletion(tacet__studies *studies, const char *name, uint64_t open_number);
