/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - sources of randomness for samplers: buffered ChaCha20 streams, of three kinds that do not convert.
 *
 *   minted  private. Keyed by a reservation in the ledger (tacet/dp/mint.h) and to be had from nowhere else: there is
 * no function here that opens one. Mechanisms, tables, streams and devices make theirs themselves. seeded reproducible;
 * whatever it touches is stamped "not private". For tests and simulations. sample  keyed by the operating system, for
 * looking at samplers (`tacet noise`, audits, benchmarks): whatever would make a release of it refuses. One thread at a
 * time per object. None converts to or from tacet_simrng. */
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
/* Wipes key and buffer. NULL is allowed. */
TACET_API void tacet_noise_close(tacet_noise *noise);

#ifdef __cplusplus
}
#endif
#endif
