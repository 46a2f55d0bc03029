/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet start: from a table to a release, or from a log to a model, question by question.
 * Ring: trusted: it reads the table to tell its holder what is in it. It releases nothing itself: it runs the commands
 * that do, and writes them down. */
#include "start.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What was asked for, and where things go. */
typedef struct start {
    const cli_command *self;
    answers a;
    steps steps;
    start_table table;
    const char *data;
    bool log;
    char folder[START_TEXT], space_file[START_TEXT + 16], answers_file[START_TEXT + 16], script_file[START_TEXT + 16];
    char release[START_TEXT + 16], keys[START_TEXT + 16], modeler_keys[START_TEXT + 32], state[START_TEXT + 16];
    const char *target; /* the column of measured values; NULL: a person, or a program, measures */
    const char *action, *range;
    char contexts[START_TEXT];
    const char *eps, *queries;
    json_t *columns;
    tacet_space space;
} start;

static bool good_name(void *user, const char *text, char *why) {
    const start *s = user;
    for (size_t i = 0; i < s->table.count; i++) {
        if (strcmp(s->table.columns[i].name, text) == 0) {
            return true;
        }
    }
    size_t at = (size_t)snprintf(why, START_TEXT, "There is no column '%.100s'. There are:", text);
    for (size_t i = 0; i < s->table.count && at < START_TEXT; i++) {
        const char *name = s->table.columns[i].name;
        at += name[0] == '\0' ? 0 : (size_t)snprintf(why + at, START_TEXT - at, " '%s'", name);
    }
    return false;
}

static bool good_target(void *user, const char *text, char *why) {
    return strcmp(text, "none") == 0 || good_name(user, text, why);
}

static bool good_eps(void *user, const char *text, char *why) {
    double eps = 0;
    (void)user;
    if (cli_number(&eps, text) && eps > 0 && eps <= 1000) {
        return true;
    }
    (void)snprintf(why, START_TEXT, "'%.100s' is not a number above 0.", text);
    return false;
}

static bool good_queries(void *user, const char *text, char *why) {
    const start *s = user;
    size_t count = 0;
    if (CLI_READ(&count, text) && count > 0 && count <= s->table.rows) {
        return true;
    }
    (void)snprintf(why, START_TEXT, "'%.100s' is not a whole number from 1 to %zu, the rows there are.", text,
                   s->table.rows);
    return false;
}

/* --- where things go ---------------------------------------------------------------------------------------------- */

static int make_folder(start *s, const char *out) {
    const char *end = strrchr(s->data, '.');
    const char *slash = strrchr(s->data, '/');
    const size_t stem = end != NULL && (slash == NULL || end > slash) ? (size_t)(end - s->data) : strlen(s->data);
    if (out != NULL) {
        (void)snprintf(s->folder, sizeof s->folder, "%s", out);
    } else {
        (void)snprintf(s->folder, sizeof s->folder, "%.*s-%s", (int)stem, s->data, s->log ? "model" : "study");
    }
    (void)snprintf(s->space_file, sizeof s->space_file, "%s/space.json", s->folder);
    (void)snprintf(s->answers_file, sizeof s->answers_file, "%s/answers.txt", s->folder);
    (void)snprintf(s->script_file, sizeof s->script_file, "%s/commands.sh", s->folder);
    (void)snprintf(s->release, sizeof s->release, s->log ? "%s/model.json" : "%s/release", s->folder);
    (void)snprintf(s->keys, sizeof s->keys, "%s/keys", s->folder);
    (void)snprintf(s->modeler_keys, sizeof s->modeler_keys, "%s/modeler", s->keys);
    (void)snprintf(s->state, sizeof s->state, "%s/search", s->folder);
    struct stat there;
    if (stat(s->release, &there) == 0) {
        return cli_usage(s->self, "%s is there already: name another folder with --out", s->release);
    }
    FILE *file = mkdir(s->folder, 0700) == 0 || errno == EEXIST ? fopen(s->answers_file, "a") : NULL;
    if (file == NULL || fclose(file) != 0) {
        cli_say(s->self, "cannot write into %s: %s; name another folder with --out", s->folder, strerror(errno));
        return CLI_EXIT_FAILED;
    }
    return answers_keep(&s->a, s->answers_file);
}

static int write_text(const start *s, const char *path, const char *head, const char *text) {
    FILE *out = fopen(path, "w");
    if (out == NULL || fputs(head, out) < 0 || fputs(text, out) < 0 || fclose(out) != 0) {
        cli_say(s->self, "cannot write %s", path);
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_OK;
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

static void explain(const start *s) {
    answers_tell(&s->a,
                 "%s: %zu columns, %zu rows. Nothing of it leaves before you say yes at the end.\n\n"
                 "Kinds, bounds, levels and units become public. Take them from what anybody knows: a form, a code\n"
                 "book, a law of nature. Never from this file: a bound that is the largest value shows the one row\n"
                 "that has it. So nothing here proposes one from your rows. Kinds are proposed from how cells look.\n"
                 "A missing cell counts as the middle of the bounds, or as 'other', whether or not there is any.\n"
                 "Press Enter for what stands in brackets. Ctrl-C stops; nothing is charged until the end. Started\n"
                 "again, what you said stands in brackets.\n\n",
                 s->data, s->table.count, s->table.rows);
}

static bool ask_columns(start *s, const char *left_out) {
    bool good = true;
    for (size_t i = 0; i < s->table.count && !s->a.over; i++) {
        const start_column *c = &s->table.columns[i];
        const bool action = s->log && s->action != NULL && strcmp(c->name, s->action) == 0;
        if (c->name[0] == '\0') {
            answers_tell(&s->a, "\n%zu of %zu has no name, and is left out.\n", i + 1, s->table.count);
        } else if (left_out == NULL || strcmp(c->name, left_out) != 0) {
            good = column_ask(&s->a, s->columns, c, i + 1, s->table.count,
                              !s->log  ? COLUMN_INPUT
                              : action ? COLUMN_ACTION
                                       : COLUMN_CONTEXT) &&
                   good;
        }
    }
    return good;
}

/* What eps means here: the second number is the width of the space in units. */
static double widest(const tacet_space *space) {
    double numbers = 0, categories = 0;
    for (size_t i = 0; i < space->count; i++) {
        const tacet_space_column *c = &space->columns[i];
        categories += tacet_space_traits_of(c)->levels ? 1 : 0;
        numbers = hypot(numbers, tacet_space_width(c));
    }
    return numbers + categories;
}

static bool ask_eps(start *s) {
    answers_tell(&s->a, "\neps says how much can be learnt about one row. Somebody who knows everything else and is to "
                        "tell two\nversions of a row apart");
    if (s->log) {
        answers_tell(&s->a, " is right with probability at most 73 %% at eps = 1, 95 %% at eps = 3.\n");
    } else {
        answers_tell(&s->a,
                     " that differ by one unit is right with probability at most 73 %% at eps = 1,\n95 %% at eps = 3. "
                     "A larger change is hidden less: one row becoming any other costs up to %.3g times eps.\n",
                     widest(&s->space));
    }
    s->eps = answers_get(&s->a, "eps", "Which eps?", NULL, false, good_eps, NULL);
    return s->eps != NULL;
}

static bool ask_table(start *s) {
    const char *target = answers_get(&s->a, "target",
                                     "Which column is the outcome, whose best value is looked for? It is not released; "
                                     "single\nvalues are told when they are asked for. 'none': a person measures.",
                                     NULL, false, good_target, s);
    s->target = target != NULL && strcmp(target, "none") != 0 ? target : NULL;
    return target != NULL;
}

static bool ask_log(start *s) {
    s->action = answers_get(&s->a, "action", "Which column says what was done or shown (the action)?", NULL, false,
                            good_name, s);
    s->target =
        answers_get(&s->a, "reward", "Which column says what came of it (the reward)?", NULL, false, good_name, s);
    s->range = answers_get(&s->a, "range", "Least and largest possible reward, as LO:HI? Public: 0:1 for a click.",
                           NULL, false, column_good_range, NULL);
    return s->action != NULL && s->target != NULL && s->range != NULL;
}

/* --- the space, and the cells that do not fit it ------------------------------------------------------------------ */

static int make_space(start *s) {
    tacet_error err = {0};
    if (json_array_size(s->columns) == 0) {
        return cli_usage(s->self, "every column was skipped: there is nothing to release");
    }
    json_t *whole = json_pack("{sO}", "columns", s->columns);
    char *text = json_dumps(whole, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(whole);
    const tacet_status status =
        text != NULL ? tacet_space_decode(&s->space, text, strlen(text), &err) : TACET_NO_MEMORY;
    int code = status == TACET_OK ? write_text(s, s->space_file, text, "\n") : cli_fail(s->self, &err);
    free(text);
    for (size_t i = 0; code == CLI_EXIT_OK && i < s->space.count; i++) {
        const char *name = s->space.columns[i].name;
        const size_t at = strlen(s->contexts);
        if (s->action == NULL || strcmp(name, s->action) != 0) {
            (void)snprintf(s->contexts + at, sizeof s->contexts - at, "%s%s", at > 0 ? "," : "", name);
        }
    }
    return code;
}

static int check_cells(start *s) {
    const size_t bad = cli_cells_check(s->data, &s->space, s->target, s->self);
    if (bad == 0) {
        return CLI_EXIT_OK;
    }
    if (bad != SIZE_MAX) {
        cli_say(s->self,
                "%zu cells cannot be read; nothing was released. Mend them, or your answers in %s, and run it again",
                bad, s->answers_file);
    }
    return CLI_EXIT_FAILED;
}

/* Columns that say next to nothing in this space, for the holder alone: a code book may spell its levels otherwise. */
static int tell_columns(start *s) {
    step check = {.count = 0};
    json_t *found = NULL, *column = NULL;
    size_t i = 0;
    step_add(&check, "space", "check", "--space", s->space_file, "--data", s->data);
    const int code = steps_run(&s->steps, &check, &found);
    json_array_foreach(json_object_get(found, "columns"), i, column) {
        const char *advice = json_string_value(json_object_get(column, "advice"));
        if (advice != NULL && advice[0] != '\0') {
            cli_say(s->self, "for you alone, column '%s': %s", json_string_value(json_object_get(column, "name")),
                    advice);
        }
    }
    json_decref(found);
    return code;
}

/* --- the steps ---------------------------------------------------------------------------------------------------- */

static step curate_step(const start *s) {
    step one = {.count = 0};
    step_add(&one, "curate", "--data", s->data, "--space", s->space_file, "--eps", s->eps, "--queries", s->queries,
             "--out", s->release);
    step_add(&one, "--values-unprotected"); /* the preview says so, and the yes is about it, too */
    if (s->target != NULL) {
        step_add(&one, "--target", s->target);
    }
    return one;
}

static step learn_step(const start *s) {
    step one = {.count = 0};
    step_add(&one, "learn", "--data", s->data, "--space", s->space_file, "--actions", s->action);
    if (s->contexts[0] != '\0') {
        step_add(&one, "--contexts", s->contexts);
    }
    step_add(&one, "--reward", s->target, "--range", s->range, "--eps", s->eps, "--out", s->release);
    return one;
}

/* What a search could reach under this noise, on made-up functions: of the records only their number is used, which the
 * release tells anyway. */
static void tell_plan(start *s) {
    char rows[32];
    step plan = {.count = 0};
    json_t *found = NULL;
    (void)snprintf(rows, sizeof rows, "%zu", s->table.rows < 2000 ? s->table.rows : 2000);
    step_add(&plan, "plan", "outsourced", "--space", s->space_file, "--rows", rows, "--queries", s->queries, "--eps",
             s->eps, "--trials", "32");
    steps_write(&s->steps, &plan, "What a search could reach under this noise, on made-up functions.", false);
    printf("Trying a search on made-up functions under this noise …\n");
    if (steps_run(&s->steps, &plan, &found) == CLI_EXIT_OK) {
        printf("%s\n", json_string_value(json_object_get(found, "advice")));
    }
    json_decref(found);
}

/* The preview: what would be released, and what it is worth. An exit code. */
static int preview(start *s, step *release) {
    *release = s->log ? learn_step(s) : curate_step(s);
    step dry = *release;
    step_add(&dry, "--dry-run");
    steps_write(&s->steps, &dry, "What would be released: nothing is charged.", false);
    printf("\n");
    const int code = steps_run(&s->steps, &dry, NULL);
    if (code == CLI_EXIT_OK && !s->log) {
        tell_plan(s);
    }
    return code;
}

static bool good_go(void *user, const char *text, char *why) {
    return strcmp(text, "yes") == 0 || strcmp(text, "no") == 0 || good_eps(user, text, why);
}

/* Asks until it is yes or no; a number is another eps. */
static int confirm(start *s, step *release) {
    int code = preview(s, release);
    while (code == CLI_EXIT_OK && s->a.ask) {
        const char *said =
            answers_get(&s->a, "go", "\nRelease it? yes, no, or another eps.", NULL, false, good_go, NULL);
        char *text = said != NULL ? strdup(said) : NULL;
        (void)json_object_del(s->a.said, "go"); /* asked anew each time, and never taken from a file */
        (void)answers_write(&s->a);
        const bool yes = text != NULL && strcmp(text, "yes") == 0;
        if (text == NULL || strcmp(text, "no") == 0) {
            free(text);
            printf("Nothing was released. Your answers are in %s: started again, they stand in brackets.\n",
                   s->answers_file);
            return CLI_EXIT_FAILED;
        }
        if (!yes) {
            (void)json_object_set_new(s->a.said, "eps", json_string(text));
            s->eps = json_string_value(json_object_get(s->a.said, "eps"));
            (void)answers_write(&s->a);
            free(s->steps.script);
            s->steps.script = NULL;
        }
        free(text);
        if (yes) {
            return CLI_EXIT_OK;
        }
        code = preview(s, release);
    }
    return code;
}

/* What each party runs next: printed, and at the end of the script. */
static void tell_next(start *s) {
    step serve = {.count = 0}, search = {.count = 0};
    if (s->log) {
        step_add(&search, "predict", "--model", s->release, "--all");
        printf("\nAnybody may ask the model, as often as they like:\n");
        steps_print(&search, "  ");
        steps_write(&s->steps, &search, "Anybody, as often as they like:", true);
        return;
    }
    step_add(&serve, "curator", "serve", "--release", s->release, "--keys", s->keys, "--data", s->data);
    if (s->target != NULL) {
        step_add(&serve, "--target", s->target);
    } else {
        step_add(&serve, "--desk", "127.0.0.1:8444");
    }
    step_add(&search, "modeler", "run", "--url", "https://localhost:8443", "--keys", s->modeler_keys, "--state",
             s->state, "--queries", s->queries);
    printf("\nYou, who hold the records, now run (from another machine it is reached with --listen 0.0.0.0:8443,\nand "
           "with its name in 'tacet curator init --host'):\n");
    steps_print(&serve, "  ");
    printf("Whoever searches gets the folder %s and runs:\n", s->modeler_keys);
    steps_print(&search, "  ");
    steps_write(&s->steps, &serve, "Whoever holds the records:", true);
    steps_write(&s->steps, &search, "Whoever searches, with the keys in this folder:", true);
}

static int release_it(start *s, const step *release) {
    steps_write(&s->steps, release, "The release: charged to the ledger, then drawn.", false);
    int code = steps_run(&s->steps, release, NULL);
    if (code == CLI_EXIT_OK && !s->log) {
        step keys = {.count = 0};
        step_add(&keys, "curator", "init", "--dir", s->keys, "--host", "localhost,127.0.0.1");
        steps_write(&s->steps, &keys, "Keys of both parties.", false);
        code = steps_run(&s->steps, &keys, NULL);
    }
    if (code == CLI_EXIT_OK) {
        tell_next(s);
        steps_tell_path();
        code = write_text(s, s->script_file, "#!/bin/sh\n# What 'tacet start' ran, in this order.\n", s->steps.script);
        printf("\nAll of this as commands: %s. Your answers: %s.\n", s->script_file, s->answers_file);
    }
    return code;
}

static int run_start(start *s) {
    explain(s);
    bool good = s->log ? ask_log(s) : ask_table(s);
    good = ask_columns(s, s->target) && good;
    if (good) {
        const int code = make_space(s);
        if (code != CLI_EXIT_OK) {
            return code;
        }
    }
    good = ask_eps(s) && good;
    if (!s->log) {
        s->queries = answers_get(&s->a, "queries", "How many outcomes may be asked for in all?",
                                 s->table.rows < 40 ? NULL : "40", false, good_queries, s);
        good = s->queries != NULL && good;
    }
    (void)answers_write(&s->a);
    if (s->a.missing != NULL) {
        return cli_usage(s->self, "answers are missing, or were refused: %s", s->a.missing);
    }
    if (!good) {
        cli_say(s->self, "stopped; nothing was released. What you said is in %s: started again, it stands in brackets",
                s->answers_file);
        return CLI_EXIT_FAILED;
    }
    step release = {.count = 0};
    int code = check_cells(s);
    code = code != CLI_EXIT_OK ? code : tell_columns(s);
    code = code != CLI_EXIT_OK ? code : confirm(s, &release);
    return code != CLI_EXIT_OK ? code : release_it(s, &release);
}

static int cmd_start(int argc, char **argv, const cli_command *self) {
    start s = {.self = self, .steps = {.self = self}};
    const char *file = NULL, *out = NULL, *log = NULL;
    bool yes = false;
    const char *table = NULL;
    size_t tables = 1;
    const cli_option options[] = {
        CLI_OPT("log", &log, "FILE",
                "a log of actions, contexts and rewards instead: ends with a model ('tacet learn')"),
        CLI_OPT("out", &out, "DIR", "receives everything (default: the table's name with -study, or -model)"),
        CLI_OPT("answers", &file, "FILE", "answers known already, 'name = value' a line, as DIR/answers.txt has them"),
        CLI_OPT("yes", &yes, NULL, "ask nothing: take --answers, and release; for scripts"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, &table, &tables);
    s.log = log != NULL;
    s.data = s.log ? log : table;
    if ((tables == 1) == s.log) {
        return cli_usage(self, "name one table, 'tacet start FILE.csv', or one log, 'tacet start --log FILE.csv'");
    }
    int code = answers_open(&s.a, file, yes, self);
    s.columns = json_array();
    tacet_space_init(&s.space);
    code = code != CLI_EXIT_OK ? code : table_read(&s.table, s.data, self);
    code = code != CLI_EXIT_OK ? code : make_folder(&s, out);
    code = code != CLI_EXIT_OK ? code : run_start(&s);
    json_decref(s.columns);
    tacet_space_clear(&s.space);
    table_clear(&s.table);
    free(s.steps.script);
    answers_close(&s.a);
    return code;
}

static const cli_command COMMANDS[] = {
    {"start", "from your table to a private release, question by question", "FILE.csv | --log FILE.csv [options]",
     "Asks what a release needs, column by column: kind, bounds or levels, and what counts as one unit. Lists every "
     "cell that cannot be read at once, shows the noise in the columns' own units and what a search could reach with "
     "it, asks for eps and for a yes, and then releases, makes the keys, and prints what each party runs next. With "
     "--log the table is a log of actions, contexts and rewards, and what is released is a model.\n\n"
     "Nothing is charged before the yes. No bound or level is ever proposed from the records: a bound that is the "
     "largest value of a column shows the record that has it.\n\n"
     "What it ran is in DIR/commands.sh, and what you said in DIR/answers.txt: --answers takes it again, with --yes "
     "without a question; without --answers a person finds it in brackets. An answer is 'target', 'eps', 'queries' or "
     "COLUMN.kind, COLUMN.bounds, COLUMN.levels, "
     "COLUMN.unit; for a log 'action', 'reward', 'range'. Kinds, units and queries have presets.",
     "tacet start patients.csv\n"
     "tacet start --log visits.csv\n"
     "tacet start patients.csv --answers patients-study/answers.txt --out again --yes",
     cmd_start},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-start",
    .summary = "From your table to a private release, question by question.",
    .ring = "trusted (reads the table; releases through the other programs)",
    .commands = COMMANDS,
};
