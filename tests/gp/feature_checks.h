/* SPDX-License-Identifier: Apache-2.0 */
/* feature_checks.h - what the tests of feature maps share. */
#pragma once

#include "gp/kernel_internal.h"
#include "support/test.h"

#include "gp/linalg.h"
#include "gp/quadrature.h"

#include "gp/features.h"
#include <tacet/core/simrng.h>

static const double PI = 3.14159265358979323846;

static inline tacet_kernel *make_kernel(const char *name, size_t d, double l, double signal_var, const size_t *groups,
                                        size_t group_count) {
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    tacet_kernel_spec_defaults(&spec);
    assert_ok(tacet_kernel_parse(&spec, name, NULL));
    spec.d = d;
    spec.signal_var = signal_var;
    spec.lengthscales = &l;
    spec.groups = groups;
    spec.group_count = group_count;
    assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
    return kernel;
}

static inline void uniform(double *X, size_t count, double lower, double upper, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    for (size_t i = 0; i < count; i++) {
        X[i] = lower + (upper - lower) * tacet_simrng_uniform(&rng);
    }
}

/* Largest |k - phi'phi| over all pairs of the n points. */
static inline double worst_error(const tacet_features *f, const double *X, size_t n) {
    const size_t m = tacet_features_dim(f);
    const size_t d = tacet_features_inputs(f);
    double *phi = malloc(n * m * sizeof *phi);
    double worst = 0;
    tacet_features_eval(f, phi, X, d, n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double k = tacet_kernel_eval(tacet_features_kernel(f), X + i * d, X + j * d);
            worst = fmax(worst, fabs(k - tacet__dot(phi + i * m, phi + j * m, m)));
        }
    }
    free(phi);
    return worst;
}
