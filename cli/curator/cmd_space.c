/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_space.c - tacet space draft, tacet space check.
 * Ring: trusted. A draft is made from the header alone; what a check tells depends on the records, and is stamped so.
 */
#include "commands.h"
#include "common/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>
#include <tacet/io/csvfile.h>
#include <tacet/outsourced/trusted/space_check.h>

int cmd_space_draft(int argc, char **argv, const cli_command *self) {
    const char *data = NULL;
    const char *inputs = NULL;
    const char *names[TACET_SPACE_COLUMNS];
    const cli_option options[] = {
        CLI_NEED("data", &data, "FILE", "a CSV with a header; nothing else of it is read"),
        CLI_OPT("inputs", &inputs, "A,B,…", "only these columns (default: all)"),
        {0},
    };
    tacet_error err = {0};
    tacet_csv *csv = NULL;
    char **wanted = NULL;
    char *text = NULL;
    size_t count = 0;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (inputs != NULL && !cli_split(&wanted, &count, inputs)) {
        return cli_usage(self, "--inputs: an empty name");
    }
    tacet_status status = tacet_csv_open_file(&csv, data, NULL, &err);
    count = status == TACET_OK && wanted == NULL ? tacet_csv_columns(csv) : count;
    if (status == TACET_OK && count > TACET_SPACE_COLUMNS) {
        free(wanted);
        tacet_csv_close(csv);
        return cli_usage(self, "a space has at most %d columns: name some with --inputs", TACET_SPACE_COLUMNS);
    }
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        size_t at = i;
        status = wanted != NULL ? tacet_csv_find(csv, &at, wanted[i], &err) : TACET_OK;
        names[i] = tacet_csv_name(csv, at);
    }
    status = status != TACET_OK ? status : tacet_space_draft(&text, names, count, &err);
    if (status == TACET_OK) {
        (void)fputs(text, stdout);
        cli_say(self, "from the header alone: fill in kinds, bounds or levels, and units, from public knowledge");
    }
    free(text);
    free(wanted);
    tacet_csv_close(csv);
    return status == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}

/* What to do about a column, in a few words; "" when there is nothing. */
static const char *advice(const tacet_space_column *c, const tacet_space_cells *cells) {
    if (cells->unreadable > 0) {
        return c->kind == TACET_SPACE_CATEGORY ? "name the level, or a level for others, or one for missing cells"
                                               : "say what stands for a missing cell, or choose another kind";
    }
    if (cells->lowest >= TACET_SPACE_CROWDED) {
        return c->kind == TACET_SPACE_LOG ? "crowded at the lower end: raise it"
                                          : "crowded at the lower end: log, or a lower upper bound";
    }
    return cells->highest >= TACET_SPACE_CROWDED ? "crowded at the upper end: raise the lower bound" : "";
}

static void show_check(const tacet_space *space, const tacet_space_cells *cells, size_t rows) {
    printf("%s\n%zu records\n", TACET_SPACE_STAMP, rows);
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        printf("  %-20s %-9s %zu missing", c->name, tacet_space_kind_name(c->kind), cells[i].missing);
        if (c->kind == TACET_SPACE_CATEGORY) {
            printf(", %zu counted as others, rarest level %zu", cells[i].others, cells[i].rarest);
        } else {
            printf(", %zu outside the bounds, %.0f %% in the lowest 3 %%, %.0f %% in the highest", cells[i].outside,
                   100 * cells[i].lowest, 100 * cells[i].highest);
        }
        if (cells[i].unreadable > 0) {
            printf(", %zu cannot be read (first in line %llu)", cells[i].unreadable,
                   (unsigned long long)cells[i].first_line);
        }
        const char *what = advice(c, &cells[i]);
        printf("%s%s\n", what[0] != '\0' ? ": " : "", what);
    }
}

static json_t *check_json(const tacet_space *space, const tacet_space_cells *cells, size_t rows) {
    json_t *columns = json_array();
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        json_t *column = json_pack("{ss ss sI sI sI sI ss}", "name", c->name, "kind", tacet_space_kind_name(c->kind),
                                   "missing", (json_int_t)cells[i].missing, "outside", (json_int_t)cells[i].outside,
                                   "others", (json_int_t)cells[i].others, "unreadable", (json_int_t)cells[i].unreadable,
                                   "advice", advice(c, &cells[i]));
        if (c->kind == TACET_SPACE_CATEGORY) {
            (void)json_object_set_new(column, "rarest_level", json_integer((json_int_t)cells[i].rarest));
        } else {
            (void)json_object_set_new(column, "in_lowest_3_percent", json_real(cells[i].lowest));
            (void)json_object_set_new(column, "in_highest_3_percent", json_real(cells[i].highest));
        }
        (void)json_array_append_new(columns, column);
    }
    return json_pack("{ss sb sI so}", "stamp", TACET_SPACE_STAMP, "depends_on_records", 1, "records", (json_int_t)rows,
                     "columns", columns);
}

static int run_check(const tacet_space *space, const char *data, const cli_command *self) {
    tacet_space_cells *cells = calloc(space->count, sizeof *cells);
    tacet_error err = {0};
    size_t rows = 0;
    if (cells == NULL) {
        cli_say(self, "out of memory");
        return CLI_EXIT_FAILED;
    }
    if (tacet_space_table(cells, &rows, space, data, &err) != TACET_OK) {
        free(cells);
        return cli_fail(self, &err);
    }
    bool refused = false;
    for (size_t i = 0; i < space->count; i++) {
        refused = refused || cells[i].unreadable > 0;
    }
    if (!cli_json_wanted()) {
        show_check(space, cells, rows);
    }
    cli_json_print(check_json(space, cells, rows));
    free(cells);
    if (refused) {
        cli_say(self, "cells cannot be read in this space: a release of this table would be refused");
    }
    return refused ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

int cmd_space_check(int argc, char **argv, const cli_command *self) {
    const char *data = NULL;
    cli_space given = {0};
    const cli_option options[] = {
        CLI_OPT("data", &data, "FILE", "the records; without it the space alone is checked and printed"),
        CLI_SPACE_FILE(given),
        CLI_SPACE_INPUTS(given),
        CLI_SPACE_SHORT(given),
        CLI_SPACE_UNIT(given),
        {0},
    };
    tacet_space space;
    int code = 0;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    code = cli_space_read(&space, &given, self);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    if (data != NULL) {
        code = run_check(&space, data, self);
    } else {
        char *text = NULL;
        tacet_error err = {0};
        if (!cli_json_wanted()) {
            cli_space_show(&space);
        } else if (tacet_space_encode(&space, &text, &err) == TACET_OK) {
            cli_json_print(json_loads(text, 0, NULL));
        } else {
            code = cli_fail(self, &err);
        }
        free(text);
    }
    tacet_space_clear(&space);
    return code;
}
