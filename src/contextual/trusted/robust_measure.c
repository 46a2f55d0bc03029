/* SPDX-License-Identifier: Apache-2.0 */
/* robust_measure.c - what the robust release measures besides the function: scales of residuals, how far outcomes lie
 * from predictions, what a rule is worth.
 * Ring: trusted. Source: README.md, "Errors that are measured". Each measurement reads a part of the records that no
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
static const char PROOF[] = "src/contextual/README.md, errors that are measured";
static const double QUANTILE = 0.8;
static const double NORMAL_QUANTILE = 1.2816; /* of |standard normal| at 0.8 */
static const double HELD_KEPT = 3;            /* outcomes beyond so many quantiles count as that */
static const double LN_20 = 2.995732273553991;
static const double LN_40 = 3.6888794541139363;
static const double NORMAL_95 = 1.959963984540054;

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

/* The mean of min(value, most)^2, with noise; values are overwritten. */
static tacet_status mean_square(tacet__robust *r, double *out, const char *name, double *values, size_t n, double most,
                                tacet_error *err) {
    double sd = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = fmin(values[i], most);
        values[i] = x * x;
    }
    return mean_of(r, out, &sd, name, values, n, most * most, err);
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

tacet_status tacet__robust_scale(tacet__robust *r, double *scale, size_t part, const char *name, tacet_error *err) {
    const double B = r->learner->bound;
    residuals s;
    tacet_status status = residuals_of(&s, r, part, err);
    if (status == TACET_OK && r->learner->settings.rewards == TACET_CONTEXTUAL_SYMMETRIC) {
        status = quantile(r, scale, name, s.values, s.count, err);
        *scale /= NORMAL_QUANTILE;
    } else if (status == TACET_OK) {
        status = mean_square(r, scale, name, s.values, s.count, 2 * B, err);
        *scale = sqrt(fmin(fmax(*scale, 0.01 * B * B), B * B));
    }
    residuals_clear(&s, r, part);
    return status;
}

/* --- outcomes ---------------------------------------------------------------------------------------------------- */

tacet_status tacet__robust_outcome(tacet__robust *r, tacet_error *err) {
    const double B = r->learner->bound;
    const double eps = r->learner->settings.eps;
    const bool symmetric = r->learner->settings.rewards == TACET_CONTEXTUAL_SYMMETRIC;
    residuals s;
    double mean = 0;
    double most = 2 * B;
    size_t third = 0;
    tacet_status status = residuals_of(&s, r, TACET__PART_HELD, err);
    if (status == TACET_OK && symmetric) {
        third = s.count / 3;
        status = quantile(r, &most, "held out, scale", s.values, third, err);
        most = fmin(2 * B, HELD_KEPT * most);
    } else if (status == TACET_OK) {
        for (size_t k = 0; k < r->belief.N; k++) { /* |reward| <= B, and what the model says is public */
            const double at = fabs(tacet__robust_mean(r, r->belief.phi + k * r->belief.M));
            most = k == 0 ? B + at : fmax(most, B + at);
        }
    }
    const size_t n = s.count - third;
    if (status == TACET_OK) {
        status = mean_square(r, &mean, "held out", s.values + third, n, most, err);
    }
    if (status == TACET_OK) {
        /* Laplace tail of 2.5 %, then Bernstein's with variance at most most^2 times the mean, 2.5 % again. */
        const double up = fmax(mean, 0) + most * most * LN_20 / ((double)n * eps);
        const double a = most * most * LN_40 / (double)n;
        r->outcome = sqrt(fmax(mean, 0));
        /* The noise may have made it nothing: with its scale on top. */
        r->held_out = sqrt(fmax(mean, 0) + most * most / ((double)n * eps));
        r->outcome_most = fmin(sqrt(up + a + sqrt(a * a + 2 * a * up)), 2 * B);
    }
    residuals_clear(&s, r, TACET__PART_HELD);
    return status;
}

/* --- what rules are worth ---------------------------------------------------------------------------------------- */

typedef struct valuing {
    const tacet__robust *r;
    bool recommended; /* else: as logged */
    double baseline, width, least;
    int64_t sums[2]; /* of (t - baseline)/width and its square */
    double step;
    double *points, *phi; /* of all actions in one context */
} valuing;

static void value_record(void *user, const double *record, const double *phi) {
    valuing *s = user;
    const tacet_contextual_basis *b = s->r->learner->basis;
    const size_t M = s->r->belief.M;
    const double *Z = b->features->blocks[0].Z;
    const size_t taken = tacet__robust_action(b, record);
    double term = (record[b->d] - s->baseline) / s->width;
    (void)phi;
    if (s->recommended) {
        size_t best = 0;
        double most = -INFINITY;
        for (size_t i = 0; i < b->node_actions; i++) {
            memcpy(s->points + i * b->d, Z + i * b->d, b->action_dim * sizeof *s->points);
            memcpy(s->points + i * b->d + b->action_dim, record + b->action_dim,
                   (b->d - b->action_dim) * sizeof *s->points);
        }
        tacet_features_eval(&s->r->view.features, s->phi, s->points, b->d, b->node_actions);
        for (size_t i = 0; i < b->node_actions; i++) {
            const double at = tacet__dot(s->r->belief.theta, s->phi + i * M, M);
            if (at > most) {
                most = at;
                best = i;
            }
        }
        const double stated = s->r->learner->settings.propensities ? record[b->d + 1] : s->r->law.share[taken];
        term = taken == best ? term / fmax(stated, s->least) : 0; /* NaN: counts as the least */
    }
    term = fmin(fmax(term, -1), 1);
    s->sums[0] += (int64_t)llrint(term / s->step);
    s->sums[1] += (int64_t)llrint(term * term / s->step);
}

/* Whatever the rule, t lies in an interval of length width that holds the baseline. */
static tacet_status value_of(tacet__robust *r, tacet_contextual_value *out, bool recommended, double baseline,
                             tacet_error *err) {
    const tacet_contextual_learner *l = r->learner;
    const size_t part = recommended ? TACET__PART_VALUE : TACET__PART_LOGGED;
    const size_t n = r->parts.sizes.n[part];
    const size_t A = l->basis->node_actions;
    valuing s = {.r = r, .recommended = recommended, .baseline = baseline, .step = ldexp(1, -TACET__ROBUST_STEP_BITS)};
    s.least = l->settings.propensity_least > 0 ? l->settings.propensity_least : 0.25 / (double)A;
    const double scale = recommended ? 2 * l->bound / s.least : 2 * l->bound;
    s.width = scale;
    double pair[2] = {0};
    double sd = 0;
    s.points = TACET__ZALLOC(double, A * l->basis->d);
    s.phi = TACET__ALIGNED(double, A * r->belief.M);
    tacet_status status = s.points == NULL || s.phi == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", A)
                              : TACET_OK;
    if (status == TACET_OK) {
        status = tacet__robust_visit(r, part, value_record, &s, err);
    }
    for (size_t i = 0; i < 2; i++) {
        pair[i] = (double)s.sums[i] * s.step / (double)n;
    }
    if (status == TACET_OK) {
        const tacet__parts_vector v = {.name = recommended ? "value" : "logged value",
                                       .values = pair,
                                       .count = 2,
                                       .radius = sqrt(2) * (1 + 1e-9),
                                       .diameter = sqrt(2) * (1 + 1e-8) / (double)n,
                                       .proof = PROOF,
                                       .pure = true};
        status = tacet__parts_release(&r->parts, pair, &sd, &v, err);
    }
    if (status == TACET_OK) {
        const double variance = fmin(fmax(pair[1], 0) + sd, 1);
        const double half = NORMAL_95 * scale * sqrt(variance / (double)n + sd * sd);
        const double middle = l->middle + baseline + scale * pair[0];
        *out =
            (tacet_contextual_value){.there = true, .estimate = middle, .lower = middle - half, .upper = middle + half};
    }
    sodium_memzero(s.sums, sizeof s.sums);
    if (s.points != NULL && s.phi != NULL) {
        sodium_memzero(s.points, A * l->basis->d * sizeof *s.points);
        sodium_memzero(s.phi, A * r->belief.M * sizeof *s.phi);
    }
    free(s.points);
    free(s.phi);
    return status;
}

tacet_status tacet__robust_values(tacet__robust *r, tacet_error *err) {
    double baseline = 0;
    if (r->parts.sizes.n[TACET__PART_VALUE] == 0 || r->parts.sizes.n[TACET__PART_LOGGED] == 0) {
        return TACET_OK;
    }
    for (size_t k = 0; k < r->belief.N; k++) {
        baseline += r->q[k] * tacet__robust_mean(r, r->belief.phi + k * r->belief.M);
    }
    const tacet_status status = value_of(r, &r->recommended, true, baseline, err);
    return status == TACET_OK ? value_of(r, &r->logged, false, baseline, err) : status;
}
