/* SPDX-License-Identifier: Apache-2.0 */
/* simrng.c - xoshiro256++ with splitmix64 seeding.
 * Ring: pure. Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2019). */
#include <tacet/core/simrng.h>

#include <math.h>

static uint64_t rotl(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix(uint64_t *x) {
    uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void tacet_simrng_init(tacet_simrng *rng, uint64_t seed, uint64_t stream) {
    /* The stream is hashed before it is mixed in, so that (1, 2) and (2, 1) have nothing in common. */
    uint64_t hashed = stream ^ UINT64_C(0x5bf0363542191b0d);
    uint64_t x = seed ^ splitmix(&hashed);
    for (int i = 0; i < 4; i++) {
        rng->s[i] = splitmix(&x);
    }
}

uint64_t tacet_simrng_u64(tacet_simrng *rng) {
    uint64_t *s = rng->s;
    const uint64_t result = rotl(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

double tacet_simrng_uniform(tacet_simrng *rng) {
    return (double)(tacet_simrng_u64(rng) >> 11) * 0x1p-53;
}

size_t tacet_simrng_below(tacet_simrng *rng, size_t n) {
    if (n == 0) {
        return 0;
    }
    const uint64_t limit = UINT64_MAX - UINT64_MAX % n; /* reject the incomplete last block */
    uint64_t x = tacet_simrng_u64(rng);
    while (x >= limit) {
        x = tacet_simrng_u64(rng);
    }
    return (size_t)(x % n);
}

double tacet_simrng_normal(tacet_simrng *rng) {
    double u = 0;
    double q = 0;
    do {
        u = 2 * tacet_simrng_uniform(rng) - 1;
        const double v = 2 * tacet_simrng_uniform(rng) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    return u * sqrt(-2 * log(q) / q);
}
