/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - tacet curator init, tacet server init. Ring: programs (trusted). */
#include "keys/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <tacet/service/open/keys.h>

#define HOSTS "localhost,127.0.0.1,::1"

static const cli_option END = {0};

static int run(int argc, char **argv, const cli_command *self, bool curator) {
    tacet_keys_request r = {.days = 365, .authority = curator ? "tacet study" : "tacet server"};
    const char *names = HOSTS;
    char **hosts = NULL;
    tacet_error err = {0};
    const cli_option name = CLI_OPT("name", &r.authority, "TEXT", "Of the authority. Default 'tacet study'.");
    const cli_option options[] = {
        CLI_NEED("dir", &r.folder, "DIR", "Receives the keys; made when missing."),
        CLI_OPT("host", &names, "NAME,…", "Names and addresses of the server. Default " HOSTS "."),
        CLI_OPT("days", &r.days, "N", "How long the certificates hold. Default 365."),
        curator ? name : END,
        END,
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (!cli_split(&hosts, &r.host_count, names)) {
        return cli_usage(self, "--host: an empty name");
    }
    r.hosts = (const char *const *)hosts;
    const tacet_status status = curator ? tacet_keys_curator(&r, &err) : tacet_keys_server(&r, &err);
    free(hosts);
    if (status != TACET_OK) {
        return cli_refuse(self, &err);
    }
    if (!cli_json_wanted() && curator) {
        printf("%s: authority, server certificate and token\n%s/modeler: hand this folder to the modeler\n", r.folder,
               r.folder);
    } else if (!cli_json_wanted()) {
        printf("%s: keys of the server\n%s/ca.pem: give this file to the clients\n", r.folder, r.folder);
    }
    cli_json_print(json_pack("{ss ss+ sI}", "keys", r.folder, curator ? "modeler" : "authority", r.folder,
                             curator ? "/modeler" : "/ca.pem", "days", (json_int_t)r.days));
    return CLI_EXIT_OK;
}

int keys_curator(int argc, char **argv, const cli_command *self) {
    return run(argc, argv, self, true);
}

int keys_server(int argc, char **argv, const cli_command *self) {
    return run(argc, argv, self, false);
}
