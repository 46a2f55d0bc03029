/* SPDX-License-Identifier: Apache-2.0 */
/* buckets.h - token buckets by key, in a table of fixed size. Ring: io, internal; knows no data.
 *
 * Each key (an address, a bearer token) has its own bucket, so that nobody drains another's. The table does not grow:
 * a key that finds its place taken replaces the one that has been silent for the longest time, which by then is full
 * again, or nearly. Not locked: the caller does that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TACET__BUCKET_SETS = 1024, TACET__BUCKET_WAYS = 8 };

typedef struct tacet__bucket {
    uint64_t key; /* 0: empty */
    double left;  /* tokens */
    double last;  /* when it was asked last */
} tacet__bucket;

typedef struct tacet__buckets {
    tacet__bucket slots[TACET__BUCKET_SETS][TACET__BUCKET_WAYS];
    unsigned char secret[16]; /* of the keys' hash, so that nobody can aim at another's place */
} tacet__buckets;

void tacet__buckets_init(tacet__buckets *buckets);
/* The key of some bytes; never 0. */
uint64_t tacet__buckets_key(const tacet__buckets *buckets, const void *bytes, size_t size);
/* Whether the key has a bucket. */
bool tacet__buckets_known(const tacet__buckets *buckets, uint64_t key);
/* Takes one token of the key's bucket, which is made full when it is new; false: it is empty. */
bool tacet__buckets_take(tacet__buckets *buckets, uint64_t key, double rate, double burst, double now);
void tacet__buckets_forget(tacet__buckets *buckets, uint64_t key);
