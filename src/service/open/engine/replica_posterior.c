/* SPDX-License-Identifier: Apache-2.0 */
/* replica_posterior.c - what a study has learnt, over one or two of its columns, in the columns' own units.
 * Ring: open. A column is one of the study's space, or a plain coordinate where there is none; contexts come last. A
 * record has one number for each: the number itself, days since 1970-01-01 for a date, the index of a level. Of a local
 * study every point of the domain is given; of a central one a grid over the model that a release would have, the other
 * columns where they are asked for, else at the point that the release recommends. Nothing is released or stored by it.
 * Cost: at most 441 predictions, or one pass over the points. */
#include "service/open/engine/replica.h"

#include "core/fail.h"
#include "core/memory.h"
#include "local/open/internal.h"
#include "service/open/study/space_domain.h"
#include "space/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/ab/open/model.h>
#include <tacet/contextual/open/model.h>

enum { LINE = 61, SQUARE = 21, COLUMNS_MOST = 2 * TACET__DEFINITION_DIMS };

/* One column of the study, and where its coordinates lie. */
typedef struct view_column {
    const tacet_space_column *typed; /* NULL: a plain number, which is its own coordinate */
    char name[TACET_SPACE_NAME];
    double lo, hi;
    size_t at, dims;
    bool context;
} view_column;

typedef struct view {
    view_column columns[COLUMNS_MOST];
    size_t count, dims;
} view;

static void add_columns(view *v, const tacet_space *space, size_t dims, const double *lower, const double *upper,
                        bool context) {
    const size_t count = space->count > 0 ? space->count : dims;
    for (size_t i = 0; i < count && v->count < COLUMNS_MOST; i++) {
        view_column *c = &v->columns[v->count++];
        c->typed = space->count > 0 ? &space->columns[i] : NULL;
        c->lo = c->typed != NULL ? c->typed->lo : lower[i];
        c->hi = c->typed != NULL ? c->typed->hi : upper[i];
        c->dims = c->typed != NULL ? tacet_space_column_dims(c->typed) : 1;
        c->at = v->dims;
        c->context = context;
        v->dims += c->dims;
        if (c->typed != NULL) {
            memcpy(c->name, c->typed->name, sizeof c->name);
        } else {
            (void)snprintf(c->name, sizeof c->name, context ? "context %zu" : "x%zu", i + 1);
        }
    }
}

/* `lower` and `upper` are of all coordinates. */
static void describe_view(view *v, const tacet__definition *def, const double *lower, const double *upper) {
    *v = (view){0};
    add_columns(v, &def->space, def->d, lower, upper, false);
    add_columns(v, &def->context_space, def->context_dim, lower + def->d, upper + def->d, true);
}

static bool is_category(const view_column *c) {
    return c->typed != NULL && tacet_space_traits_of(c->typed)->levels;
}

static json_t *column_json(const view_column *c) {
    json_t *one = json_pack("{ss ss sb}", "name", c->name, "kind",
                            c->typed != NULL ? tacet_space_traits_of(c->typed)->name : "real", "context", c->context);
    json_t *more = is_category(c) ? json_array() : json_pack("[f, f]", c->lo, c->hi);
    for (size_t i = 0; is_category(c) && i < c->typed->level_count; i++) {
        (void)json_array_append_new(more, json_string(c->typed->levels[i]));
    }
    (void)json_object_set_new(one, is_category(c) ? "levels" : "bounds", more);
    return one;
}

static json_t *columns_json(const view *v) {
    json_t *all = json_array();
    for (size_t i = 0; i < v->count; i++) {
        (void)json_array_append_new(all, column_json(&v->columns[i]));
    }
    return all;
}

static void embed_column(const view_column *c, double *at, double value) {
    if (c->typed != NULL) {
        const tacet_space alone = {.columns = (tacet_space_column *)c->typed, .count = 1}; /* read only */
        tacet_space_embed(&alone, at + c->at, &value);
    } else {
        at[c->at] = value;
    }
}

/* Value i of n over the column, evenly as its kind is drawn: by factors on a log column, whole numbers and days. */
static double grid_value(const view_column *c, size_t i, size_t n) {
    const double share = n > 1 ? (double)i / (double)(n - 1) : 0.5;
    if (c->typed == NULL) {
        return c->lo + (c->hi - c->lo) * share;
    }
    const double x = tacet__space_along(c->typed, share);
    return is_category(c) ? (double)i : tacet_space_traits_of(c->typed)->whole ? nearbyint(x) : x;
}

static size_t grid_size(const view_column *c, size_t most) {
    const size_t values = c->typed != NULL ? tacet__space_values(c->typed, most) : most;
    return values < most ? values : most;
}

static bool add_point(json_t *points, const double *record, size_t count, double mean, double sd) {
    return json_array_append_new(points, json_pack("{so so so}", "at", tacet__reals_json(record, count), "mean",
                                                   isfinite(mean) ? json_real(mean) : json_null(), "sd",
                                                   isfinite(sd) ? json_real(sd) : json_null())) == 0;
}

/* The columns of a list of points, which says their bounds. */
static void describe_points(view *v, const tacet__definition *def) {
    double lower[COLUMNS_MOST] = {0}, upper[COLUMNS_MOST] = {0};
    for (size_t c = 0; c < def->d && def->space.count == 0; c++) {
        lower[c] = (double)INFINITY;
        upper[c] = -(double)INFINITY;
        for (size_t j = 0; j < def->count; j++) {
            lower[c] = fmin(lower[c], def->points[j * def->d + c]);
            upper[c] = fmax(upper[c], def->points[j * def->d + c]);
        }
    }
    describe_view(v, def, lower, upper);
}

/* Local: mean and sd at every point of the domain. */
static tacet_status at_points(const tacet__replica *r, tacet__job *job) {
    const tacet__definition *def = &r->def;
    const size_t columns = def->space.count > 0 ? def->space.count : def->d;
    const double *records = def->space.count > 0 ? def->records : def->points;
    const double *mean = NULL, *var = NULL;
    double shift = 0, scale = 0;
    view v;
    json_t *points = json_array();
    const size_t n = tacet__local_posterior(r->learner.policy, &mean, &var, &shift, &scale);
    bool good = n == def->count;
    describe_points(&v, def);
    for (size_t j = 0; good && j < n; j++) {
        good = add_point(points, records + j * columns, columns, tacet__definition_back(def, mean[j] + shift),
                         scale * sqrt(var[j]));
    }
    job->body = good ? json_pack("{ss so sO}", "kind", "points", "columns", columns_json(&v), "points", points) : NULL;
    json_decref(points);
    return job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory for a posterior");
}

/* Where the columns that are not varied stay: as asked, else at the recommended point, else in the middle. */
static tacet_status choose_record(double *record, const view *v, const tacet__definition *def, const tacet__job *job,
                                  const json_t *release, tacet_error *err) {
    const json_t *index = json_object_get(release, "index");
    double action[TACET__DEFINITION_DIMS], record_of[TACET__DEFINITION_DIMS];
    const bool known =
        json_is_integer(index) && tacet__domain_point(def, action, record_of, (uint64_t)json_integer_value(index));
    const double *best = def->space.count > 0 ? record_of : action;
    if (job->context_dim != 0 && job->context_dim != v->count) {
        return tacet__fail(err, TACET_INVALID, "'at' has %zu numbers, not %zu: one for each column", job->context_dim,
                           v->count);
    }
    for (size_t i = 0; i < v->count; i++) {
        const view_column *c = &v->columns[i];
        const double asked = job->context_dim != 0  ? job->context[i]
                             : known && !c->context ? best[i]
                                                    : grid_value(c, 0, 1);
        const double most = is_category(c) ? (double)(c->typed->level_count - 1) : c->hi;
        record[i] = fmin(fmax(asked, is_category(c) ? 0 : c->lo), most);
    }
    return TACET_OK;
}

/* What a release has: a function of coordinates, or a table of a study with contexts. */
typedef struct released {
    tacet_contextual_model *function;
    tacet_ab_model *table;
} released;

static tacet_status predict_record(const released *m, const view *v, double *mean, double *sd, const double *record,
                                   tacet_error *err) {
    double at[COLUMNS_MOST];
    size_t best = 0;
    if (m->table != NULL) {
        return tacet_ab_model_predict(m->table, mean, sd, NULL, record, 1, err);
    }
    const tacet_contextual_parts *parts = tacet_contextual_model_parts(m->function);
    for (size_t c = 0; c < v->count; c++) {
        embed_column(&v->columns[c], at, record[c]);
    }
    for (size_t c = 0; c < v->dims; c++) { /* rounding must not leave the box */
        at[c] = fmin(fmax(at[c], parts->lower[c]), parts->upper[c]);
    }
    *sd = parts->predicted_error;
    return tacet_contextual_predict(m->function, &best, mean, at, 1, err);
}

/* The grid over one or two columns. */
static tacet_status over_grid(const released *model, json_t *points, const view *v, double *record,
                              const tacet__job *job, tacet_error *err) {
    const bool flat = job->y != UINT64_MAX;
    if (job->x >= v->count || (flat && (job->y >= v->count || job->y == job->x))) {
        return tacet__fail(err, TACET_INVALID,
                           "'x', and 'y' where it is given, must be different columns: the last is %zu", v->count - 1);
    }
    const size_t nx = grid_size(&v->columns[job->x], flat ? SQUARE : LINE);
    const size_t ny = flat ? grid_size(&v->columns[job->y], SQUARE) : 1;
    for (size_t i = 0; i < nx * ny; i++) {
        double mean = 0, sd = 0;
        record[job->x] = grid_value(&v->columns[job->x], i % nx, nx);
        if (flat) {
            record[job->y] = grid_value(&v->columns[job->y], i / nx, ny);
        }
        TACET_OR_RETURN(predict_record(model, v, &mean, &sd, record, err));
        if (!add_point(points, record, v->count, mean, sd)) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a posterior");
        }
    }
    return TACET_OK;
}

/* The columns that a model is of. */
static tacet_status describe_model(view *v, const released *model, const tacet__definition *def, tacet_error *err) {
    if (model->table != NULL) {
        double lower[COLUMNS_MOST] = {0}, upper[COLUMNS_MOST] = {0};
        const tacet_space *space = tacet_ab_model_facts(model->table)->space;
        for (size_t i = 0; i < space->count && i < COLUMNS_MOST; i++) { /* one each, where columns are plain numbers */
            const size_t at = def->space.count > 0 && i >= def->space.count ? i - def->space.count + def->d : i;
            lower[at < COLUMNS_MOST ? at : 0] = space->columns[i].lo;
            upper[at < COLUMNS_MOST ? at : 0] = space->columns[i].hi;
        }
        describe_view(v, def, lower, upper);
        return v->count == space->count ? TACET_OK
                                        : tacet__fail(err, TACET_CORRUPT, "the model has other columns than the study");
    }
    const tacet_contextual_parts *m = tacet_contextual_model_parts(model->function);
    if (m->action_dim != def->d) {
        return tacet__fail(err, TACET_CORRUPT, "the model has other coordinates than the study");
    }
    describe_view(v, def, m->lower, m->upper);
    return TACET_OK;
}

static tacet_status draw_model(const tacet__replica *r, const released *model, const json_t *release, tacet__job *job) {
    double record[COLUMNS_MOST];
    view v;
    TACET_OR_RETURN(describe_model(&v, model, &r->def, &job->err));
    json_t *points = json_array();
    tacet_status status = choose_record(record, &v, &r->def, job, release, &job->err);
    json_t *through = status == TACET_OK ? tacet__reals_json(record, v.count) : NULL;
    TACET_THEN(status, over_grid(model, points, &v, record, job, &job->err));
    if (status == TACET_OK) {
        job->body =
            json_pack("{ss so sO sO}", "kind", "grid", "columns", columns_json(&v), "at", through, "points", points);
        status = job->body != NULL ? TACET_OK : tacet__fail(&job->err, TACET_NO_MEMORY, "out of memory");
    }
    json_decref(through);
    json_decref(points);
    return status;
}

/* Central: over the model that a release would have. */
static tacet_status from_release(const tacet__replica *r, tacet__job *job) {
    json_t *release = NULL;
    released model = {0};
    tacet_status status = r->kind->release(&r->learner, &r->def, &release, &job->err);
    const json_t *inner = json_object_get(release, "model");
    char *text = inner != NULL ? json_dumps(inner, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (status == TACET_OK && text == NULL) {
        status =
            tacet__fail(&job->err, TACET_STATE, "this study releases its best point alone, and no model of the others");
    }
    TACET_THEN(status, tacet_ab_model_is(text, strlen(text))
                           ? tacet_ab_model_decode(&model.table, text, strlen(text), &job->err)
                           : tacet_contextual_model_decode(&model.function, text, strlen(text), &job->err));
    if (job->figure != NULL && strcmp(job->figure, "variants") == 0) { /* drawn of the model itself */
        TACET_THEN(status, model.table != NULL ? TACET_OK : tacet__fail(&job->err, TACET_STATE, "it has no contexts"));
        job->body = status == TACET_OK ? json_incref((json_t *)(size_t)inner) : NULL; /* counted, not changed */
    } else {
        TACET_THEN(status, draw_model(r, &model, release, job));
    }
    free(text);
    json_decref(release);
    tacet_contextual_model_free(model.function);
    tacet_ab_model_free(model.table);
    return status;
}

/* ---- what was tried ---- */

/* The point of a suggestion by the names of the columns. */
static json_t *named_point(const view *v, const tacet__definition *def, const json_t *event) {
    json_t *point = json_object_get(event, "point");
    const size_t index = (size_t)json_integer_value(json_object_get(event, "index"));
    if (point != NULL || def->space.count > 0) {
        return json_incref(point);
    }
    json_t *made = json_object();
    for (size_t c = 0; index < def->count && c < v->count; c++) {
        (void)json_object_set_new(made, v->columns[c].name, json_real(def->points[index * def->d + c]));
    }
    return made;
}

static tacet_status view_tried_points(tacet__replica *r, tacet__job *job) {
    json_t *events = NULL;
    view v;
    if (!r->kind->index_public || (r->def.space.count == 0 && r->def.points == NULL)) {
        return tacet__fail(&job->err, TACET_STATE, "which points this study tries is shown to nobody");
    }
    const tacet_status status = tacet__replica_recent(r, &events, &job->err);
    json_t *rounds = json_array();
    describe_points(&v, &r->def);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *e = json_array_get(events, i);
        if (json_object_get(e, "index") != NULL) {
            (void)json_array_append_new(rounds, json_pack("{sO so}", "number", json_object_get(e, "number"), "point",
                                                          named_point(&v, &r->def, e)));
        }
    }
    json_decref(events);
    job->body = json_pack("{so so}", "columns", columns_json(&v), "rounds", rounds);
    return status;
}

tacet_status tacet__replica_posterior(tacet__replica *r, tacet__job *job) {
    if (job->kind == TACET__JOB_TRIED) {
        return view_tried_points(r, job);
    }
    return r->def.trust == TACET_TRUST_LOCAL ? at_points(r, job) : from_release(r, job);
}
