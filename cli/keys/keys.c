/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - the keys of a server, signed by an authority of its own.
 * Ring: programs (trusted). ca.key is written last: where it is, all files are; where it is not, what an interrupted
 * attempt has left is written anew. */
#include "keys/keys.h"

#include "core/fail.h"
#include "io/file/folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAYS_MOST = 36500 };

tacet_status keys_put(const char *folder, const char *name, const char *text, bool secret, tacet_error *err) {
    const mode_t owner = S_IRUSR | S_IWUSR;
    char path[TACET__PATH];
    const tacet_status status = tacet__path(path, folder, name, err);
    return status != TACET_OK ? status
                              : tacet__file_write(path, folder, text, secret ? owner : owner | S_IRGRP | S_IROTH, err);
}

static tacet_status make(tacet__pem *authority, const keys_request *r, const char *const *hosts, size_t count,
                         tacet_error *err) {
    const char *folder = r->folder;
    char existing[TACET__PATH];
    tacet__pem server = {0};
    tacet_status status = tacet__path(existing, folder, "ca.key", err);
    if (status == TACET_OK && access(existing, F_OK) == 0) {
        status = tacet__fail(err, TACET_CONFLICT, "%s exists: keys in use are not replaced", existing);
    }
    status = status != TACET_OK ? status : tacet__pki_authority(authority, r->authority, (unsigned)r->days, err);
    status = status != TACET_OK
                 ? status
                 : tacet__pki_issue(&server, authority, r->server, TACET__PKI_SERVER, hosts, count, (int)r->days, err);
    status = status != TACET_OK ? status : tacet__folder_make(NULL, folder, err);
    status = status != TACET_OK ? status : keys_put(folder, "ca.pem", authority->certificate, false, err);
    status = status != TACET_OK ? status : keys_put(folder, "server.pem", server.certificate, false, err);
    status = status != TACET_OK ? status : keys_put(folder, "server.key", server.key, true, err);
    tacet__pem_free(&server);
    return status;
}

tacet_status keys_finish(const keys_request *request, const tacet__pem *authority, tacet_error *err) {
    return keys_put(request->folder, "ca.key", authority->key, true, err);
}

bool keys_make(tacet__pem *authority, const keys_request *request, const cli_command *self, int *code) {
    char **hosts = NULL;
    size_t count = 0;
    tacet_error err = {0};
    *authority = (tacet__pem){0};
    if (request->days == 0 || request->days > DAYS_MOST) {
        *code = cli_usage(self, "--days: 1 to %d", (int)DAYS_MOST);
        return false;
    }
    if (!cli_split(&hosts, &count, request->hosts)) {
        *code = cli_usage(self, "--host: an empty name");
        return false;
    }
    const tacet_status status = make(authority, request, (const char *const *)hosts, count, &err);
    free(hosts);
    if (status != TACET_OK) {
        tacet__pem_free(authority);
        *code = cli_fail(self, &err);
        return false;
    }
    return true;
}
