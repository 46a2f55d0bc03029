/* SPDX-License-Identifier: Apache-2.0 */
/* study_internal.h - the inside of a running A/B test, between study.c and study_state.c. Ring: trusted. */
#ifndef TACET_SRC_AB_TRUSTED_STUDY_INTERNAL_H
#define TACET_SRC_AB_TRUSTED_STUDY_INTERNAL_H

#include "core/policy_internal.h"

#include "ab/trusted/study.h"

#define TACET__AB_STUDY_NAME "ab-study"
enum { TACET__AB_STUDY_TICKET = 120, TACET__AB_STUDY_PRINT = 32, TACET__AB_STUDY_EPOCHS = 64 };
enum { TACET__AB_STUDY_ONE = 1 << 22 }; /* steps of a reward of 1 */

/* Tickets of one epoch: what was reported is private, and wiped when it was released. */
typedef struct tacet__ab_counts {
    uint64_t steps[TACET_AB_ARMS_MOST]; /* sum of rewards, in whole steps */
    uint64_t tickets[TACET_AB_ARMS_MOST];
} tacet__ab_counts;

/* What one epoch released. */
typedef struct tacet__ab_released {
    double sums[TACET_AB_ARMS_MOST], tickets[TACET_AB_ARMS_MOST];
    double scale, grid;
} tacet__ab_released;

typedef struct tacet__ab_study {
    tacet_ab_study_settings settings;
    tacet_ask ask;
    char ticket[TACET__AB_STUDY_TICKET + 1];
    unsigned char problem[TACET__AB_STUDY_PRINT];
    size_t suggested;
    size_t epoch, begin, size;  /* the current one: tickets begin + 1 … begin + size */
    tacet__ab_counts now, next; /* of the current epoch, and of tickets after its end until it is released */
    bool *reported;             /* all tickets */
    tacet__ab_released released[TACET__AB_STUDY_EPOCHS];
    tacet_ab_test *test;
} tacet__ab_study;

/* A fresh test, with everything that was released so far. */
tacet_status tacet__ab_study_test(tacet_ab_test **out, const tacet__ab_study *u, const tacet__ab_released *released,
                                  size_t epochs, tacet_error *err);
/* Sets the size of the current epoch: by the public rule, or less: the last one ends before the last round; and one
 * that the ledger has ended when it did. */
tacet_status tacet__ab_study_plan(tacet__ab_study *u, tacet_error *err);
void tacet__ab_study_state(void *self, tacet__state *s);

#endif
