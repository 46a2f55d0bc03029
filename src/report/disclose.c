/* SPDX-License-Identifier: Apache-2.0 */
/* disclose.c - the registry's entry and the label, from what is known of a release, a model or a study, and
 * what people say.
 * Ring: open. Source: NIST SP 800-226 for the words; the fields are those of public registries of deployments.
 * Differs: a schema of our own (SCHEMA below, docs/disclosure.md), checked on everything written. Cost: none to speak
 * of. */
#include <tacet/report/disclose.h>

#include "core/fail.h"
#include "dp/open/ledger_json.h"
#include "report/known.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/contextual/open/model.h>
#include <tacet/core/version.h>

typedef enum kind { TEXT, NUMBER, CHOICE } kind;
typedef struct field {
    const char *section, *name;
    kind kind;
    const char *choices; /* of CHOICE, between bars */
    bool people;         /* only people know it: from the facts, else "not stated" */
} field;

static const field SCHEMA[] = {
    {"deployment", "status", CHOICE, "|deployed|planned|retired|not stated|", true},
    {"deployment", "tier", TEXT, NULL, true},
    {"deployment", "name", TEXT, NULL, true},
    {"deployment", "curators", TEXT, NULL, true},
    {"deployment", "description", TEXT, NULL, true},
    {"deployment", "intended_use", TEXT, NULL, true},
    {"deployment", "product_type", TEXT, NULL, false},
    {"deployment", "region", TEXT, NULL, true},
    {"deployment", "date", TEXT, NULL, false},
    {"guarantee", "variant", CHOICE, "|pure|approximate|none|", false},
    {"guarantee", "privacy_unit", TEXT, NULL, false},
    {"guarantee", "eps", NUMBER, NULL, false},
    {"guarantee", "delta", NUMBER, NULL, false},
    {"guarantee", "eps_with_delta_0", TEXT, NULL, false},
    {"guarantee", "spent_eps", TEXT, NULL, false},
    {"guarantee", "budget_eps", TEXT, NULL, false},
    {"guarantee", "model", TEXT, NULL, false},
    {"guarantee", "releases", CHOICE, "|one|many|", false},
    {"guarantee", "data", CHOICE, "|static|dynamic|", false},
    {"guarantee", "interactive", CHOICE, "|yes|no|", false},
    {"details", "data_domain", TEXT, NULL, false},
    {"details", "unprotected_quantities", TEXT, NULL, false},
    {"details", "adjacency", TEXT, NULL, false},
    {"details", "actors_and_trust", TEXT, NULL, false},
    {"details", "post_processing", TEXT, NULL, false},
    {"details", "composition", TEXT, NULL, false},
    {"details", "pre_processing_and_tuning", TEXT, NULL, true},
    {"details", "tuning_charged", CHOICE, "|yes|no|no tuning|not stated|", true},
    {"details", "mechanism", TEXT, NULL, false},
    {"details", "library", TEXT, NULL, false},
    {"details", "floating_point", TEXT, NULL, false},
    {"details", "timing", TEXT, NULL, false},
    {"details", "platform", TEXT, NULL, true},
    {"details", "access_control", TEXT, NULL, true},
    {"details", "code_version", TEXT, NULL, false},
    {"details", "justification", TEXT, NULL, true},
};
enum { FIELDS = sizeof SCHEMA / sizeof *SCHEMA, PAGE = 65536, LINE = TACET__KNOWN_MOST };

/* ---- a text that grows to a page ---- */

typedef struct page {
    char *text;
    size_t at;
    bool html;
} page;

static void put(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(page *p, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (p->at < PAGE) {
        p->at += (size_t)vsnprintf(p->text + p->at, PAGE - p->at, format, list);
    }
    va_end(list);
}

/* Texts of others inside markup. */
static void put_escaped(page *p, const char *text) {
    for (; *text != '\0'; text++) {
        if (p->html && strchr("<>&\"", *text) != NULL) {
            put(p, "&#%d;", *text);
        } else {
            put(p, "%c", *text);
        }
    }
}

static tacet_status finish(char **out, page *p, tacet_error *err) {
    if (p->text == NULL || p->at >= PAGE) {
        free(p->text);
        return tacet__fail(err, p->text == NULL ? TACET_NO_MEMORY : TACET_INVALID,
                           p->text == NULL ? "out of memory for a disclosure"
                                           : "a disclosure has one page; this is more");
    }
    *out = p->text;
    return TACET_OK;
}

/* ---- the registry's entry ---- */

/* *out is the caller's to drop, whatever is returned. */
static tacet_status load_facts(json_t **out, const char *text, tacet_error *err) {
    const char *name = NULL;
    json_t *value = NULL;
    *out = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : json_object();
    if (!json_is_object(*out)) {
        return tacet__fail(err, TACET_INVALID, "the facts are not a JSON object");
    }
    json_object_foreach(*out, name, value) {
        bool found = false;
        for (size_t i = 0; i < FIELDS; i++) {
            found = found || (SCHEMA[i].people && strcmp(SCHEMA[i].name, name) == 0);
        }
        if (!found || !json_is_string(value)) {
            return tacet__fail(err, TACET_INVALID, "fact '%.40s' is no text, or no field that people fill in", name);
        }
    }
    return TACET_OK;
}

static void put_quoted(page *p, const char *text) {
    put(p, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            put(p, "\\%c", *text);
        } else if ((unsigned char)*text < ' ') {
            put(p, " ");
        } else {
            put(p, "%c", *text);
        }
    }
    put(p, "\"");
}

tacet_status tacet_disclose_registry(char **out, const tacet_disclosure *d, tacet_error *err) {
    json_t *facts = NULL, *known = NULL;
    page p = {.text = NULL};
    *out = NULL;
    tacet_status status = load_facts(&facts, d->facts, err);
    status = status != TACET_OK ? status : tacet__disclose_known(&known, d, err);
    if (status != TACET_OK) {
        json_decref(facts);
        return status;
    }
    p.text = malloc(PAGE);
    const char *section = "";
    for (size_t i = 0; i < FIELDS && p.text != NULL; i++) {
        const field *f = &SCHEMA[i];
        if (strcmp(section, f->section) != 0) {
            section = f->section;
            put(&p, "%s:\n", section);
        }
        const char *said = json_string_value(json_object_get(f->people ? facts : known, f->name));
        put(&p, "  %s: ", f->name);
        if (f->kind == NUMBER) {
            put(&p, "%s", said != NULL ? said : "");
        } else {
            put_quoted(&p, said != NULL ? said : f->people ? "not stated" : "");
        }
        put(&p, "\n");
    }
    json_decref(known);
    json_decref(facts);
    status = finish(out, &p, err);
    if (status == TACET_OK && (status = tacet_disclose_check(*out, err)) != TACET_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

/* One line "  name: value" against the field that must stand there. */
static bool line_fits(const char *line, size_t length, const field *f) {
    char name[64], value[LINE];
    const char *colon = memchr(line, ':', length);
    if (length < 5 || strncmp(line, "  ", 2) != 0 || colon == NULL || colon[1] != ' ') {
        return false;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(colon - line - 2), line + 2);
    (void)snprintf(value, sizeof value, "%.*s", (int)(length - (size_t)(colon + 2 - line)), colon + 2);
    if (strcmp(name, f->name) != 0) {
        return false;
    }
    const size_t size = strlen(value);
    if (f->kind == NUMBER) {
        char *end = NULL;
        return size > 0 && isfinite(strtod(value, &end)) && *end == '\0' && strtod(value, NULL) >= 0;
    }
    if (size < 3 || value[0] != '"' || value[size - 1] != '"') {
        return false;
    }
    value[size - 1] = '\0';
    if (f->kind == CHOICE) {
        char wanted[LINE + 2];
        (void)snprintf(wanted, sizeof wanted, "|%s|", value + 1);
        return strstr(f->choices, wanted) != NULL && strchr(value + 1, '|') == NULL;
    }
    return true;
}

tacet_status tacet_disclose_check(const char *yaml, tacet_error *err) {
    const char *section = "";
    size_t line = 1;
    for (size_t i = 0; i < FIELDS; i++, line++) {
        const field *f = &SCHEMA[i];
        size_t length = strcspn(yaml, "\n");
        if (strcmp(section, f->section) != 0) {
            section = f->section;
            const size_t size = strlen(section);
            if (length != size + 1 || strncmp(yaml, section, size) != 0 || yaml[size] != ':') {
                return tacet__fail(err, TACET_PARSE, "line %zu: section '%s' is missing", line, section);
            }
            yaml += length + (yaml[length] == '\n');
            line++;
            length = strcspn(yaml, "\n");
        }
        if (!line_fits(yaml, length, f)) {
            return tacet__fail(err, TACET_PARSE, "line %zu: '%s' is missing, twice, or not what it may be", line,
                               f->name);
        }
        yaml += length + (yaml[length] == '\n');
    }
    return *yaml == '\0' ? TACET_OK : tacet__fail(err, TACET_PARSE, "line %zu: more than the schema has", line);
}

/* ---- the label ---- */

/* The chance of telling two equally likely values of a record apart, at most: (e^eps + delta) / (1 + e^eps). */
static double odds_of(double eps, double delta) {
    const double told = (1 + delta * exp(-eps)) / (1 + exp(-eps));
    return told < 1 ? told : 1;
}

static void heading(page *p, const char *text) {
    put(p, p->html ? "<h2>%s</h2>\n" : "\n%s\n", text);
}

static void paragraph(page *p, const char *text) {
    put(p, p->html ? "<p>" : "  ");
    put_escaped(p, text);
    put(p, p->html ? "</p>\n" : "\n");
}

static void put_odds(page *p, const json_t *known) {
    char text[LINE], said[2][TACET__ABOVE];
    const double eps = strtod(tacet__known(known, "eps"), NULL), delta = strtod(tacet__known(known, "delta"), NULL);
    if (strcmp(tacet__known(known, "variant"), "none") == 0) {
        paragraph(p, "No bound: " TACET_MANIFEST_STAMP ".");
        return;
    }
    (void)snprintf(text, sizeof text,
                   "Somebody who knows everything but %s guesses right half of the time without the release, and at "
                   "most %.1f times in 100 with it (eps = %s, delta = %s). %s",
                   tacet__known(known, "label_guess"), ceil(1000 * odds_of(eps, delta)) / 10,
                   tacet__above(said[0], eps), tacet__above(said[1], delta), tacet__known(known, "label_more"));
    paragraph(p, text);
}

static void put_label(page *p, const tacet_disclosure *d, const json_t *known) {
    char text[LINE], said[3][TACET__ABOVE];
    put(p, "%s",
        p->html ? "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Privacy label</title>\n"
                  "<style>body{font:16px/1.5 sans-serif;max-width:40em;margin:2em auto;padding:0 "
                  "1em}h2{font-size:1.1em;"
                  "margin-bottom:0}</style></head><body>\n<h1>Privacy label</h1>\n"
                : "PRIVACY LABEL\n");
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
    put(p, "%s", p->html ? "</body></html>\n" : "");
}

tacet_status tacet_disclose_label(char **out, const tacet_disclosure *d, bool html, tacet_error *err) {
    json_t *known = NULL;
    *out = NULL;
    const tacet_status status = tacet__disclose_known(&known, d, err);
    if (status != TACET_OK) {
        return status;
    }
    page p = {.text = malloc(PAGE), .html = html};
    if (p.text != NULL) {
        put_label(&p, d, known);
    }
    json_decref(known);
    return finish(out, &p, err);
}

/* Whether every release that a model names is an entry of the ledger. */
static tacet_status find_receipts(const char *model_text, const char *path, tacet_error *err) {
    tacet_contextual_model *model = NULL;
    tacet__ledger_report report;
    tacet_status status = tacet_contextual_model_decode(&model, model_text, strlen(model_text), err);
    for (size_t i = 0; status == TACET_OK && i < tacet_contextual_model_parts(model)->receipt_count; i++) {
        const tacet_receipt *r = &tacet_contextual_model_parts(model)->receipts[i];
        tacet__ledger_view *view = NULL;
        if (r->in_ledger) {
            status = tacet__ledger_load(&view, &report, path, r->entry_hash, err);
            tacet__ledger_view_close(view);
        }
    }
    tacet_contextual_model_free(model);
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
