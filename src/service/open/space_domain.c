/* space_domain.c - studies over a space: candidates, their coordinates, and points in the columns' own units.
 * Ring: open. Choosing among candidates is post-processing of what the policy knows, whatever candidates there are, as
 * long as they are public: here they follow from the definition alone. Cost: candidates x coordinates, once. */
#include "service/open/space_domain.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The usual lengthscales, in coordinates: a quarter of the range of a number; whole numbers and levels share much of
 * their shape. Chosen on made-up tuning problems (docs/tutorials/tuning.md). */
static const double USUAL_NUMBER = 0.5;
static const double USUAL_INTEGER = 1.5;
static const double USUAL_LEVEL = 2;

static double usual_scale(const tacet_space_column *c) {
    return c->kind == TACET_SPACE_CATEGORY  ? USUAL_LEVEL
           : c->kind == TACET_SPACE_INTEGER ? USUAL_INTEGER
                                            : USUAL_NUMBER;
}

static tacet_status read_text(tacet_space *out, const json_t *space, tacet_error *err) {
    tacet_error why = {0};
    char *text = json_dumps(space, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    const tacet_status status =
        text != NULL ? tacet_space_decode(out, text, strlen(text), &why) : TACET_NO_MEMORY;
    free(text);
    return status == TACET_OK          ? TACET_OK
           : status == TACET_NO_MEMORY ? tacet__fail(err, status, "out of memory reading a study")
                                       : tacet__fail(err, TACET_PARSE, "study: %.200s", why.message);
}

tacet_status tacet__space_domain_read(tacet__definition *def, const json_t *space, size_t candidates,
                                      tacet_error *err) {
    tacet_status status = read_text(&def->space, space, err);
    if (status != TACET_OK) {
        return status;
    }
    for (size_t i = 0; i < def->space.count; i++) {
        tacet_space_column *c = &def->space.columns[i];
        c->unit = c->kind == TACET_SPACE_CATEGORY ? 1 : 0; /* coordinates from -1 to 1, whatever the unit */
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
    def->records = TACET__ZALLOC(double, candidates *def->space.count);
    def->points = TACET__ZALLOC(double, candidates *def->d);
    if (def->records == NULL || def->points == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study");
    }
    status = tacet_space_spread(&def->space, def->records, &def->count, candidates, err);
    for (size_t i = 0; i < def->count && status == TACET_OK; i++) {
        tacet_space_embed(&def->space, def->points + i * def->d, def->records + i * def->space.count);
    }
    return status == TACET_OK && def->count < 2
               ? tacet__fail(err, TACET_PARSE, "study: the space has fewer than two points")
               : status;
}

json_t *tacet__space_domain_json(const tacet__definition *def) {
    char *text = NULL;
    if (tacet_space_encode(&def->space, &text, NULL) != TACET_OK) {
        return NULL;
    }
    json_t *domain =
        json_pack("{so sI}", "space", json_loads(text, 0, NULL), "candidates", (json_int_t)def->candidates);
    free(text);
    return domain;
}

json_t *tacet__space_domain_point(const tacet__definition *def, size_t index) {
    if (def->space.count == 0 || index >= def->count) {
        return NULL;
    }
    json_t *point = json_object();
    for (size_t i = 0; i < def->space.count && point != NULL; i++) {
        const tacet_space_column *c = &def->space.columns[i];
        const double value = def->records[index * def->space.count + i];
        char text[TACET_SPACE_NAME];
        tacet_space_text(c, text, value);
        json_t *cell = c->kind == TACET_SPACE_REAL || c->kind == TACET_SPACE_LOG ? json_real(value)
                       : c->kind == TACET_SPACE_INTEGER                          ? json_integer((json_int_t)value)
                                                                                 : json_string(text);
        if (json_object_set_new(point, c->name, cell) != 0) {
            json_decref(point);
            return NULL;
        }
    }
    return point;
}

tacet_status tacet__space_domain_scales(tacet__definition *def, tacet_error *err) {
    const size_t given = def->lengthscale_count;
    if (given == 1 || given == def->d) {
        return TACET_OK;
    }
    if (given != 0 && given != def->space.count) {
        return tacet__fail(err, TACET_INVALID,
                           "study: prior.lengthscale must be one number, or one for each column of the space");
    }
    double *scales = TACET__ZALLOC(double, def->d);
    if (scales == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a study");
    }
    for (size_t i = 0, at = 0; i < def->space.count; i++) {
        const tacet_space_column *c = &def->space.columns[i];
        const double usual = usual_scale(c);
        for (size_t j = 0; j < tacet_space_column_dims(c); j++) {
            scales[at++] = given > 0 ? def->lengthscales[i] : usual;
        }
    }
    free(def->lengthscales);
    def->lengthscales = scales;
    def->lengthscale_count = def->d;
    return TACET_OK;
}
