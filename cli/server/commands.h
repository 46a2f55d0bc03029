/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-server. */
#ifndef TACET_CLI_SERVER_COMMANDS_H
#define TACET_CLI_SERVER_COMMANDS_H

#include "common/cli.h"

#include <tacet/service/trusted/store.h>

int cmd_server(int argc, char **argv, const cli_command *self);
int cmd_study_create(int argc, char **argv, const cli_command *self);
int cmd_study_suggest(int argc, char **argv, const cli_command *self);
int cmd_study_observe(int argc, char **argv, const cli_command *self);
int cmd_study_status(int argc, char **argv, const cli_command *self);
int cmd_study_release(int argc, char **argv, const cli_command *self);
int cmd_study_list(int argc, char **argv, const cli_command *self);
int cmd_study_show(int argc, char **argv, const cli_command *self);
int cmd_study_extend(int argc, char **argv, const cli_command *self);
int cmd_study_archive(int argc, char **argv, const cli_command *self);
int cmd_study_snapshot(int argc, char **argv, const cli_command *self);
int cmd_study_expire(int argc, char **argv, const cli_command *self);
int cmd_study_token(int argc, char **argv, const cli_command *self);
int cmd_store_init(int argc, char **argv, const cli_command *self);
int cmd_store_check(int argc, char **argv, const cli_command *self);
int cmd_store_restore(int argc, char **argv, const cli_command *self);
int cmd_store_backup(int argc, char **argv, const cli_command *self);

/* The three options that say where studies are; for the tables of the commands. */
#define STORE_OPTIONS(place)                                                                                           \
    CLI_NEED("store", &(place).store, "DIR|URL",                                                                       \
             "Where the studies are: a folder (SQLite), or postgresql://… for a store that several servers share."),   \
        CLI_OPT("open-store", &(place).open_store, "URL",                                                              \
                "PostgreSQL: the address for the open role. Default: the same as --store."),                           \
        CLI_OPT("open-only", &(place).open_only, NULL, "Do not touch the trusted store: local studies only.")

#endif
