/* SPDX-License-Identifier: Apache-2.0 */
/* binomial.c - exact one-sided confidence bounds for a probability.
 * Ring: audit. Source: Clopper and Pearson 1934. The bounds solve P(Bin(n, p) >= hits) = 1 - confidence (lower) and
 * P(Bin(n, p) <= hits) = 1 - confidence (upper) by bisection on the regularised incomplete beta function, itself by
 * Lentz's continued fraction; the bisection ends on the conservative side. Cost: some 60 continued fractions. */
#include "audit/bound.h"

#include <math.h>

static double nonzero(double x) {
    const double tiny = 1e-300;
    return fabs(x) < tiny ? tiny : x;
}

/* I_x(a, b) for x below the mean of the beta distribution, where the fraction converges fast. */
static double fraction(double a, double b, double x) {
    double c = 1;
    double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
    double h = d;
    /* Some sqrt(max(a, b)) steps are needed; the limit only bounds a loop that has converged long before. */
    for (int m = 1; m < 1000000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / nonzero(1 + even * d);
        c = nonzero(1 + even / c);
        h *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / nonzero(1 + odd * d);
        c = nonzero(1 + odd / c);
        const double step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-15) {
            break;
        }
    }
    return exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) * h / a;
}

static double beta_cdf(double a, double b, double x) {
    if (x <= 0) {
        return 0;
    }
    if (x >= 1) {
        return 1;
    }
    return x < (a + 1) / (a + b + 2) ? fraction(a, b, x) : 1 - fraction(b, a, 1 - x);
}

/* The p with I_p(a, b) = tail; the end of the last bracket that `upper` asks for. */
static double quantile(double a, double b, double tail, bool upper) {
    double lo = 0;
    double hi = 1;
    for (int i = 0; i < 200 && hi - lo > 1e-14 * hi; i++) {
        const double middle = lo + (hi - lo) / 2;
        if (beta_cdf(a, b, middle) < tail) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return upper ? hi : lo;
}

double tacet_audit_lower(size_t hits, size_t n, double confidence) {
    if (hits == 0 || n == 0) {
        return 0;
    }
    return quantile((double)hits, (double)(n - hits) + 1, 1 - confidence, false);
}

double tacet_audit_upper(size_t hits, size_t n, double confidence) {
    if (hits >= n) {
        return 1;
    }
    return quantile((double)hits + 1, (double)(n - hits), confidence, true);
}
