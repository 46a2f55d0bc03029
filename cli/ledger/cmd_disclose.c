/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_disclose.c - `tacet disclose`. Ring: open. */
#include "ledger/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/ab/open/model.h>
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

/* Whether a JSON text is the result of tuning. */
static bool is_tuned(const char *text) {
    json_t *object = json_loads(text, 0, NULL);
    const bool tuned = json_object_get(object, "winners") != NULL;
    json_decref(object);
    return tuned;
}

int cmd_disclose(int argc, char **argv, const cli_command *self) {
    const char *format = "label", *ledger = NULL, *facts_path = NULL, *what = NULL;
    size_t count = 1;
    const cli_option options[] = {
        CLI_OPT("format", &format, "NAME",
                "label (one page, the default), html (the same for a browser) or registry (YAML)."),
        CLI_OPT("ledger", &ledger, "FILE", "The ledger. Default for a release: DIR/ledger.db, when it is there."),
        CLI_OPT("facts", &facts_path, "FILE",
                "registry: JSON with what only people know: name, data_curators, intended_use, justification, …"),
        {0},
    };
    tacet_error err = {0};
    CLI_PARSE_OR_RETURN(options, &what, &count);
    const bool registry = strcmp(format, "registry") == 0, html = strcmp(format, "html") == 0;
    if (count != 1 || (!registry && !html && strcmp(format, "label") != 0)) {
        return cli_usage(self, "give one folder or file to disclose, and --format label, html or registry");
    }
    struct stat kind;
    const char *folder = stat(what, &kind) == 0 && S_ISDIR(kind.st_mode) ? what : NULL;
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
    tacet_status status = folder == NULL
                              ? tacet_file_read(&text, &length, what, LEDGER_TEXT_MOST, &err)
                              : tacet_file_read_in(&text, &length, folder, "manifest.json", LEDGER_TEXT_MOST, &err);
    if (status == TACET_OK && folder != NULL) {
        status = tacet_manifest_decode(&manifest, text, length, &err);
    }
    if (status == TACET_OK && facts_path != NULL) {
        status = tacet_file_read(&facts, NULL, facts_path, LEDGER_TEXT_MOST, &err);
    }
    tacet_disclosure d = {.manifest = &manifest, .facts = facts, .date = date};
    if (status == TACET_OK && folder == NULL) {
        *(is_tuned(text) ? &d.tuned : tacet_ab_model_is(text, length) ? &d.model : &d.study) = text;
    }
    TACET_THEN(status, add_ledger(&d, folder, ledger, &err));
    TACET_THEN(status, registry ? tacet_disclose_registry(&out, &d, &err) : tacet_disclose_label(&out, &d, html, &err));
    const int code =
        status != TACET_OK ? cli_fail(self, &err) : cli_tell(cli_object("format text", J(format), J(out)), "{text}");
    tacet_manifest_clear(&manifest);
    free(text);
    free(facts);
    free(out);
    return code;
}
