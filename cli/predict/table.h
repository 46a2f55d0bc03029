/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - predictions from a released table of categories. */
#pragma once

#include "common/space.h"

#include <tacet/ab/open/model.h>

/* The best action in a context, or in each context of a file; one of `context` and `data` is NULL. */
int predict_table(const tacet_ab_model *model, const char *context, const char *data, bool all,
                  const cli_command *self);
