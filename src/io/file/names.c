/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - files as a person names them.
 * Ring: io. */
#include "io/file/names.h"

#include "core/fail.h"
#include "core/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tacet__file_names_free(char **files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(files[i]);
    }
    free(files);
}

/* Whether two files of one length have the same bytes. Different ones mostly differ in their first block, so comparing
 * all pairs costs little more than opening them. */
static bool same_bytes(const char *a, const char *b) {
    char left[1 << 12], right[1 << 12];
    FILE *first = fopen(a, "rbe");
    FILE *second = fopen(b, "rbe");
    bool same = first != NULL && second != NULL;
    for (size_t got = sizeof left; same && got == sizeof left;) {
        got = fread(left, 1, sizeof left, first);
        same = fread(right, 1, sizeof right, second) == got && memcmp(left, right, got) == 0;
    }
    if (first != NULL) {
        (void)fclose(first);
    }
    if (second != NULL) {
        (void)fclose(second);
    }
    explicit_bzero(left, sizeof left);
    explicit_bzero(right, sizeof right);
    return same;
}

/* Rows of a file that is read twice would be charged once and drawn twice. Only what lies there is compared: what does
 * not is named by whoever opens it. */
static tacet_status refuse_twins(char *const *files, size_t count, tacet_error *err) {
    for (size_t i = 1; i < count; i++) {
        struct stat own;
        const bool there = stat(files[i], &own) == 0 && S_ISREG(own.st_mode);
        for (size_t j = 0; j < i && there; j++) {
            struct stat other;
            if (stat(files[j], &other) != 0 || !S_ISREG(other.st_mode) || other.st_size != own.st_size) {
                continue;
            }
            const bool linked = other.st_dev == own.st_dev && other.st_ino == own.st_ino;
            if (linked || same_bytes(files[i], files[j])) {
                return tacet__fail(
                    err, TACET_INVALID,
                    "%.80s %s %.80s: its rows would be drawn twice and charged once; name each file once", files[i],
                    linked ? "is the same file as" : "is a copy of", files[j]);
            }
        }
    }
    return TACET_OK;
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
    const tacet_status status = refuse_twins(*out, *count, err);
    if (status != TACET_OK) {
        tacet__file_names_free(*out, *count);
        *out = NULL;
        *count = 0;
    }
    return status;
}
