/* SPDX-License-Identifier: Apache-2.0 */
/* test_session.c - the modeler's session: whatever ends it, what is known is told; a state goes on where it was, with
 * more queries, too; rows that cannot be measured are put aside. */
#include "outsourced/session_fixture.h"

enum { ROWS = 200 };

typedef struct world {
    double rows[D * ROWS], values[ROWS];
    tacet_manifest manifest;
    size_t asked[ROWS]; /* how often */
    size_t count;       /* questions in all */
    size_t order[3 * ROWS];
    size_t end_after; /* then `end` is answered; SIZE_MAX: never */
    tacet_status end;
    size_t every; /* rows divisible by it cannot be measured; 0: all can */
    bool stop;
} world;

static void fill(world *w) {
    tacet_manifest_clear(&w->manifest); /* of the world before */
    memset(w, 0, sizeof *w);
    fill_table(w->rows, w->values, ROWS, 100);
    fill_manifest(&w->manifest, ROWS);
    w->end_after = SIZE_MAX;
}

static tacet_status answer(void *user, double *value, const char *ticket, size_t holder, size_t row, tacet_error *err) {
    world *w = user;
    (void)holder;
    assert_true(strlen(ticket) > 4 && row < ROWS);
    if (w->count >= w->end_after) {
        err->status = w->end;
        (void)snprintf(err->message, sizeof err->message, "as the test wants it");
        return w->end;
    }
    w->order[w->count++] = row;
    w->asked[row]++;
    if (w->every > 0 && row % w->every == 0) {
        return TACET_UNSUPPORTED;
    }
    *value = w->values[row];
    return TACET_OK;
}

static tacet_status run(world *w, tacet_session_result *out, const tacet_session_settings *s, tacet_error *err) {
    const tacet_session_asker asker = {.ask = answer, .user = w};
    const tacet_session_holder holder = {&w->manifest, "{the manifest}", w->rows};
    return tacet_session_run(out, s, &asker, &holder, 1, err);
}

TEST(needs_nothing_but_a_release) {
    static world w;
    tacet_session_result r;
    fill(&w);
    const tacet_session_settings s = usual();
    assert_ok(run(&w, &r, &s, NULL));
    assert_int_equal(r.end, TACET_SESSION_DONE);
    assert_int_equal(r.count, 24);
    assert_string_equal(r.method, "averaging");
    double least = INFINITY;
    for (size_t i = 0; i < ROWS; i++) {
        least = fmin(least, w.values[i]);
    }
    assert_true(r.best_value < least + 1);
    assert_close(r.best_value, w.values[r.best_row], 0);
    assert_true(r.known && r.knowledge.log_bayes_factor > 3);
    assert_true(r.compared && r.chance.rows == 6 && r.chance.queries == 24 && r.chance.chosen == 18);
    assert_true(r.chance.likely >= r.chance.best && r.chance.by_luck < 0.05);
    assert_true(r.predicted && r.recommended_mean >= least - 1 && r.recommended_mean < least + 2);
    tacet_session_result_clear(&r);
}

TEST(whatever_ends_it_the_best_is_told) {
    static const struct {
        tacet_status status;
        tacet_session_end end;
    } ENDS[] = {{TACET_BUDGET, TACET_SESSION_BUDGET},
                {TACET_IO, TACET_SESSION_AWAY},
                {TACET_TIMEOUT, TACET_SESSION_AWAY},
                {TACET_STATE, TACET_SESSION_STOPPED},
                {TACET_DENIED, TACET_SESSION_REFUSED}};
    static world w;
    for (size_t k = 0; k < sizeof ENDS / sizeof *ENDS; k++) {
        for (size_t after = 0; after < 12; after += 3) {
            tacet_session_result r;
            tacet_error err = {0};
            fill(&w);
            w.end_after = after;
            w.end = ENDS[k].status;
            const tacet_session_settings s = usual();
            const tacet_status status = run(&w, &r, &s, &err);
            if (after == 0) {
                assert_status(status, ENDS[k].status);
                assert_string_equal(err.message, "as the test wants it");
                continue;
            }
            assert_ok(status);
            assert_int_equal(r.end, ENDS[k].end);
            assert_int_equal(r.count, after);
            assert_string_equal(r.why.message, "as the test wants it");
            assert_true(r.best_row < ROWS);
            tacet_session_result_clear(&r);
        }
    }
}

enum { METHODS = 2 }; /* nothing known of the objective; its lengthscale */

/* Method k, its state in a fresh folder, whose top is returned. */
static const char *settings_of(tacet_session_settings *s, char folder[512], size_t k) {
    const char *top = test_mkdir();
    (void)snprintf(folder, 512, "%s/state", top);
    *s = usual();
    s->state = folder;
    s->lengthscale = k == 0 ? 0 : 3;
    return top;
}

TEST(a_state_goes_on_with_more_queries) {
    static world w;
    tacet_session_result r;
    for (size_t k = 0; k < METHODS; k++) {
        char folder[512];
        tacet_session_settings s;
        OWN_FOLDER const char *top = settings_of(&s, folder, k);
        assert_non_null(top);
        fill(&w);
        s.initial = 4;
        s.queries = 9;
        w.end_after = 7; /* interrupted once, too */
        w.end = TACET_IO;
        assert_ok(run(&w, &r, &s, NULL));
        assert_int_equal(r.end, TACET_SESSION_AWAY);
        tacet_session_result_clear(&r);
        w.end_after = SIZE_MAX;
        assert_ok(run(&w, &r, &s, NULL));
        assert_int_equal(r.count, 9);
        tacet_session_result_clear(&r);
        s.queries = 15;
        assert_ok(run(&w, &r, &s, NULL));
        assert_int_equal(r.end, TACET_SESSION_DONE);
        assert_int_equal(r.count, 15);
        assert_int_equal(w.count, 15); /* nothing was asked twice */
        assert_memory_equal(r.rows, w.order, 15 * sizeof *r.rows);
        assert_true(r.compared && r.chance.rows == 4);
        tacet_session_result_clear(&r);
        s.seed = 2;
        assert_status(run(&w, &r, &s, NULL), TACET_CONFLICT);
    }
}

/* What a stopped search chooses afterwards is what it would have chosen. */
TEST(an_interruption_changes_no_choice) {
    static world w;
    static size_t once[ROWS];
    tacet_session_result r;
    for (size_t k = 0; k < METHODS; k++) {
        for (int stops = 0; stops < 2; stops++) {
            char folder[512];
            tacet_session_settings s;
            const char *top = settings_of(&s, folder, k);
            fill(&w);
            s.initial = 5;
            s.queries = 16;
            w.end = TACET_IO;
            for (w.end_after = stops == 1 ? 3 : 16;; w.end_after += 4) {
                assert_ok(run(&w, &r, &s, NULL));
                const bool done = r.end == TACET_SESSION_DONE;
                if (done && stops == 0) {
                    memcpy(once, r.rows, 16 * sizeof *once);
                } else if (done) {
                    assert_memory_equal(once, r.rows, 16 * sizeof *once);
                }
                tacet_session_result_clear(&r);
                if (done) {
                    break;
                }
            }
            assert_int_equal(w.count, 16);
            test_rmdir(top);
        }
    }
}

TEST(rows_that_cannot_be_measured_are_put_aside) {
    static world w;
    tacet_session_result r;
    for (size_t k = 0; k < METHODS; k++) {
        fill(&w);
        w.every = 2;
        tacet_session_settings s = usual();
        s.lengthscale = k == 0 ? 0 : 3;
        s.initial = 4;
        s.queries = 12;
        assert_ok(run(&w, &r, &s, NULL));
        assert_int_equal(r.count, 12);
        assert_true(r.failed_count > 0);
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(w.asked[i] <= 1);
        }
        for (size_t i = 0; i < r.count; i++) {
            assert_true(r.rows[i] % 2 == 1);
            assert_close(r.values[i], w.values[r.rows[i]], 0);
        }
        assert_true(r.recommended_row < ROWS && r.recommended_row % 2 == 1);
        tacet_session_result_clear(&r);
    }
    fill(&w);
    w.every = 1;
    tacet_session_settings s = usual();
    assert_status(run(&w, &r, &s, NULL), TACET_UNSUPPORTED);
    assert_int_equal(w.count, 10);
    fill(&w);
    w.end_after = 1;
    w.end = TACET_UNSUPPORTED;
    assert_ok(run(&w, &r, &s, NULL));
    assert_int_equal(r.end, TACET_SESSION_UNMEASURABLE);
    assert_int_equal(r.best_row, w.order[0]);
    tacet_session_result_clear(&r);
}

/* Shift and scale of the first rows are taken out, of the noise that is stated in the values' units, too. */
TEST(a_lengthscale_serves_values_in_any_units) {
    static world w;
    static size_t once[ROWS];
    for (int k = 0; k < 2; k++) {
        tacet_session_result r;
        fill(&w);
        for (size_t i = 0; i < ROWS && k > 0; i++) {
            w.values[i] = 1024 * w.values[i] + 65536;
        }
        tacet_session_settings s = usual();
        s.lengthscale = 3;
        s.noise_var = k > 0 ? 1024 * 1024 * 0.25 : 0.25;
        assert_ok(run(&w, &r, &s, NULL));
        if (k == 0) {
            memcpy(once, w.order, s.queries * sizeof *once);
        }
        assert_memory_equal(w.order, once, s.queries * sizeof *once);
        tacet_session_result_clear(&r);
    }
}

static bool stops(void *user) {
    return ((world *)user)->count >= 5;
}

TEST(can_be_told_to_stop) {
    static world w;
    tacet_session_result r;
    fill(&w);
    tacet_session_settings s = usual();
    s.stop = stops;
    s.user = &w;
    assert_ok(run(&w, &r, &s, NULL));
    assert_int_equal(r.end, TACET_SESSION_STOPPED);
    assert_string_equal(tacet_session_end_name(r.end), "interrupted");
    assert_int_equal(r.count, 5);
    tacet_session_result_clear(&r);
}

TEST(bad_settings_ask_nothing) {
    static world w;
    tacet_session_result r;
    fill(&w);
#define REFUSED(change)                                                                                                \
    do {                                                                                                               \
        tacet_session_settings s = usual();                                                                            \
        change;                                                                                                        \
        assert_status(run(&w, &r, &s, NULL), TACET_INVALID);                                                           \
        assert_null(r.rows);                                                                                           \
        assert_int_equal(w.count, 0);                                                                                  \
    } while (0)
    REFUSED(s.queries = 0);
    REFUSED(s.queries = ROWS + 1);
    REFUSED((s.lengthscale = 2, s.delta_ucb = 2));
    REFUSED((s.lengthscale = 2, s.signal_var = -1));
    REFUSED(s.lengthscale = NAN);
    REFUSED(s.noise_var = -1);
}
