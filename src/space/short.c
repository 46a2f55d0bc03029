/* SPDX-License-Identifier: Apache-2.0 */
/* short.c - a space from options: "--bounds age=17:90 --levels sex=Male|Female --unit age=5".
 * Ring: pure. Lists have commas between items; an item is NAME=VALUE. What a column is follows from the option that
 * names it: bounds real, levels category. Other kinds are in a file. */
#include "space/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool tacet__space_value(const tacet_space_column *c, double *out, const char *text, size_t length) {
    char copy[TACET_SPACE_NAME];
    if (length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    return kind->read != NULL && kind->read(out, copy, length) == NULL;
}

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " ");
}

bool tacet__space_unit(const tacet_space_column *c, double *out, const char *text) {
    char number[TACET_SPACE_NAME];
    const size_t length = strspn(text, "+-.0123456789eE");
    const char *rest = skip_blanks(text + length);
    if (length >= sizeof number) {
        return false;
    }
    memcpy(number, text, length);
    number[length] = '\0';
    if (tacet__number_parse(out, number, length) != TACET__NUMBER_OK) {
        return false;
    }
    if (*rest == '\0') {
        return true;
    }
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    return kind->suffix != NULL && kind->suffix(out, rest);
}

size_t tacet__space_level(tacet_space_column *c, const char *text, size_t length) {
    if (text == NULL || length == 0 || length >= TACET_SPACE_NAME) {
        return TACET_SPACE_NONE;
    }
    for (size_t i = 0; i < c->level_count; i++) {
        if (strlen(c->levels[i]) == length && memcmp(c->levels[i], text, length) == 0) {
            return i;
        }
    }
    if (c->level_count >= TACET_SPACE_LEVELS) {
        return TACET_SPACE_NONE;
    }
    memcpy(c->levels[c->level_count], text, length);
    c->levels[c->level_count][length] = '\0';
    return c->level_count++;
}

/* The columns while the options are read; kind and bounds or levels set or not yet. */
typedef struct draft {
    tacet_space_column columns[TACET_SPACE_COLUMNS];
    bool said[TACET_SPACE_COLUMNS];
    size_t count;
    bool fixed; /* by inputs: no others may be named */
    tacet_error *err;
} draft;

/* One item of an option; `equals` is NULL where there is no name. */
typedef struct item {
    const char *option;
    const char *text;
    size_t length;
    const char *equals;
    size_t number; /* from 0 */
} item;

typedef tacet_status (*take_item)(draft *d, const item *it, tacet_space_kind kind);

static tacet_status refuse_item(const draft *d, const item *it, const char *rule) {
    return tacet__fail(d->err, TACET_INVALID, "--%s: '%.*s' %s", it->option, (int)(it->length < 80 ? it->length : 80),
                       it->text, rule);
}

static tacet_status each_item(draft *d, const char *option, const char *list, take_item take, tacet_space_kind kind) {
    tacet_status status = TACET_OK;
    size_t number = 0;
    while (list != NULL && status == TACET_OK) {
        const size_t length = strcspn(list, ",");
        const item it = {option, list, length, memchr(list, '=', length), number++};
        status = length == 0 ? tacet__fail(d->err, TACET_INVALID, "--%s: an empty item", option) : take(d, &it, kind);
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return status;
}

/* The column that an item names; a new one where the option may introduce it. NULL: none, and err says why. */
static tacet_space_column *column_of(draft *d, const item *it, bool introduces, tacet_status *status) {
    const size_t length = it->equals != NULL ? (size_t)(it->equals - it->text) : it->length;
    for (size_t i = 0; i < d->count; i++) {
        if (strlen(d->columns[i].name) == length && memcmp(d->columns[i].name, it->text, length) == 0) {
            return &d->columns[i];
        }
    }
    if (!introduces || d->fixed) {
        *status = refuse_item(d, it, "names no column of the space");
        return NULL;
    }
    if (length == 0 || length >= TACET_SPACE_NAME || d->count >= TACET_SPACE_COLUMNS) {
        *status = refuse_item(d, it, "has a name that is empty or longer than 63 bytes, or is one column too many");
        return NULL;
    }
    tacet_space_column *c = &d->columns[d->count++];
    memcpy(c->name, it->text, length);
    c->name[length] = '\0';
    return c;
}

static tacet_status take_input(draft *d, const item *it, tacet_space_kind kind) {
    (void)kind;
    tacet_status status = TACET_OK;
    const size_t before = d->count;
    if (it->equals != NULL) {
        return refuse_item(d, it, "is a name, and has no '='");
    }
    if (column_of(d, it, true, &status) != NULL && d->count == before) {
        return refuse_item(d, it, "is named twice");
    }
    return status;
}

/* The column an item introduces, which may be said once. */
static tacet_space_column *say_column(draft *d, const item *it, tacet_space_kind kind, tacet_status *status) {
    tacet_space_column *c = NULL;
    if (it->equals == NULL && d->fixed && it->number < d->count && kind == TACET_SPACE_REAL) {
        c = &d->columns[it->number]; /* "17:90,10:60", in the order of inputs */
    } else if (it->equals == NULL) {
        *status = refuse_item(d, it,
                              kind == TACET_SPACE_CATEGORY ? "is not NAME=LEVEL|LEVEL (in quotes, for the shell)"
                                                           : "is not NAME=LOWER:UPPER");
    } else {
        c = column_of(d, it, true, status);
    }
    if (c != NULL && d->said[c - d->columns]) {
        *status = refuse_item(d, it, "says a second time what its column is");
        c = NULL;
    }
    if (c != NULL) {
        d->said[c - d->columns] = true;
        c->kind = kind;
    }
    return c;
}

/* LOWER:UPPER. */
static tacet_status take_range(draft *d, const item *it, tacet_space_kind kind) {
    tacet_status status = TACET_OK;
    tacet_space_column *c = say_column(d, it, kind, &status);
    if (c == NULL) {
        return status;
    }
    const char *range = it->equals != NULL ? it->equals + 1 : it->text;
    const size_t length = it->length - (size_t)(range - it->text);
    const char *colon = memchr(range, ':', length);
    if (colon == NULL || !tacet__space_value(c, &c->lo, range, (size_t)(colon - range)) ||
        !tacet__space_value(c, &c->hi, colon + 1, length - (size_t)(colon - range) - 1)) {
        return refuse_item(d, it, "is not NAME=LOWER:UPPER (numbers, with a decimal point; a category has --levels)");
    }
    return TACET_OK;
}

static tacet_status take_levels(draft *d, const item *it, tacet_space_kind kind) {
    tacet_status status = TACET_OK;
    tacet_space_column *c = say_column(d, it, kind, &status);
    if (c == NULL) {
        return status;
    }
    const char *at = it->equals + 1;
    const char *end = it->text + it->length;
    size_t count = 1;
    for (const char *p = at; p < end; p++) {
        count += *p == '|' ? 1 : 0;
    }
    c->levels = tacet__zalloc(count + 2, sizeof *c->levels); /* two more: of others and of missing cells */
    if (c->levels == NULL) {
        return tacet__fail(d->err, TACET_NO_MEMORY, "out of memory for the levels of a space");
    }
    while (at <= end) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        bar = bar != NULL ? bar : end;
        const size_t before = c->level_count;
        if (tacet__space_level(c, at, (size_t)(bar - at)) == TACET_SPACE_NONE) {
            return refuse_item(d, it, "has a level whose name is empty or longer than 63 bytes, or one too many");
        }
        if (c->level_count == before) {
            return refuse_item(d, it, "names a level twice");
        }
        at = bar + 1;
    }
    return TACET_OK;
}

static tacet_status take_unit(draft *d, const item *it, tacet_space_kind kind) {
    char text[TACET_SPACE_NAME];
    (void)kind;
    tacet_status status = TACET_OK;
    tacet_space_column *c = column_of(d, it, false, &status);
    if (c == NULL) {
        return status;
    }
    const char *value = it->equals != NULL ? it->equals + 1 : it->text;
    const size_t length = it->length - (size_t)(value - it->text);
    if (it->equals == NULL || tacet_space_traits_of(c)->levels || length >= sizeof text) {
        return refuse_item(d, it, "is not NAME=UNIT of a column that is no category, whose unit is a change of level");
    }
    memcpy(text, value, length);
    text[length] = '\0';
    return tacet__space_unit(c, &c->unit, text) && c->unit != 0
               ? TACET_OK
               : refuse_item(d, it, "is not NAME=UNIT with a unit above 0");
}

static tacet_status read_options(draft *d, const tacet_space_options *o) {
    tacet_status status = each_item(d, "inputs", o->inputs, take_input, TACET_SPACE_REAL);
    d->fixed = o->inputs != NULL;
    TACET_THEN(status, each_item(d, "bounds", o->bounds, take_range, TACET_SPACE_REAL));
    TACET_THEN(status, each_item(d, "levels", o->levels, take_levels, TACET_SPACE_CATEGORY));
    return status != TACET_OK ? status : each_item(d, "unit", o->unit, take_unit, TACET_SPACE_REAL);
}

tacet_status tacet_space_short(tacet_space *out, const tacet_space_options *options, tacet_error *err) {
    draft *d = TACET__ZALLOC(draft, 1);
    tacet_space_init(out);
    if (d == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a space");
    }
    d->err = err;
    for (size_t i = 0; i < TACET_SPACE_COLUMNS; i++) {
        tacet_space_column_init(&d->columns[i]);
    }
    tacet_status status = read_options(d, options);
    if (status == TACET_OK && d->count == 0) {
        status = tacet__fail(err, TACET_INVALID, "the options name no column: --bounds, --levels");
    }
    for (size_t i = 0; i < d->count && status == TACET_OK; i++) {
        status = d->said[i] ? tacet_space_add(out, &d->columns[i], err)
                            : tacet__fail(err, TACET_INVALID, "column '%s' is missing from --bounds and --levels",
                                          d->columns[i].name);
    }
    for (size_t i = 0; i < d->count; i++) {
        free(d->columns[i].levels);
    }
    free(d);
    if (status != TACET_OK) {
        tacet_space_clear(out);
    }
    return status;
}
