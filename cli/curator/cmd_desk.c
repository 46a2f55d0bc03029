/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_desk.c - tacet curator desk: the curator at the keyboard.
 * Ring: trusted. Each question is shown with its record, which never leaves this process, and takes one line. */
#include "commands.h"

#include <tacet/outsourced/trusted/desk.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 256, WAIT_MILLISECONDS = 500 };

typedef struct desk_options {
    tacet_desk_settings settings; /* `data` for the first time alone: it is checked once */
    const char *data, *id;
    cli_span range;
} desk_options;

typedef enum desk_word { WORD_VALUE, WORD_UNMEASURED, WORD_LATER, WORD_QUIT } desk_word;

static void show_cell(void *user, const char *name, const char *text, size_t length) {
    (void)user;
    (void)length;
    printf("  %s: %s\n", name, text);
}

/* One line; false at the end of the input. */
static bool read_line(char line[LINE]) {
    (void)fflush(stdout);
    if (fgets(line, LINE, stdin) == NULL) {
        return false;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

static desk_word read_word(const desk_options *o, double *value) {
    char line[LINE];
    bool warned = false;
    for (;;) {
        printf("value (x: cannot be measured, s: later, q: stop)? ");
        if (!read_line(line) || strcmp(line, "q") == 0) {
            return WORD_QUIT;
        }
        if (strcmp(line, "x") == 0 || strcmp(line, "s") == 0) {
            return line[0] == 'x' ? WORD_UNMEASURED : WORD_LATER;
        }
        double typed = 0;
        if (!cli_number(&typed, line)) {
            printf("'%s' is not a number%s\n", line, strchr(line, ',') != NULL ? ": use a decimal point" : "");
        } else if (o->range.given && !(typed >= o->range.lo && typed <= o->range.hi) && !(warned && typed == *value)) {
            printf("%g lies outside %g to %g: type it again if you mean it\n", typed, o->range.lo, o->range.hi);
            warned = true;
            *value = typed;
        } else {
            *value = typed;
            return WORD_VALUE;
        }
    }
}

/* One question. *quit: the person stops. */
static tacet_status serve_one(const desk_options *o, tacet_desk *desk, const char *ticket, size_t row, bool *quit,
                              tacet_error *err) {
    double value = 0;
    printf("\nrow %zu\n", row);
    tacet_status status = tacet_desk_record(tacet_desk_manifest(desk), o->data, o->id, row, show_cell, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    switch (read_word(o, &value)) {
    case WORD_VALUE:
        return tacet_desk_answer(desk, ticket, value, err);
    case WORD_UNMEASURED:
        return tacet_desk_decline(desk, ticket, err);
    case WORD_LATER:
        return TACET_OK;
    case WORD_QUIT:
        *quit = true;
        return TACET_OK;
    }
    return TACET_OK;
}

/* All that is pending now. Another process takes the questions, so the desk is opened anew each time. */
static tacet_status serve_pending(const desk_options *o, bool *quit, tacet_error *err) {
    tacet_desk *desk = NULL;
    char ticket[TACET_DESK_TICKET];
    size_t row = 0;
    size_t later = 0;
    tacet_status status = tacet_desk_open(&desk, &o->settings, err);
    if (status == TACET_OK && tacet_desk_doubt(desk) != NULL) {
        (void)fprintf(stderr, "%s\n", tacet_desk_doubt(desk));
    }
    while (status == TACET_OK && !*quit && tacet_desk_pending(desk, later, ticket, &row, NULL) == TACET_OK) {
        tacet_desk_reply before = {0};
        status = serve_one(o, desk, ticket, row, quit, err);
        later += status == TACET_OK && tacet_desk_look(desk, &before, ticket, NULL) == TACET_OK && !before.answered;
    }
    tacet_desk_close(desk);
    return status;
}

/* False when the input has ended and there is nothing more to read. */
static bool wait_a_little(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = 0};
    (void)poll(&input, 1, WAIT_MILLISECONDS);
    if ((input.revents & (POLLHUP | POLLNVAL)) != 0) {
        (void)poll(NULL, 0, WAIT_MILLISECONDS); /* a pipe whose writer is gone may still hold lines */
    }
    return !feof(stdin);
}

int cmd_desk(int argc, char **argv, const cli_command *self) {
    desk_options o = {0};
    tacet_error err = {0};
    tacet_desk_defaults(&o.settings);
    const cli_option options[] = {
        CLI_NEED("release", &o.settings.folder, "DIR", "the folder 'tacet curate' wrote"),
        CLI_NEED("data", &o.data, "FILE", "the table as it was released: other rows, or another order, are refused"),
        CLI_OPT("id", &o.id, "COLUMN", "the column by which you know a record; shown first"),
        CLI_OPT("range", &o.range, "LO:HI", "where values are expected; one outside is asked for once more"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    bool quit = false;
    printf("waiting for questions; Ctrl-C or q stops\n");
    o.settings.data = o.data;
    while (!quit) {
        if (serve_pending(&o, &quit, &err) != TACET_OK) {
            return cli_fail(self, &err);
        }
        o.settings.data = NULL;
        quit = quit || !wait_a_little();
    }
    return CLI_EXIT_OK;
}
