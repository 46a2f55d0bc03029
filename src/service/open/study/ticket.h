/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.h - what a client gets as the name of its suggestion: its number in the log, covered, and a MAC of it.
 * Ring: open. Unguessable (128 bits under the study's secret), and found again without a table. The number is covered
 * because it counts reports, too: tickets tell nobody how many came. */
#ifndef TACET_SRC_SERVICE_OPEN_STUDY_TICKET_H
#define TACET_SRC_SERVICE_OPEN_STUDY_TICKET_H

#include <stdbool.h>
#include <stdint.h>

enum { TACET__TICKET_TEXT = 33 }; /* 32 of base64url, and the final 0 */

void tacet__ticket_make(char text[TACET__TICKET_TEXT], uint64_t seq, const unsigned char secret[32]);
/* False: not a ticket of this secret. Constant time in the MAC. */
bool tacet__ticket_read(uint64_t *seq, const char *text, const unsigned char secret[32]);

#endif
