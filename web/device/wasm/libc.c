/* SPDX-License-Identifier: Apache-2.0 */
/* libc.c - what the device library needs of libsodium's system half and of the C library, for a page.
 * Ring: io. The cipher and the hash are libsodium's own sources; here is where bytes come from and where memory is.
 * wasi-libc's own malloc, stdio and process calls would bring imports that a page must not give: the module imports
 * random_get and nothing else. Compiled without link-time optimisation, so that these names win over the library's.
 * Cost: 30 lines instead of 15 kB. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__attribute__((import_module("wasi_snapshot_preview1"), import_name("random_get"))) int32_t random_get(void *out,
                                                                                                       size_t bytes);

/* --- libsodium: entropy, wiping, comparing ------------------------------------------------------------------------ */

int sodium_init(void) {
    return 0;
}

/* As in libsodium: without entropy there is no safe way to go on. */
void randombytes_buf(void *out, size_t bytes) {
    if (random_get(out, bytes) != 0) {
        __builtin_trap();
    }
}

void sodium_memzero(void *at, size_t bytes) {
    for (volatile unsigned char *p = at; bytes > 0; bytes--) {
        *p++ = 0;
    }
}

int sodium_memcmp(const void *a, const void *b, size_t bytes) {
    const volatile unsigned char *x = a, *y = b;
    unsigned difference = 0;
    for (size_t i = 0; i < bytes; i++) {
        difference |= (unsigned)(x[i] ^ y[i]);
    }
    return difference == 0 ? 0 : -1;
}

_Noreturn void sodium_misuse(void) {
    __builtin_trap();
}

/* --- memory: a stack of blocks; what was allocated last is given back first --------------------------------------- */

enum { ARENA_BYTES = 5 << 18, ALIGN = 64 };
static _Alignas(ALIGN) unsigned char arena[ARENA_BYTES];
static size_t used;

/* Every block is preceded by a place for the level before it. */
void *malloc(size_t bytes) {
    const size_t before = used;
    if (bytes > ARENA_BYTES || ARENA_BYTES - used < ALIGN + (bytes + ALIGN - 1) / ALIGN * ALIGN) {
        return NULL;
    }
    unsigned char *block = arena + used + ALIGN;
    used += ALIGN + (bytes + ALIGN - 1) / ALIGN * ALIGN;
    memcpy(block - ALIGN, &before, sizeof before);
    memcpy(block - ALIGN + sizeof before, &used, sizeof used);
    return block;
}

/* A block that is not the last stays until those above it are gone, and then for good: there are none such in the
 * device, which frees in the opposite order. */
void free(void *block) {
    size_t before = 0, after = 0;
    if (block != NULL) {
        memcpy(&before, (unsigned char *)block - ALIGN, sizeof before);
        memcpy(&after, (unsigned char *)block - ALIGN + sizeof before, sizeof after);
        used = after == used ? before : used;
    }
}

void *calloc(size_t count, size_t size) {
    size_t bytes = 0;
    void *block = __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes);
    return block == NULL ? NULL : memset(block, 0, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return alignment <= ALIGN ? malloc(bytes) : NULL;
}

void *realloc(void *block, size_t bytes) {
    (void)block;
    (void)bytes;
    return NULL;
}

int madvise(void *address, size_t bytes, int advice) {
    (void)address;
    (void)bytes;
    (void)advice;
    return 0;
}

/* --- what is left ------------------------------------------------------------------------------------------------- */

int getpid(void) {
    return 1;
}

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    (void)prepare;
    (void)parent;
    (void)child;
    return 0;
}

/* Messages of the device name rules, and of numbers whole ones alone: %d. */
int vsnprintf(char *out, size_t room, const char *format, va_list arguments) {
    size_t n = 0;
    for (; *format != '\0' && n + 1 < room; format++) {
        if (format[0] == '%' && format[1] == 'd') {
            char digits[12];
            size_t count = 0;
            for (unsigned left = va_arg(arguments, unsigned); count == 0 || left > 0; left /= 10) {
                digits[count++] = (char)('0' + left % 10);
            }
            while (count > 0 && n + 1 < room) {
                out[n++] = digits[--count];
            }
            format++;
        } else {
            out[n++] = *format;
        }
    }
    if (room > 0) {
        out[n] = '\0';
    }
    return (int)n;
}

_Noreturn void abort(void) {
    __builtin_trap();
}

_Noreturn void __assert_fail(const char *what, const char *file, int line, const char *function) {
    (void)what;
    (void)file;
    (void)line;
    (void)function;
    __builtin_trap();
}
