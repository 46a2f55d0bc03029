/* SPDX-License-Identifier: Apache-2.0 */
/* targets_additive.c - additive noise on a number or a vector, between neighbours at the full sensitivity.
 * Ring: audit. The statistic is the released number along the direction in which the neighbours differ, which is the
 * likelihood ratio's order for every mechanism here. The input is rounded to the grid and the rounding is part of the
 * sensitivity, as the mechanisms do it. */
#include "audit/targets.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "dp/noise/sampler.h"

#include <tacet/dp/open/calibrate.h>

#include <math.h>
#include <stdlib.h>

enum { KNORM_DIMS = 5, L2_SHORT_DIMS = 2 };

typedef struct additive {
    double scale;
    double distance; /* between the two worlds, a multiple of the grid */
    int grid;
} additive;

static tacet_status create(void **state, additive made, tacet_error *err) {
    additive *a = TACET__ZALLOC(additive, 1);
    *state = a;
    if (a == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    *a = made;
    return TACET_OK;
}

/* A scale for sensitivity 1 plus one grid step (each of the two rounded inputs may be off by half a step), and the
 * neighbours exactly that far apart. */
static tacet_status calibrated(void **state, const tacet_audit_claim *claim, bool gaussian, tacet_error *err) {
    additive made = {0};
    *state = NULL;
    tacet_status status = gaussian ? tacet_calibrate_gaussian(&made.scale, claim->eps, claim->delta, 1, err)
                                   : tacet_calibrate_laplace(&made.scale, claim->eps, 1, err);
    if (status != TACET_OK) {
        return status;
    }
    made.grid = tacet__grid_exponent(made.scale, DRAW_GRID_BITS);
    const double step = ldexp(1, made.grid);
    made.distance = floor(1 / step) * step + step;
    status = gaussian ? tacet_calibrate_gaussian(&made.scale, claim->eps, claim->delta, 1 + step, err)
                      : tacet_calibrate_laplace(&made.scale, claim->eps, 1 + step, err);
    return status == TACET_OK ? create(state, made, err) : status;
}

static tacet_status create_gaussian(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return calibrated(state, claim, true, err);
}

static tacet_status create_laplace(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return calibrated(state, claim, false, err);
}

typedef tacet_status (*draw)(tacet_noise *, double *, size_t, double, int, tacet_error *);

static tacet_status run_with(draw d, void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    const additive *a = state;
    double z = 0;
    const tacet_status status = d(noise, &z, 1, a->scale, a->grid, err);
    *statistic = z + (world ? a->distance : 0);
    return status;
}

static tacet_status run_gaussian(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    return run_with(tacet__draw_gaussian, state, noise, world, statistic, err);
}

static tacet_status run_laplace(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    return run_with(tacet__draw_laplace, state, noise, world, statistic, err);
}

static tacet_status run_discrete_laplace(void *state, tacet_noise *noise, int world, double *statistic,
                                         tacet_error *err) {
    return run_with(tacet__draw_discrete_laplace, state, noise, world, statistic, err);
}

/* K-norm noise in several dimensions: the likelihood ratio is the difference of the distances to the two inputs. */
static tacet_status run_vector(void *state, tacet_noise *noise, int world, double *statistic, size_t dims,
                               tacet_error *err) {
    const additive *a = state;
    double z[KNORM_DIMS];
    const tacet_status status = tacet__draw_knorm(noise, z, dims, a->scale, a->grid, err);
    if (status != TACET_OK) {
        return status;
    }
    z[0] += world ? a->distance : 0;
    const double to_zero = tacet__norm2(z, dims);
    z[0] -= a->distance;
    *statistic = to_zero - tacet__norm2(z, dims);
    return TACET_OK;
}

static tacet_status run_knorm(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    return run_vector(state, noise, world, statistic, KNORM_DIMS, err);
}

/* The mechanism of the table, its scale `factor` times what the claim needs, in `dims` coordinates. */
static tacet_status create_l2(void **state, const tacet_audit_claim *claim, size_t dims, double factor,
                              tacet_error *err) {
    tacet_l2 l2;
    *state = NULL;
    tacet_status status = tacet_calibrate_l2(&l2, claim->eps, claim->delta, 1, dims, err);
    if (status != TACET_OK) {
        return status;
    }
    additive made = {.grid = tacet__grid_exponent(l2.scale, DRAW_GRID_BITS)};
    const double step = ldexp(1, made.grid);
    made.distance = floor(1 / step) * step + step;
    made.scale = factor * nextafter(l2.scale * (1 + step), INFINITY); /* the scale is proportional to the sensitivity */
    return create(state, made, err);
}

static tacet_status create_l2_right(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return create_l2(state, claim, KNORM_DIMS, 1, err);
}

static tacet_status create_l2_short(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    return create_l2(state, claim, L2_SHORT_DIMS, 0.95, err);
}

static tacet_status run_l2_short(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    return run_vector(state, noise, world, statistic, L2_SHORT_DIMS, err);
}

const tacet_audit_target tacet__audit_gaussian = {
    .name = "gaussian",
    .summary = "rounded Gaussian noise on a number; the number moves by the whole sensitivity",
    .create = create_gaussian,
    .run = run_gaussian,
    .free = free,
};
const tacet_audit_target tacet__audit_laplace = {
    .name = "laplace",
    .summary = "rounded Laplace noise on a number; pure",
    .pure = true,
    .create = create_laplace,
    .run = run_laplace,
    .free = free,
};
const tacet_audit_target tacet__audit_discrete_laplace = {
    .name = "discrete-laplace",
    .summary = "discrete Laplace (two-sided geometric) noise on a number; pure",
    .pure = true,
    .create = create_laplace,
    .run = run_discrete_laplace,
    .free = free,
};
const tacet_audit_target tacet__audit_knorm = {
    .name = "knorm",
    .summary = "K-norm noise on a vector of five numbers, the noise of curate --mechanism laplace; pure",
    .pure = true,
    .create = create_laplace,
    .run = run_knorm,
    .free = free,
};
const tacet_audit_target tacet__audit_l2 = {
    .name = "l2",
    .summary = "K-norm noise on a vector of five numbers with a delta, the noise of curate --mechanism l2",
    .create = create_l2_right,
    .run = run_knorm,
    .free = free,
};
const tacet_audit_target tacet__audit_l2_short = {
    .name = "control:l2-scale-5-short",
    .summary = "l2 noise on a vector of two numbers whose scale is 5 % short",
    .control = true,
    .create = create_l2_short,
    .run = run_l2_short,
    .free = free,
};
