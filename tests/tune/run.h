/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a small made-up world for the tests of tuning: a space of three columns, records with values, one run. */
#pragma once

#include "support/gate.h"
#include "support/test.h"

#include <endian.h>
#include <sodium.h>
#include <tacet/dp/ledger.h>
#include <tacet/tune/trusted/tune.h>

enum { WORLD_COLUMNS = 3 };

static inline void world_space(tacet_space *space) {
    static const char JSON[] = "{\"columns\":[{\"name\":\"x\",\"kind\":\"real\",\"bounds\":[0,1]},"
                               "{\"name\":\"rate\",\"kind\":\"log\",\"bounds\":[0.001,1]},"
                               "{\"name\":\"kind\",\"kind\":\"category\",\"levels\":[\"a\",\"b\",\"c\"]}]}";
    assert_ok(tacet_space_decode(space, JSON, sizeof JSON - 1, NULL));
}

/* The share of records that a setting gets right: best at x = .7, rate = .03, kind = b. */
static inline double world_mean(const double *record) {
    const double x = record[0] - 0.7, rate = log10(record[1] / 0.03) / 3;
    return 0.9 - fmin(0.5, x * x + rate * rate) - (record[2] == 1 ? 0 : 0.2);
}

/* 0/1 values: record i is right where its own threshold lies below the mean. */
static inline void world_values(double *values, size_t n, const double *record) {
    for (size_t i = 0; i < n; i++) {
        values[i] = ((double)i + 0.5) / (double)n < world_mean(record);
    }
}

static inline tacet_tune_settings world_settings(const tacet_space *space, size_t n) {
    tacet_tune_settings s;
    tacet_tune_settings_defaults(&s);
    s.space = space;
    s.records = n;
    s.evaluations = 30;
    return s;
}

/* A run over the world with seeded noise. Settings and `ask` may be changed before it is opened. */
typedef struct tuning {
    tacet_space space;
    tacet_tune_settings s;
    tacet_tune_ask ask;
    tacet_tune *tune;
} tuning;

static inline void world_begin(tuning *w, size_t n, uint64_t seed, uint64_t stream) {
    *w = (tuning){.ask = {.noise = test_noise(seed, stream)}};
    world_space(&w->space);
    w->s = world_settings(&w->space, n);
}

static inline void world_open(tuning *w) {
    assert_ok(tacet_tune_open(&w->tune, &w->s, &w->ask, NULL));
}

static inline void world_end(tuning *w) {
    tacet_tune_close(w->tune);
    tacet_noise_close(w->ask.noise);
    tacet_space_clear(&w->space);
}

/* The next setting and its number; false: nothing is left. */
static inline bool world_next(const tuning *w, size_t *number, double *record) {
    assert_ok(tacet_tune_next(w->tune, number, record, NULL));
    return *number != TACET_TUNE_NONE;
}

/* Tells one value for all records of a setting. */
static inline void world_tell(const tuning *w, size_t number, double value) {
    OWN_MEMORY double *values = calloc(w->s.records, sizeof *values);
    for (size_t i = 0; i < w->s.records; i++) {
        values[i] = value;
    }
    assert_ok(tacet_tune_tell(w->tune, number, values, w->s.records, NULL));
}

/* Evaluates until nothing is left, or until `most` more settings were told; true: the run is done. */
static inline bool world_run(tacet_tune *tune, size_t n, size_t most, size_t *told) {
    double *values = calloc(n, sizeof *values);
    double record[WORLD_COLUMNS];
    for (size_t k = 0; k < most; k++) {
        size_t number = 0;
        assert_ok(tacet_tune_next(tune, &number, record, NULL));
        if (number == TACET_TUNE_NONE) {
            break;
        }
        world_values(values, n, record);
        assert_ok(tacet_tune_tell(tune, number, values, n, NULL));
        (*told)++;
    }
    free(values);
    return tacet_tune_done(tune);
}

static inline tacet_ledger *open_ledger(const char *folder, double eps) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings s;
    OWN_TEXT char *path = test_text("%s/ledger", folder);
    tacet_ledger_settings_defaults(&s);
    s.accounting = TACET_ACCOUNTING_BASIC;
    s.eps = eps;
    s.delta = 0;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    return ledger;
}

/* Appends an entry as a run would, whatever it says. */
static inline void forge_entry(const char *path, uint64_t number, const void *bytes, size_t size) {
    const uint64_t head[2] = {htole64(number), htole64(size)};
    unsigned char hash[32];
    crypto_generichash_state chain;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -(long)sizeof hash, SEEK_END), 0);
    assert_int_equal(fread(hash, sizeof hash, 1, file), 1);
    (void)crypto_generichash_init(&chain, hash, sizeof hash, sizeof hash);
    (void)crypto_generichash_update(&chain, (const unsigned char *)head, sizeof head);
    (void)crypto_generichash_update(&chain, bytes, size);
    (void)crypto_generichash_final(&chain, hash, sizeof hash);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_true(fwrite(head, sizeof head, 1, file) == 1 && fwrite(bytes, size, 1, file) == 1 &&
                fwrite(hash, sizeof hash, 1, file) == 1);
    assert_int_equal(fclose(file), 0);
}
