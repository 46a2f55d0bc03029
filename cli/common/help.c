/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - --help and manual pages, both from the command's description and its table of options.
 * Ring: programs. */
#include "common/internal.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 88, INDENT = 26 };

int cli_places(const char *text, size_t length) {
    int count = 0;
    for (size_t i = 0; i < length; i++) {
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return count;
}

/* Prints words of text up to its end, wrapped, every line but the first indented. */
static void wrap_until(const char *text, const char *end, int column, int indent) {
    bool blank = false; /* one is due before the next word of this line */
    while (text < end) {
        if (*text == '\n') {
            putchar('\n');
            if (text[1] != '\n') {
                printf("%*s", indent, "");
            }
            column = indent;
            blank = false;
            text++;
            continue;
        }
        size_t length = strcspn(text, " \n");
        length = length < (size_t)(end - text) ? length : (size_t)(end - text);
        if (column + blank + cli_places(text, length) > WIDTH && column > indent) {
            printf("\n%*s", indent, "");
            column = indent;
            blank = false;
        }
        printf("%s%.*s", blank ? " " : "", (int)length, text);
        column += blank + cli_places(text, length);
        text += length;
        blank = *text == ' ';
        text += blank;
    }
    putchar('\n');
}

static void wrap(const char *text, int column, int indent) {
    wrap_until(text, text + strlen(text), column, indent);
}

/* Where the first sentence of a text ends, or the first part of one. */
static const char *first_part(const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if ((*c == '.' || *c == ';') && (c[1] == ' ' || c[1] == '\n' || c[1] == '\0')) {
            return c;
        }
    }
    return text + strlen(text);
}

static bool is_more(const cli_option *o) {
    return o->name[0] == '\0' && o->help == NULL;
}

/* Columns that are described by options are so in several commands alike: 'space check' explains how. */
static bool is_column(const cli_command *command, const cli_option *o) {
    return o->kind == CLI_LIST && o->meta != NULL && strncmp(o->meta, "A=", 2) == 0 &&
           strcmp(command->name, "space check") != 0;
}

static void show_columns(const cli_command *command, const cli_option *options) {
    char names[256] = "";
    size_t length = 0;
    for (const cli_option *o = options; o->name != NULL && length < sizeof names; o++) {
        if (is_column(command, o)) {
            length += (size_t)snprintf(names + length, sizeof names - length, "%s--%s", length > 0 ? " " : "", o->name);
        }
    }
    printf("  %s\n%*s", names, INDENT, "");
    wrap("columns without a space file, A=…: as 'tacet space check --help' explains them", INDENT, INDENT);
}

static void show_option(const cli_option *o, bool all) {
    const char *meta = o->meta != NULL ? o->meta : "";
    printf("  --%s%s%s", o->name, meta[0] != '\0' ? " " : "", meta);
    int column = 4 + cli_places(o->name, strlen(o->name)) + (meta[0] != '\0') + cli_places(meta, strlen(meta));
    if (column >= INDENT && all) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", column < INDENT ? INDENT - column : 2, "");
    wrap_until(o->help, all ? o->help + strlen(o->help) : first_part(o->help), column < INDENT ? INDENT : column + 2,
               INDENT);
}

/* The first screen: what it does, and the options that most people need, in a line or two each. */
static void first_screen(const cli_command *command, const cli_option *options) {
    const char *paragraph = strstr(command->description, "\n\n");
    size_t hidden = 0;
    bool more = false;
    wrap_until(command->description,
               paragraph != NULL ? paragraph : command->description + strlen(command->description), 0, 0);
    printf("\nOptions:\n");
    for (const cli_option *o = options; o->name != NULL; o++) {
        const bool named = o->name[0] != '\0';
        more = named ? more : is_more(o);
        hidden += named && (more || is_column(command, o));
        if (named && !more && !is_column(command, o)) {
            show_option(o, false);
        }
    }
    putchar('\n');
    if (command->examples != NULL) { /* the first, which may go over several lines */
        const char *end = command->examples + strcspn(command->examples, "\n");
        while (*end != '\0' && end[-1] == '\\') {
            end += 1 + strcspn(end + 1, "\n");
        }
        printf("Example: %.*s\n", (int)(end - command->examples), command->examples);
    }
    if (hidden > 0) {
        printf("%zu more options, and the whole of the help: '%s %s --help-all'.\n", hidden, cli__front(),
               command->name);
    } else {
        printf("The whole of the help: '%s %s --help-all'.\n", cli__front(), command->name);
    }
}

void cli__help(const cli_command *command, const cli_option *options, bool all) {
    bool columns = false;
    printf("usage: %s %s %s\n\n", cli__front(), command->name, command->usage);
    if (!all) {
        first_screen(command, options);
        return;
    }
    wrap(command->description, 0, 0);
    printf("\nOptions:\n");
    for (const cli_option *o = options; o->name != NULL; o++) {
        if (o->name[0] == '\0' && !is_more(o)) {
            printf("\n%s\n", o->help);
        } else if (o->name[0] != '\0' && !is_column(command, o)) {
            show_option(o, true);
        } else if (o->name[0] != '\0' && !columns) {
            columns = true;
            show_columns(command, options);
        }
    }
    printf("\nIn every command: --json prints one JSON object on stdout, messages stay on stderr; --config FILE\n"
           "takes options from a file, 'name = value' a line, and the command line counts more.\n");
    if (command->examples != NULL) {
        printf("\nExamples:\n  ");
        for (const char *c = command->examples; *c != '\0'; c++) {
            putchar(*c);
            if (*c == '\n' && c[1] != '\0') {
                printf("  ");
            }
        }
        putchar('\n');
    }
    printf("\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the privacy budget.\n");
}

void cli__options(const cli_option *options) {
    for (size_t i = 0; options[i].name != NULL; i++) {
        const cli_option *o = &options[i];
        if (o->name[0] != '\0') {
            const size_t length = strcspn(o->help, ".\n");
            printf("%s\t%s\t%.*s\n", o->name, o->meta != NULL ? o->meta : "", (int)length, o->help);
        }
    }
    printf("config\tFILE\tOptions from a file\njson\t\tOne JSON object on stdout\nhelp\t\tExplains the command\n");
}

/* Text with what roff would take for itself escaped. */
static void roff(const char *text) {
    bool start = true;
    for (; *text != '\0'; text++) {
        if (start && (*text == '.' || *text == '\'')) {
            printf("\\&");
        }
        start = *text == '\n';
        if (*text == '\\') {
            printf("\\e");
        } else if (*text == '-') {
            printf("\\-");
        } else if (*text == '\n' && text[1] == '\n') {
            printf("\n.PP");
        } else {
            putchar(*text);
        }
    }
    putchar('\n');
}

/* Words with hyphens between them, as the name of a page has them. */
static void roff_words(const char *text) {
    for (; *text != '\0'; text++) {
        printf(*text == ' ' || *text == '-' ? "\\-" : "%c", *text);
    }
}

static void capitals(const char *text) {
    for (; *text != '\0'; text++) {
        putchar(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text == ' ' ? '-' : *text);
    }
}

void cli__man(const cli_command *command, const cli_option *options) {
    printf(".TH ");
    capitals(cli__front());
    putchar('-');
    capitals(command->name);
    printf(" 1 \"\" \"tacet %s\" \"tacet\"\n.SH NAME\n", TACET_VERSION);
    roff_words(cli__front()); /* the page's own name, as it is looked for: tacet-study-create */
    printf("\\-");
    roff_words(command->name);
    printf(" \\- ");
    roff(command->summary);
    printf(".SH SYNOPSIS\n.B %s ", cli__front());
    roff(command->name);
    roff(command->usage);
    printf(".SH DESCRIPTION\n");
    roff(command->description);
    printf(".SH OPTIONS\n");
    for (size_t i = 0; options[i].name != NULL; i++) {
        const cli_option *o = &options[i];
        if (is_more(o)) {
            continue;
        }
        if (o->name[0] == '\0') {
            printf(".SS ");
            roff(o->help);
            continue;
        }
        printf(".TP\n.B \\-\\-");
        for (const char *c = o->name; *c != '\0'; c++) {
            printf(*c == '-' ? "\\-" : "%c", *c);
        }
        printf(" %s\n", o->meta != NULL ? o->meta : "");
        roff(o->help);
    }
    printf(".TP\n.B \\-\\-config FILE\noptions from a file, one \\(aqname = value\\(aq a line; the command line counts "
           "more\n");
    printf(".TP\n.B \\-\\-json\none JSON object on stdout; messages stay on stderr\n");
    if (command->examples != NULL) {
        printf(".SH EXAMPLES\n.nf\n");
        roff(command->examples);
        printf(".fi\n");
    }
    printf(".SH EXIT STATUS\n0 done; 1 failed; 2 wrong usage; 3 refused by the privacy budget.\n");
    printf(".SH SEE ALSO\n.BR tacet (1)\n");
}
