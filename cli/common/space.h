/* SPDX-License-Identifier: Apache-2.0 */
/* space.h - a space as every command is told it: --space FILE, or, of real numbers and categories, short options. */
#pragma once

#include "common/cli.h"

#include <tacet/space/space.h>

typedef struct cli_space {
    const char *file; /* --space */
    tacet_space_options options;
} cli_space;

/* The rows of an option table, all of them or those a command takes. */
#define CLI_SPACE_FILE(s) CLI_OPT("space", &(s).file, "FILE", "the space: names, kinds, bounds, levels, units")
#define CLI_SPACE_INPUTS(s) CLI_OPT("inputs", &(s).options.inputs, "A,B,…", "the columns and their order")
#define CLI_SPACE_SHORT(s)                                                                                             \
    CLI_OPT_LIST("bounds", &(s).options.bounds, "A=LO:HI,…",                                                           \
                 "public bounds of real columns; values outside are clipped"),                                         \
        CLI_OPT_LIST("levels", &(s).options.levels, "A=X|Y|Z,…", "categories, with their public levels")
#define CLI_SPACE_UNIT(s) CLI_OPT_LIST("unit", &(s).options.unit, "A=U,…", "what counts as distance 1 in each column")

/* Whether any of them was given. */
bool cli_space_given(const cli_space *s);
/* Reads the file, or the options; not both. Returns CLI_EXIT_OK, and *out is the caller's to clear; otherwise the exit
 * code, with the reason on stderr: 2 for options, 2 for a file that is no space, 1 for one that cannot be read. */
int cli_space_read(tacet_space *out, const cli_space *s, const cli_command *self);
/* "V,V" or "A=V,B=V": a value of each of the columns, or, where these are NULL, plain numbers. NULL stands for none.
 * False: something is wrong, explained in err where there is more to say. */
bool cli_space_values(double *out, const tacet_space_column *columns, size_t count, const char *text, tacet_error *err);
/* The same as a JSON object of texts by the columns' names; NULL: not a value of each. */
json_t *cli_space_named(const tacet_space_column *columns, size_t count, const char *text);
/* "2 values: smoker, age". */
const char *cli_space_expects(char out[512], const tacet_space_column *columns, size_t count);
/* The space as a table for people, on stdout. */
void cli_space_show(const tacet_space *space);

/* Every cell that the space, or the column of measured values (NULL: none), cannot take, on stderr, all at once.
 * Returns how many, or SIZE_MAX where the file cannot be read. `self` NULL: says nothing. */
size_t cli_cells_check(const char *path, const tacet_space *space, const char *target, const cli_command *self);
/* After a table was refused for a cell: whether there are more, and then all of them were listed. */
bool cli_cells_told(const char *path, const tacet_space *space, const char *target, const cli_command *self);
/* "", NA, ? and the like. */
bool cli_cell_missing(const char *text);
