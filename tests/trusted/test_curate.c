/* test_curate.c - a table through the curator: what is released, what is refused, and what a crash leaves behind. */
#include "support/test.h"

#include <sodium.h>
#include <sys/stat.h>
#include <tacet/base/simrng.h>
#include <tacet/db/csvfile.h>
#include <tacet/gate/calibrate.h>
#include <tacet/gate/ledger.h>
#include <tacet/trusted/curate.h>
#include <unistd.h>

enum { D = 3, PATH_BYTES = 512 };

typedef struct fixture {
    char folder[PATH_BYTES / 2]; /* temporary */
    char data[PATH_BYTES], out[PATH_BYTES], release[PATH_BYTES], manifest[PATH_BYTES], unfinished[PATH_BYTES];
    char ledger[PATH_BYTES];
    double *records; /* D x n as written */
    size_t n;
    tacet_manifest_column columns[D];
    tacet_curate_settings settings;
} fixture;

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Whole numbers and halves: exact as text. Some lie outside the bounds when `wild`. */
static void write_table(fixture *f, size_t n, bool wild, bool clipped) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 11, 0);
    FILE *file = fopen(f->data, "w");
    assert_non_null(file);
    free(f->records);
    f->records = calloc(D * n, sizeof *f->records);
    f->n = n;
    (void)fputs("id,age,bmi,dose\n", file);
    for (size_t j = 0; j < n; j++) {
        (void)fprintf(file, "r%zu", j);
        for (size_t i = 0; i < D; i++) {
            const tacet_manifest_column *c = &f->columns[i];
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
static void unfinished_of(char out[PATH_BYTES], const char *ledger, const char *ticket) {
    unsigned char hash[16];
    char name[33];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)ticket, strlen(ticket), NULL, 0);
    (void)sodium_bin2hex(name, sizeof name, hash, sizeof hash);
    assert_true(snprintf(out, PATH_BYTES, "%s.%s.unfinished", ledger, name) < PATH_BYTES);
}

static int setup(void **state) {
    static fixture f;
    static const tacet_manifest_column COLUMNS[D] = {{"age", 0, 100, 5}, {"bmi", 10, 60, 2}, {"dose", -4, 4, 0.5}};
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
    f.settings.columns = f.columns;
    f.settings.column_count = D;
    f.settings.eps = 2;
    f.settings.seeded = true;
    f.settings.noise_seed = 4;
    write_table(&f, 40, false, false);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    free(f->records);
    test_rmdir(f->folder);
    return 0;
}

static bool exists(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

static char *slurp(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    (void)fclose(file);
    return text;
}

/* The released numbers, dims x n; the rows are numbered from 0 in the order of the table. */
static double *released(const fixture *f, size_t dims) {
    tacet_csv *csv = NULL;
    size_t columns[16] = {0};
    bool found = true;
    double line[16];
    double *Z = calloc(dims * f->n, sizeof *Z);
    assert_ok(tacet_csv_open_file(&csv, f->release, NULL, NULL));
    assert_int_equal(tacet_csv_columns(csv), dims + 1);
    assert_string_equal(tacet_csv_name(csv, 0), "row");
    assert_string_equal(tacet_csv_name(csv, 1), "z1");
    for (size_t i = 0; i <= dims; i++) {
        columns[i] = i;
    }
    for (size_t j = 0; j < f->n; j++) {
        assert_ok(tacet_csv_next(csv, &found, NULL));
        assert_true(found);
        assert_ok(tacet_csv_numbers(csv, line, columns, dims + 1, NULL));
        assert_true(line[0] == (double)j);
        memcpy(Z + j * dims, line + 1, dims * sizeof *Z);
    }
    assert_ok(tacet_csv_next(csv, &found, NULL));
    assert_false(found);
    tacet_csv_close(csv);
    return Z;
}

static double scaled(const fixture *f, size_t j, size_t i) {
    const tacet_manifest_column *c = &f->columns[i];
    const double x = fmin(fmax(f->records[j * D + i], c->lo), c->hi);
    return (x - (c->lo + c->hi) / 2) / c->unit;
}

/* Twenty cells of equal probability under the normal law; p-value of the count. */
static double normal_pvalue(const double *residuals, size_t count) {
    enum { CELLS = 20 };
    size_t counts[CELLS] = {0};
    double statistic = 0;
    for (size_t k = 0; k < count; k++) {
        const double u = 0.5 * erfc(-residuals[k] / sqrt(2));
        counts[u >= 1 ? CELLS - 1 : (size_t)(u * CELLS)]++;
    }
    const double expected = (double)count / CELLS;
    for (size_t c = 0; c < CELLS; c++) {
        statistic += ((double)counts[c] - expected) * ((double)counts[c] - expected) / expected;
    }
    return test_chi2_pvalue(statistic, CELLS - 1);
}

static void run_ok(fixture *f, tacet_manifest *m) {
    tacet_error err = {0};
    const tacet_status status = tacet_curate_run(m, &f->settings, &err);
    test_assert_status(status, TACET_OK, &err, __FILE__, __LINE__);
}

static tacet_status run(fixture *f, tacet_error *err) {
    tacet_manifest m;
    tacet_error_clear(err);
    const tacet_status status = tacet_curate_run(&m, &f->settings, err);
    tacet_manifest_clear(&m);
    return status;
}

/* The double nearest to a number of m->decimals decimals, at most a thousandth of the noise apart. */
static bool is_decimal(double z, const tacet_manifest *m) {
    const double steps = pow(10, m->decimals);
    return m->decimals >= 0 && m->sigma * steps >= 1000 && z == nearbyint(z * steps) / steps;
}

/* Every number with its decimals; the difference to the scaled record has the normal law (false alarms: 1e-6, seed
 * fixed). */
static void test_gaussian(void **state) {
    fixture *f = *state;
    tacet_manifest m;
    write_table(f, 3000, false, false);
    run_ok(f, &m);
    double *Z = released(f, D);
    assert_true(m.sigma > 0 && m.grid > 0);
    for (size_t k = 0; k < D * f->n; k++) {
        assert_true(is_decimal(Z[k], &m));
        Z[k] = (Z[k] - scaled(f, k / D, k % D)) / m.sigma;
    }
    const double p = normal_pvalue(Z, D * f->n);
    assert_true(p > 1e-6);
    /* Half the noise, or one and a half, would not pass. */
    for (size_t k = 0; k < D * f->n; k++) {
        Z[k] *= 1.1;
    }
    assert_true(normal_pvalue(Z, D * f->n) < 1e-6);
    free(Z);
    tacet_manifest_clear(&m);
}

static void test_manifest_and_ledger(void **state) {
    fixture *f = *state;
    tacet_manifest m;
    tacet_manifest stored;
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings settings;
    tacet_ledger_totals totals;
    struct stat st;
    f->settings.seeded = false; /* the operating system's entropy: really private */
    run_ok(f, &m);
    char *text = slurp(f->manifest);
    assert_ok(tacet_manifest_decode(&stored, text, strlen(text), NULL));
    assert_true(stored.is_private);
    assert_null(strstr(text, TACET_MANIFEST_STAMP));
    assert_int_equal(stored.rows, 40);
    assert_int_equal(stored.dims, D);
    assert_true(stored.eps == 2 && stored.sigma == m.sigma && stored.grid == m.grid);
    assert_string_equal(stored.columns[1].name, "bmi");
    assert_string_equal(stored.entry_hash, m.entry_hash);
    assert_int_equal(strlen(stored.entry_hash), 64);
    assert_int_equal(stat(f->release, &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    assert_false(exists(f->unfinished));
    tacet_ledger_settings_defaults(&settings);
    settings.use_stored = true;
    settings.create = false;
    assert_ok(tacet_ledger_open(&ledger, f->ledger, &settings, NULL));
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    assert_int_equal(totals.answered, 1);
    assert_int_equal(totals.seeded, 0);
    assert_close(totals.eps, 2, 1e-6);
    tacet_ledger_close(ledger);
    free(text);
    tacet_manifest_clear(&stored);
    tacet_manifest_clear(&m);
}

/* Values outside the bounds are released as the bound would be, and nothing counts them. A projection tells whether
 * they were clipped as records, not only as what is released. */
static void test_clipped(void **state) {
    fixture *f = *state;
    for (int k = 0; k < 2; k++) {
        tacet_manifest m;
        f->settings.mechanism = k == 0 ? TACET_CURATE_GAUSSIAN : TACET_CURATE_PROJECTION;
        f->settings.dims = D;
        write_table(f, 40, true, false);
        run_ok(f, &m);
        double *wild = released(f, D);
        char *first = slurp(f->manifest);
        tacet_manifest_clear(&m);
        test_rmdir(f->out);
        write_table(f, 40, true, true);
        run_ok(f, &m);
        double *clipped = released(f, D);
        char *second = slurp(f->manifest);
        assert_memory_equal(wild, clipped, D * 40 * sizeof *wild);
        *strstr(first, "\"receipt\"") = *strstr(second, "\"receipt\"") = '\0'; /* the ledger's hash covers the time */
        assert_string_equal(first, second);
        free(wild);
        free(clipped);
        free(first);
        free(second);
        tacet_manifest_clear(&m);
        test_rmdir(f->out);
    }
}

static void test_projection(void **state) {
    fixture *f = *state;
    enum { R = 2 };
    tacet_manifest m;
    double M[R * D];
    f->settings.mechanism = TACET_CURATE_PROJECTION;
    f->settings.dims = R;
    f->settings.seed = 9;
    write_table(f, 3000, false, false);
    run_ok(f, &m);
    assert_int_equal(m.dims, R);
    tacet_manifest_projection(&m, M);
    double *Z = released(f, R);
    for (size_t j = 0; j < f->n; j++) {
        for (size_t k = 0; k < R; k++) {
            double image = 0;
            for (size_t i = 0; i < D; i++) {
                image += M[i * R + k] * scaled(f, j, i);
            }
            assert_true(is_decimal(Z[j * R + k], &m));
            Z[j * R + k] = (Z[j * R + k] - image) / m.sigma;
        }
    }
    assert_true(normal_pvalue(Z, R * f->n) > 1e-6);
    /* The largest singular value, from the 2 x 2 matrix M M' by hand; the noise is that of a move by so much. */
    double a = 0, b = 0, c = 0;
    for (size_t i = 0; i < D; i++) {
        a += M[i * R] * M[i * R];
        b += M[i * R] * M[i * R + 1];
        c += M[i * R + 1] * M[i * R + 1];
    }
    const double norm = sqrt((a + c) / 2 + sqrt((a - c) * (a - c) / 4 + b * b));
    assert_close(m.projection_norm, norm, 1e-8);
    assert_true(m.projection_norm >= norm);
    const double sigma = m.sigma;
    free(Z);
    tacet_manifest_clear(&m);
    test_rmdir(f->out);
    f->settings.mechanism = TACET_CURATE_GAUSSIAN;
    run_ok(f, &m);
    assert_close(sigma / m.sigma, norm, 1e-3);
    tacet_manifest_clear(&m);
}

/* Records at a distance of at most 1 are further apart once scaled in floating point: the noise pays for that too. */
static void test_scaling_rounds(void **state) {
    fixture *f = *state;
    tacet_manifest m;
    /* A quarter in both columns is a distance of just less than 1. */
    const double root_half = 0.7071067811865475, unit = 0.25 / root_half * (1 + 1e-15), hi = 0x1p27;
    double furthest = 0, sigma = 0;
    f->settings.column_count = 2;
    for (size_t i = 0; i < 2; i++) {
        f->columns[i].lo = 0;
        f->columns[i].hi = hi;
        f->columns[i].unit = unit;
    }
    write_table(f, 3, false, false);
    run_ok(f, &m);
    for (int k = 0; k < 2000; k++) {
        const double x = hi - 1000 + 0.125 * k;
        furthest = fmax(furthest, ((x + 0.25 - hi / 2) / unit - (x - hi / 2) / unit) * sqrt(2));
    }
    assert_true(furthest > 1 + 1e-9);
    assert_ok(tacet_calibrate_gaussian(&sigma, m.eps, m.delta, furthest + sqrt(2) * m.grid, NULL));
    assert_true(m.sigma >= sigma);
    tacet_manifest_clear(&m);
}

/* Records are decimal text. Where numbers are large for their unit, two that differ by one unit are many units apart
 * once they are doubles: the noise pays for the distance of the doubles. */
static void test_reading_rounds(void **state) {
    fixture *f = *state;
    tacet_manifest m;
    double sigma = 0;
    f->settings.column_count = 1;
    f->columns[0].lo = 1e15;
    f->columns[0].hi = 1e15 + 1;
    f->columns[0].unit = 0.001;
    const double near = strtod("1000000000000000.062", NULL), far = strtod("1000000000000000.063", NULL);
    const double apart = (far - near) / f->columns[0].unit;
    assert_true(apart > 124);
    write_text(f->data, "age\n1000000000000000.062\n1000000000000000.5\n");
    run_ok(f, &m);
    assert_ok(tacet_calibrate_gaussian(&sigma, m.eps, m.delta, apart, NULL));
    assert_true(m.sigma >= sigma);
    tacet_manifest_clear(&m);
}

static void test_published(void **state) {
    fixture *f = *state;
    tacet_manifest m;
    tacet_error err = {0};
    double sigma_min = 0;
    f->settings.mechanism = TACET_CURATE_PUBLISHED;
    f->settings.dims = 5;
    assert_status(run(f, &err), TACET_DENIED);
    assert_non_null(strstr(err.message, "not differentially private"));
    assert_false(exists(f->out));
    f->settings.accept_not_private = true;
    f->settings.seeded = false;
    run_ok(f, &m);
    assert_false(m.is_private);
    assert_true(m.sigma == 0 && m.grid == 0);
    char *text = slurp(f->manifest);
    assert_non_null(strstr(text, "\"stamp\": \"" TACET_MANIFEST_STAMP "\""));
    assert_non_null(strstr(text, "Nothing is protected"));
    free(text);
    double *Z = released(f, 5);
    for (size_t k = 0; k < 5; k++) { /* centred */
        double sum = 0, size = 0;
        for (size_t j = 0; j < f->n; j++) {
            sum += Z[j * 5 + k];
            size += fabs(Z[j * 5 + k]);
        }
        assert_close(sum / size, 0, 1e-12);
    }
    free(Z);
    tacet_manifest_clear(&m);
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_ok(tacet_curate_sigma_min(&sigma_min, &f->settings, NULL));
    assert_true(sigma_min > 0);
}

/* Seeded noise is reproducible, and therefore stamped. */
static void test_seeded_is_stamped(void **state) {
    fixture *f = *state;
    tacet_manifest m;
    run_ok(f, &m);
    assert_false(m.is_private);
    char *text = slurp(f->manifest);
    assert_non_null(strstr(text, TACET_MANIFEST_STAMP));
    free(text);
    tacet_manifest_clear(&m);
}

/* What is released depends on the seed and the table, not on how many threads there are; and a bad cell is the first
 * one, found before anything is spent. */
static void test_threads(void **state) {
    fixture *f = *state;
    char *first = NULL;
    for (size_t threads = 1; threads <= 7; threads += threads < 3 ? 1 : 2) {
        tacet_manifest m;
        for (int k = 0; k < 2; k++) {
            f->settings.mechanism = k == 0 ? TACET_CURATE_PROJECTION : TACET_CURATE_GAUSSIAN;
            f->settings.dims = 2;
            f->settings.threads = threads;
            if (threads == 1) {
                write_table(f, 20000, true, false); /* several blocks */
            }
            run_ok(f, &m);
            assert_int_equal(m.rows, f->n);
            tacet_manifest_clear(&m);
            if (k == 0) {
                test_rmdir(f->out);
            }
        }
        free(released(f, D));
        char *text = slurp(f->release);
        if (first == NULL) {
            first = text;
        } else {
            assert_string_equal(first, text);
            free(text);
        }
        test_rmdir(f->out);
    }
    free(first);
    FILE *file = fopen(f->data, "a");
    assert_non_null(file);
    for (int j = 0; j < 20000; j++) {
        (void)fputs(j == 9000 ? "r,1,x,1\n" : j == 19000 ? "r,y,1,1\n" : "r,1,1,1\n", file);
    }
    assert_int_equal(fclose(file), 0);
    for (size_t threads = 1; threads <= 8; threads++) {
        tacet_error err = {0};
        f->settings.threads = threads;
        assert_status(run(f, &err), TACET_PARSE);
        assert_non_null(strstr(err.message, "line 29002, column 'bmi'"));
        assert_false(exists(f->out));
    }
}

static void test_budget_and_ticket(void **state) {
    fixture *f = *state;
    tacet_error err = {0};
    assert_ok(run(f, &err));
    char *release = slurp(f->release);
    char *manifest = slurp(f->manifest);
    f->settings.ticket = "another";
    assert_status(run(f, &err), TACET_BUDGET);
    f->settings.ticket = "release"; /* was released: not drawn twice, though the noise would be the same */
    assert_status(run(f, &err), TACET_CONFLICT);
    write_table(f, 41, false, false);
    assert_status(run(f, &err), TACET_CONFLICT); /* stands for another question */
    char *release_after = slurp(f->release);
    char *manifest_after = slurp(f->manifest);
    assert_string_equal(release, release_after);
    assert_string_equal(manifest, manifest_after);
    assert_false(exists(f->unfinished));
    free(release);
    free(manifest);
    free(release_after);
    free(manifest_after);
}

/* Killed between the ledger's commit and the renaming: the same command puts what was drawn in its place. */
static void test_recovery(void **state) {
    fixture *f = *state;
    tacet_error err = {0};
    assert_ok(run(f, &err));
    char *before = slurp(f->release);
    char *manifest = slurp(f->manifest);
    assert_int_equal(rename(f->release, f->unfinished), 0);
    assert_int_equal(unlink(f->manifest), 0);
    f->settings.noise_seed = 5; /* whatever it would draw now, it must not */
    assert_ok(run(f, &err));
    char *after = slurp(f->release);
    char *manifest_after = slurp(f->manifest);
    assert_string_equal(before, after);
    assert_string_equal(manifest, manifest_after);
    /* Anything else that lies there is not taken for it. */
    assert_int_equal(rename(f->release, f->unfinished), 0);
    char *digit = strrchr(after, '\n') - 1;
    *digit = *digit == '1' ? '2' : '1';
    digit = strchr(after, '\n') + 3;
    digit += strcspn(digit, "0123456789");
    *digit = *digit == '9' ? '8' : '9';
    write_text(f->unfinished, after);
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_false(exists(f->release));
    free(before);
    free(after);
    free(manifest);
    free(manifest_after);
}

/* Found before anything is spent; named by line and column, never by value. */
static void test_bad_cells(void **state) {
    fixture *f = *state;
    static const char *const BAD[] = {"", "nan", "inf", "12x", "1e999", "0x10", "1,5"};
    tacet_error err = {0};
    for (size_t k = 0; k < sizeof BAD / sizeof BAD[0]; k++) {
        char text[256];
        (void)snprintf(text, sizeof text, "id,age,bmi,dose\na,31.25,20,1\nb,40,%s,2\n", BAD[k]);
        write_text(f->data, text);
        assert_status(run(f, &err), TACET_PARSE);
        assert_non_null(strstr(err.message, "line 3"));
        assert_null(strstr(err.message, "40"));
        assert_true(BAD[k][0] == '\0' || strchr(BAD[k], ',') != NULL || strstr(err.message, "bmi") != NULL);
        assert_false(exists(f->out));
    }
    write_text(f->data, "id,age,bmi,dose\n");
    assert_status(run(f, &err), TACET_PARSE);
    write_text(f->data, "id,age,dose\na,1,2\n");
    assert_status(run(f, &err), TACET_NOT_FOUND);
    assert_int_equal(unlink(f->data), 0);
    assert_status(run(f, &err), TACET_NOT_FOUND);
    assert_int_equal(mkfifo(f->data, 0600), 0); /* it could be read only once */
    assert_status(run(f, &err), TACET_INVALID);
    assert_false(exists(f->out));
}

static void test_bad_settings(void **state) {
    fixture *f = *state;
    tacet_error err = {0};
    const fixture good = *f;
    for (int k = 0; k < 18; k++) {
        memcpy(f->columns, good.columns, sizeof f->columns);
        f->settings = good.settings;
        switch (k) {
        case 0:
            f->settings.eps = 0;
            break;
        case 1:
            f->settings.eps = NAN;
            break;
        case 2:
            f->settings.eps = INFINITY;
            break;
        case 3:
            f->settings.delta = 0;
            break;
        case 4:
            f->settings.delta = NAN;
            break;
        case 5:
            f->settings.delta = 1;
            break;
        case 6:
            f->columns[1].hi = f->columns[1].lo;
            break;
        case 7:
            f->columns[1].lo = NAN;
            break;
        case 8:
            f->columns[1].hi = INFINITY;
            break;
        case 9:
            f->columns[1].unit = 0;
            break;
        case 10:
            f->columns[1].unit = NAN;
            break;
        case 11:
            memcpy(f->columns[1].name, "age", 4);
            break;
        case 12:
            f->settings.column_count = 0;
            break;
        case 13:
            f->settings.folder = NULL;
            break;
        case 14:
            f->settings.mechanism = TACET_CURATE_PROJECTION;
            break; /* no dims */
        case 15:
            f->settings.queries = SIZE_MAX;
            break;
        case 16:
            f->columns[2].unit = 1e-300;
            break; /* scaled bounds beyond what noise can be drawn for */
        default:
            f->settings.mechanism = TACET_CURATE_PROJECTION;
            f->settings.dims = 2;
            f->settings.seed = UINT64_MAX; /* JSON has no such number */
        }
        const tacet_status status = run(f, &err);
        if (status == TACET_OK || err.message[0] == '\0') {
            print_error("case %d\n", k);
        }
        assert_true(status != TACET_OK);
        assert_true(err.message[0] != '\0');
        assert_false(exists(f->release));
        assert_false(exists(f->manifest));
        assert_false(exists(f->ledger)); /* nothing was spent */
    }
    f->settings = good.settings;
}

/* A name that JSON cannot carry is refused before the draw, not after. */
static void test_name_not_utf8(void **state) {
    fixture *f = *state;
    tacet_error err = {0};
    write_text(f->data, "id,\xe4ge,bmi,dose\na,31,20,1\n");
    memcpy(f->columns[0].name, "\xe4ge", 4);
    assert_status(run(f, &err), TACET_INVALID);
    assert_false(exists(f->ledger));
}

/* A full disk, a folder that is a file, a name that is taken: nothing appears, and the next attempt succeeds. */
static void test_disk(void **state) {
    fixture *f = *state;
    tacet_error err = {0};
    write_text(f->out, "not a folder");
    const tacet_status status = run(f, &err);
    assert_true(status == TACET_IO || status == TACET_DENIED);
    assert_int_equal(unlink(f->out), 0);
    assert_int_equal(mkdir(f->out, 0700), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(symlink("/dev/full", f->unfinished), 0);
        write_table(f, 2000, false, false); /* more than a buffer */
        assert_status(run(f, &err), TACET_IO);
        assert_false(exists(f->release));
        assert_false(exists(f->manifest));
    }
    assert_int_equal(mkdir(f->release, 0700), 0);
    assert_true(run(f, &err) != TACET_OK);
    assert_int_equal(rmdir(f->release), 0);
    assert_ok(run(f, &err)); /* recovered: it was drawn, and charged, before the renaming failed */
    free(released(f, D));
}

/* Whichever allocation fails: no release, no memory kept, and the same command then succeeds. */
static void test_no_memory(void **state) {
    fixture *f = *state;
    write_table(f, 3, false, false);
    f->settings.mechanism = TACET_CURATE_PROJECTION;
    f->settings.dims = 2;
    bool more = true;
    for (long n = 1; more; n += test_slow() ? 8 : 1) {
        tacet_error err = {0};
        tacet_manifest m;
        fail_alloc_after(n);
        const tacet_status status = tacet_curate_run(&m, &f->settings, &err);
        more = fail_alloc_hit() != 0;
        fail_alloc_after(0);
        if (status != TACET_OK) {
            assert_null(m.columns);
            assert_int_equal(status, TACET_NO_MEMORY);
            assert_false(exists(f->release));
            tacet_error_clear(&err);
            if (n % 4 == 1) { /* every fourth: each run syncs its ledger several times */
                test_assert_status(tacet_curate_run(&m, &f->settings, &err), TACET_OK, &err, __FILE__, __LINE__);
                free(released(f, 2));
                tacet_manifest_clear(&m);
            }
        } else {
            tacet_manifest_clear(&m);
        }
        test_rmdir(f->out);
    }
}

static void path_in(char out[PATH_BYTES], const fixture *f, const char *name) {
    (void)snprintf(out, PATH_BYTES, "%s/%s", f->folder, name);
}

/* Releases of one table add up without anybody naming a ledger: it lies beside the table, under whatever name that is
 * reached, and the folders have links to it. */
static void test_ledger_of_the_table(void **state) {
    fixture *f = *state;
    tacet_error err = {0};
    char beside[PATH_BYTES], other_out[PATH_BYTES], other_link[PATH_BYTES], alias[PATH_BYTES], found[PATH_BYTES],
        copy[PATH_BYTES], way[PATH_BYTES];
    struct stat a, b;
    path_in(beside, f, "data.csv.ledger.db");
    path_in(other_out, f, "deep/er");
    path_in(other_link, f, "deep/er/ledger.db");
    path_in(alias, f, "alias.csv");
    path_in(copy, f, "copy.csv");
    f->settings.ledger = NULL;
    f->settings.budget_eps = 3;
    assert_ok(tacet_curate_ledger(found, sizeof found, &f->settings, NULL));
    assert_string_equal(found, beside);
    assert_status(tacet_curate_ledger(found, 5, &f->settings, NULL), TACET_INVALID);
    assert_ok(run(f, &err));
    assert_int_equal(stat(f->ledger, &a), 0);
    assert_int_equal(stat(beside, &b), 0);
    assert_true(a.st_ino == b.st_ino);
    assert_int_equal(lstat(f->ledger, &a), 0);
    assert_true(S_ISLNK(a.st_mode));
    const ssize_t n = readlink(f->ledger, way, sizeof way - 1);
    assert_true(n > 0);
    way[n] = '\0';
    assert_string_equal(way, "../data.csv.ledger.db"); /* the folder of both may be moved */
    /* Another folder, the table by another name: the same budget, which the first release fixed. */
    char *parent = strdup(other_out);
    *strrchr(parent, '/') = '\0';
    assert_int_equal(mkdir(parent, 0700), 0);
    free(parent);
    assert_int_equal(symlink("data.csv", alias), 0);
    f->settings.budget_eps = 0;
    f->settings.data = alias;
    f->settings.folder = other_out;
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "drawn already"));
    f->settings.ticket = "second";
    f->settings.eps = 2.5; /* 2 and 2.5 in three, composed, are too much */
    assert_status(run(f, &err), TACET_BUDGET);
    assert_non_null(strstr(err.message, "budget of this table"));
    f->settings.eps = 1;
    assert_ok(run(f, &err));
    assert_int_equal(stat(other_link, &a), 0);
    assert_true(a.st_ino == b.st_ino);
    f->settings.eps = 0.5;
    assert_status(run(f, &err), TACET_CONFLICT); /* the ticket stands for another release */
    assert_non_null(strstr(err.message, "--ticket"));
    f->settings.budget_eps = 9;
    assert_status(run(f, &err), TACET_CONFLICT); /* a budget is not raised afterwards */
    f->settings.budget_eps = NAN;
    assert_status(run(f, &err), TACET_INVALID);
    f->settings.budget_eps = 0;
    /* A copy of the table is another table, and does not take over the folder of this one. */
    FILE *file = fopen(copy, "w");
    assert_non_null(file);
    (void)fputs("age,bmi,dose\n1,20,1\n", file);
    assert_int_equal(fclose(file), 0);
    f->settings.data = copy;
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "another table"));
    /* A link that leads nowhere any more is replaced. */
    assert_int_equal(unlink(beside), 0);
    f->settings.folder = f->out;
    assert_ok(run(f, &err));
    path_in(beside, f, "copy.csv.ledger.db");
    assert_int_equal(stat(beside, &b), 0);
    assert_int_equal(stat(f->ledger, &a), 0);
    assert_true(a.st_ino == b.st_ino);
    /* A ledger that lies in the folder itself is the folder's, but it does not hide what the table's own has. */
    test_rmdir(f->out);
    f->settings.ledger = f->ledger;
    assert_ok(run(f, &err));
    f->settings.ledger = NULL;
    f->settings.ticket = "third";
    assert_status(run(f, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "name one"));
    assert_int_equal(unlink(beside), 0);
    assert_status(run(f, &err), TACET_BUDGET);
    assert_ok(tacet_curate_ledger(found, sizeof found, &f->settings, NULL));
    assert_string_equal(found, f->ledger);
}

static void test_units_for_a_radius(void **state) {
    fixture *f = *state;
    double square = 0;
    tacet_curate_units(f->columns, D, 25);
    for (size_t i = 0; i < D; i++) {
        const double corner = (f->columns[i].hi - f->columns[i].lo) / 2 / f->columns[i].unit;
        square += corner * corner;
    }
    assert_close(sqrt(square), 25, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gaussian, setup, teardown),
        cmocka_unit_test_setup_teardown(test_manifest_and_ledger, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clipped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_projection, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scaling_rounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reading_rounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_published, setup, teardown),
        cmocka_unit_test_setup_teardown(test_seeded_is_stamped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_budget_and_ticket, setup, teardown),
        cmocka_unit_test_setup_teardown(test_recovery, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_cells, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_settings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_name_not_utf8, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ledger_of_the_table, setup, teardown),
        cmocka_unit_test_setup_teardown(test_units_for_a_radius, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
