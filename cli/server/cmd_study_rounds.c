/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_study_rounds.c - tacet study suggest, observe, status, release: the rounds of a study, on its store, without a
 * server and without a token. Ring: trusted. Whoever may read the store may do all of this. */
#include "server/commands.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/file/folder.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SET_BYTES = 1 << 22, SAVE_EVENTS = 64 };

typedef struct asked {
    tacet__metrics metrics;
    tacet__engine_settings settings;
    const char *study;
    tacet__job *job;
} asked;

#define STUDY_OPTIONS(a)                                                                                               \
    STORE_OPTIONS((a).settings.store), {                                                                               \
        "study", CLI_STRING, &(a).study, "NAME", "The study.", true                                                    \
    }

static void begin(asked *a) {
    *a = (asked){0};
    a->settings = (tacet__engine_settings){
        .kinds = tacet__service_kinds, .metrics = &a->metrics, .save_least = SAVE_EVENTS, .batch_most = 1};
}

/* Does the job; on failure says why and gives the exit code. */
static bool answered(asked *a, const cli_command *self, int *code) {
    tacet_error err = {0};
    a->settings.metrics = &a->metrics;
    const tacet_status status = tacet__engine_once(&a->settings, a->study, a->job, &err);
    *code = status == TACET_OK        ? CLI_EXIT_OK
            : status == TACET_INVALID ? cli_usage(self, "%s", err.message)
                                      : cli_fail(self, &err);
    return status == TACET_OK;
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

static void show_suggestions(const tacet__job *job) {
    json_t *list = job->many > 0 ? json_incref(job->body) : json_pack("[o]", tacet__job_suggestion(job));
    json_t *one = NULL;
    size_t i = 0;
    if (!cli_json_wanted()) {
        json_array_foreach(list, i, one) {
            print_suggestion(one);
        }
    }
    cli_json_print(job->many > 0 ? json_pack("{sO}", "suggestions", list) : json_incref(json_array_get(list, 0)));
    json_decref(list);
}

/* One arm a line, numbers with commas between, no header. Wipes what it read. */
static tacet_status read_set(tacet__job *job, const char *path, tacet_error *err) {
    char *text = NULL;
    size_t size = 0, room = 0, line = 0;
    tacet_status status = tacet__file_read(&text, &size, path, SET_BYTES, err);
    char *rest = text;
    while (status == TACET_OK && rest != NULL && *rest != '\0') {
        char *row = strsep(&rest, "\n");
        char **cells = NULL;
        size_t d = 0;
        line++;
        row[strcspn(row, "\r")] = '\0';
        if (*row == '\0' && (rest == NULL || *rest == '\0')) {
            break;
        }
        if (!cli_split(&cells, &d, row) || (job->count > 0 && d != job->d)) {
            status = tacet__fail(err, TACET_INVALID, "%s: line %zu: needs as many numbers as the first, with commas",
                                 path, line);
        } else if (!tacet__grow((void **)&job->points, &room, (job->count + 1) * d, sizeof(double))) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a decision set");
        }
        job->d = status == TACET_OK ? d : job->d;
        for (size_t c = 0; status == TACET_OK && c < d; c++) {
            if (!cli_number(&job->points[job->count * d + c], cells[c])) {
                status = tacet__fail(err, TACET_INVALID, "%s: line %zu: field %zu is not a number (no header is taken)",
                                     path, line, c + 1);
            }
        }
        job->count += status == TACET_OK;
        free(cells);
    }
    if (status == TACET_OK && job->count == 0) {
        status = tacet__fail(err, TACET_INVALID, "%s: no arms", path);
    }
    if (text != NULL) {
        sodium_memzero(text, size);
        free(text);
    }
    return status;
}

static bool read_context(tacet__job *job, const char *text) {
    char **cells = NULL;
    size_t n = 0;
    bool good = cli_split(&cells, &n, text) && (job->context = TACET__ZALLOC(double, n)) != NULL;
    for (size_t i = 0; good && i < n; i++) {
        good = cli_number(&job->context[i], cells[i]);
    }
    job->context_dim = job->context != NULL ? n : 0;
    free(cells);
    return good;
}

int cmd_study_suggest(int argc, char **argv, const cli_command *self) {
    asked a;
    const char *set = NULL, *context = NULL, *key = NULL, *person = NULL;
    size_t count = 0;
    tacet_error err = {0};
    begin(&a);
    const cli_option options[] = {
        STUDY_OPTIONS(a),
        {"decision-set", CLI_STRING, &set, "FILE",
         "The arms of this round: CSV without a header, one a line, coordinates in the study's order.", false},
        {"context", CLI_STRING, &context, "V[,V…]", "Contextual studies: what is known of this round.", false},
        {"person", CLI_STRING, &person, "NAME", "Who takes the round, where a person may take few of them.", false},
        {"count", CLI_SIZE, &count, "N", "So many suggestions at once, 1 to 64; fewer where no more are possible now.",
         false},
        {"key", CLI_STRING, &key, "TEXT", "Repeating a suggestion with the same key gives the same answer.", false},
        {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    a.job = tacet__job_create(TACET__JOB_SUGGEST);
    if (person != NULL && strlen(person) > TACET__PERSON_MOST) {
        code = cli_usage(self, "--person has at most %d bytes", (int)TACET__PERSON_MOST);
    } else if (count > TACET__SUGGEST_MOST) {
        code = cli_usage(self, "--count is 1 to %d", (int)TACET__SUGGEST_MOST);
    } else if (key != NULL && strlen(key) > TACET__EVENT_KEY_MOST) {
        code = cli_usage(self, "--key has at most %d bytes", (int)TACET__EVENT_KEY_MOST);
    } else if (a.job == NULL || (context != NULL && !read_context(a.job, context))) {
        code = cli_usage(self, "--context is numbers with commas between");
    } else if (set != NULL && read_set(a.job, set, &err) != TACET_OK) {
        code = err.status == TACET_INVALID ? cli_usage(self, "%s", err.message) : cli_fail(self, &err);
    } else {
        (void)snprintf(a.job->person, sizeof a.job->person, "%s", person != NULL ? person : "");
        (void)snprintf(a.job->key, sizeof a.job->key, "%s", key != NULL ? key : "");
        a.job->many = count;
        if (answered(&a, self, &code)) {
            show_suggestions(a.job);
        }
    }
    tacet__job_free(a.job);
    return code;
}

int cmd_study_observe(int argc, char **argv, const cli_command *self) {
    asked a;
    const char *ticket = NULL;
    double reward = (double)NAN;
    bool failed = false;
    begin(&a);
    const cli_option options[] = {
        STUDY_OPTIONS(a),
        {"ticket", CLI_STRING, &ticket, "TICKET", "Of the suggestion.", true},
        {"reward", CLI_DOUBLE, &reward, "Y", "What its action returned; local studies: the device's report.", false},
        {"failed", CLI_FLAG, &failed, NULL,
         "Instead: it could not be evaluated. A central study counts the round as an ordinary one; a device "
         "reports noise about a stand-in ('tacet device report --failed').",
         false},
        {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    if (failed ? !isnan(reward) : !isfinite(reward)) {
        return cli_usage(self, "either --reward, a finite number, or --failed");
    }
    a.job = tacet__job_create(TACET__JOB_OBSERVE);
    if (a.job == NULL || strlen(ticket) >= sizeof a.job->ticket) {
        tacet__job_free(a.job);
        return cli_usage(self, "'%.60s' is no ticket of a study", ticket);
    }
    (void)snprintf(a.job->ticket, sizeof a.job->ticket, "%s", ticket);
    a.job->value = failed ? 0 : reward;
    a.job->failed = failed;
    if (answered(&a, self, &code)) {
        if (!cli_json_wanted()) {
            printf("ticket %s: taken%s%s\n", ticket, a.job->repeated ? " before" : "",
                   a.job->clipped ? ", clipped to the range of rewards" : "");
        }
        cli_json_print(json_pack("{ss sb sb sb}", "ticket", ticket, "taken", 1, "repeated", (int)a.job->repeated,
                                 "clipped", (int)a.job->clipped));
    }
    tacet__job_free(a.job);
    return code;
}

int cmd_study_extend(int argc, char **argv, const cli_command *self) {
    asked a;
    size_t rounds = 0;
    begin(&a);
    const cli_option options[] = {
        STUDY_OPTIONS(a), {"rounds", CLI_SIZE, &rounds, "T", "How many rounds it is to have in all.", true}, {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    a.job = tacet__job_create(TACET__JOB_EXTEND);
    if (a.job == NULL) {
        return cli_usage(self, "out of memory");
    }
    a.job->number = rounds;
    if (answered(&a, self, &code)) {
        if (!cli_json_wanted()) {
            printf("study %s: %zu rounds in all\n", a.study, rounds);
        }
        cli_json_print(json_pack("{ss sI}", "study", a.study, "rounds", (json_int_t)rounds));
    }
    tacet__job_free(a.job);
    return code;
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
    asked a;
    begin(&a);
    const cli_option options[] = {STUDY_OPTIONS(a), {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    a.job = tacet__job_create(TACET__JOB_STATUS);
    if (a.job == NULL) {
        return cli_usage(self, "out of memory");
    }
    if (answered(&a, self, &code)) {
        const json_t *b = a.job->body, *g = json_object_get(b, "guarantee");
        if (!cli_json_wanted()) {
            printf("study %s: %s, %" JSON_INTEGER_FORMAT " suggested, %" JSON_INTEGER_FORMAT
                   " observed, %" JSON_INTEGER_FORMAT " released, %" JSON_INTEGER_FORMAT " rounds left\n",
                   a.study, json_string_value(json_object_get(b, "state")),
                   json_integer_value(json_object_get(b, "suggested")),
                   json_integer_value(json_object_get(b, "observed")),
                   json_integer_value(json_object_get(b, "released")),
                   json_integer_value(json_object_get(b, "rounds_left")));
            char eps[32];
            printf("%s\neps = %s, delta = %g for %s\n", json_string_value(json_object_get(g, "statement")),
                   cli_safe(eps, json_number_value(json_object_get(g, "eps")), 6, false),
                   json_number_value(json_object_get(g, "delta")), json_string_value(json_object_get(g, "protects")));
            print_person(g);
        }
        cli_json_print(json_incref(a.job->body));
    }
    tacet__job_free(a.job);
    return code;
}

/* The model alone, as `learn` writes it; where a study releases no model, what it releases. */
static tacet_status write_release(const json_t *body, const char *path, tacet_error *err) {
    char folder[TACET__PATH];
    const json_t *model = json_object_get(body, "model");
    char *text = json_dumps(model != NULL ? model : body, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    char *line = text != NULL ? realloc(text, strlen(text) + 2) : NULL;
    tacet_status status = line == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory writing a release")
                          : strlen(path) >= sizeof folder
                              ? tacet__fail(err, TACET_INVALID, "the name of the output is too long")
                              : tacet__folder_of(folder, path, err);
    if (status == TACET_OK) {
        (void)strcat(line, "\n");
        status = tacet__file_write(path, folder, line, 0644, err);
    }
    free(line != NULL ? line : text);
    return status;
}

int cmd_study_release(int argc, char **argv, const cli_command *self) {
    asked a;
    const char *out = NULL;
    tacet_error err = {0};
    begin(&a);
    const cli_option options[] = {
        STUDY_OPTIONS(a),
        {"out", CLI_STRING, &out, "FILE", "Receives the model that 'tacet predict' reads.", true},
        {0}};
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    a.job = tacet__job_create(TACET__JOB_RELEASE);
    if (a.job == NULL) {
        return cli_usage(self, "out of memory");
    }
    if (answered(&a, self, &code)) {
        if (write_release(a.job->body, out, &err) != TACET_OK) {
            code = cli_fail(self, &err);
        } else {
            const json_t *model = json_object_get(a.job->body, "model");
            if (!cli_json_wanted()) {
                printf("%s: release %" PRIu64 " of study %s\n", out, a.job->number, a.study);
                printf("protection: post-processing of what was released and charged before; costs nothing now\n");
            }
            cli_json_print(json_pack("{ss ss sI sO*}", "model", out, "study", a.study, "number",
                                     (json_int_t)a.job->number, "rounds", json_object_get(model, "rounds")));
        }
    }
    tacet__job_free(a.job);
    return code;
}
