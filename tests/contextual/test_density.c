/* SPDX-License-Identifier: Apache-2.0 */
/* test_density.c - a law of contexts from a table: what it says between its points, what is refused, and that
 * certificates hold for the operator made from it. */
#include "support/test.h"

#include "contextual/shared/internal.h"

#include <tacet/core/simrng.h>

/* Linear in each coordinate, so the table must say it exactly. */
static double plane(double a, double b) {
    return 5 + 3 * a + b + 0.5 * a * b;
}

static void test_grid(void **state) {
    const double first[3] = {4, -1, 0.5}; /* not sorted, not even */
    const double second[4] = {7, 3, 0, 1};
    double points[2 * 12];
    double values[12];
    tacet_contextual_density *d = NULL;
    tacet_simrng rng;
    for (size_t i = 0; i < 12; i++) {
        points[2 * i] = first[i % 3];
        points[2 * i + 1] = second[i / 3];
        values[i] = plane(points[2 * i], points[2 * i + 1]);
    }
    assert_ok(tacet_contextual_density_create(&d, points, values, 2, 12, NULL));
    tacet_simrng_init(&rng, 3, 0);
    for (size_t i = 0; i < 200; i++) {
        const double at[2] = {8 * tacet_simrng_uniform(&rng) - 3, 12 * tacet_simrng_uniform(&rng) - 2};
        const double inside[2] = {fmin(fmax(at[0], -1), 4), fmin(fmax(at[1], 0), 7)};
        assert_close(tacet_contextual_density_at(at, d), plane(inside[0], inside[1]), 1e-12);
    }
    for (size_t i = 0; i < 12; i++) {
        assert_close(tacet_contextual_density_at(points + 2 * i, d), values[i], 1e-13);
    }
    tacet_contextual_density_free(d);
    /* One coordinate, one point: constant. */
    const double five = 5;
    assert_ok(tacet_contextual_density_create(&d, &five, &five, 1, 1, NULL));
    assert_true(tacet_contextual_density_at(&first[0], d) == 5 && tacet_contextual_density_at(&second[0], d) == 5);
    tacet_contextual_density_free(d);
}

static void test_refused(void **state) {
    const double points[8] = {0, 0, 1, 0, 0, 1, 1, 1};
    const double twice[8] = {0, 0, 1, 0, 0, 1, 1, 0};
    const double missing[6] = {0, 0, 1, 0, 0, 1};
    const double good[4] = {1, 0, 2, 3};
    const double zero[4] = {0, 0, 0, 0};
    const double negative[4] = {1, -1e-9, 2, 3};
    const double nan[4] = {1, (double)NAN, 2, 3};
    const double endless[8] = {0, 0, 1, 0, 0, (double)INFINITY, 1, 1};
    tacet_contextual_density *d = NULL;
    tacet_error err = {0};
    assert_status(tacet_contextual_density_create(&d, twice, good, 2, 4, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "row 4"));
    assert_status(tacet_contextual_density_create(&d, missing, good, 2, 3, NULL), TACET_INVALID);
    assert_status(tacet_contextual_density_create(&d, points, zero, 2, 4, NULL), TACET_INVALID);
    assert_status(tacet_contextual_density_create(&d, points, negative, 2, 4, NULL), TACET_INVALID);
    assert_status(tacet_contextual_density_create(&d, points, nan, 2, 4, NULL), TACET_INVALID);
    assert_status(tacet_contextual_density_create(&d, endless, good, 2, 4, NULL), TACET_INVALID);
    assert_status(tacet_contextual_density_create(&d, points, good, 0, 4, NULL), TACET_INVALID);
    assert_status(tacet_contextual_density_create(&d, points, good, 4, 2, NULL), TACET_INVALID);
    assert_status(tacet_contextual_density_create(&d, points, good, 2, 0, NULL), TACET_INVALID);
    assert_null(d);
    assert_each_alloc_fails(tacet_contextual_density_create(&d, points, good, 2, 4, NULL), d == NULL);
    tacet_contextual_density_free(d);
}

/* Features and certificates are for the law of the table: E phi phi' is diagonal under it, and no point exceeds the
 * certified supremum, nor do the best of many points climbed from. */
static void test_operator(void **state) {
    for (int kernel = 0; kernel < 3; kernel++) {
        const double axis[4] = {0, 0.3, 0.6, 1};
        const double values[4] = {0.05, 1, 4, 0};
        tacet_contextual_space space;
        tacet_contextual_density *d = NULL;
        tacet_contextual_basis *basis = NULL;
        tacet_contextual_certificate certificate;
        tacet_simrng rng;
        double moment[3] = {0};
        double mass = 0;
        double most = 0;
        enum { M = 40 };
        const size_t grid = test_slow() ? 50 : 160;
        const size_t starts = test_slow() ? 10 : 300;
        assert_ok(tacet_contextual_density_create(&d, axis, values, 1, 4, NULL));
        tacet_contextual_space_defaults(&space);
        space.kind = kernel == 0 ? TACET_KERNEL_SE : TACET_KERNEL_MATERN;
        space.matern_p = (unsigned)kernel;
        space.density = tacet_contextual_density_at;
        space.user = d;
        space.order = test_slow() ? 14 : 0;
        assert_ok(tacet_contextual_basis_create(&basis, &space, M, NULL));
        const double *lam = tacet_contextual_basis_eigenvalues(basis);
        assert_ok(tacet_contextual_certify(&certificate, basis, 1000, 2, 0, 0.01, NULL));
        tacet_simrng_init(&rng, 7, (uint64_t)kernel);
        for (size_t i = 0; i < grid * grid; i++) {
            const double w[2] = {((double)(i % grid) + 0.5) / (double)grid, ((double)(i / grid) + 0.5) / (double)grid};
            const double weight = tacet_contextual_density_at(w + 1, d);
            double phi[M];
            tacet_features_eval(basis->features, phi, w, 2, 1);
            mass += weight;
            moment[0] += weight * phi[0] * phi[0];
            moment[1] += weight * phi[2] * phi[2];
            moment[2] += weight * phi[0] * phi[1];
        }
        assert_close(moment[0] / mass, lam[0], 0.01 * lam[0]);
        assert_close(moment[1] / mass, lam[2], 0.03 * lam[2]);
        assert_close(moment[2] / mass, 0, 0.01 * lam[0]);
        for (size_t start = 0; start < starts; start++) {
            double w[2] = {tacet_simrng_uniform(&rng), tacet_simrng_uniform(&rng)};
            double best = 0;
            for (double step = 0.2; step > 1e-4;) {
                double to[2] = {w[0], w[1]};
                double phi[M];
                double sum = 0;
                for (size_t c = 0; c < 2; c++) {
                    to[c] = fmin(fmax(w[c] + step * (2 * tacet_simrng_uniform(&rng) - 1), 0), 1);
                }
                tacet_features_eval(basis->features, phi, to, 2, 1);
                for (size_t j = 0; j < basis->features->m; j++) {
                    sum += phi[j] * phi[j] / (1000 * lam[j] + 2);
                }
                if (sum > best) {
                    best = sum;
                    w[0] = to[0];
                    w[1] = to[1];
                } else {
                    step *= 0.8;
                }
            }
            most = fmax(most, best);
        }
        assert_true(most <= certificate.upper && certificate.upper <= 1.011 * fmax(most, certificate.found));
        tacet_contextual_basis_free(basis);
        tacet_contextual_density_free(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_operator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
