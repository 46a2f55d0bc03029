/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_join.c - tacet curator join.
 * Ring: trusted. */
#include "commands.h"

#include <tacet/outsourced/trusted/join.h>

#include <stdio.h>
#include <stdlib.h>

int cmd_join(int argc, char **argv, const cli_command *self) {
    const char *folders = NULL;
    char **items = NULL;
    tacet_join_settings s = {.ticket = "release"};
    tacet_manifest manifest;
    tacet_error err = {0};
    const cli_option options[] = {
        CLI_NEED_LIST("parts", &folders, "DIR,…", "the folders that 'tacet curate --part' wrote, in any order"),
        CLI_NEED("ledger", &s.ledger, "FILE", "the ledger of all parts: a file or postgresql://…"),
        CLI_NEED("out", &s.folder, "DIR", "receives release.csv and manifest.json"),
        CLI_OPT("ticket", &s.ticket, "NAME", "of the release (default release)"),
        CLI_OPT("shared", &s.shared, "REASON",
                "join although parts have rows in common: why these are of different people; stands in the manifest"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (!cli_split(&items, &s.count, folders)) {
        return cli_usage(self, "--parts: folders with commas between them");
    }
    s.folders = (const char *const *)items;
    const tacet_status status = tacet_curate_join(&manifest, &s, &err);
    free(items);
    if (status != TACET_OK) {
        return status == TACET_INVALID ? cli_usage(self, "%s", err.message) : cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s/release.csv: %zu records of %zu parts, each as the ledger committed it\n", s.folder, manifest.rows,
               manifest.piece_count);
    }
    cli_json_print(json_pack("{ss sI sI sI}", "folder", s.folder, "rows", (json_int_t)manifest.rows, "parts",
                             (json_int_t)manifest.piece_count, "ledger_entry", (json_int_t)manifest.entry));
    tacet_manifest_clear(&manifest);
    return CLI_EXIT_OK;
}
