/* main.c - tacet-lab: seeded experiments on made-up data. Ring: none; nothing it touches is private. */
#include "commands.h"

static const cli_command COMMANDS[] = {
    {"simulate outsourced", "private release, modeler, regret: many seeded trials",
     "[--scenario NAME] [--mechanism NAME] [options]",
     "Makes a problem, releases its records by a mechanism, lets a modeler that sees only the release query rows, and "
     "prints the simple regret (distance of the best queried record from the best of all) with its standard error.\n\n"
     "The noise comes from a seeded source, so that runs can be repeated: nothing printed here is private.",
     "tacet simulate outsourced --eps 3.004166 --delta 1e-5 --trials 100 --json\n"
     "tacet simulate outsourced --mechanism published --trials 100\n"
     "tacet simulate outsourced --scenario csv --data houses.csv --inputs lat,lon --target price --log --minimise",
     lab_sim_outsourced},
    {NULL, NULL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
    const cli_program program = {"tacet-lab", "Experiments on made-up problems.", "none (made-up data only)", COMMANDS};
    return cli_main(&program, argc, argv);
}
