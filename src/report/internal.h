/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of the report share: sections as checked JSON, and results turned into sections.
 * Ring: open. */
#pragma once

#include "report/text.h"

#include <jansson.h>
#include <tacet/report/report.h>

enum {
    TACET__REPORT_SECTIONS = 512,
    TACET__REPORT_SERIES = 32,
    TACET__REPORT_POINTS = 100000,
    TACET__REPORT_ROWS = 5000,
    TACET__REPORT_COLUMNS = 32
};

struct tacet_report {
    char *title, *subtitle; /* NULL until a document gives them */
    int refresh;            /* seconds after which a browser loads the page again; 0: never */
    json_t *sections;       /* array; every one passed tacet__report_check */
};

/* PARSE names section and field. */
tacet_status tacet__report_check(const json_t *section, size_t number, tacet_error *err);
/* Turns what a program printed into sections at the end of `sections`; several simulations share one chart. */
tacet_status tacet__report_result(json_t *sections, const char *name, const json_t *result, tacet_error *err);
/* The same of a model that tacet learn wrote. */
tacet_status tacet__report_ab(json_t *sections, const char *name, const json_t *result, tacet_error *err);

/* Of simulations' results: their charts, and a table of all, which is last. */
json_t *tacet__report_simulations(const json_t *runs);

/* A checked chart section as numbers; the strings stay the section's. tacet__report_chart_clear frees. */
tacet_status tacet__report_chart(tacet__chart *chart, const json_t *section, tacet_error *err);
void tacet__report_chart_clear(tacet__chart *chart);

/* The string in a field; "" when there is none. */
const char *tacet__report_words(const json_t *object, const char *field);
