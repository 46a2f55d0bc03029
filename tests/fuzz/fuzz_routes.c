/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_routes.c - any bytes as a request to the suggestion service: first line "METHOD PATH", then the body. Whatever
 * is asked, the answer is one of the statuses of docs/API.md and its body is JSON; the service goes on. No network. */
#include "service/wire_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tacet__service service;
static char token[TACET__STUDIES_TOKEN_TEXT];

static void finish(void) {
    tacet__engine_close(service.engine);
    test_rmdir(store_folder);
}

static void start(void) {
    (void)store_setup(NULL);
    add_study(TOY_STUDY);
    add_study(LOCAL_STUDY);
    tacet__studies *studies = open_store();
    assert_ok(tacet__studies_add_token(studies, token, TACET__TOKEN_OWNER, NULL, "", NULL));
    tacet__studies_close(studies);
    service = (tacet__service){.engine = open_engine(), .metrics = &engine_metrics};
    (void)atexit(finish);
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
    /* An archived study, and a service without its token, would take no more requests. */
    if (path == NULL || strstr(line, "archive") != NULL || strstr(line, "tokens/") != NULL) {
        return 0;
    }
    *path++ = '\0';
    const size_t rest = end != NULL ? size - head - 1 : 0;
    char *body = malloc(rest + 1);
    char *text = NULL;
    memcpy(body, end != NULL ? (const void *)(end + 1) : "", rest);
    body[rest] = '\0';
    const unsigned status = handle(&service, line, path, rest % 3 == 1 ? "0" : NULL, token, body, rest, &text);
    static const unsigned KNOWN[] = {200, 201, 400, 403, 404, 405, 409};
    bool known = false;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        known = known || status == KNOWN[i];
    }
    json_t *json = text != NULL ? json_loads(text, 0, NULL) : NULL;
    const bool metrics = status == 200 && strcmp(path, "/v1/metrics") == 0;
    if (!known || (json == NULL && !metrics) || (status >= 400 && json_object_get(json, "detail") == NULL)) {
        abort();
    }
    json_decref(json);
    free(text);
    free(body);
    return 0;
}
