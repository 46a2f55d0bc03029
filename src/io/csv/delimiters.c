/* SPDX-License-Identifier: Apache-2.0 */
/* delimiters.c - the delimiters and line ends of a block, found sixty-four bytes at a time.
 * Ring: io. Source: the idea of Langdale and Lemire, "Parsing gigabytes of JSON per second" (2019): classes of
 * characters as words of bits, and rules between neighbours as shifts of them. Differs: the rules are those of plain
 * decimal numbers; whatever does not fit them is left to csv.c, which has the messages. SSE2 where there is, else eight
 * bytes at a time in a word. Cost: half a cycle a byte with SSE2, three without. */
#include "io/csv/delimiters.h"

#include <endian.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const uint64_t ONES = UINT64_C(0x0101010101010101);
static const uint64_t SEVENS = UINT64_C(0x7f7f7f7f7f7f7f7f);

/* The top bits of eight bytes, gathered: byte i's becomes bit i. The product's partial sums meet only in the top byte.
 */
static inline uint64_t gather(uint64_t tops) {
    return ((tops >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

/* Top bits of the bytes that are 0; no carry passes from byte to byte. */
static inline uint64_t zeros(uint64_t x) {
    return ~(((x & SEVENS) + SEVENS) | x | SEVENS);
}

void tacet__csv_delimiters_portable(tacet__delimiters *out, const char *text, char delimiter) {
    const uint64_t delimiters = ONES * (unsigned char)delimiter;
    *out = (tacet__delimiters){0};
    for (unsigned i = 0; i < TACET__MARKS_BYTES; i += 8) {
        uint64_t word = 0;
        memcpy(&word, text + i, sizeof word);
        word = le64toh(word);
        const uint64_t x = word ^ (ONES * '0'); /* digits are 0 to 9 */
        const uint64_t above = ((x & SEVENS) + ONES * (0x7f - 9)) | x;
        out->digits |= gather(~above & ~SEVENS) << i;
        out->delimiters |= gather(zeros(word ^ delimiters)) << i;
        out->feeds |= gather(zeros(word ^ (ONES * '\n'))) << i;
        out->points |= gather(zeros(word ^ (ONES * '.'))) << i;
        out->minuses |= gather(zeros(word ^ (ONES * '-'))) << i;
    }
}

#ifdef __SSE2__
enum { LANES = 16 };

static inline uint64_t bits_of(__m128i lanes, unsigned i) {
    return (uint64_t)(unsigned)_mm_movemask_epi8(lanes) << i;
}

static inline void find(tacet__delimiters *out, const char *text, char delimiter, bool all) {
    *out = (tacet__delimiters){0};
    for (unsigned i = 0; i < TACET__MARKS_BYTES; i += LANES) {
        const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(text + i));
        out->delimiters |= bits_of(_mm_cmpeq_epi8(x, _mm_set1_epi8(delimiter)), i);
        out->feeds |= bits_of(_mm_cmpeq_epi8(x, _mm_set1_epi8('\n')), i);
        if (all) {
            const __m128i digit = _mm_sub_epi8(x, _mm_set1_epi8('0'));
            out->digits |= bits_of(_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit), i);
            out->points |= bits_of(_mm_cmpeq_epi8(x, _mm_set1_epi8('.')), i);
            out->minuses |= bits_of(_mm_cmpeq_epi8(x, _mm_set1_epi8('-')), i);
        }
    }
}
#else
static inline void find(tacet__delimiters *out, const char *text, char delimiter, bool all) {
    (void)all;
    tacet__csv_delimiters_portable(out, text, delimiter);
}
#endif

void tacet__csv_delimiters(tacet__delimiters *out, const char *text, char delimiter) {
    find(out, text, delimiter, true);
}

static inline unsigned count_bits(uint64_t x) {
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    return (unsigned)((((x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * ONES) >> 56);
}

/* What one word must know of those before it; a bit each, except the last two. */
typedef struct before {
    uint64_t digit, mark, sign; /* the last byte was a digit; a delimiter or line feed; a minus or point */
    uint64_t pointed;           /* the number that goes on has had a point */
    uint64_t delimiters;        /* so far */
    uint64_t due;               /* how many there are to be at the next line feed */
    uint64_t feeds;
} before;

static inline bool plain_word(before *b, const tacet__delimiters *m, size_t columns) {
    const uint64_t marks = m->delimiters | m->feeds;
    const uint64_t after_digit = m->digits << 1 | b->digit;
    const uint64_t after_mark = marks << 1 | b->mark;
    const uint64_t after_sign = (m->minuses | m->points) << 1 | b->sign;
    uint64_t wrong = ~(marks | m->digits | m->points | m->minuses);
    wrong |= (marks | m->points) & ~after_digit;
    wrong |= m->minuses & ~after_mark;
    wrong |= after_sign & ~m->digits;
    /* A point added where it stands carries up to the mark that ends its number; the carry meets a second one. */
    uint64_t sum = 0;
    uint64_t carry = (uint64_t)__builtin_add_overflow(~marks, m->points, &sum);
    carry |= (uint64_t)__builtin_add_overflow(sum, b->pointed, &sum);
    wrong |= sum & m->points;
    bool even = true;
    for (uint64_t feeds = m->feeds; feeds != 0; feeds &= feeds - 1) {
        const uint64_t below = (feeds & (0 - feeds)) - 1;
        even = even && b->delimiters + count_bits(m->delimiters & below) == b->due;
        b->due += columns - 1;
        b->feeds++;
    }
    b->digit = m->digits >> 63;
    b->mark = marks >> 63;
    b->sign = (m->minuses | m->points) >> 63;
    b->pointed = carry;
    b->delimiters += count_bits(m->delimiters);
    return wrong == 0 && even && marks != 0;
}

bool tacet__csv_plain(size_t *records, const char *text, size_t size, size_t columns, char delimiter) {
    before b = {.mark = 1, .due = columns - 1};
    tacet__delimiters m;
    size_t at = 0;
    *records = 0;
    if (size == 0 || text[size - 1] != '\n') {
        return false;
    }
    for (; size - at >= TACET__MARKS_BYTES; at += TACET__MARKS_BYTES) {
        find(&m, text + at, delimiter, true);
        if (!plain_word(&b, &m, columns)) {
            return false;
        }
    }
    if (at < size) {
        char rest[TACET__MARKS_BYTES];
        memset(rest, '0', sizeof rest); /* the beginning of a number breaks no rule */
        memcpy(rest, text + at, size - at);
        find(&m, rest, delimiter, true);
        if (!plain_word(&b, &m, columns)) {
            return false;
        }
    }
    *records = (size_t)b.feeds;
    return true;
}

size_t tacet__csv_places(uint32_t *places, const char *text, size_t size, char delimiter) {
    tacet__delimiters m;
    size_t count = 0;
    size_t at = 0;
    for (; size - at >= TACET__MARKS_BYTES; at += TACET__MARKS_BYTES) {
        find(&m, text + at, delimiter, false);
        for (uint64_t marks = m.delimiters | m.feeds; marks != 0; marks &= marks - 1) {
            places[count++] = (uint32_t)at + (uint32_t)__builtin_ctzll(marks);
        }
    }
    for (; at < size; at++) {
        if (text[at] == delimiter || text[at] == '\n') {
            places[count++] = (uint32_t)at;
        }
    }
    return count;
}
