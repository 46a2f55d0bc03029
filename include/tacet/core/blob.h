/* SPDX-License-Identifier: Apache-2.0 */
/* blob.h - a growing run of bytes: what a policy is saved into. */
#ifndef TACET_CORE_BLOB_H
#define TACET_CORE_BLOB_H

#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_blob {
    unsigned char *data; /* owned; NULL while empty */
    size_t size;
    size_t capacity;
} tacet_blob;

TACET_API void tacet_blob_init(tacet_blob *blob);
/* Wipes and frees the bytes; the blob is empty again. NULL is allowed. */
TACET_API void tacet_blob_clear(tacet_blob *blob);
/* NO_MEMORY leaves the blob as it was. */
TACET_API tacet_status tacet_blob_append(tacet_blob *blob, const void *bytes, size_t count, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
