/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - the public face of folder.c. Ring: io. Cost: one read, or one write and two syncs. */
#include <tacet/io/file.h>

#include "io/file/folder.h"

#include <sys/stat.h>

tacet_status tacet_file_read(char **out, size_t *length, const char *path, size_t most, tacet_error *err) {
    size_t size = 0;
    *out = NULL;
    const tacet_status status = tacet__file_read(out, &size, path, most, err);
    if (length != NULL) {
        *length = size;
    }
    return status;
}

tacet_status tacet_file_read_in(char **out, size_t *length, const char *folder, const char *name, size_t most,
                                tacet_error *err) {
    char path[TACET__PATH];
    *out = NULL;
    const tacet_status status = tacet__path(path, folder, name, err);
    return status != TACET_OK ? status : tacet_file_read(out, length, path, most, err);
}

tacet_status tacet_file_write(const char *path, const char *text, bool secret, tacet_error *err) {
    const mode_t owner = S_IRUSR | S_IWUSR;
    char folder[TACET__PATH];
    const tacet_status status = tacet__folder_of(folder, path, err);
    return status != TACET_OK ? status
                              : tacet__file_write(path, folder, text, secret ? owner : owner | S_IRGRP | S_IROTH, err);
}
