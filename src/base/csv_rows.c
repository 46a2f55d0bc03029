/* csv_rows.c - many records of numbers at once.
 * Ring: base. A record of plain numbers is read in one pass, eight bytes at a time: where the digits end is one
 * addition and a count of trailing zeros, their value three multiplications (packed decimal digits, added up in pairs,
 * fours and eights). Quotes, blanks, exponents, CR alone, or anything wrong go the way of csv.c, which has the rules
 * and the messages; so there is one set of rules. Cost: about 8 ns a number of 7 characters. */
#include "base/csv_internal.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 8, EXACT_FRACTION = 22 };

static const double TENS[EXACT_FRACTION + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const uint64_t WHOLE_TENS[WORD + 1] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* Eight decimal digits, a byte each, the first in the lowest byte. */
static inline uint64_t eight(uint64_t x) {
    x = x * 10 + (x >> 8); /* every second byte: a pair */
    const uint64_t low = x & UINT64_C(0x000000ff000000ff);
    const uint64_t high = (x >> 16) & UINT64_C(0x000000ff000000ff);
    /* pair 1 weighs 10^6 and pair 3 100; pair 2 10^4 and pair 4 1; the sums meet in the upper half */
    return ((low * (100 + (UINT64_C(1000000) << 32))) + (high * (1 + (UINT64_C(10000) << 32)))) >> 32;
}

/* Appends the digits at `at` to *digits and counts them; returns where they end. Beyond 19 of them *digits means
 * nothing. Reads up to 7 bytes more than the digits and the byte behind them. */
static inline const char *take_digits(const char *at, uint64_t *digits, unsigned *count) {
    for (;;) {
        uint64_t word = 0;
        memcpy(&word, at, sizeof word);
        const uint64_t x = le64toh(word) ^ UINT64_C(0x3030303030303030);
        /* The top bit of the first byte above 9 is set; a carry reaches only bytes behind it. */
        const uint64_t other = ((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080);
        if (other == 0) {
            *digits = *digits * WHOLE_TENS[WORD] + eight(x);
            *count += WORD;
            at += WORD;
            continue;
        }
        const unsigned n = (unsigned)__builtin_ctzll(other) / 8;
        if (n > 0) {
            *digits = *digits * WHOLE_TENS[n] + eight(x << (64 - 8 * n));
            *count += n;
        }
        return at + n;
    }
}

static inline double signed_value(double value, uint64_t negative) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    bits |= negative << 63;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A number in its usual form, [-] digits [. digits]; NULL for all others, which may still be numbers. Without `out` it
 * is only looked at. */
static const char *long_number(double *out, const char *at) {
    const uint64_t negative = *at == '-';
    uint64_t digits = 0;
    unsigned whole = 0;
    unsigned fraction = 0;
    at = take_digits(at + negative, &digits, &whole);
    if (whole == 0) {
        return NULL;
    }
    if (*at == '.') {
        at = take_digits(at + 1, &digits, &fraction);
        if (fraction == 0) {
            return NULL;
        }
    }
    if (whole + fraction > TACET__NUMBER_DIGITS) {
        return NULL;
    }
    if (out != NULL) {
        *out = signed_value(digits <= UINT64_C(1) << 53 ? (double)digits / TENS[fraction] /* one rounding: both exact */
                                                        : tacet__number_exact(digits, -(int)fraction),
                            negative);
    }
    return at;
}

/* The same, mostly: numbers of up to seven characters, a point among them, are one word. */
static inline const char *plain_number(double *out, const char *at) {
    const uint64_t negative = *at == '-';
    uint64_t word = 0;
    memcpy(&word, at + negative, sizeof word);
    const uint64_t x = le64toh(word) ^ UINT64_C(0x3030303030303030);
    const uint64_t other = ((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080);
    /* Behind a first byte that is no digit a carry may have come; a point, 0x1e here, sends none. */
    const uint64_t second = other & (other - 1);
    const unsigned whole = (unsigned)__builtin_ctzll(other | UINT64_C(1) << 63) / 8;
    if (((x >> (8 * whole)) & 0xff) != ('.' ^ '0') || second == 0 || whole == 0) {
        return long_number(out, at);
    }
    const unsigned end = (unsigned)__builtin_ctzll(second) / 8;
    const unsigned fraction = end - whole - 1;
    if (fraction == 0) {
        return NULL;
    }
    if (out != NULL) {
        const uint64_t before = (UINT64_C(1) << (8 * whole)) - 1;
        const uint64_t joined = (x & before) | ((x >> 8) & ~before);
        *out = signed_value((double)eight(joined << (64 - 8 * (end - 1))) / TENS[fraction], negative);
    }
    return at + negative + end;
}

/* A number in any other form without quotes or line ends inside. */
static const char *other_number(double *out, const tacet_csv *csv, const char *at) {
    const char *end = at;
    while ((csv->stops[(unsigned char)*end] & STOP_PLAIN) == 0) {
        end++;
    }
    return *end != '"' && tacet__number_parse(out, at, (size_t)(end - at)) == TACET__NUMBER_OK ? end : NULL;
}

/* One record beginning at `at`; returns the byte behind its line end. NULL: not so simple, or not complete. */
static inline const char *simple_record(double *out, const tacet_csv *csv, const char *at, bool look) {
    const char delimiter = csv->settings.delimiter;
    if (*at == '\n' || *at == '\r') {
        return NULL;
    }
    for (size_t j = 0;; j++) {
        const size_t place = csv->places[j];
        if (place == CSV_SKIP) {
            if (*at == '"') {
                return NULL;
            }
            while ((csv->stops[(unsigned char)*at] & STOP_PLAIN) == 0) {
                at++;
            }
        } else {
            const char *end = plain_number(look ? NULL : &out[place], at);
            if (end == NULL || (*end != delimiter && *end != '\n' && *end != '\r')) {
                end = other_number(&out[place], csv, at);
            }
            if (end == NULL) {
                return NULL;
            }
            at = end;
        }
        if (j + 1 == csv->columns) {
            break;
        }
        if (*at != delimiter) {
            return NULL;
        }
        at++;
    }
    return *at == '\n' ? at + 1 : *at == '\r' && at[1] == '\n' ? at + 2 : NULL;
}

/* Where each column's number goes. False: one is asked for twice, or the delimiter could be part of a number. */
static bool plan(tacet_csv *csv, const size_t *columns, size_t count) {
    for (size_t j = 0; j < csv->columns; j++) {
        csv->places[j] = CSV_SKIP;
    }
    for (size_t i = 0; i < count; i++) {
        if (csv->places[columns[i]] != CSV_SKIP) {
            return false;
        }
        csv->places[columns[i]] = i;
    }
    return strchr("0123456789+-.eE \t", csv->settings.delimiter) == NULL;
}

static tacet_status other_record(tacet_csv *csv, bool *found, double *out, const size_t *columns, size_t count,
                                 tacet_error *err) {
    tacet_status status = tacet_csv_next(csv, found, err);
    if (status == TACET_OK && *found) {
        status = tacet_csv_numbers(csv, out, columns, count, err);
        csv->records += status == TACET_OK;
        csv->current = status != TACET_OK;
    }
    return status;
}

static inline tacet_status read_rows(tacet_csv *csv, double *out, size_t *got, const size_t *columns, size_t count,
                                     size_t most, bool look, tacet_error *err) {
    *got = 0;
    for (size_t i = 0; i < count; i++) {
        if (columns[i] >= csv->columns) {
            return tacet__fail(err, TACET_INVALID, "%s: column %zu of %zu", csv->name, columns[i], csv->columns);
        }
    }
    csv->places = csv->places != NULL ? csv->places : TACET__ZALLOC(size_t, csv->columns);
    if (csv->places == NULL) {
        return tacet__csv_no_memory(csv, err);
    }
    const bool simple = plan(csv, columns, count);
    csv->records += csv->current;
    csv->current = false;
    while (*got < most) {
        const char *at = csv->buffer + csv->at;
        double *to = look ? out : out + *got * count;
        const char *next =
            simple && !csv->after_return && csv->failure.status == TACET_OK ? simple_record(to, csv, at, look) : NULL;
        if (next != NULL && (size_t)(next - at) <= csv->settings.most_bytes) {
            csv->at += (size_t)(next - at);
            csv->record_line = csv->line++;
            csv->records++;
        } else {
            bool found = false;
            const tacet_status status = other_record(csv, &found, to, columns, count, err);
            if (status != TACET_OK || !found) {
                return status;
            }
        }
        ++*got;
    }
    return TACET_OK;
}

tacet_status tacet_csv_rows(tacet_csv *csv, double *out, size_t *got, const size_t *columns, size_t count, size_t most,
                            tacet_error *err) {
    return read_rows(csv, out, got, columns, count, most, false, err);
}

tacet_status tacet_csv_check(tacet_csv *csv, double *scratch, size_t *got, const size_t *columns, size_t count,
                             tacet_error *err) {
    return read_rows(csv, scratch, got, columns, count, SIZE_MAX, true, err);
}
