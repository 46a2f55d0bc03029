/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_manifest.c - any bytes as a manifest; what is accepted must be writable, and read again as the same. */
#include "fuzz.h"

#include "outsourced/shared/release_text.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet_manifest m, again;
    char *text = NULL;
    tacet_error err = {0};
    if (tacet_manifest_decode(&m, (const char *)data, size, &err) != TACET_OK) {
        return fuzz_refused(m.columns, &err);
    }
    must(m.rows > 0 && m.dims > 0 && m.space.count > 0 && isfinite(m.sigma));
    must(tacet_manifest_encode(&m, &text, NULL) == TACET_OK &&
         tacet_manifest_decode(&again, text, strlen(text), NULL) == TACET_OK);
    must(again.rows == m.rows && again.dims == m.dims && again.column_count == m.column_count && again.eps == m.eps &&
         again.sigma == m.sigma && again.is_private == m.is_private && again.queries == m.queries &&
         again.outputs_private == m.outputs_private && strcmp(again.mechanism, m.mechanism) == 0);
    for (size_t i = 0; i < m.column_count; i++) {
        must(strcmp(m.columns[i].name, again.columns[i].name) == 0 && m.columns[i].lo == again.columns[i].lo &&
             m.columns[i].hi == again.columns[i].hi && m.columns[i].unit == again.columns[i].unit);
    }
    free(text);
    tacet_manifest_clear(&again);
    tacet_manifest_clear(&m);
    return 0;
}
