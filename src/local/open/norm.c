/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c - how large the norm of f must at least be, from the reports of a study.
 * Ring: open. Source: src/local/README.md, "The norm": the supermartingale behind the width of GP-UCB bounds |y - f|^2
 * without knowing |f|_H, and the function of least norm that keeps that bound is a ridge regression. What the reports
 * of one arm differ by among themselves cancels, so arms' averages are enough. Cost: some forty factorisations of the
 * arms that were played. */
#include "local/open/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60 };

/* The arms that were played. */
typedef struct played {
    size_t n;
    double *K, *L, *work; /* n x n: their covariance, and room */
    double *counts, *averages, *z;
} played;

/* Ridge regression with mu: h = K z, z = (K + mu N^-1)^-1 y. What it leaves, sum n (y - h)^2, and |h|_H^2. */
static tacet_status ridge(const played *s, double mu, double *left, double *norm, tacet_error *err) {
    memcpy(s->L, s->K, s->n * s->n * sizeof *s->L);
    memcpy(s->z, s->averages, s->n * sizeof *s->z);
    for (size_t i = 0; i < s->n; i++) {
        s->L[i * s->n + i] += mu / s->counts[i];
    }
    TACET_OR_RETURN(tacet__cholesky(s->L, s->n, s->n, s->work, NULL, err));
    tacet__chol_solve(s->n, s->L, s->n, s->z);
    *left = *norm = 0;
    for (size_t i = 0; i < s->n; i++) {
        *left += mu * mu * s->z[i] * s->z[i] / s->counts[i];
        *norm += s->z[i] * tacet__dot(s->K + i * s->n, s->z, s->n);
    }
    *norm = fmax(*norm, 0);
    return TACET_OK;
}

static tacet_status least(double *out, const played *s, double lambda, double slack, tacet_error *err) {
    double left = 0;
    double norm = 0;
    double all = 0;
    tacet_status status = ridge(s, lambda, &left, &norm, err);
    const double allowed = left + lambda * norm + slack;
    for (size_t i = 0; i < s->n; i++) {
        all += s->counts[i] * s->averages[i] * s->averages[i];
    }
    *out = 0;
    if (status != TACET_OK || all <= allowed) {
        return status; /* f = 0 is not refuted */
    }
    double low = log(lambda);
    double high = low;
    while (status == TACET_OK && left <= allowed && high < low + 200) {
        high += 2;
        status = ridge(s, exp(high), &left, &norm, err);
    }
    for (int i = 0; i < STEPS && status == TACET_OK; i++) {
        const double middle = (low + high) / 2;
        status = ridge(s, exp(middle), &left, &norm, err);
        low = left <= allowed ? middle : low;
        high = left <= allowed ? high : middle;
    }
    TACET_THEN(status, ridge(s, exp(high), &left, &norm, err)); /* a little below the least */
    *out = sqrt(norm);
    return status;
}

tacet_status tacet__local_norm(double *out, const tacet__local *p, const uint64_t *counts, const double *averages,
                               double gamma, tacet_error *err) {
    size_t n = 0;
    *out = 0;
    for (size_t i = 0; i < p->n; i++) {
        n += counts[i] > 0;
    }
    if (n == 0) {
        return TACET_OK;
    }
    played s = {.n = n,
                .K = TACET__ALIGNED(double, n *n),
                .L = TACET__ALIGNED(double, n *n),
                .work = TACET__ALIGNED(double, n *n),
                .counts = TACET__ZALLOC(double, n),
                .averages = TACET__ZALLOC(double, n),
                .z = TACET__ZALLOC(double, n)};
    tacet_status status = TACET_OK;
    if (s.K == NULL || s.L == NULL || s.work == NULL || s.counts == NULL || s.averages == NULL || s.z == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu arms", n);
        goto done;
    }
    for (size_t i = 0, a = 0; i < p->n; i++) {
        if (counts[i] == 0) {
            continue;
        }
        for (size_t j = 0, b = 0; j < p->n; j++) {
            if (counts[j] > 0) {
                s.K[a * n + b++] = p->K[i * p->n + j];
            }
        }
        s.counts[a] = (double)counts[i];
        s.averages[a++] = averages[i];
    }
    status = least(out, &s, p->s.lambda, 2 * p->proxy * (gamma + log(1 / p->s.delta)), err);
done:
    free(s.K);
    free(s.L);
    free(s.work);
    free(s.counts);
    free(s.averages);
    free(s.z);
    return status;
}
