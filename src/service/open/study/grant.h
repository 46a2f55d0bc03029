/* SPDX-License-Identifier: Apache-2.0 */
/* grant.h - a visitor's permission to send one report, for some minutes: bytes and a time, signed by the study. The
 * bytes are random, or those of a login, which are the same in each of its grants: a browser that was cleared cannot
 * report twice with them. Ring: open. The store learns of a grant when it is used. */
#ifndef TACET_SRC_SERVICE_OPEN_STUDY_GRANT_H
#define TACET_SRC_SERVICE_OPEN_STUDY_GRANT_H

#include <stdbool.h>
#include <stdint.h>

enum { TACET__GRANT_TEXT = 54 + 1, TACET__GRANT_ID = 22 + 1, TACET__GRANT_SECONDS = 1800 };

/* A new one, which ends at `expires` (seconds since 1970). login: NULL, or a text that its holder keeps, hashed with
 * `lasting`, a secret that does not change. */
void tacet__grant_make(char text[TACET__GRANT_TEXT], uint64_t expires, const unsigned char secret[32],
                       const char *login, const unsigned char lasting[32]);
/* What is unique about it, and when it ends. False: it is none of this study. */
bool tacet__grant_read(char id[TACET__GRANT_ID], uint64_t *expires, const char *text, const unsigned char secret[32]);

#endif
