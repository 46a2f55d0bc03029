/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - records of a space as points of a box, and what its readers share. Ring: pure. */
#ifndef TACET_SRC_SPACE_INTERNAL_H
#define TACET_SRC_SPACE_INTERNAL_H

#include <jansson.h>
#include <tacet/space/space.h>

/* Blanks off both ends. */
void tacet__space_trim(const char **text, size_t *length);
/* UTF-8 without control characters: it will be printed, and written as JSON. */
bool tacet__space_printable(const char *name);
bool tacet__space_kind_find(tacet_space_kind *out, const char *name);
/* A bound or a stand-in as text: a number, or a date of a date column. */
bool tacet__space_value(const tacet_space_column *column, double *out, const char *text, size_t length);
/* A unit as text: "5"; "10 %" of a log column (the factor 1.1); "30 days" or "2 weeks" of a date. */
bool tacet__space_unit(const tacet_space_column *column, double *out, const char *text);
/* The index of a level by its name; one more is added when there is none, into `levels` with room for it. Levels are
 * TACET_SPACE_NAME bytes each; TACET_SPACE_NONE: too long, or too many. */
size_t tacet__space_level(tacet_space_column *column, const char *text, size_t length);

/* A value as JSON has it: a number, or text. */
json_t *tacet__space_json(const tacet_space_column *column, double value);

/* A number of the column where distances are measured, and back. */
double tacet__space_stretch(const tacet_space_column *column, double own);
double tacet__space_shrink(const tacet_space_column *column, double stretched);
/* The value at a share in [0, 1] of the column: every level, whole number or part of the bounds has its even part. And
 * the share in whose part a value lies, in its middle where parts are counted. */
double tacet__space_at(const tacet_space_column *column, double share);
double tacet__space_share(const tacet_space_column *column, double value);
/* The number at a share of the way from the lower to the upper bound, which are reached exactly; not rounded. */
double tacet__space_along(const tacet_space_column *column, double share);
/* How many different values a column has, at most `most`; a category all of its levels. */
size_t tacet__space_values(const tacet_space_column *column, size_t most);

tacet_status tacet_space_copy(tacet_space *out, const tacet_space *space, tacet_error *err);
/* Copies the column, levels included, to the end. INVALID names column and rule: a name that is empty, too long or
 * taken, bounds that are reversed or not finite, a unit of 0 (or of a log column: a factor not above 1), a log column
 * through 0, an integer's bounds that are not whole, no level or one, a level twice, a stand-in outside. NO_MEMORY. */
tacet_status tacet_space_add(tacet_space *space, const tacet_space_column *column, tacet_error *err);
/* Whether it lies within the bounds, is whole where it must be, is a level. NaN: only where there is a flag. */
bool tacet_space_holds(const tacet_space_column *column, double value);
/* Coordinates of a record: one for a numeric column, one more for its missing flag, levels - 1 for a category: a
 * regular simplex about 0 with sides of length 1. */
size_t tacet_space_dims(const tacet_space *space);
size_t tacet_space_column_dims(const tacet_space_column *column);
/* The box that all coordinates lie in; dims of each. A unit of 0 counts as half the width of the bounds. */
void tacet_space_box(const tacet_space *space, double *low, double *high);
/* A total function: clips to the bounds, a NaN without a flag is the middle, a level that is none the nearest. */
void tacet_space_embed(const tacet_space *space, double *coordinates, const double *record);
/* The record nearest to the coordinates, column by column: clipped, rounded to whole numbers and days, the nearest
 * level. */
void tacet_space_invert(const tacet_space *space, double *record, const double *coordinates);
/* Vertex `level` of the simplex of `levels` levels: levels - 1 coordinates. */
void tacet_space_vertex(double *out, size_t level, size_t levels);
/* The stated metric between records, and its largest value. Clips as embedding does. */
double tacet_space_distance(const tacet_space *space, const double *a, const double *b);
size_t tacet_space_numbers(const tacet_space *space); /* columns of all kinds but categories */
/* How many columns count as a category in the metric: categories, and missing flags. */
size_t tacet_space_categories(const tacet_space *space);
/* At most `most` different records spread evenly over the space, count x *found, one after the other: every combination
 * of levels where they fit, each with the same numeric points of a low-discrepancy sequence, rounded where the column
 * has whole numbers or days. Deterministic. A missing flag is never set. */
tacet_status tacet_space_spread(const tacet_space *space, double *records, size_t *found, size_t most,
                                tacet_error *err);

#endif
