/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_learn.c - tacet learn: a log in, one released table and what its posterior claims out.
 * Ring: programs (trusted). The model leaves through the gate; the file is written beside its final name and then
 * moved, so that a reader never sees half of one. Asking again under the same ticket writes the same model again, and
 * costs nothing. */
#include "learn/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>

/* Before anything is spent. */
static tacet_status try_path(const char *path, tacet_error *err) {
    char temporary[4096];
    const int length = snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE *file = length > 0 && (size_t)length < sizeof temporary ? fopen(temporary, "w") : NULL;
    if (file == NULL) {
        return tacet_error_set(err, TACET_IO, "%.100s cannot be written", path);
    }
    (void)fclose(file);
    (void)remove(temporary);
    return TACET_OK;
}

static json_t *estimate_json(const tacet_ab_estimate *e) {
    return cli_object("estimate lower upper", J(e->mean), J(e->lower), J(e->upper));
}

/* The levels of an action, as people read them. */
static json_t *action_json(const tacet_ab_facts *f, size_t action) {
    json_t *list = json_array();
    for (size_t j = 0; j < f->plan.action_columns; j++) {
        char text[TACET_SPACE_NAME];
        tacet_space_text(&f->space->columns[j], text, tacet_ab_plan_value(&f->plan, action, j));
        (void)json_array_append_new(list, J(text));
    }
    return list;
}

/* What each action would earn if all were shown it. */
static json_t *each_json(const tacet_ab_facts *f, const tacet_ab_posterior *p) {
    json_t *list = json_array();
    for (size_t a = 0; a < p->actions; a++) {
        json_t *one = estimate_json(&p->action_value[a]);
        cli_add(one, "action", J(action_json(f, a)));
        (void)json_array_append_new(list, one);
    }
    return list;
}

static const char WORDS[] =
    "{model}: learnt from {rows} rows, eps = {eps:^6}, delta = 0\n"
    "{?_cut|rewards are counted up to {counted_to:.4g}, which a part of the rows told; all values below are of rewards "
    "counted so\n}"
    "the rule earns between {rule.lower:_4} and {rule.upper:^4} a row (about {rule.estimate:.4g})\n"
    "showing{*single_action| {.}} to all earns between {single.lower:_4} and {single.upper:^4}; the log earned between "
    "{logged.lower:_4} and {logged.upper:^4}; even play earns between {uniform.lower:_4} and {uniform.upper:^4}\n"
    "{?_few|shown to all{*actions:;|{*action| {.}} earns {lower:_4} to {upper:^4}}\n}"
    "{?_same|the rule shows{*single_action| {.}} to all: no gain over that is claimed\n}"
    "{!_same|the rule earns {over_single.lower:_4} to {over_single.upper:^4} more than showing{*single_action| {.}} to "
    "all: {over_single_is}\n}"
    "it earns {over_logged.lower:_4} to {over_logged.upper:^4} more than the log did: {over_logged_is}\n"
    "{?_split|sample ratio: {split.words} (p = {split.p:.2g}); shown in{*split.shown| {.:.4f}} of the rows\n}"
    "(95 % intervals; a gain is called better when its interval is above 0)\n"
    "protection: {protection}\nnot protected: that a row is in the log, the number of rows\n";

static const char *told(const tacet_ab_estimate *e) {
    return e->lower > 0 ? "better" : e->upper < 0 ? "worse" : "not told apart";
}

enum { WORDS_MOST = 256, FEW = 8 };

static const char *protection_of(char out[WORDS_MOST], const tacet_ab_facts *f) {
    static const char ROW[] = "eps-DP for one row: its action, its contexts and its reward";
    if (!f->is_private) {
        return "none: seeded noise";
    }
    if (f->person_rows == 0) {
        (void)snprintf(out, WORDS_MOST, "%s; any number of predictions", ROW);
    } else {
        (void)snprintf(out, WORDS_MOST,
                       "%s; for those of a person, who has at most %zu row%s, eps = %.6g; any number of predictions",
                       ROW, f->person_rows, f->person_rows > 1 ? "s" : "", nextafter(f->person_eps, INFINITY));
    }
    return out;
}

static const double MISMATCH = 0.001; /* an experiment whose counts are this unlikely was not run as planned */

/* Whether actions were shown as planned. */
static json_t *split_json(const tacet_ab_model *model, const cli_reals *split) {
    double p = 0;
    double *shown = calloc(split->count, sizeof *shown);
    json_t *list = json_array();
    json_t *object = NULL;
    if (shown != NULL && tacet_ab_model_split(model, shown, &p, split->at, NULL) == TACET_OK) {
        for (size_t a = 0; a < split->count; a++) {
            (void)json_array_append_new(list, J(shown[a]));
        }
        object = cli_object("p as_planned words shown", J(p), JB(p >= MISMATCH),
                            J(p >= MISMATCH ? "as planned, as far as can be told"
                                            : "MISMATCH: actions were not shown as planned, so look for the fault "
                                              "before you believe any comparison"),
                            J(json_incref(list)));
    }
    json_decref(list);
    free(shown);
    return object;
}

static tacet_status check_split(const tacet_ab_log *log, const cli_reals *split, tacet_error *err) {
    bool good = split->at == NULL || split->count == tacet_ab_log_plan(log)->actions;
    for (size_t a = 0; split->at != NULL && a < split->count && good; a++) {
        good = split->at[a] > 0;
    }
    return good ? TACET_OK
                : tacet_error_set(
                      err, TACET_INVALID,
                      "--split has a number above 0 for each of the %zu actions, in the order of their levels",
                      tacet_ab_log_plan(log)->actions);
}

static void report(const tacet_ab_model *model, const cli_reals *split, const char *out, double seconds) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
    char words[WORDS_MOST];
    json_t *object = cli_object(
        "model rows cells eps delta private protection counted_to rule single logged uniform over_single over_logged "
        "over_uniform over_single_is over_logged_is over_uniform_is single_action actions rule_is_single ledger_entry "
        "seconds",
        J(out), J(f->plan.rows), J(f->plan.cells), J(f->plan.eps), J(0.0), J(f->is_private), J(protection_of(words, f)),
        J(f->top), J(estimate_json(&p->rule_value)), J(estimate_json(&p->single_value)),
        J(estimate_json(&p->logged_value)), J(estimate_json(&p->uniform_value)), J(estimate_json(&p->over_single)),
        J(estimate_json(&p->over_logged)), J(estimate_json(&p->over_uniform)),
        J(p->rule_is_single ? "no gain claimed" : told(&p->over_single)), J(told(&p->over_logged)),
        J(told(&p->over_uniform)), J(action_json(f, p->single)), J(each_json(f, p)), J(p->rule_is_single),
        J(f->receipts[f->receipt_count - 1].entry), J(seconds));
    if (f->person_rows > 0) {
        cli_add(object, "person", J(cli_object("rows eps delta", J(f->person_rows), J(f->person_eps), J(0.0))));
    }
    if (split->at != NULL) {
        cli_add(object, "split", J(split_json(model, split)));
    }
    cli_add(object, "_same _cut _split _few", J(p->rule_is_single), J(f->plan.money), JB(split->at != NULL),
            JB(p->actions <= FEW));
    (void)cli_tell(object, WORDS);
}

/* What would be released, by public facts: columns, range, eps and the number of rows. */
static int dry_run(const tacet_ab_log *log, const cli_command *self) {
    const tacet_ab_plan *p = tacet_ab_log_plan(log);
    json_t *bins = json_object();
    (void)self;
    for (size_t j = 0; j < p->action_columns + p->columns; j++) {
        if (p->number[j]) {
            (void)json_object_set_new(bins, tacet_ab_log_space(log)->columns[j].name,
                                      json_integer((json_int_t)p->levels[j]));
        }
    }
    return cli_tell(cli_object("dry_run rows actions contexts cells bins totals cut eps scale _bins", JB(true),
                               J(p->rows), J(p->actions), J(p->contexts), J(p->cells), J(bins), J(p->totals),
                               J(p->money), J(p->eps), J(p->sensitivity / p->eps), JB(json_object_size(bins) > 0)),
                    "{rows} rows; nothing was charged, drawn or written\n"
                    "{?cut|about 8 of 100 rows would tell where rewards are cut; the others make the table\n}"
                    "one table of {cells} cells, {actions} actions in {contexts} contexts{?totals|, and the totals of "
                    "the actions}: two numbers each, with Laplace noise of scale {scale:.4g} (eps = {eps:^6})\n"
                    "{?_bins|numbers are in even bins:{*bins| {@} {.}}\n}");
}

static tacet_status write_model(const tacet_ab_model *model, const char *path, tacet_error *err) {
    char *text = NULL;
    tacet_status status = tacet_ab_model_encode(model, &text, err);
    if (status == TACET_OK && tacet_file_write(path, text, false, NULL) != TACET_OK) {
        status = tacet_error_set(
            err, TACET_IO, "%.100s cannot be written; the release is in the ledger, and the same ticket repeats it",
            path);
    }
    free(text);
    return status;
}

/* Noise that is more than an action has rows hides which action is better. */
static bool sure(const cli_command *self, bool yes, const tacet_ab_plan *p) {
    const double noise = sqrt(2) * p->sensitivity / p->eps, rows = (double)p->rows / (double)p->actions;
    char why[200];
    (void)snprintf(why, sizeof why,
                   "the noise of each count is %.3g, and an action has %.3g rows: nothing will be told apart. Fewer "
                   "actions, more rows or a larger eps would",
                   noise, rows);
    return noise < rows || cli_sure(self, yes, why);
}

int learn_learn(int argc, char **argv, const cli_command *self) {
    learn_job job;
    const char *out = NULL;
    bool dry = false, yes = false, few = false;
    cli_reals split = {0};
    cli_option options[JOB_OPTIONS] = {0};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    tacet_ab_model *model = NULL;
    tacet_ab_log *log = NULL;
    learn_job_init(&job);
    const cli_option own[] = {
        CLI_OPT("out", &out, "FILE", "Receives the model."),
        CLI_OPT("dry-run", &dry, NULL, "Charge, draw and write nothing; say what would be released."),
        CLI_YES(&yes),
        CLI_OPT("split", &split, "W,W,…",
                "How actions were meant to be shown, 1,1 or 50,30,20: says whether the released counts agree."),
    };
    memcpy(options + learn_job_options(&job, options), own, sizeof own);
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) ||
        (code = learn_job_check(&job, self)) != CLI_EXIT_OK) {
        goto done;
    }
    if (!dry && out == NULL) {
        code = cli_usage(self, "--out FILE receives the model; without it only --dry-run");
        goto done;
    }
    if (!job.entry.seeded && !cli_sure_of_eps(self, yes || dry, job.question.eps)) {
        code = CLI_EXIT_USAGE;
        goto done;
    }
    const double begin = cli_seconds();
    if (job.entry.seeded && !dry) {
        cli_say(self, "NOT PRIVATE: the noise is seeded");
    }
    job.entry.few = &few;
    job.entry.ticket = job.entry.ticket != NULL ? job.entry.ticket : "model";
    tacet_status status = dry ? TACET_OK : try_path(out, &err);
    TACET_THEN(status, tacet_ab_log_open(&log, job.data, &job.question, &err));
    if (status == TACET_OK && dry) {
        code = dry_run(log, self);
        goto done;
    }
    if (status == TACET_OK && !job.entry.seeded && !sure(self, yes, tacet_ab_log_plan(log))) {
        code = CLI_EXIT_USAGE;
        goto done;
    }
    TACET_THEN(status, check_split(log, &split, &err));
    TACET_THEN(status, tacet_ab_log_release(log, &model, &job.entry, &err));
    TACET_THEN(status, write_model(model, out, &err));
    if (status == TACET_OK) {
        report(model, &split, out, cli_seconds() - begin);
        if (few) {
            cli_say(self, CLI_FEW_ROWS);
        }
    } else if (status == TACET_PARSE && strstr(job.data, "://") == NULL && strcmp(job.data, "/dev/stdin") != 0 &&
               cli_cells_told(job.data, &job.space, job.question.reward, self)) {
        code = CLI_EXIT_FAILED;
    } else {
        err.status = status;
        code = cli_fail(self, &err);
    }
done:
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
    tacet_space_clear(&job.space);
    return code;
}
