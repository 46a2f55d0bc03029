/* SPDX-License-Identifier: Apache-2.0 */
/* test_simrng.c - the simulation generator: the published sequence, and its distributions by chi-square. Seeds are
 * fixed; each statistical check would fail a perfect generator with probability below 1e-6 if the seed were drawn. */
#include "support/test.h"

#include <tacet/core/simrng.h>

enum { DRAWS = 400000, CELLS = 50 };

/* xoshiro256++ from the state 1, 2, 3, 4: the sequence that implementations of it are commonly checked against. */
static void test_published_sequence(void **state) {
    static const uint64_t expected[] = {UINT64_C(41943041),
                                        UINT64_C(58720359),
                                        UINT64_C(3588806011781223),
                                        UINT64_C(3591011842654386),
                                        UINT64_C(9228616714210784205),
                                        UINT64_C(9973669472204895162),
                                        UINT64_C(14011001112246962877),
                                        UINT64_C(12406186145184390807),
                                        UINT64_C(15849039046786891736),
                                        UINT64_C(10450023813501588000)};
    tacet_simrng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_true(tacet_simrng_u64(&rng) == expected[i]);
    }
}

/* Seeding, computed apart from this code: experiments must repeat for ever. */
static void test_seeds(void **state) {
    static const struct {
        uint64_t seed, stream, expected[3];
    } known[] = {{1, 0, {UINT64_C(0x35c749e3514dd9e5), UINT64_C(0x638f4fd545d564c6), UINT64_C(0x4b228e8d2b49d781)}},
                 {1, 2, {UINT64_C(0xa71e2f0a957513bf), UINT64_C(0x6926bc783506ca23), UINT64_C(0xc83fc331c7395eb1)}},
                 {2, 1, {UINT64_C(0xbb4f2a2851b9c842), UINT64_C(0x94b99c39f8e2b44b), UINT64_C(0x4562e86c1b11a2a5)}}};
    for (size_t i = 0; i < 3; i++) {
        tacet_simrng rng = test_rng(known[i].seed, known[i].stream);
        for (size_t k = 0; k < 3; k++) {
            assert_true(tacet_simrng_u64(&rng) == known[i].expected[k]);
        }
    }
}

static double chi2(const size_t *counts, const double *masses, size_t cells) {
    double sum = 0;
    for (size_t i = 0; i < cells; i++) {
        const double expected = DRAWS * masses[i];
        sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    }
    return sum;
}

static void assert_fits(const size_t *counts, const double *masses, size_t cells) {
    const double p = test_chi2_pvalue(chi2(counts, masses, cells), (double)cells - 1);
    assert_true(p > 5e-7);
    assert_true(p < 1 - 5e-7); /* too good a fit is a fault as well */
}

static void test_uniform(void **state) {
    tacet_simrng rng = test_rng(5, 0);
    size_t counts[CELLS] = {0};
    double masses[CELLS];
    for (size_t i = 0; i < CELLS; i++) {
        masses[i] = 1.0 / CELLS;
    }
    for (size_t i = 0; i < DRAWS; i++) {
        const double u = tacet_simrng_uniform(&rng);
        assert_true(u >= 0 && u < 1);
        counts[(size_t)(u * CELLS)]++;
    }
    assert_fits(counts, masses, CELLS);
}

static void test_below(void **state) {
    tacet_simrng rng = test_rng(6, 0);
    assert_int_equal(tacet_simrng_below(&rng, 0), 0);
    assert_int_equal(tacet_simrng_below(&rng, 1), 0);
    size_t counts[CELLS] = {0};
    double masses[CELLS];
    for (size_t n = 2; n <= CELLS; n += 16) {
        memset(counts, 0, sizeof counts);
        for (size_t i = 0; i < DRAWS; i++) {
            const size_t x = tacet_simrng_below(&rng, n);
            assert_true(x < n);
            counts[x]++;
        }
        for (size_t i = 0; i < n; i++) {
            masses[i] = 1.0 / (double)n;
        }
        assert_fits(counts, masses, n);
    }
    /* n = 3 2^62, where the remainder of a draw would be in the lowest third half of the time. */
    size_t low = 0;
    const size_t n = ((size_t)1 << 63) + ((size_t)1 << 62);
    for (size_t i = 0; i < DRAWS; i++) {
        low += tacet_simrng_below(&rng, n) < n / 3;
    }
    assert_close((double)low / DRAWS, 1.0 / 3, 5 * sqrt(2.0 / 9 / DRAWS)); /* 5 standard errors: 6e-7 */
}

/* Cells of equal mass would need the inverse; these are of equal width, with the masses from the distribution. */
static void test_normal(void **state) {
    tacet_simrng rng = test_rng(7, 0);
    size_t normal[CELLS] = {0};
    double normal_mass[CELLS];
    for (size_t i = 0; i < CELLS; i++) {
        const double low = i == 0 ? -INFINITY : -3 + 6.0 * (double)i / CELLS;
        const double high = i == CELLS - 1 ? INFINITY : -3 + 6.0 * (double)(i + 1) / CELLS;
        normal_mass[i] = 0.5 * erfc(-high / sqrt(2)) - 0.5 * erfc(-low / sqrt(2));
    }
    double products = 0;
    double last = tacet_simrng_normal(&rng);
    for (size_t i = 0; i < DRAWS; i++) {
        const double z = tacet_simrng_normal(&rng);
        const double at = (z + 3) / 6 * CELLS;
        normal[at < 0 ? 0 : at >= CELLS ? CELLS - 1 : (size_t)at]++;
        products += z * last;
        last = z;
    }
    assert_fits(normal, normal_mass, CELLS);
    assert_close(products / DRAWS, 0, 5 / sqrt(DRAWS)); /* neighbours are uncorrelated: 5 standard errors */
}

/* Neighbouring seeds and streams have nothing in common: correlations of uniforms within 5 standard errors. */
static void test_streams(void **state) {
    for (uint64_t k = 1; k < 5; k++) {
        tacet_simrng a;
        tacet_simrng b;
        tacet_simrng c;
        tacet_simrng_init(&a, k, k);
        tacet_simrng_init(&b, k + 1, k);
        tacet_simrng_init(&c, k, k + 1);
        double ab = 0;
        double ac = 0;
        for (size_t i = 0; i < DRAWS / 4; i++) {
            const double x = tacet_simrng_uniform(&a) - 0.5;
            ab += 12 * x * (tacet_simrng_uniform(&b) - 0.5);
            ac += 12 * x * (tacet_simrng_uniform(&c) - 0.5);
        }
        assert_close(ab / (DRAWS / 4.0), 0, 5 / sqrt(DRAWS / 4.0));
        assert_close(ac / (DRAWS / 4.0), 0, 5 / sqrt(DRAWS / 4.0));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published_sequence),
                                       cmocka_unit_test(test_seeds),
                                       cmocka_unit_test(test_uniform),
                                       cmocka_unit_test(test_below),
                                       cmocka_unit_test(test_normal),
                                       cmocka_unit_test(test_streams)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
