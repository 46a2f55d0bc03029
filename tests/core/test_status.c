/* SPDX-License-Identifier: Apache-2.0 */
/* test_status.c - the list of statuses is stable, and the first error wins. */
#include "support/test.h"

#include "core/fail.h"

/* Codes are stored and sent: this copy must never need to change, only to grow. */
TEST(test_codes) {
    static const struct {
        tacet_status status;
        int code;
        const char *name;
    } known[] = {{TACET_OK, 0, "OK"},
                 {TACET_INVALID, 1, "INVALID"},
                 {TACET_NO_MEMORY, 2, "NO_MEMORY"},
                 {TACET_OVERFLOW, 3, "OVERFLOW"},
                 {TACET_NUMERIC, 4, "NUMERIC"},
                 {TACET_IO, 5, "IO"},
                 {TACET_PARSE, 6, "PARSE"},
                 {TACET_BUDGET, 7, "BUDGET"},
                 {TACET_CORRUPT, 8, "CORRUPT"},
                 {TACET_STATE, 9, "STATE"},
                 {TACET_NOT_FOUND, 10, "NOT_FOUND"},
                 {TACET_CONFLICT, 11, "CONFLICT"},
                 {TACET_BUSY, 12, "BUSY"},
                 {TACET_DENIED, 13, "DENIED"},
                 {TACET_TIMEOUT, 14, "TIMEOUT"},
                 {TACET_UNSUPPORTED, 15, "UNSUPPORTED"},
                 {TACET_REPLACED, 16, "REPLACED"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(known[i].status, known[i].code);
        assert_string_equal(tacet_status_name(known[i].status), known[i].name);
        assert_true(strlen(tacet_status_text(known[i].status)) > 1);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(tacet_status_text(known[i].status), tacet_status_text(known[k].status));
        }
    }
    assert_string_equal(tacet_status_text((tacet_status)99), "unknown status");
    assert_string_equal(tacet_status_name((tacet_status)99), "UNKNOWN");
}

TEST(test_first_error_wins) {
    tacet_error err = {0};
    assert_int_equal(tacet__fail(&err, TACET_PARSE, "line %d", 7), TACET_PARSE);
    assert_int_equal(tacet__fail(&err, TACET_IO, "later"), TACET_IO); /* the caller's own status is returned … */
    assert_int_equal(err.status, TACET_PARSE);                        /* … but the first cause is kept */
    assert_string_equal(err.message, "line 7");
    tacet_error_clear(&err);
    assert_int_equal(err.status, TACET_OK);
    assert_string_equal(err.message, "");
    assert_int_equal(tacet__fail(NULL, TACET_BUSY, "nobody listens"), TACET_BUSY);
    tacet_error_clear(NULL);
}

TEST(test_long_message) {
    char text[1000];
    memset(text, 'm', sizeof text);
    text[sizeof text - 1] = '\0';
    struct {
        tacet_error err;
        char guard[8];
    } s = {.guard = "guarded"};
    (void)tacet__fail(&s.err, TACET_INVALID, "%s", text);
    assert_int_equal(strlen(s.err.message), sizeof s.err.message - 1);
    assert_string_equal(s.guard, "guarded");
}
