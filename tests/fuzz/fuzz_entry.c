/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_entry.c - any bytes as a ledger record: refused, or a record whose one encoding they are. */
#include "fuzz.h"

#include "dp/open/entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet__record record;
    /* Without the NUL of a text: a reader that goes one byte too far is seen. */
    uint8_t *bytes = malloc(size == 0 ? 1 : size);
    must(bytes != NULL);
    memcpy(bytes, data, size);
    if (tacet__record_decode(&record, bytes, size, NULL) == TACET_OK) {
        tacet_blob again;
        tacet_blob_init(&again);
        must(tacet__record_encode(&again, &record, NULL) != TACET_OK ||
             (again.size == size && memcmp(again.data, bytes, size) == 0));
        must(record.kind != TACET__RECORD_RESERVE || tacet_charge_check(&record.reserve.charge, NULL) == TACET_OK);
        tacet_blob_clear(&again);
    }
    free(bytes);
    return 0;
}
