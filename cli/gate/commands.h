/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-gate. */
#ifndef TACET_CLI_GATE_COMMANDS_H
#define TACET_CLI_GATE_COMMANDS_H

#include "common/cli.h"

cli_run cmd_calibrate;

#endif
