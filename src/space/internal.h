/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - between the readers of a space. Ring: pure. */
#ifndef TACET_SRC_SPACE_INTERNAL_H
#define TACET_SRC_SPACE_INTERNAL_H

#include <tacet/space/space.h>

/* A bound or a stand-in as text: a number, or a date of a date column. */
bool tacet__space_value(const tacet_space_column *column, double *out, const char *text, size_t length);
/* A unit as text: "5"; "10 %" of a log column (the factor 1.1); "30 days" or "2 weeks" of a date. */
bool tacet__space_unit(const tacet_space_column *column, double *out, const char *text);
/* The index of a level by its name; one more is added when there is none, into `levels` with room for it. Levels are
 * TACET_SPACE_NAME bytes each; TACET_SPACE_NONE: too long, or too many. */
size_t tacet__space_level(tacet_space_column *column, const char *text, size_t length);

#endif
