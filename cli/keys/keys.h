/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - what `tacet curator init` and `tacet server init` share: the keys of a server, signed by an authority of its
 * own. */
#ifndef TACET_CLI_KEYS_KEYS_H
#define TACET_CLI_KEYS_KEYS_H

#include "common/cli.h"
#include "io/http/pki.h"

#define KEYS_HOSTS "localhost,127.0.0.1,::1"
enum { KEYS_DAYS = 365 };

typedef struct keys_request {
    const char *folder;             /* receives them; made when missing */
    const char *hosts;              /* names and addresses of the server, with commas */
    size_t days;                    /* how long the certificates hold */
    const char *authority, *server; /* the names in the certificates */
} keys_request;

/* Makes ca.pem, server.pem and server.key in the folder, unless there is a ca.key: keys in use are not replaced. On
 * success *authority, which may sign more, is the caller's to free. On failure all is said, and *code is the program's
 * exit code. */
bool keys_make(tacet__pem *authority, const keys_request *request, const cli_command *self, int *code);
/* One file of the folder, for its owner's eyes only or for everybody's. */
tacet_status keys_put(const char *folder, const char *name, const char *text, bool secret, tacet_error *err);
/* The last file, ca.key: the keys are whole, and in use from now on. */
tacet_status keys_finish(const keys_request *request, const tacet__pem *authority, tacet_error *err);

#endif
