/* SPDX-License-Identifier: Apache-2.0 */
/* test_round.c - rounds as bytes: there and back, both layouts that version 1 had, keys over a change of version. */
#include "engine_fixture.h"

#include "service/open/study/round.h"

static const double POINTS[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
static const double CONTEXT[] = {7, 8};

/* Written here by hand: what version 1 was, without the number of the context's dimensions and with it. */
static void write_old(tacet_blob *out, bool with_context, size_t context_dim) {
    tacet__writer w;
    tacet_blob_init(out);
    tacet__write_begin(&w, out, "round", 1);
    tacet__write_size(&w, 2);
    tacet__write_size(&w, 3);
    if (with_context) {
        tacet__write_size(&w, context_dim);
    }
    tacet__write_f64s(&w, POINTS, 6);
    tacet__write_f64s(&w, CONTEXT, context_dim);
    assert_ok(tacet__write_end(&w, NULL));
}

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

static void test_versions(void **state) {
    const tacet_round round = {.points = POINTS, .ld = 2, .d = 2, .count = 3, .context = CONTEXT, .context_dim = 2};
    tacet_blob bytes;
    tacet__reader r;
    tacet_blob_init(&bytes);
    assert_ok(tacet__round_encode(&bytes, &round, NULL));
    assert_ok(tacet__read_begin(&r, bytes.data, bytes.size, "round", 2, NULL));
    check(&bytes, 2);
    tacet_blob_clear(&bytes);
    write_old(&bytes, false, 0);
    check(&bytes, 0);
    tacet_blob_clear(&bytes);
    write_old(&bytes, true, 0);
    check(&bytes, 0);
    tacet_blob_clear(&bytes);
    write_old(&bytes, true, 2);
    check(&bytes, 2);
    tacet_blob_clear(&bytes);
}

static void test_refused(void **state) {
    tacet_blob bytes;
    tacet__round r;
    tacet__writer w;
    tacet_error err = {0};
    write_old(&bytes, false, 1); /* neither layout */
    assert_status(tacet__round_decode(&r, bytes.data, bytes.size, NULL), TACET_CORRUPT);
    tacet_blob_clear(&bytes);
    tacet__write_begin(&w, &bytes, "round", 3);
    assert_ok(tacet__write_end(&w, NULL));
    assert_status(tacet__round_decode(&r, bytes.data, bytes.size, &err), TACET_CORRUPT);
    assert_non_null(strstr(err.message, "has version 3, expected 2"));
    assert_null(r.numbers);
    tacet_blob_clear(&bytes);
    /* Version 2 always has the number: the bytes of the first layout are none. */
    tacet__write_begin(&w, &bytes, "round", 2);
    tacet__write_size(&w, 2);
    tacet__write_size(&w, 3);
    tacet__write_f64s(&w, POINTS, 6);
    assert_ok(tacet__write_end(&w, NULL));
    assert_status(tacet__round_decode(&r, bytes.data, bytes.size, NULL), TACET_CORRUPT);
    tacet_blob_clear(&bytes);
}

/* A suggestion that an older server stored: it is replayed, and its key still gives its answer, for its set alone. */
static void test_key_over_versions(void **state) {
    const tacet__studies_settings place = {.store = store_place, .busy_ms = 2000};
    tacet__studies *store = NULL;
    tacet__study study;
    tacet_blob bytes;
    add_study(TOY_STUDY);
    tacet__study_init(&study);
    write_old(&bytes, false, 0);
    tacet__event event = {.kind = TACET__EVENT_SUGGEST,
                          .number = 1,
                          .key = "key-1",
                          .key_size = 5,
                          .body = bytes.data,
                          .body_size = bytes.size};
    assert_ok(tacet__studies_open(&store, &place, NULL));
    assert_ok(tacet__studies_get(store, &study, "toys", NULL));
    assert_ok(tacet__studies_begin(store, &study, NULL));
    assert_ok(tacet__studies_append(store, &study, &event, NULL));
    assert_ok(tacet__studies_commit(store, NULL));
    tacet__study_clear(&study);
    tacet__studies_close(store);
    tacet_blob_clear(&bytes);
    tacet__engine *e = open_engine();
    const answer again = ask_suggestion(e, "toys", "key-1", POINTS, 3);
    assert_int_equal(again.status, TACET_OK);
    assert_true(again.repeated);
    assert_int_equal(ask_suggestion(e, "toys", "key-1", POINTS, 2).status, TACET_CONFLICT);
    assert_int_equal(ask_suggestion(e, "toys", NULL, POINTS, 3).status, TACET_OK);
    tacet__engine_close(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_setup_teardown(test_key_over_versions, store_setup, store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
