/* SPDX-License-Identifier: Apache-2.0 */
/* test_ways.c - the audits of the desk, the device, learning and studies as they ship: they pass what is, interrupted
 * and repeated too, and find out each that is spoilt. Noise is the operating system's; the bound on eps is taken at
 * confidence 0.9999, and a test of the law is wrong once in 100,000 audits. */
#include "support/test.h"

#include <string.h>
#include <math.h>
#include <tacet/audit/audit.h>

enum { REPORTS = 3072 /* of which bounds are 0.73 +- 0.08 of the claim */, FEW = 2048, RELEASES = 512, RUNS = 25 };

static tacet_audit_shipped_result audit_at(double eps, const char *way, const char *mechanism, const char *control,
                                           bool interrupted, size_t runs) {
    tacet_audit_shipped_settings s;
    tacet_audit_shipped_result r;
    tacet_error err = {0};
    tacet_audit_shipped_defaults(&s);
    s.way = way;
    s.mechanism = mechanism;
    /* Some releases are a store or a ledger of their own each: 5 ms and more. */
    const bool dear = strcmp(way, "study") == 0 || (control != NULL && strcmp(way, "learn-table") == 0);
    s.rows = dear ? RELEASES : interrupted || control != NULL ? FEW : REPORTS;
    s.runs = runs;
    s.eps = eps;
    s.confidence = 0.9999;
    s.control = control;
    s.interrupted = interrupted;
    const tacet_status status = tacet_audit_shipped(&r, &s, &err);
    test_assert_status(status, TACET_OK, &err, __FILE__, __LINE__);
    return r;
}

static tacet_audit_shipped_result audit(const char *way, const char *mechanism, const char *control, bool interrupted) {
    return audit_at(1, way, mechanism, control, interrupted, RUNS);
}

static void passes(const tacet_audit_shipped_result *r) {
    assert_string_equal(r->reason, "nothing was found");
    assert_false(r->violated);
    assert_int_equal(r->repeats + r->redrawn, 0);
}

/* The event that the bound is of may be chosen in a far tail: three audits have a dull one each once in a million. */
static void passes_and_tells(const char *way, const char *kind) {
    double most = 0;
    for (size_t i = 0; i < 3 && most <= 0.3; i++) {
        const tacet_audit_shipped_result r = audit(way, kind, NULL, false);
        passes(&r);
        assert_true(r.bound.eps_lower <= 1);
        /* Five standard errors of the variance of Laplace noise, which has the heaviest tails of them. */
        assert_true(fabs(r.variance_ratio - 1) < 5 * sqrt(5.0 / REPORTS));
        most = fmax(most, r.bound.eps_lower);
    }
    assert_true(most > 0.3);
}

/* Every randomiser's variance in the middle is worked out here from its design, and measured. */
static void reports_as_they_are_pass(void **state) {
    passes_and_tells("device", "hybrid");
    passes_and_tells("device", "laplace");
    passes_and_tells("desk", NULL);
}

static void what_is_interrupted_is_repeated_the_same(void **state) {
    static const char *const WAYS[] = {"desk", "study", "contextual-study",
                                       "ab-study"}; /* test_ways_interrupted.c has the others */
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        const tacet_audit_shipped_result r = audit(WAYS[i], NULL, NULL, true);
        passes(&r); /* the law's own limits follow from how much was looked at */
        assert_true(r.variance_ratio > 0.2 && r.variance_ratio < 4);
    }
}

/* Whether one of a few audits tells the worlds apart seven times of ten: how well the event does that was chosen on so
 * few runs varies. By tosses, 8 audits of 100 runs do once in 3,000 times. */
static bool told_apart(const char *way) {
    enum { AUDITS = 8 };
    for (int i = 0; i < AUDITS; i++) {
        const tacet_audit_shipped_result r = audit_at(64, way, NULL, NULL, true, 100);
        passes(&r);
        if (10 * r.bound.correct >= 7 * (r.bound.correct + r.bound.wrong)) {
            return true;
        }
    }
    return false;
}

/* The default of `tacet learn`. At an eps that hides next to nothing few releases tell the
 * worlds apart, so what differs is in what is looked at. */
static void the_row_that_differs_is_looked_at(void **state) {
    assert_true(told_apart("learn-table"));
}

static void spoilt_reports_are_found_out(void **state) {
    static const char *const SPOILS[] = {"same-key-blocks", "same-key-threads", "row-repeats"};
    for (size_t i = 0; i < sizeof SPOILS / sizeof *SPOILS; i++) {
        for (int laplace = 0; laplace < 2; laplace++) {
            const tacet_audit_shipped_result r = audit("device", laplace == 1 ? "laplace" : NULL, SPOILS[i], false);
            assert_true(r.violated);
            assert_true(r.repeats > 0);
        }
    }
    /* At this eps hybrid always sends one of two values of one size: any number of reports shows it. */
    const tacet_audit_shipped_result r = audit_at(0.5, "device", "hybrid", "short-variance-5", false, RUNS);
    assert_true(r.violated);
}

/* The attack sees what is drawn with eight times the eps that it claims, and nothing where the claim is true. */
static void what_is_charged_too_little_is_found_out(void **state) {
    static const char *const WAYS[] = {"device", "learn-table"}; /* a study's releases take minutes */
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        const tacet_audit_shipped_result r = audit(WAYS[i], NULL, "undercharged", false);
        assert_true(r.violated && r.bound.eps_lower > 1);
    }
    /* Epochs of studies, each in a store of its own. */
    static const char *const EPOCHS[] = {"contextual-study", "ab-study"};
    for (size_t i = 0; i < sizeof EPOCHS / sizeof *EPOCHS; i++) {
        const tacet_audit_shipped_result r = audit_at(1, EPOCHS[i], NULL, "undercharged", true, 100);
        assert_true(r.violated && r.bound.eps_lower > 1);
    }
}

/* Of an interrupted study the law is that of the answers its bound is measured on: noise that repeats is seen. */
static void spoilt_studies_that_were_interrupted_are_found_out(void **state) {
    const tacet_audit_shipped_result r = audit_at(8, "contextual-study", NULL, "same-key-threads", true, 64);
    assert_true(r.violated && r.repeats > 0);
}

static void unknown_ways_and_mechanisms_are_refused(void **state) {
    static const char *const WRONG[][2] = {{"window", NULL},
                                           {"desk", "gaussian"},
                                           {"device", "k-norm"},
                                           {"device", "duchi"},
                                           {"study", "k-norm"},
                                           {"learn-table", "gaussian"},
                                           {"contextual-study", "gaussian"},
                                           {"ab-study", "gaussian"}};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        tacet_audit_shipped_settings s;
        tacet_audit_shipped_result r;
        tacet_audit_shipped_defaults(&s);
        s.way = WRONG[i][0];
        s.mechanism = WRONG[i][1];
        assert_int_equal(tacet_audit_shipped(&r, &s, NULL), TACET_INVALID);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_as_they_are_pass),
        cmocka_unit_test(what_is_interrupted_is_repeated_the_same),
        cmocka_unit_test(the_row_that_differs_is_looked_at),
        cmocka_unit_test(spoilt_reports_are_found_out),
        cmocka_unit_test(what_is_charged_too_little_is_found_out),
        cmocka_unit_test(spoilt_studies_that_were_interrupted_are_found_out),
        cmocka_unit_test(unknown_ways_and_mechanisms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
