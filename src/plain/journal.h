/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - what `tacet gp-ucb` has asked and seen, so that a run that was ended goes on. Lines of text: a head that
 * names the problem, then `row value` each. */
#ifndef TACET_SRC_PLAIN_JOURNAL_H
#define TACET_SRC_PLAIN_JOURNAL_H

#include <stddef.h>
#include <stdio.h>
#include <tacet/core/status.h>

typedef struct tacet__rounds {
    FILE *file; /* NULL: none is kept */
    size_t *rows;
    double *values;
    size_t count; /* rounds found in it */
} tacet__rounds;

/* Opens or makes it and reads what is there; `head` is one line without its end. CONFLICT: it is of another problem or
 * of other settings. PARSE: damaged. IO, NO_MEMORY. A last line that was cut short is dropped. BUSY: another process
 * has it open. */
tacet_status tacet__rounds_open(tacet__rounds *out, const char *path, const char *head, tacet_error *err);
/* Durable when it returns. */
tacet_status tacet__rounds_add(tacet__rounds *j, size_t row, double value, tacet_error *err);
void tacet__rounds_close(tacet__rounds *j);

#endif
