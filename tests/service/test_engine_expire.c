/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine_expire.c - tickets that are too old: an epoch that waits goes on without them, late reports are refused,
 * and whoever replays the log comes to the same. The clock is the test's. */
#include "engine_fixture.h"

#include "local/shared/ldp.h"
#include <tacet/core/simrng.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 1000, THREADS = 3 };
static const char TOYS[] = TOYS_WITH(",\"ticket_seconds\":1000");
static const char MOMA[] =
    "{\"name\":\"slides\",\"trust\":\"local\",\"policy\":\"moma\",\"budget\":{\"eps\":1},\"rounds\":60,"
    "\"domain\":{\"points\":[[0],[0.25],[0.5],[0.75],[1]]},\"prior\":{\"lengthscale\":0.3,\"reward\":[0,1]},"
    "\"options\":{\"randomizer\":\"hybrid\",\"parameters\":\"tuned\",\"ticket_seconds\":1000}}";

static double report(void) {
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 0, 1, NULL));
    return tacet_ldp_bit(&ldp, true);
}

/* How many suggestions an epoch of moma has: until one is refused. */
static size_t fill(tacet__engine *e, answer *out, size_t most) {
    size_t count = 0;
    for (;;) {
        const answer a = ask_suggestion(e, "slides", NULL, NULL, 0);
        if (a.status == TACET_STATE) {
            return count;
        }
        assert_int_equal(a.status, TACET_OK);
        assert_true(count < most);
        out[count++] = a;
    }
}

/* One client never reports: the study stands still until its ticket is too old, asks its arm once more, and goes on. */
TEST(test_moma) {
    enum { MOST = 60 };
    answer a[MOST];
    answer more[MOST];
    add_study(MOMA);
    tacet__engine *e = open_at(0);
    const size_t threads = fill(e, a, MOST);
    assert_true(threads > 1 && threads < MOST / 4);
    for (size_t i = 1; i < threads; i++) {
        assert_int_equal(send_observation(e, "slides", a[i].ticket, report()).status, TACET_OK);
    }
    assert_int_equal(ask_suggestion(e, "slides", NULL, NULL, 0).status, TACET_STATE);
    ahead = SECONDS - 100;
    assert_int_equal(ask_suggestion(e, "slides", NULL, NULL, 0).status, TACET_STATE);
    assert_false(look_at(e, "slides", a[0].ticket, 0).expired);
    ahead = SECONDS + 1;
    assert_int_equal(fill(e, more, MOST), 1);
    assert_int_equal(more[0].index, a[0].index);
    assert_true(look_at(e, "slides", a[0].ticket, 0).expired);
    /* Too late, however often; also for another server. */
    tacet__engine *other = open_at(SECONDS + 1);
    for (int i = 0; i < 2; i++) {
        const answer late = send_observation(i == 0 ? e : other, "slides", a[0].ticket, report());
        assert_int_equal(late.status, TACET_STATE);
        assert_true(late.expired);
    }
    assert_int_equal(send_observation(other, "slides", more[0].ticket, report()).status, TACET_OK);
    assert_int_equal(fill(e, more, MOST), threads);
    tacet__engine_close(e);
    tacet__engine_close(other);
    /* A start that replays all of it. */
    raw_sql(false, "DELETE FROM snapshot");
    e = open_at(0);
    assert_int_equal(ask_suggestion(e, "slides", NULL, NULL, 0).status, TACET_STATE);
    for (size_t i = 0; i < threads; i++) {
        assert_int_equal(send_observation(e, "slides", more[i].ticket, report()).status, TACET_OK);
    }
    assert_int_equal(fill(e, more, MOST), threads);
    tacet__engine_close(e);
}

/* A clock that was ahead for a while neither keeps tickets open when it is right again, nor those behind one that was
 * taken meanwhile. */
TEST(test_a_clock_that_jumps) {
    enum { DAYS = 10 * 86400 };
    const double set[] = {0.1, 0, 0.9, 0};
    add_study(TOYS);
    OWN_ENGINE tacet__engine *e = open_at(DAYS);
    const answer first = ask_suggestion(e, "toys", NULL, set, 2);
    ahead = 0;
    const answer future = ask_suggestion(e, "toys", NULL, set, 2);
    (void)look_at(e, "toys", future.ticket, 0); /* then the open store has seen the event as it was */
    raw_sql(true, "UPDATE event SET time = time + 1000000 WHERE kind = 1 AND place IN (SELECT max(place) FROM event)");
    const answer behind = ask_suggestion(e, "toys", NULL, set, 2);
    assert_int_equal(behind.status, TACET_OK);
    ahead = SECONDS + 1;
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    assert_true(look_at(e, "toys", first.ticket, 0).expired);
    assert_false(look_at(e, "toys", future.ticket, 0).expired);
    assert_true(look_at(e, "toys", behind.ticket, 0).expired);
    /* And it goes once its own time has come. */
    ahead = 1000000 + SECONDS + 1;
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    assert_true(look_at(e, "toys", future.ticket, 0).expired);
}

static void *look_long(void *user) {
    answer *a = user;
    tacet__engine *e = open_engine();
    *a = look_at(e, "toys", a->ticket, 30);
    tacet__engine_close(e);
    return NULL;
}

/* Young tickets stay, observed ones are left alone, many at once go, and long polls end. */
TEST(test_many) {
    enum { OLD = 150 };
    const double set[] = {0.1, 0, 0.9, 0};
    static answer a[OLD];
    add_study(TOYS);
    tacet__engine *e = open_at(0);
    for (size_t i = 0; i < OLD; i++) {
        a[i] = ask_suggestion(e, "toys", NULL, set, 2);
        assert_int_equal(a[i].status, TACET_OK);
    }
    assert_int_equal(send_observation(e, "toys", a[7].ticket, 1).status, TACET_OK);
    pthread_t thread;
    answer polled = a[9];
    assert_int_equal(pthread_create(&thread, NULL, look_long, &polled), 0);
    ahead = SECONDS + 1;
    const answer young = ask_suggestion(e, "toys", "young", set, 2);
    assert_int_equal(young.status, TACET_OK);
    (void)pthread_join(thread, NULL);
    assert_true(polled.expired && !polled.observed);
    for (size_t i = 0; i < OLD; i++) {
        const answer now = look_at(e, "toys", a[i].ticket, 0);
        assert_true(now.observed == (i == 7) && now.expired == (i != 7));
    }
    assert_true(send_observation(e, "toys", a[7].ticket, 1).repeated); /* a retry of what was in time */
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    assert_int_equal(send_observation(e, "toys", young.ticket, 1).status, TACET_OK);
    assert_int_equal(answered_number(e, "toys", TACET__JOB_STATUS, "observed"), 2);
    tacet__engine_close(e);
    assert_int_equal(raw_number(true, "SELECT count(*) FROM event WHERE kind = 4"), OLD - 1);
    assert_int_equal(raw_number(false, "SELECT count(*) FROM shown WHERE observed < 0"), OLD - 1);
}

/* With 0 nothing expires. */
TEST(test_never) {
    const double set[] = {0.1, 0, 0.9, 0};
    add_study(TOYS_WITH(",\"ticket_seconds\":0"));
    OWN_ENGINE tacet__engine *e = open_at(0);
    const answer a = ask_suggestion(e, "toys", NULL, set, 2);
    ahead = 1000000000;
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    assert_int_equal(send_observation(e, "toys", a.ticket, 1).status, TACET_OK);
}

/* Without the setting a ticket is waited for for a day. */
TEST(test_a_day) {
    const double set[] = {0.1, 0, 0.9, 0};
    add_study(TOY_STUDY);
    OWN_ENGINE tacet__engine *e = open_at(0);
    const answer a = ask_suggestion(e, "toys", NULL, set, 2);
    const answer b = ask_suggestion(e, "toys", NULL, set, 2);
    ahead = 86000;
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    assert_int_equal(send_observation(e, "toys", a.ticket, 1).status, TACET_OK);
    ahead = 86402;
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    assert_true(send_observation(e, "toys", b.ticket, 1).expired);
}

TEST_EACH(store_setup, store_teardown)
