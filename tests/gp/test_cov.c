/* SPDX-License-Identifier: Apache-2.0 */
/* test_cov.c - the covariance of a domain, and the errors-in-variables kernel against its closed form, against plain
 * Gauss–Hermite and midpoint integration written here, and its derivatives against finite differences. */
#include "support/dense.h"
#include "support/test.h"

#include "gp/cov_internal.h"
#include <tacet/core/simrng.h>

#include "gp/eiv.h"
#include "gp/kernel_internal.h"

enum { N = 23, D = 3 };

static tacet_kernel *make_kernel(const char *name, size_t d, const double *lengthscales, size_t count,
                                 const size_t *groups, size_t group_count) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    assert_ok(tacet_kernel_parse(&spec, name, NULL));
    spec.d = d;
    spec.signal_var = 2.5;
    spec.lengthscales = lengthscales;
    spec.lengthscale_count = count;
    spec.groups = groups;
    spec.group_count = group_count;
    tacet_kernel *kernel = NULL;
    assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
    return kernel;
}

TEST(rows_are_the_kernel) {
    tacet_simrng rng = test_rng(1, 0);
    double X[N * (D + 1)]; /* leading dimension above d */
    for (size_t i = 0; i < sizeof X / sizeof *X; i++) {
        X[i] = tacet_simrng_normal(&rng);
    }
    const double l[D] = {0.5, 1, 2};
    tacet_kernel *kernel = make_kernel("matern32", D, l, D, NULL, 0);
    const double zero = 0;
    const tacet_cov_spec exact = {.kernel = kernel};
    const tacet_cov_spec noiseless = {.kernel = kernel, .input_sd = &zero, .input_sd_count = 1};
    tacet_cov *a = NULL;
    tacet_cov *b = NULL;
    assert_ok(tacet_cov_create(&a, &exact, X, D + 1, N, NULL));
    assert_ok(tacet_cov_create(&b, &noiseless, X, D + 1, N, NULL));
    assert_int_equal(tacet_cov_size(a), N);
    double row[N];
    double same[N];
    double diag[N];
    tacet_cov_diag(a, diag, 0, N);
    for (size_t i = 0; i < N; i++) {
        tacet_cov_row(a, row, 0, N, i);
        tacet_cov_row(b, same, 0, 9, i); /* in two pieces */
        tacet_cov_row(b, same + 9, 9, N - 9, i);
        for (size_t j = 0; j < N; j++) {
            assert_true(row[j] == tacet_kernel_eval(kernel, X + i * (D + 1), X + j * (D + 1)));
            assert_true(row[j] == same[j]);
        }
        assert_close(diag[i], 2.5, 0);
    }
    tacet_cov_free(a);
    tacet_cov_free(b);
    tacet_kernel_free(kernel);
}

/* More coordinates than fit the stack. */
TEST(many_coordinates) {
    enum { WIDE = 70 };
    tacet_simrng rng = test_rng(9, 0);
    double X[N * WIDE];
    for (size_t i = 0; i < sizeof X / sizeof *X; i++) {
        X[i] = tacet_simrng_normal(&rng);
    }
    const double l = 9;
    static const char *const names[] = {"se", "linear"};
    for (size_t k = 0; k < 2; k++) {
        tacet_kernel *kernel = make_kernel(names[k], WIDE, &l, 1, NULL, 0);
        const tacet_cov_spec spec = {.kernel = kernel};
        tacet_cov *cov = NULL;
        assert_ok(tacet_cov_create(&cov, &spec, X, WIDE, N, NULL));
        double row[N];
        double diag[N];
        tacet_cov_row(cov, row, 0, N, 5);
        tacet_cov_diag(cov, diag, 0, N);
        for (size_t j = 0; j < N; j++) {
            assert_true(row[j] == tacet_kernel_eval(kernel, X + 5 * WIDE, X + j * WIDE));
            assert_true(diag[j] == tacet_kernel_eval(kernel, X + j * WIDE, X + j * WIDE));
        }
        tacet_cov_free(cov);
        tacet_kernel_free(kernel);
    }
}

/* (l^2/(l^2+2 s^2))^(d/2) exp(-|z-z'|^2/(2(l^2+2 s^2))) off the diagonal, the signal variance on it. */
TEST(closed_form_of_the_squared_exponential) {
    tacet_simrng rng = test_rng(2, 0);
    double X[N * 2];
    for (size_t i = 0; i < sizeof X / sizeof *X; i++) {
        X[i] = 3 * tacet_simrng_normal(&rng);
    }
    const double l = 1.3;
    const double s = 0.7;
    tacet_kernel *kernel = make_kernel("se", 2, &l, 1, NULL, 0);
    const tacet_cov_spec spec = {.kernel = kernel, .input_sd = &s, .input_sd_count = 1};
    tacet_cov *cov = NULL;
    assert_ok(tacet_cov_create(&cov, &spec, X, 2, N, NULL));
    double row[N];
    for (size_t i = 0; i < N; i++) {
        tacet_cov_row(cov, row, 0, N, i);
        for (size_t j = 0; j < N; j++) {
            const double wide = sqrt(l * l + 2 * s * s);
            const double expected =
                i == j ? 2.5 : 2.5 * (l * l / (wide * wide)) * dense_se(X + 2 * i, X + 2 * j, 2, wide);
            assert_close(row[j], expected, 1e-14);
        }
    }
    tacet_cov_free(cov);
    tacet_kernel_free(kernel);
}

/* E k(delta + sqrt(2) s u), u ~ N(0, I): midpoint rule over [-8.5, 8.5] in each of two coordinates, written out. The
 * rule's own error for Matérn 1/2, whose kernel has a kink, is what sets the tolerance. */
static double integrate(const tacet_kernel *kernel, const double *delta, const double *sd, size_t cells) {
    const double width = 17.0 / (double)cells;
    const double origin[2] = {0, 0};
    double sum = 0;
    for (size_t a = 0; a < cells; a++) {
        const double u = -8.5 + ((double)a + 0.5) * width;
        for (size_t b = 0; b < cells; b++) {
            const double v = -8.5 + ((double)b + 0.5) * width;
            const double x[2] = {delta[0] + sqrt(2) * sd[0] * u, delta[1] + sqrt(2) * sd[1] * v};
            sum += exp(-0.5 * (u * u + v * v)) * tacet_kernel_eval(kernel, x, origin);
        }
    }
    return sum * width * width / (2 * acos(-1.0));
}

/* Covariance of two different rows of two coordinates. */
static double between(const tacet__eiv *eiv, const double *x, const double *y) {
    double value = 0;
    tacet__eiv_row_soa(eiv, &value, y, 1, 1, x); /* one row: coordinate c is y[c] */
    return value;
}

TEST(integrals_by_brute_force) {
    static const char *const names[] = {"se", "matern12", "matern32", "matern52", "matern92"};
    static const double tolerance[] = {1e-11, 3e-5, 1e-7, 1e-8, 1e-10};
    const double l[2] = {0.9, 1.6};
    const double sd[2] = {0.5, 0.2};
    const size_t groups[2] = {1, 0};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (int grouped = test_slow() ? 1 : 0; grouped < 2; grouped++) {
            tacet_kernel *kernel = make_kernel(names[k], 2, l, 2, grouped ? groups : NULL, grouped ? 2 : 0);
            tacet__eiv *eiv = NULL;
            assert_ok(tacet__eiv_create(&eiv, tacet_kernel_describe(kernel), sd, 2, NULL));
            for (size_t p = test_slow() ? 3 : 0; p < 4; p++) {
                const double x[2] = {0.3 + (double)p, -0.2};
                const double y[2] = {0.3, 0.3 * (double)p};
                const double delta[2] = {x[0] - y[0], x[1] - y[1]};
                assert_close(between(eiv, x, y), integrate(kernel, delta, sd, 900), tolerance[k]);
            }
            tacet__eiv_free(eiv);
            tacet_kernel_free(kernel);
        }
    }
}

/* With next to no noise the mixture is the Matérn kernel itself. */
TEST(vanishing_noise_gives_the_kernel) {
    static const char *const names[] = {"matern12", "matern32", "matern52", "matern212"};
    const double l = 0.8;
    const double sd = 1e-9;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        tacet_kernel *kernel = make_kernel(names[k], 2, &l, 1, NULL, 0);
        tacet__eiv *eiv = NULL;
        assert_ok(tacet__eiv_create(&eiv, tacet_kernel_describe(kernel), &sd, 1, NULL));
        for (int p = 0; p < 60; p++) {
            const double x[2] = {0.05 * p * p, 0.01 * p};
            const double y[2] = {0, 0};
            assert_close(between(eiv, x, y), tacet_kernel_eval(kernel, x, y), p == 0 ? 1e-8 : 3e-13);
        }
        tacet__eiv_free(eiv);
        tacet_kernel_free(kernel);
    }
}

TEST(shared_distances_change_nothing) {
    const double l[2] = {0.8, 0.8};
    const double sd[2] = {0.3, 0.3};
    tacet_kernel *iso = make_kernel("matern52", 2, l, 1, NULL, 0);
    tacet_kernel *ard = make_kernel("matern52", 2, l, 2, NULL, 0);
    tacet__eiv *a = NULL;
    tacet__eiv *b = NULL;
    assert_ok(tacet__eiv_create(&a, tacet_kernel_describe(iso), sd, 1, NULL));
    assert_ok(tacet__eiv_create(&b, tacet_kernel_describe(ard), sd, 2, NULL));
    for (int p = 0; p < 30; p++) {
        const double x[2] = {0.1 * p, -0.05 * p};
        const double y[2] = {0.4, 0.2};
        assert_close(between(a, x, y), between(b, x, y), 1e-14);
    }
    tacet__eiv_free(a);
    tacet__eiv_free(b);
    tacet_kernel_free(iso);
    tacet_kernel_free(ard);
}

TEST(bad_input) {
    double X[4] = {0, 1, 2, 3};
    const double l = 1;
    const double good = 0.1;
    const double bad[] = {-1, (double)NAN, (double)INFINITY};
    tacet_kernel *se = make_kernel("se", 2, &l, 1, NULL, 0);
    tacet_kernel *linear = make_kernel("linear", 2, &l, 1, NULL, 0);
    tacet_cov *cov = NULL;
    tacet_error err;
    tacet_cov_spec spec = {.kernel = se};
    assert_status(tacet_cov_create(&cov, &spec, X, 2, 0, NULL), TACET_INVALID);
    assert_status(tacet_cov_create(&cov, &spec, X, 1, 2, NULL), TACET_INVALID);
    assert_status(tacet_cov_create(&cov, &spec, NULL, 2, 2, NULL), TACET_INVALID);
    X[3] = NAN;
    tacet_error_clear(&err);
    assert_status(tacet_cov_create(&cov, &spec, X, 2, 2, &err), TACET_INVALID);
    assert_string_equal(err.message, "coordinate 1 of candidate 1 is not finite");
    X[3] = 3;
    for (size_t i = 0; i < 3; i++) {
        spec.input_sd = &bad[i];
        spec.input_sd_count = 1;
        assert_status(tacet_cov_create(&cov, &spec, X, 2, 2, NULL), TACET_INVALID);
    }
    spec.input_sd = &good;
    spec.input_sd_count = 3;
    const double three[3] = {1, 1, 1};
    spec.input_sd = three;
    assert_status(tacet_cov_create(&cov, &spec, X, 2, 2, NULL), TACET_INVALID);
    spec = (tacet_cov_spec){.kernel = linear, .input_sd = &good, .input_sd_count = 1};
    assert_status(tacet_cov_create(&cov, &spec, X, 2, 2, NULL), TACET_UNSUPPORTED);
    spec = (tacet_cov_spec){.kernel = linear};
    X[0] = 1e200; /* its square is not finite */
    assert_status(tacet_cov_create(&cov, &spec, X, 2, 2, NULL), TACET_NUMERIC);
    spec = (tacet_cov_spec){.kernel = NULL};
    assert_status(tacet_cov_create(&cov, &spec, X, 2, 2, NULL), TACET_INVALID);
    assert_null(cov);
    tacet_kernel_free(se);
    tacet_kernel_free(linear);
    /* Numbers of points of a precomputed covariance must be rows of it. */
    const double matrix[4] = {1, 0.5, 0.5, 1};
    tacet_kernel_spec pre;
    tacet_kernel_spec_defaults(&pre);
    pre.kind = TACET_KERNEL_PRECOMPUTED;
    pre.matrix = matrix;
    pre.order = 2;
    pre.ld_matrix = 2;
    tacet_kernel *table = NULL;
    assert_ok(tacet_kernel_create(&table, &pre, NULL));
    spec = (tacet_cov_spec){.kernel = table};
    double rows[3] = {1, 0, 1};
    assert_ok(tacet_cov_create(&cov, &spec, rows, 1, 3, NULL));
    double row[3];
    tacet_cov_row(cov, row, 0, 3, 0);
    assert_close(row[0], 1, 0);
    assert_close(row[1], 0.5, 0);
    assert_close(row[2], 1, 0);
    tacet_cov_free(cov);
    rows[1] = 2;
    assert_status(tacet_cov_create(&cov, &spec, rows, 1, 3, NULL), TACET_INVALID);
    rows[1] = 0.5;
    assert_status(tacet_cov_create(&cov, &spec, rows, 1, 3, NULL), TACET_INVALID);
    tacet_kernel_free(table);
}

TEST(survives_lack_of_memory) {
    const double X[4] = {0, 1, 2, 3};
    const double l = 1;
    const double sd = 0.1;
    tacet_kernel *kernel = make_kernel("matern32", 2, &l, 1, NULL, 0);
    const tacet_cov_spec spec = {.kernel = kernel, .input_sd = &sd, .input_sd_count = 1};
    tacet_cov *cov = NULL;
    assert_each_alloc_fails(tacet_cov_create(&cov, &spec, X, 2, 2, NULL), cov == NULL);
    assert_true(fail_alloc_last() > 8);
    tacet_cov_free(cov);
    tacet_kernel_free(kernel);
}
