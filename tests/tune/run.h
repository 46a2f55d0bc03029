/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a small made-up world for the tests of tuning: a space of three columns, records with values, one run. */
#ifndef TACET_TESTS_TUNE_RUN_H
#define TACET_TESTS_TUNE_RUN_H

#include "support/gate.h"
#include "support/test.h"

#include <tacet/tune/trusted/tune.h>

enum { WORLD_COLUMNS = 3 };

static inline void world_space(tacet_space *space) {
    const tacet_space_options options = {.bounds = "x=0:1", .log = "rate=0.001:1", .levels = "kind=a|b|c"};
    assert_ok(tacet_space_short(space, &options, NULL));
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

#endif
