/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_routes.c - any bytes as a request to the suggestion service: first line "METHOD PATH?QUERY", then the body.
 * Whatever is asked, the answer is one of the statuses of docs/API.md and its body is JSON; the service goes on. No
 * network. */
#include "service/wire_fixture.h"

#include "pages/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* May be archived, and then takes no more rounds; the others may not. */
static const char SHELF_STUDY[] =
    "{\"name\":\"shelf\",\"trust\":\"central\",\"policy\":\"toy\",\"budget\":{\"eps\":1,\"delta\":1e-6},"
    "\"domain\":{\"lower\":[0,0],\"upper\":[1,1]},\"prior\":{\"lengthscale\":0.2,\"reward\":[0,1]}}";
static tacet__service service;
static tacet__studies *tokens;
static char token[TACET__STUDIES_TOKEN_TEXT];

static void finish(void) {
    tacet__engine_close(service.engine);
    tacet__sessions_free(service.sessions);
    tacet__studies_close(tokens);
    test_rmdir(store_folder);
}

static void start(void) {
    tacet__sessions_settings sessions;
    tacet__sessions *made = NULL;
    (void)store_setup(NULL);
    add_study(TOY_STUDY);
    add_study(LOCAL_STUDY);
    add_study(SHELF_STUDY);
    tokens = open_store();
    assert_ok(tacet__studies_add_token(tokens, token, TACET__TOKEN_OWNER, NULL, "", 0, 0, 0, NULL));
    tacet__sessions_defaults(&sessions);
    sessions.cookie = "board";
    assert_ok(tacet__sessions_create(&made, &sessions, NULL));
    service = (tacet__service){.engine = open_engine(), .metrics = &engine_metrics, .sessions = made};
    (void)atexit(finish);
}

/* The fuzzer may have ended or renewed its own token: it then gets another. */
static void keep_token(void) {
    tacet__token found;
    if (tacet__studies_check_token(tokens, &found, token, NULL) != TACET_OK) {
        assert_ok(tacet__studies_add_token(tokens, token, TACET__TOKEN_OWNER, NULL, "", 0, 0, 0, NULL));
    }
}

/* Waits are short, and studies that others need stay. */
static bool is_harmless(const char *path, const char *query) {
    const char *wait = query != NULL ? strstr(query, "wait=") : NULL;
    return strncmp(path, "/v1", 3) == 0 && (wait == NULL || !(strtod(wait + 5, NULL) > 0.01)) &&
           (strstr(path, "archive") == NULL || strstr(path, "shelf") != NULL);
}

static bool is_known(unsigned status, const char *path) {
    static const unsigned KNOWN[] = {200, 201, 400, 403, 404, 405, 409};
    bool known = status == 401 && strcmp(path, "/v1/session") == 0;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        known = known || status == KNOWN[i];
    }
    return known;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char line[256] = "";
    if (service.engine == NULL) {
        start();
    }
    const uint8_t *end = memchr(data, '\n', size);
    const size_t head = end != NULL ? (size_t)(end - data) : size;
    memcpy(line, data, head < sizeof line - 1 ? head : sizeof line - 1);
    char *path = strchr(line, ' ');
    char *query = path != NULL ? strchr(path, '?') : NULL;
    if (query != NULL) {
        *query++ = '\0';
    }
    if (path == NULL || !is_harmless(path + 1, query)) {
        return 0;
    }
    *path++ = '\0';
    const size_t rest = end != NULL ? size - head - 1 : 0;
    char *body = malloc(rest + 1);
    char *text = NULL;
    memcpy(body, end != NULL ? (const void *)(end + 1) : "", rest);
    body[rest] = '\0';
    const unsigned status = handle(&service, line, path, query, token, body, rest, &text);
    json_t *json = text != NULL ? json_loads(text, 0, NULL) : NULL;
    const bool metrics = status == 200 && strcmp(path, "/v1/metrics") == 0;
    if (!is_known(status, path) || (json == NULL && !metrics) ||
        (status >= 400 && json_object_get(json, "detail") == NULL)) {
        (void)fprintf(stderr, "%s %s: %u %s\n", line, path, status, text != NULL ? text : "(nothing)");
        abort();
    }
    if (strstr(path, "/tokens/") != NULL) {
        keep_token();
    }
    json_decref(json);
    free(text);
    free(body);
    return 0;
}
