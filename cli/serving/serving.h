/* serving.h - what `tacet server` and `tacet collector` share: the options of the wire, and a service that runs until
 * it is told to stop. */
#ifndef TACET_CLI_SERVING_SERVING_H
#define TACET_CLI_SERVING_SERVING_H

#include "common/cli.h"
#include "service/open/host.h"

/* Entries of a cli_option table. */
#define SERVING_OPTIONS(settings, ready)                                                                               \
    {"listen", CLI_STRING, &(settings).listen, "HOST:PORT", "Default 127.0.0.1:8443; port 0: any free one.", false},   \
        {"threads",                                                                                                    \
         CLI_SIZE,                                                                                                     \
         &(settings).threads,                                                                                          \
         "N",                                                                                                          \
         "Threads of the wire; each study in use has one more. Default 2.",                                            \
         false},                                                                                                       \
        {"rate", CLI_DOUBLE, &(settings).rate, "N", "Requests a second over all clients; above: 429. Default 20000.",  \
         false},                                                                                                       \
        {"busy-ms",                                                                                                    \
         CLI_U64,                                                                                                      \
         &(settings).store.busy_ms,                                                                                    \
         "MS",                                                                                                         \
         "How long to wait for the store's lock before a request is answered 503. Default 10000.",                     \
         false},                                                                                                       \
    {                                                                                                                  \
        "ready-file", CLI_STRING, &(ready), "FILE", "Write the address here once the service answers.", false          \
    }

/* Checks the options of the wire, serves until SIGINT or SIGTERM, returns the program's exit code. Fills in the log. */
int serving_run(const cli_command *self, tacet__host_settings *settings, const char *ready);

#endif
