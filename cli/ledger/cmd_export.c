/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - `tacet ledger export`. Ring: open. */
#include "ledger/commands.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

static tacet_status write_row(void *user, const tacet__ledger_row *row, tacet_error *err) {
    (void)user;
    json_t *object = tacet__ledger_row_json(row);
    char *hex = malloc(2 * row->body_size + 1);
    tacet_status status = TACET_OK;
    if (object == NULL || hex == NULL) {
        status = TACET_NO_MEMORY;
        err->status = status;
    } else {
        (void)json_object_set_new(object, "body",
                                  json_string(sodium_bin2hex(hex, 2 * row->body_size + 1, row->body, row->body_size)));
        (void)json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
        putchar('\n');
    }
    free(hex);
    json_decref(object);
    return status;
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
    tacet__ledger_report report;
    tacet__ledger_view *view = NULL;
    tacet_status status = tacet__ledger_load(&view, &report, path, NULL, &err);
    if (status == TACET_OK) {
        status = tacet__ledger_each(view, write_row, NULL, &err);
    }
    tacet__ledger_view_close(view);
    return status == TACET_OK ? CLI_EXIT_OK : cli_fail(self, &err);
}
