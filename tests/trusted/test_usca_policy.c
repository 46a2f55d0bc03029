/* test_usca_policy.c - contextual choices online: what every policy owes, blind draws, one charge, free choices after.
 */
#include "base/codec.h"
#include "support/conformance.h"
#include "support/test.h"

#include <sys/stat.h>
#include <tacet/base/simrng.h>
#include <tacet/trusted/usca_policy.h>

enum { ACTIONS = 9 };

typedef struct world {
    tacet_noise *noise;
    tacet_ledger *ledger;
    size_t rounds, learn;
    size_t actions;
    double eps;
    const char *ticket;
    tacet_usca_design design;
    double lower[2], upper[2];
} world;

static void world_init(world *w, size_t rounds, size_t learn) {
    *w = (world){.rounds = rounds,
                 .learn = learn,
                 .actions = ACTIONS,
                 .eps = 1,
                 .ticket = "online",
                 .design = TACET_USCA_SOBOL,
                 .lower = {0, 10},
                 .upper = {4, 12}};
}

static tacet_status make(const world *w, tacet_policy **out, tacet_error *err) {
    tacet_usca_space space;
    tacet_usca_policy_settings settings;
    double list[200];
    const double lengthscales[2] = {1.6, 0.8};
    tacet_usca_space_defaults(&space);
    space.lower = w->lower;
    space.upper = w->upper;
    space.lengthscales = lengthscales;
    space.lengthscale_count = 2;
    space.order = 8;
    tacet_usca_policy_settings_defaults(&settings);
    settings.rounds = w->rounds;
    settings.learn = w->learn;
    settings.design = w->design;
    settings.learner.eps = w->eps;
    settings.learner.features_most = 6;
    for (size_t i = 0; i < w->actions; i++) {
        list[i] = w->lower[0] + (w->upper[0] - w->lower[0]) * (double)i / (double)(w->actions - 1);
    }
    const tacet_ask ask = {
        .ledger = w->ledger, .noise = w->noise, .ticket = w->ticket, .what = "model", .to_whom = "anyone"};
    return tacet_usca_policy_create(out, &space, list, w->actions, &settings, &ask, err);
}

static double f(double x, double c) {
    return 0.8 - 0.3 * (x - 2 * (c - 10)) * (x - 2 * (c - 10));
}

static double context_of(size_t k) {
    tacet_simrng rng;
    tacet_simrng_init(&rng, 71, k);
    return 10 + 2 * tacet_simrng_uniform(&rng);
}

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

static void open_ledger(world *w, const char *folder, double eps) {
    char path[512];
    tacet_ledger_settings budget;
    (void)snprintf(path, sizeof path, "%s/ledger", folder);
    tacet_ledger_settings_defaults(&budget);
    budget.eps = eps;
    budget.delta = 0;
    budget.accounting = TACET_ACCOUNTING_BASIC;
    budget.create = true;
    assert_ok(tacet_ledger_open(&w->ledger, path, &budget, NULL));
}

static void test_conformance(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        world w;
        world_init(&w, 24, 0);
        w.design = k == 0 ? TACET_USCA_SOBOL : TACET_USCA_UNIFORM;
        assert_ok(tacet_noise_open_seeded(&w.noise, 1, 1, NULL));
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
    (void)state;
    world w;
    const char *folder = test_mkdir();
    world_init(&w, 24, 16);
    w.eps = 60;
    open_ledger(&w, folder, 60);
    assert_ok(tacet_noise_open(&w.noise, NULL));
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

static size_t suggest_at(tacet_policy *policy, double context) {
    const tacet_round round = {.context = &context, .context_dim = 1};
    tacet_suggestion s = {0};
    assert_ok(tacet_policy_suggest(policy, &s, &round, NULL));
    return s.index;
}

/* Actions while learning do not look: other contexts and rewards, the same actions; and every one as often. */
static void test_blind(void **state) {
    (void)state;
    enum { T = 9 * 64 };
    for (int k = 0; k < 2; k++) {
        world w;
        size_t counts[ACTIONS] = {0};
        tacet_policy *a = NULL;
        tacet_policy *b = NULL;
        double chi2 = 0;
        world_init(&w, T, 0);
        w.design = k == 0 ? TACET_USCA_SOBOL : TACET_USCA_UNIFORM;
        assert_ok(tacet_noise_open_seeded(&w.noise, 1, 1, NULL));
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
    (void)state;
    enum { T = 200 * 20 };
    world w;
    size_t counts[200] = {0};
    tacet_policy *policy = NULL;
    world_init(&w, T, 0);
    w.actions = 200;
    assert_ok(tacet_noise_open_seeded(&w.noise, 1, 1, NULL));
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

static bool holds(const tacet_blob *blob, const void *bytes, size_t size) {
    for (size_t at = 0; at + size <= blob->size; at++) {
        if (memcmp(blob->data + at, bytes, size) == 0) {
            return true;
        }
    }
    return false;
}

/* Explore, release (charged once), choose: the choices are the model's, good ones, and no record is left. */
static void test_release(void **state) {
    (void)state;
    enum { LEARN = 2000, AFTER = 200 };
    world w;
    tacet_policy *policy = NULL;
    tacet_recommendation r = {0};
    tacet_ledger_totals totals;
    tacet_blob before;
    tacet_blob after;
    tacet_error err = {0};
    double lost = 0;
    const double marked = 0.123456789;
    const char *folder = test_mkdir();
    tacet_blob_init(&before);
    tacet_blob_init(&after);
    world_init(&w, LEARN + AFTER, LEARN);
    open_ledger(&w, folder, 1);
    assert_ok(tacet_noise_open(&w.noise, NULL));
    assert_ok(make(&w, &policy, NULL));
    assert_status(tacet_usca_policy_release(policy, &err), TACET_STATE);
    for (size_t t = 0; t < LEARN; t++) {
        const double c = context_of(t);
        const double x = 4.0 * (double)suggest_at(policy, c) / (ACTIONS - 1);
        if (t != 7) {
            assert_ok(tacet_policy_observe(policy, t + 1, t == 9 ? marked : f(x, c), NULL));
        }
    }
    assert_status(tacet_policy_recommend(policy, &r, &err), TACET_STATE);
    assert_null(tacet_usca_policy_model(policy));
    assert_ok(tacet_policy_save(policy, &before, NULL));
    assert_true(holds(&before, &marked, sizeof marked));
    assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
    assert_true(totals.eps == 0);
    for (size_t t = 0; t < AFTER; t++) {
        const double c = context_of(LEARN + t);
        double means[ACTIONS];
        double list[ACTIONS];
        double most = -INFINITY;
        size_t best = 0;
        const size_t i = suggest_at(policy, c);
        for (size_t j = 0; j < ACTIONS; j++) {
            list[j] = 4.0 * (double)j / (ACTIONS - 1);
            most = fmax(most, f(list[j], c));
        }
        assert_ok(tacet_usca_predict(tacet_usca_policy_model(policy), &best, means, list, ACTIONS, &c, NULL));
        assert_int_equal(i, best);
        lost += (most - f(list[i], c)) / AFTER;
    }
    /* Real noise: 0.012 on average with a standard deviation of 0.001 over 15 runs, so a false alarm is far below 1e-9.
     */
    assert_true(lost < 0.1);
    assert_ok(tacet_policy_observe(policy, 8, 0.5, NULL)); /* late: accepted, not learnt */
    assert_ok(tacet_usca_policy_release(policy, NULL));
    assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
    assert_close(totals.eps, 1, 1e-12);
    assert_int_equal(tacet_usca_model_parts(tacet_usca_policy_model(policy))->rounds, LEARN - 1);
    assert_ok(tacet_policy_recommend(policy, &r, NULL));
    assert_true(r.index < ACTIONS && isfinite(r.mean) && r.sd > 0 && r.measured == SIZE_MAX);
    assert_ok(tacet_policy_save(policy, &after, NULL));
    assert_false(holds(&after, &marked, sizeof marked));
    /* From before the release: it is made again with the ledger's answers, and costs nothing. */
    tacet_policy *again = NULL;
    assert_ok(make(&w, &again, NULL));
    assert_ok(tacet_policy_load(again, before.data, before.size, NULL));
    assert_ok(tacet_usca_policy_release(again, NULL));
    assert_memory_equal(tacet_usca_model_parts(tacet_usca_policy_model(again))->weights,
                        tacet_usca_model_parts(tacet_usca_policy_model(policy))->weights,
                        tacet_usca_model_parts(tacet_usca_policy_model(policy))->count * sizeof(double));
    assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
    assert_close(totals.eps, 1, 1e-12);
    tacet_policy_free(again);
    tacet_policy_free(policy);
    tacet_blob_clear(&before);
    tacet_blob_clear(&after);
    tacet_noise_close(w.noise);
    tacet_ledger_close(w.ledger);
    test_rmdir(folder);
}

/* The recommendation is the action that is best on average over the contexts, by another quadrature. */
static void test_recommend(void **state) {
    (void)state;
    enum { LEARN = 600 };
    world w;
    tacet_policy *policy = NULL;
    tacet_recommendation r = {0};
    double average[ACTIONS] = {0};
    world_init(&w, LEARN, 0);
    w.eps = 10;
    assert_ok(tacet_noise_open_seeded(&w.noise, 3, 1, NULL));
    assert_ok(make(&w, &policy, NULL));
    for (size_t t = 0; t < LEARN; t++) {
        const double c = context_of(t);
        const double x = 4.0 * (double)suggest_at(policy, c) / (ACTIONS - 1);
        assert_ok(tacet_policy_observe(policy, t + 1, f(x, c), NULL));
    }
    assert_ok(tacet_usca_policy_release(policy, NULL));
    assert_ok(tacet_policy_recommend(policy, &r, NULL));
    for (size_t k = 0; k < 1000; k++) {
        const double c = 10 + 2 * ((double)k + 0.5) / 1000;
        double means[ACTIONS];
        double list[ACTIONS];
        size_t best = 0;
        for (size_t j = 0; j < ACTIONS; j++) {
            list[j] = 4.0 * (double)j / (ACTIONS - 1);
        }
        assert_ok(tacet_usca_predict(tacet_usca_policy_model(policy), &best, means, list, ACTIONS, &c, NULL));
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

/* Rounds 1 … T; those of `skip` (0: none) are not reported; the reports of the first `late` come last. */
static tacet_policy *learnt(const world *w, size_t T, size_t skip, size_t late) {
    tacet_policy *policy = NULL;
    assert_ok(make(w, &policy, NULL));
    for (size_t t = 0; t < T; t++) {
        (void)suggest_at(policy, context_of(t));
    }
    for (size_t i = 0; i < T; i++) {
        const size_t t = (i + late) % T;
        if (t + 1 != skip) {
            assert_ok(tacet_policy_observe(policy, t + 1, 0.5, NULL));
        }
    }
    return policy;
}

/* A release that is in the ledger is of its own reports: more reports do not change it, other ones are refused. */
static void test_same_reports(void **state) {
    (void)state;
    enum { T = 60 };
    world w;
    tacet_error err = {0};
    tacet_ledger_totals totals;
    const char *folder = test_mkdir();
    world_init(&w, T + 1, T);
    w.eps = 60;
    open_ledger(&w, folder, 60);
    assert_ok(tacet_noise_open(&w.noise, NULL));
    tacet_policy *first = learnt(&w, T, 1, 1); /* 2 … T */
    assert_ok(tacet_usca_policy_release(first, NULL));
    tacet_policy *more = learnt(&w, T, 0, 1); /* the same, then 1 */
    assert_ok(tacet_usca_policy_release(more, NULL));
    const tacet_usca_parts *a = tacet_usca_model_parts(tacet_usca_policy_model(first));
    const tacet_usca_parts *b = tacet_usca_model_parts(tacet_usca_policy_model(more));
    assert_int_equal(b->rounds, T - 1);
    assert_true(a->receipt_count > 1);
    assert_memory_equal(a->weights, b->weights, a->count * sizeof(double));
    tacet_policy *other = learnt(&w, T, 0, 0); /* 1 … T - 1, then T */
    assert_status(tacet_usca_policy_release(other, NULL), TACET_CONFLICT);
    tacet_policy *fewer = learnt(&w, T - 1, 1, 1);
    assert_status(tacet_usca_policy_release(fewer, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "other reports"));
    assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
    assert_close(totals.eps, 60, 1e-12);
    assert_int_equal(totals.entries, a->receipt_count);
    tacet_policy_free(first);
    tacet_policy_free(more);
    tacet_policy_free(other);
    tacet_policy_free(fewer);
    tacet_noise_close(w.noise);
    tacet_ledger_close(w.ledger);
    test_rmdir(folder);
}

/* A release that was begun without saying of which reports is not gone on with. */
static void test_begun_before(void **state) {
    (void)state;
    enum { T = 60 };
    world w;
    tacet_charge charge;
    tacet_entry entry;
    tacet_blob memo;
    tacet_error err = {0};
    const char *folder = test_mkdir();
    world_init(&w, T + 1, T);
    w.eps = 60;
    open_ledger(&w, folder, 60);
    assert_ok(tacet_noise_open(&w.noise, NULL));
    tacet_charge_init(&charge);
    charge.what = "model";
    charge.to_whom = "anyone";
    charge.mechanism = "k-norm";
    tacet_charge_pure(&charge, 60);
    tacet_blob_init(&memo);
    assert_ok(tacet_ledger_reserve(w.ledger, &entry, &memo, "online/stage 1", &charge, NULL));
    tacet_policy *policy = learnt(&w, T, 0, 0);
    assert_status(tacet_usca_policy_release(policy, &err), TACET_CONFLICT);
    assert_non_null(strstr(err.message, "older version"));
    tacet_policy_free(policy);
    tacet_blob_clear(&memo);
    tacet_noise_close(w.noise);
    tacet_ledger_close(w.ledger);
    test_rmdir(folder);
}

/* The charge that an older version would have entered for stage 1: the same, with the number of records in words alone.
 * Texts point into *texts and `parameters`. */
static tacet_charge in_words(tacet_ledger *ledger, tacet_blob *texts, char parameters[1024]) {
    tacet_charge charge;
    assert_ok(tacet_ledger_charge(ledger, &charge, texts, "online/stage 1", NULL));
    const char *field = strstr(charge.parameters, ",\"records\":59}");
    assert_non_null(field);
    (void)snprintf(parameters, 1024, "%.*s}", (int)(field - charge.parameters), charge.parameters);
    charge.parameters = parameters;
    return charge;
}

/* A ledger of a version that had the number of records in words only: its release is gone on with, of the reports that
 * it was begun with, and no stage is charged anew; but not with other words, or of more reports than there are. */
static void test_begun_in_words(void **state) {
    (void)state;
    enum { T = 60 };
    world w;
    tacet_entry entry;
    tacet_blob memo;
    tacet_blob texts;
    tacet_blob later;
    tacet_ledger_totals totals;
    char parameters[1024];
    char place[320];
    const char *folder = test_mkdir();
    world_init(&w, T + 1, T);
    w.eps = 60;
    tacet_blob_init(&memo);
    tacet_blob_init(&texts);
    tacet_blob_init(&later);
    open_ledger(&w, folder, 60);
    assert_ok(tacet_noise_open(&w.noise, NULL));
    tacet_policy *first = learnt(&w, T, 1, 1); /* 2 … T */
    assert_ok(tacet_usca_policy_release(first, NULL));
    const size_t stages = tacet_usca_model_parts(tacet_usca_policy_model(first))->receipt_count;
    const tacet_charge charge = in_words(w.ledger, &texts, parameters);
    assert_non_null(strstr(charge.what, ", 59 records"));
    tacet_ledger_close(w.ledger);
    for (int k = 0; k < 4; k++) {
        tacet_charge other = charge;
        (void)snprintf(place, sizeof place, "%s/%d", folder, k);
        assert_int_equal(mkdir(place, 0700), 0);
        other.what = k == 1 ? "model, 61 records" : k == 2 ? "model, 59 rows" : k == 3 ? "0 records" : charge.what;
        open_ledger(&w, place, 60);
        assert_ok(tacet_ledger_reserve(w.ledger, &entry, &memo, "online/stage 1", &other, NULL));
        tacet_policy *more = learnt(&w, T, 0, 1); /* 2 … T, then 1 */
        assert_status(tacet_usca_policy_release(more, NULL), k == 0 ? TACET_OK : TACET_CONFLICT);
        assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
        assert_int_equal(totals.entries, k == 0 ? stages : 1);
        assert_close(totals.eps, 60, 1e-12);
        if (k == 0) {
            assert_int_equal(tacet_usca_model_parts(tacet_usca_policy_model(more))->rounds, T - 1);
            assert_ok(tacet_ledger_charge(w.ledger, &other, &later, "online/stage 2", NULL));
            assert_null(strstr(other.parameters, "records")); /* one form for all stages */
        }
        tacet_policy_free(more);
        tacet_ledger_close(w.ledger);
    }
    tacet_policy_free(first);
    tacet_blob_clear(&later);
    tacet_blob_clear(&texts);
    tacet_blob_clear(&memo);
    tacet_noise_close(w.noise);
    test_rmdir(folder);
}

/* A state of version 1, made from one of version 2 (or 2 again): the order of the reports is left out, or changed. */
static void rewrite(tacet_blob *out, const tacet_blob *state, uint16_t version, uint64_t add) {
    tacet__reader r;
    tacet__writer w;
    const unsigned char *bytes = NULL;
    const unsigned char *reported = NULL;
    assert_ok(tacet__read_begin(&r, state->data, state->size, "usca", 2, NULL));
    tacet__write_begin(&w, out, "usca", version);
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
    (void)state;
    enum { T = 20 };
    world w;
    tacet_blob kept;
    tacet_blob other;
    tacet_blob again;
    world_init(&w, T + 1, T);
    assert_ok(tacet_noise_open_seeded(&w.noise, 1, 1, NULL));
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
    (void)state;
    tacet_usca_space space;
    tacet_usca_policy_settings good;
    tacet_policy *policy = NULL;
    tacet_noise *noise = NULL;
    tacet_noise *entropy = NULL;
    const double list[3] = {0, 0.5, 1};
    const double outside[2] = {0, 1.5};
    tacet_usca_space_defaults(&space);
    space.order = 6;
    tacet_usca_policy_settings_defaults(&good);
    good.rounds = 10;
    assert_ok(tacet_noise_open_seeded(&noise, 1, 1, NULL));
    assert_ok(tacet_noise_open(&entropy, NULL));
    tacet_ask ask = {.noise = noise, .ticket = "m", .what = "model", .to_whom = "test"};
    tacet_usca_policy_settings s = good;
    s.rounds = 0;
    assert_status(tacet_usca_policy_create(&policy, &space, list, 3, &s, &ask, NULL), TACET_INVALID);
    s = good;
    s.learn = 11;
    assert_status(tacet_usca_policy_create(&policy, &space, list, 3, &s, &ask, NULL), TACET_INVALID);
    s = good;
    s.learner.eps = (double)NAN;
    assert_status(tacet_usca_policy_create(&policy, &space, list, 3, &s, &ask, NULL), TACET_INVALID);
    assert_status(tacet_usca_policy_create(&policy, &space, list, 1, &good, &ask, NULL), TACET_INVALID);
    assert_status(tacet_usca_policy_create(&policy, &space, outside, 2, &good, &ask, NULL), TACET_INVALID);
    tacet_usca_space listed = space;
    listed.actions = list;
    listed.action_count = 3;
    assert_status(tacet_usca_policy_create(&policy, &listed, list, 3, &good, &ask, NULL), TACET_INVALID);
    listed = space;
    listed.context_dim = 9;
    assert_status(tacet_usca_policy_create(&policy, &listed, list, 3, &good, &ask, NULL), TACET_INVALID);
    ask.noise = entropy; /* real noise without a ledger */
    assert_status(tacet_usca_policy_create(&policy, &space, list, 3, &good, &ask, NULL), TACET_INVALID);
    assert_null(policy);
    tacet_noise_close(noise);
    tacet_noise_close(entropy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conformance),
        cmocka_unit_test(test_conformance_released),
        cmocka_unit_test(test_blind),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_recommend),
        cmocka_unit_test(test_same_reports),
        cmocka_unit_test(test_begun_before),
        cmocka_unit_test(test_begun_in_words),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
