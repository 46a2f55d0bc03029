/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_design.h - phased elimination over a finite public list of arms: the design of a batch, and which arms a batch
 * excludes. Ring: open; functions of releases and public numbers. README.md, (g), has the bound. */
#ifndef TACET_SRC_CENTRAL_OPEN_FIXED_DESIGN_H
#define TACET_SRC_CENTRAL_OPEN_FIXED_DESIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/status.h>

typedef struct tacet__design {
    size_t m, n;       /* features; arms */
    const double *Phi; /* borrowed: m x n */
    double confidence; /* all widths hold together with probability 1 - confidence */
    double misfit;     /* bound of |f - 1/2 - <theta, phi>| */
    bool *live;        /* n: arms that are left */
    /* of the batch that was shaped last */
    size_t count;
    double kappa;             /* longest S^-1/2 phi of an arm played */
    double *V, *w, *root;     /* eigenvectors and -values of S, its pseudo-inverse root: m x m, m, m x m */
    double *q, *weight;       /* n */
    double *inverse, *a, *at; /* m x m, m, n */
} tacet__design;

/* NO_MEMORY. */
tacet_status tacet__design_create(tacet__design **out, const double *Phi, size_t m, size_t n, double confidence,
                                  double misfit, tacet_error *err);
void tacet__design_free(tacet__design *design); /* NULL is allowed */
/* `count` arms of those left, by a G-optimal design: the same for every machine but for rounding. */
void tacet__design_plan(tacet__design *design, size_t *arms, size_t count);
/* A (m x m) = S^-1/2/kappa with S the mean of phi phi' over these arms: |A phi| <= 1 for each of them. NUMERIC. */
tacet_status tacet__design_shape(tacet__design *design, double *A, const size_t *arms, size_t count, tacet_error *err);
/* Takes out the arms that the release u = sum (v - 1/2) A phi + N(0, noise_var I) of batch number `batch` (from 1)
 * excludes. */
void tacet__design_drop(tacet__design *design, const double *u, double noise_var, uint64_t batch);

#endif
