/* SPDX-License-Identifier: Apache-2.0 */
/* wipe.h - freeing memory that may have held what a client sent. Ring: io. */
#pragma once

/* Overwrites a block from malloc, all of it, with zeros. */
void tacet__wipe_block(void *block); /* NULL is allowed */
/* The same, then frees it: what free is, for libraries that take an allocator. */
void tacet__wipe_free(void *block); /* NULL is allowed */
