/* SPDX-License-Identifier: Apache-2.0 */
/* epochs.c - contextual choices that earn while they learn: epochs with one release each, Thompson draws between them.
 * Ring: trusted. Source: src/contextual/README.md, "Cumulative regret": billboard argument over epochs, parallel
 * composition within one. Epochs count suggestions; a round that was not reported is a null record, because reporting
 * is private too. Cost: a suggestion is one pass over the actions; the end of an epoch is one pass over its rounds and
 * some tens of O(M^2 N) forms. */
#include "gp/kernel_internal.h"
#include "contextual/trusted/epochs_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { ROUNDS_MOST = 1 << 22, NODES_MOST = 1536, ACTIONS_MOST = 384, FEATURES = 60, DRAWS = TACET__EPOCHS_DRAWS };
enum { SHORTEST = 4 }; /* a last epoch has at least this part of the first one's rounds, or is not released */
static const char NAME[] = TACET__EPOCHS_NAME;
static const double FIRST_ROUNDS = 300; /* over eps */
static const double SYMMETRIC_PRIOR = 0.15;
static const double SKEWED_PRIOR = 0.12; /* mean square of the function, of B^2 */
static const double SYMMETRIC_SCALE = 0.45;
static const double SKEWED_SCALE = 0.7; /* of a reward in epoch 0, of B */

void tacet_contextual_epochs_settings_defaults(tacet_contextual_epochs_settings *settings) {
    *settings = (tacet_contextual_epochs_settings){.coin_seed = 1};
    tacet_contextual_settings_defaults(&settings->learner);
}

void tacet__epochs_forget(tacet__epochs *u) {
    if (u->rewards != NULL && u->context != NULL) {
        sodium_memzero(u->rewards, u->capacity * sizeof *u->rewards);
        sodium_memzero(u->context, u->capacity * u->contexts * sizeof *u->context);
    }
}

static void epochs_free(void *self) {
    tacet__epochs *u = self;
    if (u == NULL) {
        return;
    }
    tacet__epochs_forget(u);
    tacet__robust_clear(&u->robust);
    tacet_contextual_learner_free(u->learner);
    tacet_contextual_basis_free(u->basis);
    tacet_contextual_model_free(u->model);
    free(u->actions);
    free(u->context);
    free(u->rewards);
    free(u->action);
    free(u->reported);
    free(u->V);
    free(u->draws);
    free(u->fast);
    free(u->pi);
    free(u->before);
    free(u->phi);
    free(u->values);
    free(u->average);
    free(u);
}

size_t tacet__epochs_size(const tacet__epochs *u, size_t epoch) {
    const double size = ldexp((double)u->settings.first, epoch == 0 ? 0 : (int)epoch - 1);
    return size < (double)u->settings.rounds ? (size_t)size : u->settings.rounds;
}

tacet_status tacet__epochs_plan(tacet__epochs *u, tacet_error *err) {
    static const char *const FIRST[] = {"law", "stage 1", "scale 2"};
    const size_t late = u->settings.late;
    const size_t left = u->settings.rounds - u->begin;
    const size_t rest = left > late + 1 ? left - late - 1 : 0; /* all but the last round, and those waited for */
    char part[64];
    size_t records = 0;
    tacet_status status = TACET_OK;
    u->size = tacet__epochs_size(u, u->epoch);
    if (rest < u->size && rest >= u->settings.first / SHORTEST && rest >= late) {
        u->size = rest;
    }
    for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST && records == 0 && status == TACET_OK; i++) {
        (void)snprintf(part, sizeof part, "epoch %zu, %s", u->epoch, FIRST[i]);
        status = tacet__contextual_begun_records(&records, &u->ask, part, err);
    }
    if (records > 0 && records <= tacet__epochs_size(u, u->epoch)) {
        u->size = records; /* it ended with these, under whatever horizon it had then */
    }
    if (u->size + late < u->suggested - u->begin) {
        u->size = tacet__epochs_size(u, u->epoch);
    }
    return status;
}

tacet_status tacet__epochs_reserve(tacet__epochs *u, size_t size, tacet_error *err) {
    if (size <= u->capacity) {
        return TACET_OK;
    }
    double *context = TACET__ZALLOC(double, size * u->contexts + 1);
    double *rewards = TACET__ZALLOC(double, size);
    uint32_t *action = TACET__ZALLOC(uint32_t, size);
    if (context == NULL || rewards == NULL || action == NULL) {
        free(context);
        free(rewards);
        free(action);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for an epoch of %zu rounds", size);
    }
    if (u->capacity > 0) {
        memcpy(context, u->context, u->capacity * u->contexts * sizeof *context);
        memcpy(rewards, u->rewards, u->capacity * sizeof *rewards);
        memcpy(action, u->action, u->capacity * sizeof *action);
    }
    tacet__epochs_forget(u);
    free(u->context);
    free(u->rewards);
    free(u->action);
    u->context = context;
    u->rewards = rewards;
    u->action = action;
    u->capacity = size;
    return TACET_OK;
}

/* --- suggest, observe, recommend --------------------------------------------------------------------------------- */

static void unit_context(const tacet__epochs *u, double *unit, const double *context) {
    const tacet_contextual_basis *b = u->basis;
    for (size_t c = 0; c < u->contexts; c++) {
        const double low = b->lower[u->a + c];
        unit[u->a + c] = fmin(fmax((context[c] - low) / (b->upper[u->a + c] - low), 0), 1);
    }
}

/* The features of all actions in this context. */
static void features_in(tacet__epochs *u, const double *unit) {
    const tacet_contextual_basis *b = u->basis;
    double point[TACET_CONTEXTUAL_COORDINATES_MOST];
    for (size_t i = 0; i < u->n; i++) {
        memcpy(point, b->features->blocks[0].Z + i * b->d, u->a * sizeof *point);
        memcpy(point + u->a, unit + u->a, u->contexts * sizeof *point);
        tacet_features_eval(&u->robust.view.features, u->phi + i * u->robust.belief.M, point, b->d, 1);
    }
}

static size_t thompson(tacet__epochs *u, size_t draw, double *unit) {
    const tacet_contextual_basis *b = u->basis;
    const tacet__feature_block *block = &b->features->blocks[0];
    const size_t M = u->robust.belief.M;
    size_t best = 0;
    if (u->fast == NULL) {
        features_in(u, unit);
        tacet__gemv(true, M, u->n, 1, u->phi, M, u->draws + draw * M, 0, u->values);
    } else {
        memset(u->values, 0, u->n * sizeof *u->values);
        memcpy(unit, block->Z, u->a * sizeof *unit); /* the same action: what is left is the contexts' kernel */
        for (size_t k = 0; k < block->count; k += u->n) {
            tacet__axpy(u->values, tacet_kernel_eval(b->features->kernel, unit, block->Z + k * b->d),
                        u->fast + draw * block->count + k, u->n);
        }
    }
    for (size_t i = 1; i < u->n; i++) {
        best = u->values[i] > u->values[best] ? i : best;
    }
    return best;
}

/* The next suggestion begins with it. */
static bool release_is_due(const tacet__epochs *u) {
    return u->suggested == u->begin + u->size + u->settings.late;
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    tacet__epochs *u = self;
    double unit[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    tacet_simrng rng;
    size_t index = 0;
    if (round->points != NULL || round->context_dim != u->contexts) {
        return tacet__fail(err, TACET_INVALID, "%s has a fixed list of actions, and a context of %zu numbers a round",
                           NAME, u->contexts);
    }
    if (u->suggested == u->settings.rounds) {
        return tacet__fail(err, TACET_STATE, "the horizon of %zu suggestions is over", u->settings.rounds);
    }
    if (release_is_due(u)) {
        const tacet_status status = tacet__epochs_end(u, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    tacet_simrng_init(&rng, u->settings.coin_seed, u->suggested + 1);
    const double coin = tacet_simrng_uniform(&rng);
    unit_context(u, unit, round->context);
    if (u->epoch == 0) {
        index = (size_t)(coin * (double)u->n);
    } else {
        index = thompson(u, (size_t)(coin * DRAWS), unit);
    }
    const size_t k = u->suggested - u->begin;
    for (size_t c = 0; c < u->contexts; c++) {
        const double low = u->basis->lower[u->a + c];
        u->context[k * u->contexts + c] = fmin(fmax(round->context[c], low), u->basis->upper[u->a + c]);
    }
    u->action[k] = (uint32_t)index;
    u->rewards[k] = NAN;
    u->reported[u->suggested++] = false;
    *out = (tacet_suggestion){.index = index, .ticket = u->suggested};
    sodium_memzero(unit, sizeof unit);
    return TACET_OK;
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    tacet__epochs *u = self;
    if (ticket == 0 || ticket > u->suggested) {
        return tacet__fail(err, TACET_NOT_FOUND, "round %llu was never given", (unsigned long long)ticket);
    }
    const size_t k = (size_t)ticket - 1;
    if (u->reported[k]) {
        return tacet__fail(err, TACET_CONFLICT, "round %llu has been reported already", (unsigned long long)ticket);
    }
    u->reported[k] = true;
    /* While its release is due nothing changes what an epoch's release is of: one that was interrupted goes on. */
    if (k >= u->begin + (release_is_due(u) ? u->size : 0)) {
        u->rewards[k - u->begin] = value;
    }
    return TACET_OK;
}

/* Nothing waits for a report. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    const tacet__epochs *u = self;
    if (ticket == 0 || ticket > u->suggested) {
        return tacet__fail(err, TACET_NOT_FOUND, "round %llu was never given", (unsigned long long)ticket);
    }
    return !u->reported[ticket - 1]
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT, "round %llu has been reported already", (unsigned long long)ticket);
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    const tacet__epochs *u = self;
    size_t best = 0;
    if (u->epoch == 0) {
        return tacet__fail(err, TACET_STATE, "nothing has been released yet");
    }
    for (size_t i = 1; i < u->n; i++) {
        best = u->average[i] > u->average[best] ? i : best;
    }
    *out = (tacet_recommendation){.index = best,
                                  .mean = u->learner->middle + u->average[best],
                                  .sd = tacet_contextual_model_parts(u->model)->predicted_error,
                                  .measured = SIZE_MAX};
    return TACET_OK;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    const tacet__epochs *u = self;
    const bool is_private = tacet_ask_is_private(&u->ask);
    const tacet_contextual_settings *s = &u->settings.learner;
    *out = (tacet_guarantee){
        .trust = TACET_TRUST_CENTRAL,
        .proven = is_private,
        .eps = is_private ? s->eps : INFINITY,
        .delta = !is_private   ? 1
                 : s->gaussian ? s->delta
                               : 0,
        .protects = "the context and the rewards of one round, towards all other rounds",
        .statement = is_private
                         ? "What all others see hardly changes when one round's context and rewards are replaced."
                         : "Not private: the noise comes from a seeded source, for tests and simulations.",
        .proof = "src/contextual/README.md"};
}

static const tacet__policy_ops OPS = {.name = NAME,
                                      .suggest = suggest,
                                      .observe = observe,
                                      .recommend = recommend,
                                      .guarantee = guarantee,
                                      .state = tacet__epochs_state,
                                      .free = epochs_free,
                                      .drop = drop};

/* --- creation ---------------------------------------------------------------------------------------------------- */

static tacet_status check(const tacet_contextual_space *space, const double *actions, size_t count,
                          const tacet_contextual_epochs_settings *s, const tacet_ask *ask, tacet_error *err) {
    if (s->rounds == 0 || s->rounds > ROUNDS_MOST || !(s->width >= 0 && isfinite(s->width))) {
        return tacet__fail(err, TACET_INVALID, "1 to %d rounds, and a width that is finite and >= 0", (int)ROUNDS_MOST);
    }
    if (s->late > s->rounds) {
        return tacet__fail(err, TACET_INVALID, "reports that come %zu rounds late are none of %zu rounds", s->late,
                           s->rounds);
    }
    if (actions == NULL || count < 2 || space->actions != NULL) {
        return tacet__fail(err, TACET_INVALID, "a policy has one list of at least 2 actions, given beside the space");
    }
    if (count > ACTIONS_MOST) {
        return tacet__fail(err, TACET_UNSUPPORTED, "at most %d actions", (int)ACTIONS_MOST);
    }
    if (tacet_ask_check(ask, NULL) != TACET_OK || ask->group != NULL || ask->part != NULL || ask->ticket == NULL ||
        strlen(ask->ticket) > TACET__EPOCHS_TICKET) {
        return tacet__fail(
            err, TACET_INVALID,
            "a release needs noise, a ledger (or seeded noise), and a ticket of up to %d bytes, no group",
            (int)TACET__EPOCHS_TICKET);
    }
    return TACET_OK;
}

/* Context nodes so that those times the actions stay below the limit. */
static tacet_status make_basis(tacet__epochs *u, const tacet_contextual_space *space, const double *actions,
                               tacet_error *err) {
    tacet_contextual_space s = *space;
    const size_t d = space->action_dim + space->context_dim;
    s.actions = actions;
    s.action_count = u->n;
    s.order = space->order != 0 ? space->order : tacet__contextual_order(d);
    while (space->contexts == NULL && s.order > 3 &&
           (double)u->n * pow((double)s.order, (double)space->context_dim) > NODES_MOST) {
        s.order--;
    }
    return tacet_contextual_basis_create(&u->basis, &s, 0, err);
}

/* Beliefs before any release, and everything that is made once. */
static tacet_status make_belief(tacet__epochs *u, tacet_error *err) {
    tacet__robust *r = &u->robust;
    const tacet_contextual_basis *b = u->basis;
    const double *lam = b->features->eigenvalues;
    const size_t N = b->features->blocks[0].count;
    const size_t M = b->features->m < FEATURES ? b->features->m : FEATURES;
    const bool symmetric = u->settings.learner.rewards == TACET_CONTEXTUAL_SYMMETRIC;
    const double bound = u->learner->bound;
    const double prior = (symmetric ? SYMMETRIC_PRIOR : SKEWED_PRIOR) * bound * bound;
    const double decay = u->learner->decay;
    double total = b->tail * pow(lam[b->features->m - 1], decay);
    double kept = 0;
    r->learner = u->learner;
    r->scale = (symmetric ? SYMMETRIC_SCALE : SKEWED_SCALE) * bound;
    tacet_status status = tacet__robust_noise(r, err);
    if (status == TACET_OK) {
        status = tacet__contextual_law_init(&r->law, b, NULL, false, err);
    }
    if (status == TACET_OK) {
        status = tacet__belief_init(&r->belief, M, N, err);
    }
    if (status == TACET_OK) {
        status = tacet__belief_form_init(&r->form, M, N, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    r->q = TACET__ZALLOC(double, N);
    r->even = TACET__ZALLOC(double, N);
    r->reach = TACET__ZALLOC(double, N);
    r->laws = TACET__ZALLOC(double, N *TACET__ROBUST_LAWS);
    u->V = TACET__ZALLOC(double, tacet__contextual_law_size(&r->law) + 1);
    u->draws = TACET__ZALLOC(double, M *DRAWS);
    u->pi = TACET__ZALLOC(double, N);
    u->before = TACET__ZALLOC(double, N);
    u->phi = TACET__ALIGNED(double, M * u->n);
    u->values = TACET__ZALLOC(double, u->n);
    u->average = TACET__ZALLOC(double, u->n);
    u->reported = TACET__ZALLOC(bool, u->settings.rounds);
    if (r->q == NULL || r->even == NULL || r->reach == NULL || r->laws == NULL || u->V == NULL || u->draws == NULL ||
        u->pi == NULL || u->before == NULL || u->phi == NULL || u->values == NULL || u->average == NULL ||
        u->reported == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy of %zu rounds", u->settings.rounds);
    }
    tacet__contextual_view_init(&r->view, b, M);
    tacet_features_eval(&r->view.features, r->belief.phi, b->features->blocks[0].Z, b->d, N);
    for (size_t j = 0; j < b->features->m; j++) {
        total += pow(lam[j], 1 + decay);
    }
    for (size_t j = 0; j < M; j++) {
        r->belief.P[j * M + j] = prior * pow(lam[j], decay) / total;
        kept += pow(lam[j], 1 + decay) / total;
    }
    r->belief.tail = prior * fmax(1 - kept, 0);
    for (size_t k = 0; k < N; k++) {
        u->pi[k] = u->before[k] = 1 / (double)u->n;
        r->even[k] = r->q[k] = b->weights[k];
        for (size_t s = 0; s < TACET__ROBUST_LAWS; s++) {
            r->laws[s * N + k] = b->weights[k];
        }
    }
    return TACET_OK;
}

/* Everything a saved state must have been made with. */
static void fingerprint(tacet__epochs *u) {
    const tacet_contextual_epochs_settings *s = &u->settings;
    const tacet_contextual_settings *l = &s->learner;
    const tacet_contextual_basis *b = u->basis;
    const double reals[] = {l->reward_lower, l->reward_upper, l->eps, l->delta, s->width};
    /* How many rounds there may be is no part of it: more of them change no epoch that was begun. */
    const uint64_t wholes[] = {s->first, s->late,     s->coin_seed, l->gaussian,        (uint64_t)l->rewards,
                               u->a,     u->contexts, u->n,         u->robust.belief.M, b->features->blocks[0].count};
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, TACET__EPOCHS_PRINT);
    (void)crypto_generichash_update(&state, (const unsigned char *)reals, sizeof reals);
    (void)crypto_generichash_update(&state, (const unsigned char *)wholes, sizeof wholes);
    (void)crypto_generichash_update(&state, (const unsigned char *)u->ticket, strlen(u->ticket));
    (void)crypto_generichash_update(&state, (const unsigned char *)b->lower, b->d * sizeof *b->lower);
    (void)crypto_generichash_update(&state, (const unsigned char *)b->upper, b->d * sizeof *b->upper);
    (void)crypto_generichash_update(&state, (const unsigned char *)u->actions, u->n * u->a * sizeof *u->actions);
    (void)crypto_generichash_final(&state, u->problem, TACET__EPOCHS_PRINT);
}

tacet_status tacet_contextual_epochs_create(tacet_policy **out, const tacet_contextual_space *space,
                                            const double *actions, size_t count,
                                            const tacet_contextual_epochs_settings *settings, const tacet_ask *ask,
                                            tacet_error *err) {
    *out = NULL;
    tacet_status status = check(space, actions, count, settings, ask, err);
    tacet__epochs *u = status == TACET_OK ? TACET__ZALLOC(tacet__epochs, 1) : NULL;
    if (u == NULL) {
        return status == TACET_OK ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy") : status;
    }
    u->settings = *settings;
    u->settings.width = settings->width > 0 ? settings->width : 0.75;
    u->settings.first =
        settings->first > 0 ? settings->first : (size_t)fmin(fmax(FIRST_ROUNDS / settings->learner.eps, 100), 1000);
    u->settings.late = settings->late + 1; /* in the last of these no report of the epoch is taken any more */
    u->settings.first = u->settings.first > u->settings.late ? u->settings.first : u->settings.late;
    u->ask = *ask;
    memcpy(u->ticket, ask->ticket, strlen(ask->ticket));
    u->ask.ticket = u->ticket;
    u->a = space->action_dim;
    u->contexts = space->context_dim;
    u->n = count;
    u->actions = TACET__ZALLOC(double, count * u->a);
    if (u->actions == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu actions", count);
    } else {
        memcpy(u->actions, actions, count * u->a * sizeof *actions);
        status = make_basis(u, space, actions, err);
    }
    if (status == TACET_OK) {
        status = tacet_contextual_learner_create(&u->learner, u->basis, &u->settings.learner, err);
    }
    if (status == TACET_OK) {
        status = make_belief(u, err);
    }
    if (status == TACET_OK) {
        status = tacet__epochs_plan(u, err);
    }
    if (status == TACET_OK) {
        status = tacet__epochs_reserve(u, tacet__epochs_size(u, 0) + u->settings.late, err);
    }
    if (status != TACET_OK) {
        epochs_free(u);
        return status;
    }
    fingerprint(u);
    return tacet__policy_wrap(out, &OPS, u, err);
}

const tacet_contextual_model *tacet_contextual_epochs_model(const tacet_policy *policy) {
    const tacet__epochs *u = tacet__policy_self(policy, &OPS);
    return u != NULL ? u->model : NULL;
}
