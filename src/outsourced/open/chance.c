/* SPDX-License-Identifier: Apache-2.0 */
/* chance.c - what random rows would have done: told from a few of them, or exactly from all.
 * Ring: open. Source: order statistics of exchangeable values (David and Nagaraja 2003, section 2). Of n + q rows drawn
 * at random without replacement every split into the n that were asked and q others is equally likely, whatever the law
 * of their values, so that ranks have known probabilities and nothing is assumed of the tail. Differs from a fitted
 * law, which foretells how far the best of q exceeds what was seen: ten values cannot know that, and a band that claims
 * to is above the best of all records on some tables and flatters on others. Cost: O(n log n). */
#include "outsourced/open/modeler_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <math.h>
#include <stdlib.h>

static const double LIKELY = 0.95;

/* Probability that `top` given ones of `rows` values are all better than each of `others` more: they are the first
 * `top` of rows + others, and all are from the former: C(rows, top) / C(rows + others, top). */
static double all_ahead(size_t top, size_t rows, size_t others) {
    double share = 1;
    for (size_t k = 0; k < top; k++) {
        share *= rows > k ? (double)(rows - k) / (double)(rows + others - k) : 0;
    }
    return share;
}

tacet_status tacet_chance_tell(tacet_chance *out, const double *random, size_t rows, const double *chosen, size_t count,
                               size_t queries, bool minimize, tacet_error *err) {
    *out = (tacet_chance){.rows = rows, .queries = queries, .chosen = count};
    if (rows == 0 || queries == 0) {
        return tacet__fail(err, TACET_STATE, "the value of a random row is needed, and a query");
    }
    double *v = TACET__ZALLOC(double, rows);
    if (v == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu values", rows);
    }
    const double sign = minimize ? -1 : 1;
    for (size_t i = 0; i < rows; i++) {
        v[i] = -sign * random[i]; /* best first */
    }
    tacet__sort(v, rows);
    /* The best of the others misses the k-th best of these only where the first k of all are among these. */
    size_t k = 1;
    while (k < rows && all_ahead(k, rows, queries) > 1 - LIKELY) {
        k++;
    }
    out->likely = -sign * v[k - 1];
    out->likely_share = 1 - all_ahead(k, rows, queries);
    out->best = -sign * v[0];
    out->best_share = 1 - all_ahead(1, rows, queries);
    for (size_t i = 0; i < count; i++) {
        out->better += -sign * chosen[i] < v[0] ? 1 : 0;
    }
    /* At least `better` of `chosen` random rows are ahead of all these. Ties only make it rarer. */
    out->by_luck = all_ahead(out->better, count, rows);
    free(v);
    return TACET_OK;
}

/* The k-th largest of n is the best of `queries` random rows with probability C(n-k, queries-1) / C(n, queries); the
 * ratio to what is left over the first k is queries / (n - k), k from 0. */
tacet_status tacet_chance_exact(tacet_chance_band *out, double *mean, const double *values, size_t n, size_t queries,
                                bool minimize, tacet_error *err) {
    *out = (tacet_chance_band){0};
    *mean = 0;
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
    *mean = sign * sum;
    out->low = -sign * v[quantile[0]];
    out->median = -sign * v[quantile[1]];
    out->high = -sign * v[quantile[2]];
    free(v);
    return TACET_OK;
}
