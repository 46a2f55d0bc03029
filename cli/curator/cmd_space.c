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
#include <tacet/outsourced/trusted/curate.h>

int cmd_space_draft(int argc, char **argv, const cli_command *self) {
    const char *data = NULL;
    cli_names wanted = {0};
    const char *names[TACET_SPACE_COLUMNS];
    const cli_option options[] = {
        CLI_NEED("data", &data, "FILE", "a CSV with a header; nothing else of it is read"),
        CLI_OPT("inputs", &wanted, "A,B,…", "only these columns (default: all)"),
        {0},
    };
    tacet_error err = {0};
    tacet_csv *csv = NULL;
    char *text = NULL;
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = tacet_csv_open_file(&csv, data, NULL, &err);
    const size_t count = status == TACET_OK && wanted.at == NULL ? tacet_csv_columns(csv) : wanted.count;
    if (status == TACET_OK && count > TACET_SPACE_COLUMNS) {
        tacet_csv_close(csv);
        return cli_usage(self, "a space has at most %d columns: name some with --inputs", TACET_SPACE_COLUMNS);
    }
    for (size_t i = 0; i < count && status == TACET_OK; i++) {
        size_t at = i;
        status = wanted.at != NULL ? tacet_csv_find(csv, &at, wanted.at[i], &err) : TACET_OK;
        names[i] = tacet_csv_name(csv, at);
    }
    TACET_THEN(status, tacet_space_draft(&text, names, count, &err));
    if (status == TACET_OK) {
        (void)fputs(text, stdout);
        cli_say(self, "from the header alone: fill in kinds, bounds or levels, and units, from public knowledge");
    }
    free(text);
    tacet_csv_close(csv);
    return status == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}

/* What to do about a column, in a few words; "" when there is nothing. */
static const char *advice(const tacet_space_column *c, const tacet_space_cells *cells, size_t rows) {
    if (cells->unreadable > 0) {
        return tacet_space_traits_of(c)->levels ? "name the level, or a level for others, or one for missing cells"
                                                : "say what stands for a missing cell, or choose another kind";
    }
    if (cells->others > 0 && (double)cells->others >= TACET_SPACE_CROWDED * (double)(rows - cells->missing)) {
        return "nearly all are none of its levels: compare the spelling, capitals too";
    }
    if (cells->lowest >= TACET_SPACE_CROWDED) {
        return tacet_space_traits_of(c)->factor ? "crowded at the lower end: raise it"
                                                : "crowded at the lower end: log, or a lower upper bound";
    }
    return cells->highest >= TACET_SPACE_CROWDED ? "crowded at the upper end: raise the lower bound" : "";
}

static json_t *check_json(const tacet_space *space, const tacet_space_cells *cells, size_t rows) {
    json_t *columns = json_array();
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        const tacet_space_cells *n = &cells[i];
        json_t *column = cli_object("name kind missing outside others unreadable advice", J(c->name),
                                    J(tacet_space_traits_of(c)->name), J(n->missing), J(n->outside), J(n->others),
                                    J(n->unreadable), J(advice(c, n, rows)));
        if (tacet_space_traits_of(c)->levels) {
            cli_add(column, "rarest_level", J(n->rarest));
        } else {
            cli_add(column, "in_lowest_3_percent in_highest_3_percent", J(n->lowest), J(n->highest));
        }
        if (!cli_json_wanted()) {
            cli_add(column, "_low _high _line _category", J(100 * n->lowest), J(100 * n->highest), J(n->first_line),
                    JB(tacet_space_traits_of(c)->levels));
        }
        (void)json_array_append_new(columns, column);
    }
    return cli_object("stamp depends_on_records records columns", J(TACET_SPACE_STAMP), JB(true), J(rows), J(columns));
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
    (void)cli_tell(check_json(space, cells, rows),
                   "{stamp}\n{records} records\n"
                   "{*columns|  {name:-20} {kind:-9} {missing} missing"
                   "{?_category|, {others} counted as others, rarest level {rarest_level}}"
                   "{!_category|, {outside} outside the bounds, {_low:.0f} % in the lowest 3 %, {_high:.0f} % in the "
                   "highest}"
                   "{?unreadable|, {unreadable} cannot be read (first in line {_line})}{?advice|: {advice}}\n}");
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
