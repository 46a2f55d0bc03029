/* sampler_coin.c - uniform integers and coins of rational and exponential probability.
 * Ring: gate. Sources: Lemire, "Fast random integer generation in an interval" (2019); von Neumann, "Various techniques
 * used in connection with random digits" (1951), in the form of Canonne, Kamath, Steinke, "The discrete Gaussian for
 * differential privacy" (2020), Algorithm 1. Differs: a coin of probability p/q compares p/q with the digits of a
 * uniform real as far as they are needed, 64 bits at a time, without a division.
 * Cost: a word per coin but for 2^-64 q of them; exp(-a/b) takes fewer than 5 coins on average when a <= b. */
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"
#include "dp/noise/wide.h"

uint64_t tacet__noise_below(tacet_noise *noise, uint64_t n) {
    u128 product = (u128)tacet__noise_next(noise) * n;
    if ((uint64_t)product < n) {
        const uint64_t uneven = -n % n; /* 2^64 mod n; n > 0 here */
        while ((uint64_t)product < uneven) {
            product = (u128)tacet__noise_next(noise) * n;
        }
    }
    return (uint64_t)(product >> 64);
}

bool tacet__bernoulli(tacet_noise *noise, uint64_t p, uint64_t q) {
    if (p >= q) {
        return true;
    }
    for (;;) {
        /* The uniform real lies in [w, w + 1) / 2^64; is it below p/q? */
        const u128 low = (u128)tacet__noise_next(noise) * q;
        const u128 bound = (u128)p << 64;
        if (low >= bound) {
            return false;
        }
        if (bound - low >= q) {
            return true;
        }
        p = (uint64_t)(bound - low); /* undecided: the rest of its digits against the rest of the bound */
    }
}

bool tacet__bernoulli_exp(tacet_noise *noise, uint64_t a, uint64_t b) {
    for (; a >= b; a -= b) {
        uint64_t k = 1;
        while (tacet__bernoulli(noise, 1, k)) {
            k++;
        }
        if (k % 2 == 0) {
            return false;
        }
    }
    if (a == 0) {
        return true;
    }
    uint64_t k = 1;
    while (tacet__bernoulli(noise, a, b) && tacet__bernoulli(noise, 1, k)) {
        k++;
    }
    return k % 2 == 1;
}
