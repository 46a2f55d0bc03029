/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_disclose.c - `tacet disclose`. Ring: open. */
#include "ledger/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>
#include <tacet/report/report.h>
#include <time.h>
#include <unistd.h>

/* The totals of the ledger, where there is one: beside the release, unless it is named. */
static tacet_status add_ledger(tacet_disclosure *d, const char *folder, const char *path, tacet_error *err) {
    char beside[LEDGER_PATH_MOST];
    const int length = snprintf(beside, sizeof beside, "%s/ledger.db", folder != NULL ? folder : "");
    if (path == NULL && (folder == NULL || length >= LEDGER_PATH_MOST || access(beside, R_OK) != 0)) {
        return TACET_OK;
    }
    return tacet_disclose_ledger(d, path != NULL ? path : beside, err);
}

int cmd_disclose(int argc, char **argv, const cli_command *self) {
    const char *folder = NULL, *format = "label", *ledger = NULL, *facts_path = NULL, *study_path = NULL;
    const char *model_path = NULL, *tuned_path = NULL;
    bool html = false;
    const cli_option options[] = {
        CLI_OPT("release", &folder, "DIR", "A release of 'tacet curate'."),
        CLI_OPT("model", &model_path, "FILE", "Or a model: what 'tacet learn' wrote."),
        CLI_OPT("study", &study_path, "FILE", "Or a study: what 'tacet study status --json' prints."),
        CLI_OPT("tuned", &tuned_path, "FILE", "Or the result of tuning: what 'tacet tune --json' prints."),
        CLI_OPT("format", &format, "NAME", "registry (YAML) or label (one page). Default label."),
        CLI_OPT("html", &html, NULL, "label: as HTML instead of text."),
        CLI_OPT("ledger", &ledger, "FILE", "The ledger. Default for a release: DIR/ledger.db, when it is there."),
        CLI_OPT("facts", &facts_path, "FILE",
                "registry: JSON with what only people know: name, data_curators, intended_use, justification, …"),
        {0},
    };
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    const bool registry = strcmp(format, "registry") == 0;
    const int given = (folder != NULL) + (model_path != NULL) + (study_path != NULL) + (tuned_path != NULL);
    if (given != 1 || (!registry && strcmp(format, "label") != 0)) {
        return cli_usage(
            self, "give --release DIR, --model FILE, --study FILE or --tuned FILE, and --format registry or label");
    }
    char date[16] = "";
    char *text = NULL, *facts = NULL, *out = NULL;
    size_t length = 0;
    struct tm day;
    const time_t now = time(NULL);
    tacet_manifest manifest;
    tacet_manifest_init(&manifest);
    if (gmtime_r(&now, &day) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%d", &day);
    }
    const char *path = model_path != NULL ? model_path : tuned_path != NULL ? tuned_path : study_path;
    tacet_status status = path != NULL
                              ? tacet_file_read(&text, NULL, path, LEDGER_TEXT_MOST, &err)
                              : tacet_file_read_in(&text, &length, folder, "manifest.json", LEDGER_TEXT_MOST, &err);
    if (status == TACET_OK && path == NULL) {
        status = tacet_manifest_decode(&manifest, text, length, &err);
    }
    if (status == TACET_OK && facts_path != NULL) {
        status = tacet_file_read(&facts, NULL, facts_path, LEDGER_TEXT_MOST, &err);
    }
    tacet_disclosure d = {.manifest = &manifest,
                          .model = model_path != NULL ? text : NULL,
                          .study = study_path != NULL ? text : NULL,
                          .tuned = tuned_path != NULL ? text : NULL,
                          .facts = facts,
                          .date = date};
    TACET_THEN(status, add_ledger(&d, folder, ledger, &err));
    if (status == TACET_OK) {
        status = registry ? tacet_disclose_registry(&out, &d, &err) : tacet_disclose_label(&out, &d, html, &err);
    }
    const int code =
        status != TACET_OK ? cli_fail(self, &err) : cli_tell(cli_object("format text", J(format), J(out)), "{text}");
    tacet_manifest_clear(&manifest);
    free(text);
    free(facts);
    free(out);
    return code;
}
