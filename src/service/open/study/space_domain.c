/* SPDX-License-Identifier: Apache-2.0 */
/* space_domain.c - studies over a space: candidates, their coordinates, and points in the columns' own units.
 * Ring: open. Choosing among candidates is post-processing of what the policy knows, whatever candidates there are, as
 * long as they are public: here they follow from the definition alone. Cost: candidates x coordinates, once. */
#include "service/open/study/space_domain.h"

#include "core/fail.h"
#include "core/memory.h"
#include "space/internal.h"
#include "space/lattice.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static const double USUAL_NUMBER = 0.5; /* lengthscale of a coordinate without a column, which lies in [-1, 1] */

static tacet_status read_text(tacet_space *out, const json_t *space, tacet_error *err) {
    tacet_error why = {0};
    char *text = json_dumps(space, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    const tacet_status status = text != NULL ? tacet_space_decode(out, text, strlen(text), &why) : TACET_NO_MEMORY;
    free(text);
    return status == TACET_OK          ? TACET_OK
           : status == TACET_NO_MEMORY ? tacet__fail(err, status, "out of memory reading a study")
                                       : tacet__fail(err, TACET_PARSE, "study: %.200s", why.message);
}

tacet_status tacet__space_domain_read(tacet__definition *def, const json_t *space, size_t candidates,
                                      tacet_error *err) {
    TACET_OR_RETURN(read_text(&def->space, space, err));
    for (size_t i = 0; i < def->space.count; i++) {
        tacet_space_column *c = &def->space.columns[i];
        c->unit = tacet_space_traits_of(c)->levels ? 1 : 0; /* coordinates from -1 to 1, whatever the unit */
        if (c->missing != TACET_SPACE_REFUSED) {
            return tacet__fail(err, TACET_PARSE, "study: column '%s': a point to try is never missing", c->name);
        }
    }
    def->d = tacet_space_dims(&def->space);
    if (def->d > TACET__DEFINITION_DIMS) {
        return tacet__fail(err, TACET_PARSE, "study: the space has %zu coordinates, at most %d are possible", def->d,
                           TACET__DEFINITION_DIMS);
    }
    def->candidates = candidates;
    def->records = TACET__ZALLOC(double, candidates * def->space.count);
    def->points = TACET__ZALLOC(double, candidates * def->d);
    if (def->records == NULL || def->points == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study");
    }
    tacet_status status = tacet_space_spread(&def->space, def->records, &def->count, candidates, err);
    for (size_t i = 0; i < def->count && status == TACET_OK; i++) {
        tacet_space_embed(&def->space, def->points + i * def->d, def->records + i * def->space.count);
    }
    return status == TACET_OK && def->count < 2
               ? tacet__fail(err, TACET_PARSE, "study: the space has fewer than two points")
               : status;
}

tacet_status tacet__space_context_read(tacet__definition *def, const json_t *space, tacet_error *err) {
    TACET_OR_RETURN(read_text(&def->context_space, space, err));
    for (size_t i = 0; i < def->context_space.count; i++) {
        tacet_space_column *c = &def->context_space.columns[i];
        c->unit = tacet_space_traits_of(c)->levels ? 1 : 0; /* coordinates from -1 to 1, whatever the unit */
    }
    def->context_dim = tacet_space_dims(&def->context_space);
    if (def->context_dim > TACET__DEFINITION_DIMS) {
        return tacet__fail(err, TACET_PARSE, "study: contexts have %zu coordinates, at most %d are possible",
                           def->context_dim, TACET__DEFINITION_DIMS);
    }
    def->context_lower = TACET__ZALLOC(double, def->context_dim);
    def->context_upper = TACET__ZALLOC(double, def->context_dim);
    if (def->context_lower == NULL || def->context_upper == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study");
    }
    tacet_space_box(&def->context_space, def->context_lower, def->context_upper);
    return TACET_OK;
}

/* One value of a context. */
static tacet_status read_value(const tacet_space_column *c, double *out, const json_t *value, tacet_error *err) {
    const char *text = json_is_null(value) ? "" : json_string_value(value);
    if (value == NULL) {
        return tacet__fail(err, TACET_INVALID, "the context has no '%s'", c->name);
    }
    if (text != NULL) {
        tacet_error why = {0};
        const tacet_status status = tacet_space_cell(c, out, NULL, text, strlen(text), &why);
        return status == TACET_OK ? status : tacet__fail(err, TACET_INVALID, "the context: %s", why.message);
    }
    *out = json_number_value(value);
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    return json_is_number(value) && !kind->text && isfinite(*out)
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "the context: '%s' must be %s", c->name, kind->what);
}

tacet_status tacet__space_context_point(const tacet__definition *def, double *point, const json_t *named,
                                        tacet_error *err) {
    const tacet_space *space = &def->context_space;
    double record[TACET__DEFINITION_DIMS] = {0};
    tacet_status status = TACET_OK;
    if (space->count == 0) {
        return tacet__fail(err, TACET_INVALID, "the contexts of this study have no names: send an array of numbers");
    }
    for (size_t i = 0; i < space->count && status == TACET_OK; i++) {
        status = read_value(&space->columns[i], &record[i], json_object_get(named, space->columns[i].name), err);
    }
    if (status == TACET_OK && json_object_size(named) != space->count) {
        status =
            tacet__fail(err, TACET_INVALID, "the context has more than the %zu columns of the study", space->count);
    }
    if (status == TACET_OK) {
        tacet_space_embed(space, point, record);
        for (size_t i = 0; i < def->context_dim; i++) { /* rounding must not leave the box */
            point[i] = fmin(fmax(point[i], def->context_lower[i]), def->context_upper[i]);
        }
    }
    sodium_memzero(record, sizeof record);
    return status;
}

static json_t *space_json(const tacet_space *space) {
    char *text = NULL;
    if (tacet_space_encode(space, &text, NULL) != TACET_OK) {
        return NULL;
    }
    json_t *value = json_loads(text, 0, NULL);
    free(text);
    return value;
}

json_t *tacet__space_context_json(const tacet__definition *def) {
    return json_pack("{so}", "space", space_json(&def->context_space));
}

json_t *tacet__space_domain_json(const tacet__definition *def) {
    return json_pack("{so sI}", "space", space_json(&def->space), "candidates", (json_int_t)def->candidates);
}

tacet_central_arms tacet__definition_arms(const tacet__definition *def) {
    tacet__lattice l;
    if (def->space.count > 0 && tacet__lattice_init(&l, &def->space)) {
        return (tacet_central_arms){.space = &def->space};
    }
    return (tacet_central_arms){.points = def->points, .dims = def->d, .count = def->count};
}

bool tacet__domain_point(const tacet__definition *def, double *action, double *record, uint64_t index) {
    double own[TACET__DEFINITION_DIMS];
    record = record != NULL ? record : own;
    tacet__lattice l;
    if (tacet__definition_direct(def) && def->space.count > 0 && tacet__lattice_init(&l, &def->space)) {
        if (index >= l.points) {
            return false;
        }
        tacet__lattice_record(&l, record, index);
        tacet_space_embed(&def->space, action, record);
        return true;
    }
    if (index >= def->count) {
        return false;
    }
    memcpy(action, def->points + index * def->d, def->d * sizeof *action);
    if (def->space.count > 0) {
        memcpy(record, def->records + index * def->space.count, def->space.count * sizeof *record);
    }
    return true;
}

json_t *tacet__space_domain_point(const tacet__definition *def, uint64_t index) {
    double action[TACET__DEFINITION_DIMS], record[TACET__DEFINITION_DIMS];
    if (def->space.count == 0 || !tacet__domain_point(def, action, record, index)) {
        return NULL;
    }
    json_t *point = json_object();
    for (size_t i = 0; i < def->space.count && point != NULL; i++) {
        const tacet_space_column *c = &def->space.columns[i];
        if (json_object_set_new(point, c->name, tacet__space_json(c, record[i])) != 0) {
            json_decref(point);
            return NULL;
        }
    }
    return point;
}

/* Scales of one space's coordinates from `at` on; `given` has one for each column, or is NULL. */
static size_t fill_scales(double *scales, size_t at, const tacet_space *space, const double *given) {
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        for (size_t j = 0; j < tacet_space_column_dims(c); j++) {
            scales[at++] = given != NULL ? given[i] : tacet_space_traits_of(c)->lengthscale;
        }
    }
    return at;
}

tacet_status tacet__space_domain_scales(tacet__definition *def, tacet_error *err) {
    const size_t given = def->lengthscale_count;
    const size_t all = def->d + def->context_dim;
    const size_t columns =
        def->space.count + (def->context_space.count > 0 ? def->context_space.count : def->context_dim);
    if (given == 1 || given == all) {
        return TACET_OK;
    }
    if (given != 0 && given != columns) {
        return tacet__fail(err, TACET_INVALID,
                           "study: prior.lengthscale must be one number, or one for each column of the space");
    }
    double *scales = TACET__ZALLOC(double, all);
    if (scales == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study");
    }
    const double *own = given > 0 ? def->lengthscales : NULL;
    const double *later = own != NULL ? own + def->space.count : NULL;
    const size_t at = fill_scales(scales, 0, &def->space, own);
    for (size_t i = 0; i < def->context_dim && def->context_space.count == 0; i++) {
        const double width = def->context_upper[i] - def->context_lower[i];
        scales[at + i] = later != NULL ? later[i] : USUAL_NUMBER / 2 * width;
    }
    (void)fill_scales(scales, at, &def->context_space, later);
    free(def->lengthscales);
    def->lengthscales = scales;
    def->lengthscale_count = all;
    return TACET_OK;
}
