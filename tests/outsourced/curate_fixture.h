/* SPDX-License-Identifier: Apache-2.0 */
/* curate_fixture.h - a table with three inputs in a temporary folder, and what the curator makes of it. */
#pragma once

#include "outsourced/shared/release_text.h"
#include "support/space.h"
#include "support/test.h"

#include <sodium.h>
#include <sys/stat.h>
#include <tacet/core/simrng.h>
#include <tacet/dp/ledger.h>
#include <tacet/io/csv.h>
#include <tacet/outsourced/trusted/curate.h>
#include <unistd.h>

enum { D = 3, PATH_BYTES = 512 };

typedef struct fixture {
    char folder[PATH_BYTES / 2]; /* temporary */
    char data[PATH_BYTES], out[PATH_BYTES], release[PATH_BYTES], manifest[PATH_BYTES], unfinished[PATH_BYTES];
    char ledger[PATH_BYTES];
    double *records; /* D x n as written */
    size_t n;
    tacet_space_column columns[D];
    tacet_space space;
    tacet_curate_settings settings;
} fixture;

/* Whole numbers and halves: exact as text. Some lie outside the bounds when `wild`. */
static inline void write_table(fixture *f, size_t n, bool wild, bool clipped) {
    tacet_simrng rng = test_rng(11, 0);
    FILE *file = fopen(f->data, "w");
    assert_non_null(file);
    free(f->records);
    f->records = calloc(D * n, sizeof *f->records);
    f->n = n;
    (void)fputs("id,age,bmi,dose\n", file);
    for (size_t j = 0; j < n; j++) {
        (void)fprintf(file, "r%zu", j);
        for (size_t i = 0; i < D; i++) {
            const tacet_space_column *c = &f->columns[i];
            const double steps = 2 * (c->hi - c->lo);
            double x = c->lo + 0.5 * (double)tacet_simrng_below(&rng, (uint64_t)steps + 1);
            if (wild && j % 5 == i) {
                x = j % 2 == 0 ? c->hi + 7 : c->lo - 1e6;
                x = !clipped ? x : x > c->hi ? c->hi : c->lo;
            }
            f->records[j * D + i] = x;
            (void)fprintf(file, ",%.17g", x);
        }
        (void)fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
}

/* Where rows lie before they are committed: beside the ledger, one place a ticket. */
static inline void unfinished_of(char out[PATH_BYTES], const char *ledger, const char *ticket) {
    unsigned char hash[16];
    char name[33];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)ticket, strlen(ticket), NULL, 0);
    (void)sodium_bin2hex(name, sizeof name, hash, sizeof hash);
    assert_true(snprintf(out, PATH_BYTES, "%s.%s.unfinished", ledger, name) < PATH_BYTES);
}

static inline int setup(void **state) {
    static fixture f;
    static const tacet_space_column COLUMNS[D] = {TEST_REAL("age", 0, 100, 5), TEST_REAL("bmi", 10, 60, 2),
                                                  TEST_REAL("dose", -4, 4, 0.5)};
    memset(&f, 0, sizeof f);
    (void)snprintf(f.folder, sizeof f.folder, "%s", test_mkdir());
    (void)snprintf(f.data, sizeof f.data, "%s/data.csv", f.folder);
    (void)snprintf(f.out, sizeof f.out, "%s/out", f.folder);
    (void)snprintf(f.release, sizeof f.release, "%s/out/release.csv", f.folder);
    (void)snprintf(f.manifest, sizeof f.manifest, "%s/out/manifest.json", f.folder);
    (void)snprintf(f.ledger, sizeof f.ledger, "%s/out/ledger.db", f.folder);
    unfinished_of(f.unfinished, f.ledger, "release");
    memcpy(f.columns, COLUMNS, sizeof COLUMNS);
    tacet_curate_defaults(&f.settings);
    f.settings.data = f.data;
    f.settings.folder = f.out;
    f.settings.ledger = f.ledger;
    f.space = (tacet_space){f.columns, D};
    f.settings.space = &f.space;
    f.settings.eps = 2;
    f.settings.seeded = true;
    f.settings.noise_seed = 4;
    write_table(&f, 40, false, false);
    *state = &f;
    return 0;
}

static inline int teardown(void **state) {
    fixture *f = *state;
    free(f->records);
    test_rmdir(f->folder);
    return 0;
}

static inline bool exists(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

static inline char *slurp(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    (void)fclose(file);
    return text;
}

/* The released numbers, dims x n, in scaled units. */
static inline double *released(const fixture *f, size_t dims) {
    double *Z = NULL;
    tacet_error err = {0};
    tacet_manifest m;
    char *text = slurp(f->manifest);
    tacet_status status = tacet_manifest_decode(&m, text, strlen(text), &err);
    TACET_THEN(status, tacet_manifest_rows(&m, &Z, f->release, &err));
    assert_done(status);
    assert_true(m.rows == f->n && m.dims == dims);
    tacet_manifest_clear(&m);
    free(text);
    return Z;
}

static inline double scaled(const fixture *f, size_t j, size_t i) {
    const tacet_space_column *c = &f->columns[i];
    const double x = fmin(fmax(f->records[j * D + i], c->lo), c->hi);
    return (x - (c->lo + c->hi) / 2) / c->unit;
}

static inline void run_ok(fixture *f, tacet_manifest *m) {
    tacet_error err = {0};
    const tacet_status status = tacet_curate_run(m, &f->settings, &err);
    assert_done(status);
}

static inline tacet_status run(fixture *f, tacet_error *err) {
    tacet_manifest m;
    tacet_error_clear(err);
    const tacet_status status = tacet_curate_run(&m, &f->settings, err);
    tacet_manifest_clear(&m);
    return status;
}

static inline void path_in(char out[PATH_BYTES], const fixture *f, const char *name) {
    (void)snprintf(out, PATH_BYTES, "%s/%s", f->folder, name);
}

/* What the ledger has spent. */
static inline void totals_of(tacet_ledger_totals *out, const fixture *f) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings settings;
    tacet_ledger_settings_defaults(&settings);
    settings.use_stored = true;
    settings.create = false;
    assert_ok(tacet_ledger_open(&ledger, f->ledger, &settings, NULL));
    assert_ok(tacet_ledger_total(ledger, out, NULL));
    tacet_ledger_close(ledger);
}

/* Whichever allocation fails: no release, no memory kept, and the same command then succeeds. */
static inline void each_allocation_fails(fixture *f) {
    write_table(f, 3, false, false);
    bool more = true;
    for (long n = 1; more; n += test_slow() ? 8 : 1) {
        tacet_error err = {0};
        tacet_manifest m;
        fail_alloc_after(n);
        const tacet_status status = tacet_curate_run(&m, &f->settings, &err);
        more = fail_alloc_hit() != 0;
        fail_alloc_after(0);
        assert_int_equal(status == TACET_OK, m.columns != NULL);
        if (status != TACET_OK) {
            assert_int_equal(status, TACET_NO_MEMORY);
            assert_false(exists(f->release));
            if (n % 4 == 1) { /* every fourth: each run syncs its ledger several times */
                assert_ok(run(f, &err));
                free(released(f, D));
            }
        }
        tacet_manifest_clear(&m);
        test_rmdir(f->out);
    }
}
