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
        CLI_NEED("ledger", &path, "FILE", "The ledger."),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_error err = {TACET_OK, ""};
    return tacet_ledger_export(path, print_line, NULL, &err) == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}
