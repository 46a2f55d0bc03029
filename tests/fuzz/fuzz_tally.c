/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tally.c - a saved tally with bytes changed and its hash put right: refused, or it merges, and is saved as it was
 * loaded. The input is a list of changes: two bytes of offset, one byte of value each; and is loaded as it is, too. */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tally/gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HASH = 32, NUMBERS = 3 };
static const tacet_tally_plan PLAN = {.hash = {7}, .numbers = NUMBERS};
static tacet_blob good;

static tacet_tally *make(const char *part) {
    static const size_t at[2] = {0, 2};
    static const int64_t steps[2] = {5, TACET_TALLY_ONE};
    tacet_tally *t = NULL;
    if (tacet_tally_create(&t, &PLAN, part, NULL) != TACET_OK ||
        tacet_tally_add(t, 1, at, steps, 2, NULL) != TACET_OK) {
        abort();
    }
    return t;
}

static void load(const unsigned char *bytes, size_t size) {
    tacet_tally *t = NULL;
    if (tacet_tally_load(&t, &PLAN, bytes, size, NULL) != TACET_OK) {
        if (t != NULL) {
            abort();
        }
        return;
    }
    tacet_blob again;
    tacet_blob_init(&again);
    if (tacet_tally_save(t, &again, NULL) != TACET_OK || again.size != size || memcmp(again.data, bytes, size) != 0) {
        abort();
    }
    tacet_blob_clear(&again);
    tacet_tally *all = make("another");
    const uint64_t rows = tacet_tally_rows(t);
    if (tacet_tally_merge(all, t, NULL) == TACET_OK && tacet_tally_rows(all) != rows + 1) {
        abort();
    }
    if (tacet_tally_merge(all, all, NULL) == TACET_OK) {
        abort();
    }
    tacet_tally_free(all);
    tacet_tally_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (good.size == 0) {
        tacet_tally *t = make("part"), *other = make("other");
        if (tacet_tally_merge(t, other, NULL) != TACET_OK || tacet_tally_save(t, &good, NULL) != TACET_OK) {
            abort();
        }
        tacet_tally_free(t);
        tacet_tally_free(other);
    }
    unsigned char *bytes = malloc(good.size);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, good.data, good.size);
    for (size_t i = 0; i + 2 < size; i += 3) {
        bytes[(data[i] + 256U * data[i + 1]) % (good.size - HASH)] = data[i + 2];
    }
    crypto_generichash(bytes + good.size - HASH, HASH, bytes, good.size - HASH, NULL, 0);
    load(bytes, good.size);
    load(data, size);
    free(bytes);
    return 0;
}
