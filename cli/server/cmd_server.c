/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_server.c - tacet server: the service, until it is told to stop.
 * Ring: trusted. */
#include "server/commands.h"

#include "io/http/wipe.h"
#include "serving/serving.h"

#include <stdlib.h>

int cmd_server(int argc, char **argv, const cli_command *self) {
    tacet__host_settings settings;
    const char *log_format = "text";
    const char *ready = NULL;
    tacet__host_defaults(&settings);
    const cli_option options[] = {
        STORE_OPTIONS(settings.store),
        {"keys", CLI_STRING, &settings.keys, "DIR", "The folder 'tacet server init' wrote: server.pem, server.key.",
         true},
        SERVING_OPTIONS(settings, log_format, ready),
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    json_set_alloc_funcs(malloc, tacet__wipe_free); /* bodies have decision sets, contexts and rewards in them */
    settings.store.create = true;
    settings.kinds = tacet__service_kinds;
    return serving_run(self, &settings, log_format, ready);
}
