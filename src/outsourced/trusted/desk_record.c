/* SPDX-License-Identifier: Apache-2.0 */
/* desk_record.c - one record of the table, for whoever measures it. Ring: trusted. Cost: a pass over the table. */
#include <tacet/outsourced/trusted/desk.h>

#include <tacet/io/csvfile.h>

static void tell(tacet_csv *csv, size_t column, tacet_desk_cell told, void *user) {
    size_t length = 0;
    const char *text = tacet_csv_field(csv, column, &length);
    told(user, tacet_csv_name(csv, column), text, length);
}

tacet_status tacet_desk_record(const char *data, const char *id, size_t row, tacet_desk_cell told, void *user,
                               tacet_error *err) {
    tacet_csv *csv = NULL;
    bool found = true;
    size_t first = SIZE_MAX;
    tacet_status status = tacet_csv_open_file(&csv, data, NULL, err);
    if (status == TACET_OK && id != NULL) {
        status = tacet_csv_find(csv, &first, id, err);
    }
    for (size_t i = 0; i <= row && status == TACET_OK && found; i++) {
        status = tacet_csv_next(csv, &found, err);
    }
    if (status == TACET_OK && found && first != SIZE_MAX) {
        tell(csv, first, told, user);
    }
    for (size_t c = 0; status == TACET_OK && found && c < tacet_csv_columns(csv); c++) {
        if (c != first) {
            tell(csv, c, told, user);
        }
    }
    tacet_csv_close(csv);
    return status;
}
