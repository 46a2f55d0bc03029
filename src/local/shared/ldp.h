/* SPDX-License-Identifier: Apache-2.0 */
/* ldp.h - the numbers that reports are made of. Ring: shared. */
#pragma once

#include <tacet/local/shared/sphere.h>
#include <tacet/local/shared/ldp.h>

/* Whether a device that follows the rules can have sent this. */
bool tacet_ldp_possible(const tacet_ldp *ldp, double report);
/* The report of piecewise cell k, of grid place n (Laplace), of Duchi's bit. Same doubles everywhere. */
double tacet_ldp_cell(const tacet_ldp *ldp, uint32_t k);
double tacet_ldp_place(const tacet_ldp *ldp, int64_t n);
double tacet_ldp_bit(const tacet_ldp *ldp, bool up);

/* The record that a report speaks for: dim numbers. INVALID: not a report of this randomiser. `work`: dim + 1. */
tacet_status tacet_sphere_estimate(const tacet_sphere *sphere, double *out, double *work, uint64_t round, double report,
                                   tacet_error *err);
/* The directions of a round from the nearest to the record to the farthest, for tacet_randomize_among: ldp.cells
 * numbers, each direction once whatever the record is. A record is at most 1 long, as tacet__embed makes it. Wipes
 * `work`: 2 (dim + 1) + ldp.cells. */
void tacet_sphere_order(const tacet_sphere *sphere, uint32_t *order, double *work, uint64_t round,
                        const double *record);
