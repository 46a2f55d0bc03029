/* SPDX-License-Identifier: Apache-2.0 */
/* gp_ucb.c - `tacet-lab gp-ucb`: plain GP-UCB (src/gp/gp_ucb.c) over a table, without any protection: the reference for
 * the private methods. Ring: none; whatever table it is given, it reads as it is. The target of a row that was not
 * asked is used for the regret at the end alone. */
#include "commands.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/gp_ucb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>

typedef struct run {
    const cli_command *self;
    const char *data, *target, *kernel_name;
    cli_names inputs;
    cli_reals lengthscales;
    double signal_var, noise_var, mean, delta_ucb, beta_scale;
    size_t queries;
    bool minimize, repeats;
    tacet_csv_table table; /* inputs, then the target */
    tacet_kernel *kernel;
    tacet_policy *policy;
    size_t *rows; /* in the order asked */
    double *values;
} run;

/* The sign by which values are maximized. */
static double sign_of(const run *r) {
    return r->minimize ? -1 : 1;
}

static double target_of(const run *r, size_t row) {
    return r->table.values[row * r->table.d + r->inputs.count];
}

/* What can be said before the table is read. */
static tacet_status check_options(const run *r, tacet_kernel_spec *spec, tacet_error *err) {
    tacet_error detail = {0};
    tacet_kernel_spec_defaults(spec);
    if (tacet_kernel_parse(spec, r->kernel_name, &detail) != TACET_OK) {
        return tacet__fail(err, TACET_INVALID, "--kernel: %s", detail.message);
    }
    if (r->lengthscales.count > 1 && r->lengthscales.count != r->inputs.count) {
        return tacet__fail(err, TACET_INVALID, "--lengthscale takes one number, or one for each of the %zu inputs",
                           r->inputs.count);
    }
    for (size_t i = 0; i < r->lengthscales.count; i++) {
        if (!(r->lengthscales.at[i] > 0)) {
            return tacet__fail(err, TACET_INVALID, "--lengthscale: '%g' is not a number greater than 0",
                               r->lengthscales.at[i]);
        }
    }
    const struct {
        bool ok;
        const char *rule;
    } rules[] = {
        {r->queries > 0, "--queries must be at least 1"},
        {r->signal_var > 0, "--signal-var must be greater than 0"},
        {r->noise_var >= 0, "--noise-var must not be negative"},
        {r->delta_ucb > 0 && r->delta_ucb < 1, "--delta-ucb must lie between 0 and 1"},
        {r->beta_scale > 0, "--beta-scale must be greater than 0"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].ok) {
            return tacet__fail(err, TACET_INVALID, "%s", rules[i].rule);
        }
    }
    return TACET_OK;
}

/* Reads the table, and checks what needs the number of its rows. */
static tacet_status load(run *r, tacet_error *err) {
    const size_t d = r->inputs.count;
    const char **columns = TACET__ZALLOC(const char *, d + 1);
    if (columns == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory reading %s", r->data);
    }
    memcpy(columns, r->inputs.at, d * sizeof *columns);
    columns[d] = r->target;
    const tacet_csv_wanted wanted = {.columns = columns, .d = d + 1, .least_records = 2, .no_constants = true};
    const tacet_status status = tacet_csv_load_file(&r->table, r->data, &wanted, err);
    free(columns);
    const size_t n = r->table.n;
    if (status != TACET_OK) {
        return status;
    }
    if (r->queries > n && !r->repeats) {
        return tacet__fail(err, TACET_INVALID,
                           "%s: --queries %zu, but the table has %zu rows and a row is asked once (see --repeats)",
                           r->data, r->queries, n);
    }
    r->rows = TACET__ZALLOC(size_t, r->queries);
    r->values = TACET__ZALLOC(double, r->queries);
    return r->rows != NULL && r->values != NULL
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rounds", r->queries);
}

static tacet_status make_policy(run *r, tacet_kernel_spec *spec, tacet_error *err) {
    tacet_gp_ucb_settings settings;
    tacet_gp_ucb_settings_defaults(&settings);
    settings.mean = r->minimize ? -r->mean : r->mean;
    settings.noise_var = r->noise_var;
    settings.delta_ucb = r->delta_ucb;
    settings.beta_scale = r->beta_scale;
    settings.horizon = r->queries;
    settings.allow_repeats = r->repeats;
    spec->d = r->inputs.count;
    spec->lengthscales = r->lengthscales.at;
    spec->lengthscale_count = r->lengthscales.count;
    spec->signal_var = r->signal_var;
    const tacet_status status = tacet_kernel_create(&r->kernel, spec, err);
    const tacet_cov_spec cov = {.kernel = r->kernel};
    return status != TACET_OK
               ? status
               : tacet_gp_ucb_create(&r->policy, &settings, &cov, r->table.values, r->table.d, r->table.n, err);
}

static tacet_status play(run *r, tacet_error *err) {
    double best = -INFINITY;
    tacet_status status = TACET_OK;
    for (size_t t = 0; t < r->queries && status == TACET_OK; t++) {
        tacet_suggestion s;
        status = tacet_policy_suggest(r->policy, &s, NULL, err);
        if (status == TACET_OK) {
            r->rows[t] = s.index;
            r->values[t] = target_of(r, s.index);
            best = fmax(best, sign_of(r) * r->values[t]);
            status = tacet_policy_observe(r->policy, s.ticket, sign_of(r) * r->values[t], err);
            cli_progress((double)(t + 1) / (double)r->queries, "%zu of %zu rows asked, best %.6g", t + 1, r->queries,
                         sign_of(r) * best);
        }
    }
    cli_progress_end();
    return status;
}

static void print(const run *r, double seconds) {
    const double sign = sign_of(r);
    double optimum = -INFINITY;
    tacet_recommendation best;
    tacet_gp_report report;
    (void)tacet_policy_recommend(r->policy, &best, NULL);
    tacet_gp_report_get(tacet_gp_ucb_model(r->policy), &report);
    for (size_t j = 0; j < r->table.n; j++) {
        optimum = fmax(optimum, sign * target_of(r, j));
    }
    if (report.jittered > 0) {
        cli_say(r->self,
                "%zu of %zu measurements were nearly determined by earlier ones and got extra noise (at most %.3g)",
                report.jittered, report.count, report.largest_jitter);
    }
    json_t *model =
        cli_object("kernel lengthscales signal_var noise_var mean log_likelihood jittered largest_jitter",
                   J(r->kernel_name), JL(r->lengthscales.at, r->lengthscales.count), J(r->signal_var), J(r->noise_var),
                   J(r->mean), J(report.log_likelihood), J(report.jittered), J(report.largest_jitter));
    (void)cli_tell(cli_object("rows values best_row best_value simple_regret seconds model_best_row model_best_mean n "
                              "model protection _asked _sd",
                              JL(r->rows, r->queries), JL(r->values, r->queries), J(best.measured),
                              J(sign * best.measured_value), J(optimum - best.measured_value), J(seconds),
                              J(best.index), J(sign * best.mean), J(r->table.n), J(model), J("unprotected"),
                              J(r->queries), J(best.sd)),
                   "asked {_asked} of {n} rows in {seconds:.3f} s\n"
                   "best measured row   {best_row}, value {best_value:.10g}, simple regret {simple_regret:.6g}\n"
                   "best row by model   {model_best_row}, mean {model_best_mean:.6g}, sd {_sd:.3g}\n"
                   "unprotected: every record was read as it is\n");
}

static bool parse(run *r, int argc, char **argv, int *code) {
    const cli_option table[] = {
        CLI_NEED("data", &r->data, "FILE", "CSV with a header row; - reads standard input"),
        CLI_NEED("inputs", &r->inputs, "A,B,…", "columns the model looks at, separated by commas"),
        CLI_NEED("target", &r->target, "COLUMN", "column to find the largest value of"),
        CLI_NEED("queries", &r->queries, "N", "rows to ask; at most as many as there are, unless --repeats"),
        CLI_HEADING("Model:"),
        CLI_NEED("lengthscale", &r->lengthscales, "L,…", "one, or one per input separated by commas"),
        CLI_OPT("noise-var", &r->noise_var, "V", "variance of the measurement noise; default 1e-6"),
        CLI_MORE,
        CLI_OPT("kernel", &r->kernel_name, "NAME", "se, matern12, matern32, matern52, … or linear; default se"),
        CLI_OPT("signal-var", &r->signal_var, "V", "prior variance of the target; default 1"),
        CLI_OPT("mean", &r->mean, "M", "prior mean of the target; default 0"),
        CLI_HEADING("Search:"),
        CLI_MORE,
        CLI_OPT("delta-ucb", &r->delta_ucb, "D", "probability that the confidence bounds fail; default 0.05"),
        CLI_OPT("beta-scale", &r->beta_scale, "F", "factor on beta_t; default 1"),
        CLI_OPT("minimize", &r->minimize, NULL, "find the smallest target instead"),
        CLI_OPT("repeats", &r->repeats, NULL, "a row may be asked again"),
        {0},
    };
    return cli_parse(r->self, table, argc, argv, NULL, NULL, code);
}

int lab_gp_ucb(int argc, char **argv, const cli_command *self) {
    run r = {.self = self, .kernel_name = "se", .signal_var = 1, .noise_var = 1e-6, .delta_ucb = 0.05, .beta_scale = 1};
    tacet_kernel_spec spec;
    tacet_error err = {0};
    int code = CLI_EXIT_OK;
    if (!parse(&r, argc, argv, &code) || (code = cli_end(self, check_options(&r, &spec, &err), &err)) != CLI_EXIT_OK) {
        return code;
    }
    cli_say(self, "UNPROTECTED: every record is read as it is; nothing here is private");
    tacet_status status = load(&r, &err);
    const double start = cli_seconds();
    TACET_THEN(status, make_policy(&r, &spec, &err));
    TACET_THEN(status, play(&r, &err));
    if (status == TACET_OK) {
        print(&r, cli_seconds() - start);
    } else {
        code = cli_refuse(self, &err);
    }
    tacet_policy_free(r.policy);
    tacet_kernel_free(r.kernel);
    tacet_csv_table_clear(&r.table);
    free(r.rows);
    free(r.values);
    return code;
}
