/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - contextual choices behind the interface of all policies: explore, release once, choose for free.
 * Ring: trusted. Source: Pavlovic, Salgia, Zhao 2025, Algorithm 1, online; src/contextual/README.md, section 8.
 * Differs: one release for all later choices instead of a private choice each. The action of a learning round is a
 * function of its ticket and a public seed, so that a replica draws the same, and a state need not hold it. Records are
 * learnt in the order of their tickets; which reports came first matters only where a release was begun and is gone on
 * with: it then is of the very reports that it was begun with, whatever came since. Cost: a suggestion is a draw, later
 * a prediction over the candidates; a report is a store; nothing is allocated in either but by the release itself. */
#include "contextual/trusted/policy_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/sobol.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { ROUNDS_MOST = TACET__CONTEXTUAL_POLICY_ROUNDS, ATOM_NODES_MOST = 1536, WHAT_MOST = 3900, DIGEST_BYTES = 16 };
static const char NAME[] = TACET__CONTEXTUAL_POLICY_NAME;
static const char PROOF[] = "src/contextual/README.md";
typedef tacet__contextual_policy explorer;
static const double TABLE_ERROR = 0.01; /* of the model's own */

void tacet_contextual_policy_settings_defaults(tacet_contextual_policy_settings *settings) {
    *settings = (tacet_contextual_policy_settings){.design = TACET_CONTEXTUAL_SOBOL, .coin_seed = 1};
    tacet_contextual_settings_defaults(&settings->learner);
}

static void forget(explorer *u) {
    if (u->rewards != NULL) {
        sodium_memzero(u->rewards, u->settings.learn * sizeof *u->rewards);
    }
    if (u->context != NULL) {
        sodium_memzero(u->context, u->settings.learn * u->contexts * sizeof *u->context);
    }
}

static void explorer_free(void *self) {
    explorer *u = self;
    if (u != NULL) {
        forget(u);
        tacet_contextual_model_free(u->model);
        tacet_contextual_basis_free(u->basis);
        free(u->actions);
        free(u->scaled);
        free(u->reported);
        free(u->order);
        free(u->rewards);
        free(u->context);
        free(u->means);
        free(u->average);
        free(u);
    }
}

/* --- suggest, observe, recommend --------------------------------------------------------------------------------- */

/* What is tried under a ticket: of ticket, seed and list alone. */
static size_t draw(const explorer *u, uint64_t ticket) {
    const bool sobol = u->settings.design == TACET_CONTEXTUAL_SOBOL;
    const size_t coordinates = u->atoms ? 1 : u->a;
    double point[TACET_CONTEXTUAL_DIM_MOST] = {0};
    tacet_simrng rng;
    tacet_simrng_init(&rng, u->settings.coin_seed, sobol ? 0 : ticket); /* tickets begin at 1 */
    for (size_t c = 0; c < coordinates; c++) {
        const uint32_t shift = (uint32_t)(tacet_simrng_u64(&rng) >> 32);
        point[c] = ((double)(uint32_t)(shift + (sobol ? tacet__sobol(c, ticket - 1) : 0)) + 0.5) / 0x1p32;
    }
    if (u->atoms) {
        return (size_t)(point[0] * (double)u->n);
    }
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < u->n; i++) {
        double sum = 0;
        for (size_t c = 0; c < u->a; c++) {
            const double e = u->scaled[i * u->a + c] - point[c];
            sum += e * e;
        }
        if (sum < least) {
            least = sum;
            best = i;
        }
    }
    return best;
}

/* The nearest context within the bounds. */
static void clip_context(const explorer *u, double *out, const double *context) {
    for (size_t c = 0; c < u->contexts; c++) {
        out[c] = fmin(fmax(context[c], u->basis->lower[u->a + c]), u->basis->upper[u->a + c]);
    }
}

static tacet_status make_release(explorer *u, tacet_error *err);

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    explorer *u = self;
    double context[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    size_t index = 0;
    double score = 0;
    if (round->points != NULL || round->context_dim != u->contexts) {
        return tacet__fail(err, TACET_INVALID, "%s has a fixed list of actions, and a context of %zu numbers a round",
                           NAME, u->contexts);
    }
    if (u->suggested == u->settings.rounds) {
        return tacet__fail(err, TACET_STATE, "the horizon of %zu suggestions is over", u->settings.rounds);
    }
    clip_context(u, context, round->context);
    if (u->model == NULL && u->suggested >= u->settings.learn) {
        const tacet_status status = make_release(u, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    if (u->model != NULL) {
        const tacet_status status =
            tacet_contextual_predict(u->model, &index, u->means, u->actions, u->n, context, err);
        if (status != TACET_OK) {
            return status;
        }
        score = u->means[index];
    } else {
        index = draw(u, u->suggested + 1);
        memcpy(u->context + u->suggested * u->contexts, context, u->contexts * sizeof *context);
    }
    u->reported[u->suggested++] = false;
    *out = (tacet_suggestion){.index = index, .ticket = u->suggested, .score = score};
    sodium_memzero(context, sizeof context);
    return TACET_OK;
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    explorer *u = self;
    if (ticket == 0 || ticket > u->suggested) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    const size_t k = (size_t)ticket - 1;
    if (u->reported[k]) {
        return tacet__fail(err, TACET_CONFLICT, "ticket %llu has been reported already", (unsigned long long)ticket);
    }
    u->reported[k] = true;
    if (u->model == NULL) {
        u->rewards[k] = value;
        u->order[k] = (uint32_t)++u->reports;
    }
    return TACET_OK;
}

/* Nothing waits for a report: a round that is not reported is not learnt. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    const explorer *u = self;
    if (ticket == 0 || ticket > u->suggested) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    return !u->reported[ticket - 1]
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT, "ticket %llu has been reported already", (unsigned long long)ticket);
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    const explorer *u = self;
    size_t best = 0;
    if (u->model == NULL) {
        return tacet__fail(err, TACET_STATE, "nothing has been released yet");
    }
    for (size_t i = 1; i < u->n; i++) {
        best = u->average[i] > u->average[best] ? i : best;
    }
    *out = (tacet_recommendation){.index = best,
                                  .mean = u->average[best],
                                  .sd = tacet_contextual_model_parts(u->model)->predicted_error,
                                  .measured = SIZE_MAX};
    return TACET_OK;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    const explorer *u = self;
    const bool is_private = tacet_ask_is_private(&u->ask);
    *out = (tacet_guarantee){
        .trust = TACET_TRUST_CENTRAL,
        .proven = is_private,
        .eps = is_private ? u->settings.learner.eps : INFINITY,
        .delta = !is_private                    ? 1
                 : u->settings.learner.gaussian ? u->settings.learner.delta
                                                : 0,
        .protects = "the context and the reward of one round, towards all other rounds",
        .statement = is_private ? "What all others see hardly changes when one round's context and reward are replaced."
                                : "Not private: the noise comes from a seeded source, for tests and simulations.",
        .proof = PROOF};
}

/* --- the release ------------------------------------------------------------------------------------------------- */

tacet_status tacet__contextual_policy_quicken(const explorer *u, tacet_contextual_model *model, tacet_error *err) {
    const double tolerance = TABLE_ERROR * tacet_contextual_model_parts(model)->predicted_error;
    if (u->basis->d >= TACET_CONTEXTUAL_DIM_MOST || !(tolerance > 0)) {
        return TACET_OK;
    }
    const tacet_status status = tacet_contextual_model_tabulate(model, NULL, tolerance, err);
    return status == TACET_UNSUPPORTED ? TACET_OK : status;
}

tacet_status tacet__contextual_policy_average(const explorer *u, double *average, const tacet_contextual_model *model,
                                              tacet_error *err) {
    const tacet_contextual_basis *b = u->basis;
    const tacet__feature_block *block = &b->features->blocks[0];
    tacet_status status = TACET_OK;
    memset(average, 0, u->n * sizeof *average);
    for (size_t at = 0; at < block->count && status == TACET_OK; at += b->node_actions) {
        double context[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
        double weight = 0;
        size_t best = 0;
        for (size_t i = 0; i < b->node_actions; i++) {
            weight += b->weights[at + i];
        }
        for (size_t c = u->a; c < b->d; c++) {
            context[c - u->a] = b->lower[c] + block->Z[at * b->d + c] * (b->upper[c] - b->lower[c]);
        }
        clip_context(u, context, context);
        status = tacet_contextual_predict(model, &best, u->means, u->actions, u->n, context, err);
        for (size_t i = 0; i < u->n && status == TACET_OK; i++) {
            average[i] += weight * u->means[i];
        }
    }
    return status;
}

/* Of how many reports, the first ones, the release is made: of all, or of those that it was begun with. `older`: it was
 * begun by a version that did not say. */
static tacet_status reports_of_release(const explorer *u, size_t *count, bool *older, tacet_error *err) {
    tacet__contextual_begun begun;
    const tacet_status status = tacet__contextual_begun_find(&begun, &u->ask, u->ticket, err);
    *older = begun.form == TACET__CONTEXTUAL_BEGUN_UNSAID;
    *count = *older || begun.form == TACET__CONTEXTUAL_NOT_BEGUN ? u->reports : begun.records;
    if (status != TACET_OK) {
        return status;
    }
    if (begun.form != TACET__CONTEXTUAL_NOT_BEGUN && (*count == 0 || *count > u->reports)) {
        return tacet__fail(err, TACET_CONFLICT, "the ledger knows a release of other reports than these");
    }
    return TACET_OK;
}

/* What is released, and which rounds it is of: part of the question in the ledger, so that no stage can be answered for
 * other rounds than the first one was. Tickets are public; contexts and rewards are not in it. */
static void describe(const explorer *u, char out[WHAT_MOST + 64], size_t count) {
    unsigned char digest[DIGEST_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof digest);
    for (uint64_t k = 0; k < u->suggested; k++) {
        if (u->order[k] != 0 && u->order[k] <= count) {
            unsigned char ticket[8];
            for (size_t i = 0; i < sizeof ticket; i++) {
                ticket[i] = (unsigned char)((k + 1) >> (8 * i));
            }
            (void)crypto_generichash_update(&state, ticket, sizeof ticket);
        }
    }
    (void)crypto_generichash_final(&state, digest, sizeof digest);
    (void)snprintf(out, WHAT_MOST + 64, "%s, rounds %s", u->ask.what != NULL ? u->ask.what : "",
                   sodium_bin2hex(hex, sizeof hex, digest, sizeof digest));
}

static tacet_status make_release(explorer *u, tacet_error *err) {
    tacet_contextual_learner *learner = NULL;
    tacet_contextual_model *model = NULL;
    double w[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    char what[WHAT_MOST + 64];
    size_t count = 0;
    bool older = false;
    tacet_status status = reports_of_release(u, &count, &older, err);
    if (status == TACET_OK) {
        status = tacet_contextual_learner_create(&learner, u->basis, &u->settings.learner, err);
    }
    for (size_t k = 0; k < u->suggested && status == TACET_OK; k++) {
        if (u->order[k] != 0 && u->order[k] <= count) {
            memcpy(w, u->actions + draw(u, k + 1) * u->a, u->a * sizeof *w);
            memcpy(w + u->a, u->context + k * u->contexts, u->contexts * sizeof *w);
            status = tacet_contextual_learner_add(learner, w, u->rewards[k], err);
        }
    }
    if (status == TACET_OK) {
        tacet_ask ask = u->ask;
        ask.ticket = u->ticket;
        if (!older) {
            describe(u, what, count);
            ask.what = what;
        }
        status = tacet_contextual_release(learner, &model, &ask, err);
    }
    if (status == TACET_OK) {
        status = tacet__contextual_policy_quicken(u, model, err);
    }
    if (status == TACET_OK) {
        status = tacet__contextual_policy_average(u, u->average, model, err);
    }
    if (status == TACET_OK) {
        u->model = model;
        model = NULL;
        forget(u);
    }
    tacet_contextual_model_free(model);
    tacet_contextual_learner_free(learner);
    sodium_memzero(w, sizeof w);
    return status;
}

/* --- creation ---------------------------------------------------------------------------------------------------- */

static const tacet_policy_ops OPS = {.name = NAME,
                                     .suggest = suggest,
                                     .observe = observe,
                                     .recommend = recommend,
                                     .guarantee = guarantee,
                                     .save = tacet__contextual_policy_save,
                                     .load = tacet__contextual_policy_load,
                                     .free = explorer_free,
                                     .drop = drop};

static tacet_status check(const tacet_contextual_space *space, const double *actions, size_t count,
                          const tacet_contextual_policy_settings *s, const tacet_ask *ask, tacet_error *err) {
    if (s->rounds == 0 || s->rounds > ROUNDS_MOST || s->learn > s->rounds) {
        return tacet__fail(err, TACET_INVALID, "1 to %d rounds, no more of them for learning", (int)ROUNDS_MOST);
    }
    if (space->actions != NULL || actions == NULL || count < 2 || count > ROUNDS_MOST) {
        return tacet__fail(err, TACET_INVALID, "a policy has one list of at least 2 actions, given beside the space");
    }
    if (s->design != TACET_CONTEXTUAL_UNIFORM && s->design != TACET_CONTEXTUAL_SOBOL) {
        return tacet__fail(err, TACET_INVALID, "the design is uniform or sobol");
    }
    if (ask->what != NULL && strlen(ask->what) > WHAT_MOST) {
        return tacet__fail(err, TACET_INVALID, "what is released is described in up to %d bytes", (int)WHAT_MOST);
    }
    if (tacet_ask_check(ask, NULL) != TACET_OK || ask->group != NULL || ask->part != NULL || ask->ticket == NULL ||
        strlen(ask->ticket) > TACET__CONTEXTUAL_POLICY_TICKET) {
        return tacet__fail(
            err, TACET_INVALID,
            "a release needs noise, a ledger (or seeded noise), and a ticket of up to %d bytes, no group",
            (int)TACET__CONTEXTUAL_POLICY_TICKET);
    }
    return TACET_OK;
}

static tacet_status make_basis(explorer *u, const tacet_contextual_space *space, const double *actions,
                               tacet_error *err) {
    tacet_contextual_space s = *space;
    const size_t d = space->action_dim + space->context_dim;
    const bool lattice = d > TACET_CONTEXTUAL_DIM_MOST && space->context_dim > 0;
    size_t nodes = space->contexts != NULL ? space->context_count : lattice ? TACET__CONTEXTUAL_LATTICE : 1;
    for (size_t c = 0; c < space->context_dim && space->contexts == NULL && d <= TACET_CONTEXTUAL_DIM_MOST; c++) {
        nodes *= space->order != 0 ? space->order : tacet__contextual_order(d);
    }
    u->atoms = nodes > 0 && u->n <= ATOM_NODES_MOST / nodes;
    if (u->atoms) {
        s.actions = actions;
        s.action_count = u->n;
    }
    tacet_status status = tacet_contextual_basis_create(&u->basis, &s, 0, err);
    for (size_t i = 0; i < u->n && status == TACET_OK; i++) {
        for (size_t c = 0; c < u->a; c++) {
            const double at = actions[i * u->a + c];
            if (!(at >= u->basis->lower[c] && at <= u->basis->upper[c])) {
                return tacet__fail(err, TACET_INVALID, "action %zu lies outside the bounds", i + 1);
            }
            u->actions[i * u->a + c] = at;
            u->scaled[i * u->a + c] = (at - u->basis->lower[c]) / (u->basis->upper[c] - u->basis->lower[c]);
        }
    }
    return status;
}

/* Everything a saved state must have been made with. */
static void fingerprint(explorer *u) {
    const tacet_contextual_policy_settings *s = &u->settings;
    const tacet_contextual_settings *l = &s->learner;
    const tacet_contextual_basis *b = u->basis;
    const tacet_kernel_spec *spec = tacet_kernel_describe(b->features->kernel);
    const double reals[] = {l->reward_lower, l->reward_upper, l->noise_sd, l->prior_sd,
                            l->prior_decay,  l->eps,          l->delta};
    const uint64_t wholes[] = {s->rounds,
                               s->learn,
                               (uint64_t)s->design,
                               s->coin_seed,
                               l->gaussian,
                               l->stages_most,
                               l->features_most,
                               u->a,
                               u->contexts,
                               u->n,
                               u->atoms,
                               (uint64_t)spec->kind,
                               spec->matern_p,
                               strlen(u->ticket)};
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, TACET__CONTEXTUAL_POLICY_PRINT);
    (void)crypto_generichash_update(&state, (const unsigned char *)reals, sizeof reals);
    (void)crypto_generichash_update(&state, (const unsigned char *)wholes, sizeof wholes);
    (void)crypto_generichash_update(&state, (const unsigned char *)u->ticket, strlen(u->ticket));
    (void)crypto_generichash_update(&state, (const unsigned char *)b->lower, sizeof b->lower);
    (void)crypto_generichash_update(&state, (const unsigned char *)b->upper, sizeof b->upper);
    (void)crypto_generichash_update(&state, (const unsigned char *)b->unit_lengthscale, sizeof b->unit_lengthscale);
    (void)crypto_generichash_update(&state, (const unsigned char *)b->weights,
                                    b->features->blocks[0].count * sizeof *b->weights);
    (void)crypto_generichash_update(&state, (const unsigned char *)u->actions, u->n * u->a * sizeof *u->actions);
    (void)crypto_generichash_final(&state, u->problem, TACET__CONTEXTUAL_POLICY_PRINT);
}

tacet_status tacet_contextual_policy_create(tacet_policy **out, const tacet_contextual_space *space,
                                            const double *actions, size_t count,
                                            const tacet_contextual_policy_settings *settings, const tacet_ask *ask,
                                            tacet_error *err) {
    tacet_contextual_learner *trial = NULL;
    *out = NULL;
    tacet_status status = check(space, actions, count, settings, ask, err);
    if (status != TACET_OK) {
        return status;
    }
    explorer *u = TACET__ZALLOC(explorer, 1);
    if (u == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy");
    }
    u->settings = *settings;
    u->settings.learn = settings->learn > 0 ? settings->learn : settings->rounds;
    u->ask = *ask;
    memcpy(u->ticket, ask->ticket, strlen(ask->ticket));
    u->a = space->action_dim;
    u->contexts = space->context_dim;
    u->n = count;
    if (u->a > TACET_CONTEXTUAL_DIM_MOST || u->contexts > TACET_CONTEXTUAL_DIM_MOST) {
        explorer_free(u);
        return tacet__fail(err, TACET_INVALID, "at most %d coordinates in all", (int)TACET_CONTEXTUAL_DIM_MOST);
    }
    u->actions = TACET__ZALLOC(double, count * u->a);
    u->scaled = TACET__ZALLOC(double, count * u->a);
    u->means = TACET__ZALLOC(double, count);
    u->average = TACET__ZALLOC(double, count);
    u->reported = TACET__ZALLOC(bool, u->settings.rounds);
    u->order = TACET__ZALLOC(uint32_t, u->settings.learn);
    u->rewards = TACET__ZALLOC(double, u->settings.learn);
    u->context = TACET__ZALLOC(double, u->settings.learn * u->contexts + 1);
    if (u->actions == NULL || u->scaled == NULL || u->means == NULL || u->average == NULL || u->reported == NULL ||
        u->order == NULL || u->rewards == NULL || u->context == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy of %zu rounds", u->settings.rounds);
    }
    if (status == TACET_OK) {
        status = make_basis(u, space, actions, err);
    }
    if (status == TACET_OK) {
        status = tacet_contextual_learner_create(&trial, u->basis, &settings->learner, err); /* checks its settings */
        tacet_contextual_learner_free(trial);
    }
    if (status != TACET_OK) {
        explorer_free(u);
        return status;
    }
    fingerprint(u);
    return tacet_policy_wrap(out, &OPS, u, err);
}

tacet_status tacet_contextual_policy_release(tacet_policy *policy, tacet_error *err) {
    explorer *u = tacet__policy_self(policy, &OPS);
    if (u == NULL) {
        return tacet__fail(err, TACET_INVALID, "%s is no policy of contextual choices", tacet_policy_name(policy));
    }
    return u->model != NULL ? TACET_OK : make_release(u, err);
}

const tacet_contextual_model *tacet_contextual_policy_model(const tacet_policy *policy) {
    const explorer *u = tacet__policy_self(policy, &OPS);
    return u != NULL ? u->model : NULL;
}
