/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.c - a way from one server to its database that can be cut: bytes go through, or nothing does and nobody is
 * told, as between two machines whose network is gone. One thread; unix sockets. */
#include "soak.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PIPES_MOST = 128, PROXY_POLL_MS = 20 };

typedef struct way {
    int ends[2]; /* -1: none */
} way;

static struct {
    char to[SOAK_PATH];
    int listening;
    way ways[PIPES_MOST];
    atomic_bool cut;
} proxy;

static int dial(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.100s", proxy.to);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static void hang_up(way *w) {
    (void)close(w->ends[0]);
    (void)close(w->ends[1]);
    w->ends[0] = w->ends[1] = -1;
}

static void let_in(void) {
    const int from = accept4(proxy.listening, NULL, NULL, SOCK_CLOEXEC);
    const int to = from >= 0 ? dial() : -1;
    size_t i = 0;
    while (i < PIPES_MOST && proxy.ways[i].ends[0] >= 0) {
        i++;
    }
    if (to < 0 || i == PIPES_MOST) {
        if (from >= 0) {
            (void)close(from);
        }
        if (to >= 0) {
            (void)close(to);
        }
        return;
    }
    proxy.ways[i].ends[0] = from;
    proxy.ways[i].ends[1] = to;
}

/* What one end says, to the other; false: it hung up. */
static bool pass_on(int from, int to) {
    char block[1 << 16];
    const ssize_t size = read(from, block, sizeof block);
    for (ssize_t sent = 0; sent < size;) {
        const ssize_t more = write(to, block + sent, (size_t)(size - sent));
        if (more <= 0) {
            return false;
        }
        sent += more;
    }
    return size > 0;
}

static void *carry(void *user) {
    (void)user;
    for (;;) {
        struct pollfd polled[1 + 2 * PIPES_MOST];
        nfds_t count = 1;
        polled[0] = (struct pollfd){.fd = proxy.listening, .events = POLLIN};
        for (size_t i = 0; i < PIPES_MOST; i++) {
            for (size_t k = 0; k < 2; k++) {
                polled[count++] = (struct pollfd){.fd = proxy.ways[i].ends[k], .events = POLLIN};
            }
        }
        if (atomic_load(&proxy.cut)) {
            soak_sleep(0.001 * PROXY_POLL_MS);
            continue;
        }
        if (poll(polled, count, PROXY_POLL_MS) <= 0) {
            continue;
        }
        for (size_t i = 0; i < PIPES_MOST; i++) {
            way *w = &proxy.ways[i];
            for (size_t k = 0; k < 2 && w->ends[0] >= 0; k++) {
                if (polled[1 + 2 * i + k].revents != 0 && !pass_on(w->ends[k], w->ends[1 - k])) {
                    hang_up(w);
                }
            }
        }
        if (polled[0].revents != 0) {
            let_in();
        }
    }
    return NULL;
}

void soak_proxy_cut(bool cut) {
    atomic_store(&proxy.cut, cut);
}

void soak_proxy_start(soak *s) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_t thread;
    const char *host = strstr(s->store, "host=");
    if (host == NULL) {
        soak_die("the store's URL names no host=");
    }
    host += strlen("host=");
    const size_t length = strcspn(host, "&,");
    (void)snprintf(proxy.to, sizeof proxy.to, "%.*s/.s.PGSQL.5432", (int)length, host);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.80s/.s.PGSQL.5432", s->work);
    (void)snprintf(s->cut_store, sizeof s->cut_store, "%.*s%s%s", (int)(host - s->store), s->store, s->work,
                   host + length);
    for (size_t i = 0; i < PIPES_MOST; i++) {
        proxy.ways[i].ends[0] = proxy.ways[i].ends[1] = -1;
    }
    proxy.listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (proxy.listening < 0 || bind(proxy.listening, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(proxy.listening, PIPES_MOST) != 0 || pthread_create(&thread, NULL, carry, NULL) != 0) {
        soak_die("no way to the database can be made: %s", strerror(errno));
    }
    (void)pthread_detach(thread);
}
