/* SPDX-License-Identifier: Apache-2.0 */
/* mman.h - advice that a page has no use for (../libc.c). */
#ifndef TACET_WASM_MMAN_H
#define TACET_WASM_MMAN_H
#include <stddef.h>
enum { MADV_HUGEPAGE = 14 };
int madvise(void *address, size_t bytes, int advice);
#endif
