/* SPDX-License-Identifier: Apache-2.0 */
/* plan_print.c - a plan as a table, as JSON and as a page. Ring: programs; made-up functions. */
#include "plan.h"
#include "repro.h"
#include "core/fail.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/report/report.h>

static const char *verdict(const plan_state *p, const plan_point *at) {
    if (at == &p->random || at == &p->plain) {
        return "";
    }
    return !at->better ? (at->hopeless ? "no better than random" : "not settled: no better than random so far")
           : at->close == PLAN_CLOSE     ? "close to non-private"
           : at->close == PLAN_NOT_CLOSE ? "better than random"
                                         : "better than random, perhaps close to non-private";
}

static json_t *point_json(const plan_point *at) {
    const bool random = !isfinite(at->eps) || !(at->eps > 0);
    return cli_object("eps mean se gain gain_se better_than_random close_to_nonprivate beyond_90_percent "
                      "beyond_90_percent_se",
                      J(random ? NULL : cli_real(at->eps)), J(at->mean), J(at->se), J(at->gain), J(at->gain_se),
                      JB(at->better), J(at->close == PLAN_OPEN ? NULL : cli_yes(at->close == PLAN_CLOSE)), J(at->spare),
                      J(at->spare_se));
}

/* What people read: random, every eps, and the reference; a list of texts each. */
static json_t *rows(const plan_state *p) {
    json_t *all = json_array();
    for (size_t i = 0; i < p->count + 2; i++) {
        const plan_point *at = i == 0 ? &p->random : i <= p->count ? &p->at[i - 1] : &p->plain;
        char eps[32], mean[48], gain[48] = "";
        (void)snprintf(eps, sizeof eps, i == 0 ? "random" : i <= p->count ? "%g" : "non-private", at->eps);
        repro_number(mean, sizeof mean, at->mean, at->se);
        if (i > 0) {
            repro_number(gain, sizeof gain, at->gain, at->gain_se);
        }
        (void)json_array_append_new(all, cli_object("eps mean gain verdict", J((char *)eps), J((char *)mean),
                                                    J((char *)gain), J(verdict(p, at))));
    }
    return all;
}

static json_t *eps_at(const plan_state *p, size_t i) {
    return i < p->count ? cli_real(p->at[i].eps) : NULL;
}

static json_t *verdict_json(const plan_state *p) {
    const plan_point *at = &p->at[0];
    return cli_object("worth_it share_of_random share_se units_times_smaller queries",
                      J(plan_is_settled(at) ? cli_yes(at->better) : NULL), J(p->share), J(p->share_se),
                      J(p->units > 0 ? cli_whole(p->units) : NULL), J(p->queries > 0 ? cli_whole(p->queries) : NULL));
}

json_t *plan_json(const plan_state *p) {
    char words[200];
    json_t *points = json_array(), *close = NULL;
    plan_words(words, sizeof words, &p->problem);
    for (size_t i = 0; i < p->count; i++) {
        (void)json_array_append_new(points, point_json(&p->at[i]));
    }
    if (plan_tells_share(p)) { /* the eps from which on 90 % are kept lies between; null: above all that were tried */
        close = cli_object("low high", J(eps_at(p, p->close_low)), J(eps_at(p, p->close_high)));
    }
    return cli_object(
        "plan problem delta points random advice nonprivate trials seed seconds private chance close_from "
        "settled verdict? _rows _quantity _clear",
        J(plan_model_name(p->problem.model)), J((char *)words), J(plan_delta(&p->problem)), J(points),
        J(point_json(&p->random)), J((const char *)p->advice), J(point_json(&p->plain)), J(p->problem.trials),
        J(p->problem.seed), J(p->seconds), JB(false), J(cli_object("low high", J(p->low), J(p->high))), J(close),
        JB(p->settled), J(p->share > 0 ? verdict_json(p) : NULL), J(rows(p)), J(plan_quantity(p->problem.model)),
        J(PLAN_CLEAR));
}

int plan_tell(const plan_state *p) {
    return cli_tell(
        plan_json(p),
        "{problem}\n\neps           {_quantity:-25}  gain over random           \n"
        "{*_rows|{eps:-12}  {mean:=25}  {gain:=25}  {verdict}\n}\n{advice}\n"
        "The band of chance: nine of ten random players end between {chance.low:.3g} and {chance.high:.3g}.\n\n"
        "± is one standard error over {trials} made-up functions. Better than random: the paired gain exceeds two of "
        "its standard errors (one-sided, about 2.5 % each); close: it keeps 90 % of the non-private gain, by "
        "{_clear:.3g} standard errors. Seeded noise: not private.\n");
}

static json_t *table(const json_t *result) {
    static const char *const FIELDS[] = {"eps", "mean", "gain", "verdict"};
    const json_t *from = json_object_get(result, "_rows");
    json_t *all = json_array();
    for (size_t i = 0; i < json_array_size(from); i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < sizeof FIELDS / sizeof *FIELDS; k++) {
            (void)json_array_append(row, json_object_get(json_array_get(from, i), FIELDS[k]));
        }
        (void)json_array_append_new(all, row);
    }
    return json_pack("{ss ss s[s O s s] so ss}", "kind", "table", "title", "The numbers", "columns", "eps",
                     json_object_get(result, "_quantity"), "gain over random", "verdict", "rows", all, "note",
                     "Better than random: the paired gain exceeds two of its standard errors. Close to non-private: at "
                     "least 90 % of the non-private gain is kept, by 2.5 standard errors; perhaps: that is open. "
                     "Simulated with seeded noise: not private.");
}

/* The figure that `tacet report` and Python draw of the same. */
static json_t *chart(const json_t *result, tacet_error *err) {
    char *data = json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(17)), *figure = NULL;
    const bool drawn = data != NULL && tacet_figure(&figure, "utility", data, err) == TACET_OK;
    free(data);
    return drawn ? cli_loads(figure) : NULL;
}

/* A page made of this document ("tacet-report-1"), which is taken over; NULL: NO_MEMORY. */
static tacet_status write_page(const char *path, json_t *document, tacet_error *err) {
    char *json = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    tacet_report *report = NULL;
    char *text = NULL;
    size_t length = 0;
    json_decref(document);
    tacet_status status = json == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for the report")
                                       : tacet_report_create(&report, err);
    TACET_THEN(status, tacet_report_add(report, "plan", json, strlen(json), err));
    TACET_THEN(status, tacet_report_html(report, &text, &length, err));
    if (status == TACET_OK) {
        FILE *file = fopen(path, "wbe");
        const bool ok = file != NULL && fwrite(text, 1, length, file) == length;
        if (file == NULL || fclose(file) != 0 || !ok) {
            status = tacet__fail(err, TACET_IO, "%.160s: %s", path, strerror(errno));
        }
    }
    tacet_report_free(report);
    free(json);
    free(text);
    return status;
}

tacet_status plan_page(const plan_state *p, const char *path, tacet_error *err) {
    json_t *result = plan_json(p);
    json_t *document =
        json_pack("{ss ss sO s[{ss ss sO ss} o o]}", "format", "tacet-report-1", "title", "Plan", "subtitle",
                  json_object_get(result, "problem"), "sections", "kind", "text", "title", "Advice", "text",
                  json_object_get(result, "advice"), "tone", "note", chart(result, err), table(result));
    json_decref(result);
    return write_page(path, document, err);
}
