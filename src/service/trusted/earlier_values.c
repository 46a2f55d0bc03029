/* SPDX-License-Identifier: Apache-2.0 */
/* earlier_values.c - a study that begins with what is public already: earlier values, or what another study released.
 * Ring: trusted; reads public files only. Both become prior.earlier of the definition: a point's index, a
 * value, and how far off it may be. A model is one value a point, with standard deviations such that all of them
 * together tell the features of the study as well as the model says it knows them. Cost: points x (values or nodes). */
#include "space/internal.h"
#include <tacet/service/trusted/study.h>

#include "core/fail.h"
#include "core/memory.h"
#include "io/file/folder.h"
#include "service/open/study/definition.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/open/model.h>
#include <tacet/io/csv.h>

enum { MODEL_BYTES = 16 << 20 };
static const double USUAL_SD = 0.05; /* of a value about the mean reward, as a share of the range */

static size_t nearest_point(const tacet__definition *def, const double *x) {
    size_t best = 0;
    double least = (double)INFINITY;
    for (size_t i = 0; i < def->count; i++) {
        double square = 0;
        for (size_t c = 0; c < def->d; c++) {
            square += (x[c] - def->points[i * def->d + c]) * (x[c] - def->points[i * def->d + c]);
        }
        best = square < least ? i : best;
        least = fmin(square, least);
    }
    return best;
}

typedef struct source {
    const tacet__definition *def;
    tacet_csv *csv;
    size_t columns[TACET__DEFINITION_DIMS + 2]; /* coordinates, value, sd */
    size_t count;
    bool has_sd;
    tacet_space_column number; /* what a plain number is */
} source;

static tacet_status find_columns(source *s, const tacet_study_known *known, tacet_error *err) {
    const bool space = s->def->space.count > 0;
    if (!space && (known->columns == NULL || known->column_count != s->def->d)) {
        return tacet__fail(err, TACET_INVALID, "earlier values need columns, one for each coordinate of the points");
    }
    s->count = space ? s->def->space.count : known->column_count;
    tacet_status status = s->count <= TACET__DEFINITION_DIMS ? TACET_OK : TACET_INVALID;
    for (size_t i = 0; i < s->count && status == TACET_OK; i++) {
        status = tacet_csv_find(s->csv, &s->columns[i], space ? s->def->space.columns[i].name : known->columns[i], err);
    }
    TACET_THEN(status, tacet_csv_find(s->csv, &s->columns[s->count], "value", err));
    s->has_sd = status == TACET_OK && tacet_csv_find(s->csv, &s->columns[s->count + 1], "sd", NULL) == TACET_OK;
    return status;
}

static tacet_status read_cell(const source *s, double *out, size_t i, const tacet_space_column *column,
                              tacet_error *err) {
    const char *text = tacet_csv_field(s->csv, s->columns[i], NULL);
    const tacet_status status = tacet_space_cell(column, out, NULL, text, strlen(text), err);
    return status == TACET_OK && !tacet_space_holds(column, *out)
               ? tacet__fail(err, TACET_INVALID, "column '%s': outside its bounds", column->name)
               : status;
}

/* One row as [index, value, sd]. */
static tacet_status read_row(const source *s, json_t *out, tacet_error *err) {
    const tacet__definition *def = s->def;
    double record[TACET__DEFINITION_DIMS] = {0}, x[TACET__DEFINITION_DIMS] = {0};
    double value = 0, sd = USUAL_SD * (def->reward_hi - def->reward_lo);
    tacet_status status = TACET_OK;
    for (size_t i = 0; i < s->count && status == TACET_OK; i++) {
        status = read_cell(s, &record[i], i, def->space.count > 0 ? &def->space.columns[i] : &s->number, err);
    }
    TACET_THEN(status, read_cell(s, &value, s->count, &s->number, err));
    if (status == TACET_OK && s->has_sd) {
        status = read_cell(s, &sd, s->count + 1, &s->number, err);
    }
    if (status == TACET_OK && def->space.count > 0) {
        tacet_space_embed(&def->space, x, record);
    } else {
        memcpy(x, record, sizeof x);
    }
    if (status == TACET_OK) {
        (void)json_array_append_new(out, json_pack("[I f f]", (json_int_t)nearest_point(def, x), value, sd));
    }
    return status;
}

static tacet_status from_values(json_t *out, const tacet__definition *def, const tacet_study_known *known,
                                tacet_error *err) {
    const char *path = known->values;
    source s = {.def = def};
    bool found = true;
    size_t line = 1;
    tacet_space_column_init(&s.number);
    s.number.lo = -1e300;
    s.number.hi = 1e300;
    memcpy(s.number.name, "value", sizeof "value");
    tacet_status status = tacet_csv_open_file(&s.csv, path, NULL, err);
    TACET_THEN(status, find_columns(&s, known, err));
    while (status == TACET_OK && (status = tacet_csv_next(s.csv, &found, err)) == TACET_OK && found) {
        tacet_error why = {0};
        line++;
        status = read_row(&s, out, &why);
        if (status != TACET_OK) {
            (void)tacet__fail(err, TACET_INVALID, "%s: record %zu: %.160s", path, line - 1, why.message);
            status = TACET_INVALID;
        }
    }
    tacet_csv_close(s.csv);
    return status;
}

static bool same_space(const tacet_space *a, const tacet_space *b) {
    char *one = NULL, *other = NULL;
    const bool same = tacet_space_encode(a, &one, NULL) == TACET_OK &&
                      tacet_space_encode(b, &other, NULL) == TACET_OK && strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

static tacet_status from_model(json_t *out, const tacet__definition *def, const char *path, tacet_error *err) {
    char *text = NULL;
    size_t size = 0, best = 0;
    tacet_contextual_model *model = NULL;
    double *means = TACET__ZALLOC(double, def->count), *points = TACET__ZALLOC(double, def->d * def->count);
    tacet_status status = means != NULL && points != NULL
                              ? tacet__file_read(&text, &size, path, MODEL_BYTES, err)
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a model");
    TACET_THEN(status, tacet_contextual_model_decode(&model, text, size, err));
    const tacet_contextual_parts *p = status == TACET_OK ? tacet_contextual_model_parts(model) : NULL;
    if (status == TACET_OK && (p->action_dim != def->d || (p->space != NULL) != (def->space.count > 0) ||
                               (p->space != NULL && !same_space(p->space, &def->space)))) {
        status = tacet__fail(err, TACET_INVALID, "the model is of another space than the study");
    }
    for (size_t i = 0; status == TACET_OK && i < def->d * def->count; i++) { /* rounding must not leave the box */
        points[i] = fmin(fmax(def->points[i], p->lower[i % def->d]), p->upper[i % def->d]);
    }
    TACET_THEN(status, tacet_contextual_predict(model, &best, means, points, def->count, err));
    const double share = sqrt((double)def->count / (double)(def->features > 0 ? def->features : 1));
    for (size_t i = 0; status == TACET_OK && i < def->count; i++) {
        (void)json_array_append_new(
            out, json_pack("[I f f]", (json_int_t)i, means[i],
                           fmax(p->predicted_error, 1e-6 * (def->reward_hi - def->reward_lo)) * fmax(share, 1)));
    }
    tacet_contextual_model_free(model);
    free(text);
    free(means);
    free(points);
    return status;
}

tacet_status tacet_study_begin_with(char **text, const tacet_study_known *known, tacet_error *err) {
    tacet__definition def;
    json_t *list = json_array();
    json_t *root = NULL;
    tacet_status status = tacet__definition_decode(&def, *text, strlen(*text), err);
    if (status != TACET_OK) {
        json_decref(list);
        return status;
    }
    if (def.count == 0) {
        status = tacet__fail(err, TACET_INVALID, "what is known already needs a space or a list of points");
    }
    status = status != TACET_OK || known->values == NULL ? status : from_values(list, &def, known, err);
    status = status != TACET_OK || known->model == NULL ? status : from_model(list, &def, known->model, err);
    root = status == TACET_OK ? json_loads(*text, 0, NULL) : NULL;
    if (root != NULL) {
        (void)json_object_set(json_object_get(root, "prior"), "earlier", list);
        char *with = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
        if (with == NULL) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a definition");
        } else {
            free(*text);
            *text = with;
        }
    }
    json_decref(root);
    json_decref(list);
    tacet__definition_clear(&def);
    return status;
}
