/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_local.c - saved states of the local model's learners with bytes changed and the hash put right: refused, or the
 * learner goes on. The input: one byte chooses the learner, then a list of changes; it is also tried as a state itself.
 */
#include "fuzz.h"

#include "local/shared/ldp.h"

#include <tacet/local/open/local.h>

enum { ARMS = 4, LEARNERS = 4, ROUNDS = 40, HORIZON = 64, LANES = 5 };
static tacet_policy *learners[LEARNERS];
static tacet_blob good[LEARNERS];
static tacet_ldp ldp;

static bool play(tacet_policy *policy, size_t rounds) {
    for (size_t t = 0; t < rounds; t++) {
        tacet_suggestion s;
        if (tacet_policy_suggest(policy, &s, NULL, NULL) != TACET_OK) {
            return false;
        }
        const uint32_t cell = (uint32_t)((s.index * 37 + t * 11) % ldp.cells);
        if ((t % 9 != 0 || t % LANES != 0) &&
            tacet_policy_observe(policy, s.ticket, tacet_ldp_cell(&ldp, cell), NULL) != TACET_OK) {
            return false;
        }
    }
    return true;
}

static void prepare(void) {
    static const double X[ARMS] = {0, 0.3, 0.6, 1};
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    tacet_kernel *kernel = NULL;
    must(tacet_kernel_create(&kernel, &spec, NULL) == TACET_OK &&
         tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, -2, 2, NULL) == TACET_OK);
    const tacet_cov_spec cov = {.kernel = kernel};
    for (size_t i = 0; i < LEARNERS; i++) {
        tacet_local_settings s;
        tacet_local_settings_defaults(&s);
        s.algorithm = (tacet_local_algorithm)i;
        s.parameters = i == TACET_LOCAL_UCB ? TACET_LOCAL_TUNED : TACET_LOCAL_ORDERWISE;
        s.ldp = &ldp;
        s.bound = 1;
        s.noise_bound = 1;
        s.horizon = HORIZON;
        s.lanes = i == TACET_LOCAL_MOMA ? LANES : 0;
        must(tacet_local_create(&learners[i], &s, &cov, X, 1, ARMS, NULL) == TACET_OK);
        (void)play(learners[i], ROUNDS); /* MoMA stops at the first report that is missing, as it should */
        must(tacet_policy_save(learners[i], &good[i], NULL) == TACET_OK);
    }
    tacet_kernel_free(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (good[0].size == 0) {
        prepare();
    }
    if (size == 0) {
        return 0;
    }
    const size_t i = data[0] % LEARNERS;
    (void)tacet_policy_load(learners[i], data + 1, size - 1, NULL);
    unsigned char *bytes = fuzz_changed(&good[i], data + 1, size - 1);
    if (tacet_policy_load(learners[i], bytes, good[i].size, NULL) == TACET_OK) {
        tacet_recommendation r;
        (void)play(learners[i], 12);
        must(tacet_policy_recommend(learners[i], &r, NULL) != TACET_OK || r.index < ARMS);
    }
    must(tacet_policy_load(learners[i], good[i].data, good[i].size, NULL) == TACET_OK);
    free(bytes);
    return 0;
}
