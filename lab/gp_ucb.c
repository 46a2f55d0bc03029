/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb.c - `tacet-lab gp-ucb`: optimisation without any protection, the reference for the private methods.
 * Ring: none; whatever table it is given, it reads as it is. The search is table_search.c. */
#include "commands.h"
#include "table_search.h"

#include <stdio.h>

/* What the run is about, checked. */
typedef struct run {
    lab_search_settings s;
    cli_names inputs;
    cli_reals lengthscales;
    cli_wholes first;
    const cli_command *self;
} run;

static bool parse(run *r, int argc, char **argv, int *code) {
    lab_search_settings *o = &r->s;
    const cli_option table[] = {
        CLI_NEED_LIST("data", &o->data, "FILE",
                      "CSV with a header row; several, separated by commas, are one table; - reads standard input"),
        CLI_NEED("inputs", &r->inputs, "A,B", "columns the model looks at, separated by commas"),
        CLI_NEED("target", &o->target, "Y", "column to find the largest value of"),
        CLI_NEED("queries", &o->queries, "T", "rows to ask; at most as many as there are, unless --repeats"),
        CLI_HEADING("Model:"),
        CLI_NEED("lengthscale", &r->lengthscales, "L", "one, or one per input separated by commas"),
        CLI_OPT("noise-var", &o->noise_var, "V", "variance of the measurement noise; default 1e-6"),
        CLI_MORE,
        CLI_OPT("kernel", &o->kernel, "NAME", "se, matern12, matern32, matern52, … or linear; default se"),
        CLI_OPT("signal-var", &o->signal_var, "V", "prior variance of the target; default 1"),
        CLI_OPT("mean", &o->mean, "M", "prior mean of the target; default 0"),
        CLI_HEADING("Search:"),
        CLI_MORE,
        CLI_OPT("delta-ucb", &o->delta_ucb, "D", "probability that the confidence bounds fail; default 0.05"),
        CLI_OPT("beta-scale", &o->beta_scale, "F", "factor on beta_t; default 1"),
        CLI_OPT("first", &r->first, "ROW", "row to ask first, or several separated by commas; rows count from 0"),
        CLI_OPT("minimize", &o->minimize, NULL, "find the smallest target instead"),
        CLI_OPT("repeats", &o->repeats, NULL, "a row may be asked again"),
        CLI_OPT("allow-duplicates", &o->allow_duplicates, NULL,
                "accept rows whose inputs and target are those of an earlier row"),
        {0},
    };
    return cli_parse(r->self, table, argc, argv, NULL, NULL, code);
}

static tacet_status check_options(run *r, tacet_error *err) {
    lab_search_settings *o = &r->s;
    o->inputs = r->inputs.at;
    o->d = r->inputs.count;
    o->lengthscales = r->lengthscales.at;
    o->lengthscale_count = r->lengthscales.count;
    o->first = r->first.at;
    o->first_count = r->first.count;
    return lab_search_check(o, err);
}

static void progress(size_t asked, size_t queries, double best, void *user) {
    (void)user;
    cli_progress((double)asked / (double)queries, "%zu of %zu rows asked, best %.6g", asked, queries, best);
}

static void print(const run *job, const lab_search_result *r, double seconds) {
    const lab_search_settings *s = &job->s;
    if (r->model.jittered > 0) {
        cli_say(job->self,
                "%zu of %zu measurements were nearly determined by earlier ones and got extra noise (at most %.3g)",
                r->model.jittered, r->model.count, r->model.largest_jitter);
    }
    json_t *model =
        cli_object("kernel lengthscales signal_var noise_var mean log_likelihood jittered largest_jitter", J(s->kernel),
                   JL(s->lengthscales, s->lengthscale_count), J(s->signal_var), J(s->noise_var), J(s->mean),
                   J(r->model.log_likelihood), J(r->model.jittered), J(r->model.largest_jitter));
    (void)cli_tell(cli_object("rows values best_row best_value simple_regret seconds model_best_row model_best_mean n "
                              "model protection _asked _sd",
                              JL(r->rows, r->asked), JL(r->values, r->asked), J(r->best.measured),
                              J(r->best.measured_value), J(r->regret), J(seconds), J(r->best.index), J(r->best.mean),
                              J(r->n), J(model), J("unprotected"), J(r->asked), J(r->best.sd)),
                   "asked {_asked} of {n} rows in {seconds:.3f} s\n"
                   "best measured row   {best_row}, value {best_value:.10g}, simple regret {simple_regret:.6g}\n"
                   "best row by model   {model_best_row}, mean {model_best_mean:.6g}, sd {_sd:.3g}\n"
                   "unprotected: every record was read as it is\n");
}

static int search(run *r) {
    int code = CLI_EXIT_OK;
    lab_search *plain = NULL;
    lab_search_result result;
    tacet_error err = {0};
    cli_say(r->self, "UNPROTECTED: every record is read as it is; nothing here is private");
    tacet_status status = lab_search_open(&plain, &r->s, &err);
    const double start = cli_seconds();
    TACET_THEN(status, lab_search_run(plain, &result, &err));
    cli_progress_end();
    if (status == TACET_OK) {
        print(r, &result, cli_seconds() - start);
    } else {
        err.status = status;
        code = cli_refuse(r->self, &err);
    }
    lab_search_close(plain);
    return code;
}

int lab_gp_ucb(int argc, char **argv, const cli_command *self) {
    run r = {.self = self};
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    lab_search_defaults(&r.s);
    r.s.progress = progress;
    r.s.user = (void *)(uintptr_t)self;
    if (parse(&r, argc, argv, &code) && (code = cli_end(self, check_options(&r, &err), &err)) == CLI_EXIT_OK) {
        code = search(&r);
    }
    return code;
}
