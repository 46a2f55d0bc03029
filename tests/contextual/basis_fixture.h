/* SPDX-License-Identifier: Apache-2.0 */
/* basis_fixture.h - a space of the unit box for the tests of USCA's public half. */
#pragma once

#include "support/test.h"

#include "contextual/shared/internal.h"

static inline tacet_contextual_basis *basis_of(tacet_kernel_kind kind, unsigned p, size_t actions, size_t contexts,
                                               double l, size_t order, size_t most) {
    static const double LOWER[4] = {0, 0, 0, 0};
    static const double UPPER[4] = {1, 1, 1, 1};
    tacet_contextual_space space;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_space_defaults(&space);
    space.kind = kind;
    space.matern_p = p;
    space.action_dim = actions;
    space.context_dim = contexts;
    space.lower = LOWER;
    space.upper = UPPER;
    space.lengthscales = &l;
    space.order = order;
    assert_ok(tacet_contextual_basis_create(&basis, &space, most, NULL));
    return basis;
}
