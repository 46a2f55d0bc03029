/* SPDX-License-Identifier: Apache-2.0 */
/* test_targets_contextual.c - the attack on contextual models: close to the claim, never above it; a coarse supremum is
 * found out. */
#include "support/test.h"

#include <tacet/audit/audit.h>

static tacet_audit_result audit(const char *name, double eps, size_t runs) {
    tacet_audit_settings settings;
    tacet_audit_result result;
    const tacet_audit_claim claim = {.eps = eps};
    const tacet_audit_target *target = tacet_audit_find(name);
    assert_non_null(target);
    tacet_audit_defaults(&settings);
    settings.runs = test_slow() ? 1000 : runs; /* the least there may be */
    settings.threads = 2;
    settings.seeded = true;
    settings.seed = 12;
    assert_ok(tacet_audit_run(&result, target, &claim, &settings, NULL));
    return result;
}

/* Seeded: no false alarms by chance of the day. */
static void test_close_to_the_claim(void **state) {
    const double budgets[] = {1, 2};
    for (size_t i = 0; i < 2; i++) {
        const tacet_audit_result r = audit("contextual", budgets[i], 250000);
        assert_false(r.violated);
        assert_true(r.eps_lower >= 0.98 * budgets[i] || test_slow()); /* power takes runs */
    }
}

static void test_others(void **state) {
    tacet_audit_result r = audit("contextual-features", 1, 60000);
    assert_true(!r.violated && (r.eps_lower > 0.7 || test_slow()));
    r = audit("contextual-choice", 1, 60000);
    /* The published exponent is for a supremum that the scores of a few actions do not reach. */
    assert_true(!r.violated && (r.eps_lower > 0.15 || test_slow()));
    r = audit("control:contextual-grid-sup", 1, 60000);
    assert_true((r.violated && r.eps_lower > 1.5) || test_slow());
}

static void test_no_memory(void **state) {
    const char *const names[] = {"contextual", "contextual-choice", "control:contextual-grid-sup"};
    for (size_t i = 0; i < 3; i++) {
        const tacet_audit_target *target = tacet_audit_find(names[i]);
        const tacet_audit_claim claim = {.eps = 1};
        void *made = NULL;
        assert_each_alloc_fails(target->create(&made, &claim, NULL), made == NULL);
        target->free(made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_close_to_the_claim), cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
