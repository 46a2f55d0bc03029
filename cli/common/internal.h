/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - between the files of cli/common. */
#pragma once

#include "common/cli.h"

/* What is typed before a command: "tacet", or a program of its own. */
const char *cli__front(void);
/* `all`: with what stands behind CLI_MORE. */
void cli__help(const cli_command *command, const cli_option *options, bool all);
void cli__man(const cli_command *command, const cli_option *options);
/* One line an option, for the completion of shells: name, what its value is called, the first sentence of its help,
 * with tabs between them. */
void cli__options(const cli_option *options);

/* Takes one option of a file; an exit code, 0 to go on. */
typedef int cli__set(void *user, const char *name, const char *value);
/* Every option of a file, in its order. Explains on stderr what is wrong. */
int cli__config(const cli_command *command, const char *path, cli__set *set, void *user);
