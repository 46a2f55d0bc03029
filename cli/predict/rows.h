/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - a prediction for every row of a file, whatever the model. */
#pragma once

#include "common/space.h"

typedef struct predicting {
    const tacet_space_column *actions, *contexts;
    size_t action_count, context_count;
    bool all; /* a line for every action that is looked at; else for the best */
    /* In a context: a list of {"action": [...], "mean"}, the best first, or with `all` every action. NULL: err says
     * why. */
    json_t *(*predict)(const void *model, const double *context, bool all, tacet_error *err);
    const void *model;
} predicting;

/* Prints the columns of the file, then the action and its predicted reward; with --json it adds them to `result`, which
 * it takes over. */
int predict_rows(const predicting *p, const char *path, json_t *result, const cli_command *self);
