/* SPDX-License-Identifier: Apache-2.0 */
/* stepwise.c - law of play and reward, learnt batch by batch from releases that are shaped for it.
 * Ring: open; post-processing of what was released. Source: ours. The model: with w_j = g_j exp(phi_j'a)/Z
 * and f_j = 1/(1 + exp(-theta_0 - phi_j'theta)) on a grid, a batch's release of n rounds is
 *     u = n [sum w (f - 1/2) psi; play sum w zeta] + N(0, s^2 I + the sums' own sampling covariance),
 * psi and zeta maps into the unit ball that were chosen before the batch to tell most about theta and a (shape.c). The
 * Gaussian belief in (a, theta) after a batch is the prior of the next (Laplace's approximation, Gauss-Newton).
 * README.md, (d). Cost: a plan O(points m^2 + m^3); an update at most 8 times O(points k m + m^3), k numbers. */
#include "central/open/stepwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

enum { STEPS = 8, HALVINGS = 12 };
static const double MOVE_MOST = 3;     /* of a log-density or a logit at a grid point, in one step */
static const double TOLERANCE = 1e-5;  /* of the objective */
static const double SHORT = 0.3;       /* vectors of at least this length, where 1 is usual, become unit vectors */
static const double REWARD_VAR = 0.25; /* of v at most */
static const double PLAY_MOST = 0.5;
/* Of the belief before the first batch: of each coefficient of the tilt, of the level, of each of the reward's logit.
 */
static const double TILT_VAR = 0.3, LEVEL_VAR = 2, COEFFICIENT_VAR = 3;
enum { PLAY_SIZE = 6 }; /* numbers for which the noise decides how much to tell about the law of play */

struct tacet__stepwise {
    const double *grid_features; /* borrowed: feature_count x points, leading dimension grid_ld */
    size_t grid_ld, feature_count, points;
    size_t tilt_count;   /* leading features that describe the law of play */
    size_t reward_count; /* 1 + feature_count: the level and a coefficient for each feature */
    size_t unknowns;     /* tilt_count + reward_count */
    /* state: a Gaussian belief */
    double *belief_mean; /* unknowns: the tilt's coefficients, then the level and the reward's */
    double *belief_cov;  /* unknowns^2, both triangles */
    /* the planned batch */
    size_t reward_numbers, play_numbers; /* of a record: rows of the two maps */
    double play_weight;                  /* of the second part of a record */
    bool unit_vectors;                   /* whether what the maps give is made a unit vector */
    double *reward_map, *play_map;       /* reward_count^2 each: maps of (1, phi) */
    /* scratch; "at grid" are matrices of a column a point, leading dimension reward_count */
    double *with_constant;                 /* (1, phi) at grid */
    double *reward_at_grid, *play_at_grid; /* the maps at grid */
    double *law, *reward;                  /* points: where is played, and what it returns, at some unknowns */
    double *weight, *move;                 /* points */
    double *scaled;                        /* reward_count x points */
    double *trial, *step, *start, *offset; /* unknowns */
    double *prior_precision, *curvature, *moment, *spare_square; /* unknowns^2 */
    double *shape_work;                                          /* 3 reward_count (reward_count + 1) */
    double *expected, *residual;                                 /* of the sums: 2 reward_count */
    double *mean_features;                                       /* reward_count */
    double *covariance, *jacobian; /* of the sums: (2 reward_count)^2, 2 reward_count x unknowns */
    double *half;                  /* reward_count x TACET__STEPWISE_POINTS */
};

size_t tacet__stepwise_most(size_t features) {
    return 2 * (features + 1);
}

double tacet__stepwise_play(const tacet__batch_noise *unit) {
    return PLAY_MOST / (1 + sqrt(tacet__batch_noise_var(unit, PLAY_SIZE)));
}

/* |(v - 1/2) psi - (v' - 1/2) psi'| <= 1 and |zeta - zeta'| <= 2. */
double tacet__stepwise_sensitivity(double play) {
    return sqrt(1 + 4 * play * play);
}

static bool allocate(tacet__stepwise *s) {
    const size_t q = s->reward_count, p = s->unknowns, n = s->points;
    const tacet__array arrays[] = {{&s->belief_mean, p, 1},
                                   {&s->belief_cov, p, p},
                                   {&s->reward_map, q, q},
                                   {&s->play_map, q, q},
                                   {&s->with_constant, q, n},
                                   {&s->reward_at_grid, q, n},
                                   {&s->play_at_grid, q, n},
                                   {&s->law, n, 1},
                                   {&s->reward, n, 1},
                                   {&s->weight, n, 1},
                                   {&s->move, n, 1},
                                   {&s->scaled, q, n},
                                   {&s->trial, p, 1},
                                   {&s->step, p, 1},
                                   {&s->start, p, 1},
                                   {&s->offset, p, 1},
                                   {&s->prior_precision, p, p},
                                   {&s->curvature, p, p},
                                   {&s->moment, p, p},
                                   {&s->spare_square, p, p},
                                   {&s->shape_work, 3 * q, q + 1},
                                   {&s->expected, 2, q},
                                   {&s->residual, 2, q},
                                   {&s->mean_features, q, 1},
                                   {&s->covariance, 2 * q, 2 * q},
                                   {&s->jacobian, 2 * q, p},
                                   {&s->half, q, TACET__STEPWISE_POINTS}};
    return tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0]);
}

tacet_status tacet__stepwise_create(tacet__stepwise **out, const double *Phi, size_t ld, size_t features, size_t tilted,
                                    size_t points, double level, tacet_error *err) {
    *out = NULL;
    tacet__stepwise *s = TACET__ZALLOC(tacet__stepwise, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    s->grid_features = Phi;
    s->grid_ld = ld;
    s->feature_count = features;
    s->tilt_count = tilted;
    s->points = points;
    s->unit_vectors = true;
    s->reward_count = features + 1;
    s->unknowns = tilted + s->reward_count;
    if (!allocate(s)) {
        tacet__stepwise_free(s);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner of %zu features", features);
    }
    for (size_t j = 0; j < points; j++) {
        s->with_constant[j * s->reward_count] = 1;
        memcpy(s->with_constant + j * s->reward_count + 1, Phi + j * ld, features * sizeof(double));
    }
    s->belief_mean[s->tilt_count] = level;
    for (size_t i = 0; i < s->unknowns; i++) {
        s->belief_cov[i * (s->unknowns + 1)] = i < s->tilt_count    ? TILT_VAR
                                               : i == s->tilt_count ? LEVEL_VAR
                                                                    : COEFFICIENT_VAR;
    }
    *out = s;
    return TACET_OK;
}

void tacet__stepwise_free(tacet__stepwise *s) {
    if (s == NULL) {
        return;
    }
    double *arrays[] = {s->belief_mean,     s->belief_cov,     s->reward_map,   s->play_map,
                        s->with_constant,   s->reward_at_grid, s->play_at_grid, s->law,
                        s->reward,          s->weight,         s->move,         s->scaled,
                        s->trial,           s->step,           s->start,        s->offset,
                        s->prior_precision, s->curvature,      s->moment,       s->spare_square,
                        s->shape_work,      s->expected,       s->residual,     s->mean_features,
                        s->covariance,      s->jacobian,       s->half};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(s);
}

/* Law of play (total 1) and rewards on the grid at the unknowns x. */
static void expect(tacet__stepwise *s, const double *x, const double *guess) {
    const size_t n = s->points;
    double top = -INFINITY, total = 0;
    tacet__gemv(true, s->tilt_count, n, 1, s->grid_features, s->grid_ld, x, 0, s->law);
    tacet__gemv(true, s->reward_count, n, 1, s->with_constant, s->reward_count, x + s->tilt_count, 0, s->reward);
    for (size_t j = 0; j < n; j++) {
        top = guess[j] > 0 ? fmax(top, s->law[j]) : top;
    }
    for (size_t j = 0; j < n; j++) {
        s->law[j] = guess[j] > 0 ? guess[j] * exp(s->law[j] - top) : 0;
        total += s->law[j];
        s->reward[j] = 1 / (1 + exp(-s->reward[j]));
    }
    for (size_t j = 0; j < n; j++) {
        s->law[j] /= total;
    }
}

/* out (a x b) = sum_j weight_j A_j B_j', A and B with a and b rows. */
static void weighted(tacet__stepwise *s, double *out, size_t ldo, const double *A, size_t lda, size_t a,
                     const double *B, size_t ldb, size_t b) {
    for (size_t j = 0; j < s->points; j++) {
        for (size_t i = 0; i < a; i++) {
            s->scaled[i + j * s->reward_count] = s->weight[j] * A[i + j * lda];
        }
    }
    tacet__gemm(false, true, a, b, s->points, 1, s->scaled, s->reward_count, B, ldb, 0, out, ldo);
}

/* A vector into the unit ball: its direction, if it is not too short to have one. */
static void normalise(double *v, size_t k) {
    const double length = tacet__norm2(v, k);
    const double scale = length >= 0 ? 1 / fmax(length, SHORT) : 0; /* NaN: the zero vector */
    for (size_t i = 0; i < k; i++) {
        v[i] = scale > 0 && isfinite(v[i]) ? v[i] * scale : 0;
    }
}

static void map_grid(tacet__stepwise *s) {
    tacet__gemm(false, false, s->reward_numbers, s->points, s->reward_count, 1, s->reward_map, s->reward_count,
                s->with_constant, s->reward_count, 0, s->reward_at_grid, s->reward_count);
    tacet__gemm(false, false, s->play_numbers, s->points, s->reward_count, 1, s->play_map, s->reward_count,
                s->with_constant, s->reward_count, 0, s->play_at_grid, s->reward_count);
    for (size_t j = 0; j < s->points; j++) {
        if (s->unit_vectors) {
            normalise(s->reward_at_grid + j * s->reward_count, s->reward_numbers);
            normalise(s->play_at_grid + j * s->reward_count, s->play_numbers);
        }
    }
}

/* Directions that tell most about the reward: B. The belief in f at a point has the logistic's slope in it. */
static tacet_status shape_reward(tacet__stepwise *s, size_t n, const tacet__batch_noise *noise, tacet_error *err) {
    const size_t q = s->reward_count, p = s->unknowns;
    for (size_t j = 0; j < s->points; j++) {
        const double slope = s->reward[j] * (1 - s->reward[j]);
        s->weight[j] = s->law[j] * slope * slope;
    }
    weighted(s, s->moment, q, s->with_constant, q, q, s->with_constant, q, q);
    for (size_t j = 0; j < q; j++) {
        memcpy(s->spare_square + j * q, s->belief_cov + s->tilt_count + (s->tilt_count + j) * p, q * sizeof(double));
    }
    return tacet__batch_shape(s->reward_map, &s->reward_numbers, s->moment, s->spare_square, q, n, REWARD_VAR, noise, q,
                              s->shape_work, err);
}

/* Directions that tell most about the law of play, at most `most`: Z, maps of phi less its mean. */
static tacet_status shape_play(tacet__stepwise *s, size_t n, double var, size_t most, tacet_error *err) {
    const size_t q = s->reward_count, r = s->tilt_count, p = s->unknowns;
    const tacet__batch_noise noise = {.gaussian_var = var / (s->play_weight * s->play_weight)};
    memcpy(s->weight, s->law, s->points * sizeof(double));
    weighted(s, s->moment, r, s->grid_features, s->grid_ld, r, s->grid_features, s->grid_ld, r);
    tacet__gemv(false, r, s->points, 1, s->grid_features, s->grid_ld, s->law, 0, s->mean_features);
    for (size_t j = 0; j < r; j++) {
        for (size_t i = 0; i < r; i++) {
            s->moment[i + j * r] -= s->mean_features[i] * s->mean_features[j];
            s->spare_square[i + j * r] = s->belief_cov[i + j * p];
        }
    }
    TACET_OR_RETURN(tacet__batch_shape(s->curvature, &s->play_numbers, s->moment, s->spare_square, r, n, 1, &noise,
                                       most, s->shape_work, err));
    memset(s->play_map, 0, q * q * sizeof(double));
    for (size_t i = 0; i < s->play_numbers; i++) {
        double level = 0;
        for (size_t c = 0; c < r; c++) {
            s->play_map[i + (c + 1) * q] = s->curvature[i + c * r];
            level -= s->curvature[i + c * r] * s->mean_features[c];
        }
        s->play_map[i] = level;
    }
    return TACET_OK;
}

/* Rows of unit mean square under the law of the batch, so that SHORT means the same for all. */
static void scale_rows(tacet__stepwise *s, double *A, size_t k) {
    const size_t q = s->reward_count;
    double mean = 0;
    tacet__gemm(false, false, k, s->points, q, 1, A, q, s->with_constant, q, 0, s->scaled, q);
    for (size_t j = 0; j < s->points; j++) {
        mean += s->law[j] * tacet__dot(s->scaled + j * q, s->scaled + j * q, k);
    }
    for (size_t c = 0; mean > 0 && c < q; c++) {
        for (size_t i = 0; i < k; i++) {
            A[i + c * q] /= sqrt(mean);
        }
    }
}

tacet_status tacet__stepwise_plan(tacet__stepwise *s, size_t *k, size_t n, const double *guess, double play,
                                  const tacet__batch_noise *noise, tacet_error *err) {
    const double share = 1 / (1 + sqrt(tacet__batch_noise_var(noise, PLAY_SIZE)));
    tacet__batch_noise both = *noise;
    both.beside = share;
    *k = s->reward_numbers = s->play_numbers = 0;
    s->play_weight = play;
    s->unit_vectors = true;
    expect(s, s->belief_mean, guess);
    tacet_status status = shape_reward(s, n, &both, err);
    if (status == TACET_OK && s->reward_numbers > 0) {
        const double most = ceil(share * (double)s->reward_numbers);
        status = shape_play(s, n, tacet__batch_noise_var(&both, s->reward_numbers),
                            (size_t)fmin(most, (double)s->tilt_count), err);
    }
    if (status != TACET_OK) {
        s->reward_numbers = s->play_numbers = 0;
        return status;
    }
    scale_rows(s, s->reward_map, s->reward_numbers);
    scale_rows(s, s->play_map, s->play_numbers);
    *k = s->reward_numbers + s->play_numbers;
    return TACET_OK;
}

void tacet__stepwise_plan_whole(tacet__stepwise *s, size_t features) {
    const size_t q = s->reward_count;
    s->reward_numbers = s->play_numbers = features;
    s->play_weight = 0.5;
    s->unit_vectors = false;
    memset(s->reward_map, 0, q * q * sizeof(double));
    for (size_t i = 0; i < features; i++) {
        s->reward_map[i + (i + 1) * q] = 1;
    }
    memcpy(s->play_map, s->reward_map, q * q * sizeof(double));
}

void tacet__stepwise_end(tacet__stepwise *s) {
    s->reward_numbers = s->play_numbers = 0;
    s->unit_vectors = true;
}

size_t tacet__stepwise_numbers(const tacet__stepwise *s) {
    return s->reward_numbers + s->play_numbers;
}

void tacet__stepwise_record(const tacet__stepwise *s, double *out, const double *phi, double v) {
    const struct {
        const double *A;
        size_t first, rows;
    } maps[] = {{s->reward_map, 0, s->reward_numbers}, {s->play_map, s->reward_numbers, s->play_numbers}};
    for (size_t a = 0; a < 2; a++) {
        double *at = out + maps[a].first;
        for (size_t i = 0; i < maps[a].rows; i++) { /* in this order everywhere: a replay adds up the same */
            double sum = maps[a].A[i];
            for (size_t c = 0; c < s->feature_count; c++) {
                sum += maps[a].A[i + (c + 1) * s->reward_count] * phi[c];
            }
            at[i] = sum;
        }
        normalise(at, maps[a].rows);
    }
    for (size_t i = 0; i < s->reward_numbers + s->play_numbers; i++) {
        out[i] *= i < s->reward_numbers ? v - 0.5 : s->play_weight;
    }
}

/* What the sums should be at what expect() left. */
static void expected_sums(tacet__stepwise *s, double n) {
    for (size_t j = 0; j < s->points; j++) {
        s->weight[j] = n * s->law[j] * (s->reward[j] - 0.5);
    }
    tacet__gemv(false, s->reward_numbers, s->points, 1, s->reward_at_grid, s->reward_count, s->weight, 0, s->expected);
    tacet__gemv(false, s->play_numbers, s->points, n * s->play_weight, s->play_at_grid, s->reward_count, s->law, 0,
                s->expected + s->reward_numbers);
}

/* Half the squared residual, whitened by the factor in hand, and half that of the prior. */
static double objective(tacet__stepwise *s, const double *x, const double *sums) {
    const size_t D = s->reward_numbers + s->play_numbers, p = s->unknowns;
    for (size_t i = 0; i < D; i++) {
        s->residual[i] = sums[i] - s->expected[i];
    }
    for (size_t i = 0; i < p; i++) {
        s->offset[i] = x[i] - s->start[i];
    }
    tacet__trsv(false, D, s->covariance, 2 * s->reward_count, s->residual);
    tacet__gemv(false, p, p, 1, s->prior_precision, p, s->offset, 0, s->step);
    return 0.5 * (tacet__dot(s->residual, s->residual, D) + tacet__dot(s->offset, s->step, p));
}

/* Covariance of the sums into N, factored; their derivatives into J. */
static tacet_status derive(tacet__stepwise *s, double n, double noise_var, tacet_error *err) {
    const size_t k = s->reward_numbers, kz = s->play_numbers, D = k + kz, q = s->reward_count, r = s->tilt_count,
                 ld = 2 * q;
    double *J = s->jacobian, *N = s->covariance;
    tacet__gemv(false, r, s->points, 1, s->grid_features, s->grid_ld, s->law, 0, s->mean_features);
    for (size_t j = 0; j < s->points; j++) {
        s->weight[j] = n * REWARD_VAR * s->law[j];
    }
    weighted(s, N, ld, s->reward_at_grid, q, k, s->reward_at_grid, q, k);
    for (size_t j = 0; j < s->points; j++) {
        s->weight[j] = n * s->law[j] * s->reward[j] * (1 - s->reward[j]);
    }
    weighted(s, J + r * ld, ld, s->reward_at_grid, q, k, s->with_constant, q, q);
    for (size_t j = 0; j < s->points; j++) {
        s->weight[j] = n * s->law[j] * (s->reward[j] - 0.5);
    }
    weighted(s, J, ld, s->reward_at_grid, q, k, s->grid_features, s->grid_ld, r);
    for (size_t j = 0; j < s->points; j++) {
        s->weight[j] *= s->play_weight;
    }
    weighted(s, N + k, ld, s->play_at_grid, q, kz, s->reward_at_grid, q, k);
    for (size_t j = 0; j < s->points; j++) {
        s->weight[j] = n * s->play_weight * s->law[j];
    }
    weighted(s, J + k, ld, s->play_at_grid, q, kz, s->grid_features, s->grid_ld, r);
    for (size_t j = 0; j < s->points; j++) {
        s->weight[j] *= s->play_weight;
    }
    weighted(s, N + k + k * ld, ld, s->play_at_grid, q, kz, s->play_at_grid, q, kz);
    for (size_t c = 0; c < q; c++) {
        memset(J + k + (r + c) * ld, 0, kz * sizeof(double));
    }
    for (size_t c = 0; c < r; c++) {
        tacet__axpy(J + c * ld, -s->mean_features[c], s->expected, D);
    }
    for (size_t j = 0; j < D; j++) {
        for (size_t i = j; i < D; i++) {
            N[i + j * ld] -= s->expected[i] * s->expected[j] / n;
        }
        N[j + j * ld] += noise_var;
    }
    return tacet__cholesky(N, ld, D, NULL, NULL, err);
}

/* At t->trial: curvature factored into H, objective, and the step H^-1 times the descent. */
static tacet_status linearise(tacet__stepwise *s, const double *sums, const double *guess, double n, double noise_var,
                              double *value, tacet_error *err) {
    const size_t D = s->reward_numbers + s->play_numbers, p = s->unknowns, ld = 2 * s->reward_count;
    expect(s, s->trial, guess);
    expected_sums(s, n);
    TACET_OR_RETURN(derive(s, n, noise_var, err));
    *value = objective(s, s->trial, sums); /* leaves Pi (x - start) in step */
    tacet__trsm(false, D, p, s->covariance, ld, s->jacobian, ld);
    tacet__gemv(true, D, p, 1, s->jacobian, ld, s->residual, -1, s->step);
    memcpy(s->curvature, s->prior_precision, p * p * sizeof(double));
    tacet__syrk(true, p, D, 1, s->jacobian, ld, 1, s->curvature, p);
    tacet_status status = isfinite(*value)
                              ? tacet__cholesky(s->curvature, p, p, NULL, NULL, err)
                              : tacet__fail(err, TACET_NUMERIC, "the released sums can't be explained: not finite");
    if (status == TACET_OK) {
        tacet__chol_solve(p, s->curvature, p, s->step);
    }
    return status;
}

/* How much of the step may be taken so that nothing moves by more than MOVE_MOST on the grid. */
static double reach(tacet__stepwise *s) {
    double most = 0;
    tacet__gemv(true, s->tilt_count, s->points, 1, s->grid_features, s->grid_ld, s->step, 0, s->move);
    for (size_t j = 0; j < s->points; j++) {
        most = fmax(most, fabs(s->move[j]));
    }
    tacet__gemv(true, s->reward_count, s->points, 1, s->with_constant, s->reward_count, s->step + s->tilt_count, 0,
                s->move);
    for (size_t j = 0; j < s->points; j++) {
        most = fmax(most, fabs(s->move[j]));
    }
    return most > MOVE_MOST ? MOVE_MOST / most : 1;
}

/* Moves s->trial along the step; false when nothing better lies there. */
static bool descend(tacet__stepwise *s, const double *sums, const double *guess, double n, double value) {
    const size_t p = s->unknowns;
    double length = reach(s);
    double *from = s->spare_square, *along = s->spare_square + p; /* objective() writes into step */
    memcpy(from, s->trial, p * sizeof(double));
    memcpy(along, s->step, p * sizeof(double));
    for (int i = 0; i < HALVINGS; i++, length *= 0.5) { /* NOLINT(cert-flp30-c): i counts */
        for (size_t c = 0; c < p; c++) {
            s->trial[c] = from[c] + length * along[c];
        }
        expect(s, s->trial, guess);
        expected_sums(s, n);
        const double next = objective(s, s->trial, sums);
        if (next < value) {
            return value - next > TOLERANCE * (1 + fabs(next));
        }
    }
    memcpy(s->trial, from, p * sizeof(double));
    return false;
}

tacet_status tacet__stepwise_update(tacet__stepwise *s, const double *sums, size_t n, const double *guess,
                                    double noise_var, tacet_error *err) {
    const size_t p = s->unknowns;
    double value = 0;
    if (s->reward_numbers == 0) {
        return TACET_OK;
    }
    map_grid(s);
    memcpy(s->start, s->belief_mean, p * sizeof(double));
    memcpy(s->trial, s->belief_mean, p * sizeof(double));
    memcpy(s->prior_precision, s->belief_cov, p * p * sizeof(double));
    tacet_status status = tacet__cholesky(s->prior_precision, p, p, NULL, NULL, err);
    TACET_THEN(status, tacet__chol_inverse(p, s->prior_precision, p, err));
    bool moving = true;
    for (int i = 0; status == TACET_OK; i++) {
        status = linearise(s, sums, guess, (double)n, noise_var, &value, err);
        if (status != TACET_OK || i == STEPS || !moving) {
            break;
        }
        moving = descend(s, sums, guess, (double)n, value);
    }
    TACET_THEN(status, tacet__chol_inverse(p, s->curvature, p, err)); /* of the curvature at the end */
    for (size_t i = 0; status == TACET_OK && i < p; i++) {
        status = isfinite(s->trial[i]) && isfinite(s->curvature[i * (p + 1)])
                     ? TACET_OK
                     : tacet__fail(err, TACET_NUMERIC, "the released sums can't be explained: not finite");
    }
    if (status == TACET_OK) {
        memcpy(s->belief_mean, s->trial, p * sizeof(double));
        memcpy(s->belief_cov, s->curvature, p * p * sizeof(double));
    }
    return status;
}

void tacet__stepwise_logit(tacet__stepwise *s, double *mean, double *var, const double *phi, size_t ld, size_t n) {
    const size_t q = s->reward_count, m = s->feature_count;
    const double *theta = s->belief_mean + s->tilt_count,
                 *C = s->belief_cov + s->tilt_count + s->tilt_count * s->unknowns;
    tacet__gemv(true, m, n, 1, phi, ld, theta + 1, 0, mean);
    tacet__gemm(false, false, q, n, m, 1, C + s->unknowns, s->unknowns, phi, ld, 0, s->half, q);
    for (size_t j = 0; j < n; j++) {
        const double *half = s->half + j * q;
        mean[j] += theta[0];
        var[j] = fmax(0, C[0] + 2 * half[0] + tacet__dot(half + 1, phi + j * ld, m));
    }
}

const double *tacet__stepwise_theta(const tacet__stepwise *s) {
    return s->belief_mean + s->tilt_count;
}

void tacet__stepwise_cov(const tacet__stepwise *s, double *out) {
    const double *C = s->belief_cov + s->tilt_count + s->tilt_count * s->unknowns;
    for (size_t j = 0; j < s->reward_count; j++) {
        memcpy(out, C + j * (s->unknowns + 1), (s->reward_count - j) * sizeof(double));
        out += s->reward_count - j;
    }
}

void tacet__stepwise_state(tacet__stepwise *s, tacet__state *state) {
    const size_t q = s->reward_count;
    tacet__state_size(state, "reward numbers", &s->reward_numbers, q);
    tacet__state_size(state, "play numbers", &s->play_numbers, s->tilt_count);
    tacet__state_f64(state, "play weight", &s->play_weight, 0, PLAY_MOST);
    tacet__state_f64s(state, "belief", s->belief_mean, s->unknowns);
    tacet__state_symmetric(state, "covariance", s->belief_cov, s->unknowns);
    if (tacet__state_taking(state)) {
        memset(s->reward_map, 0, q * q * sizeof(double));
        memset(s->play_map, 0, q * q * sizeof(double));
    }
    tacet__state_matrix(state, "reward map", s->reward_map, q, s->reward_numbers, q);
    tacet__state_matrix(state, "play map", s->play_map, q, s->play_numbers, q);
    for (size_t i = 0; i < s->unknowns && tacet__state_taking(state); i++) {
        tacet__state_require(state, "covariance", s->belief_cov[i * (s->unknowns + 1)] > 0);
    }
}
