/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate_rare.c - what seldom happens in the gate: no entropy, disks that fail under the key file, tables of odd
 * shapes, noise of the wrong source, paths that are too long. This program defines the calls that fail on demand, so
 * the library under test calls these. */
#include "support/gate.h"
#include "support/test.h"

#include "dp/bound_internal.h"
#include "registry/default_ledger.h"
#include "dp/ledger/seal.h"
#include "dp/mechanisms/mechanism_internal.h"
#include "dp/mint.h"
#include "dp/noise/mint.h"
#include "dp/noise/noise_state.h"
#include "dp/noise/sampler.h"
#include "dp/open/interval.h"
#include "dp/open/ledger_json.h"
#include "dp/open/sphere.h"

#include <dlfcn.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "dp/mechanism.h"
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/randomizer.h>
#include <unistd.h>

static bool no_entropy;
static int write_errno, fsync_errno, link_errno; /* 0: as usual; -1: less is written, and nothing is said */
int sodium_init(void);

int sodium_init(void) {
    int (*real)(void) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "sodium_init");
    return no_entropy ? -1 : real();
}

ssize_t write(int fd, const void *bytes, size_t size) {
    ssize_t (*real)(int, const void *, size_t) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "write");
    if (write_errno > 0) {
        errno = write_errno;
        return -1;
    }
    return write_errno < 0 ? (ssize_t)size / 2 : real(fd, bytes, size);
}

int fsync(int fd) {
    int (*real)(int) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    errno = fsync_errno != 0 ? fsync_errno : errno;
    return fsync_errno != 0 ? -1 : real(fd);
}

int link(const char *from, const char *to) {
    int (*real)(const char *, const char *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "link");
    errno = link_errno != 0 ? link_errno : errno;
    return link_errno != 0 ? -1 : real(from, to);
}

/* Tries to make a key file; nothing is left behind where it fails. */
static tacet_status make_key(const char *path) {
    tacet__seal seal;
    tacet_error err = {TACET_OK, ""};
    assert_ok(tacet__seal_find(&seal, NULL, path, NULL));
    const tacet_status status = tacet__seal_open(&seal, &err);
    write_errno = fsync_errno = link_errno = 0;
    assert_true(status == TACET_OK ? seal.open : strstr(err.message, path) != NULL && !seal.open);
    return status;
}

TEST(disks_that_fail_under_a_key_file) {
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_TEXT char *path = test_text("%s/a/b/ledger.key", folder);
    write_errno = ENOSPC;
    assert_status(make_key(path), TACET_IO);
    write_errno = -1;
    assert_status(make_key(path), TACET_IO);
    fsync_errno = EIO;
    assert_status(make_key(path), TACET_IO);
    link_errno = EACCES;
    assert_status(make_key(path), TACET_DENIED);
    link_errno = EPERM;
    assert_status(make_key(path), TACET_DENIED);
    link_errno = EROFS;
    assert_status(make_key(path), TACET_DENIED);
    link_errno = EEXIST; /* somebody was faster, and has taken it away again */
    assert_status(make_key(path), TACET_IO);
    assert_int_equal(access(path, F_OK), -1);
    assert_ok(make_key(path));
    assert_ok(make_key(path));
    assert_status(make_key("/proc/nowhere/ledger.key"), TACET_IO);
}

TEST(places_beside_a_file) {
    static char longest[TACET__PATH + 1];
    OWN_FOLDER const char *folder = test_mkdir();
    char out[TACET__PATH];
    OWN_TEXT char *data = test_text("%s/t.csv", folder);
    OWN_TEXT char *ledger = test_text("%s/elsewhere.db", folder);
    assert_ok(tacet__path_beside(out, data, ".ledger.db", NULL)); /* not there yet */
    OWN_TEXT char *beside = test_text("%s.ledger.db", data);
    assert_string_equal(out, beside);
    memset(longest, 'x', sizeof longest - 1);
    assert_status(tacet__path_beside(out, longest, "", NULL), TACET_INVALID);
    tacet__link_beside(beside, ledger); /* no such ledger: nothing is noted */
    struct stat st;
    assert_int_equal(lstat(beside, &st), -1);
    test_write(ledger, "");
    test_write(data, "");
    assert_ok(tacet__path_beside(out, data, "", NULL));
    tacet__link_beside(beside, ledger);
    assert_true(lstat(beside, &st) == 0 && S_ISLNK(st.st_mode));
    tacet__link_beside(beside, data); /* something is there: it stays */
    assert_int_equal(readlink(beside, out, sizeof out), strlen(ledger));
    char name[TACET__TICKET_NAME + 1], other[TACET__TICKET_NAME + 1];
    tacet__ticket_name(name, "a/b");
    tacet__ticket_name(other, "a/c");
    assert_true(strlen(name) == TACET__TICKET_NAME && strcmp(name, other) != 0);
}

typedef struct table_fixture {
    tacet_bound *bound;
    tacet_mechanism *mechanism;
    tacet_noise *noise;
    tacet_ask ask;
} table_fixture;

static void begin(table_fixture *f, size_t count, tacet_mechanism_kind kind) {
    const tacet_neighbours move = {TACET_RELATION_MOVE, 1};
    memset(f, 0, sizeof *f);
    assert_ok(tacet_bound_range(&f->bound, count, -1, 1, NULL));
    assert_ok(tacet_mechanism_create(&f->mechanism, kind, f->bound, &move, 1, 1e-5, NULL));
    f->noise = test_noise(3, 0);
    f->ask = (tacet_ask){.noise = f->noise, .ticket = "t", .what = "rows", .to_whom = "test"};
}

static void end(table_fixture *f) {
    tacet_mechanism_free(f->mechanism);
    tacet_bound_free(f->bound);
    tacet_noise_close(f->noise);
}

TEST(nothing_without_entropy) {
    table_fixture f;
    tacet_mint mint;
    tacet_bounded *value = NULL;
    tacet_release *release = NULL;
    OWN_FOLDER const char *folder = test_mkdir();
    begin(&f, 2, TACET_MECHANISM_GAUSSIAN);
    assert_ok(tacet_bounded_create(&value, f.bound, NULL));
    OWN_TEXT char *path = test_text("%s/ledger.db", folder);
    OWN_LEDGER tacet_ledger *ledger = test_ledger(path, TACET_ACCOUNTING_GAUSSIAN, 10);
    no_entropy = true;
    assert_status(tacet__mint_fresh(&mint, NULL), TACET_IO);
    tacet_ask ask = f.ask;
    ask.noise = NULL;
    ask.ledger = ledger;
    assert_status(tacet_mechanism_run(f.mechanism, &release, &ask, value, NULL), TACET_IO);
    assert_null(release);
    tacet_entry entry; /* whoever reserves by hand gets a fresh key with it, or no entry */
    tacet_blob memo = {0};
    tacet_charge charge;
    tacet_charge_init(&charge);
    tacet_charge_pure(&charge, 1);
    charge.what = charge.to_whom = charge.mechanism = "x";
    no_entropy = false;
    assert_status(tacet_ledger_lookup(ledger, &entry, &memo, "none", NULL), TACET_NOT_FOUND);
    tacet__seal seal; /* the key file is there: what is missing is entropy alone */
    assert_ok(tacet__seal_find(&seal, path, NULL, NULL));
    assert_ok(tacet__seal_open(&seal, NULL));
    tacet__seal_clear(&seal);
    no_entropy = true;
    assert_int_not_equal(tacet_ledger_reserve(ledger, &entry, &memo, "by hand", &charge, NULL), TACET_OK);
    no_entropy = false;
    tacet_blob_clear(&memo);
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 0); /* and nothing was charged */
    assert_ok(tacet_mechanism_run(f.mechanism, &release, &ask, value, NULL));
    tacet_release_free(release);
    tacet_bounded_free(value);
    end(&f);
}

/* A sampler to look at makes no report. */
TEST(reports_of_the_wrong_noise) {
    OWN_NOISE tacet_noise *sample = NULL;
    tacet_ldp ldp;
    double out = 0;
    assert_ok(tacet_noise_open_sample(&sample, NULL));
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_DUCHI, 1, -1, 1, NULL));
    assert_status(tacet_randomize(sample, &out, &ldp, 0, NULL), TACET_INVALID);
    assert_true(isnan(out));
    assert_status(tacet_randomize_among(sample, &out, &ldp, NULL, NULL), TACET_INVALID); /* no sphere */
}

TEST(scales_and_levels_that_are_none) {
    double scale = 1;
    table_fixture f, choice;
    static const size_t TWO[] = {2, 3};
    assert_status(tacet_mechanism_scale_for(&scale, TACET_MECHANISM_PERMUTE_AND_FLIP, 1, 0, 1, 2, NULL), TACET_INVALID);
    assert_true(scale == 0);
    assert_ok(tacet_mechanism_scale_for(&scale, TACET_MECHANISM_GAUSSIAN, 1, 1e-5, 1, 2, NULL));
    assert_close(scale, 3.7304, 0.01); /* the analytic Gaussian's at (1, 1e-5) */
    begin(&f, 2, TACET_MECHANISM_GAUSSIAN);
    assert_ok(tacet_mechanism_add_levels(f.mechanism, TWO, 2, NULL));
    /* levels that were never drawn do not leave as numbers */
    tacet_bounded *value = NULL;
    double out[2];
    assert_ok(tacet_bounded_create(&value, f.bound, NULL));
    assert_status(tacet__mechanism_draw(f.mechanism, f.noise, out, value, NULL), TACET_INVALID);
    tacet_bounded_free(value);
    /* a level that cannot be drawn ends the row */
    const double raw[2] = {1, 1}, eps = f.mechanism->eps;
    f.mechanism->eps = -1;
    const double both[4] = {1, 1, 1, 1};
    assert_status(tacet__mechanism_draw_levels(f.mechanism, f.noise, out, raw, 1, NULL), TACET_INVALID);
    assert_status(tacet__mechanism_draw_levels(f.mechanism, f.noise, (double[4]){0}, both, 2, NULL), TACET_INVALID);
    f.mechanism->eps = eps;
    /* more columns than the parameters have room for */
    char parameters[64] = "{\"scale\":1}";
    tacet_charge charge;
    tacet_charge_init(&charge);
    for (size_t size = 16; size <= sizeof parameters; size++) {
        (void)snprintf(parameters, sizeof parameters, "{\"scale\":1}");
        tacet__mechanism_charge_levels(f.mechanism, &charge, parameters, size);
        assert_true(strlen(parameters) < size);
    }
    assert_string_equal(parameters, "{\"scale\":1,\"levels\":[2,3]}");
    /* noise that is calibrated to the sum of changes has no room for levels beside it */
    begin(&choice, 2, TACET_MECHANISM_LAPLACE);
    assert_status(tacet_mechanism_add_levels(choice.mechanism, TWO, 2, NULL), TACET_INVALID);
    end(&choice);
    end(&f);
}

/* Columns of levels and no numbers beside them; a level that cannot be drawn ends the rows after it. */
TEST(tables_of_levels_alone) {
    enum { N = 3 };
    static const size_t LEVELS[] = {4};
    const double index[N] = {3, 3, 3};
    double drawn[N] = {9, 9, 9}, again[N] = {9, 9, 9};
    OWN_MECHANISM tacet_mechanism *m = NULL;
    tacet_table *table = NULL;
    tacet_release *answered = NULL;
    OWN_RAW tacet_raw *raw = NULL;
    OWN_NOISE tacet_noise *noise = test_noise(3, 0);
    assert_ok(tacet_mechanism_response(&m, LEVELS, 1, 1, NULL));
    assert_ok(tacet_raw_create(&raw, N, NULL));
    assert_ok(tacet_raw_set(raw, index, N, NULL));
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "rows", .to_whom = "test"};
    assert_ok(tacet_table_open(&table, &answered, m, &ask, N, NULL));
    assert_ok(tacet_table_rows(table, drawn, raw, 0, N, NULL));
    tacet_table_free(table);
    for (size_t i = 0; i < N; i++) {
        assert_true(drawn[i] == 0 || drawn[i] == 1 || drawn[i] == 2 || drawn[i] == 3);
    }
    assert_ok(tacet_table_open(&table, &answered, m, &ask, N, NULL));
    m->eps = -1;
    assert_status(tacet_table_rows(table, again, raw, 0, N, NULL), TACET_INVALID);
    assert_true(again[2] == 9);
    tacet_table_free(table);
}

TEST(samplers_by_name) {
    static const char *const NAMES[] = {"gaussian", "laplace", "discrete-laplace", "knorm", "bit"};
    OWN_NOISE tacet_noise *noise = NULL;
    tacet_sampler s;
    double out[64];
    assert_ok(tacet_noise_open_sample(&noise, NULL));
    for (size_t i = 0; i < 5; i++) {
        assert_ok(tacet_sampler_init(&s, NAMES[i], 2, 10, NULL));
        assert_ok(tacet_sampler_draw(&s, noise, out, 64, NULL));
        double ones = 0;
        for (size_t k = 0; k < 64; k++) {
            const double steps = ldexp(out[k], -s.grid_exponent);
            assert_true(steps == round(steps));
            ones += out[k] == 1;
            assert_true(i != 4 || out[k] == 0 || out[k] == 1);
        }
        assert_true(i != 4 || ones < 40); /* exp(-2) = 0.14: above 40 of 64 with probability 1e-17 */
    }
    assert_status(tacet_sampler_init(&s, "bits", 1, 10, NULL), TACET_INVALID);
    assert_status(tacet_sampler_draw(&(tacet_sampler){.name = "none"}, noise, out, 1, NULL), TACET_INVALID);
    static const double SCALES[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        assert_status(tacet_sampler_init(&s, "laplace", SCALES[i], 10, NULL), TACET_INVALID);
    }
    assert_status(tacet_sampler_init(&s, "bit", 0x1p-11, 10, NULL), TACET_INVALID);
    assert_status(tacet_sampler_init(&s, "bit", 1025, 10, NULL), TACET_INVALID);
    assert_status(tacet_sampler_init(&s, "knorm", 1, 30, NULL), TACET_INVALID);
    assert_ok(tacet_sampler_init(&s, "knorm", 1, 29, NULL));
    assert_status(tacet_sampler_draw(&s, noise, out, 0, NULL), TACET_INVALID);
    assert_status(tacet_sampler_draw(&s, noise, out, (1 << 20) + 1, NULL), TACET_INVALID);
}

/* Bounds that cannot be had are the whole line, never a number. */
TEST(bounds_of_what_has_none) {
    interval x = tacet__interval_exp((interval){NAN, NAN});
    assert_true(x.lo == 0 && isinf(x.hi));
    x = tacet__interval_exp((interval){-800, 800});
    assert_true(x.lo == 0 && isinf(x.hi));
    assert_true(tacet__interval_exp(interval_of(750)).lo > 1e300);
    x = tacet__interval_log(interval_of(0));
    assert_true(x.lo == -INFINITY);
    assert_true(tacet__interval_log(interval_of(INFINITY)).hi == INFINITY);
    assert_true(tacet__interval_log(interval_of(NAN)).hi == INFINITY);
    assert_true(tacet__interval_log(interval_of(0x1p-1074)).hi == INFINITY); /* e^744 is no number */
    assert_true(tacet__interval_log(interval_of(0x1.1p-1023)).hi == INFINITY);
    /* a series of terms that no double holds; densities that are not bounded at the pole */
    sphere p;
    interval h, slope;
    tacet__sphere_init(&p, 20000);
    x = tacet__sphere_below(&p, interval_of(0.4));
    assert_true(x.lo <= 1 && x.hi >= 1 && x.lo >= 0);
    static const size_t UNBOUNDED[] = {2, 4};
    for (size_t i = 0; i < 2; i++) {
        tacet__sphere_init(&p, UNBOUNDED[i]);
        assert_false(tacet__sphere_density(&h, &slope, &p, (interval){0.5, 1 - 0x1p-53}));
        assert_true(tacet__sphere_density(&h, &slope, &p, (interval){0.5, 0.75}));
    }
    assert_true(json_is_null(tacet__ledger_bound(INFINITY)));
}

/* Bounds that are not claimed, and numbers that JSON cannot count to, are null. */
TEST(rows_as_json) {
    static const unsigned char HASH[TACET_HASH_BYTES];
    tacet__record record = {.kind = TACET__RECORD_RESERVE};
    record.reserve.ticket = "t";
    tacet_charge *c = &record.reserve.charge;
    tacet_charge_init(c);
    c->what = c->to_whom = c->mechanism = c->parameters = c->group = c->part = "";
    c->covered_fields = c->uncovered_fields = c->covered_records = "";
    c->eps = c->rho = c->mu = INFINITY;
    c->delta = 1;
    const tacet__ledger_row row = {.record = &record, .previous = HASH, .hash = HASH, .answer = UINT64_MAX};
    json_t *object = tacet__ledger_row_json(&row);
    static const char *const NULLS[] = {"eps", "delta", "rho", "mu", "group", "part", "answered_by"};
    for (size_t i = 0; i < sizeof NULLS / sizeof *NULLS; i++) {
        assert_true(json_is_null(json_object_get(object, NULLS[i])));
    }
    assert_true(json_is_false(json_object_get(object, "not_private")));
    json_decref(object);
    c->delta = 0.5;
    c->seeded = true;
    object = tacet__ledger_row_json(&row);
    assert_true(json_is_real(json_object_get(object, "delta")));
    assert_true(json_is_true(json_object_get(object, "not_private")));
    json_decref(object);
}

/* Rows asked for in an order of their own: more pieces than there is room for at first, and then no memory. */
TEST(rows_in_any_order) {
    enum { N = 400 };
    table_fixture f;
    double values[1], zero[1] = {0};
    tacet_raw *raw = NULL;
    begin(&f, 1, TACET_MECHANISM_GAUSSIAN);
    assert_ok(tacet_raw_create(&raw, 1, NULL));
    assert_ok(tacet_raw_set(raw, zero, 1, NULL));
    for (long n = 0; n < 2; n++) {
        OWN_TABLE tacet_table *table = NULL;
        tacet_release *answered = NULL;
        assert_ok(tacet_table_open(&table, &answered, f.mechanism, &f.ask, N, NULL));
        size_t failed = 0;
        fail_alloc_after(n);
        for (size_t i = 0; i < N; i += 2) {
            failed += tacet_table_rows(table, values, raw, i, 1, NULL) != TACET_OK;
        }
        fail_alloc_after(0);
        assert_true(n == 0 ? failed == 0 : failed > 0);
    }
    tacet_raw_free(raw);
    end(&f);
}
