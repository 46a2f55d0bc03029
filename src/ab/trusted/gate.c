/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - sums with Laplace noise: the only place of the room that calls the gate.
 * Ring: trusted. Proof: src/ab/README.md, "Claim". Cost: a draw a number. */
#include "ab/trusted/gate.h"

tacet_status tacet__ab_release(tacet_release **out, const tacet__ab_sums *s, const tacet_ask *ask, tacet_error *err) {
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    tacet_bound *norm = NULL, *bound = NULL;
    tacet_bounded *bounded = NULL;
    tacet_mechanism *mechanism = NULL;
    *out = NULL;
    tacet_status status = tacet_bound_norm(&norm, s->count, 1.001 * (s->norm + 1), err);
    status = status == TACET_OK ? tacet_bound_narrow_1(&bound, norm, s->sensitivity, s->proof, err) : status;
    status = status == TACET_OK
                 ? tacet_mechanism_create(&mechanism, TACET_MECHANISM_LAPLACE, bound, &replace, s->eps, 0, err)
                 : status;
    status = status == TACET_OK ? tacet_bounded_create(&bounded, bound, err) : status;
    status = status == TACET_OK ? tacet_bounded_set(bounded, s->raw, err) : status;
    status = status == TACET_OK ? tacet_mechanism_run(mechanism, out, ask, bounded, err) : status;
    tacet_bounded_free(bounded);
    tacet_mechanism_free(mechanism);
    tacet_bound_free(bound);
    tacet_bound_free(norm);
    return status;
}
