/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - text that grows, and charts as SVG in it.
 * Ring: open. */
#ifndef TACET_SRC_REPORT_TEXT_H
#define TACET_SRC_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Starts as all zeros. Once an allocation failed nothing more is added and `failed` stays true, so that a caller checks
 * once, at the end. */
typedef struct tacet__text {
    char *at; /* from malloc; ended by a NUL once anything was added */
    size_t length, capacity;
    bool failed;
} tacet__text;

void tacet__text_add(tacet__text *text, const char *words);
void tacet__text_format(tacet__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For HTML and XML, inside of elements and of quoted attributes. Control characters, which XML cannot hold, become
 * U+FFFD. The words must be UTF-8. */
void tacet__text_escape(tacet__text *text, const char *words);

typedef enum tacet__series_style {
    TACET__SERIES_LINE,
    TACET__SERIES_STEP,
    TACET__SERIES_POINTS,
    TACET__SERIES_LEVEL /* one value, drawn over the whole width */
} tacet__series_style;

/* A value that is NaN is not drawn: the line has a gap there. lower and upper may be NULL. */
typedef struct tacet__series {
    const char *name;
    double *x, *y, *lower, *upper;
    size_t count;
    tacet__series_style style;
} tacet__series;

typedef struct tacet__axis {
    const char *label, *unit; /* unit may be NULL */
    bool log;
} tacet__axis;

typedef struct tacet__chart {
    const char *title;
    tacet__axis x, y;
    tacet__series *series;
    size_t count;
} tacet__chart;

enum { TACET__CHART_WIDE = 760, TACET__CHART_NARROW = 400, TACET__TICKS = 24, TACET__PALETTE = 7 };

/* What an axis shows, for the tests too. */
typedef struct tacet__scale {
    double lo, hi; /* in the axis' own units; lo < hi, both > 0 when log */
    bool log;
    double ticks[TACET__TICKS];
    size_t count;
    int decimals; /* of the tick labels; -1: shortest */
} tacet__scale;

/* A range with round ends that covers [lo, hi] (any finite numbers; both > 0 when log) and about `wanted` round ticks.
 */
void tacet__scale_make(tacet__scale *scale, double lo, double hi, bool log, size_t wanted);
/* The axis of quantities that were chosen, not measured: exactly from the least to the largest of the values
 * (ascending, all > 0 when log), ticked at each. false, and nothing done: fewer than two, or too close together for
 * their labels. */
bool tacet__scale_values(tacet__scale *scale, const double *values, size_t count, bool log, size_t wanted);
/* Position of v between 0 (lo) and 1 (hi); clamped. */
double tacet__scale_at(const tacet__scale *scale, double v);

/* Adds an <svg>. `standalone`: with its own colours and namespace, as a file needs it; otherwise the page's style
 * applies. `id` keeps the names inside of one page apart. */
void tacet__chart_svg(tacet__text *text, const tacet__chart *chart, int width, size_t id, bool standalone);
/* The colours of text, axes and series, light and dark, as CSS custom properties for `selector`. */
void tacet__chart_style(tacet__text *text, const char *selector);

#endif
