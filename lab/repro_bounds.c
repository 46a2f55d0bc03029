/* SPDX-License-Identifier: Apache-2.0 */
/* repro_bounds.c - what the papers' theorems say in numbers, beside what is measured: `tacet-lab repro bounds`.
 * Ring: programs; made-up functions, seeded: nothing here is private. Constants that a paper leaves in its O() count as
 * 1 where the row says "order", and are left out where it says "at least". Cost: some seconds. */
#include "local_problem.h"
#include "gp/kernel_internal.h"
#include "repro.h"

#include "core/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "central/open/published_ucb.h"
#include <tacet/core/simrng.h>
#include <tacet/dp/open/calibrate.h>
#include "gp/features.h"
#include <tacet/local/open/local.h>

enum { LINE = 101, SIDE = 31, BUMPS = 30, DRAWS = 20, ROUNDS = 1024, FEATURES = 25 };
static const double PI = 3.14159265358979323846;
static const double SCALE = 0.2;
static const double GREEDY = 0.63212055882855767; /* 1 - 1/e: what greedy design reaches at the least */

typedef struct bounds {
    repro_rows all;
    size_t trials;
    double gamma; /* of the last greedy design */
} bounds;

void repro_rows_add(repro_rows *b, const char *paper, const char *item, const char *setting, double bound,
                    double measured, const char *words) {
    (void)json_array_append_new(b->rows,
                                json_pack("{ss ss ss so so ss}", "paper", paper, "item", item, "setting", setting,
                                          "bound", cli_real(bound), "measured", cli_real(measured), "words", words));
}

static void row(bounds *b, const char *paper, const char *item, const char *setting, double bound, double measured,
                const char *words) {
    repro_rows_add(&b->all, paper, item, setting, bound, measured, words);
}

/* --- a Gaussian process over a list of points --------------------------------------------------------------------- */

typedef struct process {
    size_t n;
    double lambda;
    double *C, *mean; /* posterior; owned */
    double gain;      /* 1/2 sum ln(1 + sigma^2/lambda) of what was played */
} process;

static void process_clear(process *p) {
    free(p->C);
    free(p->mean);
    *p = (process){0};
}

static tacet_status process_init(process *p, const tacet_kernel *kernel, const double *X, size_t d, size_t n,
                                 double lambda, tacet_error *err) {
    *p = (process){.n = n, .lambda = lambda, .C = calloc(n * n, sizeof(double)), .mean = calloc(n, sizeof(double))};
    if (p->C == NULL || p->mean == NULL) {
        process_clear(p);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    }
    tacet_kernel_matrix(kernel, p->C, n, X, d, n, X, d, n);
    return TACET_OK;
}

static tacet_status play(process *p, size_t j, double y, tacet_error *err) {
    double *c = malloc(p->n * sizeof(double));
    if (c == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory");
    }
    const double var = fmax(p->C[j * p->n + j], 0), all = var + p->lambda, off = (y - p->mean[j]) / all;
    memcpy(c, p->C + j * p->n, p->n * sizeof(double));
    p->gain += log1p(var / p->lambda) / 2;
    for (size_t i = 0; i < p->n; i++) {
        p->mean[i] += c[i] * off;
        for (size_t k = 0; k < p->n; k++) {
            p->C[i * p->n + k] -= c[i] * c[k] / all;
        }
    }
    free(c);
    return TACET_OK;
}

/* The arm of the largest mean + width sd; greedy: of the largest sd. */
static size_t best(const process *p, double width, bool greedy) {
    size_t at = 0;
    double top = -INFINITY;
    for (size_t i = 0; i < p->n; i++) {
        const double score = (greedy ? 0 : p->mean[i]) + width * sqrt(fmax(p->C[i * p->n + i], 0));
        at = score > top ? i : at;
        top = fmax(top, score);
    }
    return at;
}

static tacet_status kernel_of(tacet_kernel **out, const char *name, size_t d, tacet_error *err) {
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    const tacet_status status = tacet_kernel_parse(&spec, name, err);
    spec.d = d;
    spec.lengthscales = &SCALE;
    return status == TACET_OK ? tacet_kernel_create(out, &spec, err) : status;
}

/* f = sum a_i k(z_i, .) at n points of at most 2 coordinates; its norm and its largest absolute value. */
static void draw_function(double *f, double *norm, double *most, const tacet_kernel *kernel, const double *X, size_t d,
                          size_t n, uint64_t seed) {
    tacet_simrng rng;
    double z[BUMPS * 2], a[BUMPS];
    tacet_simrng_init(&rng, seed, 0);
    for (size_t i = 0; i < BUMPS; i++) {
        a[i] = tacet_simrng_normal(&rng);
        for (size_t c = 0; c < d; c++) {
            z[i * d + c] = tacet_simrng_uniform(&rng);
        }
    }
    *norm = *most = 0;
    for (size_t i = 0; i < BUMPS; i++) {
        for (size_t j = 0; j < BUMPS; j++) {
            *norm += a[i] * a[j] * tacet_kernel_eval(kernel, z + i * d, z + j * d);
        }
    }
    *norm = sqrt(*norm);
    for (size_t i = 0; i < n; i++) {
        f[i] = 0;
        for (size_t j = 0; j < BUMPS; j++) {
            f[i] += a[j] * tacet_kernel_eval(kernel, z + j * d, X + i * d);
        }
        *most = fmax(*most, fabs(f[i]));
    }
}

static double largest_of(const double *f, size_t n) {
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        top = fmax(top, f[i]);
    }
    return top;
}

/* --- local: information gain, norm, lower bound, noise without a bound -------------------------------------------- */

static void gain_rows(bounds *b, const char *name, size_t T, const process *design, const process *run, double norm,
                      double most, double regret) {
    char setting[96];
    const double gamma = design->gain / GREEDY, beta = norm + sqrt(2 * (gamma + 1 + log(10)));
    (void)snprintf(setting, sizeof setting, "%s, 101 points of [0, 1], lengthscale 0.2, lambda 1, T = %zu", name, T);
    row(b, "local", "gamma_T: greedy design / realised by GP-UCB", setting, design->gain, run->gain,
        "the maximum is at most greedy/(1 - 1/e)");
    row(b, "local", "2 beta_T sqrt(2 T gamma_T/ln 2) of plain GP-UCB / its regret", setting,
        2 * beta * sqrt(2 * (double)T * gamma / log(2)), regret, "beta with the true norm B, delta = 0.1");
    if (T == 100) {
        row(b, "local", "RKHS norm of f / its largest absolute value", setting, norm, most,
            "a valid B is the first; the paper's experiments use the second");
    }
}

static tacet_status gains(bounds *b, const char *name, size_t T, tacet_error *err) {
    double X[LINE], f[LINE], norm = 0, most = 0, regret = 0;
    tacet_kernel *kernel = NULL;
    process design = {0}, run = {0};
    tacet_simrng rng;
    for (size_t i = 0; i < LINE; i++) {
        X[i] = (double)i / (LINE - 1);
    }
    tacet_simrng_init(&rng, 2, T);
    tacet_status status = kernel_of(&kernel, name, 1, err);
    TACET_THEN(status, process_init(&design, kernel, X, 1, LINE, 1, err));
    TACET_THEN(status, process_init(&run, kernel, X, 1, LINE, 1, err));
    if (status == TACET_OK) {
        draw_function(f, &norm, &most, kernel, X, 1, LINE, 1);
    }
    for (size_t t = 0; t < T && status == TACET_OK; t++) {
        const size_t j = best(&run, 2, false);
        regret += largest_of(f, LINE) - f[j];
        status = play(&design, best(&design, 1, true), 0, err);
        TACET_THEN(status, play(&run, j, f[j] + tacet_simrng_normal(&rng), err));
    }
    b->gamma = design.gain / GREEDY;
    if (status == TACET_OK) {
        gain_rows(b, name, T, &design, &run, norm, most, regret);
    }
    process_clear(&design);
    process_clear(&run);
    tacet_kernel_free(kernel);
    return status;
}

/* Theorem 1 with B = 1, |y| <= 2: v = 4, alpha = 1, d = 1; nu = 5/2. */
static tacet_status lower_bounds(bounds *b, double eps, size_t T, tacet_error *err) {
    const lab_request request = {.model = LAB_LOCAL,
                                 .trials = b->trials,
                                 .seed = 1,
                                 .of.local = {.scenario = "synthetic",
                                              .kernel = "matern52",
                                              .noise = "uniform",
                                              .mechanism = "hybrid",
                                              .algorithm = "ucb",
                                              .parameters = "tight",
                                              .range = "true",
                                              .lengthscale = SCALE,
                                              .noise_scale = 1,
                                              .arms = 100,
                                              .dim = 1,
                                              .support = 100,
                                              .rounds = T,
                                              .eps = eps}};
    char setting[96];
    double mean = 0;
    const tacet_status status = lab_run_mean(&mean, &request, err);
    if (status == TACET_OK) {
        (void)snprintf(setting, sizeof setting, "eps = %g, T = %zu, d = 1, B = 1, v = 4", eps, T);
        row(b, "local", "Theorem 1, se, order", setting, lab_local_theorem_1(true, 1, 4, eps, (double)T), NAN,
            "a lower bound up to a constant");
        row(b, "local", "Theorem 1, matern52, order / regret of ucb as shipped", setting,
            lab_local_theorem_1(false, 1, 4, eps, (double)T), mean, "a lower bound up to a constant");
    }
    return status;
}

/* Section 4.5, and Theorem 4 for moments below two. */
static void tails(bounds *b) {
    static const double THETA[] = {0.5, 1, 2}, ALPHA[] = {1, 0.5, 0.25};
    char setting[96];
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(setting, sizeof setting, "P(noise beyond x) <= exp(-x^(1/theta)), theta = %g, T = 10000",
                       THETA[i]);
        row(b, "local", "section 4.5: R for unbounded noise, delta = 1e-6", setting,
            local_noise_range(1, 1, THETA[i], 10000, 1e-6), NAN,
            "devices clip to f's range and R more: eps stays pure, the learner's claim loses delta");
        row(b, "local", "truncation (ln t)^theta of sub-Weibull rewards / sqrt t", setting, pow(log(1e4), THETA[i]),
            100, "the second is what two moments need");
    }
    for (size_t i = 0; i < 3; i++) {
        const double a = ALPHA[i], n = 100, m = 10;
        (void)snprintf(setting, sizeof setting, "alpha = %g, B = 1, c = 1, n = 100 epochs, rank 10", a);
        row(b, "local", "Theorem 4: beta_(n+1) of MoMA", setting,
            1 + 1 / sqrt(0.9) + 3 * pow(9 * m, 1 / (1 + a)) * pow(n, (1 - a) / (2 * (1 + a))), NAN,
            "accuracy 0.1; `simulate local --algorithm moma --reward-law pareto --tail A` runs with it");
    }
}

/* --- central: Theorem 3 with the noise of Lemmas 3 and 6, choice of m ----------------------------------------------
 */

/* 2 sqrt(T beta_T gamma_T), no error of the features; gamma_T <= m/2 ln(1 + T/(m lambda)). Two records (phi phi', y
 * phi) with |y| <= 1 are at most sqrt 4.5 apart. */
static tacet_status central_regret(bounds *b, bool local, double eps, tacet_error *err) {
    const double T = ROUNDS, m = FEATURES, zeta = 0.1, rho = 0.5, B = 1;
    const lab_request request = {.model = local ? LAB_LOCAL_STATISTICS : LAB_CENTRAL,
                                 .trials = b->trials,
                                 .seed = 1,
                                 .of.central = {.algorithm = "published",
                                                .scenario = "contextual",
                                                .eps = eps,
                                                .delta = 0.1,
                                                .rounds = ROUNDS,
                                                .arms = 25}};
    double sigma = 0, shift = 0, kappa = 0, measured = 0;
    char setting[96];
    /* of the tree over the T - 1 sums before rounds 2 to T: nodes with one record at most, and nodes in one sum */
    const double nodes = ceil(log2(T));
    tacet_status status = tacet_calibrate_gaussian(&sigma, eps, 0.1, sqrt(4.5) * (local ? 1 : sqrt(nodes)), err);
    TACET_THEN(status, lab_run_mean(&measured, &request, err));
    if (status != TACET_OK) {
        return status;
    }
    const double sd = local ? sigma * sqrt(T) : sigma * sqrt(nodes);
    tacet_published_ucb_spectrum(&shift, &kappa, sd, FEATURES, T, zeta);
    const double determinant = m * log1p(T / (m * (1 + shift)));
    const double beta = B * sqrt(3 * shift / (rho * rho) + 1) + kappa / rho + sqrt(determinant + 2 * log(2 / zeta));
    (void)snprintf(setting, sizeof setting, "eps = %g, delta = 0.1, T = %d, m = %d", eps, ROUNDS, FEATURES);
    row(b, "central", local ? "Theorem 3 with Lemma 6 (local) / regret" : "Theorem 3 with Lemma 3 / regret", setting,
        2 * beta * sqrt(T * m / 2 * log1p(T / m)), measured, "trivial: T, since rewards lie in [0, 1]");
    return TACET_OK;
}

static tacet_status feature_error(double *out, size_t order, tacet_error *err) {
    tacet_kernel *kernel = NULL;
    tacet_features *features = NULL;
    double phi[2][64];
    *out = 0;
    tacet_status status = kernel_of(&kernel, "se", 1, err);
    TACET_THEN(status, tacet_features_create_qff(&features, kernel, order, err));
    for (int i = 0; status == TACET_OK && i <= 100; i++) {
        const double x = i / 100.0, zero = 0;
        double dot = 0;
        tacet_features_eval(features, phi[0], &x, 1, 1);
        tacet_features_eval(features, phi[1], &zero, 1, 1);
        for (size_t k = 0; k < tacet_features_dim(features); k++) {
            dot += phi[0][k] * phi[1][k];
        }
        *out = fmax(*out, fabs(dot - tacet_kernel_eval(kernel, &x, &zero)));
    }
    tacet_features_free(features);
    tacet_kernel_free(kernel);
    return status;
}

static tacet_status choices_of_m(bounds *b, tacet_error *err) {
    static const size_t ORDERS[] = {8, 16, 24, 32};
    static const double HORIZONS[] = {2, 32, 1024, 32768};
    char setting[96];
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(setting, sizeof setting, "T = %g, d = 1 (d = 2: the square)", HORIZONS[i]);
        row(b, "central", "Corollary 1: 2 (6 ln T)^d features / Remark 3: 2 (3 ln T)^d", setting,
            ceil(12 * log(HORIZONS[i])), ceil(6 * log(HORIZONS[i])),
            "Remark 5: where T doubles, each period has the m of its own T");
    }
    for (size_t i = 0; i < 4; i++) {
        double off = 0;
        TACET_OR_RETURN(feature_error(&off, ORDERS[i], err));
        (void)snprintf(setting, sizeof setting, "se on [0, 1], lengthscale 0.2, %zu features", ORDERS[i]);
        row(b, "central", "T^-3 at T = 1024 / largest error of the features", setting, pow(ROUNDS, -3), off,
            "Theorem 2; more features than meet it buy nothing");
    }
    return TACET_OK;
}

/* --- outsourced: Theorems 2 and 3 --------------------------------------------------------------------------------- */

enum { GRID = SIDE * SIDE, REDUCED = 10, QUERIES = 50 };

/* Z = X M/sqrt(r), M of standard normals. */
static void project(double *Z, const double *X, uint64_t seed) {
    tacet_simrng rng;
    double M[2 * REDUCED];
    tacet_simrng_init(&rng, 3, seed);
    for (size_t k = 0; k < 2 * (size_t)REDUCED; k++) {
        M[k] = tacet_simrng_normal(&rng) / sqrt(REDUCED);
    }
    for (size_t i = 0; i < GRID; i++) {
        for (size_t k = 0; k < REDUCED; k++) {
            Z[i * REDUCED + k] = X[2 * i] * M[k] + X[2 * i + 1] * M[REDUCED + k];
        }
    }
}

/* Squared distances from one corner, after over before: the least and the largest. */
static void distortion(double *least, double *largest, const double *Z, const double *X) {
    *least = INFINITY;
    *largest = 0;
    for (size_t i = 1; i < GRID; i++) {
        double before = 0, after = 0;
        for (size_t c = 0; c < 2; c++) {
            before += pow(X[2 * i + c] - X[c], 2);
        }
        for (size_t c = 0; c < REDUCED; c++) {
            after += pow(Z[i * REDUCED + c] - Z[c], 2);
        }
        *least = fmin(*least, after / before);
        *largest = fmax(*largest, after / before);
    }
}

/* Distances after a projection to r dimensions, r as large as one likes: those of X R, R R' = M M'/r of 2 x 2. */
static void project_far(double *Z, const double *X, double r, uint64_t seed) {
    tacet_simrng rng;
    double G[3] = {0};
    tacet_simrng_init(&rng, 6, seed);
    for (uint64_t k = 0; k < (uint64_t)ceil(r); k++) {
        const double a = tacet_simrng_normal(&rng), b = tacet_simrng_normal(&rng);
        G[0] += a * a / r;
        G[1] += a * b / r;
        G[2] += b * b / r;
    }
    const double first = sqrt(G[0]), off = G[1] / first, second = sqrt(G[2] - off * off);
    for (size_t i = 0; i < GRID; i++) {
        Z[2 * i] = X[2 * i] * first + X[2 * i + 1] * off;
        Z[2 * i + 1] = X[2 * i + 1] * second;
    }
}

static double beta_at(double t, double mu) {
    return 2 * log(GRID * t * t * PI * PI / (6 * mu));
}

/* Whether the covariance of the rows at `rows` is diagonally dominant (Definition 3). */
static bool dominated(const tacet_kernel *kernel, const double *X, const size_t *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            sum += j != i ? tacet_kernel_eval(kernel, X + 2 * rows[i], X + 2 * rows[j]) : 0;
        }
        if (!(1 >= (sqrt((double)n - 1) + 1) * sum)) {
            return false;
        }
    }
    return true;
}

/* What GP-UCB does over points Z of d coordinates: the least regret among its queries, and how many of them are
 * diagonally dominant together. */
static tacet_status search(double *regret, size_t *together, const tacet_kernel *kernel, const double *Z, size_t d,
                           const tacet_kernel *first, const double *X, const double *f, double noise, double mu,
                           uint64_t seed, tacet_error *err) {
    process p;
    tacet_simrng rng;
    size_t rows[QUERIES];
    *regret = INFINITY;
    *together = 0;
    tacet_simrng_init(&rng, 4, seed);
    tacet_status status = process_init(&p, kernel, Z, d, GRID, noise, err);
    for (size_t t = 1; t <= QUERIES && status == TACET_OK; t++) {
        const size_t j = best(&p, sqrt(beta_at((double)t, mu)), false);
        rows[t - 1] = j;
        *together += *together == t - 1 && dominated(first, X, rows, t) ? 1 : 0;
        *regret = fmin(*regret, largest_of(f, GRID) - f[j]);
        status = play(&p, j, f[j] + sqrt(noise) * tacet_simrng_normal(&rng), err);
    }
    process_clear(&p);
    return status;
}

/* Theorem 3 for C (src/outsourced/README.md): as printed, with the constants of Lemmas 5 and 6; or mended. */
static double regret_bound(double C, double L, double noise, double gain, double mu, bool mended) {
    const double T = QUERIES, beta = beta_at(T, mu);
    const double C1 = C * sqrt(2 + noise) * (sqrt(2) * (1 + C) * (1 + C) / noise + (2 + C) * (mended ? 1 : C));
    const double C2 = sqrt(2) * (1 + C) * C / noise * L;
    double squares = 24 * pow(C2 + C1 * sqrt(beta), 2) * log(T) / T;
    if (mended) {
        squares = 0;
        for (size_t k = 2; k <= QUERIES; k++) {
            const double t = (double)k;
            squares += 12 / T * pow(C2 / sqrt(t - 1) + sqrt(beta_at(t, mu) * C1) / pow(t - 1, 0.25), 2);
        }
    }
    return sqrt(12 * C * C * L * L + squares + 24 / log1p(1 / noise) * beta * gain / T);
}

/* Means of what was measured with r = 10, and with the least r of Theorem 3. */
typedef struct projected {
    double low, high;           /* ratios of squared distances */
    double regret[2], together; /* together: queries that are diagonally dominant */
} projected;

static double needed_of(double mu) {
    return 8 * log((double)GRID * GRID / mu);
}

/* Of Theorem 3: nu = 2/d^2, d = diameter/lengthscale. */
static double least_r(double mu) {
    const double nu = SCALE * SCALE;
    return ceil(needed_of(mu) / (nu * nu));
}

static void outsourced_rows(bounds *b, const projected *m, double gain, double most, double noise, double mu) {
    const double needed = needed_of(mu), nu = sqrt(needed / REDUCED), L = most + 4 * sqrt(noise);
    static const char SETTING[] = "31 x 31 grid, se, lengthscale 0.2, r = 10, T = 50";
    row(b, "outsourced", "Theorem 2: nu / 1 - least ratio of squared distances", SETTING, nu, 1 - m->low,
        "the theorem is for nu < 1/2 alone");
    row(b, "outsourced", "Theorem 2: 1 + nu / largest ratio", SETTING, 1 + nu, m->high,
        "from one corner, mean of 20 projections");
    row(b, "outsourced", "Theorem 2: least r for nu = 1/2 / r of the experiments", SETTING, ceil(needed / 0.25),
        REDUCED, "noise grows with r: the experiments are far outside the theorem");
    char least_setting[128];
    (void)snprintf(least_setting, sizeof least_setting,
                   "the same, r = %.0f, the least of the theorem: C = 2, L = max f + 4 noise sd", least_r(mu));
    row(b, "outsourced", "Theorem 3 as printed, with the constants of Lemmas 5 and 6 / simple regret", least_setting,
        regret_bound(2, L, noise, gain, mu, false), m->regret[1], "greedy gamma_T; noise variance 0.01");
    row(b, "outsourced", "Theorem 3 with two slips mended / simple regret", least_setting,
        regret_bound(2, L, noise, gain, mu, true), m->regret[1], "src/outsourced/README.md, section Regret");
    row(b, "outsourced", "Theorem 3 as r grows without limit (C = 0) / simple regret with r = 10", SETTING,
        regret_bound(0, L, noise, gain, mu, false), m->regret[0], "for r = 10 the theorem says nothing: nu > 1/2");
    row(b, "outsourced", "Theorem 3 assumes diagonally dominant queries: all of them / how many were", least_setting,
        QUERIES, m->together, "so it does not apply here");
    row(b, "outsourced", "Theorem 3 where its assumption holds, at least / what any choice of rows has", least_setting,
        sqrt(6 * beta_at(QUERIES, mu)), 2 * sqrt(beta_at(1, mu)),
        "sqrt(6 beta_T) / 2 sqrt(beta_1), by its own Lemma 3");
    row(b, "outsourced", "twice the largest absolute value of f, which no regret exceeds", SETTING, 2 * most, NAN, "");
}

static tacet_status outsourced(bounds *b, tacet_error *err) {
    const double mu = 0.025, noise = 0.01;
    double *X = calloc(2 * (size_t)GRID, sizeof(double)), *f = calloc(GRID, sizeof(double));
    double *Z = calloc((size_t)REDUCED * GRID, sizeof(double));
    double norm = 0, most = 0;
    projected m = {0};
    tacet_kernel *kernel = NULL, *seen = NULL;
    process design = {0};
    tacet_status status = X == NULL || Z == NULL || f == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory")
                                                              : kernel_of(&kernel, "se", 2, err);
    TACET_THEN(status, kernel_of(&seen, "se", REDUCED, err));
    for (size_t i = 0; i < GRID && status == TACET_OK; i++) {
        const size_t row = i / SIDE;
        X[2 * i] = (double)row / (SIDE - 1);
        X[2 * i + 1] = (double)(i % SIDE) / (SIDE - 1);
    }
    if (status == TACET_OK) {
        draw_function(f, &norm, &most, kernel, X, 2, GRID, 5);
        status = process_init(&design, kernel, X, 2, GRID, noise, err);
    }
    for (size_t k = 0; k < DRAWS && status == TACET_OK; k++) {
        double least = 0, largest = 0, one = 0;
        project(Z, X, k);
        distortion(&least, &largest, Z, X);
        m.low += least / DRAWS;
        m.high += largest / DRAWS;
        for (size_t far = 0; far < 2 && k < b->trials && status == TACET_OK; far++) {
            size_t together = 0;
            if (far == 1) {
                project_far(Z, X, least_r(mu), k);
            }
            status = search(&one, &together, far == 1 ? kernel : seen, Z, far == 1 ? 2 : REDUCED, kernel, X, f, noise,
                            mu, k, err);
            m.regret[far] += one / (double)b->trials;
            m.together += far == 1 ? (double)together / (double)b->trials : 0;
        }
    }
    for (size_t t = 0; t < QUERIES && status == TACET_OK; t++) {
        status = play(&design, best(&design, 1, true), 0, err);
    }
    if (status == TACET_OK) {
        outsourced_rows(b, &m, design.gain, most, noise, mu);
    }
    process_clear(&design);
    tacet_kernel_free(kernel);
    tacet_kernel_free(seen);
    free(X);
    free(Z);
    free(f);
    return status;
}

/* --- contextual: Lemma 4.3 and Theorem 8.2 ------------------------------------------------------------------------ */

static tacet_status contextual(bounds *b, size_t T, double eps, tacet_error *err) {
    const lab_request request = {.model = LAB_CONTEXTUAL,
                                 .trials = b->trials,
                                 .seed = 1,
                                 .of.contextual = {.algorithm = "published",
                                                   .kernel = "se",
                                                   .lengthscale = 0.3,
                                                   .noise = 0.1,
                                                   .eps = eps,
                                                   .dim_action = 1,
                                                   .dim_context = 1,
                                                   .rounds = T,
                                                   .draws = 8}};
    double bound[2] = {0}, measured[2] = {0};
    char setting[96];
    const tacet_status status = lab_contextual_theory(bound, measured, &request, err);
    if (status == TACET_OK) {
        (void)snprintf(setting, sizeof setting, "se, lengthscale 0.3, d = 1 + 1, R = 0.1, B = 1, tau = 1, T = %zu", T);
        row(b, "contextual", "Lemma 4.3 with the constants of Lemma 6.3 / sup of abs(mu - f)", setting, bound[0],
            measured[0], "delta = 0.1; f is at most 1");
        (void)snprintf(setting, sizeof setting, "the same, eps = %g, T = %zu", eps, T);
        row(b, "contextual", "Theorem 8.2 / error of a choice as published", setting, bound[1], measured[1],
            "trivial: 2");
    }
    return status;
}

/* A table a paper; what the row before has is not repeated. */
static void print_rows(FILE *file, const json_t *rows) {
    static const char *const PAPERS[] = {"outsourced", "central", "contextual", "local"};
    for (size_t p = 0; p < sizeof PAPERS / sizeof *PAPERS; p++) {
        const char *before[3] = {"", "", ""};
        fprintf(file, "\n| %s: bound / beside it | setting | bound | beside | |\n| --- | --- | --- | --- | --- |\n",
                PAPERS[p]);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const char *paper = NULL, *text[3] = {NULL};
            const json_t *row = json_array_get(rows, i), *bound = NULL, *measured = NULL;
            (void)json_unpack((json_t *)row, "{ss ss ss so so ss}", "paper", &paper, "item", &text[0], "setting",
                              &text[1], "bound", &bound, "measured", &measured, "words", &text[2]);
            if (strcmp(paper, PAPERS[p]) != 0) {
                continue;
            }
            char number[2][32] = {"", ""};
            for (size_t k = 0; k < 2; k++) {
                const json_t *value = k == 0 ? bound : measured;
                if (json_is_number(value)) {
                    (void)snprintf(number[k], sizeof number[k], "%.4g", json_number_value(value));
                }
            }
            const char *shown[3];
            for (size_t k = 0; k < 3; k++) {
                shown[k] = text[k][0] != '\0' && strcmp(text[k], before[k]) == 0 ? "″" : text[k];
                before[k] = text[k];
            }
            fprintf(file, "| %s | %s | %s | %s | %s |\n", shown[0], shown[1], number[0], number[1], shown[2]);
        }
    }
}

tacet_status repro_bounds(FILE *file, json_t **out, size_t trials, tacet_error *err) {
    bounds b = {.all = {.rows = json_array()}, .trials = trials > 0 && trials < DRAWS ? trials : 3};
    tacet_status status = outsourced(&b, err);
    TACET_THEN(status, choices_of_m(&b, err));
    for (int eps = 1; eps <= 10 && status == TACET_OK; eps *= 10) {
        status = central_regret(&b, false, eps, err);
        TACET_THEN(status, central_regret(&b, true, eps, err));
    }
    for (size_t T = 100; T <= 1000 && status == TACET_OK; T *= 10) {
        status = gains(&b, "se", T, err);
        TACET_THEN(status, gains(&b, "matern52", T, err));
    }
    for (int eps = 1; eps <= 4 && status == TACET_OK; eps *= 4) {
        status = lower_bounds(&b, eps, 5000, err);
    }
    for (size_t T = 1000; T <= 100000 && status == TACET_OK; T *= 10) {
        status = contextual(&b, T, 1, err);
    }
    if (status == TACET_OK) {
        tails(&b);
        status = repro_theorems(&b.all, b.gamma, err);
    }
    if (status == TACET_OK && file != NULL) {
        print_rows(file, b.all.rows);
    }
    *out = b.all.rows;
    return status;
}
