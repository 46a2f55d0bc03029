/* SPDX-License-Identifier: Apache-2.0 */
/* quadrature.c - Gauss rules by the eigenvalues of the Jacobi matrix, and product rules.
 * Ring: pure. Source: Golub & Welsch 1969; recurrences from Gautschi 2004, table 1.1. Differs: eigenvalues start a
 * Newton iteration on the recurrence itself, and the weights are Christoffel numbers 1 / sum p_k(x)^2, because squared
 * eigenvector components lose all digits of the small weights. Cost: O(n^2) after an O(n^3) eigenproblem. */
#include "gp/quadrature.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

enum { NEWTON_STEPS = 3 };

/* b[k] = b_(k+1) of the orthonormal recurrence x p_k = b_(k+1) p_(k+1) + b_k p_(k-1), p_0 = 1; n of them. Polishes one
 * node and returns its weight. */
static double polish(double *node, const double *b, size_t n) {
    double x = *node;
    double sum = 0;
    for (int step = 0; step <= NEWTON_STEPS; step++) {
        double before = 0;
        double p = 1;
        double slope_before = 0;
        double slope = 0;
        sum = 0;
        for (size_t k = 0; k < n; k++) {
            const double last = k == 0 ? 0 : b[k - 1];
            const double next = (x * p - last * before) / b[k];
            const double slope_next = (p + x * slope - last * slope_before) / b[k];
            sum += p * p;
            before = p;
            p = next;
            slope_before = slope;
            slope = slope_next;
        }
        if (step < NEWTON_STEPS) {
            x -= p / slope;
        }
    }
    *node = x;
    return 1 / sum;
}

/* b has n entries. */
static tacet_status gauss(double *nodes, double *weights, const double *b, size_t n, tacet_error *err) {
    double off[TACET__QUADRATURE_MOST] = {0};
    double *vectors = TACET__ALIGNED(double, n *n);
    if (vectors == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a quadrature rule of %zu nodes", n);
    }
    for (size_t k = 0; k < n; k++) {
        nodes[k] = 0;
        weights[k] = 0;
        off[k] = b[k];
    }
    const tacet_status status = tacet__tridiagonal(nodes, off, n, vectors, n, err);
    free(vectors);
    if (status != TACET_OK) {
        return status;
    }
    double total = 0;
    for (size_t i = 0; i < (n + 1) / 2; i++) {
        const size_t mirror = n - 1 - i;
        double node = i == mirror ? 0 : nodes[mirror];
        const double weight = polish(&node, b, n);
        nodes[mirror] = i == mirror ? 0 : node;
        nodes[i] = i == mirror ? 0 : -node;
        weights[i] = weight;
        weights[mirror] = weight;
        total += i == mirror ? weight : 2 * weight;
    }
    for (size_t i = 0; i < n; i++) {
        weights[i] /= total;
    }
    return TACET_OK;
}

static tacet_status check(size_t n, tacet_error *err) {
    if (n == 0 || n > TACET__QUADRATURE_MOST) {
        return tacet__fail(err, TACET_INVALID, "a quadrature rule has 1 to %d nodes, not %zu",
                           (int)TACET__QUADRATURE_MOST, n);
    }
    return TACET_OK;
}

tacet_status tacet__gauss_hermite(double *nodes, double *weights, size_t n, tacet_error *err) {
    double b[TACET__QUADRATURE_MOST];
    TACET_OR_RETURN(check(n, err));
    for (size_t k = 0; k < n; k++) {
        b[k] = sqrt((double)(k + 1));
    }
    return gauss(nodes, weights, b, n, err);
}

tacet_status tacet__gauss_gegenbauer(double *nodes, double *weights, size_t n, double lambda, tacet_error *err) {
    double b[TACET__QUADRATURE_MOST];
    TACET_OR_RETURN(check(n, err));
    if (!(lambda > 0 && isfinite(lambda))) {
        return tacet__fail(err, TACET_INVALID, "a Gegenbauer law needs lambda > 0");
    }
    for (size_t k = 0; k < n; k++) {
        const double j = (double)(k + 1);
        b[k] = sqrt(j * (j + 2 * lambda - 1) / (4 * (j + lambda) * (j + lambda - 1)));
    }
    return gauss(nodes, weights, b, n, err);
}

tacet_status tacet__gauss_legendre(double *nodes, double *weights, size_t n, tacet_error *err) {
    return tacet__gauss_gegenbauer(nodes, weights, n, 0.5, err);
}

static size_t power(size_t n, size_t d) {
    size_t p = 1;
    for (size_t i = 0; i < d; i++) {
        p *= n;
    }
    return p;
}

tacet_status tacet__quadrature_box(double *X, double *weights, size_t d, size_t n, const double *lower,
                                   const double *upper, tacet_error *err) {
    double t[TACET__QUADRATURE_MOST];
    double w[TACET__QUADRATURE_MOST];
    TACET_OR_RETURN(tacet__gauss_legendre(t, w, n, err));
    const size_t count = power(n, d);
    for (size_t j = 0; j < count; j++) {
        size_t rest = j;
        weights[j] = 1;
        for (size_t c = 0; c < d; c++) {
            const size_t i = rest % n;
            rest /= n;
            X[j * d + c] = 0.5 * (lower[c] + upper[c]) + 0.5 * (upper[c] - lower[c]) * t[i];
            weights[j] *= w[i];
        }
    }
    return TACET_OK;
}

tacet_status tacet__quadrature_ball(double *X, double *weights, size_t d, size_t n, const double *centre, double radius,
                                    tacet_error *err) {
    double t[TACET__QUADRATURE_MOST] = {0};
    double w[TACET__QUADRATURE_MOST] = {0};
    TACET_OR_RETURN(check(n, err));
    const size_t count = power(n, d);
    for (size_t j = 0; j < count; j++) {
        weights[j] = 1;
    }
    size_t stride = 1;
    for (size_t c = 0; c < d; c++) {
        const tacet_status one = tacet__gauss_gegenbauer(t, w, n, 0.5 * (double)(d - c), err);
        if (one != TACET_OK) {
            return one;
        }
        for (size_t j = 0; j < count; j++) {
            const size_t i = j / stride % n;
            double left = radius * radius;
            for (size_t before = 0; before < c; before++) {
                left -= X[j * d + before] * X[j * d + before];
            }
            X[j * d + c] = sqrt(left > 0 ? left : 0) * t[i];
            weights[j] *= w[i];
        }
        stride *= n;
    }
    for (size_t j = 0; centre != NULL && j < count; j++) {
        for (size_t c = 0; c < d; c++) {
            X[j * d + c] += centre[c];
        }
    }
    return TACET_OK;
}
