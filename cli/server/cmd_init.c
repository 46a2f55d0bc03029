/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_init.c - tacet server init: the keys of the wire.
 * Ring: trusted. */
#include "server/commands.h"

#include "core/fail.h"
#include "keys/keys.h"

#include "service/open/relay.h"

#include <stdio.h>
#include <stdlib.h>

/* By this one servers of the same store know each other. */
static tacet_status make_peer(const keys_request *keys, const tacet__pem *authority, tacet_error *err) {
    tacet__pem peer = {0};
    char **hosts = NULL;
    size_t count = 0;
    if (!cli_split(&hosts, &count, keys->hosts)) {
        return tacet__fail(err, TACET_INVALID, "--host: an empty name");
    }
    tacet_status status = tacet__pki_issue(&peer, authority, TACET__RELAY_NAME, TACET__PKI_PEER,
                                           (const char *const *)hosts, count, (int)keys->days, err);
    free(hosts);
    status = status != TACET_OK ? status : keys_put(keys->folder, "peer.pem", peer.certificate, false, err);
    status = status != TACET_OK ? status : keys_put(keys->folder, "peer.key", peer.key, true, err);
    tacet__pem_free(&peer);
    return status;
}

int cmd_init(int argc, char **argv, const cli_command *self) {
    keys_request keys = {.hosts = KEYS_HOSTS, .days = KEYS_DAYS, .authority = "tacet server", .server = "server"};
    tacet__pem authority = {0};
    tacet_error err = {0};
    const cli_option options[] = {
        {"dir", CLI_STRING, &keys.folder, "DIR", "Receives the keys; made when missing.", true},
        {"host", CLI_STRING, &keys.hosts, "NAME,…", "Names and addresses of the server. Default " KEYS_HOSTS ".",
         false},
        {"days", CLI_SIZE, &keys.days, "N", "How long the certificates hold. Default 365.", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) || !keys_make(&authority, &keys, self, &code)) {
        return code;
    }
    tacet_status status = make_peer(&keys, &authority, &err);
    status = status != TACET_OK ? status : keys_finish(&keys, &authority, &err);
    tacet__pem_free(&authority);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s: keys of the server\n%s/ca.pem: give this file to the clients\n", keys.folder, keys.folder);
    }
    cli_json_print(json_pack("{ss ss+ sI}", "keys", keys.folder, "authority", keys.folder, "/ca.pem", "days",
                             (json_int_t)keys.days));
    return CLI_EXIT_OK;
}
