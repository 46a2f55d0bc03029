/* SPDX-License-Identifier: Apache-2.0 */
/* space.h - a space as every command is told it: --space FILE, or the short options. */
#ifndef TACET_CLI_COMMON_SPACE_H
#define TACET_CLI_COMMON_SPACE_H

#include "common/cli.h"

#include <tacet/space/space.h>

typedef struct cli_space {
    const char *file; /* --space */
    tacet_space_options options;
} cli_space;

/* The rows of an option table, all of them or those a command takes. */
#define CLI_SPACE_FILE(s)                                                                                              \
    { "space", CLI_STRING, &(s).file, "FILE", "the space: names, kinds, bounds, levels, units", false }
#define CLI_SPACE_INPUTS(s)                                                                                            \
    { "inputs", CLI_STRING, &(s).options.inputs, "A,B,…", "the columns and their order", false }
#define CLI_SPACE_SHORT(s)                                                                                              \
    {                                                                                                                   \
        "bounds",                                                                                                       \
        CLI_LIST,                                                                                                       \
        &(s).options.bounds,                                                                                            \
        "A=LO:HI,…",                                                                                                    \
        "public bounds of real columns; values outside are clipped",                                                    \
        false},                                                                                                         \
        {"log", CLI_LIST, &(s).options.log, "A=LO:HI,…", "columns on a logarithmic scale, with their bounds", false},   \
        {"integer", CLI_LIST, &(s).options.integer, "A=LO:HI,…", "columns of whole numbers, with their bounds", false}, \
        {"date", CLI_LIST, &(s).options.date, "A=FROM:TO,…", "columns of dates (YYYY, YYYY-MM, YYYY-MM-DD)", false},    \
        {"levels", CLI_LIST, &(s).options.levels, "A=X|Y|Z,…", "categories, with their public levels", false},          \
        {"others", CLI_LIST, &(s).options.others, "A=LEVEL,…", "the level of what is none of the levels", false}, {     \
        "missing", CLI_LIST, &(s).options.missing, "A=VALUE,…",                                                         \
            "what stands for a missing cell: a value, a level, or flag:VALUE, which keeps that it was missing", false   \
    }
#define CLI_SPACE_UNIT(s)                                                                                              \
    {                                                                                                                  \
        "unit", CLI_LIST, &(s).options.unit, "A=U,…",                                                                  \
            "what counts as distance 1 in each column (log: a factor, as 10%; date: days)", false                      \
    }

/* Whether any of them was given. */
bool cli_space_given(const cli_space *s);
/* Reads the file, or the options; not both. Returns CLI_EXIT_OK, and *out is the caller's to clear; otherwise the exit
 * code, with the reason on stderr: 2 for options, 2 for a file that is no space, 1 for one that cannot be read. */
int cli_space_read(tacet_space *out, const cli_space *s, const cli_command *self);
/* The space as a table for people, on stdout. */
void cli_space_show(const tacet_space *space);

#endif
