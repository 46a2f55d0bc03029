/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.c - JSON as the text of a file. Ring: pure. Source: none. Cost: one pass. */
#include "core/json_text.h"

#include <stdlib.h>
#include <string.h>

char *tacet__json_text(const json_t *value, size_t indent) {
    char *text = value != NULL ? json_dumps(value, JSON_INDENT(indent) | JSON_REAL_PRECISION(17)) : NULL;
    const size_t length = text != NULL ? strlen(text) : 0;
    char *longer = text != NULL ? realloc(text, length + 2) : NULL;
    if (longer == NULL) {
        free(text);
        return NULL;
    }
    memcpy(longer + length, "\n", 2); /* a file of text ends with one: people print it */
    return longer;
}
