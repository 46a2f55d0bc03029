/* SPDX-License-Identifier: Apache-2.0 */
/* counts.c - how many rows each cell has, from noisy counts; the overall mean; the contrast that the chain learns from.
 * Ring: open. Source: src/ab/README.md, "Counts". Counts are shrunk towards a product of margins as far as they are
 * one: empirical Bayes with a single dispersion. Cost: a few passes over the cells. */
#include "ab/open/internal.h"
#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t tacet__ab_level(const tacet_ab_table *t, size_t c, size_t j) {
    for (size_t k = 0; k < j; k++) {
        c /= t->levels[k]; /* NOLINT(clang-analyzer-core.DivideZero): a column has levels */
    }
    return c % t->levels[j];
}

/* Moves noisy counts towards their fit m, in place of `counts`: d = N - m has variance m + t m^2 and the noise. */
static void shrink(double *counts, const double *m, size_t n, double noise_var) {
    double excess = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = counts[i] - m[i];
        excess += d * d - m[i] - noise_var;
        square += m[i] * m[i];
    }
    const double t = square > 0 ? fmax(0, excess / square) : 0;
    for (size_t i = 0; i < n; i++) {
        const double own = m[i] + t * m[i] * m[i];
        const double kept = own > 0 ? own / (own + noise_var) : 0;
        counts[i] = fmax(m[i] + (counts[i] - m[i]) * kept, 0.5);
    }
}

/* Contexts' counts: shrunk towards the product of the columns' margins where there are several. */
static void shrink_contexts(const tacet__ab_data *d, double *counts, double *fit, double noise_var) {
    const tacet_ab_table *t = d->table;
    double total = 0;
    for (size_t c = 0; c < d->C; c++) {
        total += counts[c];
        fit[c] = 1;
    }
    total = fmax(total, 1);
    if (t->columns < 2) {
        for (size_t c = 0; c < d->C; c++) {
            counts[c] = fmax(counts[c], 0.5);
        }
        return;
    }
    for (size_t j = 0; j < t->columns; j++) {
        for (size_t l = 0; l < t->levels[j]; l++) {
            double sum = 0;
            for (size_t c = 0; c < d->C; c++) {
                sum += tacet__ab_level(t, c, j) == l ? counts[c] : 0;
            }
            for (size_t c = 0; c < d->C; c++) {
                fit[c] *= tacet__ab_level(t, c, j) == l ? fmax(sum, 0.5) / total : 1;
            }
        }
    }
    for (size_t c = 0; c < d->C; c++) {
        fit[c] *= total;
    }
    shrink(counts, fit, d->C, noise_var);
}

static void set_counts(tacet__ab_data *d, double *contexts, double *fit, double *actions) {
    const tacet_ab_table *t = d->table;
    const double v = 4 * t->scale * t->scale; /* of up + down: twice 2 b^2 */
    double total = 0, all = 0;
    memset(contexts, 0, d->C * sizeof *contexts);
    for (size_t i = 0; i < d->K; i++) {
        d->n[i] = t->up[i] + t->down[i];
        contexts[i / d->A] += d->n[i];
    }
    for (size_t a = 0; a < d->A; a++) {
        actions[a] = t->up_totals != NULL ? t->up_totals[a] + t->down_totals[a] : 0;
        for (size_t c = 0; c < d->C && t->up_totals == NULL; c++) {
            actions[a] += d->n[c * d->A + a];
        }
        actions[a] = fmax(actions[a], 0.5);
        all += actions[a];
    }
    shrink_contexts(d, contexts, fit, v * (double)d->A);
    for (size_t c = 0; c < d->C; c++) {
        total += contexts[c];
    }
    for (size_t c = 0; c < d->C; c++) {
        d->q[c] = contexts[c] / total;
        d->q_sd[c] = sqrt(d->q[c] * (1 - d->q[c]) / t->rows + v * (double)d->A / (t->rows * t->rows));
    }
    for (size_t c = 0; c < d->C; c++) {
        for (size_t a = 0; a < d->A; a++) {
            fit[c * d->A + a] = t->rows * d->q[c] * actions[a] / all;
        }
    }
    shrink(d->n, fit, d->K, v);
}

static void set_contrasts(tacet__ab_data *d) {
    const tacet_ab_table *t = d->table;
    const bool totals = t->up_totals != NULL;
    const size_t count = totals ? d->A : d->K;
    const double *up = totals ? t->up_totals : t->up;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += up[i];
    }
    /* Where all rewards drown in the noise the mean is not told from 0; its spread then stands for it, at most half. */
    const double least = fmin(fmax(t->scale * sqrt(2 * (double)count), 0.5), t->rows / 2);
    d->p = fmin(fmax(sum, least), t->rows - least) / t->rows;
    for (size_t i = 0; i < d->K; i++) {
        d->z[i] = (1 - d->p) * t->up[i] - d->p * t->down[i];
    }
    for (size_t a = 0; a < d->A && totals; a++) {
        d->totals[a] = (1 - d->p) * t->up_totals[a] - d->p * t->down_totals[a];
        for (size_t c = 0; c < d->C; c++) {
            d->totals[a] -= d->z[c * d->A + a];
        }
    }
}

static bool finite_all(const double *x, size_t n) {
    bool good = x != NULL;
    for (size_t i = 0; i < n && good; i++) {
        good = isfinite(x[i]);
    }
    return good;
}

static tacet_status check(const tacet_ab_table *t, size_t *contexts, tacet_error *err) {
    size_t cells = t->actions;
    *contexts = 1;
    bool good = t->actions >= 1 && t->columns <= TACET_AB_COLUMNS_MOST && t->rows >= 1 && isfinite(t->rows);
    for (size_t j = 0; j < t->columns && good; j++) {
        good = t->levels[j] >= 1 && t->levels[j] <= TACET_AB_CELLS_MOST / cells;
        cells *= good ? t->levels[j] : 1;
    }
    if (!good || cells > TACET_AB_CELLS_MOST) {
        return tacet__fail(err, TACET_INVALID, "a table has rows, actions and at most %d cells",
                           (int)TACET_AB_CELLS_MOST);
    }
    *contexts = cells / t->actions;
    if (!finite_all(t->up, cells) || !finite_all(t->down, cells) ||
        (t->up_totals != NULL && (!finite_all(t->up_totals, t->actions) || !finite_all(t->down_totals, t->actions)))) {
        return tacet__fail(err, TACET_INVALID, "a table's numbers are finite");
    }
    if (!(t->scale >= 0 && isfinite(t->scale)) || !(t->variance_share > 0 && t->variance_share <= 1)) {
        return tacet__fail(err, TACET_INVALID,
                           "a table's noise has a scale of at least 0, and its rewards a share of "
                           "variance in (0, 1]");
    }
    return TACET_OK;
}

tacet_status tacet__ab_data_init(tacet__ab_data *d, const tacet_ab_table *t, tacet_error *err) {
    memset(d, 0, sizeof *d);
    const tacet_status status = check(t, &d->C, err);
    if (status != TACET_OK) {
        return status;
    }
    d->table = t;
    d->A = t->actions;
    d->K = d->A * d->C;
    double *contexts = TACET__ZALLOC(double, d->C);
    double *actions = TACET__ZALLOC(double, d->A);
    double *fit = TACET__ZALLOC(double, d->K);
    d->n = TACET__ZALLOC(double, d->K);
    d->z = TACET__ZALLOC(double, d->K);
    d->q = TACET__ZALLOC(double, d->C);
    d->q_sd = TACET__ZALLOC(double, d->C);
    d->totals = t->up_totals != NULL ? TACET__ZALLOC(double, d->A) : NULL;
    const bool good = contexts != NULL && actions != NULL && fit != NULL && d->n != NULL && d->z != NULL &&
                      d->q != NULL && d->q_sd != NULL && (t->up_totals == NULL || d->totals != NULL);
    if (good) {
        set_counts(d, contexts, fit, actions);
        set_contrasts(d);
    } else {
        tacet__ab_data_clear(d);
    }
    free(contexts);
    free(actions);
    free(fit);
    return good ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
}

void tacet__ab_data_clear(tacet__ab_data *d) {
    free(d->n);
    free(d->z);
    free(d->q);
    free(d->q_sd);
    free(d->totals);
    memset(d, 0, sizeof *d);
}
