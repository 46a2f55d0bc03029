/* curate_rows.c - records through the gate, one at a time.
 * Ring: trusted. In: a CSV of raw records. Out: lines of released numbers. Constant memory. Cost: two passes of
 * parsing, d exact draws and d decimal conversions a record. */
#include "trusted/curate_job.h"

#include "base/decimal.h"
#include "base/fail.h"
#include "base/linalg.h"
#include "base/memory.h"
#include "gate/table_hash.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacet/db/csvfile.h>
#include <unistd.h>

enum { PROGRESS_ROWS = 4096, LINE_NUMBERS = 16, WRITE_BUFFER = 1 << 18 };

tacet_status tacet__curate_open(tacet_csv **out, size_t *columns, const tacet__curate *job, tacet_error *err) {
    tacet_status status = tacet_csv_open_file(out, job->settings->data, NULL, err);
    for (size_t i = 0; i < job->d && status == TACET_OK; i++) {
        status = tacet_csv_find(*out, &columns[i], job->settings->columns[i].name, err);
    }
    if (status != TACET_OK) {
        tacet_csv_close(*out);
        *out = NULL;
    }
    return status;
}

void tacet__curate_scale(const tacet__curate *job, double *record) {
    for (size_t i = 0; i < job->d; i++) {
        const tacet_manifest_column *c = &job->settings->columns[i];
        const double x = record[i] < c->lo ? c->lo : record[i] > c->hi ? c->hi : record[i];
        record[i] = (x - (c->lo / 2 + c->hi / 2)) / c->unit;
    }
}

tacet_status tacet__curate_check(tacet__curate *job, tacet_error *err) {
    tacet_csv *csv = NULL;
    bool found = true;
    size_t *columns = TACET__ZALLOC(size_t, job->d);
    if (columns == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", job->d);
    }
    struct stat st;
    tacet_status status = TACET_OK;
    /* A pipe would be empty the second time, when the budget is spent already. */
    if (strcmp(job->settings->data, "-") == 0 || (stat(job->settings->data, &st) == 0 && !S_ISREG(st.st_mode))) {
        status =
            tacet__fail(err, TACET_INVALID, "%s: the table is read twice, so it must be a file", job->settings->data);
    }
    status = status != TACET_OK ? status : tacet__curate_open(&csv, columns, job, err);
    job->rows = 0;
    while (status == TACET_OK) {
        status = tacet_csv_next(csv, &found, err);
        if (status != TACET_OK || !found) {
            break;
        }
        status = tacet_csv_numbers(csv, job->record, columns, job->d, err);
        job->rows++;
    }
    tacet_csv_close(csv);
    free(columns);
    if (status == TACET_OK && job->rows == 0) {
        status = tacet__fail(err, TACET_PARSE, "%s: the table has no records", job->settings->data);
    }
    return status;
}

bool tacet__curate_header(FILE *file, size_t count) {
    bool ok = fputs("row", file) >= 0;
    for (size_t i = 0; i < count && ok; i++) {
        ok = fprintf(file, ",z%zu", i + 1) > 0;
    }
    return ok && fputc('\n', file) != EOF;
}

bool tacet__curate_line(FILE *file, size_t row, const double *values, size_t count, int grid_exponent) {
    char text[LINE_NUMBERS * (TACET__DECIMAL_BYTES + 1) + TACET__DECIMAL_BYTES];
    size_t n = tacet__decimal(text, (double)row, 0);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && i % LINE_NUMBERS == 0) {
            if (fwrite(text, 1, n, file) != n) {
                return false;
            }
            n = 0;
        }
        text[n++] = ',';
        n += tacet__decimal(text + n, values[i], grid_exponent);
    }
    text[n++] = '\n';
    return fwrite(text, 1, n, file) == n;
}

void tacet__curate_describe(const tacet__curate *job, tacet__ask_text *text) {
    size_t at = 0;
    const tacet_curate_settings *s = job->settings;
    (void)snprintf(text->what, sizeof text->what, "release of %zu records", job->rows);
    text->covered[0] = '\0';
    for (size_t i = 0; i < job->d && at < sizeof text->covered; i++) {
        at += (size_t)snprintf(text->covered + at, sizeof text->covered - at, "%s%s", i == 0 ? "" : ",",
                               s->columns[i].name);
    }
    at = (size_t)snprintf(text->records, sizeof text->records, "each record, a move by up to distance 1 in units of ");
    for (size_t i = 0; i < job->d && at < sizeof text->records; i++) {
        at += (size_t)snprintf(text->records + at, sizeof text->records - at, "%s%s=%.17g", i == 0 ? "" : ",",
                               s->columns[i].name, s->columns[i].unit);
    }
}

static tacet_status draw_rows(tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err) {
    tacet_csv *csv = NULL;
    bool found = true;
    size_t *columns = TACET__ZALLOC(size_t, job->d);
    double *values = TACET__ZALLOC(double, job->dims);
    tacet_status status = TACET_OK;
    if (columns == NULL || values == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", job->d);
        goto done;
    }
    const int grid = tacet_mechanism_grid_exponent(job->mechanism);
    status = tacet__curate_open(&csv, columns, job, err);
    if (status == TACET_OK && !tacet__curate_header(file, job->dims)) {
        status = tacet__fail(err, TACET_IO, "%s: cannot be written", job->unfinished);
    }
    for (size_t row = 0; row < job->rows && status == TACET_OK; row++) {
        status = tacet_csv_next(csv, &found, err);
        if (status == TACET_OK && !found) {
            status = tacet__fail(err, TACET_STATE, "%s: the table changed while it was read", job->settings->data);
        }
        if (status == TACET_OK) {
            status = tacet_csv_numbers(csv, job->record, columns, job->d, err);
        }
        if (status != TACET_OK) {
            break;
        }
        tacet__curate_scale(job, job->record);
        if (job->matrix != NULL) {
            tacet__gemv(false, job->dims, job->d, 1, job->matrix, job->dims, job->record, 0, job->image);
        }
        status = tacet_raw_set(job->raw, job->image, job->dims, err);
        status = status != TACET_OK ? status : tacet_bounded_set(job->bounded, job->raw, err);
        status = status != TACET_OK ? status : tacet_table_row(table, values, job->bounded, err);
        if (status == TACET_OK && !tacet__curate_line(file, row, values, job->dims, grid)) {
            status = tacet__fail(err, TACET_IO, "%s: cannot be written", job->unfinished);
        }
        if (row % PROGRESS_ROWS == 0 && job->settings->progress != NULL) {
            job->settings->progress((double)row / (double)job->rows, job->settings->user);
        }
    }
done:
    tacet_csv_close(csv);
    free(columns);
    free(values);
    return status;
}

/* A crash after the ledger's commit and before the renaming leaves the finished rows beside their place. They were
 * committed by their hash, so they can still be told from anything else and put there. */
static tacet_status recover(const tacet__curate *job, const tacet_receipt *receipt, tacet_error *err) {
    crypto_generichash_state hash;
    unsigned char found_hash[TACET_HASH_BYTES];
    tacet_csv *csv = NULL;
    bool found = true;
    size_t count = 0;
    double *values = TACET__ZALLOC(double, job->dims);
    size_t *columns = TACET__ZALLOC(size_t, job->dims);
    tacet_status status = TACET_CONFLICT;
    if (values == NULL || columns == NULL || tacet_csv_open_file(&csv, job->unfinished, NULL, NULL) != TACET_OK ||
        tacet_csv_columns(csv) != job->dims + 1) {
        goto done;
    }
    for (size_t i = 0; i < job->dims; i++) {
        columns[i] = i + 1;
    }
    (void)crypto_generichash_init(&hash, NULL, 0, sizeof found_hash);
    while (tacet_csv_next(csv, &found, NULL) == TACET_OK && found &&
           tacet_csv_numbers(csv, values, columns, job->dims, NULL) == TACET_OK) {
        tacet__table_hash(&hash, values, job->dims);
        count++;
    }
    (void)crypto_generichash_final(&hash, found_hash, sizeof found_hash);
    if (!found && count == receipt->rows && memcmp(found_hash, receipt->content_hash, sizeof found_hash) == 0) {
        status = TACET_OK;
    }
done:
    tacet_csv_close(csv);
    free(values);
    free(columns);
    return status == TACET_OK
               ? status
               : tacet__fail(err, TACET_CONFLICT,
                             "this release was drawn already (ledger entry %llu) and is not drawn twice; "
                             "another --ticket makes, and charges, another one",
                             (unsigned long long)receipt->entry);
}

tacet_status tacet__curate_draw(tacet__curate *job, tacet_receipt *receipt, tacet_error *err) {
    tacet__ask_text text;
    tacet_table *table = NULL;
    tacet_release *answered = NULL;
    char *buffer = NULL;
    tacet__curate_describe(job, &text);
    const tacet_ask ask = {.ledger = job->book,
                           .noise = job->noise,
                           .ticket = job->settings->ticket,
                           .what = text.what,
                           .to_whom = job->settings->to_whom,
                           .covered_fields = text.covered,
                           .uncovered_fields = "number and order of records",
                           .covered_records = text.records};
    tacet_status status = tacet_table_open(&table, &answered, job->mechanism, &ask, job->rows, err);
    if (status != TACET_OK) {
        return status;
    }
    if (answered != NULL) {
        *receipt = *tacet_release_receipt(answered);
        tacet_release_free(answered);
        return recover(job, receipt, err);
    }
    FILE *file = fopen(job->unfinished, "wbe");
    if (file == NULL) {
        status = tacet__fail(err, TACET_IO, "%s: cannot be written", job->unfinished);
        goto done;
    }
    (void)fchmod(fileno(file), S_IRUSR | S_IWUSR);
    /* Few large writes; without the memory for them the default does as well. */
    buffer = TACET__ALIGNED(char, WRITE_BUFFER);
    if (buffer != NULL) {
        (void)setvbuf(file, buffer, _IOFBF, WRITE_BUFFER);
    }
    status = draw_rows(job, table, file, err);
    const tacet_status finished = tacet__file_finish(file, job->unfinished, err);
    status = status != TACET_OK ? status : finished;
    if (status == TACET_OK) {
        status = tacet_table_close(table, &answered, err);
    }
    if (status == TACET_OK) {
        *receipt = *tacet_release_receipt(answered);
    } else {
        (void)unlink(job->unfinished);
    }
done:
    free(buffer); /* the file is closed */
    tacet_release_free(answered);
    tacet_table_free(table);
    return status;
}
