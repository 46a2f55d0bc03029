/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - a space as JSON, read and written; and the draft of one.
 * Ring: pure. The first thing that is not as it should be is named by column and rule; unknown fields are refused, so
 * that a misspelt one is not passed over. */
#include "space/internal.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column being read: its levels have room for two more, of others and of missing cells. */
typedef struct reading {
    tacet_space_column column;
    tacet_error *err;
} reading;

static tacet_status refuse_column(const reading *r, const char *rule) {
    return tacet__fail(r->err, TACET_PARSE, "space: column '%s': %s", r->column.name, rule);
}

static tacet_status check_fields(const json_t *object, const char *const *known, const char *what, tacet_error *err) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0) {
            i++;
        }
        if (known[i] == NULL) {
            return tacet__fail(err, TACET_PARSE, "space: %s: unknown field '%.40s'", what, key);
        }
    }
    return TACET_OK;
}

/* A number, or a date as a string. */
static bool value_of(const tacet_space_column *c, double *out, const json_t *value) {
    if (json_is_string(value)) {
        return tacet__space_value(c, out, json_string_value(value), json_string_length(value));
    }
    *out = json_number_value(value);
    return json_is_number(value) && !tacet_space_traits_of(c)->text;
}

static tacet_status read_kind(reading *r, const json_t *object) {
    const json_t *kind = json_object_get(object, "kind");
    if (kind == NULL) {
        r->column.kind = json_object_get(object, "levels") != NULL ? TACET_SPACE_CATEGORY : TACET_SPACE_REAL;
        return TACET_OK;
    }
    return tacet__space_kind_find(&r->column.kind, json_string_value(kind))
               ? TACET_OK
               : refuse_column(r, "'kind' is none of real, log, integer, category, date");
}

static tacet_status read_bounds(reading *r, const json_t *object) {
    const json_t *bounds = json_object_get(object, "bounds");
    tacet_space_column *c = &r->column;
    if (tacet_space_traits_of(c)->levels) {
        return bounds == NULL ? TACET_OK : refuse_column(r, "a category has levels, not bounds");
    }
    if (!json_is_array(bounds) || json_array_size(bounds) != 2 || !value_of(c, &c->lo, json_array_get(bounds, 0)) ||
        !value_of(c, &c->hi, json_array_get(bounds, 1))) {
        return tacet__fail(r->err, TACET_PARSE, "space: column '%s': 'bounds' must be %s: fill them in", c->name,
                           tacet_space_traits_of(c)->bounds);
    }
    return TACET_OK;
}

static tacet_status read_unit(reading *r, const json_t *object) {
    const json_t *unit = json_object_get(object, "unit");
    tacet_space_column *c = &r->column;
    if (unit == NULL || (tacet_space_traits_of(c)->levels && json_number_value(unit) == 1)) {
        return TACET_OK;
    }
    if (tacet_space_traits_of(c)->levels) {
        return refuse_column(r, "the unit of a category is a change of level, 1");
    }
    const bool good = json_is_string(unit) ? tacet__space_unit(c, &c->unit, json_string_value(unit))
                                           : json_is_number(unit) && isfinite(json_number_value(unit));
    c->unit = json_is_number(unit) ? json_number_value(unit) : c->unit;
    if (!good || c->unit == 0) {
        return refuse_column(
            r, "'unit', which counts as distance 1, must be above 0 (log: a factor as 1.1 or \"10 %\"; date: "
               "days): fill it in, or leave it out");
    }
    return TACET_OK;
}

static tacet_status read_levels(reading *r, const json_t *object) {
    const json_t *levels = json_object_get(object, "levels");
    const json_t *others = json_object_get(object, "others");
    tacet_space_column *c = &r->column;
    const size_t count = json_array_size(levels);
    if (!tacet_space_traits_of(c)->levels) {
        return levels == NULL && others == NULL ? TACET_OK : refuse_column(r, "only a category has levels");
    }
    if (!json_is_array(levels) || count > TACET_SPACE_LEVELS) {
        return refuse_column(r, "'levels' must be an array of names: fill them in");
    }
    c->levels = tacet__zalloc(count + 2, sizeof *c->levels);
    if (c->levels == NULL) {
        return tacet__fail(r->err, TACET_NO_MEMORY, "out of memory for the levels of a space");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *level = json_array_get(levels, i);
        const size_t length = json_string_length(level);
        if (!json_is_string(level) || length == 0 || length >= TACET_SPACE_NAME) {
            return refuse_column(r, "a level is not a name of 1 to 63 bytes");
        }
        memcpy(c->levels[i], json_string_value(level), length + 1);
    }
    c->level_count = count; /* tacet_space_add finds a level that is there twice */
    if (others != NULL) {
        c->others = tacet__space_level(c, json_string_value(others), json_string_length(others));
        if (c->others == TACET_SPACE_NONE) {
            return refuse_column(r, "'others' is not the name of a level");
        }
    }
    return TACET_OK;
}

static tacet_status read_missing(reading *r, const json_t *object) {
    static const char *const FIELDS[] = {"value", "flag", NULL};
    const json_t *missing = json_object_get(object, "missing");
    tacet_space_column *c = &r->column;
    if (missing == NULL) {
        return TACET_OK;
    }
    c->missing = TACET_SPACE_STAND_IN;
    if (tacet_space_traits_of(c)->levels) {
        const size_t level = tacet__space_level(c, json_string_value(missing), json_string_length(missing));
        c->stand_in = (double)level;
        return level == TACET_SPACE_NONE ? refuse_column(r, "'missing' is not the name of a level") : TACET_OK;
    }
    if (json_is_object(missing)) {
        const tacet_status status = check_fields(missing, FIELDS, "'missing'", r->err);
        if (status != TACET_OK) {
            return status;
        }
        c->missing = json_is_true(json_object_get(missing, "flag")) ? TACET_SPACE_FLAG : TACET_SPACE_STAND_IN;
        missing = json_object_get(missing, "value");
    }
    return value_of(c, &c->stand_in, missing)
               ? TACET_OK
               : refuse_column(r, "'missing' must be a value within the bounds, or {\"value\":…,\"flag\":true}");
}

static tacet_status read_column(tacet_space *space, const json_t *object, tacet_error *err) {
    static const char *const FIELDS[] = {"name", "kind", "bounds", "unit", "levels", "others", "missing", NULL};
    reading r = {.err = err};
    tacet_error why = {0};
    const json_t *name = json_object_get(object, "name");
    tacet_space_column_init(&r.column);
    if (!json_is_string(name) || json_string_length(name) >= TACET_SPACE_NAME || json_string_length(name) == 0) {
        return tacet__fail(err, TACET_PARSE, "space: column %zu needs a 'name' of 1 to %d bytes", space->count + 1,
                           TACET_SPACE_NAME - 1);
    }
    memcpy(r.column.name, json_string_value(name), json_string_length(name) + 1);
    tacet_status status = check_fields(object, FIELDS, r.column.name, err);
    TACET_THEN(status, read_kind(&r, object));
    TACET_THEN(status, read_levels(&r, object));
    TACET_THEN(status, read_bounds(&r, object));
    TACET_THEN(status, read_unit(&r, object));
    TACET_THEN(status, read_missing(&r, object));
    if (status == TACET_OK) {
        status = tacet_space_add(space, &r.column, &why);
        if (status != TACET_OK) {
            status = tacet__fail(err, status == TACET_INVALID ? TACET_PARSE : status, "space: %.200s", why.message);
        }
    }
    free(r.column.levels);
    return status;
}

tacet_status tacet_space_decode(tacet_space *out, const char *text, size_t length, tacet_error *err) {
    static const char *const FIELDS[] = {"columns", NULL};
    json_error_t where;
    tacet_space_init(out);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    const json_t *columns = json_object_get(root, "columns");
    tacet_status status = TACET_OK;
    if (!json_is_object(root)) {
        status = tacet__fail(err, TACET_PARSE, "space: not a JSON object (line %d)", where.line);
    } else if (!json_is_array(columns) || json_array_size(columns) == 0) {
        status = tacet__fail(err, TACET_PARSE, "space: 'columns' is missing or empty");
    } else {
        status = check_fields(root, FIELDS, "the object", err);
    }
    for (size_t i = 0; i < json_array_size(columns) && status == TACET_OK; i++) {
        status = read_column(out, json_array_get(columns, i), err);
    }
    json_decref(root);
    if (status != TACET_OK) {
        tacet_space_clear(out);
    }
    return status;
}

json_t *tacet__space_json(const tacet_space_column *c, double value) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    char text[TACET_SPACE_NAME];
    if (!kind->text) {
        return kind->whole ? json_integer((json_int_t)value) : json_real(value);
    }
    tacet_space_text(c, text, value);
    return json_string(text);
}

static json_t *column_json(const tacet_space_column *c) {
    json_t *object = json_pack("{ss ss}", "name", c->name, "kind", tacet_space_traits_of(c)->name);
    if (tacet_space_traits_of(c)->levels) {
        json_t *levels = json_array();
        for (size_t i = 0; i < c->level_count; i++) {
            (void)json_array_append_new(levels, json_string(c->levels[i]));
        }
        (void)json_object_set_new(object, "levels", levels);
        if (c->others != TACET_SPACE_NONE) {
            (void)json_object_set_new(object, "others", json_string(c->levels[c->others]));
        }
    } else {
        (void)json_object_set_new(object, "bounds",
                                  json_pack("[o o]", tacet__space_json(c, c->lo), tacet__space_json(c, c->hi)));
        if (c->unit != 0) {
            (void)json_object_set_new(object, "unit", json_real(c->unit));
        }
    }
    if (c->missing == TACET_SPACE_STAND_IN) {
        (void)json_object_set_new(object, "missing", tacet__space_json(c, c->stand_in));
    } else if (c->missing == TACET_SPACE_FLAG) {
        (void)json_object_set_new(object, "missing",
                                  json_pack("{so sb}", "value", tacet__space_json(c, c->stand_in), "flag", 1));
    }
    return object;
}

static tacet_status as_text(json_t *root, char **out, tacet_error *err) {
    *out = tacet__json_text(root, 2);
    json_decref(root);
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_INVALID, "the space has a name that is not UTF-8");
}

tacet_status tacet_space_encode(const tacet_space *space, char **out, tacet_error *err) {
    json_t *columns = json_array();
    *out = NULL;
    for (size_t i = 0; i < space->count; i++) {
        if (json_array_append_new(columns, column_json(&space->columns[i])) != 0) {
            json_decref(columns);
            return tacet__fail(err, TACET_INVALID, "the space has a name that is not UTF-8");
        }
    }
    return as_text(json_pack("{so}", "columns", columns), out, err);
}

tacet_status tacet_space_draft(char **out, const char *const *names, size_t count, tacet_error *err) {
    json_t *columns = json_array();
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        json_t *column = json_pack("{ss ss s[n n] sn}", "name", names[i], "kind", "real", "bounds", "unit");
        if (json_array_append_new(columns, column) != 0) {
            json_decref(columns);
            return tacet__fail(err, TACET_INVALID, "a column's name is not UTF-8");
        }
    }
    return as_text(json_pack("{so}", "columns", columns), out, err);
}
