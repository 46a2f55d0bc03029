/* SPDX-License-Identifier: Apache-2.0 */
/* test_http.c - server, client and certificates against each other on loopback. */
#include "http_fixture.h"

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

TEST(test_round_trip) {
    fixture *f = *state;
    tacet__answer answer;
    start(f);
    tacet__client *client = connect_to(f, "secret");
    assert_ok(tacet__client_request(client, &answer, "POST", "/v1/queries", "{\"row\":3}", NULL));
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "POST /v1/queries bearer=secret cert=- body={\"row\":3}");
    assert_ok(tacet__client_request(client, &answer, "GET", "/missing", NULL, NULL));
    assert_int_equal(answer.status, 404);
    tacet__client_close(client);
}

TEST(test_client_certificates) {
    fixture *f = *state;
    tacet__answer answer;
    tacet__pem own = {0}, other = {0}, foreign_own = {0};
    f->settings.client_ca = f->authority.certificate;
    start(f);
    assert_ok(tacet__pki_authority(&other, "other", 30, NULL));
    assert_ok(tacet__pki_issue(&own, &f->authority, "modeler", TACET__PKI_CLIENT, NULL, 0, 30, NULL));
    assert_ok(tacet__pki_issue(&foreign_own, &other, "modeler", TACET__PKI_CLIENT, NULL, 0, 30, NULL));
    tacet__client *client = connect_as(f, &f->authority, NULL, &own);
    assert_ok(tacet__client_request(client, &answer, "GET", "/", NULL, NULL));
    assert_string_equal(answer.body, "GET / bearer=- cert=modeler body=");
    /* Signed by another authority: no identity, though the name is the same. Each connection has its own, however often
     * it asks and whoever asked before. */
    tacet__client *foreign = connect_as(f, &f->authority, NULL, &foreign_own);
    tacet__client *nobody = connect_to(f, NULL);
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
    tacet__pem_free(&own);
    tacet__pem_free(&other);
    tacet__pem_free(&foreign_own);
}

/* Whom the client does not know, and whose certificate has ended. */
TEST(test_servers_that_are_not_trusted) {
    for (int expired = 0; expired < 2; expired++) {
        fixture *f = *state;
        tacet__answer answer;
        tacet__pem pem = {0};
        if (expired) {
            issue(f, &pem, "first", -3);
        } else {
            assert_ok(tacet__pki_authority(&pem, "other", 30, NULL));
        }
        start_as(f, expired ? &pem : &f->first);
        tacet__client *client = connect_as(f, expired ? &f->authority : &pem, "secret", NULL);
        assert_status(tacet__client_request(client, &answer, "GET", "/", NULL, NULL), TACET_DENIED);
        tacet__client_close(client);
        assert_int_equal(atomic_load(&f->handled), 0);
        tacet__server_stop(f->server);
        f->server = NULL;
        tacet__pem_free(&pem);
    }
}

TEST(test_large_body_is_refused) {
    fixture *f = *state;
    tacet__answer answer;
    start(f);
    char *body = malloc(f->settings.most_body + 2);
    memset(body, ' ', f->settings.most_body + 1);
    body[f->settings.most_body + 1] = '\0';
    tacet__client *client = connect_to(f, "secret");
    assert_ok(tacet__client_request(client, &answer, "POST", "/", body, NULL));
    assert_int_equal(answer.status, 413);
    assert_int_equal(atomic_load(&f->handled), 0);
    body[f->settings.most_body] = '\0'; /* at the limit: accepted */
    assert_ok(tacet__client_request(client, &answer, "POST", "/", body, NULL));
    assert_int_equal(answer.status, 200);
    free(body);
    tacet__client_close(client);
}

/* One that alone is more than all may hold, in one piece or in several. */
TEST(test_held_bodies) {
    fixture *f = *state;
    tacet__answer answer;
    const size_t most = f->settings.most_body / 2;
    f->settings.most_held = most;
    start(f);
    char *body = malloc(2 * most + 2);
    tacet__client *client = connect_to(f, "secret");
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

TEST(test_rate_limit) {
    fixture *f = *state;
    tacet__answer answer;
    f->settings.rate = 1e-6;
    f->settings.burst = 3;
    start(f);
    tacet__client *client = connect_to(f, "secret");
    for (int i = 0; i < 5; i++) {
        assert_ok(tacet__client_request(client, &answer, "GET", "/", NULL, NULL));
        assert_int_equal(answer.status, i < 3 ? 200 : 429);
        assert_int_equal(answer.retry_after, i < 3 ? 0 : 1);
    }
    tacet__client_close(client);
    assert_int_equal(atomic_load(&f->handled), 3);
}

TEST(test_plain_http_gets_nothing) {
    fixture *f = *state;
    char answer[256];
    start(f);
    const int fd = plain_socket(f);
    const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    const ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
    answer[got > 0 ? got : 0] = '\0';
    assert_null(strstr(answer, "HTTP/1.1 200"));
    assert_int_equal(atomic_load(&f->handled), 0);
    (void)close(fd);
}

TEST(test_bad_settings) {
    fixture *f = *state;
    tacet__server *server = NULL;
    tacet__client *client = NULL;
    tacet__client_settings ask;
    tacet_error err = {0};
    tacet__server_settings settings = f->settings;
    settings.certificate = f->first.certificate;
    settings.key = f->second.key; /* does not fit */
    assert_status(tacet__server_start(&server, &settings, &err), TACET_INVALID);
    assert_null(server);
    settings.listen = "nonsense";
    assert_status(tacet__server_start(&server, &settings, NULL), TACET_INVALID);
    settings.key = f->first.key;
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

TEST(test_tokens) {
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

TEST_EACH(setup, teardown)
