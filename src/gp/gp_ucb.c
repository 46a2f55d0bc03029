/* gp_ucb.c - GP-UCB over a finite domain.
 * Ring: pure. Source: Srinivas et al., "Gaussian Process Optimization in the Bandit Setting" (2010), Theorem 1 with
 * delta halved as in the outsourced paper (Theorem 3 there): beta_t = 2 ln(n t^2 pi^2/(6 delta')), delta' = delta/2.
 * Differs: a candidate is asked once unless repeats are allowed; ties go to the lowest number, and equal candidates do
 * tie (their posterior has equal bits); several suggestions may be open, each counts in t when it is made.
 * Cost: O(n) a suggestion, O(n t) an observation, no allocation in either; 8 n horizon bytes. A saved state is the list
 * of suggestions and reports, replayed on loading: O(n T^2) time, and the same bits. */
#include <tacet/gp/gp_ucb.h>

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"
#include "gp/vexp.h"

#include <math.h>
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, PRINT_BYTES = 32, STATE_VERSION = 1 };
static const char NAME[] = "gp-ucb";

typedef struct gp_ucb {
    tacet_gp_ucb_settings settings; /* pointers go to the copies below */
    tacet_guarantee guarantee;
    size_t *initial;
    tacet_cov *cov;
    tacet_gp *gp;
    size_t n;
    size_t suggested;                   /* suggestions so far; ticket k is rows[k-1] */
    size_t *rows;                       /* horizon */
    double *values;                     /* horizon; by ticket, where reported */
    bool *reported;                     /* horizon; by ticket */
    size_t *order;                      /* horizon; tickets in the order of their reports */
    bool *asked;                        /* n */
    unsigned char problem[PRINT_BYTES]; /* fingerprint of candidates and settings */
} gp_ucb;

void tacet_gp_ucb_settings_defaults(tacet_gp_ucb_settings *settings) {
    *settings = (tacet_gp_ucb_settings){.noise_var = 1e-6, .delta_ucb = 0.05, .beta_scale = 1};
}

double tacet_gp_ucb_beta(size_t n, size_t t, double delta_ucb) {
    const double pi = 3.14159265358979323846;
    /* Logarithms apart: n t^2 need not fit anything. */
    return 2 * (log((double)n) + 2 * log((double)t) + log(pi * pi / (6 * (delta_ucb / 2))));
}

static void ucb_free(void *object) {
    gp_ucb *self = object;
    if (self != NULL) {
        tacet_gp_free(self->gp);
        tacet_cov_free(self->cov);
        free(self->initial);
        free(self->rows);
        free(self->values);
        free(self->reported);
        free(self->order);
        free(self->asked);
        free(self);
    }
}

/* --- suggest, observe, recommend --------------------------------------------------------------------------------- */

/* bound[j] = mean[j] + width sqrt(var[j]), and the largest of them. */
TACET__CLONES
static double bounds_of(double *restrict bound, const double *restrict mean, const double *restrict var, double width,
                        size_t m) {
    for (size_t j = 0; j < m; j++) {
        bound[j] = mean[j] + width * sqrt(var[j]);
    }
    double lane[8];
    for (size_t k = 0; k < 8; k++) {
        lane[k] = -(double)INFINITY;
    }
    size_t j = 0;
    for (; j + 8 <= m; j += 8) {
        for (size_t k = 0; k < 8; k++) {
            lane[k] = bound[j + k] > lane[k] ? bound[j + k] : lane[k];
        }
    }
    for (; j < m; j++) {
        lane[0] = bound[j] > lane[0] ? bound[j] : lane[0];
    }
    double top = lane[0];
    for (size_t k = 1; k < 8; k++) {
        top = lane[k] > top ? lane[k] : top;
    }
    return top;
}

/* Largest mean + width * sd among the candidates not asked; the lowest number of equals. SIZE_MAX: none left. */
static size_t best_bound(const gp_ucb *self, double width, double *score) {
    const double *mean = tacet_gp_mean(self->gp);
    const double *var = tacet_gp_var(self->gp);
    double bound[BLOCK];
    size_t best = SIZE_MAX;
    for (size_t at = 0; at < self->n; at += BLOCK) {
        const size_t m = self->n - at < BLOCK ? self->n - at : BLOCK;
        const double top = bounds_of(bound, mean + at, var + at, width, m);
        if (best != SIZE_MAX && !(top > *score)) {
            continue;
        }
        for (size_t j = 0; j < m; j++) {
            if ((best == SIZE_MAX || bound[j] > *score) && (self->settings.allow_repeats || !self->asked[at + j])) {
                best = at + j;
                *score = bound[j];
            }
        }
    }
    return best;
}

static tacet_status suggest(void *object, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    gp_ucb *self = object;
    if (round->points != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "%s has a fixed domain and no context: a round brings nothing", NAME);
    }
    if (self->suggested == self->settings.horizon) {
        return tacet__fail(err, TACET_STATE, "the horizon of %zu suggestions is over", self->settings.horizon);
    }
    const size_t t = self->suggested + 1;
    const double beta_t = self->settings.beta_scale * tacet_gp_ucb_beta(self->n, t, self->settings.delta_ucb);
    const double width = sqrt(beta_t);
    double score = 0;
    size_t row = SIZE_MAX;
    if (t <= self->settings.initial_count) {
        row = self->initial[t - 1];
        score = tacet_gp_mean(self->gp)[row] + width * sqrt(tacet_gp_var(self->gp)[row]);
    } else {
        row = best_bound(self, width, &score);
    }
    if (row == SIZE_MAX) {
        return tacet__fail(err, TACET_STATE, "all %zu candidates have been asked", self->n);
    }
    self->rows[self->suggested] = row;
    self->reported[self->suggested] = false;
    self->asked[row] = true;
    self->suggested = t;
    *out = (tacet_suggestion){.index = row, .ticket = t, .score = score};
    return TACET_OK;
}

static tacet_status observe(void *object, uint64_t ticket, double value, tacet_error *err) {
    gp_ucb *self = object;
    if (ticket == 0 || ticket > self->suggested) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    const size_t k = (size_t)ticket - 1;
    if (self->reported[k]) {
        return tacet__fail(err, TACET_CONFLICT, "ticket %llu has been reported already", (unsigned long long)ticket);
    }
    const size_t count = tacet_gp_count(self->gp);
    const tacet_status status = tacet_gp_observe(self->gp, self->rows[k], value, err);
    if (status != TACET_OK) {
        return status;
    }
    self->reported[k] = true;
    self->values[k] = value;
    self->order[count] = k;
    return TACET_OK;
}

static tacet_status recommend(void *object, tacet_recommendation *out, tacet_error *err) {
    (void)err; /* there is always a prior to go by */
    const gp_ucb *self = object;
    const double *mean = tacet_gp_mean(self->gp);
    size_t best = 0;
    for (size_t j = 1; j < self->n; j++) {
        best = mean[j] > mean[best] ? j : best;
    }
    *out = (tacet_recommendation){
        .index = best, .mean = mean[best], .sd = sqrt(tacet_gp_var(self->gp)[best]), .measured = SIZE_MAX};
    for (size_t k = 0; k < self->suggested; k++) {
        if (self->reported[k] && (out->measured == SIZE_MAX || self->values[k] > out->measured_value)) {
            out->measured = self->rows[k];
            out->measured_value = self->values[k];
        }
    }
    return TACET_OK;
}

static void guarantee(const void *object, tacet_guarantee *out) {
    const gp_ucb *self = object;
    *out = self->guarantee;
}

/* --- saved state ------------------------------------------------------------------------------------------------- */

static tacet_status save(const void *object, tacet_blob *out, tacet_error *err) {
    const gp_ucb *self = object;
    const size_t observed = tacet_gp_count(self->gp);
    tacet__writer w;
    tacet__write_begin(&w, out, NAME, STATE_VERSION);
    tacet__write_bytes(&w, self->problem, sizeof self->problem);
    tacet__write_size(&w, self->suggested);
    for (size_t k = 0; k < self->suggested; k++) {
        tacet__write_size(&w, self->rows[k]);
    }
    tacet__write_size(&w, observed);
    for (size_t s = 0; s < observed; s++) {
        tacet__write_size(&w, self->order[s]);
        tacet__write_f64(&w, self->values[self->order[s]]);
    }
    return tacet__write_end(&w, err);
}

/* What a saved state says, before it is believed. */
typedef struct history {
    size_t suggested;
    size_t observed;
    size_t *rows;   /* horizon */
    size_t *order;  /* horizon */
    double *values; /* horizon, in the order of reports */
    bool *flags;    /* n and horizon, whichever is more */
} history;

static bool history_init(history *h, const gp_ucb *self) {
    const size_t horizon = self->settings.horizon;
    h->rows = TACET__ZALLOC(size_t, horizon);
    h->order = TACET__ZALLOC(size_t, horizon);
    h->values = TACET__ZALLOC(double, horizon);
    h->flags = TACET__ZALLOC(bool, self->n > horizon ? self->n : horizon);
    return h->rows != NULL && h->order != NULL && h->values != NULL && h->flags != NULL;
}

static void history_clear(history *h) {
    free(h->rows);
    free(h->order);
    free(h->values);
    free(h->flags);
}

/* Every number must be one this policy could have written: rows exist and are not asked twice, tickets were given and
 * are not reported twice. */
static void history_read(history *h, const gp_ucb *self, tacet__reader *r) {
    const unsigned char *problem = NULL;
    const size_t length = tacet__read_bytes(r, &problem);
    if (length != PRINT_BYTES || memcmp(problem, self->problem, PRINT_BYTES) != 0) {
        r->failed = true;
    }
    h->suggested = tacet__read_size(r, self->settings.horizon);
    for (size_t k = 0; k < h->suggested; k++) {
        h->rows[k] = tacet__read_size(r, self->n - 1);
        if (h->flags[h->rows[k]] && !self->settings.allow_repeats) {
            r->failed = true;
        }
        h->flags[h->rows[k]] = true;
    }
    memset(h->flags, 0, self->settings.horizon * sizeof *h->flags);
    h->observed = tacet__read_size(r, h->suggested);
    for (size_t s = 0; s < h->observed && !r->failed; s++) {
        h->order[s] = tacet__read_size(r, h->suggested - 1);
        h->values[s] = tacet__read_f64(r);
        if (h->flags[h->order[s]] || !isfinite(h->values[s])) {
            r->failed = true;
        }
        h->flags[h->order[s]] = true;
    }
}

/* The model as the reports leave it, from nothing. */
static tacet_status replay(gp_ucb *self, const size_t *rows, const size_t *order, const double *values, bool by_ticket,
                           size_t observed, tacet_error *err) {
    tacet_gp_reset(self->gp);
    tacet_status status = TACET_OK;
    for (size_t s = 0; s < observed && status == TACET_OK; s++) {
        status = tacet_gp_observe(self->gp, rows[order[s]], values[by_ticket ? order[s] : s], err);
    }
    return status;
}

static void adopt(gp_ucb *self, const history *h) {
    memset(self->asked, 0, self->n * sizeof *self->asked);
    memset(self->reported, 0, self->settings.horizon * sizeof *self->reported);
    self->suggested = h->suggested;
    for (size_t k = 0; k < h->suggested; k++) {
        self->rows[k] = h->rows[k];
        self->asked[h->rows[k]] = true;
    }
    for (size_t s = 0; s < h->observed; s++) {
        self->order[s] = h->order[s];
        self->reported[h->order[s]] = true;
        self->values[h->order[s]] = h->values[s];
    }
}

static tacet_status load(void *object, const void *bytes, size_t size, tacet_error *err) {
    gp_ucb *self = object;
    history h = {0};
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, NAME, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    if (!history_init(&h, self)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory loading a state of %s", NAME);
        goto done;
    }
    history_read(&h, self, &r);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        goto done;
    }
    const size_t before = tacet_gp_count(self->gp);
    if (replay(self, h.rows, h.order, h.values, false, h.observed, NULL) != TACET_OK) {
        /* What was there has been observed once, so it can be observed again. */
        (void)replay(self, self->rows, self->order, self->values, true, before, NULL);
        status = tacet__fail(err, TACET_CORRUPT, "saved state of %s holds values that cannot be", NAME);
        goto done;
    }
    adopt(self, &h);
done:
    history_clear(&h);
    return status;
}

/* --- creation ---------------------------------------------------------------------------------------------------- */

static tacet_status check_settings(const tacet_gp_ucb_settings *s, size_t n, tacet_error *err) {
    if (!(s->delta_ucb > 0 && s->delta_ucb < 1)) {
        return tacet__fail(err, TACET_INVALID, "delta_ucb must lie between 0 and 1");
    }
    if (!(s->beta_scale > 0 && isfinite(s->beta_scale))) {
        return tacet__fail(err, TACET_INVALID, "the factor on beta must be finite and greater than 0");
    }
    if (s->horizon == 0 || (s->horizon > n && !s->allow_repeats)) {
        return tacet__fail(err, TACET_INVALID,
                           "%zu suggestions are asked of %zu candidates, each of which is asked once", s->horizon, n);
    }
    if (s->initial_count > s->horizon) {
        return tacet__fail(err, TACET_INVALID, "%zu initial candidates for a horizon of %zu", s->initial_count,
                           s->horizon);
    }
    for (size_t k = 0; k < s->initial_count; k++) {
        if (s->initial[k] >= n) {
            return tacet__fail(err, TACET_INVALID, "initial candidate %zu does not exist: there are %zu, from 0",
                               s->initial[k], n);
        }
        for (size_t i = 0; i < k && !s->allow_repeats; i++) {
            if (s->initial[i] == s->initial[k]) {
                return tacet__fail(err, TACET_INVALID, "initial candidate %zu is named twice", s->initial[k]);
            }
        }
    }
    return TACET_OK;
}

/* Settings, prior variances, and the covariances of three candidates with all: enough to tell problems apart at O(n).
 */
static void fingerprint(gp_ucb *self) {
    const tacet_gp_ucb_settings *s = &self->settings;
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, PRINT_BYTES);
    const double reals[] = {s->mean, s->noise_var, s->delta_ucb, s->beta_scale};
    const uint64_t wholes[] = {self->n, s->horizon, s->allow_repeats, s->initial_count};
    (void)crypto_generichash_update(&state, (const unsigned char *)reals, sizeof reals);
    (void)crypto_generichash_update(&state, (const unsigned char *)wholes, sizeof wholes);
    (void)crypto_generichash_update(&state, (const unsigned char *)self->initial,
                                    s->initial_count * sizeof *self->initial);
    const size_t rows[] = {0, self->n / 2, self->n - 1};
    double buffer[BLOCK];
    for (size_t at = 0; at < self->n; at += BLOCK) {
        const size_t m = self->n - at < BLOCK ? self->n - at : BLOCK;
        tacet_cov_diag(self->cov, buffer, at, m);
        (void)crypto_generichash_update(&state, (const unsigned char *)buffer, m * sizeof *buffer);
        for (size_t k = 0; k < 3; k++) {
            tacet_cov_row(self->cov, buffer, at, m, rows[k]);
            (void)crypto_generichash_update(&state, (const unsigned char *)buffer, m * sizeof *buffer);
        }
    }
    (void)crypto_generichash_final(&state, self->problem, PRINT_BYTES);
}

static const tacet_guarantee UNPROTECTED = {
    .trust = TACET_TRUST_NONE,
    .proven = false,
    .eps = (double)INFINITY,
    .delta = 1,
    .protects = "nothing",
    .statement = "Unprotected: plain GP-UCB sees every candidate and every value as it is.",
    .proof = "src/gp/gp-ucb.md",
};

static const tacet_policy_ops OPS = {
    .name = NAME,
    .suggest = suggest,
    .observe = observe,
    .recommend = recommend,
    .guarantee = guarantee,
    .save = save,
    .load = load,
    .free = ucb_free,
};

const tacet_gp *tacet_gp_ucb_model(const tacet_policy *policy) {
    const gp_ucb *self = tacet__policy_self(policy, &OPS);
    return self != NULL ? self->gp : NULL;
}

static bool allocate(gp_ucb *self) {
    const size_t horizon = self->settings.horizon;
    self->initial = TACET__ZALLOC(size_t, self->settings.initial_count);
    self->rows = TACET__ZALLOC(size_t, horizon);
    self->values = TACET__ZALLOC(double, horizon);
    self->reported = TACET__ZALLOC(bool, horizon);
    self->order = TACET__ZALLOC(size_t, horizon);
    self->asked = TACET__ZALLOC(bool, self->n);
    return self->initial != NULL && self->rows != NULL && self->values != NULL && self->reported != NULL &&
           self->order != NULL && self->asked != NULL;
}

tacet_status tacet_gp_ucb_create(tacet_policy **out, const tacet_gp_ucb_settings *settings, const tacet_cov_spec *cov,
                                 const double *X, size_t ldx, size_t n, tacet_error *err) {
    *out = NULL;
    tacet_status status = check_settings(settings, n, err);
    if (status != TACET_OK) {
        return status;
    }
    gp_ucb *self = TACET__ZALLOC(gp_ucb, 1);
    if (self != NULL) {
        self->settings = *settings;
        self->n = n;
    }
    if (self == NULL || !allocate(self)) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory creating %s", NAME);
        goto done;
    }
    for (size_t k = 0; k < settings->initial_count; k++) {
        self->initial[k] = settings->initial[k];
    }
    self->settings.initial = self->initial;
    self->guarantee = settings->guarantee != NULL ? *settings->guarantee : UNPROTECTED;
    self->settings.guarantee = &self->guarantee;
    status = tacet_cov_create(&self->cov, cov, X, ldx, n, err);
    if (status != TACET_OK) {
        goto done;
    }
    const tacet_gp_settings model = {
        .mean = settings->mean, .noise_var = settings->noise_var, .reserve = settings->horizon};
    status = tacet_gp_create(&self->gp, &model, self->cov, err);
    if (status != TACET_OK) {
        goto done;
    }
    fingerprint(self);
    status = tacet_policy_wrap(out, &OPS, self, err);
    self = NULL; /* the wrapper's, even when it failed */
done:
    ucb_free(self);
    return status;
}
