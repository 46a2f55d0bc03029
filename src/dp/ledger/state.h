/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what a writer must know of a ledger to decide: head, totals, tickets, answers. All of it follows
 * from the records, is rebuilt from them, and is stored nowhere. Ring: gate, internal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/dp/open/charge.h>

#include "dp/open/entry.h"

/* A cost in the unit of the accounting: (eps, delta), (rho, 0) or (mu^2, 0). */
typedef struct tacet__cost {
    double main;
    double delta;
} tacet__cost;

/* Open addressing, keyed by BLAKE2b-256 of a name: nobody can choose names that collide. */
typedef struct tacet__slot {
    unsigned char key[TACET_HASH_BYTES];
    bool used;
    uint64_t seq;     /* tickets: the reservation */
    uint64_t entries; /* groups: how many */
    tacet__cost cost; /* groups: the dearest part; parts: the sum */
} tacet__slot;

typedef struct tacet__map {
    tacet__slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
} tacet__map;

/* A sum with the rounding error carried along (Neumaier). */
typedef struct tacet__sum {
    double value;
    double carry;
} tacet__sum;

typedef struct tacet__state {
    uint64_t records; /* 0: nothing read yet */
    unsigned char head[TACET_HASH_BYTES];
    tacet__record budget; /* record 0 */
    tacet__map tickets;
    tacet__map groups; /* groups and parts */
    tacet__sum spent;
    tacet__sum spent_delta;
    uint64_t *answers; /* by seq of a reservation: seq of its answer, or 0 */
    size_t answers_capacity;
    uint64_t entries, answered, uncovered, seeded;
} tacet__state;

void tacet__state_init(tacet__state *state);
void tacet__state_clear(tacet__state *state);

double tacet__sum_value(const tacet__sum *sum);
/* Whether a (checked) charge fits what is left. BUDGET says what is short; INVALID: no bound in the ledger's unit.
 * NO_MEMORY never. */
tacet_status tacet__state_fits(const tacet__state *state, const tacet_charge *charge, tacet_error *err);
/* How many entries a group has. */
uint64_t tacet__state_group(const tacet__state *state, const char *group);
/* The reservation of a ticket, 0 when there is none. */
uint64_t tacet__state_find(const tacet__state *state, const char *ticket);
/* Takes the next record in; its seq is state->records, and 0 of the budget alone (entry.c). CORRUPT: it cannot follow,
 * for a stated reason. NO_MEMORY. In both cases the state is as before. */
tacet_status tacet__state_apply(tacet__state *state, const tacet__record *record,
                                const unsigned char hash[TACET_HASH_BYTES], tacet_error *err);
