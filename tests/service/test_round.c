/* SPDX-License-Identifier: Apache-2.0 */
/* test_round.c - rounds as bytes: there and back, with a context and without one; what is no round is refused. */
#include "core/codec.h"
#include "service/open/study/round.h"
#include "support/test.h"

#include <string.h>

static const double POINTS[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
static const double CONTEXT[] = {7, 8};

static void check(const tacet_blob *bytes, size_t context_dim) {
    tacet__round r;
    assert_ok(tacet__round_decode(&r, bytes->data, bytes->size, NULL));
    assert_int_equal(r.round.d, 2);
    assert_int_equal(r.round.count, 3);
    assert_int_equal(r.round.context_dim, context_dim);
    assert_memory_equal(r.round.points, POINTS, sizeof POINTS);
    if (context_dim > 0) {
        assert_memory_equal(r.round.context, CONTEXT, sizeof CONTEXT);
    } else {
        assert_null(r.round.context);
    }
    tacet__round_clear(&r);
}

TEST(test_there_and_back) {
    for (size_t context_dim = 0; context_dim <= 2; context_dim += 2) {
        const tacet_round round = {
            .points = POINTS, .ld = 2, .d = 2, .count = 3, .context = CONTEXT, .context_dim = context_dim};
        OWN_BLOB tacet_blob bytes;
        tacet_blob_init(&bytes);
        assert_ok(tacet__round_encode(&bytes, &round, NULL));
        check(&bytes, context_dim);
    }
}

TEST(test_refused) {
    tacet_blob bytes;
    tacet__round r;
    tacet__writer w;
    tacet_error err = {0};
    tacet_blob_init(&bytes);
    tacet__write_begin(&w, &bytes, "round", 3);
    assert_ok(tacet__write_end(&w, NULL));
    assert_status(tacet__round_decode(&r, bytes.data, bytes.size, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "has version 3, expected 1"));
    assert_null(r.numbers);
    tacet_blob_clear(&bytes);
    tacet__write_begin(&w, &bytes, "round", 1); /* without the number of the context's dimensions */
    tacet__write_size(&w, 2);
    tacet__write_size(&w, 3);
    tacet__write_f64s(&w, POINTS, 6);
    assert_ok(tacet__write_end(&w, NULL));
    assert_status(tacet__round_decode(&r, bytes.data, bytes.size, NULL), TACET_CORRUPT);
    tacet_blob_clear(&bytes);
}
