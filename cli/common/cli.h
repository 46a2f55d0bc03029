/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what all programs share: commands and options from one description (which also gives --help and the manual
 * page), JSON on stdout, messages on stderr, progress on a terminal only, and the four exit codes. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

enum { CLI_EXIT_OK = 0, CLI_EXIT_FAILED = 1, CLI_EXIT_USAGE = 2, CLI_EXIT_BUDGET = 3 };

typedef enum cli_kind {
    CLI_FLAG,   /* bool *    --name */
    CLI_STRING, /* const char **   --name TEXT */
    CLI_DOUBLE, /* double *  --name NUMBER: finite */
    CLI_SIZE,   /* size_t *  --name COUNT: a whole number >= 0 */
    CLI_COUNT,  /* size_t *  --name COUNT: a whole number >= 1, where 0 stands for "not given" */
    CLI_U64,    /* uint64_t * --name NUMBER */
    CLI_LIST,   /* const char **   --name A,B: given again, it goes on: --name A --name B */
    CLI_NAMES,  /* cli_names *   --name A,B: taken apart */
    CLI_EACH,   /* cli_names *   --name A --name B: each time one more */
    CLI_REALS,  /* cli_reals *   --name X,Y: finite numbers */
    CLI_WHOLES, /* cli_wholes *  --name N,M: whole numbers >= 0 */
    CLI_SPAN,   /* cli_span *    --name LO:HI: finite numbers, LO below HI */
    CLI_SPANS   /* cli_spans *   --name LO:HI,LO:HI */
} cli_kind;

/* Lists, as options and CLI_READ have them: `at` is kept until the program ends; NULL: not given. */
typedef struct cli_names {
    const char *const *at;
    size_t count;
} cli_names;
typedef struct cli_reals {
    const double *at;
    size_t count;
} cli_reals;
typedef struct cli_wholes {
    const size_t *at;
    size_t count;
} cli_wholes;
typedef struct cli_span {
    double lo, hi;
    bool given;
} cli_span;
typedef struct cli_spans {
    const double *lo, *hi;
    size_t count;
} cli_spans;

typedef struct cli_option {
    const char *name; /* without the dashes; NULL ends the table. A name of "" is a heading whose help is its title;
                       * without a title it is CLI_MORE. */
    cli_kind kind;
    void *target;     /* holds the default before parsing */
    const char *meta; /* what the value is called in the help: "FILE", "E"; NULL for flags */
    const char *help; /* one or more sentences; says the default */
    bool required;
} cli_option;

/* Rows of the table. The kind follows from the target's type, so that the two cannot disagree. (Where size_t has 64
 * bits, as on every system this is built for, uint64_t is the same type.) */
#define CLI_KIND_OF(target)                                                                                            \
    _Generic((target),                                                                                                 \
        bool *: CLI_FLAG,                                                                                              \
        const char **: CLI_STRING,                                                                                     \
        double *: CLI_DOUBLE,                                                                                          \
        size_t *: CLI_SIZE,                                                                                            \
        cli_names *: CLI_NAMES,                                                                                        \
        cli_reals *: CLI_REALS,                                                                                        \
        cli_wholes *: CLI_WHOLES,                                                                                      \
        cli_span *: CLI_SPAN,                                                                                          \
        cli_spans *: CLI_SPANS)
#define CLI_OPT(name, target, meta, help)                                                                              \
    { name, CLI_KIND_OF(target), target, meta, help, false }
#define CLI_NEED(name, target, meta, help)                                                                             \
    { name, CLI_KIND_OF(target), target, meta, help, true }
#define CLI_OPT_LIST(name, target, meta, help)                                                                         \
    { name, CLI_LIST, target, meta, help, false }
#define CLI_NEED_LIST(name, target, meta, help)                                                                        \
    { name, CLI_LIST, target, meta, help, true }
#define CLI_HEADING(title)                                                                                             \
    { "", CLI_FLAG, NULL, NULL, title, false }
/* What follows, up to the next heading, is for few people: --help-all shows it, and --help counts it. */
#define CLI_MORE                                                                                                       \
    { "", CLI_FLAG, NULL, NULL, NULL, false }

typedef struct cli_command cli_command;
typedef int cli_run(int argc, char **argv, const cli_command *self);

struct cli_command {
    const char *name;        /* as typed after `tacet`: "predict", "ledger show" */
    const char *summary;     /* one line, for the list of commands and the NAME section */
    const char *usage;       /* what follows the name: "--data FILE --inputs A,B [options]" */
    const char *description; /* paragraphs separated by a blank line */
    const char *examples;    /* shell lines, one each; may be NULL */
    cli_run *run;
};

typedef struct cli_program {
    const char *name; /* "tacet-gate" */
    const char *summary;
    const char *ring;            /* "gate", "open", …: what it may see; printed by --help */
    const cli_command *commands; /* ended by a NULL name */
    const char *elsewhere;       /* a command of the same group in a program that sees less, for its help; NULL: none */
    const char *front;           /* what is typed before a command; NULL: "tacet" */
} cli_program;

/* What main() runs; every program has one. */
extern const cli_program PROGRAM;
/* The whole of main(): finds the command, or prints help. `prog --man COMMAND` prints its manual page
 * (roff). */
int cli_main(const cli_program *program, int argc, char **argv);

/* Parses --name value, --name=value and flags into the targets. Of an option given twice the last one counts, but eps,
 * delta, budget and ledger are refused then: which one was meant is not for a program to guess. Positional arguments
 * are collected when `positional` is not NULL (at most *positional_count of them, which is set to the number found);
 * otherwise they are an error.
 * --config FILE is accepted everywhere: options from a file, which the command line overrides (config.c).
 * --json is accepted everywhere and sets cli_json_wanted(). Returns true to go on; otherwise *exit_code is what to
 * return (0 after --help or --man, 2 after a usage error, which was explained on stderr). */
bool cli_parse(const cli_command *command, const cli_option *options, int argc, char **argv, const char **positional,
               size_t *positional_count, int *exit_code);

/* The same at the head of a command, `self`, `argc` and `argv` being its arguments: it returns where there is nothing
 * to go on with. */
#define CLI_PARSE_OR_RETURN(options, positional, positional_count)                                                     \
    do {                                                                                                               \
        int cli_code = CLI_EXIT_OK;                                                                                    \
        if (!cli_parse(self, options, argc, argv, positional, positional_count, &cli_code)) {                          \
            return cli_code;                                                                                           \
        }                                                                                                              \
    } while (0)

bool cli_json_wanted(void);
/* Prints the object (consumed) as one line on stdout when --json was given, and frees it either way. */
void cli_json_print(json_t *object);
/* JSON from malloc as an object; the text is freed. NULL gives NULL. */
json_t *cli_loads(char *text);

/* Values as JSON, by their type: J(x); what is true or false in C, where comparisons are whole numbers: JB(x). NaN and
 * infinities, which JSON cannot say, and NULL are null. */
#define JB(condition) cli_yes(condition)
json_t *cli_real(double value);
json_t *cli_whole(uint64_t value);
json_t *cli_signed(long long value);
json_t *cli_yes(bool value);
json_t *cli_word(const char *value);
json_t *cli_json(json_t *value); /* consumed */
#define J(value)                                                                                                       \
    _Generic((value),                                                                                                  \
        double: cli_real,                                                                                              \
        unsigned: cli_whole,                                                                                           \
        size_t: cli_whole,                                                                                             \
        unsigned long long: cli_whole,                                                                                 \
        long long: cli_signed,                                                                                         \
        bool: cli_yes,                                                                                                 \
        char *: cli_word,                                                                                              \
        const char *: cli_word,                                                                                        \
        json_t *: cli_json)(value)
/* An object, cli_object("eps count", J(eps), J(count)): names with blanks between, and a value for each. A name with a
 * question mark is left out where its value is null. */
#define cli_object(...) cli__object(__VA_ARGS__, (json_t *)NULL)
/* More of the same into an object, which comes first. */
#define cli_add(...) cli__add(__VA_ARGS__, (json_t *)NULL)
json_t *cli__object(const char *names, ...) __attribute__((sentinel));
void cli__add(json_t *object, const char *names, ...) __attribute__((sentinel));

/* A list of numbers: JL(values, count), by their type; NULL is null. */
json_t *cli_real_list(const double *values, size_t count);
json_t *cli_whole_list(const size_t *values, size_t count);
#define JL(values, count)                                                                                              \
    _Generic(*(values), double : cli_real_list, size_t : cli_whole_list)((const void *)(values), count)

/* So many digits, at most 17, on the private side: noise, and what a noise spends, are rounded up; `down`: what decides
 * how sharp a choice is. A number that has so few digits comes out as it is. Returns text. */
const char *cli_safe(char text[32], double x, int digits, bool down);
/* The text on stdout, with what is in braces filled in from the object:
 *   {name} {name:SPEC}   a field, {a.b} a field of a field. SPEC is a width (texts, whole numbers; negative: flush
 *                        left), =26 (a cell of a table: so many places, cut where it is longer), .6g or .3f (reals), ^6
 *                        or _6 (cli_safe, up or down), %Y-%m-%d (a time). null prints nothing, or, where a real is due,
 *                        inf.
 *   {?name|TEXT}         TEXT, where the field says something: not null, false, 0, "" or empty. {!name|TEXT}:
 * otherwise.
 *                        {?name=word|TEXT}: where it is this word.
 *   {*name|TEXT}         TEXT for each in a list, or in an object; {*name:, |TEXT} has ", " between. {.} is the one
 *                        itself, {@} its name in the object; fields not found in it are looked for around the list. */
void cli_fill(const json_t *object, const char *text);
/* What a command found (consumed): as JSON with --json, without the fields whose name begins with _; else the text,
 * filled in; NULL: nothing. Returns CLI_EXIT_OK. */
int cli_tell(json_t *object, const char *text);

/* "tacet-lab gp-ucb: message" on stderr; returns the exit code that fits the status (3 for BUDGET, else 1). */
int cli_fail(const cli_command *command, const tacet_error *err);
/* The same for a failure that can only come of the options: INVALID is a usage error (2). */
int cli_refuse(const cli_command *command, const tacet_error *err);
/* The end of a command: CLI_EXIT_OK, or cli_refuse. */
int cli_end(const cli_command *command, tacet_status status, const tacet_error *err);
/* A usage error: message and a hint at --help on stderr; returns 2. */
int cli_usage(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Places on a line of the terminal: bytes that continue a UTF-8 sequence take none. */
int cli_places(const char *text, size_t length);
/* Of a table or log that was released, to its holder alone. */
#define CLI_FEW_ROWS                                                                                                   \
    "this table has too few distinct rows to be known again, unless it is exactly the same: name this ledger with "    \
    "--ledger for whatever else is released of these people"
/* A message on stderr, prefixed like the errors. */
void cli_say(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Something for good is about to be done, and `why` speaks against it: told on stderr. True with `yes`, or where a
 * person at a terminal says so; else false, and --yes was named. */
bool cli_sure(const cli_command *command, bool yes, const char *why);
#define CLI_YES(target)                                                                                                \
    CLI_OPT("yes", target, NULL, "do it although something speaks against it: what would be asked on a terminal")
/* An eps that hides hardly anything: asks, as cli_sure does. */
bool cli_sure_of_eps(const cli_command *command, bool yes, double eps);

/* A line that rewrites itself, on stderr, at most ten times a second; silent when stderr is not a terminal.
 * fraction in [0, 1] gives a bar and the time left; negative: no bar. cli_progress_end clears the line. */
void cli_progress(double fraction, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_progress_end(void);
double cli_seconds(void); /* monotonic */

/* Text by the type of the target, as the parser takes options; false: it is not that, or out of memory. */
#define CLI_READ(target, text) cli__read(CLI_KIND_OF(target), target, text)
bool cli__read(cli_kind kind, void *target, const char *text);
/* A number from all of text; false when it is not one or not finite. */
bool cli_number(double *out, const char *text);
/* The same; "-" takes the line from stdin, so that it does not show in the list of processes. */
bool cli_value(double *out, const char *text);
/* "A:B", two numbers; nothing is set when it is not that. */
bool cli_pair(double *a, double *b, const char *text);
