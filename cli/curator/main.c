/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-curator: the party that holds the records.
 * Ring: trusted. */
#include "commands.h"
#include "keys/keys.h"

static const cli_command COMMANDS[] = {
    {"curate", "private version of a table of records: release.csv and manifest.json",
     "--data FILE,… (--space FILE | --inputs A,B --bounds A=LO:HI,… --unit A=U,…) --eps E --out DIR [options]",
     "Reads a table of records and writes a private version of them: one line of noisy numbers for each record, and a "
     "manifest that says what is protected. The budget is charged in the ledger before the first number is drawn; "
     "releases of one table add up there, and a copy of the table is known again.\n\n"
     "Bounds and units must be public knowledge, never computed from the records. A unit is a change that counts as "
     "distance 1; a move of one record by up to distance 1 is what eps and delta protect. Values outside the bounds "
     "are clipped, silently.",
     "tacet curate --data patients.csv --inputs age,bmi --bounds age=0:100,bmi=10:60 \\\n"
     "    --unit age=5,bmi=2 --eps 3 --values-unprotected --out release/\n"
     "tacet curate --data patients.csv --space space.json --eps 3 --eps-output 1 --range 0:100 --out release/\n"
     "tacet ledger show --ledger release/ledger.db",
     cmd_curate},
    {"curator init", "make the certificates and the token of a study", "--dir DIR [--host NAME,…] [--days N]",
     "Makes a study's own certificate authority, a server certificate for the curator, and for the modeler a client "
     "certificate and a bearer token. Hand the folder DIR/modeler to the modeler; keep the rest.",
     "tacet curator init --dir study/ --host localhost,127.0.0.1", keys_curator},
    {"curator serve", "hand out the release and answer queries over HTTPS",
     "--release DIR --keys DIR --data FILE (--target COLUMN | --evaluate CMD | --desk HOST:PORT) [options]",
     "Serves the release made by 'tacet curate' and answers the modeler's queries, each once, each entered in the "
     "ledger before its answer leaves. The measured value comes from a column of the table (--target), from a command "
     "that gets the record as CSV (header and line) on its standard input and prints one number (--evaluate), or from "
     "a person ('tacet curator pending', 'tacet curator answer'). A command that fails is told to the modeler as "
     "failed; with private outputs it is answered by noise about a stand-in, and only the log tells.\n\n"
     "With --desk a page for whoever holds the records is on a second address, of this machine "
     "alone: questions as they come with their records, the budget, what was released, the ledger. Log in with the "
     "token in KEYS/desk.token.\n\n"
     "Prints the address it listens on, as JSON with --json, and runs until it is told to stop (SIGINT, SIGTERM). "
     "docs/PROTOCOL.md describes the wire.",
     "tacet curator serve --release release/ --keys study/ --data patients.csv --target response\n"
     "tacet curator serve --release release/ --keys study/ --data patients.csv --evaluate ./run-test.sh",
     cmd_serve},
    {"curator desk", "answer the modeler's questions at the keyboard",
     "--release DIR --data FILE [--id COLUMN] [--range LO:HI]",
     "Shows each question as it comes, with its record, and takes the value that you measured. The record is read "
     "from the table and shown to you; it never leaves this process. A value outside --range is asked for once more. "
     "Type x when the row cannot be measured, s to leave the question for later, q to stop. With private outputs a "
     "row that cannot be measured is answered by noise about a stand-in, so that nothing shows. 'tacet curator serve "
     "--desk' must be running: it takes the questions.",
     "tacet curator desk --release release/ --data patients.csv --id patient --range 0:1", cmd_desk},
    {"curator pending", "list the queries that wait for a person", "--release DIR",
     "Lists the queries that were asked and have no value yet: ticket and row.",
     "tacet curator pending --release release/", cmd_pending},
    {"curator answer", "give the measured value of a pending query", "TICKET VALUE --release DIR",
     "Enters the value a person measured for a pending query. With private outputs the value passes the randomiser "
     "first. A query is answered once: another value afterwards is refused.",
     "tacet curator answer q-17 0.83 --release release/", cmd_answer},
    {"space draft", "a space to fill in, from the header of a table alone", "--data FILE [--inputs A,B]",
     "Writes a space as JSON on stdout: the columns of the table by name, with kinds, bounds and units left for you "
     "to fill in from public knowledge. Nothing but the header is read, so the draft tells nothing about the records.",
     "tacet space draft --data patients.csv >space.json", cmd_space_draft},
    {"space check", "check a space; with --data, tell the holder how the records fit it",
     "(--space FILE | --bounds A=LO:HI,… --levels A=X|Y,… …) [--data FILE]",
     "Without --data: checks the space and prints it; with --json, as the JSON that --space reads.\n\n"
     "With --data: counts, for each column, the cells that are missing, lie outside the bounds, or cannot be read, "
     "and says which columns crowd into a corner of their bounds. Every number of it depends on the records: it is "
     "stamped so, and for their holder only. Choose bounds and levels from public knowledge; use this to find out "
     "what that costs, not to fit the space to the records. Exits with 1 when a cell cannot be read: a release of the "
     "table would be refused.",
     "tacet space check --space space.json\n"
     "tacet space check --space space.json --data patients.csv\n"
     "tacet space check --data loan.csv --bounds annual_inc=0:6000000",
     cmd_space_check},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-curator",
    .summary = "The party that holds the records: releases them privately and answers queries.",
    .ring = "trusted (holds raw records)",
    .commands = COMMANDS,
};
