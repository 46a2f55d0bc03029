/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.h - what a study signs under its secret: tickets and grants. Ring: open.
 *
 * A ticket is what a client gets as the name of its suggestion: its number in the log, covered, and a MAC of it.
 * Unguessable (128 bits), and found again without a table. The number is covered because it counts reports, too:
 * tickets tell nobody how many came.
 *
 * A grant is a visitor's permission to send one report, for some minutes: bytes and a time, signed. The bytes are
 * random, or those of a login, which are the same in each of its grants: a browser that was cleared cannot report twice
 * with them. The store learns of a grant when it is used. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TACET__TICKET_TEXT = 33 }; /* 32 of base64url, and the final 0 */
enum { TACET__GRANT_TEXT = 54 + 1, TACET__GRANT_ID = 22 + 1, TACET__GRANT_SECONDS = 1800 };

/* A keyed hash of some bytes. A study has one secret: `purpose` keeps each of its uses apart from any other. */
void tacet__purpose_hash(unsigned char *out, size_t size, const char *purpose, const void *bytes, size_t length,
                         const unsigned char secret[32]);

void tacet__ticket_make(char text[TACET__TICKET_TEXT], uint64_t seq, const unsigned char secret[32]);
/* False: not a ticket of this secret. Constant time in the MAC. */
bool tacet__ticket_read(uint64_t *seq, const char *text, const unsigned char secret[32]);

/* A new one, which ends at `expires` (seconds since 1970). login: NULL, or a text that its holder keeps, hashed with
 * `lasting`, a secret that does not change. */
void tacet__grant_make(char text[TACET__GRANT_TEXT], uint64_t expires, const unsigned char secret[32],
                       const char *login, const unsigned char lasting[32]);
/* What is unique about it, and when it ends. False: it is none of this study. */
bool tacet__grant_read(char id[TACET__GRANT_ID], uint64_t *expires, const char *text, const unsigned char secret[32]);
