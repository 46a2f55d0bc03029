/* SPDX-License-Identifier: Apache-2.0 */
/* test_race.c - requests that race on two servers of one store: a report against the end of its ticket, which has one
 * outcome, the same for whoever asks and after a restart; and tokens that share a person or a study, none of which gets
 * more than its share. The log is the judge. The clock is the test's. */
#include "engine_fixture.h"

#include <sodium.h>
#include <tacet/core/simrng.h>
#include "local/shared/ldp.h"
#include <time.h>

enum { STUDIES = 3, SHOTS_MOST = 512, SECONDS = 1000, EVENTS_MOST = 4096, TOKENS = 4, OPEN_MOST = 2, ROUNDS_MOST = 3 };

static const char *const NAMES[STUDIES] = {"toys", "one", "two"};

static void add_all(void) {
    static const char LOCAL[] =
        "{\"name\":\"%s\",\"trust\":\"local\",\"budget\":{\"eps\":1},\"rounds\":5000,"
        "\"domain\":{\"points\":[[0],[0.25],[0.5],[0.75],[1]]},\"prior\":{\"lengthscale\":0.3,\"reward\":[0,1]},"
        "\"options\":{\"randomizer\":\"hybrid\",\"parameters\":\"tuned\",\"ticket_seconds\":1000}}";
    char text[1024];
    add_study(TOYS_WITH(",\"ticket_seconds\":1000"));
    for (size_t i = 1; i < STUDIES; i++) {
        (void)snprintf(text, sizeof text, LOCAL, NAMES[i]);
        add_study(text);
    }
}

static tacet__engine *open_fast(void) {
    tacet__engine_settings settings = engine_settings();
    tacet__engine *engine = NULL;
    settings.clock = fast_clock;
    settings.store.busy_ms = 20000; /* each of them is served, however slow the machine */
    assert_ok(tacet__engine_open(&engine, &settings, NULL));
    return engine;
}

/* --- jobs in the air ---------------------------------------------------------------------------------------------- */

typedef struct shot {
    tacet__job *job;
    size_t study;
    bool done;
} shot;

static shot shots[SHOTS_MOST];
static size_t shot_count;

static shot *fire(tacet__engine *e, size_t study, tacet__job *job) {
    assert_true(shot_count < SHOTS_MOST);
    shot *s = &shots[shot_count++];
    *s = (shot){.job = job, .study = study};
    job->user = &s->done;
    job->done = job_done;
    tacet__engine_submit(e, NAMES[study], job);
    return s;
}

static void wait_all(void) {
    for (size_t i = 0; i < shot_count; i++) {
        job_wait(&shots[i].done);
    }
}

static void forget_all(void) {
    for (size_t i = 0; i < shot_count; i++) {
        tacet__job_free(shots[i].job);
    }
    shot_count = 0;
}

static tacet__job *suggestion(size_t study, size_t token) {
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    if (study == 0) {
        static const double SET[4] = {0, 0, 1, 1};
        job->points = calloc(4, sizeof(double));
        memcpy(job->points, SET, sizeof SET);
        job->d = job->count = 2;
    }
    job->owned = true;
    job->owner[0] = (unsigned char)(1 + token);
    return job;
}

static tacet__job *observation(size_t study, const char *ticket) {
    tacet_ldp ldp;
    tacet__job *job = tacet__job_create(TACET__JOB_OBSERVE);
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, 0, 1, NULL));
    (void)snprintf(job->ticket, sizeof job->ticket, "%s", ticket);
    job->value = study == 0 ? 0.5 : tacet_ldp_bit(&ldp, true);
    return job;
}

/* --- the log ------------------------------------------------------------------------------------------------------ */

typedef struct record {
    tacet__event_kind kind;
    uint64_t of;
    size_t ends; /* of a suggestion */
    bool null;
    bool has_person;
    size_t token;
} record;

typedef struct history {
    const tacet__study *study;
    record events[EVENTS_MOST];
    size_t count;
} history;

static history told;

static tacet_status take(const tacet__event *e, void *user, tacet_error *err) {
    history *h = user;
    (void)err;
    assert_true(e->seq < EVENTS_MOST);
    record *r = &h->events[e->seq];
    *r = (record){.kind = e->kind, .of = e->of, .null = e->null, .has_person = e->has_person, .token = TOKENS};
    for (size_t t = 0; t < TOKENS; t++) {
        unsigned char owner[TACET__STUDIES_TOKEN_HASH] = {(unsigned char)(1 + t)};
        unsigned char hash[TACET__HOLDER_BYTES];
        tacet__holder_hash(hash, h->study, TACET__HOLDER_TOKEN, owner, sizeof owner);
        r->token = e->has_owner && memcmp(hash, e->owner, sizeof hash) == 0 ? t : r->token;
    }
    if (e->of != 0) {
        h->events[e->of].ends++;
    }
    h->count = (size_t)e->seq;
    return TACET_OK;
}

static void read_log(size_t study) {
    OWN_STUDIES tacet__studies *s = open_store();
    OWN_STUDY_ROW tacet__study row;
    tacet__study_init(&row);
    assert_ok(tacet__studies_get(s, &row, NAMES[study], NULL));
    told.study = &row;
    told.count = 0;
    assert_ok(tacet__studies_read(s, &row, 1, take, &told, NULL));
}

/* --- a report against the end of its ticket ----------------------------------------------------------------------- */

enum { TICKETS = 6 };

static void give_tickets(tacet__engine *e, char tickets[STUDIES][TICKETS][TACET__TICKET_TEXT]) {
    for (size_t i = 0; i < STUDIES * TICKETS; i++) {
        (void)fire(e, i / TICKETS, suggestion(i / TICKETS, 0));
    }
    wait_all();
    for (size_t i = 0; i < STUDIES * TICKETS; i++) {
        assert_int_equal(shots[i].job->status, TACET_OK);
        (void)snprintf(tickets[i / TICKETS][i % TICKETS], TACET__TICKET_TEXT, "%s", shots[i].job->ticket);
    }
    forget_all();
}

/* All at once: what ends the tickets on either server (a suggestion, or an owner), and two reports of each. `first`: 0,
 * the reports are answered before; 1, the end is; 2, it is a race. */
static void race(tacet__engine *const e[2], char tickets[STUDIES][TICKETS][TACET__TICKET_TEXT], int first,
                 tacet_simrng *rng, bool observed[STUDIES][TICKETS]) {
    shot *reports[2][STUDIES * TICKETS];
    for (int step = 0; step < 2; step++) {
        const bool ending = (first == 1) == (step == 0);
        for (size_t i = 0; i < STUDIES; i++) {
            if (ending || first == 2) {
                tacet__job *end = step == 0 ? suggestion(i, 1) : tacet__job_create(TACET__JOB_EXPIRE);
                end->x = step == 0 ? end->x : SECONDS;
                (void)fire(e[tacet_simrng_below(rng, 2)], i, end);
            }
            for (size_t k = 0; k < TICKETS && (!ending || first == 2); k++) {
                const size_t at = i * TICKETS + k;
                reports[step][at] = fire(e[tacet_simrng_below(rng, 2)], i, observation(i, tickets[i][k]));
            }
        }
        if (first != 2) {
            wait_all();
        }
    }
    wait_all();
    for (size_t i = 0; i < STUDIES; i++) {
        for (size_t k = 0; k < TICKETS; k++) {
            const tacet__job *a = reports[first == 1][i * TICKETS + k]->job;
            const tacet__job *b = reports[first == 2 ? 1 : first][i * TICKETS + k]->job;
            observed[i][k] = a->status == TACET_OK;
            assert_true(a->status == TACET_OK || (a->status == TACET_STATE && a->expired));
            assert_true(b->status == TACET_OK || (b->status == TACET_STATE && b->expired));
            assert_int_equal(a->status == TACET_OK, b->status == TACET_OK); /* not one of each */
            assert_false(first == 0 && !observed[i][k]);
            assert_false(first == 1 && observed[i][k]);
        }
    }
    forget_all();
}

static void same_for_all(tacet__engine *e, char tickets[STUDIES][TICKETS][TACET__TICKET_TEXT],
                         bool observed[STUDIES][TICKETS]) {
    for (size_t i = 0; i < STUDIES; i++) {
        for (size_t k = 0; k < TICKETS; k++) {
            OWN_JOB tacet__job *again = observation(i, tickets[i][k]);
            const answer a = look_at(e, NAMES[i], tickets[i][k], 0);
            assert_int_equal(a.observed, observed[i][k]);
            assert_int_equal(a.expired, !observed[i][k]);
            assert_int_equal(run_job(e, NAMES[i], again), observed[i][k] ? TACET_OK : TACET_STATE);
        }
    }
}

TEST(test_a_ticket_ends_once) {
    tacet_simrng rng;
    size_t reported = 0;
    size_t expired = 0;
    ahead = 0;
    add_all();
    tacet_simrng_init(&rng, 31, 0);
    tacet__engine *e[2] = {open_fast(), open_fast()};
    for (int round = 0; round < (test_slow() ? 6 : 24); round++) {
        char tickets[STUDIES][TICKETS][TACET__TICKET_TEXT];
        bool observed[STUDIES][TICKETS];
        give_tickets(e[round % 2], tickets);
        ahead += SECONDS + 1;
        race(e, tickets, round % 6 < 2 ? round % 6 : 2, &rng, observed);
        same_for_all(e[tacet_simrng_below(&rng, 2)], tickets, observed);
        for (size_t i = 0; i < STUDIES * TICKETS; i++) {
            reported += observed[i / TICKETS][i % TICKETS];
            expired += !observed[i / TICKETS][i % TICKETS];
        }
        if (round % 6 == 5) { /* who replays the log comes to the same */
            tacet__engine_close(e[0]);
            e[0] = open_fast();
            same_for_all(e[0], tickets, observed);
        }
    }
    assert_true(reported > 0 && expired > 0);
    tacet__engine_close(e[0]);
    tacet__engine_close(e[1]);
    for (size_t i = 0; i < STUDIES; i++) {
        size_t ends = 0;
        read_log(i);
        for (size_t seq = 1; seq <= told.count; seq++) {
            assert_true(told.events[seq].ends <= 1);
            ends += told.events[seq].ends;
        }
        assert_true(ends >= (test_slow() ? 6 : 24) * TICKETS);
    }
}

/* --- several tokens ----------------------------------------------------------------------------------------------- */

/* Every token asks for far more than it may have, all for the same person, on both servers at once; reports come in
 * between. At no point of the log has a token more open tickets or rounds than its share, all get their share in the
 * end, and one round of the person counts. */
static void judge_quotas(size_t study) {
    size_t open[TOKENS] = {0};
    size_t rounds[TOKENS] = {0};
    size_t counted = 0;
    size_t named = 0;
    read_log(study);
    for (size_t seq = 1; seq <= told.count; seq++) {
        const record *r = &told.events[seq];
        if (r->kind == TACET__EVENT_SUGGEST) {
            assert_true(r->token < TOKENS);
            assert_true(++open[r->token] <= OPEN_MOST);
            assert_true(++rounds[r->token] <= ROUNDS_MOST);
            named += r->has_person;
            counted += r->has_person && !r->null;
        } else if (r->of != 0) {
            open[told.events[r->of].token]--;
        }
    }
    for (size_t t = 0; t < TOKENS; t++) {
        assert_int_equal(rounds[t], ROUNDS_MOST);
    }
    assert_int_equal(named, TOKENS * ROUNDS_MOST);
    assert_int_equal(counted, 1);
}

TEST(test_no_token_gets_more_than_its_share) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 32, 0);
    ahead = 0;
    add_all();
    tacet__engine *e[2] = {open_fast(), open_fast()};
    for (int wave = 0; wave < 4; wave++) {
        for (size_t k = 0; k < 6 * TOKENS * STUDIES; k++) {
            const size_t study = k % STUDIES;
            tacet__job *job = suggestion(study, k / STUDIES % TOKENS);
            job->open_most = OPEN_MOST;
            job->rounds_most = ROUNDS_MOST;
            (void)snprintf(job->person, sizeof job->person, "somebody");
            (void)fire(e[tacet_simrng_below(&rng, 2)], study, job);
        }
        wait_all();
        const size_t asked = shot_count;
        for (size_t i = 0; i < asked; i++) {
            assert_true(shots[i].job->status == TACET_OK || shots[i].job->status == TACET_STATE);
            if (shots[i].job->status == TACET_OK) {
                (void)fire(e[tacet_simrng_below(&rng, 2)], shots[i].study,
                           observation(shots[i].study, shots[i].job->ticket));
            }
        }
        wait_all();
        forget_all();
    }
    tacet__engine_close(e[0]);
    tacet__engine_close(e[1]);
    for (size_t i = 0; i < STUDIES; i++) {
        judge_quotas(i);
    }
}

TEST_EACH(store_setup, store_teardown)
