/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - options that say what is asked of a log, for tacet-learn. Ring: programs (trusted). */
#include "learn/commands.h"

#include <stdio.h>
#include <string.h>

void learn_job_init(learn_job *job) {
    memset(job, 0, sizeof *job);
    job->question.eps = 1;
    tacet_space_init(&job->space);
    job->entry.to_whom = "anyone";
    job->seed = UINT64_MAX;
}

size_t learn_job_options(learn_job *job, cli_option *options) {
    const cli_option shared[] = {
        CLI_NEED("data", &job->data, "FILE", "CSV of logged rounds, with a header; with --table, postgresql://…"),
        CLI_NEED("actions", &job->actions, "A,B,…", "Action columns."),
        CLI_OPT("contexts", &job->contexts, "A,B,…", "Context columns. Default: none, or the space's others."),
        CLI_NEED("reward", &job->question.reward, "COLUMN", "Reward column."),
        CLI_NEED("range", &job->range, "LO:HI", "Range of rewards; rewards outside count as the nearest end."),
        CLI_SPACE_FILE(job->columns),
        CLI_SPACE_SHORT(job->columns),
        CLI_OPT("eps", &job->question.eps, "E", "Privacy budget of this release. Default 1."),
        CLI_MORE,
        CLI_OPT("table", &job->question.table, "NAME",
                "Table or view of that database: the server counts, rows stay there. Needs --ledger."),
        CLI_OPT("person", &job->question.person, "COLUMN",
                "Whose row it is: the claim is then about persons, and this column never leaves; with "
                "--rows-per-person."),
        CLI_OPT("rows-per-person", &job->question.rows_per_person, "K",
                "Learns from the first K rows of each person and charges K times; the others are not used."),
        CLI_OPT("ledger", &job->entry.ledger, "FILE",
                "The ledger; made when missing. Default: DATA.ledger.db, as for tacet curate."),
        CLI_OPT("budget-eps", &job->entry.budget, "E", "Total eps of a ledger that is made. Default: this release's."),
        CLI_OPT("new-budget", &job->entry.new_budget, "REASON",
                "Begin a new budget although these rows were released before; the reason stands in the ledger."),
        CLI_OPT("ticket", &job->entry.ticket, "NAME",
                "Names the question: asking again under the same ticket repeats the stored answer."),
        CLI_OPT("noise-seed", &job->seed, "S", "Seeded noise and no ledger: NOT PRIVATE, for tests."),
    };
    memcpy(options, shared, sizeof shared);
    return sizeof shared / sizeof *shared;
}

static int make_space(learn_job *job, const cli_command *self) {
    tacet_space all;
    tacet_error err = {0};
    cli_names actions, contexts = {0};
    char inputs[4096];
    if (!CLI_READ(&actions, job->actions) || (job->contexts != NULL && !CLI_READ(&contexts, job->contexts))) {
        return cli_usage(self, "--actions and --contexts are column names with commas between");
    }
    job->question.action_columns = actions.count;
    if (job->columns.file == NULL) {
        const int length = snprintf(inputs, sizeof inputs, "%s%s%s", job->actions, job->contexts != NULL ? "," : "",
                                    job->contexts != NULL ? job->contexts : "");
        job->columns.options.inputs = inputs;
        const int code = length < 0 || (size_t)length >= sizeof inputs
                             ? cli_usage(self, "the names of the columns are too long")
                             : cli_space_read(&job->space, &job->columns, self);
        job->columns.options.inputs = NULL;
        return code;
    }
    const int code = cli_space_read(&all, &job->columns, self);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    tacet_status status = tacet_space_pick(&job->space, &all, actions.at, actions.count, &err);
    TACET_THEN(status, tacet_space_pick(&job->space, &all, contexts.at, contexts.count, &err));
    tacet_space_clear(&all);
    return status == TACET_OK ? CLI_EXIT_OK : cli_usage(self, "%s", err.message);
}

int learn_job_check(learn_job *job, const cli_command *self) {
    tacet_ab_question *q = &job->question;
    job->entry.seeded = job->seed != UINT64_MAX;
    job->entry.seed = job->seed;
    q->lo = job->range.lo;
    q->hi = job->range.hi;
    q->space = &job->space;
    if (!(q->eps > 0) || !(job->entry.budget >= 0)) {
        return cli_usage(self, "--%s must be above 0", q->eps > 0 ? "budget-eps" : "eps");
    }
    if ((q->person != NULL) != (q->rows_per_person > 0)) {
        return cli_usage(self, "--person COLUMN and --rows-per-person K go together");
    }
    return make_space(job, self);
}
