/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - what every test program includes: cmocka, comparisons, and the allocation that fails on demand. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <tacet/core/blob.h>
#include <tacet/core/policy.h>
#include <tacet/core/simrng.h>
#include <tacet/core/status.h>
#include <tacet/gp/kernel.h>

/* cmocka hands every test a state, which few of them use. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* TEST(a_ticket_is_answered_once) { … } is one test of the program that it stands in. The support library's main() runs
 * all of them in the order of the file; a program that has to do something first has a main() of its own that ends in
 * `return test_main();`. TEST_EACH(setup, teardown), once a program, is done around each test, and TEST_ALL around all
 * of them together; either of the two may be NULL. */
typedef struct test_case {
    const char *name;
    CMUnitTestFunction run;
    int place; /* among those of its file */
    struct test_case *next;
} test_case;
void test_add(test_case *one);
void test_around_each(CMFixtureFunction setup, CMFixtureFunction teardown);
void test_around_all(CMFixtureFunction setup, CMFixtureFunction teardown);
int test_main(void);
#define TEST(name)                                                                                                     \
    static void name(void **state);                                                                                    \
    __attribute__((constructor)) static void add_##name(void) {                                                        \
        static test_case one = {#name, name, __COUNTER__, NULL};                                                       \
        test_add(&one);                                                                                                \
    }                                                                                                                  \
    static void name(void **state)
#define TEST_EACH(setup, teardown)                                                                                     \
    __attribute__((constructor)) static void add_around_each(void) {                                                   \
        test_around_each(setup, teardown);                                                                             \
    }
#define TEST_ALL(setup, teardown)                                                                                      \
    __attribute__((constructor)) static void add_around_all(void) {                                                    \
        test_around_all(setup, teardown);                                                                              \
    }

/* |actual - expected| <= tolerance; NaN fails; prints both values. */
#define assert_close(actual, expected, tolerance)                                                                      \
    test_assert_close((double)(actual), (double)(expected), (double)(tolerance), __FILE__, __LINE__)
void test_assert_close(double actual, double expected, double tolerance, const char *file, int line);

/* The status is TACET_OK; otherwise prints it with the error's message. */
#define assert_ok(expression) test_assert_status((expression), TACET_OK, NULL, __FILE__, __LINE__)
/* The same, with what the test's own `err` says, which the expression fills. */
#define assert_done(expression) test_assert_status((expression), TACET_OK, &err, __FILE__, __LINE__)
#define assert_status(expression, expected) test_assert_status((expression), (expected), NULL, __FILE__, __LINE__)
void test_assert_status(tacet_status actual, tacet_status expected, const tacet_error *err, const char *file, int line);

/* Under valgrind, where an instruction costs fifty or a hundred, and ThreadSanitizer, which makes a draw of noise as
 * dear: such a run looks for wrong memory, or races, so sizes may be small and statistical limits wide. */
bool test_slow(void);
/* Under valgrind itself: long double is double there, and whole cases may be left out that no thread is in. */
bool test_valgrind(void);

/* The n-th allocation from now (1 = the next) fails; 0 switches that off. fail_alloc_hit() tells whether it came to
 * that, fail_alloc_end() does and switches it off, fail_alloc_last() tells which one was to fail last. */
void fail_alloc_after(long n);
int fail_alloc_hit(void);
int fail_alloc_end(void);
long fail_alloc_last(void);

/* Calls with the first, the second, ... allocation failing: each gives TACET_NO_MEMORY and leaves `clean` true. The
 * call in which none fails any more succeeds, and what it made is the caller's. */
#define assert_each_alloc_fails(call, clean)                                                                           \
    do {                                                                                                               \
        for (long test_nth = 1;; test_nth++) {                                                                         \
            fail_alloc_after(test_nth);                                                                                \
            const tacet_status test_status = (call);                                                                   \
            const int test_hit = fail_alloc_hit();                                                                     \
            fail_alloc_after(0);                                                                                       \
            assert_status(test_status, test_hit ? TACET_NO_MEMORY : TACET_OK);                                         \
            if (!test_hit) {                                                                                           \
                break;                                                                                                 \
            }                                                                                                          \
            assert_true(clean);                                                                                        \
        }                                                                                                              \
    } while (false)

/* Upper tail of the chi-square distribution with k degrees of freedom: the p-value of a fit. */
double test_chi2_pvalue(double statistic, double k);

/* Stream `stream` of this seed. */
tacet_simrng test_rng(uint64_t seed, uint64_t stream);
/* "se", "matern52", ... in d dimensions, one lengthscale for all; freed by the caller. */
tacet_kernel *test_kernel(const char *name, size_t d, double lengthscale);

/* Before a variable: freed, closed or removed where it goes out of scope, the last one first. More in support/gate.h
 * and in the fixtures, each with a line TEST_OWNS. */
#define TEST_OWNS(name, type, end)                                                                                     \
    static inline void test_own_##name(__typeof__(type) *p) {                                                          \
        end(*p);                                                                                                       \
    }
#define OWN_BLOB __attribute__((cleanup(tacet_blob_clear)))
#define OWN_MANIFEST __attribute__((cleanup(tacet_manifest_clear)))
#define OWN_SPACE __attribute__((cleanup(tacet_space_clear)))
#define OWN_FOLDER __attribute__((cleanup(test_own_folder)))
#define OWN_JSON __attribute__((cleanup(test_own_json)))
#define OWN_POLICY __attribute__((cleanup(test_own_policy)))
#define OWN_TEXT __attribute__((cleanup(test_own_text)))
#define OWN_MEMORY __attribute__((cleanup(test_own_memory)))
void test_rmdir(const char *path);
TEST_OWNS(folder, const char *, test_rmdir)
TEST_OWNS(json, json_t *, json_decref)
TEST_OWNS(policy, tacet_policy *, tacet_policy_free)
TEST_OWNS(text, char *, free)
static inline void test_own_memory(void *variable) { /* a pointer of any type */
    void *memory = NULL;
    memcpy(&memory, variable, sizeof memory);
    free(memory);
}

/* Temporary folders in memory: where faults are made by the test, a disk adds its latency only. */
void test_in_memory(void);
/* A fresh, empty temporary folder, removed with test_rmdir. Returns its path (static storage, one at a time). */
const char *test_mkdir(void);
/* As printf would print it; from malloc. */
char *test_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
void test_copy(const char *to, const char *from); /* a file */
/* A file with this text and nothing else. */
void test_write(const char *path, const char *text);
