/* SPDX-License-Identifier: Apache-2.0 */
/* test_averaging.c - the modeler that needs no tuning: conformance; posterior, weights and evidence against dense
 * solves; shrinkage; that it finds what is there, and does as chance does where nothing is; the band of chance. Seeds
 * are fixed; the limits of the statistical tests lie four standard errors or more from what is expected. */
#include "support/conformance.h"
#include "support/dense.h"
#include "support/test.h"

#include "core/numbers.h"

#include "outsourced/open/averaging_kernel.h"
#include "outsourced/open/averaging_state.h"

#include <malloc.h>
#include <time.h>

#include <tacet/core/simrng.h>
#include "outsourced/open/modeler_internal.h"

enum { ROWS = 700, D = 3, ROUNDS = 16 };

typedef struct fixture {
    double truth[D * ROWS], rows[D * ROWS], values[ROWS];
    double low[D], high[D], spread[D];
    tacet_modeler_settings settings;
} fixture;

static void settings_of(tacet_modeler_settings *s, const double *rows, size_t d, size_t n, size_t horizon) {
    tacet_modeler_settings_defaults(s);
    s->rows = rows;
    s->ld = s->d = d;
    s->n = n;
    s->horizon = horizon;
}

static void fill(fixture *f, double scale, uint64_t seed) {
    tacet_simrng rng = test_rng(seed, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double square = 0;
        for (size_t a = 0; a < D; a++) {
            const double x = 10 * tacet_simrng_uniform(&rng);
            f->truth[i * D + a] = x;
            f->rows[i * D + a] = x + scale * tacet_simrng_normal(&rng);
            square += (x - 2 - 2 * (double)a) * (x - 2 - 2 * (double)a);
        }
        f->values[i] = 30 * exp(-square / 30) + 0.3 * tacet_simrng_normal(&rng);
    }
    for (size_t a = 0; a < D; a++) {
        f->low[a] = 0;
        f->high[a] = 10;
        f->spread[a] = scale;
    }
    settings_of(&f->settings, f->rows, D, ROWS, ROUNDS);
    f->settings.low = f->low;
    f->settings.high = f->high;
    f->settings.spread = f->spread;
    f->settings.random_first = 6;
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    return tacet_modeler_create(out, &((fixture *)user)->settings, err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    tacet_modeler_settings other = ((fixture *)user)->settings;
    other.seed++;
    return tacet_modeler_create(out, &other, err);
}

static double value(void *user, size_t k, const tacet_suggestion *suggestion) {
    (void)k;
    return ((fixture *)user)->values[suggestion->index];
}

TEST(is_a_policy_like_the_others) {
    static fixture f;
    fill(&f, 0.5, 1);
    const size_t initial[] = {5, 77};
    f.settings.initial = initial;
    f.settings.initial_count = 2;
    conformance_problem problem = {
        .create = create, .create_foreign = create_foreign, .value = value, .user = &f, .rounds = ROUNDS};
    test_policy_conformance(&problem);
    f.settings.known_noise_var = 1; /* the draws are made anew when the count doubles */
    test_policy_conformance(&problem);
}

/* One round. */
static size_t play_one(tacet_policy *policy, const double *values) {
    tacet_suggestion s;
    assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
    assert_ok(tacet_policy_observe(policy, s.ticket, values[s.index], NULL));
    return s.index;
}

/* Plays `rounds` rounds; returns the best value. */
static double play(const double *values, tacet_policy *policy, size_t rounds) {
    double best = -INFINITY;
    for (size_t t = 0; t < rounds; t++) {
        best = fmax(best, values[play_one(policy, values)]);
    }
    return best;
}

/* The best of so many random rows: its mean, and what it exceeds once in 20 times, of a thousand draws. */
static void best_of_random(double *mean, double *high, const double *values, size_t count) {
    static double best[1000];
    size_t rows[ROWS];
    tacet_simrng rng = test_rng(88, 0);
    *mean = 0;
    for (size_t k = 0; k < 1000; k++) {
        best[k] = -INFINITY;
        for (size_t i = 0; i < ROWS; i++) {
            rows[i] = i;
        }
        for (size_t i = 0; i < count; i++) {
            const size_t at = i + tacet_simrng_below(&rng, ROWS - i), row = rows[at];
            rows[at] = rows[i];
            best[k] = fmax(best[k], values[row]);
        }
        *mean += best[k] / 1000;
    }
    tacet__sort(best, 1000);
    *high = best[949];
}

static double matern(const tacet__averaging *l, const tacet__draw *r, size_t i, size_t j) {
    double square = 0;
    for (size_t a = 0; a < l->d; a++) {
        const double u = (l->x[(r->first + a) * l->n + i] - l->x[(r->first + a) * l->n + j]) * r->inverse[a];
        square += u * u;
    }
    const double s = sqrt(5 * square);
    return (1 + s + s * s / 3) * exp(-s);
}

static void covariance(double *K, const tacet__averaging *l, const tacet__draw *r) {
    for (size_t i = 0; i < l->count; i++) {
        for (size_t j = 0; j < l->count; j++) {
            K[j * l->count + i] = matern(l, r, l->rows[i], l->rows[j]) + (i == j ? r->nugget + l->shares[i] : 0);
        }
    }
}

/* 1' A^-1 b and the like. */
static double form(const double *K, const double *a, const double *b, size_t t) {
    double A[ROUNDS * ROUNDS];
    double x[ROUNDS];
    memcpy(A, K, t * t * sizeof *A);
    memcpy(x, b, t * sizeof *x);
    dense_solve(A, x, t, 1);
    double sum = 0;
    for (size_t i = 0; i < t; i++) {
        sum += a[i] * x[i];
    }
    return sum;
}

/* By quadrature: mean of max(0, v - best), v ~ N(mean, sd^2). */
static double improvement(double mean, double sd, double best) {
    double sum = 0;
    const double step = 1e-3;
    for (double z = -9; z < 9; z += step) {
        sum += step * exp(-0.5 * z * z) / sqrt(2 * acos(-1)) * fmax(0, mean + sd * z - best);
    }
    return sum;
}

/* Where it is far from every row, too: the order of hopeless rows is still an order. z <= 0 by sd (phi + z Phi), which
 * cancels: in long double. */
TEST(improves_as_erfc_says) {
    for (double z = -12; z <= 12; z += 0.037) {
        const long double a = z;
        const long double density = expl(-0.5L * a * a) / sqrtl(2 * acosl(-1));
        const long double want = density + a * 0.5L * erfcl(-a / sqrtl(2));
        assert_close(tacet__improvement(3 * z, 3), (double)(3 * want), 1e-11 * (double)(3 * want));
    }
    assert_true(tacet__improvement(-38, 1) >= 0 && tacet__improvement(-38, 1) < 1e-300);
}

static void check_against_dense(tacet__averaging *l) {
    double K[ROUNDS * ROUNDS];
    double ones[ROUNDS], k[ROUNDS], centred[ROUNDS];
    const size_t t = l->count;
    const size_t looked_at[] = {0, 511, 512, 699};
    double score[4] = {0}, moment[4] = {0};
    double best = -INFINITY;
    for (size_t i = 0; i < t; i++) {
        ones[i] = 1;
        best = fmax(best, l->y[i]);
    }
    double log_sum = 0;
    double top = -INFINITY;
    double left_out = -INFINITY;
    for (size_t m = 0; m < l->draw_count; m++) {
        const tacet__draw *r = &l->draws[m];
        covariance(K, l, r);
        const double oo = form(K, ones, ones, t);
        const double mean = form(K, ones, l->y, t) / oo;
        const double rss = form(K, l->y, l->y, t) - mean * mean * oo;
        double copy[ROUNDS * ROUNDS];
        memcpy(copy, K, sizeof copy);
        const double nu = 1 + 0.5 * (double)(t - 1);
        const double fit = -0.5 * dense_logdet(copy, t) - 0.5 * log(oo) - nu * log(1 + 0.5 * rss);
        if (!r->out) {
            assert_close(r->fit, fit, 1e-6 * (1 + fabs(fit)));
            assert_close(r->s2, (1 + 0.5 * rss) / nu, 1e-6 * r->s2);
        }
        left_out = r->out ? fmax(left_out, fit) : left_out;
        top = fmax(top, fit);
    }
    assert_true(left_out < top - 10); /* what was left out does not come back */
    for (size_t b = 0; b < l->best_count; b++) {
        const tacet__draw *r = &l->draws[l->best[b]];
        assert_true(r->fit >= top + log(0.01) - 1e-6);
        log_sum += exp(r->fit - top);
        covariance(K, l, r);
        const double oo = form(K, ones, ones, t);
        for (size_t i = 0; i < t; i++) {
            centred[i] = l->y[i] - r->mean;
        }
        for (size_t q = 0; q < 4; q++) {
            for (size_t i = 0; i < t; i++) {
                k[i] = matern(l, r, looked_at[q], l->rows[i]);
            }
            const double mean = r->mean + form(K, k, centred, t);
            const double gap = 1 - form(K, ones, k, t);
            const double v = r->s2 * (1 - form(K, k, k, t) + gap * gap / oo);
            score[q] += l->weight[b] * improvement(mean, sqrt(v + r->s2 * r->nugget), best);
            moment[q] += l->weight[b] * mean;
        }
    }
    assert_close(l->weight[0], 1 / log_sum, 1e-6);
    tacet__averaging_sweep(l, best);
    for (size_t q = 0; q < 4; q++) {
        assert_close(l->moment[looked_at[q]], moment[q], 1e-4);
        assert_close(l->score[looked_at[q]], score[q], 1e-4);
    }
}

TEST(says_what_dense_solves_say) {
    static fixture f;
    OWN_POLICY tacet_policy *policy = NULL;
    tacet_modeler_knowledge knowledge;
    fill(&f, 0.5, 2);
    assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
    tacet__averaging *l = tacet__averaging_of(policy);
    for (size_t t = 6; t <= ROUNDS; t += 5) {
        (void)play(f.values, policy, t == 6 ? 6 : 5);
        assert_ok(tacet_modeler_tell(policy, &knowledge, NULL));
        check_against_dense(l);
    }
}

/* Without shelves every row is solved from the start: the same choices, the same means. */
TEST(needs_no_memory_of_earlier_rounds) {
    static fixture f;
    tacet_policy *policies[2] = {NULL, NULL};
    fill(&f, 0.5, 3);
    for (int k = 0; k < 2; k++) {
        assert_ok(tacet_modeler_create(&policies[k], &f.settings, NULL));
        if (k == 1) {
            tacet__averaging_of(policies[k])->shelf_count = 0;
        }
        (void)play(f.values, policies[k], ROUNDS);
    }
    tacet__averaging *a = tacet__averaging_of(policies[0]);
    tacet__averaging *b = tacet__averaging_of(policies[1]);
    assert_memory_equal(a->rows, b->rows, ROUNDS * sizeof *a->rows);
    tacet__averaging_fit(a);
    tacet__averaging_fit(b);
    tacet__averaging_sweep(a, 1);
    tacet__averaging_sweep(b, 1);
    for (size_t i = 0; i < ROWS; i++) {
        assert_close(a->moment[i], b->moment[i], 1e-12);
    }
    tacet_policy_free(policies[0]);
    tacet_policy_free(policies[1]);
}

/* More rows than are looked at every round. `x` and the settings are the caller's. */
static void fill_many(tacet_modeler_settings *s, double *x, size_t n, size_t horizon) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 11, 0);
    for (size_t i = 0; i < 2 * n; i++) {
        x[i] = tacet_simrng_uniform(&rng);
    }
    settings_of(s, x, 2, n, horizon);
    s->random_first = 6;
}

/* One hill. */
static double height(const double *x, size_t row) {
    return exp(-8 * ((x[2 * row] - 0.7) * (x[2 * row] - 0.7) + (x[2 * row + 1] - 0.2) * (x[2 * row + 1] - 0.2)));
}

/* Which rows are looked at depends on the values alone: not on who looked meanwhile, nor on a stop. */
TEST(many_rows_are_listed_by_the_values_alone) {
    enum { MANY_ROWS = TACET__AVERAGING_LISTED + 3000, LAST = 26, STOP = 17 };
    static double x[2 * MANY_ROWS];
    size_t rows[2][LAST];
    tacet_modeler_settings s;
    tacet_blob blob = {0};
    fill_many(&s, x, MANY_ROWS, LAST);
    double best = 0;
    for (int k = 0; k < 2; k++) {
        tacet_policy *policy = NULL;
        tacet_modeler_knowledge known;
        assert_ok(tacet_modeler_create(&policy, &s, NULL));
        for (size_t t = 0; t < LAST; t++) {
            tacet_suggestion next;
            if (k == 1 && t == STOP) {
                assert_ok(tacet_policy_save(policy, &blob, NULL));
                tacet_policy_free(policy);
                assert_ok(tacet_modeler_create(&policy, &s, NULL));
                assert_ok(tacet_policy_load(policy, blob.data, blob.size, NULL));
            }
            assert_ok(tacet_policy_suggest(policy, &next, NULL, NULL));
            rows[k][t] = next.index;
            best = fmax(best, height(x, next.index));
            assert_ok(tacet_policy_observe(policy, next.ticket, height(x, next.index), NULL));
            if (k == 1 && t % 3 == 0) {
                assert_ok(tacet_modeler_tell(policy, &known, NULL));
            }
        }
        tacet_policy_free(policy);
    }
    tacet_blob_clear(&blob);
    assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
    assert_true(best > 0.999);
}

/* Good rows crowd into a corner of a lattice on a linear scale; what tells them apart is the logarithm. */
TEST(a_crowded_corner_is_searched_as_well_as_an_even_table) {
    enum { SIDE = 30, QUERIES = 40, RUNS = 6 };
    static double rows[2 * SIDE * SIDE], values[SIDE * SIDE];
    const double low[2] = {0, 0};
    const double high[2] = {1, 1};
    size_t found = 0;
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        rows[2 * i] = exp2(-(double)(i % SIDE) / 2);
        rows[2 * i + 1] = exp2(-(double)(i / SIDE) / 2);
        const double a = (double)(i % SIDE) - 21;
        const double b = (double)(i / SIDE) - 17;
        values[i] = -a * a - b * b;
    }
    for (size_t run = 0; run < RUNS; run++) {
        tacet_modeler_settings s;
        OWN_POLICY tacet_policy *policy = NULL;
        settings_of(&s, rows, 2, SIDE * SIDE, QUERIES);
        s.low = low;
        s.high = high;
        s.spread = (const double[]){1e-6, 1e-6};
        s.seed = run;
        assert_ok(tacet_modeler_create(&policy, &s, NULL));
        found += play(values, policy, QUERIES) > -2.5 ? 1 : 0; /* within one step: 9 of 900 rows, a third at random */
    }
    print_message("found in %zu of %d runs\n", found, (int)RUNS);
    assert_true(found == RUNS);
}

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of a search, and of its last rounds; bytes that the policy takes. */
static void cost_of(size_t n, size_t horizon, double *all, double *last, double *bytes) {
    tacet_modeler_settings s;
    OWN_MEMORY double *x = malloc(2 * n * sizeof *x);
    assert_non_null(x);
    fill_many(&s, x, n, horizon);
    *all = *last = INFINITY;
    for (int repeat = 0; repeat < 2; repeat++) { /* the shorter: somebody else's work is not ours */
        OWN_POLICY tacet_policy *policy = NULL;
        const struct mallinfo2 before = mallinfo2();
        double sum = 0, end = 0;
        assert_ok(tacet_modeler_create(&policy, &s, NULL));
        const struct mallinfo2 after = mallinfo2();
        *bytes = (double)(after.uordblks + after.hblkhd) - (double)(before.uordblks + before.hblkhd);
        for (size_t t = 0; t < horizon; t++) {
            tacet_suggestion next;
            const double start = seconds();
            assert_ok(tacet_policy_suggest(policy, &next, NULL, NULL));
            assert_ok(tacet_policy_observe(policy, next.ticket, height(x, next.index), NULL));
            sum += seconds() - start;
            end += t + 8 >= horizon ? seconds() - start : 0;
        }
        *all = fmin(*all, sum);
        *last = fmin(*last, end);
    }
}

/* Ten times the rows are at most ten times the work, four times the questions at most 4.5 times a round. Processor time
 * of one thread; another's work still takes its caches, so each bar must be met once in four tries: what is too slow by
 * itself fails all of them. */
TEST(what_a_round_costs_grows_no_faster_than_rows_and_values) {
    bool by_rows = false, by_questions = false;
    if (test_slow()) {
        return;
    }
    for (int tries = 0; tries < 4 && !(by_rows && by_questions); tries++) {
        double all[2], last[2], bytes[2];
        cost_of(40000, 24, &all[0], &last[0], &bytes[0]);
        cost_of(400000, 24, &all[1], &last[1], &bytes[1]);
        assert_true((bytes[1] - bytes[0]) / 360000 < 200);
        by_rows = by_rows || all[1] < 10 * all[0];
        print_message("ten times the rows: %.1f times the work, %.0f bytes a row", all[1] / all[0],
                      (bytes[1] - bytes[0]) / 360000);
        cost_of(16000, 30, &all[0], &last[0], &bytes[0]);
        cost_of(16000, 120, &all[1], &last[1], &bytes[1]);
        by_questions = by_questions || last[1] < 4.5 * last[0];
        print_message("; four times the questions: %.1f times a round\n", last[1] / last[0]);
    }
    assert_true(by_rows && by_questions);
}

/* Mean squared distance of positions from the truth, before and after: for a uniform box and noise of its own variance
 * the best linear predictor halves it. */
TEST(takes_the_noise_out_of_positions) {
    static fixture f;
    const double sd = 10 / sqrt(12);
    fill(&f, sd, 4);
    OWN_POLICY tacet_policy *policy = NULL;
    assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
    const tacet__averaging *l = tacet__averaging_of(policy);
    double raw = 0;
    double shrunk = 0;
    for (size_t a = 0; a < D; a++) {
        /* x is in units of the spread that the noise leaves, of the box from 0 to 1. */
        double mean = 0;
        double square = 0;
        for (size_t i = 0; i < ROWS; i++) {
            mean += f.rows[i * D + a] / ROWS;
            square += f.rows[i * D + a] * f.rows[i * D + a] / ROWS;
        }
        const double spread = sqrt(square - mean * mean - sd * sd);
        for (size_t i = 0; i < ROWS; i++) {
            const double at = l->x[a * ROWS + i] * spread;
            raw += pow(f.rows[i * D + a] - f.truth[i * D + a], 2);
            shrunk += pow(at - f.truth[i * D + a], 2);
        }
    }
    assert_true(shrunk < 0.6 * raw);
}

TEST(finds_what_is_there_and_says_so) {
    static fixture f;
    fill(&f, 0.5, 5);
    f.settings.horizon = 40;
    f.settings.random_first = 10;
    OWN_POLICY tacet_policy *policy = NULL;
    tacet_modeler_knowledge k;
    tacet_recommendation r;
    double mean = 0, high = 0;
    assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
    assert_string_equal(tacet_policy_name(policy), "averaging");
    assert_status(tacet_policy_recommend(policy, &r, NULL), TACET_STATE);
    const double best = play(f.values, policy, 40);
    best_of_random(&mean, &high, f.values, 40);
    assert_true(best >= high);
    assert_ok(tacet_modeler_tell(policy, &k, NULL));
    assert_true(k.log_bayes_factor > 10);
    assert_true(k.next_low < k.next_mean && k.next_mean < k.next_high);
    assert_true(k.next_low <= f.values[k.next_row] && f.values[k.next_row] <= k.next_high);
    assert_ok(tacet_policy_recommend(policy, &r, NULL));
    assert_close(r.measured_value, best, 0);
    assert_true(r.mean >= best - 1e-9);
}

/* 30 tables of values unrelated to the rows: the share of chance has mean 1; its spread over tables is below .5. Of 30
 * intervals that hold in 9 of 10 cases fewer than 22 hold once in 400 times. */
TEST(does_as_chance_does_where_nothing_is) {
    static fixture f;
    double share = 0;
    size_t believed = 0;
    size_t held = 0;
    const size_t tables = test_slow() ? 2 : 30;
    for (size_t k = 0; k < tables; k++) {
        OWN_POLICY tacet_policy *policy = NULL;
        tacet_modeler_knowledge known;
        double mean = 0, high = 0;
        double top = -INFINITY;
        tacet_simrng rng;
        fill(&f, 0.5, 100 + k);
        tacet_simrng_init(&rng, 6, k);
        for (size_t i = 0; i < ROWS; i++) {
            f.values[i] = tacet_simrng_normal(&rng);
            top = fmax(top, f.values[i]);
        }
        f.settings.horizon = 40;
        f.settings.random_first = 10;
        f.settings.seed = k;
        assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
        const double best = play(f.values, policy, 40);
        best_of_random(&mean, &high, f.values, 40);
        share += (top - best) / (top - mean) / (double)tables;
        assert_ok(tacet_modeler_tell(policy, &known, NULL));
        believed += known.log_bayes_factor > 3 ? 1 : 0;
        held += known.next_low <= f.values[known.next_row] && f.values[known.next_row] <= known.next_high ? 1 : 0;
        assert_true(known.next_high - known.next_low < 8); /* the values' own middle 90 % is 3.3 wide */
    }
    if (!test_slow()) {
        assert_true(share > 0.6 && share < 1.4);
        assert_true(believed <= 3);
        assert_true(held >= 22);
    }
}

TEST(a_row_that_cannot_be_measured_is_not_asked_again) {
    static fixture f;
    tacet_suggestion s;
    fill(&f, 0.5, 7);
    OWN_POLICY tacet_policy *policy = NULL;
    assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
    bool failed[ROWS] = {false};
    for (size_t t = 0; t < ROUNDS; t++) {
        for (int again = 0; again < 2; again++) {
            assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
            assert_false(failed[s.index]);
            if (again == 0) {
                failed[s.index] = true;
                assert_ok(tacet_policy_drop(policy, s.ticket, NULL));
                assert_status(tacet_policy_drop(policy, s.ticket, NULL), TACET_CONFLICT);
                assert_status(tacet_policy_observe(policy, s.ticket, 1, NULL), TACET_CONFLICT);
            }
        }
        assert_ok(tacet_policy_observe(policy, s.ticket, f.values[s.index], NULL));
    }
    assert_status(tacet_policy_suggest(policy, &s, NULL, NULL), TACET_STATE);
}

/* One measurement is far off: known noise keeps it from being believed, unknown noise does not. */
TEST(known_noise_is_not_mistaken_for_value) {
    static fixture f;
    fill(&f, 0, 8);
    f.settings.horizon = 40;
    f.settings.random_first = 40;
    for (int k = 0; k < 2; k++) {
        OWN_POLICY tacet_policy *policy = NULL;
        tacet_recommendation r;
        tacet_simrng rng = test_rng(9, 0);
        f.settings.known_noise_var = k == 0 ? 0 : 36;
        assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
        for (size_t t = 0; t < 40; t++) {
            tacet_suggestion s;
            assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
            const double off = t == 20 ? 25 : 6 * tacet_simrng_normal(&rng);
            assert_ok(tacet_policy_observe(policy, s.ticket, f.values[s.index] + off, NULL));
        }
        assert_ok(tacet_policy_recommend(policy, &r, NULL));
        if (k == 0) {
            assert_close(r.mean, r.measured_value, 1e-9);
        } else {
            assert_true(r.mean < r.measured_value - 3);
            assert_true(r.sd > 0);
        }
    }
}

TEST(takes_fifty_columns_and_constant_ones) {
    enum { N = 300, WIDE = 50 };
    static double rows[N * WIDE];
    double values[N];
    tacet_simrng rng = test_rng(10, 0);
    for (size_t i = 0; i < N; i++) {
        values[i] = 0;
        for (size_t a = 0; a < WIDE; a++) {
            rows[i * WIDE + a] = a == 7 ? 3 : tacet_simrng_normal(&rng);
            values[i] += a < 25 ? rows[i * WIDE + a] : 0;
        }
    }
    tacet_modeler_settings s;
    OWN_POLICY tacet_policy *policy = NULL;
    settings_of(&s, rows, WIDE, N, 40);
    assert_ok(tacet_modeler_create(&policy, &s, NULL));
    assert_true(play(values, policy, 40) > 0);
}

TEST(equal_values_are_no_reason_to_stop) {
    static fixture f;
    fill(&f, 0.5, 11);
    for (size_t i = 0; i < ROWS; i++) {
        f.values[i] = i % 50 == 0 ? 1 : 0;
    }
    OWN_POLICY tacet_policy *policy = NULL;
    tacet_recommendation r;
    assert_ok(tacet_modeler_create(&policy, &f.settings, NULL));
    (void)play(f.values, policy, ROUNDS);
    assert_ok(tacet_policy_recommend(policy, &r, NULL));
    assert_true(isfinite(r.mean) && isfinite(r.sd));
}

TEST(bad_settings_are_refused) {
    static fixture f;
    tacet_policy *policy = NULL;
    fill(&f, 0.5, 12);
    const tacet_modeler_settings good = f.settings;
    const size_t twice[] = {3, 3};
    const double unknown[] = {NAN, 0, 0};
#define REFUSED(change, expected)                                                                                      \
    do {                                                                                                               \
        tacet_modeler_settings s = good;                                                                               \
        change;                                                                                                        \
        assert_status(tacet_modeler_create(&policy, &s, NULL), expected);                                              \
        assert_null(policy);                                                                                           \
    } while (0)
    REFUSED(s.rows = NULL, TACET_INVALID);
    REFUSED(s.d = 0, TACET_INVALID);
    REFUSED(s.ld = 1, TACET_INVALID);
    REFUSED(s.spread = unknown, TACET_INVALID);
    REFUSED(s.known_noise_var = NAN, TACET_INVALID);
    REFUSED(s.horizon = 0, TACET_INVALID);
    REFUSED(s.horizon = ROWS + 1, TACET_INVALID);
    REFUSED((s.initial = twice, s.initial_count = 2), TACET_INVALID);
    f.rows[5] = INFINITY;
    REFUSED((void)0, TACET_INVALID);
    f.rows[5] = 0;
    f.high[1] = f.low[1];
    REFUSED((void)0, TACET_INVALID);
}

/* 380 rows in one corner have values that their places do not tell, 20 rows apart have the worst. A search that goes to
 * where it knows least asks most of those 20 among its 30 choices; at random 1.5 are expected. 12 runs, fixed seeds. */
TEST(what_is_told_by_nothing_is_asked_where_rows_are) {
    enum { N = 400, APART = 20, QUERIES = 40, RUNS = 12 };
    static double rows[2 * N];
    static double values[N];
    size_t far = 0;
    for (size_t run = 0; run < RUNS; run++) {
        tacet_simrng rng = test_rng(31, run);
        for (size_t i = 0; i < N; i++) {
            const double wide = i < APART ? 20 : 1;
            rows[2 * i] = wide * tacet_simrng_uniform(&rng) + 0.5 * tacet_simrng_normal(&rng);
            rows[2 * i + 1] = wide * tacet_simrng_uniform(&rng) + 0.5 * tacet_simrng_normal(&rng);
            values[i] = i < APART ? 0 : tacet_simrng_uniform(&rng);
        }
        const double low[2] = {0, 0};
        const double high[2] = {20, 20};
        tacet_modeler_settings s;
        settings_of(&s, rows, 2, N, QUERIES);
        s.low = low;
        s.high = high;
        s.spread = (const double[]){0.5, 0.5};
        s.seed = run;
        OWN_POLICY tacet_policy *policy = NULL;
        assert_ok(tacet_modeler_create(&policy, &s, NULL));
        for (size_t t = 0; t < QUERIES; t++) {
            const size_t row = play_one(policy, values);
            far += t >= 10 && row < APART ? 1 : 0;
        }
    }
    print_message("%zu rows apart in %d runs\n", far, (int)RUNS);
    assert_true(far <= 3 * RUNS);
    assert_close(tacet__averaging_doubt(1), 0.5, 1e-12);
    assert_true(tacet__averaging_doubt(-2) > 0.99 && tacet__averaging_doubt(4) < 0.01);
}

/* Ten values of a law and forty others, 2,000 times, for laws with light, heavy and no tails, and one with many ties:
 * the best of the forty reaches what it is said to at least as often as said, and for laws without ties no more often;
 * "by luck" is below .05 at most as often. Limits at four standard errors (seed fixed; a false alarm in 10^4 seeds). */
TEST(what_chance_reaches_holds_for_every_law) {
    tacet_simrng rng;
    tacet_chance c;
    tacet_simrng_init(&rng, 13, 0);
    const double times = test_slow() ? 200 : 2000;
    for (int law = 0; law < 4; law++) {
        double likely = 0;
        double best_too = 0;
        double lucky = 0;
        for (size_t k = 0; k < (size_t)times; k++) {
            double seen[50];
            double best = INFINITY;
            for (size_t i = 0; i < 50; i++) {
                const double z = tacet_simrng_normal(&rng);
                seen[i] = law == 0 ? z : law == 1 ? -exp(2 * z) : law == 2 ? tacet_simrng_uniform(&rng) : floor(2 * z);
                best = i >= 10 ? fmin(best, seen[i]) : best;
            }
            assert_ok(tacet_chance_tell(&c, seen, 10, seen + 10, 40, 40, true, NULL));
            assert_true(c.best <= c.likely); /* minimizing: better is less */
            likely += best <= c.likely ? 1 : 0;
            best_too += best <= c.best ? 1 : 0;
            lucky += c.by_luck < 0.05 ? 1 : 0;
        }
        const double se = 4 / sqrt(times);
        assert_true(likely / times >= c.likely_share - se * sqrt(c.likely_share * (1 - c.likely_share)));
        assert_true(best_too / times >= c.best_share - se * 0.4);
        assert_true(lucky / times <= 0.05 + se * 0.22);
        if (law < 3) {
            assert_true(likely / times <= c.likely_share + se * sqrt(c.likely_share * (1 - c.likely_share)));
            assert_true(best_too / times <= c.best_share + se * 0.4);
        }
    }
    assert_close(c.likely_share, 1 - 10.0 / 50 * 9 / 49, 1e-12);
    assert_close(c.best_share, 0.8, 1e-12);
}

/* Two of three chosen ones are better than both random ones: C(3, 2) / C(5, 2). */
TEST(luck_is_counted_by_ranks) {
    const double random[] = {1, 2};
    const double chosen[] = {3, 2, 4};
    tacet_chance c;
    assert_ok(tacet_chance_tell(&c, random, 2, chosen, 3, 5, false, NULL));
    assert_int_equal(c.better, 2);
    assert_close(c.by_luck, 0.3, 1e-12);
    assert_close(c.best, 2, 0);
    assert_close(c.best_share, 5.0 / 7, 1e-12);
    assert_close(c.likely, 1, 0); /* two rows cannot tell more */
    assert_close(c.likely_share, 1 - 1.0 / 21, 1e-12);
    assert_status(tacet_chance_tell(&c, random, 0, chosen, 3, 5, false, NULL), TACET_STATE);
    assert_status(tacet_chance_tell(&c, random, 2, chosen, 3, 0, false, NULL), TACET_STATE);
}
