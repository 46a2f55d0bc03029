/* SPDX-License-Identifier: Apache-2.0 */
/* buckets.c - token buckets in a set-associative table. Ring: io. Cost: O(1), at most eight slots are looked at. */
#include "io/http/buckets.h"

#include <sodium.h>
#include <string.h>

void tacet__buckets_init(tacet__buckets *b) {
    memset(b, 0, sizeof *b);
    randombytes_buf(b->secret, sizeof b->secret);
}

uint64_t tacet__buckets_key(const tacet__buckets *b, const void *bytes, size_t size) {
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t key = 0;
    (void)crypto_shorthash(hash, bytes, size, b->secret);
    memcpy(&key, hash, sizeof key);
    return key != 0 ? key : 1;
}

static size_t set_of(uint64_t key) {
    return (size_t)(key % TACET__BUCKET_SETS);
}

static tacet__bucket *find(tacet__buckets *b, uint64_t key) {
    tacet__bucket *set = b->slots[set_of(key)];
    for (size_t i = 0; i < TACET__BUCKET_WAYS; i++) {
        if (set[i].key == key) {
            return &set[i];
        }
    }
    return NULL;
}

bool tacet__buckets_known(const tacet__buckets *b, uint64_t key) {
    return find((tacet__buckets *)b, key) != NULL; /* read only */
}

/* A place for a new key: an empty one, or that of the key which was silent for the longest time. */
static tacet__bucket *make_place(tacet__buckets *b, uint64_t key) {
    tacet__bucket *set = b->slots[set_of(key)];
    tacet__bucket *best = &set[0];
    for (size_t i = 0; i < TACET__BUCKET_WAYS; i++) {
        if (set[i].key == 0) {
            return &set[i];
        }
        best = set[i].last < best->last ? &set[i] : best;
    }
    return best;
}

bool tacet__buckets_take(tacet__buckets *b, uint64_t key, double rate, double burst, double now) {
    tacet__bucket *bucket = find(b, key);
    if (bucket == NULL) {
        bucket = make_place(b, key);
        *bucket = (tacet__bucket){.key = key, .left = burst, .last = now};
    }
    bucket->left += (now - bucket->last) * rate;
    bucket->last = now;
    bucket->left = bucket->left > burst ? burst : bucket->left;
    if (!(bucket->left >= 1)) {
        return false;
    }
    bucket->left -= 1;
    return true;
}

void tacet__buckets_forget(tacet__buckets *b, uint64_t key) {
    tacet__bucket *bucket = find(b, key);
    if (bucket != NULL) {
        *bucket = (tacet__bucket){0};
    }
}
