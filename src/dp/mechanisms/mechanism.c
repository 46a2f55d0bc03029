/* SPDX-License-Identifier: Apache-2.0 */
/* mechanism.c - calibrated recipes: how much noise, on which grid; and one draw of each. Which noise, and at what
 * price, is said by the mechanism's own file (table.h). Ring: gate. In: tacet_bounded. Out: numbers for tacet_release.
 * Source: that of each mechanism. Differs: numbers are rounded to a public grid before the noise, which is drawn
 * exactly on that grid, and the rounding is charged (src/dp/bounding.md). Cost: calibration once per mechanism; a draw
 * is one pass. */
#include "dp/mechanisms/table.h"

#include <tacet/dp/open/calibrate.h>

#include "core/fail.h"
#include "core/memory.h"
#include "dp/bound_internal.h"
#include "dp/mint.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"

#include <endian.h>
#include <math.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCORE_BITS = 16, GRID_BITS_MOST = 40, COARSER_BITS_MOST = 10 };
static const double WIDEST = 0x1p51; /* grid steps: numbers and noise then add up exactly in a double */

/* Bits of the scale below the point. Rounding `terms` numbers (or, in L2, their root) then costs about 2^-20 of it. */
static unsigned grid_bits(double terms) {
    const double bits = DRAW_GRID_BITS + ceil(log2(terms));
    return bits < GRID_BITS_MOST ? (unsigned)bits : (unsigned)GRID_BITS_MOST;
}

static tacet_status calibrate_noise(tacet_mechanism *m, const tacet_neighbours *neighbours, tacet_error *err) {
    const tacet__kind *kind = m->kind;
    const double count = (double)m->count;
    double l2 = 0.0, l1 = 0.0, scale = 0.0;
    tacet_status s = tacet_bound_sensitivity(m->bound, &l2, &l1, neighbours, err);
    if (s == TACET_OK) {
        s = kind->scale(&scale, m->eps, m->delta, kind->by_l1 ? l1 : l2, m->count, err);
    }
    if (s != TACET_OK) {
        return s;
    }
    /* The grid from the noise that unrounded numbers would need; then the noise that rounding to it needs. */
    m->grid_exponent = tacet__grid_exponent(scale, grid_bits(kind->by_l1 ? count : sqrt(count)));
    /* Wide sums of many numbers take a coarser grid, as far as its rounding, which is charged, stays below 2^-10. */
    for (int k = 0; k < COARSER_BITS_MOST && ldexp(m->bound->radius, -m->grid_exponent) > WIDEST; k++) {
        m->grid_exponent++;
    }
    tacet__round_sensitivity(&l2, &l1, m->count, m->grid_exponent);
    m->sensitivity = kind->by_l1 ? l1 : l2;
    s = kind->scale(&m->scale, m->eps, m->delta, m->sensitivity, m->count, err);
    if (s != TACET_OK) {
        return s;
    }
    /* What no noise can be drawn of is refused now, and not after it was charged: a draw of nothing tells. */
    tacet_noise none = {.next = 0};
    s = kind->noise(m, &none, NULL, 0, NULL);
    if (s != TACET_OK) {
        return tacet__fail(err, s, "eps %g is too small for its sensitivity: the noise does not fit the grid", m->eps);
    }
    m->error_sd = kind->law->spread(m->scale, m->count);
    if (kind->law->density == TACET_DENSITY_NORMAL) {
        m->mu = nextafter(m->sensitivity / m->scale, INFINITY);
    }
    return TACET_OK;
}

static tacet_status calibrate_choice(tacet_mechanism *m, const tacet_neighbours *neighbours, tacet_error *err) {
    if (neighbours->relation != TACET_RELATION_REPLACE) {
        return tacet__fail(err, TACET_INVALID, "a choice by scores knows only replaced records");
    }
    if (!(m->eps >= 1e-6 && m->eps <= 1e15)) {
        return tacet__fail(err, TACET_INVALID, "eps of a choice must be > 0, finite, and from 1e-6 to 1e15");
    }
    const double widest = m->bound->diameter_max;
    m->grid_exponent = tacet__grid_exponent(widest, SCORE_BITS);
    /* Two scores at most `widest` apart are, in whole steps, at most that many and one more apart. */
    m->score_steps = (uint64_t)floor(ldexp(widest, -m->grid_exponent)) + 1;
    m->sensitivity = ldexp((double)m->score_steps, m->grid_exponent);
    return TACET_OK;
}

bool tacet__mechanism_chooses(const tacet_mechanism *m) {
    return m->kind->choose != NULL;
}

tacet_status tacet_mechanism_scale_for(double *out, tacet_mechanism_kind kind, double eps, double delta,
                                       double sensitivity, size_t count, tacet_error *err) {
    const tacet__kind *known = tacet__kind_of(kind);
    *out = 0.0;
    return known == NULL          ? tacet__fail(err, TACET_INVALID, "no such mechanism")
           : known->scale == NULL ? tacet__fail(err, TACET_INVALID, "a choice adds no noise: it has no scale")
                                  : known->scale(out, eps, delta, sensitivity, count, err);
}

tacet_status tacet_mechanism_of_law(tacet_mechanism_kind *out, const tacet_law *law, tacet_error *err) {
    const tacet__kind *known = NULL;
    for (size_t i = 0; (known = tacet__kind_at(i)) != NULL; i++) {
        if (known->law == law) {
            *out = known->kind;
            return TACET_OK;
        }
    }
    return tacet__fail(err, TACET_INVALID, "no mechanism has this law");
}

tacet_status tacet_mechanism_create(tacet_mechanism **out, tacet_mechanism_kind kind, const tacet_bound *bound,
                                    const tacet_neighbours *neighbours, double eps, double delta, tacet_error *err) {
    *out = NULL;
    const tacet__kind *known = tacet__kind_of(kind);
    if (known == NULL) {
        return tacet__fail(err, TACET_INVALID, "no such mechanism");
    }
    tacet_mechanism *m = TACET__ZALLOC(tacet_mechanism, 1);
    if (m == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a mechanism");
    }
    m->kind = known;
    m->bound = bound;
    m->count = bound->count;
    m->neighbours = *neighbours;
    m->eps = eps;
    m->delta = known->law->pure ? 0.0 : delta;
    tacet_status s =
        tacet__mechanism_chooses(m) ? calibrate_choice(m, neighbours, err) : calibrate_noise(m, neighbours, err);
    if (s == TACET_OK && !(ldexp(bound->radius, -m->grid_exponent) <= WIDEST)) {
        s = tacet__fail(err, TACET_INVALID,
                        "the bound is too wide, or eps %g too large, for its sensitivity: numbers do not fit the grid",
                        eps);
    }
    if (s != TACET_OK) {
        free(m);
        return s;
    }
    *out = m;
    return TACET_OK;
}

void tacet_mechanism_free(tacet_mechanism *mechanism) {
    if (mechanism != NULL) {
        free(mechanism->levels);
    }
    free(mechanism);
}

double tacet_mechanism_scale(const tacet_mechanism *mechanism) {
    return mechanism->scale;
}

double tacet_mechanism_sensitivity(const tacet_mechanism *mechanism) {
    return mechanism->sensitivity;
}

int tacet_mechanism_grid_exponent(const tacet_mechanism *mechanism) {
    return mechanism->grid_exponent;
}

static tacet_status draw_choice(const tacet_mechanism *m, tacet_noise *noise, double *out, const tacet_bounded *value,
                                tacet_error *err) {
    const size_t count = m->bound->count;
    int64_t *scores = TACET__ZALLOC(int64_t, count);
    size_t *scratch = TACET__ZALLOC(size_t, count);
    size_t chosen = 0;
    tacet_status s = TACET_OK;
    if (scores == NULL || scratch == NULL) {
        s = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu scores", count);
        goto done;
    }
    for (size_t i = 0; i < count; i++) {
        scores[i] = (int64_t)round(ldexp(value->values[i], -m->grid_exponent));
    }
    s = m->kind->choose(m, noise, &chosen, scratch, scores, err);
    out[0] = (double)chosen;
done:
    if (scores != NULL) {
        sodium_memzero(scores, count * sizeof *scores);
    }
    free(scores);
    free(scratch);
    return s;
}

/* The nearest whole number, ties to even, of |x| <= 2^51 = WIDEST: the sum has no bits below the point. */
static double nearest(double x) {
    const double shift = 0x1.8p52;
    return (x + shift) - shift;
}

/* out += values, each on the grid, by exact products instead of two calls a number: sensitivities lie within 1e-100 and
 * 1e100, so a grid's exponent is far from where one of the two powers would not be a double. */
static void add_on_grid(double *out, const double *values, size_t count, int grid_exponent) {
    const double grid = ldexp(1, grid_exponent);
    const double inverse = ldexp(1, -grid_exponent);
    for (size_t i = 0; i < count; i++) {
        out[i] += nearest(values[i] * inverse) * grid;
    }
}

/* The same for raw rows of a box, clipped on their way as tacet_bounded_set does. */
static void add_box_on_grid(double *out, const double *raw, size_t rows, const tacet_bound *bound, int grid_exponent) {
    const double grid = ldexp(1, grid_exponent);
    const double inverse = ldexp(1, -grid_exponent);
    const size_t count = bound->count;
    for (size_t r = 0; r < rows; r++, out += count, raw += count) {
        for (size_t i = 0; i < count; i++) {
            out[i] += nearest(tacet__box_clip(raw[i], bound->lower[i], bound->upper[i]) * inverse) * grid;
        }
    }
}

tacet_status tacet__mechanism_draw_box(const tacet_mechanism *m, tacet_noise *noise, double *out, const double *raw,
                                       size_t rows, tacet_error *err) {
    const tacet_status s = m->kind->noise(m, noise, out, rows, err);
    if (s == TACET_OK) {
        add_box_on_grid(out, raw, rows, m->bound, m->grid_exponent);
    }
    return s;
}

tacet_status tacet__mechanism_draw(const tacet_mechanism *m, tacet_noise *noise, double *out,
                                   const tacet_bounded *value, tacet_error *err) {
    if (value->bound != m->bound || m->level_count > 0) {
        return tacet__fail(err, TACET_INVALID,
                           "the vector was clipped to another bound than the mechanism's, or lacks its levels");
    }
    if (tacet__mechanism_chooses(m)) {
        return draw_choice(m, noise, out, value, err);
    }
    const tacet_status s = m->kind->noise(m, noise, out, 1, err);
    if (s == TACET_OK) {
        add_on_grid(out, value->values, m->bound->count, m->grid_exponent);
    }
    return s;
}

void tacet__mechanism_digest(const tacet_mechanism *m, unsigned char out[TACET_MINT_BYTES],
                             const tacet_bounded *value) {
    static const char PURPOSE[] = "tacet vector 1";
    crypto_generichash_state state;
    const double inverse = ldexp(1, -m->grid_exponent);
    (void)crypto_generichash_init(&state, (const unsigned char *)PURPOSE, sizeof PURPOSE, TACET_MINT_BYTES);
    for (size_t i = 0; i < m->count; i++) {
        const uint64_t step = htole64((uint64_t)(int64_t)nearest(value->values[i] * inverse));
        (void)crypto_generichash_update(&state, (const unsigned char *)&step, sizeof step);
    }
    (void)crypto_generichash_final(&state, out, TACET_MINT_BYTES);
    sodium_memzero(&state, sizeof state);
}

void tacet__mechanism_charge(const tacet_mechanism *m, tacet_charge *charge, char *parameters, size_t size, size_t rows,
                             size_t records) {
    char of_records[40] = "";
    static const char *const RELATIONS[] = {"replace", "move"};
    tacet_charge_init(charge);
    charge->mechanism = m->kind->law->name;
    m->kind->charge(m, charge);
    if (records > 0) {
        (void)snprintf(of_records, sizeof of_records, ",\"records\":%zu", records);
    }
    (void)snprintf(parameters, size,
                   "{\"scale\":%.17g,\"sensitivity\":%.17g,\"grid_exponent\":%d,\"rows\":%zu,\"count\":%zu,"
                   "\"neighbours\":\"%s\",\"move\":%.17g,\"bound_radius\":%.17g,\"bound_proof\":\"%s\"%s}",
                   m->scale, m->sensitivity, m->grid_exponent, rows, m->bound->count, RELATIONS[m->neighbours.relation],
                   m->neighbours.relation == TACET_RELATION_MOVE ? m->neighbours.move : 0.0, m->bound->radius,
                   tacet_bound_proof(m->bound), of_records);
    charge->parameters = parameters;
    tacet__mechanism_charge_levels(m, charge, parameters, size);
}

void tacet__mechanism_receipt(const tacet_mechanism *m, tacet_receipt *receipt, size_t rows) {
    *receipt = (tacet_receipt){0};
    (void)snprintf(receipt->mechanism, sizeof receipt->mechanism, "%s", m->kind->law->name);
    receipt->eps = m->eps;
    receipt->delta = m->delta;
    receipt->mu = m->mu;
    receipt->sensitivity = m->sensitivity;
    receipt->scale = m->scale;
    receipt->grid_exponent = m->grid_exponent;
    receipt->rows = rows;
    receipt->count = tacet__mechanism_chooses(m) ? 1 : m->bound->count + m->level_count;
    receipt->error_sd = m->error_sd;
}
