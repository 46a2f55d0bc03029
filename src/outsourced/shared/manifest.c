/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.c - the manifest of a release as JSON. Its sentences: words.c.
 * Ring: shared. */
#include "outsourced/shared/release_text.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/json_text.h"
#include "outsourced/shared/form.h"
#include "space/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "outsourced/shared/coordinates.h"

static const char FORMAT[] = "tacet-release-1";
static const size_t MOST_ROWS = SIZE_MAX / 4096;
enum { MOST_DIMS = 4096 };

void tacet_manifest_init(tacet_manifest *manifest) {
    memset(manifest, 0, sizeof *manifest);
    for (size_t i = 0; i < TACET_MANIFEST_DISTANCES; i++) {
        manifest->eps_at[i] = (double)NAN;
    }
}

void tacet_manifest_clear(tacet_manifest *manifest) {
    if (manifest != NULL) {
        free(manifest->columns);
        tacet_space_clear(&manifest->space);
        tacet_manifest_init(manifest);
    }
}

const tacet_law *tacet_manifest_law(const tacet_manifest *m) {
    const tacet__form *form = tacet__form_find(m->mechanism);
    return form != NULL ? form->law : NULL;
}

/* Whether the law is stated by a scale, besides the standard deviation. */
static bool has_scale(const tacet_manifest *m) {
    const tacet_law *law = tacet_manifest_law(m);
    return law != NULL && law->density == TACET_DENSITY_EUCLIDEAN;
}

static bool is_pure(const tacet_manifest *m) {
    const tacet_law *law = tacet_manifest_law(m);
    return law != NULL && law->pure;
}

/* Neighbours are 1 apart in scaled units, and what rounding adds: of text and scaling (2^-49 of the largest numbers,
 * see the curator), and to the grid. */
double tacet_manifest_pure_eps(const tacet_manifest *m) {
    double largest = 0;
    if (is_pure(m)) {
        return m->eps;
    }
    if (!m->is_private || !has_scale(m) || !(m->scale > 0)) {
        return INFINITY;
    }
    for (size_t i = 0; i < m->column_count; i++) {
        largest += fmax(fabs(m->columns[i].lo), fabs(m->columns[i].hi)) / m->columns[i].unit;
    }
    return (1 + 0x1p-47 * largest + 2 * m->grid * sqrt((double)m->dims)) / m->scale;
}

/* Bounds, unit and noise of the numbers, in their own units: of a log column factors, of a date days. */
static json_t *columns_json(const tacet_manifest *m) {
    json_t *columns = json_array();
    for (size_t i = 0, at = 0; i < m->space.count; i++) {
        const tacet_space_column *c = &m->space.columns[i];
        if (tacet_space_traits_of(c)->levels) {
            continue;
        }
        const double noise = m->columns[at++].unit * m->sigma;
        json_t *column = json_pack("{ss sf sf sf}", "name", c->name, "lower", c->lo, "upper", c->hi, "unit", c->unit);
        if (column != NULL && !tacet_manifest_projects(m)) {
            (void)json_object_set_new(column, "noise", json_real(tacet__space_shrink(c, noise)));
        }
        if (json_array_append_new(columns, column) != 0) {
            json_decref(columns);
            return NULL;
        }
    }
    return columns;
}

/* The space, what became of each category, and eps at several distances. */
static bool set_space(json_t *root, const tacet_manifest *m) {
    static const char *const DISTANCES[TACET_MANIFEST_DISTANCES] = {"1", "2", "3", "any"};
    json_t *at = json_object();
    bool good = at != NULL;
    for (size_t i = 0; i < TACET_MANIFEST_DISTANCES && good; i++) {
        good = !isfinite(m->eps_at[i]) || json_object_set_new(at, DISTANCES[i], json_real(m->eps_at[i])) == 0;
    }
    good = good && (json_object_size(at) == 0 || json_object_set(root, "eps_at", at) == 0);
    json_decref(at);
    char *noise = tacet_manifest_noise(m);
    good = good && noise != NULL && json_object_set_new(root, "noise", json_string(noise)) == 0;
    free(noise);
    char *text = NULL;
    good = good && tacet_space_encode(&m->space, &text, NULL) == TACET_OK &&
           json_object_set_new(root, "space", json_loads(text, 0, NULL)) == 0;
    free(text);
    json_t *levels = json_array();
    for (size_t i = 0; i < tacet_space_categories(&m->space) && good; i++) {
        tacet_manifest_level level;
        tacet_manifest_level_of(&level, &m->space, i, m->eps);
        good = json_array_append_new(levels, json_pack("{ss sb sI sf}", "name", m->space.columns[level.column].name,
                                                       "missing_flag", (int)level.flag, "levels",
                                                       (json_int_t)level.levels, "keep", level.keep)) == 0;
    }
    return json_object_set_new(root, "levels", levels) == 0 && good;
}

/* What else was considered, and the noise it would have had. */
static void set_others(json_t *root, const tacet_manifest *m) {
    json_t *others = json_array();
    for (size_t i = 0; i < m->other_count; i++) {
        tacet_manifest other = *m; /* borrowed, for its words */
        other.sigma = m->others[i].sigma;
        char *noise = tacet_manifest_noise(&other);
        (void)json_array_append_new(others, json_pack("{ss sf ss}", "mechanism", m->others[i].mechanism, "sigma",
                                                      m->others[i].sigma, "noise", noise != NULL ? noise : ""));
        free(noise);
    }
    if (root != NULL && m->other_count > 0) {
        (void)json_object_set(root, "considered", others);
    }
    json_decref(others);
}

tacet_status tacet_manifest_encode(const tacet_manifest *m, char **out, tacet_error *err) {
    static const char MADE_UP[] = "manifest: a name is not UTF-8, or a number is not finite";
    *out = NULL;
    if (tacet__form_find(m->mechanism) == NULL) {
        return tacet__fail(err, TACET_INVALID, "manifest: the mechanism is none of %s", tacet__form_names);
    }
    if (has_scale(m) && !isfinite(m->scale)) {
        return tacet__fail(err, TACET_INVALID, "%s", MADE_UP);
    }
    char *protects = tacet_manifest_protects(m);
    char *uncovered = tacet_manifest_uncovered(m);
    json_t *outputs = m->outputs_private
                          ? json_pack("{ss sf sf sf}", "mechanism", tacet_ldp_name(m->outputs.kind), "eps",
                                      m->outputs.eps, "lower", m->outputs.lo, "upper", m->outputs.hi)
                          : json_pack("{ss}", "mechanism", "none");
    json_t *root =
        json_pack("{ss ss sb sf sf sf sf sI sI so ss? ss? so sI s{sI ss}}", "format", FORMAT, "mechanism", m->mechanism,
                  "private", (int)m->is_private, "eps", m->eps, "delta", m->delta, "sigma", m->sigma, "grid", m->grid,
                  "rows", (json_int_t)m->rows, "dims", (json_int_t)m->dims, "columns", columns_json(m), "protects",
                  protects, "uncovered", uncovered, "outputs", outputs, "queries", (json_int_t)m->queries, "receipt",
                  "entry", (json_int_t)m->entry, "hash", m->entry_hash);
    if (root != NULL && m->new_budget[0] != '\0') {
        (void)json_object_set_new(root, "new_budget", json_string(m->new_budget));
    }
    set_others(root, m);
    if (root != NULL && has_scale(m)) {
        (void)json_object_set_new(root, "scale", json_real(m->scale));
    }
    if (root != NULL && !m->is_private) {
        (void)json_object_set_new(root, "stamp", json_string(TACET_MANIFEST_STAMP));
    }
    if (root != NULL && m->person_rows > 0) {
        (void)json_object_set_new(root, "person",
                                  json_pack("{ss sI sf sf}", "column", m->person, "rows", (json_int_t)m->person_rows,
                                            "eps", m->person_eps, "delta", m->person_delta));
    }
    const bool whole = root != NULL && set_space(root, m);
    if (whole && protects != NULL && uncovered != NULL) {
        *out = tacet__json_text(root, 2);
    }
    const bool made_up = root == NULL && protects != NULL && uncovered != NULL;
    json_decref(root);
    free(protects);
    free(uncovered);
    if (made_up) {
        return tacet__fail(err, TACET_INVALID, "%s", MADE_UP);
    }
    return *out != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory writing a manifest");
}

/* The reader: the first field that is not as it should be is named in err, and all later ones are passed over. */
typedef struct reading {
    tacet_error *err;
    tacet_status status;
} reading;

static void complain(reading *r, const char *field, const char *rule) {
    if (r->status == TACET_OK) {
        r->status = tacet__fail(r->err, TACET_PARSE, "manifest: field '%s' %s", field, rule);
    }
}

static double real_of(reading *r, const json_t *object, const char *field, double least) {
    const json_t *value = json_object_get(object, field);
    const double x = json_number_value(value);
    if (!json_is_number(value) || !isfinite(x) || !(x >= least)) {
        complain(r, field, "is missing or not a number in its range");
        return 0;
    }
    return x;
}

static size_t count_of(reading *r, const json_t *object, const char *field, size_t least, size_t most) {
    const json_t *value = json_object_get(object, field);
    const json_int_t x = json_integer_value(value);
    if (!json_is_integer(value) || x < 0 || (uint64_t)x < least || (uint64_t)x > most) {
        complain(r, field, "is missing or not a whole number in its range");
        return 0;
    }
    return (size_t)x;
}

static void text_of(reading *r, const json_t *object, const char *field, char *out, size_t size) {
    const char *value = json_string_value(json_object_get(object, field));
    if (value == NULL || strlen(value) >= size) {
        complain(r, field, "is missing or too long");
        return;
    }
    memcpy(out, value, strlen(value) + 1);
}

/* The columns repeat the numbers of the space for people, with their noise: another name there is a sign of a
 * manifest that was put together. */
static bool same_columns(const tacet_manifest *m, const json_t *columns) {
    bool same = json_array_size(columns) == m->column_count;
    for (size_t i = 0; i < m->column_count && same; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(columns, i), "name"));
        same = name != NULL && strcmp(name, m->columns[i].name) == 0;
    }
    return same;
}

static void read_space(reading *r, tacet_manifest *m, const json_t *root) {
    const size_t dims = m->dims;
    tacet_error why = {0};
    tacet_space space;
    if (r->status != TACET_OK) {
        return;
    }
    char *text = json_dumps(json_object_get(root, "space"), JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (text == NULL) {
        complain(r, "space", "is missing");
        return;
    }
    tacet_status status = tacet_space_decode(&space, text, strlen(text), &why);
    TACET_THEN(status, tacet_manifest_describe(m, &space, &why));
    free(text);
    tacet_space_clear(&space);
    if (status != TACET_OK) {
        r->status = tacet__fail(r->err, status == TACET_NO_MEMORY ? status : TACET_PARSE, "manifest: %.200s",
                                why.message[0] != '\0' ? why.message : "out of memory");
    } else if (m->dims != dims || !same_columns(m, json_object_get(root, "columns"))) {
        complain(r, "space", "is not what columns and dims say");
    }
}

static void read_distances(reading *r, tacet_manifest *m, const json_t *root) {
    static const char *const DISTANCES[TACET_MANIFEST_DISTANCES] = {"1", "2", "3", "any"};
    const json_t *at = json_object_get(root, "eps_at");
    for (size_t i = 0; at != NULL && i < TACET_MANIFEST_DISTANCES; i++) {
        m->eps_at[i] = json_object_get(at, DISTANCES[i]) != NULL ? real_of(r, at, DISTANCES[i], 0) : (double)NAN;
    }
}

static void read_outputs(reading *r, tacet_manifest *m, const json_t *root) {
    char name[TACET_MANIFEST_NAME] = "";
    const json_t *outputs = json_object_get(root, "outputs");
    tacet_ldp_kind kind = TACET_LDP_HYBRID;
    text_of(r, outputs, "mechanism", name, sizeof name);
    if (r->status != TACET_OK || strcmp(name, "none") == 0) {
        return;
    }
    const double eps = real_of(r, outputs, "eps", 0);
    const double lo = real_of(r, outputs, "lower", -INFINITY);
    const double hi = real_of(r, outputs, "upper", -INFINITY);
    if (r->status == TACET_OK && (tacet_ldp_parse(&kind, name, NULL) != TACET_OK ||
                                  tacet_ldp_init(&m->outputs, kind, eps, lo, hi, NULL) != TACET_OK)) {
        complain(r, "outputs", "names an impossible randomiser");
    }
    m->outputs_private = r->status == TACET_OK;
}

static void read_mechanism(reading *r, tacet_manifest *m, const json_t *root) {
    text_of(r, root, "mechanism", m->mechanism, sizeof m->mechanism);
    const tacet__form *form = tacet__form_find(m->mechanism);
    if (form == NULL) {
        complain(r, "mechanism", "is none that this version knows");
        return;
    }
    const json_t *is_private = json_object_get(root, "private");
    if (!json_is_boolean(is_private)) {
        complain(r, "private", "is missing or neither true nor false");
    }
    m->is_private = json_is_true(is_private);
    if (form->law == NULL && m->is_private) {
        complain(r, "private", "is true for the published mechanism, which is not");
    }
}

/* The law in one number, and the others as they follow from it. */
static void read_scale(reading *r, tacet_manifest *m, const json_t *root) {
    m->scale = real_of(r, root, "scale", 0);
    /* levels beside the numbers have no such noise */
    const size_t numbers = tacet_manifest_projects(m) ? m->dims : json_array_size(json_object_get(root, "columns"));
    const double sigma = tacet_manifest_law(m)->spread(m->scale, numbers);
    if (!(m->scale > 0) && numbers > 0) {
        complain(r, "scale", "is not above 0");
    }
    if (!(fabs(m->sigma - sigma) <= 1e-6 * sigma)) {
        complain(r, "sigma", "is not what scale and dims make it");
    }
}

static void read_others(reading *r, tacet_manifest *m, const json_t *root) {
    const json_t *others = json_object_get(root, "considered");
    if (others == NULL) {
        return;
    }
    if (!json_is_array(others) || json_array_size(others) > TACET_MANIFEST_OTHERS) {
        complain(r, "considered", "is not a short list");
        return;
    }
    for (size_t i = 0; i < json_array_size(others); i++) {
        const json_t *other = json_array_get(others, i);
        text_of(r, other, "mechanism", m->others[i].mechanism, sizeof m->others[i].mechanism);
        m->others[i].sigma = real_of(r, other, "sigma", 0);
    }
    m->other_count = json_array_size(others);
}

static void read_person(reading *r, tacet_manifest *m, const json_t *root) {
    const json_t *person = json_object_get(root, "person");
    if (person == NULL) {
        return;
    }
    text_of(r, person, "column", m->person, sizeof m->person);
    m->person_rows = count_of(r, person, "rows", 1, MOST_ROWS);
    m->person_eps = real_of(r, person, "eps", 0);
    m->person_delta = real_of(r, person, "delta", 0);
    if (m->person_eps < m->eps || m->person_delta < m->delta) {
        complain(r, "person", "is said to cost less than a row");
    }
}

tacet_status tacet_manifest_decode(tacet_manifest *out, const char *text, size_t length, tacet_error *err) {
    json_error_t where;
    char format[TACET_MANIFEST_NAME] = "";
    reading r = {.err = err};
    tacet_manifest_init(out);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(root)) {
        json_decref(root);
        return tacet__fail(err, TACET_PARSE, "manifest: not a JSON object (line %d)", where.line);
    }
    text_of(&r, root, "format", format, sizeof format);
    if (strcmp(format, FORMAT) != 0) {
        complain(&r, "format", "is not one this version reads");
    }
    read_mechanism(&r, out, root);
    out->eps = real_of(&r, root, "eps", 0);
    out->delta = real_of(&r, root, "delta", 0);
    read_person(&r, out, root);
    out->sigma = real_of(&r, root, "sigma", 0);
    out->grid = real_of(&r, root, "grid", 0);
    out->rows = count_of(&r, root, "rows", 1, MOST_ROWS);
    out->dims = count_of(&r, root, "dims", 1, MOST_DIMS);
    if (r.status == TACET_OK && has_scale(out)) {
        read_scale(&r, out, root);
    }
    if (r.status == TACET_OK && is_pure(out) && out->delta != 0) {
        complain(&r, "delta", "is not 0, as it is for laplace");
    }
    out->queries = count_of(&r, root, "queries", 0, SIZE_MAX / 2);
    if (json_object_get(root, "new_budget") != NULL) {
        text_of(&r, root, "new_budget", out->new_budget, sizeof out->new_budget);
    }
    const json_t *receipt = json_object_get(root, "receipt");
    out->entry = count_of(&r, receipt, "entry", 0, INT64_MAX);
    text_of(&r, receipt, "hash", out->entry_hash, sizeof out->entry_hash);
    read_others(&r, out, root);
    read_space(&r, out, root);
    read_distances(&r, out, root);
    read_outputs(&r, out, root);
    json_decref(root);
    if (r.status != TACET_OK) {
        tacet_manifest_clear(out);
    }
    return r.status;
}
