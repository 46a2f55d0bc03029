/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-plain. */
#ifndef TACET_CLI_PLAIN_COMMANDS_H
#define TACET_CLI_PLAIN_COMMANDS_H

#include "common/cli.h"

int cmd_gp_ucb(int argc, char **argv, const cli_command *self);

#endif
