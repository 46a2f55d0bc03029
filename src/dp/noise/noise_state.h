/* SPDX-License-Identifier: Apache-2.0 */
/* noise_state.h - inside of a tacet_noise, so that drawing a word is a load and a store. Included by the samplers,
 * by those in the gate (and the device) who hold a minted source in their own memory, and by tests, which write chosen
 * words into the buffer; by nobody else.
 * Ring: gate. */
#ifndef TACET_SRC_DP_NOISE_NOISE_STATE_H
#define TACET_SRC_DP_NOISE_NOISE_STATE_H

#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <tacet/dp/noise.h>

enum { NOISE_WORDS = 512, NOISE_KEY_BYTES = 32 };

/* Where the key came from, and so what may be made of the noise. */
typedef enum tacet__noise_source {
    TACET__NOISE_SAMPLE = 1, /* of the operating system, by nobody's reservation: for looking at; no release */
    TACET__NOISE_SEEDED,     /* of a number: no private release */
    TACET__NOISE_MINTED      /* of a reservation (mint.h): private */
} tacet__noise_source;

struct tacet_noise {
    uint64_t words[NOISE_WORDS]; /* little-endian key stream; a word is zeroed when it is handed out */
    size_t next;                 /* the first word not handed out yet; NOISE_WORDS when empty */
    unsigned generation;         /* of forks, when the buffer was filled */
    unsigned char key[NOISE_KEY_BYTES];
    pid_t pid;
    tacet__noise_source source;
    size_t fill;    /* words of the next refill */
    bool exhausted; /* a sampler ran out of room for digits (src/dp/noise/README.md); that draw fails */
};

/* Counts the forks that this process descends from since the first tacet_noise_open_sample. */
extern atomic_uint tacet__fork_generation;

/* Fills the buffer. Of a sample, in a child after a fork, from a fresh key of the operating system; the others go on,
 * as they are functions of their keys. */
void tacet__noise_refill(tacet_noise *noise);

static inline uint64_t tacet__noise_next(tacet_noise *noise) {
    if (__builtin_expect(noise->next >= NOISE_WORDS ||
                             noise->generation != atomic_load_explicit(&tacet__fork_generation, memory_order_relaxed),
                         0)) {
        tacet__noise_refill(noise);
    }
    const uint64_t word = noise->words[noise->next];
    noise->words[noise->next++] = 0;
    return le64toh(word);
}

#endif
