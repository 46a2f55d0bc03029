/* SPDX-License-Identifier: Apache-2.0 */
/* targets_additive.c - additive noise on a number or a vector, between neighbours at the full sensitivity.
 * Ring: audit. The statistic is the released number along the direction in which the neighbours differ, which is the
 * likelihood ratio's order for every mechanism here. The input is rounded to the grid and the rounding is part of the
 * sensitivity, as the mechanisms do it. */
#include "audit/targets.h"

#include "core/fail.h"

#include "gp/linalg.h"
#include "dp/noise/sampler.h"

#include <tacet/dp/open/calibrate.h>

#include <math.h>

enum { MOST_DIMS = 5, SHORT_DIMS = 2 };
enum { GAUSSIAN, LAPLACE, DISCRETE_LAPLACE, KNORM }; /* which */

typedef struct additive {
    double scale;
    double distance; /* between the two worlds, a multiple of the grid */
    int grid;
    size_t dims;
} additive;

/* Neighbours exactly as far apart as sensitivity 1 plus one grid step: each of two rounded inputs may be off by half a
 * step. Returns the step. */
static double set_grid(additive *a, double scale) {
    a->grid = tacet__grid_exponent(scale, DRAW_GRID_BITS);
    const double step = ldexp(1, a->grid);
    a->distance = floor(1 / step) * step + step;
    return step;
}

/* The scale for that: the grid follows from the scale for sensitivity 1. */
static tacet_status create(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                           tacet_error *err) {
    additive *a = state;
    double sensitivity = 1;
    a->dims = MOST_DIMS;
    for (int pass = 0; pass < 2; pass++) {
        const tacet_status status =
            self->which == GAUSSIAN ? tacet_calibrate_gaussian(&a->scale, claim->eps, claim->delta, sensitivity, err)
                                    : tacet_calibrate_laplace(&a->scale, claim->eps, sensitivity, err);
        if (status != TACET_OK) {
            return status;
        }
        sensitivity += pass == 0 ? set_grid(a, a->scale) : 0;
    }
    return TACET_OK;
}

static tacet_status run(void *state, const tacet_audit_target *self, tacet_noise *noise, int world, double *statistic,
                        tacet_error *err) {
    static tacet_status (*const DRAWS[])(tacet_noise *, double *, size_t, double, int, tacet_error *) = {
        tacet__draw_gaussian, tacet__draw_laplace, tacet__draw_discrete_laplace};
    const additive *a = state;
    double z = 0;
    const tacet_status status = DRAWS[self->which](noise, &z, 1, a->scale, a->grid, err);
    *statistic = z + (world ? a->distance : 0);
    return status;
}

/* K-norm noise in several dimensions: the likelihood ratio is the difference of the distances to the two inputs. */
static tacet_status run_vector(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                               double *statistic, tacet_error *err) {
    const additive *a = state;
    double z[MOST_DIMS];
    (void)self;
    TACET_OR_RETURN(tacet__draw_knorm(noise, z, a->dims, a->scale, a->grid, err));
    z[0] += world ? a->distance : 0;
    const double to_zero = tacet__norm2(z, a->dims);
    z[0] -= a->distance;
    *statistic = to_zero - tacet__norm2(z, a->dims);
    return TACET_OK;
}

/* The mechanism of the table; a control's scale is 5 % short, which tells most in few coordinates. */
static tacet_status create_l2(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                              tacet_error *err) {
    additive *a = state;
    tacet_l2 l2;
    a->dims = self->control ? SHORT_DIMS : MOST_DIMS;
    const tacet_status status = tacet_calibrate_l2(&l2, claim->eps, claim->delta, 1, a->dims, err);
    if (status == TACET_OK) { /* the scale is proportional to the sensitivity */
        const double step = set_grid(a, l2.scale);
        a->scale = (self->control ? 0.95 : 1) * nextafter(l2.scale * (1 + step), INFINITY);
    }
    return status;
}

#define ADDITIVE .size = sizeof(additive)
TARGET(gaussian, .name = "gaussian",
       .summary = "rounded Gaussian noise on a number; the number moves by the whole sensitivity", .which = GAUSSIAN,
       ADDITIVE, .create = create, .run = run);
TARGET(laplace, .name = "laplace", .summary = "rounded Laplace noise on a number; pure", .pure = true, .which = LAPLACE,
       ADDITIVE, .create = create, .run = run);
TARGET(discrete_laplace, .name = "discrete-laplace",
       .summary = "discrete Laplace (two-sided geometric) noise on a number; pure", .pure = true,
       .which = DISCRETE_LAPLACE, ADDITIVE, .create = create, .run = run);
TARGET(knorm, .name = "knorm",
       .summary = "K-norm noise on a vector of five numbers, the noise of curate --mechanism laplace; pure",
       .pure = true, .which = KNORM, ADDITIVE, .create = create, .run = run_vector);
TARGET(l2, .name = "l2",
       .summary = "K-norm noise on a vector of five numbers with a delta, the noise of curate --mechanism l2", ADDITIVE,
       .create = create_l2, .run = run_vector);
TARGET(l2_short, .name = "control:l2-scale-5-short",
       .summary = "l2 noise on a vector of two numbers whose scale is 5 % short", .control = true, ADDITIVE,
       .create = create_l2, .run = run_vector);
