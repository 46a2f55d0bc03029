/* SPDX-License-Identifier: Apache-2.0 */
/* targets_fixed.c - joint DP over a fixed public domain: one round's reward is replaced.
 * Ring: audit. Worst case: one arm with one feature, so that the reward, from one end of its range to the other, moves
 * the batch's sum by the whole sensitivity; the statistic is the posterior mean that everybody may know, which grows
 * with the released number: the likelihood ratio. The real study runs; a batch is two rounds. Cost: some 10 us a run.
 */
#include "audit/targets.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/noise/sampler.h"

#include <stdlib.h>
#include <string.h>
#include <tacet/central/trusted/fixed.h>

enum { BATCH = 2, KEY_WORDS = 4 };

typedef struct fixed_state {
    tacet_central_fixed *study;
    tacet_noise *key; /* seeded, as there is no ledger; every run brings a key of its own */
    tacet_blob start;
} fixed_state;

static void drop(void *state) {
    fixed_state *s = state;
    if (s != NULL) {
        tacet_central_fixed_free(s->study);
        tacet_noise_close(s->key);
        tacet_blob_clear(&s->start);
        free(s);
    }
}

static tacet_status create(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    static const double PHI[] = {1};
    const tacet_fixed_group arm = {.Phi = PHI, .features = 1, .choices = 1};
    tacet_central_fixed_settings settings;
    *state = NULL;
    fixed_state *s = TACET__ZALLOC(fixed_state, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    tacet_blob_init(&s->start);
    tacet_central_fixed_settings_defaults(&settings);
    settings.eps = claim->eps;
    settings.delta = claim->delta;
    settings.rounds = BATCH + 1;
    settings.first_batch = BATCH;
    tacet_status status = tacet_noise_open_seeded(&s->key, 0, 0, err);
    const tacet_ask ask = {.noise = s->key, .ticket = "audit", .what = "audit", .to_whom = "auditor"};
    status = status != TACET_OK ? status : tacet_central_fixed_create(&s->study, &arm, 1, &settings, &ask, err);
    status = status != TACET_OK ? status : tacet_central_fixed_save(s->study, &s->start, err);
    if (status != TACET_OK) {
        drop(s);
        return status;
    }
    *state = s;
    return TACET_OK;
}

static tacet_status run(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    fixed_state *s = state;
    uint64_t words[KEY_WORDS];
    uint64_t ticket = 0;
    size_t choice = 0;
    double sd = 0;
    for (size_t i = 0; i < KEY_WORDS; i++) {
        words[i] = tacet__noise_u64(noise);
    }
    tacet__noise_rekey(s->key, (const unsigned char *)words);
    tacet_status status = tacet_central_fixed_load(s->study, s->start.data, s->start.size, err);
    for (size_t t = 0; t < BATCH && status == TACET_OK; t++) {
        status = tacet_central_fixed_suggest(s->study, &choice, &ticket, err);
        if (status == TACET_OK) {
            /* far out of range: it is clipped */
            status = tacet_central_fixed_observe(s->study, ticket, t > 0 ? 0.5 : world == 1 ? 1e9 : -1e9, err);
        }
    }
    status = status != TACET_OK ? status : tacet_central_fixed_suggest(s->study, &choice, &ticket, err); /* releases */
    if (status == TACET_OK) {
        tacet_central_fixed_posterior(s->study, statistic, &sd, &choice);
    }
    return status;
}

const tacet_audit_target tacet__audit_central_fixed = {
    .name = "fixed",
    .summary = "a batch of a bandit over a fixed public domain; one round's reward replaced",
    .create = create,
    .run = run,
    .free = drop,
};
