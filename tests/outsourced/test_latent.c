/* SPDX-License-Identifier: Apache-2.0 */
/* test_latent.c - the parts of the latent-position modeler against brute force: integrals over positions, draws,
 * the chains' posterior, the field of f, and the acquisition. Seeds are fixed; where a bound is statistical its width
 * is stated in standard errors (6 of them: false alarm below 1e-8 per comparison on a fresh seed). */
#include "outsourced/open/latent_acquire.h"
#include "outsourced/open/latent_state.h"
#include "support/test.h"

#include <tacet/outsourced/open/modeler.h>

typedef struct fixture {
    double rows[24];
    double low[3], high[3], lengthscales[3];
    tacet_kernel_spec kernel;
    tacet_modeler_settings settings;
} fixture;

static void fill(fixture *f, size_t d, size_t n, const tacet_law *law, double scale) {
    memset(f, 0, sizeof *f);
    for (size_t a = 0; a < 3; a++) {
        f->low[a] = -1 - (double)a;
        f->high[a] = 7 + (double)a;
        f->lengthscales[a] = 2 + 0.5 * (double)a;
    }
    tacet_kernel_spec_defaults(&f->kernel);
    f->kernel.d = d;
    f->kernel.lengthscales = f->lengthscales;
    f->kernel.lengthscale_count = d;
    f->kernel.signal_var = 1.5;
    tacet_modeler_settings_defaults(&f->settings);
    f->settings.rows = f->rows;
    f->settings.ld = f->settings.d = d;
    f->settings.n = n;
    f->settings.low = f->low;
    f->settings.high = f->high;
    f->settings.law = law;
    f->settings.scale = scale;
    f->settings.kernel = &f->kernel;
    f->settings.horizon = n;
}

/* A smooth function of the position in units of lengthscales. */
static double smooth(const double *x, size_t d) {
    double s = 0;
    for (size_t a = 0; a < d; a++) {
        s += sin(1.3 * x[a] + (double)a) + 0.2 * x[a] * x[a];
    }
    return s;
}

/* Density of the noise between z and x, both in original units, up to a constant. */
static double noise_density(const fixture *f, const double *z, const double *x) {
    double r2 = 0;
    for (size_t a = 0; a < f->settings.d; a++) {
        r2 += (z[a] - x[a]) * (z[a] - x[a]);
    }
    const double s = f->settings.scale;
    return f->settings.law->density == TACET_DENSITY_EUCLIDEAN ? exp(-sqrt(r2) / s) : exp(-0.5 * r2 / (s * s));
}

/* E[g(x) | z_i] and E[x_0 | z_i] (units of lengthscales from the low corner) by a midpoint sum over the box. */
static void brute(const fixture *f, size_t i, double *g, double *first, double *second) {
    const size_t d = f->settings.d;
    const size_t m = d == 3 ? 120 : 600;
    const size_t total = d == 1 ? m : d == 2 ? m * m : m * m * m;
    double mass = 0;
    *g = *first = *second = 0;
    for (size_t k = 0; k < total; k++) {
        double x[3];
        double u[3];
        size_t rest = k;
        for (size_t a = 0; a < d; a++) {
            x[a] = f->low[a] + (f->high[a] - f->low[a]) * ((double)(rest % m) + 0.5) / (double)m;
            u[a] = (x[a] - f->low[a]) / f->lengthscales[a];
            rest /= m;
        }
        const double w = noise_density(f, f->rows + i * d, x);
        mass += w;
        *g += w * smooth(u, d);
        *first += w * u[0];
        *second += w * u[0] * u[0];
    }
    *g /= mass;
    *first /= mass;
    *second /= mass;
}

static void fine_nodes(const tacet__rows *rows, double *A) {
    for (size_t k = 0; k < rows->fine; k++) {
        double x[3];
        size_t rest = k;
        for (size_t a = 0; a < rows->d; a++) {
            const size_t m = rows->axis[a].fine;
            x[a] = rows->axis[a].side * (double)(rest % m) / (double)(m - 1);
            rest /= m;
        }
        A[k] = smooth(x, rows->d);
    }
}

static void rows_case(size_t d, const tacet_law *law, double scale, double tolerance) {
    fixture f;
    fill(&f, d, 6, law, scale);
    /* Inside, near an edge, on a corner, and beyond the box. */
    const double place[6] = {0.5, 0.03, 0.0, 1.02, 0.8, -0.05};
    for (size_t i = 0; i < 6; i++) {
        for (size_t a = 0; a < d; a++) {
            f.rows[i * d + a] = f.low[a] + (f.high[a] - f.low[a]) * place[(i + 2 * a) % 6];
        }
    }
    tacet__rows rows;
    assert_ok(tacet__rows_init(&rows, &f.settings, NULL));
    double *A = malloc(rows.fine * sizeof *A);
    double got[6];
    fine_nodes(&rows, A);
    tacet__rows_expect(&rows, got, A);
    tacet_simrng rng = test_rng(5, d);
    for (size_t i = 0; i < 6; i++) {
        double g = 0;
        double first = 0;
        double second = 0;
        brute(&f, i, &g, &first, &second);
        assert_close(got[i], g, tolerance);
        const size_t draws = test_slow() ? 1000 : 20000;
        double mean = 0;
        double square = 0;
        for (size_t k = 0; k < draws; k++) {
            double x[3];
            tacet__rows_draw(&rows, &rng, i, x);
            for (size_t a = 0; a < d; a++) {
                assert_true(x[a] >= 0 && x[a] <= rows.axis[a].side);
            }
            mean += x[0] / (double)draws;
            square += x[0] * x[0] / (double)draws;
        }
        const double sd = sqrt(second - first * first);
        assert_close(mean, first, 6 * sd / sqrt((double)draws) + tolerance);
        /* The variance of (x - m)^2 is at most eight sd^4 for these shapes. */
        assert_close(square - mean * mean, sd * sd, 6 * sd * sd * sqrt(8.0 / (double)draws) + tolerance);
    }
    free(A);
    tacet__rows_clear(&rows);
}

static void test_rows(void **state) {
    rows_case(1, tacet_law_find("gaussian"), 0.9, 5e-3);
    rows_case(2, tacet_law_find("gaussian"), 0.9, 1e-2);
    rows_case(3, tacet_law_find("gaussian"), 0.9, 2e-2);
    /* The mixture of six Gaussians stands in for the Laplace law. */
    rows_case(1, tacet_law_find("k-norm"), 0.6, 2e-2);
    rows_case(2, tacet_law_find("k-norm"), 0.6, 2e-2);
}

/* Refinement reproduces cubics exactly and a smooth function closely. */
static void test_refine(void **state) {
    fixture f;
    fill(&f, 2, 1, tacet_law_find("gaussian"), 0.3);
    tacet__rows rows;
    assert_ok(tacet__rows_init(&rows, &f.settings, NULL));
    assert_true(rows.fine > rows.coarse);
    double *coarse = malloc(rows.coarse * sizeof *coarse);
    double *fine = malloc(rows.fine * sizeof *fine);
    const size_t m = rows.axis[0].coarse;
    const size_t mf = rows.axis[0].fine;
    for (size_t k = 0; k < rows.coarse; k++) {
        const double u = (double)(k % m) / (double)(m - 1);
        const double v = (double)(k / m) / (double)(rows.axis[1].coarse - 1);
        coarse[k] = u * u * u - 2 * u * v * v + v;
    }
    tacet__rows_refine(&rows, fine, coarse);
    for (size_t k = 0; k < rows.fine; k++) {
        const double u = (double)(k % mf) / (double)(mf - 1);
        const double v = (double)(k / mf) / (double)(rows.axis[1].fine - 1);
        assert_close(fine[k], u * u * u - 2 * u * v * v + v, 1e-12);
    }
    free(coarse);
    free(fine);
    tacet__rows_clear(&rows);
}

/* Two measured rows on a line: the posterior of both positions by enumeration on a 400 x 400 grid, against a chain. */
static void test_chain_posterior(void **state) {
    enum { M = 400 };
    const size_t keep = test_slow() ? 5000 : 300000;
    fixture f;
    fill(&f, 1, 2, tacet_law_find("gaussian"), 1.2);
    f.rows[0] = 1.4;
    f.rows[1] = 2;
    f.settings.chains = 1;
    f.settings.candidates = 12;
    f.settings.moves = 0;
    const double nugget = 0.02;
    const double y[2] = {0.6, 0.2};
    const double side = (f.high[0] - f.low[0]) / f.lengthscales[0];
    const double z[2] = {(f.rows[0] - f.low[0]) / f.lengthscales[0], (f.rows[1] - f.low[0]) / f.lengthscales[0]};
    const double sd = f.settings.scale / f.lengthscales[0];
    double mass = 0;
    double want[3] = {0, 0, 0};
    double spread[3] = {0, 0, 0};
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < M; j++) {
            const double a = side * ((double)i + 0.5) / M;
            const double b = side * ((double)j + 0.5) / M;
            const double c = 1.5 * exp(-0.5 * (a - b) * (a - b));
            const double v = 1.5 + nugget;
            const double det = v * v - c * c;
            const double q = (v * y[0] * y[0] - 2 * c * y[0] * y[1] + v * y[1] * y[1]) / det;
            const double w =
                exp(-0.5 * (q + ((a - z[0]) * (a - z[0]) + (b - z[1]) * (b - z[1])) / (sd * sd))) / sqrt(det);
            const double g[3] = {a, b, a * b};
            mass += w;
            for (size_t k = 0; k < 3; k++) {
                want[k] += w * g[k];
                spread[k] += w * g[k] * g[k];
            }
        }
    }
    tacet__rows rows;
    tacet__chains chains;
    assert_ok(tacet__rows_init(&rows, &f.settings, NULL));
    assert_ok(tacet__chains_init(&chains, &f.settings, nugget, NULL));
    assert_ok(tacet__chains_observe(&chains, &rows, 0, y[0], NULL));
    assert_ok(tacet__chains_observe(&chains, &rows, 1, y[1], NULL));
    /* Bordering gave the inverse that a fresh start gives. */
    double bordered[4];
    memcpy(bordered, chains.inverse, sizeof bordered);
    assert_ok(tacet__chains_invert(&chains, 0, 2, NULL));
    for (size_t k = 0; k < 4; k++) {
        assert_close(bordered[k], chains.inverse[k], 1e-9 * (1 + fabs(bordered[k])));
    }
    double got[3] = {0, 0, 0};
    for (size_t k = 0; k < keep; k++) {
        tacet__chains_move(&chains, &rows, 0, 0);
        tacet__chains_move(&chains, &rows, 0, 1);
        const double a = chains.x[0];
        const double b = chains.x[1];
        got[0] += a / (double)keep;
        got[1] += b / (double)keep;
        got[2] += a * b / (double)keep;
    }
    for (size_t k = 0; k < 3; k++) {
        want[k] /= mass;
        const double sd_k = sqrt(spread[k] / mass - want[k] * want[k]);
        /* Twelve candidates: integrated autocorrelation time below 10 here, so 6 standard errors are 6 sd sqrt(10/N).
         */
        assert_close(got[k], want[k], 6 * sd_k * sqrt(10.0 / (double)keep));
    }
    /* The inverse that the moves kept is the inverse of the covariance where the chain is now. */
    double kept[4];
    memcpy(kept, chains.inverse, sizeof kept);
    assert_ok(tacet__chains_invert(&chains, 0, 2, NULL));
    for (size_t k = 0; k < 4; k++) {
        assert_close(kept[k], chains.inverse[k], 1e-7 * (1 + fabs(kept[k])));
    }
    tacet__chains_clear(&chains);
    tacet__rows_clear(&rows);
}

/* The slack is whole for 20 measurements, a quarter at 40, and never takes the noise of a measurement with it. */
static void test_slack(void **state) {
    fixture f;
    fill(&f, 1, 2, tacet_law_find("gaussian"), 1.2);
    f.settings.noise_var = 0.01;
    tacet__chains chains;
    assert_ok(tacet__chains_init(&chains, &f.settings, 0.09, NULL));
    assert_close(chains.nugget, 0.09, 1e-15);
    tacet__chains_settle(&chains, 20);
    assert_close(chains.nugget, 0.09, 1e-15);
    tacet__chains_settle(&chains, 40);
    assert_close(chains.nugget, 0.01 + 0.08 / 4, 1e-15);
    tacet__chains_settle(&chains, 100000);
    assert_true(chains.nugget > 0.01);
    tacet__chains_settle(&chains, 3);
    assert_close(chains.nugget, 0.09, 1e-15);
    tacet__chains_clear(&chains);
}

/* Mean and variance of f at x given positions X and values y, by Gaussian elimination. */
static void dense_gp(const tacet__chains *chains, size_t p, const double *x, double *mean, double *var) {
    double A[8][10];
    const size_t t = chains->t;
    for (size_t i = 0; i < t; i++) {
        double xi[3];
        tacet__chains_where(chains, xi, p, i);
        for (size_t j = 0; j < t; j++) {
            double xj[3];
            double r2 = 0;
            tacet__chains_where(chains, xj, p, j);
            for (size_t a = 0; a < chains->d; a++) {
                r2 += (xi[a] - xj[a]) * (xi[a] - xj[a]);
            }
            A[i][j] = chains->signal_var * exp(-0.5 * r2) + (i == j ? chains->nugget : 0);
        }
        double r2 = 0;
        for (size_t a = 0; a < chains->d; a++) {
            r2 += (xi[a] - x[a]) * (xi[a] - x[a]);
        }
        A[i][t] = chains->y[i];
        A[i][t + 1] = chains->signal_var * exp(-0.5 * r2);
    }
    double k[8];
    for (size_t i = 0; i < t; i++) {
        k[i] = A[i][t + 1];
    }
    for (size_t i = 0; i < t; i++) {
        for (size_t r = 0; r < t; r++) {
            if (r == i) {
                continue;
            }
            const double factor = A[r][i] / A[i][i];
            for (size_t c = i; c < t + 2; c++) {
                A[r][c] -= factor * A[i][c];
            }
        }
    }
    *mean = 0;
    *var = chains->signal_var;
    for (size_t i = 0; i < t; i++) {
        *mean += k[i] * A[i][t] / A[i][i];
        *var -= k[i] * A[i][t + 1] / A[i][i];
    }
}

static void field_case(size_t d) {
    fixture f;
    fill(&f, d, 6, tacet_law_find("gaussian"), 0.8);
    tacet_simrng rng = test_rng(9, d);
    for (size_t i = 0; i < 6 * d; i++) {
        f.rows[i] = f.low[i % d] + (f.high[i % d] - f.low[i % d]) * tacet_simrng_uniform(&rng);
    }
    f.settings.chains = 2;
    f.settings.explore = 0;
    tacet__rows rows;
    tacet__chains chains;
    tacet__field field;
    tacet__acquire acquire;
    assert_ok(tacet__rows_init(&rows, &f.settings, NULL));
    assert_ok(tacet__chains_init(&chains, &f.settings, 0.01, NULL));
    assert_ok(tacet__field_init(&field, &rows, &chains, NULL));
    assert_ok(tacet__acquire_init(&acquire, &f.settings, &rows, NULL));
    const double y[5] = {0.3, -1.1, 1.4, 0.2, -0.4};
    for (size_t j = 0; j < 5; j++) {
        assert_ok(tacet__chains_observe(&chains, &rows, j, y[j], NULL));
    }
    assert_ok(tacet__field_compute(&field, &rows, &chains, NULL));
    for (size_t p = 0; p < 2; p++) {
        for (size_t k = 0; k < rows.coarse; k += 7) {
            double x[3];
            double mean = 0;
            double var = 0;
            size_t rest = k;
            for (size_t a = 0; a < d; a++) {
                const size_t m = rows.axis[a].coarse;
                x[a] = rows.axis[a].side * (double)(rest % m) / (double)(m - 1);
                rest /= m;
            }
            dense_gp(&chains, p, x, &mean, &var);
            assert_close(field.mean[p * rows.coarse + k], mean, 1e-9);
            assert_close(field.sd[p * rows.coarse + k], sqrt(fmax(0, var)), 1e-7);
        }
    }
    /* Expected improvement of the unmeasured row: positions drawn, f integrated in closed form, against the grid. */
    double score[6];
    tacet__acquire_scores(&acquire, score, &rows, &chains, &field, 6);
    const size_t draws = test_slow() ? 2000 : 40000;
    double sum = 0;
    double square = 0;
    for (size_t k = 0; k < draws; k++) {
        double x[3];
        double total = 0;
        tacet__rows_draw(&rows, &rng, 5, x);
        for (size_t p = 0; p < 2; p++) {
            double mean = 0;
            double var = 0;
            dense_gp(&chains, p, x, &mean, &var);
            const double sd = sqrt(fmax(var, 1e-300));
            const double u = (mean - 1.4) / sd;
            total += (mean - 1.4) * 0.5 * erfc(-u / sqrt(2.0)) + sd * exp(-0.5 * u * u) / sqrt(2 * acos(-1.0));
        }
        sum += total / (double)draws;
        square += total * total / (double)draws;
    }
    assert_true(sum > 0);
    assert_close(score[5], sum, 6 * sqrt((square - sum * sum) / (double)draws) + 0.01 * sum);
    tacet__acquire_clear(&acquire);
    tacet__field_clear(&field);
    tacet__chains_clear(&chains);
    tacet__rows_clear(&rows);
}

static void test_field_and_acquisition(void **state) {
    field_case(1);
    field_case(2);
    field_case(3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refine),
        cmocka_unit_test(test_chain_posterior),
        cmocka_unit_test(test_slack),
        cmocka_unit_test(test_field_and_acquisition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
