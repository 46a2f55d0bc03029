/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_entry.c - any bytes as a ledger record: refused, or a record whose one encoding they are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dp/open/entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet__record record;
    /* A copy of its own, so that reading one byte too many is seen. */
    uint8_t *bytes = malloc(size == 0 ? 1 : size);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    if (tacet__record_decode(&record, bytes, size, NULL) == TACET_OK) {
        tacet_blob again;
        tacet_blob_init(&again);
        if (tacet__record_encode(&again, &record, NULL) == TACET_OK &&
            (again.size != size || memcmp(again.data, bytes, size) != 0)) {
            abort();
        }
        if (record.kind == TACET__RECORD_RESERVE && tacet_charge_check(&record.reserve.charge, NULL) != TACET_OK) {
            abort();
        }
        tacet_blob_clear(&again);
    }
    free(bytes);
    return 0;
}
