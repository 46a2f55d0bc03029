/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure.c - the decoded measure satisfies the conditions of its optimum, checked without its solver. */
#include "support/test.h"

#include <tacet/core/simrng.h>

#include "contextual/open/measure.h"

enum { R = 6, POINTS = 40 };

typedef struct problem {
    double Phi[R * POINTS], truth[POINTS], sums[R], guess[POINTS];
    double total;
} problem;

static void make(problem *p, uint64_t seed, double noise) {
    tacet_simrng rng = test_rng(seed, 0);
    for (size_t i = 0; i < R * POINTS; i++) {
        p->Phi[i] = 0.4 * tacet_simrng_normal(&rng);
    }
    p->total = 0;
    for (size_t j = 0; j < POINTS; j++) {
        p->truth[j] = tacet_simrng_uniform(&rng) < 0.1 ? 10 * tacet_simrng_uniform(&rng) : 0;
        p->guess[j] = j % 7 == 0 ? 0 : 0.5 + tacet_simrng_uniform(&rng);
        p->total += p->truth[j];
    }
    for (size_t i = 0; i < R; i++) {
        p->sums[i] = noise * tacet_simrng_normal(&rng);
        for (size_t j = 0; j < POINTS; j++) {
            p->sums[i] += p->Phi[i + j * R] * p->truth[j];
        }
    }
}

/* Stationarity: tau ln(w_j / g_j) = phi_j'(R - Phi w)/s2 + a constant, for every j with mass in the guess. */
static void check_optimal(const problem *p, const double *w, double s2, double tau) {
    double residual[R], total = 0, first = 0;
    for (size_t i = 0; i < R; i++) {
        residual[i] = p->sums[i];
        for (size_t j = 0; j < POINTS; j++) {
            residual[i] -= p->Phi[i + j * R] * w[j];
        }
    }
    int seen = 0;
    for (size_t k = 0; k < POINTS; k++) {
        total += w[k];
        if (p->guess[k] == 0) {
            assert_true(w[k] == 0);
            continue;
        }
        double slope = 0;
        for (size_t i = 0; i < R; i++) {
            slope += p->Phi[i + k * R] * residual[i];
        }
        const double constant = tau * log(w[k] / p->guess[k]) - slope / s2;
        if (seen++ == 0) {
            first = constant;
        }
        assert_close(constant, first, 1e-4 * (1 + fabs(first)));
    }
    assert_close(total, p->total, 1e-9 * p->total);
}

static void optimum(void **state) {
    static const double S2[] = {0.05, 1, 30}, TAU[] = {0.2, 1, 3};
    for (uint64_t seed = 0; seed < 5; seed++) {
        problem p;
        make(&p, seed, 0.5);
        tacet__measure *measure = NULL;
        assert_ok(tacet__measure_create(&measure, p.Phi, R, POINTS, NULL));
        for (size_t i = 0; i < 9; i++) {
            double w[POINTS];
            assert_ok(tacet__measure_fit(measure, w, p.sums, p.guess, p.total, S2[i % 3], TAU[i / 3], NULL));
            check_optimal(&p, w, S2[i % 3], TAU[i / 3]);
        }
        tacet__measure_free(measure);
    }
}

/* With the truth as its guess and no noise, the truth is the answer. */
static void truth_is_fixed(void **state) {
    problem p;
    make(&p, 9, 0);
    tacet__measure *measure = NULL;
    assert_ok(tacet__measure_create(&measure, p.Phi, R, POINTS, NULL));
    double w[POINTS];
    assert_ok(tacet__measure_fit(measure, w, p.sums, p.truth, p.total, 0.1, 1, NULL));
    for (size_t j = 0; j < POINTS; j++) {
        assert_close(w[j], p.truth[j], 1e-5);
    }
    p.sums[3] = NAN;
    assert_status(tacet__measure_fit(measure, w, p.sums, p.truth, p.total, 0.1, 1, NULL), TACET_NUMERIC);
    tacet__measure_free(measure);
}

static void failing_allocations(void **state) {
    problem p;
    make(&p, 1, 0);
    tacet__measure *measure = NULL;
    assert_each_alloc_fails(tacet__measure_create(&measure, p.Phi, R, POINTS, NULL), measure == NULL);
    tacet__measure_free(measure);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(optimum), cmocka_unit_test(truth_is_fixed),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
