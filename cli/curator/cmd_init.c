/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_init.c - tacet curator init: keys, certificates and token of a study.
 * Ring: trusted. */
#include "commands.h"

#include "keys/keys.h"
#include "io/file/folder.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <tacet/dp/open/receipt.h>

/* The modeler's half: a certificate, and the token whose hash stays with the curator. */
static tacet_status make_modeler(const keys_request *keys, const tacet__pem *authority, tacet_error *err) {
    char modeler[TACET__PATH];
    char token[TACET__TOKEN_TEXT + 1];
    char hash[TACET__TOKEN_HASH];
    tacet__pem client = {0};
    tacet__token_make(token);
    tacet__token_hash(hash, token);
    tacet_status status =
        tacet__pki_issue(&client, authority, "modeler", TACET__PKI_CLIENT, NULL, 0, (int)keys->days, err);
    status = status != TACET_OK ? status : keys_put(keys->folder, "token.hash", hash, true, err);
    status = status != TACET_OK ? status : tacet__path(modeler, keys->folder, "modeler", err);
    status = status != TACET_OK ? status : tacet__folder_make(NULL, modeler, err);
    status = status != TACET_OK ? status : keys_put(modeler, "ca.pem", authority->certificate, false, err);
    status = status != TACET_OK ? status : keys_put(modeler, "client.pem", client.certificate, false, err);
    status = status != TACET_OK ? status : keys_put(modeler, "client.key", client.key, true, err);
    status = status != TACET_OK ? status : keys_put(modeler, "token", token, true, err);
    sodium_memzero(token, sizeof token);
    tacet__pem_free(&client);
    return status;
}

/* What signs receipts, and the ring that whoever verifies them is given. */
static tacet_status make_receipt_keys(const keys_request *keys, tacet_error *err) {
    char *secret = NULL, *ring = NULL;
    tacet_status status = tacet_receipt_keys(&secret, &ring, err);
    status = status != TACET_OK ? status : keys_put(keys->folder, "receipt.key", secret, true, err);
    status = status != TACET_OK ? status : keys_put(keys->folder, "receipt.ring", ring, false, err);
    free(secret);
    free(ring);
    return status;
}

int cmd_init(int argc, char **argv, const cli_command *self) {
    keys_request keys = {.hosts = KEYS_HOSTS, .days = KEYS_DAYS, .authority = "tacet study", .server = "curator"};
    tacet__pem authority = {0};
    tacet_error err = {0};
    const cli_option options[] = {
        {"dir", CLI_STRING, &keys.folder, "DIR", "receives the keys; made when missing", true},
        {"host", CLI_STRING, &keys.hosts, "NAME,…", "names and addresses of the curator (default " KEYS_HOSTS ")",
         false},
        {"name", CLI_STRING, &keys.authority, "TEXT", "of the authority (default 'tacet study')", false},
        {"days", CLI_SIZE, &keys.days, "N", "how long the certificates hold (default 365)", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) || !keys_make(&authority, &keys, self, &code)) {
        return code;
    }
    tacet_status status = make_modeler(&keys, &authority, &err);
    status = status != TACET_OK ? status : make_receipt_keys(&keys, &err);
    status = status != TACET_OK ? status : keys_finish(&keys, &authority, &err);
    tacet__pem_free(&authority);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s: authority, server certificate and token\n%s/modeler: hand this folder to the modeler\n",
               keys.folder, keys.folder);
    }
    cli_json_print(json_pack("{ss ss+ sI}", "keys", keys.folder, "modeler", keys.folder, "/modeler", "days",
                             (json_int_t)keys.days));
    return CLI_EXIT_OK;
}
