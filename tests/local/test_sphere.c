/* SPDX-License-Identifier: Apache-2.0 */
/* test_sphere.c - reports of a vector: their law, that they are unbiased, once per ticket, whoever made the model. */
#include "local/shared/ldp.h"
#include "support/gate.h"
#include "support/test.h"

#include <tacet/core/simrng.h>
#include <tacet/dp/randomizer.h>
#include "local/open/statistics.h"
#include <tacet/local/trusted/statistics_report.h>

#include <math.h>
#include <string.h>

enum { CELLS = 256, DIM = 5, WORK = 2 * (DIM + 1) + CELLS };
static const double RECORD[DIM] = {0.5, 0.3, -0.2, 0, 0.1};

static tacet_sphere sphere_of(double eps) {
    tacet_ldp ldp;
    tacet_sphere sphere;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_SPHERE, eps, 0, 1, NULL));
    assert_ok(tacet_sphere_init(&sphere, &ldp, DIM, 1, NULL));
    assert_int_equal(ldp.cells, CELLS);
    return sphere;
}

TEST(a_sphere_has_its_own_randomiser_and_numbers) {
    tacet_sphere out, right = sphere_of(1);
    tacet_ldp other;
    assert_ok(tacet_ldp_init(&other, TACET_LDP_DUCHI, 1, 0, 1, NULL));
    assert_status(tacet_sphere_init(&out, &other, DIM, 1, NULL), TACET_INVALID);
    assert_status(tacet_sphere_init(&out, &right.ldp, 0, 1, NULL), TACET_INVALID);
    assert_status(tacet_sphere_init(&out, &right.ldp, (1 << 16) + 1, 1, NULL), TACET_INVALID);
    assert_true(out.dim == 0 && out.gain == 0);
}

/* The likelihood of every outcome is one of two whole numbers, and their ratio is at most e^eps. */
TEST(likelihood_ratio_is_at_most_claimed) {
    for (double eps = 0x1p-10; eps <= 32; eps *= 2) {
        const tacet_ldp ldp = sphere_of(eps).ldp;
        assert_true((double)ldp.ratio_num / (double)ldp.ratio_den <= exp(eps));
        assert_true((double)ldp.ratio_num / (double)ldp.ratio_den >= exp(eps) * (1 - 1e-6) || eps > 16);
        assert_true(ldp.window >= 1 && ldp.window < CELLS);
    }
}

/* Chi-square of 200,000 draws against the weights that were asked for: 255 degrees of freedom, mean 255, sd 22.6. Above
 * 380 with a chance below 1e-6. */
TEST(draws_have_the_weights_of_the_order) {
    enum { DRAWS = 200000 };
    const tacet_ldp ldp = sphere_of(1).ldp;
    uint32_t order[CELLS];
    size_t seen[CELLS] = {0};
    double square = 0;
    OWN_NOISE tacet_noise *noise = test_noise(7, 0);
    for (uint32_t i = 0; i < CELLS; i++) {
        order[i] = (i * 37 + 11) % CELLS;
    }
    for (int i = 0; i < DRAWS; i++) {
        double k = 0;
        assert_ok(tacet_randomize_among(noise, &k, &ldp, order, NULL));
        seen[(size_t)k]++;
    }
    const double a = (double)ldp.ratio_num, b = (double)ldp.ratio_den;
    const double all = ldp.window * a + (CELLS - ldp.window) * b;
    for (uint32_t i = 0; i < CELLS; i++) {
        const double expected = DRAWS * (i < ldp.window ? a : b) / all;
        square += pow((double)seen[order[i]] - expected, 2) / expected;
    }
    assert_true(square < 380);
    order[0] = order[1];
    double k = 0;
    assert_int_equal(tacet_randomize_among(noise, &k, &ldp, order, NULL), TACET_INVALID);
    assert_true(isnan(k));
    order[0] = CELLS; /* no cell */
    assert_int_equal(tacet_randomize_among(noise, &k, &ldp, order, NULL), TACET_INVALID);
    tacet_ldp other = ldp;
    other.cells = UINT32_MAX;
    assert_int_equal(tacet_randomize_among(noise, &k, &other, order, NULL), TACET_INVALID);
    other = ldp;
    other.kind = TACET_LDP_DUCHI;
    assert_int_equal(tacet_randomize_among(noise, &k, &other, order, NULL), TACET_INVALID);
    assert_int_equal(tacet_randomize(noise, &k, &ldp, 0.5, NULL), TACET_INVALID);
}

/* The mean over the response is exact, so only the directions vary: of 4,000 rounds it is within 0.03 of the record
 * (their sd is about 0.4 / sqrt(4000) = 0.006). The variance of a single report is the one stated. */
TEST(estimates_are_unbiased_with_the_stated_noise) {
    enum { ROUNDS = 4000 };
    const tacet_sphere s = sphere_of(1);
    const double a = (double)s.ldp.ratio_num, b = (double)s.ldp.ratio_den;
    const double all = s.ldp.window * a + (CELLS - s.ldp.window) * b;
    double mean[DIM] = {0}, square = 0, work[WORK], estimate[DIM];
    for (uint64_t t = 1; t <= ROUNDS; t++) {
        uint32_t order[CELLS];
        tacet_sphere_order(&s, order, work, t, RECORD);
        for (uint32_t i = 0; i < CELLS; i++) {
            const double p = (i < s.ldp.window ? a : b) / all / ROUNDS;
            assert_ok(tacet_sphere_estimate(&s, estimate, work, t, order[i], NULL));
            for (size_t c = 0; c < DIM; c++) {
                mean[c] += p * estimate[c];
                square += p * pow(estimate[c] - RECORD[c], 2) / DIM;
            }
        }
    }
    for (size_t c = 0; c < DIM; c++) {
        assert_close(mean[c], RECORD[c], 0.03);
    }
    assert_close(square, s.noise_var, 0.05 * s.noise_var);
}

/* Of a record on the sphere itself, to which nothing is lifted: nearest first, by what each direction says; and nothing
 * of the record stays behind. Its squares sum to a little above 1, as rounding may have it. */
TEST(the_order_is_by_the_distance_to_the_record) {
    const tacet_sphere s = sphere_of(1);
    const double record[DIM] = {0x1p-26, 0, -1, 0, 0};
    double work[WORK], told[DIM], last = INFINITY;
    uint32_t order[CELLS];
    bool seen[CELLS] = {false};
    for (size_t i = 0; i < WORK; i++) {
        work[i] = 7;
    }
    tacet_sphere_order(&s, order, work, 3, record);
    for (size_t i = 0; i < WORK; i++) {
        assert_true(work[i] == 0);
    }
    for (size_t i = 0; i < CELLS; i++) {
        assert_true(order[i] < CELLS && !seen[order[i]]);
        seen[order[i]] = true;
        assert_ok(tacet_sphere_estimate(&s, told, work, 3, order[i], NULL));
        const double along = record[0] * told[0] + record[2] * told[2];
        assert_true(along <= last + 1e-12);
        last = along;
    }
    static const double NONE[] = {-1, CELLS, 0.5, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        assert_int_equal(tacet_sphere_estimate(&s, told, work, 3, NONE[i], NULL), TACET_INVALID);
    }
}

/* --- a study ------------------------------------------------------------------------------------------------------ */

static tacet_statistics_spec spec_of(double eps, bool minimize) {
    static const double LOWER[] = {0, 0}, UPPER[] = {1, 2}, SCALE[] = {0.4};
    return (tacet_statistics_spec){.kernel = "matern52",
                                   .lengthscales = SCALE,
                                   .lengthscale_count = 1,
                                   .lower = LOWER,
                                   .upper = UPPER,
                                   .d = 2,
                                   .lo = minimize ? -1 : 0,
                                   .hi = minimize ? 0 : 1,
                                   .minimize = minimize,
                                   .eps = eps,
                                   .features = 25,
                                   .released = 15,
                                   .set_size = 25};
}

typedef struct memory {
    bool reserved, answered;
    double report;
    tacet_mint mint;
    unsigned draws;
} memory;

static tacet_status reserve(void *user, const char *ticket, const tacet_ldp *ldp, tacet_mint *mint, bool *answered,
                            double *report, tacet_error *err) {
    memory *m = user;
    (void)ticket;
    (void)ldp;
    (void)err;
    if (m->reserved) {
        *mint = m->mint;
    }
    m->mint = *mint;
    m->reserved = true;
    *answered = m->answered;
    *report = m->report;
    return TACET_OK;
}

static tacet_status commit(void *user, const char *ticket, double report, tacet_error *err) {
    memory *m = user;
    (void)ticket;
    (void)err;
    m->answered = true;
    m->report = report;
    m->draws++;
    return TACET_OK;
}

/* As it comes over the wire. */
static tacet_statistics_card *card_of(const tacet_statistics_model *model) {
    tacet_statistics_card *card = NULL;
    tacet_blob bytes;
    tacet_blob_init(&bytes);
    assert_ok(tacet_statistics_model_card(model, &bytes, NULL));
    assert_ok(tacet_statistics_card_open(&card, bytes.data, bytes.size, NULL));
    bytes.data[bytes.size / 2] ^= 1;
    tacet_statistics_card *damaged = NULL;
    assert_int_equal(tacet_statistics_card_open(&damaged, bytes.data, bytes.size, NULL), TACET_CORRUPT);
    tacet_blob_clear(&bytes);
    return card;
}

TEST(a_ticket_is_answered_once) {
    const tacet_statistics_spec spec = spec_of(1, false);
    tacet_statistics_model *model = NULL;
    memory m = {0};
    const tacet_device_store store = {.reserve = reserve, .commit = commit, .user = &m};
    const tacet_ldp own = {0};
    tacet_device_answer first, again;
    const double x[2] = {0.5, 1}, other[2] = {0.1, 0.2};
    assert_ok(tacet_statistics_model_create(&model, &spec, NULL));
    tacet_statistics_card *card = card_of(model);
    const tacet_ldp *ldp = tacet_statistics_card_ldp(card);
    const tacet_device_store forgetful = {.reserve = reserve, .user = &m}, careless = {.commit = commit, .user = &m};
    assert_int_equal(tacet_statistics_report(card, ldp, &forgetful, &first, "t", 1, x, 0.5, NULL), TACET_INVALID);
    assert_int_equal(tacet_statistics_report(card, ldp, &careless, &first, "t", 1, x, 0.5, NULL), TACET_INVALID);
    assert_int_equal(tacet_statistics_report(card, ldp, &store, &first, "t", 1, x, NAN, NULL), TACET_INVALID);
    tacet_ldp wider = *ldp;
    wider.hi += 1;
    assert_int_equal(tacet_statistics_report(card, &wider, &store, &again, "t", 1, x, 0.5, NULL), TACET_CONFLICT);
    assert_false(m.reserved);
    assert_ok(tacet_statistics_report(card, ldp, &store, &first, "t", 1, x, 0.5, NULL));
    assert_true(tacet_ldp_possible(ldp, first.report));
    assert_ok(tacet_statistics_report(card, ldp, &store, &again, "t", 1, other, 0.9, NULL));
    assert_true(again.report == first.report && again.repeated && m.draws == 1);
    /* Interrupted before its commit: the same report for the same record, and none for another. */
    m.answered = false;
    assert_ok(tacet_statistics_report(card, ldp, &store, &again, "t", 1, x, 0.5, NULL));
    assert_true(again.report == first.report);
    m.answered = false;
    assert_int_equal(tacet_statistics_report(card, ldp, &store, &again, "t", 1, other, 0.9, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_statistics_report(card, &own, &store, &again, "t", 1, x, 0.5, NULL), TACET_CONFLICT);
    size_t others = 0; /* the same ticket and record on other devices: coins of their own (40 alike: below e^-40) */
    for (size_t k = 0; k < 40; k++) {
        m = (memory){0};
        assert_ok(tacet_statistics_report(card, ldp, &store, &again, "t", 1, x, 0.5, NULL));
        others += again.report != first.report ? 1 : 0;
    }
    assert_true(others > 0);
    tacet_statistics_card_free(card);
    tacet_statistics_model_free(model);
}

/* A model of a larger eps than the device's own draws nothing. */
TEST(a_model_cannot_raise_eps) {
    const tacet_statistics_spec mine = spec_of(1, false), theirs = spec_of(8, false);
    tacet_statistics_model *own = NULL, *model = NULL;
    memory m = {0};
    const tacet_device_store store = {.reserve = reserve, .commit = commit, .user = &m};
    tacet_device_answer answer;
    const double x[2] = {0.5, 1};
    assert_ok(tacet_statistics_model_create(&own, &mine, NULL));
    assert_ok(tacet_statistics_model_create(&model, &theirs, NULL));
    tacet_statistics_card *card = card_of(model), *agreed = card_of(own);
    assert_int_equal(
        tacet_statistics_report(card, tacet_statistics_card_ldp(agreed), &store, &answer, "t", 1, x, 0.5, NULL),
        TACET_CONFLICT);
    tacet_statistics_card_free(card);
    tacet_statistics_card_free(agreed);
    assert_false(m.reserved);
    tacet_statistics_model_free(own);
    tacet_statistics_model_free(model);
}

/* 400 devices with 10 arms each, at eps 8: where the model sends them afterwards pays more than arms at random, the
 * highest reward being at (0.8, 1.5). The state is saved and loaded half way. */
static void run(bool minimize, double *informed, double *before) {
    enum { ROUNDS = 800, ARMS = 10 };
    const tacet_statistics_spec spec = spec_of(8, minimize);
    tacet_statistics_model *model = NULL;
    tacet_policy *policy = NULL;
    tacet_simrng world;
    tacet_blob bytes, again;
    tacet_simrng_init(&world, 3, 0);
    tacet_blob_init(&bytes);
    tacet_blob_init(&again);
    assert_ok(tacet_statistics_model_create(&model, &spec, NULL));
    assert_ok(tacet_statistics_policy_create(&policy, model, ROUNDS, NULL));
    *informed = *before = 0;
    for (size_t t = 1; t <= ROUNDS; t++) {
        double arms[2 * ARMS];
        tacet_suggestion s;
        memory m = {0};
        tacet_device_answer answer;
        const tacet_device_store store = {.reserve = reserve, .commit = commit, .user = &m};
        assert_ok(tacet_policy_suggest(policy, &s, NULL, NULL));
        assert_int_equal(s.index, t);
        for (size_t i = 0; i < ARMS; i++) {
            arms[2 * i] = tacet_simrng_uniform(&world);
            arms[2 * i + 1] = 2 * tacet_simrng_uniform(&world);
        }
        tacet_statistics_card *card = card_of(model);
        size_t chosen = 0;
        assert_ok(tacet_statistics_card_choose(card, &chosen, &world, arms, 2, ARMS, NULL));
        const double *x = arms + 2 * chosen;
        const double mean = exp(-3 * (pow(x[0] - 0.8, 2) + pow(x[1] - 1.5, 2)));
        const double y = tacet_simrng_uniform(&world) < mean ? 1 : 0;
        *(t > ROUNDS / 2 ? informed : before) += t > ROUNDS / 2 || t <= 20 ? mean : 0;
        assert_ok(tacet_statistics_report(card, tacet_statistics_card_ldp(card), &store, &answer, "t", s.index, x,
                                          minimize ? -y : y, NULL));
        assert_ok(tacet_policy_observe(policy, s.ticket, minimize ? -answer.report : answer.report, NULL));
        assert_int_equal(tacet_policy_observe(policy, s.ticket, answer.report, NULL), TACET_CONFLICT);
        tacet_statistics_card_free(card);
        if (t == ROUNDS / 2) {
            tacet_blob_clear(&bytes);
            assert_ok(tacet_policy_save(policy, &bytes, NULL));
            assert_ok(tacet_policy_load(policy, bytes.data, bytes.size, NULL));
            assert_ok(tacet_policy_save(policy, &again, NULL));
            assert_true(again.size == bytes.size && memcmp(again.data, bytes.data, bytes.size) == 0);
            bytes.data[bytes.size / 2] ^= 1;
            assert_int_equal(tacet_policy_load(policy, bytes.data, bytes.size, NULL), TACET_CORRUPT);
        }
    }
    tacet_suggestion none;
    assert_int_equal(tacet_policy_suggest(policy, &none, NULL, NULL), TACET_STATE);
    *informed /= ROUNDS / 2;
    *before /= 20;
    tacet_policy_free(policy);
    tacet_blob_clear(&bytes);
    tacet_blob_clear(&again);
}

TEST(devices_learn_together) {
    double informed = 0, before = 0;
    run(false, &informed, &before);
    print_message("mean reward %.3f at random, %.3f by the model\n", before, informed);
    assert_true(informed > before + 0.2);
    run(true, &informed, &before);
    print_message("minimized: %.3f at random, %.3f by the model\n", before, informed);
    assert_true(informed > before + 0.2);
}
