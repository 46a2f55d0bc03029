/* SPDX-License-Identifier: Apache-2.0 */
/* trials.h - many independent trials over a few threads, what is said of their results, and the unit box they play in.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <tacet/core/status.h>
#include <tacet/space/space.h>

/* Trial number k, from 0; must depend on k and user alone, and write only what belongs to k. */
typedef tacet_status (*lab_trial_fn)(void *user, size_t k, tacet_error *err);

/* Runs all trials, a thread for each processor that this process may use. The results do not depend on how many. The
 * first failure, by trial number among those that ran, is returned and no new trial is begun after one. Progress is
 * shown. */
tacet_status lab_trials_run(size_t trials, lab_trial_fn fn, void *user, tacet_error *err);

/* Where the next runs lie in a larger piece of work, for its one bar: from share `from` to share `to` of it, doing
 * `what`. NULL: runs stand for themselves again. Not for several threads. */
void lab_progress_within(double from, double to, const char *what);
/* As cli_progress of the current piece of work. */
void lab_progress(double fraction, const char *what);
void lab_progress_end(void);

/* Mean and its standard error (0 for fewer than two values). */
void lab_mean_se(double *mean, double *se, const double *values, size_t count);
/* The same of trials, as JSON: mean, se, and those of max, median, above_0.1 and values that `more` names. */
json_t *lab_summary(const double *values, size_t count, const char *more);
/* The place of a name in a list; false: it is not there. */
bool lab_choose(size_t *out, const char *const *names, size_t count, const char *name);
/* Middle value (of an even number: the mean of the two). NaN when count = 0 or out of memory. */
double lab_median(const double *values, size_t count);
double lab_largest(const double *values, size_t count); /* -inf: none */
/* Lists of the mean and its standard error at each point of a curve; values: points x trials. The caller owns both. */
void lab_curve(json_t **mean, json_t **se, const double *values, size_t points, size_t trials);

/* A column of numbers from 0 to 1 for each coordinate: x0, x1, … */
tacet_status lab_unit_space(tacet_space *space, size_t columns, tacet_error *err);
