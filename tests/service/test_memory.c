/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - memory that is short inside SQLite and jansson is never taken for a damaged store: the n-th
 * allocation fails, whoever's it is; what is asked fails for now, and goes on when there is memory again. */
#include "engine_fixture.h"

#include <sqlite3.h>

static _Atomic long countdown; /* of allocations until one fails; 0: off */
static sqlite3_mem_methods real;

static bool fails(void) {
    return countdown > 0 && --countdown == 0;
}

static void *short_malloc(int size) {
    return fails() ? NULL : real.xMalloc(size);
}

static void *short_realloc(void *old, int size) {
    return fails() ? NULL : real.xRealloc(old, size);
}

static void *json_malloc(size_t size) {
    return fails() ? NULL : malloc(size);
}

static const double SET[] = {0.1, 0, 0.6, 0};

static char last_line[400];

static void keep_line(void *user, const char *message) {
    (void)user;
    (void)snprintf(last_line, sizeof last_line, "%s", message);
}

/* A study that has to be loaded, replayed and written to, with the n-th allocation missing. */
static void one(long n, bool *reached, size_t *refused) {
    tacet__engine *e = NULL;
    tacet__engine_settings settings = engine_settings();
    settings.log = keep_line;
    countdown = n;
    const tacet_status opened = tacet__engine_open(&e, &settings, NULL);
    assert_true(opened != TACET_CORRUPT);
    if (opened == TACET_OK) {
        const tacet_status status = ask_suggestion(e, "toys", NULL, SET, 2).status;
        if (status != TACET_OK && status != TACET_NO_MEMORY && status != TACET_IO && status != TACET_BUSY) {
            fail_msg("allocation %ld: %s: %s", n, tacet_status_name(status), last_line);
        }
        *refused += status != TACET_OK;
    } else {
        *refused += 1;
    }
    *reached = countdown == 0;
    countdown = 0;
    if (e != NULL) {
        const answer a = ask_suggestion(e, "toys", NULL, SET, 2);
        if (a.status != TACET_OK) {
            fail_msg("after allocation %ld: %s", n, tacet_status_name(a.status));
        }
        assert_int_equal(send_observation(e, "toys", a.ticket, 0.5).status, TACET_OK);
        tacet__engine_close(e);
    }
}

static void test_short_memory_is_not_damage(void **state) {
    bool reached = true;
    size_t refused = 0;
    long n = 1;
    add_study(TOY_STUDY);
    for (; reached && n < 100000; n += n < 20 ? 1 : 1 + n / 12) {
        one(n, &reached, &refused);
    }
    print_message("%ld allocations in a load and a suggestion; %zu of those tried were refused for now\n", n, refused);
    assert_true(refused > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_short_memory_is_not_damage, store_setup, store_teardown),
    };
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real), SQLITE_OK);
    sqlite3_mem_methods mine = real;
    mine.xMalloc = short_malloc;
    mine.xRealloc = short_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK); /* every allocation is seen */
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &mine), SQLITE_OK);
    json_set_alloc_funcs(json_malloc, free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
