/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_postgres.c - memory that is short inside libpq is never taken for a damaged store: the n-th allocation
 * that libpq makes fails; what is asked fails for now, and goes on when there is memory again. Where another allocator
 * is built in (sanitizers, valgrind) there is nothing to count, and it is skipped. SQLite and jansson: test_memory.c.
 */
#include "engine_fixture.h"

#include <link.h>

static _Atomic long countdown; /* of libpq's allocations until one fails; 0: off */
static _Atomic long seen;
static uintptr_t libpq_from, libpq_to;

static int find_libpq(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    (void)user;
    for (size_t i = 0; strstr(info->dlpi_name, "libpq.so") != NULL && i < info->dlpi_phnum; i++) {
        const uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        const uintptr_t to = from + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            libpq_from = libpq_from == 0 || from < libpq_from ? from : libpq_from;
            libpq_to = to > libpq_to ? to : libpq_to;
        }
    }
    return 0;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool fails(const void *caller) {
    if ((uintptr_t)caller < libpq_from || (uintptr_t)caller >= libpq_to) {
        return false;
    }
    seen++;
    return countdown > 0 && --countdown == 0;
}

/* In the program's own table of symbols: shared libraries find these before the C library's. */
__attribute__((visibility("default"))) void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
#endif

static const double SET[] = {0.1, 0, 0.6, 0};

static char last_line[400];

static void keep_line(void *user, const char *message) {
    (void)user;
    (void)snprintf(last_line, sizeof last_line, "%s", message);
}

static bool is_for_now(tacet_status status) {
    return status == TACET_OK || status == TACET_NO_MEMORY || status == TACET_IO || status == TACET_BUSY;
}

/* Opens, loads, replays and writes, with the n-th of libpq's allocations missing. */
static void one(long n, bool *reached, size_t *refused) {
    tacet__engine *e = NULL;
    tacet__engine_settings settings = engine_settings();
    settings.log = keep_line;
    countdown = n;
    const tacet_status opened = tacet__engine_open(&e, &settings, NULL);
    if (!is_for_now(opened)) {
        fail_msg("allocation %ld, opening: %s", n, tacet_status_name(opened));
    }
    *refused += opened != TACET_OK;
    if (opened == TACET_OK) {
        const tacet_status status = ask_suggestion(e, "toys", NULL, SET, 2).status;
        if (!is_for_now(status)) {
            fail_msg("allocation %ld: %s: %s", n, tacet_status_name(status), last_line);
        }
        *refused += status != TACET_OK;
    }
    *reached = countdown == 0;
    countdown = 0;
    if (e != NULL) {
        const answer a = ask_suggestion(e, "toys", NULL, SET, 2);
        if (a.status != TACET_OK) {
            fail_msg("after allocation %ld: %s: %s", n, tacet_status_name(a.status), last_line);
        }
        assert_int_equal(send_observation(e, "toys", a.ticket, 0.5).status, TACET_OK);
        tacet__engine_close(e);
    }
}

static void memory_that_is_short_in_libpq_is_not_damage(void **state) {
    bool reached = true;
    size_t refused = 0;
    long n = 1;
    (void)dl_iterate_phdr(find_libpq, NULL);
    add_study(TOY_STUDY);
    if (seen == 0) {
        skip(); /* another allocator */
    }
    for (; reached && n < 100000; n += n < 40 ? 1 : 1 + n / 12) {
        one(n, &reached, &refused);
    }
    print_message("%ld allocations of libpq in an open, a load and a suggestion; %zu of those tried were refused\n", n,
                  refused);
    assert_true(refused > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_that_is_short_in_libpq_is_not_damage, store_setup, store_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
