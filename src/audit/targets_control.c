/* SPDX-License-Identifier: Apache-2.0 */
/* targets_control.c - mechanisms broken on purpose. An auditor that misses one of these is worthless.
 * Ring: audit. None of this code is used by anything that releases data. */
#include "audit/targets.h"

#include "gp/linalg.h"
#include "dp/noise/sampler.h"

#include <tacet/dp/open/calibrate.h>
#include "outsourced/trusted/published.h"

#include <math.h>
#include <string.h>

typedef struct gaussian {
    double sigma;
    int grid;
} gaussian;

static tacet_status create_half(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                                tacet_error *err) {
    gaussian *g = state;
    (void)self;
    const tacet_status status = tacet_calibrate_gaussian(&g->sigma, claim->eps, claim->delta, 1, err);
    g->sigma *= 0.5;
    g->grid = status == TACET_OK ? tacet__grid_exponent(g->sigma, DRAW_GRID_BITS) : 0;
    return status;
}

static tacet_status run_half(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                             double *statistic, tacet_error *err) {
    const gaussian *g = state;
    (void)self;
    double z = 0;
    const tacet_status status = tacet__draw_gaussian(noise, &z, 1, g->sigma, g->grid, err);
    *statistic = z + world;
    return status;
}

/* Textbook Laplace: a uniform double, a logarithm, a sum. Near 0 the sum 1 + noise falls on multiples of 2^-53 only,
 * while 0 + noise keeps all bits of a small double: one look at the low bits tells the inputs apart (Mironov 2012). */
static tacet_status create_float(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                                 tacet_error *err) {
    (void)self;
    (void)err;
    *(double *)state = 1 / claim->eps;
    return TACET_OK;
}

static tacet_status run_float(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                              double *statistic, tacet_error *err) {
    const double scale = *(const double *)state;
    (void)self;
    (void)err;
    const double u = (double)(tacet__noise_u64(noise) >> 11) * 0x1p-53 - 0.5;
    const double z = -scale * copysign(log1p(-2 * fabs(u)), u);
    const double y = (double)world + z;
    const double scaled = y * 0x1p53;
    const bool fine = fabs(y) < 0.25 && scaled != floor(scaled);
    *statistic = fine ? -1 : 0;
    return TACET_OK;
}

/* The published projection of a small table; one record moves by distance 1. The attacker knows both candidate tables
 * and measures how far the output is from the column space of each. */
enum { ROWS = 6, COLUMNS = 2, DIMS = 3 };

typedef struct published {
    double eps, delta;
    double X[2][COLUMNS * ROWS];     /* records, one per column */
    double basis[2][ROWS * COLUMNS]; /* orthonormal basis of the centred table's column space, in R^ROWS */
} published;

static void column_space(double *basis, const double *X) {
    for (size_t c = 0; c < COLUMNS; c++) {
        double *b = basis + c * ROWS;
        double mean = 0;
        for (size_t i = 0; i < ROWS; i++) {
            mean += X[i * COLUMNS + c] / ROWS;
        }
        for (size_t i = 0; i < ROWS; i++) {
            b[i] = X[i * COLUMNS + c] - mean;
        }
        for (size_t pass = 0; pass < 2; pass++) { /* twice: once is not orthogonal to rounding error */
            for (size_t k = 0; k < c; k++) {
                tacet__axpy(b, -tacet__dot(b, basis + k * ROWS, ROWS), basis + k * ROWS, ROWS);
            }
        }
        const double norm = tacet__norm2(b, ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            b[i] /= norm;
        }
    }
}

static tacet_status create_published(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                                     tacet_error *err) {
    static const double TABLE[COLUMNS * ROWS] = {3, 1, -2, 4, 0, -1, 5, 2, -4, -3, 1, -2};
    published *p = state;
    (void)self;
    (void)err;
    p->eps = claim->eps;
    p->delta = claim->delta > 0 ? claim->delta : 1e-5;
    for (int w = 0; w < 2; w++) {
        memcpy(p->X[w], TABLE, sizeof TABLE);
        p->X[w][0] += w;
        column_space(p->basis[w], p->X[w]);
    }
    return TACET_OK;
}

static double distance_to(const double *basis, const double *Z) {
    double far = 0;
    for (size_t k = 0; k < DIMS; k++) {
        double column[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            column[i] = Z[i * DIMS + k];
        }
        for (size_t c = 0; c < COLUMNS; c++) {
            tacet__axpy(column, -tacet__dot(column, basis + c * ROWS, ROWS), basis + c * ROWS, ROWS);
        }
        far += tacet__norm2(column, ROWS);
    }
    return far;
}

static tacet_status run_published(void *state, const tacet_audit_target *self, tacet_noise *noise, int world,
                                  double *statistic, tacet_error *err) {
    const published *p = state;
    (void)self;
    double M[COLUMNS * DIMS];
    double Z[DIMS * ROWS];
    tacet_status status = tacet__draw_gaussian(noise, M, (size_t)COLUMNS * DIMS, 1, -DRAW_GRID_BITS, err);
    TACET_THEN(status, tacet_published_project(Z, DIMS, NULL, p->X[world], COLUMNS, COLUMNS, ROWS, M, COLUMNS, DIMS,
                                               p->eps, p->delta, err));
    if (status != TACET_OK) {
        return status;
    }
    *statistic = log(distance_to(p->basis[0], Z) + 1e-300) - log(distance_to(p->basis[1], Z) + 1e-300);
    return TACET_OK;
}

TARGET(half_noise, .name = "control:half-noise", .summary = "BROKEN: Gaussian noise of half the calibrated scale",
       .control = true, .size = sizeof(gaussian), .create = create_half, .run = run_half);
TARGET(float_laplace, .name = "control:float-laplace", .summary = "BROKEN: textbook Laplace noise in floating point",
       .control = true, .pure = true, .size = sizeof(double), .create = create_float, .run = run_float);
TARGET(published, .name = "control:published-projection",
       .summary = "BROKEN: the published random projection of a table of records", .control = true,
       .size = sizeof(published), .create = create_published, .run = run_published);
