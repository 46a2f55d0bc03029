/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-curator. */
#ifndef TACET_CLI_CURATOR_COMMANDS_H
#define TACET_CLI_CURATOR_COMMANDS_H

#include "common/cli.h"

cli_run cmd_curate, cmd_serve, cmd_pending, cmd_answer, cmd_desk, cmd_space_draft, cmd_space_check;

#endif
