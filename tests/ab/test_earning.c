/* SPDX-License-Identifier: Apache-2.0 */
/* test_earning.c - choices that earn while they learn: what any policy must do, what is learnt of categories and of
 * numbers, what a missing or late report does, what the ledger is charged, what more rounds change, what a load learns
 * again, and its model. */
#include "support/conformance.h"
#include "support/gate.h"
#include "support/test.h"

#include <math.h>
#include <sodium.h>
#include <string.h>
#include "ab/open/internal.h"
#include "ab/trusted/earning.h"
#include <tacet/core/simrng.h>

enum { ACTIONS = 9, MANY = 401, FIRST = 120 };

typedef struct world {
    tacet_noise *noise;
    tacet_ledger *ledger;
    const char *ticket;
    bool levels;
    size_t actions; /* doses from 0 to 4 */
    tacet_ab_earning_settings s;
} world;

static tacet_space spaces[2]; /* of numbers, of levels */

static int setup(void **state) {
    const tacet_space_options numbers = {.bounds = "dose=0:4,age=10:12"};
    const tacet_space_options levels = {.levels = "shown=A|B|C,type=phone|tablet|desktop|other"};
    return tacet_space_short(&spaces[0], &numbers, NULL) == TACET_OK &&
                   tacet_space_short(&spaces[1], &levels, NULL) == TACET_OK
               ? 0
               : 1;
}

static int teardown(void **state) {
    tacet_space_clear(&spaces[0]);
    tacet_space_clear(&spaces[1]);
    return 0;
}

static void world_init(world *w, size_t rounds, size_t first, double eps) {
    *w = (world){.ticket = "study", .actions = ACTIONS};
    w->s = (tacet_ab_earning_settings){
        .action_columns = 1, .lower = -2, .upper = 1, .eps = eps, .rounds = rounds, .first = first, .coin_seed = 1};
}

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    const world *w = user;
    tacet_ab_earning_settings s = w->s;
    double list[MANY];
    for (size_t i = 0; i < w->actions; i++) {
        list[i] = w->levels ? (double)i : 4.0 * (double)i / (double)(w->actions - 1);
    }
    s.space = &spaces[w->levels ? 1 : 0];
    s.actions = list;
    s.count = w->levels ? 3 : w->actions;
    const tacet_ask ask = {
        .ledger = w->ledger, .noise = w->noise, .ticket = w->ticket, .what = "table", .to_whom = "anyone"};
    return tacet_ab_earning_create(out, &s, &ask, err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    world other = *(const world *)user;
    other.ticket = "another";
    return create(&other, out, err);
}

static tacet_policy *make(world *w) {
    tacet_policy *policy = NULL;
    tacet_error err = {0};
    test_assert_status(create(w, &policy, &err), TACET_OK, &err, __FILE__, __LINE__);
    return policy;
}

static double context_of(const world *w, size_t k) {
    tacet_simrng rng = test_rng(71, k);
    const double u = tacet_simrng_uniform(&rng);
    return w->levels ? floor(4 * u) : 10 + 2 * u;
}

/* Of numbers the best dose follows the age; of levels the best variant the type. */
static double reward(const world *w, size_t index, double c) {
    const double dose = 4.0 * (double)index / (double)(w->actions - 1);
    const double off = w->levels ? fmod((double)index + c, 3) : dose - 2 * (c - 10);
    return w->levels ? 0.8 - off : 0.8 - 0.3 * off * off;
}

static double best_reward(const world *w, double c) {
    double top = -INFINITY;
    for (size_t i = 0; i < (w->levels ? 3 : w->actions); i++) {
        top = fmax(top, reward(w, i, c));
    }
    return top;
}

static void round_of(void *user, size_t k, tacet_round *out) {
    static double context;
    context = context_of(user, k);
    *out = (tacet_round){.context = &context, .context_dim = 1};
}

static double value(void *user, size_t k, const tacet_suggestion *s) {
    return reward(user, s->index, context_of(user, k));
}

TEST(test_conformance) {
    world w;
    world_init(&w, 24, 100, 1);
    w.noise = test_noise(1, 1);
    const conformance_problem problem = {.create = create,
                                         .create_foreign = create_foreign,
                                         .round = round_of,
                                         .value = value,
                                         .user = &w,
                                         .rounds = 24,
                                         .any_order = true};
    test_policy_conformance(&problem);
    tacet_noise_close(w.noise);
}

static tacet_suggestion next(const world *w, tacet_policy *policy, size_t k) {
    const double c = context_of(w, k);
    const tacet_round round = {.context = &c, .context_dim = 1};
    tacet_suggestion s = {0};
    assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
    return s;
}

static bool has_model(const tacet_policy *policy) {
    tacet_ab_model *model = NULL;
    const tacet_status status = tacet_ab_earning_model(policy, &model, NULL);
    assert_true(status == TACET_OK || status == TACET_STATE);
    tacet_ab_model_free(model);
    return status == TACET_OK;
}

/* Rounds from + 1 to `to`; every `skip`-th (0: none) is not reported. The regret of all of them. */
static double play(const world *w, tacet_policy *policy, size_t from, size_t to, size_t skip) {
    double regret = 0;
    for (size_t t = from; t < to; t++) {
        const tacet_suggestion s = next(w, policy, t);
        const double c = context_of(w, t);
        regret += best_reward(w, c) - reward(w, s.index, c);
        if (skip == 0 || t % skip != 0) {
            assert_ok(tacet_policy_observe(policy, s.ticket, reward(w, s.index, c), NULL));
        }
    }
    return regret;
}

/* Even draws lose about .9 a round of numbers, 1 of levels. With a quarter of the reports missing it learns too. */
TEST(test_later_rounds_earn_more) {
    for (int k = 0; k < 4; k++) {
        world w;
        world_init(&w, 2000, 250, 3);
        w.levels = k >= 2;
        w.noise = test_noise(5, (uint64_t)k);
        tacet_policy *policy = make(&w);
        const size_t skip = k % 2 == 1 ? 4 : 0;
        (void)play(&w, policy, 0, 1500, skip);
        const double regret = play(&w, policy, 1500, 2000, skip) / 500;
        print_message("%s%s: %.3f a round\n", w.levels ? "levels" : "numbers", skip > 0 ? ", some missing" : "",
                      regret);
        assert_true(regret < (w.levels ? 0.05 : 0.15));
        tacet_policy_free(policy);
        tacet_noise_close(w.noise);
    }
}

/* A list of more actions than the posterior tells apart earns as much. */
TEST(test_a_long_list) {
    world w;
    world_init(&w, 2000, 250, 3);
    w.actions = MANY;
    w.noise = test_noise(5, 9);
    tacet_policy *policy = make(&w);
    (void)play(&w, policy, 0, 1500, 0);
    const double regret = play(&w, policy, 1500, 2000, 0) / 500;
    print_message("%d actions: %.3f a round\n", (int)MANY, regret);
    assert_true(regret < 0.15);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* With hardly any noise the table has what was reported: each cell its rewards, what was not reported is not there, and
 * neither is what came while the release was due; what comes after it is in no later table. */
TEST(test_the_table_is_of_what_was_reported) {
    world w;
    double up[12] = {0}, rows[12] = {0}, up_next[12] = {0}, rows_next[12] = {0};
    size_t first_next = 0;
    tacet_ab_model *model = NULL;
    world_init(&w, 1000, 100, 1e6);
    w.levels = true;
    w.s.late = 10;
    w.noise = test_noise(3, 1);
    tacet_policy *policy = make(&w);
    uint64_t open = 0;
    for (size_t t = 0; t < 111; t++) { /* the epoch, and those waited for: reports of the first 100 count until then */
        const tacet_suggestion s = next(&w, policy, t);
        const size_t cell = (size_t)context_of(&w, t) * 3 + s.index;
        if (t == 110) {
            assert_ok(tacet_policy_observe(policy, open, 1, NULL)); /* the release is due */
        }
        if (t % 4 == 0 || t == 99) {
            open = t == 0 ? s.ticket : open;
            first_next = t == 100 ? cell : first_next;
            continue;
        }
        assert_ok(tacet_policy_observe(policy, s.ticket, t % 4 == 1 ? 50 : -0.5, NULL));
        (t < 100 ? up : up_next)[cell] += t % 4 == 1 ? 1 : 0.5;
        (t < 100 ? rows : rows_next)[cell] += 1;
    }
    assert_false(has_model(policy));
    (void)next(&w, policy, 111);
    assert_ok(tacet_ab_earning_model(policy, &model, NULL));
    const tacet_ab_facts *f = tacet_ab_model_facts(model);
    assert_true(f->epochs == 1 && f->tickets[0] == 100 && f->plan.cells == 12);
    for (size_t i = 0; i < 12; i++) {
        assert_close(f->released[i], up[i], 1e-3);
        assert_close(f->released[12 + i], rows[i] - up[i], 1e-3);
    }
    assert_ok(tacet_policy_observe(policy, 5, 1, NULL)); /* too late: it was released, and counts in no later epoch */
    assert_status(tacet_policy_observe(policy, 5, 1, NULL), TACET_CONFLICT);
    assert_ok(tacet_policy_observe(policy, 100, 1, NULL)); /* so is the epoch's last; the next is the next epoch's */
    assert_ok(tacet_policy_observe(policy, 101, 1, NULL));
    up_next[first_next] += 1;
    rows_next[first_next] += 1;
    tacet_ab_model_free(model);
    for (size_t t = 112; t < 212; t++) {
        (void)next(&w, policy, t);
    }
    assert_ok(tacet_ab_earning_model(policy, &model, NULL));
    f = tacet_ab_model_facts(model);
    assert_true(f->epochs == 2 && f->tickets[1] == 100);
    for (size_t i = 0; i < 12; i++) {
        assert_close(f->released[24 + i], up_next[i], 1e-3);
        assert_close(f->released[36 + i], rows_next[i] - up_next[i], 1e-3);
    }
    tacet_ab_model_free(model);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

static void open_ledger(world *w, double eps) {
    tacet_ledger_settings budget;
    OWN_TEXT char *path = test_text("%s/ledger", test_mkdir());
    tacet_ledger_settings_defaults(&budget);
    budget.eps = eps;
    budget.delta = 0;
    budget.accounting = TACET_ACCOUNTING_BASIC;
    budget.create = true;
    assert_ok(tacet_ledger_open(&w->ledger, path, &budget, NULL));
}

/* One group in the ledger: however many epochs, a ticket costs eps once. A study is given more rounds after its last
 * epoch was released, and goes on from a state of before: the ledger knows where the epoch ended, so that it ends there
 * again with the stored release, and the table stays the one it was planned with. */
TEST(test_charged_once_and_more_rounds) {
    enum { LONG = 400, MIDDLE = 300 };
    world w;
    tacet_blob middle, first, second;
    tacet_ledger_totals totals;
    world_init(&w, LONG, FIRST, 3);
    open_ledger(&w, 3);
    tacet_blob_init(&middle);
    tacet_blob_init(&first);
    tacet_blob_init(&second);
    tacet_policy *policy = make(&w);
    (void)play(&w, policy, 0, MIDDLE, 5); /* epochs of 120, 120, and of 240 a part */
    assert_ok(tacet_policy_save(policy, &middle, NULL));
    (void)play(&w, policy, MIDDLE, LONG, 5);
    assert_ok(tacet_policy_save(policy, &first, NULL));
    assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
    assert_int_equal(totals.entries, 3);
    assert_close(totals.eps, 3, 1e-9);
    tacet_policy_free(policy);
    w.s.rounds = 100000;
    policy = make(&w);
    assert_ok(tacet_policy_load(policy, middle.data, middle.size, NULL));
    (void)play(&w, policy, MIDDLE, LONG, 5);
    assert_ok(tacet_policy_save(policy, &second, NULL));
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    assert_ok(tacet_policy_load(policy, first.data, first.size, NULL));
    (void)play(&w, policy, LONG, 900, 5);
    assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
    assert_true(totals.entries == 4 && totals.eps < 3 + 1e-9);
    tacet_blob_clear(&middle);
    tacet_blob_clear(&first);
    tacet_blob_clear(&second);
    tacet_policy_free(policy);
    tacet_ledger_close(w.ledger);
}

/* Rounds from + 1 to `to`, each reported when `out` more were suggested; taken: what was suggested. */
static void play_behind(const world *w, tacet_policy *policy, size_t from, size_t to, size_t out, size_t *taken) {
    for (size_t t = from; t < to; t++) {
        taken[t] = next(w, policy, t).index;
        if (t >= out) {
            assert_ok(
                tacet_policy_observe(policy, t - out + 1, reward(w, taken[t - out], context_of(w, t - out)), NULL));
        }
    }
}

/* Releases that wait for 60 rounds are the same whether reports come at once or 60 rounds late, also where the policy
 * is saved between an epoch's end and its release; reports that come 61 rounds late are missing from them. */
TEST(test_late_reports_count_where_they_are_waited_for) {
    enum { ROUNDS = 700, LATE = 60, MIDDLE = 2 * FIRST + LATE / 2 };
    static size_t taken[4][ROUNDS];
    const size_t out[4] = {0, LATE, LATE, LATE + 1};
    for (int k = 0; k < 4; k++) {
        world w;
        tacet_blob blob;
        world_init(&w, ROUNDS, FIRST, 3);
        w.s.late = LATE;
        tacet_blob_init(&blob);
        assert_ok(tacet_noise_open_seeded(&w.noise, 9, 0, NULL));
        tacet_policy *policy = make(&w);
        play_behind(&w, policy, 0, FIRST + LATE, out[k], taken[k]);
        assert_false(has_model(policy));
        play_behind(&w, policy, FIRST + LATE, MIDDLE, out[k], taken[k]);
        assert_true(has_model(policy));
        if (k == 2) {
            assert_ok(tacet_policy_save(policy, &blob, NULL));
            tacet_policy_free(policy);
            policy = make(&w);
            assert_ok(tacet_policy_load(policy, blob.data, blob.size, NULL));
        }
        play_behind(&w, policy, MIDDLE, ROUNDS, out[k], taken[k]);
        tacet_blob_clear(&blob);
        tacet_policy_free(policy);
        tacet_noise_close(w.noise);
    }
    assert_memory_equal(taken[0], taken[1], sizeof taken[0]);
    assert_memory_equal(taken[0], taken[2], sizeof taken[0]);
    assert_memory_not_equal(taken[0], taken[3], sizeof taken[0]);
}

/* What is told of releases, and of their noise, is the same after a restart. */
static void assert_same_after_load(world *w, const tacet_policy *policy, const char *text) {
    OWN_BLOB tacet_blob state;
    tacet_ab_model *model = NULL;
    char *again = NULL;
    OWN_POLICY tacet_policy *fresh = make(w);
    tacet_blob_init(&state);
    assert_ok(tacet_policy_save(policy, &state, NULL));
    assert_ok(tacet_policy_load(fresh, state.data, state.size, NULL));
    assert_ok(tacet_ab_earning_model(fresh, &model, NULL));
    assert_ok(tacet_ab_model_encode(model, &again, NULL));
    assert_string_equal(text, again);
    free(again);
    tacet_ab_model_free(model);
}

/* The released model says what the policy knows, in the rewards' own direction, after a way through its text too. */
TEST(test_its_model_recommends_what_it_plays) {
    for (int k = 0; k < 4; k++) {
        world w;
        tacet_ab_model *model = NULL, *again = NULL;
        char *text = NULL;
        world_init(&w, 3000, 400, 1000);
        w.levels = k >= 2;
        w.s.minimize = k % 2 == 1;
        w.noise = test_noise(6, (uint64_t)k);
        tacet_policy *policy = make(&w);
        (void)play(&w, policy, 0, 2000, 0);
        assert_ok(tacet_ab_earning_model(policy, &model, NULL));
        assert_ok(tacet_ab_model_encode(model, &text, NULL));
        assert_true(tacet_ab_model_is(text, strlen(text)));
        assert_ok(tacet_ab_model_decode(&again, text, strlen(text), NULL));
        assert_same_after_load(&w, policy, text);
        for (size_t i = 0; i < 20; i++) {
            const double record[2] = {0, context_of(&w, i)};
            double means[2], sd = 0, best[2];
            size_t index = 0;
            assert_ok(tacet_ab_model_predict(model, &means[0], &sd, &best[0], record, 1, NULL));
            assert_ok(tacet_ab_model_predict(again, &means[1], &sd, &best[1], record, 1, NULL));
            assert_true(best[0] == best[1] && means[0] == means[1]);
            assert_ok(tacet_ab_earning_best(policy, &index, &record[1], 1, NULL));
            const double played = w.levels ? (double)index : 4.0 * (double)index / (ACTIONS - 1);
            assert_close(best[0], played, w.levels ? 0 : 1.01);
            const double top = best_reward(&w, record[1]);
            assert_close(w.s.minimize ? -means[0] : means[0], top, 0.25);
        }
        free(text);
        tacet_ab_model_free(model);
        tacet_ab_model_free(again);
        tacet_policy_free(policy);
        tacet_noise_close(w.noise);
    }
}

/* A study that is given a few rounds again and again has short epochs, and at most so many as a model can hold. */
TEST(test_epochs_end) {
    world w;
    tacet_blob saved;
    size_t t = 0;
    world_init(&w, 6, 4, 1e3);
    w.levels = true;
    w.noise = test_noise(8, 1);
    tacet_blob_init(&saved);
    tacet_policy *policy = make(&w);
    for (size_t epoch = 0; epoch < TACET_AB_EPOCHS_MOST; epoch++) {
        (void)play(&w, policy, t, w.s.rounds, 0);
        assert_ok(tacet_policy_save(policy, &saved, NULL));
        tacet_policy_free(policy);
        t = w.s.rounds;
        w.s.rounds += 3;
        policy = make(&w);
        assert_ok(tacet_policy_load(policy, saved.data, saved.size, NULL));
        tacet_blob_clear(&saved);
    }
    (void)play(&w, policy, t, t + 2, 0);
    const double c = 0;
    const tacet_round round = {.context = &c, .context_dim = 1};
    tacet_suggestion s;
    assert_status(tacet_policy_suggest(policy, &s, &round, NULL), TACET_STATE);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

static size_t posteriors; /* that were computed */

tacet_status __real_tacet__ab_field(double *, double *, double *, const tacet__ab_shown *, const tacet_ab_facts *,
                                    tacet_simrng *, tacet_error *);
tacet_status __real_tacet__ab_draw(tacet__ab_draws *, const tacet__ab_data *, tacet_simrng *, tacet_error *);
tacet_status __wrap_tacet__ab_field(double *, double *, double *, const tacet__ab_shown *, const tacet_ab_facts *,
                                    tacet_simrng *, tacet_error *);
tacet_status __wrap_tacet__ab_draw(tacet__ab_draws *, const tacet__ab_data *, tacet_simrng *, tacet_error *);

tacet_status __wrap_tacet__ab_field(double *mean, double *draws, double *share, const tacet__ab_shown *shown,
                                    const tacet_ab_facts *f, tacet_simrng *rng, tacet_error *err) {
    posteriors++;
    return __real_tacet__ab_field(mean, draws, share, shown, f, rng, err);
}

tacet_status __wrap_tacet__ab_draw(tacet__ab_draws *draws, const tacet__ab_data *data, tacet_simrng *rng,
                                   tacet_error *err) {
    posteriors++;
    return __real_tacet__ab_draw(draws, data, rng, err);
}

enum { SAVED = 700, ENDS = 2 * 480, LONG = 1100 }; /* epochs of 120, 120, 240 and 480 */

typedef struct told {
    tacet_recommendation best;
    size_t at[20], posteriors;
} told;

static void ask(told *out, const world *w, tacet_policy *policy) {
    *out = (told){.posteriors = posteriors};
    assert_ok(tacet_policy_recommend(policy, &out->best, NULL));
    for (size_t i = 0; i < 20; i++) {
        const double c = context_of(w, i);
        assert_ok(tacet_ab_earning_best(policy, &out->at[i], &c, 1, NULL));
    }
    out->posteriors = posteriors - out->posteriors;
}

static void assert_told_alike(const told *a, const told *b) {
    assert_true(a->best.index == b->best.index && a->best.mean == b->best.mean && a->best.sd == b->best.sd);
    assert_memory_equal(a->at, b->at, sizeof a->at);
}

/* A policy that only repeats what another one suggested, as a second server does: it learns nothing. */
static tacet_policy *repeat(world *w, const size_t *taken, size_t rounds) {
    tacet_policy *policy = make(w);
    for (size_t t = 0; t < rounds; t++) {
        const double c = context_of(w, t);
        const tacet_round round = {.context = &c, .context_dim = 1};
        const tacet_suggestion s = {.index = taken[t], .ticket = t + 1};
        assert_ok(tacet_policy_repeat(policy, &s, &round, NULL));
        assert_ok(tacet_policy_observe(policy, s.ticket, reward(w, s.index, c), NULL));
    }
    return policy;
}

/* A load goes on bit for bit, past the end of the next epoch. Suggestions need no posterior until then, what is
 * recommended needs the last one. Of what was only repeated each epoch with numbers is learnt from, once. */
TEST(test_a_load_learns_at_most_once) {
    for (int k = 0; k < 4; k++) {
        static size_t taken[2][LONG];
        world w;
        told told_before[2], told_after[2];
        OWN_BLOB tacet_blob saved;
        tacet_blob ends[2];
        const bool repeated = k % 2 == 1;
        world_init(&w, 5000, FIRST, 3);
        w.levels = k >= 2;
        open_ledger(&w, 3);
        tacet_blob_init(&saved);
        posteriors = 0;
        tacet_policy *policy = make(&w);
        play_behind(&w, policy, 0, SAVED, 0, taken[0]);
        assert_int_equal(posteriors, 3);
        tacet_policy *other = repeated ? repeat(&w, taken[0], SAVED) : policy;
        assert_int_equal(posteriors, 3);
        assert_ok(tacet_policy_save(other, &saved, NULL));
        if (repeated) {
            tacet_policy_free(other);
        }
        ask(&told_before[0], &w, policy);
        play_behind(&w, policy, SAVED, LONG, 0, taken[0]);
        ask(&told_before[1], &w, policy);
        assert_int_equal(posteriors, 4);
        other = make(&w);
        assert_ok(tacet_policy_load(other, saved.data, saved.size, NULL));
        play_behind(&w, other, SAVED, ENDS, 0, taken[1]);
        assert_int_equal(posteriors, 4 + (!repeated ? 0 : w.levels ? 1 : 3));
        ask(&told_after[0], &w, other);
        assert_int_equal(told_after[0].posteriors, repeated ? 0 : 1);
        const size_t before = posteriors;
        play_behind(&w, other, ENDS, LONG, 0, taken[1]);
        ask(&told_after[1], &w, other);
        assert_int_equal(posteriors, before + 1);
        assert_memory_equal(taken[0] + SAVED, taken[1] + SAVED, (LONG - SAVED) * sizeof **taken);
        for (size_t i = 0; i < 2; i++) {
            assert_told_alike(&told_before[i], &told_after[i]);
            tacet_blob_init(&ends[i]);
            assert_ok(tacet_policy_save(i == 0 ? policy : other, &ends[i], NULL));
        }
        assert_int_equal(ends[0].size, ends[1].size);
        assert_memory_equal(ends[0].data, ends[1].data, ends[0].size);
        tacet_blob_clear(&ends[0]);
        tacet_blob_clear(&ends[1]);
        tacet_policy_free(policy);
        tacet_policy_free(other);
        tacet_ledger_close(w.ledger);
    }
}

enum { HASH = 32 };

/* Where the values of an array lie in a state: after its name and length. */
static unsigned char *values_of(const tacet_blob *state, const char *name) {
    unsigned char *bytes = state->data;
    const size_t length = strlen(name);
    for (size_t i = 0; i + length + 8 < state->size; i++) {
        if (memcmp(bytes + i, name, length) == 0) {
            return bytes + i + length + 8;
        }
    }
    fail_msg("the state has no '%s'", name);
    return NULL;
}

static tacet_status load_forged(tacet_policy *policy, const tacet_blob *state) {
    unsigned char *bytes = state->data;
    (void)crypto_generichash(bytes + state->size - HASH, HASH, bytes, state->size - HASH, NULL, 0);
    return tacet_policy_load(policy, bytes, state->size, NULL);
}

/* No action, or one after an epoch that was not, is refused, and leaves the policy as it is; another action of the list
 * is played. */
TEST(test_forged_actions_are_refused_or_played) {
    for (int k = 0; k < 2; k++) {
        world w;
        OWN_BLOB tacet_blob saved;
        world_init(&w, 2000, FIRST, 3);
        w.levels = k == 1;
        w.noise = test_noise(7, 2);
        const uint32_t count = w.levels ? 3 : ACTIONS;
        tacet_blob_init(&saved);
        tacet_policy *policy = make(&w), *same = make(&w);
        (void)play(&w, policy, 0, 3 * FIRST, 0);
        assert_ok(tacet_policy_save(policy, &saved, NULL));
        assert_ok(tacet_policy_load(same, saved.data, saved.size, NULL));
        unsigned char *known = values_of(&saved, "known"), *chosen = values_of(&saved, "chosen");
        assert_true(known[0] == 2 && chosen[0] < count);
        known[0] = 3;
        assert_status(load_forged(policy, &saved), TACET_CORRUPT);
        known[0] = 1; /* their number does not fit, where there are as many as epochs; else it is what is known */
        assert_status(load_forged(policy, &saved), w.levels ? TACET_OK : TACET_CORRUPT);
        assert_int_equal(next(&w, policy, 3 * FIRST).index, next(&w, same, 3 * FIRST).index);
        known[0] = 2;
        chosen[0] = (unsigned char)count;
        assert_status(load_forged(policy, &saved), TACET_CORRUPT);
        const size_t all = (size_t)((unsigned char *)saved.data + saved.size - HASH - chosen) / 4;
        for (size_t i = 0; i < all; i++) {
            memcpy(chosen + 4 * i, (const unsigned char[4]){(unsigned char)(count - 1)}, 4);
        }
        assert_ok(load_forged(policy, &saved));
        assert_int_equal(next(&w, policy, 3 * FIRST).index, count - 1);
        tacet_policy_free(policy);
        tacet_policy_free(same);
        tacet_noise_close(w.noise);
    }
}

/* A state in which ten tickets add more than ten, though no number is larger than they could make it. */
TEST(test_forged_sums_are_refused) {
    world w;
    tacet_blob saved;
    world_init(&w, 24, 100, 1);
    w.levels = true;
    w.noise = test_noise(7, 1);
    tacet_blob_init(&saved);
    tacet_policy *policy = make(&w);
    for (size_t t = 0; t < 10; t++) {
        assert_ok(tacet_policy_observe(policy, next(&w, policy, t).ticket, -2, NULL)); /* all of it below */
    }
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    unsigned char *now = values_of(&saved, "now");
    uint64_t sums[24], all = 0;
    memcpy(sums, now, sizeof sums);
    for (size_t i = 12; i < 24; i++) {
        all += sums[i];
    }
    assert_true(all > 0 && all % 10 == 0);
    sums[12] = sums[13] = all;
    memcpy(now, sums, sizeof sums);
    assert_status(load_forged(policy, &saved), TACET_CORRUPT);
    tacet_blob_clear(&saved);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

TEST(test_refusals) {
    world w;
    tacet_policy *policy = NULL;
    tacet_suggestion s;
    world_init(&w, 100, 0, 1);
    assert_status(create(&w, &policy, NULL), TACET_INVALID); /* neither ledger nor seeded noise */
    w.noise = test_noise(4, 1);
    const tacet_ab_earning_settings good = w.s;
    w.s.rounds = 0;
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    w.s = good;
    w.s.upper = w.s.lower;
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    w.s = good;
    w.s.eps = 0;
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    w.s = good;
    w.s.action_columns = 3; /* of two */
    assert_status(create(&w, &policy, NULL), TACET_INVALID);
    w.s = good;
    const double outside = 4.5;
    const tacet_ask ask = {.noise = w.noise, .ticket = "study", .what = "table", .to_whom = "anyone"};
    w.s.space = &spaces[0];
    w.s.actions = &outside;
    assert_status(tacet_ab_earning_create(&policy, &w.s, &ask, NULL), TACET_INVALID); /* no action */
    w.s.count = 1;
    assert_status(tacet_ab_earning_create(&policy, &w.s, &ask, NULL), TACET_INVALID);
    policy = make(&w);
    const double two[2] = {10, 11};
    const tacet_round wide = {.context = two, .context_dim = 2};
    assert_status(tacet_policy_suggest(policy, &s, &wide, NULL), TACET_INVALID);
    const tacet_round fine = {.context = two, .context_dim = 1};
    const tacet_suggestion never[2] = {{.ticket = 1, .index = ACTIONS}, {.ticket = 2}};
    for (size_t i = 0; i < 2; i++) { /* what it cannot have suggested is not repeated */
        assert_status(tacet_policy_repeat(policy, &never[i], &fine, NULL), TACET_CORRUPT);
    }
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

TEST_ALL(setup, teardown)
