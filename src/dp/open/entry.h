/* SPDX-License-Identifier: Apache-2.0 */
/* entry.h - the records of a ledger as bytes, and the hash that chains them. Shared by the writer (gate) and the reader
 * that recomputes everything (open).
 *
 * Body: u64 magic | u64 kind | u64 seq | u64 time | fields of the kind, in the order of the structs below; numbers
 * little-endian, doubles as their bits, texts as u64 length with the closing zero counted, then the bytes. There is one
 * encoding per record: what decodes encodes to the same bytes.
 * Hash: BLAKE2b-256 of (32 bytes of the record before, zeros for record 0) followed by the body. Ring: shared. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/blob.h>
#include <tacet/dp/open/charge.h>
#include <tacet/core/status.h>

/* What both sides know of the file, or of the schema of a shared store. */
enum {
    TACET__LEDGER_APPLICATION = 0x54414c31, /* "TAL1", the application_id of the file */
    TACET__LEDGER_VERSION = 1,              /* its user_version */
    TACET__LEDGER_TRIGGERS = 9,             /* that refuse every change but appending */
    TACET__LEDGER_SHARED_TRIGGERS = 10,     /* the same in a schema */
    TACET__LEDGER_ID_BYTES = 16,
    TACET__ANSWER_MOST = 1 << 28 /* bytes of one stored answer */
};
#define TACET__LEDGER_SQL_APPLICATION(shared) ((shared) ? "SELECT application FROM format" : "PRAGMA application_id")
#define TACET__LEDGER_SQL_VERSION(shared) ((shared) ? "SELECT version FROM format" : "PRAGMA user_version")
#define TACET__LEDGER_SQL_TRIGGERS(shared)                                                                             \
    ((shared) ? "SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND " \
                "t.tgenabled = 'O' AND c.relnamespace = current_schema()::regnamespace"                                \
              : "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")
/* Sums of doubles are compared with the budget with this relative slack, so that ten tenths fit into one. */
#define TACET__LEDGER_SLACK 1e-12

typedef enum tacet__record_kind {
    TACET__RECORD_BUDGET = 1,  /* record 0, and only that */
    TACET__RECORD_RESERVE = 2, /* an entry: a charge under a ticket */
    TACET__RECORD_COMMIT = 3   /* the answer of an earlier entry */
} tacet__record_kind;

typedef struct tacet__record {
    tacet__record_kind kind;
    uint64_t seq;  /* 0, 1, 2, … */
    uint64_t time; /* seconds since 1970 by the writer's clock; for people, nothing depends on it */
    struct {
        unsigned char id[TACET__LEDGER_ID_BYTES]; /* random: two ledgers never share a hash */
        tacet_accounting accounting;
        double eps, delta;
        double cap; /* in the unit of the accounting: eps, rho or mu */
        uint64_t uncovered_most;
    } budget;
    struct {
        const char *ticket;
        tacet_charge charge; /* its texts are never NULL after decoding */
    } reserve;
    struct {
        uint64_t entry; /* seq of the reservation */
        uint64_t answer_size;
        unsigned char answer_hash[TACET_HASH_BYTES];
        unsigned char receipt[TACET_HASH_BYTES]; /* zeros: none */
    } commit;
} tacet__record;

/* The texts of a charge: where each is, what it is called in messages, how many bytes it may have. */
enum { TACET__CHARGE_TEXTS = 9 };
typedef struct tacet__charge_field {
    size_t at;
    const char *name;
    size_t least, most;
} tacet__charge_field;
extern const tacet__charge_field tacet__charge_fields[TACET__CHARGE_TEXTS]; /* charge.c */
const char *tacet__charge_text(const tacet_charge *charge, size_t i);

/* INVALID: empty, too long, control characters or not UTF-8. */
tacet_status tacet__ticket_check(const char *ticket, tacet_error *err);
/* Replaces the content of *out. NO_MEMORY leaves it empty. The record must be valid. */
tacet_status tacet__record_encode(tacet_blob *out, const tacet__record *record, tacet_error *err);
/* Texts point into bytes. CORRUPT says what is wrong; *record is then undefined. */
tacet_status tacet__record_decode(tacet__record *record, const unsigned char *bytes, size_t size, tacet_error *err);
void tacet__record_hash(unsigned char out[TACET_HASH_BYTES], const unsigned char previous[TACET_HASH_BYTES],
                        const unsigned char *body, size_t size);
/* A record as the tables have it: `stored` must be its hash after the record before, `seq` its number. *hash is that
 * hash. CORRUPT; texts as above. */
tacet_status tacet__record_check(tacet__record *record, unsigned char hash[TACET_HASH_BYTES], uint64_t seq,
                                 const unsigned char previous[TACET_HASH_BYTES], const unsigned char *body, size_t size,
                                 const unsigned char *stored, size_t stored_size, tacet_error *err);
/* CORRUPT: "ledger record SEQ WHY". */
tacet_status tacet__record_corrupt(uint64_t seq, const char *why, tacet_error *err);
void tacet__answer_hash(unsigned char out[TACET_HASH_BYTES], const void *answer, size_t size);
/* The same question: two charges that encode alike. A NULL text equals an empty one. */
bool tacet__charge_equal(const tacet_charge *a, const tacet_charge *b);

/* 64 hex digits and a closing zero. */
void tacet__hash_hex(char out[2 * TACET_HASH_BYTES + 1], const unsigned char hash[TACET_HASH_BYTES]);
bool tacet__hash_parse(unsigned char out[TACET_HASH_BYTES], const char *text); /* exactly 64 hex digits */
