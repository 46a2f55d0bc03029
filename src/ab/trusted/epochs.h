/* SPDX-License-Identifier: Apache-2.0 */
/* epochs.h - how a running study is cut into epochs, each of which is released once: by how many tickets were issued,
 * and by nothing that anybody reported.
 *
 * Epoch e has tickets begin + 1 … begin + size. It is released by the suggestion that comes `late` tickets after its
 * last one; those tickets are the first of the next epoch. A report counts in its own epoch until the release is due:
 * while it is, nothing changes what it is of, so that one that was interrupted goes on with the same sums. The last
 * epoch ends so that it is released with the last suggestion, unless it is too short. An epoch that the ledger has
 * ended when it did, under whatever horizon. Ring: trusted. */
#ifndef TACET_SRC_AB_TRUSTED_EPOCHS_H
#define TACET_SRC_AB_TRUSTED_EPOCHS_H

#include "core/policy_internal.h"
#include "core/tickets.h"
#include "tally/gate.h"

enum { TACET__AB_TICKET = 120, TACET__AB_ROUNDS_MOST = 1 << 22 };

typedef struct tacet__ab_epochs {
    tacet__tickets t;   /* open until they are reported: a ticket that is dropped may still be */
    size_t first, late; /* late: at least 1, no report of the epoch is taken in the last of them */
    tacet_ask ask;
    char ticket[TACET__AB_TICKET + 1];
    size_t epoch, begin, size;
} tacet__ab_epochs;

typedef enum tacet__ab_when { TACET__AB_PAST, TACET__AB_NOW, TACET__AB_NEXT } tacet__ab_when;

/* `late` as people say it. INVALID: rounds, the ask. NO_MEMORY. */
tacet_status tacet__ab_epochs_init(tacet__ab_epochs *e, size_t rounds, size_t first, size_t late, const tacet_ask *ask,
                                   tacet_error *err);
void tacet__ab_epochs_clear(tacet__ab_epochs *e);
/* Sets the size of the current epoch: `full` (or what is waited for, if that is more), or less. */
tacet_status tacet__ab_epochs_plan(tacet__ab_epochs *e, size_t full, tacet_error *err);
/* The next suggestion begins with the release of the current epoch. */
bool tacet__ab_epochs_due(const tacet__ab_epochs *e);
/* Suggestions until that one, itself included; 0: it comes after the last round. */
size_t tacet__ab_epochs_next_look(const tacet__ab_epochs *e);
/* The current epoch has not ended: a state that is loaded plans it again, since the horizon may have grown. */
bool tacet__ab_epochs_open(const tacet__ab_epochs *e);
/* A ticket is reported: the epoch it counts in; PAST: none, it came too late. */
tacet__ab_when tacet__ab_epochs_report(tacet__ab_epochs *e, uint64_t ticket);
/* The sums of the current epoch, in steps of 2^-22, through the gate: epochs are of disjoint tickets, and a group in
 * the ledger. `sums` has all but the numbers themselves and their norm. */
tacet_status tacet__ab_epochs_release(const tacet__ab_epochs *e, tacet_release **out, const uint64_t *steps,
                                      tacet__tally_sums sums, const char *group, tacet_error *err);
/* What is promised: pure eps, unless noise is seeded. The texts are borrowed. */
void tacet__ab_epochs_guarantee(const tacet__ab_epochs *e, tacet_guarantee *out, double eps, const char *protects,
                                const char *statement);
/* After a release: what its tickets were about is forgotten, and the next epoch begins. */
void tacet__ab_epochs_next(tacet__ab_epochs *e);
/* Visits all of it: at most so many epochs, tickets about 0 … about - 1. How many tickets of the current epoch and of
 * those after it were given. */
void tacet__ab_epochs_state(tacet__ab_epochs *e, tacet__state *s, size_t epochs, size_t about, size_t *now,
                            size_t *next);

#endif
