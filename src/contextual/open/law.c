/* SPDX-License-Identifier: Apache-2.0 */
/* law.c - the law of contexts from a noisy sum of their features.
 * Ring: open; post-processing of a release. Source: README.md, "Parts". The sketch is the sum of g(c), the
 * leading Mercer features of the contexts' kernel with lengthscales l/sqrt 2: products of two features with lengthscale
 * l lie in its space, so the sum determines the Gram matrix of the records. With groups, and more contexts than a grid
 * has, that takes products of two groups each: the kernel is the mean over pairs of groups. Decoded to the most even
 * weights on the nodes that explain it (measure.c), mixed with a little of the even law, because what was never seen
 * may occur. Cost: some ten Newton steps of O(contexts g^2 + g^3). */
#include "gp/kernel_internal.h"
#include "contextual/open/law.h"

#include "core/fail.h"
#include "gp/linalg.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tacet/core/simrng.h>

static const double EIGENVALUE_LEAST = 1e-3; /* of the largest: smaller ones drown in noise */
static const double EVENNESS = 0.02;         /* weight of the entropy, in records */
static const double EVEN_LEAST = 0.02;       /* of the even law, mixed in */
static const double EVEN_MOST = 0.2;
static const double MASS_RIDGE = 1e-4;
static const double MASS_BIAS = 0.01; /* how far from 1 the combination may be at a context */
static const double MASS_DOUBT = 2;   /* standard deviations */
static const double MASS_LEAST = 0.05;
static const uint64_t REDRAW_SEED = 1; /* post-processing: any number would do */

/* Which coordinates of contexts the sketch reads, and in which group of its kernel: all in one, or (many, in groups)
 * every pair of the groups' coordinates. Returns the number of groups. */
static size_t choose_inputs(tacet__contextual_law *law, size_t *group, const size_t *groups) {
    const size_t dc = law->d - law->a;
    size_t pairs = 0;
    law->repeats = 0;
    for (size_t g = 0; groups != NULL && dc > TACET_CONTEXTUAL_DIM_MOST && g < law->d; g++) {
        for (size_t h = g + 1; h < law->d; h++) {
            size_t found[2] = {0};
            for (size_t c = 0; c < dc; c++) {
                found[0] += groups[law->a + c] == g ? 1 : 0;
                found[1] += groups[law->a + c] == h ? 1 : 0;
            }
            for (size_t c = 0; c < dc && found[0] > 0 && found[1] > 0; c++) {
                const size_t at = groups[law->a + c];
                if ((at == g || at == h) && law->repeats < TACET__CONTEXTUAL_REPEATS_MOST) {
                    group[law->repeats] = pairs;
                    law->from[law->repeats++] = c;
                }
            }
            pairs += found[0] > 0 && found[1] > 0 ? 1 : 0;
        }
    }
    for (size_t c = 0; pairs == 0 && c < dc; c++) {
        group[c] = 0;
        law->from[law->repeats++] = c;
    }
    return pairs > 0 ? pairs : 1;
}

static void repeat(const tacet__contextual_law *law, double *out, const double *context) {
    for (size_t i = 0; i < law->repeats; i++) {
        out[i] = context[law->from[i]];
    }
}

void tacet__contextual_law_features(const tacet__contextual_law *law, double *g, const double *context) {
    double inputs[TACET__CONTEXTUAL_REPEATS_MOST];
    repeat(law, inputs, context);
    tacet_features_eval(law->sketch, g, inputs, law->repeats, 1);
}

static tacet_status make_sketch(tacet__contextual_law *law, const tacet_contextual_basis *b, bool joint,
                                tacet_error *err) {
    const tacet_kernel_spec *spec = tacet_kernel_describe(b->features->kernel);
    double scales[TACET__CONTEXTUAL_REPEATS_MOST];
    size_t group[TACET__CONTEXTUAL_REPEATS_MOST];
    const size_t pairs = choose_inputs(law, group, spec->groups), dc = law->repeats;
    tacet_kernel *kernel = NULL;
    double *X = TACET__ZALLOC(double, law->contexts *dc);
    if (X == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for %zu contexts", law->contexts);
    }
    for (size_t k = 0; k < law->contexts; k++) {
        repeat(law, X + k * dc, b->features->blocks[0].Z + k * law->actions * law->d + law->a);
    }
    for (size_t c = 0; c < dc; c++) {
        scales[c] = b->unit_lengthscale[law->a + law->from[c]] / sqrt(2);
    }
    const tacet_kernel_spec narrow = {.kind = spec->kind,
                                      .d = dc,
                                      .matern_p = spec->matern_p,
                                      .signal_var = 1,
                                      .lengthscales = scales,
                                      .lengthscale_count = dc,
                                      .groups = pairs > 1 ? group : NULL,
                                      .group_count = pairs > 1 ? pairs : 0};
    tacet_status status = tacet_kernel_create(&kernel, &narrow, err);
    if (status == TACET_OK) {
        status = tacet_features_create_mercer_points(&law->sketch, kernel, X, dc, law->even, law->contexts,
                                                     TACET__CONTEXTUAL_SKETCH_MOST, err);
    }
    if (status == TACET_OK) {
        size_t g = 1;
        while (g < law->sketch->m && law->sketch->eigenvalues[g] > EIGENVALUE_LEAST * law->sketch->eigenvalues[0]) {
            g++;
        }
        law->g = law->sketch->m = law->sketch->blocks[0].m = g;
        law->classes = joint && g * law->actions <= TACET__CONTEXTUAL_SKETCH_MOST ? law->actions : 1;
        law->G = TACET__ALIGNED(double, g * law->contexts);
        status = law->G == NULL ? tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch") : TACET_OK;
    }
    if (status == TACET_OK) {
        tacet_features_eval(law->sketch, law->G, X, dc, law->contexts);
        status = tacet__measure_create(&law->decoder, law->G, law->g, law->contexts, err);
    }
    tacet_kernel_free(kernel);
    free(X);
    return status;
}

tacet_status tacet__contextual_law_init(tacet__contextual_law *law, const tacet_contextual_basis *b,
                                        const double *share, bool joint, tacet_error *err) {
    const size_t N = b->features->blocks[0].count;
    *law = (tacet__contextual_law){
        .actions = b->node_actions, .contexts = N / b->node_actions, .a = b->action_dim, .d = b->d, .classes = 1};
    law->even = TACET__ZALLOC(double, law->contexts);
    law->share = TACET__ZALLOC(double, law->actions);
    law->room = TACET__ZALLOC(double, 2 * law->contexts);
    if (law->even == NULL || law->share == NULL || law->room == NULL) {
        tacet__contextual_law_clear(law);
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory for a law of contexts");
    }
    for (size_t k = 0; k < law->contexts; k++) {
        for (size_t i = 0; i < law->actions; i++) {
            law->even[k] += b->weights[k * law->actions + i];
            law->share[i] += b->weights[k * law->actions + i];
        }
    }
    if (share != NULL) {
        memcpy(law->share, share, law->actions * sizeof *share);
    }
    const tacet_status status = law->d > law->a && law->contexts > 1 ? make_sketch(law, b, joint, err) : TACET_OK;
    if (status != TACET_OK) {
        tacet__contextual_law_clear(law);
    }
    return status;
}

void tacet__contextual_law_clear(tacet__contextual_law *law) {
    tacet_features_free(law->sketch);
    tacet__measure_free(law->decoder);
    free(law->G);
    free(law->even);
    free(law->share);
    free(law->room);
    memset(law, 0, sizeof *law);
}

size_t tacet__contextual_law_size(const tacet__contextual_law *law) {
    return law->sketch != NULL ? law->g * law->classes : 0;
}

tacet_status tacet__contextual_law_decode(tacet__contextual_law *law, double *q, const double *V, double n, double sd,
                                          tacet_error *err) {
    const double b = fmin(EVEN_MOST, EVEN_LEAST + sd / n);
    double *w = law->room;
    for (size_t x = 0; x < law->classes; x++) {
        const double total = law->classes == 1 ? n : n * law->share[x];
        if (law->sketch == NULL || !(total > 0)) {
            memcpy(w, law->even, law->contexts * sizeof *w);
        } else {
            const tacet_status status =
                tacet__measure_fit(law->decoder, w, V + x * law->g, law->even, total, sd * sd, EVENNESS, err);
            if (status != TACET_OK) {
                return status;
            }
        }
        double sum = 0;
        for (size_t k = 0; k < law->contexts; k++) {
            sum += w[k];
        }
        for (size_t k = 0; k < law->contexts; k++) {
            const double at = (1 - b) * w[k] / sum + b * law->even[k];
            for (size_t i = law->classes == 1 ? 0 : x; i < (law->classes == 1 ? law->actions : x + 1); i++) {
                q[k * law->actions + i] = law->share[i] * at;
            }
        }
    }
    return TACET_OK;
}

double tacet__contextual_law_mass(const tacet__contextual_law *law, const double *V, double n, double sd) {
    const size_t g = law->g;
    double S[TACET__CONTEXTUAL_SKETCH_MOST * TACET__CONTEXTUAL_SKETCH_MOST];
    double w[TACET__CONTEXTUAL_SKETCH_MOST] = {0};
    if (law->sketch == NULL || law->classes != 1) {
        return 1;
    }
    /* the combination of features that is nearest to 1 everywhere, and not long: w'V is the number of records */
    memset(S, 0, g * g * sizeof *S);
    for (size_t k = 0; k < law->contexts; k++) {
        tacet__syrk(false, g, 1, 1 / (double)law->contexts, law->G + k * g, g, 1, S, g);
        tacet__axpy(w, 1 / (double)law->contexts, law->G + k * g, g);
    }
    for (size_t i = 0; i < g; i++) {
        S[i * (g + 1)] += MASS_RIDGE;
    }
    if (tacet__cholesky(S, g, g, NULL, NULL, NULL) != TACET_OK) {
        return 1;
    }
    tacet__chol_solve(g, S, g, w);
    const double mass = tacet__dot(w, V, g) / n, error = tacet__norm2(w, g) * sd / n + MASS_BIAS;
    return mass > 1 - MASS_DOUBT * error ? 1 : fmax(mass, MASS_LEAST);
}

/* Counts of the cells of another log of n records: normal, which is near enough for how wrong the law may be. */
static void draw_cells(const tacet__contextual_law *law, double *cells, const double *q, double n, tacet_simrng *rng) {
    const size_t N = law->actions * law->contexts;
    const size_t width = law->classes == 1 ? law->actions : 1; /* nodes that count as one cell */
    double sum = 0;
    for (size_t j = 0; j < N; j += width) {
        double at = 0;
        for (size_t i = j; i < j + width; i++) {
            at += q[i];
            cells[i] = 0;
        }
        cells[j] = fmax(0, n * at + sqrt(n * at) * tacet_simrng_normal(rng));
        sum += cells[j];
    }
    for (size_t j = 0; j < N && sum > 0; j++) {
        cells[j] *= n / sum;
    }
}

tacet_status tacet__contextual_law_redraw(tacet__contextual_law *law, double *laws, size_t count, const double *q,
                                          double n, double sd, tacet_error *err) {
    const size_t N = law->actions * law->contexts;
    const size_t size = tacet__contextual_law_size(law);
    tacet_simrng rng;
    tacet_status status = TACET_OK;
    double *V = TACET__ZALLOC(double, size + 1);
    double *cells = TACET__ZALLOC(double, N);
    if (V == NULL || cells == NULL) {
        status = tacet__fail(err, TACET_NO_MEMORY, "out of memory for a sketch");
    }
    tacet_simrng_init(&rng, REDRAW_SEED, 0);
    for (size_t k = 0; k < count && status == TACET_OK; k++) {
        if (size == 0) {
            memcpy(laws + k * N, q, N * sizeof *q);
            continue;
        }
        for (size_t i = 0; i < size; i++) {
            V[i] = sd * tacet_simrng_normal(&rng);
        }
        draw_cells(law, cells, q, n, &rng);
        for (size_t j = 0; j < N; j++) {
            const size_t x = law->classes == 1 ? 0 : j % law->actions;
            /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): N cells are a multiple of actions, so there is one */
            tacet__axpy(V + x * law->g, cells[j], law->G + j / law->actions * law->g, law->g);
        }
        status = tacet__contextual_law_decode(law, laws + k * N, V, n, sd, err);
    }
    free(V);
    free(cells);
    return status;
}
