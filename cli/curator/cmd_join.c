/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_join.c - tacet curator join.
 * Ring: trusted. */
#include "commands.h"

#include <tacet/outsourced/trusted/join.h>

int cmd_join(int argc, char **argv, const cli_command *self) {
    const char *folders = NULL;
    cli_names items;
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
    if (!CLI_READ(&items, folders)) {
        return cli_usage(self, "--parts: folders with commas between them");
    }
    s.folders = items.at;
    s.count = items.count;
    if (tacet_curate_join(&manifest, &s, &err) != TACET_OK) {
        return cli_refuse(self, &err);
    }
    json_t *object = cli_object("folder rows parts ledger_entry", J(s.folder), J(manifest.rows),
                                J(manifest.piece_count), J(manifest.entry));
    tacet_manifest_clear(&manifest);
    return cli_tell(object, "{folder}/release.csv: {rows} records of {parts} parts, each as the ledger committed it\n");
}
