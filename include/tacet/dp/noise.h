/* noise.h - the source of randomness for everything private, and its seeded twin for tests and simulations.
 *
 * A tacet_noise is one buffered ChaCha20 stream. From tacet_noise_open it is keyed by the operating system and private;
 * from tacet_noise_open_seeded it is reproducible, and whatever it touches is stamped "not private". One thread at a
 * time per object. It does not convert to or from tacet_simrng. */
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

/* IO: the operating system gives no entropy. NO_MEMORY. */
TACET_API tacet_status tacet_noise_open(tacet_noise **out, tacet_error *err);
/* NOT PRIVATE: for tests and simulations only. Same (seed, stream), same draws, on every machine. */
TACET_API tacet_status tacet_noise_open_seeded(tacet_noise **out, uint64_t seed, uint64_t stream, tacet_error *err);
/* Wipes key and buffer. NULL is allowed. */
TACET_API void tacet_noise_close(tacet_noise *noise);
TACET_API bool tacet_noise_is_private(const tacet_noise *noise);

#ifdef __cplusplus
}
#endif
#endif
