/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_definition.c - any text as a study's definition: refused, or one whose canonical form reads back as itself. */
#include "fuzz.h"

#include "service/open/study/definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet__definition def, again;
    char *copy = fuzz_text(data, size), *first = NULL, *second = NULL;
    if (tacet__definition_decode(&def, copy, size, NULL) == TACET_OK) {
        must(tacet__definition_encode(&def, &first, NULL) == TACET_OK &&
             tacet__definition_decode(&again, first, strlen(first), NULL) == TACET_OK);
        must(tacet__definition_encode(&again, &second, NULL) == TACET_OK && strcmp(first, second) == 0);
        tacet__definition_clear(&again);
        tacet__definition_clear(&def);
        free(first);
        free(second);
    }
    free(copy);
    return 0;
}
