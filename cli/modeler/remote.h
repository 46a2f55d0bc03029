/* remote.h - the modeler's side of docs/PROTOCOL.md. Ring: open. */
#ifndef TACET_CLI_MODELER_REMOTE_H
#define TACET_CLI_MODELER_REMOTE_H

#include "io/http/client.h"

#include <jansson.h>
#include <tacet/outsourced/shared/manifest.h>

typedef struct remote {
    tacet__client *client;
    double patience;                              /* seconds to go on trying when the curator is away */
    double poll;                                  /* seconds between two looks at a pending query */
    void (*waiting)(const char *why, void *user); /* may be NULL */
    void *user;
} remote;

/* keys: the folder the curator handed over: ca.pem, and token or client.pem and client.key. */
tacet_status remote_open(remote *out, const char *url, const char *keys, bool use_certificate, tacet_error *err);
void remote_close(remote *r);
/* text: the manifest's bytes, from malloc. */
tacet_status remote_manifest(remote *r, tacet_manifest *out, char **text, tacet_error *err);
/* Rows (dims x rows, 64-byte aligned, owned by the caller), through a file in the folder. */
tacet_status remote_release(remote *r, double **rows, const tacet_manifest *manifest, const char *folder,
                            tacet_error *err);
/* Waits while pending. BUDGET: refused. CONFLICT, INVALID: as the curator says. */
tacet_status remote_query(remote *r, double *value, const char *ticket, size_t row, tacet_error *err);
/* The curator's account of what was spent; NULL when it cannot be had. */
json_t *remote_ledger(remote *r);

#endif
