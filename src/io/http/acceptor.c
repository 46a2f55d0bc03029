/* SPDX-License-Identifier: Apache-2.0 */
/* acceptor.c - lets connections in, hands them to the polling threads, and closes those that take too long.
 * Ring: io. MHD could listen by itself; it would share the port with another process, stop accepting when it is full,
 * and count bytes that trickle in as signs of life. Here one thread accepts, and its table of connections (peers.h)
 * decides. Cost: one wake-up in 50 ms when nothing happens. */
#include "io/http/server_internal.h"

#include "core/clock.h"
#include "core/fail.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* TLS 1.3, and of 1.2 what has forward secrecy and an AEAD: no CBC, no SHA-1. */
static const char PRIORITIES[] =
    "NONE:+VERS-TLS1.3:+VERS-TLS1.2:+AES-256-GCM:+AES-128-GCM:+CHACHA20-POLY1305:+AEAD:+ECDHE-ECDSA:+ECDHE-RSA:"
    "+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+SIGN-ECDSA-SHA256:+SIGN-ECDSA-SHA384:+SIGN-ECDSA-SHA512:"
    "+SIGN-ECDSA-SECP256R1-SHA256:+SIGN-ECDSA-SECP384R1-SHA384:+SIGN-ECDSA-SECP521R1-SHA512:+SIGN-RSA-PSS-RSAE-SHA256:"
    "+SIGN-RSA-PSS-RSAE-SHA384:+SIGN-RSA-SHA256:+SIGN-RSA-SHA384:+SIGN-RSA-SHA512:+SIGN-EDDSA-ED25519:+COMP-NULL:"
    "+CTYPE-X509:%SERVER_PRECEDENCE";
enum { CONNECTION_MEMORY = 32 * 1024, TICK_MS = 50, SPARE = 256, BACKLOG = 1024 };
/* New connections a second of one address: a handshake is the dearest thing a stranger can ask for. */
static const double ARRIVAL_RATE = 400;
static const double ARRIVAL_BURST = 5000;

/* --- the listening socket ----------------------------------------------------------------------------------------- */

/* Digits that name a port: 0 (any free one) to 65535. getaddrinfo takes larger numbers modulo 65536. */
static bool is_port(const char *text) {
    const size_t length = strspn(text, "0123456789");
    return length > 0 && length <= 5 && text[length] == '\0' && strtoul(text, NULL, 10) <= 65535;
}

/* "host:port" or "[v6]:port" into a socket address. */
static tacet_status resolve(struct sockaddr_storage *address, socklen_t *size, const char *listen, tacet_error *err) {
    char host[256];
    const char *colon = strrchr(listen, ':');
    size_t length = colon != NULL ? (size_t)(colon - listen) : 0;
    if (colon == NULL || length == 0 || length >= sizeof host) {
        return tacet__fail(err, TACET_INVALID, "'%s' is not HOST:PORT", listen);
    }
    if (!is_port(colon + 1)) {
        return tacet__fail(err, TACET_INVALID,
                           "cannot listen on '%s': a port is a number from 1 to 65535, or 0 for any", listen);
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
    *size = found->ai_addrlen;
    freeaddrinfo(found);
    return TACET_OK;
}

static unsigned port_of(int fd) {
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &size) != 0) {
        return 0;
    }
    return ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                             : ((struct sockaddr_in *)&bound)->sin_port);
}

tacet_status tacet__acceptor_listen(tacet__server *server, tacet_error *err) {
    struct sockaddr_storage address;
    socklen_t size = 0;
    const int yes = 1;
    const char *listen_on = server->settings.listen;
    TACET_OR_RETURN(resolve(&address, &size, listen_on, err));
    const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return tacet__fail(err, TACET_IO, "cannot listen on %s: %s", listen_on, strerror(errno));
    }
    /* A port that was in use a moment ago may be taken over; one that is in use may not (no SO_REUSEPORT). */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, BACKLOG) != 0) {
        const int number = errno;
        (void)close(fd);
        return number == EADDRINUSE
                   ? tacet__fail(err, TACET_CONFLICT, "cannot listen on %s: another process listens there", listen_on)
                   : tacet__fail(err, TACET_IO, "cannot listen on %s: %s", listen_on, strerror(number));
    }
    server->listening = fd;
    server->port = port_of(fd);
    return TACET_OK;
}

/* --- polling threads ---------------------------------------------------------------------------------------------- */

static void noticed(void *user, struct MHD_Connection *connection, void **context,
                    enum MHD_ConnectionNotificationCode code) {
    tacet__server *server = user;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info != NULL ? tacet__peers_started(server->peers, info->connect_fd) : NULL;
    } else {
        tacet__peers_gone(server->peers, *context); /* before MHD closes the descriptor */
        *context = NULL;
    }
}

static struct MHD_Daemon *start_loop(tacet__server *server, const char *certificate, const char *key) {
    const tacet__server_settings *s = &server->settings;
    const unsigned threads = s->threads > 0 ? s->threads : 1;
    const struct MHD_OptionItem trust[] = {
        {s->client_ca != NULL ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, (void *)(size_t)s->client_ca},
        {MHD_OPTION_END, 0, NULL},
    };
    const unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS | MHD_ALLOW_SUSPEND_RESUME |
                           MHD_USE_NO_LISTEN_SOCKET;
    return MHD_start_daemon(flags, 0, NULL, NULL, tacet__http_answer, server, MHD_OPTION_NOTIFY_COMPLETED,
                            tacet__http_completed, server, MHD_OPTION_NOTIFY_CONNECTION, noticed, server,
                            MHD_OPTION_UNESCAPE_CALLBACK, tacet__http_unescape, server, MHD_OPTION_URI_LOG_CALLBACK,
                            tacet__http_begin, server, MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_HTTPS_MEM_CERT,
                            certificate, MHD_OPTION_HTTPS_PRIORITIES, PRIORITIES, MHD_OPTION_CONNECTION_LIMIT,
                            s->most_connections / threads + SPARE + s->most_connections, MHD_OPTION_CONNECTION_TIMEOUT,
                            s->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
                            MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_ARRAY, trust, MHD_OPTION_END);
}

void tacet__loops_stop(tacet__loops *loops) {
    while (loops->count > 0) {
        MHD_stop_daemon(loops->daemons[--loops->count]);
    }
}

tacet_status tacet__loops_start(tacet__server *server, const char *certificate, const char *key, tacet_error *err) {
    tacet__loops loops = {0};
    const unsigned wanted = server->settings.threads < 1                   ? 1
                            : server->settings.threads > TACET__LOOPS_MOST ? TACET__LOOPS_MOST
                                                                           : server->settings.threads;
    while (loops.count < wanted) {
        loops.daemons[loops.count] = start_loop(server, certificate, key);
        if (loops.daemons[loops.count] == NULL) {
            tacet__loops_stop(&loops);
            return tacet__fail(err, TACET_INVALID,
                               "certificate and key do not fit each other, or cannot be read, or no thread is left");
        }
        loops.count++;
    }
    (void)pthread_mutex_lock(&server->lock);
    const bool room = server->generation_count < TACET__GENERATIONS_MOST;
    if (room) {
        server->generations[server->generation_count++] = loops;
    }
    (void)pthread_mutex_unlock(&server->lock);
    if (room) {
        return TACET_OK;
    }
    tacet__loops_stop(&loops);
    return tacet__fail(err, TACET_BUSY, "connections with %d older certificates are open still: try later",
                       TACET__GENERATIONS_MOST - 1);
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

static bool welcome(tacet__server *server, const unsigned char address[TACET__ADDRESS_BYTES], double now) {
    (void)pthread_mutex_lock(&server->lock);
    const uint64_t key = tacet__buckets_key(&server->arrivals, address, TACET__ADDRESS_BYTES);
    const bool yes = tacet__buckets_take(&server->arrivals, key, ARRIVAL_RATE, ARRIVAL_BURST, now);
    server->counts.turned_away += !yes;
    (void)pthread_mutex_unlock(&server->lock);
    return yes;
}

static struct MHD_Daemon *next_loop(tacet__server *server) {
    (void)pthread_mutex_lock(&server->lock);
    const tacet__loops *newest = &server->generations[server->generation_count - 1];
    struct MHD_Daemon *daemon = newest->daemons[server->turn++ % newest->count];
    (void)pthread_mutex_unlock(&server->lock);
    return daemon;
}

static void let_in(tacet__server *server, int fd, const struct sockaddr *address, socklen_t size, double now) {
    const int yes = 1;
    unsigned char who[TACET__ADDRESS_BYTES];
    tacet__address_of(who, address);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    tacet__peer *peer = welcome(server, who, now) ? tacet__peers_add(server->peers, fd, who, now) : NULL;
    if (peer == NULL) {
        (void)close(fd);
        return;
    }
    if (MHD_add_connection(next_loop(server), fd, address, size) != MHD_YES) { /* has closed it */
        tacet__peers_gone(server->peers, peer);
    }
}

/* Everybody who stands at the door; a full table of descriptors is waited out, while those who are late are shown out.
 */
static void open_door(tacet__server *server, double now) {
    for (int i = 0; i < BACKLOG; i++) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        const int fd = accept4(server->listening, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            let_in(server, fd, (struct sockaddr *)&address, size, now);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            const struct timespec wait = {.tv_nsec = 5000000};
            tacet__peers_sweep(server->peers, now + 1e9, false); /* whoever has no request in hand */
            (void)nanosleep(&wait, NULL);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

/* Threads of an older certificate end with their last connection. */
static void drop_old(tacet__server *server) {
    for (;;) {
        tacet__loops old = {0};
        (void)pthread_mutex_lock(&server->lock);
        for (unsigned g = 0; g + 1 < server->generation_count && old.count == 0; g++) {
            unsigned busy = 0;
            for (unsigned i = 0; i < server->generations[g].count; i++) {
                const union MHD_DaemonInfo *info =
                    MHD_get_daemon_info(server->generations[g].daemons[i], MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
                busy += info != NULL ? info->num_connections : 1;
            }
            if (busy == 0) {
                old = server->generations[g];
                memmove(&server->generations[g], &server->generations[g + 1],
                        (server->generation_count - g - 1) * sizeof old);
                server->generation_count--;
            }
        }
        (void)pthread_mutex_unlock(&server->lock);
        if (old.count == 0) {
            return;
        }
        tacet__loops_stop(&old); /* outside the lock: it waits for the threads, which may want it */
    }
}

static void *accept_connections(void *user) {
    tacet__server *server = user;
    double swept = 0;
    while (!atomic_load(&server->end)) {
        if (atomic_load(&server->quiet) && server->listening >= 0) {
            (void)close(server->listening);
            server->listening = -1;
        }
        struct pollfd fds[2] = {{.fd = server->wake, .events = POLLIN}, {.fd = server->listening, .events = POLLIN}};
        (void)poll(fds, 2, TICK_MS); /* a descriptor of -1 is left out */
        const double now = tacet__now();
        uint64_t count = 0;
        if ((fds[0].revents & POLLIN) != 0) {
            (void)!read(server->wake, &count, sizeof count);
        }
        if (server->listening >= 0 && (fds[1].revents & POLLIN) != 0 && !atomic_load(&server->quiet)) {
            open_door(server, now);
        }
        if (now - swept >= TICK_MS / 1000.0) {
            swept = now;
            tacet__peers_sweep(server->peers, now, atomic_load(&server->quiet));
            tacet__http_release(server, now, atomic_load(&server->quiet));
            drop_old(server);
        }
    }
    return NULL;
}

/* Each connection is a descriptor; the soft limit is often far below the hard one. */
static unsigned allow_connections(unsigned wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return wanted;
    }
    if (limit.rlim_cur < (rlim_t)wanted + SPARE) {
        limit.rlim_cur = limit.rlim_max < (rlim_t)wanted + SPARE ? limit.rlim_max : (rlim_t)wanted + SPARE;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < (rlim_t)wanted + SPARE) {
        return limit.rlim_cur > 2 * SPARE ? (unsigned)(limit.rlim_cur - SPARE) : SPARE / 4;
    }
    return wanted;
}

tacet_status tacet__acceptor_start(tacet__server *server, tacet_error *err) {
    server->settings.most_connections = allow_connections(server->settings.most_connections);
    const tacet__peers_limits limits = {.most = server->settings.most_connections,
                                        .most_of_address = server->settings.most_of_address,
                                        .handshake = server->settings.handshake_seconds,
                                        .body = server->settings.body_seconds,
                                        .idle = server->settings.idle_seconds};
    server->peers = tacet__peers_create(&limits);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->peers == NULL || server->wake < 0) {
        return tacet__fail(err, TACET_NO_MEMORY, "out of memory starting the server");
    }
    tacet_status status = tacet__loops_start(server, server->settings.certificate, server->settings.key, err);
    if (status == TACET_OK && pthread_create(&server->acceptor, NULL, accept_connections, server) != 0) {
        status = tacet__fail(err, TACET_BUSY, "no thread can be started for the server");
    }
    server->accepting = status == TACET_OK;
    return status;
}
