/* SPDX-License-Identifier: Apache-2.0 */
/* test_ab.c - an A/B study over a store: what its status says before and after a claim, that nothing in it tells who
 * reported, and that a person beyond the cap moves nothing. */
#include "study_fixture.h"

enum { FIRST = 500 };

static tacet_study *open_ab(const char *name, const char *direction) {
    char definition[600];
    (void)snprintf(
        definition, sizeof definition,
        "{\"name\":\"%s\",\"trust\":\"central\",\"policy\":\"ab\",\"direction\":\"%s\",\"budget\":{\"eps\":2},"
        "\"rounds\":2000,\"domain\":{\"space\":{\"columns\":[{\"name\":\"button\",\"levels\":[\"red\","
        "\"blue\"]}]}},\"prior\":{\"reward\":[0,10],\"typical_reward\":2}}",
        name, direction);
    return open_study(definition);
}

/* `count` tickets, up to 64 at a time; blue earns `blue`, red `red`; a reward below 0 is not reported. */
static void play(tacet_study *study, size_t count, double red, double blue, const char *person) {
    const tacet_study_round round = {.person = person};
    while (count > 0) {
        char *text = NULL;
        size_t i = 0;
        json_t *one = NULL;
        assert_ok(tacet_study_suggest_text(study, &text, &round, count < 64 ? count : 64, NULL));
        OWN_JSON json_t *value = loaded(text);
        json_t *list = json_object_get(value, "suggestions");
        json_array_foreach(list, i, one) {
            const char *button = json_string_value(json_object_get(json_object_get(one, "point"), "button"));
            const double reward = strcmp(button, "blue") == 0 ? blue : red;
            if (reward >= 0) {
                const char *ticket = json_string_value(json_object_get(one, "ticket"));
                assert_ok(tacet_study_observe(study, NULL, ticket, reward, NULL));
            }
        }
        assert_true(i > 0);
        count -= i;
    }
}

static double real_in(const json_t *object, const char *field) {
    return json_number_value(json_object_get(object, field));
}

TEST(the_status_says_what_may_be_claimed) {
    OWN_STUDY tacet_study *study = open_ab("checkout", "maximize");
    char *release = NULL;
    uint64_t number = 0;
    json_t *status = text_of(study, TACET_STUDY_STATUS);
    const json_t *test = json_object_get(status, "test");
    assert_int_equal(real_in(test, "tickets"), 0);
    assert_true(json_is_null(json_object_get(test, "more_tickets")));
    /* The suggestion that shows it is the last of them. */
    assert_int_equal(real_in(json_object_get(status, "look"), "next"), FIRST + 2);
    json_decref(status);
    assert_status(tacet_study_release(study, &release, &number, NULL), TACET_STATE);
    play(study, FIRST + 2, 2, 4, NULL); /* one between the last report and the release */
    status = text_of(study, TACET_STUDY_STATUS);
    assert_null(json_object_get(status, "observed")); /* reporting is private */
    test = json_object_get(status, "test");
    assert_int_equal(real_in(test, "tickets"), FIRST);
    const json_t *pair = json_array_get(json_object_get(test, "pairs"), 0);
    assert_string_equal(json_string_value(json_object_get(pair, "arm")), "blue");
    assert_string_equal(json_string_value(json_object_get(pair, "over")), "red");
    assert_true(json_is_true(json_object_get(pair, "claimed")));
    assert_true(real_in(pair, "lower") > 0 && real_in(pair, "lower") < 2 && real_in(pair, "upper") > 2);
    assert_true(fabs(real_in(pair, "difference") - 2) < 0.5);
    assert_int_equal(real_in(test, "more_tickets"), 0);
    assert_int_equal(real_in(json_object_get(status, "look"), "next"), 3 * FIRST / 10);
    assert_int_equal(real_in(json_object_get(status, "look"), "claim"), 0);
    assert_ok(tacet_study_release(study, &release, &number, NULL));
    json_t *released = loaded(release);
    assert_true(json_equal(released, test));
    json_decref(released);
    json_decref(status);
    OWN_JSON json_t *ledger = text_of(study, TACET_STUDY_LEDGER);
    assert_close(real_in(ledger, "spent_eps"), 2, 1e-9);
}

/* Arms of .2 and .23: a claim takes more tickets, of which those given since the last release are some. That noise
 * hides the difference comes in less than one of 10^6 runs. */
TEST(tickets_to_come_are_counted_from_now) {
    OWN_STUDY tacet_study *study = open_ab("soon", "maximize");
    play(study, FIRST + 2, 2, 2.3, NULL);
    json_t *status = text_of(study, TACET_STUDY_STATUS);
    const double more = real_in(json_object_get(status, "test"), "more_tickets");
    assert_true(more > 200);
    assert_int_equal(real_in(json_object_get(status, "look"), "claim"), more - 2); /* two were given since */
    json_decref(status);
    play(study, 20, 2, 2.3, NULL);
    status = text_of(study, TACET_STUDY_STATUS);
    assert_int_equal(real_in(json_object_get(status, "test"), "more_tickets"), more);
    assert_int_equal(real_in(json_object_get(status, "look"), "claim"), more - 22);
    assert_int_equal(real_in(json_object_get(status, "look"), "next"), 3 * FIRST / 10 - 20);
    json_decref(status);
}

/* Costs: the cheaper arm is the better one, and a ticket that is not reported costs most. */
TEST(unreported_tickets_count_as_the_worst) {
    OWN_STUDY tacet_study *study = open_ab("costs", "minimize");
    play(study, FIRST + 2, -1, 1, NULL);
    OWN_JSON json_t *status = text_of(study, TACET_STUDY_STATUS);
    const json_t *test = json_object_get(status, "test");
    const json_t *pair = json_array_get(json_object_get(test, "pairs"), 0);
    assert_string_equal(json_string_value(json_object_get(pair, "arm")), "blue");
    assert_true(json_is_true(json_object_get(pair, "claimed")));
    const json_t *red = json_array_get(json_object_get(test, "arms"), 0);
    assert_string_equal(json_string_value(json_object_get(red, "arm")), "red");
    assert_true(real_in(red, "mean") > 9.5);
    assert_true(real_in(red, "lower") > 9 && real_in(red, "upper") >= real_in(red, "mean"));
    assert_true(real_in(red, "lower") <= real_in(red, "mean") && real_in(red, "upper") <= 10);
}

/* One round of a person counts: whoever clicks 502 times is one ticket, and what is claimed of them is nothing. */
TEST(a_person_counts_once) {
    OWN_STUDY tacet_study *study = open_ab("clicker", "maximize");
    play(study, FIRST + 2, 0, 10, "somebody");
    OWN_JSON json_t *status = text_of(study, TACET_STUDY_STATUS);
    const json_t *test = json_object_get(status, "test");
    const json_t *pair = json_array_get(json_object_get(test, "pairs"), 0);
    assert_true(json_is_false(json_object_get(pair, "claimed")));
    assert_true(fabs(real_in(pair, "difference")) < 0.3); /* noise of .5 on 250 tickets, times ten */
}

TEST(definitions_that_are_refused) {
    static const char *const BAD[] = {
        "{\"name\":\"a\",\"trust\":\"central\",\"policy\":\"ab\",\"budget\":{\"eps\":1,\"delta\":1e-6},\"domain\":{"
        "\"space\":{\"columns\":[{\"name\":\"x\",\"levels\":[\"a\",\"b\"]}]}},\"prior\":{\"reward\":[0,1]}}",
        "{\"name\":\"a\",\"trust\":\"central\",\"policy\":\"ab\",\"budget\":{\"eps\":1},\"domain\":{\"space\":{"
        "\"columns\":[{\"name\":\"x\",\"bounds\":[0,1]}]}},\"prior\":{\"reward\":[0,1]}}",
        "{\"name\":\"a\",\"trust\":\"central\",\"policy\":\"ab\",\"budget\":{\"eps\":1},\"rounds\":5000000,\"domain\":{"
        "\"space\":{\"columns\":[{\"name\":\"x\",\"levels\":[\"a\",\"b\"]}]}},\"prior\":{\"reward\":[0,1]}}"};
    char *name = NULL;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_status(tacet_study_create(&name, store, BAD[i], strlen(BAD[i]), NULL), TACET_INVALID);
    }
}

TEST_ALL(setup, teardown)
