/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - what each request to the ledger does, inside the transaction that its leader opened.
 * Ring: gate. In: a request. Out: records appended, and what the caller asked to be told.
 * Cost: O(1) work and at most three statements a request. */
#include "dp/ledger/request.h"

#include "core/fail.h"
#include "dp/noise/mint.h"
#include "dp/open/entry.h"

#include <math.h>
#include <string.h>

bool tacet__charge_draws(const tacet_charge *charge) {
    return charge->claim != TACET_CLAIM_UNCOVERED && !charge->seeded;
}

/* The hash of the receipt; zeros where there is none. */
static const unsigned char *receipt_or_zero(const unsigned char *receipt) {
    static const unsigned char ZERO[TACET_HASH_BYTES];
    return receipt != NULL ? receipt : ZERO;
}

static tacet_status append_answer(tacet__books *books, uint64_t entry, bool drawn, const void *answer, size_t size,
                                  const unsigned char *receipt, tacet_error *err) {
    tacet__record record;
    memset(&record, 0, sizeof record);
    record.kind = TACET__RECORD_COMMIT;
    record.commit.entry = entry;
    record.commit.answer_size = size;
    tacet__answer_hash(record.commit.answer_hash, answer, size);
    memcpy(record.commit.receipt, receipt_or_zero(receipt), TACET_HASH_BYTES);
    tacet_status status = tacet__store_append(books->store, &books->state, &record, NULL, err);
    TACET_THEN(status, tacet__store_put_answer(books->store, record.seq, answer, size, err));
    if (status == TACET_OK && drawn) {
        status = tacet__store_drop_mint(books->store, entry, err);
    }
    return status;
}

/* With the reservation that was just appended. */
static tacet_status put_mint(tacet__books *books, tacet__request *r, tacet_error *err) {
    unsigned char sealed[TACET__SEALED_BYTES];
    tacet_mint fresh;
    tacet_status status = TACET_OK;
    const tacet_mint *mint = r->mint;
    if (mint == NULL) {
        status = tacet__mint_fresh(&fresh, err);
        mint = &fresh;
    }
    if (status == TACET_OK) {
        tacet__seal_close_key(&books->seal, sealed, mint->key, r->entry->hash);
        status = tacet__store_put_mint(books->store, r->entry->seq, sealed, sizeof sealed, mint->digest, err);
    }
    tacet__mint_clear(&fresh);
    return status;
}

/* Of an entry that is not answered. */
static tacet_status fetch_mint(tacet__books *books, tacet__request *r, tacet_error *err) {
    tacet__sealed sealed;
    TACET_OR_RETURN(tacet__store_read_mint(books->store, &sealed, r->entry->seq, err));
    if (!sealed.found) {
        return tacet__fail(err, TACET_CONFLICT, "the key of this ticket's noise is gone: it is spent, ask another");
    }
    /* Another version makes other noise of the same key: a second draw. */
    if (sealed.sampler != TACET__SAMPLER_VERSION) {
        return tacet__fail(err, TACET_CONFLICT,
                           "this ticket was begun by another version of the samplers: it is spent, ask another");
    }
    memcpy(r->mint->digest, sealed.digest, sizeof sealed.digest);
    return tacet__seal_open_key(&books->seal, r->mint->key, sealed.bytes, sizeof sealed.bytes, r->entry->hash)
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT,
                             "this ticket was begun under another key file than %.80s: name that one, or ask another",
                             books->seal.path);
}

/* The entry's stored answer, when it has one. */
static tacet_status fetch_answer(tacet__books *books, tacet__request *r, uint64_t seq, tacet_error *err) {
    tacet__record record;
    unsigned char hash[TACET_HASH_BYTES];
    const uint64_t commit = books->state.answers[seq];
    if (commit == 0) {
        return TACET_OK;
    }
    tacet_status status = tacet__store_read(books->store, &record, hash, commit, err);
    TACET_THEN(status, tacet__store_read_answer(books->store, r->memo, &record, err));
    r->entry->answered = status == TACET_OK;
    return status;
}

/* A ticket that is known: the same question gets what there is. */
static tacet_status reserve_again(tacet__books *books, tacet__request *r, uint64_t seq, tacet_error *err) {
    tacet__record record;
    TACET_OR_RETURN(tacet__store_read(books->store, &record, r->entry->hash, seq, err));
    if (r->charge != NULL && !tacet__charge_equal(&record.reserve.charge, r->charge)) {
        return tacet__fail(err, TACET_CONFLICT,
                           "the ticket was used for another question, or for other rows: a new ticket asks this one, "
                           "and is charged");
    }
    if (r->asked != NULL) {
        return tacet__record_encode(r->asked, &record, err);
    }
    r->entry->seq = seq;
    tacet_status status = fetch_answer(books, r, seq, err);
    return status == TACET_OK && r->mint != NULL && !r->entry->answered ? fetch_mint(books, r, err) : status;
}

static tacet_status do_reserve(tacet__books *books, tacet__request *r, tacet_error *err) {
    const uint64_t known = tacet__state_find(&books->state, r->ticket);
    tacet__record record;
    if (known != 0) {
        return reserve_again(books, r, known, err);
    }
    if (books->recalling) {
        return tacet__fail(err, TACET_CORRUPT,
                           "the ledger does not have '%.60s', which was answered: it was put back to an older state",
                           r->ticket);
    }
    const tacet_status fits = tacet__state_fits(&books->state, r->charge, err);
    if (fits != TACET_OK) {
        return fits;
    }
    if (r->group_most > 0 && tacet__state_group(&books->state, r->charge->group) >= r->group_most) {
        return tacet__fail(err, TACET_BUDGET, "there are %llu entries of this group already, all it may have",
                           (unsigned long long)r->group_most);
    }
    memset(&record, 0, sizeof record);
    record.kind = TACET__RECORD_RESERVE;
    record.reserve.ticket = r->ticket;
    record.reserve.charge = *r->charge;
    const tacet_status status = tacet__store_append(books->store, &books->state, &record, r->entry->hash, err);
    r->entry->seq = record.seq;
    return status == TACET_OK && tacet__charge_draws(r->charge) ? put_mint(books, r, err) : status;
}

/* That the entry a caller holds is one of this ledger; *drawn: whether it has, or had, a key. */
static tacet_status check_entry(tacet__books *books, const tacet_entry *entry, bool *drawn, tacet_error *err) {
    tacet__record record;
    unsigned char hash[TACET_HASH_BYTES];
    if (entry->seq == 0 || entry->seq >= books->state.records) {
        return tacet__fail(err, TACET_NOT_FOUND, "the ledger has no such entry");
    }
    const tacet_status status = tacet__store_read(books->store, &record, hash, entry->seq, err);
    if (status == TACET_OK &&
        (record.kind != TACET__RECORD_RESERVE || memcmp(hash, entry->hash, TACET_HASH_BYTES) != 0)) {
        return tacet__fail(err, TACET_NOT_FOUND, "the ledger has no such entry");
    }
    *drawn = status == TACET_OK && tacet__charge_draws(&record.reserve.charge);
    return status;
}

static tacet_status do_commit(tacet__books *books, tacet__request *r, tacet_error *err) {
    const uint64_t seq = r->entry->seq;
    tacet__record record;
    unsigned char hash[TACET_HASH_BYTES];
    bool drawn = false;
    tacet_status status = check_entry(books, r->entry, &drawn, err);
    if (status != TACET_OK) {
        return status;
    }
    const uint64_t answered = books->state.answers[seq];
    if (answered != 0) { /* by an earlier try of this caller, or by another who was faster: the first one counts */
        unsigned char offered[TACET_HASH_BYTES];
        tacet__answer_hash(offered, r->answer, r->size);
        status = tacet__store_read(books->store, &record, hash, answered, err);
        if (status == TACET_OK && (record.commit.answer_size != r->size ||
                                   memcmp(record.commit.answer_hash, offered, TACET_HASH_BYTES) != 0 ||
                                   memcmp(record.commit.receipt, receipt_or_zero(r->receipt), TACET_HASH_BYTES) != 0)) {
            status = tacet__fail(err, TACET_CONFLICT, "ledger entry %llu has another answer already",
                                 (unsigned long long)seq);
        }
        return status;
    }
    return append_answer(books, seq, drawn, r->answer, r->size, r->receipt, err);
}

/* A disclosure has nothing to draw, so entry and answer may become durable together. */
static tacet_status do_disclose(tacet__books *books, tacet__request *r, tacet_error *err) {
    const tacet_status status = do_reserve(books, r, err);
    return status == TACET_OK && !r->entry->answered ? do_commit(books, r, err) : status;
}

static tacet_status do_bind(tacet__books *books, tacet__request *r, tacet_error *err) {
    bool drawn = false;
    tacet_status status = check_entry(books, r->entry, &drawn, err);
    if (status == TACET_OK && books->state.answers[r->entry->seq] != 0) {
        return tacet__fail(err, TACET_CONFLICT, "ledger entry %llu was answered already",
                           (unsigned long long)r->entry->seq);
    }
    TACET_THEN(status, fetch_mint(books, r, err));
    if (status != TACET_OK) {
        return status;
    }
    /* Durable before the caller may draw: a later run with other data is refused by what lies here. */
    const bool bound = tacet__mint_is_bound(r->mint);
    status = tacet__mint_bind(r->mint, r->data, err);
    return status == TACET_OK && !bound ? tacet__store_bind_mint(books->store, r->entry->seq, r->mint->digest, err)
                                        : status;
}

static tacet_status do_lookup(tacet__books *books, tacet__request *r, tacet_error *err) {
    const uint64_t known = tacet__state_find(&books->state, r->ticket);
    return known != 0 ? reserve_again(books, r, known, err)
                      : tacet__fail(err, TACET_NOT_FOUND, "the ledger has no entry under this ticket");
}

static tacet_status do_total(tacet__books *books, tacet__request *r, tacet_error *err) {
    tacet_ledger_totals *out = r->totals;
    (void)err;
    const tacet__state *state = &books->state;
    const double spent = tacet__sum_value(&state->spent);
    out->accounting = state->budget.budget.accounting;
    out->budget_eps = state->budget.budget.eps;
    out->budget_delta = state->budget.budget.delta;
    out->cap = state->budget.budget.cap;
    out->spent = out->accounting == TACET_ACCOUNTING_GAUSSIAN ? sqrt(spent) : spent;
    out->spent_delta = tacet__sum_value(&state->spent_delta);
    out->entries = state->entries;
    out->answered = state->answered;
    out->uncovered = state->uncovered;
    out->seeded = state->seeded;
    out->records = state->records;
    memcpy(out->head, state->head, TACET_HASH_BYTES);
    return TACET_OK;
}

static tacet_status do_take(tacet__books *books, tacet__request *r, tacet_error *err) {
    (void)r;
    return tacet__store_take(books->store, err);
}

tacet_status tacet__request_perform(tacet__books *books, tacet__request *r) {
    static tacet_status (*const VERBS[])(tacet__books *, tacet__request *, tacet_error *) = {
        [TACET__ASK_RESERVE] = do_reserve, [TACET__ASK_COMMIT] = do_commit, [TACET__ASK_DISCLOSE] = do_disclose,
        [TACET__ASK_BIND] = do_bind,       [TACET__ASK_LOOKUP] = do_lookup, [TACET__ASK_TOTAL] = do_total,
        [TACET__ASK_TAKE] = do_take,
    };
    return VERBS[r->verb](books, r, &r->error);
}
