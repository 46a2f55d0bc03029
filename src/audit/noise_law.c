/* SPDX-License-Identifier: Apache-2.0 */
/* noise_law.c - tests of released noise: its variance, rows that repeat, rows and columns that are not independent.
 * Ring: audit. Thresholds: the variance may be off by 4.5 standard errors (one false alarm in 150,000 audits), which is
 * 1 % at 10^6 rows of Laplace noise in one column, and 0.2 % of Gaussian noise in eight; every correlation by 6 (one in
 * 5 10^8 each, some hundred of them). Correlations are of signs, which are independent fair coins whatever the law, and
 * of the rows' lengths, which are independent between rows. A repeat is a whole row of at least 6 numbers that is equal
 * to another one: by chance, below 10^-6 in 2 10^6 rows. Cost: sorting the rows once, 40 passes. */
#include "audit/noise_law.h"

#include "core/fail.h"
#include "core/memory.h"

#include <math.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAGS = 16, REPEAT_COLUMNS = 6 };
static const double VARIANCE_ERRORS = 4.5;
static const double CORRELATION_ERRORS = 6;
static const double ROUNDING = 1e-9; /* one bit has a variance, and no spread */

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double sign(double x) {
    return (double)(x > 0) - (double)(x < 0);
}

static void complain(tacet__law_report *out, const char *what, double value, double limit) {
    if (!out->failed) {
        out->failed = true;
        (void)snprintf(out->reason, sizeof out->reason, "%s: %.4g, at most %.4g by chance", what, value, limit);
    }
}

static double square_length(const double *row, size_t columns) {
    double sum = 0;
    for (size_t c = 0; c < columns; c++) {
        sum += row[c] * row[c];
    }
    return sum;
}

/* Variance of |row|^2 / its mean^2, as the rows have it. */
static double measured_spread(const double *noise, size_t rows, size_t columns) {
    double mean = 0;
    double square = 0;
    for (size_t i = 0; i < rows; i++) {
        const double length = square_length(noise + i * columns, columns);
        mean += length / (double)rows;
        square += length * length / (double)rows;
    }
    return square > mean * mean ? square / (mean * mean) - 1 : 0;
}

static void test_variance(tacet__law_report *out, const double *noise, size_t rows, size_t columns,
                          const tacet__law_claim *claim) {
    double sum = 0;
    double mean = 0;
    for (size_t i = 0; i < rows * columns; i++) {
        sum += noise[i] * noise[i];
        mean += noise[i];
    }
    const double count = (double)rows * (double)columns;
    out->variance_ratio = sum / count / claim->variance;
    const double spread = claim->spread > 0 ? claim->spread : measured_spread(noise, rows, columns);
    const double limit = VARIANCE_ERRORS * sqrt(spread / (double)rows) + ROUNDING;
    if (!(fabs(out->variance_ratio - 1) <= limit)) {
        complain(out, "the variance is not the one that was claimed, by a factor off 1 by", out->variance_ratio - 1,
                 limit);
    }
    const double off = fabs(mean / count) / sqrt(claim->variance / count);
    if (!(off <= CORRELATION_ERRORS)) {
        complain(out, "the mean is not 0, in standard errors", off, CORRELATION_ERRORS);
    }
}

static tacet_status count_repeats(tacet__law_report *out, const double *noise, size_t rows, size_t columns,
                                  tacet_error *err) {
    static const unsigned char KEY[crypto_shorthash_KEYBYTES] = "rows that repeat";
    uint64_t *hashes = TACET__ZALLOC(uint64_t, rows);
    if (hashes == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", rows);
    }
    for (size_t i = 0; i < rows; i++) {
        (void)crypto_shorthash((unsigned char *)&hashes[i], (const unsigned char *)(noise + i * columns),
                               columns * sizeof *noise, KEY);
    }
    qsort(hashes, rows, sizeof *hashes, ascending);
    for (size_t i = 1; i < rows; i++) {
        out->repeats += hashes[i] == hashes[i - 1];
    }
    free(hashes);
    if (out->repeats > 0) {
        complain(out, "rows have the noise of another row", (double)out->repeats, 0);
    }
    return TACET_OK;
}

/* In standard errors. */
static double sign_correlation(const double *noise, size_t rows, size_t columns, size_t a, size_t b, size_t lag) {
    double sum = 0;
    for (size_t i = 0; i + lag < rows; i++) {
        sum += sign(noise[i * columns + a]) * sign(noise[(i + lag) * columns + b]);
    }
    return fabs(sum) / sqrt((double)(rows - lag));
}

static tacet_status test_lengths(tacet__law_report *out, const double *noise, size_t rows, size_t columns,
                                 tacet_error *err) {
    double *length = TACET__ZALLOC(double, rows);
    double mean = 0;
    double spread = 0;
    if (length == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu rows", rows);
    }
    for (size_t i = 0; i < rows; i++) {
        length[i] = sqrt(square_length(noise + i * columns, columns));
        mean += length[i] / (double)rows;
    }
    for (size_t i = 0; i < rows; i++) {
        spread += (length[i] - mean) * (length[i] - mean) / (double)rows;
    }
    const bool varies = spread > ROUNDING * mean * mean; /* of one bit a number, all rows are equally long */
    for (size_t lag = 1; lag <= LAGS && lag + 1 < rows && varies; lag++) {
        double sum = 0;
        for (size_t i = 0; i + lag < rows; i++) {
            sum += (length[i] - mean) * (length[i + lag] - mean);
        }
        const double off = fabs(sum) / spread / sqrt((double)(rows - lag));
        if (!(off <= CORRELATION_ERRORS)) {
            complain(out, "the lengths of rows are not independent, in standard errors", off, CORRELATION_ERRORS);
        }
    }
    free(length);
    return TACET_OK;
}

tacet_status tacet__law_test(tacet__law_report *out, const double *noise, size_t rows, size_t columns,
                             const tacet__law_claim *claim, tacet_error *err) {
    *out = (tacet__law_report){.reason = "nothing was found"};
    test_variance(out, noise, rows, columns, claim);
    if (columns < REPEAT_COLUMNS) {
        return TACET_OK;
    }
    tacet_status status = count_repeats(out, noise, rows, columns, err);
    for (size_t lag = 0; lag <= LAGS && lag + 1 < rows; lag++) {
        for (size_t a = 0; a < columns; a++) {
            for (size_t b = lag == 0 ? a + 1 : a; b < (lag == 0 ? columns : a + 1); b++) {
                const double off = sign_correlation(noise, rows, columns, a, b, lag);
                if (!(off <= CORRELATION_ERRORS)) {
                    complain(out,
                             lag == 0 ? "columns are not independent, in standard errors"
                                      : "rows are not independent, in standard errors",
                             off, CORRELATION_ERRORS);
                }
            }
        }
    }
    return status != TACET_OK ? status : test_lengths(out, noise, rows, columns, err);
}
