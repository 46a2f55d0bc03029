/* SPDX-License-Identifier: Apache-2.0 */
/* serving.h - what the programs that serve share: the options of the wire, signals, and a service that runs until it is
 * told to stop. */
#pragma once

#include "common/cli.h"

#include <signal.h>
#include <tacet/service/open/server.h>

/* Entries of a cli_option table. */
#define SERVING_OPTIONS(settings, ready)                                                                               \
    CLI_OPT("listen", &(settings).listen, "HOST:PORT", "Default 127.0.0.1:8443; port 0: any free one."),               \
        CLI_OPT("ready-file", &(ready), "FILE", "Write the address here once the service answers."), CLI_MORE,         \
        CLI_OPT("token-rate", &(settings).rate, "N", "Requests a second of one token; above: 429. Default 20000."),    \
        CLI_OPT("address-rate", &(settings).address_rate, "N",                                                         \
                "Requests a second of one address without a known token, and a hundredth as many grants for pages; "   \
                "above: slowed, then 429. Raise it behind a balancer. Default 200."),                                  \
        CLI_OPT("connections", &(settings).most_connections, "N",                                                      \
                "Connections at a time, a quarter of them of one address. Default 4000."),                             \
        CLI_OPT("pages", &(settings).pages, "STUDY=ORIGIN,…",                                                          \
                "Pages of these origins may report to these studies, with grants instead of tokens."),                 \
        CLI_OPT("session-minutes", &(settings).session_minutes, "M",                                                   \
                "A login on the board ends when nothing was asked for so long. Default 30.")

/* Opens the log on stderr, in JSON with --json, for the life of the process, and blocks SIGINT, SIGTERM and SIGHUP;
 * before any thread is started. False: all is said, and *code is the program's exit code. */
bool serving_begin(tacet_log **log, sigset_t *signals, const cli_command *self, int *code);
/* Takes --store apart: open:PLACE, or two addresses with a comma between, of which the second is the open role's. The
 * parts are kept until the program ends. False: out of memory. */
bool serving_place(tacet_store_place *place);
/* "https://HOST:PORT" of a listening address. */
void serving_url(char out[300], const char *listen, unsigned port);
/* What an earlier run left there would be taken for this one's address. NULL is allowed. */
void serving_unready(const char *ready);
/* Says the address: to a person, as JSON with `more` (taken over; may be NULL), and into a file for scripts. */
void serving_announce(const char *listen, unsigned port, json_t *more, const char *ready);
/* Until SIGINT or SIGTERM; SIGHUP reloads. The process then ends within five seconds, whatever the store does. */
void serving_wait(const sigset_t *signals, tacet_log *log, tacet_status (*reload)(void *user, tacet_error *err),
                  void *user);
/* Starts a service, serves until SIGINT or SIGTERM, returns the program's exit code. Fills in the log, and the token of
 * metrics, which is in the folder of keys as metrics.token. */
typedef tacet_status serving_start(tacet_server **out, const tacet_server_settings *settings, tacet_error *err);
int serving_run(const cli_command *self, serving_start *start, tacet_server_settings *settings, const char *ready);
