/* test_knorm.c - K-norm noise: its laws (seeded; p < 1e-6 fails), its exact rounding (scripted words), its limits. */
#include "dp/script.h"

#include "dp/noise/gaussian_table.h"
#include "dp/noise/lazy.h"
#include "dp/noise/sampler.h"

static const double ALARM = 1e-6;

static double chi2(const double *seen, const double *expected, size_t cells) {
    double statistic = 0;
    for (size_t i = 0; i < cells; i++) {
        statistic += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
    }
    return test_chi2_pvalue(statistic, (double)cells - 1);
}

/* In one dimension it is the rounded Laplace. */
static void test_line(void **state) {
    (void)state;
    enum { DRAWS = 60000, CELLS = 41 };
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_seeded(&noise, 1, 1, NULL));
    const double b = 2.5;
    double seen[CELLS] = {0};
    double expected[CELLS] = {0};
    double rest = DRAWS;
    for (int i = 0; i < DRAWS; i++) {
        double x = 0;
        assert_ok(tacet__draw_knorm(noise, &x, 1, b / 8, -3, NULL));
        const double k = x * 8;
        assert_true(k == rint(k));
        seen[fabs(k) < CELLS / 2 ? (int)k + CELLS / 2 : 0] += 1;
    }
    for (int i = 1; i < CELLS; i++) {
        const double k = fabs((double)(i - CELLS / 2));
        if (k < CELLS / 2) {
            expected[i] = DRAWS * (k == 0 ? -expm1(-0.5 / b) : 0.5 * exp(-(k - 0.5) / b) * -expm1(-1 / b));
            rest -= expected[i];
        }
    }
    expected[0] = rest; /* both tails; cell CELLS - 1 is never used */
    assert_true(chi2(seen, expected, CELLS - 1) > ALARM);
    tacet_noise_close(noise);
}

/* In R^m the radius is Gamma(m, theta); in R^3 each direction cosine is uniform (Archimedes). The grid is so fine that
 * rounding moves no mass between the cells to speak of. */
static void test_radius_and_direction(void **state) {
    (void)state;
    static const size_t dims[] = {2, 3, 7, 40};
    enum { DRAWS = 20000, CELLS = 20 };
    tacet_noise *noise = NULL;
    assert_ok(tacet_noise_open_seeded(&noise, 2, 1, NULL));
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
    tacet_noise_close(noise);
}

/* A normal in strip n whose u begins with `head`, kept at once: two words. */
static size_t push(uint64_t *words, size_t at, uint64_t n, uint64_t head) {
    assert_true(GAUSSIAN_COLUMNS[n].keep > 0 && n < GAUSSIAN_STRIPS);
    words[at] = n << 56;
    words[at + 1] = (UINT64_C(8191) << LAZY_HEAD_BITS) | head;
    return at + 2;
}

/* G = (1, 0) and z just below 1/2: theta |G| z / grid straddles the boundary of 0 and 1 at every level, until a digit
 * tells. After `levels` undecided ones the next digits decide. */
static void test_levels(void **state) {
    (void)state;
    tacet_noise *noise = script_open();
    for (unsigned levels = 1; levels <= LAZY_MORE + 1; levels++) {
        for (int up = 0; up < 2; up++) {
            uint64_t words[64];
            size_t n = push(words, 0, 64, 0);
            n = push(words, n, 0, 0);
            n = push(words, n, 31, LAZY_HEAD_MASK);
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
    tacet_noise_close(noise);
}

/* A first guess that is off by one either way is put right by the comparisons: on a boundary doubles round anywhere.
 * |G| = 1 + a little, so values lie just above (q + 1/2), and just below. */
static void test_guess(void **state) {
    (void)state;
    tacet_noise *noise = script_open();
    for (uint64_t strip = 1; strip < 250; strip++) {
        for (int above = 0; above < 2; above++) {
            uint64_t words[8];
            size_t n = push(words, 0, 64, 0);
            n = push(words, n, 0, 0);
            n = push(words, n, strip - (above ? 0 : 1), above ? 99 : LAZY_HEAD_MASK - 99);
            script(noise, words, n);
            double x = 0;
            /* theta / grid = 32: z = strip/64 is at strip/2, on a boundary when the strip is odd. */
            assert_ok(tacet__draw_knorm(noise, &x, 1, 32, 0, NULL));
            assert_script_used(noise);
            const double expected = strip % 2 == 0 ? (double)strip / 2 : ((double)strip + (above ? 1 : -1)) / 2;
            assert_close(x, expected, 0);
        }
    }
    tacet_noise_close(noise);
}

/* A first guess of 0 for a value that straddles 1/2: G_1 = 1 + 7/2^56 and G_2 = 2^-26.6 are 1 and 0 to doubles. */
static void test_low_guess(void **state) {
    (void)state;
    tacet_noise *noise = script_open();
    for (int up = 0; up < 2; up++) {
        uint64_t words[16];
        size_t n = push(words, 0, 64, 7);
        n = push(words, n, 0, UINT64_C(708000000));
        n = push(words, n, 31, LAZY_HEAD_MASK - 5);
        words[n++] = up ? UINT64_MAX : 0;
        words[n++] = 0;
        words[n++] = up ? UINT64_MAX : 0;
        script(noise, words, n);
        double x = 7;
        assert_ok(tacet__draw_knorm(noise, &x, 1, 1, 0, NULL));
        assert_script_used(noise);
        assert_close(x, up, 0);
    }
    tacet_noise_close(noise);
}

/* Many vectors are those of as many calls, whatever levels they need; the row whose digits run out wipes them all. */
static void test_rows(void **state) {
    (void)state;
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
            n = push(words, n, 64, 0);
            n = push(words, n, 0, 0);
            n = push(words, n, v == second ? 31 : 64, v == second ? LAZY_HEAD_MASK : 0);
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

static void test_limits(void **state) {
    (void)state;
    tacet_noise *noise = script_open();
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
    for (long n = 1;; n++) {
        fail_alloc_after(n);
        const tacet_status status = tacet__draw_knorm(noise, x, 4, 1, -10, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        if (!hit) {
            assert_ok(status);
            break;
        }
        assert_status(status, TACET_NO_MEMORY);
    }
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
    tacet_noise_close(noise);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),      cmocka_unit_test(test_radius_and_direction),
        cmocka_unit_test(test_levels),    cmocka_unit_test(test_guess),
        cmocka_unit_test(test_low_guess), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
