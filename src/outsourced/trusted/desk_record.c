/* SPDX-License-Identifier: Apache-2.0 */
/* desk_record.c - one record of the table, for whoever measures it. Ring: trusted. Cost: a pass over the table. */
#include "outsourced/trusted/evaluate.h"

#include "core/fail.h"

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

static void tell(tacet_csv *csv, size_t column, tacet_desk_cell told, void *user) {
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
        tell(csv, first, told, user);
    }
    for (size_t c = 0; status == TACET_OK && found && c < tacet_csv_columns(csv); c++) {
        if (c != first) {
            tell(csv, c, told, user);
        }
    }
    tacet__persons_close(persons);
    tacet_csv_close(csv);
    return status;
}
