/* SPDX-License-Identifier: Apache-2.0 */
/* table_search.h - plain GP-UCB over a table on disk: UNPROTECTED, the reference for everything private.
 *
 * The table is CSV files, every record of which is read as it is. The rows asked are those
 * of gp/gp_ucb.h; the target of a row that was not asked is used for the regret at the end alone.
 */
#ifndef TACET_LAB_TABLE_SEARCH_H
#define TACET_LAB_TABLE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/policy.h>
#include <tacet/core/status.h>
#include <tacet/gp/cov.h>
#include "gp/gp.h"

typedef struct lab_search lab_search;

typedef struct lab_search_settings {
    const char *data; /* files, separated by commas; "-": standard input */
    const char *const *inputs;
    size_t d; /* inputs */
    const char *target;
    bool allow_duplicates; /* rows whose inputs and target are those of an earlier one */
    const char *kernel;    /* as tacet_kernel_parse reads it */
    const double *lengthscales;
    size_t lengthscale_count; /* 1 or d */
    double signal_var, noise_var, mean;
    double delta_ucb, beta_scale;
    size_t queries;
    const size_t *first; /* rows to ask first; may be NULL */
    size_t first_count;
    bool minimize, repeats;
    /* May be NULL: every row as it is asked. */
    void (*progress)(size_t asked, size_t queries, double best, void *user);
    void *user;
} lab_search_settings;

/* Valid until the search is closed. */
typedef struct lab_search_result {
    const size_t *rows; /* in the order asked */
    const double *values;
    size_t asked;
    size_t n;                  /* rows of the table */
    tacet_recommendation best; /* values and means in the table's own sign */
    double regret;             /* the best target of the table less the best one measured */
    tacet_gp_report model;
} lab_search_result;

/* Everything but the table: se, variances 1 and 1e-6, delta_ucb .05, beta_scale 1. */
void lab_search_defaults(lab_search_settings *settings);
/* What can be said of the settings before the table is read: INVALID, naming the option of `tacet-lab gp-ucb`. */
tacet_status lab_search_check(const lab_search_settings *settings, tacet_error *err);
/* Reads the table; settings and what they point to must live as long. PARSE, naming file, line or column and the rule:
 * fewer than two rows, a constant column, a cell that is not a finite number, a duplicate row. NOT_FOUND, IO,
 * NO_MEMORY, INVALID. */
tacet_status lab_search_open(lab_search **out, const lab_search_settings *settings, tacet_error *err);
/* All rounds. INVALID, NO_MEMORY, NUMERIC. Once. */
tacet_status lab_search_run(lab_search *search, lab_search_result *out, tacet_error *err);
void lab_search_close(lab_search *search); /* NULL is allowed */

#endif
