/* SPDX-License-Identifier: Apache-2.0 */
/* curate_job.h - one run of curate, as the files that lead through it see it; each step beneath gets its own part.
 * Ring: trusted. */
#pragma once

#include "outsourced/trusted/curate_pass.h"
#include "outsourced/trusted/curate_place.h"

typedef struct tacet__curate {
    const tacet_curate_settings *settings;
    tacet__curate_shape shape;
    tacet__curate_place place;
    tacet__source source;
    tacet__curate_pass found;
    unsigned char settings_hash[TACET_MINT_BYTES]; /* of the manifest that will be written */
    bool drawing;                                  /* not a rehearsal */
    bool keyed;                                    /* mint has a key: tags are made, and compared in the second pass */
    tacet_mint mint;                               /* of the release, if it is private and drawn */
    tacet_bound *bound;
    tacet_mechanism *mechanism;
    tacet_noise *noise;
    tacet_ledger *book;
    bool ledger_there; /* it was there before this run */
} tacet__curate;

/* Everything that can be found wrong, or told, before a file is written or anything is spent. */
tacet_status tacet__curate_prepare(tacet__curate *job, tacet_manifest *m, tacet_error *err);
void tacet__curate_drop(tacet__curate *job);
/* How the table is called in messages. */
const char *tacet__curate_table(const tacet_curate_settings *settings);
/* Reads and checks the whole table, and counts its rows. */
tacet_status tacet__curate_check(tacet__curate *job, tacet_error *err);
/* A table in parts elsewhere: the first pass, and the second. */
tacet_status tacet__curate_parts_check(tacet__curate *job, tacet_error *err);
tacet_status tacet__curate_parts_draw(tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err);
/* curate_blocks.c, a table through several threads, its order kept. Without `table`: reads and checks the whole table
 * and counts its records (job->found). With it, then: draws every record's release and writes it to `file`, bytes that
 * it gives to the table as well. A bad record is the first one of the table, whatever the number of threads. */
tacet_status tacet__curate_blocks(tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err);
/* Opens one of the files of text and finds the columns of the inputs, and of the person. `columns` has room for d + 1
 * places. */
tacet_status tacet__curate_open(tacet_csv **out, size_t *columns, const tacet__curate *job, size_t file,
                                tacet_error *err);
/* Draws the release into place.unfinished, commits it, and fills the receipt. */
tacet_status tacet__curate_draw(tacet__curate *job, tacet_receipt *receipt, tacet_error *err);
/* The published mechanism, whole table in memory; writes place.unfinished and enters it as uncovered. */
tacet_status tacet__curate_published(tacet__curate *job, tacet_receipt *receipt, tacet_error *err);
/* Writes the header. */
tacet_status tacet__curate_header(const tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err);
/* The fields of a question about the whole table. The text buffers must outlive the ask. */
enum { TACET__ASK_TEXT = 2048 };
typedef struct tacet__ask_text {
    char what[TACET__ASK_TEXT], covered[TACET__ASK_TEXT], records[TACET__ASK_TEXT];
} tacet__ask_text;
void tacet__curate_describe(const tacet__curate *job, tacet__ask_text *text);
