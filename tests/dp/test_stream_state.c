/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream_state.c - streams as bytes: damaged and forged ones are refused, and the ledger lets only one stream of a
 * ticket release. */
#include "stream_fixture.h"

static void damaged_states(void **state) {
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        setup(&f, KINDS[k], 6, 1, 8);
        tacet_stream *s = open_stream(&f), *back = (tacet_stream *)&f;
        set_x(&f, 1, 1);
        assert_ok(tacet_stream_step(s, f.x, NULL));
        tacet_blob blob;
        tacet_blob_init(&blob);
        assert_ok(tacet_stream_save(s, &blob, NULL));
        for (size_t i = 0; i < blob.size; i++) {
            blob.data[i] ^= 1;
            assert_status(tacet_stream_load(&back, f.bound, &f.ask, blob.data, blob.size, NULL), TACET_CORRUPT);
            assert_null(back);
            blob.data[i] ^= 1;
            assert_status(tacet_stream_load(&back, f.bound, &f.ask, blob.data, i, NULL), TACET_CORRUPT);
        }
        /* another bound, another shape, another relation to it */
        tacet_bound *other = NULL;
        assert_ok(tacet_bound_norm(&other, DIM, 2, NULL));
        assert_status(tacet_stream_load(&back, other, &f.ask, blob.data, blob.size, NULL), TACET_INVALID);
        tacet_bound_free(other);
        assert_ok(tacet_bound_norm(&other, DIM + 1, 1, NULL));
        assert_status(tacet_stream_load(&back, other, &f.ask, blob.data, blob.size, NULL), TACET_INVALID);
        tacet_bound_free(other);
        assert_ok(tacet_bound_narrow(&other, f.bound, 1, "x", NULL));
        assert_status(tacet_stream_load(&back, other, &f.ask, blob.data, blob.size, NULL), TACET_INVALID);
        tacet_bound_free(other);
        tacet_blob_clear(&blob);
        tacet_stream_close(s);
        teardown(&f);
    }
}

/* A run that dies while its state is written must not tell of its noise by where. */
static void a_saved_state_is_as_long_whatever_was_drawn(void **state) {
    for (size_t k = 0; k < 3; k++) {
        size_t size = 0;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            fixture f;
            tacet_blob blob;
            setup(&f, KINDS[k], 6, 1, seed);
            tacet_stream *s = open_stream(&f);
            set_x(&f, seed, 1);
            assert_ok(tacet_stream_step(s, f.x, NULL));
            tacet_blob_init(&blob);
            assert_ok(tacet_stream_save(s, &blob, NULL));
            assert_true(size == 0 || blob.size == size);
            size = blob.size;
            tacet_blob_clear(&blob);
            tacet_stream_close(s);
            teardown(&f);
        }
    }
}

/* Another value for the field at `offset` behind the head, and a hash that fits. */
static tacet_status load_patched(fixture *f, const tacet_blob *blob, size_t offset, uint64_t value) {
    unsigned char *bytes = malloc(blob->size);
    tacet_stream *back = NULL;
    assert_non_null(bytes);
    memcpy(bytes, blob->data, blob->size);
    memcpy(bytes + 18 + offset, &value, sizeof value); /* behind "TACET", version, "stream" */
    crypto_generichash(bytes + blob->size - 32, 32, bytes, blob->size - 32, NULL, 0);
    const tacet_status s = tacet_stream_load(&back, f->bound, &f->ask, bytes, blob->size, NULL);
    assert_true((s == TACET_OK) == (back != NULL));
    tacet_stream_close(back);
    free(bytes);
    return s;
}

static uint64_t bits(double x) {
    uint64_t b = 0;
    memcpy(&b, &x, sizeof b);
    return b;
}

static void forged_states(void **state) {
    enum {
        FLAGS = 0,
        KIND = 8,
        RELATION = 24,
        EPS = 32,
        MOVE = 48,
        KEY = 80,
        STEPS = 160,
        SEGMENT = 168,
        MOST = 176,
        BUFFERS = 184,
        OUT_SEGMENT = 200,
        DRAWN = 208
    };
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        setup(&f, KINDS[k], 6, 1, 11);
        tacet_stream *s = open_stream(&f), *back = NULL;
        for (int t = 0; t < 3; t++) {
            set_x(&f, 1, 1);
            assert_ok(tacet_stream_step(s, f.x, NULL));
        }
        tacet_blob blob;
        tacet_blob_init(&blob);
        assert_ok(tacet_stream_save(s, &blob, NULL));
        assert_ok(load_patched(&f, &blob, FLAGS, 0));
        assert_status(load_patched(&f, &blob, FLAGS, 8), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, FLAGS, 4), TACET_INVALID); /* says it was in a ledger */
        assert_status(load_patched(&f, &blob, KIND, 4), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, RELATION, 3), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, RELATION, TACET_RELATION_MOVE), TACET_INVALID);
        assert_status(load_patched(&f, &blob, EPS, bits(-1)), TACET_INVALID);
        assert_status(load_patched(&f, &blob, EPS, bits(1e90)), TACET_INVALID); /* numbers off the grid */
        assert_status(load_patched(&f, &blob, KEY, 31), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, STEPS, 2), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, STEPS, 4), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, SEGMENT, 1), TACET_CORRUPT); /* a second segment without doubling */
        if (KINDS[k] != TACET_FACTORIZATION_BLT) {                         /* whose buffers lie in between */
            const uint64_t one = 1;
            assert_status(load_patched(&f, &blob, DRAWN, 4), TACET_CORRUPT); /* more than were taken */
            memcpy(blob.data + 18 + OUT_SEGMENT, &one, sizeof one);
            assert_status(load_patched(&f, &blob, SEGMENT, 1), TACET_CORRUPT); /* and nothing of the first waits */
            memset(blob.data + 18 + OUT_SEGMENT, 0, sizeof one);
        }
        assert_status(load_patched(&f, &blob, MOST, (size_t)1 << 24), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, MOST, 0), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, MOST, 2), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, BUFFERS, 7), TACET_CORRUPT);
        if (KINDS[k] == TACET_FACTORIZATION_BLT) {
            assert_status(load_patched(&f, &blob, BUFFERS + 8, bits(NAN)), TACET_CORRUPT);
        }
        tacet_stream_settings set;
        assert_ok(tacet_stream_describe(&set, f.bound, blob.data, blob.size, NULL));
        assert_true(set.factorization == KINDS[k] && set.most == 6 && set.eps == 1 && !set.doubling);
        assert_status(tacet_stream_describe(&set, f.bound, blob.data, blob.size - 1, NULL), TACET_CORRUPT);
        /* the same sensitivity from another ball */
        tacet_bound *wide = NULL, *narrow = NULL;
        assert_ok(tacet_bound_norm(&wide, DIM, 5, NULL));
        assert_ok(tacet_bound_narrow(&narrow, wide, 2, "x", NULL));
        assert_status(tacet_stream_load(&back, narrow, &f.ask, blob.data, blob.size, NULL), TACET_INVALID);
        assert_status(tacet_stream_describe(&set, narrow, blob.data, blob.size, NULL), TACET_INVALID);
        tacet_bound_free(wide);
        tacet_bound_free(narrow);
        tacet_blob_clear(&blob);
        /* what a sound stream never meets: a draw that fails, a segment that cannot double */
        const double sigma = s->out.sigma;
        double got[DIM];
        s->out.sigma = -1;
        assert_status(tacet_stream_read(s, got, NULL, NULL), TACET_INVALID);
        assert_int_equal(s->waiting, 3);
        s->out.sigma = sigma;
        const double mu = s->mu;
        s->mu = 1e90; /* sums that do not fit the grid */
        assert_status(tacet__stream_out_segment(s, &s->factor, NULL), TACET_INVALID);
        s->mu = mu;
        assert_ok(tacet_stream_read(s, got, NULL, NULL));
        const tacet__factor factor = s->factor;
        const size_t taken = s->taken;
        s->settings.doubling = true;
        s->factor.most = s->taken = ((size_t)1 << 23) + 1;
        assert_status(tacet_stream_step(s, f.x, NULL), TACET_STATE);
        s->factor.most = s->taken = 3;
        s->factor.kind = (tacet_factorization)9;
        assert_status(tacet_stream_step(s, f.x, NULL), TACET_INVALID);
        s->factor = factor;
        s->taken = taken;
        tacet_stream_close(s);
        teardown(&f);
    }
}

static void more_vectors_than_bytes(void **state) {
    enum { TAKEN = 192 };
    fixture f;
    setup(&f, TACET_FACTORIZATION_TOEPLITZ, 2, 1, 12);
    f.settings.doubling = true;
    tacet_stream *s = open_stream(&f);
    set_x(&f, 1, 1);
    for (int t = 0; t < 3; t++) { /* one of them in the second segment */
        assert_ok(tacet_stream_step(s, f.x, NULL));
    }
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet_stream_save(s, &blob, NULL));
    assert_ok(load_patched(&f, &blob, TAKEN, 1));
    assert_status(load_patched(&f, &blob, TAKEN, 0), TACET_CORRUPT);
    assert_status(load_patched(&f, &blob, TAKEN, 2), TACET_CORRUPT);
    assert_status(load_patched(&f, &blob, TAKEN, 4), TACET_CORRUPT);
    /* the second segment, after one of 2: every other number of segments or steps is another history */
    enum { STEPS = 160, SEGMENT = 168 };
    assert_status(load_patched(&f, &blob, SEGMENT, 0), TACET_CORRUPT);
    assert_status(load_patched(&f, &blob, SEGMENT, 2), TACET_CORRUPT);
    assert_status(load_patched(&f, &blob, SEGMENT, 64), TACET_CORRUPT);
    assert_status(load_patched(&f, &blob, STEPS, 4), TACET_CORRUPT);
    const uint64_t two = 2; /* counts that fit each other, and vectors that are not there */
    memcpy(blob.data + 18 + TAKEN, &two, sizeof two);
    assert_status(load_patched(&f, &blob, STEPS, 4), TACET_CORRUPT);
    tacet_blob_clear(&blob);
    tacet_stream_close(s);
    teardown(&f);
}

/* A segment that would be longer than any may be. */
static void segments_beyond_the_longest(void **state) {
    enum { SEGMENT = 168, OUT_SEGMENT = 200 };
    const uint64_t twenty = 20;
    fixture f;
    setup(&f, TACET_FACTORIZATION_TREE, 1024, 1, 12);
    f.settings.doubling = true;
    tacet_stream *s = open_stream(&f);
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet_stream_save(s, &blob, NULL));
    memcpy(blob.data + 18 + OUT_SEGMENT, &twenty, sizeof twenty);
    assert_status(load_patched(&f, &blob, SEGMENT, twenty), TACET_CORRUPT);
    tacet_blob_clear(&blob);
    tacet_stream_close(s);
    teardown(&f);
}

/* Steps that wait, of a segment that is full since: what the state says of them must fit. */
static void forged_waiting(void **state) {
    enum { OUT_SEGMENT = 200, DRAWN = 208, FULL_MOST = 216 };
    for (size_t k = 0; k < 2; k++) { /* without buffers: the places are known */
        fixture f;
        setup(&f, KINDS[k], 2, 1, 12);
        f.settings.doubling = true;
        tacet_stream *s = open_stream(&f);
        set_x(&f, 1, 1);
        for (int t = 0; t < 7; t++) { /* two segments are full */
            assert_ok(tacet_stream_step(s, f.x, NULL));
        }
        tacet_blob blob;
        tacet_blob_init(&blob);
        assert_ok(tacet_stream_save(s, &blob, NULL));
        assert_ok(load_patched(&f, &blob, DRAWN, 0));
        assert_status(load_patched(&f, &blob, OUT_SEGMENT, 2), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, OUT_SEGMENT, 1), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, DRAWN, 1), TACET_CORRUPT); /* a step less waits than there is */
        assert_status(load_patched(&f, &blob, DRAWN, 3), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, FULL_MOST, 3), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, FULL_MOST, (size_t)1 << 25), TACET_CORRUPT);
        tacet_blob_clear(&blob);
        tacet_stream_close(s);
        teardown(&f);
    }
}

static tacet_ledger *open_ledger(const char *path, double eps) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings set;
    tacet_ledger_settings_defaults(&set);
    set.eps = eps;
    assert_ok(tacet_ledger_open(&ledger, path, &set, NULL));
    return ledger;
}

static void wrong_ledgers(fixture *f, const tacet_blob *two) {
    tacet_stream *back = NULL;
    /* a ledger that never heard of it; none at all; one where there was none */
    tacet_ask elsewhere = f->ask;
    elsewhere.ticket = "another";
    assert_status(tacet_stream_load(&back, f->bound, &elsewhere, two->data, two->size, NULL), TACET_NOT_FOUND);
    elsewhere.ledger = NULL;
    assert_status(tacet_stream_load(&back, f->bound, &elsewhere, two->data, two->size, NULL), TACET_INVALID);
    assert_null(back);
    /* a second stream is too much for this budget: nothing is opened */
    elsewhere.ledger = f->ask.ledger;
    elsewhere.ticket = "more";
    assert_status(tacet_stream_open(&back, &f->settings, f->bound, &elsewhere, NULL), TACET_BUDGET);
    assert_null(back);
}

static void ledger(void **state) {
    char path[512];
    const char *folder = test_mkdir();
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacet_ledger *led = open_ledger(path, 1.2);
    fixture f;
    setup(&f, TACET_FACTORIZATION_BLT, 10, 1, 9);
    tacet_noise *noise = NULL;
    f.ask.ledger = led;
    f.ask.noise = noise;
    /* opened, and lost before anything was released: opened again, charged once */
    tacet_stream *first = open_stream(&f), *second = NULL, *back = NULL;
    assert_true(tacet_stream_is_private(first));
    second = open_stream(&f);
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(led, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    assert_close(totals.eps, 1, 1e-6);
    set_x(&f, 1, 1);
    assert_ok(tacet_stream_step(second, f.x, NULL));
    set_x(&f, 2, 1); /* the same key, but another history */
    assert_ok(tacet_stream_step(first, f.x, NULL));
    tacet_blob one, two;
    tacet_blob_init(&one);
    tacet_blob_init(&two);
    assert_ok(tacet_stream_save(first, &one, NULL));
    assert_ok(tacet_stream_save(second, &two, NULL));
    /* saved and loaded before anything was released */
    assert_ok(tacet_stream_load(&back, f.bound, &f.ask, two.data, two.size, NULL));
    tacet_stream_close(back);
    /* only one of them may release */
    tacet_release *release = NULL;
    double got[DIM], again[DIM];
    assert_ok(tacet_stream_read(second, got, NULL, NULL));
    assert_status(tacet_stream_release(first, &release, NULL), TACET_CONFLICT);
    assert_null(release);
    assert_status(tacet_stream_load(&back, f.bound, &f.ask, one.data, one.size, NULL), TACET_CONFLICT);
    enum { KEY = 80 }; /* another key: another stream, whatever it has in common with the one that answered */
    assert_status(load_patched(&f, &two, KEY + 8, 99), TACET_CONFLICT);
    assert_ok(tacet_stream_load(&back, f.bound, &f.ask, two.data, two.size, NULL));
    assert_ok(tacet_stream_read(back, again, NULL, NULL));
    assert_memory_equal(got, again, sizeof got);
    assert_ok(tacet_stream_release(back, &release, NULL));
    assert_true(tacet_release_receipt(release)->is_private && tacet_release_receipt(release)->in_ledger);
    tacet_release_free(release);
    tacet_stream_close(back);
    for (long n = 1;; n++) { /* out of memory while the ledger is asked */
        fail_alloc_after(n);
        const tacet_status s = tacet_stream_load(&back, f.bound, &f.ask, two.data, two.size, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_true(s == TACET_OK ? back != NULL : back == NULL);
        tacet_stream_close(back);
        if (!hit) {
            assert_ok(s);
            break;
        }
    }
    assert_status(tacet_stream_open(&back, &f.settings, f.bound, &f.ask, NULL), TACET_CONFLICT);
    wrong_ledgers(&f, &two);
    tacet_blob_clear(&one);
    tacet_blob_clear(&two);
    tacet_stream_close(first);
    tacet_stream_close(second);
    tacet_noise_close(noise);
    teardown(&f);
    tacet_ledger_close(led);
    test_rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_states), cmocka_unit_test(a_saved_state_is_as_long_whatever_was_drawn),
        cmocka_unit_test(forged_states),  cmocka_unit_test(more_vectors_than_bytes),
        cmocka_unit_test(forged_waiting), cmocka_unit_test(segments_beyond_the_longest),
        cmocka_unit_test(ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
