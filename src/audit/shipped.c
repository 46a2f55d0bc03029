/* SPDX-License-Identifier: Apache-2.0 */
/* shipped.c - neighbouring tables through the release itself, and what came out of it through the tests; the other ways
 * out are those of shipped_way.h.
 * Ring: audit. Cost: at 10^6 rows three releases of a million rows, a minute on one core; interrupted, two releases of
 * one row a run, some 6 ms together. */
#include <tacet/audit/audit.h>

#include "audit/bound.h"
#include "audit/noise_law.h"
#include "audit/temporary_folder.h"
#include "audit/shipped_way.h"
#include "core/fail.h"
#include "outsourced/shared/release_text.h"
#include "core/memory.h"

#include <dirent.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacet/outsourced/trusted/curate.h>
#include <unistd.h>

enum {
    LAW_COLUMNS = 8, /* of the table that the law is tested with */
    COLUMNS_MOST = 64,
    LEAST = 512,
    LEAST_RUNS = 25,
    CURATE_ROWS = 1000000,
    CURATE_RUNS = 40000, /* a bound above 0.9 of eps 1 by pure noise in all of 30 audits; 10,000: in 13 */
    ROOM = 1 << 30,      /* bytes that a million rows leave behind, and more */
    INTERRUPTED = 99,    /* how a child that was killed on purpose exits */
    NEAR = 9,            /* interrupted: the two worlds of a row lie on either side of one more printed digit */
    WIDTH = 32           /* of the bounds, in units */
};

typedef struct shipping {
    const tacet_audit_shipped_settings *settings;
    tacet_curate_mechanism mechanism;
    char folder[TACET__PATH], data[TACET__PATH], out[TACET__PATH], release[TACET__PATH];
    tacet_space_column columns[COLUMNS_MOST];
    size_t kill_above;   /* bytes of the draft; 0: at half of the rows */
    tacet_manifest made; /* the newest release */
    size_t redrawn;      /* releases that differ from what was written before they were interrupted */
} shipping;

/* How what was released is spoilt before it is tested: as a release with that mistake would have been. */
typedef struct spoil {
    const char *name, *summary;
    void (*run)(double *noise, size_t rows, size_t columns); /* NULL: not afterwards */
} spoil;

enum { SPOILT_BLOCK = 2048 /* rows, or an eighth of all */, SPOILT_ROW = 10000 /* or a quarter */ };

static size_t fewer(size_t a, size_t b) {
    return a < b ? a : b;
}

static void copy_row(double *noise, size_t columns, size_t to, size_t from) {
    memcpy(noise + to * columns, noise + from * columns, columns * sizeof *noise);
}

static void same_key_blocks(double *noise, size_t rows, size_t columns) {
    const size_t block = fewer(SPOILT_BLOCK, rows / 8);
    for (size_t i = block; i < rows; i++) {
        copy_row(noise, columns, i, i % block);
    }
}

/* Two threads that take blocks in turns: the second one's are the first one's again. */
static void same_key_threads(double *noise, size_t rows, size_t columns) {
    const size_t block = fewer(SPOILT_BLOCK, rows / 8);
    for (size_t i = block; i < rows; i++) {
        if (i / block % 2 == 1) {
            copy_row(noise, columns, i, i - block);
        }
    }
}

static void short_variance(double *noise, size_t rows, size_t columns) {
    for (size_t i = 0; i < rows * columns; i++) {
        noise[i] *= sqrt(0.95);
    }
}

static void row_repeats(double *noise, size_t rows, size_t columns) {
    const size_t apart = fewer(SPOILT_ROW, rows / 4);
    for (size_t i = apart; i < rows; i += apart) {
        copy_row(noise, columns, i, i - apart / 3);
    }
}

static const spoil SPOILS[] = {
    {"same-key-blocks", "a release whose blocks are all drawn with one key", same_key_blocks},
    {"same-key-threads", "a release whose two threads draw with one key", same_key_threads},
    {"short-variance-5", "a release with 5 % less variance than it claims", short_variance},
    {"row-repeats", "a release of which one row in 10,000 has another row's noise", row_repeats},
    {"undercharged", "a release that is charged for an eighth of the eps that it is drawn with", NULL},
    {"redraws", "an interrupted release that forgets its reservation, and draws anew when it is repeated", NULL},
};

const char *tacet_audit_spoils(size_t index, const char **summary) {
    if (index >= sizeof SPOILS / sizeof *SPOILS) {
        return NULL;
    }
    *summary = SPOILS[index].summary;
    return SPOILS[index].name;
}

static const tacet__way *const WAYS[] = {&tacet__way_desk,  &tacet__way_device,   &tacet__way_table,
                                         &tacet__way_study, &tacet__way_contexts, &tacet__way_arms};
static const char CURATE[] = "curate";

const char *tacet_audit_ways(size_t index, const char **summary) {
    if (index == 0) {
        *summary = "neighbouring tables through tacet curate; bound on eps, and tests of the noise's law";
        return CURATE;
    }
    if (index > sizeof WAYS / sizeof WAYS[0]) {
        return NULL;
    }
    *summary = WAYS[index - 1]->summary;
    return WAYS[index - 1]->name;
}

void tacet_audit_shipped_defaults(tacet_audit_shipped_settings *settings) {
    *settings =
        (tacet_audit_shipped_settings){.way = CURATE, .eps = 1, .delta = 1e-5, .columns = 1, .confidence = 0.98};
}

void tacet__shipped_tell(const tacet_audit_shipped_settings *settings, double fraction) {
    if (settings->progress != NULL) {
        settings->progress(fraction, settings->user);
    }
}

unsigned char *tacet__shipped_coins(size_t count) {
    unsigned char *worlds = TACET__ZALLOC(unsigned char, count);
    if (worlds != NULL) {
        randombytes_buf(worlds, count);
    }
    for (size_t i = 0; worlds != NULL && i < count; i++) {
        worlds[i] &= 1;
    }
    return worlds;
}

static bool is_euclidean(tacet_curate_mechanism mechanism) {
    const tacet_law *law = tacet_curate_law(mechanism);
    return law != NULL && law->density == TACET_DENSITY_EUCLIDEAN;
}

static tacet_status own_state(const char *folder, tacet_error *err) {
    char state[TACET__PATH];
    const tacet_status status = tacet__path(state, folder, "state", err);
    return status != TACET_OK || setenv("TACET_STATE", state, 1) == 0
               ? status
               : tacet__fail(err, TACET_NO_MEMORY, "out of memory");
}

static bool is_control(const tacet_audit_shipped_settings *settings, const char *name) {
    return settings->control != NULL && strcmp(settings->control, name) == 0;
}

static bool forgets(const tacet_audit_shipped_settings *settings) {
    return is_control(settings, "redraws");
}

/* Of the eps that a release is drawn with, what it claims. */
static double charged(const tacet_audit_shipped_settings *settings) {
    return is_control(settings, "undercharged") ? 0.125 : 1;
}

/* What two draws tell is most where one of them tells all of eps: of Gaussian noise it is in the far tails. */
static const char *usual(const tacet_audit_shipped_settings *settings) {
    return forgets(settings) ? "laplace" : "gaussian";
}

static tacet_status begin(shipping *s, const tacet_audit_shipped_settings *settings, tacet_error *err) {
    s->settings = settings;
    tacet_status status =
        tacet_curate_parse(&s->mechanism, settings->mechanism != NULL ? settings->mechanism : usual(settings), err);
    if (status == TACET_OK && s->mechanism != TACET_CURATE_GAUSSIAN && !is_euclidean(s->mechanism)) {
        status = tacet__fail(err, TACET_INVALID, "a release is audited with gaussian, laplace or l2 noise");
    }
    TACET_THEN(status, tacet__scratch_make(s->folder, ROOM, err));
    for (size_t i = 0; i < COLUMNS_MOST; i++) {
        tacet_space_column *c = &s->columns[i];
        tacet_space_column_init(c);
        (void)snprintf(c->name, sizeof c->name, "c%zu", i);
        c->lo = -WIDTH / 2.0; /* about 0, and a unit of 1: what is printed is what is scaled */
        c->hi = WIDTH / 2.0;
        c->unit = 1;
    }
    TACET_THEN(status, tacet__path(s->data, s->folder, "table.csv", err));
    return status != TACET_OK ? status : own_state(s->folder, err);
}

/* Row i has `near` in its first column, one more in world 1, none in the others. */
static tacet_status write_table(const shipping *s, const unsigned char *worlds, size_t rows, size_t columns, int near,
                                tacet_error *err) {
    FILE *file = fopen(s->data, "we");
    if (file == NULL) {
        return tacet__fail(err, TACET_IO, "%.150s: cannot be written", s->data);
    }
    for (size_t c = 0; c < columns; c++) {
        (void)fprintf(file, "%sc%zu", c == 0 ? "" : ",", c);
    }
    (void)fputc('\n', file);
    for (size_t i = 0; i < rows; i++) {
        (void)fprintf(file, "%d", near + worlds[i]);
        for (size_t c = 1; c < columns; c++) {
            (void)fprintf(file, ",0");
        }
        (void)fputc('\n', file);
    }
    const bool failed = ferror(file) != 0;
    return (fclose(file) == 0) && !failed ? TACET_OK : tacet__fail(err, TACET_IO, "%.150s: cannot be written", s->data);
}

/* The one file in the folder whose rows are not committed yet, and its size; 0: there is none. */
static size_t find_draft(const shipping *s, char path[TACET__PATH]) {
    static const char ENDING[] = ".unfinished";
    size_t size = 0;
    DIR *folder = opendir(s->folder);
    for (const struct dirent *item = NULL; folder != NULL && size == 0 && (item = readdir(folder)) != NULL;) {
        const size_t length = strlen(item->d_name);
        struct stat st;
        if (length >= sizeof ENDING && strcmp(item->d_name + length - (sizeof ENDING - 1), ENDING) == 0 &&
            tacet__path(path, s->folder, item->d_name, NULL) == TACET_OK && stat(path, &st) == 0) {
            size = (size_t)st.st_size;
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return size;
}

/* As kill -9 would, after rows were drawn and written, before they are committed. */
static void end_abruptly(double fraction, void *user) {
    const shipping *s = user;
    char draft[TACET__PATH];
    if (s->kill_above > 0 ? find_draft(s, draft) > s->kill_above : fraction >= 0.5) {
        _exit(INTERRUPTED);
    }
}

/* All but the table: what was reserved, too. */
static tacet_status forget(const shipping *s, tacet_error *err) {
    char table[TACET__PATH];
    (void)snprintf(table, sizeof table, "%.4000s.table", s->folder);
    if (rename(s->data, table) != 0 || tacet__scratch_empty(s->folder, err) != TACET_OK ||
        rename(table, s->data) != 0) {
        return tacet__fail(err, TACET_IO, "%.150s: cannot be moved", s->data);
    }
    return TACET_OK;
}

/* A child that is to be killed; *died: it was. */
static tacet_status release_in_child(shipping *s, tacet_curate_settings *c, bool *died, tacet_error *err) {
    int code = 0;
    c->progress = end_abruptly;
    c->user = s;
    const pid_t child = fork();
    if (child == 0) {
        tacet_manifest none;
        tacet_error ignored = {0};
        _exit(tacet_curate_run(&none, c, &ignored) == TACET_OK ? 0 : 1);
    }
    c->progress = NULL;
    if (child < 0 || waitpid(child, &code, 0) != child || !WIFEXITED(code) || WEXITSTATUS(code) == 1) {
        return tacet__fail(err, TACET_IO, "the release that was to be interrupted failed");
    }
    *died = WEXITSTATUS(code) != 0;
    return TACET_OK;
}

static tacet_status read_manifest(shipping *s, tacet_error *err) {
    char path[TACET__PATH];
    char *text = NULL;
    size_t length = 0;
    tacet_status status = tacet__path(path, s->out, "manifest.json", err);
    TACET_THEN(status, tacet__file_read(&text, &length, path, ROOM, err));
    TACET_THEN(status, tacet_manifest_decode(&s->made, text, length, err));
    free(text);
    return status;
}

/* Killed and repeated: what the first had written must be the beginning of what the second released. */
static tacet_status repeat(shipping *s, const tacet_curate_settings *c, tacet_error *err) {
    char path[TACET__PATH];
    char *draft = NULL;
    char *released = NULL;
    size_t drawn = 0;
    size_t length = 0;
    tacet_status status = find_draft(s, path) > 0 ? tacet__file_read(&draft, &drawn, path, ROOM, err) : TACET_OK;
    status = status == TACET_OK && forgets(s->settings) ? forget(s, err) : status;
    TACET_THEN(status, tacet_curate_run(&s->made, c, err));
    TACET_THEN(status, tacet__file_read(&released, &length, s->release, ROOM, err));
    if (status == TACET_OK && drawn > 0) {
        s->redrawn += drawn > length || memcmp(draft, released, drawn) != 0;
    }
    free(draft);
    free(released);
    return status;
}

static tacet_status release_table(shipping *s, size_t columns, const char *ticket, const char *out, bool interrupted,
                                  tacet_error *err) {
    const tacet_audit_shipped_settings *a = s->settings;
    bool died = false;
    const tacet_space space = {s->columns, columns};
    tacet_curate_settings c;
    tacet_curate_defaults(&c);
    tacet_status status = tacet__path(s->out, s->folder, out, err);
    TACET_THEN(status, tacet__path(s->release, s->out, "release.csv", err));
    c.data = s->data;
    c.folder = s->out;
    c.space = &space;
    c.mechanism = s->mechanism;
    c.eps = a->eps;
    c.delta = a->delta;
    c.ticket = ticket;
    c.threads = a->threads;
    c.budget_eps = 8 * a->eps;
    c.budget_delta = s->mechanism == TACET_CURATE_L2 ? 8 * a->delta : 0; /* its ledger adds those up, too */
    c.new_budget = "an audit, of made-up records";
    tacet_manifest_clear(&s->made);
    if (status == TACET_OK && interrupted) {
        status = release_in_child(s, &c, &died, err);
    }
    return status != TACET_OK ? status
           : died             ? repeat(s, &c, err)
           : interrupted      ? read_manifest(s, err) /* it came through */
                              : tacet_curate_run(&s->made, &c, err);
}

/* The released numbers, row after row. */
static tacet_status read_release(const shipping *s, double *values, size_t rows, size_t columns, tacet_error *err) {
    double *read = NULL;
    if (s->made.rows != rows || s->made.dims != columns) {
        return tacet__fail(err, TACET_PARSE, "%.150s: not the rows that were released", s->release);
    }
    const tacet_status status = tacet_manifest_rows(&s->made, &read, s->release, err);
    if (status == TACET_OK) {
        memcpy(values, read, rows * columns * sizeof *values);
    }
    free(read);
    return status;
}

/* Scaled coordinates: bounds are centred. Whole numbers, so that rounding to decimals commutes with them. */
static void subtract_records(double *values, const unsigned char *worlds, size_t rows, size_t columns, int near) {
    for (size_t i = 0; i < rows; i++) {
        values[i * columns] -= near + worlds[i];
    }
}

static tacet__law_claim claim_of(const shipping *s, double sigma, size_t columns) {
    const double d = (double)columns;
    const bool laplace = is_euclidean(s->mechanism);
    /* |v|^2: chi-square with d degrees of freedom; squared Gamma(d), whose fourth moment is d (d+1) (d+2) (d+3). */
    return (tacet__law_claim){.variance = sigma * sigma,
                              .spread = laplace ? (d + 2) * (d + 3) / (d * (d + 1)) - 1 : 2 / d};
}

static double statistic_of(const shipping *s, const double *row, size_t columns, int near) {
    double here = 0;
    double there = 0;
    if (!is_euclidean(s->mechanism)) {
        return row[0];
    }
    for (size_t c = 0; c < columns; c++) {
        const double x = c == 0 ? row[0] - near : row[c];
        here += x * x;
        there += c == 0 ? (x - 1) * (x - 1) : x * x;
    }
    return sqrt(here) - sqrt(there);
}

void tacet__shipped_spoil(const tacet_audit_shipped_settings *settings, double *noise, size_t rows, size_t columns) {
    for (size_t i = 0; i < sizeof SPOILS / sizeof *SPOILS && settings->control != NULL; i++) {
        if (strcmp(SPOILS[i].name, settings->control) == 0 && SPOILS[i].run != NULL) {
            SPOILS[i].run(noise, rows, columns);
        }
    }
}

void tacet__shipped_complain(tacet_audit_shipped_result *out, const char *reason) {
    if (!out->violated) {
        out->violated = true;
        (void)snprintf(out->reason, sizeof out->reason, "%s", reason);
    }
}

static void note(tacet_audit_shipped_result *out, const tacet__law_report *law) {
    out->variance_ratio = law->variance_ratio;
    out->repeats = law->repeats;
    if (law->failed) {
        tacet__shipped_complain(out, law->reason);
    }
}

/* Two tickets over one table of eight columns, as one list of rows. */
static tacet_status test_law(shipping *s, tacet_audit_shipped_result *out, tacet_error *err) {
    const size_t rows = s->settings->rows / 2;
    const size_t numbers = rows * LAW_COLUMNS;
    unsigned char *worlds = TACET__ZALLOC(unsigned char, rows);
    double *noise = TACET__ALIGNED(double, 2 * numbers);
    tacet_status status = worlds == NULL || noise == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", rows)
                              : write_table(s, worlds, rows, LAW_COLUMNS, 0, err);
    for (size_t k = 0; k < 2 && status == TACET_OK; k++) {
        status = release_table(s, LAW_COLUMNS, k == 0 ? "one" : "two", k == 0 ? "law1" : "law2",
                               s->settings->interrupted, err);
        TACET_THEN(status, read_release(s, noise + k * numbers, rows, LAW_COLUMNS, err));
        tacet__shipped_tell(s->settings, 0.5 + 0.2 * (double)(k + 1));
    }
    if (status == TACET_OK) {
        tacet__law_report law;
        const tacet__law_claim claim = claim_of(s, s->made.sigma, LAW_COLUMNS);
        tacet__shipped_spoil(s->settings, noise, 2 * rows, LAW_COLUMNS);
        status = tacet__law_test(&law, noise, 2 * rows, LAW_COLUMNS, &claim, err);
        note(out, &law);
    }
    free(worlds);
    free(noise);
    return status;
}

/* A statistic that falls where world 1 is likely is turned round: by the samples that choose the event, too. */
static double direction_of(const double *statistics, const unsigned char *worlds, size_t count) {
    double sum[2] = {0};
    double number[2] = {1e-9, 1e-9};
    for (size_t i = 0; i < count; i++) {
        sum[worlds[i]] += statistics[i];
        number[worlds[i]] += 1;
    }
    return sum[1] / number[1] < sum[0] / number[0] ? -1 : 1;
}

tacet_status tacet__shipped_judge(const tacet_audit_shipped_settings *settings, tacet_audit_shipped_result *out,
                                  double *statistics, const unsigned char *worlds, size_t count, tacet_error *err) {
    const tacet_audit_claim claim = {.eps = settings->eps * charged(settings), .delta = settings->delta};
    char reason[sizeof out->reason];
    tacet__audit_sample *samples = TACET__ZALLOC(tacet__audit_sample, count);
    if (samples == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu runs", count);
    }
    const double direction = direction_of(statistics, worlds, count / 3);
    for (size_t i = 0; i < count; i++) {
        samples[i].statistic = direction * statistics[i];
        samples[i].world = worlds[i];
    }
    const tacet_status status = tacet__audit_judge(&out->bound, samples, count, &claim, settings->confidence, err);
    if (status == TACET_OK && out->bound.violated) {
        (void)snprintf(reason, sizeof reason, "eps is at least %.4g, above the claim", out->bound.eps_lower);
        tacet__shipped_complain(out, reason);
    }
    free(samples);
    return status;
}

static tacet_status bound_by_rows(shipping *s, tacet_audit_shipped_result *out, tacet_error *err) {
    const size_t rows = s->settings->rows;
    const size_t d = s->settings->columns;
    unsigned char *worlds = tacet__shipped_coins(rows);
    double *values = TACET__ALIGNED(double, rows *d);
    double *statistics = TACET__ALIGNED(double, rows);
    tacet_status status = TACET_OK;
    if (worlds == NULL || values == NULL || statistics == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", rows);
        goto done;
    }
    status = write_table(s, worlds, rows, d, 0, err);
    TACET_THEN(status, release_table(s, d, "bound", "bound", false, err));
    TACET_THEN(status, read_release(s, values, rows, d, err));
    if (status != TACET_OK) {
        goto done;
    }
    for (size_t i = 0; i < rows; i++) {
        statistics[i] = statistic_of(s, values + i * d, d, 0);
    }
    tacet__law_report law;
    const tacet__law_claim claim = claim_of(s, s->made.sigma, d);
    subtract_records(values, worlds, rows, d, 0);
    status = tacet__law_test(&law, values, rows, d, &claim, err);
    note(out, &law);
    TACET_THEN(status, tacet__shipped_judge(s->settings, out, statistics, worlds, rows, err));
done:
    free(worlds);
    free(values);
    free(statistics);
    return status;
}

/* One row a run. The first attempt dies when the row is printed with another digit before the point; the second is what
 * the outside sees. */
static tacet_status bound_by_runs(shipping *s, tacet_audit_shipped_result *out, tacet_error *err) {
    const size_t runs = s->settings->runs;
    unsigned char *worlds = tacet__shipped_coins(runs);
    double *values = TACET__ALIGNED(double, runs);
    tacet_status status = worlds == NULL || values == NULL
                              ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu runs", runs)
                              : TACET_OK;
    for (size_t i = 0; i < runs && status == TACET_OK; i++) {
        tacet__shipped_tell(s->settings, 0.5 * (double)i / (double)runs);
        status = tacet__scratch_empty(s->folder, err);
        TACET_THEN(status, write_table(s, &worlds[i], 1, 1, NEAR, err));
        /* the first one comes through, and tells what a row looks like: units are 1 about 0 */
        TACET_THEN(status, release_table(s, 1, "bound", "bound", i > 0, err));
        TACET_THEN(status, read_release(s, &values[i], 1, 1, err));
        if (i == 0) {
            tacet__release_cell cell;
            tacet__release_cells(&cell, &s->made);
            /* The head and a row of one digit before the point; whatever is longer was printed with one digit more,
             * and a kill there is what an attacker who dislikes a draw would choose. */
            s->kill_above =
                strlen("row,\n0,9.\n") + strlen(cell.name) + (size_t)(cell.decimals > 0 ? cell.decimals : 0);
        }
    }
    s->kill_above = 0;
    TACET_THEN(status, tacet__scratch_empty(s->folder, err));
    TACET_THEN(status, tacet__shipped_judge(s->settings, out, values, worlds, runs, err));
    free(worlds);
    free(values);
    return status;
}

static tacet_status audit_curate(tacet_audit_shipped_result *out, tacet_audit_shipped_settings *settings,
                                 tacet_error *err) {
    shipping *s = TACET__ZALLOC(shipping, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    }
    settings->rows = settings->rows > 0 ? settings->rows : CURATE_ROWS;
    settings->runs = settings->runs > 0 ? settings->runs : CURATE_RUNS;
    tacet_status status = begin(s, settings, err);
    if (status == TACET_OK) {
        settings->delta = s->mechanism == TACET_CURATE_LAPLACE ? 0 : settings->delta;
        status = settings->interrupted ? bound_by_runs(s, out, err) : bound_by_rows(s, out, err);
        TACET_THEN(status, test_law(s, out, err));
        out->redrawn = s->redrawn;
        if (s->redrawn > 0) {
            tacet__shipped_complain(out, "a release that was interrupted and asked for again was another one");
        }
    }
    tacet__shipped_tell(settings, 1);
    tacet_manifest_clear(&s->made);
    tacet__scratch_remove(s->folder);
    free(s);
    return status;
}

static tacet_status audit_way(const tacet__way *way, tacet_audit_shipped_result *out,
                              tacet_audit_shipped_settings *settings, tacet_error *err) {
    char around[TACET__PATH] = "";
    tacet__shipment *s = TACET__ZALLOC(tacet__shipment, 1);
    if (s == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    }
    s->settings = settings;
    s->way = way;
    settings->rows = settings->rows > 0 ? settings->rows : way->rows;
    settings->runs = settings->runs > 0 ? settings->runs : way->runs;
    tacet_status status = way->choose(s, settings->mechanism != NULL ? settings->mechanism : way->mechanism, err);
    settings->delta = s->pure ? 0 : settings->delta;
    TACET_THEN(status, tacet__scratch_make(around, ROOM, err));
    TACET_THEN(status, tacet__path(s->folder, around, "work", err));
    TACET_THEN(status, tacet__path(s->kept, around, "kept", err));
    TACET_THEN(status, tacet__path(s->data, s->folder, "table.csv", err));
    TACET_THEN(status, tacet__path(s->ledger, s->folder, "ledger-audit.db", err));
    TACET_THEN(status, own_state(s->folder, err));
    TACET_THEN(status, tacet__way_audit(s, out, err));
    tacet__scratch_remove(around);
    free(s);
    return status;
}

static const tacet__way *way_of(const char *name) {
    for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        if (strcmp(WAYS[i]->name, name) == 0) {
            return WAYS[i];
        }
    }
    return NULL;
}

static tacet_status check(const tacet_audit_shipped_settings *a, tacet_error *err) {
    bool known = a->control == NULL;
    for (size_t i = 0; i < sizeof SPOILS / sizeof *SPOILS && !known; i++) {
        known = strcmp(SPOILS[i].name, a->control) == 0;
    }
    if (way_of(a->way) == NULL && strcmp(a->way, CURATE) != 0) {
        return tacet__fail(err, TACET_INVALID, "nothing leaves by '%.40s'", a->way);
    }
    if (!(a->eps > 0 && a->eps <= 64) || !(a->delta >= 0 && a->delta < 1) || a->columns == 0 ||
        a->columns > COLUMNS_MOST || (a->rows > 0 && a->rows < LEAST) || (a->runs > 0 && a->runs < LEAST_RUNS) ||
        !(a->confidence > 0 && a->confidence < 1) || !known) {
        return tacet__fail(err, TACET_INVALID,
                           "eps is above 0 and at most 64, with 1 to %d columns and at least %d rows or %d runs",
                           COLUMNS_MOST, LEAST, LEAST_RUNS);
    }
    return TACET_OK;
}

tacet_status tacet_audit_shipped(tacet_audit_shipped_result *out, const tacet_audit_shipped_settings *settings,
                                 tacet_error *err) {
    *out = (tacet_audit_shipped_result){.reason = "nothing was found"};
    const tacet_status status = check(settings, err);
    tacet_audit_shipped_settings filled = *settings; /* with the way's own numbers */
    if (status != TACET_OK) {
        return status;
    }
    if (sodium_init() < 0) {
        return tacet__fail(err, TACET_IO, "the operating system gives no entropy");
    }
    filled.interrupted = filled.interrupted || forgets(settings);
    filled.eps /= charged(settings);
    const tacet__way *way = way_of(settings->way);
    return way != NULL ? audit_way(way, out, &filled, err) : audit_curate(out, &filled, err);
}
