/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - sums with Laplace noise, and choices among sums: the only place where tallies meet the gate.
 * Ring: trusted. Source: McKenna, Sheldon 2020 for the choice. Proof: README.md, and the page that the caller names.
 * Cost: a draw a number; a choice is one pass. */
#include "tally/gate.h"

/* The two bounds of sums that are released. */
static tacet_status bound_sums(tacet_bound **norm, tacet_bound **bound, const tacet__tally_sums *s, tacet_error *err) {
    const tacet_status status = tacet_bound_norm(norm, s->count, 1.001 * (s->norm + 1), err);
    return status == TACET_OK ? tacet_bound_narrow_1(bound, *norm, s->sensitivity, s->proof, err) : status;
}

tacet_status tacet__tally_check(const tacet__tally_sums *s, tacet_error *err) {
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    tacet_bound *norm = NULL, *bound = NULL;
    tacet_mechanism *mechanism = NULL;
    tacet_status status = bound_sums(&norm, &bound, s, err);
    TACET_THEN(status, tacet_mechanism_create(&mechanism, TACET_MECHANISM_LAPLACE, bound, &replace, s->eps, 0, err));
    tacet_mechanism_free(mechanism);
    tacet_bound_free(bound);
    tacet_bound_free(norm);
    return status;
}

static tacet_status run(tacet_release **out, const tacet__tally_sums *s, tacet_mechanism_kind kind,
                        const tacet_bound *bound, const tacet_ask *ask, tacet_error *err) {
    const tacet_neighbours replace = {.relation = TACET_RELATION_REPLACE};
    tacet_bounded *bounded = NULL;
    tacet_mechanism *mechanism = NULL;
    tacet_status status = tacet_mechanism_create(&mechanism, kind, bound, &replace, s->eps, 0, err);
    TACET_THEN(status, tacet_bounded_create(&bounded, bound, err));
    TACET_THEN(status, tacet_bounded_set(bounded, s->raw, err));
    TACET_THEN(status, tacet_mechanism_run(mechanism, out, ask, bounded, err));
    tacet_bounded_free(bounded);
    tacet_mechanism_free(mechanism);
    return status;
}

tacet_status tacet__tally_release(tacet_release **out, const tacet__tally_sums *s, const tacet_ask *ask,
                                  tacet_error *err) {
    tacet_bound *norm = NULL, *bound = NULL;
    *out = NULL;
    tacet_status status = bound_sums(&norm, &bound, s, err);
    TACET_THEN(status, run(out, s, TACET_MECHANISM_LAPLACE, bound, ask, err));
    tacet_bound_free(bound);
    tacet_bound_free(norm);
    return status;
}

tacet_status tacet__tally_choose(tacet_release **out, const tacet__tally_sums *s, const tacet_ask *ask,
                                 tacet_error *err) {
    tacet_bound *range = NULL, *bound = NULL;
    *out = NULL;
    tacet_status status = tacet_bound_range(&range, s->count, 0, s->norm, err);
    if (status == TACET_OK && s->norm > s->sensitivity) { /* of one row the range itself is as narrow */
        status = tacet_bound_narrow_scores(&bound, range, s->sensitivity, s->proof, err);
    }
    TACET_THEN(status, run(out, s, TACET_MECHANISM_PERMUTE_AND_FLIP, bound != NULL ? bound : range, ask, err));
    tacet_bound_free(bound);
    tacet_bound_free(range);
    return status;
}
