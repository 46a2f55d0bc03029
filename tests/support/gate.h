/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - what tests hand to the gate: ledgers, charges, seeded noise, and a question that nobody is charged for. */
#pragma once

#include "support/test.h"

#include "dp/bound_internal.h"
#include "dp/mechanism.h"
#include <tacet/dp/noise.h>

/* Before a pointer that is set where it is declared: freed or closed where it goes out of scope. */
#define OWN_RAW __attribute__((cleanup(test_own_raw)))
#define OWN_BOUND __attribute__((cleanup(test_own_bound)))
#define OWN_BOUNDED __attribute__((cleanup(test_own_bounded)))
#define OWN_MECHANISM __attribute__((cleanup(test_own_mechanism)))
#define OWN_TABLE __attribute__((cleanup(test_own_table)))
#define OWN_RELEASE __attribute__((cleanup(test_own_release)))
#define OWN_NOISE __attribute__((cleanup(test_own_noise)))
#define OWN_LEDGER __attribute__((cleanup(test_own_ledger)))
TEST_OWNS(raw, tacet_raw *, tacet_raw_free)
TEST_OWNS(bound, tacet_bound *, tacet_bound_free)
TEST_OWNS(bounded, tacet_bounded *, tacet_bounded_free)
TEST_OWNS(mechanism, tacet_mechanism *, tacet_mechanism_free)
TEST_OWNS(table, tacet_table *, tacet_table_free)
TEST_OWNS(release, tacet_release *, tacet_release_free)
TEST_OWNS(noise, tacet_noise *, tacet_noise_close)
TEST_OWNS(ledger, tacet_ledger *, tacet_ledger_close)

/* A charge of pure eps. */
static inline tacet_charge test_charge(double eps) {
    tacet_charge charge;
    tacet_charge_init(&charge);
    charge.what = "a mean";
    charge.to_whom = "the modeler";
    charge.mechanism = "laplace";
    tacet_charge_pure(&charge, eps);
    return charge;
}

/* Opened, or made with this budget and a delta of 1e-5. */
static inline tacet_ledger *test_ledger(const char *path, tacet_accounting accounting, double eps) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings settings;
    tacet_ledger_settings_defaults(&settings);
    settings.accounting = accounting;
    settings.eps = eps;
    assert_ok(tacet_ledger_open(&ledger, path, &settings, NULL));
    return ledger;
}

static inline tacet_noise *test_noise(uint64_t seed, uint64_t stream) {
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_seeded(&noise, seed, stream, NULL));
    return noise;
}

/* The multiple of 2^grid_exponent that is nearest to x. */
static inline double test_on_grid(double x, int grid_exponent) {
    return ldexp(round(ldexp(x, -grid_exponent)), grid_exponent);
}

static inline tacet_bound *test_range(size_t count, double lower, double upper) {
    tacet_bound *bound = NULL;
    assert_ok(tacet_bound_range(&bound, count, lower, upper, NULL));
    return bound;
}

static inline tacet_bound *test_norm(size_t count, double radius) {
    tacet_bound *bound = NULL;
    assert_ok(tacet_bound_norm(&bound, count, radius, NULL));
    return bound;
}

static inline tacet_mechanism *test_mechanism(tacet_mechanism_kind kind, const tacet_bound *bound,
                                              const tacet_neighbours *neighbours, double eps, double delta) {
    tacet_mechanism *mechanism = NULL;
    assert_ok(tacet_mechanism_create(&mechanism, kind, bound, neighbours, eps, delta, NULL));
    return mechanism;
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
