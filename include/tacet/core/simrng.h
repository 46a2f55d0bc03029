/* SPDX-License-Identifier: Apache-2.0 */
/* simrng.h - a seeded generator for simulations and tests. NEVER for anything private: it is predictable, its
 * normals are textbook floating point, and it does not convert to tacet_noise. Same seed, same numbers, on every
 * machine. Source: xoshiro256++ (Blackman, Vigna 2019), seeded by splitmix64. */
#ifndef TACET_CORE_SIMRNG_H
#define TACET_CORE_SIMRNG_H

#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_simrng {
    uint64_t s[4];
} tacet_simrng;

/* `stream` gives independent sequences for one seed: trial number, party, purpose. */
TACET_API void tacet_simrng_init(tacet_simrng *rng, uint64_t seed, uint64_t stream);
TACET_API uint64_t tacet_simrng_u64(tacet_simrng *rng);
/* Uniform in [0, 1), 53 bits. */
TACET_API double tacet_simrng_uniform(tacet_simrng *rng);
/* Uniform in {0, …, n-1}, unbiased; n > 0 (0 gives 0). */
TACET_API size_t tacet_simrng_below(tacet_simrng *rng, size_t n);
/* Standard normal (inverse of a uniform by Marsaglia's polar method; no cached second value, so state is s alone). */
TACET_API double tacet_simrng_normal(tacet_simrng *rng);

#ifdef __cplusplus
}
#endif
#endif
