/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - what every test program includes: cmocka, comparisons, and the allocation that fails on demand. */
#ifndef TACET_TESTS_SUPPORT_TEST_H
#define TACET_TESTS_SUPPORT_TEST_H

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

#include <tacet/core/blob.h>
#include <tacet/core/simrng.h>
#include <tacet/core/status.h>
#include <tacet/gp/kernel.h>

/* cmocka hands every test a state, which few of them use. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* |actual - expected| <= tolerance; NaN fails; prints both values. */
#define assert_close(actual, expected, tolerance)                                                                      \
    test_assert_close((double)(actual), (double)(expected), (double)(tolerance), __FILE__, __LINE__)
void test_assert_close(double actual, double expected, double tolerance, const char *file, int line);

/* The status is TACET_OK; otherwise prints it with the error's message. */
#define assert_ok(expression) test_assert_status((expression), TACET_OK, NULL, __FILE__, __LINE__)
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

/* Before a variable: freed, closed or removed where it goes out of scope, the last one first. More in support/gate.h.
 */
#define OWN_BLOB __attribute__((cleanup(tacet_blob_clear)))
#define OWN_FOLDER __attribute__((cleanup(test_own_folder)))
#define OWN_TEXT __attribute__((cleanup(test_own_text)))
static inline void test_own_folder(const char **folder);
static inline void test_own_text(char **text) {
    free(*text);
}

/* Temporary folders in memory: where faults are made by the test, a disk adds its latency only. */
void test_in_memory(void);
/* A fresh, empty temporary folder, removed with test_rmdir. Returns its path (static storage, one at a time). */
const char *test_mkdir(void);
void test_rmdir(const char *path);
static inline void test_own_folder(const char **folder) {
    test_rmdir(*folder);
}
void test_copy(const char *to, const char *from); /* a file */
/* A file with this text and nothing else. */
void test_write(const char *path, const char *text);

#endif
