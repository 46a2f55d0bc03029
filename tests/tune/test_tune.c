/* SPDX-License-Identifier: Apache-2.0 */
/* test_tune.c - the run: planned by public numbers, resumed anywhere, charged once, and it finds what there is. */
#include "space/internal.h"
#include "tune/run.h"

#include "tune/trusted/internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <tacet/tally/trusted/tally.h>
#include <unistd.h>

static int syncs;

#pragma GCC visibility push(default)
int fsync(int fd) {
    syncs++;
    return (int)syscall(SYS_fsync, fd);
}
#pragma GCC visibility pop

TEST(the_plan_follows_the_table) {
    const struct {
        size_t n, rounds, first;
        double last;
    } rows[] = {{290, 1, 100, 1}, {310, 2, 85, .9}, {1000, 3, 70, .84}, {5000, 4, 30, .6}, {20000, 8, 30, .4}};
    OWN_SPACE tacet_space space;
    world_space(&space);
    tacet_tune_settings s = world_settings(&space, 0);
    s.evaluations = 100;
    s.kept = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tacet_tune_plan plan;
        s.records = rows[i].n;
        assert_ok(tacet_tune_plan_get(&plan, &s, NULL));
        assert_int_equal(plan.rounds, rows[i].rounds);
        assert_int_equal(plan.settings[0], rows[i].first);
        assert_close(plan.eps[plan.rounds - 1], rows[i].last, 1e-12);
        double eps = 0;
        size_t settings = 0;
        for (size_t k = 0; k < plan.rounds; k++) {
            eps += plan.eps[k];
            settings += plan.settings[k];
        }
        assert_true(eps <= 1 && eps > 1 - 1e-12);
        assert_int_equal(settings, 100);
    }
    tacet_tune_plan plan;
    s.records = 1000;
    s.kept = .2;
    assert_ok(tacet_tune_plan_get(&plan, &s, NULL));
    assert_int_equal(plan.kept, 200);
    assert_close(plan.strength, 800, 1e-9); /* kept records are not searched, and count in neither */
    assert_close(plan.score_sd, sqrt(2) / 200, 1e-12);
    assert_close(plan.margin, 4 / (800 * plan.eps[plan.rounds - 1]),
                 1e-12); /* README.md: within which the best is kept */
    s.kept = 0;
    s.lower = 0;
    s.upper = 320;
    s.contrast = 64; /* a fifth of the range: values of length 128 */
    assert_ok(tacet_tune_plan_get(&plan, &s, NULL));
    assert_close(plan.strength, 2500, 1e-9);
    s.evaluations = 14;
    assert_ok(tacet_tune_plan_get(&plan, &s, NULL));
    assert_int_equal(plan.rounds, 3);
    s.evaluations = 13; /* too few for later rounds */
    assert_ok(tacet_tune_plan_get(&plan, &s, NULL));
    assert_int_equal(plan.rounds, 1);
    s.evaluations = 14;
    s.flat = true;
    assert_ok(tacet_tune_plan_get(&plan, &s, NULL));
    assert_int_equal(plan.rounds, 1);
    s.records = 2;
    s.kept = .9; /* of two records one is left to search */
    assert_ok(tacet_tune_plan_get(&plan, &s, NULL));
    assert_true(plan.searched == 1 && plan.kept == 1);
}

TEST(settings_that_make_no_sense_are_refused) {
    OWN_SPACE tacet_space space;
    world_space(&space);
    const tacet_tune_settings good = world_settings(&space, 100);
    tacet_tune_settings bad[10];
    for (size_t i = 0; i < 10; i++) {
        bad[i] = good;
    }
    bad[0].space = NULL;
    bad[1].records = 1;
    bad[2].upper = 0;
    bad[3].upper = NAN;
    bad[4].eps = 0;
    bad[5].eps = NAN;
    bad[6].evaluations = 0;
    bad[7].kept = .95;
    bad[8].level = 1;
    bad[9].contrast = 2;
    for (size_t i = 0; i < 10; i++) {
        tacet_tune_plan plan;
        assert_status(tacet_tune_plan_get(&plan, &bad[i], NULL), TACET_INVALID);
    }
    tacet_tune *tune = NULL;
    const tacet_tune_ask nothing = {0};
    assert_status(tacet_tune_open(&tune, &good, &nothing, NULL), TACET_INVALID); /* private, and no ledger */
    assert_null(tune);
    /* A name that is cut short would be another run's, too. */
    char longest[122] = "";
    memset(longest, 'a', sizeof longest - 1);
    const tacet_tune_ask names[] = {{.ticket = ""}, {.ticket = longest}, {.to_whom = longest}};
    for (size_t i = 0; i < 3; i++) {
        tacet_tune_ask ask = names[i];
        ask.noise = test_noise(1, 0);
        assert_status(tacet_tune_open(&tune, &good, &ask, NULL), TACET_INVALID);
        tacet_noise_close(ask.noise);
    }
    const double outside[] = {1.5, 0.1, 0};
    const tacet_tune_ask ask = {.noise = test_noise(1, 0)};
    tacet_tune_settings contrast = good;
    contrast.contrast = 0.5;
    contrast.reference = outside;
    assert_status(tacet_tune_open(&tune, &contrast, &ask, NULL), TACET_INVALID);
    contrast.reference = NULL;
    assert_ok(tacet_tune_open(&tune, &contrast, &ask, NULL));
    size_t number = 1;
    double record[WORLD_COLUMNS];
    assert_ok(tacet_tune_next(tune, &number, record, NULL));
    assert_int_equal(number, 0); /* the reference: without its values there is nothing to compare with */
    assert_status(tacet_tune_fail(tune, number, NULL), TACET_STATE);
    tacet_tune_close(tune);
    tacet_noise_close(ask.noise);
}

/* Twenty seeds at n = 2,000, eps 1: the mean gap of the last winner; a random setting's is .33, the worst of 20 runs
 * while this was written .06. */
TEST(it_finds_a_good_setting) {
    enum { N = 2000 };
    double gap = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        tuning w;
        size_t told = 0;
        double record[WORLD_COLUMNS];
        tacet_tune_score score;
        world_begin(&w, N, seed, 7);
        w.s.evaluations = 60;
        w.s.seed = seed;
        world_open(&w);
        assert_true(world_run(w.tune, N, SIZE_MAX, &told));
        assert_int_equal(told, 60);
        assert_ok(tacet_tune_winner(w.tune, tacet_tune_winners(w.tune) - 1, record, NULL, NULL));
        gap += (0.9 - world_mean(record)) / 20;
        assert_ok(tacet_tune_score_get(w.tune, &score, NULL));
        assert_true(score.lower <= world_mean(record) && world_mean(record) <= score.upper);
        assert_int_equal(score.records, 400);
        world_end(&w);
    }
    assert_true(gap < 0.05);
}

typedef struct outcome {
    size_t rounds;
    double winners[TACET_TUNE_ROUNDS_MOST][WORLD_COLUMNS];
    double score;
} outcome;

static outcome outcome_of(const tacet_tune *tune) {
    outcome out = {.rounds = tacet_tune_winners(tune)};
    tacet_tune_score score;
    for (size_t k = 0; k < out.rounds; k++) {
        assert_ok(tacet_tune_winner(tune, k, out.winners[k], NULL, NULL));
    }
    assert_ok(tacet_tune_score_get(tune, &score, NULL));
    out.score = score.value;
    return out;
}

/* Stopped after each setting and gone on with from state and ledger: every setting is told once, all is charged once,
 * and a run that is done gives the same answer for ever. */
TEST(a_run_is_resumed_anywhere) {
    enum { N = 1000 };
    OWN_TEXT char *folder = test_text("%s", test_mkdir());
    OWN_TEXT char *path = test_text("%s/state", folder);
    tacet_space space;
    world_space(&space);
    const tacet_tune_settings s = world_settings(&space, N);
    outcome first = {0};
    size_t told = 0;
    bool done = false;
    for (int i = 0; i < 40; i++) {
        tacet_tune *tune = NULL;
        tacet_ledger *ledger = open_ledger(folder, 1);
        const tacet_tune_ask ask = {.ledger = ledger, .state = path, .ticket = "model"};
        assert_ok(tacet_tune_open(&tune, &s, &ask, NULL));
        done = world_run(tune, N, 1, &told);
        if (!done) { /* another one is out when the process ends */
            size_t number = 0;
            double record[WORLD_COLUMNS];
            assert_ok(tacet_tune_next(tune, &number, record, NULL));
            done = tacet_tune_done(tune);
        }
        if (done) {
            const outcome now = outcome_of(tune);
            assert_true(first.rounds == 0 || memcmp(&first, &now, sizeof now) == 0);
            first = now;
        }
        tacet_tune_close(tune);
        tacet_ledger_close(ledger);
    }
    assert_true(done && first.rounds == 3);
    assert_int_equal(told, 30);
    tacet_ledger *ledger = open_ledger(folder, 1);
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_close(totals.spent, 1, 1e-9); /* search and score together: no record is in both */
    assert_int_equal(totals.entries, 4);
    assert_int_equal(totals.answered, 4);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    /* Whoever gave the state to others: going on takes it back. */
    assert_int_equal(chmod(path, 0644), 0);
    tacet_tune *once_more = NULL;
    assert_ok(
        tacet_tune_open(&once_more, &s, &(tacet_tune_ask){.ledger = ledger, .state = path, .ticket = "model"}, NULL));
    tacet_tune_close(once_more);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    /* There is nothing left for another run, which is told so before it evaluates anything. */
    tacet_tune *tune = NULL;
    const tacet_tune_ask again = {.ledger = ledger, .ticket = "another"};
    assert_status(tacet_tune_open(&tune, &s, &again, NULL), TACET_BUDGET);
    tacet_ledger_close(ledger);
    tacet_space_clear(&space);
    test_rmdir(folder);
}

/* A lost state: settings are evaluated again, winners are not drawn again. */
TEST(winners_outlive_the_state) {
    enum { N = 400 };
    OWN_TEXT char *folder = test_text("%s", test_mkdir());
    tacet_space space;
    world_space(&space);
    const tacet_tune_settings s = world_settings(&space, N);
    outcome outcomes[2];
    for (int i = 0; i < 2; i++) {
        tacet_tune *tune = NULL;
        size_t told = 0;
        tacet_ledger *ledger = open_ledger(folder, 1);
        const tacet_tune_ask ask = {.ledger = ledger};
        assert_ok(tacet_tune_open(&tune, &s, &ask, NULL));
        assert_true(world_run(tune, N, SIZE_MAX, &told));
        outcomes[i] = outcome_of(tune);
        tacet_tune_close(tune);
        tacet_ledger_close(ledger);
    }
    assert_memory_equal(&outcomes[0], &outcomes[1], sizeof outcomes[0]);
    tacet_space_clear(&space);
    test_rmdir(folder);
}

TEST(a_state_belongs_to_its_settings) {
    enum { N = 100 };
    OWN_TEXT char *folder = test_text("%s", test_mkdir());
    OWN_TEXT char *path = test_text("%s/state", folder);
    tacet_space space;
    world_space(&space);
    tacet_tune_settings s = world_settings(&space, N);
    tacet_tune *tune = NULL, *other = NULL;
    size_t told = 0;
    tacet_tune_ask ask = {.noise = test_noise(1, 1), .state = path};
    assert_ok(tacet_tune_open(&tune, &s, &ask, NULL));
    const int before = syncs;
    assert_false(world_run(tune, N, 5, &told));
    assert_int_equal(syncs, before + 5); /* what was told is durable when that returns */
    assert_status(tacet_tune_open(&other, &s, &ask, NULL), TACET_BUSY);
    tacet_tune_close(tune);
    for (int k = 0; k < 9; k++) {
        tacet_tune_settings changed = s;
        changed.eps = k == 0 ? 2 : changed.eps;
        changed.seed += k == 1 ? 1 : 0;
        changed.lower -= k == 2 ? 1 : 0;
        changed.upper += k == 3 ? 1 : 0;
        changed.minimize = k == 4;
        changed.kept = k == 5 ? 0.3 : changed.kept;
        changed.level = k == 6 ? 0.9 : changed.level;
        changed.evaluations += k == 7 ? 1 : 0;
        changed.flat = k == 8;
        assert_status(tacet_tune_open(&tune, &changed, &ask, NULL), TACET_CONFLICT);
    }
    /* A torn last entry is asked for again; a changed byte before it is refused. */
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(truncate(path, about.st_size - 3), 0);
    assert_ok(tacet_tune_open(&tune, &s, &ask, NULL));
    tacet_tune_progress progress;
    tacet_tune_progress_get(tune, &progress);
    assert_int_equal(progress.told, 4);
    tacet_tune_close(tune);
    static const off_t PLACES[] = {3, 63, 70}; /* of what the file is, of an entry's length, of an entry */
    const int file = open(path, O_RDWR);
    for (size_t i = 0; i < 3; i++) {
        char byte = 0;
        assert_int_equal(pread(file, &byte, 1, PLACES[i]), 1);
        byte ^= 0x41;
        assert_int_equal(pwrite(file, &byte, 1, PLACES[i]), 1);
        assert_status(tacet_tune_open(&tune, &s, &ask, NULL), TACET_CORRUPT);
        byte ^= 0x41;
        assert_int_equal(pwrite(file, &byte, 1, PLACES[i]), 1);
    }
    (void)close(file);
    tacet_noise_close(ask.noise);
    tacet_space_clear(&space);
    test_rmdir(folder);
}

/* Evaluates until nothing is left, or something is refused; *best: the largest mean that was told. */
static tacet_status run_on(tacet_tune *tune, size_t n, size_t most, double *best) {
    double *values = calloc(n, sizeof *values);
    tacet_status status = TACET_OK;
    for (size_t k = 0; k < most && status == TACET_OK; k++) {
        size_t number = 0;
        double record[WORLD_COLUMNS];
        status = tacet_tune_next(tune, &number, record, NULL);
        if (status != TACET_OK || number == TACET_TUNE_NONE) {
            break;
        }
        world_values(values, n, record);
        status = tacet_tune_tell(tune, number, values, n, NULL);
        *best = fmax(*best, world_mean(record));
    }
    free(values);
    return status;
}

/* Who is kept and who is searched follows from the seed: of another one the records that a ticket has spent would be
 * others than those its parts name. In another space the numbers of its winners would be other settings. Both are
 * refused before anything is evaluated. */
TEST(another_split_or_space_is_another_question) {
    enum { N = 400 };
    char folder[256];
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    tacet_space space;
    world_space(&space);
    tacet_tune_settings s = world_settings(&space, N);
    tacet_ledger *ledger = open_ledger(folder, 2);
    const tacet_tune_ask ask = {.ledger = ledger};
    for (int k = 0; k < 3; k++) {
        tacet_tune *tune = NULL;
        double best = 0;
        s.seed = k == 1 ? 2 : 1;
        space.columns[0].hi = k == 2 ? 2 : 1;
        assert_status(tacet_tune_open(&tune, &s, &ask, NULL), k == 0 ? TACET_OK : TACET_CONFLICT);
        assert_ok(k == 0 ? run_on(tune, N, 100, &best) : TACET_OK);
        tacet_tune_close(tune);
    }
    tacet_ledger_close(ledger);
    tacet_space_clear(&space);
    test_rmdir(folder);
}

/* Contrasts need the reference's values before any other's, and keep them: stopped after each setting and gone on with,
 * almost without noise, the run finds the best setting that it tried. */
TEST(contrasts_are_with_the_reference) {
    enum { N = 1000 };
    char folder[256], path[512];
    (void)snprintf(folder, sizeof folder, "%s", test_mkdir());
    (void)snprintf(path, sizeof path, "%s/state", folder);
    tacet_space space;
    world_space(&space);
    tacet_tune_settings s = world_settings(&space, N);
    s.contrast = 1;
    s.eps = 1e5;
    double best = 0, winner[WORLD_COLUMNS] = {0};
    bool done = false;
    for (size_t i = 0; i < 40 && !done; i++) {
        tacet_tune *tune = NULL;
        size_t number = 0;
        double record[WORLD_COLUMNS];
        tacet_ledger *ledger = open_ledger(folder, 1e5);
        const tacet_tune_ask ask = {.ledger = ledger, .state = path};
        assert_ok(tacet_tune_open(&tune, &s, &ask, NULL));
        if (i == 0) {
            assert_ok(tacet_tune_next(tune, &number, record, NULL));
            assert_int_equal(number, 0);
            assert_ok(tacet_tune_next(tune, &number, record, NULL));
            assert_true(number == TACET_TUNE_NONE);
            assert_ok(tacet_tune_give_back(tune, 0, NULL));
        }
        assert_ok(run_on(tune, N, 1, &best));
        done = tacet_tune_done(tune);
        if (done) {
            assert_ok(tacet_tune_winner(tune, tacet_tune_winners(tune) - 1, winner, NULL, NULL));
        }
        tacet_tune_close(tune);
        tacet_ledger_close(ledger);
    }
    assert_true(done);
    assert_true(world_mean(winner) > best - 2.0 / N);
    tacet_space_clear(&space);
    test_rmdir(folder);
}

/* An entry that no run writes: of a setting that there is not, too short, of one that was told. */
TEST(a_forged_state_is_refused) {
    static const int64_t SUMS[2] = {1, 1};
    static const struct {
        uint64_t number;
        size_t size;
    } forged[] = {{1000000, sizeof SUMS}, {1, sizeof SUMS[0]}, {0, sizeof SUMS}, {1, sizeof SUMS}};
    for (size_t i = 0; i < 4; i++) {
        tuning w;
        size_t told = 0;
        OWN_TEXT char *folder = test_text("%s", test_mkdir());
        OWN_TEXT char *path = test_text("%s/state", folder);
        world_begin(&w, 100, 1, 1);
        w.ask.state = path;
        world_open(&w);
        assert_false(world_run(w.tune, 100, 1, &told));
        tacet_tune_close(w.tune);
        forge_entry(path, forged[i].number, SUMS, forged[i].size);
        assert_status(tacet_tune_open(&w.tune, &w.s, &w.ask, NULL), i < 3 ? TACET_CORRUPT : TACET_OK);
        world_end(&w);
        test_rmdir(folder);
    }
}

TEST(what_is_told_is_checked) {
    enum { N = 50 };
    double values[N] = {0}, record[WORLD_COLUMNS];
    size_t number = 0, again = 0;
    tuning w;
    tacet_error err = {0};
    tacet_tune_score score;
    world_begin(&w, N, 1, 2);
    world_open(&w);
    assert_status(tacet_tune_tell(w.tune, 0, values, N, NULL), TACET_STATE);
    assert_true(world_next(&w, &number, record));
    assert_status(tacet_tune_tell(w.tune, number, values, 1, &err), TACET_INVALID);
    assert_non_null(strstr(err.message, "never their mean"));
    assert_ok(tacet_tune_tell(w.tune, number, values, N, NULL));
    assert_status(tacet_tune_tell(w.tune, number, values, N, NULL), TACET_STATE);
    assert_status(tacet_tune_fail(w.tune, number, NULL), TACET_STATE);
    assert_true(world_next(&w, &number, record));
    assert_ok(tacet_tune_give_back(w.tune, number, NULL));
    assert_true(world_next(&w, &again, record));
    assert_int_equal(number, again);
    assert_status(tacet_tune_score_get(w.tune, &score, NULL), TACET_STATE);
    assert_status(tacet_tune_winner(w.tune, 0, record, NULL, NULL), TACET_NOT_FOUND);
    world_end(&w);
}

/* A setting that fails is the worst of all: with eps 50 it wins with probability below e^-100. */
TEST(a_failed_setting_does_not_win) {
    enum { N = 100 };
    double values[N], record[WORLD_COLUMNS], good[WORLD_COLUMNS] = {0};
    tuning w;
    tacet_tune_score score;
    world_begin(&w, N, 1, 3);
    w.s.eps = 50;
    w.s.flat = true;
    w.s.minimize = true; /* losses: the worst is the highest */
    world_open(&w);
    for (size_t number = 0; world_next(&w, &number, record);) {
        for (size_t i = 0; i < N; i++) {
            values[i] = number == 7 ? 0.1 : number == 8 ? (i % 2 == 0 ? NAN : 0.05) : 0.4;
        }
        if (number == 7) {
            memcpy(good, record, sizeof good);
        }
        assert_ok(number % 3 == 0 ? tacet_tune_fail(w.tune, number, NULL)
                                  : tacet_tune_tell(w.tune, number, values, N, NULL));
    }
    assert_ok(tacet_tune_winner(w.tune, 0, record, NULL, NULL));
    assert_memory_equal(record, good, sizeof good);
    assert_ok(tacet_tune_score_get(w.tune, &score, NULL));
    assert_true(score.lower <= 0.1 && 0.1 <= score.upper && score.upper < 0.5);
    world_end(&w);
}

/* Which settings come next, and which records are kept, follow from winners and public numbers: two runs on other data
 * with the same noise that happen to have the same winners ask for the same settings. */
TEST(candidates_depend_on_winners_alone) {
    OWN_SPACE tacet_space space;
    world_space(&space);
    double cube[WORLD_COLUMNS], record[WORLD_COLUMNS], back[WORLD_COLUMNS];
    tacet__settings a = {.space = &space}, b = {.space = &space};
    const size_t winners[] = {3, 25, 40};
    assert_ok(tacet__settings_reserve(&a, 101, NULL));
    assert_ok(tacet__settings_reserve(&b, 101, NULL));
    tacet__settings_spread(&a, 40, 9);
    tacet__settings_spread(&b, 40, 9);
    for (size_t k = 1; k < 4; k++) {
        tacet__settings_zoom(&a, 20, 9, k, 4, winners);
        tacet__settings_zoom(&b, 20, 9, k, 4, winners);
    }
    assert_true(a.count == 100 && b.count == 100);
    assert_memory_equal(a.records, b.records, 100 * sizeof record);
    double far = 0;
    for (size_t i = 0; i < 100; i++) {
        for (size_t j = 0; j < WORLD_COLUMNS; j++) {
            assert_true(tacet_space_holds(&space.columns[j], a.records[i * WORLD_COLUMNS + j]));
            assert_true(a.cubes[i * WORLD_COLUMNS + j] >= 0 && a.cubes[i * WORLD_COLUMNS + j] <= 1);
        }
        tacet__tune_cube(&space, cube, a.records + i * WORLD_COLUMNS);
        tacet__tune_record(&space, back, cube);
        assert_close(back[1] / a.records[i * WORLD_COLUMNS + 1], 1, 1e-12);
        assert_true(back[2] == a.records[i * WORLD_COLUMNS + 2]);
    }
    /* The third round's steps are a sixteenth in x, and half of them move it: most stay near their centre. */
    size_t near = 0;
    for (size_t i = 80; i < 100; i++) {
        const double x = a.cubes[i * WORLD_COLUMNS], w = a.cubes[40 * WORLD_COLUMNS], v = a.cubes[25 * WORLD_COLUMNS];
        near += fmin(fabs(x - w), fabs(x - v)) < 0.2;
        far = fmax(far, fabs(x - w));
    }
    assert_true(near >= 15 && far > 0);
    tacet__settings_clear(&a);
    tacet__settings_clear(&b);
}

/* A space with twelve settings: each is evaluated once, and the run ends. */
TEST(a_small_space_is_tried_whole) {
    const tacet_space_options options = {.levels = "depth=1|2|3|4,kind=a|b|c"};
    double record[WORLD_COLUMNS];
    bool seen[12] = {false};
    size_t told = 0;
    tuning w;
    world_begin(&w, 1000, 1, 4);
    tacet_space_clear(&w.space);
    assert_ok(tacet_space_short(&w.space, &options, NULL));
    world_open(&w);
    for (size_t number = 0; world_next(&w, &number, record); told++) {
        const size_t at = (size_t)record[0] * 3 + (size_t)record[1];
        assert_false(seen[at]);
        seen[at] = true;
        world_tell(&w, number, at == 5 ? 0.9 : 0.5);
    }
    assert_true(tacet_tune_done(w.tune) && told <= 12 && told >= 11);
    assert_ok(tacet_tune_winner(w.tune, 2, record, NULL, NULL));
    assert_true(!seen[5] || (record[0] == 1 && record[1] == 2));
    world_end(&w);
}

static double divergence(double p, double q) {
    return p * log(p / q) + (1 - p) * log((1 - p) / (1 - q));
}

/* Coverage by exact sums: for every q the probability that the interval of a mean of n 0/1 values misses q, without
 * noise, is at most alpha/2; and the interval is not everything. */
TEST(the_interval_covers) {
    enum { N = 60 };
    const double alpha = 0.1;
    for (double q = 0.02; q < 1; q += 0.02) {
        double missed = 0;
        for (int k = 0; k <= N; k++) {
            double lower = 0, upper = 0;
            tacet_tune_interval(&lower, &upper, (double)k / N, 0, N, alpha);
            const double mass =
                exp(lgamma(N + 1) - lgamma(k + 1) - lgamma(N - k + 1) + k * log(q) + (N - k) * log(1 - q));
            missed += q < lower || q > upper ? mass : 0;
        }
        assert_true(missed <= alpha / 2);
    }
    double lower = 0, upper = 0;
    tacet_tune_interval(&lower, &upper, 0.8, 0.02, 1000, 0.05);
    assert_true(lower > 0.7 && lower < 0.78 && upper > 0.82 && upper < 0.9);
    tacet_tune_interval(&lower, &upper, -0.3, 0.1, 100, 0.05);
    assert_true(lower == 0 && upper > 0 && upper < 0.1);
    /* Half of alpha for the sample, both sides of it; the other half is for the noise. */
    tacet_tune_interval(&lower, &upper, 0.4, 0, 200, 0.05);
    assert_close(divergence(0.4, lower), log(4 / 0.05) / 200, 1e-9);
    assert_close(divergence(0.4, upper), log(4 / 0.05) / 200, 1e-9);
    /* A mean that noise pushed out of its range is the end of it. */
    for (int end = 0; end < 2; end++) {
        double at[2], out[2];
        tacet_tune_interval(&at[0], &at[1], end, 0, 100, 0.05);
        tacet_tune_interval(&out[0], &out[1], end == 1 ? 1.3 : -0.3, 0.1, 100, 0.05);
        assert_true(at[0] == out[0] && at[1] == out[1]);
    }
}

/* A run whose values are all `value`; its score. */
static tacet_tune_score score_of(double value, double eps, uint64_t seed) {
    double record[WORLD_COLUMNS];
    tuning w;
    tacet_tune_score score;
    world_begin(&w, 50, seed, 4);
    w.s.evaluations = 2;
    w.s.eps = eps;
    world_open(&w);
    for (size_t number = 0; world_next(&w, &number, record);) {
        world_tell(&w, number, value);
    }
    assert_ok(tacet_tune_score_get(w.tune, &score, NULL));
    world_end(&w);
    return score;
}

/* Half of alpha is for the noise and what was rounded; a value is in its range whatever the noise is. */
TEST(the_score_says_what_its_noise_allows) {
    const tacet_tune_score s = score_of(0.5, 20, 1);
    double lower = 0, upper = 0;
    const double off = (s.receipt.scale * log(2 / 0.05) + ldexp(1, s.receipt.grid_exponent)) / (double)s.records +
                       0.5 / (double)TACET_TALLY_ONE;
    tacet_tune_interval(&lower, &upper, s.value, off, s.records, 0.05);
    assert_true(s.value > 0 && s.value < 1);
    assert_close(s.lower, lower, 1e-13);
    assert_close(s.upper, upper, 1e-13);
    size_t ends = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const double value = score_of(seed % 2 == 0 ? 0 : 1, 0.05, seed).value;
        assert_true(value >= 0 && value <= 1);
        ends += value == 0 || value == 1 ? 1 : 0;
    }
    assert_true(ends >= 5);
}

/* With hardly any noise the score is the last winner's, which is not the first one's. */
TEST(the_score_is_of_the_last_winner) {
    double first[WORLD_COLUMNS], last[WORLD_COLUMNS], record[WORLD_COLUMNS];
    tuning w;
    tacet_tune_score score;
    world_begin(&w, 1000, 2, 1);
    w.s.eps = 1e5;
    world_open(&w);
    for (size_t number = 0; world_next(&w, &number, record);) {
        world_tell(&w, number, world_mean(record));
    }
    assert_ok(tacet_tune_winner(w.tune, 0, first, NULL, NULL));
    assert_ok(tacet_tune_winner(w.tune, tacet_tune_winners(w.tune) - 1, last, NULL, NULL));
    assert_ok(tacet_tune_score_get(w.tune, &score, NULL));
    assert_close(score.value, world_mean(last), 1e-5);
    assert_true(world_mean(last) > world_mean(first) + 1e-3);
    world_end(&w);
}

/* 100 runs at n = 1,000, eps 1, a fifth kept, records drawn from a population with mean .95: the interval must hold in
 * 95 of them (it is conservative: 6 misses would have a probability below one in a million) and be .15 wide at the
 * most. */
TEST(the_score_holds_as_often_as_it_says) {
    enum { N = 1000 };
    size_t held = 0;
    double width = 0;
    tacet_simrng rng = test_rng(21, 0);
    for (uint64_t run = 0; run < 100; run++) {
        double values[N], record[WORLD_COLUMNS];
        tuning w;
        tacet_tune_score score;
        world_begin(&w, N, run, 9);
        w.s.evaluations = 2;
        w.s.seed = run;
        world_open(&w);
        for (size_t number = 0; world_next(&w, &number, record);) {
            for (size_t i = 0; i < N; i++) {
                values[i] = tacet_simrng_uniform(&rng) < .95;
            }
            assert_ok(tacet_tune_tell(w.tune, number, values, N, NULL));
        }
        assert_ok(tacet_tune_score_get(w.tune, &score, NULL));
        held += score.lower <= .95 && .95 <= score.upper;
        width += (score.upper - score.lower) / 100;
        world_end(&w);
    }
    assert_true(held >= 95);
    assert_true(width < .15 && width > .05);
    print_message("held %zu of 100, mean width %.3f\n", held, width);
}
