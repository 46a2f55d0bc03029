/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - sizes that do not fit are refused as if memory had run out; growth keeps what is there. */
#include "support/test.h"

#include "core/memory.h"

TEST(test_sizes) {
    static const size_t edge[] = {0, 1, 2, 3, SIZE_MAX / 3, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX - 1, SIZE_MAX};
    const size_t count = sizeof edge / sizeof edge[0];
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            const size_t a = edge[i];
            const size_t b = edge[k];
            size_t out = 77;
            const bool adds = a <= SIZE_MAX - b;
            assert_int_equal(tacet__size_add(&out, a, b), adds);
            assert_true(out == (adds ? a + b : 77));
            out = 77;
            const bool multiplies = b == 0 || a <= SIZE_MAX / b;
            assert_int_equal(tacet__size_mul(&out, a, b), multiplies);
            assert_true(out == (multiplies ? a * b : 77));
        }
    }
}

TEST(test_allocation) {
    assert_null(tacet__zalloc(SIZE_MAX / 2, 3));
    assert_null(tacet__aligned(SIZE_MAX / 2, 3));
    assert_null(tacet__aligned(SIZE_MAX - 8, 1)); /* rounding up to the alignment must not wrap */
    for (size_t n = 0; n < 200; n += 13) {
        unsigned char *zeros = TACET__ZALLOC(unsigned char, n);
        OWN_MEMORY double *aligned = TACET__ALIGNED(double, n);
        assert_non_null(zeros);
        assert_non_null(aligned);
        assert_int_equal((size_t)aligned % 64, 0);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(zeros[i], 0);
            aligned[i] = 1;
        }
        free(zeros);
    }
    fail_alloc_after(1);
    assert_null(tacet__zalloc(1, 1));
    assert_int_equal(fail_alloc_hit(), 1);
    fail_alloc_after(1);
    assert_null(tacet__aligned(1, 1));
    fail_alloc_after(0);
}

TEST(test_grow) {
    OWN_MEMORY int *array = NULL;
    size_t capacity = 0;
    size_t moves = 0;
    for (int i = 0; i < 10000; i++) {
        const size_t before = capacity;
        assert_true(tacet__grow((void **)&array, &capacity, (size_t)i + 1, sizeof *array));
        assert_true(capacity > (size_t)i);
        moves += capacity != before;
        array[i] = i;
    }
    assert_true(moves <= 12); /* doubling from 8 */
    int *const kept = array;
    const size_t held = capacity;
    fail_alloc_after(1);
    assert_false(tacet__grow((void **)&array, &capacity, held + 1, sizeof *array));
    fail_alloc_after(0);
    assert_false(tacet__grow((void **)&array, &capacity, SIZE_MAX, sizeof *array));
    assert_false(tacet__grow((void **)&array, &capacity, SIZE_MAX / 2, sizeof *array));
    assert_ptr_equal(array, kept);
    assert_int_equal(capacity, held);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(array[i], i);
    }
}
