/* SPDX-License-Identifier: Apache-2.0 */
/* test_openapi.c - docs/openapi.json against the running server: the two must say the same.
 *
 * Starts tacet-server as a person would, provokes every status of every operation in the file over HTTPS, and checks
 * each answer against the file's schema. At the end: every (path, method, status) of the file was seen, none was seen
 * that is not in the file, and the server's table of routes is the file's. */
#include "openapi_fixture.h"

#include "service/open/wire/routes.h"

#include "local/shared/ldp.h"

enum { LEARN = 100 }; /* rounds of the first epoch at eps 20 */
static char owner[64], device[64], analyst[64], foreign[64], fresh[4][64];

/* The checker itself: what it must refuse, it refuses. */
TEST(test_checker) {
    static const struct {
        const char *schema, *value;
        bool good;
    } CASES[] = {
        {"{\"type\":\"string\"}", "[1]", false},
        {"{\"type\":\"integer\"}", "[1.5]", false},
        {"{\"type\":\"number\"}", "[1]", true},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "[[\"a\",1]]", false},
        {"{\"type\":\"string\",\"enum\":[\"a\"]}", "[\"b\"]", false},
        {"{\"$ref\":\"#/components/schemas/Problem\"}", "[{\"type\":\"a\"}]", false},
        {"{\"$ref\":\"#/components/schemas/Problem\"}",
         "[{\"type\":\"a\",\"title\":\"b\",\"status\":1,\"detail\":\"c\",\"more\":1}]", false},
        {"{\"$ref\":\"#/components/schemas/Problem\"}",
         "[{\"type\":\"a\",\"title\":\"b\",\"status\":1,\"detail\":\"c\"}]", true},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        OWN_JSON json_t *schema = json_loads(CASES[i].schema, 0, NULL);
        OWN_JSON json_t *value = json_loads(CASES[i].value, 0, NULL);
        assert_int_equal(valid(schema, json_array_get(value, 0)), CASES[i].good);
    }
}

static void refuse_strangers(const char *path, const char *method, bool post, bool of_study, const json_t *operation) {
    char real[200];
    real_path(real, path, "dose");
    if (json_array_size(json_object_get(operation, "x-roles")) == 0) {
        return;
    }
    const char *body = post ? good_body(path) : NULL;
    assert_int_equal(ask(method, path, real, NULL, body, NULL), 401);
    assert_int_equal(ask(method, path, real, "tacet_not-a-token", body, NULL), 401);
    if (of_study) {
        assert_int_equal(ask(method, path, real, foreign, body, NULL), 403);
        real_path(real, path, "nosuch");
        assert_int_equal(ask(method, path, real, owner, body, NULL), 404);
        real_path(real, path, "No Such");
    }
}

/* Who is not named in x-roles is refused, who is named is not. */
static void check_roles(const char *path, const char *method, bool post, bool of_study, const json_t *operation) {
    static const char *const NAMES[] = {"device", "analyst", "owner"};
    const char *const tokens[] = {device, analyst, owner};
    const json_t *roles = json_object_get(operation, "x-roles");
    char real[200];
    real_path(real, path, "dose");
    if (json_array_size(roles) == 0 || !of_study || strstr(path, "/archive") != NULL || strcmp(method, "DELETE") == 0) {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        bool named = false;
        size_t k = 0;
        json_t *role = NULL;
        json_array_foreach(roles, k, role) {
            named = named || strcmp(json_string_value(role), NAMES[i]) == 0;
        }
        const long status = ask(method, path, real, tokens[i], post ? good_body(path) : NULL, NULL);
        assert_int_equal(status == 403, !named);
    }
}

static void too_large(const char *path, const char *method, bool post, bool of_study, const json_t *operation) {
    char real[200];
    (void)of_study;
    (void)operation;
    if (post) {
        const size_t size = 1100000;
        OWN_TEXT char *body = malloc(size + 1);
        assert_non_null(body);
        memset(body, ' ', size);
        body[size] = '\0';
        real_path(real, path, "dose");
        assert_int_equal(ask(method, path, real, owner, body, NULL), 413);
    }
}

static void locked(const char *path, const char *method, bool post, bool of_study, const json_t *operation) {
    char real[200];
    (void)operation;
    if (of_study && strstr(path, "/archive") == NULL) {
        real_path(real, path, "dose");
        assert_int_equal(ask(method, path, real, owner, post ? good_body(path) : NULL, NULL), 503);
    } else if (of_study) {
        real_path(real, path, "dose");
        assert_int_equal(ask(method, path, real, owner, "", NULL), 503);
    }
}

static void damaged(const char *path, const char *method, bool post, bool of_study, const json_t *operation) {
    char real[200];
    (void)operation;
    if (of_study) {
        real_path(real, path, "broken");
        assert_int_equal(ask(method, path, real, owner, post ? good_body(path) : NULL, NULL), 500);
    }
}

static void too_fast(const char *path, const char *method, bool post, bool of_study, const json_t *operation) {
    char real[200];
    bool refused = false;
    (void)of_study;
    (void)operation;
    real_path(real, path, "slides");
    for (int i = 0; i < 20 && !refused; i++) {
        refused = ask(method, path, real, owner, post ? good_body(path) : NULL, NULL) == 429;
    }
    assert_true(refused);
}

/* --- what each operation does when all is well -------------------------------------------------------------------- */

#define STUDY "/v1/studies/{study}"
static const char SUGGESTIONS[] = STUDY "/suggestions";
static const char OBSERVATIONS[] = STUDY "/observations";
static const char SET[] = "{\"decision_set\":[[0.1,0.2],[0.9,0.4]]%s}";

/* Learning at the end of a batch takes a third of a second of processor. Where the machine has too much else to do the
 * server says 503, and "send the request again": a client does. The key makes that the same round. */
static json_t *suggest_again_while_busy(int number) {
    json_t *answer = NULL;
    OWN_TEXT char *key = test_text(",\"key\":\"batch-%d\"", number);
    OWN_TEXT char *body = test_text(SET, key);
    long status = ask("POST", SUGGESTIONS, "/v1/studies/dose/suggestions", device, body, &answer);
    long done = 201;
    for (int i = 0; i < 60 && status == 503; i++) {
        json_decref(answer);
        (void)usleep(200000);
        status = ask("POST", SUGGESTIONS, "/v1/studies/dose/suggestions", device, body, &answer);
        done = status == 200 ? 200 : 201; /* 200: it was stored after all */
    }
    assert_int_equal(status, done);
    return answer;
}

static void observe_first(const json_t *suggestion) {
    char body[200];
    char path[200];
    const char *ticket = json_string_value(json_object_get(suggestion, "ticket"));
    (void)snprintf(path, sizeof path, "/v1/studies/dose/suggestions/%s", ticket);
    assert_int_equal(ask("GET", STUDY "/suggestions/{ticket}", path, device, NULL, NULL), 200);
    (void)snprintf(path, sizeof path, "/v1/studies/dose/suggestions/%s?wait=soon", ticket);
    assert_int_equal(ask("GET", STUDY "/suggestions/{ticket}", path, device, NULL, NULL), 400);
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":7}", ticket);
    json_t *answer = NULL;
    assert_int_equal(ask("POST", OBSERVATIONS, "/v1/studies/dose/observations", device, body, &answer), 200);
    assert_true(json_is_true(json_object_get(answer, "clipped")));
    json_decref(answer);
    (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":0.25}", ticket);
    assert_int_equal(ask("POST", OBSERVATIONS, "/v1/studies/dose/observations", device, body, NULL), 409);
}

static void central(void) {
    char body[200];
    json_t *first = NULL;
    json_t *again = NULL;
    (void)snprintf(body, sizeof body, SET, ",\"key\":\"k-1\"");
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/dose/suggestions", device, body, &first), 201);
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/dose/suggestions", device, body, &again), 200);
    assert_true(json_equal(first, again));
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/dose/suggestions", device,
                         "{\"decision_set\":[[0.5,0.2]],\"key\":\"k-1\"}", NULL),
                     409);
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/dose/suggestions", device, "{}", NULL), 400);
    assert_int_equal(ask("POST", OBSERVATIONS, "/v1/studies/dose/observations", device, "{\"ticket\":1}", NULL), 400);
    assert_int_equal(ask("POST", STUDY "/releases", "/v1/studies/dose/releases", analyst, "", NULL), 409);
    assert_int_equal(ask("POST", STUDY "/releases", "/v1/studies/dose/releases", analyst, "now", NULL), 400);
    observe_first(first);
    json_decref(first);
    json_decref(again);
    for (int i = 0; i < 45; i++) { /* past the end of the first batch */
        OWN_JSON json_t *one = suggest_again_while_busy(i);
        (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":%d}",
                       json_string_value(json_object_get(one, "ticket")), i % 2);
        assert_int_equal(ask("POST", OBSERVATIONS, "/v1/studies/dose/observations", device, body, NULL), 200);
    }
    assert_int_equal(ask("POST", STUDY "/releases", "/v1/studies/dose/releases", analyst, "", NULL), 201);
    assert_int_equal(ask("GET", STUDY "/releases/{number}", "/v1/studies/dose/releases/1", analyst, NULL, NULL), 200);
    assert_int_equal(ask("GET", STUDY "/ledger", "/v1/studies/dose/ledger", analyst, NULL, NULL), 200);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/dose", analyst, NULL, NULL), 200);
}

/* Contexts: explore, release, then choose; and rewards over a public list. */
static void others(void) {
    char body[200];
    for (int i = 0; i < LEARN + 2; i++) { /* an epoch is released with the second suggestion after its end */
        OWN_JSON json_t *one = NULL;
        (void)snprintf(body, sizeof body, "{\"context\":[%g]}", (double)i / (LEARN + 2));
        assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/visits/suggestions", owner, body, &one), 201);
        (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":%d}",
                       json_string_value(json_object_get(one, "ticket")), i % 2);
        assert_int_equal(ask("POST", OBSERVATIONS, "/v1/studies/visits/observations", owner, body, NULL), 200);
    }
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/visits/suggestions", owner, "{}", NULL), 400);
    json_t *release = NULL;
    assert_int_equal(ask("POST", STUDY "/releases", "/v1/studies/visits/releases", owner, "", &release), 201);
    assert_string_equal(json_string_value(json_object_get(json_object_get(release, "release"), "kind")), "model");
    json_decref(release);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/visits", owner, NULL, NULL), 200);
    assert_int_equal(ask("GET", STUDY "/ledger", "/v1/studies/visits/ledger", owner, NULL, NULL), 200);
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/menu/suggestions", owner, "{}", NULL), 201);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/menu", owner, NULL, NULL), 200);
}

/* Tried, made, made again by the same request, and refused where the name has another definition. */
static void creates_studies(void) {
    static const char PATH[] = "/v1/studies";
    static const char MADE[] =
        "{\"name\":\"made\",\"trust\":\"central\",\"policy\":\"fixed\",\"budget\":{\"eps\":1},\"rounds\":300,"
        "\"domain\":{\"points\":[[0.1],[0.5],[0.9]]},\"prior\":{\"lengthscale\":0.3,\"reward\":[0,1]}}";
    json_t *answer = NULL;
    /* Over a space; values that are public already. */
    static const char SPACED[] =
        "{\"name\":\"spaced\",\"trust\":\"central\",\"policy\":\"fixed\",\"budget\":{\"eps\":1},\"domain\":{\"space\":"
        "{\"columns\":[{\"name\":\"rate\",\"kind\":\"log\",\"bounds\":[0.01,1]}]}},"
        "\"prior\":{\"earlier\":[[0,0.5,0.1]],\"reward\":[0,1]}}";
    assert_int_equal(ask("POST", PATH, "/v1/studies?dry_run=true", owner, SPACED, NULL), 200);
    assert_int_equal(ask("POST", PATH, "/v1/studies?dry_run=true", owner, MADE, &answer), 200);
    assert_true(json_is_false(json_object_get(answer, "created")));
    assert_true(json_is_number(json_object_get(json_object_get(answer, "outlook"), "gain")));
    json_decref(answer);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/made", owner, NULL, NULL), 404); /* nothing was created */
    assert_int_equal(ask("POST", PATH, PATH, owner, MADE, NULL), 201);
    assert_int_equal(ask("POST", PATH, PATH, owner, MADE, NULL), 201);
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/made/suggestions", owner, "{}", NULL), 201);
    char other[sizeof MADE];
    memcpy(other, MADE, sizeof MADE);
    memcpy(strstr(other, "300"), "301", 3);
    assert_int_equal(ask("POST", PATH, PATH, owner, other, NULL), 409);
    assert_int_equal(ask("POST", PATH, PATH, owner, "{\"name\":\"made\"}", NULL), 400);
    assert_int_equal(ask("POST", PATH, "/v1/studies?dry_run=perhaps", owner, MADE, NULL), 400);
    assert_int_equal(ask("POST", PATH, PATH, foreign, MADE, NULL), 403); /* a token of one study */
    assert_int_equal(ask("POST", PATH, PATH, device, MADE, NULL), 403);
    /* It gave a ticket and released nothing: it can go, and another may have its name. */
    assert_int_equal(ask("DELETE", STUDY, "/v1/studies/made", device, NULL, NULL), 403);
    assert_int_equal(ask("DELETE", STUDY, "/v1/studies/made", owner, NULL, NULL), 200);
    assert_int_equal(ask("DELETE", STUDY, "/v1/studies/made", owner, NULL, NULL), 404);
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/made/suggestions", owner, "{}", NULL), 404);
    assert_int_equal(ask("POST", PATH, PATH, owner, other, NULL), 201);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/made", owner, NULL, &answer), 200);
    assert_int_equal(json_integer_value(json_object_get(answer, "suggested")), 0);
    json_decref(answer);
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/made/suggestions", owner, "{}", NULL), 201);
}

static void local(void) {
    json_t *one = NULL;
    assert_int_equal(ask("GET", "/v1/live", "/v1/live", NULL, NULL, NULL), 200);
    assert_int_equal(ask("GET", "/v1/ready", "/v1/ready", NULL, NULL, NULL), 200);
    assert_int_equal(ask("GET", "/v1/metrics", "/v1/metrics", owner, NULL, NULL), 200);
    assert_int_equal(ask("GET", "/v1/metrics", "/v1/metrics", device, NULL, NULL), 403);
    assert_int_equal(ask("GET", "/v1/studies", "/v1/studies", owner, NULL, NULL), 200);
    creates_studies();
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/slides/suggestions", owner, "{}", &one), 201);
    OWN_TEXT char *path =
        test_text("/v1/studies/slides/suggestions/%s?wait=0.1", json_string_value(json_object_get(one, "ticket")));
    assert_int_equal(ask("GET", STUDY "/suggestions/{ticket}", path, owner, NULL, NULL), 200);
    json_decref(one);
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/slides/suggestions", owner, "{\"count\":3}", &one), 201);
    assert_int_equal(json_array_size(json_object_get(one, "suggestions")), 3);
    json_decref(one);
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/slides/suggestions", owner, "{\"count\":65}", NULL), 400);
    /* More rounds: of a local study; a stream that was charged for its rounds has no more. */
    static const char ROUNDS[] = STUDY "/rounds";
    assert_int_equal(ask("POST", ROUNDS, "/v1/studies/slides/rounds", owner, "{\"rounds\":20000}", NULL), 200);
    assert_int_equal(ask("POST", ROUNDS, "/v1/studies/slides/rounds", owner, "{\"rounds\":19999}", NULL), 400);
    assert_int_equal(ask("POST", ROUNDS, "/v1/studies/dose/rounds", owner, "{\"rounds\":20000}", NULL), 409);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/slides", owner, NULL, &one), 200);
    assert_int_equal(json_integer_value(json_object_get(one, "rounds_left")), 20000 - 4);
    json_decref(one);
    /* What is believed before the first report is no finding. */
    assert_int_equal(ask("GET", STUDY "/best", "/v1/studies/slides/best", owner, NULL, NULL), 409);
    assert_int_equal(ask("POST", STUDY "/releases", "/v1/studies/slides/releases", owner, "", NULL), 409);
    assert_int_equal(ask("GET", STUDY "/best", "/v1/studies/dose/best", owner, NULL, NULL), 409);
    assert_int_equal(ask("GET", STUDY "/best", "/v1/studies/visits/best", owner, NULL, NULL), 409);
    assert_int_equal(ask("GET", STUDY "/best", "/v1/studies/slides/best", device, NULL, NULL), 403);
    assert_int_equal(ask("GET", STUDY "/ledger", "/v1/studies/slides/ledger", owner, NULL, NULL), 200);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/slides", owner, NULL, NULL), 200);
    assert_int_equal(ask("GET", STUDY "/model", "/v1/studies/slides/model", owner, NULL, NULL), 404);
}

static const char *state_of(const json_t *answer, size_t i) {
    return json_string_value(json_object_get(json_array_get(json_object_get(answer, "results"), i), "state"));
}

/* One report of an arm that the device chose; what the server made of it. */
static const char *report_one(const char *path, const char *real, const char *word, const char *key, json_int_t index,
                              double value) {
    static char state[20];
    char body[400];
    json_t *answer = NULL;
    (void)snprintf(body, sizeof body, "{\"reports\":[{\"%s\":\"%s\",\"index\":%lld,\"value\":%.17g}]}", word, key,
                   (long long)index, value);
    assert_int_equal(ask("POST", path, real, owner, body, &answer), 200);
    (void)snprintf(state, sizeof state, "%s", state_of(answer, 0));
    json_decref(answer);
    return state;
}

/* Devices that choose by themselves: with a token and keys, and pages with grants. */
static void choosers(void) {
    static const char REPORTS[] = STUDY "/reports", AT[] = "/v1/studies/slides/reports";
    static const char PAGES[] = "/v1/pages/{study}/reports", PAGE_AT[] = "/v1/pages/slides/reports";
    static const char GRANTS[] = "/v1/pages/{study}/grants";
    json_t *answer = NULL;
    tacet_ldp ldp;
    assert_ok(tacet_ldp_init(&ldp, TACET_LDP_HYBRID, 1, 0, 1, NULL));
    const double up = tacet_ldp_bit(&ldp, true), down = tacet_ldp_bit(&ldp, false);
    assert_int_equal(ask("GET", STUDY "/weights", "/v1/studies/slides/weights", owner, NULL, &answer), 200);
    assert_int_equal(json_array_size(json_object_get(answer, "weights")), 3);
    const json_int_t left = json_integer_value(json_object_get(answer, "rounds_left"));
    json_decref(answer);
    assert_string_equal(report_one(REPORTS, AT, "key", "a", 1, up), "observed");
    assert_string_equal(report_one(REPORTS, AT, "key", "a", 1, up), "observed"); /* sent twice, taken once */
    assert_int_equal(ask("POST", STUDY "/releases", "/v1/studies/slides/releases", owner, "", NULL), 201);
    assert_int_equal(ask("DELETE", STUDY, "/v1/studies/slides", owner, NULL, NULL), 409); /* what was released stays */
    assert_int_equal(ask("GET", STUDY "/best", "/v1/studies/slides/best", owner, NULL, &answer), 200);
    assert_true(json_is_number(json_object_get(answer, "eps_per_report")));
    json_decref(answer);
    assert_string_equal(report_one(REPORTS, AT, "key", "a", 1, down), "refused");
    assert_string_equal(report_one(REPORTS, AT, "key", "a", 2, up), "refused");
    assert_string_equal(report_one(REPORTS, AT, "key", "b", 3, up), "refused");  /* no such arm */
    assert_string_equal(report_one(REPORTS, AT, "key", "b", 1, 0.5), "refused"); /* not what the randomiser gives */
    assert_int_equal(ask("POST", REPORTS, AT, owner, "{\"reports\":[]}", NULL), 400);
    assert_int_equal(ask("POST", REPORTS, AT, owner, "{\"reports\":[{\"grant\":\"a\",\"index\":0,\"value\":0}]}", NULL),
                     400);
    assert_int_equal(ask("POST", GRANTS, "/v1/pages/slides/grants", NULL, "{\"count\":2}", &answer), 200);
    const char *first = json_string_value(json_array_get(json_object_get(answer, "grants"), 0));
    OWN_TEXT char *forged = test_text("%s", first);
    forged[20] = forged[20] == 'A' ? 'B' : 'A';
    assert_string_equal(report_one(PAGES, PAGE_AT, "grant", forged, 0, up), "refused");
    assert_string_equal(report_one(PAGES, PAGE_AT, "grant", first, 0, up), "observed");
    assert_string_equal(report_one(PAGES, PAGE_AT, "grant", first, 0, up), "observed");
    assert_string_equal(report_one(PAGES, PAGE_AT, "grant", first, 0, down), "refused");
    assert_string_equal(report_one(PAGES, "/v1/pages/brief/reports", "grant", first, 0, up), "refused"); /* another's */
    json_decref(answer);
    assert_int_equal(ask("POST", GRANTS, "/v1/pages/slides/grants", NULL, "{\"count\":17}", NULL), 400);
    /* A login has one report, whichever browser asks again. */
    for (int browser = 0; browser < 2; browser++) {
        assert_int_equal(
            ask("POST", STUDY "/grants", "/v1/studies/slides/grants", owner, "{\"login\":\"a1\"}", &answer), 200);
        const char *grant = json_string_value(json_array_get(json_object_get(answer, "grants"), 0));
        assert_string_equal(report_one(PAGES, PAGE_AT, "grant", grant, 0, browser == 0 ? up : down),
                            browser == 0 ? "observed" : "refused");
        json_decref(answer);
    }
    assert_int_equal(ask("POST", STUDY "/grants", "/v1/studies/slides/grants", owner, "{}", NULL), 400);
    assert_int_equal(ask("POST", PAGES, PAGE_AT, NULL, "{\"reports\":[{\"key\":\"a\",\"index\":0,\"value\":0}]}", NULL),
                     400);
    assert_int_equal(ask("GET", "/v1/pages/{study}", "/v1/pages/slides", NULL, NULL, &answer), 200);
    assert_int_equal(json_integer_value(json_object_get(answer, "rounds_left")), left - 3);
    json_decref(answer);
    /* Studies that are not on the list of pages, and one that is and is not of that kind. */
    assert_int_equal(ask("GET", "/v1/pages/{study}", "/v1/pages/menu", NULL, NULL, NULL), 403);
    assert_int_equal(ask("POST", GRANTS, "/v1/pages/menu/grants", NULL, "{}", NULL), 403);
    assert_int_equal(ask("POST", PAGES, "/v1/pages/menu/reports", NULL, good_body(PAGES), NULL), 403);
    assert_int_equal(ask("GET", "/v1/pages/{study}", "/v1/pages/dose", NULL, NULL, NULL), 404);
    assert_int_equal(ask("POST", GRANTS, "/v1/pages/dose/grants", NULL, "{}", NULL), 404);
    assert_int_equal(ask("POST", PAGES, "/v1/pages/dose/reports", NULL, good_body(PAGES), NULL), 404);
}

/* An archived study takes nothing more; it may still be looked at. */
static void choosers_archived(void) {
    assert_int_equal(ask("POST", STUDY "/archive", "/v1/studies/brief/archive", owner, "[]", NULL), 400);
    assert_int_equal(ask("POST", STUDY "/archive", "/v1/studies/brief/archive", owner, "", NULL), 200);
    assert_int_equal(ask("POST", STUDY "/reports", "/v1/studies/brief/reports", owner, good_body("/reports"), NULL),
                     409);
    assert_int_equal(ask("POST", "/v1/pages/{study}/grants", "/v1/pages/brief/grants", NULL, "{}", NULL), 409);
    assert_int_equal(ask("POST", STUDY "/grants", "/v1/studies/brief/grants", owner, good_body(STUDY "/grants"), NULL),
                     409);
    assert_int_equal(
        ask("POST", "/v1/pages/{study}/reports", "/v1/pages/brief/reports", NULL, good_body("/pages"), NULL), 409);
}

/* Decision sets that stay on the devices: reports are numbers of directions. */
static void device_sets(void) {
    json_t *one = NULL;
    char body[200];
    assert_int_equal(ask("GET", STUDY "/model", "/v1/studies/routes/model", owner, NULL, &one), 200);
    assert_false(json_is_true(json_object_get(one, "informed")));
    json_decref(one);
    assert_int_equal(ask("POST", STUDY "/releases", "/v1/studies/routes/releases", owner, "", NULL), 409);
    for (int i = 0; i < 25; i++) {
        assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/routes/suggestions", owner, "{}", &one), 201);
        assert_int_equal(json_integer_value(json_object_get(one, "index")), i + 1);
        const char *ticket = json_string_value(json_object_get(one, "ticket"));
        (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":256}", ticket);
        assert_int_equal(ask("POST", OBSERVATIONS, "/v1/studies/routes/observations", owner, body, NULL), 400);
        (void)snprintf(body, sizeof body, "{\"ticket\":\"%s\",\"value\":%d}", ticket, 10 * i);
        assert_int_equal(ask("POST", OBSERVATIONS, "/v1/studies/routes/observations", owner, body, NULL), 200);
        json_decref(one);
    }
    assert_int_equal(ask("GET", STUDY "/model", "/v1/studies/routes/model", owner, NULL, &one), 200);
    assert_true(json_is_true(json_object_get(one, "informed")));
    json_decref(one);
    /* Devices without a ticket name their rounds themselves, by numbers that no ticket has. */
    assert_int_equal(ask("GET", STUDY "/weights", "/v1/studies/routes/weights", owner, NULL, &one), 200);
    assert_non_null(json_string_value(json_object_get(one, "model")));
    json_decref(one);
    static const char AT[] = "/v1/studies/routes/reports";
    assert_string_equal(report_one(STUDY "/reports", AT, "key", "a", 26, 5), "refused");
    assert_string_equal(report_one(STUDY "/reports", AT, "key", "a", (json_int_t)1 << 40, 256), "refused");
    assert_string_equal(report_one(STUDY "/reports", AT, "key", "a", (json_int_t)1 << 40, 5), "observed");
    assert_int_equal(ask("POST", STUDY "/releases", "/v1/studies/routes/releases", owner, "", NULL), 201);
    assert_int_equal(ask("GET", STUDY "/ledger", "/v1/studies/routes/ledger", owner, NULL, NULL), 200);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/routes", owner, NULL, NULL), 200);
}

/* What the board asks. */
static void board(void) {
    static const char TOKENS[] = "/v1/tokens";
    static const char ONE[] = "/v1/tokens/{number}";
    static const char RENEWAL[] = "/v1/tokens/{number}/renewal";
    static const char SESSION[] = "/v1/session";
    static const char EVENTS[] = STUDY "/events";
    static const char POSTERIOR[] = STUDY "/posterior";
    static const char FIGURE[] = STUDY "/figures/{figure}";
    static const char EXPIRY[] = STUDY "/expiry";
    json_t *body = NULL;
    char text[200];
    assert_int_equal(ask("GET", EVENTS, "/v1/studies/dose/events", analyst, NULL, &body), 200);
    for (size_t i = 0; i < json_array_size(json_object_get(body, "events")); i++) { /* nothing private */
        const json_t *event = json_array_get(json_object_get(body, "events"), i);
        assert_null(json_object_get(event, "value"));
        assert_null(json_object_get(event, "index"));
    }
    json_decref(body);
    assert_int_equal(ask("GET", EVENTS, "/v1/studies/slides/events?after=1", owner, NULL, NULL), 200);
    assert_int_equal(ask("GET", EVENTS, "/v1/studies/slides/events?after=soon", owner, NULL, NULL), 400);
    assert_int_equal(ask("GET", EVENTS, "/v1/studies/slides/events?after=99999&wait=0.1", owner, NULL, &body), 200);
    assert_int_equal(json_array_size(json_object_get(body, "events")), 0);
    json_decref(body);
    assert_int_equal(ask("GET", STUDY "/tickets", "/v1/studies/slides/tickets", owner, NULL, &body), 200);
    assert_true(json_array_size(json_object_get(body, "tickets")) > 0);
    assert_true(json_is_integer(json_object_get(json_array_get(json_object_get(body, "tickets"), 0), "token")));
    json_decref(body);
    assert_int_equal(ask("POST", EXPIRY, "/v1/studies/slides/expiry", owner, "{\"number\":1}", &body), 200);
    assert_int_equal(json_integer_value(json_object_get(body, "expired")), 1);
    json_decref(body);
    assert_int_equal(ask("POST", EXPIRY, "/v1/studies/slides/expiry", owner, "{}", NULL), 400);
    assert_int_equal(ask("POST", EXPIRY, "/v1/studies/visits/expiry", owner, "{\"number\":1}", NULL), 409);
    assert_int_equal(ask("GET", POSTERIOR, "/v1/studies/slides/posterior", owner, NULL, &body), 200);
    assert_int_equal(json_array_size(json_object_get(body, "points")), 3);
    json_decref(body);
    assert_int_equal(ask("GET", POSTERIOR, "/v1/studies/visits/posterior?x=0&y=1", owner, NULL, &body), 200);
    assert_int_equal(json_array_size(json_object_get(body, "points")), 441);
    json_decref(body);
    assert_int_equal(ask("GET", POSTERIOR, "/v1/studies/visits/posterior?at=0.5,0.1", owner, NULL, NULL), 200);
    assert_int_equal(ask("GET", POSTERIOR, "/v1/studies/visits/posterior?at=0.5", owner, NULL, NULL), 400);
    assert_int_equal(ask("GET", POSTERIOR, "/v1/studies/visits/posterior?x=9", owner, NULL, NULL), 400);
    assert_int_equal(ask("GET", POSTERIOR, "/v1/studies/menu/posterior", owner, NULL, NULL), 409);
    assert_int_equal(ask("GET", FIGURE, "/v1/studies/visits/figures/posterior?x=0&y=1", owner, NULL, &body), 200);
    const json_t *cells = json_array_get(json_object_get(body, "series"), 0);
    assert_int_equal(json_array_size(json_object_get(cells, "z")), 441);
    json_decref(body);
    assert_int_equal(ask("GET", FIGURE, "/v1/studies/visits/figures/variants", owner, NULL, NULL), 200);
    assert_int_equal(ask("GET", FIGURE, "/v1/studies/slides/figures/tried", owner, NULL, &body), 200);
    json_decref(body);
    assert_int_equal(ask("GET", FIGURE, "/v1/studies/slides/figures/tried?x=7", owner, NULL, NULL), 400);
    assert_int_equal(ask("GET", FIGURE, "/v1/studies/slides/figures/pie", owner, NULL, NULL), 404);
    assert_int_equal(ask("GET", FIGURE, "/v1/studies/dose/figures/tried", owner, NULL, NULL), 409); /* not public */
    assert_int_equal(ask("GET", FIGURE, "/v1/studies/slides/figures/tried", device, NULL, NULL), 403);
    assert_int_equal(ask("GET", FIGURE, "/v1/studies/slides/figures/comparison", owner, NULL, NULL), 409); /* no A/B */
    assert_int_equal(ask("GET", STUDY "/label", "/v1/studies/slides/label", owner, NULL, NULL), 200);
    assert_int_equal(ask("POST", TOKENS, TOKENS, owner, "{\"role\":\"device\",\"study\":\"nosuch\"}", NULL), 404);
    assert_int_equal(ask("POST", TOKENS, TOKENS, owner, "{\"role\":\"king\"}", NULL), 400);
    assert_int_equal(ask("POST", TOKENS, TOKENS, foreign, "{\"role\":\"owner\",\"study\":\"dose\"}", NULL), 403);
    assert_int_equal(ask("POST", TOKENS, TOKENS, foreign, "{\"role\":\"owner\"}", NULL), 403);
    assert_int_equal(
        ask("POST", TOKENS, TOKENS, foreign, "{\"role\":\"analyst\",\"study\":\"slides\",\"label\":\"new\"}", NULL),
        201);
    assert_int_equal(ask("GET", TOKENS, TOKENS, device, NULL, NULL), 403);
    assert_int_equal(ask("POST", RENEWAL, "/v1/tokens/1/renewal", device, "{}", NULL), 403);
    assert_int_equal(ask("DELETE", ONE, "/v1/tokens/1", device, NULL, NULL), 403);
    assert_int_equal(ask("GET", TOKENS, TOKENS, foreign, NULL, &body), 200);
    const json_t *list = json_object_get(body, "tokens");
    assert_int_equal(json_array_size(list), 2); /* of this study alone */
    const long long number =
        (long long)json_integer_value(json_object_get(json_array_get(list, json_array_size(list) - 1), "number"));
    json_decref(body);
    assert_int_equal(ask("POST", RENEWAL, "/v1/tokens/1/renewal", foreign, "{}", NULL), 404); /* another study's */
    assert_int_equal(ask("DELETE", ONE, "/v1/tokens/1", foreign, NULL, NULL), 404);
    (void)snprintf(text, sizeof text, "/v1/tokens/%lld/renewal", number);
    assert_int_equal(ask("POST", RENEWAL, text, foreign, "{\"days\":-1}", NULL), 400);
    assert_int_equal(ask("POST", RENEWAL, text, foreign, "{\"days\":30}", NULL), 201);
    (void)snprintf(text, sizeof text, "/v1/tokens/%lld", number);
    assert_int_equal(ask("DELETE", ONE, text, foreign, NULL, NULL), 200);
    assert_int_equal(ask("DELETE", ONE, text, foreign, NULL, NULL), 404);
    assert_int_equal(ask("POST", SESSION, SESSION, NULL, "{\"token\":\"tacet_no\"}", NULL), 401);
    assert_int_equal(ask("POST", SESSION, SESSION, NULL, "{}", NULL), 400);
    (void)snprintf(text, sizeof text, "{\"token\":\"%s\"}", device);
    assert_int_equal(ask("POST", SESSION, SESSION, NULL, text, NULL), 403);
    (void)snprintf(text, sizeof text, "{\"token\":\"%s\"}", analyst);
    assert_int_equal(ask("POST", SESSION, SESSION, NULL, text, NULL), 201);
    assert_int_equal(ask("GET", SESSION, SESSION, analyst, NULL, NULL), 200);
    assert_int_equal(ask("DELETE", SESSION, SESSION, analyst, NULL, NULL), 200);
}

/* A ticket that is older than the study waits for. */
static void expired(void) {
    json_t *one = NULL;
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/brief/suggestions", owner, "{}", &one), 201);
    OWN_TEXT char *path =
        test_text("/v1/studies/brief/suggestions/%s", json_string_value(json_object_get(one, "ticket")));
    OWN_TEXT char *body =
        test_text("{\"ticket\":\"%s\",\"value\":0.5}", json_string_value(json_object_get(one, "ticket")));
    json_decref(one);
    (void)usleep(2100000); /* times in the log are whole seconds */
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/brief/suggestions", owner, "{}", NULL), 201);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ask("POST", STUDY "/observations", "/v1/studies/brief/observations", owner, body, NULL), 410);
    }
    assert_int_equal(ask("GET", STUDY "/suggestions/{ticket}", path, owner, NULL, &one), 200);
    assert_string_equal(json_string_value(json_object_get(one, "state")), "expired");
    json_decref(one);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/brief", owner, NULL, NULL), 200);
}

/* Before the test that takes the store away. */
TEST(test_limits) {
    start_server("1");
    assert_int_equal(ask("GET", "/v1/studies", "/v1/studies", owner, NULL, NULL), 200); /* it is known from now on */
    each(too_fast);
    stop_server();
}

TEST(test_everything) {
    start_server("100000");
    each(refuse_strangers);
    central();
    each(check_roles);
    local();
    expired();
    others();
    board();
    device_sets();
    choosers();
    choosers_archived();
    each(too_large);
    /* Another process holds the write lock of both stores for longer than the server waits. */
    tacet__studies *other = NULL;
    tacet__study study;
    const tacet__studies_settings settings = {.store = store};
    tacet__study_init(&study);
    assert_ok(tacet__studies_open(&other, &settings, NULL));
    assert_ok(tacet__studies_get(other, &study, "dose", NULL));
    assert_ok(tacet__studies_begin(other, &study, NULL));
    each(locked);
    assert_int_equal(ask("GET", "/v1/ready", "/v1/ready", NULL, NULL, NULL), 503);
    tacet__studies_rollback(other);
    tacet__study_clear(&study);
    tacet__studies_close(other);
    assert_int_equal(ask("GET", STUDY, "/v1/studies/dose", owner, NULL, NULL), 200); /* and all is well again */
    /* A log that someone changed. */
    assert_int_equal(ask("POST", SUGGESTIONS, "/v1/studies/broken/suggestions", owner, "{}", NULL), 201);
    stop_server();
    raw_sql(false, "UPDATE event SET idx = idx + 1");
    raw_sql(false, "DELETE FROM snapshot"); /* the stop saved a state: a start would read no event before it */
    start_server("100000");
    each(damaged);
    assert_int_equal(ask("POST", STUDY "/archive", "/v1/studies/dose/archive", owner, "", NULL), 200);
    assert_int_equal(
        ask("POST", SUGGESTIONS, "/v1/studies/dose/suggestions", owner, "{\"decision_set\":[[0.5,0.2]]}", NULL), 409);
    /* A store that cannot be read. */
    raw_sql(false, "DROP TABLE token");
    assert_int_equal(ask("GET", "/v1/metrics", "/v1/metrics", fresh[0], NULL, NULL), 503);
    assert_int_equal(ask("GET", "/v1/studies", "/v1/studies", fresh[1], NULL, NULL), 503);
    assert_int_equal(ask("GET", "/v1/tokens", "/v1/tokens", fresh[2], NULL, NULL), 503);
    assert_int_equal(ask("POST", "/v1/tokens", "/v1/tokens", fresh[2], "{\"role\":\"owner\"}", NULL), 503);
    assert_int_equal(ask("POST", "/v1/studies", "/v1/studies", fresh[2], "{}", NULL), 503);
    assert_int_equal(ask("DELETE", "/v1/tokens/{number}", "/v1/tokens/1", fresh[2], NULL, NULL), 503);
    assert_int_equal(ask("POST", "/v1/tokens/{number}/renewal", "/v1/tokens/1/renewal", fresh[2], "{}", NULL), 503);
    assert_int_equal(ask("GET", "/v1/session", "/v1/session", fresh[2], NULL, NULL), 503);
    assert_int_equal(ask("DELETE", "/v1/session", "/v1/session", fresh[2], NULL, NULL), 503);
    OWN_TEXT char *login = test_text("{\"token\":\"%s\"}", fresh[3]);
    assert_int_equal(ask("POST", "/v1/session", "/v1/session", NULL, login, NULL), 503);
    stop_server();
}

TEST(test_same) {
    OWN_JSON json_t *routes = json_object();
    const char *path = NULL;
    json_t *methods = NULL;
    for (size_t i = 0; tacet__service_route(i) != NULL; i++) {
        (void)json_object_set_new(routes, tacet__service_route(i), json_true());
    }
    size_t operations = 0;
    json_object_foreach(json_object_get(file, "paths"), path, methods) {
        const char *method = NULL;
        json_t *operation = NULL;
        json_object_foreach(methods, method, operation) {
            const char *status = NULL;
            json_t *response = NULL;
            char name[200];
            const char *upper = upper_case(method);
            (void)snprintf(name, sizeof name, "%s %s", upper, path);
            operations++;
            if (json_object_get(routes, name) == NULL) {
                fail_msg("docs/openapi.json has %s, the server does not", name);
            }
            json_object_foreach(json_object_get(operation, "responses"), status, response) {
                (void)snprintf(name, sizeof name, "%s %s %s", upper, path, status);
                if (json_object_get(seen, name) == NULL) {
                    fail_msg("docs/openapi.json has %s, which this test never saw", name);
                }
            }
        }
    }
    assert_int_equal(operations, json_object_size(routes));
}

static int setup(void **state) {
    static const char *const LOCAL[] = {"slides", "broken", "brief --field options.ticket_seconds=1"};
    char path[1024];
    const char *source = getenv("TACET_SOURCE");
    (void)snprintf(path, sizeof path, "%s/docs/openapi.json", source != NULL ? source : ".");
    file = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    seen = json_object();
    if (file == NULL || seen == NULL || !make_place("openapi")) {
        return -1;
    }
    command(NULL, 0,
            "study create --store %s --name dose --trust central --eps 1 --delta 1e-6 --sets 0:1,0:1 "
            "--lengthscale 0.3",
            store);
    for (size_t i = 0; i < 3; i++) {
        command(NULL, 0,
                "study create --store %s --name %s --trust local --eps 1 --points %s --inputs x --lengthscale 0.3",
                store, LOCAL[i], arms);
    }
    (void)snprintf(path, sizeof path, "%s/visits.json", folder);
    test_write(
        path,
        "{\"name\":\"visits\",\"trust\":\"central\",\"policy\":\"contextual\",\"budget\":{\"eps\":20},\"rounds\":400,"
        "\"domain\":{\"points\":[[0],[0.5],[1]],\"context\":{\"lower\":[0],\"upper\":[1]}},"
        "\"prior\":{\"reward\":[0,1]}}");
    command(NULL, 0, "study create --store %s --definition %s", store, path);
    command(NULL, 0,
            "study create --store %s --name menu --trust central --policy fixed --eps 1 --delta 1e-6 "
            "--points %s --inputs x --lengthscale 0.5",
            store, arms);
    command(NULL, 0,
            "study create --store %s --name routes --trust local --policy statistics --eps 1 --sets 0:1,0:1 "
            "--lengthscale 0.3",
            store);
    command(owner, sizeof owner, "study token --store %s --role owner", store);
    for (size_t i = 0; i < 4; i++) {
        command(fresh[i], sizeof fresh[i], "study token --store %s --role owner", store);
    }
    command(device, sizeof device, "study token --store %s --role device --study dose", store);
    command(analyst, sizeof analyst, "study token --store %s --role analyst --study dose", store);
    command(foreign, sizeof foreign, "study token --store %s --role owner --study slides", store);
    return 0;
}

static int teardown(void **state) {
    json_decref(file);
    json_decref(seen);
    return remove_place();
}

TEST_ALL(setup, teardown)

int main(void) {
    if (on_postgres()) {
        puts("the file is checked against a server on SQLite");
        return 77;
    }
    return test_main();
}
