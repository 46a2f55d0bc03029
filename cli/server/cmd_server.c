/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_server.c - tacet server: the service, until it is told to stop.
 * Ring: trusted. */
#include "server/commands.h"

#include <malloc.h>
#include <sodium.h>
#include <stdlib.h>
#include <tacet/service/trusted/server.h>

/* free, for jansson: bodies have decision sets, contexts and rewards in them. */
static void wipe_and_free(void *block) {
    if (block != NULL) {
        sodium_memzero(block, malloc_usable_size(block));
        free(block);
    }
}

int cmd_server(int argc, char **argv, const cli_command *self) {
    tacet_server_settings settings;
    const char *ready = NULL;
    tacet_server_defaults(&settings);
    const cli_option options[] = {
        STORE_OPTION(settings.store),
        CLI_NEED(
            "keys", &settings.keys, "DIR",
            "The folder 'tacet server init' wrote: server.pem, server.key. The first line of a file metrics.token "
            "beside "
            "them, at least 20 characters, is a token that reads metrics and nothing else, also while the store is "
            "away."),
        CLI_OPT("anchors", &settings.store.anchors, "DIR",
                "Where it is noted, outside the store, how far each central study came, so that a store which was put "
                "back is refused. Default: in the state folder."),
        SERVING_OPTIONS(settings, ready),
        {0},
    };
    STORE_PARSE_OR_RETURN(options, settings.store);
    json_set_alloc_funcs(malloc, wipe_and_free);
    return serving_run(self, tacet_server_start, &settings, ready);
}
