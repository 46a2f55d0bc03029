/* SPDX-License-Identifier: Apache-2.0 */
/* test_ways_interrupted.c - the audits of interrupted devices and of interrupted learning, in half a minute: what is
 * asked again is the same, noise that is drawn anew is found out, and its variance is what is stated. Noise is the
 * operating system's; a test of the law is wrong once in 100,000 audits. */
#include "support/test.h"

#include <tacet/audit/audit.h>

enum { ANSWERS = 512, RUNS = 25 };

static tacet_audit_shipped_result audit(const char *way, const char *control) {
    tacet_audit_shipped_settings s;
    tacet_audit_shipped_result r;
    tacet_error err = {0};
    tacet_audit_shipped_defaults(&s);
    s.way = way;
    s.rows = ANSWERS;
    s.runs = RUNS;
    s.confidence = 0.9999;
    s.control = control;
    s.interrupted = true;
    test_assert_status(tacet_audit_shipped(&r, &s, &err), TACET_OK, &err, __FILE__, __LINE__);
    print_message("%s%s: variance %.3f of what is stated, %zu drawn anew\n", way, control != NULL ? ", redraws" : "",
                  r.variance_ratio, (size_t)r.redrawn);
    return r;
}

/* Of 512 numbers with Laplace noise, the heaviest tails of them, .5 is five standard errors of the variance. */
TEST(what_is_interrupted_is_repeated_the_same) {
    static const char *const WAYS[] = {"device", "learn-table"}; /* of reports, and of models */
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        const tacet_audit_shipped_result r = audit(WAYS[i], NULL), redrawn = audit(WAYS[i], "redraws");
        assert_string_equal(r.reason, "nothing was found");
        assert_true(!r.violated && r.repeats == 0 && r.redrawn == 0);
        assert_true(r.variance_ratio > 0.5 && r.variance_ratio < 1.5);
        assert_true(redrawn.violated && redrawn.redrawn > RUNS / 2);
    }
}
