/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - sources of randomness for samplers: buffered ChaCha20 streams, of three kinds that do not convert.
 *
 *   minted  private. Keyed by a reservation in the ledger (tacet/dp/mint.h) and to be had from nowhere else: there is
 * no function here that opens one. Mechanisms, tables, streams and devices make theirs themselves. seeded reproducible;
 * whatever it touches is stamped "not private". For tests and simulations. sample  keyed by the operating system, for
 * looking at samplers (`tacet-lab noise`, audits, benchmarks): whatever would make a release of it refuses. One thread
 * at a time per object. None converts to or from tacet_simrng. */
#ifndef TACET_DP_NOISE_H
#define TACET_DP_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_noise tacet_noise;

/* No release can be made with it. IO: the operating system gives no entropy. NO_MEMORY. */
TACET_API tacet_status tacet_noise_open_sample(tacet_noise **out, tacet_error *err);
/* NOT PRIVATE: for tests and simulations only. Same (seed, stream), same draws, on every machine. */
TACET_API tacet_status tacet_noise_open_seeded(tacet_noise **out, uint64_t seed, uint64_t stream, tacet_error *err);

/* A sampler, to be looked at. Its draws are whole multiples of 2^grid_exponent. */
typedef struct tacet_sampler {
    const char *name;
    double scale;
    int grid_exponent;
    bool one_vector; /* its draws are the coordinates of one vector: they are asked for at once */
} tacet_sampler;

enum { TACET_SAMPLER_GRID_BITS = 20, TACET_SAMPLER_VECTOR_MOST = 1 << 20 };

/* `name`: gaussian, laplace, discrete-laplace, knorm, or bit (1 with probability e^-scale). The grid
 * is scale / 2^grid_bits or the next power of two below; of a bit it is 1. INVALID: no such sampler, a scale that is
 * not above 0 (a bit: not within 2^-10 and 1024), more than 40 bits (knorm: 29). */
TACET_API tacet_status tacet_sampler_init(tacet_sampler *out, const char *name, double scale, size_t grid_bits,
                                          tacet_error *err);
/* INVALID: of one vector, count is 0 or above TACET_SAMPLER_VECTOR_MOST. NUMERIC: a draw that
 * no double holds, of probability below 2^-256; all of them are then 0. */
TACET_API tacet_status tacet_sampler_draw(const tacet_sampler *sampler, tacet_noise *noise, double *out, size_t count,
                                          tacet_error *err);
/* Wipes key and buffer. NULL is allowed. */
TACET_API void tacet_noise_close(tacet_noise *noise);

#ifdef __cplusplus
}
#endif
#endif
