/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_wait.c - the waits of postgres_link.c and copy.c, by poll. Ring: io. Cost: a poll where libpq would have
 * made one. */
#include "io/postgres/postgres_wait.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

uint64_t tacet__pg_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* False: the time is up, or the socket is broken. */
static bool wait_socket(const PGconn *connection, short events, uint64_t until) {
    struct pollfd fd = {.fd = PQsocket(connection), .events = events};
    for (;;) {
        const uint64_t now = tacet__pg_now();
        if (fd.fd < 0 || now >= until) {
            return false;
        }
        const int code = poll(&fd, 1, (int)(until - now));
        if (code > 0) {
            return true;
        }
        if (code == 0 || errno != EINTR) {
            return false;
        }
    }
}

PGconn *tacet__pg_connect(const char *const *keys, const char *const *values, uint64_t ms) {
    PGconn *connection = PQconnectStartParams(keys, values, 1);
    const uint64_t until = tacet__pg_now() + ms;
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (connection != NULL && PQstatus(connection) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
           state != PGRES_POLLING_FAILED) {
        if (!wait_socket(connection, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until)) {
            break;
        }
        state = PQconnectPoll(connection);
    }
    return connection;
}

static void give_up(PGconn *connection) {
    if (PQsocket(connection) >= 0) {
        (void)shutdown(PQsocket(connection), SHUT_RDWR);
    }
    (void)PQconsumeInput(connection); /* sees the end */
    (void)PQconsumeInput(connection);
}

PGresult *tacet__pg_next(PGconn *connection, uint64_t until, bool *late) {
    for (;;) {
        const int left = PQflush(connection);
        if (left < 0 || (left == 0 && PQisBusy(connection) == 0)) {
            return PQgetResult(connection);
        }
        if (!wait_socket(connection, (short)(POLLIN | (left > 0 ? POLLOUT : 0)), until)) {
            *late = true;
            give_up(connection);
            return NULL;
        }
        if (PQconsumeInput(connection) != 1) {
            return PQgetResult(connection); /* the connection broke; the result says so */
        }
    }
}

PGresult *tacet__pg_take(PGconn *connection, int sent, uint64_t until, bool *late) {
    PGresult *kept = NULL;
    while (sent == 1 && !*late) {
        PGresult *result = tacet__pg_next(connection, until, late);
        if (result == NULL) {
            break;
        }
        if (kept == NULL || PQresultStatus(kept) != PGRES_FATAL_ERROR) {
            PQclear(kept);
            kept = result;
        } else {
            PQclear(result); /* the first failure is the outcome */
        }
        if (PQstatus(connection) != CONNECTION_OK) {
            break;
        }
    }
    return kept;
}
