/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - bytes of a file for the CSV reader.
 * Ring: io, which both sides of the boundary stand on. Cost: one read(2) per buffer of the reader. */
#include <tacet/io/csv.h>

#include "core/fail.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct open_file {
    int fd;
    char *path;
} open_file;

static tacet_status read_file(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    const open_file *file = user;
    ssize_t got = -1;
    do {
        got = read(file->fd, buffer, capacity);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return tacet__fail(err, TACET_IO, "%s: cannot be read: %s", file->path, strerror(errno));
    }
    *count = (size_t)got;
    return TACET_OK;
}

static void close_file(void *user) {
    open_file *file = user;
    if (file->fd > STDERR_FILENO) {
        (void)close(file->fd);
    }
    free(file->path);
    free(file);
}

tacet_status tacet_csv_open_file(tacet_csv **out, const char *path, const tacet_csv_settings *settings,
                                 tacet_error *err) {
    *out = NULL;
    open_file *file = TACET__ZALLOC(open_file, 1);
    char *copy = strdup(path);
    if (file == NULL || copy == NULL) {
        free(file);
        free(copy);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory opening %s", path);
    }
    file->path = copy;
    file->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0) {
        const int reason = errno;
        close_file(file);
        return tacet__fail(err, reason == ENOENT ? TACET_NOT_FOUND : TACET_IO, "%s: cannot be opened: %s", path,
                           strerror(reason));
    }
    const tacet_csv_source source = {.name = path, .read = read_file, .close = close_file, .user = file};
    return tacet_csv_open(out, &source, settings, err);
}

tacet_status tacet_csv_load_file(tacet_csv_table *out, const char *path, const tacet_csv_wanted *wanted,
                                 tacet_error *err) {
    *out = (tacet_csv_table){0};
    tacet_csv *csv = NULL;
    tacet_status status = tacet_csv_open_file(&csv, path, NULL, err);
    TACET_THEN(status, tacet_csv_load(out, csv, wanted, err));
    tacet_csv_close(csv);
    return status;
}
