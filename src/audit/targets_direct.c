/* SPDX-License-Identifier: Apache-2.0 */
/* targets_direct.c - joint DP over a space, rewards released one by one: the reward of one round is replaced.
 * Ring: audit. Worst case: a reward at one end of its range or at the other, far outside of it, so that it is clipped;
 * the statistic is the released number, in which the likelihood ratio grows. The real policy runs, one round of it.
 * Cost: some 100 us a run. */
#include "audit/targets.h"

#include "central/trusted/direct_internal.h"
#include "dp/noise/sampler.h"

#include <string.h>
#include <tacet/dp/noise.h>

static const char SPACE[] = "{\"columns\":[{\"name\":\"x\",\"kind\":\"real\",\"bounds\":[0,1]}]}";

typedef struct direct_state {
    tacet_space space;
    tacet_central_direct_settings settings;
} direct_state;

static void clear(void *state) {
    tacet_space_clear(&((direct_state *)state)->space);
}

static tacet_status create(void *state, const tacet_audit_target *self, const tacet_audit_claim *claim,
                           tacet_error *err) {
    direct_state *s = state;
    (void)self;
    tacet_central_direct_settings_defaults(&s->settings);
    s->settings.eps = claim->eps;
    s->settings.rounds = 1;
    return tacet_space_decode(&s->space, SPACE, strlen(SPACE), err);
}

/* A control's reward is three times as large as it may be, and not clipped. */
static tacet_status run(void *state, const tacet_audit_target *self, tacet_noise *noise, int world, double *statistic,
                        tacet_error *err) {
    direct_state *s = state;
    const bool high = world == 1 && !self->control;
    tacet_noise *seeded = NULL;
    tacet_policy *policy = NULL;
    tacet_suggestion got;
    const uint64_t a = tacet__noise_u64(noise), b = tacet__noise_u64(noise);
    tacet_status status = tacet_noise_open_seeded(&seeded, a, b, err);
    const tacet_ask ask = {.noise = seeded, .ticket = "audit", .what = "audit", .to_whom = "auditor"};
    TACET_THEN(status, tacet_central_direct_policy(&policy, &(tacet_central_arms){.space = &s->space}, &s->settings,
                                                   &ask, err));
    TACET_THEN(status, tacet_policy_suggest(policy, &got, NULL, err));
    TACET_THEN(status, tacet_policy_observe(policy, got.ticket, high ? 1e9 : -1e9, err));
    *statistic = status == TACET_OK ? tacet__direct_released(policy, got.ticket) : 0;
    *statistic += self->control && world == 1 ? 3 : 0;
    tacet_policy_free(policy);
    tacet_noise_close(seeded);
    return status;
}

#define DIRECT .size = sizeof(direct_state), .create = create, .run = run, .clear = clear
TARGET(direct, .name = "direct",
       .summary = "a reward of a study over a space or a list, released at once; one round's reward replaced", DIRECT);
TARGET(direct_unclipped, .name = "control:direct-unclipped",
       .summary = "BROKEN: a reward that is released at once and was never clipped to its range", .control = true,
       DIRECT);
