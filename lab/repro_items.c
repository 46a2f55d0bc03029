/* SPDX-License-Identifier: Apache-2.0 */
/* repro_items.c - every numbered item of the four papers: where it is here, a command that shows it, and whether ours
 * is faithful (`tacet-lab repro items`; what is wrong in a paper, in docs/reproduction.md). Ring: programs. A test runs
 * every command as it is printed and looks for every file and symbol. "step" is a step of a proof without a program of
 * its own; "wrong" begins what we found wrong in the paper. */
#include "repro.h"

#include <stdio.h>
#include <string.h>

enum { PAPER, NUMBER, WHAT, WHERE, COMMAND, VERDICT, FIELDS, LONGEST = 600 };

static const char *const ITEMS[] = {
#include "repro_items.inc"
};

/* Commands that several items share. */
static const char *const COMMANDS[][2] = {
    {"IF", "tacet-lab simulate outsourced --mechanism published --trials 2"},
    {"BOUNDS", "tacet-lab repro bounds --trials 1"},
    {"ATTACK", "tacet audit control:published-projection --runs 2000"},
    {"ELSE", "tacet-lab simulate outsourced --mechanism published --eps 1 --trials 2"},
    {"CENTRAL", "tacet-lab simulate central --algorithm published --calibration published --rounds 64 --trials 2"},
    {"PROVEN", "tacet-lab simulate central --algorithm published --rounds 64 --trials 2"},
    {"STATISTICS", "tacet-lab simulate central --world local-statistics --algorithm published --rounds 64 --trials 2"},
    {"PUBLISHED", "tacet-lab simulate contextual --algorithm published --rounds 1000 --trials 2"},
    {"USCA", "tacet-lab simulate contextual --algorithm faithful --rounds 100 --trials 1"},
    {"DEVICE", "tacet audit device:laplace --runs 2000"},
    {"HARD", "tacet-lab simulate local --world hard --rounds 2000 --trials 2"},
    {"TGP",
     "tacet-lab simulate local --algorithm tgp --mechanism laplace --parameters literal --rounds 500 --trials 2"},
    {"MOMA",
     "tacet-lab simulate local --algorithm moma --mechanism laplace --parameters literal --rounds 500 --trials 2"},
    {"ATA",
     "tacet-lab simulate local --algorithm ata --mechanism laplace --parameters literal --rounds 500 --trials 2"},
};

/* The fields of an item, which point into `text`; an item that lacks one has "" there. */
static void split(const char *field[FIELDS], char text[LONGEST], const char *line) {
    (void)snprintf(text, LONGEST, "%s", line);
    char *rest = text;
    for (size_t f = 0; f < FIELDS; f++) {
        const char *got = strsep(&rest, "|");
        field[f] = got != NULL ? got : "";
    }
    for (size_t c = 0; c < sizeof COMMANDS / sizeof *COMMANDS; c++) {
        field[COMMAND] = strcmp(field[COMMAND], COMMANDS[c][0]) == 0 ? COMMANDS[c][1] : field[COMMAND];
    }
}

json_t *repro_items(FILE *file, bool wrong) {
    json_t *list = json_array();
    char paper[32] = "";
    for (size_t i = 0; i < sizeof ITEMS / sizeof *ITEMS; i++) {
        char text[LONGEST];
        const char *f[FIELDS];
        split(f, text, ITEMS[i]);
        (void)json_array_append_new(list, json_pack("{ss ss ss ss ss ss}", "paper", f[PAPER], "item", f[NUMBER], "what",
                                                    f[WHAT], "where", f[WHERE], "command", f[COMMAND], "verdict",
                                                    f[VERDICT]));
        if (file == NULL || (wrong && strncmp(f[VERDICT], "wrong", strlen("wrong")) != 0)) {
            continue;
        }
        if (strcmp(f[PAPER], paper) != 0) {
            fprintf(file, "\n| %s | what | where |%s faithful? |\n| --- | --- | --- |%s --- |\n", f[PAPER],
                    wrong ? "" : " command |", wrong ? "" : " --- |");
        }
        (void)snprintf(paper, sizeof paper, "%s", f[PAPER]);
        fprintf(file, "| %s | %s | `%s` |", f[NUMBER], f[WHAT], f[WHERE]);
        if (!wrong) {
            fprintf(file, " `%s` |", f[COMMAND]);
        }
        fprintf(file, " %s |\n", f[VERDICT]);
    }
    return list;
}
