/* SPDX-License-Identifier: Apache-2.0 */
/* test_routes.c - what clients get wrong: every malformed, mistyped, foreign or repeated request is a 4xx with a reason
 * that names the rule, and changes nothing; and nothing private shows where others look. */
#include "wire_fixture.h"

#include <strings.h>

static tacet__service service;
static char owner[TACET__STUDIES_TOKEN_TEXT], device[TACET__STUDIES_TOKEN_TEXT], analyst[TACET__STUDIES_TOKEN_TEXT],
    other[TACET__STUDIES_TOKEN_TEXT];

static int setup(void **state) {
    (void)store_setup(state);
    add_study(TOY_STUDY);
    add_study(LOCAL_STUDY);
    tacet__studies *studies = open_store();
    assert_ok(tacet__studies_add_token(studies, owner, TACET__TOKEN_OWNER, NULL, "", 0, 0, 0, NULL));
    assert_ok(tacet__studies_add_token(studies, device, TACET__TOKEN_DEVICE, "toys", "", 0, 0, 0, NULL));
    assert_ok(tacet__studies_add_token(studies, analyst, TACET__TOKEN_ANALYST, "toys", "", 0, 0, 0, NULL));
    assert_ok(tacet__studies_add_token(studies, other, TACET__TOKEN_OWNER, "slides", "", 0, 0, 0, NULL));
    tacet__studies_close(studies);
    engine_metrics = (tacet__metrics){0};
    service = (tacet__service){.engine = open_engine(), .metrics = &engine_metrics};
    return 0;
}

static int teardown(void **state) {
    tacet__engine_close(service.engine);
    return store_teardown(state);
}

static unsigned say(const char *method, const char *path, const char *token, const char *body, char **out) {
    return handle(&service, method, path, NULL, token, body, strlen(body), out);
}

/* The status, and that an error is a problem of RFC 9457. */
static void expect(unsigned status, const char *method, const char *path, const char *token, const char *body,
                   const char *named) {
    OWN_TEXT char *text = NULL;
    const unsigned got = say(method, path, token, body, &text);
    if (got != status) {
        fail_msg("%s %s %s: %u, not %u: %s", method, path, body, got, status, text);
    }
    OWN_JSON json_t *json = json_loads(text, 0, NULL);
    if (status >= 400) {
        assert_int_equal(json_object_size(json), 4);
        assert_int_equal(json_integer_value(json_object_get(json, "status")), status);
        assert_true(json_is_string(json_object_get(json, "title")));
        assert_true(json_is_string(json_object_get(json, "type")));
        const char *reason = json_string_value(json_object_get(json, "detail"));
        assert_non_null(reason);
        assert_true(reason[0] != '\0');
        if (named != NULL && strstr(reason, named) == NULL) {
            fail_msg("%s: '%s' does not name %s", body, reason, named);
        }
    }
}

static void counts(json_int_t suggested, json_int_t observed) {
    OWN_TEXT char *text = NULL;
    assert_int_equal(say("GET", "/v1/studies/toys", owner, "", &text), 200);
    OWN_JSON json_t *json = json_loads(text, 0, NULL);
    assert_non_null(strstr(text, "\"delta\":1e-6")); /* as it was given, not as 17 digits have it */
    assert_int_equal(json_integer_value(json_object_get(json, "suggested")), suggested);
    assert_int_equal(json_integer_value(json_object_get(json, "observed")), observed);
}

TEST(test_suggestions) {
    static const char PATH[] = "/v1/studies/toys/suggestions";
    static const struct {
        const char *body, *named;
    } CASES[] = {
        {"", "JSON object"},
        {"{", "JSON object"},
        {"[]", "JSON object"},
        {"null", "JSON object"},
        {"{}{}", "JSON object"},
        {"{\"decision_set\":[[0,0]],\"decision_set\":[[0,0]]}", "JSON object"},
        {"{\"decision_set\":[[0,0]],\"colour\":1}", "colour"},
        {"{\"decision_set\":null}", "decision_set"},
        {"{\"decision_set\":{}}", "decision_set"},
        {"{\"decision_set\":[]}", "decision_set"},
        {"{\"decision_set\":[1,2]}", "arm"},
        {"{\"decision_set\":[[]]}", "arm"},
        {"{\"decision_set\":[[0,0],[0]]}", "equally many"},
        {"{\"decision_set\":[[0,0],[0,\"1\"]]}", "numbers"},
        {"{\"decision_set\":[[0,0],[0,null]]}", "numbers"},
        {"{\"decision_set\":[[0,0],[0,true]]}", "numbers"},
        {"{\"decision_set\":[[0,NaN]]}", "JSON object"},
        {"{\"decision_set\":[[0,Infinity]]}", "JSON object"},
        {"{\"decision_set\":[[0,1e999]]}", "JSON object"},
        {"{\"decision_set\":[[0,0,0]]}", NULL},
        {"{}", "decision set"},
        {"{\"decision_set\":[[0,0]],\"context\":[1]}", "no context"},
        {"{\"decision_set\":[[0,0]],\"context\":1}", "context"},
        {"{\"decision_set\":[[0,0]],\"context\":[]}", "context"},
        {"{\"decision_set\":[[0,0]],\"context\":[\"1\"]}", "context"},
        {"{\"decision_set\":[[0,0]],\"key\":\"\"}", "key"},
        {"{\"decision_set\":[[0,0]],\"key\":7}", "key"},
        {"{\"decision_set\":[[0,0]],\"key\":\"a b\"}", "key"},
        {"{\"decision_set\":[[0,0]],\"key\":\"a\\u0000b\"}", NULL},
        {"{\"decision_set\":[[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0]]}", "at most 8"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        expect(400, "POST", PATH, device, CASES[i].body, CASES[i].named);
    }
    char *long_key = malloc(400);
    (void)snprintf(long_key, 400, "{\"decision_set\":[[0,0]],\"key\":\"%0*d\"}", 129, 1);
    expect(400, "POST", PATH, device, long_key, "key");
    free(long_key);
    /* Nesting without end is refused, not followed. */
    char *deep = malloc(200001);
    memset(deep, '[', 200000);
    deep[200000] = '\0';
    expect(400, "POST", PATH, device, deep, NULL);
    free(deep);
    expect(400, "POST", "/v1/studies/slides/suggestions", other, "{\"decision_set\":[[0,0]]}", "fixed domain");
    counts(0, 0);
}

/* Whoever knows another client's key can neither test a guess of what was sent with it nor get its ticket. */
TEST(test_keys_of_others) {
    static const char PATH[] = "/v1/studies/toys/suggestions";
    static const char BODY[] = "{\"decision_set\":[[0,0],[1,0]],\"key\":\"k\"}";
    static const char GUESS[] = "{\"decision_set\":[[0,0],[0.5,0]],\"key\":\"k\"}";
    OWN_TEXT char *first = NULL;
    OWN_TEXT char *again = NULL;
    OWN_TEXT char *foreign = NULL;
    assert_int_equal(say("POST", PATH, device, BODY, &first), 201);
    assert_int_equal(say("POST", PATH, device, BODY, &again), 200);
    assert_string_equal(first, again);
    expect(409, "POST", PATH, device, GUESS, "another decision set");
    assert_int_equal(say("POST", PATH, owner, BODY, &foreign), 201);
    assert_string_not_equal(first, foreign);
    counts(2, 0);
    OWN_TEXT char *long_key = test_text("{\"decision_set\":[[0,0],[1,0]],\"key\":\"%0*d\"}", 128, 1);
    expect(201, "POST", PATH, device, long_key, NULL);
    expect(200, "POST", PATH, device, long_key, NULL);
}

TEST(test_observations) {
    static const char PATH[] = "/v1/studies/toys/observations";
    char body[200];
    char *text = NULL;
    assert_int_equal(say("POST", "/v1/studies/toys/suggestions", device, "{\"decision_set\":[[0,0],[1,0]]}", &text),
                     201);
    json_t *json = json_loads(text, 0, NULL);
    const char *ticket = json_string_value(json_object_get(json, "ticket"));
    static const struct {
        const char *value, *named;
    } VALUES[] = {{"null", "value"},
                  {"\"1\"", "value"},
                  {"true", "value"},
                  {"[1]", "value"},
                  {"{}", "value"},
                  {"NaN", "JSON object"},
                  {"-Infinity", "JSON object"},
                  {"1e999", "JSON object"},
                  {"0x10", "JSON object"}};
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":%s}", ticket, VALUES[i].value);
        expect(400, "POST", PATH, device, body, VALUES[i].named);
    }
    expect(400, "POST", PATH, device, "{\"value\":1}", "ticket");
    expect(400, "POST", PATH, device, "{\"ticket\":7,\"value\":1}", "ticket");
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\"}", ticket);
    expect(400, "POST", PATH, device, body, "value");
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":1,\"more\":1}", ticket);
    expect(400, "POST", PATH, device, body, "more");
    /* Tickets that are none, are another's, or were changed. */
    expect(404, "POST", PATH, device, "{\"ticket\":\"\",\"value\":1}", NULL);
    expect(404, "POST", PATH, device, "{\"ticket\":\"1\",\"value\":1}", NULL);
    expect(404, "POST", PATH, device, "{\"ticket\":\"AAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAA\",\"value\":1}", NULL);
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%sA\",\"value\":1}", ticket);
    expect(404, "POST", PATH, device, body, NULL);
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":1}", ticket);
    expect(404, "POST", "/v1/studies/slides/observations", other, body, NULL);
    counts(1, 0);
    /* Replays: the same is the same, another is refused. */
    expect(200, "POST", PATH, device, body, NULL);
    expect(200, "POST", PATH, device, body, NULL);
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":0}", ticket);
    expect(409, "POST", PATH, device, body, "another value");
    counts(1, 1);
    /* A report that no device sends. */
    json_decref(json);
    free(text);
    assert_int_equal(say("POST", "/v1/studies/slides/suggestions", other, "{}", &text), 201);
    json = json_loads(text, 0, NULL);
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":0.5}",
                   json_string_value(json_object_get(json, "ticket")));
    expect(400, "POST", "/v1/studies/slides/observations", other, body, "report");
    json_decref(json);
    free(text);
}

TEST(test_paths_and_tokens) {
    static const char *const PATHS[] = {"/",
                                        "",
                                        "/v1",
                                        "/v1/",
                                        "/v1/studies/",
                                        "/v1/studies//ledger",
                                        "/v2/ready",
                                        "/v1/studies/toys/",
                                        "/v1/studies/toys/nothing",
                                        "/v1/studies/toys/ledger/1",
                                        "/v1/already",
                                        "v1/ready"};
    for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
        expect(404, "GET", PATHS[i], owner, "", NULL);
    }
    expect(405, "PUT", "/v1/ready", NULL, "", NULL);
    expect(405, "PUT", "/v1/studies/toys", owner, "", NULL);
    expect(405, "GET", "/v1/studies/toys/observations", device, "", NULL);
    expect(404, "GET", "/v1/studies/Toys", owner, "", NULL);
    expect(404, "GET", "/v1/studies/..", owner, "", NULL);
    expect(404, "GET", "/v1/studies/0123456789012345678901234567890123456789012345678", owner, "", NULL);
    expect(404, "GET", "/v1/studies/toys/releases/0", owner, "", NULL);
    expect(404, "GET", "/v1/studies/toys/releases/1", owner, "", NULL);
    expect(404, "GET", "/v1/studies/toys/releases/-1", owner, "", NULL);
    expect(404, "GET", "/v1/studies/toys/releases/99999999999999999999", owner, "", NULL);
    expect(401, "GET", "/v1/studies", NULL, "", NULL);
    expect(401, "GET", "/v1/studies", "", "", NULL);
    OWN_TEXT char *changed = test_text("%s", owner);
    changed[10] = changed[10] == 'a' ? 'b' : 'a';
    expect(401, "GET", "/v1/studies", changed, "", NULL);
    /* A text is known as a token where it was found among them, and not where none is needed. */
    expect(200, "GET", "/v1/ready", changed, "", NULL);
    assert_false(token_known);
    expect(404, "GET", "/v1/nothing", changed, "", NULL);
    assert_false(token_known);
    expect(200, "GET", "/v1/studies", owner, "", NULL);
    assert_true(token_known);
    expect(403, "POST", "/v1/studies/toys/suggestions", analyst, "{}", "role");
    assert_true(token_known);
    expect(403, "POST", "/v1/studies/toys/releases", device, "", "role");
    expect(403, "POST", "/v1/studies/toys/archive", analyst, "", "role");
    expect(403, "GET", "/v1/studies/toys", other, "", "another study");
    /* Whether a study exists is not told to a token of another one. */
    expect(403, "GET", "/v1/studies/nosuch", other, "", "another study");
    /* An owner of one study makes tokens of it alone, and ends no other's. */
    expect(403, "POST", "/v1/tokens", other, "{\"role\":\"device\",\"study\":\"toys\"}", "one study");
    expect(403, "POST", "/v1/tokens", other, "{\"role\":\"owner\"}", "one study");
    expect(404, "DELETE", "/v1/tokens/2", other, "", "no token of this number");
    expect(200, "GET", "/v1/studies/toys", device, "", NULL);
    static const char *const WAITS[] = {"wait=", "wait=soon", "wait=-1", "wait=61", "wait=nan", "wait=inf", "wait=1s"};
    for (size_t i = 0; i < sizeof WAITS / sizeof WAITS[0]; i++) {
        assert_int_equal(handle(&service, "GET", "/v1/studies/toys/suggestions/x", WAITS[i], device, "", 0, NULL), 400);
        assert_int_equal(handle(&service, "GET", "/v1/studies/toys/events", WAITS[i], analyst, "", 0, NULL), 400);
    }
    /* The first call of a token waits for its check, and keeps an argument that is empty. */
    char fresh[TACET__STUDIES_TOKEN_TEXT];
    tacet__studies *studies = open_store();
    assert_ok(tacet__studies_add_token(studies, fresh, TACET__TOKEN_DEVICE, "toys", "", 0, 0, 0, NULL));
    tacet__studies_close(studies);
    assert_int_equal(handle(&service, "GET", "/v1/studies/toys/suggestions/x", "wait=", fresh, "", 0, NULL), 400);
    /* A token of one study sees that study alone. */
    OWN_TEXT char *text = NULL;
    assert_int_equal(say("GET", "/v1/studies", device, "", &text), 200);
    assert_non_null(strstr(text, "toys"));
    assert_null(strstr(text, "slides"));
}

/* The board is for owners and analysts: no other token begins a session, known already or not. */
TEST(test_who_logs_in) {
    const char *const tokens[] = {device, owner, analyst, other};
    tacet__sessions_settings settings;
    tacet__sessions_defaults(&settings);
    settings.cookie = "board";
    assert_ok(tacet__sessions_create(&service.sessions, &settings, NULL));
    for (size_t i = 0; i < 8; i++) {
        OWN_TEXT char *body = test_text("{\"token\":\"%s\"}", tokens[i % 4]);
        expect(i % 4 == 0 ? 403 : 201, "POST", "/v1/session", NULL, body, "owners and analysts");
        (void)handle(&service, "GET", "/v1/studies", NULL, tokens[i % 4], "", 0, NULL); /* known from here on */
    }
    expect(401, "POST", "/v1/session", NULL, "{\"token\":\"tacet_no\"}", NULL);
    tacet__sessions_free(service.sessions);
    service.sessions = NULL;
}

TEST(test_expiry) {
    static const char PATH[] = "/v1/studies/toys/expiry";
    static const char SET[] = "{\"decision_set\":[[0,0],[1,0]]}";
    static const char *const BROKEN[] = {"{}",
                                         "{\"number\":0}",
                                         "{\"number\":1,\"older\":0}",
                                         "{\"older\":-1}",
                                         "{\"older\":0.5}",
                                         "{\"number\":\"1\"}",
                                         "{\"all\":true}",
                                         ""};
    char *text = NULL;
    for (int i = 0; i < 4; i++) {
        expect(201, "POST", "/v1/studies/toys/suggestions", device, SET, NULL);
    }
    for (size_t i = 0; i < sizeof BROKEN / sizeof BROKEN[0]; i++) {
        expect(400, "POST", PATH, owner, BROKEN[i], NULL);
    }
    expect(403, "POST", PATH, device, "{\"older\":0}", "role");
    expect(403, "POST", PATH, analyst, "{\"older\":0}", "role");
    expect(404, "POST", PATH, owner, "{\"number\":99}", NULL);
    static const struct {
        const char *body, *says;
    } CASES[] = {{"{\"older\":3600}", "{\"expired\":0}"}, /* they are young */
                 {"{\"number\":2}", "{\"expired\":1}"},
                 {"{\"number\":2}", "{\"expired\":0}"}, /* asked once more */
                 {"{\"older\":0}", "{\"expired\":3}"},
                 {"{\"older\":0}", "{\"expired\":0}"}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(say("POST", PATH, owner, CASES[i].body, &text), 200);
        assert_string_equal(text, CASES[i].says);
        free(text);
    }
    assert_int_equal(say("GET", "/v1/studies/toys/tickets", owner, "", &text), 200);
    assert_string_equal(text, "{\"tickets\":[]}");
    free(text);
    /* One that was reported stays so. */
    assert_int_equal(say("POST", "/v1/studies/toys/suggestions", device, SET, &text), 201);
    json_t *json = json_loads(text, 0, NULL);
    OWN_TEXT char *body =
        test_text("{\"ticket\":\"%s\",\"value\":1}", json_string_value(json_object_get(json, "ticket")));
    json_decref(json);
    free(text);
    expect(200, "POST", "/v1/studies/toys/observations", device, body, NULL);
    expect(409, "POST", PATH, owner, "{\"number\":9}", "reported");
}

/* A dropped token is forgotten; the test reaches behind the memory of a few seconds by asking with a new engine. */
TEST(test_dropped_token) {
    expect(200, "GET", "/v1/studies", device, "", NULL);
    tacet__studies *studies = open_store();
    tacet__token token;
    assert_ok(tacet__studies_check_token(studies, &token, device, NULL));
    assert_ok(tacet__studies_drop_token(studies, token.id, NULL));
    tacet__studies_close(studies);
    tacet__engine_close(service.engine);
    service.engine = open_engine();
    expect(401, "GET", "/v1/studies", device, "", NULL);
}

/* What others can ask for is the same, byte for byte, whatever the rewards and decision sets were. */
static char *everything_public(double reward, double shift) {
    char body[256];
    static const char *const PATHS[] = {"/v1/studies", "/v1/studies/toys", "/v1/studies/toys/ledger",
                                        "/v1/studies/toys/events", "/v1/studies/toys/tickets"};
    for (int i = 0; i < 3; i++) {
        char *text = NULL;
        (void)snprintf(body, sizeof body, "{\"decision_set\":[[%.3f,0.1],[%.3f,0.2]]}", shift, 1 - shift);
        assert_int_equal(say("POST", "/v1/studies/toys/suggestions", device, body, &text), 201);
        json_t *json = json_loads(text, 0, NULL);
        (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":%g}",
                       json_string_value(json_object_get(json, "ticket")), reward);
        json_decref(json);
        free(text);
        assert_int_equal(say("POST", "/v1/studies/toys/observations", device, body, NULL), 200);
    }
    char *all = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&all, &size);
    for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
        OWN_TEXT char *text = NULL;
        assert_int_equal(say("GET", PATHS[i], owner, "", &text), 200);
        (void)fputs(text, out);
    }
    char *metrics = NULL;
    assert_int_equal(say("GET", "/v1/metrics", owner, "", &metrics), 200);
    for (char *line = strtok(metrics, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        /* times and memory are not a function of anything */
        if (strncmp(line, "tacet_request_seconds", 21) != 0 && strncmp(line, "tacet_commit_seconds", 20) != 0 &&
            strncmp(line, "process_", 8) != 0) {
            (void)fprintf(out, "%s\n", line);
        }
    }
    free(metrics);
    (void)fclose(out);
    static const char *const TIMES[] = {"\"created\":", "\"time\":", "\"expires\":"};
    for (size_t i = 0; i < sizeof TIMES / sizeof TIMES[0]; i++) {
        char *at = NULL;
        while ((at = strstr(all, TIMES[i])) != NULL) {
            memset(at, ' ', strcspn(at, ",}"));
        }
    }
    return all;
}

TEST(test_nothing_private_shows) {
    char *a = everything_public(0.5, 0.1);
    (void)teardown(state);
    (void)setup(state);
    char *b = everything_public(77, 0.9); /* clipped, and another arm is chosen */
    assert_string_equal(a, b);
    free(a);
    free(b);
}

TEST_EACH(setup, teardown)
