/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream_history.c - a stream has one history: what left once leaves again the same, or not at all. */
#include "dp/stream_fixture.h"
#include "support/fault_vfs.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct study {
    fixture f;
    tacet_noise *noise;
    tacet_ledger *ledger;
    char path[512];
    const char *folder;
} study;

static tacet_ledger *open_ledger_by(const char *path, const char *vfs) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings set;
    tacet_ledger_settings_defaults(&set);
    set.eps = 10;
    set.vfs = vfs;
    assert_ok(tacet_ledger_open(&ledger, path, &set, NULL));
    return ledger;
}

static tacet_ledger *open_ledger(const char *path) {
    return open_ledger_by(path, NULL);
}

static int begin(void **state) {
    static study s;
    s.folder = test_mkdir();
    snprintf(s.path, sizeof s.path, "%s/ledger.db", s.folder);
    s.ledger = open_ledger(s.path);
    setup(&s.f, TACET_FACTORIZATION_BLT, 100, 1, 3);
    s.f.ask.ledger = s.ledger;
    s.f.ask.noise = s.noise;
    *state = &s;
    return 0;
}

static int end(void **state) {
    study *s = *state;
    tacet_noise_close(s->noise);
    teardown(&s->f);
    tacet_ledger_close(s->ledger);
    test_rmdir(s->folder);
    return 0;
}

static void take(study *s, tacet_stream *stream, size_t t, double scale) {
    set_x(&s->f, t, scale);
    assert_ok(tacet_stream_step(stream, s->f.x, NULL));
}

static tacet_blob saved(tacet_stream *stream) {
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet_stream_save(stream, &blob, NULL));
    return blob;
}

static tacet_status release(tacet_stream *stream, double *values) {
    save_only(stream);
    return tacet_stream_read(stream, values, NULL, NULL);
}

static tacet_stream *replay(study *s, const tacet_blob *blob) {
    tacet_stream *stream = NULL;
    assert_ok(tacet_stream_replay(&stream, s->f.bound, &s->f.ask, blob->data, blob->size, NULL));
    return stream;
}

static uint64_t records(study *s) {
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(s->ledger, &totals, NULL));
    return totals.records;
}

static void old_states(void **state) {
    study *s = *state;
    double first[3][DIM], again[DIM];
    tacet_blob blobs[3];
    tacet_stream *stream = open_stream(&s->f), *old = NULL;
    for (size_t t = 0; t < 3; t++) {
        take(s, stream, t, 1);
        blobs[t] = saved(stream);
        assert_ok(tacet_stream_read(stream, first[t], NULL, NULL));
        assert_ok(tacet_stream_read(stream, again, NULL, NULL));
        assert_int_equal(records(s), 4 + t); /* budget, entry, its answer, and one for each release */
    }
    tacet_stream_close(stream);
    tacet_error err = {TACET_OK, ""};
    for (size_t t = 0; t < 2; t++) {
        assert_status(tacet_stream_load(&old, s->f.bound, &s->f.ask, blobs[t].data, blobs[t].size, &err),
                      TACET_CONFLICT);
        assert_null(old);
        assert_non_null(strstr(err.message, "older"));
        /* with other data: nothing leaves, now or later, released or skipped */
        old = replay(s, &blobs[t]);
        assert_ok(tacet_stream_read(old, again, NULL, NULL)); /* what it was saved with has left before */
        assert_memory_equal(again, first[t], sizeof again);
        take(s, old, t + 1, 0.5);
        assert_status(release(old, again), TACET_CONFLICT);
        for (size_t k = t + 2; k < 5; k++) {
            take(s, old, k, 1);
        }
        assert_status(release(old, again), TACET_CONFLICT);
        tacet_blob fork = saved(old);
        tacet_stream_close(old);
        old = NULL;
        assert_status(tacet_stream_load(&old, s->f.bound, &s->f.ask, fork.data, fork.size, &err), TACET_CONFLICT);
        assert_status(tacet_stream_replay(&old, s->f.bound, &s->f.ask, fork.data, fork.size, &err), TACET_CONFLICT);
        tacet_blob_clear(&fork);
        /* the same data: the same releases, and nothing is written */
        old = replay(s, &blobs[t]);
        for (size_t k = t + 1; k < 3; k++) {
            take(s, old, k, 1);
            assert_ok(release(old, again));
            assert_memory_equal(again, first[k], sizeof again);
        }
        assert_int_equal(records(s), 6);
        tacet_stream_close(old);
        old = NULL;
    }
    assert_ok(tacet_stream_load(&old, s->f.bound, &s->f.ask, blobs[2].data, blobs[2].size, NULL));
    take(s, old, 3, 1);
    assert_ok(release(old, again)); /* and the newest goes on */
    assert_int_equal(records(s), 7);
    /* saved after its release has left: it leaves again */
    tacet_blob_clear(&blobs[2]);
    blobs[2] = saved(old);
    tacet_stream_close(old);
    assert_ok(tacet_stream_load(&old, s->f.bound, &s->f.ask, blobs[2].data, blobs[2].size, NULL));
    assert_ok(tacet_stream_read(old, first[0], NULL, NULL));
    assert_memory_equal(again, first[0], sizeof again);
    assert_int_equal(records(s), 7);
    tacet_stream_close(old);
    for (size_t t = 0; t < 3; t++) {
        tacet_blob_clear(&blobs[t]);
    }
}

/* Several copies of one state. One has released; the others went past that step without releasing. */
static void copies(void **state) {
    study *s = *state;
    double one[DIM], two[DIM], got[DIM];
    tacet_stream *a = open_stream(&s->f);
    tacet_blob blob = saved(a);
    tacet_stream *b = replay(s, &blob), *c = replay(s, &blob), *d = replay(s, &blob);
    take(s, a, 0, 1);
    take(s, b, 0, 1);
    take(s, c, 0, 0.5);
    take(s, d, 0, 1);
    assert_ok(release(a, one));
    take(s, b, 1, 1);
    take(s, c, 1, 1);
    for (size_t t = 1; t < 70; t++) {
        take(s, d, t, 1);
    }
    assert_status(release(c, got), TACET_CONFLICT); /* step 2 of another history than that of step 1 */
    assert_ok(release(b, two));                     /* of the same */
    take(s, a, 1, 1);
    assert_ok(release(a, got));
    assert_memory_equal(two, got, sizeof got);
    assert_int_equal(records(s), 5);
    /* What was entered long before is no longer known to d, which entered nothing itself: refused, on the safe side. */
    assert_status(release(d, got), TACET_CONFLICT);
    /* a entered step 2, and goes on as long as it likes, also after a restart. */
    for (size_t t = 2; t < 80; t++) {
        take(s, a, t, 1);
    }
    tacet_blob_clear(&blob);
    blob = saved(a);
    tacet_stream_close(a);
    assert_ok(tacet_stream_load(&a, s->f.bound, &s->f.ask, blob.data, blob.size, NULL));
    assert_ok(tacet_stream_read(a, got, NULL, NULL));
    assert_int_equal(records(s), 6);
    tacet_stream_close(a);
    tacet_stream_close(b);
    tacet_stream_close(c);
    tacet_stream_close(d);
    tacet_blob_clear(&blob);
}

static void other_charges(void **state) {
    study *s = *state;
    char path[600];
    double got[DIM];
    tacet_stream *stream = open_stream(&s->f), *back = NULL;
    take(s, stream, 0, 1);
    assert_ok(release(stream, got));
    tacet_blob blob = saved(stream);
    snprintf(path, sizeof path, "%s-2", s->path);
    tacet_ledger *second = open_ledger(path);
    tacet_ask ask = s->f.ask;
    tacet_error err = {TACET_OK, ""};
    ask.what = "something else";
    assert_status(tacet_stream_load(&back, s->f.bound, &ask, blob.data, blob.size, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "another question"));
    /* the same ticket and texts in another ledger: for less noise, then with the same but nothing entered */
    ask = s->f.ask;
    ask.ledger = second;
    fixture dear = s->f;
    dear.ask = ask;
    dear.settings.eps = 2;
    tacet_stream *charged = open_stream(&dear);
    assert_status(tacet_stream_load(&back, s->f.bound, &ask, blob.data, blob.size, &err), TACET_CONFLICT);
    tacet_stream_close(charged);
    ask.ticket = "again";
    dear.ask = ask;
    dear.settings.eps = 1;
    charged = open_stream(&dear);
    tacet_error_clear(&err);
    assert_status(tacet_stream_load(&back, s->f.bound, &ask, blob.data, blob.size, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "history"));
    /* an answer that is of no stream */
    assert_ok(tacet_ledger_commit(second, &charged->entry, "odd", 3, NULL, NULL));
    assert_status(tacet_stream_load(&back, s->f.bound, &ask, blob.data, blob.size, NULL), TACET_CORRUPT);
    tacet_stream_close(charged);
    assert_null(back);
    tacet_ledger_close(second);
    tacet_blob_clear(&blob);
    tacet_stream_close(stream);
}

/* A child reads the step that the state waits for, and dies in the n-th write or sync of its ledger. `drawn` is memory
 * of both: y is put there as soon as it is drawn. True when it died. */
static bool dies_reading(study *s, const tacet_blob *blob, long n, double *drawn) {
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tacet_stream *stream = NULL;
        double got[DIM];
        s->f.ask.ledger = open_ledger_by(s->path, "fault");
        if (tacet_stream_load(&stream, s->f.bound, &s->f.ask, blob->data, blob->size, NULL) != TACET_OK) {
            _exit(1);
        }
        stream->out.released = drawn;
        fault_vfs_arm(n, FAULT_CHANGE, FAULT_KILL);
        _exit(tacet_stream_read(stream, got, NULL, NULL) == TACET_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

/* Killed at every write and sync on the way from a step to its release. Where something was drawn, its mark is in the
 * ledger: no other records get a draw, and the same ones get the same. Where nothing was, others may be stepped. */
static void a_run_that_dies_has_drawn_nothing_that_may_not_leave(void **state) {
    study *s = *state;
    const size_t bytes = DIM * sizeof(double);
    double *drawn = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(drawn != MAP_FAILED);
    size_t before = 0, after = 0;
    bool died = true;
    for (long n = 1; died; n++) {
        char ticket[32];
        double got[DIM];
        snprintf(ticket, sizeof ticket, "n%ld", n);
        s->f.ask.ticket = ticket;
        s->f.settings.eps = 0.05;
        tacet_stream *stream = open_stream(&s->f), *same = NULL, *other = NULL;
        tacet_blob fresh = saved(stream);
        take(s, stream, 1, 1);
        tacet_blob blob = saved(stream);
        tacet_stream_close(stream);
        tacet_ledger_close(s->ledger);
        memset(drawn, 0, bytes);
        died = dies_reading(s, &blob, n, drawn);
        s->f.ask.ledger = s->ledger = open_ledger(s->path);
        const bool is_drawn = drawn[0] != 0 || drawn[1] != 0 || drawn[2] != 0;
        assert_ok(tacet_stream_replay(&other, s->f.bound, &s->f.ask, fresh.data, fresh.size, NULL));
        take(s, other, 1, 0.5);
        const bool entered = other->entry.newest.step == 1;
        assert_true(entered || !is_drawn);
        assert_status(release(other, got), entered ? TACET_CONFLICT : TACET_OK);
        if (entered) {
            assert_ok(tacet_stream_load(&same, s->f.bound, &s->f.ask, blob.data, blob.size, NULL));
            assert_ok(tacet_stream_read(same, got, NULL, NULL));
            if (is_drawn) {
                assert_memory_equal(same->out.released, drawn, bytes);
            }
        }
        before += died && !entered;
        after += is_drawn;
        tacet_stream_close(same);
        tacet_stream_close(other);
        tacet_blob_clear(&fresh);
        tacet_blob_clear(&blob);
    }
    assert_true(before > 2 && after > 0);
    assert_int_equal(munmap(drawn, bytes), 0);
}

/* What fails on the way to the ledger lets nothing leave, and may be tried again. */
static void no_memory(void **state) {
    study *s = *state;
    double got[DIM];
    tacet_stream *stream = open_stream(&s->f);
    take(s, stream, 0, 1);
    save_only(stream);
    size_t failures = 0;
    for (long n = 1;; n++) {
        memset(got, 0, sizeof got);
        fail_alloc_after(n);
        const tacet_status status = tacet_stream_read(stream, got, NULL, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (status == TACET_OK) {
            break;
        }
        assert_true(hit && got[0] == 0);
        failures++;
    }
    assert_true(failures > 0);
    assert_int_equal(records(s), 4);
    tacet_stream_close(stream);
}

/* Marks that cannot be: more entered than taken, hashes of another length. */
static void damaged_marks(void **state) {
    study *s = *state;
    tacet_stream *stream = open_stream(&s->f), *back = NULL;
    take(s, stream, 0, 1);
    tacet_blob blob = saved(stream);
    /* The last 32 bytes are the hash of all; before them 8 + 32 for the one mark, 8 + 32 and 8 for what was entered. */
    const size_t length_at = blob.size - 32 - 40, entered_at = length_at - 48;
    const size_t places[] = {length_at, entered_at, entered_at + 8};
    for (size_t i = 0; i < 3; i++) {
        const unsigned char was = blob.data[places[i]];
        blob.data[places[i]] = (unsigned char)(was + 2);
        crypto_generichash(blob.data + blob.size - 32, 32, blob.data, blob.size - 32, NULL, 0);
        assert_status(tacet_stream_load(&back, s->f.bound, &s->f.ask, blob.data, blob.size, NULL), TACET_CORRUPT);
        blob.data[places[i]] = was;
    }
    crypto_generichash(blob.data + blob.size - 32, 32, blob.data, blob.size - 32, NULL, 0);
    assert_ok(tacet_stream_load(&back, s->f.bound, &s->f.ask, blob.data, blob.size, NULL));
    tacet_stream_close(back);
    tacet_stream_close(stream);
    tacet_blob_clear(&blob);
}

int main(void) {
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(old_states, begin, end),
        cmocka_unit_test_setup_teardown(copies, begin, end),
        cmocka_unit_test_setup_teardown(other_charges, begin, end),
        cmocka_unit_test_setup_teardown(a_run_that_dies_has_drawn_nothing_that_may_not_leave, begin, end),
        cmocka_unit_test_setup_teardown(no_memory, begin, end),
        cmocka_unit_test_setup_teardown(damaged_marks, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
