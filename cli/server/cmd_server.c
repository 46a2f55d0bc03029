/* cmd_server.c - tacet server: the service, until it is told to stop.
 * Ring: trusted. */
#include "server/commands.h"

#include "net/wipe.h"
#include "serving/serving.h"

#include <stdlib.h>

const tacet__policy_kind *const server_kinds[] = {
    &server_kind_joint, &server_kind_fixed, &server_kind_usca,   &tacet__policy_ucb,
    &tacet__policy_tgp, &tacet__policy_ata, &tacet__policy_moma, NULL};

int cmd_server(int argc, char **argv, const cli_command *self) {
    tacet__host_settings settings;
    const char *ready = NULL;
    tacet__host_defaults(&settings);
    const cli_option options[] = {
        STORE_OPTIONS(settings.store),
        {"keys", CLI_STRING, &settings.keys, "DIR", "The folder 'tacet server init' wrote: server.pem, server.key.",
         true},
        SERVING_OPTIONS(settings, ready),
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    json_set_alloc_funcs(malloc, tacet__wipe_free); /* bodies have decision sets, contexts and rewards in them */
    settings.store.create = true;
    settings.kinds = server_kinds;
    return serving_run(self, &settings, ready);
}
