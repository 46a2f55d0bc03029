/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c - a table of levels: no record moves it by more than what is charged, its cells are those of a plain
 * count, what is stated of their means holds, and a ticket keeps the form it was begun in. */
#include "contextual/shared/cells.h"
#include "contextual/trusted/robust.h"
#include "support/gate.h"
#include "support/test.h"

#include <math.h>
#include <string.h>
#include <tacet/core/simrng.h>

enum { A = 4, C = 3, K = A * C, D = A - 1 + C - 1, ROWS = 6000 };
static const double RATE[C][A] = {{.3, .5, .3, .3}, {.3, .35, .6, .2}, {.1, .2, .3, .55}};

typedef struct fixture {
    double actions[A * (A - 1)], contexts[C * (C - 1)];
    tacet_contextual_basis *basis;
    tacet_contextual_settings settings;
} fixture;

static int setup(void **state) {
    static fixture f;
    static const double lower[D] = {-1, -1, -1, -1, -1}, upper[D] = {1, 1, 1, 1, 1}, lengthscale = 1;
    for (size_t a = 0; a < A; a++) {
        tacet_space_vertex(f.actions + a * (A - 1), a, A);
    }
    for (size_t c = 0; c < C; c++) {
        tacet_space_vertex(f.contexts + c * (C - 1), c, C);
    }
    const tacet_contextual_space space = {.action_dim = A - 1,
                                          .context_dim = C - 1,
                                          .lower = lower,
                                          .upper = upper,
                                          .kind = TACET_KERNEL_SE,
                                          .lengthscales = &lengthscale,
                                          .lengthscale_count = 1,
                                          .actions = f.actions,
                                          .action_count = A,
                                          .contexts = f.contexts,
                                          .context_count = C};
    assert_ok(tacet_contextual_basis_create(&f.basis, &space, 0, NULL));
    tacet_contextual_settings_defaults(&f.settings);
    f.settings.reward_lower = 0;
    f.settings.reward_upper = 1;
    f.settings.discrete = f.settings.levels = true;
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    tacet_contextual_basis_free(((fixture *)*state)->basis);
    return 0;
}

static void add(const fixture *f, tacet_contextual_learner *l, size_t a, size_t c, double reward) {
    double w[D];
    memcpy(w, f->actions + a * (A - 1), (A - 1) * sizeof *w);
    memcpy(w + A - 1, f->contexts + c * (C - 1), (C - 1) * sizeof *w);
    assert_ok(tacet_contextual_learner_add(l, w, reward, NULL));
}

/* Rows of a seed; plain: for each row its cell and reward. */
static tacet_contextual_learner *learner_of(const fixture *f, size_t rows, uint64_t seed, size_t *cells,
                                            double *rewards) {
    tacet_contextual_learner *l = NULL;
    tacet_simrng rng;
    assert_ok(tacet_contextual_learner_create(&l, f->basis, &f->settings, NULL));
    tacet_simrng_init(&rng, seed, 0);
    for (size_t i = 0; i < rows; i++) {
        const double u = tacet_simrng_uniform(&rng);
        const size_t c = u < .6 ? 0 : u < .9 ? 1 : 2;
        const size_t a = tacet_simrng_below(&rng, A);
        const double reward = tacet_simrng_uniform(&rng) < RATE[c][a] ? 1 : 0;
        add(f, l, a, c, reward);
        if (cells != NULL) {
            cells[i] = c * A + a;
            rewards[i] = reward;
        }
    }
    return l;
}

static void table_of(const fixture *f, const tacet_contextual_learner *l, double values[2 * K]) {
    tacet__robust r = {.learner = l, .parts = {.learner = l}, .table = true};
    assert_true(tacet__robust_table_fits(l));
    tacet__robust_table_sizes(l->count, &r.parts.sizes);
    assert_ok(tacet__parts_deal(&r.parts, NULL));
    assert_ok(tacet__contextual_law_init(&r.law, f->basis, NULL, false, NULL));
    assert_ok(tacet__robust_table_count(&r, values, NULL));
    tacet__robust_clear(&r);
}

/* Row 1 of twenty becomes every other: all contexts, rewards of and beyond the range, with the same action. */
static void no_record_moves_it_by_more_than_two(void **state) {
    static const double rewards[] = {0, 1, .5, 1.0 / 3, -1e9, 1e9, NAN};
    enum { REWARDS = 7, OTHERS = REWARDS * C };
    const fixture *f = *state;
    double tables[OTHERS][2 * K];
    double most = 0;
    for (size_t k = 0; k < OTHERS; k++) {
        tacet_contextual_learner *l = NULL;
        double sum = 0;
        assert_ok(tacet_contextual_learner_create(&l, f->basis, &f->settings, NULL));
        for (size_t i = 0; i < 20; i++) {
            add(f, l, i % A, i == 1 ? k % C : i % C, i == 1 ? rewards[k / C] : .25);
        }
        table_of(f, l, tables[k]);
        tacet_contextual_learner_free(l);
        for (size_t j = 0; j < 2 * K; j++) {
            assert_true(tables[k][j] >= 0);
            sum += tables[k][j];
        }
        assert_true(sum == 17); /* 20 less those of other parts: one is held out, two value the rule */
        for (size_t m = 0; m < k; m++) {
            double apart = 0;
            for (size_t j = 0; j < 2 * K; j++) {
                apart += fabs(tables[k][j] - tables[m][j]);
            }
            most = fmax(most, apart);
        }
    }
    assert_true(most == 2);
}

static void release(const tacet_contextual_learner *l, tacet_contextual_model **model, uint64_t seed) {
    tacet_noise *noise = test_noise(seed, 0);
    const tacet_ask ask = {.noise = noise, .ticket = "m", .what = "model", .to_whom = "test"};
    assert_ok(tacet_contextual_release(l, model, &ask, NULL));
    tacet_noise_close(noise);
}

/* With hardly any noise the cells are those of a plain count of the part's rows, and the model has their means. */
static void its_cells_are_those_of_a_plain_count(void **state) {
    fixture f = *(fixture *)*state;
    static size_t cells[ROWS];
    static double rewards[ROWS];
    double values[2 * K], sums[2 * K] = {0}, means[A];
    size_t best = 0;
    f.settings.eps = 1000;
    tacet_contextual_model *model = NULL;
    tacet_contextual_learner *l = learner_of(&f, ROWS, 5, cells, rewards);
    tacet__parts parts = {.learner = l};
    tacet__robust_table_sizes(ROWS, &parts.sizes);
    assert_ok(tacet__parts_deal(&parts, NULL));
    for (size_t i = 0; i < ROWS; i++) {
        sums[2 * cells[i]] += parts.part_of[i] == TACET__PART_STAGE ? rewards[i] : 0;
        sums[2 * cells[i] + 1] += parts.part_of[i] == TACET__PART_STAGE ? 1 - rewards[i] : 0;
    }
    table_of(&f, l, values);
    for (size_t j = 0; j < 2 * K; j++) {
        assert_true(values[j] == sums[j]);
    }
    release(l, &model, 1);
    for (size_t c = 0; c < C; c++) {
        assert_ok(tacet_contextual_predict(model, &best, means, f.actions, A, f.contexts + c * (C - 1), NULL));
        assert_int_equal(best, c + 1);
        for (size_t a = 0; a < A; a++) {
            const double n = sums[2 * (c * A + a)] + sums[2 * (c * A + a) + 1];
            assert_close(means[a], sums[2 * (c * A + a)] / n, 5 / n); /* shrunk by a few records' worth */
        }
    }
    tacet_contextual_model_free(model);
    tacet_contextual_learner_free(l);
    free(parts.part_of);
}

/* How large effects are follows the release: where there are none the cells are drawn together, and the stated error
 * falls with them. */
static void cells_without_effects_are_drawn_together(void **state) {
    enum { CELLS = 12 };
    double stated[2] = {0}, spread[2] = {0};
    for (int effects = 0; effects < 2; effects++) {
        const tacet__cells c = {.actions = 4, .contexts = 3, .bound = 0.5, .prior_var = 0.03, .noise_var = 8};
        for (uint64_t seed = 0; seed < 40; seed++) {
            double released[2 * CELLS], theta[CELLS], P[CELLS * CELLS];
            tacet_simrng rng = test_rng(900 + (uint64_t)effects, seed);
            for (size_t k = 0; k < CELLS; k++) {
                const double rate = 0.3 + (effects == 1 ? 0.2 * tacet_simrng_normal(&rng) : 0), n = 100;
                const double up = n * fmin(fmax(rate, 0), 1) + sqrt(n * 0.2) * tacet_simrng_normal(&rng);
                released[2 * k] = up + sqrt(8) * tacet_simrng_normal(&rng);
                released[2 * k + 1] = n - up + sqrt(8) * tacet_simrng_normal(&rng);
            }
            assert_ok(tacet__cells_learn(&c, theta, P, released, NULL));
            double mean = 0;
            for (size_t k = 0; k < CELLS; k++) {
                mean += theta[k] / CELLS;
                stated[effects] += P[k * (CELLS + 1)] / (40 * CELLS);
            }
            for (size_t k = 0; k < CELLS; k++) {
                spread[effects] += (theta[k] - mean) * (theta[k] - mean) / (40 * CELLS);
            }
        }
    }
    /* a count of 100 alone has a mean square error of 0.003; the effects of the second world 0.04 */
    assert_true(spread[0] < 0.0006 && stated[0] < 0.001);
    assert_true(spread[1] > 0.025 && stated[1] > 0.0015);
}

/* At eps = 1: the charge is Laplace noise for 2, the best action is found, and errors are as large as stated. */
static void what_is_stated_holds(void **state) {
    fixture *f = *state;
    double squares = 0, stated = 0;
    size_t right = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        static const double share[C] = {.6, .3, .1};
        tacet_contextual_model *model = NULL;
        tacet_contextual_learner *l = learner_of(f, ROWS, 100 + seed, NULL, NULL);
        release(l, &model, seed);
        const tacet_contextual_parts *p = tacet_contextual_model_parts(model);
        assert_string_equal(p->receipts[0].mechanism, "laplace");
        assert_int_equal(p->receipts[0].count, 2 * K);
        assert_true(p->receipts[0].sensitivity >= 2 && p->receipts[0].sensitivity < 2.001);
        assert_true(p->receipts[0].scale >= 2 && p->delta == 0);
        for (size_t c = 0; c < C; c++) {
            double means[A];
            size_t best = 0;
            assert_ok(tacet_contextual_predict(model, &best, means, f->actions, A, f->contexts + c * (C - 1), NULL));
            right += best == c + 1 ? 1 : 0;
            for (size_t a = 0; a < A; a++) {
                squares += share[c] / A * pow(means[a] - RATE[c][a], 2);
                assert_true(means[a] >= 0 && means[a] <= 1);
            }
        }
        stated += p->predicted_error * p->predicted_error;
        tacet_contextual_model_free(model);
        tacet_contextual_learner_free(l);
    }
    assert_true(right >= 59);
    assert_true(squares / stated > 0.7 && squares / stated < 1.4);
}

/* Cells that nobody was in have what their action and context have elsewhere, and a large variance. */
static void empty_cells_follow_the_others(void **state) {
    const tacet__cells cells = {.actions = A, .contexts = C, .bound = .5, .prior_var = .03, .noise_var = 8};
    double released[2 * K], theta[K], P[K * K];
    for (size_t k = 0; k < K; k++) {
        released[2 * k] = k % A == 2 ? 400 : 100; /* action 2 is better everywhere */
        released[2 * k + 1] = k % A == 2 ? 100 : 400;
    }
    for (size_t k = 2 * A; k < K; k++) {
        released[2 * k] = k % 2 == 0 ? -3 : 0;
        released[2 * k + 1] = k % 2 == 0 ? 1 : -1; /* noise alone: no records, and fewer than none */
    }
    assert_ok(tacet__cells_learn(&cells, theta, P, released, NULL));
    for (size_t k = 0; k < 2 * A; k++) {
        assert_close(theta[k], k % A == 2 ? .3 : -.3, .01);
        assert_true(P[k * K + k] < .001);
    }
    for (size_t k = 2 * A; k < K; k++) {
        assert_true(k % A == 2 || theta[k] < theta[2 * A + 2] - .1);
        assert_true(P[k * K + k] > .005);
    }
}

static tacet_contextual_model *charged(const fixture *f, tacet_ledger *ledger, const char *ticket, bool levels,
                                       tacet_contextual_rewards law, tacet_status expected) {
    fixture other = *f;
    tacet_contextual_model *model = NULL;
    other.settings.levels = levels;
    other.settings.rewards = law;
    tacet_contextual_learner *l = learner_of(&other, ROWS, 9, NULL, NULL);
    const tacet_ask ask = {.ledger = ledger,
                           .ticket = ticket,
                           .what = "model",
                           .to_whom = "test",
                           .covered_fields = "contexts,reward",
                           .uncovered_fields = "actions",
                           .covered_records = "each row"};
    assert_status(tacet_contextual_release(l, &model, &ask, NULL), expected);
    tacet_contextual_learner_free(l);
    return model;
}

static void same(tacet_contextual_model *a, tacet_contextual_model *b) {
    char *texts[2] = {NULL};
    assert_ok(tacet_contextual_model_encode(a, &texts[0], NULL));
    assert_ok(tacet_contextual_model_encode(b, &texts[1], NULL));
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    tacet_contextual_model_free(a);
    tacet_contextual_model_free(b);
}

/* Two per record in L1, whatever eps: the receipt, which is what the ledger has been charged by, says so. */
static void its_noise_is_paid_for(void **state) {
    const fixture *f = *state;
    tacet_contextual_learner *l = NULL;
    tacet_contextual_model *model = NULL;
    assert_ok(tacet_contextual_learner_create(&l, f->basis, &f->settings, NULL));
    for (size_t i = 0; i < 4000; i++) {
        add(f, l, i % A, i / A % C, i % 2 == 0 ? 1 : 0);
    }
    release(l, &model, 7);
    const tacet_contextual_parts *parts = tacet_contextual_model_parts(model);
    assert_true(parts->receipt_count > 0);
    const tacet_receipt *r = &parts->receipts[0];
    const double eps = f->settings.eps;
    assert_string_equal(r->mechanism, "laplace");
    assert_true(r->eps == eps && r->delta == 0);
    assert_true(r->sensitivity >= 2 && r->sensitivity < 2.01);
    assert_true(r->scale >= 2 / eps && r->scale < 2.01 / eps);
    assert_close(r->error_sd, sqrt(2) * r->scale, 1e-3 * r->scale);
    tacet_contextual_model_free(model);
    tacet_contextual_learner_free(l);
}

/* Stages deal rows in another way: under one ticket both would read a row twice for one charge. */
/* Half a million records in a thousand cells: the sums fit the grid of the noise. */
static void large_tables_are_released(void **state) {
    enum { MANY = 2000 };
    const fixture *f = *state;
    tacet_contextual_learner *l = NULL;
    tacet_noise *noise = NULL;
    static double values[MANY];
    double sd = 0;
    values[0] = 1 << 19;
    assert_ok(tacet_contextual_learner_create(&l, f->basis, &f->settings, NULL));
    assert_ok(tacet_noise_open_seeded(&noise, 1, 0, NULL));
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "model", .to_whom = "anyone"};
    tacet__parts parts = {.learner = l, .ask = &ask, .what = "model", .records = 1 << 19};
    const tacet__parts_vector v = {.name = "table",
                                   .values = values,
                                   .count = MANY,
                                   .radius = 1 << 19,
                                   .diameter = 2,
                                   .proof = "src/contextual/README.md"};
    assert_ok(tacet__parts_count(&parts, values, &sd, &v, NULL));
    assert_true(fabs(values[0] - (1 << 19)) < 60 && fabs(values[1]) < 60 && sd < 3); /* e^-30 */
    tacet_noise_close(noise);
    tacet_contextual_learner_free(l);
}

static void a_ticket_keeps_its_form(void **state) {
    const fixture *f = *state;
    char folder[200], path[300];
    tacet_ledger_settings s;
    tacet_ledger *ledger = NULL;
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacet_ledger_settings_defaults(&s);
    s.accounting = TACET_ACCOUNTING_BASIC;
    s.eps = 2;
    s.delta = 0;
    s.create = true;
    assert_ok(tacet_ledger_open(&ledger, path, &s, NULL));
    tacet_contextual_model *table = charged(f, ledger, "table", true, TACET_CONTEXTUAL_SKEWED, TACET_OK);
    assert_null(charged(f, ledger, "table", false, TACET_CONTEXTUAL_SKEWED, TACET_CONFLICT));
    assert_null(charged(f, ledger, "table", true, TACET_CONTEXTUAL_SYMMETRIC, TACET_CONFLICT));
    same(table, charged(f, ledger, "table", true, TACET_CONTEXTUAL_SKEWED, TACET_OK));
    tacet_contextual_model *stages = charged(f, ledger, "stages", false, TACET_CONTEXTUAL_SKEWED, TACET_OK);
    same(stages, charged(f, ledger, "stages", true, TACET_CONTEXTUAL_SKEWED, TACET_OK));
    assert_null(charged(f, ledger, "third", true, TACET_CONTEXTUAL_SKEWED, TACET_BUDGET));
    tacet_ledger_close(ledger);
    test_rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_record_moves_it_by_more_than_two),
                                       cmocka_unit_test(its_cells_are_those_of_a_plain_count),
                                       cmocka_unit_test(cells_without_effects_are_drawn_together),
                                       cmocka_unit_test(what_is_stated_holds),
                                       cmocka_unit_test(empty_cells_follow_the_others),
                                       cmocka_unit_test(its_noise_is_paid_for),
                                       cmocka_unit_test(large_tables_are_released),
                                       cmocka_unit_test(a_ticket_keeps_its_form)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
