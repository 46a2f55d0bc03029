/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - `tacet`, the front door: finds the program for a command and becomes it, as git does.
 * Ring: none. It reads no data and links no ring; the privilege of a command is the privilege of its program. */
#include "common/nearest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct entry {
    const char *word;    /* what follows `tacet` */
    const char *program; /* the program that does it */
    const char *ring;
    const char *summary;
} entry;

static const entry TABLE[] = {
    {"start", "tacet-start", "trusted", "from your table to a private release, question by question"},
    {"curate", "tacet-curator", "trusted", "private version of a table of records"},
    {"curator", "tacet-curator", "trusted", "serve a release and answer queries: init, serve, pending, answer"},
    {"space", "tacet-curator", "trusted", "typed public columns: draft, check"},
    {"modeler", "tacet-modeler", "open", "optimise over a release: run"},
    {"device", "tacet-device", "trusted", "randomise a reward on the device, once per ticket: suggest, report"},
    {"server", "tacet-server", "trusted", "the suggestion service over HTTPS; init makes its keys"},
    {"study", "tacet-server", "trusted", "studies: create, suggest, observe, status, release, show, archive, …"},
    {"store", "tacet-server", "trusted", "where the studies are kept: init, check, backup"},
    {"collector", "tacet-collector", "open", "the suggestion service for local studies alone"},
    {"learn", "tacet-learn", "trusted", "a private log in, a model of which action suits which context out"},
    {"tune", "tacet-tune", "trusted", "settings chosen on private records: eps a record, whatever is tried"},
    {"predict", "tacet-predict", "open", "the best action in a context, from a released model"},
    {"calibrate", "tacet-gate", "gate", "noise for a budget, or the budget a noise spends"},
    {"ledger", "tacet-ledger", "open",
     "what was spent, and that the chain is intact: show, verify, export, sign, prove, keys"},
    {"disclose", "tacet-ledger", "open", "what a privacy officer asks: a registry's entry, or a label"},
    {"audit", "tacet-audit", "audit", "attack a mechanism; a lower bound on its epsilon"},
    {"plan", "tacet-plan", "-", "expected regret against eps, or visitors of an A/B study, before anything is spent"},
    {"report", "tacet-report", "open", "one self-contained HTML file from result JSON"},
    {0},
};

/* What is for experiments and not for work is a program of its own. */
static const char *const LAB[] = {"simulate", "repro", "noise", "gp-ucb", NULL};

static void help(FILE *out) {
    fprintf(out, "usage: tacet COMMAND [options]\n\n"
                 "Optimise what you may not show: private Bayesian optimisation.\n\n"
                 "Commands:\n");
    for (const entry *e = TABLE; e->word != NULL; e++) {
        fprintf(out, "  %-13s %-8s %s\n", e->word, e->ring, e->summary);
    }
    fprintf(out,
            "\nThe second column is the ring a command runs in: trusted commands may hold raw data, open ones see\n"
            "releases only, and they are different programs. Experiments are in tacet-lab.\n\n"
            "'tacet COMMAND --help' explains one of them; 'tacet --version' prints the version.\n"
            "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the privacy budget.\n");
}

/* Output that could not be written is a failure. */
static int written(void) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "tacet: writing the output failed\n");
        return 1;
    }
    return 0;
}

static int become(const entry *e, char **argv) {
    char self[PATH_MAX];
    char path[PATH_MAX + 64];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = NULL;
    if (length > 0) {
        self[length] = '\0';
        slash = strrchr(self, '/');
    }
    if (slash != NULL) {
        *slash = '\0';
        (void)snprintf(path, sizeof path, "%s/%s", self, e->program);
    } else {
        (void)snprintf(path, sizeof path, "%s", e->program);
    }
    argv[0] = (char *)(size_t)e->program; /* the words stay */
    /* The linear algebra makes its threads when a program is loaded, and they spin for a while, wanted or not. */
    const char *threads = getenv("TACET_THREADS");
    (void)setenv("OPENBLAS_NUM_THREADS", threads != NULL ? threads : "1", 0);
    (void)execv(path, argv);
    if (errno == ENOENT) {
        (void)execvp(e->program, argv);
    }
    fprintf(stderr, "tacet: cannot run %s: %s\n", e->program, strerror(errno));
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tacet %s\n", TACET_VERSION);
        return written();
    }
    const int helped = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (helped && argc == 2)) {
        help(stdout);
        return written();
    }
    if (helped) { /* `tacet help X Y` is `tacet X Y --help` */
        memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
        argv[argc - 1] = (char *)(size_t) "--help";
    }
    for (const entry *e = TABLE; e->word != NULL; e++) {
        if (strcmp(e->word, argv[1]) == 0) {
            return become(e, argv);
        }
    }
    for (const char *const *word = LAB; *word != NULL; word++) {
        if (strcmp(*word, argv[1]) == 0) {
            fprintf(stderr, "tacet: '%s' is in tacet-lab: 'tacet-lab %s --help'\n", *word, *word);
            return 2;
        }
    }
    cli_nearest search;
    cli_nearest_begin(&search, argv[1], strlen(argv[1]));
    for (const entry *e = TABLE; e->word != NULL; e++) {
        cli_nearest_offer(&search, e->word);
    }
    if (search.best != NULL) {
        fprintf(stderr, "tacet: no command '%s'; did you mean '%s'? 'tacet --help' lists all\n", argv[1], search.best);
    } else {
        fprintf(stderr, "tacet: no command '%s'; 'tacet --help' lists them\n", argv[1]);
    }
    return 2;
}
