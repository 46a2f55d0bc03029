/* SPDX-License-Identifier: Apache-2.0 */
/* test_grants.c - reports of devices that chose by themselves: one a grant, none after its end, none of another study,
 * and whoever replays the log comes to the same. The clock is the test's. */
#include "engine_fixture.h"

#include "service/open/study/ticket.h"

#include "local/shared/ldp.h"
#include <time.h>

static const char LAYOUTS[] =
    "{\"name\":\"%s\",\"trust\":\"local\",\"policy\":\"ucb\",\"budget\":{\"eps\":1},\"rounds\":3,"
    "\"domain\":{\"points\":[[0],[1],[2]]},\"prior\":{\"lengthscale\":0.3,\"reward\":[0,1]}}";

static void add(const char *name) {
    OWN_TEXT char *text = test_text(LAYOUTS, name);
    add_study(text);
}

static double bit(bool up) {
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, 0, 1, NULL));
    return tacet_ldp_bit(&ldp, up);
}

static void grant_of(tacet__engine *e, const char *study, char out[TACET__GRANT_TEXT], const char *login) {
    OWN_JOB tacet__job *job = tacet__job_create(TACET__JOB_GRANTS);
    job->many = 1;
    (void)snprintf(job->key, sizeof job->key, "%s", login);
    assert_int_equal(run_job(e, study, job), TACET_OK);
    (void)snprintf(out, TACET__GRANT_TEXT, "%s",
                   json_string_value(json_array_get(json_object_get(job->body, "grants"), 0)));
}

/* "" when the report was taken, otherwise why not. */
static const char *report(tacet__engine *e, const char *study, const char *grant, json_int_t index, double value) {
    static char detail[200];
    tacet__job *job = tacet__job_create(TACET__JOB_REPORT);
    job->reports = json_pack("[{ss sI sf}]", "grant", grant, "index", index, "value", value);
    assert_int_equal(run_job(e, study, job), TACET_OK);
    const json_t *one = json_array_get(json_object_get(job->body, "results"), 0);
    const bool taken = strcmp(json_string_value(json_object_get(one, "state")), "observed") == 0;
    (void)snprintf(detail, sizeof detail, "%s", taken ? "" : json_string_value(json_object_get(one, "detail")));
    tacet__job_free(job);
    return detail;
}

TEST(a_grant_is_good_for_one_report_of_its_study) {
    char grant[TACET__GRANT_TEXT];
    add("layouts");
    add("others");
    tacet__engine *e = open_at(0);
    grant_of(e, "layouts", grant, "");
    assert_string_equal(report(e, "others", grant, 0, bit(true)), "this is no grant of this study");
    assert_string_equal(report(e, "layouts", grant, 0, bit(true)), "");
    assert_string_equal(report(e, "layouts", grant, 0, bit(true)), ""); /* sent again: the same, and no second round */
    assert_non_null(strstr(report(e, "layouts", grant, 0, bit(false)), "used before"));
    assert_non_null(strstr(report(e, "layouts", grant, 1, bit(true)), "used before"));
    tacet__engine_close(e);
    raw_sql(false, "DELETE FROM snapshot"); /* a start that replays all of it */
    e = open_at(0);
    assert_non_null(strstr(report(e, "layouts", grant, 0, bit(false)), "used before"));
    for (int i = 0; i < 3; i++) { /* two of the three rounds are left */
        grant_of(e, "layouts", grant, "");
        assert_string_equal(report(e, "layouts", grant, i, bit(true)),
                            i < 2 ? "" : "the study has given out its rounds");
    }
    tacet__engine_close(e);
}

/* A browser that was cleared asks again, and draws again: the second report is not taken, also after a restart. */
TEST(a_login_reports_once_however_often_it_is_granted) {
    char first[TACET__GRANT_TEXT], second[TACET__GRANT_TEXT], other[TACET__GRANT_TEXT];
    add("members");
    add("others");
    tacet__engine *e = open_at(0);
    grant_of(e, "members", first, "5d41402a");
    assert_string_equal(report(e, "members", first, 0, bit(true)), "");
    tacet__engine_close(e);
    e = open_at(60);
    grant_of(e, "members", second, "5d41402a");
    assert_string_not_equal(first, second);
    assert_non_null(strstr(report(e, "members", second, 0, bit(false)), "used before"));
    assert_string_equal(report(e, "members", second, 0, bit(true)), ""); /* the same bits: a retry */
    grant_of(e, "members", other, "5d41402b");
    assert_string_equal(report(e, "members", other, 0, bit(false)), "");
    grant_of(e, "others", other, "5d41402a"); /* another study knows nothing of it */
    assert_string_equal(report(e, "others", other, 0, bit(false)), "");
    tacet__engine_close(e);
}

/* Decision sets: the directions are those of the number that the device gave its round, also in a replay. */
TEST(a_round_of_a_device_keeps_its_number) {
    json_t *cards[2] = {NULL, NULL};
    char grant[TACET__GRANT_TEXT];
    add_study("{\"name\":\"sets\",\"trust\":\"local\",\"policy\":\"statistics\",\"budget\":{\"eps\":1},\"rounds\":30,"
              "\"domain\":{\"lower\":[0],\"upper\":[1]},\"prior\":{\"lengthscale\":0.3,\"reward\":[0,1]}}");
    tacet__engine *e = open_at(0);
    for (int i = 0; i < 20; i++) {
        grant_of(e, "sets", grant, "");
        assert_string_equal(report(e, "sets", grant, 7, 5), "there is no such arm");
        assert_string_equal(report(e, "sets", grant, ((json_int_t)1 << 32) + 1000 * i, 12 * i), "");
    }
    for (int again = 0; again < 2; again++) {
        tacet__job *job = answered(e, "sets", TACET__JOB_WEIGHTS);
        cards[again] = json_incref(json_object_get(job->body, "model"));
        assert_true(json_is_string(cards[again]));
        tacet__job_free(job);
        tacet__engine_close(e);
        /* the first one has the features */
        raw_sql(false, "DELETE FROM snapshot WHERE place > (SELECT min(place) FROM snapshot)");
        e = open_at(0);
    }
    assert_true(json_equal(cards[0], cards[1]));
    json_decref(cards[0]);
    json_decref(cards[1]);
    tacet__engine_close(e);
}

TEST(a_grant_ends) {
    char grant[TACET__GRANT_TEXT];
    add("late");
    OWN_ENGINE tacet__engine *e = open_at(0);
    grant_of(e, "late", grant, "");
    ahead = TACET__GRANT_SECONDS - 60;
    assert_non_null(strstr(report(e, "late", grant, 0, 0.5), "no device that follows the rules"));
    ahead = TACET__GRANT_SECONDS + 60;
    assert_string_equal(report(e, "late", grant, 0, bit(true)), "the grant has expired");
}

TEST(every_byte_of_a_grant_is_signed) {
    const unsigned char secret[32] = {7}, other[32] = {8};
    char text[TACET__GRANT_TEXT], id[TACET__GRANT_ID], changed[TACET__GRANT_TEXT];
    uint64_t expires = 0;
    tacet__grant_make(text, 123456, secret, NULL, NULL);
    assert_true(tacet__grant_read(id, &expires, text, secret));
    assert_int_equal(expires, 123456);
    assert_int_equal(strlen(id), TACET__GRANT_ID - 1);
    assert_false(tacet__grant_read(id, &expires, text, other));
    assert_false(tacet__grant_read(id, &expires, "", secret));
    for (size_t i = 0; i < sizeof text - 1; i++) {
        memcpy(changed, text, sizeof text);
        changed[i] = changed[i] == 'A' ? 'Q' : 'A'; /* the last letter has bits that must be 0 */
        assert_false(tacet__grant_read(id, &expires, changed, secret));
    }
}

TEST_EACH(store_setup, store_teardown)
