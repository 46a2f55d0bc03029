/* SPDX-License-Identifier: Apache-2.0 */
/* json_numbers.c - 1e-6 instead of 9.9999999999999995e-7.
 * Ring: pure. A writer that prints every double with 17 digits, as jansson does, is exact and hard to read; 15 or 16
 * digits mostly do. Which of them do is found by reading them back, so that no locale and no library can change a
 * value. Source: none. Cost: one pass; a few conversions for each number of 16 digits and more. */
#include "core/json_numbers.h"

#include "core/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_MOST = 32, LONG = 17 }; /* bytes; digits and point of what may be shortened */

/* As JSON and jansson have it: a point or an exponent, which has no plus and no leading zeros. */
static void tidy(char out[NUMBER_MOST + 4], const char *number) {
    const size_t digits = strcspn(number, "e");
    const char *power = number + digits;
    if (*power == '\0') {
        (void)snprintf(out, NUMBER_MOST + 4, "%s%s", number, strchr(number, '.') != NULL ? "" : ".0");
        return;
    }
    const bool negative = power[1] == '-';
    power += 1 + strspn(power + 1, "+-0");
    (void)snprintf(out, NUMBER_MOST + 4, "%.*se%s%s", (int)digits, number, negative ? "-" : "", power);
}

/* Copies a number of so many bytes to `out`, which may overlap in front of it; returns how many it has there. */
static size_t copy_number(char *out, const char *in, size_t length) {
    double value = 0;
    double again = 0;
    if (length >= LONG && length <= NUMBER_MOST && strcspn(in, ".e") < length &&
        tacet__number_parse(&value, in, length) == TACET__NUMBER_OK) {
        for (int digits = 15; digits < 17; digits++) {
            char number[NUMBER_MOST];
            char text[NUMBER_MOST + 4];
            (void)snprintf(number, sizeof number, "%.*g", digits, value);
            tidy(text, number);
            const size_t size = strlen(text);
            if (size < length && tacet__number_parse(&again, text, size) == TACET__NUMBER_OK && again == value) {
                memcpy(out, text, size);
                return size;
            }
        }
    }
    memmove(out, in, length);
    return length;
}

void tacet__json_shorten(char *text) {
    const char *in = text;
    char *out = text;
    bool quoted = false;
    while (*in != '\0') {
        const size_t length = quoted ? 0 : strspn(in, "+-.0123456789eE");
        if (length > 0 && *in != 'e') { /* an e outside of numbers is that of true or false */
            out += copy_number(out, in, length);
            in += length;
            continue;
        }
        quoted = quoted != (*in == '"');
        if (quoted && *in == '\\' && in[1] != '\0') {
            *out++ = *in++;
        }
        *out++ = *in++;
    }
    memset(out, 0, (size_t)(in - out));
}
