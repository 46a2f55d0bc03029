/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - between the files of tacet-start: answers, the table as its holder sees it, columns, and the commands that
 * are run. */
#pragma once

#include "common/space.h"

#include <tacet/space/space.h>

enum { START_TEXT = 4096 };

/* --- answers.c ---------------------------------------------------------------------------------------------------- */

/* Answers come from a file ("name = value" a line), else from the terminal, else they are the preset. Each is written
 * down at once, so that whoever is interrupted goes on, and the same can be had again without a question. */
typedef struct answers {
    const cli_command *self;
    json_t *given;    /* name -> text: taken without a question */
    json_t *before;   /* what a person said the last time: presets */
    json_t *said;     /* the same, in the order of the questions: those that count */
    const char *file; /* where they are written; NULL: not yet */
    char *missing;    /* names without an answer, where nobody can be asked; NULL: none */
    bool ask;         /* on a terminal */
    size_t asked;     /* questions that a person saw */
    bool over;        /* the terminal has ended */
} answers;

/* Why an answer will not do, into `why` (START_TEXT bytes); true: it will. */
typedef bool answer_check(void *user, const char *text, char *why);

int answers_open(answers *a, const char *file, bool yes, const cli_command *self);
/* Where answers are written; what is there already is offered to a person who gave no other file. */
int answers_keep(answers *a, const char *path);
/* What is printed before a question on a terminal; nothing without one. */
void answers_tell(const answers *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The answer to a question; `preset` NULL: one must be given. `shown`: a preset for a person to confirm, which counts
 * for nothing where nobody can. NULL: there is none, and the name is noted in `missing`, or the terminal has ended.
 * Lives as long as the answers. */
const char *answers_get(answers *a, const char *name, const char *question, const char *preset, bool shown,
                        answer_check *check, void *user);
/* All that was said, or given and not yet asked for, as a file that --answers reads. */
int answers_write(const answers *a);
void answers_close(answers *a);

/* --- table.c ------------------------------------------------------------------------------------------------------ */

/* The table as its holder may see it. What is in it depends on the records: it is told on the terminal and nowhere
 * else, but for the kind, which is confirmed first. */
typedef struct start_column {
    char name[TACET_SPACE_NAME];
    const char *kind; /* what the cells look like: "number", "integer", "date", "category", or "skip": texts that hardly
                       * repeat. "skip" without a name: the number of the row, as some programs write it */
} start_column;

typedef struct start_table {
    start_column *columns;
    size_t count, rows;
} start_table;

int table_read(start_table *t, const char *path, const cli_command *self);
void table_clear(start_table *t);

/* --- columns.c ---------------------------------------------------------------------------------------------------- */

/* What a column is for: an input is hidden by its unit; of an action nothing stands for a missing or unknown one. */
typedef enum column_role { COLUMN_INPUT, COLUMN_CONTEXT, COLUMN_ACTION } column_role;

/* Asks about one column and appends it to `columns`, as a space's JSON has it. True where it is done or left out;
 * false: an answer is missing. */
bool column_ask(answers *a, json_t *columns, const start_column *c, size_t number, size_t count, column_role role);
/* "LO:HI" with LO below HI; for answers_get. */
bool column_good_range(void *user, const char *text, char *why);

/* --- steps.c ------------------------------------------------------------------------------------------------------ */

/* The commands that are run, and the file that says them. */
typedef struct steps {
    char *script; /* grows; from malloc */
    const cli_command *self;
} steps;

enum { STEP_WORDS = 40 };
/* A command line of `tacet`: words, ended by NULL. */
typedef struct step {
    const char *words[STEP_WORDS];
    size_t count;
} step;

void step_words(step *s, const char *const *words);
#define step_add(s, ...) step_words((s), (const char *const[]){__VA_ARGS__, NULL})
/* Into the script; `note` stands above it as a comment, NULL: none. `later`: as a comment too, for somebody to run. */
void steps_write(steps *all, const step *s, const char *note, bool later);
/* Runs it. Its stdout is read as JSON (--json is added) and given in *out, unless out is NULL: then it goes through.
 * Returns the exit code. */
int steps_run(const steps *all, const step *s, json_t **out);
void steps_print(const step *s, const char *indent);
/* Where `tacet` is, when a shell would not find it. */
void steps_tell_path(void);
