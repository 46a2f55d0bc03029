/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_models.h - what the learner over a fixed domain believes: a ladder of Gaussian models of the coefficients, each
 * with its posterior and its evidence. Ring: open; functions of releases and public numbers. README.md, (f). */
#ifndef TACET_SRC_CENTRAL_OPEN_FIXED_MODELS_H
#define TACET_SRC_CENTRAL_OPEN_FIXED_MODELS_H

#include <stddef.h>
#include <tacet/central/open/fixed_learner.h>
#include <tacet/core/simrng.h>

#include "core/codec.h"

typedef struct tacet__fixed_models tacet__fixed_models;

/* Models of coefficients of these groups, by the settings' ladder; earlier values are taken in. NO_MEMORY, NUMERIC. */
tacet_status tacet__fixed_models_create(tacet__fixed_models **out, const tacet_fixed_group *groups, size_t group_count,
                                        const tacet_fixed_settings *settings, tacet_error *err);
void tacet__fixed_models_free(tacet__fixed_models *models); /* NULL is allowed */
/* u = H theta + N(0, reward_var V + noise_var I), with H and V m x m (both triangles). All or nothing. NUMERIC. */
tacet_status tacet__fixed_models_update(tacet__fixed_models *models, const double *u, const double *H, const double *V,
                                        double noise_var, tacet_error *err);
/* Coefficients drawn from a model drawn by its share, `spread` standard deviations wide. */
void tacet__fixed_models_draw(tacet__fixed_models *models, double *theta, double spread, tacet_simrng *coin);
/* Mean and variance of phi'theta over all models. */
void tacet__fixed_models_at(tacet__fixed_models *models, double *mean, double *variance, const double *phi);
const double *tacet__fixed_models_mean(const tacet__fixed_models *models); /* m */
/* Covariance of theta within a model (m x m, both triangles) and variance of a reward, averaged by shares. NUMERIC. */
tacet_status tacet__fixed_models_spread(tacet__fixed_models *models, double *covariance, double *reward_var,
                                        tacet_error *err);
void tacet__fixed_models_write(const tacet__fixed_models *models, tacet__writer *w);
/* Reads what write wrote, aside; false: impossible numbers. `take` makes it the state. */
bool tacet__fixed_models_read(tacet__fixed_models *models, tacet__reader *r);
void tacet__fixed_models_take(tacet__fixed_models *models);

#endif
