/* test_usca.c - the public half of USCA: space, features against eqs (4) and (5), certificates, plans. */
#include "support/test.h"

#include "base/linalg.h"
#include "base/usca_internal.h"

#include <tacet/base/simrng.h>

static double uniform(tacet_simrng *rng, double low, double high) {
    return low + (high - low) * tacet_simrng_uniform(rng);
}

static tacet_usca_basis *basis_of(tacet_kernel_kind kind, unsigned p, size_t actions, size_t contexts, double l,
                                  size_t order, size_t most) {
    static const double LOWER[4] = {0, 0, 0, 0};
    static const double UPPER[4] = {1, 1, 1, 1};
    tacet_usca_space space;
    tacet_usca_basis *basis = NULL;
    tacet_usca_space_defaults(&space);
    space.kind = kind;
    space.matern_p = p;
    space.action_dim = actions;
    space.context_dim = contexts;
    space.lower = LOWER;
    space.upper = UPPER;
    space.lengthscales = &l;
    space.order = order;
    assert_ok(tacet_usca_basis_create(&basis, &space, most, NULL));
    return basis;
}

/* The features' second moment under the law is diag(lam), checked by plain Monte Carlo; bounds in other units change
 * nothing. */
static void test_moments(void **state) {
    (void)state;
    tacet_usca_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 0.4, 0, 8);
    enum { N = 40000, M = 8 };
    double sum[M * M] = {0};
    tacet_simrng rng;
    tacet_simrng_init(&rng, 5, 0);
    assert_int_equal(tacet_usca_basis_dim(basis), M);
    for (size_t i = 0; i < N; i++) {
        double phi[M];
        const double w[2] = {tacet_simrng_uniform(&rng), tacet_simrng_uniform(&rng)};
        tacet_features_eval(basis->features, phi, w, 2, 1);
        for (size_t a = 0; a < M; a++) {
            for (size_t b = 0; b < M; b++) {
                sum[a * M + b] += phi[a] * phi[b] / N;
            }
        }
    }
    /* |phi_a phi_b| <= 1: a standard error of at most 1/200; five of them, 64 comparisons: false alarm below 1e-4. */
    for (size_t a = 0; a < M; a++) {
        for (size_t b = 0; b < M; b++) {
            assert_close(sum[a * M + b], a == b ? tacet_usca_basis_eigenvalues(basis)[a] : 0, 0.025);
        }
    }
    const double lower[2] = {-3, 100};
    const double upper[2] = {5, 300};
    const double l[2] = {0.4 * 8, 0.4 * 200};
    tacet_usca_space space;
    tacet_usca_basis *other = NULL;
    tacet_usca_space_defaults(&space);
    space.lower = lower;
    space.upper = upper;
    space.lengthscales = l;
    space.lengthscale_count = 2;
    assert_ok(tacet_usca_basis_create(&other, &space, M, NULL));
    for (size_t a = 0; a < M; a++) {
        assert_close(tacet_usca_basis_eigenvalues(other)[a], tacet_usca_basis_eigenvalues(basis)[a], 1e-12);
    }
    const double inside[2] = {-3, 300};
    const double out1[2] = {5.01, 200};
    const double out2[2] = {0, (double)NAN};
    double unit[2];
    assert_int_equal(tacet_usca_basis_outside(other, inside), 0);
    assert_int_equal(tacet_usca_basis_outside(other, out1), 1);
    assert_int_equal(tacet_usca_basis_outside(other, out2), 2);
    tacet__usca_unit(other, unit, out1);
    assert_true(unit[0] == 1 && unit[1] == 0.5);
    tacet__usca_unit(other, unit, out2);
    assert_true(unit[1] == 0.5);
    tacet_usca_basis_free(other);
    tacet_usca_basis_free(basis);
}

/* On the same random approximating set the feature form is eqs (4) and (5). Written out here from the features alone:
 * Z~ = 1/K sum phi phi' + tau I, mu = phi' Z~^-1 Phi y, sigma^2 = phi' Z~^-1 phi. */
static void test_equals_dense(void **state) {
    (void)state;
    enum { T = 100, D = 2 };
    /* A lengthscale at which the features above the cut-off are all there are to this precision. */
    tacet_usca_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 1.0, 24, 0);
    const tacet_kernel *kernel = tacet_features_kernel(basis->features);
    const double tau = 10; /* what the features cut off, 1e-10 of the kernel, is divided by it */
    const size_t K = (size_t)ceil(T / tacet__usca_gain(basis, T, tau));
    const size_t count = T * K;
    const size_t m = tacet_usca_basis_dim(basis);
    tacet_simrng rng;
    tacet_simrng_init(&rng, 11, 0);
    double *W = malloc(D * T * sizeof *W);
    double *y = malloc(T * sizeof *y);
    double *P = malloc(D * count * sizeof *P);
    double *phi = malloc(m * count * sizeof *phi);
    double *Z = calloc(m * m, sizeof *Z);
    double *b = calloc(m, sizeof *b);
    double *u = malloc(m * sizeof *u);
    assert_true(K >= 2);
    for (size_t i = 0; i < D * T; i++) {
        W[i] = tacet_simrng_uniform(&rng);
    }
    for (size_t i = 0; i < T; i++) {
        y[i] = uniform(&rng, -1, 1);
    }
    for (size_t i = 0; i < D * count; i++) {
        P[i] = tacet_simrng_uniform(&rng);
    }
    tacet__usca_dense *dense = NULL;
    assert_ok(tacet__usca_dense_create(&dense, kernel, W, y, T, P, count, (double)K, tau, NULL));
    tacet_features_eval(basis->features, phi, P, D, count);
    for (size_t j = 0; j < count; j++) {
        for (size_t a = 0; a < m; a++) {
            for (size_t c = 0; c < m; c++) {
                Z[c * m + a] += phi[j * m + a] * phi[j * m + c] / (double)K;
            }
        }
    }
    for (size_t a = 0; a < m; a++) {
        Z[a * m + a] += tau;
    }
    assert_ok(tacet__cholesky(Z, m, m, NULL, NULL, NULL));
    tacet_features_eval(basis->features, phi, W, D, T);
    for (size_t j = 0; j < T; j++) {
        tacet__axpy(b, y[j], phi + j * m, m);
    }
    tacet__trsv(false, m, Z, m, b);
    const tacet__lever lever = {
        .features = basis->features, .L = Z, .tau = tau, .d = D, .lengthscale = basis->unit_lengthscale};
    double sup = 0;
    for (size_t i = 0; i < 200; i++) {
        double mu = 0;
        double sigma2 = 0;
        const double w[D] = {tacet_simrng_uniform(&rng), tacet_simrng_uniform(&rng)};
        tacet__usca_dense_eval(dense, &mu, &sigma2, w);
        tacet_features_eval(basis->features, u, w, D, 1);
        tacet__lever_apply(&lever, u, 1);
        assert_close(tacet__dot(u, b, m), mu, 1e-9);
        assert_close(tacet__dot(u, u, m), sigma2, 1e-9);
        sup = fmax(sup, sigma2);
    }
    /* The certificate holds for this operator too. */
    tacet_usca_certificate certificate;
    assert_ok(tacet__lever_certify(&certificate, &lever, NULL, 0, 0.005, 100000, NULL));
    assert_true(certificate.upper * certificate.upper >= sup);
    tacet__usca_dense_free(dense);
    assert_status(tacet__usca_dense_create(&dense, kernel, W, y, T, P, count, 0, tau, NULL), TACET_INVALID);
    assert_null(dense);
    free(W);
    free(y);
    free(P);
    free(phi);
    free(Z);
    free(b);
    free(u);
    tacet_usca_basis_free(basis);
}

typedef struct target {
    const tacet__lever *lever;
    const double *U;
    size_t n;
} target;

static double value(const target *t, const double *w) {
    double u[TACET_USCA_FEATURES_MOST];
    const size_t m = t->lever->features->m;
    tacet_features_eval(t->lever->features, u, w, t->lever->d, 1);
    tacet__lever_apply(t->lever, u, 1);
    if (t->U == NULL) {
        return tacet__norm2(u, m);
    }
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < t->n; i++) {
        const double g = tacet__dot(t->U + i * m, u, m);
        low = fmin(low, g);
        high = fmax(high, g);
    }
    return high - low;
}

/* A search that knows nothing of cells: corners and the best of random points, then shrinking coordinate steps. */
static double optimise(const target *t, tacet_simrng *rng) {
    const size_t d = t->lever->d;
    double best = 0;
    for (unsigned start = 0; start < (1U << d) + 4; start++) {
        double w[4];
        for (size_t c = 0; c < d; c++) {
            w[c] = start < 1U << d ? (double)(start >> c & 1U) : tacet_simrng_uniform(rng);
        }
        double at = value(t, w);
        for (int draw = 0; draw < 60 && start >= 1U << d; draw++) {
            double v[4];
            for (size_t c = 0; c < d; c++) {
                v[c] = tacet_simrng_uniform(rng);
            }
            const double next = value(t, v);
            if (next > at) {
                at = next;
                memcpy(w, v, sizeof v);
            }
        }
        for (double step = 0.2; step > 1e-4; step *= 0.5) {
            for (size_t c = 0; c < d; c++) {
                for (int sign = -1; sign <= 1; sign += 2) {
                    double v[4];
                    memcpy(v, w, sizeof v);
                    v[c] = fmin(fmax(v[c] + sign * step, 0), 1);
                    const double next = value(t, v);
                    if (next > at) {
                        at = next;
                        memcpy(w, v, sizeof v);
                    }
                }
            }
        }
        best = fmax(best, at);
    }
    return best;
}

/* No point an optimiser finds exceeds a certificate: 100 random configurations, norms and ranges by turns. */
static void test_certificates(void **state) {
    (void)state;
    tacet_simrng rng;
    size_t tight = 0;
    tacet_simrng_init(&rng, 21, 0);
    for (int trial = 0; trial < 100; trial++) {
        const int kernel = trial % 3;
        const size_t d = 1 + (size_t)(trial / 3) % 3;
        static const size_t ORDER[4] = {0, 32, 10, 6};
        tacet_usca_basis *basis = basis_of(kernel == 0 ? TACET_KERNEL_SE : TACET_KERNEL_MATERN, kernel == 1 ? 2 : 1, 1,
                                           d - 1, uniform(&rng, 0.4, 1.5), ORDER[d], trial % 4 == 0 ? 0 : 40);
        const size_t m = tacet_usca_basis_dim(basis);
        const double T = pow(10, uniform(&rng, 1, 5));
        const double tau = pow(10, uniform(&rng, 0, 2));
        double inverse_root[TACET_USCA_FEATURES_MOST];
        double U[5 * TACET_USCA_FEATURES_MOST];
        for (size_t j = 0; j < m; j++) {
            inverse_root[j] = 1 / sqrt(T * tacet_usca_basis_eigenvalues(basis)[j] + tau);
        }
        const tacet__lever lever = {.features = basis->features,
                                    .inverse_root = inverse_root,
                                    .tau = tau,
                                    .d = d,
                                    .lengthscale = basis->unit_lengthscale};
        const double c[3] = {0, tacet_simrng_uniform(&rng), tacet_simrng_uniform(&rng)};
        for (size_t i = 0; i < 5; i++) {
            const double w[3] = {(double)i / 4, c[1], c[2]};
            tacet_features_eval(basis->features, U + i * m, w, d, 1);
        }
        tacet__lever_apply(&lever, U, 5);
        const target t = {.lever = &lever, .U = trial % 2 == 0 ? NULL : U, .n = 5};
        tacet_usca_certificate certificate;
        assert_ok(tacet__lever_certify(&certificate, &lever, t.U, t.n, 0.02, 5000, NULL));
        const double found = optimise(&t, &rng);
        assert_true(found <= certificate.upper);
        assert_true(certificate.found <= certificate.upper);
        tight += certificate.upper <= 1.021 * certificate.found ? 1 : 0;
        /* The trivial bound is worse or equal; and the optimiser is no worse than what the search saw. */
        assert_true(t.U != NULL || certificate.upper <= 1.03 / sqrt(tau));
        assert_true(found >= 0.97 * certificate.found);
        tacet_usca_basis_free(basis);
    }
    assert_true(tight >= 75); /* the others ran out of cells, and are true all the same */
}

/* A bound that forgot the second derivatives would be caught: with few cells the certificate must lie well above. */
static void test_certificate_loose(void **state) {
    (void)state;
    tacet_usca_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 0.3, 16, 60);
    tacet_usca_certificate few;
    tacet_usca_certificate many;
    assert_ok(tacet_usca_certify(&many, basis, 1000, 1, 0, 0.001, NULL));
    assert_true(many.upper <= 1.0011 * many.found);
    assert_ok(tacet_usca_certify(&few, basis, 1000, 1, 0, 0.5, NULL));
    assert_true(few.upper >= many.found);
    assert_true(few.cells < many.cells);
    assert_status(tacet_usca_certify(&few, basis, 0, 1, 0, 0.5, NULL), TACET_INVALID);
    assert_status(tacet_usca_certify(&few, basis, 10, (double)NAN, 0, 0.5, NULL), TACET_INVALID);
    assert_status(tacet_usca_certify(&few, basis, 10, 1, 1000, 0.5, NULL), TACET_INVALID);
    tacet_usca_basis_free(basis);
}

/* The gain of a stage is the posterior of a linear Gaussian model: against a dense formula in other terms (information
 * form), and with no clipping and no noise against ridge's 1/(n lam + r2/p). */
static void test_fusion(void **state) {
    (void)state;
    tacet_usca_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 0.5, 12, 10);
    enum { M = 10 };
    tacet__usca_fusion f;
    double clip = 0;
    double risk = 0;
    const double n = 500;
    const double prior = 0.05;
    const double r2 = 0.04;
    /* However fast the prior falls, the function's mean square is the prior's, kept or in the tail. */
    for (int k = 0; k < 4; k++) {
        assert_ok(tacet__usca_fusion_init(&f, basis, M, prior, 0.5 * k, NULL));
        assert_close(tacet__usca_fusion_risk(&f, f.P), prior, 1e-12);
        assert_close(f.P[0] / f.P[(M - 1) * M + M - 1], pow(f.lam[0] / f.lam[M - 1], 0.5 * k), 1e-6 * pow(10, 4 * k));
        tacet__usca_fusion_clear(&f);
    }
    assert_ok(tacet__usca_fusion_init(&f, basis, M, prior, 0, NULL));
    assert_close(tacet__usca_fusion_risk(&f, f.P), prior * (basis->tail + 1) - prior * basis->tail, 1e-3);
    tacet__usca_fusion_clip(&f, 0.01, 1e9, &clip); /* nothing is clipped: H = S = diag(lam) */
    for (size_t j = 0; j < M; j++) {
        assert_close(f.H[j * M + j], f.lam[j], 1e-12);
        assert_close(f.S[j * M + j], f.lam[j], 1e-12);
    }
    assert_ok(tacet__usca_fusion_gain(&f, f.P, &risk, n, 0.01, r2, 100 * sqrt(r2), 1e-9, NULL));
    for (size_t j = 0; j < M; j++) {
        assert_close(f.P[j * M + j], 1 / (1 / prior + n * f.lam[j] / r2), 1e-9);
        /* K b with b = n lam theta gives back theta but for what the prior keeps. */
        assert_close(f.gain[j * M + j] * n * f.lam[j], 1 - f.P[j * M + j] / prior, 1e-9);
    }
    /* Clipping keeps what it keeps: omega <= 1, so S <= H <= lam on the diagonal, and something was clipped. */
    tacet__usca_fusion_clip(&f, 0.01, 0.7, &clip);
    for (size_t j = 0; j < M; j++) {
        assert_true(f.S[j * M + j] <= f.H[j * M + j] && f.H[j * M + j] <= f.lam[j] * (1 + 1e-9));
    }
    assert_true(f.H[0] < 0.999 * f.lam[0]);
    tacet__usca_fusion_clear(&f);
    tacet_usca_basis_free(basis);
}

/* The rest of a linear expansion, against its definition: a square of kernel values, the derivative by differences. */
static void test_remainder(void **state) {
    (void)state;
    for (unsigned half = 0; half < 3; half++) {
        const double lengthscales[2] = {0.5, 2};
        const tacet_kernel_spec spec = {.kind = half == 0 ? TACET_KERNEL_SE : TACET_KERNEL_MATERN,
                                        .d = 2,
                                        .matern_p = half,
                                        .signal_var = 1,
                                        .lengthscales = lengthscales,
                                        .lengthscale_count = 2};
        tacet_kernel *kernel = NULL;
        double before = 0;
        assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
        for (double r = 0.05; r < 6; r *= 1.3) {
            const double e = 1e-4;
            const double angle = 0.7;
            const double step[2] = {0.5 * r * cos(angle), 2 * r * sin(angle)};
            const double points[4][2] = {
                {step[0], step[1]}, {0, 0}, {e * step[0], e * step[1]}, {-e * step[0], -e * step[1]}};
            const double weights[4] = {1, -1, -1 / (2 * e), 1 / (2 * e)};
            double square = 0;
            for (size_t i = 0; i < 4; i++) {
                for (size_t j = 0; j < 4; j++) {
                    square += weights[i] * weights[j] * tacet_kernel_eval(kernel, points[i], points[j]);
                }
            }
            const double rest = tacet__usca_remainder(half, r);
            assert_close(rest * rest, square, 3e-3 * square + 2e-4 * r * r);
            assert_true(rest > before);
            before = rest;
        }
        assert_true(tacet__usca_remainder(half, 0) == 0);
        tacet_kernel_free(kernel);
    }
}

/* What clipping leaves of a residual, by simulation: the regression of the clipped on the signal, and the mean square.
 * 200,000 draws: standard errors below 0.003, limits at 5 of them. */
static void test_clipped(void **state) {
    (void)state;
    enum { N = 200000 };
    const double bounds[] = {0.05, 0.3, 0.6, 3};
    tacet_simrng rng;
    tacet_simrng_init(&rng, 41, 0);
    for (size_t k = 0; k < 4; k++) {
        double cross = 0;
        double signal2 = 0;
        double square = 0;
        double response = 0;
        double left = 0;
        for (size_t i = 0; i < N; i++) {
            const double signal = 0.3 * tacet_simrng_normal(&rng);
            const double clipped = fmin(fmax(signal + 0.4 * tacet_simrng_normal(&rng), -bounds[k]), bounds[k]);
            cross += signal * clipped / N;
            signal2 += signal * signal / N;
            square += clipped * clipped / N;
        }
        tacet__usca_fusion_clipped(&response, &left, 0.25, bounds[k]);
        assert_close(response, cross / signal2, 0.015);
        assert_close(left, square, 0.005);
    }
    double response = 0;
    double left = 0;
    tacet__usca_fusion_clipped(&response, &left, 0.25, INFINITY);
    assert_true(response == 1 && fabs(left - 0.25) < 1e-15);
}

static void test_plan(void **state) {
    (void)state;
    tacet_usca_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 0.3, 16, 0);
    tacet__usca_plan_settings s = {.rounds = 1000,
                                   .bound = 1,
                                   .noise_sd = 0.1,
                                   .prior_var = 0.05,
                                   .unit_sd = sqrt(2),
                                   .grows = true,
                                   .stages_most = TACET__USCA_STAGES_MOST};
    double last = 0.05;
    for (size_t rounds = 100; rounds <= 100000; rounds *= 10) {
        tacet__usca_plan plan;
        size_t total = 0;
        s.rounds = rounds;
        assert_ok(tacet__usca_plan_make(&plan, basis, &s, NULL));
        for (size_t j = 0; j < plan.count; j++) {
            total += plan.stages[j].n;
            assert_true(plan.stages[j].n > 0 && plan.stages[j].clip > 0 && plan.stages[j].bound <= 1);
            assert_true(j == 0 || plan.stages[j].risk < plan.stages[j - 1].risk);
        }
        assert_int_equal(total, rounds);
        assert_true(plan.risk < last);
        last = plan.risk;
        /* One release is a plan too, and never predicts less. */
        tacet__usca_plan one;
        s.stages_most = 1;
        assert_ok(tacet__usca_plan_make(&one, basis, &s, NULL));
        assert_int_equal(one.count, 1);
        assert_true(one.risk >= plan.risk && one.stages[0].bound == 1);
        s.stages_most = TACET__USCA_STAGES_MOST;
    }
    /* More privacy, more error. */
    tacet__usca_plan plan;
    s.unit_sd = 10 * sqrt(2);
    assert_ok(tacet__usca_plan_make(&plan, basis, &s, NULL));
    assert_true(plan.risk > last);
    s.rounds = 0;
    assert_status(tacet__usca_plan_make(&plan, basis, &s, NULL), TACET_INVALID);
    s.rounds = 10;
    s.prior_var = (double)NAN;
    assert_status(tacet__usca_plan_make(&plan, basis, &s, NULL), TACET_INVALID);
    tacet_usca_basis_free(basis);
}

static double triangle(const double *c, void *user) {
    (void)user;
    return c[0] < 0.5 ? 0 : c[0] - 0.5;
}
static double negative(const double *c, void *user) {
    (void)user;
    return c[0] - 0.5;
}
static double nowhere(const double *c, void *user) {
    (void)c;
    (void)user;
    return 0;
}

static void test_laws(void **state) {
    (void)state;
    tacet_usca_space space;
    tacet_usca_basis *basis = NULL;
    tacet_usca_space_defaults(&space);
    space.order = 12;
    space.density = triangle;
    assert_ok(tacet_usca_basis_create(&basis, &space, 20, NULL));
    double total = 0;
    for (size_t j = 0; j < basis->features->blocks[0].count; j++) {
        assert_true(basis->features->blocks[0].Z[2 * j + 1] > 0.5);
        total += basis->weights[j];
    }
    assert_close(total, 1, 1e-12);
    tacet_usca_basis_free(basis);
    space.density = negative;
    assert_status(tacet_usca_basis_create(&basis, &space, 20, NULL), TACET_INVALID);
    space.density = nowhere;
    assert_status(tacet_usca_basis_create(&basis, &space, 20, NULL), TACET_INVALID);
    space.density = NULL;
    const double sample[3] = {0.1, 0.2, 0.9};
    const double outside[2] = {0.1, 1.2};
    space.contexts = sample;
    space.context_count = 3;
    assert_ok(tacet_usca_basis_create(&basis, &space, 20, NULL));
    assert_int_equal(basis->features->blocks[0].count, 36);
    tacet_usca_basis_free(basis);
    space.contexts = outside;
    space.context_count = 2;
    assert_status(tacet_usca_basis_create(&basis, &space, 20, NULL), TACET_INVALID);
    assert_null(basis);
    /* Actions from a list: they times the nodes of the contexts, actions fastest, equal weights a context. */
    const double list[3] = {0, 0.25, 1};
    space.contexts = NULL;
    space.actions = list;
    space.action_count = 3;
    assert_ok(tacet_usca_basis_create(&basis, &space, 20, NULL));
    assert_int_equal(basis->features->blocks[0].count, 36);
    assert_int_equal(basis->node_actions, 3);
    for (size_t j = 0; j < 36; j++) {
        assert_true(basis->features->blocks[0].Z[2 * j] == list[j % 3]);
        assert_close(basis->weights[j], basis->weights[j - j % 3], 1e-15);
    }
    tacet_usca_basis_free(basis);
    space.actions = outside;
    space.action_count = 2;
    assert_status(tacet_usca_basis_create(&basis, &space, 20, NULL), TACET_INVALID);
    space.actions = list;
    space.action_count = 0;
    assert_status(tacet_usca_basis_create(&basis, &space, 20, NULL), TACET_INVALID);
    assert_null(basis);
}

static void test_bad_spaces(void **state) {
    (void)state;
    tacet_usca_space good;
    tacet_usca_basis *basis = NULL;
    tacet_usca_space_defaults(&good);
    const double wrong[2] = {0, (double)NAN};
    const double zero = 0;
    tacet_usca_space s = good;
    s.action_dim = 0;
    assert_status(tacet_usca_basis_create(&basis, &s, 0, NULL), TACET_INVALID);
    s = good;
    s.context_dim = 4;
    assert_status(tacet_usca_basis_create(&basis, &s, 0, NULL), TACET_INVALID);
    s = good;
    s.upper = wrong;
    assert_status(tacet_usca_basis_create(&basis, &s, 0, NULL), TACET_INVALID);
    s = good;
    s.lengthscales = &zero;
    assert_status(tacet_usca_basis_create(&basis, &s, 0, NULL), TACET_INVALID);
    s = good;
    s.lengthscale_count = 3;
    assert_status(tacet_usca_basis_create(&basis, &s, 0, NULL), TACET_INVALID);
    s = good;
    s.kind = TACET_KERNEL_LINEAR;
    assert_status(tacet_usca_basis_create(&basis, &s, 0, NULL), TACET_UNSUPPORTED);
    s = good;
    s.kind = TACET_KERNEL_MATERN;
    s.matern_p = 0;
    assert_status(tacet_usca_basis_create(&basis, &s, 0, NULL), TACET_UNSUPPORTED);
    s = good;
    s.order = 100;
    assert_status(tacet_usca_basis_create(&basis, &s, 0, NULL), TACET_INVALID);
    assert_null(basis);
}

/* Every allocation fails once, in the basis, a certificate and a plan. */
static void test_no_memory(void **state) {
    (void)state;
    tacet_usca_space space;
    tacet_usca_basis *basis = NULL;
    tacet_usca_space_defaults(&space);
    space.order = 5;
    for (long n = 1;; n++) {
        fail_alloc_after(n);
        const tacet_status status = tacet_usca_basis_create(&basis, &space, 8, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
        assert_null(basis);
    }
    for (long n = 1;; n++) {
        tacet_usca_certificate certificate;
        fail_alloc_after(n);
        const tacet_status status = tacet_usca_certify(&certificate, basis, 100, 1, 0, 0.1, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
    }
    const tacet__usca_plan_settings s = {.rounds = 100,
                                         .bound = 1,
                                         .noise_sd = 0.1,
                                         .prior_var = 0.05,
                                         .unit_sd = 1,
                                         .stages_most = 2,
                                         .features_most = 5};
    for (long n = 1;; n++) {
        tacet__usca_plan plan;
        fail_alloc_after(n);
        const tacet_status status = tacet__usca_plan_make(&plan, basis, &s, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_int_equal(status, TACET_NO_MEMORY);
    }
    tacet_usca_basis_free(basis);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),      cmocka_unit_test(test_equals_dense),
        cmocka_unit_test(test_certificates), cmocka_unit_test(test_certificate_loose),
        cmocka_unit_test(test_fusion),       cmocka_unit_test(test_remainder),
        cmocka_unit_test(test_clipped),      cmocka_unit_test(test_plan),
        cmocka_unit_test(test_laws),         cmocka_unit_test(test_bad_spaces),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
