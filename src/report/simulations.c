/* SPDX-License-Identifier: Apache-2.0 */
/* simulations.c - what simulations printed, all together: regret by query or round, regret against eps problem by
 * problem, and a table. Ring: open. Cost: O(runs squared + size of the results). */
#include "report/internal.h"

#include "report/figure.h"

#include <stdio.h>
#include <string.h>

/* Random and non-private runs spend nothing: eps says nothing about them. */
static bool spends(const json_t *run) {
    static const char *const FREE[] = {"random", "nonprivate", "uniform", "none"};
    bool free_of_charge = false;
    for (size_t i = 0; i < sizeof FREE / sizeof *FREE; i++) {
        free_of_charge = free_of_charge || strcmp(tacet__report_words(run, "mechanism"), FREE[i]) == 0 ||
                         strcmp(tacet__report_words(run, "algorithm"), FREE[i]) == 0;
    }
    return !free_of_charge;
}

/* What was simulated; `with_eps`: at what eps, too. */
static json_t *name_of(const json_t *run, bool with_eps) {
    static const char *const FIELDS[] = {"model", "simulation", "scenario", "mechanism", "algorithm", "modeler"};
    char name[160] = "";
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
        const char *words = tacet__report_words(run, FIELDS[i]);
        const size_t at = strlen(name);
        if (words[0] != '\0' && at + strlen(words) + 3 < sizeof name) {
            (void)snprintf(name + at, sizeof name - at, "%s%s", at > 0 ? " " : "", words);
        }
    }
    const json_t *eps = json_object_get(run, "eps");
    return with_eps && spends(run) && json_is_number(eps) ? json_sprintf("%s, eps %.3g", name, json_number_value(eps))
                                                          : json_string(name);
}

/* The mean of what a run lost, with its standard error; NULL: it says none. */
static const json_t *loss_of(const json_t *run) {
    static const char *const MEANS[] = {"simple_regret", "regret", "error"};
    for (size_t i = 0; i < sizeof MEANS / sizeof *MEANS; i++) {
        const json_t *value = json_object_get(run, MEANS[i]);
        if (json_is_object(value)) {
            return value;
        }
    }
    return NULL;
}

/* Appends a figure, if there is one. */
static void add_figure(json_t *out, const char *kind, json_t *data) {
    json_t *made = tacet__figure(kind, data);
    if (made != NULL) {
        (void)json_array_append_new(out, made);
    }
    json_decref(data);
}

static void add_regret(json_t *out, const json_t *runs, bool tenths) {
    json_t *curves = json_array();
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        json_t *curve = json_object_get(run, tenths ? "regret_by_tenth" : "regret_by_query");
        json_t *se = json_object_get(run, tenths ? "regret_by_tenth_se" : "regret_by_query_se");
        if (curve != NULL) {
            (void)json_array_append_new(curves,
                                        json_pack("{so sO sO? sO?}", "name", name_of(run, true), "mean", curve, "se",
                                                  se, "rounds", tenths ? json_object_get(run, "rounds") : NULL));
        }
    }
    add_figure(out, "regret", json_pack("{so}", "runs", curves));
}

/* Regrets compare within one problem only: each has its own chart. */
static void problem_of(char *out, size_t size, const json_t *run) {
    const char *model = tacet__report_words(run, "model");
    const json_t *rounds = json_object_get(run, "rounds");
    (void)snprintf(out, size, "%.40s %.40s %.0f", model[0] != '\0' ? model : tacet__report_words(run, "simulation"),
                   tacet__report_words(run, "scenario"),
                   json_number_value(rounds != NULL ? rounds : json_object_get(run, "queries")));
}

/* The series of a kind of run; made where it is new. */
static json_t *series_of(json_t *all, const json_t *run) {
    json_t *name = name_of(run, false);
    json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(all) && found == NULL; i++) {
        json_t *one = json_array_get(all, i);
        found = json_equal(json_object_get(one, "name"), name) ? one : NULL;
    }
    if (found == NULL) {
        found = json_pack("{sO}", "name", name);
        (void)json_array_append_new(all, found);
    }
    json_decref(name);
    return found;
}

/* In the order of eps; what spends nothing is the same at every eps, and of several the first counts. */
static void add_loss(json_t *all, const json_t *run) {
    json_t *loss = (json_t *)(size_t)loss_of(run); /* counted, not changed */
    const double eps = json_number_value(json_object_get(run, "eps"));
    if ((spends(run) && !(eps > 0)) || !json_is_number(json_object_get(loss, "mean"))) {
        return;
    }
    json_t *one = series_of(all, run);
    if (!spends(run)) {
        (void)json_object_update_missing(one, loss);
        return;
    }
    json_t *points = json_object_get(one, "points");
    if (points == NULL) {
        points = json_array();
        (void)json_object_set_new(one, "points", points);
    }
    size_t at = 0;
    while (at < json_array_size(points) &&
           json_number_value(json_object_get(json_array_get(points, at), "eps")) <= eps) {
        at++;
    }
    json_t *point = json_copy(loss);
    (void)json_object_set_new(point, "eps", json_real(eps));
    (void)json_array_insert_new(points, at, point);
}

static void add_utility(json_t *out, const json_t *runs) {
    json_t *problems = json_object();
    const char *problem = NULL;
    json_t *all = NULL;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        char name[128];
        problem_of(name, sizeof name, json_array_get(runs, i));
        if (json_object_get(problems, name) == NULL) {
            (void)json_object_set_new(problems, name, json_array());
        }
        add_loss(json_object_get(problems, name), json_array_get(runs, i));
    }
    json_object_foreach(problems, problem, all) {
        add_figure(out, "utility", json_pack("{sO}", "runs", all));
    }
    json_decref(problems);
}

static json_t *table_of(const json_t *runs) {
    static const char *const CELLS[] = {"mean", "se", "trials", "seed"};
    json_t *rows = json_array();
    for (size_t k = 0; k < json_array_size(runs); k++) {
        const json_t *run = json_array_get(runs, k);
        json_t *row = json_pack("[o]", name_of(run, true));
        for (size_t i = 0; i < 4; i++) {
            json_t *value = json_object_get(i < 2 ? loss_of(run) : run, CELLS[i]);
            (void)json_array_append_new(row, json_is_number(value) ? json_incref(value) : json_null());
        }
        (void)json_array_append_new(rows, row);
    }
    return json_pack("{ss ss s[s s s s s] so}", "kind", "table", "title", "Simulations", "columns", "run",
                     "mean regret or error", "standard error", "trials", "seed", "rows", rows);
}

json_t *tacet__report_simulations(const json_t *runs) {
    json_t *out = json_array();
    add_regret(out, runs, false);
    add_regret(out, runs, true);
    add_utility(out, runs);
    (void)json_array_append_new(out, table_of(runs));
    return out;
}
