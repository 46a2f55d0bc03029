/* SPDX-License-Identifier: Apache-2.0 */
/* study.c - a running A/B test as a policy: fair coins, epochs with one release each, the test after each of them.
 * Ring: trusted. Proof of privacy and of the test: src/ab/README.md, "May I stop?". Source: see ab/open/stopping.c.
 * Epochs count suggestions, and a ticket without a report adds 0, because reporting is private too. Cost: a
 * suggestion is one coin; the end of an epoch one draw an arm. */
#include "ab/trusted/study_internal.h"

#include "tally/gate.h"
#include "contextual/trusted/internal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { ROUNDS_MOST = 1 << 22, SHORTEST = 4 }; /* a last epoch has at least this part of the first, or is left out */
static const char NAME[] = TACET__AB_STUDY_NAME;
static const char PROOF[] = "src/ab/README.md, May I stop?";
static const double SENSITIVITY = 1; /* a ticket's reward moves one sum, by at most 1: its arm is public and stays */
static const double SCALE_MARGIN = 1.01; /* the gate charges its grid, below 2^-10 of the noise */

void tacet_ab_study_settings_defaults(tacet_ab_study_settings *settings) {
    *settings = (tacet_ab_study_settings){.upper = 1, .alpha = 0.05, .typical = NAN, .coin_seed = 1};
}

/* The coin of a ticket: a function of the public seed and the ticket's number, of nothing else. */
static size_t arm_of(const tacet__ab_study *u, uint64_t ticket) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, u->settings.coin_seed, ticket);
    return tacet_simrng_below(&rng, u->settings.arms);
}

static void study_free(void *self) {
    tacet__ab_study *u = self;
    if (u != NULL) {
        tacet_ab_test_free(u->test);
        free(u->reported);
        sodium_memzero(u, sizeof *u);
        free(u);
    }
}

/* --- epochs ------------------------------------------------------------------------------------------------------ */

static size_t full_size(const tacet__ab_study *u) {
    const size_t size = u->begin == 0 ? u->settings.first : tacet_ab_epoch_size(u->settings.arms, u->begin);
    return size > u->settings.late ? size : u->settings.late; /* tickets waited for belong to the next epoch alone */
}

tacet_status tacet__ab_study_plan(tacet__ab_study *u, tacet_error *err) {
    const size_t late = u->settings.late, full = full_size(u);
    const size_t left = u->settings.rounds - u->begin;
    const size_t rest = left > late + 1 ? left - late - 1 : 0; /* all but the last round, and those waited for */
    char part[64];
    size_t records = 0;
    u->size = full;
    if (rest < full && rest >= u->settings.first / SHORTEST && rest >= late) {
        u->size = rest;
    }
    (void)snprintf(part, sizeof part, "epoch %zu", u->epoch);
    const tacet_status status = tacet__contextual_begun_records(&records, &u->ask, part, err);
    if (records > 0 && records <= full) {
        u->size = records; /* it ended with these, under whatever horizon it had then */
    }
    return status;
}

tacet_status tacet__ab_study_test(tacet_ab_test **out, const tacet__ab_study *u, const tacet__ab_released *released,
                                  size_t epochs, tacet_error *err) {
    const tacet_ab_study_settings *s = &u->settings;
    tacet_ab_test_settings t;
    tacet_ab_test_settings_defaults(&t);
    t.arms = s->arms;
    t.alpha = s->alpha;
    t.typical = isnan(s->typical) ? 0.5 : (s->typical - s->lower) / (s->upper - s->lower);
    *out = NULL;
    tacet_status status =
        tacet_mechanism_scale_for(&t.scale, TACET_MECHANISM_LAPLACE, s->eps, 0, SENSITIVITY, s->arms, err);
    t.scale *= SCALE_MARGIN;
    TACET_THEN(status, tacet_ab_test_create(out, &t, err));
    for (size_t e = 0; e < epochs && status == TACET_OK; e++) {
        const tacet_ab_epoch epoch = {released[e].sums, released[e].tickets, released[e].scale, released[e].grid};
        status = tacet_ab_test_add(*out, &epoch, err);
    }
    if (status != TACET_OK) {
        tacet_ab_test_free(*out);
        *out = NULL;
    }
    return status;
}

/* The current epoch's sums through the gate. Epochs are of disjoint tickets, and are a group in the ledger. */
static tacet_status draw_epoch(tacet__ab_study *u, tacet_release **out, tacet_error *err) {
    char ticket[TACET_TICKET_MOST + 1], group[TACET_TICKET_MOST + 1], part[64];
    double sums[TACET_AB_ARMS_MOST];
    tacet_ask ask = u->ask;
    tacet_raw *raw = NULL;
    (void)snprintf(part, sizeof part, "epoch %zu", u->epoch);
    (void)snprintf(ticket, sizeof ticket, "%.130s/%.60s", u->ask.ticket, part);
    (void)snprintf(group, sizeof group, "ab %.150s", u->ask.ticket);
    ask.ticket = ticket;
    ask.group = group;
    ask.part = part;
    ask.records = u->size;
    for (size_t i = 0; i < u->settings.arms; i++) {
        sums[i] = (double)u->now.steps[i] / TACET__AB_STUDY_ONE; /* exact: below 2^44 steps */
    }
    tacet_status status = tacet_raw_create(&raw, u->settings.arms, err);
    TACET_THEN(status, tacet_raw_set(raw, sums, u->settings.arms, err));
    if (status == TACET_OK) {
        const tacet__tally_sums s = {.raw = raw,
                                     .count = u->settings.arms,
                                     .norm = (double)u->size,
                                     .sensitivity = SENSITIVITY,
                                     .eps = u->settings.eps,
                                     .proof = PROOF};
        status = tacet__tally_release(out, &s, &ask, err);
    }
    tacet_raw_free(raw);
    sodium_memzero(sums, sizeof sums);
    return status;
}

static tacet_status end_epoch(tacet__ab_study *u, tacet_error *err) {
    tacet_release *release = NULL;
    tacet__ab_released *r = &u->released[u->epoch];
    if (u->epoch == TACET__AB_STUDY_EPOCHS) {
        return tacet__fail(err, TACET_STATE, "the study has had its %d epochs", (int)TACET__AB_STUDY_EPOCHS);
    }
    tacet_status status = draw_epoch(u, &release, err);
    if (status == TACET_OK) {
        const tacet_receipt *receipt = tacet_release_receipt(release);
        for (size_t i = 0; i < u->settings.arms; i++) {
            r->sums[i] = tacet_release_values(release)[i];
            r->tickets[i] = (double)u->now.tickets[i];
        }
        r->scale = receipt->scale;
        r->grid = ldexp(1, receipt->grid_exponent);
        const tacet_ab_epoch epoch = {r->sums, r->tickets, r->scale, r->grid};
        status = tacet_ab_test_add(u->test, &epoch, err);
    }
    tacet_release_free(release);
    if (status != TACET_OK) {
        return status;
    }
    u->now = u->next;
    sodium_memzero(&u->next, sizeof u->next);
    u->begin += u->size;
    u->epoch++;
    return tacet__ab_study_plan(u, err);
}

/* --- the policy -------------------------------------------------------------------------------------------------- */

/* The next suggestion begins with it. */
static bool release_is_due(const tacet__ab_study *u) {
    return u->suggested == u->begin + u->size + u->settings.late;
}

/* Where a ticket of the current epoch, or of those after it, is counted; NULL: it was released, or left out. */
static tacet__ab_counts *counts_of(tacet__ab_study *u, size_t k) {
    return k < u->begin ? NULL : k < u->begin + u->size ? &u->now : &u->next;
}

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    tacet__ab_study *u = self;
    if (round->points != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "%s has fixed arms, and no context", NAME);
    }
    if (u->suggested == u->settings.rounds) {
        return tacet__fail(err, TACET_STATE, "the horizon of %zu suggestions is over", u->settings.rounds);
    }
    if (release_is_due(u)) {
        const tacet_status status = end_epoch(u, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    const size_t arm = arm_of(u, u->suggested + 1);
    counts_of(u, u->suggested)->tickets[arm]++;
    u->reported[u->suggested++] = false;
    *out = (tacet_suggestion){.index = arm, .ticket = u->suggested};
    return TACET_OK;
}

static tacet_status known(const tacet__ab_study *u, uint64_t ticket, tacet_error *err) {
    if (ticket == 0 || ticket > u->suggested) {
        return tacet__fail(err, TACET_NOT_FOUND, "round %llu was never given", (unsigned long long)ticket);
    }
    return !u->reported[ticket - 1]
               ? TACET_OK
               : tacet__fail(err, TACET_CONFLICT, "round %llu has been reported already", (unsigned long long)ticket);
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    tacet__ab_study *u = self;
    const tacet_ab_study_settings *s = &u->settings;
    const tacet_status status = known(u, ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__ab_counts *counts = counts_of(u, (size_t)ticket - 1);
    u->reported[ticket - 1] = true;
    /* While its release is due nothing changes what an epoch's release is of: one that was interrupted goes on. */
    if (counts != NULL && !(counts == &u->now && release_is_due(u))) {
        const double share = (fmin(fmax(value, s->lower), s->upper) - s->lower) / (s->upper - s->lower);
        counts->steps[arm_of(u, ticket)] += (uint64_t)llround(share * TACET__AB_STUDY_ONE);
    }
    return TACET_OK;
}

/* Nothing waits for a report: the ticket counts 0 unless it comes. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    return known(self, ticket, err);
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    const tacet__ab_study *u = self;
    const tacet_ab_study_settings *s = &u->settings;
    const double width = s->upper - s->lower;
    size_t best = 0;
    if (u->epoch == 0) {
        return tacet__fail(err, TACET_STATE, "nothing has been released yet");
    }
    for (size_t i = 1; i < s->arms; i++) {
        best = tacet_ab_test_mean(u->test, i) > tacet_ab_test_mean(u->test, best) ? i : best;
    }
    const double mean = tacet_ab_test_mean(u->test, best);
    const double tickets = tacet_ab_test_tickets(u->test) / (double)s->arms;
    *out = (tacet_recommendation){
        .index = best,
        .mean = s->lower + width * mean,
        .sd = width * sqrt(mean * (1 - mean) / tickets + 2 * (double)u->epoch / (s->eps * s->eps * tickets * tickets)),
        .measured = SIZE_MAX};
    return TACET_OK;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    const tacet__ab_study *u = self;
    const bool is_private = tacet_ask_is_private(&u->ask);
    *out = (tacet_guarantee){
        .trust = TACET_TRUST_CENTRAL,
        .proven = is_private,
        .eps = is_private ? u->settings.eps : INFINITY,
        .delta = is_private ? 0 : 1,
        .protects = "the reward of one ticket, and whether it was reported",
        .statement = is_private ? "What anyone sees hardly changes when one ticket's report is replaced or left out."
                                : "Not private: the noise comes from a seeded source, for tests and simulations.",
        .proof = "src/ab/README.md"};
}

static const tacet__policy_ops OPS = {.name = NAME,
                                      .suggest = suggest,
                                      .observe = observe,
                                      .recommend = recommend,
                                      .guarantee = guarantee,
                                      .state = tacet__ab_study_state,
                                      .free = study_free,
                                      .drop = drop};

/* --- creation ---------------------------------------------------------------------------------------------------- */

static tacet_status check(const tacet_ab_study_settings *s, const tacet_ask *ask, tacet_error *err) {
    if (s->rounds == 0 || s->rounds > ROUNDS_MOST || s->late > s->rounds) {
        return tacet__fail(err, TACET_INVALID, "1 to %d rounds, and reports that are no later than all of them",
                           (int)ROUNDS_MOST);
    }
    if (!(s->lower < s->upper && isfinite(s->upper - s->lower)) ||
        !(isnan(s->typical) || (s->typical >= s->lower && s->typical <= s->upper))) {
        return tacet__fail(err, TACET_INVALID, "a range of rewards, and a typical reward within it");
    }
    if (tacet_ask_check(ask, NULL) != TACET_OK || ask->group != NULL || ask->part != NULL || ask->ticket == NULL ||
        strlen(ask->ticket) > TACET__AB_STUDY_TICKET) {
        return tacet__fail(err, TACET_INVALID,
                           "a release needs a ledger (or seeded noise), and a ticket of up to %d bytes, no group",
                           (int)TACET__AB_STUDY_TICKET);
    }
    return TACET_OK;
}

/* Everything a saved state must have been made with; not the horizon, which may grow. */
static void fingerprint(tacet__ab_study *u) {
    const tacet_ab_study_settings *s = &u->settings;
    const double reals[] = {s->lower, s->upper, s->eps, s->alpha, isnan(s->typical) ? -1 : s->typical};
    const uint64_t wholes[] = {s->arms, s->late, s->coin_seed, s->first, isnan(s->typical) ? 1U : 0U};
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof u->problem);
    (void)crypto_generichash_update(&state, (const unsigned char *)reals, sizeof reals);
    (void)crypto_generichash_update(&state, (const unsigned char *)wholes, sizeof wholes);
    (void)crypto_generichash_update(&state, (const unsigned char *)u->ticket, strlen(u->ticket));
    (void)crypto_generichash_final(&state, u->problem, sizeof u->problem);
}

tacet_status tacet_ab_study_create(tacet_policy **out, const tacet_ab_study_settings *settings, const tacet_ask *ask,
                                   tacet_error *err) {
    *out = NULL;
    tacet_status status = check(settings, ask, err);
    tacet__ab_study *u = status == TACET_OK ? TACET__ZALLOC(tacet__ab_study, 1) : NULL;
    if (u == NULL) {
        return status == TACET_OK ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy") : status;
    }
    u->settings = *settings;
    u->settings.late = settings->late + 1; /* in the last of these no report of the epoch is taken any more */
    u->settings.first = settings->first > 0 ? settings->first : tacet_ab_epoch_size(settings->arms, 0);
    u->ask = *ask;
    memcpy(u->ticket, ask->ticket, strlen(ask->ticket));
    u->ask.ticket = u->ticket;
    u->reported = TACET__ZALLOC(bool, settings->rounds);
    status = u->reported != NULL ? tacet__ab_study_test(&u->test, u, NULL, 0, err)
                                 : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rounds", settings->rounds);
    TACET_THEN(status, tacet__ab_study_plan(u, err));
    if (status != TACET_OK) {
        study_free(u);
        return status;
    }
    fingerprint(u);
    return tacet__policy_wrap(out, &OPS, u, err);
}

const tacet_ab_test *tacet_ab_study_test(const tacet_policy *policy) {
    const tacet__ab_study *u = tacet__policy_self(policy, &OPS);
    return u != NULL ? u->test : NULL;
}
