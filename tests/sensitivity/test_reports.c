/* SPDX-License-Identifier: Apache-2.0 */
/* test_reports.c - how far one round moves what studies let go of it: the tables of a contextual study, and what a
 * device reports of a reward. Rounds are replaced by others found by search: extreme contexts, rewards
 * outside their range, NaN, reports that never come. */
#include "sensitivity/recorder.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ab/trusted/earning.h"
#include <tacet/core/simrng.h>
#include <tacet/local/trusted/device.h>

/* --- contextual studies ------------------------------------------------------------------------------------------ */

enum { ROUNDS = 1200, ACTIONS = 5, PAIRS = 36 };

typedef struct round_of {
    double context, reward[ACTIONS];
    bool reported;
} round_of;

static void play(bool levels, const round_of *rounds, recording *into, const recording *replay) {
    static const double LIST[ACTIONS] = {0, 1, 2, 3, 4};
    const tacet_space_options numbers = {.bounds = "dose=0:4,age=10:12"};
    const tacet_space_options categories = {.levels = "shown=a|b|c|d|e,type=x|y|z"};
    tacet_space space;
    tacet_policy *policy = NULL;
    tacet_noise *noise = NULL;
    assert_ok(tacet_space_short(&space, levels ? &categories : &numbers, NULL));
    const tacet_ab_earning_settings settings = {.space = &space,
                                                .action_columns = 1,
                                                .actions = LIST,
                                                .count = ACTIONS,
                                                .lower = -1,
                                                .upper = 1,
                                                .eps = 1,
                                                .rounds = ROUNDS,
                                                .first = 250,
                                                .coin_seed = 1};
    assert_ok(tacet_noise_open_seeded(&noise, 3, 3, NULL));
    const tacet_ask ask = {.noise = noise, .ticket = "study", .what = "w", .to_whom = "x"};
    assert_ok(tacet_ab_earning_create(&policy, &settings, &ask, NULL));
    tacet_space_clear(&space);
    recorder_begin(into, replay);
    for (size_t i = 0; i < ROUNDS; i++) {
        const double c = rounds[i].context, context = levels ? rint(c - 10) : c;
        const tacet_round round = {.context = &context, .context_dim = 1};
        tacet_suggestion s = {0};
        assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
        if (rounds[i].reported) { /* NaN is refused by the service; everything else comes in */
            assert_ok(tacet_policy_observe(policy, s.ticket, rounds[i].reward[s.index], NULL));
        }
    }
    recorder_end();
    tacet_policy_free(policy);
    tacet_noise_close(noise);
}

static void any_round(round_of *r, tacet_simrng *rng) {
    const double u = tacet_simrng_uniform(rng), v = tacet_simrng_uniform(rng);
    r->context = u < 0.3 ? 10 : u < 0.6 ? 12 : u < 0.65 ? -1e9 : u < 0.7 ? 1e9 : 10 + 2 * v;
    r->reported = tacet_simrng_uniform(rng) < 0.85;
    for (size_t a = 0; a < ACTIONS; a++) {
        const double w = tacet_simrng_uniform(rng);
        r->reward[a] = w < 0.3 ? -1 : w < 0.6 ? 1 : w < 0.7 ? 1e12 : w < 0.8 ? -1e12 : 2 * w - 1;
    }
}

/* Every round is in the table of one epoch, and moves it by all that is charged where its cell and its reward change.
 */
static void check_tables(bool levels) {
    size_t near = 0;
    round_of *rounds = calloc(ROUNDS, sizeof *rounds);
    recording first, second, third;
    movement m = {0};
    tacet_simrng rng;
    assert_non_null(rounds);
    tacet_simrng_init(&rng, 4, 4);
    for (size_t i = 0; i < ROUNDS; i++) {
        rounds[i].context = 10 + 2 * tacet_simrng_uniform(&rng);
        rounds[i].reported = tacet_simrng_uniform(&rng) < 0.95;
        for (size_t a = 0; a < ACTIONS; a++) {
            rounds[i].reward[a] = 0.5 * cos((double)a - rounds[i].context) + 0.2 * (tacet_simrng_uniform(&rng) - 0.5);
        }
    }
    play(levels, rounds, &first, NULL);
    for (size_t i = 0; i < PAIRS; i++) {
        const size_t at = (size_t)(((double)i + tacet_simrng_uniform(&rng)) * ROUNDS / PAIRS);
        const round_of kept = rounds[at];
        any_round(&rounds[at], &rng);
        play(levels, rounds, &second, &first);
        any_round(&rounds[at], &rng);
        play(levels, rounds, &third, &first);
        movement_add(&m, &first, &second);
        movement_add(&m, &second, &third);
        rounds[at] = kept;
        recording_clear(&second);
        recording_clear(&third);
    }
    print_message("%s: %zu draws, eps %.4f of 1, %g draws by one round, shares", levels ? "levels" : "numbers", m.draws,
                  m.eps, m.moved);
    for (size_t k = 0; k < m.draws; k++) {
        print_message(" %.2f", m.share[k]);
        near += m.share[k] >= 0.9 ? 1 : 0;
    }
    print_message("\n");
    assert_true(m.draws >= 3 && near == m.draws);
    assert_true(m.eps <= 1 + 1e-9 && m.eps >= 0.9 && m.moved == 1);
    recording_clear(&first);
    free(rounds);
}

TEST(test_a_round_of_a_contextual_study_moves_one_table) {
    check_tables(false);
    check_tables(true);
}

/* --- devices ----------------------------------------------------------------------------------------------------- */

static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    (void)user, (void)ticket, (void)ldp, (void)mint, (void)err;
    *answered = false;
    *report = 0;
    return TACET_OK;
}

static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    (void)user, (void)ticket, (void)report, (void)err;
    return TACET_OK;
}

/* A report reads its reward through the clip alone: whatever the two rewards, no further apart than the range. */
TEST(test_a_reward_reaches_its_report_through_the_clip) {
    static const double REWARDS[] = {-7, 3, -2, 1e300, -1e300, INFINITY, -INFINITY, 0.3};
    const tacet_device_store store = {.reserve = reserve, .commit = commit};
    movement m = {0};
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1.5, -7, 3, NULL));
    for (size_t i = 0; i < 64; i++) {
        recording runs[2];
        for (size_t k = 0; k < 2; k++) {
            tacet_device *device = NULL;
            tacet_device_answer answer;
            assert_ok(tacet_device_open(&device, &ldp, &store, NULL));
            recorder_begin(&runs[k], k == 0 ? NULL : &runs[0]);
            assert_ok(tacet_device_report(device, &answer, "t", REWARDS[k == 0 ? i % 8 : i / 8], NULL));
            recorder_end();
            tacet_device_close(device);
        }
        movement_add(&m, &runs[0], &runs[1]);
        recording_clear(&runs[0]);
        recording_clear(&runs[1]);
    }
    assert_int_equal(m.draws, 1);
    assert_true(m.eps == 1.5);
}
