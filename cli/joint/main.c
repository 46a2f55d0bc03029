/* main.c - tacet-joint: a bandit whose decision sets and rewards are private, from files.
 * Ring: trusted; what leaves, leaves through the gate. */
#include "joint/commands.h"

static const cli_command COMMANDS[] = {
    {"joint init", "a new study with joint DP: private decision sets, private rewards",
     "--study DIR --arms A,B --bounds LO:HI,LO:HI --lengthscale L --eps E [options]",
     "Makes the folder of a study: study.json (public), ledger.db, and the state (private, as are all rounds). The "
     "whole "
     "run is charged once, now.\n\n"
     "Each round is one user with a decision set, of which one arm is shown, and a reward. What everybody else is ever "
     "shown is (eps, delta)-private in that user's set and reward. The shown user's own arm depends on the user's own "
     "set, as it must.\n\n"
     "Bounds, range, kernel and lengthscale must come from you or from public data.",
     "tacet joint init --study trial --arms dose,age --bounds 0:5,18:90 --lengthscale 1.5,20 --eps 1 --rounds 1000",
     joint_init},
    {"joint suggest", "an arm of this round's decision set", "--study DIR --set FILE [options]",
     "Reads the arms of one round and prints the one to play with a ticket. Nothing is printed before it is stored.",
     "tacet joint suggest --study trial --set arms.csv\n"
     "tacet joint suggest --study trial --set - --json <arms.csv",
     joint_suggest},
    {"joint observe", "the reward of a suggested arm", "--study DIR --ticket N --reward Y [options]",
     "Takes the reward of a ticket, once. Rewards outside the range are clipped to it.",
     "tacet joint observe --study trial --ticket 1 --reward 0.7", joint_observe},
    {"joint status", "what a study guarantees, and what was released", "--study DIR [options]",
     "Prints the guarantee and the ledger's sums. Nothing here depends on private values.",
     "tacet joint status --study trial --json", joint_status},
    {"release-model", "what a joint-DP study learnt, as a model for anyone", "--study DIR --out FILE [options]",
     "Writes the model of the rewards that follows from what was released so far, with the receipt of that release. It "
     "is post-processing: it costs nothing, and may be repeated at any time. 'tacet joint predict' asks the model "
     "without the data. Fails while the first epoch is running: nothing was released yet.",
     "tacet release-model --study trial --out model.json", joint_release},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

static const cli_program PROGRAM = {
    .name = "tacet-joint",
    .summary = "Bandits with joint differential privacy, from files.",
    .ring = "trusted (holds decision sets and rewards)",
    .commands = COMMANDS,
    .elsewhere = "joint predict          the best arm of a decision set, from a released model (an open program)",
};

int main(int argc, char **argv) {
    return cli_main(&PROGRAM, argc, argv);
}
