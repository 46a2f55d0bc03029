/* SPDX-License-Identifier: Apache-2.0 */
/* local_fixture.h - twelve arms, a function over them, and the settings of a learner; reports of its randomiser, and
 * the parts that engines driven by hand are made of. */
#pragma once

#include "local/shared/ldp.h"
#include <tacet/local/open/local.h>

#include "local/open/internal.h"
#include "support/test.h"

#include <tacet/core/simrng.h>

enum { N = 12, T = 60 };

typedef struct fixture {
    double X[N], f[N], K[N * N];
    tacet_kernel *kernel, *other;
    tacet_ldp ldp;
    tacet_local_settings s;
} fixture;

static inline double matern52(double x, double y, double l) {
    const double r = sqrt(5) * fabs(x - y) / l;
    return (1 + r + r * r / 3) * exp(-r);
}

static inline int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    const double lengthscale = 0.2;
    const double wider = 0.3;
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    assert_ok(tacet_kernel_parse(&spec, "matern52", NULL));
    spec.lengthscales = &lengthscale;
    assert_ok(tacet_kernel_create(&f->kernel, &spec, NULL));
    spec.lengthscales = &wider;
    assert_ok(tacet_kernel_create(&f->other, &spec, NULL));
    for (size_t i = 0; i < N; i++) {
        f->X[i] = (double)i / (N - 1);
        f->f[i] = 0.8 * matern52(f->X[i], 0.3, lengthscale) - 0.5 * matern52(f->X[i], 0.8, lengthscale);
    }
    for (size_t i = 0; i < N * N; i++) {
        f->K[i] = matern52(f->X[i / N], f->X[i % N], lengthscale);
    }
    assert_ok(tacet_ldp_init(&f->ldp, TACET_LDP_DUCHI, 1, -2, 2, NULL));
    tacet_local_settings_defaults(&f->s);
    f->s.bound = 1;
    f->s.noise_bound = 1;
    f->s.ldp = &f->ldp;
    f->s.horizon = T;
    *state = f;
    return 0;
}

static inline int teardown(void **state) {
    fixture *f = *state;
    tacet_kernel_free(f->kernel);
    tacet_kernel_free(f->other);
    free(f);
    return 0;
}

static inline tacet_status make(void *user, tacet_policy **out, tacet_error *err) {
    fixture *f = user;
    const tacet_cov_spec cov = {.kernel = f->kernel};
    return tacet_local_create(out, &f->s, &cov, f->X, 1, N, err);
}

/* A possible report of the fixture's randomiser that leans towards f: seeded by the round. */
static inline double report(const fixture *f, size_t round, size_t arm) {
    tacet_simrng rng = test_rng(5, round);
    const double u = tacet_simrng_uniform(&rng);
    const tacet_ldp *ldp = &f->ldp;
    if (f->s.ldp == NULL) {
        return f->f[arm] + 2 * u - 1;
    }
    switch (ldp->kind) {
    case TACET_LDP_DUCHI:
        return tacet_ldp_bit(ldp, u < 0.5 + f->f[arm] / (2 * ldp->duchi));
    case TACET_LDP_PIECEWISE:
    case TACET_LDP_HYBRID:
        return tacet_ldp_cell(ldp, (uint32_t)(u * (ldp->cells - 1)));
    case TACET_LDP_LAPLACE:
    case TACET_LDP_SPHERE:
        break;
    }
    const double laplace = u < 0.5 ? log(2 * u + 1e-9) : -log(2 - 2 * u + 1e-9);
    const double middle = f->f[arm] - ldp->lo;
    return tacet_ldp_place(ldp, (int64_t)((middle + laplace * (ldp->hi - ldp->lo) / ldp->eps) / ldp->step));
}

/* p as local.c derives it, for engines driven by hand. */
static inline tacet__local parts(const fixture *f) {
    tacet__local p = {.s = f->s, .ldp = f->ldp, .n = N, .K = (double *)(size_t)f->K};
    p.s.noise_var = 1;
    p.c = 1 + tacet_ldp_variance(&f->ldp);
    p.v = 1 + p.c;
    p.proxy = INFINITY;
    p.tail = 4 / f->ldp.eps;
    p.s.lambda = tacet__local_lambda(&p);
    p.s.lanes = tacet__local_lanes(&p);
    return p;
}
