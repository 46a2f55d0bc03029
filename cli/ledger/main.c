/* main.c - tacet-ledger: what was spent, and that the chain is intact.
 * Ring: open. Reads the ledger without permission to write it. */
#include "ledger/commands.h"

static const cli_command COMMANDS[] = {
    {"ledger show", "what was spent, on what, for whom", "--ledger FILE [--json]",
     "Verifies the ledger, then prints its entries, one a line, and its totals. An entry that is 'open' was reserved "
     "but "
     "never answered: its budget is spent, nothing left. 'UNCOVERED' entries left without protection, and "
     "'NOT PRIVATE' ones were drawn from a seeded source.",
     "tacet ledger show --ledger study.ledger\ntacet ledger show --ledger study.ledger --json", cmd_show},
    {"ledger verify", "that the chain is intact and the totals are right",
     "--ledger FILE [--head HASH] [--anchor FILE] [--json]",
     "Recomputes every hash, the order, the tickets, the stored answers and the totals from the records. Prints the "
     "head: "
     "the hash of the last record, which covers all records. Note it elsewhere.\n\n"
     "A file that was rolled back to an earlier state as a whole looks intact: only a head noted elsewhere (--head) or "
     "an anchor file (--anchor) shows that. A head noted earlier stays valid while the ledger grows.",
     "tacet ledger verify --ledger study.ledger\ntacet ledger verify --ledger study.ledger --head 6e1b…", cmd_verify},
    {"ledger export", "all records, one JSON object a line", "--ledger FILE",
     "Verifies the ledger, then writes its records. 'body' is the record's canonical encoding in hex: its hash is "
     "BLAKE2b-256 of the bytes of 'previous' followed by those of 'body', so anyone can check the chain with other "
     "tools. "
     "Stored answers are not exported, only their hashes.",
     "tacet ledger export --ledger study.ledger > study.jsonl", cmd_export},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv) {
    static const cli_program PROGRAM = {
        .name = "tacet-ledger", .summary = "Reads and verifies privacy ledgers.", .ring = "open", .commands = COMMANDS};
    return cli_main(&PROGRAM, argc, argv);
}
