/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_contextual.c - a model file from anyone: read or refused, never a crash; what is read can be asked and written
 * again.
 */
#include "contextual/open/internal.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tacet_contextual_model *model = NULL;
    tacet_error err = {0};
    if (tacet_contextual_model_decode(&model, (const char *)data, size, &err) != TACET_OK) {
        if (model != NULL || err.message[0] == '\0') {
            abort();
        }
        return 0;
    }
    const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
    double mean = 0;
    size_t best = 7;
    if (tacet_contextual_predict(model, &best, &mean, p->lower, 1, p->lower + p->action_dim, NULL) != TACET_OK ||
        best != 0) {
        abort();
    }
    char *text = NULL;
    tacet_contextual_model *again = NULL;
    if (tacet_contextual_model_encode(model, &text, NULL) != TACET_OK ||
        tacet_contextual_model_decode(&again, text, strlen(text), NULL) != TACET_OK) {
        abort();
    }
    tacet_contextual_model_free(again);
    tacet_contextual_model_free(model);
    free(text);
    return 0;
}
