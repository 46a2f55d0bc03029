/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_models.c - a ladder of Gaussian models of a function over a fixed domain.
 * Ring: open. How noisy rewards are, how large and how smooth the function is are not known, and a wrong guess costs:
 * each release moves the share of every model by how probable the model held it (Bayesian model averaging; post-
 * processing). README.md, (f). Cost: O(models m^3) an update, O(m^2) a draw. */
#include "central/open/fixed_models.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

enum { REWARD_VARS = 3, PRIORS = 2, MODELS_MOST = REWARD_VARS * PRIORS };
static const double REWARD_VAR[REWARD_VARS] = {0.01, 0.05, 0.25}; /* of a reward around its mean; 0.25: 0/1 rewards */
static const double POWER[PRIORS] = {0, 0.5};                     /* of the eigenvalues: the kernel's own, smoother */

static const double EXACT = 1e-9; /* of the variance of a release: keeps an exact, singular one definite */

typedef struct rung {
    double reward_var;
    double *precision, *rhs; /* m x m (lower), m: of the posterior */
    double *L, *mean;        /* factor of precision; posterior mean */
    double evidence;         /* log probability of all releases so far */
    double share;            /* of the belief: proportional to exp(evidence) */
} rung;

struct tacet__fixed_models {
    size_t m, count;
    rung *rungs;
    double *average;                         /* m: posterior mean over the models */
    double *T1, *T2, *v;                     /* scratch: m x m, m x m, m */
    double *new_precision, *new_L, *new_rhs; /* count x (m x m, m x m, m): an update, until all of it is good */
    double *new_evidence;
};

static bool allocate(tacet__fixed_models *l) {
    size_t square = 0, squares_all = 0, vectors_all = 0;
    if (!tacet__size_mul(&square, l->m, l->m) || !tacet__size_mul(&squares_all, square, l->count) ||
        !tacet__size_mul(&vectors_all, l->m, l->count)) {
        return false;
    }
    l->rungs = TACET__ZALLOC(rung, l->count);
    l->average = TACET__ZALLOC(double, l->m);
    l->v = TACET__ZALLOC(double, l->m);
    l->T1 = TACET__ZALLOC(double, square);
    l->T2 = TACET__ZALLOC(double, square);
    l->new_precision = TACET__ZALLOC(double, squares_all);
    l->new_L = TACET__ZALLOC(double, squares_all);
    l->new_rhs = TACET__ZALLOC(double, vectors_all);
    l->new_evidence = TACET__ZALLOC(double, l->count);
    bool all = l->rungs != NULL && l->average != NULL && l->v != NULL && l->T1 != NULL && l->T2 != NULL &&
               l->new_precision != NULL && l->new_L != NULL && l->new_rhs != NULL && l->new_evidence != NULL;
    for (size_t k = 0; all && k < l->count; k++) {
        rung *r = &l->rungs[k];
        r->rhs = TACET__ZALLOC(double, l->m);
        r->mean = TACET__ZALLOC(double, l->m);
        r->precision = TACET__ZALLOC(double, square);
        r->L = TACET__ZALLOC(double, square);
        all = r->rhs != NULL && r->mean != NULL && r->precision != NULL && r->L != NULL;
    }
    return all;
}

void tacet__fixed_models_free(tacet__fixed_models *l) {
    if (l == NULL) {
        return;
    }
    for (size_t k = 0; l->rungs != NULL && k < l->count; k++) {
        free(l->rungs[k].precision);
        free(l->rungs[k].rhs);
        free(l->rungs[k].L);
        free(l->rungs[k].mean);
    }
    free(l->rungs);
    free(l->average);
    free(l->T1);
    free(l->T2);
    free(l->v);
    free(l->new_precision);
    free(l->new_L);
    free(l->new_rhs);
    free(l->new_evidence);
    free(l);
}

/* Variances of the coefficients: in proportion to a power of the features' eigenvalues (their mean squares over the
 * choices), such that the function has the variance `size` times that of its kernel. Power 0 is the kernel's own prior;
 * larger ones are smoother. */
static void prior_variances(double *out, const tacet_fixed_group *groups, size_t count, double size, double power) {
    double *v = out;
    for (size_t g = 0; g < count; v += groups[g].features, g++) {
        const tacet_fixed_group *group = &groups[g];
        double top = 0, plain = 0, falling = 0;
        for (size_t i = 0; i < group->features; i++) {
            v[i] = 0;
            for (size_t c = 0; c < group->choices; c++) {
                const double phi = group->Phi[i + c * group->features];
                v[i] += phi * phi / (double)group->choices;
            }
            top = fmax(top, v[i]);
        }
        for (size_t i = 0; i < group->features; i++) {
            const double q = top > 0 ? pow(fmax(v[i] / top, 1e-12), power) : 1;
            plain += v[i];
            falling += q * v[i];
            v[i] = q;
        }
        for (size_t i = 0; i < group->features; i++) {
            v[i] *= falling > 0 ? size * plain / falling : size;
        }
    }
}

/* A model before the first batch: its prior, and what is known already, which is public and costs nothing. */
static tacet_status begin_rung(tacet__fixed_models *l, rung *r, const double *variances,
                               const tacet_fixed_group *groups, const tacet_fixed_settings *set, tacet_error *err) {
    const size_t m = l->m;
    for (size_t i = 0; i < m; i++) {
        r->precision[i * (m + 1)] = 1 / variances[i];
    }
    for (size_t i = 0; i < set->earlier_count; i++) {
        const tacet_fixed_earlier *e = &set->earlier[i];
        const double *phi = groups[0].Phi + e->arm * m, weight = 1 / (e->sd * e->sd);
        tacet__syrk(false, m, 1, weight, phi, m, 1, r->precision, m);
        tacet__axpy(r->rhs, weight * (e->value - 0.5), phi, m);
    }
    memcpy(r->L, r->precision, m * m * sizeof(double));
    const tacet_status status = tacet__cholesky(r->L, m, m, NULL, NULL, err);
    if (status == TACET_OK) {
        memcpy(r->mean, r->rhs, m * sizeof(double));
        tacet__chol_solve(m, r->L, m, r->mean);
        tacet__axpy(l->average, r->share, r->mean, m);
    }
    return status;
}

tacet_status tacet__fixed_models_create(tacet__fixed_models **out, const tacet_fixed_group *groups, size_t group_count,
                                        const tacet_fixed_settings *settings, tacet_error *err) {
    *out = NULL;
    tacet__fixed_models *l = TACET__ZALLOC(tacet__fixed_models, 1);
    if (l == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    }
    for (size_t g = 0; g < group_count; g++) {
        l->m += groups[g].features;
    }
    /* Over a product the smooth prior starves the finer features of every list at once: README.md, (f). */
    l->count = !settings->ladder ? 1 : group_count == 1 ? MODELS_MOST : REWARD_VARS;
    tacet_status status = allocate(l) ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "no memory for a learner");
    for (size_t k = 0; status == TACET_OK && k < l->count; k++) {
        rung *r = &l->rungs[k];
        double *variances = l->T1;
        r->reward_var = settings->ladder ? REWARD_VAR[k % REWARD_VARS] : settings->reward_var;
        r->share = 1 / (double)l->count;
        prior_variances(variances, groups, group_count, settings->prior_var, POWER[k / REWARD_VARS]);
        status = begin_rung(l, r, variances, groups, settings, err);
    }
    if (status != TACET_OK) {
        tacet__fixed_models_free(l);
        return status;
    }
    *out = l;
    return TACET_OK;
}

/* One model's update into the new_ arrays. */
static tacet_status update_rung(tacet__fixed_models *l, size_t k, const double *u, const double *H, const double *V,
                                double noise_var, tacet_error *err) {
    const size_t m = l->m;
    const rung *r = &l->rungs[k];
    double *precision = l->new_precision + k * m * m, *L = l->new_L + k * m * m, *rhs = l->new_rhs + k * m;
    for (size_t i = 0; i < m * m; i++) {
        l->T2[i] = r->reward_var * V[i];
    }
    double trace = 0;
    for (size_t i = 0; i < m; i++) {
        trace += l->T2[i * (m + 1)];
    }
    for (size_t i = 0; i < m; i++) {
        l->T2[i * (m + 1)] += noise_var + EXACT * (1 + trace);
    }
    /* How probable that was before: N(u; H mean, H cov H' + T2), H cov H' = (L^-1 H')'(L^-1 H'). */
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) {
            l->T1[i + j * m] = H[j + i * m];
        }
    }
    tacet__trsm(false, m, m, r->L, m, l->T1, m);
    memcpy(L, l->T2, m * m * sizeof(double));
    tacet__syrk(true, m, m, 1, l->T1, m, 1, L, m);
    tacet_status status = tacet__cholesky(L, m, m, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    memcpy(l->v, u, m * sizeof(double));
    tacet__gemv(false, m, m, -1, H, m, r->mean, 1, l->v);
    tacet__trsv(false, m, L, m, l->v);
    l->new_evidence[k] = r->evidence - 0.5 * (tacet__dot(l->v, l->v, m) + tacet__chol_logdet(m, L, m));
    /* The posterior. */
    status = tacet__cholesky(l->T2, m, m, NULL, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    memcpy(l->T1, H, m * m * sizeof(double));
    memcpy(l->v, u, m * sizeof(double));
    tacet__trsm(false, m, m, l->T2, m, l->T1, m);
    tacet__trsv(false, m, l->T2, m, l->v);
    memcpy(precision, r->precision, m * m * sizeof(double));
    tacet__syrk(true, m, m, 1, l->T1, m, 1, precision, m);
    memcpy(L, precision, m * m * sizeof(double));
    memcpy(rhs, r->rhs, m * sizeof(double));
    tacet__gemv(true, m, m, 1, l->T1, m, l->v, 1, rhs);
    return tacet__cholesky(L, m, m, NULL, NULL, err);
}

/* Shares of the models by their evidence, and what they say together. */
static void weigh(tacet__fixed_models *l) {
    double top = -INFINITY, total = 0;
    for (size_t k = 0; k < l->count; k++) {
        top = fmax(top, l->rungs[k].evidence);
    }
    memset(l->average, 0, l->m * sizeof(double));
    for (size_t k = 0; k < l->count; k++) {
        l->rungs[k].share = exp(l->rungs[k].evidence - top);
        total += l->rungs[k].share;
    }
    for (size_t k = 0; k < l->count; k++) {
        l->rungs[k].share /= total;
        tacet__axpy(l->average, l->rungs[k].share, l->rungs[k].mean, l->m);
    }
}

void tacet__fixed_models_take(tacet__fixed_models *l) {
    const size_t m = l->m;
    for (size_t k = 0; k < l->count; k++) {
        rung *r = &l->rungs[k];
        memcpy(r->precision, l->new_precision + k * m * m, m * m * sizeof(double));
        memcpy(r->L, l->new_L + k * m * m, m * m * sizeof(double));
        memcpy(r->rhs, l->new_rhs + k * m, m * sizeof(double));
        memcpy(r->mean, r->rhs, m * sizeof(double));
        tacet__chol_solve(m, r->L, m, r->mean);
        r->evidence = l->new_evidence[k];
    }
    weigh(l);
}

tacet_status tacet__fixed_models_update(tacet__fixed_models *l, const double *u, const double *H, const double *V,
                                        double noise_var, tacet_error *err) {
    for (size_t k = 0; k < l->count; k++) {
        const tacet_status status = update_rung(l, k, u, H, V, noise_var, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    tacet__fixed_models_take(l);
    return TACET_OK;
}

void tacet__fixed_models_draw(tacet__fixed_models *l, double *theta, double spread, tacet_simrng *coin) {
    const rung *r = l->rungs;
    if (l->count > 1) { /* a model by its share, then a function of it */
        double u = tacet_simrng_uniform(coin);
        while (r + 1 < l->rungs + l->count && u >= r->share) {
            u -= r->share;
            r++;
        }
    }
    for (size_t i = 0; i < l->m; i++) {
        theta[i] = spread * tacet_simrng_normal(coin);
    }
    tacet__trsv(true, l->m, r->L, l->m, theta);
    tacet__axpy(theta, 1, r->mean, l->m);
}

void tacet__fixed_models_at(tacet__fixed_models *l, double *mean, double *variance, const double *phi) {
    double first = 0, second = 0;
    for (size_t k = 0; k < l->count; k++) {
        const rung *r = &l->rungs[k];
        const double value = tacet__dot(r->mean, phi, l->m);
        memcpy(l->v, phi, l->m * sizeof(double));
        tacet__trsv(false, l->m, r->L, l->m, l->v);
        first += r->share * value;
        second += r->share * (value * value + tacet__dot(l->v, l->v, l->m));
    }
    *mean = first;
    *variance = fmax(0, second - first * first);
}

const double *tacet__fixed_models_mean(const tacet__fixed_models *l) {
    return l->average;
}

tacet_status tacet__fixed_models_spread(tacet__fixed_models *l, double *covariance, double *reward_var,
                                        tacet_error *err) {
    const size_t square = l->m * l->m;
    memset(covariance, 0, square * sizeof(double));
    *reward_var = 0;
    for (size_t k = 0; k < l->count; k++) {
        const rung *r = &l->rungs[k];
        if (r->share < 1e-6) {
            continue;
        }
        memcpy(l->T1, r->L, square * sizeof(double));
        const tacet_status status = tacet__chol_inverse(l->m, l->T1, l->m, err);
        if (status != TACET_OK) {
            return status;
        }
        tacet__axpy(covariance, r->share, l->T1, square);
        *reward_var += r->share * r->reward_var;
    }
    return TACET_OK;
}

void tacet__fixed_models_write(const tacet__fixed_models *l, tacet__writer *w) {
    tacet__write_size(w, l->count);
    for (size_t k = 0; k < l->count; k++) {
        tacet__write_f64s(w, l->rungs[k].precision, l->m * l->m);
        tacet__write_f64s(w, l->rungs[k].rhs, l->m);
        tacet__write_f64(w, l->rungs[k].evidence);
    }
}

bool tacet__fixed_models_read(tacet__fixed_models *l, tacet__reader *r) {
    const size_t m = l->m;
    if (tacet__read_u64(r) != l->count) {
        return false;
    }
    bool good = true;
    for (size_t k = 0; k < l->count; k++) {
        double *precision = l->new_precision + k * m * m, *L = l->new_L + k * m * m, *rhs = l->new_rhs + k * m;
        tacet__read_f64s(r, precision, m * m);
        tacet__read_f64s(r, rhs, m);
        l->new_evidence[k] = tacet__read_f64(r);
        good = good && isfinite(l->new_evidence[k]);
        for (size_t i = 0; i < m; i++) {
            good = good && isfinite(rhs[i]);
        }
        memcpy(L, precision, m * m * sizeof(double));
        good = good && tacet__cholesky(L, m, m, NULL, NULL, NULL) == TACET_OK;
    }
    return good;
}
