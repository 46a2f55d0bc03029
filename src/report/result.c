/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - what the programs print under --json, turned into sections of a report.
 * Ring: open. A result is known by its fields, not by its file's name. Cost: O(size of the result). */
#include "report/internal.h"

#include "core/fail.h"
#include "report/figure.h"
#include "report/figure_internal.h"
#include "report/known.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has(const json_t *object, const char *field) {
    return json_object_get(object, field) != NULL;
}

/* Appends (consuming it); jansson gives NULL when out of memory. */
static bool append(json_t *sections, json_t *section) {
    return section != NULL && json_array_append_new(sections, section) == 0;
}

static json_t *fact(const char *label, const json_t *value) {
    return json_pack("{ss sO}", "label", label, "value", value);
}

/* --- a run of an optimiser: modeler run, gp-ucb ------------------------------------------------------------------- */

static bool run_chart(json_t *sections, const char *name, const json_t *result) {
    json_t *chart = tacet__figure("progress", result);
    if (chart == NULL) {
        return true; /* nothing was measured */
    }
    (void)json_object_set_new(chart, "title", json_sprintf("%s: measured values", name));
    return append(sections, chart);
}

static bool add_maps(json_t *sections, const json_t *result) {
    json_t *maps = tacet__figure_maps(result);
    const bool good = json_array_extend(sections, maps) == 0;
    json_decref(maps);
    return good;
}

/* "row 17, 3.2 +- 0.4", where the result has it. */
static json_t *prediction(const char *label, const json_t *row, const json_t *mean, const json_t *sd) {
    if (!json_is_integer(row) || !json_is_number(mean) || !json_is_number(sd)) {
        return NULL;
    }
    /* A row that was measured exactly is known, not predicted without error. */
    if (!(json_number_value(sd) > 0)) {
        return json_pack(
            "{ss so}", "label", label, "value",
            json_sprintf("%.5g, as measured (row %lld)", json_number_value(mean), (long long)json_integer_value(row)));
    }
    return json_pack("{ss so}", "label", label, "value",
                     json_sprintf("%.5g \xc2\xb1 %.2g (row %lld)", json_number_value(mean), json_number_value(sd),
                                  (long long)json_integer_value(row)));
}

static void add_item(json_t *items, json_t *item) {
    if (item != NULL) {
        (void)json_array_append_new(items, item);
    }
}

/* What the model believes: the prediction with its uncertainty, whether there is signal at all, what is left. */
static void add_beliefs(json_t *items, const json_t *result) {
    const json_t *next = json_object_get(result, "next");
    const json_t *words = json_object_get(json_object_get(result, "evidence"), "words");
    const json_t *queries = json_object_get(result, "queries");
    const json_int_t left =
        json_integer_value(queries) - (json_int_t)json_array_size(json_object_get(result, "values"));
    add_item(items, prediction("best predicted", json_object_get(result, "recommended_row"),
                               json_object_get(result, "recommended_mean"), json_object_get(result, "recommended_sd")));
    const json_t *low = json_object_get(next, "low");
    const json_t *high = json_object_get(next, "high");
    if (json_is_number(low) && json_is_number(high)) {
        add_item(items, json_pack("{ss so}", "label", "most promising, not measured", "value",
                                  json_sprintf("%.5g to %.5g in 9 of 10 cases (row %lld)", json_number_value(low),
                                               json_number_value(high),
                                               (long long)json_integer_value(json_object_get(next, "row")))));
    }
    if (json_is_string(words)) {
        add_item(items, fact("signal", words));
    }
    if (json_is_integer(queries)) {
        add_item(items, json_pack("{ss sI}", "label", "left to ask", "value", left > 0 ? left : (json_int_t)0));
    }
}

/* What the release hides, and what it does not, in the manifest's own words. */
static bool add_words(json_t *sections, const json_t *result) {
    const char *protects = tacet__report_words(result, "protects");
    const char *uncovered = tacet__report_words(result, "uncovered");
    bool good = true;
    if (uncovered[0] != '\0') {
        good = append(sections, json_pack("{ss ss ss ss}", "kind", "text", "title", "What was not protected", "text",
                                          uncovered, "tone", "bad"));
    }
    if (good && protects[0] != '\0') {
        good = append(sections, json_pack("{ss ss ss ss}", "kind", "text", "title", "What was protected", "text",
                                          protects, "tone", "good"));
    }
    return good;
}

static bool add_run(json_t *sections, const char *name, const json_t *result) {
    static const char *const FIELDS[][2] = {{"best measured value", "best_value"},
                                            {"its row", "best_row"},
                                            {"modeler", "modeler"},
                                            {"protection", "protection"}};
    const json_t *release = json_object_get(result, "release");
    json_t *items = json_array();
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
        const json_t *value = json_object_get(result, FIELDS[i][1]);
        if (value != NULL && !json_is_object(value) && !json_is_array(value)) {
            (void)json_array_append_new(items, fact(FIELDS[i][0], value));
        }
    }
    add_beliefs(items, result);
    if (json_is_object(release)) {
        const bool is_private = json_is_true(json_object_get(release, "private"));
        char eps[TACET__ABOVE], delta[TACET__ABOVE];
        (void)json_array_append_new(
            items, json_pack("{ss so ss}", "label", "release", "value",
                             is_private ? json_sprintf(
                                              "eps %s, delta %s",
                                              tacet__above(eps, json_number_value(json_object_get(release, "eps"))),
                                              tacet__above(delta, json_number_value(json_object_get(release, "delta"))))
                                        : json_string("NOT DIFFERENTIALLY PRIVATE"),
                             "tone", is_private ? "good" : "bad"));
    }
    return append(sections, json_pack("{ss ss so}", "kind", "facts", "title", name, "items", items)) &&
           run_chart(sections, name, result) && add_maps(sections, result) && add_words(sections, result);
}

/* --- simulations: one chart and one table for all of them --------------------------------------------------------- */

static json_t *shared(const json_t *sections, const char *mark) {
    for (size_t i = 0; i < json_array_size(sections); i++) {
        json_t *section = json_array_get(sections, i);
        if (strcmp(tacet__report_words(section, "shared"), mark) == 0) {
            return section;
        }
    }
    return NULL;
}

/* Random and non-private runs spend nothing: eps says nothing about them. */
static bool spends(const json_t *result) {
    static const char *const FREE[] = {"random", "nonprivate", "uniform", "none"};
    bool free_of_charge = false;
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++) {
        free_of_charge = free_of_charge || strcmp(tacet__report_words(result, "mechanism"), FREE[i]) == 0 ||
                         strcmp(tacet__report_words(result, "algorithm"), FREE[i]) == 0;
    }
    return !free_of_charge;
}

/* What was simulated; `with_eps`: at what eps, too. */
static json_t *sim_name(const json_t *result, bool with_eps) {
    static const char *const FIELDS[] = {"model", "simulation", "scenario", "mechanism", "algorithm", "modeler"};
    char name[160] = "";
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
        const char *words = tacet__report_words(result, FIELDS[i]);
        const size_t at = strlen(name);
        if (words[0] != '\0' && at + strlen(words) + 3 < sizeof name) {
            memcpy(name + at, " ", 2);
            memcpy(name + at + (at > 0), words, strlen(words) + 1);
        }
    }
    const json_t *eps = json_object_get(result, "eps");
    return with_eps && spends(result) && json_is_number(eps)
               ? json_sprintf("%s, eps %.3g", name, json_number_value(eps))
               : json_string(name);
}

/* A regret is nowhere negative, so neither is its band; a mean below 0 is not a regret. */
static double low_end(double mean, double reach) {
    return mean >= 0 ? fmax(0, mean - reach) : mean - reach;
}

/* A band of two standard errors either way, where every point of the curve has one. */
static bool sim_band(json_t *series, const json_t *curve, const json_t *se) {
    const size_t count = json_array_size(curve);
    bool whole = json_is_array(se) && json_array_size(se) == count;
    for (size_t i = 0; whole && i < count; i++) {
        whole = json_is_number(json_array_get(curve, i)) && json_is_number(json_array_get(se, i));
    }
    if (!whole) {
        return true;
    }
    json_t *lower = json_array();
    json_t *upper = json_array();
    for (size_t i = 0; i < count; i++) {
        const double mean = json_number_value(json_array_get(curve, i));
        const double reach = 2 * json_number_value(json_array_get(se, i));
        (void)json_array_append_new(lower, json_real(low_end(mean, reach)));
        (void)json_array_append_new(upper, json_real(mean + reach));
    }
    const bool low = json_object_set_new(series, "lower", lower) == 0;
    return json_object_set_new(series, "upper", upper) == 0 && low;
}

static bool sim_chart(json_t *sections, const json_t *result) {
    const bool tenths = has(result, "regret_by_tenth");
    const json_t *curve = json_object_get(result, tenths ? "regret_by_tenth" : "regret_by_query");
    const char *mark = tenths ? "regret-by-round" : "regret-by-query";
    json_t *chart = shared(sections, mark);
    json_t *x = json_array();
    const double rounds = json_number_value(json_object_get(result, "rounds"));
    for (size_t i = 1; i <= json_array_size(curve); i++) {
        (void)json_array_append_new(x, json_real(tenths ? rounds * (double)i / 10 : (double)i));
    }
    json_t *series = json_pack("{so sO so}", "name", sim_name(result, true), "y", curve, "x", x);
    const json_t *se = json_object_get(result, tenths ? "regret_by_tenth_se" : "regret_by_query_se");
    if (series == NULL || !sim_band(series, curve, se)) {
        json_decref(series);
        return false;
    }
    if (chart != NULL) {
        return json_array_append_new(json_object_get(chart, "series"), series) == 0;
    }
    return append(sections,
                  json_pack("{ss ss ss s{ss} s{ss} s[o]}", "kind", "chart", "shared", mark, "title",
                            tenths ? "Cumulative regret" : "Simple regret", "x", "label", tenths ? "round" : "query",
                            "y", "label", tenths ? "mean cumulative regret" : "mean simple regret", "series", series));
}

/* Regret against eps, one series for each kind of simulation, in the order of eps. */
static bool utility_point(json_t *series, double eps, double mean, double se) {
    static const char *const FIELDS[] = {"x", "y", "lower", "upper"};
    const double values[] = {eps, mean, low_end(mean, 2 * se), mean + 2 * se};
    const json_t *x = json_object_get(series, "x");
    size_t at = 0;
    while (at < json_array_size(x) && json_number_value(json_array_get(x, at)) <= eps) {
        at++;
    }
    bool ok = true;
    for (size_t i = 0; i < 4; i++) {
        ok = json_array_insert_new(json_object_get(series, FIELDS[i]), at, json_real(values[i])) == 0 && ok;
    }
    return ok;
}

static const char UTILITY[] = "utility ";

/* Regrets compare within one problem only: each has its own chart. */
static void utility_mark(char *out, size_t size, const json_t *result) {
    const char *model = tacet__report_words(result, "model");
    (void)snprintf(out, size, "%s%.40s %.40s %.0f", UTILITY,
                   model[0] != '\0' ? model : tacet__report_words(result, "simulation"),
                   tacet__report_words(result, "scenario"),
                   json_number_value(json_object_get(result, has(result, "rounds") ? "rounds" : "queries")));
}

static bool sim_utility(json_t *sections, const json_t *result, const json_t *summary) {
    const double eps = json_number_value(json_object_get(result, "eps"));
    const double mean = json_number_value(json_object_get(summary, "mean"));
    const double se = json_number_value(json_object_get(summary, "se"));
    if ((spends(result) && !(eps > 0)) || !json_is_number(json_object_get(summary, "mean"))) {
        return true;
    }
    char mark[128];
    utility_mark(mark, sizeof mark, result);
    json_t *chart = shared(sections, mark);
    if (chart == NULL) {
        chart = json_pack("{ss ss ss s{ss ss} s{ss} s[] ss}", "kind", "chart", "shared", mark, "title",
                          "What privacy costs", "x", "label", "eps", "scale", "log", "y", "label",
                          "mean regret or error", "series", "note", "Bands are two standard errors either way.");
        if (!append(sections, chart)) {
            return false;
        }
    }
    json_t *all = json_object_get(chart, "series");
    json_t *name = sim_name(result, false);
    json_t *series = NULL;
    for (size_t i = 0; i < json_array_size(all) && series == NULL; i++) {
        json_t *candidate = json_array_get(all, i);
        series = json_equal(json_object_get(candidate, "name"), name) ? candidate : NULL;
    }
    bool ok = true;
    if (!spends(result)) { /* the same at every eps; of several the first */
        ok = series != NULL ||
             json_array_append_new(all, json_pack("{sO ss s[f] s[f] s[f]}", "name", name, "style", "level", "y", mean,
                                                  "lower", low_end(mean, 2 * se), "upper", mean + 2 * se)) == 0;
    } else {
        if (series == NULL) {
            series = json_pack("{sO s[] s[] s[] s[]}", "name", name, "x", "y", "lower", "upper");
            ok = json_array_append_new(all, series) == 0;
        }
        ok = ok && utility_point(series, eps, mean, se);
    }
    json_decref(name);
    return ok;
}

bool tacet__report_shown(const json_t *section) {
    const json_t *all = json_object_get(section, "series");
    if (strncmp(tacet__report_words(section, "shared"), UTILITY, sizeof UTILITY - 1) != 0) {
        return true;
    }
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *x = json_object_get(json_array_get(all, i), "x");
        if (json_array_size(x) > 1 &&
            json_number_value(json_array_get(x, 0)) < json_number_value(json_array_get(x, json_array_size(x) - 1))) {
            return true;
        }
    }
    return false;
}

static bool sim_row(json_t *sections, const json_t *result) {
    static const char *const MEANS[] = {"simple_regret", "regret", "error"};
    const json_t *summary = NULL;
    for (size_t i = 0; summary == NULL && i < sizeof MEANS / sizeof *MEANS; i++) {
        const json_t *value = json_object_get(result, MEANS[i]);
        summary = json_is_object(value) ? value : NULL;
    }
    json_t *table = shared(sections, "simulations");
    if (table == NULL) {
        table =
            json_pack("{ss ss ss s[s s s s s] s[]}", "kind", "table", "shared", "simulations", "title", "Simulations",
                      "columns", "run", "mean regret or error", "standard error", "trials", "seed", "rows");
        if (!append(sections, table)) {
            return false;
        }
    }
    if (!sim_utility(sections, result, summary)) {
        return false;
    }
    static const char *const CELLS[] = {"mean", "se", "trials", "seed"};
    json_t *row = json_pack("[o]", sim_name(result, true));
    for (size_t i = 0; i < 4; i++) {
        json_t *value = json_object_get(i < 2 ? summary : result, CELLS[i]);
        (void)json_array_append_new(row, json_is_number(value) ? json_incref(value) : json_null());
    }
    return row != NULL && json_array_append_new(json_object_get(table, "rows"), row) == 0;
}

/* --- audits ------------------------------------------------------------------------------------------------------- */

static bool add_row(json_t *sections, const char *mark, const char *title, const char *const *columns, json_t *row) {
    json_t *table = shared(sections, mark);
    if (table == NULL) {
        json_t *names = json_array();
        for (; *columns != NULL; columns++) {
            (void)json_array_append_new(names, json_string(*columns));
        }
        table =
            json_pack("{ss ss ss so s[]}", "kind", "table", "shared", mark, "title", title, "columns", names, "rows");
        if (!append(sections, table)) {
            json_decref(row);
            return false;
        }
    }
    return row != NULL && json_array_append_new(json_object_get(table, "rows"), row) == 0;
}

static json_t *cells(const json_t *result, const char *const *fields) {
    json_t *row = json_array();
    for (; *fields != NULL; fields++) {
        json_t *value = json_object_get(result, *fields);
        (void)json_array_append_new(
            row, value != NULL && !json_is_object(value) && !json_is_array(value) ? json_incref(value) : json_null());
    }
    return row;
}

static bool add_audit(json_t *sections, const json_t *result) {
    static const char *const COLUMNS[] = {"mechanism", "claimed eps", "claimed delta", "eps at least", "confidence",
                                          "verdict",   NULL};
    static const char *const FIELDS[] = {"target",  "claimed_eps", "claimed_delta", "eps_lower", "confidence",
                                         "verdict", NULL};
    return add_row(sections, "audits", "Audits: what an attack proves about eps", COLUMNS, cells(result, FIELDS));
}

static bool add_attack(json_t *sections, const json_t *result) {
    static const char *const COLUMNS[] = {"mechanism",           "every record read",      "part read",
                                          "error of the attack", "error of a blind guess", NULL};
    static const char *const FIELDS[] = {"mechanism", "succeeded", "recovered", "rms", "blind", NULL};
    return add_row(sections, "attacks", "Rebuilding records from a release", COLUMNS, cells(result, FIELDS));
}

/* --- anything else: its plain fields ------------------------------------------------------------------------------ */

static bool add_fields(json_t *sections, const char *name, const json_t *result) {
    json_t *rows = json_array();
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(size_t)result, key, value) {
        if (!json_is_object(value) && !json_is_array(value) && json_array_size(rows) < TACET__REPORT_ROWS) {
            (void)json_array_append_new(rows, json_pack("[sO]", key, value));
        }
    }
    return append(sections, json_pack("{ss ss s[s s] so}", "kind", "table", "title", name, "columns", "field", "value",
                                      "rows", rows));
}

/* --- plans, tuning, ledgers: each has its figure -------------------------------------------------------------------
 */

static bool add_figure(json_t *sections, const char *kind, const json_t *result) {
    json_t *figure = tacet__figure(kind, result);
    return figure == NULL || append(sections, figure);
}

/* The winner in its own units, and its score with the interval that holds with the stated probability. */
static bool add_tuned(json_t *sections, const char *name, const json_t *result) {
    const json_t *score = json_object_get(result, "score");
    json_t *items = json_array();
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(json_object_get(result, "best"), key, value) {
        (void)json_array_append_new(items, fact(key, value));
    }
    if (json_is_object(score)) {
        (void)json_array_append_new(
            items,
            json_pack("{ss so so}", "label", "its score", "value",
                      json_sprintf("%.4g", json_number_value(json_object_get(score, "value"))), "note",
                      json_sprintf("%.4g to %.4g with probability %.0f %%, on records that the search did not see",
                                   json_number_value(json_object_get(score, "lower")),
                                   json_number_value(json_object_get(score, "upper")),
                                   100 * json_number_value(json_object_get(score, "level")))));
    }
    return append(sections, json_pack("{ss ss so}", "kind", "facts", "title", name, "items", items)) &&
           add_figure(sections, "winners", result);
}

tacet_status tacet__report_result(json_t *sections, const char *name, const json_t *result, tacet_error *err) {
    bool ok = false;
    if (has(result, "released") && has(result, "claims")) {
        return tacet__report_ab(sections, name, result, err);
    }
    if (has(result, "list") && has(result, "budget_eps")) {
        ok = append(sections, json_pack("{ss ss sO}", "kind", "ledger", "title", "Ledger", "ledger", result)) &&
             add_figure(sections, "budget", result);
    } else if (has(result, "winners") && has(result, "best")) {
        ok = add_tuned(sections, name, result);
    } else if (has(result, "points") && has(result, "nonprivate")) {
        ok = add_fields(sections, name, result) && add_figure(sections, "utility", result);
    } else if (has(result, "rows") && has(result, "values") && has(result, "best_row")) {
        ok = add_run(sections, name, result);
    } else if ((has(result, "model") || has(result, "simulation")) && has(result, "trials")) {
        ok = (!(has(result, "regret_by_query") || has(result, "regret_by_tenth")) || sim_chart(sections, result)) &&
             sim_row(sections, result);
    } else if (has(result, "verdict") && has(result, "eps_lower")) {
        ok = add_audit(sections, result);
    } else if (has(result, "succeeded") && has(result, "recovered")) {
        ok = add_attack(sections, result);
    } else {
        ok = add_fields(sections, name, result);
    }
    return ok ? TACET_OK : tacet__fail(err, TACET_PARSE, "%s: its fields are not what the programs print", name);
}
