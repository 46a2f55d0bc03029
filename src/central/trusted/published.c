/* SPDX-License-Identifier: Apache-2.0 */
/* published.c - the published joint-DP bandit: noisy normal equations through a binary tree, every round.
 * Ring: trusted. Source: Dubey (AISTATS 2021), Algorithms 1 and 2, Lemmas 2 and 3, Theorem 1. Differs: the tree is the
 * dyadic one with fresh noise in every node (the paper's leaves-only noise grows as sqrt t); rewards are clipped
 * instead of bounded with high probability; the default calibration is the one that is proven.
 * src/central/README.md. Cost: O(m^3) a round for V, (m+1)(m+2)/2 numbers of noise for each new node. */
#include <tacet/central/trusted/policy.h>

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/central/open/noisy_ucb.h>

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "central/trusted/parts.h"

static const char PROOF[] = "src/central/README.md";

typedef struct published {
    const tacet_features *features; /* borrowed */
    tacet_noisy_ucb *ucb;
    double *z;    /* m + 1: private */
    double bound; /* of |y| */
    double zeta;
    bool doubling;
} published;

void tacet_central_published_settings_defaults(tacet_central_published_settings *settings) {
    *settings = (tacet_central_published_settings){.calibration = TACET_CENTRAL_PROVEN,
                                                   .norm_bound = 1,
                                                   .reward_hi = 1,
                                                   .rho = 0.5,
                                                   .lambda = 1,
                                                   .zeta = 0.1,
                                                   .width = 1,
                                                   .open_most = 64,
                                                   .coin_seed = 1,
                                                   .save_first = true};
}

static double reward_bound(const tacet_central_published_settings *s) {
    return fmax(fabs(s->reward_lo), fabs(s->reward_hi));
}

/* How far one record moves the whole tree, per unit it moves a node. */
static tacet_status tree_factor(double *out, uint64_t rounds, tacet_error *err) {
    tacet_stream_cost cost;
    tacet_status status = tacet_stream_plan(&cost, NULL, TACET_FACTORIZATION_TREE, (size_t)rounds, err);
    *out = status == TACET_OK ? cost.sensitivity : 0;
    return status;
}

tacet_status tacet_central_published_noise(double *sigma, double *eps, double *delta,
                                           const tacet_central_published_settings *s, tacet_error *err) {
    if (s->rounds == 0 || s->rounds > (uint64_t)1 << 24) {
        return tacet__fail(err, TACET_INVALID, "the published noise needs a horizon of 1 to 2^24 rounds");
    }
    const double B = reward_bound(s), D = 1 + B * B;
    double factor = 0, mu = 0;
    tacet_status status = tree_factor(&factor, s->rounds, err);
    if (status == TACET_OK) {
        status = tacet_gdp_mu(&mu, s->eps, s->delta, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    *sigma = D * factor / mu;
    *eps = s->eps;
    *delta = s->delta;
    if (s->calibration == TACET_CENTRAL_PROVEN) {
        return TACET_OK;
    }
    const double n = 1 + ceil(log2((double)s->rounds)), l = log(10 / s->delta);
    *sigma = sqrt(16 * n * D) * l / s->eps;
    mu = D * factor / *sigma;
    status = tacet_gdp_eps(eps, mu, s->delta, err);
    if (status != TACET_OK) {
        return status;
    }
    /* where even eps = 0 holds at this delta, state the smaller delta at a small eps instead */
    if (*eps < 0.5 * mu) {
        *eps = 0.5 * mu;
        status = tacet_gdp_delta(delta, mu, *eps, err);
    }
    return status;
}

static void record(void *self, double *out, const double *x, double y) {
    published *p = self;
    const size_t m = tacet_features_dim(p->features);
    tacet_features_eval(p->features, p->z, x, tacet_features_inputs(p->features), 1);
    const double norm = tacet__norm2(p->z, m);
    for (size_t i = 0; i < m; i++) {
        p->z[i] = norm > 1 ? p->z[i] / norm : (isfinite(norm) ? p->z[i] : 0);
    }
    p->z[m] = isnan(y) ? 0 : fmin(fmax(y, -p->bound), p->bound);
    for (size_t j = 0; j <= m; j++) {
        *out++ = p->z[j] * p->z[j];
        for (size_t i = j + 1; i <= m; i++) {
            *out++ = sqrt(2) * p->z[i] * p->z[j];
        }
    }
    sodium_memzero(p->z, (m + 1) * sizeof(double));
}

static void played(void *self) {
    (void)self; /* Algorithm 1 keeps nothing but the released sums */
}

static tacet_status update(void *self, const double *sums, double var, uint64_t count, tacet_error *err) {
    published *p = self;
    if (p->doubling) { /* Remark 5: as if T were the next power of two */
        double shift = 0, kappa = 0;
        tacet_noisy_ucb_spectrum(&shift, &kappa, sqrt(var), tacet_features_dim(p->features),
                                 exp2(ceil(log2((double)count + 1))), p->zeta);
        tacet_status status = tacet_noisy_ucb_respectrum(p->ucb, shift, kappa, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    return tacet_noisy_ucb_update(p->ucb, sums, err);
}

static bool informed(const void *self) {
    return tacet_noisy_ucb_updates(((const published *)self)->ucb) > 0;
}

static size_t choose(void *self, double *score, const double *X, size_t ldx, size_t n) {
    return tacet_noisy_ucb_choose(((published *)self)->ucb, score, X, ldx, n);
}

static void best(void *self, double *mean, double *sd) {
    (void)self;
    *mean = *sd = NAN; /* the published algorithm knows no domain to search */
}

static tacet_status save(const void *self, tacet_blob *out, tacet_error *err) {
    return tacet_noisy_ucb_save(((const published *)self)->ucb, out, err);
}

static tacet_status load(void *self, const void *bytes, size_t size, tacet_error *err) {
    return tacet_noisy_ucb_load(((published *)self)->ucb, bytes, size, err);
}

static void release(void *self) {
    published *p = self;
    tacet_noisy_ucb_free(p->ucb);
    free(p->z);
    free(p);
}

static const tacet__central_ops OPS = {.name = "central-published",
                                       .record = record,
                                       .played = played,
                                       .update = update,
                                       .informed = informed,
                                       .choose = choose,
                                       .best = best,
                                       .save = save,
                                       .load = load,
                                       .free = release};

static tacet_status check(const tacet_features *features, const tacet_central_published_settings *s, tacet_error *err) {
    if (features == NULL || s == NULL) {
        return tacet__fail(err, TACET_INVALID, "the published algorithm needs features and settings");
    }
    if (!(tacet_features_norm2_bound(features) <= 1)) {
        return tacet__fail(err, TACET_INVALID, "the published algorithm needs features of norm at most 1");
    }
    if (!(s->reward_lo < s->reward_hi && reward_bound(s) <= 1e6)) {
        return tacet__fail(err, TACET_INVALID, "the range of rewards must have its low end below its high end");
    }
    if (s->calibration != TACET_CENTRAL_PROVEN && s->calibration != TACET_CENTRAL_PUBLISHED) {
        return tacet__fail(err, TACET_INVALID, "calibration is proven or published");
    }
    if (s->rounds == 0 && s->calibration == TACET_CENTRAL_PUBLISHED) {
        return tacet__fail(err, TACET_INVALID, "the published noise is stated for a known horizon only");
    }
    return TACET_OK;
}

static tacet_status build(published **out, tacet__central_run *run, const tacet_features *features,
                          const tacet_central_published_settings *s, tacet_error *err) {
    tacet_noisy_ucb_settings set;
    tacet_noisy_ucb_settings_defaults(&set);
    set.norm_bound = s->norm_bound;
    set.rho = s->rho;
    set.lambda = s->lambda;
    set.zeta = s->zeta;
    set.width = s->width;
    *run = (tacet__central_run){.eps = s->eps,
                                .delta = s->delta,
                                .rounds = s->rounds,
                                .factorization = TACET_FACTORIZATION_TREE,
                                .first_length = 1,
                                .growth = 1,
                                .open_most = s->open_most,
                                .coin_seed = s->coin_seed,
                                .save_first = s->save_first,
                                .replay = s->replay};
    if (s->rounds > 0) {
        double sigma = 0;
        tacet_status status = tacet_central_published_noise(&sigma, &run->eps, &run->delta, s, err);
        if (status != TACET_OK) {
            return status;
        }
        const double n = 1 + ceil(log2((double)s->rounds));
        tacet_noisy_ucb_spectrum(&set.shift, &set.kappa, sigma * sqrt(2 * n), tacet_features_dim(features),
                                 (double)s->rounds, s->zeta);
    }
    published *p = TACET__ZALLOC(published, 1);
    double *z = TACET__ZALLOC(double, tacet_features_dim(features) + 1);
    tacet_status status = p == NULL || z == NULL ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy")
                                                 : tacet_noisy_ucb_create(&p->ucb, features, &set, err);
    if (status != TACET_OK) {
        free(p);
        free(z);
        return status;
    }
    p->features = features;
    p->z = z;
    p->bound = reward_bound(s);
    p->zeta = s->zeta;
    p->doubling = s->rounds == 0;
    *out = p;
    return TACET_OK;
}

tacet_status tacet_central_published_create(tacet_policy **out, const tacet_features *features,
                                            const tacet_central_published_settings *settings, const tacet_ask *ask,
                                            tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the policy");
    }
    *out = NULL;
    tacet_status status = check(features, settings, err);
    published *p = NULL;
    tacet__central_run run;
    if (status == TACET_OK) {
        status = build(&p, &run, features, settings, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    const double B = reward_bound(settings), D = 1 + B * B;
    /* sqrt(2) (1 + B^2): the distance of two outer products of vectors of norm at most sqrt(1 + B^2), and a little for
     * rounding errors of the products */
    const tacet__central_parts parts = {.ops = &OPS,
                                        .self = p,
                                        .d = tacet_features_inputs(features),
                                        .dim = tacet_noisy_ucb_dim(p->ucb),
                                        .lo = settings->reward_lo,
                                        .hi = settings->reward_hi,
                                        .sensitivity = sqrt(2) * D * (1 + 1e-12),
                                        .radius = D * (1 + 1e-12),
                                        .proof = PROOF,
                                        .print = tacet_features_dim(features)};
    return tacet__central_policy_create(out, &parts, &run, ask, err);
}
