/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c - records spread evenly over a space: candidates for a server that proposes the point itself.
 * Ring: pure. Source: Sobol's sequence in up to four numeric columns, the Kronecker sequence of the generalised golden
 * ratio (Roberts 2018) beyond. Cost: O(most count log most). */
#include "space/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/sobol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOBOL_MOST = 4 }; /* numeric columns; beyond it the Kronecker sequence */
enum { LEAST_EACH = 8 }; /* numeric points for each combination of levels; below it combinations are sampled */

/* The root of x^(d+1) = x + 1, whose powers are badly approximable together. */
static double golden(size_t d) {
    double x = 2;
    for (int i = 0; i < 60; i++) {
        x = pow(1 + x, 1 / (double)(d + 1));
    }
    return x;
}

/* Coordinate c of point i in [0, 1). */
static double spread_at(size_t d, size_t c, size_t i) {
    if (d <= SOBOL_MOST) {
        return (double)tacet__sobol(c, i) * 0x1p-32;
    }
    const double x = 0.5 + (double)(i + 1) * pow(golden(d), -(double)(c + 1));
    return x - floor(x);
}

static double clip(double x, double lo, double hi) {
    return x < lo ? lo : x > hi ? hi : x;
}

/* How many values there are to count; 0: they are not counted. */
static double parts_of(const tacet_space_column *c) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    return kind->levels ? (double)c->level_count : kind->whole ? c->hi - c->lo + 1 : 0;
}

static double first_of(const tacet_space_column *c) {
    return tacet_space_traits_of(c)->levels ? 0 : c->lo;
}

double tacet__space_along(const tacet_space_column *c, double share) {
    const double lo = tacet__space_stretch(c, c->lo), hi = tacet__space_stretch(c, c->hi);
    /* The ends as they are: exp(log(lo)) may be an ulp off. */
    return share <= 0 ? c->lo : share >= 1 ? c->hi : clip(tacet__space_shrink(c, lo + share * (hi - lo)), c->lo, c->hi);
}

double tacet__space_at(const tacet_space_column *c, double share) {
    const double parts = parts_of(c);
    return parts > 0 ? first_of(c) + clip(floor(share * parts), 0, parts - 1) : tacet__space_along(c, share);
}

double tacet__space_share(const tacet_space_column *c, double value) {
    const double parts = parts_of(c);
    const double lo = tacet__space_stretch(c, c->lo), hi = tacet__space_stretch(c, c->hi);
    return parts > 0 ? (value - first_of(c) + 0.5) / parts : (tacet__space_stretch(c, value) - lo) / (hi - lo);
}

size_t tacet__space_values(const tacet_space_column *c, size_t most) {
    const double parts = parts_of(c);
    return parts > 0 && (parts < (double)most || tacet_space_traits_of(c)->levels) ? (size_t)parts : most;
}

typedef struct shape {
    size_t numeric;      /* columns */
    size_t combinations; /* of levels; SIZE_MAX: more than fit */
    double distinct;     /* numeric points that differ, at most */
} shape;

static shape shape_of(const tacet_space *space) {
    shape s = {.combinations = 1, .distinct = 1};
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (tacet_space_traits_of(c)->levels) {
            if (s.combinations == SIZE_MAX || !tacet__size_mul(&s.combinations, s.combinations, c->level_count)) {
                s.combinations = SIZE_MAX;
            }
        } else {
            s.numeric++;
            s.distinct *= parts_of(c) > 0 ? parts_of(c) : (double)INFINITY;
        }
    }
    return s;
}

/* Levels of combination k, the first category fastest; numbers of point i. */
static void fill_record(const tacet_space *space, double *record, size_t numeric, size_t k, size_t i) {
    size_t at = 0;
    for (size_t j = 0; j < space->count; j++) {
        const tacet_space_column *c = &space->columns[j];
        if (tacet_space_traits_of(c)->levels) {
            record[j] = (double)(k % c->level_count);
            k /= c->level_count;
        } else {
            record[j] = tacet__space_at(c, spread_at(numeric, at++, i));
        }
    }
}

/* All columns by one sequence, where there are more combinations than there is room for. */
static void sample_record(const tacet_space *space, double *record, size_t i) {
    for (size_t j = 0; j < space->count; j++) {
        record[j] = tacet__space_at(&space->columns[j], spread_at(space->count, j, i));
    }
}

static bool is_among(const double *records, size_t found, const double *record, size_t count) {
    for (size_t i = 0; i < found; i++) {
        if (memcmp(records + i * count, record, count * sizeof *record) == 0) {
            return true;
        }
    }
    return false;
}

tacet_status tacet_space_spread(const tacet_space *space, double *records, size_t *found, size_t most,
                                tacet_error *err) {
    const shape s = shape_of(space);
    const size_t d = space->count;
    *found = 0;
    if (d == 0 || most == 0) {
        return tacet__fail(err, TACET_INVALID, "a space without columns, or no room, has no points");
    }
    const double wanted = fmin(s.distinct, LEAST_EACH);
    const bool all = s.combinations <= most && (double)s.combinations * wanted <= (double)most;
    const size_t each = all ? most / s.combinations : most;
    /* Rounding makes points equal: a few times as many are tried. */
    const size_t tries = 16 * each;
    for (size_t i = 0; i < tries && *found < most; i++) {
        double *record = records + *found * d;
        if (!all) {
            sample_record(space, record, i);
            *found += is_among(records, *found, record, d) ? 0 : 1;
            continue;
        }
        if (*found / s.combinations >= each) {
            break;
        }
        fill_record(space, record, s.numeric, 0, i);
        if (is_among(records, *found, record, d)) {
            continue;
        }
        for (size_t k = 0; k < s.combinations; k++) {
            fill_record(space, records + *found * d, s.numeric, k, i);
            ++*found;
        }
        if (s.numeric == 0) {
            break;
        }
    }
    return TACET_OK;
}
