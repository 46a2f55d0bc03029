/* SPDX-License-Identifier: Apache-2.0 */
/* merkle.c - hash trees. Ring: shared. Source: RFC 6962, section 2.1. Differs: BLAKE2b-256, and salted leaves.
 * Cost: 2n hashes a root; a path is a root of each sibling's subtree. */
#include "dp/open/merkle.h"

#include <sodium.h>
#include <string.h>

static size_t split(size_t n) {
    size_t k = 1;
    while (2 * k < n) {
        k *= 2;
    }
    return k;
}

void tacet__merkle_leaf(merkle_hash out, const merkle_hash salt, const unsigned char *bytes, size_t size) {
    static const unsigned char LEAF = 0;
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, TACET_HASH_BYTES);
    (void)crypto_generichash_update(&state, &LEAF, 1);
    (void)crypto_generichash_update(&state, salt, TACET_HASH_BYTES);
    (void)crypto_generichash_update(&state, bytes, size);
    (void)crypto_generichash_final(&state, out, TACET_HASH_BYTES);
}

static void node(merkle_hash out, const merkle_hash left, const merkle_hash right) {
    unsigned char both[1 + 2 * TACET_HASH_BYTES] = {1};
    memcpy(both + 1, left, TACET_HASH_BYTES);
    memcpy(both + 1 + TACET_HASH_BYTES, right, TACET_HASH_BYTES);
    (void)crypto_generichash(out, TACET_HASH_BYTES, both, sizeof both, NULL, 0);
}

void tacet__merkle_root(merkle_hash out, const merkle_hash *leaves, size_t n) {
    if (n == 1) {
        memcpy(out, leaves[0], TACET_HASH_BYTES);
        return;
    }
    merkle_hash left, right;
    const size_t k = split(n);
    tacet__merkle_root(left, leaves, k);
    tacet__merkle_root(right, leaves + k, n - k);
    node(out, left, right);
}

size_t tacet__merkle_path(merkle_hash *path, const merkle_hash *leaves, size_t n, size_t index) {
    if (n == 1) {
        return 0;
    }
    const size_t k = split(n);
    const bool left = index < k;
    const size_t below =
        left ? tacet__merkle_path(path, leaves, k, index) : tacet__merkle_path(path, leaves + k, n - k, index - k);
    tacet__merkle_root(path[below], left ? leaves + k : leaves, left ? n - k : k);
    return below + 1;
}

bool tacet__merkle_climb(merkle_hash out, const merkle_hash leaf, size_t index, size_t n, const merkle_hash *path,
                         size_t length) {
    if (n == 1) {
        memcpy(out, leaf, TACET_HASH_BYTES);
        return length == 0 && index == 0;
    }
    if (length == 0 || index >= n) {
        return false;
    }
    const size_t k = split(n);
    merkle_hash below;
    if (!tacet__merkle_climb(below, leaf, index < k ? index : index - k, index < k ? k : n - k, path, length - 1)) {
        return false;
    }
    node(out, index < k ? below : path[length - 1], index < k ? path[length - 1] : below);
    return true;
}
