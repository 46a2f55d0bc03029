/* commands.h - the commands of tacet-predict. */
#ifndef TACET_CLI_PREDICT_COMMANDS_H
#define TACET_CLI_PREDICT_COMMANDS_H

#include "common/cli.h"

int predict_usca(int argc, char **argv, const cli_command *self);

#endif
