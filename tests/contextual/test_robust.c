/* SPDX-License-Identifier: Apache-2.0 */
/* test_robust.c - the law of contexts: what one context adds to its sketch, and what is decoded from that. */
#include "contextual/trusted/robust.h"
#include "support/test.h"

#include <math.h>
#include <string.h>
#include <tacet/core/simrng.h>

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

typedef struct seen {
    const tacet_contextual_learner *learner;
    size_t times[100];
} seen;

static void see(void *user, const double *record, const double *phi) {
    seen *s = user;
    (void)phi;
    s->times[(size_t)(record - s->learner->records) / s->learner->stride]++;
}

/* Parallel composition: all parts together read each record once. And a residual counts for no more than what is
 * charged, whatever is in the records. */
static void test_parts_read_each_record_once(void **state) {
    enum { N = 100 };
    tacet_contextual_space space;
    tacet_contextual_settings settings;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_learner *learner = NULL;
    tacet_noise *noise = NULL;
    double excess = 0, sd = 0;
    const double w[2] = {0.5, 0.5};
    tacet_contextual_space_defaults(&space);
    tacet_contextual_settings_defaults(&settings);
    settings.eps = 1e5;
    assert_ok(tacet_contextual_basis_create(&basis, &space, 20, NULL));
    assert_ok(tacet_contextual_learner_create(&learner, basis, &settings, NULL));
    for (size_t i = 0; i < N; i++) {
        assert_ok(tacet_contextual_learner_add(learner, w, 0, NULL));
    }
    assert_ok(tacet_noise_open_seeded(&noise, 1, 1, NULL));
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "w", .to_whom = "x"};
    tacet__robust r = {.learner = learner,
                       .parts = {.learner = learner,
                                 .ask = &ask,
                                 .what = "w",
                                 .prefix = "",
                                 .records = N,
                                 .sizes = {.n = {20, 0, 0, 0, 45, 10, 25}, .stages = 1}}};
    seen s = {.learner = learner};
    assert_ok(tacet__parts_deal(&r.parts, NULL));
    for (size_t part = 0; part < TACET__PARTS_MOST; part++) {
        assert_ok(tacet__robust_visit(&r, part, see, &s, NULL));
    }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(s.times[i], 1);
    }
    for (size_t i = 0; i < N; i++) {
        if (r.parts.part_of[i] == 6) {
            learner->records[i * learner->stride + basis->d] = 1e6;
            break;
        }
    }
    assert_ok(tacet__robust_excess(&r, &excess, &sd, 6, "cut", 0.5, NULL));
    assert_close(excess, 1.5 / 25, 1e-3);
    free(r.parts.part_of);
    tacet_noise_close(noise);
    tacet_contextual_learner_free(learner);
    tacet_contextual_basis_free(basis);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sketch), cmocka_unit_test(test_decode),
                                       cmocka_unit_test(test_parts_read_each_record_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
