/* SPDX-License-Identifier: Apache-2.0 */
/* lazy.h - a random real of which only the digits that were needed are known.
 * Ring: gate. Source: Karney, "Sampling exactly from the normal distribution" (2016), section 2.
 *
 * The value is ± (n + u) / unit, u = (head + 0.more[0] more[1] …) / 2^LAZY_HEAD_BITS in base 2^WORD_BITS (wide.h).
 * Whatever was decided about it so far was decided by the digits stored here, so that the digits not drawn yet are
 * uniform and independent of it. */
#pragma once

#include <tacet/dp/noise.h>

#include "dp/noise/wide.h"

enum { STRIPS_PER_UNIT = 1 << STRIPS_LOG2 /* the normal's n counts strips of 1/64 */ };
#define LAZY_HEAD_MASK ((UINT64_C(1) << LAZY_HEAD_BITS) - 1)

typedef struct lazy {
    uint64_t n;
    uint64_t head; /* < 2^LAZY_HEAD_BITS */
    uint64_t more[LAZY_MORE];
    unsigned have; /* how many words of `more` are drawn */
    bool negative;
} lazy;

/* How a scale and a grid turn a lazy real into a multiple of the grid: nearest whole number to
 * m (n 2^LAZY_HEAD_BITS + head + …) / 2^shift. */
typedef struct lazy_scale {
    uint64_t m; /* scale = m 2^e, 2^(SCALE_BITS - 1) <= m < 2^SCALE_BITS */
    unsigned shift;
    double grid;
} lazy_scale;

/* INVALID: see sampler.h. `unit` is a power of two, given by its exponent. */
tacet_status tacet__lazy_scale(lazy_scale *out, double scale, int grid_exponent, unsigned unit_log2, tacet_error *err);
/* A new u from the lower LAZY_HEAD_BITS bits of a word of key stream; its upper bits are returned for other uses. */
unsigned tacet__lazy_start(lazy *x, uint64_t n, uint64_t word);
/* True with probability u. Latches noise->exhausted when u has no room for the digits that would decide. */
bool tacet__lazy_coin(tacet_noise *noise, lazy *x);
/* The word `i` of the further digits, drawn now if need be; i < LAZY_MORE. */
uint64_t tacet__lazy_more(tacet_noise *noise, lazy *x, unsigned i);
/* The nearest multiple of the grid, ties away from zero (they have probability 0). Consumes x: its digits past the
 * stored ones are drawn and forgotten. */
double tacet__lazy_round(tacet_noise *noise, lazy *x, const lazy_scale *scale);

/* The end of every draw: NUMERIC, with out wiped, when noise->exhausted was latched on the way. */
tacet_status tacet__draw_done(const tacet_noise *noise, double *out, size_t count, tacet_error *err);

/* A strip n with probability proportional to exp(-n^2/8192), n < 4096. False: latched noise->exhausted. */
bool tacet__normal_strip(tacet_noise *noise, uint64_t *n);

/* Where in a strip: the digits of a lazy real, or, with digits = NULL, the rational p/q in [0, 1). */
typedef struct strip_place {
    lazy *digits;
    uint64_t p, q;
} strip_place;
/* True with probability exp(-u (2n + u) / 8192): the place u of strip n is kept. */
bool tacet__strip_accept(tacet_noise *noise, uint64_t n, strip_place *u);

/* A real half normal: unit 64, n the strip; .negative is a fair coin. False: latched noise->exhausted. */
bool tacet__lazy_normal(tacet_noise *noise, lazy *x);
/* The same, the first two words of key stream being these: strip, and place with coin and sign. */
bool tacet__lazy_normal_from(tacet_noise *noise, lazy *x, uint64_t first, uint64_t second);
