/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - reserve, commit, disclose, look up; and how concurrent callers share one durable transaction.
 * Ring: gate. In: charges and answers. Out: entries and stored answers.
 * Group commit: a caller puts its request into a queue. Whoever finds nobody leading leads: takes all that wait, does
 * them in one transaction, and wakes them; those who come meanwhile wait for the next one. No thread is started. Other
 * processes wait for the store's write lock, and every transaction first reads on from where the handle was.
 * Cost: one sync per transaction, shared; O(1) work per request; memory per ticket (state.h). */
#include <tacet/dp/ledger.h>

#include "dp/open/entry.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/ledger/minted.h"
#include "dp/ledger/offer.h"
#include "dp/ledger/state.h"
#include "dp/ledger/store.h"
#include "dp/noise/mint.h"
#include "io/db/db.h"

#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH_MOST = 64,          /* requests in one transaction */
    GATHER_NS_MOST = 5000000, /* how long a leader waits for callers it expects */
    FORGET_AFTER = 16         /* transactions that dropped keys, where callers are many */
};

typedef enum verb { RESERVE, COMMIT, DISCLOSE, STEP, BIND, LOOKUP, TOTAL, TAKE } verb;

typedef struct request {
    verb verb;
    const char *ticket;
    const tacet_charge *charge;
    const void *answer;
    size_t size;
    const unsigned char *receipt;
    tacet_entry *entry;        /* out; in for COMMIT and STEP */
    tacet_blob *memo;          /* out; NULL where there is none */
    tacet_blob *asked;         /* out: the entry itself, instead of its answer; mostly NULL */
    tacet_mint *mint;          /* in and out; NULL: not asked for */
    const unsigned char *data; /* BIND */
    uint64_t group_most;       /* 0: any number */
    const tacet_mark *marks;
    size_t mark_count;
    tacet_ledger_totals *totals;
    tacet_status status;
    tacet_error error;
    bool done;
    struct request *next;
} request;

struct tacet_ledger {
    pid_t pid;
    pthread_mutex_t lock;   /* all until the leader's own */
    pthread_cond_t changed; /* a batch is done */
    pthread_cond_t arrived; /* the queue is as long as the leader hopes for */
    request *first;
    request **last;
    size_t queued;
    bool leading;
    size_t expected;   /* how many callers there were lately */
    int64_t gather_ns; /* half of what the last transaction took, at most GATHER_NS_MOST */
    /* The leader's alone: */
    tacet__store *store;
    tacet__state state;
    tacet__offer *offers;
    unsigned unforgotten; /* transactions that dropped keys, since the log was cut off */
    /* Opened under the lock by whoever needs it first, and read only after that. */
    tacet__seal seal;
};

void tacet_ledger_settings_defaults(tacet_ledger_settings *settings) {
    memset(settings, 0, sizeof *settings);
    settings->accounting = TACET_ACCOUNTING_GAUSSIAN;
    settings->delta = 1e-5;
    settings->uncovered_most = UINT64_MAX;
    settings->create = true;
    settings->busy_ms = 10000;
}

/* The budget in the unit of the accounting, rounded to the private side. */
static tacet_status cap_of(double *cap, tacet_accounting accounting, double eps, double delta, tacet_error *err) {
    if (!(eps > 0 && isfinite(eps))) {
        return tacet__fail(err, TACET_INVALID, "ledger: the budget eps must be finite and > 0");
    }
    if (!(delta >= 0 && delta < 1)) {
        return tacet__fail(err, TACET_INVALID, "ledger: the budget delta must be in [0, 1)");
    }
    switch (accounting) {
    case TACET_ACCOUNTING_BASIC:
        *cap = eps;
        return TACET_OK;
    case TACET_ACCOUNTING_ZCDP:
        return tacet_zcdp_rho(cap, eps, delta, err);
    case TACET_ACCOUNTING_GAUSSIAN:
        return tacet_gdp_mu(cap, eps, delta, err);
    }
    return tacet__fail(err, TACET_INVALID, "ledger: unknown accounting");
}

static tacet_status check_budget(const tacet__state *state, const tacet_ledger_settings *settings, tacet_error *err) {
    const tacet__record *r = &state->budget;
    double cap = 0;
    const tacet_status status = cap_of(&cap, r->budget.accounting, r->budget.eps, r->budget.delta, NULL);
    /* Another release of this library may have rounded the cap otherwise; a forged one is off by more. */
    if (status != TACET_OK || !(r->budget.cap <= cap * (1 + 1e-9))) {
        return tacet__fail(err, TACET_CORRUPT, "ledger record 0 has a cap that its eps and delta do not allow");
    }
    if (!settings->use_stored &&
        (r->budget.accounting != settings->accounting || r->budget.eps != settings->eps ||
         r->budget.delta != settings->delta || r->budget.uncovered_most != settings->uncovered_most)) {
        return tacet__fail(err, TACET_CONFLICT, "the ledger has another budget: eps %g, delta %g, %s accounting",
                           r->budget.eps, r->budget.delta, tacet_accounting_name(r->budget.accounting));
    }
    return TACET_OK;
}

tacet_status tacet_ledger_open(tacet_ledger **out, const char *path, const tacet_ledger_settings *settings,
                               tacet_error *err) {
    double cap = 0;
    *out = NULL;
    if (path == NULL || path[0] == '\0' || settings == NULL) {
        return tacet__fail(err, TACET_INVALID, "ledger: a path and settings are needed");
    }
    if (!settings->use_stored) {
        const tacet_status status = cap_of(&cap, settings->accounting, settings->eps, settings->delta, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    tacet_ledger *ledger = TACET__ZALLOC(tacet_ledger, 1);
    if (ledger == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening the ledger");
    }
    ledger->pid = getpid();
    ledger->last = &ledger->first;
    (void)pthread_mutex_init(&ledger->lock, NULL); /* these cannot fail */
    (void)pthread_cond_init(&ledger->changed, NULL);
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&ledger->arrived, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    tacet__state_init(&ledger->state);
    tacet_status status = tacet__store_open(&ledger->store, &ledger->state, path, settings, cap, err);
    if (status == TACET_OK) {
        status = check_budget(&ledger->state, settings, err);
    }
    if (status == TACET_OK) {
        /* A folder's link to the ledger must not look for the key in the folder; a URL has no folder. */
        status = tacet__seal_find(&ledger->seal, tacet__db_is_url(path) ? NULL : path, settings->key_file, err);
    }
    if (status != TACET_OK) {
        tacet_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return TACET_OK;
}

void tacet_ledger_close(tacet_ledger *ledger) {
    if (ledger == NULL) {
        return;
    }
    tacet__store_close(ledger->store);
    tacet__state_clear(&ledger->state);
    tacet__offers_clear(&ledger->offers);
    tacet__seal_clear(&ledger->seal);
    (void)pthread_cond_destroy(&ledger->arrived);
    (void)pthread_cond_destroy(&ledger->changed);
    (void)pthread_mutex_destroy(&ledger->lock);
    free(ledger);
}

/* Whether noise is drawn for the charge, by a key of its own. */
static bool draws(const tacet_charge *charge) {
    return charge->claim != TACET_CLAIM_UNCOVERED && !charge->seeded;
}

static tacet_status append_answer(tacet_ledger *ledger, uint64_t entry, bool drawn, const void *answer, size_t size,
                                  const unsigned char *receipt, tacet_error *err) {
    tacet__record record;
    memset(&record, 0, sizeof record);
    record.kind = TACET__RECORD_COMMIT;
    record.commit.entry = entry;
    record.commit.answer_size = size;
    tacet__answer_hash(record.commit.answer_hash, answer, size);
    memcpy(record.commit.receipt, tacet__receipt_or_zero(receipt), TACET_HASH_BYTES);
    tacet_status status = tacet__store_append(ledger->store, &ledger->state, &record, NULL, err);
    if (status == TACET_OK) {
        status = tacet__store_put_answer(ledger->store, record.seq, answer, size, err);
    }
    if (status == TACET_OK && drawn) {
        status = tacet__store_drop_mint(ledger->store, entry, err);
    }
    return status;
}

/* With the reservation that was just appended. */
static tacet_status put_mint(tacet_ledger *ledger, request *r, tacet_error *err) {
    unsigned char sealed[TACET__SEALED_BYTES];
    tacet_mint fresh;
    tacet_status status = TACET_OK;
    const tacet_mint *mint = r->mint;
    if (mint == NULL) {
        status = tacet__mint_fresh(&fresh, err);
        mint = &fresh;
    }
    if (status == TACET_OK) {
        tacet__seal_close_key(&ledger->seal, sealed, mint->key, r->entry->hash);
        status = tacet__store_put_mint(ledger->store, r->entry->seq, sealed, sizeof sealed, mint->digest, err);
    }
    tacet__mint_clear(&fresh);
    return status;
}

/* Of an entry that is not answered. */
static tacet_status fetch_mint(tacet_ledger *ledger, request *r, tacet_error *err) {
    tacet__sealed sealed;
    const tacet_status status = tacet__store_read_mint(ledger->store, &sealed, r->entry->seq, err);
    if (status != TACET_OK) {
        return status;
    }
    if (!sealed.found) {
        return tacet__fail(err, TACET_CONFLICT, "the key of this ticket's noise is gone: it is spent, ask another");
    }
    if (sealed.sampler != TACET__SAMPLER_VERSION) {
        return tacet__fail(err, TACET_CONFLICT,
                           "this ticket was begun by another version of the samplers: it is spent, ask another");
    }
    memcpy(r->mint->digest, sealed.digest, sizeof sealed.digest);
    return tacet__seal_open_key(&ledger->seal, r->mint->key, sealed.bytes, sizeof sealed.bytes, r->entry->hash)
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT,
                             "this ticket was begun under another key file than %.80s: name that one, or ask another",
                             ledger->seal.path);
}

/* The entry's stored answer, when it has one. */
static tacet_status fetch_answer(tacet_ledger *ledger, request *r, uint64_t seq, tacet_error *err) {
    tacet__record record;
    unsigned char hash[TACET_HASH_BYTES];
    const uint64_t commit = ledger->state.answers[seq];
    if (commit == 0) {
        return TACET_OK;
    }
    tacet_status status = tacet__store_read(ledger->store, &record, hash, commit, err);
    if (status == TACET_OK) {
        status = tacet__store_read_answer(ledger->store, r->memo, &record, err);
    }
    r->entry->answered = status == TACET_OK;
    return status;
}

/* The mark that a step record holds; step 0 where there is no such record. */
static tacet_status fetch_mark(tacet_ledger *ledger, tacet_mark *out, uint64_t seq, tacet_error *err) {
    tacet__record record;
    unsigned char hash[TACET_HASH_BYTES];
    memset(out, 0, sizeof *out);
    if (seq == 0) {
        return TACET_OK;
    }
    const tacet_status status = tacet__store_read(ledger->store, &record, hash, seq, err);
    if (status == TACET_OK) {
        out->step = record.step.step;
        memcpy(out->hash, record.step.hash, TACET_HASH_BYTES);
    }
    return status;
}

/* A ticket that is known: the same question gets what there is. */
static tacet_status reserve_again(tacet_ledger *ledger, request *r, uint64_t seq, tacet_error *err) {
    tacet__record record;
    tacet_status status = tacet__store_read(ledger->store, &record, r->entry->hash, seq, err);
    if (status != TACET_OK) {
        return status;
    }
    if (r->charge != NULL && !tacet__charge_equal(&record.reserve.charge, r->charge)) {
        return tacet__fail(err, TACET_CONFLICT, "the ticket was used for another question");
    }
    if (r->asked != NULL) {
        return tacet__record_encode(r->asked, &record, err);
    }
    r->entry->seq = seq;
    const tacet__offer *o = tacet__offer_find(ledger->offers, r->entry);
    if (r->verb != LOOKUP && o != NULL && ledger->state.answers[seq] == 0) {
        status =
            append_answer(ledger, seq, draws(&record.reserve.charge), o->bytes.data, o->bytes.size, o->receipt, err);
    }
    if (status == TACET_OK) {
        status = fetch_mark(ledger, &r->entry->newest, tacet__state_step(&ledger->state, seq, 0), err);
    }
    if (status == TACET_OK) {
        status = fetch_answer(ledger, r, seq, err);
    }
    return status == TACET_OK && r->mint != NULL && !r->entry->answered ? fetch_mint(ledger, r, err) : status;
}

static tacet_status do_reserve(tacet_ledger *ledger, request *r, tacet_error *err) {
    const uint64_t known = tacet__state_find(&ledger->state, r->ticket);
    tacet__record record;
    if (known != 0) {
        return reserve_again(ledger, r, known, err);
    }
    const tacet_status fits = tacet__state_fits(&ledger->state, r->charge, err);
    if (fits != TACET_OK) {
        return fits;
    }
    if (r->group_most > 0 && tacet__state_group(&ledger->state, r->charge->group) >= r->group_most) {
        return tacet__fail(err, TACET_BUDGET, "there are %llu entries of this group already, all it may have",
                           (unsigned long long)r->group_most);
    }
    memset(&record, 0, sizeof record);
    record.kind = TACET__RECORD_RESERVE;
    record.reserve.ticket = r->ticket;
    record.reserve.charge = *r->charge;
    const tacet_status status = tacet__store_append(ledger->store, &ledger->state, &record, r->entry->hash, err);
    r->entry->seq = record.seq;
    return status == TACET_OK && draws(r->charge) ? put_mint(ledger, r, err) : status;
}

/* That the entry a caller holds is one of this ledger; *drawn: whether it has, or had, a key. */
static tacet_status check_entry(tacet_ledger *ledger, const tacet_entry *entry, bool *drawn, tacet_error *err) {
    tacet__record record;
    unsigned char hash[TACET_HASH_BYTES];
    if (entry->seq == 0 || entry->seq >= ledger->state.records) {
        return tacet__fail(err, TACET_NOT_FOUND, "the ledger has no such entry");
    }
    const tacet_status status = tacet__store_read(ledger->store, &record, hash, entry->seq, err);
    if (status == TACET_OK &&
        (record.kind != TACET__RECORD_RESERVE || memcmp(hash, entry->hash, TACET_HASH_BYTES) != 0)) {
        return tacet__fail(err, TACET_NOT_FOUND, "the ledger has no such entry");
    }
    *drawn = status == TACET_OK && draws(&record.reserve.charge);
    return status;
}

static tacet_status do_commit(tacet_ledger *ledger, request *r, tacet_error *err) {
    const uint64_t seq = r->entry->seq;
    tacet__record record;
    unsigned char hash[TACET_HASH_BYTES];
    bool drawn = false;
    tacet_status status = check_entry(ledger, r->entry, &drawn, err);
    if (status != TACET_OK) {
        return status;
    }
    const uint64_t answered = ledger->state.answers[seq];
    if (answered != 0) {
        unsigned char offered[TACET_HASH_BYTES];
        tacet__answer_hash(offered, r->answer, r->size);
        status = tacet__store_read(ledger->store, &record, hash, answered, err);
        if (status == TACET_OK &&
            (record.commit.answer_size != r->size ||
             memcmp(record.commit.answer_hash, offered, TACET_HASH_BYTES) != 0 ||
             memcmp(record.commit.receipt, tacet__receipt_or_zero(r->receipt), TACET_HASH_BYTES) != 0)) {
            status = tacet__fail(err, TACET_CONFLICT, "ledger entry %llu has another answer already",
                                 (unsigned long long)seq);
        }
        return status;
    }
    status = tacet__offer_make(&ledger->offers, r->entry, r->answer, r->size, r->receipt, err);
    return status == TACET_OK ? append_answer(ledger, seq, drawn, r->answer, r->size, r->receipt, err) : status;
}

/* A disclosure has nothing to draw, so entry and answer may become durable together. */
static tacet_status do_disclose(tacet_ledger *ledger, request *r, tacet_error *err) {
    const tacet_status status = do_reserve(ledger, r, err);
    return status == TACET_OK && !r->entry->answered ? do_commit(ledger, r, err) : status;
}

static bool same_mark(const tacet_mark *a, const tacet_mark *b) {
    return a->step == b->step && memcmp(a->hash, b->hash, TACET_HASH_BYTES) == 0;
}

static tacet_status do_step(tacet_ledger *ledger, request *r, tacet_error *err) {
    const uint64_t seq = r->entry->seq;
    const tacet_mark *wanted = &r->marks[r->mark_count - 1];
    tacet_mark stored;
    bool drawn = false;
    tacet_status status = check_entry(ledger, r->entry, &drawn, err);
    if (status == TACET_OK && ledger->state.answers[seq] == 0) {
        status = tacet__fail(err, TACET_INVALID, "a step of a ledger entry that has no answer yet");
    }
    if (status != TACET_OK) {
        return status;
    }
    uint64_t at = tacet__state_step(&ledger->state, seq, wanted->step);
    const bool known = at != 0;
    status = fetch_mark(ledger, &stored, known ? at : tacet__state_step(&ledger->state, seq, 0), err);
    if (status != TACET_OK) {
        return status;
    }
    bool agrees = stored.step == 0; /* the first one */
    for (size_t i = known ? r->mark_count - 1 : 0; i < r->mark_count; i++) {
        agrees = agrees || same_mark(&r->marks[i], &stored);
    }
    if (!agrees) {
        return tacet__fail(err, TACET_CONFLICT, "step %llu of ledger entry %llu was released from another history",
                           (unsigned long long)stored.step, (unsigned long long)seq);
    }
    if (known) {
        return TACET_OK;
    }
    tacet__record record;
    memset(&record, 0, sizeof record);
    record.kind = TACET__RECORD_STEP;
    record.step.entry = seq;
    record.step.step = wanted->step;
    memcpy(record.step.hash, wanted->hash, TACET_HASH_BYTES);
    return tacet__store_append(ledger->store, &ledger->state, &record, NULL, err);
}

static tacet_status do_bind(tacet_ledger *ledger, request *r, tacet_error *err) {
    bool drawn = false;
    tacet_status status = check_entry(ledger, r->entry, &drawn, err);
    if (status == TACET_OK && ledger->state.answers[r->entry->seq] != 0) {
        return tacet__fail(err, TACET_CONFLICT, "ledger entry %llu was answered already",
                           (unsigned long long)r->entry->seq);
    }
    status = status == TACET_OK ? fetch_mint(ledger, r, err) : status;
    if (status != TACET_OK) {
        return status;
    }
    const bool bound = tacet__mint_is_bound(r->mint);
    status = tacet__mint_bind(r->mint, r->data, err);
    return status == TACET_OK && !bound ? tacet__store_bind_mint(ledger->store, r->entry->seq, r->mint->digest, err)
                                        : status;
}

static tacet_status do_lookup(tacet_ledger *ledger, request *r, tacet_error *err) {
    const uint64_t known = tacet__state_find(&ledger->state, r->ticket);
    return known != 0 ? reserve_again(ledger, r, known, err)
                      : tacet__fail(err, TACET_NOT_FOUND, "the ledger has no entry under this ticket");
}

static tacet_status do_total(tacet_ledger *ledger, request *r, tacet_error *err) {
    tacet_ledger_totals *out = r->totals;
    (void)err;
    const tacet__state *state = &ledger->state;
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

static tacet_status do_take(tacet_ledger *ledger, request *r, tacet_error *err) {
    (void)r;
    return tacet__store_take(ledger->store, err);
}

static tacet_status perform(tacet_ledger *ledger, request *r) {
    static tacet_status (*const VERBS[])(tacet_ledger *, request *, tacet_error *) = {
        [RESERVE] = do_reserve, [COMMIT] = do_commit, [DISCLOSE] = do_disclose, [STEP] = do_step,
        [BIND] = do_bind,       [LOOKUP] = do_lookup, [TOTAL] = do_total,       [TAKE] = do_take,
    };
    return VERBS[r->verb](ledger, r, &r->error);
}

/* Whether a status is the answer to one request alone, and the transaction can go on. */
static bool is_refusal(tacet_status status) {
    return status == TACET_OK || status == TACET_BUDGET || status == TACET_CONFLICT || status == TACET_NOT_FOUND ||
           status == TACET_INVALID;
}

/* All requests of the list in one transaction. When that fails none of them happened, and all are told so: what one was
 * answered may rest on what another wrote. */
static void run_batch(tacet_ledger *ledger, request *batch) {
    tacet_error error = {TACET_OK, ""};
    bool write = false;
    for (const request *r = batch; r != NULL; r = r->next) {
        write = write || (r->verb != LOOKUP && r->verb != TOTAL);
        if (r->verb == TAKE) {
            tacet__store_taking(ledger->store);
        }
    }
    tacet_status status = tacet__store_begin(ledger->store, &ledger->state, write, &error);
    for (request *r = batch; status == TACET_OK && r != NULL; r = r->next) {
        r->status = perform(ledger, r);
        if (!is_refusal(r->status)) {
            status = r->status;
            error = r->error;
        }
    }
    if (status == TACET_OK) {
        status = tacet__store_commit(ledger->store, &ledger->state, &error);
    } else {
        tacet__store_abandon(ledger->store, &ledger->state);
    }
    for (request *r = batch; r != NULL; r = r->next) {
        if (status != TACET_OK) {
            if (r->verb == COMMIT) {
                /* it may have failed before it came to that */
                (void)tacet__offer_make(&ledger->offers, r->entry, r->answer, r->size, r->receipt, NULL);
            }
            r->status = status;
            r->error = error;
        } else if (r->status == TACET_OK && r->entry != NULL && ledger->state.answers[r->entry->seq] != 0) {
            tacet__offer_forget(&ledger->offers, r->entry);
        }
    }
    ledger->unforgotten++;
}

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Takes what waits, after giving those who were just answered the time to come again: with eight callers a sync then
 * serves eight, not whoever is first back. One caller alone never waits. Called with the lock held. */
static request *gather(tacet_ledger *ledger) {
    const int64_t until = now_ns() + ledger->gather_ns;
    const struct timespec deadline = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    while (ledger->queued < ledger->expected &&
           pthread_cond_timedwait(&ledger->arrived, &ledger->lock, &deadline) == 0) {
    }
    request *batch = ledger->first;
    request *end = batch;
    size_t count = 1;
    for (; count < BATCH_MOST && end->next != NULL; count++) {
        end = end->next;
    }
    ledger->first = end->next;
    if (ledger->first == NULL) {
        ledger->last = &ledger->first;
    }
    end->next = NULL;
    ledger->queued -= count;
    ledger->expected = count;
    return batch;
}

static void lead(tacet_ledger *ledger) {
    ledger->leading = true;
    request *batch = gather(ledger);
    (void)pthread_mutex_unlock(&ledger->lock);
    const int64_t start = now_ns();
    run_batch(ledger, batch);
    const int64_t half = (now_ns() - start) / 2;
    if (ledger->expected <= 1 || ledger->unforgotten >= FORGET_AFTER) { /* nobody but a leader writes it */
        tacet__store_forget(ledger->store);
        ledger->unforgotten = 0;
    }
    (void)pthread_mutex_lock(&ledger->lock);
    while (batch != NULL) {
        request *next = batch->next; /* the request is gone once its thread sees it done */
        batch->done = true;
        batch = next;
    }
    ledger->expected += ledger->queued; /* those served, and those who came meanwhile */
    ledger->gather_ns = half < GATHER_NS_MOST ? half : GATHER_NS_MOST;
    ledger->leading = false;
    (void)pthread_cond_broadcast(&ledger->changed);
}

/* Waits until r was done, leading when nobody does. */
static void submit(tacet_ledger *ledger, request *r) {
    (void)pthread_mutex_lock(&ledger->lock);
    *ledger->last = r;
    ledger->last = &r->next;
    ledger->queued++;
    if (ledger->queued >= ledger->expected) {
        (void)pthread_cond_signal(&ledger->arrived);
    }
    while (!r->done) {
        if (ledger->leading) {
            (void)pthread_cond_wait(&ledger->changed, &ledger->lock);
        } else {
            lead(ledger);
        }
    }
    (void)pthread_mutex_unlock(&ledger->lock);
}

/* The key file, before the first transaction that needs it. */
static tacet_status open_seal(tacet_ledger *ledger, tacet_error *err) {
    (void)pthread_mutex_lock(&ledger->lock);
    const tacet_status status = tacet__seal_open(&ledger->seal, err);
    (void)pthread_mutex_unlock(&ledger->lock);
    return status;
}

/* Submits, and hands status and outputs to the caller: nothing half-made on failure. */
static tacet_status finish(tacet_ledger *ledger, request *r, tacet_error *err) {
    if (getpid() != ledger->pid) {
        r->status = tacet__fail(&r->error, TACET_STATE, "a ledger opened before fork belongs to the parent");
    } else {
        submit(ledger, r);
    }
    if (r->status == TACET_OK) {
        return TACET_OK;
    }
    if (r->memo != NULL) {
        memset(r->entry, 0, sizeof *r->entry);
        r->memo->size = 0;
    }
    return tacet__fail(err, r->status, "%s", r->error.message);
}

static tacet_status check_question(tacet_entry *entry, tacet_blob *memo, const char *ticket, const tacet_charge *charge,
                                   tacet_error *err) {
    memset(entry, 0, sizeof *entry);
    memo->size = 0;
    const tacet_status status = tacet__ticket_check(ticket, err);
    return status == TACET_OK ? tacet_charge_check(charge, err) : status;
}

static tacet_status check_answer(const void *answer, size_t size, tacet_error *err) {
    if (size > TACET__ANSWER_MOST || (answer == NULL && size > 0)) {
        return tacet__fail(err, TACET_INVALID, "an answer has at most %d bytes", TACET__ANSWER_MOST);
    }
    return TACET_OK;
}

tacet_status tacet_ledger_reserve(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo, const char *ticket,
                                  const tacet_charge *charge, tacet_error *err) {
    return tacet__ledger_reserve(ledger, entry, memo, NULL, ticket, charge, 0, err);
}

tacet_status tacet__ledger_reserve(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo, tacet_mint *mint,
                                   const char *ticket, const tacet_charge *charge, uint64_t group_most,
                                   tacet_error *err) {
    request r = {.verb = RESERVE, .ticket = ticket, .charge = charge, .entry = entry, .memo = memo, .mint = mint};
    r.group_most = group_most;
    tacet_status status = check_question(entry, memo, ticket, charge, err);
    if (status == TACET_OK && draws(charge)) {
        status = open_seal(ledger, err);
    }
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet__ledger_peek(tacet_ledger *ledger, tacet_mint *mint, const char *ticket, tacet_error *err) {
    tacet_entry entry = {0};
    tacet_blob memo;
    tacet_blob_init(&memo);
    request r = {.verb = LOOKUP, .ticket = ticket, .entry = &entry, .memo = &memo, .mint = mint};
    tacet_status status = tacet__ticket_check(ticket, err);
    status = status == TACET_OK ? open_seal(ledger, err) : status;
    status = status == TACET_OK ? finish(ledger, &r, err) : status;
    if (status == TACET_OK && entry.answered) {
        status = tacet__fail(err, TACET_NOT_FOUND, "the ticket was answered already");
    }
    tacet_blob_clear(&memo);
    return status;
}

tacet_status tacet__ledger_bind(tacet_ledger *ledger, const tacet_entry *entry, tacet_mint *mint,
                                const unsigned char data[TACET_MINT_BYTES], tacet_error *err) {
    tacet_entry copy = *entry;
    request r = {.verb = BIND, .entry = &copy, .mint = mint, .data = data};
    const tacet_status status = open_seal(ledger, err);
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_commit(tacet_ledger *ledger, const tacet_entry *entry, const void *answer, size_t size,
                                 const unsigned char *receipt, tacet_error *err) {
    tacet_entry copy = *entry;
    request r = {.verb = COMMIT, .entry = &copy, .answer = answer, .size = size, .receipt = receipt};
    const tacet_status status = check_answer(answer, size, err);
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_disclose(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo, const char *ticket,
                                   const tacet_charge *charge, const void *answer, size_t size, tacet_error *err) {
    request r = {.verb = DISCLOSE, .ticket = ticket, .charge = charge, .entry = entry, .memo = memo};
    r.answer = answer;
    r.size = size;
    tacet_status status = check_question(entry, memo, ticket, charge, err);
    if (status == TACET_OK) {
        status = check_answer(answer, size, err);
    }
    if (status == TACET_OK && charge->claim != TACET_CLAIM_UNCOVERED) {
        status = tacet__fail(err, TACET_INVALID, "only uncovered charges are disclosed; others reserve, draw, commit");
    }
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_lookup(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo, const char *ticket,
                                 tacet_error *err) {
    request r = {.verb = LOOKUP, .ticket = ticket, .entry = entry, .memo = memo};
    memset(entry, 0, sizeof *entry);
    memo->size = 0;
    const tacet_status status = tacet__ticket_check(ticket, err);
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_find(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo, const char *ticket,
                               const tacet_charge *charge, tacet_error *err) {
    request r = {.verb = LOOKUP, .ticket = ticket, .charge = charge, .entry = entry, .memo = memo};
    const tacet_status status = check_question(entry, memo, ticket, charge, err);
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_charge(tacet_ledger *ledger, tacet_charge *charge, tacet_blob *texts, const char *ticket,
                                 tacet_error *err) {
    tacet_entry entry = {0};
    request r = {.verb = LOOKUP, .ticket = ticket, .entry = &entry, .asked = texts};
    tacet_charge_init(charge);
    texts->size = 0;
    tacet_status status = tacet__ticket_check(ticket, err);
    if (status == TACET_OK) {
        status = finish(ledger, &r, err);
    }
    if (status == TACET_OK) {
        tacet__record record;
        (void)tacet__record_decode(&record, texts->data, texts->size, NULL); /* encoded a moment ago */
        *charge = record.reserve.charge;
    }
    return status;
}

tacet_status tacet_ledger_step(tacet_ledger *ledger, const tacet_entry *entry, const tacet_mark *marks, size_t count,
                               tacet_error *err) {
    tacet_entry copy = *entry;
    request r = {.verb = STEP, .entry = &copy, .marks = marks, .mark_count = count};
    bool good = count > 0 && marks[count - 1].step > 0;
    for (size_t i = 0; good && i + 1 < count; i++) {
        good = marks[i].step < marks[count - 1].step;
    }
    return good ? finish(ledger, &r, err)
                : tacet__fail(err, TACET_INVALID, "the last of the marks must be the newest, and a step above 0");
}

tacet_status tacet_ledger_take(tacet_ledger *ledger, tacet_error *err) {
    request r = {.verb = TAKE};
    return finish(ledger, &r, err);
}

tacet_status tacet_ledger_total(tacet_ledger *ledger, tacet_ledger_totals *out, tacet_error *err) {
    request r = {.verb = TOTAL, .totals = out};
    memset(out, 0, sizeof *out);
    tacet_status status = finish(ledger, &r, err);
    if (status != TACET_OK) {
        return status;
    }
    out->eps = out->spent;
    out->delta = out->spent_delta;
    if (out->accounting != TACET_ACCOUNTING_BASIC) {
        out->delta = out->spent > 0 ? out->budget_delta : 0;
    }
    if (out->spent > 0 && out->accounting == TACET_ACCOUNTING_ZCDP) {
        status = tacet_zcdp_eps(&out->eps, out->spent, out->budget_delta, err);
    } else if (out->spent > 0 && out->accounting == TACET_ACCOUNTING_GAUSSIAN) {
        status = tacet_gdp_eps(&out->eps, out->spent, out->budget_delta, err);
    }
    return status;
}
