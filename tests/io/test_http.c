/* SPDX-License-Identifier: Apache-2.0 */
/* test_http.c - server, client and certificates against each other on loopback. */
#include "io/http/client.h"
#include "io/http/pki.h"
#include "io/http/server.h"
#include "support/test.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct fixture {
    tacet__pem authority, server_pem, client_pem, foreign, foreign_client, expired;
    tacet__server *server;
    char folder[256];
    char url[64];
    atomic_int handled;
} fixture;

static void write_file(const fixture *f, const char *name, const char *text, char path[512]) {
    (void)snprintf(path, 512, "%s/%s", f->folder, name);
    test_write(path, text);
}

/* Echoes what it saw. */
static void handler(void *user, const tacet__request *request, tacet__response *response) {
    fixture *f = user;
    atomic_fetch_add(&f->handled, 1);
    request->exchange->known = request->bearer != NULL;
    response->body = malloc(request->body_size + 512);
    response->status = strcmp(request->path, "/missing") == 0 ? 404 : 200;
    response->body_size =
        (size_t)snprintf(response->body, request->body_size + 512, "%s %s bearer=%s cert=%s body=%s", request->method,
                         request->path, request->bearer != NULL ? request->bearer : "-",
                         request->certificate != NULL ? request->certificate : "-", request->body);
}

static void start(fixture *f, const tacet__pem *pem, tacet__server_settings *settings) {
    settings->certificate = pem->certificate;
    settings->key = pem->key;
    settings->handler = handler;
    settings->user = f;
    assert_ok(tacet__server_start(&f->server, settings, NULL));
    (void)snprintf(f->url, sizeof f->url, "https://127.0.0.1:%u", tacet__server_port(f->server));
}

static int setup(void **state) {
    static fixture f;
    const char *hosts[] = {"localhost", "127.0.0.1", "::1"};
    memset(&f, 0, sizeof f);
    assert_ok(tacet__pki_authority(&f.authority, "study", 30, NULL));
    assert_ok(tacet__pki_authority(&f.foreign, "other", 30, NULL));
    assert_ok(tacet__pki_issue(&f.server_pem, &f.authority, "curator", TACET__PKI_SERVER, hosts, 3, 30, NULL));
    assert_ok(tacet__pki_issue(&f.client_pem, &f.authority, "modeler", TACET__PKI_CLIENT, NULL, 0, 30, NULL));
    assert_ok(tacet__pki_issue(&f.foreign_client, &f.foreign, "modeler", TACET__PKI_CLIENT, NULL, 0, 30, NULL));
    assert_ok(tacet__pki_issue(&f.expired, &f.authority, "curator", TACET__PKI_SERVER, hosts, 3, -3, NULL));
    (void)snprintf(f.folder, sizeof f.folder, "%s", test_mkdir());
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tacet__server_stop(f->server);
    tacet__pem_free(&f->authority);
    tacet__pem_free(&f->foreign);
    tacet__pem_free(&f->server_pem);
    tacet__pem_free(&f->client_pem);
    tacet__pem_free(&f->foreign_client);
    tacet__pem_free(&f->expired);
    test_rmdir(f->folder);
    return 0;
}

static tacet__client *connect_to(fixture *f, const tacet__pem *authority, const char *token, const tacet__pem *own) {
    static char ca[512], certificate[512], key[512];
    tacet__client_settings settings;
    tacet__client *client = NULL;
    tacet__client_defaults(&settings);
    settings.url = f->url;
    settings.token = token;
    write_file(f, "ca.pem", authority->certificate, ca);
    settings.authority = ca;
    if (own != NULL) {
        write_file(f, "own.pem", own->certificate, certificate);
        write_file(f, "own.key", own->key, key);
        settings.certificate = certificate;
        settings.key = key;
    }
    assert_ok(tacet__client_open(&client, &settings, NULL));
    return client;
}

static void test_round_trip(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__answer answer;
    tacet__server_defaults(&settings);
    start(f, &f->server_pem, &settings);
    tacet__client *client = connect_to(f, &f->authority, "secret", NULL);
    assert_ok(tacet__client_request(client, &answer, "POST", "/v1/queries", "{\"row\":3}", NULL));
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "POST /v1/queries bearer=secret cert=- body={\"row\":3}");
    assert_ok(tacet__client_request(client, &answer, "GET", "/missing", NULL, NULL));
    assert_int_equal(answer.status, 404);
    tacet__client_close(client);
}

static void test_client_certificates(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__answer answer;
    tacet__server_defaults(&settings);
    settings.client_ca = f->authority.certificate;
    start(f, &f->server_pem, &settings);
    tacet__client *client = connect_to(f, &f->authority, NULL, &f->client_pem);
    assert_ok(tacet__client_request(client, &answer, "GET", "/", NULL, NULL));
    assert_string_equal(answer.body, "GET / bearer=- cert=modeler body=");
    /* Signed by another authority: no identity, though the name is the same. Each connection has its own, however often
     * it asks and whoever asked before. */
    tacet__client *foreign = connect_to(f, &f->authority, NULL, &f->foreign_client);
    tacet__client *nobody = connect_to(f, &f->authority, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        const tacet_status status = tacet__client_request(foreign, &answer, "GET", "/", NULL, NULL);
        assert_true(status != TACET_OK || strstr(answer.body, "cert=-") != NULL);
        assert_ok(tacet__client_request(nobody, &answer, "GET", "/", NULL, NULL));
        assert_string_equal(answer.body, "GET / bearer=- cert=- body=");
        assert_ok(tacet__client_request(client, &answer, "GET", "/", NULL, NULL));
        assert_string_equal(answer.body, "GET / bearer=- cert=modeler body=");
    }
    tacet__client_close(nobody);
    tacet__client_close(foreign);
    tacet__client_close(client);
}

static void test_untrusted_server(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__answer answer;
    tacet__server_defaults(&settings);
    start(f, &f->server_pem, &settings);
    tacet__client *client = connect_to(f, &f->foreign, "secret", NULL);
    assert_status(tacet__client_request(client, &answer, "GET", "/", NULL, NULL), TACET_DENIED);
    tacet__client_close(client);
    assert_int_equal(atomic_load(&f->handled), 0);
}

static void test_expired_server(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__answer answer;
    tacet__server_defaults(&settings);
    start(f, &f->expired, &settings);
    tacet__client *client = connect_to(f, &f->authority, "secret", NULL);
    assert_status(tacet__client_request(client, &answer, "GET", "/", NULL, NULL), TACET_DENIED);
    tacet__client_close(client);
}

static void test_large_body_is_refused(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__answer answer;
    tacet__server_defaults(&settings);
    start(f, &f->server_pem, &settings);
    char *body = malloc(settings.most_body + 2);
    memset(body, ' ', settings.most_body + 1);
    body[settings.most_body + 1] = '\0';
    tacet__client *client = connect_to(f, &f->authority, "secret", NULL);
    assert_ok(tacet__client_request(client, &answer, "POST", "/", body, NULL));
    assert_int_equal(answer.status, 413);
    assert_int_equal(atomic_load(&f->handled), 0);
    body[settings.most_body] = '\0'; /* at the limit: accepted */
    assert_ok(tacet__client_request(client, &answer, "POST", "/", body, NULL));
    assert_int_equal(answer.status, 200);
    free(body);
    tacet__client_close(client);
}

/* One that alone is more than all may hold, in one piece or in several. */
static void test_held_bodies(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__answer answer;
    tacet__server_defaults(&settings);
    const size_t most = settings.most_body / 2;
    settings.most_held = most;
    start(f, &f->server_pem, &settings);
    char *body = malloc(2 * most + 2);
    tacet__client *client = connect_to(f, &f->authority, "secret", NULL);
    const size_t sizes[] = {1, most, most + 1, most, 2 * most, most, 2 * most + 1, most}; /* known from the first on */
    const long expected[] = {200, 200, 503, 200, 503, 200, 413, 200};
    int good = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(body, ' ', sizes[i]);
        body[sizes[i]] = '\0';
        assert_ok(tacet__client_request(client, &answer, "POST", "/", body, NULL));
        assert_int_equal(answer.retry_after, expected[i] == 503 ? 1 : 0);
        assert_int_equal(answer.status, expected[i]);
        good += answer.status == 200;
    }
    assert_int_equal(atomic_load(&f->handled), good);
    free(body);
    tacet__client_close(client);
}

static void test_rate_limit(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__answer answer;
    tacet__server_defaults(&settings);
    settings.rate = 1e-6;
    settings.burst = 3;
    start(f, &f->server_pem, &settings);
    tacet__client *client = connect_to(f, &f->authority, "secret", NULL);
    for (int i = 0; i < 5; i++) {
        assert_ok(tacet__client_request(client, &answer, "GET", "/", NULL, NULL));
        assert_int_equal(answer.status, i < 3 ? 200 : 429);
        assert_int_equal(answer.retry_after, i < 3 ? 0 : 1);
    }
    tacet__client_close(client);
    assert_int_equal(atomic_load(&f->handled), 3);
}

static int plain_socket(unsigned port) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void test_plain_http_gets_nothing(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    char answer[256];
    tacet__server_defaults(&settings);
    start(f, &f->server_pem, &settings);
    const int fd = plain_socket(tacet__server_port(f->server));
    const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    const ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
    answer[got > 0 ? got : 0] = '\0';
    assert_null(strstr(answer, "HTTP/1.1 200"));
    assert_int_equal(atomic_load(&f->handled), 0);
    (void)close(fd);
}

/* Silent connections by the hundred do not keep others out. */
static void test_slow_connections(void **state) {
    enum { SLOW = 1000 };
    static int slow[SLOW];
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__answer answer;
    tacet__server_defaults(&settings);
    settings.idle_seconds = 60;
    start(f, &f->server_pem, &settings);
    for (int i = 0; i < SLOW; i++) {
        slow[i] = plain_socket(tacet__server_port(f->server));
    }
    tacet__client *client = connect_to(f, &f->authority, "secret", NULL);
    assert_ok(tacet__client_request(client, &answer, "GET", "/", NULL, NULL));
    assert_int_equal(answer.status, 200);
    tacet__client_close(client);
    for (int i = 0; i < SLOW; i++) {
        (void)close(slow[i]);
    }
}

static void test_bad_settings(void **state) {
    fixture *f = *state;
    tacet__server_settings settings;
    tacet__server *server = NULL;
    tacet__client *client = NULL;
    tacet__client_settings ask;
    tacet_error err = {0};
    tacet__server_defaults(&settings);
    settings.certificate = f->server_pem.certificate;
    settings.key = f->client_pem.key; /* does not fit */
    assert_status(tacet__server_start(&server, &settings, &err), TACET_INVALID);
    assert_null(server);
    settings.listen = "nonsense";
    assert_status(tacet__server_start(&server, &settings, NULL), TACET_INVALID);
    settings.key = f->server_pem.key;
    static const char *const NO_PORTS[] = {"127.0.0.1:99999", "127.0.0.1:65536", "127.0.0.1:-1",   "127.0.0.1:+80",
                                           "127.0.0.1: 80",   "127.0.0.1:",      "127.0.0.1:http", "127.0.0.1:8443x"};
    for (size_t i = 0; i < sizeof NO_PORTS / sizeof *NO_PORTS; i++) {
        settings.listen = NO_PORTS[i];
        tacet_error_clear(&err);
        assert_status(tacet__server_start(&server, &settings, &err), TACET_INVALID);
        assert_null(server);
        assert_non_null(strstr(err.message, "1 to 65535"));
    }
    tacet__client_defaults(&ask);
    ask.url = "http://127.0.0.1:1";
    assert_status(tacet__client_open(&client, &ask, NULL), TACET_INVALID);
    assert_null(client);
}

static void test_tokens(void **state) {
    char token[TACET__TOKEN_TEXT], other[TACET__TOKEN_TEXT], hash[TACET__TOKEN_HASH];
    tacet__token_make(token);
    tacet__token_make(other);
    tacet__token_hash(hash, token);
    assert_int_equal(strlen(token), TACET__TOKEN_TEXT - 1);
    assert_true(tacet__token_matches(hash, token));
    assert_false(tacet__token_matches(hash, other));
    assert_false(tacet__token_matches(hash, NULL));
    assert_false(tacet__token_matches(hash, hash));
    assert_false(tacet__token_matches("", token));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_certificates, setup, teardown),
        cmocka_unit_test_setup_teardown(test_untrusted_server, setup, teardown),
        cmocka_unit_test_setup_teardown(test_expired_server, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_body_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_held_bodies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rate_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain_http_gets_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_connections, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_settings, setup, teardown),
        cmocka_unit_test(test_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
