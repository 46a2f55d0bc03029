/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound.c - clipping: what comes out is inside the bound, in exact arithmetic; sensitivities; total on NaN. */
#include "support/gate.h"
#include "support/test.h"

#include <float.h>
#include <tacet/core/simrng.h>
#include "dp/bound.h"

__extension__ typedef __float128 quad;

static quad norm_sq(const double *x, size_t n) {
    quad sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (quad)x[i] * (quad)x[i];
    }
    return sum;
}

TEST(norm_is_proven) {
    /* in 113 bits, thousands of vectors near, inside and far outside of the ball never leave it, and keep direction */
    tacet_simrng rng = test_rng(7, 0);
    const size_t dims[] = {1, 2, 7, 100};
    const double radii[] = {1, 0.3, 1e-30, 7e40};
    for (size_t c = 0; c < 4; c++) {
        OWN_BOUND tacet_bound *bound = test_norm(dims[c], radii[c]);
        for (int trial = 0; trial < 500; trial++) {
            double x[100];
            double length = 0;
            for (size_t i = 0; i < dims[c]; i++) {
                x[i] = tacet_simrng_normal(&rng);
                length += x[i] * x[i];
            }
            length = sqrt(length);
            /* a third just about on the sphere */
            const double want = trial % 3 == 0 ? radii[c] : radii[c] * pow(10, 6 * tacet_simrng_uniform(&rng) - 3);
            for (size_t i = 0; i < dims[c]; i++) {
                x[i] *= want / length;
            }
            OWN_BOUNDED tacet_bounded *b = test_bounded(bound, x);
            assert_true(norm_sq(b->values, dims[c]) <= (quad)radii[c] * (quad)radii[c]);
            const double keep = want <= radii[c] ? 1 : radii[c] / want;
            for (size_t i = 0; i < dims[c]; i++) {
                assert_close(b->values[i] / radii[c], x[i] * keep / radii[c], 1e-12);
            }
        }
    }
}

TEST(clipping_does_not_spread) {
    tacet_simrng rng = test_rng(8, 0);
    OWN_BOUND tacet_bound *ball = NULL, *box = NULL;
    assert_ok(tacet_bound_norm(&ball, 5, 1, NULL));
    assert_ok(tacet_bound_range(&box, 5, -0.5, 0.75, NULL));
    const tacet_neighbours move = {TACET_RELATION_MOVE, 0.25};
    double l2 = 0, l1 = 0, box2 = 0, box1 = 0;
    assert_ok(tacet_bound_sensitivity(ball, &l2, &l1, &move, NULL));
    assert_ok(tacet_bound_sensitivity(box, &box2, &box1, &move, NULL));
    assert_close(l2, 0.25, 1e-13);
    assert_close(l1, 0.25 * sqrt(5), 1e-13);
    for (int trial = 0; trial < 2000; trial++) {
        double x[5], y[5], step = 0;
        for (int i = 0; i < 5; i++) {
            x[i] = tacet_simrng_normal(&rng);
            y[i] = tacet_simrng_normal(&rng);
            step += y[i] * y[i];
        }
        for (int i = 0; i < 5; i++) {
            y[i] = x[i] + y[i] * 0.2499999 / sqrt(step);
        }
        OWN_BOUNDED tacet_bounded *a = test_bounded(ball, x), *b = test_bounded(ball, y);
        OWN_BOUNDED tacet_bounded *c = test_bounded(box, x), *d = test_bounded(box, y);
        double diff[5], diff_box[5], one = 0;
        for (int i = 0; i < 5; i++) {
            diff[i] = a->values[i] - b->values[i];
            diff_box[i] = c->values[i] - d->values[i];
            one += fabs(diff_box[i]);
        }
        assert_true(norm_sq(diff, 5) <= (quad)l2 * (quad)l2);
        assert_true(norm_sq(diff_box, 5) <= (quad)box2 * (quad)box2);
        assert_true(one <= box1);
    }
}

TEST(boxes) {
    const double lower[] = {-1, 0, 5}, upper[] = {1, 10, 5}, below[] = {-3, -2};
    tacet_bound *bound = NULL;
    tacet_bounded *unset = NULL;
    assert_ok(tacet_bound_box(&bound, below, below + 1, 1, NULL));
    assert_ok(tacet_bounded_create(&unset, bound, NULL));
    assert_true(unset->values[0] == -2); /* within, though nothing was set */
    tacet_bounded_free(unset);
    tacet_bound_free(bound);
    assert_ok(tacet_bound_box(&bound, lower, upper, 3, NULL));
    assert_int_equal(bound->count, 3);
    assert_close(bound->radius, sqrt(126), 1e-12);
    assert_close(bound->diameter, sqrt(104), 1e-12);
    assert_close(bound->diameter_1, 12, 1e-12);
    assert_close(bound->diameter_max, 10, 1e-12);
    assert_true(bound->diameter >= sqrt(104) && bound->diameter_1 >= 12);
    assert_string_equal(tacet_bound_proof(bound), "");
    tacet_bounded *b = NULL;
    assert_ok(tacet_bounded_create(&b, bound, NULL));
    assert_true(b->values[0] == 0 && b->values[1] == 0 && b->values[2] == 5); /* even before clipping */
    tacet_bounded_free(b);
    b = test_bounded(bound, (double[]){-3, 4, 9});
    assert_true(b->values[0] == -1 && b->values[1] == 4 && b->values[2] == 5);
    tacet_bounded_free(b);
    /* total: NaN to the middle, infinities to the ends */
    b = test_bounded(bound, (double[]){NAN, INFINITY, -INFINITY});
    assert_true(b->values[0] == 0 && b->values[1] == 10 && b->values[2] == 5);
    tacet_bounded_free(b);
    tacet_bound_free(bound);
    assert_ok(tacet_bound_norm(&bound, 2, 1, NULL));
    const double strange[][2] = {{NAN, 0.5}, {0.5, INFINITY}, {-INFINITY, NAN}, {0, 0}};
    for (int i = 0; i < 4; i++) {
        b = test_bounded(bound, strange[i]);
        assert_true(b->values[0] == 0 && b->values[1] == 0);
        tacet_bounded_free(b);
    }
    /* neither overflow nor underflow */
    b = test_bounded(bound, (double[]){1e308, 1e308});
    assert_close(b->values[0], sqrt(0.5), 1e-12);
    tacet_bounded_free(b);
    b = test_bounded(bound, (double[]){5e-324, 0});
    assert_true(b->values[0] == 5e-324);
    tacet_bounded_free(b);
    tacet_bound_free(bound);
}

TEST(sensitivities) {
    double l2 = 0, l1 = 0;
    tacet_bound *bound = test_norm(4, 3);
    assert_true(bound->radius == 3); /* whether its numbers fit the grid follows from it */
    tacet_neighbours n = {TACET_RELATION_REPLACE, 0};
    assert_ok(tacet_bound_sensitivity(bound, &l2, &l1, &n, NULL));
    assert_close(l2, 6, 1e-15);
    assert_close(l1, 12, 1e-13);
    n = (tacet_neighbours){TACET_RELATION_MOVE, 1e9};
    assert_ok(tacet_bound_sensitivity(bound, &l2, &l1, &n, NULL));
    assert_close(l2, 6, 1e-15);
    const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        n.move = bad[i];
        assert_status(tacet_bound_sensitivity(bound, &l2, &l1, &n, NULL), TACET_INVALID);
    }
    n.relation = (tacet_relation)7;
    assert_status(tacet_bound_sensitivity(bound, &l2, &l1, &n, NULL), TACET_INVALID);
    tacet_bound_free(bound);
    /* rounding: two points move apart by at most a grid step in each coordinate */
    l2 = 1;
    l1 = 1;
    tacet__round_sensitivity(&l2, &l1, 16, -3);
    assert_close(l2, 1.5, 1e-15);
    assert_close(l1, 3, 1e-15);
    assert_true(l2 >= 1.5 && l1 >= 3);
}

TEST(narrowing) {
    tacet_bound *ball = NULL, *box = NULL, *narrow = NULL;
    assert_ok(tacet_bound_norm(&ball, 4, 1, NULL));
    assert_ok(tacet_bound_range(&box, 4, 0, 1, NULL));
    assert_ok(tacet_bound_narrow(&narrow, ball, 1.5, "src/central/README.md", NULL));
    assert_true(narrow->diameter == 1.5);
    assert_close(narrow->diameter_1, 3, 1e-12);
    assert_true(narrow->diameter_max == 1.5);
    assert_string_equal(tacet_bound_proof(narrow), "src/central/README.md");
    tacet_bounded *b = test_bounded(narrow, (double[]){3, 0, 0, 0});
    assert_close(b->values[0], 1, 1e-12);
    tacet_bounded_free(b);
    tacet_bound_free(narrow);
    assert_ok(tacet_bound_narrow_scores(&narrow, box, 0.25, "src/contextual/README.md", NULL));
    assert_true(narrow->diameter_max == 0.25);
    assert_close(narrow->diameter, 2, 1e-12);
    b = test_bounded(narrow, (double[]){3, -1, 0.5, 0});
    assert_true(b->values[0] == 1 && b->values[1] == 0);
    tacet_bounded_free(b);
    tacet_bound_free(narrow);
    assert_ok(tacet_bound_narrow_1(&narrow, box, 1.5, "x", NULL));
    assert_true(narrow->diameter_1 == 1.5 && narrow->diameter == 1.5);
    assert_true(narrow->diameter_max < 1.001);
    tacet_bound_free(narrow);
    assert_status(tacet_bound_narrow_1(&narrow, box, 4.1, "x", NULL), TACET_INVALID);
    /* never wider, never without its proof */
    const double bad[] = {2, 3, 0, -1, NAN};
    for (size_t i = 0; i < 5; i++) {
        assert_status(tacet_bound_narrow(&narrow, ball, bad[i], "x", NULL), TACET_INVALID);
        assert_null(narrow);
    }
    assert_status(tacet_bound_narrow(&narrow, ball, 1, NULL, NULL), TACET_INVALID);
    assert_status(tacet_bound_narrow(&narrow, ball, 1, "", NULL), TACET_INVALID);
    assert_status(tacet_bound_narrow(&narrow, ball, 1, "a\"b", NULL), TACET_INVALID);
    char text[300];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_status(tacet_bound_narrow(&narrow, ball, 1, text, NULL), TACET_INVALID);
    assert_status(tacet_bound_narrow_scores(&narrow, ball, 5, "x", NULL), TACET_INVALID);
    tacet_bound_free(ball);
    tacet_bound_free(box);
}

TEST(refusals) {
    OWN_BOUND tacet_bound *bound = NULL;
    const double bad[] = {0, -1, NAN, INFINITY, 1e101, 1e-101};
    for (size_t i = 0; i < 6; i++) {
        assert_status(tacet_bound_norm(&bound, 3, bad[i], NULL), TACET_INVALID);
        assert_null(bound);
    }
    assert_status(tacet_bound_norm(&bound, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_bound_norm(&bound, SIZE_MAX, 1, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, 0, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, SIZE_MAX, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, 2, 1, 0, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, 2, 1, 1e101, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, 2, NAN, 1, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, 2, 0, NAN, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, 2, 0, INFINITY, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, 2, -INFINITY, 0, NULL), TACET_INVALID);
    assert_status(tacet_bound_range(&bound, 2, 0, 0, NULL), TACET_INVALID);
    assert_status(tacet_bound_box(&bound, NULL, NULL, 0, NULL), TACET_INVALID);
    assert_null(bound);
    OWN_RAW tacet_raw *raw = NULL;
    assert_status(tacet_raw_create(&raw, 0, NULL), TACET_INVALID);
    assert_status(tacet_raw_create(&raw, SIZE_MAX, NULL), TACET_INVALID);
    assert_null(raw);
    const double two[] = {1, 2};
    raw = test_raw(two, 2);
    assert_status(tacet_raw_set(raw, two, 1, NULL), TACET_INVALID);
    assert_ok(tacet_bound_norm(&bound, 3, 1, NULL));
    OWN_BOUNDED tacet_bounded *b = NULL;
    assert_ok(tacet_bounded_create(&b, bound, NULL));
    tacet_error err;
    tacet_error_clear(&err);
    assert_status(tacet_bounded_set(b, raw, &err), TACET_INVALID);
    tacet_raw_free(NULL);
    tacet_bound_free(NULL);
    tacet_bounded_free(NULL);
}

TEST(out_of_memory) {
    for (long n = 1, hit = 1; hit != 0; n++) {
        tacet_raw *raw = NULL;
        tacet_bound *box = NULL, *ball = NULL, *narrow = NULL, *second = NULL;
        tacet_bounded *b = NULL;
        fail_alloc_after(n);
        tacet_status s = tacet_raw_create(&raw, 2, NULL);
        TACET_THEN(s, tacet_bound_range(&box, 2, 0, 1, NULL));
        TACET_THEN(s, tacet_bound_norm(&ball, 2, 1, NULL));
        TACET_THEN(s, tacet_bound_narrow(&narrow, box, 0.5, "x", NULL));
        TACET_THEN(s, tacet_bound_narrow(&second, ball, 0.5, "x", NULL));
        TACET_THEN(s, tacet_bounded_create(&b, box, NULL));
        hit = fail_alloc_end();
        tacet_bounded_free(b);
        tacet_raw_free(raw);
        tacet_bound_free(box);
        tacet_bound_free(ball);
        tacet_bound_free(narrow);
        tacet_bound_free(second);
        assert_status(s, hit != 0 ? TACET_NO_MEMORY : TACET_OK);
        assert_true(hit != 0 || n > 10);
    }
}
