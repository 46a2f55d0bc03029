/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream_factor.c - factorisations of the prefix sums against dense matrices, and what they cost. */
#include "stream_fixture.h"

static void factors_are_factors(void **state) {
    const size_t sizes[] = {1, 2, 3, 8, 13, 37, 64};
    double C[64 * 64], B[64 * 64];
    for (size_t k = 0; k < 3; k++) {
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            const size_t n = sizes[z];
            tacet__factor f;
            assert_ok(tacet__factor_init(&f, KINDS[k], n, NULL));
            dense(C, B, &f);
            double column = 0;
            for (size_t s = 0; s < n; s++) {
                double squares = 0, most = 0;
                for (size_t t = 0; t < n; t++) {
                    squares += C[t * n + s] * C[t * n + s];
                    double product = 0, row = 0;
                    for (size_t j = 0; j < n; j++) {
                        product += B[t * n + j] * C[j * n + s];
                        row += fabs(C[t * n + j]);
                    }
                    assert_close(product, s <= t ? 1 : 0, 1e-11);
                    most = fmax(most, row);
                }
                column = fmax(column, sqrt(squares));
                assert_true(tacet__factor_row_sum(&f) >= most);
            }
            assert_true(tacet__factor_column(&f) >= column);
            assert_close(tacet__factor_column(&f), column, 2e-7);
            double *sd = calloc(n, sizeof *sd), total = 0, worst = 0;
            tacet_stream_cost cost;
            assert_ok(tacet_stream_plan(&cost, sd, KINDS[k], n, NULL));
            for (size_t t = 0; t < n; t++) {
                double squares = 0;
                for (size_t j = 0; j < n; j++) {
                    squares += B[t * n + j] * B[t * n + j];
                }
                assert_close(tacet__factor_error_sq(&f, t + 1), squares, 1e-9);
                assert_close(sd[t] * sd[t], squares, 1e-9);
                total += squares;
                worst = fmax(worst, squares);
            }
            free(sd);
            assert_close(cost.sensitivity, column, 2e-7);
            assert_close(cost.max_sd, column * sqrt(worst), 1e-6);
            assert_close(cost.rms_sd, column * sqrt(total / (double)n), 1e-6);
        }
    }
}

static void published_costs(void **state) {
    /* 1,000 rounds need 999 prefixes: the one before round t covers rounds 1 … t-1 */
    tacet_stream_cost tree, toeplitz, blt;
    assert_ok(tacet_stream_plan(&tree, NULL, TACET_FACTORIZATION_TREE, 999, NULL));
    assert_ok(tacet_stream_plan(&toeplitz, NULL, TACET_FACTORIZATION_TOEPLITZ, 999, NULL));
    assert_ok(tacet_stream_plan(&blt, NULL, TACET_FACTORIZATION_BLT, 999, NULL));
    assert_close(tree.max_sd, sqrt(90), 1e-5);
    assert_close(toeplitz.max_sd, 3.265, 1e-3);
    assert_true(blt.max_sd <= 1.01 * toeplitz.max_sd);
    assert_true(blt.buffers <= 4);
    const size_t sizes[] = {2, 7, 8, 63, 64, 511, 512, 8191, 8192, 131071, 131072, (size_t)1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(tacet_stream_plan(&toeplitz, NULL, TACET_FACTORIZATION_TOEPLITZ, sizes[i], NULL));
        assert_ok(tacet_stream_plan(&blt, NULL, TACET_FACTORIZATION_BLT, sizes[i], NULL));
        assert_true(blt.max_sd <= 1.01 * toeplitz.max_sd);
    }
    tacet__factor f;
    assert_ok(tacet__factor_init(&f, TACET_FACTORIZATION_BLT, (size_t)1 << 24, NULL));
    assert_status(tacet_stream_plan(&blt, NULL, TACET_FACTORIZATION_BLT, 0, NULL), TACET_INVALID);
    assert_status(tacet_stream_plan(&blt, NULL, TACET_FACTORIZATION_TREE, ((size_t)1 << 24) + 1, NULL), TACET_INVALID);
    assert_status(tacet_stream_plan(&blt, NULL, (tacet_factorization)0, 5, NULL), TACET_INVALID);
    assert_status(tacet_stream_plan(&blt, NULL, (tacet_factorization)4, 5, NULL), TACET_INVALID);
    tacet_factorization kind = TACET_FACTORIZATION_TREE;
    for (size_t k = 0; k < 3; k++) {
        assert_ok(tacet_factorization_parse(&kind, tacet_factorization_name(KINDS[k]), NULL));
        assert_int_equal(kind, KINDS[k]);
    }
    assert_status(tacet_factorization_parse(&kind, "fourier", NULL), TACET_INVALID);
    assert_string_equal(tacet_factorization_name((tacet_factorization)9), "?");
}

static void ranges_of_factors(void **state) {
    tacet__factor good, f;
    assert_ok(tacet__factor_init(&good, TACET_FACTORIZATION_BLT, 100, NULL));
    assert_ok(tacet__factor_check(&good, NULL));
    const double bad[] = {1, -1, 1.5, NAN, INFINITY};
    for (size_t i = 0; i < 5; i++) {
        double *fields[] = {&f.theta[1], &f.omega[0], &f.theta_inv[2], &f.omega_inv[1]};
        for (size_t k = 0; k < 4; k++) {
            f = good;
            *fields[k] = bad[i];
            assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
        }
    }
    f = good;
    f.buffers = TACET__BLT_MOST + 1;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    f = good;
    f.most = 0;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    f.most = ((size_t)1 << 24) + 1;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    f = good;
    f.kind = (tacet_factorization)0;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    f.kind = (tacet_factorization)4;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    /* the search is kept from what is no factor, and knows negative zeros */
    f = good;
    const double outside[] = {1, 1, 1, 1, 1, 1}, negative[] = {-4, 0, 0, 0, 0, 0.9};
    assert_true(tacet__blt_cost(&f, outside) == 1e6);
    const double cost = tacet__blt_cost(&f, negative);
    assert_true(f.theta_inv[2] < 0);
    double column = 1, row = 0, b = 1, power[3], inverse[3];
    for (int i = 0; i < 3; i++) {
        power[i] = f.omega[i];
        inverse[i] = f.omega_inv[i];
    }
    for (size_t k = 1; k <= f.most; k++) {
        double c = 0;
        row += b * b;
        for (int i = 0; i < 3; i++) {
            c += power[i];
            b += inverse[i];
            power[i] *= f.theta[i];
            inverse[i] *= f.theta_inv[i];
        }
        column += k < f.most ? c * c : 0;
    }
    assert_close(cost, log(column) + log(row), 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_factors),
        cmocka_unit_test(published_costs),
        cmocka_unit_test(ranges_of_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
