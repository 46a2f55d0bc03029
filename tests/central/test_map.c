/* SPDX-License-Identifier: Apache-2.0 */
/* test_map.c - the statistic of a round: its sensitivity is attained, and exceeded by no pair of records. */
#include "support/test.h"

#include <tacet/central/shared/map.h>
#include <tacet/core/simrng.h>

static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};

static tacet_features *mercer(size_t m) {
    tacet_features *features = NULL;
    tacet_kernel *kernel = test_kernel("se", 2, 1);
    assert_ok(tacet_features_create_mercer(&features, kernel, &BALL, 12, m, NULL));
    tacet_kernel_free(kernel);
    return features;
}

static double distance(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

/* Wild records: inside, outside, at the border, not numbers; rewards likewise. */
static void wild(tacet_simrng *rng, double *x, double *y) {
    const size_t kind = tacet_simrng_below(rng, 8);
    const double radius = kind < 4 ? 2 : 6, angle = 6.283185307179586 * tacet_simrng_uniform(rng);
    x[0] = radius * cos(angle) * (kind == 0 ? tacet_simrng_uniform(rng) : 1);
    x[1] = radius * sin(angle) * (kind == 0 ? tacet_simrng_uniform(rng) : 1);
    *y = kind == 1 ? tacet_simrng_uniform(rng) : (tacet_simrng_uniform(rng) < 0.5 ? -3 : 5);
    if (kind == 7) {
        x[tacet_simrng_below(rng, 2)] = tacet_simrng_uniform(rng) < 0.5 ? NAN : -INFINITY;
        *y = NAN;
    }
}

static void never_exceeded_and_attained(void **state) {
    tacet_features *features = mercer(25);
    tacet_central_map *map = NULL;
    assert_ok(tacet_central_map_create(&map, features, &BALL, 15, 0, 1, NULL));
    const size_t dim = tacet_central_map_dim(map);
    assert_int_equal(dim, 30);
    const double bound = tacet_central_map_sensitivity(map);
    assert_true(bound >= sqrt(2) && bound < sqrt(2) * (1 + 1e-6));
    tacet_simrng rng = test_rng(5, 0);
    double a[30], b[30], work[27], x[2], y, largest = 0;
    for (int k = 0; k < 40000; k++) {
        wild(&rng, x, &y);
        tacet_central_map_record(map, a, work, x, y);
        wild(&rng, x, &y);
        tacet_central_map_record(map, b, work, x, y);
        const double d = distance(a, b, dim);
        assert_true(d <= bound);
        largest = fmax(largest, d);
    }
    assert_true(largest > 0.995 * bound); /* so the noise pays for nothing that can't happen */
    tacet_central_map_free(map);
    tacet_features_free(features);
}

static void affine_and_wiped(void **state) {
    tacet_features *features = mercer(20);
    tacet_central_map *map = NULL;
    assert_ok(tacet_central_map_create(&map, features, &BALL, 0, -2, 6, NULL));
    assert_int_equal(tacet_central_map_released(map), 20);
    const double x[2] = {0.4, -0.7};
    double s[40], phi[20], work[22];
    tacet_features_eval(features, phi, x, 2, 1);
    tacet_central_map_record(map, s, work, x, 0); /* v = 1/4 */
    for (size_t i = 0; i < 20; i++) {
        assert_close(s[i], 0.25 * phi[i], 1e-14);
        assert_close(s[20 + i], 0.75 * phi[i], 1e-14);
    }
    for (size_t i = 0; i < 22; i++) {
        assert_true(work[i] == 0);
    }
    tacet_central_map_free(map);
    tacet_features_free(features);
}

static void refuses(void **state) {
    tacet_features *features = mercer(20), *qff = NULL;
    tacet_central_map *map = (tacet_central_map *)1;
    const tacet_domain line = {.kind = TACET_DOMAIN_BALL, .d = 1, .radius = 1};
    const tacet_domain empty = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = NAN};
    assert_status(tacet_central_map_create(&map, NULL, &BALL, 0, 0, 1, NULL), TACET_INVALID);
    assert_null(map);
    assert_status(tacet_central_map_create(&map, features, &line, 0, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_central_map_create(&map, features, &empty, 0, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_central_map_create(&map, features, NULL, 0, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_central_map_create(&map, features, &BALL, 21, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_central_map_create(&map, features, &BALL, 0, 1, 1, NULL), TACET_INVALID);
    assert_status(tacet_central_map_create(&map, features, &BALL, 0, 0, INFINITY, NULL), TACET_INVALID);
    assert_status(tacet_central_map_create(&map, features, &BALL, 0, NAN, 1, NULL), TACET_INVALID);
    /* the inner products of QFF may be negative although every norm is 1: no bound, so no map */
    assert_ok(tacet_features_create_qff(&qff, tacet_features_kernel(features), 10, NULL));
    assert_status(tacet_central_map_create(&map, qff, &BALL, 0, 0, 1, NULL), TACET_INVALID);
    assert_null(map);
    tacet_features_free(qff);
    tacet_features_free(features);
}

static void tells_problems_apart(void **state) {
    tacet_features *features = mercer(20);
    tacet_central_map *a = NULL, *b = NULL, *c = NULL;
    const tacet_domain smaller = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 1.5};
    assert_ok(tacet_central_map_create(&a, features, &BALL, 15, 0, 1, NULL));
    assert_ok(tacet_central_map_create(&b, features, &BALL, 15, 0, 1, NULL));
    assert_true(tacet_central_map_print(a) == tacet_central_map_print(b));
    assert_ok(tacet_central_map_create(&c, features, &smaller, 15, 0, 1, NULL));
    assert_true(tacet_central_map_print(a) != tacet_central_map_print(c));
    tacet_central_map_free(b);
    assert_ok(tacet_central_map_create(&b, features, &BALL, 15, 0, 2, NULL));
    assert_true(tacet_central_map_print(a) != tacet_central_map_print(b));
    tacet_central_map_free(a);
    tacet_central_map_free(b);
    tacet_central_map_free(c);
    tacet_features_free(features);
}

static void survives_failing_allocations(void **state) {
    tacet_features *features = mercer(20);
    tacet_central_map *map = NULL;
    assert_each_alloc_fails(tacet_central_map_create(&map, features, &BALL, 15, 0, 1, NULL), map == NULL);
    tacet_central_map_free(map);
    tacet_features_free(features);
}

/* Few features, many corners, a kernel that two corners hardly share: the sensitivity holds, and no corner is lost. */
static void corners_count_in_full(void **state) {
    enum { D = 4, CORNERS = 16, M = 5 };
    static const double ZERO[D] = {0}, ONE[D] = {1, 1, 1, 1}, SCALE = 0.6;
    static const size_t BINARY[D] = {2, 2, 2, 2};
    static const char *const KERNELS[] = {"se", "matern52"};
    const tacet_domain box = {.kind = TACET_DOMAIN_BOX, .d = D, .lower = ZERO, .upper = ONE, .levels = BINARY};
    double X[D * CORNERS], s[CORNERS][4 * M], work[M + D];
    for (size_t i = 0; i < CORNERS; i++) {
        for (size_t c = 0; c < D; c++) {
            X[i * D + c] = (double)(i >> c & 1);
        }
    }
    for (size_t k = 0; k < 2; k++) {
        tacet_features *features = NULL;
        tacet_central_map *map = NULL;
        tacet_kernel *kernel = test_kernel(KERNELS[k], D, SCALE);
        assert_ok(tacet_features_create_mercer_points(&features, kernel, X, D, NULL, CORNERS, M, NULL));
        assert_ok(tacet_central_map_create(&map, features, &box, 0, 0, 1, NULL));
        const double bound = tacet_central_map_sensitivity(map);
        assert_true(bound >= sqrt(2) && bound < sqrt(2) * (1 + 1e-6));
        for (size_t i = 0; i < CORNERS; i++) {
            double norm2 = 0, phi[M];
            tacet_features_eval(features, phi, X + i * D, D, 1);
            tacet_central_map_record(map, s[i], work, X + i * D, 1);
            tacet_central_map_record(map, s[i] + 2 * M, work, X + i * D, 0);
            for (size_t j = 0; j < M; j++) {
                norm2 += phi[j] * phi[j];
                assert_close(s[i][j], phi[j], 1e-14);
            }
            assert_true(norm2 > 0.1 && norm2 < 0.9); /* most of the kernel is missed, and the record is there */
        }
        for (size_t i = 0; i < 2 * (size_t)CORNERS; i++) {
            for (size_t j = 0; j < i; j++) {
                assert_true(distance(s[i / 2] + (i % 2) * 2 * M, s[j / 2] + (j % 2) * 2 * M, 2 * (size_t)M) <= bound);
            }
        }
        tacet_central_map_free(map);
        tacet_features_free(features);
        tacet_kernel_free(kernel);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_count_in_full), cmocka_unit_test(never_exceeded_and_attained),
        cmocka_unit_test(affine_and_wiped),      cmocka_unit_test(refuses),
        cmocka_unit_test(tells_problems_apart),  cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
