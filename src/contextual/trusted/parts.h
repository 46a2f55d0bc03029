/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - disjoint parts of an epoch, each read by one mechanism: how rows are dealt, and how a part leaves.
 * Ring: trusted. */
#ifndef TACET_SRC_CONTEXTUAL_TRUSTED_PARTS_H
#define TACET_SRC_CONTEXTUAL_TRUSTED_PARTS_H

#include "contextual/trusted/internal.h"

enum { TACET__PARTS_STAGES = 2, TACET__PARTS_MOST = 1 + 3 * TACET__PARTS_STAGES };
typedef enum tacet__part {
    TACET__PART_LAW, /* the law of contexts */
    TACET__PART_STAGE /* stage j is TACET__PART_STAGE + 3 j, its scale the one after, what clipping cuts off the next */
} tacet__part;

/* How many rows each part has: a function of public numbers alone. */
typedef struct tacet__parts_sizes {
    size_t n[TACET__PARTS_MOST];
    size_t stages;
} tacet__parts_sizes;

/* A release that is being made of parts. */
typedef struct tacet__parts {
    const tacet_contextual_learner *learner;
    const tacet_ask *ask;
    const char *what;
    const char *prefix; /* of the names of parts: the epoch */
    size_t records;
    tacet__parts_sizes sizes;
    unsigned char *part_of; /* of each record */
    tacet_receipt receipts[TACET_CONTEXTUAL_RECEIPTS_MOST];
    size_t receipt_count;
} tacet__parts;

/* A bounded vector about to leave: any two sums of neighbours are at most `diameter` apart, and none is longer than
 * radius. */
typedef struct tacet__parts_vector {
    const char *name; /* of the part */
    const double *values;
    size_t count;
    double radius, diameter;
    const char *proof;
    bool pure; /* K-norm noise whatever the settings say */
} tacet__parts_vector;

/* Rows in proportion all along the log. NO_MEMORY. */
tacet_status tacet__parts_deal(tacet__parts *parts, tacet_error *err);
/* values become the released ones; *sd is the standard deviation of each. As tacet_mechanism_run. */
tacet_status tacet__parts_release(tacet__parts *parts, double *values, double *sd, const tacet__parts_vector *v,
                                  tacet_error *err);
/* The number of a candidate with a high score, scores changing by at most 1 between neighbours. */
tacet_status tacet__parts_choose(tacet__parts *parts, size_t *chosen, const char *name, const double *scores,
                                 size_t count, double most, const char *proof, tacet_error *err);

#endif
