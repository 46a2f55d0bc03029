/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-learn, and the options that say what is asked of a log. */
#pragma once

#include "common/cli.h"
#include "common/space.h"

#include <tacet/ab/trusted/log.h>

cli_run learn_learn, learn_actions;

enum { JOB_OPTIONS = 32 }; /* shared ones, with room for those of a command */

typedef struct learn_job {
    const char *data, *actions, *contexts;
    cli_space columns;
    cli_span range;
    tacet_ab_question question;
    tacet_contextual_entry entry;
    uint64_t seed;
    tacet_space space;
} learn_job;

void learn_job_init(learn_job *job);
/* Fills the first of `options`, which are zeroed, and returns how many. */
size_t learn_job_options(learn_job *job, cli_option *options);
/* Checks the options and makes the space; CLI_EXIT_OK, or the exit code of what was said. */
int learn_job_check(learn_job *job, const cli_command *self);
