/* SPDX-License-Identifier: Apache-2.0 */
/* test_study.c - a study for a program in this process, with contexts by name. */
#include "study_fixture.h"

#include <pthread.h>
#include <unistd.h>

static const char DOSE[] =
    "{\"name\":\"dose\",\"trust\":\"central\",\"policy\":\"contextual\",\"budget\":{\"eps\":1},\"rounds\":5000,"
    "\"domain\":{\"space\":{\"columns\":[{\"name\":\"mg\",\"bounds\":[5,200]}]},\"candidates\":9,"
    "\"context\":{\"space\":{\"columns\":[{\"name\":\"age\",\"bounds\":[18,90]},"
    "{\"name\":\"sex\",\"levels\":[\"F\",\"M\"]}]}}},\"prior\":{\"reward\":[0,1]}}";

/* Reporting is no secret here: its rounds can be ended by hand. */
static const char MENU[] =
    "{\"name\":\"menu\",\"trust\":\"central\",\"policy\":\"fixed\",\"budget\":{\"eps\":1,\"delta\":1e-6},\"rounds\":"
    "5000,"
    "\"domain\":{\"space\":{\"columns\":[{\"name\":\"mg\",\"bounds\":[5,200]}]},\"candidates\":9},"
    "\"prior\":{\"reward\":[0,1]}}";

/* A column of every kind; rewards are costs, from -10 to 30. */
static const char OVEN[] =
    "{\"name\":\"oven\",\"trust\":\"central\",\"policy\":\"fixed\",\"direction\":\"minimize\","
    "\"budget\":{\"eps\":1000,\"delta\":1e-6},\"rounds\":60,\"domain\":{\"space\":{\"columns\":["
    "{\"name\":\"rate\",\"kind\":\"log\",\"bounds\":[1e-5,1]},"
    "{\"name\":\"layers\",\"kind\":\"integer\",\"bounds\":[1,8]},"
    "{\"name\":\"heat\",\"kind\":\"category\",\"levels\":[\"low\",\"high\"]},"
    "{\"name\":\"day\",\"kind\":\"date\",\"bounds\":[\"2024-01-01\",\"2024-12-31\"]}]},\"candidates\":64},"
    "\"prior\":{\"reward\":[-10,30]}}";

/* What a round was answered: without a ticket, the best by what was learnt. */
typedef struct suggested {
    char ticket[40], *point; /* the point as JSON text, the caller's to free; NULL: not over a space */
    json_int_t index;
    double action; /* the first coordinate */
    size_t action_size;
} suggested;

static tacet_status suggest(tacet_study *study, suggested *out, const tacet_study_round *round, tacet_error *err) {
    char *text = NULL;
    *out = (suggested){.index = 0};
    const tacet_status status = tacet_study_suggest_text(study, &text, round, 0, err);
    if (status == TACET_OK) {
        json_t *answer = loaded(text), *action = json_object_get(answer, "action");
        const char *ticket = json_string_value(json_object_get(answer, "ticket"));
        (void)snprintf(out->ticket, sizeof out->ticket, "%s", ticket != NULL ? ticket : "");
        out->index = json_integer_value(json_object_get(answer, "index"));
        out->action = json_number_value(json_array_get(action, 0));
        out->action_size = json_array_size(action);
        out->point = json_dumps(json_object_get(answer, "point"), 0);
        json_decref(answer);
    }
    return status;
}

static tacet_study *open_dose(void) {
    return open_study(DOSE);
}

TEST(contexts_go_by_their_names) {
    OWN_STUDY tacet_study *study = open_dose();
    suggested s, again;
    tacet_study_round round = {.named = "{\"age\":44,\"sex\":\"F\"}", .person = "p-17", .key = "k"};
    assert_ok(suggest(study, &s, &round, NULL));
    assert_int_equal(strlen(s.ticket), 32);
    assert_int_equal(s.action_size, 1);
    assert_true(s.index >= 0 && s.index < 9);
    json_t *point = json_loads(s.point, 0, NULL);
    const double mg = json_number_value(json_object_get(point, "mg"));
    assert_true(mg >= 5 && mg <= 200 && fabs((mg - 102.5) / 97.5 - s.action) < 1e-12);
    json_decref(point);
    free(s.point);
    assert_ok(suggest(study, &again, &round, NULL));
    assert_string_equal(again.ticket, s.ticket);
    free(again.point);
    round.named = "{\"age\":45,\"sex\":\"F\"}";
    assert_int_equal(suggest(study, &again, &round, NULL), TACET_CONFLICT); /* another context */
    /* the same as numbers: 44 is at (44 - 54)/36, F and M are half a unit either side of 0 */
    const double numbers[] = {-10.0 / 36, 0.5};
    const tacet_study_round plain = {.context = numbers, .context_dim = 2, .person = "p-17", .key = "k"};
    assert_ok(suggest(study, &again, &plain, NULL));
    assert_string_equal(again.ticket, s.ticket);
    free(again.point);
    static const char *const BAD[] = {"{\"age\":44}",
                                      "{\"age\":44,\"sex\":\"X\"}",
                                      "{\"age\":\"old\",\"sex\":\"F\"}",
                                      "{\"age\":44,\"sex\":0}",
                                      "{\"age\":44,\"sex\":\"F\",\"more\":1}",
                                      "{\"age\":null,\"sex\":\"F\"}",
                                      "[1,2]"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        const tacet_study_round bad = {.named = BAD[i]};
        tacet_error err = {0};
        assert_int_equal(suggest(study, &again, &bad, &err), TACET_INVALID);
        assert_null(strstr(err.message, "44"));
    }
    tacet_study_taken taken = {.repeated = true};
    assert_ok(tacet_study_observe(study, &taken, s.ticket, 1.5, NULL));
    assert_true(taken.clipped);
    assert_false(taken.repeated);
    assert_ok(tacet_study_observe(study, &taken, s.ticket, 1.5, NULL));
    assert_true(taken.repeated);
    assert_int_equal(tacet_study_observe(study, NULL, s.ticket, 0.5, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_study_observe(study, NULL, "nosuch", 0.5, NULL), TACET_NOT_FOUND);
    assert_int_equal(tacet_study_observe(study, NULL, s.ticket, (double)NAN, NULL), TACET_INVALID);
}

TEST(a_study_is_opened_again_where_it_was) {
    tacet_study *study = open_dose();
    const tacet_study_round round = {.named = "{\"age\":60,\"sex\":\"M\"}"};
    suggested s;
    assert_ok(suggest(study, &s, &round, NULL));
    free(s.point);
    tacet_study_close(study);
    study = open_dose(); /* created again, harmlessly */
    tacet_study_taken taken = {.repeated = true};
    assert_ok(tacet_study_fail(study, &taken, s.ticket, NULL));
    assert_false(taken.repeated);
    tacet_study_close(study);
    study = open_dose();
    assert_ok(tacet_study_fail(study, &taken, s.ticket, NULL));
    assert_true(taken.repeated); /* the report was kept */
    json_t *status = text_of(study, TACET_STUDY_STATUS);
    assert_int_equal(json_integer_value(json_object_get(status, "suggested")), 1);
    assert_null(json_object_get(status, "observed")); /* who has reported is private */
    json_decref(status);
    json_decref(text_of(study, TACET_STUDY_LEDGER));
    char *text = NULL;
    assert_ok(tacet_study_events(study, &text, 0, NULL));
    json_t *events = loaded(text);
    assert_int_equal(json_array_size(json_object_get(events, "events")), 1); /* the report is not among them */
    const json_t *event = json_array_get(json_object_get(events, "events"), 0);
    assert_string_equal(json_string_value(json_object_get(event, "kind")), "suggested");
    assert_null(json_object_get(event, "value"));
    json_decref(events);
    assert_ok(tacet_study_events(study, &text, 1, NULL)); /* the first is known */
    events = loaded(text);
    assert_int_equal(json_array_size(json_object_get(events, "events")), 0);
    json_decref(events);
    assert_int_equal(tacet_study_text(study, &text, TACET_STUDY_MODEL, NULL), TACET_NOT_FOUND);
    assert_int_equal(tacet_study_text(study, &text, TACET_STUDY_RELEASE, NULL), TACET_STATE);
    assert_null(text);
    tacet_study_close(study);
    assert_int_equal(tacet_study_open(&study, store, "nosuch", NULL), TACET_NOT_FOUND);
    assert_null(study);
    assert_int_equal(tacet_study_open(&study, folder, "dose", NULL), TACET_NOT_FOUND);
    char *name = NULL;
    assert_int_equal(tacet_study_create(&name, store, "{}", 2, NULL), TACET_PARSE);
    assert_null(name);
}

static suggested oven_round(tacet_study *study) {
    suggested s;
    assert_ok(suggest(study, &s, &(tacet_study_round){0}, NULL));
    if (*s.ticket != 0) {
        assert_ok(tacet_study_observe(study, NULL, s.ticket, strstr(s.point, "low") != NULL ? 20 : 4, NULL));
    }
    return s;
}

/* What was asked for is what a release has and what is suggested after the last round; and asking leaves nothing. */
TEST(the_best_point_is_told_in_its_own_units) {
    static const char *const SAME[] = {"index", "action", "point", "mean", "sd"};
    tacet_study *study = open_study(OVEN);
    char *text = NULL;
    assert_int_equal(tacet_study_text(study, &text, TACET_STUDY_BEST, NULL), TACET_STATE); /* nothing yet */
    for (size_t i = 0; i < 60; i++) {
        free(oven_round(study).point);
    }
    json_t *before = text_of(study, TACET_STUDY_LEDGER), *best = text_of(study, TACET_STUDY_BEST);
    const json_t *point = json_object_get(best, "point");
    const double rate = json_number_value(json_object_get(point, "rate"));
    const json_t *layers = json_object_get(point, "layers");
    const char *day = json_string_value(json_object_get(point, "day"));
    assert_int_equal(json_object_size(point), 4);
    assert_true(rate >= 1e-5 && rate <= 1);
    /* the same point in the policy's coordinates: the middle of the logarithm of the rate is 0 */
    const double first = json_number_value(json_array_get(json_object_get(best, "action"), 0));
    assert_true(fabs(first - (log10(rate) + 2.5) / 2.5) < 1e-9);
    assert_true(json_is_integer(layers) && json_integer_value(layers) >= 1 && json_integer_value(layers) <= 8);
    assert_string_equal(json_string_value(json_object_get(point, "heat")), "high"); /* a cost of 4 instead of 20 */
    assert_int_equal(strlen(day), 10);
    assert_int_equal(strncmp(day, "2024-", 5), 0);
    assert_true(fabs(json_number_value(json_object_get(best, "mean")) - 4) < 2);
    const double sd = json_number_value(json_object_get(best, "sd"));
    assert_true(sd > 0 && sd < 4);
    assert_true(json_equal(json_object_get(best, "spent_eps"), json_object_get(before, "spent_eps")));
    assert_true(json_number_value(json_object_get(best, "spent_eps")) > 0);
    json_t *after = text_of(study, TACET_STUDY_LEDGER), *again = text_of(study, TACET_STUDY_BEST);
    assert_true(json_equal(before, after));
    assert_true(json_equal(best, again));
    json_t *status = text_of(study, TACET_STUDY_STATUS);
    assert_int_equal(json_integer_value(json_object_get(status, "released")), 0);
    json_t *release = text_of(study, TACET_STUDY_RELEASE);
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        assert_true(json_equal(json_object_get(best, SAME[i]), json_object_get(release, SAME[i])));
    }
    suggested last = oven_round(study);
    json_t *shown = json_loads(last.point, 0, NULL);
    assert_string_equal(last.ticket, "");
    assert_int_equal(last.index, json_integer_value(json_object_get(best, "index")));
    assert_true(json_equal(shown, point));
    free(last.point);
    json_t *const all[] = {before, after, best, again, status, release, shown};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        json_decref(all[i]);
    }
    tacet_study_close(study);
    study = open_dose();
    tacet_error err = {0};
    assert_int_equal(tacet_study_text(study, &text, TACET_STUDY_BEST, &err), TACET_STATE);
    assert_non_null(strstr(err.message, "context"));
    tacet_study_close(study);
}

/* One worker never answers, and nobody waits for it; the process ends in the middle; rewards of one person share eps.
 */
TEST(a_space_is_searched_while_tickets_are_open) {
    OWN_TEXT char *text = test_text("%.*s,\"options\":{\"person_rounds\":4}}", (int)sizeof OVEN - 2, OVEN);
    tacet_study *study = open_study(text);
    suggested lost, s;
    assert_ok(suggest(study, &lost, &(tacet_study_round){0}, NULL));
    free(lost.point);
    size_t high = 0;
    for (size_t i = 1; i < 60; i++) {
        if (i == 30) {
            tacet_study_close(study);
            study = open_study(text);
        }
        s = oven_round(study);
        assert_int_equal(strlen(s.ticket), 32);
        high += i >= 30 && strstr(s.point, "high") != NULL ? 1 : 0;
        free(s.point);
    }
    assert_true(high > 22); /* of 30: learnt while the first ticket is open; 15 by chance, above 22 once in 400 */
    json_t *best = text_of(study, TACET_STUDY_BEST), *status = text_of(study, TACET_STUDY_STATUS);
    assert_string_equal(json_string_value(json_object_get(json_object_get(best, "point"), "heat")), "high");
    const json_t *guarantee = json_object_get(status, "guarantee");
    assert_true(json_number_value(json_object_get(guarantee, "eps")) == 250);
    assert_true(json_number_value(json_object_get(guarantee, "delta")) == 0);
    assert_true(json_number_value(json_object_get(guarantee, "eps_per_person")) == 1000);
    assert_true(json_number_value(json_object_get(best, "spent_eps")) == 250); /* of each round: 4 of them, 1000 */
    json_decref(best);
    json_decref(status);
    tacet_study_close(study);
}

TEST(an_outlook_says_when_a_search_is_not_worth_it) {
    char text[sizeof OVEN], *out = NULL;
    memcpy(text, OVEN, sizeof text);
    memcpy(strstr(text, "1000"), "1   ", 4);
    assert_ok(tacet_study_outlook(&out, text, strlen(text), NULL));
    json_t *o = loaded(out);
    assert_true(json_is_true(json_object_get(o, "even")));
    assert_true(json_integer_value(json_object_get(o, "points")) <= 8);
    assert_true(json_integer_value(json_object_get(o, "rounds_needed")) > 60);
    const double gain = json_number_value(json_object_get(o, "gain"));
    assert_true(gain > 0 && gain < 40 * 0.2); /* in the units of rewards, which have a range of 40 */
    json_decref(o);
    assert_int_equal(tacet_study_outlook(&out, DOSE, strlen(DOSE), NULL), TACET_UNSUPPORTED);
}

static void *take_rounds(void *user) {
    for (size_t i = 0; i < 50; i++) {
        const tacet_study_round round = {.named = "{\"age\":30,\"sex\":\"M\"}"};
        suggested s;
        if (suggest(user, &s, &round, NULL) != TACET_OK ||
            tacet_study_observe(user, NULL, s.ticket, 0.5, NULL) != TACET_OK) {
            return user;
        }
        free(s.point);
    }
    return NULL;
}

static json_int_t first_count(char *text, const char *list, const char *field) {
    json_t *value = loaded(text);
    const json_int_t count =
        json_integer_value(json_object_get(json_array_get(json_object_get(value, list), 0), field));
    json_decref(value);
    return count;
}

TEST(two_threads_share_a_study) {
    tacet_study *study = open_dose();
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_rounds, study), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        void *failed = study;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    json_t *status = text_of(study, TACET_STUDY_STATUS);
    assert_int_equal(json_integer_value(json_object_get(status, "suggested")), 100);
    json_decref(status);
    tacet_study_close(study);
    const tacet_store_place place = {.store = store};
    char *text = NULL;
    assert_ok(tacet_store_check(&text, &place, NULL));
    assert_int_equal(first_count(text, "studies", "events"), 200); /* each was reported, once */
}

TEST(a_store_is_looked_after) {
    const tacet_store_place place = {.store = store};
    const tacet_study_round round = {.named = "{\"age\":60,\"sex\":\"M\"}"};
    char *text = NULL, copy[320], other[TACET_TOKEN_TEXT], token[TACET_TOKEN_TEXT];
    uint64_t expired = 9;
    assert_int_equal(tacet_store_list(&text, &place, NULL), TACET_NOT_FOUND);
    assert_null(text);
    tacet_study *study = open_dose();
    assert_ok(tacet_study_suggest_text(study, &text, &round, 2, NULL));
    json_t *two = loaded(text);
    assert_int_equal(json_array_size(json_object_get(two, "suggestions")), 2);
    json_decref(two);
    assert_int_equal(tacet_study_suggest_text(study, &text, &round, 65, NULL), TACET_INVALID);
    tacet_study_close(study);
    assert_ok(tacet_store_list(&text, &place, NULL));
    assert_int_equal(first_count(text, "studies", "suggested"), 2);
    assert_ok(tacet_store_snapshot(&text, &place, "dose", NULL));
    assert_int_equal(first_count(text, "studies", "events"), 2);
    /* tokens */
    tacet_token_request wanted = {.role = "king"};
    assert_int_equal(tacet_store_token(token, &place, &wanted, NULL), TACET_INVALID);
    wanted = (tacet_token_request){.role = "device", .study = "other"};
    assert_int_equal(tacet_store_token(token, &place, &wanted, NULL), TACET_NOT_FOUND);
    wanted.study = "dose";
    assert_ok(tacet_store_token(token, &place, &wanted, NULL));
    assert_ok(tacet_store_token_renew(other, &place, 1, 1, 60, NULL));
    assert_string_not_equal(token, other);
    assert_ok(tacet_store_tokens(&text, &place, NULL));
    json_t *tokens = loaded(text);
    assert_int_equal(json_array_size(json_object_get(tokens, "tokens")), 2);
    json_decref(tokens);
    assert_ok(tacet_store_token_drop(&place, 2, NULL));
    assert_int_equal(tacet_store_token_drop(&place, 2, NULL), TACET_NOT_FOUND);
    /* tickets */
    assert_int_equal(tacet_store_expire(&expired, &place, "dose", 0, 0, NULL), TACET_STATE); /* it would tell */
    study = open_study(MENU);
    assert_ok(tacet_study_suggest_text(study, &text, &(tacet_study_round){0}, 2, NULL));
    free(text);
    tacet_study_close(study);
    assert_int_equal(tacet_store_expire(&expired, &place, "menu", 0, 77, NULL), TACET_NOT_FOUND);
    assert_ok(tacet_store_expire(&expired, &place, "menu", 0, 0, NULL));
    assert_int_equal(expired, 2);
    /* the whole */
    assert_ok(tacet_store_check(&text, &place, NULL));
    assert_int_equal(first_count(text, "studies", "events"), 2);
    assert_ok(tacet_store_snapshot(&text, &place, "menu", NULL));
    assert_int_equal(first_count(text, "studies", "events"), 4);
    (void)snprintf(copy, sizeof copy, "%s/copy", folder);
    assert_ok(tacet_store_backup(store, copy, NULL));
    assert_int_equal(tacet_store_backup(store, copy, NULL), TACET_CONFLICT);
    assert_int_equal(tacet_store_backup("/nowhere", copy, NULL), TACET_NOT_FOUND);
    const tacet_store_place put_back = {.store = copy};
    assert_ok(tacet_store_restore(&text, &put_back, false, NULL));
    assert_non_null(strstr(text, "archived")); /* it had answered */
    free(text);
    assert_ok(tacet_store_archive(&place, "dose", NULL));
    assert_ok(tacet_store_show(&text, &place, "dose", NULL));
    OWN_JSON json_t *shown = loaded(text);
    assert_string_equal(json_string_value(json_object_get(shown, "state")), "archived");
    assert_non_null(json_object_get(json_object_get(shown, "definition"), "budget"));
}

TEST_EACH(setup, teardown)

int main(void) {
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 0); /* nothing here is about the disk but its latency */
    }
    return test_main();
}
