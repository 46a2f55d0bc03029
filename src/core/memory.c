/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - overflow-checked allocation.
 * Ring: pure. */
#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64 };      /* a cache line, and the widest vector register */
enum { HUGE_PAGE = 1 << 21 }; /* larger arrays lie on pages of this size, where the system has them */

bool tacet__size_mul(size_t *out, size_t a, size_t b) {
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

bool tacet__size_add(size_t *out, size_t a, size_t b) {
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

void *tacet__zalloc(size_t count, size_t size) {
    if (count == 0) {
        count = 1;
    }
    return calloc(count, size); /* calloc checks the product itself */
}

void *tacet__aligned(size_t count, size_t size) {
    size_t bytes = 0;
    if (!tacet__size_mul(&bytes, count, size) || !tacet__size_add(&bytes, bytes, ALIGNMENT)) {
        return NULL;
    }
    bytes -= bytes % ALIGNMENT; /* aligned_alloc wants a multiple; the addition above keeps it large enough */
    if (bytes < 2 * (size_t)HUGE_PAGE) {
        return aligned_alloc(ALIGNMENT, bytes);
    }
    size_t whole = 0; /* a multiple of this alignment too; pages beyond `bytes` are never touched */
    if (!tacet__size_add(&whole, bytes, HUGE_PAGE - 1)) {
        return NULL;
    }
    void *array = aligned_alloc(HUGE_PAGE, whole - whole % HUGE_PAGE);
    if (array != NULL) {
        (void)madvise(array, bytes - bytes % HUGE_PAGE,
                      MADV_HUGEPAGE); /* advice: without it all is as before, slower */
    }
    return array;
}

bool tacet__grow(void **array, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity) {
        return true;
    }
    size_t target = *capacity < 8 ? 8 : *capacity;
    while (target < need) {
        if (!tacet__size_mul(&target, target, 2)) {
            return false;
        }
    }
    size_t bytes = 0;
    if (!tacet__size_mul(&bytes, target, size) || bytes == 0) {
        return false;
    }
    void *larger = realloc(*array, bytes);
    if (larger == NULL) {
        return false;
    }
    *array = larger;
    *capacity = target;
    return true;
}

bool tacet__zalloc_arrays(const tacet__array *arrays, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t numbers = 0;
        if (!tacet__size_mul(&numbers, arrays[i].rows, arrays[i].columns)) {
            return false;
        }
        *arrays[i].place = TACET__ZALLOC(double, numbers);
        if (*arrays[i].place == NULL) {
            return false;
        }
    }
    return true;
}
