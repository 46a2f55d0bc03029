/* SPDX-License-Identifier: Apache-2.0 */
/* disclose.c - the label, from what is known of a release, a model or a study.
 * Ring: open. Source: NIST SP 800-226 for the words. Cost: none to speak of. */
#include <tacet/report/report.h>

#include "core/fail.h"
#include "dp/open/ledger_json.h"
#include "report/disclosure_facts.h"
#include "report/style.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/ab/open/model.h>
#include <tacet/core/status.h>

enum { PAGE = 65536, LINE = TACET__KNOWN_MOST };

/* The label in the making: as a page, or as plain text. */
typedef struct page {
    tacet__text text;
    bool html, begun;
} page;

static void put_words(page *p, const char *words) {
    tacet__text_add(&p->text, words);
}

tacet_status tacet__disclosure(char **out, tacet__text *text, tacet_error *err) {
    if (text->failed || text->length >= PAGE) {
        free(text->at);
        return tacet__fail(err, text->failed ? TACET_NO_MEMORY : TACET_INVALID,
                           text->failed ? "out of memory for a disclosure" : "a disclosure has one page; this is more");
    }
    *out = text->at;
    return TACET_OK;
}

/* ---- the label ---- */

/* The chance of telling two equally likely values of a record apart, at most: (e^eps + delta) / (1 + e^eps). */
static double odds_of(double eps, double delta) {
    const double told = (1 + delta * exp(-eps)) / (1 + exp(-eps));
    return told < 1 ? told : 1;
}

/* Complete in itself: no script, nothing from elsewhere. What is in <main> is XML as well, for pages that show it. */
static void put_head(page *p) {
    put_words(p, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                 "content=\"width=device-width\"><title>Privacy label</title>\n<style>");
    put_words(p, tacet__style_look);
    put_words(p, tacet__style_label);
    put_words(p, tacet__style_sheet);
    put_words(p, "</style></head><body><main class=\"label\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
                 "<h1>Privacy label</h1>\n");
}

static void heading(page *p, const char *text) {
    put_words(p, p->html && p->begun ? "</section>\n" : "");
    put_words(p, p->html ? "<section><h2>" : "\n");
    put_words(p, text);
    put_words(p, p->html ? "</h2>\n" : "\n");
    p->begun = true;
}

/* Texts of others, so escaped inside markup. */
static void paragraph(page *p, const char *text) {
    put_words(p, p->html ? "<p>" : "  ");
    (p->html ? tacet__text_escape : tacet__text_add)(&p->text, text);
    put_words(p, p->html ? "</p>\n" : "\n");
}

static void put_odds(page *p, const json_t *known) {
    char text[LINE], said[2][TACET__ABOVE], times[48] = "may be right every time";
    const double eps = strtod(tacet__known(known, "eps"), NULL), delta = strtod(tacet__known(known, "delta"), NULL);
    double most = 100;
    for (int digits = 1; digits <= 6 && most >= 100; digits++) { /* as many as it takes to stay below 100, rounded up */
        const double unit = pow(10, -digits);
        most = 100 - floor((100 - 100 * odds_of(eps, delta)) / unit) * unit;
        if (most < 100) {
            (void)snprintf(times, sizeof times, "at most %.*f times in 100", digits, most);
        }
    }
    if (strcmp(tacet__known(known, "variant"), "none") == 0) {
        paragraph(p, "No bound: " TACET_MANIFEST_STAMP ".");
        return;
    }
    (void)snprintf(text, sizeof text,
                   "Somebody who knows everything but %s guesses right half of the time without the release, and "
                   "%s with it (eps = %s, delta = %s). %s",
                   tacet__known(known, "label_guess"), times, tacet__above(said[0], eps), tacet__above(said[1], delta),
                   tacet__known(known, "label_more"));
    if (p->html) { /* numbers in attributes, not in a style: pages that show it allow none */
        tacet__text_format(
            &p->text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"odds\" viewBox=\"0 0 600 46\" role=\"img\" "
            "aria-label=\"%.1f of 100\"><rect class=\"whole\" "
            "width=\"600\" y=\"3\" height=\"18\" rx=\"9\"/><rect class=\"part\" width=\"%.1f\" y=\"3\" height=\"18\" "
            "rx=\"9\"/><path d=\"M300 0v24\"/><text x=\"300\" y=\"42\" text-anchor=\"middle\">guessing blindly: 50 in "
            "100</text></svg>\n",
            most, 6 * most);
    }
    paragraph(p, text);
}

static void put_label(page *p, const tacet_disclosure *d, const json_t *known) {
    char text[LINE], said[3][TACET__ABOVE];
    if (p->html) {
        put_head(p);
    } else {
        put_words(p, "PRIVACY LABEL\n");
    }
    heading(p, "What is hidden, and from whom");
    paragraph(p, tacet__known(known, "adjacency"));
    paragraph(p, tacet__known(known, "label_from"));
    heading(p, "What is not hidden");
    paragraph(p, tacet__known(known, "unprotected_quantities"));
    heading(p, "What an attacker can reach");
    put_odds(p, known);
    heading(p, "Who keeps what");
    paragraph(p, tacet__known(known, "label_keeps"));
    if (d->has_ledger) {
        (void)snprintf(text, sizeof text,
                       "The ledger has %llu entries (%llu without protection) and says eps = %s of at most %s, at "
                       "delta = %s.",
                       (unsigned long long)d->entries, (unsigned long long)d->uncovered,
                       tacet__above(said[0], d->spent_eps), tacet__above(said[1], d->budget_eps),
                       tacet__above(said[2], d->budget_delta));
        paragraph(p, text);
    }
    (void)snprintf(text, sizeof text, "%s; tacet %s; %s", tacet__known(known, "label_how"), tacet_version(), d->date);
    heading(p, "How");
    paragraph(p, text);
    put_words(p, p->html ? "</section></main></body></html>\n" : "");
}

tacet_status tacet_disclose_label(char **out, const tacet_disclosure *d, bool html, tacet_error *err) {
    json_t *known = NULL;
    *out = NULL;
    TACET_OR_RETURN(tacet__disclose_known(&known, d, err));
    page p = {.html = html};
    put_label(&p, d, known);
    json_decref(known);
    return tacet__disclosure(out, &p.text, err);
}

const char *tacet__label_type(char *text, bool part) {
    static const char END[] = "</main>";
    char *from = part ? strstr(text, "<main") : NULL, *to = part ? strstr(text, END) : NULL;
    if (from == NULL || to == NULL) {
        return "text/html; charset=utf-8";
    }
    const size_t length = (size_t)(to - from) + sizeof END - 1;
    memmove(text, from, length);
    text[length] = '\0';
    return "application/xhtml+xml; charset=utf-8";
}

static tacet_status find_receipt(const tacet_receipt *r, const char *path, tacet_error *err) {
    tacet__ledger_report report;
    tacet__ledger_view *view = NULL;
    const tacet_status status = r->in_ledger ? tacet__ledger_load(&view, &report, path, r->entry_hash, err) : TACET_OK;
    tacet__ledger_view_close(view);
    return status;
}

/* Whether every release that a model names is an entry of the ledger. */
static tacet_status find_receipts(const char *model_text, const char *path, tacet_error *err) {
    tacet_ab_model *model = NULL;
    tacet_status status = tacet_ab_model_decode(&model, model_text, strlen(model_text), err);
    for (size_t i = 0; status == TACET_OK && i < tacet_ab_model_facts(model)->receipt_count; i++) {
        status = find_receipt(&tacet_ab_model_facts(model)->receipts[i], path, err);
    }
    tacet_ab_model_free(model);
    return status;
}

tacet_status tacet_disclose_ledger(tacet_disclosure *d, const char *path, tacet_error *err) {
    tacet__ledger_report report;
    tacet__ledger_view *view = NULL;
    tacet_status status = tacet__ledger_load(&view, &report, path, NULL, err);
    tacet__ledger_view_close(view);
    status = status == TACET_OK && d->model != NULL ? find_receipts(d->model, path, err) : status;
    if (status == TACET_OK) {
        d->has_ledger = true;
        d->accounting = tacet_accounting_name(report.accounting);
        d->spent_eps = report.eps;
        d->spent_delta = report.delta;
        d->budget_eps = report.budget_eps;
        d->budget_delta = report.budget_delta;
        d->entries = report.entries;
        d->uncovered = report.uncovered;
    }
    return status;
}
