/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - decimal text to the nearest double, whatever the locale. Ring: pure. */
#pragma once

#include <stddef.h>

typedef enum tacet__number_kind {
    TACET__NUMBER_OK,
    TACET__NUMBER_EMPTY,      /* nothing, or blanks only */
    TACET__NUMBER_NOT_FINITE, /* nan, inf, infinity in any case, or beyond the largest double */
    TACET__NUMBER_NOT_ONE
} tacet__number_kind;

/* All of text, but for surrounding spaces and tabs: [+-] digits [. digits] [e [+-] digits], with at least one digit
 * before or after the point. text[length] must be readable and no part of a number (a NUL will do). *out is set on OK
 * only. */
tacet__number_kind tacet__number_parse(double *out, const char *text, size_t length);
