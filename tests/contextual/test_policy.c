/* SPDX-License-Identifier: Apache-2.0 */
/* test_policy.c - contextual choices online: what every policy owes, blind draws, the recommendation, states, and
 * what is refused. */
#include "core/codec.h"
#include "support/conformance.h"
#include "contextual/policy_fixture.h"
#include "support/gate.h"

static tacet_status create(void *user, tacet_policy **out, tacet_error *err) {
    return make(user, out, err);
}

static tacet_status create_foreign(void *user, tacet_policy **out, tacet_error *err) {
    world other = *(const world *)user;
    other.ticket = "another study";
    return make(&other, out, err);
}

static void round_of(void *user, size_t k, tacet_round *out) {
    (void)user;
    static double context;
    context = context_of(k);
    *out = (tacet_round){.context = &context, .context_dim = 1};
}

static double value(void *user, size_t k, const tacet_suggestion *s) {
    const world *w = user;
    return f(4.0 * (double)s->index / (double)(w->actions - 1), context_of(k));
}

static void test_conformance(void **state) {
    for (int k = 0; k < 2; k++) {
        world w;
        world_init(&w, 24, 0);
        w.design = k == 0 ? TACET_CONTEXTUAL_SOBOL : TACET_CONTEXTUAL_UNIFORM;
        w.noise = test_noise(1, 1);
        const conformance_problem problem = {.create = create,
                                             .create_foreign = create_foreign,
                                             .round = round_of,
                                             .value = value,
                                             .user = &w,
                                             .rounds = 24,
                                             .any_order = true};
        test_policy_conformance(&problem);
        tacet_noise_close(w.noise);
    }
}

/* The release happens within the run: the ledger repeats its answer, so every replica goes on with the same bits. */
static void test_conformance_released(void **state) {
    world w;
    const char *folder = test_mkdir();
    world_init(&w, 24, 16);
    w.eps = 60;
    open_ledger(&w, folder, 60);
    const conformance_problem problem = {.create = create,
                                         .create_foreign = create_foreign,
                                         .round = round_of,
                                         .value = value,
                                         .user = &w,
                                         .rounds = 24,
                                         .may_allocate = true};
    test_policy_conformance(&problem);
    tacet_noise_close(w.noise);
    tacet_ledger_close(w.ledger);
    test_rmdir(folder);
}

/* Actions while learning do not look: other contexts and rewards, the same actions; and every one as often. */
static void test_blind(void **state) {
    enum { T = 9 * 64 };
    for (int k = 0; k < 2; k++) {
        world w;
        size_t counts[ACTIONS] = {0};
        tacet_policy *a = NULL;
        tacet_policy *b = NULL;
        double chi2 = 0;
        world_init(&w, T, 0);
        w.design = k == 0 ? TACET_CONTEXTUAL_SOBOL : TACET_CONTEXTUAL_UNIFORM;
        w.noise = test_noise(1, 1);
        assert_ok(make(&w, &a, NULL));
        assert_ok(make(&w, &b, NULL));
        for (size_t t = 0; t < T; t++) {
            const size_t i = suggest_at(a, context_of(t));
            assert_int_equal(suggest_at(b, -1e300), i);
            assert_ok(tacet_policy_observe(a, t + 1, 1, NULL));
            counts[i]++;
        }
        for (size_t i = 0; i < ACTIONS; i++) {
            chi2 += ((double)counts[i] - 64) * ((double)counts[i] - 64) / 64;
        }
        /* Uniform: 8 degrees of freedom, false alarm 1e-5 (fixed seed). Sobol: within two of even. */
        assert_true(chi2 < (k == 0 ? 9 * 4.0 / 64 : 37.3));
        assert_true(k == 0 || chi2 > 0.5);
        tacet_policy_free(a);
        tacet_policy_free(b);
        tacet_noise_close(w.noise);
    }
}

/* A long list: the nearest to a point of the box, so the two ends get half of what the others get. */
static void test_nearest(void **state) {
    enum { T = 200 * 20 };
    world w;
    size_t counts[200] = {0};
    tacet_policy *policy = NULL;
    world_init(&w, T, 0);
    w.actions = 200;
    w.noise = test_noise(1, 1);
    assert_ok(make(&w, &policy, NULL));
    for (size_t t = 0; t < T; t++) {
        counts[suggest_at(policy, 11)]++;
    }
    for (size_t i = 0; i < 200; i++) {
        const double due = i == 0 || i == 199 ? T / 398.0 : T / 199.0;
        assert_true(fabs((double)counts[i] - due) < 3);
    }
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* The recommendation is the action that is best on average over the contexts, by another quadrature. */
static void test_recommend(void **state) {
    enum { LEARN = 600 };
    world w;
    tacet_policy *policy = NULL;
    tacet_recommendation r = {0};
    double average[ACTIONS] = {0};
    world_init(&w, LEARN, 0);
    w.eps = 10;
    w.noise = test_noise(3, 1);
    assert_ok(make(&w, &policy, NULL));
    for (size_t t = 0; t < LEARN; t++) {
        const double c = context_of(t);
        const double x = 4.0 * (double)suggest_at(policy, c) / (ACTIONS - 1);
        assert_ok(tacet_policy_observe(policy, t + 1, f(x, c), NULL));
    }
    assert_ok(tacet_contextual_policy_release(policy, NULL));
    assert_ok(tacet_policy_recommend(policy, &r, NULL));
    for (size_t k = 0; k < 1000; k++) {
        const double c = 10 + 2 * ((double)k + 0.5) / 1000;
        double means[ACTIONS];
        double list[ACTIONS];
        size_t best = 0;
        for (size_t j = 0; j < ACTIONS; j++) {
            list[j] = 4.0 * (double)j / (ACTIONS - 1);
        }
        assert_ok(
            tacet_contextual_predict(tacet_contextual_policy_model(policy), &best, means, list, ACTIONS, &c, NULL));
        for (size_t j = 0; j < ACTIONS; j++) {
            average[j] += means[j] / 1000;
        }
    }
    for (size_t j = 0; j < ACTIONS; j++) {
        assert_true(average[j] <= average[r.index]);
    }
    assert_close(r.mean, average[r.index], 1e-5);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

/* A state of version 1, made from one of version 2 (or 2 again): the order of the reports is left out, or changed. */
static void rewrite(tacet_blob *out, const tacet_blob *state, uint16_t version, uint64_t add) {
    tacet__reader r;
    tacet__writer w;
    const unsigned char *bytes = NULL;
    const unsigned char *reported = NULL;
    assert_ok(tacet__read_begin(&r, state->data, state->size, "contextual", 2, NULL));
    tacet__write_begin(&w, out, "contextual", version);
    size_t size = tacet__read_bytes(&r, &bytes);
    tacet__write_bytes(&w, bytes, size);
    const size_t suggested = tacet__read_size(&r, 1000);
    tacet__write_size(&w, suggested);
    size = tacet__read_bytes(&r, &reported);
    tacet__write_bytes(&w, reported, size);
    size = tacet__read_bytes(&r, &bytes);
    assert_int_equal(size, 0);
    tacet__write_bytes(&w, NULL, 0);
    for (size_t k = 0; k < suggested; k++) {
        tacet__write_f64(&w, tacet__read_f64(&r));
    }
    for (size_t k = 0; k < suggested; k++) {
        if (reported[k] == 1) {
            tacet__write_f64(&w, tacet__read_f64(&r));
            const uint64_t order = tacet__read_u64(&r);
            if (version == 2) {
                tacet__write_u64(&w, order + add);
            }
        }
    }
    assert_ok(tacet__read_end(&r, NULL));
    assert_ok(tacet__write_end(&w, NULL));
}

static void test_states(void **state) {
    enum { T = 20 };
    world w;
    tacet_blob kept;
    tacet_blob other;
    tacet_blob again;
    world_init(&w, T + 1, T);
    w.noise = test_noise(1, 1);
    tacet_policy *policy = learnt(&w, T, 7, 0); /* in the order of the tickets */
    tacet_blob_init(&kept);
    tacet_blob_init(&other);
    tacet_blob_init(&again);
    assert_ok(tacet_policy_save(policy, &kept, NULL));
    rewrite(&other, &kept, 1, 0);
    assert_ok(tacet_policy_load(policy, other.data, other.size, NULL));
    assert_ok(tacet_policy_save(policy, &again, NULL));
    assert_int_equal(again.size, kept.size);
    assert_memory_equal(again.data, kept.data, kept.size);
    tacet_blob_clear(&other);
    rewrite(&other, &kept, 2, 1); /* 2 … T: no first report */
    assert_status(tacet_policy_load(policy, other.data, other.size, NULL), TACET_CORRUPT);
    tacet_blob_clear(&other);
    rewrite(&other, &kept, 3, 0);
    assert_status(tacet_policy_load(policy, other.data, other.size, NULL), TACET_CORRUPT);
    tacet_blob_clear(&other);
    tacet_blob_clear(&kept);
    tacet_blob_clear(&again);
    tacet_policy_free(policy);
    tacet_noise_close(w.noise);
}

static void test_bad(void **state) {
    tacet_contextual_space space;
    tacet_contextual_policy_settings good;
    tacet_policy *policy = NULL;
    tacet_noise *noise = NULL;
    tacet_noise *entropy = NULL;
    const double list[3] = {0, 0.5, 1};
    const double outside[2] = {0, 1.5};
    tacet_contextual_space_defaults(&space);
    space.order = 6;
    tacet_contextual_policy_settings_defaults(&good);
    good.rounds = 10;
    assert_ok(tacet_noise_open_seeded(&noise, 1, 1, NULL));
    assert_ok(tacet_noise_open_sample(&entropy, NULL));
    tacet_ask ask = {.noise = noise, .ticket = "m", .what = "model", .to_whom = "test"};
    tacet_contextual_policy_settings s = good;
    s.rounds = 0;
    assert_status(tacet_contextual_policy_create(&policy, &space, list, 3, &s, &ask, NULL), TACET_INVALID);
    s = good;
    s.learn = 11;
    assert_status(tacet_contextual_policy_create(&policy, &space, list, 3, &s, &ask, NULL), TACET_INVALID);
    s = good;
    s.learner.eps = (double)NAN;
    assert_status(tacet_contextual_policy_create(&policy, &space, list, 3, &s, &ask, NULL), TACET_INVALID);
    assert_status(tacet_contextual_policy_create(&policy, &space, list, 1, &good, &ask, NULL), TACET_INVALID);
    assert_status(tacet_contextual_policy_create(&policy, &space, outside, 2, &good, &ask, NULL), TACET_INVALID);
    tacet_contextual_space listed = space;
    listed.actions = list;
    listed.action_count = 3;
    assert_status(tacet_contextual_policy_create(&policy, &listed, list, 3, &good, &ask, NULL), TACET_INVALID);
    listed = space;
    listed.context_dim = 9;
    assert_status(tacet_contextual_policy_create(&policy, &listed, list, 3, &good, &ask, NULL), TACET_INVALID);
    ask.noise = NULL; /* private noise without a ledger */
    assert_status(tacet_contextual_policy_create(&policy, &space, list, 3, &good, &ask, NULL), TACET_INVALID);
    ask.noise = entropy; /* noise of no reservation */
    assert_status(tacet_contextual_policy_create(&policy, &space, list, 3, &good, &ask, NULL), TACET_INVALID);
    assert_null(policy);
    tacet_noise_close(noise);
    tacet_noise_close(entropy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conformance), cmocka_unit_test(test_conformance_released),
        cmocka_unit_test(test_blind),       cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_recommend),   cmocka_unit_test(test_states),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
