/* SPDX-License-Identifier: Apache-2.0 */
/* batches.c - records of growing batches in, one release a batch out through the gate.
 * Ring: trusted. Source: parallel composition; README.md, (c). A record is in one batch, and which one is public: the
 * order of the reports. What the ledger is charged for names the rounds of the batch by a hash of their tickets, so
 * that a state that was put back cannot carry a round from a batch that was released into the next one. Cost: O(k) a
 * record; a release is that of the mechanism, two durable writes. */
#include "central/trusted/batches.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/noise.h>

#include "central/trusted/gate.h"
#include "core/fail.h"
#include "core/memory.h"

enum { CHAIN = 32, TEXT_ROOM = 256 };
static const double LONGEST = 65536; /* rounds of a batch: sums stay exact, and fit the gate's grid */

struct tacet__batches {
    tacet__batches_plan plan;
    tacet_ask ask; /* texts below; its noise is opened for each release */
    char ticket[TACET_TICKET_MOST + 1], what[TEXT_ROOM], to_whom[TEXT_ROOM], covered[TEXT_ROOM];
    tacet__batch_gate *gate;
    bool seeded;
    uint64_t seed; /* of seeded noise */
    bool begun;
    size_t k;                   /* numbers of a record */
    double *sum, *scratch;      /* most: private */
    uint64_t batch, before;     /* released so far; their records */
    uint64_t count;             /* records of this batch */
    unsigned char chain[CHAIN]; /* hash of their tickets */
    double length;              /* of this batch, before rounding */
    tacet_release *last;
};

static uint64_t length_of(const tacet__batches *b, uint64_t before, double length) {
    const uint64_t whole = (uint64_t)ceil(length); /* at most LONGEST: check(), and where it grows */
    const uint64_t left = b->plan.rounds > before ? b->plan.rounds - before : 0;
    return b->plan.rounds > 0 && whole > left ? left : whole;
}

uint64_t tacet__batches_length(const tacet__batches *b) {
    return length_of(b, b->before, b->length);
}

uint64_t tacet__batches_left(const tacet__batches *b) {
    const uint64_t length = tacet__batches_length(b);
    return length > b->count ? length - b->count : 0;
}

static tacet_status check(const tacet__batches_plan *plan, const tacet_ask *ask, tacet_error *err) {
    if (!(plan->first_length >= 1 && plan->first_length <= LONGEST)) {
        return tacet__fail(err, TACET_INVALID, "the first batch must have between 1 and 2^16 rounds");
    }
    if (!(plan->growth >= 1 && plan->growth <= 100)) {
        return tacet__fail(err, TACET_INVALID, "growth must be at least 1 and at most 100");
    }
    if (plan->rounds > (uint64_t)1 << 40) {
        return tacet__fail(err, TACET_INVALID, "at most 2^40 rounds");
    }
    if (ask->ticket == NULL || ask->what == NULL || ask->to_whom == NULL) {
        return tacet__fail(err, TACET_INVALID, "a study needs a ticket and its words");
    }
    if (strlen(ask->ticket) + 24 > TACET_TICKET_MOST || strlen(ask->what) >= TEXT_ROOM ||
        strlen(ask->to_whom) >= TEXT_ROOM ||
        (ask->covered_fields != NULL && strlen(ask->covered_fields) >= TEXT_ROOM)) {
        return tacet__fail(err, TACET_INVALID, "the ticket is too long to be numbered by batch, or a text too long");
    }
    return tacet_ask_check(ask, err);
}

/* Texts are copied; of seeded noise a key is taken, so that a study that is taken up again repeats its releases. */
static tacet_status copy_ask(tacet__batches *b, const tacet_ask *ask, tacet_error *err) {
    (void)snprintf(b->ticket, sizeof b->ticket, "%s", ask->ticket);
    (void)snprintf(b->what, sizeof b->what, "%s", ask->what);
    (void)snprintf(b->to_whom, sizeof b->to_whom, "%s", ask->to_whom);
    (void)snprintf(b->covered, sizeof b->covered, "%s",
                   ask->covered_fields != NULL ? ask->covered_fields : "decision set,reward");
    b->ask = (tacet_ask){.ledger = ask->ledger,
                         .ticket = b->ticket,
                         .what = b->what,
                         .to_whom = b->to_whom,
                         .covered_fields = b->covered};
    b->seeded = !tacet_ask_is_private(ask);
    if (!b->seeded) {
        return TACET_OK;
    }
    tacet_sampler sampler;
    double draw = 0;
    tacet_status status = tacet_sampler_init(&sampler, "gaussian", 1, 40, err);
    TACET_THEN(status, tacet_sampler_draw(&sampler, ask->noise, &draw, 1, err));
    memcpy(&b->seed, &draw, sizeof b->seed);
    return status;
}

tacet_status tacet__batches_create(tacet__batches **out, const tacet__batches_plan *plan, const tacet_ask *ask,
                                   tacet_error *err) {
    *out = NULL;
    TACET_OR_RETURN(check(plan, ask, err));
    tacet__batches *b = TACET__ZALLOC(tacet__batches, 1);
    if (b == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for batches");
    }
    b->plan = *plan;
    b->length = plan->first_length;
    b->sum = TACET__ZALLOC(double, plan->most);
    b->scratch = TACET__ZALLOC(double, plan->most);
    const tacet__batch_terms terms = {.eps = plan->eps,
                                      .delta = plan->delta,
                                      .sensitivity = plan->sensitivity,
                                      .longest = LONGEST * plan->sensitivity,
                                      .few = !plan->gaussian && tacet__batch_few(ask),
                                      .l1 = plan->l1,
                                      .proof = plan->proof};
    tacet_status status = b->sum == NULL || b->scratch == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "no memory for sums of %zu numbers", plan->most)
                              : tacet__batch_gate_create(&b->gate, &terms, err);
    TACET_THEN(status, copy_ask(b, ask, err));
    if (status != TACET_OK) {
        tacet__batches_free(b);
        return status;
    }
    *out = b;
    return TACET_OK;
}

void tacet__batches_free(tacet__batches *b) {
    if (b == NULL) {
        return;
    }
    double *arrays[] = {b->sum, b->scratch};
    for (size_t i = 0; i < 2; i++) {
        if (arrays[i] != NULL) {
            sodium_memzero(arrays[i], b->plan.most * sizeof(double));
        }
        free(arrays[i]);
    }
    tacet__batch_gate_free(b->gate);
    tacet_release_free(b->last);
    free(b);
}

void tacet__batches_noise(const tacet__batches *b, tacet__batch_noise *out) {
    tacet__batch_gate_noise(b->gate, out);
}

void tacet__batches_begin(tacet__batches *b, size_t k) {
    b->k = k;
    b->begun = true;
}

static bool is_over(const tacet__batches *b) {
    return b->plan.rounds > 0 && b->before + b->count >= b->plan.rounds;
}

bool tacet__batches_due(const tacet__batches *b) {
    return b->count > 0 && b->count >= tacet__batches_length(b);
}

bool tacet__batches_wait(const tacet__batches *b) {
    return !is_over(b) ? !b->begun || tacet__batches_due(b) : tacet__batches_due(b);
}

tacet_status tacet__batches_add(tacet__batches *b, const double *record, uint64_t ticket, tacet_error *err) {
    if (is_over(b)) {
        return tacet__fail(err, TACET_STATE, "all rounds of the horizon were reported");
    }
    if (tacet__batches_wait(b)) {
        return tacet__fail(err, TACET_STATE, "a batch has ended: ask for a suggestion, which releases it, first");
    }
    unsigned char link[CHAIN + sizeof ticket];
    memcpy(link, b->chain, CHAIN);
    memcpy(link + CHAIN, &ticket, sizeof ticket);
    (void)crypto_generichash(b->chain, CHAIN, link, sizeof link, NULL, 0);
    for (size_t i = 0; i < b->k; i++) {
        b->sum[i] += TACET__BATCH_QUANTUM * rint(record[i] / TACET__BATCH_QUANTUM);
    }
    b->count++;
    return TACET_OK;
}

static tacet_status run_gate(tacet__batches *b, tacet_release **out, double *var, tacet_error *err) {
    char digits[2 * CHAIN + 1], of[128];
    (void)sodium_bin2hex(digits, sizeof digits, b->chain, CHAIN);
    (void)snprintf(of, sizeof of, "each of %llu rounds, %.16s", (unsigned long long)b->count, digits);
    tacet_noise *noise = NULL;
    tacet_status status = b->seeded ? tacet_noise_open_seeded(&noise, b->seed, b->batch, err) : TACET_OK;
    b->ask.noise = noise;
    TACET_THEN(status, tacet__batch_gate_run(b->gate, out, var, &b->ask, b->batch + 1, of, b->sum, b->k, err));
    b->ask.noise = NULL;
    tacet_noise_close(noise);
    return status;
}

tacet_status tacet__batches_release(tacet__batches *b, double *sums, double *var, uint64_t *count, tacet_error *err) {
    if (!tacet__batches_due(b)) {
        return tacet__fail(err, TACET_STATE, "no batch has ended since the last release");
    }
    if (b->k > 0) { /* a batch that can tell nothing releases nothing */
        tacet_release *release = NULL;
        TACET_OR_RETURN(run_gate(b, &release, var, err));
        memcpy(sums, tacet_release_values(release), b->k * sizeof(double));
        tacet_release_free(b->last);
        b->last = release;
    }
    *count = b->count;
    b->before += b->count;
    b->count = 0;
    b->batch++;
    b->length = fmin(b->length * b->plan.growth, LONGEST);
    b->k = 0;
    b->begun = false;
    memset(b->chain, 0, CHAIN);
    sodium_memzero(b->sum, b->plan.most * sizeof(double));
    return TACET_OK;
}

uint64_t tacet__batches_ended(const tacet__batches *b) {
    return b->before;
}

double tacet__batches_pure(const tacet__batches *b) {
    return tacet__batch_gate_pure(b->gate);
}

bool tacet__batches_is_private(const tacet__batches *b) {
    return !b->seeded;
}

tacet_status tacet__batches_nothing(const tacet__batches *b, tacet_error *err) {
    return tacet__fail(err, TACET_STATE, "nothing was released yet: the first batch of %llu rounds lacks %llu reports",
                       (unsigned long long)tacet__batches_length(b), (unsigned long long)tacet__batches_left(b));
}

tacet_status tacet__batches_last(const tacet__batches *b, tacet_release **out, tacet_error *err) {
    tacet_blob bytes;
    *out = NULL;
    if (b->last == NULL) {
        return tacet__batches_nothing(b, err);
    }
    tacet_blob_init(&bytes);
    tacet_status status = tacet_release_encode(b->last, &bytes, err);
    TACET_THEN(status, tacet_release_decode(out, bytes.data, bytes.size, err));
    tacet_blob_clear(&bytes);
    return status;
}

/* Where the batch is follows from how many there were. */
static bool place_fits(const tacet__batches *b) {
    double expected = b->plan.first_length;
    uint64_t at = 0;
    for (uint64_t i = 0; i < b->batch && at <= b->before; i++) {
        at += length_of(b, at, expected);
        expected = fmin(expected * b->plan.growth, LONGEST);
    }
    return b->batch <= b->before && at == b->before && b->length == expected &&
           b->count <= length_of(b, b->before, b->length);
}

static void visit_last(tacet__batches *b, tacet__state *s) {
    tacet_blob last;
    tacet_release *release = NULL;
    tacet_blob_init(&last);
    if (s->to != NULL && b->last != NULL) {
        tacet__state_check(s, "last", tacet_release_encode(b->last, &last, s->err));
    }
    tacet__state_blob(s, "last", &last, SIZE_MAX);
    if (tacet__state_taking(s)) {
        tacet__state_check(s, "last",
                           last.size > 0 ? tacet_release_decode(&release, last.data, last.size, s->err) : TACET_OK);
        tacet_release_free(b->last);
        b->last = release;
    }
    tacet_blob_clear(&last);
}

void tacet__batches_state(tacet__batches *b, tacet__state *s) {
    const double plan[] = {(double)b->plan.most, b->plan.sensitivity, (double)b->plan.rounds,
                           b->plan.first_length, b->plan.growth,      b->plan.eps,
                           b->plan.delta,        b->seeded ? 1 : 0,   b->plan.l1 ? 1 : 0};
    tacet__state_same(s, "plan", plan, sizeof plan);
    tacet__state_same(s, "ticket", b->ticket, strlen(b->ticket));
    tacet__state_u64(s, "seed", &b->seed, UINT64_MAX);
    tacet__state_u64(s, "batch", &b->batch, UINT64_MAX);
    tacet__state_u64(s, "before", &b->before, UINT64_MAX);
    tacet__state_u64(s, "count", &b->count, UINT64_MAX);
    tacet__state_f64(s, "length", &b->length, 0, LONGEST);
    tacet__state_bool(s, "begun", &b->begun);
    tacet__state_size(s, "numbers", &b->k, b->plan.most);
    tacet__state_bytes(s, "chain", b->chain, CHAIN);
    if (tacet__state_taking(s)) {
        tacet__state_require(s, "begun", b->begun || (b->k == 0 && b->count == 0));
        tacet__state_require(s, "batch", place_fits(b));
        memset(b->sum, 0, b->plan.most * sizeof(double));
    }
    tacet__state_f64s(s, "sums", b->sum, b->k);
    for (size_t i = 0; i < b->k && tacet__state_taking(s); i++) {
        tacet__state_require(s, "sums", fabs(b->sum[i]) <= LONGEST * b->plan.sensitivity);
    }
    visit_last(b, s);
}
