/* SPDX-License-Identifier: Apache-2.0 */
/* test_state.c - saved states of the local model's learners: after a long run with open tickets the same bits go
 * on, the bytes do not grow with the rounds where reports are not remembered, and forged numbers are refused. */
#include "local/shared/ldp.h"
#include <tacet/local/open/local.h>

#include "support/test.h"

#include <ctype.h>
#include <sodium.h>
#include <tacet/core/simrng.h>

enum { N = 9, HORIZON = 3000, ROUNDS = 900, MORE = 300, LATE = 7, HASH = 32, LANES = 11 };

typedef struct fixture {
    tacet_kernel *kernel;
    tacet_ldp ldp;
    tacet_local_settings s;
    tacet_simrng rng;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    const double lengthscale = 0.05; /* arms that say little of each other: their own means bind, too */
    f->kernel = test_kernel("matern52", 1, lengthscale);
    assert_ok(tacet_ldp_init(&f->ldp, TACET_LDP_HYBRID, 4, -2, 2, NULL));
    tacet_local_settings_defaults(&f->s);
    f->s.bound = 1;
    f->s.noise_bound = 1;
    f->s.ldp = &f->ldp;
    f->s.horizon = HORIZON;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tacet_kernel_free(f->kernel);
    free(f);
    return 0;
}

static tacet_policy *make(fixture *f) {
    double X[N];
    for (size_t i = 0; i < N; i++) {
        X[i] = (double)i / (N - 1);
    }
    const tacet_cov_spec cov = {.kernel = f->kernel};
    tacet_policy *policy = NULL;
    assert_ok(tacet_local_create(&policy, &f->s, &cov, X, 1, N, NULL));
    return policy;
}

static double report(fixture *f, size_t arm) {
    const double lean = arm == 4 ? 0.2 : 0;
    const double u = tacet_simrng_uniform(&f->rng) * (1 - lean) + lean;
    return tacet_ldp_cell(&f->ldp, (uint32_t)(u * (f->ldp.cells - 1)));
}

/* Rounds first + 1 to last. Reports come LATE rounds late, every 50th never; MoMA's come when its epoch is over. Gives
 * a hash of everything that was suggested. */
static uint64_t play(fixture *f, tacet_policy *policy, size_t first, size_t last, size_t *arms) {
    const bool moma = f->s.algorithm == TACET_LOCAL_MOMA;
    uint64_t print = 0;
    for (size_t t = first; t < last; t++) {
        tacet_suggestion s;
        uint64_t bits = 0;
        assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
        assert_int_equal(s.ticket, t + 1);
        arms[t] = s.index;
        memcpy(&bits, &s.score, sizeof bits);
        print = print * 0x9e3779b97f4a7c15U + bits + s.index;
        if (moma && t % LANES == LANES - 1) {
            for (size_t k = t; k + LANES > t; k--) {
                assert_ok(tacet_policy_observe(policy, k + 1, report(f, arms[k]), NULL));
            }
        } else if (!moma && t >= LATE && (t - LATE) % 50 != 0) {
            assert_ok(tacet_policy_observe(policy, t - LATE + 1, report(f, arms[t - LATE]), NULL));
        }
    }
    return print;
}

static const tacet_local_algorithm ALGORITHMS[] = {TACET_LOCAL_UCB, TACET_LOCAL_TGP, TACET_LOCAL_ATA, TACET_LOCAL_MOMA};

static void choose(fixture *f, size_t i) {
    f->s.algorithm = ALGORITHMS[i];
    f->s.lanes = ALGORITHMS[i] == TACET_LOCAL_MOMA ? LANES : 0;
    f->s.parameters = i == 0 ? TACET_LOCAL_TIGHT : TACET_LOCAL_ORDERWISE;
}

TEST(goes_on_with_the_same_bits) {
    fixture *f = *state;
    size_t arms[HORIZON];
    for (size_t i = 0; i < 4; i++) {
        choose(f, i);
        OWN_POLICY tacet_policy *policy = make(f);
        OWN_POLICY tacet_policy *loaded = make(f);
        tacet_blob saved;
        OWN_BLOB tacet_blob again;
        tacet_blob_init(&saved);
        tacet_blob_init(&again);
        tacet_simrng_init(&f->rng, 3, i);
        (void)play(f, policy, 0, ROUNDS, arms);
        assert_ok(tacet_policy_save(policy, &saved, NULL));
        const tacet_simrng rng = f->rng;
        const uint64_t expected = play(f, policy, ROUNDS, ROUNDS + MORE, arms);
        assert_ok(tacet_policy_load(loaded, saved.data, saved.size, NULL));
        f->rng = rng;
        assert_true(play(f, loaded, ROUNDS, ROUNDS + MORE, arms) == expected);
        tacet_blob_clear(&saved);
        assert_ok(tacet_policy_save(policy, &saved, NULL));
        assert_ok(tacet_policy_save(loaded, &again, NULL));
        assert_true(saved.size == again.size && memcmp(saved.data, again.data, saved.size) == 0);
        tacet_blob_clear(&saved);
    }
}

static size_t bytes_after(fixture *f, size_t rounds) {
    size_t arms[HORIZON];
    tacet_policy *policy = make(f);
    tacet_blob saved;
    tacet_blob_init(&saved);
    tacet_simrng_init(&f->rng, 4, 0);
    (void)play(f, policy, 0, rounds, arms);
    assert_ok(tacet_policy_save(policy, &saved, NULL));
    const size_t bytes = saved.size;
    tacet_blob_clear(&saved);
    tacet_policy_free(policy);
    return bytes;
}

/* 16 bytes for each ticket left open (one in 50), 8 a round for ATA (16 while a report is fresh), and nothing else that
 * grows. */
TEST(bytes_are_bounded) {
    fixture *f = *state;
    for (size_t i = 0; i < 4; i++) {
        choose(f, i);
        const size_t rounds = 2 * 50 * LANES;
        const size_t before = bytes_after(f, rounds);
        const size_t after = bytes_after(f, 2 * rounds);
        const size_t open = f->s.algorithm == TACET_LOCAL_MOMA ? 0 : rounds / 50 * 16;
        const size_t kept = f->s.algorithm == TACET_LOCAL_ATA ? rounds * 16 + 4 * N * N * 8 : 0;
        assert_true(after >= before + open || f->s.algorithm == TACET_LOCAL_MOMA);
        assert_true(after <= before + open + kept + (i == 3 ? N * N * 8 : 0));
    }
}

static void sign(tacet_blob *b) {
    (void)crypto_generichash(b->data + b->size - HASH, HASH, b->data, b->size - HASH, NULL, 0);
}

static void put(tacet_blob *b, size_t at, uint64_t value) {
    for (size_t i = 0; i < 8; i++) {
        b->data[at + i] = (unsigned char)(value >> (8 * i));
    }
}

static uint64_t get(const tacet_blob *b, size_t at) {
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++) {
        value |= (uint64_t)b->data[at + i] << (8 * i);
    }
    return value;
}

/* The length of a text at `at`, an array's name, with its length before it; 0: none. */
static size_t text_at(const tacet_blob *b, size_t at) {
    const uint64_t length = at + 40 < b->size ? get(b, at) : 0;
    bool text = length > 0 && length <= 24;
    for (size_t i = 0; text && i < length; i++) {
        text = isalpha(b->data[at + 8 + i]) != 0 || (i > 0 && b->data[at + 8 + i] == ' ');
    }
    return text ? (size_t)length : 0;
}

/* Where the next number stands: behind names, the first of which may be behind bytes that are no number. */
static size_t number_at(const tacet_blob *b, size_t at) {
    for (size_t k = 0; k < 8; k++) {
        const size_t text = text_at(b, at + k);
        if (text > (k == 0 ? 0 : 2)) {
            return number_at(b, at + k + 8 + text);
        }
    }
    return at;
}

/* Every number of the state in turn becomes one out of all bounds: refused, or at least survived, where any finite one
 * may stand. What is refused has changed nothing. */
TEST(forged_words) {
    fixture *f = *state;
    const uint64_t bad[] = {UINT64_MAX, (uint64_t)1 << 62, 0x7ff0000000000000U};
    size_t arms[HORIZON];
    for (size_t i = 0; i < 4; i++) {
        choose(f, i);
        OWN_POLICY tacet_policy *policy = make(f);
        OWN_POLICY tacet_policy *victim = make(f);
        OWN_BLOB tacet_blob saved;
        OWN_BLOB tacet_blob now;
        tacet_blob_init(&saved);
        tacet_blob_init(&now);
        tacet_simrng_init(&f->rng, 5, i);
        (void)play(f, policy, 0, 60, arms);
        assert_ok(tacet_policy_save(policy, &saved, NULL));
        assert_ok(tacet_policy_load(victim, saved.data, saved.size, NULL));
        size_t refused = 0, tried = 0;
        const size_t head = 6 + 2; /* magic, version; then the policy's name, its length in four bytes */
        for (size_t at = head + 4 + saved.data[head]; (at = number_at(&saved, at)) + 8 + HASH <= saved.size; at += 8) {
            const uint64_t old = get(&saved, at);
            for (size_t b = 0; b < 3; b++) {
                put(&saved, at, bad[b]);
                sign(&saved);
                const tacet_status status = tacet_policy_load(victim, saved.data, saved.size, NULL);
                assert_true(status == TACET_OK || status == TACET_CORRUPT);
                tried++;
                refused += status == TACET_CORRUPT ? 1 : 0;
                put(&saved, at, old);
                sign(&saved);
                if (status == TACET_OK) {
                    tacet_suggestion s = {0};
                    (void)tacet_policy_suggest(victim, &s, NULL, NULL);
                    assert_true(s.index < N);
                    assert_ok(tacet_policy_load(victim, saved.data, saved.size, NULL));
                }
            }
        }
        print_message("%zu of %zu forged words refused\n", refused, tried);
        assert_true(refused * 3 >= tried * 2);
        assert_ok(tacet_policy_save(victim, &now, NULL));
        assert_true(now.size == saved.size && memcmp(now.data, saved.data, now.size) == 0);
        /* Too short and too long, with a good hash. */
        memmove(saved.data + saved.size - HASH - 8, saved.data + saved.size - HASH, HASH);
        saved.size -= 8;
        sign(&saved);
        assert_status(tacet_policy_load(victim, saved.data, saved.size, NULL), TACET_CORRUPT);
    }
}

TEST_EACH(setup, teardown)
