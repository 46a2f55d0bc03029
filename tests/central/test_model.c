/* SPDX-License-Identifier: Apache-2.0 */
/* test_model.c - a released model says what the learner says, without it. */
#include "contextual/open/internal.h"
#include "support/gate.h"
#include "support/test.h"

#include <tacet/core/simrng.h>
#include "central/trusted/policy.h"

#include "central/trusted/bandit.h"

enum { ROUNDS = 40, ARMS = 6 };
static const double LOWER[] = {-1, 10}, UPPER[] = {2, 30}, SCALES[] = {1.2, 8};
static const tacet_domain BOX = {.kind = TACET_DOMAIN_BOX, .d = 2, .lower = LOWER, .upper = UPPER};

typedef struct world {
    tacet_features *features;
    tacet_central_map *map;
    tacet_central_settings settings;
    tacet_noise *noise;
    tacet_ask ask;
    tacet_blob early, late; /* states */
} world;

static void begin(world *w, const char *kernel_name, const tacet_domain *domain, bool isotropic) {
    tacet_kernel_spec spec;
    tacet_kernel *kernel = NULL;
    memset(w, 0, sizeof *w);
    tacet_kernel_spec_defaults(&spec);
    assert_ok(tacet_kernel_parse(&spec, kernel_name, NULL));
    spec.d = 2;
    spec.lengthscales = SCALES;
    spec.lengthscale_count = isotropic ? 1 : 2;
    assert_ok(tacet_kernel_create(&kernel, &spec, NULL));
    assert_ok(tacet_features_create_mercer(&w->features, kernel, domain, 12, 20, NULL));
    tacet_kernel_free(kernel);
    assert_ok(tacet_central_map_create(&w->map, w->features, domain, 12, -3, 5, NULL));
    tacet_central_settings_defaults(&w->settings);
    w->settings.eps = 10;
    w->settings.delta = 0.1;
    w->settings.rounds = ROUNDS;
    w->settings.learner.grid = 40;
    w->noise = test_noise(5, 0);
    w->ask = (tacet_ask){.noise = w->noise, .ticket = "t", .what = "w", .to_whom = "x"};
    tacet_blob_init(&w->early);
    tacet_blob_init(&w->late);
}

static void play(world *w) {
    OWN_POLICY tacet_policy *policy = NULL;
    tacet_simrng rng = test_rng(3, 0);
    assert_ok(tacet_central_create(&policy, w->map, &w->settings, &w->ask, NULL));
    for (size_t t = 0; t < ROUNDS - 5; t++) {
        double X[2 * ARMS];
        for (size_t i = 0; i < 2 * (size_t)ARMS; i++) {
            X[i] = LOWER[i % 2] + (UPPER[i % 2] - LOWER[i % 2]) * tacet_simrng_uniform(&rng);
        }
        const tacet_round round = {.points = X, .ld = 2, .d = 2, .count = ARMS};
        tacet_suggestion s;
        if (t == 1) {
            assert_ok(tacet_policy_save(policy, &w->early, NULL));
        }
        assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
        assert_ok(tacet_policy_observe(policy, s.ticket, X[2 * s.index], NULL));
    }
    assert_ok(tacet_policy_save(policy, &w->late, NULL));
}

static void end(world *w) {
    tacet_blob_clear(&w->early);
    tacet_blob_clear(&w->late);
    tacet_noise_close(w->noise);
    tacet_central_map_free(w->map);
    tacet_features_free(w->features);
}

/* Variance that six numbers are planned to have at eps = 10, delta = 0.1: between (6 + 1)/eps^2 and the Gaussian's,
 * sigma = 0.2818 (tacet calibrate gaussian --eps 10 --delta 0.1). */
#define PLANNED (1 / sqrt(pow(0.07, -2) + pow(0.2818 * 0.2818, -2)))

static void agrees(const char *kernel, bool minimize) {
    world w;
    begin(&w, kernel, &BOX, false);
    w.settings.minimize = minimize;
    play(&w);
    tacet_contextual_model *model = NULL, *back = NULL;
    double theta[20], phi[20];
    tacet__central_learnt learnt = {.theta = theta};
    assert_ok(tacet_central_model(&model, w.map, &w.settings, &w.ask, w.late.data, w.late.size, NULL));
    assert_ok(tacet__central_learnt_of(&learnt, w.map, &w.settings, &w.ask, w.late.data, w.late.size, NULL));
    char *text = NULL; /* through the file, as whoever receives it */
    assert_ok(tacet_contextual_model_encode(model, &text, NULL));
    assert_ok(tacet_contextual_model_decode(&back, text, strlen(text), NULL));
    for (size_t i = 0; i <= 5; i++) {
        for (size_t k = 0; k <= 5; k++) {
            const double x[] = {LOWER[0] + 3 * (double)i / 5, LOWER[1] + 20 * (double)k / 5};
            double mean = 0, expected = 0;
            size_t best = 9;
            tacet_features_eval(w.features, phi, x, 2, 1);
            for (size_t f = 0; f < 20; f++) {
                expected += theta[f] * phi[f];
            }
            assert_ok(tacet_contextual_predict(back, &best, &mean, x, 1, NULL));
            expected += learnt.level;
            expected = -3 + 8 * (1 / (1 + exp(-expected)));
            assert_close(mean, w.settings.minimize ? -expected : expected, 1e-8);
        }
    }
    const tacet_contextual_parts *p = tacet_contextual_model_parts(back);
    uint64_t rounds = 0; /* of the batches that have ended */
    for (double length = ceil(4 * (1 + 1.5 * sqrt(PLANNED))); rounds + (uint64_t)ceil(length) <= ROUNDS - 5;
         length *= 1.15) {
        rounds += (uint64_t)ceil(length);
    }
    assert_true(rounds > 0);
    assert_int_equal(p->rounds, rounds);
    assert_true(p->eps == 10 && p->delta == 0.1 && !p->is_private && p->receipt_count == 1);
    assert_true(p->predicted_error > 0 && p->predicted_error < 8);
    free(text);
    tacet_release_free(learnt.release);
    tacet_contextual_model_free(model);
    tacet_contextual_model_free(back);
    end(&w);
}

TEST(models_agree) {
    agrees("se", false);
    agrees("matern52", true);
}

TEST(refuses) {
    world w;
    tacet_contextual_model *model = NULL;
    begin(&w, "se", &BOX, false);
    play(&w);
    assert_status(tacet_central_model(&model, w.map, &w.settings, &w.ask, w.early.data, w.early.size, NULL),
                  TACET_STATE);
    assert_status(tacet_central_model(&model, w.map, &w.settings, &w.ask, w.late.data, w.late.size - 1, NULL),
                  TACET_CORRUPT);
    assert_status(tacet_central_model(NULL, w.map, &w.settings, &w.ask, w.late.data, w.late.size, NULL), TACET_INVALID);
    assert_status(tacet_central_model(&model, NULL, &w.settings, &w.ask, w.late.data, w.late.size, NULL),
                  TACET_INVALID);
    for (long n = 1;; n++) {
        fail_alloc_after(n);
        const tacet_status s = tacet_central_model(&model, w.map, &w.settings, &w.ask, w.late.data, w.late.size, NULL);
        const int hit = fail_alloc_hit();
        fail_alloc_after(0);
        assert_true((s == TACET_OK) == (model != NULL));
        if (!hit) {
            assert_ok(s);
            break;
        }
        assert_true(s == TACET_NO_MEMORY || s == TACET_OK);
        tacet_contextual_model_free(model);
    }
    tacet_contextual_model_free(model);
    end(&w);
    const tacet_domain ball = {.kind = TACET_DOMAIN_BALL, .d = 2, .radius = 2};
    begin(&w, "se", &ball, true);
    assert_status(tacet_central_model(&model, w.map, &w.settings, &w.ask, "", 0, NULL), TACET_INVALID);
    end(&w);
    begin(&w, "matern12", &BOX, false);
    assert_status(tacet_central_model(&model, w.map, &w.settings, &w.ask, "", 0, NULL), TACET_INVALID);
    assert_null(model);
    end(&w);
}
