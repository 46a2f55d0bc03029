/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c - one cell of a table: text into a number of a record, and back.
 * Ring: pure. Messages name the column and the rule, never the text. */
#include "space/internal.h"

#include "core/fail.h"

#include <math.h>
#include <string.h>
#include <strings.h>

void tacet__space_trim(const char **text, size_t *length) {
    while (*length > 0 && ((*text)[0] == ' ' || (*text)[0] == '\t')) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t')) {
        (*length)--;
    }
}

static bool says_missing(const char *text, size_t length) {
    static const char *const WORDS[] = {"NA", "N/A", "NaN", "null", "?"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strlen(WORDS[i]) == length && strncasecmp(WORDS[i], text, length) == 0) {
            return true;
        }
    }
    return length == 0;
}

static size_t level_of(const tacet_space_column *c, const char *text, size_t length) {
    for (size_t i = 0; i < c->level_count && length < TACET_SPACE_NAME; i++) {
        if (memcmp(c->levels[i], text, length) == 0 && c->levels[i][length] == '\0') {
            return i;
        }
    }
    return TACET_SPACE_NONE;
}

tacet_status tacet_space_cell(const tacet_space_column *c, double *out, bool *missing, const char *text, size_t length,
                              tacet_error *err) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    const char *inner = text;
    size_t size = length;
    tacet__space_trim(&inner, &size);
    const size_t level = kind->levels ? level_of(c, inner, size) : TACET_SPACE_NONE;
    const bool absent = level == TACET_SPACE_NONE && says_missing(inner, size);
    *out = NAN;
    if (missing != NULL) {
        *missing = absent;
    }
    if (absent) {
        if (c->missing == TACET_SPACE_REFUSED) {
            return tacet__fail(err, TACET_PARSE,
                               "column '%s': the cell is missing, and the space does not say what stands for it",
                               c->name);
        }
        *out = c->missing == TACET_SPACE_FLAG ? (double)NAN : c->stand_in;
        return TACET_OK;
    }
    if (!kind->levels) {
        const char *wrong = kind->read(out, text, length);
        wrong = wrong == NULL && kind->whole && *out != floor(*out) ? "not a whole number" : wrong;
        return wrong == NULL ? TACET_OK : tacet__fail(err, TACET_PARSE, "column '%s': %s", c->name, wrong);
    }
    if (level == TACET_SPACE_NONE && c->others == TACET_SPACE_NONE) {
        return tacet__fail(err, TACET_PARSE,
                           "column '%s': the cell is none of the %zu levels, and there is no level for others", c->name,
                           c->level_count);
    }
    *out = (double)(level != TACET_SPACE_NONE ? level : c->others);
    return TACET_OK;
}

bool tacet_space_holds(const tacet_space_column *c, double value) {
    if (isnan(value)) {
        return c->missing == TACET_SPACE_FLAG;
    }
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    const bool inside = kind->levels ? value >= 0 && value < (double)c->level_count : value >= c->lo && value <= c->hi;
    return inside && (!(kind->levels || kind->whole) || value == floor(value));
}

void tacet_space_text(const tacet_space_column *c, char *out, double value) {
    out[0] = '\0';
    if (!isnan(value)) {
        tacet_space_traits_of(c)->print(c, out, value);
    }
}
