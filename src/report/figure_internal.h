/* SPDX-License-Identifier: Apache-2.0 */
/* figure_internal.h - what the files that describe figures share: lists of numbers, axes, columns of a space.
 * Ring: open. */
#pragma once

#include <jansson.h>
#include <tacet/space/space.h>

enum { TACET__FIGURE_WORDS = 320 };

/* A list; NULL: the field is none. A number; NaN: it is none. */
json_t *tacet__figure_list(const json_t *object, const char *field);
double tacet__figure_real(const json_t *object, const char *field);
/* Appends a number; what is not finite is a gap. */
void tacet__figure_push(json_t *list, double v);
/* Appends a point; words NULL: its series has none. */
void tacet__figure_point(json_t *series, double x, double y, const char *words);
/* x, y, series are consumed. */
json_t *tacet__figure_chart(const char *title, json_t *x, json_t *y, json_t *series);
/* A series with y, lower, upper and words, and a point of it. */
json_t *tacet__figure_spread(const char *name, const char *style);
void tacet__figure_push_spread(json_t *series, double x, double y, double lower, double upper, const char *words);

/* A public column, from the JSON of a space or of a posterior: bounds as numbers or as texts. */
typedef struct tacet__figure_column {
    tacet_space_column typed;
    const tacet_space_traits *kind;
    const json_t *levels;
} tacet__figure_column;

/* "43", "2023-02-12", a level's name; and the axis with its scale, levels, bounds. */
void tacet__figure_cell(const tacet__figure_column *c, char out[TACET_SPACE_NAME], double value);
json_t *tacet__figure_axis(const tacet__figure_column *c);

json_t *tacet__figure_posterior(const json_t *data);
json_t *tacet__figure_uncertainty(const json_t *data);
json_t *tacet__figure_tried(const json_t *data);
json_t *tacet__figure_winners(const json_t *data);
/* ab.c: of a model that was learnt from a log, or in a study with contexts: every action in every context. */
json_t *tacet__figure_variants(const json_t *data);
/* figure_map.c: of a search, where its released rows lie; a list of charts, empty where there are none. */
json_t *tacet__figure_maps(const json_t *data);
