/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-collector: the suggestion service for local studies alone.
 * Ring: open. Linked to nothing of the gate or the trusted ring: what it stores was randomised before it arrived. */
#include "serving/serving.h"

static int cmd_collector(int argc, char **argv, const cli_command *self) {
    tacet_server_settings settings;
    const char *ready = NULL;
    tacet_server_defaults(&settings);
    const cli_option options[] = {
        CLI_NEED("store", &settings.store.store, "DIR|URL",
                 "Where the studies are: a folder (SQLite: open.db in it), or postgresql://… as the role tacet_open."),
        CLI_NEED(
            "keys", &settings.keys, "DIR",
            "A folder with server.pem and server.key ('tacet server init'), and metrics.token, as for 'tacet server'."),
        SERVING_OPTIONS(settings, ready),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (!serving_place(&settings.store)) {
        return cli_usage(self, "out of memory reading --store");
    }
    return serving_run(self, tacet_collector_start, &settings, ready);
}

static const cli_command COMMANDS[] = {
    {"collector", "serve local studies over HTTPS, with nothing private in reach",
     "--store DIR|URL --keys DIR [--listen HOST:PORT] [options]",
     "Answers the requests of docs/API.md for the local studies of a store: devices ask what to try, and report what "
     "came of it in randomised form. The program is linked to nothing that could hold or make private data, and opens "
     "the open store only. Central studies are not served.\n\n"
     "Prints the address it listens on, as JSON with --json, and runs until it is told to stop (SIGINT, SIGTERM).",
     "tacet study create --store open:studies --name slides --trust local --eps 1 --points arms.csv --inputs "
     "x,y --lengthscale 0.2\n"
     "tacet collector --store studies --keys keys",
     cmd_collector},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-collector",
    .summary = "The suggestion service for local studies: collects what devices randomised.",
    .ring = "open (sees randomised reports only)",
    .commands = COMMANDS,
};
