/* server.c - HTTPS over libmicrohttpd and GnuTLS: limits, authentication material, complete bodies.
 * Ring: io. Differs from a plain MHD server: plain HTTP is refused by the TLS layer; a declared body above the limit
 * is answered before a byte of it is read; client certificates are verified here, since MHD only asks for them. Cost:
 * one polling loop per thread; a slow connection costs its buffers, not a thread. */
#include "io/http/server.h"

#include "core/fail.h"
#include "core/memory.h"
#include "io/http/wipe.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* TLS 1.2 and later, no weak ciphers. */
static const char PRIORITIES[] = "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
enum { CONNECTION_MEMORY = 32 * 1024, NAME_BYTES = 256, LINGER_SECONDS = 2 };
static const size_t DROPPED_MOST = (size_t)4 << 20; /* of a body that is not kept: beyond, the connection is cut */

struct tacet__server {
    struct MHD_Daemon *daemon;
    tacet__server_settings settings;
    bool client_certificates;
    atomic_size_t held;   /* bytes of bodies, over all connections */
    pthread_mutex_t lock; /* the rate bucket, and: */
    double tokens;
    double last;
    size_t late; /* answered after they were suspended, and not sent yet */
    pthread_cond_t sent;
    unsigned port;
};

/* What is collected for one request between MHD's calls. */
typedef struct upload {
    tacet__exchange exchange; /* first: the pointer handed out is that of the upload */
    tacet__server *server;
    struct MHD_Connection *connection;
    tacet__response late; /* what was answered while suspended */
    bool suspended, answered;
    char *body;
    size_t size, capacity;
    size_t dropped;
    unsigned refused; /* the status it will be answered with; 0: not refused */
} upload;

void tacet__server_defaults(tacet__server_settings *settings) {
    *settings = (tacet__server_settings){.listen = "127.0.0.1:0",
                                         .most_body = 64 * 1024,
                                         .most_held = (size_t)64 << 20,
                                         .most_connections = 4000,
                                         .idle_seconds = 10,
                                         .rate = 500,
                                         .burst = 1000,
                                         .threads = 2};
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool within_rate(tacet__server *server) {
    (void)pthread_mutex_lock(&server->lock);
    const double t = now();
    server->tokens += (t - server->last) * server->settings.rate;
    server->last = t;
    if (server->tokens > server->settings.burst) {
        server->tokens = server->settings.burst;
    }
    const bool yes = server->tokens >= 1;
    server->tokens -= yes ? 1 : 0;
    (void)pthread_mutex_unlock(&server->lock);
    return yes;
}

static enum MHD_Result reply(struct MHD_Connection *connection, tacet__response *response) {
    struct MHD_Response *out = NULL;
    if (response->file >= 0) {
        struct stat st;
        if (fstat(response->file, &st) == 0) {
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
    if (response->retry_after > 0) {
        char seconds[16];
        (void)snprintf(seconds, sizeof seconds, "%u", response->retry_after);
        (void)MHD_add_response_header(out, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    }
    const enum MHD_Result result = MHD_queue_response(connection, response->status != 0 ? response->status : 500, out);
    MHD_destroy_response(out);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *reason,
                              unsigned retry_after) {
    tacet__response response = {.status = status, .file = -1, .retry_after = retry_after};
    char text[256];
    (void)snprintf(text, sizeof text, "{\"error\":\"%s\",\"reason\":\"HTTP status %u\"}\n", reason, status);
    response.body = strdup(text);
    if (response.body == NULL) {
        return MHD_NO;
    }
    response.body_size = strlen(text);
    return reply(connection, &response);
}

/* The common name of the client's certificate, when it sent one that the configured authority signed. */
static bool client_name(struct MHD_Connection *connection, char name[NAME_BYTES]) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info == NULL || info->tls_session == NULL) {
        return false;
    }
    gnutls_session_t session = info->tls_session;
    unsigned problems = 0;
    unsigned count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
    if (chain == NULL || count == 0 || gnutls_certificate_verify_peers2(session, &problems) != 0 || problems != 0) {
        return false;
    }
    gnutls_x509_crt_t certificate = NULL;
    if (gnutls_x509_crt_init(&certificate) != 0) {
        return false;
    }
    size_t size = NAME_BYTES;
    const bool ok = gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER) == 0 &&
                    gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size) == 0;
    gnutls_x509_crt_deinit(certificate);
    return ok;
}

static enum MHD_Result refuse_body(struct MHD_Connection *connection, unsigned status) {
    return status == MHD_HTTP_CONTENT_TOO_LARGE ? refuse(connection, status, "the body is too large", 0)
                                                : refuse(connection, status, "too many requests are being read", 1);
}

static enum MHD_Result first_look(tacet__server *server, struct MHD_Connection *connection, upload *up) {
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const unsigned long long size = length != NULL ? strtoull(length, NULL, 10) : 0;
    if (size <= server->settings.most_body) {
        return MHD_YES;
    }
    /* An answer sent while the client still writes may be lost in a reset: a body that is not huge is read to its end
     * and thrown away first. */
    up->refused = MHD_HTTP_CONTENT_TOO_LARGE;
    if (size > DROPPED_MOST) {
        return refuse_body(connection, up->refused);
    }
    return MHD_YES;
}

static void forget_body(tacet__server *server, upload *up) {
    tacet__wipe_free(up->body); /* what a client sent may be private */
    (void)atomic_fetch_sub(&server->held, up->size);
    up->body = NULL;
    up->size = up->capacity = 0;
}

/* 0 when the bytes were kept. Bodies are read before anyone knows whose they are, so what all of them may hold together
 * must not grow with the number of connections. */
static unsigned keep(tacet__server *server, upload *up, const char *data, size_t size) {
    if (size > server->settings.most_body - up->size) {
        return MHD_HTTP_CONTENT_TOO_LARGE;
    }
    const size_t before = atomic_fetch_add(&server->held, size);
    if (before > server->settings.most_held || size > server->settings.most_held - before ||
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
static bool collect(tacet__server *server, upload *up, const char *data, size_t size) {
    if (up->refused == 0) {
        up->refused = keep(server, up, data, size);
        if (up->refused == 0) {
            return true;
        }
        forget_body(server, up);
    }
    up->dropped += size;
    return up->dropped <= DROPPED_MOST;
}

/* On the connection's own thread, inside the handler. */
static void suspend(tacet__exchange *self) {
    upload *up = (upload *)self;
    up->suspended = true;
    MHD_suspend_connection(up->connection);
}

/* On any thread. MHD's own lock in resume orders what is written here before what the connection's thread then reads;
 * after it the upload may be gone. */
static void answer_late(tacet__exchange *self, const tacet__response *response) {
    upload *up = (upload *)self;
    up->late = *response;
    up->answered = true;
    (void)pthread_mutex_lock(&up->server->lock);
    up->server->late++;
    (void)pthread_mutex_unlock(&up->server->lock);
    MHD_resume_connection(up->connection);
}

static const char *argument(const void *peer, const char *name) {
    return MHD_lookup_connection_value((struct MHD_Connection *)(size_t)peer, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result reply_or_excuse(struct MHD_Connection *connection, tacet__response *response) {
    if (response->file < 0 && response->body == NULL) {
        return refuse(connection, response->status != 0 ? response->status : 500, "no answer could be made", 0);
    }
    return reply(connection, response);
}

static enum MHD_Result dispatch(tacet__server *server, struct MHD_Connection *connection, const char *url,
                                const char *method, upload *up) {
    static const char BEARER[] = "Bearer ";
    char name[NAME_BYTES];
    tacet__request request = {
        .method = method, .path = url, .argument = argument, .peer = connection, .exchange = &up->exchange};
    tacet__response response = {.file = -1};
    const char *authorization = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    if (authorization != NULL && strncmp(authorization, BEARER, sizeof BEARER - 1) == 0) {
        request.bearer = authorization + sizeof BEARER - 1;
    }
    if (server->client_certificates && client_name(connection, name)) {
        request.certificate = name;
    }
    request.body = up->body != NULL ? up->body : "";
    request.body_size = up->size;
    server->settings.handler(server->settings.user, &request, &response);
    return up->suspended ? MHD_YES : reply_or_excuse(connection, &response);
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **context) {
    tacet__server *server = user;
    upload *up = *context;
    (void)version;
    if (up == NULL) {
        up = TACET__ZALLOC(upload, 1);
        if (up == NULL) {
            return MHD_NO;
        }
        *up = (upload){
            .exchange = {suspend, answer_late}, .server = server, .connection = connection, .late = {.file = -1}};
        *context = up;
        return first_look(server, connection, up);
    }
    if (*size > 0) {
        const bool go_on = collect(server, up, data, *size);
        *size = 0;
        return go_on ? MHD_YES : MHD_NO;
    }
    if (up->answered) {
        tacet__response late = up->late;
        up->late = (tacet__response){.file = -1};
        return reply_or_excuse(connection, &late);
    }
    if (up->refused != 0) {
        return refuse_body(connection, up->refused);
    }
    if (!within_rate(server)) {
        return refuse(connection, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests", 1);
    }
    return dispatch(server, connection, url, method, up);
}

static void completed(void *user, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode code) {
    tacet__server *server = user;
    upload *up = *context;
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
        forget_body(server, up);
        free(up);
        *context = NULL;
    }
}

/* "host:port" or "[v6]:port" into a socket address. */
static tacet_status resolve(struct sockaddr_storage *address, const char *listen, tacet_error *err) {
    char host[256];
    const char *colon = strrchr(listen, ':');
    size_t length = colon != NULL ? (size_t)(colon - listen) : 0;
    if (colon == NULL || length == 0 || length >= sizeof host) {
        return tacet__fail(err, TACET_INVALID, "'%s' is not HOST:PORT", listen);
    }
    const size_t bracket = listen[0] == '[' && listen[length - 1] == ']' ? 1 : 0;
    length -= 2 * bracket;
    memcpy(host, listen + bracket, length);
    host[length] = '\0';
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    const int code = getaddrinfo(host, colon + 1, &hints, &found);
    if (code != 0) {
        return tacet__fail(err, TACET_INVALID, "cannot listen on '%s': %s", listen, gai_strerror(code));
    }
    memset(address, 0, sizeof *address);
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return TACET_OK;
}

/* Each connection is a descriptor; the soft limit is often far below the hard one. */
static unsigned allow_connections(unsigned wanted) {
    struct rlimit limit;
    const rlim_t spare = 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return wanted;
    }
    if (limit.rlim_cur < wanted + spare) {
        limit.rlim_cur = limit.rlim_max < wanted + spare ? limit.rlim_max : wanted + spare;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < wanted + spare) {
        return limit.rlim_cur > 2 * spare ? (unsigned)(limit.rlim_cur - spare) : (unsigned)spare;
    }
    return wanted;
}

tacet_status tacet__server_start(tacet__server **out, const tacet__server_settings *settings, tacet_error *err) {
    *out = NULL;
    struct sockaddr_storage address;
    tacet_status status = resolve(&address, settings->listen, err);
    if (status != TACET_OK) {
        return status;
    }
    tacet__server *server = TACET__ZALLOC(tacet__server, 1);
    if (server == NULL) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the server");
    }
    server->settings = *settings;
    server->client_certificates = settings->client_ca != NULL;
    server->tokens = settings->burst;
    server->last = now();
    (void)pthread_mutex_init(&server->lock, NULL);
    pthread_condattr_t clock;
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&server->sent, &clock);
    (void)pthread_condattr_destroy(&clock);
    const unsigned connections = allow_connections(settings->most_connections);
    const struct MHD_OptionItem trust[] = {
        {settings->client_ca != NULL ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
         (void *)(size_t)settings->client_ca},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS | MHD_ALLOW_SUSPEND_RESUME;
    if (address.ss_family == AF_INET6) {
        flags |= MHD_USE_IPv6;
    }
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, answer, server, MHD_OPTION_NOTIFY_COMPLETED, completed, server, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr *)&address, MHD_OPTION_HTTPS_MEM_KEY, settings->key, MHD_OPTION_HTTPS_MEM_CERT,
        settings->certificate, MHD_OPTION_HTTPS_PRIORITIES, PRIORITIES, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_THREAD_POOL_SIZE, settings->threads > 1 ? settings->threads : 0,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_ARRAY, trust, MHD_OPTION_END);
    if (server->daemon == NULL) {
        tacet__server_stop(server);
        return tacet__fail(err, TACET_IO, "cannot serve on '%s': the port is taken, or certificate and key do not fit",
                           settings->listen);
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info != NULL ? info->port : 0;
    *out = server;
    return TACET_OK;
}

unsigned tacet__server_port(const tacet__server *server) {
    return server->port;
}

void tacet__server_quiesce(tacet__server *server) {
    if (server != NULL && server->daemon != NULL) {
        const MHD_socket listening = MHD_quiesce_daemon(server->daemon);
        if (listening != MHD_INVALID_SOCKET) {
            (void)close(listening);
        }
    }
}

/* MHD cuts what it has not sent when it stops. A client that does not read is not waited for long. */
static void linger(tacet__server *server) {
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LINGER_SECONDS;
    (void)pthread_mutex_lock(&server->lock);
    while (server->late > 0 && pthread_cond_timedwait(&server->sent, &server->lock, &until) != ETIMEDOUT) {
    }
    (void)pthread_mutex_unlock(&server->lock);
}

void tacet__server_stop(tacet__server *server) {
    if (server != NULL) {
        if (server->daemon != NULL) {
            linger(server);
            MHD_stop_daemon(server->daemon);
        }
        (void)pthread_cond_destroy(&server->sent);
        (void)pthread_mutex_destroy(&server->lock);
        free(server);
    }
}
