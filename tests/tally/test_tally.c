/* SPDX-License-Identifier: Apache-2.0 */
/* test_tally.c - a sum does not know how its rows were cut or ordered, holds each part once, and refuses what is not
 * its own: other plans, other versions, bytes that are damaged. */
#include "support/gate.h"
#include "support/test.h"

#include <sodium.h>
#include "tally/gate.h"

#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>
#include <tacet/tally/trusted/tally.h>

enum { NUMBERS = 7, ROWS = 1000 };

static const tacet_tally_plan PLAN = {.hash = {1, 2, 3}, .numbers = NUMBERS};

typedef struct row {
    size_t at[2];
    int64_t steps[2];
} row;

static void draw_rows(row *rows) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 42, 1);
    for (size_t i = 0; i < ROWS; i++) {
        const size_t at = tacet_simrng_below(&rng, NUMBERS - 1);
        const int64_t up = (int64_t)tacet_simrng_below(&rng, (size_t)TACET_TALLY_ONE + 1);
        rows[i] = (row){.at = {at, at + 1}, .steps = {up, TACET_TALLY_ONE - up}};
    }
}

static tacet_tally *sum_of(const row *rows, size_t first, size_t step, size_t count, const char *part) {
    tacet_tally *t = NULL;
    assert_ok(tacet_tally_create(&t, &PLAN, part, NULL));
    for (size_t i = 0; i < count; i++) {
        assert_ok(tacet_tally_add(t, 1, rows[first + i * step].at, rows[first + i * step].steps, 2, NULL));
    }
    return t;
}

TEST(any_way_to_cut_and_order_rows_gives_the_same_bits) {
    static const size_t cuts[] = {1, 2, 4, 8};
    row rows[ROWS];
    unsigned char whole[TACET_TALLY_PLAN], digest[TACET_TALLY_PLAN];
    draw_rows(rows);
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        const size_t n = cuts[k];
        tacet_tally *all = NULL;
        for (size_t part = n; part-- > 0;) {
            OWN_TEXT char *name = test_text("part %zu", part);
            tacet_tally *one = sum_of(rows, part, n, ROWS / n, name);
            if (all == NULL) {
                all = one;
                continue;
            }
            assert_ok(tacet_tally_merge(all, one, NULL));
            tacet_tally_free(one);
        }
        assert_int_equal(tacet_tally_rows(all), ROWS);
        assert_int_equal(tacet_tally_parts(all), n);
        tacet_tally_digest(all, k == 0 ? whole : digest);
        assert_true(k == 0 || memcmp(whole, digest, sizeof whole) == 0);
        tacet_tally_free(all);
    }
    /* One step more in one row is another sum. */
    rows[3].steps[0]++;
    tacet_tally *other = sum_of(rows, 0, 1, ROWS, "p");
    tacet_tally_digest(other, digest);
    assert_true(memcmp(whole, digest, sizeof whole) != 0);
    tacet_tally_free(other);
}

TEST(a_group_added_up_elsewhere_counts_as_its_rows) {
    row rows[ROWS];
    size_t at[NUMBERS];
    int64_t steps[NUMBERS] = {0};
    unsigned char whole[TACET_TALLY_PLAN], digest[TACET_TALLY_PLAN];
    tacet_tally *grouped = NULL;
    draw_rows(rows);
    for (size_t i = 0; i < NUMBERS; i++) {
        at[i] = i;
    }
    for (size_t i = 0; i < 2 * ROWS; i++) {
        steps[rows[i / 2].at[i % 2]] += rows[i / 2].steps[i % 2];
    }
    tacet_tally *one = sum_of(rows, 0, 1, ROWS, "a");
    assert_ok(tacet_tally_create(&grouped, &PLAN, "b", NULL));
    assert_ok(tacet_tally_add(grouped, ROWS, at, steps, NUMBERS, NULL));
    tacet_tally_digest(one, whole);
    tacet_tally_digest(grouped, digest);
    assert_memory_equal(whole, digest, sizeof whole);
    assert_int_equal(tacet_tally_add(grouped, UINT64_C(1) << 62, at, steps, NUMBERS, NULL), TACET_INVALID);
    assert_int_equal(tacet_tally_rows(grouped), ROWS);
    tacet_tally_free(one);
    tacet_tally_free(grouped);
}

TEST(sums_are_exact_where_doubles_are_not) {
    const size_t at = 0;
    const int64_t large = INT64_MAX - 1, small = 1;
    tacet_tally *t = NULL;
    tacet_raw *raw = NULL;
    assert_ok(tacet_tally_create(&t, &PLAN, "p", NULL));
    for (int i = 0; i < 4; i++) { /* beyond 64 bits */
        assert_ok(tacet_tally_add(t, 1, &at, &large, 1, NULL));
    }
    assert_int_equal(tacet_tally_raw(t, &raw, 1, NULL), TACET_OVERFLOW);
    assert_ok(tacet_tally_add(t, 1, &at, &small, 1, NULL));
    const int64_t back = -(INT64_MAX - 1);
    for (int i = 0; i < 4; i++) {
        assert_ok(tacet_tally_add(t, 1, &at, &back, 1, NULL));
    }
    assert_true(tacet_tally_number(t, 0) == 1.0 / (double)TACET_TALLY_ONE);
    assert_ok(tacet_tally_raw(t, &raw, 1, NULL));
    tacet_raw_free(raw);
    assert_status(tacet_tally_raw(t, &raw, NUMBERS + 1, NULL), TACET_INVALID);
    tacet_tally_free(t);
}

TEST(a_part_is_counted_once) {
    row rows[ROWS];
    unsigned char before[TACET_TALLY_PLAN], after[TACET_TALLY_PLAN];
    draw_rows(rows);
    tacet_tally *a = sum_of(rows, 0, 1, 10, "a");
    tacet_tally *b = sum_of(rows, 10, 1, 10, "b");
    tacet_tally *b_again = sum_of(rows, 10, 1, 10, "b");
    assert_ok(tacet_tally_merge(a, b, NULL));
    tacet_tally_digest(a, before);
    assert_int_equal(tacet_tally_merge(a, b_again, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_tally_merge(a, a, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_tally_merge(b_again, a, NULL), TACET_CONFLICT);
    tacet_tally_digest(a, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(tacet_tally_rows(a), 20);
    tacet_tally *full = NULL; /* with as many rows as a tally may have, none fits beside them */
    assert_ok(tacet_tally_create(&full, &PLAN, "full", NULL));
    assert_ok(tacet_tally_add(full, (uint64_t)1 << 62, NULL, NULL, 0, NULL));
    assert_int_equal(tacet_tally_merge(full, a, NULL), TACET_INVALID);
    tacet_tally_free(full);
    tacet_tally_free(a);
    tacet_tally_free(b);
    tacet_tally_free(b_again);
}

/* Whichever parts two sums have, they merge if and only if none is in both. */
TEST(parts_in_common_are_seen_wherever_they_stand) {
    enum { PARTS = 5, SETS = 1 << PARTS };
    row rows[ROWS];
    draw_rows(rows);
    for (size_t i = 1; i < SETS; i++) {
        for (size_t j = 1; j < SETS; j++) {
            const size_t sets[2] = {i, j};
            tacet_tally *sums[2] = {NULL, NULL};
            for (size_t k = 0; k < 2 * PARTS; k++) {
                if ((sets[k / PARTS] >> k % PARTS & 1) == 0) {
                    continue;
                }
                OWN_TEXT char *name = test_text("part %zu", k % PARTS);
                tacet_tally *one = sum_of(rows, k % PARTS, 1, 1, name), **sum = &sums[k / PARTS];
                if (*sum == NULL) {
                    *sum = one;
                } else {
                    assert_ok(tacet_tally_merge(*sum, one, NULL));
                    tacet_tally_free(one);
                }
            }
            assert_int_equal(tacet_tally_merge(sums[0], sums[1], NULL), (i & j) != 0 ? TACET_CONFLICT : TACET_OK);
            tacet_tally_free(sums[0]);
            tacet_tally_free(sums[1]);
        }
    }
}

TEST(saved_and_loaded_it_is_the_same_and_still_knows_its_parts) {
    row rows[ROWS];
    tacet_blob blob;
    tacet_tally *back = NULL;
    tacet_error err = {0};
    unsigned char before[TACET_TALLY_PLAN], after[TACET_TALLY_PLAN];
    draw_rows(rows);
    tacet_tally *a = sum_of(rows, 0, 1, ROWS, "a");
    tacet_blob_init(&blob);
    assert_ok(tacet_tally_save(a, &blob, NULL));
    assert_ok(tacet_tally_load(&back, &PLAN, blob.data, blob.size, NULL));
    tacet_tally_digest(a, before);
    tacet_tally_digest(back, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(tacet_tally_merge(back, a, NULL), TACET_CONFLICT);
    tacet_tally_free(back);
    tacet_tally_plan other = PLAN;
    other.hash[0] ^= 1;
    assert_int_equal(tacet_tally_load(&back, &other, blob.data, blob.size, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "another plan"));
    assert_null(back);
    for (size_t cut = 0; cut < blob.size; cut += 13) {
        assert_int_equal(tacet_tally_load(&back, &PLAN, blob.data, cut, NULL), TACET_CORRUPT);
    }
    for (size_t i = 0; i < blob.size; i += 7) { /* one bit anywhere, the version's included */
        ((unsigned char *)blob.data)[i] ^= 4;
        assert_int_equal(tacet_tally_load(&back, &PLAN, blob.data, blob.size, NULL), TACET_CORRUPT);
        ((unsigned char *)blob.data)[i] ^= 4;
    }
    /* Whole, but of a later version, or of no part at all. */
    static const struct {
        size_t at;
        const char *words;
    } FORGED[] = {{6, "version 3, expected 1"}, {17 + 8 + TACET_TALLY_PLAN + 16, "head is malformed"}};
    for (size_t i = 0; i < 2; i++) {
        unsigned char *bytes = blob.data;
        bytes[FORGED[i].at] ^= i == 0 ? 2 : 1;
        assert_int_equal(crypto_generichash(bytes + blob.size - 32, 32, bytes, blob.size - 32, NULL, 0), 0);
        tacet_error_clear(&err);
        assert_int_equal(tacet_tally_load(&back, &PLAN, blob.data, blob.size, &err), TACET_CORRUPT);
        assert_non_null(strstr(err.message, FORGED[i].words));
        assert_null(back);
        bytes[FORGED[i].at] ^= i == 0 ? 2 : 1;
    }
    tacet_blob_clear(&blob);
    tacet_tally_free(a);
}

/* Bytes that are whole and lie: more rows than a tally may have, sums that so many rows cannot make, parts that are out
 * of order or there twice, counts beyond the file, fields cut short. What is at a bound itself loads. */
TEST(numbers_that_no_tally_has_are_refused) {
    enum { HEAD = 17 + 8 + TACET_TALLY_PLAN, ROWS_AT = HEAD + 8, PARTS_AT = HEAD + 16, PART_AT = HEAD + 24 };
    enum { SECOND_PART = PART_AT + 24, NUMBER_AT = PART_AT + 48, FIELD = 8 };
    static const unsigned char most[16] = {[7] = 0x80}, above[16] = {1, [7] = 0x80};
    static const unsigned char least[16] = {[7] = 0x80, 255, 255, 255, 255, 255, 255, 255, 255};
    static const unsigned char below[16] = {255, 255, 255, 255, 255, 255, 255, 0x7f,
                                            255, 255, 255, 255, 255, 255, 255, 255};
    static const unsigned char none[16] = {0}, many[16] = {[7] = 0x40}, more[16] = {1, [7] = 0x40};
    static const unsigned char one[16] = {1}, huge[16] = {[5] = 1}, size[16] = {15};
    const struct {
        size_t at;
        const unsigned char *bytes;
        size_t length;
        const char *words; /* NULL: it loads */
    } forged[] = {{NUMBER_AT + FIELD, most, 16, NULL},
                  {NUMBER_AT + FIELD, above, 16, "a field"},
                  {NUMBER_AT + FIELD, least, 16, NULL},
                  {NUMBER_AT + FIELD, below, 16, "a field"},
                  {NUMBER_AT, size, 8, "wrong length"},
                  {ROWS_AT, many, 8, NULL},
                  {ROWS_AT, more, 8, "a field"},
                  {PARTS_AT, one, 8, "a field"},
                  {PARTS_AT, huge, 8, "head"},
                  {PART_AT, size, 8, "a field"},
                  {SECOND_PART + FIELD, none, 16, "a field"},
                  {HEAD, huge, 8, "head"}};
    const size_t at = 0;
    const int64_t step = 1;
    tacet_blob blob;
    tacet_tally *a = NULL, *b = NULL, *back = NULL;
    assert_ok(tacet_tally_create(&a, &PLAN, "a", NULL));
    assert_ok(tacet_tally_create(&b, &PLAN, "b", NULL));
    assert_ok(tacet_tally_add(a, 1, &at, &step, 1, NULL));
    assert_ok(tacet_tally_merge(a, b, NULL));
    tacet_blob_init(&blob);
    assert_ok(tacet_tally_save(a, &blob, NULL));
    OWN_MEMORY unsigned char *bytes = malloc(blob.size);
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof forged / sizeof *forged + 2; i++) {
        tacet_error err = {0};
        size_t whole = blob.size;
        const char *words = "a field";
        memcpy(bytes, blob.data, blob.size);
        if (i < sizeof forged / sizeof *forged) {
            memcpy(bytes + forged[i].at, forged[i].bytes, forged[i].length);
            words = forged[i].words;
        } else if (i == sizeof forged / sizeof *forged) { /* the second part is the first one */
            memcpy(bytes + SECOND_PART + FIELD, bytes + PART_AT + FIELD, 16);
        } else { /* the last number is a byte short, and so is the file */
            words = "wrong length";
            whole--;
            memcpy(bytes + whole - 32 - 15 - FIELD, size, FIELD);
        }
        assert_int_equal(crypto_generichash(bytes + whole - 32, 32, bytes, whole - 32, NULL, 0), 0);
        const tacet_status status = tacet_tally_load(&back, &PLAN, bytes, whole, &err);
        assert_int_equal(status, words == NULL ? TACET_OK : TACET_CORRUPT);
        assert_true(words == NULL ? back != NULL : back == NULL && strstr(err.message, words) != NULL);
        tacet_tally_free(back);
        back = NULL;
    }
    tacet_blob_clear(&blob);
    tacet_tally_free(a);
    tacet_tally_free(b);
}

TEST(other_plans_and_places_are_refused) {
    const size_t at[2] = {0, NUMBERS};
    const int64_t steps[2] = {5, 5};
    tacet_tally_plan other = PLAN;
    tacet_tally *a = NULL, *b = NULL;
    other.numbers--;
    assert_ok(tacet_tally_create(&a, &PLAN, "a", NULL));
    assert_ok(tacet_tally_create(&b, &other, "b", NULL));
    assert_int_equal(tacet_tally_merge(a, b, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_tally_add(a, 1, at, steps, 2, NULL), TACET_INVALID);
    assert_true(tacet_tally_number(a, 0) == 0 && tacet_tally_rows(a) == 0);
    tacet_tally_free(a);
    tacet_tally_free(b);
    assert_int_equal(tacet_tally_create(&a, &PLAN, "", NULL), TACET_INVALID);
    other.numbers = 0;
    assert_int_equal(tacet_tally_create(&a, &other, "a", NULL), TACET_INVALID);
    assert_null(a);
}

TEST(every_value_counts_between_the_ends) {
    static const int64_t one = TACET_TALLY_ONE;
    const struct {
        double value;
        int64_t steps;
    } cases[] = {{-2, 0},        {4, one},     {3, one},    {0.5, one / 2},   {NAN, 0},           {INFINITY, one},
                 {-INFINITY, 0}, {1e300, one}, {-1e300, 0}, {-1.99999999, 0}, {1.75, 3 * one / 4}};
    tacet_simrng rng = test_rng(1, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tacet_tally_steps(cases[i].value, -2, 3), cases[i].steps);
    }
    for (int i = 0; i < 20000; i++) { /* ranges of all sizes, values at and around their ends */
        const double lower = ldexp(tacet_simrng_normal(&rng), (int)tacet_simrng_below(&rng, 60) - 30);
        const double upper = lower + ldexp(1 + tacet_simrng_uniform(&rng), (int)tacet_simrng_below(&rng, 60) - 30);
        const double values[] = {nextafter(upper, -INFINITY), nextafter(lower, INFINITY), lower, upper,
                                 lower + tacet_simrng_uniform(&rng) * (upper - lower)};
        for (size_t k = 0; k < 5; k++) {
            const int64_t steps = tacet_tally_steps(values[k], lower, upper);
            assert_true(steps >= 0 && steps <= one);
        }
    }
}

/* Two sums 20 records apart, eps 1: permute-and-flip takes the smaller one with probability e^-10/2 + … < 1e-4; with
 * the sensitivity of a mean (n times too much noise) it would be a half. The receipt's sensitivity is what the noise
 * was calibrated for. */
TEST(sums_leave_with_the_sensitivity_that_they_have) {
    enum { RUNS = 400 };
    static const tacet_tally_plan two = {.hash = {9}, .numbers = 2};
    const size_t at[2] = {0, 1};
    const int64_t steps[2] = {40 * TACET_TALLY_ONE, 60 * TACET_TALLY_ONE};
    tacet_tally *t = NULL;
    tacet_raw *raw = NULL;
    tacet_release *release = NULL;
    tacet_ask ask = test_ask(4, 0);
    size_t worse = 0;
    assert_ok(tacet_tally_create(&t, &two, "all", NULL));
    assert_ok(tacet_tally_add(t, 1, at, steps, 2, NULL));
    assert_ok(tacet_tally_raw(t, &raw, 2, NULL));
    tacet__tally_sums sums = {.raw = raw, .count = 2, .norm = 100, .sensitivity = 1, .eps = 1, .proof = "test"};
    for (int i = 0; i < RUNS; i++) {
        assert_ok(tacet__tally_choose(&release, &sums, &ask, NULL));
        worse += tacet_release_values(release)[0] == 0;
        const double taken = tacet_release_receipt(release)->sensitivity;
        assert_true(taken >= 1 && taken < 1.001);
        tacet_release_free(release);
    }
    assert_true(worse <= 2);
    sums.eps = 2;
    assert_ok(tacet__tally_release(&release, &sums, &ask, NULL));
    const tacet_receipt *receipt = tacet_release_receipt(release);
    assert_true(receipt->scale >= 0.5 && receipt->scale < 0.5001);
    /* 24 scales: 2 e^-24 of all seeds would fail */
    assert_close(tacet_release_values(release)[1], 60, 24 * receipt->scale);
    tacet_release_free(release);
    tacet_noise_close(ask.noise);
    tacet_raw_free(raw);
    tacet_tally_free(t);
}

TEST(creating_fails_cleanly_without_memory) {
    tacet_tally *t = NULL;
    assert_each_alloc_fails(tacet_tally_create(&t, &PLAN, "a", NULL), t == NULL);
    tacet_tally_free(t);
}
