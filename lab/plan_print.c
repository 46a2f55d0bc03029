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

/* printf counts bytes, and ± has two. */
static void print_row(const char *name, const char *mean, const char *gain, const char *verdict_words) {
    const int wide = 25;
    printf("%-12s  %-*s  %-*s  %s\n", name, strstr(mean, "±") != NULL ? wide + 1 : wide, mean,
           strstr(gain, "±") != NULL ? wide + 1 : wide, gain, verdict_words);
}

void plan_print(const plan_state *p) {
    char words[200];
    plan_words(words, sizeof words, &p->problem);
    printf("%s\n\n", words);
    print_row("eps", plan_quantity(p->problem.model), "gain over random", "");
    for (size_t i = 0; i < p->count + 2; i++) {
        const plan_point *at = i == 0 ? &p->random : i <= p->count ? &p->at[i - 1] : &p->plain;
        char eps[32], mean[48], gain[48] = "";
        (void)snprintf(eps, sizeof eps, i == 0 ? "random" : i <= p->count ? "%g" : "non-private", at->eps);
        repro_number(mean, sizeof mean, at->mean, at->se);
        if (i > 0) {
            repro_number(gain, sizeof gain, at->gain, at->gain_se);
        }
        print_row(eps, mean, gain, verdict(p, at));
    }
    printf("\n%s\n", p->advice);
    printf("The band of chance: nine of ten random players end between %.3g and %.3g.\n\n", p->low, p->high);
    printf("± is one standard error over %zu made-up functions. Better than random: the paired gain exceeds two of its "
           "standard errors (one-sided, about 2.5 %% each); close: it keeps 90 %% of the non-private gain, by %g "
           "standard errors. Seeded noise: not private.\n",
           p->problem.trials, PLAN_CLEAR);
}

static json_t *point_json(const plan_point *at) {
    json_t *close = at->close == PLAN_OPEN ? json_null() : json_boolean(at->close == PLAN_CLOSE);
    return json_pack("{so so so so so sb so so so}", "eps",
                     isfinite(at->eps) && at->eps > 0 ? cli_real(at->eps) : json_null(), "mean", cli_real(at->mean),
                     "se", cli_real(at->se), "gain", cli_real(at->gain), "gain_se", cli_real(at->gain_se),
                     "better_than_random", at->better, "close_to_nonprivate", close, "beyond_90_percent",
                     cli_real(at->spare), "beyond_90_percent_se", cli_real(at->spare_se));
}

/* The eps from which on 90 % are kept lies from low to high; null: above all that were tried. */
static json_t *close_json(const plan_state *p) {
    if (!plan_tells_share(p)) {
        return json_null();
    }
    return json_pack("{so so}", "low", p->close_low < p->count ? cli_real(p->at[p->close_low].eps) : json_null(),
                     "high", p->close_high < p->count ? cli_real(p->at[p->close_high].eps) : json_null());
}

json_t *plan_json(const plan_state *p) {
    char words[200];
    plan_words(words, sizeof words, &p->problem);
    json_t *points = json_array();
    for (size_t i = 0; i < p->count; i++) {
        (void)json_array_append_new(points, point_json(&p->at[i]));
    }
    json_t *result =
        json_pack("{ss ss so so so ss so sI sI so sb}", "plan", plan_model_name(p->problem.model), "problem", words,
                  "delta", cli_real(plan_delta(&p->problem)), "points", points, "random", point_json(&p->random),
                  "advice", p->advice, "nonprivate", point_json(&p->plain), "trials", (json_int_t)p->problem.trials,
                  "seed", (json_int_t)p->problem.seed, "seconds", cli_real(p->seconds), "private", 0);
    if (result != NULL) {
        (void)json_object_set_new(result, "chance",
                                  json_pack("{so so}", "low", cli_real(p->low), "high", cli_real(p->high)));
        (void)json_object_set_new(result, "close_from", close_json(p));
        (void)json_object_set_new(result, "settled", json_boolean(p->settled));
    }
    if (result != NULL && p->share > 0) {
        const plan_point *at = &p->at[0];
        (void)json_object_set_new(
            result, "verdict",
            json_pack("{so so so so so}", "worth_it", plan_is_settled(at) ? json_boolean(at->better) : json_null(),
                      "share_of_random", cli_real(p->share), "share_se", cli_real(p->share_se), "units_times_smaller",
                      p->units > 0 ? json_integer((json_int_t)p->units) : json_null(), "queries",
                      p->queries > 0 ? json_integer((json_int_t)p->queries) : json_null()));
    }
    return result;
}

static json_t *level(const char *name, const plan_point *at) {
    return json_pack("{ss ss s[f] s[f] s[f]}", "name", name, "style", "level", "y", at->mean, "lower",
                     fmax(0, at->mean - 2 * at->se), "upper", at->mean + 2 * at->se);
}

static json_t *chart(const plan_state *p) {
    json_t *x = json_array();
    json_t *y = json_array();
    json_t *lower = json_array();
    json_t *upper = json_array();
    for (size_t i = 0; i < p->count; i++) {
        const plan_point *at = &p->at[i];
        (void)json_array_append_new(x, json_real(at->eps));
        (void)json_array_append_new(y, json_real(at->mean));
        (void)json_array_append_new(lower, json_real(fmax(0, at->mean - 2 * at->se)));
        (void)json_array_append_new(upper, json_real(at->mean + 2 * at->se));
    }
    json_t *series = json_pack("[{ss so so so so} o o]", "name", "private", "x", x, "y", y, "lower", lower, "upper",
                               upper, level("random", &p->random), level("non-private", &p->plain));
    return json_pack("{ss ss s{ss ss} s{ss} so ss}", "kind", "chart", "title", "Regret against eps", "x", "label",
                     "eps", "scale", "log", "y", "label", plan_quantity(p->problem.model), "series", series, "note",
                     "Means over made-up functions; bands are two standard errors either way.");
}

static json_t *table(const plan_state *p) {
    json_t *rows = json_array();
    for (size_t i = 0; i < p->count + 2; i++) {
        const plan_point *at = i == 0 ? &p->random : i <= p->count ? &p->at[i - 1] : &p->plain;
        char eps[32], mean[48], gain[48];
        (void)snprintf(eps, sizeof eps, i == 0 ? "random" : i <= p->count ? "%g" : "non-private", at->eps);
        repro_number(mean, sizeof mean, at->mean, at->se);
        repro_number(gain, sizeof gain, at->gain, at->gain_se);
        (void)json_array_append_new(rows, json_pack("[s s s s]", eps, mean, i == 0 ? "" : gain, verdict(p, at)));
    }
    return json_pack("{ss ss s[s s s s] so ss}", "kind", "table", "title", "The numbers", "columns", "eps",
                     plan_quantity(p->problem.model), "gain over random", "verdict", "rows", rows, "note",
                     "Better than random: the paired gain exceeds two of its standard errors. Close to non-private: at "
                     "least 90 % of the non-private gain is kept, by 2.5 standard errors; perhaps: that is open. "
                     "Simulated with seeded noise: not private.");
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
    char words[200];
    plan_words(words, sizeof words, &p->problem);
    json_t *document =
        json_pack("{ss ss ss s[{ss ss ss ss} o o]}", "format", "tacet-report-1", "title", "Plan", "subtitle", words,
                  "sections", "kind", "text", "title", "Advice", "text", p->advice, "tone", "note", chart(p), table(p));
    return write_page(path, document, err);
}
