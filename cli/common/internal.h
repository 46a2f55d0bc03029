/* internal.h - between the files of cli/common. */
#ifndef TACET_CLI_COMMON_INTERNAL_H
#define TACET_CLI_COMMON_INTERNAL_H

#include "common/cli.h"

void cli__help(const cli_command *command, const cli_option *options);
void cli__man(const cli_command *command, const cli_option *options);

#endif
