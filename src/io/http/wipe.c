/* SPDX-License-Identifier: Apache-2.0 */
/* wipe.c - free that leaves nothing behind.
 * Ring: io. How large a block is the allocator knows (malloc_usable_size), so blocks stay what malloc gave: whoever
 * frees one with free, not knowing of this, is right, too, and leaves it as it is. Source: none.
 * Cost: a write of the block's size. */
#include "io/http/wipe.h"

#include <malloc.h>
#include <sodium.h>
#include <stdlib.h>

void tacet__wipe_block(void *block) {
    if (block != NULL) {
        sodium_memzero(block, malloc_usable_size(block));
    }
}

void tacet__wipe_free(void *block) {
    tacet__wipe_block(block);
    free(block);
}
