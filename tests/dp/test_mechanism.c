/* SPDX-License-Identifier: Apache-2.0 */
/* test_mechanism.c - mechanisms: calibrated from the bound, on the grid, in the fixed order, once per ticket. */
#include "support/gate.h"
#include "support/test.h"

#include "dp/mechanisms/mechanism_internal.h"
#include "dp/mint.h"
#include "dp/noise/noise_state.h"

#include <sodium.h>
#include <tacet/dp/open/calibrate.h>
#include "dp/mechanism.h"

static const tacet_neighbours REPLACE = {TACET_RELATION_REPLACE, 0};

TEST(calibration) {
    tacet_bound *bound = test_norm(4, 25);
    /* a move of 1: sigma of the analytic calibration, a little more for the grid, never less */
    const tacet_neighbours move = {TACET_RELATION_MOVE, 1};
    double sigma = 0, eps = 0;
    assert_ok(tacet_calibrate_gaussian(&sigma, 3, 1e-5, 1, NULL));
    tacet_mechanism *m = test_mechanism(TACET_MECHANISM_GAUSSIAN, bound, &move, 3, 1e-5);
    const double grid = ldexp(1, tacet_mechanism_grid_exponent(m));
    assert_true(tacet_mechanism_sensitivity(m) >= 1 + 2 * grid);
    assert_close(tacet_mechanism_sensitivity(m), 1 + 2 * grid, 1e-10);
    assert_true(tacet_mechanism_scale(m) >= sigma);
    assert_close(tacet_mechanism_scale(m) / sigma, 1, 3e-6);
    assert_true(sigma / grid >= 1 << 20 && sigma / grid < 1 << 23);
    assert_ok(tacet_gaussian_eps(&eps, m->scale, 1e-5, m->sensitivity, NULL));
    assert_close(eps, 3, 1e-9);
    assert_close(m->mu, m->sensitivity / m->scale, 1e-15);
    tacet_mechanism_free(m);
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_LAPLACE, bound, &move, 2, 0, NULL));
    assert_close(m->scale, 2 * 1 / 2.0, 1e-5); /* L1 sensitivity sqrt 4 */
    assert_true(m->scale >= 1 && m->delta == 0 && m->mu == 0);
    assert_close(m->error_sd, m->scale * sqrt(2), 1e-12);
    tacet_mechanism_free(m);
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_KNORM, bound, &move, 2, 0, NULL));
    assert_close(m->scale, 0.5, 1e-5);
    assert_close(m->error_sd, m->scale * sqrt(5), 1e-12);
    tacet_mechanism_free(m);
    tacet_bound_free(bound);
    /* many numbers: a finer grid, so that rounding stays cheap, down to 2^40 */
    assert_ok(tacet_bound_norm(&bound, 1000000, 1, NULL));
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_GAUSSIAN, bound, &REPLACE, 1, 1e-5, NULL));
    assert_true(m->sensitivity < 2 * (1 + 8e-6));
    tacet_mechanism_free(m);
    tacet_bound_free(bound);
    assert_ok(tacet_bound_norm(&bound, (size_t)1 << 30, 1, NULL));
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_LAPLACE, bound, &REPLACE, 1, 0, NULL));
    assert_true(ldexp(m->scale, -m->grid_exponent) < 0x1p42);
    tacet_mechanism_free(m);
    tacet_bound_free(bound);
    /* scores: whole steps, one more than the range */
    assert_ok(tacet_bound_range(&bound, 3, 0, 1, NULL));
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_EXPONENTIAL, bound, &REPLACE, 1, 0, NULL));
    assert_true(m->score_steps > (1 << 16) && m->score_steps <= (1 << 17) + 2);
    assert_true(m->sensitivity >= 1 && m->sensitivity < 1 + 0x1p-14 && tacet_mechanism_scale(m) == 0);
    tacet_mechanism_free(m);
    tacet_bound_free(bound);
}

TEST(draws) {
    /* 3 kinds of noise, 4,000 runs on 4 numbers: on the grid, centred on the rounded value, of the right variance */
    enum { RUNS = 4000, DIM = 4 };
    const tacet_mechanism_kind kinds[] = {TACET_MECHANISM_GAUSSIAN, TACET_MECHANISM_LAPLACE, TACET_MECHANISM_KNORM};
    OWN_BOUND tacet_bound *bound = test_norm(DIM, 2);
    OWN_BOUNDED tacet_bounded *x = test_bounded(bound, (double[]){0.3, -1.1, 0, 0.7});
    OWN_NOISE tacet_noise *noise = test_noise(1, 0);
    for (size_t k = 0; k < 3; k++) {
        OWN_MECHANISM tacet_mechanism *m = test_mechanism(kinds[k], bound, &REPLACE, 1, 1e-5);
        double sum = 0, squares = 0;
        for (int i = 0; i < RUNS; i++) {
            double out[DIM];
            assert_ok(tacet__mechanism_draw(m, noise, out, x, NULL));
            for (int j = 0; j < DIM; j++) {
                const double steps = ldexp(out[j], -m->grid_exponent);
                assert_true(steps == floor(steps));
                const double z = (out[j] - test_on_grid(x->values[j], m->grid_exponent)) / m->error_sd;
                sum += z;
                squares += z * z;
            }
        }
        /* 16,000 numbers: 5 standard errors of the mean; 5 of the variance, whose kurtosis is at most 6 (Laplace) and
         * whose coordinates are dependent (K-norm): 0.12. False alarms below 1e-6. */
        assert_close(sum / (RUNS * DIM), 0, 5 / sqrt(RUNS * DIM));
        assert_close(squares / (RUNS * DIM), 1, 0.12);
    }
}

TEST(choices) {
    /* the exponential mechanism has probabilities proportional to exp(eps score / 2 sensitivity) */
    enum { RUNS = 20000 };
    OWN_BOUND tacet_bound *bound = test_range(3, 0, 1);
    OWN_BOUNDED tacet_bounded *x = test_bounded(bound, (double[]){1, 0.5, 0});
    OWN_NOISE tacet_noise *noise = test_noise(2, 0);
    tacet_mechanism *m = test_mechanism(TACET_MECHANISM_EXPONENTIAL, bound, &REPLACE, 2, 0);
    double counts[3] = {0}, weights[3], total = 0, chi = 0, out = 0;
    for (int i = 0; i < RUNS; i++) {
        assert_ok(tacet__mechanism_draw(m, noise, &out, x, NULL));
        counts[(int)out]++;
    }
    for (int i = 0; i < 3; i++) {
        weights[i] = exp(2 * x->values[i] / (2 * m->sensitivity));
        total += weights[i];
    }
    for (int i = 0; i < 3; i++) {
        const double want = RUNS * weights[i] / total;
        chi += (counts[i] - want) * (counts[i] - want) / want;
    }
    assert_true(test_chi2_pvalue(chi, 2) > 1e-6); /* the false-alarm rate */
    const double plain = counts[0];
    tacet_mechanism_free(m);
    /* permute-and-flip is never worse, and here better by far more than chance */
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_PERMUTE_AND_FLIP, bound, &REPLACE, 2, 0, NULL));
    counts[0] = 0;
    for (int i = 0; i < RUNS; i++) {
        assert_ok(tacet__mechanism_draw(m, noise, &out, x, NULL));
        counts[(int)out]++;
    }
    assert_true(counts[0] > plain + 500);
    /* as a release: the number of a candidate */
    OWN_RELEASE tacet_release *release = NULL;
    const tacet_ask ask = {.noise = noise, .ticket = "t", .what = "w", .to_whom = "x"};
    assert_ok(tacet_mechanism_run(m, &release, &ask, x, NULL));
    assert_int_equal(tacet_release_count(release), 1);
    assert_string_equal(tacet_release_receipt(release)->mechanism, "permute-and-flip");
    tacet_mechanism_free(m);
}

static tacet_ledger *open_ledger(const char *folder, double eps, tacet_accounting accounting) {
    OWN_TEXT char *path = test_text("%s/ledger.db", folder);
    return test_ledger(path, accounting, eps);
}

TEST(once_per_ticket) {
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_LEDGER tacet_ledger *ledger = open_ledger(folder, 1, TACET_ACCOUNTING_GAUSSIAN);
    OWN_NOISE tacet_noise *sample = NULL;
    assert_ok(tacet_noise_open_sample(&sample, NULL));
    OWN_BOUND tacet_bound *bound = NULL, *other = NULL;
    assert_ok(tacet_bound_norm(&bound, 3, 1, NULL));
    assert_ok(tacet_bound_norm(&other, 3, 1, NULL));
    OWN_BOUNDED tacet_bounded *x = test_bounded(bound, (double[]){0.1, 0.2, 0.3}),
                              *y = test_bounded(other, (double[]){0, 0, 0});
    OWN_MECHANISM tacet_mechanism *m = test_mechanism(TACET_MECHANISM_GAUSSIAN, bound, &REPLACE, 0.8, 1e-5);
    tacet_ask ask = {.ledger = ledger, .ticket = "one", .what = "a vector", .to_whom = "the test"};
    tacet_release *first = NULL, *again = NULL, *refused = (tacet_release *)&ask;
    assert_ok(tacet_mechanism_run(m, &first, &ask, x, NULL));
    const tacet_receipt *r = tacet_release_receipt(first);
    assert_true(r->is_private && r->in_ledger && r->eps == 0.8 && r->delta == 1e-5 && r->entry == 1);
    assert_true(r->sensitivity == m->sensitivity && r->scale == m->scale);
    assert_int_equal(tacet_release_count(first), 3);
    /* the same ticket: the same answer, whatever the data are now */
    assert_ok(tacet_mechanism_run(m, &again, &ask, x, NULL));
    assert_memory_equal(tacet_release_values(first), tacet_release_values(again), 3 * sizeof(double));
    assert_memory_equal(tacet_release_receipt(first), tacet_release_receipt(again), sizeof *r);
    /* another ticket does not fit: nothing is drawn, nothing is written */
    ask.ticket = "two";
    assert_status(tacet_mechanism_run(m, &refused, &ask, x, NULL), TACET_BUDGET);
    assert_null(refused);
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    assert_int_equal(totals.answered, 1);
    assert_close(totals.eps, 0.8, 1e-6);
    /* another question under the old ticket; another bound; a seeded source under a private ticket */
    ask.ticket = "one";
    ask.what = "another vector";
    assert_status(tacet_mechanism_run(m, &refused, &ask, x, NULL), TACET_CONFLICT);
    ask.what = "a vector";
    assert_status(tacet_mechanism_run(m, &refused, &ask, y, NULL), TACET_INVALID);
    OWN_NOISE tacet_noise *fake = test_noise(3, 0);
    double drawn[3];
    assert_status(tacet__mechanism_draw(m, fake, drawn, y, NULL), TACET_INVALID);
    ask.noise = fake;
    assert_status(tacet_mechanism_run(m, &refused, &ask, x, NULL), TACET_CONFLICT);
    /* without a ledger: only seeded, and it says so */
    ask.ledger = NULL;
    tacet_release_free(again);
    assert_ok(tacet_mechanism_run(m, &again, &ask, x, NULL));
    assert_false(tacet_release_receipt(again)->is_private);
    assert_false(tacet_release_receipt(again)->in_ledger);
    ask.noise = NULL;
    assert_status(tacet_mechanism_run(m, &refused, &ask, x, NULL), TACET_INVALID);
    /* noise of no reservation makes no release, with or without a ledger */
    ask.noise = sample;
    assert_status(tacet_mechanism_run(m, &refused, &ask, x, NULL), TACET_INVALID);
    ask.ledger = ledger;
    ask.ticket = "three";
    assert_status(tacet_mechanism_run(m, &refused, &ask, x, NULL), TACET_INVALID);
    assert_null(refused);
    tacet_release_free(first);
    tacet_release_free(again);
}

TEST(charges) {
    char parameters[TACET__PARAMETERS_BYTES];
    tacet_charge c;
    OWN_BOUND tacet_bound *bound = NULL, *narrow = NULL;
    tacet_mechanism *m = NULL;
    assert_ok(tacet_bound_range(&bound, 5, 0, 1, NULL));
    assert_ok(tacet_bound_narrow_scores(&narrow, bound, 0.125, "src/contextual/README.md", NULL));
    const struct {
        tacet_mechanism_kind kind;
        const char *name;
        tacet_claim claim;
        double rho;
    } want[] = {
        {TACET_MECHANISM_GAUSSIAN, "gaussian", TACET_CLAIM_GAUSSIAN, 0},
        {TACET_MECHANISM_LAPLACE, "laplace", TACET_CLAIM_PURE, 0.125},
        {TACET_MECHANISM_KNORM, "k-norm", TACET_CLAIM_PURE, 0.125},
        {TACET_MECHANISM_PERMUTE_AND_FLIP, "permute-and-flip", TACET_CLAIM_PURE, 0.125},
        {TACET_MECHANISM_EXPONENTIAL, "exponential", TACET_CLAIM_PURE, 0.03125},
    };
    for (size_t i = 0; i < 5; i++) {
        assert_ok(tacet_mechanism_create(&m, want[i].kind, narrow, &REPLACE, 0.5, 1e-5, NULL));
        tacet__mechanism_charge(m, &c, parameters, sizeof parameters, 7, 0);
        assert_string_equal(c.mechanism, want[i].name);
        assert_int_equal(c.claim, want[i].claim);
        assert_close(c.rho, i == 0 ? m->mu * m->mu / 2 : want[i].rho, 1e-12);
        assert_true(c.eps == 0.5 && c.delta == (i == 0 ? 1e-5 : 0));
        assert_non_null(strstr(parameters, "\"rows\":7"));
        assert_non_null(strstr(parameters, "\"neighbours\":\"replace\""));
        assert_non_null(strstr(parameters, "src/contextual/README.md\"}"));
        c.what = "x";
        c.to_whom = "y";
        assert_ok(tacet_charge_check(&c, NULL));
        if (i > 2) {
            assert_close(m->sensitivity, 0.125, 0.125 * 0x1p-14);
        }
        tacet_mechanism_free(m);
    }
    const tacet_neighbours move = {TACET_RELATION_MOVE, 0.25};
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_GAUSSIAN, bound, &move, 0.5, 1e-5, NULL));
    tacet__mechanism_charge(m, &c, parameters, sizeof parameters, 1, 0);
    assert_non_null(strstr(parameters, "\"move\":0.25"));
    assert_null(strstr(parameters, "records"));
    tacet__mechanism_charge(m, &c, parameters, sizeof parameters, 1, 2000);
    assert_non_null(strstr(parameters, "\"move\":0.25"));
    assert_non_null(strstr(parameters, "\",\"records\":2000}"));
    tacet_mechanism_free(m);
}

/* Euclidean noise leaks up to pure = sensitivity/scale, more than its eps: where curves add up it is charged the
 * Gaussian curve above randomised response of that, whose tail at mu/2 is 1/(1 + e^pure). */
TEST(euclidean_charge) {
    char parameters[TACET__PARAMETERS_BYTES];
    tacet_charge c;
    OWN_BOUND tacet_bound *bound = test_range(5, 0, 1);
    OWN_MECHANISM tacet_mechanism *m = test_mechanism(TACET_MECHANISM_L2, bound, &REPLACE, 0.5, 1e-5);
    tacet__mechanism_charge(m, &c, parameters, sizeof parameters, 1, 0);
    const double pure = m->sensitivity / m->scale;
    assert_true(pure > 0.5);
    assert_close(0.5 * erfc(c.mu / (2 * sqrt(2))) * (1 + exp(pure)), 1, 1e-9);
    assert_int_equal(c.claim, TACET_CLAIM_GAUSSIAN);
    assert_true(c.eps == 0.5 && c.delta == 1e-5);
}

TEST(tables) {
    enum { ROWS = 50 };
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_LEDGER tacet_ledger *ledger = open_ledger(folder, 3, TACET_ACCOUNTING_GAUSSIAN);
    static const unsigned char DATA[TACET_MINT_BYTES] = {1}, OTHER[TACET_MINT_BYTES] = {2};
    OWN_MECHANISM tacet_mechanism *m = NULL, *choice = NULL;
    const tacet_neighbours move = {TACET_RELATION_MOVE, 1};
    OWN_BOUND tacet_bound *bound = test_range(2, -5, 5);
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_GAUSSIAN, bound, &move, 3, 1e-5, NULL));
    assert_ok(tacet_mechanism_create(&choice, TACET_MECHANISM_EXPONENTIAL, bound, &REPLACE, 3, 1e-5, NULL));
    OWN_RAW tacet_raw *x = test_raw((double[]){1, 2}, 2);
    tacet_ask ask = {.ledger = ledger, .data = DATA, .ticket = "t", .what = "rows", .to_whom = "the test"};
    tacet_table *table = NULL;
    tacet_release *answered = NULL, *receipt = NULL;
    double row[2], given_up[2];
    ask.data = NULL;
    assert_status(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL), TACET_INVALID);
    ask.data = DATA;
    assert_status(tacet_table_open(&table, &answered, choice, &ask, ROWS, NULL), TACET_INVALID);
    assert_status(tacet_table_open(&table, &answered, m, &ask, 0, NULL), TACET_INVALID);
    /* a run that is given up halfway: the same ticket draws the same rows, charged once; for other data it is refused
     */
    assert_ok(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL));
    assert_null(answered);
    assert_ok(tacet_table_rows(table, given_up, x, 0, 1, NULL));
    assert_status(tacet_table_close(table, &receipt, NULL), TACET_STATE);
    assert_null(receipt);
    tacet_table_free(table);
    ask.data = OTHER;
    assert_status(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL), TACET_CONFLICT);
    assert_null(table);
    ask.data = DATA;
    assert_ok(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL));
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, 32);
    for (size_t i = 0; i < ROWS; i++) {
        assert_ok(tacet_table_rows(table, row, x, i, 1, NULL));
        assert_true(i > 0 || memcmp(row, given_up, sizeof row) == 0);
        tacet_table_give(table, row, sizeof row);
        crypto_generichash_update(&hash, (const unsigned char *)row, sizeof row);
        assert_true(ldexp(row[0], -m->grid_exponent) == floor(ldexp(row[0], -m->grid_exponent)));
    }
    assert_status(tacet_table_rows(table, row, x, ROWS, 1, NULL), TACET_STATE);
    assert_ok(tacet_table_close(table, &receipt, NULL));
    const tacet_receipt *r = tacet_release_receipt(receipt);
    unsigned char want[32];
    crypto_generichash_final(&hash, want, sizeof want);
    assert_memory_equal(r->content_hash, want, sizeof want);
    assert_true(r->rows == ROWS && r->count == 2 && r->is_private && r->in_ledger);
    assert_int_equal(tacet_release_count(receipt), 0);
    tacet_release *second = NULL;
    assert_ok(tacet_table_close(table, &second, NULL)); /* closing again is the same answer */
    assert_memory_equal(tacet_release_receipt(second), r, sizeof *r);
    tacet_release_free(second);
    tacet_table_free(table);
    /* once answered: the receipt, no rows */
    assert_ok(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL));
    assert_null(table);
    assert_memory_equal(tacet_release_receipt(answered), r, sizeof *r);
    tacet_release_free(answered);
    ask.ticket = "u";
    assert_status(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL), TACET_BUDGET);
    assert_null(table);
    tacet_ledger_totals totals;
    assert_ok(tacet_ledger_total(ledger, &totals, NULL));
    assert_int_equal(totals.entries, 1);
    tacet_release_free(receipt);
    tacet_table_free(NULL);
    tacet_mechanism_free(NULL);
}

TEST(refusals) {
    tacet_mechanism *m = NULL;
    tacet_bound *bound = test_range(2, 0, 1);
    const double bad[] = {0, -1, NAN, INFINITY};
    for (int k = TACET_MECHANISM_GAUSSIAN; k <= TACET_MECHANISM_L2; k++) {
        for (size_t i = 0; i < 4; i++) {
            const tacet_neighbours move = {TACET_RELATION_MOVE, bad[i]};
            assert_status(tacet_mechanism_create(&m, (tacet_mechanism_kind)k, bound, &REPLACE, bad[i], 1e-5, NULL),
                          TACET_INVALID);
            assert_status(tacet_mechanism_create(&m, (tacet_mechanism_kind)k, bound, &move, 1, 1e-5, NULL),
                          TACET_INVALID);
            assert_null(m);
        }
    }
    static const double EDGES[] = {0.9e-6, 1e-6, 1e15, 1.1e15}; /* of a choice */
    for (size_t i = 0; i < 4; i++) {
        assert_status(tacet_mechanism_create(&m, TACET_MECHANISM_EXPONENTIAL, bound, &REPLACE, EDGES[i], 0, NULL),
                      i % 3 == 0 ? TACET_INVALID : TACET_OK);
        tacet_mechanism_free(m);
        m = NULL;
    }
    assert_status(tacet_mechanism_create(&m, TACET_MECHANISM_GAUSSIAN, bound, &REPLACE, 1, 1, NULL), TACET_INVALID);
    /* noise that could not be drawn is not charged first */
    assert_status(tacet_mechanism_create(&m, TACET_MECHANISM_KNORM, bound, &REPLACE, 1e-9, 0, NULL), TACET_INVALID);
    assert_null(m);
    assert_ok(tacet_mechanism_create(&m, TACET_MECHANISM_KNORM, bound, &REPLACE, 1e-6, 0, NULL));
    tacet_mechanism_free(m);
    m = NULL;
    /* too wide a box for so small a move */
    const tacet_neighbours tiny = {TACET_RELATION_MOVE, 1e-40};
    assert_status(tacet_mechanism_create(&m, TACET_MECHANISM_GAUSSIAN, bound, &tiny, 1, 1e-5, NULL), TACET_INVALID);
    tacet_bound_free(bound);
    /* the sensitivity that rounding adds must stay within what calibration takes */
    assert_ok(tacet_bound_norm(&bound, 4, 5e99, NULL));
    assert_status(tacet_mechanism_create(&m, TACET_MECHANISM_GAUSSIAN, bound, &REPLACE, 1e-3, 1e-5, NULL),
                  TACET_INVALID);
    assert_null(m);
    tacet_bound_free(bound);
}

TEST(out_of_memory) {
    OWN_FOLDER const char *folder = test_mkdir();
    OWN_LEDGER tacet_ledger *ledger = open_ledger(folder, 50, TACET_ACCOUNTING_BASIC);
    OWN_NOISE tacet_noise *noise = test_noise(4, 0);
    OWN_BOUND tacet_bound *bound = test_range(2, 0, 1);
    OWN_BOUNDED tacet_bounded *x = test_bounded(bound, (double[]){0, 1});
    OWN_RAW tacet_raw *raw = test_raw((double[]){0, 1}, 2);
    for (int kind = 0; kind < 2; kind++) {
        for (long n = 1;; n++) {
            OWN_TEXT char *ticket = test_text("%d", kind);
            tacet_mechanism *m = NULL;
            tacet_release *release = NULL;
            const tacet_ask ask = {.ledger = ledger, .noise = noise, .ticket = ticket, .what = "w", .to_whom = "x"};
            fail_alloc_after(n);
            tacet_status s = tacet_mechanism_create(&m, kind ? TACET_MECHANISM_EXPONENTIAL : TACET_MECHANISM_GAUSSIAN,
                                                    bound, &REPLACE, 0.1, 1e-7, NULL);
            TACET_THEN(s, tacet_mechanism_run(m, &release, &ask, x, NULL));
            const int hit = fail_alloc_end();
            tacet_mechanism_free(m);
            if (s == TACET_OK) {
                assert_non_null(release);
                tacet_release_free(release);
                if (!hit) {
                    assert_true(n > 3);
                    break;
                }
            } else {
                assert_null(release);
                assert_true(s == TACET_NO_MEMORY || s == TACET_IO);
            }
        }
    }
    /* a table */
    for (long n = 1, hit = 1; hit != 0; n++) {
        tacet_table *table = NULL;
        tacet_release *release = NULL, *answered = NULL;
        double row[2];
        const tacet_ask ask = {.ledger = NULL, .noise = noise, .ticket = "t", .what = "w", .to_whom = "x"};
        tacet_mechanism *m = test_mechanism(TACET_MECHANISM_LAPLACE, bound, &REPLACE, 0.1, 0);
        fail_alloc_after(n);
        tacet_status s = tacet_table_open(&table, &answered, m, &ask, 1, NULL);
        TACET_THEN(s, tacet_table_rows(table, row, raw, 0, 1, NULL));
        TACET_THEN(s, tacet_table_close(table, &release, NULL));
        hit = fail_alloc_end();
        if (hit && table != NULL) { /* closing can be tried again */
            assert_ok(tacet_table_close(table, &release, NULL));
        }
        tacet_release_free(release);
        tacet_table_free(table);
        tacet_mechanism_free(m);
        assert_status(s, hit != 0 ? TACET_NO_MEMORY : TACET_OK);
        assert_true(hit != 0 || n > 2);
    }
}

/* Rows are clipped, rounded to the grid, and given the noise that rows of zeros get; no more of them than were charged.
 * A ball has no coordinates to clip one by one. A draw that fails ends the table. */
TEST(many_rows) {
    enum { ROWS = 4, COUNT = 3 };
    static const tacet_mechanism_kind KINDS[] = {TACET_MECHANISM_GAUSSIAN, TACET_MECHANISM_LAPLACE,
                                                 TACET_MECHANISM_KNORM};
    OWN_BOUND tacet_bound *box = NULL, *ball = NULL;
    const tacet_neighbours move = {TACET_RELATION_MOVE, 1};
    const double lower[COUNT] = {-1, 0, -7}, upper[COUNT] = {1, 5, 7}, zeros[ROWS * COUNT] = {0};
    const double x[ROWS * COUNT] = {0.25, 2, 3, -9, 9, NAN, 1.3, -0.1, -INFINITY, 0, 0, 0x1p-40};
    const double clipped[ROWS * COUNT] = {0.25, 2, 3, -1, 5, 0, 1, 0, -7, 0, 0, 0x1p-40};
    assert_ok(tacet_bound_box(&box, lower, upper, COUNT, NULL));
    assert_ok(tacet_bound_norm(&ball, COUNT, 3, NULL));
    tacet_raw *raw[2] = {test_raw(x, ROWS * COUNT), test_raw(zeros, ROWS * COUNT)};
    for (int k = 0; k < 3; k++) {
        tacet_table *table = NULL;
        tacet_release *answered = NULL;
        double out[2][ROWS * COUNT];
        tacet_mechanism *m = test_mechanism(KINDS[k], box, &move, 3, 1e-5);
        for (int zero = 0; zero < 2; zero++) {
            const tacet_ask ask = test_ask(8, 0);
            assert_ok(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL));
            assert_status(tacet_table_rows(table, out[zero], raw[zero], 0, ROWS + 1, NULL), TACET_INVALID);
            assert_ok(tacet_table_rows(table, out[zero], raw[zero], 0, ROWS, NULL));
            assert_status(tacet_table_rows(table, out[zero], raw[zero], 0, 1, NULL), TACET_STATE);
            assert_ok(tacet_table_close(table, &answered, NULL));
            tacet_release_free(answered);
            tacet_table_free(table);
            assert_ok(tacet_table_open(&table, &answered, m, &ask, ROWS - 1, NULL)); /* more than there are */
            assert_status(tacet_table_rows(table, out[zero], raw[zero], 0, ROWS, NULL), TACET_STATE);
            tacet_table_free(table);
            tacet_noise_close(ask.noise);
        }
        for (int i = 0; i < ROWS * COUNT; i++) {
            assert_true(out[0][i] == out[1][i] + test_on_grid(clipped[i], m->grid_exponent));
        }
        tacet_mechanism_free(m);
        const tacet_ask ask = test_ask(5, 0);
        assert_ok(tacet_mechanism_create(&m, KINDS[k], k == 0 ? ball : box, &move, 3, 1e-5, NULL));
        assert_ok(tacet_table_open(&table, &answered, m, &ask, ROWS, NULL));
        m->scale = 0; /* no law that the samplers know */
        assert_status(tacet_table_rows(table, out[0], raw[0], 0, 1, NULL), TACET_INVALID);
        assert_status(tacet_table_rows(table, out[0], raw[0], 0, 1, NULL), k == 0 ? TACET_INVALID : TACET_STATE);
        assert_status(tacet_table_close(table, &answered, NULL), TACET_STATE);
        tacet_table_free(table);
        tacet_mechanism_free(m);
        tacet_noise_close(ask.noise);
    }
    tacet_raw_free(raw[0]);
    tacet_raw_free(raw[1]);
}
