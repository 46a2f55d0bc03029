/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - HTTPS over libmicrohttpd and GnuTLS: requests, their limits, and what becomes of them. Connections:
 * acceptor.c; what a request may look like: request_check.c. Ring: io. Differs from a plain MHD server: plain HTTP is
 * refused by the TLS layer; a declared body above the limit is answered before a byte of it is read; client
 * certificates are verified here, since MHD only asks for them; what is ambiguous is refused. Cost: one polling loop
 * per thread; a slow connection costs its buffers, not a thread. */
#include "io/http/server_internal.h"

#include "core/clock.h"
#include "core/fail.h"
#include "core/memory.h"
#include "io/http/problem.h"
#include "io/http/wipe.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINGER_SECONDS = 1, SLOWED_MOST = 1000, SMALL_BODY = 4096 };
static const size_t DROPPED_MOST = (size_t)4 << 20; /* of a body that is not kept: beyond, the connection is cut */
static const double SLOWED_SECONDS = 1;
static const double IDENTITY_SECONDS = 10; /* a certificate that ends is good for so much longer on its connection */

void tacet__server_defaults(tacet__server_settings *settings) {
    *settings = (tacet__server_settings){.listen = "127.0.0.1:0",
                                         .most_body = 64 * 1024,
                                         .most_held = (size_t)64 << 20,
                                         .most_connections = 4000,
                                         .most_of_address = 1000,
                                         .handshake_seconds = 10,
                                         .body_seconds = 30,
                                         .idle_seconds = 60,
                                         .rate = 500,
                                         .burst = 1000,
                                         .address_rate = 200,
                                         .address_burst = 400,
                                         .threads = 2};
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

/* What a browser is told. Everything: do not guess types, do not say where you came from. Pages: scripts, styles and
 * requests are of this server alone, no page frames them, and text never becomes a script. */
static void guard(struct MHD_Response *out, const tacet__response *response) {
    static const char *const PAGE[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri "
         "'none'; "
         "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Permissions-Policy", "camera=(), microphone=(), geolocation=(), usb=()"},
        {"X-Frame-Options", "DENY"},
    };
    (void)MHD_add_response_header(out, "Strict-Transport-Security", "max-age=31536000");
    (void)MHD_add_response_header(out, "X-Content-Type-Options", "nosniff");
    (void)MHD_add_response_header(out, "Referrer-Policy", "no-referrer");
    (void)MHD_add_response_header(out, "Cross-Origin-Resource-Policy",
                                  response->origin != NULL ? "cross-origin" : "same-origin");
    if (response->origin != NULL) { /* no credentials: cookies are neither sent nor taken */
        (void)MHD_add_response_header(out, "Access-Control-Allow-Origin", response->origin);
        (void)MHD_add_response_header(out, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ORIGIN);
        (void)MHD_add_response_header(out, "Access-Control-Allow-Methods", "GET, POST");
        (void)MHD_add_response_header(out, "Access-Control-Allow-Headers", "content-type");
        (void)MHD_add_response_header(out, "Access-Control-Max-Age", "600");
    }
    for (size_t i = 0; response->page && i < sizeof PAGE / sizeof PAGE[0]; i++) {
        (void)MHD_add_response_header(out, PAGE[i][0], PAGE[i][1]);
    }
    if (response->encoding != NULL) {
        (void)MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_ENCODING, response->encoding);
        (void)MHD_add_response_header(out, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    }
    if (response->cookie[0] != '\0') {
        (void)MHD_add_response_header(out, MHD_HTTP_HEADER_SET_COOKIE, response->cookie);
    }
}

static enum MHD_Result reply(const tacet__upload *up, tacet__response *response, bool close_after) {
    struct MHD_Response *out = NULL;
    double bytes = (double)response->body_size;
    if (response->file >= 0) {
        struct stat st;
        if (fstat(response->file, &st) == 0) {
            bytes = (double)st.st_size;
            out = MHD_create_response_from_fd64((uint64_t)st.st_size, response->file); /* closes it */
        }
        if (out == NULL) {
            (void)close(response->file);
            return MHD_NO;
        }
    } else {
        out = MHD_create_response_from_buffer_with_free_callback(response->body_size, response->body, tacet__wipe_free);
        if (out == NULL) {
            tacet__wipe_free(response->body);
            return MHD_NO;
        }
    }
    (void)MHD_add_response_header(out, MHD_HTTP_HEADER_CONTENT_TYPE,
                                  response->content_type != NULL ? response->content_type : "application/json");
    (void)MHD_add_response_header(out, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)MHD_add_response_header(out, "X-Request-Id", up->id);
    guard(out, response);
    if (close_after) {
        (void)MHD_add_response_header(out, MHD_HTTP_HEADER_CONNECTION, "close");
    }
    if (response->retry_after > 0) {
        char seconds[16];
        (void)snprintf(seconds, sizeof seconds, "%u", response->retry_after);
        (void)MHD_add_response_header(out, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    }
    tacet__peer_sending(up->server->peers, up->peer, tacet__now(), bytes);
    const enum MHD_Result result =
        MHD_queue_response(up->connection, response->status != 0 ? response->status : 500, out);
    MHD_destroy_response(out);
    return result;
}

static enum MHD_Result refuse(const tacet__upload *up, unsigned status, const char *detail, unsigned retry_after,
                              bool close_after) {
    tacet__response response = {.file = -1, .retry_after = retry_after};
    tacet__problem(&response, status, NULL, detail);
    return response.body != NULL ? reply(up, &response, close_after) : MHD_NO;
}

static void count(tacet__server *server, uint64_t *what) {
    (void)pthread_mutex_lock(&server->lock);
    (*what)++;
    (void)pthread_mutex_unlock(&server->lock);
}

static enum MHD_Result refuse_upload(tacet__server *server, const tacet__upload *up) {
    switch (up->refused) {
    case MHD_HTTP_BAD_REQUEST:
    case MHD_HTTP_URI_TOO_LONG:
    case MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE:
        count(server, &server->counts.malformed);
        return refuse(up, up->refused, up->why, 0, true);
    case MHD_HTTP_CONTENT_TOO_LARGE:
        count(server, &server->counts.too_large);
        return refuse(up, up->refused, "the body is too large", 0, false);
    default:
        count(server, &server->counts.overloaded);
        return refuse(up, up->refused, "too many requests are being read", 1, false);
    }
}

/* --- whose request it is ------------------------------------------------------------------------------------------ */

/* The common name of the client's certificate, when it sent one that the configured authority signed. */
static bool client_name(struct MHD_Connection *connection, char name[TACET__NAME_BYTES]) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info == NULL || info->tls_session == NULL) {
        return false;
    }
    gnutls_session_t session = info->tls_session;
    unsigned problems = 0;
    unsigned count_of = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count_of);
    if (chain == NULL || count_of == 0 || gnutls_certificate_verify_peers2(session, &problems) != 0 || problems != 0) {
        return false;
    }
    gnutls_x509_crt_t certificate = NULL;
    if (gnutls_x509_crt_init(&certificate) != 0) {
        return false;
    }
    size_t size = TACET__NAME_BYTES;
    const bool ok = gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER) == 0 &&
                    gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size) == 0;
    gnutls_x509_crt_deinit(certificate);
    return ok;
}

/* The same; a chain is verified once for the requests of some seconds, since that costs as much as a request. */
static bool connection_name(tacet__upload *up) {
    tacet__identity *known = tacet__peer_identity(up->peer);
    const double now = tacet__now();
    if (known == NULL) {
        return client_name(up->connection, up->name);
    }
    if (now >= known->until) {
        known->certified = client_name(up->connection, known->name);
        known->until = now + IDENTITY_SECONDS;
    }
    memcpy(up->name, known->name, sizeof up->name);
    return known->certified;
}

/* Whose it says it is: known from its certificate, or because its token was known before. */
static void see_whose(tacet__server *server, tacet__upload *up) {
    static const char BEARER[] = "Bearer ";
    const char *text = MHD_lookup_connection_value(up->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    if (text != NULL && strncasecmp(text, BEARER, sizeof BEARER - 1) == 0) {
        up->bearer = text + sizeof BEARER - 1;
        up->token = tacet__buckets_key(&server->tokens, up->bearer, strlen(up->bearer));
    }
    up->certified = server->client_certificates && connection_name(up);
    if (up->certified) {
        up->token = tacet__buckets_key(&server->tokens, up->name, strlen(up->name)); /* whatever stands beside it */
    }
    (void)pthread_mutex_lock(&server->lock);
    up->familiar = up->certified || (up->token != 0 && tacet__buckets_known(&server->tokens, up->token));
    (void)pthread_mutex_unlock(&server->lock);
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

static tacet__peer *peer_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static enum MHD_Result first_look(tacet__server *server, struct MHD_Connection *connection, tacet__upload *up,
                                  const char *url, const char *method, const char *version) {
    up->peer = peer_of(connection);
    up->seen = true;
    tacet__peer_body(server->peers, up->peer, tacet__now());
    up->why = tacet__http_check_request(up, url, method, version);
    if (up->why != NULL) {
        return refuse_upload(server, up); /* whatever follows is not read */
    }
    see_whose(server, up);
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const unsigned long long size = length != NULL ? strtoull(length, NULL, 10) : 0;
    up->small = length != NULL && size <= SMALL_BODY;
    if (size <= server->settings.most_body) {
        return MHD_YES;
    }
    /* An answer sent while the client still writes may be lost in a reset: a body that is not huge is read to its end
     * and thrown away first. */
    up->refused = MHD_HTTP_CONTENT_TOO_LARGE;
    if (size > DROPPED_MOST) {
        return refuse_upload(server, up);
    }
    return MHD_YES;
}

static void forget_body(tacet__server *server, tacet__upload *up) {
    tacet__wipe_free(up->body); /* what a client sent may be private */
    (void)atomic_fetch_sub(&server->held, up->size);
    up->body = NULL;
    up->size = up->capacity = 0;
}

/* 0 when the bytes were kept. Bodies are read before their tokens are looked up, so what all of them may hold together
 * must not grow with the number of connections. Half of it is closed to large bodies of strangers, who could otherwise
 * send all but the end of some, and nobody else's would be read; as many small ones as there are places fit in there.
 */
static unsigned keep_piece(tacet__server *server, tacet__upload *up, const char *data, size_t size) {
    const size_t most = server->settings.most_held / (up->familiar || up->small ? 1 : 2);
    if (size > server->settings.most_body - up->size) {
        return MHD_HTTP_CONTENT_TOO_LARGE;
    }
    const size_t before = atomic_fetch_add(&server->held, size);
    if (before > most || size > most - before ||
        /* One byte more, for the NUL that closes the body. */
        !tacet__grow((void **)&up->body, &up->capacity, up->size + size + 1, 1)) {
        (void)atomic_fetch_sub(&server->held, size);
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    memcpy(up->body + up->size, data, size);
    up->size += size;
    up->body[up->size] = '\0';
    return 0;
}

/* False when the connection is to be cut: a body of undeclared length can only be answered once it was read, and one
 * that does not end is not read for ever. */
static bool collect(tacet__server *server, tacet__upload *up, const char *data, size_t size) {
    if (up->refused == 0) {
        up->refused = keep_piece(server, up, data, size);
        if (up->refused == 0) {
            return true;
        }
        forget_body(server, up);
    }
    up->dropped += size;
    return up->dropped <= DROPPED_MOST;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* On the connection's own thread, inside the handler. */
static void suspend(tacet__exchange *self) {
    tacet__upload *up = (tacet__upload *)self;
    up->suspended = true;
    MHD_suspend_connection(up->connection);
}

/* A token that the handler knows has a bucket of its own from then on. Where none is needed, any text would do. */
static void learn_token(tacet__server *server, const tacet__upload *up, unsigned status) {
    if (up->token != 0) {
        (void)pthread_mutex_lock(&server->lock);
        if (status == MHD_HTTP_UNAUTHORIZED) {
            tacet__buckets_forget(&server->tokens, up->token);
        } else if (up->exchange.known && !tacet__buckets_known(&server->tokens, up->token)) {
            (void)tacet__buckets_take(&server->tokens, up->token, server->settings.rate, server->settings.burst,
                                      tacet__now());
        }
        (void)pthread_mutex_unlock(&server->lock);
    }
}

/* On any thread. MHD's own lock in resume orders what is written here before what the connection's thread then reads;
 * after it the upload may be gone. */
static void answer_late(tacet__exchange *self, const tacet__response *response) {
    tacet__upload *up = (tacet__upload *)self;
    up->late = *response;
    up->answered = true;
    learn_token(up->server, up, response->status);
    (void)pthread_mutex_lock(&up->server->lock);
    up->server->late++;
    (void)pthread_mutex_unlock(&up->server->lock);
    MHD_resume_connection(up->connection);
}

static const char *argument(const void *peer, const char *name) {
    return MHD_lookup_connection_value((struct MHD_Connection *)(size_t)peer, MHD_GET_ARGUMENT_KIND, name);
}

static const char *header(const void *peer, const char *name) {
    return MHD_lookup_connection_value((struct MHD_Connection *)(size_t)peer, MHD_HEADER_KIND, name);
}

static const char *cookie(const void *peer, const char *name) {
    return MHD_lookup_connection_value((struct MHD_Connection *)(size_t)peer, MHD_COOKIE_KIND, name);
}

static enum MHD_Result reply_or_excuse(const tacet__upload *up, tacet__response *response) {
    if (response->file < 0 && response->body == NULL) {
        return refuse(up, response->status >= 400 ? response->status : 500, "no answer could be made", 0, false);
    }
    return reply(up, response, false);
}

typedef enum verdict { GO, SLOW, REFUSE } verdict;

static uint64_t address_key(const tacet__server *server, const tacet__upload *up) {
    static const unsigned char NOBODY[TACET__ADDRESS_BYTES] = {0};
    return tacet__buckets_key(&server->addresses, up->peer != NULL ? tacet__peer_address(up->peer) : NOBODY,
                              TACET__ADDRESS_BYTES);
}

/* A known token pays from its own bucket; everybody else from that of the address. */
static verdict within_rate(tacet__server *server, const tacet__upload *up) {
    const tacet__server_settings *s = &server->settings;
    const double now = tacet__now();
    verdict v = GO;
    (void)pthread_mutex_lock(&server->lock);
    if (up->token != 0 && tacet__buckets_known(&server->tokens, up->token)) {
        v = tacet__buckets_take(&server->tokens, up->token, s->rate, s->burst, now) ? GO : REFUSE;
    } else if (!up->slowed) {
        v = tacet__buckets_take(&server->addresses, address_key(server, up), s->address_rate, s->address_burst, now)
                ? GO
                : SLOW;
        v = v == SLOW && server->slowed_count >= SLOWED_MOST ? REFUSE : v;
    }
    (void)pthread_mutex_unlock(&server->lock);
    return v;
}

/* Over the rate of its address: the answer comes a second later, so that a flood over some connections gets as many
 * answers a second as it has connections, and costs next to nothing. */
static bool slow_down(tacet__server *server, tacet__upload *up) {
    up->slowed = true;
    up->due = tacet__now() + SLOWED_SECONDS;
    (void)pthread_mutex_lock(&server->lock);
    const bool serving = !atomic_load(&server->end); /* nothing may be suspended when the threads are stopped */
    if (serving) {
        MHD_suspend_connection(up->connection);
        up->next = NULL;
        *(server->slowed_last != NULL ? &server->slowed_last->next : &server->slowed) = up;
        server->slowed_last = up;
        server->slowed_count++;
    }
    (void)pthread_mutex_unlock(&server->lock);
    return serving;
}

void tacet__http_release(tacet__server *server, double now, bool all) {
    for (;;) {
        (void)pthread_mutex_lock(&server->lock);
        tacet__upload *up = server->slowed;
        if (up != NULL && (all || now >= up->due)) {
            server->slowed = up->next;
            server->slowed_last = server->slowed != NULL ? server->slowed_last : NULL;
            server->slowed_count--;
        } else {
            up = NULL;
        }
        (void)pthread_mutex_unlock(&server->lock);
        if (up == NULL) {
            return;
        }
        MHD_resume_connection(up->connection);
    }
}

static bool is_probe(const char *url, const char *method) {
    return (strcmp(url, "/v1/live") == 0 || strcmp(url, "/v1/ready") == 0) && strcmp(method, "GET") == 0;
}

static enum MHD_Result say_alive(const tacet__upload *up) {
    tacet__response response = {.status = 200, .file = -1, .body = strdup("{\"status\":\"live\"}\n")};
    response.body_size = response.body != NULL ? strlen(response.body) : 0;
    return response.body != NULL ? reply(up, &response, false) : MHD_NO;
}

static enum MHD_Result dispatch(tacet__server *server, struct MHD_Connection *connection, const char *url,
                                const char *method, tacet__upload *up) {
    tacet__request request = {.method = method,
                              .path = url,
                              .bearer = up->bearer,
                              .certificate = up->certified ? up->name : NULL,
                              .argument = argument,
                              .header = header,
                              .cookie = cookie,
                              .peer = connection,
                              .address = address_key(server, up),
                              .exchange = &up->exchange};
    tacet__response response = {.file = -1};
    memcpy(request.id, up->id, sizeof request.id);
    if (up->peer != NULL) {
        tacet__address_text(request.from, tacet__peer_address(up->peer));
    }
    const verdict v = within_rate(server, up);
    if (v == SLOW && slow_down(server, up)) {
        return MHD_YES;
    }
    if (v == REFUSE || (up->slowed && !is_probe(url, method))) {
        count(server, &server->counts.too_many);
        return refuse(up, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests", 1, false);
    }
    if (strcmp(url, "/v1/live") == 0 && strcmp(method, "GET") == 0) {
        return say_alive(up);
    }
    request.body = up->body != NULL ? up->body : "";
    request.body_size = up->size;
    server->settings.handler(server->settings.user, &request, &response);
    if (up->suspended) {
        return MHD_YES;
    }
    learn_token(server, up, response.status);
    return reply_or_excuse(up, &response);
}

void *tacet__http_begin(void *user, const char *target, struct MHD_Connection *connection) {
    tacet__upload *up = TACET__ZALLOC(tacet__upload, 1);
    if (up != NULL) {
        *up = (tacet__upload){.exchange = {suspend, answer_late, false},
                              .server = user,
                              .connection = connection,
                              .target = target,
                              .target_size = strlen(target),
                              .late = {.file = -1}};
        /* At random: numbers in a row would tell a client how many others asked. */
        unsigned char id[TACET__REQUEST_ID / 2 - 1];
        randombytes_buf(id, sizeof id);
        (void)sodium_bin2hex(up->id, sizeof up->id, id, sizeof id);
    }
    return up;
}

enum MHD_Result tacet__http_answer(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                                   const char *version, const char *data, size_t *size, void **context) {
    tacet__server *server = user;
    tacet__upload *up = *context;
    if (up == NULL) {
        return MHD_NO; /* out of memory */
    }
    if (!up->seen) {
        return first_look(server, connection, up, url, method, version);
    }
    if (*size > 0) {
        const bool go_on = collect(server, up, data, *size);
        *size = 0;
        return go_on ? MHD_YES : MHD_NO;
    }
    tacet__peer_in_hand(server->peers, up->peer);
    if (up->answered) {
        tacet__response late = up->late;
        up->late = (tacet__response){.file = -1};
        return reply_or_excuse(up, &late);
    }
    if (up->refused != 0) {
        return refuse_upload(server, up);
    }
    return dispatch(server, connection, url, method, up);
}

void tacet__http_completed(void *user, struct MHD_Connection *connection, void **context,
                           enum MHD_RequestTerminationCode code) {
    tacet__server *server = user;
    tacet__upload *up = *context;
    (void)connection;
    (void)code;
    if (up != NULL) {
        if (up->answered) {
            (void)pthread_mutex_lock(&server->lock);
            server->late--;
            (void)pthread_cond_broadcast(&server->sent);
            (void)pthread_mutex_unlock(&server->lock);
        }
        tacet__wipe_free(up->late.body); /* answered, but the client had gone */
        if (up->late.file >= 0) {
            (void)close(up->late.file);
        }
        if (up->seen) {
            tacet__peer_finished(server->peers, up->peer, tacet__now());
        }
        forget_body(server, up);
        free(up);
        *context = NULL;
    }
}

/* --- start and stop ----------------------------------------------------------------------------------------------- */

tacet_status tacet__server_start(tacet__server **out, const tacet__server_settings *settings, tacet_error *err) {
    *out = NULL;
    tacet__server *server = TACET__ZALLOC(tacet__server, 1);
    if (server == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the server");
    }
    tacet__gmp_waits();
    server->settings = *settings;
    server->client_certificates = settings->client_ca != NULL;
    server->listening = server->wake = -1;
    tacet__buckets_init(&server->addresses);
    tacet__buckets_init(&server->tokens);
    tacet__buckets_init(&server->arrivals);
    (void)pthread_mutex_init(&server->lock, NULL);
    tacet__cond_init(&server->sent);
    tacet_status status = tacet__acceptor_listen(server, err);
    TACET_THEN(status, tacet__acceptor_start(server, err));
    /* They were the caller's. */
    server->settings.certificate = server->settings.key = NULL;
    if (status != TACET_OK) {
        tacet__server_stop(server);
        return status;
    }
    *out = server;
    return TACET_OK;
}

unsigned tacet__server_port(const tacet__server *server) {
    return server->port;
}

tacet_status tacet__server_renew(tacet__server *server, const char *certificate, const char *key, tacet_error *err) {
    return tacet__loops_start(server, certificate, key, err);
}

void tacet__server_quiesce(tacet__server *server) {
    if (server != NULL) {
        const uint64_t one = 1;
        atomic_store(&server->quiet, true);
        (void)!write(server->wake, &one, sizeof one);
    }
}

/* MHD cuts what it has not sent when it stops. A client that does not read is not waited for long. */
static void linger(tacet__server *server) {
    const struct timespec until = tacet__until(LINGER_SECONDS);
    (void)pthread_mutex_lock(&server->lock);
    while (server->late > 0 && pthread_cond_timedwait(&server->sent, &server->lock, &until) != ETIMEDOUT) {
    }
    (void)pthread_mutex_unlock(&server->lock);
}

void tacet__server_stop(tacet__server *server) {
    if (server != NULL) {
        tacet__server_quiesce(server);
        linger(server);
        if (server->accepting) {
            const uint64_t one = 1;
            (void)pthread_mutex_lock(&server->lock);
            atomic_store(&server->end, true);
            (void)pthread_mutex_unlock(&server->lock);
            (void)!write(server->wake, &one, sizeof one);
            (void)pthread_join(server->acceptor, NULL);
        }
        tacet__http_release(server, 0, true);
        for (unsigned g = 0; g < server->generation_count; g++) {
            tacet__loops_stop(&server->generations[g]);
        }
        tacet__peers_free(server->peers);
        if (server->listening >= 0) {
            (void)close(server->listening);
        }
        if (server->wake >= 0) {
            (void)close(server->wake);
        }
        (void)pthread_cond_destroy(&server->sent);
        (void)pthread_mutex_destroy(&server->lock);
        free(server);
    }
}

void tacet__server_count(tacet__server *server, tacet__server_counts *out) {
    tacet__peers_counts peers;
    tacet__peers_count(server->peers, &peers);
    (void)pthread_mutex_lock(&server->lock);
    *out = server->counts;
    (void)pthread_mutex_unlock(&server->lock);
    out->connections = peers.connections;
    out->evicted = peers.evicted;
    out->late = peers.late;
}
