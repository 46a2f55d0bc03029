/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of tacet-device, and the options of those over the wire. */
#pragma once

#include "common/cli.h"

#include <tacet/local/trusted/service.h>

cli_run cmd_suggest, cmd_report;

enum { SERVICE_PATIENCE = 30 };

/* For the ends of the tables of options, where what few people need stands. `needed`: whether the command is nothing
 * without a server. */
#define SERVICE_OPTIONS(address, needed)                                                                               \
    {"server", CLI_STRING, &(address).server, "URL", "The suggestion service: https://host:port.", needed},            \
        {"study", CLI_STRING, &(address).study, "NAME", "The study, with --server.", needed},                          \
        {"keys",                                                                                                       \
         CLI_STRING,                                                                                                   \
         &(address).keys,                                                                                              \
         "DIR",                                                                                                        \
         "With --server: holds ca.pem, the server's authority, and token, the device's.",                              \
         needed},                                                                                                      \
        CLI_MORE,                                                                                                      \
        CLI_OPT("patience", &(address).patience, "S", "Seconds to go on asking while the server is away. Default 30.")
