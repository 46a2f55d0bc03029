/* SPDX-License-Identifier: Apache-2.0 */
/* central_tune.h - made-up tuning problems over a space: a log rate from 1e-5 to 1, 1 to 8 layers, one of three
 * optimizers. Where the best is, is drawn for each trial: an optimizer, layers, and a rate between 1e-4 and 0.1.
 *   tune    0.9 - 0.2 d^2 - 0.01 (layers - best)^2, d in decades of the rate; 0.25 less with another optimizer
 *   narrow  the same, with 0.5 (1 - exp(-d^2 / (2 0.4^2))) in place of 0.2 d^2
 *   peaks   narrow, with a second peak 0.25 lower two decades away
 * all at least 0. Candidates, coordinates and lengthscales are those of a study over this space. Ring: programs. */
#ifndef TACET_LAB_CENTRAL_TUNE_H
#define TACET_LAB_CENTRAL_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef enum central_tune_kind {
    CENTRAL_TUNE_NONE,
    CENTRAL_TUNE_WIDE,
    CENTRAL_TUNE_NARROW,
    CENTRAL_TUNE_PEAKS
} central_tune_kind;

enum { CENTRAL_TUNE_POINTS = 1024, CENTRAL_TUNE_DIM = 5, CENTRAL_TUNE_COLUMNS = 3 };

/* One problem's best record. */
typedef struct central_tune {
    central_tune_kind kind;
    double rate, layers, optimizer;
    double other; /* rate of the second peak */
} central_tune;

/* The candidates: records (columns x count) and coordinates (dim x count); *dim and *count are set. Lengthscales of the
 * coordinates. NO_MEMORY. */
tacet_status central_tune_points(double *records, double *coordinates, double *lengthscales, size_t *dim, size_t *count,
                                 tacet_error *err);
void central_tune_draw(central_tune *out, central_tune_kind kind, uint64_t seed, uint64_t trial);
double central_tune_mean(const central_tune *t, const double *record);
double central_tune_top(const central_tune *t);
/* The best optimizer and within a factor of 2 of the best rate. */
bool central_tune_right(const central_tune *t, const double *record);

#endif
