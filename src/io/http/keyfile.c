/* SPDX-License-Identifier: Apache-2.0 */
/* keyfile.c - reads PEM files without leaving copies of a key about. Ring: io. */
#include "io/http/keyfile.h"

#include "core/fail.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PEM_BYTES = 1 << 16, PATH_BYTES = 4096 };
static const int64_t DAY = 86400;

static tacet_status check_mode(int fd, const char *path, tacet_error *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return tacet__fail(err, TACET_IO, "%s: %s", path, strerror(errno));
    }
    return (st.st_mode & (S_IROTH | S_IWOTH)) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_DENIED,
                             "%s can be read by everybody: chmod 600 it, and replace it if it leaked", path);
}

static tacet_status read_pem(char **out, const char *folder, const char *name, bool secret, tacet_error *err) {
    char path[PATH_BYTES];
    *out = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        return tacet__fail(err, TACET_INVALID, "the path of the keys is too long");
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return tacet__fail(err, errno == ENOENT ? TACET_NOT_FOUND : TACET_DENIED,
                           "%s cannot be read; 'tacet server init' makes it", path);
    }
    tacet_status status = secret ? check_mode(fd, path, err) : TACET_OK;
    char *text = status == TACET_OK ? TACET__ZALLOC(char, PEM_BYTES) : NULL;
    ssize_t size = 0;
    ssize_t got = text != NULL ? 1 : 0;
    while (got > 0 && size < PEM_BYTES - 1) {
        got = read(fd, text + size, (size_t)(PEM_BYTES - 1 - size));
        size += got > 0 ? got : 0;
    }
    (void)close(fd);
    if (status == TACET_OK && (text == NULL || got < 0 || size == 0 || size == PEM_BYTES - 1)) {
        status = tacet__fail(err, text == NULL ? TACET_NO_MEMORY : TACET_IO, "%s cannot be read", path);
        free(text);
        text = NULL;
    }
    *out = text;
    return status;
}

static void warn_of_end(int64_t expires, tacet_log *log) {
    char line[120];
    const int64_t left = expires - (int64_t)time(NULL);
    if (expires != 0 && left < TACET__CERTIFICATE_DAYS * DAY) {
        (void)snprintf(line, sizeof line,
                       left < 0 ? "the certificate has ended: clients refuse it"
                                : "the certificate ends in %lld days: renew it, then send SIGHUP",
                       (long long)(left / DAY));
        tacet_log_say(log, left < 0 ? TACET_LOG_ERROR : TACET_LOG_WARNING, line);
    }
}

tacet_status tacet__keyfile_read(tacet__pem *out, int64_t *expires, const char *folder, const char *name,
                                 tacet_log *log, tacet_error *err) {
    char file[64];
    *out = (tacet__pem){0};
    (void)snprintf(file, sizeof file, "%.40s.pem", name);
    tacet_status status = read_pem(&out->certificate, folder, file, false, err);
    (void)snprintf(file, sizeof file, "%.40s.key", name);
    TACET_THEN(status, read_pem(&out->key, folder, file, true, err));
    if (status != TACET_OK) {
        tacet__pem_free(out);
        return status;
    }
    const int64_t end = tacet__pki_expires(out->certificate);
    warn_of_end(end, log);
    if (expires != NULL) {
        *expires = end;
    }
    return TACET_OK;
}
