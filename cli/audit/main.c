/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-audit: attacks mechanisms, on made-up neighbours only.
 * Ring: audit. */
#include "commands.h"

static const cli_command COMMANDS[] = {
    {"audit outsourced", "read the records of a release from a few known ones", "--release DIR --data FILE --known K",
     "Plays the attacker against a release of records: given the true values of K of them, fits the affine map from "
     "released to true coordinates and reads all the others through it. Against the published mechanism d + 1 known "
     "records give every record to rounding error; against independent noise in every row the attack stays at the "
     "size of the noise.\n\n"
     "Run by the curator, who has the truth to compare with. Prints distances, never records. Exit code 1 when a "
     "release that claims privacy was read.",
     "tacet audit outsourced --release release/ --data patients.csv --known 20", cmd_outsourced},
    {"audit", "attack a mechanism; a lower bound on its epsilon, with confidence",
     "TARGET [--eps E] [--delta D] [--runs N] [--mechanism NAME] [--rows N] [--interrupted] | --bundle DIR | list",
     "Runs a mechanism many times on two worst-case neighbouring inputs, chooses on one part of the runs the event "
     "that tells them apart best, measures it on the rest, and prints a lower bound on epsilon that holds with the "
     "stated confidence.\n\n"
     "'curate', 'desk', 'device', 'learn-table', 'study', 'contextual-study' and 'ab-study' are audited as they ship: "
     "neighbours "
     "go "
     "through the code that the programs run, with its threads, blocks, ledger, registry and files. Besides the bound, "
     "the noise is tested: "
     "its variance, rows that repeat, rows and columns that are not independent; and, --interrupted, that what is "
     "repeated is the same release.\n\n"
     "The verdict is 'violated' when the bound is above the claimed epsilon, else 'consistent'. An audit can refute a "
     "claim; it cannot prove one. Targets named control:... are broken on purpose and must be found out: the exit "
     "code is 0 when the verdict is the expected one, 1 when it is not.",
     "tacet audit curate --mechanism laplace --eps 1\n"
     "tacet audit curate --mechanism laplace --eps 1 --interrupted\n"
     "tacet audit device --mechanism laplace --interrupted\n"
     "tacet audit control:same-key-blocks\n"
     "tacet audit gaussian --eps 1 --delta 1e-5 --runs 1000000\n"
     "tacet audit control:float-laplace --eps 1\n"
     "tacet audit list",
     cmd_audit},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-audit",
    .summary = "Attacks what the gate releases.",
    .ring = "audit (made-up neighbours only)",
    .commands = COMMANDS,
};
