/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - what the programs print under --json, turned into sections of a report.
 * Ring: open. A result is known by its fields, not by its file's name. Cost: O(size of the result). */
#include "report/internal.h"

#include "core/fail.h"
#include "report/figure.h"
#include "report/figure_internal.h"
#include "report/disclosure_facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has_field(const json_t *object, const char *field) {
    return json_object_get(object, field) != NULL;
}

static bool is_plain(const json_t *value) {
    return value != NULL && !json_is_object(value) && !json_is_array(value);
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

/* "row 17", of several holders "row 17 of holder 2". */
static const char *row_words(char out[64], const json_t *row, const json_t *holder) {
    const int used = snprintf(out, 64, "row %lld", (long long)json_integer_value(row));
    if (json_is_integer(holder)) {
        (void)snprintf(out + used, 64 - (size_t)used, " of holder %lld", (long long)json_integer_value(holder));
    }
    return out;
}

/* "3.2 +- 0.4 (row 17)", where the result has it. */
static json_t *prediction(const char *label, const json_t *row, const json_t *holder, const json_t *mean,
                          const json_t *sd) {
    char words[64];
    if (!json_is_integer(row) || !json_is_number(mean) || !json_is_number(sd)) {
        return NULL;
    }
    /* A row that was measured exactly is known, not predicted without error. */
    char error[32] = ", as measured";
    if (json_number_value(sd) > 0) {
        (void)snprintf(error, sizeof error, " \xc2\xb1 %.2g", json_number_value(sd));
    }
    return json_pack("{ss so}", "label", label, "value",
                     json_sprintf("%.5g%s (%s)", json_number_value(mean), error, row_words(words, row, holder)));
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
    const bool spent = strcmp(tacet__report_words(result, "ended"), "budget") == 0; /* whatever was wished for */
    const json_int_t left =
        spent ? 0 : json_integer_value(queries) - (json_int_t)json_array_size(json_object_get(result, "values"));
    add_item(items, prediction("best predicted", json_object_get(result, "recommended_row"),
                               json_object_get(result, "recommended_holder"),
                               json_object_get(result, "recommended_mean"), json_object_get(result, "recommended_sd")));
    const json_t *low = json_object_get(next, "low");
    const json_t *high = json_object_get(next, "high");
    char row[64];
    if (json_is_number(low) && json_is_number(high)) {
        add_item(items,
                 json_pack(
                     "{ss so}", "label", "most promising, not measured", "value",
                     json_sprintf("%.5g to %.5g in 9 of 10 cases (%s)", json_number_value(low), json_number_value(high),
                                  row_words(row, json_object_get(next, "row"), json_object_get(next, "holder")))));
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
    static const char *const WORDS[][3] = {{"uncovered", "What was not protected", "bad"},
                                           {"protects", "What was protected", "good"}};
    bool good = true;
    for (size_t i = 0; i < 2 && good; i++) {
        const char *text = tacet__report_words(result, WORDS[i][0]);
        good = text[0] == '\0' || append(sections, json_pack("{ss ss ss ss}", "kind", "text", "title", WORDS[i][1],
                                                             "text", text, "tone", WORDS[i][2]));
    }
    return good;
}

static void add_release(json_t *items, const json_t *release, const char *label) {
    const bool is_private = json_is_true(json_object_get(release, "private"));
    char eps[TACET__ABOVE], delta[TACET__ABOVE];
    if (json_is_object(release)) {
        (void)json_array_append_new(
            items, json_pack("{ss so ss ss}", "label", label, "value",
                             is_private ? json_sprintf(
                                              "eps %s, delta %s",
                                              tacet__above(eps, json_number_value(json_object_get(release, "eps"))),
                                              tacet__above(delta, json_number_value(json_object_get(release, "delta"))))
                                        : json_string("NOT DIFFERENTIALLY PRIVATE"),
                             "tone", is_private ? "good" : "bad", "note", tacet__report_words(release, "claim")));
    }
}

static bool add_run(json_t *sections, const char *name, const json_t *result) {
    static const char *const FIELDS[][2] = {{"best measured value", "best_value"},
                                            {"its row", "best_row"},
                                            {"modeler", "modeler"},
                                            {"protection", "protection"}};
    const json_t *holders = json_object_get(result, "holders");
    json_t *items = json_array();
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
        const json_t *value = json_object_get(result, FIELDS[i][1]);
        if (is_plain(value)) {
            (void)json_array_append_new(items, fact(FIELDS[i][0], value));
        }
    }
    if (json_is_integer(json_object_get(result, "best_holder"))) {
        (void)json_array_append_new(items, fact("of holder", json_object_get(result, "best_holder")));
    }
    add_beliefs(items, result);
    add_release(items, json_object_get(result, "release"), "release");
    for (size_t h = 0; h < json_array_size(holders); h++) {
        char label[40];
        (void)snprintf(label, sizeof label, "release of holder %zu", h + 1);
        add_release(items, json_object_get(json_array_get(holders, h), "release"), label);
    }
    return append(sections, json_pack("{ss ss so}", "kind", "facts", "title", name, "items", items)) &&
           run_chart(sections, name, result) && add_maps(sections, result) && add_words(sections, result);
}

/* --- what several results share ----------------------------------------------------------------------------------- */

static const char SIMULATIONS[] = "simulations";

static json_t *shared(const json_t *sections, const char *mark) {
    for (size_t i = 0; i < json_array_size(sections); i++) {
        json_t *section = json_array_get(sections, i);
        if (strcmp(tacet__report_words(section, "shared"), mark) == 0) {
            return section;
        }
    }
    return NULL;
}

/* All runs together, where those before were. */
static bool add_simulation(json_t *sections, const json_t *result) {
    json_t *runs = json_array();
    size_t at = json_array_size(sections);
    for (size_t i = at; i-- > 0;) {
        if (strcmp(tacet__report_words(json_array_get(sections, i), "shared"), SIMULATIONS) == 0) {
            (void)json_array_extend(runs, json_object_get(json_array_get(sections, i), "runs"));
            (void)json_array_remove(sections, i);
            at = i;
        }
    }
    (void)json_array_append(runs, (json_t *)(size_t)result); /* counted, not changed */
    json_t *made = tacet__report_simulations(runs);
    bool good = json_array_size(made) > 0;
    for (size_t i = 0; i < json_array_size(made); i++) {
        json_t *section = json_array_get(made, i);
        (void)json_object_set_new(section, "shared", json_string(SIMULATIONS));
        good = json_array_insert(sections, at + i, section) == 0 && good;
    }
    /* The table, which is last, keeps them for the next. */
    good = json_object_set(json_array_get(made, json_array_size(made) - 1), "runs", runs) == 0 && good;
    json_decref(made);
    json_decref(runs);
    return good;
}

/* --- audits ------------------------------------------------------------------------------------------------------- */

/* A table that results of a kind share; a column each of a result's plain fields. */
typedef struct shared_table {
    const char *mark, *title;
    size_t count;
    const char *columns[6], *fields[6];
} shared_table;

static const shared_table AUDITS = {
    "audits",
    "Audits: what an attack proves about eps",
    6,
    {"mechanism", "claimed eps", "claimed delta", "eps at least", "confidence", "verdict"},
    {"target", "claimed_eps", "claimed_delta", "eps_lower", "confidence", "verdict"}};
static const shared_table ATTACKS = {
    "attacks",
    "Rebuilding records from a release",
    5,
    {"mechanism", "every record read", "part read", "error of the attack", "error of a blind guess"},
    {"mechanism", "succeeded", "recovered", "rms", "blind"}};

static bool add_row(json_t *sections, const shared_table *kind, const json_t *result) {
    json_t *table = shared(sections, kind->mark), *row = json_array();
    if (table == NULL) {
        json_t *names = json_array();
        for (size_t i = 0; i < kind->count; i++) {
            (void)json_array_append_new(names, json_string(kind->columns[i]));
        }
        table = json_pack("{ss ss ss so s[]}", "kind", "table", "shared", kind->mark, "title", kind->title, "columns",
                          names, "rows");
        (void)append(sections, table);
    }
    for (size_t i = 0; i < kind->count; i++) {
        json_t *value = json_object_get(result, kind->fields[i]);
        (void)json_array_append_new(row, is_plain(value) ? json_incref(value) : json_null());
    }
    return json_array_append_new(json_object_get(table, "rows"), row) == 0;
}

/* --- anything else: its plain fields ------------------------------------------------------------------------------ */

static bool add_fields(json_t *sections, const char *name, const json_t *result) {
    json_t *rows = json_array();
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(size_t)result, key, value) {
        if (is_plain(value) && json_array_size(rows) < TACET__REPORT_ROWS) {
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
    char eps[TACET__ABOVE];
    if (json_is_false(json_object_get(result, "private"))) {
        (void)json_array_append_new(
            items, json_pack("{ss ss ss}", "label", "eps", "value", "none", "note", TACET_MANIFEST_STAMP));
    } else {
        (void)json_array_append_new(
            items,
            json_pack("{ss ss so}", "label", "eps", "value",
                      tacet__above(eps, json_number_value(json_object_get(result, "eps"))), "note",
                      json_sprintf("for each of %" JSON_INTEGER_FORMAT " records, whatever was tried; what leaves "
                                   "is the winners and this score",
                                   json_integer_value(json_object_get(result, "records")))));
    }
    return append(sections, json_pack("{ss ss so}", "kind", "facts", "title", name, "items", items)) &&
           add_figure(sections, "winners", result);
}

tacet_status tacet__report_result(json_t *sections, const char *name, const json_t *result, tacet_error *err) {
    bool ok = false;
    if (has_field(result, "released") && has_field(result, "claims")) {
        return tacet__report_ab(sections, name, result, err);
    }
    if (has_field(result, "list") && has_field(result, "budget_eps")) {
        ok = append(sections, json_pack("{ss ss sO}", "kind", "ledger", "title", "Ledger", "ledger", result)) &&
             add_figure(sections, "budget", result);
    } else if (has_field(result, "winners") && has_field(result, "best")) {
        ok = add_tuned(sections, name, result);
    } else if (has_field(result, "points") && has_field(result, "nonprivate")) {
        ok = add_fields(sections, name, result) && add_figure(sections, "utility", result);
    } else if (has_field(result, "rows") && has_field(result, "values") && has_field(result, "best_row")) {
        ok = add_run(sections, name, result);
    } else if ((has_field(result, "model") || has_field(result, "simulation")) && has_field(result, "trials")) {
        ok = add_simulation(sections, result);
    } else if (has_field(result, "verdict") && has_field(result, "eps_lower")) {
        ok = add_row(sections, &AUDITS, result);
    } else if (has_field(result, "succeeded") && has_field(result, "recovered")) {
        ok = add_row(sections, &ATTACKS, result);
    } else {
        ok = add_fields(sections, name, result);
    }
    return ok ? TACET_OK : tacet__fail(err, TACET_PARSE, "%s: its fields are not what the programs print", name);
}
