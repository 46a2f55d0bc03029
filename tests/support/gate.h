/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - what tests hand to the gate: seeded noise, and a question that nobody is charged for. */
#ifndef TACET_TESTS_SUPPORT_GATE_H
#define TACET_TESTS_SUPPORT_GATE_H

#include "support/test.h"

#include "dp/mechanism.h"
#include <tacet/dp/noise.h>

static inline tacet_noise *test_noise(uint64_t seed, uint64_t stream) {
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_seeded(&noise, seed, stream, NULL));
    return noise;
}

/* Without a ledger; the caller closes its noise. */
static inline tacet_ask test_ask(uint64_t seed, uint64_t stream) {
    return (tacet_ask){.noise = test_noise(seed, stream), .ticket = "t", .what = "w", .to_whom = "x"};
}

#endif
