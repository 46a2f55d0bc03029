/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-report: a page to look at, from result JSON.
 * Ring: open. */
#include "common/cli.h"

#include <tacet/core/status.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/file.h>
#include <tacet/report/report.h>

enum { MOST_BYTES = 64 << 20 };

static tacet_status spill(const char *path, const char *text, size_t length, tacet_error *err) {
    FILE *file = fopen(path, "wbe");
    bool ok = file != NULL && fwrite(text, 1, length, file) == length;
    ok = file != NULL && fclose(file) == 0 && ok;
    return ok ? TACET_OK : tacet_error_set(err, TACET_IO, "%.120s: %s", path, strerror(errno));
}

static tacet_status draw_svgs(const tacet_report *report, const char *folder, tacet_error *err) {
    tacet_status status = TACET_OK;
    if (mkdir(folder, S_IRWXU | S_IRWXG | S_IRWXO) != 0 && errno != EEXIST) {
        return tacet_error_set(err, TACET_IO, "%.120s: %s", folder, strerror(errno));
    }
    for (size_t i = 0; status == TACET_OK && i < tacet_report_charts(report); i++) {
        char path[4096];
        char *text = NULL;
        size_t length = 0;
        (void)snprintf(path, sizeof path, "%.4000s/chart-%zu.svg", folder, i + 1);
        status = tacet_report_svg(report, i, &text, &length, err);
        TACET_THEN(status, spill(path, text, length, err));
        free(text);
    }
    return status;
}

static tacet_status draw(tacet_report *report, const cli_names *inputs, const char *out, const char *folder,
                         tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < inputs->count; i++) {
        char *text = NULL;
        size_t length = 0;
        const char *slash = strrchr(inputs->at[i], '/');
        status = tacet_file_read(&text, &length, strcmp(inputs->at[i], "-") == 0 ? "/dev/stdin" : inputs->at[i],
                                 MOST_BYTES, err);
        TACET_THEN(status, tacet_report_add(report, slash != NULL ? slash + 1 : inputs->at[i], text, length, err));
        free(text);
    }
    char *page = NULL;
    size_t length = 0;
    TACET_THEN(status, tacet_report_html(report, &page, &length, err));
    TACET_THEN(status, spill(out, page, length, err));
    free(page);
    return status != TACET_OK || folder == NULL ? status : draw_svgs(report, folder, err);
}

static int cmd_report(int argc, char **argv, const cli_command *self) {
    const char *out = NULL;
    const char *folder = NULL;
    cli_names inputs = {0};
    tacet_error err = {0};
    tacet_report *report = NULL;
    const cli_option options[] = {
        {"in", CLI_EACH, &inputs, "FILE", "result JSON or a document; may be given many times", true},
        CLI_NEED("out", &out, "FILE", "receives the page"),
        CLI_OPT("svg", &folder, "DIR", "receives the charts as chart-1.svg, …; made when missing"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = tacet_report_create(&report, &err);
    TACET_THEN(status, draw(report, &inputs, out, folder, &err));
    const int code = status != TACET_OK ? cli_fail(self, &err)
                                        : cli_tell(cli_object("out charts", J(out), J(tacet_report_charts(report))),
                                                   "{out}, charts: {charts}\n");
    tacet_report_free(report);
    return code;
}

static const cli_command COMMANDS[] = {
    {"report", "one self-contained HTML file from result JSON",
     "--in FILE.json [--in FILE.json …] --out FILE.html [--svg DIR]",
     "Draws what it is given, in the order given: documents in the format of docs/report-format.md, and what other "
     "commands print under --json: modeler run, gp-ucb, simulate, ledger show, audit; models of learn; of any other "
     "result a table of its fields. Several simulations share one chart and one table.\n\n"
     "The page is one file. It runs no script, loads nothing, fits a telephone, and follows the reader's light or "
     "dark setting. '-' reads standard input.",
     "tacet-lab simulate outsourced --world grid --trials 20 --json > ours.json\n"
     "tacet-lab simulate outsourced --world grid --trials 20 --mechanism random --json > random.json\n"
     "tacet report --in ours.json --in random.json --out report.html --svg figures/",
     cmd_report},
    {0},
};

const cli_program PROGRAM = {.name = "tacet-report", .summary = "Draws results.", .ring = "open", .commands = COMMANDS};
