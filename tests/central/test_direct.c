/* SPDX-License-Identifier: Apache-2.0 */
/* test_direct.c - rewards that are released one by one: what moves a number and by how much, tickets, the ledger,
 * restarts, and that it finds something. */
#include "space/internal.h"
#include "central/trusted/direct_internal.h"
#include "space/lattice.h"
#include "support/conformance.h"
#include "support/gate.h"
#include "support/test.h"

#include "central/trusted/direct.h"
#include <tacet/core/simrng.h>

static const char SPACE[] = "{\"columns\":[{\"name\":\"x\",\"kind\":\"real\",\"bounds\":[-2,3]},"
                            "{\"name\":\"n\",\"kind\":\"integer\",\"bounds\":[1,6]},"
                            "{\"name\":\"k\",\"kind\":\"category\",\"levels\":[\"a\",\"b\",\"c\"]}]}";
static tacet_space space;
static const tacet_central_arms all = {.space = &space};

static int setup(void **state) {
    assert_ok(tacet_space_decode(&space, SPACE, strlen(SPACE), NULL));
    return 0;
}

static int teardown(void **state) {
    tacet_space_clear(&space);
    return 0;
}

static tacet_central_direct_settings settings_for_tests(void) {
    tacet_central_direct_settings s;
    tacet_central_direct_settings_defaults(&s);
    s.eps = 2;
    s.rounds = 12;
    s.open_most = 12;
    return s;
}

static tacet_policy *make(const tacet_central_direct_settings *s) {
    tacet_policy *policy = NULL;
    const tacet_ask ask = test_ask(3, 0);
    assert_ok(tacet_central_direct_policy(&policy, &all, s, &ask, NULL));
    tacet_noise_close(ask.noise);
    return policy;
}

/* Every code is a record of the space, and a record finds its code. */
TEST(a_lattice_names_records) {
    tacet__lattice l;
    assert_true(tacet__lattice_init(&l, &space));
    assert_int_equal(l.points, (uint64_t)1024 * 1024 * 3);
    for (uint64_t code = 0; code < l.points; code += 99991) {
        double record[3];
        tacet__lattice_record(&l, record, code);
        for (size_t i = 0; i < 3; i++) {
            assert_true(tacet_space_holds(&space.columns[i], record[i]));
        }
        double again[3];
        tacet__lattice_record(&l, again, tacet__lattice_code(&l, record));
        assert_memory_equal(record, again, sizeof record);
    }
}

/* Plays one round with this report (NaN: given up); the number that was released for it. */
static double released(double report) {
    tacet_central_direct_settings s = settings_for_tests();
    s.rounds = 1;
    tacet_policy *policy = make(&s);
    tacet_suggestion got;
    assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
    assert_ok(isnan(report) ? tacet_policy_drop(policy, got.ticket, NULL)
                            : tacet_policy_observe(policy, got.ticket, report, NULL));
    const double value = tacet__direct_released(policy, 1);
    tacet_policy_free(policy);
    return value;
}

/* With the noise the same: from one end of the range to the other by 1, and by no more however far outside. */
TEST(a_reward_moves_its_number_by_at_most_one) {
    assert_close(released(1) - released(0), 1, 1e-8);
    assert_close(released(1e9) - released(-1e9), 1, 1e-8);
    assert_close(released(0.75) - released(0.25), 0.5, 1e-8);
}

TEST(a_round_that_never_reports_counts_as_a_half) {
    assert_close(released(NAN), released(0.5), 1e-8);
}

/* Laplace(1/eps): mean size 1/eps, variance 2/eps^2. 4,000 rounds, seeded; five standard errors or more of each
 * (0.016 and 0.035 of 0.5 and 0.5 at eps = 2), a false alarm has a chance below 1e-5. */
TEST(noise_is_laplace_of_one_over_eps) {
    tacet_central_direct_settings s = settings_for_tests();
    s.rounds = s.open_most = 4000;
    OWN_POLICY tacet_policy *policy = make(&s);
    double size = 0, square = 0;
    for (size_t t = 0; t < 4000; t++) {
        tacet_suggestion got;
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
    }
    for (uint64_t t = 1; t <= 4000; t++) { /* all at the end: nothing is learnt from, which would take long */
        assert_ok(tacet_policy_observe(policy, t, 0.25, NULL));
    }
    for (uint64_t t = 1; t <= 4000; t++) {
        const double noise = tacet__direct_released(policy, t) - 0.25;
        size += fabs(noise) / 4000;
        square += noise * noise / 4000;
    }
    assert_close(size, 0.5, 0.04);
    assert_close(square, 0.5, 0.09);
}

/* 48 rounds in visits of two: a third of the 24 points is spread out, then one is planned at a time. */
TEST(a_study_says_how_many_tickets_come_before_it_learns) {
    tacet_central_direct_settings s = settings_for_tests();
    s.rounds = s.open_most = 48;
    s.each = 2;
    OWN_POLICY tacet_policy *policy = make(&s);
    for (uint64_t t = 0; t < 48; t++) {
        const uint64_t left = t <= 16 ? 16 - t : t % 2;
        assert_int_equal(tacet_central_direct_tickets_left(policy), left);
        tacet_suggestion got;
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        assert_ok(tacet_policy_observe(policy, got.ticket, 0.5, NULL));
    }
    assert_int_equal(tacet_central_direct_tickets_left(policy), 0);
}

/* Plays 7 rounds in visits of 3 and 4 with these rewards for rounds 2, 5 and 7; the sums that were released. */
static void play_visits(double *sums, double second, double fifth, double last) {
    tacet_central_direct_settings s = settings_for_tests();
    s.rounds = 7;
    s.each = 3;
    OWN_POLICY tacet_policy *policy = make(&s);
    tacet_suggestion got;
    size_t at[2] = {0};
    for (uint64_t t = 1; t <= 7; t++) {
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        at[t > 3] = t == 1 || t == 4 ? got.index : at[t > 3];
        assert_int_equal(got.index, at[t > 3]);
    }
    for (uint64_t t = 7; t >= 1; t--) { /* the last report of a visit may be of any of its rounds */
        assert_true(isnan(tacet__direct_released(policy, 1)));
        assert_ok(tacet_policy_observe(policy, t, t == 2 ? second : t == 5 ? fifth : t == 7 ? last : 0.25, NULL));
        assert_int_equal(isnan(tacet__direct_released(policy, 7)), t > 4);
    }
    sums[0] = tacet__direct_released(policy, 3);
    sums[1] = tacet__direct_released(policy, 4);
}

/* A visit is one number, when all its rounds were reported: each reward moves its own by at most 1. */
TEST(rewards_of_a_visit_are_released_as_a_sum) {
    double a[2], b[2], c[2], d[2];
    play_visits(a, 0, 0.25, 0.25);
    play_visits(b, 1e9, 0.25, 0.25);
    play_visits(c, 0, 0.75, 0.25);
    play_visits(d, 0, 0.25, 1);
    assert_close(b[0] - a[0], 1, 1e-8);
    assert_true(b[1] == a[1]);
    assert_close(c[1] - a[1], 0.5, 1e-8);
    assert_close(d[1] - a[1], 0.75, 1e-8); /* the last visit has those that are left, too */
    assert_true(c[0] == a[0] && d[0] == a[0]);
}

/* Nothing that was not released decides anything: two worlds whose waiting rewards differ look the same. */
TEST(what_waits_is_not_learnt_from) {
    tacet_policy *worlds[2];
    tacet_recommendation best[2];
    for (int w = 0; w < 2; w++) {
        const tacet_central_direct_settings s = settings_for_tests();
        worlds[w] = make(&s);
        for (size_t t = 0; t < 6; t++) {
            tacet_suggestion got;
            assert_ok(tacet_policy_suggest(worlds[w], &got, NULL, NULL));
            assert_ok(tacet_policy_observe(worlds[w], got.ticket, t < 5 ? 0.4 : w, NULL));
        }
        assert_true(isnan(tacet__direct_released(worlds[w], 6)));
        assert_ok(tacet_policy_recommend(worlds[w], &best[w], NULL));
    }
    assert_int_equal(best[0].index, best[1].index);
    assert_true(best[0].mean == best[1].mean && best[0].sd == best[1].sd);
    tacet_policy_free(worlds[0]);
    tacet_policy_free(worlds[1]);
}

TEST(contexts_and_decision_sets_are_refused) {
    const tacet_central_direct_settings s = settings_for_tests();
    tacet_policy *policy = make(&s);
    const double x[3] = {0, 1, 2};
    const tacet_round set = {.points = x, .ld = 3, .d = 3, .count = 1}, context = {.context = x, .context_dim = 1};
    tacet_suggestion got;
    assert_status(tacet_policy_suggest(policy, &got, &set, NULL), TACET_INVALID);
    assert_status(tacet_policy_suggest(policy, &got, &context, NULL), TACET_INVALID);
    assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
    tacet_policy_free(policy);
    for (int k = 0; k < 11; k++) {
        tacet_central_direct_settings bad = s;
        const tacet_ask ask = test_ask(3, 0);
        bad.eps = k == 0 ? 0 : bad.eps;
        bad.rounds = k == 1 ? 0 : k == 2 ? TACET_CENTRAL_DIRECT_ROUNDS + 1 : bad.rounds;
        bad.open_most = k == 3 ? 0 : bad.open_most;
        bad.reward_hi = k == 4 ? -1 : k == 7 ? INFINITY : k == 8 ? NAN : bad.reward_hi;
        bad.reward_lo = k == 9 ? -INFINITY : bad.reward_lo;
        bad.earlier_count = k == 10 ? 1 : 0;
        bad.each = k == 5 ? 0 : k == 6 ? bad.rounds + 1 : bad.each;
        assert_status(tacet_central_direct_policy(&policy, &all, &bad, &ask, NULL), TACET_INVALID);
        assert_null(policy);
        tacet_noise_close(ask.noise);
    }
}

/* Beyond its horizon nothing is charged; a journal that names another round or point is not this study's. */
TEST(rounds_that_are_not_the_next_are_refused) {
    const tacet_central_direct_settings s = settings_for_tests();
    OWN_POLICY tacet_policy *policy = make(&s);
    tacet_suggestion got;
    assert_status(tacet_policy_repeat(policy, &(tacet_suggestion){.ticket = 2}, NULL, NULL), TACET_CORRUPT);
    assert_status(tacet_policy_repeat(policy, &(tacet_suggestion){.ticket = 1, .index = SIZE_MAX}, NULL, NULL),
                  TACET_CORRUPT);
    for (size_t t = 0; t < 12; t++) {
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        assert_ok(tacet_policy_observe(policy, got.ticket, 0.5, NULL));
    }
    assert_status(tacet_policy_suggest(policy, &got, NULL, NULL), TACET_STATE);
}

/* A number is in the ledger before it is used: an old state that reports something else is given the same one. All
 * rounds together cost eps, not a multiple of it. */
TEST(a_round_is_released_once) {
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_TEXT char *path = test_text("%s/ledger.db", folder);
    tacet_ledger_settings budget;
    tacet_ledger_settings_defaults(&budget);
    budget.eps = 2.1;
    budget.accounting = TACET_ACCOUNTING_BASIC;
    OWN_LEDGER tacet_ledger *ledger = NULL;
    assert_ok(tacet_ledger_open(&ledger, path, &budget, NULL));
    const tacet_central_direct_settings s = settings_for_tests();
    const tacet_ask ask = {.ledger = ledger, .ticket = "study", .what = "rewards", .to_whom = "all"};
    tacet_policy *policy = NULL, *old = NULL;
    tacet_suggestion got;
    OWN_BLOB tacet_blob saved;
    tacet_blob_init(&saved);
    assert_ok(tacet_central_direct_policy(&policy, &all, &s, &ask, NULL));
    assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    assert_ok(tacet_policy_observe(policy, 1, 1, NULL));
    assert_true(isnan(tacet__direct_released(policy, 1)));
    for (uint64_t t = 2; t <= 6; t++) {
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        assert_ok(tacet_policy_observe(policy, t, 0.5, NULL));
    }
    const double value = tacet__direct_released(policy, 1);
    /* What is released is kept by nobody: a reward like no other is in a state that waits, and not in the next. */
    const double mine = 0.625;
    for (size_t released = 0; released < 2; released++) {
        tacet_blob now;
        bool found = false;
        tacet_blob_init(&now);
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        assert_ok(tacet_policy_observe(policy, got.ticket, released == 0 ? mine : 0.5, NULL));
        assert_ok(tacet_policy_save(policy, &now, NULL));
        for (size_t i = 0; i + sizeof mine <= now.size; i++) {
            found = found || memcmp((const char *)now.data + i, &mine, sizeof mine) == 0;
        }
        assert_true(found == (released == 0));
        tacet_blob_clear(&now);
    }
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 7);
    assert_true(totals.eps >= 2 && totals.eps < 2.01 && totals.delta == 0);
    tacet_guarantee g;
    tacet_policy_guarantee(policy, &g);
    assert_true(g.proven && g.eps == 2 && g.delta == 0 && g.pure_eps == 2);
    tacet_central_direct_settings visits = s; /* a round costs the same when others are released with it */
    visits.each = 2;
    assert_ok(tacet_central_direct_policy(&old, &all, &visits, &ask, NULL));
    tacet_policy_guarantee(old, &g);
    assert_true(g.eps == 2 && g.pure_eps == 2);
    tacet_policy_free(old);
    assert_ok(tacet_central_direct_policy(&old, &all, &s, &ask, NULL));
    assert_ok(tacet_policy_load(old, saved.data, saved.size, NULL));
    assert_ok(tacet_policy_observe(old, 1, 0, NULL)); /* another reward this time */
    assert_ok(tacet_policy_suggest(old, &got, NULL, NULL));
    assert_true(tacet__direct_released(old, 1) == value);
    tacet_policy_free(policy);
    tacet_policy_free(old);
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    tacet_central_direct_settings s = settings_for_tests();
    const uint64_t *each = user;
    tacet_noise *noise = NULL;
    *out = NULL;
    s.each = *each;
    tacet_status status = tacet_noise_open_seeded(&noise, 7, 0, err);
    const tacet_ask ask = {.noise = noise, .ticket = "study", .what = "rewards", .to_whom = "all"};
    TACET_THEN(status, tacet_central_direct_policy(out, &all, &s, &ask, err));
    tacet_noise_close(noise);
    return status;
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    uint64_t foreign = *(uint64_t *)user + 1;
    return create(&foreign, out, err);
}

static double value(void *user, size_t k, const tacet_suggestion *s) {
    (void)user;
    return (double)((k * 7 + s->index) % 5) / 4;
}

TEST(conformance) {
    uint64_t each[2] = {1, 3};
    for (size_t i = 0; i < 2; i++) {
        const conformance_problem problem = {.create = create,
                                             .create_foreign = create_foreign,
                                             .value = value,
                                             .user = &each[i],
                                             .rounds = 11,
                                             .may_allocate = true};
        test_policy_conformance(&problem);
    }
}

/* Little noise: of points anywhere the best of 60 loses 0.05 here on average; the seed is fixed. */
TEST(it_finds_the_peak) {
    tacet_central_direct_settings s = settings_for_tests();
    s.eps = 1000;
    s.rounds = 60;
    OWN_POLICY tacet_policy *policy = make(&s);
    double record[3];
    for (size_t t = 0; t < 60; t++) {
        tacet_suggestion got;
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        assert_ok(tacet_central_direct_record(policy, record, got.index, NULL));
        const double mean =
            0.9 - 0.3 * pow(record[0] - 1.3, 2) - 0.02 * pow(record[1] - 4, 2) - 0.15 * (record[2] != 1);
        assert_ok(tacet_policy_observe(policy, got.ticket, mean, NULL));
    }
    tacet_recommendation best;
    assert_ok(tacet_policy_recommend(policy, &best, NULL));
    assert_ok(tacet_central_direct_record(policy, record, best.index, NULL));
    assert_close(record[0], 1.3, 0.15);
    assert_close(record[1], 4, 0);
    assert_close(record[2], 1, 0);
    assert_status(tacet_central_direct_record(policy, record, SIZE_MAX, NULL), TACET_INVALID);
}

/* What `study best` says of its point: the expected reward and its standard deviation. Peaks anywhere, of any width and
 * height, rewards of 0 or 1, two budgets. The point was chosen for its expected reward, which is therefore too high
 * more often than not: of 60 studies of 120 rounds 46 were within two deviations, 56 within three. */
TEST(the_stated_deviation_covers) {
    enum { STUDIES = 20, PLAYED = 60 };
    size_t two = 0, three = 0;
    for (uint64_t k = 0; k < STUDIES; k++) {
        tacet_simrng rng = test_rng(31, k);
        const double at = -2 + 5 * tacet_simrng_uniform(&rng), width = 0.5 + 2 * tacet_simrng_uniform(&rng);
        const double height = 0.2 + 0.6 * tacet_simrng_uniform(&rng), base = 0.1 * tacet_simrng_uniform(&rng);
        tacet_central_direct_settings s = settings_for_tests();
        s.eps = k % 2 == 0 ? 4 : 40;
        s.rounds = PLAYED;
        OWN_POLICY tacet_policy *policy = make(&s);
        tacet_recommendation best;
        double record[3];
        for (size_t t = 0; t <= PLAYED; t++) {
            tacet_suggestion got = {0};
            if (t < PLAYED) {
                assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
            } else {
                assert_ok(tacet_policy_recommend(policy, &best, NULL));
                got.index = best.index;
            }
            assert_ok(tacet_central_direct_record(policy, record, got.index, NULL));
            const double x = (record[0] - at) / width, n = (record[1] - 3) / 6;
            const double mean = base + height * exp(-x * x - n * n) * (record[2] == 1 ? 1 : 0.7);
            if (t < PLAYED) {
                assert_ok(tacet_policy_observe(policy, got.ticket, tacet_simrng_uniform(&rng) < mean ? 1 : 0, NULL));
            } else {
                two += fabs(best.mean - mean) <= 2 * best.sd ? 1 : 0;
                three += fabs(best.mean - mean) <= 3 * best.sd ? 1 : 0;
            }
        }
    }
    print_message("within two standard deviations %zu, three %zu of %d\n", two, three, STUDIES);
    assert_true(two >= 13 && three >= 17);
}

/* Public numbers decide: one round a point under little noise, the more the more noise there is, and where few points
 * remain it says so, and what would be needed. */
TEST(the_outlook_is_arithmetic) {
    tacet_central_outlook o, more;
    assert_ok(tacet_central_direct_outlook(&o, &all, 100, 100, NULL));
    assert_true(o.each == 1 && o.points == 100 && !o.even && o.gain > 0.2);
    uint64_t before = 1;
    double gain = o.gain;
    for (double eps = 10; eps > 0.05; eps /= 3) {
        assert_ok(tacet_central_direct_outlook(&o, &all, 100, eps, NULL));
        assert_true(o.each >= before && o.each <= 50 && o.gain < gain);
        before = o.each;
        gain = o.gain;
    }
    assert_true(before > 10);
    assert_ok(tacet_central_direct_outlook(&o, &all, 30, 1, NULL));
    assert_true(o.even && o.gain < 0.1 && o.rounds_needed > 30 && o.eps_needed > 1);
    assert_ok(tacet_central_direct_outlook(&more, &all, o.rounds_needed, 1, NULL));
    assert_false(more.even);
    assert_ok(tacet_central_direct_outlook(&more, &all, 30, o.eps_needed, NULL));
    assert_false(more.even);
    /* few combinations of levels: short visits, since each point is met again */
    static const char ARMS[] = "{\"columns\":[{\"name\":\"k\",\"kind\":\"category\",\"levels\":[\"a\",\"b\",\"c\"]}]}";
    tacet_space arms;
    tacet_space_init(&arms);
    assert_ok(tacet_space_decode(&arms, ARMS, strlen(ARMS), NULL));
    assert_ok(tacet_central_direct_outlook(&o, &(tacet_central_arms){.space = &arms}, 3000, 1, NULL));
    assert_ok(tacet_central_direct_outlook(&more, &all, 3000, 1, NULL));
    assert_true(!o.even && o.each < more.each && o.gain > 0 && o.gain < more.gain);
    tacet_space_clear(&arms);
    assert_ok(tacet_central_direct_outlook(&o, &all, 100000, 1000, NULL));
    assert_true(o.each == 25 && o.points == 4000); /* no more points than are kept */
    assert_status(tacet_central_direct_outlook(&o, &all, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_central_direct_outlook(&o, &all, 100001, 1, NULL), TACET_INVALID);
    assert_status(tacet_central_direct_outlook(&o, &all, 100, (double)NAN, NULL), TACET_INVALID);
}

/* A model names its kernel: one that it cannot name, or of other coordinates than the two of the points, is refused. */
static void only_some_kernels_have_models(const tacet_policy *policy, const double *points, size_t count) {
    static const struct {
        const char *name;
        size_t d, count;
        tacet_status status;
    } CASES[] = {{"matern52", 2, SIZE_MAX, TACET_OK},
                 {"se", 2, 0, TACET_INVALID},
                 {"linear", 2, SIZE_MAX, TACET_UNSUPPORTED},
                 {"matern72", 2, SIZE_MAX, TACET_UNSUPPORTED},
                 {"se", 1, SIZE_MAX, TACET_UNSUPPORTED}};
    const double lower[2] = {0, 0}, upper[2] = {100, 1};
    const tacet_contextual_parts about = {.lower = lower, .upper = upper, .listed = points, .listed_count = count};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        tacet_kernel_spec spec;
        tacet_kernel *kernel = NULL;
        tacet_contextual_model *model = NULL;
        tacet_kernel_spec_defaults(&spec);
        assert_ok(tacet_kernel_parse(&spec, CASES[i].name, NULL));
        spec.d = CASES[i].d;
        assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
        const size_t given = CASES[i].count < count ? CASES[i].count : count;
        assert_status(tacet_central_direct_model(&model, policy, kernel, &about, points, given, NULL), CASES[i].status);
        assert_true((model != NULL) == (CASES[i].status == TACET_OK));
        tacet_contextual_model_free(model);
        tacet_kernel_free(kernel);
    }
}

/* A list of public points is played like a space: its indices, its best point in the end, and nothing waits. */
TEST(a_list_is_searched) {
    enum { POINTS = 700 }; /* more than are all candidates */
    static double points[2 * POINTS];
    const tacet_ask ask = test_ask(5, 0);
    tacet_central_direct_settings s = settings_for_tests();
    tacet_policy *policy = NULL;
    tacet_recommendation best;
    for (size_t i = 0; i < POINTS; i++) {
        points[2 * i] = 100 * (double)(i % 28) / 27;
        points[2 * i + 1] = (double)(i / 28) / 24; /* another unit */
    }
    s.eps = 100;
    s.rounds = 90;
    const tacet_central_arms list = {NULL, points, 2, POINTS};
    assert_ok(tacet_central_direct_policy(&policy, &list, &s, &ask, NULL));
    for (size_t t = 0; t < 90; t++) {
        tacet_suggestion got;
        assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
        assert_true(got.index < POINTS);
        const double a = points[2 * got.index] / 100 - 0.3, b = points[2 * got.index + 1] - 0.8;
        assert_ok(tacet_policy_observe(policy, got.ticket, 0.9 - a * a - b * b, NULL));
    }
    assert_ok(tacet_policy_recommend(policy, &best, NULL));
    assert_close(points[2 * best.index] / 100, 0.3, 0.12);
    assert_close(points[2 * best.index + 1], 0.8, 0.12);
    only_some_kernels_have_models(policy, points, POINTS);
    tacet_policy_free(policy);
    const tacet_central_arms none = {NULL, points, 2, 0};
    assert_status(tacet_central_direct_policy(&policy, &none, &s, &ask, NULL), TACET_INVALID);
    tacet_noise_close(ask.noise);
}

/* What is known already is where a study begins; a point that is not there, or no deviation, is refused. */
TEST(earlier_values_come_first) {
    static const double points[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const tacet_central_arms list = {NULL, points, 1, 10};
    tacet_central_earlier known[10];
    const tacet_ask ask = test_ask(6, 0);
    tacet_central_direct_settings s = settings_for_tests();
    tacet_policy *policy = NULL;
    s.reward_lo = -1;
    s.earlier = known;
    s.earlier_count = 10;
    s.eps = 100;
    for (size_t i = 0; i < 10; i++) {
        known[i] = (tacet_central_earlier){i, i == 6 ? 0.9 : -0.5, 0.01};
    }
    assert_ok(tacet_central_direct_policy(&policy, &list, &s, &ask, NULL));
    tacet_suggestion got;
    assert_ok(tacet_policy_suggest(policy, &got, NULL, NULL));
    assert_int_equal(got.index, 6);
    tacet_policy_free(policy);
    known[3].sd = 0;
    assert_status(tacet_central_direct_policy(&policy, &list, &s, &ask, NULL), TACET_INVALID);
    known[3] = (tacet_central_earlier){10, 0, 1};
    assert_status(tacet_central_direct_policy(&policy, &list, &s, &ask, NULL), TACET_INVALID);
    tacet_noise_close(ask.noise);
}

TEST_ALL(setup, teardown)
