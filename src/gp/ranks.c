/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - slabs, greetings and agreement among the processes of one search.
 * Ring: pure: it calls the three functions of tacet_ranks and knows no transport. Source: none; the digest is a sum of
 * splitmix64 finalisers (Steele, Lea, Flood 2014), each keyed by position, so that any split gives the same sum. */
#include "gp/ranks_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/version.h>

enum { WORDS = 512 }; /* numbers digested at a time */

void tacet_ranks_slab(const tacet_ranks *ranks, size_t rank, size_t *first, size_t *count, size_t n) {
    const size_t share = n / ranks->count;
    const size_t more = n % ranks->count; /* the first `more` ranks hold one row more */
    *first = share * rank + (rank < more ? rank : more);
    *count = share + (rank < more ? 1 : 0);
}

size_t tacet__ranks_owner(const tacet_ranks *ranks, size_t *local, size_t row, size_t n) {
    const size_t share = n / ranks->count;
    const size_t more = n % ranks->count;
    const size_t turn = (share + 1) * more; /* from here on slabs are of `share` rows */
    if (row < turn) {
        *local = row % (share + 1);
        return row / (share + 1);
    }
    *local = (row - turn) % share;
    return more + (row - turn) / share;
}

tacet_status tacet__ranks_agree(const tacet_ranks *ranks, tacet_status status, tacet_error *err) {
    double value = 1;
    uint64_t row = status == TACET_OK ? UINT64_MAX : ranks->rank;
    tacet_error lost = {0};
    if (ranks->largest(ranks->user, &value, &row, &lost) != TACET_OK) {
        return tacet__fail(err, status != TACET_OK ? status : TACET_IO, "%s", lost.message);
    }
    if (row == UINT64_MAX) {
        return TACET_OK;
    }
    tacet_error told = {0};
    if (row == ranks->rank) {
        if (err != NULL) {
            told = *err;
        }
        told.status = status;
    }
    if (ranks->broadcast(ranks->user, &told, sizeof told, (size_t)row, &lost) != TACET_OK) {
        return tacet__fail(err, status != TACET_OK ? status : TACET_IO, "%s", lost.message);
    }
    if (row == ranks->rank) {
        return status;
    }
    told.message[sizeof told.message - 1] = '\0';
    if (status != TACET_OK) {
        return status; /* its own trouble is what this rank tells */
    }
    return tacet__fail(err, told.status, "rank %llu: %s", (unsigned long long)row,
                       told.message[0] != '\0' ? told.message : tacet_status_text(told.status));
}

tacet_status tacet_ranks_greet(const tacet_ranks *ranks, tacet_error *err) {
    uint64_t *seen = TACET__ZALLOC(uint64_t, ranks->count);
    if (seen == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory greeting %zu ranks", ranks->count);
    }
    unsigned char hash[crypto_generichash_BYTES];
    const char *version = tacet_version();
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)version, strlen(version), NULL, 0);
    uint64_t own = 0;
    memcpy(&own, hash, sizeof own);
    seen[ranks->rank] = own;
    tacet_status status = ranks->sum(ranks->user, seen, ranks->count, err);
    for (size_t r = 0; r < ranks->count && status == TACET_OK; r++) {
        if (seen[r] != seen[0]) {
            status = tacet__fail(err, TACET_CONFLICT,
                                 "rank %zu runs another version of tacet than rank 0 (this is rank %zu, version %s): "
                                 "install the same one everywhere",
                                 r, ranks->rank, version);
        }
    }
    free(seen);
    return status;
}

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Words at consecutive positions. */
TACET__CLONES
static void digest_words(uint64_t out[2], const uint64_t *words, uint64_t position, size_t count) {
    uint64_t sums[2] = {out[0], out[1]};
    for (size_t k = 0; k < count; k++) {
        const uint64_t key = (position + k) * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x1234567890abcdef);
        const uint64_t first = mix(words[k] + key);
        sums[0] += first;
        sums[1] += mix(first ^ (words[k] * UINT64_C(0xd1342543de82ef95)) ^ key);
    }
    out[0] = sums[0];
    out[1] = sums[1];
}

void tacet__digest_word(uint64_t out[2], uint64_t word, uint64_t position) {
    digest_words(out, &word, position, 1);
}

void tacet__points_digest(uint64_t out[2], const tacet_points *points, size_t d, size_t first, size_t count,
                          size_t base) {
    uint64_t words[WORDS];
    size_t held = 0;
    uint64_t position = (uint64_t)(base + first) * d;
    for (size_t r = first; r < first + count; r++) {
        for (size_t c = 0; c < d; c++) {
            const size_t at = r * points->step + points->offsets[c];
            const double x =
                points->single ? (double)((const float *)points->data)[at] : ((const double *)points->data)[at];
            memcpy(&words[held++], &x, sizeof x);
            if (held == WORDS) {
                digest_words(out, words, position, held);
                position += held;
                held = 0;
            }
        }
    }
    digest_words(out, words, position, held);
}
