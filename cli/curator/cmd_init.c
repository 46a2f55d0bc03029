/* cmd_init.c - tacet curator init: keys, certificates and token of a study.
 * Ring: trusted. */
#include "commands.h"

#include "base/fail.h"
#include "net/pki.h"
#include "trusted/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const mode_t SECRET = S_IRUSR | S_IWUSR;
static const mode_t PUBLIC = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;

static tacet_status put(const char *folder, const char *name, const char *text, mode_t mode, tacet_error *err) {
    char path[TACET__PATH];
    const tacet_status status = tacet__path(path, folder, name, err);
    return status != TACET_OK ? status : tacet__file_write(path, folder, text, mode, err);
}

static tacet_status make(const char *folder, const char *name, const char *const *hosts, size_t count, size_t days,
                         tacet_error *err) {
    char modeler[TACET__PATH];
    char token[TACET__TOKEN_TEXT + 1];
    char hash[TACET__TOKEN_HASH];
    tacet__pem authority = {0};
    tacet__pem server = {0};
    tacet__pem client = {0};
    tacet_status status = tacet__pki_authority(&authority, name, (unsigned)days, err);
    status = status != TACET_OK ? status
                                : tacet__pki_issue(&server, &authority, "curator", true, hosts, count, (int)days, err);
    status =
        status != TACET_OK ? status : tacet__pki_issue(&client, &authority, "modeler", false, NULL, 0, (int)days, err);
    tacet__token_make(token);
    tacet__token_hash(hash, token);
    status = status != TACET_OK ? status : tacet__folder_make(NULL, folder, err);
    status = status != TACET_OK ? status : tacet__path(modeler, folder, "modeler", err);
    status = status != TACET_OK ? status : tacet__folder_make(NULL, modeler, err);
    status = status != TACET_OK ? status : put(folder, "ca.pem", authority.certificate, PUBLIC, err);
    status = status != TACET_OK ? status : put(folder, "ca.key", authority.key, SECRET, err);
    status = status != TACET_OK ? status : put(folder, "server.pem", server.certificate, PUBLIC, err);
    status = status != TACET_OK ? status : put(folder, "server.key", server.key, SECRET, err);
    status = status != TACET_OK ? status : put(folder, "token.hash", hash, SECRET, err);
    status = status != TACET_OK ? status : put(modeler, "ca.pem", authority.certificate, PUBLIC, err);
    status = status != TACET_OK ? status : put(modeler, "client.pem", client.certificate, PUBLIC, err);
    status = status != TACET_OK ? status : put(modeler, "client.key", client.key, SECRET, err);
    status = status != TACET_OK ? status : put(modeler, "token", token, SECRET, err);
    tacet__pem_free(&authority);
    tacet__pem_free(&server);
    tacet__pem_free(&client);
    return status;
}

int cmd_init(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL;
    const char *hosts = "localhost,127.0.0.1,::1";
    const char *name = "tacet study";
    size_t days = 365;
    tacet_error err = {0};
    const cli_option options[] = {
        {"dir", CLI_STRING, &folder, "DIR", "receives the keys; made when missing", true},
        {"host", CLI_STRING, &hosts, "NAME,…", "names and addresses of the curator (default localhost,127.0.0.1,::1)",
         false},
        {"name", CLI_STRING, &name, "TEXT", "of the authority (default 'tacet study')", false},
        {"days", CLI_SIZE, &days, "N", "how long the certificates hold (default 365)", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    char **list = NULL;
    size_t count = 0;
    char existing[TACET__PATH];
    if (days == 0 || days > 36500) {
        return cli_usage(self, "--days: 1 to 36500");
    }
    if (!cli_split(&list, &count, hosts)) {
        return cli_usage(self, "--host: an empty name");
    }
    tacet_status status = tacet__path(existing, folder, "ca.key", &err);
    if (status == TACET_OK && access(existing, F_OK) == 0) {
        status = tacet__fail(&err, TACET_CONFLICT, "%s exists: keys in use are not replaced", existing);
    }
    status = status != TACET_OK ? status : make(folder, name, (const char *const *)list, count, days, &err);
    free(list);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s: authority, server certificate and token\n%s/modeler: hand this folder to the modeler\n", folder,
               folder);
    }
    cli_json_print(json_pack("{ss ss+ sI}", "keys", folder, "modeler", folder, "/modeler", "days", (json_int_t)days));
    return CLI_EXIT_OK;
}
