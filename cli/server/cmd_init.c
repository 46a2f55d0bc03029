/* cmd_init.c - tacet server init: the keys of the wire.
 * Ring: trusted. */
#include "server/commands.h"

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

static tacet_status make(const char *folder, const char *const *hosts, size_t count, size_t days, tacet_error *err) {
    tacet__pem authority = {0};
    tacet__pem server = {0};
    tacet_status status = tacet__pki_authority(&authority, "tacet server", (unsigned)days, err);
    status = status != TACET_OK ? status
                                : tacet__pki_issue(&server, &authority, "server", true, hosts, count, (int)days, err);
    status = status != TACET_OK ? status : tacet__folder_make(NULL, folder, err);
    status = status != TACET_OK ? status : put(folder, "ca.key", authority.key, SECRET, err);
    status = status != TACET_OK ? status : put(folder, "ca.pem", authority.certificate, PUBLIC, err);
    status = status != TACET_OK ? status : put(folder, "server.pem", server.certificate, PUBLIC, err);
    status = status != TACET_OK ? status : put(folder, "server.key", server.key, SECRET, err);
    tacet__pem_free(&authority);
    tacet__pem_free(&server);
    return status;
}

int cmd_init(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL;
    const char *hosts = "localhost,127.0.0.1,::1";
    size_t days = 365;
    tacet_error err = {0};
    const cli_option options[] = {
        {"dir", CLI_STRING, &folder, "DIR", "Receives the keys; made when missing.", true},
        {"host", CLI_STRING, &hosts, "NAME,…", "Names and addresses of the server. Default localhost,127.0.0.1,::1.",
         false},
        {"days", CLI_SIZE, &days, "N", "How long the certificates hold. Default 365.", false},
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
    status = status != TACET_OK ? status : make(folder, (const char *const *)list, count, days, &err);
    free(list);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s: keys of the server\n%s/ca.pem: give this file to the clients\n", folder, folder);
    }
    cli_json_print(json_pack("{ss ss+ sI}", "keys", folder, "authority", folder, "/ca.pem", "days", (json_int_t)days));
    return CLI_EXIT_OK;
}
