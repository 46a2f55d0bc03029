/* SPDX-License-Identifier: Apache-2.0 */
/* conformance_internal.h - between the files of the shared policy test. */
#pragma once

#include "support/conformance.h"

enum { MOST_ROUNDS = 64 };

typedef struct check {
    const conformance_problem *p;
    /* What happened the first time: suggestions, recommendations, and the state before and after each half of a round.
     */
    tacet_suggestion suggestions[MOST_ROUNDS];
    tacet_recommendation recommendations[MOST_ROUNDS];
    tacet_status recommended[MOST_ROUNDS];
    tacet_blob states[2 * MOST_ROUNDS + 1];
} check;

/* In a function with `bool ok = false` and a label `done` that cleans up and returns ok. */
#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            conformance__note(__VA_ARGS__);                                                                            \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* Keeps what is wrong, for conformance_check to return. */
void conformance__note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Each notes what is wrong and returns false when it fails. */
bool conformance__create(const check *c, tacet_policy **out);
bool conformance__save(const tacet_policy *policy, tacet_blob *out);
/* The state is still `before`; `what` is blamed otherwise. */
bool conformance__unchanged(const tacet_policy *policy, const tacet_blob *before, const char *what);
/* Plays from half-round `half` (even: a suggestion is due; odd: its report is) to the end. The first time, records. */
bool conformance__play(check *c, tacet_policy *policy, size_t half, bool record);
void conformance__round_of(const check *c, size_t k, tacet_round *out);

bool conformance__bad_input(check *c);
bool conformance__no_memory(check *c);
