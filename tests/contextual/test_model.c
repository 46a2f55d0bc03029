/* SPDX-License-Identifier: Apache-2.0 */
/* test_model.c - the released model: predictions, its file, and what is refused. */
#include "support/test.h"

#include <tacet/core/simrng.h>
#include "contextual/open/internal.h"

enum { NODES = 700 }; /* more than one block of kernel values */

typedef struct made {
    double lower[2], upper[2], lengthscales[2];
    double nodes[2 * NODES], weights[NODES];
    tacet_receipt receipts[2];
    tacet_contextual_parts parts;
} made;

static void make(made *m, tacet_kernel_kind kind, unsigned p) {
    tacet_simrng rng = test_rng(3, kind);
    memset(m, 0, sizeof *m);
    m->lower[0] = -1;
    m->upper[0] = 3;
    m->lower[1] = 10;
    m->upper[1] = 20;
    m->lengthscales[0] = 1;
    m->lengthscales[1] = 4;
    for (size_t j = 0; j < NODES; j++) {
        m->nodes[2 * j] = tacet_simrng_uniform(&rng);
        m->nodes[2 * j + 1] = tacet_simrng_uniform(&rng);
        m->weights[j] = tacet_simrng_normal(&rng);
    }
    for (size_t i = 0; i < 2; i++) {
        tacet_receipt *r = &m->receipts[i];
        (void)snprintf(r->mechanism, sizeof r->mechanism, "k-norm");
        r->is_private = r->in_ledger = true;
        r->eps = 0.7;
        r->scale = 0.1 + (double)i;
        r->rows = 1;
        r->count = 12;
        r->entry = 40 + i;
        memset(r->entry_hash, 17 + (int)i, sizeof r->entry_hash);
    }
    m->parts = (tacet_contextual_parts){.action_dim = 2,
                                        .lower = m->lower,
                                        .upper = m->upper,
                                        .kind = kind,
                                        .matern_p = p,
                                        .lengthscales = m->lengthscales,
                                        .nodes = m->nodes,
                                        .weights = m->weights,
                                        .count = NODES,
                                        .offset = 0.25,
                                        .is_private = true,
                                        .eps = 0.7,
                                        .rounds = 1234,
                                        .predicted_error = 0.05,
                                        .receipts = m->receipts,
                                        .receipt_count = 2};
}

/* k written out. */
static double naive(const made *m, double x, double c, double s) {
    double mean = m->parts.offset;
    for (size_t j = 0; j < NODES; j++) {
        const double a = (x - (m->lower[0] + 4 * m->nodes[2 * j])) / m->lengthscales[0];
        const double b = (c - (m->lower[1] + 10 * m->nodes[2 * j + 1])) / m->lengthscales[1];
        const double r = sqrt(a * a + b * b);
        const double t = s * r;
        mean += m->weights[j] * (s == 0 ? exp(-r * r / 2) : (1 + t + t * t / 3) * exp(-t));
    }
    return mean;
}

TEST(test_predict) {
    static made m;
    for (int kernel = 0; kernel < 2; kernel++) {
        tacet_contextual_model *model = NULL;
        double points[10], means[5];
        size_t best = 9;
        make(&m, kernel == 0 ? TACET_KERNEL_SE : TACET_KERNEL_MATERN, kernel == 0 ? 0 : 2);
        assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
        for (size_t i = 0; i < 5; i++) {
            points[2 * i] = -1 + (double)i;
            points[2 * i + 1] = 13.5;
        }
        assert_ok(tacet_contextual_predict(model, &best, means, points, 5, NULL));
        for (size_t i = 0; i < 5; i++) {
            assert_close(means[i], naive(&m, points[2 * i], 13.5, kernel == 0 ? 0 : sqrt(5)), 1e-9);
            assert_true(means[i] <= means[best]);
        }
        assert_status(tacet_contextual_predict(model, &best, means, points, 0, NULL), TACET_INVALID);
        static const double OUTSIDE[] = {20.001, (double)NAN, 9.9};
        for (size_t i = 0; i < 3; i++) {
            points[7] = OUTSIDE[i];
            assert_status(tacet_contextual_predict(model, &best, means, points, 5, NULL), TACET_INVALID);
        }
        tacet_contextual_candidates c;
        assert_ok(tacet_contextual_candidates_make(&c, model, 5, NULL));
        assert_int_equal(c.count, 25);
        assert_true(c.points[0] == -1 && c.points[4] == 1 && c.points[8] == 3 && c.points[9] == 10 &&
                    c.points[49] == 20);
        tacet_contextual_candidates_clear(&c);
        tacet_contextual_model_free(model);
    }
}

TEST(test_file) {
    static made m;
    tacet_contextual_model *model = NULL;
    tacet_contextual_model *copy = NULL;
    char *text = NULL;
    char *again = NULL;
    make(&m, TACET_KERNEL_MATERN, 1);
    assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
    assert_ok(tacet_contextual_model_encode(model, &text, NULL));
    assert_string_equal(strrchr(text, '}'), "}\n");
    assert_ok(tacet_contextual_model_decode(&copy, text, strlen(text), NULL));
    const tacet_contextual_parts *p = tacet_contextual_model_parts(copy);
    assert_int_equal(p->count, NODES);
    assert_memory_equal(p->weights, m.weights, sizeof m.weights);
    assert_memory_equal(p->nodes, m.nodes, sizeof m.nodes);
    assert_int_equal(p->receipt_count, 2);
    assert_memory_equal(p->receipts[1].entry_hash, m.receipts[1].entry_hash, TACET_HASH_BYTES);
    assert_true(p->eps == 0.7 && p->delta == 0 && p->rounds == 1234 && p->is_private && p->offset == 0.25);
    assert_ok(tacet_contextual_model_encode(copy, &again, NULL));
    assert_string_equal(text, again);
    tacet_contextual_model_free(copy);
    /* Every proper prefix, but for the closing newline, is refused, and nothing is leaked. */
    for (size_t length = 0; length < strlen(text) - 1; length += 1 + strlen(text) / 61) {
        assert_status(tacet_contextual_model_decode(&copy, text, length, NULL), TACET_PARSE);
        assert_null(copy);
    }
    /* Single fields, spoiled. */
    static const char *const SPOIL[][2] = {{"\"tacet-model-1\"", "\"tacet-model-2\""},
                                           {"\"action_dim\": 2", "\"action_dim\": 4"},
                                           {"\"action_dim\": 2", "\"action_dim\": 0"},
                                           {"\"context_dim\": 0", "\"context_dim\": 1"},
                                           {"\"matern32\"", "\"linear\""},
                                           {"\"offset\"", "\"offset2\""},
                                           {"\"delta\": 0.0", "\"delta\": 1.0"},
                                           {"\"rounds\": 1234", "\"rounds\": -1"},
                                           {"\"k-norm\"", "\"a mechanism whose name is much too long for it\""},
                                           {"1212121212", "12121212xx"}};
    for (size_t i = 0; i < sizeof SPOIL / sizeof *SPOIL; i++) {
        char *at = strstr(text, SPOIL[i][0]);
        assert_non_null(at);
        char *spoiled = malloc(strlen(text) + 64);
        (void)sprintf(spoiled, "%.*s%s%s", (int)(at - text), text, SPOIL[i][1], at + strlen(SPOIL[i][0]));
        tacet_error err = {0};
        assert_status(tacet_contextual_model_decode(&copy, spoiled, strlen(spoiled), &err), TACET_PARSE);
        assert_null(copy);
        assert_true(err.message[0] != '\0');
        free(spoiled);
    }
    free(text);
    free(again);
    tacet_contextual_model_free(model);
}

/* A model of a list has no other actions than those, whatever grid is asked for; also once it was a file. */
TEST(test_listed) {
    static const double LISTED[] = {-1, 12, 0.3, 12, 2.9, 19};
    made m;
    make(&m, TACET_KERNEL_SE, 0);
    m.parts.listed = LISTED;
    m.parts.listed_count = 3;
    tacet_contextual_model *model = NULL, *again = NULL;
    char *text = NULL;
    assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
    assert_ok(tacet_contextual_model_encode(model, &text, NULL));
    assert_ok(tacet_contextual_model_decode(&again, text, strlen(text), NULL));
    tacet_contextual_candidates c;
    assert_ok(tacet_contextual_candidates_make(&c, again, 101, NULL));
    assert_int_equal(c.count, 3);
    assert_memory_equal(c.records, LISTED, sizeof LISTED);
    tacet_contextual_candidates_clear(&c);
    free(text);
    tacet_contextual_model_free(model);
    tacet_contextual_model_free(again);
    m.parts.listed = NULL; /* a count without a list */
    assert_status(tacet_contextual_model_create(&model, &m.parts, NULL), TACET_INVALID);
}

TEST(test_refused) {
    static made m;
    tacet_contextual_model *model = NULL;
    make(&m, TACET_KERNEL_SE, 0);
    m.weights[3] = (double)INFINITY;
    assert_status(tacet_contextual_model_create(&model, &m.parts, NULL), TACET_INVALID);
    make(&m, TACET_KERNEL_SE, 0);
    m.upper[1] = m.lower[1];
    assert_status(tacet_contextual_model_create(&model, &m.parts, NULL), TACET_INVALID);
    make(&m, TACET_KERNEL_SE, 0);
    m.parts.eps = (double)NAN;
    assert_status(tacet_contextual_model_create(&model, &m.parts, NULL), TACET_INVALID);
    make(&m, TACET_KERNEL_LINEAR, 0);
    assert_status(tacet_contextual_model_create(&model, &m.parts, NULL), TACET_INVALID);
    make(&m, TACET_KERNEL_SE, 0);
    m.parts.count = 0;
    assert_status(tacet_contextual_model_create(&model, &m.parts, NULL), TACET_INVALID);
    assert_null(model);
    make(&m, TACET_KERNEL_SE, 0);
    assert_each_alloc_fails(tacet_contextual_model_create(&model, &m.parts, NULL), model == NULL);
    tacet_contextual_model_free(model);
}

/* What is predicted is a reward that there can be: within the range, which is that of rewards and not of losses; the
 * best action is the one of before. */
TEST(test_range) {
    static made m;
    enum { POINTS = 41 };
    double points[2 * POINTS], free_means[POINTS], means[POINTS];
    for (int minimize = 0; minimize < 2; minimize++) {
        tacet_contextual_model *model = NULL;
        size_t free_best = 0, best = 0, ends[2] = {0};
        make(&m, TACET_KERNEL_SE, 0);
        m.parts.minimize = minimize == 1;
        for (size_t i = 0; i < POINTS; i++) {
            points[2 * i] = -1 + 0.1 * (double)i;
            points[2 * i + 1] = 12.5;
        }
        assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
        assert_ok(tacet_contextual_predict(model, &free_best, free_means, points, POINTS, NULL));
        tacet_contextual_model_free(model);
        double sum = 0;
        for (size_t i = 0; i < POINTS; i++) {
            sum += free_means[i] / POINTS;
        }
        m.parts.range[0] = sum - 0.5;
        m.parts.range[1] = sum + 0.5;
        assert_ok(tacet_contextual_model_create(&model, &m.parts, NULL));
        assert_ok(tacet_contextual_predict(model, &best, means, points, POINTS, NULL));
        assert_int_equal(best, free_best);
        for (size_t i = 0; i < POINTS; i++) {
            assert_true(means[i] == fmin(fmax(free_means[i], m.parts.range[0]), m.parts.range[1]));
            ends[0] += means[i] == m.parts.range[0] ? 1 : 0;
            ends[1] += means[i] == m.parts.range[1] ? 1 : 0;
        }
        assert_true(ends[0] > 0 && ends[1] > 0);
        tacet_contextual_model_free(model);
    }
}
