/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - the keys of a service, signed by an authority of its own: what `tacet server init` and `tacet curator init`
 * write. A certificate of another authority does as well: server.pem and server.key in a folder. */
#ifndef TACET_SERVICE_OPEN_KEYS_H
#define TACET_SERVICE_OPEN_KEYS_H

#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_keys_request {
    const char *folder;       /* receives them; made when missing */
    const char *const *hosts; /* names and addresses of the server */
    size_t host_count;
    size_t days;           /* how long the certificates hold: 1 to 36500 */
    const char *authority; /* its name in the certificates */
} tacet_keys_request;

/* ca.pem for the clients; server.pem and server.key; ca.key. CONFLICT: there is a ca.key; keys in use are not replaced.
 * It is written last: what an interrupted attempt left is written anew. INVALID: days, or no host. DENIED, IO. */
TACET_API tacet_status tacet_keys_server(const tacet_keys_request *request, tacet_error *err);
/* And the folder modeler (ca.pem, client.pem, client.key, token), token.hash, and the pair that
 * signs receipts. */
TACET_API tacet_status tacet_keys_curator(const tacet_keys_request *request, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
