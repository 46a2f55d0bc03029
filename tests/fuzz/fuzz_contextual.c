/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_contextual.c - a model file from anyone: read or refused, never a crash; what is read can be asked and written
 * again.
 */
#include "fuzz.h"

#include "contextual/open/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet_contextual_model *model = NULL, *again = NULL;
    tacet_error err = {0};
    if (tacet_contextual_model_decode(&model, (const char *)data, size, &err) != TACET_OK) {
        return fuzz_refused(model, &err);
    }
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    double mean = 0;
    size_t best = 7;
    char *text = NULL;
    must(tacet_contextual_predict(model, &best, &mean, p->lower, 1, NULL) == TACET_OK && best == 0);
    must(tacet_contextual_model_encode(model, &text, NULL) == TACET_OK &&
         tacet_contextual_model_decode(&again, text, strlen(text), NULL) == TACET_OK);
    tacet_contextual_model_free(again);
    tacet_contextual_model_free(model);
    free(text);
    return 0;
}
