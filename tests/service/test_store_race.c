/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_race.c - several processes append to one study while some of them are killed: no number is given twice,
 * nothing acknowledged is lost, a batch is there whole or not at all. The kills hit other instants in every run; what
 * is checked holds at all of them. */
#include "service/store_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <tacet/core/simrng.h>
#include <unistd.h>

enum { RACERS = 4, KILLS = 10, BATCH = 3, MOST = 40000 };

/* One acknowledged batch: its first seq, and whose it is. */
typedef struct ack {
    uint64_t first;
    uint64_t writer;
    uint64_t count;
} ack;

static uint64_t owner[MOST]; /* by seq: writer << 32 | count, as acknowledged; 0: nothing was */
static uint64_t stored[MOST];

static tacet_status follow(const tacet__event *event, void *user, tacet_error *err) {
    uint64_t *head = user;
    (void)err;
    *head = event->seq;
    return TACET_OK;
}

/* Batches of two suggestions and an observation of the first, until it is killed. */
static void write_batches(uint64_t writer, int out) {
    tacet__studies *s = open_with(false, false, 20000);
    tacet__study study;
    uint64_t head = 0;
    tacet__study_init(&study);
    if (tacet__studies_get(s, &study, "race", NULL) != TACET_OK) {
        _exit(2);
    }
    for (uint64_t count = 1;; count++) {
        if (tacet__studies_begin(s, &study, NULL) != TACET_OK ||
            tacet__studies_read(s, &study, head + 1, follow, &head, NULL) != TACET_OK || head != study.head) {
            _exit(3);
        }
        const ack a = {study.head + 1, writer, count};
        OWN_TEXT char *key = test_text("%llu/%llu", (unsigned long long)writer, (unsigned long long)count);
        tacet__event first = suggest_event(key, "a", writer, count);
        tacet__event second = suggest_event(NULL, "b", writer, count);
        if (tacet__studies_append(s, &study, &first, NULL) != TACET_OK ||
            tacet__studies_append(s, &study, &second, NULL) != TACET_OK) {
            _exit(4);
        }
        tacet__event observe = observe_event(first.seq, (double)count);
        observe.number = writer;
        if (tacet__studies_append(s, &study, &observe, NULL) != TACET_OK ||
            (count % 7 == 0 && tacet__studies_put_snapshot(s, &study, key, strlen(key), NULL) != TACET_OK) ||
            tacet__studies_commit(s, NULL) != TACET_OK) {
            _exit(5);
        }
        head = study.head;
        if (write(out, &a, sizeof a) != (ssize_t)sizeof a) {
            _exit(6);
        }
        if (count % 3 == 0 && tacet__studies_project(s, &study, NULL) != TACET_OK) {
            _exit(7);
        }
    }
}

static pid_t start(uint64_t writer, const int ends[2]) {
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        write_batches(writer, ends[1]);
        _exit(1);
    }
    assert_true(child > 0);
    return child;
}

static void stop(pid_t child) {
    int status = 0;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) {
        fail_msg("a writer ended by itself, with %d", WEXITSTATUS(status));
    }
}

static uint64_t drain(int in) {
    ack a;
    uint64_t batches = 0;
    while (read(in, &a, sizeof a) == (ssize_t)sizeof a) {
        batches++;
        for (uint64_t i = 0; i < BATCH; i++) {
            assert_true(a.first + i < MOST);
            assert_int_equal(owner[a.first + i], 0); /* given twice? */
            owner[a.first + i] = a.writer << 32 | a.count;
        }
    }
    return batches;
}

static tacet_status take(const tacet__event *event, void *user, tacet_error *err) {
    uint64_t *count = user;
    (void)err;
    assert_true(event->seq < MOST);
    const uint64_t index = event->kind == TACET__EVENT_OBSERVE ? (uint64_t)event->value : event->index;
    stored[event->seq] = event->number << 32 | index;
    (*count)++;
    return TACET_OK;
}

TEST(test_race) {
    tacet__studies *s = open_store();
    tacet__study study;
    pid_t children[RACERS];
    int ends[2];
    uint64_t writer = 1;
    uint64_t count = 0;
    tacet_simrng rng;
    memset(owner, 0, sizeof owner);
    memset(stored, 0, sizeof stored);
    tacet_simrng_init(&rng, 5, 0);
    tacet__study_init(&study);
    assert_ok(tacet__studies_add(s, &study, "race", TACET__STUDY_CENTRAL, true, "{}", 2, NULL));
    tacet__studies_close(s);
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < RACERS; i++) {
        children[i] = start(writer++, ends);
    }
    for (int i = 0; i < KILLS; i++) {
        const size_t which = (size_t)tacet_simrng_below(&rng, RACERS);
        (void)usleep((useconds_t)(20000 + tacet_simrng_below(&rng, 120000)));
        stop(children[which]);
        children[which] = start(writer++, ends);
    }
    for (int i = 0; i < RACERS; i++) {
        stop(children[i]);
    }
    assert_int_equal(close(ends[1]), 0);
    const uint64_t batches = drain(ends[0]);
    assert_int_equal(close(ends[0]), 0);

    s = open_with(false, false, 5000);
    assert_ok(tacet__studies_get(s, &study, "race", NULL));
    assert_ok(tacet__studies_read(s, &study, 1, take, &count, NULL)); /* numbers without a gap, chained */
    assert_int_equal(count, study.head);
    assert_int_equal(study.head % BATCH, 0); /* whole batches only */
    assert_true(batches > KILLS);
    assert_true(count >= BATCH * batches);
    /* At most one unacknowledged batch for each process that was killed. */
    assert_true(count <= BATCH * (batches + KILLS + RACERS));
    for (uint64_t seq = 1; seq < MOST; seq++) {
        if (owner[seq] != 0) {
            assert_int_equal(owner[seq], stored[seq]);
        }
    }
    for (uint64_t seq = 1; seq <= count; seq += BATCH) { /* and of one writer each */
        assert_int_equal(stored[seq], stored[seq + 1]);
        assert_int_equal(stored[seq], stored[seq + 2]);
    }
    assert_ok(tacet__studies_project(s, &study, NULL));
    tacet__studies *o = open_with(true, false, 5000);
    assert_ok(tacet__studies_get(o, &study, "race", NULL));
    assert_int_equal(study.head, count);
    assert_int_equal(study.suggested, count / BATCH * 2);
    tacet__studies_close(o);
    tacet__study_clear(&study);
    tacet__studies_close(s);
    print_message("%llu batches acknowledged, %d processes killed\n", (unsigned long long)batches, KILLS + RACERS);
}

/* Many add the same study at once: one of them makes it, all get it. */
TEST(test_race_to_add) {
    pid_t children[RACERS];
    for (int i = 0; i < RACERS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            tacet__study study;
            tacet__study_init(&study);
            OWN_TEXT char *other = test_text("own%d", i);
            tacet__studies *s = open_with(false, true, 20000); /* and the tables */
            const bool good =
                tacet__studies_add(s, &study, "same", TACET__STUDY_CENTRAL, false, "{}", 2, NULL) == TACET_OK &&
                tacet__studies_add(s, &study, other, TACET__STUDY_LOCAL, true, "{}", 2, NULL) == TACET_OK;
            tacet__studies_close(s);
            _exit(good ? 0 : 1);
        }
    }
    for (int i = 0; i < RACERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(raw_number(true, "SELECT count(*) FROM study"), 1);
    assert_int_equal(raw_number(false, "SELECT count(*) FROM study"), RACERS + 1);
    assert_int_equal(raw_number(false, "SELECT max(number) FROM study"), RACERS + 1);
}

TEST_EACH(store_setup, store_teardown)
