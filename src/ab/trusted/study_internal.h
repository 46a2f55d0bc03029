/* SPDX-License-Identifier: Apache-2.0 */
/* study_internal.h - the inside of a running A/B test, between study.c and study_state.c. Ring: trusted. */
#ifndef TACET_SRC_AB_TRUSTED_STUDY_INTERNAL_H
#define TACET_SRC_AB_TRUSTED_STUDY_INTERNAL_H

#include "ab/trusted/epochs.h"
#include "ab/trusted/study.h"

#define TACET__AB_STUDY_NAME "ab-study"
enum { TACET__AB_STUDY_PRINT = 32, TACET__AB_STUDY_EPOCHS = 64 };

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
    unsigned char problem[TACET__AB_STUDY_PRINT];
    tacet__ab_epochs e;
    tacet__ab_counts now, next; /* of the current epoch, and of tickets after its end until it is released */
    tacet__ab_released released[TACET__AB_STUDY_EPOCHS];
    tacet_ab_test *test;
} tacet__ab_study;

/* A fresh test, with everything that was released so far. */
tacet_status tacet__ab_study_test(tacet_ab_test **out, const tacet__ab_study *u, const tacet__ab_released *released,
                                  size_t epochs, tacet_error *err);
tacet_status tacet__ab_study_plan(tacet__ab_study *u, tacet_error *err);
void tacet__ab_study_state(void *self, tacet__state *s);

#endif
