/* SPDX-License-Identifier: Apache-2.0 */
/* averaging_kernel.h - Matérn 5/2 and expected improvement as straight-line code. Ring: open. */
#pragma once

#include "gp/vexp.h"

#include <math.h>

/* Of the squared distance in lengthscales. */
TACET__INLINE double tacet__matern52(double square) {
    const double r = sqrt(5 * square);
    return (1 + r + (5.0 / 3.0) * square) * tacet__vexp(-r);
}

/* Expected improvement E max(0, X), X ~ N(gap, sd^2): sd (max(z, 0) + h(|z|)), z = gap / sd, with h(a) = phi(a) - a
 * Q(a) of the normal density phi and its upper tail Q. h(a) (1 + a)^2 / phi(a) is smooth in x = (a - K) / (a + K), K
 * = 3.75 (Shepherd, Laframboise 1981, for erfc): a polynomial of degree 18, from its Chebyshev series, has a relative
 * error below 1e-11 for every a >= 0 (tests/outsourced/test_averaging.c measures it against erfc). 0 below z = -37. */
TACET__INLINE double tacet__improvement(double gap, double sd) {
    const double z = gap / sd;
    const double a = fabs(z);
    const double x = (a - 3.75) / (a + 3.75);
    const double x2 = x * x;
    const double x4 = x2 * x2;
    const double p0 =
        (1.3457590864218454 - 0.33424198556432298 * x) + x2 * (-0.21863431793147887 + 0.36739023830091862 * x);
    const double p1 =
        (-0.18755484267905723 - 0.011198389943698436 * x) + x2 * (0.06484937543759111 - 0.026987875112847907 * x);
    const double p2 =
        (-0.004641688336630566 + 0.006052477027021914 * x) + x2 * (0.00026548770559747438 - 0.0012242007083942258 * x);
    const double p3 =
        (-6.9122784965488867e-5 + 0.0002492253052754626 * x) + x2 * (3.5513499252246986e-5 - 4.4156907712653638e-5 * x);
    const double p4 = (-1.1091376536043509e-5 + 4.6676065782662282e-6 * x) + x2 * 1.6000453209119308e-6;
    const double p = p0 + x4 * (p1 + x4 * (p2 + x4 * (p3 + x4 * p4)));
    const double h = 0.39894228040143267794 * tacet__vexp(-0.5 * a * a) * p / ((1 + a) * (1 + a));
    return sd * ((z > 0 ? z : 0) + h);
}
