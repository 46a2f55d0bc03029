/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-report: a page to look at, from result JSON.
 * Ring: open. */
#include "report/commands.h"

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
