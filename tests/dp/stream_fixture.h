/* SPDX-License-Identifier: Apache-2.0 */
/* stream_fixture.h - what the tests of streams share: the factorisations as dense matrices, and a small stream. */
#ifndef TACET_TESTS_DP_STREAM_FIXTURE_H
#define TACET_TESTS_DP_STREAM_FIXTURE_H

#include "support/gate.h"
#include "support/test.h"

#include "dp/bound_internal.h"
#include "dp/streams/internal.h"

#include <sodium.h>
#include <tacet/dp/open/calibrate.h>
#include <tacet/dp/stream.h>

static const tacet_factorization KINDS[] = {TACET_FACTORIZATION_TREE, TACET_FACTORIZATION_TOEPLITZ,
                                            TACET_FACTORIZATION_BLT};

/* C and B from their definitions, row by row; n x n, row-major. */
static inline void dense(double *C, double *B, const tacet__factor *f) {
    const size_t n = f->most;
    double c[64], b[64], inverse[64];
    memset(C, 0, n * n * sizeof *C);
    memset(B, 0, n * n * sizeof *B);
    if (f->kind == TACET_FACTORIZATION_TREE) {
        for (size_t t = 1; t <= n; t++) {
            const size_t low = t & (~t + 1);
            for (size_t s = t - low + 1; s <= t; s++) {
                C[(t - 1) * n + s - 1] = 1;
            }
            for (size_t s = t; s > 0; s -= s & (~s + 1)) {
                B[(t - 1) * n + s - 1] = 1;
            }
        }
        return;
    }
    for (size_t k = 0; k < n; k++) {
        c[k] = k == 0 ? 1 : 0;
        if (f->kind == TACET_FACTORIZATION_TOEPLITZ) { /* binomial(2k, k) / 4^k */
            c[k] = exp(lgamma(2.0 * (double)k + 1) - 2 * lgamma((double)k + 1) - (double)k * log(4));
        } else if (k > 0) {
            for (size_t i = 0; i < f->buffers; i++) {
                c[k] += f->omega[i] * pow(f->theta[i], (double)(k - 1));
            }
        }
    }
    /* 1/c by the recursion of power series, then partial sums: no use of the stored inverse */
    for (size_t k = 0; k < n; k++) {
        inverse[k] = k == 0 ? 1 : 0;
        for (size_t j = 1; j <= k; j++) {
            inverse[k] -= c[j] * inverse[k - j];
        }
        b[k] = inverse[k] + (k > 0 ? b[k - 1] : 0);
    }
    for (size_t t = 0; t < n; t++) {
        for (size_t s = 0; s <= t; s++) {
            C[t * n + s] = c[t - s];
            B[t * n + s] = b[t - s];
        }
    }
}

enum { DIM = 3 };

typedef struct fixture {
    tacet_bound *bound;
    tacet_bounded *x;
    tacet_raw *raw;
    tacet_noise *noise;
    tacet_ask ask;
    tacet_stream_settings settings;
} fixture;

static inline void setup(fixture *f, tacet_factorization kind, size_t most, double eps, uint64_t seed) {
    memset(f, 0, sizeof *f);
    assert_ok(tacet_bound_norm(&f->bound, DIM, 1, NULL));
    assert_ok(tacet_bounded_create(&f->x, f->bound, NULL));
    assert_ok(tacet_raw_create(&f->raw, DIM, NULL));
    f->noise = test_noise(seed, 0);
    f->ask = (tacet_ask){.noise = f->noise, .ticket = "stream", .what = "sums", .to_whom = "test"};
    tacet_stream_settings_defaults(&f->settings);
    f->settings.factorization = kind;
    f->settings.most = most;
    f->settings.eps = eps;
    f->settings.delta = 1e-5;
}

static inline void teardown(fixture *f) {
    tacet_bounded_free(f->x);
    tacet_raw_free(f->raw);
    tacet_bound_free(f->bound);
    tacet_noise_close(f->noise);
}

/* A vector that depends on t alone. */
static inline void set_x(fixture *f, size_t t, double scale) {
    double v[DIM];
    for (size_t i = 0; i < DIM; i++) {
        v[i] = scale * sin((double)(t * DIM + i) * 0.7) * 0.5;
    }
    assert_ok(tacet_raw_set(f->raw, v, DIM, NULL));
    assert_ok(tacet_bounded_set(f->x, f->raw, NULL));
}

static inline tacet_stream *open_stream(fixture *f) {
    tacet_stream *s = NULL;
    assert_ok(tacet_stream_open(&s, &f->settings, f->bound, &f->ask, NULL));
    return s;
}

static inline void save_only(tacet_stream *s) {
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet_stream_save(s, &blob, NULL));
    tacet_blob_clear(&blob);
}

#endif
