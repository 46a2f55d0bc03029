/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-predict. */
#ifndef TACET_CLI_PREDICT_COMMANDS_H
#define TACET_CLI_PREDICT_COMMANDS_H

#include "common/cli.h"

#include <tacet/contextual/open/model.h>

int predict_predict(int argc, char **argv, const cli_command *self);

/* IO, PARSE, NO_MEMORY. */
tacet_status predict_load(tacet_contextual_model **out, const char *path, tacet_error *err);

#endif
