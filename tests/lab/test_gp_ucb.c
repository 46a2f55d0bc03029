/* SPDX-License-Identifier: Apache-2.0 */
/* test_gp_ucb.c - the program `tacet-lab gp-ucb` as a person runs it, its sequence against a dense recomputation
 * written here (Gaussian elimination, kernels written out): same rows, same values, same best row and regret. */
#include "support/dense.h"
#include "support/test.h"

#include <jansson.h>
#include <stdbool.h>
#include <tacet/core/simrng.h>
#include <unistd.h>

enum { N = 150, D = 2, T = 40 };

typedef struct table {
    double X[N * D];
    double y[N];
    char folder[300];
    char path[340];
} table;

static void table_init(table *t, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    (void)snprintf(t->folder, sizeof t->folder, "%s", test_mkdir());
    (void)snprintf(t->path, sizeof t->path, "%s/F.csv", t->folder);
    FILE *file = fopen(t->path, "w");
    assert_non_null(file);
    fprintf(file, "id,x1,y,x2\n");
    for (size_t j = 0; j < N; j++) {
        t->X[j * D] = 20 * tacet_simrng_uniform(&rng);
        t->X[j * D + 1] = -5 + 10 * tacet_simrng_uniform(&rng);
        t->y[j] = sin(t->X[j * D] / 3) + cos(t->X[j * D + 1] / 2) + 0.1 * tacet_simrng_normal(&rng);
        fprintf(file, "r%zu,%.17g,%.17g,%.17g\n", j, t->X[j * D], t->y[j], t->X[j * D + 1]);
    }
    assert_int_equal(fclose(file), 0);
}

static json_t *run(const char *arguments) {
    const char *bin = getenv("TACET_BIN");
    assert_non_null(bin);
    OWN_TEXT char *command = test_text("'%s/tacet-lab' gp-ucb %s --json 2>/dev/null", bin, arguments);
    /* The command line is made here, of constants and a fresh folder's name. */
    FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c) */
    assert_non_null(pipe);
    json_t *object = json_loadf(pipe, 0, NULL);
    assert_int_equal(pclose(pipe), 0);
    assert_non_null(object);
    return object;
}

static double se(const double *x, const double *y, const double *l) {
    double r2 = 0;
    for (size_t c = 0; c < D; c++) {
        r2 += (x[c] - y[c]) * (x[c] - y[c]) / (l[c] * l[c]);
    }
    return exp(-0.5 * r2);
}

static double matern52(const double *x, const double *y, const double *l) {
    double r2 = 0;
    for (size_t c = 0; c < D; c++) {
        r2 += (x[c] - y[c]) * (x[c] - y[c]) / (l[c] * l[c]);
    }
    const double s = sqrt(5 * r2);
    return (1 + s + s * s / 3) * exp(-s);
}

/* Checks the printed rows one by one against mean + sqrt(beta_t) sd from a dense solve given the rows before. */
static void follow(const table *t, const json_t *object, double (*k)(const double *, const double *, const double *),
                   const double *l, double signal, double noise_var, double m0, double delta, double sign) {
    static double K[N * N];
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            K[j * N + i] = signal * k(t->X + i * D, t->X + j * D, l);
        }
    }
    const json_t *rows = json_object_get(object, "rows");
    const json_t *values = json_object_get(object, "values");
    assert_int_equal(json_array_size(rows), T);
    assert_int_equal(json_array_size(values), T);
    size_t at[T];
    double seen[T];
    double noise[T];
    double mean[N];
    double var[N];
    bool asked[N] = {false};
    const double pi = acos(-1.0);
    double top_value = -INFINITY;
    size_t top_row = 0;
    double optimum = -INFINITY;
    for (size_t step = 1; step <= T; step++) {
        const double beta = 2 * log(N * (double)(step * step) * pi * pi / (6 * (delta / 2)));
        dense_gp(mean, var, NULL, K, N, sign * m0, at, seen, noise, step - 1);
        size_t best = SIZE_MAX;
        double top = 0;
        for (size_t j = 0; j < N; j++) {
            const double bound = mean[j] + sqrt(beta) * sqrt(fmax(var[j], 0));
            if (!asked[j] && (best == SIZE_MAX || bound > top)) {
                best = j;
                top = bound;
            }
        }
        const size_t row = (size_t)json_integer_value(json_array_get(rows, step - 1));
        assert_int_equal(row, best);
        assert_close(json_number_value(json_array_get(values, step - 1)), t->y[row], 0);
        asked[row] = true;
        at[step - 1] = row;
        seen[step - 1] = sign * t->y[row];
        noise[step - 1] = noise_var;
        if (seen[step - 1] > top_value) {
            top_value = seen[step - 1];
            top_row = row;
        }
    }
    for (size_t j = 0; j < N; j++) {
        optimum = fmax(optimum, sign * t->y[j]);
    }
    assert_int_equal(json_integer_value(json_object_get(object, "best_row")), top_row);
    assert_close(json_number_value(json_object_get(object, "simple_regret")), optimum - top_value, 0);
    assert_true(json_number_value(json_object_get(object, "seconds")) >= 0);
    assert_string_equal(json_string_value(json_object_get(object, "protection")), "unprotected");
}

TEST(the_sequence_is_that_of_a_dense_solve) {
    table t;
    table_init(&t, 1);
    char arguments[800];
    (void)snprintf(arguments, sizeof arguments,
                   "--data %s --inputs x1,x2 --target y --kernel se --lengthscale 6.25 --signal-var 1 --noise-var 1e-5 "
                   "--mean 0 --delta-ucb 0.05 --queries %d",
                   t.path, T);
    json_t *object = run(arguments);
    const double l[D] = {6.25, 6.25};
    follow(&t, object, se, l, 1, 1e-5, 0, 0.05, 1);
    json_decref(object);
    test_rmdir(t.folder);
}

TEST(smallest_with_other_settings) {
    table t;
    table_init(&t, 2);
    char arguments[800];
    (void)snprintf(arguments, sizeof arguments,
                   "--data=%s --inputs=x1,x2 --target=y --kernel=matern52 --lengthscale 4,2.5 --signal-var 0.7 "
                   "--noise-var 0.01 --mean 0.3 --delta-ucb 0.2 --queries %d --minimize",
                   t.path, T);
    json_t *object = run(arguments);
    const double l[D] = {4, 2.5};
    follow(&t, object, matern52, l, 0.7, 0.01, 0.3, 0.2, -1);
    json_decref(object);
    test_rmdir(t.folder);
}
