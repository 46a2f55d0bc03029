/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-modeler: the party that optimises and must not see the records.
 * Ring: open. It links nothing of the gate and nothing of the trusted ring. */
#include "commands.h"

static const cli_command COMMANDS[] = {
    {
        .name = "modeler run",
        .summary = "optimise over a curator's release, one query at a time",
        .usage = "--url URL --keys DIR --state DIR [--queries N] [options]",
        .description =
            "Fetches the release and its manifest from the curator, chooses rows to measure, asks for their values, "
            "and says which row is best.\n\n"
            "There is nothing to tune. The first rows are asked at random; then a Gaussian process, averaged over what "
            "its lengthscales and noise may be and weighed anew with every value, chooses (ladder). It knows the noise "
            "in the release and takes it out. At the end you read where as many random rows would have ended, whether "
            "the values can be told from values unrelated to the inputs at all, and what the most promising row not "
            "measured is expected to have. It never says that the best row was found.\n\n"
            "If you do know the objective's lengthscale, give it, in the release's scaled units: a lengthscale of 2 is "
            "twice the distance that the curator protects. The rows' true positions then become part of the model "
            "(latent) where measurements are nearly exact; otherwise GP-UCB with the errors-in-variables kernel (eiv) "
            "is used.\n\n"
            "Every query is written to a journal in the state folder before it is asked, and its value before it is "
            "used. Stopped by Ctrl-C, by a curator that is away for longer than --patience or whose budget is spent, "
            "it prints the best so far; the same command goes on where it was and asks nothing twice, with more "
            "--queries if you like. A row that cannot be measured is left out and another one asked.\n\n"
            "--page FILE is a page of the search as it goes: queries, the best so far against the band of chance, what "
            "the model believes and how sure it is, whether it found signal at all, what is left to ask. The state "
            "folder has the same as result.json: 'tacet report --in run1/result.json --out page.html' draws it later.",
        .examples = "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run1/\n"
                    "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run1/ --queries 60 --page "
                    "run1.html\n"
                    "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run2/ --lengthscale 3",
        .run = cmd_run,
    },
    {0},
};

static const cli_program PROGRAM = {
    .name = "tacet-modeler",
    .summary = "The party that optimises: sees the release and the measured values, nothing else.",
    .ring = "open (sees releases only)",
    .commands = COMMANDS,
};

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
