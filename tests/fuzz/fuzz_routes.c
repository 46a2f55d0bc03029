/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_routes.c - any bytes as a request to the suggestion service: first line "METHOD PATH?QUERY", then the body.
 * Whatever is asked, the answer is one of the statuses of docs/API.md and its body is JSON; the service goes on. No
 * network. */
#include "service/wire_fixture.h"

#include "fuzz.h"
#include "pages/session.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const unsigned KNOWN[] = {200, 201, 400, 403, 404, 405, 409, 0};
    fuzz_request r;
    char *text = NULL;
    if (service.engine == NULL) {
        start();
    }
    if (!fuzz_read_request(&r, data, size)) {
        return 0;
    }
    if (strstr(r.path, "archive") == NULL || strstr(r.path, "shelf") != NULL) { /* the others are needed again */
        const unsigned status = handle(&service, r.line, r.path, r.query, token, r.body, r.size, &text);
        json_t *json = text != NULL ? json_loads(text, 0, NULL) : NULL;
        const bool metrics = status == 200 && strcmp(r.path, "/v1/metrics") == 0;
        must(fuzz_known(status, KNOWN) || (status == 401 && strcmp(r.path, "/v1/session") == 0));
        must((json != NULL || metrics) && (status < 400 || json_object_get(json, "detail") != NULL));
        json_decref(json);
    }
    if (strstr(r.path, "/tokens/") != NULL) {
        keep_token();
    }
    free(text);
    free(r.body);
    return 0;
}
