/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-predict: asks a released model. Ring: open; it never saw the data, and links nothing that could. */
#include "predict/commands.h"

static const cli_command COMMANDS[] = {
    {"predict", "the best action in a context, from a released model", "--model FILE --context V [options]",
     "Reads a model that 'tacet learn' or a study released and prints the action with the largest predicted reward, "
     "how far off the model likely is, and how far outcomes lie from its predictions. Predictions are post-processing "
     "of the release: any number of them, for anybody, costs no privacy.\n\n"
     "Only declared levels and points within the bounds are recommended. --data predicts for every row of a file.",
     "tacet predict --model model.json --context 44\n"
     "tacet predict --model model.json --context 44,phone --all --json\n"
     "tacet predict --model model.json --data visitors.csv",
     predict_predict},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const cli_program PROGRAM = {
    .name = "tacet-predict",
    .summary = "Predictions from released models.",
    .ring = "open",
    .commands = COMMANDS,
};

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
