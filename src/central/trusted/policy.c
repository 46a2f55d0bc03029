/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - a joint-DP bandit as a policy: a learner chooses, the privatizer counts.
 * Ring: trusted. Source: Dubey (AISTATS 2021), Algorithm 1, for any statistic of a round and any learner that sees its
 * noisy sums (parts.h); src/central/README.md maps the paper's steps to functions and proves the guarantee.
 * A release is made inside the first suggestion after an epoch's end, when everything it rests on can have been saved;
 * an epoch is a step of a stream of prefix sums (privatizer.c) or a batch of its own (batches.c). What is reported
 * between a batch's end and its release waits for the next one, whose shape rests on the release.
 * Cost: that of the learner, and O(numbers of a record) a report. */
#include "central/trusted/parts.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

#include "core/codec.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "central/trusted/batches.h"
#include "central/trusted/privatizer.h"

enum { STATE_VERSION = 3 };

typedef struct bandit {
    tacet__central_parts parts; /* owned */
    tacet__central_run run;
    tacet_policy_ops ops;
    tacet__privatizer *privatizer; /* of these two one is there */
    tacet__batches *batches;
    size_t d, dim;
    uint64_t *open;   /* open_most tickets, 0: free */
    uint64_t *queue;  /* open_most: place in the line of reports that wait for the next batch; 0: not reported */
    uint64_t queued;  /* places given so far */
    double *reward;   /* open_most: of those: private */
    double *chosen;   /* d x open_most: private */
    double *record;   /* dim: private */
    double *sums;     /* dim: a release */
    uint64_t given;   /* suggestions so far; the next ticket is given + 1 */
    tacet_blob spare; /* what the privatizer is saved into where the caller need not save */
} bandit;

static tacet_status check_round(const bandit *j, const tacet_round *round, tacet_error *err) {
    if (round == NULL || round->points == NULL || round->count == 0) {
        return tacet__fail(err, TACET_INVALID, "an empty decision set: a round needs at least one arm");
    }
    if (round->d != j->d || round->ld < round->d) {
        return tacet__fail(err, TACET_INVALID, "the decision set has %zu dimensions, the study has %zu", round->d,
                           j->d);
    }
    if (round->context != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "this policy takes no context: put it into the arms' coordinates");
    }
    return tacet__check_points(round->points, round->ld, j->d, round->count, "arm", err);
}

/* Hands a due release to the learner. NUMERIC is no failure: the learner then goes on with what it knew. */
static tacet_status refresh_stream(bandit *j, tacet_error *err) {
    if (!tacet__privatizer_due(j->privatizer)) {
        return TACET_OK;
    }
    if (!j->run.save_first) {
        tacet_status status = tacet__privatizer_save(j->privatizer, &j->spare, err);
        tacet_blob_clear(&j->spare);
        if (status != TACET_OK) {
            return status;
        }
    }
    double var = 0;
    uint64_t count = 0;
    tacet_status status = tacet__privatizer_release(j->privatizer, j->sums, &var, &count, err);
    if (status == TACET_STATE) {
        tacet_error_clear(err);
        return tacet__fail(err, TACET_STATE, "an epoch has ended: save the policy before the next suggestion");
    }
    if (status == TACET_OK) {
        (void)j->parts.ops->update(j->parts.self, j->sums, var, count, NULL);
    }
    return status;
}

static tacet_status plan_batch(bandit *j, tacet_error *err) {
    tacet__batch_noise noise;
    size_t k = 0;
    tacet__batches_noise(j->batches, &noise);
    const tacet_status status = j->parts.ops->plan(j->parts.self, &k, tacet__batches_length(j->batches), &noise, err);
    if (status == TACET_OK) {
        tacet__batches_begin(j->batches, k);
    }
    return status;
}

static void free_slot(bandit *j, size_t slot) {
    sodium_memzero(j->chosen + slot * j->d, j->d * sizeof(double));
    j->open[slot] = 0;
    j->queue[slot] = 0;
    j->reward[slot] = 0;
}

/* Counts the report in a slot, which is then free. */
static tacet_status count_report(bandit *j, size_t slot, double reward, tacet_error *err) {
    j->parts.ops->record(j->parts.self, j->record, j->chosen + slot * j->d, reward);
    const tacet_status status = j->batches != NULL ? tacet__batches_add(j->batches, j->record, j->open[slot], err)
                                                   : tacet__privatizer_add(j->privatizer, j->record, err);
    sodium_memzero(j->record, j->dim * sizeof(double));
    if (status == TACET_OK) {
        j->parts.ops->played(j->parts.self);
        free_slot(j, slot);
    }
    return status;
}

/* Reports that waited, in their order, into the batch that has begun. */
static tacet_status count_queued(bandit *j, tacet_error *err) {
    tacet_status status = TACET_OK;
    while (status == TACET_OK && !tacet__batches_wait(j->batches)) {
        size_t first = j->run.open_most;
        for (size_t i = 0; i < j->run.open_most; i++) {
            if (j->queue[i] != 0 && (first == j->run.open_most || j->queue[i] < j->queue[first])) {
                first = i;
            }
        }
        if (first == j->run.open_most) {
            break;
        }
        status = count_report(j, first, j->reward[first], err);
    }
    return status;
}

static tacet_status save(const void *self, tacet_blob *out, tacet_error *err);
static tacet_status load(void *self, const void *bytes, size_t size, tacet_error *err);

/* From a batch that has ended to the next. NUMERIC is no failure: the learner then goes on with what it knew. */
static tacet_status next_batch(bandit *j, tacet_error *err) {
    if (tacet__batches_due(j->batches)) {
        double var = 0;
        uint64_t count = 0;
        tacet_status status = tacet__batches_release(j->batches, j->sums, &var, &count, err);
        if (status == TACET_OK) {
            status = j->parts.ops->update(j->parts.self, j->sums, var, count, err);
        }
        if (status != TACET_OK && status != TACET_NUMERIC) {
            return status;
        }
        tacet_error_clear(err);
    }
    const tacet_status status = plan_batch(j, err);
    return status != TACET_OK ? status : count_queued(j, err);
}

/* All or nothing: what was released is in the ledger, and released again when the batch ends again. */
static tacet_status refresh_batches(bandit *j, tacet_error *err) {
    tacet_blob undo;
    if (!tacet__batches_wait(j->batches)) {
        return TACET_OK;
    }
    tacet_blob_init(&undo);
    tacet_status status = save(j, &undo, err);
    while (status == TACET_OK && tacet__batches_wait(j->batches)) {
        status = next_batch(j, err);
        if (status != TACET_OK) {
            (void)load(j, undo.data, undo.size, NULL);
        }
    }
    tacet_blob_clear(&undo);
    return status;
}

static tacet_status refresh(bandit *j, tacet_error *err) {
    return j->batches != NULL ? refresh_batches(j, err) : refresh_stream(j, err);
}

/* A due release is made, and a place for the ticket found. */
static tacet_status open_round(bandit *j, size_t *slot, const tacet_round *round, tacet_error *err) {
    tacet_status status = check_round(j, round, err);
    if (status != TACET_OK) {
        return status;
    }
    if (j->run.rounds > 0 && j->given >= j->run.rounds) {
        return tacet__fail(err, TACET_STATE, "the horizon of %llu rounds is over", (unsigned long long)j->run.rounds);
    }
    status = j->batches != NULL ? refresh(j, err) : TACET_OK; /* it may free places of reports that wait */
    if (status != TACET_OK) {
        return status;
    }
    *slot = 0;
    while (*slot < j->run.open_most && j->open[*slot] != 0) {
        (*slot)++;
    }
    if (*slot == j->run.open_most) {
        return tacet__fail(err, TACET_STATE, "%zu tickets are open: report one first", j->run.open_most);
    }
    return refresh(j, err);
}

static void give(bandit *j, size_t slot, const tacet_suggestion *s, const tacet_round *round) {
    j->open[slot] = s->ticket;
    memcpy(j->chosen + slot * j->d, round->points + s->index * round->ld, j->d * sizeof(double));
    j->given++;
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    bandit *j = self;
    size_t slot = 0;
    tacet_status status = open_round(j, &slot, round, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet_suggestion s = {.ticket = j->given + 1};
    if (j->parts.ops->informed(j->parts.self)) {
        s.index = j->parts.ops->choose(j->parts.self, &s.score, round->points, round->ld, round->count);
    } else {
        tacet_simrng coin;
        tacet_simrng_init(&coin, j->run.coin_seed, s.ticket);
        s.index = tacet_simrng_below(&coin, round->count);
    }
    give(j, slot, &s, round);
    *out = s;
    return TACET_OK;
}

static tacet_status repeat(void *self, const tacet_suggestion *made, const tacet_round *round, tacet_error *err) {
    bandit *j = self;
    size_t slot = 0;
    if (made->ticket != j->given + 1 || made->index >= round->count) {
        return tacet__fail(err, TACET_CORRUPT, "ticket %llu is not the next, or its arm not in the decision set",
                           (unsigned long long)made->ticket);
    }
    const tacet_status status = open_round(j, &slot, round, err);
    if (status == TACET_OK) {
        give(j, slot, made, round);
    }
    return status;
}

/* Where an open ticket is. */
static tacet_status find_slot(const bandit *j, size_t *slot, uint64_t ticket, tacet_error *err) {
    if (ticket == 0 || ticket > j->given) {
        return tacet__fail(err, TACET_NOT_FOUND, "ticket %llu was never given", (unsigned long long)ticket);
    }
    *slot = 0;
    while (*slot < j->run.open_most && j->open[*slot] != ticket) {
        (*slot)++;
    }
    return *slot < j->run.open_most && j->queue[*slot] == 0
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT, "ticket %llu was already reported", (unsigned long long)ticket);
}

/* As if it had never been reported: there is no record of the round. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    bandit *j = self;
    size_t slot = 0;
    const tacet_status status = find_slot(j, &slot, ticket, err);
    if (status == TACET_OK) {
        free_slot(j, slot);
    }
    return status;
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    bandit *j = self;
    size_t slot = 0;
    tacet_status status = find_slot(j, &slot, ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    /* Outside the range is clipped, not refused: a refused record would be missing, and every later one would move by
     * one place, some of them into another epoch. */
    const double reward = fmin(fmax(value, j->parts.lo), j->parts.hi);
    if (j->batches != NULL && tacet__batches_wait(j->batches)) {
        j->queue[slot] = ++j->queued;
        j->reward[slot] = reward;
        return TACET_OK;
    }
    return count_report(j, slot, reward, err);
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    bandit *j = self;
    if (!j->parts.ops->informed(j->parts.self)) {
        return tacet__fail(err, TACET_STATE, "nothing was released yet: the first epoch is still running");
    }
    tacet_recommendation best = {.index = SIZE_MAX, .measured = SIZE_MAX};
    j->parts.ops->best(j->parts.self, &best.mean, &best.sd);
    *out = best;
    return TACET_OK;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    const bandit *j = self;
    *out = (tacet_guarantee){.trust = TACET_TRUST_CENTRAL,
                             .protects = "the decision set and the reward of one round, towards all other rounds",
                             .proof = j->parts.proof};
    if (j->batches != NULL ? tacet__batches_is_private(j->batches) : tacet__privatizer_is_private(j->privatizer)) {
        out->proven = true;
        out->eps = j->run.eps;
        out->delta = j->run.delta;
        out->pure_eps = j->batches != NULL ? tacet__batches_pure(j->batches) : 0;
        out->statement = "What all others see hardly changes when one round's decision set and reward are replaced.";
    } else {
        out->eps = INFINITY;
        out->delta = 1;
        out->statement = "Not private: the noise comes from a seeded source, for tests and simulations.";
    }
}

static tacet_status save(const void *self, tacet_blob *out, tacet_error *err) {
    const bandit *j = self;
    tacet_blob privatizer, learner, basis;
    tacet_blob_init(&privatizer);
    tacet_blob_init(&learner);
    tacet_blob_init(&basis);
    tacet_status status = j->parts.ops->save(j->parts.self, &learner, err);
    if (status == TACET_OK && j->parts.ops->basis != NULL) {
        status = j->parts.ops->basis(j->parts.self, &basis, err);
    }
    if (status == TACET_OK) {
        status = j->batches != NULL ? tacet__batches_save(j->batches, &privatizer, err)
                                    : tacet__privatizer_save(j->privatizer, &privatizer, err);
    }
    if (status == TACET_OK) {
        tacet__writer w;
        tacet__write_begin(&w, out, j->parts.ops->name, STATE_VERSION);
        tacet__write_bytes(&w, basis.data, basis.size);
        tacet__write_u64(&w, j->parts.print);
        tacet__write_u64(&w, j->run.coin_seed);
        tacet__write_size(&w, j->run.open_most);
        tacet__write_u64(&w, j->given);
        tacet__write_u64s(&w, j->open, j->run.open_most);
        tacet__write_f64s(&w, j->chosen, j->d * j->run.open_most);
        tacet__write_u64(&w, j->queued);
        tacet__write_u64s(&w, j->queue, j->run.open_most);
        tacet__write_f64s(&w, j->reward, j->run.open_most);
        tacet__write_bytes(&w, learner.data, learner.size);
        tacet__write_bytes(&w, privatizer.data, privatizer.size);
        status = tacet__write_end(&w, err);
    }
    tacet_blob_clear(&privatizer);
    tacet_blob_clear(&learner);
    tacet_blob_clear(&basis);
    return status;
}

tacet_status tacet__central_policy_basis(const unsigned char **basis, size_t *basis_size, const char *name,
                                         const void *bytes, size_t size, tacet_error *err) {
    tacet__reader r;
    const tacet_status status = tacet__read_begin(&r, bytes, size, name, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    *basis_size = tacet__read_bytes(&r, basis);
    return r.failed ? tacet__fail(err, TACET_CORRUPT, "the state is damaged") : TACET_OK;
}

/* Tickets in a state: each given, none twice; reports that wait are of open ones, each with a place. */
static bool tickets_possible(const uint64_t *open, const uint64_t *queue, size_t count, uint64_t given,
                             uint64_t queued) {
    for (size_t i = 0; i < count; i++) {
        if (open[i] > given || queue[i] > queued || (queue[i] != 0 && open[i] == 0)) {
            return false;
        }
        for (size_t k = 0; open[i] != 0 && k < i; k++) {
            if (open[k] == open[i]) {
                return false;
            }
        }
    }
    return true;
}

static tacet_status load(void *self, const void *bytes, size_t size, tacet_error *err) {
    bandit *j = self;
    const size_t slots = j->run.open_most;
    tacet__reader r;
    tacet_status status = tacet__read_begin(&r, bytes, size, j->parts.ops->name, STATE_VERSION, err);
    if (status != TACET_OK) {
        return status;
    }
    const unsigned char *basis = NULL;
    (void)tacet__read_bytes(&r, &basis); /* read before the policy was made: tacet_central_state_features */
    if (tacet__read_u64(&r) != j->parts.print || tacet__read_u64(&r) != j->run.coin_seed ||
        tacet__read_u64(&r) != slots) {
        return tacet__fail(err, TACET_CORRUPT, "the state is of another study");
    }
    uint64_t *open = TACET__ZALLOC(uint64_t, 2 * slots), *queue = open + slots;
    double *chosen = TACET__ZALLOC(double, (j->d + 1) * slots), *reward = chosen + j->d * slots;
    tacet_blob undo;
    tacet_blob_init(&undo);
    if (open == NULL || chosen == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory to load a state");
        goto done;
    }
    const uint64_t given = tacet__read_u64(&r);
    tacet__read_u64s(&r, open, slots);
    tacet__read_f64s(&r, chosen, j->d * slots);
    const uint64_t queued = tacet__read_u64(&r);
    tacet__read_u64s(&r, queue, slots);
    tacet__read_f64s(&r, reward, slots);
    const unsigned char *learner = NULL, *privatizer = NULL;
    const size_t learner_size = tacet__read_bytes(&r, &learner), privatizer_size = tacet__read_bytes(&r, &privatizer);
    status = tacet__read_end(&r, err);
    if (status != TACET_OK) {
        goto done;
    }
    bool good = tickets_possible(open, queue, slots, given, queued);
    for (size_t i = 0; i < (j->d + 1) * slots; i++) {
        good = good && isfinite(chosen[i]);
    }
    if (!good) {
        status = tacet__fail(err, TACET_CORRUPT, "the state holds impossible tickets or points");
        goto done;
    }
    /* two objects must change together: the learner's old state is kept until the privatizer has taken the new one */
    status = j->parts.ops->save(j->parts.self, &undo, err);
    if (status == TACET_OK) {
        status = j->parts.ops->load(j->parts.self, learner, learner_size, err);
    }
    if (status != TACET_OK) {
        goto done;
    }
    status = j->batches != NULL ? tacet__batches_load(j->batches, privatizer, privatizer_size, err)
                                : tacet__privatizer_load(j->privatizer, privatizer, privatizer_size, err);
    if (status != TACET_OK) {
        (void)j->parts.ops->load(j->parts.self, undo.data, undo.size, NULL);
        goto done;
    }
    memcpy(j->open, open, slots * sizeof(uint64_t));
    memcpy(j->chosen, chosen, j->d * slots * sizeof(double));
    memcpy(j->queue, queue, slots * sizeof(uint64_t));
    memcpy(j->reward, reward, slots * sizeof(double));
    j->queued = queued;
    j->given = given;
done:
    if (chosen != NULL) {
        sodium_memzero(chosen, (j->d + 1) * slots * sizeof(double));
    }
    tacet_blob_clear(&undo);
    free(open);
    free(chosen);
    return status;
}

static void release(void *self) {
    bandit *j = self;
    if (j->parts.ops != NULL) {
        j->parts.ops->free(j->parts.self);
    }
    tacet__privatizer_free(j->privatizer);
    tacet__batches_free(j->batches);
    if (j->reward != NULL) {
        sodium_memzero(j->reward, j->run.open_most * sizeof(double));
    }
    free(j->reward);
    free(j->queue);
    if (j->chosen != NULL) {
        sodium_memzero(j->chosen, j->d * j->run.open_most * sizeof(double));
    }
    free(j->open);
    free(j->chosen);
    free(j->record);
    free(j->sums);
    free(j);
}

/* One table per kind, because the name is in it. */
static tacet_policy_ops ops_named(const char *name) {
    return (tacet_policy_ops){.name = name,
                              .suggest = suggest,
                              .observe = observe,
                              .recommend = recommend,
                              .guarantee = guarantee,
                              .save = save,
                              .load = load,
                              .free = release,
                              .drop = drop,
                              .repeat = repeat};
}

static tacet_status build(bandit **out, const tacet__central_parts *parts, const tacet__central_run *run,
                          const tacet_ask *ask, bool open, tacet_error *err) {
    *out = NULL;
    if (ask == NULL) {
        parts->ops->free(parts->self);
        return tacet__fail(err, TACET_INVALID, "a central policy needs a noise source and, unless seeded, a ledger");
    }
    bandit *j = TACET__ZALLOC(bandit, 1);
    if (j == NULL) {
        parts->ops->free(parts->self);
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy");
    }
    j->parts = *parts;
    j->run = *run;
    j->d = parts->d;
    j->dim = parts->dim;
    j->ops = ops_named(parts->ops->name);
    tacet_blob_init(&j->spare);
    tacet_status status = TACET_OK;
    if (!(run->open_most >= 1 && run->open_most <= 1000000)) {
        status = tacet__fail(err, TACET_INVALID, "open_most must be between 1 and a million");
        goto done;
    }
    j->open = TACET__ZALLOC(uint64_t, run->open_most);
    j->chosen = TACET__ZALLOC(double, j->d * run->open_most);
    j->record = TACET__ZALLOC(double, j->dim);
    j->sums = TACET__ZALLOC(double, j->dim);
    j->queue = TACET__ZALLOC(uint64_t, run->open_most);
    j->reward = TACET__ZALLOC(double, run->open_most);
    if (j->queue == NULL || j->reward == NULL || j->open == NULL || j->chosen == NULL || j->record == NULL ||
        j->sums == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "no memory for a central policy");
        goto done;
    }
    if (parts->ops->plan != NULL) {
        const tacet__batches_plan batches = {.most = j->dim,
                                             .sensitivity = parts->sensitivity,
                                             .proof = parts->proof,
                                             .rounds = run->rounds,
                                             .first_length = run->first_length,
                                             .growth = run->growth,
                                             .eps = run->eps,
                                             .delta = run->delta,
                                             .gaussian = run->gaussian};
        status = tacet__batches_create(&j->batches, &batches, ask, err);
        if (status == TACET_OK && open) {
            status = plan_batch(j, err);
        }
        goto done;
    }
    const tacet__privatizer_plan plan = {.dim = j->dim,
                                         .sensitivity = parts->sensitivity,
                                         .radius = parts->radius,
                                         .proof = parts->proof,
                                         .rounds = run->rounds,
                                         .first_length = run->first_length,
                                         .growth = run->growth,
                                         .eps = run->eps,
                                         .delta = run->delta,
                                         .factorization = run->factorization,
                                         .replay = run->replay};
    status = tacet__privatizer_create(&j->privatizer, &plan, ask, open, err); /* last: it charges the ledger */
done:
    if (status != TACET_OK) {
        release(j);
        return status;
    }
    *out = j;
    return TACET_OK;
}

tacet_status tacet__central_policy_create(tacet_policy **out, const tacet__central_parts *parts,
                                          const tacet__central_run *run, const tacet_ask *ask, tacet_error *err) {
    bandit *j = NULL;
    tacet_status status = build(&j, parts, run, ask, true, err);
    return status == TACET_OK ? tacet_policy_wrap(out, &j->ops, j, err) : status;
}

tacet_status tacet__central_policy_restore(tacet_policy **out, const tacet__central_parts *parts,
                                           const tacet__central_run *run, const tacet_ask *ask, const void *bytes,
                                           size_t size, tacet_error *err) {
    bandit *j = NULL;
    tacet_status status = build(&j, parts, run, ask, false, err);
    if (status != TACET_OK) {
        return status;
    }
    status = load(j, bytes, size, err);
    if (status != TACET_OK) {
        release(j);
        return status;
    }
    return tacet_policy_wrap(out, &j->ops, j, err);
}

tacet_status tacet__central_policy_model(tacet_release **out, const tacet__central_parts *parts,
                                         const tacet__central_run *run, const tacet_ask *ask, const void *bytes,
                                         size_t size, void (*look)(void *self, uint64_t rounds, void *user), void *user,
                                         tacet_error *err) {
    bandit *j = NULL;
    tacet_status status = build(&j, parts, run, ask, false, err);
    if (status != TACET_OK) {
        return status;
    }
    status = load(j, bytes, size, err);
    if (status == TACET_OK) {
        status = refresh(j, err);
    }
    if (status == TACET_OK) {
        status = j->batches != NULL ? tacet__batches_last(j->batches, out, err)
                                    : tacet_stream_release(tacet__privatizer_stream(j->privatizer), out, err);
    }
    if (status == TACET_OK) {
        look(j->parts.self,
             j->batches != NULL ? tacet__batches_ended(j->batches) : tacet__privatizer_ended(j->privatizer), user);
    }
    release(j);
    return status;
}
