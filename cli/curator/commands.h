/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-curator. */
#pragma once

#include "common/cli.h"

/* Made-up patients beside `folder`, whose path is *data, and a registry there; what an earlier rehearsal left in either
 * goes. An exit code. rehearsal.c */
int rehearsal_begin(const char *folder, const char **data, const cli_command *self);

cli_run cmd_curate, cmd_serve, cmd_pending, cmd_answer, cmd_desk, cmd_space_draft, cmd_space_check;
