/* SPDX-License-Identifier: Apache-2.0 */
/* sphere.h - what is public about reports of a vector: one of K directions of the unit sphere, by its number.
 *
 * A record is a vector s of `dim` numbers with |s| <= 1. Round t has K = ldp->cells directions of its own, drawn evenly
 * on the sphere of dim + 1 coordinates by public coins: whoever knows the seed and the round has them. The device lifts
 * s to that sphere, (s, sqrt(1 - |s|^2)), makes the ldp->window directions nearest to it e^eps times as likely as the
 * others, and reports the number of one (tacet_randomize_among): pure eps, whatever the directions are. That direction,
 * divided by `gain`, is an unbiased estimate of s. src/dp/mechanisms/sphere.md has the proofs. */
#ifndef TACET_LOCAL_SHARED_SPHERE_H
#define TACET_LOCAL_SHARED_SPHERE_H

#include <stddef.h>
#include <tacet/local/shared/ldp.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacet_sphere {
    tacet_ldp ldp;
    size_t dim;
    uint64_t seed;
    double gain;      /* the mean of a reported direction is gain times the lifted record */
    double noise_var; /* of a number of an estimate, on average over them at the most: 1 / (gain^2 (dim + 1)) */
} tacet_sphere;

/* INVALID: a randomiser of another kind, dim = 0 or above 2^16. Some milliseconds. */
TACET_API tacet_status tacet_sphere_init(tacet_sphere *out, const tacet_ldp *ldp, size_t dim, uint64_t seed,
                                         tacet_error *err);

#ifdef __cplusplus
}
#endif
#endif
