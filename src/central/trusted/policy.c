/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - the shipped joint-DP bandit: batches whose sums are shaped for the learner that is told them.
 * Ring: trusted. Source: Dubey (AISTATS 2021), Algorithm 1; src/central/README.md maps the paper's steps to functions,
 * says what differs and proves the guarantee. A release is made inside the first suggestion after a batch's end. What
 * is reported between a batch's end and its release waits for the next one, whose shape rests on the release. Cost: a
 * suggestion O(arms m^2), a report O(m^2) for the features, a release O(grid k m) some ten times. */
#include "central/trusted/bandit.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

#include "central/open/learner_batches.h"
#include "central/open/stepwise.h"
#include "central/trusted/gate.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"

/* README.md, (c): batches are longer under more noise. FIRST and GROWTH go from the first number, at noise of sd
 * SMALL_NOISE for six numbers and less, to the second, at LARGE_NOISE and more. */
static const double FIRST[2] = {4, 8}, GROWTH[2] = {1.15, 1.25};
static const double SMALL_NOISE = 1, LARGE_NOISE = 2.5;
static const double FIRST_NOISE = 1.5; /* rounds of the first batch grow by 1 + FIRST_NOISE sd */
static const double FIRST_MOST = 65536;
enum { FIRST_NUMBERS = 6 }; /* about as many as the first release has */
/* Of counted arms: rounds of the first batch for each arm, at eps 1 and below, and at least. */
static const double FIRST_COUNTED = 10, FIRST_COUNTED_LEAST = 3, COUNTED_APART = 2;

void tacet_central_settings_defaults(tacet_central_settings *settings) {
    *settings = (tacet_central_settings){.open_most = 64, .coin_seed = 1};
    tacet_central_learner_settings_defaults(&settings->learner);
}

static tacet_status check_round(const tacet__bandit *b, const tacet_round *round, tacet_error *err) {
    if (round == NULL || round->points == NULL || round->count == 0) {
        return tacet__fail(err, TACET_INVALID, "an empty decision set: a round needs at least one arm");
    }
    if (round->d != b->d || round->ld < round->d) {
        return tacet__fail(err, TACET_INVALID, "the decision set has %zu dimensions, the study has %zu", round->d,
                           b->d);
    }
    if (round->context != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "this policy takes no context: put it into the arms' coordinates");
    }
    return tacet__check_points(round->points, round->ld, b->d, round->count, "arm", err);
}

static tacet_status plan_batch(tacet__bandit *b, tacet_error *err) {
    tacet__batch_noise noise;
    size_t k = 0;
    tacet__batches_noise(b->batches, &noise);
    tacet_status status = tacet__central_learner_plan(b->learner, &k, (size_t)tacet__batches_length(b->batches),
                                                      b->play_weight, &noise, err);
    if (status == TACET_NUMERIC) { /* what can't be planned is a batch that tells nothing */
        tacet_error_clear(err);
        status = TACET_OK;
    }
    if (status == TACET_OK) {
        tacet__batches_begin(b->batches, k);
    }
    return status;
}

static void free_slot(tacet__bandit *b, size_t slot) {
    sodium_memzero(b->chosen + slot * b->d, b->d * sizeof(double));
    b->open[slot] = 0;
    b->queue[slot] = 0;
    b->reward[slot] = 0;
}

/* Counts the report in a slot, which is then free. */
static tacet_status count_report(tacet__bandit *b, size_t slot, double reward, tacet_error *err) {
    tacet__central_learner_record(b->learner, b->record, b->work, b->chosen + slot * b->d, reward);
    const tacet_status status = tacet__batches_add(b->batches, b->record, b->open[slot], err);
    sodium_memzero(b->record, b->numbers * sizeof(double));
    if (status == TACET_OK) {
        tacet_central_learner_played(b->learner);
        free_slot(b, slot);
    }
    return status;
}

/* Reports that waited, in their order, into the batch that has begun. */
static tacet_status count_queued(tacet__bandit *b, tacet_error *err) {
    tacet_status status = TACET_OK;
    while (status == TACET_OK && !tacet__batches_wait(b->batches)) {
        size_t first = b->settings.open_most;
        for (size_t i = 0; i < b->settings.open_most; i++) {
            if (b->queue[i] != 0 && (first == b->settings.open_most || b->queue[i] < b->queue[first])) {
                first = i;
            }
        }
        if (first == b->settings.open_most) {
            break;
        }
        status = count_report(b, first, b->reward[first], err);
    }
    return status;
}

/* From a batch that has ended to the next. NUMERIC is no failure: the learner then goes on with what it knew. */
static tacet_status next_batch(tacet__bandit *b, tacet_error *err) {
    if (tacet__batches_due(b->batches)) {
        double var = 0;
        uint64_t count = 0;
        tacet_status status = tacet__batches_release(b->batches, b->sums, &var, &count, err);
        TACET_THEN(status, tacet__central_learner_take(b->learner, b->sums, var, count, err));
        if (status != TACET_OK && status != TACET_NUMERIC) {
            return status;
        }
        tacet_error_clear(err);
    }
    const tacet_status status = plan_batch(b, err);
    return status != TACET_OK ? status : count_queued(b, err);
}

/* All or nothing: what was released is in the ledger, and released again when the batch ends again. */
tacet_status tacet__bandit_refresh(tacet__bandit *b, tacet_error *err) {
    tacet_blob undo;
    if (!tacet__batches_wait(b->batches)) {
        return TACET_OK;
    }
    tacet_blob_init(&undo);
    tacet_status status = tacet__state_save(&undo, TACET__CENTRAL_NAME, tacet__bandit_state, b, err);
    while (status == TACET_OK && tacet__batches_wait(b->batches)) {
        status = next_batch(b, err);
        if (status != TACET_OK) {
            (void)tacet__state_load(undo.data, undo.size, TACET__CENTRAL_NAME, tacet__bandit_state, b, NULL);
        }
    }
    tacet_blob_clear(&undo);
    return status;
}

/* A due release is made, and a place for the ticket found. */
static tacet_status open_round(tacet__bandit *b, size_t *slot, const tacet_round *round, tacet_error *err) {
    TACET_OR_RETURN(check_round(b, round, err));
    if (b->settings.rounds > 0 && b->given >= b->settings.rounds) {
        return tacet__fail(err, TACET_STATE, "the horizon of %llu rounds is over",
                           (unsigned long long)b->settings.rounds);
    }
    tacet_status status = tacet__bandit_refresh(b, err); /* it may free places of reports that wait */
    if (status != TACET_OK) {
        return status;
    }
    *slot = 0;
    while (*slot < b->settings.open_most && b->open[*slot] != 0) {
        (*slot)++;
    }
    if (*slot == b->settings.open_most) {
        return tacet__fail(err, TACET_STATE, "%zu tickets are open: report one first", b->settings.open_most);
    }
    return TACET_OK;
}

static void give(tacet__bandit *b, size_t slot, const tacet_suggestion *s, const tacet_round *round) {
    b->open[slot] = s->ticket;
    memcpy(b->chosen + slot * b->d, round->points + s->index * round->ld, b->d * sizeof(double));
    b->given++;
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    tacet__bandit *b = self;
    size_t slot = 0;
    TACET_OR_RETURN(open_round(b, &slot, round, err));
    tacet_suggestion s = {.ticket = b->given + 1};
    tacet_simrng coin;
    tacet_simrng_init(&coin, b->settings.coin_seed, s.ticket);
    s.index = tacet_central_learner_informed(b->learner)
                  ? tacet_central_learner_choose(b->learner, &s.score, round->points, round->ld, round->count, &coin)
                  : tacet_simrng_below(&coin, round->count);
    give(b, slot, &s, round);
    *out = s;
    return TACET_OK;
}

static tacet_status repeat(void *self, const tacet_suggestion *made, const tacet_round *round, tacet_error *err) {
    tacet__bandit *b = self;
    size_t slot = 0;
    if (made->ticket != b->given + 1 || made->index >= round->count) {
        return tacet__fail(err, TACET_CORRUPT, "ticket %llu is not the next, or its arm not in the decision set",
                           (unsigned long long)made->ticket);
    }
    const tacet_status status = open_round(b, &slot, round, err);
    if (status == TACET_OK) {
        give(b, slot, made, round);
    }
    return status;
}

/* Where an open ticket is. */
static tacet_status find_slot(const tacet__bandit *b, size_t *slot, uint64_t ticket, tacet_error *err) {
    if (ticket == 0 || ticket > b->given) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    *slot = 0;
    while (*slot < b->settings.open_most && b->open[*slot] != ticket) {
        (*slot)++;
    }
    return *slot < b->settings.open_most && b->queue[*slot] == 0
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT, "ticket %llu was already reported", (unsigned long long)ticket);
}

/* As if it had never been reported: there is no record of the round. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    tacet__bandit *b = self;
    size_t slot = 0;
    const tacet_status status = find_slot(b, &slot, ticket, err);
    if (status == TACET_OK) {
        free_slot(b, slot);
    }
    return status;
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    tacet__bandit *b = self;
    size_t slot = 0;
    TACET_OR_RETURN(find_slot(b, &slot, ticket, err));
    if (tacet__batches_wait(b->batches)) {
        b->queue[slot] = ++b->queued;
        b->reward[slot] = value;
        return TACET_OK;
    }
    return count_report(b, slot, value, err);
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    tacet__bandit *b = self;
    if (!tacet_central_learner_informed(b->learner)) {
        return tacet__batches_nothing(b->batches, err);
    }
    tacet_recommendation best = {.index = SIZE_MAX, .measured = SIZE_MAX};
    tacet_central_learner_best(b->learner, NULL, &best.mean, &best.sd);
    *out = best;
    return TACET_OK;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    const tacet__bandit *b = self;
    *out = (tacet_guarantee){.trust = TACET_TRUST_CENTRAL,
                             .protects = "the decision set and the reward of one round, towards all other rounds",
                             .proof = TACET__CENTRAL_PROOF};
    if (tacet__batches_is_private(b->batches)) {
        out->proven = true;
        out->eps = b->settings.eps;
        out->delta = b->settings.learner.counted ? 0 : b->settings.delta;
        out->pure_eps = tacet__batches_pure(b->batches);
        out->statement = "What all others see hardly changes when one round's decision set and reward are replaced.";
    } else {
        out->eps = INFINITY;
        out->delta = 1;
        out->statement = "Not private: the noise comes from a seeded source, for tests and simulations.";
    }
}

void tacet__bandit_free(void *self) {
    tacet__bandit *b = self;
    if (b == NULL) {
        return;
    }
    tacet_central_learner_free(b->learner);
    tacet__batches_free(b->batches);
    if (b->reward != NULL) {
        sodium_memzero(b->reward, b->settings.open_most * sizeof(double));
    }
    if (b->chosen != NULL) {
        sodium_memzero(b->chosen, b->d * b->settings.open_most * sizeof(double));
    }
    free(b->open);
    free(b->queue);
    double *arrays[] = {b->chosen, b->reward, b->record, b->sums, b->work};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(b);
}

/* The noise of one number and of few, for a sensitivity of 1: what lengths of batches and of records follow. */
static tacet_status unit_noise(tacet__batch_noise *out, const tacet_central_settings *settings, const tacet_ask *ask,
                               tacet_error *err) {
    tacet__batch_gate *gate = NULL;
    const tacet__batch_terms terms = {.eps = settings->eps,
                                      .delta = settings->delta,
                                      .sensitivity = 1,
                                      .few = !settings->gaussian && tacet__batch_few(ask),
                                      .proof = TACET__CENTRAL_PROOF};
    const tacet_status status = tacet__batch_gate_create(&gate, &terms, err);
    if (status == TACET_OK) {
        tacet__batch_gate_noise(gate, out);
    }
    tacet__batch_gate_free(gate);
    return status;
}

static void batch_lengths(double *first, double *growth, const tacet_central_settings *settings, double sd) {
    const double share = fmin(fmax((sd - SMALL_NOISE) / (LARGE_NOISE - SMALL_NOISE), 0), 1);
    const double usual = FIRST[0] + share * (FIRST[1] - FIRST[0]);
    const double wanted = settings->first_epoch > 0 ? settings->first_epoch : usual;
    *first = fmin(ceil(wanted * (1 + FIRST_NOISE * sd)), FIRST_MOST);
    *growth = settings->growth > 0 ? settings->growth : GROWTH[0] + share * (GROWTH[1] - GROWTH[0]);
}

static tacet_status allocate(tacet__bandit *b, size_t features, tacet_error *err) {
    const size_t slots = b->settings.open_most;
    const tacet__array arrays[] = {{&b->chosen, b->d, slots},
                                   {&b->reward, slots, 1},
                                   {&b->record, b->numbers, 1},
                                   {&b->sums, b->numbers, 1},
                                   {&b->work, features + b->d, 1}};
    b->open = TACET__ZALLOC(uint64_t, slots);
    b->queue = TACET__ZALLOC(uint64_t, slots);
    return b->open != NULL && b->queue != NULL && tacet__zalloc_arrays(arrays, sizeof arrays / sizeof arrays[0])
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy");
}

static tacet_status check_settings(const tacet_central_map *map, const tacet_central_settings *settings,
                                   const tacet_ask *ask, tacet_error *err) {
    if (map == NULL || settings == NULL || ask == NULL) {
        return tacet__fail(err, TACET_INVALID, "a central policy needs a map, settings and who asks");
    }
    if (!(settings->first_epoch >= 0 && settings->first_epoch <= 1e6)) {
        return tacet__fail(err, TACET_INVALID, "first_epoch must be 0 or more and at most a million");
    }
    if (!(settings->open_most >= 1 && settings->open_most <= 1000000)) {
        return tacet__fail(err, TACET_INVALID, "open_most must be between 1 and a million");
    }
    return TACET_OK;
}

/* Batches of counts: README.md, (g). */
static void plan_counts(tacet__batches_plan *plan, const tacet_central_settings *s, size_t arms) {
    const double each = fmax(FIRST_COUNTED_LEAST, FIRST_COUNTED * fmin(1, 1 / s->eps));
    plan->l1 = true;
    plan->sensitivity = COUNTED_APART;
    plan->first_length = s->first_epoch > 0 ? ceil(s->first_epoch) : ceil(each * (double)arms);
    plan->growth = s->growth > 0 ? s->growth : GROWTH[1];
}

static tacet_status open_batches(tacet__bandit *b, const tacet_ask *ask, tacet_error *err) {
    const tacet_central_settings *s = &b->settings;
    tacet__batch_noise unit;
    tacet__batches_plan plan = {.most = b->numbers,
                                .proof = TACET__CENTRAL_PROOF,
                                .rounds = s->rounds,
                                .eps = s->eps,
                                .delta = s->delta,
                                .gaussian = s->gaussian};
    if (s->learner.counted) {
        plan_counts(&plan, s, b->numbers / 2);
        return tacet__batches_create(&b->batches, &plan, ask, err);
    }
    TACET_OR_RETURN(unit_noise(&unit, s, ask, err));
    b->play_weight = tacet__stepwise_play(&unit);
    plan.sensitivity = tacet__stepwise_sensitivity(b->play_weight);
    batch_lengths(&plan.first_length, &plan.growth, s, sqrt(tacet__batch_noise_var(&unit, FIRST_NUMBERS)));
    return tacet__batches_create(&b->batches, &plan, ask, err);
}

tacet_status tacet__bandit_create(tacet__bandit **out, const tacet_central_map *map,
                                  const tacet_central_settings *settings, const tacet_ask *ask, bool begin,
                                  tacet_error *err) {
    *out = NULL;
    TACET_OR_RETURN(check_settings(map, settings, ask, err));
    const size_t features = tacet_features_dim(tacet_central_map_features(map));
    tacet__bandit *b = TACET__ZALLOC(tacet__bandit, 1);
    if (b == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy");
    }
    b->map = map;
    b->settings = *settings;
    b->d = tacet_central_map_domain(map)->d;
    const size_t counted = !settings->gaussian && tacet__batch_few(ask) ? tacet__central_countable(map) : 0;
    b->settings.learner.counted = counted > 0;
    b->numbers = counted > 0 ? 2 * counted : tacet__stepwise_most(features);
    tacet_status status = allocate(b, features, err);
    TACET_THEN(status, open_batches(b, ask, err));
    TACET_THEN(status, tacet_central_learner_create(&b->learner, map, &b->settings.learner, err));
    if (status == TACET_OK && begin) {
        status = plan_batch(b, err);
    }
    if (status != TACET_OK) {
        tacet__bandit_free(b);
        return status;
    }
    *out = b;
    return TACET_OK;
}

static const tacet__policy_ops OPS = {.name = TACET__CENTRAL_NAME,
                                      .suggest = suggest,
                                      .observe = observe,
                                      .recommend = recommend,
                                      .guarantee = guarantee,
                                      .state = tacet__bandit_state,
                                      .free = tacet__bandit_free,
                                      .drop = drop,
                                      .repeat = repeat};

tacet_status tacet_central_create(tacet_policy **out, const tacet_central_map *map,
                                  const tacet_central_settings *settings, const tacet_ask *ask, tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the policy");
    }
    *out = NULL;
    tacet__bandit *b = NULL;
    const tacet_status status = tacet__bandit_create(&b, map, settings, ask, true, err);
    return status == TACET_OK ? tacet__policy_wrap(out, &OPS, b, err) : status;
}

tacet_status tacet_central_batch(const tacet_policy *policy, uint64_t *rounds, uint64_t *left, tacet_error *err) {
    const tacet__bandit *b = policy != NULL ? tacet__policy_self(policy, &OPS) : NULL;
    if (b == NULL) {
        return tacet__fail(err, TACET_INVALID, "this policy has no batches of decision sets");
    }
    *rounds = tacet__batches_length(b->batches);
    *left = tacet__batches_left(b->batches);
    return TACET_OK;
}

tacet_status tacet_central_restore(tacet_policy **out, const tacet_central_map *map,
                                   const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                   size_t size, tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the policy");
    }
    *out = NULL;
    tacet__bandit *b = NULL;
    TACET_OR_RETURN(tacet__bandit_create(&b, map, settings, ask, false, err));
    tacet_status status = tacet__state_load(bytes, size, TACET__CENTRAL_NAME, tacet__bandit_state, b, err);
    if (status != TACET_OK) {
        tacet__bandit_free(b);
        return status;
    }
    return tacet__policy_wrap(out, &OPS, b, err);
}
