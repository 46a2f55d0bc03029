/* commands.h - the commands of tacet-audit. */
#ifndef TACET_CLI_AUDIT_COMMANDS_H
#define TACET_CLI_AUDIT_COMMANDS_H

#include "common/cli.h"

int cmd_audit(int argc, char **argv, const cli_command *self);
int cmd_outsourced(int argc, char **argv, const cli_command *self);

#endif
