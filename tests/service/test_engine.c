/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine.c - studies at work: once per ticket, retries, restarts, replicas, failing disks, long polls. */
#include "engine_fixture.h"

#include "support/fault_vfs.h"

#include "local/shared/ldp.h"
#include <tacet/core/simrng.h>
#include <unistd.h>

enum { ROUNDS = 24, ARMS = 4 };

static void draw_set(tacet_simrng *rng, double points[2 * ARMS]) {
    for (size_t i = 0; i < 2 * (size_t)ARMS; i++) {
        points[i] = tacet_simrng_uniform(rng);
    }
}

static double report(tacet_simrng *rng) {
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 0, 1, NULL));
    return tacet_ldp_bit(&ldp, tacet_simrng_uniform(rng) < 0.5);
}

TEST(test_once) {
    add_study(TOY_STUDY);
    OWN_ENGINE tacet__engine *e = open_engine();
    const double set[] = {0.1, 0, 0.6, 0, 0.9, 0};
    const double other[] = {0.2, 0, 0.6, 0, 0.9, 0};
    const answer first = ask_suggestion(e, "toys", "key-1", set, 3);
    assert_int_equal(first.status, TACET_OK);
    assert_int_equal(first.index, 0);
    const answer again = ask_suggestion(e, "toys", "key-1", set, 3);
    assert_int_equal(again.status, TACET_OK);
    assert_true(again.repeated);
    assert_string_equal(again.ticket, first.ticket);
    assert_int_equal(ask_suggestion(e, "toys", "key-1", other, 3).status, TACET_CONFLICT);
    assert_int_equal(ask_suggestion(e, "toys", NULL, NULL, 0).status, TACET_INVALID);
    assert_int_equal(ask_suggestion(e, "nosuch", NULL, NULL, 0).status, TACET_NOT_FOUND);
    const double wide[2 * 9] = {0};
    assert_int_equal(ask_suggestion(e, "toys", NULL, wide, 9).status, TACET_INVALID); /* above set_most */
    /* Observed once; the same bits again are the same answer. */
    const answer kept = send_observation(e, "toys", first.ticket, 0.6);
    assert_int_equal(kept.status, TACET_OK);
    assert_false(kept.repeated);
    assert_true(send_observation(e, "toys", first.ticket, 0.6).repeated);
    assert_int_equal(send_observation(e, "toys", first.ticket, 0.5).status, TACET_CONFLICT);
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 3).index, 1); /* it was learnt */
    /* Tickets of others, cut or changed ones are none. */
    OWN_TEXT char *forged = test_text("%s", first.ticket);
    forged[31] = forged[31] == 'A' ? 'B' : 'A';
    assert_int_equal(send_observation(e, "toys", forged, 0.6).status, TACET_NOT_FOUND);
    assert_int_equal(send_observation(e, "toys", "short", 0.6).status, TACET_NOT_FOUND);
    add_study(LOCAL_STUDY);
    assert_int_equal(send_observation(e, "slides", first.ticket, 0.6).status, TACET_NOT_FOUND);
}

/* Only its own client learns that a reward was clipped; local reports that no device sends are refused. */
TEST(test_ranges) {
    add_study(TOY_STUDY);
    add_study(LOCAL_STUDY);
    OWN_ENGINE tacet__engine *e = open_engine();
    const double set[] = {0.1, 0, 0.6, 0};
    const answer a = ask_suggestion(e, "toys", NULL, set, 2);
    const answer b = ask_suggestion(e, "toys", NULL, set, 2);
    assert_true(send_observation(e, "toys", a.ticket, 3).clipped);
    assert_true(send_observation(e, "toys", a.ticket, 3).clipped); /* the same answer again */
    assert_false(send_observation(e, "toys", b.ticket, 0.5).clipped);
    const answer s = ask_suggestion(e, "slides", NULL, NULL, 0);
    assert_int_equal(send_observation(e, "slides", s.ticket, 0.5).status, TACET_INVALID);
    tacet_simrng rng;
    tacet_simrng_init(&rng, 1, 0);
    assert_int_equal(send_observation(e, "slides", s.ticket, report(&rng)).status, TACET_OK);
}

/* The choices of a run: `engines` servers take turns, and all are restarted every `restart` rounds (0: never). */
static void play(uint64_t out[ROUNDS], const char *study, size_t engines, size_t restart) {
    tacet__engine *e[3] = {0};
    tacet_simrng rng;
    const bool sets = strcmp(study, "toys") == 0;
    tacet_simrng_init(&rng, 7, 0);
    for (size_t t = 0; t < ROUNDS; t++) {
        double points[2 * ARMS];
        tacet__engine **now = &e[t % engines];
        if (restart > 0 && t % restart == 0) {
            for (size_t k = 0; k < engines; k++) {
                tacet__engine_close(e[k]);
                e[k] = NULL;
            }
        }
        if (*now == NULL) {
            *now = open_engine();
        }
        draw_set(&rng, points);
        const answer a = ask_suggestion(*now, study, NULL, sets ? points : NULL, sets ? ARMS : 0);
        assert_int_equal(a.status, TACET_OK);
        out[t] = a.index;
        tacet__engine **next = &e[(t + 1) % engines]; /* another one hears of the outcome */
        if (*next == NULL) {
            *next = open_engine();
        }
        const double value = sets ? tacet_simrng_uniform(&rng) : report(&rng);
        assert_int_equal(send_observation(*next, study, a.ticket, value).status, TACET_OK);
    }
    for (size_t k = 0; k < engines; k++) {
        tacet__engine_close(e[k]);
    }
}

static void same_choices(const char *study, const char *definition) {
    uint64_t plain[ROUNDS];
    uint64_t other[ROUNDS];
    bool varied = false;
    add_study(definition);
    play(plain, study, 1, 0);
    static const size_t WAYS[][2] = {{1, 5}, {3, 0}, {2, 4}};
    for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        assert_int_equal(store_teardown(NULL), 0);
        assert_int_equal(store_setup(NULL), 0);
        add_study(definition);
        play(other, study, WAYS[i][0], WAYS[i][1]);
        assert_memory_equal(plain, other, sizeof plain);
    }
    for (size_t t = 1; t < ROUNDS; t++) {
        varied = varied || plain[t] != plain[0];
    }
    assert_true(varied);
}

/* Restarts and replicas do not show: what is suggested is a function of the log. */
TEST(test_replicas_central) {
    same_choices("toys", TOY_STUDY);
}

TEST(test_replicas_local) {
    same_choices("slides", LOCAL_STUDY);
}

/* A study that minimizes plays as one that maximizes the negated reward over the negated range. */
TEST(test_minimize) {
    static const char DOWN[] =
        "{\"name\":\"down\",\"trust\":\"local\",\"direction\":\"minimize\",\"budget\":{\"eps\":1},"
        "\"domain\":{\"points\":[[0],[0.25],[0.5],[0.75],[1]]},\"prior\":{\"lengthscale\":0.3,\"reward\":[0,1]},"
        "\"options\":{\"randomizer\":\"hybrid\",\"parameters\":\"tuned\"}}";
    static const char UP[] =
        "{\"name\":\"up\",\"trust\":\"local\",\"budget\":{\"eps\":1},"
        "\"domain\":{\"points\":[[0],[0.25],[0.5],[0.75],[1]]},\"prior\":{\"lengthscale\":0.3,\"reward\":[-1,0]},"
        "\"options\":{\"randomizer\":\"hybrid\",\"parameters\":\"tuned\"}}";
    tacet_simrng rng;
    add_study(DOWN);
    add_study(UP);
    add_study(LOCAL_STUDY);
    OWN_ENGINE tacet__engine *e = open_engine();
    tacet_simrng_init(&rng, 3, 0);
    bool differs = false;
    for (size_t t = 0; t < ROUNDS; t++) {
        const answer down = ask_suggestion(e, "down", NULL, NULL, 0);
        const answer up = ask_suggestion(e, "up", NULL, NULL, 0);
        const answer wrong = ask_suggestion(e, "slides", NULL, NULL, 0);
        const double y = report(&rng);
        assert_int_equal(down.index, up.index);
        differs = differs || down.index != wrong.index;
        assert_int_equal(send_observation(e, "down", down.ticket, y).status, TACET_OK);
        assert_int_equal(send_observation(e, "up", up.ticket, -y).status, TACET_OK);
        assert_int_equal(send_observation(e, "slides", wrong.ticket, y).status, TACET_OK);
    }
    assert_true(differs);
    /* And what is released is in the clients' units: between 0 and 1, or not far off. */
    const double mean = answered_number(e, "down", TACET__JOB_RELEASE, "mean");
    assert_true(mean > -1 && mean < 2);
    assert_close(answered_number(e, "up", TACET__JOB_RELEASE, "mean"), -mean, 0);
}

/* What a server that was killed would have left: the snapshot before. */
static void drop_newest_snapshot(void) {
    raw_sql(true, "DELETE FROM snapshot WHERE place = (SELECT max(place) FROM snapshot)");
    raw_sql(true, "UPDATE study SET snapshot = 0");
}

/* Another build, whose arithmetic rounds otherwise, cannot replay what this one suggested, and need not: an orderly
 * stop leaves nothing to replay, and neither does tacet study snapshot after a kill. */
TEST(test_other_arithmetic) {
    const double set[] = {0.1, 0, 0.9, 0};
    const tacet__engine_settings settings = engine_settings();
    uint64_t replayed = 0;
    uint64_t events = 0;
    tacet_error err = {0};
    add_study(TOY_STUDY);
    add_study(LOCAL_STUDY);
    for (int way = 0; way < 2; way++) {
        tacet__engine *e = open_engine();
        for (int i = 0; i < 2; i++) {
            const answer a = ask_suggestion(e, "toys", NULL, set, 2);
            assert_int_equal(send_observation(e, "toys", a.ticket, 1).status, TACET_OK);
        }
        tacet__engine_close(e);
        if (way == 1) {
            drop_newest_snapshot();
            assert_ok(tacet__engine_save(&settings, &replayed, &events, "toys", NULL));
            assert_int_equal(events, raw_number(true, "SELECT head FROM study"));
            assert_int_equal(replayed, 4);
            assert_ok(tacet__engine_save(&settings, &replayed, &events, "toys", NULL));
            assert_int_equal(replayed, 0);
        }
        toy_forgets = true;
        e = open_engine();
        assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).index, 0); /* its own choice, from the same state */
        toy_forgets = false;
        tacet__engine_close(e);
    }
    /* Nothing new: nothing is written. A study of the open store, and none at all. */
    const int64_t snapshots = (int64_t)engine_metrics.snapshots;
    tacet__engine *e = open_engine();
    assert_int_equal(look_at(e, "toys", "none", 0).status, TACET_NOT_FOUND);
    tacet__engine_close(e);
    assert_int_equal(engine_metrics.snapshots, snapshots);
    assert_ok(tacet__engine_save(&settings, &replayed, &events, "slides", NULL));
    assert_int_equal(events, 0);
    assert_status(tacet__engine_save(&settings, &replayed, &events, "nosuch", &err), TACET_NOT_FOUND);
    /* What cannot be replayed is not saved over. */
    drop_newest_snapshot();
    assert_status(tacet__engine_save(&settings, &replayed, &events, "toys", &err), TACET_CORRUPT);
}

/* A policy that does not repeat what is stored stops the study: replays check. */
TEST(test_replay_checks) {
    const double set[] = {0.1, 0, 0.9, 0};
    add_study(TOY_STUDY);
    tacet__engine *e = open_engine();
    for (int i = 0; i < 3; i++) {
        const answer a = ask_suggestion(e, "toys", NULL, set, 2);
        assert_int_equal(send_observation(e, "toys", a.ticket, 1).status, TACET_OK);
    }
    tacet__engine_close(e);
    drop_newest_snapshot(); /* as if it had been killed */
    toy_forgets = true;
    e = open_engine();
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_CORRUPT);
    toy_forgets = false;
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_CORRUPT); /* until someone looked */
    tacet__engine_close(e);
    e = open_engine();
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).index, 1);
    tacet__engine_close(e);
}

TEST(test_archive) {
    const double set[] = {0.1, 0, 0.9, 0};
    add_study(TOY_STUDY);
    OWN_ENGINE tacet__engine *e = open_engine();
    const answer a = ask_suggestion(e, "toys", NULL, set, 2);
    tacet__job_free(answered(e, "toys", TACET__JOB_ARCHIVE));
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_STATE);
    assert_int_equal(send_observation(e, "toys", a.ticket, 1).status, TACET_STATE);
    assert_int_equal(look_at(e, "toys", a.ticket, 0).status, TACET_OK);
}

/* A central policy whose noise is known is not served, neither at its beginning nor later. */
TEST(test_known_noise) {
    const double set[] = {0.1, 0, 0.9, 0};
    tacet__learner learner;
    tacet_error err = {0};
    tacet__engine_settings settings = engine_settings();
    OWN_TEXT char *name = NULL;
    toy_known = true;
    assert_int_equal(tacet__engine_add(&settings, &name, TOY_STUDY, strlen(TOY_STUDY), &err), TACET_CORRUPT);
    toy_known = false;
    add_study(TOY_STUDY); /* what was begun is gone on with */
    toy_known = true;
    tacet__engine *e = open_engine();
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_CORRUPT);
    tacet__engine_close(e);
    toy_known = false;
    e = open_engine();
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    tacet__engine_close(e);
    const tacet__definition def = {.trust = TACET_TRUST_CENTRAL};
    assert_int_equal(tacet__policy_create(&TOY, &learner, &def, NULL, NULL, 0, &err), TACET_CORRUPT);
    assert_null(learner.policy);
}

/* --- long polls --------------------------------------------------------------------------------------------------- */

typedef struct later {
    tacet__engine *engine;
    const char *ticket;
} later;

static void *observe_later(void *user) {
    const later *l = user;
    (void)usleep(50000);
    (void)send_observation(l->engine, "toys", l->ticket, 0.5);
    return NULL;
}

/* Answered when the ticket is observed: by the same server, or by another one on the same store. */
TEST(test_long_poll) {
    const double set[] = {0.1, 0, 0.9, 0};
    add_study(TOY_STUDY);
    tacet__engine *e = open_engine();
    OWN_ENGINE tacet__engine *other = open_engine();
    for (int i = 0; i < 2; i++) {
        const answer a = ask_suggestion(e, "toys", NULL, set, 2);
        later l = {i == 0 ? e : other, a.ticket};
        pthread_t thread;
        assert_false(look_at(e, "toys", a.ticket, 0).observed);
        assert_int_equal(pthread_create(&thread, NULL, observe_later, &l), 0);
        assert_true(look_at(e, "toys", a.ticket, 30).observed);
        (void)pthread_join(thread, NULL);
        assert_true(look_at(e, "toys", a.ticket, 30).observed); /* at once */
    }
    /* Nobody observes: the time runs out. */
    const answer a = ask_suggestion(e, "toys", NULL, set, 2);
    const answer b = look_at(e, "toys", a.ticket, 0.05);
    assert_int_equal(b.status, TACET_OK);
    assert_false(b.observed);
    /* Stopping answers those that wait. */
    OWN_JOB tacet__job *job = tacet__job_create(TACET__JOB_LOOK);
    bool done = false;
    (void)snprintf(job->ticket, sizeof job->ticket, "%s", a.ticket);
    job->wait = 60;
    job->user = &done;
    job->done = job_done;
    tacet__engine_submit(e, "toys", job);
    tacet__engine_close(e);
    assert_true(done);
}

static tacet__job *watch(uint64_t after, double wait, bool *done) {
    tacet__job *job = tacet__job_create(TACET__JOB_EVENTS);
    job->number = after;
    job->wait = wait;
    job->user = done;
    job->done = job_done;
    return job;
}

static size_t told(tacet__job *job, const bool *done) {
    job_wait(done);
    assert_int_equal(job->status, TACET_OK);
    const size_t count = json_array_size(json_object_get(job->body, "events"));
    tacet__job_free(job);
    return count;
}

/* Answered with the next event, by the same server or another one; a token has eight that wait. */
TEST(test_events_are_waited_for) {
    enum { MOST = 8 };
    const double set[] = {0.1, 0, 0.9, 0};
    tacet__job *jobs[MOST + 1];
    bool done[MOST + 1] = {false};
    add_study(TOY_STUDY);
    tacet__engine *e = open_engine();
    OWN_ENGINE tacet__engine *other = open_engine();
    (void)look_at(e, "toys", "none", 0); /* the study is in use: jobs are taken in their order */
    for (unsigned i = 0; i < 2; i++) {
        for (size_t k = 0; k <= MOST; k++) {
            done[k] = false;
            jobs[k] = watch(i, 30, &done[k]);
            jobs[k]->owner[0] = k == MOST ? 2 : 1; /* another token waits, too */
            tacet__engine_submit(e, "toys", jobs[k]);
        }
        bool full = false;
        tacet__job *one_more = watch(i, 30, &full);
        one_more->owner[0] = 1;
        tacet__engine_submit(e, "toys", one_more);
        assert_int_equal(told(one_more, &full), 0); /* at once: the others are still there */
        (void)pthread_mutex_lock(&done_lock);
        assert_false(done[0] || done[MOST]);
        (void)pthread_mutex_unlock(&done_lock);
        assert_int_equal(ask_suggestion(i == 0 ? e : other, "toys", NULL, set, 2).status, TACET_OK);
        for (size_t k = 0; k <= MOST; k++) {
            assert_int_equal(told(jobs[k], &done[k]), 1);
        }
    }
    bool late = false;
    tacet__job *job = watch(2, 0.05, &late);
    tacet__engine_submit(e, "toys", job);
    assert_int_equal(told(job, &late), 0); /* nothing happens: the time runs out */
    bool stopped = false;
    job = watch(2, 60, &stopped);
    tacet__engine_submit(e, "toys", job);
    (void)look_at(e, "toys", "none", 0); /* by now it waits */
    tacet__engine_close(e);
    assert_int_equal(told(job, &stopped), 0);
}

/* --- a store that fails ------------------------------------------------------------------------------------------- */

/* A job behind the last one: when it is answered, the worker has also finished what it does after its answers. */
static void settle(tacet__engine *e) {
    assert_int_equal(look_at(e, "toys", "none", 0).status, TACET_NOT_FOUND);
}

/* The n-th write, sync or truncation fails, for every n until a round passes untouched. Whatever is answered OK is
 * stored; what is answered otherwise may be sent again under its key, and is then stored once. */
TEST(test_failing_disk) {
    if (on_postgres()) {
        return;
    }
    fault_vfs_register();
    add_study(TOY_STUDY);
    tacet__engine_settings settings = engine_settings();
    settings.store.vfs = "fault";
    tacet__engine *e = NULL;
    assert_ok(tacet__engine_open(&e, &settings, NULL));
    const double set[] = {0.1, 0, 0.9, 0};
    uint64_t good = 0;
    size_t failures = 0;
    bool hit = true;
    for (long n = 1; hit || n < 4; n++) {
        OWN_TEXT char *key = test_text("round-%ld", n);
        settle(e);
        fault_vfs_arm(n, FAULT_CHANGE, n % 2 == 0 ? FAULT_ERROR : FAULT_SHORT);
        answer a = ask_suggestion(e, "toys", key, set, 2);
        answer b = a.status == TACET_OK ? send_observation(e, "toys", a.ticket, 0.5) : a;
        (void)look_at(e, "toys", "none", 0); /* may fail, too */
        hit = fault_vfs_hit() != 0;
        fault_vfs_arm(0, 0, FAULT_ERROR);
        failures += a.status != TACET_OK || b.status != TACET_OK;
        assert_true(a.status == TACET_OK || a.status == TACET_IO || a.status == TACET_BUSY);
        assert_true(b.status == TACET_OK || b.status == TACET_IO || b.status == TACET_BUSY);
        const answer again = ask_suggestion(e, "toys", key, set, 2);
        assert_int_equal(again.status, TACET_OK);
        if (a.status == TACET_OK) {
            assert_string_equal(again.ticket, a.ticket);
            assert_int_equal(again.index, a.index);
        }
        assert_int_equal(send_observation(e, "toys", again.ticket, 0.5).status, TACET_OK);
        good++;
        assert_true(n < 200);
    }
    assert_true(failures > 0);
    assert_int_equal(answered_number(e, "toys", TACET__JOB_STATUS, "suggested"), good);
    assert_int_equal(answered_number(e, "toys", TACET__JOB_STATUS, "observed"), good);
    tacet__engine_close(e);
    /* What was stored is one history: another server can follow it from the beginning. */
    e = open_engine();
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    tacet__engine_close(e);
}

/* --- many at once ------------------------------------------------------------------------------------------------- */

enum { CLIENTS = 8, EACH = 30 };

typedef struct crowd {
    tacet__engine *engine;
    unsigned number;
    size_t good;
} crowd;

static void *press(void *user) {
    crowd *c = user;
    tacet_simrng rng;
    tacet_simrng_init(&rng, 11, c->number);
    for (int i = 0; i < EACH; i++) {
        double points[2 * ARMS];
        draw_set(&rng, points);
        const answer a = ask_suggestion(c->engine, "toys", NULL, points, ARMS);
        const answer b = send_observation(c->engine, "toys", a.ticket, tacet_simrng_uniform(&rng));
        c->good += a.status == TACET_OK && b.status == TACET_OK;
    }
    return NULL;
}

/* Clients of two servers at once: all are answered, each event is counted once, batches hold more than one request,
 * and a third server replays the whole of it. */
TEST(test_crowd) {
    pthread_t threads[CLIENTS];
    crowd c[CLIENTS];
    add_study(TOY_STUDY);
    tacet__engine *e[2] = {open_engine(), open_engine()};
    const uint64_t batches = engine_metrics.batches;
    for (unsigned i = 0; i < CLIENTS; i++) {
        c[i] = (crowd){e[i % 2], i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, press, &c[i]), 0);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(c[i].good, EACH);
    }
    assert_true(engine_metrics.batches - batches < 2 * CLIENTS * EACH);
    tacet__engine_close(e[0]);
    tacet__engine_close(e[1]);
    OWN_ENGINE tacet__engine *third = open_engine();
    assert_int_equal(answered_number(third, "toys", TACET__JOB_STATUS, "observed"), CLIENTS * EACH);
}

/* A report and a suggestion that come together are one batch: the suggestion is made first, so that it rests on nothing
 * that is not stored yet. The study stands still at another suggestion until both wait. */
TEST(test_suggestions_come_before_the_reports_of_their_batch) {
    const double set[] = {0.1, 0, 0.6, 0, 0.9, 0};
    enum { STANDING, REPORT, ASKED, JOBS };
    tacet__job *jobs[JOBS];
    bool done[JOBS] = {false};
    add_study(TOY_STUDY);
    OWN_ENGINE tacet__engine *e = open_engine();
    const answer first = ask_suggestion(e, "toys", NULL, set, 3);
    (void)pthread_mutex_lock(&toy_gate);
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = tacet__job_create(i == REPORT ? TACET__JOB_OBSERVE : TACET__JOB_SUGGEST);
        (void)snprintf(jobs[i]->ticket, sizeof jobs[i]->ticket, "%s", i == REPORT ? first.ticket : "");
        jobs[i]->value = 0.6;
        jobs[i]->points = i == REPORT ? NULL : malloc(sizeof set);
        if (i != REPORT) {
            memcpy(jobs[i]->points, set, sizeof set);
            jobs[i]->d = 2;
            jobs[i]->count = 3;
        }
        jobs[i]->user = &done[i];
        jobs[i]->done = job_done;
        tacet__engine_submit(e, "toys", jobs[i]);
        while (i == STANDING && atomic_load(&engine_metrics.queued) > 0) {
            (void)usleep(1000);
        }
    }
    (void)pthread_mutex_unlock(&toy_gate);
    for (size_t i = 0; i < JOBS; i++) {
        job_wait(&done[i]);
        assert_int_equal(jobs[i]->status, TACET_OK);
    }
    assert_int_equal(jobs[ASKED]->index, 0); /* as if nothing had been reported */
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 3).index, 1);
    for (size_t i = 0; i < JOBS; i++) {
        tacet__job_free(jobs[i]);
    }
}

/* Large requests wait up to a number of bytes, also those that were taken and are not answered; small ones still fit
 * beside them, and there is room again once they are answered. */
TEST(test_queue_bytes) {
    enum { DIMS = 64, POINTS = 4096, FIT = 31 }; /* 2 MiB each, and a little more: 32 do not fit into 64 MiB */
    tacet__job *jobs[FIT + 2];
    bool done[FIT + 2] = {false};
    const double set[] = {0.1, 0, 0.6, 0};
    add_study(TOY_STUDY);
    OWN_ENGINE tacet__engine *e = open_engine();
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK); /* in use from now on */
    (void)pthread_mutex_lock(&toy_gate);
    for (size_t i = 0; i < FIT + 2; i++) {
        jobs[i] = tacet__job_create(TACET__JOB_SUGGEST);
        jobs[i]->d = i == 0 ? 2 : DIMS;
        jobs[i]->count = i == 0 ? 2 : POINTS;
        jobs[i]->points = calloc(jobs[i]->d * jobs[i]->count, sizeof(double));
        jobs[i]->user = &done[i];
        jobs[i]->done = job_done;
        tacet__engine_submit(e, "toys", jobs[i]);
    }
    assert_true(done[FIT + 1]); /* refused on the spot: the study stands still */
    assert_int_equal(jobs[FIT + 1]->status, TACET_BUSY);
    (void)pthread_mutex_unlock(&toy_gate);
    for (size_t i = 0; i <= FIT; i++) {
        job_wait(&done[i]);
        assert_int_equal(jobs[i]->status, i == 0 ? TACET_OK : TACET_INVALID); /* above set_most */
    }
    assert_int_equal(ask_suggestion(e, "toys", NULL, set, 2).status, TACET_OK);
    done[FIT + 1] = false;
    assert_int_equal(run_job(e, "toys", jobs[FIT + 1]), TACET_INVALID);
    for (size_t i = 0; i < FIT + 2; i++) {
        tacet__job_free(jobs[i]);
    }
}

/* More studies than may be in memory: those that rest go on where they were, and none is refused. */
TEST(test_studies_that_rest_go_on) {
    enum { STUDIES = 6, KEPT = 3, TURNS = 3 };
    char text[1024], name[16];
    tacet__engine_settings settings = engine_settings();
    settings.loaded_most = KEPT;
    for (size_t i = 0; i < (size_t)2 * STUDIES; i++) {
        const char *like = i < STUDIES ? TOY_STUDY : LOCAL_STUDY;
        (void)snprintf(text, sizeof text, "{\"name\":\"s%zu\"%s", i, strchr(like, ','));
        add_study(text);
    }
    tacet__engine *e = NULL;
    assert_ok(tacet__engine_open(&e, &settings, NULL));
    const double set[] = {0.1, 0, 0.6, 0, 0.9, 0};
    for (size_t turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < (size_t)2 * STUDIES; i++) {
            (void)snprintf(name, sizeof name, "s%zu", i);
            const answer a = ask_suggestion(e, name, NULL, i < STUDIES ? set : NULL, i < STUDIES ? 3 : 0);
            assert_int_equal(a.status, TACET_OK);
            if (i < STUDIES) {
                assert_int_equal(a.index, turn == 0 ? 0 : 1); /* what was learnt is still known */
                assert_int_equal(send_observation(e, name, a.ticket, 0.6).status, TACET_OK);
            }
            /* One more while it is decided who rests, in each of the threads. */
            assert_in_range(atomic_load(&engine_metrics.studies), 1, 2 * KEPT + KEPT + 1);
        }
    }
    tacet__engine_close(e);
    assert_int_equal(atomic_load(&engine_metrics.studies), 0);
}

TEST_EACH(store_setup, store_teardown)
