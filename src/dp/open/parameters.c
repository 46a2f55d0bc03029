/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.c - numbers among the parameters of a charge.
 * Ring: shared. Source: none. Differs from a parser of JSON: a key is a quoted name before a colon, which no string can
 * hold (its quotes would have backslashes). Cost: one pass for each name. */
#include "dp/open/parameters.h"

#include "core/number.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 32 }; /* bytes of a name, its quotes and the colon */

/* Behind the next key of this name; NULL: there is none. */
static const char *find_key(const char *text, const char *name) {
    char key[NAME_MOST];
    const int length = snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(text, key);
    return at != NULL ? at + length : NULL;
}

double tacet__parameter_number(const char *parameters, const char *name) {
    const char *from = find_key(parameters, name);
    const size_t length = strlen(parameters);
    double value = 0;
    if (from == NULL || find_key(from, name) != NULL || parameters[length - 1] != '}') {
        return 0;
    }
    return tacet__number_parse(&value, from, strcspn(from, ",}")) == TACET__NUMBER_OK ? value : 0;
}
