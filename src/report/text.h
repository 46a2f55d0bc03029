/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - text that grows, and charts as SVG in it.
 * Ring: open. */
#pragma once

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
    TACET__SERIES_LEVEL,   /* one value, drawn over the whole width */
    TACET__SERIES_CONTOUR, /* a thin line that says nothing of its own */
    TACET__SERIES_CELLS    /* a square for each x and y, the fuller the larger z is */
} tacet__series_style;

/* A value that is NaN is not drawn: the line has a gap there. lower and upper, left and right may be NULL. */
typedef struct tacet__series {
    const char *name;
    double *x, *y, *z, *lower, *upper, *left, *right;
    const char **words; /* what the pointer is told at each point; NULL: nothing */
    size_t count;
    tacet__series_style style;
} tacet__series;

typedef enum tacet__axis_kind {
    TACET__AXIS_LINEAR,
    TACET__AXIS_LOG,
    TACET__AXIS_DATE,  /* days since 1970-01-01 */
    TACET__AXIS_LEVELS /* 0, 1, 2, … by their names */
} tacet__axis_kind;

typedef struct tacet__axis {
    const char *label, *unit; /* unit may be NULL */
    tacet__axis_kind kind;
    bool whole, bounded; /* ticks at whole numbers; exactly from lo to hi */
    double lo, hi;
    const char **levels;
    size_t level_count;
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
    char texts[TACET__TICKS][28];
} tacet__scale;

/* A range with round ends that covers [lo, hi] (any finite numbers; both > 0 when log) and about `wanted` round ticks.
 */
void tacet__scale_make(tacet__scale *scale, double lo, double hi, bool log, size_t wanted);
/* The scale of an axis whose data lie in [lo, hi], ticks with their texts: round numbers, powers of ten, the first days
 * of years or months, names of levels. */
void tacet__scale_axis(tacet__scale *scale, const tacet__axis *axis, double lo, double hi, size_t wanted);
/* Fills in the texts of numeric ticks. */
void tacet__scale_texts(tacet__scale *scale);
/* The axis of quantities that were chosen, not measured: exactly from the least to the largest of the values
 * (ascending, all > 0 when log), ticked at each. false, and nothing done: fewer than two, or too close together for
 * their labels. */
bool tacet__scale_values(tacet__scale *scale, const double *values, size_t count, bool log, size_t wanted);
/* Position of v between 0 (lo) and 1 (hi); clamped. */
double tacet__scale_at(const tacet__scale *scale, double v);

typedef enum tacet__chart_form {
    TACET__CHART_IN_PAGE, /* part of an HTML page, whose style applies */
    TACET__CHART_FETCHED, /* XML that a script puts into such a page */
    TACET__CHART_FILE     /* with its own style */
} tacet__chart_form;
/* Adds an <svg>. */
void tacet__chart_svg(tacet__text *text, const tacet__chart *chart, int width, tacet__chart_form form);
