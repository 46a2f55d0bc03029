/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - files and columns as a person names them.
 * Ring: io. */
#include "io/file/names.h"

#include "core/fail.h"
#include "core/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tacet__is_npy(const char *path) {
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

void tacet__file_names_free(char **files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(files[i]);
    }
    free(files);
}

tacet_status tacet__file_names(char ***out, size_t *count, const char *data, tacet_error *err) {
    const bool one = strchr(data, ',') == NULL || access(data, F_OK) == 0;
    size_t files = 1;
    for (const char *c = data; *c != '\0' && !one; c++) {
        files += *c == ',';
    }
    *count = 0;
    *out = TACET__ZALLOC(char *, files);
    bool good = *out != NULL;
    for (const char *at = data; good && *count < files;) {
        const size_t length = one ? strlen(at) : strcspn(at, ",");
        (*out)[*count] = strndup(at, length);
        good = (*out)[*count] != NULL;
        *count += good;
        at += length + 1; /* behind the last comma there is a file, or nothing is read here */
    }
    if (!good) {
        tacet__file_names_free(*out, *count);
        *out = NULL;
        *count = 0;
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu files", files);
    }
    return TACET_OK;
}

tacet_status tacet__npy_column(size_t *out, const tacet_npy *npy, const char *name, const char *path,
                               tacet_error *err) {
    char *end = NULL;
    const bool digits = name[0] != '\0' && strspn(name, "0123456789") == strlen(name) && strlen(name) < 10;
    const size_t number = digits ? strtoul(name, &end, 10) : SIZE_MAX;
    if (number >= npy->columns) {
        return tacet__fail(err, TACET_NOT_FOUND, "%s: no column '%s': a .npy file's columns are called 0 to %zu", path,
                           name, npy->columns - 1);
    }
    *out = number * npy->column_step;
    return TACET_OK;
}
