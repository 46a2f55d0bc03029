/* SPDX-License-Identifier: Apache-2.0 */
/* exhaustive.h - all bit strings that a sampler can be given, when its words have a few bits.
 *
 * Includes the sources of the samplers themselves, built with WORD_BITS and the other widths that the test chose before
 * (TACET__WIDTHS, see wide.h), over a source of words that a search decides: the sampler is run on a prefix; where it
 * asks for one word more, every word is tried. A string of n words has probability 2^-(n WORD_BITS). Strings below the
 * search's least probability are not gone on with, and their probability is added up: the true probability of an
 * outcome lies between what was found and that plus what was left open. No statistics, so no false alarms.
 *
 * Samplers that are built from coins of probability p/q would have very many strings that differ in nothing but how a
 * coin fell the same way. Those coins are shown to be exact first, by all of their own strings; above them each has its
 * two outcomes, with exact probabilities, instead of its words (exact_below, exact_bernoulli). */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

/* In the place of dp/noise/gaussian_table.h: the alias table of strips of 1/2 in words of 3 bits: c = 1. Strips 0 and 1
 * weigh floor(exp(-j^2/8)) = 1 and 0, the tail from strip 2 on 4 floor(exp(-4/8)) = 0, and the fractions what is left
 * of 8. */
#define TACET_SRC_DP_NOISE_GAUSSIAN_TABLE_H
enum { GAUSSIAN_STRIPS = 2, GAUSSIAN_TAIL = 2, GAUSSIAN_RARE = 3, GAUSSIAN_SPAN = 4, GAUSSIAN_RARE_WEIGHT = 7 };
#define GAUSSIAN_C UINT64_C(1)
typedef struct gaussian_column {
    uint64_t keep;
    uint16_t other;
} gaussian_column;
static const uint64_t GAUSSIAN_FLOOR[3] = {1, 0, 0};

/* In the place of dp/noise/noise_state.h. */
#define TACET_SRC_DP_NOISE_NOISE_STATE_H
#include <tacet/dp/noise.h>
enum { PREFIX_MOST = 400 };
/* What a run asks for when its prefix is used up: a word, or the outcome of a coin that was shown to be exact before.
 */
typedef struct asked {
    uint64_t options;
    double first; /* probability of option 0; the others share the rest */
} asked;
struct tacet_noise {
    uint64_t prefix[PREFIX_MOST];
    size_t length, next;
    bool exhausted;
    asked question;
    jmp_buf more;
};

static inline uint64_t take_option(tacet_noise *noise, uint64_t options, double first) {
    if (noise->next == noise->length) {
        noise->question = (asked){options, first};
        longjmp(noise->more, 1);
    }
    return noise->prefix[noise->next++];
}

static inline uint64_t tacet__noise_next(tacet_noise *noise) {
    return take_option(noise, WORD_MASK + 1, 1 / (double)(WORD_MASK + 1));
}

/* tacet__noise_below and tacet__bernoulli for the samplers that are built from them. */
static inline uint64_t exact_below(tacet_noise *noise, uint64_t n) {
    return n > 1 ? take_option(noise, n, 1 / (double)n) : 0;
}
static inline bool exact_bernoulli(tacet_noise *noise, uint64_t p, uint64_t q) {
    return p >= q || (p > 0 && take_option(noise, 2, (double)p / (double)q) == 0);
}

enum { OUTCOMES = 256 };
typedef struct law {
    double found[OUTCOMES]; /* probability, by outcome */
    double failed;          /* of a draw that ran out of digits: noise->exhausted */
    double open;            /* of strings that were not gone on with */
    size_t strings;         /* that decided */
} law;

/* One run; the outcome is in [0, OUTCOMES). */
typedef unsigned (*sampler)(tacet_noise *noise, void *user);

static inline void search_prefix(law *l, tacet_noise *noise, double probability, double least, sampler run,
                                 void *user) {
    volatile bool decided = false;
    volatile unsigned outcome = 0;
    noise->next = 0;
    noise->exhausted = false;
    if (setjmp(noise->more) == 0) {
        outcome = run(noise, user);
        decided = true;
    }
    if (decided) {
        assert_int_equal(noise->next, noise->length); /* no word was read without need */
        assert_true(outcome < OUTCOMES);
        *(noise->exhausted ? &l->failed : &l->found[outcome]) += probability;
        l->strings++;
        return;
    }
    if (probability < least || noise->length == PREFIX_MOST) {
        l->open += probability;
        return;
    }
    const asked question = noise->question;
    const size_t length = noise->length;
    const double others = (1 - question.first) / (double)(question.options - 1);
    for (uint64_t option = 0; option < question.options; option++) {
        noise->length = length + 1;
        noise->prefix[length] = option;
        search_prefix(l, noise, probability * (option == 0 ? question.first : others), least, run, user);
    }
    noise->length = length;
}

static inline law search(sampler run, void *user, double least) {
    law l = {.open = 0};
    tacet_noise noise = {.length = 0};
    search_prefix(&l, &noise, 1, least, run, user);
    return l;
}

/* The exact probability of an outcome is within what was found, and what was left open is little. */
static inline void assert_law(const law *l, unsigned outcome, double exact, double most_open) {
    const double rounding = 1e-12;
    assert_true(l->open + l->failed <= most_open);
    assert_true(l->found[outcome] <= exact + rounding);
    assert_true(exact <= l->found[outcome] + l->open + l->failed + rounding);
}
