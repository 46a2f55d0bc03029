/* SPDX-License-Identifier: Apache-2.0 */
/* ab.c - a model that was learnt from a log, as sections for whoever decides: what to show to whom, what that earns,
 * what was compared, what is protected. Ring: open. Everything is read from the model's own posterior, which is
 * computed again from the released numbers. Cost: that of the posterior. */
#include "ab/shared/plan.h"
#include "report/internal.h"

#include "core/fail.h"
#include "core/json_text.h"
#include "report/figure_internal.h"
#include "report/disclosure_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/ab/open/model.h>

enum { NAME = 256, BARS = 12, ROWS = 400 };

static bool append(json_t *sections, json_t *section) {
    return section != NULL && json_array_append_new(sections, section) == 0;
}

/* The end of a bin of such a width, with three digits of the width: enough to tell bins apart. */
static double rounded_end(double end, double width) {
    const double power = fmax(pow(10, 2 - floor(log10(width))), 1);
    const double near = rint(end * power) / power;
    return isfinite(near) ? near : end;
}

/* What people call level `number` of column j: its name, or the ends of a bin. */
static void name_level(char *out, size_t size, const tacet_ab_facts *f, size_t number, size_t j) {
    const tacet_ab_plan *plan = &f->plan;
    char low[TACET_SPACE_NAME], high[TACET_SPACE_NAME];
    const tacet_space_column *c = &f->space->columns[j];
    if (!plan->number[j]) {
        tacet_space_text(c, low, tacet_ab_plan_value(plan, number, j));
        (void)snprintf(out, size, "%s", low);
        return;
    }
    const double count = (double)plan->levels[j];
    const double place = tacet_ab_plan_place(plan, j, tacet_ab_plan_value(plan, number, j));
    const double bin = fmin(floor(place * count), count - 1);
    const double from = tacet_ab_plan_at(plan, j, bin / count), to = tacet_ab_plan_at(plan, j, (bin + 1) / count);
    const bool whole = plan->scale[j].whole;
    tacet_space_text(c, low, whole ? from : rounded_end(from, to - from));
    tacet_space_text(c, high, whole ? to : rounded_end(to, to - from));
    (void)snprintf(out, size, "%s to %s", low, high);
}

/* The levels of some columns; of many as many as there is room for. */
static void name_columns(char out[NAME], const tacet_ab_facts *f, size_t number, size_t first, size_t count) {
    out[0] = '\0';
    for (size_t j = 0; j < count && strlen(out) + 2 < NAME; j++) {
        char level[2 * TACET_SPACE_NAME + 8];
        name_level(level, sizeof level, f, number, first + j);
        (void)snprintf(out + strlen(out), NAME - strlen(out), "%s%.100s", j > 0 ? ", " : "", level);
    }
}

static void name_action(char out[NAME], const tacet_ab_facts *f, size_t a) {
    name_columns(out, f, a, 0, f->plan.action_columns);
}

static void name_context(char out[NAME], const tacet_ab_facts *f, size_t c) {
    name_columns(out, f, c, f->plan.action_columns, f->plan.columns);
}

static const char *words_of_estimate(const tacet_ab_estimate *e) {
    return e->lower > 0 ? "better" : e->upper < 0 ? "worse" : "not told apart";
}

static bool add_answer(json_t *sections, const char *name, const tacet_ab_facts *f, const tacet_ab_posterior *p) {
    char single[NAME], gain[256];
    name_action(single, f, p->single);
    if (p->rule_is_single) {
        (void)snprintf(gain, sizeof gain,
                       "In every group of visitors the same is best, so there is nothing to gain from "
                       "telling them apart.");
    } else {
        (void)snprintf(gain, sizeof gain, "That is %.4g to %.4g more than showing one for all: %s.",
                       p->over_single.lower, p->over_single.upper, words_of_estimate(&p->over_single));
    }
    return append(
        sections,
        json_pack(
            "{ss ss so ss}", "kind", "text", "title", name, "text",
            json_sprintf("The rule below earns between %.4g and %.4g a row. The best for all is %s, which earns "
                         "between %.4g and %.4g. The log earned between %.4g and %.4g.\n\n%s Against the log it is "
                         "%.4g to %.4g more: %s.%s",
                         p->rule_value.lower, p->rule_value.upper, single, p->single_value.lower, p->single_value.upper,
                         p->logged_value.lower, p->logged_value.upper, gain, p->over_logged.lower, p->over_logged.upper,
                         words_of_estimate(&p->over_logged),
                         f->plan.money ? " Rewards are counted up to the number named under facts." : ""),
            "note",
            "95 % intervals. A difference is called better or worse only where its whole interval lies on one side "
            "of 0."));
}

static void add_bar(json_t *items, const char *label, const tacet_ab_estimate *e, double lo, double whole) {
    (void)json_array_append_new(items,
                                json_pack("{ss sf sf so}", "label", label, "value", fmax(e->mean - lo, 0), "of", whole,
                                          "note", json_sprintf("%.4g (%.4g to %.4g)", e->mean, e->lower, e->upper)));
}

static bool add_values(json_t *sections, const tacet_ab_facts *f, const tacet_ab_posterior *p) {
    json_t *items = json_array();
    double most = fmax(p->rule_value.upper, p->logged_value.upper);
    for (size_t a = 0; a < p->actions; a++) {
        most = fmax(most, p->action_value[a].mean);
    }
    const double lo = f->plan.lo, whole = most > lo ? most - lo : 1;
    add_bar(items, "the rule", &p->rule_value, lo, whole);
    for (size_t a = 0; a < p->actions && p->actions <= BARS; a++) {
        char name[NAME], label[NAME + 16];
        name_action(name, f, a);
        (void)snprintf(label, sizeof label, "%s for all", name);
        add_bar(items, label, &p->action_value[a], lo, whole);
    }
    add_bar(items, "the log", &p->logged_value, lo, whole);
    add_bar(items, "all evenly", &p->uniform_value, lo, whole);
    return append(sections, json_pack("{ss ss so}", "kind", "bars", "title", "What each earns a row", "items", items));
}

static int by_number(const void *a, const void *b) {
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* The contexts that most rows have, in their own order; returns how many. */
static size_t common_contexts(size_t *out, size_t most, const tacet_ab_posterior *p) {
    size_t count = 0;
    for (size_t c = 0; c < p->contexts; c++) {
        size_t at = count;
        while (at > 0 && p->share[out[at - 1]] < p->share[c]) {
            at--;
        }
        if (at < most) {
            count += count < most;
            memmove(out + at + 1, out + at, (count - 1 - at) * sizeof *out);
            out[at] = c;
        }
    }
    qsort(out, count, sizeof *out, by_number);
    return count;
}

/* A number within the public range of rewards, in which every mean lies whatever the noise was. */
static double within_range(const tacet_ab_facts *f, double value) {
    const double lo = f->minimize ? -f->plan.hi : f->plan.lo, hi = f->minimize ? -f->plan.lo : f->plan.hi;
    return fmin(fmax(value, lo), hi);
}

/* Every action in every context, side by side; NULL: too many to be seen, or no contexts. */
static json_t *variants(const tacet_ab_facts *f, const tacet_ab_posterior *p) {
    enum { CONTEXTS = 24, ACTIONS = 7 };
    static const double REACH = 2; /* standard deviations of the posterior */
    size_t shown[CONTEXTS];
    if (p->contexts < 2 || p->actions > ACTIONS) {
        return NULL;
    }
    const size_t count = common_contexts(shown, CONTEXTS, p);
    json_t *names = json_array(), *series = json_array();
    for (size_t a = 0; a < p->actions; a++) {
        char action[NAME], name[NAME];
        name_action(action, f, a);
        json_t *one = json_pack("{ss ss s[] s[] s[] s[] s[]}", "name", action, "style", "points", "x", "y", "left",
                                "right", "words");
        for (size_t k = 0; k < count; k++) { /* the first on top */
            const size_t i = shown[count - 1 - k] * p->actions + a;
            const double mean = within_range(f, p->mean[i]), reach = REACH * p->sd[i];
            const double left = within_range(f, p->mean[i] - reach), right = within_range(f, p->mean[i] + reach);
            const double aside = ((double)(p->actions - 1) / 2 - (double)a) * 0.6 / (double)p->actions;
            name_context(name, f, shown[count - 1 - k]);
            char words[TACET__FIGURE_WORDS];
            (void)snprintf(words, sizeof words, "%.60s, %.60s: %.4g, from %.4g to %.4g", name, action, mean, left,
                           right);
            tacet__figure_point(one, mean, (double)k + aside, words);
            tacet__figure_push(json_object_get(one, "left"), left);
            tacet__figure_push(json_object_get(one, "right"), right);
            if (a == 0) {
                (void)json_array_append_new(names, json_string(name));
            }
        }
        (void)json_array_append_new(series, one);
    }
    json_t *made =
        tacet__figure_chart("What each earns with whom", json_pack("{ss}", "label", "mean reward"),
                            json_pack("{ss ss so}", "label", "group", "scale", "levels", "levels", names), series);
    (void)json_object_set_new(
        made, "note",
        json_sprintf("Bars are two standard deviations of the model either way, within the range of rewards.%s",
                     count < p->contexts ? " The groups that most rows are of." : ""));
    return made;
}

json_t *tacet__figure_variants(const json_t *data) {
    tacet_ab_model *model = NULL;
    char *text = tacet__json_text(data, 0);
    const bool good = text != NULL && tacet_ab_model_decode(&model, text, strlen(text), NULL) == TACET_OK;
    json_t *made = good ? variants(tacet_ab_model_facts(model), tacet_ab_model_posterior(model)) : NULL;
    free(text);
    tacet_ab_model_free(model);
    return made;
}

/* Contexts, the rule in them and what it earns; with few actions what all of them earn. */
static bool add_rule(json_t *sections, const tacet_ab_facts *f, const tacet_ab_posterior *p) {
    const size_t first = f->plan.action_columns, columns = f->plan.columns;
    const bool all = columns + 2 + p->actions <= TACET__REPORT_COLUMNS && p->actions <= BARS;
    json_t *names = json_array(), *rows = json_array();
    char name[NAME];
    for (size_t j = 0; j < columns && j + 4 < TACET__REPORT_COLUMNS; j++) {
        (void)json_array_append_new(names, json_string(f->space->columns[first + j].name));
    }
    (void)json_array_append_new(names, json_string("of the rows"));
    (void)json_array_append_new(names, json_string("show"));
    for (size_t a = 0; a < (all ? p->actions : 1); a++) {
        name_action(name, f, a);
        (void)json_array_append_new(names, all ? json_sprintf("%s earns", name) : json_string("it earns"));
    }
    for (size_t c = 0; c < p->contexts && c < ROWS; c++) {
        json_t *row = json_array();
        for (size_t j = 0; j < columns && j + 4 < TACET__REPORT_COLUMNS; j++) {
            name_level(name, sizeof name, f, c, first + j);
            (void)json_array_append_new(row, json_string(name));
        }
        name_action(name, f, p->rule[c]);
        (void)json_array_append_new(row, json_sprintf("%.1f %%", 100 * p->share[c]));
        (void)json_array_append_new(row, json_string(name));
        for (size_t a = 0; a < (all ? p->actions : 1); a++) {
            const size_t i = c * p->actions + (all ? a : p->rule[c]);
            (void)json_array_append_new(row, json_sprintf("%.4g \xc2\xb1 %.2g", p->mean[i], p->sd[i]));
        }
        (void)json_array_append_new(rows, row);
    }
    return append(sections, json_pack("{ss ss so so ss}", "kind", "table", "title", "What to show to whom", "columns",
                                      names, "rows", rows, "note",
                                      p->contexts > ROWS
                                          ? "The first groups; tacet predict has them all. \xc2\xb1 is one standard "
                                            "deviation."
                                          : "\xc2\xb1 is one standard deviation."));
}

static bool add_facts(json_t *sections, const tacet_ab_facts *f) {
    char eps[TACET__ABOVE];
    json_t *items = json_pack("[{ss sI} {ss so ss}]", "label", "rows", "value", (json_int_t)f->plan.rows, "label",
                              "protected", "value",
                              f->is_private ? json_sprintf("one row, eps %s", tacet__above(eps, f->plan.eps))
                                            : json_string("NOT DIFFERENTIALLY PRIVATE: seeded noise"),
                              "tone", f->is_private ? "good" : "bad");
    if (f->is_private && f->person_rows > 0) {
        (void)json_array_append_new(items, json_pack("{ss so}", "label", "of a person", "value",
                                                     json_sprintf("all of at most %zu rows, eps %s", f->person_rows,
                                                                  tacet__above(eps, f->person_eps))));
    }
    (void)json_array_append_new(
        items, json_pack("{ss ss}", "label", "not protected", "value", "that a row is in the log, the number of rows"));
    if (f->plan.money) {
        (void)json_array_append_new(items, json_pack("{ss sf}", "label", "rewards are counted up to", "value", f->top));
    }
    return append(sections, json_pack("{ss ss so}", "kind", "facts", "title", "Facts", "items", items));
}

tacet_status tacet__report_ab(json_t *sections, const char *name, const json_t *result, tacet_error *err) {
    tacet_ab_model *model = NULL;
    char *text = tacet__json_text(result, 0);
    tacet_status status = text == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a page")
                                       : tacet_ab_model_decode(&model, text, strlen(text), err);
    free(text);
    if (status == TACET_OK) {
        const tacet_ab_facts *f = tacet_ab_model_facts(model);
        const tacet_ab_posterior *p = tacet_ab_model_posterior(model);
        json_t *figure = NULL; /* none: too many actions */
        const bool good = add_answer(sections, name, f, p) && add_values(sections, f, p) &&
                          ((figure = variants(f, p)) == NULL || append(sections, figure)) && add_rule(sections, f, p) &&
                          add_facts(sections, f);
        status = good ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a page");
    }
    tacet_ab_model_free(model);
    return status;
}
