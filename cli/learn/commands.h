/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-learn, and what they share: options that say what is asked of a log. */
#ifndef TACET_CLI_LEARN_COMMANDS_H
#define TACET_CLI_LEARN_COMMANDS_H

#include "common/cli.h"
#include "common/space.h"

#include <tacet/contextual/trusted/log.h>

int learn_learn(int argc, char **argv, const cli_command *self);
int learn_choose(int argc, char **argv, const cli_command *self);
int learn_actions(int argc, char **argv, const cli_command *self);

enum { JOB_OPTIONS = 44, JOB_LENGTHSCALES = 64 }; /* options: shared ones, with room for those of a command */

/* What learn and choose have in common. */
typedef struct learn_job {
    const char *data, *actions, *contexts, *reward, *range, *kernel, *lengthscale, *groups;
    cli_space columns;
    tacet_contextual_question question;
    tacet_contextual_entry entry;
    uint64_t seed;
    tacet_space space;
    double lengthscales[JOB_LENGTHSCALES];
    size_t group[JOB_LENGTHSCALES];
} learn_job;

void learn_job_init(learn_job *job);
/* Fills the first of `options` (JOB_OPTIONS of them, zeroed) and returns how many. */
size_t learn_job_options(learn_job *job, cli_option *options);
/* Checks the options and makes the space; false: explained, *code set. */
bool learn_job_check(learn_job *job, const cli_command *self, int *code);
void learn_job_clear(learn_job *job);
/* Values of the columns `first` to `end` of a space, with commas between; false: something wrong, explained in err. */
bool learn_values(double *out, const tacet_space *space, size_t first, size_t end, const char *text, tacet_error *err);

#endif
