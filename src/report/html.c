/* SPDX-License-Identifier: Apache-2.0 */
/* html.c - the sections of a report as one HTML page.
 * Ring: open. Every chart is drawn twice, for a wide and for a narrow window, because letters of a picture that shrinks
 * shrink with it; the style sheet shows one of them. Cost: O(size of the report). */
#include "report/internal.h"

#include "core/fail.h"
#include "report/disclosure_facts.h"
#include "report/style.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number stays on one line with its error ("3 ± 1") and its name ("eps = 3"). */
static void unbroken(tacet__text *t, const char *words) {
    static const char *const JOINTS[] = {" \xc2\xb1 ", " = "}; /* plus-minus, equals */
    static const char *const BOUND[] = {"\xc2\xa0\xc2\xb1\xc2\xa0", "\xc2\xa0=\xc2\xa0"};
    enum { FULL = 100 };
    char piece[FULL + 28];
    size_t length = 0;
    while (*words != '\0') {
        size_t k = 0;
        while (k < 2 && strncmp(words, JOINTS[k], strlen(JOINTS[k])) != 0) {
            k++;
        }
        /* Pieces end between characters, whose bytes belong together. */
        if (k == 2 && (length < FULL || ((unsigned char)*words & 0xc0) == 0x80) && length + 1 < sizeof piece) {
            piece[length++] = *words++;
            continue;
        }
        piece[length] = '\0';
        tacet__text_escape(t, piece);
        length = 0;
        if (k < 2) {
            tacet__text_add(t, BOUND[k]);
            words += strlen(JOINTS[k]);
        }
    }
    piece[length] = '\0';
    tacet__text_escape(t, piece);
}

/* A value of a table as a reader wants it. */
static void put_value(tacet__text *t, const json_t *value) {
    const double v = json_number_value(value);
    switch (json_typeof(value)) {
    case JSON_STRING:
        unbroken(t, json_string_value(value));
        break;
    case JSON_INTEGER:
        tacet__text_format(t, "%lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        tacet__text_format(t, "%.5g", v);
        break;
    case JSON_TRUE:
        tacet__text_add(t, "yes");
        break;
    case JSON_FALSE:
        tacet__text_add(t, "no");
        break;
    default:
        tacet__text_add(t, "–");
        break;
    }
}

/* Opens a cell; it says its column, for windows too narrow for a table. */
static void open_cell(tacet__text *t, bool number, const char *column) {
    tacet__text_add(t, number ? "<td class=\"num\" data-column=\"" : "<td data-column=\"");
    tacet__text_escape(t, column);
    tacet__text_add(t, "\">");
}

static void open_table(tacet__text *t, size_t columns) {
    enum { FIT = 3 }; /* columns that a telephone has room for */
    tacet__text_format(t, "<div class=\"scroll\"><table%s><thead><tr>", columns > FIT ? " class=\"stack\"" : "");
}

static void element(tacet__text *t, const char *tag, const char *words) {
    tacet__text_format(t, "<%s>", tag);
    tacet__text_escape(t, words);
    tacet__text_format(t, "</%s>", tag);
}

/* Blank lines part paragraphs. */
static void paragraphs(tacet__text *t, const char *words) {
    char *copy = strdup(words);
    if (copy == NULL) {
        t->failed = true;
        return;
    }
    for (char *at = copy; at != NULL;) {
        char *end = strstr(at, "\n\n");
        if (end != NULL) {
            *end = '\0';
        }
        if (at[0] != '\0') {
            element(t, "p", at);
        }
        at = end != NULL ? end + 2 : NULL;
    }
    free(copy);
}

static void facts(tacet__text *t, const json_t *section) {
    enum { SHORT = 24 }; /* letters that are large; more are read as a sentence */
    const json_t *items = json_object_get(section, "items");
    tacet__text_add(t, "<div class=\"facts\">");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const char *note = tacet__report_words(item, "note");
        tacet__text_add(t, strlen(note) > 4 * SHORT ? "<div class=\"wide\"><span>" : "<div><span>");
        tacet__text_escape(t, tacet__report_words(item, "label"));
        const bool sentence = strlen(tacet__report_words(item, "value")) > SHORT;
        tacet__text_format(t, "</span><b class=\"%.8s%s\">", tacet__report_words(item, "tone"),
                           sentence ? " long" : "");
        put_value(t, json_object_get(item, "value"));
        tacet__text_add(t, "</b><span>");
        tacet__text_escape(t, note);
        tacet__text_add(t, "</span></div>");
    }
    tacet__text_add(t, "</div>");
}

static void table(tacet__text *t, const json_t *section) {
    const json_t *columns = json_object_get(section, "columns");
    const json_t *rows = json_object_get(section, "rows");
    const json_t *first = json_array_get(rows, 0);
    open_table(t, json_array_size(columns));
    for (size_t j = 0; j < json_array_size(columns); j++) {
        /* A heading stands over its numbers. */
        tacet__text_add(t, json_is_number(json_array_get(first, j)) ? "<th class=\"num\">" : "<th>");
        tacet__text_escape(t, json_string_value(json_array_get(columns, j)));
        tacet__text_add(t, "</th>");
    }
    tacet__text_add(t, "</tr></thead><tbody>");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        tacet__text_add(t, "<tr>");
        for (size_t j = 0; j < json_array_size(row); j++) {
            const json_t *value = json_array_get(row, j);
            open_cell(t, json_is_number(value), json_string_value(json_array_get(columns, j)));
            put_value(t, value);
            tacet__text_add(t, "</td>");
        }
        tacet__text_add(t, "</tr>");
    }
    tacet__text_add(t, "</tbody></table></div>");
}

static void bars(tacet__text *t, const json_t *section) {
    const json_t *items = json_object_get(section, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const double value = json_number_value(json_object_get(item, "value"));
        const double of = json_number_value(json_object_get(item, "of"));
        const double part = fmin(fmax(value / of, 0), 1);
        tacet__text_add(t, "<div class=\"bar\"><div><span>");
        tacet__text_escape(t, tacet__report_words(item, "label"));
        tacet__text_add(t, "</span><span>");
        const char *note = tacet__report_words(item, "note");
        if (note[0] != '\0') {
            tacet__text_escape(t, note);
        } else {
            tacet__text_format(t, "%.4g of %.4g", value, of);
        }
        tacet__text_format(
            t, "</span></div><span class=\"track\"><i class=\"%.8s\" style=\"width:%.2f%%\"></i></span></div>",
            tacet__report_words(item, "tone"), 100 * part);
    }
}

static void list(tacet__text *t, const char *title, const json_t *lines) {
    if (json_array_size(lines) == 0) {
        return;
    }
    element(t, "h4", title);
    tacet__text_add(t, "<ul>");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        element(t, "li", json_string_value(json_array_get(lines, i)));
    }
    tacet__text_add(t, "</ul>");
}

static void parties(tacet__text *t, const json_t *section) {
    const json_t *all = json_object_get(section, "parties");
    tacet__text_add(t, "<div class=\"parties\">");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *party = json_array_get(all, i);
        tacet__text_add(t, "<div class=\"party\">");
        element(t, "h3", tacet__report_words(party, "name"));
        list(t, "saw", json_object_get(party, "saw"));
        list(t, "did not see", json_object_get(party, "did_not_see"));
        tacet__text_add(t, "</div>");
    }
    tacet__text_add(t, "</div>");
}

static void ledger_rows(tacet__text *t, const json_t *entries, size_t from, size_t to) {
    static const char *const FIELDS[] = {"seq", "ticket", "what", "to_whom", "mechanism", "eps", "delta"};
    static const char *const NAMES[] = {"entry", "ticket", "what", "to", "mechanism", "eps", "delta"};
    open_table(t, 8);
    for (size_t j = 0; j < 7; j++) {
        tacet__text_add(t, j >= 5 ? "<th class=\"num\">" : "<th>");
        tacet__text_add(t, NAMES[j]);
        tacet__text_add(t, "</th>");
    }
    tacet__text_add(t, "<th>protection</th></tr></thead><tbody>");
    for (size_t i = from; i < to; i++) {
        const json_t *entry = json_array_get(entries, i);
        const bool uncovered = strcmp(tacet__report_words(entry, "claim"), "uncovered") == 0;
        const bool seeded = json_is_true(json_object_get(entry, "not_private"));
        tacet__text_add(t, "<tr>");
        for (size_t j = 0; j < 7; j++) {
            const json_t *value = json_object_get(entry, FIELDS[j]);
            open_cell(t, j >= 5, NAMES[j]);
            if (json_is_real(value) && !uncovered) { /* eps or delta: never less than it is */
                char said[TACET__ABOVE];
                tacet__text_add(t, tacet__above(said, json_real_value(value)));
            } else if (value != NULL && !(uncovered && j >= 5)) {
                put_value(t, value);
            } else {
                tacet__text_add(t, "–");
            }
            tacet__text_add(t, "</td>");
        }
        tacet__text_format(t, "<td class=\"%s\" data-column=\"protection\">%s</td></tr>",
                           uncovered || seeded ? "bad" : "good",
                           seeded      ? "NOT PRIVATE"
                           : uncovered ? "uncovered"
                                       : "covered");
    }
    tacet__text_add(t, "</tbody></table></div>");
}

static void ledger(tacet__text *t, const json_t *section) {
    enum { SHOWN = 6 };
    const json_t *l = json_object_get(section, "ledger");
    const json_t *entries = json_object_get(l, "list");
    const size_t count = json_array_size(entries);
    const double budget = json_number_value(json_object_get(l, "budget_eps"));
    const json_t *eps = json_object_get(l, "eps");
    const double spent = json_is_number(eps) ? json_number_value(eps) : (double)INFINITY; /* null: there is no bound */
    char said[3][TACET__ABOVE];
    tacet__text_format(t, "<div class=\"bar\"><div><span>eps spent</span><span>%s of %s, at delta = %s</span></div>",
                       tacet__above(said[0], spent), tacet__above(said[1], budget),
                       tacet__above(said[2], json_number_value(json_object_get(l, "budget_delta"))));
    tacet__text_format(t, "<span class=\"track\"><i style=\"width:%.2f%%\"></i></span></div>",
                       budget > 0 ? 100 * fmin(fmax(spent / budget, 0), 1) : 0.0);
    tacet__text_format(t,
                       "<p>Entries: %lld; of these left without protection: %lld; drawn from a seeded source, so not "
                       "private: %lld.</p>",
                       (long long)json_integer_value(json_object_get(l, "entries")),
                       (long long)json_integer_value(json_object_get(l, "uncovered")),
                       (long long)json_integer_value(json_object_get(l, "not_private")));
    ledger_rows(t, entries, 0, count < SHOWN ? count : SHOWN);
    if (count > SHOWN) {
        tacet__text_format(t, "<details><summary>%zu more</summary>", count - SHOWN);
        ledger_rows(t, entries, SHOWN, count);
        tacet__text_add(t, "</details>");
    }
    tacet__text_add(t, "<p class=\"remark\">Head of the chain: <code style=\"overflow-wrap:anywhere\">");
    tacet__text_escape(t, tacet__report_words(l, "head"));
    tacet__text_add(t, "</code></p>");
}

static tacet_status chart(tacet__text *t, const json_t *section, tacet_error *err) {
    tacet__chart c;
    const tacet_status status = tacet__report_chart(&c, section, err);
    if (status == TACET_OK) {
        tacet__text_add(t, "<div class=\"wide\">");
        tacet__chart_svg(t, &c, TACET__CHART_WIDE, TACET__CHART_IN_PAGE);
        tacet__text_add(t, "</div><div class=\"narrow\">");
        tacet__chart_svg(t, &c, TACET__CHART_NARROW, TACET__CHART_IN_PAGE);
        tacet__text_add(t, "</div>");
    }
    tacet__report_chart_clear(&c);
    return status;
}

static tacet_status put_section(tacet__text *t, const json_t *section, tacet_error *err) {
    static const struct {
        const char *kind;
        void (*put)(tacet__text *t, const json_t *section);
    } KINDS[] = {{"facts", facts}, {"table", table}, {"bars", bars}, {"parties", parties}, {"ledger", ledger}};
    const char *kind = tacet__report_words(section, "kind");
    const char *title = tacet__report_words(section, "title");
    const char *note = tacet__report_words(section, "note");
    tacet_status status = TACET_OK;
    tacet__text_format(t, "<section class=\"%.8s\">", tacet__report_words(section, "tone"));
    if (title[0] != '\0') {
        element(t, "h2", title);
    }
    if (strcmp(kind, "chart") == 0) {
        status = chart(t, section, err);
    } else if (strcmp(kind, "text") == 0) {
        paragraphs(t, tacet__report_words(section, "text"));
    }
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(kind, KINDS[i].kind) == 0) {
            KINDS[i].put(t, section);
        }
    }
    if (note[0] != '\0') {
        tacet__text_add(t, "<p class=\"remark\">");
        tacet__text_escape(t, note);
        tacet__text_add(t, "</p>");
    }
    tacet__text_add(t, "</section>\n");
    return status;
}

static void head(tacet__text *t, const tacet_report *r) {
    const char *title = r->title != NULL ? r->title : "tacet report";
    tacet__text_add(t, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                       "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                       "'unsafe-inline'\">");
    if (r->refresh > 0) {
        tacet__text_format(t, "<meta http-equiv=\"refresh\" content=\"%d\">", r->refresh);
    }
    tacet__text_add(t, "<title>");
    tacet__text_escape(t, title);
    tacet__text_add(t, "</title><style>");
    tacet__text_add(t, tacet__style_look);
    tacet__text_add(t, tacet__style_report);
    tacet__text_add(t, "</style></head>\n<body><main>");
    element(t, "h1", title);
    if (r->subtitle != NULL) {
        tacet__text_add(t, "<p class=\"sub\">");
        tacet__text_escape(t, r->subtitle);
        tacet__text_add(t, "</p>");
    }
    tacet__text_add(t, "\n");
}

tacet_status tacet_report_html(const tacet_report *report, char **out, size_t *length, tacet_error *err) {
    tacet__text t = {0};
    tacet_status status = TACET_OK;
    *out = NULL;
    *length = 0;
    if (json_array_size(report->sections) == 0) {
        return tacet__fail(err, TACET_STATE, "the report has no sections");
    }
    head(&t, report);
    for (size_t i = 0; status == TACET_OK && i < json_array_size(report->sections); i++) {
        status = put_section(&t, json_array_get(report->sections, i), err);
    }
    tacet__text_add(&t, "<footer>Made by tacet report. This page is complete in itself: it runs no script and loads "
                        "nothing.</footer></main></body></html>\n");
    if (status == TACET_OK && t.failed) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory writing the report");
    }
    if (status != TACET_OK) {
        free(t.at);
        return status;
    }
    *out = t.at;
    *length = t.length;
    return TACET_OK;
}
