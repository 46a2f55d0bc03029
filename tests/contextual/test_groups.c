/* SPDX-License-Identifier: Apache-2.0 */
/* test_groups.c - functions that are sums over groups of coordinates, in more coordinates than a grid has: features and
 * predictions against the kernel written out, worst-case neighbours, laws of contexts, learning, refusals. */
#include "contextual/trusted/internal.h"
#include "contextual/trusted/robust.h"
#include "dp/bound_internal.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { D = 6, ACTIONS = 3, GROUPS = 3 };
static const size_t GROUP[D] = {0, 1, 2, 0, 1, 2};
static const double LOWER[8] = {0}, UPPER[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static const double LENGTHSCALE = 0.3;

static tacet_contextual_space space_of(void) {
    tacet_contextual_space s;
    tacet_contextual_space_defaults(&s);
    s.action_dim = ACTIONS;
    s.context_dim = D - ACTIONS;
    s.lower = LOWER;
    s.upper = UPPER;
    s.lengthscales = &LENGTHSCALE;
    s.groups = GROUP;
    return s;
}

/* The mean over groups of squared exponentials, as it is defined. */
static double kernel_at(const double *x, const double *y) {
    double sum = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        double r2 = 0;
        for (size_t c = 0; c < D; c++) {
            r2 += GROUP[c] == g ? (x[c] - y[c]) * (x[c] - y[c]) / (LENGTHSCALE * LENGTHSCALE) : 0;
        }
        sum += exp(-r2 / 2) / GROUPS;
    }
    return sum;
}

static void draw(double *w, tacet_simrng *rng) {
    for (size_t c = 0; c < D; c++) {
        w[c] = tacet_simrng_uniform(rng);
    }
}

/* Few nodes, so that the projection can be had by eliminating: <P k_x, P k_y> = k_Z(x)' K^-1 k_Z(y). */
static void features_are_those_of_the_sum(void **state) {
    enum { NODES = 12 };
    double actions[4 * ACTIONS], contexts[3 * (D - ACTIONS)], Z[NODES][D], K[NODES][NODES + 1];
    tacet_contextual_space space = space_of();
    tacet_contextual_basis *basis = NULL;
    tacet_simrng rng = test_rng(71, 0);
    for (size_t i = 0; i < 4 * ACTIONS; i++) {
        actions[i] = tacet_simrng_uniform(&rng);
    }
    for (size_t i = 0; i < 3 * (D - ACTIONS); i++) {
        contexts[i] = tacet_simrng_uniform(&rng);
    }
    space.actions = actions;
    space.action_count = 4;
    space.contexts = contexts;
    space.context_count = 3;
    assert_ok(tacet_contextual_basis_create(&basis, &space, 0, NULL));
    const size_t m = tacet_contextual_basis_dim(basis);
    assert_int_equal(m, NODES);
    for (size_t j = 0; j < NODES; j++) {
        memcpy(Z[j], actions + j % 4 * ACTIONS, ACTIONS * sizeof(double));
        memcpy(Z[j] + ACTIONS, contexts + j / 4 * (D - ACTIONS), (D - ACTIONS) * sizeof(double));
    }
    for (int pair = 0; pair < 20; pair++) {
        double x[D], y[D], phi[2][NODES], dense = 0, found = 0;
        draw(x, &rng);
        draw(y, &rng);
        for (size_t i = 0; i < NODES; i++) {
            for (size_t j = 0; j < NODES; j++) {
                K[i][j] = kernel_at(Z[i], Z[j]);
            }
            K[i][NODES] = kernel_at(Z[i], y);
        }
        for (size_t k = 0; k < NODES; k++) { /* Gauss, Jordan: K is positive */
            for (size_t i = 0; i < NODES; i++) {
                const double factor = i == k ? 0 : K[i][k] / K[k][k];
                for (size_t j = k; j <= NODES && i != k; j++) {
                    K[i][j] -= factor * K[k][j];
                }
            }
        }
        for (size_t i = 0; i < NODES; i++) {
            dense += kernel_at(Z[i], x) * K[i][NODES] / K[i][i];
        }
        tacet_features_eval(basis->features, phi[0], x, D, 1);
        tacet_features_eval(basis->features, phi[1], y, D, 1);
        for (size_t i = 0; i < m; i++) {
            found += phi[0][i] * phi[1][i];
        }
        assert_close(found, dense, 1e-7);
    }
    tacet_contextual_basis_free(basis);
}

/* Every coordinate takes the middles of equal cells once, and no two coordinates go together. */
static void lattices_are_even(void **state) {
    enum { N = 43, DIMS = 8 };
    static double X[N * DIMS];
    tacet__contextual_lattice(X, DIMS, N);
    for (size_t c = 0; c < DIMS; c++) {
        bool seen[N] = {false};
        for (size_t j = 0; j < N; j++) {
            const double cell = X[j * DIMS + c] * N - 0.5;
            assert_close(cell, round(cell), 1e-9);
            assert_true(cell > -0.5 && cell < N && !seen[(size_t)round(cell)]);
            seen[(size_t)round(cell)] = true;
        }
        for (size_t b = 0; b < c; b++) {
            double covariance = 0;
            for (size_t j = 0; j < N; j++) {
                covariance += (X[j * DIMS + c] - 0.5) * (X[j * DIMS + b] - 0.5) / N;
            }
            assert_true(fabs(covariance) < 0.03 / 12);
        }
    }
}

/* Rewards of 1e9, contexts in corners and anywhere: a sum never moves further than is claimed, and gets close to it. */
static void sums_of_neighbours_are_near(void **state) {
    enum { T = 20, M = 30 };
    const tacet_contextual_space space = space_of();
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_settings settings;
    tacet_raw *sum[2] = {NULL};
    double inverse_root[M], step = 0, most = 0;
    tacet_simrng rng = test_rng(72, 0);
    tacet_contextual_settings_defaults(&settings);
    assert_ok(tacet_contextual_basis_create(&basis, &space, 0, NULL));
    for (size_t i = 0; i < M; i++) {
        inverse_root[i] = 1 / sqrt(T * (basis->features->eigenvalues[i] + 0.01));
    }
    const tacet__contextual_pass pass = {.m = M, .inverse_root = inverse_root, .clip = 0.5, .bound = 0.3, .n = T};
    for (int attack = 0; attack < 200; attack++) {
        double w[T][D], distance = 0;
        for (size_t i = 0; i < T; i++) {
            draw(w[i], &rng);
        }
        for (size_t k = 0; k < 2; k++) {
            tacet_contextual_learner *l = NULL;
            assert_ok(tacet_contextual_learner_create(&l, basis, &settings, NULL));
            for (size_t c = ACTIONS; c < D && attack % 3 > 0; c++) {
                w[0][c] = attack % 3 == 1 ? (double)tacet_simrng_below(&rng, 2) : tacet_simrng_uniform(&rng);
            }
            for (size_t i = 0; i < T; i++) {
                assert_ok(tacet_contextual_learner_add(l, w[i], i > 0 ? 0.1 : k == 0 ? 1e9 : -1e9, NULL));
            }
            assert_ok(tacet_raw_create(&sum[k], M, NULL));
            assert_ok(tacet__contextual_sum(l, sum[k], &pass, NULL));
            tacet_contextual_learner_free(l);
        }
        for (size_t j = 0; j < M; j++) {
            const double e = sum[0]->values[j] - sum[1]->values[j];
            distance += e * e;
        }
        tacet_raw_free(sum[0]);
        tacet_raw_free(sum[1]);
        most = fmax(most, sqrt(distance) / (2 * tacet__contextual_share(&pass, &step)));
    }
    assert_true(most <= 1 && most > 0.99);
    tacet_contextual_basis_free(basis);
}

/* Six contexts in groups of their own: the sketch has every pair, its features are never further apart than charged
 * for, and a law whose contexts all go together is told from one where they do not. */
static void laws_of_many_contexts_are_measured(void **state) {
    static const size_t OWN[7] = {0, 0, 1, 2, 3, 4, 5};
    static double V[TACET__CONTEXTUAL_SKETCH_MOST], g[2][TACET__CONTEXTUAL_SKETCH_MOST];
    tacet_contextual_space space = space_of();
    tacet_contextual_basis *basis = NULL;
    tacet__contextual_law law;
    tacet_simrng rng;
    double most = 0, covariance[2] = {0};
    space.action_dim = 1;
    space.context_dim = 6;
    space.groups = OWN;
    assert_ok(tacet_contextual_basis_create(&basis, &space, 0, NULL));
    assert_ok(tacet__contextual_law_init(&law, basis, NULL, false, NULL));
    assert_int_equal(law.repeats, 30);
    const size_t N = law.actions * law.contexts;
    double *q = calloc(N, sizeof *q);
    assert_non_null(q);
    tacet_simrng_init(&rng, 73, 0);
    for (size_t i = 0; i < 2000; i++) {
        double sum = 0;
        for (size_t k = 0; k < 2; k++) {
            double c[6];
            for (size_t j = 0; j < 6; j++) {
                c[j] = i % 2 == 0 ? (double)k : tacet_simrng_uniform(&rng);
            }
            tacet__contextual_law_features(&law, g[k], c);
        }
        for (size_t j = 0; j < law.g; j++) {
            sum += (g[0][j] - g[1][j]) * (g[0][j] - g[1][j]);
        }
        most = fmax(most, sqrt(sum));
    }
    assert_true(most <= sqrt(2) && most > 1);
    for (int tied = 0; tied < 2; tied++) {
        memset(V, 0, sizeof V);
        for (size_t i = 0; i < 4000; i++) {
            double c[6];
            for (size_t j = 0; j < 6; j++) {
                c[j] = tied && j > 0 ? c[0] : tacet_simrng_uniform(&rng);
            }
            tacet__contextual_law_features(&law, g[0], c);
            for (size_t j = 0; j < law.g; j++) {
                V[j] += g[0][j];
            }
        }
        assert_ok(tacet__contextual_law_decode(&law, q, V, 4000, 1, NULL));
        for (size_t k = 0; k < N; k++) {
            const double *c = basis->features->blocks[0].Z + k * 7 + 1;
            for (size_t j = 1; j < 6; j++) {
                covariance[tied] += q[k] * (c[0] - 0.5) * (c[j] - 0.5) / 5;
            }
        }
    }
    assert_true(fabs(covariance[0]) < 0.15 / 12 && covariance[1] > 0.5 / 12); /* of 1/12 where they are equal */
    free(q);
    tacet__contextual_law_clear(&law);
    tacet_contextual_basis_free(basis);
}

static void what_no_group_allows_is_refused(void **state) {
    static const size_t LARGE[D] = {0, 0, 0, 0, 0, 1}, GAP[D] = {0, 0, 2, 2, 2, 0};
    tacet_contextual_space space = space_of();
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_certificate sup;
    assert_ok(tacet_contextual_basis_create(&basis, &space, 0, NULL));
    assert_status(tacet_contextual_certify(&sup, basis, 100, 1, 0, 0.01, NULL), TACET_UNSUPPORTED);
    tacet_contextual_basis_free(basis);
    space.groups = NULL;
    assert_status(tacet_contextual_basis_create(&basis, &space, 0, NULL), TACET_INVALID);
    space.groups = LARGE;
    assert_status(tacet_contextual_basis_create(&basis, &space, 0, NULL), TACET_INVALID);
    space.groups = GAP;
    assert_status(tacet_contextual_basis_create(&basis, &space, 0, NULL), TACET_INVALID);
    assert_null(basis);
    space.action_dim = 1; /* a grid, and yet a sum */
    space.context_dim = 1;
    space.groups = GROUP;
    assert_ok(tacet_contextual_basis_create(&basis, &space, 0, NULL));
    assert_status(tacet_contextual_certify(&sup, basis, 100, 1, 0, 0.01, NULL), TACET_UNSUPPORTED);
    tacet_contextual_basis_free(basis);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_those_of_the_sum), cmocka_unit_test(lattices_are_even),
        cmocka_unit_test(sums_of_neighbours_are_near),   cmocka_unit_test(laws_of_many_contexts_are_measured),
        cmocka_unit_test(what_no_group_allows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
