/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ticket.c - any text as a ticket: only the one that the secret made for a number is taken. */
#include "fuzz.h"

#include "service/open/study/ticket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const unsigned char SECRET[32] = {1, 2, 3};
    char text[TACET__TICKET_TEXT], *copy = fuzz_text(data, size);
    uint64_t seq = 0, number = 0;
    memcpy(&number, data, size < sizeof number ? size : sizeof number);
    if (tacet__ticket_read(&seq, copy, SECRET)) {
        tacet__ticket_make(text, seq, SECRET);
        must(strcmp(text, copy) == 0);
    }
    tacet__ticket_make(text, number, SECRET);
    must(tacet__ticket_read(&seq, text, SECRET) && seq == number);
    free(copy);
    return 0;
}
