/* test_stream.c - continual sums: the factorisations against dense matrices, the noise as B z exactly, restarts at any
 * step, doubling, the order save-then-release, the ledger's part, and every refusal. */
#include "support/test.h"

#include "gate/bound_internal.h"
#include "gate/stream_internal.h"

#include <sodium.h>
#include <tacet/base/simrng.h>
#include <tacet/gate/calibrate.h>
#include <tacet/gate/stream.h>

static const tacet_factorization KINDS[] = {TACET_FACTORIZATION_TREE, TACET_FACTORIZATION_TOEPLITZ,
                                            TACET_FACTORIZATION_BLT};

/* C and B from their definitions, row by row; n x n, row-major. */
static void dense(double *C, double *B, const tacet__factor *f) {
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

static void factors_are_factors(void **state) {
    (void)state;
    const size_t sizes[] = {1, 2, 3, 8, 13, 37, 64};
    double C[64 * 64], B[64 * 64];
    for (size_t k = 0; k < 3; k++) {
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            const size_t n = sizes[z];
            tacet__factor f;
            assert_ok(tacet__factor_init(&f, KINDS[k], n, NULL));
            dense(C, B, &f);
            double column = 0;
            for (size_t s = 0; s < n; s++) {
                double squares = 0, most = 0;
                for (size_t t = 0; t < n; t++) {
                    squares += C[t * n + s] * C[t * n + s];
                    double product = 0, row = 0;
                    for (size_t j = 0; j < n; j++) {
                        product += B[t * n + j] * C[j * n + s];
                        row += fabs(C[t * n + j]);
                    }
                    assert_close(product, s <= t ? 1 : 0, 1e-11);
                    most = fmax(most, row);
                }
                column = fmax(column, sqrt(squares));
                assert_true(tacet__factor_row_sum(&f) >= most);
            }
            assert_true(tacet__factor_column(&f) >= column);
            assert_close(tacet__factor_column(&f), column, 2e-7);
            double *sd = calloc(n, sizeof *sd), total = 0, worst = 0;
            tacet_stream_cost cost;
            assert_ok(tacet_stream_plan(&cost, sd, KINDS[k], n, NULL));
            for (size_t t = 0; t < n; t++) {
                double squares = 0;
                for (size_t j = 0; j < n; j++) {
                    squares += B[t * n + j] * B[t * n + j];
                }
                assert_close(tacet__factor_error_sq(&f, t + 1), squares, 1e-9);
                assert_close(sd[t] * sd[t], squares, 1e-9);
                total += squares;
                worst = fmax(worst, squares);
            }
            free(sd);
            assert_close(cost.sensitivity, column, 2e-7);
            assert_close(cost.max_sd, column * sqrt(worst), 1e-6);
            assert_close(cost.rms_sd, column * sqrt(total / (double)n), 1e-6);
        }
    }
}

static void published_costs(void **state) {
    (void)state;
    /* 1,000 rounds need 999 prefixes: the one before round t covers rounds 1 … t-1 */
    tacet_stream_cost tree, toeplitz, blt;
    assert_ok(tacet_stream_plan(&tree, NULL, TACET_FACTORIZATION_TREE, 999, NULL));
    assert_ok(tacet_stream_plan(&toeplitz, NULL, TACET_FACTORIZATION_TOEPLITZ, 999, NULL));
    assert_ok(tacet_stream_plan(&blt, NULL, TACET_FACTORIZATION_BLT, 999, NULL));
    assert_close(tree.max_sd, sqrt(90), 1e-5);
    assert_close(toeplitz.max_sd, 3.265, 1e-3);
    assert_true(blt.max_sd <= 1.01 * toeplitz.max_sd);
    assert_true(blt.buffers <= 4);
    const size_t sizes[] = {2, 7, 8, 63, 64, 511, 512, 8191, 8192, 131071, 131072, (size_t)1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(tacet_stream_plan(&toeplitz, NULL, TACET_FACTORIZATION_TOEPLITZ, sizes[i], NULL));
        assert_ok(tacet_stream_plan(&blt, NULL, TACET_FACTORIZATION_BLT, sizes[i], NULL));
        assert_true(blt.max_sd <= 1.01 * toeplitz.max_sd);
    }
    tacet__factor f;
    assert_ok(tacet__factor_init(&f, TACET_FACTORIZATION_BLT, (size_t)1 << 24, NULL));
    assert_status(tacet_stream_plan(&blt, NULL, TACET_FACTORIZATION_BLT, 0, NULL), TACET_INVALID);
    assert_status(tacet_stream_plan(&blt, NULL, TACET_FACTORIZATION_TREE, ((size_t)1 << 24) + 1, NULL), TACET_INVALID);
    assert_status(tacet_stream_plan(&blt, NULL, (tacet_factorization)0, 5, NULL), TACET_INVALID);
    assert_status(tacet_stream_plan(&blt, NULL, (tacet_factorization)4, 5, NULL), TACET_INVALID);
    tacet_factorization kind = TACET_FACTORIZATION_TREE;
    for (size_t k = 0; k < 3; k++) {
        assert_ok(tacet_factorization_parse(&kind, tacet_factorization_name(KINDS[k]), NULL));
        assert_int_equal(kind, KINDS[k]);
    }
    assert_status(tacet_factorization_parse(&kind, "fourier", NULL), TACET_INVALID);
    assert_string_equal(tacet_factorization_name((tacet_factorization)9), "?");
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

static void setup(fixture *f, tacet_factorization kind, size_t most, double eps, uint64_t seed) {
    memset(f, 0, sizeof *f);
    assert_ok(tacet_bound_norm(&f->bound, DIM, 1, NULL));
    assert_ok(tacet_bounded_create(&f->x, f->bound, NULL));
    assert_ok(tacet_raw_create(&f->raw, DIM, NULL));
    assert_ok(tacet_noise_open_seeded(&f->noise, seed, 0, NULL));
    f->ask = (tacet_ask){.noise = f->noise, .ticket = "stream", .what = "sums", .to_whom = "test"};
    tacet_stream_settings_defaults(&f->settings);
    f->settings.factorization = kind;
    f->settings.most = most;
    f->settings.eps = eps;
    f->settings.delta = 1e-5;
}

static void teardown(fixture *f) {
    tacet_bounded_free(f->x);
    tacet_raw_free(f->raw);
    tacet_bound_free(f->bound);
    tacet_noise_close(f->noise);
}

/* A vector that depends on t alone. */
static void set_x(fixture *f, size_t t, double scale) {
    double v[DIM];
    for (size_t i = 0; i < DIM; i++) {
        v[i] = scale * sin((double)(t * DIM + i) * 0.7) * 0.5;
    }
    assert_ok(tacet_raw_set(f->raw, v, DIM, NULL));
    assert_ok(tacet_bounded_set(f->x, f->raw, NULL));
}

static tacet_stream *open_stream(fixture *f) {
    tacet_stream *s = NULL;
    assert_ok(tacet_stream_open(&s, &f->settings, f->bound, &f->ask, NULL));
    return s;
}

static void save_only(tacet_stream *s) {
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet_stream_save(s, &blob, NULL));
    tacet_blob_clear(&blob);
}

static void ranges_of_factors(void **state) {
    (void)state;
    tacet__factor good, f;
    assert_ok(tacet__factor_init(&good, TACET_FACTORIZATION_BLT, 100, NULL));
    assert_ok(tacet__factor_check(&good, NULL));
    const double bad[] = {1, -1, 1.5, NAN, INFINITY};
    for (size_t i = 0; i < 5; i++) {
        double *fields[] = {&f.theta[1], &f.omega[0], &f.theta_inv[2], &f.omega_inv[1]};
        for (size_t k = 0; k < 4; k++) {
            f = good;
            *fields[k] = bad[i];
            assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
        }
    }
    f = good;
    f.buffers = TACET__BLT_MOST + 1;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    f = good;
    f.most = 0;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    f.most = ((size_t)1 << 24) + 1;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    f = good;
    f.kind = (tacet_factorization)0;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    f.kind = (tacet_factorization)4;
    assert_status(tacet__factor_check(&f, NULL), TACET_CORRUPT);
    /* the search is kept from what is no factor, and knows negative zeros */
    f = good;
    const double outside[] = {1, 1, 1, 1, 1, 1}, negative[] = {-4, 0, 0, 0, 0, 0.9};
    assert_true(tacet__blt_cost(&f, outside) == 1e6);
    const double cost = tacet__blt_cost(&f, negative);
    assert_true(f.theta_inv[2] < 0);
    double column = 1, row = 0, b = 1, power[3], inverse[3];
    for (int i = 0; i < 3; i++) {
        power[i] = f.omega[i];
        inverse[i] = f.omega_inv[i];
    }
    for (size_t k = 1; k <= f.most; k++) {
        double c = 0;
        row += b * b;
        for (int i = 0; i < 3; i++) {
            c += power[i];
            b += inverse[i];
            power[i] *= f.theta[i];
            inverse[i] *= f.theta_inv[i];
        }
        column += k < f.most ? c * c : 0;
    }
    assert_close(cost, log(column) + log(row), 1e-9);
}

static void sums_are_right(void **state) {
    (void)state;
    /* with next to no noise the estimates are the sums: C and B as streamed multiply to A */
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        setup(&f, KINDS[k], 50, 1e12, 1);
        tacet_stream *s = open_stream(&f);
        assert_true(tacet_stream_sigma(s) < 1e-4);
        double sum[DIM] = {0}, got[DIM];
        for (size_t t = 1; t <= 50; t++) {
            set_x(&f, t, 1);
            for (size_t i = 0; i < DIM; i++) {
                sum[i] += f.x->values[i];
            }
            assert_ok(tacet_stream_step(s, f.x, NULL));
            save_only(s);
            assert_ok(tacet_stream_read(s, got, NULL, NULL));
            for (size_t i = 0; i < DIM; i++) {
                assert_close(got[i], sum[i], 1e-4);
            }
        }
        tacet_stream_close(s);
        teardown(&f);
    }
}

static void noise_is_exactly_Bz(void **state) {
    (void)state;
    /* on zero data what was released each step is the noise z; the estimate must be B z, B dense and independent */
    enum { N = 29 };
    double C[N * N], B[N * N], z[N][DIM];
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        setup(&f, KINDS[k], N, 1, 2);
        tacet_stream *s = open_stream(&f);
        dense(C, B, &s->factor);
        double mu = 0;
        assert_ok(tacet_gdp_mu(&mu, 1, 1e-5, NULL));
        assert_close(s->sigma, tacet__factor_column(&s->factor) * 2 / mu, 1e-4);
        assert_true(s->sigma * mu >= tacet__factor_column(&s->factor) * 2);
        double squares = 0;
        for (size_t t = 0; t < N; t++) {
            double got[DIM], sd = 0;
            set_x(&f, 1, 0);
            assert_ok(tacet_stream_step(s, f.x, NULL));
            save_only(s);
            memcpy(z[t], s->released, sizeof z[t]);
            assert_ok(tacet_stream_read(s, got, &sd, NULL));
            double row = 0;
            for (size_t j = 0; j <= t; j++) {
                row += B[t * N + j] * B[t * N + j];
            }
            assert_close(sd, s->sigma * sqrt(row), 1e-9 * s->sigma);
            for (size_t i = 0; i < DIM; i++) {
                double want = 0;
                for (size_t j = 0; j <= t; j++) {
                    want += B[t * N + j] * z[j][i];
                }
                assert_close(got[i], want, 1e-10 * s->sigma);
                const double steps = ldexp(z[t][i], -s->grid_exponent);
                assert_true(steps == round(steps));
                squares += z[t][i] * z[t][i] / (s->sigma * s->sigma);
            }
        }
        /* the z are standard normal times sigma: chi-square with 87 degrees, two-sided false-alarm rate 2e-6 */
        const double p = test_chi2_pvalue(squares, N * DIM);
        assert_true(p > 1e-6 && p < 1 - 1e-6);
        tacet_stream_close(s);
        teardown(&f);
    }
}

/* Runs a stream of `steps`, interrupted after step `cut` (0: never) by saving, closing and loading. */
static void run(double (*out)[DIM], tacet_factorization kind, size_t most, bool doubling, size_t steps, size_t cut) {
    fixture f;
    setup(&f, kind, most, 1, 3);
    f.settings.doubling = doubling;
    tacet_stream *s = open_stream(&f);
    for (size_t t = 1; t <= steps; t++) {
        set_x(&f, t, 1);
        assert_ok(tacet_stream_step(s, f.x, NULL));
        tacet_blob blob;
        tacet_blob_init(&blob);
        assert_ok(tacet_stream_save(s, &blob, NULL));
        if (t == cut) {
            tacet_stream_close(s);
            assert_ok(tacet_stream_load(&s, f.bound, &f.ask, blob.data, blob.size, NULL));
            tacet_blob again;
            tacet_blob_init(&again);
            assert_ok(tacet_stream_save(s, &again, NULL));
            assert_int_equal(again.size, blob.size);
            assert_memory_equal(again.data, blob.data, blob.size);
            tacet_blob_clear(&again);
        }
        tacet_blob_clear(&blob);
        assert_int_equal(tacet_stream_steps(s), t);
        assert_ok(tacet_stream_read(s, out[t - 1], NULL, NULL));
    }
    tacet_stream_close(s);
    teardown(&f);
}

static void restart_anywhere(void **state) {
    (void)state;
    enum { STEPS = 21 };
    double whole[STEPS][DIM], cut[STEPS][DIM];
    for (size_t k = 0; k < 3; k++) {
        for (int doubling = 0; doubling < 2; doubling++) {
            run(whole, KINDS[k], doubling ? 3 : STEPS, doubling, STEPS, 0);
            for (size_t at = 1; at <= STEPS; at++) {
                run(cut, KINDS[k], doubling ? 3 : STEPS, doubling, STEPS, at);
                assert_memory_equal(whole, cut, sizeof whole);
            }
        }
    }
}

static void another_history_is_another_noise(void **state) {
    (void)state;
    /* a state rolled back and continued with other data must not show the difference of the data */
    fixture f;
    setup(&f, TACET_FACTORIZATION_BLT, 10, 1, 4);
    tacet_stream *s = open_stream(&f), *other = NULL;
    set_x(&f, 1, 1);
    assert_ok(tacet_stream_step(s, f.x, NULL));
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet_stream_save(s, &blob, NULL));
    assert_ok(tacet_stream_load(&other, f.bound, &f.ask, blob.data, blob.size, NULL));
    set_x(&f, 2, 1);
    assert_ok(tacet_stream_step(s, f.x, NULL));
    double diff[DIM];
    for (size_t i = 0; i < DIM; i++) {
        diff[i] = f.x->values[i];
    }
    set_x(&f, 3, 1);
    assert_ok(tacet_stream_step(other, f.x, NULL));
    for (size_t i = 0; i < DIM; i++) {
        const double gap = s->released[i] - other->released[i] - (diff[i] - f.x->values[i]);
        assert_true(fabs(gap) > 1e-3 * s->sigma); /* the noise cancels with probability 6e-4 only */
    }
    tacet_blob_clear(&blob);
    tacet_stream_close(s);
    tacet_stream_close(other);
    teardown(&f);
}

static void doubling(void **state) {
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        setup(&f, KINDS[k], 4, 3, 5);
        f.settings.doubling = true;
        tacet_stream *s = open_stream(&f);
        double sum[DIM] = {0}, got[DIM], sd = 0, offset = 0;
        size_t length = 4, used = 0;
        for (size_t t = 1; t <= 124; t++) { /* 4 + 8 + 16 + 32 + 64 */
            set_x(&f, t, 1);
            for (size_t i = 0; i < DIM; i++) {
                sum[i] += f.x->values[i];
            }
            if (used == length) {
                offset += s->sigma * s->sigma * tacet__factor_error_sq(&s->factor, length);
                length *= 2;
                used = 0;
            }
            used++;
            assert_ok(tacet_stream_step(s, f.x, NULL));
            assert_int_equal(s->factor.most, length);
            save_only(s);
            assert_ok(tacet_stream_read(s, got, &sd, NULL));
            const double want = sqrt(offset + s->sigma * s->sigma * tacet__factor_error_sq(&s->factor, used));
            assert_close(sd, want, 1e-9);
            for (size_t i = 0; i < DIM; i++) {
                assert_true(fabs(got[i] - sum[i]) < 6 * sd); /* false alarm below 1e-6 over all */
            }
        }
        assert_int_equal(s->segment, 4);
        tacet_stream_close(s);
        teardown(&f);
    }
}

static void order(void **state) {
    (void)state;
    fixture f;
    setup(&f, TACET_FACTORIZATION_TREE, 2, 1, 6);
    tacet_stream *s = open_stream(&f);
    double got[DIM];
    tacet_release *release = (tacet_release *)got;
    assert_false(tacet_stream_is_private(s));
    assert_status(tacet_stream_read(s, got, NULL, NULL), TACET_STATE);
    save_only(s);
    assert_status(tacet_stream_read(s, got, NULL, NULL), TACET_STATE);
    set_x(&f, 1, 1);
    assert_ok(tacet_stream_step(s, f.x, NULL));
    assert_status(tacet_stream_release(s, &release, NULL), TACET_STATE);
    assert_null(release);
    save_only(s);
    assert_ok(tacet_stream_release(s, &release, NULL));
    const tacet_receipt *r = tacet_release_receipt(release);
    assert_string_equal(r->mechanism, "tree");
    assert_true(!r->is_private && !r->in_ledger && r->step == 1 && r->count == DIM && r->eps == 1 && r->delta == 1e-5);
    assert_close(r->error_sd, s->sigma, 1e-12);
    assert_close(r->mu * r->scale / r->sensitivity, 1, 1e-12);
    assert_ok(tacet_stream_read(s, got, NULL, NULL));
    assert_memory_equal(got, tacet_release_values(release), sizeof got);
    tacet_release_free(release);
    assert_ok(tacet_stream_step(s, f.x, NULL));
    assert_status(tacet_stream_read(s, got, NULL, NULL), TACET_STATE);
    save_only(s);
    assert_status(tacet_stream_step(s, f.x, NULL), TACET_STATE); /* full */
    assert_ok(tacet_stream_read(s, got, NULL, NULL));
    tacet_bound *other = NULL;
    tacet_bounded *y = NULL;
    assert_ok(tacet_bound_norm(&other, DIM, 1, NULL));
    assert_ok(tacet_bounded_create(&y, other, NULL));
    assert_status(tacet_stream_step(s, y, NULL), TACET_INVALID);
    tacet_bounded_free(y);
    tacet_bound_free(other);
    tacet_stream_close(s);
    tacet_stream_close(NULL);
    teardown(&f);
}

static void refusals(void **state) {
    (void)state;
    fixture f;
    setup(&f, TACET_FACTORIZATION_BLT, 10, 1, 7);
    tacet_stream *s = (tacet_stream *)&f;
    const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        f.settings.eps = bad[i];
        assert_status(tacet_stream_open(&s, &f.settings, f.bound, &f.ask, NULL), TACET_INVALID);
        assert_null(s);
    }
    f.settings.eps = 1;
    f.settings.delta = 1;
    assert_status(tacet_stream_open(&s, &f.settings, f.bound, &f.ask, NULL), TACET_INVALID);
    f.settings.delta = 1e-5;
    f.settings.most = 0;
    assert_status(tacet_stream_open(&s, &f.settings, f.bound, &f.ask, NULL), TACET_INVALID);
    f.settings.most = 10;
    f.settings.neighbours = (tacet_neighbours){TACET_RELATION_MOVE, -1};
    assert_status(tacet_stream_open(&s, &f.settings, f.bound, &f.ask, NULL), TACET_INVALID);
    /* a bound of 1 with neighbours that move by 1e-30: the grid would need more digits than there are */
    for (size_t k = 0; k < 3; k++) {
        f.settings.factorization = KINDS[k];
        f.settings.neighbours = (tacet_neighbours){TACET_RELATION_MOVE, 1e-30};
        tacet_bound *box = NULL;
        assert_ok(tacet_bound_range(&box, DIM, 0, 1, NULL));
        assert_status(tacet_stream_open(&s, &f.settings, box, &f.ask, NULL), TACET_INVALID);
        tacet_bound_free(box);
    }
    /* private noise and no ledger */
    f.settings.neighbours = (tacet_neighbours){TACET_RELATION_REPLACE, 0};
    tacet_noise *private_noise = NULL;
    assert_ok(tacet_noise_open(&private_noise, NULL));
    tacet_ask ask = f.ask;
    ask.noise = private_noise;
    assert_status(tacet_stream_open(&s, &f.settings, f.bound, &ask, NULL), TACET_INVALID);
    tacet_noise_close(private_noise);
    teardown(&f);
}

static void damaged_states(void **state) {
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        setup(&f, KINDS[k], 6, 1, 8);
        tacet_stream *s = open_stream(&f), *back = (tacet_stream *)&f;
        set_x(&f, 1, 1);
        assert_ok(tacet_stream_step(s, f.x, NULL));
        tacet_blob blob;
        tacet_blob_init(&blob);
        assert_ok(tacet_stream_save(s, &blob, NULL));
        for (size_t i = 0; i < blob.size; i++) {
            blob.data[i] ^= 1;
            assert_status(tacet_stream_load(&back, f.bound, &f.ask, blob.data, blob.size, NULL), TACET_CORRUPT);
            assert_null(back);
            blob.data[i] ^= 1;
            assert_status(tacet_stream_load(&back, f.bound, &f.ask, blob.data, i, NULL), TACET_CORRUPT);
        }
        /* another bound, another shape, another relation to it */
        tacet_bound *other = NULL;
        assert_ok(tacet_bound_norm(&other, DIM, 2, NULL));
        assert_status(tacet_stream_load(&back, other, &f.ask, blob.data, blob.size, NULL), TACET_INVALID);
        tacet_bound_free(other);
        assert_ok(tacet_bound_norm(&other, DIM + 1, 1, NULL));
        assert_status(tacet_stream_load(&back, other, &f.ask, blob.data, blob.size, NULL), TACET_INVALID);
        tacet_bound_free(other);
        assert_ok(tacet_bound_narrow(&other, f.bound, 1, "x", NULL));
        assert_status(tacet_stream_load(&back, other, &f.ask, blob.data, blob.size, NULL), TACET_INVALID);
        tacet_bound_free(other);
        tacet_blob_clear(&blob);
        tacet_stream_close(s);
        teardown(&f);
    }
}

/* Another value for the field at `offset` behind the head, and a hash that fits. */
static tacet_status load_patched(fixture *f, const tacet_blob *blob, size_t offset, uint64_t value) {
    unsigned char *bytes = malloc(blob->size);
    tacet_stream *back = NULL;
    assert_non_null(bytes);
    memcpy(bytes, blob->data, blob->size);
    memcpy(bytes + 18 + offset, &value, sizeof value); /* behind "TACET", version, "stream" */
    crypto_generichash(bytes + blob->size - 32, 32, bytes, blob->size - 32, NULL, 0);
    const tacet_status s = tacet_stream_load(&back, f->bound, &f->ask, bytes, blob->size, NULL);
    assert_true((s == TACET_OK) == (back != NULL));
    tacet_stream_close(back);
    free(bytes);
    return s;
}

static uint64_t bits(double x) {
    uint64_t b = 0;
    memcpy(&b, &x, sizeof b);
    return b;
}

static void forged_states(void **state) {
    (void)state;
    enum { FLAGS = 0, KIND = 8, RELATION = 24, EPS = 32, MOVE = 48, KEY = 80, STEPS = 160, MOST = 176, BUFFERS = 184 };
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        setup(&f, KINDS[k], 6, 1, 11);
        tacet_stream *s = open_stream(&f), *back = NULL;
        for (int t = 0; t < 3; t++) {
            set_x(&f, 1, 1);
            assert_ok(tacet_stream_step(s, f.x, NULL));
        }
        tacet_blob blob;
        tacet_blob_init(&blob);
        assert_ok(tacet_stream_save(s, &blob, NULL));
        assert_ok(load_patched(&f, &blob, FLAGS, 0));
        assert_status(load_patched(&f, &blob, FLAGS, 8), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, FLAGS, 4), TACET_INVALID); /* says it was in a ledger */
        assert_status(load_patched(&f, &blob, KIND, 4), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, RELATION, 3), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, RELATION, TACET_RELATION_MOVE), TACET_INVALID);
        assert_status(load_patched(&f, &blob, EPS, bits(-1)), TACET_INVALID);
        assert_status(load_patched(&f, &blob, EPS, bits(1e90)), TACET_INVALID); /* numbers off the grid */
        assert_status(load_patched(&f, &blob, KEY, 31), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, STEPS, 2), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, MOST, 0), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, MOST, 2), TACET_CORRUPT);
        assert_status(load_patched(&f, &blob, BUFFERS, 7), TACET_CORRUPT);
        if (KINDS[k] == TACET_FACTORIZATION_BLT) {
            assert_status(load_patched(&f, &blob, BUFFERS + 8, bits(NAN)), TACET_CORRUPT);
        }
        /* the same sensitivity from another ball */
        tacet_bound *wide = NULL, *narrow = NULL;
        assert_ok(tacet_bound_norm(&wide, DIM, 5, NULL));
        assert_ok(tacet_bound_narrow(&narrow, wide, 2, "x", NULL));
        assert_status(tacet_stream_load(&back, narrow, &f.ask, blob.data, blob.size, NULL), TACET_INVALID);
        tacet_bound_free(wide);
        tacet_bound_free(narrow);
        tacet_blob_clear(&blob);
        /* what a sound stream never meets: a draw that fails, a segment that cannot double */
        const double sigma = s->sigma;
        s->sigma = -1;
        assert_status(tacet_stream_step(s, f.x, NULL), TACET_INVALID);
        s->sigma = sigma;
        assert_int_equal(tacet_stream_steps(s), 3);
        const tacet__factor factor = s->factor;
        const size_t taken = s->taken;
        s->settings.doubling = true;
        s->factor.most = s->taken = ((size_t)1 << 23) + 1;
        assert_status(tacet_stream_step(s, f.x, NULL), TACET_STATE);
        s->factor.most = s->taken = 3;
        s->factor.kind = (tacet_factorization)9;
        assert_status(tacet_stream_step(s, f.x, NULL), TACET_INVALID);
        s->factor = factor;
        s->taken = taken;
        tacet_stream_close(s);
        teardown(&f);
    }
}

static void more_vectors_than_bytes(void **state) {
    (void)state;
    enum { TAKEN = 192 };
    fixture f;
    setup(&f, TACET_FACTORIZATION_TOEPLITZ, 2, 1, 12);
    f.settings.doubling = true;
    tacet_stream *s = open_stream(&f);
    set_x(&f, 1, 1);
    for (int t = 0; t < 3; t++) { /* one of them in the second segment */
        assert_ok(tacet_stream_step(s, f.x, NULL));
    }
    tacet_blob blob;
    tacet_blob_init(&blob);
    assert_ok(tacet_stream_save(s, &blob, NULL));
    assert_ok(load_patched(&f, &blob, TAKEN, 1));
    assert_status(load_patched(&f, &blob, TAKEN, 0), TACET_CORRUPT);
    assert_status(load_patched(&f, &blob, TAKEN, 2), TACET_CORRUPT);
    assert_status(load_patched(&f, &blob, TAKEN, 4), TACET_CORRUPT);
    tacet_blob_clear(&blob);
    tacet_stream_close(s);
    teardown(&f);
}

static tacet_ledger *open_ledger(const char *path, double eps) {
    tacet_ledger *ledger = NULL;
    tacet_ledger_settings set;
    tacet_ledger_settings_defaults(&set);
    set.eps = eps;
    assert_ok(tacet_ledger_open(&ledger, path, &set, NULL));
    return ledger;
}

static void ledger(void **state) {
    (void)state;
    char path[512];
    const char *folder = test_mkdir();
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacet_ledger *led = open_ledger(path, 1.2);
    fixture f;
    setup(&f, TACET_FACTORIZATION_BLT, 10, 1, 9);
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open(&noise, NULL));
    f.ask.ledger = led;
    f.ask.noise = noise;
    /* opened, and lost before anything was released: opened again, charged once */
    tacet_stream *first = open_stream(&f), *second = NULL, *back = NULL;
    assert_true(tacet_stream_is_private(first));
    second = open_stream(&f);
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(led, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    assert_close(totals.eps, 1, 1e-6);
    set_x(&f, 1, 1);
    assert_ok(tacet_stream_step(first, f.x, NULL));
    assert_ok(tacet_stream_step(second, f.x, NULL));
    tacet_blob one, two;
    tacet_blob_init(&one);
    tacet_blob_init(&two);
    assert_ok(tacet_stream_save(first, &one, NULL));
    assert_ok(tacet_stream_save(second, &two, NULL));
    /* saved and loaded before anything was released */
    assert_ok(tacet_stream_load(&back, f.bound, &f.ask, two.data, two.size, NULL));
    tacet_stream_close(back);
    /* only one of them may release */
    tacet_release *release = NULL;
    double got[DIM], again[DIM];
    assert_ok(tacet_stream_read(second, got, NULL, NULL));
    assert_status(tacet_stream_release(first, &release, NULL), TACET_CONFLICT);
    assert_null(release);
    assert_status(tacet_stream_load(&back, f.bound, &f.ask, one.data, one.size, NULL), TACET_CONFLICT);
    assert_ok(tacet_stream_load(&back, f.bound, &f.ask, two.data, two.size, NULL));
    assert_ok(tacet_stream_read(back, again, NULL, NULL));
    assert_memory_equal(got, again, sizeof got);
    assert_ok(tacet_stream_release(back, &release, NULL));
    assert_true(tacet_release_receipt(release)->is_private && tacet_release_receipt(release)->in_ledger);
    tacet_release_free(release);
    tacet_stream_close(back);
    for (long n = 1;; n++) { /* out of memory while the ledger is asked */
        fail_alloc_after(n);
        const tacet_status s = tacet_stream_load(&back, f.bound, &f.ask, two.data, two.size, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_true(s == TACET_OK ? back != NULL : back == NULL);
        tacet_stream_close(back);
        if (!hit) {
            assert_ok(s);
            break;
        }
    }
    assert_status(tacet_stream_open(&back, &f.settings, f.bound, &f.ask, NULL), TACET_CONFLICT);
    /* a ledger that never heard of it; none at all; one where there was none */
    tacet_ask elsewhere = f.ask;
    elsewhere.ticket = "another";
    assert_status(tacet_stream_load(&back, f.bound, &elsewhere, two.data, two.size, NULL), TACET_NOT_FOUND);
    elsewhere.ledger = NULL;
    assert_status(tacet_stream_load(&back, f.bound, &elsewhere, two.data, two.size, NULL), TACET_INVALID);
    assert_null(back);
    /* the ledger's answer is of something else */
    tacet_charge charge;
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob_init(&memo);
    tacet_charge_init(&charge);
    charge.what = "x";
    charge.to_whom = "y";
    charge.mechanism = "z";
    tacet_charge_gaussian(&charge, 0.001, 1, 1e-5);
    assert_ok(tacet_ledger_reserve(led, &entry, &memo, "odd", &charge, NULL));
    assert_ok(tacet_ledger_commit(led, &entry, "odd", 3, NULL, NULL));
    elsewhere = f.ask;
    elsewhere.ticket = "odd";
    assert_status(tacet_stream_load(&back, f.bound, &elsewhere, two.data, two.size, NULL), TACET_CORRUPT);
    /* a second stream is too much for this budget: nothing is opened */
    elsewhere.ticket = "more";
    assert_status(tacet_stream_open(&back, &f.settings, f.bound, &elsewhere, NULL), TACET_BUDGET);
    assert_null(back);
    tacet_blob_clear(&one);
    tacet_blob_clear(&two);
    tacet_stream_close(first);
    tacet_stream_close(second);
    tacet_noise_close(noise);
    teardown(&f);
    tacet_ledger_close(led);
    test_rmdir(folder);
}

static void out_of_memory(void **state) {
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        for (long n = 1;; n++) {
            fixture f;
            setup(&f, KINDS[k], 2, 1, 10);
            f.settings.doubling = true;
            tacet_stream *s = NULL, *back = NULL;
            tacet_release *release = NULL;
            tacet_blob blob;
            tacet_blob_init(&blob);
            set_x(&f, 1, 1);
            size_t stepped = 0;
            fail_alloc_after(n);
            tacet_status status = tacet_stream_open(&s, &f.settings, f.bound, &f.ask, NULL);
            for (int t = 0; t < 3 && status == TACET_OK; t++) {
                status = tacet_stream_step(s, f.x, NULL);
                stepped += status == TACET_OK;
            }
            status = status == TACET_OK ? tacet_stream_save(s, &blob, NULL) : status;
            status = status == TACET_OK ? tacet_stream_release(s, &release, NULL) : status;
            status =
                status == TACET_OK ? tacet_stream_load(&back, f.bound, &f.ask, blob.data, blob.size, NULL) : status;
            const int hit = fail_alloc_hit();
            fail_alloc_after(0);
            if (s != NULL) { /* what failed has changed nothing */
                assert_int_equal(tacet_stream_steps(s), stepped);
                assert_ok(tacet_stream_step(s, f.x, NULL));
            }
            tacet_release_free(release);
            tacet_stream_close(s);
            tacet_stream_close(back);
            tacet_blob_clear(&blob);
            teardown(&f);
            if (!hit) {
                assert_ok(status);
                assert_true(n > 15);
                break;
            }
            assert_int_equal(status, TACET_NO_MEMORY);
        }
    }
    /* a Toeplitz stream larger than memory can be */
    fixture f;
    setup(&f, TACET_FACTORIZATION_TOEPLITZ, (size_t)1 << 24, 1, 10);
    tacet_bound *wide = NULL;
    assert_ok(tacet_bound_norm(&wide, (size_t)1 << 32, 1, NULL));
    struct tacet_bound huge = *wide;
    huge.count = (size_t)1 << 45;
    tacet__factor factor;
    assert_ok(tacet__factor_init(&factor, TACET_FACTORIZATION_TOEPLITZ, (size_t)1 << 24, NULL));
    tacet_stream fake;
    memset(&fake, 0, sizeof fake);
    fake.bound = &huge;
    fake.dim = huge.count;
    fake.mu = 1;
    fake.delta2 = 2;
    huge.radius = 1e-9;
    assert_status(tacet__stream_segment(&fake, &factor, NULL), TACET_NO_MEMORY);
    tacet_bound_free(wide);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_factors),
        cmocka_unit_test(published_costs),
        cmocka_unit_test(ranges_of_factors),
        cmocka_unit_test(sums_are_right),
        cmocka_unit_test(noise_is_exactly_Bz),
        cmocka_unit_test(restart_anywhere),
        cmocka_unit_test(another_history_is_another_noise),
        cmocka_unit_test(doubling),
        cmocka_unit_test(order),
        cmocka_unit_test(refusals),
        cmocka_unit_test(damaged_states),
        cmocka_unit_test(forged_states),
        cmocka_unit_test(more_vectors_than_bytes),
        cmocka_unit_test(ledger),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
