/* SPDX-License-Identifier: Apache-2.0 */
/* test_relay.c - one server keeps a study at a time: jobs and answers as bytes; who cannot be reached is taken over
 * from; who was taken over from writes nothing more. Over real TLS and with real faults: e2e.replicas, tests/soak. */
#include "engine_fixture.h"

#include "service/open/engine/relay.h"
#include "service/open/engine/replica.h"

static const double SET[] = {0.1, 0, 0.6, 0, 0.9, 0};

static int setup(void **state) {
    (void)store_setup(state);
    add_study(TOY_STUDY);
    add_study(LOCAL_STUDY);
    return 0;
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

static tacet__job *full_job(void) {
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    (void)snprintf(job->key, sizeof job->key, "0123456789abcdef/key-1");
    (void)snprintf(job->person, sizeof job->person, "ada");
    job->points = malloc(sizeof SET);
    memcpy(job->points, SET, sizeof SET);
    job->d = 2;
    job->count = 3;
    job->context = calloc(2, sizeof(double));
    job->context[1] = -0.25;
    job->context_dim = 2;
    job->owned = true;
    memset(job->owner, 7, sizeof job->owner);
    job->open_most = 5;
    job->rounds_most = 6;
    return job;
}

static void jobs_arrive_as_they_were_sent(void **state) {
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    tacet__job *sent = full_job();
    tacet__job *second = tacet__job_create(TACET__JOB_OBSERVE);
    (void)snprintf(second->ticket, sizeof second->ticket, "some-ticket");
    second->value = 0.1;
    sent->next = second;
    size_t count = 0;
    char study[TACET__STUDY_NAME_MOST + 1];
    tacet__job *got = NULL;
    assert_ok(tacet__relay_ask(&bytes, &count, "toys", sent, NULL));
    assert_int_equal(count, 2);
    assert_ok(tacet__relay_asked(&got, study, bytes.data, bytes.size, NULL));
    assert_string_equal(study, "toys");
    assert_int_equal(got->kind, TACET__JOB_SUGGEST);
    assert_true(got->relayed && got->owned);
    assert_string_equal(got->key, sent->key);
    assert_string_equal(got->person, "ada");
    assert_memory_equal(got->points, SET, sizeof SET);
    assert_memory_equal(got->owner, sent->owner, sizeof sent->owner);
    assert_true(got->context[1] == -0.25 && got->open_most == 5 && got->rounds_most == 6);
    assert_int_equal(got->next->kind, TACET__JOB_OBSERVE);
    assert_string_equal(got->next->ticket, "some-ticket");
    assert_true(got->next->value == 0.1 && got->next->next == NULL);
    /* Answers. */
    got->status = TACET_OK;
    got->index = 2;
    got->action_size = 2;
    got->action[1] = 0.5;
    (void)snprintf(got->ticket, sizeof got->ticket, "t-1");
    got->point = json_pack("{si}", "x", 3);
    got->next->status = tacet__fail(&got->next->err, TACET_STATE, "too late");
    got->next->expired = true;
    tacet__job *answers[] = {got, got->next};
    tacet_blob_clear(&bytes);
    assert_ok(tacet__relay_answer(&bytes, answers, 2, NULL));
    assert_ok(tacet__relay_answered(sent, 2, bytes.data, bytes.size, NULL));
    assert_string_equal(sent->ticket, "t-1");
    assert_true(sent->status == TACET_OK && sent->index == 2 && sent->action_size == 2 && sent->action[1] == 0.5);
    assert_int_equal(json_integer_value(json_object_get(sent->point, "x")), 3);
    assert_true(second->status == TACET_STATE && second->expired);
    assert_string_equal(second->err.message, "too late");
    /* Answers to another number of questions are none. */
    assert_int_equal(tacet__relay_answered(sent, 1, bytes.data, bytes.size, NULL), TACET_PARSE);
    tacet_blob_clear(&bytes);
    tacet__job_free(got->next);
    tacet__job_free(got);
    tacet__job_free(second);
    tacet__job_free(sent);
}

static void what_is_not_finite_or_too_long_is_refused(void **state) {
    for (int broken = 0; broken < 3; broken++) {
        tacet_blob bytes;
        tacet_blob_init(&bytes);
        tacet__job *job = full_job();
        tacet__job *got = NULL;
        size_t count = 0;
        char study[TACET__STUDY_NAME_MOST + 1];
        char name[80] = "toys";
        if (broken == 0) {
            job->points[3] = NAN;
        } else if (broken == 1) {
            job->value = INFINITY;
        } else {
            memset(name, 'a', sizeof name - 1);
        }
        assert_ok(tacet__relay_ask(&bytes, &count, name, job, NULL));
        assert_int_equal(tacet__relay_asked(&got, study, bytes.data, bytes.size, NULL), TACET_PARSE);
        assert_null(got);
        tacet_blob_clear(&bytes);
        tacet__job_free(job);
    }
}

static void memory_that_is_short_refuses_and_leaks_nothing(void **state) {
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    tacet__job *job = full_job();
    size_t count = 0;
    char study[TACET__STUDY_NAME_MOST + 1];
    assert_ok(tacet__relay_ask(&bytes, &count, "toys", job, NULL));
    tacet_status status = TACET_NO_MEMORY;
    for (long n = 1; status != TACET_OK; n++) {
        tacet__job *got = NULL;
        fail_alloc_after(n);
        status = tacet__relay_asked(&got, study, bytes.data, bytes.size, NULL);
        fail_alloc_after(0);
        assert_true(status == TACET_OK || (status == TACET_NO_MEMORY && got == NULL && n < 10));
        tacet__job_free(got);
    }
    tacet_blob_clear(&bytes);
    tacet__job_free(job);
}

/* --- who keeps a study -------------------------------------------------------------------------------------------- */

/* Engines that say of themselves to be at addresses where nobody listens: they cannot reach each other. */
static tacet__engine *open_at(const char *self) {
    tacet__engine_settings settings = engine_settings();
    tacet__engine *engine = NULL;
    settings.self = self;
    settings.authority = settings.certificate = settings.key = "/nowhere";
    assert_ok(tacet__engine_open(&engine, &settings, NULL));
    return engine;
}

static tacet__study study_now(const char *name) {
    tacet__studies *store = open_store();
    tacet__study study;
    tacet__study_init(&study);
    assert_ok(tacet__studies_get(store, &study, name, NULL));
    tacet__studies_close(store);
    tacet_blob_clear(&study.definition);
    return study;
}

static void who_cannot_be_reached_is_taken_over_from(void **state) {
    tacet__engine *a = open_at("https://127.0.0.1:1");
    tacet__engine *b = open_at("https://127.0.0.1:2");
    assert_int_equal(ask_suggestion(a, "toys", "k1", SET, 3).status, TACET_OK);
    const tacet__study first = study_now("toys");
    assert_string_equal(first.keeper, "https://127.0.0.1:1");
    assert_int_equal(ask_suggestion(b, "toys", "k2", SET, 3).status, TACET_OK);
    const tacet__study second = study_now("toys");
    assert_string_equal(second.keeper, "https://127.0.0.1:2");
    assert_true(second.fence > first.fence);
    /* The first finds that it is not the keeper any more, and is in the same place. */
    const answer again = ask_suggestion(a, "toys", "k2", SET, 3);
    assert_true(again.status == TACET_OK && again.repeated);
    assert_true(study_now("toys").fence > second.fence);
    /* In order, a study is given back. */
    tacet__engine_close(a);
    assert_string_equal(study_now("toys").keeper, "");
    tacet__engine_close(b);
    assert_int_equal(study_now("toys").suggested, 2);
}

static void a_keeper_that_was_taken_over_from_writes_nothing(void **state) {
    tacet__engine_settings at_a = engine_settings();
    tacet__engine_settings at_b = engine_settings();
    at_a.self = "https://127.0.0.1:1";
    at_b.self = "https://127.0.0.1:2";
    tacet__replica a = {.settings = &at_a, .name = "slides"};
    tacet__replica b = {.settings = &at_b, .name = "slides"};
    tacet__batch batch = {0};
    tacet__study_init(&a.study);
    tacet__study_init(&b.study);
    tacet__job *job = tacet__job_create(TACET__JOB_SUGGEST);
    assert_ok(tacet__replica_begin(&a, NULL));
    assert_ok(tacet__replica_act(&a, &batch, job));
    assert_ok(tacet__studies_commit(a.store, NULL));
    a.applied = a.study.head;
    assert_true(a.fence > 0 && a.fence == a.study.fence);
    /* The other does not write, unless it takes over. */
    assert_int_equal(tacet__replica_begin(&b, NULL), TACET_BUSY);
    assert_true(b.elsewhere);
    b.take = true;
    assert_ok(tacet__replica_begin(&b, NULL));
    assert_ok(tacet__replica_act(&b, &batch, job));
    assert_ok(tacet__studies_commit(b.store, NULL));
    assert_false(b.take);
    assert_int_equal(tacet__replica_begin(&a, NULL), TACET_BUSY);
    assert_true(a.elsewhere);
    assert_ok(tacet__replica_yield(&a, NULL)); /* nothing to give back */
    assert_string_equal(study_now("slides").keeper, "https://127.0.0.1:2");
    tacet__job_free(job);
    tacet__replica_leave(&a);
    tacet__replica_leave(&b);
    tacet__study_clear(&a.study);
    tacet__study_clear(&b.study);
}

/* A command at a shell has no address: it writes, and the server goes on after it. */
static void a_command_beside_a_server_is_noticed(void **state) {
    tacet__engine *a = open_at("https://127.0.0.1:1");
    tacet__engine *shell = open_engine();
    assert_int_equal(ask_suggestion(a, "toys", "k1", SET, 3).status, TACET_OK);
    assert_int_equal(ask_suggestion(shell, "toys", "k2", SET, 3).status, TACET_OK);
    assert_string_equal(study_now("toys").keeper, "");
    assert_int_equal(ask_suggestion(a, "toys", "k3", SET, 3).status, TACET_OK);
    assert_string_equal(study_now("toys").keeper, "https://127.0.0.1:1");
    assert_int_equal(study_now("toys").suggested, 3);
    tacet__engine_close(shell);
    tacet__engine_close(a);
}

/* A relayed job is not relayed again. */
static void a_job_makes_one_hop(void **state) {
    tacet__engine *a = open_at("https://127.0.0.1:1");
    tacet__engine *b = open_at("https://127.0.0.1:2");
    assert_int_equal(ask_suggestion(a, "toys", "k1", SET, 3).status, TACET_OK);
    tacet__job *job = full_job();
    free(job->context);
    job->context = NULL;
    job->context_dim = 0;
    job->relayed = true;
    assert_int_equal(run_job(b, "toys", job), TACET_BUSY);
    assert_true(job->elsewhere);
    assert_string_equal(study_now("toys").keeper, "https://127.0.0.1:1");
    assert_int_equal(study_now("toys").suggested, 1);
    tacet__job_free(job);
    tacet__engine_close(a);
    tacet__engine_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, store_teardown)
        T(jobs_arrive_as_they_were_sent),
        T(what_is_not_finite_or_too_long_is_refused),
        T(memory_that_is_short_refuses_and_leaks_nothing),
        T(who_cannot_be_reached_is_taken_over_from),
        T(a_keeper_that_was_taken_over_from_writes_nothing),
        T(a_command_beside_a_server_is_noticed),
        T(a_job_makes_one_hop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
