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
#include <tacet/report/report.h>

enum { MOST_BYTES = 64 << 20 };

static tacet_status slurp(char **out, size_t *length, const char *path, tacet_error *err) {
    const bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rbe");
    size_t capacity = 0;
    tacet_status status = TACET_OK;
    *out = NULL;
    *length = 0;
    if (file == NULL) {
        return tacet_error_set(err, TACET_IO, "%.120s: %s", path, strerror(errno));
    }
    while (status == TACET_OK && !feof(file) && !ferror(file)) {
        if (*length == capacity) {
            capacity = capacity == 0 ? 1 << 16 : 2 * capacity;
            char *more = capacity <= MOST_BYTES ? realloc(*out, capacity) : NULL;
            if (more == NULL) {
                status = tacet_error_set(err, TACET_NO_MEMORY, "%.120s: more than %d MiB, or out of memory", path,
                                         MOST_BYTES >> 20);
                break;
            }
            *out = more;
        }
        *length += fread(*out + *length, 1, capacity - *length, file);
    }
    if (status == TACET_OK && ferror(file)) {
        status = tacet_error_set(err, TACET_IO, "%.120s: reading failed: %s", path, strerror(errno));
    }
    if (!standard) {
        (void)fclose(file);
    }
    return status;
}

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
        status = status != TACET_OK ? status : spill(path, text, length, err);
        free(text);
    }
    return status;
}

static tacet_status draw(tacet_report *report, const char **inputs, size_t count, const char *out, const char *folder,
                         tacet_error *err) {
    tacet_status status = TACET_OK;
    for (size_t i = 0; status == TACET_OK && i < count; i++) {
        char *text = NULL;
        size_t length = 0;
        const char *slash = strrchr(inputs[i], '/');
        status = slurp(&text, &length, inputs[i], err);
        status = status != TACET_OK
                     ? status
                     : tacet_report_add(report, slash != NULL ? slash + 1 : inputs[i], text, length, err);
        free(text);
    }
    char *page = NULL;
    size_t length = 0;
    status = status != TACET_OK ? status : tacet_report_html(report, &page, &length, err);
    status = status != TACET_OK ? status : spill(out, page, length, err);
    free(page);
    return status != TACET_OK || folder == NULL ? status : draw_svgs(report, folder, err);
}

/* --in may be given many times, which an option table cannot say: they are taken out of argv first. */
static size_t take_inputs(const char **inputs, int *argc, char **argv) {
    size_t count = 0;
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--in") == 0 && i + 1 < *argc) {
            inputs[count++] = argv[++i];
        } else if (strncmp(argv[i], "--in=", 5) == 0) {
            inputs[count++] = argv[i] + 5;
        } else {
            argv[kept++] = argv[i];
        }
    }
    *argc = kept;
    return count;
}

static int cmd_report(int argc, char **argv, const cli_command *self) {
    const char *out = NULL;
    const char *folder = NULL;
    const char *unused = NULL;
    tacet_error err = {0};
    tacet_report *report = NULL;
    const cli_option options[] = {
        CLI_OPT("in", &unused, "FILE", "result JSON or a document; may be given many times"),
        CLI_NEED("out", &out, "FILE", "receives the page"),
        CLI_OPT("svg", &folder, "DIR", "receives the charts as chart-1.svg, …; made when missing"),
        {0},
    };
    const char **inputs = calloc((size_t)argc + 1, sizeof *inputs);
    if (inputs == NULL) {
        return CLI_EXIT_FAILED;
    }
    const size_t count = take_inputs(inputs, &argc, argv);
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        free(inputs);
        return code;
    }
    if (count == 0) {
        free(inputs);
        return cli_usage(self, "--in is needed");
    }
    tacet_status status = tacet_report_create(&report, &err);
    status = status != TACET_OK ? status : draw(report, inputs, count, out, folder, &err);
    free(inputs);
    if (status != TACET_OK) {
        tacet_report_free(report);
        return cli_fail(self, &err);
    }
    if (!cli_json_wanted()) {
        printf("%s: %zu charts\n", out, tacet_report_charts(report));
    }
    cli_json_print(json_pack("{ss sI}", "out", out, "charts", (json_int_t)tacet_report_charts(report)));
    tacet_report_free(report);
    return CLI_EXIT_OK;
}

static const cli_command COMMANDS[] = {
    {
        .name = "report",
        .summary = "one self-contained HTML file from result JSON",
        .usage = "--in FILE.json [--in FILE.json …] --out FILE.html [--svg DIR]",
        .description =
            "Draws what it is given, in the order given: documents in the format of docs/report-format.md, and what "
            "other commands print under --json: modeler run, gp-ucb, simulate, ledger show, audit; of any other result "
            "a table of its fields. Several simulations share one chart and one table.\n\n"
            "The page is one file. It runs no script, loads nothing, fits a telephone, and follows the reader's light "
            "or dark setting. '-' reads standard input.",
        .examples = "tacet simulate outsourced --scenario grid --trials 20 --json > ours.json\n"
                    "tacet simulate outsourced --scenario grid --trials 20 --mechanism random --json > random.json\n"
                    "tacet report --in ours.json --in random.json --out report.html --svg figures/",
        .run = cmd_report,
    },
    {0},
};

int main(int argc, char **argv) {
    static const cli_program PROGRAM = {
        .name = "tacet-report", .summary = "Draws results.", .ring = "open", .commands = COMMANDS};
    return cli_main(&PROGRAM, argc, argv);
}
