/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_exp.c - a coin of exponential probability, from rational ones.
 * Ring: gate. Source: von Neumann, "Various techniques used in connection with random digits" (1951), in the form of
 * Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy" (2020), Algorithm 1.
 * Cost: fewer than 5 coins on average when a <= b. */
#include "dp/noise/sampler.h"

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
