/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream_again.c - a stream that starts over is a fresh stream; one that was charged never does. */
#include "dp/streams/again.h"
#include "stream_fixture.h"

static void read_steps(fixture *f, tacet_stream *s, double out[4 * DIM]) {
    for (size_t t = 0; t < 4; t++) {
        tacet_blob blob;
        tacet_blob_init(&blob);
        set_x(f, t, 1);
        assert_ok(tacet_stream_step(s, f->x, NULL));
        assert_ok(tacet_stream_save(s, &blob, NULL));
        assert_ok(tacet_stream_read(s, out + t * DIM, NULL, NULL));
        tacet_blob_clear(&blob);
    }
}

/* With the same key the second life repeats the first; with another key it does not. */
static void a_fresh_stream(void **state) {
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        double first[4 * DIM], again[4 * DIM], other[4 * DIM];
        tacet_noise *same = NULL;
        setup(&f, KINDS[k], 4, 1, 21);
        tacet_stream *s = open_stream(&f);
        read_steps(&f, s, first);
        assert_ok(tacet_noise_open_seeded(&same, 21, 0, NULL)); /* where open_stream took its key from */
        assert_ok(tacet__stream_again(s, same, NULL));
        assert_int_equal(tacet_stream_steps(s), 0);
        read_steps(&f, s, again);
        assert_memory_equal(first, again, sizeof first);
        assert_ok(tacet__stream_again(s, same, NULL));
        read_steps(&f, s, other);
        assert_memory_not_equal(first, other, sizeof first);
        tacet_noise_close(same);
        tacet_stream_close(s);
        teardown(&f);
    }
}

static void never_a_charged_one(void **state) {
    fixture f;
    setup(&f, TACET_FACTORIZATION_TREE, 4, 1, 21);
    tacet_stream *s = open_stream(&f);
    s->is_private = true;
    assert_status(tacet__stream_again(s, f.noise, NULL), TACET_STATE);
    s->is_private = false;
    s->ledger = (tacet_ledger *)&f;
    assert_status(tacet__stream_again(s, f.noise, NULL), TACET_STATE);
    s->ledger = NULL;
    s->segment = 1; /* a doubled stream has left its first segment behind */
    assert_status(tacet__stream_again(s, f.noise, NULL), TACET_STATE);
    s->segment = 0;
    assert_ok(tacet__stream_again(s, f.noise, NULL));
    tacet_stream_close(s);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_stream),
        cmocka_unit_test(never_a_charged_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
