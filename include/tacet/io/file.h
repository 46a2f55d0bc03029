/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - small files, whole: read at once, written so that a reader finds all of the new text or all of the old. */
#ifndef TACET_IO_FILE_H
#define TACET_IO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The file as NUL-terminated text, from malloc; *length (may be NULL) without the NUL. NOT_FOUND, DENIED, IO; PARSE:
 * more than `most` bytes. */
TACET_API tacet_status tacet_file_read(char **out, size_t *length, const char *path, size_t most, tacet_error *err);
/* The file `name` of a folder. The same statuses; INVALID: the path is too long. */
TACET_API tacet_status tacet_file_read_in(char **out, size_t *length, const char *folder, const char *name, size_t most,
                                          tacet_error *err);
/* Durable when it returns OK. `secret`: for its owner's eyes only, otherwise anybody may read it. DENIED, IO. */
TACET_API tacet_status tacet_file_write(const char *path, const char *text, bool secret, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
