/* SPDX-License-Identifier: Apache-2.0 */
/* sphere.h - how a coordinate of a uniform point of the sphere in R^dims is distributed, with bounds.
 * Ring: pure. Formulas: l2.md beside this file. dims >= 2. */
#pragma once

#include <stdbool.h>

#include "dp/open/interval.h"

typedef struct sphere {
    size_t dims;
    interval density; /* of a coordinate at 0: Gamma(d/2) / (sqrt(pi) Gamma((d-1)/2)) */
} sphere;

void tacet__sphere_init(sphere *out, size_t dims);
/* The share of the sphere whose first coordinate is below some number of s. */
interval tacet__sphere_below(const sphere *p, interval s);
/* Ranges of the density h of the coordinate and of its slope over s; false where one of them is not bounded there, or h
 * jumps. */
bool tacet__sphere_density(interval *h, interval *slope, const sphere *p, interval s);
