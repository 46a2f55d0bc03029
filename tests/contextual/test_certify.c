/* SPDX-License-Identifier: Apache-2.0 */
/* test_certify.c - certified suprema: against an optimiser that knows nothing of cells, and the rest of a linear
 * expansion against its definition. */
#include "gp/kernel_internal.h"
#include "basis_fixture.h"

#include "gp/linalg.h"

#include <tacet/core/simrng.h>

static double uniform(tacet_simrng *rng, double low, double high) {
    return low + (high - low) * tacet_simrng_uniform(rng);
}

static double value(const tacet__lever *lever, const double *w) {
    double u[TACET_CONTEXTUAL_FEATURES_MOST];
    tacet_features_eval(lever->features, u, w, lever->d, 1);
    tacet__lever_apply(lever, u, 1);
    return tacet__norm2(u, lever->features->m);
}

/* A search that knows nothing of cells: corners and the best of random points, then shrinking coordinate steps. */
static double optimise(const tacet__lever *lever, tacet_simrng *rng) {
    const size_t d = lever->d;
    double best = 0;
    for (unsigned start = 0; start < (1U << d) + 4; start++) {
        double w[4];
        for (size_t c = 0; c < d; c++) {
            w[c] = start < 1U << d ? (double)(start >> c & 1U) : tacet_simrng_uniform(rng);
        }
        double at = value(lever, w);
        for (int draw = 0; draw < 60 && start >= 1U << d; draw++) {
            double v[4];
            for (size_t c = 0; c < d; c++) {
                v[c] = tacet_simrng_uniform(rng);
            }
            const double next = value(lever, v);
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
                    const double next = value(lever, v);
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

/* No point an optimiser finds exceeds a certificate: 100 random configurations. */
TEST(test_certificates) {
    tacet_simrng rng;
    size_t tight = 0;
    tacet_simrng_init(&rng, 21, 0);
    const int trials = test_slow() ? 9 : 100;
    for (int trial = 0; trial < trials; trial++) {
        const int kernel = trial % 3;
        const size_t d = 1 + (size_t)(trial / 3) % 3;
        static const size_t ORDER[4] = {0, 32, 10, 6};
        tacet_contextual_basis *basis =
            basis_of(kernel == 0 ? TACET_KERNEL_SE : TACET_KERNEL_MATERN, kernel == 1 ? 2 : 1, 1, d - 1,
                     uniform(&rng, 0.4, 1.5), ORDER[d], trial % 4 == 0 ? 0 : 40);
        const size_t m = tacet_contextual_basis_dim(basis);
        const double T = pow(10, uniform(&rng, 1, 5));
        const double tau = pow(10, uniform(&rng, 0, 2));
        double inverse_root[TACET_CONTEXTUAL_FEATURES_MOST];
        for (size_t j = 0; j < m; j++) {
            inverse_root[j] = 1 / sqrt(T * tacet_contextual_basis_eigenvalues(basis)[j] + tau);
        }
        const tacet__lever lever = {.features = basis->features,
                                    .inverse_root = inverse_root,
                                    .tau = tau,
                                    .d = d,
                                    .lengthscale = basis->unit_lengthscale};
        tacet_contextual_certificate certificate;
        assert_ok(tacet__lever_certify(&certificate, &lever, 0.02, 5000, NULL));
        const double found = optimise(&lever, &rng);
        assert_true(found <= certificate.upper);
        assert_true(certificate.found <= certificate.upper);
        tight += certificate.upper <= 1.021 * certificate.found ? 1 : 0;
        /* The trivial bound is worse or equal; and the optimiser is no worse than what the search saw. */
        assert_true(certificate.upper <= 1.03 / sqrt(tau));
        assert_true(found >= 0.97 * certificate.found);
        tacet_contextual_basis_free(basis);
    }
    assert_true(4 * tight >= 3 * (size_t)trials); /* the others ran out of cells, and are true all the same */
}

/* The leverage under the law itself: Z = T Lam + tau I, which is eq. (5). */
static tacet_status certify(tacet_contextual_certificate *out, const tacet_contextual_basis *basis, double T,
                            double tau, double tolerance, size_t cells) {
    const size_t m = tacet_contextual_basis_dim(basis);
    double inverse_root[TACET_CONTEXTUAL_FEATURES_MOST];
    for (size_t j = 0; j < m; j++) {
        inverse_root[j] = 1 / sqrt(T * tacet_contextual_basis_eigenvalues(basis)[j] + tau);
    }
    const tacet__lever lever = {.features = basis->features,
                                .inverse_root = inverse_root,
                                .tau = tau,
                                .d = basis->d,
                                .lengthscale = basis->unit_lengthscale};
    return tacet__lever_certify(out, &lever, tolerance, cells, NULL);
}

/* A bound that forgot the second derivatives would be caught: with few cells the certificate must lie well above. */
TEST(test_certificate_loose) {
    tacet_contextual_basis *basis = basis_of(TACET_KERNEL_SE, 0, 1, 1, 0.3, 16, 60);
    tacet_contextual_certificate few;
    tacet_contextual_certificate many;
    assert_ok(certify(&many, basis, 1000, 1, 0.0005, 200000));
    assert_true(many.upper <= 1.00055 * many.found);
    assert_ok(certify(&few, basis, 1000, 1, 0.25, 200000));
    assert_true(few.upper >= many.found);
    assert_true(few.cells < many.cells);
    tacet_contextual_basis_free(basis);
}

/* The rest of a linear expansion, against its definition: a square of kernel values, the derivative by differences. */
TEST(test_remainder) {
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
            const double rest = tacet__contextual_remainder(half, r);
            assert_close(rest * rest, square, 3e-3 * square + 2e-4 * r * r);
            assert_true(rest > before);
            before = rest;
        }
        assert_true(tacet__contextual_remainder(half, 0) == 0);
        tacet_kernel_free(kernel);
    }
}

TEST(test_no_memory) {
    tacet_contextual_basis *basis = basis_of(TACET_KERNEL_SE, 2, 1, 1, 0.3, 5, 8);
    tacet_contextual_certificate certificate;
    assert_each_alloc_fails(certify(&certificate, basis, 100, 1, 0.05, 1000), true);
    tacet_contextual_basis_free(basis);
}
