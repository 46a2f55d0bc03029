/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - reserve, commit, disclose, look up; and how concurrent callers share one durable transaction. What a
 * request then does in it: request.c.
 * Ring: gate. In: charges and answers. Out: entries and stored answers.
 * Group commit: a caller puts its request into a queue. Whoever finds nobody leading leads: takes all that wait, does
 * them in one transaction, and wakes them; those who come meanwhile wait for the next one. No thread is started. Other
 * processes wait for the store's write lock, and every transaction first reads on from where the handle was.
 * Cost: one sync per transaction, shared; O(1) work per request; memory per ticket (state.h). */
#include <tacet/dp/ledger.h>

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/ledger/minted.h"
#include "dp/ledger/request.h"
#include "dp/open/entry.h"
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

struct tacet_ledger {
    pid_t pid;
    pthread_mutex_t lock;   /* all until the leader's own */
    pthread_cond_t changed; /* a batch is done */
    pthread_cond_t arrived; /* the queue is as long as the leader hopes for */
    tacet__request *first;
    tacet__request **last;
    size_t queued;
    bool leading;
    size_t expected;   /* how many callers there were lately */
    int64_t gather_ns; /* half of what the last transaction took, at most GATHER_NS_MOST */
    /* The leader's alone: */
    tacet__books books;   /* but for the seal, which is opened under the lock by whoever needs it first */
    unsigned unforgotten; /* transactions that dropped keys, since the log was cut off */
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
        TACET_OR_RETURN(cap_of(&cap, settings->accounting, settings->eps, settings->delta, err));
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
    tacet__cond_init(&ledger->arrived);
    tacet__state_init(&ledger->books.state);
    tacet_status status = tacet__store_open(&ledger->books.store, &ledger->books.state, path, settings, cap, err);
    TACET_THEN(status, check_budget(&ledger->books.state, settings, err));
    if (status == TACET_OK) {
        /* A folder's link to the ledger must not look for the key in the folder; a URL has no folder. */
        status = tacet__seal_find(&ledger->books.seal, tacet__db_is_url(path) ? NULL : path, settings->key_file, err);
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
    tacet__store_close(ledger->books.store);
    tacet__state_clear(&ledger->books.state);
    tacet__seal_clear(&ledger->books.seal);
    (void)pthread_cond_destroy(&ledger->arrived);
    (void)pthread_cond_destroy(&ledger->changed);
    (void)pthread_mutex_destroy(&ledger->lock);
    free(ledger);
}

/* Whether a status is the answer to one request alone, and the transaction can go on. */
static bool is_refusal(tacet_status status) {
    return status == TACET_OK || status == TACET_BUDGET || status == TACET_CONFLICT || status == TACET_NOT_FOUND ||
           status == TACET_INVALID;
}

/* All requests of the list in one transaction. When that fails none of them happened, and all are told so: what one was
 * answered may rest on what another wrote. */
static void run_batch(tacet_ledger *ledger, tacet__request *batch) {
    tacet_error error = {TACET_OK, ""};
    bool write = false;
    for (const tacet__request *r = batch; r != NULL; r = r->next) {
        write = write || (r->verb != TACET__ASK_LOOKUP && r->verb != TACET__ASK_TOTAL);
        if (r->verb == TACET__ASK_TAKE) {
            tacet__store_taking(ledger->books.store);
        }
    }
    tacet_status status = tacet__store_begin(ledger->books.store, &ledger->books.state, write, &error);
    for (tacet__request *r = batch; status == TACET_OK && r != NULL; r = r->next) {
        r->status = tacet__request_perform(&ledger->books, r);
        if (!is_refusal(r->status)) {
            status = r->status;
            error = r->error;
        }
    }
    if (status == TACET_OK) {
        status = tacet__store_commit(ledger->books.store, &ledger->books.state, &error);
    } else {
        tacet__store_abandon(ledger->books.store, &ledger->books.state);
    }
    for (tacet__request *r = batch; r != NULL; r = r->next) {
        if (status != TACET_OK) {
            r->status = status;
            r->error = error;
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
static tacet__request *gather(tacet_ledger *ledger) {
    const int64_t until = now_ns() + ledger->gather_ns;
    const struct timespec deadline = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    while (ledger->queued < ledger->expected &&
           pthread_cond_timedwait(&ledger->arrived, &ledger->lock, &deadline) == 0) {
    }
    tacet__request *batch = ledger->first;
    tacet__request *end = batch;
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
    tacet__request *batch = gather(ledger);
    (void)pthread_mutex_unlock(&ledger->lock);
    const int64_t start = now_ns();
    run_batch(ledger, batch);
    const int64_t half = (now_ns() - start) / 2;
    if (ledger->expected <= 1 || ledger->unforgotten >= FORGET_AFTER) { /* nobody but a leader writes it */
        tacet__store_forget(ledger->books.store);
        ledger->unforgotten = 0;
    }
    (void)pthread_mutex_lock(&ledger->lock);
    while (batch != NULL) {
        tacet__request *next = batch->next; /* the request is gone once its thread sees it done */
        batch->done = true;
        batch = next;
    }
    ledger->expected += ledger->queued; /* those served, and those who came meanwhile */
    ledger->gather_ns = half < GATHER_NS_MOST ? half : GATHER_NS_MOST;
    ledger->leading = false;
    (void)pthread_cond_broadcast(&ledger->changed);
}

/* Waits until r was done, leading when nobody does. */
static void submit(tacet_ledger *ledger, tacet__request *r) {
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
    const tacet_status status = tacet__seal_open(&ledger->books.seal, err);
    (void)pthread_mutex_unlock(&ledger->lock);
    return status;
}

/* Submits, and hands status and outputs to the caller: nothing half-made on failure. */
static tacet_status finish(tacet_ledger *ledger, tacet__request *r, tacet_error *err) {
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
    tacet__request r = {
        .verb = TACET__ASK_RESERVE, .ticket = ticket, .charge = charge, .entry = entry, .memo = memo, .mint = mint};
    r.group_most = group_most;
    tacet_status status = check_question(entry, memo, ticket, charge, err);
    if (status == TACET_OK && tacet__charge_draws(charge)) {
        status = open_seal(ledger, err);
    }
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet__ledger_peek(tacet_ledger *ledger, tacet_mint *mint, const char *ticket, tacet_error *err) {
    tacet_entry entry = {0};
    tacet_blob memo;
    tacet_blob_init(&memo);
    tacet__request r = {.verb = TACET__ASK_LOOKUP, .ticket = ticket, .entry = &entry, .memo = &memo, .mint = mint};
    tacet_status status = tacet__ticket_check(ticket, err);
    TACET_THEN(status, open_seal(ledger, err));
    TACET_THEN(status, finish(ledger, &r, err));
    if (status == TACET_OK && entry.answered) {
        status = tacet__fail(err, TACET_NOT_FOUND, "the ticket was answered already");
    }
    tacet_blob_clear(&memo);
    return status;
}

tacet_status tacet__ledger_bind(tacet_ledger *ledger, const tacet_entry *entry, tacet_mint *mint,
                                const unsigned char data[TACET_MINT_BYTES], tacet_error *err) {
    tacet_entry copy = *entry;
    tacet__request r = {.verb = TACET__ASK_BIND, .entry = &copy, .mint = mint, .data = data};
    const tacet_status status = open_seal(ledger, err);
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_commit(tacet_ledger *ledger, const tacet_entry *entry, const void *answer, size_t size,
                                 const unsigned char *receipt, tacet_error *err) {
    tacet_entry copy = *entry;
    tacet__request r = {.verb = TACET__ASK_COMMIT, .entry = &copy, .answer = answer, .size = size, .receipt = receipt};
    const tacet_status status = check_answer(answer, size, err);
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_disclose(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo, const char *ticket,
                                   const tacet_charge *charge, const void *answer, size_t size, tacet_error *err) {
    tacet__request r = {.verb = TACET__ASK_DISCLOSE, .ticket = ticket, .charge = charge, .entry = entry, .memo = memo};
    r.answer = answer;
    r.size = size;
    tacet_status status = check_question(entry, memo, ticket, charge, err);
    TACET_THEN(status, check_answer(answer, size, err));
    if (status == TACET_OK && charge->claim != TACET_CLAIM_UNCOVERED) {
        status = tacet__fail(err, TACET_INVALID, "only uncovered charges are disclosed; others reserve, draw, commit");
    }
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_lookup(tacet_ledger *ledger, tacet_entry *entry, tacet_blob *memo, const char *ticket,
                                 tacet_error *err) {
    tacet__request r = {.verb = TACET__ASK_LOOKUP, .ticket = ticket, .entry = entry, .memo = memo};
    memset(entry, 0, sizeof *entry);
    memo->size = 0;
    const tacet_status status = tacet__ticket_check(ticket, err);
    return status == TACET_OK ? finish(ledger, &r, err) : status;
}

tacet_status tacet_ledger_charge(tacet_ledger *ledger, tacet_charge *charge, tacet_blob *texts, const char *ticket,
                                 tacet_error *err) {
    tacet_entry entry = {0};
    tacet__request r = {.verb = TACET__ASK_LOOKUP, .ticket = ticket, .entry = &entry, .asked = texts};
    tacet_charge_init(charge);
    texts->size = 0;
    tacet_status status = tacet__ticket_check(ticket, err);
    TACET_THEN(status, finish(ledger, &r, err));
    if (status == TACET_OK) {
        tacet__record record;
        (void)tacet__record_decode(&record, texts->data, texts->size, NULL); /* encoded a moment ago */
        *charge = record.reserve.charge;
    }
    return status;
}

void tacet__ledger_recall(tacet_ledger *ledger, bool recalling) {
    (void)pthread_mutex_lock(&ledger->lock);
    ledger->books.recalling = recalling;
    (void)pthread_mutex_unlock(&ledger->lock);
}

tacet_status tacet_ledger_take(tacet_ledger *ledger, tacet_error *err) {
    tacet__request r = {.verb = TACET__ASK_TAKE};
    return finish(ledger, &r, err);
}

tacet_status tacet_ledger_total(tacet_ledger *ledger, tacet_ledger_totals *out, tacet_error *err) {
    tacet__request r = {.verb = TACET__ASK_TOTAL, .totals = out};
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
