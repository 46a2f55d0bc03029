/* SPDX-License-Identifier: Apache-2.0 */
/* test_engines.c - the engines of the local model against Algorithms 1 and 3, written out over the whole list of
 * rounds. */
#include "gp/linalg.h"
#include "local/local_fixture.h"
#include "support/dense.h"
#include "core/numbers.h"

/* V = lambda I + sum phi phi' over a list of rounds. */
static void gram_of(double *V, const tacet__nystrom *ny, const size_t *arms, size_t rounds, double lambda) {
    const size_t m = ny->m;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) {
            V[j * m + i] = i == j ? lambda : 0;
            for (size_t t = 0; t < rounds; t++) {
                V[j * m + i] += ny->features[arms[t] * N + i] * ny->features[arms[t] * N + j];
            }
        }
    }
}

/* out = V^power x, V given by its eigenvectors. */
static void power_of(double *out, const double *Q, const double *w, size_t m, double power, const double *x) {
    memset(out, 0, m * sizeof *out);
    for (size_t e = 0; e < m; e++) {
        double along = 0;
        for (size_t i = 0; i < m; i++) {
            along += Q[e * m + i] * x[i];
        }
        for (size_t i = 0; i < m; i++) {
            out[i] += pow(w[e], power) * along * Q[e * m + i];
        }
    }
}

TEST(ata_truncates_all_of_the_past) {
    fixture *f = *state;
    f->s.algorithm = TACET_LOCAL_ATA;
    f->s.parameters = TACET_LOCAL_LITERAL;
    assert_ok(tacet_ldp_init(&f->ldp, TACET_LDP_LAPLACE, 1, -2, 2, NULL));
    const tacet__local p = parts(f);
    const tacet__local_engine *ops = NULL;
    void *engine = NULL;
    assert_ok(tacet__local_ata(&engine, &ops, &p, NULL));
    size_t arms[T];
    double values[T];
    size_t cut = 0;
    size_t kept = 0;
    for (size_t t = 0; t < T; t++) {
        /* Old arms several times, then a new one: a new arm makes the engine rebuild. */
        arms[t] = t % 5 == 4 ? t / 5 : (t * 7) % (t / 5 + 1);
        values[t] = report(f, t, arms[t]);
        assert_ok(ops->observe(engine, arms[t], values[t], NULL));
        bool seen = false;
        for (size_t s = 0; s < t; s++) {
            seen = seen || arms[s] == arms[t];
        }
        if (seen) {
            continue;
        }
        uint64_t plays[N] = {0};
        double ones[N];
        for (size_t s = 0; s <= t; s++) {
            plays[arms[s]]++;
        }
        for (size_t j = 0; j < N; j++) {
            ones[j] = 1; /* q is so large that every arm played is in the dictionary */
        }
        tacet__nystrom ny;
        bool changed = false;
        assert_ok(tacet__nystrom_init(&ny, &p, NULL));
        assert_ok(tacet__nystrom_update(&ny, &changed, plays, ones, 0, NULL));
        const size_t m = ny.m;
        double V[N * N];
        double w[N];
        double u[N];
        double r[N] = {0};
        double theta[N];
        gram_of(V, &ny, arms, t + 1, 1);
        assert_ok(tacet__eigh(V, m, m, w, NULL));
        const double b = sqrt(p.v / log(4 * (double)m * T / 0.1));
        for (size_t s = 0; s <= t; s++) {
            power_of(u, V, w, m, -0.5, ny.features + arms[s] * N);
            for (size_t i = 0; i < m; i++) {
                const bool keep = fabs(u[i] * values[s]) <= b;
                r[i] += keep ? u[i] * values[s] : 0;
                cut += !keep;
                kept += keep;
            }
        }
        power_of(theta, V, w, m, -0.5, r);
        for (size_t j = 0; j < N; j++) {
            const double *phi = ny.features + j * N;
            power_of(u, V, w, m, -0.5, phi);
            assert_close(ops->mean(engine)[j], tacet__dot(phi, theta, m), 1e-7);
            assert_close(ops->var(engine)[j], f->K[j * N + j] - tacet__dot(phi, phi, m) + tacet__dot(u, u, m), 1e-7);
        }
        assert_close(ops->width(engine, 0),
                     1 + 1 / sqrt(0.9) + 4 * sqrt(log(4 * (double)m * T / 0.1) * p.v * (double)m), 1e-6);
        tacet__nystrom_clear(&ny);
    }
    assert_true(cut > 20 && kept > 20); /* the test sees both */
    ops->free(engine);
}

/* Without truncation and with every arm embedded, ATA is ridge regression, between rebuilds too. */
TEST(ata_follows_between_rebuilds) {
    fixture *f = *state;
    f->s.algorithm = TACET_LOCAL_ATA;
    assert_ok(tacet_ldp_init(&f->ldp, TACET_LDP_LAPLACE, 1, -2, 2, NULL));
    tacet__local p = parts(f);
    p.v = 1e12;
    p.s.lambda = 1;
    const tacet__local_engine *ops = NULL;
    void *engine = NULL;
    assert_ok(tacet__local_ata(&engine, &ops, &p, NULL));
    size_t arms[T];
    double values[T];
    double noise[T];
    double mean[N];
    double var[N];
    for (size_t t = 0; t < T; t++) {
        arms[t] = t < N ? t : t % 2;
        values[t] = report(f, t, arms[t]);
        noise[t] = 1;
        assert_ok(ops->observe(engine, arms[t], values[t], NULL));
        dense_gp(mean, var, NULL, f->K, N, 0, arms, values, noise, t + 1);
        for (size_t j = 0; j < N; j++) {
            assert_close(ops->mean(engine)[j], mean[j], 1e-6);
            assert_close(ops->var(engine)[j], var[j], 1e-6);
        }
    }
    ops->free(engine);
}

/* Arm i is in the dictionary with probability 1 - (1 - p)^plays. 20,000 draws, or 2,000: five standard deviations, so a
 * false alarm has probability below 1e-5 for the twelve arms together. */
TEST(dictionary_has_its_law) {
    fixture *f = *state;
    const size_t draws = test_slow() ? 2000 : 20000;
    tacet__local p = parts(f);
    p.s.lambda = 1;
    tacet__nystrom ny;
    assert_ok(tacet__nystrom_init(&ny, &p, NULL));
    uint64_t plays[N];
    double var[N];
    size_t hits[N] = {0};
    size_t empty = 0;
    for (size_t i = 0; i < N; i++) {
        plays[i] = i;
        var[i] = (i == N - 1 ? 2 : 0.05 / (double)(i + 1)) / tacet__local_q(&p);
    }
    for (uint64_t step = 0; step < draws; step++) {
        bool changed = false;
        size_t size = 0;
        assert_ok(tacet__nystrom_update(&ny, &changed, plays, var, step, NULL));
        for (size_t i = 0; i < N; i++) {
            hits[i] += ny.in[i];
            size += ny.in[i];
        }
        assert_int_equal(ny.size, size);
        empty += size == 0;
    }
    assert_int_equal(hits[0], 0);         /* never played */
    assert_int_equal(hits[N - 1], draws); /* p = 1 */
    assert_int_equal(empty, 0);
    for (size_t i = 1; i < N - 1; i++) {
        const double law = 1 - pow(1 - 0.05 / (double)(i + 1), (double)plays[i]);
        assert_close((double)hits[i] / (double)draws, law, 5 * sqrt(law * (1 - law) / (double)draws));
    }
    /* No arm left: no features, and the prior's variance. */
    bool changed = false;
    memset(plays, 0, sizeof plays);
    assert_ok(tacet__nystrom_update(&ny, &changed, plays, var, 0, NULL));
    assert_true(changed && ny.m == 0 && ny.residual[3] == f->K[3 * N + 3]);
    /* All arms: the features have the kernel's inner products. */
    for (size_t i = 0; i < N; i++) {
        plays[i] = 1;
        var[i] = 1;
    }
    assert_ok(tacet__nystrom_update(&ny, &changed, plays, var, 0, NULL));
    for (size_t i = 0; i < N * N; i++) {
        assert_close(tacet__dot(ny.features + i / N * N, ny.features + i % N * N, ny.m), f->K[i], 1e-8);
    }
    tacet__nystrom_clear(&ny);
}

TEST(moma_takes_the_central_lane) {
    fixture *f = *state;
    enum { LANES = 5, EPOCHS = T / LANES };
    f->s.algorithm = TACET_LOCAL_MOMA;
    f->s.parameters = TACET_LOCAL_LITERAL;
    f->s.lanes = LANES;
    assert_ok(tacet_ldp_init(&f->ldp, TACET_LDP_LAPLACE, 1, -2, 2, NULL));
    const tacet__local p = parts(f);
    const tacet__local_engine *ops = NULL;
    void *engine = NULL;
    assert_ok(tacet__local_moma(&engine, &ops, &p, NULL));
    size_t arms[EPOCHS];
    double values[EPOCHS][LANES];
    bool chosen[LANES] = {false};
    for (size_t e = 0; e < EPOCHS; e++) {
        arms[e] = (e * 5) % 7;
        for (size_t j = 0; j < LANES; j++) {
            values[e][j] = report(f, e * LANES + j, arms[e]);
            assert_ok(ops->observe(engine, arms[e], values[e][j], NULL));
        }
        uint64_t plays[N] = {0};
        double ones[N];
        for (size_t s = 0; s <= e; s++) {
            plays[arms[s]]++;
        }
        for (size_t j = 0; j < N; j++) {
            ones[j] = 1;
        }
        tacet__nystrom ny;
        bool changed = false;
        assert_ok(tacet__nystrom_init(&ny, &p, NULL));
        assert_ok(tacet__nystrom_update(&ny, &changed, plays, ones, 0, NULL));
        const size_t m = ny.m;
        double V[N * N];
        double w[N];
        double theta[LANES][N];
        gram_of(V, &ny, arms, e + 1, 1);
        assert_ok(tacet__eigh(V, m, m, w, NULL));
        for (size_t j = 0; j < LANES; j++) {
            double sum[N] = {0};
            for (size_t s = 0; s <= e; s++) {
                tacet__axpy(sum, values[s][j], ny.features + arms[s] * N, m);
            }
            power_of(theta[j], V, w, m, -1, sum);
        }
        size_t best = 0;
        double least = INFINITY;
        for (size_t j = 0; j < LANES; j++) {
            double distances[LANES];
            size_t count = 0;
            for (size_t s = 0; s < LANES; s++) {
                double difference[N];
                double scaled[N];
                for (size_t i = 0; i < m; i++) {
                    difference[i] = theta[j][i] - theta[s][i];
                }
                power_of(scaled, V, w, m, 0.5, difference);
                if (s != j) {
                    distances[count++] = tacet__norm2(scaled, m);
                }
            }
            tacet__sort(distances, count);
            if (distances[1] < least) { /* the second of four others: three of five lanes are a majority */
                least = distances[1];
                best = j;
            }
        }
        chosen[best] = true;
        for (size_t j = 0; j < N; j++) {
            assert_close(ops->mean(engine)[j], tacet__dot(ny.features + j * N, theta[best], m), 1e-7);
        }
        assert_close(ops->width(engine, 0), 1 + 1 / sqrt(0.9) + 9 * sqrt((double)m * p.c), 1e-7);
        tacet__nystrom_clear(&ny);
    }
    size_t different = 0;
    for (size_t j = 0; j < LANES; j++) {
        different += chosen[j];
    }
    assert_true(different >= 2);
    ops->free(engine);
}

TEST_EACH(setup, teardown)
