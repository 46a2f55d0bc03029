/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-device, and the options of those over the wire. */
#ifndef TACET_CLI_DEVICE_COMMANDS_H
#define TACET_CLI_DEVICE_COMMANDS_H

#include "common/cli.h"

#include <tacet/local/trusted/service.h>

cli_run cmd_suggest, cmd_report;

enum { SERVICE_PATIENCE = 30 };

/* For the ends of the tables of options, where what few people need stands. `needed`: whether the command is nothing
 * without a server. */
#define SERVICE_OPTIONS(address, needed)                                                                               \
    {"server", CLI_STRING, &(address).server, "URL", "The suggestion service: https://host:port.", needed},            \
        {"study", CLI_STRING, &(address).study, "NAME", "The study, with --server.", needed},                          \
        {"authority", CLI_STRING, &(address).authority, "FILE", "PEM of the server's authority, with --server.",       \
         needed},                                                                                                      \
        {"token-file", CLI_STRING, &(address).token_file, "FILE", "Holds the device's token, with --server.", needed}, \
        CLI_MORE,                                                                                                      \
        CLI_OPT("patience", &(address).patience, "S", "Seconds to go on asking while the server is away. Default 30.")

#endif
