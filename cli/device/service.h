/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - the options that every command over the wire has. */
#ifndef TACET_CLI_DEVICE_SERVICE_H
#define TACET_CLI_DEVICE_SERVICE_H

#include "common/cli.h"

#include <tacet/local/trusted/service.h>

enum { SERVICE_PATIENCE = 30 };

/* For the tables of options. `needed`: whether the command is nothing without a server. */
#define SERVICE_OPTIONS(address, needed)                                                                               \
    {"server", CLI_STRING, &(address).server, "URL", "The suggestion service: https://host:port.", needed},            \
        {"study", CLI_STRING, &(address).study, "NAME", "The study, with --server.", needed},                          \
        {"authority",                                                                                                  \
         CLI_STRING,                                                                                                   \
         &(address).authority,                                                                                         \
         "FILE",                                                                                                       \
         "PEM of the authority that signed the server's certificate, with --server.",                                  \
         needed},                                                                                                      \
        {"token-file", CLI_STRING, &(address).token_file, "FILE", "Holds the device's token, with --server.", needed}, \
        CLI_OPT("patience", &(address).patience, "S", "Seconds to go on asking while the server is away. Default 30.")

#endif
