/* SPDX-License-Identifier: Apache-2.0 */
/* shipped_models.c - a model learnt from a log, as it ships: the table of a log of levels.
 * Ring: audit. Neighbours: one row's reward at one end of the range or at the other. The bound is of the two numbers
 * that a row moves, the law of all of them; what is looked at are the bytes that the ledger stores as the answer: those
 * that left. Cost: 5 to 20 ms a release. */
#include "audit/shipped_way.h"

#include "core/fail.h"

#include <tacet/dp/ledger.h>
#include <math.h>
#include <string.h>
#include <tacet/ab/trusted/log.h>
#include <tacet/contextual/trusted/log.h>
#include <tacet/core/simrng.h>
#include <tacet/dp/open/release.h>

enum { TABLE_LEVELS = 2, TABLE_NUMBERS = 2 * TABLE_LEVELS * TABLE_LEVELS };

tacet_status tacet__shipment_take(tacet__shipment *s, const tacet_release *release, tacet_error *err) {
    const size_t count = tacet_release_count(release);
    const double sd = tacet_release_receipt(release)->error_sd;
    const bool folded = s->numbers == 1 && s->way->fold != NULL;
    if (folded ? count < 2 : count != s->numbers) {
        return tacet__fail(err, TACET_CORRUPT, "a release of %zu numbers, not of %zu", count, s->numbers);
    }
    if (folded) {
        s->values[0] = s->way->fold(tacet_release_values(release));
    } else {
        memcpy(s->values, tacet_release_values(release), s->numbers * sizeof *s->values);
    }
    for (size_t i = 0; i < s->numbers && s->way->in_deviations; i++) {
        s->values[i] /= sd;
    }
    s->variance = s->way->in_deviations ? 1 : sd * sd;
    return TACET_OK;
}

tacet_status tacet__shipment_stored(tacet__shipment *s, const char *ticket, tacet_error *err) {
    tacet_ledger_settings l;
    tacet_ledger *ledger = NULL;
    tacet_release *release = NULL;
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob_init(&memo);
    tacet_ledger_settings_defaults(&l);
    l.create = false;
    l.use_stored = true;
    tacet_status status = tacet_ledger_open(&ledger, s->ledger, &l, err);
    TACET_THEN(status, tacet_ledger_lookup(ledger, &entry, &memo, ticket, err));
    TACET_THEN(status, tacet_release_decode(&release, memo.data, memo.size, err));
    TACET_THEN(status, tacet__shipment_take(s, release, err));
    tacet_release_free(release);
    tacet_blob_clear(&memo);
    tacet_ledger_close(ledger);
    return status;
}

/* --- a log ------------------------------------------------------------------------------------------------------- */

enum { LOG_ROWS = 400, LOG_VICTIM = 0 };

static tacet_status write_log(tacet__shipment *s, tacet_error *err) {
    tacet_simrng rng;
    FILE *file = fopen(s->data, "we");
    bool good = file != NULL && fprintf(file, "a,c,y\n") > 0;
    tacet_simrng_init(&rng, 77, 0);
    for (size_t i = 0; i < LOG_ROWS && good; i++) { /* the first cell has the row that differs */
        const double a = floor(TABLE_LEVELS * tacet_simrng_uniform(&rng)) * (i == LOG_VICTIM ? 0 : 1);
        const double c = floor(TABLE_LEVELS * tacet_simrng_uniform(&rng)) * (i == LOG_VICTIM ? 0 : 1);
        const double y = 2 * tacet_simrng_uniform(&rng) - 1;
        const double end = s->worlds[0] == 1 ? 1e9 : -1e9; /* far out of range: it is clipped */
        good = fprintf(file, "a%g,c%g,%.6f\n", a, c, i == LOG_VICTIM ? end : y) > 0;
    }
    good = file != NULL && fclose(file) == 0 && good;
    return good ? TACET_OK : tacet__fail(err, TACET_IO, "%.150s: cannot be written", s->data);
}

static const char TABLE_TICKET[] = "audit/table";

static const tacet_space_options FOUR_CELLS = {.levels = "a=a0|a1,c=c0|c1"};

static tacet_status choose_table(tacet__shipment *s, const char *mechanism, tacet_error *err) {
    s->pure = true;
    return strcmp(mechanism, "laplace") == 0
               ? TACET_OK
               : tacet__fail(err, TACET_INVALID, "a table of levels is released with laplace noise");
}

/* What `tacet learn` does with a log of levels unless it is told otherwise. */
static tacet_status ask_table(tacet__shipment *s, tacet_error *err) {
    tacet_space space;
    const tacet_contextual_entry entry = {.ledger = s->ledger, .ticket = "audit", .to_whom = "an auditor"};
    const tacet_ab_question question = {
        .space = &space, .action_columns = 1, .reward = "y", .lo = -1, .hi = 1, .eps = s->settings->eps};
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    tacet_status status = tacet_space_short(&space, &FOUR_CELLS, err);
    TACET_THEN(status, tacet_ab_log_open(&log, s->data, &question, err));
    TACET_THEN(status, tacet_ab_log_release(log, &model, &entry, err));
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
    tacet_space_clear(&space);
    return status != TACET_OK ? status : tacet__shipment_stored(s, TABLE_TICKET, err);
}

/* A reward moves both numbers of its cell, by 1 and by -1. */
static double difference(const double *values) {
    return values[0] - values[1];
}

enum { RELEASES = 2000, INTERRUPTED = 2000 };

const tacet__way tacet__way_table = {
    .name = "learn-table",
    .summary = "a log of levels through tacet learn as it is by default; bound on eps, and tests of the noise's law",
    .mechanism = "laplace",
    .most = 1,
    .law_numbers = TABLE_NUMBERS,
    .middle = (double)NAN,
    .rows = RELEASES,
    .runs = INTERRUPTED,
    .ticket = TABLE_TICKET,
    .fold = difference,
    .choose = choose_table,
    .prepare = write_log,
    .ask = ask_table,
};
