/* SPDX-License-Identifier: Apache-2.0 */
/* space.c - a list of typed public columns: made, checked, copied.
 * Ring: pure. Every rule about a column is here, once: files, options and programs all add columns through it. */
#include "space/internal.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tacet__space_printable(const char *name) {
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

/* What holds for every number; the rules of one kind are in its entry of the table. */
static tacet_status check_number(const tacet_space_column *c, tacet_error *err) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    const char *broken = NULL;
    if (!isfinite(c->lo) || !isfinite(c->hi) || !(c->lo < c->hi)) {
        broken = "bounds must be finite, the lower below the upper";
    } else if (!isfinite(c->hi - c->lo)) {
        broken = "bounds are too far apart";
    } else if (c->unit != 0 && kind->factor && !(c->unit > 1 && isfinite(c->unit))) {
        broken = "the unit of a log column is a factor above 1: 1.1, or \"10 %\"";
    } else if (c->unit != 0 && !(c->unit > 0 && isfinite(c->unit))) {
        broken = "the unit must be above 0";
    } else if (c->missing != TACET_SPACE_REFUSED && !(c->stand_in >= c->lo && c->stand_in <= c->hi)) {
        broken = "what stands for a missing cell lies outside the bounds";
    } else if (c->missing != TACET_SPACE_REFUSED && kind->whole && c->stand_in != floor(c->stand_in)) {
        broken = "what stands for a missing cell is not a whole number";
    } else if (c->level_count != 0 || c->others != TACET_SPACE_NONE) {
        broken = "only a category has levels";
    }
    return broken == NULL ? TACET_OK : tacet__fail(err, TACET_INVALID, "column '%s': %s", c->name, broken);
}

static tacet_status check_column(const tacet_space *space, const tacet_space_column *c, tacet_error *err) {
    if (memchr(c->name, '\0', TACET_SPACE_NAME) == NULL || c->name[0] == '\0' || !tacet__space_printable(c->name)) {
        return tacet__fail(err, TACET_INVALID, "column %zu: its name is empty, longer than %d bytes or no plain UTF-8",
                           space->count + 1, TACET_SPACE_NAME - 1);
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
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    const tacet_status status = kind->levels || kind->name == NULL ? TACET_OK : check_number(c, err);
    return status == TACET_OK ? kind->check(c, err) : status;
}

tacet_status tacet_space_add(tacet_space *space, const tacet_space_column *column, tacet_error *err) {
    const tacet_status status = check_column(space, column, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_space_column copy = *column;
    copy.unit = tacet_space_traits_of(column)->levels ? 1 : column->unit;
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
