/* SPDX-License-Identifier: Apache-2.0 */
/* averaging_list.c - which of many rows are looked at every round.
 * Ring: open. Up to TACET__AVERAGING_LISTED rows: all. Of more: half of that number by the posterior mean, whatever
 * lies far from what was measured being the other half's, drawn at random and so where rows are dense. Chosen anew when
 * the count has grown by a quarter (averaging_fit.c): O(6 n t) each time, O(n horizon) in all. Nothing else in a round
 * grows with n. */
#include "outsourced/open/averaging_state.h"

#include "core/numbers.h"

#include <stdint.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { BLOCK = TACET__AVERAGING_BLOCK };
static const uint64_t STREAM = UINT64_C(1) << 40; /* apart from those of single choices */

size_t tacet__averaging_row(const tacet__averaging *l, size_t i) {
    return l->list != NULL ? l->list[i] : i;
}

/* means[i] += w (posterior mean of row i), by one draw. */
static void add_means(tacet__averaging *l, const tacet__draw *r, double w) {
    double k[BLOCK];
    double *alpha = l->work + l->horizon;
    tacet__averaging_solve(l, r, alpha, 0);
    for (size_t from = 0; from < l->n; from += BLOCK) {
        const size_t m = l->n - from < BLOCK ? l->n - from : BLOCK;
        double *mean = l->means + from;
        for (size_t j = 0; j < l->count; j++) {
            tacet__averaging_kernel(l, r, l->rows[j], l->x, l->n, from, m, k);
            for (size_t i = 0; i < m; i++) {
                mean[i] += w * alpha[j] * k[i];
            }
        }
        for (size_t i = 0; i < m; i++) {
            mean[i] += w * r->mean;
        }
    }
}

void tacet__averaging_relist(tacet__averaging *l) {
    if (l->list == NULL) {
        return;
    }
    double *sorted = l->means + l->n;
    tacet_simrng rng;
    memset(l->means, 0, l->n * sizeof *l->means);
    for (size_t b = 0; b < l->best_count; b++) {
        add_means(l, &l->draws[l->best[b]], l->weight[b]);
    }
    memcpy(sorted, l->means, l->n * sizeof *sorted);
    tacet__sort(sorted, l->n);
    const double least = sorted[l->n - l->listed / 2];
    tacet_simrng_init(&rng, l->seed, STREAM + l->count);
    /* Those above, then of the rest each with the probability that fills the list (Knuth 1969, algorithm S). */
    size_t above = 0;
    for (size_t i = 0; i < l->n; i++) {
        above += l->means[i] > least ? 1 : 0;
    }
    size_t wanted = l->listed - above;
    size_t rest = l->n - above;
    size_t count = 0;
    for (size_t i = 0; i < l->n; i++) {
        bool take = l->means[i] > least;
        if (!take) {
            take = tacet_simrng_below(&rng, rest--) < wanted;
            wanted -= take ? 1 : 0;
        }
        if (take) {
            for (size_t a = 0; a < l->axes; a++) {
                l->near[a * l->listed + count] = l->x[a * l->n + i];
            }
            l->list[count++] = i;
        }
    }
    for (size_t s = 0; s < l->shelf_count; s++) {
        l->shelves[s].draw = SIZE_MAX;
    }
}
