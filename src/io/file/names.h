/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - files and columns as a person names them. Ring: io. */
#ifndef TACET_SRC_IO_FILE_NAMES_H
#define TACET_SRC_IO_FILE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <tacet/io/npy.h>

/* Whether a file's name ends in .npy. */
bool tacet__is_npy(const char *path);
/* The files that `data` names: one whose name it is, or several with commas between them. INVALID: one
 * of them is there twice, by name, by a link or as a copy. NO_MEMORY. */
tacet_status tacet__file_names(char ***out, size_t *count, const char *data, tacet_error *err);
void tacet__file_names_free(char **files, size_t count);
/* Where the column of that number begins: its offset in a row. NOT_FOUND: it has none. */
tacet_status tacet__npy_column(size_t *out, const tacet_npy *npy, const char *name, const char *path, tacet_error *err);

#endif
