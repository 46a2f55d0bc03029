/* SPDX-License-Identifier: Apache-2.0 */
/* latent_state.h - what the files of the latent-position modeler share: row posteriors, chains, fields on a grid.
 * Lengths are in units of the lengthscale of their axis, and the box is [0, side] on each axis. Ring: open. */
#ifndef TACET_SRC_OUTSOURCED_OPEN_LATENT_STATE_H
#define TACET_SRC_OUTSOURCED_OPEN_LATENT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacet/core/simrng.h>
#include <tacet/outsourced/open/modeler.h>

enum { TACET__AXES = 3, TACET__CLOUDS = 6 };

/* An axis of the box and its grids: `coarse` nodes carry the field of f, `fine` nodes the acquisition, `wide` nodes,
 * which reach beyond the box as far as released rows do, its expectation over a row's position. */
typedef struct tacet__axis {
    double side;
    size_t coarse, fine, wide;
    double wide_low, wide_step;
    double sd[TACET__CLOUDS];      /* of the noise, per component of the mixture */
    double *refine;                /* fine x coarse: cubic interpolation */
    double *spread[TACET__CLOUDS]; /* wide x fine: quadrature weight times density of wide - fine */
} tacet__axis;

/* p(x | z_i) for every row: prior uniform in the box, noise a scale mixture of Gaussians. */
typedef struct tacet__rows {
    size_t d, n;
    double *z; /* d x n */
    size_t components;
    double weight[TACET__CLOUDS];
    tacet__axis axis[TACET__AXES];
    size_t coarse, fine, wide; /* nodes in all */
    double *mass;              /* wide: the probability of a node under noise and box */
    double *expected;          /* wide */
    double *work[2];           /* fine x … x wide */
    size_t *cell;              /* n: first node of the row's interpolation stencil */
    double *stencil;           /* 4 d x n: cubic weights per axis */
} tacet__rows;

tacet_status tacet__rows_init(tacet__rows *rows, const tacet_modeler_settings *settings, tacet_error *err);
void tacet__rows_clear(tacet__rows *rows);
/* out[i] = E[A(x_i) | z_i] for all rows; A on the fine grid. */
void tacet__rows_expect(tacet__rows *rows, double *out, const double *A);
/* fine-grid values from coarse-grid ones. */
void tacet__rows_refine(tacet__rows *rows, double *fine, const double *coarse);
/* x from p(x | z_i). */
void tacet__rows_draw(const tacet__rows *rows, tacet_simrng *rng, size_t i, double *x);

/* The measured rows, and for each chain where they might be. f is integrated out. */
typedef struct tacet__chains {
    size_t d, capacity, t, count, candidates, moves;
    double signal_var, nugget; /* diagonal of the covariance: signal_var + nugget */
    double noise_var, slack;   /* nugget = noise_var + slack, or a part of it once many rows are measured */
    size_t *row;               /* t: which row */
    double *y;                 /* t, centred */
    double *x;                 /* capacity x d x count */
    double *inverse, *cut;     /* t x t: of one chain at a time */
    double *tried, *cov, *solved;
    double *column, *logweight;
    tacet_simrng rng;
} tacet__chains;

tacet_status tacet__chains_init(tacet__chains *chains, const tacet_modeler_settings *settings, double nugget,
                                tacet_error *err);
void tacet__chains_clear(tacet__chains *chains);
/* chains->nugget for t measured rows. */
void tacet__chains_settle(tacet__chains *chains, size_t t);
/* One more measured row: its position is drawn in every chain given its value, then old positions move. */
tacet_status tacet__chains_observe(tacet__chains *chains, const tacet__rows *rows, size_t row, double y,
                                   tacet_error *err);
/* One Gibbs move of position j of chain p, whose inverse covariance is in chains->inverse. */
void tacet__chains_move(tacet__chains *chains, const tacet__rows *rows, size_t p, size_t j);
/* chains->inverse for chain p. */
tacet_status tacet__chains_invert(tacet__chains *chains, size_t p, size_t t, tacet_error *err);
/* K (t x t) = k(X_p, X_p) + nugget I. */
void tacet__chains_gram(const tacet__chains *chains, double *K, size_t p, size_t t);
/* x = position j of chain p. */
void tacet__chains_where(const tacet__chains *chains, double *x, size_t p, size_t j);

/* mean and sd of f on the coarse grid, given the positions of chain p. */
typedef struct tacet__field {
    size_t coarse;
    double *factor, *copy; /* t x t */
    double *solved;        /* t x coarse */
    double *target;        /* t */
    double *profile;       /* t x (nodes of all axes) */
    double *mean, *sd;     /* coarse x chains */
} tacet__field;

tacet_status tacet__field_init(tacet__field *field, const tacet__rows *rows, const tacet__chains *chains,
                               tacet_error *err);
void tacet__field_clear(tacet__field *field);
tacet_status tacet__field_compute(tacet__field *field, const tacet__rows *rows, const tacet__chains *chains,
                                  tacet_error *err);

#endif
