/* SPDX-License-Identifier: Apache-2.0 */
/* test_targets_contextual.c - the attack on the published choice: it sees something, and never more than is claimed. */
#include "audit/bound.h"
#include "support/test.h"

#include <tacet/audit/audit.h>

/* Seeded: no false alarms by chance of the day. */
TEST(test_choice) {
    tacet_audit_settings settings;
    tacet_audit_result r;
    const tacet_audit_claim claim = {.eps = 1};
    const tacet_audit_target *target = tacet_audit_find("contextual-choice");
    void *made = NULL;
    assert_non_null(target);
    tacet_audit_defaults(&settings);
    settings.runs = test_slow() ? 1000 : 60000; /* the least there may be */
    settings.threads = 2;
    settings.seeded = true;
    settings.seed = 12;
    assert_ok(tacet_audit_run(&r, target, &claim, &settings, NULL));
    /* The published exponent is for a supremum that the scores of a few actions do not reach. */
    assert_true(!r.violated && (r.eps_lower > 0.15 || test_slow()));
    assert_each_alloc_fails(tacet__audit_open(&made, target, &claim, NULL), made == NULL);
    tacet__audit_close(made, target);
}
