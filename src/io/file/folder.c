/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - files that appear whole or not at all: written beside their place, synced, renamed, folder synced.
 * Ring: io. */
#include "io/file/folder.h"

#include "core/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/file.h>
#include <unistd.h>

static tacet_status failed(const char *what, const char *path, tacet_error *err) {
    const int code = errno;
    return tacet__fail(err, code == EACCES || code == EROFS || code == EPERM ? TACET_DENIED : TACET_IO, "%s: %s: %s",
                       path, what, strerror(code));
}

tacet_status tacet__path(char out[TACET__PATH], const char *folder, const char *name, tacet_error *err) {
    const int n = snprintf(out, TACET__PATH, "%s/%s", folder, name);
    if (n < 0 || n >= TACET__PATH) {
        return tacet__fail(err, TACET_INVALID, "the path of %s is too long", name);
    }
    return TACET_OK;
}

const char *tacet__folder_next(DIR *folder, int *wrong) {
    errno = 0;
    const struct dirent *item = readdir(folder);
    *wrong = item == NULL ? errno : 0;
    return item != NULL ? item->d_name : NULL;
}

tacet_status tacet__folder_of(char out[TACET__PATH], const char *path, tacet_error *err) {
    const char *slash = strrchr(path, '/');
    const size_t length = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    if (length >= TACET__PATH) {
        return tacet__fail(err, TACET_INVALID, "the path is too long");
    }
    memcpy(out, slash == NULL ? "." : path, length);
    out[length] = '\0';
    return TACET_OK;
}

tacet_status tacet__folder_make(bool *made, const char *folder, tacet_error *err) {
    struct stat st;
    const bool fresh = mkdir(folder, 0700) == 0;
    if (made != NULL) {
        *made = fresh;
    }
    if (fresh || (errno == EEXIST && stat(folder, &st) == 0 && S_ISDIR(st.st_mode))) {
        return TACET_OK;
    }
    return failed("cannot make the folder", folder, err);
}

void tacet__file_hurry(FILE *file, size_t from, size_t to) {
    /* A hint: what fails here, tacet__file_finish reports. */
    (void)sync_file_range(fileno(file), (off64_t)from, (off64_t)(to - from), SYNC_FILE_RANGE_WRITE);
}

tacet_status tacet__file_finish(FILE *file, const char *path, tacet_error *err) {
    const int bad = fflush(file) != 0 || ferror(file) || fsync(fileno(file)) != 0;
    const int code = errno;
    const int close_bad = fclose(file) != 0;
    if (bad || close_bad) {
        errno = bad ? code : errno;
        return failed("cannot be written", path, err);
    }
    return TACET_OK;
}

tacet_status tacet__folder_sync(const char *folder, tacet_error *err) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const tacet_status status = fd < 0 || fsync(fd) != 0 ? failed("cannot be synced", folder, err) : TACET_OK;
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

/* Between two file systems: a copy beside its place, synced, renamed. */
static tacet_status copy_over(const char *from, const char *to, tacet_error *err) {
    char beside[TACET__PATH + 8];
    char bytes[1 << 14];
    struct stat st;
    (void)snprintf(beside, sizeof beside, "%s.new", to);
    FILE *in = fopen(from, "rbe");
    const int fd = in != NULL && fstat(fileno(in), &st) == 0
                       ? open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, st.st_mode & 0777)
                       : -1;
    FILE *out = fd >= 0 ? fdopen(fd, "wb") : NULL;
    tacet_status status = TACET_OK;
    if (out == NULL) {
        status = failed("cannot be put in its place", to, err);
        if (fd >= 0) {
            (void)close(fd);
        }
    } else {
        size_t got = 0;
        while ((got = fread(bytes, 1, sizeof bytes, in)) > 0 && fwrite(bytes, 1, got, out) == got) {
        }
        const bool read_all = feof(in) && !ferror(in);
        status = tacet__file_finish(out, beside, err);
        if (status == TACET_OK && !(read_all && rename(beside, to) == 0)) {
            status = failed("cannot be put in its place", to, err);
        }
        (void)unlink(status == TACET_OK ? from : beside);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return status;
}

tacet_status tacet__file_publish(const char *from, const char *to, const char *folder, tacet_error *err) {
    if (rename(from, to) != 0) {
        const tacet_status status =
            errno == EXDEV ? copy_over(from, to, err) : failed("cannot be put in its place", to, err);
        if (status != TACET_OK) {
            return status;
        }
    }
    return tacet__folder_sync(folder, err);
}

tacet_status tacet__file_write(const char *path, const char *folder, const char *text, mode_t mode, tacet_error *err) {
    char beside[TACET__PATH + 8];
    (void)snprintf(beside, sizeof beside, "%s.new", path);
    const int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL) {
        const tacet_status status = failed("cannot be written", path, err);
        if (fd >= 0) {
            (void)close(fd);
        }
        return status;
    }
    (void)fchmod(fd, mode); /* the file may be there from an earlier attempt, with another mode */
    (void)fputs(text, file);
    tacet_status status = tacet__file_finish(file, beside, err);
    TACET_THEN(status, tacet__file_publish(beside, path, folder, err));
    if (status != TACET_OK) {
        (void)unlink(beside); /* not there any more where only the sync of the folder failed */
    }
    return status;
}

tacet_status tacet__file_read(char **out, size_t *length, const char *path, size_t most, tacet_error *err) {
    *out = NULL;
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return errno == ENOENT ? tacet__fail(err, TACET_NOT_FOUND, "%s: no such file", path)
                               : failed("cannot be read", path, err);
    }
    char *text = malloc(most + 2);
    if (text == NULL) {
        (void)fclose(file);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", path);
    }
    const size_t got = fread(text, 1, most + 1, file);
    const int bad = ferror(file);
    const int code = errno;
    (void)fclose(file);
    if (bad || got > most) {
        free(text);
        errno = code;
        return bad ? failed("cannot be read", path, err)
                   : tacet__fail(err, TACET_PARSE, "%s: larger than %zu bytes", path, most);
    }
    text[got] = '\0';
    *out = text;
    *length = got;
    return TACET_OK;
}

/* --- the public face: one read, or one write and two syncs -------------------------------------------------------- */

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
