/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - records as scaled coordinates, the inverse, and the stated metric.
 * Ring: pure. Source: the regular simplex by Helmert's orthonormal rows; src/space/README.md has why Euclidean distance
 * of coordinates is at most the metric. Cost: a pass over the coordinates. */
#include "space/internal.h"

#include <math.h>

static bool flagged(const tacet_space_column *c) {
    return !tacet_space_traits_of(c)->levels && c->missing == TACET_SPACE_FLAG;
}

size_t tacet_space_column_dims(const tacet_space_column *c) {
    return tacet_space_traits_of(c)->levels ? c->level_count - 1 : flagged(c) ? 2 : 1;
}

size_t tacet_space_dims(const tacet_space *space) {
    size_t dims = 0;
    for (size_t i = 0; i < space->count; i++) {
        dims += tacet_space_column_dims(&space->columns[i]);
    }
    return dims;
}

size_t tacet_space_numbers(const tacet_space *space) {
    size_t count = 0;
    for (size_t i = 0; i < space->count; i++) {
        count += tacet_space_traits_of(&space->columns[i])->levels ? 0 : 1;
    }
    return count;
}

size_t tacet_space_categories(const tacet_space *space) {
    size_t count = 0;
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        count += tacet_space_traits_of(c)->levels || flagged(c) ? 1 : 0;
    }
    return count;
}

double tacet__space_stretch(const tacet_space_column *c, double own) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    return kind->stretch != NULL ? kind->stretch(own) : own;
}

double tacet__space_shrink(const tacet_space_column *c, double stretched) {
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    return kind->shrink != NULL ? kind->shrink(stretched) : stretched;
}

static double middle_of(const tacet_space_column *c) {
    return tacet__space_stretch(c, c->lo) / 2 + tacet__space_stretch(c, c->hi) / 2;
}

static double half_of(const tacet_space_column *c) {
    return tacet__space_stretch(c, c->hi) / 2 - tacet__space_stretch(c, c->lo) / 2;
}

static double unit_of(const tacet_space_column *c) {
    return c->unit == 0 ? half_of(c) : tacet__space_stretch(c, c->unit);
}

static double clip(double x, double lo, double hi) {
    return x < lo ? lo : x > hi ? hi : x;
}

double tacet_space_width(const tacet_space_column *c) {
    return tacet_space_traits_of(c)->levels ? 0 : 2 * half_of(c) / unit_of(c);
}

/* Within the bounds; `value` is not NaN. */
static double scaled(const tacet_space_column *c, double value) {
    return (tacet__space_stretch(c, clip(value, c->lo, c->hi)) - middle_of(c)) / unit_of(c);
}

/* A NaN is what the flag stands for, else the middle. */
static double numeric_of(const tacet_space_column *c, double value) {
    if (!isnan(value)) {
        return scaled(c, value);
    }
    return flagged(c) ? scaled(c, c->stand_in) : 0;
}

static size_t level_of(const tacet_space_column *c, double value) {
    if (!(value > 0)) {
        return 0;
    }
    return value < (double)c->level_count ? (size_t)value : c->level_count - 1;
}

void tacet_space_vertex(double *out, size_t level, size_t levels) {
    for (size_t j = 1; j < levels; j++) {
        const double norm = sqrt(2 * (double)j * (double)(j + 1));
        out[j - 1] = level < j ? 1 / norm : level == j ? -(double)j / norm : 0;
    }
}

void tacet_space_box(const tacet_space *space, double *low, double *high) {
    for (size_t i = 0, at = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (tacet_space_traits_of(c)->levels) {
            for (size_t j = 1; j < c->level_count; j++, at++) {
                const double norm = sqrt(2 * (double)j * (double)(j + 1));
                low[at] = -(double)j / norm;
                high[at] = 1 / norm;
            }
            continue;
        }
        high[at] = half_of(c) / unit_of(c);
        low[at] = -high[at];
        at++;
        if (flagged(c)) {
            low[at] = -0.5;
            high[at] = 0.5;
            at++;
        }
    }
}

void tacet_space_embed(const tacet_space *space, double *out, const double *record) {
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (tacet_space_traits_of(c)->levels) {
            tacet_space_vertex(out, level_of(c, record[i]), c->level_count);
        } else {
            out[0] = numeric_of(c, record[i]);
            if (flagged(c)) {
                out[1] = isnan(record[i]) ? 0.5 : -0.5;
            }
        }
        out += tacet_space_column_dims(c);
    }
}

/* The vertex nearest to a point: all have the same norm, so the one of the largest inner product. Running sums give
 * the products of all of them in one pass from the last level down. */
static size_t nearest_level(const double *x, size_t levels) {
    double later = 0; /* sum over the rows j > level of x_j / norm_j: what a level has from rows where it is < j */
    double most = -INFINITY;
    size_t best = 0;
    for (size_t level = levels; level-- > 0;) {
        const double norm = sqrt(2 * (double)level * (double)(level + 1));
        const double own = level > 0 ? x[level - 1] / norm : 0;
        const double product = later - (double)level * own;
        if (product >= most) {
            most = product;
            best = level;
        }
        later += own;
    }
    return best;
}

void tacet_space_invert(const tacet_space *space, double *record, const double *at) {
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (tacet_space_traits_of(c)->levels) {
            record[i] = (double)nearest_level(at, c->level_count);
        } else if (flagged(c) && at[1] > 0) {
            record[i] = NAN;
        } else {
            const double x = middle_of(c) + unit_of(c) * (isnan(at[0]) ? 0 : at[0]);
            const double own = tacet__space_shrink(c, x);
            record[i] = clip(tacet_space_traits_of(c)->whole ? nearbyint(own) : own, c->lo, c->hi);
        }
        at += tacet_space_column_dims(c);
    }
}

double tacet_space_distance(const tacet_space *space, const double *a, const double *b) {
    double numeric = 0;
    double changed = 0;
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        if (tacet_space_traits_of(c)->levels) {
            changed += level_of(c, a[i]) != level_of(c, b[i]) ? 1 : 0;
        } else {
            numeric = hypot(numeric, numeric_of(c, a[i]) - numeric_of(c, b[i]));
            changed += flagged(c) && isnan(a[i]) != isnan(b[i]) ? 1 : 0;
        }
    }
    return numeric + changed;
}
