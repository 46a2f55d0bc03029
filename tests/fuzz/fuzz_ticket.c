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
    uint64_t number = 0;
    memcpy(&number, data, size < sizeof number ? size : sizeof number);
    if (tacet__ticket_read(&seq, copy, SECRET)) {
        tacet__ticket_make(text, seq, SECRET);
        if (strcmp(text, copy) != 0) {
            abort();
        }
    }
    tacet__ticket_make(text, number, SECRET);
    if (!tacet__ticket_read(&seq, text, SECRET) || seq != number) {
        abort();
    }
    free(copy);
    return 0;
}
