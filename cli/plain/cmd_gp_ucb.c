/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_gp_ucb.c - `tacet gp-ucb`: plain GP-UCB over a table, unprotected.
 * Ring: programs (trusted: raw records). The algorithm is src/gp/gp_ucb.c; here are options, checks and the output.
 * Under mpirun rank 0 does all of this, and the others serve its search (src/gp/ranks.md). */
#include "common/ranks.h"
#include "plain/commands.h"
#include "plain/journal.h"
#include "plain/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/gp/fit.h>
#include <tacet/gp/gp.h>
#include <tacet/gp/gp_ucb.h>

typedef struct options {
    const char *data;
    const char *inputs;
    const char *target;
    const char *kernel;
    const char *lengthscale; /* NULL: to be fitted */
    double signal_var;
    double noise_var;
    double mean;
    double delta_ucb;
    double beta_scale;
    size_t queries;
    const char *first; /* row numbers, comma-separated */
    bool minimize;
    bool repeats;
    bool allow_duplicates;
    bool fit;
    bool ard;
    size_t fit_rows;
    uint64_t seed;
    bool single;
    const char *journal; /* NULL: none is kept */
} options;

/* What the run is about, checked. */
typedef struct run {
    options o;
    char **inputs;
    size_t d;
    double *lengthscales; /* d places */
    size_t lengthscale_count;
    size_t *first;
    size_t first_count;
    tacet_kernel_spec spec;
    plain_table table;
    tacet_ranks ranks;
    journal journal;
    tacet_kernel *kernel;
    tacet_policy *policy;
    size_t *rows; /* queries */
    double *values;
    size_t asked;
    double seconds;
} run;

static bool parse(options *o, int argc, char **argv, const cli_command *self, int *code) {
    const cli_option table[] = {
        CLI_NEED_LIST("data", &o->data, "FILE",
                      "CSV with a header row; several, separated by commas, are one table; - reads standard input. Or "
                      "one .npy file of numbers, which is mapped and not copied"),
        CLI_NEED("inputs", &o->inputs, "A,B",
                 "columns the model looks at, separated by commas; of a .npy file their numbers, from 0"),
        CLI_NEED("target", &o->target, "Y", "column to find the largest value of"),
        CLI_NEED("queries", &o->queries, "T", "rows to ask; at most as many as there are, unless --repeats"),
        CLI_HEADING("Model:"),
        CLI_OPT("kernel", &o->kernel, "NAME", "se, matern12, matern32, matern52, … or linear; default se"),
        CLI_OPT("lengthscale", &o->lengthscale, "L",
                "one, or one per input separated by commas; required unless --fit"),
        CLI_OPT("signal-var", &o->signal_var, "V", "prior variance of the target; default 1"),
        CLI_OPT("noise-var", &o->noise_var, "V", "variance of the measurement noise; default 1e-6"),
        CLI_OPT("mean", &o->mean, "M", "prior mean of the target; default 0"),
        CLI_OPT("fit", &o->fit, NULL,
                "fit lengthscale, variances and mean by maximum likelihood on rows of the table, targets included; "
                "what is given is where the search starts"),
        CLI_OPT("ard", &o->ard, NULL, "with --fit: one lengthscale per input"),
        CLI_OPT("fit-rows", &o->fit_rows, "N", "rows to fit on, evenly spread over the table; default 400"),
        CLI_OPT("seed", &o->seed, "S", "of the starts of the fit; default 1"),
        CLI_HEADING("Search:"),
        CLI_OPT("delta-ucb", &o->delta_ucb, "D", "probability that the confidence bounds fail; default 0.05"),
        CLI_OPT("beta-scale", &o->beta_scale, "F", "factor on beta_t; default 1"),
        CLI_OPT("first", &o->first, "ROW", "row to ask first, or several separated by commas; rows count from 0"),
        CLI_OPT("minimize", &o->minimize, NULL, "find the smallest target instead"),
        CLI_OPT("repeats", &o->repeats, NULL, "a row may be asked again"),
        CLI_OPT("allow-duplicates", &o->allow_duplicates, NULL,
                "accept rows whose inputs and target are those of an earlier row"),
        CLI_HEADING("Large tables:"),
        CLI_OPT("single", &o->single, NULL,
                "keep the model in single precision: half the memory; see src/gp/README.md for what that does"),
        CLI_OPT("journal", &o->journal, "FILE",
                "write every round there, and go on from what is there already; with any number of ranks"),
        {0},
    };
    return cli_parse(self, table, argc, argv, NULL, NULL, code);
}

/* --- checks of the options: everything that needs no data ----------------------------------------------------------
 */

static bool read_lengthscales(run *r, const cli_command *self, int *code) {
    char **words = NULL;
    size_t count = 0;
    if (!cli_split(&words, &count, r->o.lengthscale) || (count != 1 && count != r->d)) {
        free(words);
        *code = cli_usage(self, "--lengthscale takes one number, or one for each of the %zu inputs", r->d);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!cli_number(&r->lengthscales[i], words[i]) || !(r->lengthscales[i] > 0)) {
            *code = cli_usage(self, "--lengthscale: '%s' is not a number greater than 0", words[i]);
            free(words);
            return false;
        }
    }
    free(words);
    r->lengthscale_count = count;
    return true;
}

static bool read_first(run *r, const cli_command *self, int *code) {
    char **words = NULL;
    size_t count = 0;
    if (!cli_split(&words, &count, r->o.first)) {
        *code = cli_usage(self, "--first takes row numbers separated by commas");
        return false;
    }
    r->first = calloc(count, sizeof *r->first);
    bool ok = r->first != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        double row = 0;
        ok = cli_number(&row, words[i]) && row >= 0 && row <= 0x1p53 && row == floor(row);
        r->first[i] = ok ? (size_t)row : 0;
    }
    free(words);
    if (!ok) {
        *code = cli_usage(self, "--first takes row numbers, whole and counted from 0");
        return false;
    }
    r->first_count = count;
    return true;
}

static bool check_options(run *r, const cli_command *self, int *code) {
    const options *o = &r->o;
    tacet_error err;
    tacet_error_clear(&err);
    if (!cli_split(&r->inputs, &r->d, o->inputs)) {
        *code = cli_usage(self, "--inputs takes column names separated by commas");
        return false;
    }
    tacet_kernel_spec_defaults(&r->spec);
    if (tacet_kernel_parse(&r->spec, o->kernel, &err) != TACET_OK) {
        *code = cli_usage(self, "--kernel: %s", err.message);
        return false;
    }
    const struct {
        bool ok;
        const char *rule;
    } rules[] = {
        {o->queries > 0, "--queries must be at least 1"},
        {o->signal_var > 0, "--signal-var must be greater than 0"},
        {o->noise_var >= 0, "--noise-var must not be negative"},
        {o->noise_var > 0 || !o->fit, "--noise-var must be greater than 0 to start a fit from"},
        {o->delta_ucb > 0 && o->delta_ucb < 1, "--delta-ucb must lie between 0 and 1"},
        {o->beta_scale > 0, "--beta-scale must be greater than 0"},
        {o->lengthscale != NULL || o->fit, "--lengthscale is needed, unless --fit finds it"},
        {o->fit_rows >= 2, "--fit-rows must be at least 2"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].ok) {
            *code = cli_usage(self, "%s", rules[i].rule);
            return false;
        }
    }
    r->lengthscales = calloc(r->d, sizeof *r->lengthscales);
    if (r->lengthscales == NULL) {
        cli_say(self, "out of memory");
        *code = CLI_EXIT_FAILED;
        return false;
    }
    return (o->lengthscale == NULL || read_lengthscales(r, self, code)) &&
           (o->first == NULL || read_first(r, self, code));
}

/* Rules that need the number of rows. */
static bool check_counts(const run *r, const cli_command *self, int *code) {
    const options *o = &r->o;
    if (o->queries > r->table.n && !o->repeats) {
        *code = cli_usage(self, "%s: --queries %zu, but the table has %zu rows and a row is asked once (see --repeats)",
                          o->data, o->queries, r->table.n);
        return false;
    }
    for (size_t i = 0; i < r->first_count; i++) {
        if (r->first[i] >= r->table.n) {
            *code = cli_usage(self, "%s: --first %zu, but the rows of the table are 0 to %zu", o->data, r->first[i],
                              r->table.n - 1);
            return false;
        }
    }
    return true;
}

/* --- the run -------------------------------------------------------------------------------------------------------
 */

/* A third of the span of each input: where a fit starts without --lengthscale. */
static void guess_lengthscales(run *r) {
    double widest = 0;
    for (size_t c = 0; c < r->d; c++) {
        double low = table_value(&r->table, 0, c);
        double high = low;
        for (size_t j = 1; j < r->table.n; j++) {
            low = fmin(low, table_value(&r->table, j, c));
            high = fmax(high, table_value(&r->table, j, c));
        }
        r->lengthscales[c] = (high - low) / 3;
        widest = fmax(widest, r->lengthscales[c]);
    }
    r->lengthscale_count = r->o.ard ? r->d : 1;
    r->lengthscales[0] = r->o.ard ? r->lengthscales[0] : widest;
}

static tacet_status fit(run *r, const cli_command *self, tacet_error *err) {
    const size_t m = r->o.fit_rows < r->table.n ? r->o.fit_rows : r->table.n;
    double *X = calloc(m, r->d * sizeof *X);
    double *y = calloc(m, sizeof *y);
    tacet_fit_result result = {0};
    tacet_status status = TACET_NO_MEMORY;
    if (X != NULL && y != NULL) {
        for (size_t k = 0; k < m; k++) {
            const size_t row = (size_t)((double)k * (double)r->table.n / (double)m);
            for (size_t c = 0; c < r->d; c++) {
                X[k * r->d + c] = table_value(&r->table, row, c);
            }
            y[k] = table_value(&r->table, row, r->d);
        }
        tacet_fit_settings settings;
        tacet_fit_settings_defaults(&settings);
        settings.kernel = r->spec;
        settings.noise_var = r->o.noise_var;
        settings.seed = r->o.seed;
        status = tacet_fit(&result, r->lengthscales, &settings, X, r->d, m, y, err);
    }
    free(X);
    free(y);
    if (status != TACET_OK) {
        return status;
    }
    r->o.signal_var = result.signal_var;
    r->o.noise_var = result.noise_var;
    r->o.mean = result.mean;
    cli_say(self, "fitted on %zu rows, targets included: signal variance %.6g, noise variance %.6g, mean %.6g%s", m,
            result.signal_var, result.noise_var, result.mean,
            result.at_bound > 0 ? "; some parameters lie on their bounds, the data do not determine them" : "");
    if (result.jitter > 0) {
        cli_say(self, "the covariance of the fit is nearly singular: %.3g was added to its diagonal", result.jitter);
    }
    return TACET_OK;
}

static tacet_status prepare(run *r, const cli_command *self, tacet_error *err) {
    tacet_status status = TACET_OK;
    if (r->o.lengthscale == NULL) {
        guess_lengthscales(r);
    } else if (r->o.ard && r->lengthscale_count == 1) {
        for (size_t c = 1; c < r->d; c++) {
            r->lengthscales[c] = r->lengthscales[0];
        }
        r->lengthscale_count = r->d;
    }
    r->spec.d = r->d;
    r->spec.lengthscales = r->lengthscales;
    r->spec.lengthscale_count = r->lengthscale_count;
    r->spec.signal_var = r->o.signal_var;
    if (r->o.fit) {
        status = fit(r, self, err);
        r->spec.signal_var = r->o.signal_var;
    }
    if (status == TACET_OK) {
        status = tacet_kernel_create(&r->kernel, &r->spec, err);
    }
    if (status != TACET_OK) {
        return status;
    }
    tacet_gp_ucb_settings settings;
    tacet_gp_ucb_settings_defaults(&settings);
    settings.mean = r->o.minimize ? -r->o.mean : r->o.mean;
    settings.noise_var = r->o.noise_var;
    settings.delta_ucb = r->o.delta_ucb;
    settings.beta_scale = r->o.beta_scale;
    settings.horizon = r->o.queries;
    settings.allow_repeats = r->o.repeats;
    settings.initial = r->first;
    settings.initial_count = r->first_count;
    settings.single = r->o.single;
    settings.ranks = r->ranks.count > 1 ? &r->ranks : NULL;
    settings.ranks_have_points = r->table.mapped;
    /* Rank 0 sends the rows of a CSV; everything else reads them where they lie. */
    const bool send = settings.ranks != NULL && !r->table.mapped;
    const tacet_cov_spec cov = {.kernel = r->kernel, .points = send ? NULL : &r->table.points};
    return tacet_gp_ucb_create(&r->policy, &settings, &cov, r->table.csv.values, r->d + 1, r->table.n, err);
}

/* One line that names the problem: what the rows asked depend on. */
static tacet_status open_journal(run *r, tacet_error *err) {
    if (r->o.journal == NULL) {
        return TACET_OK;
    }
    char head[1024];
    int length =
        snprintf(head, sizeof head,
                 "tacet-gp-ucb-journal 1 table %016llx kernel %s signal %.17g noise %.17g mean %.17g delta %.17g beta "
                 "%.17g%s%s%s first %s lengthscale",
                 (unsigned long long)table_digest(&r->table), r->o.kernel, r->o.signal_var, r->o.noise_var, r->o.mean,
                 r->o.delta_ucb, r->o.beta_scale, r->o.minimize ? " minimize" : "", r->o.repeats ? " repeats" : "",
                 r->o.single ? " single" : "", r->o.first != NULL ? r->o.first : "-");
    for (size_t c = 0; c < r->lengthscale_count && length > 0 && (size_t)length < sizeof head; c++) {
        length += snprintf(head + length, sizeof head - (size_t)length, " %.17g", r->lengthscales[c]);
    }
    if (length < 0 || (size_t)length >= sizeof head) {
        return tacet_error_set(err, TACET_INVALID, "--journal: too many settings to write in one line");
    }
    const tacet_status status = journal_open(&r->journal, r->o.journal, head, err);
    if (status == TACET_OK && r->journal.count > r->o.queries) {
        return tacet_error_set(err, TACET_CONFLICT, "%s: %zu rounds are in the journal, --queries %zu", r->o.journal,
                               r->journal.count, r->o.queries);
    }
    char words[512];
    (void)snprintf(words, sizeof words,
                   "tacet gp-ucb: the run was ended from outside, perhaps because a rank died; what was asked is in "
                   "%.200s: the same command goes on from there, with any number of ranks",
                   r->o.journal);
    cli_ranks_last_words(&r->ranks, words);
    return status;
}

/* One round: what the journal has of it was asked already. */
static tacet_status ask_one(run *r, size_t t, tacet_error *err) {
    const double sign = r->o.minimize ? -1 : 1;
    tacet_suggestion s;
    tacet_status status = tacet_policy_suggest(r->policy, &s, NULL, err);
    if (status != TACET_OK) {
        return status;
    }
    r->rows[t] = s.index;
    if (t < r->journal.count) {
        r->values[t] = r->journal.values[t];
        if (r->journal.rows[t] != s.index) {
            return tacet_error_set(err, TACET_CONFLICT, "%s: round %zu asked another row than this search does",
                                   r->o.journal, t + 1);
        }
    } else {
        r->values[t] = table_value(&r->table, s.index, r->d);
        status = journal_add(&r->journal, s.index, r->values[t], err);
    }
    return status != TACET_OK ? status : tacet_policy_observe(r->policy, s.ticket, sign * r->values[t], err);
}

static tacet_status optimise(run *r, tacet_error *err) {
    const double sign = r->o.minimize ? -1 : 1;
    r->rows = calloc(r->o.queries, sizeof *r->rows);
    r->values = calloc(r->o.queries, sizeof *r->values);
    tacet_status status = r->rows != NULL && r->values != NULL ? TACET_OK : TACET_NO_MEMORY;
    double best = -(double)INFINITY;
    for (size_t t = 0; t < r->o.queries && status == TACET_OK; t++) {
        status = ask_one(r, t, err);
        if (status == TACET_OK) {
            best = fmax(best, sign * r->values[t]);
            r->asked = t + 1;
            cli_progress((double)r->asked / (double)r->o.queries, "%zu of %zu rows asked, best %.6g", r->asked,
                         r->o.queries, sign * best);
        }
    }
    cli_progress_end();
    return status;
}

/* --- output --------------------------------------------------------------------------------------------------------
 */

static json_t *model_json(const run *r, const tacet_gp_report *report) {
    json_t *lengthscales = json_array();
    for (size_t c = 0; c < r->lengthscale_count; c++) {
        json_array_append_new(lengthscales, cli_real(r->lengthscales[c]));
    }
    json_t *model = json_object();
    json_object_set_new(model, "kernel", json_string(r->o.kernel));
    json_object_set_new(model, "lengthscales", lengthscales);
    json_object_set_new(model, "signal_var", cli_real(r->o.signal_var));
    json_object_set_new(model, "noise_var", cli_real(r->o.noise_var));
    json_object_set_new(model, "mean", cli_real(r->o.mean));
    json_object_set_new(model, "fitted", json_boolean(r->o.fit));
    json_object_set_new(model, "log_likelihood", cli_real(report->log_likelihood));
    json_object_set_new(model, "jittered", json_integer((json_int_t)report->jittered));
    json_object_set_new(model, "largest_jitter", cli_real(report->largest_jitter));
    return model;
}

static void print(const run *r, const cli_command *self) {
    const double sign = r->o.minimize ? -1 : 1;
    double optimum = -(double)INFINITY;
    for (size_t j = 0; j < r->table.n; j++) {
        optimum = fmax(optimum, sign * table_value(&r->table, j, r->d));
    }
    tacet_recommendation best;
    tacet_gp_report report;
    (void)tacet_policy_recommend(r->policy, &best, NULL);
    tacet_gp_report_get(tacet_gp_ucb_model(r->policy), &report);
    const double regret = optimum - best.measured_value;
    if (report.jittered > 0) {
        cli_say(self,
                "%zu of %zu measurements were nearly determined by earlier ones and got extra noise (at most %.3g)",
                report.jittered, report.count, report.largest_jitter);
    }
    if (!cli_json_wanted()) {
        printf("asked %zu of %zu rows in %.3f s\n", r->asked, r->table.n, r->seconds);
        printf("best measured row   %zu, value %.10g, simple regret %.6g\n", best.measured, sign * best.measured_value,
               regret);
        printf("best row by model   %zu, mean %.6g, sd %.3g\n", best.index, sign * best.mean, best.sd);
        printf("unprotected: every record was read as it is\n");
        return;
    }
    json_t *rows = json_array();
    json_t *values = json_array();
    for (size_t t = 0; t < r->asked; t++) {
        json_array_append_new(rows, json_integer((json_int_t)r->rows[t]));
        json_array_append_new(values, cli_real(r->values[t]));
    }
    json_t *object = json_object();
    json_object_set_new(object, "rows", rows);
    json_object_set_new(object, "values", values);
    json_object_set_new(object, "best_row", json_integer((json_int_t)best.measured));
    json_object_set_new(object, "best_value", cli_real(sign * best.measured_value));
    json_object_set_new(object, "simple_regret", cli_real(regret));
    json_object_set_new(object, "seconds", cli_real(r->seconds));
    json_object_set_new(object, "model_best_row", json_integer((json_int_t)best.index));
    json_object_set_new(object, "model_best_mean", cli_real(sign * best.mean));
    json_object_set_new(object, "n", json_integer((json_int_t)r->table.n));
    json_object_set_new(object, "ranks", json_integer((json_int_t)r->ranks.count));
    json_object_set_new(object, "model", model_json(r, &report));
    json_object_set_new(object, "protection", json_string("unprotected"));
    cli_json_print(object);
}

static void run_clear(run *r) {
    tacet_policy_free(r->policy);
    tacet_kernel_free(r->kernel);
    cli_ranks_close(&r->ranks); /* the other ranks' searches are freed by now */
    journal_close(&r->journal);
    table_clear(&r->table);
    free(r->inputs);
    free(r->lengthscales);
    free(r->first);
    free(r->rows);
    free(r->values);
}

/* Rank 0, or a process alone. */
static int search(run *r, const table_wanted *wanted, const cli_command *self) {
    int code = CLI_EXIT_OK;
    tacet_error err = {0};
    cli_say(self, "UNPROTECTED: every record is read as it is; nothing here is private");
    tacet_status status = table_load(&r->table, wanted, &err);
    if (status != TACET_OK) {
        return cli_fail(self, &err);
    }
    if (!check_counts(r, self, &code)) {
        return code;
    }
    const double start = cli_seconds();
    status = prepare(r, self, &err);
    status = status != TACET_OK ? status : open_journal(r, &err);
    if (status == TACET_OK) {
        status = optimise(r, &err);
    }
    if (status != TACET_OK) {
        err.status = status;
        return cli_fail(self, &err);
    }
    r->seconds = cli_seconds() - start;
    print(r, self);
    return CLI_EXIT_OK;
}

/* Another rank: it finds the rows of a .npy file itself, and gets those of a CSV from rank 0. */
static int serve(run *r, const table_wanted *wanted, bool understood, const cli_command *self) {
    bool mapped = false;
    tacet_error err = {0};
    tacet_status status = understood ? TACET_OK : tacet_error_set(&err, TACET_INVALID, "other options than rank 0");
    status = status != TACET_OK ? status : table_map(&r->table, &mapped, wanted, &err);
    if (understood && status != TACET_OK) {
        cli_say(self, "rank %zu: %s", r->ranks.rank, err.message);
    }
    /* Without its file it serves all the same, and rank 0 hears at the first search that it has no candidates. */
    const bool has = status == TACET_OK && mapped;
    return cli_ranks_follow(self, &r->ranks, has ? &r->table.points : NULL, has ? r->table.n : 0);
}

int cmd_gp_ucb(int argc, char **argv, const cli_command *self) {
    run r = {.o = {.kernel = "se",
                   .signal_var = 1,
                   .noise_var = 1e-6,
                   .delta_ucb = 0.05,
                   .beta_scale = 1,
                   .fit_rows = 400,
                   .seed = 1}};
    int code = CLI_EXIT_OK;
    if (!cli_ranks_open(self, &r.ranks, &code)) {
        return code;
    }
    const bool leads = r.ranks.rank == 0;
    cli_ranks_hush(!leads); /* what is wrong with the options is said once */
    const bool understood = parse(&r.o, argc, argv, self, &code) && check_options(&r, self, &code);
    cli_ranks_hush(false);
    const table_wanted wanted = {
        .data = r.o.data, .inputs = r.inputs, .d = r.d, .target = r.o.target, .allow_duplicates = r.o.allow_duplicates};
    if (!leads) {
        code = serve(&r, &wanted, understood, self);
    } else if (understood) {
        code = search(&r, &wanted, self);
    }
    run_clear(&r);
    return code;
}
