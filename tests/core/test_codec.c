/* SPDX-License-Identifier: Apache-2.0 */
/* test_codec.c - saved states: what is written is read, byte for byte as documented; anything else is refused. */
#include "support/test.h"

#include "core/codec.h"

#include <sodium.h>

static const double REALS[] = {0, -0.0, 1.5, -1e300, 5e-324};
static const uint64_t WORDS[] = {0, 1, UINT64_MAX, UINT64_C(0x0123456789abcdef)};
static const uint32_t HALVES[] = {0, UINT32_MAX, UINT32_C(0x01234567)};

static tacet_status write_all(tacet_blob *blob, tacet_error *err) {
    tacet__writer w;
    tacet__write_begin(&w, blob, "kind", 3);
    tacet__write_u64(&w, UINT64_C(0x1122334455667788));
    tacet__write_size(&w, 5);
    tacet__write_f64(&w, -2.5);
    tacet__write_f64s(&w, REALS, 5);
    tacet__write_u64s(&w, WORDS, 4);
    tacet__write_u32s(&w, HALVES, 3);
    tacet__write_bytes(&w, "bytes", 5);
    tacet__write_bytes(&w, NULL, 0);
    return tacet__write_end(&w, err);
}

static tacet_status read_all(const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    const tacet_status status = tacet__read_begin(&r, bytes, size, "kind", 3, err);
    if (status != TACET_OK) {
        return status;
    }
    double reals[5];
    uint64_t words[4];
    uint32_t halves[3];
    const unsigned char *text = NULL;
    assert_true(tacet__read_u64(&r) == UINT64_C(0x1122334455667788));
    assert_int_equal(tacet__read_size(&r, 5), 5);
    assert_true(tacet__read_f64(&r) == -2.5);
    tacet__read_f64s(&r, reals, 5);
    tacet__read_u64s(&r, words, 4);
    tacet__read_u32s(&r, halves, 3);
    assert_memory_equal(reals, REALS, sizeof reals);
    assert_memory_equal(words, WORDS, sizeof words);
    assert_memory_equal(halves, HALVES, sizeof halves);
    assert_int_equal(tacet__read_bytes(&r, &text), 5);
    assert_memory_equal(text, "bytes", 5);
    assert_int_equal(tacet__read_bytes(&r, &text), 0);
    return tacet__read_end(&r, err);
}

TEST(test_round_trip) {
    OWN_BLOB tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(write_all(&blob, NULL));
    assert_ok(read_all(blob.data, blob.size, NULL));
    /* The layout, by hand: a file written today must be readable for ever. */
    static const unsigned char head[] = {'T', 'A', 'C', 'E',  'T',  0,    3,    0,    4,    0,    0,    0, 'k',
                                         'i', 'n', 'd', 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 5};
    assert_memory_equal(blob.data, head, sizeof head);
    assert_int_equal(blob.size, 16 + 8 * (1 + 1 + 1 + 5 + 4 + 1 + 1) + 4 * 3 + 5 + 32);
    unsigned char hash[32];
    (void)crypto_generichash(hash, sizeof hash, blob.data, blob.size - 32, NULL, 0);
    assert_memory_equal(hash, blob.data + blob.size - 32, 32);
}

TEST(test_every_damage) {
    OWN_BLOB tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(write_all(&blob, NULL));
    for (size_t bit = 0; bit < 8 * blob.size; bit++) {
        blob.data[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_status(read_all(blob.data, blob.size, NULL), TACET_CORRUPT);
        blob.data[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    for (size_t size = 0; size < blob.size; size++) {
        unsigned char *exact = malloc(size + (size == 0)); /* so that a sanitizer sees a read beyond it */
        assert_non_null(exact);
        memcpy(exact, blob.data, size);
        assert_status(read_all(exact, size, NULL), TACET_CORRUPT);
        free(exact);
    }
    assert_status(read_all(NULL, 0, NULL), TACET_CORRUPT);
}

TEST(test_kind_and_version) {
    OWN_BLOB tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(write_all(&blob, NULL));
    tacet__reader r;
    tacet_error err = {0};
    assert_status(tacet__read_begin(&r, blob.data, blob.size, "kinD", 3, &err), TACET_CORRUPT);
    assert_string_equal(err.message, "saved state is of another kind, not kinD");
    assert_true(tacet__read_u64(&r) == 0); /* a failed reader gives zeros */
    assert_status(tacet__read_end(&r, NULL), TACET_CORRUPT);
    tacet_error_clear(&err);
    assert_status(tacet__read_begin(&r, blob.data, blob.size, "kin", 3, &err), TACET_CORRUPT);
    tacet_error_clear(&err);
    assert_status(tacet__read_begin(&r, blob.data, blob.size, "kind", 4, &err), TACET_CORRUPT);
    assert_string_equal(err.message, "saved state of kind has version 3, expected 4");
}

TEST(test_reader_stays_failed) {
    OWN_BLOB tacet_blob blob;
    tacet_blob_init(&blob);
    tacet__writer w;
    tacet__write_begin(&w, &blob, "k", 1);
    tacet__write_size(&w, 6);
    tacet__write_u64(&w, 9);
    assert_ok(tacet__write_end(&w, NULL));
    tacet__reader r;
    assert_ok(tacet__read_begin(&r, blob.data, blob.size, "k", 1, NULL));
    assert_int_equal(tacet__read_size(&r, 5), 0); /* more than allowed */
    assert_true(tacet__read_u64(&r) == 0);
    assert_status(tacet__read_end(&r, NULL), TACET_CORRUPT);
    assert_ok(tacet__read_begin(&r, blob.data, blob.size, "k", 1, NULL));
    assert_int_equal(tacet__read_size(&r, 6), 6);
    assert_status(tacet__read_end(&r, NULL), TACET_CORRUPT); /* something is left */
    assert_ok(tacet__read_begin(&r, blob.data, blob.size, "k", 1, NULL));
    const unsigned char *bytes = blob.data;
    (void)tacet__read_u64(&r);
    assert_int_equal(tacet__read_bytes(&r, &bytes), 0); /* nine bytes are not there */
    assert_null(bytes);
    assert_status(tacet__read_end(&r, NULL), TACET_CORRUPT);
    assert_ok(tacet__read_begin(&r, blob.data, blob.size, "k", 1, NULL));
    double many[3] = {1, 1, 1};
    tacet__read_f64s(&r, many, 3);
    assert_true(many[2] == 0);
    assert_status(tacet__read_end(&r, NULL), TACET_CORRUPT);
}

TEST(test_no_memory) {
    tacet_blob blob;
    tacet_error err = {0};
    tacet_blob_init(&blob);
    assert_each_alloc_fails((tacet_error_clear(&err), write_all(&blob, &err)),
                            err.status == TACET_NO_MEMORY && blob.data == NULL && blob.size == 0);
    assert_true(fail_alloc_last() > 2);
    tacet_blob_clear(&blob);
    assert_ok(tacet_blob_append(&blob, "abc", 3, NULL));
    assert_status(tacet_blob_append(&blob, "x", SIZE_MAX - 1, NULL), TACET_OVERFLOW);
    static const char many[100] = "";
    fail_alloc_after(1);
    assert_status(tacet_blob_append(&blob, many, sizeof many, NULL), TACET_NO_MEMORY);
    fail_alloc_after(0);
    assert_int_equal(blob.size, 3);
    assert_memory_equal(blob.data, "abc", 3);
    tacet_blob_clear(&blob);
    tacet_blob_clear(NULL);
}
