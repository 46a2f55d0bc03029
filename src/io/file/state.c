/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - where programs keep what outlives them. Ring: io. */
#include "io/file/state.h"

#include "core/fail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A variable that is set to nothing counts as not set. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

tacet_status tacet__state_path(char out[TACET__PATH], const char *leaf, tacet_error *err) {
    const char *base = variable("TACET_STATE");
    const char *below = "";
    if (base == NULL && (base = variable("XDG_STATE_HOME")) != NULL && base[0] == '/') {
        below = "/tacet";
    } else if (variable("TACET_STATE") == NULL) {
        base = variable("HOME");
        below = "/.local/state/tacet";
    }
    if (base == NULL) {
        return tacet__fail(err, TACET_INVALID, "there is no state folder: set TACET_STATE");
    }
    const int n = snprintf(out, TACET__PATH, "%s%s%s%s", base, below, leaf[0] != '\0' ? "/" : "", leaf);
    return n > 0 && n < TACET__PATH ? TACET_OK : tacet__fail(err, TACET_INVALID, "the state folder's path is too long");
}

bool tacet__folders_make(const char *folder) {
    char path[TACET__PATH];
    if (strlen(folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path, folder, strlen(folder) + 1);
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            const bool made = mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
            *at = '/';
            if (!made) {
                return false;
            }
        }
    }
    return mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
}
