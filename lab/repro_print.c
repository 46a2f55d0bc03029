/* SPDX-License-Identifier: Apache-2.0 */
/* repro_print.c - a reproduced table or figure as Markdown and as JSON. Ring: programs. */
#include "repro.h"

#include "core/fail.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELL_TEXT = 64, REMARK_TEXT = 320 };

void repro_number(char *out, size_t size, double mean, double se) {
    if (!isfinite(mean)) {
        (void)snprintf(out, size, "-");
        return;
    }
    /* two significant digits of the standard error */
    const double scale = se > 0 ? se : fmax(fabs(mean), 1e-4) / 100;
    const int places = (int)fmin(6, fmax(0, 1 - floor(log10(scale))));
    if (mean == 0 && !(se > 0)) {
        (void)snprintf(out, size, "0");
    } else if (se > 0) {
        (void)snprintf(out, size, "%.*f ± %.*f", places, mean, places, se);
    } else {
        (void)snprintf(out, size, "%.*f", places, mean);
    }
}

/* Letters that a reader sees: bytes but those that continue a UTF-8 character. */
static size_t letters(const char *text) {
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

static bool cell_text(char *out, size_t size, const repro_plan *plan, size_t row, size_t column) {
    double mean = 0;
    double se = 0;
    size_t trials = 0;
    out[0] = '\0';
    if (!repro_result(plan, row, column, &mean, &se, &trials)) {
        return false;
    }
    repro_number(out, size, mean, se);
    return true;
}

static const char *verdict(const repro_plan *plan, size_t row) {
    const int agrees = repro_agrees(plan, row);
    return agrees < 0 ? "" : agrees == 1 ? "agrees" : "differs";
}

/* A paragraph at 100 columns; `hang` blanks before all lines but the first. */
static void paragraph(FILE *file, size_t hang, const char *format, ...) {
    enum { WIDTH = 100 };
    char text[4096];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    size_t at = 0;
    char *rest = NULL;
    for (const char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        const bool more = at > 0 && at + 1 + letters(word) <= WIDTH;
        if (at > 0 && !more) {
            fprintf(file, "\n%*s", (int)hang, "");
        }
        fprintf(file, "%s%s", more ? " " : "", word);
        at = letters(word) + (more ? at + 1 : at > 0 ? hang : 0);
    }
    fputc('\n', file);
}

static bool any_paper(const repro_plan *plan) {
    for (size_t i = 0; i < plan->rows; i++) {
        if (plan->row[i].paper[0] != '\0') {
            return true;
        }
    }
    return false;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static json_t *row_json(const repro_plan *plan, size_t i) {
    const repro_row *r = &plan->row[i];
    json_t *results = json_array();
    for (size_t c = 0; c < plan->columns; c++) {
        double mean = 0;
        double se = 0;
        size_t trials = 0;
        if (!repro_result(plan, i, c, &mean, &se, &trials)) {
            (void)json_array_append_new(results, json_null());
            continue;
        }
        (void)json_array_append_new(results,
                                    json_pack("{so so sI sb}", "mean", cli_real(mean), "se", cli_real(se), "trials",
                                              (json_int_t)trials, "kept", plan->cell[r->cell[c]].kept));
    }
    json_t *row = json_pack("{ss ss so so}", "label", r->label, "group", r->group, "paper", cli_real(r->value),
                            "results", results);
    if (row != NULL && r->note[0] != '\0') {
        (void)json_object_set_new(row, "note", json_string(r->note));
    }
    (void)json_object_update(row, (json_t *)repro_detail(plan, i));
    const int agrees = repro_agrees(plan, i);
    if (row != NULL && agrees >= 0) {
        (void)json_object_set_new(row, "agrees", json_boolean(agrees == 1));
    }
    return row;
}

json_t *repro_json(const repro_plan *plan, const repro_options *o) {
    json_t *columns = json_array();
    json_t *rows = json_array();
    json_t *findings = json_array();
    for (size_t c = 0; c < plan->columns; c++) {
        (void)json_array_append_new(
            columns, json_pack("{ss ss}", "title", plan->column[c].title, "guarantee", plan->column[c].guarantee));
    }
    for (size_t i = 0; i < plan->rows; i++) {
        (void)json_array_append_new(rows, row_json(plan, i));
    }
    for (size_t i = 0; i < plan->findings; i++) {
        (void)json_array_append_new(findings, json_string(plan->finding[i]));
    }
    return json_pack("{ss ss sI sb ss ss so so so so sb}", "repro", plan->entry->name, "title", plan->entry->title,
                     "seed", (json_int_t)o->seed, "quick", o->quick, "build", repro_build(), "quantity", plan->quantity,
                     "columns", columns, "rows", rows, "findings", findings, "seconds", cli_real(plan->seconds),
                     "private", 0);
}

/* --- markdown ----------------------------------------------------------------------------------------------------- */

/* The document's remark: the verdict, which only a run in the paper's branch has, or else the branch; and a note that
 * the table before it does not have in a row of this name. */
static void short_remark(char *out, size_t size, const repro_plan *plan, size_t row, const repro_plan *before) {
    const char *branch = json_string_value(json_object_get(repro_detail(plan, row), "branch"));
    const char *first = verdict(plan, row), *note = plan->row[row].note;
    first = first[0] == '\0' && branch != NULL ? branch : first;
    for (size_t i = 0; before != NULL && i < before->rows; i++) {
        if (strcmp(before->row[i].label, plan->row[row].label) == 0 && strcmp(before->row[i].note, note) == 0) {
            note = "";
        }
    }
    (void)snprintf(out, size, "%s%s%s", first, first[0] != '\0' && note[0] != '\0' ? "; " : "", note);
}

static bool any_remark(const repro_plan *plan, const repro_plan *before) {
    char words[REMARK_TEXT] = "";
    for (size_t i = 0; i < plan->rows && words[0] == '\0'; i++) {
        short_remark(words, sizeof words, plan, i, before);
    }
    return words[0] != '\0';
}

/* A reference (not private, at random) that the table before it has already: the same cells. */
static bool shown_before(const repro_plan *plan, size_t row, const repro_plan *before) {
    bool shown = false;
    for (size_t i = 0; before != NULL && plan->row[row].reference && !shown && i < before->rows; i++) {
        const size_t own = plan->row[row].cell[0], other = before->row[i].cell[0];
        shown = own != REPRO_NONE && other != REPRO_NONE && strcmp(plan->row[row].group, before->row[i].group) == 0 &&
                strcmp(plan->cell[own].key, before->cell[other].key) == 0;
    }
    return shown;
}

static void ruled(FILE *file, size_t cells) {
    for (size_t c = 0; c < cells; c++) {
        fprintf(file, "| --- ");
    }
    fprintf(file, "|\n");
}

static void markdown_rows(FILE *file, const repro_plan *plan, const repro_plan *before) {
    const bool printed = any_paper(plan), remarks = any_remark(plan, before);
    fprintf(file, "| |%s", printed ? " paper |" : "");
    for (size_t c = 0; c < plan->columns; c++) {
        fprintf(file, " %s |", plan->column[c].title);
    }
    fprintf(file, "%s\n", remarks ? " |" : "");
    ruled(file, 1 + printed + plan->columns + remarks);
    for (size_t i = 0; i < plan->rows; i++) {
        const repro_row *r = &plan->row[i];
        if (shown_before(plan, i, before)) {
            continue;
        }
        if (r->group[0] != '\0' && (i == 0 || strcmp(r->group, plan->row[i - 1].group) != 0)) {
            fprintf(file, "| **%s** |", r->group);
            for (size_t c = 0; c < plan->columns + printed + remarks; c++) {
                fprintf(file, " |");
            }
            fputc('\n', file);
        }
        fprintf(file, "| %s |", r->label);
        if (printed) {
            fprintf(file, " %s |", r->paper);
        }
        for (size_t c = 0; c < plan->columns; c++) {
            char text[CELL_TEXT];
            (void)cell_text(text, sizeof text, plan, i, c);
            fprintf(file, " %s |", text);
        }
        if (remarks) {
            char words[REMARK_TEXT];
            short_remark(words, sizeof words, plan, i, before);
            fprintf(file, " %s |", words);
        }
        fputc('\n', file);
    }
}

static void trials_of(char *out, size_t size, const repro_plan *plan, size_t column) {
    size_t least = SIZE_MAX;
    size_t most = 0;
    for (size_t i = 0; i < plan->rows; i++) {
        if (plan->row[i].cell[column] != REPRO_NONE) {
            const size_t n = plan->cell[plan->row[i].cell[column]].request.trials;
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
    }
    if (most == 0) {
        (void)snprintf(out, size, "no trials");
    } else if (least == most) {
        (void)snprintf(out, size, "%zu trials", most);
    } else {
        (void)snprintf(out, size, "%zu to %zu trials", least, most);
    }
}

static bool has_column(const repro_plan *plan, const repro_column *column) {
    bool has = false;
    for (size_t c = 0; plan != NULL && c < plan->columns; c++) {
        has = has || (strcmp(plan->column[c].title, column->title) == 0 &&
                      strcmp(plan->column[c].guarantee, column->guarantee) == 0);
    }
    return has;
}

/* How much of a setting is said before it in whole sentences. */
static size_t common_sentences(const char *setting, const char *before) {
    size_t common = 0;
    for (size_t i = 0; setting[i] != '\0' && setting[i] == before[i]; i++) {
        common = i > 0 && setting[i] == ' ' && setting[i - 1] == '.' ? i + 1 : common;
    }
    return common;
}

/* What the table before it says already is not repeated. */
static void entry_markdown(FILE *file, const repro_plan *plan, const repro_plan *before, bool rows) {
    const bool same = before != NULL && before->entry->setting == plan->entry->setting;
    size_t scored = 0;
    char agree[48] = "";
    const size_t agreeing = repro_agreement(plan, &scored);
    if (scored > 0) {
        (void)snprintf(agree, sizeof agree, "; %zu of %zu agree", agreeing, scored);
    }
    fprintf(file, "### %s\n\n", plan->entry->name);
    if (same) {
        paragraph(file, 0, "%s: as above; %s%s.", plan->entry->title, plan->quantity, agree);
    } else {
        const size_t common = before != NULL ? common_sentences(plan->entry->setting, before->entry->setting) : 0;
        paragraph(file, 0, "%s: %s%s The numbers are %s%s.", plan->entry->title, common > 0 ? "As above, but: " : "",
                  plan->entry->setting + common, plan->quantity, agree);
    }
    fputc('\n', file);
    if (rows) {
        markdown_rows(file, plan, before);
        fputc('\n', file);
    }
    for (size_t c = 0; c < plan->columns && rows; c++) {
        char trials[48];
        if (has_column(before, &plan->column[c])) {
            continue;
        }
        trials_of(trials, sizeof trials, plan, c);
        paragraph(file, 2, "- *%s* (%s): %s.", plan->column[c].title, trials, plan->column[c].guarantee);
    }
    for (size_t i = 0; i < plan->findings; i++) {
        paragraph(file, 2, "- %s", plan->finding[i]);
    }
    if (plan->left_out[0] != '\0') {
        paragraph(file, 2, "- %s", plan->left_out);
    }
    fputc('\n', file);
    if (before == NULL || before->entry->why != plan->entry->why) {
        paragraph(file, 0, "%s", plan->entry->why);
        fputc('\n', file);
    }
}

void repro_print(const repro_plan *plan) {
    entry_markdown(stdout, plan, NULL, true);
    printf("± is one standard error; seeded noise: not private.\n\n");
}

static void markdown_head(FILE *file, const repro_options *o, const char *command) {
    char day[16] = "";
    const time_t now = time(NULL);
    struct tm utc;
    (void)strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&now, &utc));
    fprintf(file, "# The papers' tables and figures, and ours\n\n");
    paragraph(file, 0,
              "Made by `%s` at commit %s on %s; seed %llu. Do not edit: `make reproduction` makes it, `make check` "
              "runs some cells again, and fails where they differ. Both use OpenBLAS's kernels for Haswell: another "
              "processor's change the last bits of sums, and so a few cells.",
              command, o->commit != NULL ? o->commit : "(not told)", day, (unsigned long long)o->seed);
    fputc('\n', file);
    paragraph(
        file, 0,
        "*As published* runs the paper's algorithm; *as shipped* is what this project does instead, with the guarantee "
        "that really holds. Noise is seeded, so no run is itself private. ± is one standard error. A value of the "
        "paper *agrees* when it differs from ours as published by at most three standard errors of the difference of "
        "two means, one over as many runs as the paper's, one over ours, assuming the same spread, and half of the "
        "finest digit in the table. A run in another branch of the algorithm than the paper's is not scored.");
    fputc('\n', file);
}

static bool is_of(const repro_paper *paper, const repro_entry *entry) {
    return entry >= paper->entries && entry < paper->entries + paper->count;
}

/* What agrees, at a glance, of what the papers print. */
static void markdown_summary(FILE *file, const repro_paper *const *papers, size_t paper_count, repro_plan *const *plans,
                             size_t count) {
    fprintf(file, "| paper | printed values that agree |\n| --- | --- |\n");
    for (size_t p = 0; p < paper_count; p++) {
        size_t all = 0, agree = 0;
        for (size_t i = 0; i < count; i++) {
            size_t scored = 0;
            const size_t own = is_of(papers[p], plans[i]->entry) ? repro_agreement(plans[i], &scored) : 0;
            agree += own;
            all += scored;
        }
        if (all > 0) {
            fprintf(file, "| %s | %zu of %zu |\n", papers[p]->title, agree, all);
        } else {
            fprintf(file, "| %s | none printed |\n", papers[p]->title);
        }
    }
    fputc('\n', file);
}

tacet_status repro_page(const char *path, const repro_paper *const *papers, size_t paper_count,
                        repro_plan *const *plans, size_t count, const repro_options *o, const char *command,
                        tacet_error *err) {
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%.160s: %s", path, strerror(errno));
    }
    markdown_head(file, o, command);
    markdown_summary(file, papers, paper_count, plans, count);
    for (size_t p = 0; p < paper_count; p++) {
        bool first = true;
        const repro_plan *shown = NULL;
        for (size_t i = 0; i < count; i++) {
            if (is_of(papers[p], plans[i]->entry)) {
                if (first) {
                    fprintf(file, "## %s\n\n", papers[p]->title);
                }
                first = false;
                entry_markdown(file, plans[i], shown, !plans[i]->ours);
                shown = plans[i];
            }
        }
    }
    fprintf(file, "## Items of the papers\n\n");
    paragraph(
        file, 0,
        "`tacet-lab repro items` lists every numbered item of the papers: where it is here, and a command that shows "
        "it. `tacet-lab repro bounds` puts each theorem into numbers. Here is what we found wrong in a paper.");
    json_decref(repro_items(file, true));
    return fclose(file) == 0 ? TACET_OK : tacet__fail(err, TACET_IO, "%.160s: %s", path, strerror(errno));
}
