/* SPDX-License-Identifier: Apache-2.0 */
/* set.c - a decision set from a file. Ring: trusted. What was read is private, and wiped. Cost: O(bytes). */
#include <tacet/service/trusted/study.h>

#include "core/fail.h"
#include "core/memory.h"
#include "core/number.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>

enum { SET_BYTES = 1 << 22 };

tacet_status tacet_study_set_read(double **points, tacet_study_round *round, const char *path, tacet_error *err) {
    char *text = NULL;
    size_t size = 0, field = 0, line = 1;
    round->points = NULL;
    round->d = round->count = 0;
    tacet_status status = tacet_file_read(&text, &size, path, SET_BYTES, err);
    *points = status == TACET_OK ? TACET__ZALLOC(double, size / 2 + 1) : NULL; /* a digit and a separator each */
    if (status == TACET_OK && *points == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a decision set");
    }
    for (const char *at = text; status == TACET_OK && at[strspn(at, "\r\n")] != '\0';) {
        const size_t length = strcspn(at, ",\r\n");
        const char *end = at + length + (at[length] == '\r');
        const char after = *end;
        if (tacet__number_parse(&(*points)[round->count * round->d + field++], at, length) != TACET__NUMBER_OK) {
            status = tacet__fail(err, TACET_INVALID, "%s: line %zu: field %zu is not a number (no header is taken)",
                                 path, line, field);
        } else if (after != ',') { /* the end of a line */
            round->d = round->count == 0 ? field : round->d;
            if (field != round->d) {
                status = tacet__fail(err, TACET_INVALID,
                                     "%s: line %zu: needs as many numbers as the first, with commas", path, line);
            }
            round->count++;
            field = 0;
            line++;
        }
        at = end + (after != '\0');
    }
    if (status == TACET_OK && round->count == 0) {
        status = tacet__fail(err, TACET_INVALID, "%s: no arms", path);
    }
    if (text != NULL) {
        sodium_memzero(text, size);
        free(text);
    }
    round->points = *points;
    return status;
}

void tacet_study_set_free(double *points, tacet_study_round *round) {
    if (points != NULL) {
        sodium_memzero(points, round->d * round->count * sizeof *points);
        free(points);
    }
    round->points = NULL;
}
