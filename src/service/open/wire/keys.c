/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - the keys of a service, signed by an authority of its own.
 * Ring: service. ca.key is written last: where it is, all files are; where it is not, what an interrupted attempt has
 * left is written anew. Cost: some key pairs, and two syncs a file. */
#include <tacet/service/open/keys.h>

#include "core/fail.h"
#include "io/file/folder.h"
#include "io/http/pki.h"

#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "dp/open/receipt_keys.h"
#include <unistd.h>

enum { DAYS_MOST = 36500 };

/* One file of the folder, for its owner's eyes only or for everybody's. */
static tacet_status write_key_file(const char *folder, const char *name, const char *text, bool secret,
                                   tacet_error *err) {
    const mode_t owner = S_IRUSR | S_IWUSR;
    char path[TACET__PATH];
    const tacet_status status = tacet__path(path, folder, name, err);
    return status != TACET_OK ? status
                              : tacet__file_write(path, folder, text, secret ? owner : owner | S_IRGRP | S_IROTH, err);
}

static tacet_status check_request(const tacet_keys_request *r, tacet_error *err) {
    char path[TACET__PATH];
    if (r->days == 0 || r->days > DAYS_MOST) {
        return tacet__fail(err, TACET_INVALID, "certificates hold for 1 to %d days", (int)DAYS_MOST);
    }
    if (r->host_count == 0) {
        return tacet__fail(err, TACET_INVALID, "a server needs a name or an address");
    }
    const tacet_status status = tacet__path(path, r->folder, "ca.key", err);
    return status == TACET_OK && access(path, F_OK) == 0
               ? tacet__fail(err, TACET_CONFLICT, "%s exists: keys in use are not replaced", path)
               : status;
}

/* A certificate and its key, as NAME.pem and NAME.key in a folder. */
static tacet_status issue(const tacet_keys_request *r, const tacet__pem *authority, const char *folder,
                          const char *file, const char *name, tacet__pki_use use, tacet_error *err) {
    tacet__pem pem = {0};
    char certificate[32], key[32];
    const bool client = use == TACET__PKI_CLIENT;
    (void)snprintf(certificate, sizeof certificate, "%s.pem", file);
    (void)snprintf(key, sizeof key, "%s.key", file);
    tacet_status status = tacet__pki_issue(&pem, authority, name, use, client ? NULL : r->hosts,
                                           client ? 0 : r->host_count, (int)r->days, err);
    TACET_THEN(status, write_key_file(folder, certificate, pem.certificate, false, err));
    TACET_THEN(status, write_key_file(folder, key, pem.key, true, err));
    tacet__pem_free(&pem);
    return status;
}

/* The modeler's half: a certificate, and the token whose hash stays with the curator. */
static tacet_status make_modeler(const tacet_keys_request *r, const tacet__pem *authority, tacet_error *err) {
    char modeler[TACET__PATH];
    char token[TACET__TOKEN_TEXT + 1];
    char hash[TACET__TOKEN_HASH];
    tacet__token_make(token);
    tacet__token_hash(hash, token);
    tacet_status status = write_key_file(r->folder, "token.hash", hash, true, err);
    TACET_THEN(status, tacet__path(modeler, r->folder, "modeler", err));
    TACET_THEN(status, tacet__folder_make(NULL, modeler, err));
    TACET_THEN(status, write_key_file(modeler, "ca.pem", authority->certificate, false, err));
    TACET_THEN(status, issue(r, authority, modeler, "client", "modeler", TACET__PKI_CLIENT, err));
    TACET_THEN(status, write_key_file(modeler, "token", token, true, err));
    sodium_memzero(token, sizeof token);
    return status;
}

/* What signs receipts, and the ring that whoever verifies them is given. */
static tacet_status make_receipt_keys(const char *folder, tacet_error *err) {
    char *secret = NULL, *ring = NULL;
    tacet_status status = tacet_receipt_keys(&secret, &ring, err);
    TACET_THEN(status, write_key_file(folder, "receipt.key", secret, true, err));
    TACET_THEN(status, write_key_file(folder, "receipt.ring", ring, false, err));
    free(secret);
    free(ring);
    return status;
}

static tacet_status make(const tacet_keys_request *r, bool curator, tacet_error *err) {
    tacet__pem authority = {0};
    tacet_status status = check_request(r, err);
    TACET_THEN(status, tacet__pki_authority(&authority, r->authority, (unsigned)r->days, err));
    TACET_THEN(status, tacet__folder_make(NULL, r->folder, err));
    TACET_THEN(status, write_key_file(r->folder, "ca.pem", authority.certificate, false, err));
    TACET_THEN(status,
               issue(r, &authority, r->folder, "server", curator ? "curator" : "server", TACET__PKI_SERVER, err));
    if (curator) {
        TACET_THEN(status, make_modeler(r, &authority, err));
        TACET_THEN(status, make_receipt_keys(r->folder, err));
    }
    TACET_THEN(status, write_key_file(r->folder, "ca.key", authority.key, true, err));
    tacet__pem_free(&authority);
    return status;
}

tacet_status tacet_keys_server(const tacet_keys_request *request, tacet_error *err) {
    return make(request, false, err);
}

tacet_status tacet_keys_curator(const tacet_keys_request *request, tacet_error *err) {
    return make(request, true, err);
}
