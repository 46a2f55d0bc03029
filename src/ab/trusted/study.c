/* SPDX-License-Identifier: Apache-2.0 */
/* study.c - a running A/B test as a policy: fair coins, epochs with one release each, the test after each of them.
 * Ring: trusted. Proof of privacy and of the test: src/ab/README.md, "May I stop?". Source: see ab/open/stopping.c.
 * Epochs count suggestions, and a ticket without a report adds 0, because reporting is private too. Cost: a
 * suggestion is one coin; the end of an epoch one draw an arm. */
#include "ab/trusted/study_internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/policy_internal.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

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
        tacet__ab_epochs_clear(&u->e);
        sodium_memzero(u, sizeof *u);
        free(u);
    }
}

/* --- epochs ------------------------------------------------------------------------------------------------------ */

tacet_status tacet__ab_study_plan(tacet__ab_study *u, tacet_error *err) {
    return tacet__ab_epochs_plan(&u->e,
                                 u->e.begin == 0 ? u->e.first : tacet_ab_epoch_size(u->settings.arms, u->e.begin), err);
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

static tacet_status end_epoch(tacet__ab_study *u, tacet_error *err) {
    tacet_release *release = NULL;
    tacet__ab_released *r = &u->released[u->e.epoch];
    if (u->e.epoch == TACET__AB_STUDY_EPOCHS) {
        return tacet__fail(err, TACET_STATE, "the study has had its %d epochs", (int)TACET__AB_STUDY_EPOCHS);
    }
    const tacet__tally_sums sums = {
        .count = u->settings.arms, .sensitivity = SENSITIVITY, .eps = u->settings.eps, .proof = PROOF};
    tacet_status status = tacet__ab_epochs_release(&u->e, &release, u->now.steps, sums, "ab", err);
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
    tacet__ab_epochs_next(&u->e);
    return tacet__ab_study_plan(u, err);
}

/* --- the policy -------------------------------------------------------------------------------------------------- */

static tacet_status suggest(void *self, tacet_suggestion *out, const tacet_round *round, tacet_error *err) {
    tacet__ab_study *u = self;
    if (round->points != NULL || round->context_dim != 0) {
        return tacet__fail(err, TACET_INVALID, "%s has fixed arms, and no context", NAME);
    }
    tacet_status status = tacet__tickets_left(&u->e.t, err);
    if (status == TACET_OK && tacet__ab_epochs_due(&u->e)) {
        status = end_epoch(u, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    const size_t arm = arm_of(u, u->e.t.given + 1);
    (u->e.t.given < u->e.begin + u->e.size ? &u->now : &u->next)->tickets[arm]++;
    *out = (tacet_suggestion){.index = arm, .ticket = tacet__tickets_give(&u->e.t, 0)};
    return TACET_OK;
}

static tacet_status observe(void *self, uint64_t ticket, double value, tacet_error *err) {
    tacet__ab_study *u = self;
    const tacet_ab_study_settings *s = &u->settings;
    size_t about = 0;
    const tacet_status status = tacet__tickets_find(&u->e.t, &about, ticket, err);
    if (status != TACET_OK) {
        return status;
    }
    const tacet__ab_when when = tacet__ab_epochs_report(&u->e, ticket);
    if (when != TACET__AB_PAST) {
        tacet__ab_counts *counts = when == TACET__AB_NOW ? &u->now : &u->next;
        counts->steps[arm_of(u, ticket)] += (uint64_t)tacet_tally_steps(value, s->lower, s->upper);
    }
    return TACET_OK;
}

/* Nothing waits for a report: the ticket counts 0 unless it comes. */
static tacet_status drop(void *self, uint64_t ticket, tacet_error *err) {
    size_t about = 0;
    return tacet__tickets_find(&((const tacet__ab_study *)self)->e.t, &about, ticket, err);
}

static tacet_status recommend(void *self, tacet_recommendation *out, tacet_error *err) {
    const tacet__ab_study *u = self;
    const tacet_ab_study_settings *s = &u->settings;
    const double width = s->upper - s->lower;
    size_t best = 0;
    if (u->e.epoch == 0) {
        return tacet__fail(err, TACET_STATE, "nothing has been released yet");
    }
    for (size_t i = 1; i < s->arms; i++) {
        best = tacet_ab_test_mean(u->test, i) > tacet_ab_test_mean(u->test, best) ? i : best;
    }
    const double mean = tacet_ab_test_mean(u->test, best);
    const double tickets = tacet_ab_test_tickets(u->test) / (double)s->arms;
    *out = (tacet_recommendation){.index = best,
                                  .mean = s->lower + width * mean,
                                  .sd = width * sqrt(mean * (1 - mean) / tickets +
                                                     2 * (double)u->e.epoch / (s->eps * s->eps * tickets * tickets)),
                                  .measured = SIZE_MAX};
    return TACET_OK;
}

static void guarantee(const void *self, tacet_guarantee *out) {
    const tacet__ab_study *u = self;
    tacet__ab_epochs_guarantee(&u->e, out, u->settings.eps, "the reward of one ticket, and whether it was reported",
                               "What anyone sees hardly changes when one ticket's report is replaced or left out.");
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

static tacet_status check(const tacet_ab_study_settings *s, tacet_error *err) {
    if (!(s->lower < s->upper && isfinite(s->upper - s->lower)) ||
        !(isnan(s->typical) || (s->typical >= s->lower && s->typical <= s->upper))) {
        return tacet__fail(err, TACET_INVALID, "a range of rewards, and a typical reward within it");
    }
    return TACET_OK;
}

/* Everything a saved state must have been made with; not the horizon, which may grow. */
static void fingerprint(tacet__ab_study *u) {
    const tacet_ab_study_settings *s = &u->settings;
    const double reals[] = {s->lower, s->upper, s->eps, s->alpha, isnan(s->typical) ? -1 : s->typical};
    const uint64_t wholes[] = {s->arms, u->e.late, s->coin_seed, u->e.first, isnan(s->typical) ? 1U : 0U};
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof u->problem);
    (void)crypto_generichash_update(&state, (const unsigned char *)reals, sizeof reals);
    (void)crypto_generichash_update(&state, (const unsigned char *)wholes, sizeof wholes);
    (void)crypto_generichash_update(&state, (const unsigned char *)u->e.ticket, strlen(u->e.ticket));
    (void)crypto_generichash_final(&state, u->problem, sizeof u->problem);
}

tacet_status tacet_ab_study_create(tacet_policy **out, const tacet_ab_study_settings *settings, const tacet_ask *ask,
                                   tacet_error *err) {
    *out = NULL;
    tacet_status status = check(settings, err);
    tacet__ab_study *u = status == TACET_OK ? TACET__ZALLOC(tacet__ab_study, 1) : NULL;
    if (u == NULL) {
        return status == TACET_OK ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a policy") : status;
    }
    u->settings = *settings;
    status = tacet__ab_epochs_init(&u->e, settings->rounds,
                                   settings->first > 0 ? settings->first : tacet_ab_epoch_size(settings->arms, 0),
                                   settings->late, ask, err);
    TACET_THEN(status, tacet__ab_study_test(&u->test, u, NULL, 0, err));
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

size_t tacet_ab_study_issued(const tacet_policy *policy, size_t *next_look) {
    const tacet__ab_study *u = tacet__policy_self(policy, &OPS);
    *next_look = u != NULL ? tacet__ab_epochs_next_look(&u->e) : 0;
    return u != NULL ? u->e.t.given : 0;
}
