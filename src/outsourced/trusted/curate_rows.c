/* SPDX-License-Identifier: Apache-2.0 */
/* curate_rows.c - records through the gate: checked in a first pass, drawn in a second.
 * Ring: trusted. In: a table of raw records (CSV, PostgreSQL). Out: lines of released numbers. Constant memory;
 * curate_blocks.c has the passes. Cost: two passes of parsing, d exact draws and d decimal conversions a record. */
#include "outsourced/trusted/curate_job.h"

#include "core/decimal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "io/csv/block.h"
#include "outsourced/trusted/curate_blocks.h"

#include <float.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>
#include <unistd.h>

static const char *column_name(const tacet__curate *job, size_t i) {
    const tacet_curate_settings *s = job->settings;
    return s->space != NULL ? s->space->columns[i].name : s->columns[i].name;
}

static double column_unit(const tacet__curate *job, size_t i) {
    const tacet_curate_settings *s = job->settings;
    return s->space != NULL ? s->space->columns[i].unit : s->columns[i].unit;
}

tacet_status tacet__curate_open(tacet_csv **out, size_t *columns, const tacet__curate *job, size_t file,
                                tacet_error *err) {
    tacet_status status = tacet__source_csv(out, &job->source, file, err);
    for (size_t i = 0; i < job->d && status == TACET_OK; i++) {
        status = tacet_csv_find(*out, &columns[i], column_name(job, i), err);
    }
    columns[job->d] = 0;
    if (status == TACET_OK && job->persons != NULL) {
        status = tacet_csv_find(*out, &columns[job->d], job->settings->person, err);
    }
    if (status != TACET_OK) {
        tacet_csv_close(*out);
        *out = NULL;
    }
    return status;
}

void tacet__curate_scale(const tacet__curate *job, double *records, size_t count) {
    const size_t d = job->d;
    for (size_t j = 0; j < count; j++, records += d) {
        for (size_t i = 0; i < d; i++) {
            const double up = records[i] < job->lo[i] ? job->lo[i] : records[i];
            const double x = up > job->hi[i] ? job->hi[i] : up;
            records[i] = (x - job->middle[i]) / job->unit[i];
        }
    }
}

/* A number of a table of them; NULL, or what is wrong with it. */
static const char *settle_cell(const tacet_space_column *c, double *cell) {
    if (c == NULL) {
        return isfinite(*cell) ? NULL : "is not a finite number";
    }
    const tacet_space_traits *kind = tacet_space_traits_of(c);
    if (isnan(*cell)) {
        *cell = c->missing == TACET_SPACE_STAND_IN ? c->stand_in : *cell;
        return c->missing == TACET_SPACE_REFUSED ? "is missing" : NULL;
    }
    if (kind->levels) {
        return *cell >= 0 && *cell < (double)c->level_count && *cell == floor(*cell) ? NULL : "is none of the levels";
    }
    return !isfinite(*cell) ? "is not a finite number" : kind->whole && *cell != floor(*cell) ? "is not whole" : NULL;
}

static bool all_finite(const double *values, size_t count) {
    size_t others = 0;
    for (size_t i = 0; i < count; i++) { /* without a way out, so that it is done several at a time */
        others += fabs(values[i]) <= DBL_MAX ? 0 : 1;
    }
    return others == 0;
}

static tacet_status settle_rows(const tacet__curate *job, double *records, size_t first, size_t count,
                                tacet_error *err) {
    const tacet_space *space = job->settings->space;
    if (space == NULL && all_finite(records, count * job->d)) {
        return TACET_OK;
    }
    for (size_t j = 0; j < count; j++) {
        for (size_t i = 0; i < job->d; i++) {
            const char *wrong = settle_cell(space != NULL ? &space->columns[i] : NULL, &records[j * job->d + i]);
            if (wrong != NULL) {
                return tacet__fail(err, TACET_PARSE, "row %zu (counted from 0): column '%s' %s", first + j,
                                   column_name(job, i), wrong);
            }
        }
    }
    return TACET_OK;
}

tacet_status tacet__curate_number_rows(const tacet__curate *job, double *out, size_t first, size_t count,
                                       tacet_error *err) {
    const tacet_status status = tacet__source_read(&job->source, out, first, count, err);
    return status != TACET_OK ? status : settle_rows(job, out, first, count, err);
}

tacet_status tacet__curate_check(tacet__curate *job, tacet_error *err) {
    const char *names[TACET_MANIFEST_COLUMNS + 1];
    for (size_t i = 0; i < job->d; i++) {
        names[i] = column_name(job, i);
    }
    names[job->d] = job->settings->person;
    if (job->settings->engine != NULL) {
        return tacet__curate_parts_check(job, err);
    }
    tacet_status status = tacet__source_open(&job->source, job->settings, names, job->d, err);
    if (status == TACET_OK && job->settings->rows_per_person > 0) {
        status = tacet__persons_open(&job->persons, job->settings->rows_per_person, err);
    }
    TACET_THEN(status, tacet__curate_blocks(job, NULL, NULL, err));
    if (status == TACET_OK && job->persons != NULL) {
        status = tacet__curate_choose_rows(job, err);
    }
    return status == TACET_OK && job->rows == 0
               ? tacet__fail(err, TACET_PARSE, "%s: the table has no records", tacet__curate_table(job))
               : status;
}

tacet_status tacet__curate_header(const tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err) {
    char *text = TACET__ZALLOC(char, tacet__curate_line_bytes(job));
    if (text == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the names of %zu columns", job->dims);
    }
    const size_t size = tacet__release_header(text, job->cells, job->dims);
    if (table != NULL) {
        tacet_table_give(table, text, size);
    }
    const bool written = fwrite(text, 1, size, file) == size;
    free(text);
    return written ? TACET_OK : tacet__fail(err, TACET_IO, "%s: cannot be written", job->unfinished);
}

/* The row's number as text, and the next one's from it: most end in another digit only. */
typedef struct counter {
    char digits[TACET__FIXED_BYTES + TACET__FIXED_SLACK];
    size_t length;
} counter;

static void count_on(counter *c, size_t next) {
    size_t i = c->length;
    for (; i > 0 && c->digits[i - 1] == '9'; i--) {
        c->digits[i - 1] = '0';
    }
    if (i > 0) {
        c->digits[i - 1]++;
    } else {
        c->length = tacet__decimal_fixed(c->digits, (int64_t)next, 0);
    }
}

size_t tacet__curate_lines(const tacet__curate *job, char *text, size_t first, const double *values, size_t rows) {
    char *at = text;
    const double *levels = values + rows * job->numbers;
    counter row = {.length = 0};
    count_on(&row, first);
    for (size_t j = 0; j < rows; j++, values += job->numbers) {
        memcpy(at, row.digits, sizeof row.digits); /* all of it, so that it is no call */
        at += row.length;
        count_on(&row, first + j + 1);
        at += tacet__release_cells_text(at, job->cells, job->dims, values, levels);
        levels += job->dims - job->numbers;
        *at++ = '\n';
    }
    return (size_t)(at - text);
}

void tacet__curate_describe(const tacet__curate *job, tacet__ask_text *text) {
    size_t at = 0;
    (void)snprintf(text->what, sizeof text->what, "release of %zu records", job->rows);
    text->covered[0] = '\0';
    for (size_t i = 0; i < job->d && at < sizeof text->covered; i++) {
        at += (size_t)snprintf(text->covered + at, sizeof text->covered - at, "%s%s", i == 0 ? "" : ",",
                               column_name(job, i));
    }
    at = (size_t)snprintf(text->records, sizeof text->records,
                          job->persons != NULL
                              ? "each person, all of their rows (at most %zu), each row a move by up to "
                                "distance 1 in units of "
                              : "each row, a move by up to distance 1 in units of ",
                          job->settings->rows_per_person);
    for (size_t i = 0; i < job->d && at < sizeof text->records; i++) {
        at += (size_t)snprintf(text->records + at, sizeof text->records - at, "%s%s=%.17g", i == 0 ? "" : ",",
                               column_name(job, i), column_unit(job, i));
    }
}

/* Stands for the table, as the first pass found it, and all settings that matter to what is drawn. */
static void digest_job(const tacet__curate *job, unsigned char out[TACET_MINT_BYTES]) {
    static const char PURPOSE[] = "tacet table 1";
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, (const unsigned char *)PURPOSE, sizeof PURPOSE, TACET_MINT_BYTES);
    (void)crypto_generichash_update(&state, job->settings_hash, sizeof job->settings_hash);
    const size_t files = job->source.numbers ? 1 : job->source.file_count;
    for (size_t i = 0; i < files * (job->d + 1); i++) {
        const uint64_t at = htole64(job->column_at[i]);
        (void)crypto_generichash_update(&state, (const unsigned char *)&at, sizeof at);
    }
    for (size_t k = 0; k < job->blocks && job->tags != NULL; k++) {
        (void)crypto_generichash_update(&state, job->tags[k], sizeof job->tags[k]);
    }
    (void)crypto_generichash_final(&state, out, TACET_MINT_BYTES);
}

static tacet_status draw_rows(tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err) {
    const tacet_status status = tacet__curate_header(job, table, file, err);
    return status != TACET_OK              ? status
           : job->settings->engine != NULL ? tacet__curate_parts_draw(job, table, file, err)
                                           : tacet__curate_blocks(job, table, file, err);
}

/* A crash after the ledger's commit and before the renaming leaves the finished rows beside their place. They were
 * committed by their hash, so they can still be told from anything else and put there. */
static tacet_status recover(const tacet__curate *job, const tacet_receipt *receipt, tacet_error *err) {
    crypto_generichash_state hash;
    unsigned char found_hash[TACET_HASH_BYTES];
    unsigned char bytes[1 << 14];
    bool good = false;
    FILE *file = fopen(job->unfinished, "rbe");
    if (file != NULL) {
        (void)crypto_generichash_init(&hash, NULL, 0, sizeof found_hash);
        size_t got = 0;
        while ((got = fread(bytes, 1, sizeof bytes, file)) > 0) {
            (void)crypto_generichash_update(&hash, bytes, got);
        }
        (void)crypto_generichash_final(&hash, found_hash, sizeof found_hash);
        good = !ferror(file) && memcmp(found_hash, receipt->content_hash, sizeof found_hash) == 0;
        (void)fclose(file);
    }
    return good ? TACET_OK
                : tacet__fail(err, TACET_CONFLICT,
                              "this release was drawn already (ledger entry %llu) and is not drawn twice; another "
                              "--ticket makes, and charges, another one",
                              (unsigned long long)receipt->entry);
}

tacet_status tacet__curate_draw(tacet__curate *job, tacet_receipt *receipt, tacet_error *err) {
    tacet__ask_text text;
    tacet_table *table = NULL;
    tacet_release *answered = NULL;
    tacet__curate_describe(job, &text);
    unsigned char data[TACET_MINT_BYTES];
    digest_job(job, data);
    const tacet_ask ask = {.ledger = job->book,
                           .noise = job->noise,
                           .data = data,
                           .mint = job->keyed ? &job->mint : NULL,
                           .ticket = job->ticket,
                           .rows_each = job->settings->rows_per_person,
                           .what = text.what,
                           .to_whom = job->settings->to_whom,
                           .covered_fields = text.covered,
                           .uncovered_fields = "number and order of records",
                           .covered_records = text.records};
    tacet_error why = {0};
    tacet_status status = tacet_table_open(&table, &answered, job->mechanism, &ask, job->rows, &why);
    if (status != TACET_OK) {
        return tacet__curate_refused(job, status, &why, err);
    }
    if (answered != NULL) {
        *receipt = *tacet_release_receipt(answered);
        tacet_release_free(answered);
        return recover(job, receipt, err);
    }
    FILE *file = tacet__curate_draft(job);
    if (file == NULL) {
        (void)unlink(job->unfinished);
        status = tacet__fail(err, TACET_IO, "%s: cannot be written", job->unfinished);
        goto done;
    }
    (void)setvbuf(file, NULL, _IONBF, 0); /* blocks are large, and go out as they are */
    status = draw_rows(job, table, file, err);
    const tacet_status finished = tacet__curate_whole(job, file, err);
    TACET_THEN(status, finished);
    if (status == TACET_OK) {
        status = tacet_table_close(table, &answered, err);
    }
    if (status == TACET_OK) {
        *receipt = *tacet_release_receipt(answered);
    } else {
        (void)unlink(job->unfinished);
    }
done:
    tacet_release_free(answered);
    tacet_table_free(table);
    return status;
}
