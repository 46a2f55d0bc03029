/* SPDX-License-Identifier: Apache-2.0 */
/* test_limits.c - what strangers can take from an HTTPS server: places, seconds, requests; and what is refused as
 * ambiguous. */
#include "http_fixture.h"

#include <dlfcn.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Knows one token. /open needs none; /big is more than a socket takes. */
static void handler(void *user, const tacet__request *request, tacet__response *response) {
    fixture *f = user;
    atomic_fetch_add(&f->handled, 1);
    const bool known = request->bearer != NULL && strncmp(request->bearer, "good", 4) == 0;
    const size_t size = strcmp(request->path, "/big") == 0 ? (size_t)16 << 20 : 2;
    request->exchange->known = known;
    response->status = known || strcmp(request->path, "/open") == 0 ? 200 : 401;
    response->body = calloc(1, size);
    assert_non_null(response->body);
    memcpy(response->body, "{}", 2);
    response->body_size = size;
}

static long get(const fixture *f, const char *token, const char *path) {
    tacet__answer answer = {0};
    tacet__client *client = connect_to(f, token);
    const tacet_status status = tacet__client_request(client, &answer, "GET", path, NULL, NULL);
    tacet__client_close(client);
    return status == TACET_OK ? answer.status : -1;
}

/* --- TLS by hand, to send what no client would -------------------------------------------------------------------- */

typedef struct wire {
    int fd;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
} wire;

static void wire_open(wire *w, const fixture *f, const char *priorities) {
    w->fd = plain_socket(f);
    assert_int_equal(gnutls_certificate_allocate_credentials(&w->credentials), 0);
    assert_int_equal(gnutls_init(&w->session, GNUTLS_CLIENT), 0);
    assert_int_equal(gnutls_priority_set_direct(w->session, priorities != NULL ? priorities : "NORMAL", NULL), 0);
    assert_int_equal(gnutls_credentials_set(w->session, GNUTLS_CRD_CERTIFICATE, w->credentials), 0);
    gnutls_transport_set_int(w->session, w->fd);
    const struct timeval most = {.tv_sec = 5};
    (void)setsockopt(w->fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
}

static bool wire_shake(const wire *w) {
    int code = 0;
    do {
        code = gnutls_handshake(w->session);
    } while (code == GNUTLS_E_INTERRUPTED);
    return code == 0;
}

static void wire_begin(wire *w, const fixture *f) {
    wire_open(w, f, NULL);
    assert_true(wire_shake(w));
}

static void wire_send(const wire *w, const char *bytes, size_t size) {
    for (size_t sent = 0; sent < size;) {
        const ssize_t more = gnutls_record_send(w->session, bytes + sent, size - sent);
        assert_true(more > 0);
        sent += (size_t)more;
    }
}

static void wire_close(wire *w) {
    gnutls_deinit(w->session);
    gnutls_certificate_free_credentials(w->credentials);
    (void)close(w->fd);
}

/* What comes back until the connection ends or falls silent. */
static size_t wire_read(const wire *w, char *out, size_t size) {
    size_t used = 0;
    while (used + 1 < size) {
        const ssize_t got = gnutls_record_recv(w->session, out + used, size - used - 1);
        if (got == GNUTLS_E_INTERRUPTED) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        used += (size_t)got;
        out[used] = '\0';
        if (strstr(out, "}") != NULL) {
            break;
        }
    }
    out[used] = '\0';
    return used;
}

static void answered(const fixture *f, const char *request, size_t size, const char *with) {
    char answer[4096] = "";
    wire w;
    wire_begin(&w, f);
    wire_send(&w, request, size);
    (void)wire_read(&w, answer, sizeof answer);
    if (strncmp(answer, with, strlen(with)) != 0) {
        print_message("request:\n%s\nanswer:\n%s\n", request, answer);
    }
    assert_int_equal(strncmp(answer, with, strlen(with)), 0);
    wire_close(&w);
}

/* As problem+json, once: MHD's own answer to a missing Host has its header twice. */
TEST(test_long_requests_and_a_missing_host_are_problems) {
    static const char *const HOSTLESS = "GET /x HTTP/1.1\r\n\r\n";
    fixture *f = *state;
    char request[20000], answer[4096];
    const struct {
        unsigned status;
        size_t path, header;
    } LONG[] = {{400, 0, 0}, {414, 5000, 1}, {431, 1, 14000}};
    start(f);
    for (size_t i = 0; i < sizeof LONG / sizeof LONG[0]; i++) {
        wire w;
        OWN_TEXT char *begin = test_text("HTTP/1.1 %u ", LONG[i].status);
        (void)snprintf(request, sizeof request, "GET /%0*d HTTP/1.1\r\nHost: a\r\nX: %0*d\r\n\r\n", (int)LONG[i].path,
                       0, (int)LONG[i].header, 0);
        wire_begin(&w, f);
        const char *text = LONG[i].path == 0 ? HOSTLESS : request;
        wire_send(&w, text, strlen(text));
        (void)wire_read(&w, answer, sizeof answer);
        assert_int_equal(strncmp(answer, begin, strlen(begin)), 0);
        assert_non_null(strstr(answer, "application/problem+json"));
        assert_null(strstr(answer + 1, "HTTP/1.1 "));
        wire_close(&w);
    }
}

/* What the HTTP library refuses before a request is one: a page of its own, and the connection ends. */
TEST(test_what_is_no_request_is_refused_and_closed) {
    fixture *f = *state;
    static char request[50000], answer[4096];
    const char *const BEGINS[] = {"HTTP/1.1 505 ", "HTTP/1.1 431 "};
    start(f);
    for (size_t i = 0; i < 2; i++) {
        wire w;
        (void)snprintf(request, sizeof request,
                       i == 0 ? "GET /x HTTP/2.7\r\nHost: a\r\n\r\n" : "GET /x HTTP/1.1\r\nX: %0*d", 48000, 0);
        wire_begin(&w, f);
        wire_send(&w, request, strlen(request));
        (void)wire_read(&w, answer, sizeof answer);
        assert_int_equal(strncmp(answer, BEGINS[i], strlen(BEGINS[i])), 0);
        while (wire_read(&w, answer, sizeof answer) > 0) {
        }
        wire_close(&w);
    }
}

static void more_memory(int signal) {
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    (void)signal;
    (void)setrlimit(RLIMIT_AS, &none); /* NOLINT(bugprone-signal-handler,cert-sig30-c): a system call, nothing more */
}

/* GMP, which TLS computes with, would end the process. */
TEST(test_a_handshake_waits_for_memory) {
    enum { LARGE = 64 << 20 };
    fixture *f = *state;
    void *(*allocate)(size_t) = NULL;
    int ended = 0;
    start(f);
    void *found = dlsym(RTLD_DEFAULT, "__gmp_get_memory_functions");
    void (*functions_of)(void *(**)(size_t), void *, void *) = NULL;
    memcpy(&functions_of, &found, sizeof functions_of);
    assert_non_null(functions_of);
    functions_of(&allocate, NULL, NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit little = {1 << 20, RLIM_INFINITY};
        const struct itimerval soon = {.it_value = {.tv_usec = 100000}};
        (void)signal(SIGALRM, more_memory);
        (void)setrlimit(RLIMIT_AS, &little);
        (void)setitimer(ITIMER_REAL, &soon, NULL);
        _exit(allocate(LARGE) != NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
}

/* Two readers could take each of these for different requests. '@' stands for a NUL. */
TEST(test_ambiguous_requests_are_refused) {
    static const char *const WRONG[] = {
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}",
        "GET /x HTTP/1.1\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /x%00y HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /x%0ay HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /x\r\nHost: a\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a \rX: b\r\n\r\n",
        "GET /x HTTP/1.1\nHost: a\n\n",
        "POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /x@y HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /x@ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /x?a=b@c HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET@/x /x HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /x HTTP/1.1@x\r\nHost: a\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked@x\r\n\r\n0\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost@: a\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a@b\r\nX: b\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nX:@b\r\n\r\n",
    };
    fixture *f = *state;
    start(f);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        char bytes[256];
        const size_t size = strlen(WRONG[i]);
        assert_true(size <= sizeof bytes);
        for (size_t c = 0; c < size; c++) {
            bytes[c] = WRONG[i][c] == '@' ? '\0' : WRONG[i][c];
        }
        answered(f, bytes, size, "HTTP/1.1 400");
    }
    assert_int_equal(atomic_load(&f->handled), 0);
    tacet__server_counts counts;
    tacet__server_count(f->server, &counts);
    assert_true(counts.malformed >= 7); /* MHD refuses some by itself */
    /* And good ones are answered. */
    static const char ODD[] = "GET  /x?a=%41&b HTTP/1.1\r\nHost:a \t\r\nCookie: a=b; c=\"d\"\r\nX:\r\nY: \t z\r\n\r\n";
    answered(f, ODD, sizeof ODD - 1, "HTTP/1.1 401");
    assert_int_equal(get(f, "good", "/x"), 200);
}

/* 4,100 silent connections from one address, in a server of 300 places, of which the address may have 200. */
TEST(test_silent_connections_lock_nobody_out) {
    enum { SILENT = 4100, KEPT = 600 };
    static int fds[KEPT];
    fixture *f = *state;
    tacet__server_counts counts;
    f->settings.most_connections = 300;
    f->settings.most_of_address = 200;
    start(f);
    tacet__client *old = connect_to(f, "good");
    tacet__answer answer;
    assert_ok(tacet__client_request(old, &answer, "GET", "/x", NULL, NULL));
    for (int i = 0; i < SILENT; i++) {
        if (i >= KEPT) {
            (void)close(fds[i % KEPT]);
        }
        fds[i % KEPT] = plain_socket(f);
    }
    /* One that is slow to shake hands, on a machine with other work, may be shown out with the silent ones, and comes
     * again. */
    double begin = 0;
    long status = -1;
    for (int tries = 0; tries < 5 && status != 200; tries++) {
        begin = now();
        status = get(f, NULL, "/v1/live");
    }
    assert_int_equal(status, 200);
    const double seconds = now() - begin;
    print_message("/v1/live in %.3f s beside %d silent connections from its address\n", seconds, SILENT);
    assert_true(seconds < 3);
    /* One with a finished request was not shown out for them. */
    assert_ok(tacet__client_request(old, &answer, "GET", "/x", NULL, NULL));
    assert_int_equal(answer.status, 200);
    tacet__server_count(f->server, &counts);
    assert_true(counts.connections <= 300);
    assert_true(counts.evicted > 0);
    tacet__client_close(old);
    for (int i = 0; i < KEPT; i++) {
        (void)close(fds[i]);
    }
}

/* A byte now and then wins no time: neither before the first header, nor between two requests, nor in a body. */
TEST(test_trickling_ends_at_the_deadline) {
    static const char *const BEGINNINGS[] = {
        "GET /x HTTP/1.1\r\nHost: a\r\nX: ", "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\nGET /"};
    fixture *f = *state;
    f->settings.handshake_seconds = f->settings.body_seconds = f->settings.idle_seconds = 1;
    start(f);
    for (size_t i = 0; i < sizeof BEGINNINGS / sizeof BEGINNINGS[0]; i++) {
        wire w;
        wire_begin(&w, f);
        const double begin = now();
        ssize_t sent = gnutls_record_send(w.session, BEGINNINGS[i], strlen(BEGINNINGS[i]));
        while (sent > 0 && now() - begin < 8) {
            (void)usleep(100000);
            sent = gnutls_record_send(w.session, "a", 1);
        }
        assert_true(now() - begin < 3);
        wire_close(&w);
    }
}

/* A stranger's flood costs a known token nothing: it pays from its own bucket. */
TEST(test_strangers_drain_no_bucket_but_their_own) {
    fixture *f = *state;
    tacet__server_counts counts;
    tacet__answer answer;
    f->settings.address_rate = 1e-6;
    f->settings.address_burst = 20;
    start(f);
    assert_int_equal(get(f, "good", "/x"), 200); /* known from now on */
    for (int i = 0; i < 15; i++) {
        OWN_TEXT char *token = test_text("bad%d", i);
        assert_int_equal(get(f, token, "/x"), 401);
    }
    tacet__client *stranger = connect_to(f, NULL);
    while (tacet__client_request(stranger, &answer, "GET", "/x", NULL, NULL) == TACET_OK && answer.status == 401) {
    }
    assert_int_equal(answer.status, 429);
    assert_non_null(strstr(answer.body, "\"status\":429"));
    const int before = atomic_load(&f->handled);
    const double begin = now();
    for (int i = 0; i < 200; i++) {
        assert_int_equal(i % 50 == 0 ? get(f, "good", "/x") : 200, 200);
    }
    assert_true(now() - begin < 1);
    assert_int_equal(atomic_load(&f->handled), before + 4);
    /* Slowed, not refused: the probes of a balancer must not depend on what strangers do through it. */
    assert_int_equal(get(f, NULL, "/v1/live"), 200);
    tacet__server_count(f->server, &counts);
    assert_int_equal(counts.too_many, 1);
    tacet__client_close(stranger);
}

/* A text that nobody knows as a token is no token, also where none is needed. */
TEST(test_tokens_that_nobody_knows_win_no_rate) {
    enum { BURST = 20 };
    fixture *f = *state;
    tacet__answer answer = {0};
    int answered_well = 0;
    f->settings.address_rate = 1e-6;
    f->settings.address_burst = BURST;
    start(f);
    tacet__client *stranger = connect_to(f, "bad");
    while (answered_well < 2 * BURST &&
           tacet__client_request(stranger, &answer, "GET", "/open", NULL, NULL) == TACET_OK && answer.status == 200) {
        answered_well++;
    }
    assert_int_equal(answered_well, BURST);
    assert_int_equal(answer.status, 429);
    tacet__client_close(stranger);
}

/* Places are not kept by asking for much and reading nothing. */
TEST(test_who_does_not_read_locks_nobody_out) {
    enum { PLACES = 20 };
    static const char REQUEST[] = "GET /big HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n";
    fixture *f = *state;
    tacet__server_counts counts = {0};
    wire w[PLACES];
    f->settings.most_connections = f->settings.most_of_address = PLACES;
    start(f);
    for (size_t i = 0; i < PLACES; i++) {
        wire_begin(&w[i], f);
        wire_send(&w[i], REQUEST, sizeof REQUEST - 1);
    }
    while (atomic_load(&f->handled) < PLACES) {
        (void)usleep(10000);
    }
    const double begin = now();
    long status = -1;
    while (status != 200 && now() - begin < 5) {
        status = get(f, NULL, "/v1/live");
    }
    print_message("/v1/live in %.3f s beside %d that do not read\n", now() - begin, PLACES);
    assert_int_equal(status, 200);
    assert_true(now() - begin < 3);
    tacet__server_count(f->server, &counts);
    assert_true(counts.evicted > 0);
    for (size_t i = 0; i < PLACES; i++) {
        wire_close(&w[i]);
    }
}

static long post(tacet__client *client, size_t size) {
    tacet__answer answer = {0};
    char *body = calloc(1, size + 1);
    assert_non_null(body);
    memset(body, 'x', size);
    const tacet_status status = tacet__client_request(client, &answer, "POST", "/x", body, NULL);
    free(body);
    return status == TACET_OK ? answer.status : -1;
}

/* Nor is the room for bodies, by sending all but their end. */
TEST(test_bodies_without_end_lock_nobody_out) {
    enum { STALLED = 8, LARGE = 60000 };
    static const char HEAD[] = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 65000\r\n\r\n";
    static char part[LARGE];
    fixture *f = *state;
    wire w[STALLED];
    f->settings.most_held = (size_t)256 << 10;
    start(f);
    tacet__client *known = connect_to(f, "good");
    tacet__client *stranger = connect_to(f, NULL);
    assert_int_equal(post(known, 10), 200);
    for (size_t i = 0; i < STALLED; i++) {
        wire_begin(&w[i], f);
        wire_send(&w[i], HEAD, sizeof HEAD - 1);
        wire_send(&w[i], part, LARGE);
    }
    (void)usleep(200000);
    assert_int_equal(post(stranger, LARGE), 503);
    assert_int_equal(post(stranger, 1000), 401);
    assert_int_equal(post(known, LARGE), 200);
    tacet__client_close(known);
    tacet__client_close(stranger);
    for (size_t i = 0; i < STALLED; i++) {
        wire_close(&w[i]);
    }
}

TEST(test_a_second_server_on_the_port_is_refused) {
    fixture *f = *state;
    tacet__server *second = NULL;
    tacet_error err = {0};
    start(f);
    OWN_TEXT char *listen = test_text("127.0.0.1:%u", tacet__server_port(f->server));
    f->settings.listen = listen;
    assert_status(tacet__server_start(&second, &f->settings, &err), TACET_CONFLICT);
    assert_null(second);
    assert_non_null(strstr(err.message, listen));
    assert_int_equal(get(f, "good", "/x"), 200);
}

TEST(test_weak_tls_is_refused) {
    static const char *const WEAK[] = {
        "NONE:+VERS-TLS1.1:+AES-128-CBC:+SHA1:+ECDHE-ECDSA:+SIGN-ALL:+GROUP-ALL:+COMP-NULL",
        "NONE:+VERS-TLS1.2:+AES-128-CBC:+AES-256-CBC:+SHA1:+SHA256:+SHA384:+ECDHE-ECDSA:"
        "+SIGN-ALL:+GROUP-ALL:+COMP-NULL"};
    static const char *const GOOD[] = {"NORMAL:-VERS-ALL:+VERS-TLS1.2", "NORMAL:-VERS-ALL:+VERS-TLS1.3"};
    fixture *f = *state;
    wire w;
    start(f);
    for (size_t i = 0; i < 2; i++) {
        wire_open(&w, f, WEAK[i]);
        assert_false(wire_shake(&w));
        wire_close(&w);
        wire_open(&w, f, GOOD[i]);
        assert_true(wire_shake(&w));
        wire_close(&w);
    }
}

static void common_name(const fixture *f, char *out, size_t size) {
    wire w;
    unsigned count = 0;
    gnutls_x509_crt_t certificate = NULL;
    wire_begin(&w, f);
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(w.session, &count);
    assert_non_null(chain);
    assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
    assert_int_equal(gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER), 0);
    assert_int_equal(gnutls_x509_crt_get_dn_by_oid(certificate, "2.5.4.3", 0, 0, out, &size), 0);
    gnutls_x509_crt_deinit(certificate);
    wire_close(&w);
}

TEST(test_a_certificate_is_renewed_without_a_stop) {
    fixture *f = *state;
    tacet__answer answer;
    char name[64];
    start(f);
    tacet__client *old = connect_to(f, "good");
    assert_ok(tacet__client_request(old, &answer, "GET", "/x", NULL, NULL));
    assert_status(tacet__server_renew(f->server, f->second.certificate, f->first.key, NULL), TACET_INVALID);
    common_name(f, name, sizeof name);
    assert_string_equal(name, "first");
    assert_ok(tacet__server_renew(f->server, f->second.certificate, f->second.key, NULL));
    common_name(f, name, sizeof name);
    assert_string_equal(name, "second");
    assert_ok(tacet__client_request(old, &answer, "GET", "/x", NULL, NULL)); /* as it was */
    tacet__client_close(old);
    for (int i = 0; i < 20; i++) { /* more often than there are generations: old ones go with their connections */
        tacet_status status = TACET_BUSY;
        for (int tries = 0; status == TACET_BUSY && tries < 100; tries++) {
            status = tacet__server_renew(f->server, f->second.certificate, f->second.key, NULL);
            (void)usleep(20000);
        }
        assert_ok(status);
    }
    assert_int_equal(get(f, "good", "/x"), 200);
}

TEST_EACH(setup, teardown)

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN);
    return test_main();
}
