/* SPDX-License-Identifier: Apache-2.0 */
/* test_robust.c - the robust release: shares that no record exceeds, laws that are measured, errors that are covered,
 * parts that are disjoint. */
#include "contextual/trusted/robust.h"
#include "support/test.h"

#include <math.h>
#include <string.h>
#include <tacet/core/simrng.h>

static double f(double x, double c) {
    return 0.7 * cos(4 * (x - 0.4 - 0.3 * c));
}

static tacet_contextual_learner *learner_of(const tacet_contextual_basis *basis, size_t count, bool skew,
                                            const tacet_contextual_settings *settings) {
    tacet_contextual_learner *l = NULL;
    tacet_simrng rng;
    assert_ok(tacet_contextual_learner_create(&l, basis, settings, NULL));
    tacet_simrng_init(&rng, 3, 0);
    for (size_t i = 0; i < count; i++) {
        const double u = tacet_simrng_uniform(&rng);
        const double w[2] = {tacet_simrng_uniform(&rng), skew ? u * u * u * u : u < 0.9 ? 0.2 : 0.8};
        assert_ok(tacet_contextual_learner_add(l, w, f(w[0], w[1]) + 0.1 * tacet_simrng_normal(&rng), NULL));
    }
    return l;
}

/* Laws under which the staged release diverges: the true error is small, and three times the stated one covers it; the
 * held-out bound covers the outcomes'. Seeds are fixed: no false alarms. */
static void test_laws(void **state) {
    tacet_contextual_space space;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_space_defaults(&space);
    assert_ok(tacet_contextual_basis_create(&basis, &space, 0, NULL));
    for (int k = 0; k < 4; k++) {
        tacet_contextual_settings settings;
        tacet_noise *noise = NULL;
        tacet_contextual_model *model = NULL;
        double sum = 0;
        tacet_contextual_settings_defaults(&settings);
        settings.rewards = k < 2 ? TACET_CONTEXTUAL_SKEWED : TACET_CONTEXTUAL_SYMMETRIC;
        tacet_contextual_learner *l = learner_of(basis, 6000, k % 2 == 0, &settings);
        assert_ok(tacet_noise_open_seeded(&noise, 7, (uint64_t)k, NULL));
        const tacet_ask ask = {.noise = noise, .ticket = "m", .what = "model", .to_whom = "test"};
        assert_ok(tacet_contextual_release(l, &model, &ask, NULL));
        for (size_t i = 0; i < 20; i++) {
            const double u = ((double)i + 0.5) / 20;
            const double c = k % 2 == 0 ? u * u * u * u : u < 0.9 ? 0.2 : 0.8;
            for (size_t j = 0; j < 21; j++) {
                const double x = (double)j / 20;
                double mean = 0;
                size_t best = 0;
                assert_ok(tacet_contextual_predict(model, &best, &mean, &x, 1, &c, NULL));
                sum += (mean - f(x, c)) * (mean - f(x, c)) / (20 * 21);
            }
        }
        const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
        assert_true(sqrt(sum) < 0.07);
        assert_true(p->measured && TACET_CONTEXTUAL_LIKELY * p->predicted_error >= sqrt(sum));
        assert_true(p->outcome_bound >= hypot(0.1, sqrt(sum)) && p->outcome_bound <= 2);
        tacet_contextual_model_free(model);
        tacet_contextual_learner_free(l);
        tacet_noise_close(noise);
    }
    tacet_contextual_basis_free(basis);
}

/* Every row is in one part, the parts have the sizes that were said, and lie evenly along the log. */
static void test_deal(void **state) {
    tacet_contextual_space space;
    tacet_contextual_settings settings;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_space_defaults(&space);
    tacet_contextual_settings_defaults(&settings);
    assert_ok(tacet_contextual_basis_create(&basis, &space, 20, NULL));
    tacet_contextual_learner *l = learner_of(basis, 5000, true, &settings);
    tacet__parts parts = {.learner = l};
    size_t seen[TACET__PARTS_MOST][2] = {{0}};
    size_t total = 0;
    tacet__robust_sizes(l, 5000, &parts.sizes);
    assert_ok(tacet__parts_deal(&parts, NULL));
    for (size_t i = 0; i < 5000; i++) {
        seen[parts.part_of[i]][i < 2500 ? 0 : 1]++;
    }
    for (size_t j = 0; j < TACET__PARTS_MOST; j++) {
        assert_int_equal(seen[j][0] + seen[j][1], parts.sizes.n[j]);
        assert_true(fabs((double)seen[j][0] - (double)seen[j][1]) <= 2);
        total += parts.sizes.n[j];
    }
    assert_int_equal(total, 5000);
    free(parts.part_of);
    tacet_contextual_learner_free(l);
    tacet_contextual_basis_free(basis);
}

/* |g(c) - g(c')| <= sqrt 2 for every pair of contexts: what the charge for the law rests on. */
static void test_sketch(void **state) {
    tacet_contextual_space space;
    tacet_contextual_basis *basis = NULL;
    tacet__contextual_law law;
    tacet_simrng rng;
    double most = 0;
    tacet_contextual_space_defaults(&space);
    assert_ok(tacet_contextual_basis_create(&basis, &space, 20, NULL));
    assert_ok(tacet__contextual_law_init(&law, basis, NULL, false, NULL));
    assert_true(law.g >= 5 && law.g <= 12);
    tacet_simrng_init(&rng, 4, 0);
    for (size_t i = 0; i < 3000; i++) {
        double g[2][TACET__CONTEXTUAL_SKETCH_MOST];
        double sum = 0;
        for (size_t k = 0; k < 2; k++) {
            const double c = i < 2 ? (double)(k ^ i) : tacet_simrng_uniform(&rng);
            tacet_features_eval(law.sketch, g[k], &c, 1, 1);
        }
        for (size_t j = 0; j < law.g; j++) {
            sum += (g[0][j] - g[1][j]) * (g[0][j] - g[1][j]);
        }
        most = fmax(most, sqrt(sum));
    }
    assert_true(most <= sqrt(2) && most > 1.2);
    tacet__contextual_law_clear(&law);
    tacet_contextual_basis_free(basis);
}

/* Decoding finds a law of two values, without noise to speak of. */
static void test_decode(void **state) {
    tacet_contextual_space space;
    tacet_contextual_basis *basis = NULL;
    tacet__contextual_law law;
    tacet_contextual_space_defaults(&space);
    assert_ok(tacet_contextual_basis_create(&basis, &space, 20, NULL));
    assert_ok(tacet__contextual_law_init(&law, basis, NULL, false, NULL));
    const size_t N = law.actions * law.contexts;
    double V[TACET__CONTEXTUAL_SKETCH_MOST] = {0};
    double g[TACET__CONTEXTUAL_SKETCH_MOST];
    double *q = calloc(N, sizeof *q);
    double low = 0;
    assert_non_null(q);
    for (int k = 0; k < 2; k++) {
        const double c = k == 0 ? 0.2 : 0.8;
        tacet_features_eval(law.sketch, g, &c, 1, 1);
        for (size_t j = 0; j < law.g; j++) {
            V[j] += (k == 0 ? 900 : 100) * g[j];
        }
    }
    assert_ok(tacet__contextual_law_decode(&law, q, V, 1000, 1, NULL));
    double total = 0;
    for (size_t k = 0; k < N; k++) {
        total += q[k];
        low += basis->features->blocks[0].Z[k * 2 + 1] < 0.5 ? q[k] : 0;
    }
    assert_close(total, 1, 1e-9);
    assert_close(low, 0.9, 0.03);
    /* 1,000 of 1,000 rounds have a context, or of 1,500; noise that could explain the difference says nothing */
    assert_true(tacet__contextual_law_mass(&law, V, 1000, 1) == 1);
    assert_close(tacet__contextual_law_mass(&law, V, 1500, 1), 2.0 / 3, 0.02);
    assert_true(tacet__contextual_law_mass(&law, V, 1500, 300) == 1);
    free(q);
    tacet__contextual_law_clear(&law);
    tacet_contextual_basis_free(basis);
}

/* Whether the ledger has the ticket's answer. */
static bool has(tacet_ledger *ledger, const char *ticket) {
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob_init(&memo);
    const tacet_status status = tacet_ledger_lookup(ledger, &entry, &memo, ticket, NULL);
    tacet_blob_clear(&memo);
    return status == TACET_OK && entry.answered;
}

/* A release that ended after its first part, and is asked for again with settings under which rows are dealt otherwise:
 * a row of the first part would be in another one, too. */
static void a_release_goes_on_with_the_rows_as_they_were_dealt(void **state) {
    tacet_contextual_space space;
    tacet_contextual_settings settings;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_model *model = NULL;
    tacet_ledger_settings s;
    tacet_ledger *ledger = NULL;
    char folder[200], path[300], ticket[32], law[64], scale[64];
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacet_ledger_settings_defaults(&s);
    s.accounting = TACET_ACCOUNTING_BASIC;
    s.eps = 1000;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    tacet_contextual_space_defaults(&space);
    tacet_contextual_settings_defaults(&settings);
    assert_ok(tacet_contextual_basis_create(&basis, &space, 20, NULL));
    tacet_contextual_learner *l = learner_of(basis, 3000, true, &settings);
    settings.rewards = TACET_CONTEXTUAL_SYMMETRIC;
    tacet_contextual_learner *other = learner_of(basis, 3000, true, &settings);
    tacet_ask ask = {.ledger = ledger, .ticket = ticket, .what = "model", .to_whom = "test"};
    bool ended = false;
    for (long n = 1; !ended; n++) {
        (void)snprintf(ticket, sizeof ticket, "m%ld", n);
        (void)snprintf(law, sizeof law, "%s/law", ticket);
        (void)snprintf(scale, sizeof scale, "%s/scale", ticket);
        fail_alloc_after(n);
        const tacet_status status = tacet_contextual_release(l, &model, &ask, NULL);
        fail_alloc_after(0);
        assert_int_not_equal(status, TACET_OK);
        ended = has(ledger, law) && !has(ledger, scale);
    }
    assert_status(tacet_contextual_release(other, &model, &ask, NULL), TACET_CONFLICT);
    assert_false(has(ledger, scale));
    assert_ok(tacet_contextual_release(l, &model, &ask, NULL));
    tacet_contextual_model_free(model);
    tacet_contextual_learner_free(l);
    tacet_contextual_learner_free(other);
    tacet_contextual_basis_free(basis);
    tacet_ledger_close(ledger);
    test_rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws), cmocka_unit_test(test_deal),
                                       cmocka_unit_test(test_sketch), cmocka_unit_test(test_decode),
                                       cmocka_unit_test(a_release_goes_on_with_the_rows_as_they_were_dealt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
