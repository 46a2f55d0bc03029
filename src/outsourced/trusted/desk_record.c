/* SPDX-License-Identifier: Apache-2.0 */
/* desk_record.c - one record of the table, for whoever measures it. Ring: trusted. Cost: a pass over the table. */
#include "outsourced/trusted/evaluate.h"

#include "core/fail.h"

#include <string.h>
#include <tacet/core/blob.h>
#include <tacet/io/csv.h>
#include <tacet/outsourced/trusted/desk.h>

tacet_status tacet__release_persons(tacet__persons **out, size_t *column, const tacet_csv *csv, const tacet_manifest *m,
                                    tacet_error *err) {
    *out = NULL;
    *column = 0;
    if (m == NULL || m->person_rows == 0) {
        return TACET_OK;
    }
    if (m->person[0] == '\0') {
        return tacet__fail(err, TACET_UNSUPPORTED,
                           "the release has some rows of a table in memory: nobody knows which of the file's they are");
    }
    const tacet_status status = tacet_csv_find(csv, column, m->person, err);
    return status != TACET_OK ? status : tacet__persons_open(out, m->person_rows, err);
}

static void tell_cell(tacet_csv *csv, size_t column, tacet_desk_cell told, void *user) {
    size_t length = 0;
    const char *text = tacet_csv_field(csv, column, &length);
    told(user, tacet_csv_name(csv, column), text, length);
}

tacet_status tacet_desk_record(const tacet_manifest *manifest, const char *data, const char *id, size_t row,
                               tacet_desk_cell told, void *user, tacet_error *err) {
    tacet_csv *csv = NULL;
    tacet__persons *persons = NULL;
    size_t person = 0;
    bool found = true;
    size_t first = SIZE_MAX;
    tacet_status status = tacet_csv_open_file(&csv, data, NULL, err);
    if (status == TACET_OK && id != NULL) {
        status = tacet_csv_find(csv, &first, id, err);
    }
    TACET_THEN(status, tacet__release_persons(&persons, &person, csv, manifest, err));
    for (size_t i = 0; i <= row && status == TACET_OK && found; i++) {
        status = tacet__persons_next(persons, csv, person, &found, err);
    }
    if (status == TACET_OK && found && first != SIZE_MAX) {
        tell_cell(csv, first, told, user);
    }
    for (size_t c = 0; status == TACET_OK && found && c < tacet_csv_columns(csv); c++) {
        if (c != first) {
            tell_cell(csv, c, told, user);
        }
    }
    tacet__persons_close(persons);
    tacet_csv_close(csv);
    return status;
}

/* --- as text ------------------------------------------------------------------------------------------------------ */

/* The two lines as they grow: the columns' names, and the record's cells. */
typedef struct lines {
    tacet_blob names, cells;
    bool begun;
    tacet_status status;
    tacet_error *err;
} lines;

static void append(lines *to, tacet_blob *line, const char *text, size_t length) {
    if (to->status == TACET_OK && length > 0) {
        to->status = tacet_blob_append(line, text, length, to->err);
    }
}

/* Quoted where it would be misread otherwise. */
static void append_cell(lines *to, tacet_blob *line, const char *text, size_t length) {
    bool quote = false;
    for (size_t i = 0; i < length; i++) {
        quote = quote || memchr("\",\n\r", text[i], 4) != NULL;
    }
    append(to, line, ",", to->begun ? 1 : 0);
    append(to, line, "\"", quote ? 1 : 0);
    for (size_t i = 0; i < length; i++) {
        append(to, line, "\"\"", text[i] == '"' ? 2 : 0);
        append(to, line, text + i, text[i] == '"' ? 0 : 1);
    }
    append(to, line, "\"", quote ? 1 : 0);
}

static void take_cell(void *user, const char *name, const char *text, size_t length) {
    lines *to = user;
    append_cell(to, &to->names, name, strlen(name));
    append_cell(to, &to->cells, text, length);
    to->begun = true;
}

tacet_status tacet__record_text(char **out, const tacet_manifest *manifest, const char *data, size_t row,
                                tacet_error *err) {
    lines l = {.err = err};
    *out = NULL;
    tacet_blob_init(&l.names);
    tacet_blob_init(&l.cells);
    tacet_status status = tacet_desk_record(manifest, data, NULL, row, take_cell, &l, err);
    if (status == TACET_OK && !l.begun) {
        status = tacet__fail(err, TACET_NOT_FOUND, "%s: there is no record %zu", data, row);
    }
    append(&l, &l.names, "\n", 1);
    append(&l, &l.names, (const char *)l.cells.data, l.cells.size);
    append(&l, &l.names, "\n", 2); /* with the closing NUL */
    TACET_THEN(status, l.status);
    if (status == TACET_OK) {
        *out = (char *)l.names.data;
        tacet_blob_init(&l.names);
    }
    tacet_blob_clear(&l.names); /* wiped */
    tacet_blob_clear(&l.cells);
    return status;
}
