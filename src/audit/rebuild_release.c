/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild_release.c - the attack of rebuild.c on a release in a folder, by whoever has the records to compare with.
 * Ring: audit. Cost: both tables in memory, and the fit. */
#include "space/internal.h"
#include "outsourced/shared/release_text.h"
#include <tacet/audit/audit.h>

#include "core/fail.h"
#include "core/memory.h"
#include "outsourced/shared/coordinates.h"

#include <stdio.h>
#include <stdlib.h>
#include <tacet/core/simrng.h>
#include <tacet/io/csv.h>
#include <tacet/io/file.h>

enum { MANIFEST_BYTES = 1 << 20, PATH_MOST = 4096 };

typedef struct material {
    tacet_manifest *manifest;
    tacet_csv_table records; /* columns x n, scaled as the release was */
    tacet_csv_table release; /* dims x n */
    size_t *known;
} material;

static void free_material(material *m) {
    tacet_csv_table_clear(&m->records);
    tacet_csv_table_clear(&m->release);
    free(m->known);
}

static tacet_status load_manifest(material *m, const char *folder, tacet_error *err) {
    char *text = NULL;
    size_t length = 0;
    tacet_status status = tacet_file_read_in(&text, &length, folder, "manifest.json", MANIFEST_BYTES, err);
    TACET_THEN(status, tacet_manifest_decode(m->manifest, text, length, err));
    free(text);
    return status;
}

static tacet_status load_release(material *m, const char *folder, tacet_error *err) {
    char path[PATH_MOST];
    if (snprintf(path, sizeof path, "%s/release.csv", folder) >= PATH_MOST) {
        return tacet__fail(err, TACET_INVALID, "the name of the folder is too long");
    }
    const tacet_status status = tacet_manifest_rows(m->manifest, &m->release.values, path, err);
    m->release.n = status == TACET_OK ? m->manifest->rows : 0;
    m->release.d = m->manifest->dims;
    return status;
}

/* One record of a space as coordinates; NaN is a missing cell that has a flag. */
static tacet_status take_record(const tacet_space *space, double *x, const tacet_csv *csv, const size_t *columns,
                                tacet_error *err) {
    double record[TACET_MANIFEST_COLUMNS];
    for (size_t c = 0; c < space->count; c++) {
        size_t length = 0;
        const char *text = tacet_csv_field(csv, columns[c], &length);
        TACET_OR_RETURN(tacet_space_cell(&space->columns[c], &record[c], NULL, text, length, err));
    }
    tacet_space_embed(space, x, record);
    return TACET_OK;
}

/* Records and released rows as coordinates, in which a category is a corner of a simplex. */
static tacet_status load_records(material *m, const char *data, tacet_error *err) {
    const tacet_space *space = &m->manifest->space;
    const size_t d = tacet_space_dims(space), seen = tacet_manifest_coordinates(m->manifest);
    const size_t n = m->release.n;
    size_t columns[TACET_MANIFEST_COLUMNS];
    tacet_csv *csv = NULL;
    bool found = true;
    size_t got = 0;
    double *rows = TACET__ZALLOC(double, n *seen);
    m->records = (tacet_csv_table){.values = TACET__ZALLOC(double, n *d), .n = n, .d = d};
    tacet_status status = rows != NULL && m->records.values != NULL
                              ? tacet_csv_open_file(&csv, data, NULL, err)
                              : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", n);
    for (size_t c = 0; c < space->count; c++) {
        TACET_THEN(status, tacet_csv_find(csv, &columns[c], space->columns[c].name, err));
    }
    TACET_THEN(status, tacet_csv_next(csv, &found, err));
    for (; status == TACET_OK && found && got < n; got++) {
        tacet_manifest_row(m->manifest, rows + got * seen, m->release.values + got * m->release.d);
        status = take_record(space, m->records.values + got * d, csv, columns, err);
        TACET_THEN(status, tacet_csv_next(csv, &found, err));
    }
    if (status == TACET_OK && (found || got < n)) {
        status = tacet__fail(err, TACET_PARSE, "%s has not the %zu records of the release", data, n);
    }
    tacet_csv_close(csv);
    if (rows != NULL) {
        free(m->release.values);
        m->release.values = rows;
        m->release.d = seen;
    }
    return status;
}

/* K different rows at random: a first part of a shuffle. */
static tacet_status choose(material *m, size_t count, uint64_t seed, tacet_error *err) {
    tacet_simrng rng;
    const size_t n = m->records.n;
    if (count == 0 || count >= n) {
        return tacet__fail(err, TACET_INVALID, "between 1 and %zu records may be known", n - 1);
    }
    m->known = calloc(n, sizeof *m->known);
    if (m->known == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", n);
    }
    for (size_t i = 0; i < n; i++) {
        m->known[i] = i;
    }
    tacet_simrng_init(&rng, seed, 0);
    for (size_t i = 0; i < count; i++) {
        const size_t k = i + tacet_simrng_below(&rng, n - i);
        const size_t row = m->known[k];
        m->known[k] = m->known[i];
        m->known[i] = row;
    }
    return TACET_OK;
}

tacet_status tacet_rebuild_release(tacet_rebuild *out, tacet_manifest *manifest, const char *folder, const char *data,
                                   size_t known, uint64_t seed, tacet_error *err) {
    material m = {.manifest = manifest};
    tacet_manifest_init(manifest);
    tacet_status status = load_manifest(&m, folder, err);
    TACET_THEN(status, load_release(&m, folder, err));
    TACET_THEN(status, load_records(&m, data, err));
    TACET_THEN(status, choose(&m, known, seed, err));
    TACET_THEN(status, tacet_rebuild_records(out, NULL, m.release.values, m.release.d, m.release.d, m.records.values,
                                             m.records.d, m.records.d, m.records.n, m.known, known, err));
    free_material(&m);
    if (status != TACET_OK) {
        tacet_manifest_clear(manifest);
    }
    return status;
}
