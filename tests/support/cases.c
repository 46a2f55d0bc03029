/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c - the tests of a program, which add themselves before main() (see test.h), as a group of cmocka's. */
#include "support/test.h"

static test_case *cases; /* by their places */
static CMFixtureFunction each[2], all[2];

void test_add(test_case *one) {
    test_case **at = &cases;
    while (*at != NULL && (*at)->place < one->place) {
        at = &(*at)->next;
    }
    one->next = *at;
    *at = one;
}

void test_around_each(CMFixtureFunction setup, CMFixtureFunction teardown) {
    each[0] = setup;
    each[1] = teardown;
}

void test_around_all(CMFixtureFunction setup, CMFixtureFunction teardown) {
    all[0] = setup;
    all[1] = teardown;
}

int test_main(void) {
    enum { MOST = 64 };
    struct CMUnitTest tests[MOST];
    size_t count = 0;
    for (const test_case *c = cases; c != NULL; c = c->next) {
        assert_true(count < MOST);
        tests[count++] = (struct CMUnitTest){c->name, c->run, each[0], each[1], NULL};
    }
    return count > 0 ? _cmocka_run_group_tests("tests", tests, count, all[0], all[1]) : 1;
}
