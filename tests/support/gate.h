/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - what tests hand to the gate: seeded noise, and a question that nobody is charged for. */
#ifndef TACET_TESTS_SUPPORT_GATE_H
#define TACET_TESTS_SUPPORT_GATE_H

#include "support/test.h"

#include "dp/bound_internal.h"
#include "dp/mechanism.h"
#include <tacet/dp/noise.h>

static inline tacet_noise *test_noise(uint64_t seed, uint64_t stream) {
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_seeded(&noise, seed, stream, NULL));
    return noise;
}

/* The multiple of 2^grid_exponent that is nearest to x. */
static inline double test_on_grid(double x, int grid_exponent) {
    return ldexp(round(ldexp(x, -grid_exponent)), grid_exponent);
}

static inline tacet_raw *test_raw(const double *values, size_t count) {
    tacet_raw *raw = NULL;
    assert_ok(tacet_raw_create(&raw, count, NULL));
    assert_ok(tacet_raw_set(raw, values, count, NULL));
    return raw;
}

/* As many values as the bound has, clipped to it. */
static inline tacet_bounded *test_bounded(const tacet_bound *bound, const double *values) {
    tacet_bounded *bounded = NULL;
    tacet_raw *raw = test_raw(values, bound->count);
    assert_ok(tacet_bounded_create(&bounded, bound, NULL));
    assert_ok(tacet_bounded_set(bounded, raw, NULL));
    tacet_raw_free(raw);
    return bounded;
}

/* Without a ledger; the caller closes its noise. */
static inline tacet_ask test_ask(uint64_t seed, uint64_t stream) {
    return (tacet_ask){.noise = test_noise(seed, stream), .ticket = "t", .what = "w", .to_whom = "x"};
}

#endif
