/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - `tacet curator init` and `tacet server init`: one command but for what is made beside the server's keys. */
#ifndef TACET_CLI_KEYS_KEYS_H
#define TACET_CLI_KEYS_KEYS_H

#include "common/cli.h"

int keys_curator(int argc, char **argv, const cli_command *self);
int keys_server(int argc, char **argv, const cli_command *self);

#endif
