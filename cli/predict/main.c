/* main.c - tacet-predict: asks a released model. Ring: open; it never saw the data, and links nothing that could. */
#include "predict/commands.h"

static const cli_command COMMANDS[] = {
    {"usca predict", "the best action in a context, from a released model", "--model FILE --context V [options]",
     "Reads a model that 'tacet usca learn' released and prints the action with the largest predicted reward. "
     "Predictions are "
     "post-processing of the release: any number of them, for anybody, costs no privacy.",
     "tacet usca predict --model model.json --context 44\n"
     "tacet usca predict --model model.json --context 44,0.3 --grid 33 --all --json",
     predict_usca},
    {"joint predict", "the best arm of a decision set, from a released model",
     "--model FILE --set FILE --arms A,B [options]",
     "Reads a model that 'tacet release-model' released and prints which arm of the set has the largest predicted "
     "reward. The set stays with whoever asks: nothing is stored or sent, and it costs no privacy.",
     "tacet joint predict --model model.json --set arms.csv --arms dose,age --json", predict_joint},
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
