/* SPDX-License-Identifier: Apache-2.0 */
/* test_knorm.c - K-norm noise: its laws (seeded; p < 1e-6 fails), its exact rounding (scripted words), its limits. */
#include "dp/script.h"

#include "dp/noise/draft.h"
#include "dp/noise/gaussian_table.h"
#include "dp/noise/lazy.h"
#include "dp/noise/mint.h"
#include "dp/noise/sampler.h"
#include "support/gate.h"

static const double ALARM = 1e-6;

static double chi2(const double *seen, const double *expected, size_t cells) {
    double statistic = 0;
    for (size_t i = 0; i < cells; i++) {
        statistic += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    }
    return test_chi2_pvalue(statistic, (double)cells - 1);
}

/* In R^m the radius is Gamma(m, theta); in R^3 each direction cosine is uniform (Archimedes). The grid is so fine that
 * rounding moves no mass between the cells to speak of. */
TEST(test_radius_and_direction) {
    static const size_t dims[] = {2, 3, 7, 40};
    enum { DRAWS = 20000, CELLS = 20 };
    OWN_NOISE tacet_noise *noise = test_noise(2, 1);
    for (size_t d = 0; d < 4; d++) {
        const size_t m = dims[d];
        double radius[CELLS + 1] = {0}, expected[CELLS + 1], cosine[CELLS] = {0}, uniform[CELLS];
        const double low = fmax(0, (double)m - 2.5 * sqrt((double)m));
        const double width = ((double)m + 3 * sqrt((double)m) - low) / CELLS;
        for (int i = 0; i < DRAWS; i++) {
            double v[40];
            assert_ok(tacet__draw_knorm(noise, v, m, 1.7, -20, NULL));
            double square = 0;
            for (size_t k = 0; k < m; k++) {
                square += v[k] * v[k];
            }
            const double r = sqrt(square) / 1.7;
            const double at = (r - low) / width;
            radius[at >= 0 && at < CELLS ? (size_t)at : CELLS] += 1;
            cosine[(size_t)((v[m - 1] / sqrt(square) + 1) / 2 * CELLS * (1 - 1e-12))] += 1;
        }
        double rest = DRAWS;
        for (int i = 0; i < CELLS; i++) {
            const double a = low + i * width;
            /* P(Gamma(m) > x) is the chi-square tail of 2x with 2m degrees of freedom. */
            expected[i] =
                DRAWS * (test_chi2_pvalue(2 * a, 2 * (double)m) - test_chi2_pvalue(2 * (a + width), 2 * (double)m));
            rest -= expected[i];
            uniform[i] = (double)DRAWS / CELLS;
        }
        expected[CELLS] = rest;
        assert_true(chi2(radius, expected, CELLS + 1) > ALARM);
        if (m == 3) {
            assert_true(chi2(cosine, uniform, CELLS) > ALARM);
        }
    }
}

/* A normal in strip n whose u begins with `head`, kept at once: one word. The last 16 bits of the head come later. */
static size_t push(uint64_t *words, size_t at, uint64_t n, uint64_t head) {
    assert_true(GAUSSIAN_COLUMNS[n].keep >> 48 > 0 && n < GAUSSIAN_STRIPS);
    words[at] = (n << 56) | (UINT64_C(8191) << DRAFT_HEAD_BITS) | (head >> (LAZY_HEAD_BITS - DRAFT_HEAD_BITS));
    return at + 1;
}

static size_t push_later(uint64_t *words, size_t at, uint64_t head) {
    words[at] = head & ((1U << (LAZY_HEAD_BITS - DRAFT_HEAD_BITS)) - 1);
    return at + 1;
}

/* One coordinate: G_1, G_2 and z, and their later digits when the filter does not decide. */
static size_t push_three(uint64_t *words, size_t at, const uint64_t n[3], const uint64_t head[3], bool undecided) {
    for (int i = 0; i < 3; i++) {
        at = push(words, at, n[i], head[i]);
    }
    for (int i = 0; i < 3 && undecided; i++) {
        at = push_later(words, at, head[i]);
    }
    return at;
}

/* G = (1, 0) and z just below 1/2: theta |G| z / grid straddles the boundary of 0 and 1 at every level, until a digit
 * tells. After `levels` undecided ones the next digits decide. */
TEST(test_levels) {
    OWN_NOISE tacet_noise *noise = script_open();
    for (unsigned levels = 1; levels <= LAZY_MORE + 1; levels++) {
        for (int up = 0; up < 2; up++) {
            uint64_t words[64];
            size_t n = push_three(words, 0, (uint64_t[]){64, 0, 31}, (uint64_t[]){0, 0, LAZY_HEAD_MASK}, true);
            for (unsigned i = 1; i <= levels && i <= LAZY_MORE; i++) {
                const bool tells = i == levels;
                words[n++] = tells && up ? UINT64_MAX : 0;  /* G_1's next digits */
                words[n++] = 0;                             /* G_2's */
                words[n++] = tells && !up ? 0 : UINT64_MAX; /* z's */
            }
            script(noise, words, n);
            double x = 7;
            const tacet_status status = tacet__draw_knorm(noise, &x, 1, 1, 0, NULL);
            assert_script_used(noise);
            assert_status(status, levels <= LAZY_MORE ? TACET_OK : TACET_NUMERIC);
            assert_close(x, levels <= LAZY_MORE ? up : 0, 0);
        }
    }
}

/* Two coordinates that straddle at every level: when the first has used up all digits, nothing is drawn for the other,
 * and nothing comes out. */
TEST(test_exhausted_block) {
    OWN_NOISE tacet_noise *noise = script_open();
    uint64_t words[64];
    size_t n = 0;
    const uint64_t strips[] = {64, 0, 0, 31, 31}, heads[] = {0, 0, 0, LAZY_HEAD_MASK, LAZY_HEAD_MASK};
    for (int i = 0; i < 5; i++) {
        n = push(words, n, strips[i], heads[i]);
    }
    for (int i = 0; i < 5; i++) {
        n = push_later(words, n, heads[i]);
    }
    for (unsigned level = 1; level <= LAZY_MORE; level++) {
        for (int i = 0; i < 4; i++) {
            words[n++] = i < 3 ? 0 : UINT64_MAX; /* of G; of the first z */
        }
    }
    script(noise, words, n);
    double x[2] = {7, 7};
    assert_status(tacet__draw_knorm(noise, x, 2, 1, 0, NULL), TACET_NUMERIC);
    assert_script_used(noise);
    assert_true(x[0] == 0 && x[1] == 0);
}

/* Values just above and just below q + 1/2 are decided by exact comparisons, those near whole numbers by the filter:
 * theta / grid = 32, so that z = strip/64 is at strip/2, on a boundary when the strip is odd. */
TEST(test_guess) {
    OWN_NOISE tacet_noise *noise = script_open();
    for (uint64_t strip = 1; strip < 220; strip++) {
        for (int above = 0; above < 2; above++) {
            uint64_t words[8];
            const bool odd = strip % 2 == 1;
            if (GAUSSIAN_COLUMNS[strip - (above ? 0 : 1)].keep >> 48 == 0) {
                continue; /* its threshold may need more than eight bits */
            }
            const size_t n = push_three(words, 0, (uint64_t[]){64, 0, strip - (above ? 0 : 1)},
                                        (uint64_t[]){0, 0, above ? 99 : LAZY_HEAD_MASK - 99}, odd);
            script(noise, words, n);
            double x = 0;
            assert_ok(tacet__draw_knorm(noise, &x, 1, 32, 0, NULL));
            assert_script_used(noise);
            assert_close(x, odd ? ((double)strip + (above ? 1 : -1)) / 2 : (double)strip / 2, 0);
        }
    }
}

/* G_1 = 1 + 7/2^56 and G_2 = 2^-26.6 are 1 and 0 to doubles: a value that straddles 1/2 beyond what they hold. */
TEST(test_low_guess) {
    OWN_NOISE tacet_noise *noise = script_open();
    for (int up = 0; up < 2; up++) {
        uint64_t words[16];
        size_t n = push_three(words, 0, (uint64_t[]){64, 0, 31},
                              (uint64_t[]){7, UINT64_C(708000000), LAZY_HEAD_MASK - 5}, true);
        words[n++] = up ? UINT64_MAX : 0;
        words[n++] = 0;
        words[n++] = up ? UINT64_MAX : 0;
        script(noise, words, n);
        double x = 7;
        assert_ok(tacet__draw_knorm(noise, &x, 1, 1, 0, NULL));
        assert_script_used(noise);
        assert_close(x, up, 0);
    }
}

/* A draft knows where a normal is before its digits are all drawn: the lazy reals that it is expanded to lie there. */
TEST(test_draft) {
    enum { ROUNDS = 100, COUNT = 300 };
    draft d;
    size_t slow = 0;
    OWN_NOISE tacet_noise *noise = test_noise(12, 1);
    assert_ok(tacet__draft_init(&d, COUNT, NULL));
    for (int r = 0; r < ROUNDS; r++) {
        tacet__draft_draw(noise, &d, COUNT);
        slow += d.slow_count;
        tacet__draft_expand(noise, &d);
        for (size_t i = 0; i < COUNT; i++) {
            const lazy *x = &d.full[i];
            const double low = ldexp((double)x->n, -6) + ldexp((double)x->head, -6 - LAZY_HEAD_BITS);
            assert_true(fabs(low + ldexp(0.5, -6 - LAZY_HEAD_BITS) - fabs(d.rough[i])) <= DRAFT_ERROR);
            assert_true(x->negative == (d.rough[i] < 0));
        }
    }
    assert_true(slow > ROUNDS * COUNT / 100 && slow < ROUNDS * COUNT / 25);
    tacet__draft_clear(&d, COUNT);
}

/* With the same random digits every number of digits known to the filter gives the same bits as exact arithmetic for
 * all. A row has its own key, its first words are drawn before any later digit, and the later digits in one order. */
TEST(test_filter_is_exact) {
    enum { ROWS = 400, MOST = 100, CASES = 5 };
    static const size_t dims[CASES] = {1, 2, 3, 10, MOST};
    static const int grids[] = {3, 0, -6, -20, -29};
    static const int bits[] = {1, 3, 6, 12, 20, DRAFT_HEAD_BITS};
    tacet_noise noise;
    size_t decided = 0, coarse = 0;
    for (int c = 0; c < CASES; c++) {
        const int rows = ROWS / (dims[c] >= 10 ? 8 : 1);
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            for (int r = 0; r < rows; r++) {
                unsigned char key[NOISE_KEY_BYTES] = {(unsigned char)r, (unsigned char)(r >> 8), (unsigned char)c};
                double exact[MOST], fast[MOST];
                tacet__noise_at(&noise, key, 0, 0, NOISE_WORDS);
                assert_ok(tacet__draw_knorm_filtered(&noise, exact, 1, dims[c], 1.37, grids[g], 0, NULL));
                const size_t all_words = noise.next;
                for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
                    tacet__noise_at(&noise, key, 0, 0, NOISE_WORDS);
                    assert_ok(tacet__draw_knorm_filtered(&noise, fast, 1, dims[c], 1.37, grids[g], bits[b], NULL));
                    assert_memory_equal(fast, exact, dims[c] * sizeof *fast);
                    if (bits[b] == 3 && dims[c] == 3 && grids[g] == 0) {
                        coarse++;
                        decided += noise.next < all_words;
                    }
                }
            }
        }
    }
    /* At 3 bits, three coordinates and a grid as wide as the noise, either path is taken often. */
    assert_true(decided > coarse / 20 && decided < coarse - coarse / 40);
}

/* The mass of square cells in the plane, by the midpoint rule, on a grid as wide as the noise; with the filter as it is
 * and with three digits, where most cells are decided exactly. */
TEST(test_plane) {
    enum { DRAWS = 60000, SIDE = 7, CELLS = SIDE * SIDE + 1, POINTS = 64 };
    OWN_NOISE tacet_noise *noise = test_noise(11, 1);
    for (int few = 0; few < 2; few++) {
        double seen[CELLS] = {0}, expected[CELLS] = {0}, rest = DRAWS;
        for (int i = 0; i < DRAWS; i++) {
            double v[2];
            assert_ok(tacet__draw_knorm_filtered(noise, v, 1, 2, 1, 0, few ? 3 : DRAFT_HEAD_BITS, NULL));
            const bool inside = fabs(v[0]) <= SIDE / 2 && fabs(v[1]) <= SIDE / 2;
            seen[inside ? (size_t)((v[0] + SIDE / 2) * SIDE + v[1] + SIDE / 2) : CELLS - 1] += 1;
        }
        for (int c = 0; c < SIDE * SIDE; c++) {
            for (int p = 0; p < POINTS * POINTS; p++) {
                const double x = c / SIDE - SIDE / 2 - 0.5 + (p / POINTS + 0.5) / POINTS;
                const double y = c % SIDE - SIDE / 2 - 0.5 + (p % POINTS + 0.5) / POINTS;
                expected[c] += DRAWS * exp(-sqrt(x * x + y * y)) / (2 * M_PI * POINTS * POINTS);
            }
            rest -= expected[c];
        }
        expected[CELLS - 1] = rest;
        assert_true(chi2(seen, expected, CELLS) > ALARM);
    }
}

/* Many vectors are those of as many calls, whatever levels they need; the row whose digits run out wipes them all. */
TEST(test_rows) {
    enum { ROWS = 300, COUNT = 3 };
    tacet_noise *noise = NULL, *same = NULL;
    double rows[ROWS * COUNT], single[COUNT];
    assert_ok(tacet_noise_open_seeded(&noise, 3, 1, NULL));
    assert_ok(tacet_noise_open_seeded(&same, 3, 1, NULL));
    assert_ok(tacet__draw_knorm_rows(noise, rows, ROWS, COUNT, 1.7, -20, NULL));
    for (size_t r = 0; r < ROWS; r++) {
        assert_ok(tacet__draw_knorm(same, single, COUNT, 1.7, -20, NULL));
        assert_memory_equal(single, rows + COUNT * r, sizeof single);
    }
    assert_ok(tacet__draw_knorm_rows(noise, rows, 0, COUNT, 1.7, -20, NULL));
    tacet_noise_close(noise);
    tacet_noise_close(same);
    noise = script_open();
    for (int second = 0; second < 2; second++) { /* which of two vectors straddles, as in test_levels */
        uint64_t words[64];
        size_t n = 0;
        double x[3] = {7, 7, 7};
        for (int v = 0; v < 2; v++) {
            n = push_three(words, n, (uint64_t[]){64, 0, v == second ? 31 : 64},
                           (uint64_t[]){0, 0, v == second ? LAZY_HEAD_MASK : 0}, v == second);
            for (unsigned i = 0; v == second && i < (second ? LAZY_MORE : 1); i++) {
                words[n++] = second ? 0 : UINT64_MAX;
                words[n++] = 0;
                words[n++] = UINT64_MAX;
            }
        }
        script(noise, words, n);
        /* Digits that the first needed are none of the second's; those that the second has not got are missed. */
        assert_status(tacet__draw_knorm_rows(noise, x, 2 + (size_t)second, 1, 1, 0, NULL),
                      second ? TACET_NUMERIC : TACET_OK);
        assert_script_used(noise);
        assert_true(second ? x[0] == 0 && x[1] == 0 && x[2] == 0 : x[0] == 1 && x[1] == 1 && x[2] == 7);
    }
    tacet_noise_close(noise);
}

TEST(test_limits) {
    OWN_NOISE tacet_noise *noise = script_open();
    double x[4] = {7, 7, 7, 7};
    const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        assert_status(tacet__draw_knorm(noise, x, 4, bad[i], 0, NULL), TACET_INVALID);
    }
    assert_status(tacet__draw_knorm(noise, x, 0, 1, -3, NULL), TACET_INVALID);
    assert_status(tacet__draw_knorm(noise, x, ((size_t)1 << 20) + 1, 1, -3, NULL), TACET_INVALID);
    assert_status(tacet__draw_knorm(noise, x, 4, 1, -30, NULL), TACET_INVALID);
    assert_true(x[0] == 7);
    assert_ok(tacet__draw_knorm(noise, x, 4, 1, -29, NULL));
    assert_ok(tacet__draw_knorm(noise, x, 4, 0x1p-1060, -1074, NULL));
    assert_each_alloc_fails(tacet__draw_knorm(noise, x, 4, 1, -10, NULL), true);
    /* Digits that run out inside a normal: of G, then of z. */
    for (int which = 0; which < 2; which++) {
        uint64_t words[64];
        size_t n = 0;
        for (int i = 0; i < (which == 0 ? 1 : 2); i++) {
            n = push(words, n, 64, 0);
        }
        words[n++] = UINT64_C(5) << 56;
        words[n++] = 77;
        words[n++] = 77;
        for (uint64_t i = 0; i < 2 * LAZY_MORE; i++) {
            words[n++] = i / 2;
        }
        script(noise, words, n);
        x[0] = 7;
        assert_status(tacet__draw_knorm(noise, x, 1, 1, 0, NULL), TACET_NUMERIC);
        assert_true(x[0] == 0);
        assert_script_used(noise);
    }
}
