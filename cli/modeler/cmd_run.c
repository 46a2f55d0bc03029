/* cmd_run.c - tacet modeler run.
 * Ring: open. */
#include "commands.h"
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csvfile.h>

static void progress(size_t done, size_t total, size_t best_row, double best_value, void *user) {
    (void)user;
    cli_progress((double)done / (double)total, "query %zu of %zu, best %.5g (row %zu)", done, total, best_value,
                 best_row);
}

static void waiting(const char *why, void *user) {
    (void)user;
    cli_progress(-1, "%s", why);
}

/* "3,17,5" into row numbers; from malloc. */
static int row_list(size_t **out, size_t *count, const char *text, const cli_command *self) {
    char **items = NULL;
    if (!cli_split(&items, count, text)) {
        return cli_usage(self, "--first: an empty item");
    }
    *out = calloc(*count, sizeof **out);
    for (size_t i = 0; *out != NULL && i < *count; i++) {
        double row = 0;
        if (!cli_number(&row, items[i]) || row < 0 || row != floor(row) || row > 1e15) {
            free(items);
            return cli_usage(self, "--first: rows are whole numbers from 0");
        }
        (*out)[i] = (size_t)row;
    }
    free(items);
    return *out != NULL ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

/* Known values: a CSV with the columns row and value. */
static tacet_status load_warm(session_settings *s, size_t **rows, double **values, const char *path, tacet_error *err) {
    static const char *const NAMES[] = {"row", "value"};
    tacet_csv_table table = {0};
    const tacet_csv_wanted wanted = {.columns = NAMES, .d = 2};
    const tacet_status status = tacet_csv_load_file(&table, path, &wanted, err);
    if (status != TACET_OK) {
        return status;
    }
    *rows = calloc(table.n, sizeof **rows);
    *values = calloc(table.n, sizeof **values);
    for (size_t i = 0; *rows != NULL && *values != NULL && i < table.n; i++) {
        (*rows)[i] = table.values[2 * i] >= 0 && table.values[2 * i] < 1e15 ? (size_t)table.values[2 * i] : SIZE_MAX;
        (*values)[i] = table.values[2 * i + 1];
    }
    s->warm_rows = *rows;
    s->warm_values = *values;
    s->warm_count = *rows != NULL && *values != NULL ? table.n : 0;
    tacet_csv_table_clear(&table);
    return TACET_OK;
}

static json_t *as_json(const session_result *r, const tacet_manifest *m, json_t *ledger, double seconds) {
    json_t *rows = json_array();
    json_t *values = json_array();
    for (size_t i = 0; i < r->count; i++) {
        (void)json_array_append_new(rows, json_integer((json_int_t)r->rows[i]));
        (void)json_array_append_new(values, json_real(r->values[i]));
    }
    return json_pack("{so so sI sf sI sf sf ss s{sf sf sf sf} s{ss sb sf sf sf} so? sf}", "rows", rows, "values",
                     values, "best_row", (json_int_t)r->best_row, "best_value", r->best_value, "recommended_row",
                     (json_int_t)r->recommended_row, "recommended_mean", r->recommended_mean, "recommended_sd",
                     r->recommended_sd, "modeler", r->method, "model", "lengthscale", r->lengthscale, "signal_var",
                     r->signal_var, "noise_var", r->noise_var, "mean", r->mean, "release", "mechanism", m->mechanism,
                     "private", (int)m->is_private, "eps", m->eps, "delta", m->delta, "sigma", m->sigma, "ledger",
                     ledger, "seconds", seconds);
}

static void show(const session_result *r, const tacet_manifest *m, const json_t *ledger) {
    printf("best measured   row %zu, value %.6g\n", r->best_row, r->best_value);
    printf("best predicted  row %zu, %.6g +- %.2g\n", r->recommended_row, r->recommended_mean, r->recommended_sd);
    printf("asked           %zu rows (modeler: %s)\n", r->count, r->method);
    if (m->is_private) {
        printf("the release     eps = %g, delta = %g; measured values are %s\n", m->eps, m->delta,
               m->outputs_private ? "randomised" : "not protected");
    } else {
        printf("the release     %s\n", TACET_MANIFEST_STAMP);
    }
    if (ledger != NULL) {
        printf("the ledger      %lld entries, eps %.6g spent of %.6g; %lld queries left\n",
               (long long)json_integer_value(json_object_get(ledger, "entries")),
               json_number_value(json_object_get(ledger, "spent_eps")),
               json_number_value(json_object_get(ledger, "budget_eps")),
               (long long)json_integer_value(json_object_get(ledger, "queries_left")));
    }
}

typedef struct arguments {
    const char *url, *keys, *first, *warm;
    bool certificate;
    double patience, poll;
} arguments;

static int run_it(session_settings *s, const arguments *a, const cli_command *self) {
    remote link = {0};
    tacet_manifest manifest;
    session_result result = {0};
    tacet_error err = {0};
    char *text = NULL;
    double *rows = NULL;
    const double start = cli_seconds();
    tacet_manifest_init(&manifest);
    tacet_status status = remote_open(&link, a->url, a->keys, a->certificate, &err);
    link.patience = a->patience;
    link.poll = a->poll;
    link.waiting = waiting;
    status = status != TACET_OK ? status : remote_manifest(&link, &manifest, &text, &err);
    status = status != TACET_OK ? status : remote_release(&link, &rows, &manifest, s->state, &err);
    if (status == TACET_OK && !manifest.is_private) {
        cli_say(self, "the curator's release is %s", TACET_MANIFEST_STAMP);
    }
    status = status != TACET_OK ? status : session_run(&result, s, &link, &manifest, text, rows, &err);
    cli_progress_end();
    int code = CLI_EXIT_OK;
    if (status == TACET_OK) {
        json_t *ledger = remote_ledger(&link);
        if (!cli_json_wanted()) {
            show(&result, &manifest, ledger);
        }
        cli_json_print(as_json(&result, &manifest, ledger, cli_seconds() - start));
    } else {
        code = status == TACET_INVALID ? cli_usage(self, "%s", err.message) : cli_fail(self, &err);
        if (status == TACET_IO || status == TACET_TIMEOUT) {
            cli_say(self, "nothing is lost: the same command goes on where this one stopped");
        }
    }
    session_result_clear(&result);
    tacet_manifest_clear(&manifest);
    remote_close(&link);
    free(text);
    free(rows);
    return code;
}

int cmd_run(int argc, char **argv, const cli_command *self) {
    arguments a = {.patience = 60, .poll = 0.5};
    session_settings s = {.method = "auto",
                          .kernel = "se",
                          .signal_var = 1,
                          .noise_var = 1e-4,
                          .queries = 40,
                          .beta_scale = 1,
                          .delta_ucb = 0.05,
                          .seed = 1,
                          .progress = progress};
    const cli_option options[] = {
        {"url", CLI_STRING, &a.url, "URL", "the curator: https://HOST:PORT", true},
        {"keys", CLI_STRING, &a.keys, "DIR",
         "the folder the curator handed over: ca.pem, token, client.pem, client.key", true},
        {"state", CLI_STRING, &s.state, "DIR", "journal and release of this run; made when missing", true},
        {"queries", CLI_SIZE, &s.queries, "N", "rows to measure in all (default 40)", false},
        {"certificate", CLI_FLAG, &a.certificate, NULL, "show the client certificate instead of the token", false},
        {"patience", CLI_DOUBLE, &a.patience, "S", "go on trying for this long while the curator is away (default 60)",
         false},
        {"poll", CLI_DOUBLE, &a.poll, "S", "seconds between two looks at a pending query (default 0.5)", false},
        {"", CLI_FLAG, NULL, NULL, "Model (scaled units of the release):", false},
        {"modeler", CLI_STRING, &s.method, "HOW", "auto (default), latent or eiv", false},
        {"kernel", CLI_STRING, &s.kernel, "NAME", "se (default), matern12, matern32, matern52, …", false},
        {"lengthscale", CLI_DOUBLE, &s.lengthscale, "L", "needed unless --fit", false},
        {"signal-var", CLI_DOUBLE, &s.signal_var, "V", "(default 1)", false},
        {"noise-var", CLI_DOUBLE, &s.noise_var, "V", "of a measurement (default 1e-4)", false},
        {"mean", CLI_DOUBLE, &s.mean, "M", "(default 0)", false},
        {"fit", CLI_FLAG, &s.fit, NULL, "fit the model to the first rows, knowing the release's noise", false},
        {"ard", CLI_FLAG, &s.ard, NULL, "one lengthscale per coordinate", false},
        {"beta-scale", CLI_DOUBLE, &s.beta_scale, "F", "factor on GP-UCB's beta_t (eiv; default 1)", false},
        {"delta-ucb", CLI_DOUBLE, &s.delta_ucb, "D", "of GP-UCB (default 0.05)", false},
        {"", CLI_FLAG, NULL, NULL, "Search:", false},
        {"minimize", CLI_FLAG, &s.minimize, NULL, "look for the smallest value", false},
        {"log", CLI_FLAG, &s.log_target, NULL, "model the logarithm of the value", false},
        {"standardize", CLI_FLAG, &s.standardize, NULL, "shift and scale values by those of the first rows", false},
        {"first", CLI_STRING, &a.first, "ROW,…", "rows to measure first", false},
        {"initial", CLI_SIZE, &s.initial, "N",
         "random rows to measure before the model chooses (default 0; with --fit 10)", false},
        {"warm", CLI_STRING, &a.warm, "FILE",
         "values known already: a CSV with the columns row and value; not asked again", false},
        {"seed", CLI_U64, &s.seed, "S", "of random rows and of the latent modeler (default 1)", false},
        {0},
    };
    int code = 0;
    if (!cli_parse(self, options, argc, argv, NULL, NULL, &code)) {
        return code;
    }
    if (s.fit && s.initial == 0) {
        s.initial = 10;
    }
    if (s.fit && !(s.lengthscale > 0)) {
        s.lengthscale = 1; /* where the fit's first start begins */
    }
    if (!(s.lengthscale > 0) || !(s.signal_var > 0) || !(s.noise_var >= 0) || !(a.patience >= 0) || !(a.poll > 0)) {
        return cli_usage(
            self, "--lengthscale above 0 (or --fit), --signal-var above 0 and --noise-var at least 0 are needed");
    }
    size_t *first = NULL;
    size_t *warm_rows = NULL;
    double *warm_values = NULL;
    tacet_error err = {0};
    if (a.first != NULL) {
        code = row_list(&first, &s.first_count, a.first, self);
        s.first = first;
    }
    if (code == CLI_EXIT_OK && a.warm != NULL && load_warm(&s, &warm_rows, &warm_values, a.warm, &err) != TACET_OK) {
        code = cli_fail(self, &err);
    }
    code = code != CLI_EXIT_OK ? code : run_it(&s, &a, self);
    free(first);
    free(warm_rows);
    free(warm_values);
    return code;
}
