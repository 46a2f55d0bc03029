/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c - the table of column kinds: one const struct each, all that the library knows of it.
 * Ring: pure. A new kind is a line in TACET_SPACE_KINDS and a struct here; without the struct this file does not
 * compile. Days: the proleptic Gregorian calendar. */
#include "space/internal.h"

#include "core/fail.h"
#include "core/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The usual lengthscales of studies: a quarter of the range of a number; whole numbers and levels share much of their
 * shape. Chosen on made-up tuning problems (docs/tutorials/tuning.md). */
static const double USUAL_NUMBER = 0.5, USUAL_WHOLE = 1.5, USUAL_LEVEL = 2;
static const double WHOLE_MOST = 0x1p53; /* every whole number up to it is a double */
static const double DAYS_MOST = 4e6;     /* printed as dates; beyond, as numbers */

static bool is_whole(double x) {
    return x == floor(x) && fabs(x) <= WHOLE_MOST;
}

/* ---- numbers ---- */

static const char *read_number(double *out, const char *text, size_t length) {
    const tacet__number_kind kind = tacet__number_parse(out, text, length);
    return kind == TACET__NUMBER_OK ? NULL : kind == TACET__NUMBER_NOT_FINITE ? "not a finite number" : "not a number";
}

/* The shortest text that reads as the same number. */
static void print_number(const tacet_space_column *c, char *out, double value) {
    (void)c;
    for (int precision = 15; precision <= 17; precision++) {
        double again = 0;
        (void)snprintf(out, TACET_SPACE_NAME, "%.*g", precision, value);
        if (tacet__number_parse(&again, out, strlen(out)) == TACET__NUMBER_OK && again == value) {
            return;
        }
    }
}

/* Reading is off by 2^-53 of the number. */
static double number_rounding(double lo, double hi) {
    return fmax(fabs(lo), fabs(hi));
}

static tacet_status rule(const tacet_space_column *c, bool kept, const char *words, tacet_error *err) {
    return kept ? TACET_OK : tacet__fail(err, TACET_INVALID, "column '%s': %s", c->name, words);
}

static tacet_status check_number(const tacet_space_column *c, tacet_error *err) {
    (void)c;
    (void)err;
    return TACET_OK;
}

static tacet_status check_log(const tacet_space_column *c, tacet_error *err) {
    return rule(c, c->lo > 0, "the bounds of a log column must lie above 0, where the logarithm is", err);
}

static tacet_status check_integer(const tacet_space_column *c, tacet_error *err) {
    return rule(c, is_whole(c->lo) && is_whole(c->hi), "the bounds of an integer must be whole numbers", err);
}

static const tacet_space_traits KIND_REAL = {.name = "real",
                                             .days = "",
                                             .what = "a number",
                                             .bounds = "two numbers, [lower,upper]",
                                             .noisy = TACET_SPACE_REAL,
                                             .lengthscale = USUAL_NUMBER,
                                             .rounding = number_rounding,
                                             .read = read_number,
                                             .print = print_number,
                                             .check = check_number};

/* Reading is off by 2^-53 of the number, so 2^-53 in its logarithm, which is off by 2^-52 of itself at most. */
static double log_rounding(double lo, double hi) {
    return 1 + 2 * fmax(fabs(log(lo)), fabs(log(hi)));
}

static bool percent(double *amount, const char *text) {
    *amount = 1 + *amount / 100;
    return strcmp(text, "%") == 0;
}

static const tacet_space_traits KIND_LOG = {.name = "log",
                                            .days = "",
                                            .what = "a number",
                                            .bounds = "two numbers, [lower,upper]",
                                            .factor = true,
                                            .noisy = TACET_SPACE_LOG,
                                            .lengthscale = USUAL_NUMBER,
                                            .stretch = log,
                                            .shrink = exp,
                                            .rounding = log_rounding,
                                            .read = read_number,
                                            .print = print_number,
                                            .suffix = percent,
                                            .check = check_log};

static const tacet_space_traits KIND_INTEGER = {.name = "integer",
                                                .days = "",
                                                .what = "a number",
                                                .bounds = "two numbers, [lower,upper]",
                                                .whole = true,
                                                .noisy = TACET_SPACE_REAL,
                                                .lengthscale = USUAL_WHOLE,
                                                .rounding = number_rounding,
                                                .read = read_number,
                                                .print = print_number,
                                                .check = check_integer};

/* ---- days ---- */

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
    tacet__space_trim(&text, &length);
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

static const char *read_date(double *out, const char *text, size_t length) {
    return tacet_space_day(out, text, length) ? NULL : "not a date (YYYY, YYYY-MM or YYYY-MM-DD)";
}

static void print_date(const tacet_space_column *c, char *out, double value) {
    long year = 0;
    long month = 0;
    long day = 0;
    if (!(fabs(value) < DAYS_MOST)) {
        print_number(c, out, value);
        return;
    }
    date_of((long)floor(value), &year, &month, &day);
    (void)snprintf(out, TACET_SPACE_NAME, "%04ld-%02ld-%02ld", year, month, day);
}

static bool days_or_weeks(double *amount, const char *text) {
    const bool days = strcasecmp(text, "days") == 0 || strcasecmp(text, "day") == 0;
    const bool weeks = strcasecmp(text, "weeks") == 0 || strcasecmp(text, "week") == 0;
    *amount = weeks ? *amount * 7 : *amount;
    return days || weeks;
}

static tacet_status check_date(const tacet_space_column *c, tacet_error *err) {
    return rule(c, is_whole(c->lo) && is_whole(c->hi), "the bounds of a date must be days", err);
}

static const tacet_space_traits KIND_DATE = {.name = "date",
                                             .days = " days",
                                             .what = "a date, as text",
                                             .bounds = "two dates, [\"2021-01-01\",\"2021-12-31\"]",
                                             .whole = true,
                                             .text = true,
                                             .noisy = TACET_SPACE_DATE,
                                             .lengthscale = USUAL_NUMBER,
                                             .rounding = number_rounding,
                                             .read = read_date,
                                             .print = print_date,
                                             .suffix = days_or_weeks,
                                             .check = check_date};

/* ---- levels ---- */

static void print_level(const tacet_space_column *c, char *out, double value) {
    memcpy(out, c->levels[tacet_space_holds(c, value) ? (size_t)value : 0], TACET_SPACE_NAME);
}

static tacet_status check_levels(const tacet_space_column *c, tacet_error *err) {
    if (c->level_count < 2 || c->level_count > TACET_SPACE_LEVELS || c->levels == NULL) {
        return tacet__fail(err, TACET_INVALID, "column '%s': a category needs 2 to %d levels", c->name,
                           TACET_SPACE_LEVELS);
    }
    for (size_t i = 0; i < c->level_count; i++) {
        if (memchr(c->levels[i], '\0', TACET_SPACE_NAME) == NULL || c->levels[i][0] == '\0' ||
            !tacet__space_printable(c->levels[i])) {
            return tacet__fail(err, TACET_INVALID,
                               "column '%s': the name of a level is empty, longer than %d bytes or no plain UTF-8",
                               c->name, TACET_SPACE_NAME - 1);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(c->levels[i], c->levels[j]) == 0) {
                return tacet__fail(err, TACET_INVALID, "column '%s': level '%s' is named twice", c->name, c->levels[i]);
            }
        }
    }
    if (c->others != TACET_SPACE_NONE && c->others >= c->level_count) {
        return rule(c, false, "the level for others is none of its levels", err);
    }
    return rule(c,
                c->missing == TACET_SPACE_REFUSED ||
                    (c->missing == TACET_SPACE_STAND_IN && !isnan(c->stand_in) && tacet_space_holds(c, c->stand_in)),
                "a missing cell must be one of its levels", err);
}

static const tacet_space_traits KIND_CATEGORY = {.name = "category",
                                                 .days = "",
                                                 .what = "one of its levels, as text",
                                                 .levels = true,
                                                 .text = true,
                                                 .noisy = TACET_SPACE_CATEGORY,
                                                 .lengthscale = USUAL_LEVEL,
                                                 .print = print_level,
                                                 .check = check_levels};

/* ---- the table ---- */

static double no_distance(double own) {
    (void)own;
    return NAN;
}

static double no_rounding(double lo, double hi) {
    (void)lo;
    (void)hi;
    return NAN;
}

static const char *read_nothing(double *out, const char *text, size_t length) {
    (void)text;
    (void)length;
    *out = NAN;
    return "its kind is unknown";
}

static void print_nothing(const tacet_space_column *c, char *out, double value) {
    (void)c;
    (void)value;
    out[0] = '\0';
}

static tacet_status refuse(const tacet_space_column *c, tacet_error *err) {
    return rule(c, false, "its kind is none of real, log, integer, category, date", err);
}

static const tacet_space_traits UNKNOWN = {.days = "",
                                           .what = "of a known kind",
                                           .bounds = "those of a known kind",
                                           .lengthscale = NAN,
                                           .stretch = no_distance,
                                           .shrink = no_distance,
                                           .rounding = no_rounding,
                                           .read = read_nothing,
                                           .print = print_nothing,
                                           .check = refuse};

#define ENTRY(kind) [TACET_SPACE_##kind] = &KIND_##kind,
static const tacet_space_traits *const TABLE[] = {TACET_SPACE_KINDS(ENTRY)};
enum { KINDS = sizeof TABLE / sizeof TABLE[0] };

const tacet_space_traits *tacet_space_traits_of(const tacet_space_column *column) {
    const size_t kind = (size_t)column->kind;
    return kind < KINDS ? TABLE[kind] : &UNKNOWN;
}

bool tacet__space_kind_find(tacet_space_kind *out, const char *name) {
    for (size_t k = 0; name != NULL && k < KINDS; k++) {
        if (strcmp(TABLE[k]->name, name) == 0) {
            *out = (tacet_space_kind)k;
            return true;
        }
    }
    return false;
}
