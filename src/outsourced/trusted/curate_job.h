/* SPDX-License-Identifier: Apache-2.0 */
/* curate_job.h - between the files of curate: what one run holds. Ring: trusted. */
#ifndef TACET_SRC_OUTSOURCED_TRUSTED_CURATE_JOB_H
#define TACET_SRC_OUTSOURCED_TRUSTED_CURATE_JOB_H

#include "dp/noise/mint.h"
#include "io/csv/persons.h"
#include "io/file/folder.h"
#include "outsourced/shared/release_text.h"
#include "outsourced/trusted/curate_source.h"

#include <tacet/io/csv.h>
#include "dp/mechanism.h"
#include <tacet/outsourced/trusted/curate.h>

typedef struct tacet__curate {
    const tacet_curate_settings *settings;
    size_t d;                   /* input columns */
    size_t dims;                /* released coordinates, levels included */
    size_t numbers;             /* of them those with noise: all but the levels of a space, which come last */
    size_t rows;                /* known after the first pass */
    double *matrix;             /* projection: dims x d; NULL otherwise */
    tacet__release_cell *cells; /* dims: the columns of release.csv; they borrow the manifest's space */
    size_t *starts; /* blocks + 1 of them: the first record of each block of the table; known after the first pass */
    size_t blocks;
    unsigned char (*tags)[TACET__MINT_TAG]; /* of each block, by the first pass; NULL: not made */
    size_t *column_at;       /* where the inputs are in a record, of each file of text, and after them the person */
    tacet__persons *persons; /* where rows are counted by persons; NULL: they are not */
    size_t people_blocks;
    uint64_t **people;   /* of each block whose rows it has, by the first pass; NULL once they are counted */
    size_t *read_starts; /* the first record of each block as it is read, where some are passed over; or NULL */
    unsigned char *kept; /* of each record that is read, whether it is released: a bit; or NULL */
    unsigned char settings_hash[TACET_MINT_BYTES]; /* of the manifest that will be written */
    bool drawing;                                  /* not a rehearsal */
    bool keyed;                                    /* mint has a key: tags are made, and compared in the second pass */
    tacet_mint mint;                               /* of the release, if it is private and drawn */
    tacet__source source;
    bool ledger_there; /* it was there before this run */
    double lo[TACET_MANIFEST_COLUMNS], hi[TACET_MANIFEST_COLUMNS], middle[TACET_MANIFEST_COLUMNS],
        unit[TACET_MANIFEST_COLUMNS];
    char release[TACET__PATH], unfinished[TACET__PATH], manifest[TACET__PATH], ledger[TACET__PATH];
    char link[TACET__PATH];             /* ledger.db in the folder */
    char ticket[TACET_TICKET_MOST + 1]; /* of the release */
    bool made;                          /* the folder, by this run */
    int held;                           /* unfinished, locked; -1: not */
    tacet_bound *bound;
    tacet_mechanism *mechanism;
    tacet_noise *noise;
    tacet_ledger *book;
} tacet__curate;

/* Everything that can be found wrong, or told, before a file is written or anything is spent. */
tacet_status tacet__curate_prepare(tacet__curate *job, tacet_manifest *m, tacet_error *err);
void tacet__curate_drop(tacet__curate *job);
/* A table in parts elsewhere: the first pass, and the second. */
tacet_status tacet__curate_parts_check(tacet__curate *job, tacet_error *err);
tacet_status tacet__curate_parts_draw(tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err);
/* How the table is called in messages. */
static inline const char *tacet__curate_table(const tacet__curate *job) {
    const tacet_curate_settings *s = job->settings;
    return s->table != NULL ? s->table : s->data != NULL ? s->data : "the table"; /* a URL may have a password */
}
/* Sets ledger and link. CONFLICT: the folder's link leads to the ledger of another table. */
tacet_status tacet__curate_ledger_path(tacet__curate *job, tacet_error *err);
/* Whether this release protects anything, and so counts for its table. */
bool tacet__curate_counts(const tacet_curate_settings *settings);
/* Opens it. A release that protects is entered in the registry of tables, and refused (BUDGET) when its rows were
 * released before under another ledger, or when the folder's manifest names an entry that this one does not have. */
tacet_status tacet__curate_ledger_open(tacet__curate *job, const tacet_ledger_settings *settings, tacet_error *err);
/* Sets unfinished, the one place beside the ledger, which is there already, where rows of this ticket lie before they
 * are committed; and locks it, with whatever is in it. BUSY: another process has it. IO. */
tacet_status tacet__curate_hold(tacet__curate *job, tacet_error *err);
/* Empties it, to be written. NULL: it cannot be. */
FILE *tacet__curate_draft(const tacet__curate *job);
/* Syncs and closes it, whatever happens; its name, too, survives a crash of the machine. */
tacet_status tacet__curate_whole(const tacet__curate *job, FILE *file, tacet_error *err);
/* Unlocks it; an empty one is removed. */
void tacet__curate_let_go(tacet__curate *job);
/* Makes the folder's link to the ledger, unless the ledger lies there itself. */
tacet_status tacet__curate_ledger_link(const tacet__curate *job, tacet_error *err);
/* After a failure: takes away the folder that this run made, with that link, unless there is more in it. */
void tacet__curate_leave(const tacet__curate *job);
/* What the ledger refused, in terms of what to do about it. */
tacet_status tacet__curate_refused(const tacet__curate *job, tacet_status status, const tacet_error *why,
                                   tacet_error *err);
/* Reads and checks the whole table, and counts its rows. */
tacet_status tacet__curate_check(tacet__curate *job, tacet_error *err);
/* Records `first` to `first + count` of a table of numbers, stand-ins put in for what is missing. PARSE names row and
 * column of what cannot be released: not finite, not whole, in no level, missing. */
tacet_status tacet__curate_number_rows(const tacet__curate *job, double *out, size_t first, size_t count,
                                       tacet_error *err);
/* Opens one of its files of text and finds the columns of the inputs, and of the person. `columns` has room for d + 1
 * places. */
tacet_status tacet__curate_open(tacet_csv **out, size_t *columns, const tacet__curate *job, size_t file,
                                tacet_error *err);
/* Bounds and units of the settings as arrays; d is set. */
void tacet__curate_columns(tacet__curate *job);
/* Records as read into scaled coordinates. */
void tacet__curate_scale(const tacet__curate *job, double *records, size_t count);
/* Typed records into what is to be released: the numbers of all of them, then the levels of all of them. */
void tacet__curate_split(const tacet__curate *job, double *out, const double *records, size_t count);
/* The current record of a block, typed. */
tacet_status tacet__curate_typed_row(const tacet__curate *job, const tacet_csv *block, const size_t *columns,
                                     double *record, tacet_error *err);
/* Up to `most` further typed records of a block, and how many there were; NULL: they are read and only counted. */
tacet_status tacet__curate_typed_rows(const tacet__curate *job, tacet_csv *block, const size_t *columns,
                                      double *records, size_t *got, size_t most, tacet_error *err);
/* Up to `most` further records of a block, typed or numbers, and whose they are (in *people, which grows); most = 0:
 * one place will do for all, and they are only counted. */
tacet_status tacet__curate_person_rows(const tacet__curate *job, tacet_csv *block, const size_t *columns,
                                       double *records, uint64_t **people, size_t *room, size_t *got, size_t most,
                                       tacet_error *err);
/* Which records of the table are released, once all blocks were read: the first of each person. */
tacet_status tacet__curate_choose_rows(tacet__curate *job, tacet_error *err);
/* Of the records of block k those that are released, moved together; how many there are. */
size_t tacet__curate_keep_rows(const tacet__curate *job, double *records, size_t k, size_t count);
/* How many records block k has as it is read. */
static inline size_t tacet__curate_block_rows(const tacet__curate *job, size_t k) {
    const size_t *starts = job->read_starts != NULL ? job->read_starts : job->starts;
    return starts[k + 1] - starts[k];
}
/* What the release costs: of a row, or of all rows of a person. The mechanism is settled, and has noise. */
tacet_status tacet__curate_price(tacet_charge *out, const tacet_curate_settings *settings, tacet_error *err);
/* The same of a person, into the manifest. */
tacet_status tacet__curate_person_price(const tacet__curate *job, tacet_manifest *manifest, tacet_error *err);
void tacet__curate_drop_persons(tacet__curate *job);
/* Whether the space can be released, and the mechanism of it: numbers with noise, levels by randomised response. */
tacet_status tacet__curate_typed_check(const tacet_curate_settings *settings, tacet_error *err);
tacet_status tacet__curate_typed_mechanism(tacet__curate *job, tacet_error *err);
/* eps of records at distance 1, 2, 3, and of any two, into the manifest; the mechanism is made. */
void tacet__curate_distances(const tacet__curate *job, tacet_manifest *manifest);
/* Draws the release into job->unfinished, commits it, and fills the receipt. */
tacet_status tacet__curate_draw(tacet__curate *job, tacet_receipt *receipt, tacet_error *err);
/* The published mechanism, whole table in memory; writes job->unfinished and enters it as uncovered. */
tacet_status tacet__curate_published(tacet__curate *job, tacet_receipt *receipt, tacet_error *err);
/* The lines of release.csv for rows of dims values, numbers of all rows before the levels of all rows, numbered from
 * `first`; returns the bytes written. */
size_t tacet__curate_lines(const tacet__curate *job, char *text, size_t first, const double *values, size_t rows);
/* Bytes that a line, or the header, needs at most. */
static inline size_t tacet__curate_line_bytes(const tacet__curate *job) {
    return (job->dims + 1) * TACET__CELL_BYTES;
}
/* Writes the header. */
tacet_status tacet__curate_header(const tacet__curate *job, tacet_table *table, FILE *file, tacet_error *err);
/* The fields of a question about the whole table. The text buffers must outlive the ask. */
enum { TACET__ASK_TEXT = 2048 };
typedef struct tacet__ask_text {
    char what[TACET__ASK_TEXT], covered[TACET__ASK_TEXT], records[TACET__ASK_TEXT];
} tacet__ask_text;
void tacet__curate_describe(const tacet__curate *job, tacet__ask_text *text);

/* What else could have been taken under this eps and delta, with the noise it would have had. */
void tacet__curate_others(tacet_manifest *m, const tacet_curate_settings *asked);

/* Standard deviation per coordinate of `numbers` columns whose neighbours are at distance 1. UNSUPPORTED: one that
 * projects, is not proven, or needs a delta where it is 0. INVALID: eps, delta. */
tacet_status tacet__curate_spread(double *out, tacet_curate_mechanism mechanism, size_t numbers, double eps,
                                  double delta, tacet_error *err);

/* "gaussian", …, in the order of the enumeration; NULL beyond its end. */
const char *tacet_curate_name(tacet_curate_mechanism mechanism);
/* Puts what AUTO stands for in its place, from public numbers alone: of the proven mechanisms that add noise to the
 * columns themselves, the one with the least spread; those that need a delta only where delta is above 0. The delta of
 * a pure one is 0 then. Other mechanisms stay. tacet_curate_run and the others do so by themselves. */
tacet_status tacet_curate_resolve(tacet_curate_settings *settings, tacet_error *err);

#endif
