/* SPDX-License-Identifier: Apache-2.0 */
/* test_map.c - the problem of a study over decision sets, and the statistic of a round. */
#include "gp/kernel_internal.h"
#include "support/map_record.h"
#include "support/test.h"

#include "central/shared/features.h"
#include "gp/domain.h"

#include "central/shared/map.h"
#include <tacet/core/simrng.h>

static const tacet_domain BALL = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};

static tacet_features *mercer(size_t m) {
    tacet_features *features = NULL;
    tacet_kernel *kernel = test_kernel("se", 2, 1);
    assert_ok(tacet_features_create_mercer(&features, kernel, &BALL, 12, m, NULL));
    tacet_kernel_free(kernel);
    return features;
}

TEST(a_record_is_affine_in_its_reward) {
    tacet_features *features = mercer(20);
    tacet_central_map *map = NULL;
    assert_ok(tacet_central_map_create(&map, features, &BALL, 0, -2, 6, NULL));
    assert_int_equal(tacet_central_map_released(map), 20);
    const double x[2] = {0.4, -0.7};
    double s[40], phi[20], work[22];
    tacet_features_eval(features, phi, x, 2, 1);
    map_record(map, s, work, x, 0); /* v = 1/4 */
    for (size_t i = 0; i < 20; i++) {
        assert_close(s[i], 0.25 * phi[i], 1e-14);
        assert_close(s[20 + i], 0.75 * phi[i], 1e-14);
    }
    tacet_central_map_free(map);
    tacet_features_free(features);
}

TEST(refuses) {
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
    assert_ok(tacet_features_create_qff(&qff, tacet_features_kernel(features), 10, NULL));
    assert_status(tacet_central_map_create(&map, qff, &BALL, 0, 0, 1, NULL), TACET_INVALID);
    assert_null(map);
    tacet_features_free(qff);
    tacet_features_free(features);
}

TEST(tells_problems_apart) {
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

TEST(survives_failing_allocations) {
    tacet_features *features = mercer(20);
    tacet_central_map *map = NULL;
    assert_each_alloc_fails(tacet_central_map_create(&map, features, &BALL, 15, 0, 1, NULL), map == NULL);
    tacet_central_map_free(map);
    tacet_features_free(features);
}

/* Three binary columns, one of three levels and a choice of three: 72 points. */
enum { MIXED = 7, MIXED_POINTS = 72 };
static const double LOW[MIXED] = {0, 0, -1, 2, 0, 0, 0}, HIGH[MIXED] = {1, 1, 3, 5, 0.7, 0.7, 0.7};
static const size_t LEVELS[MIXED] = {2, 2, 2, 3, 0, 0, 0}, CHOICE[MIXED] = {0, 0, 0, 0, 1, 1, 1};
static const tacet_domain COLUMNS = {
    .kind = TACET_DOMAIN_BOX, .d = MIXED, .lower = LOW, .upper = HIGH, .levels = LEVELS, .choice = CHOICE};

static tacet_features *of_columns(const tacet_kernel *kernel, size_t most) {
    tacet_features *features = NULL;
    assert_ok(tacet__central_features(&features, kernel, &COLUMNS, most, NULL));
    return features;
}

/* The mean of "the same value" over the five columns and the kernel, computed here from the values alone. */
TEST(columns_features_are_of_effects_and_kernel) {
    tacet_kernel *kernel = test_kernel("matern52", MIXED, 1.5);
    tacet_features *features = of_columns(kernel, 0);
    const size_t m = tacet_features_dim(features);
    double X[MIXED * MIXED_POINTS], *phi = calloc(m * MIXED_POINTS, sizeof(double)), k[MIXED_POINTS];
    tacet__domain_spread(&COLUMNS, X, MIXED_POINTS);
    tacet_features_eval(features, phi, X, MIXED, MIXED_POINTS);
    for (size_t j = 0; j < MIXED_POINTS; j++) {
        tacet_kernel_row(kernel, k, X, MIXED, MIXED_POINTS, X + j * MIXED);
        for (size_t i = 0; i < MIXED_POINTS; i++) {
            const double *x = X + i * MIXED, *y = X + j * MIXED;
            const bool choice = x[4] == y[4] && x[5] == y[5] && x[6] == y[6];
            const double same = (x[0] == y[0]) + (x[1] == y[1]) + (x[2] == y[2]) + (x[3] == y[3]) + choice;
            double got = 0;
            for (size_t l = 0; l < m; l++) {
                got += phi[i * m + l] * phi[j * m + l];
            }
            assert_close(got, (same + k[i]) / 6, 1e-4);
        }
    }
    free(phi);
    tacet_features_free(features);
    tacet_kernel_free(kernel);
}

TEST(points_go_to_the_nearest_level) {
    double x[MIXED] = {0.6, -3, 0.9, 3.4, 0.2, 0.3, 0.1}, y[MIXED] = {NAN, 0.4, 1.1, 9, 0.7, 0.7, NAN};
    const double nearest[MIXED] = {1, 0, -1, 3.5, 0, 0.7, 0}, other[MIXED] = {1, 0, 3, 5, 0.7, 0, 0};
    tacet__domain_clip(&COLUMNS, x);
    tacet__domain_clip(&COLUMNS, y);
    for (size_t c = 0; c < MIXED; c++) {
        assert_close(x[c], nearest[c], 1e-15);
        assert_close(y[c], other[c], 1e-15);
    }
}

TEST(features_of_columns_survive_failing_allocations) {
    tacet_kernel *kernel = test_kernel("se", MIXED, 1);
    tacet_features *features = NULL;
    assert_each_alloc_fails(tacet__central_features(&features, kernel, &COLUMNS, 20, NULL), features == NULL);
    tacet_features_free(features);
    features = of_columns(kernel, 20);
    tacet_central_map *map = NULL;
    assert_each_alloc_fails(tacet_central_map_create(&map, features, &COLUMNS, 15, 0, 1, NULL), map == NULL);
    tacet_central_map_free(map);
    tacet_features_free(features);
    tacet_kernel_free(kernel);
}
