/* SPDX-License-Identifier: Apache-2.0 */
/* test_subtotal.c - a sum does not know how its rows were cut or ordered, holds each part once, and refuses what is not
 * its own: other plans, other versions, bytes that are damaged. */
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <tacet/subtotal/trusted/subtotal.h>

enum { NUMBERS = 7, ROWS = 1000 };

static const tacet_subtotal_plan PLAN = {.hash = {1, 2, 3}, .numbers = NUMBERS};

typedef struct row {
    size_t at[2];
    int64_t steps[2];
} row;

static void draw_rows(row *rows) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 42, 1);
    for (size_t i = 0; i < ROWS; i++) {
        const size_t at = tacet_simrng_below(&rng, NUMBERS - 1);
        const int64_t up = (int64_t)tacet_simrng_below(&rng, (size_t)TACET_SUBTOTAL_ONE + 1);
        rows[i] = (row){.at = {at, at + 1}, .steps = {up, TACET_SUBTOTAL_ONE - up}};
    }
}

static tacet_subtotal *sum_of(const row *rows, size_t first, size_t step, size_t count, const char *part) {
    tacet_subtotal *t = NULL;
    assert_ok(tacet_subtotal_create(&t, &PLAN, part, NULL));
    for (size_t i = 0; i < count; i++) {
        assert_ok(tacet_subtotal_add(t, rows[first + i * step].at, rows[first + i * step].steps, 2, NULL));
    }
    return t;
}

static void any_way_to_cut_and_order_rows_gives_the_same_bits(void **state) {
    static const size_t cuts[] = {1, 2, 4, 8};
    row rows[ROWS];
    unsigned char whole[TACET_SUBTOTAL_PLAN], digest[TACET_SUBTOTAL_PLAN];
    (void)state;
    draw_rows(rows);
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        const size_t n = cuts[k];
        tacet_subtotal *all = NULL;
        for (size_t part = n; part-- > 0;) {
            char name[32];
            (void)snprintf(name, sizeof name, "part %zu", part);
            tacet_subtotal *one = sum_of(rows, part, n, ROWS / n, name);
            if (all == NULL) {
                all = one;
                continue;
            }
            assert_ok(tacet_subtotal_merge(all, one, NULL));
            tacet_subtotal_free(one);
        }
        assert_int_equal(tacet_subtotal_rows(all), ROWS);
        assert_int_equal(tacet_subtotal_parts(all), n);
        tacet_subtotal_digest(all, k == 0 ? whole : digest);
        assert_true(k == 0 || memcmp(whole, digest, sizeof whole) == 0);
        tacet_subtotal_free(all);
    }
    /* One step more in one row is another sum. */
    rows[3].steps[0]++;
    tacet_subtotal *other = sum_of(rows, 0, 1, ROWS, "p");
    tacet_subtotal_digest(other, digest);
    assert_true(memcmp(whole, digest, sizeof whole) != 0);
    tacet_subtotal_free(other);
}

static void sums_are_exact_where_doubles_are_not(void **state) {
    const size_t at = 0;
    const int64_t large = INT64_MAX - 1, small = 1;
    tacet_subtotal *t = NULL;
    tacet_raw *raw = NULL;
    (void)state;
    assert_ok(tacet_subtotal_create(&t, &PLAN, "p", NULL));
    for (int i = 0; i < 4; i++) { /* beyond 64 bits */
        assert_ok(tacet_subtotal_add(t, &at, &large, 1, NULL));
    }
    assert_int_equal(tacet_subtotal_raw(t, &raw, NULL), TACET_OVERFLOW);
    assert_ok(tacet_subtotal_add(t, &at, &small, 1, NULL));
    const int64_t back = -(INT64_MAX - 1);
    for (int i = 0; i < 4; i++) {
        assert_ok(tacet_subtotal_add(t, &at, &back, 1, NULL));
    }
    assert_true(tacet_subtotal_number(t, 0) == 1.0 / (double)TACET_SUBTOTAL_ONE);
    assert_ok(tacet_subtotal_raw(t, &raw, NULL));
    tacet_raw_free(raw);
    tacet_subtotal_free(t);
}

static void a_part_is_counted_once(void **state) {
    row rows[ROWS];
    unsigned char before[TACET_SUBTOTAL_PLAN], after[TACET_SUBTOTAL_PLAN];
    (void)state;
    draw_rows(rows);
    tacet_subtotal *a = sum_of(rows, 0, 1, 10, "a");
    tacet_subtotal *b = sum_of(rows, 10, 1, 10, "b");
    tacet_subtotal *b_again = sum_of(rows, 10, 1, 10, "b");
    assert_ok(tacet_subtotal_merge(a, b, NULL));
    tacet_subtotal_digest(a, before);
    assert_int_equal(tacet_subtotal_merge(a, b_again, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_subtotal_merge(a, a, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_subtotal_merge(b_again, a, NULL), TACET_CONFLICT);
    tacet_subtotal_digest(a, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(tacet_subtotal_rows(a), 20);
    tacet_subtotal_free(a);
    tacet_subtotal_free(b);
    tacet_subtotal_free(b_again);
}

static void saved_and_loaded_it_is_the_same_and_still_knows_its_parts(void **state) {
    row rows[ROWS];
    tacet_blob blob;
    tacet_subtotal *back = NULL;
    tacet_error err = {0};
    unsigned char before[TACET_SUBTOTAL_PLAN], after[TACET_SUBTOTAL_PLAN];
    (void)state;
    draw_rows(rows);
    tacet_subtotal *a = sum_of(rows, 0, 1, ROWS, "a");
    tacet_blob_init(&blob);
    assert_ok(tacet_subtotal_save(a, &blob, NULL));
    assert_ok(tacet_subtotal_load(&back, &PLAN, blob.data, blob.size, NULL));
    tacet_subtotal_digest(a, before);
    tacet_subtotal_digest(back, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(tacet_subtotal_merge(back, a, NULL), TACET_CONFLICT);
    tacet_subtotal_free(back);
    tacet_subtotal_plan other = PLAN;
    other.hash[0] ^= 1;
    assert_int_equal(tacet_subtotal_load(&back, &other, blob.data, blob.size, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "another plan"));
    assert_null(back);
    for (size_t cut = 0; cut < blob.size; cut += 13) {
        assert_int_equal(tacet_subtotal_load(&back, &PLAN, blob.data, cut, NULL), TACET_CORRUPT);
    }
    for (size_t i = 0; i < blob.size; i += 7) { /* one bit anywhere, the version's included */
        ((unsigned char *)blob.data)[i] ^= 4;
        assert_int_equal(tacet_subtotal_load(&back, &PLAN, blob.data, blob.size, NULL), TACET_CORRUPT);
        ((unsigned char *)blob.data)[i] ^= 4;
    }
    tacet_blob_clear(&blob);
    tacet_subtotal_free(a);
}

static void other_plans_and_places_are_refused(void **state) {
    const size_t at[2] = {0, NUMBERS};
    const int64_t steps[2] = {5, 5};
    tacet_subtotal_plan other = PLAN;
    tacet_subtotal *a = NULL, *b = NULL;
    (void)state;
    other.numbers--;
    assert_ok(tacet_subtotal_create(&a, &PLAN, "a", NULL));
    assert_ok(tacet_subtotal_create(&b, &other, "b", NULL));
    assert_int_equal(tacet_subtotal_merge(a, b, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_subtotal_add(a, at, steps, 2, NULL), TACET_INVALID);
    assert_true(tacet_subtotal_number(a, 0) == 0 && tacet_subtotal_rows(a) == 0);
    tacet_subtotal_free(a);
    tacet_subtotal_free(b);
    assert_int_equal(tacet_subtotal_create(&a, &PLAN, "", NULL), TACET_INVALID);
    other.numbers = 0;
    assert_int_equal(tacet_subtotal_create(&a, &other, "a", NULL), TACET_INVALID);
    assert_null(a);
}

static void creating_fails_cleanly_without_memory(void **state) {
    tacet_subtotal *t = NULL;
    (void)state;
    assert_each_alloc_fails(tacet_subtotal_create(&t, &PLAN, "a", NULL), t == NULL);
    tacet_subtotal_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_way_to_cut_and_order_rows_gives_the_same_bits),
        cmocka_unit_test(sums_are_exact_where_doubles_are_not),
        cmocka_unit_test(a_part_is_counted_once),
        cmocka_unit_test(saved_and_loaded_it_is_the_same_and_still_knows_its_parts),
        cmocka_unit_test(other_plans_and_places_are_refused),
        cmocka_unit_test(creating_fails_cleanly_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
