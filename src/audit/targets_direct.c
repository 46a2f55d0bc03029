/* SPDX-License-Identifier: Apache-2.0 */
/* targets_direct.c - joint DP over a space, rewards released one by one: the reward of one round is replaced.
 * Ring: audit. Worst case: a reward at one end of its range or at the other, far outside of it, so that it is clipped;
 * the statistic is the released number, in which the likelihood ratio grows. The real policy runs, one round of it.
 * Cost: some 100 us a run. */
#include "audit/targets.h"

#include "central/trusted/direct_internal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/noise/sampler.h"

#include <stdlib.h>
#include <string.h>
#include <tacet/dp/noise.h>

static const char SPACE[] = "{\"columns\":[{\"name\":\"x\",\"kind\":\"real\",\"bounds\":[0,1]}]}";

typedef struct direct_state {
    tacet_space space;
    tacet_central_direct_settings settings;
} direct_state;

static void free_state(void *state) {
    direct_state *s = state;
    if (s != NULL) {
        tacet_space_clear(&s->space);
        free(s);
    }
}

static tacet_status create(void **state, const tacet_audit_claim *claim, tacet_error *err) {
    direct_state *s = TACET__ZALLOC(direct_state, 1);
    *state = s;
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating an audit target");
    }
    tacet_central_direct_settings_defaults(&s->settings);
    s->settings.eps = claim->eps;
    s->settings.rounds = 1;
    const tacet_status status = tacet_space_decode(&s->space, SPACE, strlen(SPACE), err);
    if (status != TACET_OK) {
        free_state(s);
        *state = NULL;
    }
    return status;
}

static tacet_status run(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    direct_state *s = state;
    tacet_noise *seeded = NULL;
    tacet_policy *policy = NULL;
    tacet_suggestion got;
    const uint64_t a = tacet__noise_u64(noise), b = tacet__noise_u64(noise);
    tacet_status status = tacet_noise_open_seeded(&seeded, a, b, err);
    const tacet_ask ask = {.noise = seeded, .ticket = "audit", .what = "audit", .to_whom = "auditor"};
    TACET_THEN(status, tacet_central_direct_policy(&policy, &(tacet_central_arms){.space = &s->space}, &s->settings,
                                                   &ask, err));
    TACET_THEN(status, tacet_policy_suggest(policy, &got, NULL, err));
    TACET_THEN(status, tacet_policy_observe(policy, got.ticket, world == 1 ? 1e9 : -1e9, err));
    *statistic = status == TACET_OK ? tacet__direct_released(policy, got.ticket) : 0;
    tacet_policy_free(policy);
    tacet_noise_close(seeded);
    return status;
}

/* The same without clipping: a reward three times as large as it may be. */
static tacet_status run_unclipped(void *state, tacet_noise *noise, int world, double *statistic, tacet_error *err) {
    const tacet_status status = run(state, noise, 0, statistic, err);
    *statistic += world == 1 ? 3 : 0;
    return status;
}

const tacet_audit_target tacet__audit_direct = {
    .name = "direct",
    .summary = "a reward of a study over a space or a list, released at once; one round's reward replaced",
    .create = create,
    .run = run,
    .free = free_state,
};
const tacet_audit_target tacet__audit_direct_unclipped = {
    .name = "control:direct-unclipped",
    .summary = "BROKEN: a reward that is released at once and was never clipped to its range",
    .control = true,
    .create = create,
    .run = run_unclipped,
    .free = free_state,
};
