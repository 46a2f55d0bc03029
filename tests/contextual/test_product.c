/* SPDX-License-Identifier: Apache-2.0 */
/* test_product.c - predictions by products over coordinates against kernel values written out: the mixture that
 * stands for a Matérn kernel, every shape of the nodes, and where products are of no use. */
#include "support/test.h"

#include "contextual/open/internal.h"

#include <tacet/core/simrng.h>

static const double LOWER[4] = {0, -1, 2, 0};
static const double UPPER[4] = {1, 1, 5, 0.5};
static const double LENGTHSCALES[4] = {0.4, 1, 1.5, 0.3};
static const double BOUND = 4e-12; /* of sum |weights|, as the header says */
static const double ROUNDING = 2e-15;

enum { NODES = 2000 };

typedef struct made {
    double nodes[4 * NODES], weights[NODES];
    tacet_contextual_parts parts;
    double l1;
} made;

/* All of `actions` times all of `contexts`, actions fastest; each a grid of per_axis values, or (list) random points.
 */
static void make(made *m, unsigned kernel, size_t a, size_t c, size_t per_axis, bool list, uint64_t seed) {
    const size_t d = a + c;
    double values[4][64];
    size_t actions = 1;
    size_t contexts = 1;
    tacet_simrng rng = test_rng(seed, kernel);
    for (size_t i = 0; i < d; i++) {
        actions *= i < a ? per_axis : 1;
        contexts *= i < a ? 1 : per_axis;
        for (size_t k = 0; k < per_axis; k++) {
            values[i][k] = tacet_simrng_uniform(&rng);
        }
    }
    assert_true(actions * contexts <= NODES);
    double points[2][4 * NODES];
    for (size_t j = 0; j < NODES * 4; j++) {
        points[0][j] = tacet_simrng_uniform(&rng);
        points[1][j] = tacet_simrng_uniform(&rng);
    }
    m->l1 = 0;
    for (size_t j = 0; j < actions * contexts; j++) {
        size_t rest = j;
        for (size_t i = 0; i < d; i++) {
            m->nodes[j * d + i] = !list   ? values[i][rest % per_axis]
                                  : i < a ? points[0][j % actions * 4 + i]
                                          : points[1][j / actions * 4 + i];
            rest /= per_axis;
        }
        m->weights[j] = tacet_simrng_normal(&rng);
        m->l1 += fabs(m->weights[j]);
    }
    m->parts = (tacet_contextual_parts){.action_dim = a,
                                        .context_dim = c,
                                        .lower = LOWER,
                                        .upper = UPPER,
                                        .kind = kernel == 0 ? TACET_KERNEL_SE : TACET_KERNEL_MATERN,
                                        .matern_p = kernel,
                                        .lengthscales = LENGTHSCALES,
                                        .nodes = m->nodes,
                                        .weights = m->weights,
                                        .count = actions * contexts,
                                        .offset = 0.25,
                                        .eps = 1};
}

static double kernel_of(unsigned kernel, double r) {
    const double t = sqrt(2.0 * kernel + 1) * r;
    return kernel == 0   ? exp(-r * r / 2)
           : kernel == 1 ? (1 + t) * exp(-t)
           : kernel == 2 ? (1 + t + t * t / 3) * exp(-t)
                         : (1 + t + 0.4 * t * t + t * t * t / 15) * exp(-t);
}

static double naive(const made *m, const double *action, const double *context) {
    const size_t d = m->parts.action_dim + m->parts.context_dim;
    double mean = m->parts.offset;
    for (size_t j = 0; j < m->parts.count; j++) {
        double r2 = 0;
        for (size_t i = 0; i < d; i++) {
            const double x = i < m->parts.action_dim ? action[i] : context[i - m->parts.action_dim];
            const double t = (x - LOWER[i] - m->nodes[j * d + i] * (UPPER[i] - LOWER[i])) / LENGTHSCALES[i];
            r2 += t * t;
        }
        mean += m->weights[j] * kernel_of(m->parts.kind == TACET_KERNEL_SE ? 0 : m->parts.matern_p, sqrt(r2));
    }
    return mean;
}

/* Random points, corners, nodes themselves and points very close to them, where the narrowest terms count. */
static void compare(const made *m, const tacet_contextual_model *model, uint64_t seed) {
    enum { N = 37 };
    const size_t a = m->parts.action_dim;
    const size_t d = a + m->parts.context_dim;
    tacet_simrng rng = test_rng(seed, 1);
    for (size_t round = 0; round < 6; round++) {
        double actions[N * 4];
        double context[4] = {0};
        double means[N];
        double alone = 0;
        size_t best = 0;
        const double *node = m->nodes + (m->parts.count / 2 + round) % m->parts.count * d;
        for (size_t i = 0; i < N * a; i++) {
            const size_t c = i % a;
            const double at = i < a       ? node[c]
                              : i < 2 * a ? node[c] + 1e-7 * (0.5 - node[c])
                              : i < 3 * a ? (double)((round + c) % 2)
                                          : tacet_simrng_uniform(&rng);
            actions[i] = LOWER[c] + at * (UPPER[c] - LOWER[c]);
        }
        for (size_t c = a; c < d; c++) {
            const double at = round == 0   ? node[c]
                              : round == 1 ? node[c] + 1e-5 * (0.5 - node[c])
                                           : tacet_simrng_uniform(&rng);
            context[c - a] = LOWER[c] + at * (UPPER[c] - LOWER[c]);
        }
        assert_ok(tacet_contextual_predict(model, &best, means, actions, N, context, NULL));
        for (size_t i = 0; i < N; i++) {
            assert_close(means[i], naive(m, actions + i * a, context), (BOUND + ROUNDING) * m->l1);
            assert_true(means[i] <= means[best]);
        }
        assert_ok(tacet_contextual_predict(model, &best, &alone, actions + 20 * a, 1, context, NULL));
        assert_true(alone == means[20]);
    }
}

/* The mixture is the kernel within the bound, from distances far below the narrowest term to where both are 0. */
static void test_mixture(void **state) {
    static made m;
    for (unsigned kernel = 1; kernel <= 2; kernel++) {
        tacet_contextual_model *model = NULL;
        make(&m, kernel, 1, 1, 20, false, 3);
        assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
        const tacet__contextual_product *p = &model->product;
        double worst = 0;
        assert_true(p->terms > 20);
        for (double r = 1e-9; r < 60; r *= 1.01) {
            double sum = 0;
            for (size_t q = 0; q < p->terms; q++) {
                const double rate =
                    p->rate[q % TACET__CONTEXTUAL_CHAINS] * pow(4, (double)(q / TACET__CONTEXTUAL_CHAINS));
                sum += p->weight[q] * exp(-rate * r * r);
            }
            worst = fmax(worst, fabs(sum - kernel_of(kernel, r)));
        }
        assert_true(worst <= BOUND);
        assert_true(worst >= 1e-16); /* it is an approximation, and was looked at */
        tacet_contextual_model_free(model);
    }
}

static void test_shapes(void **state) {
    static const size_t SHAPES[][3] = {{1, 1, 24}, {1, 2, 11}, {2, 1, 11}, {1, 3, 6}, {2, 2, 6}, {3, 1, 6}, {1, 1, 7}};
    static made m;
    for (unsigned kernel = 0; kernel <= 2; kernel++) {
        for (size_t k = 0; k < sizeof SHAPES / sizeof *SHAPES; k++) {
            const size_t a = SHAPES[k][0];
            tacet_contextual_model *model = NULL;
            make(&m, kernel, a, SHAPES[k][1], SHAPES[k][2], false, 5 + k);
            assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
            assert_true(model->product.terms > 0 || SHAPES[k][2] == 7);
            assert_int_equal(model->product.axis_count, a); /* a grid: each coordinate of its own */
            compare(&m, model, k);
            tacet_contextual_model_free(model);
        }
    }
}

/* Public lists of actions and contexts: products of two sets of points that are no grids. */
static void test_lists(void **state) {
    static made m;
    for (unsigned kernel = 0; kernel <= 2; kernel++) {
        tacet_contextual_model *model = NULL;
        make(&m, kernel, 2, 2, 6, true, 9);
        assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
        assert_int_equal(model->product.axis_count, 1);
        assert_int_equal(model->product.actions, 36);
        assert_int_equal(model->product.contexts, 36);
        assert_true(model->product.terms > 0);
        compare(&m, model, 9);
        tacet_contextual_model_free(model);
    }
}

/* Nodes that only look like a product, another smoothness, no contexts, lengthscales beyond numbers. */
static void test_no_product(void **state) {
    static made m;
    for (unsigned kernel = 0; kernel <= 2; kernel++) {
        for (int spoil = 0; spoil < 3; spoil++) {
            tacet_contextual_model *model = NULL;
            make(&m, kernel, 1, 1, 20, false, 11);
            m.nodes[2 * 123 + (spoil == 1 ? 1 : 0)] += spoil < 2 ? 1e-3 : 0;
            m.parts.count -= spoil == 2 ? 1 : 0; /* the last one is missing */
            m.l1 -= spoil == 2 ? fabs(m.weights[m.parts.count]) : 0;
            assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
            assert_int_equal(model->product.terms, 0);
            compare(&m, model, 11);
            tacet_contextual_model_free(model);
        }
    }
    tacet_contextual_model *model = NULL;
    make(&m, 3, 1, 1, 20, false, 13);
    assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
    assert_int_equal(model->product.terms, 0);
    compare(&m, model, 13);
    tacet_contextual_model_free(model);
    make(&m, 2, 3, 0, 11, false, 13);
    assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
    assert_int_equal(model->product.terms, 0); /* without a context to sum over kernel values take less */
    compare(&m, model, 13);
    tacet_contextual_model_free(model);
    make(&m, 0, 3, 0, 11, false, 13);
    assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
    assert_int_equal(model->product.terms, 1);
    compare(&m, model, 13);
    tacet_contextual_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixture), cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_lists), cmocka_unit_test(test_no_product)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
