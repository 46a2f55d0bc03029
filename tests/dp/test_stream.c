/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream.c - continual sums: the noise as B z exactly, restarts at any step, doubling, the order
 * save-then-release, every refusal, and running out of memory. */
#include "stream_fixture.h"

static void sums_are_right(void **state) {
    /* with next to no noise the estimates are the sums: C and B as streamed multiply to A */
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        setup(&f, KINDS[k], 50, 1e12, 1);
        tacet_stream *s = open_stream(&f);
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
            assert_ok(tacet_stream_read(s, got, &sd, NULL));
            memcpy(z[t], s->out.released, sizeof z[t]);
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
    double got[DIM];
    save_only(s);
    save_only(other);
    assert_ok(tacet_stream_read(s, got, NULL, NULL));
    assert_ok(tacet_stream_read(other, got, NULL, NULL));
    for (size_t i = 0; i < DIM; i++) {
        const double gap = s->out.released[i] - other->out.released[i] - (diff[i] - f.x->values[i]);
        assert_true(fabs(gap) > 1e-3 * s->sigma); /* the noise cancels with probability 6e-4 only */
    }
    tacet_blob_clear(&blob);
    tacet_stream_close(s);
    tacet_stream_close(other);
    teardown(&f);
}

/* Noise is drawn when a step is read. Steps that nobody read are drawn later, the same: also those of segments that are
 * full since, and of a state that was saved while they waited. */
static void read_now_or_later(void **state) {
    enum { STEPS = 21 };
    double whole[STEPS][DIM], got[DIM], sd = 0, sds[STEPS];
    for (size_t k = 0; k < 3; k++) {
        for (size_t every = 1; every <= STEPS; every++) {
            fixture f;
            setup(&f, KINDS[k], 3, 1, 6);
            f.settings.doubling = true; /* 3 + 6 + 12 */
            tacet_stream *s = open_stream(&f), *back = NULL;
            for (size_t t = 0; t < STEPS; t++) {
                set_x(&f, t, 1);
                assert_ok(tacet_stream_step(s, f.x, NULL));
                assert_int_equal(s->waiting, t % every + 1);
                tacet_blob blob;
                tacet_blob_init(&blob);
                assert_ok(tacet_stream_save(s, &blob, NULL));
                assert_ok(tacet_stream_load(&back, f.bound, &f.ask, blob.data, blob.size, NULL));
                tacet_blob_clear(&blob);
                tacet_stream_close(s);
                s = back;
                if (every == 1) {
                    assert_ok(tacet_stream_read(s, whole[t], &sds[t], NULL));
                } else if ((t + 1) % every == 0 || t + 1 == STEPS) {
                    assert_ok(tacet_stream_read(s, got, &sd, NULL));
                    assert_memory_equal(got, whole[t], sizeof got);
                    assert_true(sd == sds[t]);
                }
                assert_true(s->waiting == 0 || (t + 1) % every != 0);
            }
            tacet_stream_close(s);
            teardown(&f);
        }
    }
}

/* Out of memory while steps of three segments are drawn: nothing leaves, and asked again it is what it would have been.
 */
static void drawn_in_pieces(void **state) {
    enum { STEPS = 20 };
    double want[DIM] = {0}, got[DIM];
    for (size_t k = 0; k < 3; k++) {
        for (long n = 0;; n++) {
            fixture f;
            setup(&f, KINDS[k], 3, 1, 6);
            f.settings.doubling = true;
            tacet_stream *s = open_stream(&f);
            for (size_t t = 0; t < STEPS; t++) {
                set_x(&f, t, 1);
                assert_ok(tacet_stream_step(s, f.x, NULL));
            }
            save_only(s);
            fail_alloc_after(n);
            const tacet_status status = tacet_stream_read(s, n == 0 ? want : got, NULL, NULL);
            const int hit = fail_alloc_hit();
            fail_alloc_after(0);
            if (hit && status != TACET_OK) {
                assert_int_equal(status, TACET_NO_MEMORY);
                save_only(s); /* half drawn, it can be saved */
                assert_ok(tacet_stream_read(s, got, NULL, NULL));
            }
            if (n > 0) {
                assert_memory_equal(got, want, sizeof got);
            }
            tacet_stream_close(s);
            teardown(&f);
            if (n > 0 && !hit) {
                assert_true(n > 2);
                break;
            }
        }
    }
}

static void doubling(void **state) {
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
    tacet_noise *sample = NULL;
    assert_ok(tacet_noise_open_sample(&sample, NULL));
    tacet_ask ask = f.ask;
    ask.noise = sample; /* of no reservation */
    assert_status(tacet_stream_open(&s, &f.settings, f.bound, &ask, NULL), TACET_INVALID);
    tacet_noise_close(sample);
    teardown(&f);
}

static void out_of_memory(void **state) {
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
    fake.dim = SIZE_MAX / 4;
    assert_status(tacet__stream_reserve(&fake, 8, NULL), TACET_NO_MEMORY);
    tacet_bound_free(wide);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right),    cmocka_unit_test(noise_is_exactly_Bz),
        cmocka_unit_test(restart_anywhere),  cmocka_unit_test(another_history_is_another_noise),
        cmocka_unit_test(read_now_or_later), cmocka_unit_test(drawn_in_pieces),
        cmocka_unit_test(doubling),          cmocka_unit_test(order),
        cmocka_unit_test(refusals),          cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
