/* SPDX-License-Identifier: Apache-2.0 */
/* fail_alloc.c - makes the n-th allocation of the code under test fail. The linker sends malloc and its kin of the test
 * program here (-Wl,--wrap), so the library itself carries no hook. Allocations inside other shared libraries are not
 * touched. */
#include "support/test.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
char *__wrap_strdup(const char *s);

static _Thread_local long countdown; /* 0: off */
static _Thread_local int hit;
static _Thread_local long last;

void fail_alloc_after(long n) {
    countdown = n;
    hit = n == 0 ? hit : 0;
    last = n == 0 ? last : n;
}

long fail_alloc_last(void) {
    return last;
}

int fail_alloc_hit(void) {
    return hit;
}

int fail_alloc_end(void) {
    fail_alloc_after(0);
    return hit;
}

static int fails(void) {
    if (countdown > 0 && --countdown == 0) {
        hit = 1;
        return 1;
    }
    return 0;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
    return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    return fails() ? 12 : __real_posix_memalign(out, alignment, size); /* ENOMEM */
}

char *__wrap_strdup(const char *s) {
    return fails() ? NULL : __real_strdup(s);
}
