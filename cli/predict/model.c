/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - reads a released model from a file. Ring: programs (open). */
#include "predict/commands.h"

#include <stdlib.h>
#include <tacet/io/file.h>

static const size_t MODEL_MOST = 16 << 20; /* bytes */

tacet_status predict_load(tacet_contextual_model **out, const char *path, tacet_error *err) {
    char *text = NULL;
    size_t size = 0;
    tacet_error detail = {0};
    *out = NULL;
    tacet_status status = tacet_file_read(&text, &size, path, MODEL_MOST, err);
    if (status == TACET_OK && (status = tacet_contextual_model_decode(out, text, size, &detail)) != TACET_OK) {
        (void)tacet_error_set(err, status, "%.100s: %.130s", path, detail.message);
    }
    free(text);
    return status;
}
