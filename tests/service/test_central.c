/* SPDX-License-Identifier: Apache-2.0 */
/* test_central.c - the central policies behind the engine, on SQLite or PostgreSQL: releases that end half-way, studies
 * that are created half-way or not at all. */
#include "engine_fixture.h"

#include "central/open/shape.h"
#include "dp/open/laws.h"
#include "service/trusted/central.h"
#include "service/trusted/kinds.h"

#include <tacet/core/simrng.h>
#include <time.h>
#include <unistd.h>

static const tacet__policy_kind *const CENTRAL[] = {&tacet__kind_central, &tacet__kind_fixed, &tacet__kind_contextual,
                                                    NULL};

static tacet__engine_settings central_settings(void) {
    tacet__engine_settings s = engine_settings();
    s.kinds = CENTRAL;
    return s;
}

static tacet_status add_central(const char *definition, tacet_error *err) {
    const tacet__engine_settings settings = central_settings();
    return tacet__engine_add(&settings, NULL, definition, strlen(definition), err);
}

static tacet__engine *open_central(void) {
    const tacet__engine_settings settings = central_settings();
    tacet__engine *engine = NULL;
    assert_ok(tacet__engine_open(&engine, &settings, NULL));
    return engine;
}

static tacet__engine *open_central_after(const char *definition) {
    assert_ok(add_central(definition, NULL));
    return open_central();
}

static answer ask_at(tacet__engine *engine, const char *study, const char *key, double context) {
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    (void)snprintf(job->key, sizeof job->key, "%s", key);
    job->context = malloc(sizeof context);
    *job->context = context;
    job->context_dim = 1;
    (void)run_job(engine, study, job);
    return take_answer(job);
}

static void ledger_path(char out[1200], const char *study) {
    (void)snprintf(out, 1200, on_postgres() ? "%s#tacet_ledger_%s" : "%s/ledger-%s.db", store_place, study);
}

static double spent(const char *study) {
    char path[1200];
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings s;
    tacet_ledger_totals t;
    ledger_path(path, study);
    tacet_ledger_settings_defaults(&s);
    s.create = false;
    s.use_stored = true;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    assert_ok(tacet_ledger_total(ledger, &t, NULL));
    tacet_ledger_close(ledger);
    return t.eps;
}

/* From now on, rows of a table for which the condition holds are refused, as by a disk that is full; NULL: no more. */
static void refuse_rows(const char *path, const char *table, const char *condition) {
    char sql[800];
    tacet__db *db = NULL;
    const tacet__db_settings settings = {.busy_ms = 2000};
    tacet_error err = {0};
    assert_ok(tacet__db_open(&db, path, &settings, NULL));
    if (condition == NULL) {
        (void)snprintf(sql, sizeof sql,
                       on_postgres() ? "DROP TRIGGER a_full ON %s; DROP FUNCTION a_full()" : "DROP TRIGGER a_full",
                       table);
    } else if (on_postgres()) {
        (void)snprintf(sql, sizeof sql,
                       "CREATE FUNCTION a_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF %s THEN RAISE "
                       "EXCEPTION 'full'; END IF; RETURN NEW; END $$; CREATE TRIGGER a_full BEFORE INSERT ON %s FOR "
                       "EACH ROW EXECUTE FUNCTION a_full()",
                       condition, table);
    } else {
        (void)snprintf(sql, sizeof sql,
                       "CREATE TRIGGER a_full BEFORE INSERT ON %s WHEN %s BEGIN SELECT RAISE(ABORT, 'full'); END",
                       table, condition);
    }
    assert_done(tacet__db_exec(db, sql, &err));
    tacet__db_close(db);
}

/* --- contextual: a release is interrupted ------------------------------------------------------------------------- */

enum { LEARN = 101, MISSING = 4 }; /* the first epoch at this eps, and one round; the first MISSING report late */
static const char CONTEXTUAL_STUDY[] =
    "{\"name\":\"advice\",\"trust\":\"central\",\"policy\":\"contextual\",\"budget\":{\"eps\":60},\"rounds\":300,"
    "\"domain\":{\"points\":[[0],[0.5],[1]],\"context\":{\"lower\":[0],\"upper\":[1]}},"
    "\"prior\":{\"kernel\":\"se\",\"lengthscale\":0.5,\"reward\":[0,1]}}";

static double reward_at(uint64_t action, double context) {
    return 1 - fabs((double)action / 2 - context);
}

static double context_of(size_t t) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 8, t);
    return tacet_simrng_uniform(&rng);
}

/* The first epoch; tickets of those that are to report late. */
static void learn(tacet__engine *e, answer late[MISSING]) {
    for (size_t t = 0; t < LEARN; t++) {
        const double c = context_of(t);
        const answer a = ask_at(e, "advice", "", c);
        assert_int_equal(a.status, TACET_OK);
        if (t < MISSING) {
            late[t] = a;
        } else {
            assert_int_equal(send_observation(e, "advice", a.ticket, reward_at(a.index, c)).status, TACET_OK);
        }
    }
}

static json_t *released(tacet__engine *e) {
    tacet__job *job = answered(e, "advice", TACET__JOB_RELEASE);
    json_t *model = json_incref(json_object_get(job->body, "model"));
    tacet__job_free(job);
    assert_non_null(model);
    return model;
}

/* The release fails when the ledger is to take its `k`-th record (1: the budget is 0), or, k = 0, when all of it is in
 * the ledger and the suggestion is to be stored. It is asked for again by another process, and reports come late. How
 * many releases there were. */
static size_t interrupted(int k) {
    char path[1200];
    answer late[MISSING];
    assert_ok(add_central(CONTEXTUAL_STUDY, NULL));
    tacet__engine *e = open_central();
    learn(e, late);
    ledger_path(path, "advice");
    OWN_TEXT char *trusted = test_text(on_postgres() ? "%s#tacet_trusted" : "%s/trusted.db", store_place);
    OWN_TEXT char *condition = test_text(k > 0 ? "NEW.seq >= %d" : "NEW.kind = 1", k);
    refuse_rows(k > 0 ? path : trusted, k > 0 ? "record" : "event", condition);
    assert_int_not_equal(ask_at(e, "advice", "after", 0.9).status, TACET_OK);
    tacet__engine_close(e);
    refuse_rows(k > 0 ? path : trusted, k > 0 ? "record" : "event", NULL);
    e = open_central();
    tacet__engine *other = open_central();
    for (size_t i = 0; i < MISSING; i++) { /* between the two attempts, and after */
        if (i == MISSING / 2) {
            const answer a = ask_at(e, "advice", "after", 0.9);
            assert_int_equal(a.status, TACET_OK);
        }
        assert_int_equal(send_observation(e, "advice", late[i].ticket, 0.5).status, TACET_OK);
    }
    assert_close(spent("advice"), 60, 1e-9);
    json_t *model = released(e);
    const size_t releases = json_array_size(json_object_get(model, "receipts"));
    /* Another server, which follows the log from its beginning, has the same model. */
    tacet__engine *third = open_central();
    json_t *again = released(third);
    assert_true(json_equal(model, again));
    assert_close(spent("advice"), 60, 1e-9);
    json_decref(model);
    json_decref(again);
    tacet__engine_close(third);
    tacet__engine_close(other);
    tacet__engine_close(e);
    return releases;
}

/* Wherever a release is interrupted, it is gone on with: one model, for one eps, at every server. */
TEST(test_contextual_interrupted) {
    assert_int_equal(interrupted(0), 1);
    for (int at = 1; at <= 2; at++) { /* a release is two records: entered, answered */
        assert_int_equal(store_teardown(NULL), 0);
        assert_int_equal(store_setup(NULL), 0);
        assert_int_equal(interrupted(at), 1);
    }
}

/* Once an epoch was learnt from the study is saved, so that no other process learns from it again. */
TEST(test_contextual_saves_what_it_learnt) {
    answer late[MISSING];
    tacet__engine *e = open_central_after(CONTEXTUAL_STUDY);
    learn(e, late);
    assert_int_equal(raw_number(true, "SELECT snapshot FROM study"), 0);
    for (size_t i = 0; i < 2; i++) { /* the first releases */
        assert_int_equal(ask_at(e, "advice", "", 0.9).status, TACET_OK);
        assert_int_equal(raw_number(true, "SELECT head - snapshot FROM study"), i);
    }
    tacet__engine_close(e);
}

/* --- contextual: reports that come late
 * ----------------------------------------------------------------------------------- */

enum { LATE = 100, LATE_ROUNDS = 300, LOOKED_AT = 80 };

/* Every report comes LATE rounds after its question, and the server starts anew in the middle. How many of the last
 * LOOKED_AT questions were answered with the best action; by chance a third. */
static size_t played_late(const char *options) {
    static answer given[LATE_ROUNDS];
    char definition[600];
    size_t right = 0;
    (void)snprintf(definition, sizeof definition,
                   "{\"name\":\"advice\",\"trust\":\"central\",\"policy\":\"contextual\",\"budget\":{\"eps\":60},"
                   "\"rounds\":300,\"domain\":{\"points\":[[0],[0.5],[1]],\"context\":{\"lower\":[0],\"upper\":[1]}},"
                   "\"prior\":{\"kernel\":\"se\",\"lengthscale\":0.5,\"reward\":[0,1]},\"options\":{%s}}",
                   options);
    tacet__engine *e = open_central_after(definition);
    for (size_t t = 0; t < LATE_ROUNDS; t++) {
        const double c = context_of(t);
        if (t == LATE_ROUNDS / 2) {
            tacet__engine_close(e);
            e = open_central();
        }
        given[t] = ask_at(e, "advice", "", c);
        assert_int_equal(given[t].status, TACET_OK);
        if (t >= LATE) {
            const answer *a = &given[t - LATE];
            const double reward = reward_at(a->index, context_of(t - LATE));
            assert_int_equal(send_observation(e, "advice", a->ticket, reward).status, TACET_OK);
        }
        right += t >= LATE_ROUNDS - LOOKED_AT && given[t].index == (uint64_t)rint(2 * c);
    }
    tacet__engine_close(e);
    return right;
}

/* A study that waits for them learns from late reports. */
TEST(test_contextual_late) {
    const size_t waiting = played_late("\"late\":100");
    assert_int_equal(store_teardown(NULL), 0);
    assert_int_equal(store_setup(NULL), 0);
    const size_t prompt = played_late("");
    print_message("late reports: %zu of 80 right with options.late, %zu without\n", waiting, prompt);
    assert_true(waiting >= 55);
    assert_true(waiting >= prompt + 15);
}

/* --- fixed: a client that never reports ----------------------------------------------------------------------
 */

static uint64_t tomorrow(void) {
    return (uint64_t)time(NULL) + 86400;
}

/* One report that does not come stops nothing. It is given up when its ticket is too old, sums are charged once, and a
 * replica that replays all of it is of the same mind. */
TEST(test_fixed_expires) {
    static const char STUDY[] =
        "{\"name\":\"advice\",\"trust\":\"central\",\"policy\":\"fixed\",\"budget\":{\"eps\":1,\"delta\":1e-6},"
        "\"rounds\":50,\"domain\":{\"points\":[[0],[0.5],[1]]},\"prior\":{\"lengthscale\":0.5,\"reward\":[0,1]},"
        "\"options\":{\"ticket_seconds\":3600}}";
    enum { BATCH = 30 };
    tacet__engine_settings settings = central_settings();
    tacet__engine *e = open_central_after(STUDY);
    answer a[BATCH];
    for (size_t t = 0; t < BATCH; t++) {
        a[t] = ask_suggestion(e, "advice", NULL, NULL, 0);
        assert_int_equal(a[t].status, TACET_OK);
    }
    for (size_t t = 1; t < BATCH; t++) {
        assert_int_equal(send_observation(e, "advice", a[t].ticket, a[t].index == 1).status, TACET_OK);
    }
    assert_close(spent("advice"), 0, 0);
    assert_int_equal(ask_suggestion(e, "advice", NULL, NULL, 0).status, TACET_OK);
    assert_close(spent("advice"), 1, 1e-6);
    tacet__engine_close(e);
    settings.clock = tomorrow;
    assert_ok(tacet__engine_open(&e, &settings, NULL));
    const answer next = ask_suggestion(e, "advice", NULL, NULL, 0);
    assert_int_equal(next.status, TACET_OK);
    const answer late = send_observation(e, "advice", a[0].ticket, 1);
    assert_true(late.status == TACET_STATE && late.expired);
    assert_close(spent("advice"), 1, 1e-6);
    tacet__engine_close(e);
    raw_sql(true, "DELETE FROM snapshot WHERE place > (SELECT min(place) FROM snapshot)");
    e = open_central();
    assert_int_equal(send_observation(e, "advice", next.ticket, 1).status, TACET_OK);
    assert_int_equal(ask_suggestion(e, "advice", NULL, NULL, 0).status, TACET_OK);
    assert_close(spent("advice"), 1, 1e-6);
    tacet__engine_close(e);
}

/* --- creating a study --------------------------------------------------------------------------------------------- */

#define CENTRAL_WITH(eps)                                                                                              \
    "{\"name\":\"advice\",\"trust\":\"central\",\"policy\":\"central\",\"budget\":{\"eps\":" eps ",\"delta\":1e-6},"   \
    "\"rounds\":50,\"domain\":{\"lower\":[0,0],\"upper\":[1,1]},\"prior\":{\"lengthscale\":0.5,\"reward\":[0,1]}}"
static const char CENTRAL_STUDY[] = CENTRAL_WITH("1"), CENTRAL_OTHER[] = CENTRAL_WITH("2");
static const char FIXED_STUDY[] =
    "{\"name\":\"advice\",\"trust\":\"central\",\"policy\":\"fixed\",\"budget\":{\"eps\":1,\"delta\":1e-6},"
    "\"rounds\":50,\"domain\":{\"points\":[[0],[0.5],[1]]},\"prior\":{\"lengthscale\":0.5,\"reward\":[0,1]}}";

static answer ask_any(tacet__engine *e, const char *policy) {
    const double set[] = {0.1, 0.2, 0.6, 0.9};
    return policy == CONTEXTUAL_STUDY ? ask_at(e, "advice", "", 0.3)
           : policy == CENTRAL_STUDY  ? ask_suggestion(e, "advice", NULL, set, 2)
                                      : ask_suggestion(e, "advice", NULL, NULL, 0);
}

static void side(char out[1200], bool trusted) {
    (void)snprintf(out, 1200, on_postgres() ? "%s#tacet_%s" : "%s/%s.db", store_place, trusted ? "trusted" : "open");
}

/* Wherever creating a study ends, the same request goes on with it; another definition is refused, and says why. */
TEST(test_create_again) {
    static const char *const STUDIES[] = {CENTRAL_STUDY, FIXED_STUDY, CONTEXTUAL_STUDY};
    static const struct {
        bool trusted;
        const char *table;
    } ENDS[] = {{false, "study"}, {true, "study"}, {true, "snapshot"}};
    for (size_t i = 0; i < 9; i += test_slow() ? 4 : 1) { /* then each study, and each end, once */
        const char *study = STUDIES[i / 3];
        const bool last =
            i % 3 == 2; /* all is there but the first state: what is charged at the beginning is charged */
        char path[1200];
        tacet_error err = {0};
        assert_int_equal(store_teardown(NULL), 0);
        assert_int_equal(store_setup(NULL), 0);
        tacet__studies_close(open_store());
        side(path, ENDS[i % 3].trusted);
        refuse_rows(path, ENDS[i % 3].table, "1 = 1");
        assert_int_not_equal(add_central(study, &err), TACET_OK);
        if (last) {
            assert_close(spent("advice"), 0, 0); /* the first batch is charged when it ends */
        }
        refuse_rows(path, ENDS[i % 3].table, NULL);
        OWN_ENGINE tacet__engine *e = open_central();
        if (i % 3 > 0) {
            const answer none = ask_any(e, study);
            assert_true(none.status == TACET_STATE || none.status == TACET_NOT_FOUND);
            tacet_error_clear(&err);
            assert_int_equal(add_central(CENTRAL_OTHER, &err), TACET_CONFLICT);
            assert_non_null(strstr(err.message, "another definition"));
            assert_non_null(strstr(err.message, "not created to its end"));
        }
        assert_ok(add_central(study, &err));
        assert_ok(add_central(study, &err)); /* once more is harmless */
        assert_int_equal(ask_any(e, study).status, TACET_OK);
        assert_close(spent("advice"), 0, 0); /* the first batch is charged when it ends */
        tacet_error_clear(&err);
        assert_int_equal(add_central(CENTRAL_OTHER, &err), TACET_CONFLICT);
        assert_null(strstr(err.message, "not created to its end"));
    }
}

static bool name_is_free(void) {
    tacet__study study;
    tacet__study_init(&study);
    tacet__studies *store = open_store();
    const tacet_status status = tacet__studies_get(store, &study, "advice", NULL);
    tacet__study_clear(&study);
    tacet__studies_close(store);
    return status == TACET_NOT_FOUND;
}

/* What a policy refuses is refused before the study has its name. */
TEST(test_refused_free) {
    static const char *const HEADS[] = {
        "\"policy\":\"contextual\",\"domain\":{\"points\":[[0],[0.5],[1]],\"context\":{\"lower\":[0],\"upper\":[1]}}",
        "\"policy\":\"fixed\",\"domain\":{\"points\":[[0],[0.5],[1]]}",
        "\"policy\":\"central\",\"domain\":{\"lower\":[0],\"upper\":[1]}"};
    static const char *const TAILS[] = {
        "\"budget\":{\"eps\":1e-300,\"delta\":1e-6},\"prior\":{\"lengthscale\":0.5,\"reward\":[0,1]}",
        "\"budget\":{\"eps\":1,\"delta\":1e-300},\"prior\":{\"lengthscale\":0.5,\"reward\":[0,1]}",
        "\"budget\":{\"eps\":1e99,\"delta\":1e-6},\"prior\":{\"lengthscale\":0.5,\"reward\":[0,1]}",
        "\"budget\":{\"eps\":1,\"delta\":1e-6},\"prior\":{\"lengthscale\":1e-90,\"reward\":[0,1]}"};
    size_t refused = 0;
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizeof TAILS / sizeof TAILS[0]; k++) {
            tacet_error err = {0};
            OWN_TEXT char *text = test_text("{\"name\":\"advice\",\"trust\":\"central\",%s,%s}", HEADS[i], TAILS[k]);
            if (add_central(text, &err) != TACET_OK) {
                assert_true(name_is_free());
                refused++;
            } else {
                assert_int_equal(store_teardown(NULL), 0);
                assert_int_equal(store_setup(NULL), 0);
            }
        }
    }
    assert_true(refused >= 8);
}

/* A calibration takes a hundred times as long as all else of a release: a server has worked it out before, from
 * the study's creation on. */
TEST(test_releases_find_their_calibrations) {
    static const char STUDY[] = "{\"name\":\"sets\",\"trust\":\"central\",\"budget\":{\"eps\":2,\"delta\":1e-5},"
                                "\"domain\":{\"lower\":[0,0],\"upper\":[1,1]},"
                                "\"prior\":{\"lengthscale\":0.3,\"reward\":[0,1]}}";
    enum { ROUNDS = 250 };
    const double set[] = {0.1, 0.2, 0.8, 0.3, 0.5, 0.9};
    tacet__engine_settings settings = central_settings();
    OWN_ENGINE tacet__engine *e = NULL;
    settings.ahead = true;
    json_t *made = NULL;
    assert_ok(tacet__engine_open(&e, &settings, NULL));
    assert_ok(tacet__engine_create(e, &made, false, STUDY, sizeof STUDY - 1, NULL));
    json_decref(made);
    while (tacet__l2_searches() < TACET__FEW_MOST) {
        (void)usleep(10000);
    }
    for (size_t i = 0; i < ROUNDS; i++) {
        const answer a = ask_suggestion(e, "sets", "", set, 3);
        assert_int_equal(a.status, TACET_OK);
        assert_int_equal(send_observation(e, "sets", a.ticket, 0.5).status, TACET_OK);
    }
    assert_true(answered_number(e, "sets", TACET__JOB_LEDGER, "entries") >= 4);
    assert_int_equal(tacet__l2_searches(), TACET__FEW_MOST);
}

TEST_EACH(store_setup, store_teardown)
