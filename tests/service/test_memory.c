/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - memory that is short inside SQLite and jansson is never taken for a damaged store: the n-th
 * allocation fails, whoever's it is; what is asked fails for now, and goes on when there is memory again. */
#include "memory_fixture.h"

#include <sqlite3.h>

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

TEST(test_short_memory_is_not_damage) {
    add_study(TOY_STUDY);
    each_allocation(20);
}

TEST_EACH(store_setup, store_teardown)

int main(void) {
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real), SQLITE_OK);
    sqlite3_mem_methods mine = real;
    mine.xMalloc = short_malloc;
    mine.xRealloc = short_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK); /* every allocation is seen */
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &mine), SQLITE_OK);
    json_set_alloc_funcs(json_malloc, free);
    return test_main();
}
