/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-device: what runs where a reward is earned.
 * Ring: trusted. Sees one raw reward at a time; lets its randomised report out, once per ticket. */
#include "device/commands.h"

static const cli_command COMMANDS[] = {
    {"device suggest", "ask the suggestion service what to try next", "--server URL --study NAME --keys DIR [options]",
     "Prints the ticket of the round, the index of the action in the study's domain, and the action. Report its "
     "reward with 'tacet device report' under that ticket. While the server is away the question is repeated; it is "
     "the same question, so the server answers it once.\n\n"
     "In a study with --policy statistics each device has a decision set of its own, which stays here: --decision-set "
     "FILE. "
     "The index is then the number of the round, and the action is the arm of the set that this device should play.",
     "tacet device suggest --server https://localhost:8443 --study light --keys keys --json", cmd_suggest},
    {"device report", "randomise a reward, once per ticket",
     "--ticket NAME --value Y --range LO:HI --eps E --ledger FILE [options]",
     "Clips the reward to the range, randomises it with pure eps, stores the report in the device's own ledger, and "
     "prints it. Asking again for the same ticket prints the same report and costs nothing, whatever reward is given: "
     "a device that drew anew on every retry would let the server average its noise away. A ticket asked again with "
     "another range, eps or mechanism is refused.\n\n"
     "What is printed on stdout may be sent. That a reward was clipped is said on stderr only: it tells of the "
     "reward. '--value -' reads the reward from stdin, so that it does not show in the list of processes.\n\n"
     "The ledger is created on first use with --budget-eps, the eps that all reports of this device may cost together; "
     "exit code 3 when it is spent. 'tacet ledger show' prints it.\n\n"
     "With --server the report is also sent, under a ticket of 'tacet device suggest'. The study must ask for exactly "
     "the range, eps and mechanism given here: the device decides what it gives, not the server. When the server "
     "stays away, the report is kept: the same command sends the same bits later.\n\n"
     "With --point (a study with --policy statistics) point and reward are reported together: which of 256 public "
     "directions of the round is sent depends on both, and every other point and reward could have sent it with a "
     "likelihood at most e^eps times less or more.",
     "tacet device report --ticket round-17 --value 0.62 --range 0:1 --eps 1 --ledger phone.ledger --budget-eps 100\n"
     "echo 0.62 | tacet device report --ticket round-17 --value - --range 0:1 --eps 1 --ledger phone.ledger --json\n"
     "tacet device report --ticket \"$ticket\" --value 0.62 --range 0:1 --eps 1 --ledger phone.ledger --server "
     "https://localhost:8443 --study light --keys keys\n"
     "tacet device report --ticket \"$ticket\" --point 0.3,0.7 --value 0.62 --range 0:1 --eps 1 --ledger "
     "phone.ledger --server https://localhost:8443 --study routes --keys keys",
     cmd_report},
    {0},
};

const cli_program PROGRAM = {.name = "tacet-device",
                             .summary = "Randomises rewards where they are earned.",
                             .ring = "trusted",
                             .commands = COMMANDS};
