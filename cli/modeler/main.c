/* main.c - tacet-modeler: the party that optimises and must not see the records.
 * Ring: open. It links nothing of the gate and nothing of the trusted ring. */
#include "commands.h"

static const cli_command COMMANDS[] = {
    {
        .name = "modeler run",
        .summary = "optimise over a curator's release, one query at a time",
        .usage = "--url URL --keys DIR --state DIR --queries N (--lengthscale L | --fit) [options]",
        .description =
            "Fetches the release and its manifest from the curator, chooses rows to measure, asks for their values, "
            "and says "
            "which row is best. The model knows the noise in the release: by default the rows' true positions are part "
            "of "
            "the model (latent) where measurements are nearly exact, and GP-UCB with the errors-in-variables kernel "
            "(eiv) is "
            "used where they are noisy.\n\n"
            "Lengthscales are in the release's scaled units: a lengthscale of 2 is twice the distance that the curator "
            "protects. "
            "With --fit they, the variances and the mean are fitted by maximum likelihood to the values of the first "
            "rows, which are then --initial random ones.\n\n"
            "Every query is written to a journal in the state folder before it is asked, and its value before it is "
            "used. After a "
            "crash, or with the curator away for longer than --patience, run the same command again: it goes on "
            "where it was, asks nothing twice and chooses the same rows.",
        .examples = "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run1/ --queries 40 "
                    "--lengthscale 3\n"
                    "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run2/ --queries 40 --fit "
                    "--initial 10",
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
