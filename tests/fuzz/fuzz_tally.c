/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tally.c - a saved tally with bytes changed and its hash put right: refused, or it merges, and is saved as it was
 * loaded. The input is a list of changes, and is loaded as it is, too. */
#include "fuzz.h"

#include "tally/gate.h"

static const tacet_tally_plan PLAN = {.hash = {7}, .numbers = 3};

static tacet_tally *make(const char *part) {
    static const size_t at[2] = {0, 2};
    static const int64_t steps[2] = {5, TACET_TALLY_ONE};
    tacet_tally *t = NULL;
    must(tacet_tally_create(&t, &PLAN, part, NULL) == TACET_OK &&
         tacet_tally_add(t, 1, at, steps, 2, NULL) == TACET_OK);
    return t;
}

static void load(const unsigned char *bytes, size_t size) {
    tacet_tally *t = NULL;
    if (tacet_tally_load(&t, &PLAN, bytes, size, NULL) != TACET_OK) {
        must(t == NULL);
        return;
    }
    tacet_blob again;
    tacet_blob_init(&again);
    must(tacet_tally_save(t, &again, NULL) == TACET_OK && again.size == size && memcmp(again.data, bytes, size) == 0);
    tacet_blob_clear(&again);
    tacet_tally *all = make("another");
    const uint64_t rows = tacet_tally_rows(t);
    must(tacet_tally_merge(all, t, NULL) != TACET_OK || tacet_tally_rows(all) == rows + 1);
    must(tacet_tally_merge(all, all, NULL) != TACET_OK);
    tacet_tally_free(all);
    tacet_tally_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tacet_blob good;
    if (good.size == 0) {
        tacet_tally *t = make("part"), *other = make("other");
        must(tacet_tally_merge(t, other, NULL) == TACET_OK && tacet_tally_save(t, &good, NULL) == TACET_OK);
        tacet_tally_free(t);
        tacet_tally_free(other);
    }
    unsigned char *bytes = fuzz_changed(&good, data, size);
    load(bytes, good.size);
    load(data, size);
    free(bytes);
    return 0;
}
