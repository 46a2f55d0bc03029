/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c - the table of connections. Ring: io. Cost: O(connections) for a new one and for a sweep, O(1) otherwise. */
#include "io/http/peers.h"

#include "core/memory.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef enum phase { ADDED, HEADER, BODY, IN_HAND, SENDING } phase;

static const double STUCK_SECONDS = 1; /* an answer that is not read after that may have to make room */
static const double SLOWEST = 8192;    /* bytes a second of an answer, at the least */

struct tacet__peer {
    int fd;
    phase phase;
    bool finished; /* a request of it was answered */
    bool closing;
    double until; /* deadline; by `phase` */
    double since; /* it is idle or sends its answer; the beginning */
    unsigned char address[TACET__ADDRESS_BYTES];
    tacet__identity *identity;  /* NULL: nobody asked */
    tacet__peer *before, *next; /* in the order of arrival */
};

struct tacet__peers {
    pthread_mutex_t lock;
    tacet__peers_limits limits;
    tacet__peer *first, *last;
    size_t count, closing;
    uint64_t evicted, late;
};

tacet__peers *tacet__peers_create(const tacet__peers_limits *limits) {
    tacet__peers *p = TACET__ZALLOC(tacet__peers, 1);
    if (p != NULL) {
        p->limits = *limits;
        (void)pthread_mutex_init(&p->lock, NULL);
    }
    return p;
}

static void unlink_peer(tacet__peers *p, tacet__peer *peer) {
    if (peer == p->first) {
        p->first = peer->next;
    } else {
        peer->before->next = peer->next;
    }
    if (peer == p->last) {
        p->last = peer->before;
    } else {
        peer->next->before = peer->before;
    }
    p->count--;
    p->closing -= peer->closing;
    free(peer->identity);
    free(peer);
}

void tacet__peers_free(tacet__peers *p) {
    if (p != NULL) {
        while (p->first != NULL) {
            unlink_peer(p, p->first);
        }
        (void)pthread_mutex_destroy(&p->lock);
        free(p);
    }
}

tacet__identity *tacet__peer_identity(tacet__peer *peer) {
    if (peer != NULL && peer->identity == NULL) {
        peer->identity = TACET__ZALLOC(tacet__identity, 1);
    }
    return peer != NULL ? peer->identity : NULL;
}

void tacet__address_of(unsigned char out[TACET__ADDRESS_BYTES], const struct sockaddr *address) {
    static const unsigned char MAPPED[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    memset(out, 0, TACET__ADDRESS_BYTES);
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        memcpy(out, MAPPED, sizeof MAPPED);
        memcpy(out + sizeof MAPPED, &v4->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        const bool mapped = memcmp(&v6->sin6_addr, MAPPED, sizeof MAPPED) == 0;
        memcpy(out, &v6->sin6_addr, mapped ? TACET__ADDRESS_BYTES : TACET__ADDRESS_BYTES / 2);
    }
}

void tacet__address_text(char out[TACET__ADDRESS_TEXT], const unsigned char address[TACET__ADDRESS_BYTES]) {
    static const unsigned char MAPPED[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    const bool four = memcmp(address, MAPPED, sizeof MAPPED) == 0;
    if (inet_ntop(four ? AF_INET : AF_INET6, address + (four ? sizeof MAPPED : 0), out, TACET__ADDRESS_TEXT) == NULL) {
        memcpy(out, "-", sizeof "-");
    }
}

/* Its thread sees the end of the socket, closes it, and calls tacet__peers_gone. */
static void close_peer(tacet__peers *p, tacet__peer *peer) {
    (void)shutdown(peer->fd, SHUT_RDWR);
    peer->closing = true;
    p->closing++;
}

static bool same_address(const tacet__peer *peer, const unsigned char *address) {
    return address == NULL || memcmp(peer->address, address, TACET__ADDRESS_BYTES) == 0;
}

static tacet__peer *older(tacet__peer *a, tacet__peer *b) {
    return a == NULL || b->since < a->since ? b : a;
}

/* One that has to go, among all or those of an address; NULL: each has a request in hand. */
static tacet__peer *choose(const tacet__peers *p, const unsigned char *address, double now) {
    tacet__peer *idle = NULL;
    tacet__peer *stuck = NULL;
    for (tacet__peer *peer = p->first; peer != NULL; peer = peer->next) {
        if (peer->closing || peer->phase == IN_HAND || peer->phase == ADDED || !same_address(peer, address)) {
            continue;
        }
        if (peer->phase == SENDING) {
            stuck = now - peer->since >= STUCK_SECONDS ? older(stuck, peer) : stuck;
        } else if (!peer->finished) {
            return peer;
        } else if (peer->phase == HEADER) {
            idle = older(idle, peer);
        }
    }
    return stuck != NULL ? stuck : idle;
}

static size_t count_of(const tacet__peers *p, const unsigned char *address) {
    size_t count = 0;
    for (const tacet__peer *peer = p->first; peer != NULL; peer = peer->next) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): whoever is freed was taken out of the list before */
        count += !peer->closing && same_address(peer, address);
    }
    return count;
}

static bool make_room(tacet__peers *p, const unsigned char *address, double now) {
    tacet__peer *peer = choose(p, address, now);
    if (peer != NULL) {
        close_peer(p, peer);
        p->evicted++;
    }
    return peer != NULL;
}

/* A descriptor that is given again was closed before, whatever we were told of it. */
static void forget_fd(tacet__peers *p, int fd) {
    for (tacet__peer *peer = p->first; peer != NULL; peer = peer->next) {
        if (peer->fd == fd) {
            if (peer->phase == ADDED) {
                unlink_peer(p, peer);
            }
            return;
        }
    }
}

tacet__peer *tacet__peers_add(tacet__peers *p, int fd, const unsigned char address[TACET__ADDRESS_BYTES], double now) {
    tacet__peer *peer = NULL;
    (void)pthread_mutex_lock(&p->lock);
    forget_fd(p, fd);
    bool room = count_of(p, address) < p->limits.most_of_address || make_room(p, address, now);
    room = room && (p->count - p->closing < p->limits.most || make_room(p, NULL, now));
    peer = room ? TACET__ZALLOC(tacet__peer, 1) : NULL;
    if (peer != NULL) {
        peer->fd = fd;
        peer->since = now;
        peer->until = now + p->limits.handshake;
        memcpy(peer->address, address, TACET__ADDRESS_BYTES);
        peer->before = p->last;
        *(p->last != NULL ? &p->last->next : &p->first) = peer;
        p->last = peer;
        p->count++;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return peer;
}

tacet__peer *tacet__peers_started(tacet__peers *p, int fd) {
    (void)pthread_mutex_lock(&p->lock);
    tacet__peer *peer = p->last; /* it is a new one */
    while (peer != NULL && (peer->fd != fd || peer->phase != ADDED)) {
        peer = peer->before;
    }
    if (peer != NULL) {
        peer->phase = HEADER;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return peer;
}

void tacet__peers_gone(tacet__peers *p, tacet__peer *peer) {
    if (peer != NULL) {
        (void)pthread_mutex_lock(&p->lock);
        unlink_peer(p, peer);
        (void)pthread_mutex_unlock(&p->lock);
    }
}

static void enter(tacet__peers *p, tacet__peer *peer, phase next, double now, double until) {
    if (peer != NULL) {
        (void)pthread_mutex_lock(&p->lock);
        peer->phase = next;
        peer->until = until;
        peer->finished = peer->finished || next == HEADER;
        peer->since = next == HEADER || next == SENDING ? now : peer->since;
        (void)pthread_mutex_unlock(&p->lock);
    }
}

void tacet__peer_body(tacet__peers *p, tacet__peer *peer, double now) {
    enter(p, peer, BODY, now, now + p->limits.body);
}

void tacet__peer_in_hand(tacet__peers *p, tacet__peer *peer) {
    enter(p, peer, IN_HAND, 0, 0);
}

void tacet__peer_sending(tacet__peers *p, tacet__peer *peer, double now, double bytes) {
    enter(p, peer, SENDING, now, now + p->limits.body + bytes / SLOWEST);
}

void tacet__peer_finished(tacet__peers *p, tacet__peer *peer, double now) {
    enter(p, peer, HEADER, now, now + p->limits.idle);
}

const unsigned char *tacet__peer_address(const tacet__peer *peer) {
    return peer->address;
}

void tacet__peers_sweep(tacet__peers *p, double now, bool all_idle) {
    (void)pthread_mutex_lock(&p->lock);
    for (tacet__peer *peer = p->first; peer != NULL; peer = peer->next) {
        if (peer->closing || peer->phase == IN_HAND || peer->phase == ADDED) {
            continue;
        }
        if (now >= peer->until || (all_idle && peer->phase == HEADER)) {
            close_peer(p, peer);
            p->late += !all_idle;
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
}

void tacet__peers_count(tacet__peers *p, tacet__peers_counts *out) {
    (void)pthread_mutex_lock(&p->lock);
    *out = (tacet__peers_counts){.connections = p->count, .evicted = p->evicted, .late = p->late};
    (void)pthread_mutex_unlock(&p->lock);
}
