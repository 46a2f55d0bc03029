/* SPDX-License-Identifier: Apache-2.0 */
/* test_holder.c - no token ends a study: shares of open tickets and rounds, tickets that are given up, persons of whom
 * a number of rounds counts. */
#include "engine_fixture.h"
#include "dp/open/ledger_view.h"
#include "service/open/study/person.h"

#include <tacet/dp/open/calibrate.h>

static const double SET[] = {0.1, 0, 0.6, 0};

/* A token: 32 bytes, all the same. */
static tacet__job *ask_of(unsigned char token, const char *person, const char *key) {
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    job->points = malloc(sizeof SET);
    memcpy(job->points, SET, sizeof SET);
    job->d = 2;
    job->count = 2;
    job->owned = true;
    memset(job->owner, token, sizeof job->owner);
    (void)snprintf(job->person, sizeof job->person, "%s", person != NULL ? person : "");
    (void)snprintf(job->key, sizeof job->key, "%s", key != NULL ? key : "");
    return job;
}

static answer ask_as(tacet__engine *e, unsigned char token, const char *person, uint64_t open, uint64_t rounds) {
    tacet__job *job = ask_of(token, person, NULL);
    job->open_most = open;
    job->rounds_most = rounds;
    (void)run_job(e, "toys", job);
    return take_answer(job);
}

static const char SMALL[] = TOYS_WITH(",\"open_most\":8,\"person_rounds\":2");

static uint64_t held_by(unsigned char token, bool rounds) {
    const tacet__engine_settings settings = engine_settings();
    tacet__studies *store = NULL;
    tacet__study study;
    tacet__held held;
    unsigned char hash[TACET__HOLDER_BYTES];
    unsigned char name[TACET__STUDIES_TOKEN_HASH];
    memset(name, token, sizeof name);
    tacet__study_init(&study);
    assert_ok(tacet__studies_open(&store, &settings.store, NULL));
    assert_ok(tacet__studies_get(store, &study, "toys", NULL));
    tacet__holder_hash(hash, &study, TACET__HOLDER_TOKEN, name, sizeof name);
    assert_ok(tacet__studies_held(store, &study, &held, hash, NULL));
    tacet__study_clear(&study);
    tacet__studies_close(store);
    return rounds ? held.rounds : held.open;
}

/* A central study of 8 open tickets: one token gets 6 of them, another the rest; after a restart it is the same. */
TEST(test_no_token_takes_all_open_tickets) {
    answer a[8];
    add_study(SMALL);
    tacet__engine *e = open_engine();
    for (int i = 0; i < 6; i++) {
        a[i] = ask_as(e, 1, NULL, 0, 0);
        assert_int_equal(a[i].status, TACET_OK);
    }
    assert_int_equal(ask_as(e, 1, NULL, 0, 0).status, TACET_STATE);
    assert_int_equal(ask_as(e, 2, NULL, 0, 0).status, TACET_OK);
    tacet__engine_close(e);
    e = open_engine();
    assert_int_equal(ask_as(e, 1, NULL, 0, 0).status, TACET_STATE);
    assert_int_equal(held_by(1, false), 6);
    /* A report makes room, once; a repeated one none. */
    assert_int_equal(send_observation(e, "toys", a[0].ticket, 0.5).status, TACET_OK);
    assert_int_equal(send_observation(e, "toys", a[0].ticket, 0.5).status, TACET_OK);
    assert_int_equal(held_by(1, false), 5);
    assert_int_equal(ask_as(e, 1, NULL, 0, 0).status, TACET_OK);
    assert_int_equal(ask_as(e, 1, NULL, 0, 0).status, TACET_STATE);
    /* A token's own quota. */
    assert_int_equal(ask_as(e, 3, NULL, 1, 0).status, TACET_OK);
    assert_int_equal(ask_as(e, 3, NULL, 1, 0).status, TACET_STATE);
    tacet__engine_close(e);
}

TEST(test_no_token_takes_more_rounds_than_its_own) {
    add_study(SMALL);
    OWN_ENGINE tacet__engine *e = open_engine();
    for (int i = 0; i < 3; i++) {
        const answer a = ask_as(e, 1, NULL, 0, 3);
        assert_int_equal(a.status, TACET_OK);
        assert_int_equal(send_observation(e, "toys", a.ticket, 0.5).status, TACET_OK);
    }
    assert_int_equal(ask_as(e, 1, NULL, 0, 3).status, TACET_STATE);
    assert_int_equal(held_by(1, true), 3);
    assert_int_equal(ask_as(e, 2, NULL, 0, 3).status, TACET_OK);
}

/* As a person at a shell does it, beside the server. */
static uint64_t give_up(unsigned char who, uint64_t seconds) {
    const tacet__engine_settings settings = engine_settings();
    tacet__job *job = tacet__job_create(TACET__JOB_EXPIRE);
    job->owned = true;
    job->x = seconds;
    memset(job->owner, who, sizeof job->owner);
    assert_ok(tacet__engine_once(&settings, "toys", job, NULL));
    const uint64_t expired = job->number;
    tacet__job_free(job);
    return expired;
}

TEST(test_an_owner_gives_up_the_tickets_of_one_token) {
    add_study(SMALL);
    OWN_ENGINE tacet__engine *e = open_engine();
    answer a = {0};
    for (int i = 0; i < 4; i++) {
        a = ask_as(e, 1, NULL, 0, 0);
    }
    const answer b = ask_as(e, 2, NULL, 0, 0);
    assert_int_equal(give_up(1, 3600), 0);
    assert_int_equal(give_up(1, 0), 4);
    assert_int_equal(held_by(1, false), 0);
    assert_int_equal(held_by(1, true), 4);
    const answer late = send_observation(e, "toys", a.ticket, 0.5);
    assert_int_equal(late.status, TACET_STATE);
    assert_true(late.expired);
    assert_int_equal(send_observation(e, "toys", b.ticket, 0.5).status, TACET_OK);
    assert_int_equal(ask_as(e, 1, NULL, 0, 0).status, TACET_OK);
}

/* The toy tells what it was told: a null record counts as seen, and adds nothing, whatever was reported. */
static double sum_of(tacet__engine *e) {
    return answered_number(e, "toys", TACET__JOB_RELEASE, "sum");
}

TEST(test_later_rounds_of_a_person_are_null_records) {
    add_study(SMALL);
    tacet__engine *e = open_engine();
    for (int i = 0; i < 4; i++) { /* two of them count */
        const answer a = ask_as(e, (unsigned char)(1 + i), "ann", 0, 0);
        assert_int_equal(send_observation(e, "toys", a.ticket, 1).status, TACET_OK);
        assert_int_equal(send_observation(e, "toys", a.ticket, 0.25).status, TACET_CONFLICT);
    }
    assert_float_equal(sum_of(e), 2, 0);
    const answer b = ask_as(e, 1, "bob", 0, 0);
    assert_int_equal(send_observation(e, "toys", b.ticket, 1).status, TACET_OK);
    const answer c = ask_as(e, 1, NULL, 0, 0); /* nobody is named: a person of its own */
    assert_int_equal(send_observation(e, "toys", c.ticket, 1).status, TACET_OK);
    assert_float_equal(sum_of(e), 4, 0);
    /* A ticket counts from when it was asked for, not from its report: two open ones are the two. */
    const answer d = ask_as(e, 1, "cyd", 0, 0);
    const answer f = ask_as(e, 1, "cyd", 0, 0);
    const answer g = ask_as(e, 1, "cyd", 0, 0);
    assert_int_equal(send_observation(e, "toys", g.ticket, 1).status, TACET_OK);
    assert_float_equal(sum_of(e), 4, 0);
    assert_int_equal(send_observation(e, "toys", d.ticket, 1).status, TACET_OK);
    assert_int_equal(send_observation(e, "toys", f.ticket, 1).status, TACET_OK);
    assert_float_equal(sum_of(e), 6, 0);
    tacet__engine_close(e);
    /* Made again from the log alone, it is the same. */
    raw_sql(true, "DELETE FROM snapshot WHERE place > (SELECT min(place) FROM snapshot)");
    e = open_engine();
    assert_float_equal(sum_of(e), 6, 0);
    tacet__engine_close(e);
}

TEST(test_a_key_is_of_one_person) {
    add_study(SMALL);
    OWN_ENGINE tacet__engine *e = open_engine();
    const char *const PERSONS[] = {"ann", "ann", "bob", NULL};
    const tacet_status WANTED[] = {TACET_OK, TACET_OK, TACET_CONFLICT, TACET_CONFLICT};
    for (size_t i = 0; i < 4; i++) {
        OWN_JOB tacet__job *job = ask_of(1, PERSONS[i], "k");
        (void)run_job(e, "toys", job);
        assert_int_equal(job->status, WANTED[i]);
        assert_int_equal(job->repeated, i == 1);
    }
    assert_int_equal(held_by(1, true), 1);
}

/* The names themselves are nowhere in the store. */
TEST(test_names_are_not_stored) {
    char path[1100];
    add_study(SMALL);
    tacet__engine *e = open_engine();
    assert_int_equal(ask_as(e, 1, "Persephone.Smith", 0, 0).status, TACET_OK);
    tacet__engine_close(e);
    static const char *const FILES[] = {"trusted.db", "open.db", "trusted.db-wal"};
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", store_place, FILES[i]);
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            continue;
        }
        static char bytes[1 << 20];
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        (void)fclose(file);
        assert_null(memmem(bytes, size, "Persephone", 10));
    }
}

/* mu-GDP: k rounds cost k mu; (1, 1e-5) for a round is 2.15, 3.41, 6.17, 14.4 for 2, 3, 5, 10 rounds. */
TEST(test_what_rounds_cost) {
    assert_float_equal(tacet__eps_of_rounds(1, 1e-5, 2), 2.15, 0.006);
    assert_float_equal(tacet__eps_of_rounds(1, 1e-5, 3), 3.41, 0.006);
    assert_float_equal(tacet__eps_of_rounds(1, 1e-5, 5), 6.17, 0.006);
    assert_float_equal(tacet__eps_of_rounds(1, 1e-5, 10), 14.4, 0.06);
    assert_float_equal(tacet__eps_of_rounds(1, 1e-5, 50), 146, 0.6);
    assert_float_equal(tacet__eps_of_rounds(0.5, 0, 4), 2, 1e-12);
    assert_close(tacet__eps_of_mixed_rounds(1, 1e-5, 1.5, 2), 3, 1e-12);
    assert_close(tacet__eps_of_mixed_rounds(1, 1e-5, 1.5, 5), 7.5, 1e-12);
    /* All in Gaussian releases, at a fiftieth of delta. */
    assert_close(tacet__eps_of_mixed_rounds(1, 1e-5, 1.5, 50), tacet__ledger_gaussian_eps(50 / 3.7306316348, 1e-5 / 50),
                 1e-5);
    assert_float_equal(tacet__eps_of_mixed_rounds(1, 1e-5, 0, 2), 2.15, 0.006);
    assert_close(tacet__eps_of_mixed_rounds(1, 0, 1, 3), 3, 1e-12);
    assert_true(tacet__eps_of_mixed_rounds(1, 1e-5, 1.5, 1) == 1);
    assert_true(tacet__eps_of_rounds(1, 1e-5, 1) == 1); /* a cost is never told below what it is */
}

/* Noise that is calibrated to what a round may cost has, k times, no more mu than the person's (eps, delta). Where
 * delta alone lets it have more there is no such eps: 0.04 and 4e-4 for 50 rounds were 0.1024. */
TEST(what_a_round_may_cost) {
    static const double EPS[] = {1e-6, 1e-3, 0.04, 1, 10}, DELTAS[] = {1e-12, 1e-5, 4e-4}, ROUNDS_OF[] = {2, 5, 50};
    size_t found = 0;
    for (size_t i = 0; i < 45; i++) {
        const double eps = EPS[i / 9], delta = DELTAS[i / 3 % 3], k = ROUNDS_OF[i % 3];
        const double one = tacet__eps_of_a_round(eps, delta, k);
        double mu = 0, spent = 0;
        if (one > 0) {
            found++;
            assert_ok(tacet_gdp_mu(&mu, eps, delta, NULL));
            assert_ok(tacet_gdp_mu(&spent, one, delta, NULL));
            assert_true(k * spent <= mu);
            assert_true(k * spent >= mu * (1 - 1e-6));
        }
    }
    assert_int_equal(found, 35);
    assert_true(tacet__eps_of_a_round(0.04, 4e-4, 50) == 0);
    assert_true(tacet__eps_of_a_round(1, 0, 4) == 0.25);
    assert_true(tacet__eps_of_a_round(1, 1e-5, 1) == 1);
}

/* The best that an adversary can do who chooses by what was released so far how many rounds the next batch holds, and
 * whether it is randomised response (the worst of pure noise) or a Gaussian: P(S) - e^c Q(S) at most, by recursion over
 * the rounds that are left, on a grid of c. Between its points a convex function is taken for its chord, which is
 * above. */
enum { GRID = 601, NODES = 81, ROUNDS = 4 };
static const double REACH = 12;
static double gain[ROUNDS + 1][GRID];

static double at_gain(const double *value, double c) {
    const double place = (c + REACH) / (2 * REACH) * (GRID - 1);
    if (place <= 0) {
        return -expm1(c) + 1e-5; /* everything in S: above it by less than the gain at the grid's end */
    }
    const size_t i = place >= GRID - 1 ? GRID - 2 : (size_t)place;
    const double t = fmin(place - (double)i, 1);
    return (1 - t) * value[i] + t * value[i + 1];
}

static double by_response(const double *then, double c, double pure) {
    const double told = 1 / (1 + exp(-pure));
    return told * at_gain(then, c - pure) + (1 - told) * at_gain(then, c + pure);
}

static double by_gaussian(const double *then, double c, double mu) {
    double sum = 0, whole = 0;
    for (int z = 0; z < NODES; z++) {
        const double x = -8 + 16.0 * z / (NODES - 1), weight = exp(-x * x / 2);
        sum += weight * at_gain(then, c - (mu * mu / 2 + mu * x));
        whole += weight;
    }
    return sum / whole;
}

static void play_adaptively(double pure, double mu) {
    for (size_t i = 0; i < GRID; i++) {
        const double c = -REACH + 2 * REACH * (double)i / (GRID - 1);
        gain[0][i] = fmax(0, -expm1(c));
    }
    for (unsigned n = 1; n <= ROUNDS; n++) {
        for (size_t i = 0; i < GRID; i++) {
            const double c = -REACH + 2 * REACH * (double)i / (GRID - 1);
            double most = 0;
            for (unsigned a = 1; a <= n; a++) {
                most = fmax(most, fmax(by_response(gain[n - a], c, a * pure), by_gaussian(gain[n - a], c, a * mu)));
            }
            gain[n][i] = most;
        }
    }
}

/* A delta that a grid can tell from nothing. The bound holds against every adaptive choice, and is not loose: at 0.85
 * of it some choice has more than delta. */
TEST(mixed_rounds_cost_what_an_adaptive_choice_can_do) {
    static const double PURES[] = {0.3, 0.8, 1.6};
    const double delta = 1e-3, mu = 0.5;
    const double eps = tacet__ledger_gaussian_eps(mu, delta);
    for (size_t i = 0; i < sizeof PURES / sizeof *PURES; i++) {
        play_adaptively(PURES[i], mu);
        for (unsigned k = 2; k <= ROUNDS; k++) {
            const double bound = tacet__eps_of_mixed_rounds(eps, delta, PURES[i], k);
            assert_true(at_gain(gain[k], bound) <= delta);
            assert_true(at_gain(gain[k], 0.85 * bound) > delta);
        }
    }
}

TEST_EACH(store_setup, store_teardown)
