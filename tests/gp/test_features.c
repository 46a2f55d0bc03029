/* SPDX-License-Identifier: Apache-2.0 */
/* test_features.c - feature maps against the kernels they approximate: Nyström and Mercer identities, norms,
 * derivatives, bad input, failing allocations. */
#include "gp/kernel_internal.h"
#include "gp/features_internal.h"
#include "feature_checks.h"

/* |phi|^2 <= k(x, x) on and off the domain. */
static void check_bounded(const tacet_features *f, double lower, double upper) {
    enum { N = 500 };
    const size_t d = tacet_features_inputs(f);
    const size_t m = tacet_features_dim(f);
    OWN_MEMORY double *X = malloc(d * N * sizeof *X);
    OWN_MEMORY double *phi = malloc(m * N * sizeof *phi);
    uniform(X, d * N, lower, upper, 70);
    tacet_features_eval(f, phi, X, d, N);
    for (size_t j = 0; j < N; j++) {
        double k = 0;
        tacet_kernel_diag(tacet_features_kernel(f), &k, X + j * d, d, 1);
        const double norm2 = tacet__dot(phi + j * m, phi + j * m, m);
        assert_true(norm2 <= k * (1 + 1e-15));
        assert_true(k <= tacet_features_norm2_bound(f));
    }
}

TEST(nystrom) {
    static const char *const names[] = {"se", "matern12", "matern52", "linear"};
    enum { D = 2, N = 90 };
    double Z[D * N];
    uniform(Z, D * N, -1, 1, 80);
    memcpy(Z + D, Z, D * sizeof *Z); /* a landmark twice: the matrix is singular */
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        tacet_kernel *kernel = make_kernel(names[k], D, 0.8, 1.3, NULL, 0);
        tacet_features *f = NULL;
        assert_ok(tacet_features_create_nystrom(&f, kernel, Z, D, N, 0, NULL));
        const size_t m = tacet_features_dim(f);
        assert_true(m < N);
        assert_true(strcmp(names[k], "linear") != 0 || m == 2);
        assert_true(strcmp(names[k], "matern12") != 0 || m == N - 1);
        assert_true(worst_error(f, Z, N) < 3e-8); /* N times the cut-off at the most */
        const double *lam = tacet_features_eigenvalues(f);
        for (size_t i = 1; i < m; i++) {
            assert_true(lam[i] <= lam[i - 1] && lam[i] > 1e-10 * lam[0]);
        }
        check_bounded(f, -2, 2);
        tacet_features_free(f);
        assert_ok(tacet_features_create_nystrom(&f, kernel, Z, D, N, 2, NULL));
        assert_int_equal(tacet_features_dim(f), 2);
        check_bounded(f, -2, 2);
        tacet_features_free(f);
        tacet_kernel_free(kernel);
    }
}

/* Where no eigenvalue is dropped, the projection loses nothing at the landmarks: only the cap keeps rounding (some
 * 1e-14 here) from exceeding k(x, x). */
TEST(norm_at_landmarks) {
    enum { N = 200 };
    static const double lengthscales[] = {0.05, 0.4, 1.3};
    double Z[N];
    static double phi[N * N];
    uniform(Z, N, -1, 1, 83);
    for (size_t k = 0; k < 3; k++) {
        tacet_kernel *kernel = make_kernel("matern12", 1, lengthscales[k], 1, NULL, 0);
        tacet_features *f = NULL;
        assert_ok(tacet_features_create_nystrom(&f, kernel, Z, 1, N, 0, NULL));
        const size_t m = tacet_features_dim(f);
        tacet_features_eval(f, phi, Z, 1, N);
        for (size_t j = 0; j < N; j++) {
            const double norm2 = tacet__dot(phi + j * m, phi + j * m, m);
            assert_true(norm2 <= 1 + 1e-15 && norm2 > 1 - 1e-12);
        }
        tacet_features_free(f);
        tacet_kernel_free(kernel);
    }
}

/* Off the landmarks: phi(x)'phi(y) = k_Z(x)' K^-1 k_Z(y), by a Cholesky factor. */
TEST(nystrom_against_solve) {
    enum { D = 2, N = 40, P = 20 };
    double Z[D * N];
    double X[D * P];
    static double K[N * N], C[N * P], phi[N * P];
    uniform(Z, D * N, -1, 1, 81);
    uniform(X, D * P, -1.5, 1.5, 82);
    tacet_kernel *kernel = make_kernel("matern32", D, 0.5, 1, NULL, 0);
    tacet_features *f = NULL;
    assert_ok(tacet_features_create_nystrom(&f, kernel, Z, D, N, 0, NULL));
    assert_int_equal(tacet_features_dim(f), N);
    tacet_features_eval(f, phi, X, D, P);
    tacet_kernel_matrix(kernel, K, N, Z, D, N, Z, D, N);
    tacet_kernel_matrix(kernel, C, N, Z, D, N, X, D, P);
    assert_ok(tacet__cholesky(K, N, N, NULL, NULL, NULL));
    tacet__trsm(false, N, P, K, N, C, N);
    for (size_t i = 0; i < P; i++) {
        for (size_t j = 0; j < P; j++) {
            assert_close(tacet__dot(phi + i * N, phi + j * N, N), tacet__dot(C + i * N, C + j * N, N), 1e-11);
        }
    }
    tacet_features_free(f);
    tacet_kernel_free(kernel);
}

TEST(nystrom_precomputed) {
    const double A[] = {2, 1, 1, 1, 3, 0.5, 1, 0.5, 1};
    const double Z[] = {0, 1, 2};
    double phi[9];
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    tacet_features *f = NULL;
    tacet_kernel_spec_defaults(&spec);
    spec.kind = TACET_KERNEL_PRECOMPUTED;
    spec.matrix = A;
    spec.order = 3;
    spec.ld_matrix = 3;
    assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
    assert_ok(tacet_features_create_nystrom(&f, kernel, Z, 1, 3, 0, NULL));
    tacet_features_eval(f, phi, Z, 1, 3);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            assert_close(tacet__dot(phi + 3 * i, phi + 3 * j, 3), A[3 * i + j], 1e-14);
        }
    }
    assert_true(tacet_features_norm2_bound(f) == 3);
    tacet_features_free(f);
    const double wrong[] = {0, 7};
    assert_status(tacet_features_create_nystrom(&f, kernel, wrong, 1, 2, 0, NULL), TACET_INVALID);
    assert_null(f);
    tacet_kernel_free(kernel);
}

/* The ball of radius 2 with lengthscale 1 (section 6.1 of the joint-privacy paper). Reference: 0.044 and 0.0047 from an
 * independent implementation on its own grid; the supremum lies on the boundary. */
TEST(mercer_of_the_ball) {
    enum { N = 400 };
    double X[2 * N];
    tacet_kernel *kernel = make_kernel("se", 2, 1, 1, NULL, 0);
    tacet_domain ball = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};
    tacet_simrng rng = test_rng(90, 0);
    for (size_t j = 0; j < N; j++) {
        const double r = j < 80 ? 2 : 2 * sqrt(tacet_simrng_uniform(&rng));
        const double angle = 2 * PI * tacet_simrng_uniform(&rng);
        X[2 * j] = r * cos(angle);
        X[2 * j + 1] = r * sin(angle);
    }
    static const size_t dims[2] = {15, 25};
    static const double reference[2] = {0.044, 0.0047};
    for (size_t k = 0; k < 2; k++) {
        tacet_features *f = NULL;
        assert_ok(tacet_features_create_mercer(&f, kernel, &ball, 20, dims[k], NULL));
        assert_int_equal(tacet_features_dim(f), dims[k]);
        const double worst = worst_error(f, X, N);
        print_message("Mercer, %zu features of the ball: error %.4f\n", dims[k], worst);
        assert_true(worst > 0.5 * reference[k] && worst < 1.5 * reference[k]);
        check_bounded(f, -3, 3);
        tacet_features_free(f);
    }
    tacet_kernel_free(kernel);
}

/* E phi phi' = diag(lam) under the law: exactly on the nodes, and to quadrature error under a finer rule; the sum of
 * all eigenvalues is E k(x, x) = signal_var. */
TEST(mercer_second_moment) {
    enum { ORDER = 20, FINE = 29, COUNT = FINE * FINE };
    const double lower[2] = {0, -1};
    const double upper[2] = {1, 2};
    static double X[2 * COUNT], w[COUNT];
    tacet_kernel *kernel = make_kernel("se", 2, 0.5, 1.4, NULL, 0);
    const tacet_domain box = {.kind = TACET_DOMAIN_BOX, .d = 2, .lower = lower, .upper = upper};
    tacet_features *f = NULL;
    assert_ok(tacet_features_create_mercer(&f, kernel, &box, ORDER, 0, NULL));
    const size_t m = tacet_features_dim(f);
    const double *lam = tacet_features_eigenvalues(f);
    double sum = 0;
    for (size_t i = 0; i < m; i++) {
        sum += lam[i];
    }
    assert_close(sum, 1.4, 1e-8);
    double *phi = malloc((m + 1) * COUNT * sizeof *phi);
    static const size_t rules[2] = {ORDER, FINE};
    static const double slack[2] = {1e-9, 1e-8};
    for (size_t k = 0; k < 2; k++) {
        const size_t count = rules[k] * rules[k];
        assert_ok(tacet__quadrature_box(X, w, 2, rules[k], lower, upper, NULL));
        tacet_features_eval(f, phi, X, 2, count);
        for (size_t i = 0; i < 30; i++) {
            for (size_t j = 0; j <= i; j++) {
                double e = 0;
                for (size_t p = 0; p < count; p++) {
                    e += w[p] * phi[p * m + i] * phi[p * m + j];
                }
                assert_close(e, i == j ? lam[i] : 0, slack[k]);
            }
        }
    }
    free(phi);
    tacet_features_free(f);
    tacet_kernel_free(kernel);
}

/* exp(-c|x - y|) on [-1, 1] under the uniform law: lam = c/(w^2 + c^2), w the roots of c = w tan w and w = -c tan w in
 * turn. The kernel has a kink, so quadrature converges like 1/order^2. */
TEST(mercer_exponential_kernel) {
    const double c = 1;
    const double lower = -1;
    const double upper = 1;
    tacet_kernel *kernel = make_kernel("matern12", 1, 1 / c, 1, NULL, 0);
    const tacet_domain box = {.kind = TACET_DOMAIN_BOX, .d = 1, .lower = &lower, .upper = &upper};
    tacet_features *f = NULL;
    assert_ok(tacet_features_create_mercer(&f, kernel, &box, 200, 6, NULL));
    const double *lam = tacet_features_eigenvalues(f);
    for (size_t i = 0; i < 6; i++) {
        /* Root i lies in (i pi/2, (i + 1) pi/2); bisection of the sign-definite form. */
        double a = (double)i * PI / 2;
        double b = (double)(i + 1) * PI / 2;
        const double sign = i / 2 % 2 == 0 ? 1 : -1;
        for (int step = 0; step < 200; step++) {
            const double w = 0.5 * (a + b);
            const double value = sign * (i % 2 == 0 ? w * sin(w) - c * cos(w) : -(w * cos(w) + c * sin(w)));
            if (value > 0) {
                b = w;
            } else {
                a = w;
            }
        }
        assert_close(lam[i], c / (a * a + c * c), 2e-4);
    }
    tacet_features_free(f);
    tacet_kernel_free(kernel);
}

/* A finite law with weights: repeating a point is the same as doubling its weight. */
TEST(mercer_points) {
    const double X[] = {0, 0.3, 1.1, 1.1};
    const double weights[] = {3, 3, 6};
    const double probes[] = {-0.4, 0.1, 0.7, 1.5};
    tacet_kernel *kernel = make_kernel("matern52", 1, 0.7, 1, NULL, 0);
    tacet_features *a = NULL;
    tacet_features *b = NULL;
    double p[12];
    double q[12];
    assert_ok(tacet_features_create_mercer_points(&a, kernel, X, 1, weights, 3, 0, NULL));
    assert_ok(tacet_features_create_mercer_points(&b, kernel, X, 1, NULL, 4, 0, NULL));
    assert_int_equal(tacet_features_dim(a), 3);
    assert_int_equal(tacet_features_dim(b), 3);
    tacet_features_eval(a, p, probes, 1, 4);
    tacet_features_eval(b, q, probes, 1, 4);
    double sum = 0;
    for (size_t i = 0; i < 3; i++) {
        assert_close(tacet_features_eigenvalues(a)[i], tacet_features_eigenvalues(b)[i], 1e-14);
        sum += tacet_features_eigenvalues(a)[i];
    }
    assert_close(sum, 1, 1e-14);
    for (size_t i = 0; i < 12; i++) {
        assert_close(fabs(p[i]), fabs(q[i]), 1e-12); /* the sign of an eigenvector is a convention */
    }
    tacet_features_free(a);
    tacet_features_free(b);
    tacet_kernel_free(kernel);
}

TEST(mercer_additive) {
    enum { D = 6, N = 50 };
    const size_t groups[D] = {0, 1, 2, 2, 1, 0};
    const double lower[D] = {0, 0, 0, 0, 0, 0};
    const double upper[D] = {1, 1, 1, 1, 1, 2};
    static double X[D * N];
    uniform(X, D * N, 0, 1, 95);
    tacet_kernel *kernel = make_kernel("se", D, 0.7, 1, groups, 3);
    const tacet_domain box = {.kind = TACET_DOMAIN_BOX, .d = D, .lower = lower, .upper = upper};
    const tacet_domain ball = {.kind = TACET_DOMAIN_BALL, .d = D, .radius = 1.5};
    tacet_features *f = NULL;
    assert_ok(tacet_features_create_mercer(&f, kernel, &box, 12, 0, NULL));
    assert_true(worst_error(f, X, N) < 1e-7);
    check_bounded(f, -1, 2);
    const size_t all = tacet_features_dim(f);
    tacet_features_free(f);
    assert_ok(tacet_features_create_mercer(&f, kernel, &box, 12, 40, NULL));
    assert_int_equal(tacet_features_dim(f), 40);
    assert_true(all > 40);
    const double some = worst_error(f, X, N);
    assert_true(some < 0.02 && some > 1e-7);
    check_bounded(f, -1, 2);
    tacet_features_free(f);
    assert_ok(tacet_features_create_mercer(&f, kernel, &ball, 14, 0, NULL));
    assert_true(worst_error(f, X, N) < 1e-6);
    tacet_features_free(f);
    tacet_kernel_free(kernel);
}

/* One point at a time or all at once; 600 nodes make several tiles. */
TEST(batches_agree) {
    enum { N = 70 };
    const double lower[2] = {0, 0};
    const double upper[2] = {1, 1};
    const tacet_domain box = {.kind = TACET_DOMAIN_BOX, .d = 2, .lower = lower, .upper = upper};
    double X[3 * N];
    uniform(X, 3 * N, 0, 1, 96);
    tacet_kernel *kernel = make_kernel("se", 2, 0.4, 1, NULL, 0);
    tacet_features *f = NULL;
    assert_ok(tacet_features_create_mercer(&f, kernel, &box, 24, 50, NULL));
    double *phi = malloc(50 * N * sizeof *phi);
    tacet_features_eval(f, phi, X, 3, N); /* leading dimension 3 */
    for (size_t j = 0; j < N; j++) {
        double one[50];
        tacet_features_eval(f, one, X + 3 * j, 3, 1);
        for (size_t i = 0; i < 50; i++) {
            assert_close(one[i], phi[j * 50 + i], 1e-11); /* rounding over the root of an eigenvalue */
        }
    }
    free(phi);
    tacet_features_free(f);
    tacet_kernel_free(kernel);
}

TEST(bad_input) {
    tacet_kernel *se = make_kernel("se", 3, 1, 1, NULL, 0);
    tacet_kernel *matern = make_kernel("matern32", 3, 1, 1, NULL, 0);
    tacet_features *f = (tacet_features *)se;
    const double Z[3] = {0, NAN, 1};
    const double good[3] = {0, 0, 0};
    const double high[3] = {1, 0, 1};
    double weights[1] = {0};
    assert_status(tacet_features_create_qff(&f, se, 0, NULL), TACET_INVALID);
    assert_null(f);
    assert_status(tacet_features_create_qff(&f, se, 65, NULL), TACET_INVALID);
    assert_status(tacet_features_create_qff(&f, NULL, 4, NULL), TACET_INVALID);
    assert_status(tacet_features_create_qff(NULL, se, 4, NULL), TACET_INVALID);
    assert_status(tacet_features_create_qff(&f, matern, 4, NULL), TACET_UNSUPPORTED);
    tacet_kernel *wide = make_kernel("se", 40, 1, 1, NULL, 0);
    assert_status(tacet_features_create_qff(&f, wide, 8, NULL), TACET_OVERFLOW);
    assert_null(f);
    tacet_kernel_free(wide);
    assert_status(tacet_features_create_nystrom(&f, se, Z, 3, 1, 0, NULL), TACET_INVALID);
    assert_status(tacet_features_create_nystrom(&f, se, good, 3, 0, 0, NULL), TACET_INVALID);
    assert_status(tacet_features_create_nystrom(&f, se, good, 2, 1, 0, NULL), TACET_INVALID);
    assert_status(tacet_features_create_nystrom(&f, se, NULL, 3, 1, 0, NULL), TACET_INVALID);
    assert_status(tacet_features_create_mercer_points(&f, se, good, 3, weights, 1, 0, NULL), TACET_INVALID);
    weights[0] = NAN;
    assert_status(tacet_features_create_mercer_points(&f, se, good, 3, weights, 1, 0, NULL), TACET_INVALID);
    tacet_domain domain = {.kind = TACET_DOMAIN_BOX, .d = 3, .lower = good, .upper = high};
    assert_status(tacet_features_create_mercer(&f, se, &domain, 4, 0, NULL), TACET_INVALID); /* an empty side */
    domain.upper = NULL;
    assert_status(tacet_features_create_mercer(&f, se, &domain, 4, 0, NULL), TACET_INVALID);
    domain = (tacet_domain){.kind = TACET_DOMAIN_BALL, .d = 3, .radius = 0};
    assert_status(tacet_features_create_mercer(&f, se, &domain, 4, 0, NULL), TACET_INVALID);
    domain.radius = NAN;
    assert_status(tacet_features_create_mercer(&f, se, &domain, 4, 0, NULL), TACET_INVALID);
    domain.radius = 1;
    domain.centre = Z;
    assert_status(tacet_features_create_mercer(&f, se, &domain, 4, 0, NULL), TACET_INVALID);
    domain.centre = NULL;
    assert_status(tacet_features_create_mercer(&f, se, &domain, 22, 0, NULL), TACET_INVALID); /* 22^3 > 10,000 */
    assert_status(tacet_features_create_mercer(&f, se, &domain, 0, 0, NULL), TACET_INVALID);
    domain.d = 2;
    assert_status(tacet_features_create_mercer(&f, se, &domain, 4, 0, NULL), TACET_INVALID);
    /* A linear kernel at the origin is 0: there is nothing to span. */
    tacet_kernel *linear = make_kernel("linear", 3, 1, 1, NULL, 0);
    assert_status(tacet_features_create_nystrom(&f, linear, good, 3, 1, 0, NULL), TACET_NUMERIC);
    assert_null(f);
    tacet_kernel_free(linear);
    tacet_features_free(NULL);
    tacet_kernel_free(se);
    tacet_kernel_free(matern);
}

static tacet_status made(tacet_features **out, const tacet_kernel *kernel, int kind) {
    const double Z[6] = {0, 0, 0, 1, 0.5, 0.2}, weights[2] = {1, 2};
    const tacet_domain ball = {.kind = TACET_DOMAIN_BALL, .d = 3, .radius = 1};
    return kind == 0   ? tacet_features_create_qff(out, kernel, 3, NULL)
           : kind == 1 ? tacet_features_create_nystrom(out, kernel, Z, 3, 2, 0, NULL)
           : kind == 2 ? tacet_features_create_mercer(out, kernel, &ball, 3, 0, NULL)
                       : tacet_features_create_mercer_points(out, kernel, Z, 3, weights, 2, 0, NULL);
}

TEST(failing_allocations) {
    const size_t groups[3] = {0, 1, 0};
    tacet_kernel *kernel = make_kernel("se", 3, 1, 1, groups, 2);
    for (int kind = 0; kind < 4; kind++) {
        tacet_features *f = NULL;
        assert_each_alloc_fails(made(&f, kernel, kind), f == NULL);
        tacet_features_free(f);
    }
    tacet_kernel_free(kernel);
}
