/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c - questions on a terminal, or their answers from a file. Ring: programs. */
#include "start.h"

#include "common/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int take_answer(void *user, const char *name, const char *value) {
    answers *a = user;
    json_t *into = a->file != NULL ? a->before : a->given;
    if (strcmp(name, "go") == 0) { /* nobody releases by a file */
        return CLI_EXIT_OK;
    }
    if (json_object_get(into, name) != NULL) {
        return cli_usage(a->self, "--answers: '%s' is answered twice", name);
    }
    return json_object_set_new(into, name, json_string(value)) == 0
               ? CLI_EXIT_OK
               : cli_usage(a->self, "--answers: the answer to '%s' is not UTF-8", name);
}

int answers_open(answers *a, const char *file, bool yes, const cli_command *self) {
    *a = (answers){.self = self, .given = json_object(), .before = json_object(), .said = json_object(), .ask = !yes};
    if (a->ask && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
        return cli_usage(self, "there is no terminal to ask on: give --yes and the answers with --answers FILE");
    }
    return file != NULL ? cli__config(self, file, take_answer, a) : CLI_EXIT_OK;
}

int answers_keep(answers *a, const char *path) {
    a->file = path;
    return a->ask && json_object_size(a->given) == 0 && access(path, F_OK) == 0
               ? cli__config(a->self, path, take_answer, a)
               : CLI_EXIT_OK;
}

void answers_tell(const answers *a, const char *format, ...) {
    va_list args;
    if (a->ask && !a->over) {
        va_start(args, format);
        (void)vprintf(format, args);
        va_end(args);
    }
}

static void note_missing(answers *a, const char *name) {
    const size_t before = a->missing != NULL ? strlen(a->missing) : 0;
    char *more = realloc(a->missing, before + strlen(name) + 3);
    if (more != NULL) {
        a->missing = more;
        (void)snprintf(more + before, strlen(name) + 3, "%s%s", before > 0 ? ", " : "", name);
    }
}

/* A line of the terminal, without blanks around it; NULL at its end. */
static char *read_line(void) {
    static char line[START_TEXT];
    if (fgets(line, sizeof line, stdin) == NULL) {
        return NULL;
    }
    char *text = line + strspn(line, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        text[--length] = '\0';
    }
    return text;
}

static const char *keep_answer(answers *a, const char *name, const char *text) {
    (void)json_object_set_new(a->said, name, json_string(text));
    (void)answers_write(a);
    return json_string_value(json_object_get(a->said, name));
}

const char *answers_get(answers *a, const char *name, const char *question, const char *preset, bool shown,
                        answer_check *check, void *user) {
    char why[START_TEXT] = "";
    const char *text = json_string_value(json_object_get(a->given, name));
    if (text != NULL) {
        if (check != NULL && !check(user, text, why)) {
            cli_say(a->self, "%s: %s", name, why);
            note_missing(a, name);
            return NULL;
        }
        return keep_answer(a, name, text);
    }
    if (!a->ask) {
        if (preset == NULL || shown) {
            note_missing(a, name);
            return NULL;
        }
        return check == NULL || check(user, preset, why) ? keep_answer(a, name, preset) : NULL;
    }
    const char *said = json_string_value(json_object_get(a->before, name));
    preset = said != NULL ? said : preset;
    a->asked++;
    while (!a->over) {
        printf("%s%s%s%s\n  > ", question, preset != NULL ? " [" : "", preset != NULL ? preset : "",
               preset != NULL ? "]" : "");
        (void)fflush(stdout);
        text = read_line();
        a->over = text == NULL;
        text = text != NULL && text[0] == '\0' ? preset : text;
        if (text != NULL && (check == NULL || check(user, text, why))) {
            return keep_answer(a, name, text);
        }
        if (!a->over) {
            printf("  %s\n", text == NULL ? "This one has no preset: it must come from you." : why);
        }
    }
    return NULL;
}

int answers_write(const answers *a) {
    const char *name = NULL;
    json_t *value = NULL;
    FILE *out = fopen(a->file, "w");
    if (out == NULL) {
        return CLI_EXIT_FAILED;
    }
    json_t *all = json_copy(a->said);
    (void)json_object_update_missing(all, a->given);
    (void)json_object_update_missing(all, a->before);
    (void)fputs("# Answers of 'tacet start': give them again with --answers. All of it is public.\n", out);
    json_object_foreach(all, name, value) {
        const char *quote = strchr("#\"", name[0]) != NULL || strchr(name, '=') != NULL ? "\"" : "";
        (void)fprintf(out, "%s%s%s = %s\n", quote, name, quote, json_string_value(value));
    }
    json_decref(all);
    const bool bad = ferror(out) != 0;
    return fclose(out) == 0 && !bad ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

void answers_close(answers *a) {
    json_decref(a->given);
    json_decref(a->before);
    json_decref(a->said);
    free(a->missing);
}
