/* SPDX-License-Identifier: Apache-2.0 */
/* latent_acquire.h - what a row is worth: acquisition over f (the chains) and over the row's position. Ring: open. */
#ifndef TACET_SRC_OUTSOURCED_OPEN_LATENT_ACQUIRE_H
#define TACET_SRC_OUTSOURCED_OPEN_LATENT_ACQUIRE_H

#include "outsourced/open/latent_state.h"

typedef struct tacet__acquire {
    size_t explore; /* rounds of upper confidence bound before expected improvement */
    double kappa;
    double *average;   /* coarse */
    double *value;     /* fine */
    double *mean, *sd; /* fine: of one chain */
} tacet__acquire;

/* The variance added to measurements so that single positions can move past each other; at least noise_var. */
double tacet__acquire_nugget(const tacet_modeler_settings *settings);
/* Noise of a position in lengthscales: the largest over the axes. */
double tacet__acquire_blur(const tacet_modeler_settings *settings);
tacet_status tacet__acquire_init(tacet__acquire *a, const tacet_modeler_settings *settings, const tacet__rows *rows,
                                 tacet_error *err);
void tacet__acquire_clear(tacet__acquire *a);
/* score[i] for every row, from fields computed for the present chains. */
void tacet__acquire_scores(tacet__acquire *a, double *score, tacet__rows *rows, const tacet__chains *chains,
                           const tacet__field *field, size_t horizon);
/* E f(x_i) and E f(x_i)^2 (centred) for every row; measured rows at their sampled positions. */
void tacet__acquire_moments(tacet__acquire *a, double *first, double *second, tacet__rows *rows, tacet__chains *chains,
                            const tacet__field *field);

#endif
