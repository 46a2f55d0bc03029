/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_postgres.c - memory that is short inside libpq is never taken for a damaged store: the n-th allocation
 * that libpq makes fails; what is asked fails for now, and goes on when there is memory again. Where another allocator
 * is built in (sanitizers, valgrind) there is nothing to count, and it is skipped. SQLite and jansson: test_memory.c.
 */
#include "memory_fixture.h"

#include <link.h>

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

TEST(memory_that_is_short_in_libpq_is_not_damage) {
    (void)dl_iterate_phdr(find_libpq, NULL);
    add_study(TOY_STUDY);
    if (seen == 0) {
        skip(); /* another allocator */
    }
    each_allocation(40);
}

TEST_EACH(store_setup, store_teardown)
