/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c - encoding, decoding and hashing of ledger records; the layout is in entry.h.
 * Ring: shared. Cost: one pass over the bytes. */
#include "dp/open/entry.h"

#include "core/codec.h"
#include "core/fail.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

static const uint64_t MAGIC = 0x3152454744454c54ULL; /* "TLEDGER1", little-endian */

static const char *text_of(const tacet_charge *c, size_t i) {
    const char *text = tacet__charge_text(c, i);
    return text == NULL ? "" : text;
}

tacet_status tacet__ticket_check(const char *ticket, tacet_error *err) {
    /* Longer texts are allowed elsewhere: the length is asked here. A ticket obeys the rules of a required text;
     * borrowing the check keeps one reader of UTF-8. */
    tacet_charge probe;
    tacet_charge_init(&probe);
    probe.what = ticket;
    probe.to_whom = "-";
    if (ticket == NULL || strnlen(ticket, TACET_TICKET_MOST + 1) > TACET_TICKET_MOST ||
        tacet_charge_check(&probe, NULL) != TACET_OK) {
        return tacet__fail(err, TACET_INVALID, "a ticket is 1 to %d bytes of UTF-8 without control characters",
                           TACET_TICKET_MOST);
    }
    return TACET_OK;
}

static void write_text(tacet__writer *w, const char *text) {
    tacet__write_bytes(w, text, strlen(text) + 1);
}

static void write_charge(tacet__writer *w, const tacet_charge *c) {
    tacet__write_u64(w, (uint64_t)c->claim);
    tacet__write_f64(w, c->eps);
    tacet__write_f64(w, c->delta);
    tacet__write_f64(w, c->rho);
    tacet__write_f64(w, c->mu);
    tacet__write_u64(w, c->seeded ? 1 : 0);
    for (size_t i = 0; i < TACET__CHARGE_TEXTS; i++) {
        write_text(w, text_of(c, i));
    }
}

tacet_status tacet__record_encode(tacet_blob *out, const tacet__record *record, tacet_error *err) {
    tacet__writer w = {out, false};
    out->size = 0;
    tacet__write_u64(&w, MAGIC);
    tacet__write_u64(&w, (uint64_t)record->kind);
    tacet__write_u64(&w, record->seq);
    tacet__write_u64(&w, record->time);
    switch (record->kind) {
    case TACET__RECORD_BUDGET:
        tacet__write_bytes(&w, record->budget.id, sizeof record->budget.id);
        tacet__write_u64(&w, (uint64_t)record->budget.accounting);
        tacet__write_f64(&w, record->budget.eps);
        tacet__write_f64(&w, record->budget.delta);
        tacet__write_f64(&w, record->budget.cap);
        tacet__write_u64(&w, record->budget.uncovered_most);
        break;
    case TACET__RECORD_RESERVE:
        write_text(&w, record->reserve.ticket);
        write_charge(&w, &record->reserve.charge);
        break;
    case TACET__RECORD_COMMIT:
        tacet__write_u64(&w, record->commit.entry);
        tacet__write_u64(&w, record->commit.answer_size);
        tacet__write_bytes(&w, record->commit.answer_hash, TACET_HASH_BYTES);
        tacet__write_bytes(&w, record->commit.receipt, TACET_HASH_BYTES);
        break;
    }
    if (w.failed) {
        out->size = 0;
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory encoding a ledger record");
    }
    return TACET_OK;
}

/* The closing zero is the only one: a text that C reads shorter than it was hashed would be two texts. */
static const char *read_text(tacet__reader *r) {
    const unsigned char *bytes = NULL;
    const size_t size = tacet__read_bytes(r, &bytes);
    if (size == 0 || memchr(bytes, 0, size) != bytes + size - 1) {
        r->failed = true;
        return "";
    }
    return (const char *)bytes;
}

static void read_fixed(tacet__reader *r, unsigned char *out, size_t size) {
    const unsigned char *bytes = NULL;
    if (tacet__read_bytes(r, &bytes) != size) {
        r->failed = true;
        memset(out, 0, size);
        return;
    }
    memcpy(out, bytes, size);
}

tacet_status tacet__record_corrupt(uint64_t seq, const char *why, tacet_error *err) {
    return tacet__fail(err, TACET_CORRUPT, "ledger record %llu %s", (unsigned long long)seq, why);
}

static tacet_status read_budget(tacet__record *record, tacet__reader *r, tacet_error *err) {
    read_fixed(r, record->budget.id, sizeof record->budget.id);
    record->budget.accounting = (tacet_accounting)tacet__read_size(r, TACET_ACCOUNTING_GAUSSIAN);
    record->budget.eps = tacet__read_f64(r);
    record->budget.delta = tacet__read_f64(r);
    record->budget.cap = tacet__read_f64(r);
    record->budget.uncovered_most = tacet__read_u64(r);
    if (!r->failed && (record->seq != 0 || record->budget.accounting < TACET_ACCOUNTING_BASIC ||
                       !(record->budget.eps > 0 && isfinite(record->budget.eps)) ||
                       !(record->budget.delta >= 0 && record->budget.delta < 1) ||
                       !(record->budget.cap > 0 && isfinite(record->budget.cap)))) {
        return tacet__record_corrupt(record->seq, "has an impossible budget", err);
    }
    return TACET_OK;
}

static tacet_status read_reserve(tacet__record *record, tacet__reader *r, tacet_error *err) {
    tacet_charge *c = &record->reserve.charge;
    record->reserve.ticket = read_text(r);
    c->claim = (tacet_claim)tacet__read_size(r, TACET_CLAIM_GAUSSIAN);
    c->eps = tacet__read_f64(r);
    c->delta = tacet__read_f64(r);
    c->rho = tacet__read_f64(r);
    c->mu = tacet__read_f64(r);
    c->seeded = tacet__read_size(r, 1) == 1;
    for (size_t i = 0; i < TACET__CHARGE_TEXTS; i++) {
        const char *text = read_text(r);
        memcpy((char *)c + tacet__charge_fields[i].at, &text, sizeof text);
    }
    if (!r->failed && (record->seq == 0 || tacet__ticket_check(record->reserve.ticket, NULL) != TACET_OK ||
                       tacet_charge_check(c, NULL) != TACET_OK)) {
        return tacet__record_corrupt(record->seq, "has an impossible charge", err);
    }
    return TACET_OK;
}

static tacet_status read_commit(tacet__record *record, tacet__reader *r, tacet_error *err) {
    record->commit.entry = tacet__read_u64(r);
    record->commit.answer_size = tacet__read_u64(r);
    read_fixed(r, record->commit.answer_hash, TACET_HASH_BYTES);
    read_fixed(r, record->commit.receipt, TACET_HASH_BYTES);
    if (!r->failed && (record->commit.entry == 0 || record->commit.entry >= record->seq ||
                       record->commit.answer_size > TACET__ANSWER_MOST)) {
        return tacet__record_corrupt(record->seq, "has an impossible answer", err);
    }
    return TACET_OK;
}

tacet_status tacet__record_decode(tacet__record *record, const unsigned char *bytes, size_t size, tacet_error *err) {
    tacet__reader r = {bytes, bytes + size, false};
    memset(record, 0, sizeof *record);
    if (tacet__read_u64(&r) != MAGIC) {
        return tacet__fail(err, TACET_CORRUPT, "not a ledger record");
    }
    const uint64_t kind = tacet__read_u64(&r);
    record->seq = tacet__read_u64(&r);
    record->time = tacet__read_u64(&r);
    tacet_status status = TACET_OK;
    switch (kind) {
    case TACET__RECORD_BUDGET:
        record->kind = TACET__RECORD_BUDGET;
        status = read_budget(record, &r, err);
        break;
    case TACET__RECORD_RESERVE:
        record->kind = TACET__RECORD_RESERVE;
        status = read_reserve(record, &r, err);
        break;
    case TACET__RECORD_COMMIT:
        record->kind = TACET__RECORD_COMMIT;
        status = read_commit(record, &r, err);
        break;
    default:
        return tacet__fail(err, TACET_CORRUPT, "ledger record of an unknown kind");
    }
    /* Bytes left over would be hashed and never read: a second encoding of the same record. */
    if (status == TACET_OK && (r.failed || r.at != r.end)) {
        status = tacet__record_corrupt(record->seq, "has a wrong length or an impossible value", err);
    }
    return status;
}

/* The record before goes in first: a record is right at one place of one chain. */
void tacet__record_hash(unsigned char out[TACET_HASH_BYTES], const unsigned char previous[TACET_HASH_BYTES],
                        const unsigned char *body, size_t size) {
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, TACET_HASH_BYTES);
    (void)crypto_generichash_update(&state, previous, TACET_HASH_BYTES);
    (void)crypto_generichash_update(&state, body, size);
    (void)crypto_generichash_final(&state, out, TACET_HASH_BYTES);
}

tacet_status tacet__record_check(tacet__record *record, unsigned char hash[TACET_HASH_BYTES], uint64_t seq,
                                 const unsigned char previous[TACET_HASH_BYTES], const unsigned char *body, size_t size,
                                 const unsigned char *stored, size_t stored_size, tacet_error *err) {
    tacet__record_hash(hash, previous, body, size);
    if (stored_size != TACET_HASH_BYTES || memcmp(hash, stored, TACET_HASH_BYTES) != 0) {
        return tacet__record_corrupt(seq, "does not match its hash: changed, or the order was", err);
    }
    const tacet_status status = tacet__record_decode(record, body, size, err);
    return status == TACET_OK && record->seq != seq ? tacet__record_corrupt(seq, "carries another number", err)
                                                    : status;
}

void tacet__answer_hash(unsigned char out[TACET_HASH_BYTES], const void *answer, size_t size) {
    (void)crypto_generichash(out, TACET_HASH_BYTES, answer, size, NULL, 0);
}

/* As they are written: 0 and -0 are two charges, and a NaN would be equal to itself. */
static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

bool tacet__charge_equal(const tacet_charge *a, const tacet_charge *b) {
    bool equal = a->claim == b->claim && a->seeded == b->seeded && same_bits(a->eps, b->eps) &&
                 same_bits(a->delta, b->delta) && same_bits(a->rho, b->rho) && same_bits(a->mu, b->mu);
    for (size_t i = 0; i < TACET__CHARGE_TEXTS; i++) {
        equal = equal && strcmp(text_of(a, i), text_of(b, i)) == 0;
    }
    return equal;
}

void tacet__hash_hex(char out[2 * TACET_HASH_BYTES + 1], const unsigned char hash[TACET_HASH_BYTES]) {
    (void)sodium_bin2hex(out, 2 * TACET_HASH_BYTES + 1, hash, TACET_HASH_BYTES);
}

bool tacet__hash_parse(unsigned char out[TACET_HASH_BYTES], const char *text) {
    const size_t digits = strlen(text);
    return digits == 2 * (size_t)TACET_HASH_BYTES &&
           sodium_hex2bin(out, TACET_HASH_BYTES, text, digits, NULL, NULL, NULL) == 0; /* all digits, so all bytes */
}
