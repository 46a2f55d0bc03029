/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - what a table's cells look like, for its holder alone.
 * Ring: trusted. Cost: one pass over the table. */
#include "start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>

enum { TEXTS = 64 }; /* different texts that are counted */

/* What was met in one column. */
typedef struct tally {
    size_t numbers, wholes, dates, texts;
    uint64_t seen[TEXTS]; /* hashes of different texts */
    size_t different;
} tally;

static uint64_t hash_of(const char *text) {
    uint64_t h = 1469598103934665603U; /* FNV-1a */
    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * 1099511628211U;
    }
    return h;
}

static void count_cell(tally *t, const char *text, size_t length) {
    double value = 0;
    if (cli_cell_missing(text)) {
        return;
    }
    if (memchr(text, '-', length) != NULL && text[0] != '-' && length >= 7 && tacet_space_day(&value, text, length)) {
        t->dates++;
        return;
    }
    if (cli_number(&value, text)) {
        t->numbers++;
        t->wholes += value == (double)(long long)value;
        return;
    }
    const uint64_t h = hash_of(text);
    size_t i = 0;
    while (i < t->different && t->seen[i] != h) {
        i++;
    }
    if (i == t->different && i < TEXTS) {
        t->seen[t->different++] = h;
    }
    t->texts++;
}

/* A few odd cells do not change what a column is: they are listed later. */
static const char *kind_of(const tally *t) {
    const size_t all = t->numbers + t->dates + t->texts;
    if (t->dates > all / 2) {
        return "date";
    }
    if (t->numbers > all / 2) {
        return t->wholes == t->numbers ? "integer" : "number";
    }
    return t->different >= TEXTS || 2 * t->different > t->texts ? "skip" : "category";
}

static tacet_status count_table(start_table *t, tally *tallies, tacet_csv *csv, tacet_error *err) {
    bool found = true;
    tacet_status status = TACET_OK;
    while (status == TACET_OK && (status = tacet_csv_next(csv, &found, err)) == TACET_OK && found) {
        for (size_t i = 0; i < t->count; i++) {
            size_t length = 0;
            const char *text = tacet_csv_field(csv, i, &length);
            count_cell(&tallies[i], text, length);
        }
        t->rows++;
    }
    return status;
}

int table_read(start_table *t, const char *path, const cli_command *self) {
    tacet_error err = {0};
    tacet_csv *csv = NULL;
    *t = (start_table){0};
    tacet_status status = tacet_csv_open_file(&csv, path, NULL, &err);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    t->count = tacet_csv_columns(csv);
    t->columns = calloc(t->count, sizeof *t->columns);
    tally *tallies = calloc(t->count, sizeof *tallies);
    const char *fault = NULL;
    if (t->columns == NULL || tallies == NULL) {
        fault = "out of memory";
        cli_say(self, "%s", fault);
    }
    for (size_t i = 0; fault == NULL && i < t->count; i++) {
        const char *name = tacet_csv_name(csv, i);
        json_t *text = json_string(name);
        fault = text == NULL                       ? "is not UTF-8: save the table as UTF-8"
                : strlen(name) >= TACET_SPACE_NAME ? "is too long: give it a shorter one"
                                                   : NULL;
        for (size_t j = 0; fault == NULL && name[0] != '\0' && j < i; j++) {
            fault = strcmp(name, t->columns[j].name) == 0 ? "is another's, too: give it one of its own" : NULL;
        }
        json_decref(text);
        (void)snprintf(t->columns[i].name, sizeof t->columns[i].name, "%s", name);
        if (fault != NULL) {
            cli_say(self, "%s: line 1: the name of column %zu %s", path, i + 1, fault);
        }
    }
    status = fault == NULL ? count_table(t, tallies, csv, &err) : TACET_OK;
    for (size_t i = 0; fault == NULL && i < t->count; i++) {
        t->columns[i].kind = t->columns[i].name[0] == '\0' ? "skip" : kind_of(&tallies[i]);
    }
    if (fault == NULL && status == TACET_OK && t->rows == 0) {
        fault = "the table has no rows";
        cli_say(self, "%s: %s", path, fault);
    }
    free(tallies);
    tacet_csv_close(csv);
    return status != TACET_OK ? cli_fail(self, &err) : fault != NULL ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

void table_clear(start_table *t) {
    free(t->columns);
}
