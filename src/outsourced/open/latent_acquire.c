/* SPDX-License-Identifier: Apache-2.0 */
/* latent_acquire.c - what a row is worth. Ring: open.
 * The value of measuring a true position x is averaged over the chains (what f may be) and then over p(x | z_i) (where
 * row i may be). First an upper confidence bound, then expected improvement on the best measured value.
 * Cost: O(chains * fine grid) plus tacet__rows_expect. */
#include "outsourced/open/latent_acquire.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "outsourced/open/modeler_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double tacet__acquire_blur(const tacet_modeler_settings *s) {
    double ratio = 0;
    for (size_t a = 0; a < s->d; a++) {
        const double l = s->kernel->lengthscales[s->kernel->lengthscale_count == 1 ? 0 : a];
        ratio = fmax(ratio, tacet__modeler_sd(s) / l);
    }
    return ratio;
}

double tacet__acquire_nugget(const tacet_modeler_settings *s) {
    const double ratio = tacet__acquire_blur(s);
    return s->noise_var + s->kernel->signal_var * fmin(0.1, ratio * ratio);
}

tacet_status tacet__acquire_init(tacet__acquire *a, const tacet_modeler_settings *s, const tacet__rows *rows,
                                 tacet_error *err) {
    memset(a, 0, sizeof *a);
    a->explore = (size_t)(s->explore * (double)s->horizon);
    a->kappa = s->kappa;
    a->average = TACET__ALIGNED(double, rows->coarse);
    a->value = TACET__ALIGNED(double, rows->fine);
    a->mean = TACET__ALIGNED(double, rows->fine);
    a->sd = TACET__ALIGNED(double, rows->fine);
    if (a->average == NULL || a->value == NULL || a->mean == NULL || a->sd == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the acquisition");
    }
    return TACET_OK;
}

void tacet__acquire_clear(tacet__acquire *a) {
    free(a->average);
    free(a->value);
    free(a->mean);
    free(a->sd);
    memset(a, 0, sizeof *a);
}

static double improvement(double gap, double sd) {
    if (gap < -6 * sd) {
        return 0;
    }
    const double u = gap / sd;
    return sd <= 0 ? fmax(0, gap) : gap * 0.5 * erfc(-u * M_SQRT1_2) + sd * exp(-0.5 * u * u) * 0.39894228040143267794;
}

/* Mean + kappa sd of f at each node, over chains and within them: where chains disagree f is uncertain too. */
static void bound(tacet__acquire *a, tacet__rows *rows, const tacet__chains *chains, const tacet__field *field) {
    const double share = 1.0 / (double)chains->count;
    for (size_t g = 0; g < rows->coarse; g++) {
        double first = 0;
        double second = 0;
        for (size_t p = 0; p < chains->count; p++) {
            const double mean = field->mean[p * field->coarse + g];
            const double sd = field->sd[p * field->coarse + g];
            first += share * mean;
            second += share * (mean * mean + sd * sd);
        }
        a->average[g] = first + a->kappa * sqrt(fmax(0, second - first * first));
    }
    tacet__rows_refine(rows, a->value, a->average);
}

static void expected_improvement(tacet__acquire *a, tacet__rows *rows, const tacet__chains *chains,
                                 const tacet__field *field) {
    double best = chains->y[0];
    for (size_t j = 1; j < chains->t; j++) {
        best = fmax(best, chains->y[j]);
    }
    memset(a->value, 0, rows->fine * sizeof *a->value);
    for (size_t p = 0; p < chains->count; p++) {
        tacet__rows_refine(rows, a->mean, field->mean + p * field->coarse);
        tacet__rows_refine(rows, a->sd, field->sd + p * field->coarse);
        for (size_t g = 0; g < rows->fine; g++) {
            a->value[g] += improvement(a->mean[g] - best, a->sd[g]);
        }
    }
}

void tacet__acquire_scores(tacet__acquire *a, double *score, tacet__rows *rows, const tacet__chains *chains,
                           const tacet__field *field, size_t horizon) {
    (void)horizon;
    if (chains->t < a->explore) {
        bound(a, rows, chains, field);
    } else {
        expected_improvement(a, rows, chains, field);
    }
    tacet__rows_expect(rows, score, a->value);
}

void tacet__acquire_moments(tacet__acquire *a, double *first, double *second, tacet__rows *rows, tacet__chains *chains,
                            const tacet__field *field) {
    const double share = 1.0 / (double)chains->count;
    memset(a->average, 0, rows->coarse * sizeof *a->average);
    for (size_t p = 0; p < chains->count; p++) {
        tacet__axpy(a->average, share, field->mean + p * field->coarse, rows->coarse);
    }
    tacet__rows_refine(rows, a->value, a->average);
    tacet__rows_expect(rows, first, a->value);
    memset(a->average, 0, rows->coarse * sizeof *a->average);
    for (size_t p = 0; p < chains->count; p++) {
        const double *mean = field->mean + p * field->coarse;
        const double *sd = field->sd + p * field->coarse;
        for (size_t g = 0; g < rows->coarse; g++) {
            a->average[g] += share * (mean[g] * mean[g] + sd[g] * sd[g]);
        }
    }
    tacet__rows_refine(rows, a->value, a->average);
    tacet__rows_expect(rows, second, a->value);
    for (size_t j = 0; j < chains->t; j++) {
        first[chains->row[j]] = 0;
        second[chains->row[j]] = 0;
    }
    for (size_t p = 0; p < chains->count; p++) {
        const size_t t = chains->t;
        if (tacet__chains_invert(chains, p, t, NULL) != TACET_OK) {
            continue;
        }
        for (size_t j = 0; j < t; j++) {
            /* At a measured row: mean = y - tau^2 [K^-1 y]_j, var = tau^2 - tau^4 [K^-1]_jj, tau^2 the noise of a
             * measurement. The rest of the nugget is slack in the positions, not doubt in what was measured. */
            const double *P = chains->inverse + j * t;
            const double tau2 = chains->noise_var;
            const double mean = chains->y[j] - tau2 * tacet__dot(P, chains->y, t);
            const double var = fmax(0, tau2 - tau2 * tau2 * P[j]);
            first[chains->row[j]] += share * mean;
            second[chains->row[j]] += share * (mean * mean + var);
        }
    }
}
