/* SPDX-License-Identifier: Apache-2.0 */
/* published_curate.c - the published mechanism over a CSV. NOT PRIVATE; entered in the ledger as uncovered.
 * Ring: trusted. Source: Kharkovskii, Dai, Low 2020, Algorithm 1. The whole table is in memory: centring and singular
 * values need it, which is one of the reasons why nothing pays for what they reveal. */
#include "outsourced/trusted/curate_job.h"

#include "core/decimal.h"
#include "core/fail.h"
#include "core/memory.h"
#include "dp/noise/sampler.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tacet/io/csv.h>
#include "outsourced/trusted/published.h"

static tacet_status load(tacet_csv_table *table, const tacet__curate *job, tacet_error *err) {
    const char *names[TACET_MANIFEST_COLUMNS];
    for (size_t i = 0; i < job->shape.d; i++) {
        names[i] = job->shape.space->columns[i].name;
    }
    const tacet_csv_wanted wanted = {.columns = names, .d = job->shape.d};
    const tacet_status status = tacet_csv_load_file(table, job->settings->data, &wanted, err);
    if (status == TACET_OK) {
        tacet__curate_split(&job->shape, table->values, table->values, table->n);
    }
    return status;
}

/* Entered before it is written out: the answer stored is the hash of the numbers. */
static tacet_status enter(tacet__curate *job, const double *Z, tacet_receipt *receipt, tacet_error *err) {
    tacet__ask_text text;
    tacet_charge charge;
    tacet_entry entry;
    tacet_blob memo;
    unsigned char hash[TACET_HASH_BYTES];
    tacet__curate_describe(job, &text);
    tacet_charge_init(&charge);
    charge.what = text.what;
    charge.to_whom = job->settings->to_whom;
    charge.parameters = "{\"mechanism\":\"published\",\"note\":\"not differentially private\"}";
    charge.uncovered_fields = text.covered;
    charge.seeded = job->settings->seeded;
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)Z, job->found.rows * job->shape.dims * sizeof *Z,
                             NULL, 0);
    tacet_blob_init(&memo);
    tacet_error why = {0};
    const tacet_status status =
        tacet_ledger_disclose(job->book, &entry, &memo, job->settings->ticket, &charge, hash, sizeof hash, &why);
    tacet_blob_clear(&memo);
    if (status != TACET_OK) {
        return tacet__curate_refused(job->settings, job->book, status, &why, err);
    }
    if (entry.answered) {
        return tacet__fail(err, TACET_CONFLICT, "this release was made already; another --ticket makes another one");
    }
    receipt->entry = entry.seq;
    memcpy(receipt->entry_hash, entry.hash, sizeof receipt->entry_hash);
    return TACET_OK;
}

static tacet_status write_rows(const tacet__curate *job, const double *Z, tacet_error *err) {
    FILE *file = tacet__curate_draft(&job->place);
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%s: cannot be written", job->place.unfinished);
    }
    char text[(TACET_MANIFEST_COLUMNS + 1) * TACET__CELL_BYTES];
    bool ok = tacet__curate_header(job, NULL, file, err) == TACET_OK;
    for (size_t j = 0; j < job->found.rows && ok; j++) {
        const size_t n = tacet__curate_lines(&job->shape, text, j, Z + j * job->shape.dims, 1);
        ok = fwrite(text, 1, n, file) == n;
    }
    const tacet_status status = tacet__curate_whole(&job->place, file, err);
    return status == TACET_OK && !ok ? tacet__fail(err, TACET_IO, "%s: cannot be written", job->place.unfinished)
                                     : status;
}

tacet_status tacet__curate_published(tacet__curate *job, tacet_receipt *receipt, tacet_error *err) {
    const tacet_curate_settings *s = job->settings;
    tacet_csv_table table = {0};
    tacet_status status = load(&table, job, err);
    if (status != TACET_OK) {
        return status;
    }
    size_t size = 0;
    job->found.rows = table.n;
    double *M = TACET__ALIGNED(double, job->shape.d * job->shape.dims);
    double *Z = tacet__size_mul(&size, job->found.rows, job->shape.dims) ? TACET__ALIGNED(double, size) : NULL;
    if (M == NULL || Z == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory projecting %zu records", job->found.rows);
        goto done;
    }
    tacet_noise *sample = NULL; /* what is made of it is stamped not private, whatever the source */
    if (job->noise == NULL) {
        status = tacet_noise_open_sample(&sample, err);
    }
    tacet_noise *noise = job->noise != NULL ? job->noise : sample;
    TACET_THEN(status, tacet__draw_gaussian(noise, M, job->shape.d * job->shape.dims, 1, -DRAW_GRID_BITS, err));
    tacet_noise_close(sample);
    TACET_THEN(status,
               tacet_published_project(Z, job->shape.dims, NULL, table.values, job->shape.d, job->shape.d,
                                       job->found.rows, M, job->shape.d, job->shape.dims, s->eps, s->delta, err));
    TACET_THEN(status, enter(job, Z, receipt, err));
    if (status == TACET_OK) {
        status = write_rows(job, Z, err);
        if (status != TACET_OK) {
            (void)unlink(job->place.unfinished);
        }
    }
done:
    tacet_csv_table_clear(&table);
    free(M);
    free(Z);
    return status;
}
