/* SPDX-License-Identifier: Apache-2.0 */
/* gp_internal.h - an observation in two halves, for candidates that are spread over ranks: whoever holds the candidate
 * packs what the others need of it (the pivot), and everybody moves his own candidates by it. Ring: pure. */
#ifndef TACET_SRC_GP_GP_INTERNAL_H
#define TACET_SRC_GP_GP_INTERNAL_H

#include <tacet/gp/gp.h>

enum { TACET__GP_PIVOT_HEAD = 3 }; /* prior variance, mean, variance; then the point, then the row of L */

/* Doubles of the pivot of the next observation. */
size_t tacet__gp_pivot_size(const tacet_gp *gp);
/* The pivot of candidate i. */
void tacet__gp_pivot(const tacet_gp *gp, double *out, size_t i);
/* Room for one, as long as there is room for another observation. */
double *tacet__gp_pivot_room(tacet_gp *gp);
/* INVALID: a value or noise that is not finite. STATE: no room. */
tacet_status tacet__gp_may_observe(const tacet_gp *gp, size_t name, double y, double noise_var, tacet_error *err);
/* Moves all candidates by an observation of the candidate with this pivot; i is its number here, SIZE_MAX where it lies
 * on another rank; `name` is what messages call it. After tacet__gp_may_observe. INVALID: too far from the model. */
tacet_status tacet__gp_observe_pivot(tacet_gp *gp, const double *pivot, size_t i, size_t name, double y,
                                     double noise_var, tacet_error *err);

/* Sees mean and variance of candidates at … at + m - 1 as an observation has moved them, while they are in cache. */
typedef void (*tacet__gp_watch_fn)(void *user, const double *mean, const double *var, size_t at, size_t m);
/* For the observations that follow; NULL: nobody looks. */
void tacet__gp_watch(tacet_gp *gp, tacet__gp_watch_fn watch, void *user);

#endif
