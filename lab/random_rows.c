/* SPDX-License-Identifier: Apache-2.0 */
/* random_rows.c - see random_rows.h. Ring: lab. Source: order statistics (David and Nagaraja 2003, section 2). Cost:
 * O(n log n). */
#include "random_rows.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>

/* The k-th largest of n is the best of `queries` random rows with probability C(n-k, queries-1) / C(n, queries); the
 * ratio to what is left over the first k is queries / (n - k), k from 0. */
tacet_status random_rows_best(random_rows *out, const double *values, size_t n, size_t queries, bool minimize,
                              tacet_error *err) {
    *out = (random_rows){0};
    if (queries == 0 || queries > n) {
        return tacet__fail(err, TACET_INVALID, "%zu random rows of %zu", queries, n);
    }
    double *v = TACET__ZALLOC(double, n);
    if (v == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu values", n);
    }
    const double sign = minimize ? -1 : 1;
    for (size_t i = 0; i < n; i++) {
        v[i] = -sign * values[i]; /* best first */
    }
    tacet__sort(v, n);
    double left = 1;
    double sum = 0;
    size_t quantile[3] = {n - 1, n - 1, n - 1};
    static const double SHARES[3] = {0.05, 0.5, 0.95}; /* of the probability left below: worse, middle, better */
    for (size_t k = 0; k < n; k++) {
        const double here = fmin(left, left * (double)queries / (double)(n - k));
        sum -= here * v[k];
        left -= here;
        for (size_t q = 0; q < 3; q++) {
            quantile[q] = left <= SHARES[q] && quantile[q] == n - 1 ? k : quantile[q];
        }
        if (!(left > 1e-15)) {
            break;
        }
    }
    out->mean = sign * sum;
    out->low = -sign * v[quantile[0]];
    out->median = -sign * v[quantile[1]];
    out->high = -sign * v[quantile[2]];
    free(v);
    return TACET_OK;
}
