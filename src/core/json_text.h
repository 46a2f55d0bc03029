/* json_text.h - JSON as the text of a file. Ring: pure. */
#ifndef TACET_SRC_CORE_JSON_TEXT_H
#define TACET_SRC_CORE_JSON_TEXT_H

#include <jansson.h>

/* Indented, every double exact, closed by a newline, from malloc. NULL: `value` is, or there is no memory. */
char *tacet__json_text(const json_t *value, size_t indent);

#endif
