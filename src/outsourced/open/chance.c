/* SPDX-License-Identifier: Apache-2.0 */
/* chance.c - what random rows would have done: told from a few of them.
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
