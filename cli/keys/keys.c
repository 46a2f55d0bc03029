/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - tacet curator init, tacet server init. Ring: programs (trusted). */
#include "keys/keys.h"

#include <tacet/service/open/keys.h>

static int run(int argc, char **argv, const cli_command *self, bool curator) {
    tacet_keys_request r = {.days = 365, .authority = curator ? "tacet study" : "tacet server"};
    static const char *const USUAL[] = {"localhost", "127.0.0.1", "::1"};
    cli_names hosts = {USUAL, sizeof USUAL / sizeof *USUAL};
    tacet_error err = {0};
    const cli_option options[] = {
        CLI_NEED("dir", &r.folder, "DIR", "Receives the keys; made when missing."),
        CLI_OPT("host", &hosts, "NAME,…", "Names and addresses of the server. Default localhost,127.0.0.1,::1."),
        CLI_OPT("days", &r.days, "N", "How long the certificates hold. Default 365."),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    r.hosts = hosts.at;
    r.host_count = hosts.count;
    if ((curator ? tacet_keys_curator(&r, &err) : tacet_keys_server(&r, &err)) != TACET_OK) {
        return cli_refuse(self, &err);
    }
    json_t *given = json_sprintf("%s%s", r.folder, curator ? "/modeler" : "/ca.pem");
    return curator ? cli_tell(cli_object("keys modeler days", J(r.folder), J(given), J(r.days)),
                              "{keys}: authority, server certificate and token\n{modeler}: hand this folder to the "
                              "modeler\n")
                   : cli_tell(cli_object("keys authority days", J(r.folder), J(given), J(r.days)),
                              "{keys}: keys of the server\n{authority}: give this file to the clients\n");
}

int keys_curator(int argc, char **argv, const cli_command *self) {
    return run(argc, argv, self, true);
}

int keys_server(int argc, char **argv, const cli_command *self) {
    return run(argc, argv, self, false);
}
