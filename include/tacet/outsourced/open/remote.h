/* SPDX-License-Identifier: Apache-2.0 */
/* remote.h - the modeler's side of docs/PROTOCOL.md: a curator's manifest, release, answers and account, over TLS.
 *
 * Every request may be repeated: a ticket is answered once. A curator that is away is tried again for as long as
 * patience lasts; once it has run out, a request is tried once, until one is answered. Not thread-safe. */
#ifndef TACET_OUTSOURCED_OPEN_REMOTE_H
#define TACET_OUTSOURCED_OPEN_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>
#include <tacet/outsourced/shared/manifest.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_remote tacet_remote;

typedef struct tacet_remote_settings {
    const char *url;
    const char *keys; /* the folder the curator handed over: ca.pem, and token or client.pem and client.key */
    bool use_certificate;
    double patience;                              /* seconds to go on trying when the curator is away */
    double poll;                                  /* seconds between two looks at a pending query */
    void (*waiting)(const char *why, void *user); /* may be NULL */
    bool (*stop)(void *user);                     /* asked while waiting; true: give up with STATE; may be NULL */
    void *user;
} tacet_remote_settings;

/* 60 s of patience, a look every half second. */
TACET_API void tacet_remote_defaults(tacet_remote_settings *settings);
/* NOT_FOUND: the keys. INVALID: the address. NO_MEMORY. */
TACET_API tacet_status tacet_remote_open(tacet_remote **out, const tacet_remote_settings *settings, tacet_error *err);
TACET_API void tacet_remote_close(tacet_remote *remote); /* NULL is allowed */
/* The manifest, its text and the rows of the release (dims x rows); the latter two from malloc, and the caller clears
 * *out. Both are kept in the folder, which is made when missing, and taken from there while the curator is away. */
TACET_API tacet_status tacet_remote_fetch(tacet_remote *remote, tacet_manifest *out, char **text, double **rows,
                                          const char *folder, tacet_error *err);
/* Waits while pending. BUDGET: refused. UNSUPPORTED: the row cannot be measured: the curator says so, or its evaluation
 * failed twice. STATE: told to stop. CONFLICT, INVALID, DENIED, NOT_FOUND: as the curator says. IO, TIMEOUT: away. */
TACET_API tacet_status tacet_remote_query(tacet_remote *remote, double *value, const char *ticket, size_t row,
                                          tacet_error *err);
/* The same as what a session asks (tacet/outsourced/open/session.h): remotes is an array of tacet_remote *, one a
 * holder.
 */
TACET_API tacet_status tacet_remote_ask(void *remotes, double *value, const char *ticket, size_t holder, size_t row,
                                        tacet_error *err);
/* The curator's account of what was spent, as JSON text from malloc; NULL when it cannot be had. */
TACET_API char *tacet_remote_ledger(tacet_remote *remote);

#ifdef __cplusplus
}
#endif
#endif
