/* SPDX-License-Identifier: Apache-2.0 */
/* averaging.c - the modeler that needs no tuning, as a policy over a release.
 * Ring: open. In: released rows with the law of their noise, and measured values. Out: row numbers.
 * Hyper-parameters are averaged over a fixed set of draws from their prior, weighed anew every round (averaging_fit.c);
 * the released noise is taken out of positions by shrinkage (averaging_prior.c). The first rows are random ones; every
 * third round until .8 of the horizon looks at 10 rows drawn at random, hence where rows are dense, and takes the one
 * of the largest upper confidence bound; the others take the largest expected improvement of a row's value, its own
 * deviation from the function included. What is chosen is a function of settings and of the values in the order of
 * their reports, so that a search that was stopped goes on as if it had not been. README.md has what was measured.
 * Cost: O(M t^2 + 6 n t) a suggestion, M = 256 (averaging_rows.c); about 24 n horizon bytes, 512 MiB at most. A saved
 * state is the list of suggestions and reports, replayed on loading. */
#include "outsourced/open/modeler_internal.h"
#include "outsourced/open/averaging_state.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum {
    EXPLORE_EVERY = 3,
    EXPLORE_FROM = 4,
    EXPLORE_AMONG = 10,
    HEDGE_AMONG = 3,
    HORIZON_MOST = 2048,
    PRINT_BYTES = 32
};
static const double VALUE_MOST = 1e150;  /* beyond it squares overflow */
static const double EXPLORE_UNTIL = 0.8; /* of the horizon */
static const double EXPLORE_WIDTH = 4;   /* standard deviations */
static const double HEDGE_WIDTH = 1;
/* Of the hedge, in the log Bayes factor for a relation between inputs and values: the sum of what the model's
 * one-step-ahead predictions scored above a constant's. Below the middle most questions go to the best of three random
 * rows. */
static const double HEDGE_MIDDLE = 1;
static const double HEDGE_STEEPNESS = 2;
static const double STATED = 0.9; /* probability of a stated interval */
static const char NAME[] = "averaging";

typedef enum fate { OPEN, REPORTED, DROPPED } fate;

typedef struct averaging {
    tacet__averaging l;
    tacet_guarantee guarantee;
    size_t *initial;
    size_t initial_count, random_first;
    uint64_t seed;
    bool explore;
    size_t suggested, dropped;
    size_t *asked; /* capacity: rows by ticket */
    unsigned char *fates;
    size_t *order; /* horizon: tickets in the order of their reports */
    size_t capacity, fate_capacity;
    bool *taken;  /* n */
    bool current; /* the fit is that of the values */
    unsigned char problem[PRINT_BYTES];
} averaging;

static void averaging_free(void *object) {
    averaging *self = object;
    if (self != NULL) {
        tacet__averaging_clear(&self->l);
        free(self->initial);
        free(self->asked);
        free(self->fates);
        free(self->order);
        free(self->taken);
        free(self);
    }
}

/* --- choosing ------------------------------------------------------------------------------------------------------
 */

/* A row not taken, uniformly. At least one is left. */
static size_t random_row(const averaging *self, tacet_simrng *rng) {
    for (size_t tries = 0; tries < 64; tries++) {
        const size_t row = tacet_simrng_below(rng, self->l.n);
        if (!self->taken[row]) {
            return row;
        }
    }
    size_t free_rows = 0;
    for (size_t i = 0; i < self->l.n; i++) {
        free_rows += self->taken[i] ? 0 : 1;
    }
    size_t left = tacet_simrng_below(rng, free_rows);
    size_t row = 0;
    while (self->taken[row] || left-- > 0) {
        row++;
    }
    return row;
}

/* Of some random rows the one of the largest upper confidence bound. */
static size_t explore(averaging *self, tacet_simrng *rng, size_t among, double width, double *score) {
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < among; k++) {
        const size_t row = random_row(self, rng);
        const double bound = tacet__averaging_bound(&self->l, row, width);
        if (best == SIZE_MAX || bound > *score) {
            best = row;
            *score = bound;
        }
    }
    return best;
}

static double incumbent(const tacet__averaging *l) {
    double best = -INFINITY;
    for (size_t k = 0; k < l->count; k++) {
        best = fmax(best, l->shares[k] > 0 ? tacet__averaging_smooth(l, k) : l->y[k]);
    }
    return best;
}

static void bring_up(averaging *self) {
    if (!self->current && self->l.count > 0) {
        tacet__averaging_fit(&self->l);
        self->current = true;
    }
}

static size_t improve(averaging *self, double *score) {
    tacet__averaging *l = &self->l;
    tacet__averaging_sweep(l, incumbent(l));
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < l->listed; i++) {
        if (!self->taken[tacet__averaging_row(l, i)] &&
            (best == SIZE_MAX || l->score[i] > *score || (l->score[i] == *score && l->moment[i] > l->moment[best]))) {
            best = i;
            *score = l->score[i];
        }
    }
    return tacet__averaging_row(l, best); /* more are listed than can be asked */
}

double tacet__averaging_doubt(double evidence) {
    return 1 / (1 + exp(HEDGE_STEEPNESS * (evidence - HEDGE_MIDDLE)));
}

static size_t choose_row(averaging *self, double *score) {
    const tacet__averaging *l = &self->l;
    tacet_simrng rng;
    *score = 0;
    if (self->suggested < self->initial_count) {
        return self->initial[self->suggested];
    }
    tacet_simrng_init(&rng, self->seed, self->suggested);
    if (self->suggested - self->dropped < self->initial_count + self->random_first || l->count < 2) {
        return random_row(self, &rng);
    }
    bring_up(self);
    if (l->level) {
        return random_row(self, &rng);
    }
    /* A model that predicts no better than a constant chooses no better than chance, and worse where what it knows
     * least of, rows that lie apart, is not where the good ones are. */
    if (self->explore && tacet_simrng_uniform(&rng) < tacet__averaging_doubt(l->evidence)) {
        return explore(self, &rng, HEDGE_AMONG, HEDGE_WIDTH, score);
    }
    const bool look = self->explore && l->count >= EXPLORE_FROM && l->count % EXPLORE_EVERY == 0 &&
                      (double)l->count < EXPLORE_UNTIL * (double)l->horizon;
    return look ? explore(self, &rng, EXPLORE_AMONG, EXPLORE_WIDTH, score) : improve(self, score);
}

static tacet_status suggest(void *object, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    averaging *self = object;
    if (round->points != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "%s has a fixed domain and no context: a round brings nothing", NAME);
    }
    if (self->suggested - self->dropped == self->l.horizon) {
        return tacet__fail(err, TACET_STATE, "the horizon of %zu suggestions is over", self->l.horizon);
    }
    if (self->suggested == self->l.n) {
        return tacet__fail(err, TACET_STATE, "all %zu rows have been asked", self->l.n);
    }
    if (!tacet__grow((void **)&self->asked, &self->capacity, self->suggested + 1, sizeof *self->asked) ||
        !tacet__grow((void **)&self->fates, &self->fate_capacity, self->suggested + 1, sizeof *self->fates)) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a suggestion");
    }
    double score = 0;
    const size_t row = choose_row(self, &score);
    self->asked[self->suggested] = row;
    self->fates[self->suggested] = OPEN;
    self->taken[row] = true;
    self->suggested++;
    *out = (tacet_suggestion){.index = row, .ticket = self->suggested, .score = score};
    return TACET_OK;
}

static tacet_status open_ticket(const averaging *self, uint64_t ticket, tacet_error *err) {
    if (ticket == 0 || ticket > self->suggested) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    if (self->fates[ticket - 1] != OPEN) {
        return tacet__fail(err, TACET_CONFLICT, "ticket %llu has been reported or dropped already",
                           (unsigned long long)ticket);
    }
    return TACET_OK;
}

static void learn(averaging *self, size_t ticket, double value) {
    tacet__averaging *l = &self->l;
    l->rows[l->count] = self->asked[ticket - 1];
    l->values[l->count] = value;
    self->order[l->count] = ticket - 1;
    self->fates[ticket - 1] = REPORTED;
    l->count++;
    self->current = false;
}

static tacet_status observe(void *object, uint64_t ticket, double value, tacet_error *err) {
    averaging *self = object;
    TACET_OR_RETURN(open_ticket(self, ticket, err));
    if (!isfinite(value) || fabs(value) > VALUE_MOST) {
        return tacet__fail(err, TACET_INVALID, "a value is not finite, or beyond 1e150");
    }
    learn(self, (size_t)ticket, value);
    return TACET_OK;
}

/* The row cannot be measured: nothing was learnt, and it is not asked again. */
static tacet_status drop(void *object, uint64_t ticket, tacet_error *err) {
    averaging *self = object;
    const tacet_status status = open_ticket(self, ticket, err);
    if (status == TACET_OK) {
        self->fates[ticket - 1] = DROPPED;
        self->dropped++;
    }
    return status;
}

/* --- what is known -------------------------------------------------------------------------------------------------
 */

/* The best of the rows by the mean of their value; of those not taken only, when asked. SIZE_MAX: none. */
static size_t best_mean(averaging *self, bool unasked, double *mean, double *sd) {
    tacet__averaging *l = &self->l;
    bring_up(self);
    if (l->level) {
        *mean = l->values[0];
        *sd = 0;
        return unasked ? SIZE_MAX : l->rows[0];
    }
    tacet__averaging_sweep(l, incumbent(l));
    size_t best = SIZE_MAX;
    double moment = -INFINITY;
    double variance = 0;
    for (size_t i = 0; i < l->listed; i++) {
        const size_t row = tacet__averaging_row(l, i);
        if (l->moment[i] > moment && !self->taken[row]) {
            best = row;
            moment = l->moment[i];
            variance = l->second[i] - moment * moment;
        }
    }
    for (size_t k = 0; k < l->count && !unasked; k++) {
        const double smooth = l->shares[k] > 0 ? tacet__averaging_smooth(l, k) : l->y[k];
        if (smooth > moment || (smooth == moment && l->rows[k] < best)) {
            best = l->rows[k];
            moment = smooth;
            variance = l->shares[k] > 0 ? tacet__averaging_variance(l, best) : 0;
        }
    }
    if (best != SIZE_MAX) {
        *mean = tacet__averaging_back(l, moment);
        *sd = l->spread * l->scale * sqrt(fmax(0, variance));
    }
    return best;
}

static tacet_status recommend(void *object, tacet_recommendation *out, tacet_error *err) {
    averaging *self = object;
    const tacet__averaging *l = &self->l;
    if (l->count == 0) {
        return tacet__fail(err, TACET_STATE, "no value is known yet, and there is no prior to go by");
    }
    *out = (tacet_recommendation){.measured = SIZE_MAX};
    out->index = best_mean(self, false, &out->mean, &out->sd);
    for (size_t k = 0; k < l->count; k++) {
        if (out->measured == SIZE_MAX || l->values[k] > out->measured_value) {
            out->measured = l->rows[k];
            out->measured_value = l->values[k];
        }
    }
    return TACET_OK;
}

static void guarantee(const void *object, tacet_guarantee *out) {
    *out = ((const averaging *)object)->guarantee;
}

/* --- saved state ---------------------------------------------------------------------------------------------------
 */

/* What follows from the list: which rows are taken, what became of each ticket; and the model, by replay. */
static void take_list(averaging *self, size_t observed, tacet__state *s) {
    tacet__averaging *l = &self->l;
    size_t reported = 0;
    memset(self->taken, 0, l->n * sizeof *self->taken);
    self->dropped = 0;
    for (size_t k = 0; k < self->suggested; k++) {
        tacet__state_require(s, "rows", !self->taken[self->asked[k]]);
        tacet__state_require(s, "fates", self->fates[k] <= DROPPED);
        self->taken[self->asked[k]] = true;
        self->dropped += self->fates[k] == DROPPED ? 1 : 0;
        reported += self->fates[k] == REPORTED ? 1 : 0;
    }
    tacet__state_require(s, "fates", reported == observed && self->suggested - self->dropped <= l->horizon);
    for (size_t i = 0; i < observed; i++) { /* open until it is learnt, so that none is named twice */
        tacet__state_require(s, "order", self->fates[self->order[i]] == REPORTED && fabs(l->values[i]) <= VALUE_MOST);
        self->fates[self->order[i]] = OPEN;
    }
    tacet__averaging_forget(l);
    for (size_t i = 0; i < observed && tacet__state_taking(s); i++) {
        learn(self, self->order[i] + 1, l->values[i]); /* to where they are */
    }
    self->current = false;
}

static void state(void *object, tacet__state *s) {
    averaging *self = object;
    tacet__averaging *l = &self->l;
    size_t observed = l->count;
    tacet__state_same(s, "problem", self->problem, sizeof self->problem);
    tacet__state_size(s, "suggested", &self->suggested, l->n);
    if (tacet__state_taking(s) &&
        (!tacet__grow((void **)&self->asked, &self->capacity, self->suggested, sizeof *self->asked) ||
         !tacet__grow((void **)&self->fates, &self->fate_capacity, self->suggested, sizeof *self->fates))) {
        tacet__state_check(s, "rows", tacet__fail(s->err, TACET_NO_MEMORY, "out of memory for tickets"));
    }
    tacet__state_sizes(s, "rows", self->asked, self->suggested, l->n - 1);
    tacet__state_bytes(s, "fates", self->fates, self->suggested);
    tacet__state_size(s, "observed", &observed, self->suggested < l->horizon ? self->suggested : l->horizon);
    tacet__state_sizes(s, "order", self->order, observed, self->suggested - 1);
    tacet__state_f64s(s, "values", l->values, observed);
    if (tacet__state_taking(s)) {
        take_list(self, observed, s);
    }
}

/* --- creation ------------------------------------------------------------------------------------------------------
 */

static tacet_status check_settings(const tacet_modeler_settings *s, tacet_error *err) {
    if (s->rows == NULL || s->d == 0 || s->d > TACET__AVERAGING_DIMS || s->ld < s->d || s->n == 0) {
        return tacet__fail(err, TACET_INVALID, "the modeler needs rows of 1 to %d coordinates", TACET__AVERAGING_DIMS);
    }
    const tacet_status noise = tacet__modeler_check_noise(s, err);
    if (noise != TACET_OK) {
        return noise;
    }
    size_t rows = s->holders > 1 ? 0 : s->n;
    for (size_t h = 0; h < (s->holders > 1 ? s->holders : 1); h++) {
        const double var = s->holders > 1 ? s->holder_noise_var[h] : s->known_noise_var;
        if (!(var >= 0 && isfinite(var))) {
            return tacet__fail(err, TACET_INVALID, "the variance of a measurement is negative or not finite");
        }
        rows += s->holders > 1 ? s->holder_rows[h] : 0;
    }
    if (rows != s->n) {
        return tacet__fail(err, TACET_INVALID, "the holders' rows are not %zu together", s->n);
    }
    if (s->horizon == 0 || s->horizon > s->n) {
        return tacet__fail(err, TACET_INVALID, "%zu measurements are asked of %zu rows, each of which is asked once",
                           s->horizon, s->n);
    }
    if (s->horizon > HORIZON_MOST) {
        return tacet__fail(err, TACET_UNSUPPORTED, "more than %d measurements: use the eiv method", HORIZON_MOST);
    }
    if (s->initial_count > s->horizon) {
        return tacet__fail(err, TACET_INVALID, "%zu initial rows for a horizon of %zu", s->initial_count, s->horizon);
    }
    for (size_t i = 0; i < s->n; i++) {
        for (size_t a = 0; a < s->d; a++) {
            if (!(fabs(s->rows[i * s->ld + a]) <= 1e150)) {
                return tacet__fail(err, TACET_INVALID, "row %zu has a coordinate that is not finite", i);
            }
        }
    }
    for (size_t a = 0; s->low != NULL && s->high != NULL && a < s->d; a++) {
        if (!(s->low[a] < s->high[a]) || !isfinite(s->high[a] - s->low[a])) {
            return tacet__fail(err, TACET_INVALID, "the box of coordinate %zu is empty or not finite", a);
        }
    }
    return TACET_OK;
}

static tacet_status take_initial(averaging *self, const tacet_modeler_settings *s, tacet_error *err) {
    for (size_t k = 0; k < s->initial_count; k++) {
        if (s->initial[k] >= s->n || self->taken[s->initial[k]]) {
            return tacet__fail(err, TACET_INVALID, "initial row %zu does not exist or is named twice", s->initial[k]);
        }
        self->taken[s->initial[k]] = true;
        self->initial[k] = s->initial[k];
    }
    memset(self->taken, 0, s->n * sizeof *self->taken);
    self->initial_count = s->initial_count;
    return TACET_OK;
}

static bool allocate(averaging *self, const tacet_modeler_settings *s) {
    self->initial = TACET__ZALLOC(size_t, s->initial_count);
    self->order = TACET__ZALLOC(size_t, s->horizon);
    self->taken = TACET__ZALLOC(bool, s->n);
    return self->initial != NULL && self->order != NULL && self->taken != NULL && tacet__averaging_allocate(&self->l) &&
           tacet__grow((void **)&self->asked, &self->capacity, s->horizon, sizeof *self->asked) &&
           tacet__grow((void **)&self->fates, &self->fate_capacity, s->horizon, sizeof *self->fates);
}

/* Whose rows are which, and their noise; sd: d x holders, NULL: left alone. */
static void take_holders(tacet__averaging *l, double *sd, const tacet_modeler_settings *s) {
    const bool several = s->holders > 1;
    for (size_t h = 0; h < l->holders; h++) {
        l->ends[h] = several ? (h > 0 ? l->ends[h - 1] : 0) + s->holder_rows[h] : s->n;
        l->noise_var[h] = several ? s->holder_noise_var[h] : s->known_noise_var;
        for (size_t a = 0; sd != NULL && a < s->d; a++) {
            sd[h * s->d + a] = s->spread != NULL ? s->spread[h * s->d + a] : 0;
        }
    }
}

/* What a saved state belongs to. */
static void fingerprint(averaging *self, const tacet_modeler_settings *s) {
    const tacet__averaging *l = &self->l;
    crypto_generichash_state state;
    const uint64_t wholes[] = {s->n,
                               s->d,
                               s->horizon,
                               s->initial_count,
                               self->random_first,
                               (uint64_t)self->explore,
                               l->most,
                               (uint64_t)l->of_value + 2U * (uint64_t)l->squash,
                               s->seed};
    (void)crypto_generichash_init(&state, NULL, 0, PRINT_BYTES);
    (void)crypto_generichash_update(&state, (const unsigned char *)wholes, sizeof wholes);
    (void)crypto_generichash_update(&state, (const unsigned char *)l->noise_var, l->holders * sizeof *l->noise_var);
    (void)crypto_generichash_update(&state, (const unsigned char *)l->ends, l->holders * sizeof *l->ends);
    if (s->spread != NULL) {
        (void)crypto_generichash_update(&state, (const unsigned char *)s->spread,
                                        l->holders * s->d * sizeof *s->spread);
    }
    (void)crypto_generichash_update(&state, (const unsigned char *)self->initial,
                                    s->initial_count * sizeof *self->initial);
    for (size_t i = 0; i < s->n; i++) {
        (void)crypto_generichash_update(&state, (const unsigned char *)(s->rows + i * s->ld), s->d * sizeof *s->rows);
    }
    (void)crypto_generichash_final(&state, self->problem, PRINT_BYTES);
}

static const tacet__policy_ops OPS = {.name = NAME,
                                      .suggest = suggest,
                                      .observe = observe,
                                      .recommend = recommend,
                                      .guarantee = guarantee,
                                      .state = state,
                                      .free = averaging_free,
                                      .drop = drop};

tacet__averaging *tacet__averaging_of(const tacet_policy *policy) {
    averaging *self = tacet__policy_self(policy, &OPS);
    return self != NULL ? &self->l : NULL;
}

tacet_status tacet_modeler_tell(const tacet_policy *policy, tacet_modeler_knowledge *out, tacet_error *err) {
    averaging *self = tacet__policy_self(policy, &OPS);
    *out = (tacet_modeler_knowledge){.next_row = SIZE_MAX};
    if (self == NULL) {
        return tacet__fail(err, TACET_UNSUPPORTED, "only the averaging modeler method weighs its evidence");
    }
    if (self->l.count == 0) {
        return tacet__fail(err, TACET_STATE, "no value is known yet");
    }
    bring_up(self);
    out->log_bayes_factor = self->l.evidence;
    double sd = 0;
    out->next_row = best_mean(self, true, &out->next_mean, &sd);
    if (out->next_row != SIZE_MAX) {
        tacet__averaging_interval(&self->l, out->next_row, STATED, &out->next_low, &out->next_high);
    }
    return TACET_OK;
}

tacet_status tacet__modeler_averaging(tacet_policy **out, const tacet_modeler_settings *s, bool plain,
                                      tacet_error *err) {
    *out = NULL;
    TACET_OR_RETURN(check_settings(s, err));
    averaging *self = TACET__ZALLOC(averaging, 1);
    if (self == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating the modeler");
    }
    tacet__modeler_guarantee(&self->guarantee, s);
    self->l.d = s->d;
    self->l.axes = plain ? s->d : 2 * s->d;
    self->l.n = s->n;
    self->l.horizon = s->horizon;
    self->l.holders = s->holders > 1 ? s->holders : 1;
    self->l.squash = self->l.of_value = self->explore = !plain;
    self->l.most = plain ? 1 : TACET__AVERAGING_BEST;
    self->random_first = s->random_first;
    self->seed = self->l.seed = s->seed;
    double *sd = TACET__ZALLOC(double, self->l.holders * s->d);
    tacet_status status = sd != NULL && allocate(self, s)
                              ? take_initial(self, s, err)
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", s->n);
    if (status == TACET_OK) {
        take_holders(&self->l, plain ? NULL : sd, s);
        status = tacet__averaging_place(&self->l, s->rows, s->ld, sd, s->low, s->high, !plain, err);
    }
    free(sd);
    if (status != TACET_OK) {
        averaging_free(self);
        return status;
    }
    tacet__averaging_draw(&self->l);
    fingerprint(self, s);
    tacet__averaging_forget(&self->l);
    return tacet__policy_wrap(out, &OPS, self, err);
}
