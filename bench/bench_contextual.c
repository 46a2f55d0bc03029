/* SPDX-License-Identifier: Apache-2.0 */
/* bench_contextual.c - logs: learning from rows; contextual models: certificates, predictions. */
#include "bench.h"

#include "gp/quadrature.h"
#include "contextual/shared/internal.h"
#include "contextual/open/internal.h"

#include <tacet/core/simrng.h>
#include <tacet/ab/trusted/log.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 100000, ACTIONS = 101 };

/* Of the processor, not of the wall: others may be at work beside. */
static void stop(const tacet_error *err) {
    fprintf(stderr, "bench_contextual: %s\n", err->message);
    exit(1);
}

/* The paper's mechanism at tau = 1, where the bound takes the most cells. */
static void published(tacet_kernel_kind kind, unsigned p, size_t action_dim) {
    static const char *const NAMES[] = {"SE", "Matern 3/2", "Matern 5/2"};
    const double zero[4] = {0, 0, 0, 0};
    const double one[4] = {1, 1, 1, 1};
    const double lengthscale = action_dim == 1 ? 0.3 : 0.5;
    tacet_error err = {0};
    tacet_contextual_certificate certificate;
    tacet_contextual_basis *basis = NULL;
    tacet_contextual_space space;
    tacet_contextual_space_defaults(&space);
    space.kind = kind;
    space.matern_p = p;
    space.action_dim = action_dim;
    space.lower = zero;
    space.upper = one;
    space.lengthscales = &lengthscale;
    if (tacet_contextual_basis_create(&basis, &space, 0, &err) != TACET_OK) {
        stop(&err);
    }
    double inverse_root[TACET_CONTEXTUAL_FEATURES_MOST];
    for (size_t j = 0; j < tacet_contextual_basis_dim(basis); j++) {
        inverse_root[j] = 1 / sqrt(ROUNDS * tacet_contextual_basis_eigenvalues(basis)[j] + 1);
    }
    const tacet__lever lever = {.features = basis->features,
                                .inverse_root = inverse_root,
                                .tau = 1,
                                .d = basis->d,
                                .lengthscale = basis->unit_lengthscale};
    const double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (tacet__lever_certify(&certificate, &lever, 0.005, 200000, &err) != TACET_OK) {
        stop(&err);
    }
    printf("  %-10s %zu + 1, lengthscale %.1f: %zu features, %5zu cells, upper/found = %.4f, %.2f s\n", NAMES[p],
           action_dim, lengthscale, tacet_contextual_basis_dim(basis), certificate.cells,
           pow(certificate.upper / certificate.found, 2), bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
    tacet_contextual_basis_free(basis);
}

static void all_published(void) {
    printf("certificate at tau = 1, T = %d:\n", (int)ROUNDS);
    for (unsigned p = 0; p < 3; p++) {
        for (size_t a = 1; a <= 3; a++) {
            published(p == 0 ? TACET_KERNEL_SE : TACET_KERNEL_MATERN, p, a);
        }
    }
}

/* What a row of a log costs: one category and two numbers, learnt whole. It should not grow with the rows. */
static void log_rows(size_t rows) {
    static const char SPACE[] = "{\"columns\":[{\"name\":\"x\",\"bounds\":[0,1]},"
                                "{\"name\":\"c\",\"levels\":[\"a\",\"b\",\"c\"]},{\"name\":\"d\",\"bounds\":[0,1]}]}";
    const tacet_contextual_entry entry = {.ticket = "model", .to_whom = "anyone", .seeded = true, .seed = 3};
    tacet_error err = {0};
    tacet_space space;
    tacet_ab_log *log = NULL;
    tacet_ab_model *model = NULL;
    tacet_simrng rng;
    double *values = malloc(rows * 4 * sizeof *values);
    if (values == NULL || tacet_space_decode(&space, SPACE, sizeof SPACE - 1, &err) != TACET_OK) {
        stop(&err);
    }
    tacet_simrng_init(&rng, 3, 1);
    for (size_t i = 0; i < rows; i++) {
        double *row = values + i * 4;
        row[0] = tacet_simrng_uniform(&rng);
        row[1] = (double)tacet_simrng_below(&rng, 3);
        row[2] = tacet_simrng_uniform(&rng);
        row[3] = tacet_simrng_uniform(&rng) < row[0] ? 1 : 0;
    }
    const tacet_ab_question question = {
        .space = &space, .action_columns = 1, .reward = "y", .lo = 0, .hi = 1, .eps = 1};
    const double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (tacet_ab_log_open_rows(&log, values, rows, &question, &err) != TACET_OK ||
        tacet_ab_log_release(log, &model, &entry, &err) != TACET_OK) {
        stop(&err);
    }
    const double took = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    printf("log of %zu rows, a category and two numbers: %.2f s, %.1f us a row\n", rows, took,
           1e6 * took / (double)rows);
    tacet_ab_model_free(model);
    tacet_ab_log_free(log);
    tacet_space_clear(&space);
    free(values);
}

int main(void) {
    log_rows(50000);
    log_rows(500000);
    all_published();
    return 0;
}
