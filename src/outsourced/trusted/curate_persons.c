/* SPDX-License-Identifier: Apache-2.0 */
/* curate_persons.c - at most so many rows of a person: which are released, and what they cost together.
 * Ring: trusted. Source: src/dp/persons.md. The first pass reads blocks in any order, so it notes whose each record is;
 * then the blocks are gone through in the table's order, and the first records of each person get a bit. The second
 * pass drops the others before anything is drawn. Cost: 8 bytes a record until the first pass ends, then a bit. */
#include "io/csv/internal.h"
#include "outsourced/trusted/curate_job.h"

#include "core/fail.h"
#include "core/memory.h"
#include "dp/open/charge_rows.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/dp/open/calibrate.h>
#include "outsourced/shared/typed.h"

tacet_status tacet__curate_person_rows(const tacet__curate *job, tacet_csv *block, const size_t *columns,
                                       double *records, uint64_t **people, size_t *room, size_t *got, size_t most,
                                       tacet_error *err) {
    bool found = false;
    tacet_status status = TACET_OK;
    *got = 0;
    while ((status = tacet_csv_next(block, &found, err)) == TACET_OK && found) {
        if (most > 0 && *got == most) {
            return tacet__fail(err, TACET_STATE, "%s: the table changed while it was read", tacet__curate_table(job));
        }
        if (!tacet__grow((void **)people, room, *got + 1, sizeof **people)) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", *got);
        }
        double *record = records + (most > 0 ? *got * job->d : 0);
        status = job->settings->space != NULL ? tacet__curate_typed_row(job, block, columns, record, err)
                                              : tacet_csv_numbers(block, record, columns, job->d, err);
        TACET_THEN(status, tacet__persons_cell(job->persons, &(*people)[*got], block, columns[job->d], err));
        if (status != TACET_OK) {
            return status;
        }
        ++*got;
    }
    return status;
}

tacet_status tacet__curate_choose_rows(tacet__curate *job, tacet_error *err) {
    job->read_starts = job->starts;
    job->starts = TACET__ZALLOC(size_t, job->blocks + 1);
    job->kept = TACET__ZALLOC(unsigned char, job->rows / 8 + 1);
    if (job->starts == NULL || job->kept == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", job->rows);
    }
    size_t kept = 0;
    for (size_t k = 0; k < job->blocks; k++) {
        job->starts[k] = kept;
        for (size_t i = 0; i < tacet__curate_block_rows(job, k); i++) {
            const size_t at = job->read_starts[k] + i;
            bool keep = false;
            const tacet_status status = tacet__persons_keep(job->persons, &keep, job->people[k][i], err);
            if (status != TACET_OK) {
                return status;
            }
            job->kept[at / 8] |= (unsigned char)(keep << at % 8);
            kept += keep;
        }
        free(job->people[k]); /* hashes under a key that is wiped with the job */
        job->people[k] = NULL;
    }
    job->starts[job->blocks] = kept;
    job->rows = kept;
    return TACET_OK;
}

size_t tacet__curate_keep_rows(const tacet__curate *job, double *records, size_t k, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at = job->read_starts[k] + i;
        if ((job->kept[at / 8] >> at % 8 & 1) != 0) {
            memmove(records + kept * job->d, records + i * job->d, job->d * sizeof *records);
            kept++;
        }
    }
    /* What was passed over must not be drawn by anybody's mistake. */
    sodium_memzero(records + kept * job->d, (count - kept) * job->d * sizeof *records);
    return kept;
}

tacet_status tacet__curate_price(tacet_charge *out, const tacet_curate_settings *s, tacet_error *err) {
    const tacet_law *law = tacet_curate_law(s->mechanism);
    const bool levels = s->space != NULL && tacet_typed_levels(s->space) > 0;
    double mu = 0;
    tacet_status status = TACET_OK;
    tacet_charge_init(out);
    if (law->pure) {
        tacet_charge_pure(out, s->eps);
    } else if (law->density == TACET_DENSITY_NORMAL && !levels) {
        status = tacet_gdp_mu(&mu, s->eps, s->delta, err);
        tacet_charge_gaussian(out, mu * (1 + 1e-9), s->eps, s->delta); /* above what solving for it rounds */
    } else {
        tacet_charge_approx(out, s->eps, s->delta);
    }
    return status != TACET_OK ? status : tacet__charge_rows(out, s->rows_per_person, true, err);
}

tacet_status tacet__curate_person_price(const tacet__curate *job, tacet_manifest *m, tacet_error *err) {
    const tacet_curate_settings *s = job->settings;
    tacet_charge charge;
    if (s->rows_per_person == 0) {
        return TACET_OK;
    }
    const tacet_status status = tacet__curate_price(&charge, s, err);
    (void)snprintf(m->person, sizeof m->person, "%s", s->person != NULL ? s->person : "");
    m->person_rows = s->rows_per_person;
    m->person_eps = charge.eps;
    m->person_delta = charge.delta;
    return status;
}

void tacet__curate_drop_persons(tacet__curate *job) {
    for (size_t k = 0; k < job->people_blocks && job->people != NULL; k++) {
        free(job->people[k]);
    }
    free(job->people);
    free(job->kept);
    free(job->read_starts);
    tacet__persons_close(job->persons);
    job->people = NULL;
    job->kept = NULL;
    job->read_starts = NULL;
    job->persons = NULL;
}
