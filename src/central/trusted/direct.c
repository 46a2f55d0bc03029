/* SPDX-License-Identifier: Apache-2.0 */
/* direct.c - joint DP over a space or a list, without contexts: rewards are released at once, with Laplace noise.
 * Ring: trusted: rewards that wait for their release are private. Source: the Laplace mechanism (Dwork and others 2006)
 * on sums of disjoint records; the learner is open/direct_learner.c. Proof: README.md, (f). Cost: a report is one draw
 * and two durable writes; a plan that of the learner, once in T/40 rounds. */
#include "space/internal.h"
#include "gp/kernel_internal.h"
#include "contextual/open/internal.h"
#include "central/trusted/direct.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/noise.h>

#include "central/open/direct_learner.h"
#include "central/trusted/direct_internal.h"
#include "central/trusted/gate.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"
#include "core/tickets.h"
#include "gp/linalg.h"

static const char PROOF[] = "src/central/README.md";
static const char NAME[] = "direct";
enum { PRINT_BYTES = 32, TEXT_ROOM = 256, NODES = 512 }; /* of a released model */
static const double MODEL_RIDGE = 1e-4; /* of the kernel's variance: what a released model may differ by at a node */
static const double MISSING = 0.5;      /* what a round that never reports counts as, mapped to [0, 1] */

typedef struct direct {
    tacet_space space;
    tacet_central_direct_settings set;
    tacet_ask ask; /* texts below */
    char ticket[TACET_TICKET_MOST + 1], what[TEXT_ROOM], to_whom[TEXT_ROOM];
    bool seeded;
    uint64_t seed;
    tacet__batch_gate *gate;
    tacet__direct_learner *learner;
    unsigned char print[PRINT_BYTES];
    tacet__tickets t;
    uint64_t visits; /* a visit: `each` rounds in a row at one point, the last one those that are left, too */
    double *reward;  /* rounds: of those that wait, mapped to [0, 1]: private */
    uint64_t *codes; /* visits: where each was played */
    double *value;   /* visits: the noisy sum that was released; NaN: none yet */
    uint64_t *queue; /* points that are planned */
    size_t queued, next;
    /* scratch: what the learner is told */
    uint64_t *told, *open;
    double *values;
} direct;

void tacet_central_direct_settings_defaults(tacet_central_direct_settings *settings) {
    *settings = (tacet_central_direct_settings){.reward_hi = 1, .open_most = 64, .each = 1, .coin_seed = 1};
}

static uint64_t visit_of(const direct *d, uint64_t round) {
    const uint64_t visit = round / d->set.each;
    return visit < d->visits ? visit : d->visits - 1;
}

/* Rounds of a visit: from `*first` on to before what is returned. */
static uint64_t rounds_of(const direct *d, uint64_t *first, uint64_t visit) {
    *first = visit * d->set.each;
    return visit + 1 < d->visits ? *first + d->set.each : d->set.rounds;
}

/* Whether all rounds of a visit wait for their release. Rounds of a visit are released together. */
static bool is_ready(const direct *d, uint64_t visit) {
    uint64_t i = 0;
    const uint64_t end = rounds_of(d, &i, visit);
    while (i < end && i < d->t.given && d->t.open[i] == 0) {
        i++;
    }
    return i == end && isnan(d->value[visit]);
}

/* The noisy sum of a visit's rewards, the same however often it is asked for. */
static tacet_status release_visit(direct *d, double *out, uint64_t visit, tacet_error *err) {
    char of[64];
    double var = 0, sum = 0;
    tacet_noise *noise = NULL;
    tacet_release *release = NULL;
    uint64_t first = 0;
    const uint64_t end = rounds_of(d, &first, visit);
    for (uint64_t i = first; i < end; i++) {
        sum += d->reward[i]; /* multiples of TACET__BATCH_QUANTUM: exact in any order */
    }
    (void)snprintf(of, sizeof of, "rounds %llu to %llu", (unsigned long long)first + 1, (unsigned long long)end);
    tacet_status status = d->seeded ? tacet_noise_open_seeded(&noise, d->seed, visit, err) : TACET_OK;
    d->ask.noise = noise;
    TACET_THEN(status, tacet__batch_gate_run(d->gate, &release, &var, &d->ask, visit + 1, of, &sum, 1, err));
    d->ask.noise = NULL;
    if (status == TACET_OK) {
        *out = tacet_release_values(release)[0];
    }
    tacet_release_free(release);
    tacet_noise_close(noise);
    return status;
}

/* All visits that are complete. All or nothing: what was released is in the ledger, and released again the same. */
static tacet_status release_ready(direct *d, tacet_error *err) {
    tacet_status status = TACET_OK;
    for (uint64_t v = 0; v < d->visits && v * d->set.each < d->t.given && status == TACET_OK; v++) {
        d->values[v] = (double)NAN;
        if (is_ready(d, v)) {
            status = release_visit(d, &d->values[v], v, err);
        }
    }
    for (uint64_t v = 0; v < d->visits && v * d->set.each < d->t.given && status == TACET_OK; v++) {
        if (!isnan(d->values[v])) {
            uint64_t i = 0;
            for (const uint64_t end = rounds_of(d, &i, v); i < end; i++) {
                d->reward[i] = 0;
            }
            d->value[v] = d->values[v];
        }
    }
    return status;
}

/* What the learner may know: means of released visits, in their order, and points without a release. */
static size_t tell_learner(direct *d, size_t *open_count) {
    size_t n = 0;
    *open_count = 0;
    for (uint64_t v = 0; v < d->visits && v * d->set.each < d->t.given; v++) {
        if (!isnan(d->value[v])) {
            uint64_t first = 0;
            const uint64_t end = rounds_of(d, &first, v);
            d->told[n] = d->codes[v];
            d->values[n++] = d->value[v] / (double)(end - first);
        } else {
            d->open[(*open_count)++] = d->codes[v];
        }
    }
    return n;
}

static uint64_t released_rounds(const direct *d) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < d->t.given; i++) {
        n += isnan(d->value[visit_of(d, i)]) ? 0 : 1;
    }
    return n;
}

static tacet_status begin_round(direct *d, const tacet_round *round, tacet_error *err) {
    if (round->points != NULL || round->context != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID,
                           "rewards are released directly only without contexts and decision sets: a round is empty");
    }
    tacet_status status = tacet__tickets_left(&d->t, err);
    if (status == TACET_OK && tacet__tickets_open(&d->t) >= d->set.open_most) {
        status = tacet__fail(err, TACET_STATE, "%zu tickets are open: report one first", d->set.open_most);
    }
    TACET_THEN(status, release_ready(d, err));
    return status;
}

static bool begins_visit(const direct *d) {
    return d->t.given == visit_of(d, d->t.given) * d->set.each;
}

static void give(direct *d, uint64_t code) {
    if (begins_visit(d)) {
        d->codes[visit_of(d, d->t.given)] = code;
        d->value[visit_of(d, d->t.given)] = (double)NAN;
    }
    d->reward[d->t.given] = 0;
    (void)tacet__tickets_give(&d->t, 0);
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    direct *d = self;
    tacet_status status = begin_round(d, round, err);
    if (status == TACET_OK && begins_visit(d) && d->next == d->queued) {
        size_t open = 0, count = 0;
        const size_t n = tell_learner(d, &open);
        status = tacet__direct_learner_plan(d->learner, d->queue, &count, d->told, d->values, n, d->open, open,
                                            visit_of(d, d->t.given), err);
        d->queued = status == TACET_OK ? count : d->next;
        d->next = status == TACET_OK ? 0 : d->next;
    }
    if (status != TACET_OK) {
        return status;
    }
    const uint64_t code = begins_visit(d) ? d->queue[d->next++] : d->codes[visit_of(d, d->t.given)];
    *out = (tacet_suggestion){.index = (size_t)code, .ticket = d->t.given + 1};
    give(d, code);
    return TACET_OK;
}

static tacet_status repeat(void *self, const tacet_suggestion *made, const tacet_round *round, tacet_error *err) {
    direct *d = self;
    if (made->ticket != d->t.given + 1 || made->index >= tacet__direct_learner_arms(d->learner)->count ||
        (d->t.given < d->set.rounds && !begins_visit(d) && made->index != d->codes[visit_of(d, d->t.given)])) {
        return tacet__fail(err, TACET_CORRUPT, "ticket %llu is not the next, or there is no such point",
                           (unsigned long long)made->ticket);
    }
    const tacet_status status = begin_round(d, round, err);
    if (status == TACET_OK) {
        d->next += begins_visit(d) && d->next < d->queued ? 1 : 0;
        give(d, made->index);
    }
    return status;
}

/* Whoever drops a ticket reports the middle of the range. A release that fails leaves the ticket open. */
static tacet_status report(direct *d, uint64_t ticket, double v, tacet_error *err) {
    const tacet__tickets before = d->t;
    size_t about = 0;
    tacet_status status = tacet__tickets_find(&d->t, &about, ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    d->reward[ticket - 1] = rint(v / TACET__BATCH_QUANTUM) * TACET__BATCH_QUANTUM;
    tacet__tickets_close(&d->t, ticket, true);
    status = d->t.given == d->t.horizon ? release_ready(d, err) : TACET_OK;
    if (status != TACET_OK) {
        d->reward[ticket - 1] = 0;
        d->t = before;
        d->t.open[ticket - 1] = 1;
    }
    return status;
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    direct *d = self;
    const double v = (value - d->set.reward_lo) / (d->set.reward_hi - d->set.reward_lo);
    return report(d, ticket, fmin(fmax(v, 0), 1), err); /* the bound that the noise is for */
}

static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    return report(self, ticket, MISSING, err);
}

static tacet_status none_yet(const direct *d, tacet_error *err) {
    const uint64_t first = d->visits > 1 ? d->set.each : d->set.rounds;
    return tacet__fail(err, TACET_STATE,
                       "nothing was released yet: the first sum needs the reports of %llu rounds, of which %llu were "
                       "suggested",
                       (unsigned long long)first, (unsigned long long)(d->t.given < first ? d->t.given : first));
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    direct *d = self;
    size_t open = 0;
    const double range = d->set.reward_hi - d->set.reward_lo;
    const size_t n = tell_learner(d, &open);
    if (n == 0) {
        return none_yet(d, err);
    }
    uint64_t code = 0;
    tacet_recommendation best = {.measured = SIZE_MAX};
    TACET_OR_RETURN(tacet__direct_learner_best(d->learner, &code, &best.mean, &best.sd, d->told, d->values, n, err));
    best.index = (size_t)code;
    best.mean = d->set.reward_lo + range * best.mean;
    best.sd *= range;
    *out = best;
    return TACET_OK;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    const direct *d = self;
    *out = (tacet_guarantee){.trust = TACET_TRUST_CENTRAL,
                             .proven = !d->seeded,
                             .eps = d->seeded ? INFINITY : d->set.eps,
                             .delta = d->seeded ? 1 : 0,
                             .pure_eps = d->seeded ? 0 : d->set.eps,
                             .protects = "the reward of one round, towards everybody",
                             .statement =
                                 d->seeded ? "Not private: the noise comes from a seeded source."
                                           : "What all others see hardly changes when one round's reward is replaced.",
                             .proof = PROOF};
}

/* Whether rounds can be as they are said to be: those of a visit are released together, when all are closed. */
static bool rounds_possible(const direct *d) {
    const uint64_t points = tacet__direct_learner_arms(d->learner)->count;
    for (uint64_t i = 0; i < d->t.given; i++) {
        const uint64_t v = visit_of(d, i);
        uint64_t first = 0;
        const bool whole = rounds_of(d, &first, v) <= d->t.given, released = !isnan(d->value[v]);
        if (d->codes[v] >= points || !(d->reward[i] >= 0 && d->reward[i] <= 1) || isinf(d->value[v]) ||
            (released && (!whole || d->t.open[i] != 0))) {
            return false;
        }
    }
    return tacet__tickets_open(&d->t) <= d->set.open_most;
}

static void state(void *self, tacet__state *s) {
    direct *d = self;
    const uint64_t points = tacet__direct_learner_arms(d->learner)->count;
    size_t queued = d->queued - d->next;
    tacet__state_same(s, "problem", d->print, PRINT_BYTES);
    tacet__state_same(s, "ticket", d->ticket, strlen(d->ticket));
    tacet__state_u64(s, "seed", &d->seed, UINT64_MAX);
    tacet__tickets_state(&d->t, s, 1, true);
    const size_t visits = d->t.given > 0 ? (size_t)visit_of(d, d->t.given - 1) + 1 : 0;
    tacet__state_f64s(s, "rewards", d->reward, d->t.given);
    tacet__state_u64s(s, "points", d->codes, visits, points - 1);
    tacet__state_any_f64s(s, "values", d->value, visits);
    tacet__state_size(s, "queued", &queued, tacet__direct_learner_ahead(d->learner));
    if (tacet__state_taking(s)) {
        d->next = 0;
    }
    tacet__state_u64s(s, "queue", d->queue + d->next, queued, points - 1);
    if (tacet__state_taking(s)) {
        tacet__state_require(s, "rounds", rounds_possible(d));
        d->queued = queued;
    }
}

static void free_direct(void *self) {
    direct *d = self;
    if (d == NULL) {
        return;
    }
    if (d->reward != NULL) {
        sodium_memzero(d->reward, (size_t)d->set.rounds * sizeof(double));
    }
    tacet__batch_gate_free(d->gate);
    tacet__direct_learner_free(d->learner);
    tacet_space_clear(&d->space);
    free(d->codes);
    tacet__tickets_clear(&d->t);
    free(d->reward);
    free(d->value);
    free(d->queue);
    free(d->told);
    free(d->open);
    free(d->values);
    free(d);
}

static const tacet__policy_ops OPS = {.name = NAME,
                                      .suggest = suggest,
                                      .observe = observe,
                                      .recommend = recommend,
                                      .guarantee = guarantee,
                                      .state = state,
                                      .free = free_direct,
                                      .drop = drop,
                                      .repeat = repeat};

static tacet_status check(const tacet_central_arms *arms, const tacet_central_direct_settings *s, const tacet_ask *ask,
                          tacet_error *err) {
    if (arms == NULL || s == NULL || ask == NULL || ask->ticket == NULL || ask->what == NULL || ask->to_whom == NULL) {
        return tacet__fail(err, TACET_INVALID, "a study needs points, settings, a ticket and its words");
    }
    if (s->rounds == 0 || s->rounds > TACET_CENTRAL_DIRECT_ROUNDS || s->open_most == 0) {
        return tacet__fail(err, TACET_INVALID, "rounds must be between 1 and %d, open_most at least 1",
                           TACET_CENTRAL_DIRECT_ROUNDS);
    }
    if (s->each == 0 || s->each > s->rounds || s->rounds / s->each > TACET_CENTRAL_DIRECT_VISITS) {
        return tacet__fail(err, TACET_INVALID,
                           "a point is played at least once, at most in all rounds, and there are at most %d points",
                           TACET_CENTRAL_DIRECT_VISITS);
    }
    if (s->earlier == NULL && s->earlier_count > 0) {
        return tacet__fail(err, TACET_INVALID, "earlier values are missing");
    }
    if (!(s->reward_lo < s->reward_hi && isfinite(s->reward_lo) && isfinite(s->reward_hi))) {
        return tacet__fail(err, TACET_INVALID, "the range of rewards must have its low end below its high end");
    }
    if (strlen(ask->ticket) + 24 > TACET_TICKET_MOST || strlen(ask->what) >= TEXT_ROOM ||
        strlen(ask->to_whom) >= TEXT_ROOM) {
        return tacet__fail(err, TACET_INVALID, "the ticket is too long to be numbered by round, or a text too long");
    }
    return tacet_ask_check(ask, err);
}

/* Texts are copied; of seeded noise a key is taken, so that a study that is taken up again repeats its releases. */
static tacet_status copy_ask(direct *d, const tacet_ask *ask, tacet_error *err) {
    (void)snprintf(d->ticket, sizeof d->ticket, "%s", ask->ticket);
    (void)snprintf(d->what, sizeof d->what, "%s", ask->what);
    (void)snprintf(d->to_whom, sizeof d->to_whom, "%s", ask->to_whom);
    d->ask = (tacet_ask){
        .ledger = ask->ledger, .ticket = d->ticket, .what = d->what, .to_whom = d->to_whom, .covered_fields = "reward"};
    d->seeded = !tacet_ask_is_private(ask);
    if (!d->seeded) {
        return TACET_OK;
    }
    tacet_sampler sampler;
    double draw = 0;
    tacet_status status = tacet_sampler_init(&sampler, "gaussian", 1, 40, err);
    TACET_THEN(status, tacet_sampler_draw(&sampler, ask->noise, &draw, 1, err));
    memcpy(&d->seed, &draw, sizeof d->seed);
    return status;
}

/* States are of one space and one plan. */
static void make_print(direct *d) {
    const tacet__arms *arms = tacet__direct_learner_arms(d->learner);
    const double numbers[] = {d->set.eps,       (double)d->set.rounds,    d->set.reward_lo,
                              d->set.reward_hi, (double)d->set.open_most, (double)d->set.each};
    crypto_generichash_state hash;
    (void)crypto_generichash_init(&hash, NULL, 0, PRINT_BYTES);
    (void)crypto_generichash_update(&hash, (const unsigned char *)numbers, sizeof numbers);
    (void)crypto_generichash_update(&hash, (const unsigned char *)&d->set.coin_seed, sizeof d->set.coin_seed);
    for (size_t i = 0; i < d->set.earlier_count; i++) {
        const tacet_central_earlier *e = &d->set.earlier[i];
        const double known[] = {(double)e->index, e->value, e->sd};
        (void)crypto_generichash_update(&hash, (const unsigned char *)known, sizeof known);
    }
    if (arms->points != NULL) {
        (void)crypto_generichash_update(&hash, (const unsigned char *)arms->points,
                                        arms->dims * arms->count * sizeof(double));
    }
    for (size_t i = 0; i < d->space.count; i++) {
        const tacet_space_column *c = &d->space.columns[i];
        const double column[] = {(double)c->kind, c->lo, c->hi, c->unit, (double)c->level_count};
        (void)crypto_generichash_update(&hash, (const unsigned char *)column, sizeof column);
        (void)crypto_generichash_update(&hash, (const unsigned char *)c->name, strlen(c->name) + 1);
        for (size_t k = 0; k < c->level_count; k++) {
            (void)crypto_generichash_update(&hash, (const unsigned char *)c->levels[k], strlen(c->levels[k]) + 1);
        }
    }
    (void)crypto_generichash_final(&hash, d->print, PRINT_BYTES);
}

static tacet_status build(direct *d, const tacet_central_arms *given, const tacet_ask *ask, tacet_error *err) {
    const size_t rounds = (size_t)d->set.rounds, visits = (size_t)(d->set.rounds / d->set.each);
    const double each = (double)d->set.each, scale = 1 / (d->set.eps * each);
    const tacet__batch_terms terms = {
        .eps = d->set.eps, .sensitivity = 1, .longest = 2 * each, .few = tacet__batch_few(ask), .proof = PROOF};
    const tacet__direct_settings learner = {.visits = visits,
                                            .each = each,
                                            .noise_var = 2 * scale * scale,
                                            .coin_seed = d->set.coin_seed,
                                            .earlier = d->set.earlier,
                                            .earlier_count = d->set.earlier_count,
                                            .lo = d->set.reward_lo,
                                            .range = d->set.reward_hi - d->set.reward_lo};
    const tacet_central_arms arms = {given->space != NULL ? &d->space : NULL, given->points, given->dims, given->count};
    tacet_status status = tacet__batch_gate_create(&d->gate, &terms, err);
    TACET_THEN(status, tacet__direct_learner_create(&d->learner, &arms, &learner, err));
    if (status != TACET_OK) {
        return status;
    }
    d->visits = visits;
    d->reward = TACET__ZALLOC(double, rounds);
    d->codes = TACET__ZALLOC(uint64_t, visits);
    d->value = TACET__ZALLOC(double, visits);
    d->told = TACET__ZALLOC(uint64_t, visits);
    d->open = TACET__ZALLOC(uint64_t, visits);
    d->values = TACET__ZALLOC(double, visits);
    d->queue = TACET__ZALLOC(uint64_t, tacet__direct_learner_ahead(d->learner));
    if (d->codes == NULL || d->reward == NULL || d->value == NULL || d->told == NULL || d->open == NULL ||
        d->values == NULL || d->queue == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a study of %zu rounds", rounds);
    }
    make_print(d);
    d->set.earlier = NULL; /* the caller's */
    status = tacet__tickets_init(&d->t, rounds, err);
    TACET_THEN(status, copy_ask(d, ask, err));
    return status;
}

tacet_status tacet_central_direct_policy(tacet_policy **out, const tacet_central_arms *arms,
                                         const tacet_central_direct_settings *settings, const tacet_ask *ask,
                                         tacet_error *err) {
    if (out == NULL) {
        return tacet__fail(err, TACET_INVALID, "no place for the policy");
    }
    *out = NULL;
    TACET_OR_RETURN(check(arms, settings, ask, err));
    direct *d = TACET__ZALLOC(direct, 1);
    if (d == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "no memory for a policy");
    }
    d->set = *settings;
    tacet_space_init(&d->space);
    tacet_status status = arms->space != NULL ? tacet_space_copy(&d->space, arms->space, err) : TACET_OK;
    TACET_THEN(status, build(d, arms, ask, err));
    if (status != TACET_OK) {
        free_direct(d);
        return status;
    }
    return tacet__policy_wrap(out, &OPS, d, err);
}

tacet_status tacet_central_direct_record(const tacet_policy *policy, double *record, size_t index, tacet_error *err) {
    const direct *d = policy != NULL ? tacet__policy_self(policy, &OPS) : NULL;
    const tacet__arms *arms = d != NULL ? tacet__direct_learner_arms(d->learner) : NULL;
    if (arms == NULL || record == NULL || arms->points != NULL || index >= arms->count) {
        return tacet__fail(err, TACET_INVALID, "there is no such point");
    }
    tacet__lattice_record(&arms->lattice, record, index);
    return TACET_OK;
}

uint64_t tacet_central_direct_tickets_left(const tacet_policy *policy) {
    const direct *d = policy != NULL ? tacet__policy_self(policy, &OPS) : NULL;
    if (d == NULL || d->t.given == d->set.rounds) {
        return 0;
    }
    uint64_t first = 0;
    const uint64_t end = rounds_of(d, &first, visit_of(d, d->t.given)), left = d->set.rounds - d->t.given;
    const uint64_t planned = d->t.given == 0 ? tacet__direct_learner_first(d->learner) : d->queued - d->next;
    const uint64_t tickets = planned * d->set.each + (begins_visit(d) ? 0 : end - d->t.given);
    return tickets < left ? tickets : left;
}

/* Weights of kernel functions at the nodes (dims x n) whose sum is the posterior mean there, nearly. */
static tacet_status fit_nodes(direct *d, double *weights, double *error, const tacet_kernel *kernel,
                              const double *nodes, size_t n, tacet_error *err) {
    size_t open = 0;
    const tacet__arms *arms = tacet__direct_learner_arms(d->learner);
    const size_t released = tell_learner(d, &open), dims = arms->dims;
    const double range = d->set.reward_hi - d->set.reward_lo;
    double *K = TACET__ZALLOC(double, n *n), *own = TACET__ZALLOC(double, n *dims);
    tacet_status status = released == 0              ? none_yet(d, err)
                          : K == NULL || own == NULL ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a model")
                                                     : TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < n; i++) {
        memcpy(own + i * dims, nodes + i * dims, dims * sizeof(double));
        tacet__arms_map(arms, own + i * dims);
    }
    TACET_THEN(status,
               tacet__direct_learner_means(d->learner, weights, error, own, n, d->told, d->values, released, err));
    if (status == TACET_OK) {
        tacet_kernel_matrix(kernel, K, n, nodes, dims, n, nodes, dims, n);
        for (size_t i = 0; i < n; i++) {
            K[i + i * n] += MODEL_RIDGE;
            weights[i] = range * (weights[i] - 0.5);
        }
        status = tacet__cholesky(K, n, n, NULL, NULL, err);
    }
    if (status == TACET_OK) {
        tacet__chol_solve(n, K, n, weights);
        *error *= range;
    }
    free(K);
    free(own);
    return status;
}

tacet_status tacet_central_direct_model(tacet_contextual_model **out, const tacet_policy *policy,
                                        const tacet_kernel *kernel, const tacet_contextual_parts *about,
                                        const double *points, size_t count, tacet_error *err) {
    direct *d = tacet__policy_self(policy, &OPS);
    *out = NULL;
    const tacet_kernel_spec *k = tacet_kernel_describe(kernel);
    const size_t dims = tacet__direct_learner_arms(d->learner)->dims, n = count < NODES ? count : NODES;
    if ((k->kind != TACET_KERNEL_SE && !(k->kind == TACET_KERNEL_MATERN && k->matern_p >= 1 && k->matern_p <= 2)) ||
        k->d != dims || dims > TACET_CONTEXTUAL_COORDINATES_MOST) {
        return tacet__fail(err, TACET_UNSUPPORTED, "a model is of at most %d coordinates, se, matern32 or matern52",
                           (int)TACET_CONTEXTUAL_COORDINATES_MOST);
    }
    double scales[TACET_CONTEXTUAL_COORDINATES_MOST], error = 0;
    double *nodes = TACET__ZALLOC(double, n *dims), *weights = TACET__ZALLOC(double, n);
    tacet_status status =
        nodes == NULL || weights == NULL ? tacet__fail(err, TACET_NO_MEMORY, "no memory for a model") : TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < n; i++) { /* as even as the points are */
        memcpy(nodes + i * dims, points + i * count / n * dims, dims * sizeof(double));
    }
    TACET_THEN(status, fit_nodes(d, weights, &error, kernel, nodes, n, err));
    for (size_t i = 0; status == TACET_OK && i < n * dims; i++) {
        const size_t c = i % dims;
        nodes[i] = (nodes[i] - about->lower[c]) / (about->upper[c] - about->lower[c]);
        scales[c] = k->lengthscales[k->lengthscale_count == 1 ? 0 : c];
    }
    if (status == TACET_OK) {
        const bool down = about->minimize;
        const double lo = d->set.reward_lo, hi = d->set.reward_hi;
        tacet_contextual_parts parts = *about;
        parts.action_dim = dims;
        parts.kind = k->kind;
        parts.matern_p = k->matern_p;
        parts.lengthscales = scales;
        parts.nodes = nodes;
        parts.weights = weights;
        parts.count = n;
        parts.offset = lo / 2 + hi / 2;
        parts.is_private = !d->seeded;
        parts.eps = d->set.eps;
        parts.rounds = released_rounds(d);
        parts.range[0] = down ? -hi : lo;
        parts.range[1] = down ? -lo : hi;
        parts.predicted_error = error;
        status = tacet_contextual_model_create(out, &parts, err);
    }
    free(nodes);
    free(weights);
    return status;
}

double tacet__direct_released(const tacet_policy *policy, uint64_t ticket) {
    const direct *d = tacet__policy_self(policy, &OPS);
    return d != NULL && ticket > 0 && ticket <= d->t.given ? d->value[visit_of(d, ticket - 1)] : (double)NAN;
}
