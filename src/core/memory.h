/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - overflow-checked allocation. Sizes are always count x element size; a product that overflows fails as an
 * allocation would. Freed with free(). Ring: pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Stores a * b (a + b) in *out, or returns false and leaves *out alone when it does not fit a size_t. */
bool tacet__size_mul(size_t *out, size_t a, size_t b);
bool tacet__size_add(size_t *out, size_t a, size_t b);

/* Zeroed; NULL when out of memory or count * size overflows. A count of 0 gives a valid pointer. */
void *tacet__zalloc(size_t count, size_t size);
/* Not zeroed, 64-byte aligned: for arrays that are streamed. Pages are touched only when written. */
void *tacet__aligned(size_t count, size_t size);
/* Grows *array (may be NULL) to hold at least `need` elements, doubling; *capacity is updated. False when out of
 * memory, with *array unchanged. */
bool tacet__grow(void **array, size_t *capacity, size_t need, size_t size);

#define TACET__ZALLOC(type, count) ((type *)tacet__zalloc((count), sizeof(type)))
#define TACET__ALIGNED(type, count) ((type *)tacet__aligned((count), sizeof(type)))

/* Matrices that an object is made of, each rows x columns and zeroed. false: no memory; those that were made are the
 * object's, and freed with it. */
typedef struct tacet__array {
    double **place;
    size_t rows, columns;
} tacet__array;
bool tacet__zalloc_arrays(const tacet__array *arrays, size_t count);
