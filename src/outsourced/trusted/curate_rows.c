/* SPDX-License-Identifier: Apache-2.0 */
/* curate_rows.c - records through the gate: checked in a first pass, drawn in a second.
 * Ring: trusted. In: a table of raw records (CSV, PostgreSQL, memory). Out: lines of released numbers. Constant memory;
 * curate_blocks.c has the passes. Cost: two passes of parsing, d exact draws and d decimal conversions a record. */
#include "outsourced/trusted/curate_job.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>
#include <unistd.h>

const char *tacet__curate_table(const tacet_curate_settings *s) {
    return s->table != NULL ? s->table : s->data != NULL ? s->data : "the table"; /* a URL may have a password */
}

tacet_status tacet__curate_open(tacet_csv **out, size_t *columns, const tacet__curate *job, size_t file,
                                tacet_error *err) {
    tacet_status status = tacet__source_csv(out, &job->source, file, err);
    for (size_t i = 0; i < job->shape.d && status == TACET_OK; i++) {
        status = tacet_csv_find(*out, &columns[i], job->shape.space->columns[i].name, err);
    }
    columns[job->shape.d] = 0;
    if (status == TACET_OK && job->found.persons != NULL) {
        status = tacet_csv_find(*out, &columns[job->shape.d], job->settings->person, err);
    }
    if (status != TACET_OK) {
        tacet_csv_close(*out);
        *out = NULL;
    }
    return status;
}

tacet_status tacet__curate_check(tacet__curate *job, tacet_error *err) {
    const char *names[TACET_MANIFEST_COLUMNS + 1];
    for (size_t i = 0; i < job->shape.d; i++) {
        names[i] = job->shape.space->columns[i].name;
    }
    names[job->shape.d] = job->settings->person;
    if (job->settings->engine != NULL) {
        return tacet__curate_parts_check(job, err);
    }
    tacet_status status = tacet__source_open(&job->source, job->settings, names, job->shape.d, err);
    if (status == TACET_OK && job->settings->rows_per_person > 0) {
        status = tacet__persons_open(&job->found.persons, job->settings->rows_per_person, err);
    }
    TACET_THEN(status, tacet__curate_blocks(job, NULL, NULL, err));
    if (status == TACET_OK && job->found.persons != NULL) {
        status = tacet__curate_choose_rows(&job->found, err);
    }
    return status == TACET_OK && job->found.rows == 0
               ? tacet__fail(err, TACET_PARSE, "%s: the table has no records", tacet__curate_table(job->settings))
               : status;
}

tacet_status tacet__curate_header(const tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err) {
    char *text = TACET__ZALLOC(char, tacet__curate_line_bytes(&job->shape));
    if (text == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for the names of %zu columns", job->shape.dims);
    }
    const size_t size = tacet__release_header(text, job->shape.cells, job->shape.dims);
    if (table != NULL) {
        tacet_table_give(table, text, size);
    }
    const bool written = fwrite(text, 1, size, file) == size;
    free(text);
    return written ? TACET_OK : tacet__fail(err, TACET_IO, "%s: cannot be written", job->place.unfinished);
}

void tacet__curate_describe(const tacet__curate *job, tacet__ask_text *text) {
    size_t at = 0;
    (void)snprintf(text->what, sizeof text->what, "release of %zu records", job->found.rows);
    text->covered[0] = '\0';
    for (size_t i = 0; i < job->shape.d && at < sizeof text->covered; i++) {
        at += (size_t)snprintf(text->covered + at, sizeof text->covered - at, "%s%s", i == 0 ? "" : ",",
                               job->shape.space->columns[i].name);
    }
    at = (size_t)snprintf(text->records, sizeof text->records,
                          job->found.persons != NULL
                              ? "each person, all of their rows (at most %zu), each row a move by up to "
                                "distance 1 in units of "
                              : "each row, a move by up to distance 1 in units of ",
                          job->settings->rows_per_person);
    for (size_t i = 0; i < job->shape.d && at < sizeof text->records; i++) {
        at += (size_t)snprintf(text->records + at, sizeof text->records - at, "%s%s=%.17g", i == 0 ? "" : ",",
                               job->shape.space->columns[i].name, job->shape.space->columns[i].unit);
    }
}

/* Stands for the table, as the first pass found it, and all settings that matter to what is drawn. */
static void digest_job(const tacet__curate *job, unsigned char out[TACET_MINT_BYTES]) {
    static const char PURPOSE[] = "tacet table 1";
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, (const unsigned char *)PURPOSE, sizeof PURPOSE, TACET_MINT_BYTES);
    (void)crypto_generichash_update(&state, job->settings_hash, sizeof job->settings_hash);
    const size_t files = job->source.numbers ? 1 : job->source.file_count;
    for (size_t i = 0; i < files * (job->shape.d + 1); i++) {
        const uint64_t at = htole64(job->found.column_at[i]);
        (void)crypto_generichash_update(&state, (const unsigned char *)&at, sizeof at);
    }
    for (size_t k = 0; k < job->found.blocks && job->found.tags != NULL; k++) {
        (void)crypto_generichash_update(&state, job->found.tags[k], sizeof job->found.tags[k]);
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
    FILE *file = fopen(job->place.unfinished, "rbe");
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
                           .ticket = job->place.ticket,
                           .rows_each = job->settings->rows_per_person,
                           .what = text.what,
                           .to_whom = job->settings->to_whom,
                           .covered_fields = text.covered,
                           .uncovered_fields = "number and order of records",
                           .covered_records = text.records};
    tacet_error why = {0};
    tacet_status status = tacet_table_open(&table, &answered, job->mechanism, &ask, job->found.rows, &why);
    if (status != TACET_OK) {
        return tacet__curate_refused(job->settings, job->book, status, &why, err);
    }
    if (answered != NULL) {
        *receipt = *tacet_release_receipt(answered);
        tacet_release_free(answered);
        return recover(job, receipt, err);
    }
    FILE *file = tacet__curate_draft(&job->place);
    if (file == NULL) {
        (void)unlink(job->place.unfinished);
        status = tacet__fail(err, TACET_IO, "%s: cannot be written", job->place.unfinished);
        goto done;
    }
    (void)setvbuf(file, NULL, _IONBF, 0); /* blocks are large, and go out as they are */
    status = draw_rows(job, table, file, err);
    const tacet_status finished = tacet__curate_whole(&job->place, file, err);
    TACET_THEN(status, finished);
    TACET_THEN(status, tacet_table_close(table, &answered, err));
    if (status == TACET_OK) {
        *receipt = *tacet_release_receipt(answered);
    } else {
        (void)unlink(job->place.unfinished);
    }
done:
    tacet_release_free(answered);
    tacet_table_free(table);
    return status;
}
