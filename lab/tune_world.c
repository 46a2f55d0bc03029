/* SPDX-License-Identifier: Apache-2.0 */
/* tune_world.c - tuning problems for simulations. Ring: programs; made-up data or public tables. */
#include "tune_world.h"
#include "trials.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/io/csv.h>

enum { FUNCTION_STREAM = 0, RECORD_STREAM = 1, SAMPLES = 4000 };

static const char MIXED[] = "{\"columns\":[{\"name\":\"x\",\"kind\":\"real\",\"bounds\":[0,1]},"
                            "{\"name\":\"rate\",\"kind\":\"log\",\"bounds\":[1e-5,1]},"
                            "{\"name\":\"depth\",\"kind\":\"integer\",\"bounds\":[1,12]},"
                            "{\"name\":\"kind\",\"kind\":\"category\",\"levels\":[\"a\",\"b\",\"c\",\"d\"]},"
                            "{\"name\":\"loss\",\"kind\":\"category\",\"levels\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}]}";

void tune_table_clear(tune_table *t) {
    free(t->points);
    free(t->values);
    free(t->means);
    memset(t, 0, sizeof *t);
}

/* One row of the file into the table, which has room for it. */
static tacet_status take_row(tune_table *t, tacet_csv *csv, tacet_error *err) {
    double mean = 0;
    for (size_t j = 0; j < t->columns + t->rows; j++) {
        size_t length = 0;
        const char *field = tacet_csv_field(csv, j, &length);
        char *end = NULL;
        const double value = strtod(field, &end);
        if (end == field) {
            return tacet__fail(err, TACET_PARSE, "a table of settings has numbers alone");
        }
        if (j < t->columns) {
            t->points[t->settings * t->columns + j] = value;
        } else {
            t->values[t->settings * t->rows + j - t->columns] = value;
            mean += value / (double)t->rows;
        }
    }
    t->means[t->settings++] = mean;
    return TACET_OK;
}

tacet_status tune_table_load(tune_table *t, const char *path, tacet_error *err) {
    enum { MOST = 4096 };
    tacet_csv *csv = NULL;
    bool found = true;
    memset(t, 0, sizeof *t);
    tacet_status s = tacet_csv_open_file(&csv, path, NULL, err);
    for (size_t j = 0; s == TACET_OK && j < tacet_csv_columns(csv); j++) {
        t->columns += tacet_csv_name(csv, j)[0] == 'x' ? 1 : 0;
        t->rows += tacet_csv_name(csv, j)[0] == 'r' ? 1 : 0;
    }
    if (s == TACET_OK && (t->columns == 0 || t->columns > TUNE_COLUMNS_MOST || t->rows == 0)) {
        s = tacet__fail(err, TACET_PARSE, "a table of settings has columns x…, then r…");
    }
    if (s == TACET_OK) {
        t->points = TACET__ZALLOC(double, MOST * t->columns);
        t->values = TACET__ZALLOC(double, MOST * t->rows);
        t->means = TACET__ZALLOC(double, MOST);
        s = t->points != NULL && t->values != NULL && t->means != NULL
                ? TACET_OK
                : tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table");
    }
    while (s == TACET_OK && found && t->settings < MOST) {
        s = tacet_csv_next(csv, &found, err);
        s = s == TACET_OK && found ? take_row(t, csv, err) : s;
    }
    tacet_csv_close(csv);
    if (s != TACET_OK) {
        tune_table_clear(t);
    }
    return s;
}

static size_t nearest_setting(const tune_table *t, const double *point) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < t->settings; i++) {
        double d = 0;
        for (size_t j = 0; j < t->columns; j++) {
            const double e = t->points[i * t->columns + j] - point[j];
            d += e * e;
        }
        best = d < least ? i : best;
        least = fmin(d, least);
    }
    return best;
}

static void draw_function(tune_world *w, tacet_simrng *rng) {
    for (size_t j = 0; j < 3; j++) {
        w->centre[j] = .15 + .7 * tacet_simrng_uniform(rng);
        w->weight[j] = .5 + 1.5 * tacet_simrng_uniform(rng);
    }
    const size_t best4 = tacet_simrng_below(rng, 4), best5 = tacet_simrng_below(rng, 5);
    for (size_t k = 0; k < 4; k++) {
        w->loss4[k] = k == best4 ? 0 : .1 + 1.4 * tacet_simrng_uniform(rng);
    }
    for (size_t k = 0; k < 5; k++) {
        w->loss5[k] = k == best5 ? 0 : .1 + 1.4 * tacet_simrng_uniform(rng);
    }
    w->centre[2] = floor(w->centre[2] * 12) / 11; /* the best depth is one there is */
}

double tune_world_mean(const tune_world *w, const double *record) {
    if (w->table != NULL) {
        return w->table->means[nearest_setting(w->table, record)];
    }
    const double u[] = {record[0], log10(record[1] / 1e-5) / 5, (record[2] - 1) / 11};
    double q = w->loss4[(size_t)record[3]] + w->loss5[(size_t)record[4]];
    for (size_t j = 0; j < 3; j++) {
        q += w->weight[j] * (u[j] - w->centre[j]) * (u[j] - w->centre[j]);
    }
    return .5 + .45 * exp(-q);
}

static void measure_world(tune_world *w, tacet_simrng *rng) {
    w->middle = 0;
    w->top = w->table != NULL ? -INFINITY : .95;
    for (size_t i = 0; w->table != NULL && i < w->table->settings; i++) {
        w->top = fmax(w->top, w->table->means[i]);
        w->middle += w->table->means[i] / (double)w->table->settings;
    }
    for (int i = 0; w->table == NULL && i < SAMPLES; i++) {
        const double record[] = {tacet_simrng_uniform(rng), pow(10, -5 * tacet_simrng_uniform(rng)),
                                 1 + (double)tacet_simrng_below(rng, 12), (double)tacet_simrng_below(rng, 4),
                                 (double)tacet_simrng_below(rng, 5)};
        w->middle += tune_world_mean(w, record) / SAMPLES;
    }
}

tacet_status tune_world_init(tune_world *w, const tune_table *table, size_t records, uint64_t seed, uint64_t trial,
                             tacet_error *err) {
    tacet_simrng rng;
    memset(w, 0, sizeof *w);
    w->table = table;
    w->records = records;
    tacet_simrng_init(&rng, seed, 2 * trial + FUNCTION_STREAM);
    w->seed = tacet_simrng_u64(&rng);
    tacet_status s = table == NULL ? tacet_space_decode(&w->space, MIXED, strlen(MIXED), err)
                                   : lab_unit_space(&w->space, table->columns, err);
    if (s == TACET_OK) {
        draw_function(w, &rng);
        measure_world(w, &rng);
    }
    if (s == TACET_OK && table != NULL) {
        tacet_simrng_init(&rng, seed, 2 * trial + RECORD_STREAM);
        w->rows = TACET__ZALLOC(size_t, records);
        s = w->rows != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for records");
        for (size_t i = 0; s == TACET_OK && i < records; i++) {
            w->rows[i] = tacet_simrng_below(&rng, table->rows);
        }
    }
    if (s != TACET_OK) {
        tune_world_clear(w);
    }
    return s;
}

void tune_world_clear(tune_world *w) {
    tacet_space_clear(&w->space);
    free(w->rows);
    w->rows = NULL;
}

void tune_world_values(const tune_world *w, double *values, const double *record) {
    if (w->table != NULL) {
        const double *row = w->table->values + nearest_setting(w->table, record) * w->table->rows;
        for (size_t i = 0; i < w->records; i++) {
            values[i] = row[w->rows[i]];
        }
        return;
    }
    uint64_t hash = w->seed; /* of the setting: its coins are its own */
    for (size_t j = 0; j < w->space.count; j++) {
        uint64_t bits = 0;
        memcpy(&bits, &record[j], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    const double mean = tune_world_mean(w, record);
    tacet_simrng rng;
    tacet_simrng_init(&rng, hash, 0);
    for (size_t i = 0; i < w->records; i++) {
        values[i] = tacet_simrng_uniform(&rng) < mean ? 1 : 0;
    }
}
