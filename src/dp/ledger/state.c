/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - tickets, totals and answers of a ledger, kept in memory.
 * Ring: gate. Source: composition as in src/dp/ledger/README.md (fully adaptive: Rogers et al. 2016 for sums of eps and
 * delta, Feldman & Zrnic 2021 for rho, Smith & Thakurta 2022 for mu^2). Differs: parallel composition by named groups.
 * Cost: O(1) a record, 64 bytes a ticket and a part. */
#include "dp/ledger/state.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

void tacet__state_init(tacet__state *state) {
    memset(state, 0, sizeof *state);
}

void tacet__state_clear(tacet__state *state) {
    free(state->tickets.slots);
    free(state->groups.slots);
    free(state->answers);
    tacet__state_init(state);
}

/* The slot of a key, or the free one where it belongs. The map must not be full. */
static tacet__slot *probe(const tacet__map *map, const unsigned char key[TACET_HASH_BYTES]) {
    size_t at = 0;
    memcpy(&at, key, sizeof at);
    for (;; at++) { /* ends: a quarter of the slots is free (make_room) */
        tacet__slot *slot = &map->slots[at & (map->capacity - 1)];
        if (!slot->used || memcmp(slot->key, key, TACET_HASH_BYTES) == 0) {
            return slot;
        }
    }
}

static tacet__slot *find(const tacet__map *map, const unsigned char key[TACET_HASH_BYTES]) {
    tacet__slot *slot = map->capacity == 0 ? NULL : probe(map, key);
    return slot != NULL && slot->used ? slot : NULL;
}

/* Room for `more` keys with a quarter of the slots left free. */
static bool make_room(tacet__map *map, size_t more) {
    const size_t need = map->count + more;
    if (map->capacity != 0 && need <= map->capacity / 4 * 3) {
        return true;
    }
    tacet__map larger = {NULL, map->capacity == 0 ? 64 : map->capacity * 2, map->count};
    larger.slots = TACET__ZALLOC(tacet__slot, larger.capacity);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].used) {
            *probe(&larger, map->slots[i].key) = map->slots[i];
        }
    }
    free(map->slots);
    *map = larger;
    return true;
}

/* Finds or adds; there is room. */
static tacet__slot *find_or_add(tacet__map *map, const unsigned char key[TACET_HASH_BYTES]) {
    tacet__slot *slot = probe(map, key);
    if (!slot->used) {
        slot->used = true;
        memcpy(slot->key, key, TACET_HASH_BYTES);
        map->count++;
    }
    return slot;
}

/* Names are hashed with their closing zeros, so that ("ab", "c") and ("a", "bc") differ. */
static void key_of(unsigned char key[TACET_HASH_BYTES], const char *first, const char *second) {
    crypto_generichash_state hash;
    (void)crypto_generichash_init(&hash, NULL, 0, TACET_HASH_BYTES);
    (void)crypto_generichash_update(&hash, (const unsigned char *)first, strlen(first) + 1);
    if (second != NULL) {
        (void)crypto_generichash_update(&hash, (const unsigned char *)second, strlen(second) + 1);
    }
    (void)crypto_generichash_final(&hash, key, TACET_HASH_BYTES);
}

static void sum_add(tacet__sum *sum, double x) {
    const double t = sum->value + x;
    sum->carry += fabs(sum->value) >= fabs(x) ? (sum->value - t) + x : (x - t) + sum->value;
    sum->value = t;
}

double tacet__sum_value(const tacet__sum *sum) {
    return sum->value + sum->carry;
}

/* What the accounting counts of a charge; false when the charge claims no such bound. */
static bool cost_of(tacet__cost *out, const tacet_charge *charge, tacet_accounting accounting) {
    out->main = charge->mu * charge->mu;
    out->delta = 0;
    if (accounting == TACET_ACCOUNTING_ZCDP) {
        out->main = charge->rho;
    } else if (accounting == TACET_ACCOUNTING_BASIC) {
        out->main = charge->eps;
        out->delta = charge->delta;
    }
    return isfinite(out->main) && out->delta < 1;
}

static bool is_grouped(const tacet_charge *charge) {
    return charge->group != NULL && charge->group[0] != '\0';
}

/* By how much the totals would grow: the whole cost, or what the part rises above the dearest part of its group. */
static tacet__cost growth(const tacet__state *state, const tacet_charge *charge, tacet__cost cost) {
    unsigned char key[TACET_HASH_BYTES];
    if (!is_grouped(charge)) {
        return cost;
    }
    key_of(key, charge->group, NULL);
    const tacet__slot *group = find(&state->groups, key);
    key_of(key, charge->group, charge->part);
    const tacet__slot *part = find(&state->groups, key);
    /* A record is in one part: nobody pays for more than the dearest, so only what rises above it costs. */
    const tacet__cost dearest = group != NULL ? group->cost : (tacet__cost){0, 0};
    const tacet__cost before = part != NULL ? part->cost : (tacet__cost){0, 0};
    return (tacet__cost){fmax(before.main + cost.main - dearest.main, 0),
                         fmax(before.delta + cost.delta - dearest.delta, 0)};
}

tacet_status tacet__state_fits(const tacet__state *state, const tacet_charge *charge, tacet_error *err) {
    const tacet_accounting accounting = state->budget.budget.accounting;
    if (charge->claim == TACET_CLAIM_UNCOVERED) {
        if (state->uncovered >= state->budget.budget.uncovered_most) {
            return tacet__fail(err, TACET_BUDGET, "all %llu uncovered disclosures this ledger allows are used",
                               (unsigned long long)state->budget.budget.uncovered_most);
        }
        return TACET_OK;
    }
    tacet__cost cost;
    if (!cost_of(&cost, charge, accounting)) {
        return tacet__fail(err, TACET_INVALID, "the charge claims no bound in the unit of this ledger (%s accounting)",
                           tacet_accounting_name(accounting));
    }
    const tacet__cost grows = growth(state, charge, cost);
    const double cap = state->budget.budget.cap;
    const double most = accounting == TACET_ACCOUNTING_GAUSSIAN ? cap * cap : cap;
    const double spent = tacet__sum_value(&state->spent);
    const double spent_delta = tacet__sum_value(&state->spent_delta);
    if (!(spent + grows.main <= most * (1 + TACET__LEDGER_SLACK))) {
        const bool squared = accounting == TACET_ACCOUNTING_GAUSSIAN;
        return tacet__fail(err, TACET_BUDGET, "%s %.6g asked, %.6g of %.6g spent",
                           accounting == TACET_ACCOUNTING_BASIC ? "eps"
                           : squared                            ? "mu"
                                                                : "rho",
                           squared ? sqrt(grows.main) : grows.main, squared ? sqrt(spent) : spent, cap);
    }
    if (accounting == TACET_ACCOUNTING_BASIC &&
        !(spent_delta + grows.delta <= state->budget.budget.delta * (1 + TACET__LEDGER_SLACK))) {
        return tacet__fail(err, TACET_BUDGET, "delta %.6g asked, %.6g of %.6g spent", grows.delta, spent_delta,
                           state->budget.budget.delta);
    }
    return TACET_OK;
}

uint64_t tacet__state_find(const tacet__state *state, const char *ticket) {
    unsigned char key[TACET_HASH_BYTES];
    key_of(key, ticket, NULL);
    const tacet__slot *slot = find(&state->tickets, key);
    return slot != NULL ? slot->seq : 0;
}

static void count_charge(tacet__state *state, const tacet_charge *charge) {
    tacet__cost cost;
    state->entries++;
    state->seeded += charge->seeded ? 1 : 0;
    if (is_grouped(charge)) {
        unsigned char key[TACET_HASH_BYTES];
        key_of(key, charge->group, NULL);
        find_or_add(&state->groups, key)->entries++;
    }
    if (charge->claim == TACET_CLAIM_UNCOVERED) {
        state->uncovered++;
        return;
    }
    (void)cost_of(&cost, charge, state->budget.budget.accounting); /* claims it: tacet__state_fits has asked */
    const tacet__cost grows = growth(state, charge, cost);
    sum_add(&state->spent, grows.main);
    sum_add(&state->spent_delta, grows.delta);
    if (is_grouped(charge)) {
        unsigned char key[TACET_HASH_BYTES];
        key_of(key, charge->group, charge->part);
        tacet__slot *part = find_or_add(&state->groups, key);
        part->cost.main += cost.main;
        part->cost.delta += cost.delta;
        const tacet__cost now = part->cost;
        key_of(key, charge->group, NULL);
        tacet__slot *group = find_or_add(&state->groups, key);
        group->cost.main = fmax(group->cost.main, now.main);
        group->cost.delta = fmax(group->cost.delta, now.delta);
    }
}

uint64_t tacet__state_group(const tacet__state *state, const char *group) {
    unsigned char key[TACET_HASH_BYTES];
    key_of(key, group, NULL);
    const tacet__slot *slot = find(&state->groups, key);
    return slot != NULL ? slot->entries : 0;
}

static tacet_status apply_reserve(tacet__state *state, const tacet__record *record, tacet_error *err) {
    const tacet_charge *charge = &record->reserve.charge;
    unsigned char key[TACET_HASH_BYTES];
    if (tacet__state_find(state, record->reserve.ticket) != 0) {
        return tacet__record_corrupt(record->seq, "reserves a ticket a second time", err);
    }
    if (tacet__state_fits(state, charge, NULL) != TACET_OK) {
        return tacet__record_corrupt(record->seq, "exceeds the budget or is in another unit", err);
    }
    if (!make_room(&state->tickets, 1) || (is_grouped(charge) && !make_room(&state->groups, 2))) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading the ledger");
    }
    key_of(key, record->reserve.ticket, NULL);
    find_or_add(&state->tickets, key)->seq = record->seq;
    count_charge(state, charge);
    return TACET_OK;
}

static tacet_status apply_commit(tacet__state *state, const tacet__record *record, tacet_error *err) {
    const uint64_t entry = record->commit.entry;
    /* Of a reservation answers[] is 0; of an answer, and of the budget, it is the record itself. */
    if (state->answers[entry] != 0) {
        return tacet__record_corrupt(
            record->seq, state->answers[entry] == entry ? "answers what is no reservation" : "answers a second time",
            err);
    }
    state->answers[entry] = record->seq;
    state->answered++;
    return TACET_OK;
}

tacet_status tacet__state_apply(tacet__state *state, const tacet__record *record,
                                const unsigned char hash[TACET_HASH_BYTES], tacet_error *err) {
    void *answers = state->answers;
    if (!tacet__grow(&answers, &state->answers_capacity, (size_t)record->seq + 1, sizeof *state->answers)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading the ledger");
    }
    state->answers = answers;
    tacet_status status = TACET_OK;
    if (record->kind == TACET__RECORD_BUDGET) {
        state->budget = *record;
    } else if (record->kind == TACET__RECORD_RESERVE) {
        status = apply_reserve(state, record, err);
    } else {
        status = apply_commit(state, record, err);
    }
    if (status == TACET_OK) {
        state->answers[record->seq] = record->kind == TACET__RECORD_RESERVE ? 0 : record->seq;
        state->records++;
        memcpy(state->head, hash, TACET_HASH_BYTES);
    }
    return status;
}
