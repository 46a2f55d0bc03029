/* SPDX-License-Identifier: Apache-2.0 */
/* local_problem.c - problems of the local model. Ring: programs; made-up data, or tables given by a folder.
 * Source: Zhou and Tan 2020, section 5.1. */
#include "gp/kernel_internal.h"
#include "local_problem.h"

#include "core/fail.h"
#include "core/memory.h"
#include "gp/linalg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/csv/internal.h"

/* Kernel and room for the points. */
static tacet_status begin(local_problem *p, const char *kernel, double lengthscale, size_t arms, size_t dim,
                          tacet_error *err) {
    *p = (local_problem){.d = dim, .n = arms, .noise_scale = 1};
    tacet_kernel_spec spec;
    size_t cells = 0;
    tacet_kernel_spec_defaults(&spec);
    spec.d = dim;
    spec.lengthscales = &lengthscale;
    spec.lengthscale_count = 1;
    tacet_status status = tacet_kernel_parse(&spec, kernel, err);
    if (status == TACET_OK && (arms < 2 || dim == 0 || !tacet__size_mul(&cells, arms, dim))) {
        status = tacet__fail(err, TACET_INVALID, "at least two arms and one coordinate are needed");
    }
    TACET_THEN(status, tacet_kernel_create(&p->kernel, &spec, err));
    if (status != TACET_OK) {
        return status;
    }
    p->X = TACET__ZALLOC(double, cells);
    return p->X != NULL ? TACET_OK : tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu arms", arms);
}

tacet_status local_problem_synthetic(local_problem *p, const char *kernel, double lengthscale, size_t arms,
                                     local_noise noise, tacet_error *err) {
    const tacet_status status = begin(p, kernel, lengthscale, arms, 1, err);
    p->noise = noise;
    for (size_t i = 0; status == TACET_OK && i < arms; i++) {
        p->X[i] = (double)i / (double)(arms - 1);
    }
    return status;
}

tacet_status local_problem_made_up(local_problem *p, const char *kernel, double lengthscale, size_t arms, size_t dim,
                                   double noise_scale, uint64_t seed, tacet_error *err) {
    const tacet_status status = begin(p, kernel, lengthscale, arms, dim, err);
    p->noise = LOCAL_UNIFORM;
    p->noise_scale = noise_scale;
    p->unit = true;
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed, UINT64_MAX);
    for (size_t i = 0; status == TACET_OK && i < arms * dim; i++) {
        p->X[i] = tacet_simrng_uniform(&rng);
    }
    return status;
}

/* All columns but "date". */
static tacet_status load_table(tacet_csv_table *out, const char *folder, const char *file, tacet_error *err) {
    char path[4096];
    tacet_csv_settings settings;
    tacet_csv *csv = NULL;
    const char **names = NULL;
    *out = (tacet_csv_table){0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    tacet_csv_defaults(&settings);
    TACET_OR_RETURN(tacet_csv_open_file(&csv, path, &settings, err));
    names = TACET__ZALLOC(const char *, tacet_csv_columns(csv));
    size_t count = 0;
    for (size_t i = 0; names != NULL && i < tacet_csv_columns(csv); i++) {
        if (strcmp(tacet_csv_name(csv, i), "date") != 0) {
            names[count++] = tacet_csv_name(csv, i);
        }
    }
    const tacet_csv_wanted wanted = {.columns = names, .d = count, .least_records = 2, .no_constants = true};
    tacet_status status = names == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a table")
                                        : tacet_csv_load(out, csv, &wanted, err);
    free(names);
    tacet_csv_close(csv);
    return status;
}

/* Empirical covariance of the columns, each brought to mean 0 and variance 1 first. */
static tacet_status correlation(tacet_kernel **out, const tacet_csv_table *t, tacet_error *err) {
    const size_t d = t->d;
    double *z = TACET__ZALLOC(double, d * t->n);
    double *K = TACET__ZALLOC(double, d *d);
    tacet_status status = TACET_OK;
    if (z == NULL || K == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a covariance");
        goto done;
    }
    for (size_t i = 0; i < d; i++) {
        double mean = 0;
        double squares = 0;
        for (size_t r = 0; r < t->n; r++) {
            mean += t->values[r * d + i] / (double)t->n;
        }
        for (size_t r = 0; r < t->n; r++) {
            const double x = t->values[r * d + i] - mean;
            squares += x * x;
        }
        const double sd = sqrt(squares / (double)t->n);
        for (size_t r = 0; r < t->n; r++) {
            z[r * d + i] = (t->values[r * d + i] - mean) / sd;
        }
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t r = 0; r < t->n; r++) {
                sum += z[r * d + i] * z[r * d + j];
            }
            K[i * d + j] = K[j * d + i] = sum / (double)t->n;
        }
    }
    tacet_kernel_spec spec;
    tacet_kernel_spec_defaults(&spec);
    spec.kind = TACET_KERNEL_PRECOMPUTED;
    spec.matrix = K;
    spec.order = spec.ld_matrix = d;
    status = tacet_kernel_create(out, &spec, err);
done:
    free(z);
    free(K);
    return status;
}

tacet_status local_problem_table(local_problem *p, const char *scenario, const char *folder, tacet_error *err) {
    *p = (local_problem){0};
    const bool light = strcmp(scenario, "light") == 0;
    tacet_csv_table prior = {0};
    tacet_csv_table rewards = {0};
    tacet_status status = load_table(&prior, folder, light ? "light_train.csv" : "stocks.csv", err);
    TACET_THEN(status, load_table(&rewards, folder, light ? "light_test.csv" : "stocks.csv", err));
    if (status == TACET_OK && rewards.d != prior.d) {
        status = tacet__fail(err, TACET_PARSE, "the two tables have %zu and %zu columns", prior.d, rewards.d);
    }
    TACET_THEN(status, correlation(&p->kernel, &prior, err));
    if (status == TACET_OK) {
        p->d = 1;
        p->n = rewards.d;
        p->rows = rewards.n;
        p->table = rewards.values;
        rewards.values = NULL;
        p->X = TACET__ZALLOC(double, p->n);
        if (p->X == NULL) {
            status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu arms", p->n);
        }
    }
    for (size_t i = 0; status == TACET_OK && i < p->n; i++) {
        p->X[i] = (double)i;
    }
    tacet_csv_table_clear(&prior);
    tacet_csv_table_clear(&rewards);
    return status;
}

void local_problem_clear(local_problem *p) {
    tacet_kernel_free(p->kernel);
    free(p->X);
    free(p->table);
    *p = (local_problem){0};
}

static void synthetic(local_function *out, const local_problem *p, size_t support, uint64_t seed, uint64_t stream) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, seed, stream);
    for (size_t s = 0; s < support; s++) {
        const double weight = 2 * tacet_simrng_uniform(&rng) - 1;
        const double *centre = p->X + p->d * tacet_simrng_below(&rng, p->n);
        for (size_t i = 0; i < p->n; i++) {
            out->f[i] += weight * tacet_kernel_eval(p->kernel, p->X + p->d * i, centre);
        }
    }
    double mean = 0;
    double squares = 0;
    /* sum w_i w_j k(c_i, c_j), which is the sum of w_i f(c_i) */
    tacet_simrng_init(&rng, seed, stream);
    for (size_t s = 0; s < support; s++) {
        const double weight = 2 * tacet_simrng_uniform(&rng) - 1;
        out->norm += weight * out->f[tacet_simrng_below(&rng, p->n)];
    }
    out->norm = sqrt(fmax(out->norm, 0));
    for (size_t i = 0; p->unit && i < p->n; i++) {
        const double e = out->f[i] - mean;
        mean += e / (double)(i + 1);
        squares += e * (out->f[i] - mean);
    }
    const double sd = sqrt(squares / (double)p->n);
    for (size_t i = 0; p->unit && sd > 0 && i < p->n; i++) {
        out->f[i] /= sd;
    }
    out->norm /= p->unit && sd > 0 ? sd : 1;
    out->noise_bound = p->noise == LOCAL_UNIFORM ? p->noise_scale : 0;
    /* uniform: R^2, what the theorems use */
    out->noise_var = (p->noise == LOCAL_STUDENT3 ? 3 : 1) * p->noise_scale * p->noise_scale;
    if (p->noise == LOCAL_WEIBULL) {
        out->noise_var = tgamma(1 + 2 * p->theta); /* E (E^theta)^2 of an exponential E */
    } else if (p->noise == LOCAL_PARETO) {
        out->noise_var = (1 + 1.5 * p->alpha) / (0.5 * p->alpha);
    }
}

/* f' K^-1 f, the least norm of a function with these values; K may be singular: what it says nothing of counts as 0. */
static tacet_status table_norm(local_function *out, const local_problem *p, tacet_error *err) {
    double *K = TACET__ZALLOC(double, p->n * p->n);
    double *w = TACET__ZALLOC(double, p->n);
    tacet_status status =
        K == NULL || w == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a norm") : TACET_OK;
    if (status == TACET_OK) {
        tacet_kernel_matrix(p->kernel, K, p->n, p->X, p->d, p->n, p->X, p->d, p->n);
        status = tacet__eigh(K, p->n, p->n, w, err);
    }
    for (size_t i = 0; status == TACET_OK && i < p->n; i++) {
        double along = 0;
        for (size_t j = 0; j < p->n; j++) {
            along += K[i * p->n + j] * out->f[j];
        }
        out->norm += w[i] > 1e-10 * w[p->n - 1] ? along * along / w[i] : 0;
    }
    out->norm = sqrt(out->norm);
    free(K);
    free(w);
    return status;
}

static void measured(local_function *out, const local_problem *p) {
    for (size_t i = 0; i < p->n; i++) {
        for (size_t r = 0; r < p->rows; r++) {
            out->f[i] += p->table[r * p->n + i] / (double)p->rows;
        }
    }
    for (size_t i = 0; i < p->n * p->rows; i++) {
        const double x = p->table[i] - out->f[i % p->n];
        out->noise_bound = fmax(out->noise_bound, fabs(x));
        out->noise_var += x * x / (double)(p->n * p->rows);
    }
}

tacet_status local_function_make(local_function *out, const local_problem *p, size_t support, uint64_t seed,
                                 uint64_t stream, tacet_error *err) {
    *out = (local_function){.least = (double)INFINITY, .top = -(double)INFINITY};
    out->f = TACET__ZALLOC(double, p->n);
    if (out->f == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a function");
    }
    tacet_status status = TACET_OK;
    if (p->table != NULL) {
        measured(out, p);
        status = table_norm(out, p, err);
    } else if (p->hard_cells > 0) {
        tacet_simrng rng;
        tacet_simrng_init(&rng, seed, stream);
        local_hard_function(out, p, &rng);
    } else {
        synthetic(out, p, support, seed, stream);
    }
    for (size_t i = 0; i < p->n; i++) {
        out->bound = fmax(out->bound, fabs(out->f[i]));
        out->least = fmin(out->least, out->f[i]);
        out->top = fmax(out->top, out->f[i]);
        out->mean += out->f[i] / (double)p->n;
    }
    return status;
}

void local_function_clear(local_function *f) {
    free(f->f);
    *f = (local_function){0};
}

double local_reward(const local_problem *p, const local_function *f, size_t arm, tacet_simrng *rng) {
    if (p->table != NULL) {
        return p->table[tacet_simrng_below(rng, p->rows) * p->n + arm];
    }
    if (p->hard_cells > 0) {
        return local_hard_reward(p, f->f[arm], rng);
    }
    double noise = 0;
    if (p->noise == LOCAL_WEIBULL || p->noise == LOCAL_PARETO) {
        const double sign = tacet_simrng_uniform(rng) < 0.5 ? -1 : 1;
        const double u = 1 - tacet_simrng_uniform(rng); /* not 0 */
        noise = sign * (p->noise == LOCAL_WEIBULL ? pow(-log(u), p->theta) : pow(u, -1 / (1 + 1.5 * p->alpha)));
    } else if (p->noise == LOCAL_UNIFORM) {
        noise = 2 * tacet_simrng_uniform(rng) - 1;
    } else {
        noise = tacet_simrng_normal(rng);
        if (p->noise == LOCAL_STUDENT3) {
            double chi2 = 0;
            for (int i = 0; i < 3; i++) {
                const double z = tacet_simrng_normal(rng);
                chi2 += z * z;
            }
            noise /= sqrt(chi2 / 3);
        }
    }
    return f->f[arm] + p->noise_scale * noise;
}

double local_noise_range(double a, double b, double theta, size_t rounds, double delta) {
    const double arguments[] = {a, b, theta, (double)rounds, delta};
    for (size_t i = 0; i < 5; i++) {
        if (!(arguments[i] > 0 && isfinite(arguments[i]))) {
            return (double)NAN;
        }
    }
    return delta < 1 ? pow(fmax(log(a * (double)rounds / delta), 0) / b, theta) : (double)NAN;
}
