/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.c - JSON as the text of a file. Ring: pure. Source: none. Cost: one pass. */
#include "core/json_text.h"

#include <stdlib.h>
#include <string.h>

/* Two passes into a buffer that is large enough: nothing has to grow. One more byte than the text, for a newline. */
static char *dump(const json_t *value, size_t flags, size_t *length) {
    *length = value != NULL ? json_dumpb(value, NULL, 0, flags) : 0;
    char *text = *length > 0 ? malloc(*length + 2) : NULL;
    if (text != NULL && json_dumpb(value, text, *length, flags) != *length) {
        free(text);
        return NULL;
    }
    if (text != NULL) {
        text[*length] = '\0';
    }
    return text;
}

json_t *tacet__json_read(const char *text, size_t flags, bool *no_memory) {
    json_t *value = json_loads(text, flags, NULL);
    json_t *again = json_loads(text, flags, NULL);
    *no_memory = (value != NULL || again != NULL) && !json_equal(value, again); /* NULL is equal to nothing */
    if (*no_memory) {
        json_decref(value);
        value = NULL;
    }
    json_decref(again);
    return value;
}

char *tacet__json_dump(const json_t *value, size_t flags) {
    size_t length = 0;
    return dump(value, flags, &length);
}

char *tacet__json_text(const json_t *value, size_t indent) {
    size_t length = 0;
    char *text = dump(value, JSON_INDENT(indent) | JSON_REAL_PRECISION(17), &length);
    if (text != NULL) {
        memcpy(text + length, "\n", 2); /* a file of text ends with one: people print it */
    }
    return text;
}
