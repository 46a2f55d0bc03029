/* SPDX-License-Identifier: Apache-2.0 */
/* repro.h - tables and figures of the four papers as data, and the one engine that runs them.
 *
 * A paper is a file repro_<paper>.c: a table of entries, and a function that turns an entry into a plan, which is rows
 * and the simulations (cells) that fill them. Cells with equal settings are one cell, within a plan and between plans.
 * Ring: programs; made-up data or public tables, seeded noise: nothing here is private. */
#pragma once

#include "runs.h"

#include "common/cli.h"

#include <stdio.h>

enum { REPRO_COLUMNS = 4, REPRO_ROWS = 64, REPRO_CELLS = 192, REPRO_KEY = 1200, REPRO_FINDINGS = 12 };
#define REPRO_NONE SIZE_MAX

typedef struct repro_options {
    bool quick;
    size_t trials; /* 0: the entry's own */
    size_t rounds; /* of bandits; 0: the entry's own */
    uint64_t seed;
    const char *data;   /* folder of the tables; NULL: none */
    size_t row, column; /* from 1: this cell alone is run and printed; 0: all */
    const char *commit; /* for the head of the document; NULL: not told */
} repro_options;

typedef struct repro_cell {
    lab_request request;
    char key[REPRO_KEY];
    double cost; /* rough seconds of a trial on one core, for the time left */
    lab_outcome outcome;
    double mean, se, seconds;
    bool done;
    bool kept; /* found among earlier results */
} repro_cell;

typedef struct repro_row {
    char label[96];
    char group[64];     /* panel; rows of one panel stand together */
    char paper[48];     /* as the paper prints it; "": it prints nothing */
    double value;       /* the same as a number; NaN: none */
    bool reference;     /* non-private, random: no row of the paper's algorithm */
    bool comparable;    /* the first column and `value` are the same quantity */
    const char *branch; /* that the paper's run took, "if" or "else"; NULL: there is none */
    size_t cell[REPRO_COLUMNS];
    size_t less; /* cell whose values are subtracted, trial by trial; REPRO_NONE */
    double unit; /* values are divided by it */
    char note[200];
} repro_row;

typedef struct repro_column {
    char title[64];
    char guarantee[160]; /* the one that really holds */
} repro_column;

struct repro_entry;
typedef struct repro_plan {
    const struct repro_entry *entry;
    repro_column column[REPRO_COLUMNS];
    size_t columns;
    repro_row row[REPRO_ROWS];
    size_t rows;
    repro_cell cell[REPRO_CELLS];
    size_t cells;
    char quantity[64];   /* what the numbers are */
    size_t paper_trials; /* over how many the paper averages */
    bool ours;           /* no table of the paper's: the document has what was found, not the rows */
    char finding[REPRO_FINDINGS][320];
    size_t findings;
    char *path[REPRO_CELLS]; /* owned: paths that requests point to */
    size_t paths;
    char left_out[200]; /* what needs --datasets */
    double seconds;
} repro_plan;

typedef tacet_status (*repro_build_fn)(repro_plan *plan, const repro_options *options, tacet_error *err);

typedef struct repro_entry {
    const char *name, *title;
    const char *setting; /* what was taken from the paper, and what it leaves open */
    const char *why;     /* where ours and the paper's differ, and for what reason */
    bool needs_data;
    const void *spec; /* of the paper's own kind */
    repro_build_fn build;
    void (*conclude)(repro_plan *plan); /* adds findings of its own; NULL */
} repro_entry;

typedef struct repro_paper {
    const char *title;
    const repro_entry *entries;
    size_t count;
} repro_paper;

extern const repro_paper REPRO_OUTSOURCED, REPRO_CENTRAL, REPRO_LOCAL, REPRO_CONTEXTUAL;

/* For the papers' files. */
size_t repro_rounds(const repro_options *options, size_t full, size_t quick);
size_t repro_trials(const repro_options *options, size_t full, size_t quick);
/* The number of the cell with these settings, added when new. */
tacet_status repro_cell_add(size_t *out, repro_plan *plan, const lab_request *request, double cost, tacet_error *err);
/* The next column; `guarantee` is a format. */
void repro_column_add(repro_plan *plan, const char *title, const char *guarantee, ...)
    __attribute__((format(printf, 3, 4)));
/* A row without numbers yet. */
repro_row *repro_row_add(repro_plan *plan, const char *group, const char *label);
void repro_row_paper(repro_row *row, const char *printed);
void repro_finding(repro_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "folder/file", owned by the plan; NULL: out of memory or room. */
const char *repro_path(repro_plan *plan, const char *folder, const char *file);

/* Mean and standard error of what a row shows in a column; false: nothing there. */
bool repro_result(const repro_plan *plan, size_t row, size_t column, double *mean, double *se, size_t *trials);
/* -1: not comparable, or the run took another branch than the paper's; 0: differs; 1: agrees. The rule: the difference
 * is at most three standard errors of a difference of two means over as many trials as the paper's and ours, and half
 * of the finest digit that the paper prints in the table. */
int repro_agrees(const repro_plan *plan, size_t row);
/* How many rows agree, of how many that are scored. */
size_t repro_agreement(const repro_plan *plan, size_t *scored);

/* The branch that the first column's run took, omega and sigma_min; NULL: there is none, or no result yet. */
const json_t *repro_detail(const repro_plan *plan, size_t row);

/* Results of finished cells, one JSON line each; a line is written whole or, after a kill, ignored. */
typedef struct repro_store repro_store;
/* folder NULL: kept in memory only. IO. */
tacet_status repro_store_open(repro_store **out, const char *folder, tacet_error *err);
void repro_store_close(repro_store *store);
/* True when this build of the program made the cell's result, and it was filled. */
bool repro_store_find(const repro_store *store, repro_cell *cell);
tacet_status repro_store_keep(repro_store *store, const repro_cell *cell, tacet_error *err);
const char *repro_build(void); /* of this program: 16 hexadecimal digits; another build's results are not used */

/* What is made of a plan that was run: its part of the document on stdout, or an object. */
void repro_print(const repro_plan *plan);
json_t *repro_json(const repro_plan *plan, const repro_options *options);
/* The document with all of it, and with the items. IO. */
tacet_status repro_page(const char *path, const repro_paper *const *papers, size_t paper_count,
                        repro_plan *const *plans, size_t count, const repro_options *options, const char *command,
                        tacet_error *err);
/* Every item of the papers: what of it is here, where, by which command. A table a paper to the file (NULL: none): all,
 * or, without commands, those that are wrong in the paper. */
json_t *repro_items(FILE *file, bool wrong);
/* Rows of {paper, item, setting, bound, measured, words}. */
typedef struct repro_rows {
    json_t *rows;
    char words[120]; /* room for those that hold a number */
} repro_rows;
void repro_rows_add(repro_rows *rows, const char *paper, const char *item, const char *setting, double bound,
                    double measured, const char *words);
/* Formulas evaluated; gamma: a bound of the information gain of 101 points and T of them. */
tacet_status repro_theorems(repro_rows *rows, double gamma, tacet_error *err);
/* What the theorems say in numbers, beside what is measured: a table for the file (NULL: none), and rows. `trials`
 * of what is measured; 0: 3. */
tacet_status repro_bounds(FILE *file, json_t **out, size_t trials, tacet_error *err);
/* A mean with as many digits as its standard error deserves. */
void repro_number(char *out, size_t size, double mean, double se);
