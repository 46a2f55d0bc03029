/* SPDX-License-Identifier: Apache-2.0 */
/* merkle.h - a hash tree over salted leaves, as in RFC 6962, with BLAKE2b-256. Ring: shared.
 * leaf = H(0 | salt | bytes), node = H(1 | left | right), the left subtree holding the largest power of two below n. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/dp/open/charge.h>

enum { MERKLE_MOST_PATH = 64 };
typedef unsigned char merkle_hash[TACET_HASH_BYTES];

void tacet__merkle_leaf(merkle_hash out, const merkle_hash salt, const unsigned char *bytes, size_t size);
/* n > 0 leaves. */
void tacet__merkle_root(merkle_hash out, const merkle_hash *leaves, size_t n);
/* The siblings from the leaf upwards; returns how many, at most MERKLE_MOST_PATH. index < n. */
size_t tacet__merkle_path(merkle_hash *path, const merkle_hash *leaves, size_t n, size_t index);
/* The root that a leaf and its path lead to; false: the path has another length than the place needs. */
bool tacet__merkle_climb(merkle_hash out, const merkle_hash leaf, size_t index, size_t n, const merkle_hash *path,
                         size_t length);
