/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - between the readers of a space. Ring: pure. */
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

#endif
