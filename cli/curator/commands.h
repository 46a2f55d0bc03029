/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-curator. */
#ifndef TACET_CLI_CURATOR_COMMANDS_H
#define TACET_CLI_CURATOR_COMMANDS_H

#include "common/cli.h"

int cmd_curate(int argc, char **argv, const cli_command *self);
int cmd_join(int argc, char **argv, const cli_command *self);
int cmd_serve(int argc, char **argv, const cli_command *self);
int cmd_pending(int argc, char **argv, const cli_command *self);
int cmd_space_draft(int argc, char **argv, const cli_command *self);
int cmd_space_check(int argc, char **argv, const cli_command *self);
int cmd_desk(int argc, char **argv, const cli_command *self);
int cmd_answer(int argc, char **argv, const cli_command *self);

#endif
