/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - tacet-modeler: the party that optimises and must not see the records.
 * Ring: open. It links nothing of the gate and nothing of the trusted ring. */
#include "common/cli.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/io/file.h>
#include <tacet/outsourced/open/remote.h>
#include <tacet/outsourced/open/session.h>
#include <tacet/report/report.h>
#include <unistd.h>

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

/* What is searched: one holder's rows, or several holders' as one table. */
typedef struct table {
    size_t count;
    tacet_remote **links;
    tacet_manifest *manifests;
    tacet_session_holder *holders;
    char **texts;
    double **rows;
    const char *const *urls;
} table;

/* A row as its holder counts it; of several, also whose it is, from 1. */
static json_t *row_json(const table *t, size_t row) {
    (void)tacet_session_place(t->holders, t->count, &row);
    return J(row);
}

static json_t *holder_json(const table *t, size_t row) {
    return t->count > 1 ? J(1 + tacet_session_place(t->holders, t->count, &row)) : NULL;
}

static json_t *rows_json(const table *t, const size_t *rows, size_t count, json_t *(*what)(const table *, size_t)) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, what(t, rows[i]));
    }
    return list;
}

static json_t *release_json(const tacet_manifest *m) {
    char *claim = tacet_manifest_claim(m);
    json_t *out = cli_object("mechanism private eps delta eps_any_change sigma outputs_private claim", J(m->mechanism),
                             J(m->is_private), J(m->eps), J(m->delta), J(m->eps_at[TACET_MANIFEST_DISTANCES - 1]),
                             J(m->sigma), J(m->outputs_private), J(claim != NULL ? claim : ""));
    free(claim);
    return out;
}

/* Of several holders: who they are, what each released, and whether it was there at the end. */
static json_t *holders_json(const table *t, const tacet_session_result *r) {
    json_t *list = json_array();
    for (size_t h = 0; h < t->count; h++) {
        json_t *one = cli_object("number url rows release", J(h + 1), J(t->urls[h]), J(t->manifests[h].rows),
                                 J(release_json(&t->manifests[h])));
        if (h < r->holder_count && r->holders[h].status != TACET_OK) {
            cli_add(one, "absent", J(r->holders[h].message));
        }
        (void)json_array_append_new(list, one);
    }
    return list;
}

static json_t *chance_json(const tacet_chance *c) {
    return cli_object("likely likely_percent best best_percent queries random_rows chosen better by_luck", J(c->likely),
                      J(100 * c->likely_share), J(c->best), J(100 * c->best_share), J(c->queries), J(c->rows),
                      J(c->chosen), J(c->better), J(c->by_luck));
}

static json_t *as_json(const tacet_session_result *r, const table *t, const json_t *ledger, double seconds) {
    const tacet_modeler_knowledge *k = &r->knowledge;
    const bool several = t->count > 1;
    json_t *out = cli_object("rows values best_row best_value ended modeler unmeasurable",
                             J(rows_json(t, r->rows, r->count, row_json)), JL(r->values, r->count),
                             J(row_json(t, r->best_row)), J(r->best_value), J(tacet_session_end_name(r->end)),
                             J(r->method), J(rows_json(t, r->failed, r->failed_count, row_json)));
    if (several) {
        cli_add(out, "row_holders best_holder holders", J(rows_json(t, r->rows, r->count, holder_json)),
                J(holder_json(t, r->best_row)), J(holders_json(t, r)));
    } else {
        cli_add(out, "release", J(release_json(&t->manifests[0])));
    }
    if (r->predicted) {
        cli_add(out, "recommended_row recommended_holder? recommended_mean recommended_sd",
                J(row_json(t, r->recommended_row)), J(holder_json(t, r->recommended_row)), J(r->recommended_mean),
                J(r->recommended_sd));
    }
    cli_add(out, "model evidence next chance ledger seconds",
            J(strcmp(r->method, "averaging") == 0 || !r->predicted
                  ? NULL
                  : cli_object("lengthscale noise_var", J(r->lengthscale), J(r->noise_var))),
            J(!r->known ? NULL
                        : cli_object("log_bayes_factor words", J(k->log_bayes_factor),
                                     J(tacet_modeler_words(k->log_bayes_factor)))),
            J(!r->known || k->next_row == SIZE_MAX
                  ? NULL
                  : cli_object("row holder? mean low high", J(row_json(t, k->next_row)), J(holder_json(t, k->next_row)),
                               J(k->next_mean), J(k->next_low), J(k->next_high))),
            J(!r->compared ? NULL : chance_json(&r->chance)), J(json_deep_copy(ledger)), J(seconds));
    return out;
}

static const size_t REFRESH_SECONDS = 2;

/* What a look at the search needs. */
typedef struct view {
    const char *page;  /* NULL: none */
    const char *state; /* receives result.json */
    const table *table;
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

/* A sentence of every holder's manifest, once where they say the same. */
static json_t *of_each(const table *t, char *(*sentence)(const tacet_manifest *)) {
    char *first = sentence(&t->manifests[0]);
    json_t *out = json_string(first != NULL ? first : "");
    for (size_t h = 1; h < t->count; h++) {
        char *words = sentence(&t->manifests[h]);
        if (words != NULL && first != NULL && strcmp(words, first) != 0) {
            json_t *longer = json_sprintf("%s Holder %zu: %s", json_string_value(out), h + 1, words);
            json_decref(out);
            out = longer;
        }
        free(words);
    }
    free(first);
    return out;
}

/* What a page draws a map of: rows that were measured, and others evenly from the table, each as its number and what
 * was released of it, in scaled units. `whose`: the holder of each measured row, of several. */
static json_t *released_json(const table *t, size_t h, const json_t *measured, const json_t *whose) {
    const tacet_manifest *m = &t->manifests[h];
    const size_t most = 1000 / t->count; /* drawn */
    json_t *list = json_array();
    char *asked = calloc(m->rows, 1);
    for (size_t i = 0; asked != NULL && i < json_array_size(measured); i++) {
        if (whose == NULL || json_integer_value(json_array_get(whose, i)) == (json_int_t)h + 1) {
            asked[json_integer_value(json_array_get(measured, i))] = 1;
        }
    }
    for (size_t i = 0; asked != NULL && i < m->rows; i++) {
        if (asked[i] || i % (m->rows / (most > 0 ? most : 1) + 1) == 0) {
            json_t *row = JL(t->rows[h] + i * m->dims, m->dims);
            (void)json_array_insert_new(row, 0, J(i));
            (void)json_array_append_new(list, row);
        }
    }
    free(asked);
    return list;
}

/* The result in the state folder, from which `tacet report` draws the page later, and the page. A page that cannot be
 * written is said once: the search goes on. */
static void write_view(view *v, json_t *result, const char *ended) {
    char path[4096];
    const size_t done = json_array_size(json_object_get(result, "values"));
    cli_add(result, "protects uncovered minimize queries title subtitle", J(of_each(v->table, tacet_manifest_protects)),
            J(of_each(v->table, tacet_manifest_uncovered)), J(v->settings->minimize), J(v->settings->queries),
            J(v->table->count > 1 ? "A search over several private releases" : "A search over a private release"),
            J(json_sprintf("%zu of %zu rows measured: %s", done, v->settings->queries,
                           strcmp(ended, "budget") == 0 ? "the curator allows no more" : ended)));
    const json_t *whose = json_object_get(result, "row_holders");
    for (size_t h = 0; h < v->table->count; h++) {
        json_t *to = whose == NULL ? result : json_array_get(json_object_get(result, "holders"), h);
        cli_add(to, "manifest released", J(json_loads(v->table->texts[h], 0, NULL)),
                J(released_json(v->table, h, json_object_get(result, "rows"), whose)));
    }
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
    write_view(v, as_json(so_far, v->table, NULL, 0), "searching");
}

static const char WORDS[] =
    "best measured   row {best_row}{?best_holder| of holder {best_holder}}, value {best_value:.6g}{?_open| (so far)}\n"
    "{?chance|by chance       the best of {chance.queries} random rows reaches {chance.likely:.6g} with probability "
    "{chance.likely_percent:.0f} %, {chance.best:.6g} with {chance.best_percent:.0f} %\n"
    "                (how far it goes beyond, the {chance.random_rows} rows asked at random do not tell)\n"
    "{?chance.chosen|luck            {chance.better} of the {chance.chosen} rows chosen are better than all "
    "{chance.random_rows} asked at random; random rows do that with probability {chance.by_luck:.2g}\n}}"
    "{?evidence|the values      {evidence.words} (log Bayes factor {evidence.log_bayes_factor:.1f})\n}"
    "{?next|most promising  row {next.row}{?next.holder| of holder {next.holder}}, not measured: {next.mean:.6g} "
    "expected, in 9 of 10 cases {next.low:.6g} to {next.high:.6g}\n}"
    "{!evidence|{?_predicted|best predicted  row {recommended_row}, {recommended_mean:.6g}{?recommended_sd| +- "
    "{recommended_sd:.2g}}{!recommended_sd|, as measured}\n}}"
    "asked           {_asked} rows (modeler: {modeler})\n"
    "{?_failed|not measurable  {_failed} rows; others were asked instead\n}"
    "{?release|the release     {!release.private|" TACET_MANIFEST_STAMP "}{?release.private|{release.claim} Measured "
    "values are {?release.outputs_private|randomised}{!release.outputs_private|not protected}.}\n}"
    "{*holders|holder {number:-8} {url}, {rows} rows{?absent|; left out: {absent}}\n"
    "                {!release.private|" TACET_MANIFEST_STAMP "}{?release.private|{release.claim} Measured values are "
    "{?release.outputs_private|randomised}{!release.outputs_private|not protected}.}\n}"
    "{?holders|together        each holder's costs are its own; they add up for a person who is in several tables\n}"
    "{?ledger|the ledger      {ledger.entries} entries, eps {ledger.spent_eps:^6} spent of {ledger.budget_eps:^6}; "
    "{ledger.queries_left} queries left\n}";

typedef struct arguments {
    const char *page;
    cli_names urls, keys;
    tacet_remote_settings link;
} arguments;

/* What was found, however the search ended; the exit code says how. */
static int tell(const tacet_session_result *r, const table *t, double start, const cli_command *self) {
    char *text = r->end == TACET_SESSION_AWAY || t->count > 1 ? NULL : tacet_remote_ledger(t->links[0]);
    json_t *ledger = cli_loads(text);
    json_t *object = as_json(r, t, ledger, cli_seconds() - start);
    cli_add(object, "_open _predicted _asked _failed", JB(r->end != TACET_SESSION_DONE), J(r->predicted), J(r->count),
            J(r->failed_count));
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

static void close_table(table *t) {
    for (size_t h = 0; h < t->count; h++) {
        tacet_remote_close(t->links[h]);
        tacet_manifest_clear(&t->manifests[h]);
        free(t->texts[h]);
        free(t->rows[h]);
    }
    free(t->links);
    free(t->manifests);
    free(t->holders);
    free(t->texts);
    free(t->rows);
}

static bool has_file(const char *folder, const char *name) {
    char path[4096];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && access(path, F_OK) == 0;
}

/* Connects to every holder and fetches what it released. Of several each has a folder of its own in the state. */
static tacet_status open_table(table *t, const arguments *a, const char *state, const cli_command *self,
                               tacet_error *err) {
    const size_t count = a->urls.count;
    *t = (table){.urls = a->urls.at,
                 .links = calloc(count, sizeof(tacet_remote *)),
                 .manifests = calloc(count, sizeof *t->manifests),
                 .holders = calloc(count, sizeof *t->holders),
                 .texts = calloc(count, sizeof *t->texts),
                 .rows = calloc(count, sizeof *t->rows)};
    if (t->links == NULL || t->manifests == NULL || t->holders == NULL || t->texts == NULL || t->rows == NULL) {
        *err = (tacet_error){.status = TACET_NO_MEMORY, .message = "out of memory for the holders"};
        return TACET_NO_MEMORY;
    }
    t->count = count;
    tacet_status status = TACET_OK;
    for (size_t h = 0; h < count && status == TACET_OK; h++) { /* keys that cannot be read leave nothing behind */
        tacet_remote_settings link = a->link;
        link.url = a->urls.at[h];
        link.keys = a->keys.at[h];
        link.use_certificate = !has_file(link.keys, "token") && has_file(link.keys, "client.pem");
        status = tacet_remote_open(&t->links[h], &link, err);
    }
    if (status == TACET_OK) {
        (void)mkdir(state, 0700);
    }
    for (size_t h = 0; h < count && status == TACET_OK; h++) {
        char folder[4096];
        (void)snprintf(folder, sizeof folder, count > 1 ? "%s/holder-%zu" : "%s", state, h + 1);
        status = tacet_remote_fetch(t->links[h], &t->manifests[h], &t->texts[h], &t->rows[h], folder, err);
        t->holders[h] = (tacet_session_holder){&t->manifests[h], t->texts[h], t->rows[h]};
        if (status == TACET_OK && !t->manifests[h].is_private) {
            cli_say(self, "the release of %s is %s", a->urls.at[h], TACET_MANIFEST_STAMP);
        }
    }
    return status;
}

static int run_it(tacet_session_settings *s, const arguments *a, const cli_command *self) {
    table t;
    tacet_session_result result = {0};
    tacet_error err = {0};
    const double start = cli_seconds();
    view v = {.page = a->page, .state = s->state, .table = &t, .self = self, .settings = s};
    s->looked = looked;
    s->user = &v; /* cppcheck-suppress autoVariables ; the settings are read until this returns, and not after */
    heed_interrupts();
    tacet_status status = open_table(&t, a, s->state, self, &err);
    const tacet_session_asker asker = {.ask = tacet_remote_ask, .user = t.links};
    TACET_THEN(status, tacet_session_run(&result, s, &asker, t.holders, t.count, &err));
    cli_progress_end();
    int code = CLI_EXIT_OK;
    if (status == TACET_OK) {
        code = tell(&result, &t, start, self);
        write_view(&v, as_json(&result, &t, NULL, cli_seconds() - start), tacet_session_end_name(result.end));
    } else {
        code = cli_refuse(self, &err);
        if (status == TACET_IO || status == TACET_TIMEOUT || status == TACET_STATE) {
            cli_say(self, "nothing is lost: the same command goes on where this one stopped");
        }
    }
    s->user = NULL; /* the view ends with this function */
    tacet_session_result_clear(&result);
    close_table(&t);
    return code;
}

static int cmd_run(int argc, char **argv, const cli_command *self) {
    arguments a = {0};
    tacet_session_settings s;
    tacet_session_defaults(&s);
    tacet_remote_defaults(&a.link);
    s.lengthscale = NAN;
    s.progress = progress;
    s.stop = a.link.stop = stop;
    a.link.waiting = waiting;
    const cli_option options[] = {
        {"url", CLI_EACH, &a.urls, "URL",
         "the curator: https://HOST:PORT; given again, one more, whose rows are searched with the others'", true},
        {"keys", CLI_EACH, &a.keys, "DIR",
         "the folder that curator handed over: ca.pem, token (without it the client certificate is shown), client.pem, "
         "client.key; one for each --url, in the same order",
         true},
        CLI_NEED("state", &s.state, "DIR", "journal and release of this run; made when missing"),
        CLI_OPT("page", &a.page, "FILE",
                "a page that shows the search, written anew after each answer: open it in a browser"),
        CLI_OPT("queries", &s.queries, "N",
                "rows to measure in all (default 40); a state may be gone on with for more"),
        CLI_OPT("minimize", &s.minimize, NULL, "look for the smallest value"),
        CLI_MORE,
        CLI_OPT("patience", &a.link.patience, "S", "go on trying for this long while the curator is away (default 60)"),
        CLI_HEADING("Where you know it:"),
        CLI_OPT("lengthscale", &s.lengthscale, "L",
                "of the objective, in scaled units of the release; then GP-UCB with errors in variables"),
        CLI_OPT("noise-var", &s.noise_var, "V",
                "of a measurement, in the values' own units (default: not known; with a lengthscale: a ten-thousandth "
                "of theirs)"),
        CLI_OPT("seed", &s.seed, "S", "of random rows and of the model (default 1)"),
        {0},
    };
    CLI_PARSE_OR_RETURN(options, NULL, NULL);
    if (!isnan(s.lengthscale) && !(s.lengthscale > 0)) {
        return cli_usage(self, "--lengthscale must be above 0; without it the model learns it");
    }
    s.lengthscale = isnan(s.lengthscale) ? 0 : s.lengthscale;
    s.initial = TACET_SESSION_OWN;
    if (a.urls.count != a.keys.count) {
        return cli_usage(self, "%zu --url and %zu --keys: each curator has its own keys", a.urls.count, a.keys.count);
    }
    if (a.urls.count > 1 && s.lengthscale > 0) {
        return cli_usage(self, "--lengthscale is for the rows of one curator");
    }
    if (!(a.link.patience >= 0)) {
        return cli_usage(self, "--patience of at least 0 is needed");
    }
    return run_it(&s, &a, self);
}

static const cli_command COMMANDS[] = {
    {"modeler run", "optimise over a curator's release, one query at a time",
     "--url URL --keys DIR [--url URL --keys DIR ...] --state DIR [--queries N] [options]",
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
     "Several holders of the same columns are searched as one table: give each its --url and --keys. They may have "
     "other bounds, units and eps; each row is taken with the noise of its own release. A holder that is away or "
     "answers no more costs its own rows only, and is asked again from time to time. Every holder keeps its own "
     "ledger, and its claim is about its own rows: a person who is in several of the tables pays in each, and the "
     "costs add up.\n\n"
     "--page FILE is a page of the search as it goes: queries, the best so far against what random rows reach, what "
     "the "
     "model believes and how sure it is, whether it found signal at all, what is left to ask. The state folder has "
     "the same as result.json: 'tacet report --in run1/result.json --out page.html' draws it later.",
     "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run1/\n"
     "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run1/ --queries 60 --page run1.html\n"
     "tacet modeler run --url https://localhost:8443 --keys modeler/ --state run2/ --lengthscale 3\n"
     "tacet modeler run --url https://a:8443 --keys a/ --url https://b:8443 --keys b/ --state both/",
     cmd_run},
    {0},
};

const cli_program PROGRAM = {
    .name = "tacet-modeler",
    .summary = "The party that optimises: sees the release and the measured values, nothing else.",
    .ring = "open (sees releases only)",
    .commands = COMMANDS,
};
