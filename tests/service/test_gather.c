/* SPDX-License-Identifier: Apache-2.0 */
/* test_gather.c - several studies in one transaction of SQLite: each part is there with all the others or none is, at
 * whatever write, sync, kill or power cut; what was acknowledged is there; and one sync serves them all. */
#include "service/engine_fixture.h"
#include "support/fault_vfs.h"

#include <sys/wait.h>
#include <unistd.h>

enum { STUDIES = 6 };

static const char *name_of(size_t i) {
    static const char *const NAMES[STUDIES] = {"a", "b", "c", "d", "e", "f"};
    return NAMES[i];
}

static tacet__studies_settings fault_settings(void) {
    return (tacet__studies_settings){.store = store_place, .create = true, .busy_ms = 100, .vfs = "fault"};
}

static void add_all(tacet__studies *s, tacet__study *studies) {
    for (size_t i = 0; i < STUDIES; i++) {
        tacet__study_init(&studies[i]);
        assert_ok(tacet__studies_add(s, &studies[i], name_of(i), TACET__STUDY_LOCAL, true, "{}", 2, NULL));
    }
}

static void clear_all(tacet__study *studies) {
    for (size_t i = 0; i < STUDIES; i++) {
        tacet__study_clear(&studies[i]);
    }
}

/* A suggestion in each study. */
static tacet_status round_of_all(tacet__studies *s, tacet__study *studies) {
    tacet_status status = tacet__studies_gather(s, NULL);
    for (size_t i = 0; i < STUDIES && status == TACET_OK; i++) {
        static const unsigned char large[40000]; /* so that the log takes several writes for all of them */
        tacet__event event = {.kind = TACET__EVENT_SUGGEST, .number = 1, .body = large, .body_size = sizeof large};
        status = tacet__studies_begin(s, &studies[i], NULL);
        TACET_THEN(status, tacet__studies_append(s, &studies[i], &event, NULL));
        TACET_THEN(status, tacet__studies_commit(s, NULL));
    }
    tacet__studies_rollback(s);
    const tacet_status end = tacet__studies_gathered(s, NULL);
    return status != TACET_OK ? status : end;
}

/* How many rounds the store has: of every study the same number. */
static uint64_t rounds_of_all(tacet__studies *s) {
    tacet__study study;
    uint64_t rounds = 0;
    tacet__study_init(&study);
    for (size_t i = 0; i < STUDIES; i++) {
        assert_ok(tacet__studies_get(s, &study, name_of(i), NULL));
        rounds = i == 0 ? study.head : rounds;
        assert_int_equal(study.head, rounds);
        assert_int_equal(study.suggested, rounds);
    }
    tacet__study_clear(&study);
    return rounds;
}

TEST(test_each_failure) {
    const tacet__studies_settings settings = fault_settings();
    const fault_action actions[] = {FAULT_ERROR, FAULT_SHORT, FAULT_FULL};
    OWN_STUDIES tacet__studies *s = NULL;
    tacet__study studies[STUDIES];
    assert_ok(tacet__studies_open(&s, &settings, NULL));
    add_all(s, studies);
    for (size_t k = 0; k < sizeof actions / sizeof actions[0]; k++) {
        size_t failures = 0;
        bool hit = true;
        for (long n = 1; hit; n++) {
            const uint64_t before = rounds_of_all(s);
            fault_vfs_arm(n, FAULT_CHANGE, actions[k]);
            const tacet_status status = round_of_all(s, studies);
            hit = fault_vfs_hit() != 0;
            fault_vfs_arm(0, 0, FAULT_ERROR);
            const uint64_t after = rounds_of_all(s);
            assert_true(status == TACET_OK ? after == before + 1 : after == before || after == before + 1);
            failures += status != TACET_OK;
            assert_true(n < 200);
        }
        assert_true(failures > 1);
    }
    clear_all(studies);
}

/* A child that is killed, or loses its power, at the n-th operation; it says each round that was acknowledged. */
static uint64_t acknowledged_by_child(long n, fault_action action, bool *ended) {
    int ends[2];
    char byte = 0;
    uint64_t count = 0;
    int code = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        const tacet__studies_settings settings = fault_settings();
        tacet__studies *s = NULL;
        tacet__study studies[STUDIES];
        assert_ok(tacet__studies_open(&s, &settings, NULL));
        add_all(s, studies);
        fault_vfs_arm(n, FAULT_CHANGE, action);
        for (int i = 0; i < 3; i++) {
            if (round_of_all(s, studies) == TACET_OK && write(ends[1], "+", 1) != 1) {
                _exit(2);
            }
        }
        _exit(0);
    }
    (void)close(ends[1]);
    while (read(ends[0], &byte, 1) == 1) {
        count++;
    }
    (void)close(ends[0]);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    *ended = WIFEXITED(code);
    assert_true(!*ended || WEXITSTATUS(code) == 0);
    return count;
}

TEST(test_kills_and_power_cuts) {
    const fault_action actions[] = {FAULT_KILL, FAULT_TORN_KILL, FAULT_POWER, FAULT_POWER_HALF};
    size_t kills = 0;
    for (size_t k = 0; k < sizeof actions / sizeof actions[0]; k++) {
        bool ended = false;
        for (long n = 1 + (long)k; !ended; n += test_slow() ? 13 : 3) {
            tacet__studies *s = NULL;
            const tacet__studies_settings settings = {.store = store_place, .create = true, .busy_ms = 100};
            tacet__study studies[STUDIES];
            assert_ok(tacet__studies_open(&s, &settings, NULL));
            add_all(s, studies);
            clear_all(studies);
            const uint64_t before = rounds_of_all(s);
            tacet__studies_close(s);
            const uint64_t said = acknowledged_by_child(n, actions[k], &ended);
            assert_ok(tacet__studies_open(&s, &settings, NULL));
            const uint64_t after = rounds_of_all(s);
            assert_true(after >= before + said && after <= before + said + 1);
            tacet__studies_close(s);
            kills += !ended;
        }
    }
    assert_true(kills > (test_slow() ? 4 : 20));
}

/* A part that fails after it has written is the end of all of them, and of no more than this transaction; one that has
 * written nothing is not. */
TEST(test_a_part_that_fails) {
    const tacet__studies_settings settings = fault_settings();
    OWN_STUDIES tacet__studies *s = NULL;
    tacet__study studies[STUDIES];
    assert_ok(tacet__studies_open(&s, &settings, NULL));
    add_all(s, studies);
    tacet__event event = {.kind = TACET__EVENT_SUGGEST, .number = 1};
    assert_ok(tacet__studies_gather(s, NULL));
    assert_int_equal(tacet__studies_gather(s, NULL), TACET_STATE);
    assert_ok(tacet__studies_begin(s, &studies[0], NULL));
    assert_ok(tacet__studies_append(s, &studies[0], &event, NULL));
    assert_ok(tacet__studies_commit(s, NULL));
    assert_ok(tacet__studies_begin(s, &studies[1], NULL));
    assert_ok(tacet__studies_append(s, &studies[1], &event, NULL));
    tacet__studies_rollback(s);
    assert_int_equal(tacet__studies_begin(s, &studies[2], NULL), TACET_IO);
    assert_int_equal(tacet__studies_gathered(s, NULL), TACET_IO);
    assert_int_equal(rounds_of_all(s), 0);
    assert_ok(round_of_all(s, studies));
    assert_ok(tacet__studies_gather(s, NULL));
    assert_ok(tacet__studies_begin(s, &studies[0], NULL));
    tacet__studies_rollback(s);
    assert_ok(tacet__studies_begin(s, &studies[1], NULL));
    assert_ok(tacet__studies_append(s, &studies[1], &event, NULL));
    assert_ok(tacet__studies_commit(s, NULL));
    assert_ok(tacet__studies_gathered(s, NULL));
    assert_int_equal(tacet__studies_gathered(s, NULL), TACET_STATE);
    assert_int_equal(raw_number(false, "SELECT sum(head) FROM study"), STUDIES + 1);
    clear_all(studies);
}

/* The engine's studies on a disk that fails at the n-th operation: what is answered is stored, and what is asked again
 * under its key is stored once. */
static void ask_all(tacet__engine *e, long n, answer *out) {
    tacet__job *jobs[STUDIES];
    bool done[STUDIES] = {false};
    for (size_t i = 0; i < STUDIES; i++) {
        jobs[i] = tacet__job_create(TACET__JOB_SUGGEST);
        (void)snprintf(jobs[i]->key, sizeof jobs[i]->key, "round-%ld", n);
        jobs[i]->user = &done[i];
        jobs[i]->done = job_done;
        tacet__engine_submit(e, name_of(i), jobs[i]);
    }
    for (size_t i = 0; i < STUDIES; i++) {
        job_wait(&done[i]);
        out[i] = take_answer(jobs[i]); /* and frees it */
    }
}

static void add_local_studies(void) {
    for (size_t i = 0; i < STUDIES; i++) {
        const char *rest = strstr(LOCAL_STUDY, "slides") + strlen("slides");
        OWN_TEXT char *definition = test_text("{\"name\":\"%s%s", name_of(i), rest);
        add_study(definition);
    }
}

TEST(test_engine_on_a_failing_disk) {
    tacet__engine_settings settings = engine_settings();
    tacet__engine *e = NULL;
    answer first[STUDIES];
    answer again[STUDIES];
    size_t failures = 0;
    add_local_studies();
    settings.store.vfs = "fault";
    assert_ok(tacet__engine_open(&e, &settings, NULL));
    ask_all(e, 0, first);
    const uint64_t batches = engine_metrics.batches;
    enum { ROUNDS = 60 };
    for (long n = 1; n <= ROUNDS; n++) {
        fault_vfs_arm(1 + n % 9, FAULT_CHANGE, n % 3 == 0 ? FAULT_SHORT : FAULT_ERROR);
        ask_all(e, n, first);
        fault_vfs_arm(0, 0, FAULT_ERROR);
        ask_all(e, n, again);
        for (size_t i = 0; i < STUDIES; i++) {
            assert_int_equal(again[i].status, TACET_OK);
            assert_true(first[i].status == TACET_OK || first[i].status == TACET_IO || first[i].status == TACET_BUSY);
            failures += first[i].status != TACET_OK;
            if (first[i].status == TACET_OK) {
                assert_true(again[i].repeated);
                assert_string_equal(again[i].ticket, first[i].ticket);
            }
        }
    }
    assert_true(failures > 0);
    assert_true(engine_metrics.batches > batches);
    tacet__engine_close(e);
    assert_int_equal(raw_number(false, "SELECT count(*) FROM event"), STUDIES * (ROUNDS + 1));
    assert_int_equal(raw_number(false, "SELECT sum(head) FROM study"), STUDIES * (ROUNDS + 1));
    /* What was stored is one history of each: another server follows it from the beginning. */
    const tacet__engine_settings plain = engine_settings();
    for (size_t i = 0; i < STUDIES; i++) {
        assert_ok(tacet__engine_try(&plain, name_of(i), NULL));
    }
}

/* An engine of many studies that loses its power at the n-th operation says each round as it is answered. Asked again,
 * each of them is there. */
enum { WAVES = 5 };
static int acknowledgements;
static tacet__job *waves[STUDIES * WAVES];

static void acknowledge(tacet__job *job) {
    const unsigned char byte = (unsigned char)job->x;
    if (job->status == TACET_OK && write(acknowledgements, &byte, 1) != 1) {
        _exit(2);
    }
    job_done(job);
}

static void run_waves(tacet__engine *e, long wave, void (*done)(tacet__job *job), bool *ended) {
    for (size_t i = 0; i < STUDIES * WAVES; i++) {
        ended[i] = false;
        waves[i] = tacet__job_create(TACET__JOB_SUGGEST);
        (void)snprintf(waves[i]->key, sizeof waves[i]->key, "wave-%ld-%zu", wave, i);
        waves[i]->x = i;
        waves[i]->user = &ended[i];
        waves[i]->done = done;
        tacet__engine_submit(e, name_of(i % STUDIES), waves[i]);
    }
    for (size_t i = 0; i < STUDIES * WAVES; i++) {
        job_wait(&ended[i]);
    }
}

static bool waves_of_child(long wave, long n, fault_action action, bool *said) {
    int ends[2];
    unsigned char byte = 0;
    int code = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        tacet__engine_settings settings = engine_settings();
        tacet__engine *e = NULL;
        answer first[STUDIES];
        bool ended[STUDIES * WAVES];
        settings.store.vfs = "fault";
        settings.batch_most = 1; /* so that there are as many turns as waves */
        assert_ok(tacet__engine_open(&e, &settings, NULL));
        ask_all(e, 0, first); /* all are in memory */
        acknowledgements = ends[1];
        fault_vfs_arm(n, FAULT_CHANGE, action);
        run_waves(e, wave, acknowledge, ended);
        _exit(0);
    }
    (void)close(ends[1]);
    while (read(ends[0], &byte, 1) == 1) {
        said[byte] = true;
    }
    (void)close(ends[0]);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_true(!WIFEXITED(code) || WEXITSTATUS(code) == 0);
    return WIFEXITED(code);
}

TEST(test_power_cuts_lose_nothing_that_was_answered) {
    const tacet__engine_settings settings = engine_settings();
    const fault_action actions[] = {FAULT_POWER, FAULT_POWER_HALF, FAULT_KILL};
    size_t kept = 0;
    add_local_studies();
    for (size_t k = 0; k < sizeof actions / sizeof actions[0]; k++) {
        bool over = false;
        for (long n = 1 + (long)k; !over; n += test_slow() ? 31 : 5) {
            bool said[STUDIES * WAVES] = {false};
            bool ended[STUDIES * WAVES];
            OWN_ENGINE tacet__engine *e = NULL;
            const long wave = n + 1000 * (long)k;
            over = waves_of_child(wave, n, actions[k], said);
            assert_ok(tacet__engine_open(&e, &settings, NULL));
            run_waves(e, wave, job_done, ended);
            for (size_t i = 0; i < STUDIES * WAVES; i++) {
                assert_int_equal(waves[i]->status, TACET_OK);
                assert_true(!said[i] || waves[i]->repeated);
                kept += said[i];
                tacet__job_free(waves[i]);
            }
        }
    }
    assert_true(kept > 0);
}

/* A round of one holder, and its holder's rounds then. */
static uint64_t held_round(tacet__studies *s, tacet__study *study) {
    tacet__event event = {.kind = TACET__EVENT_SUGGEST, .number = 1, .has_owner = true};
    tacet__held held;
    event.owner[0] = (unsigned char)study->name[0];
    assert_ok(tacet__studies_begin(s, study, NULL));
    assert_ok(tacet__studies_append(s, study, &event, NULL));
    assert_ok(tacet__studies_held(s, study, &held, event.owner, NULL));
    assert_ok(tacet__studies_commit(s, NULL));
    return held.rounds;
}

static tacet_status count_one(const tacet__event *event, void *user, tacet_error *err) {
    (void)event;
    (void)err;
    (*(uint64_t *)user)++;
    return TACET_OK;
}

/* Common transactions beside those of another handle, and of the same one by itself. Read back through a third: one
 * chain, and every round counted. */
TEST(test_others_commits_are_seen) {
    OWN_STUDIES tacet__studies *s = open_store();
    tacet__studies *other = open_store();
    tacet__study studies[STUDIES];
    tacet__study theirs;
    uint64_t rounds = 0;
    add_all(s, studies);
    tacet__study_init(&theirs);
    assert_ok(tacet__studies_get(other, &theirs, name_of(0), NULL));
    for (unsigned turn = 0; turn < 12; turn++) {
        assert_ok(tacet__studies_gather(s, NULL));
        rounds++;
        for (size_t i = 0; i < STUDIES; i++) {
            assert_int_equal(held_round(s, &studies[i]), i == 0 ? rounds : turn + 1);
        }
        assert_ok(tacet__studies_gathered(s, NULL));
        if (turn % 3 == 1) {
            assert_int_equal(held_round(other, &theirs), ++rounds);
        } else if (turn % 3 == 2) {
            assert_int_equal(held_round(s, &studies[0]), ++rounds);
        }
        if (turn == 6) {
            assert_ok(tacet__studies_extend(other, name_of(1), 7, NULL));
        }
    }
    assert_int_equal(studies[1].rounds, 7);
    tacet__studies_close(other);
    other = open_store();
    for (size_t i = 0; i < STUDIES; i++) {
        uint64_t count = 0;
        assert_ok(tacet__studies_get(other, &theirs, name_of(i), NULL));
        assert_ok(tacet__studies_read(other, &theirs, 1, count_one, &count, NULL));
        assert_int_equal(count, i == 0 ? rounds : 12);
        assert_int_equal(theirs.suggested, count);
    }
    tacet__study_clear(&theirs);
    clear_all(studies);
    tacet__studies_close(other);
}

/* A reader that asks one study for long lists, as fast as it can, holds up the rounds of another for a few of them, not
 * for all that wait. The thread stands still until all are asked. Lists that another thread answers while a round is
 * synced hold up nothing. */
enum { LISTS = 40 };
static bool thread_stands, thread_goes_on;
static _Thread_local size_t lists_done;
static size_t lists_before;

static void stand_still(tacet__job *job) {
    job_done(job);
    job_wait(&thread_goes_on);
}

static void count_list(tacet__job *job) {
    lists_done++;
    job_done(job);
}

static void note_lists(tacet__job *job) {
    lists_before = lists_done;
    job_done(job);
}

static tacet__job *submit(tacet__engine *e, size_t study, tacet__job_kind kind, void (*then)(tacet__job *),
                          bool *done) {
    tacet__job *job = tacet__job_create(kind);
    job->user = done;
    job->done = then;
    tacet__engine_submit(e, name_of(study), job);
    return job;
}

TEST(test_lists_hold_up_no_other_study) {
    const tacet__engine_settings settings = engine_settings();
    OWN_ENGINE tacet__engine *e = NULL;
    answer first[STUDIES];
    tacet__job *lists[LISTS];
    bool done[LISTS] = {false};
    bool suggested = false;
    add_local_studies();
    assert_ok(tacet__engine_open(&e, &settings, NULL));
    ask_all(e, 0, first);
    thread_stands = thread_goes_on = false;
    lists_before = 0;
    OWN_JOB tacet__job *still = submit(e, 2, TACET__JOB_STATUS, stand_still, &thread_stands);
    assert_non_null(still);
    job_wait(&thread_stands);
    for (size_t i = 0; i < LISTS; i++) {
        lists[i] = submit(e, 0, TACET__JOB_EVENTS, count_list, &done[i]);
    }
    OWN_JOB tacet__job *suggestion = submit(e, 1, TACET__JOB_SUGGEST, note_lists, &suggested);
    (void)pthread_mutex_lock(&done_lock);
    thread_goes_on = true;
    (void)pthread_cond_broadcast(&done_wake);
    (void)pthread_mutex_unlock(&done_lock);
    job_wait(&suggested);
    assert_int_equal(suggestion->status, TACET_OK);
    assert_true(lists_before <= 8); /* four in the turn after the one that stood still, four in the next */
    for (size_t i = 0; i < LISTS; i++) {
        job_wait(&done[i]);
        assert_int_equal(lists[i]->status, TACET_OK);
        tacet__job_free(lists[i]);
    }
}

TEST_EACH(store_setup, store_teardown)

int main(void) {
    (void)unsetenv("TACET_TEST_POSTGRES");
    fault_vfs_register();
    return test_main();
}
