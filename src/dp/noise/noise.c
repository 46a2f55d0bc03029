/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c - the source of randomness: one buffered ChaCha20 key stream.
 * Ring: gate. Source: Bernstein, "Fast-key-erasure random-number generators" (2017): of each 4,128 bytes of key stream
 * the first 32 become the next key and the old one is overwritten, so that whoever reads the memory later learns
 * nothing of what was drawn before. Words are zeroed as they are handed out. Fork: of a sample a child never repeats
 * its parent's draws. pthread_atfork counts forks and every draw compares the count; a child made by a bare clone() is
 * noticed by its process id at the next refill at the latest. The child is keyed anew by the operating system. Seeded
 * and minted sources are functions of their key and go on as they were, in both: a release drawn twice is the same
 * release. The operating system's generator is reached through libsodium, which ends the process when entropy
 * disappears after sodium_init succeeded: there is no safe way to go on. Cost: 4 KiB of state; no allocation after
 * open. */
#include "dp/noise/noise_state.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/memory.h"
#include "dp/noise/sampler.h"

atomic_uint tacet__fork_generation;
static atomic_bool watching;

static void count_fork(void) {
    atomic_fetch_add(&tacet__fork_generation, 1);
}

/* Two threads at once may both register: then a fork counts twice, which is as good. */
static bool watch_forks(void) {
    if (!atomic_load(&watching)) {
        if (pthread_atfork(NULL, NULL, count_fork) != 0) {
            return false;
        }
        atomic_store(&watching, true);
    }
    return true;
}

void tacet__noise_refill(tacet_noise *noise) {
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    const unsigned generation = atomic_load(&tacet__fork_generation);
    const pid_t pid = getpid();
    if (noise->source == TACET__NOISE_SAMPLE && (noise->generation != generation || noise->pid != pid)) {
        randombytes_buf(noise->key, sizeof noise->key);
    } else if (noise->next < NOISE_WORDS) {
        noise->generation = generation; /* after a fork: the buffered words are still to be used */
        return;
    }
    unsigned char stream[NOISE_KEY_BYTES + sizeof noise->words];
    const size_t bytes = noise->fill * sizeof *noise->words;
    (void)crypto_stream_chacha20(stream, NOISE_KEY_BYTES + bytes, nonce, noise->key);
    memcpy(noise->key, stream, NOISE_KEY_BYTES);
    noise->next = NOISE_WORDS - noise->fill;
    memcpy(noise->words + noise->next, stream + NOISE_KEY_BYTES, bytes);
    sodium_memzero(stream, NOISE_KEY_BYTES + bytes);
    noise->fill = NOISE_WORDS;
    noise->generation = generation;
    noise->pid = pid;
}

static tacet_status make(tacet_noise **out, tacet_error *err) {
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    tacet_noise *noise = TACET__ZALLOC(tacet_noise, 1);
    if (noise == NULL || !watch_forks()) {
        free(noise);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a noise source");
    }
    noise->next = noise->fill = NOISE_WORDS;
    noise->generation = atomic_load(&tacet__fork_generation);
    noise->pid = getpid();
    *out = noise;
    return TACET_OK;
}

tacet_status tacet_noise_open_sample(tacet_noise **out, tacet_error *err) {
    *out = NULL;
    const tacet_status status = make(out, err);
    if (status == TACET_OK) {
        (*out)->source = TACET__NOISE_SAMPLE;
        randombytes_buf((*out)->key, sizeof(*out)->key);
    }
    return status;
}

tacet_status tacet_noise_open_seeded(tacet_noise **out, uint64_t seed, uint64_t stream, tacet_error *err) {
    *out = NULL;
    const tacet_status status = make(out, err);
    if (status == TACET_OK) {
        static const unsigned char purpose[] = "tacet seeded noise 1";
        const uint64_t numbers[2] = {htole64(seed), htole64(stream)};
        (*out)->source = TACET__NOISE_SEEDED;
        (void)crypto_generichash((*out)->key, sizeof(*out)->key, (const unsigned char *)numbers, sizeof numbers,
                                 purpose, sizeof purpose);
    }
    return status;
}

void tacet_noise_close(tacet_noise *noise) {
    if (noise != NULL) {
        sodium_memzero(noise, sizeof *noise);
        free(noise);
    }
}

uint64_t tacet__noise_u64(tacet_noise *noise) {
    return tacet__noise_next(noise);
}
