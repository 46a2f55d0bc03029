/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_fixture.h - tacet-server as a person starts it, asked over HTTPS; each answer is checked against the schema
 * that docs/openapi.json has for its path, method and status. */
#pragma once

#include "store_fixture.h"

#include "io/http/client.h"

#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static json_t *file;
static json_t *seen; /* "METHOD /path STATUS" -> true */
static char folder[256], keys[300], store[300], arms[300], url[128], ca[320];
static pid_t server;

/* What is written once, under components, and referred to: "#/components/KIND/NAME". */
static const json_t *resolve(const json_t *at) {
    const char *ref = json_string_value(json_object_get(at, "$ref"));
    if (ref == NULL) {
        return at;
    }
    char kind[16] = "";
    assert_int_equal(sscanf(ref, "#/components/%15[a-z]/", kind), 1);
    const json_t *found =
        json_object_get(json_object_get(json_object_get(file, "components"), kind), strrchr(ref, '/') + 1);
    assert_non_null(found);
    return found;
}

static bool valid(const json_t *schema, const json_t *value);

static bool valid_object(const json_t *schema, const json_t *value) {
    const json_t *properties = json_object_get(schema, "properties");
    const char *key = NULL;
    json_t *item = NULL;
    size_t i = 0;
    bool ok = json_is_object(value);
    json_array_foreach(json_object_get(schema, "required"), i, item) {
        ok = ok && json_object_get(value, json_string_value(item)) != NULL;
    }
    if (properties == NULL) {
        return ok; /* described elsewhere, as a space is */
    }
    json_object_foreach((json_t *)(size_t)value, key, item) {
        const json_t *of = json_object_get(properties, key);
        ok = ok && of != NULL && valid(of, item); /* additionalProperties is false everywhere */
    }
    return ok;
}

static bool valid(const json_t *schema, const json_t *value) {
    schema = resolve(schema);
    const json_t *one_of = json_object_get(schema, "oneOf");
    const json_t *choices = json_object_get(schema, "enum");
    const char *type = json_string_value(json_object_get(schema, "type"));
    json_t *item = NULL;
    size_t i = 0;
    if (one_of != NULL) {
        unsigned fits = 0;
        json_array_foreach(one_of, i, item) {
            fits += valid(item, value);
        }
        return fits == 1;
    }
    assert_non_null(type);
    if (choices != NULL) {
        bool any = false;
        json_array_foreach(choices, i, item) {
            any = any || json_equal(item, value);
        }
        return any;
    }
    if (strcmp(type, "object") == 0) {
        assert_true(json_object_get(schema, "properties") == NULL ||
                    json_is_false(json_object_get(schema, "additionalProperties")));
        return valid_object(schema, value);
    }
    if (strcmp(type, "array") == 0) {
        bool ok = json_is_array(value);
        json_array_foreach(value, i, item) {
            ok = ok && valid(json_object_get(schema, "items"), item);
        }
        return ok;
    }
    return (strcmp(type, "string") == 0 && json_is_string(value)) ||
           (strcmp(type, "number") == 0 && json_is_number(value)) ||
           (strcmp(type, "integer") == 0 && json_is_integer(value)) ||
           (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
           (json_is_true(json_object_get(schema, "nullable")) && json_is_null(value));
}

static const char *program(void) {
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/tacet-server", getenv("TACET_BIN") != NULL ? getenv("TACET_BIN") : "bin");
    return path;
}

/* Runs the program with these words, and keeps the first line it prints. */
__attribute__((format(printf, 3, 4))) static void command(char *line, size_t room, const char *words, ...) {
    char text[4096];
    va_list arguments;
    const size_t head = (size_t)snprintf(text, sizeof text, "%s ", program());
    va_start(arguments, words);
    (void)vsnprintf(text + head, sizeof text - head, words, arguments);
    va_end(arguments);
    FILE *pipe = popen(text, "r"); /* NOLINT(cert-env33-c) */
    assert_non_null(pipe);
    char first[4096] = "";
    char rest[256];
    if (fgets(first, sizeof first, pipe) != NULL) {
        while (fgets(rest, sizeof rest, pipe) != NULL) {
        }
    }
    assert_int_equal(pclose(pipe), 0);
    first[strcspn(first, "\n")] = '\0';
    if (line != NULL) {
        (void)snprintf(line, room, "%s", first);
    }
}

/* A folder of the test's own, in it the server's keys, the place of a store, and arms.csv. */
static bool make_place(const char *name) {
    (void)snprintf(folder, sizeof folder, "/tmp/tacet-%s.XXXXXX", name);
    if (mkdtemp(folder) == NULL) {
        return false;
    }
    (void)snprintf(keys, sizeof keys, "%s/keys", folder);
    (void)snprintf(ca, sizeof ca, "%s/ca.pem", keys);
    (void)snprintf(store, sizeof store, "%s/store", folder);
    (void)snprintf(store_place, sizeof store_place, "%s", store); /* of raw_sql and raw_number */
    (void)snprintf(arms, sizeof arms, "%s/arms.csv", folder);
    test_write(arms, "x\n0\n0.5\n1\n");
    command(NULL, 0, "server init --dir %s", keys);
    return true;
}

static int remove_place(void) {
    if (server > 0) { /* a test that failed did not stop it */
        (void)kill(server, SIGKILL);
        (void)waitpid(server, NULL, 0);
    }
    OWN_TEXT char *text = test_text("rm -rf %s", folder);
    return system(text); /* NOLINT(cert-env33-c) */
}

static void start_server(const char *rate) {
    OWN_TEXT char *ready = test_text("%s/ready", folder);
    (void)unlink(ready);
    server = fork();
    assert_true(server >= 0);
    if (server == 0) {
        /* It must not outlive a test that fails, nor hold what the test inherited (a lock, a pipe). */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int fd = STDERR_FILENO + 1; fd < 256; fd++) {
            (void)close(fd);
        }
        /* Silent: failures are provoked. */
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) {
            _exit(127);
        }
        (void)execl(program(), "tacet-server", "server", "--store", store, "--keys", keys, "--listen", "127.0.0.1:0",
                    "--token-rate", rate, "--address-rate", "100000", "--pages",
                    "dose=https://shop.example,slides=https://shop.example,broken=https://shop.example,"
                    "brief=https://shop.example",
                    "--ready-file", ready, (char *)NULL);
        _exit(127);
    }
    url[0] = '\0';
    for (int i = 0; i < 500 && url[0] == '\0'; i++) {
        FILE *f = fopen(ready, "r");
        if (f != NULL) {
            if (fgets(url, sizeof url, f) == NULL || strchr(url, '\n') == NULL) {
                url[0] = '\0';
            }
            (void)fclose(f);
        }
        (void)usleep(20000);
    }
    url[strcspn(url, "\n")] = '\0';
    assert_true(url[0] != '\0');
}

static void stop_server(void) {
    int status = 0;
    (void)kill(server, SIGTERM);
    (void)waitpid(server, &status, 0);
    server = 0;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A client of the server; the answer to one request, which lives as long as it. */
static tacet__client *request(tacet__answer *answer, const char *method, const char *path, const char *token,
                              const char *origin, const char *body) {
    tacet__client *client = NULL;
    tacet__client_settings s;
    tacet__client_defaults(&s);
    s.url = url;
    s.authority = ca;
    s.token = token;
    s.origin = origin;
    assert_ok(tacet__client_open(&client, &s, NULL));
    /* A body that is refused before it was read may end in a reset on the client's side: then it is sent again. */
    const bool large = body != NULL && strlen(body) > 1000000;
    tacet_status sent = tacet__client_request(client, answer, method, path, body, NULL);
    for (int i = 0; i < 20 && large && sent == TACET_IO; i++) {
        sent = tacet__client_request(client, answer, method, path, body, NULL);
    }
    assert_ok(sent);
    return client;
}

/* docs/API.md, "Errors". */
static bool is_word_of(long status, const json_t *problem) {
    static const struct {
        long status;
        const char *words;
    } OF[] = {{400, "invalid"},    {401, "unauthorized"},          {403, "forbidden stale"},
              {404, "not-found"},  {409, "conflict state budget"}, {410, "expired"},
              {413, "too-large"},  {429, "too-many-requests"},     {500, "damaged"},
              {503, "unavailable"}};
    const char *type = json_string_value(json_object_get(problem, "type"));
    const char *word = type != NULL ? strrchr(type, ':') : NULL;
    size_t k = 0;
    while (k < sizeof OF / sizeof OF[0] && OF[k].status != status) {
        k++;
    }
    return word != NULL && k < sizeof OF / sizeof OF[0] && strstr(OF[k].words, word + 1) != NULL;
}

/* A body that the server takes has the schema of the file. */
static void check_body(const json_t *operation, const char *body) {
    const json_t *content = json_object_get(json_object_get(operation, "requestBody"), "content");
    const json_t *schema = json_object_get(json_object_get(content, "application/json"), "schema");
    if (schema != NULL && body != NULL && body[0] != '\0') {
        OWN_JSON json_t *value = json_loads(body, 0, NULL);
        if (!valid(schema, value)) {
            fail_msg("the server took a body that does not have the schema: %s", body);
        }
    }
}

/* One request; the answer is checked against the schema of the path, method and status, and a body that was taken
 * against its own. Returns the status, and the body in *out when asked for (the caller's). */
static long ask(const char *method, const char *path, const char *real, const char *token, const char *body,
                json_t **out) {
    char name[200];
    tacet__answer answer = {0};
    const char *origin = strncmp(path, "/v1/pages/", 10) == 0 ? "https://shop.example" : NULL;
    tacet__client *client = request(&answer, method, real, token, origin, body);
    const long status = answer.status;
    (void)snprintf(name, sizeof name, "%s %s %ld", method, path, status);
    char lower[16];
    size_t n = 0;
    for (; method[n] != '\0' && n + 1 < sizeof lower; n++) {
        lower[n] = (char)(method[n] | 0x20);
    }
    lower[n] = '\0';
    char code[8];
    (void)snprintf(code, sizeof code, "%ld", status);
    const json_t *operation = json_object_get(json_object_get(json_object_get(file, "paths"), path), lower);
    const json_t *response = resolve(json_object_get(json_object_get(operation, "responses"), code));
    const json_t *kinds = json_object_get(response, "content");
    const char *text = json_object_get(kinds, "text/plain") != NULL  ? "text/plain"
                       : json_object_get(kinds, "text/html") != NULL ? "text/html"
                                                                     : NULL;
    const json_t *content = json_object_get(kinds, text != NULL    ? text
                                                   : status >= 400 ? "application/problem+json"
                                                                   : "application/json");
    if (content == NULL) {
        fail_msg("%s (%s) is not in docs/openapi.json: %s", name, real, answer.body);
    }
    if (text == NULL) {
        OWN_JSON json_t *value = json_loadb(answer.body, answer.size, JSON_DECODE_ANY, NULL);
        if (!valid(json_object_get(content, "schema"), value)) {
            fail_msg("%s: the answer does not have the schema: %s", name, answer.body);
        }
        if (status >= 400 && !is_word_of(status, value)) {
            fail_msg("%s: the answer has another type than docs/API.md gives this status: %s", name, answer.body);
        }
        if (status < 300) {
            check_body(operation, body);
        }
        if (status == 503 || status == 429) {
            assert_true(answer.retry_after > 0);
        }
        if (out != NULL) {
            *out = json_incref(value);
        }
    }
    (void)json_object_set_new(seen, name, json_true());
    tacet__client_close(client);
    return status;
}

/* A path of the file for a study; a ticket and a release number that are of the right form. */
static void real_path(char out[200], const char *path, const char *study) {
    const char *at = strstr(path, "{study}");
    if (at == NULL) { /* of a token that is not there */
        const char *number = strstr(path, "{number}");
        const int head = number != NULL ? (int)(number - path) : (int)strlen(path);
        (void)snprintf(out, 200, "%.*s%s%s", head, path, number != NULL ? "999999" : "",
                       number != NULL ? number + strlen("{number}") : "");
        return;
    }
    const char *tail = at + strlen("{study}");
    (void)snprintf(out, 200, "%.*s%s%s", (int)(at - path), path, study, tail);
    char *brace = strchr(out, '{');
    if (brace != NULL) {
        const bool ticket = strncmp(brace, "{ticket}", 8) == 0;
        const bool figure = strncmp(brace, "{figure}", 8) == 0;
        (void)snprintf(brace, (size_t)(200 - (brace - out)), "%s",
                       ticket   ? "AAAAAAAAAAHR1LgQDDJwLEk_UAx0QdtC"
                       : figure ? "posterior"
                                : "1");
    }
}

static const char *good_body(const char *path) {
    return strstr(path, "/suggestions") != NULL    ? "{}"
           : strstr(path, "/observations") != NULL ? "{\"ticket\":\"AAAAAAAAAAHR1LgQDDJwLEk_UAx0QdtC\",\"value\":0.5}"
           : strstr(path, "/rounds") != NULL       ? "{\"rounds\":2000000}"
           : strstr(path, "}/grants") != NULL      ? strstr(path, "pages") != NULL ? "{}" : "{\"login\":\"a\"}"
           : strstr(path, "/pages") != NULL        ? "{\"reports\":[{\"grant\":\"none\",\"index\":0,\"value\":0.5}]}"
           : strstr(path, "/reports") != NULL      ? "{\"reports\":[{\"key\":\"none\",\"index\":9,\"value\":0.5}]}"
           : strstr(path, "/expiry") != NULL       ? "{\"older\":0}"
                                                   : "";
}

static const char *upper_case(const char *method) {
    return strcmp(method, "post") == 0 ? "POST" : strcmp(method, "delete") == 0 ? "DELETE" : "GET";
}

typedef void (*operation_fn)(const char *path, const char *method, bool post, bool of_study, const json_t *operation);

static void each(operation_fn fn) {
    const char *path = NULL;
    json_t *methods = NULL;
    json_object_foreach(json_object_get(file, "paths"), path, methods) {
        const char *method = NULL;
        json_t *operation = NULL;
        json_object_foreach(methods, method, operation) {
            const bool post = strcmp(method, "post") == 0;
            fn(path, upper_case(method), post, strstr(path, "{study}") != NULL, operation);
        }
    }
}
