/* SPDX-License-Identifier: Apache-2.0 */
/* test_release.c - a release survives its bytes, and damaged bytes are refused, wherever the damage is. */
#include "support/gate.h"
#include "support/test.h"

#include "core/codec.h"
#include "dp/open/release_mint.h"

#include <tacet/dp/open/release.h>

static tacet_receipt sample_receipt(void) {
    tacet_receipt r;
    memset(&r, 0, sizeof r);
    strcpy(r.mechanism, "gaussian");
    r.is_private = true;
    r.in_ledger = true;
    r.eps = 3;
    r.delta = 1e-5;
    r.mu = 0.72;
    r.sensitivity = 1.000001;
    r.scale = 1.39;
    r.grid_exponent = -20;
    r.rows = 1;
    r.count = 3;
    r.step = 4;
    r.error_sd = 1.39;
    r.entry = 17;
    memset(r.entry_hash, 0xab, sizeof r.entry_hash);
    memset(r.content_hash, 0xcd, sizeof r.content_hash);
    return r;
}

TEST(round_trip) {
    const double values[] = {1.5, -2.25, 0};
    for (int flags = 0; flags < 4; flags++) {
        tacet_receipt r = sample_receipt();
        r.is_private = (flags & 1) != 0;
        r.in_ledger = (flags & 2) != 0;
        r.grid_exponent = flags - 3;
        OWN_RELEASE tacet_release *release = NULL, *back = NULL;
        const size_t count = flags == 3 ? 0 : 3; /* a table's receipt holds no values */
        assert_ok(tacet__release_mint(&release, &r, values, count, NULL));
        assert_int_equal(tacet_release_count(release), count);
        OWN_BLOB tacet_blob blob = {0};
        assert_ok(tacet_release_encode(release, &blob, NULL));
        assert_ok(tacet_release_decode(&back, blob.data, blob.size, NULL));
        assert_int_equal(tacet_release_count(back), count);
        for (size_t i = 0; i < count; i++) {
            assert_true(tacet_release_values(back)[i] == values[i]);
        }
        assert_memory_equal(tacet_release_receipt(back), tacet_release_receipt(release), sizeof r);
    }
    tacet_release_free(NULL);
}

/* Fields written by hand, with a good hash: what the hash does not catch. */
static tacet_status decode_fields(size_t name_size, uint64_t flags, uint64_t grid, size_t hash_size, size_t count,
                                  size_t held, size_t second_hash) {
    tacet__writer w;
    tacet_blob blob = {0};
    const char name[40] = "gaussianx";
    const unsigned char hash[64] = {0};
    const double numbers[6] = {0};
    const uint64_t whole[5] = {grid, 1, 1, 0, 0};
    tacet__write_begin(&w, &blob, "release", 1);
    tacet__write_bytes(&w, name, name_size);
    tacet__write_u64(&w, flags);
    tacet__write_f64s(&w, numbers, 6);
    tacet__write_u64s(&w, whole, 5);
    tacet__write_bytes(&w, hash, hash_size);
    tacet__write_bytes(&w, hash, second_hash);
    tacet__write_size(&w, count);
    for (size_t i = 0; i < held; i++) {
        tacet__write_f64(&w, 1);
    }
    assert_ok(tacet__write_end(&w, NULL));
    tacet_release *release = NULL;
    const tacet_status s = tacet_release_decode(&release, blob.data, blob.size, NULL);
    assert_true((s == TACET_OK) == (release != NULL));
    tacet_release_free(release);
    tacet_blob_clear(&blob);
    return s;
}

/* What a release weighs tells how many numbers it has, and nothing of them. */
TEST(its_size_does_not_depend_on_its_numbers) {
    const double worlds[][3] = {{0, 0, 0}, {1e300, -1e-300, 0.1}, {-1, 12345.678901234567, 1.0 / 3}};
    const tacet_receipt r = sample_receipt();
    size_t size = 0;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        OWN_RELEASE tacet_release *release = NULL;
        OWN_BLOB tacet_blob blob = {0};
        assert_ok(tacet__release_mint(&release, &r, worlds[i], 3, NULL));
        assert_ok(tacet_release_encode(release, &blob, NULL));
        assert_true(i == 0 || blob.size == size);
        size = blob.size;
    }
}

TEST(damage) {
    tacet_release *release = NULL, *back = NULL;
    const tacet_receipt r = sample_receipt();
    const double values[] = {1, 2, 3};
    assert_ok(tacet__release_mint(&release, &r, values, 3, NULL));
    tacet_blob blob = {0};
    assert_ok(tacet_release_encode(release, &blob, NULL));
    for (size_t i = 0; i < blob.size; i++) {
        blob.data[i] ^= 0x10;
        assert_status(tacet_release_decode(&back, blob.data, blob.size, NULL), TACET_CORRUPT);
        assert_null(back);
        blob.data[i] ^= 0x10;
        assert_status(tacet_release_decode(&back, blob.data, i, NULL), TACET_CORRUPT);
    }
    tacet_blob_clear(&blob);
    tacet_release_free(release);
    const uint64_t zero = 1 << 20;
    assert_ok(decode_fields(9, 3, zero, 32, 2, 2, 32));
    assert_status(decode_fields(0, 3, zero, 32, 2, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(32, 3, zero, 32, 2, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(12, 3, zero, 32, 2, 2, 32), TACET_CORRUPT); /* a zero inside the name */
    assert_status(decode_fields(9, 4, zero, 32, 2, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(9, 3, 3 * zero, 32, 2, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(9, 3, zero, 31, 2, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(9, 3, zero, 33, 2, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(9, 3, zero, 32, 3, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(9, 3, zero, 32, SIZE_MAX / 4, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(9, 3, zero, 32, 1, 2, 32), TACET_CORRUPT);
    assert_status(decode_fields(9, 3, zero, 32, 2, 2, 31), TACET_CORRUPT);
    /* nothing behind the head */
    tacet__writer w;
    tacet_blob_init(&blob);
    tacet__write_begin(&w, &blob, "release", 1);
    assert_ok(tacet__write_end(&w, NULL));
    assert_status(tacet_release_decode(&back, blob.data, blob.size, NULL), TACET_CORRUPT);
    tacet_blob_clear(&blob);
}

TEST(out_of_memory) {
    const tacet_receipt r = sample_receipt();
    const double values[] = {1, 2, 3};
    for (long n = 1, hit = 1; hit != 0; n++) {
        tacet_release *release = NULL, *back = NULL;
        tacet_blob blob = {0};
        fail_alloc_after(n);
        tacet_status s = tacet__release_mint(&release, &r, values, 3, NULL);
        TACET_THEN(s, tacet_release_encode(release, &blob, NULL));
        TACET_THEN(s, tacet_release_decode(&back, blob.data, blob.size, NULL));
        hit = fail_alloc_end();
        tacet_release_free(release);
        tacet_release_free(back);
        tacet_blob_clear(&blob);
        assert_status(s, hit != 0 ? TACET_NO_MEMORY : TACET_OK);
        assert_true(hit != 0 || n > 3);
    }
    tacet_release *release = NULL;
    assert_status(tacet__release_mint(&release, &r, values, SIZE_MAX / 2, NULL), TACET_NO_MEMORY);
    assert_status(tacet__release_mint(&release, &r, values, SIZE_MAX / 8, NULL), TACET_NO_MEMORY);
}
