/* SPDX-License-Identifier: Apache-2.0 */
/* cells.c - which cells of a table cannot be taken, all at once, for its holder alone.
 * Ring: programs. Messages name lines and columns, never values. Cost: one pass over the table. */
#include "common/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tacet/io/csv.h>

enum { TOLD = 40 }; /* bad cells that are listed */

bool cli_cell_missing(const char *text) {
    static const char *const WORDS[] = {"", "NA", "N/A", "NaN", "null", "?"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strcasecmp(text, WORDS[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void list_cell(size_t *bad, const cli_command *self, const tacet_csv *csv, const char *why) {
    if (++*bad <= TOLD && self != NULL) {
        cli_say(self, "line %llu, %s", (unsigned long long)tacet_csv_line(csv), why);
    }
}

static void check_row(size_t *bad, const tacet_csv *csv, const tacet_space *space, const size_t *at, const char *target,
                      size_t target_at, const cli_command *self) {
    for (size_t i = 0; i < space->count; i++) {
        tacet_error why = {0};
        double value = 0;
        size_t length = 0;
        const char *text = tacet_csv_field(csv, at[i], &length);
        if (tacet_space_cell(&space->columns[i], &value, NULL, text, length, &why) != TACET_OK) {
            list_cell(bad, self, csv, why.message);
        }
    }
    double value = 0;
    const char *text = target != NULL ? tacet_csv_field(csv, target_at, NULL) : "";
    if (!cli_cell_missing(text) && !cli_number(&value, text)) {
        char why[2 * TACET_SPACE_NAME];
        (void)snprintf(why, sizeof why, "column '%s': neither empty nor a number", target);
        list_cell(bad, self, csv, why);
    }
}

size_t cli_cells_check(const char *path, const tacet_space *space, const char *target, const cli_command *self) {
    tacet_error err = {0};
    tacet_csv *csv = NULL;
    size_t bad = 0, target_at = 0;
    bool found = false;
    size_t *at = calloc(space->count > 0 ? space->count : 1, sizeof *at);
    tacet_status status = at != NULL ? tacet_csv_open_file(&csv, path, NULL, &err) : TACET_NO_MEMORY;
    for (size_t i = 0; status == TACET_OK && i < space->count; i++) {
        status = tacet_csv_find(csv, &at[i], space->columns[i].name, &err);
    }
    status = status != TACET_OK || target == NULL ? status : tacet_csv_find(csv, &target_at, target, &err);
    while (status == TACET_OK && (status = tacet_csv_next(csv, &found, &err)) == TACET_OK && found) {
        check_row(&bad, csv, space, at, target, target_at, self);
    }
    tacet_csv_close(csv);
    free(at);
    if (status != TACET_OK) {
        if (self != NULL) {
            (void)cli_fail(self, &err);
        }
        return SIZE_MAX;
    }
    if (bad > TOLD && self != NULL) {
        cli_say(self, "… and %zu more", bad - TOLD);
    }
    return bad;
}

bool cli_cells_told(const char *path, const tacet_space *space, const char *target, const cli_command *self) {
    const size_t bad = cli_cells_check(path, space, target, NULL);
    if (bad < 2 || bad == SIZE_MAX) {
        return false;
    }
    (void)cli_cells_check(path, space, target, self);
    cli_say(self, "%zu cells cannot be read; nothing was released", bad);
    return true;
}
