/* SPDX-License-Identifier: Apache-2.0 */
/* arms.c - GP posterior over arms, from a weight and a weighted sum per arm.
 * Ring: pure. Source: the weight-space identities P = K - K (K + W^-1)^-1 K = (K^-1 + W)^-1 and
 * mean = P b, W the diagonal of sum 1/noise and b of sum y/noise (Rasmussen and Williams 2006, section
 * 2.2, grouped by arm). Differs: P moves by a rank-one update per observation and is rebuilt from W and b after every
 * max(n, 64) of them, which keeps the rounding of 10^5 rounds at that of one and costs O(n^2) per round on average.
 * Cost: O(n^2) an update, 5 n^2 doubles, no allocation after create; with a tolerance see arms_reduced.c. */
#include "gp/cov_internal.h"
#include "gp/arms_internal.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REBUILD_LEAST = 64 };

void tacet_arms_free(tacet_arms *arms) {
    if (arms != NULL) {
        free(arms->K);
        free(arms->F);
        free(arms->P);
        free(arms->mean);
        free(arms->var);
        free(arms->weights);
        free(arms->sums);
        free(arms->counts);
        free(arms->A);
        free(arms->B);
        free(arms->retry);
        free(arms->vector);
        free(arms->short_);
        free(arms->seen);
        free(arms);
    }
}

static bool allocate(tacet_arms *arms) {
    const size_t n = arms->n, order = arms->order;
    size_t square = 0, wide = 0;
    if (!tacet__size_mul(&square, order, order) || !tacet__size_mul(&wide, order, n)) {
        return false;
    }
    arms->P = TACET__ALIGNED(double, square);
    arms->A = TACET__ALIGNED(double, square);
    arms->B = TACET__ALIGNED(double, wide);
    arms->retry = TACET__ALIGNED(double, square);
    arms->mean = TACET__ALIGNED(double, n);
    arms->var = TACET__ALIGNED(double, n);
    arms->weights = TACET__ZALLOC(double, n);
    arms->sums = TACET__ZALLOC(double, n);
    arms->counts = TACET__ZALLOC(uint64_t, n);
    arms->vector = TACET__ALIGNED(double, n);
    arms->short_ = TACET__ALIGNED(double, order);
    arms->seen = TACET__ZALLOC(size_t, n);
    return arms->P != NULL && arms->A != NULL && arms->B != NULL && arms->retry != NULL && arms->mean != NULL &&
           arms->var != NULL && arms->weights != NULL && arms->sums != NULL && arms->counts != NULL &&
           arms->vector != NULL && arms->short_ != NULL && arms->seen != NULL;
}

static tacet_status read_prior(tacet_arms *arms, const tacet_cov *cov, tacet_error *err) {
    for (size_t i = 0; i < arms->n; i++) {
        tacet_cov_row(cov, arms->K + i * arms->n, 0, arms->n, i);
        for (size_t j = 0; j < arms->n; j++) {
            if (!isfinite(arms->K[i * arms->n + j])) {
                return tacet__fail(err, TACET_NUMERIC, "the covariance of arms %zu and %zu is not finite", i, j);
            }
        }
    }
    return TACET_OK;
}

/* Low rank where it saves anything. */
static tacet_status reduce(tacet_arms *arms, double tolerance, tacet_error *err) {
    const size_t n = arms->n;
    double *F = TACET__ALIGNED(double, n *n), *left = TACET__ALIGNED(double, n);
    size_t *pivots = TACET__ZALLOC(size_t, n);
    const bool room = F != NULL && left != NULL && pivots != NULL;
    const size_t rank = room ? tacet__arms_factor(F, arms->K, n, tolerance, left, pivots) : n;
    if (rank < n - n / 4) {
        arms->rank = arms->order = rank;
        arms->F = F;
        F = NULL;
        free(arms->K);
        arms->K = NULL;
    }
    free(F);
    free(left);
    free(pivots);
    return room ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu arms", n);
}

tacet_status tacet_arms_create(tacet_arms **out, const tacet_cov *cov, double tolerance, tacet_error *err) {
    *out = NULL;
    const size_t n = tacet_cov_size(cov);
    size_t square = 0;
    tacet_status status = TACET_OK;
    tacet_arms *arms = TACET__ZALLOC(tacet_arms, 1);
    if (arms != NULL) {
        arms->n = arms->order = n;
        arms->K = tacet__size_mul(&square, n, n) ? TACET__ALIGNED(double, square) : NULL;
    }
    if (arms == NULL || arms->K == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu arms", n);
        goto done;
    }
    status = read_prior(arms, cov, err);
    if (status == TACET_OK && tolerance > 0) {
        status = reduce(arms, tolerance, err);
    }
    if (status == TACET_OK && !allocate(arms)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu arms", n);
    }
    if (status == TACET_OK) {
        tacet_arms_reset(arms);
        *out = arms;
        arms = NULL;
    }
done:
    tacet_arms_free(arms);
    return status;
}

static void reset_posterior(tacet_arms *arms) {
    const size_t order = arms->order;
    if (arms->rank == 0) {
        memcpy(arms->P, arms->K, order * order * sizeof *arms->P);
        return;
    }
    memset(arms->P, 0, order * order * sizeof *arms->P);
    for (size_t i = 0; i < order; i++) {
        arms->P[i * order + i] = 1;
    }
}

void tacet_arms_reset(tacet_arms *arms) {
    reset_posterior(arms);
    for (size_t i = 0; i < arms->n; i++) {
        arms->mean[i] = 0;
        arms->var[i] = arms->rank == 0 ? arms->K[i * arms->n + i]
                                       : tacet__dot(arms->F + i * arms->rank, arms->F + i * arms->rank, arms->rank);
        arms->weights[i] = 0;
        arms->sums[i] = 0;
        arms->counts[i] = 0;
    }
    arms->information = 0;
    arms->jitter = 0;
    arms->since = 0;
}

static void refresh_var(tacet_arms *arms) {
    for (size_t i = 0; i < arms->n; i++) {
        const double v = arms->P[i * arms->n + i];
        arms->var[i] = v > 0 ? v : 0;
    }
}

/* Posterior from the statistics alone: K_SS + W_S^-1 = L L', B = L^-1 K_S, P = K - B'B, over the arms S seen. On
 * failure P, mean and var are as they were. */
static tacet_status rebuild(tacet_arms *arms, tacet_error *err) {
    const size_t n = arms->n;
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (arms->weights[i] > 0) {
            arms->seen[m++] = i;
        }
    }
    for (size_t b = 0; b < m; b++) {
        const size_t i = arms->seen[b];
        for (size_t a = 0; a < m; a++) {
            arms->A[b * m + a] = arms->K[i * n + arms->seen[a]];
        }
        arms->A[b * m + b] += 1 / arms->weights[i];
        arms->vector[b] = arms->sums[i] / arms->weights[i];
    }
    tacet__chol_report report = {0};
    TACET_OR_RETURN(tacet__cholesky(arms->A, m, m, arms->retry, &report, err));
    for (size_t j = 0; j < n; j++) {
        for (size_t a = 0; a < m; a++) {
            arms->B[j * m + a] = arms->K[j * n + arms->seen[a]];
        }
    }
    arms->information = 0.5 * tacet__chol_logdet(m, arms->A, m);
    for (size_t a = 0; a < m; a++) {
        arms->information += 0.5 * log(arms->weights[arms->seen[a]]);
    }
    tacet__trsm(false, m, n, arms->A, m, arms->B, m);
    tacet__trsv(false, m, arms->A, m, arms->vector);
    memcpy(arms->P, arms->K, n * n * sizeof *arms->P);
    tacet__syrk(true, n, m, -1, arms->B, m, 1, arms->P, n);
    tacet__symmetrize(arms->P, n, n);
    tacet__gemv(true, m, n, 1, arms->B, m, arms->vector, 0, arms->mean);
    refresh_var(arms);
    arms->jitter = fmax(arms->jitter, report.jitter);
    arms->since = 0;
    return TACET_OK;
}

/* One observation of weight 1/noise: P -= q q', q = P e_i / sqrt(noise + P_ii). The product q_i q_j is the same either
 * way round, so P stays symmetric to the last bit. */
static void rank_one(tacet_arms *arms, size_t arm, double average, double noise) {
    const size_t n = arms->n;
    double *restrict q = arms->vector;
    const double root = sqrt(noise + arms->var[arm]);
    const double surprise = (average - arms->mean[arm]) / root;
    arms->information += 0.5 * log1p(arms->var[arm] / noise);
    for (size_t i = 0; i < n; i++) {
        q[i] = arms->P[arm * n + i] / root;
        arms->mean[i] += surprise * q[i];
    }
    for (size_t j = 0; j < n; j++) {
        const double factor = q[j];
        double *restrict column = arms->P + j * n;
        for (size_t i = 0; i < n; i++) {
            column[i] -= factor * q[i];
        }
    }
    refresh_var(arms);
    arms->since++;
}

tacet_status tacet_arms_observe(tacet_arms *arms, size_t arm, uint64_t count, double sum, double noise_var,
                                tacet_error *err) {
    if (arm >= arms->n) {
        return tacet__fail(err, TACET_INVALID, "arm %zu does not exist: there are %zu", arm, arms->n);
    }
    if (count == 0 || !isfinite(sum)) {
        return tacet__fail(err, TACET_INVALID, "arm %zu: no observation, or a sum that is not finite", arm);
    }
    const double noise = noise_var / (double)count; /* of their average */
    const double weight = 1 / noise;
    if (!(noise_var > 0 && isfinite(noise_var) && weight > 0 && isfinite(weight) && isfinite(sum / noise_var))) {
        return tacet__fail(err, TACET_INVALID, "the noise variance must be finite and greater than 0");
    }
    const double old_weight = arms->weights[arm];
    const double old_sum = arms->sums[arm];
    arms->weights[arm] += weight;
    arms->sums[arm] += sum / noise_var;
    if (arms->since + 1 >= (arms->n > REBUILD_LEAST ? arms->n : REBUILD_LEAST)) {
        const tacet_status status = arms->rank > 0 ? tacet__arms_rebuild_reduced(arms, err) : rebuild(arms, err);
        if (status != TACET_OK) {
            arms->weights[arm] = old_weight;
            arms->sums[arm] = old_sum;
            return status;
        }
    } else {
        (arms->rank > 0 ? tacet__arms_step_reduced : rank_one)(arms, arm, sum / (double)count, noise);
    }
    arms->counts[arm] += count;
    return TACET_OK;
}

const double *tacet_arms_mean(const tacet_arms *arms) {
    return arms->mean;
}

const double *tacet_arms_var(const tacet_arms *arms) {
    return arms->var;
}

const double *tacet_arms_weights(const tacet_arms *arms) {
    return arms->weights;
}

const double *tacet_arms_sums(const tacet_arms *arms) {
    return arms->sums;
}

const uint64_t *tacet_arms_counts(const tacet_arms *arms) {
    return arms->counts;
}

double tacet_arms_information(const tacet_arms *arms) {
    return arms->information;
}

/* The posterior is saved as it is, not rebuilt on loading: its last bits depend on its history. */
void tacet__arms_copy(tacet_arms *to, const tacet_arms *from) {
    const size_t n = to->n;
    memcpy(to->P, from->P, to->order * to->order * sizeof(double));
    memcpy(to->mean, from->mean, n * sizeof(double));
    memcpy(to->var, from->var, n * sizeof(double));
    memcpy(to->weights, from->weights, n * sizeof(double));
    memcpy(to->sums, from->sums, n * sizeof(double));
    memcpy(to->counts, from->counts, n * sizeof(uint64_t));
    to->information = from->information;
    to->jitter = from->jitter;
    to->since = from->since;
}

void tacet__arms_state(tacet_arms *arms, tacet__state *s) {
    const size_t n = arms->n;
    tacet__state_f64s(s, "weights", arms->weights, n);
    tacet__state_f64s(s, "sums", arms->sums, n);
    tacet__state_u64s(s, "counts", arms->counts, n, UINT64_MAX);
    tacet__state_f64s(s, "mean", arms->mean, n);
    tacet__state_symmetric(s, "posterior", arms->P, arms->order);
    if (arms->rank > 0) {
        tacet__state_f64s(s, "variance", arms->var, n);
    } else if (tacet__state_taking(s)) { /* the diagonal of P */
        refresh_var(arms);
    }
    tacet__state_f64(s, "information", &arms->information, -1e300, 1e300);
    tacet__state_f64(s, "jitter", &arms->jitter, -1e300, 1e300);
    tacet__state_size(s, "since", &arms->since, n > REBUILD_LEAST ? n : REBUILD_LEAST);
    for (size_t i = 0; i < n && tacet__state_taking(s); i++) {
        tacet__state_require(s, "weights", arms->weights[i] >= 0 && arms->var[i] >= 0);
    }
}
