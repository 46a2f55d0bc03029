/* SPDX-License-Identifier: Apache-2.0 */
/* arms_internal.h - saving and loading the state of tacet_arms within a policy's own state. Ring: pure. */
#ifndef TACET_SRC_GP_ARMS_INTERNAL_H
#define TACET_SRC_GP_ARMS_INTERNAL_H

#include "core/codec.h"

#include <tacet/gp/arms.h>

void tacet__arms_write(const tacet_arms *arms, tacet__writer *w);
/* Into arms created over the same covariance; continues bit for bit. A reader that failed leaves them undefined: read
 * into a second object and swap when tacet__read_end says OK. */
void tacet__arms_read(tacet_arms *arms, tacet__reader *r);

/* *to becomes as *from: both over the same covariance. */
void tacet__arms_copy(tacet_arms *to, const tacet_arms *from);

/* Replaces the weighted sums of all arms, sum y/noise_var, keeping the weights: for estimators that truncate or
 * reweight all of the past at once. n of them, finite, 0 where the weight is 0. O(n^2). */
tacet_status tacet__arms_set_sums(tacet_arms *arms, const double *sums, tacet_error *err);

/* Replaces all weights (finite, >= 0) and weighted sums, and rebuilds. O(n^3). */
tacet_status tacet__arms_set(tacet_arms *arms, const double *weights, const double *sums, tacet_error *err);

#endif
