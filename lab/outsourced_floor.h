/* SPDX-License-Identifier: Apache-2.0 */
/* outsourced_floor.h - what a modeler that knew f could reach: the floor of the simple regret. */
#pragma once

#include "outsourced_problem.h"

#include <stdbool.h>

typedef struct lab_floor {
    double bound; /* no choice of rows has a smaller expected regret */
    size_t *rows; /* queries: chosen one by one for expected improvement; the caller owns it */
} lab_floor;

/* Z (d x n): the released rows; the noise is Gaussian of standard deviation `scale` per coordinate, or of density
 * proportional to exp(-|.|/scale). rows has room for `queries`, which is at most n. */
tacet_status lab_floor_find(lab_floor *out, const lab_problem *p, const double *f, const double *Z, bool laplace,
                            double scale, size_t queries, tacet_error *err);
