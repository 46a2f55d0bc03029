/* SPDX-License-Identifier: Apache-2.0 */
/* curate_mechanism.c - the mechanism of a release: how far a record moves what is released, and the noise for it.
 * Ring: trusted; sees no record. Proof: src/outsourced/README.md. Cost: one calibration. */
#include "outsourced/trusted/curate_shape.h"

#include "core/fail.h"
#include "core/memory.h"
#include "outsourced/shared/coordinates.h"
#include "space/internal.h"

#include <math.h>
#include <stdlib.h>
#include <tacet/dp/open/calibrate.h>

static double norm_of(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum = hypot(sum, x[i]);
    }
    return sum;
}

/* How far apart two records at distance 1 come in scaled numbers, doubles counted in, and the box that these lie in.
 * Reading text and stretching rounds each number of either record, by what its kind says; much, where numbers are large
 * for their unit. Scaling rounds twice, numbers of up to half a width: two records come closer or further apart by up
 * to 2^-51 of it, and the unit of a stretched column was rounded itself, by 2^-52 of the distance. */
static double move_and_box(const tacet_space *space, double *lower, double *upper, double *rounding) {
    size_t numbers = 0;
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        const tacet_space_traits *kind = tacet_space_traits_of(c);
        if (!kind->levels) {
            const double unit = tacet__space_stretch(c, c->unit);
            rounding[numbers] = kind->rounding(c->lo, c->hi) / unit;
            upper[numbers] = (tacet__space_stretch(c, c->hi) / 2 - tacet__space_stretch(c, c->lo) / 2) / unit;
            lower[numbers] = -upper[numbers];
            numbers++;
        }
    }
    return 1 + 0x1p-51 * norm_of(rounding, numbers) + 0x1p-49 * norm_of(upper, numbers);
}

tacet_status tacet__curate_mechanism(tacet_mechanism **out, tacet_bound **bound, const tacet__curate_shape *shape,
                                     const tacet_curate_settings *s, tacet_error *err) {
    const size_t level_count = shape->dims - shape->numbers;
    const size_t room = shape->numbers + 1;
    double *upper = TACET__ZALLOC(double, room);
    double *lower = TACET__ZALLOC(double, room);
    double *rounding = TACET__ZALLOC(double, room);
    size_t *levels = TACET__ZALLOC(size_t, level_count + 1);
    tacet_neighbours neighbours = {.relation = TACET_RELATION_MOVE, .move = 1};
    tacet_mechanism_kind kind = 0;
    tacet_status status = tacet_mechanism_of_law(&kind, tacet_curate_law(s->mechanism), err);
    if (upper == NULL || lower == NULL || rounding == NULL || levels == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", shape->d);
    }
    if (status != TACET_OK) {
        goto done;
    }
    for (size_t i = 0; i < level_count; i++) {
        tacet_manifest_level level;
        tacet_manifest_level_of(&level, shape->space, i, s->eps);
        levels[i] = level.levels;
    }
    if (shape->numbers == 0) {
        status = tacet_mechanism_response(out, levels, level_count, s->eps, err);
        goto done;
    }
    neighbours.move = move_and_box(shape->space, lower, upper, rounding);
    status = tacet_bound_box(bound, lower, upper, shape->numbers, err);
    TACET_THEN(status, tacet_mechanism_create(out, kind, *bound, &neighbours, s->eps, s->delta, err));
    if (status == TACET_OK && level_count > 0) {
        status = tacet_mechanism_add_levels(*out, levels, level_count, err);
    }
done:
    free(upper);
    free(lower);
    free(rounding);
    free(levels);
    return status;
}

/* eps of a move of the numbers by `distance`, under the release's own noise. Euclidean noise has a pure eps, which
 * grows as the distance does, whether a delta was used or not. */
static double eps_of_move(const tacet_curate_settings *s, const tacet_mechanism *mechanism, double distance) {
    const tacet_law *law = tacet_curate_law(s->mechanism);
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
        const double scale = tacet_mechanism_scale(mechanism);
        return nextafter(tacet_mechanism_sensitivity(mechanism) / scale, INFINITY) * distance;
    }
    return law->density == TACET_DENSITY_NORMAL && tacet_gdp_mu(&mu, s->eps, s->delta, NULL) == TACET_OK &&
                   tacet_gdp_eps(&eps, mu * distance, s->delta, NULL) == TACET_OK
               ? eps
               : (double)NAN;
}

/* At distance D, k levels differ and the numbers have moved by D - k: the dearest k. */
static double eps_at_distance(const tacet_curate_settings *s, const tacet_mechanism *mechanism, double distance,
                              size_t categories, double widest) {
    double most = 0;
    for (size_t k = 0; k <= categories && (double)k <= distance; k++) {
        const double move = fmin(distance - (double)k, widest);
        most = fmax(most, (double)k * s->eps + eps_of_move(s, mechanism, move));
    }
    return most;
}

void tacet__curate_distances(const tacet__curate_shape *shape, const tacet_curate_settings *s,
                             const tacet_mechanism *mechanism, tacet_manifest *m) {
    const size_t categories = shape->dims - shape->numbers;
    double widest = 0;
    for (size_t i = 0; i < m->column_count; i++) {
        widest = hypot(widest, (m->columns[i].hi - m->columns[i].lo) / m->columns[i].unit);
    }
    widest *= 1 + 1e-12; /* above what computing it rounds */
    for (size_t i = 0; i + 1 < TACET_MANIFEST_DISTANCES; i++) {
        m->eps_at[i] = eps_at_distance(s, mechanism, (double)(i + 1), categories, widest);
    }
    m->eps_at[0] = s->eps;
    m->eps_at[TACET_MANIFEST_DISTANCES - 1] =
        fmax(eps_at_distance(s, mechanism, widest + (double)categories, categories, widest), s->eps);
}
