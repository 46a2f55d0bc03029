/* curate_job.h - between the files of curate: what one run holds. Ring: trusted. */
#ifndef TACET_SRC_TRUSTED_CURATE_JOB_H
#define TACET_SRC_TRUSTED_CURATE_JOB_H

#include "trusted/folder.h"

#include <tacet/base/csv.h>
#include <tacet/gate/mechanism.h>
#include <tacet/trusted/curate.h>

typedef struct tacet__curate {
    const tacet_curate_settings *settings;
    size_t d;       /* input columns */
    size_t dims;    /* released coordinates */
    size_t rows;    /* known after the first pass */
    double *matrix; /* projection: dims x d; NULL otherwise */
    double *record; /* d: one record as read, then scaled */
    double *image;  /* dims: the same, projected; record itself without a projection */
    char release[TACET__PATH], unfinished[TACET__PATH], manifest[TACET__PATH], ledger[TACET__PATH];
    tacet_bound *bound;
    tacet_mechanism *mechanism;
    tacet_raw *raw;
    tacet_bounded *bounded;
    tacet_noise *noise;
    tacet_ledger *book;
} tacet__curate;

/* Reads and checks the whole table, and counts its rows. */
tacet_status tacet__curate_check(tacet__curate *job, tacet_error *err);
/* Opens the table and finds the inputs' columns. `columns` has room for d places. */
tacet_status tacet__curate_open(tacet_csv **out, size_t *columns, const tacet__curate *job, tacet_error *err);
/* A record as read into scaled coordinates. */
void tacet__curate_scale(const tacet__curate *job, double *record);
/* Draws the release into job->unfinished, commits it, and fills the receipt. */
tacet_status tacet__curate_draw(tacet__curate *job, tacet_receipt *receipt, tacet_error *err);
/* The published mechanism, whole table in memory; writes job->unfinished and enters it as uncovered. */
tacet_status tacet__curate_published(tacet__curate *job, tacet_receipt *receipt, tacet_error *err);
/* One line of release.csv. */
bool tacet__curate_line(FILE *file, size_t row, const double *values, size_t count, int grid_exponent);
bool tacet__curate_header(FILE *file, size_t count);
/* The fields of a question about the whole table. The text buffers must outlive the ask. */
enum { TACET__ASK_TEXT = 2048 };
typedef struct tacet__ask_text {
    char what[TACET__ASK_TEXT], covered[TACET__ASK_TEXT], records[TACET__ASK_TEXT];
} tacet__ask_text;
void tacet__curate_describe(const tacet__curate *job, tacet__ask_text *text);

#endif
