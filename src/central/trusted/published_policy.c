/* SPDX-License-Identifier: Apache-2.0 */
/* published_policy.c - the published joint-DP bandit: noisy normal equations through a binary tree, every round.
 * Ring: trusted. Source: Dubey (AISTATS 2021), Algorithms 1 and 2, Lemmas 2 and 3, Theorem 1. Differs: the tree is the
 * dyadic one with fresh noise in every node (the paper's leaves-only noise grows as sqrt t, and is `leaves`); rewards
 * are clipped instead of bounded with high probability; the default calibration is the one that is proven.
 * src/central/README.md. Noise is seeded: this is for simulations, and says so. Cost: O(m^3) a round for V,
 * (m+1)(m+2)/2 numbers of noise for each new node. */
#include "central/trusted/policy.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include "central/open/published_ucb.h"
#include <tacet/core/simrng.h>

#include "core/fail.h"
#include "core/policy_internal.h"
#include "gp/linalg.h"
#include "core/memory.h"
#include "central/trusted/published_tree.h"
#include "core/numbers.h"

static const char PROOF[] = "src/central/README.md";

typedef struct ticket {
    uint64_t number; /* 0: free */
    double *point;   /* of the arm: private */
} ticket;

typedef struct published {
    const tacet_features *features; /* borrowed */
    tacet_noise *noise;             /* borrowed, seeded */
    tacet_central_published_settings settings;
    tacet_published_ucb *ucb;
    tacet__tree *tree;
    double *z;               /* m + 1: private */
    double *record, *sums;   /* of the outer product: private; released */
    double *points;          /* of the tickets */
    ticket *open;            /* open_most */
    uint64_t given, counted; /* suggestions; reports */
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
                                                   .coin_seed = 1};
}

static double reward_bound(const tacet_central_published_settings *s) {
    return fmax(fabs(s->reward_lo), fabs(s->reward_hi));
}

tacet_status tacet_central_published_noise(double *sigma, double *eps, double *delta,
                                           const tacet_central_published_settings *s, tacet_error *err) {
    if (s->rounds == 0 || s->rounds > (uint64_t)1 << 24) {
        return tacet__fail(err, TACET_INVALID, "the published noise needs a horizon of 1 to 2^24 rounds");
    }
    const double B = reward_bound(s), D = 1 + B * B;
    const double factor = tacet__tree_factor(s->rounds, s->leaves);
    double mu = 0;
    TACET_OR_RETURN(tacet_gdp_mu(&mu, s->eps, s->delta, err));
    *sigma = D * factor / mu;
    *eps = s->eps;
    *delta = s->delta;
    if (s->calibration == TACET_CENTRAL_PROVEN) {
        return TACET_OK;
    }
    const double n = 1 + ceil(log2((double)s->rounds)), l = log(10 / s->delta);
    *sigma = sqrt(16 * n * D) * l / s->eps;
    mu = D * factor / *sigma;
    tacet_status status = tacet_gdp_eps(eps, mu, s->delta, err);
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

/* The lower triangle of [phi; y][phi; y]', entries off the diagonal times sqrt(2): its Euclidean norm is that of the
 * matrix, at most 1 + B^2, and two of them are at most sqrt(2) (1 + B^2) apart. */
static void fill_record(published *p, const double *x, double y) {
    const size_t m = tacet_features_dim(p->features);
    const double bound = reward_bound(&p->settings);
    double *out = p->record;
    tacet_features_eval(p->features, p->z, x, tacet_features_inputs(p->features), 1);
    const double norm = tacet__norm2(p->z, m);
    for (size_t i = 0; i < m; i++) {
        p->z[i] = norm > 1 ? p->z[i] / norm : (isfinite(norm) ? p->z[i] : 0);
    }
    p->z[m] = isnan(y) ? 0 : fmin(fmax(y, -bound), bound);
    for (size_t j = 0; j <= m; j++) {
        *out++ = p->z[j] * p->z[j];
        for (size_t i = j + 1; i <= m; i++) {
            *out++ = sqrt(2) * p->z[i] * p->z[j];
        }
    }
    sodium_memzero(p->z, (m + 1) * sizeof(double));
}

static ticket *find_ticket(published *p, uint64_t number) {
    for (size_t i = 0; i < p->settings.open_most; i++) {
        if (p->open[i].number == number) {
            return &p->open[i];
        }
    }
    return NULL;
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    published *p = self;
    const size_t d = tacet_features_inputs(p->features);
    if (round == NULL || round->points == NULL || round->count == 0 || round->d != d || round->ld < d ||
        round->context != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "a round is a decision set of at least one arm in %zu dimensions", d);
    }
    TACET_OR_RETURN(tacet__check_points(round->points, round->ld, d, round->count, "arm", err));
    if (p->given >= p->settings.rounds) {
        return tacet__fail(err, TACET_STATE, "the horizon of %llu rounds is over",
                           (unsigned long long)p->settings.rounds);
    }
    ticket *slot = find_ticket(p, 0);
    if (slot == NULL) {
        return tacet__fail(err, TACET_STATE, "%zu tickets are open: report one first", p->settings.open_most);
    }
    tacet_suggestion s = {.ticket = p->given + 1};
    if (p->counted > 0) {
        s.index = tacet_published_ucb_choose(p->ucb, &s.score, round->points, round->ld, round->count);
    } else {
        tacet_simrng coin;
        tacet_simrng_init(&coin, p->settings.coin_seed, s.ticket);
        s.index = tacet_simrng_below(&coin, round->count);
    }
    slot->number = s.ticket;
    memcpy(slot->point, round->points + s.index * round->ld, d * sizeof(double));
    p->given++;
    *out = s;
    return TACET_OK;
}

static tacet_status find_open(published *p, ticket **out, uint64_t number, tacet_error *err) {
    if (number == 0 || number > p->given) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)number);
    }
    *out = find_ticket(p, number);
    return *out != NULL
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT, "ticket %llu was already reported", (unsigned long long)number);
}

static tacet_status observe(void *self, uint64_t number, double value, tacet_error *err) {
    published *p = self;
    ticket *t = NULL;
    double var = 0;
    TACET_OR_RETURN(find_open(p, &t, number, err));
    fill_record(p, t->point, fmin(fmax(value, p->settings.reward_lo), p->settings.reward_hi));
    tacet_status status = tacet__tree_step(p->tree, p->sums, &var, p->record, p->noise, err);
    sodium_memzero(p->record, tacet_published_ucb_dim(p->ucb) * sizeof(double));
    if (status != TACET_OK) {
        return status;
    }
    t->number = 0;
    p->counted++;
    return tacet_published_ucb_update(p->ucb, p->sums, err);
}

static tacet_status drop(void *self, uint64_t number, tacet_error *err) {
    ticket *t = NULL;
    const tacet_status status = find_open(self, &t, number, err);
    if (status == TACET_OK) {
        t->number = 0;
    }
    return status;
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    (void)self;
    (void)out;
    return tacet__fail(err, TACET_STATE, "the published algorithm knows no domain to search");
}

static void guarantee(const void *self, tacet_guarantee *out) {
    (void)self;
    *out = (tacet_guarantee){.trust = TACET_TRUST_CENTRAL,
                             .eps = INFINITY,
                             .delta = 1,
                             .protects = "the decision set and the reward of one round, towards all other rounds",
                             .statement = "Not private: the noise comes from a seeded source, for simulations.",
                             .proof = PROOF};
}

static void free_published(void *self) {
    published *p = self;
    if (p != NULL) {
        tacet_published_ucb_free(p->ucb);
        tacet__tree_free(p->tree);
        free(p->z);
        free(p->record);
        free(p->sums);
        free(p->points);
        free(p->open);
        free(p);
    }
}

static const tacet__policy_ops OPS = {.name = "central-published",
                                      .suggest = suggest,
                                      .observe = observe,
                                      .recommend = recommend,
                                      .guarantee = guarantee,
                                      .free = free_published,
                                      .drop = drop};

static tacet_status check(const tacet_features *features, const tacet_central_published_settings *s, tacet_noise *noise,
                          tacet_error *err) {
    if (features == NULL || s == NULL || noise == NULL) {
        return tacet__fail(err, TACET_INVALID, "the published algorithm needs features, settings and noise");
    }
    const tacet_ask ask = {.noise = noise};
    const tacet_status seeded = tacet_ask_check(&ask, err); /* there is no ledger: only seeded noise passes */
    if (seeded != TACET_OK) {
        return seeded;
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
    if (!(s->open_most >= 1 && s->open_most <= 1000000)) {
        return tacet__fail(err, TACET_INVALID, "open_most must be between 1 and a million");
    }
    return TACET_OK;
}

/* Algorithm 1 with Lemma 3's shift and Theorem 1's width for noise of this sigma, and the tree. */
static tacet_status build(published *p, double sigma, tacet_error *err) {
    const tacet_central_published_settings *s = &p->settings;
    const size_t m = tacet_features_dim(p->features), d = tacet_features_inputs(p->features);
    const double nodes = s->leaves ? (double)s->rounds : 1 + ceil(log2((double)s->rounds)); /* in one sum */
    tacet_published_ucb_settings set;
    tacet_published_ucb_settings_defaults(&set);
    set.norm_bound = s->norm_bound;
    set.rho = s->rho;
    set.lambda = s->lambda;
    set.zeta = s->zeta;
    set.width = s->width;
    tacet_published_ucb_spectrum(&set.shift, &set.kappa, sigma * sqrt(2 * nodes), m, (double)s->rounds, s->zeta);
    TACET_OR_RETURN(tacet_published_ucb_create(&p->ucb, p->features, &set, err));
    const size_t dim = tacet_published_ucb_dim(p->ucb);
    const tacet__array arrays[] = {
        {&p->z, m, 2}, {&p->record, dim, 1}, {&p->sums, dim, 1}, {&p->points, d, s->open_most}};
    p->open = TACET__ZALLOC(ticket, s->open_most);
    if (p->open == NULL || !tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0])) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy");
    }
    for (size_t i = 0; i < s->open_most; i++) {
        p->open[i].point = p->points + i * d;
    }
    /* sigma is of the entries of v, of which the paper adds v + v' over sqrt(2): sqrt(2) sigma in our coordinates */
    return tacet__tree_create(&p->tree, dim, sqrt(2) * sigma, s->leaves, err);
}

tacet_status tacet_central_published_create(tacet_policy **out, const tacet_features *features,
                                            const tacet_central_published_settings *settings, tacet_noise *noise,
                                            tacet_error *err) {
    double sigma = 0, eps = 0, delta = 0;
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the policy");
    }
    *out = NULL;
    tacet_status status = check(features, settings, noise, err);
    TACET_THEN(status, tacet_central_published_noise(&sigma, &eps, &delta, settings, err));
    if (status != TACET_OK) {
        return status;
    }
    published *p = TACET__ZALLOC(published, 1);
    if (p == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy");
    }
    p->features = features;
    p->noise = noise;
    p->settings = *settings;
    status = build(p, sigma, err);
    if (status != TACET_OK) {
        free_published(p);
        return status;
    }
    return tacet__policy_wrap(out, &OPS, p, err);
}
