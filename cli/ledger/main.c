/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-ledger: what was spent, and that the chain is intact.
 * Ring: open. Reads the ledger without permission to write it. */
#include "ledger/commands.h"

static const cli_command COMMANDS[] = {
    {"ledger show", "what was spent, on what, for whom", "--ledger FILE [--json]",
     "Verifies the ledger, then prints its entries, one a line, and its totals. An entry that is 'open' was reserved "
     "but never answered: its budget is spent, nothing left. 'UNCOVERED' entries left without protection, and 'NOT "
     "PRIVATE' ones were drawn from a seeded source.",
     "tacet ledger show --ledger study.ledger\n"
     "tacet ledger show --ledger study.ledger --json",
     cmd_show},
    {"ledger verify", "that the chain is intact and the totals are right",
     "--ledger FILE [--head HASH] | --receipt FILE [--ring FILE] [--json]",
     "Recomputes every hash, the order, the tickets, the stored answers and the totals from the records. Prints the "
     "head: the hash of the last record, which covers all records. Note it elsewhere.\n\n"
     "A file that was rolled back to an earlier state as a whole looks intact: only a head noted elsewhere (--head) "
     "shows that. A head noted earlier stays valid while the ledger grows.\n\n"
     "With --receipt: that the signature holds, and that manifest, released rows and ledger are those that were "
     "signed (src/dp/open/receipt.md).",
     "tacet ledger verify --ledger study.ledger\n"
     "tacet ledger verify --ledger study.ledger --head 6e1b…",
     cmd_verify},
    {"ledger export", "all records, one JSON object a line", "--ledger FILE",
     "Verifies the ledger, then writes its records. 'body' is the record's canonical encoding in hex: its hash is "
     "BLAKE2b-256 of the bytes of 'previous' followed by those of 'body', so anyone can check the chain with other "
     "tools. Stored answers are not exported, only their hashes.",
     "tacet ledger export --ledger study.ledger > study.jsonl", cmd_export},
    {"ledger keys", "keys for receipts", "--dir DIR [--rotate | --revoke KEY]",
     "Makes an Ed25519 pair: receipt.key signs, receipt.ring is handed out. 'tacet curator init' makes one, too.",
     "tacet ledger keys --dir keys\n"
     "tacet ledger keys --dir keys --rotate",
     cmd_keys},
    {"ledger sign", "a signed receipt of a ledger and a release", "--ledger FILE --keys DIR [--release DIR] --out FILE",
     "Verifies the ledger, then signs its head, the root of a tree over its records, the hashes of manifest and "
     "released rows, and version and hash of this program.",
     "tacet ledger sign --ledger r/ledger.db --keys keys --release r --out r/receipt.json", cmd_sign},
    {"ledger prove", "that a ledger has one entry, without showing the others",
     "--ledger FILE --keys DIR --receipt FILE --entry N --out FILE",
     "Writes the record, its salt and its way to the root that the receipt has signed.",
     "tacet ledger prove --ledger r/ledger.db --keys keys --receipt r/receipt.json --entry 1 --out p.json", cmd_prove},
    {"disclose", "what a privacy officer asks: a registry's entry, or a label",
     "DIR|FILE [--format label|html|registry] [--ledger FILE] [--facts FILE]",
     "Of a release (its folder), or of a file: a model that 'tacet learn' wrote, what 'tacet study status --json' or "
     "'tacet tune --json' prints. From that and the ledger, in the words of NIST SP 800-226 "
     "(docs/disclosure.md). What only people "
     "know "
     "comes from --facts; what nobody said is written as not stated.",
     "tacet disclose release\n"
     "tacet disclose release --format registry --facts facts.json\n"
     "tacet disclose model.json --ledger log.ledger.db --format registry\n"
     "tacet study status --store studies --study tune --json >tune.json; tacet disclose tune.json",
     cmd_disclose},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-ledger", .summary = "Reads and verifies privacy ledgers.", .ring = "open", .commands = COMMANDS};
