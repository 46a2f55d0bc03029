/* SPDX-License-Identifier: Apache-2.0 */
/* curate_persons.c - at most so many rows of a person: which are released.
 * Ring: trusted. Source: src/dp/persons.md. The first pass reads blocks in any order, so it notes whose each record is;
 * then the blocks are gone through in the table's order, and the first records of each person get a bit. The second
 * pass drops the others before anything is drawn. Cost: 8 bytes a record until the first pass ends, then a bit. */
#include "io/csv/internal.h"
#include "outsourced/trusted/curate_pass.h"

#include "core/fail.h"
#include "core/memory.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

tacet_status tacet__curate_person_rows(const tacet__curate_pass *pass, const tacet__curate_shape *shape,
                                       tacet_csv *block, const size_t *columns, double *record, uint64_t **people,
                                       size_t *room, size_t *got, tacet_error *err) {
    bool found = false;
    tacet_status status = TACET_OK;
    *got = 0;
    while ((status = tacet_csv_next(block, &found, err)) == TACET_OK && found) {
        if (!tacet__grow((void **)people, room, *got + 1, sizeof **people)) {
            return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", *got);
        }
        status = tacet__curate_cells(shape, block, columns, record, err);
        TACET_THEN(status, tacet__persons_cell(pass->persons, &(*people)[*got], block, columns[shape->d], err));
        if (status != TACET_OK) {
            return status;
        }
        ++*got;
    }
    return status;
}

tacet_status tacet__curate_choose_rows(tacet__curate_pass *pass, tacet_error *err) {
    pass->read_starts = pass->starts;
    pass->starts = TACET__ZALLOC(size_t, pass->blocks + 1);
    pass->kept = TACET__ZALLOC(unsigned char, pass->rows / 8 + 1);
    if (pass->starts == NULL || pass->kept == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu records", pass->rows);
    }
    size_t kept = 0;
    for (size_t k = 0; k < pass->blocks; k++) {
        pass->starts[k] = kept;
        for (size_t i = 0; i < tacet__curate_block_rows(pass, k); i++) {
            const size_t at = pass->read_starts[k] + i;
            bool keep = false;
            TACET_OR_RETURN(tacet__persons_keep(pass->persons, &keep, pass->people[k][i], err));
            pass->kept[at / 8] |= (unsigned char)(keep << at % 8);
            kept += keep;
        }
        free(pass->people[k]); /* hashes under a key that is wiped with the job */
        pass->people[k] = NULL;
    }
    pass->starts[pass->blocks] = kept;
    pass->rows = kept;
    return TACET_OK;
}

size_t tacet__curate_keep_rows(const tacet__curate_pass *pass, size_t d, double *records, size_t k, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at = pass->read_starts[k] + i;
        if ((pass->kept[at / 8] >> at % 8 & 1) != 0) {
            memmove(records + kept * d, records + i * d, d * sizeof *records);
            kept++;
        }
    }
    /* What was passed over must not be drawn by anybody's mistake. */
    sodium_memzero(records + kept * d, (count - kept) * d * sizeof *records);
    return kept;
}

void tacet__curate_pass_clear(tacet__curate_pass *pass) {
    for (size_t k = 0; k < pass->people_blocks && pass->people != NULL; k++) {
        free(pass->people[k]);
    }
    free(pass->people);
    free(pass->kept);
    free(pass->read_starts);
    free(pass->column_at);
    free(pass->starts);
    free(pass->tags);
    tacet__persons_close(pass->persons);
    *pass = (tacet__curate_pass){0};
}
