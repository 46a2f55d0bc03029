/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c - what `tacet gp-ucb` has asked and seen. Ring: open. Cost: one synced line a round. */
#include "plain/journal.h"

#include "core/fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static tacet_status add_round(tacet__rounds *j, size_t row, double value, tacet_error *err) {
    if ((j->count & (j->count - 1)) == 0) { /* room doubles at each power of two */
        const size_t room = j->count == 0 ? 1 : 2 * j->count;
        size_t *rows = realloc(j->rows, room * sizeof *rows);
        if (rows == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading the journal");
        }
        j->rows = rows;
        double *values = realloc(j->values, room * sizeof *values);
        if (values == NULL) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading the journal");
        }
        j->values = values;
    }
    j->rows[j->count] = row;
    j->values[j->count] = value;
    j->count++;
    return TACET_OK;
}

/* Reads the rounds; *good is where the last whole line ends. */
static tacet_status read_rounds(tacet__rounds *j, long *good, const char *path, const char *head, tacet_error *err) {
    char *line = NULL;
    size_t room = 0;
    tacet_status status = TACET_OK;
    for (size_t k = 0; status == TACET_OK; k++) {
        const ssize_t length = getline(&line, &room, j->file);
        if (length <= 0 || line[length - 1] != '\n') {
            break;
        }
        line[length - 1] = '\0';
        size_t row = 0;
        double value = 0;
        char more = 0;
        if (k == 0) {
            status = strcmp(line, head) == 0
                         ? TACET_OK
                         : tacet__fail(err, TACET_CONFLICT,
                                       "%s: the journal of another table or other settings: take another file", path);
        } else if (sscanf(line, "%zu %lf%c", &row, &value, &more) != 2) {
            status = tacet__fail(err, TACET_PARSE, "%s: line %zu of the journal is damaged", path, k + 1);
        } else {
            status = add_round(j, row, value, err);
        }
        *good = ftell(j->file);
    }
    free(line);
    return status;
}

static tacet_status settle(tacet__rounds *j, const char *path, tacet_error *err) {
    if (fflush(j->file) != 0 || fdatasync(fileno(j->file)) != 0) {
        return tacet__fail(err, TACET_IO, "%s: the journal cannot be written: %s", path, strerror(errno));
    }
    return TACET_OK;
}

tacet_status tacet__rounds_open(tacet__rounds *out, const char *path, const char *head, tacet_error *err) {
    *out = (tacet__rounds){0};
    out->file = fopen(path, "a+");
    if (out->file == NULL) {
        return tacet__fail(err, TACET_IO, "%s: %s", path, strerror(errno));
    }
    long good = 0;
    tacet_status status = TACET_OK;
    if (flock(fileno(out->file), LOCK_EX | LOCK_NB) != 0) {
        status = tacet__fail(err, TACET_BUSY, "%s: another run writes this journal", path);
    } else {
        rewind(out->file);
        status = read_rounds(out, &good, path, head, err);
    }
    if (status == TACET_OK && ftruncate(fileno(out->file), good) != 0) {
        status = tacet__fail(err, TACET_IO, "%s: %s", path, strerror(errno));
    }
    if (status == TACET_OK) {
        (void)fseek(out->file, 0, SEEK_END);
        if (good == 0) {
            (void)fprintf(out->file, "%s\n", head);
            status = settle(out, path, err);
        }
    }
    if (status != TACET_OK) {
        tacet__rounds_close(out);
    }
    return status;
}

tacet_status tacet__rounds_add(tacet__rounds *j, size_t row, double value, tacet_error *err) {
    if (j->file == NULL) {
        return TACET_OK;
    }
    (void)fprintf(j->file, "%zu %.17g\n", row, value);
    return settle(j, "--journal", err);
}

void tacet__rounds_close(tacet__rounds *j) {
    if (j->file != NULL) {
        (void)fclose(j->file);
    }
    free(j->rows);
    free(j->values);
    *j = (tacet__rounds){0};
}
