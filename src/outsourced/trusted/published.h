/* SPDX-License-Identifier: Apache-2.0 */
/* published.h - the published curator's mechanism (Kharkovskii, Dai, Low, ICML 2020, Algorithm 1), faithfully.
 *
 * NOT DIFFERENTIALLY PRIVATE, whatever its parameters say: its output is a linear image of the records, and whoever
 * knows d + 1 of them can solve for all the others (src/outsourced/README.md). It is here to reproduce the paper
 * and to be attacked. The private mechanism is in tacet/outsourced/trusted/curate.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tacet/core/status.h>

typedef struct tacet_published_report {
    double sigma_min; /* smallest singular value of the centred records */
    double omega;     /* the paper's threshold */
    bool raised;      /* sigma_min < omega: the singular values were raised (lines 8 to 10) */
} tacet_published_report;

/* omega = 16 sqrt(r ln(2/delta)) ln(16 r/delta) / eps: the reading that fits the paper's own tables. */
double tacet_published_omega(size_t r, double eps, double delta);
/* The guideline of section 3.4: the largest r with sigma_min >= omega; 0 when r = 1 is too large already. */
size_t tacet_published_suggest_r(double sigma_min, double eps, double delta);
/* Smallest singular value of the centred records X (d x n, one record per column). NO_MEMORY, NUMERIC, INVALID (n = 0).
 */
tacet_status tacet_published_sigma_min(double *out, const double *X, size_t ldx, size_t d, size_t n, tacet_error *err);
/* Lines 2 to 11: Z (r x n) from the records X (d x n) and the matrix M (d x r) of independent standard normal draws.
 * report may be NULL. INVALID: eps <= 0, delta outside (0, 1), a size of 0. NUMERIC: the columns are linearly dependent
 * and the branch needs them not to be. */
tacet_status tacet_published_project(double *Z, size_t ldz, tacet_published_report *report, const double *X, size_t ldx,
                                     size_t d, size_t n, const double *M, size_t ldm, size_t r, double eps,
                                     double delta, tacet_error *err);
