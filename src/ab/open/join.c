/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - the tables of a study's epochs as one. Ring: open. Source: src/ab/README.md, "Several tables": generalised
 * least squares cell by cell. Cost: some passes over all cells of all epochs. */
#include "ab/open/internal.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SHARE_LEAST = 0.005; /* of p (1 - p), what a reward scatters by within a cell */
static const double MISSING_SPREADS = 3; /* fewer rows than tickets by so much noise: some did not report */

double tacet__ab_rows_of(const tacet_ab_facts *f, size_t e) {
    const size_t K = f->plan.cells;
    const double *released = f->released + e * f->plan.numbers;
    double sum = 0;
    for (size_t i = 0; i < 2 * K; i++) {
        sum += released[i];
    }
    return sum < f->tickets[e] - MISSING_SPREADS * f->scale * sqrt(4 * (double)K) ? fmax(sum, 1) : f->tickets[e];
}

/* Adds epoch e to z and n: a cell's contrast with variance n s u + v, weighted by n s u/(n s u + v). Then the sum has
 * mean n' (mean - p) and variance n' s u with n' the sum of the weighted n: a table without noise, of n' rows. */
static tacet_status add_epoch(const tacet__ab_data *d, double *z, double *n, const tacet_ab_table *shared,
                              const tacet_ab_facts *f, size_t e, double share, tacet_error *err) {
    tacet_ab_table t = *shared;
    tacet__ab_data one;
    t.up = f->released + e * f->plan.numbers;
    t.down = t.up + f->plan.cells;
    t.scale = f->scale;
    t.rows = tacet__ab_rows_of(f, e);
    const tacet_status status = tacet__ab_data_init(&one, &t, err);
    if (status != TACET_OK) {
        return status;
    }
    const double p = d->p, v = 2 * f->scale * f->scale * ((1 - p) * (1 - p) + p * p);
    for (size_t i = 0; i < d->K; i++) {
        const double sampling = one.n[i] * share * p * (1 - p);
        const double weight = sampling / (sampling + v);
        z[i] += weight * ((1 - p) * t.up[i] - p * t.down[i]);
        n[i] += weight * one.n[i];
    }
    tacet__ab_data_clear(&one);
    return TACET_OK;
}

tacet_status tacet__ab_data_join(tacet__ab_data *d, tacet_ab_table *joined, const tacet_ab_facts *f, tacet_error *err) {
    const size_t K = f->plan.cells;
    double *sums = TACET__ZALLOC(double, 2 * K), *z = TACET__ZALLOC(double, K), *n = TACET__ZALLOC(double, K);
    tacet_status status = sums == NULL || z == NULL || n == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for the tables of a study")
                              : TACET_OK;
    memset(d, 0, sizeof *d);
    joined->rows = 0;
    for (size_t e = 0; e < f->epochs && status == TACET_OK; e++) {
        joined->rows += tacet__ab_rows_of(f, e);
        for (size_t i = 0; i < 2 * K; i++) {
            sums[i] += f->released[e * f->plan.numbers + i];
        }
    }
    joined->up = sums;
    joined->down = sums + K;
    joined->scale = f->scale * sqrt((double)f->epochs);
    TACET_THEN(status, tacet__ab_data_init(d, joined, err));
    const double u = d->p * (1 - d->p);
    const double share = joined->variance > 0 ? fmin(fmax(joined->variance / u, SHARE_LEAST), 1) : 1;
    for (size_t e = 0; e < f->epochs && status == TACET_OK; e++) {
        status = add_epoch(d, z, n, joined, f, e, share, err);
    }
    for (size_t i = 0; i < K && status == TACET_OK; i++) {
        d->z[i] = z[i];
        d->n[i] = fmax(n[i], 1e-3);
    }
    joined->up = joined->down = NULL; /* from here on z and n stand for them */
    joined->scale = joined->variance = 0;
    joined->variance_share = share;
    free(sums);
    free(z);
    free(n);
    if (status != TACET_OK) {
        tacet__ab_data_clear(d);
    }
    return status;
}
