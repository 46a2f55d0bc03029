/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_coin.c - uniform integers and coins of rational probability.
 * Ring: gate. Source: Lemire, "Fast random integer generation in an interval" (2019). Differs: a coin of probability
 * p/q compares p/q with the digits of a uniform real as far as they are needed, a word at a time, without a division.
 * Cost: a word per coin but for 2^-64 q of them. */
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"
#include "dp/noise/wide.h"

/* Comments that begin with @ are contracts, which `make prove` has provers check (proof/README.md). */
/*@ requires 0 < n <= WORD_MASK && \valid(noise);
    assigns \nothing;
    ensures \result < n; */
uint64_t tacet__noise_below(tacet_noise *noise, uint64_t n) {
    u128 product = (u128)tacet__noise_next(noise) * n;
    if (tacet__word_low(product) < n) {
        const uint64_t uneven = (WORD_MASK - n + 1) % n; /* 2^WORD_BITS mod n; n > 0 here */
        /*@ loop invariant product <= WORD_MASK * n;
            loop assigns product; */
        while (tacet__word_low(product) < uneven) {
            product = (u128)tacet__noise_next(noise) * n;
        }
    }
    return (uint64_t)(product >> WORD_BITS);
}

/*@ requires 0 < q <= WORD_MASK && p <= WORD_MASK && \valid(noise);
    assigns \nothing;
    ensures p >= q ==> \result == 1;
    ensures p == 0 ==> \result == 0; */
bool tacet__bernoulli(tacet_noise *noise, uint64_t p, uint64_t q) {
    if (p >= q) {
        return true;
    }
    /*@ loop invariant p < q;
        loop invariant \at(p, Pre) == 0 ==> p == 0;
        loop assigns p; */
    for (;;) {
        /* The uniform real lies in [w, w + 1) / 2^WORD_BITS; is it below p/q? */
        const u128 low = (u128)tacet__noise_next(noise) * q;
        const u128 bound = (u128)p << WORD_BITS;
        if (low >= bound) {
            return false;
        }
        if (bound - low >= q) {
            return true;
        }
        p = (uint64_t)(bound - low); /* undecided: the rest of its digits against the rest of the bound */
    }
}
