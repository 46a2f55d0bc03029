/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - `tacet-lab choose`: one private action for one context, charged each time.
 * Ring: trusted, unlike most of the lab: the log it is given is real. The published algorithm; for more
 * than one prediction learn a model. */
#include "commands.h"
#include "learn/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/trusted/log.h>

/* Definition 3.2 is on a continuum of actions; here the mechanism chooses among the points of a grid, which is eps-DP
 * by the same proof (src/contextual/README.md). What that can cost: |f(x) - f(x')| <= |f| sqrt(2 - 2 k(x, x')) and
 * 1 - k(r) <= slope^2 r^2/2, so that the best point of the grid is at most so much below the best of the box, as a
 * share of |f|. NaN: a kernel without a slope, or a column whose scale is not linear. */
static double cover_price(const learn_job *job, const tacet_contextual_question *q, size_t grid) {
    const double p = (double)q->matern_p;
    const bool matern = q->kind == TACET_KERNEL_MATERN;
    double far = 0; /* squared distance from the middle of a cell to its corner, in lengthscales */
    for (size_t c = 0; c < q->action_columns; c++) {
        const tacet_space_column *column = &job->space.columns[c];
        const double width = column->hi - column->lo;
        const double l = q->lengthscale_count == 0 ? 0.3 * width : q->lengthscales[q->lengthscale_count == 1 ? 0 : c];
        const tacet_space_traits *kind = tacet_space_traits_of(column);
        far += kind->levels || kind->whole || kind->factor ? NAN : pow(width / (double)(grid - 1) / (2 * l), 2);
    }
    return matern && p < 1 ? NAN : (matern ? sqrt((2 * p + 1) / (2 * p - 1)) : 1) * sqrt(far);
}

static void report(const learn_job *job, const tacet_contextual_question *q, double tau, size_t grid,
                   const tacet_release *chosen, const double *actions, double seconds) {
    const size_t n = job->question.action_columns;
    const double *x = &actions[(size_t)tacet_release_values(chosen)[0] * n];
    const tacet_receipt *r = tacet_release_receipt(chosen);
    json_t *named = json_object();
    for (size_t c = 0; c < n; c++) {
        (void)json_object_set_new(named, job->space.columns[c].name, J(x[c]));
    }
    (void)cli_tell(cli_object("action mechanism eps tau cover_price private ledger_entry seconds _named", JL(x, n),
                              J(r->mechanism), J(r->eps), J(tau), J(cover_price(job, q, grid)), J(r->is_private),
                              J(r->entry), J(seconds), J(named)),
                   "{*_named|{@} = {.:.10g}\n}{?cover_price|the best of the grid is at most {cover_price:.3g} |f| "
                   "below the best of "
                   "the box\n}protection: {?private|eps-DP for one row's context and reward; this "
                   "choice alone}{!private|none: seeded noise}\n");
}

/* The question of the published algorithm, from what learn and this command share. */
static int set_question(tacet_contextual_question *out, const learn_job *job, const char *kernel,
                        const cli_reals *lengthscales, const cli_command *self) {
    tacet_kernel_spec spec;
    tacet_error err = {0};
    tacet_kernel_spec_defaults(&spec);
    *out = (tacet_contextual_question){.space = &job->space,
                                       .action_columns = job->question.action_columns,
                                       .reward = job->question.reward,
                                       .person = job->question.person,
                                       .rows_per_person = job->question.rows_per_person,
                                       .lengthscales = lengthscales->at,
                                       .lengthscale_count = lengthscales->count};
    tacet_contextual_settings_defaults(&out->settings);
    out->settings.eps = job->question.eps;
    out->settings.reward_lower = job->question.lo;
    out->settings.reward_upper = job->question.hi;
    if (tacet_kernel_parse(&spec, kernel, &err) != TACET_OK) {
        return cli_usage(self, "%s", err.message);
    }
    out->kind = spec.kind;
    out->matern_p = spec.kind == TACET_KERNEL_MATERN ? spec.matern_p : 0;
    return CLI_EXIT_OK;
}

int lab_choose(int argc, char **argv, const cli_command *self) {
    learn_job job;
    tacet_contextual_question question;
    cli_reals lengthscales = {0};
    const char *kernel = "se";
    const char *context_text = NULL;
    char ticket[TACET_TICKET_MOST + 1];
    size_t grid = 33;
    double tau = 0;
    double context[TACET_CONTEXTUAL_COORDINATES_MOST] = {0};
    double *actions = NULL;
    cli_option options[JOB_OPTIONS] = {0};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    tacet_release *chosen = NULL;
    tacet_contextual_log *log = NULL;
    learn_job_init(&job);
    size_t n = learn_job_options(&job, options);
    options[n++] = (cli_option)CLI_OPT("context", &context_text, "V[,V…]", "The context asked for.");
    options[n++] = (cli_option)CLI_OPT("grid", &grid, "N", "Candidate actions: N equispaced a coordinate. Default 33.");
    options[n++] = (cli_option)CLI_OPT("tau", &tau, "T", "Regulariser. Not from these records. Default 1.");
    options[n++] = (cli_option)CLI_OPT("kernel", &kernel, "NAME", "se, matern32 or matern52. Default se.");
    options[n++] = (cli_option)CLI_OPT("lengthscale", &lengthscales, "L[,L…]",
                                       "Of all columns, in their units; or one a column. From you or from public data: "
                                       "never fitted on these records. Default: 0.3 of the width.");
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code) ||
        (code = learn_job_check(&job, self)) != CLI_EXIT_OK ||
        (code = set_question(&question, &job, kernel, &lengthscales, self)) != CLI_EXIT_OK) {
        goto done;
    }
    if (!(tau >= 0)) {
        code = cli_usage(self, "--tau is above 0");
        goto done;
    }
    if (job.space.count > TACET_CONTEXTUAL_COORDINATES_MOST ||
        !cli_space_values(context, job.space.columns + job.question.action_columns,
                          job.space.count - job.question.action_columns, context_text, &err)) {
        code = cli_usage(self, "--context is one value for each context column%s%s", err.message[0] != '\0' ? ": " : "",
                         err.message);
        goto done;
    }
    const double begin = cli_seconds();
    (void)snprintf(ticket, sizeof ticket, "choice for %.150s", context_text != NULL ? context_text : "no context");
    job.entry.ticket = job.entry.ticket != NULL ? job.entry.ticket : ticket;
    tacet_status status = tacet_contextual_log_open(&log, job.data, &question, &err);
    if (status == TACET_OK) {
        status = tacet_contextual_log_choose(log, &chosen, &actions, &tau, tau, grid, context, &job.entry, &err);
    }
    if (status == TACET_OK) {
        report(&job, &question, tau, grid, chosen, actions, cli_seconds() - begin);
    } else {
        err.status = status;
        code = cli_fail(self, &err);
    }
done:
    tacet_release_free(chosen);
    tacet_contextual_log_free(log);
    free(actions);
    tacet_space_clear(&job.space);
    return code;
}
