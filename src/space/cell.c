/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c - one cell of a table: text into a number of a record, and back.
 * Ring: pure. Messages name the column and the rule, never the text. Days: the proleptic Gregorian calendar. */
#include <tacet/space/space.h>

#include "core/fail.h"
#include "core/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void trim(const char **text, size_t *length) {
    while (*length > 0 && ((*text)[0] == ' ' || (*text)[0] == '\t')) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t')) {
        (*length)--;
    }
}

static bool says_missing(const char *text, size_t length) {
    static const char *const WORDS[] = {"NA", "N/A", "NaN", "null", "?"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strlen(WORDS[i]) == length && strncasecmp(WORDS[i], text, length) == 0) {
            return true;
        }
    }
    return length == 0;
}

static size_t level_of(const tacet_space_column *c, const char *text, size_t length) {
    for (size_t i = 0; i < c->level_count && length < TACET_SPACE_NAME; i++) {
        if (memcmp(c->levels[i], text, length) == 0 && c->levels[i][length] == '\0') {
            return i;
        }
    }
    return TACET_SPACE_NONE;
}

static long days_in_month(long year, long month) {
    static const long DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return DAYS[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* Days since 1970-01-01 and back: Hinnant, "chrono-compatible low-level date algorithms"; years are counted from March,
 * so that the leap day is the last. */
static long days_of(long year, long month, long day) {
    const long y = month <= 2 ? year - 1 : year;
    const long era = (y >= 0 ? y : y - 399) / 400;
    const long of_era = y - era * 400;
    const long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(long days, long *year, long *month, long *day) {
    days += 719468;
    const long era = (days >= 0 ? days : days - 146096) / 146097;
    const long of_era = days - era * 146097;
    const long y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const long of_year = of_era - (365 * y + y / 4 - y / 100);
    const long m = (5 * of_year + 2) / 153;
    *day = of_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = y + era * 400 + (*month <= 2 ? 1 : 0);
}

static bool digits(long *out, const char **text, size_t *length, size_t count) {
    if (*length < count) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isdigit((unsigned char)(*text)[i])) {
            return false;
        }
        *out = *out * 10 + ((*text)[i] - '0');
    }
    *text += count;
    *length -= count;
    return true;
}

/* "-MM" or "-DD" where there is more. */
static bool part(long *out, const char **text, size_t *length) {
    if (*length == 0 || (*text)[0] != '-') {
        return *length == 0;
    }
    (*text)++;
    (*length)--;
    return digits(out, text, length, 2);
}

bool tacet_space_day(double *out, const char *text, size_t length) {
    long year = 0;
    long month = 1;
    long day = 1;
    trim(&text, &length);
    for (size_t i = 10; i < length; i++) { /* a time of day */
        if (i == 10 ? text[i] != 'T' && text[i] != ' '
                    : strchr("0123456789:.+-Z", text[i]) == NULL || text[i] == '\0') {
            return false;
        }
    }
    length = length > 10 ? 10 : length;
    if (!digits(&year, &text, &length, 4) || !part(&month, &text, &length) || !part(&day, &text, &length) ||
        length > 0 || year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
        return false;
    }
    *out = (double)days_of(year, month, day);
    return true;
}

static tacet_status numeric_cell(const tacet_space_column *c, double *out, const char *text, size_t length,
                                 tacet_error *err) {
    if (c->kind == TACET_SPACE_DATE) {
        return tacet_space_day(out, text, length)
                   ? TACET_OK
                   : tacet__fail(err, TACET_PARSE, "column '%s': not a date (YYYY, YYYY-MM or YYYY-MM-DD)", c->name);
    }
    const tacet__number_kind kind = tacet__number_parse(out, text, length);
    if (kind != TACET__NUMBER_OK) {
        return tacet__fail(err, TACET_PARSE, "column '%s': not a %snumber", c->name,
                           kind == TACET__NUMBER_NOT_FINITE ? "finite " : "");
    }
    if (c->kind == TACET_SPACE_INTEGER && *out != floor(*out)) {
        return tacet__fail(err, TACET_PARSE, "column '%s': not a whole number", c->name);
    }
    return TACET_OK;
}

tacet_status tacet_space_cell(const tacet_space_column *c, double *out, bool *missing, const char *text, size_t length,
                              tacet_error *err) {
    const bool category = c->kind == TACET_SPACE_CATEGORY;
    const char *inner = text;
    size_t size = length;
    trim(&inner, &size);
    const size_t level = category ? level_of(c, inner, size) : TACET_SPACE_NONE;
    const bool absent = level == TACET_SPACE_NONE && says_missing(inner, size);
    *out = NAN;
    if (missing != NULL) {
        *missing = absent;
    }
    if (absent) {
        if (c->missing == TACET_SPACE_REFUSED) {
            return tacet__fail(err, TACET_PARSE,
                               "column '%s': the cell is missing, and the space does not say what stands for it",
                               c->name);
        }
        *out = c->missing == TACET_SPACE_FLAG ? (double)NAN : c->stand_in;
        return TACET_OK;
    }
    if (!category) {
        return numeric_cell(c, out, text, length, err);
    }
    if (level == TACET_SPACE_NONE && c->others == TACET_SPACE_NONE) {
        return tacet__fail(err, TACET_PARSE, "column '%s': the cell is in no level, and there is no level for others",
                           c->name);
    }
    *out = (double)(level != TACET_SPACE_NONE ? level : c->others);
    return TACET_OK;
}

bool tacet_space_holds(const tacet_space_column *c, double value) {
    if (isnan(value)) {
        return c->missing == TACET_SPACE_FLAG;
    }
    if (c->kind == TACET_SPACE_CATEGORY) {
        return value >= 0 && value < (double)c->level_count && value == floor(value);
    }
    const bool steps = c->kind == TACET_SPACE_INTEGER || c->kind == TACET_SPACE_DATE;
    return value >= c->lo && value <= c->hi && (!steps || value == floor(value));
}

void tacet_space_text(const tacet_space_column *c, char *out, double value) {
    out[0] = '\0';
    if (isnan(value)) {
        return;
    }
    if (c->kind == TACET_SPACE_CATEGORY) {
        const size_t level = tacet_space_holds(c, value) ? (size_t)value : 0;
        memcpy(out, c->levels[level], TACET_SPACE_NAME);
    } else if (c->kind == TACET_SPACE_DATE && fabs(value) < 4e6) {
        long year = 0;
        long month = 0;
        long day = 0;
        date_of((long)floor(value), &year, &month, &day);
        (void)snprintf(out, TACET_SPACE_NAME, "%04ld-%02ld-%02ld", year, month, day);
    } else {
        for (int precision = 15; precision <= 17; precision++) {
            double again = 0;
            (void)snprintf(out, TACET_SPACE_NAME, "%.*g", precision, value);
            if (tacet__number_parse(&again, out, strlen(out)) == TACET__NUMBER_OK && again == value) {
                return;
            }
        }
    }
}
