/* SPDX-License-Identifier: Apache-2.0 */
/* test_reporting.c - who reported in a contextual study, and how many did, is shown to nobody.
 *
 * Two studies of one server get the same questions. In one nobody reports, in the other everybody does. Whatever a
 * device, an analyst and an owner can read over HTTPS, what the commands list and what the open store holds must be the
 * same of both; and reports must not move the metrics. Stays within the first epoch: a release is random. */
#include "openapi_fixture.h"

#include <sodium.h>

enum { ROUNDS = 20 };
static const char *const STUDIES[2] = {"alpha", "bravo"}; /* bravo is reported */
static char tokens[3][64];                                /* device, analyst, owner, each of all studies */

/* One request; *body is the caller's. */
static long fetch(char **body, const char *method, const char *path, const char *token, const char *sent) {
    tacet__answer answer = {0};
    tacet__client *client = request(&answer, method, path, token, NULL, sent);
    const long status = answer.status;
    if (body != NULL) {
        *body = strndup(answer.body, answer.size);
        assert_non_null(*body);
    }
    tacet__client_close(client);
    return status;
}

/* Leaves out what differs between any two studies: names, times, and hashes under keys of their own. */
static void plain(json_t *value) {
    static const char *const OWN[] = {"name", "time", "created", "expires", "hash", "id", "file", "reserved", "ended"};
    const char *key = NULL;
    json_t *item = NULL;
    size_t i = 0;
    for (i = 0; json_is_object(value) && i < sizeof OWN / sizeof OWN[0]; i++) {
        (void)json_object_del(value, OWN[i]);
    }
    if (json_is_string(json_object_get(value, "head"))) {
        (void)json_object_del(value, "head");
    }
    json_object_foreach(value, key, item) {
        plain(item);
    }
    json_array_foreach(value, i, item) {
        plain(item);
    }
}

static char *plain_text(const char *body, const char *study) {
    json_t *value = json_loads(body, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    plain(value);
    char *text = json_dumps(value, JSON_SORT_KEYS);
    json_decref(value);
    for (char *at = strstr(text, study); at != NULL; at = strstr(at, study)) {
        memcpy(at, "study", 5); /* in sentences */
    }
    return text;
}

/* The same question about both studies, by each role. */
static void compare(const char *method, const char *rest, const char *sent) {
    for (size_t role = 0; role < 3; role++) {
        char *text[2];
        long status[2];
        for (size_t k = 0; k < 2; k++) {
            OWN_TEXT char *body = NULL;
            OWN_TEXT char *path = test_text("/v1/studies/%s%s", STUDIES[k], rest);
            status[k] = fetch(&body, method, path, tokens[role], sent);
            text[k] = plain_text(body, STUDIES[k]);
        }
        assert_int_equal(status[0], status[1]);
        assert_string_equal(text[0], text[1]);
        assert_null(strstr(text[1], "observed"));
        free(text[0]);
        free(text[1]);
    }
}

static void compare_lists(void) {
    for (size_t role = 0; role < 3; role++) {
        OWN_TEXT char *body = NULL;
        assert_int_equal(fetch(&body, "GET", "/v1/studies", tokens[role], NULL), 200);
        OWN_JSON json_t *value = json_loads(body, 0, NULL);
        json_t *list = json_object_get(value, "studies");
        assert_int_equal(json_array_size(list), 2);
        plain(list);
        assert_true(json_equal(json_array_get(list, 0), json_array_get(list, 1)));
        assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "suggested")), ROUNDS + 1);
        assert_null(strstr(body, "observed"));
    }
}

static void compare_command(const char *words) {
    char text[4096];
    for (size_t k = 0; k < 2; k++) {
        command(text, sizeof text, "study %s --study %s --store %s --json", words, STUDIES[k], store);
        OWN_JSON json_t *value = json_loads(text, 0, NULL);
        assert_non_null(value); /* the whole of it */
        assert_null(strstr(text, "observed"));
        assert_null(strstr(text, "\"open\""));
    }
}

/* Numbers of the open store, which others than the server may read. */
static void compare_open_store(void) {
    static const char *const WHAT[] = {
        "SELECT head FROM study WHERE name = '%s'",
        "SELECT suggested FROM study WHERE name = '%s'",
        "SELECT observed FROM study WHERE name = '%s'",
        "SELECT count(*) FROM shown WHERE place >> 40 = (SELECT number FROM study WHERE name = '%s')",
        "SELECT sum(observed) FROM shown WHERE place >> 40 = (SELECT number FROM study WHERE name = '%s')",
        "SELECT sum(place & 0xFFFFFFFFFF) FROM shown WHERE place >> 40 = (SELECT number FROM study WHERE name = '%s')",
    };
    for (size_t i = 0; i < sizeof WHAT / sizeof WHAT[0]; i++) {
        char sql[2][300];
        (void)snprintf(sql[0], sizeof sql[0], WHAT[i], STUDIES[0]); /* NOLINT(clang-diagnostic-format-nonliteral) */
        (void)snprintf(sql[1], sizeof sql[1], WHAT[i], STUDIES[1]); /* NOLINT(clang-diagnostic-format-nonliteral) */
        assert_int_equal(raw_number(false, sql[0]), raw_number(false, sql[1]));
    }
    assert_int_equal(raw_number(false, "SELECT head FROM study WHERE name = 'bravo'"), ROUNDS + 1);
}

static json_t *suggestion(const char *study, size_t t) {
    char *body = NULL;
    OWN_TEXT char *path = test_text("/v1/studies/%s/suggestions", study);
    OWN_TEXT char *sent = test_text("{\"context\":[%g]}", (double)t / (ROUNDS + 1));
    assert_int_equal(fetch(&body, "POST", path, tokens[0], sent), 201);
    json_t *value = json_loads(body, 0, NULL);
    free(body);
    return value;
}

/* A ticket is the number of an event and its MAC: the number must not stand there in the clear. */
static void check_ticket(const char *ticket) {
    unsigned char raw[24];
    size_t size = 0;
    assert_int_equal(sodium_base642bin(raw, sizeof raw, ticket, strlen(ticket), NULL, &size, NULL,
                                       sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                     0);
    assert_true(raw[0] != 0 || raw[1] != 0 || raw[2] != 0 || raw[3] != 0); /* by chance: 1 in 2^32 */
}

static void report(const char *study, const char *ticket) {
    OWN_TEXT char *path = test_text("/v1/studies/%s/observations", study);
    OWN_TEXT char *sent = test_text("{\"ticket\":\"%s\",\"value\":0.5}", ticket);
    assert_int_equal(fetch(NULL, "POST", path, tokens[0], sent), 200);
}

/* Of the metrics, what requests other than for them move. */
static char *counted(void) {
    char *body = NULL;
    char *out = NULL;
    size_t size = 0;
    assert_int_equal(fetch(&body, "GET", "/v1/metrics", tokens[1], NULL), 200);
    FILE *kept = open_memstream(&out, &size);
    char *rest = NULL;
    for (char *line = strtok_r(body, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (strstr(line, "route=\"metrics\"") == NULL && strncmp(line, "tacet_connections ", 18) != 0 &&
            strncmp(line, "tacet_request_seconds", 21) != 0 && strncmp(line, "process_", 8) != 0) {
            (void)fprintf(kept, "%s\n", line);
        }
    }
    (void)fclose(kept);
    free(body);
    return out;
}

static long answered(void) {
    char *body = NULL;
    assert_int_equal(fetch(&body, "GET", "/v1/metrics", tokens[1], NULL), 200);
    const char *at = strstr(body, "tacet_request_seconds_count ");
    assert_non_null(at);
    const long count = strtol(at + strlen("tacet_request_seconds_count "), NULL, 10);
    free(body);
    return count;
}

TEST(test_reporting) {
    json_t *given[ROUNDS];
    start_server("1000000");
    for (size_t t = 0; t < ROUNDS; t++) {
        json_decref(suggestion("alpha", t));
        given[t] = suggestion("bravo", t);
        check_ticket(json_string_value(json_object_get(given[t], "ticket")));
    }
    char *before = counted();
    const long count = answered();
    for (size_t t = 0; t < ROUNDS; t++) {
        report("bravo", json_string_value(json_object_get(given[t], "ticket")));
        json_decref(given[t]);
    }
    assert_int_equal(answered(), count + 1); /* the look before */
    char *after = counted();
    assert_string_equal(before, after);
    free(before);
    free(after);
    for (size_t k = 0; k < 2; k++) {
        json_decref(suggestion(STUDIES[k], ROUNDS)); /* the projection goes on with it */
    }
    static const char *const READ[] = {"",        "/events",    "/events?after=7",     "/events?after=21",
                                       "/best",   "/tickets",   "/figures/tried",      "/figures/posterior",
                                       "/model",  "/posterior", "/figures/comparison", "/figures/uncertainty",
                                       "/ledger", "/releases"};
    for (size_t i = 0; i < sizeof READ / sizeof *READ; i++) {
        compare("GET", READ[i], NULL);
    }
    compare("POST", "/expiry", "{\"older\":0}");
    compare("POST", "/expiry", "{\"number\":1}");
    compare("POST", "/releases", "");
    compare_lists();
    compare_command("show");
    stop_server();
    compare_open_store();
}

static int setup(void **state) {
    static const char *const ROLES[3] = {"device", "analyst", "owner"};
    if (!make_place("reporting")) {
        return -1;
    }
    for (size_t k = 0; k < 2; k++) {
        command(NULL, 0,
                "study create --store %s --name %s --trust central --policy contextual --eps 20 "
                "--points %s --inputs x --bounds age=0:1 --contexts age --rounds 400",
                store, STUDIES[k], arms);
    }
    for (size_t i = 0; i < 3; i++) {
        command(tokens[i], sizeof tokens[i], "study token --store %s --role %s", store, ROLES[i]);
    }
    return 0;
}

static int teardown(void **state) {
    return remove_place();
}

TEST_ALL(setup, teardown)

int main(void) {
    (void)ask; /* of the fixture: answers are compared here, not their schemas */
    (void)each;
    (void)real_path;
    (void)good_body;
    (void)upper_case;
    if (on_postgres()) {
        puts("the server is one on SQLite");
        return 77;
    }
    return test_main();
}
