/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - options from a file: `--config FILE`, one `name = value` a line, # begins a comment line.
 * Ring: programs. What the command line says counts more. A flag stands as `name = yes`; `no` leaves it as it is. */
#include "common/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_MOST = 1 << 20 };

static char *trim(char *text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
    return text;
}

/* The whole file; kept until the program ends, as the options point into it. */
static char *whole_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = file != NULL ? malloc(CONFIG_MOST + 1) : NULL;
    const size_t length = text != NULL ? fread(text, 1, CONFIG_MOST + 1, file) : 0;
    const bool bad = file == NULL || text == NULL || ferror(file) != 0 || length > CONFIG_MOST;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (bad) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

int cli__config(const cli_command *command, const char *path, cli__set *set, void *user) {
    static char *kept;
    errno = 0;
    char *text = whole_file(path);
    if (text == NULL) {
        return cli_usage(command, "--config: %s: %s", path, errno != 0 ? strerror(errno) : "cannot be read");
    }
    kept = text;
    size_t number = 0;
    for (char *line = kept; line != NULL;) {
        char *next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        number++;
        char *name = trim(line);
        if (name[0] != '\0' && name[0] != '#') {
            char *equals = strchr(name, '=');
            if (equals == NULL) {
                return cli_usage(command, "%s: line %zu: 'name = value' is needed", path, number);
            }
            *equals = '\0';
            const int code = set(user, trim(name), trim(equals + 1));
            if (code != CLI_EXIT_OK) {
                cli_say(command, "%s: line %zu", path, number);
                return code;
            }
        }
        line = next;
    }
    return CLI_EXIT_OK;
}
