/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ticket.c - any text as a ticket: only the one that the secret made for a number is taken. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/open/study/ticket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const unsigned char SECRET[32] = {1, 2, 3};
    char text[TACET__TICKET_TEXT];
    uint64_t seq = 0;
    char *copy = malloc(size + 1); /* of its own size, so that reading one byte too many is seen */
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, data, size);
    copy[size] = '\0';
    const uint64_t claimed = tacet__ticket_seq(copy);
    if (tacet__ticket_read(&seq, copy, SECRET)) {
        tacet__ticket_make(text, seq, SECRET);
        if (claimed != seq || strcmp(text, copy) != 0) {
            abort();
        }
    }
    tacet__ticket_make(text, claimed, SECRET);
    if (!tacet__ticket_read(&seq, text, SECRET) || seq != claimed) {
        abort();
    }
    free(copy);
    return 0;
}
