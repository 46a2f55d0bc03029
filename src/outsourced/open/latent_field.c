/* SPDX-License-Identifier: Apache-2.0 */
/* latent_field.c - mean and standard deviation of f on the coarse grid, for each chain's positions.
 * Ring: open. The SE covariance factors over axes, so a node costs a product, not an exponential.
 * Cost: O(grid t^2) per chain, one triangular solve. */
#include "outsourced/open/latent_state.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "gp/vexp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tacet_status tacet__field_init(tacet__field *field, const tacet__rows *rows, const tacet__chains *chains,
                               tacet_error *err) {
    memset(field, 0, sizeof *field);
    const size_t t = chains->capacity;
    size_t nodes = 0;
    size_t block = 0;
    size_t all = 0;
    for (size_t a = 0; a < rows->d; a++) {
        nodes += rows->axis[a].coarse;
    }
    field->coarse = rows->coarse;
    if (!tacet__size_mul(&block, t, rows->coarse) || !tacet__size_mul(&all, rows->coarse, chains->count)) {
        return tacet__fail(err, TACET_OVERFLOW, "a grid of %zu nodes is too large", rows->coarse);
    }
    field->factor = TACET__ALIGNED(double, t *t);
    field->copy = TACET__ALIGNED(double, t *t);
    field->solved = TACET__ALIGNED(double, block);
    field->target = TACET__ALIGNED(double, t);
    field->profile = TACET__ALIGNED(double, t *nodes);
    field->mean = TACET__ALIGNED(double, all);
    field->sd = TACET__ALIGNED(double, all);
    if (field->factor == NULL || field->copy == NULL || field->solved == NULL || field->target == NULL ||
        field->profile == NULL || field->mean == NULL || field->sd == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a grid of %zu nodes", rows->coarse);
    }
    return TACET_OK;
}

void tacet__field_clear(tacet__field *field) {
    free(field->factor);
    free(field->copy);
    free(field->solved);
    free(field->target);
    free(field->profile);
    free(field->mean);
    free(field->sd);
    memset(field, 0, sizeof *field);
}

/* profile (t per node, axis after axis): the factor of k(node, X_j) that belongs to the axis. */
TACET__CLONES static void profiles(double *restrict profile, const tacet__rows *rows, const double *X, size_t ld,
                                   size_t t) {
    for (size_t a = 0; a < rows->d; a++) {
        const double step = rows->axis[a].side / (double)(rows->axis[a].coarse - 1);
        for (size_t i = 0; i < rows->axis[a].coarse; i++) {
            const double at = step * (double)i;
            const double *restrict x = X + a * ld;
            for (size_t j = 0; j < t; j++) {
                const double u = x[j] - at;
                profile[j] = tacet__vexp(-0.5 * u * u);
            }
            profile += t;
        }
    }
}

TACET__CLONES static void products(double *K, const tacet__rows *rows, const double *profile, size_t t, double var) {
    const size_t n1 = rows->axis[0].coarse;
    const size_t n2 = rows->d > 1 ? rows->axis[1].coarse : 1;
    const size_t n3 = rows->d > 2 ? rows->axis[2].coarse : 1;
    for (size_t c = 0; c < n3; c++) {
        const double *pc = profile + (n1 + n2 + c) * t;
        for (size_t b = 0; b < n2; b++) {
            const double *pb = profile + (n1 + b) * t;
            for (size_t a = 0; a < n1; a++) {
                const double *pa = profile + a * t;
                double *k = K + ((c * n2 + b) * n1 + a) * t;
                for (size_t j = 0; j < t; j++) {
                    k[j] = var * pa[j];
                }
                for (size_t j = 0; rows->d > 1 && j < t; j++) {
                    k[j] *= pb[j];
                }
                for (size_t j = 0; rows->d > 2 && j < t; j++) {
                    k[j] *= pc[j];
                }
            }
        }
    }
}

TACET__CLONES static void moments(double *mean, double *sd, const double *V, const double *w, size_t nodes, size_t t,
                                  double var) {
    for (size_t g = 0; g < nodes; g++) {
        const double *v = V + g * t;
        double m[4] = {0, 0, 0, 0};
        double s[4] = {0, 0, 0, 0};
        size_t j = 0;
        for (; j + 4 <= t; j += 4) {
            for (size_t q = 0; q < 4; q++) {
                m[q] += v[j + q] * w[j + q];
                s[q] += v[j + q] * v[j + q];
            }
        }
        for (; j < t; j++) {
            m[0] += v[j] * w[j];
            s[0] += v[j] * v[j];
        }
        mean[g] = (m[0] + m[1]) + (m[2] + m[3]);
        sd[g] = sqrt(fmax(0, var - ((s[0] + s[1]) + (s[2] + s[3]))));
    }
}

tacet_status tacet__field_compute(tacet__field *field, const tacet__rows *rows, const tacet__chains *chains,
                                  tacet_error *err) {
    const size_t t = chains->t;
    for (size_t p = 0; p < chains->count; p++) {
        double *mean = field->mean + p * field->coarse;
        double *sd = field->sd + p * field->coarse;
        const double *X = chains->x + p * chains->d * chains->capacity;
        tacet__chains_gram(chains, field->factor, p, t);
        if (t > 0) {
            const tacet_status status = tacet__cholesky(field->factor, t, t, field->copy, NULL, err);
            if (status != TACET_OK) {
                return status;
            }
            memcpy(field->target, chains->y, t * sizeof *field->target);
            tacet__trsv(false, t, field->factor, t, field->target);
            profiles(field->profile, rows, X, chains->capacity, t);
            products(field->solved, rows, field->profile, t, chains->signal_var);
            tacet__trsm(false, t, field->coarse, field->factor, t, field->solved, t);
        }
        moments(mean, sd, field->solved, field->target, field->coarse, t, chains->signal_var);
    }
    return TACET_OK;
}
