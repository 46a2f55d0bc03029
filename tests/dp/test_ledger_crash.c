/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_crash.c - kill -9 and power cuts at every operation from opening to replying, and races for the budget.
 * What is checked after each: no answer left without its entry and its stored bytes, and no ticket ever got a second
 * answer. A killed child draws from the operating system, so a second draw would differ (probability 2^-128 that it
 * does not). The kills by time hit other instants in every run; what they check holds at all of them. */
#include "support/fault_vfs.h"
#include "support/gate.h"
#include "support/ledger_place.h"
#include "support/test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <tacet/core/simrng.h>
#include <tacet/dp/ledger.h>
#include <unistd.h>

enum { ANSWER = 16, TICKETS = 2048, LEAST_KILLS = 200 };

typedef struct reply {
    int ticket;
    unsigned char answer[ANSWER];
} reply;

static char folder[256];
static char path[512];
static int kills;
static bool have[TICKETS];
static unsigned char given[TICKETS][ANSWER];

static tacet_ledger_settings settings(const char *vfs) {
    tacet_ledger_settings s;
    tacet_ledger_settings_defaults(&s);
    s.accounting = TACET_ACCOUNTING_BASIC;
    s.eps = 1000;
    s.delta = 0;
    s.vfs = vfs;
    return s;
}

static int setup(void **state) {
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    ledger_place(path, sizeof path, folder);
    memset(have, 0, sizeof have);
    return 0;
}

static int teardown(void **state) {
    test_rmdir(folder);
    return 0;
}

/* The whole way from question to reply. Returns what the exit code says: 0 replied. */
static int answer_one(tacet_ledger *ledger, int ticket, int out) {
    tacet_entry entry;
    tacet_blob memo = {0};
    reply r;
    const tacet_charge c = test_charge(0.01);
    memset(&r, 0, sizeof r);
    r.ticket = ticket;
    OWN_TEXT char *name = test_text("ticket %d", ticket);
    if (tacet_ledger_reserve(ledger, &entry, &memo, name, &c, NULL) != TACET_OK) {
        return 2;
    }
    if (entry.answered) {
        if (memo.size != ANSWER) {
            return 3;
        }
        memcpy(r.answer, memo.data, ANSWER);
    } else if (getrandom(r.answer, ANSWER, 0) != ANSWER ||
               tacet_ledger_commit(ledger, &entry, r.answer, ANSWER, NULL, NULL) != TACET_OK) {
        return 4;
    }
    tacet_blob_clear(&memo);
    return write(out, &r, sizeof r) == (ssize_t)sizeof r ? 0 : 5;
}

static void collect(int in) {
    reply r;
    while (read(in, &r, sizeof r) == (ssize_t)sizeof r) {
        assert_true(r.ticket >= 0 && r.ticket < TICKETS);
        if (have[r.ticket]) {
            assert_memory_equal(given[r.ticket], r.answer, ANSWER);
        }
        have[r.ticket] = true;
        memcpy(given[r.ticket], r.answer, ANSWER);
    }
}

/* Every answer that left is in the ledger, as it left, and the ledger is whole. */
static void check_ledger(void) {
    OWN_LEDGER tacet_ledger *ledger = NULL;
    tacet_entry entry;
    OWN_BLOB tacet_blob memo = {0};
    tacet_ledger_totals totals;
    char name[32];
    const tacet_ledger_settings s = settings(NULL);
    tacet_error err = {TACET_OK, ""};
    if (tacet_ledger_open(&ledger, path, &s, &err) != TACET_OK) {
        fail_msg("the ledger does not open: %s", err.message);
    }
    uint64_t replied = 0;
    for (int i = 0; i < TICKETS; i++) {
        if (have[i]) {
            (void)snprintf(name, sizeof name, "ticket %d", i);
            assert_ok(tacet_ledger_lookup(ledger, &entry, &memo, name, NULL));
            assert_true(entry.answered);
            assert_int_equal(memo.size, ANSWER);
            assert_memory_equal(memo.data, given[i], ANSWER);
            replied++;
        }
    }
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_true(totals.answered >= replied);
    assert_true(totals.entries >= totals.answered);
    assert_close(totals.spent, 0.01 * (double)totals.entries, 1e-9); /* no entry was charged twice */
}

/* A child answers one ticket, with the n-th operation armed (0: none). Returns true when it was killed. */
static bool run_child(int ticket, long n, int operations, fault_action action) {
    int ends[2];
    int status = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        tacet_ledger *ledger = NULL;
        const tacet_ledger_settings s = settings("fault");
        fault_vfs_arm(n, operations, action);
        if (tacet_ledger_open(&ledger, path, &s, NULL) != TACET_OK) {
            _exit(1);
        }
        const int code = answer_one(ledger, ticket, ends[1]);
        tacet_ledger_close(ledger); /* moves the log into the file: more operations to die in */
        _exit(code);
    }
    assert_true(child > 0);
    assert_int_equal(close(ends[1]), 0);
    collect(ends[0]);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        kills++;
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

/* Every n until nothing is left to hit; after each death the ticket is asked again, by a child nobody kills. */
static void every_point(int operations, fault_action action, bool fresh_each_time) {
    int ticket = 0;
    for (long n = 1;; n += test_slow() ? 5 : 1, ticket++) {
        assert_true(ticket < TICKETS);
        if (fresh_each_time) {
            test_rmdir(folder);
            (void)setup(NULL);
        }
        if (!run_child(ticket, n, operations, action)) {
            break;
        }
        check_ledger();
        assert_false(run_child(ticket, 0, 0, FAULT_KILL));
        check_ledger();
        assert_true(have[ticket]);
    }
    assert_true(ticket > (test_slow() ? 0 : 3)); /* it did hit something */
}

/* Killed before each operation, and in the middle of each write; the power cut, with all that was not synced lost, or
 * half of it; and killed while the ledger comes into being. */
static void test_each_operation_is_the_last(void **state) {
    static const struct {
        int operations;
        fault_action action;
        bool fresh_each_time;
    } WAYS[] = {{FAULT_CHANGE | FAULT_SHM, FAULT_KILL, false},
                {FAULT_CHANGE, FAULT_TORN_KILL, false},
                {FAULT_CHANGE, FAULT_POWER, false},
                {FAULT_CHANGE, FAULT_POWER_HALF, false},
                {FAULT_CHANGE, FAULT_KILL, true}};
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        print_message("way %zu\n", i);
        (void)teardown(NULL);
        (void)setup(NULL);
        every_point(WAYS[i].operations, WAYS[i].action, WAYS[i].fresh_each_time);
    }
}

/* A child that answers ticket after ticket, killed at a random time; the next one starts over with the same tickets. */
static void test_kill_any_time(void **state) {
    tacet_simrng rng = test_rng(11, 0);
    for (int round = 0; round < (test_slow() ? 8 : ledger_is_shared() ? 25 : 80); round++) {
        int ends[2];
        int status = 0;
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            tacet_ledger *ledger = NULL;
            const tacet_ledger_settings s = settings(NULL);
            if (tacet_ledger_open(&ledger, path, &s, NULL) != TACET_OK) {
                _exit(1);
            }
            for (int ticket = 0; ticket < 400; ticket++) {
                if (answer_one(ledger, ticket + round, ends[1]) != 0) {
                    _exit(2);
                }
            }
            for (;;) {
                (void)pause();
            }
        }
        assert_int_equal(close(ends[1]), 0);
        (void)usleep((useconds_t)(1000 + tacet_simrng_below(&rng, 40000)));
        assert_int_equal(kill(child, SIGKILL), 0);
        collect(ends[0]);
        assert_int_equal(close(ends[0]), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* not ended by an error of its own */
        kills++;
        check_ledger();
    }
}

static void test_enough_kills(void **state) {
    print_message("%d kills\n", kills);
    assert_true(kills >= (test_slow() ? 20 : LEAST_KILLS));
}

/* Four processes race for ten shares; each wants six. */
static void test_processes_race(void **state) {
    enum { RACERS = 4, WANT = 6 };
    pid_t children[RACERS];
    int gate[2];
    tacet_ledger_settings s = settings(NULL);
    s.eps = 1;
    tacet_ledger *ledger = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    tacet_ledger_close(ledger);
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < RACERS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            tacet_ledger *mine = NULL;
            tacet_blob memo = {0};
            int won = 0;
            char go = 0;
            (void)close(gate[1]);
            if (tacet_ledger_open(&mine, path, &s, NULL) != TACET_OK) {
                _exit(100);
            }
            (void)!read(gate[0], &go, 1); /* ends for all at once, when the parent closes it */
            for (int k = 0; k < WANT; k++) {
                tacet_entry entry;
                const tacet_charge c = test_charge(0.1);
                OWN_TEXT char *name = test_text("%d of %d", k, i);
                const tacet_status status = tacet_ledger_reserve(mine, &entry, &memo, name, &c, NULL);
                if (status != TACET_OK && status != TACET_BUDGET) {
                    _exit(101);
                }
                won += status == TACET_OK;
            }
            _exit(won);
        }
    }
    assert_int_equal(close(gate[1]), 0);
    assert_int_equal(close(gate[0]), 0);
    int won = 0;
    for (int i = 0; i < RACERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= WANT);
        won += WEXITSTATUS(status);
    }
    assert_int_equal(won, 10);
    s.use_stored = true;
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 10);
    assert_close(totals.spent, 1, 1e-12);
    tacet_ledger_close(ledger);
}

enum { THREADS = 8, ROUNDS = 40 };
typedef struct racer {
    tacet_ledger *ledger;
    int number;
    int won;
    int answered_first;
    int failed;
    unsigned char shared[ROUNDS][ANSWER]; /* what this thread would send for the tickets all of them ask for */
} racer;

static void *race(void *argument) {
    racer *r = argument;
    tacet_blob memo = {0};
    for (int k = 0; k < ROUNDS; k++) {
        tacet_entry entry;
        char name[32];
        const tacet_charge c = test_charge(1);
        (void)snprintf(name, sizeof name, "%d of %d", k, r->number);
        const tacet_status own = tacet_ledger_reserve(r->ledger, &entry, &memo, name, &c, NULL);
        r->won += own == TACET_OK;
        r->failed += own != TACET_OK && own != TACET_BUDGET;
        (void)snprintf(name, sizeof name, "shared %d", k);
        if (tacet_ledger_reserve(r->ledger, &entry, &memo, name, &c, NULL) != TACET_OK) {
            r->failed++;
            continue;
        }
        unsigned char draw[ANSWER];
        memset(draw, r->number + 1, sizeof draw);
        if (!entry.answered) {
            const tacet_status status = tacet_ledger_commit(r->ledger, &entry, draw, ANSWER, NULL, NULL);
            if (status == TACET_CONFLICT) { /* somebody was faster: send theirs */
                r->failed += tacet_ledger_reserve(r->ledger, &entry, &memo, name, &c, NULL) != TACET_OK;
            } else {
                r->failed += status != TACET_OK;
                r->answered_first++;
            }
        }
        memcpy(r->shared[k], entry.answered ? memo.data : draw, ANSWER);
    }
    tacet_blob_clear(&memo);
    return NULL;
}

static void test_threads_race(void **state) {
    static racer racers[THREADS];
    pthread_t threads[THREADS];
    OWN_LEDGER tacet_ledger *ledger = NULL;
    tacet_ledger_settings s = settings(NULL);
    s.eps = 140; /* 40 shared tickets and 320 own ones want 1 each, so not all own ones fit */
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    /* The shared ones are reserved first, so that they are not refused. */
    OWN_BLOB tacet_blob memo = {0};
    for (int k = 0; k < ROUNDS; k++) {
        tacet_entry entry;
        const tacet_charge c = test_charge(1);
        OWN_TEXT char *name = test_text("shared %d", k);
        assert_ok(tacet_ledger_reserve(ledger, &entry, &memo, name, &c, NULL));
    }
    for (int i = 0; i < THREADS; i++) {
        memset(&racers[i], 0, sizeof racers[i]);
        racers[i].ledger = ledger;
        racers[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    int won = 0;
    int first = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(racers[i].failed, 0);
        won += racers[i].won;
        first += racers[i].answered_first;
        for (int k = 0; k < ROUNDS; k++) {
            assert_memory_equal(racers[i].shared[k], racers[0].shared[k], ANSWER);
        }
    }
    assert_int_equal(won, 100);
    assert_int_equal(first, ROUNDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_each_operation_is_the_last),
        T(test_kill_any_time),
        cmocka_unit_test(test_enough_kills),
        T(test_processes_race),
        T(test_threads_race),
    };
    /* What happens inside a shared store's own files is for its own tests. */
    const struct CMUnitTest shared[] = {T(test_kill_any_time), T(test_processes_race), T(test_threads_race)};
    test_in_memory();
    fault_vfs_register();
    return ledger_is_shared() ? cmocka_run_group_tests(shared, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
