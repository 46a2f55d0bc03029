/* SPDX-License-Identifier: Apache-2.0 */
/* test_desk_wait.c - questions that wait for a command without holding a thread. */
#include "outsourced/trusted/desk_internal.h"
#include "outsourced/desk_fixture.h"

#include <pthread.h>

/* What those who wait were told. */
typedef struct ear {
    pthread_mutex_t lock;
    pthread_cond_t heard;
    size_t count, answered, pending, failed;
    double sum;
    pthread_t from;
} ear;

static void hear(void *user, tacet_status status, const tacet_desk_reply *reply, const tacet_error *err) {
    ear *e = user;
    (void)pthread_mutex_lock(&e->lock);
    e->count++;
    e->failed += status == TACET_UNSUPPORTED && err->message[0] != '\0';
    e->answered += status == TACET_OK && reply->answered && !reply->running;
    e->pending += status == TACET_OK && !reply->answered && reply->running;
    e->sum += reply->value;
    e->from = pthread_self();
    (void)pthread_cond_broadcast(&e->heard);
    (void)pthread_mutex_unlock(&e->lock);
}

static size_t heard(ear *e) {
    (void)pthread_mutex_lock(&e->lock);
    const size_t count = e->count;
    (void)pthread_mutex_unlock(&e->lock);
    return count;
}

static void hear_all(ear *e, size_t count) {
    (void)pthread_mutex_lock(&e->lock);
    while (e->count < count) {
        (void)pthread_cond_wait(&e->heard, &e->lock);
    }
    (void)pthread_mutex_unlock(&e->lock);
}

/* A command that ends when told to. */
static void use_gate(fixture *f, char gate[PATH_BYTES], const char *rest) {
    (void)snprintf(gate, PATH_BYTES, "%s/gate", f->folder);
    OWN_TEXT char *command = test_text("while [ ! -e %s ]; do sleep 0.02; done; %s", gate, rest);
    use_command(f, command);
}

static void open_gate(const char *gate) {
    test_write(gate, "");
}

static void start_waiting(fixture *f, const char *ticket, size_t row, ear *e) {
    tacet_desk_reply r;
    assert_ok(tacet_desk_ask_now(f->desk, &r, ticket, row, NULL));
    assert_true(!r.answered && r.running);
    assert_ok(tacet_desk_wait(f->desk, ticket, hear, e, NULL));
}

/* All questions there are wait at once, one of them twice, and none holds this thread; all are told when the command is
 * done with theirs. */
TEST(test_waiting) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    char gate[PATH_BYTES], ticket[8];
    tacet_desk_reply r;
    use_gate(f, gate, "awk -F, 'NR == 2 {print $2}'");
    open_desk(f, &f->desk);
    double sum = value_of(0);
    for (size_t i = 0; i < QUERIES; i++) {
        (void)snprintf(ticket, sizeof ticket, "t%zu", i);
        start_waiting(f, ticket, i, &e);
        sum += value_of(i);
    }
    start_waiting(f, "t0", 0, &e);
    assert_int_equal(tacet_desk_made(f->desk), QUERIES); /* entered, each once, before anybody is told */
    assert_ok(tacet_desk_look(f->desk, &r, "t1", NULL));
    assert_false(r.answered);
    assert_int_equal(heard(&e), 0);
    open_gate(gate);
    hear_all(&e, QUERIES + 1);
    assert_int_equal(e.answered, QUERIES + 1);
    assert_true(e.sum == sum);
    assert_false(pthread_equal(e.from, pthread_self()));
    assert_int_equal(runs(f), QUERIES);
    /* Nothing left to wait for: told at once, from here. */
    assert_ok(tacet_desk_wait(f->desk, "t2", hear, &e, NULL));
    assert_int_equal(heard(&e), QUERIES + 2);
    assert_true(pthread_equal(e.from, pthread_self()));
    assert_status(tacet_desk_wait(f->desk, "never", hear, &e, NULL), TACET_NOT_FOUND);
    assert_int_equal(heard(&e), QUERIES + 2);
}

/* Patience ends while the command is at work. */
TEST(test_patience_ends) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    char gate[PATH_BYTES];
    use_gate(f, gate, "exit 3");
    f->settings.patience = 0.01;
    open_desk(f, &f->desk);
    start_waiting(f, "a", 1, &e);
    start_waiting(f, "b", 2, &e);
    hear_all(&e, 2);
    assert_int_equal(e.pending, 2);
    open_gate(gate);
}

/* A desk that is to be closed lets nobody wait; and a command that fails is told as such. */
TEST(test_hush) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    char gate[PATH_BYTES];
    use_gate(f, gate, "exit 3");
    f->settings.patience = 1e9;
    open_desk(f, &f->desk);
    start_waiting(f, "a", 1, &e);
    start_waiting(f, "b", 2, &e);
    assert_int_equal(heard(&e), 0);
    tacet_desk_hush(f->desk);
    assert_int_equal(heard(&e), 2);
    start_waiting(f, "a", 1, &e); /* told before it can wait */
    assert_int_equal(heard(&e), 3);
    assert_int_equal(e.pending, 3);
    open_gate(gate);
    reopen(f); /* waits for the command; what was not answered is evaluated again */
    ear again = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    tacet_desk_reply r;
    tacet_error err = {0};
    const tacet_status status = tacet_desk_ask_now(f->desk, &r, "a", 1, &err);
    assert_true(status == TACET_OK && r.running);
    assert_ok(tacet_desk_wait(f->desk, "a", hear, &again, NULL));
    hear_all(&again, 1);
    assert_int_equal(again.failed, 1);
}

/* Who watches the whole desk is told of a question, of an answer, of one that another process gave, and when time is
 * up; and, once the desk is hushed, at once. */
TEST(test_watching) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    tacet_desk_reply r;
    open_desk(f, &f->desk); /* a person answers */
    const uint64_t none = tacet_desk_version(f->desk);
    assert_ok(tacet_desk_watch(f->desk, none, 0.01, hear, &e, NULL));
    hear_all(&e, 1);
    assert_ok(tacet_desk_watch(f->desk, none, 1e6, hear, &e, NULL));
    assert_int_equal(heard(&e), 1);
    assert_ok(tacet_desk_ask(f->desk, &r, "a", 1, NULL));
    hear_all(&e, 2);
    const uint64_t asked = tacet_desk_version(f->desk);
    assert_true(asked > none);
    assert_ok(tacet_desk_watch(f->desk, asked, 1e6, hear, &e, NULL));
    assert_ok(tacet_desk_answer(f->desk, "a", 1, NULL));
    hear_all(&e, 3);
    assert_ok(tacet_desk_ask(f->desk, &r, "b", 2, NULL));
    assert_ok(tacet_desk_watch(f->desk, tacet_desk_version(f->desk), 1e6, hear, &e, NULL));
    tacet_desk *other = NULL;
    open_desk(f, &other);
    assert_ok(tacet_desk_answer(other, "b", 2, NULL));
    hear_all(&e, 4);
    assert_ok(tacet_desk_look(f->desk, &r, "b", NULL));
    assert_true(r.answered && r.value == 2);
    tacet_desk_close(other);
    tacet_desk_hush(f->desk);
    assert_ok(tacet_desk_watch(f->desk, tacet_desk_version(f->desk), 1e6, hear, &e, NULL));
    assert_int_equal(heard(&e), 5);
}

/* Nobody is told who could not be noted. */
TEST(test_waiting_no_memory) {
    fixture *f = *state;
    ear e = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
    char gate[PATH_BYTES];
    tacet_desk_reply r;
    use_gate(f, gate, "echo 1");
    open_desk(f, &f->desk);
    assert_ok(tacet_desk_ask_now(f->desk, &r, "a", 1, NULL));
    while (runs(f) == 0) {
        (void)usleep(1000); /* until then the desk's own thread allocates, too */
    }
    fail_alloc_after(1);
    const tacet_status status = tacet_desk_wait(f->desk, "a", hear, &e, NULL);
    const bool hit = fail_alloc_hit() != 0;
    fail_alloc_after(0);
    assert_true(hit);
    assert_status(status, TACET_NO_MEMORY);
    open_gate(gate);
    assert_true(ask(f->desk, "a", 1) == 1);
    assert_int_equal(heard(&e), 0);
}

TEST_EACH(setup, teardown)
