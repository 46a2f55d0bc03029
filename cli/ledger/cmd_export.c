/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - `tacet ledger export`. Ring: open. */
#include "ledger/commands.h"

#include <stdio.h>
#include <tacet/dp/open/ledger_read.h>

static tacet_status print_line(void *user, const char *text, tacet_error *err) {
    (void)user;
    (void)err;
    puts(text);
    return TACET_OK;
}

int cmd_export(int argc, char **argv, const cli_command *self) {
    const char *path = NULL;
    const cli_option options[] = {
        {"ledger", CLI_STRING, &path, "FILE", "The ledger.", true},
        {NULL, CLI_FLAG, NULL, NULL, NULL, false},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    tacet_error err = {TACET_OK, ""};
    return tacet_ledger_export(path, print_line, NULL, &err) == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}
