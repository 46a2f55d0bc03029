/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h - the connections of a server: who they are, what they are doing, how long they may. Ring: io, internal.
 *
 * A connection without a finished request has a deadline for its TLS handshake and header, one with a header a deadline
 * for its body, one whose answer is on its way a deadline for reading it, and one that is idle between two requests a
 * deadline for the next header, so that bytes which trickle in or out win nobody time. When all places, or those of an
 * address, are taken, the oldest connection without a finished request is closed in favour of the new one; then the one
 * that has not read its answer for the longest time, a second at the least; then the one that is idle for the longest
 * time. A request in hand is never cut off.
 *
 * Locked by itself. A connection is closed by shutting its socket down; who polls it then closes it, and says so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { TACET__ADDRESS_BYTES = 16, TACET__NAME_BYTES = 256 };

typedef struct tacet__peer tacet__peer;
typedef struct tacet__peers tacet__peers;

typedef struct tacet__peers_limits {
    size_t most;            /* connections */
    size_t most_of_address; /* of one address (IPv6: of one /64) */
    double handshake;       /* seconds from the connection to the end of its first header */
    double body;            /* seconds for a body, and for reading an answer besides those for its size */
    double idle;            /* seconds between an answer and the end of the next header */
} tacet__peers_limits;

tacet__peers *tacet__peers_create(const tacet__peers_limits *limits); /* NULL: out of memory */
void tacet__peers_free(tacet__peers *peers);                          /* NULL is allowed */

/* The bytes by which an address is known: IPv4 as mapped, IPv6 as its /64. */
void tacet__address_of(unsigned char out[TACET__ADDRESS_BYTES], const struct sockaddr *address);

enum { TACET__ADDRESS_TEXT = 48 };
/* The same as people write them; "-" for none. */
void tacet__address_text(char out[TACET__ADDRESS_TEXT], const unsigned char address[TACET__ADDRESS_BYTES]);

/* A place for a new connection, perhaps one that another has to leave; NULL: none. */
tacet__peer *tacet__peers_add(tacet__peers *peers, int fd, const unsigned char address[TACET__ADDRESS_BYTES],
                              double now);
/* The connection of a descriptor, as it begins to be polled; NULL: it was given up. */
tacet__peer *tacet__peers_started(tacet__peers *peers, int fd);
void tacet__peers_gone(tacet__peers *peers, tacet__peer *peer); /* frees it; NULL is allowed */

/* What a connection does. */
void tacet__peer_body(tacet__peers *peers, tacet__peer *peer, double now); /* its header is complete */
void tacet__peer_in_hand(tacet__peers *peers, tacet__peer *peer);          /* its request is; no deadline */
void tacet__peer_sending(tacet__peers *peers, tacet__peer *peer, double now, double bytes); /* its answer is ready */
void tacet__peer_finished(tacet__peers *peers, tacet__peer *peer, double now);              /* and was sent */
const unsigned char *tacet__peer_address(const tacet__peer *peer);

/* Whose certificate the connection has shown, as it was found when it was verified last. Of the connection's own thread
 * alone; empty at first. NULL: out of memory, or no peer. */
typedef struct tacet__identity {
    double until; /* then it is verified anew */
    bool certified;
    char name[TACET__NAME_BYTES];
} tacet__identity;
tacet__identity *tacet__peer_identity(tacet__peer *peer);

/* Closes whatever is over its deadline; with `all_idle`, whatever has no request in hand. */
void tacet__peers_sweep(tacet__peers *peers, double now, bool all_idle);

typedef struct tacet__peers_counts {
    size_t connections; /* now */
    uint64_t evicted;   /* closed for want of a place */
    uint64_t late;      /* closed at a deadline */
} tacet__peers_counts;
void tacet__peers_count(tacet__peers *peers, tacet__peers_counts *out);
