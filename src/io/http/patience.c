/* SPDX-License-Identifier: Apache-2.0 */
/* patience.c - what GMP does when memory is short. Ring: io.
 * GnuTLS computes with GMP, which ends the process when an allocation fails: one handshake at the wrong moment would
 * take the service down. Here it waits until there is memory again: the connection's thread stands still, everything
 * else goes on, and what it frees is what is waited for. */
#include "io/http/server_internal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void set_functions(void *(*)(size_t), void *(*)(void *, size_t, size_t), void (*)(void *, size_t));

static void *resized(void *block, size_t before, size_t size) {
    (void)before;
    void *out = realloc(block, size);
    while (out == NULL && size > 0) {
        const struct timespec wait = {.tv_nsec = 10000000};
        (void)nanosleep(&wait, NULL);
        out = realloc(block, size);
    }
    return out;
}

static void *allocated(size_t size) {
    return resized(NULL, 0, size);
}

static void freed(void *block, size_t size) {
    (void)size;
    free(block);
}

void tacet__gmp_waits(void) {
    void *found = dlsym(RTLD_DEFAULT, "__gmp_set_memory_functions");
    set_functions *set = NULL;
    memcpy(&set, &found, sizeof set);
    if (set != NULL) { /* a TLS library that does not use it needs none of this */
        set(allocated, resized, freed);
    }
}
