/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - one self-contained HTML page, and its charts as SVG, from result JSON.
 *
 * A report is filled with texts in the format of docs/report-format.md, or with what the programs print under --json,
 * which is laid out by its fields. All text is escaped; the page has no script, asks for nothing over a network and
 * says so to the browser. */
#ifndef TACET_REPORT_REPORT_H
#define TACET_REPORT_REPORT_H

#include <stddef.h>
#include <tacet/core/export.h>
#include <tacet/core/status.h>

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

#ifdef __cplusplus
}
#endif
#endif
