/* SPDX-License-Identifier: Apache-2.0 */
/* http_fixture.h - an HTTPS server on loopback with an authority of its own, and clients of it. Each test sets what it
 * wants of `settings`, then starts the server. */
#pragma once

#include "io/http/client.h"
#include "io/http/pki.h"
#include "io/http/server.h"
#include "support/test.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct fixture {
    tacet__pem authority, first, second; /* two certificates of the same server */
    tacet__server_settings settings;
    tacet__server *server;
    char folder[256];
    char url[64];
    atomic_int handled;
} fixture;

/* Of each program its own. */
static void handler(void *user, const tacet__request *request, tacet__response *response);

static void start_as(fixture *f, const tacet__pem *pem) {
    f->settings.certificate = pem->certificate;
    f->settings.key = pem->key;
    f->settings.handler = handler;
    f->settings.user = f;
    assert_ok(tacet__server_start(&f->server, &f->settings, NULL));
    (void)snprintf(f->url, sizeof f->url, "https://127.0.0.1:%u", tacet__server_port(f->server));
}

static void start(fixture *f) {
    start_as(f, &f->first);
}

static void issue(const fixture *f, tacet__pem *out, const char *name, int days) {
    static const char *const HOSTS[] = {"localhost", "127.0.0.1", "::1"};
    assert_ok(tacet__pki_issue(out, &f->authority, name, TACET__PKI_SERVER, HOSTS, 3, days, NULL));
}

static int setup(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    assert_ok(tacet__pki_authority(&f.authority, "study", 30, NULL));
    issue(&f, &f.first, "first", 30);
    issue(&f, &f.second, "second", 30);
    tacet__server_defaults(&f.settings);
    (void)snprintf(f.folder, sizeof f.folder, "%s", test_mkdir());
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    tacet__server_stop(f->server);
    tacet__pem_free(&f->authority);
    tacet__pem_free(&f->first);
    tacet__pem_free(&f->second);
    test_rmdir(f->folder);
    return 0;
}

static const char *file_of(const fixture *f, const char *name, const char *text) {
    static char paths[3][512];
    static unsigned turn;
    char *path = paths[turn++ % 3];
    (void)snprintf(path, sizeof paths[0], "%s/%s", f->folder, name);
    test_write(path, text);
    return path;
}

/* A client that trusts this authority; `own`: its certificate, or NULL. */
static tacet__client *connect_as(const fixture *f, const tacet__pem *authority, const char *token,
                                 const tacet__pem *own) {
    tacet__client_settings settings;
    tacet__client *client = NULL;
    tacet__client_defaults(&settings);
    settings.url = f->url;
    settings.token = token;
    settings.seconds = 5;
    settings.authority = file_of(f, "ca.pem", authority->certificate);
    settings.certificate = own != NULL ? file_of(f, "own.pem", own->certificate) : NULL;
    settings.key = own != NULL ? file_of(f, "own.key", own->key) : NULL;
    assert_ok(tacet__client_open(&client, &settings, NULL));
    return client;
}

static tacet__client *connect_to(const fixture *f, const char *token) {
    return connect_as(f, &f->authority, token, NULL);
}

static int plain_socket(const fixture *f) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)tacet__server_port(f->server)),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}
