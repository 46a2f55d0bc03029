/* SPDX-License-Identifier: Apache-2.0 */
/* test_modeler.c - the modelers as policies: conformance, choice of method, bad input, and that they find something. */
#include "support/conformance.h"
#include "support/test.h"

#include <tacet/core/simrng.h>

#include "outsourced/open/modeler_internal.h"

enum { SIDE = 12, ROWS = SIDE * SIDE, ROUNDS = 10 };

typedef struct fixture {
    double rows[2 * ROWS];
    double truth[2 * ROWS];
    double low[2], high[2], spread[2];
    double lengthscale;
    tacet_kernel_spec kernel;
    tacet_modeler_settings settings;
} fixture;

static void fill(fixture *f, double scale) {
    tacet_simrng rng = test_rng(11, 0);
    for (size_t i = 0; i < ROWS; i++) {
        f->truth[2 * i] = (double)(i % SIDE);
        f->truth[2 * i + 1] = (double)(i / SIDE);
        f->rows[2 * i] = f->truth[2 * i] + scale * tacet_simrng_normal(&rng);
        f->rows[2 * i + 1] = f->truth[2 * i + 1] + scale * tacet_simrng_normal(&rng);
    }
    f->low[0] = f->low[1] = 0;
    f->high[0] = f->high[1] = SIDE - 1;
    f->lengthscale = 3;
    tacet_kernel_spec_defaults(&f->kernel);
    f->kernel.d = 2;
    f->kernel.lengthscales = &f->lengthscale;
    tacet_modeler_settings_defaults(&f->settings);
    f->settings.rows = f->rows;
    f->settings.ld = f->settings.d = 2;
    f->settings.n = ROWS;
    f->settings.low = f->low;
    f->settings.high = f->high;
    f->spread[0] = f->spread[1] = scale;
    f->settings.spread = f->spread;
    f->settings.kernel = &f->kernel;
    f->settings.horizon = ROUNDS;
}

static double objective(const fixture *f, size_t row) {
    const double u = (f->truth[2 * row] - 8) / 4;
    const double v = (f->truth[2 * row + 1] - 3) / 4;
    return 2 * exp(-0.5 * (u * u + v * v));
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    return tacet_modeler_create(out, &((fixture *)user)->settings, err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    tacet_modeler_settings other = ((fixture *)user)->settings;
    const double spread[2] = {1.25 * other.spread[0], 1.25 * other.spread[1]};
    other.spread = spread;
    return tacet_modeler_create(out, &other, err);
}

static double value(void *user, size_t k, const tacet_suggestion *suggestion) {
    (void)k;
    return objective(user, suggestion->index);
}

TEST(test_conformance_eiv) {
    fixture f;
    fill(&f, 0.8);
    const conformance_problem problem = {.create = create,
                                         .create_foreign = create_foreign,
                                         .value = value,
                                         .user = &f,
                                         .rounds = ROUNDS,
                                         .any_order = true,
                                         .tolerance = 1e-9};
    test_policy_conformance(&problem);
}

/* What is known of the objective decides. */
TEST(a_kernel_makes_it_errors_in_variables) {
    fixture f;
    fill(&f, 0.8);
    tacet_policy *policy = NULL;
    assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
    assert_string_equal(tacet_policy_name(policy), "eiv");
    tacet_policy_free(policy);
    f.settings.kernel = NULL;
    assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
    assert_string_equal(tacet_policy_name(policy), "averaging");
    tacet_policy_free(policy);
}

static void refused(const tacet_modeler_settings *settings, tacet_status expected) {
    tacet_policy *policy = (tacet_policy *)settings;
    assert_status(tacet_modeler_create(&policy, settings, NULL), expected);
    assert_null(policy);
}

TEST(test_bad_settings) {
    fixture f;
    fill(&f, 0.8);
    const tacet_modeler_settings good = f.settings;
    tacet_modeler_settings s = good;
    const size_t twice[] = {3, 3};
    const size_t beyond[] = {ROWS};
    const double negative[] = {0.8, -1}, unknown[] = {NAN, 0.8};
#define REFUSED(change, expected)                                                                                      \
    do {                                                                                                               \
        s = good;                                                                                                      \
        change;                                                                                                        \
        refused(&s, expected);                                                                                         \
    } while (0)
    REFUSED(s.rows = NULL, TACET_INVALID);
    REFUSED(s.ld = 1, TACET_INVALID);
    REFUSED(s.n = 0, TACET_INVALID);
    REFUSED(s.spread = negative, TACET_INVALID);
    REFUSED(s.spread = unknown, TACET_INVALID);
    REFUSED(s.noise_var = NAN, TACET_INVALID);
    REFUSED(s.mean = INFINITY, TACET_INVALID);
    REFUSED(s.horizon = 0, TACET_INVALID);
    REFUSED(s.horizon = ROWS + 1, TACET_INVALID);
    REFUSED((s.initial = twice, s.initial_count = 2), TACET_INVALID);
    REFUSED((s.initial = beyond, s.initial_count = 1), TACET_INVALID);
    REFUSED(s.delta_ucb = 0, TACET_INVALID);
    f.rows[17] = NAN;
    REFUSED((void)0, TACET_INVALID);
    f.rows[17] = 0;
    f.kernel.signal_var = NAN;
    REFUSED((void)0, TACET_INVALID);
#undef REFUSED
    assert_ok(tacet__modeler_check_law(NULL, NULL)); /* no noise */
    assert_ok(tacet__modeler_check_law(tacet_law_find("k-norm"), NULL));
    assert_status(tacet__modeler_check_law(tacet_law_find("laplace"), NULL), TACET_INVALID);
    assert_status(tacet__modeler_check_law(tacet_law_find("exponential"), NULL), TACET_INVALID);
}

/* One smooth bump, noise of a quarter lengthscale: thirty of 144 rows must include one within 0.1 of its top (value 2,
 * next-best rows 1.94). Deterministic seeds; uniform choice would miss with probability 0.6. */
TEST(test_finds_the_top) {
    fixture f;
    fill(&f, 0.75);
    f.settings.horizon = 30;
    OWN_POLICY tacet_policy *policy = NULL;
    assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
    double best = -INFINITY;
    tacet_suggestion suggestion;
    for (size_t t = 0; t < 30; t++) {
        assert_ok(tacet_policy_suggest(policy, &suggestion, NULL, NULL));
        best = fmax(best, objective(&f, suggestion.index));
        assert_ok(tacet_policy_observe(policy, suggestion.ticket, objective(&f, suggestion.index), NULL));
    }
    assert_true(best > 1.9);
    tacet_recommendation recommendation;
    assert_ok(tacet_policy_recommend(policy, &recommendation, NULL));
    assert_close(recommendation.measured_value, best, 0);
    assert_true(recommendation.sd >= 0 && recommendation.sd < 0.5);
    assert_close(recommendation.mean, best, 0.3);
    assert_status(tacet_policy_suggest(policy, &suggestion, NULL, NULL), TACET_STATE);
}
