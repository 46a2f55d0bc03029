/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_definition.c - any text as a study's definition: refused, or one whose canonical form reads back as itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/open/study/definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet__definition def;
    char *copy = malloc(size + 1); /* of its own size, so that reading one byte too many is seen */
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, data, size);
    copy[size] = '\0';
    if (tacet__definition_decode(&def, copy, size, NULL) == TACET_OK) {
        char *first = NULL;
        char *second = NULL;
        tacet__definition again;
        if (tacet__definition_encode(&def, &first, NULL) != TACET_OK ||
            tacet__definition_decode(&again, first, strlen(first), NULL) != TACET_OK) {
            abort();
        }
        if (tacet__definition_encode(&again, &second, NULL) != TACET_OK || strcmp(first, second) != 0) {
            abort();
        }
        tacet__definition_clear(&again);
        tacet__definition_clear(&def);
        free(first);
        free(second);
    }
    free(copy);
    return 0;
}
