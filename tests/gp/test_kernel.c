/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernel.c - covariance functions: closed forms, symmetry, positive semidefiniteness, groups, ARD, precomputed
 * matrices, derivatives by finite differences, bad input, failing allocations. */
#include "support/test.h"

#include "gp/kernel_internal.h"
#include "gp/linalg.h"

#include <tacet/core/simrng.h>

static const char *const NAMES[] = {"se",       "matern12", "matern32",  "matern52",
                                    "matern72", "matern92", "matern212", "linear"};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

static tacet_kernel *make(const char *name, size_t d, const double *l, size_t l_count, const size_t *groups,
                          size_t group_count) {
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    tacet_kernel_spec_defaults(&spec);
    assert_ok(tacet_kernel_parse(&spec, name, NULL));
    spec.d = d;
    spec.signal_var = 1.7;
    spec.lengthscales = l;
    spec.lengthscale_count = l_count;
    spec.groups = groups;
    spec.group_count = group_count;
    assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
    return kernel;
}

static void points(double *X, size_t count, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    for (size_t i = 0; i < count; i++) {
        X[i] = 2 * tacet_simrng_uniform(&rng) - 1;
    }
}

/* Written from the textbook's explicit formulas, in long double and with libm. */
static long double closed_form(const char *name, long double r2, long double dot) {
    const long double r = sqrtl(r2);
    if (strcmp(name, "se") == 0) {
        return expl(-r2 / 2);
    }
    if (strcmp(name, "matern12") == 0) {
        return expl(-r);
    }
    if (strcmp(name, "matern32") == 0) {
        return (1 + sqrtl(3) * r) * expl(-sqrtl(3) * r);
    }
    if (strcmp(name, "matern52") == 0) {
        return (1 + sqrtl(5) * r + 5 * r2 / 3) * expl(-sqrtl(5) * r);
    }
    if (strcmp(name, "matern72") == 0) {
        return (1 + sqrtl(7) * r + 14 * r2 / 5 + 7 * sqrtl(7) * r2 * r / 15) * expl(-sqrtl(7) * r);
    }
    assert_string_equal(name, "linear");
    return dot;
}

TEST(closed_forms) {
    static const char *const known[] = {"se", "matern12", "matern32", "matern52", "matern72", "linear"};
    enum { D = 3, N = 200 };
    const double l[D] = {0.3, 1.1, 2.5};
    double X[D * N];
    points(X, D * N, 3);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        tacet_kernel *kernel = make(known[k], D, l, D, NULL, 0), *isotropic = make(known[k], D, l, 1, NULL, 0);
        for (size_t i = 0; i + 1 < N; i++) {
            const double *x = X + D * i;
            const double *y = x + D;
            for (int one = 0; one < 2; one++) {
                long double r2 = 0;
                long double dot = 0;
                for (size_t c = 0; c < D; c++) {
                    const long double scale = l[one ? 0 : c];
                    r2 += ((long double)x[c] - y[c]) * ((long double)x[c] - y[c]) / scale / scale;
                    dot += (long double)x[c] * y[c] / scale / scale;
                }
                const double expected = (double)(1.7L * closed_form(known[k], r2, dot));
                assert_close(tacet_kernel_eval(one ? isotropic : kernel, x, y), expected, 2e-14 * (1 + fabs(expected)));
            }
        }
        tacet_kernel_free(kernel);
        tacet_kernel_free(isotropic);
    }
}

/* nu = 9/2 and 21/2 have no closed form above: against the Bessel-function form through its half-integer sum. */
TEST(high_order) {
    static const struct {
        const char *name;
        int p;
    } cases[] = {{"matern92", 4}, {"matern112", 5}, {"matern212", 10}};
    const double one = 1;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int p = cases[k].p;
        tacet_kernel *kernel = make(cases[k].name, 1, &one, 1, NULL, 0);
        for (int step = 0; step < 17; step++) {
            const double y = 0.37 * step;
            const double x = 0;
            const double z = sqrt(2 * p + 1) * y;
            double sum = 0;
            for (int i = 0; i <= p; i++) {
                sum += exp(lgamma(p + i + 1) - lgamma(i + 1) - lgamma(p - i + 1)) * pow(2 * z, p - i);
            }
            const double expected = 1.7 * exp(-z + lgamma(p + 1) - lgamma(2 * p + 1)) * sum;
            assert_close(tacet_kernel_eval(kernel, &x, &y), expected, 1e-12);
        }
        tacet_kernel_free(kernel);
    }
}

/* Row, coordinate-major row, matrix, diagonal and value agree bit for bit; symmetric; bounded by the variance. */
TEST(entry_points_agree) {
    enum { D = 4, N = 1300 };
    const double l[D] = {0.5, 1, 0.2, 3};
    const size_t groups[D] = {1, 0, 1, 2};
    static double X[D * N], Xt[D * N], row[N], soa[N], matrix[N * 3], diagonal[N];
    points(X, D * N, 4);
    for (size_t j = 0; j < N; j++) {
        for (size_t c = 0; c < D; c++) {
            Xt[c * N + j] = X[j * D + c];
        }
    }
    for (size_t k = 0; k < NAME_COUNT * 2; k++) {
        const bool additive = k >= NAME_COUNT;
        tacet_kernel *kernel = make(NAMES[k % NAME_COUNT], D, l, D, additive ? groups : NULL, additive ? 3 : 0);
        tacet_kernel_row(kernel, row, X, D, N, X + 7 * D);
        tacet__kernel_row_soa(kernel, soa, Xt, N, N, X + 7 * D);
        tacet_kernel_matrix(kernel, matrix, N, X, D, N, X + 6 * D, D, 3);
        tacet_kernel_diag(kernel, diagonal, X, D, N);
        for (size_t j = 0; j < N; j++) {
            assert_true(row[j] == soa[j]);
            assert_true(row[j] == matrix[N + j]);
            assert_true(row[j] == tacet_kernel_eval(kernel, X + j * D, X + 7 * D));
            assert_true(row[j] == tacet_kernel_eval(kernel, X + 7 * D, X + j * D));
            assert_true(diagonal[j] == tacet_kernel_eval(kernel, X + j * D, X + j * D));
            if (strcmp(NAMES[k % NAME_COUNT], "linear") != 0) {
                assert_true(row[j] >= 0 && row[j] <= 1.7);
                assert_true(diagonal[j] == 1.7);
            }
        }
        tacet_kernel_free(kernel);
    }
}

/* Very near and very far points: bounded by the variance, never NaN. */
TEST(near_and_far) {
    const double l = 1;
    for (size_t k = 0; k + 1 < NAME_COUNT; k++) {
        tacet_kernel *kernel = make(NAMES[k], 1, &l, 1, NULL, 0);
        const double x = 0;
        for (int step = -664; step < 996; step++) {
            const double y = 1.3 * pow(2, step);
            const double value = tacet_kernel_eval(kernel, &x, &y);
            assert_true(value >= 0 && value <= 1.7);
            assert_true(y < 1e4 || value == 0);
            assert_true(y > 1e-9 || value >= 1.7 * (1 - 1e-8));
        }
        const double nan = NAN;
        assert_true(isnan(tacet_kernel_eval(kernel, &x, &nan)));
        tacet_kernel_free(kernel);
    }
}

TEST(matrices_are_psd) {
    enum { D = 3, N = 60 };
    const double l[D] = {0.4, 0.8, 1.5};
    const size_t groups[D] = {0, 1, 1};
    static double X[D * N], K[N * N], w[N];
    points(X, D * N, 5);
    memcpy(X + D, X, D * sizeof *X); /* a repeated point */
    for (size_t k = 0; k < NAME_COUNT * 2; k++) {
        const bool additive = k >= NAME_COUNT;
        tacet_kernel *kernel = make(NAMES[k % NAME_COUNT], D, l, D, additive ? groups : NULL, additive ? 2 : 0);
        tacet_kernel_matrix(kernel, K, N, X, D, N, X, D, N);
        assert_ok(tacet__eigh(K, N, N, w, NULL));
        assert_true(w[0] >= -1e-13 * w[N - 1]);
        assert_true(w[N - 1] > 0);
        tacet_kernel_free(kernel);
    }
}

TEST(groups_are_a_mean) {
    enum { D = 4 };
    const double l[D] = {0.4, 0.8, 1.5, 2};
    const size_t groups[D] = {1, 0, 1, 0};
    const double first[2] = {0.8, 2};
    const double second[2] = {0.4, 1.5};
    double X[2 * D];
    points(X, 2 * D, 6);
    const double x0[2] = {X[1], X[3]}, y0[2] = {X[5], X[7]}, x1[2] = {X[0], X[2]}, y1[2] = {X[4], X[6]};
    for (size_t k = 0; k < NAME_COUNT; k++) {
        tacet_kernel *whole = make(NAMES[k], D, l, D, groups, 2);
        tacet_kernel *a = make(NAMES[k], 2, first, 2, NULL, 0);
        tacet_kernel *b = make(NAMES[k], 2, second, 2, NULL, 0);
        const double mean = 0.5 * (tacet_kernel_eval(a, x0, y0) + tacet_kernel_eval(b, x1, y1));
        assert_close(tacet_kernel_eval(whole, X, X + D), mean, 1e-15 * (1 + fabs(mean)));
        const tacet_kernel_spec *spec = tacet_kernel_describe(whole);
        assert_int_equal(spec->group_count, 2);
        assert_int_equal(spec->groups[2], 1);
        assert_int_equal(tacet_kernel_dim(whole), D);
        assert_true(spec->lengthscales[3] == 2 && spec->lengthscales != l);
        tacet_kernel_free(whole);
        tacet_kernel_free(a);
        tacet_kernel_free(b);
    }
}

/* 1/49 times 49 is not 1 in floating point; k(x, x) must be the signal variance all the same. */
TEST(many_groups) {
    enum { D = 49 };
    size_t groups[D];
    double x[D];
    const double l = 0.5;
    points(x, D, 11);
    for (size_t c = 0; c < D; c++) {
        groups[c] = D - 1 - c;
    }
    tacet_kernel *kernel = make("matern32", D, &l, 1, groups, D);
    assert_true(tacet_kernel_eval(kernel, x, x) == 1.7);
    tacet_kernel_free(kernel);
}

static tacet_status precomputed(tacet_kernel **out, const double *matrix, size_t order, size_t ld, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.kind = TACET_KERNEL_PRECOMPUTED;
    spec.signal_var = 2;
    spec.matrix = matrix;
    spec.order = order;
    spec.ld_matrix = ld;
    return tacet_kernel_create(out, &spec, err);
}

TEST(precomputed_values) {
    /* Rank one, so singular: the eigenvalue check must let it pass. Leading dimension 4. */
    const double A[] = {1, 2, 3, -9, 2, 4, 6, -9, 3, 6, 9, -9};
    tacet_kernel *kernel = NULL;
    assert_ok(precomputed(&kernel, A, 3, 4, NULL));
    const double X[4] = {2, 0, 1, 1};
    const double x = 2;
    double row[4];
    double d[4];
    tacet_kernel_row(kernel, row, X, 1, 4, &x);
    tacet_kernel_diag(kernel, d, X, 1, 4);
    assert_true(row[0] == 18 && row[1] == 6 && row[2] == 12 && row[3] == 12);
    assert_true(d[0] == 18 && d[1] == 2 && d[2] == 8);
    static const double wrong[] = {-1, 3, 0.5, NAN, INFINITY, 1e300};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(isnan(tacet_kernel_eval(kernel, &x, wrong + i)));
        assert_true(isnan(tacet_kernel_eval(kernel, wrong + i, &x)));
    }
    tacet_kernel_free(kernel);
}

TEST(precomputed_refused) {
    tacet_kernel *kernel = NULL;
    tacet_error err = {0};
    const double indefinite[] = {1, 2, 2, 1}; /* eigenvalues 3, -1 */
    assert_status(precomputed(&kernel, indefinite, 2, 2, &err), TACET_NUMERIC);
    assert_non_null(strstr(err.message, "smallest eigenvalue -1"));
    assert_null(kernel);
    tacet_error_clear(&err);
    const double skew[] = {1, 0.5, 0.4, 1};
    assert_status(precomputed(&kernel, skew, 2, 2, &err), TACET_NUMERIC);
    assert_non_null(strstr(err.message, "not symmetric: entries (0, 1) and (1, 0)"));
    tacet_error_clear(&err);
    const double hole[] = {1, NAN, NAN, 1};
    assert_status(precomputed(&kernel, hole, 2, 2, &err), TACET_NUMERIC);
    assert_non_null(strstr(err.message, "entry (1, 0)"));
    const double negative[] = {-1};
    assert_status(precomputed(&kernel, negative, 1, 1, NULL), TACET_NUMERIC);
    assert_status(precomputed(&kernel, NULL, 1, 1, NULL), TACET_INVALID);
    assert_status(precomputed(&kernel, skew, 0, 1, NULL), TACET_INVALID);
    assert_status(precomputed(&kernel, skew, 2, 1, NULL), TACET_INVALID);
    const double zero[] = {0};
    assert_ok(precomputed(&kernel, zero, 1, 1, NULL));
    tacet_kernel_free(kernel);
}

TEST(names) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    assert_ok(tacet_kernel_parse(&spec, "matern192", NULL));
    assert_int_equal(spec.kind, TACET_KERNEL_MATERN);
    assert_int_equal(spec.matern_p, 9);
    assert_ok(tacet_kernel_parse(&spec, "se", NULL));
    assert_int_equal(spec.kind, TACET_KERNEL_SE);
    static const char *const wrong[] = {"",          "SE",       "se ",       "matern",     "matern2",  "matern22",
                                        "matern42",  "matern5",  "matern232", "matern1112", "matern02", "matern-2",
                                        "matern012", "maternx2", "linear2",   "matern1x2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacet_error err = {0};
        assert_status(tacet_kernel_parse(&spec, wrong[i], &err), TACET_INVALID);
        assert_non_null(strstr(err.message, "matern52"));
    }
    assert_status(tacet_kernel_parse(&spec, NULL, NULL), TACET_INVALID);
}

static void refuse(tacet_kernel_spec spec, const char *says) {
    tacet_kernel *kernel = (tacet_kernel *)&spec;
    tacet_error err = {0};
    assert_status(tacet_kernel_create(&kernel, &spec, &err), TACET_INVALID);
    assert_null(kernel);
    if (strstr(err.message, says) == NULL) {
        fail_msg("'%s' does not say '%s'", err.message, says);
    }
}

TEST(bad_input) {
    static const double values[] = {0, -1, NAN, INFINITY, -INFINITY, 1e-310};
    tacet_kernel_spec good;
    tacet_kernel_spec_defaults(&good);
    good.d = 3;
    tacet_kernel_spec spec;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double l[3] = {1, values[i], 1};
        spec = good;
        spec.lengthscales = l;
        spec.lengthscale_count = 3;
        refuse(spec, "lengthscale 1");
        if (i < 5) {
            spec = good;
            spec.signal_var = values[i];
            refuse(spec, "signal variance");
        }
    }
    const size_t out_of_range[3] = {0, 2, 1}, empty[3] = {0, 2, 0};
    const struct {
        size_t d, count;
        tacet_kernel_kind kind;
        const size_t *groups;
        size_t group_count;
        const char *says;
    } wrong[] = {{3, 2, TACET_KERNEL_SE, NULL, 0, "1 or 3 lengthscales expected, 2 given"},
                 {0, 1, TACET_KERNEL_SE, NULL, 0, "coordinate"},
                 {3, 1, (tacet_kernel_kind)9, NULL, 0, "kind"},
                 {3, 1, TACET_KERNEL_MATERN, NULL, 0, "11"},
                 {3, 1, TACET_KERNEL_SE, out_of_range, 2, "group 2 of 2"},
                 {3, 1, TACET_KERNEL_SE, empty, 3, "group 1 is empty"},
                 {3, 1, TACET_KERNEL_SE, empty, 0, "groups"},
                 {3, 1, TACET_KERNEL_SE, empty, 4, "4 groups for 3"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        spec = good;
        spec.d = wrong[i].d;
        spec.lengthscale_count = wrong[i].count;
        spec.kind = wrong[i].kind;
        spec.matern_p = 11;
        spec.groups = wrong[i].groups;
        spec.group_count = wrong[i].group_count;
        refuse(spec, wrong[i].says);
    }
    spec = good;
    spec.lengthscales = NULL;
    refuse(spec, "lengthscales");
    assert_status(tacet_kernel_create(NULL, &good, NULL), TACET_INVALID);
    tacet_kernel *kernel = NULL;
    assert_status(tacet_kernel_create(&kernel, NULL, NULL), TACET_INVALID);
    tacet_kernel_free(NULL);
}

TEST(gradient_by_point) {
    enum { D = 3, N = 600 };
    const double h = 1e-5;
    const double l[D] = {0.9, 0.6, 1.3};
    const size_t groups[D] = {0, 1, 0};
    static double X[D * N], slope[D * N], up[N], down[N];
    points(X, D * N, 10);
    for (size_t k = 0; k < NAME_COUNT * 2; k++) {
        const bool additive = k >= NAME_COUNT;
        tacet_kernel *kernel = make(NAMES[k % NAME_COUNT], D, l, D, additive ? groups : NULL, additive ? 2 : 0);
        const double x[D] = {0.11, -0.23, 0.37};
        tacet__kernel_row_dx(kernel, slope, N, X, D, N, x);
        for (size_t c = 0; c < D; c++) {
            double a[D] = {x[0], x[1], x[2]};
            double b[D] = {x[0], x[1], x[2]};
            a[c] += h;
            b[c] -= h;
            tacet_kernel_row(kernel, up, X, D, N, a);
            tacet_kernel_row(kernel, down, X, D, N, b);
            for (size_t j = 0; j < N; j++) {
                /* The additive Matérn 1/2 has a kink in one coordinate: no difference quotient across it. */
                if (!(strcmp(NAMES[k % NAME_COUNT], "matern12") == 0 && fabs(X[j * D + c] - x[c]) < 0.05)) {
                    assert_close(slope[c * N + j], (up[j] - down[j]) / (2 * h), 1e-7);
                }
            }
        }
        tacet_kernel_free(kernel);
    }
}

TEST(failing_allocations) {
    const double l[2] = {1, 2};
    const size_t groups[2] = {0, 1};
    const double singular[] = {1, 1, 1, 1};
    for (int kind = 0; kind < 2; kind++) {
        tacet_kernel_spec spec;
        tacet_kernel_spec_defaults(&spec);
        if (kind == 0) {
            spec.d = 2;
            spec.lengthscales = l;
            spec.lengthscale_count = 2;
            spec.groups = groups;
            spec.group_count = 2;
        } else {
            spec.kind = TACET_KERNEL_PRECOMPUTED;
            spec.matrix = singular;
            spec.order = 2;
            spec.ld_matrix = 2;
        }
        tacet_kernel *kernel = NULL;
        assert_each_alloc_fails(tacet_kernel_create(&kernel, &spec, NULL), kernel == NULL);
        assert_true(fail_alloc_last() > 4);
        tacet_kernel_free(kernel);
    }
}
