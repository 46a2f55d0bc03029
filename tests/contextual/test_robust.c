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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sketch), cmocka_unit_test(test_decode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
