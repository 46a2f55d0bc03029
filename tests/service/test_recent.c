/* SPDX-License-Identifier: Apache-2.0 */
/* test_recent.c - what gathered transactions put off: whoever reads finds all of it, at whatever moment, by whatever
 * question; so does who comes after a failed write, a kill or a cut of power; and what is known of it in memory is what
 * the log says. The answer is derived a second way, from the events alone. */
#include "service/store_fixture.h"
#include "support/fault_vfs.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STUDIES = 5, OWNERS = 3, EVENTS_MOST = 20000 };

static const char *name_of(size_t i) {
    static const char *const NAMES[STUDIES] = {"a", "b", "c", "d", "e"};
    return NAMES[i];
}

static tacet__studies *open_faulty(void) {
    const tacet__studies_settings settings = {.store = store_place, .create = true, .busy_ms = 100, .vfs = "fault"};
    tacet__studies *s = NULL;
    assert_ok(tacet__studies_open(&s, &settings, NULL));
    return s;
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

static void hash_owner(unsigned char *out, const tacet__study *study, size_t owner) {
    const char name = (char)('0' + owner);
    tacet__holder_hash(out, study, TACET__HOLDER_TOKEN, &name, 1);
}

/* --- what the log says -------------------------------------------------------------------------------------------- */

typedef struct told {
    const tacet__study *study;
    size_t count;
    uint64_t suggested, observed;
    uint64_t outcome[EVENTS_MOST]; /* of suggestion seq: the event that ended it */
    tacet__event_kind kind[EVENTS_MOST];
    size_t owner[EVENTS_MOST];
    char key[EVENTS_MOST][24];
} told;

static told log_of;

static tacet_status take(const tacet__event *e, void *user, tacet_error *err) {
    told *t = user;
    (void)err;
    assert_true(e->seq < EVENTS_MOST);
    assert_int_equal(e->seq, ++t->count);
    t->kind[e->seq] = e->kind;
    t->outcome[e->seq] = 0;
    t->suggested += e->kind == TACET__EVENT_SUGGEST;
    t->observed += e->kind == TACET__EVENT_OBSERVE;
    if (e->kind == TACET__EVENT_SUGGEST) {
        unsigned char hash[TACET__HOLDER_BYTES];
        for (size_t o = 0; o < OWNERS; o++) {
            hash_owner(hash, t->study, o);
            t->owner[e->seq] = memcmp(hash, e->owner, sizeof hash) == 0 ? o : t->owner[e->seq];
        }
        assert_true(e->key_size < sizeof t->key[0]);
        memcpy(t->key[e->seq], e->key, e->key_size);
        t->key[e->seq][e->key_size] = '\0';
    } else if (e->of != 0) {
        assert_int_equal(t->outcome[e->of], 0); /* none ends twice */
        t->outcome[e->of] = e->seq;
    }
    return TACET_OK;
}

/* Every question about a study, against its log; the number of its events. */
static uint64_t agree(tacet__studies *s, const tacet__study *study) {
    uint64_t open[OWNERS] = {0};
    uint64_t rounds[OWNERS] = {0};
    tacet__suggestion waiting[64];
    size_t first = 64;
    size_t waits = 0;
    log_of.study = study;
    log_of.count = 0;
    log_of.suggested = log_of.observed = 0;
    tacet__held early[OWNERS]; /* what the handle knows, before the next two calls have it sorted in */
    for (size_t o = 0; o < OWNERS; o++) {
        unsigned char hash[TACET__HOLDER_BYTES];
        hash_owner(hash, study, o);
        assert_ok(tacet__studies_held(s, study, &early[o], hash, NULL));
    }
    assert_ok(tacet__studies_waiting(s, study, waiting, &first, 0, NULL));
    assert_ok(tacet__studies_read(s, study, 1, take, &log_of, NULL));
    for (uint64_t seq = 1; seq <= log_of.count; seq++) {
        tacet__suggestion found;
        if (log_of.kind[seq] != TACET__EVENT_SUGGEST) {
            continue;
        }
        const uint64_t end = log_of.outcome[seq];
        rounds[log_of.owner[seq]]++;
        open[log_of.owner[seq]] += end == 0;
        if (end == 0 && waits < first) {
            assert_int_equal(waiting[waits].event.seq, seq);
        }
        waits += end == 0;
        assert_ok(tacet__studies_suggestion(s, study, &found, seq, NULL));
        assert_int_equal(found.observed_seq, end);
        assert_int_equal(found.observed, end != 0 && log_of.kind[end] == TACET__EVENT_OBSERVE);
        assert_ok(tacet__studies_by_key(s, study, &found, log_of.key[seq], strlen(log_of.key[seq]), NULL));
        assert_int_equal(found.event.seq, seq);
        assert_int_equal(found.observed_seq, end);
    }
    assert_int_equal(first, waits < 64 ? waits : 64);
    for (size_t o = 0; o < OWNERS; o++) {
        unsigned char hash[TACET__HOLDER_BYTES];
        tacet__held held;
        hash_owner(hash, study, o);
        assert_ok(tacet__studies_held(s, study, &held, hash, NULL));
        assert_int_equal(held.open, open[o]);
        assert_int_equal(held.rounds, rounds[o]);
        assert_memory_equal(&held, &early[o], sizeof held);
    }
    return log_of.count;
}

/* By a handle of its own, outside of transactions; then by what stands in the rows. */
static uint64_t agree_all(void) {
    tacet__studies *s = open_store();
    tacet__study study;
    uint64_t events = 0;
    tacet__study_init(&study);
    for (size_t i = 0; i < STUDIES; i++) {
        assert_ok(tacet__studies_get(s, &study, name_of(i), NULL));
        assert_int_equal(agree(s, &study), study.head);
        assert_int_equal(log_of.suggested, study.suggested);
        assert_int_equal(log_of.observed, study.observed);
        events += study.head;
    }
    tacet__study_clear(&study);
    tacet__studies_close(s);
    assert_int_equal(raw_number(false, "SELECT count(*) FROM recent"), 0);
    assert_int_equal(raw_number(false, "SELECT count(*) FROM event"), (int64_t)events);
    return events;
}

/* --- turns -------------------------------------------------------------------------------------------------------- */

static bool suggested[STUDIES + 1][EVENTS_MOST]; /* by this process, last */

static int fresh_setup(void **state) {
    memset(suggested, 0, sizeof suggested);
    return store_setup(state);
}

static tacet_status append_suggestion(tacet__studies *s, tacet__study *study) {
    char key[24];
    tacet__event event = {.kind = TACET__EVENT_SUGGEST, .number = study->suggested + 1, .has_owner = true};
    (void)snprintf(key, sizeof key, "key-%llu", (unsigned long long)study->head);
    event.key = key;
    event.key_size = strlen(key);
    hash_owner(event.owner, study, (size_t)(study->head % OWNERS));
    const tacet_status status = tacet__studies_append(s, study, &event, NULL);
    suggested[study->number][event.seq] = status == TACET_OK;
    return status;
}

/* Observed, or every third time given up; again is a conflict. */
static tacet_status append_outcome(tacet__studies *s, tacet__study *study, uint64_t seq) {
    char key[24];
    tacet__suggestion found;
    tacet_status status = tacet__studies_suggestion(s, study, &found, seq, NULL);
    if (status != TACET_OK || found.observed || found.expired) {
        assert_false(status == TACET_NOT_FOUND && suggested[study->number][seq]);
        return status == TACET_NOT_FOUND ? TACET_OK : status; /* an event of another kind */
    }
    tacet__event event = {.kind = seq % 3 == 0 ? TACET__EVENT_EXPIRE : TACET__EVENT_OBSERVE,
                          .of = seq,
                          .number = found.event.number,
                          .index = TACET__NO_INDEX,
                          .has_owner = found.event.has_owner};
    memcpy(event.owner, found.event.owner, sizeof event.owner);
    status = tacet__studies_append(s, study, &event, NULL);
    if (status == TACET_OK) {
        suggested[study->number][event.seq] = false;
        assert_ok(tacet__studies_suggestion(s, study, &found, seq, NULL));
        assert_int_equal(found.observed_seq, event.seq);
        (void)snprintf(key, sizeof key, "key-%llu", (unsigned long long)seq - 1);
        assert_ok(tacet__studies_by_key(s, study, &found, key, strlen(key), NULL));
        assert_int_equal(found.observed_seq, event.seq);
        assert_int_equal(tacet__studies_append(s, study, &event, NULL), TACET_CONFLICT);
    }
    return status;
}

/* A turn: in each study `many` suggestions, then the ends of some that were made up to four turns before. */
static tacet_status turn(tacet__studies *s, tacet__study *studies, size_t many, bool probe) {
    tacet_status status = tacet__studies_gather(s, NULL);
    for (size_t i = 0; i < STUDIES && status == TACET_OK; i++) {
        tacet__study *study = &studies[i];
        status = tacet__studies_begin(s, study, NULL);
        const uint64_t from = study->head > 4 * many ? study->head - 4 * many : 1;
        const uint64_t to = study->head;
        for (size_t k = 0; k < many && status == TACET_OK; k++) {
            status = append_suggestion(s, study);
        }
        for (uint64_t seq = from; seq <= to && status == TACET_OK; seq += 2) {
            status = append_outcome(s, study, seq);
        }
        if (status == TACET_OK && probe) {
            assert_int_equal(agree(s, study), study->head);
        }
        status = status != TACET_OK ? status : tacet__studies_commit(s, NULL);
    }
    tacet__studies_rollback(s);
    const tacet_status end = tacet__studies_gathered(s, NULL);
    return status != TACET_OK ? status : end;
}

static void test_all_of_it_is_found(void **state) {
    tacet__studies *s = open_store();
    tacet__study studies[STUDIES];
    uint64_t put_off = 0;
    add_all(s, studies);
    for (size_t round = 0; round < 60; round++) {
        assert_ok(turn(s, studies, 1 + round % 7, round % 8 == 7));
        put_off += tacet__studies_unsorted(s);
        if (round % 10 == 9) {
            assert_true(agree_all() > 0);
        }
    }
    assert_true(put_off > 30);
    assert_ok(tacet__studies_sort(s, NULL));
    assert_int_equal(raw_number(false, "SELECT count(*) FROM recent"), 0);
    clear_all(studies);
    tacet__studies_close(s);
    assert_true(agree_all() > 1000);
}

/* More in one part, and in many turns, than is ever put off. */
static void test_it_is_sorted_in_by_itself(void **state) {
    tacet__studies *s = open_store();
    tacet__study studies[STUDIES];
    add_all(s, studies);
    for (size_t round = 0; round < 3; round++) {
        assert_ok(turn(s, studies, test_slow() ? 600 : 1800, false));
    }
    assert_true(agree_all() > 8192);
    for (size_t round = 0; round < 240; round++) {
        assert_ok(turn(s, studies, 5, false));
        assert_true(raw_number(false, "SELECT count(*) FROM recent") < 6272);
    }
    clear_all(studies);
    tacet__studies_close(s);
    (void)agree_all();
}

/* Snapshots, releases, keepers, other writers and archiving in the middle of it. */
static void test_what_is_not_put_off(void **state) {
    tacet__studies *s = open_store();
    tacet__studies *other = open_store();
    tacet__study studies[STUDIES];
    tacet__study again;
    tacet_blob bytes;
    uint64_t seq = 0;
    tacet__study_init(&again);
    tacet_blob_init(&bytes);
    add_all(s, studies);
    for (size_t round = 0; round < 4; round++) {
        assert_ok(turn(s, studies, 3, false));
    }
    assert_true(tacet__studies_unsorted(s));
    tacet__event release = {.kind = TACET__EVENT_RELEASE, .index = TACET__NO_INDEX, .body = "{}", .body_size = 2};
    assert_ok(tacet__studies_gather(s, NULL));
    assert_ok(tacet__studies_begin(s, &studies[0], NULL));
    assert_ok(append_suggestion(s, &studies[0]));
    assert_ok(tacet__studies_append(s, &studies[0], &release, NULL));
    assert_ok(append_suggestion(s, &studies[0]));
    assert_ok(tacet__studies_commit(s, NULL));
    assert_ok(tacet__studies_begin(s, &studies[1], NULL));
    assert_ok(append_suggestion(s, &studies[1]));
    assert_ok(tacet__studies_put_snapshot(s, &studies[1], "state", 5, NULL));
    assert_ok(tacet__studies_commit(s, NULL));
    assert_ok(tacet__studies_begin(s, &studies[2], NULL));
    assert_ok(append_suggestion(s, &studies[2]));
    assert_ok(tacet__studies_take(s, &studies[2], NULL));
    assert_ok(tacet__studies_commit(s, NULL));
    assert_ok(tacet__studies_gathered(s, NULL));
    assert_ok(turn(s, studies, 2, false));
    assert_ok(tacet__studies_get(other, &again, name_of(0), NULL));
    assert_int_equal(again.released, 1);
    assert_ok(tacet__studies_get_snapshot(other, &studies[1], &bytes, &seq, NULL));
    assert_int_equal(bytes.size, 5);
    assert_true(seq > 0 && seq < studies[1].head);
    assert_ok(tacet__studies_get(other, &again, name_of(2), NULL));
    assert_int_equal(again.fence, studies[2].fence);
    assert_ok(turn(s, studies, 2, false)); /* the first after another's commit, and … */
    assert_ok(turn(s, studies, 2, false));
    assert_true(tacet__studies_unsorted(s));
    assert_ok(tacet__studies_begin(other, &again, NULL)); /* another writer goes on where they ended */
    assert_int_equal(again.head, studies[2].head);
    assert_ok(append_suggestion(other, &again));
    assert_ok(tacet__studies_commit(other, NULL));
    assert_ok(turn(s, studies, 2, true));
    assert_ok(turn(s, studies, 2, true));
    assert_ok(tacet__studies_archive(other, name_of(3), NULL));
    assert_int_equal(turn(s, studies, 1, false), TACET_STATE);
    clear_all(studies);
    tacet__study_clear(&again);
    tacet_blob_clear(&bytes);
    tacet__studies_close(s);
    tacet__studies_close(other);
    (void)agree_all();
}

/* --- failures ----------------------------------------------------------------------------------------------------- */

/* Turns, of which the n-th change of the disk fails, and the sorting in. */
static size_t turns_until(tacet__studies *s, tacet__study *studies, void (*said)(void)) {
    size_t good = 0;
    for (size_t i = 0; i < 4; i++) {
        if (turn(s, studies, 2, false) == TACET_OK) {
            good++;
            if (said != NULL) {
                said();
            }
        }
    }
    (void)tacet__studies_sort(s, NULL);
    return good;
}

static void test_each_failure(void **state) {
    const fault_action actions[] = {FAULT_ERROR, FAULT_SHORT, FAULT_FULL};
    for (size_t k = 0; k < sizeof actions / sizeof actions[0]; k++) {
        size_t failures = 0;
        bool hit = true;
        for (long n = 1; hit; n += test_slow() ? 19 : 1) {
            tacet__studies *s = open_faulty();
            tacet__study studies[STUDIES];
            add_all(s, studies);
            const uint64_t before = agree_all();
            fault_vfs_arm(n, FAULT_CHANGE, actions[k]);
            const size_t good = turns_until(s, studies, NULL);
            hit = fault_vfs_hit() != 0;
            fault_vfs_arm(0, 0, FAULT_ERROR);
            failures += good < 4;
            assert_ok(turn(s, studies, 1, true));
            assert_ok(turn(s, studies, 1, true));
            clear_all(studies);
            tacet__studies_close(s);
            assert_true(agree_all() >= before + (2 * good + 2) * STUDIES);
            assert_true(n < 300);
        }
        assert_true(failures > (test_slow() ? 0 : 1));
    }
}

/* --- short memory ------------------------------------------------------------------------------------------------- */

static long countdown; /* of SQLite's allocations until one fails; 0: off */
static sqlite3_mem_methods real;

static bool failed;

static bool fails(void) {
    failed = failed || countdown == 1;
    return countdown > 0 && --countdown == 0;
}

static void *short_malloc(int size) {
    return fails() ? NULL : real.xMalloc(size);
}

static void *short_realloc(void *old, int size) {
    return fails() ? NULL : real.xRealloc(old, size);
}

/* Sorted in between the parts of a turn, by a reader whose failure is no other's: half of it must never be committed.
 */
static void sorting_turn(tacet__studies *s, tacet__study *studies, long n) {
    tacet__suggestion waiting[4];
    size_t count = 4;
    if (tacet__studies_gather(s, NULL) != TACET_OK) {
        return;
    }
    if (tacet__studies_begin(s, &studies[0], NULL) == TACET_OK) {
        countdown = n;
        (void)tacet__studies_waiting(s, &studies[0], waiting, &count, 0, NULL);
        countdown = 0;
        tacet__studies_rollback(s);
    }
    (void)tacet__studies_gathered(s, NULL);
}

static void test_short_memory(void **state) {
    bool reached = true;
    size_t tried = 0;
    for (long n = 1; reached; n += 1 + n / (test_slow() ? 2 : 8)) { /* each has to be read through */
        tacet__studies *s = open_store();
        tacet__study studies[STUDIES];
        add_all(s, studies);
        for (size_t i = 0; i < 3; i++) {
            assert_ok(turn(s, studies, 2, false));
        }
        assert_true(tacet__studies_unsorted(s));
        failed = false;
        sorting_turn(s, studies, n);
        reached = failed;
        assert_ok(turn(s, studies, 1, true));
        clear_all(studies);
        tacet__studies_close(s);
        (void)agree_all();
        tried += reached;
        assert_true(n < 10000);
    }
    assert_true(tried > (test_slow() ? 0 : 5));
}

static int pipe_end;

static void say(void) {
    if (write(pipe_end, "+", 1) != 1) {
        _exit(2);
    }
}

static bool killed_child(long n, fault_action action, uint64_t *good) {
    int ends[2];
    char byte = 0;
    int code = 0;
    *good = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        tacet__studies *s = open_faulty();
        tacet__study studies[STUDIES];
        add_all(s, studies);
        pipe_end = ends[1];
        fault_vfs_arm(n, FAULT_CHANGE, action);
        (void)turns_until(s, studies, say);
        _exit(0);
    }
    (void)close(ends[1]);
    while (read(ends[0], &byte, 1) == 1) {
        (*good)++;
    }
    (void)close(ends[0]);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_true(!WIFEXITED(code) || WEXITSTATUS(code) == 0);
    return !WIFEXITED(code);
}

static void test_kills_and_power_cuts(void **state) {
    const fault_action actions[] = {FAULT_KILL, FAULT_TORN_KILL, FAULT_POWER, FAULT_POWER_HALF};
    size_t kills = 0;
    tacet__studies *s = open_store();
    tacet__study studies[STUDIES];
    add_all(s, studies);
    clear_all(studies);
    tacet__studies_close(s);
    for (size_t k = 0; k < sizeof actions / sizeof actions[0]; k++) {
        bool killed = true;
        for (long n = 1; killed; n += test_slow() ? 19 : 1) {
            uint64_t good = 0;
            const uint64_t before = agree_all();
            killed = killed_child(n, actions[k], &good);
            assert_true(agree_all() >= before + 2 * good * STUDIES);
            kills += killed;
        }
    }
    assert_true(kills > (test_slow() ? 3 : 20));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_of_it_is_found, fresh_setup, store_teardown),
        cmocka_unit_test_setup_teardown(test_it_is_sorted_in_by_itself, fresh_setup, store_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_put_off, fresh_setup, store_teardown),
        cmocka_unit_test_setup_teardown(test_each_failure, fresh_setup, store_teardown),
        cmocka_unit_test_setup_teardown(test_short_memory, fresh_setup, store_teardown),
        cmocka_unit_test_setup_teardown(test_kills_and_power_cuts, fresh_setup, store_teardown),
    };
    (void)unsetenv("TACET_TEST_POSTGRES");
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real), SQLITE_OK);
    sqlite3_mem_methods mine = real;
    mine.xMalloc = short_malloc;
    mine.xRealloc = short_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK); /* every allocation is seen */
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &mine), SQLITE_OK);
    fault_vfs_register();
    return cmocka_run_group_tests_name("what gathered transactions put off", tests, NULL, NULL);
}
