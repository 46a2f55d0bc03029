/* SPDX-License-Identifier: Apache-2.0 */
/* script.h - chosen words in the buffer of a noise source, so that a test decides what a sampler sees. */
#pragma once

#include <sodium.h>

#include "dp/noise/noise_state.h"
#include "support/gate.h"
#include "support/test.h"

static inline tacet_noise *script_open(void) {
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_seeded(&noise, 1234, 5678, NULL));
    noise->next = NOISE_WORDS;
    return noise;
}

/* The words that come next are these, in this order; after them the seeded stream goes on. */
static inline void script(tacet_noise *noise, const uint64_t *words, size_t count) {
    assert_true(count <= NOISE_WORDS);
    noise->exhausted = false;
    noise->next = NOISE_WORDS - count;
    for (size_t i = 0; i < count; i++) {
        noise->words[noise->next + i] = htole64(words[i]);
    }
}

/* Exactly the scripted words were used, no more and no fewer. */
#define assert_script_used(noise) assert_int_equal((noise)->next, NOISE_WORDS)
