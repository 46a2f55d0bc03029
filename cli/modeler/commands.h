/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-modeler. */
#ifndef TACET_CLI_MODELER_COMMANDS_H
#define TACET_CLI_MODELER_COMMANDS_H

#include "common/cli.h"

int cmd_run(int argc, char **argv, const cli_command *self);

#endif
