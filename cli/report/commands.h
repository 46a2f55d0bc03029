/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-report. */
#ifndef TACET_CLI_REPORT_COMMANDS_H
#define TACET_CLI_REPORT_COMMANDS_H

#include "common/cli.h"

int cmd_report(int argc, char **argv, const cli_command *self);

#endif
