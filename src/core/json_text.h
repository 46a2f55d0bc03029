/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.h - JSON as the text of a file. Ring: pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* json_dumps, whole or NULL: that of jansson leaves out what it has no memory for in the middle of a name, and goes on.
 * From malloc. NULL: `value` is, or there is no memory. */
char *tacet__json_dump(const json_t *value, size_t flags);
/* Indented, every double exact, closed by a newline, from malloc. NULL: `value` is, or there is no memory. */
char *tacet__json_text(const json_t *value, size_t indent);

/* json_loads, whole or NULL: that of jansson drops characters that it has no memory for in the middle of a number or a
 * name, or calls them bad text. So it is read twice. NULL: the text is no JSON, or (*no_memory) the two differ. */
json_t *tacet__json_read(const char *text, size_t flags, bool *no_memory);

/* Why a text could not be read: for want of memory. jansson says so, or, where it failed before the first character,
 * says nothing at all. */
static inline bool tacet__json_no_memory(const json_error_t *error) {
    return json_error_code(error) == json_error_out_of_memory || error->line < 0;
}
