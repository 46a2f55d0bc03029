/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - tacet learn where all columns are categories: one table of all rows, and what its posterior claims.
 * Ring: programs (trusted). */
#include "learn/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>

static json_t *estimate_json(const tacet_ab_estimate *e) {
    return cli_object("estimate lower upper", J(e->mean), J(e->lower), J(e->upper));
}

/* The levels of an action, as people read them. */
static json_t *action_json(const tacet_ab_facts *f, size_t action) {
    json_t *list = json_array();
    for (size_t j = 0; j < f->plan.action_columns; j++) {
        char text[TACET_SPACE_NAME];
        tacet_space_text(&f->space->columns[j], text, (double)tacet_ab_plan_level(&f->plan, action, j));
        (void)json_array_append_new(list, J(text));
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
    "{?_same|the rule shows{*single_action| {.}} to all: no gain over that is claimed\n}"
    "{!_same|the rule earns {over_single.lower:_4} to {over_single.upper:^4} more than showing{*single_action| {.}} to "
    "all: {over_single_is}\n}"
    "it earns {over_logged.lower:_4} to {over_logged.upper:^4} more than the log did: {over_logged_is}\n"
    "(95 % intervals; a gain is called better when its interval is above 0)\n"
    "{?_propensity|propensities were not needed: within a context actions are compared as they "
    "are\n}"
    "protection: {protection}\nnot protected: that a row is in the log, the number of rows\n";

static const char *told(const tacet_ab_estimate *e) {
    return e->lower > 0 ? "better" : e->upper < 0 ? "worse" : "not told apart";
}

enum { WORDS_MOST = 256 };

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

static void report(const tacet_ab_model *model, const char *out, bool propensity, double seconds) {
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
    char words[WORDS_MOST];
    json_t *object = cli_object(
        "model rows cells eps delta private protection counted_to rule single logged uniform over_single over_logged "
        "over_uniform over_single_is over_logged_is over_uniform_is single_action rule_is_single ledger_entry seconds",
        J(out), J(f->plan.rows), J(f->plan.cells), J(f->plan.eps), J(0.0), J(f->is_private), J(protection_of(words, f)),
        J(f->top), J(estimate_json(&p->rule_value)), J(estimate_json(&p->single_value)),
        J(estimate_json(&p->logged_value)), J(estimate_json(&p->uniform_value)), J(estimate_json(&p->over_single)),
        J(estimate_json(&p->over_logged)), J(estimate_json(&p->over_uniform)),
        J(p->rule_is_single ? "no gain claimed" : told(&p->over_single)), J(told(&p->over_logged)),
        J(told(&p->over_uniform)), J(action_json(f, p->single)), J(p->rule_is_single),
        J(f->receipts[f->receipt_count - 1].entry), J(seconds));
    if (f->person_rows > 0) {
        cli_add(object, "person", J(cli_object("rows eps delta", J(f->person_rows), J(f->person_eps), J(0.0))));
    }
    cli_add(object, "_same _cut _propensity", J(p->rule_is_single), J(f->plan.money), J(propensity));
    (void)cli_tell(object, WORDS);
}

int learn_table(const learn_job *job, const tacet_ab_question *question, const char *out, const cli_command *self) {
    const double begin = cli_seconds();
    tacet_contextual_entry entry = job->entry;
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    char *text = NULL;
    tacet_error err = {0};
    int code = CLI_EXIT_OK;
    bool few = false;
    entry.few = &few;
    entry.ticket = entry.ticket != NULL ? entry.ticket : "model";
    tacet_status status = tacet_ab_log_open(&log, job->data, question, &err);
    if (status == TACET_OK) {
        status = tacet_ab_log_release(log, &model, &entry, &err);
    }
    if (status == TACET_OK) {
        status = tacet_ab_model_encode(model, &text, &err);
    }
    if (status == TACET_OK && tacet_file_write(out, text, false, NULL) != TACET_OK) {
        status = tacet_error_set(
            &err, TACET_IO, "%.100s cannot be written; the release is in the ledger, and the same ticket repeats it",
            out);
    }
    if (status == TACET_OK) {
        report(model, out, job->question.propensity != NULL, cli_seconds() - begin);
        if (few) {
            cli_say(self, CLI_FEW_ROWS);
        }
    } else {
        err.status = status;
        code = cli_fail(self, &err);
    }
    free(text);
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
    return code;
}
