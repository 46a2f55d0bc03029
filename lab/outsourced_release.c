/* SPDX-License-Identifier: Apache-2.0 */
/* outsourced_release.c - the product's curator on made-up records: curate, then read what the modeler would.
 * Ring: lab. The table is written once, to a temporary folder; each release has a ledger of its own beside it and is
 * removed when it was read. */
#include "outsourced/shared/release_text.h"
#include "outsourced_release.h"

#include "core/fail.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 256 };

static tacet_status write_table(const lab_curator *c, const double *X, tacet_error *err) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/table.csv", c->folder);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%s cannot be written", path);
    }
    for (size_t a = 0; a < c->d; a++) {
        (void)fprintf(file, "%s%s", a > 0 ? "," : "", c->columns[a].name);
    }
    (void)fputc('\n', file);
    for (size_t i = 0; i < c->n; i++) {
        for (size_t a = 0; a < c->d; a++) {
            (void)fprintf(file, "%s%.17g", a > 0 ? "," : "", X[i * c->d + a]);
        }
        (void)fputc('\n', file);
    }
    const bool ok = !ferror(file);
    return fclose(file) == 0 && ok ? TACET_OK : tacet__fail(err, TACET_IO, "%s cannot be written", path);
}

tacet_status lab_curator_open(lab_curator *out, const double *X, size_t d, size_t n, const double *low,
                              const double *high, const double *unit, tacet_error *err) {
    const char *top = getenv("TMPDIR");
    *out = (lab_curator){.d = d, .n = n};
    out->columns = TACET__ZALLOC(tacet_space_column, d);
    if (out->columns == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu columns", d);
    }
    for (size_t a = 0; a < d; a++) {
        tacet_space_column_init(&out->columns[a]);
        (void)snprintf(out->columns[a].name, sizeof out->columns[a].name, "x%zu", a + 1);
        out->columns[a].lo = low[a];
        out->columns[a].hi = high[a];
        out->columns[a].unit = unit[a];
    }
    char folder[sizeof out->folder];
    if (snprintf(folder, sizeof folder, "%s/tacet-lab-XXXXXX", top != NULL ? top : "/tmp") >= (int)sizeof folder ||
        mkdtemp(folder) == NULL) {
        lab_curator_close(out);
        return tacet__fail(err, TACET_IO, "no temporary folder could be made");
    }
    memcpy(out->folder, folder, sizeof folder);
    const tacet_status status = write_table(out, X, err);
    if (status != TACET_OK) {
        lab_curator_close(out);
    }
    return status;
}

static void remove_file(const char *folder, const char *name) {
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path) {
        (void)unlink(path);
    }
}

void lab_curator_close(lab_curator *c) {
    if (c->folder[0] != '\0') {
        remove_file(c->folder, "table.csv");
        (void)rmdir(c->folder);
    }
    free(c->columns);
    *c = (lab_curator){0};
}

static void remove_release(const char *folder) {
    static const char *const NAMES[] = {"release.csv",   "manifest.json", "ledger.db",
                                        "ledger.db-wal", "ledger.db-shm", "ledger.db-journal"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        remove_file(folder, NAMES[i]);
    }
    (void)rmdir(folder);
}

void lab_release_clear(lab_release *r) {
    tacet_manifest_clear(&r->manifest);
    free(r->text);
    free(r->rows);
    *r = (lab_release){0};
    tacet_manifest_init(&r->manifest);
}

tacet_status lab_curator_release(const lab_curator *c, lab_release *out, tacet_curate_mechanism mechanism, double eps,
                                 double delta, size_t dims, uint64_t seed, size_t trial, tacet_error *err) {
    char data[PATH_BYTES];
    char folder[PATH_BYTES];
    char ledger[PATH_BYTES];
    tacet_curate_settings s;
    const tacet_space space = {c->columns, c->d};
    *out = (lab_release){0};
    tacet_manifest_init(&out->manifest);
    (void)snprintf(data, sizeof data, "%s/table.csv", c->folder);
    (void)snprintf(folder, sizeof folder, "%s/%zu", c->folder, trial);
    if (snprintf(ledger, sizeof ledger, "%.200s/ledger.db", folder) >= (int)sizeof ledger) {
        return tacet__fail(err, TACET_INVALID, "the path of the temporary folder is too long");
    }
    tacet_curate_defaults(&s);
    s.data = data;
    s.folder = folder;
    s.ledger = ledger;
    s.space = &space;
    s.mechanism = mechanism;
    s.eps = eps;
    s.delta = delta;
    s.dims = dims;
    s.seeded = true;
    s.noise_seed = seed * 1000003 + trial;
    s.threads = 1;
    tacet_status status = tacet_curate_run(&out->manifest, &s, err);
    TACET_THEN(status, tacet_manifest_encode(&out->manifest, &out->text, err));
    (void)snprintf(data, sizeof data, "%.200s/release.csv", folder);
    TACET_THEN(status, tacet_manifest_rows(&out->manifest, &out->rows, data, err));
    remove_release(folder);
    if (status != TACET_OK) {
        lab_release_clear(out);
    }
    return status;
}
