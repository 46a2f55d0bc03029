/* SPDX-License-Identifier: Apache-2.0 */
/* policy_state.c - what a joint-DP bandit remembers, and what a saved one knows.
 * Ring: trusted: the numbers are private but for what was released. Cost: their length. */
#include "central/trusted/bandit.h"

#include <string.h>

#include "central/open/learner_batches.h"
#include "core/fail.h"
#include "gp/features_internal.h"

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

/* Features that a state cannot keep (groups) are made again where it goes on. Read before the policy is made:
 * tacet_central_state_features. */
static void visit_basis(tacet__bandit *b, tacet__state *s) {
    tacet_blob basis;
    tacet_blob_init(&basis);
    if (s->to != NULL) {
        const tacet_status status = tacet__features_save(tacet_central_map_features(b->map), &basis, s->err);
        tacet__state_check(s, "basis", status == TACET_UNSUPPORTED ? TACET_OK : status);
    }
    tacet__state_blob(s, "basis", &basis, SIZE_MAX);
    tacet_blob_clear(&basis);
}

void tacet__bandit_state(void *self, tacet__state *s) {
    tacet__bandit *b = self;
    const size_t slots = b->settings.open_most;
    const uint64_t problem[] = {tacet_central_map_print(b->map), b->settings.coin_seed, slots};
    visit_basis(b, s);
    tacet__state_same(s, "problem", problem, sizeof problem);
    tacet__state_u64(s, "given", &b->given, UINT64_MAX);
    tacet__state_u64s(s, "open", b->open, slots, b->given);
    tacet__state_f64s(s, "chosen", b->chosen, b->d * slots);
    tacet__state_u64(s, "queued", &b->queued, UINT64_MAX);
    tacet__state_u64s(s, "queue", b->queue, slots, b->queued);
    tacet__state_f64s(s, "rewards", b->reward, slots);
    tacet__state_require(s, "open", tickets_possible(b->open, b->queue, slots, b->given, b->queued));
    tacet__central_learner_state(b->learner, s);
    tacet__batches_state(b->batches, s);
}

tacet_status tacet_central_state_features(tacet_features **out, const tacet_kernel *kernel, const void *bytes,
                                          size_t size, tacet_error *err) {
    const unsigned char *at = NULL;
    size_t length = 0;
    if (out == NULL || kernel == NULL) {
        return tacet__fail(err, TACET_INVALID, "features need a kernel, and a place");
    }
    *out = NULL;
    const tacet_status status = tacet__state_first(&at, &length, bytes, size, TACET__CENTRAL_NAME, "basis", err);
    return status != TACET_OK ? status
           : length > 0       ? tacet__features_load(out, kernel, at, length, err)
                              : tacet__fail(err, TACET_UNSUPPORTED, "the state keeps no features");
}

tacet_status tacet__central_learnt_of(tacet__central_learnt *out, const tacet_central_map *map,
                                      const tacet_central_settings *settings, const tacet_ask *ask, const void *bytes,
                                      size_t size, tacet_error *err) {
    tacet__bandit *b = NULL;
    out->release = NULL;
    TACET_OR_RETURN(tacet__bandit_create(&b, map, settings, ask, false, err));
    tacet_status status = tacet__state_load(bytes, size, TACET__CENTRAL_NAME, tacet__bandit_state, b, err);
    TACET_THEN(status, tacet__bandit_refresh(b, err));
    TACET_THEN(status, tacet__batches_last(b->batches, &out->release, err));
    if (status == TACET_OK) {
        memcpy(out->theta, tacet_central_learner_theta(b->learner, &out->level),
               tacet_features_dim(tacet_central_map_features(map)) * sizeof(double));
        out->error = tacet_central_learner_error(b->learner);
        out->rounds = tacet__batches_ended(b->batches);
    }
    tacet__bandit_free(b);
    return status;
}
