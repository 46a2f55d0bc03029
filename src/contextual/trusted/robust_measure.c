/* SPDX-License-Identifier: Apache-2.0 */
/* robust_measure.c - what an epoch measures besides the function: the scale of residuals, and what lies beyond a bound.
 * Ring: trusted. Source: README.md, "Parts". Each measurement reads a part of the records that no
 * other mechanism reads, so none of them costs more eps. Cost: one pass over its part. */
#include "contextual/trusted/robust.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 60 };
static const char PROOF[] = "src/contextual/README.md, parts";
static const double QUANTILE = 0.8;
static const double NORMAL_QUANTILE = 1.2816; /* of |standard normal| at 0.8 */

/* --- residuals of a part ----------------------------------------------------------------------------------------- */

typedef struct residuals {
    const tacet__robust *r;
    double *values; /* |residual|, in the order of the records */
    size_t count;
} residuals;

static void keep_residual(void *user, const double *record, const double *phi) {
    residuals *s = user;
    const double reward = record[s->r->learner->basis->d];
    if (tacet__robust_null(s->r, record)) {
        s->values[s->count++] = 0;
        return;
    }
    s->values[s->count++] = fabs(s->r->belief.M > 0 ? reward - tacet__robust_mean(s->r, phi) : reward);
}

static tacet_status residuals_of(residuals *s, const tacet__robust *r, size_t part, tacet_error *err) {
    *s = (residuals){.r = r, .values = TACET__ZALLOC(double, r->parts.sizes.n[part] + 1)};
    return s->values == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for residuals")
                             : tacet__robust_visit(r, part, keep_residual, s, err);
}

static void residuals_clear(residuals *s, const tacet__robust *r, size_t part) {
    if (s->values != NULL) {
        sodium_memzero(s->values, r->parts.sizes.n[part] * sizeof *s->values);
    }
    free(s->values);
}

/* --- two mechanisms ---------------------------------------------------------------------------------------------- */

/* The 80 % quantile of the values, by a choice among candidates that lie evenly in logarithm. The score of one is how
 * far the number of values below it is from what it should be: it moves by at most 1. */
static tacet_status quantile(tacet__robust *r, double *out, const char *name, const double *values, size_t n,
                             tacet_error *err) {
    const double B = r->learner->bound;
    double scores[CANDIDATES];
    double candidates[CANDIDATES];
    size_t chosen = 0;
    for (size_t k = 0; k < CANDIDATES; k++) {
        double below = 0;
        candidates[k] = B / 1000 * pow(2000, (double)k / (CANDIDATES - 1));
        for (size_t i = 0; i < n; i++) {
            below += values[i] <= candidates[k] ? 1 : 0;
        }
        scores[k] = -fabs(below - round(QUANTILE * (double)n));
    }
    const tacet_status status =
        tacet__parts_choose(&r->parts, &chosen, name, scores, CANDIDATES, (double)n, PROOF, err);
    sodium_memzero(scores, sizeof scores);
    *out = status == TACET_OK ? candidates[chosen < CANDIDATES ? chosen : 0] : NAN;
    return status;
}

/* The mean of numbers between 0 and limit, with noise. */
static tacet_status mean_of(tacet__robust *r, double *out, double *sd, const char *name, const double *values, size_t n,
                            double limit, tacet_error *err) {
    const double step = tacet__robust_step(limit);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (int64_t)llrint(fmin(values[i], limit) / step);
    }
    double mean = n > 0 ? (double)sum * step / (double)n : 0;
    const tacet__parts_vector v = {.name = name,
                                   .values = &mean,
                                   .count = 1,
                                   .radius = limit * (1 + 1e-9),
                                   .diameter = limit * (1 + 1e-8) / (double)(n > 0 ? n : 1),
                                   .proof = PROOF,
                                   .pure = true};
    const tacet_status status = tacet__parts_release(&r->parts, out, sd, &v, err);
    mean = 0;
    return status;
}

tacet_status tacet__robust_quantile_scale(tacet__robust *r, double *scale, size_t part, const char *name,
                                          tacet_error *err) {
    residuals s;
    tacet_status status = residuals_of(&s, r, part, err);
    if (status == TACET_OK) {
        status = quantile(r, scale, name, s.values, s.count, err);
        *scale /= NORMAL_QUANTILE;
    }
    residuals_clear(&s, r, part);
    return status;
}

tacet_status tacet__robust_excess(tacet__robust *r, double *excess, double *noise, size_t part, const char *name,
                                  double bound, tacet_error *err) {
    residuals s;
    tacet_status status = residuals_of(&s, r, part, err);
    if (status == TACET_OK) {
        for (size_t i = 0; i < s.count; i++) {
            s.values[i] = fmax(s.values[i] - bound, 0);
        }
        status = mean_of(r, excess, noise, name, s.values, s.count, 2 * r->learner->bound - bound, err);
        *noise /= sqrt(2); /* one number: Laplace */
    }
    residuals_clear(&s, r, part);
    return status;
}
