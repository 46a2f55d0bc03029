/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact.c - exactness, not statistics: which words decide what. Coins against the exact number of words that make
 * them true, the fast path against the slow one on the same words, the table and the fractions against other
 * arithmetic, and the ends where a draw fails. No test here can raise a false alarm. */
#include "dp/script.h"

#include <tacet/core/simrng.h>

#include "dp/noise/big.h"
#include "dp/noise/gaussian_table.h"
#include "dp/noise/lazy.h"
#include "dp/noise/sampler.h"

/* p/q is true for exactly the words below p 2^64 / q; the one word that holds the quotient asks for another. */
TEST(test_bernoulli_words) {
    static const uint64_t cases[][2] = {
        {1, 2}, {1, 3}, {2, 7}, {UINT64_MAX - 1, UINT64_MAX}, {1, UINT64_MAX}, {123456789, 987654321987654321}};
    OWN_NOISE tacet_noise *noise = script_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t p = cases[i][0];
        const uint64_t q = cases[i][1];
        const u128 bound = (u128)p << 64;
        const uint64_t edge = (uint64_t)(bound / q);
        const uint64_t rest = (uint64_t)(bound % q);
        const uint64_t deeper = (uint64_t)(((u128)rest << 64) / q);
        if (edge > 0) {
            script(noise, (uint64_t[]){edge - 1}, 1);
            assert_true(tacet__bernoulli(noise, p, q));
            assert_script_used(noise);
        }
        script(noise, (uint64_t[]){edge + 1}, 1);
        assert_false(tacet__bernoulli(noise, p, q));
        assert_script_used(noise);
        if (rest == 0) {
            script(noise, (uint64_t[]){edge}, 1);
            assert_false(tacet__bernoulli(noise, p, q));
            assert_script_used(noise);
        } else {
            script(noise, (uint64_t[]){edge, deeper + 1}, 2);
            assert_false(tacet__bernoulli(noise, p, q));
            assert_script_used(noise);
            if (deeper > 0) {
                script(noise, (uint64_t[]){edge, deeper - 1}, 2);
                assert_true(tacet__bernoulli(noise, p, q));
                assert_script_used(noise);
            }
        }
        script(noise, NULL, 0);
        assert_true(tacet__bernoulli(noise, q, q)); /* certain: no word */
        script(noise, (uint64_t[]){0}, 1);
        assert_false(tacet__bernoulli(noise, 0, q));
    }
}

TEST(test_below_words) {
    OWN_NOISE tacet_noise *noise = script_open();
    script(noise, NULL, 0);
    assert_true(tacet__noise_below(noise, 0) == 0 && tacet__noise_below(noise, 1) == 0);
    /* Of 2^64 = 6 q + 4 words the first four products are uneven and thrown back. */
    const uint64_t sixth = UINT64_MAX / 6;
    script(noise, (uint64_t[]){0, sixth + 2}, 2);
    assert_int_equal(tacet__noise_below(noise, 6), 1);
    assert_script_used(noise);
    script(noise, (uint64_t[]){UINT64_MAX}, 1);
    assert_int_equal(tacet__noise_below(noise, 6), 5);
    script(noise, (uint64_t[]){UINT64_C(3) << 62}, 1);
    assert_int_equal(tacet__noise_below(noise, 4), 3);
    assert_script_used(noise);
    /* Exhaustive: among all words with this top byte, or that one, n = 3 … 9 get equal shares when small words cannot
     * occur; the share of each value is counted from its first and last word. */
    for (uint64_t n = 3; n < 10; n++) {
        const uint64_t uneven = -n % n;
        u128 words[10] = {0};
        for (uint64_t v = 0; v < n; v++) {
            /* w gives v when v 2^64 + uneven <= w n < (v + 1) 2^64 */
            const u128 first = (((u128)v << 64) + uneven + n - 1) / n;
            const u128 last = ((((u128)v + 1) << 64) - 1) / n;
            words[v] = last - first + 1;
            script(noise, (uint64_t[]){(uint64_t)first}, 1);
            assert_int_equal(tacet__noise_below(noise, n), v);
            assert_script_used(noise);
            script(noise, (uint64_t[]){(uint64_t)last}, 1);
            assert_int_equal(tacet__noise_below(noise, n), v);
            assert_script_used(noise);
            assert_true(words[v] == words[0]);
        }
    }
}

/* The same words through the code of two words and through the one that keeps every digit. */
TEST(test_fast_is_slow) {
    static const double sigmas[] = {1, 2.5, 1e-3, 12345.678, 0x1p-10, 0x1p40};
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++) {
        OWN_NOISE tacet_noise *fast = test_noise(17, s);
        OWN_NOISE tacet_noise *slow = test_noise(17, s);
        const int grid = s < 4 ? tacet__grid_exponent(sigmas[s], s % 2 == 0 ? 20 : 40) : 0;
        lazy_scale scale;
        assert_ok(tacet__lazy_scale(&scale, sigmas[s], grid, 6, NULL));
        enum { BATCH = 1000 };
        static double out[BATCH];
        int tail = 0;
        for (int b = 0; b < 200; b++) {
            assert_ok(tacet__draw_gaussian(fast, out, BATCH, sigmas[s], grid, NULL));
            for (int i = 0; i < BATCH; i++) {
                lazy x;
                assert_true(tacet__lazy_normal(slow, &x));
                assert_true(out[i] == tacet__lazy_round(slow, &x, &scale));
                tail += x.n >= GAUSSIAN_TAIL ? 1 : 0;
            }
            assert_int_equal(fast->next, slow->next);
        }
        assert_true(tail > 0);
    }
}

/* Rounding against 128-bit arithmetic that knows one word more. */
TEST(test_round) {
    OWN_NOISE tacet_noise *noise = script_open();
    tacet_simrng rng = test_rng(5, 5);
    int close = 0;
    for (int i = 0; i < 200000; i++) {
        lazy_scale scale;
        const int fineness = (int)tacet_simrng_below(&rng, 51) - 10;
        const double sigma = ldexp(1 + tacet_simrng_uniform(&rng), fineness);
        assert_ok(tacet__lazy_scale(&scale, sigma, 0, 6, NULL));
        lazy x = {.n = tacet_simrng_below(&rng, 4096), .head = tacet_simrng_u64(&rng) & LAZY_HEAD_MASK};
        const u128 known = (u128)scale.m * (((u128)x.n << LAZY_HEAD_BITS) + x.head);
        const u128 half = (u128)1 << (scale.shift - 1);
        uint64_t word = tacet_simrng_u64(&rng);
        if (i % 2 == 0) { /* at the edge of a cell: a head that the cell's end falls into, and the word that holds it */
            const uint64_t q = (uint64_t)((known + half) >> scale.shift);
            const u128 end = ((u128)q << scale.shift) + half;
            const u128 place = end / scale.m;
            if (place >> LAZY_HEAD_BITS >= 4096) {
                continue;
            }
            x.n = (uint64_t)(place >> LAZY_HEAD_BITS);
            x.head = (uint64_t)place & LAZY_HEAD_MASK;
            const uint64_t room = (uint64_t)(end - place * scale.m);
            const uint64_t edge = (uint64_t)(((u128)room << 64) / scale.m);
            word = i % 4 == 0 ? edge + 1 : edge - (edge > 0 ? 1 : 0);
            close++;
        }
        const u128 low = (u128)scale.m * (((u128)x.n << LAZY_HEAD_BITS) + x.head);
        const u128 more = ((u128)scale.m * word) >> 64;
        const double expected = (double)(uint64_t)((low + more + half) >> scale.shift);
        if (i % 3 == 0) { /* the word known already, or drawn now */
            x.more[0] = word;
            x.have = 1;
            script(noise, (uint64_t[]){7}, 1);
        } else {
            script(noise, (uint64_t[]){word, 7}, 2);
        }
        assert_true(tacet__lazy_round(noise, &x, &scale) == expected);
    }
    assert_true(close > 50000);
    /* Both words equal to the edge's digits: a third decides. 1/3 of the interval has no end in binary. */
    const lazy_scale third = {.m = 3, .shift = 2, .grid = 1};
    for (int up = 0; up < 2; up++) {
        lazy x = {.n = 0, .head = 0}; /* 3 w / 4 against 1/2: w against 2/3 */
        const uint64_t digit = UINT64_C(0xaaaaaaaaaaaaaaaa);
        script(noise, (uint64_t[]){digit, digit, digit + (up ? 1 : 0) - (up ? 0 : 1)}, 3);
        assert_true(tacet__lazy_round(noise, &x, &third) == up);
        assert_script_used(noise);
    }
    /* On a tie, digit for digit, one word decides: away from zero. */
    const lazy_scale quarter = {.m = 4, .shift = 2, .grid = 1};
    for (int up = 0; up < 2; up++) {
        lazy x = {.n = 0, .head = 0}; /* w against 1/2 */
        script(noise, (uint64_t[]){(UINT64_C(1) << 63) - (up ? 0 : 1)}, 1);
        assert_true(tacet__lazy_round(noise, &x, &quarter) == up);
        assert_script_used(noise);
    }
}

/* Every weight by fixed-point arithmetic of 128 bits: exp(-j^2/8192) = prod of exp(-2^i/8192) over the bits of j^2,
 * each from the series, errors of some 2^-110; the floors are 2^-57 at the finest. */
static u128 multiply(u128 a, u128 b) { /* a b / 2^126 */
    const u128 mask = UINT64_MAX;
    const u128 middle = (a >> 64) * (b & mask) + (((a & mask) * (b & mask)) >> 64);
    const u128 cross = (a & mask) * (b >> 64);
    const u128 carry = ((middle & mask) + (cross & mask)) >> 64;
    const u128 high = (a >> 64) * (b >> 64) + (middle >> 64) + (cross >> 64) + carry;
    const u128 low = ((middle + cross) & mask);
    return (high << 2) + (low >> 62);
}

static u128 exp_minus(unsigned bit) { /* exp(-2^bit/8192) 2^126 */
    const u128 one = (u128)1 << 126;
    if (bit > 9) {
        const u128 half = exp_minus(bit - 1);
        return multiply(half, half);
    }
    u128 sum = one;
    u128 term = one;
    for (unsigned k = 1; k < 40; k++) {
        term = (term >> (13 - bit)) / k;
        sum = k % 2 == 1 ? sum - term : sum + term;
    }
    return sum;
}

TEST(test_table) {
    u128 item[256] = {0};
    const uint64_t cell = UINT64_C(1) << 56;
    for (unsigned k = 0; k < 256; k++) {
        assert_true(GAUSSIAN_COLUMNS[k].keep <= cell && GAUSSIAN_COLUMNS[k].other < 256);
        item[k] += GAUSSIAN_COLUMNS[k].keep;
        item[GAUSSIAN_COLUMNS[k].other] += cell - GAUSSIAN_COLUMNS[k].keep;
    }
    for (unsigned j = 0; j <= GAUSSIAN_TAIL; j++) {
        u128 power = (u128)1 << 126;
        for (unsigned bit = 0; bit < 16; bit++) {
            if ((j * j >> bit) & 1) {
                power = multiply(power, exp_minus(bit));
            }
        }
        /* c exp(..) = whole + fraction: the fraction must be clear of 0 and 1 by more than the error. */
        u128 whole = 0;
        u128 fraction = 0;
        const u128 low = (power & UINT64_MAX) * GAUSSIAN_C;
        const u128 high = (power >> 64) * GAUSSIAN_C + (low >> 64);
        whole = high >> 62;
        fraction = ((high & ((UINT64_C(1) << 62) - 1)) << 60) >> 60; /* 62 bits, the lowest 10 of them doubtful */
        assert_true(whole == GAUSSIAN_FLOOR[j]);
        assert_true(j == 0 || (fraction > 4096 && fraction < (UINT64_C(1) << 62) - 4096));
        assert_true(item[j] == whole * (j == GAUSSIAN_TAIL ? GAUSSIAN_SPAN : 1));
    }
    assert_true(item[GAUSSIAN_RARE] == GAUSSIAN_RARE_WEIGHT);
    assert_true(GAUSSIAN_RARE_WEIGHT >= GAUSSIAN_STRIPS + GAUSSIAN_SPAN);
}

/* 512 bits of the fraction of c exp(-j^2/8192), j = 1 and 100, from Python's decimal at 400 digits. */
static const uint64_t FRACTIONS[2][8] = {
    {0x9174d84598154010, 0x64060f877d2c6c22, 0x90da430f8c0aebd7, 0xf90b33e13b78c475, 0xdbe47184cc33baf9,
     0x24d2e24fd6b9ba6d, 0x3094b1df794269a0, 0x3b67575f53bf981d},
    {0x9d811d811775f599, 0xf882659de2dedc6e, 0x056c88bead5ba4bf, 0x8b878b8c328afc4d, 0x22087e8189fe557b,
     0x8a124bcae773b5bc, 0xf5cc3da982316dcb, 0x965f209be69321d4},
};

TEST(test_fraction) {
    OWN_NOISE tacet_noise *noise = script_open();
    for (int c = 0; c < 2; c++) {
        const unsigned j = c == 0 ? 1 : 100;
        uint64_t words[8];
        for (size_t depth = 0; depth < 8; depth++) {
            memcpy(words, FRACTIONS[c], sizeof words);
            words[depth] += 2; /* two units are told apart by the bounds of this depth */
            script(noise, words, depth + 1);
            assert_false(tacet__below_fraction(noise, GAUSSIAN_C, GAUSSIAN_FLOOR[j], j * j, 8192));
            assert_script_used(noise);
            words[depth] -= 4;
            script(noise, words, depth + 1);
            assert_true(tacet__below_fraction(noise, GAUSSIAN_C, GAUSSIAN_FLOOR[j], j * j, 8192));
            assert_script_used(noise);
            assert_false(noise->exhausted);
        }
        script(noise, FRACTIONS[c], 8);
        assert_false(tacet__below_fraction(noise, GAUSSIAN_C, GAUSSIAN_FLOOR[j], j * j, 8192));
        assert_true(noise->exhausted);
    }
    /* j = 0: the fraction is 0, nothing is below it. */
    script(noise, (uint64_t[]){0}, 1);
    assert_false(tacet__below_fraction(noise, GAUSSIAN_C, GAUSSIAN_FLOOR[0], 0, 8192));
    assert_script_used(noise);
}

static uint64_t word_for_item(unsigned item) {
    for (uint64_t k = 0; k < 256; k++) {
        if (k == item && GAUSSIAN_COLUMNS[k].keep > 0) {
            return k << 56;
        }
        if (GAUSSIAN_COLUMNS[k].other == item && GAUSSIAN_COLUMNS[k].keep < UINT64_C(1) << 56) {
            return (k << 56) + GAUSSIAN_COLUMNS[k].keep;
        }
    }
    return 0;
}

static const uint64_t ACCEPT = UINT64_C(8191) << 50; /* plus, and the first coin fails: the strip is kept */
static const uint64_t LOW = UINT64_C(1) << 40;       /* makes a coin of any moderate probability true */
static const uint64_t HIGH = UINT64_MAX - (UINT64_C(1) << 40);

/* The item of the fractions, word by word. */
TEST(test_rare) {
    OWN_NOISE tacet_noise *noise = script_open();
    double x = 0;
    const uint64_t rare = word_for_item(GAUSSIAN_RARE);
    const uint64_t unit = UINT64_MAX / GAUSSIAN_RARE_WEIGHT + 1;
    /* Unit 100, below the fraction: strip 100, and u = 0. */
    script(noise, (uint64_t[]){rare, ACCEPT, 100 * unit + unit / 2, 0}, 4);
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == 100);
    assert_script_used(noise);
    /* Above it: rejected, and the next try is strip 7. */
    script(noise, (uint64_t[]){rare, ACCEPT, 100 * unit + unit / 2, UINT64_MAX, UINT64_C(7) << 56, ACCEPT}, 6);
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == 7);
    assert_script_used(noise);
    /* Past the fractions: rejected at once. */
    script(noise, (uint64_t[]){rare, ACCEPT, UINT64_MAX - 5, UINT64_C(7) << 56, ACCEPT}, 5);
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == 7);
    assert_script_used(noise);
    /* The fraction of the tail: its place 5 of block 0 is kept by one coin, then u = 0 by another. */
    script(noise, (uint64_t[]){rare, ACCEPT, (GAUSSIAN_STRIPS + 3) * unit, 0, 64 + 5, HIGH, HIGH}, 7);
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == 254 + 5);
    assert_script_used(noise);
    /* The same, with the tail's coin of 2/e coming out false: rejected. */
    script(noise, (uint64_t[]){rare, ACCEPT, (GAUSSIAN_STRIPS + 3) * unit, 0, 5, LOW, HIGH, UINT64_C(7) << 56, ACCEPT},
           9);
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == 7);
    assert_script_used(noise);
}

/* Far out in the tail: block t = 30 is 33.97 sigma. The blocks' bits are 0 until the stop, each followed by a coin of
 * 2/e; a coin of exp(-(m (508 + m) - 8192 t) / 8192) would need hundreds of exp(-1): they are forced too. */
TEST(test_tail) {
    OWN_NOISE tacet_noise *noise = script_open();
    uint64_t words[NOISE_WORDS];
    size_t n = 0;
    words[n++] = word_for_item(GAUSSIAN_TAIL);
    words[n++] = (UINT64_C(1) << 63) | ACCEPT; /* minus */
    const unsigned t = 3;
    words[n++] = UINT64_C(1) << (6 + t); /* place 0, three zero bits, stop */
    for (unsigned i = 0; i < t; i++) {
        words[n++] = HIGH; /* 2/e true: the coin 1/3 fails at once */
    }
    /* m = 192: exponent (192 * 700 - 8192 * 3) / 8192 = 13.40625. */
    for (int i = 0; i < 13; i++) {
        words[n++] = LOW;  /* exp(-1): the coin 1/2 … */
        words[n++] = HIGH; /* … and then 1/3 fails: true */
    }
    words[n++] = HIGH; /* the rest of 0.40625: true */
    words[n++] = HIGH; /* the strip's coin */
    script(noise, words, n);
    double x = 0;
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == -(254 + 192));
    assert_script_used(noise);
    /* A 2/e that comes out false rejects. */
    script(noise, (uint64_t[]){word_for_item(GAUSSIAN_TAIL), ACCEPT, 0, LOW, HIGH, UINT64_C(9) << 56, ACCEPT}, 7);
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == 9);
    assert_script_used(noise);
    /* Block 64: beyond 64 sigma the draw fails and shows nothing. A word of 64 bits is used up on the way. */
    n = 0;
    words[n++] = word_for_item(GAUSSIAN_TAIL);
    words[n++] = ACCEPT;
    words[n++] = 0;
    for (int i = 0; i < 58; i++) {
        words[n++] = HIGH;
    }
    words[n++] = UINT64_C(1) << 6;
    for (int i = 0; i < 6; i++) {
        words[n++] = HIGH;
    }
    double two[2] = {5, 5};
    tacet_error err = {0};
    script(noise, words, n);
    assert_status(tacet__draw_gaussian(noise, two, 2, 64, 0, &err), TACET_NUMERIC);
    assert_true(two[0] == 0 && two[1] == 0);
    assert_string_equal(err.message, "a draw needed more digits than there is room for");
    assert_ok(tacet__draw_gaussian(noise, two, 2, 64, 0, NULL));
}

/* Coins that meet the same digits as u, to the last one there is room for. */
TEST(test_digits_run_out) {
    OWN_NOISE tacet_noise *noise = script_open();
    uint64_t words[64];
    double x = 0;
    /* Strip 5, first coin true (13 bits of 0), then u against 50 + 448 equal bits. */
    size_t n = 0;
    words[n++] = UINT64_C(5) << 56;
    words[n++] = 77;
    words[n++] = 77;
    for (uint64_t i = 0; i < LAZY_MORE; i++) {
        words[n++] = 1000 + i;
        words[n++] = 1000 + i;
    }
    script(noise, words, n);
    assert_status(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL), TACET_NUMERIC);
    /* The last word differs: decided, both ways. Above u: the coin fails and the strip is kept. */
    words[n - 1] += 1;
    script(noise, words, n);
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == 5);
    assert_script_used(noise);
    /* Below: the coin is true; the rest of the first chain (11 places: not the last), then 1/2 fails: rejected. */
    words[n - 1] -= 2;
    words[n++] = 0;
    words[n++] = UINT64_C(1) << 62; /* of 11: place 2 */
    words[n - 2] = UINT64_C(1) << 62;
    words[n - 1] = HIGH;
    words[n++] = UINT64_C(8) << 56;
    words[n++] = ACCEPT;
    script(noise, words, n);
    assert_ok(tacet__draw_gaussian(noise, &x, 1, 64, 0, NULL));
    assert_true(x == 8);
    assert_script_used(noise);
    /* Laplace: exp(-u) meets its own digits. */
    n = 0;
    words[n++] = 77;
    words[n++] = 77;
    for (uint64_t i = 0; i < LAZY_MORE; i++) {
        words[n++] = 1000 + i;
        words[n++] = 1000 + i;
    }
    script(noise, words, n);
    assert_status(tacet__draw_laplace(noise, &x, 1, 64, 0, NULL), TACET_NUMERIC);
}

TEST(test_laplace_end) {
    OWN_NOISE tacet_noise *noise = script_open();
    uint64_t words[NOISE_WORDS];
    for (int discrete = 0; discrete < 2; discrete++) {
        for (int last = EXPONENTIAL_END - 1; last <= EXPONENTIAL_END; last++) {
            size_t n = 0;
            words[n++] = 0; /* u, plus; or U = 0 after one word thrown back */
            if (discrete) {
                words[n - 1] = UINT64_C(1) << 20;
            }
            words[n++] = HIGH; /* exp(-u) */
            for (int i = 0; i < last; i++) {
                words[n++] = LOW;
                words[n++] = HIGH;
            }
            words[n++] = HIGH; /* exp(-1) false: the coin 1/2 fails, an even place */
            words[n++] = 0;    /* discrete: plus */
            script(noise, words, n);
            double x = 0;
            const tacet_status status =
                (discrete ? tacet__draw_discrete_laplace : tacet__draw_laplace)(noise, &x, 1, 1, 0, NULL);
            assert_status(status, last < EXPONENTIAL_END ? TACET_OK : TACET_NUMERIC);
            assert_close(x, last < EXPONENTIAL_END ? last : 0, 0);
        }
    }
}
