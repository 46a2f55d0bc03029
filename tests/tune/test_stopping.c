/* SPDX-License-Identifier: Apache-2.0 */
/* test_stopping.c - the best of a random number of private runs: charged first, the same after a restart, geometric. */
#include "tune/run.h"

#include "dp/stopping.h"

static tacet_stopping_settings settings_of(const tacet_space *space) {
    tacet_stopping_settings s;
    tacet_stopping_settings_defaults(&s);
    s.space = space;
    s.runs = 20;
    s.eps = 0.5;
    return s;
}

TEST(the_price_is_that_of_three_runs) {
    tacet_select law;
    OWN_SPACE tacet_space space;
    world_space(&space);
    tacet_stopping_settings s = settings_of(&space);
    assert_ok(tacet_stopping_price(&law, &s, NULL));
    assert_true(law.eps >= 1.5 && law.eps < 1.5 + 1e-9 && law.delta == 0);
    assert_close(law.runs, 20, 1e-6);
    s.rho = 0.1;
    assert_status(tacet_stopping_price(&law, &s, NULL), TACET_INVALID);
    s.eps = 0;
    s.delta = 1e-6;
    assert_ok(tacet_stopping_price(&law, &s, NULL));
    assert_true(law.eps > 0.1 && law.delta == 1e-6);
    s.rho = 0;
    assert_status(tacet_stopping_price(&law, &s, NULL), TACET_INVALID);
}

/* K of 4,000 keys against the geometric law of mean 5 by chi-square: false alarm one in 10,000. */
TEST(the_number_of_runs_is_geometric) {
    enum { KEYS = 4000, CELLS = 12 };
    tacet_select law;
    size_t seen[CELLS] = {0};
    assert_ok(tacet__stopping_law(&law, 5, NULL));
    for (uint32_t k = 0; k < KEYS; k++) {
        unsigned char key[TACET_MINT_BYTES] = {0};
        memcpy(key, &k, sizeof k);
        const uint64_t runs = tacet__stopping_runs(key, &law);
        assert_true(runs >= 1);
        assert_int_equal(runs, tacet__stopping_runs(key, &law));
        seen[runs <= CELLS ? runs - 1 : CELLS - 1]++;
    }
    double statistic = 0;
    for (size_t i = 0; i < CELLS; i++) {
        const double p = i + 1 < CELLS ? 0.2 * pow(0.8, (double)i) : pow(0.8, CELLS - 1);
        statistic += pow((double)seen[i] - KEYS * p, 2) / (KEYS * p);
    }
    assert_true(test_chi2_pvalue(statistic, CELLS - 1) > 1e-4);
}

typedef struct seen {
    size_t runs;
    double records[2000][WORLD_COLUMNS];
} seen;

/* Tells at most `most` runs; true: it ended, and the winner is in *best. */
static bool play(const char *folder, const tacet_space *space, size_t most, seen *all, double *best) {
    double score = 0, record[WORLD_COLUMNS];
    bool ended = false;
    tacet_stopping *stopping = NULL;
    tacet_ledger *ledger = open_ledger(folder, 2);
    OWN_TEXT char *path = test_text("%s/state", folder);
    const tacet_tune_ask ask = {.ledger = ledger, .state = path, .ticket = "private"};
    const tacet_stopping_settings s = settings_of(space);
    assert_ok(tacet_stopping_open(&stopping, &s, &ask, NULL));
    for (size_t i = 0; i < most; i++) {
        size_t run = 0;
        assert_ok(tacet_stopping_next(stopping, &run, record, NULL));
        if (run == TACET_TUNE_NONE) {
            assert_ok(tacet_stopping_result(stopping, best, &score, NULL));
            ended = true;
            break;
        }
        assert_status(tacet_stopping_result(stopping, best, &score, NULL), TACET_STATE);
        memcpy(all->records[all->runs++], record, sizeof record);
        assert_ok(tacet_stopping_tell(stopping, run, run % 4 == 3 ? NAN : world_mean(record), NULL, NULL));
        assert_status(tacet_stopping_tell(stopping, run, 1, NULL, NULL), TACET_STATE);
    }
    tacet_stopping_close(stopping);
    tacet_ledger_close(ledger);
    return ended;
}

/* Stopped after every run: each is told once, K is not drawn again, the charge is there from the beginning, and the
 * winner is the best of what was told, now and later. */
TEST(a_restart_draws_nothing_again) {
    OWN_SPACE tacet_space space;
    world_space(&space);
    for (int world = 0; world < 3; world++) {
        static seen all;
        double best[WORLD_COLUMNS] = {0}, again[WORLD_COLUMNS] = {0};
        tacet_ledger_totals totals;
        OWN_TEXT char *folder = test_text("%s", test_mkdir());
        all.runs = 0;
        (void)play(folder, &space, 0, &all, best);
        tacet_ledger *ledger = open_ledger(folder, 2);
        assert_ok(tacet_ledger_total(ledger, &totals, NULL));
        assert_close(totals.spent, 1.5, 1e-9);
        tacet_ledger_close(ledger);
        for (int i = 0; i < 2000 && !play(folder, &space, 1, &all, best); i++) {
        }
        double most = -INFINITY;
        for (size_t i = 0; i < all.runs; i++) {
            const double score = world_mean(all.records[i]);
            for (size_t k = 0; k < i; k++) {
                assert_true(memcmp(all.records[i], all.records[k], sizeof all.records[i]) != 0);
            }
            most = i % 4 != 3 && score > most ? score : most;
        }
        assert_true(all.runs >= 1 && world_mean(best) == most);
        const size_t runs = all.runs;
        assert_true(play(folder, &space, 1, &all, again));
        assert_memory_equal(best, again, sizeof best);
        assert_int_equal(all.runs, runs);
        ledger = open_ledger(folder, 2);
        assert_ok(tacet_ledger_total(ledger, &totals, NULL));
        assert_close(totals.spent, 1.5, 1e-9);
        assert_int_equal(totals.entries, 1);
        tacet_space line; /* the answer is of another one */
        tacet_stopping *stopping = NULL;
        const tacet_space_options options = {.bounds = "x=0:1"};
        assert_ok(tacet_space_short(&line, &options, NULL));
        const tacet_stopping_settings other = settings_of(&line);
        assert_status(
            tacet_stopping_open(&stopping, &other, &(tacet_tune_ask){.ledger = ledger, .ticket = "private"}, NULL),
            TACET_CONFLICT);
        tacet_space_clear(&line);
        tacet_ledger_close(ledger);
        test_rmdir(folder);
    }
}

/* Runs are of one reservation: under that of another ledger the same file is of other runs, once one was told. */
TEST(a_state_is_of_its_reservation) {
    char first[256], second[256], path[512];
    tacet_space space;
    tacet_stopping *stopping = NULL;
    (void)state;
    world_space(&space);
    const tacet_stopping_settings s = settings_of(&space);
    (void)snprintf(first, sizeof first, "%s", test_mkdir());
    (void)snprintf(second, sizeof second, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/state", first);
    for (int k = 0; k < 2; k++) {
        tacet_ledger *ledger = open_ledger(k == 0 ? first : second, 2);
        const tacet_tune_ask ask = {.ledger = ledger, .state = path, .ticket = "private"};
        assert_status(tacet_stopping_open(&stopping, &s, &ask, NULL), k == 0 ? TACET_OK : TACET_CONFLICT);
        if (k == 0) {
            double record[WORLD_COLUMNS];
            size_t run = 0;
            assert_ok(tacet_stopping_next(stopping, &run, record, NULL));
            assert_ok(tacet_stopping_tell(stopping, run, 0.5, NULL, NULL));
        }
        tacet_stopping_close(stopping);
        tacet_ledger_close(ledger);
    }
    test_rmdir(first);
    test_rmdir(second);
    tacet_space_clear(&space);
}

/* An entry that no run writes: of a run that there is not, too short, of one that was told. */
TEST(a_forged_state_is_refused) {
    static const double SCORE = 0.5;
    static const struct {
        uint64_t number;
        size_t size;
    } forged[] = {{UINT64_C(1) << 40, sizeof SCORE}, {0, sizeof SCORE / 2}, {0, sizeof SCORE}};
    OWN_SPACE tacet_space space;
    world_space(&space);
    const tacet_stopping_settings s = settings_of(&space);
    for (size_t i = 0; i < 3; i++) {
        static seen all;
        double best[WORLD_COLUMNS];
        tacet_stopping *stopping = NULL;
        OWN_TEXT char *folder = test_text("%s", test_mkdir());
        OWN_TEXT char *path = test_text("%s/state", folder);
        all.runs = 0;
        (void)play(folder, &space, i == 2 ? 1 : 0, &all, best);
        forge_entry(path, forged[i].number, &SCORE, forged[i].size);
        const tacet_tune_ask ask = {.ledger = open_ledger(folder, 2), .state = path, .ticket = "private"};
        assert_status(tacet_stopping_open(&stopping, &s, &ask, NULL), TACET_CORRUPT);
        tacet_ledger_close(ask.ledger);
        test_rmdir(folder);
    }
}

TEST(it_needs_a_ledger_with_room) {
    tacet_space space;
    tacet_stopping *stopping = NULL;
    world_space(&space);
    const tacet_stopping_settings s = settings_of(&space);
    tacet_tune_ask ask = {0};
    assert_status(tacet_stopping_open(&stopping, &s, &ask, NULL), TACET_INVALID);
    OWN_TEXT char *folder = test_text("%s", test_mkdir());
    ask.ledger = open_ledger(folder, 1);
    assert_status(tacet_stopping_open(&stopping, &s, &ask, NULL), TACET_BUDGET);
    assert_null(stopping);
    const tacet_stopping_settings nowhere = settings_of(NULL);
    assert_status(tacet_stopping_open(&stopping, &nowhere, &ask, NULL), TACET_INVALID);
    tacet_ledger_close(ask.ledger);
    tacet_space_clear(&space);
    test_rmdir(folder);
}
