/* SPDX-License-Identifier: Apache-2.0 */
/* outlook.h - what a study without contexts may expect of its rounds and its eps, and how often it plays a point.
 *
 * Arithmetic on public numbers alone. Judgements, not theorems: of a function they believe what src/central/README.md,
 * (f), says. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <tacet/core/status.h>
#include <tacet/space/space.h>

enum {
    TACET_CENTRAL_DIRECT_VISITS = 4096,  /* at most: each is a number in the posterior, and an entry of the ledger */
    TACET_CENTRAL_DIRECT_ROUNDS = 100000 /* at most */
};

/* What is chosen from: a space, or a list of points (coordinates x count). */
typedef struct tacet_central_arms {
    const tacet_space *space; /* NULL: the list */
    const double *points;
    size_t dims, count;
} tacet_central_arms;

/* What is public already of one point: an earlier value, or what an earlier model says. */
typedef struct tacet_central_earlier {
    uint64_t index;
    double value, sd; /* sd > 0: of the value around the mean reward */
} tacet_central_earlier;

typedef struct tacet_central_outlook {
    uint64_t each;   /* how often a point is best played before its sum is released */
    uint64_t points; /* rounds / each: visits, some of one point where there are few */
    bool even;       /* so few points can be told apart that they are played evenly, without a search */
    double gain;     /* how much better than a point at random the best of them will be; of the range of rewards */
    uint64_t rounds_needed; /* from so many rounds, … ; 0: never with this eps */
    double eps_needed;      /* … or from this eps on there is a search */
} tacet_central_outlook;

/* INVALID: a space of too many columns or levels, no rounds or too many, no eps. */
tacet_status tacet_central_direct_outlook(tacet_central_outlook *out, const tacet_central_arms *arms, uint64_t rounds,
                                          double eps, tacet_error *err);
