/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - where a row lies in the table of a plan. Ring: shared. */
#ifndef TACET_SRC_AB_SHARED_PLAN_H
#define TACET_SRC_AB_SHARED_PLAN_H

#include <tacet/ab/shared/plan.h>

/* A row is a record of the space (tacet/space/space.h): which action, which context it has. A number outside its bounds
 * is in the nearest bin, a missing one in the middle. */
size_t tacet_ab_plan_action(const tacet_ab_plan *plan, const double *record);
size_t tacet_ab_plan_context(const tacet_ab_plan *plan, const double *record);
/* Where a number of column j lies within its bounds, from 0 to 1; and the number that lies there. */
double tacet_ab_plan_place(const tacet_ab_plan *plan, size_t j, double value);
double tacet_ab_plan_at(const tacet_ab_plan *plan, size_t j, double place);
/* The knots that the law of rewards is told at: 0, then hi / 512 doubled up to hi. */
double tacet_ab_knot(const tacet_ab_plan *plan, size_t k);

#endif
