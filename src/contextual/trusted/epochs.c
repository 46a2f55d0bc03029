/* SPDX-License-Identifier: Apache-2.0 */
/* epochs.c - contextual choices that earn while they learn: epochs with one release each, Thompson draws between them.
 * Ring: trusted. Source: src/contextual/README.md, "Cumulative regret": billboard argument over epochs, parallel
 * composition within one. Epochs count suggestions; a round that was not reported is a null record, because reporting
 * is private too. Cost: a suggestion is one pass over the actions; the end of an epoch is one pass over its rounds and
 * some tens of O(M^2 N) forms. */
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
static const char NAME[] = TACET__EPOCHS_NAME;
static const double FIRST_ROUNDS = 300; /* over eps */
static const double SYMMETRIC_PRIOR = 0.15;
static const double SKEWED_PRIOR = 0.12; /* mean square of the function, of B^2 */
static const double SYMMETRIC_SCALE = 0.45;
static const double SKEWED_SCALE = 0.7; /* of a reward in epoch 0, of B */
static const tacet__belief_scaling FIRST_SCALING = {.width = 2.5, .least = 1.0 / 64};
static const tacet__belief_scaling LATER_SCALING = {.width = 0.5, .least = 1};

void tacet_contextual_epochs_settings_defaults(tacet_contextual_epochs_settings *settings) {
    *settings = (tacet_contextual_epochs_settings){.coin_seed = 1};
    tacet_contextual_settings_defaults(&settings->learner);
}

static void forget(tacet__epochs *u) {
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
    forget(u);
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
    free(u->phi);
    free(u->values);
    free(u->average);
    free(u);
}

size_t tacet__epochs_size(const tacet__epochs *u, size_t epoch) {
    const double size = ldexp((double)u->settings.first, epoch == 0 ? 0 : (int)epoch - 1);
    return size < (double)u->settings.rounds ? (size_t)size : u->settings.rounds;
}

/* Room for the rounds of an epoch of this size. */
static tacet_status make_room(tacet__epochs *u, size_t size, tacet_error *err) {
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
    forget(u);
    free(u->context);
    free(u->rewards);
    free(u->action);
    u->context = context;
    u->rewards = rewards;
    u->action = action;
    u->capacity = size;
    return TACET_OK;
}

/* --- what follows from the releases ------------------------------------------------------------------------------ */

/* Each draw's function at the actions, as weights of the context nodes' kernel values: SE is a product. */
static tacet_status make_fast(tacet__epochs *u, tacet_error *err) {
    const tacet_contextual_basis *b = u->basis;
    const tacet__feature_block *block = &b->features->blocks[0];
    const size_t N = block->count;
    if (tacet_kernel_describe(b->features->kernel)->kind != TACET_KERNEL_SE || b->d > TACET_CONTEXTUAL_DIM_MOST) {
        return TACET_OK;
    }
    if (u->fast == NULL) {
        u->fast = TACET__ALIGNED(double, N *DRAWS);
    }
    double *Ka = TACET__ZALLOC(double, u->n * u->n);
    double *W = TACET__ALIGNED(double, N *DRAWS);
    if (u->fast == NULL || Ka == NULL || W == NULL) {
        free(Ka);
        free(W);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for draws");
    }
    for (size_t i = 0; i < u->n; i++) {
        for (size_t j = 0; j < u->n; j++) { /* nodes i and j have the first context */
            Ka[j * u->n + i] = tacet_kernel_eval(b->features->kernel, block->Z + i * b->d, block->Z + j * b->d);
        }
    }
    tacet__gemm(false, false, N, DRAWS, u->robust.belief.M, 1, block->A, N, u->draws, u->robust.belief.M, 0, W, N);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): an action list has at least one node */
    tacet__gemm(false, false, u->n, N / u->n * DRAWS, u->n, 1, Ka, u->n, W, u->n, 0, u->fast, u->n);
    free(Ka);
    free(W);
    return TACET_OK;
}

/* Which of the actions whose features are the columns of phi no width excludes; returns how many. keep: n. */
static size_t survivors(const tacet__epochs *u, bool *keep, double *room, const double *phi) {
    const tacet__belief *b = &u->robust.belief;
    double most = -INFINITY;
    size_t count = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < u->n; i++) {
            const double *x = phi + i * b->M;
            tacet__gemv(false, b->M, b->M, 1, b->P, b->M, x, 0, room);
            const double half = u->settings.width * sqrt(fmax(tacet__dot(room, x, b->M) + b->tail, 0));
            const double mean = tacet__dot(b->theta, x, b->M);
            if (pass == 0) {
                most = fmax(most, mean - half);
            } else {
                keep[i] = mean + half >= most;
                count += keep[i] ? 1 : 0;
            }
        }
    }
    return count;
}

/* How likely each action is in each context node. */
static tacet_status make_pi(tacet__epochs *u, tacet_error *err) {
    const tacet__belief *b = &u->robust.belief;
    double *F = TACET__ALIGNED(double, b->N *DRAWS);
    bool *keep = TACET__ZALLOC(bool, u->n);
    double *room = TACET__ZALLOC(double, b->M);
    if (F == NULL || keep == NULL || room == NULL) {
        free(F);
        free(keep);
        free(room);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for draws");
    }
    memset(u->pi, 0, b->N * sizeof *u->pi);
    tacet__gemm(true, false, b->N, DRAWS, b->M, 1, b->phi, b->M, u->draws, b->M, 0, F, b->N);
    for (size_t k = 0; k < b->N; k += u->n) {
        if (u->settings.explore == TACET_CONTEXTUAL_ELIMINATION) {
            const size_t count = survivors(u, keep, room, b->phi + k * b->M);
            for (size_t i = 0; i < u->n; i++) {
                u->pi[k + i] = keep[i] ? 1 / (double)count : 0;
            }
            continue;
        }
        for (size_t s = 0; s < DRAWS; s++) {
            size_t best = 0;
            for (size_t i = 1; i < u->n; i++) {
                best = F[s * b->N + k + i] > F[s * b->N + k + best] ? i : best;
            }
            u->pi[k + best] += 1.0 / DRAWS;
        }
    }
    free(F);
    free(keep);
    free(room);
    return TACET_OK;
}

static tacet_status make_model(tacet__epochs *u, tacet_error *err) {
    tacet__robust *r = &u->robust;
    tacet_contextual_model *model = NULL;
    tacet__belief_gram(&r->belief, r->belief.L, r->even);
    const tacet_contextual_parts claims = {.is_private = tacet_ask_is_private(&u->ask),
                                           .eps = u->settings.learner.eps,
                                           .delta = u->settings.learner.gaussian ? u->settings.learner.delta : 0,
                                           .predicted_error =
                                               sqrt(fmax(tacet__belief_risk(&r->belief, r->belief.L), 0)),
                                           .receipts = r->parts.receipts,
                                           .receipt_count = r->parts.receipt_count};
    const tacet_status status = tacet__contextual_model_from(&model, u->learner, u->basis->features->blocks[0].A,
                                                             r->belief.theta, r->belief.M, &claims, err);
    if (status == TACET_OK) {
        tacet_contextual_model_free(u->model);
        u->model = model;
    }
    return status;
}

tacet_status tacet__epochs_refresh(tacet__epochs *u, tacet_error *err) {
    const tacet__belief *b = &u->robust.belief;
    tacet_status status = make_fast(u, err);
    if (status == TACET_OK) {
        status = make_pi(u, err);
    }
    if (status == TACET_OK) {
        status = make_model(u, err);
    }
    memset(u->average, 0, u->n * sizeof *u->average);
    for (size_t k = 0; k < b->N; k++) {
        u->average[k % u->n] += u->robust.even[k] * (double)u->n * tacet__dot(b->theta, b->phi + k * b->M, b->M);
    }
    return status;
}

/* theta_i = theta + width P^1/2 z: post-processing, a function of the release and the epoch's number. */
static tacet_status make_draws(tacet__epochs *u, tacet_error *err) {
    const tacet__belief *b = &u->robust.belief;
    const size_t M = b->M;
    tacet_simrng rng;
    double *V = TACET__ZALLOC(double, M *M);
    double *w = TACET__ZALLOC(double, M);
    double *z = TACET__ZALLOC(double, M);
    tacet_status status = TACET_OK;
    if (V == NULL || w == NULL || z == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for draws");
    } else {
        memcpy(V, b->P, M * M * sizeof *V);
        status = tacet__eigh(V, M, M, w, err);
    }
    tacet_simrng_init(&rng, u->settings.coin_seed, UINT64_MAX - u->epoch);
    for (size_t s = 0; s < DRAWS && status == TACET_OK; s++) {
        for (size_t j = 0; j < M; j++) {
            z[j] = u->settings.width * sqrt(fmax(w[j], 0)) * tacet_simrng_normal(&rng);
        }
        memcpy(u->draws + s * M, b->theta, M * sizeof *z);
        tacet__gemv(false, M, M, 1, V, M, z, 1, u->draws + s * M);
    }
    free(V);
    free(w);
    free(z);
    return status;
}

/* --- the end of an epoch ----------------------------------------------------------------------------------------- */

static size_t between(double x, double low, double high) {
    return (size_t)fmax(fmin(x, high), fmin(low, high));
}

static void set_sizes(const tacet__epochs *u, tacet__parts_sizes *sizes) {
    const double n = (double)u->size;
    const size_t j = u->epoch == 0 ? 0 : 1;
    const bool symmetric = u->settings.learner.rewards == TACET_CONTEXTUAL_SYMMETRIC;
    memset(sizes, 0, sizeof *sizes);
    sizes->stages = 1;
    if (tacet__contextual_law_size(&u->robust.law) > 0) {
        sizes->n[TACET__PART_LAW] = j == 0 ? u->size / 4 : between(0.05 * n, 50, fmin(1000, n / 3));
    }
    if (j > 0) {
        sizes->n[TACET__PART_STAGE + 4] = between(0.04 * n, 50, fmin(600, n / 4));
        sizes->n[TACET__PART_STAGE + 5] = symmetric ? 0 : between(0.08 * n, 100, fmin(2000, n / 4));
    }
    sizes->n[TACET__PART_STAGE + 3 * j] =
        u->size - sizes->n[TACET__PART_LAW] - sizes->n[TACET__PART_STAGE + 4] - sizes->n[TACET__PART_STAGE + 5];
}

/* The epoch's rounds as records; those without a report are null. */
static tacet_status fill_records(tacet__epochs *u, tacet_error *err) {
    tacet_contextual_learner *l = u->learner;
    double w[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    tacet_status status = TACET_OK;
    l->count = 0;
    for (size_t k = 0; k < u->size && status == TACET_OK; k++) {
        const bool null = isnan(u->rewards[k]);
        memcpy(w, u->actions + u->action[k] * u->a, u->a * sizeof *w);
        memcpy(w + u->a, u->context + k * u->contexts, u->contexts * sizeof *w);
        status = tacet_contextual_learner_add(l, w, null ? l->middle : u->rewards[k], err);
        if (status == TACET_OK && null) {
            l->records[(l->count - 1) * l->stride + l->basis->d + 1] = -1;
        }
    }
    sodium_memzero(w, sizeof w);
    return status;
}

/* The law of contexts from all epochs so far, of records from it and pi. `V`: with this epoch's sketch. */
static tacet_status set_law(tacet__epochs *u, const double *V, double var, double n, tacet_error *err) {
    tacet__robust *r = &u->robust;
    const size_t N = r->belief.N;
    tacet_status status = TACET_OK;
    const double sd = sqrt(var) * fmax(u->settings.learner.eps / TACET__ROBUST_TRUSTED_EPS, 1);
    double mass = 1; /* of the rounds that were reported: q is the law of a round's record, null or not */
    if (tacet__contextual_law_size(&r->law) > 0) {
        mass = tacet__contextual_law_mass(&r->law, V, n, sd);
        status = tacet__contextual_law_decode(&r->law, r->even, V, n * mass, sd, err);
        if (status == TACET_OK) {
            status = tacet__contextual_law_redraw(&r->law, r->laws, TACET__ROBUST_LAWS, r->even, n * mass, sd, err);
        }
    }
    for (size_t k = 0; k < N && status == TACET_OK; k++) {
        r->q[k] = mass * r->even[k] * (double)u->n * u->pi[k];
    }
    for (size_t k = 0; k < N * TACET__ROBUST_LAWS && status == TACET_OK; k++) {
        r->laws[k] *= mass * (double)u->n * u->pi[k % N];
    }
    return status;
}

static void set_errors_law(tacet__robust *r) {
    for (size_t k = 0; k < r->belief.N; k++) {
        r->reach[k] = 0.5 * (r->q[k] + r->even[k]);
    }
    tacet__belief_gram(&r->belief, r->belief.U, r->reach);
}

static tacet_status release_epoch(tacet__epochs *u, tacet_error *err) {
    tacet__robust *r = &u->robust;
    const size_t size = tacet__contextual_law_size(&r->law);
    char prefix[32];
    double sd = 0;
    double *V = TACET__ZALLOC(double, size + 1);
    (void)snprintf(prefix, sizeof prefix, "epoch %zu, ", u->epoch);
    r->parts = (tacet__parts){
        .learner = u->learner, .ask = &u->ask, .what = u->ask.what, .prefix = prefix, .records = u->size};
    set_sizes(u, &r->parts.sizes);
    const double n = u->sketch_n + (double)r->parts.sizes.n[TACET__PART_LAW];
    tacet_status status =
        V == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch") : fill_records(u, err);
    if (status == TACET_OK) {
        status = tacet__parts_deal(&r->parts, err);
    }
    if (status == TACET_OK && size > 0) {
        status = tacet__robust_sketch(r, V, &sd, err);
        for (size_t i = 0; i < size; i++) {
            V[i] += u->V[i];
        }
    }
    if (status == TACET_OK) {
        status = set_law(u, V, u->sketch_var + sd * sd, n, err);
    }
    if (status == TACET_OK) {
        set_errors_law(r);
        status = tacet__robust_learn(r, u->epoch == 0 ? 0 : 1, u->epoch == 0 ? &FIRST_SCALING : &LATER_SCALING, err);
    }
    if (status == TACET_OK) {
        memcpy(u->V, V, size * sizeof *V);
        u->sketch_var += sd * sd;
        u->sketch_n = n;
    }
    sodium_memzero(u->learner->records, u->learner->capacity * sizeof *u->learner->records);
    u->learner->count = 0;
    free(r->parts.part_of);
    r->parts.part_of = NULL;
    r->parts.prefix = NULL;
    free(V);
    return status;
}

static tacet_status end_epoch(tacet__epochs *u, tacet_error *err) {
    tacet_status status = make_room(u, 0, err);
    status = status == TACET_OK ? release_epoch(u, err) : status;
    if (status == TACET_OK) {
        status = make_draws(u, err);
    }
    if (status == TACET_OK) {
        status = tacet__epochs_refresh(u, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    forget(u);
    u->begin += u->size;
    u->epoch++;
    u->size = tacet__epochs_size(u, u->epoch);
    return make_room(u, u->size, err);
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

static size_t eliminate(tacet__epochs *u, double coin, double *unit) {
    bool keep[ACTIONS_MOST];
    double room[TACET__BELIEF_FEATURES_MOST];
    features_in(u, unit);
    const size_t count = survivors(u, keep, room, u->phi);
    size_t left = (size_t)(coin * (double)count);
    for (size_t i = 0; i < u->n; i++) {
        if (keep[i] && left-- == 0) {
            return i;
        }
    }
    return 0;
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
    if (u->suggested == u->begin + u->size) {
        const tacet_status status = end_epoch(u, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    tacet_simrng_init(&rng, u->settings.coin_seed, u->suggested + 1);
    const double coin = tacet_simrng_uniform(&rng);
    unit_context(u, unit, round->context);
    if (u->epoch == 0) {
        index = (size_t)(coin * (double)u->n);
    } else if (u->settings.explore == TACET_CONTEXTUAL_THOMPSON) {
        index = thompson(u, (size_t)(coin * DRAWS), unit);
    } else {
        index = eliminate(u, coin, unit);
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
    if (k >= u->begin) {
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

static const tacet_policy_ops OPS = {.name = NAME,
                                     .suggest = suggest,
                                     .observe = observe,
                                     .recommend = recommend,
                                     .guarantee = guarantee,
                                     .save = tacet__epochs_save,
                                     .load = tacet__epochs_load,
                                     .free = epochs_free,
                                     .drop = drop};

/* --- creation ---------------------------------------------------------------------------------------------------- */

static tacet_status check(const tacet_contextual_space *space, const double *actions, size_t count,
                          const tacet_contextual_epochs_settings *s, const tacet_ask *ask, tacet_error *err) {
    if (s->rounds == 0 || s->rounds > ROUNDS_MOST || !(s->width >= 0 && isfinite(s->width))) {
        return tacet__fail(err, TACET_INVALID, "1 to %d rounds, and a width that is finite and >= 0", (int)ROUNDS_MOST);
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
    u->phi = TACET__ALIGNED(double, M * u->n);
    u->values = TACET__ZALLOC(double, u->n);
    u->average = TACET__ZALLOC(double, u->n);
    u->reported = TACET__ZALLOC(bool, u->settings.rounds);
    if (r->q == NULL || r->even == NULL || r->reach == NULL || r->laws == NULL || u->V == NULL || u->draws == NULL ||
        u->pi == NULL || u->phi == NULL || u->values == NULL || u->average == NULL || u->reported == NULL) {
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
        u->pi[k] = 1 / (double)u->n;
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
    const double reals[] = {l->reward_lower, l->reward_upper, l->eps, l->delta, l->prior_decay, s->width};
    /* How many rounds there may be is no part of it: more of them change no epoch that was begun. */
    const uint64_t wholes[] = {
        s->first, (uint64_t)s->explore, s->coin_seed, l->gaussian,        (uint64_t)l->rewards,
        u->a,     u->contexts,          u->n,         u->robust.belief.M, b->features->blocks[0].count};
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
    u->settings.learner.method = TACET_CONTEXTUAL_ROBUST;
    u->settings.width = settings->width > 0                                 ? settings->width
                        : settings->explore == TACET_CONTEXTUAL_ELIMINATION ? 1
                                                                            : 0.75;
    u->settings.first =
        settings->first > 0 ? settings->first : (size_t)fmin(fmax(FIRST_ROUNDS / settings->learner.eps, 100), 1000);
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
        u->size = tacet__epochs_size(u, 0);
        status = make_room(u, u->size, err);
    }
    if (status != TACET_OK) {
        epochs_free(u);
        return status;
    }
    fingerprint(u);
    return tacet_policy_wrap(out, &OPS, u, err);
}

const tacet_contextual_model *tacet_contextual_epochs_model(const tacet_policy *policy) {
    const tacet__epochs *u = tacet__policy_self(policy, &OPS);
    return u != NULL ? u->model : NULL;
}
