/* SPDX-License-Identifier: Apache-2.0 */
/* levels.c - what a level that was released by randomised response tells.
 * Ring: open. Source: Kairouz, Bonawitz, Ramage 2016 (k-ary randomised response). */
#include <tacet/dp/open/calibrate.h>

#include <math.h>

double tacet_levels_keep(size_t k, double eps) {
    return 1 / (1 + (double)(k - 1) * exp(-eps));
}

double tacet_levels_other(size_t k, double eps) {
    return exp(-eps) / (1 + (double)(k - 1) * exp(-eps));
}

double tacet_levels_told(size_t k, double eps) {
    const double keep = tacet_levels_keep(k, eps);
    const double other = tacet_levels_other(k, eps);
    return keep * keep + (double)(k - 1) * other * other;
}
