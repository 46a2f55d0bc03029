/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - reads a released model from a file. Ring: programs (open). */
#include "predict/commands.h"

#include "core/fail.h"

#include <stdio.h>

static const size_t MODEL_MOST = 16 << 20; /* bytes */

tacet_status predict_load(tacet_contextual_model **out, const char *path, tacet_error *err) {
    tacet_blob text;
    char buffer[65536];
    size_t n = 0;
    tacet_status status = TACET_OK;
    tacet_blob_init(&text);
    *out = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%s cannot be read", path);
    }
    while (status == TACET_OK && (n = fread(buffer, 1, sizeof buffer, file)) > 0) {
        status = text.size + n > MODEL_MOST ? tacet__fail(err, TACET_PARSE, "%s is too large for a model", path)
                                            : tacet_blob_append(&text, buffer, n, err);
    }
    if (status == TACET_OK && ferror(file)) {
        status = tacet__fail(err, TACET_IO, "%s cannot be read", path);
    }
    (void)fclose(file);
    if (status == TACET_OK) {
        tacet_error detail = {0};
        status =
            tacet_contextual_model_decode(out, text.data != NULL ? (const char *)text.data : "", text.size, &detail);
        if (status != TACET_OK) {
            (void)tacet__fail(err, status, "%.100s: %.130s", path, detail.message);
        }
    }
    tacet_blob_clear(&text);
    return status;
}
