/* SPDX-License-Identifier: Apache-2.0 */
/* session_fixture.h - a table with one good place among 10 by 10, released with little noise, and a usual search. */
#pragma once

#include "outsourced/shared/coordinates.h"
#include "support/space.h"
#include "support/test.h"

#include <stdio.h>
#include <tacet/core/simrng.h>
#include <tacet/outsourced/open/session.h>

enum { D = 2 };

/* Released rows, in units about the middle; the least value, `least`, is at (7, 2). */
static inline void fill_table(double *rows, double *values, size_t n, double least) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 5, 0);
    for (size_t i = 0; i < n; i++) {
        const double x = 10 * tacet_simrng_uniform(&rng);
        const double y = 10 * tacet_simrng_uniform(&rng);
        rows[D * i] = x - 5 + 0.1 * tacet_simrng_normal(&rng);
        rows[D * i + 1] = y - 5 + 0.1 * tacet_simrng_normal(&rng);
        values[i] = least + (x - 7) * (x - 7) + (y - 2) * (y - 2);
    }
}

static inline void describe(tacet_manifest *m, const char *second, double high, double unit) {
    tacet_space_column columns[D] = {TEST_REAL("x0", 0, high, unit), TEST_REAL("", 0, high, unit)};
    const tacet_space space = {columns, D};
    (void)snprintf(columns[1].name, sizeof columns[1].name, "%s", second);
    assert_ok(tacet_manifest_describe(m, &space, NULL));
}

static inline void fill_manifest(tacet_manifest *m, size_t rows) {
    tacet_manifest_init(m);
    (void)snprintf(m->mechanism, sizeof m->mechanism, "gaussian");
    describe(m, "x1", 10, 1);
    m->is_private = true;
    m->eps = 1;
    m->delta = 1e-5;
    m->sigma = 0.1;
    m->rows = rows;
}

static inline tacet_session_settings usual(void) {
    tacet_session_settings s;
    tacet_session_defaults(&s);
    s.minimize = true;
    s.queries = 24;
    return s;
}
