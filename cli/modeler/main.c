/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-modeler: the party that optimises and must not see the records.
 * Ring: open. It links nothing of the gate and nothing of the trusted ring. */
#include "common/cli.h"

#include "common/cli.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/file.h>
#include <tacet/outsourced/open/remote.h>
#include <tacet/outsourced/open/session.h>
#include <tacet/report/report.h>

/* Ctrl-C: conclude with what is known. A second one ends the program. */
static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    interrupted = 1;
    (void)signal(number, SIG_DFL);
}

static bool stop(void *user) {
    (void)user;
    return interrupted != 0;
}

static void heed_interrupts(void) {
    struct sigaction action = {.sa_handler = interrupt};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static void progress(size_t done, size_t total, size_t best_row, double best_value, void *user) {
    (void)user;
    cli_progress((double)done / (double)total, "query %zu of %zu, best %.5g (row %zu)", done, total, best_value,
                 best_row);
}

static void waiting(const char *why, void *user) {
    (void)user;
    cli_progress(-1, "%s", why);
}

static json_t *as_json(const tacet_session_result *r, const tacet_manifest *m, const json_t *ledger, double seconds) {
    const tacet_modeler_knowledge *k = &r->knowledge;
    char *claim = tacet_manifest_claim(m);
    json_t *out =
        cli_object("rows values best_row best_value ended modeler unmeasurable release", JL(r->rows, r->count),
                   JL(r->values, r->count), J(r->best_row), J(r->best_value), J(tacet_session_end_name(r->end)),
                   J(r->method), J(r->failed_count > 0 ? JL(r->failed, r->failed_count) : json_array()),
                   J(cli_object("mechanism private eps delta eps_any_change sigma claim", J(m->mechanism),
                                J(m->is_private), J(m->eps), J(m->delta), J(m->eps_at[TACET_MANIFEST_DISTANCES - 1]),
                                J(m->sigma), J(claim != NULL ? claim : ""))));
    free(claim);
    if (r->predicted) {
        cli_add(out, "recommended_row recommended_mean recommended_sd", J(r->recommended_row), J(r->recommended_mean),
                J(r->recommended_sd));
    }
    cli_add(out, "model evidence next chance ledger seconds",
            J(strcmp(r->method, "averaging") == 0 || !r->predicted
                  ? NULL
                  : cli_object("lengthscale signal_var noise_var mean", J(r->lengthscale), J(r->signal_var),
                               J(r->noise_var), J(r->mean))),
            J(!r->known ? NULL
                        : cli_object("log_bayes_factor words", J(k->log_bayes_factor),
                                     J(tacet_modeler_words(k->log_bayes_factor)))),
            J(!r->known || k->next_row == SIZE_MAX
                  ? NULL
                  : cli_object("row mean sd", J(k->next_row), J(k->next_mean), J(k->next_sd))),
            J(!r->compared
                  ? NULL
                  : cli_object("likely likely_percent best best_percent queries random_rows chosen better by_luck",
                               J(r->chance.likely), J(100 * r->chance.likely_share), J(r->chance.best),
                               J(100 * r->chance.best_share), J(r->chance.queries), J(r->chance.rows),
                               J(r->chance.chosen), J(r->chance.better), J(r->chance.by_luck))),
            J(json_deep_copy(ledger)), J(seconds));
    return out;
}

static const size_t REFRESH_SECONDS = 2;

/* What a look at the search needs. */
typedef struct view {
    const char *page;  /* NULL: none */
    const char *state; /* receives result.json */
    const tacet_manifest *manifest;
    const cli_command *self;
    const tacet_session_settings *settings;
    bool warned;
} view;

static bool draw_page(const char *path, const char *result) {
    tacet_report *report = NULL;
    char *page = NULL;
    size_t length = 0;
    const bool good = tacet_report_create(&report, NULL) == TACET_OK &&
                      tacet_report_add(report, "The search", result, strlen(result), NULL) == TACET_OK &&
                      tacet_report_html(report, &page, &length, NULL) == TACET_OK &&
                      tacet_file_write(path, page, false, NULL) == TACET_OK;
    tacet_report_free(report);
    free(page);
    return good;
}

/* The result in the state folder, from which `tacet report` draws the page later, and the page. A page that cannot be
 * written is said once: the search goes on. */
static void write_view(view *v, json_t *result, const char *ended) {
    char path[4096];
    const size_t done = json_array_size(json_object_get(result, "values"));
    char *protects = tacet_manifest_protects(v->manifest);
    char *uncovered = tacet_manifest_uncovered(v->manifest);
    cli_add(result, "protects uncovered minimize queries title subtitle", J(protects != NULL ? protects : ""),
            J(uncovered != NULL ? uncovered : ""), J(v->settings->minimize), J(v->settings->queries),
            J("A search over a private release"),
            J(json_sprintf("%zu of %zu rows measured: %s", done, v->settings->queries, ended)));
    free(protects);
    free(uncovered);
    char *text = json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(17));
    bool good = text != NULL && snprintf(path, sizeof path, "%s/result.json", v->state) < (int)sizeof path &&
                tacet_file_write(path, text, false, NULL) == TACET_OK;
    if (good && v->page != NULL && strcmp(ended, "searching") == 0) {
        free(text);
        cli_add(result, "refresh", J(REFRESH_SECONDS));
        text = json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(17));
    }
    good = good && (v->page == NULL || (text != NULL && draw_page(v->page, text)));
    free(text);
    json_decref(result);
    if (!good && !v->warned) {
        v->warned = true;
        cli_say(v->self, "%s cannot be written; the search goes on", v->page != NULL ? v->page : "result.json");
    }
}

static void looked(const tacet_session_result *so_far, void *user) {
    view *v = user;
    write_view(v, as_json(so_far, v->manifest, NULL, 0), "searching");
}

static const char WORDS[] =
    "best measured   row {best_row}, value {best_value:.6g}{?_open| (so far)}\n"
    "{?chance|by chance       the best of {chance.queries} random rows reaches {chance.likely:.6g} with probability "
    "{chance.likely_percent:.0f} %, {chance.best:.6g} with {chance.best_percent:.0f} %\n"
    "                (how far it goes beyond, the {chance.random_rows} rows asked at random do not tell)\n"
    "{?chance.chosen|luck            {chance.better} of the {chance.chosen} rows chosen are better than all "
    "{chance.random_rows} asked at random; random rows do that with probability {chance.by_luck:.2g}\n}}"
    "{?evidence|the values      {evidence.words} (log Bayes factor {evidence.log_bayes_factor:.1f})\n}"
    "{?next|most promising  row {next.row}, not measured: {next.mean:.6g} +- {next.sd:.2g} expected\n}"
    "{!evidence|{?_predicted|best predicted  row {recommended_row}, {recommended_mean:.6g} +- {recommended_sd:.2g}\n}}"
    "asked           {_asked} rows (modeler: {modeler})\n"
    "{?_failed|not measurable  {_failed} rows; others were asked instead\n}"
    "the release     {!release.private|" TACET_MANIFEST_STAMP "}{?release.private|{release.claim} Measured values are "
    "{?_outputs|randomised}{!_outputs|not protected}.}\n"
    "{?ledger|the ledger      {ledger.entries} entries, eps {ledger.spent_eps:^6} spent of {ledger.budget_eps:^6}; "
    "{ledger.queries_left} queries left\n}";

typedef struct arguments {
    const char *warm, *page;
    cli_wholes first;
    tacet_remote_settings link;
} arguments;

static tacet_status ask(void *user, double *value, const char *ticket, size_t row, tacet_error *err) {
    return tacet_remote_query(user, value, ticket, row, err);
}

/* What was found, however the search ended; the exit code says how. */
static int tell(const tacet_session_result *r, tacet_remote *link, const tacet_manifest *m, double start,
                const cli_command *self) {
    char *text = r->end == TACET_SESSION_AWAY ? NULL : tacet_remote_ledger(link);
    json_t *ledger = cli_loads(text);
    json_t *object = as_json(r, m, ledger, cli_seconds() - start);
    cli_add(object, "_open _predicted _asked _failed _outputs", JB(r->end != TACET_SESSION_DONE), J(r->predicted),
            J(r->count), J(r->failed_count), J(m->outputs_private));
    (void)cli_tell(object, WORDS);
    json_decref(ledger);
    if (r->end == TACET_SESSION_DONE) {
        return CLI_EXIT_OK;
    }
    (void)fflush(stdout);
    const int code = cli_fail(self, &r->why);
    if (r->end == TACET_SESSION_AWAY || r->end == TACET_SESSION_STOPPED) {
        cli_say(self, "nothing is lost: the same command goes on where this one stopped");
    }
    return code;
}

static int run_it(tacet_session_settings *s, const arguments *a, const cli_command *self) {
    tacet_remote *link = NULL;
    tacet_manifest manifest;
    tacet_session_result result = {0};
    tacet_error err = {0};
    char *text = NULL;
    double *rows = NULL;
    const double start = cli_seconds();
    view v = {.page = a->page, .state = s->state, .manifest = &manifest, .self = self, .settings = s};
    tacet_manifest_init(&manifest);
    s->looked = looked;
    s->user = &v; /* cppcheck-suppress autoVariables ; the settings are read until this returns, and not after */
    heed_interrupts();
    tacet_status status = tacet_remote_open(&link, &a->link, &err);
    status = status != TACET_OK ? status : tacet_remote_manifest(link, &manifest, &text, &err);
    status = status != TACET_OK ? status : tacet_remote_release(link, &rows, &manifest, s->state, &err);
    if (status == TACET_OK && !manifest.is_private) {
        cli_say(self, "the curator's release is %s", TACET_MANIFEST_STAMP);
    }
    const tacet_session_asker asker = {.ask = ask, .user = link};
    status = status != TACET_OK ? status : tacet_session_run(&result, s, &asker, &manifest, text, rows, &err);
    cli_progress_end();
    int code = CLI_EXIT_OK;
    if (status == TACET_OK) {
        code = tell(&result, link, &manifest, start, self);
        write_view(&v, as_json(&result, &manifest, NULL, cli_seconds() - start), tacet_session_end_name(result.end));
    } else {
        code = cli_refuse(self, &err);
        if (status == TACET_IO || status == TACET_TIMEOUT || status == TACET_STATE) {
            cli_say(self, "nothing is lost: the same command goes on where this one stopped");
        }
    }
    s->user = NULL; /* the view ends with this function */
    tacet_session_result_clear(&result);
    tacet_manifest_clear(&manifest);
    tacet_remote_close(link);
    free(text);
    free(rows);
    return code;
}

static int cmd_run(int argc, char **argv, const cli_command *self) {
    arguments a = {0};
    tacet_session_settings s;
    const size_t unset = SIZE_MAX;
    size_t initial = unset;
    tacet_session_defaults(&s);
    tacet_remote_defaults(&a.link);
    s.lengthscale = NAN;
    s.progress = progress;
    s.stop = a.link.stop = stop;
    a.link.waiting = waiting;
    const cli_option options[] = {
        CLI_NEED("url", &a.link.url, "URL", "the curator: https://HOST:PORT"),
        CLI_NEED("keys", &a.link.keys, "DIR",
                 "the folder the curator handed over: ca.pem, token, client.pem, client.key"),
        CLI_NEED("state", &s.state, "DIR", "journal and release of this run; made when missing"),
        CLI_OPT("page", &a.page, "FILE",
                "a page that shows the search, written anew after each answer: open it in a browser"),
        CLI_OPT("queries", &s.queries, "N",
                "rows to measure in all (default 40); a state may be gone on with for more"),
        CLI_OPT("certificate", &a.link.use_certificate, NULL, "show the client certificate instead of the token"),
        CLI_OPT("patience", &a.link.patience, "S", "go on trying for this long while the curator is away (default 60)"),
        CLI_OPT("poll", &a.link.poll, "S", "seconds between two looks at a pending query (default 0.5)"),
        CLI_HEADING("Model, where you know it (scaled units of the release):"),
        CLI_OPT("kernel", &s.kernel, "NAME", "se (default), matern12, matern32, matern52, …"),
        CLI_OPT("lengthscale", &s.lengthscale, "L", "of the objective; then GP-UCB with errors in variables"),
        CLI_OPT("signal-var", &s.signal_var, "V", "(default 1)"),
        CLI_OPT("noise-var", &s.noise_var, "V",
                "of a measurement, in the values' own units (default: not known; with a lengthscale: 1e-4)"),
        CLI_OPT("mean", &s.mean, "M", "(default 0)"),
        CLI_OPT("beta-scale", &s.beta_scale, "F", "factor on GP-UCB's beta_t (default 1)"),
        CLI_OPT("delta-ucb", &s.delta_ucb, "D", "of GP-UCB (default 0.05)"),
        CLI_HEADING("Search:"),
        CLI_OPT("minimize", &s.minimize, NULL, "look for the smallest value"),
        CLI_OPT("log", &s.log_target, NULL, "model the logarithm of the value"),
        CLI_OPT("standardize", &s.standardize, NULL,
                "with a lengthscale: shift and scale values by those of the first rows"),
        CLI_OPT("first", &a.first, "ROW,…", "rows to measure first"),
        CLI_OPT("initial", &initial, "N",
                "random rows to measure before the model chooses (default 10, a quarter of the queries at most; "
                "with a lengthscale: 0)"),
        CLI_OPT("warm", &a.warm, "FILE", "values known already: a CSV with the columns row and value; not asked again"),
        CLI_OPT("seed", &s.seed, "S", "of random rows and of the model (default 1)"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (!isnan(s.lengthscale) && !(s.lengthscale > 0)) {
        return cli_usage(self, "--lengthscale must be above 0; without it the model learns it");
    }
    s.lengthscale = isnan(s.lengthscale) ? 0 : s.lengthscale;
    s.initial = initial == unset ? TACET_SESSION_OWN : initial;
    if (!(a.link.patience >= 0) || !(a.link.poll > 0)) {
        return cli_usage(self, "--patience of at least 0 and --poll above 0 are needed");
    }
    tacet_error err = {0};
    s.first = a.first.at;
    s.first_count = a.first.count;
    if (a.warm != NULL && tacet_session_warm_load(&s, a.warm, &err) != TACET_OK) {
        return cli_fail(self, &err);
    }
    const int code = run_it(&s, &a, self);
    tacet_session_warm_clear(&s);
    return code;
}

static const cli_command COMMANDS[] = {
    {"modeler run", "optimise over a curator's release, one query at a time",
     "--url URL --keys DIR --state DIR [--queries N] [options]",
     "Fetches the release and its manifest from the curator, chooses rows to measure, asks for their values, and says "
     "which row is best.\n\n"
     "There is nothing to tune. The first rows are asked at random; then a Gaussian process, averaged over what its "
     "lengthscales and noise may be and weighed anew with every value, chooses (averaging). It knows the noise in the "
     "release and takes it out. At the end you read what as many random rows would have reached, whether the values "
     "can be told from values unrelated to the inputs at all, and what the most promising row not measured is "
     "expected to have. It never says that the best row was found.\n\n"
     "If you do know the objective's lengthscale, give it, in the release's scaled units: a lengthscale of 2 is twice "
     "the distance that the curator protects. GP-UCB with the errors-in-variables kernel, which knows the noise "
     "of the release, then searches (eiv).\n\n"
     "Every query is written to a journal in the state folder before it is asked, and its value before it is used. "
     "Stopped by Ctrl-C, by a curator that is away for longer than --patience or whose budget is spent, it prints the "
     "best so far; the same command goes on where it was and asks nothing twice, with more --queries if you like. A "
     "row that cannot be measured is left out and another one asked.\n\n"
     "--page FILE is a page of the search as it goes: queries, the best so far against what random rows reach, what "
     "the "
     "model believes and how sure it is, whether it found signal at all, what is left to ask. The state folder has "
     "the same as result.json: 'tacet report --in run1/result.json --out page.html' draws it later.",
     "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run1/\n"
     "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run1/ --queries 60 --page run1.html\n"
     "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run2/ --lengthscale 3",
     cmd_run},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-modeler",
    .summary = "The party that optimises: sees the release and the measured values, nothing else.",
    .ring = "open (sees releases only)",
    .commands = COMMANDS,
};
