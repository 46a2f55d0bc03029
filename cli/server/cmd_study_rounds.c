/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_study_rounds.c - tacet study suggest, observe, status, best, release: the rounds of a study, on its store,
 * without a server and without a token. Ring: trusted. Whoever may read the store may do all of this. */
#include "server/commands.h"

#include "common/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>
#include <tacet/service/trusted/store.h>
#include <tacet/service/trusted/study.h>

typedef struct asked {
    tacet_store_place place;
    const char *name;
    tacet_study *study;
    tacet_error err;
} asked;

#define STUDY_OPTIONS(a) STORE_OPTION((a).place), CLI_NEED("study", &(a).name, "NAME", "The study.")

static tacet_status open_study(asked *a) {
    return tacet_study_open_at(&a->study, &a->place, a->name, &a->err);
}

/* Closes the study; the exit code, after saying what failed. */
static int finish(asked *a, tacet_status status, const cli_command *self) {
    tacet_study_close(a->study);
    return status == TACET_OK ? CLI_EXIT_OK : cli_refuse(self, &a->err);
}

static void show_suggestions(char *text) {
    json_t *answer = cli_loads(text);
    json_t *list = json_object_get(answer, "suggestions");
    json_t *one = NULL;
    size_t i = 0;
    list = list != NULL ? json_incref(list) : json_pack("[O]", answer);
    json_array_foreach(list, i, one) {
        const json_int_t number = json_integer_value(json_object_get(one, "index")) + 1;
        if (!cli_json_wanted()) {
            cli_add(one, "_number", J(number));
            cli_fill(one,
                     "{?ticket|ticket {ticket}}{!ticket|the rounds are over, the best}: "
                     "{?point|{*point:, |{@} = {.:.10g}}}{!point|action {_number}{?action|: {*action:, |{.:.10g}}}}\n");
        }
    }
    json_decref(list);
    cli_json_print(answer);
}

/* --context in the units of the study's columns, or, where these have no names, as numbers. */
static int read_context(const asked *a, tacet_study_round *round, cli_reals *numbers, const char *text,
                        const cli_command *self) {
    tacet_space space = {0};
    tacet_error err = {0};
    char *status = NULL;
    char words[512];
    int code = CLI_EXIT_OK;
    if (tacet_study_text(a->study, &status, TACET_STUDY_STATUS, &err) != TACET_OK) {
        return cli_refuse(self, &err);
    }
    json_t *body = cli_loads(status);
    json_t *domain = json_object_get(json_object_get(body, "definition"), "domain");
    const json_t *columns = json_object_get(json_object_get(domain, "context"), "space");
    char *encoded = columns != NULL ? json_dumps(columns, JSON_REAL_PRECISION(17)) : NULL;
    if (encoded != NULL && tacet_space_decode(&space, encoded, strlen(encoded), &err) == TACET_OK) {
        json_t *named = cli_space_named(space.columns, space.count, text);
        round->named = named != NULL ? json_dumps(named, 0) : NULL;
        json_decref(named);
        code = round->named != NULL
                   ? code
                   : cli_usage(self, "--context is %s", cli_space_expects(words, space.columns, space.count));
    } else if (!CLI_READ(numbers, text)) {
        code = cli_usage(self, "--context is numbers with commas between: the contexts of this study have no names");
    }
    round->context = numbers->at;
    round->context_dim = numbers->count;
    tacet_space_clear(&space);
    free(encoded);
    json_decref(body);
    return code;
}

int cmd_study_suggest(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    tacet_study_round round = {0};
    const char *set = NULL, *context = NULL;
    cli_reals numbers = {0};
    double *points = NULL;
    char *text = NULL;
    size_t count = 0;
    const cli_option options[] = {
        STUDY_OPTIONS(a),
        CLI_OPT("decision-set", &set, "FILE",
                "The arms of this round: CSV without a header, one a line, coordinates in the study's order."),
        CLI_OPT("context", &context, "A=V,…",
                "Contextual studies: a value of each context column, in its own units; V,… in their order."),
        CLI_OPT("person-name", &round.person, "NAME", "Who takes the round, where a person may take few of them."),
        CLI_OPT("count", &count, "N", "So many suggestions at once, 1 to 64; fewer where no more are possible now."),
        CLI_OPT("key", &round.key, "TEXT", "Repeating a suggestion with the same key gives the same answer."),
        {0}};
    STORE_PARSE_OR_RETURN(options, a.place);
    tacet_status status = set != NULL ? tacet_study_set_read(&points, &round, set, &a.err) : TACET_OK;
    TACET_THEN(status, open_study(&a));
    const int code = status == TACET_OK && context != NULL ? read_context(&a, &round, &numbers, context, self) : 0;
    if (code == CLI_EXIT_OK) {
        TACET_THEN(status, tacet_study_suggest_text(a.study, &text, &round, count, &a.err));
    }
    tacet_study_set_free(points, &round);
    free((char *)(uintptr_t)round.named);
    if (code != CLI_EXIT_OK) {
        tacet_study_close(a.study);
        return code;
    }
    if (status == TACET_OK) {
        show_suggestions(text);
    }
    return finish(&a, status, self);
}

int cmd_study_observe(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    const char *ticket = NULL, *text = NULL;
    double reward = 0;
    bool failed = false;
    tacet_study_taken taken = {0};
    const cli_option options[] = {
        STUDY_OPTIONS(a),
        CLI_NEED("ticket", &ticket, "NAME", "Of the suggestion."),
        CLI_OPT("value", &text, "Y",
                "What its action returned; local studies: the device's report; - reads it from stdin."),
        CLI_OPT("failed", &failed, NULL,
                "Instead: it could not be evaluated. A central study counts the round as an ordinary one; a device "
                "reports noise about a stand-in ('tacet device report --failed')."),
        {0}};
    STORE_PARSE_OR_RETURN(options, a.place);
    if (failed == (text != NULL) || (text != NULL && !cli_value(&reward, text))) {
        return cli_usage(self, "either --value, a finite number, or --failed");
    }
    tacet_status status = open_study(&a);
    TACET_THEN(status, failed ? tacet_study_fail(a.study, &taken, ticket, &a.err)
                              : tacet_study_observe(a.study, &taken, ticket, reward, &a.err));
    if (status == TACET_OK) {
        (void)cli_tell(
            cli_object("ticket taken repeated clipped", J(ticket), JB(true), J(taken.repeated), J(taken.clipped)),
            "ticket {ticket}: taken{?repeated| before}{?clipped|, clipped to the range of rewards}\n");
    }
    return finish(&a, status, self);
}

int cmd_study_extend(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    size_t rounds = 0;
    const cli_option options[] = {
        STUDY_OPTIONS(a), CLI_NEED("rounds", &rounds, "T", "How many rounds it is to have in all."), {0}};
    STORE_PARSE_OR_RETURN(options, a.place);
    tacet_status status = open_study(&a);
    TACET_THEN(status, tacet_study_extend(a.study, rounds, &a.err));
    if (status == TACET_OK) {
        (void)cli_tell(cli_object("study rounds", J(a.name), J(rounds)), "study {study}: {rounds} rounds in all\n");
    }
    return finish(&a, status, self);
}

int cmd_study_status(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    char *text = NULL;
    const cli_option options[] = {
        STORE_OPTION(a.place), CLI_OPT("study", &a.name, "NAME", "The study. Default: all of them."), {0}};
    STORE_PARSE_OR_RETURN(options, a.place);
    if (a.name == NULL) {
        return tacet_store_list(&text, &a.place, &a.err) != TACET_OK
                   ? cli_fail(self, &a.err)
                   : cli_tell(cli_loads(text), "{*studies|{name:-32} {trust:-8} {state:-9} {suggested:10} suggested "
                                               "{?observed|{observed:10} observed}\n}");
    }
    tacet_status status = open_study(&a);
    TACET_THEN(status, tacet_study_text(a.study, &text, TACET_STUDY_STATUS, &a.err));
    if (status == TACET_OK) {
        json_t *body = cli_loads(text);
        cli_add(body, "_name", J(a.name));
        (void)cli_tell(
            body,
            "study {_name}: {state}, {suggested} suggested, {?observed|{observed} observed, }{released} released, "
            "{rounds_left} "
            "rounds left\n"
            "{guarantee.statement}\neps = {guarantee.eps:^6}, delta = {guarantee.delta} for {guarantee.protects}\n"
            "for a person behind k rounds: {*guarantee.eps_of_rounds:, |k = {@}: {?.|eps {.:^4}}{!.|no bound}}\n"
            "{?batch|{batch.reports_left} reports until the next release, of a batch of {batch.rounds}\n}"
            "{?search|{?search.tickets_left|{search.tickets_left} tickets until what was released by then decides the "
            "next points; a point is played {search.each} times\n}}"
            "{?test|{?test.tickets|after {test.tickets} tickets: {*test.arms:, |{arm} {mean:.4g} ({lower:.4g} to "
            "{upper:.4g})}\n"
            "{*test.pairs:|{?claimed|{arm} beats {over} by {lower:.4g} at least (95 %, however often you look)}"
            "{!claimed|{arm} against {over}: no claim yet, the difference lies between {lower:.4g} and {upper:.4g}}\n}"
            "{?look.claim|about {look.claim} more tickets until a claim, if rates stay as they seem\n}}"
            "{!test.tickets|nothing released yet\n}"
            "{?look.next|the next look comes after {look.next} more tickets\n}}");
    }
    return finish(&a, status, self);
}

int cmd_study_best(int argc, char **argv, const cli_command *self) {
    asked a = {0};
    char *text = NULL;
    const cli_option options[] = {STUDY_OPTIONS(a), {0}};
    STORE_PARSE_OR_RETURN(options, a.place);
    tacet_status status = open_study(&a);
    TACET_THEN(status, tacet_study_text(a.study, &text, TACET_STUDY_BEST, &a.err));
    if (status == TACET_OK) {
        (void)cli_tell(
            cli_loads(text),
            "best so far: {?point|{*point:, |{@} = {.:.10g}}}{!point|{*action:, |{.:.10g}}}\n"
            "expected reward {mean:.4g}, standard deviation {sd:.2g} as the study believes; the best of many "
            "looks better than it is\n"
            "{?spent_eps|eps spent: {spent_eps:^6}, for the reward of any one round\n}"
            "{?eps_per_report|eps spent by each device: {eps_per_report:^6} a report\n}");
    }
    return finish(&a, status, self);
}

/* The model alone, as `learn` writes it; where a study releases no model, what it releases. */
static tacet_status write_release(const json_t *body, const char *path, tacet_error *err) {
    const json_t *model = json_object_get(body, "model");
    char *text = json_dumps(model != NULL ? model : body, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    char *line = NULL;
    const bool made = text != NULL && asprintf(&line, "%s\n", text) > 0;
    const tacet_status status = made ? tacet_file_write(path, line, false, err)
                                     : tacet_error_set(err, TACET_NO_MEMORY, "out of memory writing a release");
    free(text);
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
    STORE_PARSE_OR_RETURN(options, a.place);
    tacet_status status = open_study(&a);
    TACET_THEN(status, tacet_study_release(a.study, &text, &number, &a.err));
    json_t *body = cli_loads(text);
    TACET_THEN(status, write_release(body, out, &a.err));
    if (status == TACET_OK) {
        (void)cli_tell(cli_object("model study number rounds?", J(out), J(a.name), J(number),
                                  J(json_incref(json_object_get(json_object_get(body, "model"), "rounds")))),
                       "{model}: release {number} of study {study}\n"
                       "protection: post-processing of what was released and charged before; costs nothing now\n");
    }
    json_decref(body);
    return finish(&a, status, self);
}
