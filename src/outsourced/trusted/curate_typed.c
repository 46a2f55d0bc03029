/* SPDX-License-Identifier: Apache-2.0 */
/* curate_typed.c - records of typed columns on their way to the gate.
 * Ring: trusted. In: cells of a CSV, as text. Out: scaled numbers and indices of levels, and the mechanism for both.
 * The metric and why it covers a whole record: src/space/README.md; the proof of the release: src/outsourced/README.md.
 * Cost: a pass over the text, cell by cell. */
#include "io/csv/internal.h"
#include "outsourced/trusted/curate_job.h"

#include "core/fail.h"
#include "core/memory.h"
#include "outsourced/shared/form.h"
#include "space/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include "outsourced/shared/typed.h"

tacet_status tacet__curate_typed_check(const tacet_curate_settings *s, tacet_error *err) {
    const tacet_space *space = s->space;
    if (space->count == 0 || tacet_typed_numbers(space) + tacet_typed_levels(space) > TACET_MANIFEST_COLUMNS) {
        return tacet__fail(err, TACET_INVALID, "a release has 1 to %d columns, missing flags counted",
                           TACET_MANIFEST_COLUMNS);
    }
    const tacet__form *form = tacet__form_at((size_t)s->mechanism);
    if (form == NULL || form->law == NULL || form->projects) {
        return tacet__fail(err, TACET_INVALID, "typed columns are released by gaussian or laplace noise, not by %s",
                           form != NULL ? form->name : "an unknown mechanism");
    }
    for (size_t i = 0; i < space->count; i++) {
        if (space->columns[i].unit == 0) {
            return tacet__fail(err, TACET_INVALID, "column '%s' needs a unit: what counts as distance 1",
                               space->columns[i].name);
        }
    }
    return TACET_OK;
}

void tacet__curate_split(const tacet__curate *job, double *out, const double *records, size_t count) {
    const size_t levels = job->dims - job->numbers;
    for (size_t j = 0; j < count; j++) {
        tacet_typed_split(job->settings->space, out + j * job->numbers, out + count * job->numbers + j * levels,
                          records + j * job->d);
    }
}

tacet_status tacet__curate_typed_row(const tacet__curate *job, const tacet_csv *block, const size_t *columns,
                                     double *record, tacet_error *err) {
    for (size_t i = 0; i < job->d; i++) {
        size_t length = 0;
        tacet_error why = {0};
        const char *text = tacet_csv_field(block, columns[i], &length);
        const tacet_status status =
            tacet_space_cell(&job->settings->space->columns[i], &record[i], NULL, text, length, &why);
        if (status != TACET_OK) {
            return tacet__fail(err, status, "%s: line %llu: %s", tacet_csv_input(block),
                               (unsigned long long)tacet_csv_line(block), why.message);
        }
    }
    return TACET_OK;
}

tacet_status tacet__curate_typed_rows(const tacet__curate *job, tacet_csv *block, const size_t *columns,
                                      double *records, size_t *got, size_t most, tacet_error *err) {
    bool found = false;
    tacet_status status = TACET_OK;
    *got = 0;
    while ((status = tacet_csv_next(block, &found, err)) == TACET_OK && found) {
        if (most > 0 && *got == most) {
            return tacet__fail(err, TACET_STATE, "%s: the table changed while it was read", tacet__curate_table(job));
        }
        double *record = records + (most > 0 ? *got * job->d : 0);
        status = tacet__curate_typed_row(job, block, columns, record, err);
        if (status != TACET_OK) {
            return status;
        }
        ++*got;
    }
    return status;
}

/* How far two equal records may come apart before the noise, in scaled units: text is read, logarithms are taken, and
 * numbers are scaled in doubles. Errors of one column, before the factor of 2^-51. */
static double rounding_of(const tacet_space_column *c) {
    const double width = tacet__space_stretch(c, c->hi) - tacet__space_stretch(c, c->lo);
    return (tacet_space_traits_of(c)->rounding(c->lo, c->hi) + 4 * width) / tacet__space_stretch(c, c->unit);
}

tacet_status tacet__curate_typed_mechanism(tacet__curate *job, tacet_error *err) {
    const tacet_curate_settings *s = job->settings;
    const tacet_space *space = s->space;
    const size_t level_count = job->dims - job->numbers;
    double *upper = TACET__ZALLOC(double, job->numbers + 1);
    double *lower = TACET__ZALLOC(double, job->numbers + 1);
    size_t *levels = TACET__ZALLOC(size_t, level_count + 1);
    tacet_neighbours neighbours = {.relation = TACET_RELATION_MOVE, .move = 1};
    tacet_mechanism_kind kind = 0;
    tacet_status status = TACET_OK;
    if (upper == NULL || lower == NULL || levels == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", job->d);
        goto done;
    }
    double slack = 0;
    for (size_t i = 0, at = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (!tacet_space_traits_of(c)->levels) {
            const tacet_space one = {(tacet_space_column *)(size_t)c, 1};
            double low[2];
            double high[2];
            tacet_space_box(&one, low, high);
            lower[at] = low[0];
            upper[at++] = high[0];
            slack = hypot(slack, rounding_of(c));
        }
    }
    neighbours.move += 0x1p-51 * slack;
    for (size_t i = 0; i < level_count; i++) {
        tacet_typed_level level;
        tacet_typed_level_of(&level, space, i, s->eps);
        levels[i] = level.levels;
    }
    if (job->numbers == 0) {
        status = tacet_mechanism_response(&job->mechanism, levels, level_count, s->eps, err);
        goto done;
    }
    status = tacet_bound_box(&job->bound, lower, upper, job->numbers, err);
    TACET_THEN(status, tacet_mechanism_of_law(&kind, tacet__form_at((size_t)s->mechanism)->law, err));
    TACET_THEN(status, tacet_mechanism_create(&job->mechanism, kind, job->bound, &neighbours, s->eps, s->delta, err));
    if (status == TACET_OK && level_count > 0) {
        status = tacet_mechanism_add_levels(job->mechanism, levels, level_count, err);
    }
done:
    free(upper);
    free(lower);
    free(levels);
    return status;
}

/* eps of a move of the numbers by `distance`, under the release's own noise. Euclidean noise has a pure eps, which
 * grows as the distance does, whether a delta was used or not. */
static double eps_of_move(const tacet__curate *job, double distance) {
    const tacet_curate_settings *s = job->settings;
    const tacet_law *law = tacet__form_at((size_t)s->mechanism)->law;
    double mu = 0;
    double eps = (double)NAN;
    if (distance <= 0) {
        return 0;
    }
    if (distance <= 1) {
        return s->eps;
    }
    if (law->pure) {
        return s->eps * distance;
    }
    if (law->density == TACET_DENSITY_EUCLIDEAN) {
        const double scale = tacet_mechanism_scale(job->mechanism);
        return nextafter(tacet_mechanism_sensitivity(job->mechanism) / scale, INFINITY) * distance;
    }
    return law->density == TACET_DENSITY_NORMAL && tacet_gdp_mu(&mu, s->eps, s->delta, NULL) == TACET_OK &&
                   tacet_gdp_eps(&eps, mu * distance, s->delta, NULL) == TACET_OK
               ? eps
               : (double)NAN;
}

/* At distance D, k levels differ and the numbers have moved by D - k: the dearest k. */
static double eps_at_distance(const tacet__curate *job, double distance, size_t categories, double widest) {
    double most = 0;
    for (size_t k = 0; k <= categories && (double)k <= distance; k++) {
        const double move = fmin(distance - (double)k, widest);
        most = fmax(most, (double)k * job->settings->eps + eps_of_move(job, move));
    }
    return most;
}

void tacet__curate_distances(const tacet__curate *job, tacet_manifest *m) {
    const tacet_curate_settings *s = job->settings;
    const size_t categories = job->dims - job->numbers;
    double widest = 0;
    for (size_t i = 0; i < m->column_count; i++) {
        widest = hypot(widest, (m->columns[i].hi - m->columns[i].lo) / m->columns[i].unit);
    }
    widest *= 1 + 1e-12; /* above what computing it rounds */
    for (size_t i = 0; i + 1 < TACET_MANIFEST_DISTANCES; i++) {
        m->eps_at[i] = eps_at_distance(job, (double)(i + 1), categories, widest);
    }
    m->eps_at[0] = s->eps;
    m->eps_at[TACET_MANIFEST_DISTANCES - 1] =
        fmax(eps_at_distance(job, widest + (double)categories, categories, widest), s->eps);
}

void tacet_curate_take_space(tacet_curate_settings *s, tacet_manifest_column *columns, const tacet_space *space) {
    bool plain = space->count <= TACET_MANIFEST_COLUMNS;
    for (size_t i = 0; i < space->count && plain; i++) {
        const tacet_space_column *c = &space->columns[i];
        const tacet_space_traits *kind = tacet_space_traits_of(c);
        plain = !kind->levels && !kind->whole && !kind->factor && c->missing == TACET_SPACE_REFUSED;
        memcpy(columns[i].name, c->name, sizeof columns[i].name);
        columns[i].lo = c->lo;
        columns[i].hi = c->hi;
        columns[i].unit = c->unit;
    }
    s->columns = columns;
    s->column_count = space->count;
    s->space = plain ? NULL : space;
}
