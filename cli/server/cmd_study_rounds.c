/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_study_rounds.c - tacet study suggest, observe, status, release: the rounds of a study, on its store, without a
 * server and without a token. Ring: trusted. Whoever may read the store may do all of this. */
#include "server/commands.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>
#include <tacet/service/trusted/study.h>

enum { SET_BYTES = 1 << 22 };

typedef struct asked {
    tacet_store_place place;
    const char *name;
    tacet_study *study;
    tacet_error err;
} asked;

#define STUDY_OPTIONS(a) STORE_OPTIONS((a).place), CLI_NEED("study", &(a).name, "NAME", "The study.")

static tacet_status open_study(asked *a) {
    return tacet_study_open_at(&a->study, &a->place, a->name, &a->err);
}

/* Closes the study; the exit code, after saying what failed. */
static int finish(asked *a, tacet_status status, const cli_command *self) {
    tacet_study_close(a->study);
    return status == TACET_OK ? CLI_EXIT_OK : cli_refuse(self, &a->err);
}

/* A suggestion as a line: by the columns of the space, where there is one. */
static void print_suggestion(const json_t *one) {
    const json_t *point = json_object_get(one, "point");
    const char *name = NULL;
    json_t *value = NULL;
    size_t i = 0;
    const char *ticket = json_string_value(json_object_get(one, "ticket"));
    printf("%s%s: action %" JSON_INTEGER_FORMAT, ticket != NULL ? "ticket " : "",
           ticket != NULL ? ticket : "the rounds are over, the best",
           json_integer_value(json_object_get(one, "index")) + 1);
    if (point != NULL) {
        json_object_foreach((json_t *)point, name, value) {
            printf("%s%s = ", i++ > 0 ? ", " : ": ", name);
            if (json_is_string(value)) {
                printf("%s", json_string_value(value));
            } else {
                printf("%.10g", json_number_value(value));
            }
        }
    } else {
        json_array_foreach(json_object_get(one, "action"), i, value) {
            printf("%s%.10g", i > 0 ? ", " : ": ", json_number_value(value));
        }
    }
    printf("\n");
}

/* One arm a line, numbers with commas between, no header. Wipes what it read. */
static tacet_status read_set(double **points, tacet_study_round *round, const char *path, tacet_error *err) {
    char *text = NULL;
    size_t size = 0, line = 0;
    tacet_status status = tacet_file_read(&text, &size, path, SET_BYTES, err);
    char *rest = text;
    *points = status == TACET_OK ? calloc(size / 2 + 1, sizeof **points) : NULL; /* a digit and a separator each */
    if (status == TACET_OK && *points == NULL) {
        status = tacet_error_set(err, TACET_NO_MEMORY, "out of memory reading a decision set");
    }
    while (status == TACET_OK && rest != NULL && *rest != '\0') {
        char *row = strsep(&rest, "\n");
        char **cells = NULL;
        size_t d = 0;
        line++;
        row[strcspn(row, "\r")] = '\0';
        if (*row == '\0' && (rest == NULL || *rest == '\0')) {
            break;
        }
        if (!cli_split(&cells, &d, row) || (round->count > 0 && d != round->d)) {
            status = tacet_error_set(err, TACET_INVALID,
                                     "%s: line %zu: needs as many numbers as the first, with commas", path, line);
        }
        round->d = status == TACET_OK ? d : round->d;
        for (size_t c = 0; status == TACET_OK && c < d; c++) {
            if (!cli_number(&(*points)[round->count * d + c], cells[c])) {
                status =
                    tacet_error_set(err, TACET_INVALID, "%s: line %zu: field %zu is not a number (no header is taken)",
                                    path, line, c + 1);
            }
        }
        round->count += status == TACET_OK;
        free(cells);
    }
    if (status == TACET_OK && round->count == 0) {
        status = tacet_error_set(err, TACET_INVALID, "%s: no arms", path);
    }
    if (text != NULL) {
        sodium_memzero(text, size);
        free(text);
    }
    round->points = *points;
    return status;
}

static bool read_context(double **context, tacet_study_round *round, const char *text) {
    char **cells = NULL;
    size_t n = 0;
    bool good = cli_split(&cells, &n, text) && (*context = calloc(n, sizeof **context)) != NULL;
    for (size_t i = 0; good && i < n; i++) {
        good = cli_number(&(*context)[i], cells[i]);
    }
    round->context = *context;
    round->context_dim = n;
    free(cells);
    return good;
}

static void show_suggestions(char *text) {
    json_t *answer = cli_loads(text);
    const json_t *list = json_object_get(answer, "suggestions");
    const json_t *one = NULL;
    size_t i = 0;
    if (!cli_json_wanted() && list == NULL) {
        print_suggestion(answer);
    } else if (!cli_json_wanted()) {
        json_array_foreach(list, i, one) {
            print_suggestion(one);
        }
    }
    cli_json_print(answer);
}

static void wipe(double *numbers, size_t count) {
    if (numbers != NULL) {
        sodium_memzero(numbers, count * sizeof *numbers);
        free(numbers);
    }
}

int cmd_study_suggest(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    tacet_study_round round = {0};
    const char *set = NULL, *context = NULL;
    double *points = NULL, *numbers = NULL;
    char *text = NULL;
    size_t count = 0;
    const cli_option options[] = {
        STUDY_OPTIONS(a),
        CLI_OPT("decision-set", &set, "FILE",
                "The arms of this round: CSV without a header, one a line, coordinates in the study's order."),
        CLI_OPT("context", &context, "V[,V…]", "Contextual studies: what is known of this round."),
        CLI_OPT("person", &round.person, "NAME", "Who takes the round, where a person may take few of them."),
        CLI_OPT("count", &count, "N", "So many suggestions at once, 1 to 64; fewer where no more are possible now."),
        CLI_OPT("key", &round.key, "TEXT", "Repeating a suggestion with the same key gives the same answer."),
        {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (context != NULL && !read_context(&numbers, &round, context)) {
        wipe(numbers, round.context_dim);
        return cli_usage(self, "--context is numbers with commas between");
    }
    tacet_status status = set != NULL ? read_set(&points, &round, set, &a.err) : TACET_OK;
    status = status != TACET_OK ? status : open_study(&a);
    status = status != TACET_OK ? status : tacet_study_suggest_text(a.study, &text, &round, count, &a.err);
    wipe(points, round.d * round.count);
    wipe(numbers, round.context_dim);
    if (status == TACET_OK) {
        show_suggestions(text);
    }
    return finish(&a, status, self);
}

int cmd_study_observe(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    const char *ticket = NULL;
    double reward = (double)NAN;
    bool failed = false;
    tacet_study_taken taken = {0};
    const cli_option options[] = {
        STUDY_OPTIONS(a),
        CLI_NEED("ticket", &ticket, "TICKET", "Of the suggestion."),
        CLI_OPT("reward", &reward, "Y", "What its action returned; local studies: the device's report."),
        CLI_OPT("failed", &failed, NULL,
                "Instead: it could not be evaluated. A central study counts the round as an ordinary one; a device "
                "reports noise about a stand-in ('tacet device report --failed')."),
        {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (failed ? !isnan(reward) : !isfinite(reward)) {
        return cli_usage(self, "either --reward, a finite number, or --failed");
    }
    tacet_status status = open_study(&a);
    status = status != TACET_OK ? status
             : failed           ? tacet_study_fail(a.study, &taken, ticket, &a.err)
                                : tacet_study_observe(a.study, &taken, ticket, reward, &a.err);
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            printf("ticket %s: taken%s%s\n", ticket, taken.repeated ? " before" : "",
                   taken.clipped ? ", clipped to the range of rewards" : "");
        }
        (void)cli_tell(
            cli_object("ticket taken repeated clipped", J(ticket), J(true), J(taken.repeated), J(taken.clipped)), NULL);
    }
    return finish(&a, status, self);
}

int cmd_study_extend(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    size_t rounds = 0;
    const cli_option options[] = {
        STUDY_OPTIONS(a), CLI_NEED("rounds", &rounds, "T", "How many rounds it is to have in all."), {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = open_study(&a);
    status = status != TACET_OK ? status : tacet_study_extend(a.study, rounds, &a.err);
    if (status == TACET_OK) {
        (void)cli_tell(cli_object("study rounds", J(a.name), J(rounds)), "study {study}: {rounds} rounds in all\n");
    }
    return finish(&a, status, self);
}

/* What several rounds of one person cost together. */
static void print_person(const json_t *g) {
    char eps[32];
    const char *rounds = NULL;
    const json_t *cost = NULL;
    const char *separator = "";
    printf("for a person behind k rounds: ");
    json_object_foreach((json_t *)(uintptr_t)json_object_get(g, "eps_of_rounds"), rounds, cost) {
        printf("%sk = %s: %s%s", separator, rounds, json_is_number(cost) ? "eps " : "no bound",
               json_is_number(cost) ? cli_safe(eps, json_number_value(cost), 4, false) : "");
        separator = ", ";
    }
    printf("\n");
}

int cmd_study_status(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    char *text = NULL;
    const cli_option options[] = {STUDY_OPTIONS(a), {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = open_study(&a);
    status = status != TACET_OK ? status : tacet_study_text(a.study, &text, TACET_STUDY_STATUS, &a.err);
    json_t *body = cli_loads(text);
    if (status == TACET_OK && !cli_json_wanted()) {
        printf("study %s: ", a.name);
        cli_fill(
            body,
            "{state}, {suggested} suggested, {observed} observed, {released} released, {rounds_left} rounds left\n"
            "{guarantee.statement}\neps = {guarantee.eps:^6}, delta = {guarantee.delta} for {guarantee.protects}\n");
        print_person(json_object_get(body, "guarantee"));
    }
    cli_json_print(body);
    return finish(&a, status, self);
}

/* The model alone, as `learn` writes it; where a study releases no model, what it releases. */
static tacet_status write_release(const json_t *body, const char *path, tacet_error *err) {
    const json_t *model = json_object_get(body, "model");
    char *text = json_dumps(model != NULL ? model : body, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    const size_t length = text != NULL ? strlen(text) : 0;
    char *line = text != NULL ? realloc(text, length + 2) : NULL;
    if (line == NULL) {
        free(text);
        return tacet_error_set(err, TACET_NO_MEMORY, "out of memory writing a release");
    }
    memcpy(line + length, "\n", 2);
    const tacet_status status = tacet_file_write(path, line, false, err);
    free(line);
    return status;
}

int cmd_study_release(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    const char *out = NULL;
    char *text = NULL;
    uint64_t number = 0;
    const cli_option options[] = {
        STUDY_OPTIONS(a), CLI_NEED("out", &out, "FILE", "Receives the model that 'tacet predict' reads."), {0}};
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    tacet_status status = open_study(&a);
    status = status != TACET_OK ? status : tacet_study_release(a.study, &text, &number, &a.err);
    json_t *body = cli_loads(text);
    status = status != TACET_OK ? status : write_release(body, out, &a.err);
    if (status == TACET_OK) {
        if (!cli_json_wanted()) {
            printf("%s: release %llu of study %s\n", out, (unsigned long long)number, a.name);
            printf("protection: post-processing of what was released and charged before; costs nothing now\n");
        }
        cli_json_print(json_pack("{ss ss sI sO*}", "model", out, "study", a.name, "number", (json_int_t)number,
                                 "rounds", json_object_get(json_object_get(body, "model"), "rounds")));
    }
    json_decref(body);
    return finish(&a, status, self);
}
