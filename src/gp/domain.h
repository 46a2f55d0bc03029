/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - public domains: checked, points brought into them, points spread over them. Ring: pure. */
#pragma once

#include <stddef.h>
#include "gp/features.h"

/* INVALID names what is wrong: no dimension, bounds that are not finite or not ordered, a radius that is not > 0. */
tacet_status tacet__domain_check(const tacet_domain *domain, tacet_error *err);
/* The nearest point of the domain, in place; a coordinate that is NaN becomes that of the centre, an infinite one the
 * nearest bound (box) or sends the point to the centre (ball). A coordinate with levels goes to the nearest of them, a
 * choice to its largest coordinate. Total, so that a private point never causes an error. */
void tacet__domain_clip(const tacet_domain *domain, double *x);
/* `count` points (columns of X, d x count) that fill the domain evenly: the additive recurrence x_n = frac(n a) with a
 * from the root of a^(d+1) = a + 1 (Roberts 2018), points outside a ball passed over;
 * coordinates with levels and choices take their values in turn. The same for every caller. At
 * most 2^16 trials a point; a ball of high dimension then gets the trial scaled onto its surface. */
void tacet__domain_spread(const tacet_domain *domain, double *X, size_t count);
/* How many points a domain has whose coordinates all have levels or are choices; 0: it has a coordinate of any value,
 * or more points than a million. tacet__domain_spread then gives each of them once, given that count. */
size_t tacet__domain_levels(const tacet_domain *domain);
/* In how many columns two points of a box have the same value; *columns: how many there are, a choice being one. */
size_t tacet__domain_agree(const tacet_domain *domain, const double *x, const double *y, size_t *columns);
