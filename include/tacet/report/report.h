/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - one self-contained HTML page, and its charts as SVG, from result JSON.
 *
 * A report is filled with texts in the format of docs/report-format.md, or with what the programs print under --json,
 * which is laid out by its fields. All text is escaped; the page has no script, asks for nothing over a network and
 * says so to the browser. */
#ifndef TACET_REPORT_REPORT_H
#define TACET_REPORT_REPORT_H

#include <stddef.h>
#include <tacet/core/status.h>
#include <stdbool.h>
#include <stdint.h>
#include <tacet/outsourced/shared/manifest.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_report tacet_report;

/* An empty report. NO_MEMORY. */
TACET_API tacet_status tacet_report_create(tacet_report **out, tacet_error *err);
TACET_API void tacet_report_free(tacet_report *report); /* NULL is allowed */

/* Appends one JSON object: a document (format "tacet-report-1") or a result. `name` is what messages and headings call
 * it. PARSE names the section and field that is wrong, and the report stays as it was. */
TACET_API tacet_status tacet_report_add(tacet_report *report, const char *name, const char *json, size_t length,
                                        tacet_error *err);

/* The page, from malloc, ended by a NUL that *length does not count. STATE when nothing was added. */
TACET_API tacet_status tacet_report_html(const tacet_report *report, char **out, size_t *length, tacet_error *err);

/* The charts as files of their own. INVALID for an index at or beyond the count. */
TACET_API size_t tacet_report_charts(const tacet_report *report);
TACET_API tacet_status tacet_report_svg(const tacet_report *report, size_t index, char **out, size_t *length,
                                        tacet_error *err);

/* One figure: marks and scales as JSON, a section of kind "chart" (docs/report-format.md), from malloc. `kind` is one
 * of progress, posterior, uncertainty, tried, winners, arms, comparison, variants, budget, regret, utility, choice;
 * `data` the JSON that docs/report-format.md names for it. INVALID: no such kind, or nothing to draw in it. */
TACET_API tacet_status tacet_figure(char **out, const char *kind, const char *data, tacet_error *err);

/* what a privacy officer is asked: an entry for a public registry of deployments, and a label for people.
 *
 * Both are made from what is public: the manifest of a release, a released model, the status of a study or the result
 * of tuning, the totals of the ledger, and facts that only people know (who, why, where). What nobody said is written
 * as "not stated", never guessed. Words follow NIST SP 800-226. */

typedef struct tacet_disclosure {
    const tacet_manifest *manifest; /* of a release; or */
    const char *model;              /* the file that 'tacet learn' wrote; or */
    const char *study; /* the status of a study, as the service and 'tacet study status --json' tell it; or */
    const char *tuned; /* what 'tacet tune --json' printed */
    bool has_ledger;   /* then: what it adds up to, and its budget */
    const char *accounting;
    double spent_eps, spent_delta, budget_eps, budget_delta;
    uint64_t entries, uncovered;
    const char *facts; /* JSON object of texts: field of the registry -> what people say of it; NULL: none */
    const char *date;  /* of the disclosure, "2026-11-16" */
} tacet_disclosure;

/* Fills in what a ledger adds up to, after verifying it; errors as of tacet_ledger_verify. CORRUPT, too: releases that
 * a model names are not in it. */
TACET_API tacet_status tacet_disclose_ledger(tacet_disclosure *d, const char *path, tacet_error *err);
/* YAML, an entry by the registry's own schema. From malloc. INVALID: facts that are no object of texts, or name no
 * field that people fill in; what has no guarantee, such as a study that states none; what is no model of a log. */
TACET_API tacet_status tacet_disclose_registry(char **out, const tacet_disclosure *d, tacet_error *err);
/* One page: plain text, or HTML that stands by itself. From malloc. */
TACET_API tacet_status tacet_disclose_label(char **out, const tacet_disclosure *d, bool html, tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
