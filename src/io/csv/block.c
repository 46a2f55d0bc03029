/* SPDX-License-Identifier: Apache-2.0 */
/* block.c - whole records of a CSV stream, moved from reader to reader.
 * Ring: io. A block reads into its own buffer, which so stays in the cache of the processor that works on it; the
 * reader that owns the source keeps the piece of a record behind the cut. Without quotes the last line feed is a cut;
 * with them, or where CR ends lines, a scan by the rules of csv.c finds it. Cost: one look at each byte, sixteen at a
 * time. */
#include "io/csv/block.h"

#include "io/csv/internal.h"
#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static tacet_status at_end(void *user, void *buffer, size_t capacity, size_t *count, tacet_error *err) {
    (void)user;
    (void)buffer;
    (void)capacity;
    (void)err;
    *count = 0;
    return TACET_OK;
}

static void keep_nothing(tacet_csv *block) {
    block->at = block->end = block->record_at = 0;
    block->field_count = 0;
    block->current = false;
    block->ended = true;
    block->records = 0;
}

tacet_status tacet__csv_block_open(tacet_csv **out, const tacet_csv *like, tacet_error *err) {
    *out = NULL;
    tacet_csv *block = TACET__ZALLOC(tacet_csv, 1);
    char *buffer = malloc(CSV_FIRST_CAPACITY + CSV_PAD);
    if (block == NULL || buffer == NULL) {
        free(block);
        free(buffer);
        return tacet__csv_no_memory(like, err);
    }
    *block = *like;
    block->like = like;
    block->source = (tacet_csv_source){.read = at_end};
    block->buffer = buffer;
    block->capacity = CSV_FIRST_CAPACITY;
    keep_nothing(block);
    memset(buffer, 0, CSV_PAD);
    block->fields = NULL;
    block->field_capacity = 0;
    *out = block;
    return TACET_OK;
}

typedef struct counts {
    size_t feeds, others; /* LF; CR and quotes */
} counts;

/* Lanes of a byte, emptied before they overflow: the compiler makes vectors of the inner loop. */
static counts count_bytes(const char *text, size_t size) {
    enum { LANES = 32, MOST = 255 };
    counts total = {0};
    size_t at = 0;
    while (size - at >= LANES) {
        unsigned char feeds[LANES] = {0};
        unsigned char others[LANES] = {0};
        for (size_t k = 0; k < MOST && size - at >= LANES; k++, at += LANES) {
            for (size_t i = 0; i < LANES; i++) {
                feeds[i] = (unsigned char)(feeds[i] + (text[at + i] == '\n'));
                others[i] |= (unsigned char)((text[at + i] == '\r') | (text[at + i] == '"'));
            }
        }
        for (size_t i = 0; i < LANES; i++) {
            total.feeds += feeds[i];
            total.others += others[i];
        }
    }
    for (; at < size; at++) {
        total.feeds += text[at] == '\n';
        total.others += text[at] == '\r' || text[at] == '"';
    }
    return total;
}

/* The rules of csv.c without changing a byte: the end of the last record that is complete in text[0, size), 0 for none.
 * What is malformed is cut anywhere behind the fault: the block's reader finds it. */
static size_t last_end(const char *text, size_t size) {
    enum { START, PLAIN, QUOTED, QUOTE_SEEN } state = START;
    size_t end = 0;
    for (size_t at = 0; at < size; at++) {
        const char byte = text[at];
        if (state == QUOTED) {
            state = byte == '"' ? QUOTE_SEEN : QUOTED;
        } else if (byte == '"' && state != PLAIN) {
            state = QUOTED;
        } else if (byte == ',') {
            state = START;
        } else if (byte == '\n' || byte == '\r') {
            state = START;
            end = at + 1;
        } else {
            state = PLAIN;
        }
    }
    return end;
}

/* Lines as csv.c counts them: LF, CRLF and CR each end one. */
static uint64_t count_lines(const char *text, size_t size, bool after_return) {
    uint64_t lines = 0;
    for (size_t at = 0; at < size; at++) {
        lines += text[at] == '\r' || (text[at] == '\n' && !after_return);
        after_return = text[at] == '\r';
    }
    return lines;
}

/* Where text[0, size) can be cut, and the lines that end before; 0: nowhere yet. `all`: nothing follows it. */
static size_t find_cut(const tacet_csv *from, const char *text, size_t size, bool all, uint64_t *lines) {
    const counts seen = count_bytes(text, size);
    size_t cut = size;
    if (seen.others > 0 || (seen.feeds == 0 && !all)) {
        cut = all ? size : last_end(text, size);
        *lines = count_lines(text, cut, from->after_return);
        return cut;
    }
    if (!all) {
        const char *feed = memrchr(text, '\n', size);
        cut = (size_t)(feed - text) + 1;
    }
    *lines = seen.feeds - (from->after_return && size > 0 && text[0] == '\n');
    return cut;
}

/* Up to `wanted` bytes of the stream into the block: what `from` still has, then what its source gives. */
static tacet_status fill_block(tacet_csv *block, tacet_csv *from, size_t wanted, tacet_error *err) {
    while (block->capacity < wanted) {
        if (!tacet__csv_enlarge(block)) {
            return tacet__csv_no_memory(from, err);
        }
    }
    const size_t unread = from->end - from->at;
    const size_t moved = unread < wanted - block->end ? unread : wanted - block->end;
    memcpy(block->buffer + block->end, from->buffer + from->at, moved);
    from->at += moved;
    block->end += moved;
    tacet_status status = TACET_OK;
    while (status == TACET_OK && block->end < wanted && !from->ended) {
        size_t got = 0;
        status = tacet__csv_get(from, block->buffer + block->end, wanted - block->end, &got, err);
        block->end += status == TACET_OK ? got : 0;
    }
    return status;
}

/* Gives back what lies behind the cut, in front of what `from` still has: nothing, unless the block is a full one. */
static tacet_status give_back(tacet_csv *block, tacet_csv *from, size_t cut, tacet_error *err) {
    const size_t rest = block->end - cut;
    if (from->at < rest) {
        const size_t unread = from->end - from->at; /* it came from there, so there is room, unless it came in pieces */
        while (from->capacity < rest + unread) {
            if (!tacet__csv_enlarge(from)) {
                return tacet__csv_no_memory(from, err);
            }
        }
        memmove(from->buffer + rest, from->buffer + from->at, unread);
        from->at = rest;
        from->end = rest + unread;
    }
    from->at -= rest;
    memcpy(from->buffer + from->at, block->buffer + cut, rest);
    memset(from->buffer + from->end, 0, CSV_PAD);
    block->end = cut;
    memset(block->buffer + cut, 0, CSV_PAD);
    return TACET_OK;
}

tacet_status tacet__csv_block_take(tacet_csv *block, tacet_csv *from, bool *found, tacet_error *err) {
    *found = false;
    uint64_t lines = 0;
    size_t cut = 0;
    keep_nothing(block);
    for (size_t wanted = TACET__CSV_BLOCK; cut == 0; wanted *= 2) {
        if (wanted > TACET__CSV_BLOCK && wanted / 2 > from->settings.most_bytes) {
            from->record_line = from->line;
            return tacet__csv_too_long(from, err);
        }
        const tacet_status status = fill_block(block, from, wanted, err);
        if (status != TACET_OK) {
            return status;
        }
        if (block->end == 0) {
            return TACET_OK;
        }
        cut = find_cut(from, block->buffer, block->end, from->ended && from->at == from->end, &lines);
    }
    const tacet_status status = give_back(block, from, cut, err);
    if (status != TACET_OK) {
        return status;
    }
    block->line = from->line;
    block->after_return = from->after_return;
    from->after_return = block->buffer[cut - 1] == '\r';
    from->line += lines;
    *found = true;
    return TACET_OK;
}

size_t tacet__csv_block_most(const tacet_csv *block, size_t count) {
    /* Every field has a byte that ends it, and a number one more; the last of the input may lack its end. */
    const size_t records = (block->end - block->at) / (block->columns + count) + 1;
    return records * count;
}

const char *tacet__csv_block_text(const tacet_csv *block, size_t *size) {
    *size = block->end - block->at;
    return block->buffer + block->at;
}
