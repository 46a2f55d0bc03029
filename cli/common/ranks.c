/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - the processes that mpirun started. Ring: programs. */
#include "common/ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In src/io/mpi, for the programs that are linked to it. */
tacet_status tacet__mpi_open(tacet_ranks *out, tacet_error *err) __attribute__((weak));
void tacet__mpi_close(void) __attribute__((weak));

static char words[512];
static volatile sig_atomic_t word_count;

/* How many processes a launcher says it started: Open MPI, and what speaks PMI. */
static unsigned long launched(void) {
    static const char *const NAMES[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *text = getenv(NAMES[i]);
        if (text != NULL) {
            return strtoul(text, NULL, 10);
        }
    }
    return 0;
}

bool cli_ranks_open(const cli_command *self, tacet_ranks *out, int *code) {
    *out = (tacet_ranks){.count = 1};
    const unsigned long count = launched();
    if (count == 0) {
        return true;
    }
    if (tacet__mpi_open == NULL) {
        if (count == 1) {
            return true;
        }
        cli_say(self,
                "%lu processes were started, but this tacet was built without MPI, so each would do the whole work: "
                "install libopenmpi-dev and build it again",
                count);
        *code = CLI_EXIT_FAILED;
        return false;
    }
    tacet_error err = {0};
    tacet_status status = tacet__mpi_open(out, &err);
    status = status != TACET_OK ? status : tacet_ranks_greet(out, &err);
    if (status != TACET_OK) {
        if (out->rank == 0) {
            *code = cli_fail(self, &err);
        }
        *code = CLI_EXIT_FAILED;
        tacet__mpi_close();
        return false;
    }
    return true;
}

void cli_ranks_close(tacet_ranks *ranks) {
    word_count = 0;
    if (ranks->broadcast != NULL) {
        if (ranks->rank == 0) {
            (void)tacet_ranks_dismiss(ranks, NULL);
        }
        tacet__mpi_close();
        ranks->broadcast = NULL;
    }
}

void cli_ranks_hush(bool hush) {
    static int kept[2] = {-1, -1};
    for (int i = 0; i < 2; i++) {
        const int to = i == 0 ? STDOUT_FILENO : STDERR_FILENO;
        (void)fflush(i == 0 ? stdout : stderr);
        if (hush && kept[i] < 0) {
            const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
            kept[i] = fcntl(to, F_DUPFD_CLOEXEC, 3);
            (void)dup2(nowhere, to);
            (void)close(nowhere);
        } else if (!hush && kept[i] >= 0) {
            (void)dup2(kept[i], to);
            (void)close(kept[i]);
            kept[i] = -1;
        }
    }
}

int cli_ranks_follow(const cli_command *self, const tacet_ranks *ranks, const tacet_points *own, size_t n) {
    tacet_error err = {0};
    const tacet_status status = tacet_ranks_follow(ranks, own, n, &err);
    if (status == TACET_IO) {
        return cli_fail(self, &err); /* the others are lost: nobody else will say it */
    }
    return CLI_EXIT_OK; /* whatever else went wrong, rank 0 was told and tells */
}

static void end(int number) {
    if (word_count > 0) {
        (void)!write(STDERR_FILENO, words, (size_t)word_count);
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

void cli_ranks_last_words(const tacet_ranks *ranks, const char *text) {
    if (ranks->count < 2 || ranks->rank != 0) {
        return;
    }
    word_count = 0;
    (void)snprintf(words, sizeof words, "%s\n", text);
    word_count = (sig_atomic_t)strlen(words);
    struct sigaction action = {.sa_handler = end};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
}
