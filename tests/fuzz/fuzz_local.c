/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_local.c - saved states of the local model's learners with bytes changed and the hash put right: refused, or the
 * learner goes on. The input: one byte chooses the learner, then changes of two bytes of offset and one of value each;
 * the input is also tried as a state itself. */
#include "local/shared/ldp.h"
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/local/open/local.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HASH = 32, ARMS = 4, LEARNERS = 4, ROUNDS = 40, HORIZON = 64, LANES = 5 };
static tacet_policy *learners[LEARNERS];
static tacet_blob good[LEARNERS];
static tacet_ldp ldp;

static int play(tacet_policy *policy, size_t rounds) {
    for (size_t t = 0; t < rounds; t++) {
        tacet_suggestion s;
        if (tacet_policy_suggest(policy, &s, NULL, NULL) != TACET_OK) {
            return 0;
        }
        const uint32_t cell = (uint32_t)((s.index * 37 + t * 11) % ldp.cells);
        if ((t % 9 != 0 || t % LANES != 0) &&
            tacet_policy_observe(policy, s.ticket, tacet_ldp_cell(&ldp, cell), NULL) != TACET_OK) {
            return 0;
        }
    }
    return 1;
}

static int prepare(void) {
    static const double X[ARMS] = {0, 0.3, 0.6, 1};
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    tacet_kernel *kernel = NULL;
    if (tacet_kernel_create(&kernel, &spec, NULL) != TACET_OK ||
        tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, -2, 2, NULL) != TACET_OK) {
        return 0;
    }
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
        if (tacet_local_create(&learners[i], &s, &cov, X, 1, ARMS, NULL) != TACET_OK) {
            return 0;
        }
        (void)play(learners[i], ROUNDS); /* MoMA stops at the first report that is missing, as it should */
        if (tacet_policy_save(learners[i], &good[i], NULL) != TACET_OK) {
            return 0;
        }
    }
    tacet_kernel_free(kernel);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (good[LEARNERS - 1].size == 0 && !prepare()) {
        abort();
    }
    if (size == 0) {
        return 0;
    }
    const size_t i = data[0] % LEARNERS;
    (void)tacet_policy_load(learners[i], data + 1, size - 1, NULL);
    unsigned char *bytes = malloc(good[i].size);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, good[i].data, good[i].size);
    const size_t body = good[i].size - HASH;
    for (size_t k = 1; k + 2 < size; k += 3) {
        bytes[(data[k] + 256U * data[k + 1]) % body] = data[k + 2];
    }
    (void)crypto_generichash(bytes + body, HASH, bytes, body, NULL, 0);
    if (tacet_policy_load(learners[i], bytes, good[i].size, NULL) == TACET_OK) {
        tacet_recommendation r;
        (void)play(learners[i], 12);
        if (tacet_policy_recommend(learners[i], &r, NULL) == TACET_OK && r.index >= ARMS) {
            abort();
        }
    }
    if (tacet_policy_load(learners[i], good[i].data, good[i].size, NULL) != TACET_OK) {
        abort();
    }
    free(bytes);
    return 0;
}
