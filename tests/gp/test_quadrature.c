/* SPDX-License-Identifier: Apache-2.0 */
/* test_quadrature.c - Gauss rules against closed-form moments of their laws. */
#include "support/test.h"

#include "gp/quadrature.h"

enum { MOST = TACET__QUADRATURE_MOST };

/* Every rule: ascending, exactly symmetric, weights positive with sum 1, and all moments up to degree 2n - 1 that stay
 * within double range, relative to the same sum of absolute values. */
static void check_moments(const double *x, const double *w, size_t n, double (*moment)(int, double), double parameter) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(w[i] > 0);
        assert_true(x[i] == -x[n - 1 - i]);
        assert_true(w[i] == w[n - 1 - i]);
        assert_true(i == 0 || x[i] > x[i - 1]);
        sum += w[i];
    }
    assert_close(sum, 1, 1e-14);
    for (int k = 0; k <= (int)(2 * n - 1) && k <= 120; k += 2) {
        double got = 0;
        for (size_t i = 0; i < n; i++) {
            got += w[i] * pow(x[i], k);
        }
        assert_close(got / moment(k, parameter), 1, 1e-12);
    }
}

/* E Z^k = (k-1)!! */
static double normal_moment(int k, double unused) {
    (void)unused;
    double m = 1;
    for (int i = k - 1; i > 0; i -= 2) {
        m *= i;
    }
    return m;
}

/* E T^k under (1 - t^2)^(lambda - 1/2): T^2 is Beta(1/2, lambda + 1/2). */
static double gegenbauer_moment(int k, double lambda) {
    double m = 1;
    for (int i = 0; i < k / 2; i++) {
        m *= (0.5 + i) / (lambda + 1 + i);
    }
    return m;
}

TEST(moments) {
    static const double lambdas[] = {0.5, 1, 1.5, 2, 5};
    double x[MOST];
    double w[MOST];
    for (size_t n = 1; n <= 64; n++) {
        assert_ok(tacet__gauss_hermite(x, w, n, NULL));
        check_moments(x, w, n, normal_moment, 0);
        assert_ok(tacet__gauss_legendre(x, w, n, NULL));
        check_moments(x, w, n, gegenbauer_moment, 0.5);
        for (size_t i = 0; i < sizeof lambdas / sizeof *lambdas; i++) {
            assert_ok(tacet__gauss_gegenbauer(x, w, n, lambdas[i], NULL));
            check_moments(x, w, n, gegenbauer_moment, lambdas[i]);
        }
    }
    assert_ok(tacet__gauss_hermite(x, w, MOST, NULL));
    check_moments(x, w, MOST, normal_moment, 0);
    assert_ok(tacet__gauss_legendre(x, w, MOST, NULL));
    check_moments(x, w, MOST, gegenbauer_moment, 0.5);
}

/* Every node is the root of its Hermite polynomial to the last digit: one more Newton step, in long double, finds
 * nothing to correct. */
TEST(nodes_are_roots) {
    double x[MOST];
    double w[MOST];
    for (size_t n = 2; n <= 64; n++) {
        assert_ok(tacet__gauss_hermite(x, w, n, NULL));
        for (size_t i = 0; i < n; i++) {
            long double a = 0; /* orthonormal: He_k / sqrt(k!) */
            long double b = 1;
            for (size_t k = 0; k < n; k++) {
                const long double c = (x[i] * b - sqrtl((long double)k) * a) / sqrtl((long double)(k + 1));
                a = b;
                b = c;
            }
            const long double step = b / (sqrtl((long double)n) * a);
            assert_close((double)step, 0, 4.5e-16 * fabs(x[i]) + 2e-16);
        }
    }
}

TEST(box) {
    enum { D = 3, N = 5, COUNT = N * N * N };
    const double lower[D] = {0, -1, 2};
    const double upper[D] = {1, 3, 2.5};
    double X[D * COUNT];
    double w[COUNT];
    assert_ok(tacet__quadrature_box(X, w, D, N, lower, upper, NULL));
    double got = 0;
    double sum = 0;
    for (size_t j = 0; j < COUNT; j++) {
        got += w[j] * pow(X[j * D], 4) * pow(X[j * D + 1], 3) * X[j * D + 2];
        sum += w[j];
    }
    assert_close(sum, 1, 1e-14);
    /* E x^4 = 1/5, E y^3 = (3^4 - 1)/(4*4) = 5, E z = 2.25 */
    assert_close(got, 0.2 * 5 * 2.25, 1e-13);
}

/* Uniform on the unit ball: E prod x_i^(2 a_i) = d/(d + 2A) Gamma(d/2)/Gamma(d/2 + A) prod Gamma(a_i + 1/2)/sqrt pi. */
TEST(ball) {
    static const int exponents[][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {2, 1, 0, 0},
                                       {1, 2, 1, 0}, {1, 1, 1, 1}, {0, 0, 2, 1}, {4, 0, 0, 0}};
    enum { N = 6, COUNT = N * N * N * N };
    const double pi = 3.14159265358979323846;
    static double X[4 * COUNT];
    static double w[COUNT];
    for (size_t d = 1; d <= 4; d++) {
        const double centre[4] = {0.5, -1, 2, 0};
        size_t count = 1;
        for (size_t c = 0; c < d; c++) {
            count *= N;
        }
        assert_ok(tacet__quadrature_ball(X, w, d, N, centre, 3, NULL));
        for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
            double got = 0;
            double odd = 0;
            for (size_t j = 0; j < count; j++) {
                double term = w[j];
                double r2 = 0;
                for (size_t c = 0; c < d; c++) {
                    const double u = (X[j * d + c] - centre[c]) / 3;
                    r2 += u * u;
                    term *= pow(u, 2 * exponents[e][c]);
                }
                assert_true(r2 <= 1);
                got += term;
                odd += term * (X[j * d + d - 1] - centre[d - 1]);
            }
            double a = 0;
            double product = 1;
            for (size_t c = 0; c < d; c++) {
                a += exponents[e][c];
                product *= tgamma(exponents[e][c] + 0.5) / sqrt(pi);
            }
            const double half = 0.5 * (double)d;
            const double expected = half / (half + a) * tgamma(half) / tgamma(half + a) * product;
            assert_close(got, expected, 1e-14);
            assert_close(odd, 0, 1e-14);
        }
    }
}

TEST(bad_input) {
    double x[4];
    double w[4];
    assert_status(tacet__gauss_hermite(x, w, 0, NULL), TACET_INVALID);
    assert_status(tacet__gauss_hermite(x, w, MOST + 1, NULL), TACET_INVALID);
    assert_status(tacet__gauss_legendre(x, w, 0, NULL), TACET_INVALID);
    assert_status(tacet__gauss_gegenbauer(x, w, 3, 0, NULL), TACET_INVALID);
    assert_status(tacet__gauss_gegenbauer(x, w, 3, NAN, NULL), TACET_INVALID);
    assert_status(tacet__quadrature_box(x, w, 1, 0, x, x, NULL), TACET_INVALID);
    assert_status(tacet__quadrature_ball(x, w, 1, MOST + 1, NULL, 1, NULL), TACET_INVALID);
    assert_each_alloc_fails(tacet__gauss_hermite(x, w, 4, NULL), true);
    assert_true(fail_alloc_last() > 2);
}
