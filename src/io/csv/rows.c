/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - many records of numbers at once.
 * Ring: io. A record of plain numbers is read in one pass, eight bytes at a time: where the digits end is one
 * addition and a count of trailing zeros, their value three multiplications (packed decimal digits, added up in pairs,
 * fours and eights). In a block all delimiters and line ends are found beforehand (delimiters.c): a processor then
 * works on several numbers at once, since none must be read to know where the next begins; and a block that is only
 * looked at needs no more than the rules between neighbouring characters. Quotes, blanks, exponents, CR alone, or
 * anything wrong go the way of csv.c, which has the rules and the messages; so there is one set of rules. Cost: about 8
 * ns a number of 7 characters, half of that in a block; half a nanosecond where a block is looked at. */
#include "io/csv/internal.h"

#include "io/csv/delimiters.h"
#include "core/fail.h"
#include "core/memory.h"
#include "core/number.h"

#include <endian.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <stdlib.h>
#include <string.h>

enum { WORD = 8, EXACT_FRACTION = 22, MOST_MARKED = 1 << 18 };

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
        *out = signed_value((double)(int64_t)eight(joined << (64 - 8 * (end - 1))) / TENS[fraction], negative);
    }
    return at + negative + end;
}

#ifdef __SSE2__
static inline __m128i pair_of(const void *low, const void *high) {
    double bits = 0;
    double more = 0;
    memcpy(&bits, low, sizeof bits);
    memcpy(&more, high, sizeof more);
    return _mm_castpd_si128(_mm_set_pd(more, bits));
}

static inline __m128i both(const uint64_t words[2]) {
    return _mm_loadu_si128((const __m128i *)(const void *)words);
}
#endif

/* What numbers of one number of decimals have in common; twice, for two of them at once. */
typedef struct shape {
    size_t fraction; /* digits behind the point, 1 to 6; 0: no such shape is known */
    size_t least;    /* characters: a digit, the point, the fraction */
    uint64_t point_at[2], point[2];
    uint64_t whole[2], behind[2]; /* the bytes before the point, and behind it, in a word that ends with the number */
    double tens;
} shape;

static void set_shape(shape *s, const char *at, const char *end) {
    const char *point = memchr(at, '.', (size_t)(end - at));
    const size_t fraction = point != NULL ? (size_t)(end - point) - 1 : 0;
    s->fraction = fraction <= WORD - 2 ? fraction : 0;
    if (s->fraction > 0) {
        const unsigned bits = (unsigned)(8 * (WORD - 1 - fraction));
        s->least = fraction + 2;
        for (size_t i = 0; i < 2; i++) {
            s->point_at[i] = UINT64_C(0xff) << bits;
            s->point[i] = (uint64_t)('.' ^ '0') << bits;
            s->whole[i] = (UINT64_C(1) << bits) - 1;
            s->behind[i] = ~(s->whole[i] | s->point_at[i]);
        }
        s->tens = TENS[fraction];
    }
}

/* A number in [at, end) of the shape of the one before it and of up to eight characters: with both ends known it is a
 * load, and no digit is looked for. False: it is not like that. Reads the eight bytes before `end`. */
static inline bool shaped_number(double *out, const char *at, const char *end, const shape *s) {
    const uint64_t negative = *at == '-';
    const size_t length = (size_t)(end - at) - negative;
    if (length - s->least > WORD - s->least) { /* wraps around when it is shorter */
        return false;
    }
    uint64_t word = 0;
    memcpy(&word, end - WORD, sizeof word);
    /* Digits are 0 to 9, a point 0x1e; what stands before the number becomes zeros. */
    const uint64_t x = (le64toh(word) ^ UINT64_C(0x3030303030303030)) & (~UINT64_C(0) << ((8 * (WORD - length)) & 63));
    const uint64_t joined = (x & s->behind[0]) | (x & s->whole[0]) << 8;
    const uint64_t other = ((joined + UINT64_C(0x7676767676767676)) | joined) & UINT64_C(0x8080808080808080);
    if ((((x & s->point_at[0]) ^ s->point[0]) | other) != 0) {
        return false;
    }
    *out = signed_value((double)(int64_t)eight(joined) / s->tens, negative);
    return true;
}

#ifdef __SSE2__
/* Two such numbers side by side: the same steps, except that products of neighbours add up the digits. */
static inline bool shaped_pair(double *first, double *second, const char *const at[2], const char *const end[2],
                               const shape *s) {
    static const uint64_t KEEP[WORD + 1] = {0,
                                            UINT64_C(0xff) << 56,
                                            UINT64_C(0xffff) << 48,
                                            UINT64_C(0xffffff) << 40,
                                            UINT64_C(0xffffffff) << 32,
                                            UINT64_C(0xffffffffff) << 24,
                                            UINT64_C(0xffffffffffff) << 16,
                                            UINT64_C(0xffffffffffffff) << 8,
                                            UINT64_MAX};
    static const double SIGN[2] = {0.0, -0.0};
    const size_t minus[2] = {*at[0] == '-', *at[1] == '-'};
    const size_t length[2] = {(size_t)(end[0] - at[0]) - minus[0], (size_t)(end[1] - at[1]) - minus[1]};
    if (length[0] - s->least > WORD - s->least || length[1] - s->least > WORD - s->least) {
        return false;
    }
    const __m128i text = pair_of(end[0] - WORD, end[1] - WORD);
    const __m128i x =
        _mm_and_si128(_mm_xor_si128(text, _mm_set1_epi8('0')), pair_of(&KEEP[length[0]], &KEEP[length[1]]));
    const __m128i joined =
        _mm_or_si128(_mm_and_si128(x, both(s->behind)), _mm_slli_epi64(_mm_and_si128(x, both(s->whole)), 8));
    const __m128i other = _mm_or_si128(_mm_subs_epu8(joined, _mm_set1_epi8(9)),
                                       _mm_xor_si128(_mm_and_si128(x, both(s->point_at)), both(s->point)));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(other, _mm_setzero_si128())) != 0xffff) {
        return false;
    }
    const __m128i tens = _mm_mullo_epi16(_mm_and_si128(joined, _mm_set1_epi16(0xff)), _mm_set1_epi16(10));
    const __m128i twos = _mm_add_epi16(tens, _mm_srli_epi16(joined, 8));
    const __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(100 | 1 << 16));
    const __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(10000 | 1 << 16));
    const __m128d values = _mm_div_pd(_mm_cvtepi32_pd(eights), _mm_set1_pd(s->tens));
    const __m128d signs = _mm_loadh_pd(_mm_load_sd(&SIGN[minus[0]]), &SIGN[minus[1]]);
    const __m128d out = _mm_or_pd(values, signs);
    _mm_store_sd(first, out);
    _mm_storeh_pd(second, out);
    return true;
}
#endif

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

/* Where a block's fields end. */
typedef struct marks {
    const char *text; /* what the places count from */
    size_t count, next;
    shape shape;
} marks;

/* A block is complete, so the buffer does not move under the places. */
static bool whole_block(const tacet_csv *csv) {
    const size_t size = csv->end - csv->at;
    return csv->like != NULL && csv->ended && !csv->after_return && csv->failure.status == TACET_OK &&
           size <= MOST_MARKED && size <= csv->settings.most_bytes;
}

static tacet_status set_marks(marks *m, tacet_csv *csv, tacet_error *err) {
    const size_t size = csv->end - csv->at;
    if (!tacet__grow((void **)&csv->marks, &csv->marks_capacity, size + 1, sizeof *csv->marks)) {
        return tacet__csv_no_memory(csv, err);
    }
    m->text = csv->buffer + csv->at;
    m->count = tacet__csv_places(csv->marks, m->text, size, csv->settings.delimiter);
    m->next = 0;
    return TACET_OK;
}

/* What shaped_number leaves: other numbers in their usual form, and fields that nobody asked for. */
static bool other_field(double *out, const tacet_csv *csv, const char *at, const char *end, shape *s) {
    if (out != NULL) {
        set_shape(s, at, end);
        return plain_number(out, at) == end;
    }
    while ((csv->stops[(unsigned char)*at] & STOP_PLAIN) == 0) {
        at++;
    }
    return at == end;
}

static inline bool one_field(double *out, const tacet_csv *csv, const char *at, const char *end, shape *s) {
    return (s->fraction > 0 && out != NULL && end - csv->buffer >= WORD && shaped_number(out, at, end, s)) ||
           other_field(out, csv, at, end, s);
}

/* One record that begins at `at`, its fields ending at text + ends[…]; returns where the next one begins. NULL: it is
 * not so simple. */
static inline const char *marked_record(double *out, const tacet_csv *csv, const char *at, const char *text,
                                        const uint32_t *ends, shape *s) {
    const size_t columns = csv->columns;
    const char delimiter = csv->settings.delimiter;
    size_t j = 0;
#ifdef __SSE2__
    while (j + 1 < columns) {
        const char *const end[2] = {text + ends[j], text + ends[j + 1]};
        const char *const from[2] = {at, end[0] + 1};
        const size_t first = csv->places[j];
        const size_t second = csv->places[j + 1];
        if (*end[0] != delimiter || *end[1] != (j + 2 < columns ? delimiter : '\n')) {
            return NULL;
        }
        if (!(first != CSV_SKIP && second != CSV_SKIP && s->fraction > 0 && end[0] - csv->buffer >= WORD &&
              shaped_pair(&out[first], &out[second], from, end, s)) &&
            !(one_field(first != CSV_SKIP ? &out[first] : NULL, csv, at, end[0], s) &&
              one_field(second != CSV_SKIP ? &out[second] : NULL, csv, from[1], end[1], s))) {
            return NULL;
        }
        at = end[1] + 1;
        j += 2;
    }
#endif
    for (; j < columns; j++) {
        const char *end = text + ends[j];
        const size_t place = csv->places[j];
        if (*end != (j + 1 < columns ? delimiter : '\n') ||
            !one_field(place != CSV_SKIP ? &out[place] : NULL, csv, at, end, s)) {
            return NULL;
        }
        at = end + 1;
    }
    return at;
}

/* Records whose fields all end at the next marks, until one is not so simple or `most` are read; returns how many. */
static size_t marked_rows(tacet_csv *csv, double *out, size_t count, size_t most, marks *m) {
    const char *at = csv->buffer + csv->at;
    const uint32_t *ends = csv->marks + m->next;
    const size_t there = (m->count - m->next) / csv->columns;
    const size_t records = there < most ? there : most;
    shape s = m->shape;
    size_t done = 0;
    for (; done < records; done++, out += count, ends += csv->columns) {
        const char *next = marked_record(out, csv, at, m->text, ends, &s);
        if (next == NULL) {
            break;
        }
        at = next;
    }
    m->shape = s;
    m->next += done * csv->columns;
    csv->at = (size_t)(at - csv->buffer);
    csv->line += done;
    csv->record_line = done > 0 ? csv->line - 1 : csv->record_line;
    csv->records += done;
    return done;
}

/* A record was read another way; a block has ended, so nothing moved. */
static void follow(marks *m, const tacet_csv *csv) {
    const char *at = csv->buffer + csv->at;
    while (m->next < m->count && m->text + csv->marks[m->next] < at) {
        m->next++;
    }
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

/* Before either way of reading: the columns exist, and csv->places says where they go. */
static tacet_status prepare(tacet_csv *csv, bool *simple, const size_t *columns, size_t count, tacet_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (columns[i] >= csv->columns) {
            return tacet__fail(err, TACET_INVALID, "%s: column %zu of %zu", csv->name, columns[i], csv->columns);
        }
    }
    csv->places = csv->places != NULL ? csv->places : TACET__ZALLOC(size_t, csv->columns);
    if (csv->places == NULL) {
        return tacet__csv_no_memory(csv, err);
    }
    *simple = plan(csv, columns, count);
    csv->records += csv->current;
    csv->current = false;
    return TACET_OK;
}

static inline tacet_status read_rows(tacet_csv *csv, double *out, size_t *got, const size_t *columns, size_t count,
                                     size_t most, bool look, marks *m, bool simple, tacet_error *err) {
    while (*got < most) {
        if (m->count > 0) {
            *got += marked_rows(csv, out + *got * count, count, most - *got, m);
            if (*got == most) {
                break;
            }
        }
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
        follow(m, csv);
        ++*got;
    }
    return TACET_OK;
}

tacet_status tacet_csv_rows(tacet_csv *csv, double *out, size_t *got, const size_t *columns, size_t count, size_t most,
                            tacet_error *err) {
    bool simple = false;
    marks m = {0};
    *got = 0;
    tacet_status status = prepare(csv, &simple, columns, count, err);
    if (status == TACET_OK && simple && whole_block(csv)) {
        status = set_marks(&m, csv, err);
    }
    return status != TACET_OK ? status : read_rows(csv, out, got, columns, count, most, false, &m, simple, err);
}

tacet_status tacet_csv_check(tacet_csv *csv, double *scratch, size_t *got, const size_t *columns, size_t count,
                             tacet_error *err) {
    bool simple = false;
    marks m = {0};
    *got = 0;
    const tacet_status status = prepare(csv, &simple, columns, count, err);
    if (status != TACET_OK) {
        return status;
    }
    if (simple && whole_block(csv) &&
        tacet__csv_plain(got, csv->buffer + csv->at, csv->end - csv->at, csv->columns, csv->settings.delimiter)) {
        csv->at = csv->end;
        csv->line += *got;
        csv->record_line = csv->line - 1;
        csv->records += *got;
        return TACET_OK;
    }
    return read_rows(csv, scratch, got, columns, count, SIZE_MAX, true, &m, simple, err);
}
