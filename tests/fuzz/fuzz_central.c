/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_central.c - a saved state of the joint-DP learner with bytes changed and the hash put right: refused, or the
 * learner goes on. The input is a list of changes: two bytes of offset, one byte of value each. */
#include "central/open/learner_batches.h"

#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "central/open/learner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HASH = 32 };
static tacet_central_learner *learner;
static tacet_blob good_learner;

static int prepare(void) {
    static const tacet_domain ball = {.kind = TACET_DOMAIN_BALL, .d = 1, .radius = 1};
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    tacet_kernel *kernel = NULL;
    tacet_features *features = NULL;
    tacet_central_map *map = NULL;
    tacet_central_learner_settings settings;
    tacet_central_learner_settings_defaults(&settings);
    settings.grid = 6;
    const double sums[6] = {1, 0.1, 0, 2, -0.1, 0.2};
    const int made =
        tacet_kernel_create(&kernel, &spec, NULL) == TACET_OK &&
        tacet_features_create_mercer(&features, kernel, &ball, 8, 3, NULL) == TACET_OK &&
        tacet_central_map_create(&map, features, &ball, 0, 0, 1, NULL) == TACET_OK &&
        tacet_central_learner_create(&learner, map, &settings, NULL) == TACET_OK &&
        tacet_central_learner_update(learner, sums, 1, 5, NULL) == TACET_OK &&
        tacet__state_save(&good_learner, "learner", tacet__central_learner_state, learner, NULL) == TACET_OK;
    tacet_kernel_free(kernel); /* the features keep none of it */
    return made;
}

/* A copy of a good state with the changes made and a good hash. */
static unsigned char *changed(const tacet_blob *good, const uint8_t *data, size_t size) {
    unsigned char *bytes = malloc(good->size);
    if (bytes == NULL) {
        return NULL;
    }
    memcpy(bytes, good->data, good->size);
    const size_t body = good->size - HASH;
    for (size_t i = 0; i + 2 < size; i += 3) {
        bytes[(data[i] + 256U * data[i + 1]) % body] = data[i + 2];
    }
    crypto_generichash(bytes + body, HASH, bytes, body, NULL, 0);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (learner == NULL && !prepare()) {
        return 0;
    }
    (void)tacet__state_load(data, size, "learner", tacet__central_learner_state, learner, NULL);
    unsigned char *bytes = changed(&good_learner, data, size);
    if (bytes != NULL && tacet__state_load(bytes, good_learner.size, "learner", tacet__central_learner_state, learner,
                                           NULL) == TACET_OK) {
        const double arms[3] = {-0.5, 0, 0.9};
        if (tacet_central_learner_choose(learner, NULL, arms, 1, 3, NULL) > 2) {
            abort();
        }
    }
    free(bytes);
    return 0;
}
