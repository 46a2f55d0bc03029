/* SPDX-License-Identifier: Apache-2.0 */
/* test_batches.c - central studies in batches: how far a record moves a sum, which batch it is in, what is charged, and
 * that nothing is drawn twice. */
#include "support/gate.h"
#include "support/test.h"

#include "central/trusted/policy.h"
#include <tacet/core/simrng.h>
#include <tacet/dp/ledger.h>

#include "central/open/learner_batches.h"
#include "central/trusted/batches.h"
#include "central/trusted/gate.h"
#include "central/open/stepwise.h"

enum { ARMS = 7, ROUNDS = 40, FIRST = 3, SECOND = 4 };
static const double LOWER[] = {0, 0}, UPPER[] = {1, 1};
static const tacet_domain BOX = {.kind = TACET_DOMAIN_BOX, .d = 2, .lower = LOWER, .upper = UPPER};
static tacet_features *features;
static tacet_central_map *map;

static int setup(void **state) {
    tacet_kernel *kernel = test_kernel("matern52", 2, 0.5);
    assert_ok(tacet_features_create_mercer(&features, kernel, &BOX, 8, 20, NULL));
    tacet_kernel_free(kernel);
    assert_ok(tacet_central_map_create(&map, features, &BOX, 20, 0, 1, NULL));
    return 0;
}

static int teardown(void **state) {
    tacet_central_map_free(map);
    tacet_features_free(features);
    return 0;
}

static tacet_central_settings settings_for_tests(void) {
    tacet_central_settings s;
    tacet_central_settings_defaults(&s);
    s.eps = 10;
    s.delta = 0.1;
    s.rounds = ROUNDS;
    s.open_most = 8;
    s.first_epoch = 2; /* FIRST rounds under this noise, then SECOND */
    s.learner.grid = 100;
    return s;
}

typedef struct books {
    const char *folder;
    tacet_ledger *ledger;
    tacet_ask ask;
} books;

static books open_books(double delta, tacet_accounting accounting) {
    books b = {.folder = test_mkdir()};
    tacet_ledger_settings budget;
    OWN_TEXT char *path = test_text("%s/ledger.db", b.folder);
    tacet_ledger_settings_defaults(&budget);
    budget.eps = 10.01;
    budget.delta = delta;
    budget.accounting = accounting;
    assert_ok(tacet_ledger_open(&b.ledger, path, &budget, NULL));
    b.ask = (tacet_ask){.ledger = b.ledger, .ticket = "study", .what = "a bandit", .to_whom = "all users"};
    return b;
}

static void close_books(books *b) {
    tacet_ledger_close(b->ledger);
    test_rmdir(b->folder);
}

static size_t entries(const books *b) {
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(b->ledger, &totals, NULL));
    return (size_t)totals.entries;
}

static tacet_status ask_arm(tacet_policy *policy, size_t k, tacet_suggestion *s) {
    double X[2 * ARMS];
    tacet_simrng rng = test_rng(11, k);
    for (size_t i = 0; i < 2 * (size_t)ARMS; i++) {
        X[i] = tacet_simrng_uniform(&rng);
    }
    const tacet_round round = {.points = X, .ld = 2, .d = 2, .count = ARMS};
    return tacet_policy_suggest(policy, s, &round, NULL);
}

static tacet_status one_round(tacet_policy *policy, size_t k, double reward, tacet_suggestion *s) {
    const tacet_status status = ask_arm(policy, k, s);
    return status == TACET_OK ? tacet_policy_observe(policy, s->ticket, reward, NULL) : status;
}

static double distance(const double *a, const double *b, size_t k) {
    double sum = 0;
    for (size_t i = 0; i < k; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

/* Whatever the batch is shaped for, at corners, inside and outside the box, with any rewards; and the bound is not far
 * from what is reached. */
TEST(no_two_records_are_further_apart_than_charged) {
    enum { TRIED = 120 };
    static const tacet__batch_noise NOISES[] = {{13.9, 1, 0}, {0.25, 0.1, 0}, {INFINITY, 1, 0}};
    tacet_simrng rng = test_rng(21, 0);
    double work[22];
    for (size_t c = 0; c < 3; c++) {
        tacet_central_learner *learner = NULL;
        const tacet_central_settings s = settings_for_tests();
        const double play = tacet__stepwise_play(&NOISES[c]), bound = tacet__stepwise_sensitivity(play);
        double farthest = 0;
        assert_ok(tacet_central_learner_create(&learner, map, &s.learner, NULL));
        for (size_t batch = 0; batch < 4; batch++) {
            size_t k = 0;
            assert_ok(tacet__central_learner_plan(learner, &k, 200, play, &NOISES[c], NULL));
            assert_in_range(k, 2, 42);
            double(*records)[42] = calloc(2 * TRIED, sizeof *records);
            double sums[42] = {0};
            assert_non_null(records);
            for (size_t i = 0; i < 2 * (size_t)TRIED; i++) {
                const double x[] = {i < 16 ? (double)((i / 2) % 2) : 1.2 * tacet_simrng_uniform(&rng) - 0.1,
                                    i < 16 ? (double)((i / 4) % 2) : 1.2 * tacet_simrng_uniform(&rng) - 0.1};
                tacet__central_learner_record(learner, records[i], work, x, (double)(i % 2));
                for (size_t j = 0; j < i; j++) {
                    farthest = fmax(farthest, distance(records[i], records[j], k));
                }
                for (size_t n = 0; n < k; n++) {
                    sums[n] += records[i][n] * (x[0] > 0.5 ? 1 : 0.5);
                }
            }
            free(records);
            assert_ok(tacet__central_learner_take(learner, sums, 4, 200, NULL));
        }
        assert_true(farthest <= bound * (1 + 1e-12));
        assert_true(farthest >= 0.8 * bound);
        tacet_central_learner_free(learner);
    }
}

/* A point or reward that is no number is a record like any other. */
TEST(nonsense_is_a_record) {
    static const tacet__batch_noise NOISE = {13.9, 1, 0};
    const tacet_central_settings s = settings_for_tests();
    tacet_central_learner *learner = NULL;
    const double x[] = {NAN, INFINITY};
    double out[42] = {0}, work[22];
    size_t k = 0;
    assert_ok(tacet_central_learner_create(&learner, map, &s.learner, NULL));
    assert_ok(tacet__central_learner_plan(learner, &k, 50, 0.2, &NOISE, NULL));
    tacet__central_learner_record(learner, out, work, x, NAN);
    for (size_t i = 0; i < k; i++) {
        assert_true(isfinite(out[i]));
    }
    tacet_central_learner_free(learner);
}

/* Every batch costs what one costs; few numbers get l2 noise; pure eps is to be had. */
TEST(batches_share_one_budget) {
    for (int pure = 0; pure < 2; pure++) {
        books b = open_books(pure ? 0 : 0.1, TACET_ACCOUNTING_BASIC);
        tacet_central_settings s = settings_for_tests();
        tacet_policy *policy = NULL;
        tacet_suggestion suggestion;
        tacet_guarantee g;
        tacet_ledger_totals totals;
        s.delta = pure ? 0 : 0.1;
        assert_ok(tacet_central_create(&policy, map, &s, &b.ask, NULL));
        assert_int_equal(entries(&b), 0);
        for (size_t t = 0; t < ROUNDS; t++) {
            assert_ok(one_round(policy, t, (double)(t % 2), &suggestion));
        }
        assert_true(entries(&b) >= 4);
        assert_ok(tacet_ledger_total(b.ledger, &totals, NULL));
        assert_true(totals.eps >= 9.9 && totals.eps <= 10.01 && totals.delta <= s.delta);
        tacet_policy_guarantee(policy, &g);
        assert_true(g.proven && g.eps == 10 && g.delta == s.delta && g.pure_eps >= 10 && g.pure_eps < 20);
        assert_true(!pure || g.pure_eps == 10);
        tacet_policy_free(policy);
        close_books(&b);
    }
}

/* A ledger that adds up mu is charged for Gaussian noise, which has least of it. */
TEST(a_ledger_of_mu_gets_gaussian_noise) {
    books b = open_books(0.1, TACET_ACCOUNTING_GAUSSIAN);
    const tacet_central_settings s = settings_for_tests();
    tacet_central_settings pure = s;
    tacet_policy *policy = NULL;
    tacet_suggestion suggestion;
    tacet_guarantee g;
    pure.delta = 0;
    assert_status(tacet_central_create(&policy, map, &pure, &b.ask, NULL), TACET_INVALID);
    assert_ok(tacet_central_create(&policy, map, &s, &b.ask, NULL));
    for (size_t t = 0; t < ROUNDS; t++) {
        assert_ok(one_round(policy, t, (double)(t % 2), &suggestion));
    }
    tacet_policy_guarantee(policy, &g);
    assert_true(g.pure_eps == 0);
    tacet_policy_free(policy);
    close_books(&b);
}

/* What is reported between the end of a batch and its release is in the next one, once. */
TEST(reports_wait_for_the_next_batch) {
    books b = open_books(0.1, TACET_ACCOUNTING_BASIC);
    const tacet_central_settings s = settings_for_tests();
    tacet_policy *policy = NULL, *twin = NULL;
    tacet_suggestion given[8], next, other;
    tacet_blob saved;
    tacet_blob_init(&saved);
    assert_ok(tacet_central_create(&policy, map, &s, &b.ask, NULL));
    for (size_t t = 0; t < 8; t++) {
        assert_ok(ask_arm(policy, t, &given[t]));
    }
    for (size_t t = 0; t < 8; t++) {
        assert_ok(tacet_policy_observe(policy, given[t].ticket, 1, NULL));
    }
    assert_int_equal(entries(&b), 0);
    assert_status(tacet_policy_observe(policy, given[7].ticket, 1, NULL), TACET_CONFLICT);
    assert_status(tacet_policy_drop(policy, given[6].ticket, NULL), TACET_CONFLICT);
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    assert_ok(tacet_central_restore(&twin, map, &s, &b.ask, saved.data, saved.size, NULL));
    assert_ok(ask_arm(policy, 8, &next));
    assert_int_equal(entries(&b), 2); /* FIRST and SECOND are 7 of the 8 */
    assert_ok(ask_arm(twin, 8, &other));
    assert_int_equal(entries(&b), 2);
    assert_true(next.index == other.index && next.score == other.score && next.ticket == 9);
    tacet_policy_free(policy);
    tacet_policy_free(twin);
    tacet_blob_clear(&saved);
    close_books(&b);
}

/* From a state older than a release: the same rounds get the same release, whatever was reported; other rounds none, so
 * that no round can be in two batches. */
TEST(an_old_state_repeats_or_is_refused) {
    books b = open_books(0.1, TACET_ACCOUNTING_BASIC);
    const tacet_central_settings s = settings_for_tests();
    tacet_policy *policy = NULL, *old = NULL;
    tacet_suggestion first, again, given[4];
    tacet_blob saved;
    tacet_blob_init(&saved);
    assert_ok(tacet_central_create(&policy, map, &s, &b.ask, NULL));
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    for (size_t t = 0; t < FIRST; t++) {
        assert_ok(one_round(policy, t, 1, &first));
    }
    assert_ok(ask_arm(policy, FIRST, &first)); /* releases */
    assert_int_equal(entries(&b), 1);
    assert_ok(tacet_central_restore(&old, map, &s, &b.ask, saved.data, saved.size, NULL));
    for (size_t t = 0; t < FIRST; t++) {
        assert_ok(one_round(old, t, 0, &again)); /* other rewards */
    }
    assert_ok(ask_arm(old, FIRST, &again));
    assert_true(again.index == first.index && again.score == first.score);
    assert_int_equal(entries(&b), 1);
    tacet_policy_free(old);
    /* tickets 2 to 4 instead of 1 to 3: ticket 1 would be in this batch and, reported later, in the next one */
    assert_ok(tacet_central_restore(&old, map, &s, &b.ask, saved.data, saved.size, NULL));
    for (size_t t = 0; t < 4; t++) {
        assert_ok(ask_arm(old, t, &given[t]));
    }
    for (size_t t = 1; t < 4; t++) {
        assert_ok(tacet_policy_observe(old, given[t].ticket, 1, NULL));
    }
    assert_status(ask_arm(old, 4, &again), TACET_CONFLICT);
    assert_status(ask_arm(old, 4, &again), TACET_CONFLICT); /* and stays there */
    assert_int_equal(entries(&b), 1);
    tacet_policy_free(old);
    tacet_policy_free(policy);
    tacet_blob_clear(&saved);
    close_books(&b);
}

/* Where l2 noise is smaller than Gaussian but costs a record more, without a delta, than a study says, it is not taken;
 * and rounding what is added to a batch is charged, number by number where distances are. */
TEST(no_record_costs_more_than_is_told) {
    enum { K = 10 };
    const double zeros[K] = {0};
    tacet__batch_terms terms = {
        .eps = 1, .delta = 0.01, .sensitivity = 1, .longest = 100, .few = true, .proof = "src/central/README.md"};
    double most = 0;
    for (size_t l1 = 0; l1 < 2; l1++) {
        tacet__batch_gate *gate = NULL;
        terms.l1 = l1 == 1;
        assert_ok(tacet__batch_gate_create(&gate, &terms, NULL));
        for (size_t k = 1; k <= K; k++) {
            const tacet_ask ask = {.noise = test_noise(k, 1), .ticket = "t", .what = "sums", .to_whom = "all"};
            tacet_release *release = NULL;
            double var = 0;
            assert_ok(tacet__batch_gate_run(gate, &release, &var, &ask, k, "each", zeros, k, NULL));
            const tacet_receipt *r = tacet_release_receipt(release);
            const double pure = strcmp(r->mechanism, "gaussian") != 0 ? r->sensitivity / r->scale : 0;
            const double grid = ldexp(1, r->grid_exponent), number = l1 == 1 ? (double)k : sqrt((double)k);
            most = fmax(most, pure);
            assert_true(pure <= tacet__batch_gate_pure(gate));
            assert_true(r->sensitivity >= 1 + number * (TACET__BATCH_QUANTUM + grid));
            tacet_release_free(release);
            tacet_noise_close(ask.noise);
        }
        tacet__batch_gate_free(gate);
    }
    assert_true(most > terms.eps); /* so that the bound on it says something */
}

/* A state is of its own study, and of its own kind of noise. */
TEST(a_state_of_another_study_is_refused) {
    books b = open_books(0.1, TACET_ACCOUNTING_BASIC);
    const tacet_central_settings s = settings_for_tests();
    tacet_policy *policy = NULL, *other = NULL;
    tacet_blob saved;
    tacet_blob_init(&saved);
    assert_ok(tacet_central_create(&policy, map, &s, &b.ask, NULL));
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    b.ask.ticket = "other";
    assert_status(tacet_central_restore(&other, map, &s, &b.ask, saved.data, saved.size, NULL), TACET_CORRUPT);
    tacet_ask seeded = {.noise = test_noise(1, 1), .ticket = "study", .what = "a bandit", .to_whom = "all users"};
    assert_status(tacet_central_restore(&other, map, &s, &seeded, saved.data, saved.size, NULL), TACET_CORRUPT);
    assert_null(other);
    tacet_noise_close(seeded.noise);
    tacet_policy_free(policy);
    tacet_blob_clear(&saved);
    close_books(&b);
}

/* With little noise a few batches find where the reward is high. */
TEST(it_learns) {
    tacet_central_settings s = settings_for_tests();
    tacet_policy *policy = NULL;
    const tacet_ask ask = test_ask(4, 0);
    double late = 0;
    s.eps = 200;
    s.delta = 1e-5;
    s.rounds = 0;
    s.first_epoch = 0;
    s.learner.set_size = ARMS;
    assert_ok(tacet_central_create(&policy, map, &s, &ask, NULL));
    for (size_t t = 0; t < 600; t++) {
        double X[2 * ARMS], best = -INFINITY;
        tacet_simrng rng = test_rng(31, t);
        for (size_t i = 0; i < 2 * (size_t)ARMS; i++) {
            X[i] = tacet_simrng_uniform(&rng);
        }
        const tacet_round round = {.points = X, .ld = 2, .d = 2, .count = ARMS};
        tacet_suggestion g;
        double value[ARMS];
        for (size_t a = 0; a < ARMS; a++) {
            const double u = X[2 * a] - 0.7, v = X[2 * a + 1] - 0.2;
            value[a] = 0.9 * exp(-4 * (u * u + v * v));
            best = fmax(best, value[a]);
        }
        assert_ok(tacet_policy_suggest(policy, &g, &round, NULL));
        assert_ok(tacet_policy_observe(policy, g.ticket, value[g.index], NULL));
        late += t >= 300 ? best - value[g.index] : 0;
    }
    assert_true(late / 300 < 0.02); /* at random it is 0.27 */
    tacet_policy_free(policy);
    tacet_noise_close(ask.noise);
}

static const tacet__batches_plan PLAN = {
    .most = 2, .sensitivity = 1, .proof = "p", .rounds = 5, .first_length = 3, .growth = 1, .eps = 1, .delta = 1e-3};

/* A record more than the batch was planned for, or one twice, would be charged for nowhere. */
TEST(a_batch_takes_its_rounds_and_no_others) {
    const double record[] = {0.5, 0.5};
    tacet_ask ask = {.ticket = "study", .what = "w", .to_whom = "x"};
    tacet__batches *b = NULL;
    double sums[2], var = 0;
    uint64_t count = 0;
    assert_ok(tacet_noise_open_seeded(&ask.noise, 4, 1, NULL));
    assert_ok(tacet__batches_create(&b, &PLAN, &ask, NULL));
    assert_int_equal(tacet__batches_add(b, record, 1, NULL), TACET_STATE); /* not begun */
    for (uint64_t ticket = 1, length = 3; ticket <= 5; ticket += length, length = 2) {
        tacet__batches_begin(b, 2);
        assert_int_equal(tacet__batches_release(b, sums, &var, &count, NULL), TACET_STATE); /* not due */
        for (uint64_t i = 0; i < length; i++) {
            assert_ok(tacet__batches_add(b, record, ticket + i, NULL));
        }
        assert_int_equal(tacet__batches_add(b, record, ticket + length, NULL), TACET_STATE); /* due */
        assert_ok(tacet__batches_release(b, sums, &var, &count, NULL));
        assert_int_equal(count, length);
    }
    tacet__batches_begin(b, 2);
    assert_int_equal(tacet__batches_add(b, record, 6, NULL), TACET_STATE); /* the horizon is over */
    tacet__batches_free(b);
    tacet_noise_close(ask.noise);
}

/* Sums are bounded by the longest batch. */
TEST(batches_grow_up_to_the_longest) {
    enum { LONGEST = 65536 };
    const double record = 0.5;
    tacet_ask ask = {.ticket = "study", .what = "w", .to_whom = "x"};
    tacet__batches_plan plan = PLAN;
    tacet__batches *b = NULL;
    double sum = 0, var = 0;
    uint64_t count = 0;
    assert_ok(tacet_noise_open_seeded(&ask.noise, 4, 1, NULL));
    plan.rounds = 0;
    plan.first_length = LONGEST - 1;
    plan.growth = 100;
    assert_ok(tacet__batches_create(&b, &plan, &ask, NULL));
    tacet__batches_begin(b, 1);
    for (uint64_t i = 1; i < LONGEST; i++) {
        assert_ok(tacet__batches_add(b, &record, i, NULL));
    }
    assert_ok(tacet__batches_release(b, &sum, &var, &count, NULL));
    assert_int_equal(tacet__batches_length(b), LONGEST);
    tacet__batches_free(b);
    tacet_noise_close(ask.noise);
}

TEST(impossible_plans_are_refused) {
    static const double NO_EPS[] = {0, -1, NAN, INFINITY}, NO_DELTA[] = {-1, 1, NAN}, NO_LENGTH[] = {0.5, 65537, NAN},
                        NO_GROWTH[] = {0.9, 101, NAN};
    tacet_ask ask = {.ticket = "study", .what = "w", .to_whom = "x"};
    tacet__batches *b = NULL;
    assert_ok(tacet_noise_open_seeded(&ask.noise, 4, 1, NULL));
    for (size_t i = 0; i < 15; i++) {
        tacet__batches_plan plan = PLAN;
        plan.eps = i < 4 ? NO_EPS[i] : plan.eps;
        plan.delta = i >= 4 && i < 7 ? NO_DELTA[i - 4] : plan.delta;
        plan.first_length = i >= 7 && i < 10 ? NO_LENGTH[i - 7] : plan.first_length;
        plan.growth = i >= 10 && i < 13 ? NO_GROWTH[i - 10] : plan.growth;
        plan.rounds = i == 13 ? ((uint64_t)1 << 40) + 1 : plan.rounds;
        plan.delta = i == 14 ? 0 : plan.delta; /* of Gaussian noise, which has none */
        plan.gaussian = i == 14;
        assert_int_equal(tacet__batches_create(&b, &plan, &ask, NULL), TACET_INVALID);
        assert_null(b);
    }
    tacet_noise_close(ask.noise);
}

TEST_ALL(setup, teardown)
