/* SPDX-License-Identifier: Apache-2.0 */
/* test_audit.c - the auditor has power, keeps its confidence, and finds every mechanism that is broken on purpose. */
#include "audit/bound.h"

#include "dp/noise/sampler.h"
#include "support/test.h"

/* P(Bin(n, p) >= k) by summing the mass function: an independent road to the same bound. */
static double upper_tail(size_t k, size_t n, double p) {
    double sum = 0;
    for (size_t i = k; i <= n; i++) {
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) + (double)i * log(p) +
                   (double)(n - i) * log1p(-p));
    }
    return sum;
}

TEST(test_bounds_against_sums) {
    const size_t cases[][2] = {{1, 10}, {5, 10}, {9, 10}, {3, 1000}, {500, 1000}, {999, 1000}, {17, 20000}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const size_t k = cases[c][0];
        const size_t n = cases[c][1];
        const double lower = tacet_audit_lower(k, n, 0.99);
        const double upper = tacet_audit_upper(k, n, 0.99);
        assert_close(upper_tail(k, n, lower), 0.01, 1e-8);
        assert_close(1 - upper_tail(k + 1, n, upper), 0.01, 1e-8);
        assert_true(lower < (double)k / (double)n && (double)k / (double)n < upper);
    }
    assert_close(tacet_audit_lower(0, 10, 0.99), 0, 0);
    assert_close(tacet_audit_upper(10, 10, 0.99), 1, 0);
    assert_close(tacet_audit_upper(0, 1000, 0.99), 1 - pow(0.01, 1.0 / 1000), 1e-12);
    assert_close(tacet_audit_lower(1000, 1000, 0.99), pow(0.01, 1.0 / 1000), 1e-12);
    /* Large counts: normal approximation, to its own accuracy. */
    assert_close(tacet_audit_lower(500000, 1000000, 0.975), 0.5 - 1.959964 * 0.0005, 2e-6);
}

/* Randomised response with P(1 | world 1) = P(0 | world 0) = 3/4: eps = ln 3 exactly. */
static tacet_status respond(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                            double *statistic, tacet_error *err) {
    (void)err;
    *statistic = tacet__noise_below(noise, 4) == 0 ? !world : world;
    return TACET_OK;
}

/* Fails after a while: the error must come through. */
static tacet_status respond_and_fail(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                                     double *statistic, tacet_error *err) {
    (void)err;
    (void)respond(state, self, noise, world, statistic, err);
    return tacet__noise_below(noise, 1000) == 0 ? TACET_IO : TACET_OK;
}

static const tacet_audit_target RESPONSE = {.name = "response", .run = respond};
static const tacet_audit_target FAILING = {.name = "failing", .run = respond_and_fail};

static tacet_audit_result audit(const tacet_audit_target *target, double eps, double delta, size_t runs,
                                size_t threads) {
    tacet_audit_settings settings;
    tacet_audit_result result;
    const tacet_audit_claim claim = {eps, delta};
    tacet_audit_defaults(&settings);
    settings.runs = test_slow() ? 1000 : runs; /* the least there may be: no power, but all is run */
    settings.threads = threads;
    settings.seeded = true;
    settings.seed = 11;
    assert_ok(tacet_audit_run(&result, target, &claim, &settings, NULL));
    return result;
}

TEST(test_randomised_response) {
    tacet_audit_result r = audit(&RESPONSE, log(3), 0, 200000, 2);
    assert_false(r.violated);
    assert_true(r.eps_lower > log(3) - 0.03 || test_slow());
    assert_int_equal(r.correct + r.wrong, r.measured);
    r = audit(&RESPONSE, log(3) - 0.05, 0, 200000, 2);
    assert_true(r.violated || test_slow());
    /* delta takes its share: (3/4 - 1/4)/(1/4) = 2. */
    r = audit(&RESPONSE, 1, 0.25, 200000, 2);
    assert_close(r.eps_lower, log(2), test_slow() ? log(2) : 0.03);
}

TEST(test_threads_do_not_matter) {
    const tacet_audit_target *target = tacet_audit_find("gaussian");
    const tacet_audit_result one = audit(target, 1, 1e-5, 20000, 1);
    const tacet_audit_result three = audit(target, 1, 1e-5, 20000, 3);
    assert_int_equal(one.correct, three.correct);
    assert_int_equal(one.wrong, three.wrong);
    assert_true(one.guess_hi == three.guess_hi && one.guess_lo == three.guess_lo);
}

/* Seeded, so never a false alarm by chance of the day; the seed was not chosen. */
TEST(test_every_target) {
    size_t controls = 0;
    for (size_t i = 0; tacet_audit_target_at(i) != NULL; i++) {
        const tacet_audit_target *target = tacet_audit_target_at(i);
        if (test_valgrind() && (strncmp(target->name, "stream:", 7) == 0 || strstr(target->name, "central") != NULL ||
                                strstr(target->name, "contextual") != NULL)) {
            continue; /* "stream" is run; the others have tests of their own */
        }
        /* A run of a stream is six steps, each saved; one of tuning is 24 evaluations. */
        const bool slow = strncmp(target->name, "stream", 6) == 0 || strstr(target->name, "tune") != NULL;
        const size_t runs = slow                                      ? 12000
                            : strstr(target->name, "5-short") != NULL ? 250000 /* nearly right */
                                                                      : 60000;
        const tacet_audit_result r = audit(target, 1, target->pure ? 0 : 1e-5, runs, 2);
        if (r.violated != target->control && !test_slow()) {
            print_error("%s: eps_lower %g, expected %s\n", target->name, r.eps_lower,
                        target->control ? "violated" : "consistent");
        }
        assert_true(r.violated == target->control || (test_slow() && !r.violated));
        controls += target->control;
        assert_ptr_equal(tacet_audit_find(target->name), target);
    }
    assert_true(controls >= (test_valgrind() ? 3 : 5));
    assert_null(tacet_audit_find("no such target"));
}

/* Near the true epsilon where the mechanism is tight. */
TEST(test_power) {
    assert_true(audit(tacet_audit_find("laplace"), 1, 0, 300000, 2).eps_lower >= (test_slow() ? 0 : 0.95));
    assert_true(audit(tacet_audit_find("gaussian"), 1, 1e-5, 1000000, 2).eps_lower >= (test_slow() ? 0 : 0.7));
    const char *const tight[] = {"duchi", "sphere", "piecewise", "hybrid", "device:laplace", "device-retry"};
    for (size_t i = 0; i < sizeof tight / sizeof tight[0]; i++) {
        const tacet_audit_result r = audit(tacet_audit_find(tight[i]), 1, 0, 300000, 2);
        assert_true((r.eps_lower >= 0.95 || test_slow()) && !r.violated);
    }
    /* Four draws of randomised response: the sum alone is worth far more than one of them. */
    assert_true(audit(tacet_audit_find("control:retry-redraws"), 1, 0, 60000, 2).eps_lower > (test_slow() ? -1 : 1.5));
}

TEST(test_other_budgets_are_consistent) {
    for (double eps = 0.1; eps < 9; eps *= 3) {
        assert_false(audit(tacet_audit_find("gaussian"), eps, 1e-3, 30000, 2).violated);
        assert_false(audit(tacet_audit_find("laplace"), eps, 0, 30000, 2).violated);
    }
}

TEST(test_bad_input) {
    tacet_audit_settings settings;
    tacet_audit_result result;
    tacet_audit_defaults(&settings);
    const tacet_audit_claim bad[] = {{0, 0}, {-1, 0}, {NAN, 0}, {INFINITY, 0}, {1, -0.1}, {1, 1}, {1, NAN}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status(tacet_audit_run(&result, &RESPONSE, &bad[i], &settings, NULL), TACET_INVALID);
    }
    const tacet_audit_claim good = {1, 0};
    settings.runs = 999;
    assert_status(tacet_audit_run(&result, &RESPONSE, &good, &settings, NULL), TACET_INVALID);
    settings.runs = SIZE_MAX;
    assert_status(tacet_audit_run(&result, &RESPONSE, &good, &settings, NULL), TACET_OVERFLOW);
    settings.runs = 1000;
    settings.confidence = NAN;
    assert_status(tacet_audit_run(&result, &RESPONSE, &good, &settings, NULL), TACET_INVALID);
}

TEST(test_a_failing_target_is_reported) {
    tacet_audit_settings settings;
    tacet_audit_result result;
    const tacet_audit_claim claim = {1, 0};
    tacet_audit_defaults(&settings);
    settings.runs = 10000;
    assert_status(tacet_audit_run(&result, &FAILING, &claim, &settings, NULL), TACET_IO);
}

TEST(test_another_thread_stops_it) {
    static volatile bool stop = true;
    tacet_audit_settings settings;
    tacet_audit_result result;
    const tacet_audit_claim claim = {1, 0};
    tacet_audit_defaults(&settings);
    settings.runs = SIZE_MAX >> 44; /* would take minutes */
    settings.stop = &stop;
    assert_status(tacet_audit_run(&result, &RESPONSE, &claim, &settings, NULL), TACET_STATE);
}
