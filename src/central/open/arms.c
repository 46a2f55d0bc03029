/* SPDX-License-Identifier: Apache-2.0 */
/* arms.c - the points that a study without contexts chooses from. Ring: open.
 * Source: ours. Cost: a pass over the coordinates; over a list a neighbour is a pass over its points. */
#include "space/internal.h"
#include "central/open/arms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "gp/domain.h"

static tacet_status copy_list(tacet__arms *a, const tacet_central_arms *from, tacet_error *err) {
    size_t numbers = 0;
    if (from->points == NULL || from->count == 0 || from->dims == 0 || from->dims > TACET__LATTICE_DIMS) {
        return tacet__fail(err, TACET_INVALID, "a study needs a space, or a list of points of at most %d coordinates",
                           (int)TACET__LATTICE_DIMS);
    }
    a->count = from->count;
    a->columns = a->dims = from->dims;
    a->points = tacet__size_mul(&numbers, a->dims, from->count) ? TACET__ZALLOC(double, numbers) : NULL;
    if (a->points == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for %zu points", from->count);
    }
    for (size_t c = 0; c < a->dims; c++) {
        double lo = INFINITY, hi = -INFINITY;
        for (size_t i = 0; i < from->count; i++) {
            lo = fmin(lo, from->points[i * a->dims + c]);
            hi = fmax(hi, from->points[i * a->dims + c]);
        }
        a->width[c] = 1;
        a->middle[c] = lo / 2 + hi / 2;
        a->half[c] = hi > lo ? hi / 2 - lo / 2 : 1;
    }
    memcpy(a->points, from->points, numbers * sizeof(double));
    for (size_t i = 0; i < from->count; i++) {
        tacet__arms_map(a, a->points + i * a->dims);
    }
    return TACET_OK;
}

tacet_status tacet__arms_init(tacet__arms *out, const tacet_central_arms *from, tacet_error *err) {
    *out = (tacet__arms){0};
    if (from->space == NULL) {
        return copy_list(out, from, err);
    }
    if (!tacet__lattice_init(&out->lattice, from->space)) {
        return tacet__fail(err, TACET_INVALID, "the space has too many columns or levels to be searched directly");
    }
    out->count = out->lattice.points;
    out->columns = out->lattice.columns;
    out->dims = out->lattice.dims;
    out->levels = tacet__lattice_listed(&out->lattice);
    for (size_t i = 0; i < out->columns; i++) {
        out->width[i] = tacet_space_column_dims(&from->space->columns[i]);
    }
    return TACET_OK;
}

void tacet__arms_clear(tacet__arms *a) {
    free(a->points);
    *a = (tacet__arms){0};
}

void tacet__arms_map(const tacet__arms *a, double *x) {
    for (size_t c = 0; a->points != NULL && c < a->dims; c++) {
        x[c] = (x[c] - a->middle[c]) / a->half[c];
    }
}

void tacet__arms_place(const tacet__arms *a, double *x, uint64_t code) {
    double record[TACET__LATTICE_COLUMNS];
    if (a->points != NULL) {
        memcpy(x, a->points + code * a->dims, a->dims * sizeof(double));
        return;
    }
    tacet__lattice_record(&a->lattice, record, code);
    tacet_space_embed(a->lattice.space, x, record);
}

uint64_t tacet__arms_anywhere(const tacet__arms *a, tacet_simrng *coin) {
    size_t digits[TACET__LATTICE_COLUMNS];
    if (a->points != NULL) {
        return tacet_simrng_below(coin, a->count);
    }
    for (size_t i = 0; i < a->columns; i++) {
        digits[i] = tacet_simrng_below(coin, a->lattice.sides[i]);
    }
    return tacet__lattice_join(&a->lattice, digits);
}

static double reflect(double x) {
    x = fabs(x);
    return x > 1 ? fmax(2 - x, 0) : x;
}

static uint64_t nearest(const tacet__arms *a, const double *x) {
    uint64_t best = 0;
    double least = INFINITY;
    for (uint64_t i = 0; i < a->count; i++) {
        double d2 = 0;
        for (size_t c = 0; c < a->dims; c++) {
            const double d = x[c] - a->points[i * a->dims + c];
            d2 += d * d;
        }
        best = d2 < least ? i : best;
        least = fmin(d2, least);
    }
    return best;
}

uint64_t tacet__arms_neighbour(const tacet__arms *a, uint64_t code, double reach, tacet_simrng *coin) {
    size_t digits[TACET__LATTICE_COLUMNS];
    double x[TACET__LATTICE_DIMS];
    const tacet__lattice *l = &a->lattice;
    const size_t surely = tacet_simrng_below(coin, a->columns);
    const double chance = fmax(a->columns > 8 ? 0 : 0.5, 1.5 / (double)a->columns);
    if (a->points == NULL) {
        tacet__lattice_digits(l, digits, code);
    } else {
        tacet__arms_place(a, x, code);
    }
    for (size_t i = 0; i < a->columns; i++) {
        if (i != surely && tacet_simrng_uniform(coin) >= chance) {
            continue;
        }
        if (a->points != NULL) {
            x[i] += 2 * reach * tacet_simrng_normal(coin);
        } else if (l->space->columns[i].level_count > 0) {
            if (tacet_simrng_uniform(coin) < fmin(1, 2 * reach + 0.2)) {
                digits[i] = tacet_simrng_below(coin, l->sides[i]);
            }
        } else {
            const double side = (double)l->sides[i];
            const double share = ((double)digits[i] + 0.5) / side + reach * tacet_simrng_normal(coin);
            digits[i] = (size_t)fmin(reflect(share) * side, side - 1);
        }
    }
    return a->points != NULL ? nearest(a, x) : tacet__lattice_join(l, digits);
}

/* The points of a list nearest to an even spread over their box, each once. */
static tacet_status spread_list(const tacet__arms *a, uint64_t *codes, size_t *count, tacet_error *err) {
    double lower[TACET__LATTICE_DIMS], upper[TACET__LATTICE_DIMS];
    size_t found = 0;
    const size_t n = *count < a->count ? *count : (size_t)a->count;
    double *X = TACET__ZALLOC(double, n * a->dims);
    if (X == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a plan");
    }
    for (size_t c = 0; c < a->dims; c++) {
        lower[c] = -1;
        upper[c] = 1;
    }
    const tacet_domain box = {.kind = TACET_DOMAIN_BOX, .d = a->dims, .lower = lower, .upper = upper};
    tacet__domain_spread(&box, X, n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t code = n == a->count ? i : nearest(a, X + i * a->dims); /* few: each of them */
        bool taken = false;
        for (size_t k = 0; k < found; k++) {
            taken = taken || codes[k] == code;
        }
        codes[found] = code;
        found += taken ? 0 : 1;
    }
    *count = found;
    free(X);
    return TACET_OK;
}

tacet_status tacet__arms_spread(const tacet__arms *a, uint64_t *codes, size_t *count, tacet_error *err) {
    if (a->points != NULL) {
        return spread_list(a, codes, count, err);
    }
    double *records = TACET__ZALLOC(double, a->columns **count);
    size_t found = 0;
    tacet_status status = records == NULL ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a plan")
                                          : tacet_space_spread(a->lattice.space, records, &found, *count, err);
    for (size_t i = 0; status == TACET_OK && i < found; i++) {
        codes[i] = tacet__lattice_code(&a->lattice, records + i * a->columns);
    }
    *count = found;
    free(records);
    return status;
}
