/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - a report as an object: created, filled, drawn.
 * Ring: open. Cost: O(size of what was added). */
#include "report/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "report/figure.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { REFRESH_MOST = 3600 };
static const char FORMAT[] = "tacet-report-1";

tacet_status tacet_report_create(tacet_report **out, tacet_error *err) {
    *out = TACET__ZALLOC(tacet_report, 1);
    if (*out != NULL) {
        (*out)->sections = json_array();
    }
    if (*out == NULL || (*out)->sections == NULL) {
        free(*out);
        *out = NULL;
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory creating a report");
    }
    return TACET_OK;
}

void tacet_report_free(tacet_report *report) {
    if (report != NULL) {
        json_decref(report->sections);
        free(report->title);
        free(report->subtitle);
        free(report);
    }
}

/* The first document names the report. */
static bool keep_words(char **kept, const json_t *document, const char *field) {
    const char *words = json_string_value(json_object_get(document, field));
    if (*kept == NULL && words != NULL) {
        *kept = strdup(words);
        return *kept != NULL;
    }
    return true;
}

static tacet_status add_document(json_t *sections, const json_t *document, tacet_error *err) {
    const json_t *own = json_object_get(document, "sections");
    if (!json_is_array(own)) {
        return tacet__fail(err, TACET_PARSE, "'sections' is missing or no list");
    }
    return json_array_extend(sections, (json_t *)(size_t)own) == 0
               ? TACET_OK
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory reading a report");
}

tacet_status tacet_report_add(tacet_report *report, const char *name, const char *json, size_t length,
                              tacet_error *err) {
    json_error_t where;
    json_t *root = json_loadb(json, length, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(root)) {
        json_decref(root);
        return root == NULL ? tacet__fail(err, TACET_PARSE, "%.60s: line %d: %.120s", name, where.line, where.text)
                            : tacet__fail(err, TACET_PARSE, "%.60s: no JSON object", name);
    }
    /* Worked on a copy, so that the report stays as it was when something is wrong. */
    tacet_error inner = {TACET_OK, ""};
    json_t *sections = json_deep_copy(report->sections);
    tacet_status status = sections != NULL ? TACET_OK : tacet__fail(&inner, TACET_NO_MEMORY, "out of memory");
    TACET_THEN(status, strcmp(tacet__report_words(root, "format"), FORMAT) == 0
                           ? add_document(sections, root, &inner)
                           : tacet__report_result(sections, name, root, &inner));
    if (status == TACET_OK && json_array_size(sections) > TACET__REPORT_SECTIONS) {
        status = tacet__fail(&inner, TACET_PARSE, "more than %d sections", TACET__REPORT_SECTIONS);
    }
    for (size_t i = 0; status == TACET_OK && i < json_array_size(sections); i++) {
        status = tacet__report_check(json_array_get(sections, i), i + 1, &inner);
    }
    if (status == TACET_OK &&
        !(keep_words(&report->title, root, "title") && keep_words(&report->subtitle, root, "subtitle"))) {
        status = tacet__fail(&inner, TACET_NO_MEMORY, "out of memory");
    }
    if (status == TACET_OK) {
        const json_int_t seconds = json_integer_value(json_object_get(root, "refresh"));
        report->refresh = seconds > 0 && seconds <= REFRESH_MOST ? (int)seconds : report->refresh;
    }
    json_decref(root);
    if (status != TACET_OK) {
        json_decref(sections);
        return tacet__fail(err, status, "%.60s: %.170s", name, inner.message);
    }
    json_decref(report->sections);
    report->sections = sections;
    return TACET_OK;
}

/* The index-th chart; NULL beyond the last. *count is how many there are up to it. */
static const json_t *find_chart(const tacet_report *report, size_t index, size_t *count) {
    *count = 0;
    for (size_t i = 0; i < json_array_size(report->sections); i++) {
        const json_t *section = json_array_get(report->sections, i);
        if (strcmp(tacet__report_words(section, "kind"), "chart") == 0 && (*count)++ == index) {
            return section;
        }
    }
    return NULL;
}

size_t tacet_report_charts(const tacet_report *report) {
    size_t count = 0;
    (void)find_chart(report, SIZE_MAX, &count);
    return count;
}

tacet_status tacet_report_svg(const tacet_report *report, size_t index, char **out, size_t *length, tacet_error *err) {
    size_t count = 0;
    const json_t *section = find_chart(report, index, &count);
    *out = NULL;
    *length = 0;
    return section != NULL ? tacet__figure_svg(out, length, section, TACET__CHART_WIDE, TACET__CHART_FILE, err)
                           : tacet__fail(err, TACET_INVALID, "no chart %zu: the report has %zu", index, count);
}
