/* SPDX-License-Identifier: Apache-2.0 */
/* test_policy_release.c - the one release of a policy of contextual choices: charged once, of its own reports,
 * gone on with when it was interrupted, whatever version began it. */
#include "contextual/policy_fixture.h"

#include <sys/stat.h>

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
    assert_ok(make(&w, &policy, NULL));
    assert_status(tacet_contextual_policy_release(policy, &err), TACET_STATE);
    for (size_t t = 0; t < LEARN; t++) {
        const double c = context_of(t);
        const double x = 4.0 * (double)suggest_at(policy, c) / (ACTIONS - 1);
        if (t != 7) {
            assert_ok(tacet_policy_observe(policy, t + 1, t == 9 ? marked : f(x, c), NULL));
        }
    }
    assert_status(tacet_policy_recommend(policy, &r, &err), TACET_STATE);
    assert_null(tacet_contextual_policy_model(policy));
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
        assert_ok(
            tacet_contextual_predict(tacet_contextual_policy_model(policy), &best, means, list, ACTIONS, &c, NULL));
        assert_int_equal(i, best);
        lost += (most - f(list[i], c)) / AFTER;
    }
    /* Real noise: 0.012 on average with a standard deviation of 0.001 over 15 runs, so a false alarm is far below 1e-9.
     */
    assert_true(lost < 0.1);
    assert_ok(tacet_policy_observe(policy, 8, 0.5, NULL)); /* late: accepted, not learnt */
    assert_ok(tacet_contextual_policy_release(policy, NULL));
    assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
    assert_close(totals.eps, 1, 1e-12);
    assert_int_equal(tacet_contextual_model_parts(tacet_contextual_policy_model(policy))->rounds, LEARN - 1);
    assert_ok(tacet_policy_recommend(policy, &r, NULL));
    assert_true(r.index < ACTIONS && isfinite(r.mean) && r.sd > 0 && r.measured == SIZE_MAX);
    assert_ok(tacet_policy_save(policy, &after, NULL));
    assert_false(holds(&after, &marked, sizeof marked));
    /* From before the release: it is made again with the ledger's answers, and costs nothing. */
    tacet_policy *again = NULL;
    assert_ok(make(&w, &again, NULL));
    assert_ok(tacet_policy_load(again, before.data, before.size, NULL));
    assert_ok(tacet_contextual_policy_release(again, NULL));
    assert_memory_equal(tacet_contextual_model_parts(tacet_contextual_policy_model(again))->weights,
                        tacet_contextual_model_parts(tacet_contextual_policy_model(policy))->weights,
                        tacet_contextual_model_parts(tacet_contextual_policy_model(policy))->count * sizeof(double));
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

/* A release that is in the ledger is of its own reports: more reports do not change it, other ones are refused. */
static void test_same_reports(void **state) {
    enum { T = 60 };
    world w;
    tacet_error err = {0};
    tacet_ledger_totals totals;
    const char *folder = test_mkdir();
    world_init(&w, T + 1, T);
    w.eps = 60;
    open_ledger(&w, folder, 60);
    tacet_policy *first = learnt(&w, T, 1, 1); /* 2 … T */
    assert_ok(tacet_contextual_policy_release(first, NULL));
    tacet_policy *more = learnt(&w, T, 0, 1); /* the same, then 1 */
    assert_ok(tacet_contextual_policy_release(more, NULL));
    const tacet_contextual_parts *a = tacet_contextual_model_parts(tacet_contextual_policy_model(first));
    const tacet_contextual_parts *b = tacet_contextual_model_parts(tacet_contextual_policy_model(more));
    assert_int_equal(b->rounds, T - 1);
    assert_true(a->receipt_count > 1);
    assert_memory_equal(a->weights, b->weights, a->count * sizeof(double));
    tacet_policy *other = learnt(&w, T, 0, 0); /* 1 … T - 1, then T */
    assert_status(tacet_contextual_policy_release(other, NULL), TACET_CONFLICT);
    tacet_policy *fewer = learnt(&w, T - 1, 1, 1);
    assert_status(tacet_contextual_policy_release(fewer, &err), TACET_CONFLICT);
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
    tacet_charge_init(&charge);
    charge.what = "model";
    charge.to_whom = "anyone";
    charge.mechanism = "k-norm";
    tacet_charge_pure(&charge, 60);
    tacet_blob_init(&memo);
    assert_ok(tacet_ledger_reserve(w.ledger, &entry, &memo, "online/stage 1", &charge, NULL));
    tacet_policy *policy = learnt(&w, T, 0, 0);
    assert_status(tacet_contextual_policy_release(policy, &err), TACET_CONFLICT);
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
    tacet_policy *first = learnt(&w, T, 1, 1); /* 2 … T */
    assert_ok(tacet_contextual_policy_release(first, NULL));
    const size_t stages = tacet_contextual_model_parts(tacet_contextual_policy_model(first))->receipt_count;
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
        assert_status(tacet_contextual_policy_release(more, NULL), k == 0 ? TACET_OK : TACET_CONFLICT);
        assert_ok(tacet_ledger_total(w.ledger, &totals, NULL));
        assert_int_equal(totals.entries, k == 0 ? stages : 1);
        assert_close(totals.eps, 60, 1e-12);
        if (k == 0) {
            assert_int_equal(tacet_contextual_model_parts(tacet_contextual_policy_model(more))->rounds, T - 1);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_same_reports),
        cmocka_unit_test(test_begun_before),
        cmocka_unit_test(test_begun_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
