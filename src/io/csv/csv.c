/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - records of a CSV stream, one at a time, in a buffer that holds the longest of them.
 * Ring: io. Source: RFC 4180; csv.h says where it is more tolerant, and where it refuses what others guess at.
 * Cost: each byte is looked at once; fields are unquoted where they lie, so nothing is copied but the piece of a record
 * that a refill cuts. Memory: twice the longest record, at least a quarter of a
 * megabyte. */
#include "io/csv/internal.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/number.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* Where a scan stands inside one record. Positions move with the buffer when it is refilled. */
typedef struct cursor {
    size_t base;  /* first byte of the record */
    size_t at;    /* next byte to look at */
    size_t start; /* first byte of the field's content */
    size_t write; /* where the next byte of a quoted field's content goes */
    uint64_t quote_line;
    enum { FIELD_START, PLAIN, QUOTED, QUOTE_SEEN } state;
} cursor;

typedef enum step { STEP_ON, STEP_RECORD, STEP_FAILED } step;

void tacet_csv_defaults(tacet_csv_settings *settings) {
    *settings = (tacet_csv_settings){.most_bytes = (size_t)1 << 24, .most_fields = (size_t)1 << 16};
}

static tacet_status malformed(const tacet_csv *csv, tacet_error *err, uint64_t line, const char *rule) {
    return tacet__fail(err, TACET_PARSE, "%s: line %llu: %s", csv->name, (unsigned long long)line, rule);
}

static const char SEPARATOR[] =
    "cells end in a semicolon or a tab; save the table with commas, and with decimal points";

tacet_status tacet__csv_too_long(const tacet_csv *csv, tacet_error *err) {
    return tacet__fail(err, TACET_PARSE, "%s: line %llu: the record is longer than %zu bytes (a quote not closed?)",
                       csv->name, (unsigned long long)csv->record_line, csv->settings.most_bytes);
}

tacet_status tacet__csv_no_memory(const tacet_csv *csv, tacet_error *err) {
    return tacet__fail(err, TACET_NO_MEMORY, "%s: out of memory reading", csv->name);
}

bool tacet__csv_enlarge(tacet_csv *csv) {
    size_t capacity = 0;
    size_t bytes = 0;
    if (!tacet__size_mul(&capacity, csv->capacity, 2) || !tacet__size_add(&bytes, capacity, CSV_PAD)) {
        return false;
    }
    char *larger = malloc(bytes);
    if (larger == NULL) {
        return false;
    }
    memcpy(larger, csv->buffer, csv->end);
    sodium_memzero(csv->buffer, csv->capacity + CSV_PAD);
    free(csv->buffer);
    csv->buffer = larger;
    csv->capacity = capacity;
    return true;
}

tacet_status tacet__csv_get(tacet_csv *csv, char *to, size_t most, size_t *got, tacet_error *err) {
    *got = 0;
    const tacet_status status = csv->source.read(csv->source.user, to, most, got, err);
    if (status != TACET_OK) {
        return tacet__fail(err, status, "%s: reading failed", csv->name);
    }
    if (*got > most) {
        return tacet__fail(err, TACET_IO, "%s: the source gave more than was asked for", csv->name);
    }
    csv->ended = *got == 0;
    return TACET_OK;
}

static tacet_status read_more(tacet_csv *csv, size_t most, tacet_error *err) {
    size_t got = 0;
    const tacet_status status = tacet__csv_get(csv, csv->buffer + csv->end, most, &got, err);
    if (status == TACET_OK) {
        csv->end += got;
        memset(csv->buffer + csv->end, 0, CSV_PAD);
    }
    return status;
}

/* More bytes behind what the record has so far, which moves to the front. */
static tacet_status refill(tacet_csv *csv, cursor *c, tacet_error *err) {
    const size_t shift = c->base;
    if (shift > 0) {
        memmove(csv->buffer, csv->buffer + shift, csv->end - shift);
        csv->end -= shift;
        c->base = 0;
        c->at -= shift;
        c->start -= shift;
        c->write -= shift;
    }
    if (csv->end > csv->settings.most_bytes) {
        return tacet__csv_too_long(csv, err);
    }
    if (csv->end == csv->capacity && !tacet__csv_enlarge(csv)) {
        return tacet__csv_no_memory(csv, err);
    }
    return read_more(csv, csv->capacity - csv->end, err);
}

/* Closes the field whose content is [start, stop). */
static tacet_status add_field(tacet_csv *csv, const cursor *c, size_t stop, tacet_error *err) {
    if (csv->columns > 0 && csv->field_count == csv->columns) {
        return tacet__fail(err, TACET_PARSE, "%s: line %llu: more fields than the header's %zu", csv->name,
                           (unsigned long long)csv->record_line, csv->columns);
    }
    if (csv->field_count == csv->settings.most_fields) {
        return tacet__fail(err, TACET_PARSE, "%s: line %llu: more than %zu fields", csv->name,
                           (unsigned long long)csv->record_line, csv->settings.most_fields);
    }
    if (!tacet__grow((void **)&csv->fields, &csv->field_capacity, csv->field_count + 1, sizeof *csv->fields)) {
        return tacet__csv_no_memory(csv, err);
    }
    csv->buffer[stop] = '\0'; /* the delimiter, a quote or the byte behind the end: all read already */
    csv->fields[csv->field_count++] = (field){.start = c->start - c->base, .length = stop - c->start};
    return TACET_OK;
}

/* A delimiter or a line's end at c->at, or the end of the input: the field [start, stop) is complete. */
static step end_field(tacet_csv *csv, cursor *c, size_t stop, tacet_error *err) {
    const bool at_end = c->at == csv->end;
    const char byte = csv->buffer[c->at];
    if (add_field(csv, c, stop, err) != TACET_OK) {
        return STEP_FAILED;
    }
    if (at_end) {
        return STEP_RECORD;
    }
    c->at++;
    if (byte == ',') {
        c->state = FIELD_START;
        c->start = c->at;
        return STEP_ON;
    }
    csv->line++;
    csv->after_return = byte == '\r';
    return STEP_RECORD;
}

static step scan_plain(tacet_csv *csv, cursor *c, tacet_error *err) {
    const char *buffer = csv->buffer;
    size_t at = c->at;
    while ((csv->stops[(unsigned char)buffer[at]] & STOP_PLAIN) == 0) {
        at++;
    }
    c->at = at;
    if (at == csv->end) {
        return STEP_ON; /* more is needed, or the input ends here: the caller sees to it */
    }
    if (buffer[at] == '"') {
        if (strspn(buffer + c->start, " \t") == at - c->start) {
            (void)malformed(csv, err, csv->line,
                            "a quote after leading blanks; quotes must be the field's first character");
            return STEP_FAILED;
        }
        c->at++; /* 5" pipe: the field did not begin with a quote, so this one is text */
        return STEP_ON;
    }
    if (buffer[at] == '\0') {
        (void)malformed(csv, err, csv->line, "a NUL byte; the table must be UTF-8 text");
        return STEP_FAILED;
    }
    return end_field(csv, c, at, err);
}

static step scan_quoted(tacet_csv *csv, cursor *c, tacet_error *err) {
    char *buffer = csv->buffer;
    const size_t first = c->at;
    size_t at = first;
    while ((csv->stops[(unsigned char)buffer[at]] & STOP_QUOTED) == 0) {
        at++;
    }
    if (c->write != first) {
        memmove(buffer + c->write, buffer + first, at - first);
    }
    c->write += at - first;
    c->at = at;
    if (at == csv->end) {
        return STEP_ON;
    }
    const char byte = buffer[at];
    if (byte == '\0') {
        (void)malformed(csv, err, csv->line, "a NUL byte; the table must be UTF-8 text");
        return STEP_FAILED;
    }
    c->at++;
    if (byte == '"') {
        c->state = QUOTE_SEEN;
        return STEP_ON;
    }
    csv->line += byte == '\r' || buffer[at - 1] != '\r'; /* CRLF is one line end; the byte before is still as read */
    buffer[c->write++] = byte;
    return STEP_ON;
}

/* After a quote inside a quoted field: another one is a quote in the text, anything else ends the field. */
static step scan_quote_seen(tacet_csv *csv, cursor *c, tacet_error *err) {
    const char byte = csv->buffer[c->at];
    if (byte == '"') {
        csv->buffer[c->write++] = '"';
        c->at++;
        c->state = QUOTED;
        return STEP_ON;
    }
    if (byte != ',' && byte != '\n' && byte != '\r') {
        (void)malformed(csv, err, csv->line, byte == ';' || byte == '\t' ? SEPARATOR : "text after a closing quote");
        return STEP_FAILED;
    }
    return end_field(csv, c, c->write, err);
}

static step scan_start(tacet_csv *csv, cursor *c, tacet_error *err) {
    const char byte = csv->buffer[c->at];
    const bool line_end = byte == '\n' || byte == '\r';
    if (c->at == c->base) {
        if (byte == '\n' && csv->after_return) {
            csv->after_return = false;
            c->base = ++c->at;
            c->start = c->at;
            return STEP_ON;
        }
        csv->after_return = false;
        if (line_end && csv->columns != 1) {
            csv->line++;
            csv->after_return = byte == '\r';
            c->base = ++c->at;
            c->start = c->at;
            return STEP_ON;
        }
        csv->record_line = csv->line;
    }
    if (byte == '"') {
        c->at++;
        c->start = c->at;
        c->write = c->at;
        c->quote_line = csv->line;
        c->state = QUOTED;
        return STEP_ON;
    }
    c->state = PLAIN;
    return scan_plain(csv, c, err);
}

/* The input has ended at c->at, inside or between records. */
static step scan_end(tacet_csv *csv, cursor *c, tacet_error *err) {
    switch (c->state) {
    case QUOTED:
        (void)malformed(csv, err, c->quote_line, "a quote that is never closed");
        return STEP_FAILED;
    case QUOTE_SEEN:
        return end_field(csv, c, c->write, err);
    case FIELD_START:
    case PLAIN:
        break;
    }
    return end_field(csv, c, c->at, err);
}

static tacet_status scan_record(tacet_csv *csv, bool *found, tacet_error *err) {
    cursor c = {.base = csv->at, .at = csv->at, .start = csv->at, .write = csv->at, .state = FIELD_START};
    step next = STEP_ON;
    csv->field_count = 0;
    *found = false;
    while (next == STEP_ON) {
        if (c.at == csv->end) {
            if (!csv->ended) {
                const tacet_status status = refill(csv, &c, err);
                if (status != TACET_OK) {
                    return status;
                }
                continue;
            }
            if (c.at == c.base) {
                return TACET_OK;
            }
            next = scan_end(csv, &c, err);
        } else if (c.state == PLAIN) {
            next = scan_plain(csv, &c, err);
        } else if (c.state == FIELD_START) {
            next = scan_start(csv, &c, err);
        } else if (c.state == QUOTED) {
            next = scan_quoted(csv, &c, err);
        } else {
            next = scan_quote_seen(csv, &c, err);
        }
    }
    if (next == STEP_FAILED) {
        return err->status;
    }
    if (c.at - c.base > csv->settings.most_bytes) {
        return tacet__csv_too_long(csv, err);
    }
    csv->record_at = c.base;
    csv->at = c.at;
    *found = true;
    return TACET_OK;
}

static void trim(const char **text, size_t *length) {
    while (*length > 0 && (**text == ' ' || **text == '\t')) {
        ++*text;
        --*length;
    }
    while (*length > 0 && ((*text)[*length - 1] == ' ' || (*text)[*length - 1] == '\t')) {
        --*length;
    }
}

static tacet_status keep_names(tacet_csv *csv, tacet_error *err) {
    size_t bytes = 0;
    for (size_t j = 0; j < csv->field_count; j++) {
        bytes += csv->fields[j].length + 1;
    }
    csv->names = TACET__ZALLOC(char, bytes);
    csv->name_at = TACET__ZALLOC(size_t, csv->field_count);
    if (csv->names == NULL || csv->name_at == NULL) {
        return tacet__csv_no_memory(csv, err);
    }
    size_t at = 0;
    for (size_t j = 0; j < csv->field_count; j++) {
        const char *text = csv->buffer + csv->record_at + csv->fields[j].start;
        size_t length = csv->fields[j].length;
        trim(&text, &length);
        memcpy(csv->names + at, text, length);
        csv->name_at[j] = at;
        at += length + 1;
    }
    csv->columns = csv->field_count;
    return TACET_OK;
}

static tacet_status read_header(tacet_csv *csv, tacet_error *err) {
    cursor c = {0};
    while (csv->end < 3 && !csv->ended) {
        TACET_OR_RETURN(refill(csv, &c, err));
    }
    if (csv->end >= 2 && (memcmp(csv->buffer, "\xff\xfe", 2) == 0 || memcmp(csv->buffer, "\xfe\xff", 2) == 0)) {
        return malformed(csv, err, 1, "UTF-16 text; the table must be UTF-8");
    }
    if (csv->end >= 3 && memcmp(csv->buffer, "\xef\xbb\xbf", 3) == 0) {
        csv->at = 3;
    }
    bool found = false;
    TACET_OR_RETURN(scan_record(csv, &found, err));
    if (!found) {
        return tacet__fail(err, TACET_PARSE, "%s: empty; a first line with the columns' names is needed", csv->name);
    }
    TACET_OR_RETURN(keep_names(csv, err));
    return csv->columns == 1 && strpbrk(tacet_csv_name(csv, 0), ";\t") != NULL ? malformed(csv, err, 1, SEPARATOR)
                                                                               : TACET_OK;
}

static void set_stops(tacet_csv *csv) {
    csv->stops[0] = STOP_PLAIN | STOP_QUOTED;
    csv->stops['\n'] = STOP_PLAIN | STOP_QUOTED;
    csv->stops['\r'] = STOP_PLAIN | STOP_QUOTED;
    csv->stops['"'] = STOP_PLAIN | STOP_QUOTED;
    csv->stops[','] = STOP_PLAIN;
}

/* Long paths lose their head, so that line, column and rule fit the message. */
static char *label(const char *name) {
    enum { MOST = 100 };
    const size_t length = strlen(name);
    char *copy = strdup(length > MOST ? name + length - MOST : name);
    if (copy != NULL && length > MOST) {
        copy[0] = copy[1] = copy[2] = '.';
    }
    return copy;
}

tacet_status tacet_csv_open(tacet_csv **out, const tacet_csv_source *source, const tacet_csv_settings *settings,
                            tacet_error *err) {
    *out = NULL;
    tacet_error local = {0};
    tacet_status status = TACET_NO_MEMORY;
    tacet_csv *csv = TACET__ZALLOC(tacet_csv, 1);
    if (csv == NULL) {
        (void)tacet__fail(&local, status, "out of memory reading a table");
        goto done;
    }
    tacet_csv_defaults(&csv->settings);
    if (settings != NULL) {
        csv->settings = *settings;
    }
    csv->source = *source;
    csv->name = label(source->name != NULL ? source->name : "input");
    csv->capacity = CSV_FIRST_CAPACITY;
    csv->buffer = malloc(CSV_FIRST_CAPACITY + CSV_PAD);
    csv->line = 1;
    if (csv->name == NULL || csv->buffer == NULL) {
        (void)tacet__fail(&local, status, "out of memory reading a table");
        goto done;
    }
    memset(csv->buffer, 0, CSV_PAD);
    if (csv->settings.most_bytes == 0 || csv->settings.most_fields == 0) {
        status = tacet__fail(&local, TACET_INVALID, "%s: a limit is 0", csv->name);
        goto done;
    }
    set_stops(csv);
    status = read_header(csv, &local);
    if (status == TACET_OK) {
        *out = csv;
        return TACET_OK;
    }
done:
    if (csv != NULL) {
        csv->source = *source;
        tacet_csv_close(csv);
    } else if (source->close != NULL) {
        source->close(source->user);
    }
    return tacet__fail(err, status, "%s", local.message);
}

void tacet_csv_close(tacet_csv *csv) {
    if (csv == NULL) {
        return;
    }
    if (csv->source.close != NULL) {
        csv->source.close(csv->source.user);
    }
    if (csv->buffer != NULL) {
        sodium_memzero(csv->buffer, csv->capacity + CSV_PAD);
    }
    free(csv->buffer);
    free(csv->fields);
    if (csv->like == NULL) {
        free(csv->names);
        free(csv->name_at);
        free(csv->name);
    }
    free(csv);
}

const char *tacet_csv_input(const tacet_csv *csv) {
    return csv->name;
}

size_t tacet_csv_columns(const tacet_csv *csv) {
    return csv->columns;
}

const char *tacet_csv_name(const tacet_csv *csv, size_t column) {
    return column < csv->columns ? csv->names + csv->name_at[column] : NULL;
}

/* A name fit for a message: short, on one line. */
static const char *shown(char out[64], const char *name) {
    size_t i = 0;
    for (; i < 60 && name[i] != '\0'; i++) {
        out[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
    }
    /* Not in the middle of a character: a cut before a continuation byte goes back to before its first byte. */
    if (name[i] != '\0') {
        while (i > 0 && ((unsigned char)name[i] & 0xc0U) == 0x80U) {
            i--;
        }
    }
    out[i] = '\0';
    return out;
}

tacet_status tacet_csv_find(const tacet_csv *csv, size_t *column, const char *name, tacet_error *err) {
    char text[64];
    size_t found = csv->columns;
    for (size_t j = 0; j < csv->columns; j++) {
        if (strcmp(tacet_csv_name(csv, j), name) != 0) {
            continue;
        }
        if (found < csv->columns) {
            return tacet__fail(err, TACET_PARSE, "%s: line 1: two columns are called '%s' (%zu and %zu)", csv->name,
                               shown(text, name), found + 1, j + 1);
        }
        found = j;
    }
    if (found == csv->columns) {
        /* The names there are not listed: in a file without a header they would be a record. */
        return tacet__fail(err, TACET_NOT_FOUND, "%s: line 1: no column is called '%s'", csv->name, shown(text, name));
    }
    *column = found;
    return TACET_OK;
}

tacet_status tacet_csv_next(tacet_csv *csv, bool *found, tacet_error *err) {
    *found = false;
    if (csv->failure.status == TACET_OK) {
        const bool had = csv->current;
        csv->current = false;
        const tacet_status status = scan_record(csv, found, &csv->failure);
        if (status == TACET_OK && *found && csv->field_count < csv->columns) {
            (void)tacet__fail(&csv->failure, TACET_PARSE, "%s: line %llu: %zu fields, but the header has %zu",
                              csv->name, (unsigned long long)csv->record_line, csv->field_count, csv->columns);
        }
        if (csv->failure.status == TACET_OK) {
            csv->records += had;
            csv->current = *found;
            return TACET_OK;
        }
        *found = false;
    }
    return tacet__fail(err, csv->failure.status, "%s", csv->failure.message);
}

uint64_t tacet_csv_line(const tacet_csv *csv) {
    return csv->record_line;
}

uint64_t tacet_csv_record(const tacet_csv *csv) {
    return csv->records;
}

const char *tacet_csv_field(const tacet_csv *csv, size_t column, size_t *length) {
    if (!csv->current || column >= csv->columns) {
        return NULL;
    }
    if (length != NULL) {
        *length = csv->fields[column].length;
    }
    return csv->buffer + csv->record_at + csv->fields[column].start;
}

tacet_status tacet_csv_numbers(const tacet_csv *csv, double *out, const size_t *columns, size_t count,
                               tacet_error *err) {
    if (!csv->current) {
        return tacet__fail(err, TACET_STATE, "%s: no current record", csv->name);
    }
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;
        const char *text = tacet_csv_field(csv, columns[i], &length);
        if (text == NULL) {
            return tacet__fail(err, TACET_INVALID, "%s: column %zu of %zu", csv->name, columns[i], csv->columns);
        }
        const tacet__number_kind kind = tacet__number_parse(&out[i], text, length);
        if (kind != TACET__NUMBER_OK) {
            char name[64];
            return tacet__fail(err, TACET_PARSE, "%s: line %llu, column '%s': %s", csv->name,
                               (unsigned long long)csv->record_line, shown(name, tacet_csv_name(csv, columns[i])),
                               kind == TACET__NUMBER_EMPTY        ? "empty, but a number is needed"
                               : kind == TACET__NUMBER_NOT_FINITE ? "not a finite number"
                                                                  : "not a number");
        }
    }
    return TACET_OK;
}
