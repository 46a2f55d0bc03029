/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-gate. */
#ifndef TACET_CLI_GATE_COMMANDS_H
#define TACET_CLI_GATE_COMMANDS_H

#include "common/cli.h"

int cmd_calibrate(int argc, char **argv, const cli_command *self);
int cmd_noise(int argc, char **argv, const cli_command *self);

#endif
