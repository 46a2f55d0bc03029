/* SPDX-License-Identifier: Apache-2.0 */
/* curate_parts.c - a release of a table whose parts lie elsewhere: checked and drawn by whoever holds them, charged and
 * gathered here.
 * Ring: trusted. Proof: src/dp/bounding.md, "Rows that others draw". In: parts of raw records. Out: lines of released
 * numbers. Cost: of a part, what its records cost in one process; here, its lines, one part at a time. */
#include "outsourced/trusted/curate_job.h"
#include "outsourced/trusted/curate_price.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- here -------------------------------------------------------------------------------------------------------- */

tacet_status tacet__curate_parts_check(tacet__curate *job, tacet_error *err) {
    const tacet_curate_engine *e = job->settings->engine;
    tacet_curate_part part = {.draw = false};
    memcpy(part.mint, job->mint.key, sizeof part.mint);
    job->found.starts = TACET__ZALLOC(size_t, e->parts + 1);
    job->found.tags = tacet__zalloc(e->parts + 1, sizeof *job->found.tags);
    tacet_status status = job->found.starts != NULL && job->found.tags != NULL
                              ? TACET_OK
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu parts", e->parts);
    for (size_t k = 0; k < e->parts && status == TACET_OK; k++) {
        size_t rows = 0;
        part.first = job->found.rows;
        status = e->check(e->user, k, &part, &rows, job->found.tags[k], err);
        job->found.rows += rows;
        job->found.starts[k + 1] = job->found.rows;
    }
    job->found.blocks = e->parts;
    sodium_memzero(&part, sizeof part);
    return status == TACET_OK && job->found.rows == 0 ? tacet__fail(err, TACET_PARSE, "the table has no records")
                                                      : status;
}

static tacet_status write_part(const tacet__curate *job, tacet_table *table, FILE *file, const tacet_blob *lines,
                               tacet_error *err) {
    tacet_table_give(table, lines->data, lines->size);
    return fwrite(lines->data, 1, lines->size, file) == lines->size
               ? TACET_OK
               : tacet__fail(err, TACET_IO, "%s: cannot be written", job->place.unfinished);
}

tacet_status tacet__curate_parts_draw(tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err) {
    const tacet_curate_settings *s = job->settings;
    tacet_status status = TACET_OK;
    for (size_t k = 0; k < job->found.blocks && status == TACET_OK; k++) {
        const size_t rows = job->found.starts[k + 1] - job->found.starts[k];
        tacet_curate_part part = {
            .draw = true, .first = job->found.starts[k], .scale = tacet_mechanism_scale(job->mechanism)};
        tacet_blob lines;
        tacet_blob_init(&lines);
        memcpy(part.mint, job->mint.key, sizeof part.mint);
        memcpy(part.tag, job->found.tags[k], sizeof part.tag);
        status = rows > 0 ? tacet_table_lend(table, part.noise, part.first, rows, err) : TACET_OK;
        if (status == TACET_OK && rows > 0) {
            status = s->engine->draw(s->engine->user, k, &part, &lines, err);
            TACET_THEN(status, write_part(job, table, file, &lines, err));
        }
        if (status == TACET_OK && s->progress != NULL) {
            s->progress((double)job->found.starts[k + 1] / (double)job->found.rows, s->user);
        }
        tacet_blob_clear(&lines);
        sodium_memzero(&part, sizeof part);
    }
    return status;
}

/* --- there ------------------------------------------------------------------------------------------------------- */

/* Stands for the records of a part in its place: the keyed hashes of its blocks. */
static void tag_part(unsigned char out[TACET__MINT_TAG], const tacet__curate *job, uint64_t first) {
    unsigned char hash[crypto_generichash_BYTES];
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, job->mint.key, sizeof job->mint.key, sizeof hash);
    (void)crypto_generichash_update(&state, (const unsigned char *)&first, sizeof first);
    for (size_t k = 0; k < job->found.blocks; k++) {
        (void)crypto_generichash_update(&state, job->found.tags[k], sizeof job->found.tags[k]);
    }
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    memcpy(out, hash, TACET__MINT_TAG);
}

static tacet_status draw_part(tacet__curate *job, const tacet_curate_part *part, tacet_blob *lines, tacet_error *err) {
    tacet_table *table = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    tacet_status status =
        file != NULL ? tacet_table_borrow(&table, job->mechanism, part->noise, part->first, job->found.rows, err)
                     : tacet__fail(err, TACET_NO_MEMORY, "out of memory for the lines of a part");
    for (size_t k = 0; k <= job->found.blocks && status == TACET_OK; k++) {
        job->found.starts[k] += part->first; /* the row's place in the whole table, by which its noise goes, too */
    }
    TACET_THEN(status, tacet__curate_blocks(job, table, file, err));
    if (file != NULL && fclose(file) != 0 && status == TACET_OK) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for the lines of a part");
    }
    TACET_THEN(status, tacet_blob_append(lines, text, size, err));
    free(text);
    tacet_table_free(table);
    return status;
}

tacet_status tacet_curate_part_run(const tacet_curate_settings *asked, const tacet_curate_part *part, size_t *rows,
                                   unsigned char tag[16], tacet_blob *lines, tacet_error *err) {
    tacet_curate_settings own = *asked;
    tacet__curate job = {.settings = &own, .place.held = -1, .keyed = true, .source = {.spool = -1}};
    tacet_manifest manifest;
    own.folder = own.ledger = "part"; /* nothing is written */
    own.progress = NULL;
    memcpy(job.mint.key, part->mint, sizeof job.mint.key);
    tacet_manifest_init(&manifest);
    if (own.record_count == 0) { /* an empty part is one, too */
        *rows = 0;
        memset(tag, 0, TACET__MINT_TAG);
        return TACET_OK;
    }
    tacet_status status = own.records != NULL ? tacet_curate_resolve(&own, err)
                                              : tacet__fail(err, TACET_INVALID, "a part of a table has records");
    TACET_THEN(status, tacet__curate_prepare(&job, &manifest, err));
    if (status == TACET_OK) {
        *rows = job.found.rows;
        tag_part(tag, &job, part->first);
    }
    if (status == TACET_OK && part->draw) {
        status = sodium_memcmp(tag, part->tag, TACET__MINT_TAG) != 0
                     ? tacet__fail(err, TACET_CONFLICT, "a part of the table changed while it was read")
                 : tacet_mechanism_scale(job.mechanism) != part->scale
                     ? tacet__fail(err, TACET_CONFLICT, "a part is drawn by another version than the release")
                     : draw_part(&job, part, lines, err);
    }
    tacet__curate_drop(&job);
    tacet_manifest_clear(&manifest);
    return status;
}
