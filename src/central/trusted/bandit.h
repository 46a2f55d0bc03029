/* SPDX-License-Identifier: Apache-2.0 */
/* bandit.h - the joint-DP bandit over decision sets: between policy.c, which plays, policy_state.c, which keeps it, and
 * model.c. Ring: trusted. */
#pragma once

#include <stdint.h>
#include "central/trusted/policy.h"

#include "central/trusted/batches.h"
#include "core/policy_internal.h"

#define TACET__CENTRAL_NAME "central"
#define TACET__CENTRAL_PROOF "src/central/README.md"

typedef struct tacet__bandit {
    const tacet_central_map *map; /* borrowed */
    tacet_central_settings settings;
    tacet_central_learner *learner; /* sees releases only */
    tacet__batches *batches;        /* holds raw sums */
    double play_weight;             /* how much a record tells of where was played */
    size_t d, numbers;              /* of an arm; of a record at most */
    uint64_t given;                 /* suggestions so far; the next ticket is given + 1 */
    /* A slot for each ticket that may be open. */
    uint64_t *open;  /* open_most tickets, 0: free */
    double *chosen;  /* d x open_most: private */
    uint64_t *queue; /* open_most: place in the line of reports that wait for the next batch; 0: not reported */
    uint64_t queued; /* places given so far */
    double *reward;  /* open_most: of those: private */
    /* scratch */
    double *record; /* numbers: private */
    double *sums;   /* numbers: a release */
    double *work;   /* features + d: private */
} tacet__bandit;

/* The bandit; its first batch is planned where `begin`. Nothing is charged. INVALID names the setting. NO_MEMORY. */
tacet_status tacet__bandit_create(tacet__bandit **out, const tacet_central_map *map,
                                  const tacet_central_settings *settings, const tacet_ask *ask, bool begin,
                                  tacet_error *err);
void tacet__bandit_free(void *bandit); /* wipes; NULL is allowed */
/* Makes releases that are due, and begins the next batch. A failure leaves all as it was. */
tacet_status tacet__bandit_refresh(tacet__bandit *b, tacet_error *err);
void tacet__bandit_state(void *bandit, tacet__state *s); /* policy_state.c: private */

/* What a saved state knows: its last release, and what the learner makes of it. */
typedef struct tacet__central_learnt {
    tacet_release *release; /* owned by the caller */
    double *theta;          /* in: room for as many as there are features */
    double level;           /* with theta: tacet_central_learner_theta */
    bool minimize;          /* in: of the model */
    double error;           /* root mean square of the posterior's sd over the learner's grid */
    uint64_t rounds;        /* of the batches that have ended */
} tacet__central_learnt;
tacet_status tacet__central_learnt_of(tacet__central_learnt *out, const tacet_central_map *map,
                                      const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                      size_t size, tacet_error *err);
