/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - options from a file: `--config FILE`, one `name = value` a line, # begins a comment line; a name with = in
 * it, or # at its beginning, stands in double quotes.
 * Ring: programs. What the command line says counts more. A flag stands as `name = yes`; `no` leaves it as it is. */
#include "common/internal.h"

#include <string.h>
#include <tacet/io/file.h>

enum { CONFIG_MOST = 1 << 20 };

static char *trim(char *text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
    return text;
}

int cli__config(const cli_command *command, const char *path, cli__set *set, void *user) {
    static char *kept; /* until the program ends, as the options point into it */
    tacet_error err = {0};
    if (tacet_file_read(&kept, NULL, path, CONFIG_MOST, &err) != TACET_OK) {
        return cli_usage(command, "--config: %s", err.message);
    }
    size_t number = 1;
    for (char *rest = kept; rest != NULL; number++) {
        char *name = trim(strsep(&rest, "\n"));
        if (name[0] != '\0' && name[0] != '#') {
            const bool quoted = name[0] == '"';
            char *equals = quoted ? strstr(++name, "\" =") : strchr(name, '=');
            if (equals == NULL) {
                return cli_usage(command, "%s: line %zu: 'name = value' is needed", path, number);
            }
            *equals = '\0';
            const int code = set(user, trim(name), trim(equals + (quoted ? 3 : 1)));
            if (code != CLI_EXIT_OK) {
                cli_say(command, "%s: line %zu", path, number);
                return code;
            }
        }
    }
    return CLI_EXIT_OK;
}
