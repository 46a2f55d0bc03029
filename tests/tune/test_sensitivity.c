/* SPDX-License-Identifier: Apache-2.0 */
/* test_sensitivity.c - what enters the gate, recorded for many pairs of neighbours: no score may move by more than the
 * noise was calibrated for, whatever one record's values become. The state file is the recorder: it holds the sums that
 * the choices are made of. */
#include "tune/run.h"

#include <tacet/tally/trusted/tally.h>

enum { N = 12, SETTINGS = 9, HEAD = 48, HASH = 32 };

typedef struct recorded {
    int64_t search[SETTINGS], kept[SETTINGS];
    double sensitivity;
} recorded;

/* Entries of the state: number, size, two sums, more bytes, hash. */
static void read_state(recorded *out, const char *path) {
    FILE *file = fopen(path, "rb");
    uint64_t head[2];
    assert_non_null(file);
    assert_int_equal(fseek(file, HEAD, SEEK_SET), 0);
    for (size_t i = 0; i < SETTINGS; i++) {
        assert_int_equal(fread(head, sizeof *head, 2, file), 2);
        assert_int_equal(fread(&out->search[head[0]], sizeof(int64_t), 1, file), 1);
        assert_int_equal(fread(&out->kept[head[0]], sizeof(int64_t), 1, file), 1);
        assert_int_equal(fseek(file, (long)(head[1] - 16 + HASH), SEEK_CUR), 0);
    }
    (void)fclose(file);
}

static double any_value(tacet_simrng *rng, double lower, double upper) {
    switch (tacet_simrng_below(rng, 9)) {
    case 0:
        return NAN;
    case 1:
        return INFINITY;
    case 2:
        return -INFINITY;
    case 3:
        return lower;
    case 4:
        return upper;
    case 5:
        return lower - 10 * tacet_simrng_uniform(rng);
    case 6:
        return upper + 10 * tacet_simrng_uniform(rng);
    default:
        return lower + tacet_simrng_uniform(rng) * (upper - lower);
    }
}

static void run(recorded *out, const tacet_tune_settings *s, const char *path, const double *values) {
    tacet_tune *tune = NULL;
    tacet_tune_ask ask = {.noise = test_noise(1, 1), .state = path};
    double record[WORLD_COLUMNS];
    tacet_receipt receipt;
    (void)remove(path);
    assert_ok(tacet_tune_open(&tune, s, &ask, NULL));
    for (size_t number = 0; number != TACET_TUNE_NONE;) {
        assert_ok(tacet_tune_next(tune, &number, record, NULL));
        if (number != TACET_TUNE_NONE) {
            assert_ok(tacet_tune_tell(tune, number, values + number * N, N, NULL));
        }
    }
    assert_ok(tacet_tune_winner(tune, 0, NULL, &receipt, NULL));
    out->sensitivity = receipt.sensitivity;
    tacet_tune_close(tune);
    tacet_noise_close(ask.noise);
    read_state(out, path);
}

TEST(one_record_moves_no_score_too_far) {
    OWN_TEXT char *folder = test_text("%s", test_mkdir());
    OWN_TEXT char *path = test_text("%s/state", folder);
    tacet_space space;
    world_space(&space);
    tacet_simrng rng = test_rng(11, 0);
    int64_t most = 0, both = 0;
    const int pairs = test_slow() ? 20 : 400;
    for (int pair = 0; pair < pairs; pair++) {
        tacet_tune_settings s = world_settings(&space, N);
        double values[2][SETTINGS * N];
        recorded seen[2];
        s.evaluations = SETTINGS;
        s.flat = true;
        s.lower = -3;
        s.upper = 4;
        s.kept = pair % 2 == 0 ? .25 : 0;
        s.minimize = pair % 3 == 0;
        s.contrast = pair % 5 == 0 ? 1.5 : 0;
        const size_t changed = tacet_simrng_below(&rng, N);
        for (size_t k = 0; k < SETTINGS; k++) {
            for (size_t i = 0; i < N; i++) {
                values[0][k * N + i] = any_value(&rng, s.lower, s.upper);
                values[1][k * N + i] = i == changed ? any_value(&rng, s.lower, s.upper) : values[0][k * N + i];
            }
        }
        run(&seen[0], &s, path, values[0]);
        run(&seen[1], &s, path, values[1]);
        int64_t searched = 0, kept = 0;
        for (size_t k = 0; k < SETTINGS; k++) {
            const int64_t a = llabs(seen[0].search[k] - seen[1].search[k]);
            const int64_t b = llabs(seen[0].kept[k] - seen[1].kept[k]);
            assert_true(ldexp((double)a, -TACET_TALLY_BITS) <= seen[0].sensitivity && a <= TACET_TALLY_ONE &&
                        b <= TACET_TALLY_ONE);
            searched = a > searched ? a : searched;
            kept = b > kept ? b : kept;
        }
        most = searched > most ? searched : most;
        both += searched > 0 && kept > 0; /* a record is searched or kept, never both */
    }
    assert_int_equal(most, TACET_TALLY_ONE); /* the bound is met: it is not too wide either */
    assert_int_equal(both, 0);
    tacet_space_clear(&space);
    test_rmdir(folder);
}
