/* SPDX-License-Identifier: Apache-2.0 */
/* space.c - a list of typed public columns: made, checked, copied.
 * Ring: pure. Every rule about a column is here, once: files, options and programs all add columns through it. */
#include <tacet/space/space.h>

#include "core/fail.h"
#include "core/memory.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* UTF-8 without control characters: it will be printed, and written as JSON. */
static bool printable(const char *name) {
    json_t *text = json_string(name);
    const bool utf8 = text != NULL;
    json_decref(text);
    for (const char *c = name; utf8 && *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            return false;
        }
    }
    return utf8;
}

static const double WHOLE_MOST = 0x1p53; /* every whole number up to it is a double */

const char *tacet_space_kind_name(tacet_space_kind kind) {
    static const char *const NAMES[] = {"real", "log", "integer", "category", "date"};
    const int k = (int)kind;
    return k >= 0 && k <= TACET_SPACE_DATE ? NAMES[k] : NULL;
}

void tacet_space_init(tacet_space *space) {
    *space = (tacet_space){0};
}

void tacet_space_clear(tacet_space *space) {
    if (space != NULL) {
        for (size_t i = 0; i < space->count; i++) {
            free(space->columns[i].levels);
        }
        free(space->columns);
        tacet_space_init(space);
    }
}

tacet_status tacet_space_copy(tacet_space *out, const tacet_space *space, tacet_error *err) {
    tacet_status status = TACET_OK;
    tacet_space_init(out);
    for (size_t i = 0; i < space->count && status == TACET_OK; i++) {
        status = tacet_space_add(out, &space->columns[i], err);
    }
    if (status != TACET_OK) {
        tacet_space_clear(out);
    }
    return status;
}

void tacet_space_column_init(tacet_space_column *column) {
    *column = (tacet_space_column){.others = TACET_SPACE_NONE};
}

tacet_status tacet_space_find(const tacet_space *space, size_t *out, const char *name, tacet_error *err) {
    for (size_t i = 0; i < space->count; i++) {
        if (strcmp(space->columns[i].name, name) == 0) {
            *out = i;
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_NOT_FOUND, "the space has no column '%s'", name);
}

static tacet_status check_levels(const tacet_space_column *c, tacet_error *err) {
    if (c->level_count < 2 || c->level_count > TACET_SPACE_LEVELS || c->levels == NULL) {
        return tacet__fail(err, TACET_INVALID, "column '%s': a category needs 2 to %d levels", c->name,
                           TACET_SPACE_LEVELS);
    }
    for (size_t i = 0; i < c->level_count; i++) {
        if (memchr(c->levels[i], '\0', TACET_SPACE_NAME) == NULL || c->levels[i][0] == '\0' ||
            !printable(c->levels[i])) {
            return tacet__fail(err, TACET_INVALID,
                               "column '%s': the name of a level is empty, longer than %d bytes or no plain UTF-8",
                               c->name, TACET_SPACE_NAME - 1);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(c->levels[i], c->levels[j]) == 0) {
                return tacet__fail(err, TACET_INVALID, "column '%s': level '%s' is named twice", c->name, c->levels[i]);
            }
        }
    }
    if (c->others != TACET_SPACE_NONE && c->others >= c->level_count) {
        return tacet__fail(err, TACET_INVALID, "column '%s': the level for others is none of its levels", c->name);
    }
    if (c->missing == TACET_SPACE_FLAG ||
        (c->missing == TACET_SPACE_STAND_IN &&
         !(c->stand_in >= 0 && c->stand_in < (double)c->level_count && c->stand_in == floor(c->stand_in)))) {
        return tacet__fail(err, TACET_INVALID, "column '%s': a missing cell must be one of its levels", c->name);
    }
    return TACET_OK;
}

static bool whole(double x) {
    return x == floor(x) && fabs(x) <= WHOLE_MOST;
}

static tacet_status check_numeric(const tacet_space_column *c, tacet_error *err) {
    if (!isfinite(c->lo) || !isfinite(c->hi) || !(c->lo < c->hi)) {
        return tacet__fail(err, TACET_INVALID, "column '%s': bounds must be finite, the lower below the upper",
                           c->name);
    }
    if (!isfinite(c->hi - c->lo)) {
        return tacet__fail(err, TACET_INVALID, "column '%s': bounds are too far apart", c->name);
    }
    if (c->kind == TACET_SPACE_LOG && !(c->lo > 0)) {
        return tacet__fail(err, TACET_INVALID,
                           "column '%s': the bounds of a log column must lie above 0, where the logarithm is", c->name);
    }
    if (c->kind == TACET_SPACE_INTEGER && !(whole(c->lo) && whole(c->hi))) {
        return tacet__fail(err, TACET_INVALID, "column '%s': the bounds of an integer must be whole numbers", c->name);
    }
    if (c->kind == TACET_SPACE_DATE && !(whole(c->lo) && whole(c->hi))) {
        return tacet__fail(err, TACET_INVALID, "column '%s': the bounds of a date must be days", c->name);
    }
    if (c->unit != 0 && c->kind == TACET_SPACE_LOG && !(c->unit > 1 && isfinite(c->unit))) {
        return tacet__fail(err, TACET_INVALID,
                           "column '%s': the unit of a log column is a factor above 1: 1.1, or \"10 %%\"", c->name);
    }
    if (c->unit != 0 && !(c->unit > 0 && isfinite(c->unit))) {
        return tacet__fail(err, TACET_INVALID, "column '%s': the unit must be above 0", c->name);
    }
    if (c->missing != TACET_SPACE_REFUSED && !(c->stand_in >= c->lo && c->stand_in <= c->hi)) {
        return tacet__fail(err, TACET_INVALID, "column '%s': what stands for a missing cell lies outside the bounds",
                           c->name);
    }
    if (c->missing != TACET_SPACE_REFUSED && c->kind == TACET_SPACE_INTEGER && !whole(c->stand_in)) {
        return tacet__fail(err, TACET_INVALID, "column '%s': what stands for a missing cell is not a whole number",
                           c->name);
    }
    if (c->level_count != 0 || c->others != TACET_SPACE_NONE) {
        return tacet__fail(err, TACET_INVALID, "column '%s': only a category has levels", c->name);
    }
    return TACET_OK;
}

static tacet_status check_column(const tacet_space *space, const tacet_space_column *c, tacet_error *err) {
    if (memchr(c->name, '\0', TACET_SPACE_NAME) == NULL || c->name[0] == '\0' || !printable(c->name)) {
        return tacet__fail(err, TACET_INVALID, "column %zu: its name is empty, longer than %d bytes or no plain UTF-8",
                           space->count + 1, TACET_SPACE_NAME - 1);
    }
    if (tacet_space_kind_name(c->kind) == NULL) {
        return tacet__fail(err, TACET_INVALID, "column '%s': its kind is none of real, log, integer, category, date",
                           c->name);
    }
    if (space->count >= TACET_SPACE_COLUMNS) {
        return tacet__fail(err, TACET_INVALID, "a space has at most %d columns", TACET_SPACE_COLUMNS);
    }
    size_t at = 0;
    if (tacet_space_find(space, &at, c->name, NULL) == TACET_OK) {
        return tacet__fail(err, TACET_INVALID, "column '%s' is named twice", c->name);
    }
    if (c->missing != TACET_SPACE_REFUSED && c->missing != TACET_SPACE_STAND_IN && c->missing != TACET_SPACE_FLAG) {
        return tacet__fail(err, TACET_INVALID, "column '%s': no such rule for missing cells", c->name);
    }
    return c->kind == TACET_SPACE_CATEGORY ? check_levels(c, err) : check_numeric(c, err);
}

tacet_status tacet_space_add(tacet_space *space, const tacet_space_column *column, tacet_error *err) {
    const tacet_status status = check_column(space, column, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_space_column copy = *column;
    copy.unit = column->kind == TACET_SPACE_CATEGORY ? 1 : column->unit;
    copy.levels = NULL;
    if (column->level_count > 0) {
        copy.levels = tacet__zalloc(column->level_count, sizeof *copy.levels);
        if (copy.levels != NULL) {
            memcpy(copy.levels, column->levels, column->level_count * sizeof *copy.levels);
        }
    }
    tacet_space_column *grown = TACET__ZALLOC(tacet_space_column, space->count + 1);
    if (grown == NULL || (column->level_count > 0 && copy.levels == NULL)) {
        free(grown);
        free(copy.levels);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a space");
    }
    if (space->count > 0) {
        memcpy(grown, space->columns, space->count * sizeof *grown);
    }
    grown[space->count] = copy;
    free(space->columns);
    space->columns = grown;
    space->count++;
    return TACET_OK;
}

tacet_status tacet_space_pick(tacet_space *out, const tacet_space *from, const char *const *names, size_t count,
                              tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < (names != NULL ? count : from->count) && status == TACET_OK; i++) {
        size_t at = i, there = 0;
        status = names != NULL ? tacet_space_find(from, &at, names[i], err) : TACET_OK;
        if (status == TACET_OK &&
            (names != NULL || tacet_space_find(out, &there, from->columns[at].name, NULL) != TACET_OK)) {
            status = tacet_space_add(out, &from->columns[at], err);
        }
    }
    return status;
}
