/* SPDX-License-Identifier: Apache-2.0 */
/* test_features_qff.c - quadrature Fourier features: error against the published bound and against the kernel, the full
 * grid against its positive orthant, norms, additive kernels. */
#include "gp/kernel_internal.h"
#include "feature_checks.h"

/* d 2^(d-1) sqrt(pi/2) mbar^-mbar (e/(4 nu^2))^mbar */
static double theorem2(size_t d, double mbar, double nu) {
    return (double)d * pow(2, (double)d - 1) * sqrt(PI / 2) * pow(exp(1) / (4 * nu * nu * mbar), mbar);
}

/* d mbar!/(2 mbar)! nu^(-2 mbar) */
static double sharp_bound(size_t d, double mbar, double nu) {
    return (double)d * exp(lgamma(mbar + 1) - lgamma(2 * mbar + 1) - 2 * mbar * log(nu));
}

/* On [0,1]^d, all corners included (the error grows with the distance). */
TEST(qff_within_theorem2) {
    static const double nus[] = {0.25, 0.5, 1, 2};
    enum { N = 40 };
    for (size_t d = 1; d <= 3; d++) {
        double X[3 * N];
        uniform(X, d * N, 0, 1, 20 + d);
        for (size_t j = 0; j < 8; j++) {
            for (size_t c = 0; c < d; c++) {
                X[j * d + c] = (double)(j >> c & 1);
            }
        }
        for (size_t k = 0; k < sizeof nus / sizeof *nus; k++) {
            tacet_kernel *kernel = make_kernel("se", d, nus[k], 1, NULL, 0);
            for (size_t order = 2; order <= 13; order++) {
                tacet_features *f = NULL;
                assert_ok(tacet_features_create_qff(&f, kernel, order, NULL));
                const double worst = worst_error(f, X, N);
                assert_true(worst <= theorem2(d, (double)order, nus[k]) + 4e-15);
                assert_true(worst <= sharp_bound(d, (double)order, nus[k]) + 4e-15);
                tacet_features_free(f);
            }
            tacet_kernel_free(kernel);
        }
    }
}

/* Where the order is enough the error is rounding; the norm is the signal variance; the dimension order^d. */
TEST(qff_converges) {
    static const size_t orders[3] = {64, 31, 18};
    enum { N = 25 };
    for (size_t d = 1; d <= 3; d++) {
        double X[3 * N];
        uniform(X, d * N, -0.6, 0.6, 30 + d);
        tacet_kernel *kernel = make_kernel("se", d, 0.8, 1.9, NULL, 0);
        tacet_features *f = NULL;
        size_t m = 1;
        for (size_t c = 0; c < d; c++) {
            m *= orders[d - 1];
        }
        assert_ok(tacet_features_create_qff(&f, kernel, orders[d - 1], NULL));
        assert_int_equal(tacet_features_dim(f), m);
        assert_null(tacet_features_eigenvalues(f));
        assert_true(tacet_features_norm2_bound(f) == 1.9);
        const double worst = worst_error(f, X, N);
        print_message("d = %zu, order %zu: error %.1e\n", d, orders[d - 1], worst);
        assert_true(worst < 5e-15);
        tacet_features_free(f);
        tacet_kernel_free(kernel);
    }
}

/* The published experiment lives on the ball of radius 2 with lengthscale 1: the bound says nothing there (nu = 1/4 on
 * the unit box), the features are usable all the same. The largest distances are between points of the circle. */
TEST(qff_on_the_ball) {
    enum { N = 64 };
    static const size_t orders[] = {8, 10, 12};
    static const double reference[] = {0.174, 0.033, 0.0042}; /* an independent implementation, its own points */
    double X[2 * N];
    for (size_t j = 0; j < N; j++) {
        X[2 * j] = 2 * cos(2 * PI * (double)j / N);
        X[2 * j + 1] = 2 * sin(2 * PI * (double)j / N);
    }
    tacet_kernel *kernel = make_kernel("se", 2, 1, 1, NULL, 0);
    for (size_t k = 0; k < 3; k++) {
        tacet_features *f = NULL;
        assert_ok(tacet_features_create_qff(&f, kernel, orders[k], NULL));
        const double worst = worst_error(f, X, N);
        print_message("ball of radius 2, order %zu: error %.4f, published bound %.2g\n", orders[k], worst,
                      theorem2(2, (double)orders[k], 0.25));
        assert_close(worst, reference[k], 0.1 * reference[k]);
        assert_true(theorem2(2, (double)orders[k], 0.25) > 1);
        tacet_features_free(f);
    }
    tacet_kernel_free(kernel);
}

/* Unit norm for every order, even, odd and 1, everywhere, also far away. */
TEST(qff_norm) {
    enum { N = 30 };
    double X[3 * N];
    uniform(X, 3 * N, -50, 50, 40);
    for (size_t d = 1; d <= 3; d++) {
        tacet_kernel *kernel = make_kernel("se", d, 0.7, 1, NULL, 0);
        for (size_t order = 1; order <= 9; order++) {
            tacet_features *f = NULL;
            assert_ok(tacet_features_create_qff(&f, kernel, order, NULL));
            const size_t m = tacet_features_dim(f);
            double *phi = malloc(m * N * sizeof *phi);
            tacet_features_eval(f, phi, X, d, N);
            for (size_t j = 0; j < N; j++) {
                const double norm2 = tacet__dot(phi + j * m, phi + j * m, m);
                assert_true(norm2 <= 1 + 1e-15 && norm2 >= 1 - 1e-14);
            }
            free(phi);
            tacet_features_free(f);
        }
        tacet_kernel_free(kernel);
    }
}

/* The same kernel from all nodes of the grid, without pairing, and from its positive orthant, as published. */
static void grid_sums(double *full, double *orthant, size_t d, size_t order, const double *tau) {
    double z[64];
    double w[64];
    assert_ok(tacet__gauss_hermite(z, w, order, NULL));
    size_t count = 1;
    for (size_t c = 0; c < d; c++) {
        count *= order;
    }
    *full = 0;
    *orthant = 0;
    for (size_t node = 0; node < count; node++) {
        double weight = 1;
        double angle = 0;
        int positive = 1;
        for (size_t c = 0, rest = node; c < d; c++, rest /= order) {
            weight *= w[rest % order];
            angle += z[rest % order] * tau[c];
            positive = positive && z[rest % order] > 0;
        }
        *full += weight * cos(angle);
        *orthant += positive ? pow(2, (double)d) * weight * cos(angle) : 0;
    }
}

/* Keeping the positive orthant is right for d = 1 and another kernel for d >= 2. Its limit at d = 2 is
 * e^(-|tau|^2/2) - s(tau_1) s(tau_2), s(t) = E sin(|w| t) = (2/sqrt pi) Dawson(t/sqrt 2) > 0. */
TEST(orthant_is_another_kernel) {
    enum { N = 300, ORDER = 16 };
    double worst[4] = {0};
    for (size_t d = 1; d <= 3; d++) {
        double tau[3 * N];
        tacet_kernel *kernel = make_kernel("se", d, 1, 1, NULL, 0);
        tacet_features *f = NULL;
        assert_ok(tacet_features_create_qff(&f, kernel, ORDER, NULL));
        const size_t m = tacet_features_dim(f);
        double *phi = malloc(2 * m * sizeof *phi);
        const double origin[3] = {0, 0, 0};
        uniform(tau, d * N, 0, 1, 50 + d);
        tacet_features_eval(f, phi, origin, d, 1);
        for (size_t j = 0; j < N; j++) {
            double full = 0;
            double orthant = 0;
            grid_sums(&full, &orthant, d, ORDER, tau + j * d);
            const double k = tacet_kernel_eval(kernel, origin, tau + j * d);
            tacet_features_eval(f, phi + m, tau + j * d, d, 1);
            assert_close(tacet__dot(phi, phi + m, m), full, 1e-14);
            assert_close(full, k, 1e-14);
            worst[d] = fmax(worst[d], fabs(orthant - k));
        }
        free(phi);
        tacet_features_free(f);
        tacet_kernel_free(kernel);
    }
    print_message("positive orthant: error %.1e, %.2f, %.2f for d = 1, 2, 3\n", worst[1], worst[2], worst[3]);
    assert_true(worst[1] < 1e-14);
    assert_true(worst[2] > 0.25 && worst[2] < 0.4);
    assert_true(worst[3] > 0.5 && worst[3] < 0.75);
}

TEST(qff_additive) {
    enum { D = 10, N = 60 };
    const size_t groups[D] = {0, 1, 0, 1, 2, 3, 4, 4, 2, 3};
    static double X[D * N];
    uniform(X, D * N, 0, 1, 60);
    tacet_kernel *kernel = make_kernel("se", D, 0.6, 1, groups, 5);
    tacet_features *f = NULL;
    assert_ok(tacet_features_create_qff(&f, kernel, 14, NULL));
    assert_int_equal(tacet_features_dim(f), 5 * 14 * 14);
    assert_true(worst_error(f, X, N) < 1e-8);
    tacet_features_free(f);
    assert_ok(tacet_features_create_qff(&f, kernel, 21, NULL));
    assert_int_equal(tacet_features_dim(f), 5 * 21 * 21);
    assert_true(worst_error(f, X, N) < 1e-14);
    tacet_features_free(f);
    tacet_kernel_free(kernel);
}

/* The law of the frequencies by another way: k(r) of the closed form against the midpoint rule's sum, written out; and
 * errors on [0, 1] that fall with the order as Matérn's smoothness allows. */
TEST(matern_known_errors) {
    enum { N = 201 };
    static const char *const KERNELS[] = {"matern12", "matern32", "matern52"};
    static const double MOST[3][2] = {{0.17, 0.075}, {0.0175, 0.0015}, {0.0024, 4.3e-5}}; /* 16 and 64 features */
    double X[N];
    for (size_t i = 0; i < N; i++) {
        X[i] = (double)i / (N - 1);
    }
    for (size_t k = 0; k < 3; k++) {
        tacet_kernel *kernel = make_kernel(KERNELS[k], 1, 0.5, 2, NULL, 0);
        printf("%s, lengthscale 0.5:", KERNELS[k]);
        for (size_t order = 8; order <= 64; order *= 2) {
            tacet_features *f = NULL;
            double phi[64], square = 0;
            assert_ok(tacet_features_create_qff(&f, kernel, order, NULL));
            assert_int_equal(tacet_features_dim(f), order);
            const double worst = worst_error(f, X, N) / 2; /* signal variance 2 */
            printf(" %.1e", worst);
            assert_true(order != 16 || worst < MOST[k][0]);
            assert_true(order != 64 || worst < MOST[k][1]);
            tacet_features_eval(f, phi, X + 77, 1, 1);
            for (size_t i = 0; i < order; i++) {
                square += phi[i] * phi[i];
            }
            assert_close(square, 2, 1e-13);
            tacet_features_free(f);
        }
        printf("\n");
        tacet_kernel_free(kernel);
    }
}

/* Odd orders have a constant feature; a sum over coordinates has one rule each; several coordinates in one are refused.
 */
TEST(matern_in_groups) {
    enum { D = 3, N = 30 };
    static const size_t alone[D] = {0, 1, 2};
    static const size_t together[D] = {0, 0, 1};
    double X[D * N];
    uniform(X, (size_t)D * N, 0, 1, 9);
    tacet_features *f = NULL;
    tacet_kernel *kernel = make_kernel("matern52", D, 0.6, 1, alone, 3);
    assert_ok(tacet_features_create_qff(&f, kernel, 63, NULL));
    assert_int_equal(tacet_features_dim(f), 3 * 63);
    assert_true(worst_error(f, X, N) < 1e-4);
    tacet_features_free(f);
    tacet_kernel_free(kernel);
    kernel = make_kernel("matern52", D, 0.6, 1, together, 2);
    assert_int_equal(tacet_features_create_qff(&f, kernel, 8, NULL), TACET_UNSUPPORTED);
    tacet_kernel_free(kernel);
    kernel = make_kernel("matern52", 2, 0.6, 1, NULL, 0);
    assert_int_equal(tacet_features_create_qff(&f, kernel, 8, NULL), TACET_UNSUPPORTED);
    /* asked for by name: the product of the kernels of one coordinate each */
    tacet_kernel *one = make_kernel("matern52", 1, 0.6, 1, NULL, 0);
    assert_int_equal(tacet_features_create_qff_product(&f, kernel, 32, NULL), TACET_OK);
    const size_t m = tacet_features_dim(f);
    double *phi = calloc(2 * m, sizeof *phi);
    assert_int_equal(m, 32 * 32);
    for (int i = 0; i < 20; i++) {
        const double P[4] = {0.05 * i, 0.3, 0.1, 1 - 0.04 * i};
        double dot = 0;
        tacet_features_eval(f, phi, P, 2, 2);
        for (size_t k = 0; k < m; k++) {
            dot += phi[k] * phi[m + k];
        }
        assert_true(fabs(dot - tacet_kernel_eval(one, P, P + 2) * tacet_kernel_eval(one, P + 1, P + 3)) < 2e-3);
    }
    free(phi);
    tacet_features_free(f);
    f = NULL;
    tacet_kernel_free(one);
    tacet_kernel_free(kernel);
}
